"""Derivatives of the closed form, by direct differentiation of its own terms (Xiang 2009, (11)).

Line beside line with `equations.py`: the functions bear its names with ``d_`` in front and go
through the joints in the same order; ``dLG-6`` is the derivative of ``LG-6``.  Only joints on one
path have anything to do with each other.  This takes fewer operations than direct differentiation
of the lines: 1,716 in place of 3,029 on a branched tree, 5,292 in place of 10,446 on a ball.

Notation (beside that of `equations.py`; all joints named stand on one path, s is the one that is
differentiated by, j runs over the links that all of them carry)

=================  ======================  =======  ==============================================
paper              code                    shape    meaning
=================  ======================  =======  ==============================================
d3 0T_j            d_ddA_j_k_m_dq_s        4x4      third derivative of a pose, k <= m <= s
--                 d_dA_I_j_i_dq_s         4x4      d2A_j/dq_i dq_s I_j, i <= s
--                 D3_i_k_m_s              scalar   third derivatives by first ones, see dLG-7
--                 D2_i_s_k_m              scalar   second derivatives by second ones, see dLG-7
d M_ik / dq_s      d_M_i_k_dq_s            scalar   derivative of (7)
--                 d_D_i_k_m_dq_s          scalar   derivative of the Christoffel symbol D_i_k_m
d V_i / dq_s       d_V_i_dq_s, d_V_i_dqd_s scalar   derivatives of (8)
--                 d_G_i_dq_s              scalar   derivative of the gravity torque
--                 d_load_i_dq_s           scalar   derivative of the torque of the loads
d tau_i / dq_s     d_tau_i_dq_s            scalar   (11)
=================  ======================  =======  ==============================================

Three things save work and change no result:

- Derivatives commute: D3 is symmetric in k, m and s, D2 in its two pairs, and each is computed
  once.  The derivative of the mass matrix needs no trace of its own.
- A joint moves everything that it carries as one piece, so that M_ik and D_ikm do not depend on q_s
  where s is the first of all these joints or stands above them.
- The axis of joint i turns with the joints above it only; for all others the moments of the loads
  drop out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, total, trace_of_product
from symgen.formulations.closed_form_lagrange.equations import (
    bias_torques,
    christoffel_symbols,
    mass_matrix_entries,
    torques,
    triples_on_one_path,
)
from symgen.formulations.closed_form_lagrange.kinematics import (
    Kinematics,
    moved,
    rotation_axis,
    weight,
)
from symgen.formulations.joint_terms import with_drive_derivatives, with_joint_terms
from symgen.formulations.shared import let_derivative, square, write_matrix
from symgen.formulations.state import State, Wrench
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "dLG-4": "d3A_j/dq_k dq_m dq_s: LG-3 differentiated twice more",
    "dLG-5": "d2A_j/dq_i dq_s I_j: derivative of LG-5",
    "dLG-6": "dM_ik/dq_s = D_iks + D_kis: derivative of LG-6 -- Xiang 2009 (7), (11)",
    "dLG-7": "dD_ikm/dq_s = D3_ikms + D2_iskm: derivative of LG-7 -- Xiang 2009 (8), (11), with "
    "D3_ikms = sum_j tr(d3A_j/dq_k dq_m dq_s I_j (dA_j/dq_i)^T), "
    "D2_iskm = sum_j tr(d2A_j/dq_i dq_s I_j (d2A_j/dq_k dq_m)^T)",
    "dLG-8": "dV_i/dq_s = sum_k sum_m dD_ikm/dq_s qd_k qd_m, dV_i/dqd_s = 2 sum_k D_iks qd_k: "
    "derivatives of LG-8 -- Xiang 2009 (8), (11)",
    "dLG-9": "dgravity_i/dq_s = -sum_j m_j g . d2A_j/dq_i dq_s r_j -- Xiang 2009 (9), (11)",
    "dLG-10": "dload_i/dq_s = -f . d2A_j/dq_i dq_s r - h . daxis_i/dq_s -- Xiang 2009 (10), (11)",
    "dLG-11": "dtau_i/dq_s = sum_k dM_ik/dq_s qdd_k + dV_i/dq_s + dgravity_i/dq_s + dload_i/dq_s "
    "-- Xiang 2009 (11)",
}

Pairs = dict[tuple[int, int], S]
"""(i, s) -> derivative of what belongs to joint i with respect to joint s; what is left out is 0"""


class KinematicDerivatives(Kinematics[S]):
    """Derivatives of what `Kinematics` holds, and the traces made of them; joints in any order.

    Every one of them is made when it is first asked for, and written once.
    """

    def __init__(self, tree: KinematicTree[S], b: ProgramBuilder[S], q: Sequence[S]) -> None:
        super().__init__(tree, b, q)
        self._d_ddA: dict[tuple[int, int, int, int], Matrix[S]] = {}
        self._d_dA_I: dict[tuple[int, int, int], Matrix[S]] = {}
        self._D3: dict[tuple[int, int, int, int], S] = {}
        self._D2: dict[tuple[int, int, int, int], S] = {}

    def d_dA(self, j: int, k: int, s: int) -> Matrix[S]:
        """Derivative of LG-3, which is LG-4."""
        return self.ddA(j, min(k, s), max(k, s))

    def d_ddA(self, j: int, *joints: int) -> Matrix[S]:
        """dLG-4, for three joints on the path to j."""
        k, m, s = sorted(joints)
        if (j, k, m, s) not in self._d_ddA:
            parent = self.tree.joint(j).parent
            if k == m == s == j:
                value = self._from_parent(j, self._joint_derivative(j, 3))
            elif m == s == j:
                value = self.dA(parent, k) @ self._joint_derivative(j, 2)
            elif s == j:
                value = self.ddA(parent, k, m) @ self._joint_derivative(j, 1)
            else:
                value = self.d_ddA(parent, k, m, s) @ self._T[j]
            with self.b.step("third derivatives", self.tree.joint(j).name):
                name = f"ddA_{j}_{k}_{m}"
                self._d_ddA[j, k, m, s] = let_derivative(self.b, name, value, f"q_{s}", "dLG-4")
        return self._d_ddA[j, k, m, s]

    def d_dA_I(self, j: int, i: int, s: int) -> Matrix[S]:
        """dLG-5"""
        i, s = sorted((i, s))
        if (j, i, s) not in self._d_dA_I:
            value = self.ddA(j, i, s) @ self.tree.joint(j).body.pseudo_inertia(self.b.algebra)
            with self.b.step("second derivatives", self.tree.joint(j).name):
                name = f"dA_I_{j}_{i}"
                self._d_dA_I[j, i, s] = let_derivative(self.b, name, value, f"q_{s}", "dLG-5")
        return self._d_dA_I[j, i, s]

    def D3(self, i: int, *joints: int) -> S:
        """The part of dLG-7 with a third derivative."""
        k, m, s = sorted(joints)
        if (i, k, m, s) not in self._D3:
            terms = [
                trace_of_product(self.dA_I(j, i), self.d_ddA(j, k, m, s).transposed)
                for j in self.tree.carried_by(i, k, m, s)
            ]
            with self.b.step("Christoffel symbols by q", self.tree.joint(i).name):
                name = f"D3_{i}_{k}_{m}_{s}"
                self._D3[i, k, m, s] = self.b.let(name, total(terms, self.b.algebra), "dLG-7")
        return self._D3[i, k, m, s]

    def D2(self, *pairs: tuple[int, int]) -> S:
        """The part of dLG-7 with two second derivatives."""
        (i, s), (k, m) = sorted((min(pair), max(pair)) for pair in pairs)
        if (i, s, k, m) not in self._D2:
            terms = [
                trace_of_product(self.d_dA_I(j, i, s), self.ddA(j, k, m).transposed)
                for j in self.tree.carried_by(i, s, k, m)
            ]
            with self.b.step("Christoffel symbols by q", self.tree.joint(i).name):
                name = f"D2_{i}_{s}_{k}_{m}"
                self._D2[i, s, k, m] = self.b.let(name, total(terms, self.b.algebra), "dLG-7")
        return self._D2[i, s, k, m]


def joints_on_one_path(tree: KinematicTree[S], *joints: int) -> list[int]:
    """All joints that stand on one path with these, which do so themselves; in order."""
    last = max(joints)
    return [*tree.path(last)[:-1], *tree.carried_by(last)]


def joints_below(tree: KinematicTree[S], *joints: int) -> list[int]:
    """Those of `joints_on_one_path` that stand below the first of these."""
    return [s for s in joints_on_one_path(tree, *joints) if s > min(joints)]


def d_mass_matrix_entries(
    symbols: Mapping[tuple[int, int, int], S], kinematics: KinematicDerivatives[S]
) -> dict[tuple[int, int, int], S]:
    """dLG-6: (i, k, s) -> dM_ik/dq_s, of which `symbols` hold the halves."""
    tree, b = kinematics.tree, kinematics.b
    entries: dict[tuple[int, int, int], S] = {}
    for k in range(1, tree.n + 1):
        for i in tree.path(k):
            for s in joints_below(tree, i, k):
                value = _symbol(symbols, i, k, s, b) + _symbol(symbols, k, i, s, b)
                with b.step("mass matrix by q", tree.joint(i).name):
                    value = let_derivative(b, f"M_{i}_{k}", value, f"q_{s}", "dLG-6")
                entries[i, k, s] = entries[k, i, s] = value
    return entries


def _symbol(
    symbols: Mapping[tuple[int, int, int], S], i: int, k: int, m: int, b: ProgramBuilder[S]
) -> S:
    return symbols.get((i, min(k, m), max(k, m)), b.algebra.zero)


def d_christoffel_symbols(
    kinematics: KinematicDerivatives[S],
) -> dict[tuple[int, int, int, int], S]:
    """dLG-7: (i, k, m, s) -> dD_ikm/dq_s with k <= m, all four on one path."""
    tree, b = kinematics.tree, kinematics.b
    symbols: dict[tuple[int, int, int, int], S] = {}
    for i, k, m in triples_on_one_path(tree):
        for s in joints_below(tree, i, k, m):
            value = kinematics.D3(i, k, m, s) + kinematics.D2((i, s), (k, m))
            with b.step("Christoffel symbols by q", tree.joint(i).name):
                value = let_derivative(b, f"D_{i}_{k}_{m}", value, f"q_{s}", "dLG-7")
            if not b.algebra.is_zero(value):
                symbols[i, k, m, s] = value
    return symbols


def d_velocity_torques(
    d_symbols: Mapping[tuple[int, int, int, int], S],
    qd: Sequence[S],
    kinematics: KinematicDerivatives[S],
) -> Pairs[S]:
    """dLG-8 by q"""
    tree, b = kinematics.tree, kinematics.b
    squares: dict[tuple[int, int], list[S]] = {}
    products: dict[tuple[int, int], list[S]] = {}
    for (i, k, m, s), value in d_symbols.items():
        kind = squares if k == m else products
        kind.setdefault((i, s), []).append(value * (qd[k - 1] * qd[m - 1]))
    torques: Pairs[S] = {}
    for joint in tree.joints:
        i = joint.number
        for s in joints_on_one_path(tree, i):
            half = total(products.get((i, s), []), b.algebra)
            value = total(squares.get((i, s), []), b.algebra) + (half + half)
            with b.step("velocity torques by q", joint.name):
                torques[i, s] = let_derivative(b, f"V_{i}", value, f"q_{s}", "dLG-8")
    return torques


def d_velocity_torques_by_velocity(
    symbols: Mapping[tuple[int, int, int], S], qd: Sequence[S], kinematics: KinematicDerivatives[S]
) -> Pairs[S]:
    """dLG-8 by qd"""
    tree, b = kinematics.tree, kinematics.b
    torques: Pairs[S] = {}
    for joint in tree.joints:
        i = joint.number
        for s in joints_on_one_path(tree, i):
            terms = [
                _symbol(symbols, i, k, s, b) * qd[k - 1] for k in joints_on_one_path(tree, i, s)
            ]
            half = total(terms, b.algebra)
            with b.step("velocity torques by qd", joint.name):
                torques[i, s] = let_derivative(b, f"V_{i}", half + half, f"qd_{s}", "dLG-8")
    return torques


def d_gravity_torques(kinematics: KinematicDerivatives[S]) -> Pairs[S]:
    """dLG-9, symmetric: the second derivatives of the potential energy"""
    tree, b = kinematics.tree, kinematics.b
    torques: Pairs[S] = {}
    for joint in tree.joints:
        i = joint.number
        for s in tree.carried_by(i):
            terms: list[S] = []
            for j in tree.carried_by(i, s):
                terms.append(-weight(tree.gravity, kinematics.d_dA(j, i, s), tree.joint(j).body))
            value = total(terms, b.algebra)
            with b.step("gravity by q", joint.name):
                value = let_derivative(b, f"G_{i}", value, f"q_{s}", "dLG-9")
            torques[i, s] = torques[s, i] = value
    return torques


def d_load_torques(kinematics: KinematicDerivatives[S], loads: Sequence[Wrench[S]]) -> Pairs[S]:
    """dLG-10"""
    tree, b = kinematics.tree, kinematics.b
    torques: Pairs[S] = {}
    for joint in tree.joints:
        i = joint.number
        for s in joints_on_one_path(tree, i):
            terms: list[S] = []
            for place, wrench in zip(tree.loads, loads, strict=True):
                if {i, s} <= set(tree.path(place.body)):
                    d_dA = kinematics.d_dA(place.body, i, s)
                    terms.append(-wrench.force.dot(moved(d_dA, place.point)))
                    if s < i:
                        d_axis = d_rotation_axis(kinematics, place.body, i, s)
                        terms.append(-wrench.moment.dot(d_axis))
            with b.step("loads by q", joint.name):
                value = total(terms, b.algebra)
                torques[i, s] = let_derivative(b, f"load_{i}", value, f"q_{s}", "dLG-10")
    return torques


def d_rotation_axis(kinematics: KinematicDerivatives[S], j: int, i: int, s: int) -> Vector[S]:
    """Derivative of the axis of joint i, found from link j: the vector of a skew matrix again."""
    first = rotation_axis(kinematics.d_dA(j, i, s), kinematics.A(j))
    return first + rotation_axis(kinematics.dA(j, i), kinematics.dA(j, s))


def d_bias_torques(
    symbols: Mapping[tuple[int, int, int], S],
    kinematics: KinematicDerivatives[S],
    state: State[S],
) -> tuple[Pairs[S], Pairs[S]]:
    """V + gravity + loads, by q and by qd"""
    d_symbols = d_christoffel_symbols(kinematics)
    velocity = d_velocity_torques(d_symbols, state.qd, kinematics)
    gravity = d_gravity_torques(kinematics)
    loads = d_load_torques(kinematics, state.loads)
    by_q = {pair: value + gravity[pair] + loads[pair] for pair, value in velocity.items()}
    return by_q, d_velocity_torques_by_velocity(symbols, state.qd, kinematics)


def d_torques(
    d_M: Mapping[tuple[int, int, int], S],
    d_bias: Pairs[S],
    qdd: Sequence[S],
    kinematics: KinematicDerivatives[S],
) -> Pairs[S]:
    """dLG-11"""
    tree, b = kinematics.tree, kinematics.b
    torques: Pairs[S] = {}
    for joint in tree.joints:
        i = joint.number
        for s in joints_on_one_path(tree, i):
            terms = [d_M[i, k, s] * qdd[k - 1] for k in range(1, tree.n + 1) if (i, k, s) in d_M]
            with b.step("torque by q", joint.name):
                value = total([*terms, d_bias[i, s]], b.algebra)
                torques[i, s] = let_derivative(b, f"tau_{i}", value, f"q_{s}", "dLG-11")
    return torques


def inverse_dynamics_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """LG-11 with dLG-11; by qd the bias is left of it, by qdd the mass matrix."""
    kinematics = KinematicDerivatives(tree, b, state.q)
    M = mass_matrix_entries(kinematics)
    symbols = christoffel_symbols(kinematics)
    tau = torques(M, bias_torques(symbols, kinematics, state), state.qdd, kinematics)
    b.output("tau", (tree.n,), with_joint_terms(tree, b, state, tau))
    d_M = d_mass_matrix_entries(symbols, kinematics)
    d_bias, by_qd = d_bias_torques(symbols, kinematics, state)
    by_q = d_torques(d_M, d_bias, state.qdd, kinematics)
    slopes = (square(tree, by_q), square(tree, by_qd), M)
    slopes = with_drive_derivatives(tree, b, state, slopes)
    for by, rows in zip(("q", "qd", "qdd"), slopes, strict=True):
        write_matrix(b, f"dtau_d{by}", rows, tree.n)
