"""Robots of these tests, built once."""

import pytest

from symgen.errors import ModelError
from symgen.planning import reading
from tests.modules import EXAMPLES, file_of, module

ARM = """
symgen: 1
name: planning_arm
gravity: [0, -g, 0]
parameters: {g: 9.81, m2: 1.2}
joints:
  - {name: shoulder, type: revolute, origin: {},
     limits: {lower: -3, upper: 3, velocity: 6, effort: 40},
     link: {name: upper, mass: 1.5, com: [0.2, 0, 0], inertia: {xx: 0.01, yy: 0.04, zz: 0.04}}}
  - {name: elbow, type: revolute, origin: {xyz: [0.4, 0, 0], rpy: [0.3, 0, 0]}, damping: 0.1,
     friction: 0.2, friction_velocity: 0.5, limits: {lower: -3, upper: 3, velocity: 6, effort: 20},
     link: {name: fore, mass: m2, com: [0.15, 0, 0], inertia: {xx: 0.01, yy: 0.02, zz: 0.02}}}
  - {name: wrist, type: revolute, origin: {xyz: [0.3, 0, 0], rpy: [0, 0.5, 0]}, axis: [0, 1, 0],
     limits: {lower: -3, upper: 3, velocity: 8, effort: 5},
     link: {name: hand, mass: 0.3, com: [0.05, 0, 0], inertia: {xx: 1e-3, yy: 1e-3, zz: 1e-3}}}
points:
  - {name: tool, link: hand, point: [0.1, 0, 0.02]}
loads:
  - {name: grip, link: hand, point: [0.1, 0, 0]}
outputs:
  power: tau.shoulder*qd.shoulder + tau.elbow*qd.elbow + tau.wrist*qd.wrist
  height: points.tool.y
  late: exp(-t)*wrenches.elbow.fx + 0.1*qdd.wrist**2
"""

NEEDED = (
    "inverse_dynamics", "inverse_dynamics_derivatives", "forward_dynamics",
    "forward_dynamics_derivatives", "forward_kinematics",
)  # fmt: skip
"""What every plan calls."""
SOLVED = (*NEEDED, "inverse_dynamics_hessian", "jacobians")
"""The same, and what searches and poses call."""
WHOLE = (
    *SOLVED, "inverse_dynamics_load_derivatives", "outputs", "outputs_derivatives",
    "joint_wrenches", "joint_wrench_derivatives", "point_motion", "point_motion_derivatives",
)  # fmt: skip
"""What terms of every kind call."""


def arm(functions=SOLVED):
    """Three joints, a point, a load, outputs, friction; m2 is a runtime parameter."""
    return module(ARM, functions=functions, runtime_parameters="m2")


def example(name, functions=SOLVED, **options):
    return module(EXAMPLES / f"{name}.yaml", functions=functions, **options)


def arm_with_products(more=()):
    """The same, with the functions that are products, and nothing that they do not need."""
    names = [
        f"{name}_dynamics{kind}" for name in ("inverse", "forward") for kind in (*KINDS, *more)
    ]
    return arm([*names, "mass_matrix"])


KINDS = ("", "_derivatives", "_jvp", "_vjp")
TASK = {
    "symgen_task": 1, "start": {"q": [0.2, 0.4, -0.3]}, "goal": {"q": [1.2, -0.5, 0.4]},
    "profile": {"segments": 10}, "parameters": {"m2": 1.4},
}  # fmt: skip
"""A motion of the arm."""


def refuses(robot, text, line, words):
    """A task file of this text is refused, in these words, at this line."""
    path = file_of(text)
    with pytest.raises(ModelError) as caught:
        reading.read(path, robot)
    places = [(fault.file, fault.line) for fault in caught.value.faults if words in fault.message]
    assert (str(path), line) in places, str(caught.value)
