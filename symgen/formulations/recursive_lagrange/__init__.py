"""Recursive Lagrangian dynamics with 4x4 transforms on open trees (Xiang 2009, open-tree paper).

`recursion` holds the notation and the steps of the inverse dynamics, the other modules what is made
of them.  Derivatives are those of every line: `symgen.formulations.direct`.
"""

from collections.abc import Mapping

from symgen.formulations import torques
from symgen.formulations.direct import with_derivatives
from symgen.formulations.interface import Derivation, Formulation
from symgen.formulations.recursive_lagrange import (
    dynamics,
    kinematics,
    mass_center,
    recursion,
)

FUNCTIONS: Mapping[str, Derivation] = {
    **torques.functions(dynamics.rigid),
    "inverse_dynamics_load_derivatives": dynamics.load_derivatives,
    "kinetic_energy": kinematics.kinetic_energy,
    "potential_energy": kinematics.potential_energy,
    "forward_kinematics": kinematics.forward_kinematics,
    "jacobians": kinematics.jacobians,
    "point_motion": kinematics.point_motion,
    "link_motion": kinematics.link_motion,
    "center_of_mass": mass_center.center_of_mass,
    "center_of_mass_jacobian": mass_center.center_of_mass_jacobian,
    "centroidal_momentum": mass_center.centroidal_momentum,
    "centroidal_momentum_matrix": mass_center.centroidal_momentum_matrix,
    "centroidal_momentum_rate": mass_center.centroidal_momentum_rate,
}

RECURSIVE_LAGRANGE = Formulation(
    name="recursive_lagrange",
    title="Recursive Lagrange, 4x4 transforms",
    source="Xiang 2009, section 4, and the open-tree paper",
    notes={
        **recursion.NOTES,
        **dynamics.NOTES,
        **kinematics.NOTES,
        **mass_center.NOTES,
    },
    functions=with_derivatives(FUNCTIONS),
    weight=2.5,
)
