"""6x6 mass matrices of rigid bodies, referred to a reference point, in base axes.

The paper has [linear; angular] motions and [force; moment].  The mass matrix of a rigid
body, or of several that move as one, is [[m I, -mc~], [mc~, J]] about any point: it is kept as its
mass, first moment and inertia.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Vector, diagonal, outer, zero_vector
from symgen.algebra.spatial import Spatial
from symgen.formulations.shared import let_symmetric
from symgen.program.builder import ProgramBuilder


@dataclass(frozen=True)
class Mass(Generic[S]):
    """[[m I, -mc~], [mc~, J]]: mass, first moment and inertia about the reference point."""

    m: S
    mc: Vector[S]
    J: Matrix[S]

    def __add__(self, other: Mass[S]) -> Mass[S]:
        return Mass(self.m + other.m, self.mc + other.mc, self.J + other.J)

    def times(self, x: Spatial[S]) -> Spatial[S]:
        """The matrix times a motion."""
        return Spatial(
            self.mc.cross(x.linear) + self.J.apply(x.angular),
            x.linear * self.m - self.mc.cross(x.angular),
        )


def second_moment(x: Vector[S], y: Vector[S], algebra: Algebra[S]) -> Matrix[S]:
    """(x . y) I - (x y^T + y x^T) / 2: bilinear and symmetric; -x~ x~ for x = y."""
    product, half = x.dot(y), algebra.constant(0.5)
    return diagonal(Vector(product, product, product), algebra) - (outer(x, y) + outer(y, x)) * half


# -- B_i and its rate: `arm` is r_p - r_i, p the parent of i ------------------------------


def carried(arm: Vector[S], x: Spatial[S]) -> Spatial[S]:
    """B_i times a motion of the parent."""
    return Spatial(x.angular, x.linear + arm.cross(x.angular))


def carried_rate(arm_dot: Vector[S], x: Spatial[S], algebra: Algebra[S]) -> Spatial[S]:
    """Bdot_i times a motion of the parent."""
    return Spatial(zero_vector(algebra), arm_dot.cross(x.angular))


def returned(arm: Vector[S], force: Spatial[S]) -> Spatial[S]:
    """B_i^T times a force on body i: what its parent feels."""
    return Spatial(force.angular - arm.cross(force.linear), force.linear)


def moved(arm: Vector[S], x: Mass[S], algebra: Algebra[S]) -> Mass[S]:
    """B_i^T M B_i: the same mass about the reference point of the parent."""
    passing = arm * x.m
    shift = second_moment(arm, passing - (x.mc + x.mc), algebra)
    return Mass(x.m, x.mc - passing, x.J + shift)


# -- names -------------------------------------------------------------------------------------


def let_mass(b: ProgramBuilder[S], names: tuple[str, str, str], x: Mass[S], note: str) -> Mass[S]:
    """Name mass, first moment and inertia."""
    m, mc = b.let(names[0], x.m, note), b.let(names[1], x.mc, note)
    return Mass(m, mc, let_symmetric(b, names[2], x.J, note))
