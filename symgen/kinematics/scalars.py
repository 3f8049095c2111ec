"""Expressions of a model file as scalars of an algebra."""

from __future__ import annotations

import math

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Vector
from symgen.description.expressions import Expression, Name, Node, Number, Operation
from symgen.description.model import Triple


def scalar(expression: Expression, algebra: Algebra[S]) -> S:
    """The expression over `algebra`; parameters become symbols of the same name."""
    return _scalar(expression.root, algebra)


def vector(triple: Triple, algebra: Algebra[S]) -> Vector[S]:
    """Three expressions as a vector."""
    return Vector(*(scalar(part, algebra) for part in triple))


def _scalar(node: Node, algebra: Algebra[S]) -> S:
    # Recursion is safe: the grammar limits the depth of an expression.
    if isinstance(node, Number):
        return algebra.constant(node.value)
    if isinstance(node, Name):
        return _named(node.name, algebra)
    operands = [_scalar(operand, algebra) for operand in node.operands]
    return _apply(node, operands, algebra)


def _named(name: str, algebra: Algebra[S]) -> S:
    if name == "pi":
        return algebra.constant(math.pi)
    if name == "deg":
        return algebra.constant(math.pi) / algebra.constant(180.0)
    return algebra.symbol(name)


def _apply(node: Operation, operands: list[S], algebra: Algebra[S]) -> S:
    if node.operator == "neg":
        return -operands[0]
    if node.operator == "+":
        return operands[0] + operands[1]
    if node.operator == "-":
        return operands[0] - operands[1]
    if node.operator == "*":
        return operands[0] * operands[1]
    if node.operator == "/":
        return operands[0] / operands[1]
    if node.operator in ("max", "min"):
        return _extreme(node.operator, operands[0], operands[1], algebra)
    return algebra.function("pow" if node.operator == "**" else node.operator, *operands)


def _extreme(name: str, x: S, y: S, algebra: Algebra[S]) -> S:
    """The larger or smaller of two: x s + y (1 - s) with s = 1 where x is meant, 0 where y is.

    It is exact, for each operand is multiplied by 0 or 1; where both are equal s is 1/2, and so
    that the derivative is the mean of both.
    """
    first = algebra.function("sign", x - y if name == "max" else y - x)
    share = algebra.constant(0.5) * (algebra.one + first)
    return x * share + y * (algebra.one - share)
