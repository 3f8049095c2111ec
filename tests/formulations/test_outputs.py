"""Outputs of a model: the functions that they are made of, and their zeros."""

import numpy as np
import pytest

from symgen.algebra.graph import Graph
from symgen.algebra.sympy_algebra import SymPyAlgebra
from symgen.deriving.digest import model_hash
from symgen.description import read
from symgen.description.quantities import POINT_PARTS, RATES, SINGLE, WRENCH_PARTS
from symgen.formulations import derive, formulation_named
from symgen.kinematics.tree import build_tree
from symgen.program.interpreter import call
from symgen.validation.oracles import NumericRobot
from tests.modules import EXAMPLES, described
from tests.oracles.comparison import agrees, evaluated, state_of

NEWTON_EULER = formulation_named("newton_euler")
RUNTIME = ("k",)

QUANTITIES = (
    *SINGLE,
    *(f"center_of_mass.{part}" for part in "xyz"),
    *(f"{rate}.{name}" for rate in RATES for name in ("waist", "left", "right")),
    *(f"points.{name}.{part}" for name in ("hand", "mark") for part in POINT_PARTS),
    *(f"wrenches.{name}.{part}" for name in ("waist", "left", "right") for part in WRENCH_PARTS),
    *(f"loads.push.{part}" for part in WRENCH_PARTS),
)
"""What an output may mention."""


def test_a_double_pendulum_moves_as_the_textbook_says():
    description = read(EXAMPLES / "double_pendulum.yaml")
    q, qd = np.radians([30.0, 30.0]), np.array([0.7, -0.4])
    program = evaluated(description, NEWTON_EULER, "outputs", ("L1", "L2", "M_P", "M_Q"))
    L1, L2, m1, m2 = 0.8, 1.3, 1.5, 0.6
    found = call(program, {"q": q, "qd": qd, "parameters": [L1, L2, m1, m2]})[0]
    one, two, w1, w2 = q[0], q.sum(), qd[0], qd.sum()
    kinetic = m1 * (L1 * w1) ** 2 / 2 + m2 / 2 * (
        (L1 * w1) ** 2 + (L2 * w2) ** 2 + 2 * L1 * L2 * w1 * w2 * np.cos(one - two)
    )
    depth = L1 * np.cos(one) + L2 * np.cos(two)
    potential = -9.81 * (m1 * L1 * np.cos(one) + m2 * depth)
    assert agrees(found, [kinetic, potential, L1 + L2 - depth, np.pi / 3], 1e-14)


BRANCHES = """
symgen: 1
name: branches
parameters: {k: 2, half: k/2}
joints:
  - {name: waist, type: revolute, origin: {}, link: {mass: k, com: [0.1, 0.2, 0]}}
  - {name: left, type: revolute, origin: {xyz: [0, half, 0]}, link: {mass: 1, com: [0.3, 0, 0]}}
  - {name: right, type: prismatic, parent: waist, origin: {}, link: {mass: 1, com: [0.3, 0, 0]}}
points:
  - {name: hand, link: left, point: [0.3, 0, 0]}
  - {name: mark, link: base, point: [1, 2, half]}
loads: [{name: push, link: right}]
outputs:
"""


def patterns(expression, algebra=Graph):
    """Positions of what can differ from 0 in every derivative of one output."""
    description = described(f"{BRANCHES}  o: {expression}\n")
    tree = build_tree(description, algebra(), RUNTIME)
    program = derive(tree, NEWTON_EULER, "outputs_derivatives")
    found = {}
    for output in program.outputs[1:]:
        filled = [i for i, entry in enumerate(output.entries) if not tree.algebra.is_zero(entry)]
        if filled:
            found[output.name.removeprefix("do_d")] = filled
    return found


@pytest.mark.parametrize("algebra", [Graph, SymPyAlgebra])
@pytest.mark.parametrize(("expression", "expected"), [
    ("q.left", {"q": [1]}),
    ("t*tau.right", {"t": [0], "tau": [2]}),
    ("qdd.waist", {"qdd": [0]}),
    ("loads.push.ny", {"loads": [4]}),
    ("points.hand.x", {"q": [0, 1], "parameters": [0]}),
    ("points.hand.vx", {"q": [0, 1], "qd": [0, 1], "parameters": [0]}),
    ("points.hand.az", {}),  # a planar motion
    ("points.mark.x + points.mark.vy", {}),
    ("points.mark.z", {"parameters": [0]}),
    ("wrenches.right.nz", {"qdd": [0], "loads": [5]}),
    ("half", {"parameters": [0]}),
    ("3*pi", {}),
])  # fmt: skip
def test_what_is_zero_by_structure_stays_so(expression, expected, algebra):
    assert patterns(expression, algebra) == expected


def test_every_quantity_is_that_of_the_function_of_its_name():
    outputs = "".join(f"  o{i}: {name}\n" for i, name in enumerate(QUANTITIES))
    description = described(BRANCHES + outputs)
    drawn = {**state_of(description, 1), "t": 0.7}
    state = {name: drawn[name] for name in ("t", *RATES, "loads")}
    names = ("outputs", "kinetic_energy", "potential_energy", "center_of_mass", "joint_wrenches")
    values, *single, wrenches = (
        call(evaluated(description, NEWTON_EULER, name), state)[0] for name in names
    )
    points = call(evaluated(description, NEWTON_EULER, "point_motion"), state)
    expected = [state["t"], *single, *(state[rate] for rate in RATES)]
    expected += [np.concatenate(points, axis=-1), wrenches, state["loads"]]
    expected = np.concatenate([np.ravel(x) for x in expected])
    assert agrees(values, expected, 1e-13)
    assert agrees(values, NumericRobot(description).outputs(**state))


def test_only_what_is_mentioned_is_derived():
    def kinds(expression):
        description = described(f"{BRANCHES}  o: {expression}\n")
        program = derive(build_tree(description, Graph()), NEWTON_EULER, "outputs")
        return {step.kind for step in program.steps}, {step.joint for step in program.steps}

    assert kinds("2*q.left + t") == ({"outputs"}, {"o"})
    found, joints = kinds("points.hand.x")
    assert found == {"frames", "rotations", "positions", "points", "outputs"}
    assert "right" not in joints
    assert "forward" in kinds("points.hand.vx")[0]
    assert "backward" not in kinds("points.hand.ax")[0]
    assert "backward" in kinds("wrenches.left.fx")[0]


def test_an_output_is_part_of_what_a_model_says():
    texts = ("o: q.left", "o: q.right", "p: q.left", "o: {value: q.left, unit: rad}", "o: q.left ")
    hashes = [model_hash(described(f"{BRANCHES}  {text}\n")) for text in texts]
    assert len(set(hashes)) == 4 and hashes[0] == hashes[4]


def test_a_robot_without_joints_has_outputs():
    description = described("symgen: 1\nname: x\nparameters: {k: 2}\noutputs: {o: k*sin(t)}\n")
    state = {"t": np.array([0.5, 1.0]), "parameters": [3.0]}
    program = evaluated(description, NEWTON_EULER, "outputs_derivatives", RUNTIME)
    values, by_t, by_q, *_, by_parameters = call(program, state)
    assert agrees(values, 3 * np.sin(state["t"])[:, np.newaxis])
    assert agrees(by_t, 3 * np.cos(state["t"])[:, np.newaxis])
    assert by_q.shape == (2, 1, 0)
    assert agrees(by_parameters, np.sin(state["t"])[:, np.newaxis, np.newaxis])
