"""Semi-recursive dynamics on open trees, about any reference points (Lopez Varela 2023).

`kinematics` holds the notation, `reference_points` the parameter of the formulation, `bodies` what
is accumulated.  `slopes` differentiates that, by variables of which `by_coordinates` and
`by_parameters` say what they move; `functions` and `solution` are what is made of both.  `natural`
has points and joint wrenches, `natural_by_parameters` points by parameters, `constraints` what
closes loops, `energies` energies.
"""

from collections.abc import Callable, Mapping
from functools import partial

from symgen.formulations.constraints import NOTES as CONSTRAINT_NOTES
from symgen.formulations.direct import with_derivatives
from symgen.formulations.interface import Derivation, Formulation, applies_to_every_tree
from symgen.formulations.semi_recursive import (
    bodies,
    by_coordinates,
    by_parameters,
    constraints,
    energies,
    functions,
    kinematics,
    natural,
    natural_by_parameters,
    slopes,
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
    "inverse_dynamics_derivatives": functions.inverse_dynamics_derivatives,
    "inverse_dynamics_load_derivatives": functions.load_derivatives,
    "mass_matrix": functions.mass_matrix,
    "bias_forces": partial(functions.torque_function, "bias_forces"),
    "gravity_forces": functions.gravity_forces,
    "inverse_dynamics_parameter_derivatives": functions.inverse_dynamics_parameter_derivatives,
    "kinetic_energy": energies.kinetic_energy,
    "potential_energy": energies.potential_energy,
    "forward_kinematics": natural.forward_kinematics,
    "jacobians": natural.jacobians,
    "joint_wrenches": natural.joint_wrenches,
    "link_motion": natural.link_motion,
    "point_motion": natural.point_motion,
    "point_motion_derivatives": natural.point_motion_derivatives,
    "point_motion_parameter_derivatives": (
        natural_by_parameters.point_motion_parameter_derivatives
    ),
    "forward_dynamics": solution.forward_dynamics,
    "forward_dynamics_derivatives": solution.forward_dynamics_derivatives,
    "forward_dynamics_parameter_derivatives": solution.forward_dynamics_parameter_derivatives,
    "forward_dynamics_sensitivities": solution.forward_dynamics_sensitivities,
    "hybrid_dynamics": solution.hybrid_dynamics,
    "hybrid_dynamics_derivatives": solution.hybrid_dynamics_derivatives,
    "hybrid_dynamics_parameter_derivatives": solution.hybrid_dynamics_parameter_derivatives,
}


def semi_recursive(name: str, point: ReferencePoint) -> Formulation:
    """The formulation with these reference points.

    Derivatives of energies by parameters are found line by line.
    """
    own: dict[str, Derivation] = {
        function: partial(derive, point) for function, derive in _FUNCTIONS.items()
    }
    own |= constraints.functions(point)
    return Formulation(
        name=name,
        title=f"Semi-recursive, about the {point.title}",
        source="Lopez Varela, Dopico, Luaces 2023",
        notes={
            **kinematics.NOTES,
            **bodies.NOTES,
            **slopes.NOTES,
            **by_coordinates.NOTES,
            **by_parameters.NOTES,
            **functions.NOTES,
            **solution.NOTES,
            **natural.NOTES,
            **energies.NOTES,
            **CONSTRAINT_NOTES,
            **constraints.NOTES,
            **natural_by_parameters.NOTES,
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
