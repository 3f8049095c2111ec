"""Rigid bodies: inertial parameters, rigidly connected links merged into one, points in bodies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import add
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import (
    Matrix,
    Transform,
    Vector,
    diagonal,
    matrix_sum,
    outer,
    total,
    zero_vector,
)
from symgen.description.model import LinkDescription
from symgen.kinematics.scalars import scalar, vector

INERTIAL_PARAMETERS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""Parameters of a body in the order of the regressor's columns: mass (kg), first moments (kg m),
entries of the inertia tensor about the origin of the link frame (kg m^2)."""


@dataclass(frozen=True)
class Body(Generic[S]):
    """A rigid body in its own frame: mass, centre of mass, inertia about the centre of mass.

    `pieces` are the links it was merged from.  Moments about the origin are sums over these: the
    common centre of mass would introduce quotients by the mass.
    """

    mass: S
    com: Vector[S]
    inertia: Matrix[S]
    pieces: tuple[Body[S], ...] = ()

    @property
    def moments(self) -> Vector[S]:
        """The first moments m c about the link frame's origin."""
        if self.pieces:
            return reduce(add, (piece.moments for piece in self.pieces))
        return self.com * self.mass

    def pseudo_inertia(self, algebra: Algebra[S]) -> Matrix[S]:
        """Return the 4x4 matrix [[int r r^T dm, m c], [m c^T, m]] about the link frame's origin.

        int x x dm = (Iyy + Izz - Ixx) / 2 and so on, int x y dm = -Ixy for tensor entries; c is
        the centre of mass.
        """
        if self.pieces:
            return matrix_sum([piece.pseudo_inertia(algebra) for piece in self.pieces])
        m, c = self.mass, tuple(self.com)
        mc = [m * part for part in c]
        about_com = second_moments(self.inertia, algebra).rows
        rows = [[about_com[i][k] + mc[i] * c[k] for k in range(3)] + [mc[i]] for i in range(3)]
        return Matrix([*rows, [*mc, m]])

    def inertial_parameters(self, algebra: Algebra[S]) -> tuple[S, ...]:
        """Return the ten `INERTIAL_PARAMETERS`, link-frame axes."""
        if self.pieces:
            each = [piece.inertial_parameters(algebra) for piece in self.pieces]
            return tuple(total(entries, algebra) for entries in zip(*each, strict=True))
        about_origin = self.inertia + _point_mass_inertia(self.mass, self.com, algebra)
        places = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
        return (self.mass, *self.com * self.mass, *(about_origin[place] for place in places))


@dataclass(frozen=True)
class BodyPoint(Generic[S]):
    """A named point fixed in a body, in the body's frame; body 0 is the base."""

    name: str
    body: int
    point: Vector[S]


@dataclass(frozen=True)
class BodyAxis(Generic[S]):
    """The axis of a joint, a unit vector fixed in the body of the joint, in the body's frame."""

    body: int
    direction: Vector[S]


def massless(algebra: Algebra[S]) -> Body[S]:
    """Return a body without mass."""
    zero = zero_vector(algebra)
    return Body(algebra.zero, zero, diagonal(zero, algebra))


def body_of(link: LinkDescription, algebra: Algebra[S]) -> Body[S]:
    """Return the body of one link of the file."""
    xx, yy, zz, xy, xz, yz = (scalar(entry, algebra) for entry in link.inertia)
    inertia = Matrix([(xx, xy, xz), (xy, yy, yz), (xz, yz, zz)])
    return Body(scalar(link.mass, algebra), vector(link.com, algebra), inertia)


def in_body(body: Body[S], pose: Transform[S]) -> Body[S]:
    """Express a body in another frame, in which its own frame has the pose `pose`."""
    rotated = pose.rotation @ body.inertia @ pose.rotation.transposed
    return Body(body.mass, pose.apply(body.com), rotated)


@dataclass(frozen=True)
class Piece(Generic[S]):
    """A link as a part of a body, in the frame of that body.

    `value` is its mass (kg) in the file; `changes` says whether runtime parameters determine it.
    """

    link: str
    body: Body[S]
    value: float
    changes: bool

    @property
    def stays_massless(self) -> bool:
        """Whether its mass is 0 for all arguments."""
        return self.value == 0.0 and not self.changes


def merged(pieces: list[Piece[S]], algebra: Algebra[S]) -> Body[S]:
    """Merge rigidly connected pieces into one body, the main piece first.

    Massless pieces do not contribute to the common centre of mass.  Structure decides which pieces
    are massless, so that a named mass stays in the equations even if its value is 0.  Pieces whose
    masses all stay 0 have no common centre of mass and are left out.  Masses that are arguments
    must not all be 0 at run time: see `KinematicTree.weightless`.
    """
    return _settled(_merged(pieces, algebra), algebra)


def _settled(body: Body[S], algebra: Algebra[S]) -> Body[S]:
    """Evaluate constant subexpressions of a body: see `Algebra.settled`."""
    inertia = Matrix([[algebra.settled(x) for x in row] for row in body.inertia.rows])
    com = Vector(*map(algebra.settled, body.com))
    pieces = tuple(_settled(piece, algebra) for piece in body.pieces)
    return Body(algebra.settled(body.mass), com, inertia, pieces)


def _merged(pieces: list[Piece[S]], algebra: Algebra[S]) -> Body[S]:
    heavy = [piece.body for piece in pieces if not algebra.is_zero(piece.body.mass)]
    if len(heavy) > 1 and all(piece.stays_massless for piece in pieces):
        heavy = []
    inertia = matrix_sum([piece.body.inertia for piece in pieces])
    if len(heavy) <= 1:
        main = heavy[0] if heavy else pieces[0].body
        return Body(main.mass, main.com, inertia)
    mass = total([piece.mass for piece in heavy], algebra)
    moments = reduce(add, (piece.moments for piece in heavy))
    for first, second in combinations(heavy, 2):  # reduced mass of each pair
        reduced = first.mass * (second.mass / mass)
        inertia = inertia + _point_mass_inertia(reduced, second.com - first.com, algebra)
    com = Vector(*(moment / mass for moment in moments))
    return Body(mass, com, inertia, tuple(piece.body for piece in pieces))


def second_moments(inertia: Matrix[S], algebra: Algebra[S]) -> Matrix[S]:
    """int r r^T dm of an inertia tensor: half its trace on the diagonal, less the tensor."""
    half = algebra.constant(0.5)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.rows
    return Matrix(
        [
            ((yy + zz - xx) * half, -xy, -xz),
            (-xy, (xx + zz - yy) * half, -yz),
            (-xz, -yz, (xx + yy - zz) * half),
        ]
    )


def _point_mass_inertia(mass: S, r: Vector[S], algebra: Algebra[S]) -> Matrix[S]:
    """Inertia of a point mass at r about the origin: m (r.r I - r r^T)."""
    square = r.dot(r)
    return (diagonal(Vector(square, square, square), algebra) - outer(r, r)) * mass
