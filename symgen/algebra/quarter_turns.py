"""Derivatives of turned vectors that reuse nodes of the graph.

A rotation of (x, y) by an angle has the entries

    u = c x - s y,    v = s x + c y,    c, s the cosine and sine of the angle,

so that du / d angle = -v and dv / d angle = u: derivatives along a direction, and adjoints, need
no derivatives of c and s.
"""

from __future__ import annotations

from dataclasses import dataclass

from symgen.algebra.nodes import ADD, MUL, SUB, Scalar

WAVES = ("sin", "cos")


@dataclass(frozen=True, slots=True)
class Turned:
    """One entry of a turned vector: the sum of factor times wave over `terms`.

    `products` are these terms as nodes, without the sign of the second one; `slope` is the partial
    derivative by `angle`.
    """

    angle: Scalar
    terms: tuple[tuple[Scalar, Scalar], ...]
    products: tuple[Scalar, ...]
    slope: Scalar


def turned(node: Scalar) -> Turned | None:
    """`node` as an entry of a turned vector; None unless the graph holds the other entry."""
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
    """Pairs of a sine or cosine and its cofactor."""
    a, b = product.args
    return [(wave, x) for wave, x in ((a, b), (b, a)) if wave.op in WAVES]


def _slope(node: Scalar, wave: Scalar, x: Scalar, shifted: Scalar, y: Scalar) -> Scalar | None:
    """Find d (wave x +- shifted y) / d angle among the nodes; None if it is not there."""
    graph = node.graph
    first, second = graph.existing(MUL, shifted, x), graph.existing(MUL, wave, y)
    if first is None or second is None:
        return None
    if node.op is SUB:  # both terms have the sign of the first one
        total = graph.existing(ADD, first, second)
        return total if total is None or wave.op == "sin" else -total
    if wave.op == "cos":  # -sin x + cos y
        first, second = second, first
    total = graph.existing(SUB, first, second)
    if total is not None:
        return total
    opposite = graph.existing(SUB, second, first)
    return None if opposite is None else -opposite
