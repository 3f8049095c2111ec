"""Folding: parameters become numbers, but those that are arguments at run time.

The program is rebuilt with values instead of symbols, so that every simplification of the graph
acts again: twists of 90 degrees, zero offsets and massless links vanish with all they would have
cost.  The rebuilt program has a graph of its own and holds nothing that no output needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from symgen.algebra.evaluation import evaluate, over_graph
from symgen.algebra.graph import Graph
from symgen.algebra.nodes import Scalar
from symgen.optimize.dead_code import without_dead_code
from symgen.program.program import Input, Program, Statement, Step

PARAMETERS = "parameters"
"""The input of which folding leaves the parameters that are arguments at run time."""


def fold(
    program: Program[Scalar], values: Mapping[str, float], runtime: Sequence[str] = ()
) -> Program[Scalar]:
    """`program` with every parameter replaced by its value, but those that are named in `runtime`.

    They remain as the entries of the argument, in this order.  ArithmeticError or ValueError where
    the parameters make the program overflow or divide by 0.
    """
    program = without_dead_code(program)  # it may use symbols that are no inputs
    graph = Graph()
    inputs = tuple(_input(array, graph, runtime) for array in program.inputs)
    replacements = {
        name: symbol
        for array in inputs
        for name, symbol in zip(array.symbol_names, array.symbols, strict=True)
    }
    folded = program.input(PARAMETERS).symbol_names
    replacements.update(
        (name, graph.constant(values[name])) for name in folded if name not in replacements
    )
    wanted = [*(statement.value for statement in program.statements), *program.results]
    rebuilt = iter(evaluate(wanted, replacements, over_graph(graph)))
    steps = tuple(
        Step(
            step.kind,
            step.joint,
            tuple(Statement(line.name, next(rebuilt), line.note) for line in step.statements),
        )
        for step in program.steps
    )
    outputs = tuple(
        replace(output, entries=tuple(next(rebuilt) for _ in output.entries))
        for output in program.outputs
    )
    return without_dead_code(replace(program, inputs=inputs, steps=steps, outputs=outputs))


def _input(array: Input[Scalar], graph: Graph, runtime: Sequence[str]) -> Input[Scalar]:
    names = tuple(runtime) if array.name == PARAMETERS else array.symbol_names
    shape = (len(names),) if array.name == PARAMETERS else array.shape
    return Input(array.name, shape, tuple(map(graph.symbol, names)), names)
