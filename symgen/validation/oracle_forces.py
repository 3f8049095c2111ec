"""Springs and forces of a model as numbers, by `NumericRobot`.

They are read a second time from the description: nothing here is shared with `symgen.kinematics`.
A spring pulls its ends together by k (l - l_0) + c dl/dt, where l is their distance; an applied
force is what its expressions say.  What joints feel of it are products with Jacobians.

| symbol | array | shape, frame |
| --- | --- | --- |
| x, v | positions and velocities of points | (..., m, 3), base frame |
| f, n | forces at points, and torques | (..., m, 3), base axes |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from symgen.description.expressions import CONSTANT_VALUES, Expression
from symgen.description.model import ForceDescription, LinkPoint, RobotDescription
from symgen.validation.limits import STEP
from symgen.validation.oracle_expressions import value_of
from symgen.validation.oracle_kinematics import RobotKinematics
from symgen.validation.oracle_parameters import Value, reader
from symgen.validation.oracle_parts import Array, Motion, beside, carried


@dataclass(frozen=True)
class Acting:
    """What acts on links: numbers of the links, -1 for the base; x, f and n."""

    links: list[int]
    places: Array
    forces: Array
    torques: Array


class ForceFunctions(RobotKinematics):
    """What the forces of the model do."""

    def __init__(
        self,
        description: RobotDescription,
        parameters: Mapping[str, Value] | None = None,
        runtime: Sequence[str] = (),
    ) -> None:
        super().__init__(description, parameters, runtime)
        self._has_forces = bool(description.springs or description.forces)
        number = reader(self.values)
        ends = [end for spring in description.springs for end in spring.ends]
        self._ends = self._places_of(ends, number)
        self._acts = self._places_of([force.at for force in description.forces], number)
        self._springs = np.array(
            [[number(x) for x in (s.stiffness, s.damping, s.length)] for s in description.springs]
        ).reshape(-1, 3)

    def _places_of(
        self, points: Sequence[LinkPoint], number: Callable[[Expression], Value]
    ) -> tuple[list[int], Array]:
        """Links and coordinates of points in their frames."""
        index = {name: i for i, name in enumerate(self.link_names)}
        links = [index.get(point.link, -1) for point in points]
        return links, np.array([[number(x) for x in p.point] for p in points]).reshape(-1, 3)

    def _moving(
        self, motion: Motion, qd: Array, where: tuple[list[int], Array]
    ) -> tuple[Array, Array]:
        """x and v"""
        links, points = where
        x = carried(motion, points, links)
        linear, _ = self._point_jacobians(motion, x, links)
        return x, np.einsum("...cn,...n->...c", linear, qd[..., np.newaxis, :])

    def _pulls(self, x: Array, v: Array, elastic: bool) -> Array:
        """What every spring does at its first end, (..., n_springs, 3)."""
        stiffness, damping, length = self._springs.T
        stiffness = stiffness if elastic else 0.0 * stiffness
        d, rate = (part[..., 1::2, :] - part[..., ::2, :] for part in (x, v))
        squared = np.sum(d * d, axis=-1)
        with np.errstate(all="ignore"):  # springs whose ends meet have no direction
            slack = np.where(length == 0.0, 0.0, length / np.sqrt(squared))
            braking = damping * np.sum(d * rate, axis=-1) / squared
        pull = stiffness * (1.0 - slack) + np.where(damping == 0.0, 0.0, braking)
        return np.asarray(pull[..., np.newaxis] * d)

    def _acting(self, motion: Motion, q: Array, qd: Array, elastic: bool = True) -> Acting:
        """All forces of the model, but the stiffness of springs where they are not `elastic`."""
        x, v = self._moving(motion, qd, self._ends)
        pull = self._pulls(x, v, elastic)
        forces = np.stack([pull, -pull], axis=-2).reshape(*x.shape)
        links, _ = self._acts
        at = carried(motion, self._acts[1], links)
        known = _State(self, motion, q, qd)
        both = [self._applied(force, known) for force in self.description.forces]
        applied = np.stack(both, axis=-2) if both else np.zeros((*forces.shape[:-2], 0, 6))
        return Acting(
            self._ends[0] + links,
            beside(x, at),
            beside(forces, applied[..., :3]),
            beside(np.zeros_like(x), applied[..., 3:]),
        )

    def _applied(self, force: ForceDescription, known: _State) -> Array:
        """[f; n] of one force, (..., 6)."""
        known.let = {}
        for name, expression in force.let:
            known.let[name] = value_of(expression.root, known)
        values = [value_of(x.root, known) for x in (*force.force, *force.torque)]
        batch = known.q.shape[:-1]
        return np.stack([np.broadcast_to(x, batch) for x in values], axis=-1)

    def _felt(self, motion: Motion, acting: Acting) -> Array:
        """Generalized forces, (..., n)."""
        linear, angular = self._point_jacobians(motion, acting.places, acting.links)
        return np.asarray(
            np.einsum("...mcn,...mc->...n", linear, acting.forces)
            + np.einsum("...mcn,...mc->...n", angular, acting.torques)
        )

    def model_forces(self, q: Array, qd: Array, elastic: bool = True) -> Array:
        """What the coordinates feel of the springs and forces of the model, (..., n)."""
        if not self._has_forces:
            return np.zeros((*q.shape[:-1], self.n))
        motion = self._kinematics(q)
        return self._felt(motion, self._acting(motion, q, qd, elastic))

    def model_force_slopes(self, q: Array, qd: Array) -> Array:
        """Their derivatives by qd by complex step, (..., n, n); real q and qd."""
        if not self._has_forces:
            return np.zeros((*q.shape[:-1], self.n, self.n))
        moved = qd[..., np.newaxis, :] + 1j * STEP * np.eye(self.n)
        places = np.broadcast_to(q[..., np.newaxis, :], (*moved.shape[:-1], q.shape[-1]))
        return np.asarray(np.swapaxes(self.model_forces(places, moved).imag / STEP, -1, -2))

    def spring_energy(self, q: Array) -> Array:
        """That of the springs between points, (...)."""
        if not len(self._springs):
            return np.zeros(q.shape[:-1])
        stiffness, _, length = self._springs.T
        x = carried(self._kinematics(q), self._ends[1], self._ends[0])
        d = x[..., 1::2, :] - x[..., ::2, :]
        squared = np.sum(d * d, axis=-1)
        with np.errstate(all="ignore"):
            stretched = np.where(length == 0.0, squared, (np.sqrt(squared) - length) ** 2)
        return np.asarray(np.sum(0.5 * stiffness * stretched, axis=-1))


class _State:
    """What expressions of forces are made of, by name."""

    def __init__(self, robot: ForceFunctions, motion: Motion, q: Array, qd: Array) -> None:
        self.robot, self.q = robot, q
        self.rates = {"q": robot.space.coordinates(q), "qd": qd}
        extra = max(0, q.ndim - 1 - robot._time.ndim)  # directions stand behind the samples
        self.t = robot._time.reshape(*robot._time.shape, *(1,) * extra)
        where = robot._point_links, robot._points
        self.points = robot._moving(motion, qd, where)
        self.let: dict[str, Array] = {}

    def __call__(self, name: str) -> Array:
        """(...)"""
        if name in self.let:
            return self.let[name]
        if name in self.robot.values:
            return np.asarray(self.robot.values[name])
        if name in CONSTANT_VALUES:
            return np.asarray(CONSTANT_VALUES[name])
        if name == "t":
            return self.t
        family, what, *part = name.split(".")
        if family == "points":
            place = self.robot.point_names.index(what)
            vectors = self.points[len(part[0]) - 1]
            return np.asarray(vectors[..., place, "xyz".index(part[0][-1])])
        return np.asarray(self.rates[family][..., self.robot.coordinate_names.index(what)])
