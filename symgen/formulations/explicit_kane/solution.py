"""Forward and hybrid dynamics, and their derivatives: M is formed, factorised and solved with.

    M qdd = K                                                        (6), (17)
    M d qdd/dx = K_{,x} - M_{,x} qdd                                 partial derivatives
    M d qdd/dp = K_{,p} - M_{,p} qdd + sum_r (K_{,q_r} - M_{,q_r} qdd) dq_r/dp
                 + sum_r K_{,qd_r} dqd_r/dp + dtau/dp                (9)

M_{,q_r} is multiplied with qdd before it is with dq_r/dp: that does not depend on p.  In hybrid
dynamics the same holds for the rows and columns of the free joints, and the rows of the prescribed
ones give their torques.

Every function takes the `Route` by which M and K are found first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import total
from symgen.formulations.elimination import eliminate
from symgen.formulations.explicit_kane.equations import (
    Column,
    Equations,
    Route,
    all_pairs,
    bias,
    coordinates,
    equations_of,
    mass_matrix_entries,
    parameters,
    velocities,
)
from symgen.formulations.explicit_kane.kinematic_derivatives import Variable
from symgen.formulations.joint_terms import with_rotors
from symgen.formulations.shared import (
    all_joints,
    free_joints,
    seed_columns,
    square,
    write_jacobian,
    write_matrix,
    write_pivots,
)
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "EK-11": "torque of a prescribed joint r: sum_i M_ri qdd_i - K_r, i free, and its derivatives "
    "-- Anderson, Hsu 2002 (17), in the direction of a joint that is no unknown",
    "EK-12": "total_r = dK_r - sum_i dM_ri qdd_i, along dq, dqd, dtau and a parameter "
    "-- Anderson, Hsu 2002 (9), in brackets",
}


def mass_matrix(
    route: Route, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """(n, n), with the rotors on its diagonal."""
    lower = mass_matrix_entries(route, tree, b, state)
    entries = {**lower, **{(i, r): entry for (r, i), entry in lower.items()}}
    write_matrix(b, "mass_matrix", with_rotors(tree, square(tree, entries)), tree.n)


def bias_forces(
    route: Route, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """(n,): -K"""
    b.output("bias_forces", (tree.n,), bias(route, tree, b, state))


# -- forward dynamics: all joints are free -----------------------------------------------------


def forward_dynamics(
    route: Route, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """qdd (n,)"""
    solved = _forward(route, tree, b, state)
    b.output("qdd", (tree.n,), solved.result())
    solved.write_pivots()


def forward_dynamics_derivatives(
    route: Route, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """qdd (n,) and its derivatives by q, qd and tau, (n, n) each."""
    solved = _forward(route, tree, b, state)
    b.output("qdd", (tree.n,), solved.result())
    for name, xs in (("q", coordinates(b)), ("qd", velocities(b))):
        solved.write_columns(f"dqdd_d{name}", solved.derivatives(xs))
    inverse = solved.elimination.inverse(b)
    write_matrix(b, "dqdd_dtau", square(tree, inverse), tree.n)
    solved.write_pivots()


def forward_dynamics_parameter_derivatives(
    route: Route, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """d qdd / d p (n, n_parameters) at fixed q, qd and tau."""
    solved = _forward(route, tree, b, state)
    solved.write_columns("dqdd_dparameters", solved.derivatives(parameters(tree)))
    solved.write_pivots()


def forward_dynamics_sensitivities(
    route: Route, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """qdd (n,) and its total derivatives (n, n_parameters) by (9)."""
    solved = _forward(route, tree, b, state)
    b.output("qdd", (tree.n,), solved.result())
    solved.write_columns("dqdd", _totals(solved))
    solved.write_pivots()


# -- hybrid dynamics: the motion of prescribed joints is given ---------------------------------


def hybrid_dynamics(
    route: Route, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """y (n,): torques of the prescribed joints, accelerations of the free ones."""
    free = free_joints(tree)
    pairs = tuple((r, i) for r, i in all_pairs(tree) if r in free or i in free)
    solved = Solved(equations_of(route, tree, b, state, free, pairs))
    b.output("y", (tree.n,), solved.result())
    solved.write_pivots()


def hybrid_dynamics_derivatives(
    route: Route, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """y (n,) and its derivatives by q, qd and x, (n, n) each."""
    solved = Solved(equations_of(route, tree, b, state, free_joints(tree)))
    b.output("y", (tree.n,), solved.result())
    for name, xs in (("q", coordinates(b)), ("qd", velocities(b))):
        solved.write_columns(f"dy_d{name}", solved.derivatives(xs))
    solved.write_columns("dy_dx", [solved.by_given(joint.number) for joint in tree.joints])
    solved.write_pivots()


def hybrid_dynamics_parameter_derivatives(
    route: Route, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """d y / d p (n, n_parameters) at fixed q, qd and x."""
    solved = Solved(equations_of(route, tree, b, state, free_joints(tree)))
    solved.write_columns("dy_dparameters", solved.derivatives(parameters(tree)))
    solved.write_pivots()


# -- solving -----------------------------------------------------------------------------------


class Solved(Generic[S]):
    """Equations of motion that are solved: qdd of the free joints, torques of the others."""

    def __init__(self, equations: Equations[S]) -> None:
        self.equations = equations
        self.tree, self.b = equations.system.tree, equations.system.b
        self.elimination = eliminate(self.tree, self.b, equations.mass, equations.free)
        self.qdd = self.elimination.solve(self.b, self._of_free(equations.balance), "qdd")
        self.torques = self._torques(equations.balance, self.qdd, "tau")

    def result(self) -> list[S]:
        """qdd of the free and torques of the prescribed joints, (n,)."""
        found = {**self.qdd, **self.torques}
        return [found.get(r, self.b.algebra.zero) for r in all_joints(self.tree)]

    def derivatives(self, xs: Sequence[Variable[S]]) -> list[Column[S]]:
        """The derivatives of `result` with respect to `xs`."""
        unbalances = self.unbalances(xs)
        return [self.response(column, x.name) for column, x in zip(unbalances, xs, strict=True)]

    def unbalances(self, xs: Sequence[Variable[S]]) -> list[Column[S]]:
        """EK-10 for all `xs`."""
        return [self.equations.unbalance(d, self.qdd) for d in self.equations.slopes(xs)]

    def response(self, unbalance: Mapping[int, S], by: str) -> Column[S]:
        """What `result` changes by where K - M qdd changes by `unbalance`."""
        with self.b.variant(f"_d{by}"):
            d_qdd = self.elimination.solve(self.b, self._of_free(unbalance), "d_qdd")
            return {**d_qdd, **self._torques(unbalance, d_qdd, "d_tau")}

    def by_given(self, j: int) -> Column[S]:
        """The derivative of `result` with respect to x_j: a torque, or an acceleration."""
        if j in self.equations.free:
            return self.response({j: self.b.algebra.one}, f"x_{j}")
        numbers = all_joints(self.tree)
        return self.response({r: -self.equations.mass_between(r, j) for r in numbers}, f"x_{j}")

    def write_columns(self, name: str, columns: Sequence[Column[S]]) -> None:
        """The output `name`, (n, len(columns))."""
        write_jacobian(self.tree, self.b, name, columns)

    def write_pivots(self) -> None:
        """The hidden outputs: pivots and diagonal of M of the free joints."""
        free = sorted(self.equations.free)
        diagonal = [self.equations.mass[k, k] for k in free]
        write_pivots(self.b, [self.elimination.pivots[k] for k in free], diagonal)

    def _of_free(self, column: Mapping[int, S]) -> Column[S]:
        return {r: column[r] for r in self.equations.free if r in column}

    def _torques(self, balance: Mapping[int, S], qdd: Mapping[int, S], name: str) -> Column[S]:
        """EK-11"""
        found: Column[S] = {}
        for joint in self.tree.joints:
            r = joint.number
            if r in self.equations.free:
                continue
            on_path = [i for i in qdd if self.tree.on_one_path(r, i)]
            terms = [self.equations.mass_between(r, i) * qdd[i] for i in on_path]
            if r in balance:
                terms.append(-balance[r])
            with self.b.step("prescribed joints", joint.name):
                found[r] = self.b.let(f"{name}_{r}", total(terms, self.b.algebra), "EK-11")
        return found


def _forward(
    route: Route, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Solved[S]:
    return Solved(equations_of(route, tree, b, state, all_joints(tree)))


def _totals(solved: Solved[S]) -> list[Column[S]]:
    """EK-12 for every parameter, and what it makes of qdd."""
    b, tree = solved.b, solved.tree
    ps = parameters(tree)
    unbalances = solved.unbalances([*coordinates(b), *velocities(b), *ps])
    by_state, by_parameters = unbalances[: 2 * tree.n], unbalances[2 * tree.n :]
    columns: list[Column[S]] = []
    for p, own, seed in zip(ps, by_parameters, seed_columns(b, ("dq", "dqd", "dtau")), strict=True):
        weighted = list(zip(by_state, (*seed["dq"], *seed["dqd"]), strict=True))
        totals: Column[S] = {}
        for joint in tree.joints:
            r = joint.number
            terms = [own[r]] if r in own else []
            terms += [column[r] * weight for column, weight in weighted if r in column]
            terms.append(seed["dtau"][r - 1])
            with b.step("total derivatives", joint.name), b.variant(f"_d{p.name}"):
                totals[r] = b.let(f"total_{r}", total(terms, b.algebra), "EK-12")
        columns.append(solved.response(totals, p.name))
    return columns
