"""Terms of quantities at instants of a motion: limits and integrals.

Chain rule, at an instant with basis rows B_r (Xiang 2009, eqs. (39)-(42)), z_r = B_r c / T^r:

    d z_r / d c = B_r / T^r          d z_r / d T = -r z_r / T
    d2 z_r / d c d T = -r B_r / T^(r+1)        d2 z_r / d T^2 = r (r + 1) z_r / T^2

Control point i only acts on the segments around it, a coordinate only on the entries of a quantity
that depend on it, T on all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from symgen.planning.loads import LoadsAt
from symgen.planning.problem import Entries, Iterate, Sizes, Term, instant, once
from symgen.planning.quantities import MotionSamples, Quantity
from symgen.planning.splines import Local
from symgen.planning.task import CLOSURE
from symgen.support.arrays import Array, Flags, Index

ORDERS = 3
"""q, qd, qdd: the state."""


@dataclass(kw_only=True)
class Sampled(Term):
    """A quantity at instants s (K,): limited, integrated, or both.

    Entries `chosen` at the instants `limited` are constraints, divided by `scale` (m,).
    `quadrature` (K,) are the weights of integrals over s: `squares` (m,) weigh the integrals of
    squared entries, `linear` (m,) integrals of the entries themselves.  `unknown` are loads of
    size 1 (a, n_loads, 6): the loads at every instant are unknown multiples of them.  `instants`
    are the numbers of s among the instants of the program, where it has more.
    """

    s: Array
    local: Local
    quantity: Quantity
    limited: Index
    chosen: Index
    scale: Array
    quadrature: Array
    squares: Array
    linear: Array
    loads: LoadsAt | None = None
    unknown: Array | None = None
    instants: Index | None = None

    @classmethod
    def limits(
        cls, sizes: Sizes, name: str, quantity: Quantity, s: Array, local: Local, sides: Any,
        *, chosen: Index | None = None, scale: float = 1.0, **more: Any,
    ) -> Sampled:  # fmt: skip
        """Return limits (2,) or (2, m) of entries, all if none are `chosen`, at all instants."""
        count, m = len(s), quantity.size
        chosen = np.arange(m) if chosen is None else chosen
        lower, upper = (
            np.tile(np.broadcast_to(side, m)[chosen], count) for side in np.asarray(sides)
        )
        return cls(
            sizes, name, lower, upper, tuple(quantity.labels[k] for k in chosen), s=s, local=local,
            quantity=quantity, limited=np.arange(count), chosen=chosen, scale=np.full(m, scale),
            quadrature=np.zeros(count), squares=np.zeros(m), linear=np.zeros(m), **more,
        )  # fmt: skip

    @cached_property
    def columns(self) -> Index:
        """The unknowns that act at every instant: control points, T, loads, (K, L + 1 + a)."""
        count = self.local.values.shape[2]
        n = self.sizes.n
        controls = self.local.columns[:, :, None] * n + np.arange(n)
        time = np.full(len(self.s), self.sizes.time)
        loads = self.sizes.time + 1 + self._numbers
        return np.column_stack([controls.reshape(len(self.s), count * n), time, loads])

    @cached_property
    def _numbers(self) -> Index:
        """Numbers of the unknown loads at every instant, (K, a)."""
        a = 0 if self.unknown is None else len(self.unknown)
        instants = np.arange(len(self.s)) if self.instants is None else self.instants
        return np.asarray(instants[:, None] * a + np.arange(a))

    @property
    def _time(self) -> int:
        """The position of T among `columns`: L."""
        return int(self.local.values.shape[2]) * self.sizes.n

    def fault(self, row: int, over: float) -> str:
        """Return the excess, with its instant where there are several."""
        instance, entry = divmod(row, len(self.chosen))
        size = over * self.scale[self.chosen[entry]]
        if self.name == CLOSURE:
            by = f"missed by {size:.2g}"
        elif self.axes:
            unit = "m" if self.labels[entry] in "xyz" else "rad"
            by = f"missed by {size:.2g} {unit}"
        elif self.name == "distance":
            by = f"too small by {size:.2g} m"
        else:
            by = super().fault(row, over)
        return by if len(self.s) == 1 else f"{by} {instant(self.s[self.limited[instance]])}"

    @once
    def state(self, at: Iterate) -> Array:
        """Return z = (q, qd, qdd) at the instants, (K, 3, n)."""
        return self.local.state(at.control, at.T, ORDERS)

    def rows(self, at: Iterate, by_state: Array, by_time: Array | None = None) -> Array:
        """Return derivatives (K, m, L + 1 + a) of functions from `by_state` (K, R, m, n)."""
        orders = by_state.shape[1]
        basis = self.scaled_basis(at, orders)  # (K, R, p + 1)
        count, m, n = len(self.s), *by_state.shape[2:]
        flat = np.ascontiguousarray(by_state).reshape(count, orders, m * n)
        by_control = (basis.transpose(0, 2, 1) @ flat).reshape(count, -1, m, n)
        rows = np.empty((count, m, self.columns.shape[1]))
        T = self._time
        for b in range(by_control.shape[1]):
            rows[:, :, b * n : (b + 1) * n] = by_control[:, b]
        rows[:, :, T] = (by_state @ self._speed(at, orders)[..., None])[..., 0].sum(axis=1)
        if by_time is not None:
            rows[:, :, T] += by_time
        if self.unknown is not None:
            rows[:, :, T + 1 :] = self.quantity.by_loads(self.motion(at), self.unknown)
        return rows

    def scaled_basis(self, at: Iterate, orders: int) -> Array:
        """Return B_r / T^r, (K, R, p + 1)."""
        scale = at.T ** -np.arange(float(orders))
        return self.local.values[:orders].transpose(1, 0, 2) * scale[:, None]

    def second(self, at: Iterate, hessian: Array, gradient: Array, by_time: Array) -> Array:
        """Return second derivatives (K, L + 1, L + 1): upper triangles, and T with all columns.

        `hessian` (K, R, R, n, n) and `gradient` (K, R, n) are by the state; `by_time`
        (K, 1 + R n) holds second derivatives by T at fixed state, and mixed ones.
        """
        count, orders, n = gradient.shape
        basis = self.scaled_basis(at, orders)
        first, last = np.triu_indices(basis.shape[2])
        products = basis[:, :, None, first] * basis[:, None, :, last]  # (K, R, R, pairs)
        pairs = products.reshape(count, orders**2, -1).transpose(0, 2, 1)
        pair_slopes = (pairs @ hessian.reshape(count, orders**2, n * n)).reshape(count, -1, n, n)
        size = self._time
        blocks = np.zeros((count, size + 1, size + 1))
        for k, (b, c) in enumerate(zip(first * n, last * n, strict=True)):
            blocks[:, b : b + n, c : c + n] = pair_slopes[:, k]
        powers = np.arange(float(orders))
        speed = self._speed(at, orders)
        curvature = (hessian @ speed[:, None, :, :, None])[..., 0].sum(axis=2)
        along = curvature - powers[:, None] / at.T * gradient
        mixed_time = by_time[:, 1:].reshape(count, orders, n)
        mixed = (basis.transpose(0, 2, 1) @ (along + mixed_time)).reshape(count, size)
        blocks[:, :-1, -1] = blocks[:, -1, :-1] = mixed
        curve = powers * (powers + 1) / at.T**2
        blocks[:, -1, -1] = (
            np.einsum("kri,kri->k", curvature, speed)
            + np.einsum("r,kri,kri->k", curve, gradient, self.state(at)[:, :orders])
            + 2 * np.einsum("kri,kri->k", mixed_time, speed)
            + by_time[:, 0]
        )
        return blocks

    @once
    def motion(self, at: Iterate) -> MotionSamples:
        """Return the states at the instants, and the loads there."""
        z = self.state(at)
        q, qd, qdd = (np.ascontiguousarray(z[:, r]) for r in range(ORDERS))
        loads, rates = (None, None) if self.loads is None else self.loads(self.s, at.T)
        if self.unknown is not None:
            more = np.einsum("ka,alc->klc", at.loads[self._numbers], self.unknown)
            loads = more if loads is None else loads + more
        return MotionSamples(q, qd, qdd, self.s * at.T, self.s, loads, rates)

    @once
    def values(self, at: Iterate) -> Array:
        """Return values of the quantity, (K, m)."""
        is_known = (id(self), "slopes") in at.memory
        return self.slopes(at)[0] if is_known else self.quantity.value(self.motion(at))

    @once
    def slopes(self, at: Iterate) -> tuple[Array, Array, Array | None]:
        """Return values, derivatives by the state (K, R, m, n), and by T at fixed state (K, m)."""
        motion = self.motion(at)
        return *self.quantity.jacobian(motion), self.quantity.by_time(motion)

    def _speed(self, at: Iterate, orders: int) -> Array:
        """Return d z / d T, (K, R, n)."""
        powers = -np.arange(float(orders))[:, None] / at.T
        return np.asarray(powers * self.state(at)[:, :orders])

    def value(self, at: Iterate) -> Array:
        """Return the limited entries, instant by instant, (rows,)."""
        return np.ravel((self.values(at) / self.scale)[np.ix_(self.limited, self.chosen)])

    @cached_property
    def _kept(self) -> Flags:
        """Entries of the limited rows that can be non-zero, (rows, m, L + 1 + a)."""
        width = self.local.values.shape[2]
        related = np.tile(self.quantity.related()[self.chosen], (1, width))
        beside = self.columns.shape[1] - self._time
        row = np.column_stack([related, np.ones((len(self.chosen), beside), dtype=bool)])
        return row & self._acting[self.limited, None, :]

    @cached_property
    def _acting(self) -> Flags:
        """Entries of `columns` that act, (K, L + 1 + a)."""
        controls = np.repeat(self.local.acting(self.quantity.orders), self.sizes.n, axis=1)
        beside = self.columns.shape[1] - self._time
        return np.column_stack([controls, np.ones((len(self.s), beside), dtype=bool)])

    @cached_property
    def _entries(self) -> tuple[Index, Array]:
        """Positions of the entries of the Jacobian in `all_rows`, and their divisors."""
        instant, entry, column = np.nonzero(self._kept)
        shape = len(self.s), self.quantity.size, self.columns.shape[1]
        rows = self.limited[instant], self.chosen[entry]
        return np.ravel_multi_index((*rows, column), shape), self.scale[rows[1]]

    def jacobian_positions(self) -> Entries:
        """Return the control points around each instant, T, and the loads there."""
        shape = self._kept.shape
        rows = np.arange(shape[0] * shape[1]).reshape(shape[:2])[:, :, None]
        columns = self.columns[self.limited][:, None, :]
        row, column = (np.broadcast_to(x, shape)[self._kept] for x in (rows, columns))
        return row, column

    @once
    def all_rows(self, at: Iterate) -> Array:
        """Return derivatives by the unknowns at all instants, (K, m, L + 1 + a)."""
        _, by_state, by_time = self.slopes(at)
        return self.rows(at, by_state, by_time)

    def jacobian(self, at: Iterate) -> Array:
        """Return entries of the derivatives, by the chain rule."""
        positions, scale = self._entries
        return np.asarray(np.take(self.all_rows(at), positions) / scale)

    @cached_property
    def _integrated(self) -> bool:
        return bool(np.any(self.squares) or np.any(self.linear))

    def objective(self, at: Iterate) -> float:
        """Return T times the integrals over s."""
        if not self._integrated:
            return 0.0
        values = self.values(at)
        return at.T * float(self.quadrature @ (values**2 @ self.squares + values @ self.linear))

    def _by_values(self, values: Array) -> Array:
        """Return derivatives of the integrals over s with respect to the values, (K, m)."""
        return self.quadrature[:, None] * (2 * values * self.squares + self.linear)

    def gradient(self, at: Iterate, into: Array) -> None:
        """Add the derivatives of the integrals to `into` (unknowns,), by the chain rule."""
        if not self._integrated:
            return
        by_values = at.T * self._by_values(self.slopes(at)[0])
        np.add.at(into, self.columns, np.einsum("ki,kil->kl", by_values, self.all_rows(at)))
        into[self.sizes.time] += self.objective(at) / at.T

    def hessian(self, at: Iterate, weight: float, multipliers: Array) -> Array:
        """Return second derivatives, (entries,), by the chain rule twice."""
        values, by_state, _ = self.slopes(at)
        by_values = weight * self._by_values(values)
        factors = at.T * by_values
        spread = np.zeros((len(self.limited), values.shape[1]))
        spread[:, self.chosen] = multipliers.reshape(len(self.limited), len(self.chosen))
        factors[self.limited] += spread / self.scale
        gradient = (factors[:, None, None, :] @ by_state)[:, :, 0]
        hessian = self.quantity.hessian(self.motion(at), factors)
        blocks = self.second(at, hessian, gradient, self._by_time_alone(at, factors, gradient))
        if self.unknown is not None:
            blocks = self._with_loads(at, blocks, factors)
        if self._integrated:
            rows = self.all_rows(at)
            curve = 2 * at.T * weight * self.quadrature[:, None] * self.squares
            blocks += (rows * curve[:, :, None]).transpose(0, 2, 1) @ rows
            along = np.einsum("ki,kil->kl", by_values, rows)
            blocks[:, self._time, :] += along
            blocks[:, :, self._time] += along
        return np.asarray(np.take(blocks, self._upper))

    def _with_loads(self, at: Iterate, blocks: Array, factors: Array) -> Array:
        """Return blocks with rows and columns of the unknown loads behind T."""
        assert self.unknown is not None
        gradients = self.quantity.gradients_by_loads(self.motion(at), self.unknown, factors)
        orders, a = gradients.shape[1], gradients.shape[3]
        basis = self.scaled_basis(at, orders)
        by_control = np.einsum("krb,krja->kbja", basis, gradients).reshape(len(blocks), -1, a)
        speed = self._speed(at, orders)
        by_time = np.einsum("krja,krj->ka", gradients, speed)[:, None]
        padded = np.pad(blocks, ((0, 0), (0, a), (0, a)))
        second = self.quantity.curvature_by_loads(self.motion(at), self.unknown, factors)
        if second is not None:
            padded[:, blocks.shape[1] :, blocks.shape[1] :] = second[0]
            by_time = by_time + second[1][:, None]
        mixed = np.concatenate([by_control, by_time], axis=1)
        padded[:, : blocks.shape[1], blocks.shape[1] :] = mixed
        padded[:, blocks.shape[1] :, : blocks.shape[1]] = mixed.transpose(0, 2, 1)
        return padded

    def _by_time_alone(self, at: Iterate, factors: Array, gradient: Array) -> Array:
        """Return second derivatives by T at fixed state, and mixed ones, (K, 1 + R n).

        Differences of exact first derivatives; 0 unless loads or outputs depend on time.
        """
        count = len(factors)
        if self.slopes(at)[2] is None:
            return np.zeros((count, 1 + gradient[0].size))
        step = 1e-5 * at.T
        twice, mixed = np.zeros(count), np.zeros_like(gradient)
        for sign in (1.0, -1.0):
            T = at.T + sign * step
            motion = self.motion(at)
            loads, rates = (motion.loads, None)
            if self.loads is not None:
                loads, rates = self.loads(self.s, T)
                if motion.loads is not None:
                    loads = loads + motion.loads - self.loads(self.s, at.T)[0]
            moved = replace(motion, t=self.s * T, loads=loads, load_rates=rates)
            _, by_state = self.quantity.jacobian(moved)
            by_time = self.quantity.by_time(moved)
            assert by_time is not None
            twice += sign * np.einsum("ki,ki->k", by_time, factors)
            mixed += sign * np.einsum("krij,ki->krj", by_state, factors)
        return np.column_stack([twice, mixed.reshape(count, -1)]) / (2 * step)

    @cached_property
    def _upper(self) -> Index:
        """Positions of the entries of the upper triangles in the blocks that `second` returns."""
        upper = self.columns[:, :, None] <= self.columns[:, None, :]
        acting = self._acting
        return np.flatnonzero(upper & acting[:, :, None] & acting[:, None, :])

    def hessian_positions(self) -> Entries:
        """Return positions of the upper triangles of the blocks that `second` returns."""
        width = self.columns.shape[1]
        instant, row, column = np.unravel_index(self._upper, (len(self.s), width, width))
        return self.columns[instant, row], self.columns[instant, column]
