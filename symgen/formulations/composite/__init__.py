"""Composite rigid bodies, and the recursions with the fewest operations.

In link axes, joint by joint: `passages` say what is carried over a joint, `recursion` has the
torques, `torque_parts` their parts, `mass_matrix` the composite bodies.  In one basis, about one
point of each tree, where composites are plain sums: `frames` say where the joints are, `motion` how
links move, `bodies` what they weigh and `loads` what acts on them; `derivatives`, `coriolis`,
`hessian`, `wrenches` and `regressor` put these together, and `loops`, `matrix_loops`,
`forward_loops`, `hessian_loops`, `wrench_loops` and `regressor_loops` say the same joint by joint.
In base axes, about each joint's own origin: `points`.
"""

from collections.abc import Mapping
from functools import partial

from symgen.formulations.composite import (
    bodies,
    coriolis,
    derivatives,
    forward,
    forward_loops,
    frames,
    hessian,
    hessian_loops,
    loads,
    loops,
    mass_matrix,
    matrix_loops,
    motion,
    passages,
    points,
    recursion,
    regressor,
    regressor_loops,
    torque_parts,
    wrench_loops,
    wrenches,
)
from symgen.formulations.direct import with_derivatives
from symgen.formulations.interface import Derivation, Formulation

FUNCTIONS: Mapping[str, Derivation] = {
    "inverse_dynamics": partial(recursion.torque_function, "tau"),
    "inverse_dynamics_derivatives": derivatives.inverse_dynamics_derivatives,
    "inverse_dynamics_hessian": hessian.inverse_dynamics_hessian,
    "inverse_dynamics_load_derivatives": points.load_derivatives,
    "mass_matrix": mass_matrix.mass_matrix,
    "coriolis_matrix": coriolis.coriolis_matrix,
    "bias_forces": partial(recursion.torque_function, "bias_forces"),
    "gravity_forces": recursion.gravity_forces,
    "torque_parts": torque_parts.torque_parts,
    "point_motion": points.point_motion,
    "point_motion_derivatives": points.point_motion_derivatives,
    **forward.FUNCTIONS,
    "joint_wrench_derivatives": wrenches.joint_wrench_derivatives,
    "regressor": regressor.regressor,
}

COMPOSITE = Formulation(
    name="composite",
    title="Composite rigid bodies, derivatives in closed form",
    source="Singh, Russell, Wensing 2022",
    notes={
        **frames.NOTES,
        **motion.NOTES,
        **bodies.NOTES,
        **loads.NOTES,
        **derivatives.NOTES,
        **coriolis.NOTES,
        **hessian.NOTES,
        **passages.NOTES,
        **mass_matrix.NOTES,
        **recursion.NOTES,
        **forward.NOTES,
        **points.NOTES,
        **wrenches.NOTES,
        **regressor.NOTES,
    },
    functions=with_derivatives(FUNCTIONS),
    weights={"joint_wrench_derivatives": 0.7, "regressor": 0.25},
    loops={
        "inverse_dynamics_derivatives": loops.inverse_dynamics_derivatives,
        "inverse_dynamics_hessian": hessian_loops.inverse_dynamics_hessian,
        "mass_matrix": matrix_loops.mass_matrix,
        "coriolis_matrix": matrix_loops.coriolis_matrix,
        "forward_dynamics_derivatives": forward_loops.forward_dynamics_derivatives,
        "joint_wrench_derivatives": wrench_loops.joint_wrench_derivatives,
        "regressor": regressor_loops.regressor,
    },
)
