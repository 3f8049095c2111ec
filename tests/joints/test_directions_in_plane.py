"""Directions in the plane of a planar joint, for every axis."""

import numpy as np
import pytest

from symgen.algebra.linear import Vector
from symgen.joints.composite import in_plane
from symgen.joints.interface import Directions
from symgen.validation.oracle_model import axes_around

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
