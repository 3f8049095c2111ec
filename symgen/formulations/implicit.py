"""Accelerations and their derivatives: implicit differentiation of the torques.

With tau(q, qd, qdd, p) the torques that a motion takes, the accelerations of given torques solve
tau(q, qd, qdd, p) = tau, whatever q, qd, tau and the parameters p are.  Along a direction in which
these change (Griewank, Walther 2008, section 15.1; Carpentier, Mansard 2018)

    M d qdd = d tau - (the change of tau(q, qd, qdd, p) with qdd held)

so that neither the factors of M nor articulated bodies are differentiated, but one recursion.  A
formulation brings `Equations`: its solution and its torques.  It may bring d tau/dq and d tau/dqd
of its own where these take fewer operations than those of the lines of the torques.  With many
parameters the changes of q and qd enter through these matrices, and the direction of a parameter
moves the parameter alone.

==============  ===============  ==================================================================
symbol          code             meaning
==============  ===============  ==================================================================
qdd             qdd_f_held       accelerations of the free joints, as symbols until all is written
d x             d_x_dp           change of a statement x of the torques along the direction of p
==============  ===============  ==================================================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import inner
from symgen.formulations.accelerations import Solution, pivots_of, response, responses
from symgen.formulations.interface import Derivation
from symgen.formulations.shared import (
    all_joints,
    columns_of_joints,
    independent_joints,
    seed_columns,
    symbolic_parameters,
)
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder, Results
from symgen.program.differentiation import differentiate, push_forward

Rows = Sequence[Sequence[S]]


@dataclass(frozen=True)
class Equations(ABC, Generic[S]):
    """The equations of motion at a state, as a formulation writes them.

    `free` are the numbers of the joints whose accelerations are sought.
    """

    tree: KinematicTree[S]
    b: ProgramBuilder[S]
    state: State[S]
    free: tuple[int, ...]

    @abstractmethod
    def solution(self, for_derivatives: bool = False) -> Solution[S]:
        """Write the accelerations sought; `for_derivatives`, all of M, and `slopes` are next."""

    @abstractmethod
    def torques(self, qdd: Sequence[S]) -> Sequence[S]:
        """Write the torques that accelerations take, one per joint, with joint terms.

        Everything that they depend on is written anew.
        """

    def slopes(self, held: Held[S]) -> tuple[Rows[S], Rows[S]]:
        """Write d tau/dq and d tau/dqd, (n, n) each, with joint terms."""
        inputs = [self.b.declared(name) for name in ("q", "qd")]
        algebra, n = self.b.algebra, self.tree.n
        slopes, zero = differentiate(self.b, inputs, held.steps), algebra.zero
        choices = [[slopes.of(torque) for torque in held.torques]]
        if self.tree.is_moved_by_several:  # see `symgen.formulations.direct`
            choices.append(slopes.reverse(held.torques))
        rows = min(
            choices, key=lambda rows: algebra.size([x for row in rows for x in row.values()])
        )
        by_q = [[row.get(k, zero) for k in range(n)] for row in rows]
        return by_q, [[row.get(k, zero) for k in range(n, 2 * n)] for row in rows]


@dataclass
class Held(Generic[S]):
    """The torques at accelerations that are symbols.

    `values` maps each symbol to the acceleration that is substituted when all is written.
    """

    equations: Equations[S]
    qdd: Sequence[S]
    values: Mapping[S, S]

    @classmethod
    def at(cls, equations: Equations[S], solution: Solution[S]) -> Held[S]:
        """Hold the accelerations that were sought."""
        names = [f"qdd_{f}_held" for f in solution.free]
        symbols = equations.b.auxiliary("qdd_held", (len(names),), names).symbols
        held = list(solution.qdd)
        for f, symbol in zip(solution.free, symbols, strict=True):
            held[f - 1] = symbol
        pairs = zip(solution.free, symbols, strict=True)
        return cls(equations, held, {x: solution.qdd[f - 1] for f, x in pairs})

    @cached_property
    def _written(self) -> tuple[Sequence[S], range]:
        start = self.equations.b.length
        with self.equations.b.variant("_held", "torques"):
            torques = self.equations.torques(self.qdd)
        return torques, range(start, self.equations.b.length)

    @property
    def torques(self) -> Sequence[S]:
        """The torques; they are written when they are asked for first."""
        return self._written[0]

    @property
    def steps(self) -> range:
        """The steps of their lines."""
        return self._written[1]

    def changes(self, seeds: Mapping[int, Sequence[S]]) -> dict[str, list[S]]:
        """Write how the torques change with each parameter; by its name, one per joint.

        `seeds` have, by position of a parameter, how q and then qd vary with it; none, or for all.
        The default `Equations.slopes` comes after this: it inserts lines into `steps`.
        """
        b, zero = self.equations.b, self.equations.b.algebra.zero
        parameters = symbolic_parameters(self.equations.tree)
        moving = [b.declared("q"), b.declared("qd")] if seeds else []
        torques, steps = self._written
        changes: dict[str, list[S]] = {}
        for k, name in enumerate(parameters.symbol_names):
            unit = [b.algebra.constant(float(i == k)) for i in range(len(parameters.symbols))]
            along = [*seeds.get(k, ()), *unit]
            slopes = push_forward(b, [*moving, parameters], along, steps, f"d_{{}}_d{name}")
            changes[name] = [slopes.of(torque).get(0, zero) for torque in torques]
        return changes


@dataclass(frozen=True)
class Implicit:
    """Writes the function `name`, an entry of `WRITERS`, from the equations of a formulation."""

    name: str
    source: Callable[..., Equations[Any]]
    """Makes the equations, from a tree, a builder, a state and the numbers of the free joints."""

    def __call__(self, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
        """Write the function."""
        writer = WRITERS[self.name]
        return writer.write(self.source(tree, b, state, writer.free(tree)), writer.names)


def functions(equations: Callable[..., Equations[Any]]) -> dict[str, Derivation]:
    """Return forward and hybrid dynamics of a formulation, and all their derivatives."""
    return {name: Implicit(name, equations) for name in WRITERS}


def _has_few_parameters(tree: KinematicTree[Any]) -> bool:
    """Return whether directions of all that varies take fewer operations than slopes.

    Operations of sensitivities by directions / by slopes: 7 joints in a row with 1, 4 and 7
    parameters 3,331 / 4,897, 6,957 / 6,240 and 10,596 / 7,795; a tree of 13 joints with 5
    parameters 9,002 / 12,786, of 12 joints with 8 17,991 / 15,036.
    """
    return 2 * len(tree.runtime_parameters) <= tree.n


Names = tuple[str, str]
"""Names of the result and of the argument that it answers: qdd and tau, or y and x."""


def write_values(equations: Equations[S], names: Names) -> Results[S]:
    """Write the accelerations of free joints and the torques of others, (n,)."""
    solution = equations.solution()
    return {names[0]: solution.y, **pivots_of(solution)}


def write_derivatives(equations: Equations[S], names: Names) -> Results[S]:
    """Write the values, and their derivatives by q, qd and what is given, (n, n) each."""
    tree, b = equations.tree, equations.b
    solution = equations.solution(for_derivatives=True).with_shortcuts(b)
    held = Held.at(equations, solution)
    results = responses(tree, b, solution, names, equations.slopes(held))
    return b.substitute(held.values, results)


def write_parameter_derivatives(equations: Equations[S], names: Names) -> Results[S]:
    """Write derivatives by the parameters, (n, n_parameters), at fixed q, qd and what is given."""
    solution = equations.solution()
    held = Held.at(equations, solution)
    columns = _columns(equations, f"d{names[0]}_dparameters", solution, held.changes({}))
    return equations.b.substitute(held.values, columns)


def write_sensitivities(equations: Equations[S], names: Names) -> Results[S]:
    """Write ``qdd``, (n,), and its total derivatives ``dqdd``, (n, n_parameters).

    The inputs dq, dqd and dtau say how q, qd and tau vary with each parameter.
    """
    b = equations.b
    columns = seed_columns(b, ("dq", "dqd", "dtau"))
    few = _has_few_parameters(equations.tree)
    solution = equations.solution(for_derivatives=not few)
    held = Held.at(equations, solution)
    if few:
        seeds = {k: (*column["dq"], *column["dqd"]) for k, column in enumerate(columns)}
        changes = held.changes(seeds)
    else:
        changes = held.changes({})
        by_q, by_qd = equations.slopes(held)
        for change, column in zip(changes.values(), columns, strict=True):
            for j, rows in enumerate(zip(by_q, by_qd, strict=True)):
                moved = inner(rows[0], column["dq"]) + inner(rows[1], column["dqd"])
                change[j] = change[j] + moved
    for change, column in zip(changes.values(), columns, strict=True):
        change[:] = [x - dtau for x, dtau in zip(change, column["dtau"], strict=True)]
    results = _columns(equations, "dqdd", solution, changes)
    return b.substitute(held.values, {"qdd": solution.qdd, **results})


def _columns(
    equations: Equations[S], name: str, solution: Solution[S], changes: Mapping[str, Sequence[S]]
) -> Results[S]:
    """Write the accelerations' columns, and those of the torques of prescribed joints."""
    tree, b = equations.tree, equations.b
    columns: list[Mapping[int, S]] = []
    for by, change in changes.items():
        column = {j: x for j, x in enumerate(change, start=1) if not b.algebra.is_zero(x)}
        columns.append(response(tree, solution, b, column, by))
    return {name: columns_of_joints(tree, columns), **pivots_of(solution)}


@dataclass(frozen=True)
class Writer:
    """How one function is written: for which joints, and what it is called."""

    write: Callable[[Equations[Any], Names], Results[Any]]
    free: Callable[[KinematicTree[Any]], tuple[int, ...]]
    names: Names


_FORWARD = (all_joints, ("qdd", "tau"))
_HYBRID = (independent_joints, ("y", "x"))
WRITERS: Mapping[str, Writer] = {
    "forward_dynamics": Writer(write_values, *_FORWARD),
    "forward_dynamics_derivatives": Writer(write_derivatives, *_FORWARD),
    "forward_dynamics_parameter_derivatives": Writer(write_parameter_derivatives, *_FORWARD),
    "forward_dynamics_sensitivities": Writer(write_sensitivities, *_FORWARD),
    "hybrid_dynamics": Writer(write_values, *_HYBRID),
    "hybrid_dynamics_derivatives": Writer(write_derivatives, *_HYBRID),
    "hybrid_dynamics_parameter_derivatives": Writer(write_parameter_derivatives, *_HYBRID),
}
"""Map of a function to its writer."""
