"""Plans of robots with quaternions: published optima, the same motion with angles, faults."""

import re
from unittest.mock import patch

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import symgen
from symgen.cli import run
from symgen.errors import ModelError
from symgen.planning import reading
from tests.modules import file_of, module
from tests.planning.robots import EXAMPLES

FUNCTIONS = (
    "inverse_dynamics", "inverse_dynamics_derivatives", "inverse_dynamics_hessian",
    "forward_dynamics", "forward_dynamics_derivatives", "forward_kinematics", "jacobians",
    "outputs", "outputs_derivatives", "joint_wrenches", "joint_wrench_derivatives",
)  # fmt: skip

SATELLITE = """
symgen: 1
name: planning_satellite_NAME
gravity: [0, 0, 0]
joints:
  - name: bus
    type: floating
    COORDINATES
    origin: {}
    link: {mass: 12, com: [0, 0, 0.02], inertia: {xx: 0.5, yy: 0.6, zz: 0.4, xy: 0.02}}
  - {name: shoulder, type: revolute, origin: {xyz: [0, 0.2, 0.15]}, axis: [0, 1, 0],
     limits: {lower: -2, upper: 2, velocity: 2, effort: 4},
     link: {mass: 2, com: [0, 0, 0.4], inertia: {xx: 0.1, yy: 0.1, zz: 0.01}}}
outputs: {energy: kinetic_energy}
"""
PLAN = EXAMPLES / "plan"
QUATERNION, ANGLES = "coordinates: quaternion", "sequence: xyz"


def satellite(coordinates, functions=FUNCTIONS):
    text = SATELLITE.replace("COORDINATES", coordinates)
    return module(text.replace("NAME", coordinates.split(": ")[1]), functions=functions)


@pytest.fixture
def named():
    return satellite(QUATERNION, ("forward_kinematics", "joint_wrenches"))


@pytest.fixture
def solver():
    pytest.importorskip("casadi", reason="needs casadi: pip install 'symgen[test]'")


def ends(plan, goal, atol, status="solved"):
    """The plan ends there, and so do its torques, integrated by `symgen.simulate`."""
    module = plan.module
    assert plan.status == status
    assert plan.final_error < 1e-6
    assert np.abs(module.difference(plan.q[-1], module.normalize(goal))).max() < 1e-9
    drive = lambda t, q, qd: plan.torques(np.array([min(t / plan.T, 1.0)]))[0]  # noqa: E731
    fine = {"rtol": 1e-5 * atol, "atol": 1e-5 * atol}  # the flight is unstable
    run = symgen.simulate(module, plan.q[0], plan.qd[0], plan.t, tau=drive, **fine)
    assert np.abs(module.difference(run.q[-1], plan.q[-1])).max() < atol


@pytest.mark.deep
def test_the_time_optimal_turn_of_an_asymmetric_body(solver):
    """150 degrees in 28.6304 s, where a turn about the axis alone takes 34.3 s.

    Fleming, Sekhavat, Ross, "Minimum-time reorientation of an asymmetric rigid body" (2008); the
    number is that of Betts, "Practical Methods for Optimal Control" (2010), sect. 6.8."""
    body = module(PLAN / "spacecraft.yaml", functions=FUNCTIONS[:7])
    plan = symgen.plan(body, PLAN / "spacecraft_turn.yaml")
    assert 28.6304 < plan.T < 28.6304 + 0.05
    half = np.radians(75)
    ends(plan, [np.sin(half), 0, 0, np.cos(half)], 1e-4)
    task = {
        "symgen_task": 1, "method": "collocation",
        "start": {"q": [0, 0, 0, 1]}, "goal": {"q": plan.q[-1].tolist()},
        "limits": {"velocity": {"body_wz": 0.15}}, "profile": {"segments": 30, "check": "knots"},
    }  # fmt: skip
    slower = symgen.plan(body, task, starts=2)
    assert plan.T < slower.T < 34
    assert np.abs(slower.qd[:, 2]).max() == pytest.approx(0.15, rel=1e-5)
    assert slower.final_error < 1e-4


@pytest.mark.deep
def test_a_flight_with_three_torques_and_one_force(solver, tmp_path):
    """`method: collocation`; the page of a plan holds the motion of the quaternion."""
    robot = module(PLAN / "quadrotor_arm.yaml", functions=FUNCTIONS[:7])
    plan = symgen.plan(robot, PLAN / "quadrotor_arm_flight.yaml")
    assert np.abs(plan.tau[:, :2]).max() < 1e-9
    assert plan.tau[:, 2].min() > -1e-9
    half = np.sqrt(0.5)
    ends(plan, [2, 0, 0.5, 0, 0, half, half, 0.5], 1e-4)
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'symgen[test]'")
    assert "body_qw" in plan.report(tmp_path / "flight.html").read_text()


@pytest.mark.deep
def test_motions_are_those_of_angles(solver):
    """The integral of kinetic energy knows no coordinates; rates are limited, too."""
    quaternion, angles = (satellite(text) for text in (QUATERNION, ANGLES))
    turn, more = [0.4, 0.5, 0.9], [0.5, 0, 0.2]
    attitude = Rotation.from_euler("XYZ", turn).as_quat()
    rpy = Rotation.from_quat(attitude).as_euler("xyz").tolist()
    task = {
        "symgen_task": 1, "time": 2, "objective": {"energy": 1},
        "profile": {"segments": 12, "degree": 5, "check": "knots"},
    }  # fmt: skip
    states = {
        quaternion: ([0, 0, 0, 0, 0, 0, 1, -0.5], [*more, *attitude, 1.2]),
        angles: ([0] * 6 + [-0.5], [*more, *turn, 1.2]),
    }
    plans = [
        symgen.plan(one, {**task, "start": {"q": start}, "goal": {"q": goal}})
        for one, (start, goal) in states.items()
    ]
    first, second = (plan.objective for plan in plans)
    assert abs(first - second) < 1e-4 * second
    assert np.abs(plans[0].tau[:, -1] - plans[1].tau[:, -1]).max() < 2e-2
    ends(plans[0], states[quaternion][1], 1e-7, "exceeded")  # torques between the knots
    fastest = np.abs(plans[0].qd[:, 5]).max()
    limited = symgen.plan(
        quaternion,
        {
            **task, "objective": {"energy": 1, "acceleration": {"bus_vx": 1e-3}},
            "limits": {"velocity": {"bus_wz": 0.8 * fastest}},
            "start": {"q": states[quaternion][0], "qdd": 0},
            "goal": {"q": {"shoulder": 1.2}, "link": "bus", "position": more, "rpy": rpy},
            "profile": {"segments": 12},
        },
    )  # fmt: skip
    assert limited.violation < 1e-6
    assert np.abs(limited.qd[:, 5]).max() == pytest.approx(0.8 * fastest, abs=1e-5)
    assert np.abs(limited.qdd[0]).max() < 1e-9
    ends(limited, states[quaternion][1], 1e-7)


@pytest.mark.slow
def test_a_whole_turn_past_states(solver, tmp_path):
    """Attitudes are passed in turn, velocities of the body kept at the ends; files have q."""
    robot = satellite(QUATERNION, FUNCTIONS[:7])
    about_y = [Rotation.from_euler("y", angle, degrees=True).as_quat() for angle in (120, 240)]
    speed = {"bus_wy": 1.0, "bus_vx": 0.2, "all": 0}
    task = {
        "symgen_task": 1,
        "time": {"min": 3, "max": 6},
        "start": {"q": [0, 0, 0, 0, 0, 0, 1, 0], "qd": speed},
        "via": [{"at": (k + 1) / 3, "q": [None] * 3 + list(q) + [None]} for k, q in
                enumerate(about_y)],
        "goal": {"q": [0.3, 0, 0, 0, 0, 0, 1, None], "qd": speed},
        "objective": {"torque": 1},
        "profile": {"segments": 20, "check": "midpoints"},
    }  # fmt: skip
    plan = symgen.plan(robot, task)
    assert plan.status == "solved"
    for q in (plan.q[0], plan.q[-1]):
        assert np.abs(np.abs(q[3:7]) - [0, 0, 0, 1]).max() < 1e-6
    steps = robot.difference(plan.q[:-1], plan.q[1:])
    assert np.linalg.norm(steps[:, 3:6], axis=1).sum() > 2 * np.pi - 1e-6
    for k, attitude in enumerate(about_y):
        at = plan.path.motion(np.array([(k + 1) / 3])).q[0]
        assert abs(at[3:7] @ attitude) == pytest.approx(1, abs=1e-9)
    assert np.allclose(plan.qd[[0, -1]], [[0.2, 0, 0, 0, 1, 0, 0]] * 2, atol=1e-7)
    ends(plan, plan.q[-1], 1e-5)
    header = plan.save(tmp_path / "plan.csv").read_text().split("\n")[0].split(",")
    assert header[1:9] == [f"q_{name}" for name in robot.position_names]
    for name, written in (("hip", '"shoulder"'), ("shoulder", '"shoulder: 1"')):
        with patch.dict(robot.file_names, {name: "shoulder: 1"}):
            trajectory = plan.save(tmp_path / "plan.yaml").read_text()
        assert f"joint_names:\n  - {written}\npoints:" in trajectory
    assert np.allclose(np.load(plan.save(tmp_path / "plan.npz"))["q"], plan.q)


REST = [0, 0, 0, 0, 0, 0, 1, 0]
FAULTS = [
    ({"goal": {"q": {"bus_qx": 0.5}}}, "goal.q: 'bus' has a part of a quaternion"),
    ({"goal": {"q": [0] * 8}}, "goal.q: 'bus' has a quaternion of norm 0"),
    ({"goal": {"q": [0] * 7}}, "goal.q: expected 8 entries in the order bus_x, .*bus_qw"),
    ({"goal": {"q": REST, "qd": {"bus_vx": None}}}, "goal.qd: give all velocities of 'bus'"),
    ({"goal": {"q": {"shoulder": 1}, "qd": {"bus_wx": 1}}}, "goal.qd: 'bus' moves: its attitude"),
    ({"via": [{"q": REST, "qdd": 0}]}, r"via\[1\].qdd: of 'bus': its qd is needed, too"),
    ({"limits": {"position": 2}}, "limits.position: the attitude of 'bus' has no limits"),
    ({"limits": {"jerk": {"bus_vx": 2}}}, "limits.jerk: not available yet for 'bus'"),
    ({"objective": {"jerk": 1}}, "objective.jerk: not available yet for joints with a quaternion"),
    ({"mirrored": {"bus_qx": "-bus_qx"}}, "the attitude of 'bus' is mirrored whole: none or two"),
    ({"mirrored": {"bus_qx": None}}, "the attitude of 'bus' is mirrored whole"),
    ({"mirrored": {"bus_x": "bus_qx"}}, "mirrored.bus_x: 'bus_qx' is a part of an attitude"),
    ({"limits": {"angles": [{"link": "bus", "axis": [0, 0, 1], "rpy": [0, 0, 0], "angle": 1}]}},
     r"angles\[1\].axis: give either rpy, an attitude, or axis and toward"),
    ({"limits": {"angles": [{"link": "bus", "rpy": [0, 0, 0], "angle": 4}]}},
     r"angles\[1\].angle: expected angles from 0 to pi"),
    ({"limits": {"angles": [{"link": "bus", "axis": [0, 0, 0], "toward": [0, 0, 1]}]}},
     r"angles\[1\].angle: missing: the largest angle.*\n.*angles\[1\].axis: has no direction"),
    ({"limits": {"wrench": {"bus_wx": {"fx": 1}}}}, "limits.wrench.bus_wx: unknown key"),
    ({"method": "collocation", "objective": {"time": 1, "acceleration": 1}},
     "objective.acceleration: with 'method: collocation' not available yet"),
    ({"via": [{"q": [0, 0, 0, 0, np.sin(x), 0, np.cos(x), 0]} for x in np.arange(1, 6)]},
     "'bus' is turned by more than 300 degrees from the mean attitude"),
]  # fmt: skip


@pytest.mark.parametrize(("keys", "message"), FAULTS, ids=[str(k) for k in range(len(FAULTS))])
def test_faults_name_the_joint_and_the_remedy(named, keys, message):
    task = {"symgen_task": 1, "start": {"q": REST}, "goal": {"q": REST}, **keys}
    with pytest.raises(ModelError, match=message):
        reading.read(task, named)


@pytest.mark.slow
def test_angles_of_links_are_limited(solver):
    """The axis of the body keeps away from the sun, at a price; what cannot be is refused."""
    robot = satellite(QUATERNION, FUNCTIONS[:7])
    turn = [0, 0, 0, 0, np.sin(np.pi / 4), 0, np.cos(np.pi / 4), 0]
    sun, least = np.array([np.sqrt(0.5), 0.2, np.sqrt(0.5)]), 25
    away = {"name": "sun", "link": "bus", "axis": [0, 0, 2], "toward": sun.tolist(),
            "angle": [f"{least}*deg", "180*deg"]}  # fmt: skip
    task = {
        "symgen_task": 1, "start": {"q": REST}, "goal": {"q": turn}, "time": 2,
        "objective": {"torque": 1}, "profile": {"segments": 8, "check": "midpoints"},
    }  # fmt: skip
    plans = [symgen.plan(robot, {**task, "limits": {"angles": x}}) for x in ([], [away])]
    angles = [
        np.arccos(Rotation.from_quat(plan.q[:, 3:7]).apply([0, 0, 1]) @ sun / np.linalg.norm(sun))
        for plan in plans
    ]
    assert np.degrees(angles[0].min()) < least - 5
    assert np.degrees(angles[1].min()) == pytest.approx(least, abs=0.1)
    assert plans[1].objective > plans[0].objective * 1.01
    assert plans[1].status == "exceeded" and plans[1].final_error < 1e-6  # between its instants
    near = {"link": "bus", "rpy": [0, "45*deg", 0], "angle": "44*deg"}
    plan = symgen.plan(robot, {**task, "limits": {"angles": [near]}})
    assert plan.status == "infeasible"
    remarks = "; ".join(plan.remarks)
    assert re.search(r"angle of bus 1 \(exceeded by 1 degrees at the start\)", remarks)


TWINS = """
symgen: 1
name: planning_twins
gravity: [0, 0, 0]
joints:
  - {name: bus, type: floating, coordinates: quaternion, origin: {},
     link: {mass: 3, inertia: {xx: 0.05, yy: 0.06, zz: 0.04, xz: 0.002}}}
  - {name: left, parent: bus, type: spherical, coordinates: quaternion, origin: {xyz: [0, 0.2, 0]},
     link: {mass: 1, com: [0.02, 0.2, -0.05],
            inertia: {xx: 0.02, yy: 0.01, zz: 0.02, xy: 0.001, yz: 0.0005}}}
  - {name: right, parent: bus, type: spherical, coordinates: quaternion,
     origin: {xyz: [0, -0.2, 0]},
     link: {mass: 1, com: [0.02, -0.2, -0.05],
            inertia: {xx: 0.02, yy: 0.01, zz: 0.02, xy: -0.001, yz: -0.0005}}}
"""


@pytest.mark.deep
def test_mirrored_ends(solver):
    """Half a stride of a symmetric robot: the torques are mirrored, too, which nobody asked for."""
    robot = module(TWINS, functions=FUNCTIONS[:7])
    turned = [Rotation.from_rotvec(x).as_quat() for x in
              ([0.2, 0.3, 0.1], [0.5, 0.3, -0.4], [-0.2, -0.6, 0.1])]  # fmt: skip
    mirrored = {"bus_x": None, "bus_y": "-bus_y", "bus_qx": "-bus_qx", "bus_qz": "-bus_qz"}
    for entry, sign in (("qx", "-"), ("qy", ""), ("qz", "-"), ("qw", "")):
        mirrored[f"left_{entry}"] = f"{sign}right_{entry}"
    task = {
        "symgen_task": 1, "time": 1, "objective": {"torque": 1}, "mirrored": mirrored,
        "start": {"q": [0, 0.1, 0.2, *np.concatenate(turned)]}, "goal": {"q": {"bus_x": 0.4}},
        "profile": {"segments": 10, "check": "knots"},
    }  # fmt: skip
    plan = symgen.plan(robot, task)
    assert plan.status == "solved" and plan.final_error < 1e-6
    assert np.allclose(plan.q[-1, :3], [0.4, -0.1, 0.2])
    axial = np.array([-1, 1, -1])
    start, end = (Rotation.from_quat(plan.q[k, 3:].reshape(3, 4)).as_rotvec() for k in (0, -1))
    assert np.allclose(end, axial * start[[0, 2, 1]], atol=1e-9)
    for rates in (plan.qd, plan.qdd, plan.tau):
        start, end = rates[0].reshape(4, 3), rates[-1].reshape(4, 3)
        assert np.allclose(end[0], -axial * start[0], atol=1e-9)
        assert np.allclose(end[1:], axial * start[[1, 3, 2]], atol=1e-9)


def test_a_new_task_names_attitudes(named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    robot = file_of(SATELLITE.replace("COORDINATES", QUATERNION).replace("NAME", "new"))
    assert run(["new", "--task", "task.yaml", "--robot", str(robot)]) == 0
    task = reading.read(tmp_path / "task.yaml", named)
    goal = task.chart.configuration(task.goal.q)
    assert np.allclose(goal[3:7], [0, 0, np.sqrt(0.5), np.sqrt(0.5)])


def test_wrenches_and_places_are_named_by_joints_and_positions(named):
    limits = {"wrench": {"bus": {"fx": 3}, "shoulder": {"nz": 2}}, "position": {"bus_y": [-1, 2]}}
    ends = {"start": {"q": REST}, "goal": {"q": REST}}
    task = reading.read({"symgen_task": 1, "limits": limits, **ends}, named)
    assert set(task.limits.wrenches) == {(0, 0), (1, 5)}
    assert task.limits.position[1].tolist() == [-1, 2]
