"""Direct differentiation: derivatives of any function that a formulation writes, line by line.

Every line of the recursion has a derivative by each entry of an argument that it depends on:
``d_omega_3_x_dq_1`` of ``omega_3_x``, with the label ``d NE-2`` where that line has NE-2.  These
are the sensitivity equations of the papers: each of theirs differentiates one of the recursion.
The papers move a joint by one coordinate.  Where quaternions or Euler parameters move one by
several, and for outputs of the model, rows are differentiated in reverse if that takes fewer
operations; these lines are not named.

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
from symgen.formulations.shared import flat, seed_columns, symbolic_parameters
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder, Results
from symgen.program.derivatives import DERIVATIVES, Derivative
from symgen.program.differentiation import differentiate, push_forward
from symgen.program.functions import function_named
from symgen.program.program import Input

Block = list[list[S]]
"""Derivatives of every entry of a result by every entry of an argument."""


@dataclass(frozen=True)
class Direct:
    """Writes `function`, an entry of `DERIVATIVES`; `source` writes what it differentiates."""

    function: str
    source: Derivation
    reverse: bool = True
    """Whether rows may be differentiated in reverse, where that takes fewer operations."""

    def __call__(self, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
        """Write the function."""
        derivative, spec = DERIVATIVES[self.function], function_named(self.function)
        derivative = derivative if tree.is_holonomic else derivative.of_velocities()
        written = self.source(tree, b, state)
        values = {name: written[name] for name in derivative.symbols}
        if derivative.along:
            slopes = _totals(tree, b, derivative, values)
        else:
            inputs = [
                symbolic_parameters(tree) if name == "parameters" else b.declared(name)
                for name in derivative.by
            ]
            differentiated = differentiate(b, inputs)
            wanted = {array.name for array in spec.results}
            kept = [x for name, entries in values.items() if name in wanted for x in entries]
            rows = {
                name: [differentiated.of(x) for x in entries] for name, entries in values.items()
            }
            choices = [_blocks(b.algebra, derivative, inputs, rows, wanted, kept)]
            if self.reverse and (derivative.any_mode or tree.is_moved_by_several):
                rows = {name: differentiated.reverse(entries) for name, entries in values.items()}
                choices.append(_blocks(b.algebra, derivative, inputs, rows, wanted, kept))
            slopes = min(choices, key=lambda choice: choice[0])[1]  # of the fewest operations
        results = {**written, **slopes}
        return {array.name: results[array.name] for array in (*spec.results, *spec.hidden)}


def with_derivatives(functions: Mapping[str, Derivation]) -> dict[str, Derivation]:
    """Add to `functions` the derivatives of each that none of them writes."""
    derived = {
        name: Direct(name, functions[derivative.of])
        for name, derivative in DERIVATIVES.items()
        if derivative.of in functions
    }
    return {**derived, **functions}


def _blocks(
    algebra: Algebra[S],
    derivative: Derivative,
    inputs: Sequence[Input[S]],
    rows_of: Mapping[str, list[dict[int, S]]],
    wanted: Collection[str],
    kept: Sequence[S],
) -> tuple[int, Results[S]]:
    """Lay out sparse rows by result as arrays; return what all `wanted` ones and `kept` take.

    Symmetric arrays, and those that are multiples of others, take the cheapest of their forms.
    """
    kept, zero = list(kept), algebra.zero
    blocks: dict[str, Block[S]] = {}
    for result, rows in rows_of.items():
        start = 0
        for array in inputs:
            places = range(start, start := start + len(array.symbols))
            name = derivative.name(result, array.name)
            candidates = [[[row.get(k, zero) for k in places] for row in rows]]
            if name in derivative.symmetric:
                candidates = [_mirrored(candidates[0], pick) for pick in ((min, max), (max, min))]
            if name in derivative.rates:
                of, times = derivative.rates[name]
                factor = algebra.constant(times)
                candidates.append([[entry * factor for entry in row] for row in blocks[of]])
            blocks[name] = (
                candidates[0] if len(candidates) == 1 else _smallest(algebra, candidates, kept)
            )
            if name in wanted:
                kept += flat(blocks[name])
    return algebra.size(kept), {name: flat(block) for name, block in blocks.items()}


def _mirrored(rows: Block[S], pick: tuple[Callable[..., int], Callable[..., int]]) -> Block[S]:
    """Return a symmetric matrix by its entries on one side of the diagonal.

    `pick` is (min, max) for the side above it, (max, min) for the one below.
    """
    places = range(len(rows))
    row, column = pick
    return [[rows[row(i, k)][column(i, k)] for k in places] for i in places]


def _smallest(algebra: Algebra[S], blocks: Sequence[Block[S]], kept: Sequence[S]) -> Block[S]:
    """Return that of equal blocks which adds the fewest operations to those of `kept`."""
    return min(blocks, key=lambda block: algebra.size([*kept, *(x for row in block for x in row)]))


def _totals(
    tree: KinematicTree[S], b: ProgramBuilder[S], derivative: Derivative, written: Results[S]
) -> Results[S]:
    """Write the total derivatives by the parameters, one direction after the other."""
    parameters, steps = symbolic_parameters(tree), range(b.length)
    inputs = [*(b.declared(name) for name in derivative.along), parameters]
    columns: dict[str, list[list[S]]] = {name: [] for name in written}
    seeds_by_parameter = seed_columns(b, tuple(derivative.along.values()))
    for k, (name, seeds) in enumerate(
        zip(parameters.symbol_names, seeds_by_parameter, strict=True)
    ):
        unit = [b.algebra.constant(float(i == k)) for i in range(len(seeds_by_parameter))]
        direction = [entry for seed in seeds.values() for entry in seed] + unit
        slopes = push_forward(b, inputs, direction, steps, f"d_{{}}_d{name}")
        for result, entries in written.items():
            columns[result].append([slopes.of(x).get(0, b.algebra.zero) for x in entries])
    return {
        derivative.name(result, ""): flat(zip(*by_parameter, strict=True))
        for result, by_parameter in columns.items()
    }


def by_differentiation(
    slopes: Derivation, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """``inverse_dynamics_hessian``: direct differentiation of multipliers . `slopes`, which writes
    ``inverse_dynamics_derivatives``."""
    written = slopes(without_joint_terms(tree), b, state)
    gradient = [
        inner(written[f"dtau_d{by}"][k :: tree.n], state.multipliers)
        for by in ("q", "qd", "qdd")
        for k in range(tree.n)
    ]
    derivatives = differentiate(b, [b.declared(name) for name in ("q", "qd", "qdd")])
    rows = [derivatives.of(entry) for entry in gradient]
    blocks: dict[str, Block[S]] = {}
    for name, row, column in (("q_q", 0, 0), ("q_qd", 0, 1), ("q_qdd", 0, 2), ("qd_qd", 1, 1)):
        places = range(column * tree.n, (column + 1) * tree.n)
        block = rows[row * tree.n : (row + 1) * tree.n]
        blocks[name] = [[entry.get(k, b.algebra.zero) for k in places] for entry in block]
    blocks["qd_qd"] = with_diagonal(blocks["qd_qd"], friction_curvatures(tree, b, state))
    return {f"hessian_{name}": flat(block) for name, block in blocks.items()}
