"""Constant factors go to where they are multiplied once.

The graph moves constants outwards while it is built, (2 x) y = 2 (x y), which shows what cancels
and what is equal.  But where 2 x is a factor of many products, each of them then has two
multiplications instead of one.  This pass moves such constants back: c (x y) becomes (c x) y where
c x is there anyway, or serves two products at least.

Nothing else changes: the nodes are copied one by one, and a product that has a name keeps it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from symgen.algebra.graph import Graph
from symgen.algebra.nodes import ADD, CONST, DIV, MUL, NEG, SUB, SYMBOL, Scalar, reachable
from symgen.algebra.rounding import FUNCTIONS
from symgen.program.program import Input, Output, Program, Statement, Step

ROUNDS = 4
"""A constant may move through as many products that are nested."""

Place = tuple[float, int]
"""A positive constant, and the index of what it is multiplied by."""


def with_constants_inside(program: Program[Scalar]) -> Program[Scalar]:
    """Return the program with fewer multiplications."""
    for done in range(ROUNDS):
        wanted = [*(line.value for line in program.statements), *program.results]
        nodes = reachable(wanted)
        inside = _destinations(nodes, wanted)
        if not inside:
            break
        program = _rebuilt(program, nodes, inside)
        if done:  # the former one was made here, too
            nodes[0].graph.close()
    return program


def _destinations(nodes: Sequence[Scalar], wanted: Sequence[Scalar]) -> dict[int, int]:
    """For products c (x y) by index: which of x and y, 0 or 1, is to be multiplied by c."""
    uses = Counter(arg.index for node in nodes for arg in node.args)
    uses.update(node.index for node in wanted)
    scaled = [node for node in nodes if node.op is MUL and node.args[0].op is CONST]
    occupied = {_place(node, node.args[1]) for node in scaled}
    movable = [x for x in scaled if x.args[1].op is MUL and uses[x.args[1].index] == 1]
    asked = Counter(_place(x, factor) for x in movable for factor in set(x.args[1].args))
    inside: dict[int, int] = {}
    for node in movable:
        places = [_place(node, factor) for factor in node.args[1].args]
        inside[node.index] = max((0, 1), key=lambda i: (places[i] in occupied, asked[places[i]]))
    chosen = Counter(_place(x, x.args[1].args[inside[x.index]]) for x in movable)
    return {
        node.index: inside[node.index]
        for node in movable
        if (place := _place(node, node.args[1].args[inside[node.index]])) in occupied
        or chosen[place] > 1
    }


def _place(node: Scalar, factor: Scalar) -> Place:
    return abs(node.args[0].value), factor.index


def _rebuilt(
    program: Program[Scalar], nodes: Sequence[Scalar], inside: dict[int, int]
) -> Program[Scalar]:
    """A copy in a graph of its own."""
    graph = Graph()
    combine: dict[str, Callable[..., Scalar]] = {
        MUL: graph.product, ADD: graph.add, SUB: graph.sub, DIV: graph.div, NEG: graph.neg,
        **{name: partial(graph.function, name) for name in FUNCTIONS},
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
    steps = tuple(
        Step(
            step.kind,
            step.joint,
            tuple(Statement(x.name, copies[x.value.index], x.note) for x in step.statements),
        )
        for step in program.steps
    )
    outputs = tuple(
        Output(x.name, x.shape, tuple(copies[entry.index] for entry in x.entries))
        for x in program.outputs
    )
    return replace(program, inputs=inputs, steps=steps, outputs=outputs)
