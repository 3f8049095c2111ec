"""Differentiation of programs, statement by statement, in the order of the recursion.

Every statement is followed by its derivatives with respect to the inputs that it depends on
(``d_omega_2_x_dq_1`` after ``omega_2_x``); derivatives that are structurally 0 never appear.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgen.algebra.interface import Algebra, Derivatives, S
from symgen.program.program import Input, Output, Program, Statement, Step

DERIVATIVE_PREFIX = "d "


def differentiate(
    program: Program[S], function: str, inputs: Sequence[str], algebra: Algebra[S]
) -> Program[S]:
    """`program` with, behind each of its outputs, the derivatives with respect to each input.

    Output ``y`` of shape s and input ``x`` of shape t give the output ``dy_dx`` of shape s + t.
    """
    wanted = [program.input(name) for name in inputs]
    symbols = [symbol for array in wanted for symbol in array.symbols]
    labels = [name for array in wanted for name in array.symbol_names]
    derivatives = algebra.derivatives(symbols)
    taken = {name for array in program.inputs for name in array.symbol_names}
    taken |= {statement.name for statement in program.statements}
    steps = tuple(
        Step(
            step.kind,
            step.joint,
            tuple(
                line
                for statement in step.statements
                for line in _with_derivatives(statement, labels, derivatives, algebra, taken)
            ),
        )
        for step in program.steps
    )
    used = {statement.note for step in steps for statement in step.statements}
    notes = dict(program.notes)
    for label in program.notes:
        if DERIVATIVE_PREFIX + label in used:
            notes[DERIVATIVE_PREFIX + label] = f"derivative of {label}"
    outputs: list[Output[S]] = []
    for output in program.outputs:
        outputs += [output, *_jacobians(output, wanted, derivatives, algebra)]
    return Program(
        robot=program.robot,
        formulation=program.formulation,
        function=function,
        inputs=program.inputs,
        outputs=tuple(outputs),
        steps=steps,
        notes=notes,
    )


def _with_derivatives(
    statement: Statement[S],
    labels: Sequence[str],
    derivatives: Derivatives[S],
    algebra: Algebra[S],
    taken: set[str],
) -> list[Statement[S]]:
    lines = [statement]
    named: dict[int, S] = {}
    for k, value in derivatives.of_statement(statement.name, statement.value).items():
        if algebra.is_atomic(value):
            named[k] = value
            continue
        name = f"d_{statement.name}_d{labels[k]}"
        while name in taken:
            name += "_"
        taken.add(name)
        lines.append(Statement(name, value, DERIVATIVE_PREFIX + statement.note))
        named[k] = algebra.named(name, value)
    derivatives.remember(statement.name, statement.value, named)
    return lines


def _jacobians(
    output: Output[S], inputs: Sequence[Input[S]], derivatives: Derivatives[S], algebra: Algebra[S]
) -> list[Output[S]]:
    rows = [derivatives.of(entry) for entry in output.entries]
    result: list[Output[S]] = []
    start = 0
    for array in inputs:
        stop = start + len(array.symbols)
        entries = tuple(row.get(k, algebra.zero) for row in rows for k in range(start, stop))
        result.append(Output(f"d{output.name}_d{array.name}", output.shape + array.shape, entries))
        start = stop
    return result
