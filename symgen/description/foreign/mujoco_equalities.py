"""Equality constraints of a compiled MuJoCo model -> loops and relations of a model file.

| constraint | model file |
| --- | --- |
| connect | a loop of type `spherical` |
| weld | a loop of type `fixed` |
| joint | a relation: MuJoCo's polynomial of fourth degree |

The second body of MuJoCo carries the first frame of the loop, so that the rows have MuJoCo's signs.
Constraints that are not active are left out, with a remark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symgen.description.foreign.legal import LegalNames
from symgen.description.foreign.nodes import table, text, triple
from symgen.description.foreign.rotations import from_quaternion, to_rpy
from symgen.description.foreign.xml import Element, Faults
from symgen.description.reading import Node

_LOOPS = {"connect": "spherical", "weld": "fixed"}


@dataclass(frozen=True)
class Closed:
    """What closes loops, as nodes of a model file; relations by name."""

    loops: Sequence[Node]
    relations: Mapping[str, Node]


def closed_by(
    equalities: Sequence[Mapping[str, Any]],
    links: Mapping[int, str],
    joints: Mapping[int, str],
    element_of: Callable[[str, str], Element],
    faults: Faults,
) -> Closed:
    """Loops and relations; `links` and `joints` are names by MuJoCo's numbers."""
    names = LegalNames(x["name"] for x in equalities)
    loops: list[Node] = []
    relations: dict[str, Node] = {}
    for number, one in enumerate(equalities, start=1):
        element = element_of(one["kind"], one["name"])
        given = one["name"] or f"{one['kind']}_{number}"
        if not one["active"]:
            faults.warn(element, f"{one['kind']}.{given}", "is not active, and left out")
            continue
        name = (names.new if one["name"] else names.made)("loop", given)
        if one["kind"] == "joint":
            relations[name] = text(_relation(one, joints), element.line)
        else:
            loops.append(_loop(name, one, links, element.line))
    return Closed(loops, relations)


def _loop(name: str, one: Mapping[str, Any], links: Mapping[int, str], line: int) -> Node:
    second, first = (_frame(side, links, line) for side in one["frames"])
    kind = text(_LOOPS[one["kind"]], line)
    entries = {"name": text(name, line), "type": kind, "first": first, "second": second}
    return table(entries, line)


def _frame(side: Sequence[Any], links: Mapping[int, str], line: int) -> Node:
    body, at, turn = side
    rpy = to_rpy(from_quaternion(turn))
    origin = table({"xyz": triple(at, line), "rpy": triple(rpy, line)}, line)
    return table({"link": text(links[body], line), "origin": origin}, line)


def _relation(one: Mapping[str, Any], joints: Mapping[int, str]) -> str:
    """q1 - q1_0 = a0 + a1 x + a2 x^2 + a3 x^3 + a4 x^4 with x = q2 - q2_0; x = 0 without q2."""
    (first, second), (zero, other_zero) = one["joints"], one["zeros"]
    constant, *factors = one["polynomial"]
    terms = [f"q.{joints[first]}", _signed(-zero - constant)]
    if second >= 0:
        x = f"(q.{joints[second]}{_signed(-other_zero)})" if other_zero else f"q.{joints[second]}"
        for power, factor in enumerate(factors, start=1):
            if factor:
                terms.append(f"{_signed(-factor)}*{x}" + (f"**{power}" if power > 1 else ""))
    return "".join(terms)


def _signed(value: float) -> str:
    """A number to be added, with all its digits; nothing for 0."""
    if not value:
        return ""
    return f" {'-' if value < 0 else '+'} {abs(value)!r}"
