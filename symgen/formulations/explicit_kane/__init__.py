"""Kane's equations with an explicit mass matrix (Anderson, Hsu 2002).

`kinematics` holds the notation, `explicit` the traditional sums, `partially_recursive` the sums
carried inward; `*_derivatives` their derivatives; `equations` and `solution` what both routes share
once M and K are there.
"""

from functools import partial

from symgen.formulations.explicit_kane import (
    equations,
    explicit,
    explicit_derivatives,
    kinematic_derivatives,
    kinematics,
    partially_recursive,
    partially_recursive_derivatives,
    solution,
)
from symgen.formulations.explicit_kane.equations import Route
from symgen.formulations.interface import (
    Derivation,
    Formulation,
    needs_a_coordinate_for_every_joint,
)

_EXPLICIT = Route(
    explicit.mass_matrix,
    explicit.forces,
    explicit_derivatives.d_mass_matrix,
    explicit_derivatives.d_forces,
)
_PARTIALLY_RECURSIVE = Route(
    partially_recursive.mass_matrix,
    partially_recursive.forces,
    partially_recursive_derivatives.d_mass_matrix,
    partially_recursive_derivatives.d_forces,
)
_SHARED_NOTES = {
    **kinematics.NOTES,
    **kinematic_derivatives.NOTES,
    **equations.NOTES,
    **solution.NOTES,
}
_FUNCTIONS = (
    solution.mass_matrix,
    solution.bias_forces,
    solution.forward_dynamics,
    solution.forward_dynamics_derivatives,
    solution.forward_dynamics_parameter_derivatives,
    solution.forward_dynamics_sensitivities,
    solution.hybrid_dynamics,
    solution.hybrid_dynamics_derivatives,
    solution.hybrid_dynamics_parameter_derivatives,
)


def _functions(route: Route) -> dict[str, Derivation]:
    return {function.__name__: partial(function, route) for function in _FUNCTIONS}


EXPLICIT_KANE = Formulation(
    name="explicit_kane",
    title="Kane's equations, mass matrix by explicit sums",
    source="Anderson, Hsu 2002, section 3.1",
    notes={**_SHARED_NOTES, **explicit.NOTES, **explicit_derivatives.NOTES},
    functions=_functions(_EXPLICIT),
    why_not=needs_a_coordinate_for_every_joint,
    weight=7.0,
)

PARTIALLY_RECURSIVE_KANE = Formulation(
    name="partially_recursive_kane",
    title="Kane's equations, mass matrix by sums carried inward",
    source="Anderson, Hsu 2002, section 4.1 and appendix A",
    notes={
        **_SHARED_NOTES,
        **partially_recursive.NOTES,
        **partially_recursive_derivatives.NOTES,
    },
    functions=_functions(_PARTIALLY_RECURSIVE),
    why_not=needs_a_coordinate_for_every_joint,
    weight=7.0,
)
