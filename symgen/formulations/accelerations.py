"""Accelerations from a mass matrix and a bias, whatever formulation gives them.

A formulation brings M, the bias and, for derivatives, those of its inverse
dynamics at the solution.  With tau(q, qd, qdd) the inverse dynamics and qdd the solution,
tau(q, qd, qdd) = tau holds whatever q, qd and tau are, so that (Carpentier, Mansard 2018)

    d qdd/dq = -M^-1 d tau/dq,  d qdd/dqd = -M^-1 d tau/dqd,  d qdd/d tau = M^-1

In hybrid dynamics these are the rows of the free joints f, and a prescribed joint p has
d tau_p/dx of the inverse dynamics plus sum_f M_pf d qdd_f/dx.

=========  ==============  ========================================================================
symbol     code            meaning
=========  ==============  ========================================================================
M          mass            entries of the mass matrix, with the rotors
b          bias_j          torques with all joints at their given accelerations, the free ones at 0
--         qdd_f, tau_f    acceleration sought, torque given
--         qdd_p, tau_p    acceleration given, torque sought: y_p
d qdd/dx   d_qdd_f_dx      solutions with M, x = q_i, qd_i or qdd_p
M^-1       inverse_f_g     d qdd_f/d tau_g
d tau_p/dx d_y_p_dx        of a prescribed joint
=========  ==============  ========================================================================

M x = b is solved by the factorisation M = L^T D L, leaves first.  Two joints have an entry in M
only if one carries the other, and eliminating leaves before what carries them keeps it so: L has
the sparsity of the tree, no entry arises where M has none (Featherstone 2008, section 6.5).  The
pivots D are what the articulated-body recursion divides by, too.

Joint i is before k, and k outboard of i, where i stands on the path from the base to k; only the
joints that are eliminated count.

=======================  ===================  ==================================================
paper                    code                 meaning
=======================  ===================  ==================================================
M (H in the book)        mass                 entries by pair of joints, M[k, i] for i before k
D                        pivot_k              diagonal, M[k, k] after elimination
--                       inverse_pivot_k      1 / D_k
D L                      U_k_i                what is left of M[k, i] when k is eliminated
L                        L_k_i                multipliers, i before k; L_kk = 1
L^T y = b                reduced_x_k          y
L x = D^-1 y             x_k                  the solution, under the name that the caller gives
M^-1                     inverse_k_i          its entries with i at most k; it is symmetric
--                       L_k_i_past_a         what of x_i, i up to a, arrives at x_k if y is 0 from
                                              a to k: the same for many right sides
=======================  ===================  ==================================================
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic

from symgen.algebra.interface import S
from symgen.formulations.shared import columns_of_joints, let_derivative, pivot_results
from symgen.formulations.state import NoSolutionError, State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder, Results

NOTES = {
    "FD-1": "tau_p = bias_p + sum_f M_pf qdd_f: torque of a prescribed joint; the accelerations "
    "of the free ones solve sum_f M_gf qdd_f = tau_g - bias_g -- Walker, Orin 1982, method 1",
    "dFD-1": "d tau_p/dx = (d tau_p/dx of the inverse dynamics) + sum_f M_pf d qdd_f/dx "
    "-- Carpentier, Mansard 2018",
    "LTDL-1": "D_k = M_kk - sum_c L_ck U_ck, c outboard of k: pivot of joint k -- Featherstone "
    "2008, section 6.5",
    "LTDL-2": "U_ki = M_ki - sum_c L_ck U_ci, c outboard of k; L_ki = U_ki / D_k, i before k "
    "-- Featherstone 2008, section 6.5",
    "LTDL-3": "L^T y = b, leaves first: y_i = b_i - sum_k L_ki y_k, k outboard of i "
    "-- Featherstone 2008, section 6.5",
    "LTDL-4": "L x = D^-1 y, base first: x_k = y_k / D_k - sum_i L_ki x_i, i before k "
    "-- Featherstone 2008, section 6.5",
    "LTDL-5": "entries of M^-1, base first: M^-1_kk = 1 / D_k - sum_i L_ki M^-1_ik and for j < k "
    "M^-1_kj = -sum_i L_ki M^-1_ij, i before k: L M^-1 = D^-1 L^-T, right of its diagonal",
    "LTDL-6": "x_k = -sum_i L_ki,a x_i, i up to a, where y is 0 from a to k; L_ki,a = L_ki "
    "- sum_j L_kj L_ji,a, j between a and k",
}

SIDES = 2
"""Right sides per joint of derivatives: by q and by qd."""

Entries = Mapping[tuple[int, int], S]
"""Entries of a matrix by pair of joints; missing ones are 0."""


@dataclass(frozen=True)
class Solution(Generic[S]):
    """Accelerations of all joints, and what they came from.

    `mass` has the rotors in it; of its two triangles both are there.  `y` holds for every joint
    what was not given: its acceleration, or its torque where it is prescribed.
    """

    factors: Elimination[S]
    mass: Entries[S]
    qdd: tuple[S, ...]
    y: tuple[S, ...]

    def with_shortcuts(self, b: ProgramBuilder[S]) -> Solution[S]:
        """Add LTDL-6 where it pays, for derivatives by q and by qd."""
        return replace(self, factors=self.factors.with_shortcuts(b, SIDES))

    @property
    def free(self) -> tuple[int, ...]:
        """Numbers of the free joints."""
        return self.factors.numbers


def solution_of(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    bias: Sequence[S],
    mass: Entries[S],
    free: Sequence[int],
) -> Solution[S]:
    """FD-1: the free joints' accelerations, then the prescribed joints' torques."""
    factors = eliminate(tree, b, mass, free)
    solved = factors.solve(b, {f: state.tau[f - 1] - bias[f - 1] for f in free}, "qdd")
    qdd, y = list(state.qdd), list(bias)
    for joint in tree.joints:
        j = joint.number
        if j in free:
            qdd[j - 1] = y[j - 1] = solved.get(j, b.algebra.zero)
    for joint in tree.joints:
        j = joint.number
        if j not in free:
            with b.step("torque", joint.name):
                y[j - 1] = b.let(f"y_{j}", bias[j - 1] + carried_over(mass, j, solved, b), "FD-1")
    return Solution(factors, mass, tuple(qdd), tuple(y))


def carried_over(mass: Entries[S], j: int, x: Mapping[int, S], b: ProgramBuilder[S]) -> S:
    """sum_f M_jf x_f"""
    value = b.algebra.zero
    for f, entry in x.items():
        if (j, f) in mass:
            value = value + mass[j, f] * entry
    return value


def pivots_of(solution: Solution[S]) -> Results[S]:
    """Return the hidden results, one entry per free joint."""
    pivots, mass = solution.factors.pivots, solution.mass
    return pivot_results([pivots[f] for f in solution.free], [mass[f, f] for f in solution.free])


def responses(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    solution: Solution[S],
    names: tuple[str, str],
    slopes: tuple[Sequence[Sequence[S]], Sequence[Sequence[S]]],
) -> Results[S]:
    """Write the derivatives of y by q, qd and what is given; y, these, and the hidden results.

    `names` are those of the result and of what is given, `slopes` d tau/dq and d tau/dqd of the
    inverse dynamics at the solution, (n, n) each, with joint terms.
    """
    result, argument = names
    results: dict[str, Sequence[S]] = {result: solution.y}
    for by, rows in zip(("q", "qd"), slopes, strict=True):
        columns = []
        for i in range(1, tree.n + 1):
            column = {j: row[i - 1] for j, row in enumerate(rows, start=1)}
            columns.append(response(tree, solution, b, column, f"{by}_{i}"))
        results[f"d{result}_d{by}"] = columns_of_joints(tree, columns)
    last = response_to_given(tree, solution, b)
    results[f"d{result}_d{argument}"] = columns_of_joints(tree, last)
    return {**results, **pivots_of(solution)}


def response(
    tree: KinematicTree[S],
    solution: Solution[S],
    b: ProgramBuilder[S],
    torques: Mapping[int, S],
    by: str,
) -> dict[int, S]:
    """dFD-1: d y/dx by joint, from d tau/dx of the inverse dynamics at the solution."""
    with b.variant(f"_d{by}"):
        rhs = {f: -torques[f] for f in solution.free if f in torques}
        d_qdd = solution.factors.solve(b, rhs, "d_qdd")
    y = dict(d_qdd)
    for joint in tree.joints:
        p = joint.number
        if p not in solution.free:
            direct = torques.get(p, b.algebra.zero)
            value = direct + carried_over(solution.mass, p, d_qdd, b)
            with b.step("torque derivatives", joint.name):
                y[p] = let_derivative(b, f"y_{p}", value, by, "dFD-1")
    return y


def response_to_given(
    tree: KinematicTree[S], solution: Solution[S], b: ProgramBuilder[S]
) -> list[dict[int, S]]:
    """d y/dx by the columns of x: M^-1, and where joints are prescribed what follows from M.

    d qdd_f/d tau_g is the inverse of M_fg, d tau_p/d qdd_r = M_pr - sum_fg M_pf (M^-1)_fg M_gr is
    symmetric, and d tau_p/d tau_f is -d qdd_f/d qdd_p.
    """
    entries = solution.factors.inverse(b)
    mass, free = solution.mass, solution.free
    prescribed = [joint.number for joint in tree.joints if joint.number not in free]
    for place, p in enumerate(prescribed):
        column = {f: -mass[f, p] for f in free if (f, p) in mass}
        with b.variant(f"_dqdd_{p}"):
            d_qdd = solution.factors.solve(b, column, "d_qdd")
        for f, value in d_qdd.items():
            entries[f, p], entries[p, f] = value, -value
        for r in prescribed[place:]:
            value = mass.get((r, p), b.algebra.zero) + carried_over(mass, r, d_qdd, b)
            with b.step("torque derivatives", tree.joint(r).name):
                value = let_derivative(b, f"y_{r}", value, f"qdd_{p}", "dFD-1")
            entries[r, p] = entries[p, r] = value
    numbers = range(1, tree.n + 1)
    return [{i: entries[i, k] for i in numbers if (i, k) in entries} for k in numbers]


@dataclass(frozen=True)
class Elimination(Generic[S]):
    """M = L^T D L of the joints `numbers`, ascending.  See the notation of the module.

    `before` lists for every joint the eliminated ones on its path, without itself; `rows` holds
    L_ki by k and i, for those i before k where it is not structurally 0.  `shortcuts` are those of
    LTDL-6, by (k, a) and i.
    """

    numbers: tuple[int, ...]
    names: Mapping[int, str]
    before: Mapping[int, tuple[int, ...]]
    pivots: Mapping[int, S]
    inverse_pivots: Mapping[int, S]
    rows: Mapping[int, Mapping[int, S]]
    shortcuts: Mapping[tuple[int, int], Mapping[int, S]] = field(default_factory=dict)

    @property
    def multipliers(self) -> dict[tuple[int, int], S]:
        """L by pair of joints, [k, i] for i before k."""
        return {(k, i): entry for k, row in self.rows.items() for i, entry in row.items()}

    def solve(self, b: ProgramBuilder[S], rhs: Mapping[int, S], name: str) -> dict[int, S]:
        """x with M x = `rhs`, by joint; what is left out, on either side, is structurally 0."""
        reduced = self._reduced(b, rhs, name)
        x: dict[int, S] = {}
        for k in self.numbers:
            row = self._row(k, reduced)
            value = b.algebra.zero
            if k in reduced:
                value = reduced[k] * self.inverse_pivots[k]
            with b.step("solution", self.names[k]):
                value = b.let(f"{name}_{k}", value - _sum(b, row, x), "LTDL-4")
            if not b.algebra.is_zero(value):
                x[k] = value
        return x

    def inverse(self, b: ProgramBuilder[S]) -> dict[tuple[int, int], S]:
        """The entries of M^-1 that are not structurally 0, both triangles: [k, i] and [i, k]."""
        entries: dict[tuple[int, int], S] = {}
        for place, j in enumerate(self.numbers):
            column = {i: entries[i, j] for i in self.numbers[:place] if (i, j) in entries}
            for k in self.numbers[place:]:
                diagonal = self.inverse_pivots[k] if k == j else b.algebra.zero
                row = self._row(k, (*self.before[j], j))
                with b.step("inverse", self.names[j]):
                    value = diagonal - _sum(b, row, column)
                    value = b.let(f"inverse_{k}_{j}", value, "LTDL-5")
                if not b.algebra.is_zero(value):
                    column[k] = entries[k, j] = entries[j, k] = value
        return entries

    def _reduced(self, b: ProgramBuilder[S], rhs: Mapping[int, S], name: str) -> dict[int, S]:
        """Write y of L^T y = b: LTDL-3."""
        reduced = {k: value for k, value in rhs.items() if not b.algebra.is_zero(value)}
        for k in reversed(self.numbers):
            if k not in reduced:
                continue
            with b.step("reduction", self.names[k]):
                y = reduced[k] = b.let(f"reduced_{name}_{k}", reduced[k], "LTDL-3")
            for i, multiplier in self.rows[k].items():
                reduced[i] = reduced.get(i, b.algebra.zero) - multiplier * y
        return reduced

    def _row(self, k: int, nonzero: Collection[int]) -> Mapping[int, S]:
        """Return the coefficients of x_k in the joints before k, where y is 0 but for the joints
        `nonzero`."""
        last = max((i for i in self.before[k] if i in nonzero), default=None)
        if k in nonzero or last is None:
            return self.rows[k]
        return self.shortcuts.get((k, last), self.rows[k])

    def with_shortcuts(self, b: ProgramBuilder[S], sides: int) -> Elimination[S]:
        """Add LTDL-6 where it pays, for about `sides` right sides per joint."""
        shortcuts: dict[tuple[int, int], Mapping[int, S]] = {}
        for a in self.numbers:
            beyond = [k for k in self.numbers if a in self.before[k]]
            for k in beyond:
                between = self.before[k][self.before[k].index(a) + 1 :]
                branch = (*between, k)[0]
                siblings = sum(j != branch and branch not in self.before[j] for j in beyond)
                if not between or sides * siblings <= len(self.before[a]) + 1:
                    continue
                row: dict[int, S] = {}
                with b.step("elimination", self.names[k]):
                    for i in (*self.before[a], a):
                        value = self.rows[k].get(i, b.algebra.zero)
                        for j in between:
                            passed = shortcuts.get((j, a), self.rows[j])
                            if j in self.rows[k] and i in passed:
                                value = value - self.rows[k][j] * passed[i]
                        row[i] = b.let(f"L_{k}_{i}_past_{a}", value, "LTDL-6")
                shortcuts[k, a] = row
        return replace(self, shortcuts=shortcuts)


def _sum(b: ProgramBuilder[S], row: Mapping[int, S], x: Mapping[int, S]) -> S:
    """sum_i row_i x_i"""
    value = b.algebra.zero
    for i, entry in row.items():
        if i in x:
            value = value + entry * x[i]
    return value


def eliminate(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    mass: Mapping[tuple[int, int], S],
    free: Sequence[int],
) -> Elimination[S]:
    """LTDL-1, LTDL-2: factorise the block of `mass` that belongs to the joints `free`.

    `mass` need not have more than mass[k, i] for i on the path to k; its entries should be named.
    NoSolutionError where a pivot is structurally 0.
    """
    numbers, algebra = tuple(sorted(free)), b.algebra
    before = {k: tuple(i for i in tree.path(k)[:-1] if i in numbers) for k in numbers}
    left = {pair: entry for pair, entry in mass.items() if not algebra.is_zero(entry)}
    pivots: dict[int, S] = {}
    inverse_pivots: dict[int, S] = {}
    rows: dict[int, dict[int, S]] = {}
    for k in reversed(numbers):
        row = {i: left[k, i] for i in before[k] if (k, i) in left}
        with b.step("elimination", tree.joint(k).name):
            pivots[k] = b.let(f"pivot_{k}", left.get((k, k), algebra.zero), "LTDL-1")
            if algebra.is_zero(pivots[k]):
                raise NoSolutionError(f"joint {k} has no inertia: its pivot is 0")
            inverse_pivots[k] = b.let(f"inverse_pivot_{k}", algebra.one / pivots[k], "LTDL-1")
            for i in row:
                if row[i] is not mass.get((k, i)):  # else it has a name
                    row[i] = b.let(f"U_{k}_{i}", row[i], "LTDL-2")
            rows[k] = {
                i: b.let(f"L_{k}_{i}", entry * inverse_pivots[k], "LTDL-2")
                for i, entry in row.items()
            }
        for i, multiplier in rows[k].items():
            for j, entry in row.items():
                if j in (*before[i], i):
                    left[i, j] = left.get((i, j), algebra.zero) - multiplier * entry
    names = {k: tree.joint(k).name for k in numbers}
    return Elimination(numbers, names, before, pivots, inverse_pivots, rows)
