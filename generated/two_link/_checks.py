"""Checks that need nothing but the functions themselves: formulations and backends against each
other, derivatives against complex step, and the laws of mechanics.

It validates a build, and is shipped in every generated package for `selftest()`.

| symbol | array | shape; S samples |
| --- | --- | --- |
| q, qd, qdd | coordinates, velocities, accelerations | (S, n) |
| M, C, g | mass matrix, Coriolis matrix, gravity forces | (S, n, n), (S, n, n), (S, n) |
| T, V | kinetic and potential energy | (S,) |
| w | loads, [fx fy fz nx ny nz] in base axes | (S, n_loads, 6) |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _limits as limits

Array = np.ndarray[Any, Any]

ARGUMENTS: dict[str, tuple[str, ...]] = {
    "inverse_dynamics": ("q", "qd", "qdd"),
    "inverse_dynamics_derivatives": ("q", "qd", "qdd"),
    "inverse_dynamics_load_derivatives": ("q",),
    "mass_matrix": ("q",),
    "coriolis_matrix": ("q", "qd"),
    "bias_forces": ("q", "qd"),
    "gravity_forces": ("q",),
    "kinetic_energy": ("q", "qd"),
    "potential_energy": ("q",),
    "forward_kinematics": ("q",),
    "jacobians": ("q",),
}
LOADED = ("inverse_dynamics", "inverse_dynamics_derivatives", "bias_forces")
SEVERAL_RESULTS = {"inverse_dynamics_derivatives": ("tau", "dtau_dq", "dtau_dqd", "dtau_dqdd")}


@dataclass(frozen=True)
class Check:
    """One comparison: the largest relative error over all samples, and what is allowed."""

    name: str
    subject: str
    error: float
    limit: float
    samples: int

    @property
    def passed(self) -> bool:
        """Whether the error is within its limit (a NaN never is)."""
        return self.error <= self.limit

    def __str__(self) -> str:
        figures = f"error {self.error:.1e}, limit {self.limit:.1e}, {self.samples} samples"
        return f"{self.subject}: {self.name}: {figures}: {'ok' if self.passed else 'FAILED'}"


@dataclass(frozen=True)
class Subject:
    """Something to check: an object whose attributes are functions of a generated module.

    `complex_step`: they take complex numbers.  `arrays`: they also take single samples, batches
    that broadcast, and `out=`, which an evaluated formulation need not.
    """

    name: str
    functions: Any
    complex_step: bool = False
    arrays: bool = True


@dataclass(frozen=True)
class States:
    """Random states, one per row."""

    q: Array
    qd: Array
    qdd: Array
    loads: Array


def random_states(n: int, n_loads: int, samples: int, seed: int = 2009) -> States:
    """|q| <= pi, velocities and accelerations up to 2, loads up to 10; the same for one seed."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi, np.pi, (samples, n))
    qd, qdd = rng.uniform(-2.0, 2.0, (2, samples, n))
    return States(q, qd, qdd, rng.uniform(-10.0, 10.0, (samples, n_loads, 6)))


def call(functions: Any, name: str, arguments: dict[str, Any], **options: Any) -> tuple[Array, ...]:
    """Call a function with the arguments that it takes; the results are always a tuple."""
    if name in LOADED and arguments.get("loads") is not None:
        options["loads"] = arguments["loads"]
    results = getattr(functions, name)(*(arguments[key] for key in ARGUMENTS[name]), **options)
    return results if isinstance(results, tuple) else (results,)


class Evaluation:
    """A subject on fixed states; every function is evaluated once.

    `condition` says how much larger the terms of the robot's equations are than their sums: it
    multiplies every limit.
    """

    def __init__(self, subject: Subject, states: States, condition: float = 1.0) -> None:
        self.subject = subject
        self.states = states
        self.condition = condition
        self._results: dict[str, tuple[Array, ...]] = {}
        self._slopes: dict[tuple[str, str], Array] = {}

    def has(self, *names: str) -> bool:
        """Whether the subject has all these functions."""
        return all(hasattr(self.subject.functions, name) for name in names)

    def results(self, name: str) -> tuple[Array, ...]:
        """All results of a function."""
        if name not in self._results:
            self._results[name] = call(self.subject.functions, name, vars(self.states))
        return self._results[name]

    def __getitem__(self, name: str) -> Array:
        return self.results(name)[0]

    def slope(self, name: str, argument: str) -> Array:
        """d result / d argument by complex step; the argument's axes stand last."""
        if (name, argument) not in self._slopes:
            self._slopes[name, argument] = self._complex_step(name, argument)
        return self._slopes[name, argument]

    def _complex_step(self, name: str, argument: str) -> Array:
        shape = vars(self.states)[argument].shape
        samples, size = shape[0], int(np.prod(shape[1:]))
        stacked = {k: np.repeat(x, size, axis=0) for k, x in vars(self.states).items()}
        directions = np.tile(np.eye(size), (samples, 1)).reshape(samples * size, *shape[1:])
        stacked[argument] = stacked[argument] + 1j * limits.STEP * directions
        values = np.asarray(call(self.subject.functions, name, stacked)[0]).imag / limits.STEP
        values = np.moveaxis(values.reshape(samples, size, *values.shape[1:]), 1, -1)
        return values.reshape(*values.shape[:-1], *shape[1:])

    def rate(self, name: str) -> Array:
        """d result / dt along the velocities and accelerations of the states."""
        s, h = self.states, 1j * limits.STEP
        moving = {**vars(s), "q": s.q + h * s.qd, "qd": s.qd + h * s.qdd}
        return np.asarray(call(self.subject.functions, name, moving)[0]).imag / limits.STEP


def relative_error(value: Any, reference: Any, *terms: Any) -> float:
    """Largest |value - reference| / max(1, largest magnitude in reference and terms) per sample."""
    value, reference = np.asarray(value), np.asarray(reference)
    if value.shape != reference.shape:
        return float("inf")
    scale = np.max([np.ones(len(value)), *map(_largest, (reference, *terms))], axis=0)
    with np.errstate(invalid="ignore"):
        ratio = _largest(value - reference) / scale
    return float(np.max(np.where(np.isnan(ratio), np.inf, ratio), initial=0.0))


def _largest(array: Any) -> Array:
    """Largest magnitude in each sample; a NaN stays one."""
    array = np.abs(np.asarray(array))
    return np.asarray(np.max(array, axis=tuple(range(1, array.ndim)), initial=0.0))


Comparison = tuple[Any, ...]
"""What holds, the limit as a function of n, value, reference, further arrays that set the scale."""


def _rows(s: Evaluation, comparisons: Iterable[Comparison], n: int) -> Iterator[Check]:
    samples = len(s.states.q)
    try:
        for name, limit, *arrays in comparisons:
            allowed = limit(n) * s.condition
            yield Check(name, s.subject.name, relative_error(*arrays), allowed, samples)
    except (ArithmeticError, LookupError, TypeError, ValueError) as fault:
        name = f"call without {type(fault).__name__} ({fault})"
        yield Check(name, s.subject.name, float("inf"), 0.0, samples)


# ------------------------------------------------------------------ one subject against another


def agreement(s: Evaluation, reference: Evaluation, n: int) -> Iterator[Check]:
    """Every function that both have, result by result."""
    return _rows(s, _common_results(s, reference), n)


def _common_results(s: Evaluation, reference: Evaluation) -> Iterator[Comparison]:
    for name in ARGUMENTS:
        if s.has(name) and reference.has(name):
            results = s.results(name), reference.results(name)
            for label, *arrays in zip(_labels(name), *results, strict=True):
                what = f"{name}{label} = that of {reference.subject.name}"
                yield what, limits.agreement, *arrays


def _labels(name: str) -> list[str]:
    return [f", {label}" for label in SEVERAL_RESULTS.get(name, ())] or [""]


# ------------------------------------------------------ one subject: derivatives and mechanics
# `s` is the subject; `lens` gives the complex steps: the subject itself where it takes complex
# numbers, else another one, with which it is compared function by function anyway.


def derivatives(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Derivatives of the inverse dynamics against complex step."""
    if not lens.has("inverse_dynamics"):
        return
    by, limit = "complex step of inverse_dynamics", limits.derivative
    if s.has("inverse_dynamics_derivatives"):
        tau, *slopes = s.results("inverse_dynamics_derivatives")
        if s.has("inverse_dynamics"):
            what = "inverse_dynamics_derivatives, tau = inverse_dynamics"
            yield what, limits.agreement, tau, s["inverse_dynamics"]
        for argument, slope in zip(("q", "qd", "qdd"), slopes, strict=True):
            expected = lens.slope("inverse_dynamics", argument)
            yield f"inverse_dynamics_derivatives, dtau_d{argument} = {by}", limit, slope, expected
    name = "inverse_dynamics_load_derivatives"
    if s.has(name) and s.states.loads.size:
        yield f"{name} = {by}", limit, s[name], lens.slope("inverse_dynamics", "loads")
    if s.has("mass_matrix"):
        expected = lens.slope("inverse_dynamics", "qdd")
        yield f"mass_matrix = {by} in qdd", limit, s["mass_matrix"], expected


def mass_matrix(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """M is symmetric and positive semi-definite."""
    if s.has("mass_matrix"):
        mass = np.asarray(s["mass_matrix"])
        other = np.swapaxes(mass, -1, -2)
        yield "mass_matrix is symmetric", limits.physics, other, mass
        below = np.full(len(mass), np.nan)
        if np.all(np.isfinite(mass)):
            below = np.maximum(-np.linalg.eigvalsh(0.5 * (mass + other)).min(axis=-1), 0.0)
        yield "mass_matrix is positive semi-definite", limits.physics, below, 0.0 * below, mass


def forces(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """g = dV/dq; bias = inverse dynamics at qdd = 0, which is C qd + g without loads."""
    if s.has("gravity_forces") and lens.has("potential_energy"):
        what = "gravity_forces = complex step of potential_energy"
        yield what, limits.physics, s["gravity_forces"], lens.slope("potential_energy", "q")
    states, functions = s.states, s.subject.functions
    if s.has("bias_forces", "inverse_dynamics"):
        still = {**vars(states), "qdd": np.zeros_like(states.qdd)}
        expected = call(functions, "inverse_dynamics", still)[0]
        what = "bias_forces = inverse_dynamics at qdd = 0"
        yield what, limits.physics, s["bias_forces"], expected
    if s.has("bias_forces", "coriolis_matrix", "gravity_forces"):
        free = {**vars(states), "loads": np.zeros_like(states.loads)}
        value = call(functions, "bias_forces", free)[0]
        terms = _times(s["coriolis_matrix"], states.qd), s["gravity_forces"]
        what = "coriolis_matrix qd + gravity_forces = bias_forces without loads"
        yield what, limits.physics, terms[0] + terms[1], value, *terms


def coriolis(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """dM/dt - 2 C is skew-symmetric, and C is the Christoffel matrix of M."""
    if s.has("coriolis_matrix") and lens.has("mass_matrix"):
        matrix, slope = s["coriolis_matrix"], lens.slope("mass_matrix", "q")
        mdot = np.einsum("sijk,sk->sij", slope, s.states.qd)
        skew = mdot - 2.0 * matrix
        what = "d mass_matrix/dt - 2 coriolis_matrix is skew"
        yield what, limits.physics, skew, -np.swapaxes(skew, -1, -2), mdot
        other = np.einsum("sikj,sk->sij", slope, s.states.qd)
        christoffel = 0.5 * (mdot + other - np.swapaxes(other, -1, -2))
        what = "coriolis_matrix = Christoffel symbols of mass_matrix"
        yield what, limits.physics, matrix, christoffel


def energy(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """T = qd' M qd / 2, and d(T + V)/dt = power of the joints and the loads."""
    qd = s.states.qd
    if s.has("kinetic_energy", "mass_matrix"):
        value = 0.5 * np.sum(qd * _times(s["mass_matrix"], qd), axis=-1)
        what = "kinetic_energy = qd' mass_matrix qd / 2"
        yield what, limits.physics, s["kinetic_energy"], value
    needed = "inverse_dynamics", "inverse_dynamics_load_derivatives"
    if s.has(*needed) and lens.has("kinetic_energy", "potential_energy"):
        lever = np.asarray(s["inverse_dynamics_load_derivatives"])
        held = np.sum(lever * s.states.loads[:, np.newaxis], axis=(-1, -2))
        powers = qd * s["inverse_dynamics"], qd * held
        rates = lens.rate("kinetic_energy"), lens.rate("potential_energy")
        value = np.sum(powers[0] - powers[1], axis=-1)
        what = "power of joints and loads = rate of kinetic_energy + potential_energy"
        yield what, limits.physics, value, rates[0] + rates[1], *rates, *powers


def kinematics(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Rotations are orthonormal and right-handed; Jacobians are derivatives of the poses."""
    if s.has("forward_kinematics"):
        poses = np.asarray(s["forward_kinematics"])
        turn, below = poses[..., :3, :3], poses[..., 3, :]
        product, one = np.swapaxes(turn, -1, -2) @ turn, np.ones(turn.shape[:-2])
        identity, last = np.broadcast_to(np.eye(3), turn.shape), 0.0 * below + [0.0, 0.0, 0.0, 1.0]
        name = "forward_kinematics"
        yield f"{name}: rotations orthonormal", limits.rotation, product, identity
        yield f"{name}: frames right-handed", limits.rotation, np.linalg.det(turn), one
        yield f"{name}: last row is 0 0 0 1", limits.exact, below, last
    if s.states.q.size and s.has("jacobians") and lens.has("forward_kinematics"):
        slope = lens.slope("forward_kinematics", "q")
        turn = np.asarray(lens["forward_kinematics"])[..., :3, :3]
        spin = np.einsum("...abk,...cb->...ack", slope[..., :3, :3, :], turn)
        angular = np.stack([spin[..., 2, 1, :], spin[..., 0, 2, :], spin[..., 1, 0, :]], axis=-2)
        by, jacobian = "complex step of forward_kinematics", np.asarray(s["jacobians"])
        linear = slope[..., :3, 3, :]
        yield f"jacobians, linear = {by}", limits.physics, jacobian[..., :3, :], linear
        yield f"jacobians, angular = {by}", limits.physics, jacobian[..., 3:, :], angular


LAWS: tuple[Callable[[Evaluation, Evaluation], Iterator[Comparison]], ...] = (
    derivatives, mass_matrix, forces, coriolis, energy, kinematics,
)  # fmt: skip


def _times(matrix: Array, vector: Array) -> Array:
    return np.asarray((matrix @ vector[..., np.newaxis])[..., 0])


# ------------------------------------------------------------- one subject: the array interface


def interface(s: Evaluation) -> Iterator[Comparison]:
    """Single samples, broadcast batches, `out=` and default loads give the same numbers."""
    for name in filter(s.has, ARGUMENTS):
        for how, values, expected in _ways_to_call(s, name):
            for label, *arrays in zip(_labels(name), values, expected, strict=True):
                yield f"{name}{label}: {how}", limits.interface, *arrays


def _ways_to_call(s: Evaluation, name: str) -> Iterator[tuple[str, Any, Any]]:
    functions, arguments = s.subject.functions, vars(s.states)
    batch = [np.asarray(result) for result in s.results(name)]
    few = min(2, len(s.states.q))
    single = [call(functions, name, {k: x[i] for k, x in arguments.items()}) for i in range(few)]
    stacked = [np.stack(results) for results in zip(*single, strict=True)]
    yield "single samples = batch", stacked, [result[:few] for result in batch]

    out = tuple(np.full((*x.shape[:-1], 2 * x.shape[-1]), np.nan)[..., ::2] for x in batch)  # gaps
    call(functions, name, arguments, out=out if name in SEVERAL_RESULTS else out[0])
    yield "out= is filled", out, batch

    keys = ARGUMENTS[name] + ("loads",) * (name in LOADED)
    if len(keys) > 1:
        crossed = {"q": arguments["q"][:few, np.newaxis]}
        crossed |= {key: arguments[key][np.newaxis, :few] for key in keys[1:]}
        full = {"q": np.repeat(arguments["q"][:few], few, axis=0)}
        full |= {key: np.concatenate([arguments[key][:few]] * few) for key in keys[1:]}
        expected = [np.reshape(x, (few, few, *x.shape[1:])) for x in call(functions, name, full)]
        yield "broadcast = written out", call(functions, name, crossed), expected
    if name in LOADED:
        zero, absent = ({**arguments, "loads": x} for x in (0.0 * arguments["loads"], None))
        yield "no loads = zero loads", call(functions, name, absent), call(functions, name, zero)


# ------------------------------------------------------------------------------------ together


def subjects_of(module: Any) -> list[Subject]:
    """Every formulation of every backend of a generated module, and its top level.

    The NumPy backend comes first: it takes complex numbers.
    """
    backends = sorted(dict(module.backends).items(), key=lambda item: item[0] != "numpy")
    subjects = [
        Subject(f"{name} ({backend})", getattr(formulations, name), complex_step=backend == "numpy")
        for backend, formulations in backends
        for name in module.formulations
        if hasattr(formulations, name)
    ]
    return [*subjects, Subject("top level", module)]


def check_evaluations(evaluations: Sequence[Evaluation]) -> list[Check]:
    """Every check that applies; the first subject that takes complex numbers is the reference."""
    rows: list[Check] = []
    lenses = [e for e in evaluations if e.subject.complex_step]
    for s in evaluations:
        n = s.states.q.shape[1]
        reference = lenses[0] if lenses else evaluations[0]
        lens = s if s.subject.complex_step else reference
        if s is not reference:
            rows.extend(agreement(s, reference, n))
        if lens.subject.complex_step:
            for law in LAWS if n else (kinematics,):
                rows.extend(_rows(s, law(s, lens), n))
        if s.subject.arrays:
            rows.extend(_rows(s, interface(s), n))
    return rows


def check_module(module: Any, samples: int | None = None, seed: int = 2009) -> list[Check]:
    """Check a generated module with itself: every row is one comparison.

    `samples` is the number of random states; the default takes a fraction of a second.
    """
    states = random_states(module.n, module.n_loads, samples or limits.samples(module.n), seed)
    condition = getattr(module, "condition", 1.0)
    subjects = subjects_of(module)
    with np.errstate(all="ignore"):
        return check_evaluations([Evaluation(item, states, condition) for item in subjects])
