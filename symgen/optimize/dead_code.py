"""Dead code: statements that no output needs, that became constants, or that repeat another."""

from __future__ import annotations

from dataclasses import replace

from symgen.algebra.graph import Scalar, reachable
from symgen.program.program import Program, Step


def without_dead_code(program: Program[Scalar]) -> Program[Scalar]:
    """`program` with only the statements that its outputs need, each node named once."""
    alive = {node.index for node in reachable(program.results)}
    named: set[int] = set()
    steps: list[Step[Scalar]] = []
    for step in program.steps:
        kept = []
        for statement in step.statements:
            node = statement.value
            if node.index in alive and node.index not in named and not node.is_atomic:
                named.add(node.index)
                kept.append(statement)
        if kept:
            steps.append(Step(step.kind, step.joint, tuple(kept)))
    used = {statement.note for step in steps for statement in step.statements}
    notes = {label: text for label, text in program.notes.items() if label in used}
    return replace(program, steps=tuple(steps), notes=notes)
