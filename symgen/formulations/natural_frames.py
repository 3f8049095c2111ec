"""Frames of links in natural coordinates, for the formulation and for the forces of the model.

A point of a link is o + x e_x + y e_y + z e_z, with the axes e and the origin o of the link, which
are linear in the coordinates.  With X_a these four, and C_aj = dX_a/dz_j, which are constant,

    X_a' = sum_j C_aj zd_j,   omega = sum_a X_a x X_a' / 2,   S_j = sum_a X_a x C_aj / 2

where the sums are over the axes.  S_j is the column of the angular velocity where the rows of
`symgen.joints.natural` are 0: by virtual power a moment n adds S_j . n to the generalized force of
coordinate j.

A row is a product of vectors of the frames before and after the motion of a joint, as in
`symgen.joints.closing`; the coordinate q of a joint, if it is one, has the row

    (v cos q - u sin q) . U = 0   revolute: u, v before, U after the motion,
    gap . axis - q = 0            prismatic.

======================  ======================  ================================================
symbol                  code                    meaning
======================  ======================  ================================================
e_x, e_y, e_z           ex_i, ey_i, ez_i        axes of link i, base axes
o                       o_i                     origin of link i
X_a', X_a''             ex_i_dot, ex_i_ddot     their rates, likewise of the others
C_aj                    by_joint                derivative of X_a by coordinate j
S_j                     spins                   angular velocity by the rate of coordinate j
======================  ======================  ================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import add
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Transform, Vector, all_zero, zero_vector
from symgen.formulations.constraints import Moving, difference, product
from symgen.formulations.state import State
from symgen.kinematics.frames import units
from symgen.kinematics.joint import Joint
from symgen.kinematics.loops import GAP
from symgen.kinematics.natural import FRAME_AXES, NaturalLink
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "NC-1": "e_x, e_y, e_z, o of a link: linear in its own coordinates and those of its parent "
    "-- Garcia de Jalon, Bayo 1994, chapter 2",
    "NC-2": "their rates, linear in the rates of the coordinates",
}


@dataclass(frozen=True)
class NaturalFrame(Generic[S]):
    """Three axes and an origin in base axes, with derivatives by coordinates that are constant.

    `plane` are constant vectors that span the plane in which the first two turn, if they do.
    """

    axes: tuple[Moving[Vector[S]], ...]
    origin: Moving[Vector[S]]
    algebra: Algebra[S]
    plane: tuple[Vector[S], Vector[S]] | None = None

    @property
    def every(self) -> tuple[Moving[Vector[S]], ...]:
        """Axes and origin: X_a."""
        return (*self.axes, self.origin)

    def direction(self, e: Vector[S]) -> Moving[Vector[S]]:
        """Return a vector of the body, given in its axes."""
        return _combined(list(zip(e, self.axes, strict=True)), self.algebra)

    def point(self, p: Vector[S]) -> Moving[Vector[S]]:
        """Return a point of the body, given in its frame."""
        terms = [(self.algebra.one, self.origin), *zip(p, self.axes, strict=True)]
        return _combined(terms, self.algebra)

    def moved(self, pose: Transform[S]) -> NaturalFrame[S]:
        """Return a frame that has this pose in this one."""
        axes = tuple(self.direction(Vector(*e)) for e in pose.rotation.transposed.rows)
        return replace(self, axes=axes, origin=self.point(pose.translation))

    @property
    def pose(self) -> Transform[S]:
        """Axes and origin as a transform."""
        rows = zip(*(axis.at for axis in self.axes), strict=True)
        return Transform(Matrix(list(rows)), self.origin.at)

    @cached_property
    def omega(self) -> Vector[S]:
        """Angular velocity."""
        return self._spin([axis.rate for axis in self.axes])

    @cached_property
    def alpha(self) -> Vector[S]:
        """Angular acceleration, the rate of `omega`."""
        return self._spin([axis.second_rate for axis in self.axes])

    @cached_property
    def spins(self) -> dict[int, Vector[S]]:
        """S_j by coordinate."""
        return {j: self._spin(self.columns(j)) for j in self.numbers}

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of the coordinates that move the frame."""
        return tuple(sorted({j for x in self.every for j in x.by_joint}))

    def columns(self, j: int) -> list[Vector[S]]:
        """Return C_aj of the axes."""
        return [x.by_joint.get(j, zero_vector(self.algebra)) for x in self.axes]

    def spin_slope(self, rates: Sequence[Vector[S]], k: int) -> Vector[S]:
        """Return sum_a C_ak x Y_a / 2, the derivative by z_k of sum_a X_a x Y_a / 2."""
        return _spin(self.columns(k), rates, self.algebra)

    def _spin(self, rates: Sequence[Vector[S]]) -> Vector[S]:
        return _spin([axis.at for axis in self.axes], rates, self.algebra)


@dataclass(frozen=True)
class NaturalJoint(Generic[S]):
    """The frames of a joint: `before` its motion in the parent, `after` it in the link."""

    link: NaturalLink[S]
    before: NaturalFrame[S]
    after: NaturalFrame[S]


@dataclass(frozen=True)
class NaturalBodies(Generic[S]):
    """Frames of all bodies, by number, and those of joints with natural coordinates."""

    frames: dict[int, NaturalFrame[S]]
    joints: list[NaturalJoint[S]] = field(default_factory=list)


def natural_bodies(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> NaturalBodies[S]:
    """Write the frames of all bodies: NC-1, NC-2."""
    none = zero_vector(b.algebra)
    *axes, origin = (Moving(x, none, none) for x in (*units(b.algebra), none))
    bodies = NaturalBodies({BASE: NaturalFrame(tuple(axes), origin, b.algebra)})
    links = {number: link for link in tree.natural_links for number in link.numbers}
    for joint in tree.joints:
        i, link = joint.number, links.get(joint.number)
        if link is None:
            frame = _slid(joint, bodies.frames[joint.parent], state)
        elif i == link.number:
            moving = _joint(link, bodies.frames[link.parent], state)
            bodies.joints.append(moving)
            frame = moving.after.moved(link.link)
        else:
            continue
        with b.step("frames", joint.name):
            parts = zip(("ex", "ey", "ez", "o"), frame.every, strict=True)
            *axes, origin = (named(b, f"{part}_{i}", x) for part, x in parts)
        bodies.frames[i] = replace(frame, axes=tuple(axes), origin=origin)
    return bodies


def natural_rows(bodies: NaturalBodies[S], state: State[S]) -> Iterator[tuple[str, Moving[S]]]:
    """Yield the rows of all joints with natural coordinates, in the order of `constraint_names`."""
    for joint in bodies.joints:
        link, algebra = joint.link, joint.after.algebra
        first, second = (
            dict(zip(FRAME_AXES, x.axes, strict=True)) for x in (joint.before, joint.after)
        )
        gap = difference(joint.after.origin, joint.before.origin)
        rows = [product(second[x], second[y], algebra) for x, y in link.coordinates.products]
        rows = [
            replace(row, at=row.at - algebra.one) if x == y else row
            for row, (x, y) in zip(rows, link.coordinates.products, strict=True)
        ]
        second |= {"axis": joint.after.direction(link.inner), GAP: gap}
        rows += [product(first[x], second[y], algebra) for x, y in link.coordinates.forbids]
        if link.coordinates.displacement:
            rows.append(_displacement(joint, gap, state))
        names = (f"{link.name}_{row}" for row in link.coordinates.rows)
        yield from zip(names, rows, strict=True)


def _displacement(joint: NaturalJoint[S], gap: Moving[Vector[S]], state: State[S]) -> Moving[S]:
    """Return the row of the coordinate of a joint."""
    link, algebra = joint.link, joint.after.algebra
    number = link.numbers[0]
    k = number - 1
    q, qd, qdd = state.q[k] + link.offset, state.qd[k], state.qdd[k]
    u, v, axis = joint.before.axes
    if not link.coordinates.vectors:
        row = product(gap, axis, algebra)
        columns = {**row.by_joint, number: -algebra.one}
        return Moving(row.at - q, row.rate - qd, row.second_rate - qdd, columns)
    s, c = algebra.function("sin", q), algebra.function("cos", q)
    across = _combined([(c, v), (-s, u)], algebra)  # at fixed q
    along = _combined([(-c, u), (-s, v)], algebra)  # its derivative by q
    turning = Moving(
        across.at,
        across.rate + along.at * qd,
        across.second_rate + along.rate * (qd + qd) + along.at * qdd - across.at * (qd * qd),
        {**across.by_joint, number: along.at},
    )
    return product(turning, joint.after.axes[0], algebra)


# -- steps, one joint each ---------------------------------------------------------------------


def _joint(link: NaturalLink[S], parent: NaturalFrame[S], state: State[S]) -> NaturalJoint[S]:
    """Return the frames of a joint, with its own vectors and point."""
    algebra, kind = parent.algebra, link.coordinates
    before = parent.moved(link.tree)
    numbers = iter(link.numbers[kind.displacement :])
    axes = dict(zip(FRAME_AXES, before.axes, strict=True))
    plane = parent.plane
    if kind.plane:
        plane = plane or (before.axes[0].at, before.axes[1].at)
        axes["u"] = _vector(plane, numbers, state)
        axes["v"] = axes["u"].mapped(before.axes[2].at.cross)
    else:
        axes |= {name: _vector(units(algebra), numbers, state) for name in kind.vectors}
        plane = None if kind.vectors else plane
    origin = _vector(units(algebra), numbers, state) if kind.point else before.origin
    return NaturalJoint(link, before, NaturalFrame(tuple(axes.values()), origin, algebra, plane))


def _slid(joint: Joint[S], parent: NaturalFrame[S], state: State[S]) -> NaturalFrame[S]:
    """Return the frame of a link that slides along an axis that is constant in base axes."""
    k, at, algebra = joint.number - 1, joint.placement, parent.algebra
    before = parent.moved(at.tree)
    axis, q = before.direction(at.axis).at, state.q[k] + at.offset
    slide = Moving(axis * q, axis * state.qd[k], axis * state.qdd[k], {joint.number: axis})
    origin = _combined([(algebra.one, before.origin), (algebra.one, slide)], algebra)
    return replace(before, origin=origin).moved(at.link)


def _vector(
    along: Sequence[Vector[S]], numbers: Iterator[int], state: State[S]
) -> Moving[Vector[S]]:
    """Return the vector whose components along constant ones are the next coordinates."""
    columns = {next(numbers): column for column in along}

    def at(entries: Sequence[S]) -> Vector[S]:
        return reduce(add, (column * entries[j - 1] for j, column in columns.items()))

    return Moving(at(state.q), at(state.qd), at(state.qdd), columns)


def _combined(
    terms: Sequence[tuple[S, Moving[Vector[S]]]], algebra: Algebra[S]
) -> Moving[Vector[S]]:
    """Return the sum of vectors, each times a constant factor."""
    none, columns = zero_vector(algebra), dict[int, Vector[S]]()
    parts = [none] * 3
    for factor, x in terms:
        if algebra.is_zero(factor):
            continue
        new = (x.at, x.rate, x.second_rate)
        parts = [part + more * factor for part, more in zip(parts, new, strict=True)]
        for j, column in x.by_joint.items():
            columns[j] = columns.get(j, none) + column * factor
    columns = {j: x for j, x in columns.items() if not all_zero(x, algebra)}
    return Moving(parts[0], parts[1], parts[2], columns)


def _spin(axes: Sequence[Vector[S]], rates: Sequence[Vector[S]], algebra: Algebra[S]) -> Vector[S]:
    terms = [axis.cross(rate) for axis, rate in zip(axes, rates, strict=True)]
    return reduce(add, terms) * algebra.constant(0.5)


def named(
    b: ProgramBuilder[S], name: str, x: Moving[Vector[S]], notes: tuple[str, str] = ("NC-1", "NC-2")
) -> Moving[Vector[S]]:
    """Name a vector and its rates."""
    at, rate = b.let(name, x.at, notes[0]), b.let(f"{name}_dot", x.rate, notes[1])
    return Moving(at, rate, b.let(f"{name}_ddot", x.second_rate, notes[1]), x.by_joint)
