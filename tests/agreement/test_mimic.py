"""Joints that follow others: by hand, beside free bodies, and what a module says about them."""

import numpy as np
import pytest

import symgen
from symgen.algebra.graph import Graph
from symgen.deriving.digest import model_hash
from symgen.exact import prove
from symgen.formulations import FORMULATIONS, formulation_named
from symgen.kinematics.tree import build_tree
from symgen.program.interpreter import call
from symgen.validation.oracles import NumericRobot
from tests.choosing import some_slow
from tests.modules import described, module
from tests.oracles.comparison import agrees, evaluated, state_of

GRIPPER = """
symgen: 1
name: gripper
parameters: {r: 0.05, ratio: -1}
joints:
  - {name: wrist, type: revolute, origin: {}, axis: [1, 0, 0], limits: {lower: -1, upper: 2},
     link: {mass: 1, inertia: {xx: 0.1, yy: 0.2, zz: 0.3}}}
  - {name: left, type: prismatic, parent: wrist, origin: {xyz: [0, 0.1, 0]}, axis: [0, 1, 0],
     mimic: {coordinate: pinion, multiplier: r}, limits: {lower: 0, upper: 0.04}, damping: 3,
     link: {mass: 0.4, com: [0, 0.1, 0.2]}}
  - {name: pinion, type: revolute, parent: wrist, origin: {}, prescribed: true,
     limits: {lower: 0, upper: 3}, link: {mass: 0.1, inertia: {zz: 0.002}}}
  - {name: right, type: prismatic, parent: wrist, origin: {xyz: [0, -0.1, 0]}, axis: [0, 1, 0],
     mimic: {coordinate: left, multiplier: ratio, offset: 0.01}, rotor_inertia: 0.02,
     link: {mass: 0.4, com: [0, -0.1, 0.2]}}
points: [{name: tip, link: right, point: [0, 0, 0.3]}]
loads: [{name: grip, link: left, point: [0, 0, 0.3]}]
outputs: {gap: points.tip.y + q.pinion, pull: wrenches.left.fy}
"""
FREE_BODY = """
symgen: 1
name: follows
joints:
  - {name: body, type: floating, coordinates: quaternion,
     origin: {xyz: [0.1, 0, 0], rpy: [0.3, 0, 0.2]}, rotor_inertia: [1, 2, 3, 0.2, 0.3, 0.4],
     link: {mass: 2, com: [0.1, 0, 0.05], inertia: {xx: 0.1, yy: 0.2, zz: 0.15, xy: 0.01}}}
  - {name: left, type: revolute, origin: {xyz: [0.2, 0.1, 0]},
     link: {mass: 0.5, com: [0.1, 0, 0], inertia: {xx: 0.01, yy: 0.02, zz: 0.015}}}
  - {name: right, type: revolute, parent: body, origin: {xyz: [0.2, -0.1, 0]}, axis: [0, 1, 1],
     mimic: {coordinate: left, multiplier: -1.5, offset: 0.2},
     link: {mass: 0.4, com: [0.1, 0.1, 0], inertia: {xx: 0.01, yy: 0.02, zz: 0.015}}}
"""
BARE = GRIPPER[: GRIPPER.index("points:")]
MODELS = {
    "free body": FREE_BODY,
    **{x: BARE.replace("multiplier: ratio", f"multiplier: {x}") for x in ("0", "1", "r")},
}


@pytest.mark.parametrize("case", some_slow(MODELS, [x for x in MODELS if x != "free body"]))
def test_derivatives_are_those_of_the_numeric_model(case):
    """Beside quaternions, and for multipliers that are special."""
    description = described(MODELS[case])
    robot, state = NumericRobot(description), state_of(description, 2)
    for third, name in (("qdd", "inverse_dynamics"), ("tau", "forward_dynamics")):
        expected = getattr(robot, f"{name}_derivatives")(state["q"], state["qd"], state[third])
        for formulation in ("composite", "newton_euler"):
            program = evaluated(description, formulation_named(formulation), f"{name}_derivatives")
            for value, other in zip(call(program, state), expected, strict=False):
                assert agrees(value, other, 1e-10), (formulation, name)


def test_a_rack_and_its_pinion():
    """By hand: the two racks move by r and -r for each radian of the pinion."""
    m, r, c, inertia, rotor = 0.4, 0.05, 3.0, 0.002, 0.02
    description = described(GRIPPER)
    mass = inertia + 2 * m * r**2 + rotor * r**2
    state = {"q": [0.3, 0.7], "qd": [0.0, 0.4], "qdd": [0.0, -0.6], "loads": np.zeros((1, 6))}
    for formulation in FORMULATIONS:
        if "mass_matrix" in formulation.functions and "kane" not in formulation.name:
            (M,) = call(evaluated(description, formulation, "mass_matrix"), state)
            assert agrees(M[1, 1], mass, 1e-14)
    program = evaluated(description, formulation_named("newton_euler"), "inverse_dynamics")
    tau, *_ = call(program, state)  # the weights of the racks balance
    assert agrees(tau[1], mass * -0.6 + c * r**2 * 0.4, 1e-12)


@pytest.mark.slow
def test_identities_are_proven():
    result = prove(described(GRIPPER))
    assert result.rows and not result.failures
    assert {"forward_dynamics_sensitivities", "hybrid_dynamics_derivatives", "regressor"} <= {
        row.function for row in result.rows
    }


def test_formulations_that_solve_joint_by_joint_say_so():
    tree = build_tree(described(GRIPPER), Graph())
    reasons = {item.name: item.why_not(tree) for item in FORMULATIONS if item.why_not(tree)}
    assert list(reasons) == ["kane", "explicit_kane", "partially_recursive_kane"]
    assert {*reasons.values()} == {"it takes every joint as free, and some follow others (mimic)"}


def test_a_robot_without_followers_has_the_same_hash():
    """So that modules which were built before there were any are still up to date."""
    text = GRIPPER.replace("{coordinate: pinion, multiplier: r}", "{coordinate: pinion}")
    assert model_hash(described(text)) != model_hash(described(GRIPPER))


def test_a_module_speaks_of_coordinates():
    functions = ("mass_matrix", "joint_wrenches", "regressor")
    gripper = module(GRIPPER, functions=functions, formulations="newton_euler")
    assert (gripper.n, gripper.coordinate_names) == (2, ("wrist", "pinion"))
    assert gripper.joint_names == ("wrist", "left", "pinion", "right")
    assert gripper.joint_coordinates == (1, 2, 2, 2)
    assert gripper.coupling.tolist() == [[1, 0], [0, 0.05], [0, 1], [0, -0.05]]
    assert gripper.coupling_offsets.tolist() == [0, 0, 0, 0.01]
    assert gripper.prescribed == (False, True)
    np.testing.assert_array_equal(gripper.limits["upper"], [2, 3])
    q = np.array([0.2, 0.5])
    assert gripper.joint_wrenches(q, q, q).shape == (4, 6)
    assert gripper.regressor(q, q, q).shape == (2, 40)
    assert gripper.inertial_parameters.shape == (40,)
    assert gripper.derivative_sparsity.all()
    packed = gripper.mass_matrix(q, packed=True)
    np.testing.assert_array_equal(packed, gripper.mass_matrix(q)[gripper.derivative_sparsity])


@pytest.mark.slow
def test_energy_is_kept_in_a_simulation():
    """Without drives and dampers; the coordinates go where the equations of both joints say."""
    text = GRIPPER.replace(" damping: 3,", "").replace(" prescribed: true,", "")
    text = text[: text.index("outputs:")]
    functions = ("forward_dynamics", "kinetic_energy", "potential_energy")
    robot = module(text, functions=functions)
    motion = symgen.simulate(robot, [0.3, 1.0], [0.5, -2.0], np.linspace(0, 0.2, 3))
    assert list(motion.q.coords["coordinate"].values) == ["wrist", "pinion"]
    q, qd = motion.q.values, motion.qd.values
    energy = robot.kinetic_energy(q, qd) + robot.potential_energy(q)
    assert np.ptp(q, axis=0).min() > 0.01
    assert agrees(energy, np.full(3, energy[0]), 1e-6)
