"""Builds of all default functions, compiled with a user's flags.

The models are shapes of robots, all examples and twenty URDF files.
A build validates every function of its module against an independent model and raises where one
fails, so that the tests add little: which backend was built, and Pinocchio's mass matrix.
"""

import os
from pathlib import Path

import numpy as np
import pytest

import symgen
from symgen.description import read
from symgen.options import ReadOptions
from tests.builds.shapes import SHAPES, model
from tests.choosing import deep
from tests.description.foreign.test_example_robots import robots
from tests.modules import file_of
from tests.oracles.comparison import agrees
from tests.oracles.pinocchio_urdf import PinocchioUrdf

ROBOTS = "example-robot-data: pip install 'symgen[test-robots]'"
EXAMPLES = Path(__file__).parents[2] / "examples"
MODELS = [p for p in sorted(EXAMPLES.rglob("*.yaml")) if "\nsymgen:" in f"\n{p.read_text()}"]
URDF_FILES = [
    *((name, {}) for name in (
        "TwoDofs", "a1", "bolt", "borinot_flying_arm_2", "double_pendulum",
        "double_pendulum_continuous", "double_pendulum_simple", "finger_edu",
        "hextilt_flying_arm_5", "iris", "iris_simple", "panda", "quadrotor_base", "quadruped",
        "so100", "solo", "solo12", "talos_left_arm", "ur5_robot",
    )),
    ("quadrotor_base", {"floating_base": True}),
    *deep(*((name, {}) for name in ("kinova", "xarm7", "z1"))),
]  # fmt: skip
"""Arms, hands, legs, drones, with options: 0 to 12 joints, fixed ones before, between and behind
them.  Those that are like panda and ur5 are deep."""

pytestmark = pytest.mark.slow


def loaded(name, *change, **options):
    text = model(name)
    return symgen.load(file_of(text.replace(*change) if change else text), **options)


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name):
    robot = loaded(name)
    assert robot.backend == "compiled"
    q = robot.neutral()
    for number, link in enumerate(robot.link_names):
        jacobian = robot.jacobians(q)[number]
        assert np.array_equal(robot.frame_jacobian(link, q), jacobian)
        assert np.array_equal(robot.frame_pose(link, q), robot.forward_kinematics(q)[number])


def test_forces_on_fixed_links():
    robot = loaded("forces_on_fixed_links")
    assert robot.inverse_dynamics([], [], [], loads=[[0.0] * 6], t=1.0).shape == (0,)
    (height,) = robot.outputs(0.0, [], [], [], [])
    assert height == robot.point_motion([], [], [])[0][0, 2]


@pytest.mark.parametrize("backend", ["numpy", "compiled"])
def test_loop_of_fixed_links(backend):
    robot = loaded("loop_of_fixed_links", backend=backend)
    batch = np.zeros((3, 0))
    assert robot.assemble().shape == (0,) and robot.assemble(batch).shape == (3, 0)
    assert np.array_equal(robot.freedoms(batch), [0, 0, 0])
    assert not robot.unique_multipliers([]).any()
    assert robot.closed_velocities([], []).shape == (0,)
    motion = robot.constrained_forward_dynamics(batch, batch, batch)
    assert motion.qdd.shape == (3, 0) and not motion.multipliers.any()
    assert not robot.constrained_inverse_dynamics([], [], []).multipliers.any()


def test_open_loop_of_fixed_links():
    robot = loaded("loop_of_fixed_links", "sqrt(1.01)", "1.5", backend="numpy")
    with pytest.raises(ValueError, match="do not close from here: rod is off by"):
        robot.assemble()


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_examples(path):
    assert symgen.load(path).backend == "compiled"


@pytest.mark.skipif(not robots() and "CI" not in os.environ, reason=f"needs {ROBOTS}")
@pytest.mark.parametrize(("name", "options"), URDF_FILES, ids=str)
def test_urdf_files(name, options):
    (path,) = (path for path in robots() if path.stem == name)
    robot = symgen.load(path, **options)
    assert robot.backend == "compiled"
    floating = "floating_base" in options
    description = read(path, ReadOptions(floating_base=floating))
    if robot.n:
        q = robot.random_configuration(3)
        mass_matrix = PinocchioUrdf(path.read_text(), description, floating).mass_matrix(q)
        assert agrees(robot.mass_matrix(q), mass_matrix, 1e-10)
