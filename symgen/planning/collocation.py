"""Direct collocation: states and torques at nodes as unknowns, by forward dynamics.

For robots whose torques do not determine any motion, because a joint has no drive: inverse dynamics
along a spline would ask for torques there.  The nodes are the ends and midpoints of N segments of
length h = T / N; with z = (q, qd) and f = (qd, qdd(q, qd, tau)) the separated Hermite-Simpson rule
asks of every segment from a over c to b (Kelly 2017, "An introduction to trajectory optimization",
SIAM Review 59(4), eqs. (6.4) and (6.5))

    z_c = (z_a + z_b) / 2 + h / 8 (f_a - f_b)
    z_b = z_a + h / 6 (f_a + 4 f_c + f_b)

and torques are linear in a segment, tau_c = (tau_a + tau_b) / 2, so that they keep their limits
between the nodes.  The unknowns are x = (q_1, qd_1, tau_1, q_2, ..., T).  Limits are bounds of the
unknowns; those of joint wrenches and distances are constraints at the nodes.  First derivatives of
qdd are those of `forward_dynamics_derivatives`; second ones follow from those of the inverse
dynamics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.planning.charts import Chart
from symgen.planning.quantities import Motion, Torques
from symgen.planning.samples import LoadsAt
from symgen.planning.structure import Pattern, pattern
from symgen.planning.task import Task
from symgen.planning.terms import Fault, Sizes
from symgen.planning.transcription import (
    BOUNDS,
    TORQUE,
    Limited,
    Margins,
    limited,
    reach,
    simpson,
    tightened,
)

Array = NDArray[np.float64]

KINDS = 3
"""q, qd, tau at every node."""


class Collocation:
    """The program; `Program` of the solver says what the methods mean."""

    def __init__(
        self,
        task: Task,
        module: Any,
        segments: int,
        loads: Array | None,
        margins: Margins | None = None,
    ) -> None:
        self.task, self.module, self.segments = task, module, segments
        self.margins = margins or {}
        self.n = n = module.n
        self.nodes = 2 * segments + 1
        self.width = KINDS * n
        self.sizes = Sizes(self.nodes, self.width)
        self.given: dict[str, Any] = (
            {"parameters": dict(task.parameters)} if task.parameters else {}
        )
        if loads is not None:
            self.given["loads"] = loads
        self.lower, self.upper = self._bounds()
        self.torques = task.chart.along(Torques(module, task.parameters))
        low, high = task.limits.torque.T
        self.driven = np.flatnonzero(low < high)
        self.per_segment = 4 * n + len(self.driven)
        self.dynamic_rows = self.per_segment * segments
        self.limited = [one for one in limited(task, module) if one.name != TORQUE]
        equal = np.zeros(self.dynamic_rows)
        self.lower_rows, self.upper_rows = (
            np.concatenate([equal, *(self._sides(one, side) for one in self.limited)])
            for side in range(2)
        )
        self.rows = len(self.lower_rows)
        self.quadrature = simpson(self.nodes)
        first = 2 * np.arange(segments) * self.width
        local = np.arange(3 * self.width)
        time = np.full((segments, 1), self.sizes.time)
        self.columns = np.column_stack([first[:, None] + local, time])
        self.jacobian_pattern = self._jacobian_pattern()
        self.hessian_pattern = self._hessian_pattern()
        self.evaluations = 0
        self._known: tuple[bytes, tuple[Array, ...]] | None = None

    @property
    def unknowns(self) -> int:
        """Length of x."""
        return self.sizes.unknowns

    def _bounds(self) -> tuple[Array, Array]:
        limits, n = self.task.limits, self.n
        velocity = self.task.chart.rates(limits.velocity)
        sides = np.concatenate([limits.position, velocity, limits.torque])
        lower, upper = (np.tile(side, (self.nodes, 1)) for side in sides.T)
        if BOUNDS in self.margins:
            states = slice(2 * n)
            margin = self.margins[BOUNDS] * reach(sides[states])
            inner = tightened(lower[:, states], upper[:, states], margin)
            lower[:, states], upper[:, states] = inner
        for state, node in ((self.task.start, 0), (self.task.goal, -1)):
            for values, place in ((state.q, 0), (state.qd, n)):
                asked = np.flatnonzero(~np.isnan(values))
                lower[node, place + asked] = upper[node, place + asked] = values[asked]
        least, most = self.task.time
        return np.append(lower, least), np.append(upper, most)

    # ------------------------------------------------------------------------------- dynamics

    def split(self, x: Array) -> tuple[Array, Array, Array, float]:
        """q, qd, tau at the nodes, (K, n) each, and T."""
        nodes = x[: self.sizes.time].reshape(self.nodes, KINDS, self.n)
        q, qd, tau = (np.ascontiguousarray(nodes[:, kind]) for kind in range(KINDS))
        return q, qd, tau, float(x[self.sizes.time])

    def accelerations(self, x: Array) -> tuple[Array, Array]:
        """qdd (K, n), and its derivatives by (q, qd, tau), (K, n, 3 n); the last are kept."""
        key = x.tobytes()
        if self._known is None or self._known[0] != key:
            self.evaluations += 1
            q, qd, tau, _ = self.split(x)
            self._known = key, self.task.chart.forward(self.module, q, qd, tau, self.given)
        qdd, slopes = self._known[1]
        return qdd, slopes

    # ------------------------------------------------------------------------------ objective

    def objective(self, x: Array) -> float:
        """Time, and integrals of squared torques and accelerations."""
        weights, (_, _, tau, T) = self.task.objective, self.split(x)
        found = weights.time * T + T * float(self.quadrature @ (tau**2 @ weights.torque))
        if np.any(weights.acceleration):
            qdd, _ = self.accelerations(x)
            found += T * float(self.quadrature @ (qdd**2 @ weights.acceleration))
        return float(found)

    def gradient(self, x: Array) -> Array:
        """By all unknowns."""
        weights, (_, _, tau, T) = self.task.objective, self.split(x)
        found = np.zeros(self.unknowns)
        nodes = found[: self.sizes.time].reshape(self.nodes, self.width)
        nodes[:, 2 * self.n :] = 2 * T * self.quadrature[:, None] * tau * weights.torque
        found[-1] = weights.time + float(self.quadrature @ (tau**2 @ weights.torque))
        if np.any(weights.acceleration):
            qdd, slopes = self.accelerations(x)
            factors = 2 * T * self.quadrature[:, None] * qdd * weights.acceleration
            nodes += np.einsum("ki,kij->kj", factors, slopes)
            found[-1] += float(self.quadrature @ (qdd**2 @ weights.acceleration))
        return found

    # ---------------------------------------------------------------------------- constraints

    def constraints(self, x: Array) -> Array:
        """Segment by segment: midpoints of q and qd, ends, midpoints of torques."""
        q, qd, tau, T = self.split(x)
        qdd, _ = self.accelerations(x)
        z, f = np.concatenate([q, qd], axis=1), np.concatenate([qd, qdd], axis=1)
        h = T / self.segments
        a, c, b = slice(0, -1, 2), slice(1, None, 2), slice(2, None, 2)
        middle = z[c] - 0.5 * (z[a] + z[b]) - h / 8 * (f[a] - f[b])
        end = z[b] - z[a] - h / 6 * (f[a] + 4 * f[c] + f[b])
        bent = (tau[c] - 0.5 * (tau[a] + tau[b]))[:, self.driven]
        dynamics = np.concatenate([middle, end, bent], axis=1).ravel()
        motion = self._motion(x)
        return np.concatenate([
            dynamics,
            *((one.quantity.value(motion) / one.scale)[:, one.chosen].ravel()
              for one in self.limited),
        ])  # fmt: skip

    def _jacobian_pattern(self) -> Pattern:
        """Segments with their three nodes and T, then what is limited at the nodes alone."""
        rows = np.arange(self.dynamic_rows).reshape(self.segments, -1, 1)
        shape = (self.segments, self.per_segment, self.columns.shape[1])
        columns = np.broadcast_to(self.columns[:, None, :], shape)
        m = sum(len(one.chosen) for one in self.limited)
        # kind by kind, as constraints are
        starts = self.dynamic_rows + np.cumsum(
            [0, *(self.nodes * len(one.chosen) for one in self.limited)]
        )
        node_rows = [
            start + np.arange(self.nodes * len(one.chosen))
            for start, one in zip(starts, self.limited, strict=False)
        ]
        node_columns = [
            np.repeat(np.arange(self.nodes) * self.width, len(one.chosen)) for one in self.limited
        ]
        every = np.arange(self.width)
        more = (self.nodes * m, self.width)
        at = np.concatenate([np.zeros(0, dtype=np.intp), *node_rows])
        first = np.concatenate([np.zeros(0, dtype=np.intp), *node_columns])
        return pattern(
            (self.rows, self.unknowns),
            np.concatenate(
                [np.broadcast_to(rows, shape).ravel(), np.broadcast_to(at[:, None], more).ravel()]
            ),
            np.concatenate([columns.ravel(), (first[:, None] + every).ravel()]),
        )

    # -------------------------------------------------------------------- limits at the nodes

    def _sides(self, one: Limited, side: int) -> Array:
        """Lower or upper limits at all nodes, scaled."""
        limits = one.limits[one.chosen] / one.scale[one.chosen, None]
        lower, upper = (np.tile(values, (self.nodes, 1)) for values in limits.T)
        if one.name in self.margins:
            lower, upper = tightened(lower, upper, self.margins[one.name])
        return np.ravel((lower, upper)[side])

    def _motion(self, x: Array) -> Motion:
        """The states at the nodes."""
        q, qd, _, _ = self.split(x)
        zero = np.zeros(self.nodes)
        loads = self.given.get("loads")
        if loads is not None:
            loads = np.broadcast_to(loads, (self.nodes, *loads.shape))
        return Motion(q, qd, self.accelerations(x)[0], zero, zero, loads)

    def _along(self, slopes: Array) -> Array:
        """Derivatives of (q, qd, qdd) by (q, qd, tau) at the nodes, (K, 3 n, 3 n)."""
        still = np.broadcast_to(
            np.eye(2 * self.n, 3 * self.n), (self.nodes, 2 * self.n, 3 * self.n)
        )
        return np.concatenate([still, slopes], axis=1)

    def _by_nodes(self, x: Array, one: Limited) -> Array:
        """Derivatives of a limited quantity by the nodes, (K, m, 3 n)."""
        by_state = one.quantity.jacobian(self._motion(x))[1]  # (K, R, m, n)
        count, orders, m, n = by_state.shape
        flat = by_state.transpose(0, 2, 1, 3).reshape(count, m, orders * n)
        along = self._along(self.accelerations(x)[1])[:, : orders * n]
        return np.asarray(flat @ along)

    def _limits_hessian(self, x: Array, multipliers: Array) -> tuple[Array, Array]:
        """Of multipliers . limited quantities: by (q, qd, tau) at fixed slopes of qdd,
        (K, 3 n, 3 n), and the factors (K, n) of qdd in them."""
        n, begin = self.n, self.dynamic_rows
        blocks, factors = np.zeros((self.nodes, 3 * n, 3 * n)), np.zeros((self.nodes, n))
        motion, along = self._motion(x), self._along(self.accelerations(x)[1])
        for one in self.limited:
            end = begin + self.nodes * len(one.chosen)
            weights = np.zeros((self.nodes, one.quantity.size))
            weights[:, one.chosen] = multipliers[begin:end].reshape(self.nodes, -1)
            weights /= one.scale
            second = one.quantity.hessian(motion, weights)
            orders = second.shape[1]
            hessian = second.transpose(0, 1, 3, 2, 4).reshape(self.nodes, orders * n, orders * n)
            part = along[:, : orders * n]
            blocks += part.transpose(0, 2, 1) @ hessian @ part
            if orders == KINDS:
                factors += one.quantity.gradients(motion, weights)[:, 2]
            begin = end
        return blocks, factors

    def _rates(self, x: Array) -> tuple[Array, Array]:
        """f (K, 2 n), and its derivatives by the node, (K, 2 n, 3 n)."""
        _, qd, _, _ = self.split(x)
        qdd, slopes = self.accelerations(x)
        n = self.n
        by_node = np.zeros((self.nodes, 2 * n, self.width))
        by_node[:, np.arange(n), n + np.arange(n)] = 1.0
        by_node[:, n:] = slopes
        return np.concatenate([qd, qdd], axis=1), by_node

    def jacobian(self, x: Array) -> Array:
        """Blocks of segments, (N, rows of one, 9 n + 1)."""
        T, n, w = float(x[-1]), self.n, self.width
        h, state = T / self.segments, np.arange(2 * n)
        f, by_node = self._rates(x)
        blocks = np.zeros((self.segments, self.per_segment, 3 * w + 1))
        nodes = [by_node[0:-1:2], by_node[1::2], by_node[2::2]]
        values = [f[0:-1:2], f[1::2], f[2::2]]
        for place, (middle, end) in enumerate(_WEIGHTS):
            columns = slice(place * w, (place + 1) * w)
            blocks[:, : 2 * n, columns] = -h * middle * nodes[place]
            blocks[:, 2 * n : 4 * n, columns] = -h * end * nodes[place]
            blocks[:, : 2 * n, -1] -= middle * values[place] / self.segments
            blocks[:, 2 * n : 4 * n, -1] -= end * values[place] / self.segments
            blocks[:, state, place * w + state] += (-0.5, 1.0, -0.5)[place]
            blocks[:, 2 * n + state, place * w + state] += (-1.0, 0.0, 1.0)[place]
            bent = 4 * n + np.arange(len(self.driven)), place * w + 2 * n + self.driven
            blocks[:, bent[0], bent[1]] = (-0.5, 1.0, -0.5)[place]
        limits = [
            (self._by_nodes(x, one) / one.scale[:, None])[:, one.chosen].ravel()
            for one in self.limited
        ]
        return self.jacobian_pattern.summed(np.concatenate([blocks.ravel(), *limits]))

    # -------------------------------------------------------------------------------- hessian

    def _hessian_pattern(self) -> Pattern:
        """Upper triangles of the nodes' blocks, and T with all."""
        w, time = self.width, self.sizes.time
        i, j = np.triu_indices(w)
        first = np.arange(self.nodes)[:, None] * w
        every = np.arange(time + 1)
        rows = np.concatenate([(first + i).ravel(), every])
        columns = np.concatenate([(first + j).ravel(), np.full(time + 1, time)])
        return pattern((self.unknowns, self.unknowns), rows, columns)

    def hessian(self, x: Array, weight: float, multipliers: Array) -> Array:
        """Of weight * objective + multipliers . constraints."""
        q, qd, tau, T = self.split(x)
        weights, n = self.task.objective, self.n
        qdd, slopes = self.accelerations(x)
        dynamic = multipliers[: self.dynamic_rows].reshape(self.segments, -1)
        ranked = dynamic[:, : 4 * n].reshape(-1, 2, 2 * n)
        along = np.zeros((self.nodes, 2 * n))  # of f, by h
        for place, (middle, end) in enumerate(_WEIGHTS):
            along[place : self.nodes - 2 + place : 2] -= middle * ranked[:, 0] + end * ranked[:, 1]
        along /= self.segments  # of f, by T
        on_squares = weight * self.quadrature[:, None] * weights.acceleration
        factors = T * along[:, n:] + 2 * T * on_squares * qdd
        of_limits, more = self._limits_hessian(x, multipliers)
        blocks = of_limits + self._second((q, qd, qdd), slopes, factors + more)
        blocks += np.einsum("ki,kia,kib->kab", 2 * T * on_squares, slopes, slopes)
        torque = np.arange(2 * n, 3 * n)
        on_torques = 2 * weight * self.quadrature[:, None] * weights.torque
        blocks[:, torque, torque] += T * on_torques
        mixed = np.einsum("ki,kij->kj", along[:, n:] + 2 * on_squares * qdd, slopes)
        mixed[:, n : 2 * n] += along[:, :n]
        mixed[:, 2 * n :] += on_torques * tau
        i, j = np.triu_indices(self.width)
        return self.hessian_pattern.summed(
            np.concatenate([blocks[:, i, j].ravel(), mixed.ravel(), [0.0]])
        )

    def _second(self, state: tuple[Array, Array, Array], slopes: Array, factors: Array) -> Array:
        """Of factors . qdd by (q, qd, tau) of the nodes, (K, 3 n, 3 n), where the state is (q, qd,
        qdd) and `slopes` are those of qdd.

        tau(q, qd, qdd(q, qd, tau)) is tau: twice differentiated, with the multipliers M^-1 factors,
        it says that factors . qdd has the Hessian of -multipliers . tau along (q, qd, tau).
        """
        n, nodes = self.n, len(factors)
        multipliers = np.einsum("ki,kij->kj", factors, slopes[..., 2 * n :])
        instants = np.zeros(nodes)
        motion = Motion(*state, instants, instants, self.given.get("loads"))
        blocks = self.torques.hessian(motion, multipliers)
        hessian = blocks.transpose(0, 1, 3, 2, 4).reshape(nodes, 3 * n, 3 * n)
        along = self._along(slopes)
        return np.asarray(-(along.transpose(0, 2, 1) @ hessian @ along))

    # ---------------------------------------------------------------------------------- rest

    def broken(self, x: Array, least: float) -> list[Fault]:
        """As of `Problem`."""
        values = self.constraints(x)
        g = np.abs(values[: self.dynamic_rows]).reshape(self.segments, -1)[:, : 4 * self.n]
        rows = g.reshape(-1, 2, 2, self.n).max(axis=(0, 1))
        found = [
            (f"dynamics of {name} ({kind})", float(rows[k, i]))
            for k, kind in enumerate(("position", "velocity"))
            for i, name in enumerate(self.module.coordinate_names)
        ]
        over = np.maximum(self.lower_rows - values, values - self.upper_rows)[self.dynamic_rows :]
        for one in self.limited:
            m = len(one.chosen)
            worst = over[: self.nodes * m].reshape(self.nodes, m).max(axis=0)
            over = over[self.nodes * m :]
            found += [
                (f"{one.name} of {one.quantity.labels[k]}", float(amount))
                for k, amount in zip(one.chosen, worst, strict=True)
            ]
        listed = sorted(found, key=lambda item: (-item[1], item[0]))
        return [Fault(name, most, f"off by {most:.2g}") for name, most in listed if most > least]

    def finer(self, x: Array) -> Array:
        """The unknowns on twice as many segments, from these."""
        path = self.path(x)
        s = np.linspace(0.0, 1.0, 2 * (self.nodes - 1) + 1)
        return np.append(_nodes(path, self.module, self.task.parameters, s), x[-1])

    def path(self, x: Array) -> Nodes:
        """The motion that the unknowns stand for."""
        q, qd, tau, T = self.split(x)
        qdd, loads = self.accelerations(x)[0], self.given.get("loads")
        return Nodes(q, qd, qdd, tau, T, loads, self.task.chart)


_WEIGHTS = ((1 / 8, 1 / 6), (0.0, 4 / 6), (-1 / 8, 1 / 6))
"""Of f_a, f_c, f_b, times h: in the rule of the midpoint, and in that of the end."""


def _nodes(path: Nodes, module: Any, parameters: Mapping[str, float], s: Array) -> Array:
    tau = path.torques(module, parameters, s)
    return np.stack([path.rate(0, s), path.rate(1, s), tau], axis=1).ravel()


@dataclass(frozen=True)
class Nodes:
    """Cubics through the nodes, whose rates are parabolas; torques are linear in a segment."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array
    T: float
    constant_loads: Array | None
    chart: Chart

    @property
    def segments(self) -> int:
        """Number of segments, two nodes each."""
        return (len(self.q) - 1) // 2

    @property
    def pieces(self) -> int:
        """Polynomials: those of the segments."""
        return self.segments

    @property
    def degree(self) -> int:
        """Of the coordinates."""
        return 3

    @property
    def control(self) -> Array:
        """q at the nodes, (K, n)."""
        return self.q

    @property
    def knots(self) -> Array:
        """The times of the nodes (s)."""
        return np.linspace(0.0, self.T, len(self.q))

    @property
    def loads(self) -> LoadsAt | None:
        """The same at every instant."""
        loads = self.constant_loads
        if loads is None:
            return None
        return lambda s, _T: (np.broadcast_to(loads, (len(s), *loads.shape)), None)

    def rate(self, order: int, s: Array) -> Array:
        """q, qd or qdd, (K, n)."""
        if order == 2:
            return self._parabola(self.qdd, s)
        return self._integral((self.q, self.qd)[order], (self.qd, self.qdd)[order], s)

    def torques(self, module: Any, parameters: Mapping[str, float], s: Array) -> Array:
        """The torques at shares of T, (K, n): those of the plan."""
        return self._parabola(self.tau, s)

    def motion(self, s: Array) -> Motion:
        """The robot's at shares of T."""
        return self.chart.motion(self.at(s))

    def at(self, s: Array) -> Motion:
        """That of the cubics at shares of T."""
        loads = None if self.loads is None else self.loads(s, self.T)[0]
        q, qd, qdd = (self.rate(order, s) for order in range(3))
        return Motion(q, qd, qdd, s * self.T, s, loads)

    def _place(self, s: Array) -> tuple[NDArray[np.intp], Array]:
        """Number of the segment's first node, and where in the segment, in [0, 1]."""
        segment = np.clip((s * self.segments).astype(int), 0, self.segments - 1)
        return 2 * segment, (s * self.segments - segment)[:, None]

    def _parabola(self, values: Array, s: Array) -> Array:
        k, x = self._place(s)
        a, c, b = values[k], values[k + 1], values[k + 2]
        return np.asarray(a + x * (-3 * a + 4 * c - b) + x**2 * (2 * a - 4 * c + 2 * b))

    def _integral(self, values: Array, rates: Array, s: Array) -> Array:
        k, x = self._place(s)
        h = self.T / self.segments
        a, c, b = rates[k], rates[k + 1], rates[k + 2]
        parts = x * a + x**2 / 2 * (-3 * a + 4 * c - b) + x**3 / 3 * (2 * a - 4 * c + 2 * b)
        return np.asarray(values[k] + h * parts)


def guess(
    task: Task, program: Collocation, start: Array, goal: Array, random: np.random.Generator | None
) -> Array:
    """A motion on a line from start to goal, with a random detour, and the torques it needs."""
    s = np.linspace(0.0, 1.0, program.nodes)[:, None]
    T = float(np.clip(task.guess.T or 2.0, *task.time))
    q = start + (3 * s**2 - 2 * s**3) * (goal - start)
    qd = 6 * s * (1 - s) * (goal - start) / T
    if random is not None:
        for k in range(1, 4):
            size = random.normal(size=program.n) / k
            q = q + size * np.sin(np.pi * k * s)
            qd = qd + size * np.pi * k * np.cos(np.pi * k * s) / T
    qdd = np.gradient(qd, s[:, 0] * T, axis=0)
    instants = np.ravel(s) * T
    motion = Motion(q, qd, qdd, instants, np.ravel(s), program.given.get("loads"))
    tau = program.torques.value(motion)
    return np.append(np.stack([q, qd, tau], axis=1), T)
