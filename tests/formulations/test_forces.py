"""Springs of a model: MuJoCo's tendons, formulas of mechanics, and what springs leave alone."""

import mujoco
import numpy as np
import pytest

from symgen.algebra.graph import Graph
from symgen.formulations import formulation_named, has_rolled_form
from symgen.kinematics.tree import build_tree
from symgen.program.interpreter import call
from tests.modules import described
from tests.oracles.comparison import agrees, evaluated

RUNTIME = ("k", "c", "slack", "reach")

ARM = """
symgen: 1
name: arm
gravity: [0, 0, -9.81]
parameters: {k: 40, c: 3, slack: 0.25, reach: 0.1}
joints:
  - {name: a, type: revolute, origin: {xyz: [0, 0, 0.3]}, axis: [0, 1, 0],
     link: {mass: 1, com: [0.2, 0, 0.1], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
  - {name: b, type: revolute, origin: {xyz: [0.5, 0, 0.1]}, axis: [0, 0.6, 0.8],
     link: {mass: 2, com: [0.1, 0.1, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
  - {name: c, type: prismatic, origin: {xyz: [0.1, 0.4, 0.1]}, axis: [1, 0, 0],
     link: {mass: 1, com: [0, 0.1, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
  - {name: d, type: revolute, parent: a, origin: {xyz: [0.5, 0.2, 0.1]}, axis: [1, 0, 0],
     link: {mass: 1, com: [0.2, 0.1, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
"""
SPRINGS = """
springs:
  - {name: one, between: [{link: c, point: [0.2, 0.1, reach]}, {link: d, point: [0, 0.3, 0]}],
     stiffness: k, damping: c, length: slack}
  - {name: two, between: [{link: base, point: [1, 0, 0]}, {link: b, point: [0, reach, 0]}],
     stiffness: 2*k, damping: c/2}
"""
XML = """
<mujoco>
  <compiler angle="radian" autolimits="true"/>
  <option gravity="0 0 -9.81"/>
  <worldbody>
    <site name="w" pos="1 0 0"/>
    <body name="a" pos="0 0 0.3">
      <joint type="hinge" axis="0 1 0"/>
      <inertial mass="1" pos="0.2 0 0.1" diaginertia="0.1 0.2 0.15"/>
      <body name="b" pos="0.5 0 0.1">
        <joint type="hinge" axis="0 0.6 0.8"/>
        <inertial mass="2" pos="0.1 0.1 0" diaginertia="0.1 0.2 0.15"/>
        <site name="b" pos="0 0.1 0"/>
        <body name="c" pos="0.1 0.4 0.1">
          <joint type="slide" axis="1 0 0"/>
          <inertial mass="1" pos="0 0.1 0" diaginertia="0.1 0.2 0.15"/>
          <site name="c" pos="0.2 0.1 0.1"/>
        </body>
      </body>
      <body name="d" pos="0.5 0.2 0.1">
        <joint type="hinge" axis="1 0 0"/>
        <inertial mass="1" pos="0.2 0.1 0" diaginertia="0.1 0.2 0.15"/>
        <site name="d" pos="0 0.3 0"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <spatial stiffness="40" damping="3" springlength="0.25">
      <site site="c"/><site site="d"/>
    </spatial>
    <spatial stiffness="80" damping="1.5" springlength="0">
      <site site="w"/><site site="b"/>
    </spatial>
  </tendon>
</mujoco>
"""


def arm_program(formulation, function, text=ARM + SPRINGS):
    return evaluated(described(text), formulation_named(formulation), function, RUNTIME)


def arm_values():
    return np.array([40, 3, 0.25, 0.1])


def test_springs_are_mujocos_tendons():
    """Spatial tendons between sites, with springlength, stiffness and damping."""
    model = mujoco.MjModel.from_xml_string(XML)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(5)
    torques = arm_program("newton_euler", "inverse_dynamics")
    accelerations = arm_program("composite", "forward_dynamics")
    energy = arm_program("newton_euler", "potential_energy")
    bare = arm_program("newton_euler", "potential_energy", ARM)
    for _ in range(5):
        q, qd, qdd, tau = rng.normal(size=(4, 4))
        data.qpos[:], data.qvel[:] = q, qd
        data.qfrc_applied[:] = tau
        mujoco.mj_forward(model, data)
        state = {"q": q, "qd": qd, "parameters": arm_values(), "loads": np.zeros((0, 6))}
        assert agrees(call(accelerations, {**state, "tau": tau})[0], data.qacc)
        data.qacc[:] = qdd
        mujoco.mj_inverse(model, data)
        assert agrees(call(torques, {**state, "qdd": qdd})[0], data.qfrc_inverse)
        mujoco.mj_energyPos(model, data)
        stored = call(energy, state)[0] - call(bare, state)[0]
        lengths = data.ten_length - np.array([0.25, 0.0])
        assert agrees(stored, 0.5 * np.array([40.0, 80.0]) @ lengths**2)


def test_a_spring_of_no_length_is_regular_where_its_ends_meet():
    text = ARM + "springs: [{name: s, between: [{link: base}, {link: a}], stiffness: k}]\n"
    text = text.replace("xyz: [0, 0, 0.3]", "xyz: [0, 0, 0]")
    program = arm_program("newton_euler", "inverse_dynamics_derivatives", text)
    state = {name: np.zeros(4) for name in ("q", "qd", "qdd")}
    found = call(program, {**state, "loads": np.zeros((0, 6)), "parameters": arm_values()})
    assert all(np.all(np.isfinite(array)) for array in found)


def test_there_are_no_loops():
    trees = [build_tree(described(text), Graph()) for text in (ARM, ARM + SPRINGS)]
    composite = formulation_named("composite")
    assert [has_rolled_form(tree, composite, "mass_matrix") for tree in trees] == [True, False]


ENDS = """
springs:
  - name: one
    between: [{link: c, point: [0.2, 0.1, reach]}, {link: d, point: [0, 0.3, 0]}]
    length: slack
"""
LINEAR = f"{ENDS}    stiffness: k\n    damping: c\n"
LAW = f"{ENDS}    force: k*x + c*v\n    energy: k*x**2/2\n"
STOP = "k*x + 40*min(l - 0.4, 0) + c*v + c*(v + sqrt(v**2 + 0.1))"
TWO_FORCES = """
points:
  - {{name: p, link: c, point: [0.2, 0.1, reach]}}
  - {{name: s, link: d, point: [0, 0.3, 0]}}
forces:
  - {{name: f, point: p, let: &let {{X: points.s.x - points.p.x, Y: points.s.y - points.p.y,
      Z: points.s.z - points.p.z, l: sqrt(X*X + Y*Y + Z*Z), x: l - slack,
      v: (X*(points.s.vx - points.p.vx) + Y*(points.s.vy - points.p.vy)
        + Z*(points.s.vz - points.p.vz))/l, F: '({law})/l'}}, force: [F*X, F*Y, F*Z]}}
  - {{name: g, point: s, let: *let, force: [-F*X, -F*Y, -F*Z]}}
"""
WITH_ENERGY = ("potential_energy", "potential_energy_parameter_derivatives")
OF_FORCES = (
    "inverse_dynamics", "joint_wrenches", "inverse_dynamics_derivatives",
    "inverse_dynamics_parameter_derivatives",
)  # fmt: skip
DEAR = (
    "inverse_dynamics_hessian", "forward_dynamics_derivatives",
    "forward_dynamics_parameter_derivatives",
)  # fmt: skip


def same(function, *texts):
    """Whether a function has one value for all models of the arm, at random states."""
    rng = np.random.default_rng(1)
    state = {name: rng.normal(size=(3, 4)) for name in ("q", "qd", "qdd", "tau", "multipliers")}
    state |= {"parameters": arm_values(), "loads": np.zeros((0, 6))}
    first, *others = (call(arm_program("newton_euler", function, ARM + x), state) for x in texts)
    return all(agrees(*pair) for other in others for pair in zip(first, other, strict=True))


@pytest.mark.parametrize("function", [
    *OF_FORCES, *(pytest.param(x, marks=pytest.mark.slow) for x in DEAR), *WITH_ENERGY,
])  # fmt: skip
def test_a_law_is_that_of_stiffness_and_damping_and_of_two_forces(function):
    assert same(function, LINEAR, LAW)
    if function not in WITH_ENERGY:
        assert same(function, f"{ENDS}    force: {STOP}\n", TWO_FORCES.format(law=STOP))
    else:
        assert same(function, "", f"{ENDS}    force: {STOP}\n")
