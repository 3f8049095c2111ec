"""The demands of a task as text: a table of its coordinates, and all else as in its file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from symgen.description.reading import Listing, Node, Scalar, Table
from symgen.page.animation import by_unit
from symgen.planning.task import Task
from symgen.support.arrays import Array

TORQUE = "torque (N m), force (N)"
_LIMITS = {
    "position": "q", "velocity": "q̇ (1/s)", "acceleration": "q̈ (1/s²)", "jerk": "jerk (1/s³)",
    "torque": TORQUE,
}  # fmt: skip
_IN_TABLE = {"start": ("q",), "goal": ("q",), "limits": tuple(_LIMITS)}


def written(root: Node | None) -> Iterator[tuple[str, str]]:
    """Yield keys of a task file with their values, without those of `table_of_coordinates`."""
    for key, entry in root.entries.items() if isinstance(root, Table) else ():
        text = _text(entry.value, _IN_TABLE.get(key, ())).removeprefix("{").removesuffix("}")
        if text and key != "symgen_task":
            yield key, text


def _text(node: Node, without: Sequence[str] = ()) -> str:
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Listing):
        return f"[{', '.join(map(_text, node.items))}]"
    kept = (f"{k}: {_text(x.value)}" for k, x in node.entries.items() if k not in without)
    return f"{{{', '.join(kept)}}}"


def table_of_coordinates(task: Task, module: Any) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return headings, and a row for each coordinate that has an entry: its name, entries."""
    names, rates = module.position_names, module.coordinate_names
    columns = {
        f"limits of {x}": _ranges(rates, getattr(task.limits, k)) for k, x in _LIMITS.items()
    }
    for name, driven in zip(rates, module.actuated, strict=True):
        columns[f"limits of {TORQUE}"] |= {} if driven else {name: "no drive"}
    for title, state in (("goal q", task.goal), ("start q", task.start)):
        q = task.chart.configuration(state.q)
        entries = _ranges(rates, state.ranges) | _ranges(names, np.column_stack([q, q]))
        columns = {title: entries, **columns}
    columns = {heading: entries for heading, entries in columns.items() if entries}
    rows = {}
    for of_velocities, listed in ((False, names), (True, rates)):
        for unit, numbers in by_unit(module, of_velocities).items():
            for name in (listed[k] for k in numbers):
                rows[name] = (
                    f"{name} ({unit})" if unit else name,
                    *(x.get(name, "") for x in columns.values()),
                )
    order = sorted(rows, key=[*names, *rates].index)
    return list(columns), [rows[name] for name in order if any(rows[name][1:])]


def _ranges(names: Sequence[str], limits: Array) -> dict[str, str]:
    """Return ranges (n, 2) by name, of those that are finite."""
    texts: dict[str, str] = {}
    for name, (low, high) in zip(names, limits, strict=True):
        ends = [f"{x:.4g}".replace("inf", "∞") for x in (low, high)]
        text = ends[0] if low == high else f"±{ends[1]}" if low == -high else " to ".join(ends)
        texts |= {name: text} if np.isfinite([low, high]).any() else {}
    return texts
