"""Motion subspace of the four Euler parameters p = x y z w of a joint, in link axes.

The attitude is the rotation of p / |p|, so that for any p, and for every coordinate of it,

    omega = sum_l w_l pdot_l,    (A)_z = w_l~ A  by z = p_l

hold exactly: derivatives are exact off the unit sphere, and 0 along p.  The paper's
A = E G^T (2 - p^T p) (table 5) has equal value and first derivatives where |p| = 1, and so do its
columns 2 E (table 11); but its (27), (28) do not hold along p.

=========================  =================  ===================================================
symbol                     code               meaning
=========================  =================  ===================================================
h                          h                  2 / |p|^2
G(x) y                     product            x_w y_v - y_w x_v - x_v x y_v, bilinear
w_l = h G(p) e_l           axes               angular velocity by pdot_l
c                          c                  h p . pdot: sum_l w_l' pdot_l is -c sum_l w_l pdot_l
(w_l)_z, z = p_k           slope              h G(e_k) e_l - h p_k w_l
=========================  =================  ===================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Vector, inner
from symgen.joints.quaternions import scaled_rotation

FOUR = range(4)


@dataclass(frozen=True)
class EulerParameters(Generic[S]):
    """A joint with Euler parameters; `members` are the numbers of the four joints in the tree."""

    name: str
    members: tuple[int, ...]

    def of(self, entries: Sequence[S]) -> tuple[S, ...]:
        """Select its four entries from one entry per joint of the tree."""
        return tuple(entries[number - 1] for number in self.members)

    def place(self, number: int) -> int:
        """Index of a joint among the four, from 0."""
        return self.members.index(number)


@dataclass(frozen=True)
class Turning(Generic[S]):
    """The quantities of the module's table; l and k count from 0."""

    p: Sequence[S]
    rate: Sequence[S]
    algebra: Algebra[S]

    @cached_property
    def h(self) -> S:
        """2 / |p|^2"""
        return self.algebra.constant(2.0) / inner(self.p, self.p)

    @cached_property
    def c(self) -> S:
        """h p . pdot"""
        return self.h * inner(self.p, self.rate)

    @property
    def rotation(self) -> Matrix[S]:
        """The attitude: rotation matrix from link axes to joint axes."""
        return scaled_rotation(self.p, self.h, self.algebra)

    @cached_property
    def axes(self) -> list[Vector[S]]:
        """w_l"""
        return [self._product(self.p, k) * self.h for k in FOUR]

    def slope(self, place: int, k: int) -> Vector[S]:
        """(w_l)_z of l = `place` by z = p_k"""
        unit = [self.algebra.one if i == k else self.algebra.zero for i in FOUR]
        return self._product(unit, place) * self.h - self.axes[place] * (self.h * self.p[k])

    def _product(self, x: Sequence[S], k: int) -> Vector[S]:
        """G(x) times the unit vector k."""
        zero = self.algebra.zero
        v = Vector(*x[:3])
        if k == 3:
            return -v
        unit = Vector(*(self.algebra.one if i == k else zero for i in range(3)))
        return unit * x[3] - v.cross(unit)
