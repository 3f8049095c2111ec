"""Expressions of a model file as scalars of an algebra, and symbols that have definitions.

A parameter that is an argument at run time determines those that are derived from it: they are
replaced by their definitions, so that the equations, and their derivatives with respect to
parameters, follow by the chain rule.  All others stay names, derived ones included; folding puts
numbers in their place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from operator import add, mul, neg, sub, truediv
from typing import Any, cast

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Vector
from symgen.description.expressions import Expression, Name, Node, Number
from symgen.description.model import Parameter, Triple
from symgen.description.scalars import dependency_order

_ARITHMETIC: Mapping[str, Callable[..., Any]] = {
    "+": add, "-": sub, "*": mul, "/": truediv, "neg": neg,
}  # fmt: skip


def scalar(expression: Expression, algebra: Algebra[S]) -> S:
    """Return the expression over `algebra`; parameters become symbols of the same name."""
    return _scalar(expression.root, algebra)


def vector(triple: Triple, algebra: Algebra[S]) -> Vector[S]:
    """Three expressions as a vector."""
    return Vector(*(scalar(part, algebra) for part in triple))


def _scalar(node: Node, algebra: Algebra[S]) -> S:
    # Recursion is safe: the grammar limits the depth of an expression.
    if isinstance(node, Number):
        return algebra.constant(node.value)
    if isinstance(node, Name):
        if node.name == "pi":
            return algebra.constant(math.pi)
        if node.name == "deg":
            return algebra.constant(math.pi) / algebra.constant(180.0)
        return algebra.symbol(node.name)
    operands = [_scalar(operand, algebra) for operand in node.operands]
    if node.operator in _ARITHMETIC:
        result: S = _ARITHMETIC[node.operator](*operands)
        return result
    if node.operator in ("max", "min"):
        return _extreme(node.operator, operands[0], operands[1], algebra)
    return algebra.function("pow" if node.operator == "**" else node.operator, *operands)


def _extreme(name: str, x: S, y: S, algebra: Algebra[S]) -> S:
    """Express the larger or smaller operand as x s + y (1 - s), s = 1 for x and 0 for y.

    This is exact, because each operand is multiplied by 0 or 1.  Where both are equal s is 1/2, so
    that the derivative is the mean of both.
    """
    first = algebra.function("sign", x - y if name == "max" else y - x)
    share = algebra.constant(0.5) * (algebra.one + first)
    return x * share + y * (algebra.one - share)


class _WithDefinitions:
    """An algebra whose `symbol` looks a name up first; all else is delegated."""

    def __init__(self, algebra: Any, definitions: Mapping[str, Any]) -> None:
        self._algebra, self._definitions = algebra, definitions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._algebra, name)

    def symbol(self, name: str) -> Any:
        definition = self._definitions.get(name)
        return self._algebra.symbol(name) if definition is None else definition


def with_definitions(algebra: Algebra[S], definitions: Mapping[str, S]) -> Algebra[S]:
    """Extend an algebra: `symbol` gives the definition of a name; `definitions` may grow later."""
    extended: Algebra[S] = cast(Any, _WithDefinitions(algebra, definitions))
    return extended


def followers(parameters: Sequence[Parameter], leaders: Collection[str]) -> dict[str, Parameter]:
    """Return the parameters derived from one of `leaders`, each after those in its expression."""
    by_name = {parameter.name: parameter for parameter in parameters}
    order, _ = dependency_order({p.name: p.expression.names for p in parameters})
    changing, dependents = set(leaders), {}
    for name in order:
        if not changing.isdisjoint(by_name[name].expression.names):
            changing.add(name)
            dependents[name] = by_name[name]
    return dependents


def definitions_of(
    parameters: Sequence[Parameter], runtime: Collection[str], algebra: Algebra[S]
) -> dict[str, S]:
    """The parameters that follow one of `runtime`, by name, as expressions over `algebra`."""
    definitions: dict[str, S] = {}
    defining = with_definitions(algebra, definitions)
    for name, parameter in followers(parameters, runtime).items():
        definitions[name] = scalar(parameter.expression, defining)
    return definitions
