"""Quantities of the generated module that a task may limit or integrate.

A `Quantity` has m entries at each of K instants of a motion.  One call computes all instants.

    Torques      joint torques, tau
    Wrenches     entries of joint wrenches
    Velocities   velocities and accelerations of joints with quaternions
    Outputs      outputs of the model, with tau from the inverse dynamics
    Combination  functions of points and directions of links: poses, cosines, gaps of cut joints
    Distances    distances of spheres on links from obstacles (`symgen.planning.obstacles`)

Second derivatives are exact for torques (`inverse_dynamics_hessian`) and for points and directions
of links (`symgen.planning.placements`).  For other quantities, and for torques if the module lacks
that function, they are central differences of exact first derivatives along the axes of q and qd:
one batched call computes all instants and directions.  Torques and wrenches are linear in qdd and,
except for friction, quadratic in qd.  Differences by qd are then exact up to rounding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symgen.runtime.configuration import Configuration, configuration_of
from symgen.support.arrays import Array, Flags

Parameters = Mapping[str, float] | None
"""Values of the runtime parameters by name; None if there are none."""
STEP = 1e-5
"""Step of differences by q, qd and qdd, far below the velocity (1e-3) that smooths friction."""
LOAD_STEP = 1e-4
"""Step of differences by loads, relative to the largest load at an instant or 1 (N, N m)."""


@dataclass(frozen=True)
class MotionSamples:
    """States at K instants, (K, n) each, at times t (K,); loads (K, n_loads, 6) or None.

    Where loads depend on time, `load_rates` are their derivatives with respect to T; `shares` are
    the instants as fractions of T.  With a `space`, q (K, nq) holds configurations in it.
    """

    q: Array
    qd: Array
    qdd: Array
    t: Array
    shares: Array
    loads: Array | None = None
    load_rates: Array | None = None
    space: Configuration | None = None

    @classmethod
    def of(
        cls, q: Array, qd: Array | None = None, qdd: Array | None = None, loads: Array | None = None
    ) -> MotionSamples:
        """Return states whose time does not matter, (K, n) each; rates are 0 where not given."""
        zero, instants = np.zeros_like(q if qd is None else qd), np.zeros(len(q))
        qd, qdd = (zero if rate is None else rate for rate in (qd, qdd))
        return cls(q, qd, qdd, instants, instants, loads)

    @property
    def state(self) -> tuple[Array, Array, Array]:
        """q, qd, qdd."""
        return self.q, self.qd, self.qdd

    def moved(self, directions: Sequence[Array]) -> MotionSamples:
        """Return D motions along a new first axis: q, qd, qdd plus `directions`, (D, n) each."""
        by, *rates = (d[:, None, :] for d in directions)
        q = self.q + by if self.space is None else self.space.integrate(self.q, by)
        qd, qdd = (z + d for z, d in zip((self.qd, self.qdd), rates, strict=True))
        return replace(self, q=q, qd=qd, qdd=qdd)


class Quantity(ABC):
    """m functions of the state, and of time with time-dependent loads; batch axes come first."""

    orders = 3
    """Number of arguments among q, qd, qdd."""
    nonlinear = 2
    """Number of arguments in which the quantity is nonlinear."""
    labels: tuple[str, ...] = ()
    """Names of the entries in messages."""
    bears_loads = False
    """Whether loads change it."""

    def __init__(self, module: Any, parameters: Parameters) -> None:
        self.module = module
        self.keywords = options_of(parameters)

    @property
    def size(self) -> int:
        """Number of entries, m."""
        return len(self.labels)

    def related(self) -> Flags:
        """Return whether each entry depends on each coordinate, (m, n)."""
        return np.ones((self.size, self.module.n), dtype=bool)

    def value(self, motion: MotionSamples) -> Array:
        """Return the values, (..., K, m)."""
        return self.jacobian(motion)[0]

    @abstractmethod
    def jacobian(self, motion: MotionSamples) -> tuple[Array, Array]:
        """Return values, and their derivatives by the state, (..., K, orders, m, n)."""

    def gradients(self, motion: MotionSamples, multipliers: Array) -> Array:
        """Return gradients of multipliers (K, m) . values by the state, (..., K, orders, n)."""
        return np.asarray(np.einsum("...krij,ki->...krj", self.jacobian(motion)[1], multipliers))

    def by_time(self, motion: MotionSamples) -> Array | None:
        """Return derivatives by T at fixed state, (K, m), through loads; None where they are 0."""
        if motion.load_rates is None or not self.bears_loads:
            return None
        return self.by_loads(motion, motion.load_rates[None])[..., 0]

    def by_loads(self, motion: MotionSamples, unknown: Array) -> Array:
        """Return derivatives by multiples of `unknown` loads, (K, m, a).

        Loads are (a, n_loads, 6), or (a, K, n_loads, 6).  Differences are exact for functions that
        are linear in loads.
        """
        assert motion.loads is not None
        start = self.value(motion)
        moved = [self.value(replace(motion, loads=motion.loads + unit)) for unit in unknown]
        return np.stack([values - start for values in moved], axis=-1)

    def gradients_by_loads(
        self, motion: MotionSamples, unknown: Array, multipliers: Array
    ) -> Array:
        """Return derivatives of `by_loads`, with multipliers (K, m), by the state, (K, R, n, a)."""
        assert motion.loads is not None
        start = self.gradients(motion, multipliers)
        moved = [
            self.gradients(replace(motion, loads=motion.loads + unit), multipliers)
            for unit in unknown
        ]
        return np.stack([gradients - start for gradients in moved], axis=-1)

    def curvature_by_loads(
        self, motion: MotionSamples, unknown: Array, multipliers: Array
    ) -> tuple[Array, Array] | None:
        """Return second derivatives of multipliers (K, m) . values by multiples of `unknown` loads,
        (K, a, a), and mixed ones by T at fixed state, (K, a); None if they are 0."""
        return None

    def hessian(self, motion: MotionSamples, multipliers: Array) -> Array:
        """Return second derivatives of multipliers (K, m) . values, (K, orders, orders, n, n):
        entry [k, r, s, i, j] by coordinate i of order r and coordinate j of order s."""
        count, n = motion.qd.shape
        orders, nonlinear = self.orders, self.nonlinear
        steps = np.full(nonlinear * n, STEP)
        directions = np.concatenate([np.diag(steps), -np.diag(steps)])
        directions = np.pad(directions, ((0, 0), (0, (3 - nonlinear) * n)))
        gradient = self.gradients(motion.moved(np.split(directions, 3, axis=1)), multipliers)
        half = nonlinear * n
        slope = (gradient[:half] - gradient[half:]) / (2 * steps[:, None, None, None])
        slope = slope.reshape(nonlinear, n, count, orders, n).transpose(2, 0, 3, 1, 4)
        result = np.zeros((count, orders, orders, n, n))
        result[:, :nonlinear] = slope
        result[:, nonlinear:, :nonlinear] = slope[:, :, nonlinear:].transpose(0, 2, 1, 4, 3)
        return 0.5 * (result + result.transpose(0, 2, 1, 4, 3))

    def options(self, motion: MotionSamples) -> dict[str, Any]:
        """Return arguments of the module's functions after the state."""
        return self.keywords if motion.loads is None else {**self.keywords, "loads": motion.loads}


class Torques(Quantity):
    """Joint torques tau, (K, n)."""

    bears_loads = True

    def __init__(self, module: Any, parameters: Parameters = None) -> None:
        super().__init__(module, parameters)
        self.labels = tuple(module.coordinate_names)

    def related(self) -> Flags:
        """Return the sparsity of derivatives, (n, n): joints on a common path are coupled."""
        return np.asarray(self.module.derivative_sparsity, dtype=bool)

    def value(self, motion: MotionSamples) -> Array:
        """Return tau, (K, n)."""
        return np.asarray(self.module.inverse_dynamics(*motion.state, **self.options(motion)))

    def jacobian(self, motion: MotionSamples) -> tuple[Array, Array]:
        """Return tau, d tau / d (q, qd, qdd)."""
        tau, *rows = self.module.inverse_dynamics_derivatives(*motion.state, **self.options(motion))
        return tau, np.stack(rows, axis=-3)

    def gradients(self, motion: MotionSamples, multipliers: Array) -> Array:
        """Return gradients (..., K, 3, n), by `inverse_dynamics_vjp` if the module has it."""
        arguments, options = motion.state, self.options(motion)
        if "inverse_dynamics_vjp" in self.module.functions:
            rows = self.module.inverse_dynamics_vjp(*arguments, multipliers, **options)
            return np.stack(rows[:3], axis=-2)
        _, *rows = self.module.inverse_dynamics_derivatives(*arguments, **options)
        weights = multipliers[:, None, :]
        return np.stack([(weights @ row)[..., 0, :] for row in rows], axis=-2)

    def hessian(self, motion: MotionSamples, multipliers: Array) -> Array:
        """Return second derivatives (K, 3, 3, n, n), exact where the formulation derives them."""
        second = getattr(self.module, "inverse_dynamics_hessian", None)
        if second is None:
            return super().hessian(motion, multipliers)
        q_q, q_qd, q_qdd, qd_qd = second(*motion.state, multipliers, **self.options(motion))
        result = np.zeros((len(q_q), 3, 3, *q_q.shape[1:]))
        result[:, 0, 0], result[:, 1, 1] = q_q, qd_qd
        result[:, 0, 1], result[:, 1, 0] = q_qd, q_qd.transpose(0, 2, 1)
        result[:, 0, 2], result[:, 2, 0] = q_qdd, q_qdd.transpose(0, 2, 1)
        return result

    def by_loads(self, motion: MotionSamples, unknown: Array) -> Array:
        """Return derivatives by multiples of `unknown` loads, (K, n, a)."""
        slopes = self.module.inverse_dynamics_load_derivatives(motion.q, **self.keywords)
        return _along_loads(slopes, unknown)

    def gradients_by_loads(
        self, motion: MotionSamples, unknown: Array, multipliers: Array
    ) -> Array:
        """Return derivatives of `by_loads` by the state, (K, 3, n, a): 0 by velocities."""
        loads = np.concatenate([np.zeros_like(unknown[:1]), unknown])[:, None]
        state = (np.broadcast_to(x, (len(loads), *x.shape)) for x in motion.state)
        _, by_q, *_ = self.module.inverse_dynamics_derivatives(
            *state, loads=np.broadcast_to(loads, (len(loads), len(motion.q), *loads.shape[2:])),
            **self.keywords,
        )  # fmt: skip
        rows = (multipliers[:, None, :] @ by_q)[..., 0, :]
        result = np.zeros((len(motion.q), 3, motion.qd.shape[1], len(unknown)))
        result[:, 0] = (rows[1:] - rows[0]).transpose(1, 2, 0)
        return result


class Wrenches(Quantity):
    """Entries of joint wrenches; `chosen` holds pairs of joint index and component index."""

    bears_loads = True

    def __init__(
        self,
        module: Any,
        parameters: Parameters,
        chosen: Sequence[tuple[int, int]],
        labels: Sequence[str],
    ) -> None:
        super().__init__(module, parameters)
        self.chosen = tuple(np.array(chosen, dtype=int).T)
        self.labels = tuple(labels)

    def value(self, motion: MotionSamples) -> Array:
        """Return the values, (K, m)."""
        wrenches = self.module.joint_wrenches(*motion.state, **self.options(motion))
        return np.asarray(wrenches[..., self.chosen[0], self.chosen[1]])

    def jacobian(self, motion: MotionSamples) -> tuple[Array, Array]:
        """Return the entries, and their derivatives."""
        options, (joint, entry) = self.options(motion), self.chosen
        wrenches, *rows = self.module.joint_wrench_derivatives(*motion.state, **options)
        picked = [row[..., joint, entry, :] for row in rows]
        return wrenches[..., joint, entry], np.stack(picked, axis=-3)


class Velocities(Quantity):
    """Velocities (`order` 1) or accelerations (2) of `chosen` coordinates."""

    def __init__(self, module: Any, order: int, chosen: Sequence[int]) -> None:
        super().__init__(module, None)
        self.order, self.chosen, self.orders = order, list(chosen), order + 1
        self.labels = tuple(module.coordinate_names[k] for k in chosen)

    def related(self) -> Flags:
        """Return dependence of each entry on its coordinate, (m, n)."""
        return np.eye(self.module.n, dtype=bool)[self.chosen]

    def value(self, motion: MotionSamples) -> Array:
        """Return the values, (K, m)."""
        return (motion.qd, motion.qdd)[self.order - 1][..., self.chosen]

    def jacobian(self, motion: MotionSamples) -> tuple[Array, Array]:
        """Return the values, and their derivatives: 1 by the rate of the coordinate."""
        values = self.value(motion)
        slopes = np.zeros((*values.shape[:-1], self.orders, self.size, self.module.n))
        slopes[..., self.order, np.arange(self.size), self.chosen] = 1.0
        return values, slopes

    def hessian(self, motion: MotionSamples, multipliers: Array) -> Array:
        """Return zeros, (k, orders, orders, n, n), for `multipliers` (k, ...)."""
        n = self.module.n
        return np.zeros((len(multipliers), self.orders, self.orders, n, n))


class Outputs(Quantity):
    """Outputs `chosen` of the model, with tau from the inverse dynamics of the motion."""

    nonlinear = 3

    def __init__(self, module: Any, parameters: Parameters, chosen: Sequence[int]) -> None:
        super().__init__(module, parameters)
        self.chosen = list(chosen)
        self.labels = tuple(module.output_names[k] for k in chosen)
        self.torques = Torques(module, parameters)
        self.bears_loads = not self._are_of_positions()
        if not self.bears_loads:
            self.orders = self.nonlinear = 1

    def _are_of_positions(self) -> bool:
        """Return whether the outputs depend on q alone: all other derivatives are exactly 0."""
        module = self.module
        t, turn, *state = np.random.default_rng(0).normal(size=(5, module.n))
        q = configuration_of(module).integrate(module.neutral(), turn)
        _, *by = module.outputs_derivatives(t[0], q, *state, **self.keywords)
        return not any(np.any(slopes[self.chosen]) for k, slopes in enumerate(by) if k != 1)

    def _slopes(self, motion: MotionSamples) -> tuple[Any, Array]:
        """Return the results of `outputs_derivatives`, and d tau / d (q, qd, qdd)."""
        tau, by_state = self.torques.jacobian(motion)
        state = np.broadcast_to(motion.t, tau.shape[:-1]), motion.q, motion.qd, motion.qdd, tau
        return self.module.outputs_derivatives(*state, **self.options(motion)), by_state

    def jacobian(self, motion: MotionSamples) -> tuple[Array, Array]:
        """Return values and total derivatives."""
        if not self.bears_loads:
            zero, options = np.zeros_like(motion.qd), self.options(motion)
            state = np.broadcast_to(motion.t, zero.shape[:-1]), motion.q, zero, zero, zero
            values, _, by_q, *_ = self.module.outputs_derivatives(*state, **options)
            return values[..., self.chosen], by_q[..., None, self.chosen, :]
        (values, _, *by, by_tau, _, _), by_state = self._slopes(motion)
        direct = np.stack([row[..., self.chosen, :] for row in by], axis=-3)
        through = by_tau[..., None, self.chosen, :] @ by_state
        return values[..., self.chosen], direct + through

    def by_loads(self, motion: MotionSamples, unknown: Array) -> Array:
        """Return total derivatives by loads, (K, m, a): direct, and through the torques."""
        (*_, by_tau, by_loads, _), _ = self._slopes(motion)
        by_torques = self.torques.by_loads(motion, unknown)
        direct = _along_loads(by_loads[:, self.chosen], unknown)
        return np.asarray(direct + by_tau[:, self.chosen] @ by_torques)

    def gradients_by_loads(
        self, motion: MotionSamples, unknown: Array, multipliers: Array
    ) -> Array:
        """Return differences of gradients by loads, (K, R, n, a)."""
        rows = [
            (self.gradients(after, multipliers) - self.gradients(before, multipliers))
            / (2 * h[:, None, None])
            for before, after, h in self._either_side(motion, unknown)
        ]
        return np.stack(rows, axis=-1)

    def curvature_by_loads(
        self, motion: MotionSamples, unknown: Array, multipliers: Array
    ) -> tuple[Array, Array] | None:
        """Return second derivatives (K, a, a), and mixed ones by T (K, a), by differences."""
        second, mixed = [], []
        for before, after, h in self._either_side(motion, unknown):
            change = self.by_loads(after, unknown) - self.by_loads(before, unknown)
            second.append(np.einsum("kma,km->ka", change, multipliers) / (2 * h[:, None]))
            slopes = [np.asarray(self.by_time(each)) for each in (before, after)]
            mixed.append(np.einsum("km,km->k", slopes[1] - slopes[0], multipliers) / (2 * h))
        hessian = np.stack(second, axis=-1)
        return 0.5 * (hessian + hessian.transpose(0, 2, 1)), np.stack(mixed, axis=-1)

    @staticmethod
    def _either_side(
        motion: MotionSamples, unknown: Array
    ) -> list[tuple[MotionSamples, MotionSamples, Array]]:
        """Return motions with every unknown load decreased and increased, and the steps, (K,)."""
        assert motion.loads is not None
        h = LOAD_STEP * np.maximum(1.0, np.abs(motion.loads).max(axis=(1, 2)))
        return [
            (*(replace(motion, loads=motion.loads + step) for step in (-step, step)), h)
            for step in (h[:, None, None] * unit for unit in unknown)
        ]

    def by_time(self, motion: MotionSamples) -> Array | None:
        """Differentiate through t, the loads, and the torques."""
        if not self.bears_loads:
            return None
        (_, by_t, *_), _ = self._slopes(motion)
        direct, through = by_t[:, self.chosen] * motion.shares[:, None], super().by_time(motion)
        return np.asarray(direct if through is None else direct + through)


def _along_loads(slopes: Array, unknown: Array) -> Array:
    """Return derivatives (K, m, a) by multiples of loads, as of `by_loads`, from those by all loads
    (K, m, n_loads, 6)."""
    flat = unknown.reshape(*unknown.shape[:-2], -1)
    return np.asarray(slopes.reshape(*slopes.shape[:2], -1) @ np.moveaxis(flat, 0, -1))


def options_of(parameters: Parameters) -> dict[str, Any]:
    """Return values of runtime parameters as an option of functions of the module."""
    return {"parameters": dict(parameters)} if parameters else {}


def skew(v: Array) -> Array:
    """Return the skew-symmetric matrices (..., 3, 3) of v (..., 3): skew(v) w = v x w."""
    result = np.zeros((*v.shape, 3), dtype=v.dtype)
    result[..., 0, 1], result[..., 0, 2] = -v[..., 2], v[..., 1]
    result[..., 1, 0], result[..., 1, 2] = v[..., 2], -v[..., 0]
    result[..., 2, 0], result[..., 2, 1] = -v[..., 1], v[..., 0]
    return result
