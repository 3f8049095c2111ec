"""Euler parameters as redundant coordinates: motions, proofs, and who takes them."""

from __future__ import annotations

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
from symgen.runtime.configuration import configuration_of
from tests.mechanisms.models import CLOSED, SEAT, body, held_text, loaded, model
from tests.modules import described, file_of

DERIVED = ("inverse_dynamics_derivatives", "constraint_torque_derivatives")
ABLE = ("semi_recursive", *(variant.name for variant in VARIANTS))


def product(p):
    """2 G(p), (3, 4): the angular velocity in link axes by the rates of x y z w, |p| = 1."""
    x, y, z, w = p
    return 2.0 * np.array([[w, z, -y, -x], [-z, w, x, -y], [y, -x, w, -z]])


def top(coordinates, functions):
    """A top on a ball."""
    joint = {"name": "pivot", "type": "spherical", "coordinates": coordinates, "origin": {},
             "link": body("top", 1.0)}  # fmt: skip
    return loaded(model("top", [joint], initial={"q": {}, "qd": {}}), functions)


SPIN = np.array([1.0, 2.0, 3.0])


@pytest.mark.slow
def test_a_motion():
    """The same attitudes as with a quaternion, the norm kept."""
    one, fine = top("euler_parameters", CLOSED), top("quaternion", ["forward_dynamics"])
    assert one.initial_q.tolist() == [0, 0, 0, 1] and one.freedoms(one.initial_q) == 3
    times, options = np.linspace(0, 1, 6), {"rtol": 1e-10, "atol": 1e-12}
    qd = np.linalg.pinv(product(one.initial_q)) @ SPIN
    mine = symgen.simulate(one, one.initial_q, qd, times, **options)
    theirs = symgen.simulate(fine, one.initial_q, SPIN, times, **options)
    assert np.allclose(mine.q, theirs.q, atol=1e-7)
    assert np.abs(mine.violation).max() < 1e-8


@pytest.mark.slow
def test_steps_keep_the_norm_and_are_of_second_order():
    one, times = top("euler_parameters", (*CLOSED, *DERIVED)), np.linspace(0, 1, 6)
    qd = np.linalg.pinv(product(one.initial_q)) @ SPIN
    exact = symgen.simulate(one, one.initial_q, qd, times, rtol=1e-10, atol=1e-12)
    errors = []
    for step in (2e-3, 1e-3):
        fixed = symgen.simulate(one, one.initial_q, qd, times, step=step)
        assert np.abs(fixed.violation).max() < 1e-12
        errors.append(float(np.abs(fixed.q - exact.q).max()))
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.02)  # ALI3-P is of second order


@pytest.mark.slow
def test_springs_and_a_tyre_move_a_body_as_with_a_quaternion():
    """A wheel on a body that hangs on a spring rolls over uneven ground."""
    joints = [
        {"name": "root", "type": "floating", "origin": {}, "link": body("trunk", 20.0)},
        {"name": "wheel", "type": "revolute", "axis": [0, 1, 0.1], "origin": {"xyz": [0.1, 0.3, 0]},
         "link": body("rim", 1.0)},
    ]  # fmt: skip
    ends = [{"link": "base", "point": [0, 0, 2]}, {"link": "trunk", "point": [0.1, 0.2, 0.3]}]
    tyre = {
        "name": "tyre", "type": "tyre", "wheel": "wheel", "radius": 0.5, "width": 0.2,
        "normal": {"stiffness": [9000], "damping": 100}, "ground": "0.1*sin(2*x)*cos(y)",
        "slip": {"longitudinal": 300, "lateral": 200, "friction": [0.9, 0.5]},
    }  # fmt: skip
    sections = {"springs": [{"name": "hang", "between": ends, "stiffness": 90, "damping": 4}],
                "forces": [tyre]}  # fmt: skip
    fine, one = (
        loaded(model("rolling", [{**joints[0], "coordinates": kind}, joints[1]], **sections), names)
        for kind, names in (
            ("quaternion", ["forward_dynamics"]),
            ("euler_parameters", [*CLOSED, "inverse_dynamics", "inverse_dynamics_derivatives"]),
        )
    )
    q = np.array([0.0, 0.0, 0.47, 0.1, -0.2, 0.1, np.sqrt(0.94), 0.0])
    qd = np.array([1.0, 0.2, 0.0, 0.3, -0.2, 0.4, 2.0])
    times, options = np.linspace(0, 0.5, 6), {"rtol": 1e-9, "atol": 1e-11}
    theirs = symgen.simulate(fine, q, qd, times, **options).q.values
    qd = configuration_of(fine).rate(q, qd)
    mine = symgen.simulate(one, q, qd, times, **options).q.values
    assert np.abs(mine - theirs).max() < 1e-7 and np.ptp(mine, axis=0).min() > 0.01
    rest, h = np.zeros(8), 1e-6 * np.eye(8)
    _, *slopes, _ = one.inverse_dynamics_derivatives(q, qd, rest)
    for slope, x, y in zip(slopes, (h, 0 * h), (0 * h, h), strict=True):
        sides = [one.inverse_dynamics(q + s * x, qd + s * y, rest) for s in (1, -1)]
        error = (sides[0] - sides[1]).T / 2e-6 - slope
        assert np.abs(error).max() < 1e-7 * np.abs(slope).max()


def test_beside_quaternions_and_joints_that_follow():
    """One coordinate for each joint that leads, and states off the unit sphere."""
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
    robot = loaded(model("mixed", [*joints, *fingers]), ("constraints",))
    assert (robot.n, robot.nq, robot.constraint_names) == (11, 12, ("wrist_norm",))
    norms = np.linalg.norm(robot.random_configuration(np.random.default_rng(0), 8)[:, 7:11], axis=1)
    assert np.abs(norms - 1.0).min() > 0.01


def test_derivatives_are_proven():
    """Exactly, as fractions of polynomials, at any p: they need no norm."""
    joint = {"name": "pivot", "type": "spherical", "coordinates": "euler_parameters",
             "origin": {"xyz": [0.1, 0, 0]}, "link": body("top", 1.0)}  # fmt: skip
    result = prove(described(model("top", [joint])))
    assert result.passed and result.probability < 1e-60
    proven = {row.function for row in result.rows}
    assert {"inverse_dynamics_derivatives", "joint_wrenches", "constraint_jacobian"} <= proven


def test_who_takes_them_and_what_is_refused():
    path = file_of(held_text("euler_parameters"))
    tree = build_tree(read(path), Graph())
    for item in FORMULATIONS:
        expected = None if item.name in ABLE else reason("euler_parameters")
        assert item.why_not(tree) == expected
    with pytest.raises(RequestError, match=r"newton_euler does not apply.*semi_recursive takes"):
        symgen.load(path, formulations="newton_euler", functions="mass_matrix")
    refused = held_text("euler_parameters").replace(
        "coordinates: euler_parameters", "coordinates: euler_parameters\n  damping: 1", 1
    )
    with pytest.raises(ModelError, match=r"damping.*means nothing for one of four.*quaternion"):
        described(refused)


def test_what_nobody_derives_is_not_advertised():
    """Outputs are those of newton_euler, which does not take Euler parameters."""
    said = [
        who_derives("outputs", build_tree(described(held_text(coordinates)), Graph()))
        for coordinates in ("quaternion", "euler_parameters")
    ]
    assert said[0].startswith("add --formulations newton_euler")
    assert said[1].startswith("outputs is not available yet for this model: newton_euler: it moves")
