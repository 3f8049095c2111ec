"""Forward and hybrid dynamics and their derivatives, from the recursion.

In forward dynamics all joints are free, in hybrid dynamics those that are not marked prescribed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from symgen.algebra.interface import S
from symgen.formulations.kane.contributions import contributions
from symgen.formulations.kane.derivatives import d_solve
from symgen.formulations.kane.diagonal import diagonal_sweep
from symgen.formulations.kane.recursion import Solution, solve
from symgen.formulations.kane.variations import Variable, dependences
from symgen.formulations.shared import (
    seed_columns,
    symbolic_parameters,
    write_jacobian,
    write_matrix,
    write_pivots,
)
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.program import Input


def forward_dynamics(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """qdd (n,)"""
    solution = _solved(tree, b, state, ())
    b.output("qdd", (tree.n,), solution.results)
    _write_hidden(solution, b)


def forward_dynamics_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """qdd (n,) and its derivatives with respect to q, qd and tau, (n, n) each."""
    solution = _solved(tree, b, state, ())
    b.output("qdd", (tree.n,), solution.results)
    q, qd, tau = (b.declared(name) for name in ("q", "qd", "tau"))
    _write_jacobians(tree, b, solution, {"dqdd_dq": q, "dqdd_dqd": qd})
    entries: dict[tuple[int, int], S] = {}
    for k, by in enumerate(_variables(b, [tau]), start=1):  # the inverse of M is symmetric
        column = d_solve(tree, solution, [k], by, b, wanted=k)
        entries.update({(i, k): column[i] for i in range(1, k + 1)})
    numbers = range(1, tree.n + 1)
    rows = [[entries[min(i, k), max(i, k)] for k in numbers] for i in numbers]
    write_matrix(b, "dqdd_dtau", rows, tree.n)
    _write_hidden(solution, b)


def forward_dynamics_parameter_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """dqdd_dparameters, (n, n_parameters)"""
    solution = _solved(tree, b, state, ())
    _write_jacobians(tree, b, solution, {"dqdd_dparameters": symbolic_parameters(tree)})
    _write_hidden(solution, b)


def forward_dynamics_sensitivities(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """qdd (n,) and its total derivatives by the parameters, (n, n_parameters)."""
    solution = _solved(tree, b, state, ())
    b.output("qdd", (tree.n,), solution.results)
    inputs = [b.declared(name) for name in ("q", "qd", "tau")]
    parameters = symbolic_parameters(tree)
    one, zero = b.algebra.one, b.algebra.zero
    derivatives = b.algebra.derivatives(
        [symbol for array in (*inputs, parameters) for symbol in array.symbols]
    )
    columns: list[dict[int, S]] = []
    for j, given in enumerate(seed_columns(b, ("dq", "dqd", "dtau"))):
        seeds = dict(enumerate(entry for column in given.values() for entry in column))
        by = Variable(parameters.symbol_names[j], derivatives, {**seeds, len(seeds) + j: one}, zero)
        columns.append(d_solve(tree, solution, list(solution.at), by, b))
    write_jacobian(tree, b, "dqdd", columns)
    _write_hidden(solution, b)


def torques(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """tau (n,) at the accelerations of the state: the motion of every joint is prescribed."""
    state = replace(state, tau=(b.algebra.zero,) * tree.n)
    solution = _solved(tree, b, state, [joint.number for joint in tree.joints])
    b.output("tau", (tree.n,), solution.results)


def hybrid_dynamics(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """y (n,): qdd of the free joints, tau of the prescribed ones."""
    solution = _solved(tree, b, state, _prescribed(tree))
    b.output("y", (tree.n,), solution.results)
    _write_hidden(solution, b)


def hybrid_dynamics_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """y (n,) and its derivatives with respect to q, qd and x, (n, n) each."""
    solution = _solved(tree, b, state, _prescribed(tree))
    b.output("y", (tree.n,), solution.results)
    inputs = {f"dy_d{name}": b.declared(name) for name in ("q", "qd", "x")}
    _write_jacobians(tree, b, solution, inputs)
    _write_hidden(solution, b)


def hybrid_dynamics_parameter_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """dy_dparameters, (n, n_parameters)"""
    solution = _solved(tree, b, state, _prescribed(tree))
    _write_jacobians(tree, b, solution, {"dy_dparameters": symbolic_parameters(tree)})
    _write_hidden(solution, b)


def _solved(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], prescribed: Sequence[int]
) -> Solution[S]:
    return solve(tree, contributions(tree, b, state, prescribed), b, state)


def _prescribed(tree: KinematicTree[S]) -> list[int]:
    return [joint.number for joint in tree.joints if joint.prescribed]


def _variables(b: ProgramBuilder[S], inputs: Sequence[Input[S]]) -> list[Variable[S]]:
    """Every entry of `inputs` as a variable, in order."""
    symbols = [symbol for array in inputs for symbol in array.symbols]
    names = [name for array in inputs for name in array.symbol_names]
    derivatives = b.algebra.derivatives(symbols)
    return [
        Variable(name, derivatives, {position: b.algebra.one}, b.algebra.zero)
        for position, name in enumerate(names)
    ]


def _write_jacobians(
    tree: KinematicTree[S], b: ProgramBuilder[S], solution: Solution[S], by: Mapping[str, Input[S]]
) -> None:
    """One output for every input, its columns by the entries of the input."""
    variables = iter(_variables(b, list(by.values())))
    where: dict[int, frozenset[int]] = {}
    position = 0
    for name, array in by.items():
        columns: list[dict[int, S]] = []
        for _ in array.symbols:
            variable = next(variables)
            where = where or dependences(list(solution.at.values()), variable.derivatives)
            touched = [k for k, positions in where.items() if position in positions]
            columns.append(d_solve(tree, solution, touched, variable, b))
            position += 1
        write_jacobian(tree, b, name, columns)


def _write_hidden(solution: Solution[S], b: ProgramBuilder[S]) -> None:
    write_pivots(b, solution.pivots, diagonal_sweep(solution.at, b))
