"""The contract of a joint type, for every entry of `JOINTS`."""

import numpy as np
import pytest

from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.algebra.linear import Vector
from symgen.joints import JOINTS, Directions, joint_type
from symgen.kinematics.frames import units

AXES = [(0.0, 0.0, 1.0), (0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (2 / 7, 3 / 7, 6 / 7)]
STEP = 1e-40


def pose(transform, values):
    entries = [e for row in transform.rotation.rows for e in row] + list(transform.translation)
    return np.array(evaluate(entries, values))


def chains(g, axis):
    """Every type with every sequence that it takes: (type, its chain)."""
    for kind in JOINTS:
        for sequence in kind.sequences or ("",):
            directions = Directions(
                Vector(*map(g.constant, axis)), units(g), sequence, g.constant(0.25)
            )
            yield kind, kind.chain(directions)


@pytest.mark.parametrize("axis", AXES)
def test_a_chain_has_one_motion_per_coordinate(axis):
    for kind, chain in chains(Graph(), axis):
        assert len(chain) == kind.coordinates
        assert bool(kind.moved_entry) == ("dh" in kind.keys and kind.coordinates > 0)


@pytest.mark.parametrize("axis", AXES)
def test_contract(axis):
    g = Graph()
    for _, chain in chains(g, axis):
        for motion, direction in chain:
            check_motion(motion, direction, g)


def check_motion(joint, a, g):
    x = g.symbol("x")
    at = {"x": 0.7}
    motion = joint.motion(a, x, g)
    value = pose(motion, at)
    R, p = value[:9].reshape(3, 3), value[9:]
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(R) == pytest.approx(1.0)
    first = joint.motion_derivative(a, x, 1, g)
    second = joint.motion_derivative(a, x, 2, g)
    third = joint.motion_derivative(a, x, 3, g)
    shifted = {"x": 0.7 + 1j * STEP}
    np.testing.assert_allclose(pose(first, at), pose(motion, shifted).imag / STEP, atol=1e-15)
    np.testing.assert_allclose(pose(second, at), pose(first, shifted).imag / STEP, atol=1e-15)
    np.testing.assert_allclose(pose(third, at), pose(second, shifted).imag / STEP, atol=1e-15)

    slope = pose(first, at)
    spin = slope[:9].reshape(3, 3) @ R.T
    omega = np.array(evaluate(list(joint.angular_axis(a, g)), at))
    velocity = np.array(evaluate(list(joint.linear_axis(a, g)), at))
    np.testing.assert_allclose([spin[2, 1], spin[0, 2], spin[1, 0]], omega, atol=1e-15)
    np.testing.assert_allclose(slope[9:], velocity, atol=1e-15)
    assert omega.any() or velocity.any()
    np.testing.assert_allclose(p, pose(motion, at)[9:])


def test_turns_about_an_axis_of_the_frame_stay_sparse():
    g = Graph()
    revolute = joint_type("revolute")
    R = revolute.motion(Vector(g.zero, g.zero, g.one), g.symbol("x"), g).rotation
    assert R[2, 2] is g.one
    assert R[0, 0].op == "cos"
    assert R[0, 2].is_zero and R[2, 0].is_zero
    with pytest.raises(KeyError):
        joint_type("lead_screw")
