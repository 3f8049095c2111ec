"""Forces of the model: what springs and applied forces add to the equations of every formulation.

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
from symgen.formulations.coupled import felt, state_of_joints
from symgen.formulations.forces import columns, generalized, laws
from symgen.formulations.forces.columns import curvatures
from symgen.formulations.forces.generalized import (
    Pairs,
    felt_by_joints,
    felt_slopes,
    stored,
    transmitted,
)
from symgen.formulations.forces.laws import Laws, write_laws
from symgen.formulations.shared import symbolic_parameters
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.differentiation import differentiate
from symgen.program.functions import function_named
from symgen.program.program import Input, Output

NOTES = {
    "FM-9": "with the forces of the model: tau - Q, accelerations of tau + Q, energy of springs",
    "dFM-9": "with the forces of the model: d tau/dx - dQ/dx; d qdd/dx + M^-1 dQ/dx",
    "ddFM-9": "with the forces of the model: the Hessian of multipliers . (tau - Q)",
}

ALL_NOTES = {**columns.NOTES, **laws.NOTES, **generalized.NOTES, **NOTES}

Write = Callable[[KinematicTree[Any], ProgramBuilder[Any], State[Any], str], None]
"""Writes a function, called by its name, of the tree without its forces."""

Rows = list[list[S]]


def write(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], written: Write, function: str
) -> None:
    """Write `function`; what forces have no part in is as without them."""
    if function in FUNCTIONS:
        FUNCTIONS[function](Forced(tree, b, state, written, function))
    else:
        written(tree, b, state, function)


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
        hybrid = self.function.startswith("hybrid")
        return tuple(not (hybrid and joint.prescribed) for joint in self.tree.independent)

    # -------------------------------------------------------------------- with and without forces

    def call(self, function: str | None = None) -> None:
        """Write a function of the tree without its forces."""
        self.written(self.tree, self.b, self.state, function or self.function)

    def taken(self, function: str | None = None) -> dict[str, Output[S]]:
        """Withdraw and return the results of the function, by name."""
        spec = function_named(function or self.function)
        return {array.name: self.b.withdraw(array.name) for array in spec.results}

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Hidden outputs of the function stay behind the results that are declared inside."""
        kept = [self.b.withdraw(array.name) for array in function_named(self.function).hidden]
        yield
        for array in kept:
            self.b.output(array.name, array.shape, array.entries)

    def output(self, output: Output[S], entries: Sequence[S], note: str = "FM-9") -> None:
        """A result instead of `output`; entries that differ get names."""
        named = []
        with self.b.step("with forces"):
            for k, (old, entry) in enumerate(zip(output.entries, entries, strict=True), start=1):
                name = f"forced_{output.name}_{k}" if output.shape else f"forced_{output.name}"
                named.append(old if entry is old else self.b.let(name, entry, note))
        self.b.output(output.name, output.shape, named)

    def laws(self, slopes: bool = False) -> Laws[S]:
        """The forces, and with `slopes` what their derivatives take."""
        return write_laws(self.posed, self.b, self.joints, slopes)

    def Q(self, written: Laws[S]) -> list[S]:
        """FM-6 by coordinate."""
        return list(felt(self.tree, felt_by_joints(self.posed, self.b, written)))

    def matrices(self, written: Laws[S]) -> tuple[Rows[S], Rows[S]]:
        """dQ/dq and dQ/dqd by coordinate, (n, n) each."""
        slopes = felt_slopes(self.posed, self.b, written)
        return self._matrix(slopes.by_q), self._matrix(slopes.by_qd)

    def _matrix(self, pairs: Pairs[S]) -> Rows[S]:
        zero, numbers = self.b.algebra.zero, range(1, self.tree.n + 1)
        rows = [felt(self.tree, [pairs.get((j, k), zero) for k in numbers]) for j in numbers]
        columns = [felt(self.tree, column) for column in zip(*rows, strict=True)]
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


def torques(forced: Forced[S]) -> None:
    """tau - Q, of which forces are a part as loads are."""
    forced.call()
    for name, output in forced.taken().items():
        entries = list(output.entries)
        if name in ("tau", "bias_forces", "load_torques"):
            entries = _less(entries, forced.Q(forced.laws()))
        forced.output(output, entries)


def torque_derivatives(forced: Forced[S]) -> None:
    """tau - Q, and its derivatives."""
    forced.call()
    outputs, written = forced.taken(), forced.laws(slopes=True)
    by_q, by_qd = forced.matrices(written)
    forced.output(outputs["tau"], _less(outputs["tau"].entries, forced.Q(written)))
    for name, rows in (("dtau_dq", by_q), ("dtau_dqd", by_qd)):
        forced.output(outputs[name], _less(outputs[name].entries, _flat(rows)), "dFM-9")
    forced.output(outputs["dtau_dqdd"], outputs["dtau_dqdd"].entries)
    forced.b.substitute(written.values)


def torque_hessian(forced: Forced[S]) -> None:
    """The Hessian of multipliers . tau, less that of multipliers . Q."""
    forced.call()
    outputs, start = forced.taken(), forced.b.length
    blocks = curvatures(forced.tree, forced.b, forced.state, forced.Q(forced.laws()), start)
    for name, output in outputs.items():
        rows = blocks.get(name)
        entries = _less(output.entries, _flat(rows)) if rows else output.entries
        forced.output(output, entries, "ddFM-9")


# -------------------------------------------------------------------------------------- energy


def potential_energy(forced: Forced[S]) -> None:
    """Write the potential energy, that of the springs included."""
    forced.call()
    ((_, output),) = forced.taken().items()
    (energy,) = output.entries
    forced.output(output, [energy + stored(forced.b, forced.laws())])


# ------------------------------------------------------------------------------ joint wrenches


def joint_wrenches(forced: Forced[S]) -> None:
    """Write the joint wrenches: FM-8 added."""
    forced.call()
    output = forced.taken()["joint_wrenches"]
    wrenches = transmitted(forced.b, forced.laws())
    forced.output(output, _with_wrenches(forced, output, wrenches.values), "FM-8")


def joint_wrench_derivatives(forced: Forced[S]) -> None:
    """FM-8 and its derivatives added."""
    forced.call()
    outputs, written = forced.taken(), forced.laws(slopes=True)
    wrenches = transmitted(forced.b, written, slopes=True)
    wrench_output = outputs.pop("joint_wrenches")
    forced.output(wrench_output, _with_wrenches(forced, wrench_output, wrenches.values), "FM-8")
    for output, pairs in zip(outputs.values(), (wrenches.by_q, wrenches.by_qd, {}),
                                     strict=True):  # fmt: skip
        entries = _with_wrench_slopes(forced, output, pairs) if pairs else output.entries
        forced.output(output, entries, "dFM-9")
    forced.b.substitute(written.values)


def _with_wrenches(
    forced: Forced[S], output: Output[S], wrenches: Mapping[int, tuple[S, ...]]
) -> list[S]:
    entries = list(output.entries)
    for row, j in enumerate(forced.tree.link_sides):
        for part, entry in enumerate(wrenches.get(j, ())):
            entries[6 * row + part] = entries[6 * row + part] + entry
    return entries


def _with_wrench_slopes(
    forced: Forced[S], output: Output[S], pairs: Mapping[tuple[int, int], tuple[S, ...]]
) -> list[S]:
    entries, n = list(output.entries), forced.n
    zero, numbers = forced.b.algebra.zero, range(1, forced.tree.n + 1)
    nothing = (zero,) * 6
    for row, j in enumerate(forced.tree.link_sides):
        for part in range(6):
            columns = felt(forced.tree, [pairs.get((j, k), nothing)[part] for k in numbers])
            for k, entry in enumerate(columns):
                place = (6 * row + part) * n + k
                if not forced.b.algebra.is_zero(entry):
                    entries[place] = entries[place] + entry
    return entries


# ------------------------------------------------------------------------------- accelerations


def accelerations(forced: Forced[S]) -> None:
    """Write the derivatives of tau + Q; a prescribed joint takes Q less."""
    b, Q = forced.b, forced.Q(forced.laws())
    with _given(forced, Q) as values:
        forced.call()
    ((_, output),) = forced.taken().items()
    with forced.hidden():
        forced.output(output, _without_prescribed(forced, output.entries, Q))
    b.substitute(values)


def acceleration_derivatives(forced: Forced[S]) -> None:
    """d y/dx + R dQ/dx, where R is the response to the forces of the drives."""
    b, written = forced.b, forced.laws(slopes=True)
    Q, slopes = forced.Q(written), forced.matrices(written)
    with _given(forced, Q) as values:
        forced.call()
    y, by_q, by_qd, by_given = forced.taken().values()
    R = _rows(by_given.entries, forced.n)
    with forced.hidden():
        forced.output(y, _without_prescribed(forced, y.entries, Q))
        for output, rows in zip((by_q, by_qd), slopes, strict=True):
            forced.output(output, _more(output.entries, _answer(forced, R, rows)), "dFM-9")
        forced.output(by_given, by_given.entries)
    b.substitute(values)
    b.substitute(written.values)


def acceleration_parameter_derivatives(forced: Forced[S]) -> None:
    """d y/dp + R dQ/dp; R is a result of the derivatives by the state."""
    b, Q, rows = forced.b, *_by_parameters(forced)
    function = forced.function.replace("_parameter", "")
    with _given(forced, Q) as values:
        forced.call()
        ((_, output),) = forced.taken().items()
        with forced.hidden():
            with b.variant("_response", "response"):
                forced.call(function)
            *_, by_given = forced.taken(function).values()
            for array in function_named(function).hidden:
                b.withdraw(array.name)
            R = _rows(by_given.entries, forced.n)
            forced.output(output, _more(output.entries, _answer(forced, R, rows)), "dFM-9")
    b.substitute(values)


def sensitivities(forced: Forced[S]) -> None:
    """Write the total derivatives of tau + Q, which varies by dtau + dQ/dp + dQ/dq dq + dQ/dqd
    dqd."""
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
        for k, terms in enumerate(zip(*map(_flat, totals), strict=True)):
            seeds[held.symbols[k]] = b.let(names[k], total(terms, b.algebra), "dFM-9")
    inputs = b.inputs
    b.redeclare([held])
    with _given(forced, Q) as values:
        forced.call()
    b.redeclare([array for array in inputs if array.name == "dtau"])
    b.substitute({**values, **seeds})
    b.substitute(written.values)


def _by_parameters(forced: Forced[S]) -> tuple[list[S], Rows[S]]:
    """Q and dQ/dp."""
    slopes: list[S] = []

    def values() -> list[S]:
        slopes.extend(forced.Q(forced.laws()))
        return slopes

    return slopes, forced.by_parameters(values)


@contextmanager
def _given(forced: Forced[S], Q: Sequence[S]) -> Iterator[dict[S, S]]:
    """Functions are given symbols for tau + Q of free coordinates; what they stand for."""
    b, hybrid = forced.b, forced.function.startswith("hybrid")
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
    b.redeclare([Input(torques.name, torques.shape, entries, labels)])
    without, forced.state = forced.state, replace(forced.state, tau=tau)
    yield values
    forced.state = without
    b.redeclare([torques])


def _without_prescribed(forced: Forced[S], y: Sequence[S], Q: Sequence[S]) -> list[S]:
    """The torques of prescribed joints take Q less."""
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


def _flat(rows: Sequence[Sequence[S]]) -> list[S]:
    return [entry for row in rows for entry in row]


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


FUNCTIONS: Mapping[str, Callable[[Forced[Any]], None]] = {
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
