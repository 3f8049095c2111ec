"""The robot at one instant, and the differential equation of its motion.

The integrated vector has, in this order:

    name    shape        slope                          meaning
    q       (f,)         qd                             coordinates of the f free joints
                         q (0, w) / 2                   for quaternions, which are four numbers
    qd      (f,)         qdd                            their velocities
    dq      (f, s)       dqd             eq. (4)        derivatives by the s sensitivities
                         dqd - [qd, dq]                 for quaternions, in the tangent space
    dqd     (f, s)       dqdd            eq. (5)
    I       (k,)         objectives      eq. (1)        integrals of the k objectives
    dI      (k, s)       d objectives    eq. (2)

`RobotState` holds the state of one instant for all n coordinates, including prescribed ones, whose
dq, dqd, dqdd are 0.  Quaternions in the vector have any norm, which their slope conserves up to the
error of the integrator; those of `RobotState` have norm 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgen.errors import RequestError
from symgen.simulation.accelerations import Method, Point, function_of
from symgen.simulation.arguments import (
    Columns,
    Progress,
    entries_of,
    objective_numbers,
    refuse_not_finite,
    selection,
)
from symgen.simulation.inputs import Loads, Prescribed, Torques
from symgen.support.arrays import Array, Flags


@dataclass
class Instant:
    """States, torques and their sensitivities at an instant; s is the number of sensitivities.

    `multipliers` (3, m) are those of the constraints and of the projections of velocities and of
    accelerations, `dmultipliers` (3, m, s) their derivatives.
    """

    t: float
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    dq: Array
    dqd: Array
    dqdd: Array
    dtau: Array
    s: int
    multipliers: Array
    dmultipliers: Array


class RobotState(Instant):
    """The robot at the instant of the last call of `move_to`; its arrays are reused."""

    def __init__(
        self, method: Method, held: Flags, torques: Torques, loads: Loads,
        prescribed: Prescribed, parameters: Array, columns: Columns,
        objectives: Objectives | None, space: Any, progress: Progress,
    ) -> None:  # fmt: skip
        self.space = space if space.joints else None
        self.progress = progress
        self.method, self.torques, self.loads, self.prescribed = method, torques, loads, prescribed
        self.options, self.objectives = {"parameters": parameters}, objectives
        self.some_held, self.held = bool(held.any()), np.flatnonzero(held)
        self.free = selection(np.flatnonzero(~held))
        self.f, self.s, self.columns = int(np.count_nonzero(~held)), len(columns), columns
        self.t, n = 0.0, len(held)
        # first index of a slope that is not finite
        self.lost: str | None = None
        # q, qd, dq, dqd lie one after the other, as in the vector where all joints are free
        nq = space.nq
        self.whole = np.zeros(nq + n + 2 * n * self.s)
        self.drifting, self.qd = self.whole[:nq], self.whole[nq : nq + n]
        self.q = self.drifting if self.space is None else space.neutral()
        self.entries, self.held_entries = (
            selection(entries_of(space, ~held)),
            entries_of(space, held),
        )
        self.fq = nq - len(self.held_entries)
        self.dq, self.dqd = self.whole[nq + n :].reshape(2, n, self.s)
        self.qdd, self.tau = np.zeros((2, n))
        self.dqdd, self.dtau = np.zeros((2, n, self.s))
        self.multipliers, self.dmultipliers = np.zeros((3, 0)), np.zeros((3, 0, self.s))

    def start(self, times: Array, q0: Array, qd0: Array) -> Array:
        """Return the vector (k,) at the first of `times` (T,), from q0 (nq,) and qd0 (n,).

        Raises `RequestError` where inputs are not finite there.
        """
        initial = {"qd0": qd0, "dq0": self.columns.dq0, "dqd0": self.columns.dqd0}
        refuse_not_finite("q0", q0[self.entries])
        parts = [self._normalized(q0)[self.entries]]
        for name, values in initial.items():
            refuse_not_finite(name, values[self.free])
            parts.append(values[self.free].ravel())
        k = 0 if self.objectives is None else len(self.objectives.chosen)
        vector, t = np.concatenate([*parts, np.zeros(k * (1 + self.s))]), times[0]
        self.prescribed.check(t, times[-1])
        self._place(t, vector)
        if self.s:
            self.torques.check(t, self.q, self.qd)
            self.loads.check(t, self.q, self.qd)
        if not np.isfinite(self.slope(t, vector)).all():
            raise RequestError(f"simulate: the motion is not finite at the start, {self.lost}")
        return vector

    def slope(self, t: float, vector: Array) -> Array:
        """Return the derivative of the vector (k,) in time."""
        self.progress(t)
        self.move_to(t, vector)
        fs, start = self.f * self.s, self.fq + self.f
        result = np.empty_like(vector)  # new: integrators keep it
        if self.space is None:
            result[: self.fq] = vector[self.fq : start]
        else:  # of quaternions as they are in the vector
            result[: self.fq] = self.space.rate(self.drifting, self.qd)[self.entries]
        result[self.fq : start] = self.qdd[self.free]
        if fs:
            result[start : start + fs] = vector[start + fs : start + 2 * fs]
            if self.space is not None:
                turned = self.space.transported(self.qd, self.dq)[self.free]
                result[start : start + fs] -= turned.ravel()
            result[start + fs : start + 2 * fs] = self.dqdd[self.free].ravel()
        if self.objectives is not None:
            k, tail = len(self.objectives.chosen), result[start + 2 * fs :]
            values, gradients = self.objectives.of_chosen
            tail[:k], tail[k:] = values, gradients.ravel()
        if math.isfinite(result.dot(result)):  # much faster than to ask each entry
            self.lost = None
        elif self.lost is None and not np.isfinite(result).all():
            self.lost = self.trouble(vector)
        return result

    def move_to(self, t: float, vector: Array) -> None:
        """Evaluate the vector (k,) at t; RequestError where the mass matrix is singular."""
        self._place(t, vector)
        tau = self.torques(t, self.q, self.qd)
        x, dx = self.tau, self.dtau
        x[...] = tau
        if self.s:
            dx[...] = self.torques.along(t, self.q, self.qd, self.dq, self.dqd)
        if self.some_held:
            x[self.held], dx[self.held] = self.qdd[self.held], 0.0
        self.options["loads"] = self.loads(t, self.q, self.qd)
        try:
            point = Point(self.q, self.qd, x, self.dq, self.dqd, dx)
            t_too = {"t": np.asarray(self.t)} if self.method.timed else {}
            y, dy = self.method.solve(point, {**self.options, **t_too})
        except np.linalg.LinAlgError as error:
            raise RequestError(f"simulate: {error}; {self.state()}") from None
        self.qdd[self.free] = y[self.free]
        if dy is not None:
            self.dqdd[self.free] = dy[self.free]
        if self.some_held:
            self.tau[self.held] = y[self.held]
            self.dtau[self.held] = 0.0 if dy is None else dy[self.held]
        if self.objectives is not None:
            if self.objectives.take_multipliers:  # of the constraints; there are no projections
                multipliers = self.method.multipliers
                none = np.zeros((2, len(multipliers), self.s))
                self.multipliers = np.stack([multipliers, *none.sum(axis=-1)])
                if self.s:
                    self.dmultipliers = np.stack([self.method.dmultipliers, *none])
            self.objectives.evaluate(self, self.options)

    def state(self) -> str:
        """Return time and state, for messages."""
        return f"t = {self.t:.6g} s, q = {self.q.tolist()}, qd = {self.qd.tolist()}"

    def trouble(self, vector: Array) -> str:
        """Return time and state, and the input that is not finite although the vector (k,) is."""
        held, entries = self.held, self.held_entries
        inputs = {
            "tau": self.tau[self.free],
            "loads": self.options["loads"],
            "prescribed": np.concatenate([self.q[entries], self.qd[held], self.qdd[held]]),
        }
        if np.isfinite(vector).all():
            for name, values in inputs.items():
                if not np.isfinite(values).all():
                    return f"{self.state()}; {name} is not finite there"
        return self.state()

    def _place(self, t: float, vector: Array) -> None:
        """Set q, qd, dq, dqd, and qdd of prescribed joints."""
        self.t = float(t)
        if not self.some_held:
            self.whole[:] = vector[: self.whole.size]
        else:
            self._place_free(vector)
        if self.space is not None:
            self.q[...] = self.space.normalize(self.drifting)

    def _place_free(self, vector: Array) -> None:
        f, s, free, held = self.f, self.s, self.free, self.held
        first = self.fq + f
        self.drifting[self.entries], self.qd[free] = vector[: self.fq], vector[self.fq : first]
        if s:
            last = first + f * s
            self.dq[free] = vector[first:last].reshape(f, s)
            self.dqd[free] = vector[last : last + f * s].reshape(f, s)
        prescribed = self.prescribed(self.t)
        self.drifting[self.held_entries], self.qd[held], self.qdd[held] = prescribed

    def _normalized(self, q0: Array) -> Array:
        """Return q0 with unit quaternions; entries of prescribed joints are neutral."""
        if self.space is None:
            return q0
        q = self.space.neutral()
        q[self.entries] = q0[self.entries]
        try:
            normal: Array = self.space.normalize(q)
        except ValueError as error:
            raise RequestError(f"simulate: q0: {error}") from None
        return normal


def stacked(rows: Sequence[dict[str, Array]]) -> dict[str, Array]:
    """Return arrays (T, ...) by name, of `rows` of T instants with arrays (...)."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def objectives_of(module: Any, names: str | Iterable[str], columns: Columns) -> Objectives | None:
    """Return the objectives of these names; None where there are none."""
    chosen = objective_numbers(module, names)
    return Objectives(module, chosen, columns) if chosen else None


class Objectives:
    """All outputs of the model at one instant, and their gradients by eq. (2).

    `chosen` are the numbers of those outputs that are objectives.
    """

    def __init__(self, module: Any, chosen: list[int], columns: Columns) -> None:
        count, s = len(module.output_names), len(columns)
        name = "outputs_derivatives" if s else "outputs"
        self.function, self.chosen = function_of(module, name), chosen
        self.index, self.any_parameters = selection(chosen), columns.indices.size > 0
        self.indices, self.parameters = selection(columns.indices), selection(columns.parameters)
        self.values, self.gradients = np.zeros(count), np.zeros((count, s))
        self.time = np.zeros(())
        self.by_multipliers: Any = None
        self.take_multipliers = bool(getattr(module, "tells_multipliers", False))
        if self.take_multipliers and s:
            self.by_multipliers = function_of(module, "outputs_multiplier_derivatives")
        self.results: Any = None  # arrays of the first call, filled again by the others

    @property
    def row(self) -> dict[str, Array]:
        """Copies of the outputs and their gradients, for the dataset."""
        return {"outputs": self.values.copy(), "outputs_gradient": self.gradients.copy()}

    @property
    def of_chosen(self) -> tuple[Array, Array]:
        """The objectives (k,) and their gradients (k, s)."""
        return self.values[self.index], self.gradients[self.index]

    def evaluate(self, at: Instant, options: dict[str, Array]) -> None:
        """Compute outputs and gradients at the instant of `at`."""
        self.time[...] = at.t
        arguments = (self.time, at.q, at.qd, at.qdd, at.tau)
        if self.take_multipliers:
            options = {**options, "motion_multipliers": at.multipliers}
        if not at.s:
            self.function(*arguments, **options, out=self.values)
            return
        self.results = self.function(*arguments, **options, out=self.results)
        values, _, by_q, by_qd, by_qdd, by_tau, _, by_parameters = self.results
        self.values[...] = values
        # `dot` takes a third of the time of `@` for small matrices
        self.gradients[...] = by_q.dot(at.dq) + by_qd.dot(at.dqd)
        self.gradients += by_qdd.dot(at.dqdd) + by_tau.dot(at.dtau)
        if self.any_parameters:
            self.gradients[:, self.indices] += by_parameters[:, self.parameters]
        if self.take_multipliers:
            self._add_multipliers(self.by_multipliers(*arguments, **options), at.dmultipliers)

    def _add_multipliers(self, slopes: Array, moved: Array) -> None:
        """Add gradients through the multipliers; those of redundant rows have no derivatives."""
        size = moved.shape[0] * moved.shape[1]
        slopes, moved = slopes.reshape(len(slopes), size), moved.reshape(size, -1)
        used = slopes[self.index].any(axis=0)
        if not np.isfinite(moved[used]).all():
            raise RequestError(
                "simulate: objectives: multipliers of rows that are redundant have no derivatives; "
                "unique_multipliers(q) says which have"
            )
        self.gradients += slopes[:, used].dot(moved[used])
