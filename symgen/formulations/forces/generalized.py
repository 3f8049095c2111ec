"""Generalized forces and joint wrenches of the model's forces, and their slopes.

By virtual power the generalized forces are Q_j = sum J_j . f + a_j . n over all that acts outboard
of them, so that the torques of the bodies become tau - Q.  With dJ_j/dq_k and da_j/dq_k of
`columns` and df/dq_k of `laws`,

    dQ_j/dq_k = J_j . df/dq_k + a_j . dn/dq_k + a_k . (J_j x f + a_j x n)  where k carries axis j,
    dQ_j/dq_k = J_j . df/dq_k + a_j . dn/dq_k + a_j . (J_k x f)            where j carries k;

Euler parameters p_j, p_k of one joint add R dw_j/dp_k . (n + (x - o) x f).

A joint transmits less by what acts outboard of it, in the axes of its link and about the point c_j
of its wrench: w_j = -R_j^T [f; n + (x - c_j) x f].

Slopes are matrices by pair of joints, of which entries that are 0 are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, total, zero_vector
from symgen.formulations.forces.columns import MovedPoint
from symgen.formulations.forces.laws import Law, Laws, Slope
from symgen.kinematics.forces import Action
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "FM-6": "Q_j = sum J_j . f + a_j . n: generalized force of the model's forces on a joint",
    "dFM-6": "dQ_j/dq_k: J_j . df/dq_k + a_j . dn/dq_k + f . dJ_j/dq_k + n . da_j/dq_k",
    "FM-8": "w_j = -R_j^T [f; n + (x - c_j) x f]: change of the wrench that a joint transmits",
}

Key = TypeVar("Key")

Pairs = dict[tuple[int, int], S]
"""Entries by pair of joints."""


@dataclass
class Slopes(Generic[S]):
    """The derivatives of Q by q and by qd."""

    by_q: Pairs[S] = field(default_factory=dict)
    by_qd: Pairs[S] = field(default_factory=dict)


def forces_on_joints(tree: KinematicTree[S], b: ProgramBuilder[S], laws: Laws[S]) -> list[S]:
    """FM-6, one entry per joint."""
    terms: dict[int, list[S]] = {}
    for law, action, point in _acting(laws):
        force, torque = action.force, action.torque
        for j, column in point.columns.items():
            if force is not None:
                terms.setdefault(j, []).append(column.dot(force))
            if torque is not None:
                terms.setdefault(j, []).append(law.columns.spin(point.body, j).dot(torque))
    torques = []
    for joint in tree.joints:
        with b.step("forces", joint.name):
            value = total(terms.get(joint.number, []), b.algebra)
            torques.append(b.let(f"Q_{joint.number}", value, "FM-6"))
    return torques


def slopes_on_joints(tree: KinematicTree[S], b: ProgramBuilder[S], laws: Laws[S]) -> Slopes[S]:
    """Write the slopes of Q: dFM-6."""
    slopes: Slopes[S] = Slopes()
    for law in laws:
        for place, action in enumerate(law.actions):
            point = law.points[action.place]
            for k in law.joints:
                _add_column(law, place, point, k, slopes)
    with b.step("force derivatives"):
        for by, matrix in (("q", slopes.by_q), ("qd", slopes.by_qd)):
            for (j, k), entry in matrix.items():
                matrix[j, k] = b.let(f"d_Q_{j}_d{by}_{k}", entry, "dFM-6")
    return slopes


def _add_column(law: Law[S], place: int, point: MovedPoint[S], k: int, slopes: Slopes[S]) -> None:
    """Return the part of one action in the derivatives by q_k and qd_k."""
    columns, action = law.columns, law.actions[place]
    b = columns.b
    with b.step("force derivatives", law.force.name):
        names = ("force", "force_rate", "torque", "torque_rate")
        f_q, f_qd, n_q, n_qd = (
            None if slope is None else b.let(f"d_{what}_{law.force.name}_d{k}", slope, "FM-7")
            for what, slope in zip(names, law.slopes(place, k), strict=True)
        )
    for j, column in point.columns.items():
        axis = columns.spin(point.body, j)
        by_q = [*_dot(column, f_q), *_dot(axis, n_q)]
        by_qd = [*_dot(column, f_qd), *_dot(axis, n_qd)]
        if k in point.columns:
            by_q += columns.curvature(point, j, k, action.force, action.torque)
        for matrix, terms in ((slopes.by_q, by_q), (slopes.by_qd, by_qd)):
            for term in terms:
                if not b.algebra.is_zero(term):
                    matrix[j, k] = matrix[j, k] + term if (j, k) in matrix else term


def _dot(vector: Vector[S], slope: Slope[S]) -> list[S]:
    return [] if slope is None else [vector.dot(slope)]


def stored(b: ProgramBuilder[S], written: Laws[S]) -> S:
    """Write FM-4 of all forces."""
    energies = []
    for law in written:
        with b.step("forces", law.force.name):
            energy = law.force.energy([point.motion for point in law.points], b)
        if energy is not None:
            energies.append(energy)
    return total(energies, b.algebra)


def _acting(laws: Laws[S]) -> Iterator[tuple[Law[S], Action[S], MovedPoint[S]]]:
    """All actions, each with its law and its point."""
    for law in laws:
        for action in law.actions:
            yield law, action, law.points[action.place]


# ------------------------------------------------------------------------------ joint wrenches


@dataclass(frozen=True)
class Wrenches(Generic[S]):
    """FM-8 by joint, (6,), and its derivatives by q and qd by pair of joints, (6,) each."""

    values: dict[int, tuple[S, ...]]
    by_q: dict[tuple[int, int], tuple[S, ...]] = field(default_factory=dict)
    by_qd: dict[tuple[int, int], tuple[S, ...]] = field(default_factory=dict)


def transmitted(b: ProgramBuilder[S], laws: Laws[S], slopes: bool = False) -> Wrenches[S]:
    """FM-8, and its derivatives."""
    wrenches: Wrenches[S] = Wrenches({})
    for law in laws:
        for place, action in enumerate(law.actions):
            point = law.points[action.place]
            for j in point.columns:
                _add_wrench(law, place, j, wrenches, slopes)
    return wrenches


def _add_wrench(law: Law[S], place: int, j: int, wrenches: Wrenches[S], slopes: bool) -> None:
    columns, action = law.columns, law.actions[place]
    b, point, algebra = columns.b, law.points[action.place], columns.b.algebra
    f, n = (x or zero_vector(algebra) for x in (action.force, action.torque))
    c, joint = columns.moment_point(j), columns.tree.joint(j)
    back = columns.poses[j].rotation
    arm = point.motion.x - c
    with b.step("forces", joint.name):
        force, moment = f, n + arm.cross(f)
        _add(wrenches.values, j, _turned_back(back, force, moment))
    if not slopes:
        return
    for k in law.joints:
        f_q, f_qd, n_q, n_qd = (x or zero_vector(algebra) for x in law.slopes(place, k))
        moved = point.columns.get(k, zero_vector(algebra)) - columns.moment_point_slope(j, k)
        by_q = f_q, n_q + arm.cross(f_q) + moved.cross(f)
        by_qd = f_qd, n_qd + arm.cross(f_qd)
        if k in point.columns and columns.carries(k, j):
            axis = columns.axes[k].angular
            by_q = by_q[0] - axis.cross(force), by_q[1] - axis.cross(moment)
        _add(wrenches.by_q, (j, k), _turned_back(back, *by_q))
        _add(wrenches.by_qd, (j, k), _turned_back(back, *by_qd))


def _turned_back(back: Matrix[S], force: Vector[S], moment: Vector[S]) -> tuple[S, ...]:
    return tuple(-x for part in (force, moment) for x in back.apply_transposed(part))


def _add(where: dict[Key, tuple[S, ...]], key: Key, entries: tuple[S, ...]) -> None:
    old = where.get(key)
    where[key] = entries if old is None else tuple(x + y for x, y in zip(old, entries, strict=True))
