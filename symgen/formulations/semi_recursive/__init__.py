"""Semi-recursive dynamics on open trees, about any reference points (Lopez Varela 2023).

`kinematics` holds the notation, `reference_points` the parameter of the formulation, `bodies` what
is accumulated; `functions` and `solution` are what is made of it.  `natural` has points and joint
wrenches, `constraints` what closes loops, `energies` energies.
"""

from collections.abc import Callable, Mapping
from functools import partial

from symgen.formulations.constraints import NOTES as CONSTRAINT_NOTES
from symgen.formulations.direct import with_derivatives
from symgen.formulations.interface import Derivation, Formulation, applies_to_every_tree
from symgen.formulations.semi_recursive import (
    bodies,
    constraints,
    energies,
    functions,
    kinematics,
    natural,
    solution,
    turning,
)
from symgen.formulations.semi_recursive.reference_points import (
    LINK_ORIGIN,
    RTDYN0,
    RTDYN1,
    ReferencePoint,
)

_FUNCTIONS: Mapping[str, Callable[..., None]] = {
    "inverse_dynamics": partial(functions.torque_function, "tau"),
    "inverse_dynamics_load_derivatives": functions.load_derivatives,
    "mass_matrix": functions.mass_matrix,
    "bias_forces": partial(functions.torque_function, "bias_forces"),
    "gravity_forces": functions.gravity_forces,
    "kinetic_energy": energies.kinetic_energy,
    "potential_energy": energies.potential_energy,
    "forward_kinematics": natural.forward_kinematics,
    "jacobians": natural.jacobians,
    "joint_wrenches": natural.joint_wrenches,
    "link_motion": natural.link_motion,
    "point_motion": natural.point_motion,
}


def semi_recursive(name: str, point: ReferencePoint) -> Formulation:
    """The formulation with these reference points."""
    own: dict[str, Derivation] = {
        function: partial(derive, point) for function, derive in _FUNCTIONS.items()
    }
    own |= {**solution.functions(point), **constraints.functions(point)}
    return Formulation(
        name=name,
        title=f"Semi-recursive, about the {point.title}",
        source="Lopez Varela, Dopico, Luaces 2023",
        notes={
            **kinematics.NOTES,
            **bodies.NOTES,
            **functions.NOTES,
            **natural.NOTES,
            **energies.NOTES,
            **CONSTRAINT_NOTES,
            **constraints.NOTES,
            **turning.NOTES,
        },
        functions=with_derivatives(own),
        why_not=applies_to_every_tree,
        by_default=False,
        weight=3.0,
    )


SEMI_RECURSIVE = semi_recursive("semi_recursive", LINK_ORIGIN)
SEMI_RECURSIVE_RTDYN0 = semi_recursive("semi_recursive_rtdyn0", RTDYN0)
SEMI_RECURSIVE_RTDYN1 = semi_recursive("semi_recursive_rtdyn1", RTDYN1)
