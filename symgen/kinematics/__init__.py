"""From a description to a tree of moving joints, over any algebra of scalars."""
