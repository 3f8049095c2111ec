"""An independent numeric model of a robot, straight from its description.

`NumericRobot` shares no code with the derivation that it checks:

- `Model` reads the file as numbers; `RobotMotion` composes homogeneous matrices, with their rates,
  literally as in the format; links on fixed joints are carried along and never merged.
- Virtual power gives the torques: inertia forces, weight, loads, springs and forces of the model
  times the Jacobians of their points (`inverse_dynamics`).  Joint wrenches are sums of the same
  forces.  Bias and gravity forces, Coriolis matrix, torque parts and accelerations (forward and
  hybrid dynamics, with the mass matrix) are this law at other arguments, or solved.
- Derivatives by q, qd, qdd, loads, time and parameters are complex steps; those of accelerations
  follow from the implicit function theorem, products with vectors from matrices, and second
  derivatives from differences (`symgen.validation.oracle_curvatures`).
- Lagrange's equations give the torques a second time, from the energies (`lagrange_torques`), as a
  check of the model itself.

| symbol | array | shape, frame |
| --- | --- | --- |
| q, qd, qdd | coordinates, velocities, accelerations | (..., n) |
| w | loads [fx fy fz nx ny nz] | (..., n_loads, 6), base axes |
| f, p | numbers of the free and of the prescribed coordinates | (n_f,), (n_p,) |
| x, y | arguments and results: qdd_p and tau_f, tau_p and qdd_f | (..., n) |
| pi | [m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz] of a body | (10,), its own frame |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import partialmethod
from itertools import compress
from typing import Any, Self

import numpy as np

from symgen.description.expressions import CONSTANT_VALUES, EvaluationError
from symgen.description.model import RobotDescription
from symgen.kinematics.loops import velocity_rows
from symgen.runtime import limits
from symgen.runtime.calls import LOADED
from symgen.runtime.configuration import FREE
from symgen.runtime.derivative_laws import half_bracket
from symgen.runtime.disturbance import SIZE, disturbed
from symgen.runtime.limits import EPS, STEP
from symgen.runtime.subjects import Comparison, Evaluation
from symgen.validation.oracle_constraints import frame_of, rows_of
from symgen.validation.oracle_curvatures import (
    LARGEST,
    change_along,
    friction_curvature,
    spring_curvature,
)
from symgen.validation.oracle_expressions import Value, value_of
from symgen.validation.oracle_model import Array, Model, Points, as_array
from symgen.validation.oracle_motion import Actions, RobotMotion, same_batch, times
from symgen.validation.oracle_quantities import Quantities

CORES: Mapping[str, int] = {"t": 0, "loads": 2, "motion_multipliers": 2}
"""Number of axes of an argument without its batch axes; 1 of all others."""
INERTIA_ENTRIES = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
"""Rows and columns of Ixx, Ixy, Iyy, Ixz, Iyz, Izz."""

_WHEEL = ("centre.", "centre.v", "axis.", "axis.w")
"""Prefixes of names of the motion of a wheel."""


class NumericRobot:
    """A robot as numbers: every function of a generated module, for real and complex arrays.

    Functions that are complex steps, which cannot be nested, take real arrays only.  `parameters`
    replaces values of the model's parameters, also in derived ones; they may be complex.  `runtime`
    names the parameters of derivatives with respect to parameters.
    """

    def __init__(
        self,
        description: RobotDescription,
        parameters: Mapping[str, Value] | None = None,
        runtime: Sequence[str] = (),
    ) -> None:
        self.description = description
        self.model = model = Model(description, parameters or {})
        self.values, self.space, self.prescribed = model.values, model.space, model.prescribed
        self.joint_terms = model.terms.numbers
        self.coordinate_names = model.coordinate_names
        self.n, self.n_links = self.space.n, len(model.link_names)
        self.n_loads = len(description.loads)
        self.parameter_names = tuple(runtime)
        self.n_parameters = len(self.parameter_names)
        self._springs = np.array(
            [[model.number(x) for x in (s.stiffness, s.damping, s.length)]
             for s in description.springs]
        ).reshape(-1, 3)  # fmt: skip
        self._ends = model.read([end for spring in description.springs for end in spring.ends])
        self._acted = model.read([force.at for force in description.forces])
        self._has_forces = bool(description.springs or description.forces)
        self._time: Array = np.zeros(())
        self._random: np.random.Generator | None = None

    @property
    def parameters(self) -> Array:
        """Values of the runtime parameters, (n_parameters,)."""
        return as_array([self.values[name] for name in self.parameter_names])

    def with_parameters(self, parameters: Array) -> Self:
        """Return the robot with other values of the runtime parameters, (n_parameters,)."""
        values = (x.item() for x in as_array(parameters))
        changed = dict(zip(self.parameter_names, values, strict=True))
        return type(self)(self.description, changed, self.parameter_names).at_time(self._time)

    def at_time(self, t: Array) -> Self:
        """Return the robot with its forces at the time t (...), s."""
        return self._changed(_time=np.asarray(t))

    def disturbed_by(self, random: np.random.Generator) -> Self:
        """Return the robot with every frame and point disturbed (`symgen.runtime.disturbance`)."""
        return self._changed(_random=random)

    def _changed(self, **attributes: Any) -> Self:
        changed = copy(self)
        vars(changed).update(attributes)
        return changed

    def motion(self, q: Array, *rates: Array, moved: bool = False) -> RobotMotion:
        """Return the motion at q (..., nq), and qd and qdd (..., n); see `RobotMotion`."""
        return RobotMotion(self.model, q, *rates, moved=moved, random=self._random)

    # ------------------------------------------------------------------------- complex steps

    def _slopes(self, function: str, argument: str, **state: Array | None) -> tuple[Array, ...]:
        """Derivatives of the results of a function by one of its arguments, whose axes come last;
        those by q are in its tangent space."""
        arguments = self._same_batch(state)
        value, batch = arguments[argument], arguments["q"].ndim - 1
        core = (self.n,) if argument == "q" else value.shape[batch:]
        size = int(np.prod(core))
        steps = 1j * STEP * np.eye(size).reshape(size, *(1,) * batch, *core)
        moved = self.space.integrate(value, steps) if argument == "q" else value + steps
        results = getattr(self, function)(**{**arguments, argument: moved})
        slopes = []
        for result in results if isinstance(results, tuple) else (results,):
            slope = np.moveaxis(np.imag(result) / STEP, 0, -1)
            slopes.append(np.reshape(slope, (*slope.shape[:-1], *core)))
        return tuple(slopes)

    def _slope(self, function: str, argument: str, **state: Array | None) -> Array:
        return self._slopes(function, argument, **state)[0]

    def _rate(self, function: Callable[..., Array], q: Array, qd: Array, *moving: Any) -> Array:
        """d function(q, ...) / dt along q' = qd; further arguments are pairs with their rates."""
        h = 1j * STEP
        moved = (x + h * rate for x, rate in moving)
        return np.asarray(function(self.space.integrate(q, h * qd), *moved).imag / STEP)

    def _same_batch(self, state: Mapping[str, Any]) -> dict[str, Array]:
        """Return the arguments that are not None, with batch axes of one shape."""
        arguments = {name: as_array(x) for name, x in state.items() if x is not None}
        cores = {name: x.shape[x.ndim - CORES.get(name, 1) :] for name, x in arguments.items()}
        batch = np.broadcast_shapes(
            *(x.shape[: x.ndim - len(cores[k])] for k, x in arguments.items())
        )
        return {name: np.broadcast_to(x, (*batch, *cores[name])) for name, x in arguments.items()}

    def _by_parameters(self, function: str, *arguments: Any, **options: Any) -> Any:
        """Derivatives of the results of a function by the parameters, (..., n_parameters)."""
        values = _tuple(getattr(self, function)(*arguments, **options))
        slopes = [np.zeros((*np.shape(value), self.n_parameters)) for value in values]
        for k, direction in enumerate(np.eye(self.n_parameters)):
            moved = self.with_parameters(self.parameters + 1j * STEP * direction)
            results = _tuple(getattr(moved, function)(*arguments, **options))
            for slope, result in zip(slopes, results, strict=True):
                slope[..., k] = np.imag(result) / STEP
        return tuple(slopes) if len(slopes) > 1 else slopes[0]

    inverse_dynamics_parameter_derivatives = partialmethod(_by_parameters, "inverse_dynamics")
    kinetic_energy_parameter_derivatives = partialmethod(_by_parameters, "kinetic_energy")
    potential_energy_parameter_derivatives = partialmethod(_by_parameters, "potential_energy")
    point_motion_parameter_derivatives = partialmethod(_by_parameters, "point_motion")

    # ------------------------------------------------------------------------------- energies

    def kinetic_energy(self, q: Array, qd: Array) -> Array:
        """Return the sum of m v'v / 2 + omega' I omega / 2 over links, and the rotors, (...), J."""
        q, qd = same_batch(q, qd)
        motion, terms = self.motion(q, qd, 0.0 * qd, moved=True), self.model.terms
        velocity, omega = motion.points(self.model.centres)[1], motion.spins()[0]
        spins = omega * times(motion.inertias(), omega)
        bodies = np.sum(self.model.mass[:, np.newaxis] * velocity**2 + spins, axis=(-1, -2))
        moved = np.sum(qd * (times(terms.rotors, qd) + terms.added * qd), axis=-1)
        return np.asarray(0.5 * (bodies + moved))

    def potential_energy(self, q: Array) -> Array:
        """Minus the sum of m g'c over the moving links, and the springs, (...), J.

        Zero level: the base origin.  Links that are fixed to the base do not count.
        """
        (centres,) = self.motion(as_array(q)).points(self.model.centres)
        weight = np.sum((centres @ self.model.gravity) * self._moving_mass, axis=-1)
        return np.asarray(self.model.terms.spring_energy(q) + self.spring_energy(q) - weight)

    def spring_energy(self, q: Array) -> Array:
        """Return the energy of the springs between points, (...), J."""
        if not len(self._springs):
            return np.zeros(q.shape[:-1])
        stiffness, _, length = self._springs.T
        (x,) = self.motion(q).points(self._ends)
        squared = np.sum((x[..., 1::2, :] - x[..., ::2, :]) ** 2, axis=-1)
        with np.errstate(all="ignore"):
            stretched = np.where(length == 0.0, squared, (np.sqrt(squared) - length) ** 2)
            energy = np.sum(0.5 * stiffness * stretched, axis=-1)
            for k, spring in enumerate(self.description.springs):
                if spring.energy is not None:
                    at = self._spring_state(k, np.sqrt(squared[..., k]))
                    energy = energy + value_of(spring.energy.root, at.__getitem__)
        return np.asarray(energy)

    # ------------------------------------------------------------------------- inverse dynamics

    def inverse_dynamics(
        self, q: Array, qd: Array, qdd: Array, *, loads: Array | None = None
    ) -> Array:
        """Torques by virtual power of all forces on links, and joint terms, (..., n)."""
        q, qd, qdd = same_batch(q, qd, qdd)
        terms = self.model.terms
        bodies = self._bodies(q, qd, qdd, self.model.gravity)
        external = self._load_forces(q, loads) - self.model_forces(q, qd)
        return np.asarray(bodies + terms.losses(qd) + terms.springs(q) + external)

    def _bodies(self, q: Array, qd: Array, qdd: Array, gravity: Array) -> Array:
        """Torques of inertia and weight, rotors included, (..., n)."""
        motion = self.motion(q, qd, qdd, moved=True)
        acting = motion.generalized_forces(motion.inertia_forces(gravity))
        return np.asarray(self.model.terms.inertial(qd, qdd) - acting)

    def inverse_dynamics_load_derivatives(self, q: Array) -> Array:
        """-J' of each load's point, (..., n, n_loads, 6)."""
        motion, loads = self.motion(as_array(q), moved=True), self.model.loads
        lever = motion.jacobians(motion.points(loads)[0], loads.links)
        return np.asarray(-np.moveaxis(np.concatenate(lever, axis=-2), -1, -3))

    def _load_forces(self, q: Array, loads: Array | None) -> Array:
        if loads is None:
            return np.zeros((*q.shape[:-1], self.n))
        lever = self.inverse_dynamics_load_derivatives(q)
        return np.asarray(np.sum(lever * loads[..., np.newaxis, :, :], axis=(-1, -2)))

    def model_forces(self, q: Array, qd: Array, elastic: bool = True) -> Array:
        """Generalized forces of the springs and forces of the model, (..., n); without `elastic`,
        springs have no stiffness."""
        if not self._has_forces:
            return np.zeros((*q.shape[:-1], self.n))
        motion = self.motion(q, qd)
        return motion.generalized_forces(self._model_actions(motion, q, qd, elastic))

    def _model_actions(
        self, motion: RobotMotion, q: Array, qd: Array, elastic: bool = True
    ) -> Actions:
        """Forces on links: springs with ends at distance l pull by k (l - l_0) + c dl/dt; applied
        forces are given by expressions."""
        x, v, *_ = motion.points(self._ends)
        stiffness, damping, length = self._springs.T
        d, rate = (part[..., 1::2, :] - part[..., ::2, :] for part in (x, v))
        squared = np.sum(d * d, axis=-1)
        with np.errstate(all="ignore"):  # springs whose ends meet have no direction
            slack = np.where(length == 0.0, 0.0, length / np.sqrt(squared))
            braking = damping * np.sum(d * rate, axis=-1) / squared
        pull = stiffness * elastic * (1.0 - slack) + np.where(damping == 0.0, 0.0, braking)
        pull = pull + self._law_pulls(np.sqrt(squared), np.sum(d * rate, axis=-1), elastic)
        first = pull[..., np.newaxis] * d
        forces = np.stack([first, -first], axis=-2).reshape(x.shape)
        springs = Actions(self._ends.links, x, forces, np.zeros_like(forces))
        state = {"t": self._time, "q": q, "qd": qd, "qdd": np.zeros_like(qd)}
        quantities, batch = Quantities(self, state), q.shape[:-1]
        wrenches = np.zeros((*batch, len(self.description.forces), 6), springs.forces.dtype)
        for k, force in enumerate(self.description.forces):
            quantities.local = self._defined(k, motion, quantities)
            values = [value_of(x.root, quantities) for x in (*force.force, *force.torque)]
            wrench = np.stack([np.broadcast_to(x, batch) for x in values], axis=-1)
            wrenches = wrenches.astype(np.result_type(wrenches, wrench), copy=False)
            wrenches[..., k, :] = wrench
        at = motion.points(self._acted)[0]
        return springs + Actions(self._acted.links, at, wrenches[..., :3], wrenches[..., 3:])

    def _law_pulls(self, length: Array, moment: Array, elastic: bool) -> Array:
        """Tensions over lengths of springs with a law, 0 of others, (..., n_springs); `moment` is
        l l'.  Without `elastic`, less that at rest of springs with an energy."""
        pulls = np.zeros(length.shape, np.result_type(length, moment))
        for k, spring in enumerate(self.description.springs):
            if spring.law is None:
                continue
            at = self._spring_state(k, length[..., k])
            with np.errstate(all="ignore"):  # springs whose ends meet have no direction
                at["v"] = moment[..., k] / at["l"]
                tension = value_of(spring.law.root, at.__getitem__)
                if spring.energy is not None and not elastic:
                    still = {**at, "v": 0.0 * at["v"]}
                    tension = tension - value_of(spring.law.root, still.__getitem__)
                pulls = pulls.astype(np.result_type(pulls, tension), copy=False)
                pulls[..., k] = tension / at["l"]
        return pulls

    def _spring_state(self, k: int, length: Array) -> dict[str, Array]:
        """Names in the law of a spring: parameters, constants, l and x."""
        values = {**CONSTANT_VALUES, **self.values, "l": length, "x": length - self._springs[k, 2]}
        return {name: np.asarray(value) for name, value in values.items()}

    def _defined(self, k: int, motion: RobotMotion, quantities: Quantities) -> dict[str, Array]:
        """Names that the force of index `k` defines, and those of the motion of a wheel."""
        force = self.description.forces[k]
        local = quantities.local = {}
        if force.wheel is not None:
            x, v = (part[..., k, :] for part in motion.points(self._acted)[:2])
            spin = motion.spins()[0][..., self._acted.links[k], :]
            axis = motion.screws[..., self.model.joint_names.index(force.wheel.joint), 1, :]
            for family, entry in zip(_WHEEL, (x, v, axis, spin), strict=True):
                local |= {f"{family}{x}": entry[..., i] for i, x in enumerate("xyz")}
        for name, expression in force.let:
            local[name] = value_of(expression.root, quantities)
        return local

    def tyre_values(self, name: str, q: Array, qd: Array, t: Array) -> dict[str, Array]:
        """Values of all names of the law of a tyre, (...) each, for q (..., nq), qd (..., n), t."""
        quantities = Quantities(self, {"t": t, "q": q, "qd": qd, "qdd": np.zeros_like(qd)})
        k = [force.name for force in self.description.forces].index(name)
        return self._defined(k, self.motion(q, qd), quantities)

    def mass_matrix(self, q: Array) -> Array:
        """M = sum of m Jv' Jv + Jw' I Jw over the links, and the rotors, (..., n, n)."""
        motion, model = self.motion(as_array(q), moved=True), self.model
        (centres,) = motion.points(model.centres)
        linear, angular = motion.jacobians(centres, model.centres.links)
        momentum = model.mass[:, np.newaxis, np.newaxis] * linear
        bodies = _project(linear, momentum) + _project(angular, motion.inertias() @ angular)
        return np.asarray(bodies + np.diag(model.terms.added) + model.terms.rotors)

    def gravity_forces(self, q: Array) -> Array:
        """Torques that hold the robot at rest against its weight, (..., n); without springs."""
        q = as_array(q)
        rest = np.zeros((*q.shape[:-1], self.n))
        return self._bodies(q, rest, rest, self.model.gravity)

    def bias_forces(self, q: Array, qd: Array, *, loads: Array | None = None) -> Array:
        """Inverse dynamics at zero acceleration, (..., n)."""
        q, qd = same_batch(q, qd)
        return self.inverse_dynamics(q, qd, np.zeros(qd.shape), loads=loads)

    def velocity_torques(self, q: Array, qd: Array) -> Array:
        """Torques of the bodies at zero acceleration without weight, C qd, (..., n)."""
        q, qd = same_batch(q, qd)
        return self._bodies(q, qd, 0.0 * qd, np.zeros(3))

    def coriolis_matrix(self, q: Array, qd: Array) -> Array:
        """Return the Christoffel matrix C, half of d(C qd)/dqd, (..., n, n).

        Christoffel symbols are symmetric in the velocities; on manifolds, those of a chart with
        dW/dq_k = D_k are, minus M D_k (without rotors).
        """
        q, qd = same_batch(q, qd)
        slope = self._slope("velocity_torques", "qd", q=q, qd=qd)
        if not self.space.joints:
            return np.asarray(0.5 * slope)
        D = self.space.turning
        bracket = np.einsum("kaj,...k->...aj", D - np.swapaxes(D, 0, 2), qd)
        return np.asarray(0.5 * (slope - (self.mass_matrix(q) - self.model.terms.rotors) @ bracket))

    def torque_parts(
        self, q: Array, qd: Array, qdd: Array, *, loads: Array | None = None
    ) -> tuple[Array, ...]:
        """Torques of accelerations, squares and products of velocities, weight, loads and forces,
        joint terms, 6 x (..., n)."""
        q, qd, qdd = same_batch(q, qd, qdd)
        single = np.eye(self.n).reshape(self.n, *(1,) * (qd.ndim - 1), self.n) * qd
        squares, terms = self.velocity_torques(q, single).sum(axis=0), self.model.terms
        return (
            times(self.mass_matrix(q), qdd),
            squares,
            self.velocity_torques(q, qd) - squares,
            self.gravity_forces(q),
            self._load_forces(q, loads) - self.model_forces(q, qd),
            terms.losses(qd) + terms.springs(q),
        )

    def inverse_dynamics_derivatives(
        self, q: Array, qd: Array, qdd: Array, *, loads: Array | None = None
    ) -> tuple[Array, Array, Array, Array]:
        """tau, dtau/dq, dtau/dqd, dtau/dqdd = M, (..., n) and 3 x (..., n, n)."""
        state = self._same_batch({"q": q, "qd": qd, "qdd": qdd, "loads": loads})
        by_q, by_qd = (self._slope("inverse_dynamics", x, **state) for x in ("q", "qd"))
        return self.inverse_dynamics(**state), by_q, by_qd, self.mass_matrix(state["q"])

    def lagrange_torques(
        self, q: Array, qd: Array, qdd: Array, *, loads: Array | None = None
    ) -> Array:
        """Lagrange: tau = M qdd + Mdot qd - dT/dq + dV/dq + losses - J' w, (..., n).

        V includes the springs; dampers and applied forces of the model act as loads w.  On
        manifolds, momenta p = M w rotate with the link (Euler-Poincare): w x p for rotations, and
        v x p_v for a free joint, whose forces rotate, too.
        """
        q, qd, qdd = same_batch(q, qd, qdd)
        mass, terms = self.mass_matrix(q), self.model.terms
        torques = times(mass, qdd) + times(self._rate(self.mass_matrix, q, qd), qd)
        torques = torques - self._slope("kinetic_energy", "q", q=q, qd=qd)
        torques = torques + self._slope("potential_energy", "q", q=q)
        momentum = times(mass - terms.rotors, qd)
        for kind, _, start in self.space.joints:
            w = slice(start + 3 * (kind == FREE), start + 3 + 3 * (kind == FREE))
            torques[..., w] += np.cross(qd[..., w], momentum[..., w])
            if kind == FREE:
                v = slice(start, start + 3)
                torques[..., v] += np.cross(qd[..., w], momentum[..., v])
                torques[..., w] += np.cross(qd[..., v], momentum[..., v])
        external = self._load_forces(q, loads) - self.model_forces(q, qd, elastic=False)
        return np.asarray(torques + terms.losses(qd) + external)

    # -------------------------------------------------------------- forward and hybrid dynamics
    # With M_ff y_f = x_f - h_f - M_fp x_p and y_p = h_p + M_pp x_p + M_pf y_f, h the torques at
    # zero acceleration, a change T of the torques at fixed accelerations changes y_f by
    # -M_ff^-1 T_f and y_p by T_p - M_pf M_ff^-1 T_f.  In forward dynamics all joints are free.

    def _solved(
        self, hybrid: bool, q: Array, qd: Array, x: Array, *, loads: Array | None = None
    ) -> Array:
        """y, (..., n); NaN where the mass matrix is singular (`_solvable`)."""
        q, qd, x = same_batch(q, qd, x)
        prescribed = self.prescribed & hybrid
        held = np.where(prescribed, x, 0.0)
        torques = self.inverse_dynamics(q, qd, held, loads=loads) - np.where(prescribed, 0.0, x)
        return self._implicit(self.mass_matrix(q), prescribed, torques[..., np.newaxis])[..., 0]

    def _solved_derivatives(
        self, hybrid: bool, q: Array, qd: Array, x: Array, *, loads: Array | None = None
    ) -> tuple[Array, ...]:
        """y, dy/dq, dy/dqd, dy/dx, (..., n) and 3 x (..., n, n)."""
        q, qd, x = same_batch(q, qd, x)
        prescribed = self.prescribed & hybrid
        y = self._solved(hybrid, q, qd, x, loads=loads)
        qdd = np.where(prescribed, x, y)
        _, by_q, by_qd, mass = self.inverse_dynamics_derivatives(q, qd, qdd, loads=loads)
        by_x = np.where(prescribed, mass, -np.eye(self.n))
        return y, *(self._implicit(mass, prescribed, T) for T in (by_q, by_qd, by_x))

    def _solved_parameter_derivatives(
        self, hybrid: bool, q: Array, qd: Array, x: Array, *, loads: Array | None = None
    ) -> Array:
        """dy/dparameters at fixed q, qd, x, (..., n, n_parameters)."""
        q, qd, x = same_batch(q, qd, x)
        prescribed = self.prescribed & hybrid
        qdd = np.where(prescribed, x, self._solved(hybrid, q, qd, x, loads=loads))
        slopes = self.inverse_dynamics_parameter_derivatives(q, qd, qdd, loads=loads)
        return self._implicit(self.mass_matrix(q), prescribed, slopes)

    forward_dynamics = partialmethod(_solved, False)
    forward_dynamics_derivatives = partialmethod(_solved_derivatives, False)
    forward_dynamics_parameter_derivatives = partialmethod(_solved_parameter_derivatives, False)
    hybrid_dynamics = partialmethod(_solved, True)
    hybrid_dynamics_derivatives = partialmethod(_solved_derivatives, True)
    hybrid_dynamics_parameter_derivatives = partialmethod(_solved_parameter_derivatives, True)

    def forward_dynamics_sensitivities(
        self, q: Array, qd: Array, tau: Array, dq: Array, dqd: Array, dtau: Array,
        *, loads: Array | None = None,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Return qdd (..., n), and its derivative (..., n, n_parameters) along the parameters,
        where q, qd, tau vary by dq, dqd, dtau, (..., n, n_parameters) each."""
        qdd, *slopes = self.forward_dynamics_derivatives(q, qd, tau, loads=loads)
        explicit = self.forward_dynamics_parameter_derivatives(q, qd, tau, loads=loads)
        implicit = (a @ b for a, b in zip(slopes, (dq, dqd, dtau), strict=True))
        return qdd, np.asarray(sum(implicit, explicit))

    def _implicit(self, mass: Array, prescribed: Array, torques: Array) -> Array:
        """`_implicit` of both; for a disturbed robot, with roundings of both, and of elimination,
        whose errors are equivalent to a change of the rows of the matrix."""
        if self._random is not None:
            rows = np.abs(mass).max(axis=-1, keepdims=True)
            mass = mass + SIZE * rows * self._random.uniform(-1.0, 1.0, mass.shape)
            torques = disturbed(torques, self._random)
        return _implicit(mass, prescribed, torques)

    # ---------------------------------------------------------------- products with derivatives

    def _matrices(
        self, base: str, q: Array, qd: Array, x: Array, loads: Array | None
    ) -> tuple[Array, list[Array]]:
        """Inverse or forward dynamics and its derivatives by q, qd, x, loads (..., n, n_loads, 6)
        and parameters; a load pushes as a torque does."""
        value, *matrices = getattr(self, f"{base}_derivatives")(q, qd, x, loads=loads)
        by_loads = self.inverse_dynamics_load_derivatives(q)
        if base == "forward_dynamics":
            by_loads = -np.einsum("...ij,...jkc->...ikc", matrices[2], by_loads)
        by_loads = np.broadcast_to(by_loads, (*value.shape, self.n_loads, 6))
        by_parameters = getattr(self, f"{base}_parameter_derivatives")(q, qd, x, loads=loads)
        return value, [*matrices, by_loads, by_parameters]

    def _along(
        self, base: str, q: Array, qd: Array, x: Array, *directions: Array, **options: Any
    ) -> tuple[Array, Array]:
        """The value, and its derivative along directions of q, qd, x and, as options, of loads and
        parameters."""
        value, matrices = self._matrices(base, q, qd, x, options.get("loads"))
        return value, _contracted(matrices, directions, options)

    def _backwards(
        self, base: str, q: Array, qd: Array, x: Array, multipliers: Array,
        *, loads: Array | None = None,
    ) -> tuple[Array, ...]:  # fmt: skip
        """Gradients of multipliers . value by q, qd, x, loads and parameters."""
        return _gradients(self._matrices(base, q, qd, x, loads)[1], multipliers)

    inverse_dynamics_jvp = partialmethod(_along, "inverse_dynamics")
    inverse_dynamics_vjp = partialmethod(_backwards, "inverse_dynamics")
    forward_dynamics_jvp = partialmethod(_along, "forward_dynamics")
    forward_dynamics_vjp = partialmethod(_backwards, "forward_dynamics")

    @property
    def inverse_dynamics_hvp(self) -> Callable[..., tuple[Array, ...]]:
        """Changes of the gradients of multipliers . tau along directions."""
        return self._with_differences(self._torque_curvatures)

    @property
    def forward_dynamics_hvp(self) -> Callable[..., tuple[Array, ...]]:
        """Changes of the gradients of multipliers . qdd along directions."""
        return self._with_differences(self._acceleration_curvatures)

    def _with_differences(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function; AttributeError if differences would be slow or inaccurate."""
        if self.n > LARGEST or self._has_forces or self.n_parameters:
            raise AttributeError(f"more than {LARGEST} coordinates, forces or runtime parameters")
        return function

    @property
    def inverse_dynamics_hessian(self) -> Callable[..., tuple[Array, ...]]:
        """Blocks q_q, q_qd, q_qdd, qd_qd, (..., n, n) each; AttributeError where n is large."""
        if self.n > LARGEST or self.space.joints or self._has_forces:
            raise AttributeError(f"more than {LARGEST} coordinates, joints on manifolds or forces")
        return self._hessian

    def _torque_curvatures(
        self, q: Array, qd: Array, qdd: Array, multipliers: Array, *directions: Array,
        **options: Any,
    ) -> tuple[Array, ...]:  # fmt: skip
        q, qd, qdd, multipliers, dq, dqd, dqdd = same_batch(q, qd, qdd, multipliers, *directions)
        bodies, terms = copy(self), self.model.terms
        bodies.model = copy(self.model)
        bodies.model.terms = terms.none()  # perhaps far larger, and linear but for two of them
        loads, dloads = options.get("loads"), options.get("dloads")

        def gradients(step: float) -> tuple[Array, ...]:
            acting = loads
            if dloads is not None:
                acting = step * dloads + (0.0 if loads is None else loads)
            motion = self.space.integrate(q, step * dq), qd + step * dqd, qdd + step * dqdd
            _, *matrices = bodies.inverse_dynamics_derivatives(*motion, loads=acting)
            by_loads = bodies.inverse_dynamics_load_derivatives(motion[0])
            none = np.zeros((*qd.shape, self.n_parameters))
            return _gradients([*matrices, by_loads, none], multipliers)

        by_q, by_qd, *by_others = change_along(gradients)
        by_q = by_q - half_bracket(self.space, gradients(0.0)[0], dq)
        by_q = by_q + spring_curvature(self.space, terms, q, multipliers, dq)
        return by_q, by_qd + friction_curvature(terms, qd, multipliers, dqd), *by_others

    def _acceleration_curvatures(
        self, q: Array, qd: Array, tau: Array, multipliers: Array, *directions: Array,
        **options: Any,
    ) -> tuple[Array, ...]:  # fmt: skip
        """Changes -(1, d)^T H (dx, d dx) of gradients: x are all arguments of the accelerations, d
        their derivative by x, H the Hessian of y . tau by x and qdd, and y the multipliers times
        the inverse of the mass matrix."""
        qdd, matrices = self._matrices("forward_dynamics", q, qd, tau, options.get("loads"))
        weights = np.einsum("...i,...ij->...j", multipliers, matrices[2])
        change = _contracted(matrices, directions, options)
        motion = q, qd, qdd, weights, *directions[:2], change
        by_q, by_qd, by_qdd, *by_others = self._torque_curvatures(*motion, **options)
        implicit = _gradients(matrices, by_qdd)
        explicit = (by_q, by_qd, np.zeros_like(by_qdd), *by_others)
        return tuple(-(x + y) for x, y in zip(explicit, implicit, strict=True))

    def _hessian(
        self, q: Array, qd: Array, qdd: Array, multipliers: Array, *, loads: Array | None = None
    ) -> tuple[Array, ...]:
        """Changes of the gradients along every coordinate and velocity, as columns."""
        state = same_batch(q, qd, qdd, multipliers)
        units = np.eye(2 * self.n).reshape(2 * self.n, *(1,) * (state[0].ndim - 1), 2 * self.n)
        dq, dqd = units[..., : self.n], units[..., self.n :]
        columns = self._torque_curvatures(*state, dq, dqd, 0.0 * dq, loads=loads)
        by_q, by_qd, by_qdd = (np.moveaxis(x, 0, -2) for x in columns[:3])
        by_position, by_velocity = slice(0, self.n), slice(self.n, None)
        return (
            by_q[..., by_position, :],
            by_qd[..., by_position, :],
            by_qdd[..., by_position, :],
            by_qd[..., by_velocity, :],
        )

    # ----------------------------------------------------------------------------- joint wrenches

    def joint_wrenches(
        self, q: Array, qd: Array, qdd: Array, *, loads: Array | None = None
    ) -> Array:
        """[force; moment] exerted through each joint on the links that it carries, (..., N, 6).

        Minus the sum of inertia forces, weight and other forces on these links, in axes of the
        child frame of the coordinate, with later ones of the joint at 0; moments are about the
        placement of a standard DH row, else about the origin of the child frame.
        """
        q, qd, qdd = same_batch(q, qd, qdd)
        motion, model = self.motion(q, qd, qdd), self.model
        actions = motion.inertia_forces(model.gravity)
        if loads is not None:
            wrenches, at = as_array(loads), motion.points(model.loads)[0]
            actions += Actions(model.loads.links, at, wrenches[..., :3], wrenches[..., 3:])
        if self._has_forces:
            actions += self._model_actions(motion, q, qd)
        frames = motion.behind[..., 0, :, :]
        joints = [model.joints[i] for i in model.own_link]
        at_parent = np.array([joint.moment_point is not None for joint in joints]).reshape(-1, 1)
        shifts = [np.zeros(3) if x.moment_point is None else x.moment_point for x in joints]
        places = Points([joint.parent for joint in joints], np.array(shifts).reshape(-1, 3))
        abouts = np.where(at_parent, motion.points(places)[0], frames[..., :3, 3])
        beyond = model.moves[actions.links].T[..., np.newaxis].astype(float)  # (N, m, 1)
        forces = actions.forces[..., np.newaxis, :, :]
        arms = actions.places[..., np.newaxis, :, :] - abouts[..., np.newaxis, :]
        moments = actions.torques[..., np.newaxis, :, :] + np.cross(arms, forces)
        back = -np.swapaxes(frames[..., :3, :3], -1, -2)
        parts = [times(back, np.sum(beyond * x, axis=-2)) for x in (forces, moments)]
        return np.concatenate(parts, axis=-1)[..., model.wrench_rows, :]

    def joint_wrench_derivatives(
        self, q: Array, qd: Array, qdd: Array, *, loads: Array | None = None
    ) -> tuple[Array, ...]:
        """Return the wrenches and their derivatives by q, qd, qdd, 3 x (..., N, 6, n)."""
        state = self._same_batch({"q": q, "qd": qd, "qdd": qdd, "loads": loads})
        slopes = (self._slope("joint_wrenches", x, **state) for x in ("q", "qd", "qdd"))
        return self.joint_wrenches(**state), *slopes

    # ----------------------------------------------------------------------- links and points

    def forward_kinematics(self, q: Array) -> Array:
        """Poses of all link frames in the base frame, (..., n_links, 4, 4)."""
        return self.motion(as_array(q)).frames

    def jacobians(self, q: Array) -> Array:
        """Geometric Jacobians [linear; angular] of the link frames, (..., n_links, 6, n)."""
        motion = self.motion(as_array(q))
        jacobians = motion.jacobians(motion.frames[..., :3, 3], range(self.n_links))
        return np.concatenate(jacobians, axis=-2)

    def link_motion(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array]:
        """Velocity and acceleration (gravity left out) of link frames, 2 x (..., n_links, 6)."""
        motion = self.motion(*same_batch(q, qd, qdd))
        velocity, acceleration = (
            np.concatenate([motion.jets[..., :-1, order, :3, 3], spin], axis=-1)
            for order, spin in enumerate(motion.spins(), start=1)
        )
        return velocity, acceleration

    def point_motion(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, ...]:
        """Position, velocity and acceleration (gravity left out), 3 x (..., n_points, 3)."""
        return self.motion(*same_batch(q, qd, qdd)).points(self.model.points)

    def point_motion_derivatives(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, ...]:
        """dx_dq, dv_dq, dv_dqd, da_dq, da_dqd, da_dqdd, each (..., n_points, 3, n)."""
        (x_q, v_q, a_q), (_, v_qd, a_qd), (_, _, a_qdd) = (
            self._slopes("point_motion", name, q=q, qd=qd, qdd=qdd) for name in ("q", "qd", "qdd")
        )
        return x_q, v_q, v_qd, a_q, a_qd, a_qdd

    # --------------------------------------------------------------- centre of mass and momentum

    @property
    def _moving_mass(self) -> Array:
        """Masses of the links, 0 for those that are fixed to the base."""
        return np.asarray(self.model.mass * self.model.moves[:-1].any(axis=1))

    def center_of_mass(self, q: Array) -> Array:
        """Centre of mass of all moving links, (..., 3), base frame.

        Without mass it is 0; NaN if there are runtime parameters, since generated code divides.
        """
        (centres,) = self.motion(as_array(q)).points(self.model.centres)
        mass = self._moving_mass
        nothing = np.full(len(mass), np.nan if self.parameter_names else 0.0)
        shares = mass / mass.sum() if mass.sum() else nothing
        return np.asarray(np.einsum("l,...lc->...c", shares, centres))

    def center_of_mass_jacobian(self, q: Array) -> Array:
        """Velocity of the centre of mass per joint velocity, (..., 3, n), base axes."""
        return self._slope("center_of_mass", "q", q=q)

    def centroidal_momentum(self, q: Array, qd: Array) -> Array:
        """[linear; angular about the centre of mass] of all moving links, (..., 6), base axes."""
        q, qd = same_batch(q, qd)
        motion = self.motion(q, qd, 0.0 * qd)
        centres, velocities, _ = motion.points(self.model.centres)
        momentum = self._moving_mass[:, np.newaxis] * velocities
        arms = centres - self.center_of_mass(q)[..., np.newaxis, :]
        moment = times(motion.inertias(), motion.spins()[0]) + np.cross(arms, momentum)
        return np.concatenate([momentum.sum(axis=-2), moment.sum(axis=-2)], axis=-1)

    def centroidal_momentum_matrix(self, q: Array) -> Array:
        """Return the momentum per joint velocity, (..., 6, n)."""
        q = as_array(q)
        rest = np.zeros((*q.shape[:-1], self.n))
        return self._slope("centroidal_momentum", "qd", q=q, qd=rest)

    def centroidal_momentum_rate(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Rate of the momentum, (..., 6), base axes."""
        q, qd, qdd = same_batch(q, qd, qdd)
        return self._rate(self.centroidal_momentum, q, qd, (qd, qdd))

    # ------------------------------------------------------------------------------- regressor

    @property
    def inertial_parameters(self) -> Array:
        """pi of the body behind each joint, links on fixed joints included, (10 N,)."""
        model = self.model
        last = {link: j for j, link in enumerate(model.own_link)}
        result = np.zeros((len(model.own_link), 10))
        owners = {-1: (-1, np.eye(4))}  # the body of each link, and the pose of the link in it
        for i, joint in enumerate(model.joints):
            owner, pose = owners[joint.parent]
            tool = np.eye(4) if joint.tool is None else joint.tool
            carried = owner, pose @ joint.placement @ tool
            owners[i] = (i, np.eye(4)) if joint.motions else carried
            if owners[i][0] >= 0:
                result[last[owners[i][0]]] += self._parameters_of_link(i, owners[i][1])
        return np.asarray(result[model.wrench_rows].reshape(-1))

    def _parameters_of_link(self, link: int, pose: Array) -> Array:
        """pi of one link in the frame in which the link has this pose."""
        mass, turn = self.model.mass[link], pose[:3, :3]
        centre = pose[:3, 3] + turn @ self.model.centres.places[link]
        about_origin = centre @ centre * np.eye(3) - np.outer(centre, centre)
        inertia = turn @ self.model.inertia[link] @ turn.T + mass * about_origin
        return np.array([mass, *(mass * centre), *(inertia[entry] for entry in INERTIA_ENTRIES)])

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Torques of unit inertial parameters, one at a time, by virtual power, (..., n, 10 N).

        A mass element at r, a column of 4 numbers with a 1, has the acceleration T'' r - g and
        moves by dT/dq_k r: with P the integral of r r', the torque is the trace of
        (dT/dq_k) P (T'' - g)'.
        """
        motion, model = self.motion(*same_batch(q, qd, qdd)), self.model
        frames, forces = motion.behind[..., 0, :3, :], motion.behind[..., 2, :3, :].copy()
        forces[..., 3] -= model.gravity
        linear, angular = motion.jacobians_of(frames[..., 3], model.carries)
        moved = np.empty((*linear.shape, 4), linear.dtype)  # (..., N, 3, n, 4)
        moved[..., 3] = linear
        columns = np.swapaxes(frames[..., :3], -1, -2)[..., np.newaxis, :, :]
        turned = np.cross(np.swapaxes(angular, -1, -2)[..., np.newaxis, :], columns)
        moved[..., :3] = np.moveaxis(turned, -1, -3)
        inertial = np.einsum("...lca,pab->...lpcb", forces, _UNIT_BODIES)
        torques = np.einsum("...lckb,...lpcb->...klp", moved, inertial)[..., model.wrench_rows, :]
        return np.asarray(torques.reshape(*torques.shape[:-2], 10 * len(model.wrench_rows)))

    # -------------------------------------------------------------------- outputs and constraints

    def _output_state(
        self, t: Array, q: Array, qd: Array, qdd: Array, tau: Array,
        loads: Array | None = None, motion_multipliers: Array | None = None,
    ) -> dict[str, Array]:  # fmt: skip
        """Return the arguments by name; `t` has the shape (...)."""
        if loads is None:
            loads = np.zeros((self.n_loads, 6))
        if motion_multipliers is None:
            motion_multipliers = np.zeros((3, len(self.description.constraint_names)))
        return self._same_batch({
            "t": t, "q": q, "qd": qd, "qdd": qdd, "tau": tau, "loads": loads,
            "motion_multipliers": motion_multipliers,
        })  # fmt: skip

    def outputs(self, *arguments: Array, **options: Array) -> Array:
        """Return the model's outputs, (..., n_outputs)."""
        state = self._output_state(*arguments, **options)
        quantities, batch = Quantities(self.at_time(state["t"]), state), state["t"].shape
        roots = [output.expression.root for output in self.description.outputs]
        values = [np.broadcast_to(value_of(root, quantities), batch) for root in roots]
        return np.stack(values, axis=-1) if values else np.zeros((*batch, 0))

    def outputs_multiplier_derivatives(self, *arguments: Array, **options: Array) -> Array:
        """Derivatives by the multipliers, (..., n_outputs, 3, n_constraints)."""
        return self._slope(
            "outputs", "motion_multipliers", **self._output_state(*arguments, **options)
        )

    def outputs_derivatives(self, *arguments: Array, **options: Array) -> tuple[Array, ...]:
        """Return the outputs and their derivatives by t, q, qd, qdd, tau, loads, parameters.

        Shapes of arguments are appended to that of the outputs: 2 x (..., n_outputs),
        4 x (..., n_outputs, n), (..., n_outputs, n_loads, 6), (..., n_outputs, n_parameters).
        """
        state = self._output_state(*arguments, **options)
        slopes = [self._slope("outputs", name, **state) for name in tuple(state)[:-1]]
        return self.outputs(**state), *slopes, self._by_parameters("outputs", **state)

    def constraints(self, q: Array, *, t: Array | float = 0.0) -> Array:
        """Return the rows of all loops, the relations, norms of Euler parameters, (..., m).

        Relations of velocities are 0 times their values at rest.
        """
        state = self._same_batch({"t": t, "q": q})
        q, batch = state["q"], state["t"].shape
        frames = self.forward_kinematics(q)
        rows: list[Array] = []
        for loop in self.description.loops:
            first, second = (frame_of(self.model, x, frames) for x in (loop.first, loop.second))
            rows += rows_of(loop, first, second, self.model.number(loop.length))
        for relation, value in zip(
            self.description.relations,
            self._relations(q, np.zeros(self.n), state["t"]),
            strict=True,
        ):
            rows.append(0.0 * value if relation.is_of_velocities else value)
        places, stop = self.model.terms.positions(q), 0
        for joint in self.description.joints:
            stop += joint.coordinates
            if joint.is_redundant:
                rows.append(np.sum(places[..., stop - 4 : stop] ** 2, axis=-1) - 1.0)
        every = [np.broadcast_to(row, batch) for row in rows]
        return np.stack(every, axis=-1) if every else np.zeros((*batch, 0))

    def _relations(self, q: Array, qd: Array, t: Array) -> list[Array]:
        """Return the expressions of the relations, (...) each."""
        state = self._same_batch({"t": t, "q": q, "qd": qd, "qdd": np.zeros(self.n)})
        quantities = Quantities(self.at_time(state["t"]), state)
        return [value_of(x.expression.root, quantities) for x in self.description.relations]

    def _of_velocities(self, q: Array, qd: Array, t: Array) -> Array:
        """Return the relations of velocities, and 0 for the other constraints, (..., m)."""
        of_velocities = np.array(velocity_rows(self.description), dtype=bool)
        values = self._relations(q, qd, t)
        rows = np.zeros((*np.shape(values[0] if values else t), len(of_velocities)), complex)
        chosen = [x.is_of_velocities for x in self.description.relations]
        for k, value in zip(np.flatnonzero(of_velocities), compress(values, chosen), strict=True):
            rows[..., k] = value
        return rows if np.iscomplexobj(q) or np.iscomplexobj(qd) else rows.real

    def constraint_rates(self, q: Array, qd: Array, *, t: Array | float = 0.0) -> Array:
        """Return rates of constraints along q' = qd, t' = 1; relations of velocities, (..., m)."""
        time = np.asarray(t)
        rates = self._rate(lambda x, s: self.constraints(x, t=s), q, qd, (time, 1.0))
        return np.asarray(rates + self._of_velocities(q, qd, time))

    def constraint_jacobian(self, q: Array, *, t: Array | float = 0.0) -> Array:
        """Derivatives of the constraints by q, of relations of velocities by qd, (..., m, n)."""
        time, rest = np.asarray(t), np.zeros(self.n)
        J = self._slope("constraints", "q", q=q, t=time)
        for k, unit in enumerate(np.eye(self.n)):
            # exact, for the relations are linear
            J[..., k] += self._of_velocities(q, unit, time) - self._of_velocities(q, rest, time)
        return J


class ParametrisedRobot:
    """A `NumericRobot` whose functions take `parameters` (S, p), equal in every sample.

    ValueError if some value of the model does not exist at these parameters.
    """

    def __init__(self, robot: NumericRobot) -> None:
        self._robot = robot
        self._random: np.random.Generator | None = None
        self._others: dict[tuple[float, ...], NumericRobot] = {}

    def disturbed_by(self, random: np.random.Generator) -> ParametrisedRobot:
        """Return the functions of the robot with every frame disturbed."""
        changed = ParametrisedRobot(self._robot.disturbed_by(random))
        changed._random = random
        return changed

    def __getattr__(self, name: str) -> Callable[..., Any]:
        getattr(self._robot, name)  # AttributeError where there is no such function

        def function(*arguments: Array, parameters: Array | None = None, **options: Any) -> Any:
            robot = self._robot if parameters is None else self._at(parameters)
            if "t" in options and name in LOADED:
                robot = robot.at_time(options.pop("t"))
            return getattr(robot, name)(*arguments, **options)

        return function

    def _at(self, parameters: Array) -> NumericRobot:
        values = tuple(np.reshape(parameters, (-1, np.shape(parameters)[-1]))[0].tolist())
        if values not in self._others:
            try:
                robot = self._robot.with_parameters(np.array(values))
                self._others[values] = (
                    robot if self._random is None else robot.disturbed_by(self._random)
                )
            except EvaluationError as error:
                raise ValueError(str(error)) from error
        return self._others[values]


def lagrange_and_power(s: Evaluation) -> Iterator[Comparison]:
    """Compare the torques of the numeric model by Lagrange's equations and by virtual power."""
    functions, at = s.subject.functions, s.states
    lagrange, power = (
        torques(at.q, at.qd, at.qdd, loads=at.loads)
        for torques in (functions.lagrange_torques, functions.inverse_dynamics)
    )
    yield "Lagrange's equations = virtual power", limits.agreement, lagrange, power


# ------------------------------------------------------------------------------- small algebra


def _tuple(results: Any) -> tuple[Array, ...]:
    return results if isinstance(results, tuple) else (results,)


def _unit_bodies() -> Array:
    """Return the integral of r r' of a body of each unit inertial parameter, (10, 4, 4)."""
    bodies = np.zeros((10, 4, 4))
    bodies[0, 3, 3] = 1.0
    for k in range(3):
        bodies[1 + k, k, 3] = bodies[1 + k, 3, k] = 1.0
    for k, (i, j) in enumerate(INERTIA_ENTRIES, start=4):
        if i == j:  # the trace of the inertia is twice that of the second moments
            bodies[k, :3, :3] = 0.5 * np.eye(3)
            bodies[k, i, i] = -0.5
        else:
            bodies[k, i, j] = bodies[k, j, i] = -1.0
    return bodies


_UNIT_BODIES = _unit_bodies()


def _contracted(
    matrices: Sequence[Array], directions: Sequence[Array], options: Mapping[str, Any]
) -> Array:
    *by_state, by_loads, by_parameters = matrices
    total = sum(times(matrix, x) for matrix, x in zip(by_state, directions, strict=True))
    if options.get("dloads") is not None:
        total = total + np.einsum("...ikc,...kc->...i", by_loads, options["dloads"])
    if options.get("dparameters") is not None:
        total = total + times(by_parameters, options["dparameters"])
    return np.asarray(total)


def _gradients(matrices: Sequence[Array], multipliers: Array) -> tuple[Array, ...]:
    *by_vectors, by_loads, by_parameters = matrices
    vectors = [np.einsum("...i,...ij->...j", multipliers, x) for x in (*by_vectors, by_parameters)]
    loads = np.einsum("...i,...ikc->...kc", multipliers, by_loads)
    return (*vectors[:-1], loads, vectors[-1])


def _project(left: Array, right: Array) -> Array:
    """Sum over m of left' right for stacks (..., m, 3, n).

    In blocks of eight links: larger products make the BLAS start threads, which on a busy machine
    wait for each other far longer than the product takes.
    """
    n = left.shape[-1]
    total = np.zeros((*left.shape[:-3], n, n), dtype=np.result_type(left, right))
    for start in range(0, left.shape[-3], 8):
        block = left[..., start : start + 8, :, :]
        stack = block.reshape(*block.shape[:-3], block.shape[-3] * 3, n)
        factor = right[..., start : start + 8, :, :].reshape(stack.shape)
        total += np.swapaxes(stack, -1, -2) @ factor
    return total


def _implicit(mass: Array, prescribed: Array, torques: Array) -> Array:
    """The change of y for a change T of the torques at fixed accelerations: both (..., n, m)."""
    free, held = np.flatnonzero(~prescribed), np.flatnonzero(prescribed)
    block = mass[..., free[:, np.newaxis], free]
    solvable = _solvable(block, mass.shape[-1])[..., np.newaxis, np.newaxis]
    block = np.where(solvable, block, np.eye(len(free)))
    change = -_solution(block, torques[..., free, :])
    change = np.where(solvable, change, np.nan)
    result = np.empty(torques.shape, dtype=np.result_type(torques, change))
    result[..., free, :] = change
    coupling = mass[..., held[:, np.newaxis], free]
    result[..., held, :] = torques[..., held, :] + coupling @ change
    return result


def _solution(block: Array, right: Array) -> Array:
    """block^-1 right, batch axes in front; NaN if numpy finds a pivot of exactly 0.

    With its order of elimination, pivots may be 0 where those of `_solvable` are rounding errors.
    """
    batch = np.broadcast_shapes(block.shape[:-2], right.shape[:-2])
    block = np.broadcast_to(block, (*batch, *block.shape[-2:]))
    right = np.broadcast_to(right, (*batch, *right.shape[-2:]))
    try:
        return np.asarray(np.linalg.solve(block, right))
    except np.linalg.LinAlgError:
        if not batch:
            return np.full(right.shape, np.nan)
        return np.stack([_solution(*pair) for pair in zip(block, right, strict=True)])


def _solvable(block: Array, coordinates: int) -> Array:
    """Whether all pivots exceed n eps times the diagonal entry of their row, (...).

    n is the number of all coordinates, prescribed ones included.  Elimination is from the last
    coordinate to the first.
    """
    rest, n = np.array(block.real), block.shape[-1]
    least = coordinates * EPS * np.diagonal(block.real, axis1=-2, axis2=-1)
    result = np.ones(block.shape[:-2], dtype=bool)
    with np.errstate(all="ignore"):
        for k in range(n - 1, -1, -1):
            result &= rest[..., k, k] > least[..., k]
            column = rest[..., :k, k, np.newaxis]
            rest[..., :k, :k] -= column * rest[..., np.newaxis, k, :k] / rest[..., k, k, None, None]
    return np.asarray(result)
