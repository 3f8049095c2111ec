"""Checks of functions by themselves: formulations and backends against each other, derivatives
against complex step, and laws of mechanics.

They validate a build, and serve `selftest()` of every generated package.

| symbol | array | shape; S samples |
| --- | --- | --- |
| q, qd, qdd | coordinates, velocities, accelerations | (S, n) |
| M, C, g | mass matrix, Coriolis matrix, gravity forces | (S, n, n), (S, n, n), (S, n) |
| T, V | kinetic and potential energy | (S,) |
| w | loads, [fx fy fz nx ny nz] in base axes | (S, n_loads, 6) |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from . import limits
from .agreement import agreement, interface
from .calls import ARGUMENTS, SEVERAL_RESULTS
from .comparison import rows, until_a_fault
from .configuration import configuration_of
from .derivative_laws import MATRICES, derivatives, hessian, products, second_products
from .domain import left_out, model_has_values, states_in_domain, states_with_values
from .forward_laws import FORWARD_LAWS, not_compared
from .motion_laws import MOTION_LAWS, are_bodies
from .scales import SOLVED
from .subjects import (
    Array,
    Check,
    Comparison,
    Evaluation,
    Facts,
    States,
    Subject,
    call,
    model_forces,
    random_states,
    times,
    without_warnings,
)  # fmt: skip

PARAMETER_CHANGE = 0.05
CHANGED = f", parameters changed by up to {PARAMETER_CHANGE:.0%}"


# ------------------------------------------------------------------------- laws of mechanics
# `s` and `lens` are as in `derivative_laws`.


def mass_matrix(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """M is symmetric and, without the rotors, positive semi-definite like the inertias."""
    if s.has("mass_matrix"):
        mass = np.asarray(s["mass_matrix"])
        transposed = np.swapaxes(mass, -1, -2)
        yield "mass_matrix is symmetric", limits.physics, transposed, mass
        if s.facts.natural or not are_bodies(s.facts.inertial_parameters):
            return  # natural coordinates: where links deform inertias of no body show
        below = np.full(len(mass), np.nan)
        if np.all(np.isfinite(mass)):
            bodies = 0.5 * (mass + transposed) - s.terms.rotors
            below = np.maximum(-np.linalg.eigvalsh(bodies).min(axis=-1), 0.0)
        yield "mass_matrix is positive semi-definite", limits.physics, below, 0.0 * below, mass


def forces(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """g + springs = dV/dq; bias = inverse dynamics at qdd = 0, C qd + g + terms without loads.

    Torques of springs between points at rest are slopes of their energy, and their dampers take
    power; no law holds for other forces of the model.
    """
    spring, loss = s.springs, s.losses
    if s.facts.forces:
        yield from _springs(s, lens)
    elif s.has("gravity_forces") and lens.has("potential_energy"):
        what = "gravity_forces + springs = complex step of potential_energy"
        slope = lens.slope("potential_energy", "q")
        yield what, limits.physics, s["gravity_forces"] + spring, slope, spring
    states, functions = s.states, s.subject.functions
    if s.has("bias_forces", "inverse_dynamics"):
        still = {**vars(states), "qdd": np.zeros_like(states.qdd)}
        expected = call(functions, "inverse_dynamics", still)[0]
        what = "bias_forces = inverse_dynamics at qdd = 0"
        yield what, limits.physics, s["bias_forces"], expected
    if s.has("bias_forces", "coriolis_matrix", "gravity_forces") and not s.facts.forces:
        free = {**vars(states), "loads": np.zeros_like(states.loads)}
        value = call(functions, "bias_forces", free)[0]
        terms = times(s["coriolis_matrix"], states.qd), s["gravity_forces"], spring, loss
        what = "coriolis_matrix qd + gravity_forces + joint terms = bias_forces without loads"
        yield what, limits.physics, sum(terms), value, *terms


def _springs(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Laws of models whose forces are springs."""
    if set(s.facts.forces) != {"spring"} or not s.has("bias_forces"):
        return
    rest = s.at("bias_forces", loads=None, qd=np.zeros_like(s.states.qd))
    if lens.has("potential_energy"):
        what = "bias_forces at rest without loads = complex step of potential_energy"
        yield what, limits.physics, rest, lens.slope("potential_energy", "q"), rest
    model_torques = model_forces(s)
    if model_torques is not None and s.has("gravity_forces"):
        elastic = np.asarray(s["gravity_forces"]) + s.springs - rest
        power = s.states.qd * (model_torques - elastic)
        gained = np.maximum(np.sum(power, axis=-1), 0.0)
        what = "dampers of springs take power"
        yield what, limits.physics, gained, 0.0 * gained, power, s.states.qd * model_torques


def torque_parts(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """The parts add up to tau, and each follows from other functions."""
    name, states = "torque_parts", s.states
    if not s.has(name):
        return
    parts = dict(zip(SEVERAL_RESULTS[name], map(np.asarray, s.results(name)), strict=True))
    if s.has("inverse_dynamics"):
        what, terms = "torque_parts add up to inverse_dynamics", tuple(parts.values())
        yield what, limits.physics, sum(terms), s["inverse_dynamics"], *terms
    expected: dict[str, Array] = {}
    if s.has("mass_matrix"):
        expected["inertial_torques"] = times(s["mass_matrix"], states.qdd)
    if s.has("coriolis_matrix"):
        torques = np.zeros_like(states.qd)
        for k, rate in enumerate(states.qd.T):
            single = np.where(np.arange(len(states.qd.T)) == k, states.qd, 0.0)
            torques = torques + s.at("coriolis_matrix", qd=single)[..., k] * rate[:, np.newaxis]
        expected["centrifugal_torques"] = torques
        expected["coriolis_torques"] = times(s["coriolis_matrix"], states.qd) - torques
    if s.has("gravity_forces"):
        expected["gravity_torques"] = s["gravity_forces"]
    if s.has("inverse_dynamics_load_derivatives"):
        lever = np.asarray(s["inverse_dynamics_load_derivatives"])
        held = np.sum(lever * states.loads[:, np.newaxis], axis=(-1, -2))
        model_torques = model_forces(s)
        if model_torques is not None:
            expected["load_torques"] = held - model_torques
    expected["joint_term_torques"] = s.springs + s.losses
    for part, value in expected.items():
        scale = parts["centrifugal_torques"], s.springs, s.losses
        yield f"torque_parts, {part}", limits.physics, parts[part], value, *scale


def coriolis(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """dM/dt - 2 C is skew-symmetric, and C is the Christoffel matrix of M."""
    if s.has("coriolis_matrix") and lens.has("mass_matrix"):
        matrix, slope = s["coriolis_matrix"], lens.slope("mass_matrix", "q")
        mdot = np.einsum("sijk,sk->sij", slope, s.states.qd)
        skew = mdot - 2.0 * matrix
        what = "d mass_matrix/dt - 2 coriolis_matrix is skew"
        yield what, limits.physics, skew, -np.swapaxes(skew, -1, -2), mdot
        what = "coriolis_matrix = Christoffel symbols of mass_matrix"
        yield what, limits.physics, matrix, _christoffel(s, np.asarray(lens["mass_matrix"]), slope)


def _christoffel(s: Evaluation, mass: Array, slope: Array) -> Array:
    """C of M and its slopes [i, j, k] = dM_ij/dq_k, (S, n, n).

    Where the velocities are no rates of coordinates, M is that of a chart W' M W with dW/dq_k = D_k
    (see `symgen.formulations.manifolds`), and C = C of the chart - M D(qd).  Rotors are no part of
    that: what they add is I qdd.
    """
    qd, space = s.states.qd, s.facts.configuration
    moved = 0.0
    if space is not None:
        D = space.turning
        turned = np.einsum("sia,kaj->sijk", mass - s.terms.rotors, D)
        slope = slope + turned + np.swapaxes(turned, 1, 2)
        moved = np.einsum("sijk,sk->sij", turned, qd)
    rate = np.einsum("sijk,sk->sij", slope, qd)
    by_index = np.einsum("sikj,sk->sij", slope, qd)
    return np.asarray(0.5 * (rate + by_index - np.swapaxes(by_index, -1, -2)) - moved)


def energy(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """T = qd' M qd / 2, and d(T + V)/dt = power of the joints and the loads without losses.

    With forces of the model, V is that of gravity and joints, and their power is added.
    """
    qd = s.states.qd
    if s.has("kinetic_energy", "mass_matrix"):
        value = 0.5 * np.sum(qd * times(s["mass_matrix"], qd), axis=-1)
        what = "kinetic_energy = qd' mass_matrix qd / 2"
        yield what, limits.physics, s["kinetic_energy"], value
    needed = "inverse_dynamics", "inverse_dynamics_load_derivatives"
    if s.has(*needed) and lens.has("kinetic_energy", "potential_energy"):
        lever = np.asarray(s["inverse_dynamics_load_derivatives"])
        held = np.sum(lever * s.states.loads[:, np.newaxis], axis=(-1, -2))
        model_torques = model_forces(s)
        if model_torques is None:
            return
        powers = qd * s["inverse_dynamics"], qd * held, qd * s.losses, qd * model_torques
        rates = lens.rate("kinetic_energy"), lens.rate("potential_energy")
        if s.facts.forces:
            held = np.asarray(s["gravity_forces"]) + s.springs
            rates = rates[0], np.sum(qd * held, axis=-1)
        value = np.sum(powers[0] - powers[1] - powers[2] + powers[3], axis=-1)
        what = "power of joints and loads - losses = rate of kinetic_energy + potential_energy"
        yield what, limits.physics, value, rates[0] + rates[1], *rates, *powers


def kinematics(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Rotations are orthonormal and right-handed; Jacobians are derivatives of the poses."""
    if s.has("forward_kinematics"):
        poses = np.asarray(s["forward_kinematics"])
        turn, below = poses[..., :3, :3], poses[..., 3, :]
        product, ones = np.swapaxes(turn, -1, -2) @ turn, np.ones(turn.shape[:-2])
        identity, last = np.broadcast_to(np.eye(3), turn.shape), 0.0 * below + [0.0, 0.0, 0.0, 1.0]
        name = "forward_kinematics"
        if not s.facts.natural:
            yield f"{name}: rotations orthonormal", limits.rotation, product, identity
            yield f"{name}: frames right-handed", limits.rotation, np.linalg.det(turn), ones
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
    derivatives, mass_matrix, forces, torque_parts, coriolis, energy, kinematics,
    *MOTION_LAWS, *FORWARD_LAWS, products,
)  # fmt: skip


def subjects_of(module: Any) -> list[Subject]:
    """List every formulation of every backend of a module, NumPy first, and its top level."""
    backends = sorted(dict(module.backends).items(), key=lambda item: item[0] != "numpy")
    in_numpy = dict(module.backends).get("numpy")
    subjects = [
        Subject(
            f"{name} ({backend})", getattr(formulations, name), complex_step=backend == "numpy",
            in_numpy=getattr(in_numpy, name, None),
        )
        for backend, formulations in backends
        for name in module.formulations
        if hasattr(formulations, name)
    ]  # fmt: skip
    parts = [getattr(in_numpy, name) for name in module.formulations if hasattr(in_numpy, name)]
    first = {  # every function by the first formulation that has it
        name: getattr(part, name)
        for part in reversed(parts)
        for name in ARGUMENTS
        if hasattr(part, name)
    }
    return [*subjects, Subject("top level", module, in_numpy=SimpleNamespace(**first))]


def check_evaluations(
    evaluations: Sequence[Evaluation], rows_made: Mapping[int, Sequence[Check]] | None = None
) -> list[Check]:
    """Return the rows of all evaluations; `rows_made` has those that exist already, by `id`."""
    checks: list[Check] = []
    solving = next((e for e in evaluations if e.states.q.size and e.has_any(SOLVED)), None)
    if solving is not None:
        checks.extend(until_a_fault(solving, not_compared(solving)))
    checks.extend(left_out(evaluations))
    for s in evaluations:
        rows_of = (rows_made or {}).get(id(s))
        checks.extend(rows_of_one(s, evaluations) if rows_of is None else rows_of)
    return checks


def rows_of_one(s: Evaluation, evaluations: Sequence[Evaluation]) -> Iterator[Check]:
    """Yield the checks of one evaluation; the first that takes complex numbers is the reference."""
    lenses = [e for e in evaluations if e.subject.complex_step]
    n = s.states.qd.shape[1]
    reference = lenses[0] if lenses else evaluations[0]
    lens = s if s.subject.complex_step else reference
    if s is not reference:
        yield from agreement(s, reference, n)
    if lens.subject.complex_step:
        for law in LAWS if n else (kinematics,):
            yield from rows((s, lens), law, n)
    slopes = next((e for e in (lens, *lenses) if e.has(MATRICES)), lens)
    if n and slopes.subject.complex_step:
        yield from rows((s, slopes), hessian, n)
    if n and lens.subject.complex_step:
        yield from rows((s, lens, *lenses), second_products, n)
    if s.subject.arrays:
        yield from rows((s, lens), interface, n)


def changed_parameters(values: Any, seed: int = 2009) -> Array:
    """Return each value times 1 + 0.05 u with a random |u| <= 1, (p,); 0 stays 0."""
    factors = np.random.default_rng(seed).uniform(-1.0, 1.0, np.shape(values))
    return np.asarray(np.asarray(values, dtype=float) * (1.0 + PARAMETER_CHANGE * factors))


def with_parameters(states: States, values: Array) -> States:
    """Return states with `values` (p,) of the parameters."""
    return replace(states, parameters=np.tile(values, (len(states.q), 1)))


def between(evaluations: Sequence[Evaluation]) -> Iterator[Check]:
    """Compare subjects with the first that takes complex numbers, at changed parameters."""
    lenses = [e for e in evaluations if e.subject.complex_step]
    reference = lenses[0] if lenses else evaluations[0]
    for s in evaluations:
        if s is not reference:
            yield from agreement(s, reference, s.states.qd.shape[1], CHANGED)


def check_module(module: Any, samples: int | None = None, seed: int = 2009) -> list[Check]:
    """Check a generated module with itself: every row is one comparison.

    `samples` is the number of random states; the default takes a fraction of a second.
    """

    def fact(name: str, default: Any = None) -> Any:
        return getattr(module, name, default)

    values, loads = fact("default_parameters", ()), module.n_loads
    samples = samples or limits.samples(module.n)
    whole_space = configuration_of(module)
    space = whole_space if whole_space.joints else None
    rows = fact("n_constraints", 0)
    sizes = rows, rows * fact("tells_multipliers", False), fact("timed", False)
    states = random_states(module.n, loads, samples, seed, values, space, *sizes)

    def more(count: int) -> States:
        return random_states(module.n, loads, count, seed + 1, values, space, *sizes)

    if rows or fact("force_types", ()):
        has_values = partial(model_has_values, module)
        initial = whole_space.normalize(fact("initial_q", whole_space.neutral()))
        states = states_with_values(states, more, has_values, whole_space, initial)
    if hasattr(module, "outputs"):
        states = states_in_domain(
            states, more, lambda drawn: call(module, "outputs", vars(drawn))[0]
        )
    terms = fact("mass_terms")
    facts = Facts(
        fact("condition", 1.0), fact("inertial_parameters"), fact("joint_terms"),
        fact("prescribed"), tuple(fact("output_names", ())), fact("coupling"),
        fact("coupling_offsets"), tuple(fact("link_names", ())), space,
        tuple(fact("force_types", ())), None if terms is None else np.array(terms),
        fact("_velocity_rows", ()), fact("_natural", False),
    )  # fmt: skip
    subjects = subjects_of(module)
    with without_warnings():
        checks = check_evaluations([Evaluation(item, states, facts) for item in subjects])
        changed = with_parameters(states, changed_parameters(values, seed))
        if states.parameters.size:
            checks += between([Evaluation(item, changed, facts) for item in subjects])
    return checks
