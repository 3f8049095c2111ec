"""`loads` of a task: those that are given, and those that are found with the motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgen.description.expressions import Expression, parse
from symgen.description.reading import Listing, Node, Table
from symgen.description.wording import KeyPath
from symgen.planning.task import FreeLoad
from symgen.planning.values import Values

COMPONENTS = ("fx", "fy", "fz", "nx", "ny", "nz")
OF_TIME = ("t", "s", "T")
"""What loads may depend on: time (s), share of the time, total time (s)."""
_SIX = "[fx, fy, fz, nx, ny, nz]"
_ZERO = parse(0)

Loads = dict[int, tuple[Expression, ...]]


def read_loads(
    values: Values, module: Any, node: Node | None
) -> tuple[Loads, tuple[FreeLoad, ...]]:
    """By number of the load: six expressions; and the components that are unknown."""
    names = tuple(module.load_names)
    if node is not None and not names:
        values.fault(
            ("loads",), "this robot has no loads; --load LINK adds one, or 'loads:' in a model file"
        )
        return {}, ()
    loads: Loads = {}
    free: list[FreeLoad] = []
    given = values.table(node, ("loads",), names, f"NAME: {_SIX}")
    for name, value in given.items():
        path: KeyPath = ("loads", name)
        number = names.index(name)
        if isinstance(value, Table):
            parts = values.table(
                value, path, ("free", "given"), f"free: {{fx: limits}}, given: {_SIX}"
            )
            free += _free(values, number, parts.get("free"), (*path, "free"))
            value, path = parts.get("given"), (*path, "given")
        parsed = _six(values, value, path)
        if parsed:
            loads[number] = parsed
    return loads, tuple(free)


def _six(values: Values, node: Node | None, path: KeyPath) -> tuple[Expression, ...]:
    items = values.items(node, path, f"six numbers {_SIX}")
    if items and len(items) != len(COMPONENTS):
        values.fault(path, f"expected {_SIX}, found {len(items)} entries")
        return ()
    return tuple(
        values.expression(item, (*path, k), OF_TIME) or _ZERO for k, item in enumerate(items)
    )


def _free(values: Values, load: int, node: Node | None, path: KeyPath) -> list[FreeLoad]:
    """{fx: 50, fy: [0, 10], fz: none}, or a list of components without limits."""
    if isinstance(node, Listing):
        numbers = [
            values.name(item, (*path, k), COMPONENTS, "component of a load")
            for k, item in enumerate(node.items)
        ]
        return [FreeLoad(load, c, (-float("inf"), float("inf"))) for c in dict.fromkeys(numbers)]
    given = values.table(node, path, COMPONENTS, "components and their limits, {fx: 50}")
    return [
        FreeLoad(load, COMPONENTS.index(name), values.range(value, (*path, name)))
        for name, value in given.items()
    ]


def load_weights(
    values: Values, module: Any, node: Node | None, path: KeyPath, free: Sequence[FreeLoad]
) -> dict[tuple[int, int], float]:
    """Weights of the integrals of squared unknown components, {NAME: {fx: 1}}."""
    names, found = tuple(module.load_names), dict[tuple[int, int], float]()
    unknown = {(one.load, one.component) for one in free}
    for name, entries in values.table(node, path, names, "NAME: {fx: ...}").items():
        below = (*path, name)
        for part, value in values.table(entries, below, COMPONENTS, "components fx ... nz").items():
            key = names.index(name), COMPONENTS.index(part)
            if key not in unknown:
                values.fault((*below, part), f"it is not free: 'loads: {{{name}: {{free: ...}}}}'")
            found[key] = values.number(value, (*below, part))
            if found[key] < 0:
                values.fault((*below, part), "a weight is negative: the objective has no minimum")
    return found
