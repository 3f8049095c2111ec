"""Closed loops of a mechanism, for its page: rows, freedoms, and facts for the script.

The page closes the loops again whenever a slider moves (`templates/report/mechanism.js`), from the
mechanism assembled at the initial positions of its file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from symgen.description.model import LoopEnd, RobotDescription
from symgen.errors import RequestError
from symgen.joints import closing_type
from symgen.joints.closing import Distance
from symgen.kinematics.loops import row_units, velocity_rows
from symgen.kinematics.tree import KinematicTree
from symgen.page.robot import placed, triple
from symgen.validation.mobility import Mobility, mobility

_WITHOUT_AXIS = (Distance.name, "spherical")


@dataclass(frozen=True)
class ClosingRow:
    """A loop or relation as text; `redundant` is empty where it is unknown."""

    name: str
    type: str
    first: str
    second: str
    rows: int
    redundant: str


@dataclass(frozen=True)
class ClosingPart:
    """Part of the page about closed loops.

    `start` are assembled coordinates (nq,) and `rates` (n,) velocities at the start of the page;
    `said` are constraints, freedoms and Gruebler's count in words, "" for types
    that only generated code has; `timed`: a relation varies with time.
    """

    rows: tuple[ClosingRow, ...] = ()
    said: str = ""
    start: tuple[float, ...] = ()
    rates: tuple[float, ...] = ()
    timed: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)


def closing_part(description: RobotDescription, tree: KinematicTree[Any]) -> ClosingPart | None:
    """Return the part of a mechanism, None for a tree; RequestError if loops do not close."""
    if not description.n_constraints:
        return None
    state = check_closing(description)
    start, rates = description.initial_state if state is None else (state.q, state.qd)
    timed = any("t" in relation.expression.names for relation in description.relations)
    return ClosingPart(
        rows=tuple(_rows(description, state)),
        said="" if state is None else str(state),
        start=start,
        rates=rates,
        timed=timed,
        facts={
            "rows": tree.constraint_names,
            "loops": [loop.name for loop in tree.loops],
            "actuated": [
                joint.actuated
                for joint in description.joints
                if joint.mimic is None
                for _ in joint.coordinate_names
            ],
            "timed": timed,
            "units": row_units(description),
            "velocityRows": velocity_rows(description),
        },
    )


def check_closing(description: RobotDescription) -> Mobility | None:
    """Return the mobility of a mechanism, if known; RequestError if its loops do not close."""
    state = mobility(description)
    if state is not None and state.open_by:
        raise RequestError(
            f"{description.file}: a report shows the mechanism with its loops closed from the "
            f"positions under 'initial': {state.open_by}"
        )
    return state


def _rows(description: RobotDescription, state: Mobility | None) -> Iterator[ClosingRow]:
    """Yield loops, relations, and the norms of Euler parameters."""
    spare = {} if state is None else {name: f"{k}" for name, k in state.redundant.items()}
    for loop in description.loops:
        rows = len(closing_type(loop.type).forbids)
        ends = _end(loop.first, loop.type), _end(loop.second, loop.type)
        yield ClosingRow(loop.name, loop.type, *ends, rows, spare.get(loop.name, ""))
    for relation in description.relations:
        text = f"{relation.expression.text} = 0"
        kind = "relation of velocities" if relation.is_of_velocities else "relation"
        yield ClosingRow(relation.name, kind, text, "", 1, spare.get(relation.name, ""))
    for joint in description.joints:
        if joint.is_redundant:
            name = f"{joint.name}_norm"
            redundant = spare.get(name, "")
            yield ClosingRow(name, "Euler parameters of norm 1", joint.name, "", 1, redundant)


def _end(end: LoopEnd, kind: str) -> str:
    """Return a link, and the frame on it, with an axis where the type has one."""
    axis = "" if kind in _WITHOUT_AXIS else f", axis {triple(end.axis)}"
    return f"{end.link}, {placed(end.origin)}{axis}"
