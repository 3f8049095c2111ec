"""Interface of forces.  Formulations use it for forces of every type.

A force of the model acts at points of links and depends on the motion of its points, on coordinates
and velocities, and on time.  It writes its statements over the algebra of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Generic, Protocol, Self

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector
from symgen.description.model import LinkPoint, RobotDescription
from symgen.kinematics.bodies import BodyAxis, BodyPoint
from symgen.program.builder import ProgramBuilder


@dataclass(frozen=True)
class PointMotion(Generic[S]):
    """Position (m) and velocity (m/s) of a point in the base frame.

    Of an axis, its direction (1) and the angular velocity of its body (rad/s).
    """

    x: Vector[S]
    v: Vector[S]


@dataclass(frozen=True)
class Action(Generic[S]):
    """Force (N) at the point of index `place`, torque (N m), both in base axes; None means 0.

    `components` are what outputs can mention of it, by the names of quantities.
    """

    place: int
    force: Vector[S] | None
    torque: Vector[S] | None = None
    components: Mapping[str, S] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Making(Generic[S]):
    """Converters for building forces: link points to body points, expressions to scalars, names of
    joints to their axes.

    `definitions` are the parameters that depend on runtime parameters, by name.
    """

    point: Callable[[LinkPoint], BodyPoint[S]]
    number: Callable[..., S]
    axis: Callable[[str], BodyAxis[S]]
    points: Mapping[str, LinkPoint]
    definitions: Mapping[str, S]


class ModelForce(Protocol[S]):
    """A force of the model.

    `points` are the points and axes that its law depends on; it may act at all points.
    `quantities` are the names of coordinates and velocities in the law, such as ``q.elbow``. An
    `internal` force depends only on the relative motion of its points, and its actions balance:
    in a common motion of the points it is constant and does no work.
    """

    internal: ClassVar[bool]

    @classmethod
    def all(cls, description: RobotDescription, making: Making[S]) -> tuple[Self, ...]:
        """Return the forces of this type in a model, in the order of the model file."""

    @property
    def type(self) -> str:
        """Its type in metadata."""

    @property
    def name(self) -> str:
        """Name in the model file."""

    @property
    def points(self) -> tuple[BodyPoint[S] | BodyAxis[S], ...]:
        """Points and axes that its law depends on."""

    @property
    def is_timed(self) -> bool:
        """Whether it depends on time explicitly."""

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of coordinates and velocities that it depends on."""

    def actions(
        self, motions: Sequence[PointMotion[S]], quantities: Mapping[str, S], b: ProgramBuilder[S]
    ) -> tuple[Action[S], ...]:
        """Return the actions for motions of its points and values of `quantities` (``t``, too)."""

    def energy(self, motions: Sequence[PointMotion[S]], b: ProgramBuilder[S]) -> S | None:
        """Return the potential energy (J); None if it is unknown."""
