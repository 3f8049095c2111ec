"""Programs: the steps that a formulation derives, before they are printed in any language."""
