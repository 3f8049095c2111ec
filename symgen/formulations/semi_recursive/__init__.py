"""Semi-recursive dynamics on open trees, about any reference points (Lopez Varela 2023).

`kinematics` holds the notation and the reference points, the parameter of the formulation; `bodies`
accumulates inertia and force, `functions` makes results of them.  `constraints` has natural
coordinates and what closes loops.
"""

from collections.abc import Callable, Mapping
from functools import partial

from symgen.formulations import torques
from symgen.formulations.constraints import NOTES as CONSTRAINT_NOTES
from symgen.formulations.direct import with_derivatives
from symgen.formulations.interface import Derivation, Formulation, applies_to_every_tree
from symgen.formulations.semi_recursive import (
    bodies,
    constraints,
    functions,
    kinematics,
)
from symgen.formulations.semi_recursive.kinematics import (
    LINK_ORIGIN,
    RTDYN0,
    RTDYN1,
    ReferencePoint,
)

_FUNCTIONS: Mapping[str, Callable[..., None]] = {
    "inverse_dynamics_load_derivatives": functions.load_derivatives,
    "mass_matrix": functions.mass_matrix,
    "kinetic_energy": functions.kinetic_energy,
    "potential_energy": functions.potential_energy,
    "forward_kinematics": constraints.forward_kinematics,
    "jacobians": constraints.jacobians,
    "joint_wrenches": constraints.joint_wrenches,
    "link_motion": constraints.link_motion,
    "point_motion": constraints.point_motion,
}


def semi_recursive(name: str, point: ReferencePoint) -> Formulation:
    """The formulation with these reference points."""
    own: dict[str, Derivation] = {
        **torques.functions(partial(functions.rigid, point)),
        **{function: partial(derive, point) for function, derive in _FUNCTIONS.items()},
    }
    own |= {**functions.solving(point), **constraints.functions(point)}
    return Formulation(
        name=name,
        title=f"Semi-recursive, about the {point.title}",
        source="Lopez Varela, Dopico, Luaces 2023",
        notes={
            **kinematics.NOTES,
            **bodies.NOTES,
            **functions.NOTES,
            **CONSTRAINT_NOTES,
            **constraints.NOTES,
        },
        functions=with_derivatives(own),
        why_not=applies_to_every_tree,
        by_default=False,
        weight=3.0,
    )


SEMI_RECURSIVE = semi_recursive("semi_recursive", LINK_ORIGIN)
SEMI_RECURSIVE_RTDYN0 = semi_recursive("semi_recursive_rtdyn0", RTDYN0)
SEMI_RECURSIVE_RTDYN1 = semi_recursive("semi_recursive_rtdyn1", RTDYN1)
