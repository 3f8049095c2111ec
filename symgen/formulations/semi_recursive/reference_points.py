"""The reference point of every body: the parameter of the formulation.

The equations hold for any choice.  A point may be fixed in its body; then it moves with it.  Or it
is a point of space, of which at every instant another point of the body passes: velocities are
those of that point of the body, while the position stays (the paper's r_i, for which (r_i)_z is not
the derivative of its velocity with respect to zdot).

The paper calls RTdyn0 the choice of the centres of mass: mass matrices of bodies are block diagonal
then.  RTdyn1 is that of the origin of the base: there every B_i is the identity, and what is
accumulated are plain sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Vector, zero_vector


@dataclass(frozen=True)
class Places(Generic[S]):
    """Positions of a body, base axes (m).

    `joint` is the point r_j on the axis of its joint, `origin` that of the link's frame, `centre`
    the centre of mass r_G.
    """

    joint: Vector[S]
    origin: Vector[S]
    centre: Vector[S]


@dataclass(frozen=True)
class ReferencePoint:
    """Where the motion of a body is described: `of` finds r_i from `Places`."""

    name: str
    title: str
    of: Callable[[Places[Any], Algebra[Any]], Vector[Any]]


LINK_ORIGIN = ReferencePoint(
    "link_origin", "origins of the link frames", lambda places, algebra: places.origin
)
RTDYN0 = ReferencePoint("rtdyn0", "centres of mass (RTdyn0)", lambda places, algebra: places.centre)
RTDYN1 = ReferencePoint(
    "rtdyn1", "origin of the base (RTdyn1)", lambda places, algebra: zero_vector(algebra)
)
