"""Functions that every robot without loops and relations can have."""

from symgen.program.functions import CONSTRAINT_FUNCTIONS, FUNCTIONS

OF_TREES = tuple(
    x.name
    for x in FUNCTIONS
    if x not in CONSTRAINT_FUNCTIONS and "n_motion_multipliers" not in x.needs
)
