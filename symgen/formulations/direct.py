"""Direct differentiation: derivatives of any function that a formulation writes, line by line.

Every line of the recursion is followed by its changes, one for each argument that it depends on:
``d_omega_3_x_dq_1`` after ``omega_3_x``, with the label ``d NE-2`` where that line has NE-2.  These
are the sensitivity equations of the papers: each of theirs differentiates one of the recursion.

Total derivatives are found along a direction for each parameter, in which the other arguments vary
with it as the caller says.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from symgen.algebra.interface import S
from symgen.formulations.interface import Derivation
from symgen.formulations.shared import seed_columns, symbolic_parameters
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.derivatives import DERIVATIVES, SYMMETRIC, Derivative
from symgen.program.differentiation import differentiate, push_forward
from symgen.program.functions import function_named
from symgen.program.program import Output


def with_derivatives(functions: Mapping[str, Derivation]) -> dict[str, Derivation]:
    """Add to `functions` the derivatives of each that none of them writes."""
    derived = {
        name: partial(write, name, functions[derivative.of])
        for name, derivative in DERIVATIVES.items()
        if derivative.of in functions
    }
    return {**derived, **functions}


def write(
    function: str, base: Derivation, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """Write `function`, an entry of `DERIVATIVES`; `base` writes what it differentiates."""
    derivative = DERIVATIVES[function]
    base(tree, b, state)
    written = [b.withdraw(name) for name in derivative.symbols]
    hidden = [b.withdraw(array.name) for array in function_named(function).hidden]
    if derivative.values:
        _write_again(b, written)
    if derivative.along:
        _write_total(tree, b, derivative, written)
    else:
        wanted = {array.name for array in function_named(function).results}
        _write_partial(tree, b, derivative, written, wanted)
    _write_again(b, hidden)


def _write_again(b: ProgramBuilder[S], outputs: Sequence[Output[S]]) -> None:
    for output in outputs:
        b.output(output.name, output.shape, output.entries)


def _write_partial(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    derivative: Derivative,
    written: Sequence[Output[S]],
    wanted: Collection[str],
) -> None:
    """Write one array for every result and every argument, where it is `wanted`."""
    inputs = [
        symbolic_parameters(tree) if name == "parameters" else b.declared(name)
        for name in derivative.by
    ]
    slopes, zero = differentiate(b, inputs), b.algebra.zero
    for output in written:
        rows = [slopes.of(entry) for entry in output.entries]
        start = 0
        for array in inputs:
            places = range(start, start := start + len(array.symbols))
            name = derivative.name(output.name, array.name)
            if name in wanted:
                entries = [[row.get(k, zero) for k in places] for row in rows]
                if name in SYMMETRIC:
                    entries = _mirrored(entries, SYMMETRIC[name])
                shape = (*output.shape, *array.shape)
                b.output(name, shape, [entry for row in entries for entry in row])


def _mirrored(rows: Sequence[Sequence[S]], below: bool) -> list[list[S]]:
    """Return a symmetric matrix by its entries on one side of the diagonal."""
    pick = (max, min) if below else (min, max)
    places = range(len(rows))
    return [[rows[pick[0](i, k)][pick[1](i, k)] for k in places] for i in places]


def _write_total(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    derivative: Derivative,
    written: Sequence[Output[S]],
) -> None:
    """Write the total derivatives by the parameters, one direction after the other."""
    parameters, steps = symbolic_parameters(tree), range(b.length)
    inputs = [*(b.declared(name) for name in derivative.along), parameters]
    columns: list[list[S]] = []
    given = seed_columns(b, tuple(derivative.along.values()))
    for k, (name, seeds) in enumerate(zip(parameters.symbol_names, given, strict=True)):
        unit = [b.algebra.constant(float(i == k)) for i in range(len(given))]
        direction = [entry for seed in seeds.values() for entry in seed] + unit
        slopes = push_forward(b, inputs, direction, steps, f"d_{{}}_d{name}")
        columns.append(
            [slopes.of(x).get(0, b.algebra.zero) for output in written for x in output.entries]
        )
    start = 0
    for output in written:
        places = range(start, start := start + len(output.entries))
        entries = [column[i] for i in places for column in columns]
        b.output(derivative.name(output.name, ""), (*output.shape, len(given)), entries)
