"""Dead code: statements that no output needs, that became constants, or that repeat another."""

from __future__ import annotations

from dataclasses import replace

from symgen.algebra.nodes import Scalar, reachable
from symgen.program.program import Program, Statement, Step, is_derivative


def without_dead_code(program: Program[Scalar]) -> Program[Scalar]:
    """`program` with only the statements that its outputs need, each node named once.

    Where a node has several names it is called by the first that is no derivative.
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
            steps.append(Step(step.kind, step.joint, tuple(kept)))
    used = {statement.note for step in steps for statement in step.statements}
    notes = {label: text for label, text in program.notes.items() if label in used}
    return replace(program, steps=tuple(steps), notes=notes)
