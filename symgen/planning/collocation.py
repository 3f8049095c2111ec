"""Direct collocation: states and torques at nodes as unknowns, by forward dynamics.

It applies to robots with undriven joints, for which inverse dynamics along a spline would require
torques.  The nodes are the ends and midpoints of N segments of length h = T / N; with z = (q, qd)
and f = (qd, qdd(q, qd, tau)) the separated Hermite-Simpson rule requires of every segment from a
over c to b (Kelly 2017, "An introduction to trajectory optimization", SIAM Review 59(4), eqs. (6.4)
and (6.5))

    z_c = (z_a + z_b) / 2 + h / 8 (f_a - f_b)
    z_b = z_a + h / 6 (f_a + 4 f_c + f_b)

and torques are linear in a segment, tau_c = (tau_a + tau_b) / 2, so that they keep limits between
nodes.  The unknowns are x = (q_1, qd_1, tau_1, q_2, ..., T): nodes are the control
points of the program, with 3 n coordinates.  Limits are bounds of the unknowns; those of joint
wrenches and distances are constraints at the nodes.  First derivatives of qdd are those of
`forward_dynamics_derivatives`; second ones follow from those of the inverse dynamics.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from symgen.planning.loads import loads_at
from symgen.planning.problem import Entries, Iterate, Problem, Sizes, Term, Time, once
from symgen.planning.quantities import MotionSamples, Quantity, Torques, options_of
from symgen.planning.starting import coordinates
from symgen.planning.task import Task
from symgen.planning.trajectories import Nodes, Trajectory
from symgen.planning.transcription import (
    BOUNDS,
    TORQUE,
    Margins,
    limited,
    reach,
    simpson,
    tightened,
)
from symgen.support.arrays import Array, Index

KINDS = 3
"""q, qd, tau at every node."""
_WEIGHTS = ((1 / 8, 1 / 6), (0.0, 4 / 6), (-1 / 8, 1 / 6))
"""Weights of f_a, f_c, f_b, times h: in the rule of the midpoint, and in that of the end."""


def collocate(task: Task, module: Any, segments: int, margins: Margins | None = None) -> Problem:
    """Return the program on so many segments; bounds and limits are tightened by `margins`."""
    n, margins = module.n, margins or {}
    sizes = Sizes(2 * segments + 1, KINDS * n)
    dynamics, objective = Dynamics(task, module), task.objective
    driven = np.flatnonzero(task.limits.torque[:, 0] < task.limits.torque[:, 1])
    names = module.coordinate_names
    labels = 2 * tuple(f"{name} ({z})" for z in ("position", "velocity") for name in names)
    labels += tuple(f"{names[k]} (torque)" for k in driven)
    zero = np.zeros(segments * len(labels))
    terms: list[Term] = [
        Time(sizes, "time", weight=objective.time),
        Segments(
            sizes, "dynamics", zero, zero, labels, dynamics=dynamics, segments=segments,
            driven=driven, torque=objective.torque, acceleration=objective.acceleration,
        ),
    ]  # fmt: skip
    for quantity in limited(task, module):
        if quantity.name == TORQUE:
            continue
        chosen, scale = quantity.chosen, quantity.scale
        sides = quantity.limits[chosen].T / scale[chosen]
        lower, upper = (np.tile(side, (sizes.controls, 1)) for side in sides)
        if quantity.name in margins:
            lower, upper = tightened(lower, upper, margins[quantity.name])
        labels = tuple(quantity.quantity.labels[k] for k in chosen)
        terms.append(
            NodeLimits(
                sizes, quantity.name, lower.ravel(), upper.ravel(), labels, dynamics=dynamics,
                quantity=quantity.quantity, chosen=chosen, scale=scale,
            )
        )  # fmt: skip
    return Problem(sizes, terms, *_bounds(task, sizes.controls, n, margins))


def _bounds(task: Task, nodes: int, n: int, margins: Margins) -> tuple[Array, Array]:
    """Return bounds of the nodes, and of T."""
    limits = task.limits
    velocity = task.chart.rates(limits.velocity)
    sides = np.concatenate([limits.position, velocity, limits.torque])
    lower, upper = (np.tile(side, (nodes, 1)) for side in sides.T)
    if BOUNDS in margins:
        states = slice(2 * n)
        margin = margins[BOUNDS] * reach(sides[states])
        inner = tightened(lower[:, states], upper[:, states], margin)
        lower[:, states], upper[:, states] = inner
    for state, node in ((task.start, 0), (task.goal, -1)):
        for values, first in ((state.q, 0), (state.qd, n)):
            fixed = np.flatnonzero(~np.isnan(values))
            lower[node, first + fixed] = upper[node, first + fixed] = values[fixed]
    least, most = task.time
    return np.append(lower, least), np.append(upper, most)


@dataclass(frozen=True)
class States:
    """States at K nodes: motion, torques (K, n), slopes of qdd by (q, qd, tau) (K, n, 3 n)."""

    motion: MotionSamples
    tau: Array
    slopes: Array

    @cached_property
    def along(self) -> Array:
        """Derivatives of (q, qd, qdd) by (q, qd, tau), (K, 3 n, 3 n)."""
        count, n, _ = self.slopes.shape
        still = np.broadcast_to(np.eye(2 * n, 3 * n), (count, 2 * n, 3 * n))
        return np.concatenate([still, self.slopes], axis=1)


class Dynamics:
    """Forward dynamics at nodes, under loads that are constant."""

    def __init__(self, task: Task, module: Any) -> None:
        self.task, self.module = task, module
        self.torques = task.chart.along(Torques(module, task.parameters))
        self.keywords = options_of(task.parameters)
        loads = loads_at(task.loads, module.n_loads, task.parameters)
        self.loads = None if loads is None else loads(np.zeros(1), 1.0)[0][0]
        if self.loads is not None:
            self.keywords["loads"] = self.loads

    def motion(self, q: Array, qd: Array, qdd: Array) -> MotionSamples:
        """Return the motion through states (K, n) each; nothing in it depends on time."""
        loads = self.loads
        if loads is not None:
            loads = np.broadcast_to(loads, (len(q), *loads.shape))
        return MotionSamples.of(q, qd, qdd, loads)

    def states(self, nodes: Array) -> States:
        """Return the states at nodes (K, 3 n)."""
        parts = nodes.reshape(len(nodes), KINDS, -1)
        q, qd, tau = (np.ascontiguousarray(parts[:, kind]) for kind in range(KINDS))
        qdd, slopes = self.task.chart.forward(self.module, q, qd, tau, self.keywords)
        return States(self.motion(q, qd, qdd), tau, slopes)

    @once
    def at(self, at: Iterate) -> States:
        """Return the states of an iterate."""
        return self.states(at.control)

    def curvature(self, states: States, factors: Array) -> Array:
        """Return second derivatives of factors (K, n) . qdd by (q, qd, tau), (K, 3 n, 3 n).

        tau(q, qd, qdd(q, qd, tau)) is tau: twice differentiated, with the multipliers M^-1 factors,
        it says that factors . qdd has the Hessian of -multipliers . tau along (q, qd, tau).
        """
        n = factors.shape[1]
        multipliers = np.einsum("ki,kij->kj", factors, states.slopes[..., 2 * n :])
        hessian = _flat(self.torques.hessian(states.motion, multipliers))
        along = states.along
        return np.asarray(-(along.transpose(0, 2, 1) @ hessian @ along))


def _flat(blocks: Array) -> Array:
    """Return second derivatives (K, R, R, n, n) as matrices, (K, R n, R n)."""
    count, orders, _, n, _ = blocks.shape
    return blocks.transpose(0, 1, 3, 2, 4).reshape(count, orders * n, orders * n)


def _triangles(sizes: Sizes) -> Entries:
    """Return positions of the upper triangles of the blocks of nodes."""
    i, j = np.triu_indices(sizes.n)
    first = np.arange(sizes.controls)[:, None] * sizes.n
    return (first + i).ravel(), (first + j).ravel()


@dataclass(kw_only=True)
class Segments(Term):
    """The rules of all segments; integrals of squared torques and accelerations.

    Rows, segment by segment: midpoints of q and qd, their ends, midpoints of `driven` torques.
    """

    dynamics: Dynamics
    segments: int
    driven: Index
    torque: Array
    acceleration: Array

    def __post_init__(self) -> None:
        self.quadrature = simpson(self.sizes.controls)

    @property
    def n(self) -> int:
        """Number of coordinates of the robot."""
        return self.sizes.n // KINDS

    def fault(self, row: int, over: float) -> str:
        """Return the error."""
        return f"off by {over:.2g}"

    def objective(self, at: Iterate) -> float:
        """Return T times the integrals over s."""
        states = self.dynamics.at(at)
        squares = states.tau**2 @ self.torque
        if np.any(self.acceleration):
            squares = squares + states.motion.qdd**2 @ self.acceleration
        return at.T * float(self.quadrature @ squares)

    def gradient(self, at: Iterate, into: Array) -> None:
        """Add the derivatives by the nodes and T to `into` (unknowns,)."""
        states, nodes = self.dynamics.at(at), into[: self.sizes.time].reshape(-1, self.sizes.n)
        factors = 2 * at.T * self.quadrature[:, None]
        nodes[:, 2 * self.n :] += factors * states.tau * self.torque
        if np.any(self.acceleration):
            by_qdd = factors * states.motion.qdd * self.acceleration
            nodes += np.einsum("ki,kij->kj", by_qdd, states.slopes)
        into[self.sizes.time] += self.objective(at) / at.T

    def value(self, at: Iterate) -> Array:
        """Return the errors of the rules."""
        states = self.dynamics.at(at)
        tau, motion = states.tau, states.motion
        z = np.concatenate([motion.q, motion.qd], axis=1)
        f = np.concatenate([motion.qd, motion.qdd], axis=1)
        h = at.T / self.segments
        a, c, b = slice(0, -1, 2), slice(1, None, 2), slice(2, None, 2)
        middle = z[c] - 0.5 * (z[a] + z[b]) - h / 8 * (f[a] - f[b])
        end = z[b] - z[a] - h / 6 * (f[a] + 4 * f[c] + f[b])
        linear = (tau[c] - 0.5 * (tau[a] + tau[b]))[:, self.driven]
        return np.concatenate([middle, end, linear], axis=1).ravel()

    def jacobian_positions(self) -> Entries:
        """Return every segment with its three nodes and T."""
        first = 2 * np.arange(self.segments)[:, None] * self.sizes.n
        time = np.full((self.segments, 1), self.sizes.time)
        columns = np.column_stack([first + np.arange(3 * self.sizes.n), time])
        shape = (self.segments, len(self.labels), columns.shape[1])
        rows = np.arange(len(self.lower)).reshape(self.segments, -1, 1)
        columns = columns[:, None, :]
        return np.broadcast_to(rows, shape).ravel(), np.broadcast_to(columns, shape).ravel()

    def jacobian(self, at: Iterate) -> Array:
        """Return blocks of segments, (N, rows of one, 9 n + 1)."""
        states, n, w = self.dynamics.at(at), self.n, self.sizes.n
        h, state = at.T / self.segments, np.arange(2 * n)
        f = np.concatenate([states.motion.qd, states.motion.qdd], axis=1)
        by_node = states.along[:, n:]  # of f
        blocks = np.zeros((self.segments, len(self.labels), 3 * w + 1))
        for k, (middle, end) in enumerate(_WEIGHTS):
            columns, nodes = slice(k * w, (k + 1) * w), slice(k, self.sizes.controls - 2 + k, 2)
            blocks[:, : 2 * n, columns] = -h * middle * by_node[nodes]
            blocks[:, 2 * n : 4 * n, columns] = -h * end * by_node[nodes]
            blocks[:, : 2 * n, -1] -= middle * f[nodes] / self.segments
            blocks[:, 2 * n : 4 * n, -1] -= end * f[nodes] / self.segments
            blocks[:, state, k * w + state] += (-0.5, 1.0, -0.5)[k]
            blocks[:, 2 * n + state, k * w + state] += (-1.0, 0.0, 1.0)[k]
            rows = 4 * n + np.arange(len(self.driven))
            blocks[:, rows, k * w + 2 * n + self.driven] = (-0.5, 1.0, -0.5)[k]
        return blocks.ravel()

    def hessian_positions(self) -> Entries:
        """Return upper triangles of the nodes' blocks, and T with every node."""
        rows, columns = _triangles(self.sizes)
        time = self.sizes.time
        return np.append(rows, np.arange(time)), np.append(columns, np.full(time, time))

    def hessian(self, at: Iterate, weight: float, multipliers: Array) -> Array:
        """Return second derivatives by the nodes, and mixed ones by T, (entries,)."""
        states, n, T = self.dynamics.at(at), self.n, at.T
        rules = multipliers.reshape(self.segments, -1)[:, : 4 * n].reshape(-1, 2, 2 * n)
        by_f = np.zeros((self.sizes.controls, 2 * n))  # mixed derivatives by f and h
        for k, (middle, end) in enumerate(_WEIGHTS):
            nodes = slice(k, self.sizes.controls - 2 + k, 2)
            by_f[nodes] -= middle * rules[:, 0] + end * rules[:, 1]
        by_f /= self.segments  # by f and T
        squares = 2 * weight * self.quadrature[:, None] * self.acceleration
        by_qdd = by_f[:, n:] + squares * states.motion.qdd
        blocks = self.dynamics.curvature(states, T * by_qdd)
        blocks += np.einsum("ki,kia,kib->kab", T * squares, states.slopes, states.slopes)
        torque = np.arange(2 * n, 3 * n)
        on_torques = 2 * weight * self.quadrature[:, None] * self.torque
        blocks[:, torque, torque] += T * on_torques
        mixed = np.einsum("ki,kij->kj", by_qdd, states.slopes)
        mixed[:, n : 2 * n] += by_f[:, :n]
        mixed[:, 2 * n :] += on_torques * states.tau
        i, j = np.triu_indices(self.sizes.n)
        return np.concatenate([blocks[:, i, j].ravel(), mixed.ravel()])


@dataclass(kw_only=True)
class NodeLimits(Term):
    """Limits of entries `chosen` of a quantity at the nodes, divided by `scale` (m,)."""

    dynamics: Dynamics
    quantity: Quantity
    chosen: Index
    scale: Array

    def value(self, at: Iterate) -> Array:
        """Return the limited entries, node by node, (rows,)."""
        values = self.quantity.value(self.dynamics.at(at).motion) / self.scale
        return np.ravel(values[:, self.chosen])

    def jacobian_positions(self) -> Entries:
        """Return every row with its node."""
        m, w = len(self.chosen), self.sizes.n
        rows = np.arange(len(self.lower)).repeat(w)
        first = np.repeat(np.arange(self.sizes.controls) * w, m)
        return rows, (first[:, None] + np.arange(w)).ravel()

    def jacobian(self, at: Iterate) -> Array:
        """Return derivatives by the node, by the chain rule."""
        states = self.dynamics.at(at)
        by_state = self.quantity.jacobian(states.motion)[1]  # (K, R, m, n)
        count, orders, m, n = by_state.shape
        flat = by_state.transpose(0, 2, 1, 3).reshape(count, m, orders * n)
        rows = flat @ states.along[:, : orders * n] / self.scale[:, None]
        return np.ravel(rows[:, self.chosen])

    def hessian_positions(self) -> Entries:
        """Return upper triangles of the nodes' blocks."""
        return _triangles(self.sizes)

    def hessian(self, at: Iterate, weight: float, multipliers: Array) -> Array:
        """Return second derivatives by the nodes, (entries,)."""
        states, count = self.dynamics.at(at), self.sizes.controls
        weights = np.zeros((count, self.quantity.size))
        weights[:, self.chosen] = multipliers.reshape(count, -1)
        weights /= self.scale
        hessian = _flat(self.quantity.hessian(states.motion, weights))
        along = states.along[:, : hessian.shape[1]]
        blocks = along.transpose(0, 2, 1) @ hessian @ along
        if self.quantity.orders == KINDS:
            by_qdd = self.quantity.gradients(states.motion, weights)[:, 2]
            blocks += self.dynamics.curvature(states, by_qdd)
        i, j = np.triu_indices(self.sizes.n)
        return np.ravel(blocks[:, i, j])


def nodes_of(task: Task, module: Any, x: Array) -> Nodes:
    """Return the motion of the unknowns x (unknowns,)."""
    dynamics = Dynamics(task, module)
    states = dynamics.states(x[:-1].reshape(-1, KINDS * module.n))
    q, qd, qdd = states.motion.q, states.motion.qd, states.motion.qdd
    return Nodes(q, qd, qdd, states.tau, float(x[-1]), dynamics.loads, task.chart)


def finer(task: Task, module: Any, path: Trajectory) -> Array:
    """Return the unknowns of a motion on twice as many segments."""
    s = np.linspace(0.0, 1.0, 4 * path.profile.segments + 1)
    tau = path.torques(module, task.parameters, s)
    return np.append(np.stack([path.rate(0, s), path.rate(1, s), tau], axis=1), path.T)


def guess(task: Task, module: Any, segments: int, random: np.random.Generator | None) -> Array:
    """Guess a motion on a line from start to goal, with a random detour, and its torques."""
    start = coordinates(task, module, task.start, None, None)
    goal = coordinates(task, module, task.goal, start, None)
    s = np.linspace(0.0, 1.0, 2 * segments + 1)[:, None]
    T = float(np.clip(task.guess.T or 2.0, *task.time))
    q = start + (3 * s**2 - 2 * s**3) * (goal - start)
    qd = 6 * s * (1 - s) * (goal - start) / T
    if random is not None:
        for k in range(1, 4):
            size = random.normal(size=module.n) / k
            q = q + size * np.sin(np.pi * k * s)
            qd = qd + size * np.pi * k * np.cos(np.pi * k * s) / T
    qdd = np.gradient(qd, s[:, 0] * T, axis=0)
    dynamics = Dynamics(task, module)
    tau = dynamics.torques.value(dynamics.motion(q, qd, qdd))
    return np.append(np.stack([q, qd, tau], axis=1), T)
