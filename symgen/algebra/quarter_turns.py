"""Turned vectors in the graph: what a turn by a quarter makes of them is there already.

A turn of (x, y) by an angle has the entries

    u = c x - s y,    v = s x + c y,    c, s the cosine and sine of the angle,

so that du / d angle = -v and dv / d angle = u: derivatives along a direction, and adjoints, need
neither those of c and s nor products with them.
"""

from __future__ import annotations

from dataclasses import dataclass

from symgen.algebra.nodes import ADD, MUL, SUB, Scalar

WAVES = ("sin", "cos")


@dataclass(frozen=True, slots=True)
class Turned:
    """One entry of a turned vector: the sum of factor times wave over `terms`.

    `products` are these terms as nodes, with the sign of the second one left out; `slope` is the
    derivative by `angle` where nothing else moves.
    """

    angle: Scalar
    terms: tuple[tuple[Scalar, Scalar], ...]
    products: tuple[Scalar, ...]
    slope: Scalar


def turned(node: Scalar) -> Turned | None:
    """`node` as an entry of a turned vector, where the other entry is in the graph."""
    if node.op not in (ADD, SUB) or any(arg.op is not MUL for arg in node.args):
        return None
    first, second = node.args
    for wave, x in _waves(first):
        for shifted, y in _waves(second):
            if wave.op == shifted.op or wave.args[0] is not shifted.args[0]:
                continue
            slope = _slope(node, wave, x, shifted, y)
            if slope is not None:
                sign = shifted if node.op is ADD else -shifted
                return Turned(wave.args[0], ((x, wave), (y, sign)), (first, second), slope)
    return None


def _waves(product: Scalar) -> list[tuple[Scalar, Scalar]]:
    """(sine or cosine, the other factor)"""
    a, b = product.args
    return [(wave, x) for wave, x in ((a, b), (b, a)) if wave.op in WAVES]


def _slope(node: Scalar, wave: Scalar, x: Scalar, shifted: Scalar, y: Scalar) -> Scalar | None:
    """d (wave x +- shifted y) / d angle, made of the products of x and y with the other waves."""
    graph = node.graph
    first, second = graph.known(MUL, shifted, x), graph.known(MUL, wave, y)
    if first is None or second is None:
        return None
    if node.op is SUB:  # both terms have the sign of the first one
        total = graph.known(ADD, first, second)
        return total if total is None or wave.op == "sin" else -total
    if wave.op == "cos":  # -sin x + cos y
        first, second = second, first
    total = graph.known(SUB, first, second)
    if total is not None:
        return total
    opposite = graph.known(SUB, second, first)
    return None if opposite is None else -opposite
