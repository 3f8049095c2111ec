"""Composite joints against rotations that are written down by hand, and by another library."""

import itertools

import numpy as np
import pinocchio as pin
import pytest

from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.algebra.linear import Vector
from symgen.joints import JOINTS, Directions, joint_type
from symgen.kinematics.frames import units

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
