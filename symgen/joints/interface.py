"""The interface of types of joints.  Recursions use this and never ask for the type.

A joint of the model file becomes a chain of one-coordinate `ElementaryMotion`s, the first next to
the parent.  Revolute and prismatic joints are motions themselves; the others list their motions,
between which are massless links that do not appear in lists of links.

A joint on a manifold (`OnManifold`) has more entries in q than velocities.  Its configuration is a
pose, and its chain are the columns of its motion subspace (Featherstone 2008, section 4.4): motions
after that pose, always at displacement 0, whose velocities are the velocities of the joint.  Such
types derive from `OnManifold` rather than implement a runtime protocol, for which `isinstance`
takes 26 to 43 microseconds instead of 1 (Python 3.11).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Transform, Vector


class ElementaryMotion(Protocol):
    """One coordinate along or about a unit `axis`.

    The joint's axis has equal components in the frames before and after the motion.
    """

    def motion(self, axis: Vector[S], x: S, algebra: Algebra[S]) -> Transform[S]:
        """Pose of the frame after the motion for the displacement x (rad or m)."""

    def motion_derivative(
        self, axis: Vector[S], x: S, order: int, algebra: Algebra[S]
    ) -> Transform[S]:
        """Derivative of `motion` by x, of order 1, 2 or 3: of rotation matrix and translation."""

    def angular_axis(self, axis: Vector[S], algebra: Algebra[S]) -> Vector[S]:
        """Angular velocity per unit of joint velocity."""

    def linear_axis(self, axis: Vector[S], algebra: Algebra[S]) -> Vector[S]:
        """Velocity of the origin after the motion per unit of joint velocity."""


@dataclass(frozen=True)
class Directions(Generic[S]):
    """The axes of a joint in the file, in the joint frame.

    `axis` is the unit vector of the key ``axis``; `units` are the unit vectors of x, y and z;
    `sequence` has one letter per rotation (the keys ``axes`` and ``sequence``); `pitch` belongs to
    a screw (m per radian).
    """

    axis: Vector[S]
    units: tuple[Vector[S], Vector[S], Vector[S]]
    sequence: str
    pitch: S

    def rotations(self, motion: ElementaryMotion) -> tuple[tuple[ElementaryMotion, Vector[S]], ...]:
        """One motion about every axis of `sequence`, each axis fixed in the preceding frame."""
        return tuple((motion, self.units["xyz".index(letter)]) for letter in self.sequence)


Chain = tuple[tuple[ElementaryMotion, Vector[S]], ...]
"""Motions with their axes, from the parent outwards."""


class JointType(Protocol):
    """A type of joint of the model file."""

    name: str
    coordinates: int
    moved_entry: str = ""
    """The DH entry that the coordinate is added to; "" for types without DH rows or motion."""
    keys: tuple[str, ...] = ()
    """Keys of the file that place axes: ``dh``, ``axis``, ``axes``, ``sequence``, ``pitch``."""
    sequences: tuple[str, ...] = ()
    """Values of ``axes`` or ``sequence``, the default first; empty where neither is a key."""

    def chain(self, directions: Directions[S]) -> Chain[Any]:
        """Return the motions that the joint consists of."""


class OnManifold(JointType):
    """A joint whose configuration space is a manifold: `coordinates` counts its velocities.

    Velocities are components of the link frame's twist along and about the axes of the chain, in
    link axes.
    """

    representation: str
    """The value of the key ``coordinates`` of the file."""
    position_suffixes: tuple[str, ...]
    """Names of the entries of q, behind the joint's name."""
    velocity_suffixes: tuple[str, ...]
    """Names of the velocities, one for each motion of the chain."""
    quaternion: int
    """Index among its entries of q of the first entry of the unit quaternion x y z w."""

    @abstractmethod
    def pose(self, q: Sequence[S], algebra: Algebra[S]) -> Transform[S]:
        """Pose of the link's frame in the joint frame, for the entries of q."""


class Redundant(JointType):
    """A joint with more coordinates than freedoms: the norm of four of them stays 1."""

    representation: str
    """The value of the key ``coordinates`` of the file."""
    euler_parameters: int
    """Index among its coordinates of the first of the four Euler parameters x y z w."""
