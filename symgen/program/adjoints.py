"""Reverse differentiation of a program while it is written: adjoints of its statements.

The adjoint of a scalar is the derivative of a weighted sum of results by it.  The statements are
visited once, backwards: the adjoint of each is the sum of contributions of later statements, gets a
name (``omega_2_x_adjoint``), and is propagated to the operands of its statement.  So a gradient
takes a small multiple of the operations of the program, for any number of inputs (Griewank, Walther
2008, section 3.2).

Over a graph, expressions use a negated scalar without its sign (`Algebra.unsigned`), so that its
adjoint is collected there.  Otherwise all its uses would be differentiated through it, once more
for every joint of a chain.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgen.algebra.interface import S
from symgen.program.builder import ProgramBuilder
from symgen.program.program import ADJOINT, Input

BACKWARDS = "adjoints: "
"""Prefix of the kind of a step that holds the adjoints of another step."""


def pull_back(
    builder: ProgramBuilder[S],
    results: Sequence[S],
    weights: Sequence[S],
    inputs: Sequence[Input[S]],
    start: int = 0,
) -> list[list[S]]:
    """Append the statements of the gradient of weights . results by each of the `inputs`.

    Returns a list for every input, with an entry for each of its symbols.  `results` must not
    depend on the steps ahead of `start`.
    """
    algebra = builder.algebra
    reverse = algebra.adjoints([symbol for array in inputs for symbol in array.symbols])
    written = builder.steps[start:]
    named: set[S] = set()
    first: set[str] = set()
    for step in written:
        for line in step.statements:
            label = algebra.named(line.name, line.value)
            # over a graph, an alias of a constant or an input is that scalar itself
            is_new = label != line.value or not algebra.is_atomic(line.value)
            label = algebra.unsigned(label)
            if label not in named and is_new:
                named.add(label)
                first.add(line.name)
    lines = [line for step in written for line in step.statements if line.name in first]
    shared = algebra.shared([line.value for line in lines], named)
    inside = {line.name: scalars for line, scalars in zip(lines, shared, strict=True)}
    named.update(scalar for scalars in inside.values() for scalar in scalars)
    adjoints: dict[S, S] = {}

    def propagate(value: S, weight: S) -> None:
        for scalar, term in reverse.of(value, weight, named).items():
            adjoints[scalar] = adjoints[scalar] + term if scalar in adjoints else term

    for result, weight in zip(results, weights, strict=True):
        propagate(result, weight)
    for step in reversed(written):
        with builder.step(BACKWARDS + step.kind, step.joint):
            for line in reversed(step.statements):
                if line.name not in first:
                    continue
                value = algebra.named(line.name, line.value)
                label = algebra.unsigned(value)
                named.remove(label)
                adjoint = adjoints.pop(label, algebra.zero)
                if not algebra.is_zero(adjoint):
                    adjoint = adjoint if label == value else -adjoint
                    name = f"{line.name}_adjoint"
                    propagate(line.value, builder.let(name, adjoint, ADJOINT + line.note))
                for scalar in reversed(inside[line.name]):
                    named.remove(scalar)
                    adjoint = adjoints.pop(scalar, algebra.zero)
                    if not algebra.is_zero(adjoint):
                        propagate(scalar, adjoint)
    zero = algebra.zero
    return [[adjoints.get(symbol, zero) for symbol in array.symbols] for array in inputs]
