"""Sharing of products with constants.

The graph moves constants outwards while it is built, (2 x) y = 2 (x y), so that equal terms meet.
But where 2 x is a factor of many products, each of them then has two multiplications instead of
one.  This pass moves such constants back: c (x y) becomes (c x) y where c x exists already or
serves at least two products.  All other nodes are copied, and named products keep their names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from symgen.algebra.graph import Graph
from symgen.algebra.nodes import ADD, CONST, DIV, MUL, NEG, SUB, SYMBOL, Scalar, reachable
from symgen.algebra.rounding import ROUNDED
from symgen.program.program import Input, Program

ROUNDS = 4
"""Number of passes: a constant moves into one more nested product with each."""

Key = tuple[float, int]
"""The magnitude of a constant, and the index of its cofactor."""


def with_constants_inside(program: Program[Scalar]) -> Program[Scalar]:
    """Return the program with fewer multiplications."""
    for _ in range(ROUNDS):
        nodes = reachable(program.values)
        inside = _destinations(nodes, program.values)
        if not inside:
            break
        program = _rebuilt(program, nodes, inside)
        nodes[0].graph.close()
    return program


def _destinations(nodes: Sequence[Scalar], wanted: Sequence[Scalar]) -> dict[int, int]:
    """Map indices of products c (x y) to the factor, 0 or 1 for x or y, that c moves to."""
    uses = Counter(arg.index for node in nodes for arg in node.args)
    uses.update(node.index for node in wanted)
    scaled = [node for node in nodes if node.op is MUL and node.args[0].op is CONST]
    existing = {_key(node, node.args[1]) for node in scaled}
    movable = [x for x in scaled if x.args[1].op is MUL and uses[x.args[1].index] == 1]
    possible = Counter(_key(x, factor) for x in movable for factor in set(x.args[1].args))
    inside: dict[int, int] = {}
    for node in movable:
        keys = [_key(node, factor) for factor in node.args[1].args]
        inside[node.index] = max((0, 1), key=lambda i: (keys[i] in existing, possible[keys[i]]))
    chosen = Counter(_key(x, x.args[1].args[inside[x.index]]) for x in movable)
    return {
        node.index: inside[node.index]
        for node in movable
        if (key := _key(node, node.args[1].args[inside[node.index]])) in existing or chosen[key] > 1
    }


def _key(node: Scalar, factor: Scalar) -> Key:
    return abs(node.args[0].value), factor.index


def _rebuilt(
    program: Program[Scalar], nodes: Sequence[Scalar], inside: dict[int, int]
) -> Program[Scalar]:
    """Copy the program into a new graph, with the constants moved `inside`."""
    graph = Graph()
    combine: dict[str, Callable[..., Scalar]] = {
        MUL: graph.product, ADD: graph.add, SUB: graph.sub, DIV: graph.div, NEG: graph.neg,
        **{name: partial(graph.function, name) for name in ROUNDED},
    }  # fmt: skip
    copies: dict[int, Scalar] = {}
    for node in nodes:
        if node.op is CONST:
            copies[node.index] = graph.constant(node.value)
        elif node.op is SYMBOL:
            copies[node.index] = graph.symbol(node.name)
        elif node.index in inside:
            factors = [copies[arg.index] for arg in node.args[1].args]
            moved = factors.pop(inside[node.index])
            scale = node.args[0].value
            product = graph.product(graph.mul(graph.constant(abs(scale)), moved), factors[0])
            copies[node.index] = graph.neg(product) if scale < 0.0 else product
        else:
            copies[node.index] = combine[node.op](*[copies[arg.index] for arg in node.args])
    inputs = tuple(
        Input(x.name, x.shape, tuple(map(graph.symbol, x.symbol_names)), x.symbol_names)
        for x in program.inputs
    )
    return program.with_values(inputs, (copies[node.index] for node in program.values))
