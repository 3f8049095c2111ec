"""Simulation of mechanisms in steps of one size: `symgen.simulate(..., step=...)`.

    Scheme, the start  ->  AugmentedLagrangian.states  ->  rows of the dataset

The start is that of the adaptive way: closed, with the accelerations and multipliers of
`constrained_forward_dynamics` and, with sensitivities, their derivatives.  Integrals of objectives
are those of the trapezoidal rule over all steps.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from symgen.errors import RequestError
from symgen.robot.closure import RANK, row_sizes
from symgen.simulation.accelerations import function_of, has_constraints
from symgen.simulation.arguments import Array, Columns, numbers, refuse_not_finite
from symgen.simulation.augmented_lagrangian import AugmentedLagrangian, Scheme, State
from symgen.simulation.inputs import Loads, Torques
from symgen.simulation.motion import Objectives
from symgen.simulation.progress import Progress

PENALTY = 1e9
NAMES = ("mass", "tangent")
ROUNDING = 1e-9
"""By so much of a step the times may be off."""
STEPS_AT_ONCE = 2000
"""Steps in C between which Ctrl-C is heard."""
MULTIPLIERS = ("multipliers", "velocity_multipliers", "acceleration_multipliers")
ARRAYS = tuple(field.name for field in fields(State) if field.name != "t")

Way = Callable[[State, float, int, Array], State]
"""From a state so many steps of size h; integrals grow."""


@dataclass
class At:
    """What objectives are evaluated at: an `symgen.simulation.motion.Instant`."""

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


def checked_scheme(
    module: Any, step: Any, penalty: Any, projection: Any, projections: Any
) -> Scheme | None:
    """What was asked for; None for the adaptive way.  RequestError for what makes no sense."""
    if step is None:
        for name, value in (
            ("penalty", penalty), ("projection", projection), ("projections", projections)
        ):  # fmt: skip
            if value is not None:
                raise RequestError(
                    f"simulate: {name}: it belongs to integration with step=..., which is not given"
                )
        return None
    if not has_constraints(module):
        raise RequestError(
            "simulate: step: it is the way of mechanisms with loops or relations; this robot has "
            "none, and is integrated with steps that keep rtol and atol (max_step limits them)"
        )
    return Scheme(
        _positive("step", step),
        PENALTY if penalty is None else _positive("penalty", penalty),
        _projection("mass" if projection is None else projection, module.n),
        _count(1 if projections is None else projections),
    )


def _positive(name: str, value: Any) -> float:
    found = float(numbers(name, value, ()))
    if not 0 < found < np.inf:
        raise RequestError(f"simulate: {name}: expected a positive, finite number; got {found:g}")
    return found


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise RequestError(
            f"simulate: projections: expected how often the multipliers of a projection are "
            f"computed, an integer from 1; got {value!r}"
        )
    return int(value)


def _projection(value: Any, n: int) -> Any:
    if isinstance(value, str):
        if value not in NAMES:
            raise RequestError(
                f"simulate: projection: expected 'mass', 'tangent' or a matrix ({n}, {n}); got "
                f"{value!r}"
            )
        return value
    found = numbers("projection", value, (n, n))
    refuse_not_finite("projection", found)
    if not np.array_equal(found, found.T):
        raise RequestError("simulate: projection: the matrix is not symmetric")
    return found


def integrate_in_steps(
    module: Any, scheme: Scheme, t: Array, start: tuple[Array, Array], columns: Columns,
    torques: Torques, loads: Loads, parameters: Array, objectives: Objectives | None,
    progress: Progress,
) -> tuple[dict[str, Array], Array, int]:  # fmt: skip
    """Rows of the dataset at the times t, the integrals of the objectives, and how many steps.

    `start` are coordinates and velocities that keep the constraints, as do their sensitivities in
    `columns`.
    """
    way = AugmentedLagrangian(module, scheme, torques, loads, parameters, columns)
    state = starting_state(way, t[0], *start)
    found = told(way, state, objectives)
    rows = {name: np.empty((len(t), *values.shape)) for name, values in found.items()}
    _record(rows, 0, found)
    integrals, steps = np.zeros_like(integrand(way, state, objectives)), 0
    through = compiled_way(way, objectives, progress)
    through = through or partial(in_python, way, objectives, progress=progress)
    for row, end in enumerate(t[1:], start=1):
        count = max(1, math.ceil((end - state.t) / scheme.step * (1 - ROUNDING)))
        state = replace(through(state, (end - state.t) / count, count, integrals), t=end)
        _record(rows, row, told(way, state, objectives))
        steps += count
    rows["multipliers"] = least(module, rows["q"], t, rows["multipliers"], way.known)
    if way.halved:
        warnings.warn(
            f"simulate: {way.halved} steps did not converge and were halved; the constraints are "
            "near a loss of rank there, or the step is too large",
            RuntimeWarning,
            stacklevel=3,
        )
    return rows, integrals, steps


def least(module: Any, q: Array, t: Array, multipliers: Array, known: Mapping[str, Array]) -> Array:
    """The multipliers of least norm that do the same; those of redundant rows were rounding."""
    J = module.constraint_jacobian(q, t=t, **known)
    sizes = row_sizes(module._row_units, J)
    pull = np.swapaxes(J / sizes[..., np.newaxis], -1, -2)
    forces = pull @ (multipliers * sizes)[..., np.newaxis]
    found: Array = (np.linalg.pinv(pull, rcond=RANK) @ forces)[..., 0] / sizes
    return found


def in_python(
    way: AugmentedLagrangian, objectives: Objectives | None, state: State, h: float, steps: int,
    integrals: Array, progress: Progress | None = None,
) -> State:  # fmt: skip
    """The state after so many steps of size h; `integrals` grow by what they are there."""
    last = integrand(way, state, objectives)
    for after in way.states(state, h, steps):
        this = integrand(way, after, objectives)
        integrals += 0.5 * (after.t - state.t) * (last + this)
        last, state = this, after
        if progress is not None:
            progress(state.t)
    return state


def advance_of(module: Any) -> Any:
    """The C function of a module that makes steps; None where it has none."""
    backend = getattr(getattr(module, "_backends", None), "serving", None)
    return getattr(backend, "advance_mechanism", None)


def compiled_way(
    way: AugmentedLagrangian, objectives: Objectives | None, progress: Progress | None = None
) -> Way | None:
    """The same in C; None where the module has no such code, or torques or loads are functions."""
    scheme, columns, advance = way.scheme, way.columns, advance_of(way.module)
    tangent = isinstance(scheme.projection, str) and scheme.projection == "tangent"
    asked = way.torques.function is not None or way.loads.function is not None
    if advance is None or asked:
        return None
    numbers_of = dict(zip(columns.places.tolist(), columns.parameters.tolist(), strict=True))
    fixed = (
        scheme.penalty, scheme.projections, tangent,
        np.array(scheme.projection) if isinstance(scheme.projection, np.ndarray) else None,
        *map(np.array, (way.torques.value, way.loads.value, way.parameters)),  # of any order, owned
        tuple(numbers_of.get(k, -1) for k in range(len(columns))),
        () if objectives is None else tuple(objectives.chosen),
    )  # fmt: skip

    def through(state: State, h: float, steps: int, integrals: Array) -> State:
        arrays = [getattr(state, name) for name in ARRAYS]
        whole = np.concatenate([array.ravel() for array in arrays])
        t = state.t
        while steps:
            piece = min(steps, STEPS_AT_ONCE)
            done, halved, left = advance(*fixed, t, h, piece, whole, integrals)
            way.halved += halved
            t, steps = t + done * h, steps - done
            if progress is not None:
                progress(t)
            if done < piece:
                way.refuse(t, t + h, f"the last correction was {left:.3g}", whole[: len(state.q)])
        ends = np.cumsum([array.size for array in arrays])
        parts = np.split(whole, ends[:-1])
        shaped = [part.reshape(array.shape) for part, array in zip(parts, arrays, strict=True)]
        return State(t, *shaped)

    return through


def _record(rows: dict[str, Array], row: int, values: Mapping[str, Array]) -> None:
    for name, value in values.items():
        rows[name][row] = value


def starting_state(way: AugmentedLagrangian, t: float, q: Array, qd: Array) -> State:
    """The state at the start, with what the equations of motion say of it."""
    module, columns = way.module, way.columns
    for name, values in (("q0", q), ("qd0", qd), ("dq0", columns.dq0), ("dqd0", columns.dqd0)):
        refuse_not_finite(name, values)
    tau, loads = way.torques(t, q, qd), way.loads(t, q, qd)
    known = {"t": t, "loads": loads, **way.known}
    try:
        motion = function_of(module, "constrained_forward_dynamics")(q, qd, tau, **known)
    except np.linalg.LinAlgError as error:
        raise RequestError(f"simulate: {error}; at the start") from None
    if not np.isfinite(motion.qdd).all():
        raise RequestError(f"simulate: the motion is not finite at the start; tau = {tau.tolist()}")
    m, s = len(motion.multipliers), len(columns)
    d_qdd, d_lam = np.zeros((module.n, s)), np.zeros((m, s))
    if s:
        way.torques.check(t, q, qd)
        way.loads.check(t, q, qd)
        d_tau = way.torques.along(t, q, qd, columns.dq0, columns.dqd0)
        d_tau = np.broadcast_to(d_tau, d_qdd.shape)
        by = function_of(module, "constrained_forward_dynamics_derivatives")(q, qd, tau, **known)
        ways = (columns.dq0, columns.dqd0, d_tau)
        slopes = (by.dqdd_dq, by.dqdd_dqd, by.dqdd_dtau)
        d_qdd = sum((slope @ way for slope, way in zip(slopes, ways, strict=True)), d_qdd)
        if columns.places.size:
            name = "constrained_forward_dynamics_parameter_derivatives"
            explicit = function_of(module, name)(q, qd, tau, **known)
            d_qdd[:, columns.places] += explicit[:, columns.parameters]
        d_lam = way.multiplier_sensitivities(t, (q, qd, motion.qdd), -motion.multipliers, d_qdd)
    none, d_none = np.zeros(m), np.zeros((m, s))
    return State(
        t, q, qd, motion.qdd, -motion.multipliers, none, none,
        columns.dq0, columns.dqd0, d_qdd, d_lam, d_none, d_none,
    )  # fmt: skip


def told(way: AugmentedLagrangian, state: State, objectives: Objectives | None) -> dict[str, Array]:
    """Everything of one instant that the dataset has; signs of multipliers are the module's.

    See `multipliers_of`.
    """
    at = instant(way, state)
    found = {"q": at.q, "qd": at.qd, "qdd": at.qdd, "tau": at.tau}
    found["loads"] = way.loads(at.t, at.q, at.qd)
    found |= dict(zip(MULTIPLIERS, at.multipliers, strict=True))
    if at.s:
        found |= {"dq": at.dq, "dqd": at.dqd, "dqdd": at.dqdd, "dtau": at.dtau}
        found |= {f"d{x}": d for x, d in zip(MULTIPLIERS, at.dmultipliers, strict=True)}
    for name, values in found.items():
        if not np.isfinite(values).all():
            raise RequestError(f"simulate: {name} is not finite at t = {at.t:.6g} s")
    if objectives is not None:
        objectives.evaluate(at, {**way.known, "loads": found["loads"]})
        found |= {"outputs": objectives.values, "outputs_gradient": objectives.gradients}
    return found


def multipliers_of(way: AugmentedLagrangian, lam: Array, sigma: Array, kappa: Array) -> Array:
    """Those of the constraints and of both projections, in the signs of the module: (3, ...).

    lambda keeps the balance of the unprojected accelerations, which are of first order in the step.
    Projections in M, or nearly so, add J' kappa to it: lambda + kappa is of second order.
    """
    whole = not isinstance(way.scheme.projection, np.ndarray)
    return -np.stack([lam + whole * kappa, sigma, kappa])


def integrand(way: AugmentedLagrangian, state: State, objectives: Objectives | None) -> Array:
    """The objectives and, row by row, their gradients."""
    if objectives is None:
        return np.zeros(0)
    objectives.evaluate(
        instant(way, state), {**way.known, "loads": way.loads(state.t, state.q, state.qd)}
    )
    gradients = objectives.gradients[objectives.index]
    return np.concatenate([objectives.values[objectives.index], gradients.ravel()])


def instant(way: AugmentedLagrangian, state: State) -> At:
    """What outputs are evaluated at."""
    t, q, qd = state.t, state.q, state.qd
    d_tau = np.zeros(state.d_q.shape)
    if len(way.columns):
        d_tau += way.torques.along(t, q, qd, state.d_q, state.d_qd)
    return At(
        t, q, qd, state.qdd, way.torques(t, q, qd),
        state.d_q, state.d_qd, state.d_qdd, d_tau, len(way.columns),
        multipliers_of(way, state.lam, state.sigma, state.kappa),
        multipliers_of(way, state.d_lam, state.d_sigma, state.d_kappa),
    )  # fmt: skip
