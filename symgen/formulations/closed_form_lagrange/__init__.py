"""The closed form of Lagrange's equations with 4x4 transforms (Xiang 2009, section 3).

`equations` holds the notation and the terms, `kinematics` the 4x4 matrices that they are made of,
`functions` what is derived from them, `derivatives` the same terms differentiated.
"""

from collections.abc import Mapping

from symgen.formulations.closed_form_lagrange import equations, functions
from symgen.formulations.direct import with_derivatives
from symgen.formulations.interface import Derivation, Formulation

FUNCTIONS: Mapping[str, Derivation] = {
    "inverse_dynamics": functions.inverse_dynamics,
    "inverse_dynamics_load_derivatives": functions.load_derivatives,
    "mass_matrix": functions.mass_matrix,
    "coriolis_matrix": functions.coriolis_matrix,
    "bias_forces": functions.bias_forces,
    "gravity_forces": functions.gravity_forces,
    "torque_parts": functions.torque_parts,
    "kinetic_energy": functions.kinetic_energy,
    "potential_energy": functions.potential_energy,
    "forward_kinematics": functions.forward_kinematics,
    "jacobians": functions.jacobians,
}

CLOSED_FORM_LAGRANGE = Formulation(
    name="closed_form_lagrange",
    title="Closed-form Lagrange, 4x4 transforms",
    source="Xiang 2009, section 3",
    notes=equations.NOTES,
    functions=with_derivatives(FUNCTIONS),
    why_not=functions.why_not,
    weight=2.0,
    size=functions.estimate,
)
