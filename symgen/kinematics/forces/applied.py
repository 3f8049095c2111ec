"""Applied forces: a force at a point of a link and a torque on the link, given by expressions.

Components are in base axes.  Expressions contain positions and velocities of the model's points,
coordinates, their velocities, time, parameters, and named intermediate expressions.  The potential
energy of an applied force is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector, all_zero
from symgen.description.forces import named_points
from symgen.description.model import ForceDescription, RobotDescription, Triple
from symgen.description.quantities import POINTS, STATE_PARTS, quantity
from symgen.kinematics.bodies import BodyPoint
from symgen.kinematics.forces.interface import Action, Making, PointMotion
from symgen.kinematics.scalars import scalar, vector, with_definitions
from symgen.program.builder import ProgramBuilder


@dataclass(frozen=True)
class AppliedForce(Generic[S]):
    """An applied force, acting at the first of `points`; its expressions contain the others."""

    type: ClassVar[str] = "force"
    internal: ClassVar[bool] = False
    name: str
    points: tuple[BodyPoint[S], ...]
    description: ForceDescription
    is_timed: bool
    definitions: Mapping[str, S] = field(default_factory=dict, hash=False)

    @classmethod
    def all(cls, description: RobotDescription, making: Making[S]) -> tuple[AppliedForce[S], ...]:
        """Return the applied forces of a model."""
        forces = []
        for force in description.forces:
            mentioned = [making.points[name] for name in named_points(force)]
            points = tuple(map(making.point, (force.at, *mentioned)))
            timed = description.mentions_time(force)
            forces.append(cls(force.name, points, force, timed, making.definitions))
        return tuple(forces)

    @property
    def quantities(self) -> tuple[str, ...]:
        """Coordinates and velocities in its expressions."""
        names = (name for name in self.description.names if "." in name)
        return tuple(name for name in names if not name.startswith(f"{POINTS}."))

    def actions(
        self, motions: Sequence[PointMotion[S]], quantities: Mapping[str, S], b: ProgramBuilder[S]
    ) -> tuple[Action[S], ...]:
        """Return the force and the torque at its point."""
        values = {**self.definitions, **quantities}
        for point, motion in zip(self.points[1:], motions[1:], strict=True):
            for part, entry in zip(STATE_PARTS, (*motion.x, *motion.v), strict=True):
                values[quantity(POINTS, point.name, part)] = entry
        algebra = with_definitions(b.algebra, values)
        for name, expression in self.description.let:
            values[name] = b.let(f"{name}_{self.name}", scalar(expression, algebra), "FM-5")

        def written(kind: str, triple: Triple) -> Vector[S] | None:
            value = vector(triple, algebra)
            if all_zero(value, b.algebra):
                return None
            return b.let(f"{kind}_{self.name}", value, "FM-5")

        force = written("force", self.description.force)
        return (Action(0, force, written("torque", self.description.torque)),)

    def energy(self, motions: Sequence[PointMotion[S]], b: ProgramBuilder[S]) -> S | None:
        """Return None: the potential energy is unknown."""
        return None
