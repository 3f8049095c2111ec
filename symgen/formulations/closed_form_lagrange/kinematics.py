"""Poses of the links and their derivatives with respect to the joints, as 4x4 matrices.

See `equations.py` for the notation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, inner
from symgen.kinematics.bodies import Body
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder


class Kinematics(Generic[S]):
    """A_j and its derivatives, made when they are first asked for.

    Every entry is written into the program once, as a step of the joint that it belongs to.
    """

    def __init__(self, tree: KinematicTree[S], b: ProgramBuilder[S], q: Sequence[S]) -> None:
        self.tree, self.b, self.q = tree, b, q
        self._T: dict[int, Matrix[S]] = {}
        self._A: dict[int, Matrix[S]] = {}
        self._dA: dict[tuple[int, int], Matrix[S]] = {}
        self._ddA: dict[tuple[int, int, int], Matrix[S]] = {}
        self._dA_I: dict[tuple[int, int], Matrix[S]] = {}
        for joint in tree.joints:
            self._transform(joint.number)

    def _transform(self, j: int) -> None:
        """Write T_j and A_j: LG-1, LG-2."""
        joint = self.tree.joint(j)
        with self.b.step("transforms", joint.name):
            T = joint.transform(self.q[j - 1], self.b.algebra).homogeneous(self.b.algebra)
            self._T[j] = self.b.let(f"T_{j}", T, "LG-1")
            A = self._A[joint.parent] @ self._T[j] if joint.parent != BASE else self._T[j]
            self._A[j] = self.b.let(f"A_{j}", A, "LG-2")

    def A(self, j: int) -> Matrix[S]:
        """0T_j"""
        return self._A[j]

    def dA(self, j: int, k: int) -> Matrix[S]:
        """LG-3: d 0T_j / dq_k, for k on the path to j."""
        if (j, k) not in self._dA:
            parent = self.tree.joint(j).parent
            if k == j:
                value = self._from_parent(j, self._joint_derivative(j, 1))
            else:
                value = self.dA(parent, k) @ self._T[j]
            with self.b.step("first derivatives", self.tree.joint(j).name):
                self._dA[j, k] = self.b.let(f"dA_{j}_{k}", value, "LG-3")
        return self._dA[j, k]

    def ddA(self, j: int, k: int, m: int) -> Matrix[S]:
        """LG-4: d2 0T_j / dq_k dq_m, for k <= m on the path to j."""
        if (j, k, m) not in self._ddA:
            parent = self.tree.joint(j).parent
            if k == m == j:
                value = self._from_parent(j, self._joint_derivative(j, 2))
            elif m == j:
                value = self.dA(parent, k) @ self._joint_derivative(j, 1)
            else:
                value = self.ddA(parent, k, m) @ self._T[j]
            with self.b.step("second derivatives", self.tree.joint(j).name):
                self._ddA[j, k, m] = self.b.let(f"ddA_{j}_{k}_{m}", value, "LG-4")
        return self._ddA[j, k, m]

    def dA_I(self, j: int, k: int) -> Matrix[S]:
        """Return d 0T_j / dq_k I_j: LG-5."""
        if (j, k) not in self._dA_I:
            value = self.dA(j, k) @ self.tree.joint(j).body.pseudo_inertia(self.b.algebra)
            with self.b.step("first derivatives", self.tree.joint(j).name):
                self._dA_I[j, k] = self.b.let(f"dA_I_{j}_{k}", value, "LG-5")
        return self._dA_I[j, k]

    def _joint_derivative(self, j: int, order: int) -> Matrix[S]:
        return self.tree.joint(j).transform_derivative(self.q[j - 1], order, self.b.algebra)

    def _from_parent(self, j: int, matrix: Matrix[S]) -> Matrix[S]:
        parent = self.tree.joint(j).parent
        return matrix if parent == BASE else self._A[parent] @ matrix


def moved(dA: Matrix[S], point: Vector[S]) -> Vector[S]:
    """dA r for the point r: how fast it moves, in base axes."""
    return Vector(*(inner(row[:3], tuple(point)) + row[3] for row in dA.rows[:3]))


def weight(gravity: Vector[S], dA: Matrix[S], body: Body[S]) -> S:
    """m g . dA r for the centre of mass r; by first moments where r would be a quotient."""
    if not body.pieces:
        return gravity.dot(moved(dA, body.com)) * body.mass
    moments = tuple(body.moments)
    rows = dA.rows[:3]
    return gravity.dot(Vector(*(inner(row[:3], moments) + row[3] * body.mass for row in rows)))


def rotation_axis(dA: Matrix[S], A: Matrix[S]) -> Vector[S]:
    """The vector of the skew matrix (dR/dq) R^T: angular velocity per unit of joint velocity."""

    def entry(i: int, k: int) -> S:
        return inner(dA.rows[i][:3], A.rows[k][:3])

    return Vector(entry(2, 1), entry(0, 2), entry(1, 0))
