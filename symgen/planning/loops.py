"""Loops and relations of a mechanism: rows that are 0 by multipliers, which are unknown.

A plan of a mechanism is one of its tree cut open.  With rows c, J = dc/dq and multipliers x

    tau = M qdd + h - J^T x,    d(J^T x)/dq = H,  the second derivatives of x . c,

and second derivatives of v . J^T x are T(v, e_j, e_k), T the third derivatives of x . c.  Those are
polarized: of qdd = 0 the second rate of x . c is qd . H qd, its derivative by q_j T(qd, qd, e_j),

    T(v, e_j, e_k) = (T(v + e_k, v + e_k, e_j) - T(v - e_k, v - e_k, e_j)) / 4.

Of rows that depend on one another where the loops are closed, such as those of planar mechanisms
that are always 0, a plan has as many as are independent; the multipliers of the others are 0.

States at the ends name driven coordinates.  The others follow from the initial positions of the
model in steps, so that the mechanism stays on its branch and turns as often as its drives do.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from symgen.errors import RequestError
from symgen.planning.problem import percent
from symgen.planning.quantities import MotionSamples, Parameters, Quantity, options_of
from symgen.planning.task import SIX, Closure, State, Task
from symgen.runtime.calls import LOADED
from symgen.runtime.closure import RANK, holdable, row_sizes
from symgen.runtime.configuration import configuration_of
from symgen.support.arrays import Array

STEP = 0.1
"""Largest step of a held coordinate (rad, m) from one closed configuration to the next."""
OF_TREES = {"inverse_dynamics_vjp", "joint_wrenches", "joint_wrench_derivatives"}
"""Functions of trees that multipliers have no part in."""
_TRIES, _NEAR = 12, 0.3
_STEPS, _NEARLY = 4, 1e-9
"""Newton steps from a motion between its instants to closed loops, and their error there."""


class Rows(Quantity):
    """Rows of a mechanism, (K, m)."""

    orders = nonlinear = 1

    def __init__(self, module: Any, parameters: Parameters, closure: Closure) -> None:
        super().__init__(module, parameters)
        self.labels, self.rows = closure.labels, closure.rows

    def value(self, motion: MotionSamples) -> Array:
        """Return the rows, (..., K, m)."""
        return np.asarray(self.module.constraints(motion.q, **self.keywords)[..., self.rows])

    def jacobian(self, motion: MotionSamples) -> tuple[Array, Array]:
        """Return the rows, and J (..., K, 1, m, n)."""
        J = self.module.constraint_jacobian(motion.q, **self.keywords)[..., self.rows, :]
        return self.value(motion), J[..., None, :, :]

    def hessian(self, motion: MotionSamples, multipliers: Array) -> Array:
        """Return second derivatives of multipliers (K, m) . rows, (K, 1, 1, n, n)."""
        x = self.module.of_all(multipliers)
        H = self.module.constraint_torque_derivatives(motion.q, x, **self.keywords)[1]
        return np.asarray(0.5 * (H + H.swapaxes(-1, -2))[:, None, None])


class Opened:
    """A mechanism as its tree, with multipliers of its rows behind the loads of the model.

    Everything else is that of the `module`.  Accelerations (`forward_dynamics`) are those of the
    mechanism, whatever the multipliers.
    """

    def __init__(self, module: Any) -> None:
        self.module = module
        samples = _closed_near(module)
        J = np.array([module.constraint_jacobian(q) for q in samples])
        J /= row_sizes(module._row_units, J)[..., None]
        rows = independent_columns(J.transpose(0, 2, 1))
        names = tuple(module.constraint_names[k] for k in rows)
        self.closure = Closure(names, np.array(rows, dtype=int), module.n_loads)
        self.n_loads = module.n_loads - -len(rows) // SIX
        self.functions = frozenset(module.functions) - OF_TREES
        coupled = np.abs(J[:, rows]).max(axis=0) > RANK
        sparsity = np.asarray(module.derivative_sparsity, dtype=bool)
        self.derivative_sparsity = sparsity | (coupled.T @ coupled)
        self.initial, self.drives = samples[0], self._driven(J[-1])

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.module, name)
        if name not in LOADED:
            return value

        def of_tree(*arguments: Any, loads: Any = None, **options: Any) -> Any:
            return value(*arguments, **options, **self.split(loads)[0])

        return of_tree

    def split(self, loads: Any) -> tuple[dict[str, Any], Array]:
        """Return loads of the model as an option, and multipliers of all rows, (..., m)."""
        m, first = self.module.n_constraints, self.module.n_loads
        if loads is None:
            return {}, np.zeros(m)
        flat = loads[..., first:, :].reshape(*loads.shape[:-2], -1)
        acting = {"loads": loads[..., :first, :]} if first else {}
        return acting, self.of_all(flat[..., : len(self.closure.rows)])

    def of_all(self, x: Array) -> Array:
        """Return multipliers of all rows (..., m), 0 of those that depend on others."""
        full = np.zeros((*x.shape[:-1], self.module.n_constraints))
        full[..., self.closure.rows] = x
        return full

    def inverse_dynamics(
        self, q: Array, qd: Array, qdd: Array, *, loads: Any = None, **options: Any
    ) -> Array:
        """Return torques (..., n): M qdd + h - J^T x."""
        acting, x = self.split(loads)
        J = self.module.constraint_jacobian(q, **options)
        tau = self.module.inverse_dynamics(q, qd, qdd, **options, **acting)
        return np.asarray(tau - (x[..., None, :] @ J)[..., 0, :])

    def inverse_dynamics_derivatives(
        self, q: Array, qd: Array, qdd: Array, *, loads: Any = None, **options: Any
    ) -> tuple[Array, ...]:
        """Return torques and their derivatives by q, qd, qdd, (..., n, n) each."""
        acting, x = self.split(loads)
        result = self.module.inverse_dynamics_derivatives(q, qd, qdd, **options, **acting)
        p, H = self.module.constraint_torque_derivatives(q, x, **options)
        return result[0] - p, result[1] - H, *result[2:]

    def inverse_dynamics_load_derivatives(self, q: Array, **options: Any) -> Array:
        """Return derivatives by loads and multipliers, (..., n, n_loads, 6)."""
        J = self.module.constraint_jacobian(q, **options)[..., self.closure.rows, :]
        first, shape = self.module.n_loads, (*J.shape[:-2], self.module.n)
        slopes = np.zeros((*shape, self.n_loads * SIX))
        if first:
            acting = self.module.inverse_dynamics_load_derivatives(q, **options)
            slopes[..., : first * SIX] = acting.reshape(*shape, -1)
        slopes[..., first * SIX :][..., : J.shape[-2]] = -J.swapaxes(-1, -2)
        return slopes.reshape(*shape, -1, SIX)

    @property
    def inverse_dynamics_hessian(self) -> Any:
        """Second derivatives of v . tau; None where the module or a chart has none of its own."""
        exact = getattr(self.module, "inverse_dynamics_hessian", None)
        return None if exact is None or self.module.nq != self.module.n else self._hessian

    def _hessian(
        self, q: Array, qd: Array, qdd: Array, v: Array, *, loads: Any = None, **options: Any
    ) -> tuple[Array, ...]:
        acting, x = self.split(loads)
        q_q, *blocks = self.module.inverse_dynamics_hessian(q, qd, qdd, v, **options, **acting)
        size = np.linalg.norm(v, axis=-1, keepdims=True)
        unit, e = v / np.where(size > 0, size, 1.0), np.eye(self.module.n)[:, None]
        steps = np.concatenate([unit + e, unit - e])  # (2 n, K, n)
        _, by_q, _ = self.module.constraint_acceleration_derivatives(
            np.broadcast_to(q, steps.shape), steps, np.zeros_like(steps), **options
        )
        plus, minus = np.split((x[..., None, :] @ by_q)[..., 0, :], 2)
        T = (0.25 * size * (plus - minus)).transpose(1, 0, 2)
        return q_q - 0.5 * (T + T.swapaxes(-1, -2)), *blocks

    def forward_dynamics(
        self, q: Array, qd: Array, tau: Array, *, loads: Any = None, **options: Any
    ) -> Array:
        """Return accelerations where the loops stay closed, (..., n)."""
        acting = self.split(loads)[0]
        return np.asarray(
            self.module.constrained_forward_dynamics(q, qd, tau, **options, **acting).qdd
        )

    # ------------------------------------------------------------------------- closing

    def _driven(self, J: Array) -> list[int]:
        """Return coordinates, drives first, that determine the others where J (m, n) does."""
        actuated = np.array(self.module.actuated)
        order = [*np.flatnonzero(actuated), *np.flatnonzero(~actuated)]
        return np.flatnonzero(holdable(J, order)).tolist()

    def assembled(self, q: Array, held: Sequence[int], options: Mapping[str, Any]) -> Array:
        """Close the loops from q (n,) with coordinates held; ValueError where they do not."""
        names = [self.module.coordinate_names[k] for k in held]
        return np.asarray(self.module.assemble(q, hold=names, **options))

    def followed(
        self, q: Array, goal: Array, held: Sequence[int], options: Mapping[str, Any]
    ) -> Array:
        """Move held coordinates from closed q (n,) to those of a goal, the others following.

        ValueError where the loops open on the way.
        """
        far = (goal - q)[list(held)]
        count = max(1, int(np.ceil(np.abs(far).max(initial=0.0) / STEP)))
        at = q
        for share in np.arange(1, count + 1) / count:
            at = at.copy()
            at[list(held)] = q[list(held)] + share * far
            at = self.assembled(at, held, options)
        return at

    def opens_on_the_way(self, task: Task) -> str:
        """Return where the loops open as drives move straight from start to goal; "" nowhere."""
        start, goal = task.start.q, task.goal.q
        if np.isnan([start, goal]).any():
            return ""
        end, share, options = start, 0.0, options_of(task.parameters)
        try:
            for share in np.linspace(0.05, 1.0, 20):
                end = self.followed(end, start + share * (goal - start), self.drives, options)
            far = int(np.abs(end - goal).argmax())
            name, words = self.module.coordinate_names[far], ""
            if abs(end[far] - goal[far]) > STEP:
                words = f"{name} gets to {end[far]:.4g}, on another branch than the goal"
        except ValueError as error:
            words = reason(error).replace("there", f"at {percent(share)} of the way")
        names = ", ".join(self.module.coordinate_names[k] for k in self.drives)
        return words and f"as {names} moves straight from start to goal, {words}"

    def completed(self, state: State, options: Mapping[str, Any]) -> State:
        """Return a state with the coordinates and velocities that those it names determine.

        ValueError or LinAlgError where the loops do not close.
        """
        named = np.flatnonzero(~np.isnan(state.q)).tolist()
        if not named:
            return state
        start = self.assembled(self.initial, (), options)
        try:
            q = self.followed(start, state.q, named, options)
        except ValueError:  # on the way
            try:
                q = self.assembled(np.where(np.isnan(state.q), start, state.q), named, options)
            except ValueError:  # by name the message says where the branch ends
                names = self.module.coordinate_names
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)
                    self.module.assemble({names[k]: state.q[k] for k in named}, **options)
                raise
        J = self.module.constraint_jacobian(q, **options)
        free = np.isnan(state.q)
        if np.linalg.matrix_rank(J[:, free], tol=RANK * np.abs(J).max()) < free.sum():
            return state
        q = np.where(free, q, state.q)
        fixed = ~np.isnan(state.qd)
        if not fixed.any() or not state.qd.any():
            return replace(state, q=q)
        names = [self.module.coordinate_names[k] for k in np.flatnonzero(fixed)]
        qd = self.module.closed_velocities(q, np.where(fixed, state.qd, 0.0), hold=names, **options)
        return replace(state, q=q, qd=qd)

    def projected(self, motion: MotionSamples, options: Mapping[str, Any]) -> MotionSamples:
        """Return the robot's motion moved onto the loops by least changes, those of drives 0.

        Instants whose loops do not close near it are left as they are.
        """
        free = np.setdiff1d(np.arange(self.module.n), self.drives)
        (q, qd, qdd), rows, space = motion.state, self.closure.rows, configuration_of(self.module)

        def change(J: Array, residual: Array) -> Array:
            moved = np.zeros(qd.shape)
            inverse = np.linalg.pinv(J[:, rows][..., free], rcond=RANK)
            moved[:, free] = -(inverse @ residual[:, rows, None])[..., 0]
            return moved

        for _ in range(_STEPS):
            J = self.module.constraint_jacobian(q, **options)
            q = space.integrate(q, change(J, self.module.constraints(q, **options)))
        J = self.module.constraint_jacobian(q, **options)
        qd = qd + change(J, (J @ qd[..., None])[..., 0])
        bias = self.module.constraint_bias(q, qd, **options)
        qdd = qdd + change(J, (J @ qdd[..., None])[..., 0] + bias)
        near = np.abs(space.difference(motion.q, q)).max(axis=1) < STEP
        near &= np.abs(self.module.constraints(q, **options)).max(axis=1) < _NEARLY
        pairs = zip((q, qd, qdd), motion.state, strict=True)
        q, qd, qdd = (np.where(near[:, None], after, before) for after, before in pairs)
        return replace(motion, q=q, qd=qd, qdd=qdd)

    def closed(self, motion: Array, options: Mapping[str, Any]) -> Array:
        """Return a motion (K, n) with loops closed as far as they close, drives unchanged."""
        rows, at = [motion[0]], motion[0]
        with suppress(ValueError):
            at = self.assembled(at, (), options)
        for goal in motion[1:]:
            try:
                at = self.followed(at, goal, self.drives, options)
            except ValueError:
                with suppress(ValueError):
                    at = self.assembled(goal, (), options)
            rows.append(at)
        return np.array([*rows[:-1], motion[-1]])


def reason(error: ValueError) -> str:
    """Return why loops do not close, in words of a task."""
    function, _, words = str(error).partition(": ")
    return words.partition(";")[0].replace("from here", "there") or function


def opened(module: Any) -> Any:
    """Return a module, or a mechanism as its tree; RequestError where its loops do not close."""
    return Opened(module) if getattr(module, "n_constraints", 0) else module


def independent_columns(jacobians: Array) -> list[int]:
    """Return columns of matrices (K, r, n) of the largest rank among them, r or less.

    They maximise the smallest singular value along all matrices of that rank.
    """
    from scipy.linalg import qr

    sizes = np.linalg.svd(jacobians, compute_uv=False)
    ranks = (sizes > RANK * sizes.max(axis=1, keepdims=True, initial=0.0)).sum(axis=1)
    rank = ranks.max()
    regular = jacobians[ranks == rank]
    pivots = [qr(J, pivoting=True)[2][:rank].tolist() for J in regular]
    choices = {tuple(sorted(chosen)) for chosen in pivots}

    def nearest_to_singular(chosen: tuple[int, ...]) -> float:
        return float(np.linalg.svd(regular[:, :, list(chosen)], compute_uv=False)[:, -1].min())

    best = max(sorted(choices), key=nearest_to_singular)
    return list(best)


def _closed_near(module: Any) -> Array:
    """Return closed configurations near the initial positions of the model, (K, nq)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            closed = [module.assemble()]
        except ValueError as error:
            raise RequestError(f"plan: from 'initial' of the model, {error}") from None
        random = np.random.default_rng(0)
        for _ in range(_TRIES):
            moved = module.integrate(closed[0], random.normal(scale=_NEAR, size=module.n))
            with suppress(ValueError):
                closed.append(module.assemble(moved, hold=[]))
    return np.array(closed)
