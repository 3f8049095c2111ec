"""Reference values of the contract: laws of mechanics in NumPy, without any formulation.

Functions of trees are those of `NumericRobot`, by virtual power and complex steps.  What closes
loops is differentiated here: by differences of eighth order of `NumericRobot.constraints`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from symgen.joints import closing_type
from symgen.runtime.limits import STEP
from symgen.runtime.subjects import Array, States, call, random_states
from symgen.validation.oracle_constraints import frame_of, rows_of
from symgen.validation.oracle_model import configuration
from symgen.validation.oracles import NumericRobot, ParametrisedRobot
from tests.contract.cells import FOLDER, described, selection

SAMPLES, SEED = 2, 40
_WIDTH = 0.003
_STENCIL = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))


def slope(function: Callable[[float], Array]) -> Array:
    """Return the derivative at 0 by a central difference of eighth order."""
    return sum(
        weight * (function(k * _WIDTH) - function(-k * _WIDTH)) / _WIDTH for k, weight in _STENCIL
    )


class Reference(ParametrisedRobot):
    """The functions of a robot, those of its constraints included."""

    def __init__(self, robot: NumericRobot) -> None:
        super().__init__(robot)
        self.robot = robot

    def _with(self, parameters: Array | None) -> NumericRobot:
        return self.robot if parameters is None else self._at(parameters)

    def _columns(self, function: Callable[[Array], Array], parameters: Array) -> Array:
        """Derivatives by each parameter, on the last axis."""
        steps = np.eye(parameters.shape[-1]) * np.maximum(np.abs(parameters[0]), 1.0)
        columns = [
            slope(lambda h, step=step: function(parameters + h * step)) / step.max()
            for step in steps
        ]
        return np.stack(columns, axis=-1)

    def _by_q(
        self, function: Callable[[Array], Array], q: Array, parameters: Array | None
    ) -> Array:
        """Derivatives along each coordinate, on the last axis."""
        space, n = self._with(parameters).space, self.robot.n
        ways = np.broadcast_to(np.eye(n)[:, np.newaxis], (n, len(q), n))
        rates = [slope(lambda h, e=e: function(space.integrate(q, h * e))) for e in ways]
        return np.stack(rates, axis=-1)

    def inverse_dynamics_hvp(self, *arguments: Array, **options: Any) -> tuple[Array, ...]:
        """Change of the gradients along directions."""
        return self._curvatures("inverse_dynamics_vjp", arguments, options)

    def forward_dynamics_hvp(self, *arguments: Array, **options: Any) -> tuple[Array, ...]:
        """Change of the gradients along directions."""
        return self._curvatures("forward_dynamics_vjp", arguments, options)

    def _curvatures(
        self, name: str, arguments: Sequence[Array], options: Mapping[str, Array]
    ) -> tuple[Array, ...]:
        """Each sample alone: parameters move differently in each."""
        rows = []
        for k in range(len(arguments[0])):
            own = {o: x[k : k + 1] for o, x in options.items()}
            rows.append(self._curvature(name, [x[k : k + 1] for x in arguments], own))
        return tuple(map(np.concatenate, zip(*rows, strict=True)))

    def _curvature(
        self, name: str, arguments: Sequence[Array], options: Mapping[str, Array]
    ) -> tuple[Array, ...]:
        q, qd, last, multipliers, dq, dqd, dlast = arguments
        space = self.robot.space
        held = {o: x for o, x in options.items() if not o.startswith("d")}

        def gradients(h: float) -> tuple[Array, ...]:
            moved = {o: x + h * options.get(f"d{o}", 0.0 * x) for o, x in held.items() if o != "t"}
            if "t" in held:
                moved["t"] = held["t"]
            at = space.integrate(q, h * dq), qd + h * dqd, last + h * dlast, multipliers
            return getattr(self, name)(*at, **moved)

        found = [slope(lambda h, k=k: gradients(h)[k]) for k in range(len(gradients(0.0)))]
        found[0] = found[0] - self._half_bracket(gradients(0.0)[0], dq)
        return tuple(found)

    def _half_bracket(self, gradient: Array, direction: Array) -> Array:
        """What the order of two derivatives in the tangent space makes of second ones, halved."""
        D = self.robot.space.turning
        bracket = np.einsum("jik->kji", D) - np.einsum("kij->kji", D)
        return np.asarray(0.5 * np.einsum("sk,kji,si->sj", direction, bracket, gradient))

    def inverse_dynamics_hessian(
        self, q: Array, qd: Array, qdd: Array, multipliers: Array, **options: Array
    ) -> tuple[Array, ...]:
        """Change of the gradients along each coordinate and each velocity."""
        unit, still = np.eye(qd.shape[-1]), np.zeros_like(qd)
        motion = q, qd, qdd, multipliers
        rows = [np.broadcast_to(e, qd.shape) for e in unit]
        by_q = [self._curvatures("inverse_dynamics_vjp", (*motion, e, still, still), options)
                for e in rows]  # fmt: skip
        by_qd = [self._curvatures("inverse_dynamics_vjp", (*motion, still, e, still), options)
                 for e in rows]  # fmt: skip
        blocks = [np.stack([x[k] for x in by_q], axis=1) for k in range(3)]
        return *blocks, np.stack([x[1] for x in by_qd], axis=1)

    def constraint_rate_derivatives(
        self, q: Array, qd: Array, *, t: Array, parameters: Array | None = None
    ) -> tuple[Array, Array]:
        """Rates, and their derivatives by q."""

        def rates(x: Array) -> Array:
            return np.asarray(self.constraint_rates(x, qd, t=t, parameters=parameters))

        return rates(q), self._by_q(rates, q, parameters)

    def constraint_bias(
        self, q: Array, qd: Array, *, t: Array, parameters: Array | None = None
    ) -> Array:
        """The rate of the rates at constant velocities."""
        space = self._with(parameters).space

        def rates(h: float) -> Array:
            moved = space.integrate(q, h * qd)
            return self.constraint_rates(moved, qd, t=t + h, parameters=parameters)

        return slope(rates)

    def _acceleration(
        self, q: Array, qd: Array, qdd: Array, t: Array, parameters: Array | None
    ) -> Array:
        J = self._with(parameters).constraint_jacobian(q, t=t)
        pushed = (J @ qdd[..., np.newaxis])[..., 0]
        return pushed + self.constraint_bias(q, qd, t=t, parameters=parameters)

    def constraint_acceleration_derivatives(
        self, q: Array, qd: Array, qdd: Array, *, t: Array, parameters: Array | None = None
    ) -> tuple[Array, Array, Array]:
        """Second rates, and their derivatives by q and qd."""
        by_q = self._by_q(lambda x: self._acceleration(x, qd, qdd, t, parameters), q, parameters)
        by_qd = [
            slope(lambda h, e=e: self._acceleration(q, qd + h * e, qdd, t, parameters))
            for e in np.eye(qd.shape[-1])
        ]
        value = self._acceleration(q, qd, qdd, t, parameters)
        return value, by_q, np.stack(by_qd, axis=-1)

    def _torque(self, q: Array, multipliers: Array, t: Array, parameters: Array | None) -> Array:
        J = self._with(parameters).constraint_jacobian(q, t=t)
        return np.einsum("...mn,...m->...n", J, multipliers)

    def constraint_torque_derivatives(
        self, q: Array, multipliers: Array, *, t: Array, parameters: Array | None = None
    ) -> tuple[Array, Array]:
        """J' multipliers, and their derivatives by q."""
        by_q = self._by_q(lambda x: self._torque(x, multipliers, t, parameters), q, parameters)
        return self._torque(q, multipliers, t, parameters), by_q

    def constraints_parameter_derivatives(self, q: Array, *, t: Array, parameters: Array) -> Array:
        """Differences, as for the others below."""
        return self._columns(lambda p: self._at(p).constraints(q, t=t), parameters)

    def constraint_rates_parameter_derivatives(
        self, q: Array, qd: Array, *, t: Array, parameters: Array
    ) -> Array:
        return self._columns(lambda p: self.constraint_rates(q, qd, t=t, parameters=p), parameters)

    def constraint_acceleration_parameter_derivatives(
        self, q: Array, qd: Array, qdd: Array, *, t: Array, parameters: Array
    ) -> Array:
        return self._columns(lambda p: self._acceleration(q, qd, qdd, t, p), parameters)

    def constraint_torque_parameter_derivatives(
        self, q: Array, multipliers: Array, *, t: Array, parameters: Array
    ) -> Array:
        return self._columns(lambda p: self._torque(q, multipliers, t, p), parameters)

    def loop_wrenches(
        self, q: Array, multipliers: Array, *, parameters: Array | None = None
    ) -> Array:
        """By virtual work of each loop alone, where its second frame moves and turns."""
        robot = self._with(parameters)
        frames = robot.forward_kinematics(q)
        wrenches, first = [], 0
        for loop in robot.description.loops:
            size = len(closing_type(loop.type).forbids)
            weights = multipliers[:, first : first + size]
            first += size
            wrenches.append(_wrench(robot, loop, frames, weights))
        return np.stack(wrenches, axis=-2)


def _wrench(robot: NumericRobot, loop: Any, frames: Array, weights: Array) -> Array:
    """[force; moment] on the second link, at the origin of the second frame, base axes."""
    ends = [frame_of(robot.model, end, frames) for end in (loop.first, loop.second)]
    ends = [np.broadcast_to(end, (len(frames), 4, 4)) for end in ends]
    columns = []
    for k in range(6):
        twist = np.zeros((4, 4), dtype=complex)
        if k < 3:
            twist[k, 3] = 1.0
        else:
            axis = np.eye(3)[k - 3]
            twist[:3, :3] = np.cross(np.eye(3), axis)
        moved = ends[1].astype(complex)
        step = 1j * STEP * twist
        moved[:, :3, :3] = moved[:, :3, :3] + step[:3, :3] @ moved[:, :3, :3]
        moved[:, :3, 3] = moved[:, :3, 3] + step[:3, 3]
        rows = rows_of(loop, ends[0], moved, 0.0)
        columns.append(np.sum(weights * np.stack(rows, axis=-1).imag / STEP, axis=-1))
    return np.stack(columns, axis=-1)


def states_of(robot: str) -> States:
    """Draw the states of a robot: coordinates and time of size 1."""
    description = described(robot)
    runtime = selection(robot).runtime_parameters
    n = len(description.coordinate_names)
    return random_states(
        n, len(description.loads), SAMPLES, SEED,
        parameters=[description.parameter_values[name] for name in runtime],
        configuration=configuration(description),
        constraints=description.n_constraints,
        mentioned=description.n_constraints * description.tells_multipliers,
        timed=description.is_timed,
    )  # fmt: skip


def computed(robot: str) -> dict[str, Array]:
    """Compute the states and results of a robot: `state.NAME` and `FUNCTION.NUMBER`."""
    states = states_of(robot)
    chosen = selection(robot)
    reference = Reference(NumericRobot(described(robot), runtime=chosen.runtime_parameters))
    arrays = {f"state.{name}": np.asarray(x) for name, x in vars(states).items()}
    for function in chosen.functions:
        for number, result in enumerate(call(reference, function, vars(states))):
            arrays[f"{function}.{number}"] = np.asarray(result)
    return arrays


def file_of(robot: str) -> Path:
    """Return the file with the reference values of a robot."""
    return FOLDER / "reference" / f"{robot}.npz"


def stored(robot: str) -> tuple[States, Mapping[str, Array]]:
    """Load the states and results of a robot."""
    with np.load(file_of(robot)) as arrays:
        known = dict(arrays)
    prefix = "state."
    states = {k.removeprefix(prefix): x for k, x in known.items() if k.startswith(prefix)}
    return States(**states), known
