"""Recursive Newton-Euler dynamics with 3x3 rotations (Barman 2020).

`recursion` holds the notation and the steps of the inverse dynamics, the other modules what is made
of them.
"""

from functools import partial

from symgen.formulations.interface import Formulation
from symgen.formulations.newton_euler import dynamics, kinematics, recursion

NEWTON_EULER = Formulation(
    name="newton_euler",
    title="Recursive Newton-Euler, 3x3 rotations",
    source="Barman 2020",
    notes={**recursion.NOTES, **dynamics.NOTES, **kinematics.NOTES},
    functions={
        "inverse_dynamics": partial(dynamics.torque_function, "tau"),
        "inverse_dynamics_load_derivatives": dynamics.load_derivatives,
        "mass_matrix": dynamics.mass_matrix,
        "coriolis_matrix": dynamics.coriolis_matrix,
        "bias_forces": partial(dynamics.torque_function, "bias_forces"),
        "gravity_forces": dynamics.gravity_forces,
        "kinetic_energy": kinematics.kinetic_energy,
        "potential_energy": kinematics.potential_energy,
        "forward_kinematics": kinematics.forward_kinematics,
        "jacobians": kinematics.jacobians,
    },
)
