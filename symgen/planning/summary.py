"""The demands of a task as text: a table of its coordinates, and all else as in its file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from symgen.description.reading import Listing, Node, Scalar, Table
from symgen.page.animation import by_unit
from symgen.planning.task import Task
from symgen.support.arrays import Array

_LIMITS = {
    "position": "q", "velocity": "q̇ (1/s)", "acceleration": "q̈ (1/s²)", "jerk": "jerk (1/s³)",
    "torque": "torque (N m), force (N)",
}  # fmt: skip
_IN_TABLE = {"start": ("q", "qd", "qdd"), "goal": ("q", "qd", "qdd"), "limits": tuple(_LIMITS)}


def written(root: Node | None) -> Iterator[tuple[str, str]]:
    """Yield keys of a task file with their values, without those of `table_of_coordinates`."""
    for key, entry in root.entries.items() if isinstance(root, Table) else ():
        node = entry.value
        if isinstance(node, Table):
            kept = {k: x for k, x in node.entries.items() if k not in _IN_TABLE.get(key, ())}
            node = Table(kept, node.line)
        if key != "symgen_task" and (text := _text(node)):
            yield key, text


def _text(node: Node, brackets: str = "  ") -> str:
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Listing):
        return f"[{', '.join(_text(item, '{}') for item in node.items)}]"
    entries = (f"{key}: {_text(x.value, '{}')}" for key, x in node.entries.items())
    return f"{brackets[0]}{', '.join(entries)}{brackets[1]}".strip()


def table_of_coordinates(task: Task, module: Any) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return headings, and a row for each coordinate that has an entry: its name, entries."""
    columns: dict[str, dict[str, str]] = {}
    names, rates = module.position_names, module.coordinate_names
    for title, state in (("start", task.start), ("goal", task.goal)):
        q = task.chart.configuration(state.q)
        columns[f"{title} q"] = _ranges(rates, state.ranges) | _ranges(names, np.c_[q, q])
        for letter, x in (("q̇", state.qd), ("q̈", state.qdd)):
            shown = np.any(np.abs(x) > 0) or (letter == "q̇" and np.isnan(x).any())
            columns[f"{title} {letter}"] = _ranges(rates, np.c_[x, x], "free") if shown else {}
    for kind, heading in _LIMITS.items():
        columns[f"limits of {heading}"] = _ranges(rates, getattr(task.limits, kind))
    drives = zip(rates, module.actuated, strict=True)
    columns[f"limits of {_LIMITS['torque']}"] |= {
        x: "no drive" for x, driven in drives if not driven
    }
    columns = {heading: entries for heading, entries in columns.items() if entries}
    units = {rates[k]: unit for unit, ks in by_unit(module, True).items() for k in ks}
    units |= {names[k]: unit for unit, ks in by_unit(module, False).items() for k in ks}
    rows = [
        (
            f"{x} ({units[x]})" if units[x] else x,
            *(entries.get(x, "") for entries in columns.values()),
        )
        for x in dict.fromkeys((*names, *rates))
    ]
    return list(columns), [row for row in rows if any(row[1:])]


def _ranges(names: Sequence[str], limits: Array, missing: str = "") -> dict[str, str]:
    """Return ranges (n, 2) by name, of those that are finite."""
    texts = {}
    for name, (low, high) in zip(names, limits, strict=True):
        ends = [f"{x:.4g}".replace("inf", "∞") for x in (low, high)]
        text = ends[0] if low == high else f"±{ends[1]}" if low == -high else " to ".join(ends)
        texts[name] = text if np.isfinite([low, high]).any() else missing
    return {name: text for name, text in texts.items() if text}
