"""Splines of joints on manifolds: coordinates of one chart of all their attitudes.

A motion is planned in n coordinates x, as many as velocities.  They are those of q, except that an
attitude is three numbers r, relative to a reference attitude of the task: r / 4 are modified
Rodrigues parameters, tan(angle / 4) times the axis, which approximate the rotation vector where
that is small, and are far from singular within 300 degrees of the reference.  Positions of free
joints are those of q, in the axes of the base.

| symbol | code | shape | |
| --- | --- | --- | --- |
| sigma = r / 4, s = sigma' | `sigma`, `s` | (..., 3) | |
| u = sigma . sigma, w = 1 / (1 + u) | `w` | (..., 1) | |
| N = (1 - u) 1 - 2 [sigma] + 2 sigma sigma^T | `_turned` | (..., 3, 3) | N N^T = (1 + u)^2 1 |
| omega = J r', J = w^2 N, J^-1 = N^T | | (..., 3) | in the axes of the link |
| c = J' r' | `_bias` | (..., 3) | |
| P | `P` | (..., 3, 3) | from the axes of the base to those of the link |
| v = P p', v' = P p'' - omega x v | | (..., 3) | of free joints, in the axes of the link |

(Parameters of Schaub, Junkins, "Stereographic orientation parameters for attitude dynamics", J.
Astronaut. Sci. 44 (1996), 1-19.)  The map from x, x', x'' is analytic, so that complex steps give
second derivatives of velocities and accelerations with all digits.

A displacement e in the tangent space is to first order e = J dr, P dp; its second-order term is
that of a motion at constant rates, half the derivative of J dr along dr.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from symgen.planning.quantities import MotionSamples, Quantity, skew
from symgen.runtime.configuration import (
    FREE,
    Configuration,
    configuration_of,
    conjugate,
    product,
    rotated,
)

Array = NDArray[Any]

STEP = 1e-30
"""Size of complex steps."""
KINDS = 3
"""x, x', x''; and e, v, a."""


class Columns(NamedTuple):
    """Indices of a joint: `travel` and `turn` in x, `place` and `attitude` in q.

    A ball has no position, and no columns in `travel`.
    """

    turn: slice
    attitude: slice
    travel: slice
    position: slice | None

    @property
    def columns(self) -> slice:
        """All of the joint in x."""
        return slice(self.travel.start, self.turn.stop)


@dataclass(frozen=True)
class Chart:
    """From x to q of a robot; `references` are an attitude for each joint with a quaternion."""

    space: Configuration
    references: tuple[NDArray[np.float64], ...] = ()

    @property
    def joints(self) -> list[Columns]:
        """Joints with a quaternion."""
        return columns_of(self.space)

    @property
    def plain(self) -> NDArray[np.bool_]:
        """Columns whose velocities are rates of x, (n,)."""
        columns = np.zeros(self.space.n, dtype=bool)
        columns[self.space.velocities] = True
        return columns

    def rates(self, limits: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return limits of velocities or their derivatives (n, 2) that are those of rates of x."""
        return np.where(self.plain[:, None], limits, [-np.inf, np.inf])

    def along(self, quantity: Quantity) -> Quantity:
        """Return a function of q, velocities and accelerations as one of x, x', x''."""
        return OnChart(self, quantity) if self.joints else quantity

    def configuration(self, x: Array) -> Array:
        """Return q (..., nq)."""
        if not self.joints:
            return x
        q = np.zeros((*x.shape[:-1], self.space.nq))
        q[..., self.space.positions] = x[..., self.space.velocities]
        for at, reference in zip(self.joints, self.references, strict=True):
            q[..., at.attitude] = _attitude(x[..., at.turn] / 4) @ product(reference, np.eye(4))
            if at.position is not None:
                q[..., at.position] = x[..., at.travel]
        return q

    def motion(self, planned: MotionSamples) -> MotionSamples:
        """Return the robot's motion, with q, velocities and accelerations."""
        if not self.joints:
            return planned
        x, xd, xdd = planned.q, planned.qd, planned.qdd
        qd, qdd = xd.copy(), xdd.copy()
        for at, reference in zip(self.joints, self.references, strict=True):
            sigma, s = x[..., at.turn] / 4, xd[..., at.turn] / 4
            omega = _turn(sigma, xd[..., at.turn])
            qd[..., at.turn] = omega
            qdd[..., at.turn] = _turn(sigma, xdd[..., at.turn]) + _bias(sigma, s)
            if at.position is not None:
                P = _to_link(reference, sigma)
                v = _times(P, xd[..., at.travel])
                qd[..., at.travel] = v
                qdd[..., at.travel] = _times(P, xdd[..., at.travel]) - _times(skew(omega), v)
        return replace(planned, q=self.configuration(x), qd=qd, qdd=qdd, space=self.space)

    def slopes(self, x: Array, xd: Array, xdd: Array) -> Array:
        """Return derivatives of (e, v, a) by (x, x', x''), (..., 3 n, 3 n)."""
        n = self.space.n
        slopes = np.zeros((*x.shape[:-1], KINDS, n, KINDS, n))
        plain = self.space.velocities
        for r in range(KINDS):
            slopes[..., r, plain, r, plain] = 1.0
        for joint, reference in zip(self.joints, self.references, strict=True):
            part = joint.columns
            states = (z[..., part] for z in (x, xd, xdd))
            slopes[..., :, part, :, part] = _slopes(reference, *states)
        return slopes.reshape(*x.shape[:-1], KINDS * n, KINDS * n)

    def curvature(self, x: Array, xd: Array, xdd: Array, gradients: Array) -> Array:
        """Return second derivatives of gradients (..., 3, n) . (e, v, a), (..., 3 n, 3 n)."""
        n = self.space.n
        curvature = np.zeros((*x.shape[:-1], KINDS, n, KINDS, n))
        for joint, reference in zip(self.joints, self.references, strict=True):
            part = joint.columns
            states = (z[..., part] for z in (x, xd, xdd, gradients))
            curvature[..., :, part, :, part] = _curvature(reference, *states)
        return curvature.reshape(*x.shape[:-1], KINDS * n, KINDS * n)

    def forward(
        self, module: Any, x: Array, xd: Array, tau: Array, options: dict[str, Any]
    ) -> tuple[Array, Array]:
        """Return x'' of forward dynamics (K, n), and derivatives by (x, x', tau), (K, n, 3 n)."""
        n, zero = self.space.n, np.zeros_like(x)
        motion = self.motion(MotionSamples.of(x, xd))
        qdd, *rows = module.forward_dynamics_derivatives(motion.q, motion.qd, tau, **options)
        slopes = np.concatenate(rows, axis=-1)
        if not self.joints:
            return qdd, slopes
        J = self.slopes(x, xd, zero)[..., :n, :n]
        xdd = np.linalg.solve(J, (qdd - motion.qdd)[..., None])[..., 0]
        along = self.slopes(x, xd, xdd)
        state = along.copy()  # of (e, v, tau) by (x, x', tau)
        state[..., 2 * n :, :] = np.eye(3 * n)[2 * n :]
        by_state = slopes @ state
        by_state[..., : 2 * n] -= along[..., 2 * n :, : 2 * n]
        return xdd, np.linalg.solve(J, by_state)


class OnChart(Quantity):
    """A quantity of the robot's motion, as a function of x, x', x''."""

    def __init__(self, chart: Chart, quantity: Quantity) -> None:
        self.module, self.keywords, self.labels = (
            quantity.module,
            quantity.keywords,
            quantity.labels,
        )
        self.orders, self.bears_loads = quantity.orders, quantity.bears_loads
        self.chart, self.quantity = chart, quantity
        self._last: tuple[MotionSamples, MotionSamples, Array] | None = None

    def related(self) -> NDArray[np.bool_]:
        """Return dependence (m, n) by whole joints: a coordinate moves along several velocities."""
        related = self.quantity.related().copy()
        for joint in self.chart.joints:
            columns = related[:, joint.columns]
            columns[:] = columns.any(axis=1, keepdims=True)
        return related

    def robot(self, motion: MotionSamples) -> tuple[MotionSamples, Array]:
        """Return the robot's motion, and its derivatives by the state, (..., R n, R n).

        Those of the last motion are kept: values, slopes and Hessians are asked for in turn.
        """
        if self._last is None or self._last[0] is not motion:
            size = self.orders * self.chart.space.n
            slopes = self.chart.slopes(*motion.state)[..., :size, :size]
            self._last = motion, self.chart.motion(motion), slopes
        return self._last[1:]

    def value(self, motion: MotionSamples) -> Array:
        """(..., K, m)."""
        return self.quantity.value(self.chart.motion(motion))

    def jacobian(self, motion: MotionSamples) -> tuple[Array, Array]:
        """Return values and derivatives by the state, (..., K, orders, m, n), by the chain rule."""
        robot, slopes = self.robot(motion)
        values, rows = self.quantity.jacobian(robot)
        flat = np.moveaxis(rows, -3, -2)
        along = flat.reshape(*values.shape, -1) @ slopes
        return values, np.moveaxis(along.reshape(flat.shape), -2, -3)

    def gradients(self, motion: MotionSamples, multipliers: Array) -> Array:
        """Return gradients of multipliers (K, m) . values, (..., K, orders, n)."""
        robot, slopes = self.robot(motion)
        rows = self.quantity.gradients(robot, multipliers)
        flat = rows.reshape(*rows.shape[:-2], 1, -1)
        return np.asarray((flat @ slopes).reshape(rows.shape))

    def by_loads(self, motion: MotionSamples, unknown: Array) -> Array:
        """Return derivatives by multiples of `unknown` loads, (K, m, a)."""
        return self.quantity.by_loads(self.robot(motion)[0], unknown)

    def gradients_by_loads(
        self, motion: MotionSamples, unknown: Array, multipliers: Array
    ) -> Array:
        """Return derivatives of `by_loads` by the state, (K, R, n, a)."""
        robot, slopes = self.robot(motion)
        rows = self.quantity.gradients_by_loads(robot, unknown, multipliers)
        flat = rows.reshape(len(rows), -1, len(unknown))
        return np.asarray((slopes.transpose(0, 2, 1) @ flat).reshape(rows.shape))

    def curvature_by_loads(
        self, motion: MotionSamples, unknown: Array, multipliers: Array
    ) -> tuple[Array, Array] | None:
        """Return second derivatives by `unknown` loads, (K, a, a), and mixed ones by T, (K, a)."""
        return self.quantity.curvature_by_loads(self.robot(motion)[0], unknown, multipliers)

    def by_time(self, motion: MotionSamples) -> Array | None:
        """Return derivatives by T at fixed state, (K, m)."""
        return self.quantity.by_time(self.chart.motion(motion))

    def hessian(self, motion: MotionSamples, multipliers: Array) -> Array:
        """Return second derivatives of multipliers (K, m) . values, by the chain rule twice."""
        robot, slopes = self.robot(motion)
        second = self.quantity.hessian(robot, multipliers).transpose(0, 1, 3, 2, 4)
        shape, size = second.shape, slopes.shape[-1]
        hessian = slopes.transpose(0, 2, 1) @ second.reshape(-1, size, size) @ slopes
        gradients = np.zeros((*motion.q.shape[:-1], KINDS, motion.q.shape[-1]))
        gradients[..., : self.orders, :] = self.quantity.gradients(robot, multipliers)
        curvature = self.chart.curvature(*motion.state, gradients)
        hessian += curvature[..., :size, :size]
        return np.asarray(hessian.reshape(shape).transpose(0, 1, 3, 2, 4))


def columns_of(space: Configuration) -> list[Columns]:
    """Return the indices of joints with a quaternion."""
    columns = []
    for kind, i, k in space.joints:
        more = 3 * (kind == FREE)
        columns.append(
            Columns(
                slice(k + more, k + more + 3), slice(i + more, i + more + 4),
                slice(k, k + more), slice(i, i + 3) if more else None,
            )
        )  # fmt: skip
    return columns


_UNITS = np.eye(4)
_SPIN = product(_UNITS[:, None], _UNITS[:3])
"""[i, j] is unit quaternion i times unit vector j, (4, 3, 4)."""
_BACK = product(_UNITS[:, None], conjugate(_UNITS))[..., :3]
"""[i, j] is the vector of unit quaternion i times the conjugate of j, (4, 4, 3)."""


def rates_on(space: Configuration) -> Callable[[Array, Array], Array]:
    """Return a fast form of `space.rate` for one state, (nq,) and (n,)."""
    joints = columns_of(space)
    if not joints:
        return lambda _, v: v

    def rate(q: Array, v: Array) -> Array:
        rates = np.empty(space.nq)
        rates[space.positions] = v[space.velocities]
        for joint in joints:
            Q = q[joint.attitude]
            spin = (Q @ _SPIN.reshape(4, 12)).reshape(3, 4)
            rates[joint.attitude] = 0.5 * v[joint.turn] @ spin
            if joint.position is not None:
                rates[joint.position] = v[joint.travel] @ spin @ (Q @ _BACK)
        return rates

    return rate


def joint_names(module: Any) -> tuple[str, ...]:
    """Name joint wrenches: joints with a quaternion have one, others one for each axis."""
    space = configuration_of(module)
    called = dict(zip(space.rows.tolist(), module.coordinate_names, strict=True))
    for at in columns_of(space):
        first = module.position_names[at.attitude.start]
        called[int(space.rows[at.turn.start])] = first.removesuffix("_qx")
    return tuple(called.values())


def _slopes(reference: Array, x: Array, xd: Array, xdd: Array) -> Array:
    """Return derivatives of (e, v, a) by (x, x', x'') of one joint, (..., 3, m, 3, m)."""
    m = x.shape[-1]
    p, w = slice(0, m - 3), slice(m - 3, m)
    sigma, turn, s = x[..., w] / 4, xd[..., w], xd[..., w] / 4
    J, by_turn = _jacobian(sigma), _turn_slopes(sigma, turn)
    by_sigma, by_s = _bias_slopes(sigma, s)
    slopes = np.zeros((*x.shape[:-1], KINDS, m, KINDS, m), dtype=np.result_type(x, xd, xdd))
    for r in range(KINDS):
        slopes[..., r, w, r, w] = J
    slopes[..., 1, w, 0, w] = by_turn
    slopes[..., 2, w, 0, w] = _turn_slopes(sigma, xdd[..., w]) + by_sigma / 4
    slopes[..., 2, w, 1, w] = by_s / 4
    if m > 3:
        P, across = _to_link(reference, sigma), skew(_times(J, turn))
        v = skew(_times(P, xd[..., p]))
        for r in range(KINDS):
            slopes[..., r, p, r, p] = P
        slopes[..., 1, p, 0, w] = slopes[..., 2, p, 1, w] = v @ J
        slopes[..., 2, p, 0, w] = skew(_times(P, xdd[..., p])) @ J + v @ by_turn - across @ v @ J
        slopes[..., 2, p, 1, p] = -across @ P
    return slopes


def _curvature(reference: Array, x: Array, xd: Array, xdd: Array, gradients: Array) -> Array:
    """Return second derivatives of gradients . (e, v, a) of one joint, (..., 3, m, 3, m).

    Those by the attitude and its rate are computed; others follow by symmetry.  That of e is the
    mean of both orders of differentiation: P dp changes with r, but J dr does not with p.
    """
    m = x.shape[-1]
    p, w = slice(0, m - 3), slice(m - 3, m)
    steps = 1j * STEP * np.eye(m)[w].reshape(3, *(1,) * (x.ndim - 1), m)
    weights = gradients.reshape(*gradients.shape[:-2], 1, KINDS * m)
    second = np.zeros((*x.shape[:-1], KINDS, m, KINDS, m))
    for c, state in enumerate(((x + steps, xd, xdd), (x, xd + steps, xdd))):
        slopes = _slopes(reference, *np.broadcast_arrays(*state)).imag / STEP
        slopes[..., 0, p, 0, p] /= 2
        rows = weights @ slopes.reshape(*slopes.shape[:-4], KINDS * m, KINDS * m)
        second[..., c, w, :, :] = np.moveaxis(rows.reshape(3, *x.shape[:-1], KINDS, m), 0, -3)
    is_known = np.zeros((KINDS, m), dtype=bool)
    is_known[:2, w] = True
    twice = is_known[:, :, None, None] & is_known
    both_orders = second + np.moveaxis(second, (-4, -3, -2, -1), (-2, -1, -4, -3))
    return np.where(twice, 0.5 * both_orders, both_orders)


def parameters_of(reference: Array, attitude: Array) -> Array:
    """Return r (..., 3) of an attitude (..., 4), which depends on the sign of the quaternion."""
    difference = product(conjugate(reference), attitude)
    return np.asarray(4.0 * difference[..., :3] / (1.0 + difference[..., 3:]))


def rates_of(r: Array, omega: Array, spin: Array) -> tuple[Array, Array]:
    """Return r' and r'' of an angular velocity and acceleration, (3,) each."""
    back: Array = _turned(r / 4).T
    rate: Array = back @ omega
    return rate, back @ (spin - _bias(r / 4, rate / 4))


def _attitude(sigma: Array) -> Array:
    """Return the quaternion (2 sigma, 1 - u) / (1 + u)."""
    u = np.sum(sigma * sigma, axis=-1, keepdims=True)
    return np.asarray(np.concatenate([2 * sigma, 1 - u], axis=-1) / (1 + u))


def _to_link(reference: Array, sigma: Array) -> Array:
    """Return P = (1 + 8 w^2 [sigma]^2 - 4 (1 - u) w^2 [sigma]) P_0: rows are axes of the link."""
    turn, w = skew(sigma), _weight(sigma)[..., None]
    relative = np.eye(3) + 8 * w**2 * turn @ turn - 4 * (2 * w - 1) * w * turn
    return np.asarray(relative @ rotated(conjugate(reference), np.eye(3)).T)


def _weight(sigma: Array) -> Array:
    """Return w, (..., 1)."""
    return np.asarray(1 / (1 + np.sum(sigma * sigma, axis=-1, keepdims=True)))


def _turned(sigma: Array) -> Array:
    """Return N."""
    u = np.sum(sigma * sigma, axis=-1)[..., None, None]
    return np.asarray((1 - u) * np.eye(3) - 2 * skew(sigma) + 2 * _outer(sigma, sigma))


def _jacobian(sigma: Array) -> Array:
    """Return J."""
    return np.asarray(_weight(sigma)[..., None] ** 2 * _turned(sigma))


def _turn(sigma: Array, x: Array) -> Array:
    """Return J x."""
    return _times(_jacobian(sigma), x)


def _along(sigma: Array, x: Array) -> Array:
    """Return d(N x)/d(sigma): -2 x sigma^T + 2 [x] + 2 (sigma . x) 1 + 2 sigma x^T."""
    dot = np.sum(sigma * x, axis=-1)[..., None, None]
    outer = _outer(sigma, x)
    return np.asarray(2 * (outer - np.swapaxes(outer, -1, -2) + skew(x) + dot * np.eye(3)))


def _turn_slopes(sigma: Array, x: Array) -> Array:
    """Return the derivative of J x by r: (w^2 d(N x) - 4 w^3 (N x) sigma^T) / 4."""
    w = _weight(sigma)[..., None]
    turned = _times(_turned(sigma), x)
    return np.asarray((w**2 * _along(sigma, x) - 4 * w**3 * _outer(turned, sigma)) / 4)


def _bias(sigma: Array, s: Array) -> Array:
    """Return c = 8 w^2 (s . s) sigma - 16 w^3 (sigma . s) N s."""
    w, k, q = _weight(sigma), _dot(sigma, s), _dot(s, s)
    return np.asarray(8 * w**2 * q * sigma - 16 * w**3 * k * _times(_turned(sigma), s))


def _bias_slopes(sigma: Array, s: Array) -> tuple[Array, Array]:
    """Return the derivatives of c by sigma and s."""
    w, k, q = (x[..., None] for x in (_weight(sigma), _dot(sigma, s), _dot(s, s)))
    N = _turned(sigma)
    m = _times(N, s)
    lengths = q * (w**2 * np.eye(3) - 4 * w**3 * _outer(sigma, sigma))
    turns = w**3 * (k * _along(sigma, s) + _outer(m, s)) - 6 * w**4 * k * _outer(m, sigma)
    by_s = 16 * w**2 * _outer(sigma, s) - 16 * w**3 * (k * N + _outer(m, sigma))
    return 8 * lengths - 16 * turns, by_s


def _times(matrix: Array, x: Array) -> Array:
    return np.asarray((matrix @ x[..., None])[..., 0])


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.sum(a * b, axis=-1, keepdims=True))


def _outer(a: Array, b: Array) -> Array:
    return np.asarray(a[..., :, None] * b[..., None, :])
