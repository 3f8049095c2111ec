"""What a task may limit or integrate, of the generated module: torques, wrenches, outputs, places.

A `Quantity` has m entries at each of K instants of a motion.  All instants go into one call.

    Torques      joint torques, tau
    Wrenches     entries of joint wrenches
    Velocities   velocities and accelerations that are not those of splines
    Outputs      outputs of the model, along the inverse dynamics
    Positions    points of the model, or points given in link frames; with an orientation, poses
    Cosines      of angles of links (`symgen.planning.angles`)
    Distances    between spheres on links and what they keep out of (`symgen.planning.obstacles`)

Second derivatives of torques are exact, `inverse_dynamics_hessian`.  Those of the others, and of
torques by a formulation that does not derive that function, come from exact first ones, by central
differences along the axes of q and qd, all instants and directions in one batched call.  Torques
and wrenches are linear in qdd and, but for friction, quadratic in qd, so that the differences by qd
are exact up to rounding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.robot.configuration import Configuration

Array = NDArray[np.float64]

STEP = 1e-5
"""Of differences by q, qd and qdd: far below the velocities (1e-3) over which friction sets in."""
LOAD_STEP = 1e-4
"""Of differences by loads, relative to the largest at an instant and to 1 N or 1 N m."""


@dataclass(frozen=True)
class Motion:
    """States at K instants, (K, n) each, at times t (K,); loads (K, n_loads, 6), None without any.

    Where loads depend on time, `load_rates` are their derivatives with respect to T; `shares` are
    the instants as shares of T.  Beside a `space`, q (K, nq) is a configuration of it.
    """

    q: Array
    qd: Array
    qdd: Array
    t: Array
    shares: Array
    loads: Array | None = None
    load_rates: Array | None = None
    space: Configuration | None = None

    def moved(self, directions: Sequence[Array]) -> Motion:
        """Many motions at once, a new first axis: q, qd, qdd moved by (D, n) each."""
        by, *rates = (d[:, None, :] for d in directions)
        q = self.q + by if self.space is None else self.space.integrate(self.q, by)
        qd, qdd = (z + d for z, d in zip((self.qd, self.qdd), rates, strict=True))
        return replace(self, q=q, qd=qd, qdd=qdd)


class Quantity(ABC):
    """m functions of the state, and of time where loads do.  Arrays may have leading batch axes."""

    orders = 3
    """Of how many of q, qd, qdd it is a function."""
    nonlinear = 2
    """The derivatives with respect to how many of them vary with them."""
    labels: tuple[str, ...] = ()
    """What messages call its entries."""

    def __init__(self, module: Any, parameters: Mapping[str, float] | None) -> None:
        self.module = module
        self.given = {"parameters": dict(parameters)} if parameters else {}

    @property
    def size(self) -> int:
        """m."""
        return len(self.labels)

    def related(self) -> NDArray[np.bool_]:
        """Which coordinates an entry depends on, (m, n)."""
        return np.ones((self.size, self.module.n), dtype=bool)

    def value(self, motion: Motion) -> Array:
        """(..., K, m)."""
        return self.jacobian(motion)[0]

    @abstractmethod
    def jacobian(self, motion: Motion) -> tuple[Array, Array]:
        """The values, and their derivatives with respect to the state, (..., K, orders, m, n)."""

    def gradients(self, motion: Motion, multipliers: Array) -> Array:
        """Of multipliers (K, m) . values by the state, (..., K, orders, n)."""
        return np.asarray(np.einsum("...krij,ki->...krj", self.jacobian(motion)[1], multipliers))

    def by_time(self, motion: Motion) -> Array | None:
        """Their derivatives with respect to T at fixed state, (K, m); None where they are 0."""
        return None

    def by_loads(self, motion: Motion, unknown: Array) -> tuple[Array, Array]:
        """Derivatives by multiples of `unknown` loads (a, n_loads, 6), (K, m, a), and theirs by the
        state, (K, orders, m, n, a): exact differences of what is linear in loads."""
        assert motion.loads is not None
        values, rows = self.jacobian(motion)
        moved = [self.jacobian(replace(motion, loads=motion.loads + one)) for one in unknown]
        return (
            np.stack([value - values for value, _ in moved], axis=-1),
            np.stack([row - rows for _, row in moved], axis=-1),
        )

    def bend_by_loads(
        self, motion: Motion, unknown: Array, multipliers: Array
    ) -> tuple[Array, Array] | None:
        """Second derivatives of multipliers (K, m) . values by multiples of `unknown` loads,
        (K, a, a), and by them and T at fixed state, (K, a); None where they are 0."""
        return None

    def hessian(self, motion: Motion, multipliers: Array) -> Array:
        """Of multipliers (K, m) . values by the state: (K, orders, orders, n, n), entry
        [k, r, s, i, j] the derivative by coordinate i of order r and coordinate j of order s."""
        count, n = motion.qd.shape
        orders, nonlinear = self.orders, self.nonlinear
        steps = np.full(nonlinear * n, STEP)
        directions = np.concatenate([np.diag(steps), -np.diag(steps)])
        directions = np.pad(directions, ((0, 0), (0, (3 - nonlinear) * n)))
        gradient = self.gradients(motion.moved(np.split(directions, 3, axis=1)), multipliers)
        half = nonlinear * n
        slope = (gradient[:half] - gradient[half:]) / (2 * steps[:, None, None, None])
        slope = slope.reshape(nonlinear, n, count, orders, n).transpose(2, 0, 3, 1, 4)
        found = np.zeros((count, orders, orders, n, n))
        found[:, :nonlinear] = slope
        found[:, nonlinear:, :nonlinear] = slope[:, :, nonlinear:].transpose(0, 2, 1, 4, 3)
        return 0.5 * (found + found.transpose(0, 2, 1, 4, 3))

    def options(self, motion: Motion) -> dict[str, Any]:
        """What functions of the module take beside the state."""
        return self.given if motion.loads is None else {**self.given, "loads": motion.loads}


class Torques(Quantity):
    """tau, (K, n)."""

    def __init__(self, module: Any, parameters: Mapping[str, float] | None = None) -> None:
        super().__init__(module, parameters)
        self.labels = tuple(module.coordinate_names)

    def related(self) -> NDArray[np.bool_]:
        """Those on one path with the joint."""
        return np.asarray(self.module.derivative_sparsity, dtype=bool)

    def value(self, motion: Motion) -> Array:
        """(K, n)."""
        state = motion.q, motion.qd, motion.qdd
        return np.asarray(self.module.inverse_dynamics(*state, **self.options(motion)))

    def jacobian(self, motion: Motion) -> tuple[Array, Array]:
        """tau, d tau / d (q, qd, qdd)."""
        state = motion.q, motion.qd, motion.qdd
        tau, *rows = self.module.inverse_dynamics_derivatives(*state, **self.options(motion))
        return tau, np.stack(rows, axis=-3)

    def gradients(self, motion: Motion, multipliers: Array) -> Array:
        """As of every quantity; without Jacobians where the module has `inverse_dynamics_vjp`."""
        state = motion.q, motion.qd, motion.qdd
        if "inverse_dynamics_vjp" in self.module.functions:
            found = self.module.inverse_dynamics_vjp(*state, multipliers, **self.options(motion))
            return np.stack(found[:3], axis=-2)
        _, *rows = self.module.inverse_dynamics_derivatives(*state, **self.options(motion))
        weights = multipliers[:, None, :]
        return np.stack([(weights @ row)[..., 0, :] for row in rows], axis=-2)

    def hessian(self, motion: Motion, multipliers: Array) -> Array:
        """As of every quantity; exact where the formulation derives it."""
        second = getattr(self.module, "inverse_dynamics_hessian", None)
        if second is None:
            return super().hessian(motion, multipliers)
        state = motion.q, motion.qd, motion.qdd, multipliers
        q_q, q_qd, q_qdd, qd_qd = second(*state, **self.options(motion))
        found = np.zeros((len(q_q), 3, 3, *q_q.shape[1:]))
        found[:, 0, 0], found[:, 1, 1] = q_q, qd_qd
        found[:, 0, 1], found[:, 1, 0] = q_qd, q_qd.transpose(0, 2, 1)
        found[:, 0, 2], found[:, 2, 0] = q_qdd, q_qdd.transpose(0, 2, 1)
        return found

    def by_time(self, motion: Motion) -> Array | None:
        """Through the loads."""
        if motion.load_rates is None:
            return None
        slopes = self.module.inverse_dynamics_load_derivatives(motion.q, **self.given)
        return np.asarray(np.einsum("kilc,klc->ki", slopes, motion.load_rates))


class Wrenches(Quantity):
    """Entries `chosen` of joint wrenches: (number of the joint, number of the component) each."""

    def __init__(
        self,
        module: Any,
        parameters: Mapping[str, float] | None,
        chosen: Sequence[tuple[int, int]],
        labels: Sequence[str],
    ) -> None:
        super().__init__(module, parameters)
        self.chosen = tuple(np.array(chosen, dtype=int).T)
        self.labels = tuple(labels)

    def value(self, motion: Motion) -> Array:
        """(K, m)."""
        state = motion.q, motion.qd, motion.qdd
        found = self.module.joint_wrenches(*state, **self.options(motion))
        return np.asarray(found[..., self.chosen[0], self.chosen[1]])

    def jacobian(self, motion: Motion) -> tuple[Array, Array]:
        """The entries, and their derivatives."""
        state = motion.q, motion.qd, motion.qdd
        wrenches, *rows = self.module.joint_wrench_derivatives(*state, **self.options(motion))
        joint, entry = self.chosen
        picked = [row[..., joint, entry, :] for row in rows]
        return wrenches[..., joint, entry], np.stack(picked, axis=-3)

    def by_time(self, motion: Motion) -> Array | None:
        """Through the loads, which wrenches are linear in."""
        if motion.load_rates is None or motion.loads is None:
            return None
        moved = replace(motion, loads=motion.loads + motion.load_rates)
        return self.value(moved) - self.value(motion)


class Velocities(Quantity):
    """Velocities (`order` 1) or accelerations (2) of `chosen` coordinates."""

    def __init__(self, module: Any, order: int, chosen: Sequence[int]) -> None:
        super().__init__(module, None)
        self.order, self.chosen, self.orders = order, list(chosen), order + 1
        self.labels = tuple(module.coordinate_names[k] for k in chosen)

    def related(self) -> NDArray[np.bool_]:
        """Their own."""
        return np.eye(self.module.n, dtype=bool)[self.chosen]

    def value(self, motion: Motion) -> Array:
        """(K, m)."""
        return (motion.qd, motion.qdd)[self.order - 1][..., self.chosen]

    def jacobian(self, motion: Motion) -> tuple[Array, Array]:
        """The values, and 1 for each."""
        values = self.value(motion)
        slopes = np.zeros((*values.shape[:-1], self.orders, self.size, self.module.n))
        slopes[..., self.order, np.arange(self.size), self.chosen] = 1.0
        return values, slopes

    def hessian(self, motion: Motion, multipliers: Array) -> Array:
        """0."""
        n = self.module.n
        return np.zeros((len(multipliers), self.orders, self.orders, n, n))


class Outputs(Quantity):
    """The outputs `chosen` of the model, where tau is that of the motion."""

    nonlinear = 3

    def __init__(
        self, module: Any, parameters: Mapping[str, float] | None, chosen: Sequence[int]
    ) -> None:
        super().__init__(module, parameters)
        self.chosen = list(chosen)
        self.labels = tuple(module.output_names[k] for k in chosen)
        self.torques = Torques(module, parameters)

    def _slopes(self, motion: Motion) -> tuple[Any, Array]:
        """What `outputs_derivatives` returns, and d tau / d (q, qd, qdd)."""
        tau, by_state = self.torques.jacobian(motion)
        state = np.broadcast_to(motion.t, tau.shape[:-1]), motion.q, motion.qd, motion.qdd, tau
        return self.module.outputs_derivatives(*state, **self.options(motion)), by_state

    def jacobian(self, motion: Motion) -> tuple[Array, Array]:
        """Their values and total derivatives."""
        (values, _, *by, by_tau, _, _), by_state = self._slopes(motion)
        direct = np.stack([row[..., self.chosen, :] for row in by], axis=-3)
        through = by_tau[..., None, self.chosen, :] @ by_state
        return values[..., self.chosen], direct + through

    def by_loads(self, motion: Motion, unknown: Array) -> tuple[Array, Array]:
        """As of every quantity; outputs need not be linear in loads: differences of exact first
        derivatives by the state."""
        both = self._either_side(motion, unknown)
        rows = [
            (self.jacobian(after)[1] - self.jacobian(before)[1]) / (2 * h[:, None, None, None])
            for before, after, h in both
        ]
        return self._slopes_by_loads(motion, unknown), np.stack(rows, axis=-1)

    def bend_by_loads(
        self, motion: Motion, unknown: Array, multipliers: Array
    ) -> tuple[Array, Array] | None:
        """Differences of exact first derivatives."""
        bent, mixed = [], []
        for before, after, h in self._either_side(motion, unknown):
            change = self._slopes_by_loads(after, unknown) - self._slopes_by_loads(before, unknown)
            bent.append(np.einsum("kma,km->ka", change, multipliers) / (2 * h[:, None]))
            slopes = [self.by_time(each) for each in (before, after)]
            mixed.append(np.einsum("km,km->k", slopes[1] - slopes[0], multipliers) / (2 * h))
        both = np.stack(bent, axis=-1)
        return 0.5 * (both + both.transpose(0, 2, 1)), np.stack(mixed, axis=-1)

    def _slopes_by_loads(self, motion: Motion, unknown: Array) -> Array:
        """(K, m, a): of loads themselves, and through the torques that bear them."""
        (*_, by_tau, by_loads, _), _ = self._slopes(motion)
        felt = self.torques.by_loads(motion, unknown)[0]
        direct = np.einsum("kmlc,alc->kma", by_loads[:, self.chosen], unknown)
        return np.asarray(direct + by_tau[:, self.chosen] @ felt)

    @staticmethod
    def _either_side(motion: Motion, unknown: Array) -> list[tuple[Motion, Motion, Array]]:
        """The motion with less and with more of every unknown load, and by how much, (K,)."""
        assert motion.loads is not None
        h = LOAD_STEP * np.maximum(1.0, np.abs(motion.loads).max(axis=(1, 2)))
        steps = [h[:, None, None] * one for one in unknown]
        return [
            (
                replace(motion, loads=motion.loads - step),
                replace(motion, loads=motion.loads + step),
                h,
            )
            for step in steps
        ]

    def by_time(self, motion: Motion) -> Array:
        """Through t itself, the loads, and the torques that bear them."""
        (_, by_t, *_, by_tau, by_loads, _), _ = self._slopes(motion)
        found = by_t[:, self.chosen] * motion.shares[:, None]
        if motion.load_rates is not None:
            found += np.einsum("kmlc,klc->km", by_loads[:, self.chosen], motion.load_rates)
            by_torques = by_tau[:, self.chosen]
            found += np.einsum("kmi,ki->km", by_torques, self.torques.by_time(motion))  # type: ignore[arg-type]
        return np.asarray(found)


def skew(v: Array) -> Array:
    """The matrices (..., 3, 3) of the vector products v x."""
    found = np.zeros((*v.shape, 3), dtype=v.dtype)
    found[..., 0, 1], found[..., 0, 2] = -v[..., 2], v[..., 1]
    found[..., 1, 0], found[..., 1, 2] = v[..., 2], -v[..., 0]
    found[..., 2, 0], found[..., 2, 1] = -v[..., 1], v[..., 0]
    return found


def turn(rotation: Array) -> Array:
    """-sin(angle) axis (..., 3) of rotations (..., 3, 3): half the vector of their skew parts."""
    return np.asarray(
        0.5 * (rotation[..., [1, 2, 0], [2, 0, 1]] - rotation[..., [2, 0, 1], [1, 2, 0]])
    )
