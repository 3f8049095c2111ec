"""Types of joints: their contract, poses by another library, and directions in a plane."""

import itertools

import numpy as np
import pinocchio as pin
import pytest

from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.algebra.linear import Vector
from symgen.joints import JOINTS, Directions, joint_type
from symgen.joints.composite import in_plane
from symgen.kinematics.frames import units
from symgen.validation.oracle_model import axes_around

AXES = [(0.0, 0.0, 1.0), (0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (2 / 7, 3 / 7, 6 / 7)]
STEP = 1e-40


def flat(transform, values):
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
def test_contract(axis):
    g = Graph()
    for kind, chain in chains(g, axis):
        assert len(chain) == kind.coordinates
        assert bool(kind.moved_entry) == ("dh" in kind.keys and kind.coordinates > 0)
        for motion, direction in chain:
            check_motion(motion, direction, g)


def check_motion(joint, a, g):
    x = g.symbol("x")
    at = {"x": 0.7}
    motion = joint.motion(a, x, g)
    R = flat(motion, at)[:9].reshape(3, 3)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(R) == pytest.approx(1.0)
    orders = [motion, *(joint.motion_derivative(a, x, k, g) for k in (1, 2, 3))]
    shifted = {"x": 0.7 + 1j * STEP}
    for before, after in itertools.pairwise(orders):
        np.testing.assert_allclose(flat(after, at), flat(before, shifted).imag / STEP, atol=1e-15)

    slope = flat(orders[1], at)
    spin = slope[:9].reshape(3, 3) @ R.T
    omega = np.array(evaluate(list(joint.angular_axis(a, g)), at))
    velocity = np.array(evaluate(list(joint.linear_axis(a, g)), at))
    np.testing.assert_allclose([spin[2, 1], spin[0, 2], spin[1, 0]], omega, atol=1e-15)
    np.testing.assert_allclose(slope[9:], velocity, atol=1e-15)
    assert omega.any() or velocity.any()


def test_turns_about_an_axis_of_the_frame_stay_sparse():
    g = Graph()
    revolute = joint_type("revolute")
    R = revolute.motion(Vector(g.zero, g.zero, g.one), g.symbol("x"), g).rotation
    assert R[2, 2] is g.one
    assert R[0, 0].op == "cos"
    assert R[0, 2].is_zero and R[2, 0].is_zero
    with pytest.raises(KeyError):
        joint_type("lead_screw")


ANGLES = (0.7, -1.3, 2.1)


def pose(kind, sequence, coordinates, axis=(0.0, 0.0, 1.0)):
    """4x4 pose of the link in the joint frame."""
    g = Graph()
    directions = Directions(Vector(*map(g.constant, axis)), units(g), sequence, g.constant(0.25))
    result = np.eye(4)
    chain = joint_type(kind).chain(directions)
    for (motion, at), x in zip(chain, coordinates, strict=True):
        entries = evaluate(motion.motion(at, g.constant(x), g).homogeneous(g).entries, {})
        result = result @ np.array(entries).reshape(4, 4)
    return result


def turned(sequence, angles):
    """Rotation matrix by Pinocchio: each axis fixed in what the former ones turned."""
    result = np.eye(3)
    for letter, angle in zip(sequence, angles, strict=True):
        result = result @ pin.utils.rotate(letter, angle)
    return result


def test_the_sequences_are_all_there_are():
    """Twelve of three axes, six of two: no axis follows itself."""
    for kind, length in (("spherical", 3), ("floating", 3), ("universal", 2)):
        possible = {
            "".join(s)
            for s in itertools.product("xyz", repeat=length)
            if all(a != b for a, b in itertools.pairwise(s))
        }
        sequences = joint_type(kind).sequences
        assert sorted(sequences) == sorted(possible)
        assert sequences[0] == {3: "zyx", 2: "xy"}[length]
    assert {kind.name: kind.coordinates for kind in JOINTS} == {
        "revolute": 1, "prismatic": 1, "fixed": 0, "universal": 2, "cylindrical": 2,
        "helical": 1, "planar": 3, "spherical": 3, "floating": 6,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "sequence"),
    [(kind, x) for kind in ("universal", "spherical") for x in joint_type(kind).sequences],
)
def test_turns_about_the_axes_of_a_sequence(kind, sequence):
    expected = np.eye(4)
    expected[:3, :3] = turned(sequence, ANGLES[: len(sequence)])
    np.testing.assert_allclose(pose(kind, sequence, ANGLES[: len(sequence)]), expected, atol=1e-15)
    if kind == "spherical":
        expected[:3, 3] = 0.1, 0.2, 0.3
        moved = pose("floating", sequence, (0.1, 0.2, 0.3, *ANGLES))
        np.testing.assert_allclose(moved, expected, atol=1e-15)


def test_zyx_is_yaw_pitch_roll():
    """The default: roll about the body's x axis comes last, as in roll-pitch-yaw."""
    expected = pin.rpy.rpyToMatrix(ANGLES[2], ANGLES[1], ANGLES[0])
    np.testing.assert_allclose(turned("zyx", ANGLES), expected, atol=1e-15)


SKEW = np.array([2.0, -3.0, 6.0]) / 7.0


def plane(x, y, axis):
    """The place x, y of a plane that is turned from that of z by the shortest rotation."""
    turn = pin.Quaternion.FromTwoVectors(np.array([0, 0, 1.0]), axis).matrix()
    return (pin.utils.rotate("x", np.pi) if axis[2] == -1.0 else turn) @ [x, y, 0]


@pytest.mark.parametrize(("kind", "coordinates", "axis", "place"), [
    ("cylindrical", (0.4, 1.1), SKEW, 0.4 * SKEW),
    ("helical", (1.1,), SKEW, 0.25 * 1.1 * SKEW),
    *(("planar", (0.3, -0.4, 1.1), axis, plane(0.3, -0.4, axis))
      for axis in (SKEW, -np.eye(3)[2], np.eye(3)[1])),
])  # fmt: skip
def test_turns_about_an_axis(kind, coordinates, axis, place):
    expected = np.eye(4)
    expected[:3, :3], expected[:3, 3] = pin.AngleAxis(1.1, axis).matrix(), place
    np.testing.assert_allclose(pose(kind, "", coordinates, axis), expected, atol=1e-15)


UNITS = tuple(Vector(*map(float, row)) for row in np.eye(3))
NEAR = [[x, y, -1.0] for x in (0.0, 1e-3, -1e-6, 1e-7, 3e-8) for y in (0.0, -1e-2, 2e-8, 1e-9)]
ORDINARY = [[0, 0, 1], [0, 0.6, 0.8], [1, 0, 0], [0.3, -0.4, -0.5], [0, 1, -1], [-3, 2, -6]]


def directions(axis):
    a, b, c = (float(x) for x in np.divide(axis, np.linalg.norm(axis)))
    found = in_plane(Directions(Vector(a, b, c), UNITS, "", 0.0))
    return np.array([[v.x, v.y, v.z] for v in (*found, Vector(a, b, c))])


@pytest.mark.parametrize("axis", [*ORDINARY, *NEAR], ids=str)
def test_they_are_orthonormal_and_right_handed(axis):
    frame = directions(axis)
    assert np.abs(frame @ frame.T - np.eye(3)).max() < 2e-15
    assert np.linalg.det(frame) > 0
    unit = np.divide(axis, np.linalg.norm(axis))
    assert np.abs(frame.T - axes_around(unit)).max() < 2e-15


def test_what_is_minus_z_to_rounding_has_its_directions():
    for axis in ([0, 0, -1], [1.2e-16, 0, -1], [0, -1e-9, -1]):
        assert np.abs(directions(axis) - np.diag([1, -1, -1])).max() < 2e-9
