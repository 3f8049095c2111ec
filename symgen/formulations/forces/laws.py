"""The laws of a model's forces, and how their values vary with positions and velocities.

A law is differentiated by what it is about, the motions of its points and the coordinates that it
names (dFM-3, dFM-5, by the rules of differentiation); the chain rule goes on from there:

    df/dq_k = f_x J_k + f_v dv/dq_k + f_q,    df/dqd_k = f_v J_k + f_qd.

For that the law is written of symbols, in whose places their values are put in the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector
from symgen.description.quantities import AXES, RATES, TIME, quantity
from symgen.formulations.forces.columns import Columns, MovedPoint, NaturalColumns
from symgen.formulations.state import State
from symgen.kinematics.forces import Action, ModelForce, PointMotion
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.differentiation import differentiate
from symgen.program.program import Input

NOTES = {
    "FM-3": "a spring: f = (k (l - l_0) + c l')/l d at its first end, -f at the second, or its law",
    "FM-4": "its energy k (l - l_0)^2 / 2, or that of its law",
    "FM-5": "force or torque on a link as the model file writes it",
    "FM-10": "a tyre: normal force, Fiala's slip forces, moments -- Project Chrono, ChFialaTire",
    "FM-7": "chain rule: f_x J_k + f_v dv/dq_k + f_q by q_k, f_v J_k + f_qd by qd_k",
}

Slope = Vector[S] | None
"""The derivative of a vector by one variable; None where it is 0."""

Row = dict[int, S]
"""The derivatives of a number by what a law is about, by their places."""


@dataclass(frozen=True)
class Law(Generic[S]):
    """A force as it is written: what its points do, and what acts at them.

    `joints` are those that the force varies with.  `inputs` are the symbols that it is written of,
    `rows` the derivatives by them of x, y, z of the force and the torque of every action; both are
    empty where they were not asked for.
    """

    force: ModelForce[S]
    columns: Columns[S]
    points: tuple[MovedPoint[S], ...]
    actions: tuple[Action[S], ...]
    joints: tuple[int, ...]
    inputs: tuple[S, ...] = ()
    rows: tuple[tuple[list[Row[S]], list[Row[S]]], ...] = ()

    def slopes(self, place: int, k: int) -> tuple[Slope[S], Slope[S], Slope[S], Slope[S]]:
        """Write FM-7 of an action: its force by q_k and qd_k, its torque by q_k and qd_k."""
        by_q, by_qd = self._along(k)
        force, torque = self.rows[place]
        return (
            self._total(force, by_q), self._total(force, by_qd),
            self._total(torque, by_q), self._total(torque, by_qd),
        )  # fmt: skip

    def _along(self, k: int) -> tuple[dict[int, S], dict[int, S]]:
        """How the symbols vary with q_k, and with qd_k, by their places."""
        by_q: dict[int, S] = {}
        by_qd: dict[int, S] = {}
        for number, point in enumerate(self.points):
            if k not in point.columns:
                continue
            x, v = 6 * number, 6 * number + 3
            slope = self.columns.velocity_slope(point, k)
            columns = zip(point.columns[k], slope, point.rates[k], strict=True)
            for axis, (moved, changed, turned) in enumerate(columns):
                by_q[x + axis], by_q[v + axis] = moved, changed
                by_qd[v + axis] = turned
        unit, tree = self.columns.b.algebra.one, self.columns.tree
        for place, name in enumerate(self.force.quantities, start=6 * len(self.points)):
            rate, joint = name.split(".")
            if joint == tree.joint(k).name:
                (by_q if rate == RATES[0] else by_qd)[place] = unit
        return by_q, by_qd

    def _total(self, rows: Sequence[Row[S]], along: Mapping[int, S]) -> Slope[S]:
        zero = self.columns.b.algebra.zero
        slopes = []
        for row in rows:
            entry = zero
            for place, slope in row.items():
                if place in along:
                    entry = entry + slope * along[place]
            slopes.append(entry)
        if not slopes or all(map(self.columns.b.algebra.is_zero, slopes)):
            return None
        return Vector(*slopes)


@dataclass
class Laws(Generic[S]):
    """All forces of a tree; `values` are what symbols stand for, to be put in their places."""

    laws: list[Law[S]]
    values: dict[S, S] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Law[S]]:
        return iter(self.laws)


def write_laws(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], slopes: bool = False
) -> Laws[S]:
    """FM-1 to FM-5; `state` has an entry for every joint, `slopes` asks for derivatives."""
    seen: dict[int, Columns[S]] = {}
    if tree.is_natural:
        seen[BASE] = NaturalColumns(tree, b, state)
    else:
        seen = {
            root: Columns(tree, b, state, root, bodies) for root, bodies in _roots(tree).items()
        }
    laws: Laws[S] = Laws([])
    for force in tree.forces:
        columns = seen[_root(tree, force)]
        points = tuple(
            columns.moved(point, f"{force.name}_{place}")
            for place, point in enumerate(force.points, start=1)
        )
        laws.laws.append(_law(force, columns, points, laws.values, slopes))
    return laws


def _law(
    force: ModelForce[S],
    columns: Columns[S],
    points: tuple[MovedPoint[S], ...],
    values: dict[S, S],
    slopes: bool,
) -> Law[S]:
    b, tree = columns.b, columns.tree
    quantities, time = _known(tree, columns.state, force), _time(columns.state, force)
    motions = [point.motion for point in points]
    moving = {j for point in points for j in point.columns}
    named = {name.split(".")[1] for name in force.quantities}
    joints = sorted(moving | {joint.number for joint in tree.joints if joint.name in named})
    if not slopes:
        with b.step("forces", force.name):
            actions = force.actions(motions, {**quantities, **time}, b)
        return Law(force, columns, points, actions, tuple(joints))
    inputs = _symbols(force, motions, quantities, b, values)
    start = b.length
    entries = iter(inputs.symbols)
    motions = [PointMotion(_vector(entries), _vector(entries)) for _ in motions]
    quantities = dict(zip(quantities, entries, strict=True))
    with b.step("law", force.name):
        actions = force.actions(motions, {**quantities, **time}, b)
    derivatives = differentiate(b, [inputs], range(start, b.length))

    def rows(vector: Vector[S] | None) -> list[Row[S]]:
        return [] if vector is None else [derivatives.of(entry) for entry in vector]

    matrices = tuple((rows(action.force), rows(action.torque)) for action in actions)
    return Law(force, columns, points, actions, tuple(joints), inputs.symbols, matrices)


def _vector(entries: Iterator[S]) -> Vector[S]:
    """Return the next three."""
    return Vector(next(entries), next(entries), next(entries))


def _symbols(
    force: ModelForce[S],
    motions: Sequence[PointMotion[S]],
    quantities: Mapping[str, S],
    b: ProgramBuilder[S],
    values: dict[S, S],
) -> Input[S]:
    """Symbols for x and v of every point, and the quantities."""
    names: list[str] = []
    meant: list[S] = []
    for place, motion in enumerate(motions, start=1):
        for part, vector in (("x", motion.x), ("v", motion.v)):
            for axis, entry in zip(AXES, vector, strict=True):
                names.append(f"{part}_of_{force.name}_{place}_{axis}")
                meant.append(entry)
    for name, entry in quantities.items():
        names.append(f"{name.replace('.', '_')}_of_{force.name}")
        meant.append(entry)
    inputs = b.auxiliary(force.name, (len(names),), names)
    values.update(zip(inputs.symbols, meant, strict=True))
    return inputs


def _known(tree: KinematicTree[S], state: State[S], force: ModelForce[S]) -> dict[str, S]:
    """Return the quantities that a force mentions."""
    quantities = {}
    for rate, entries in zip(RATES, (state.q, state.qd), strict=False):
        for joint, entry in zip(tree.joints, entries, strict=True):
            quantities[quantity(rate, joint.name)] = entry
    return {name: quantities[name] for name in force.quantities}


def _time(state: State[S], force: ModelForce[S]) -> dict[str, S]:
    """Return the time, where it mentions that."""
    return {TIME: state.t} if force.is_timed and state.t is not None else {}


def _root(tree: KinematicTree[S], force: ModelForce[S]) -> int:
    """Return the body from which a force is seen."""
    if not force.internal or tree.is_natural:
        return BASE
    paths = [set(tree.path(point.body)) for point in force.points]
    return max(set.intersection(*paths), default=BASE)


def _roots(tree: KinematicTree[S]) -> dict[int, list[int]]:
    """Return, by root, the bodies that forces act on or mention."""
    by_root: dict[int, list[int]] = {}
    for force in tree.forces:
        bodies = [point.body for point in force.points]
        by_root.setdefault(_root(tree, force), []).extend(bodies)
    return by_root
