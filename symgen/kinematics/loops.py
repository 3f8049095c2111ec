"""Loops of a mechanism: pairs of frames fixed in two bodies, and the constraints between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Transform, Vector
from symgen.description.model import LoopDescription, LoopEnd, RobotDescription
from symgen.joints import Closing, Directions, closing_type
from symgen.joints.closing import BASE_AXES, GAP, Row, row_names, shared_axes
from symgen.joints.composite import in_plane
from symgen.kinematics.frames import identity_transform, normalized, pose, units
from symgen.kinematics.scalars import scalar, vector

__all__ = ["BASE_AXES", "GAP", "End", "Loop", "loop_of"]


@dataclass(frozen=True)
class End(Generic[S]):
    """One frame of a loop, fixed in a body and in its frame: an origin, and u, v, axis by name.

    `body` is the number of the joint that carries it, 0 for the base.
    """

    body: int
    origin: Vector[S]
    axes: Mapping[str, Vector[S]]


@dataclass(frozen=True)
class Loop(Generic[S]):
    """A joint that closes a loop between two frames; `length` (m) belongs to a distance."""

    name: str
    kind: Closing
    first: End[S]
    second: End[S]
    length: S

    @property
    def rows(self) -> tuple[Row, ...]:
        """Pairs of vectors, of the first frame and of the second, whose products are 0."""
        return self.kind.forbids

    @property
    def has_gap(self) -> bool:
        """Whether a row contains the vector between the origins."""
        return any(GAP in row for row in self.rows)

    def ends(self) -> tuple[tuple[End[S], tuple[str, ...]], ...]:
        """Return the two frames, each with the names of its axes that the rows contain."""
        sides = zip((self.first, self.second), zip(*self.rows, strict=True), strict=True)
        return tuple((end, tuple(x for x in end.axes if x in used)) for end, used in sides)

    @property
    def row_names(self) -> tuple[str, ...]:
        """See `symgen.joints.closing.row_names`."""
        return row_names(self.name, self.rows)


def loop_of(
    description: LoopDescription,
    carriers: Mapping[str, tuple[int, Transform[S]]],
    algebra: Algebra[S],
) -> Loop[S]:
    """Build a loop; `carriers` maps each link to its body and its frame's pose in this body."""
    first, second = (
        _end(end, *carriers[end.link], algebra) for end in (description.first, description.second)
    )
    length = scalar(description.length, algebra)
    return Loop(description.name, closing_type(description.type), first, second, length)


def _end(end: LoopEnd, body: int, carrier: Transform[S], algebra: Algebra[S]) -> End[S]:
    frame = (carrier @ pose(end.origin, algebra)).settled(algebra)
    axis = normalized(vector(end.axis, algebra), algebra)
    u, v = in_plane(Directions(axis, units(algebra), "", algebra.zero))
    axes = {"u": u, "v": v, "axis": axis}
    turned = {name: frame.rotation.apply(unit) for name, unit in axes.items()}
    return End(body, frame.translation, turned)


def row_units(description: RobotDescription) -> tuple[int, ...]:
    """Units of the rows, for decisions about rank: see `symgen.runtime.closure.row_sizes`.

    -1 for cosines and norms, 0 for lengths; each squared distance and relation has its own unit.
    """
    units: list[int] = []
    for loop in description.loops:
        for row in closing_type(loop.type).forbids:
            units.append(max(units, default=0) + 1 if row == (GAP, GAP) else -(GAP not in row))
    first = max([0, *units]) + 1
    units += range(first, first + len(description.relations))
    for joint in description.joints:
        units += joint.natural.units if joint.natural else (-1,) * len(joint.rows)
    return tuple(units)


def velocity_rows(description: RobotDescription) -> tuple[bool, ...]:
    """Return whether each row is a relation of velocities, which positions do not have to keep."""
    relations = [relation.is_of_velocities for relation in description.relations]
    behind = sum(len(joint.rows) for joint in description.joints)
    loops = description.n_constraints - len(relations) - behind
    return (*(False,) * loops, *relations, *(False,) * behind)


LoopAxes = tuple[str, int, int, tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]]
"""Name of a loop, numbers of its links (0: the base), pairs of unit vectors in their frames."""


def loop_axes(description: RobotDescription) -> tuple[LoopAxes, ...]:
    """Return the axes that the frames of closed loops share, at the parameters of the file."""
    graph = Graph()
    still = identity_transform(graph)
    numbers = {joint.link.name: k for k, joint in enumerate(description.joints, start=1)}
    result: list[LoopAxes] = []
    for each in description.loops:
        loop = loop_of(each, {each.first.link: (0, still), each.second.link: (0, still)}, graph)
        names = shared_axes(loop.rows)
        if not names:
            continue
        vectors = [end.axes[name] for name in names for end in (loop.first, loop.second)]
        entries = [x for vector in vectors for x in (vector.x, vector.y, vector.z)]
        values = [float(x) for x in evaluate(entries, description.parameter_values)]
        triples = [tuple(values[k : k + 3]) for k in range(0, len(values), 3)]
        pairs = tuple(zip(triples[::2], triples[1::2], strict=True))
        first, second = (numbers.get(end.link, 0) for end in (each.first, each.second))
        result.append((each.name, first, second, pairs))
    return tuple(result)
