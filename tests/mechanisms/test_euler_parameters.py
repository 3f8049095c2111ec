"""Euler parameters as redundant coordinates, against the same robot with quaternions."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import symgen
from symgen.algebra.graph import Graph
from symgen.deriving.selection import who_derives
from symgen.description import read
from symgen.errors import ModelError, RequestError
from symgen.exact import prove
from symgen.formulations import FORMULATIONS, VARIANTS
from symgen.formulations.interface import reason
from symgen.kinematics.tree import build_tree
from symgen.validation.oracles import NumericRobot
from tests.mechanisms.models import SEAT, body, loaded, model
from tests.oracles.descriptions import described

ABLE = ("semi_recursive", *(variant.name for variant in VARIANTS))


def robot_text(coordinates):
    """A trunk that floats, an arm, a hand on a ball, tied to the base by a rod and a relation."""
    turning = {"coordinates": coordinates}
    joints = [
        {"name": "root", "type": "floating", **turning, "link": body("trunk", 2.0),
         "origin": {"xyz": [0.1, 0.2, 0.3], "rpy": [0.2, 0.1, 0.4]}},
        {"name": "shoulder", "type": "revolute", "axis": [0, 1, 0], "damping": 0.2,
         "origin": {"xyz": [0.3, 0, 0.1]}, "link": body("arm", "w/2")},
        {"name": "wrist", "type": "spherical", **turning, "link": body("hand", 0.8),
         "origin": {"xyz": [0.4, "w/10", -0.2], "rpy": [0.3, "-w/5", 0.5]}},
        {"name": "slide", "type": "prismatic", "origin": {"xyz": [0.1, "w/9", 0]},
         "link": body("finger", 0.3)},
    ]  # fmt: skip
    ends = {"first": {"link": "base", "origin": {"xyz": [1, 0, 0]}},
            "second": {"link": "hand", "origin": {"xyz": [0, 0.1, "w/10"]}}}  # fmt: skip
    return model(
        f"with_{coordinates}", joints, gravity=[1.0, -9.81, 2.0], parameters={"w": 3.0},
        loads=[{"name": "L", "link": "finger", "point": [0.1, 0.2, "w/30"]}],
        points=[{"name": "P", "link": "hand", "point": [0.1, 0.2, 0.3]}],
        loops=[{"name": "rod", "type": "distance", "length": 0.5, **ends}],
        relations={"track": "points.P.x - sin(t)*w/3 - q.shoulder**2"},
    )  # fmt: skip


@cache
def redundant():
    """By all reference points."""
    return loaded(
        robot_text("euler_parameters"), formulations=",".join(ABLE), runtime_parameters="all"
    )


@cache
def minimal():
    """With quaternions."""
    return loaded(robot_text("quaternion"), runtime_parameters="all")


def product(p):
    """2 G(p), (3, 4): the angular velocity in link axes by the rates of x y z w, |p| = 1."""
    x, y, z, w = p
    return 2.0 * np.array([[w, z, -y, -x], [-z, w, x, -y], [y, -x, w, -z]])


def tangents(q):
    """T (n, nq): the velocities of the quaternion model are T times the rates of q."""
    fine = minimal()
    T = np.zeros((fine.n, len(q)))
    R = rotation(q[3:7])
    T[:3, :3] = R.T
    T[3:6, 3:7] = product(q[3:7])
    T[6, 7] = 1.0
    T[7:10, 8:12] = product(q[8:12])
    T[10, 12] = 1.0
    return T


def rotation(p):
    x, y, z, w = p
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * K + 2 * K @ K


def states(seed=0):
    """q and its first two rates that keep the norms, with the same of the quaternion model."""
    random, fine = np.random.default_rng(seed), minimal()
    q = fine.random_configuration(random)
    qd, qdd = random.normal(size=(2, len(q)))
    for four in (slice(3, 7), slice(8, 12)):
        qd[four] -= q[four] * (q[four] @ qd[four])
        qdd[four] -= q[four] * (q[four] @ qdd[four] + qd[four] @ qd[four])
    T = tangents(q)
    v = T @ qd
    a = T @ qdd
    a[:3] -= np.cross(v[3:6], v[:3])  # the axes turn in which v is written
    return q, qd, qdd, v, a, T


@pytest.mark.parametrize("name", ABLE)
def test_it_moves_and_feels_as_with_quaternions(name):
    """Motion of links, M, torques, bias, wrenches, rows: through the tangents."""
    one, fine = getattr(redundant(), name), minimal()
    q, qd, qdd, v, a, T = states()
    loads = np.random.default_rng(1).normal(size=(1, 6))
    assert np.allclose(one.forward_kinematics(q), fine.forward_kinematics(q), atol=1e-12)
    for x, y in zip(one.link_motion(q, qd, qdd), fine.link_motion(q, v, a), strict=True):
        assert np.allclose(x, y, atol=1e-11)
    assert np.allclose(one.mass_matrix(q), T.T @ fine.mass_matrix(q) @ T, atol=1e-11)
    tau = fine.inverse_dynamics(q, v, a, loads=loads)
    assert np.allclose(one.inverse_dynamics(q, qd, qdd, loads=loads), T.T @ tau, atol=1e-10)
    assert np.allclose(one.gravity_forces(q), T.T @ fine.gravity_forces(q), atol=1e-11)
    ours, theirs = one.joint_wrenches(q, qd, qdd), fine.joint_wrenches(q, v, a)
    assert np.allclose(ours[[6, 7, 11, 12]], theirs, atol=1e-10)
    rows = slice(0, fine.n_constraints)
    assert np.allclose(one.constraints(q, t=0.3)[rows], fine.constraints(q, t=0.3), atol=1e-12)
    assert np.allclose(one.constraints(q)[-2:], 0, atol=1e-12)
    J = fine.constraint_jacobian(q, t=0.3) @ T
    assert np.allclose(one.constraint_jacobian(q, t=0.3)[rows], J, atol=1e-11)
    rates = one.constraint_rates(q, qd, t=0.3)
    assert np.allclose(rates[rows], fine.constraint_rates(q, v, t=0.3), atol=1e-11)
    second, _, _ = one.constraint_acceleration_derivatives(q, qd, qdd, t=0.3)
    expected, _, _ = fine.constraint_acceleration_derivatives(q, v, a, t=0.3)
    assert np.allclose(second[rows], expected, atol=1e-10)
    assert np.allclose(second[-2:], 0, atol=1e-11)


def test_derivatives_are_exact_off_the_unit_sphere():
    """What a build checks, of all reference points: complex steps at attitudes of any norm."""
    one = redundant()
    drawn = one.random_configuration(np.random.default_rng(0), 8)
    assert np.abs(np.linalg.norm(drawn[:, 3:7], axis=-1) - 1.0).min() > 0.01
    checks = one.selftest()
    assert all(check.passed for check in checks), [x.name for x in checks if not x.passed]
    said = {check.name for check in checks}
    for what in (
        "inverse_dynamics_derivatives, dtau_dq = complex step of inverse_dynamics",
        "constraint_torque_derivatives, dp_dq = complex step of the value",
    ):
        assert what in said


def test_accelerations_multipliers_and_their_derivatives():
    one, fine = redundant(), minimal()
    q, qd, _, v, _, T = states(2)
    tau = np.random.default_rng(3).normal(size=fine.n)
    mine = one.constrained_forward_dynamics(q, qd, T.T @ tau, t=0.4)
    theirs = fine.constrained_forward_dynamics(q, v, tau, t=0.4)
    a = T @ mine.qdd
    a[:3] -= np.cross(v[3:6], v[:3])
    assert np.allclose(a, theirs.qdd, atol=1e-9)
    assert np.allclose(mine.multipliers[:2], theirs.multipliers, atol=1e-9)
    for four in (slice(3, 7), slice(8, 12)):
        assert q[four] @ mine.qdd[four] == pytest.approx(-qd[four] @ qd[four], abs=1e-10)
    by_w = one.constrained_forward_dynamics_parameter_derivatives(q, qd, T.T @ tau, t=0.4)
    expected = fine.constrained_forward_dynamics_parameter_derivatives(q, v, tau, t=0.4)
    assert np.allclose(T @ by_w, expected, atol=1e-8)
    found = one.constrained_forward_dynamics_derivatives(q, qd, T.T @ tau, t=0.4)
    step = 1e-6 * np.eye(one.n)
    sides = [
        one.constrained_forward_dynamics(q + sign * step, qd, T.T @ tau, t=0.4) for sign in (1, -1)
    ]
    slope = (sides[0].qdd - sides[1].qdd).T / 2e-6
    assert np.allclose(found.dqdd_dq, slope, atol=2e-5, rtol=1e-5)


def test_a_motion():
    """One second of a top on a ball: the same attitudes, the norm kept."""
    tops = []
    for coordinates in ("euler_parameters", "quaternion"):
        joint = {"name": "pivot", "type": "spherical", "coordinates": coordinates, "origin": {},
                 "link": body("top", 1.0)}  # fmt: skip
        tops.append(loaded(model("top", [joint], initial={"q": {}, "qd": {}})))
    one, fine = tops
    assert one.initial_q.tolist() == [0, 0, 0, 1] and one.freedoms(one.initial_q) == 3
    v, times = np.array([1.0, 2.0, 3.0]), np.linspace(0, 1, 6)
    qd = np.linalg.pinv(product(one.initial_q)) @ v
    mine = symgen.simulate(one, one.initial_q, qd, times, rtol=1e-10, atol=1e-12)
    theirs = symgen.simulate(fine, one.initial_q, v, times, rtol=1e-10, atol=1e-12)
    assert np.allclose(mine.q, theirs.q, atol=1e-7)
    assert np.abs(mine.violation).max() < 1e-8
    errors = []
    for step in (2e-3, 1e-3):
        fixed = symgen.simulate(one, one.initial_q, qd, times, step=step)
        assert np.abs(fixed.violation).max() < 1e-12
        errors.append(float(np.abs(fixed.q - mine.q).max()))
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.02)  # ALI3-P is of second order


def test_beside_quaternions_and_joints_that_follow():
    """Laws and complex steps, in the tangent space where there is one."""
    fingers = [
        {"name": "one", "type": "revolute", "origin": {"xyz": [0.1, 0, 0]},
         "link": body("left", 0.3)},
        {"name": "other", "type": "revolute", "parent": "hand", "origin": {"xyz": [-0.1, 0, 0]},
         "mimic": {"coordinate": "one", "multiplier": -2}, "link": body("right", 0.3)},
    ]  # fmt: skip
    joints = [
        {"name": "root", "type": "floating", "coordinates": "quaternion", "origin": {},
         "link": body("trunk", 2.0)},
        {"name": "wrist", "type": "spherical", "coordinates": "euler_parameters", "origin": SEAT,
         "link": body("hand", 0.8)},
    ]  # fmt: skip
    robot = loaded(model("mixed", [*joints, *fingers], gravity=[1.0, -9.81, 2.0]))
    assert (robot.n, robot.nq, robot.constraint_names) == (11, 12, ("wrist_norm",))
    assert all(check.passed for check in robot.selftest())


def test_derivatives_are_proven():
    """Exactly, as fractions of polynomials, at any p: they need no norm."""
    joint = {"name": "pivot", "type": "spherical", "coordinates": "euler_parameters",
             "origin": {"xyz": [0.1, 0, 0]}, "link": body("top", 1.0)}  # fmt: skip
    result = prove(described(model("top", [joint])))
    assert result.passed and result.probability < 1e-60
    proven = {row.function for row in result.rows}
    assert {"inverse_dynamics_derivatives", "joint_wrenches", "constraint_jacobian"} <= proven


def test_who_takes_them_and_what_is_refused(tmp_path):
    path = tmp_path / "robot.yaml"
    path.write_text(robot_text("euler_parameters"))
    tree = build_tree(read(path), Graph())
    for item in FORMULATIONS:
        expected = None if item.name in ABLE else reason("euler_parameters")
        assert item.why_not(tree) == expected
    with pytest.raises(RequestError, match=r"newton_euler does not apply.*semi_recursive takes"):
        symgen.load(path, formulations="newton_euler")
    refused = robot_text("euler_parameters").replace(
        "coordinates: euler_parameters", "coordinates: euler_parameters\n  damping: 1", 1
    )
    path.write_text(refused)
    with pytest.raises(ModelError, match=r"damping.*means nothing for one of four.*quaternion"):
        read(path)


def test_the_numeric_model_reads_them_a_second_time():
    """Off the unit sphere, in everything that it has; what it has beside is in validation."""
    module, robot = redundant(), NumericRobot(described(robot_text("euler_parameters")))
    rng = np.random.default_rng(5)
    q, qd, qdd = rng.normal(size=(3, 4, module.n))
    given = {"loads": rng.normal(size=(4, 1, 6))}
    for name, arguments, options in (
        ("forward_kinematics", (q,), {}),
        ("mass_matrix", (q,), {}),
        ("inverse_dynamics_derivatives", (q, qd, qdd), given),
        ("joint_wrenches", (q, qd, qdd), given),
        ("point_motion_derivatives", (q, qd, qdd), {}),
        ("constraints", (q,), {"t": 0.7}),
        ("constraint_jacobian", (q,), {"t": 0.7}),
    ):
        found = getattr(module, name)(*arguments, **options)
        expected = getattr(robot, name)(*arguments, **options)
        for x, y in zip(
            *(r if isinstance(r, tuple) else (r,) for r in (found, expected)), strict=True
        ):
            np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-11, err_msg=name)


def test_what_nobody_derives_is_not_advertised():
    """Outputs are those of newton_euler, which does not take Euler parameters."""
    said = [
        who_derives("outputs", build_tree(described(robot_text(coordinates)), Graph()))
        for coordinates in ("quaternion", "euler_parameters")
    ]
    assert said[0].startswith("add --formulations newton_euler")
    assert said[1].startswith("outputs is not available yet for this model: newton_euler: it moves")
