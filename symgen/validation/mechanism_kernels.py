"""Checks of the C code for mechanisms against the same algorithms in Python.

Constrained accelerations and their derivatives are compared at random states, in one batch.  Steps
by ALI3-P have a reference implementation that reads like the paper: both make the same few steps
from the assembled mechanism at random velocities and torques, with all sensitivities and
objectives, and must agree in states, constraint forces and integrals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from symgen.errors import RequestError
from symgen.runtime import limits
from symgen.runtime.closure import RANK
from symgen.runtime.comparison import HIDDEN, relative_error
from symgen.runtime.configuration import configuration_of
from symgen.runtime.disturbance import DRAWS, SIZE, DisturbedFunctions, seed_of
from symgen.runtime.subjects import Check, without_warnings
from symgen.simulation.accelerations import has_constraints
from symgen.simulation.arguments import Columns, columns
from symgen.simulation.fixed_steps import (
    CONVERGED,
    PENALTY,
    AugmentedLagrangian,
    Scheme,
    State,
    Tangent,
    advance_of,
    in_c,
    in_python,
    integrand,
    starting_state,
)
from symgen.simulation.inputs import Loads, Torques
from symgen.simulation.mechanisms import closed_sensitivities, missing_functions
from symgen.simulation.motion import objectives_of
from symgen.support.arrays import Array

ACCELERATIONS = ("constrained_forward_dynamics", "constrained_forward_dynamics_derivatives")
SAMPLES = 8
COUNT = 3
TURN = 1e-4
"""Approximate displacement of a step from rest, (h^2 / 2) qdd (rad, m)."""
MULTIPLIERS = ("lam", "sigma", "kappa")
NEEDED = (
    "constraints_parameter_derivatives", "constraint_rates_parameter_derivatives",
    "constraint_acceleration_parameter_derivatives", "constraint_torque_parameter_derivatives",
    "inverse_dynamics_parameter_derivatives",
)  # fmt: skip


def accelerations(module: Any, seed: int = 2009) -> Iterator[Check]:
    """One row for each result of `constrained_forward_dynamics` and its derivatives; none without
    C code for mechanisms."""
    mechanism = getattr(module, "_mechanism", None)
    if mechanism is None or not {"mass_matrix", *ACCELERATIONS} <= set(dir(module)):
        return
    pairs = [(name, getattr(module, name), getattr(mechanism, name)) for name in ACCELERATIONS]
    if any(compiled == plain for _, compiled, plain in pairs):
        return
    random = np.random.default_rng(seed)
    space = configuration_of(module)
    turns = random.uniform(-1.0, 1.0, (SAMPLES, module.n))
    q = space.integrate(np.tile(space.neutral(), (SAMPLES, 1)), turns)
    qd, tau = random.uniform(-1.0, 1.0, (2, SAMPLES, module.n))
    loads = random.uniform(-1.0, 1.0, (SAMPLES, module.n_loads, 6))
    t = random.uniform(0.0, 1.0, SAMPLES)
    valued = _have_values(module, q, qd, t, loads)
    if not valued.any():
        yield _omitted(ACCELERATIONS[0], "constraints have no value at random positions")
        return
    q, qd, tau, t, loads = (x[valued] for x in (q, qd, tau, t, loads))
    options = {"t": t, "loads": loads}
    for name, compiled, plain in pairs:
        try:
            with without_warnings():  # random positions are beside the constraints
                results, expected = (f(q, qd, tau, **options) for f in (compiled, plain))
        except np.linalg.LinAlgError as error:
            yield _omitted(name, error)
            return
        worst = max(_ratio(x) for x in module.constraint_jacobian(q, t=t))
        limit = limits.physics(module.n) * worst**2
        moved: list[Any] = []
        for part, value, reference in zip(expected._fields, results, expected, strict=True):
            redundant = np.isnan(value) & np.isnan(reference)  # of rows that are redundant
            value, reference = (np.where(redundant, 0.0, x) for x in (value, reference))
            off = relative_error(value, reference)
            row = Check(f"{name}, {part} = that in Python", "compiled", off, limit, len(q))
            if not row.passed:
                moved = moved or _disturbed_results(module, name, (q, qd, tau), options)
                parts = [np.where(redundant, 0.0, getattr(x, part)) for x in moved]
                row = _with_roundings(row, reference, parts)
            yield row


def _disturbed_results(
    module: Any, name: str, state: Sequence[Array], options: Mapping[str, Array]
) -> list[Any]:
    """Results in Python from disturbed mass matrices, Jacobians and so on, of solvable draws."""
    results = []
    for draw in range(DRAWS):
        functions = DisturbedFunctions(module, None, seed_of(name, draw))
        with suppress(np.linalg.LinAlgError), without_warnings():
            results.append(getattr(type(module._mechanism)(functions), name)(*state, **options))
    return results


def _have_values(module: Any, q: Array, qd: Array, t: Array, loads: Array) -> NDArray[np.bool_]:
    """Whether relations and forces of the model have values at these states, (S,)."""
    timed = {"t": t} if getattr(module, "timed", False) else {}
    with without_warnings():
        parts = (
            module.constraint_jacobian(q, t=t).reshape(len(q), -1),
            module.constraint_bias(q, qd, t=t),
            module.bias_forces(q, qd, loads=loads, **timed),
        )
    valued: NDArray[np.bool_] = np.isfinite(np.concatenate(parts, axis=-1)).all(axis=-1)
    return valued


def steps(
    module: Any, seed: int = 2009, projection: Literal["mass", "tangent"] = "mass"
) -> Iterator[Check]:
    """One row for each array of a state and for the integrals; none without C code for steps."""
    if not has_constraints(module) or advance_of(module) is None:
        return
    missing = missing_functions(module, _columns(module), in_steps=True)
    if missing:
        yield _omitted("steps by ALI3-P", f"{', '.join(missing)} not built")
        return
    random = np.random.default_rng(seed)
    try:
        method, start, objectives = _task(module, random, projection)
        compiled = in_c(method, objectives)
        if compiled is None:
            return
        h = float(np.sqrt(2.0 * TURN / (1.0 + np.abs(start.qdd).max())))
        sums = [np.zeros_like(integrand(method, start, objectives)) for _ in range(2)]
        expected = in_python(method, objectives, start, h, COUNT, sums[0])
        final = compiled(start, h, COUNT, sums[1])
    except (RequestError, ValueError, np.linalg.LinAlgError) as error:
        yield _omitted("steps by ALI3-P", error)
        return
    limit = limits.steps(_ratio(module.constraint_jacobian(expected.q, t=expected.t)))
    disturbed: list[State] = []
    for name in vars(final):
        value, reference = (_array(method, at, name) for at in (final, expected))
        row = _row(name, value, reference, limit)
        if not row.passed:
            disturbed = disturbed or _disturbed(method, objectives, start, h)
            row = _with_roundings(row, reference, [_array(method, at, name) for at in disturbed])
        yield row
    yield _row("integrals", sums[1], sums[0], limit)


class _DisturbedSteps(AugmentedLagrangian):
    """Steps with every operation disturbed, including the coordinates, whose rounding errors in
    accelerations are multiplied by 4 / h^2."""

    converged = CONVERGED * SIZE / limits.EPS

    def __init__(self, method: AugmentedLagrangian, seed: int) -> None:
        functions = DisturbedFunctions(method.module, None, seed, passed_on=True)
        super().__init__(
            functions,
            method.scheme,
            method.torques,
            method.loads,
            method.parameters,
            method.columns,
        )
        self._random = np.random.default_rng(seed)

    def tangent(self, t: float, q: Array, qd: Array, qdd: Array, lam: Array) -> Tangent:
        at = super().tangent(t, q, qd, qdd, lam)
        terms = np.abs(at.J).sum(axis=-1) * max(1.0, float(np.abs(q).max(initial=0.0)))
        noise = SIZE * terms * self._random.uniform(-1.0, 1.0, terms.shape)
        return replace(at, constraints=at.constraints + noise)


def _disturbed(method: AugmentedLagrangian, objectives: Any, start: State, h: float) -> list[State]:
    """States after the same steps, with every operation disturbed, of draws that finish."""
    states = []
    for draw in range(DRAWS):
        moved = _DisturbedSteps(method, seed_of("steps", draw))
        sums = np.zeros_like(integrand(method, start, objectives))
        try:
            states.append(in_python(moved, objectives, start, h, COUNT, sums))
        except (RequestError, ValueError, np.linalg.LinAlgError):
            continue
    return states


def _array(method: AugmentedLagrangian, at: State, name: str) -> Array:
    """An array of a state; multipliers as generalized forces J' x, with derivatives, because those
    of redundant rows are rounding errors."""
    values: Array = np.asarray(getattr(at, name))
    if name.removeprefix("d_") not in MULTIPLIERS:
        return values
    values = (
        np.asarray(method.module.constraint_jacobian(at.q, t=at.t, **method.keywords)).T @ values
    )
    if not name.startswith("d_"):
        return values
    multipliers = getattr(at, name.removeprefix("d_"))
    _, curved = method.module.constraint_torque_derivatives(
        at.q, multipliers, t=at.t, **method.keywords
    )
    values += curved @ at.d_q + method.by_parameters("constraint_torque", at.q, multipliers, t=at.t)
    return values


def _ratio(J: Array) -> float:
    """Ratio of the largest singular value to the smallest that is not 0."""
    singular = np.linalg.svd(J, compute_uv=False)
    kept = singular[singular > RANK * singular.max(initial=0.0)]
    return float(kept.max() / kept.min()) if kept.size else 1.0


def _omitted(what: str, why: object) -> Check:
    return Check(f"{what}: not compared: {why}", "compiled", 0.0, 0.0, 0)


def _row(what: str, value: Any, expected: Any, limit: float) -> Check:
    error = relative_error(np.ravel(value)[np.newaxis], np.ravel(expected)[np.newaxis])
    return Check(f"steps by ALI3-P, {what} = the reference in Python", "compiled", error, limit, 1)


def _with_roundings(row: Check, expected: Array, disturbed: Sequence[Array]) -> Check:
    """Return the row with its limit raised by the effect of roundings on the reference
    (`symgen.runtime.disturbance`)."""
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    changes = [float(np.abs(x - expected).max(initial=0.0)) / scale for x in disturbed]
    finite = [x for x in changes if np.isfinite(x)]
    limit = row.limit + limits.ROUNDED * max(finite, default=0.0) * limits.EPS / SIZE
    if row.error <= limit > limits.VISIBLE:
        return Check(f"{row.name}: {HIDDEN}", row.subject, 0.0, 0.0, 0)
    return replace(row, limit=limit)


def _task(module: Any, random: np.random.Generator, projection: Literal["mass", "tangent"]) -> Any:
    """Return the reference method, its starting state, and the objectives."""
    wanted = _columns(module)
    values = np.asarray(module.default_parameters, dtype=float)
    q = np.asarray(module.assemble(hold=[]))
    options = {"parameters": values} if values.size else {}
    rates = random.uniform(-1, 1, module.n)
    qd = np.asarray(module.closed_velocities(q, rates, hold=[], **options))
    closed_sensitivities(module, q, qd, 0.0, values, wanted)
    space = configuration_of(module)
    torques = Torques(random.uniform(-1, 1, module.n), None, space, wanted)
    loads = Loads("loads", random.uniform(-1, 1, (module.n_loads, 6)), (module.n_loads, 6), space)
    scheme = Scheme(1.0, PENALTY, projection, 1)
    method = AugmentedLagrangian(module, scheme, torques, loads, values, wanted)
    names = "all" if getattr(module, "output_names", ()) else ()
    return method, starting_state(method, 0.0, q, qd), objectives_of(module, names, wanted)


def _columns(module: Any) -> Columns:
    """All runtime parameters, if their derivatives were built, and one initial value, if any."""
    free = np.ones(module.n, dtype=bool)
    some = list(module.parameter_names) if all(hasattr(module, x) for x in NEEDED) else []
    first = [f"q0.{name}" for name in module.coordinate_names[:1]]
    return columns(module, [*some, *first], None, None, free)
