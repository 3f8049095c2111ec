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
    value = flat(motion, at)
    R, p = value[:9].reshape(3, 3), value[9:]
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(R) == pytest.approx(1.0)
    first = joint.motion_derivative(a, x, 1, g)
    second = joint.motion_derivative(a, x, 2, g)
    third = joint.motion_derivative(a, x, 3, g)
    shifted = {"x": 0.7 + 1j * STEP}
    np.testing.assert_allclose(flat(first, at), flat(motion, shifted).imag / STEP, atol=1e-15)
    np.testing.assert_allclose(flat(second, at), flat(first, shifted).imag / STEP, atol=1e-15)
    np.testing.assert_allclose(flat(third, at), flat(second, shifted).imag / STEP, atol=1e-15)

    slope = flat(first, at)
    spin = slope[:9].reshape(3, 3) @ R.T
    omega = np.array(evaluate(list(joint.angular_axis(a, g)), at))
    velocity = np.array(evaluate(list(joint.linear_axis(a, g)), at))
    np.testing.assert_allclose([spin[2, 1], spin[0, 2], spin[1, 0]], omega, atol=1e-15)
    np.testing.assert_allclose(slope[9:], velocity, atol=1e-15)
    assert omega.any() or velocity.any()
    np.testing.assert_allclose(p, flat(motion, at)[9:])


def test_turns_about_an_axis_of_the_frame_stay_sparse():
    g = Graph()
    revolute = joint_type("revolute")
    R = revolute.motion(Vector(g.zero, g.zero, g.one), g.symbol("x"), g).rotation
    assert R[2, 2] is g.one
    assert R[0, 0].op == "cos"
    assert R[0, 2].is_zero and R[2, 0].is_zero
    with pytest.raises(KeyError):
        joint_type("lead_screw")


# ------------------------------------------------------------------------------- their poses

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


@pytest.mark.parametrize("sequence", joint_type("universal").sequences)
def test_universal(sequence):
    expected = turned(sequence, ANGLES[:2])
    np.testing.assert_allclose(
        pose("universal", sequence, ANGLES[:2])[:3, :3], expected, atol=1e-15
    )


@pytest.mark.parametrize("sequence", joint_type("spherical").sequences)
def test_spherical_and_floating(sequence):
    expected = np.eye(4)
    expected[:3, :3] = turned(sequence, ANGLES)
    np.testing.assert_allclose(pose("spherical", sequence, ANGLES), expected, atol=1e-15)
    expected[:3, 3] = 0.1, 0.2, 0.3
    moved = pose("floating", sequence, (0.1, 0.2, 0.3, *ANGLES))
    np.testing.assert_allclose(moved, expected, atol=1e-15)


def test_zyx_is_yaw_pitch_roll():
    """The default: roll about the body's x axis comes last, as in roll-pitch-yaw."""
    expected = pin.rpy.rpyToMatrix(ANGLES[2], ANGLES[1], ANGLES[0])
    np.testing.assert_allclose(pose("spherical", "zyx", ANGLES)[:3, :3], expected, atol=1e-15)


def test_cylindrical():
    axis = np.array([2.0, -3.0, 6.0]) / 7.0
    moved = pose("cylindrical", "", (0.4, 0.7), axis)
    np.testing.assert_allclose(moved[:3, 3], 0.4 * axis, atol=1e-15)
    np.testing.assert_allclose(moved[:3, :3], pin.exp3(0.7 * axis), atol=1e-15)


@pytest.mark.parametrize("axis", [(2, -3, 6), (0, 0, -7), (0, 7, 0)])
def test_planar(axis):
    """The plane is normal to the axis, and turned from z's by the shortest rotation."""
    axis = np.array(axis) / 7.0
    x, y, angle = 0.3, -0.4, 1.1
    turn = pin.Quaternion.FromTwoVectors(np.array([0, 0, 1.0]), axis).matrix()
    if axis[2] == -1.0:
        turn = pin.utils.rotate("x", np.pi)
    expected = np.eye(4)
    expected[:3, :3] = pin.AngleAxis(angle, axis).matrix()
    expected[:3, 3] = turn @ [x, y, 0]
    np.testing.assert_allclose(pose("planar", "", (x, y, angle), axis), expected, atol=1e-15)


def test_helical():
    axis = np.array([2.0, -3.0, 6.0]) / 7.0
    expected = np.eye(4)
    expected[:3, :3], expected[:3, 3] = pin.AngleAxis(1.1, axis).matrix(), 0.25 * 1.1 * axis
    np.testing.assert_allclose(pose("helical", "", (1.1,), axis), expected, atol=1e-15)


# ----------------------------------------------------------------------- directions in the plane

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


@pytest.mark.parametrize("axis", ORDINARY, ids=str)
def test_they_are_turned_by_the_shortest_rotation(axis):
    a, b, c = np.divide(axis, np.linalg.norm(axis))
    first, second, _ = directions(axis)
    assert np.allclose(first, [1 - a * a / (1 + c), -a * b / (1 + c), -a], rtol=0, atol=1e-14)
    assert np.allclose(second, [-a * b / (1 + c), 1 - b * b / (1 + c), -b], rtol=0, atol=1e-14)


def test_what_is_minus_z_to_rounding_has_its_directions():
    for axis in ([0, 0, -1], [1.2e-16, 0, -1], [0, -1e-9, -1]):
        assert np.abs(directions(axis) - np.diag([1, -1, -1])).max() < 2e-9
