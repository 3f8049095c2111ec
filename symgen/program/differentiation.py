"""Differentiation of a program while it is written: direct differentiation of a recursion.

Every step is followed by the derivatives of its statements, sorted by input entry
(``d_omega_2_x_dq_1``, ``d_omega_2_y_dq_1``, then those by ``q_2``).  Values are then used sooner
than if each statement were followed by its own derivatives, and kernels have 2 to 10 % fewer
instructions.  Derivatives that are structurally 0 never appear.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from symgen.algebra.interface import Derivatives, S
from symgen.program.builder import ProgramBuilder
from symgen.program.program import DERIVATIVE, Input, Statement, Step

FORWARDS = "changes: "
"""Prefix of the kind of a step that holds the derivatives of another step."""


def differentiate(
    builder: ProgramBuilder[S],
    inputs: Sequence[Input[S]],
    steps: range | None = None,
    along: Sequence[S] = (),
) -> Derivatives[S]:
    """Put behind every step written so far its derivatives with respect to all `inputs`.

    Positions in the rows of the result count through the entries of all inputs; with a direction
    `along`, one entry for each of theirs, there is one position, 0.  Steps that are not among
    `steps`, if given, stay as they are.
    """
    symbols = [symbol for array in inputs for symbol in array.symbols]
    labels = [f"_d{name}" for array in inputs for name in array.symbol_names]
    derivatives = builder.algebra.derivatives(symbols, along)
    if along:
        labels = [""]
    places = count()

    def with_derivatives(step: Step[S]) -> Step[S]:
        if steps is not None and next(places) not in steps:
            return step
        by_entry: dict[int, list[Statement[S]]] = {}
        for statement in step.statements:
            for k, line in _derivatives_of(statement, labels, derivatives, builder).items():
                by_entry.setdefault(k, []).append(line)
        lines = [line for k in sorted(by_entry) for line in by_entry[k]]
        return Step(step.kind, step.joint, (*step.statements, *lines))

    builder.rewrite(with_derivatives)
    return derivatives


def push_forward(
    builder: ProgramBuilder[S],
    inputs: Sequence[Input[S]],
    along: Sequence[S],
    steps: range,
    label: str = "d_{}",
) -> Derivatives[S]:
    """Append the derivatives of the statements of these `steps` along a direction.

    The direction may depend on any earlier statement.  `label` makes the name of a derivative from
    that of its statement.
    """
    symbols = [symbol for array in inputs for symbol in array.symbols]
    derivatives = builder.algebra.derivatives(symbols, along)
    for step in builder.steps[steps.start : steps.stop]:
        with builder.step(FORWARDS + step.kind, step.joint):
            for line in step.statements:
                named = {
                    k: builder.let(label.format(line.name), value, DERIVATIVE + line.note)
                    for k, value in derivatives.of(line.value).items()
                }
                derivatives.remember(line.name, line.value, named)
    return derivatives


def _derivatives_of(
    statement: Statement[S],
    labels: Sequence[str],
    derivatives: Derivatives[S],
    builder: ProgramBuilder[S],
) -> dict[int, Statement[S]]:
    """Return the derivatives that are neither 0 nor a name, by the position of the input entry."""
    lines: dict[int, Statement[S]] = {}
    named: dict[int, S] = {}
    for k, value in derivatives.of(statement.value).items():
        if builder.algebra.is_atomic(value):
            named[k] = value
            continue
        name = builder.unique(f"d_{statement.name}{labels[k]}")
        lines[k] = Statement(name, value, DERIVATIVE + statement.note)
        named[k] = builder.algebra.named(name, value)
    derivatives.remember(statement.name, statement.value, named)
    return lines


def jacobian(builder: ProgramBuilder[S], entries: Sequence[S], array: Input[S]) -> list[S]:
    """Differentiate all statements; return the derivatives of `entries` by `array`, row by row."""
    slopes, zero = differentiate(builder, [array]), builder.algebra.zero
    rows = [slopes.of(entry) for entry in entries]
    return [row.get(k, zero) for row in rows for k in range(len(array.symbols))]
