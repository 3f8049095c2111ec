"""Types of forces.  Formulations use this interface and never ask for the type.

A force of the model acts at points of links, and positions, velocities and the time determine it:
those of its points, and the coordinates that its expressions name.  It writes the statements that
it takes, over the algebra of the program, and says what acts where.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Protocol, Self

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector
from symgen.description.model import LinkPoint, RobotDescription
from symgen.kinematics.points import BodyPoint
from symgen.program.builder import ProgramBuilder


@dataclass(frozen=True)
class PointMotion(Generic[S]):
    """Position (m) and velocity (m/s) of a point in the base frame."""

    x: Vector[S]
    v: Vector[S]


@dataclass(frozen=True)
class Action(Generic[S]):
    """A force (N) at a point of a force, by its place in `points`, and a torque (N m), base axes.

    None stands for no force or torque at all.
    """

    place: int
    force: Vector[S] | None
    torque: Vector[S] | None = None


@dataclass(frozen=True)
class Making(Generic[S]):
    """Tools for making forces: points of links in their bodies, numbers over the algebra.

    `definitions` are the parameters that follow runtime parameters, by name.
    """

    point: Callable[[LinkPoint], BodyPoint[S]]
    number: Callable[..., S]
    points: Mapping[str, LinkPoint]
    definitions: Mapping[str, S]


class ModelForce(Protocol[S]):
    """A force of the model.

    `type` is its name in metadata.  `points` are those that its law is about; it may act at all of
    them.  `quantities` are the names of coordinates and velocities that it mentions, such as
    ``q.elbow``.  An `internal` force depends on nothing but the motion of its points relative to
    each other, and its actions balance: a motion that takes all of its points along neither changes
    it nor feels it.
    """

    type: ClassVar[str]
    internal: ClassVar[bool]

    @classmethod
    def all(cls, description: RobotDescription, making: Making[S]) -> tuple[Self, ...]:
        """The forces of this type in a model, in the order of the file."""

    @property
    def name(self) -> str:
        """Name in the file."""

    @property
    def points(self) -> tuple[BodyPoint[S], ...]:
        """See the class."""

    @property
    def is_timed(self) -> bool:
        """Whether it mentions the time."""

    @property
    def quantities(self) -> tuple[str, ...]:
        """See the class."""

    def actions(
        self, motions: Sequence[PointMotion[S]], quantities: Mapping[str, S], b: ProgramBuilder[S]
    ) -> tuple[Action[S], ...]:
        """Return the actions at these motions of the points; `quantities` has quantities and ``t``
        by name."""

    def energy(self, motions: Sequence[PointMotion[S]], b: ProgramBuilder[S]) -> S | None:
        """The potential energy that it stores (J); None where it stores none."""
