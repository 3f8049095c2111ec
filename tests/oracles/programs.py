"""Programs to evaluate: what is done for the sake of the emitted code alone is left out."""

from symgen.deriving.derivation import derived_program


def evaluated(description, formulation, function, runtime=()):
    """Return the folded program, without names: two thirds of the work of one to emit."""
    return derived_program(description, formulation, function, runtime, built=False)
