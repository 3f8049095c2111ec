"""Composite rigid bodies, and the recursions with the fewest operations.

In link axes, joint by joint: `passages` carries over a joint, `recursion` has the torques and their
parts, `mass_matrix` the composite bodies.  In one basis, about one point of each tree, where
composites are plain sums: `motion` has the axes and how links move, `bodies` what they weigh and
what acts on them; `derivatives`, `forward`, `hessian`, `wrenches` and `regressor` put these
together, in a straight line and in loops over joints; `rolled` has what loops share.  In base axes,
about each joint's own origin: `points`.

These derivatives are written by hand.  `direct` takes so many times their operations (for joint
wrenches from the recursion of `newton_euler`, where an operation takes 1.4 times as long):

| function | puma560 | arm7 | tree12 |
| --- | --- | --- | --- |
| inverse_dynamics_derivatives | 1.02 | 1.88 | 1.24 |
| point_motion_derivatives (last link) | 1.22 | 1.67 | 1.44 |
| forward_dynamics_derivatives | 1.10 | 1.83 | 1.34 |
| hybrid_dynamics_derivatives | 1.12 | 1.85 | 1.39 |
| joint_wrench_derivatives | 0.57 | 1.01 | 0.72 |
"""

from symgen.formulations import torques
from symgen.formulations.composite import (
    bodies,
    derivatives,
    forward,
    hessian,
    mass_matrix,
    motion,
    passages,
    points,
    recursion,
    regressor,
    rolled,
    wrenches,
)
from symgen.formulations.direct import with_derivatives
from symgen.formulations.interface import Formulation, functions_in, notes_in

FUNCTIONS = {
    **torques.functions(recursion.rigid),
    **functions_in(derivatives, hessian, mass_matrix, points, wrenches, regressor),
    **forward.FUNCTIONS,
}

COMPOSITE = Formulation(
    name="composite",
    title="Composite rigid bodies, derivatives in closed form",
    source="Singh, Russell, Wensing 2022",
    notes=notes_in(
        motion,
        bodies,
        derivatives,
        hessian,
        passages,
        mass_matrix,
        recursion,
        forward,
        points,
        wrenches,
        regressor,
    ),
    functions=with_derivatives(FUNCTIONS),
    weights={"joint_wrench_derivatives": 0.7, "regressor": 0.25},
    rolled={
        "inverse_dynamics_derivatives": rolled.inverse_dynamics_derivatives,
        "inverse_dynamics_hessian": hessian.rolled_hessian,
        "mass_matrix": rolled.mass_matrix,
        "coriolis_matrix": rolled.coriolis_matrix,
        "forward_dynamics_derivatives": forward.forward_dynamics_derivatives,
        "joint_wrench_derivatives": wrenches.rolled_wrench_derivatives,
        "regressor": regressor.rolled_regressor,
    },
)
