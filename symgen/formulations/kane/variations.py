"""What a variable changes at a joint: local derivatives, from which those of the recursion start.

A variable is q_i, qd_i, tau_i, an entry of x, a parameter, or a direction in the space of all of
them (the total derivative by a parameter, along which q, qd and tau vary too).  The algebra finds
the derivatives of what a joint contributes; those of the recursion are written in `derivatives.py`.

A rotation matrix has three ways to change: C_{,x} = C (c x), for a vector c in body axes.  So all
that x changes of C^k and gamma^k, nine entries and three, is the stack of c and d, where
d = C^T gamma_{,x}: as if body k moved against its parent.  For x = q_k it is P_k^k itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Derivatives, S
from symgen.algebra.linear import Matrix, Vector, all_zero
from symgen.formulations.kane.contributions import BodyMoments, Contribution
from symgen.formulations.kane.spatial import UPPER, Inertia, Pair, mirrored
from symgen.formulations.shared import let_derivative
from symgen.program.builder import ProgramBuilder

NOTES = {
    "dKANE-1": "d_C_k x = C^T C_{,x} and d_gamma_k = C^T gamma_{,x}, body axes; s and t by q_k "
    "-- Anderson and Hsu 2002 (42), differentiated",
    "dKANE-2": "derivatives of m_k, h_k, J_k -- Anderson and Hsu 2002 (76)",
    "dKANE-3": "d drive_k",
}


@dataclass(frozen=True)
class Variable(Generic[S]):
    """The variable that is differentiated by, with its name; `seeds` has its share in every input.

    Inputs are known by their position in the list that `derivatives` were asked for.
    """

    name: str
    derivatives: Derivatives[S]
    seeds: Mapping[int, S]
    zero: S

    def of(self, entry: S) -> S:
        """The derivative of a scalar that depends on inputs."""
        shares = [
            derivative * self.seeds[position]
            for position, derivative in self.derivatives.of(entry).items()
            if position in self.seeds
        ]
        found = self.zero
        for i, share in enumerate(shares):
            found = share if i == 0 else found + share
        return found

    def of_vector(self, vector: Vector[S]) -> Vector[S]:
        """The same, entry by entry."""
        return Vector(*map(self.of, vector))

    def of_matrix(self, matrix: Matrix[S]) -> Matrix[S]:
        """The same, entry by entry."""
        return Matrix([[self.of(entry) for entry in row] for row in matrix.rows])


@dataclass(frozen=True)
class Variation(Generic[S]):
    """Derivatives of what a joint contributes; None where a stack or body does not change.

    `shift` is the stack of c and d, see the module.
    """

    shift: Pair[S] | None
    P: Pair[S] | None
    body: BodyMoments[S] | None
    qd: S
    qdd: S
    rotor: S
    drive: S
    points: Mapping[int, Vector[S]]


Changes = Mapping[int, Variation[S]]
"""joint -> what the variable changes of what it contributes; joints without are left out"""


def dependences(
    contributions: Sequence[Contribution[S]], derivatives: Derivatives[S]
) -> dict[int, frozenset[int]]:
    """Joint -> positions of the inputs that anything of what it contributes depends on."""
    return {
        one.joint.number: frozenset(
            position for entry in one.entries for position in derivatives.of(entry)
        )
        for one in contributions
    }


def variation(at: Contribution[S], by: Variable[S], b: ProgramBuilder[S]) -> Variation[S]:
    """dKANE-1 to dKANE-3 of one joint."""
    k, algebra = at.joint.number, b.algebra
    s, t = by.of_vector(at.P.angular), by.of_vector(at.P.linear)
    axes_stay = all_zero((*s, *t), algebra)
    m, h, J = by.of(at.body.m), by.of_vector(at.body.h), by.of_matrix(at.body.J)
    heavy = not all_zero((m, *h, *J.entries), algebra)
    shift = _shift(at, by, axes_stay)
    with b.step("contributions", at.joint.name):
        shift = Pair(
            let_derivative(b, f"C_{k}", shift.angular, by.name, "dKANE-1"),
            let_derivative(b, f"gamma_{k}", shift.linear, by.name, "dKANE-1"),
        )
        if heavy:
            h = let_derivative(b, f"h_{k}", h, by.name, "dKANE-2")
            J = let_derivative(b, f"J_{k}", J, by.name, "dKANE-2")
        drive = let_derivative(b, f"drive_{k}", by.of(at.drive), by.name, "dKANE-3")
    return Variation(
        shift=None if all_zero(shift.entries, algebra) else shift,
        P=None if axes_stay else Pair(s, t),
        body=BodyMoments(m, h, J) if heavy else None,
        qd=by.of(at.qd),
        qdd=by.of(at.qdd),
        rotor=by.of(at.rotor),
        drive=drive,
        points={i: by.of_vector(point) for i, point in at.points.items()},
    )


def _shift(at: Contribution[S], by: Variable[S], axes_stay: bool) -> Pair[S]:
    """The stack of c and d."""
    turning = at.Q.undo(_turning(at.E.matrix, by))
    if axes_stay:
        turning = turning + at.P.angular * by.of(at.x)
    else:
        turning = turning + _turning(at.Q.matrix, by)
    slide = by.of_vector(at.l) + turning.cross(at.l)
    return Pair(turning, at.turned_out(by.of_vector(at.u)) + slide)


def _turning(rotation: Matrix[S], by: Variable[S]) -> Vector[S]:
    """c of R_{,x} = R (c x), in the axes behind R."""
    change = rotation.transposed @ by.of_matrix(rotation)
    return Vector(change[2, 1], change[0, 2], change[1, 0])


# -- what the change of C and gamma does to what is carried ------------------------------------


def changed_out(shift: Pair[S], out: Pair[S]) -> Pair[S]:
    """((S^k)^T)_{,x} times an acceleration, which arrived as `out`."""
    c, d = shift.angular, shift.linear
    return Pair(out.angular.cross(c), out.linear.cross(c) + out.angular.cross(d))


def changed_effort(shift: Pair[S], effort: Pair[S]) -> Pair[S]:
    """x with S x = S_{,x} times the moment and force `effort`."""
    c, d = shift.angular, shift.linear
    moment = c.cross(effort.angular) + d.cross(effort.linear)
    return Pair(moment, c.cross(effort.linear))


def changed_inertia(shift: Pair[S], inertia: Inertia[S]) -> Inertia[S]:
    """X with S X S^T = S_{,x} I S^T + S I (S^T)_{,x}."""
    c, d = shift.angular, shift.linear
    A, B, D = inertia.A, inertia.B, inertia.D
    turned_A = _crossed(c, A) + _crossed(d, B.transposed)
    turned_D = _crossed(c, D)
    B_turned = _crossed(c, B) + _crossed(d, D) + _crossed(c, B.transposed).transposed
    return Inertia(_with_transpose(turned_A), B_turned, _with_transpose(turned_D))


def _crossed(v: Vector[S], x: Matrix[S]) -> Matrix[S]:
    """v x (.), column by column."""
    columns = [tuple(v.cross(Vector(*column))) for column in x.transposed.rows]
    return Matrix(columns).transposed


def _with_transpose(x: Matrix[S]) -> Matrix[S]:
    return mirrored({(i, k): x[i, k] + x[k, i] for i, k in UPPER})
