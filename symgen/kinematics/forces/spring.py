"""The spring: a spring and damper between two points x_1 and x_2.

With the span d = x_2 - x_1, the length l = |d| and its rate l' = d . d'/l it pulls its ends
together,

    f = (k (l - l_0) + c l') / l  d  at x_1,  -f at x_2,    V = k (l - l_0)^2 / 2.

If l_0 and c are 0 by structure, f is k d, also at l = 0; any other spring has no direction at
l = 0, and its force is not a number there.  A spring with a law pulls with this instead, an
expression of x = l - l_0, l, v = l'; its potential energy is known where the file gives it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector
from symgen.description.expressions import Expression
from symgen.description.model import RobotDescription, SpringDescription
from symgen.kinematics.bodies import BodyPoint
from symgen.kinematics.forces.interface import Action, Making, PointMotion
from symgen.kinematics.scalars import scalar, with_definitions
from symgen.program.builder import ProgramBuilder


@dataclass(frozen=True)
class Spring(Generic[S]):
    """A spring: `stiffness` k (N/m), `damping` c (N s/m), slack `length` l_0 (m), or a law."""

    internal: ClassVar[bool] = True
    is_timed: ClassVar[bool] = False
    name: str
    points: tuple[BodyPoint[S], BodyPoint[S]]
    stiffness: S
    damping: S
    length: S
    description: SpringDescription
    definitions: Mapping[str, S] = field(default_factory=dict, hash=False)

    @classmethod
    def all(cls, description: RobotDescription, making: Making[S]) -> tuple[Spring[S], ...]:
        """Return the springs of a model."""
        springs = []
        for spring in description.springs:
            first, second = map(making.point, spring.ends)
            k, c, slack = map(making.number, (spring.stiffness, spring.damping, spring.length))
            law = spring, making.definitions
            springs.append(cls(spring.name, (first, second), k, c, slack, *law))
        return tuple(springs)

    @property
    def type(self) -> str:
        """``spring`` or ``spring_law``."""
        return self.description.type

    @property
    def quantities(self) -> tuple[str, ...]:
        """None: it depends on its points only."""
        return ()

    def actions(
        self, motions: Sequence[PointMotion[S]], quantities: Mapping[str, S], b: ProgramBuilder[S]
    ) -> tuple[Action[S], ...]:
        """f at one end, -f at the other."""
        first, second = motions
        d = self._span(motions, b)
        pull, law = self.stiffness, self.description.law
        if law or not (b.algebra.is_zero(self.length) and b.algebra.is_zero(self.damping)):
            length = self._length(d, b)
            rate = d.dot(second.v - first.v) / length
            tension = self.stiffness * (length - self.length) + self.damping * rate
            if law is not None:
                if "v" in law.names:
                    rate = b.let(f"rate_{self.name}", rate, "FM-3")
                tension = self._value(law, length, b, rate)
            pull = b.let(f"tension_{self.name}", tension, "FM-3") / length
        force = b.let(f"force_{self.name}", d * pull, "FM-3")
        return Action(0, force), Action(1, -force)

    def energy(self, motions: Sequence[PointMotion[S]], b: ProgramBuilder[S]) -> S | None:
        """V; None where it is unknown."""
        d, energy = self._span(motions, b), self.description.energy
        if self.description.law is not None:
            if energy is None:
                return None
            return b.let(f"V_{self.name}", self._value(energy, self._length(d, b), b), "FM-4")
        squared = d.dot(d)
        if not b.algebra.is_zero(self.length):
            stretch = self._length(d, b) - self.length
            squared = stretch * stretch
        return b.let(f"V_{self.name}", b.algebra.constant(0.5) * self.stiffness * squared, "FM-4")

    def _value(self, law: Expression, length: S, b: ProgramBuilder[S], rate: S | None = None) -> S:
        """Return the value of an expression of x, l and v."""
        values = {**self.definitions, "x": length - self.length, "l": length}
        if rate is not None:
            values["v"] = rate
        return scalar(law, with_definitions(b.algebra, values))

    def _span(self, motions: Sequence[PointMotion[S]], b: ProgramBuilder[S]) -> Vector[S]:
        return b.let(f"span_{self.name}", motions[1].x - motions[0].x, "FM-3")

    def _length(self, d: Vector[S], b: ProgramBuilder[S]) -> S:
        return b.let(f"length_{self.name}", b.algebra.function("sqrt", d.dot(d)), "FM-3")
