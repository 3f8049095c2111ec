"""Builds of all default functions, compiled with a user's flags: shapes, examples, URDF files.

A build validates every function of its module; the tests add which backend was built, and
Pinocchio's mass matrix."""

import os

import numpy as np
import pytest

import symgen
from symgen.description import read
from symgen.options import ReadOptions
from tests.choosing import deep
from tests.description.foreign.test_example_robots import robots
from tests.modules import EXAMPLES, file_of
from tests.oracles.comparison import agrees
from tests.oracles.pinocchio_urdf import PinocchioUrdf

_LINK = "link: {mass: 1.2, com: [0.1, 0.02, -0.03], inertia: {xx: 0.02, yy: 0.03, zz: 0.04}}"
_ORIGIN = "origin: {xyz: [0.1, 0, 0.2], rpy: [0.3, 0, 0]}"
_HINGE = f"type: revolute, {_ORIGIN}, axis: [0, 1, 0], {_LINK}"
_POST = "type: fixed, origin: {xyz: [0, 0.1, 1], rpy: [0, 0.2, 0.1]}"

SHAPES: dict[str, tuple[str, ...]] = {
    "one_joint": (f"name: a, {_HINGE}",),
    "one_slider": (f"name: a, type: prismatic, origin: {{}}, axis: [1, 0, 1], {_LINK}",),
    "fixed_at_the_base": (f"name: post, {_POST}", f"name: a, {_HINGE}", f"name: b, {_HINGE}"),
    "two_fixed_at_the_base": (
        f"name: world, {_POST}", f"name: post, {_POST}, parent: world, {_LINK}",
        f"name: a, {_HINGE}",
    ),
    "world_with_inertia": (
        f"name: world, {_POST}, {_LINK}", f"name: a, {_HINGE}, parent: world",
    ),
    "fixed_in_the_middle": (
        f"name: a, {_HINGE}", f"name: flange, {_POST}, {_LINK}", f"name: b, {_HINGE}",
    ),
    "fixed_at_the_tip": (f"name: a, {_HINGE}", f"name: tool, {_POST}, {_LINK}"),
    "post_between_joints_in_the_list": (
        f"name: a, {_HINGE}", f"name: post, {_POST}, parent: base",
        f"name: b, {_HINGE}, parent: post",
    ),
    "massless_frames": (
        f"name: a, {_HINGE}", f"name: frame, {_POST}", f"name: marker, {_POST}, parent: frame",
    ),
    "massless_link_that_moves": (
        "name: a, type: revolute, origin: {}, axis: [0, 0, 1]", f"name: b, {_HINGE}",
    ),
    "several_roots": (
        f"name: a, {_HINGE}", f"name: post, {_POST}, parent: base",
        f"name: b, {_HINGE}, parent: post", f"name: c, {_HINGE}, parent: base",
    ),
    "only_fixed_joints": (f"name: post, {_POST}, {_LINK}", f"name: plate, {_POST}, {_LINK}"),
    "forces_on_fixed_links": (f"name: post, {_POST}, {_LINK}", f"name: plate, {_POST}, {_LINK}"),
    "loop_of_fixed_links": (
        f"name: post, {_POST}, {_LINK}", f"name: plate, {_POST}, parent: base, {_LINK}",
    ),
    "free_body_on_a_post": (
        f"name: post, {_POST}", f"name: body, type: floating, origin: {{}}, {_LINK}",
    ),
}  # fmt: skip

BESIDE_JOINTS = {
    "forces_on_fixed_links": """points: [{name: tip, link: plate, point: [0.1, 0.2, 0.3]}]
loads: [{name: hand, link: plate}]
springs:
  - {name: s, between: [{link: base}, {link: plate}], stiffness: 20, damping: 2, length: 0.3}
forces: [{name: f, link: post, force: [1, 0, t], torque: [0, points.tip.x, 0]}]
outputs: {height: points.tip.z}
""",
    "loop_of_fixed_links": """loops:
  - {name: weld, type: fixed, first: {link: post}, second: {link: plate}}
  - {name: rod, type: distance, first: {link: base}, second: {link: plate}, length: sqrt(1.01)}
""",
}
"""What else the model file of a shape has."""


def model(name: str) -> str:
    joints = "".join(f"  - {{{joint}}}\n" for joint in SHAPES[name])
    return f"symgen: 1\nname: {name}\njoints:\n{joints}{BESIDE_JOINTS.get(name, '')}"


FIXED_AT_THE_BASE = {
    ".urdf": """<robot name="mounted">
  <link name="world"/>
  <link name="base_link"/>
  <link name="arm"><inertial>
    <mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
  </inertial></link>
  <joint name="mount" type="fixed"><parent link="world"/><child link="base_link"/></joint>
  <joint name="j" type="continuous">
    <parent link="base_link"/><child link="arm"/><axis xyz="0 1 0"/>
  </joint>
</robot>
""",
    ".sdf": """<sdf version="1.9"><model name="mounted">
  <link name="stand"/>
  <link name="arm"><pose>0 0 0.3 0 0 0</pose></link>
  <joint name="mount" type="fixed"><parent>world</parent><child>stand</child></joint>
  <joint name="j" type="revolute">
    <parent>stand</parent><child>arm</child><axis><xyz>0 1 0</xyz></axis>
  </joint>
</model></sdf>
""",
    ".xml": """<mujoco model="mounted"><worldbody>
  <body name="stand"><geom size="0.1" mass="1"/>
    <body name="arm" pos="0 0 0.3">
      <joint name="j" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0" mass="1"/>
    </body>
  </body>
</worldbody></mujoco>
""",
}
"""A link fixed to the base, in other formats."""

ROBOTS = "example-robot-data: pip install 'symgen[test-robots]'"
MODELS = [p for p in sorted(EXAMPLES.rglob("*.yaml")) if "\nsymgen:" in f"\n{p.read_text()}"]
DEEP_MODELS = (
    EXAMPLES / "human43.yaml", EXAMPLES / "mechanisms" / "hmmwv.yaml",
    EXAMPLES / "plan" / "quadruped.yaml", EXAMPLES / "plan" / "small_humanoid.yaml",
)  # fmt: skip
"""Those that take longest; human55 is as large as human43, satellite_arm has a quaternion, too."""
MODELS = [*(p for p in MODELS if p not in DEEP_MODELS), *deep(*DEEP_MODELS)]
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


@pytest.mark.parametrize("suffix", FIXED_AT_THE_BASE)
def test_formats(suffix):
    robot = symgen.load(file_of(FIXED_AT_THE_BASE[suffix], suffix[1:]))
    assert robot.backend == "compiled"
    assert robot.coordinate_names == ("j",)


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
