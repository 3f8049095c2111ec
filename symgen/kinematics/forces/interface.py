"""Types of forces.  Formulations use this interface and never ask for the type.

A force of the model acts at points of links and depends on the motion of its points, on coordinates
and velocities, and on time.  It writes its statements over the algebra of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Protocol, Self

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector
from symgen.description.model import LinkPoint, RobotDescription
from symgen.kinematics.bodies import BodyPoint
from symgen.program.builder import ProgramBuilder


@dataclass(frozen=True)
class PointMotion(Generic[S]):
    """Position (m) and velocity (m/s) of a point in the base frame."""

    x: Vector[S]
    v: Vector[S]


@dataclass(frozen=True)
class Action(Generic[S]):
    """A force (N) at a point, by its index in `points`, and a torque (N m), base axes; None: 0."""

    place: int
    force: Vector[S] | None
    torque: Vector[S] | None = None


@dataclass(frozen=True)
class Making(Generic[S]):
    """Conversions for building forces: points of links to bodies, expressions to the algebra.

    `definitions` are the parameters that follow runtime parameters, by name.
    """

    point: Callable[[LinkPoint], BodyPoint[S]]
    number: Callable[..., S]
    points: Mapping[str, LinkPoint]
    definitions: Mapping[str, S]


class ModelForce(Protocol[S]):
    """A force of the model.

    `type` is its name in metadata.  `points` are the points of its law; it may act at all of them.
    `quantities` are the names of coordinates and velocities in it, such as ``q.elbow``.  An
    `internal` force depends only on the motion of its points relative to each other, and its
    actions balance: it neither depends on a common motion of its points nor does work in it.
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
        """Points of its law."""

    @property
    def is_timed(self) -> bool:
        """Whether it depends on time explicitly."""

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of coordinates and velocities that it depends on."""

    def actions(
        self, motions: Sequence[PointMotion[S]], quantities: Mapping[str, S], b: ProgramBuilder[S]
    ) -> tuple[Action[S], ...]:
        """The actions for these motions of the points; `quantities` maps names, ``t`` included."""

    def energy(self, motions: Sequence[PointMotion[S]], b: ProgramBuilder[S]) -> S | None:
        """Its potential energy (J); None if it has none."""
