"""Nothing is written about joints on different branches: two arms take what each takes alone."""

import pytest

from symgen.algebra.graph import Graph
from symgen.formulations import FORMULATIONS, derive
from symgen.kinematics.tree import build_tree
from tests.modules import described

ARM = """
  - {{name: {0}, type: {1}, parent: base, origin: {{xyz: [0.3, 0.1, 0.2], rpy: [0.3, 0.2, 0.1]}},
     link: {{mass: 2, com: [0.1, 0, 0.2], inertia: {{xx: 1, yy: 2, zz: 1.5, xy: 0.1}}}}}}
  - {{name: {0}2, type: revolute, convention: standard, dh: {{a: 0.4, d: 0.2, alpha: -1.1}},
     link: {{mass: 1, com: [0.1, 0, 0.3], inertia: {{xx: 1, yy: 2, zz: 1.7, xy: 0.2}}}}}}
  - {{name: {0}3, type: prismatic, origin: {{xyz: [0.2, 0, 0.1], rpy: [0.4, 0, 0.2]}},
     link: {{mass: 1, com: [0.1, 0.2, 0.3]}}}}"""
ARMS = (("left", "revolute"), ("right", "prismatic"))
FUNCTIONS = (
    "inverse_dynamics_derivatives", "inverse_dynamics_hessian", "mass_matrix", "coriolis_matrix",
    "joint_wrench_derivatives", "point_motion_derivatives", "regressor", "forward_dynamics",
    "forward_dynamics_derivatives", "inverse_dynamics_vjp", "jacobians",
)  # fmt: skip
CASES = [
    pytest.param(item, name, id=f"{item.name}-{name}")
    for item in FORMULATIONS
    for name in FUNCTIONS
    if name in item.functions
]


def tree_of(arms):
    joints = "".join(ARM.format(*arm) for arm in arms)
    loads, points = (
        ", ".join(
            f"{{name: {what}{arm[0]}, link: {arm[0]}3, point: [0.1, 0.2, 0]}}" for arm in arms
        )
        for what in ("push", "tip")
    )
    text = f"joints:{joints}\nloads: [{loads}]\npoints: [{points}]\n"
    return build_tree(described(f"symgen: 1\nname: arms\ngravity: [1, 2, -9]\n{text}"), Graph())


@pytest.mark.parametrize(("formulation", "function"), CASES)
def test_two_arms_are_written_as_each_alone(formulation, function):
    both, *alone = (
        derive(tree_of(arms), formulation, function) for arms in (ARMS, *((arm,) for arm in ARMS))
    )
    assert len(both.statements) <= sum(len(program.statements) for program in alone)
    for output, *parts in zip(both.outputs, *(program.outputs for program in alone), strict=True):
        filled = [sum(not entry.is_zero for entry in x.entries) for x in (output, *parts)]
        assert filled[0] == sum(filled[1:]), output.name
