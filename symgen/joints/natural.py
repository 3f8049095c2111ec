"""Natural coordinates of a link: points and unit vectors that it does not share with its parent.

The position of a link in base axes is one point and three unit vectors, the axes u, v and axis of
its joint (Garcia de Jalon and Bayo 1994, chapter 2).  Points and vectors that
the joint keeps fixed in the parent, such as the point and the axis of a revolute joint, are linear
combinations of those of the parent, and no coordinates.  All others are coordinates, with rows for
lengths and angles.

=================  ===========================================  ================================
joint              coordinates                                  rows
=================  ===========================================  ================================
revolute           u, v (6); u in its plane (2) where the axis  their products, with the axis (5);
                   is constant in base axes                     u . u (1)
prismatic          a point (3)                                  its ways along u and v (2)
universal          u, v, axis (9)                               their products (6), both axes (1)
spherical          u, v, axis (9)                               their products (6)
cylindrical        u, v, a point (9), or 5                      5, or 1, and the way (2)
planar             u, v, a point (9), or 5                      5, or 1, and the way (1)
floating           u, v, axis, a point (12)                     their products (6)
=================  ===========================================  ================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symgen.joints.closing import BASE_AXES, FRAME_AXES, GAP, PARALLEL, TOGETHER, Row

SPIN: Row = ("u", "v")


@dataclass(frozen=True)
class NaturalCoordinates:
    """Natural coordinates of one link.

    `vectors` are its own unit vectors; in a `plane` it has u alone, of two coordinates.  `point`:
    whether it has a point of its own.  `displacement`: whether the coordinate of the joint is a
    coordinate as well, the first one.  `forbids` are the rows of the joint that sharing leaves.
    """

    vectors: tuple[str, ...]
    plane: bool
    point: bool
    displacement: bool
    forbids: tuple[Row, ...]

    def names(self, joint: str) -> tuple[str, ...]:
        """Return the names of the coordinates: ``arm_u_x``, ``arm_u_y`` and so on."""
        axes = ("1", "2") if self.plane else BASE_AXES
        entries = [f"{joint}_{vector}_{axis}" for vector in self.vectors for axis in axes]
        entries += [f"{joint}_point_{axis}" for axis in BASE_AXES if self.point]
        return (*((joint,) if self.displacement else ()), *entries)

    @property
    def products(self) -> tuple[Row, ...]:
        """Pairs of unit vectors of the link whose products are 1 or 0, and not by the parent's."""
        if self.plane:
            return (("u", "u"),)
        pairs = [(x, y) for i, x in enumerate(FRAME_AXES) for y in FRAME_AXES[i:]]
        return tuple(pair for pair in pairs if not set(self.vectors).isdisjoint(pair))

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the rows behind that of the joint: products, the joint's, displacement."""
        names = [f"{x}_{y}" for x, y in self.products]
        # both axes of a universal joint beside the length of its own
        names += ["axes" if row in self.products else "_".join(row) for row in self.forbids]
        return (*names, *(("displacement",) if self.displacement else ()))

    @property
    def units(self) -> tuple[int, ...]:
        """Units of the rows: see `symgen.kinematics.loops.row_units`."""
        lengths = [GAP in row for row in self.forbids]
        if self.displacement:
            lengths.append(self.vectors == ())
        return (*[-1] * len(self.products), *(is_length - 1 for is_length in lengths))


def natural_coordinates(
    forbids: Sequence[Row], plane: bool, displacement: bool
) -> NaturalCoordinates:
    """Return the natural coordinates of a link whose joint keeps the rows `forbids` at 0.

    `plane`: whether its axis is constant in base axes; `displacement` as of `NaturalCoordinates`.
    """
    kept = set(forbids)
    shares_axis, point = kept >= set(PARALLEL), not kept >= set(TOGETHER)
    vectors: tuple[str, ...] = ("u", "v") if shares_axis else FRAME_AXES
    if shares_axis and SPIN in kept:
        vectors = ()
    plane = plane and vectors == ("u", "v")
    left = tuple(row for row in forbids if row not in (*PARALLEL, *TOGETHER, SPIN))
    return NaturalCoordinates(vectors[: 1 if plane else 3], plane, point, displacement, left)
