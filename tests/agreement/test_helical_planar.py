"""Helical and planar joints: the numeric model, Pinocchio's helical joint, every formulation."""

import numpy as np
import pinocchio as pin

from symgen.formulations import FORMULATIONS, provided_functions
from symgen.program.evaluation import call
from symgen.validation.evaluated import evaluated_subjects
from symgen.validation.validate import validate
from tests.oracles.descriptions import described
from tests.oracles.programs import evaluated

MODEL = """
symgen: 1
name: press
parameters: {h: 0.05}
joints:
  - {name: table, type: planar, origin: {xyz: [0.1, 0, 0.2]}, axis: [2, 3, 6],
     link: {name: cart, mass: 1, com: [0.1, 0.2, 0.3], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
  - {name: screw, type: helical, pitch: 2*h, origin: {xyz: [0, 0.3, 0], rpy: [0.4, 0.5, 0.6]},
     axis: [2, 3, 6], damping: 0.3,
     link: {name: nut, mass: 2, com: [0.3, 0.1, 0], inertia: {xx: 0.2, yy: 0.1, zz: 0.12}}}
"""
FUNCTIONS = ("inverse_dynamics_derivatives", "mass_matrix", "forward_dynamics", "joint_wrenches",
             "jacobians", "regressor", "inverse_dynamics_parameter_derivatives")  # fmt: skip


def test_every_formulation_is_what_the_numeric_model_says():
    description = described(MODEL)
    programs = {
        item.name: {
            name: evaluated(description, item, name, ("h",))
            for name in FUNCTIONS
            if name in provided_functions(item)
        }
        for item in FORMULATIONS
    }
    result = validate(description, evaluated_subjects(programs, [0.05]), runtime=("h",))
    result.raise_if_failed()
    assert any("independent numeric model" in row.name for row in result.rows)


def test_a_helical_joint_is_pinocchios():
    text = MODEL[: MODEL.index("  - {name: table")] + MODEL[MODEL.index("  - {name: screw") :]
    description = described(text.replace("damping: 0.3,", ""))
    model = pin.Model()
    axis = np.array([2.0, 3.0, 6.0]) / 7.0
    place = pin.SE3(pin.rpy.rpyToMatrix(0.4, 0.5, 0.6), np.array([0, 0.3, 0]))
    joint = model.addJoint(0, pin.JointModelHelicalUnaligned(axis, 0.1), place, "screw")
    inertia = pin.Inertia(2.0, np.array([0.3, 0.1, 0]), np.diag([0.2, 0.1, 0.12]))
    model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    q, qd, qdd = np.array([0.7]), np.array([-1.3]), np.array([2.1])
    expected = pin.rnea(model, model.createData(), q, qd, qdd)
    state = {"q": q, "qd": qd, "qdd": qdd, "loads": np.zeros((0, 6)), "parameters": ()}
    for item in FORMULATIONS:
        if "inverse_dynamics" in provided_functions(item):
            (tau,) = call(evaluated(description, item, "inverse_dynamics"), state)
            np.testing.assert_allclose(tau, expected, rtol=1e-13)
