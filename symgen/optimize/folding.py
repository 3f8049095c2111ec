"""Folding: parameters that are not wanted at run time become numbers.

The program is rebuilt with values in place of symbols, so that every simplification of the graph
acts again: twists of 90 degrees, zero offsets and massless links vanish with all they would have
cost.  The rebuilt program has a graph of its own and holds nothing that no output needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symgen.algebra.evaluation import Rebuilder
from symgen.algebra.graph import Graph, Scalar
from symgen.optimize.dead_code import without_dead_code
from symgen.program.program import Input, Output, Program, Statement, Step


def fold(
    program: Program[Scalar], values: Mapping[str, float], runtime: Sequence[str] = ()
) -> Program[Scalar]:
    """`program` with every parameter replaced by its value, except those named in `runtime`.

    The input ``parameters`` is left with the entries of `runtime`, in that order.
    """
    program = without_dead_code(program)  # it may use symbols that are no inputs
    graph = Graph()
    inputs: list[Input[Scalar]] = []
    replacements: dict[str, Scalar] = {}
    for array in program.inputs:
        names = array.symbol_names
        if array.name == "parameters":
            for name in names:
                if name not in runtime:
                    replacements[name] = graph.constant(values[name])
            names = tuple(name for name in runtime if name in names)
        symbols = tuple(graph.symbol(name) for name in names)
        replacements.update(zip(names, symbols, strict=True))
        shape = (len(names),) if array.name == "parameters" else array.shape
        inputs.append(Input(array.name, shape, symbols, names))
    rebuild = Rebuilder(replacements, graph)
    folded = Program(
        robot=program.robot,
        formulation=program.formulation,
        function=program.function,
        inputs=tuple(inputs),
        steps=tuple(
            Step(
                step.kind,
                step.joint,
                tuple(
                    Statement(statement.name, rebuild(statement.value), statement.note)
                    for statement in step.statements
                ),
            )
            for step in program.steps
        ),
        outputs=tuple(
            Output(output.name, output.shape, tuple(rebuild(entry) for entry in output.entries))
            for output in program.outputs
        ),
        notes=program.notes,
    )
    return without_dead_code(folded)
