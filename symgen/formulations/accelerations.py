"""Forward dynamics from a mass matrix and a bias, whatever formulation gives them.

It is no dynamics: a formulation brings M, the bias and, for derivatives, those of its inverse
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
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from symgen.algebra.interface import S
from symgen.formulations.elimination import Elimination, eliminate
from symgen.formulations.shared import let_derivative, write_jacobian, write_pivots
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "FD-1": "tau_p = bias_p + sum_f M_pf qdd_f: torque of a prescribed joint; the accelerations "
    "of the free ones solve sum_f M_gf qdd_f = tau_g - bias_g -- Walker, Orin 1982, method 1",
    "dFD-1": "d tau_p/dx = (d tau_p/dx of the inverse dynamics) + sum_f M_pf d qdd_f/dx "
    "-- Carpentier, Mansard 2018",
}

SIDES = 2
"""Right sides per joint of derivatives: by q and by qd."""

Entries = Mapping[tuple[int, int], S]
"""Entries of a matrix by pair of joints; what is left out is 0."""


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
        """The same with LTDL-6 where it pays, for derivatives by q and by qd."""
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
    found = factors.solve(b, {f: state.tau[f - 1] - bias[f - 1] for f in free}, "qdd")
    qdd, y = list(state.qdd), list(bias)
    for joint in tree.joints:
        j = joint.number
        if j in free:
            qdd[j - 1] = y[j - 1] = found.get(j, b.algebra.zero)
    for joint in tree.joints:
        j = joint.number
        if j not in free:
            with b.step("torque", joint.name):
                y[j - 1] = b.let(f"y_{j}", bias[j - 1] + carried_over(mass, j, found, b), "FD-1")
    return Solution(factors, mass, tuple(qdd), tuple(y))


def carried_over(mass: Entries[S], j: int, x: Mapping[int, S], b: ProgramBuilder[S]) -> S:
    """sum_f M_jf x_f"""
    value = b.algebra.zero
    for f, entry in x.items():
        if (j, f) in mass:
            value = value + mass[j, f] * entry
    return value


def write_pivots_of(solution: Solution[S], b: ProgramBuilder[S]) -> None:
    """The hidden outputs, one entry per free joint."""
    pivots, mass = solution.factors.pivots, solution.mass
    write_pivots(b, [pivots[f] for f in solution.free], [mass[f, f] for f in solution.free])


def write_solution(
    tree: KinematicTree[S], b: ProgramBuilder[S], solution: Solution[S], result: str
) -> None:
    """y, as `result`, and the hidden outputs."""
    b.output(result, (tree.n,), solution.y)
    write_pivots_of(solution, b)


def write_responses(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    solution: Solution[S],
    names: tuple[str, str],
    slopes: tuple[Sequence[Sequence[S]], Sequence[Sequence[S]]],
) -> None:
    """y, its derivatives by q, qd and what is given, and the hidden outputs.

    `names` are those of the result and of what is given, `slopes` d tau/dq and d tau/dqd of the
    inverse dynamics at the solution, (n, n) each, with joint terms.
    """
    result, given = names
    b.output(result, (tree.n,), solution.y)
    for by, rows in zip(("q", "qd"), slopes, strict=True):
        columns = []
        for i in range(1, tree.n + 1):
            column = {j: row[i - 1] for j, row in enumerate(rows, start=1)}
            columns.append(response(tree, solution, b, column, f"{by}_{i}"))
        write_jacobian(tree, b, f"d{result}_d{by}", columns)
    write_jacobian(tree, b, f"d{result}_d{given}", response_to_given(tree, solution, b))
    write_pivots_of(solution, b)


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
        found = solution.factors.solve(b, rhs, "d_qdd")
    y = dict(found)
    for joint in tree.joints:
        p = joint.number
        if p not in solution.free:
            own = torques.get(p, b.algebra.zero)
            value = own + carried_over(solution.mass, p, found, b)
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
            found = solution.factors.solve(b, column, "d_qdd")
        for f, value in found.items():
            entries[f, p], entries[p, f] = value, -value
        for r in prescribed[place:]:
            value = mass.get((r, p), b.algebra.zero) + carried_over(mass, r, found, b)
            with b.step("torque derivatives", tree.joint(r).name):
                value = let_derivative(b, f"y_{r}", value, f"qdd_{p}", "dFD-1")
            entries[r, p] = entries[p, r] = value
    numbers = range(1, tree.n + 1)
    return [{i: entries[i, k] for i in numbers if (i, k) in entries} for k in numbers]
