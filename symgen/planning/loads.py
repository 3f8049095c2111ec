"""`loads` of a task: expressions of time, or unknown components, optimised with the motion.

An expression may name t = s T, the share s of the time, and T.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.description.expressions import Expression, parse
from symgen.description.reading import Listing, Table
from symgen.errors import RequestError
from symgen.kinematics.scalars import scalar
from symgen.planning.values import COMPONENTS, Range, Value
from symgen.support.arrays import Array

_SHARE = "dt/dT"
"""Symbol of s that no parameter is called."""
Loads = dict[int, tuple[Expression, ...]]
"""Six expressions by number of the load."""
LoadsAt = Callable[[Array, float], tuple[Array, Array | None]]
"""Instants s in [0, 1] and T -> loads (K, n_loads, 6), and d loads / d T unless that is 0."""

OF_TIME = ("t", "s", "T")
"""Names in expressions of loads: time (s), share of the time, total time (s)."""
_SIX = "[fx, fy, fz, nx, ny, nz]"


@dataclass(frozen=True)
class FreeLoad:
    """An unknown component of a load, within `limits`."""

    load: int
    component: int
    limits: Range


def read_loads(value: Value, module: Any) -> tuple[Loads, tuple[FreeLoad, ...]]:
    """Read known loads, and unknown components."""
    names = tuple(module.load_names)
    if value.node is not None and not names:
        value.fault("this robot has no loads; --load LINK adds one, or 'loads:' in a model file")
        return {}, ()
    loads: Loads = {}
    free: list[FreeLoad] = []
    for name, entry in value.table(names, f"NAME: {_SIX}").items():
        load = names.index(name)
        if isinstance(entry.node, Table):
            parts = entry.table(("free", "given"), f"free: {{fx: limits}}, given: {_SIX}")
            free += _free(parts["free"], load)
            entry = parts["given"]
        items = entry.items(f"six numbers {_SIX}")
        if items and len(items) != len(COMPONENTS):
            entry.fault(f"expected {_SIX}, found {len(items)} entries")
        elif items:
            loads[load] = tuple(item.expression(OF_TIME) or parse(0) for item in items)
    return loads, tuple(free)


def _free(value: Value, load: int) -> list[FreeLoad]:
    """Read {fx: 50, fy: [0, 10], fz: none}, or a list of components without limits."""
    if isinstance(value.node, Listing):
        numbers = [x.name(COMPONENTS, "component of a load") for x in value.items("components")]
        return [FreeLoad(load, c, (-np.inf, np.inf)) for c in dict.fromkeys(numbers)]
    entries = value.table(COMPONENTS, "components and their limits, {fx: 50}")
    return [FreeLoad(load, COMPONENTS.index(c), x.range()) for c, x in entries.items()]


def read_weights(
    value: Value, module: Any, free: Sequence[FreeLoad]
) -> dict[tuple[int, int], float]:
    """Read weights of the integrals of squared unknown components, {NAME: {fx: 1}}."""
    names = tuple(module.load_names)
    unknown = {(load.load, load.component) for load in free}
    weights: dict[tuple[int, int], float] = {}
    for key, entry in value.by_component(names, "NAME: {fx: ...}").items():
        if key not in unknown:
            entry.fault(f"it is not free: 'loads: {{{names[key[0]]}: {{free: ...}}}}'")
        weights[key] = entry.number()
        if weights[key] < 0:
            entry.fault("a weight is negative: the objective has no minimum")
    return weights


def loads_at(
    loads: Mapping[int, tuple[Expression, ...]], count: int, parameters: Mapping[str, float]
) -> LoadsAt | None:
    """Return the function of known loads; None if there are none."""
    if not loads:
        return None
    graph = Graph()
    entries = [scalar(entry, graph) for load in loads.values() for entry in load]
    changes = {"t": graph.symbol(_SHARE), "T": graph.one}  # by T at fixed s
    changes = {name: x for name, x in changes.items() if name not in parameters}
    by_time = graph.derivatives([graph.symbol(x) for x in changes], [*changes.values()])
    rates = [by_time.of(entry).get(0, graph.zero) for entry in entries]
    moving = any(map(depends_on_time, loads.values()))

    def at(s: Array, T: float) -> tuple[Array, Array | None]:
        names = {"t": s * T, "s": s, "T": T, **parameters, _SHARE: s}
        with np.errstate(all="ignore"):
            results = evaluate([*entries, *rates], names)
        columns = np.stack([np.broadcast_to(x, s.shape) for x in results], axis=-1)
        acting = np.zeros((2, len(s), count, len(COMPONENTS)))
        acting[:, :, [*loads]] = np.moveaxis(columns.reshape(len(s), 2, -1, len(COMPONENTS)), 1, 0)
        if not np.all(np.isfinite(acting[0])):
            raise RequestError("a load has no finite value at some time of the motion")
        return acting[0], acting[1] if moving else None

    return at


def depends_on_time(entries: Sequence[Expression]) -> bool:
    """Return whether an expression names the time."""
    return any({*OF_TIME} & {*entry.names} for entry in entries)
