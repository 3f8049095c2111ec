"""What closes the loops of a mechanism: frames of two bodies, and the rows between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Transform, Vector
from symgen.description.model import LoopDescription, LoopEnd
from symgen.joints import Closing, Directions, closing_type
from symgen.joints.closing import BASE_AXES, GAP, Row, row_names
from symgen.joints.planar import in_plane
from symgen.kinematics.frames import normalized, pose, units
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
    """A joint that closes a loop between two frames; `length` is that of a distance."""

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
        """Whether a row is about the way between the origins."""
        return any(GAP in row for row in self.rows)

    def ends(self) -> tuple[tuple[End[S], tuple[str, ...]], ...]:
        """Both frames, each with the names of those of its axes that rows are about."""
        sides = zip((self.first, self.second), zip(*self.rows, strict=True), strict=True)
        return tuple(
            (end, tuple(name for name in end.axes if name in mentioned)) for end, mentioned in sides
        )

    @property
    def row_names(self) -> tuple[str, ...]:
        """See `symgen.joints.closing.row_names`."""
        return row_names(self.name, self.rows)


def loop_of(
    description: LoopDescription,
    carriers: Mapping[str, tuple[int, Transform[S]]],
    algebra: Algebra[S],
) -> Loop[S]:
    """A loop; `carriers` are the body and the pose in it of every link's frame."""
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
    turned = {name: frame.rotation.apply(one) for name, one in axes.items()}
    return End(body, frame.translation, turned)
