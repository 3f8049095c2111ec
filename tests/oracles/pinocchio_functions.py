"""Every function of a generated module as Pinocchio says, by name; what it lacks is composed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from symgen.program.functions import function_named
from symgen.program.products import PRODUCTS
from tests.oracles.comparison import SINGULAR, condition, prescribed_coordinates
from tests.oracles.implicit import pivots
from tests.oracles.pinocchio_forward import (
    acceleration_derivatives,
    accelerations,
    hybrid,
    hybrid_derivatives,
)
from tests.oracles.pinocchio_model import Array, PinocchioRobot
from tests.oracles.second import hessian


def reference(
    oracle: PinocchioRobot, function: str, state: Mapping[str, Array]
) -> tuple[Array, ...]:
    """All outputs of a function, the hidden ones too.  `state`: see `comparison.state_of`."""
    q, qd, loads = (state[name] for name in ("q", "qd", "loads"))
    zero = np.zeros(oracle.n)
    if function in PRODUCTS:
        return _product(oracle, function, state)
    if function_named(function).solves:
        return _solved(oracle, function, state)
    if function == "bias_forces":
        return (oracle.inverse_dynamics(q, qd, zero, loads=loads),)
    if function == "coriolis_matrix":  # C is not unique; C qd is
        return (oracle.coriolis_matrix(q, qd) @ qd,)
    if function == "inverse_dynamics_load_derivatives":
        return (_load_slopes(oracle, q, loads),)
    if function == "inverse_dynamics_hessian":
        motion = (state[name] for name in ("q", "qd", "qdd", "multipliers"))
        return hessian(oracle, *motion, loads=loads)
    if function == "torque_parts":
        return _parts(oracle, state)
    spec = function_named(function)
    arguments = [state[argument.name] for argument in spec.arguments]
    options = {argument.name: state[argument.name] for argument in spec.options}
    result = getattr(oracle, function)(*arguments, **options)
    return result if isinstance(result, tuple) else (np.asarray(result),)


def mass_to_invert(
    oracle: PinocchioRobot, function: str, state: Mapping[str, Array]
) -> Array | None:
    """The mass matrix that a function solves with, or None: of the free joints, or of all."""
    if not function_named(function).solves:
        return None
    mass = oracle.mass_matrix(state["q"])
    if function.startswith("forward"):
        return mass
    free = ~prescribed_coordinates(oracle.description)
    return mass[np.ix_(free, free)]


def has_solution(oracle: PinocchioRobot, function: str, state: Mapping[str, Array]) -> bool:
    """Whether there is something to compare with."""
    mass = mass_to_invert(oracle, function, state)
    return mass is None or condition(mass) < SINGULAR


def _solved(oracle: PinocchioRobot, function: str, state: Mapping[str, Array]) -> tuple[Array, ...]:
    """Forward or hybrid dynamics, perhaps with derivatives; pivots and diagonal."""
    mass = mass_to_invert(oracle, function, state)
    assert mass is not None
    slopes: tuple[Array, ...]
    if function.startswith("forward"):
        arguments = [state[name] for name in ("q", "qd", "tau", "loads")]
        value = accelerations(oracle, *arguments)
        slopes = acceleration_derivatives(oracle, *arguments)
    else:
        prescribed = prescribed_coordinates(oracle.description)
        arguments = [state[name] for name in ("q", "qd", "x", "loads")]
        value, _ = hybrid(oracle, prescribed, *arguments)
        slopes = hybrid_derivatives(oracle, prescribed, *arguments)
    slopes = slopes if function.endswith("_derivatives") else ()
    return value, *slopes, pivots(mass), np.diag(mass)


def _product(
    oracle: PinocchioRobot, function: str, state: Mapping[str, Array]
) -> tuple[Array, ...]:
    """Matrices times the direction, or the multipliers times them; there are no parameters."""
    product = PRODUCTS[function]
    hidden: tuple[Array, ...] = ()
    levers = _load_slopes(oracle, state["q"], state["loads"])
    if product.of == "inverse_dynamics":
        motion = (state[name] for name in ("q", "qd", "qdd"))
        value, *slopes = oracle.inverse_dynamics_derivatives(*motion, loads=state["loads"])
    else:
        value, *slopes, pivot, diagonal = _solved(oracle, f"{product.of}_derivatives", state)
        levers = -np.einsum("ij,jkc->ikc", slopes[2], levers)
        hidden = pivot, diagonal
    slopes.append(levers)
    names = [name for name in product.by.values() if name != "dparameters"]
    if product.backwards:
        found = [np.tensordot(state["multipliers"], slope, 1) for slope in slopes]
        return (*found, np.zeros(0), *hidden)
    pairs = zip(slopes, names, strict=True)
    along = sum(
        slope.reshape(oracle.n, state[name].size) @ state[name].ravel() for slope, name in pairs
    )
    return value, np.asarray(along), *hidden


def _load_slopes(oracle: PinocchioRobot, q: Array, loads: Array) -> Array:
    """dtau/dloads, (n, n_loads, 6): what each unit load adds to the torques at rest."""
    zero, none = np.zeros(oracle.n), np.zeros_like(loads)
    still = oracle.inverse_dynamics(q, zero, zero, loads=none)
    slopes = np.zeros((oracle.n, *loads.shape))
    for position in np.ndindex(loads.shape):
        unit = none.copy()
        unit[position] = 1.0
        at = (slice(None), *position)
        slopes[at] = oracle.inverse_dynamics(q, zero, zero, loads=unit) - still
    return slopes


def _parts(oracle: PinocchioRobot, state: Mapping[str, Array]) -> tuple[Array, ...]:
    """The torques in parts: what is left of them when all else is at rest."""
    q, qd, qdd, loads = (state[name] for name in ("q", "qd", "qdd", "loads"))
    zero, none = np.zeros(oracle.n), np.zeros_like(loads)
    still = oracle.inverse_dynamics(q, zero, zero, loads=none)
    velocity = oracle.coriolis_matrix(q, qd) @ qd
    alone = [np.where(np.arange(oracle.n) == k, qd, 0.0) for k in range(oracle.n)]
    squares = sum((oracle.coriolis_matrix(q, one) @ one for one in alone), zero)
    weight = oracle.gravity_forces(q)
    joints = oracle.inverse_dynamics(q, qd, zero, loads=none) - velocity - weight
    held = oracle.inverse_dynamics(q, zero, zero, loads=loads) - still
    return oracle.mass_matrix(q) @ qdd, squares, velocity - squares, weight, held, joints
