"""Derivatives of accelerations by parameters: implicit differentiation of the torques.

With tau(q, qd, qdd, p) the torques that a motion takes, the accelerations of given torques solve
tau(q, qd, qdd, p) = tau, whatever q, qd, tau and the parameters p are.  Along a direction in which
these change (Griewank, Walther 2008, section 15.1; Carpentier, Mansard 2018)

    M d qdd = d tau - (the change of tau(q, qd, qdd, p) with qdd held)

so that neither the factors of M nor articulated bodies are differentiated, but one recursion.  A
formulation brings its solution and its recursion, and may bring d tau/dq and d tau/dqd: with many
parameters these, times the changes of q and qd, take fewer operations than one direction for each.

==============  ===============  ==================================================================
symbol          code             meaning
==============  ===============  ==================================================================
qdd             qdd_f_held       accelerations of the free joints, as symbols until all is written
d x             d_x_dp           change of a statement x of the torques along the direction of p
==============  ===============  ==================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from symgen.algebra.interface import S
from symgen.algebra.linear import inner
from symgen.formulations.accelerations import Solution, response, write_pivots_of
from symgen.formulations.shared import seed_columns, symbolic_parameters, write_jacobian
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.differentiation import push_forward

Solve = Callable[[], Solution[Any]]
"""Writes the solution."""
Torques = Callable[[Sequence[Any]], Sequence[Any]]
"""Writes the torques that accelerations of all joints take, one per joint, with joint terms."""
Slopes = Callable[[Sequence[Any]], tuple[Sequence[Sequence[Any]], Sequence[Sequence[Any]]]]
"""Writes d tau/dq and d tau/dqd at accelerations of all joints, (n, n) each, with joint terms."""


def has_few_parameters(tree: KinematicTree[Any]) -> bool:
    """Return whether directions take fewer operations than d tau/dq and d tau/dqd.

    Operations of sensitivities by directions / by slopes: 7 joints in a row with 1, 4 and 7
    parameters 3,331 / 4,897, 6,957 / 6,240 and 10,596 / 7,795; a tree of 13 joints with 5
    parameters 9,002 / 12,786, of 12 joints with 8 17,991 / 15,036.
    """
    return 2 * len(tree.runtime_parameters) <= tree.n


def write_parameter_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], result: str, solve: Solve, torques: Torques
) -> None:
    """Write ``d<result>_dparameters``, (n, n_parameters), at fixed q, qd and given torques.

    Rows of prescribed joints are derivatives of their torques, at fixed accelerations.
    """
    solution = solve()
    held, accelerations = _hold(solution, b)
    changes = _torque_changes(tree, b, held, torques, seeds={})
    _write_responses(tree, b, f"d{result}_dparameters", solution, changes)
    write_pivots_of(solution, b)
    b.substitute(accelerations)


def write_sensitivities(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    solve: Solve,
    torques: Torques,
    slopes: Slopes | None = None,
) -> None:
    """Write ``qdd``, (n,), and its total derivatives ``dqdd``, (n, n_parameters).

    The inputs dq, dqd and dtau say how q, qd and tau vary with each parameter.  Without `slopes`
    the torques are differentiated along these directions.
    """
    solution = solve()
    held, accelerations = _hold(solution, b)
    columns = seed_columns(b, ("dq", "dqd", "dtau"))
    if slopes is None:
        seeds = {k: (*column["dq"], *column["dqd"]) for k, column in enumerate(columns)}
        changes = _torque_changes(tree, b, held, torques, seeds)
    else:
        by_q, by_qd = slopes(held)
        changes = _torque_changes(tree, b, held, torques, seeds={})
        for change, column in zip(changes.values(), columns, strict=True):
            for j, rows in enumerate(zip(by_q, by_qd, strict=True)):
                moved = inner(rows[0], column["dq"]) + inner(rows[1], column["dqd"])
                change[j] = change[j] + moved
    for change, column in zip(changes.values(), columns, strict=True):
        change[:] = [x - given for x, given in zip(change, column["dtau"], strict=True)]
    b.output("qdd", (tree.n,), solution.qdd)
    _write_responses(tree, b, "dqdd", solution, changes)
    write_pivots_of(solution, b)
    b.substitute(accelerations)


def _torque_changes(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    held: Sequence[S],
    torques: Torques,
    seeds: Mapping[int, Sequence[S]],
) -> dict[str, list[S]]:
    """Write the changes of the torques along each parameter; by its name, one per joint.

    `seeds` have, by position of a parameter, how q and qd vary with it.
    """
    start = b.length
    tau = torques(held)
    steps = range(start, b.length)
    parameters = symbolic_parameters(tree)
    moving = [b.declared("q"), b.declared("qd")] if seeds else []
    changes: dict[str, list[S]] = {}
    for k, name in enumerate(parameters.symbol_names):
        unit = [b.algebra.constant(float(i == k)) for i in range(len(parameters.symbols))]
        along = [*seeds.get(k, ()), *unit]
        found = push_forward(b, [*moving, parameters], along, steps, f"d_{{}}_d{name}")
        changes[name] = [found.of(entry).get(0, b.algebra.zero) for entry in tau]
    return changes


def _write_responses(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    name: str,
    solution: Solution[S],
    changes: Mapping[str, Sequence[S]],
) -> None:
    """Write the accelerations' columns, and those of the torques of prescribed joints."""
    columns: list[Mapping[int, S]] = []
    for by, change in changes.items():
        column = {j: x for j, x in enumerate(change, start=1) if not b.algebra.is_zero(x)}
        columns.append(response(tree, solution, b, column, by))
    write_jacobian(tree, b, name, columns)


def _hold(solution: Solution[S], b: ProgramBuilder[S]) -> tuple[list[S], dict[S, S]]:
    """Return the accelerations with symbols for those that were sought, and their values."""
    names = [f"qdd_{f}_held" for f in solution.free]
    symbols = b.auxiliary("qdd_held", (len(names),), names).symbols
    held = list(solution.qdd)
    for f, symbol in zip(solution.free, symbols, strict=True):
        held[f - 1] = symbol
    return held, {x: solution.qdd[f - 1] for f, x in zip(solution.free, symbols, strict=True)}
