"""Link frames, loads and parameters by name; the parts of the torque as a named tuple."""

import importlib
import inspect
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from symgen.runtime.agreement import interface
from symgen.runtime.comparison import relative_error
from symgen.runtime.subjects import Evaluation, Facts, Subject, random_states
from tests.choosing import slow
from tests.modules import EXAMPLES, file_of, module

MODEL = """
symgen: 1
name: fork
gravity: [0, 0, -g]
parameters: {g: 9.81, mass: 1.5, length: 0.4}
joints:
  - {name: trunk, type: revolute, origin: {}, axis: [0, 1, 0],
     link: {name: trunk_link, mass: mass, com: [0.2, 0.1, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.2}},
     damping: 0.3}
  - {name: left, type: prismatic, parent: trunk_link, origin: {xyz: [length, 0, 0]},
     axis: [1, 0, 0], link: {name: left_hand, mass: 0.5, com: [0.1, 0, 0.2]}}
  - {name: right, type: revolute, parent: trunk_link, origin: {xyz: [0, length, 0]},
     axis: [0, 0, 1],
     link: {name: right_hand, mass: 0.7, com: [0, 0.3, 0], inertia: {xx: 0.1, zz: 0.1}}}
loads:
  - {name: push, link: left_hand, point: [0.1, 0, 0]}
  - {name: pull, link: right_hand, point: [0, 0.3, 0]}
"""
FUNCTIONS = "forward_kinematics,jacobians,inverse_dynamics,torque_parts,point_motion"


@pytest.fixture(scope="module", params=["numpy", *slow("compiled")])
def tree(request):
    options = {"formulations": "newton_euler", "runtime_parameters": "all"}
    backend = "all" if request.param == "compiled" else "numpy"
    return module(MODEL, functions=FUNCTIONS, backend=backend, **options)


@pytest.fixture
def rng():
    return np.random.default_rng(12)


def test_a_link_is_its_entry_of_the_stack(tree, rng):
    for shape in ((), (5,), (3, 1, 2)):
        q = rng.uniform(-2, 2, (*shape, tree.n))
        poses, jacobians = tree.forward_kinematics(q), tree.jacobians(q)
        for k, name in enumerate(tree.link_names):
            np.testing.assert_array_equal(tree.frame_pose(name, q), poses[..., k, :, :])
            np.testing.assert_array_equal(tree.frame_jacobian(name, q), jacobians[..., k, :, :])
    many = rng.uniform(-2, 2, (3000, tree.n))  # more than are asked for at a time
    out = np.empty((3000, 6, tree.n))
    assert tree.frame_jacobian(tree.link_names[2], many, out=out) is out
    np.testing.assert_array_equal(out, tree.jacobians(many)[:, 2])


def test_parameters_of_a_link_frame_broadcast(tree, rng):
    q, values = rng.uniform(-2, 2, (4, 1, tree.n)), rng.uniform(1, 2, (3, 1))
    values = values * tree.default_parameters
    pose = tree.frame_pose(tree.link_names[-1], q, parameters=values)
    assert pose.shape == (4, 3, 4, 4)
    every = tree.forward_kinematics(q, parameters=values)
    np.testing.assert_array_equal(pose, every[..., -1, :, :])


def test_a_link_takes_the_joints_on_its_path_alone(tree):
    arithmetic = importlib.import_module(f"{tree.__name__}._numpy.newton_euler")
    for table in (arithmetic._FRAME_POSE, arithmetic._FRAME_JACOBIAN):
        for link, path in zip(tree.link_names, table, strict=True):
            text = "".join(map(inspect.getsource, path))
            met = {joint for joint in ("trunk", "left", "right") if f", joint {joint}" in text}
            assert met <= {"trunk", link.partition("_")[0]}, link


def test_complex_steps_go_through_one_link(tree, rng):
    numpy = tree.backends["numpy"].newton_euler
    q, step = rng.uniform(-2, 2, tree.n), 1e-30
    moved = numpy.frame_pose("left_hand", q + 1j * step * np.eye(tree.n))
    jacobian = numpy.frame_jacobian("left_hand", q)
    np.testing.assert_allclose(moved[:, :3, 3].imag.T / step, jacobian[:3], rtol=0, atol=1e-15)


def test_validation_finds_a_wrong_link(tree):
    first = tree.link_names[0]
    swapped = SimpleNamespace(
        forward_kinematics=tree.forward_kinematics,
        frame_pose=lambda name, q, **given: tree.frame_pose(first, q, **given),
    )
    states = random_states(tree.n, tree.n_loads, 3, parameters=tree.default_parameters)
    facts = Facts(link_names=tree.link_names)
    for functions, fits in ((tree, True), (swapped, False)):
        s = Evaluation(Subject("one", functions), states, facts)
        rows = [
            (limit(tree.n), relative_error(*arrays))
            for name, limit, *arrays in interface(s, s)
            if name.startswith("frame_pose")
        ]
        assert len(rows) == 2
        assert all(error <= limit for limit, error in rows) is fits


JOINT = ("joint_1", "joint-1")
URDF = """
<robot name="tool"><link name="base_link"/><link name="tool-0"/>
<joint name="joint-1" type="revolute"><parent link="base_link"/><child link="tool-0"/>
<origin xyz="1 2 3"/><axis xyz="0 0 1"/><limit velocity="1" effort="1"/></joint></robot>
"""


@pytest.mark.filterwarnings("ignore:.*(some names were changed|no link has a mass)")
@pytest.mark.parametrize("backend", ["numpy", *slow("compiled")])
def test_links_joints_and_loads_have_their_names_in_a_urdf_too(backend):
    functions = "forward_kinematics,jacobians,inverse_dynamics"
    options = {"functions": functions, "backend": backend, "loads": "tool_0"}
    options["runtime_parameters"] = options["out"] = None  # the defaults
    robot = module(file_of(URDF, "urdf"), **options)
    assert robot.file_names == {"joint_1": "joint-1", "tool_0": "tool-0", "base": "base_link"}
    for name in ("tool_0", "tool-0"):
        assert robot.frame_pose(name, [0])[:3, 3].tolist() == [1, 2, 3]
        assert robot.frame_jacobian(name, [0]).shape == (6, 1)
        loads = {name: [0, 0, 0, 0, 0, 2]}
        tau = [robot.inverse_dynamics({x: 1}, [0], {x: 0}, loads=loads) for x in JOINT]
        assert tau == [[-2], [-2]]
    for name in ("base", "base_link"):
        with pytest.raises(ValueError, match=f"'{name}' is the fixed frame"):
            robot.frame_pose(name, [0])


Q = np.zeros(3)
FAULTS = [
    (lambda f: f("left_hands", Q), "unknown link 'left_hands'; did you mean"),
    (lambda f: f(17, Q), "there are "),
    (lambda f: f("base", Q), "'base' is the fixed frame"),
    (lambda f: f("left_hand", Q[:2]), r"q: expected shape \(\.\.\., 3\), got \(2,\)"),
    (lambda f: f("left_hand", Q, out=np.zeros(3)), "out: expected shape"),
    (lambda f: f("left", Q), "'left' is a joint; its link is 'left_hand'"),
    (lambda f: f("left_hand", position=Q), r"\) has no argument 'position'; did you mean target"),
    (lambda f: f(Q, "left_hand"), "expected the name of a link, the first argument, got"),
]


@pytest.mark.parametrize(("call", "words"), FAULTS)
def test_wrong_links_and_shapes_are_named(tree, call, words):
    functions = [tree.frame_pose, tree.frame_jacobian]
    if any(x in words for x in ("is a joint", "first argument")):
        functions.append(tree.inverse_kinematics)
    if "target" in words:
        functions = [tree.inverse_kinematics]
    for function in functions:
        with pytest.raises((TypeError, ValueError), match=words):
            call(function)
    assert tree.joint_links["left"] == "left_hand"


def test_a_point_of_the_model_is_no_link():
    text = f"{MODEL}points: [{{name: grip, link: left_hand}}]\n"
    fork = module(text, functions="forward_kinematics,point_motion", formulations="newton_euler")
    with pytest.raises(ValueError, match="'grip' is a point of the model, no link: point_motion"):
        fork.frame_pose("grip", Q)


def test_options_by_position_are_answered_in_the_words_of_the_user(tree):
    words = r"^frame_jacobian\(name, q\) takes everything else by name: reference=..., parameters="
    with pytest.raises(TypeError, match=words):
        tree.frame_jacobian("left_hand", Q, "local")
    expected = tree.frame_jacobian("left_hand", Q + 1, reference="local")
    np.testing.assert_array_equal(
        tree.frame_jacobian("left_hand", Q + 1, reference="LOCAL"), expected
    )
    with pytest.raises(ValueError, match="expected one of 'local_world_aligned', 'local', 'world'"):
        tree.frame_jacobian("left_hand", Q, reference="body")
    assert list(inspect.signature(tree.frame_jacobian).parameters)[:3] == ["name", "q", "reference"]


@pytest.mark.parametrize(("options", "error", "words"), [
    ({"loads": {"tipp": [0] * 6}}, ValueError,
     "unknown load 'tipp'; there are .*; --load LINK adds one"),
    ({"loads": {0: [0] * 6}}, ValueError, "unknown load 0; there are"),
    ({"loads": {"push": [1, 2]}}, ValueError,
     r"loads\['push'\]: expected shape \(\.\.\., 6\), got"),
    ({"loads": {"push": ["a"] * 6}}, TypeError, r"loads\[.*\]: expected real numbers"),
    ({"loads": {"push": [[1], [2, 3]]}}, ValueError, "expected an array"),
    ({"parameters": {"mp": 1.0}}, ValueError, "'mp' is not a runtime parameter of this module; "
     ".*becomes one with --runtime-parameters .*,mp"),
])  # fmt: skip
def test_wrong_loads_and_parameters_are_named(tree, options, error, words):
    with pytest.raises(error, match=words):
        tree.inverse_dynamics(Q, Q, Q, **options)


def test_functions_of_points_say_that_there_are_none(tree):
    position, _, _ = tree.point_motion(*np.zeros((3, 3)))
    assert position.shape == (0, 3)
    assert "--point LINK[:x,y,z], adds one" in " ".join(tree.point_motion.__doc__.split())


def test_loads_and_parameters_by_name(tree, rng):
    q, qd, qdd = rng.uniform(-2, 2, (3, 6, tree.n))
    loads = np.zeros((6, tree.n_loads, 6))
    loads[:, 0], loads[:, 1] = rng.uniform(-9, 9, (2, 6, 6))
    loads[:, 1] = loads[0, 1]  # one for all samples
    named = {"pull": loads[0, 1], "push": loads[:, 0]}
    expected = tree.inverse_dynamics(q, qd, qdd, loads=loads)
    np.testing.assert_array_equal(tree.inverse_dynamics(q, qd, qdd, loads=named), expected)
    loads[:, 1] = 0.0
    expected = tree.inverse_dynamics(q, qd, qdd, loads=loads)
    got = tree.inverse_dynamics(q, qd, qdd, loads={"push": loads[:, 0]})
    np.testing.assert_array_equal(got, expected)
    nothing = tree.inverse_dynamics(q, qd, qdd)
    np.testing.assert_array_equal(tree.inverse_dynamics(q, qd, qdd, loads={}), nothing)
    name = tree.parameter_names[1]
    values = np.tile(tree.default_parameters, (6, 1))
    values[:, 1] *= np.linspace(1, 2, 6)
    expected = tree.inverse_dynamics(q, qd, qdd, parameters=values)
    got = tree.inverse_dynamics(q, qd, qdd, parameters={name: values[:, 1]})
    np.testing.assert_array_equal(got, expected)


def test_states_by_name(tree, rng):
    q, qd, qdd = rng.uniform(-2, 2, (3, 5, tree.n))
    qd[:, 0] = 0.0
    named = dict(zip(tree.coordinate_names, q.T, strict=True))
    rates = {"left": qd[:, 1], "right": qd[:, 2]}
    expected = tree.inverse_dynamics(q, qd, qdd)
    np.testing.assert_array_equal(tree.inverse_dynamics(named, rates, qdd), expected)
    np.testing.assert_array_equal(tree.integrate(named, rates), tree.integrate(q, qd))
    poses = (tree.frame_pose("left_hand", x) for x in (named, q))
    np.testing.assert_array_equal(*poses)
    with pytest.raises(ValueError, match=r"'lift' is no coordinate; did you mean 'left'\?"):
        tree.inverse_dynamics({"lift": 1.0}, qd, qdd)
    moved = pickle.loads(pickle.dumps(tree.integrate))(named, rates)
    np.testing.assert_array_equal(moved, tree.integrate(q, qd))


def test_parts_are_a_named_tuple(tree, rng):
    q, qd, qdd = rng.uniform(-2, 2, (3, 4, tree.n))
    loads = rng.uniform(-9, 9, (4, tree.n_loads, 6))
    for functions in (tree, tree.newton_euler):
        parts = functions.torque_parts(q, qd, qdd, loads=loads)
        assert parts._fields == (
            "inertial", "centrifugal", "coriolis", "gravity", "loads", "joint_terms"
        )  # fmt: skip
        tau = tree.inverse_dynamics(q, qd, qdd, loads=loads)
        scale = np.abs(parts).max()
        assert np.abs(sum(parts) - tau).max() <= 1e-14 * scale * len(q)
    out = tuple(np.empty((4, tree.n)) for _ in parts)
    assert tree.torque_parts(q, qd, qdd, out=out) is out
    assert list(inspect.signature(tree.torque_parts).parameters)[:3] == ["q", "qd", "qdd"]


def test_what_was_not_built_says_what_it_needs():
    robot = module(EXAMPLES / "two_link.yaml", functions="mass_matrix")
    with pytest.raises(AttributeError, match="frame_pose needs forward_kinematics; build it with:"):
        robot.frame_pose


def test_functions_by_name_are_pickled(tree):
    for function in (tree.frame_pose, tree.torque_parts):
        assert pickle.loads(pickle.dumps(function)) is function
    parts = tree.torque_parts(*np.zeros((3, 3)))
    assert type(pickle.loads(pickle.dumps(parts))) is type(parts)
