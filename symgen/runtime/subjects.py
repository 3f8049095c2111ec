"""Subjects of checks, random states, and evaluations of functions at states."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import limits
from .calls import ARGUMENTS, DIRECTED, DIRECTIONS, LOADED, OF_OUTPUTS, TIMED
from .configuration import Configuration
from .disturbance import DisturbedFunctions, seed_of
from .joint_terms import JointTerms

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Check:
    """A comparison: the largest relative error over all samples, and its limit."""

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
    """A subject of checks: an object whose attributes are functions of a generated module.

    `complex_step`: they take complex numbers.  `arrays`: they also take single samples, batches
    that broadcast, and `out=`, unlike an evaluated formulation.  `independent`: they are the
    reference model, no generated code.  `in_numpy` has the same functions in NumPy, of a compiled
    subject.
    """

    name: str
    functions: Any
    complex_step: bool = False
    arrays: bool = True
    independent: bool = False
    in_numpy: Any = None


@dataclass(frozen=True)
class States:
    """Random states, one per row (S of them), and p runtime parameters.

    `tau`, `x` (S, n) and `t` (S,) are arguments of functions, as are `dq`, `dqd`, `dtau`
    (S, n, p); `parameters` (S, p) are the default values in every row.  `multipliers` (S, n) weigh
    results, `constraint_multipliers` (S, m) are those of m constraints.  Derivatives are taken
    along `direction` (S, n), and along the `along` arrays, each of the shape of velocities, loads
    (S, n_loads, 6) or parameters (S, p).  `motion_multipliers` (S, 3, m) are those in outputs, with
    m = 0 where outputs mention none; `timed` (S,): forces of the model mention the time, so that
    functions with loads take t.
    """

    q: Array
    qd: Array
    qdd: Array
    loads: Array
    tau: Array
    x: Array
    t: Array
    dq: Array
    dqd: Array
    dtau: Array
    parameters: Array
    multipliers: Array
    direction: Array
    constraint_multipliers: Array
    along_q: Array
    along_qd: Array
    along_qdd: Array
    along_tau: Array
    along_loads: Array
    along_parameters: Array
    motion_multipliers: Array
    timed: Array


@dataclass(frozen=True)
class Facts:
    """Properties of the robot other than its functions; None where they are not available.

    `condition` is the ratio of terms of the robot's equations to their sums, and multiplies every
    limit.  `inertial_parameters` are those of the moving bodies, (10 N,); `joint_terms` are the
    numbers of drives, bearings and springs by name, (N,) each (`JointTerms.numbers`).  `prescribed`
    (n,): coordinates whose motion is prescribed in hybrid dynamics; `output_names` are those of the
    model's outputs, `link_names` those of the links in the order of arrays.  Where some of the N
    joints follow others, the positions of all are S q + o, with `coupling` S (N, n) and `offsets`
    o (N,); else N = n and there is no S.  `configuration` is the configuration space, None without
    joints on manifolds.  `forces` are the types of the model's forces.  `mass_terms` (n,) scale
    rounding errors of the mass matrix (see `symgen.validation.conditioning`).  `velocity_rows` mark
    the constraints of velocities, which are no rates of `constraints`.  With `natural` coordinates
    frames have right angles only where the constraints are 0.
    """

    condition: float = 1.0
    inertial_parameters: Array | None = None
    joint_terms: Mapping[str, Array] | None = None
    prescribed: Array | None = None
    output_names: tuple[str, ...] = ()
    coupling: Array | None = None
    offsets: Array | None = None
    link_names: tuple[str, ...] = ()
    configuration: Configuration | None = None
    forces: tuple[str, ...] = ()
    mass_terms: Array | None = None
    velocity_rows: tuple[bool, ...] = ()
    natural: bool = False


def random_states(
    n: int, n_loads: int, samples: int, seed: int = 2009, parameters: Any = (),
    configuration: Configuration | None = None, constraints: int = 0, mentioned: int = 0,
    timed: bool = False,
) -> States:  # fmt: skip
    """Draw states with |q| <= pi, velocities and accelerations up to 2, loads and torques up to 10.

    Quaternions are those of rotation vectors within the same limits.  Inputs of hybrid dynamics go
    up to 5, times to 10, directions to 1; `parameters` are the values of the runtime parameters,
    (p,); `constraints` is the number of rows, `mentioned` that of rows whose multipliers outputs
    may mention; `timed`: forces of the model mention the time.  Equal seeds give equal states.
    """
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi, np.pi, (samples, n))
    if configuration is not None:
        q = configuration.integrate(configuration.neutral(), q)
    qd, qdd = rng.uniform(-2.0, 2.0, (2, samples, n))
    loads = rng.uniform(-10.0, 10.0, (samples, n_loads, 6))
    tau, x = rng.uniform(-10.0, 10.0, (samples, n)), rng.uniform(-5.0, 5.0, (samples, n))
    t = rng.uniform(0.0, 10.0, samples)
    values = np.asarray(parameters, dtype=float)
    dq, dqd, dtau = rng.uniform(-1.0, 1.0, (3, samples, n, len(values)))
    rows = np.tile(values, (samples, 1))
    multipliers, direction = rng.uniform(-1.0, 1.0, (2, samples, n))
    along_q, along_qd, along_qdd, along_tau = rng.uniform(-1.0, 1.0, (4, samples, n))
    along_loads = rng.uniform(-1.0, 1.0, loads.shape)
    along_parameters = rng.uniform(-1.0, 1.0, rows.shape) * np.abs(rows)
    of_rows = rng.uniform(-10.0, 10.0, (samples, constraints))
    motion = rng.uniform(-10.0, 10.0, (samples, 3, mentioned))
    return States(
        q, qd, qdd, loads, tau, x, t, dq, dqd, dtau, rows, multipliers, direction,
        of_rows, along_q, along_qd, along_qdd, along_tau, along_loads, along_parameters,
        motion, np.full(samples, timed),
    )  # fmt: skip


def call(functions: Any, name: str, arguments: dict[str, Any], **options: Any) -> tuple[Array, ...]:
    """Call a function with the arguments that it takes; return a tuple of its results."""
    if name in LOADED and arguments.get("loads") is not None:
        options["loads"] = arguments["loads"]
    if "t" in arguments and takes_time(name, arguments):
        options["t"] = arguments["t"]
    multipliers = arguments.get("motion_multipliers")
    if name in OF_OUTPUTS and multipliers is not None and np.shape(multipliers)[-1]:
        options["motion_multipliers"] = multipliers
    parameters = arguments.get("parameters")
    if parameters is not None and np.shape(parameters)[-1]:
        options["parameters"] = parameters
    if name in DIRECTED:
        directions = {option: arguments[key] for option, key in DIRECTIONS.items()}
        options |= {option: x for option, x in directions.items() if np.shape(x)[-1] and np.size(x)}
    results = getattr(functions, name)(*(arguments[key] for key in ARGUMENTS[name]), **options)
    return results if isinstance(results, tuple) else (results,)


def takes_time(name: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether a function takes t by keyword; `arguments` are states of the robot."""
    if name in LOADED and name not in OF_OUTPUTS:
        return bool(np.any(arguments.get("timed", False)))
    return name in TIMED


@contextmanager
def without_warnings() -> Iterator[None]:
    """Silence warnings about numbers that are not finite, which checks report."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


class Evaluation:
    """A subject on fixed states; every function is evaluated once."""

    def __init__(self, subject: Subject, states: States, facts: Facts | None = None) -> None:
        self.subject, self.states, self.facts = subject, states, facts or Facts()
        self._results: dict[str, tuple[Array, ...]] = {}
        self._slopes: dict[tuple[str, str], tuple[Array, ...]] = {}
        self.responses: dict[str, Any] = {}
        """Results of `scales` about the mass matrix."""
        self.smooth: Array | None = None
        """Results of `domain` about the outputs."""
        self._disturbed: dict[int, Evaluation] = {}
        facts, n = self.facts, states.qd.shape[1]
        self.terms = JointTerms(
            n, facts.joint_terms, facts.coupling, facts.offsets, facts.configuration
        )

    @property
    def losses(self) -> Array:
        """Torques of damping and friction, (S, n)."""
        return self.terms.losses(self.states.qd)

    @property
    def springs(self) -> Array:
        """Torques of the springs of joints, (S, n)."""
        return self.terms.springs(self.states.q)

    @property
    def joint_torques(self) -> Array:
        """Torques of all joint terms, (S, n)."""
        return self.terms.torques(self.states.q, self.states.qd, self.states.qdd)

    def disturbed(self, draw: int) -> Evaluation:
        """Return the evaluation with disturbed operations (`disturbance`)."""
        if draw not in self._disturbed:
            subject = self.subject
            in_numpy = subject.functions if subject.complex_step else subject.in_numpy
            seed, functions = seed_of(subject.name, draw), subject.functions
            if subject.independent:  # it caches results, and would cache disturbed ones
                in_numpy, functions = None, functions.disturbed_by(np.random.default_rng(seed))
            functions = DisturbedFunctions(functions, in_numpy, seed)
            made = Evaluation(replace(subject, functions=functions), self.states, self.facts)
            made.smooth = self.smooth
            self._disturbed[draw] = made
        return self._disturbed[draw]

    def has(self, *names: str) -> bool:
        """Return whether the subject has all these functions."""
        return all(hasattr(self.subject.functions, name) for name in names)

    def has_any(self, names: Iterable[str]) -> bool:
        """Return whether the subject has one of these functions."""
        return any(map(self.has, names))

    def results(self, name: str) -> tuple[Array, ...]:
        """Return all results of a function."""
        if name not in self._results:
            self._results[name] = call(self.subject.functions, name, vars(self.states))
        return self._results[name]

    def __getitem__(self, name: str) -> Array:
        return self.results(name)[0]

    def at(self, name: str, **changed: Array | None) -> Array:
        """Return the first result with some arrays of the states `changed`; None for no loads."""
        return call(self.subject.functions, name, {**vars(self.states), **changed})[0]

    def slope(self, name: str, argument: str, result: int = 0) -> Array:
        """Return d result / d argument by complex step, with the argument's axes last."""
        if (name, argument) not in self._slopes:
            self._slopes[name, argument] = self._complex_step(name, argument)
        return self._slopes[name, argument][result]

    def neighbours(self, step: float) -> tuple[Evaluation, ...]:
        """Return evaluations at parameters changed by `step` either way, in a random direction."""
        values = self.states.parameters
        if not values.size:
            return ()
        rng, p = np.random.default_rng(2009), values.shape[1]
        direction = rng.uniform(0.5, 1.0, p) * rng.choice([-1.0, 1.0], p)
        change = step * np.where(values == 0.0, 1.0, np.abs(values)) * direction
        return tuple(
            Evaluation(self.subject, replace(self.states, parameters=moved), self.facts)
            for moved in (values - change, values + change)
        )

    def _complex_step(self, name: str, argument: str) -> tuple[Array, ...]:
        name_of_shape = "qd" if argument == "q" else argument  # of the tangent space
        shape = vars(self.states)[name_of_shape].shape
        samples, size = shape[0], int(np.prod(shape[1:]))
        stacked = {k: np.repeat(x, size, axis=0) for k, x in vars(self.states).items()}
        directions = np.tile(np.eye(size), (samples, 1)).reshape(samples * size, *shape[1:])
        stacked[argument] = self._moved(argument, stacked[argument], 1j * limits.STEP * directions)

        def last(result: Array) -> Array:
            values = np.asarray(result).imag / limits.STEP
            values = np.moveaxis(values.reshape(samples, size, *values.shape[1:]), 1, -1)
            return values.reshape(*values.shape[:-1], *shape[1:])

        return tuple(map(last, call(self.subject.functions, name, stacked)))

    def _moved(self, argument: str, values: Array, change: Array) -> Array:
        """Return an argument after a change, which is tangent for q."""
        if argument == "q" and self.facts.configuration is not None:
            return self.facts.configuration.integrate(values, change)
        return np.asarray(values + change)

    def directional(self, name: str, argument: str) -> tuple[Array, ...]:
        """Return derivatives of results by an argument along `direction`, by complex steps."""
        s = self.states
        change = 1j * limits.STEP * s.direction
        moved = {**vars(s), argument: self._moved(argument, vars(s)[argument], change)}
        results = call(self.subject.functions, name, moved)
        return tuple(np.asarray(result).imag / limits.STEP for result in results)

    def moved_along(self, names: Iterable[str]) -> dict[str, Array]:
        """Return the states with arguments `names` a complex step along the ``along_`` arrays."""
        states = vars(self.states)
        moved = {
            name: self._moved(name, states[name], 1j * limits.STEP * states[f"along_{name}"])
            for name in names
        }
        return {**states, **moved}

    def rate(self, name: str, result: int = 0, qdd: Array | None = None) -> Array:
        """Return d result / dt, (S, ...), with accelerations of the states, or `qdd` (S, n)."""
        s, h = self.states, 1j * limits.STEP
        qd = s.qd + h * (s.qdd if qdd is None else qdd)
        moving = {**vars(s), "q": self._moved("q", s.q, h * s.qd), "qd": qd, "t": s.t + h}
        return np.asarray(call(self.subject.functions, name, moving)[result]).imag / limits.STEP


Comparison = tuple[Any, ...]
"""Name of the law, limit as a function of n, value, reference, further arrays for the scale."""


def times(matrix: Array, vector: Array) -> Array:
    """Return matrices (..., n, k) times vectors (..., k), sample by sample."""
    return np.asarray((matrix @ vector[..., np.newaxis])[..., 0])


def top(array: Any) -> Array:
    """Return the largest magnitude in each sample, (S,), or NaN."""
    array = np.abs(np.asarray(array))
    return np.asarray(array.max(axis=tuple(range(1, array.ndim)), initial=0.0))


def model_forces(s: Evaluation) -> Array | None:
    """Return generalized forces (S, n) of the model's forces: the rest of the bias forces.

    None where a subject lacks the functions for it; zeros without such forces.
    """
    if not s.facts.forces:
        return np.zeros(s.states.qd.shape)
    if not s.has("bias_forces", "coriolis_matrix", "gravity_forces"):
        return None
    bodies = times(s["coriolis_matrix"], s.states.qd) + s["gravity_forces"]
    return np.asarray(bodies + s.springs + s.losses - s.at("bias_forces", loads=None))
