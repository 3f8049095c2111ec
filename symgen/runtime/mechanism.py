"""Dynamics of mechanisms with closed loops, by functions of the tree and of its constraints.

With M and h of the tree, J and b of the constraints (c'' = J qdd + b = 0) and multipliers x
(constraints of velocities r = 0 are rates c', and J is dc'/dqd)

    M qdd + h = tau + J' x,    J qdd = -b.

With joints on manifolds qdd and the columns of J belong to velocities, and coordinates move along
them by ``module.integrate``.

Rows have different units and sizes: each is divided by its size (`row_sizes`) before the rank is
judged, and multipliers are in inverse units.  Redundant rows make J lose rank.  Then J = U S V'
with r singular values above `RANK` times the largest, U' J qdd = -U' b are r independent equations,
and x = U y is the multiplier of least norm; accelerations do not depend on that choice.
"""

from __future__ import annotations

import functools
import itertools
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .closure import (
    CLOSED,
    RANK,
    by_keyword,
    half_turned,
    holdable,
    independent,
    position_jacobian,
    refuse_unmet,
    row_sizes,
    solved,
    step,
    unique,
    unmet,
    without_none,
)  # fmt: skip
from .configuration import named_in_file

Array = Any
"""float64 arrays, and what NumPy makes them of."""

_STEPS, _DAMPED = 200, 1e-3
_TRIES, _NEAR = 10, 0.1
"""Number of starts of an assembly, and their distance from the first (rad, m)."""
_TURNS, _FURTHER, _FURTHEST = 40, 1.2, 3.0
"""Starts where a loop closes half a turn off: number, growth of the distance, and largest distance
(rad, m)."""
_REACH = 0.5
"""Largest step of the first assembly (rad, m), so that it stays on the branch of its start; each
start allows twice the step of the start before."""
_FOLLOWED = 0.1
"""Largest step along a branch (rad, m)."""
_OPEN = 1e-3
"""Gap of an open loop, in units of its row; trial steps of integrators leave less."""
_OPENING = 1e-2
"""Rate of a loop that opens, in units of the terms of its row."""
_DRIVEN, _ROUNDING = 1e-8, 1e-9
CHANGED = 1e-9
"""Change of a driven coordinate (rad, m, rad/s, m/s) above which there is a warning."""


class ConstrainedMotion(NamedTuple):
    """Accelerations `qdd` (..., n) and `multipliers` (..., m) of the constraints."""

    qdd: Array
    multipliers: Array


class ConstrainedTorques(NamedTuple):
    """Torques `tau` (..., n), 0 where no drive is, and `multipliers` (..., m)."""

    tau: Array
    multipliers: Array


class ConstrainedTorqueDerivatives(NamedTuple):
    """`ConstrainedTorques`, and the derivatives of `tau`, (..., n, n) each."""

    tau: Array
    multipliers: Array
    dtau_dq: Array
    dtau_dqd: Array
    dtau_dqdd: Array
    dtau_dtree: Array
    """Derivatives by torques (..., n) of the tree cut open, such as those that a load adds."""


class ConstrainedDerivatives(NamedTuple):
    """`ConstrainedMotion` and its derivatives: (..., n, n) and (..., m, n)."""

    qdd: Array
    multipliers: Array
    dqdd_dq: Array
    dqdd_dqd: Array
    dqdd_dtau: Array
    dmultipliers_dq: Array
    dmultipliers_dqd: Array
    dmultipliers_dtau: Array


class Mechanism:
    """Functions of models with loops or relations that are not generated."""

    def __init__(self, module: Any) -> None:
        self._module, self._warned = module, False

    def fastest(self, backend: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """Return `constrained_forward_dynamics` and its derivatives, compiled if possible."""
        methods = self.constrained_forward_dynamics, self.constrained_forward_dynamics_derivatives
        connect = getattr(backend, "connect_mechanism", None)
        made = ConstrainedMotion, ConstrainedDerivatives
        if connect is None or not connect(methods, made, self.warn_of_gaps):
            return methods
        compiled = tuple(getattr(backend, method.__name__) for method in methods)
        for fast, method in zip(compiled, methods, strict=True):
            fast.__doc__ = method.__doc__
        return compiled

    def warn_of_gaps(
        self, function: str, q: Array, qd: Array, t: Array, parameters: Any, stacklevel: int = 2
    ) -> None:
        """Warn where `function` takes loops as closed, and q (..., nq) or qd (..., n) opens one.

        The first warning of a module is the last.
        """
        if self._warned or not hasattr(self._module, "constraints"):
            return
        words = self._opening(q, qd, without_none(t=t, parameters=parameters))
        if words:
            self._warned = True
            warnings.warn(
                f"{function}: at these {words}; the results are those of no motion",
                RuntimeWarning,
                stacklevel=stacklevel,
            )

    def _opening(self, q: Array, qd: Array, options: Mapping[str, Any]) -> str:
        """Return which of q (..., nq) and qd (..., n), or None, opens a loop most, and a remedy."""
        module, relative = self._module, np.zeros(1)
        words, remedy = "q loops are open ({} is off by {:.3g})", "module.assemble(q)"
        gaps = np.abs(module.constraints(q, **options))
        if gaps.max(initial=0.0) > CLOSED:
            relative = gaps / (self._sizes(position_jacobian(module, q, options)) * _OPEN)
        if qd is not None and not relative.max(initial=0.0) > 1.0:
            words, remedy = "qd loops open ({} by {:.3g} per s)", "module.closed_velocities(q, qd)"
            gaps = np.abs(module.constraint_rates(q, qd, **options))
            J, speeds = module.constraint_jacobian(q, **options), np.abs(np.asarray(qd, float))
            terms = (np.abs(J) @ speeds[..., np.newaxis])[..., 0]
            standing = np.abs(module.constraint_rates(q, 0.0 * speeds, **options))
            relative = gaps / ((terms + standing) * _OPENING + _ROUNDING)
        if not relative.max(initial=0.0) > 1.0:
            return ""
        widest = int(relative.argmax())
        name = module.constraint_names[widest % gaps.shape[-1]]
        return f"{words.format(name, gaps.flat[widest])}, which {remedy} closes"

    @by_keyword
    def constrained_forward_dynamics(
        self, q: Array, qd: Array, tau: Array, *, t: Array = 0.0, loads: Any = None,
        parameters: Any = None,
    ) -> ConstrainedMotion:  # fmt: skip
        """Accelerations that the torques tau produce where the loops stay closed.

        Arguments (batch axes ... broadcast mutually):
            q (..., nq)           coordinates that keep the constraints
            qd, tau (..., n)      velocities that keep them, torques
            t (...)               time (s), for constraints and forces that mention it
            loads, parameters     as of forward dynamics

        q and qd are taken as they are: `assemble` and `closed_velocities` make such that keep the
        constraints, `constraints` and `constraint_rates` say by how much others break them.  A
        RuntimeWarning names the widest gap of loops that q or qd opens, once; compiled calls look
        for gaps in their calls 1, 2, 4, 8, ...

        Returns a named tuple ConstrainedMotion:
            qdd (..., n)             accelerations (rad/s^2 or m/s^2)
            multipliers (..., m)     of the constraints; where rows are redundant those of least
                                     norm, in units of the rows' sizes (unique_multipliers says
                                     which are unique)

        numpy.linalg.LinAlgError where nothing resists a motion that the constraints allow, and
        where constraints contradict one another; of the latter in a batch the results are NaN, and
        a RuntimeWarning names the constraints.
        """
        return self._accelerations("constrained_forward_dynamics", q, qd, tau, t, loads, parameters)

    def _accelerations(
        self, function: str, q: Array, qd: Array, tau: Array, t: Array, loads: Any, parameters: Any
    ) -> ConstrainedMotion:
        """Return accelerations and multipliers, with messages in the name of `function`."""
        J, bias = self._constraints(q, qd, t, parameters)
        M = self._module.mass_matrix(q, parameters=parameters)
        options = self._options(t, loads, parameters)
        forces = self._vector("tau", tau) - self._module.bias_forces(q, qd, **options)
        sizes = self._sizes(J)
        J, bias = J / sizes[..., np.newaxis], bias / sizes
        solution = solved(M, J, forces[..., np.newaxis], -bias[..., np.newaxis])
        qdd, multipliers = solution[0][..., 0], solution[1][..., 0] / sizes
        refuse_unmet(
            self._module, function, unmet(J, qdd, bias), (q, qd, t, parameters), (qdd, multipliers)
        )
        return ConstrainedMotion(qdd, multipliers)

    @by_keyword
    def constrained_forward_dynamics_derivatives(
        self, q: Array, qd: Array, tau: Array, *, t: Array = 0.0, loads: Any = None,
        parameters: Any = None,
    ) -> ConstrainedDerivatives:  # fmt: skip
        """Accelerations and multipliers with their derivatives with respect to q, qd and tau.

        Arguments as of constrained_forward_dynamics; q and qd need not keep the constraints.

        Returns a named tuple ConstrainedDerivatives.  The derivatives of multipliers that are not
        unique, because rows are redundant, are NaN; all others are exact.  Errors and warnings as
        of constrained_forward_dynamics.
        """
        module = self._module
        function = "constrained_forward_dynamics_derivatives"
        qdd, multipliers = self._accelerations(function, q, qd, tau, t, loads, parameters)
        options = self._options(t, loads, parameters)
        timed = without_none(t=t, parameters=parameters)
        _, by_q, by_qd, M = module.inverse_dynamics_derivatives(q, qd, qdd, **options)
        _, pulled = module.constraint_torque_derivatives(q, multipliers, **timed)
        _, rows_q, rows_qd = module.constraint_acceleration_derivatives(q, qd, qdd, **timed)
        identity = np.broadcast_to(np.eye(module.n), by_q.shape)
        above = np.concatenate([pulled - by_q, -by_qd, identity], axis=-1)
        below = np.concatenate([-rows_q, -rows_qd, np.zeros(rows_q.shape)], axis=-1)
        J = module.constraint_jacobian(q, **timed)
        slopes = (np.split(x, 3, axis=-1) for x in self._slopes(qdd, M, J, above, below))
        return ConstrainedDerivatives(qdd, multipliers, *itertools.chain(*slopes))

    @by_keyword
    def constrained_forward_dynamics_parameter_derivatives(
        self, q: Array, qd: Array, tau: Array, *, t: Array = 0.0, loads: Any = None,
        parameters: Any = None,
    ) -> Array:  # fmt: skip
        """Derivatives of the accelerations with respect to the runtime parameters, (..., n, p).

        Arguments as of constrained_forward_dynamics; q, qd and tau do not vary.
        """
        function = "constrained_forward_dynamics_parameter_derivatives"
        return self._by_parameters(function, q, qd, tau, t, loads, parameters)[0]

    @by_keyword
    def constraint_multiplier_parameter_derivatives(
        self, q: Array, qd: Array, tau: Array, *, t: Array = 0.0, loads: Any = None,
        parameters: Any = None,
    ) -> Array:  # fmt: skip
        """Derivatives of the multipliers with respect to the runtime parameters, (..., m, p).

        Arguments as of constrained_forward_dynamics; q, qd and tau do not vary.  NaN for
        multipliers that are not unique.
        """
        function = "constraint_multiplier_parameter_derivatives"
        return self._by_parameters(function, q, qd, tau, t, loads, parameters)[1]

    def _by_parameters(
        self, function: str, q: Array, qd: Array, tau: Array, t: Array, loads: Any, parameters: Any
    ) -> tuple[Array, Array]:
        """Return derivatives of accelerations and multipliers, (..., n, p) and (..., m, p)."""
        module = self._module
        qdd, multipliers = self._accelerations(function, q, qd, tau, t, loads, parameters)
        options = self._options(t, loads, parameters)
        timed = without_none(t=t, parameters=parameters)
        torques = module.inverse_dynamics_parameter_derivatives(q, qd, qdd, **options)
        pulled = module.constraint_torque_parameter_derivatives(q, multipliers, **timed)
        rows = module.constraint_acceleration_parameter_derivatives(q, qd, qdd, **timed)
        M = module.mass_matrix(q, parameters=parameters)
        J = module.constraint_jacobian(q, **timed)
        return self._slopes(qdd, M, J, pulled - torques, -rows)

    def _slopes(
        self, qdd: Array, M: Array, J: Array, above: Array, below: Array
    ) -> tuple[Array, Array]:
        """Solve M a - J' x = above, J a = below; NaN where multipliers or qdd are undetermined."""
        sizes = self._sizes(J)[..., np.newaxis]
        accelerations, multipliers, determined = solved(M, J / sizes, above, below / sizes)
        multipliers = multipliers / sizes
        multipliers[~determined] = np.nan
        unknown = np.isnan(qdd).any(axis=-1)
        accelerations[unknown] = multipliers[unknown] = np.nan
        return accelerations, multipliers

    @by_keyword
    def closing_derivatives(
        self, q: Array, *, hold: Sequence[str] = (), t: Array = 0.0, parameters: Any = None
    ) -> Array:
        """Derivatives of assembled coordinates with respect to the runtime parameters, (..., n, p).

        For joints with a quaternion they are displacements, as in integrate(q, displacement).
        Coordinates in `hold` stay; the others move by the least displacement that keeps the loops
        closed.  NaN, with a RuntimeWarning, for a parameter where none keeps them closed.
        """
        options = without_none(t=t, parameters=parameters)
        free = np.ones(self._module.n)
        free[self._indices("closing_derivatives", hold)] = 0.0
        slopes = self._module.constraints_parameter_derivatives(q, **options)
        J = position_jacobian(self._module, q, options)
        sizes = self._sizes(J)[..., np.newaxis]
        J, slopes = J * free / sizes, slopes / sizes
        moved = -np.linalg.pinv(J, rcond=RANK) @ slopes
        across = np.swapaxes(moved, -1, -2), np.swapaxes(slopes, -1, -2)
        open_ones = unmet(J[..., np.newaxis, :, :], *across)
        if open_ones.any():
            moved = np.where(open_ones[..., np.newaxis, :], np.nan, moved)
            at = open_ones.reshape(-1, open_ones.shape[-1]).any(axis=0)
            names = ", ".join(itertools.compress(self._module.parameter_names, at))
            warnings.warn(
                f"closing_derivatives: no displacement keeps the loops closed where {names} "
                "changes; its derivatives are NaN: hold fewer coordinates",
                RuntimeWarning,
                stacklevel=3,
            )
        return moved

    @by_keyword
    def constrained_inverse_dynamics(
        self, q: Array, qd: Array, qdd: Array, *, t: Array = 0.0, loads: Any = None,
        parameters: Any = None,
    ) -> ConstrainedTorques:  # fmt: skip
        """Torques of the actuated coordinates that produce the accelerations qdd.

        Arguments (batch axes ... broadcast mutually):
            q (..., nq)           coordinates of a motion that keeps the constraints
            qd, qdd (..., n)      its velocities and accelerations
            t, loads, parameters  as of constrained_forward_dynamics

        Returns a named tuple ConstrainedTorques:
            tau (..., n)             torques (N m or N), 0 without a drive; where drives outnumber
                                     freedoms of least norm, together with the multipliers in
                                     units of the rows' sizes at the initial positions
            multipliers (..., m)     of the constraints

        Where qdd opens the loops, or the drives cannot produce the motion,
        numpy.linalg.LinAlgError; in a batch the torques of that row are NaN, and a RuntimeWarning
        says so.
        """
        return self._torques("constrained_inverse_dynamics", q, qd, qdd, t, loads, parameters)[0]

    @by_keyword
    def constrained_inverse_dynamics_derivatives(
        self, q: Array, qd: Array, qdd: Array, *, t: Array = 0.0, loads: Any = None,
        parameters: Any = None,
    ) -> ConstrainedTorqueDerivatives:  # fmt: skip
        """Torques of constrained_inverse_dynamics and their derivatives with respect to q, qd, qdd.

        Arguments, errors and warnings as of constrained_inverse_dynamics.  With fewer drives than
        freedoms the derivatives hold along motions that the drives can produce.

        Returns a named tuple ConstrainedTorqueDerivatives; derivatives (..., n, n) for joints with
        a quaternion in the tangent space, as those of inverse_dynamics.
        """
        function, module = "constrained_inverse_dynamics_derivatives", self._module
        torques, solve, y = self._torques(function, q, qd, qdd, t, loads, parameters)
        timed = without_none(t=t, parameters=parameters)
        options = self._options(t, loads, parameters)
        _, by_q, by_qd, M = module.inverse_dynamics_derivatives(q, qd, qdd, **options)
        _, pulled = module.constraint_torque_derivatives(q, torques.multipliers, **timed)
        turned = self._at_rate("constraint_rate_derivatives", 1, q, y, timed)
        zero = np.zeros(turned.shape)
        return ConstrainedTorqueDerivatives(
            *torques,
            *(solve(by_q - pulled, turned), solve(by_qd, zero), solve(M, zero)),
            solve(np.eye(module.n), zero),
        )

    @by_keyword
    def constrained_inverse_dynamics_parameter_derivatives(
        self, q: Array, qd: Array, qdd: Array, *, t: Array = 0.0, loads: Any = None,
        parameters: Any = None,
    ) -> Array:  # fmt: skip
        """Derivatives of torques with respect to the runtime parameters, (..., n, p).

        Arguments as of constrained_inverse_dynamics; q, qd and qdd do not vary: where parameters
        change the constraints, add the derivatives of a motion that keeps them.
        """
        function, module = "constrained_inverse_dynamics_parameter_derivatives", self._module
        torques, solve, y = self._torques(function, q, qd, qdd, t, loads, parameters)
        timed = without_none(t=t, parameters=parameters)
        options = self._options(t, loads, parameters)
        required = module.inverse_dynamics_parameter_derivatives(q, qd, qdd, **options)
        pulled = module.constraint_torque_parameter_derivatives(q, torques.multipliers, **timed)
        turned = self._at_rate("constraint_rates_parameter_derivatives", 0, q, y, timed)
        return np.asarray(solve(required - pulled, turned))

    def _at_rate(
        self, function: str, result: int, q: Array, y: Array, timed: Mapping[str, Any]
    ) -> Array:
        """Return a derivative of J y at fixed y (..., n), by one of that of the rates of J y."""
        made = (getattr(self._module, function)(q, rate, **timed) for rate in (y, 0.0 * y))
        at_y, standing = (x[result] if isinstance(x, tuple) else x for x in made)
        return np.asarray(at_y - standing)

    def _torques(
        self, function: str, q: Array, qd: Array, qdd: Array, t: Array, loads: Any, parameters: Any
    ) -> tuple[ConstrainedTorques, Callable[[Array, Array], Array], Array]:
        """Return torques, a function for their derivatives, and the y at which J y is varied.

        With A = [levers of the drives, J'] the torques and multipliers are s = A^+ r, and with
        y = A^+' s their derivatives A^+ (dr - dJ' x) + (1 - A^+ A) [0; dJ y].
        """
        options = self._options(t, loads, parameters)
        required = self._module.inverse_dynamics(q, qd, qdd, **options)
        J, bias = self._constraints(q, qd, t, parameters)
        J, bias = J / self._units[:, np.newaxis], bias / self._units
        change = self._vector("qdd", qdd)
        opening = np.abs((J @ change[..., np.newaxis])[..., 0] + bias)
        terms = (np.abs(J) @ np.abs(change)[..., np.newaxis])[..., 0] + np.abs(bias)
        opens = (opening > _OPEN * terms + _ROUNDING).any(axis=-1)
        drives = np.flatnonzero(self._module.actuated)
        batch = np.broadcast_shapes(required.shape[:-1], opens.shape)
        required = np.broadcast_to(required, (*batch, self._module.n))
        J = np.broadcast_to(J, (*batch, *J.shape[-2:]))
        levers = np.broadcast_to(np.eye(self._module.n)[:, drives], (*required.shape, len(drives)))
        columns = np.concatenate([levers, np.swapaxes(J, -1, -2)], axis=-1)
        infinite = ~np.isfinite(columns).all(axis=(-2, -1))
        columns = np.where(infinite[..., np.newaxis, np.newaxis], 0.0, columns)
        inverse = np.linalg.pinv(columns, rcond=_ROUNDING)
        solution = (inverse @ required[..., np.newaxis])[..., 0]
        residual = (columns @ solution[..., np.newaxis])[..., 0] - required
        left = np.abs(residual).max(axis=-1, initial=0.0)
        missed = left > _DRIVEN * (1.0 + np.abs(required).max(axis=-1, initial=0.0))
        opening = np.where(np.isfinite(opening), opening, 0.0) * self._units
        faults: Sequence[tuple[Array, str, Callable[[], str]]] = (
            (infinite, "constraints have no finite derivatives here", lambda: "q, t, parameters"),
            (opens, "qdd opens the loops", lambda: self._widest(opening, q, qd, t, parameters)),
            (
                missed & ~infinite,
                "the drives cannot produce this motion",
                lambda: f"{np.nanmax(left):.3g} N m or N remain",
            ),
        )
        for wrong, words, more in faults:
            if not np.any(wrong):
                continue
            if not wrong.ndim:
                raise np.linalg.LinAlgError(f"{function}: {words}: {more()}")
            message = f"{function}: {words}, in {wrong.sum()} rows: {more()}"
            warnings.warn(message, RuntimeWarning, stacklevel=4)
            solution[np.broadcast_to(wrong, missed.shape)] = np.nan

        def solve(right: Array, turned: Array) -> Array:
            turned = turned / self._units[:, np.newaxis]
            null = np.eye(columns.shape[-1])[:, len(drives) :]
            null = null - inverse @ columns[..., len(drives) :]
            slopes = np.zeros((*required.shape, right.shape[-1]))
            slopes[..., drives, :] = (inverse @ right + null @ turned)[..., : len(drives), :]
            return slopes

        tau = np.zeros(required.shape)
        tau[..., drives] = solution[..., : len(drives)]
        y = (np.swapaxes(inverse, -1, -2) @ solution[..., np.newaxis])[..., 0]
        return ConstrainedTorques(tau, solution[..., len(drives) :] / self._units), solve, y

    @functools.cached_property
    def _units(self) -> Array:
        """Sizes of the rows of J at the initial positions, (m,): units of residuals, and norms."""
        sizes = self._sizes(self._module.constraint_jacobian(self._module.initial_q))
        return np.where(np.isfinite(sizes) & (sizes > 0.0), sizes, 1.0)

    def _vector(self, name: str, value: Array) -> Array:
        """Return rates or torques (..., n) as real numbers; TypeError, ValueError where they are
        none."""
        vector = np.asarray(value)
        if vector.dtype.kind not in "biuf":
            raise TypeError(f"{name}: expected real numbers, got {vector.dtype}")
        if vector.shape[-1:] != (self._module.n,):
            raise ValueError(f"{name}: expected shape (..., {self._module.n}), got {vector.shape}")
        return vector.astype(float)

    def _widest(self, opening: Array, q: Array, qd: Array, t: Array, parameters: Any) -> str:
        """Return the sentence about the constraint that accelerations open fastest.

        Or about the positions or velocities that open one.
        """
        before = self._opening(q, qd, without_none(t=t, parameters=parameters))
        if before:
            return f"at these {before}"
        row = int((opening / self._units).argmax())
        name = self._module.constraint_names[row % opening.shape[-1]]
        return (
            f"{name} by {opening.flat[row]:.3g} per s^2; module.closed_accelerations(q, qd, qdd) "
            "are those nearest that do not"
        )

    @by_keyword
    def closed_velocities(
        self, q: Array, qd: Array = None, *, hold: Sequence[str] | None = None, t: Array = 0.0,
        parameters: Any = None,
    ) -> Array:  # fmt: skip
        """The velocities nearest to qd in kinetic energy that keep the loops closed, (..., n).

        Arguments (batch axes ... broadcast mutually):
            q (..., nq)   coordinates that keep the constraints
            qd (..., n)   velocities; default: the initial ones of the model file
            hold          names of coordinates whose velocities stay; default: the driven ones that
                          `initial` of the model file names, first those under qd, where the others
                          can close the loops
            t, parameters as of constrained_forward_dynamics

        numpy.linalg.LinAlgError where constraints contradict one another, so that no velocities
        keep all of them, and where none do with what `hold` names; in a batch the velocities of
        that row are NaN, and a RuntimeWarning names the constraints.  Without `hold`, a
        RuntimeWarning names each driven coordinate with an initial velocity that changed.
        """
        options = without_none(t=t, parameters=parameters)
        qd = self._vector("qd", self._module.initial_qd if qd is None else qd)
        standing = np.asarray(self._module.constraint_rates(q, 0.0 * qd, **options))
        state = (q, qd, t, parameters)
        closed = self._nearest("closed_velocities", state, qd, standing, hold)
        if hold is None:
            self._warn_of_changes("closed_velocities", "qd", closed - qd)
        return closed

    @by_keyword
    def closed_accelerations(
        self, q: Array, qd: Array, qdd: Array, *, hold: Sequence[str] | None = None,
        t: Array = 0.0, parameters: Any = None,
    ) -> Array:  # fmt: skip
        """The accelerations nearest to qdd that keep the loops closed, (..., n).

        Nearest as in Gauss's principle: the change takes the least (1/2) change' M change.

        Arguments (batch axes ... broadcast mutually):
            q (..., nq)   coordinates that keep the constraints
            qd (..., n)   velocities that keep them
            qdd (..., n)  accelerations
            hold          names of coordinates whose accelerations stay; default: driven ones, as of
                          closed_velocities
            t, parameters as of constrained_forward_dynamics

        Errors and warnings as of closed_velocities.
        """
        bias = np.asarray(self._constraints(q, qd, t, parameters)[1])
        qdd = self._vector("qdd", qdd)
        return self._nearest("closed_accelerations", (q, qd, t, parameters), qdd, bias, hold)

    def _nearest(
        self, function: str, state: tuple[Array, Array, Array, Any], x: Array, standing: Array,
        hold: Sequence[str] | None,
    ) -> Array:  # fmt: skip
        """Return the nearest x (..., n) with J x + standing = 0; `state`: q, qd, t, parameters."""
        q, _, t, parameters = state
        J = self._module.constraint_jacobian(q, **without_none(t=t, parameters=parameters))
        M = self._module.mass_matrix(q, parameters=parameters)
        sizes = self._sizes(J)
        J, standing = J / sizes[..., np.newaxis], standing / sizes
        missing = -(J @ x[..., np.newaxis])[..., 0] - standing
        held = holdable(J, self._drives("qd", "q"))
        if hold is not None:
            held[...] = False
            held[..., self._indices(function, hold)] = True
        rows = np.concatenate([J, np.eye(self._module.n) * held[..., np.newaxis, :]], axis=-2)
        right = np.zeros((*missing.shape[:-1], self._module.n, 1))
        below = np.concatenate([missing, np.zeros(right.shape[:-1])], axis=-1)
        change = solved(M, rows, right, below[..., np.newaxis])[0][..., 0]
        change = np.where(held, 0.0, change)
        closed = np.asarray(x + change)
        missed = unmet(J, closed, standing, change)
        refuse_unmet(self._module, function, missed, state, (closed,), hold or ())
        return closed

    @by_keyword
    def unique_multipliers(self, q: Array, *, t: Array = 0.0, parameters: Any = None) -> Array:
        """Whether the motion determines each multiplier, (..., m): not those of redundant rows."""
        J = self._module.constraint_jacobian(q, **without_none(t=t, parameters=parameters))
        U, _, kept = independent(J / self._sizes(J)[..., np.newaxis])
        return unique(U, kept)

    @by_keyword
    def freedoms(self, q: Array, *, t: Array = 0.0, parameters: Any = None) -> Array:
        """Return the number of degrees of freedom at q (..., nq): n less the rank of J.

        They are those of velocities; constraints of velocities leave more of configurations.
        """
        J = self._module.constraint_jacobian(q, **without_none(t=t, parameters=parameters))
        return self._module.n - independent(J / self._sizes(J)[..., np.newaxis])[2].sum(axis=-1)

    def _sizes(self, J: Array) -> Array:
        """Return the sizes of the rows of J, (..., m)."""
        return row_sizes(self._module._row_units, J)

    @by_keyword
    def assemble(
        self, q: Array = None, *, hold: Sequence[str] | None = None, t: Array = 0.0,
        parameters: Any = None,
    ) -> Array:  # fmt: skip
        """Return the nearest coordinates at which all loops are closed, (..., nq).

        Constraints of velocities do not restrict them.

        Arguments:
            q (..., nq)   start; default: the initial positions of the model file.  A dict by name
                          keeps to the branch of these: its coordinates, where the others can close
                          the loops, are moved there from the initial ones in small steps
            hold          names of coordinates that stay; for joints with a quaternion names of
                          velocities, along which they do not move; default: the driven ones that
                          `initial` of the model file names under q, where the others can close the
                          loops
            t, parameters as of constrained_forward_dynamics

        ValueError where the loops do not close from there, with the largest gap, or close only with
        frames that are half a turn off.  Without `hold`, a RuntimeWarning names each driven
        coordinate with an initial position that changed.
        """
        held, named = self._indices("assemble", hold or ()), list[str]()
        options = without_none(t=t, parameters=parameters)
        if isinstance(q, Mapping):
            named, q = list(q), self._module._read("q", q)
            followed = self._followed(named, q, options) if hold is None else None
            if followed is not None:
                return followed
        start = self._module.normalize(self._module.initial_q if q is None else q)
        closed = np.empty(start.shape)
        for k, index in enumerate(np.ndindex(start.shape[:-1])):
            closed[index] = self._assembled(start[index], held, options, k)
            if hold is None:
                closed[index] = self._held(start[index], closed[index], options)
        if hold is None:
            change = self._module.difference(start, closed)
            names = self._module.coordinate_names
            chosen = [names.index(name) for name in named if name in names]
            self._warn_of_changes("assemble", "q", change, chosen)
        return closed

    def _followed(self, named: Sequence[str], q: Array, options: Mapping[str, Any]) -> Array | None:
        """Return q (..., nq) with named coordinates moved to their values from the initial ones.

        None where not all of these can stay while the loops close; ValueError where they open on
        the way.
        """
        names = self._module.coordinate_names
        if not set(named) <= set(names) or self._module.nq != self._module.n:
            return None
        moved = [names.index(name) for name in named]
        begin, followed = self._module.initial_q, np.array(q, dtype=float)
        try:
            begin = self._held(begin, self._assembled(begin, [], options, 0), options)
            J = position_jacobian(self._module, begin, options)
            if holdable(J / self._sizes(J)[:, np.newaxis], moved).sum() < len(moved):
                return None
        except ValueError:
            return None
        for index in np.ndindex(followed.shape[:-1]):
            at, far, share = begin, followed[index][moved] - begin[moved], 0.0
            step = least = 1.0 / max(1, math.ceil(np.abs(far).max() / _FOLLOWED))
            while share < 1.0 and step > 1e-3 * least:
                ahead = at.copy()
                ahead[moved] = begin[moved] + min(1.0, share + step) * far
                try:
                    at = self._assembled(ahead, moved, options, 0, tries=1)
                    share = min(1.0, share + step)
                except ValueError:
                    step /= 2
            if share < 1.0:
                places = ", ".join(f"{names[k]} from {begin[k]:.6g} to {at[k]:.6g}" for k in moved)
                raise ValueError(
                    f"assemble: the loops close on this branch with {places}, and not beyond; "
                    "arrays, and hold=[], lead to other branches"
                )
            followed[index] = at
        return followed

    def _held(self, q: Array, nearest: Array, options: Mapping[str, Any]) -> Array:
        """Assemble from q with driven coordinates held; return `nearest` where that fails."""
        J = position_jacobian(self._module, nearest, options)
        held = holdable(J / self._sizes(J)[:, np.newaxis], self._drives("q"))
        try:
            return self._assembled(q, np.flatnonzero(held), options, 0) if held.any() else nearest
        except ValueError:
            return nearest

    def _drives(self, *keys: str) -> list[int]:
        """Return the driven coordinates that `initial` names under the keys, in their order."""
        names = self._module.coordinate_names
        drives = self._module._initial_drives
        return [names.index(name) for key in keys for name, where in drives if where == key]

    def _warn_of_changes(
        self, function: str, key: str, change: Array, chosen: Sequence[int] = ()
    ) -> None:
        """Warn of a `change` of `chosen` coordinates, else of drives under `key` of `initial`."""
        change = np.abs(np.nan_to_num(change))
        most = change.max(axis=tuple(range(change.ndim - 1)), initial=0.0)
        changed = [
            f"{self._module.coordinate_names[k]} by {most[k]:.3g}"
            for k in chosen or self._drives(key)
            if most[k] > CHANGED
        ]
        values = "values by name" if chosen else "driven coordinates that 'initial' names"
        if changed:
            warnings.warn(
                f"{function}: the loops do not close with all {values}: {', '.join(changed)} "
                "changed; hold=[...] chooses which stay",
                RuntimeWarning,
                stacklevel=4,
            )

    def _indices(self, function: str, hold: Sequence[str]) -> list[int]:
        """Return the coordinates that are held; ValueError for unknown names."""
        names = self._module.coordinate_names
        if isinstance(hold, str):
            raise ValueError(f"{function}: hold: expected a list of names, such as [{hold!r}]")
        written = named_in_file(self._module.file_names, names)
        hold = [written.get(name, name) for name in hold]
        unknown = [name for name in hold if name not in names]
        if unknown:
            raise ValueError(
                f"{function}: hold: there is no coordinate {unknown[0]!r}; there are "
                f"{', '.join(names)}"
            )
        return [names.index(name) for name in hold]

    def _assembled(
        self, q: Array, held: Sequence[int] | Array, options: Mapping[str, Any], row: int,
        tries: int = _TRIES,
    ) -> Array:  # fmt: skip
        """Assemble from q, or from a random start near it where rows are singular at q."""
        free = np.delete(np.arange(self._module.n), held)
        random, begin = np.random.default_rng(0), q
        for k in range(tries):
            closed, c, left = self._closed(begin, free, options, _REACH * 2**k)
            if np.abs(left).max() <= 1e3 * CLOSED:
                if half_turned(self._module, closed, options):
                    closed = self._turned(q, closed, free, options)
                return self._unwound(q, closed, options)
            begin = self._moved(q, free, random.normal(scale=_NEAR, size=len(free)))
        worst = int(np.abs(left).argmax())
        where = f" (row {row})" if row else ""
        name = self._module.constraint_names[worst]
        if not np.isfinite(c[worst]):
            raise ValueError(
                f"assemble: {name} has no value here{where}, or no derivative; begin where it has"
            )
        turning = -1 in self._module._row_units
        axes = " and at the 'axis' of the frames of the loops, z by default" if turning else ""
        raise ValueError(
            f"assemble: the loops do not close from here{where}: {name} is off by "
            f"{abs(c[worst]):.3g}; begin nearer, hold less, or look at the lengths{axes}"
        )

    def _turned(self, q: Array, wrong: Array, free: Array, options: Mapping[str, Any]) -> Array:
        """Assemble from starts further and further from q, as a loop closes half a turn off."""
        random, scale = np.random.default_rng(0), _NEAR
        for _ in range(_TURNS):
            begin = self._moved(q, free, random.normal(scale=scale, size=len(free)))
            assembled, _, left = self._closed(begin, free, options)
            closed = np.abs(left).max() <= 1e3 * CLOSED
            if closed and not half_turned(self._module, assembled, options):
                return assembled
            scale = min(_FURTHER * scale, _FURTHEST)
        name = half_turned(self._module, wrong, options)
        raise ValueError(
            f"assemble: {name} closes from here with its frames half a turn off only; begin "
            "nearer, hold less, or turn one of its frames (its axis, or rpy of its origin)"
        )

    def _unwound(self, q: Array, closed: Array, options: Mapping[str, Any]) -> Array:
        """Return `closed` (nq,) without full turns away from q that the constraints do not need."""
        turns = np.round(self._module.difference(q, closed) / (2.0 * np.pi))
        for k in np.flatnonzero(turns):
            back = self._moved(closed, [k], -2.0 * np.pi * turns[k])
            sizes = self._sizes(position_jacobian(self._module, back, options))
            left = self._module.constraints(back, **options) / np.maximum(sizes, 1.0)
            closed = back if np.abs(left).max() <= 1e3 * CLOSED else closed
        return closed

    def _closed(
        self, q: Array, free: Array, options: Mapping[str, Any], reach: float = np.inf
    ) -> tuple[Array, Array, Array]:
        """Close the loops by Gauss-Newton steps of least norm, damped where they do not converge.

        Entries of a step are at most `reach` (rad, m).

        Return q, the constraints (m,), and the constraints over their sizes or 1, (m,).
        """
        module, damping = self._module, 0.0
        c, J = module.constraints(q, **options), position_jacobian(module, q, options)
        for _ in range(_STEPS):
            if not np.isfinite(J).all():
                c = np.where(np.isfinite(J).all(axis=-1), c, np.nan)
            sizes = self._sizes(J)
            left = c / np.maximum(sizes, 1.0)
            if not np.isfinite(c).all() or np.abs(left).max() <= CLOSED:
                break
            rows = J[:, free] / sizes[:, np.newaxis]
            size = np.abs(rows).max(initial=1.0)
            change = step(rows, c / sizes, damping * size)
            change *= min(1.0, reach / np.abs(change).max(initial=_REACH))
            moved = self._moved(q, free, -change)
            new = module.constraints(moved, **options)
            if np.sum((new / sizes) ** 2) < np.sum((c / sizes) ** 2):
                q, c, damping = moved, new, damping / 10 if damping > 1e-9 else 0.0
                J = position_jacobian(module, q, options)
            elif damping > 1e6:
                break
            else:
                damping = 10 * damping or _DAMPED
        return q, c, c / np.maximum(self._sizes(J), 1.0)

    def _moved(self, q: Array, free: Array, step: Array) -> Array:
        """Return q (nq,) after displacements of the coordinates in `free`."""
        displacement = np.zeros(self._module.n)
        displacement[free] = step
        return self._module.integrate(q, displacement)

    def _options(self, t: Array, loads: Any, parameters: Any) -> dict[str, Any]:
        """Return options of functions of the tree, with the time where forces mention it."""
        timed = getattr(self._module, "timed", False)
        return without_none(t=t if timed else None, loads=loads, parameters=parameters)

    def _constraints(self, q: Array, qd: Array, t: Array, parameters: Any) -> tuple[Array, Array]:
        options = without_none(t=t, parameters=parameters)
        module = self._module
        return module.constraint_jacobian(q, **options), module.constraint_bias(q, qd, **options)
