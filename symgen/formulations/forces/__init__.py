"""Forces of the model: terms of springs and applied forces in the equations of all formulations.

They are loads that the motion determines.  A formulation derives as if there were none; by virtual
power they add generalized forces Q(q, qd) to those of the drives (`generalized`), so that

    tau = tau_0 - Q,    qdd = qdd_0(tau + Q),    w_j = w_0j + what acts outboard of joint j,

and their derivatives follow by the chain rule: M^-1 dQ for accelerations, which is the derivative
by tau that a formulation has anyway.  Written in this way they serve formulations that know no
points and loads, and a force between two links is seen from the last body that carries both, which
takes far fewer operations than carrying it to the base and back.  The laws are differentiated by
rules (`laws`), points and axes in closed form (`columns`); only derivatives by parameters are those
of the whole program of Q, line by line.

Mimic joints, and joints on manifolds: all is said of joints of one coordinate, then summed as
`symgen.formulations.coupled` does; columns are those of the tangent space.

=========  ====================  ==================================================================
symbol     code                  meaning
=========  ====================  ==================================================================
Q          Q_j, forced_<..>_i    generalized forces of joints, and of coordinates
--         tau_i_free            stands for tau + Q while the formulation writes
=========  ====================  ==================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import total
from symgen.formulations.coupled import generalized_forces, state_of_joints
from symgen.formulations.forces import columns, generalized, laws
from symgen.formulations.forces.columns import curvatures
from symgen.formulations.forces.generalized import (
    Pairs,
    forces_on_joints,
    slopes_on_joints,
    stored,
    transmitted,
)
from symgen.formulations.forces.laws import Laws, write_laws
from symgen.formulations.shared import flat, symbolic_parameters
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder, Results
from symgen.program.derivatives import DERIVATIVES
from symgen.program.differentiation import differentiate
from symgen.program.functions import function_named
from symgen.program.program import Input

NOTES = {
    "FM-9": "with the forces of the model: tau - Q, accelerations of tau + Q, energy of springs",
    "dFM-9": "with the forces of the model: d tau/dx - dQ/dx; d qdd/dx + M^-1 dQ/dx",
    "ddFM-9": "with the forces of the model: the Hessian of multipliers . (tau - Q)",
}

ALL_NOTES = {**columns.NOTES, **laws.NOTES, **generalized.NOTES, **NOTES}

Write = Callable[[KinematicTree[Any], ProgramBuilder[Any], State[Any], str], Results[Any]]
"""Writes a function, called by its name, of the tree without its forces."""

Rows = list[list[S]]


def write(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], written: Write, function: str
) -> Results[S]:
    """Write `function`; results that forces do not affect are unchanged."""
    if function not in FUNCTIONS:
        return written(tree, b, state, function)
    return FUNCTIONS[function](Forced(tree, b, state, written, function))


def are_derived(functions: Collection[str]) -> set[str]:
    """Return which functions of the tree without forces exist with them."""
    return {name for name in functions if name not in NEEDS or NEEDS[name] in functions}


@dataclass
class Forced(Generic[S]):
    """One function as it is written."""

    tree: KinematicTree[S]
    b: ProgramBuilder[S]
    state: State[S]
    written: Write
    function: str

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.tree.independent)

    @cached_property
    def posed(self) -> KinematicTree[S]:
        """The tree with the poses of joints on manifolds."""
        return self.tree.posed(self.state.q) if self.tree.manifolds else self.tree

    @cached_property
    def joints(self) -> State[S]:
        """The state of all joints."""
        return state_of_joints(self.tree, self.state)

    @property
    def free(self) -> tuple[bool, ...]:
        """Which coordinates answer with accelerations."""
        hybrid = function_named(self.function).is_hybrid
        return tuple(not (hybrid and joint.prescribed) for joint in self.tree.independent)

    # -------------------------------------------------------------------- with and without forces

    def call(self, function: str | None = None) -> dict[str, Sequence[S]]:
        """Write a function of the tree without its forces."""
        return dict(self.written(self.tree, self.b, self.state, function or self.function))

    def named(
        self, name: str, former: Sequence[S], entries: Sequence[S], note: str = "FM-9"
    ) -> list[S]:
        """Name the entries of a result that differ from the `former` ones."""
        with self.b.step("with forces"):
            return [
                x if x is old else self.b.let(f"forced_{name}_{k}", x, note)
                for k, (old, x) in enumerate(zip(former, entries, strict=True), start=1)
            ]

    def laws(self, slopes: bool = False) -> Laws[S]:
        """Return the forces, and with `slopes` what their derivatives take."""
        return write_laws(self.posed, self.b, self.joints, slopes)

    def Q(self, written: Laws[S]) -> list[S]:
        """FM-6 by coordinate."""
        return list(generalized_forces(self.tree, forces_on_joints(self.posed, self.b, written)))

    def matrices(self, written: Laws[S]) -> tuple[Rows[S], Rows[S]]:
        """dQ/dq and dQ/dqd by coordinate, (n, n) each."""
        slopes = slopes_on_joints(self.posed, self.b, written)
        return self._matrix(slopes.by_q), self._matrix(slopes.by_qd)

    def _matrix(self, pairs: Pairs[S]) -> Rows[S]:
        zero, numbers = self.b.algebra.zero, range(1, self.tree.n + 1)
        rows = [
            generalized_forces(self.tree, [pairs.get((j, k), zero) for k in numbers])
            for j in numbers
        ]
        columns = [generalized_forces(self.tree, column) for column in zip(*rows, strict=True)]
        return [list(row) for row in zip(*columns, strict=True)]

    def by_parameters(self, values: Callable[[], Sequence[S]]) -> Rows[S]:
        """The derivatives of what `values` writes by the runtime parameters, a row for each."""
        start = self.b.length
        entries = values()
        parameters = symbolic_parameters(self.tree)
        derivatives = differentiate(self.b, [parameters], range(start, self.b.length))
        zero, places = self.b.algebra.zero, range(len(parameters.symbols))
        rows = [derivatives.of(entry) for entry in entries]
        return [[row.get(k, zero) for k in places] for row in rows]


# ------------------------------------------------------------------------------------- torques


def torques(forced: Forced[S]) -> Results[S]:
    """tau - Q, of which forces are a part as loads are."""
    results = forced.call()
    name = next(x for x in ("tau", "bias_forces", "load_torques") if x in results)
    less = _less(results[name], forced.Q(forced.laws()))
    return {**results, name: forced.named(name, results[name], less)}


def torque_derivatives(forced: Forced[S]) -> Results[S]:
    """tau - Q, and its derivatives."""
    results, written = forced.call(), forced.laws(slopes=True)
    by_q, by_qd = forced.matrices(written)
    tau = results["tau"]
    results["tau"] = forced.named("tau", tau, _less(tau, forced.Q(written)))
    for name, rows in (("dtau_dq", by_q), ("dtau_dqd", by_qd)):
        less = _less(results[name], flat(rows))
        results[name] = forced.named(name, results[name], less, "dFM-9")
    return forced.b.substitute(written.values, results)


def torque_hessian(forced: Forced[S]) -> Results[S]:
    """Return the Hessian of multipliers . tau, less that of multipliers . Q."""
    results, start = forced.call(), forced.b.length
    blocks = curvatures(forced.tree, forced.b, forced.state, forced.Q(forced.laws()), start)
    for name, rows in blocks.items():
        less = _less(results[name], flat(rows))
        results[name] = forced.named(name, results[name], less, "ddFM-9")
    return results


# -------------------------------------------------------------------------------------- energy


def potential_energy(forced: Forced[S]) -> Results[S]:
    """Write the potential energy, that of the springs included."""
    ((name, (energy,)),) = forced.call().items()
    more = energy + stored(forced.b, forced.laws())
    return {name: forced.named(name, [energy], [more])}


# ------------------------------------------------------------------------------ joint wrenches


def joint_wrenches(forced: Forced[S]) -> Results[S]:
    """Write the joint wrenches: FM-8 added."""
    ((name, entries),) = forced.call().items()
    wrenches = transmitted(forced.b, forced.laws())
    more = _with_wrenches(forced, entries, wrenches.values)
    return {name: forced.named(name, entries, more, "FM-8")}


def joint_wrench_derivatives(forced: Forced[S]) -> Results[S]:
    """FM-8 and its derivatives added."""
    results, written = forced.call(), forced.laws(slopes=True)
    wrenches = transmitted(forced.b, written, slopes=True)
    name, entries = "joint_wrenches", results["joint_wrenches"]
    results[name] = forced.named(
        name, entries, _with_wrenches(forced, entries, wrenches.values), "FM-8"
    )
    for name, pairs in (("dw_dq", wrenches.by_q), ("dw_dqd", wrenches.by_qd)):
        if pairs:
            more = _with_wrench_slopes(forced, results[name], pairs)
            results[name] = forced.named(name, results[name], more, "dFM-9")
    return forced.b.substitute(written.values, results)


def _with_wrenches(
    forced: Forced[S], former: Sequence[S], wrenches: Mapping[int, tuple[S, ...]]
) -> list[S]:
    entries = list(former)
    for row, j in enumerate(forced.tree.link_sides):
        for part, entry in enumerate(wrenches.get(j, ())):
            entries[6 * row + part] = entries[6 * row + part] + entry
    return entries


def _with_wrench_slopes(
    forced: Forced[S], former: Sequence[S], pairs: Mapping[tuple[int, int], tuple[S, ...]]
) -> list[S]:
    entries, n = list(former), forced.n
    zero, numbers = forced.b.algebra.zero, range(1, forced.tree.n + 1)
    nothing = (zero,) * 6
    for row, j in enumerate(forced.tree.link_sides):
        for part in range(6):
            columns = generalized_forces(
                forced.tree, [pairs.get((j, k), nothing)[part] for k in numbers]
            )
            for k, entry in enumerate(columns):
                place = (6 * row + part) * n + k
                if not forced.b.algebra.is_zero(entry):
                    entries[place] = entries[place] + entry
    return entries


# ------------------------------------------------------------------------------- accelerations


def accelerations(forced: Forced[S]) -> Results[S]:
    """Write the accelerations of tau + Q; a prescribed joint takes Q less."""
    Q = forced.Q(forced.laws())
    with _answering(forced, Q) as values:
        results = forced.call()
    name, y = next(iter(results.items()))
    results[name] = forced.named(name, y, _without_prescribed(forced, y, Q))
    return forced.b.substitute(values, results)


def acceleration_derivatives(forced: Forced[S]) -> Results[S]:
    """d y/dx + R dQ/dx, where R is the response to the forces of the drives."""
    b, written = forced.b, forced.laws(slopes=True)
    Q, slopes = forced.Q(written), forced.matrices(written)
    with _answering(forced, Q) as values:
        results = forced.call()
    y, by_q, by_qd, by_torques = list(results)[:4]
    R = _rows(results[by_torques], forced.n)
    results[y] = forced.named(y, results[y], _without_prescribed(forced, results[y], Q))
    for name, rows in zip((by_q, by_qd), slopes, strict=True):
        more = _more(results[name], _answer(forced, R, rows))
        results[name] = forced.named(name, results[name], more, "dFM-9")
    return b.substitute(written.values, b.substitute(values, results))


def acceleration_parameter_derivatives(forced: Forced[S]) -> Results[S]:
    """d y/dp + R dQ/dp; R is a result of the derivatives by the state."""
    b, Q, rows = forced.b, *_by_parameters(forced)
    of = DERIVATIVES[forced.function].of
    function = next(name for name, x in DERIVATIVES.items() if x.of == of and "qd" in x.by)
    with _answering(forced, Q) as values:
        results = forced.call()
        with b.variant("_response", "response"):
            response = forced.call(function)
    name, entries = next(iter(results.items()))
    R = _rows(list(response.values())[3], forced.n)
    more = _more(entries, _answer(forced, R, rows))
    results[name] = forced.named(name, entries, more, "dFM-9")
    return b.substitute(values, results)


def sensitivities(forced: Forced[S]) -> Results[S]:
    """Write the total derivatives of the accelerations of tau + Q.

    These torques vary by dtau + dQ/dp + dQ/dq dq + dQ/dqd dqd.
    """
    b, Q, rows = forced.b, *_by_parameters(forced)
    with b.variant("_along"):
        written = forced.laws(slopes=True)
        slopes = forced.matrices(written)
    dtau = b.declared("dtau")
    moved = [_rows(b.declared(name).symbols, forced.n) for name in ("dq", "dqd")]
    along = _product(slopes[0], moved[0]), _product(slopes[1], moved[1])
    totals = [_rows(dtau.symbols, forced.n), rows, *along]
    names = [f"{name}_free" for name in dtau.symbol_names]
    held = b.auxiliary("dtau", dtau.shape, names)
    seeds = {}
    with b.step("with forces"):
        for k, terms in enumerate(zip(*map(flat, totals), strict=True)):
            seeds[held.symbols[k]] = b.let(names[k], total(terms, b.algebra), "dFM-9")
    with b.taking([held]), _answering(forced, Q) as values:
        results = forced.call()
    return b.substitute(written.values, b.substitute({**values, **seeds}, results))


def _by_parameters(forced: Forced[S]) -> tuple[list[S], Rows[S]]:
    """Q and dQ/dp."""
    slopes: list[S] = []

    def values() -> list[S]:
        slopes.extend(forced.Q(forced.laws()))
        return slopes

    return slopes, forced.by_parameters(values)


@contextmanager
def _answering(forced: Forced[S], Q: Sequence[S]) -> Iterator[dict[S, S]]:
    """Functions are given symbols for tau + Q of free coordinates; yields the values of these."""
    b, hybrid = forced.b, function_named(forced.function).is_hybrid
    torques = b.declared("x" if hybrid else "tau")
    free = [k for k, is_free in enumerate(forced.free) if is_free]
    names = [f"tau_{k + 1}_free" for k in free]
    symbols = dict(zip(free, b.auxiliary("tau", (len(free),), names).symbols, strict=True))
    values: dict[S, S] = {}
    with b.step("with forces"):
        for k, name in zip(free, names, strict=True):
            values[symbols[k]] = b.let(name, forced.state.tau[k] + Q[k], "FM-9")
    tau = tuple(symbols.get(k, entry) for k, entry in enumerate(forced.state.tau))
    entries = tuple(symbols.get(k, entry) for k, entry in enumerate(torques.symbols))
    labels = tuple(
        names[free.index(k)] if k in symbols else name
        for k, name in enumerate(torques.symbol_names)
    )
    without, forced.state = forced.state, replace(forced.state, tau=tau)
    with b.taking([Input(torques.name, torques.shape, entries, labels)]):
        yield values
    forced.state = without


def _without_prescribed(forced: Forced[S], y: Sequence[S], Q: Sequence[S]) -> list[S]:
    """Subtract Q from the torques of prescribed joints."""
    pairs = zip(y, Q, forced.free, strict=True)
    return [entry if free else entry - force for entry, force, free in pairs]


def _answer(forced: Forced[S], R: Rows[S], rows: Rows[S]) -> list[S]:
    """Return the response of coordinates to changes `rows` of Q, (n, m): R over the free ones, less
    those of prescribed ones."""
    zero, free = forced.b.algebra.zero, [k for k, x in enumerate(forced.free) if x]
    acting = [[row[k] for k in free] for row in R]
    answers = _product(acting, [rows[k] for k in free]) if free else []
    answers = answers or [[zero] * len(row) for row in rows]
    return [
        answer if forced.free[i] else answer - rows[i][k]
        for i, row in enumerate(answers)
        for k, answer in enumerate(row)
    ]


# --------------------------------------------------------------------------------- small algebra


def _less(entries: Sequence[S], subtrahends: Sequence[S]) -> list[S]:
    return [x - y for x, y in zip(entries, subtrahends, strict=True)]


def _more(entries: Sequence[S], summands: Sequence[S]) -> list[S]:
    return [x + y for x, y in zip(entries, summands, strict=True)]


def _rows(entries: Sequence[S], count: int) -> Rows[S]:
    width = len(entries) // count if count else 0
    return [list(entries[k * width : (k + 1) * width]) for k in range(count)]


def _product(left: Sequence[Sequence[S]], right: Sequence[Sequence[S]]) -> Rows[S]:
    columns = list(zip(*right, strict=True))
    return [[_dot(row, column) for column in columns] for row in left]


def _dot(x: Sequence[S], y: Sequence[S]) -> S:
    value = x[0] * y[0]
    for left, right in zip(x[1:], y[1:], strict=True):
        value = value + left * right
    return value


FUNCTIONS: Mapping[str, Callable[[Forced[Any]], Results[Any]]] = {
    "inverse_dynamics": torques,
    "bias_forces": torques,
    "torque_parts": torques,
    "inverse_dynamics_derivatives": torque_derivatives,
    "inverse_dynamics_hessian": torque_hessian,
    "potential_energy": potential_energy,
    "joint_wrenches": joint_wrenches,
    "joint_wrench_derivatives": joint_wrench_derivatives,
    "forward_dynamics": accelerations,
    "forward_dynamics_derivatives": acceleration_derivatives,
    "forward_dynamics_parameter_derivatives": acceleration_parameter_derivatives,
    "forward_dynamics_sensitivities": sensitivities,
    "hybrid_dynamics": accelerations,
    "hybrid_dynamics_derivatives": acceleration_derivatives,
    "hybrid_dynamics_parameter_derivatives": acceleration_parameter_derivatives,
}
"""The functions that forces have a part in, but outputs, which see them as they see loads."""

NEEDS: Mapping[str, str] = {
    "forward_dynamics_parameter_derivatives": "forward_dynamics_derivatives",
    "hybrid_dynamics_parameter_derivatives": "hybrid_dynamics_derivatives",
}
"""Functions of the tree that a function with forces needs, too."""
