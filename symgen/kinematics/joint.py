"""A joint of one coordinate: the motion of its link, and its joint terms."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Transform, Vector, skew, zero_vector
from symgen.description.model import JointTerms
from symgen.joints import ElementaryMotion
from symgen.kinematics.bodies import Body
from symgen.kinematics.frames import Placement
from symgen.kinematics.scalars import scalar

LOSSES = (
    "damping", "damping_backward", "friction", "friction_backward", "static_friction",
    "static_friction_backward",
)  # fmt: skip
"""Coefficients of `Terms` without which a joint dissipates nothing."""


@dataclass(frozen=True)
class Terms(Generic[S]):
    """Drive, bearing and spring of a coordinate: see `description.model.JointTerms`."""

    rotor_inertia: S
    gear_ratio: S
    damping: S
    stiffness: S
    rest: S
    friction: S
    friction_velocity: S
    damping_backward: S
    friction_backward: S
    static_friction: S
    static_friction_backward: S
    stribeck_velocity: S


@dataclass(frozen=True)
class Following(Generic[S]):
    """Law of a joint that follows another: q = multiplier q_leader + offset.

    `leader` is the number of a joint with an independent coordinate.
    """

    leader: int
    multiplier: S
    offset: S


@dataclass(frozen=True)
class Joint(Generic[S]):
    """A joint of one coordinate and its body.

    `number` counts from 1; `parent` is the number of the parent joint (0: base); `name` is the name
    of the coordinate.  The pose of the link frame in the parent's link frame is
    ``tree @ motion(offset + q) @ link``.  The motion of a `prescribed` joint is an argument of
    hybrid dynamics; a joint with `following` follows another joint.
    """

    name: str
    number: int
    parent: int
    type: ElementaryMotion
    placement: Placement[S]
    body: Body[S]
    terms: Terms[S]
    prescribed: bool = False
    following: Following[S] | None = None

    def transform(self, q: S, algebra: Algebra[S]) -> Transform[S]:
        """Pose of the link frame in the parent's link frame."""
        at, x = self.placement, q + self.placement.offset
        return at.tree @ self.type.motion(at.axis, x, algebra) @ at.link

    def transform_derivative(self, q: S, order: int, algebra: Algebra[S]) -> Matrix[S]:
        """4x4 derivative of that pose with respect to q, of order 1, 2 or 3."""
        at, x = self.placement, q + self.placement.offset
        motion = self.type.motion_derivative(at.axis, x, order, algebra)
        zero = algebra.zero
        parts = zip(motion.rotation.rows, motion.translation, strict=True)
        middle = Matrix([*((*row, part) for row, part in parts), (zero, zero, zero, zero)])
        return at.tree.homogeneous(algebra) @ middle @ at.link.homogeneous(algebra)

    def pose_in_joint(self, q: S, algebra: Algebra[S]) -> Transform[S]:
        """Pose of the link frame in the joint frame (``tree``)."""
        at = self.placement
        return self.type.motion(at.axis, q + at.offset, algebra) @ at.link

    def generator(self, algebra: Algebra[S]) -> Matrix[S]:
        """Return the constant 4x4 matrix Z of the joint: d T / d q = Z T for T = `pose_in_joint`.

        It is the velocity field of the link per unit of joint velocity, in the joint frame, whose
        origin lies on the axis of rotation.
        """
        z = self.type.angular_axis(self.placement.axis, algebra)
        t = self.type.linear_axis(self.placement.axis, algebra)
        zero = algebra.zero
        rows = [(*row, part) for row, part in zip(skew(z, algebra).rows, t, strict=True)]
        return Matrix([*rows, (zero, zero, zero, zero)])

    def angular_axis(self, algebra: Algebra[S]) -> Vector[S]:
        """Angular velocity of the link per unit of joint velocity, in link-frame axes."""
        axis = self.type.angular_axis(self.placement.axis, algebra)
        return self.placement.link.rotation.apply_transposed(axis)

    def linear_axis(self, algebra: Algebra[S]) -> Vector[S]:
        """Velocity of the origin behind the joint per unit of joint velocity, link-frame axes."""
        axis = self.type.linear_axis(self.placement.axis, algebra)
        return self.placement.link.rotation.apply_transposed(axis)

    def origin_to_link(self, q: S, algebra: Algebra[S]) -> Vector[S]:
        """From the joint's origin to the link frame's origin, in link-frame axes.

        The joint's origin is that of ``tree``.  Constant for a revolute joint: the
        ``Delta x_j = [a, d sin(alpha), d cos(alpha)]`` of Barman 2020.
        """
        return self.placement.link.rotation.apply_transposed(self.arm(q, algebra))

    def turns(self, q: S, algebra: Algebra[S]) -> tuple[Matrix[S], Matrix[S], Matrix[S]]:
        """Rotations of ``tree``, of the motion and of ``link``; their product is `transform`'s.

        Joint axes are the axes after the motion, before ``link``.
        """
        at, x = self.placement, q + self.placement.offset
        motion = self.type.motion(at.axis, x, algebra)
        return at.tree.rotation, motion.rotation, at.link.rotation

    def arm(self, q: S, algebra: Algebra[S]) -> Vector[S]:
        """From the joint's origin to the link frame's origin, in joint axes."""
        return self.slide(q, algebra) + self.placement.link.translation

    def slide(self, q: S, algebra: Algebra[S]) -> Vector[S]:
        """From the joint's origin to the origin of the frame after the motion, in joint axes."""
        at, x = self.placement, q + self.placement.offset
        motion = self.type.motion(at.axis, x, algebra)
        return motion.rotation.apply_transposed(motion.translation)

    def axes(self, algebra: Algebra[S]) -> tuple[Vector[S], Vector[S]]:
        """`angular_axis` and `linear_axis` in joint axes."""
        axis = self.placement.axis
        return self.type.angular_axis(axis, algebra), self.type.linear_axis(axis, algebra)

    def wrench_origin(self, q: S, algebra: Algebra[S]) -> Vector[S]:
        """From the joint's origin to the reference point of its wrench's moment, in link axes.

        The reference point is the joint's origin if this stays with the parent (P of a standard DH
        row), else the link frame's origin.
        """
        stays = self.placement.origin_stays
        return zero_vector(algebra) if stays else self.origin_to_link(q, algebra)


def terms_of(terms: JointTerms, algebra: Algebra[S]) -> Terms[S]:
    """Return the terms of a coordinate over `algebra`."""
    terms = terms.complete
    return Terms(*(scalar(getattr(terms, field.name), algebra) for field in fields(Terms)))
