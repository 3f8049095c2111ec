"""What a variable changes at a joint: local derivatives, from which those of the recursion start.

A variable is q_i, qd_i, tau_i, an entry of x, a parameter, or a direction in the space of all of
them (the total derivative by a parameter, along which q, qd and tau vary too).  The algebra finds
the derivatives of what a joint contributes; those of the recursion are written in `derivatives.py`.

A rotation matrix has three ways to change: the derivative of C v by a variable z is C (turn x v),
for a vector `turn` in body axes and any constant v.  So all that z changes of C^k and gamma^k, nine
entries and three, is the stack of `turn` and shift = C^T gamma_{,z}: a displacement of body k
against its parent.  For z = q_k it is P_k^k itself.  In the code they are turn_k_dz, shift_k_dz.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Derivatives, S
from symgen.algebra.linear import Matrix, Vector, all_zero
from symgen.algebra.turns import UPPER, mirrored
from symgen.formulations.kane.contributions import BodyMoments, Contribution
from symgen.formulations.kane.spatial import Inertia, Pair, let_pair
from symgen.formulations.shared import let_symmetric
from symgen.program.builder import ProgramBuilder

NOTES = {
    "dKANE-1": "turn_k_dz x v = C^T C_{,z} v for every v, shift_k_dz = C^T gamma_{,z}, body axes; "
    "s and t for z = q_k -- Anderson, Hsu 2002 (42), differentiated",
    "dKANE-2": "derivatives of m_k, h_k, J_k -- Anderson, Hsu 2002 (76)",
    "dKANE-3": "d resistance_k",
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

    `displacement` is the stack of turn and shift, see the module.
    """

    displacement: Pair[S] | None
    P: Pair[S] | None
    body: BodyMoments[S] | None
    qd: S
    qdd: S
    rotor: S
    resistance: S
    points: Mapping[int, Vector[S]]


Changes = Mapping[int, Variation[S]]
"""joint -> what the variable changes of what it contributes, for every joint"""


def unchanged(zero: S) -> Variation[S]:
    """The variation of a joint that the variable does not touch."""
    return Variation(None, None, None, zero, zero, zero, zero, {})


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
    displacement = _displacement(at, by, axes_stay)
    with b.step("contribution derivatives", at.joint.name), b.variant(f"_d{by.name}"):
        displacement = let_pair(b, (f"turn_{k}", f"shift_{k}"), displacement, "dKANE-1")
        if heavy:
            h = b.let(f"d_h_{k}", h, "dKANE-2")
            J = let_symmetric(b, f"d_J_{k}", J, "dKANE-2")
        resistance = b.let(f"d_resistance_{k}", by.of(at.resistance), "dKANE-3")
    return Variation(
        displacement=None if all_zero(displacement.entries, algebra) else displacement,
        P=None if axes_stay else Pair(s, t),
        body=BodyMoments(m, h, J) if heavy else None,
        qd=by.of(at.qd),
        qdd=by.of(at.qdd),
        rotor=by.of(at.rotor),
        resistance=resistance,
        points={i: by.of_vector(point) for i, point in at.points.items()},
    )


def _displacement(at: Contribution[S], by: Variable[S], axes_stay: bool) -> Pair[S]:
    """The stack of turn and shift."""
    turn = at.Q.undo(_turn(at.E.matrix, by))
    turn = turn + (at.P.angular * by.of(at.x) if axes_stay else _turn(at.Q.matrix, by))
    slide = by.of_vector(at.l) + turn.cross(at.l)
    return Pair(turn, at.turned_out(by.of_vector(at.u)) + slide)


def _turn(rotation: Matrix[S], by: Variable[S]) -> Vector[S]:
    """The turn of a rotation R, in the axes behind R."""
    change = rotation.transposed @ by.of_matrix(rotation)
    return Vector(change[2, 1], change[0, 2], change[1, 0])


# -- what the change of C and gamma does to what is carried ------------------------------------


def changed_vector(by: Pair[S], out: Vector[S]) -> Vector[S]:
    """((C^k)^T)_{,z} times a vector of the parent, which arrived as `out`."""
    return out.cross(by.angular)


def changed_out(by: Pair[S], out: Pair[S]) -> Pair[S]:
    """((S^k)^T)_{,z} times an acceleration of the parent, which arrived as `out`."""
    turn, shift = by.angular, by.linear
    return Pair(out.angular.cross(turn), out.linear.cross(turn) + out.angular.cross(shift))


def changed_effort(by: Pair[S], effort: Pair[S]) -> Pair[S]:
    """The stack y with S y = S_{,z} times the moment and force `effort`."""
    turn, shift = by.angular, by.linear
    moment = turn.cross(effort.angular) + shift.cross(effort.linear)
    return Pair(moment, turn.cross(effort.linear))


def changed_inertia(by: Pair[S], inertia: Inertia[S]) -> Inertia[S]:
    """The matrix Y with S Y S^T = S_{,z} I S^T + S I (S^T)_{,z}."""
    turn, shift = by.angular, by.linear
    A, B, D = inertia.A, inertia.B, inertia.D
    turned_A = _crossed(turn, A) + _crossed(shift, B.transposed)
    turned_D = _crossed(turn, D)
    turned_B = _crossed(turn, B) + _crossed(shift, D) + _crossed(turn, B.transposed).transposed
    return Inertia(_with_transpose(turned_A), turned_B, _with_transpose(turned_D))


def _crossed(v: Vector[S], x: Matrix[S]) -> Matrix[S]:
    """v x (.), column by column."""
    columns = [tuple(v.cross(Vector(*column))) for column in x.transposed.rows]
    return Matrix(columns).transposed


def _with_transpose(x: Matrix[S]) -> Matrix[S]:
    return mirrored({(i, k): x[i, k] + x[k, i] for i, k in UPPER})
