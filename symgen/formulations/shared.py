"""Bookkeeping that formulations share: no dynamics here, only how results are laid out.

A column is what a vector by joint becomes when it is differentiated by one variable: entries by the
number of the joint, of which those that are 0 by structure may be left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import overload

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Vector
from symgen.algebra.spatial import Spatial
from symgen.algebra.turns import UPPER, mirrored
from symgen.description.quantities import MULTIPLIERS
from symgen.formulations.state import State, Wrench
from symgen.kinematics.tree import KinematicTree
from symgen.program.arguments import DIAGONAL, MOTION_MULTIPLIERS, PIVOTS
from symgen.program.builder import ProgramBuilder, Results
from symgen.program.functions import function_named
from symgen.program.program import Input

WRENCH_COMPONENTS = ("fx", "fy", "fz", "nx", "ny", "nz")


def load_entry_names(tree: KinematicTree[S]) -> list[str]:
    """Names of the entries of the argument ``loads``, row by row."""
    return [f"{load.name}_{part}" for load in tree.loads for part in WRENCH_COMPONENTS]


def wrenches(entries: Sequence[S]) -> tuple[Wrench[S], ...]:
    """Return the entries of ``loads`` as wrenches."""
    return tuple(
        Wrench(Vector(*entries[i : i + 3]), Vector(*entries[i + 3 : i + 6]))
        for i in range(0, len(entries), 6)
    )


def symbolic_loads(tree: KinematicTree[S], b: ProgramBuilder[S]) -> Input[S]:
    """Loads as symbols to differentiate by; they are no argument of the function."""
    return b.auxiliary("loads", (len(tree.loads), 6), load_entry_names(tree))


def symbolic_parameters(tree: KinematicTree[S]) -> Input[S]:
    """Return the runtime parameters as symbols to differentiate by."""
    names = tree.runtime_parameters
    symbols = tuple(tree.algebra.symbol(name) for name in names)
    return Input("parameters", (len(names),), symbols, names)


def declare_inputs(tree: KinematicTree[S], builder: ProgramBuilder[S], function: str) -> State[S]:
    """Declare what `function` takes, as symbols; what it does not take is 0.

    The state has an entry for every coordinate; but `q` has nq.
    """
    spec = function_named(function).of(tree.sizes)
    taken: dict[str, tuple[S, ...]] = {}
    for argument in (*spec.arguments, *spec.options):
        shape = argument.sizes(tree.sizes)
        entries = _entry_names(tree, argument.name, shape)
        taken[argument.name] = builder.input(argument.name, shape, entries)
    zero = tree.algebra.zero
    none = (zero,) * len(tree.independent)
    loads = taken.get("loads", (zero,) * (6 * len(tree.loads)))
    names = ("qd", "qdd", "tau", "multipliers")
    qd, qdd, tau, multipliers = (taken.get(name, none) for name in names)
    q = taken.get("q", (zero,) * tree.sizes["nq"])
    if "x" in taken:
        pairs = list(zip(tree.independent, taken["x"], strict=True))
        qdd = tuple(x if joint.prescribed else zero for joint, x in pairs)
        tau = tuple(zero if joint.prescribed else x for joint, x in pairs)
    (t,) = taken.get("t", (None,))
    return State(q, qd, qdd, wrenches(loads), tau, multipliers, t)


def _entry_names(tree: KinematicTree[S], argument: str, shape: tuple[int, ...]) -> Sequence[str]:
    """Return the symbols of an argument: ``q_1``, ``dq_1_dL1``, ``tip_fx``, ``t``."""
    if argument in ("loads", "dloads"):
        return [argument.removesuffix("loads") + name for name in load_entry_names(tree)]
    if not shape:
        return [argument]
    if argument == MOTION_MULTIPLIERS.name:
        names = tree.constraint_names if shape[1] else ()
        return [f"{kind}_{name}" for kind in MULTIPLIERS for name in names]
    rows = [f"{argument}_{i}" for i in range(1, shape[0] + 1)]
    if len(shape) == 1:
        return rows
    return [f"{row}_d{name}" for row in rows for name in tree.runtime_parameters]


# -- functions that solve ----------------------------------------------------------------------


def all_joints(tree: KinematicTree[S]) -> tuple[int, ...]:
    """Numbers of all joints: the free ones of forward dynamics."""
    return tuple(range(1, tree.n + 1))


def independent_joints(tree: KinematicTree[S]) -> tuple[int, ...]:
    """Numbers of the joints whose motion is not prescribed: the free ones of hybrid dynamics."""
    return tuple(joint.number for joint in tree.joints if not joint.prescribed)


def seed_columns(b: ProgramBuilder[S], names: Sequence[str]) -> list[dict[str, tuple[S, ...]]]:
    """Columns of the inputs `names`, (n, p) each: for each of the p parameters (n,) by name."""
    arrays = {name: b.declared(name) for name in names}
    p = {array.shape[1] for array in arrays.values()}.pop()
    return [{name: array.symbols[place::p] for name, array in arrays.items()} for place in range(p)]


def pivot_results(pivots: Sequence[S], diagonal: Sequence[S]) -> Results[S]:
    """Return the hidden results of a function that solves: see `symgen.program.functions`."""
    return {PIVOTS: pivots, DIAGONAL: diagonal}


def declare_results(
    tree: KinematicTree[S], builder: ProgramBuilder[S], function: str, results: Results[S]
) -> None:
    """Declare the results of `function`, then its hidden ones, as the outputs of its program."""
    spec = function_named(function)
    for array in (*spec.results, *spec.hidden):
        builder.output(array.name, array.sizes(tree.sizes), results[array.name])


# -- results -----------------------------------------------------------------------------------


def flat(rows: Iterable[Iterable[S]]) -> list[S]:
    """Return the entries of a matrix, row by row."""
    return [entry for row in rows for entry in row]


def columns_of_joints(tree: KinematicTree[S], columns: Sequence[Mapping[int, S]]) -> list[S]:
    """Return the entries of an array (n, len(columns)), from its columns by joint."""
    zero = tree.algebra.zero
    return [column.get(j, zero) for j in all_joints(tree) for column in columns]


def blocks_of_joints(
    tree: KinematicTree[S], blocks: Iterable[Mapping[int, Iterable[S]]], height: int
) -> list[S]:
    """The entries of an array (len(blocks), height, n) of columns by joint, 0 where none is."""
    nothing = (tree.algebra.zero,) * height
    entries: list[S] = []
    for block in blocks:
        columns = [tuple(block.get(joint.number, nothing)) for joint in tree.joints]
        entries += [column[row] for row in range(height) for column in columns]
    return entries


def square(tree: KinematicTree[S], entries: Mapping[tuple[int, int], S]) -> list[list[S]]:
    """Return the rows of an (n, n) matrix with `entries` by pair of joints, and 0 elsewhere."""
    numbers, zero = range(1, tree.n + 1), tree.algebra.zero
    return [[entries.get((i, k), zero) for k in numbers] for i in numbers]


def by_quarter_turns(rotation: Matrix[S], algebra: Algebra[S]) -> bool:
    """Whether a rotation consists of quarter turns: all its entries are 0, 1 or -1 by structure."""
    return all(
        any(algebra.is_zero(part) for part in (x, x - algebra.one, x + algebra.one))
        for x in rotation.entries
    )


# -- names -------------------------------------------------------------------------------------


@overload
def let_derivative(
    b: ProgramBuilder[S], name: str, value: Vector[S], by: str, note: str
) -> Vector[S]: ...
@overload
def let_derivative(
    b: ProgramBuilder[S], name: str, value: Matrix[S], by: str, note: str
) -> Matrix[S]: ...
@overload
def let_derivative(b: ProgramBuilder[S], name: str, value: S, by: str, note: str) -> S: ...
def let_derivative(
    b: ProgramBuilder[S], name: str, value: S | Vector[S] | Matrix[S], by: str, note: str
) -> S | Vector[S] | Matrix[S]:
    """Name the derivative of the statement `name` with respect to `by`, such as ``q_3``.

    Entries bear the names that `ProgramBuilder.let` gives those of `name`, with ``d_`` in front and
    ``_d<by>`` behind: ``d_omega_2_x_dq_3``.
    """
    with b.variant(f"_d{by}"):
        return b.let(f"d_{name}", value, note)


def let_symmetric(b: ProgramBuilder[S], name: str, value: Matrix[S], note: str) -> Matrix[S]:
    """Name the entries on and above the diagonal."""
    return mirrored({(i, k): b.let(f"{name}_{i + 1}{k + 1}", value[i, k], note) for i, k in UPPER})


def let_moments(
    b: ProgramBuilder[S], names: Sequence[str], x: tuple[S, Vector[S], Matrix[S]], note: str
) -> tuple[S, Vector[S], Matrix[S]]:
    """Name mass, first moments, and the entries of a symmetric matrix of second ones."""
    m, h = b.let(names[0], x[0], note), b.let(names[1], x[1], note)
    return m, h, let_symmetric(b, names[2], x[2], note)


MOTION, FORCE = ("w", "v"), ("n", "f")
"""Letters of the angular and the linear vector of a motion, and of a force."""


def lettered(name: str, letters: tuple[str, str]) -> tuple[str, str]:
    """Return names of the two vectors of a spatial vector: letters behind its name."""
    return f"{name}_{letters[0]}", f"{name}_{letters[1]}"


def let_spatial(
    b: ProgramBuilder[S], names: tuple[str, str], value: Spatial[S], note: str
) -> Spatial[S]:
    """Name the angular and the linear vector."""
    return Spatial(b.let(names[0], value.angular, note), b.let(names[1], value.linear, note))
