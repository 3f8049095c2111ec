"""Kane's equations with an explicit mass matrix (Anderson, Hsu 2002).

`kinematics` holds the notation, `explicit` the traditional sums, `partially_recursive` the sums
carried inward, `equations` what both routes share once M and K are there.  Derivatives are those of
`symgen.formulations.implicit`.
"""

from functools import partial

from symgen.formulations import implicit
from symgen.formulations.explicit_kane import equations, explicit, kinematics, partially_recursive
from symgen.formulations.explicit_kane.equations import Equations, Route
from symgen.formulations.interface import (
    Derivation,
    Formulation,
    needs_a_coordinate_for_every_joint,
)

_EXPLICIT = Route(explicit.mass_matrix, explicit.forces)
_PARTIALLY_RECURSIVE = Route(partially_recursive.mass_matrix, partially_recursive.forces)
_SHARED_NOTES = {**kinematics.NOTES, **equations.NOTES}


def _functions(route: Route) -> dict[str, Derivation]:
    return {
        "mass_matrix": partial(equations.mass_matrix, route),
        "bias_forces": partial(equations.bias_forces, route),
        **implicit.functions(partial(Equations, route=route)),
    }


EXPLICIT_KANE = Formulation(
    name="explicit_kane",
    title="Kane's equations, mass matrix by explicit sums",
    source="Anderson, Hsu 2002, section 3.1",
    notes={**_SHARED_NOTES, **explicit.NOTES},
    functions=_functions(_EXPLICIT),
    why_not=needs_a_coordinate_for_every_joint,
    weight=7.0,
)

PARTIALLY_RECURSIVE_KANE = Formulation(
    name="partially_recursive_kane",
    title="Kane's equations, mass matrix by sums carried inward",
    source="Anderson, Hsu 2002, section 4.1 and appendix A",
    notes={**_SHARED_NOTES, **partially_recursive.NOTES},
    functions=_functions(_PARTIALLY_RECURSIVE),
    why_not=needs_a_coordinate_for_every_joint,
    weight=7.0,
)
