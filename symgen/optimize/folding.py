"""Folding of parameters into constants, and elimination of dead code.

The program is rebuilt with numbers instead of symbols, so that every simplification of the graph
acts again: twists of 90 degrees, zero offsets and massless links vanish with their operations.  The
rebuilt program has a new graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from symgen.algebra.evaluation import evaluate, over_graph
from symgen.algebra.graph import Graph
from symgen.algebra.nodes import Scalar, reachable
from symgen.program.program import Input, Program, Statement, Step, is_derivative

PARAMETERS = "parameters"
"""The input that holds the parameters."""


def fold(
    program: Program[Scalar], values: Mapping[str, float], runtime: Sequence[str] = ()
) -> Program[Scalar]:
    """Replace parameters of `program` by their values, except those named in `runtime`.

    The latter remain as the entries of the argument, in this order.  ArithmeticError or ValueError
    where the parameters make the program overflow or divide by 0.
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
    rebuilt = evaluate(program.values, replacements, over_graph(graph))
    return without_dead_code(program.with_values(inputs, rebuilt))


def _input(array: Input[Scalar], graph: Graph, runtime: Sequence[str]) -> Input[Scalar]:
    names = tuple(runtime) if array.name == PARAMETERS else array.symbol_names
    shape = (len(names),) if array.name == PARAMETERS else array.shape
    return Input(array.name, shape, tuple(map(graph.symbol, names)), names)


def without_dead_code(program: Program[Scalar]) -> Program[Scalar]:
    """Keep only the statements that the outputs need and that name a new node.

    A node with several names keeps the first that is no derivative.
    """
    alive = {node.index for node in reachable(program.results)}
    named: set[int] = set()
    names: dict[int, Statement[Scalar]] = {}
    for statement in sorted(program.statements, key=lambda line: is_derivative(line.note)):
        names.setdefault(statement.value.index, statement)
    steps: list[Step[Scalar]] = []
    for step in program.steps:
        kept = []
        for statement in step.statements:
            node = statement.value
            if node.index in alive and node.index not in named and not node.is_atomic:
                named.add(node.index)
                kept.append(names[node.index])
        if kept:
            steps.append(replace(step, statements=tuple(kept)))
    used = {statement.note for step in steps for statement in step.statements}
    notes = {label: text for label, text in program.notes.items() if label in used}
    return replace(program, steps=tuple(steps), notes=notes)
