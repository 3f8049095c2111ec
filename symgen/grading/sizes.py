"""Bounds of the size of an answer with its definitions substituted and products expanded.

An answer is untrusted input: thirty lines, each with the square of the previous one, would not end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from symgen.description.expressions import Name, Node, Number, Operation

HIGHEST_POWER = 1000
MOST_LEAVES = 20_000
"""Maximum number of numbers and names of an expression, definitions substituted."""

_MANY = 10**9
_HIGHEST_OF_SUMS = 64


@dataclass(frozen=True)
class Size:
    """Numbers of terms, at most, and of `leaves`; the highest power, infinite for ``2**x``."""

    terms: int = 1
    leaves: int = 1
    power: float = 1.0


def size_of(node: Node, names: Mapping[str, Size]) -> Size:
    """Return the size of an expression; `names` are the sizes of definitions."""
    if isinstance(node, Number):
        return Size()
    if isinstance(node, Name):
        return names.get(node.name, Size())
    parts = [size_of(x, names) for x in node.operands]
    leaves = min(sum(x.leaves for x in parts), _MANY)
    return Size(min(_terms(node, parts), _MANY), leaves, _power(node, parts))


def too_large(size: Size) -> str:
    """Explain why an expression is refused; "" if it is not."""
    if size.power > HIGHEST_POWER:
        return f"a power higher than {HIGHEST_POWER}, or one that is no number"
    if size.leaves > MOST_LEAVES:
        return f"more than {MOST_LEAVES} numbers and names when all names are put in"
    return ""


def _terms(node: Operation, parts: list[Size]) -> int:
    if node.operator in "+-":
        return parts[0].terms + parts[1].terms
    if node.operator == "*":
        return parts[0].terms * parts[1].terms
    if node.operator == "**":
        exponent = _number(node.operands[1])
        if exponent is not None:
            return int(parts[0].terms ** math.ceil(min(abs(exponent), _HIGHEST_OF_SUMS)))
    return parts[0].terms


def _power(node: Operation, parts: list[Size]) -> float:
    powers = [x.power for x in parts]
    if node.operator == "**":
        exponent = _number(node.operands[1])
        return float("inf") if exponent is None else powers[0] * max(1.0, abs(exponent))
    return sum(powers) if node.operator in "*/" else max(powers)


def _number(node: Node) -> float | None:
    """Return the value of a number with signs, or of a fraction of two; else None."""
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Operation) and node.operator == "neg":
        value = _number(node.operands[0])
        return None if value is None else -value
    if isinstance(node, Operation) and node.operator == "/":
        first, second = (_number(x) for x in node.operands)
        return first / second if first is not None and second else None
    return None
