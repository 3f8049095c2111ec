"""Programs to evaluate: what is done for the sake of the emitted code alone is left out."""

from symgen.deriving.derivation import derived_program


def evaluated(description, formulation, function, runtime=()):
    """The folded program, without names: derived in two thirds of the time of one to emit.

    `tests/agreement/test_pinocchio.py` compares programs as they are emitted.
    """
    return derived_program(description, formulation, function, runtime, built=False)
