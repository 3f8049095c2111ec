"""Semi-recursive dynamics on open trees, about any reference points (Lopez Varela 2023).

`kinematics` holds the notation and the reference points, the parameter of the formulation; `bodies`
accumulates inertia and force, `functions` makes results of them.  `constraints` has natural
coordinates and what closes loops.
"""

from functools import partial

from symgen.formulations import constraints as loop_rows
from symgen.formulations import torques
from symgen.formulations.direct import with_derivatives
from symgen.formulations.interface import (
    Derivation,
    Formulation,
    applies_to_every_tree,
    functions_in,
    notes_in,
)
from symgen.formulations.semi_recursive import bodies, constraints, functions, kinematics
from symgen.formulations.semi_recursive.kinematics import (
    LINK_ORIGIN,
    RTDYN0,
    RTDYN1,
    ReferencePoint,
)


def semi_recursive(name: str, point: ReferencePoint) -> Formulation:
    """Return the formulation with these reference points."""
    derivations: dict[str, Derivation] = {
        **torques.functions(partial(functions.rigid, point)),
        **{name: partial(x, point) for name, x in functions_in(functions, constraints).items()},
        **functions.solving(point),
        **constraints.functions(point),
    }
    return Formulation(
        name=name,
        title=f"Semi-recursive, about the {point.title}",
        source="Lopez Varela, Dopico, Luaces 2023",
        notes=notes_in(kinematics, bodies, functions, loop_rows, constraints),
        functions=with_derivatives(derivations),
        why_not=applies_to_every_tree,
        by_default=False,
        weight=3.0,
    )


SEMI_RECURSIVE = semi_recursive("semi_recursive", LINK_ORIGIN)
SEMI_RECURSIVE_RTDYN0 = semi_recursive("semi_recursive_rtdyn0", RTDYN0)
SEMI_RECURSIVE_RTDYN1 = semi_recursive("semi_recursive_rtdyn1", RTDYN1)
