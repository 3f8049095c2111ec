"""The parameters of a model: legal names, no circles, and their values in dependency order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from symgen.description.expressions import ZERO
from symgen.description.findings import Findings
from symgen.description.model import Parameter
from symgen.description.names import illegal_parameter_name
from symgen.description.scalars import Scalars
from symgen.description.schema import RobotTable
from symgen.description.wording import KeyPath, shown

_LONGEST_CYCLE = 8  # names of a circle that a message shows
_COORDINATE = re.compile(r"(?P<symbol>q|qd|qdd)_(?P<number>[0-9]+)")
_WORDS = re.compile("[A-Za-z\u00b0\u00b5\u03bc]+")
_NOT_SI = (
    "mm", "cm", "dm", "km", "um", "\u00b5m", "\u03bcm", "inch", "in", "ft", "g", "mg", "lb", "deg",
    "degree", "degrees", "\u00b0", "rpm", "ms",
)  # fmt: skip
_COORDINATES: Mapping[str, str] = {"q": "coordinate", "qd": "velocity", "qdd": "acceleration"}


def check_parameters(
    robot: RobotTable, findings: Findings
) -> tuple[tuple[Parameter, ...], Scalars]:
    """The parameters in the order of the file, and the evaluation of all that builds on them."""
    places: dict[str, KeyPath] = {name: ("parameters", name) for name in robot.parameters or {}}
    readable = robot.parameters is not None or not robot.gives("parameters")
    expressions = {name: table.value for name, table in (robot.parameters or {}).items()
                   if table is not None and table.value is not None}  # fmt: skip
    scalars = Scalars(findings, places, expressions, trusted=readable)
    dependencies = {name: value.names for name, value in expressions.items()}
    for name in places:
        illegal = illegal_parameter_name(name)
        if illegal:
            findings.fault(places[name], illegal)
    order, cycles = dependency_order(dependencies)
    for cycle in cycles:
        findings.fault(
            places[cycle[0]],
            f"circular definition: {_shown_cycle(cycle)}; give one of them a number",
        )
    circular = {name for cycle in cycles for name in cycle}  # only asked for membership
    for name in order:
        if name in circular:
            scalars.names_are_known(places[name], expressions[name])
            continue
        value = scalars.value(places[name], expressions[name])
        if value is not None:
            scalars.define(name, value)
    return tuple(_parameters(robot, scalars)), scalars


def _parameters(robot: RobotTable, scalars: Scalars) -> Iterator[Parameter]:
    for name, table in (robot.parameters or {}).items():
        if table is not None:
            yield Parameter(
                name=name,
                expression=table.value or ZERO,
                value=scalars.values.get(name, 0.0),
                source=scalars.findings.source(scalars.known[name]),
                unit=table.unit or "",
                description=table.description or "",
            )


def warn_unused(parameters: Sequence[Parameter], scalars: Scalars) -> None:
    """Warn of every parameter that no expression of the file names."""
    for parameter in parameters:
        if parameter.name not in scalars.used:
            scalars.findings.warn(("parameters", parameter.name), "this parameter is not used")


def warn_units(parameters: Sequence[Parameter], scalars: Scalars) -> None:
    """Warn of a value in another unit than SI that an entry of the file takes as it is."""
    for parameter in parameters:
        foreign = [word for word in _WORDS.findall(parameter.unit) if word in _NOT_SI]
        if foreign and parameter.name in scalars.alone:
            place = scalars.findings.document.key(scalars.alone[parameter.name])
            scalars.findings.warn(
                ("parameters", parameter.name),
                f"the unit {shown(parameter.unit)} is for readers only: {place} takes the value "
                f"{parameter.value:.6g} as it is, in SI units (m, kg, s, rad)",
            )


def warn_coordinates(parameters: Sequence[Parameter], findings: Findings) -> None:
    """Warn of every parameter that is called like a symbol of the equations."""
    for parameter in parameters:
        match = _COORDINATE.fullmatch(parameter.name)
        if match is not None:
            name, what = parameter.name, _COORDINATES[match["symbol"]]
            findings.warn(
                ("parameters", name),
                f"equations call {what} {match['number']} {shown(name)} and will rename theirs to "
                f"{shown(f'{name}_2')}; another parameter name reads better",
            )


def dependency_order(
    dependencies: Mapping[str, Sequence[str]],
) -> tuple[list[str], list[tuple[str, ...]]]:
    """Names with those that they depend on first, and the circles among them.

    Names that are not keys of `dependencies` are passed over.  A depth-first search with its own
    stack: a chain of definitions may be as long as the file.  Circles that share a name with one
    that was found before are not listed.
    """
    listed = {name: position for position, name in enumerate(dependencies)}
    order: list[str] = []
    cycles: list[tuple[str, ...]] = []
    circular: set[str] = set()  # these two are only asked for membership
    finished: set[str] = set()
    for start in dependencies:
        chain: dict[str, Iterator[str]] = {}  # the way from `start`, in order
        visit: str | None = None if start in finished else start
        while visit is not None or chain:
            if visit is not None:
                chain[visit] = iter(dependencies[visit])
            name = next(reversed(chain))
            visit = None
            for successor in chain[name]:
                if successor in chain:
                    cycle = _cycle(chain, successor, circular)
                    if cycle:
                        cycles.append(_from_first(cycle, listed))
                        circular.update(cycle)
                elif successor in dependencies and successor not in finished:
                    visit = successor
                    break
            else:
                finished.add(name)
                order.append(name)
                del chain[name]
    return order, cycles


def _cycle(chain: dict[str, Iterator[str]], start: str, circular: set[str]) -> tuple[str, ...]:
    """The end of `chain` from `start` on, or nothing where it meets a circle that is known."""
    cycle: list[str] = []
    for name in reversed(chain):
        if name in circular:
            return ()
        cycle.append(name)
        if name == start:
            break
    return tuple(reversed(cycle))


def _from_first(cycle: tuple[str, ...], listed: Mapping[str, int]) -> tuple[str, ...]:
    """A circle, turned to start at the name that the file lists first."""
    at = cycle.index(min(cycle, key=listed.__getitem__))
    return cycle[at:] + cycle[:at]


def _shown_cycle(cycle: tuple[str, ...]) -> str:
    names = [*cycle, cycle[0]]
    if len(names) > _LONGEST_CYCLE:
        names = [*names[: _LONGEST_CYCLE - 2], "...", cycle[-1], cycle[0]]
    return " -> ".join(names)
