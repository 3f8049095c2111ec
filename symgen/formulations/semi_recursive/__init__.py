"""Semi-recursive dynamics on open trees, for any reference points (Lopez Varela 2023)."""

from collections.abc import Callable, Mapping
from functools import partial

from symgen.formulations.interface import Formulation
from symgen.formulations.semi_recursive import (
    bodies,
    by_coordinates,
    by_parameters,
    costs,
    functions,
    kinematics,
    slopes,
    solution,
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
    "forward_dynamics": solution.forward_dynamics,
    "forward_dynamics_derivatives": solution.forward_dynamics_derivatives,
    "forward_dynamics_parameter_derivatives": solution.forward_dynamics_parameter_derivatives,
    "forward_dynamics_sensitivities": solution.forward_dynamics_sensitivities,
    "hybrid_dynamics": solution.hybrid_dynamics,
    "hybrid_dynamics_derivatives": solution.hybrid_dynamics_derivatives,
    "hybrid_dynamics_parameter_derivatives": solution.hybrid_dynamics_parameter_derivatives,
}


def semi_recursive(name: str, point: ReferencePoint) -> Formulation:
    """The formulation with these reference points."""
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
        },
        by_default=False,
        estimate=costs.estimate,
        functions={name: partial(function, point) for name, function in _FUNCTIONS.items()},
    )


SEMI_RECURSIVE = semi_recursive("semi_recursive", LINK_ORIGIN)
SEMI_RECURSIVE_RTDYN0 = semi_recursive("semi_recursive_rtdyn0", RTDYN0)
SEMI_RECURSIVE_RTDYN1 = semi_recursive("semi_recursive_rtdyn1", RTDYN1)
