"""Tables 5, 6 and 11 to 13 of Lopez Varela 2023, entry by entry, written in NumPy as printed.

All six joints of the paper, at unit Euler parameters.  Where tables name one body behind a joint
of several coordinates, columns are those of the last of its bodies here.  Table 4 lists what
`test_semi_recursive_equations` compares, tables 1 and 2 what
`tests.mechanisms.test_constraint_equations` does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from symgen.formulations.semi_recursive.kinematics import LINK_ORIGIN, RTDYN0, RTDYN1
from tests.formulations.test_semi_recursive import EACH_POINT, Terms, tilde
from tests.mechanisms.models import AXIS, SEAT, body, model
from tests.modules import described
from tests.oracles.comparison import agrees

EULER = {"coordinates": "euler_parameters"}
JOINTS = {
    "revolute": (AXIS, 1), "prismatic": (AXIS, 1), "universal": ({}, 2), "cylindrical": (AXIS, 2),
    "spherical": (EULER, 4), "floating": (EULER, 7),
}  # fmt: skip
"""One after the other; the floating one on the base, in its axes, as table 11 has it."""

ORDER = [1, 2, 3, 0]
"""Where x y z w are among the paper's e0 e1 e2 e3."""


@cache
def robot():
    joints = [
        {"name": kind, "type": kind, "origin": SEAT, "link": body(f"{kind}_link", 1.0), **keys}
        for kind, (keys, _) in JOINTS.items()
    ]
    joints[-1] |= {"parent": "base", "origin": {}}
    return described(model("tables", joints))


@cache
def state():
    random, n = np.random.default_rng(8), sum(count for _, count in JOINTS.values())
    q, qd, qdd = random.normal(size=(3, n))
    for four in (slice(6, 10), slice(13, 17)):
        q[four] /= np.linalg.norm(q[four])
    return {"q": q, "qd": qd, "qdd": qdd, "loads": np.zeros((0, 6))}


@cache
def terms(point):
    return Terms(robot(), state(), point)


def turn(n, z):
    """A(z) of the footnote of table 11."""
    return np.cos(z) * np.eye(3) + (1 - np.cos(z)) * np.outer(n, n) + np.sin(z) * tilde(n)


def turn_slope(n, z):
    """Table 5"""
    return -np.sin(z) * np.eye(3) + np.sin(z) * np.outer(n, n) + np.cos(z) * tilde(n)


def E_bar(p):
    """[-e, e~ + e0 I], (3, 4), of e0 e1 e2 e3; G_bar has -e~."""
    return np.column_stack([-p[1:], tilde(p[1:]) + p[0] * np.eye(3)])


def G_bar(p):
    return np.column_stack([-p[1:], -tilde(p[1:]) + p[0] * np.eye(3)])


@dataclass
class Printed:
    """A row of table 11, with that of table 5: seat and A_i^{i-1} apart, vectors in base axes."""

    kind: str
    joints: list[int]
    seat: np.ndarray
    relative: np.ndarray
    slopes: list[np.ndarray]
    r_j: np.ndarray
    w: np.ndarray
    """Axes of rotation (3, k), E twice; of translation where there is none."""

    def columns(self, r_i):
        """b_i, (6, k)"""
        arm = r_i - self.r_j
        turned = [np.concatenate([np.cross(w, arm), w]) for w in self.w.T]
        moved = [np.concatenate([w, np.zeros(3)]) for w in self.w.T]
        slides = {"prismatic": 1, "cylindrical": 1, "floating": 3}.get(self.kind, 0)
        return np.column_stack(moved[:slides] + turned[slides:])


def rows_of_table_11():
    """All joints, outwards."""
    x, y, z = np.eye(3)
    n = np.array(AXIS["axis"]) / np.linalg.norm(AXIS["axis"])
    roll, pitch, yaw = SEAT["rpy"]
    seat = turn(z, yaw) @ turn(y, pitch) @ turn(x, roll)
    A, o, start, rows = np.eye(3), np.zeros(3), 0, []
    for kind, (_, count) in JOINTS.items():
        q, numbers = state()["q"][start : start + count], list(range(start + 1, start + count + 1))
        start += count
        on_parent, r_j = A @ seat, o + A @ SEAT["xyz"]
        if kind == "floating":
            on_parent, r_j = np.eye(3), q[:3]
        relative, slopes, w, slide = np.eye(3), [np.zeros((3, 3))], n[:, None], 0.0 * n
        if kind == "revolute":
            relative, slopes = turn(n, q[0]), [turn_slope(n, q[0])]
        elif kind == "prismatic":
            slide = n * q[0]
        elif kind == "universal":
            first, second = turn(x, q[0]), turn(y, q[1])
            relative, w = first @ second, np.column_stack([x, first @ y])
            slopes = [turn_slope(x, q[0]) @ second, first @ turn_slope(y, q[1])]
        elif kind == "cylindrical":
            relative, w, slide = turn(n, q[1]), np.column_stack([n, n]), n * q[0]
            slopes = [np.zeros((3, 3)), turn_slope(n, q[1])]
        else:
            p = q[-4:][[3, 0, 1, 2]]
            E, G, rest = E_bar(p), G_bar(p), 2 - p @ p
            relative, moves = E @ G.T * rest, np.eye(4)
            each = [(E_bar(e) @ G.T + E @ G_bar(e).T) * rest - 2 * E @ G.T * (p @ e) for e in moves]
            w, slopes = 2 * E[:, ORDER], [each[place] for place in ORDER]
            if kind == "floating":
                w = np.column_stack([np.eye(3), w])
                slopes = [np.zeros((3, 3))] * 3 + slopes
        rows.append(Printed(kind, numbers, on_parent, relative, slopes, r_j, on_parent @ w))
        A, o = on_parent @ relative, r_j + on_parent @ slide
    return rows


def point_of(known, point, i):
    """r_i by its definition."""
    at = known.system.geometry[i]
    o, A = known.of(at.places.origin), known.matrix(at.A)
    return {LINK_ORIGIN: o, RTDYN0: o + A @ [0.1, -0.2, 0.15], RTDYN1: np.zeros(3)}[point]


@EACH_POINT
def test_table_11(point):
    """A_i^{i-1} and b_i: E of its footnote is A_{i-1} E_bar, not A_i E_bar."""
    known = terms(point)
    for row in rows_of_table_11():
        i = row.joints[-1]
        assert agrees(known.matrix(known.system.geometry[i].A), row.seat @ row.relative), row.kind
        expected = row.columns(point_of(known, point, i))
        for j, column in zip(row.joints, expected.T, strict=True):
            assert agrees(known.of(known.columns[i][j]), column), (row.kind, j)


def along(n):
    """Projects directions onto those along the unit spheres, off which the paper's E goes on."""
    found = np.eye(n)
    for four in (slice(6, 10), slice(13, 17)):
        found[four, four] -= np.outer(state()["q"][four], state()["q"][four])
    return found


def test_table_5():
    """(A_i^{i-1})_z, which (A_i)_z = w_j~ A_i is along the way (56)."""
    known = terms(LINK_ORIGIN)
    for row in rows_of_table_11():
        at = known.system.geometry[row.joints[-1]]
        A, places = known.matrix(at.A), [j - 1 for j in row.joints]
        for j, slope in zip(row.joints, row.slopes, strict=True):
            found = row.seat.T @ tilde(known.of(known.system.geometry[j].w)) @ A
            assert agrees(found, slope), (row.kind, j)
        lines = known.by(at.A.entries, "q")[:, places].T.reshape(-1, 3, 3)
        sphere = along(len(known.bodies))[np.ix_(places, places)]
        found, expected = (np.tensordot(sphere, x, 1) for x in (row.seat.T @ lines, row.slopes))
        assert agrees(found, expected), row.kind


def slopes_of_b(known, row):
    """(b_i)_z, (k, 6, n): columns of R_i of the last body."""
    columns = known.columns[row.joints[-1]]
    return np.stack([known.by(columns[j], "q") for j in row.joints])


def printed_slopes(known, point, row):
    """Table 6, whose [-I r_j~ - r_i~] R_i is -(r_j)_z; 12 and 13 with (r_i)_z of their points."""
    i, n = row.joints[-1], len(known.bodies)
    parent = known.system.geometry[row.joints[0]].joint.parent
    R, r_i = known.R(i), point_of(known, point, i)
    before = known.R(parent)
    by_z = np.zeros((3, n)) if point is RTDYN1 else R[:3]  # (r_i)_z
    b = row.columns(r_i)
    own = np.zeros((6, n))
    own[:, [j - 1 for j in row.joints]] = b
    turned = -R[3:]  # [0 -I] R_i
    found = np.zeros((len(row.joints), 6, n))
    for place in range(len(row.joints)):
        first, second, w = tilde(b[:3, place]), tilde(b[3:, place]), row.w[:, place]
        lever = tilde(w) @ (by_z - R[:3])
        if row.kind == "universal" and place == 0:
            swing = tilde(w) @ tilde(r_i - row.r_j) @ -own[3:]
            top = first @ -before[3:] + lever + swing
            found[place] = np.vstack([top, second @ -before[3:]])
        elif row.kind in ("spherical", "floating"):
            if second.any():  # the others, translations of a floating joint, are null
                found[place] = _euler_slopes(row, place, before, r_i, by_z, R)
        else:
            lever = lever if second.any() else np.zeros((3, n))
            found[place] = np.vstack([first @ turned + lever, second @ turned])
    return found


def _euler_slopes(row, place, before, r_i, by_z, R):
    """A column of the spherical joint; E_bar is linear in p."""
    E, four = row.w[:, place] / 2, [j - 1 for j in row.joints[-4:]]
    d_E = tilde(E) @ -before[3:]  # (A_{i-1})_z E_bar
    e = ORDER[place - len(row.joints) + 4]
    for column, unit in zip(four, np.eye(4)[ORDER], strict=True):
        d_E[:, column] += row.seat @ E_bar(unit)[:, e]
    arm = row.r_j - r_i
    top = tilde(E) @ (by_z - R[:3] + tilde(arm) @ R[3:]) + tilde(arm) @ d_E
    return 2 * np.vstack([top, d_E])


@EACH_POINT
def test_tables_6_12_and_13(point):
    """(b_i)_z: by Euler parameters along the unit sphere."""
    known = terms(point)
    sphere = along(len(known.bodies))
    for row in rows_of_table_11():
        found, expected = slopes_of_b(known, row), printed_slopes(known, point, row)
        for j, x, y in zip(row.joints, found @ sphere, expected @ sphere, strict=True):
            assert agrees(x, y), (row.kind, j)
