"""Applied forces: a force at a point of a link and a torque on the link, given by expressions.

Components are in base axes.  Expressions contain positions and velocities of the model's points,
coordinates, their velocities, time, parameters, and named intermediate expressions.  The potential
energy of an applied force is unknown.  A tyre is an applied force of the centre of a wheel and its
axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector, all_zero
from symgen.description.forces import named_points
from symgen.description.model import ForceDescription, RobotDescription, Triple
from symgen.description.quantities import POINTS, RATES, STATE_PARTS, quantity
from symgen.kinematics.bodies import BodyAxis, BodyPoint
from symgen.kinematics.forces.interface import Action, Making, PointMotion
from symgen.kinematics.scalars import scalar, vector, with_definitions
from symgen.program.builder import ProgramBuilder


@dataclass(frozen=True)
class AppliedForce(Generic[S]):
    """An applied force, acting at the first of `points`; its expressions contain the others."""

    internal: ClassVar[bool] = False
    name: str
    points: tuple[BodyPoint[S] | BodyAxis[S], ...]
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
            axes = () if force.wheel is None else (making.axis(force.wheel.joint),)
            timed = description.mentions_time(force)
            forces.append(cls(force.name, (*points, *axes), force, timed, making.definitions))
        return tuple(forces)

    @property
    def type(self) -> str:
        """``force`` or ``tyre``."""
        return self.description.type

    @property
    def quantities(self) -> tuple[str, ...]:
        """Coordinates and velocities in its expressions."""
        words = ((name, *name.split(".")) for name in self.description.names if "." in name)
        return tuple(name for name, family, *_ in words if family in RATES)

    def actions(
        self, motions: Sequence[PointMotion[S]], quantities: Mapping[str, S], b: ProgramBuilder[S]
    ) -> tuple[Action[S], ...]:
        """Return the force and the torque at its point."""
        values = {**self.definitions, **quantities}
        for point, motion in zip(self.points, motions, strict=True):
            for part, entry in zip(STATE_PARTS, (*motion.x, *motion.v), strict=True):
                values[_named(point, part)] = entry
        algebra = with_definitions(b.algebra, values)
        note = "FM-5" if self.description.wheel is None else "FM-10"
        for name, expression in self.description.let:
            label = f"{name.split('.')[-1]}_{self.name}"
            values[name] = b.let(label, scalar(expression, algebra), note)

        def written(kind: str, triple: Triple) -> Vector[S] | None:
            value = vector(triple, algebra)
            if all_zero(value, b.algebra):
                return None
            return b.let(f"{kind}_{self.name}", value, note)

        force = written("force", self.description.force)
        torque = written("torque", self.description.torque)
        parts = {name: values[name] for name, _ in self.description.let if "." in name}
        return (Action(0, force, torque, parts),)

    def energy(self, motions: Sequence[PointMotion[S]], b: ProgramBuilder[S]) -> S | None:
        """Return None: the potential energy is unknown."""
        return None


def _named(point: BodyPoint[S] | BodyAxis[S], part: str) -> str:
    """Return the name of a component of a motion in expressions; points without a name are those
    that forces act at."""
    if isinstance(point, BodyAxis):
        return quantity("axis", part.replace("v", "w"))
    return quantity(*((POINTS, point.name) if point.name else ("centre",)), part)
