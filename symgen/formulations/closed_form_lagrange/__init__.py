"""The closed form of Lagrange's equations with 4x4 transforms (Xiang 2009, section 3).

`equations` holds the notation, the terms and the functions, `kinematics` the 4x4 matrices that they
are made of.
"""

from symgen.formulations import torques
from symgen.formulations.closed_form_lagrange import equations
from symgen.formulations.direct import with_derivatives
from symgen.formulations.interface import Formulation, functions_in

CLOSED_FORM_LAGRANGE = Formulation(
    name="closed_form_lagrange",
    title="Closed-form Lagrange, 4x4 transforms",
    source="Xiang 2009, section 3",
    notes=equations.NOTES,
    functions=with_derivatives({**torques.functions(equations.rigid), **functions_in(equations)}),
    why_not=equations.why_not,
    weight=2.0,
    size=equations.estimate,
)
