"""Direct differentiation: derivatives of any function that a formulation writes, line by line.

Every line of the recursion has a derivative by each entry of an argument that it depends on:
``d_omega_3_x_dq_1`` of ``omega_3_x``, with the label ``d NE-2`` where that line has NE-2.  These
are the sensitivity equations of the papers: each of theirs differentiates one of the recursion.

Derivatives by parameters are those of all that is written, joints that follow others, joints on
manifolds and forces of the model included.  Total derivatives are found along a direction for each
parameter, in which the other arguments vary with it as the caller says; they stand behind the whole
recursion.

`by_differentiation` differentiates the first derivatives of the torques once more, so that the cost
grows with the cube of the number of joints; `symgen.formulations.composite.hessian` has second
derivatives in closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import inner
from symgen.formulations.interface import Derivation
from symgen.formulations.joint_terms import friction_curvatures, with_diagonal, without_joint_terms
from symgen.formulations.shared import seed_columns, symbolic_parameters, write_matrix
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.derivatives import DERIVATIVES, SYMMETRIC, Derivative
from symgen.program.differentiation import differentiate, push_forward
from symgen.program.functions import function_named
from symgen.program.program import Output

Block = list[list[S]]
"""Derivatives of every entry of a result by every entry of an argument."""


@dataclass(frozen=True)
class Direct:
    """Writes `function`, an entry of `DERIVATIVES`; `source` writes what it differentiates."""

    function: str
    source: Derivation

    def __call__(self, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
        """Write the function."""
        derivative, spec = DERIVATIVES[self.function], function_named(self.function)
        self.source(tree, b, state)
        written = [b.withdraw(name) for name in derivative.symbols]
        hidden = [b.withdraw(array.name) for array in spec.hidden]
        wanted = {array.name for array in spec.results}
        _write_again(b, [output for output in written if output.name in wanted])
        if derivative.along:
            _write_total(tree, b, derivative, written)
        else:
            _write_partial(tree, b, derivative, written, wanted)
        _write_again(b, hidden)


def with_derivatives(functions: Mapping[str, Derivation]) -> dict[str, Derivation]:
    """Add to `functions` the derivatives of each that none of them writes."""
    derived = {
        name: Direct(name, functions[derivative.of])
        for name, derivative in DERIVATIVES.items()
        if derivative.of in functions
    }
    return {**derived, **functions}


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
    blocks: dict[str, Block[S]] = {}
    kept = [entry for output in written for entry in output.entries if output.name in wanted]
    for output in written:
        values = output.entries
        rows = slopes.rows(values) if derivative.any_way else [slopes.of(x) for x in values]
        start = 0
        for array in inputs:
            places = range(start, start := start + len(array.symbols))
            name = derivative.name(output.name, array.name)
            candidates = [[[row.get(k, zero) for k in places] for row in rows]]
            if name in SYMMETRIC:
                candidates = [_mirrored(candidates[0], pick) for pick in ((min, max), (max, min))]
            if name in derivative.rates:
                of, times = derivative.rates[name]
                factor = b.algebra.constant(times)
                candidates.append([[entry * factor for entry in row] for row in blocks[of]])
            blocks[name] = (
                candidates[0] if len(candidates) == 1 else _smallest(b.algebra, candidates, kept)
            )
            if name in wanted:
                entries = [entry for row in blocks[name] for entry in row]
                b.output(name, (*output.shape, *array.shape), entries)
                kept += entries


def _mirrored(rows: Block[S], pick: tuple[Callable[..., int], Callable[..., int]]) -> Block[S]:
    """Return a symmetric matrix by its entries on one side of the diagonal.

    `pick` is (min, max) for the side above it, (max, min) for the one below.
    """
    places = range(len(rows))
    row, column = pick
    return [[rows[row(i, k)][column(i, k)] for k in places] for i in places]


def _smallest(algebra: Algebra[S], blocks: Sequence[Block[S]], kept: Sequence[S]) -> Block[S]:
    """Return the one of equal blocks that needs the fewest operations beside those `kept`."""
    return min(blocks, key=lambda block: algebra.size([*kept, *(x for row in block for x in row)]))


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
    seeds_by_parameter = seed_columns(b, tuple(derivative.along.values()))
    for k, (name, seeds) in enumerate(
        zip(parameters.symbol_names, seeds_by_parameter, strict=True)
    ):
        unit = [b.algebra.constant(float(i == k)) for i in range(len(seeds_by_parameter))]
        direction = [entry for seed in seeds.values() for entry in seed] + unit
        slopes = push_forward(b, inputs, direction, steps, f"d_{{}}_d{name}")
        columns.append(
            [slopes.of(x).get(0, b.algebra.zero) for output in written for x in output.entries]
        )
    start = 0
    for output in written:
        places = range(start, start := start + len(output.entries))
        entries = [column[i] for i in places for column in columns]
        b.output(
            derivative.name(output.name, ""), (*output.shape, len(seeds_by_parameter)), entries
        )


def by_differentiation(
    slopes: Derivation, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """``inverse_dynamics_hessian``: direct differentiation of multipliers . `slopes`, which writes
    ``inverse_dynamics_derivatives``."""
    slopes(without_joint_terms(tree), b, state)
    gradient: list[S] = []
    b.withdraw("tau")
    for by in ("q", "qd", "qdd"):
        entries = b.withdraw(f"dtau_d{by}").entries
        gradient += [inner(entries[k :: tree.n], state.multipliers) for k in range(tree.n)]
    derivatives = differentiate(b, [b.declared(name) for name in ("q", "qd", "qdd")])
    rows = [derivatives.of(entry) for entry in gradient]
    curvatures = friction_curvatures(tree, b, state)
    for name, row, column in (("q_q", 0, 0), ("q_qd", 0, 1), ("q_qdd", 0, 2), ("qd_qd", 1, 1)):
        places = range(column * tree.n, (column + 1) * tree.n)
        block = rows[row * tree.n : (row + 1) * tree.n]
        dense = [[entry.get(k, b.algebra.zero) for k in places] for entry in block]
        if name == "qd_qd":
            dense = with_diagonal(dense, curvatures)
        write_matrix(b, f"hessian_{name}", dense, tree.n)
