"""ALI3-P: mechanisms in steps of one size, with direct sensitivities: `simulate(..., step=...)`.

    Scheme, the start  ->  AugmentedLagrangian.states  ->  rows of the dataset

The augmented Lagrangian formulation of index 3 with projections of velocities and accelerations, as
in Lopez Varela, Dopico and Luaces (2023); equation numbers are theirs.  It calls only functions of
the generated module, by any formulation: `inverse_dynamics` is M zdd - Q, its derivatives are M, C,
K + M_z zdd, and so on.

Derivation     name in code             shape     meaning
z, zd, zdd     q, qd, qdd               (n,)      coordinates (nq,), velocities, accelerations
z*d, z*dd      the same, unprojected    (n,)      by the trapezoidal rule from z
Phi, Phi_z     constraints, J           (m,)      constraints and their Jacobian, (m, n)
lambda         lam                      (m,)      multipliers; those of the module are -lambda
sigma, kappa   sigma, kappa             (m,)      multipliers of the two projections
alpha, vs      penalty, s               number    penalty; weight of projections, h^2 / 4
P              P                        (n, n)    projection matrix
x'             d_x                      (., s)    total derivatives, a column for each sensitivity

One step of size h, with s = h^2 / 4 and A = M + h/2 C + s (K + M_z zdd + Phi_zz' lambda):

    (9)        A dz + Phi_z' y   = -s (M zdd - Q)                y = s lambda
               Phi_z dz - y / (s alpha) = -Phi - y_before / (s alpha)
    (10) (11)  P e + Phi_z' sigma = 0                            e = zd - z*d, or zdd - z*dd
               Phi_z e - sigma / (s alpha) = -Phid(z*d) - sigma_before / (s alpha)

A constraint of velocities r(z, zd) has the row h/2 r(z, z*d) in (9).  Phi_z in the lower row is
then h/2 r_z + r_zd, and r_zd elsewhere.

On manifolds a step leads to integrate(q, u), u = h zd + h^2 / 2 zdd + change, the trapezoidal rule
of Brüls and Cardona (2010), with the same rates.  Then dz = T du, with T of `displacements`, and
the unknown is du: K T stands for K in A, and Phi_z T for Phi_z, or r_z T for r_z, in the lower row
of (9) and (14).
Derivatives by z are those in the tangent space.

These are the printed equations with the multiplier kept as an unknown (*bordered*): elimination
would add the penalty to the mass matrix and round it away.  (9) is solved by Newton's method; on
each linear system the multiplier is updated from 0 until the penalty has no effect.  The penalty is
the larger of alpha and `LEAST_PENALTY`, and larger where updates hardly move the constraints, near
a loss of rank.  Multipliers of redundant rows are of least norm, up to rounding.  (14)-(18) are the
derivatives of these systems, with the same matrices.

A step that does not converge is tried again in halves.

The C code eliminates the rows of these systems branch by branch (`symgen-elimination.h`), which is
the independent check of the inverses here, and these of it.

The start is closed, as in adaptive integration, with the accelerations and multipliers of
`constrained_forward_dynamics` and, with sensitivities, their derivatives.  Integrals of objectives
follow the trapezoidal rule over all steps.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Literal, NoReturn

import numpy as np

from symgen.description.quantities import MULTIPLIERS
from symgen.errors import RequestError
from symgen.runtime.closure import RANK, row_sizes
from symgen.runtime.configuration import Configuration, configuration_of
from symgen.simulation.accelerations import Point, has_constraints, method_of
from symgen.simulation.arguments import (
    Columns,
    Progress,
    checked_number,
    numbers,
    refuse_not_finite,
    selection,
)
from symgen.simulation.inputs import Loads, Torques
from symgen.simulation.motion import Instant, Objectives, RobotState, stacked
from symgen.support.arrays import Array

CONVERGED = 1e-11
"""Newton steps below this, relative to coordinates of size 1 or more, are the last."""
MOST_NEWTON_STEPS = 12
MOST_UPDATES = 20
"""Largest number of updates of multipliers in one linear system."""
SETTLED = 1e-14
"""Change of multipliers, relative to the largest, with which the updates end."""
LEAST_PENALTY = 1e5
"""Least s alpha of (9), in units in which A and J are of size 1."""
STRONGER, MOST_PENALTIES = 1e4, 3
"""Near a loss of rank the penalty grows by this factor, until so many were tried."""
TINY = 1e-300
MOST_HALVINGS = 10
DIFFERENCE = 1e-6
"""Step of the differences of a tangent matrix along sensitivities."""
PENALTY = 1e9
"""Penalty of constraints where a user chooses none."""
NAMES = ("mass", "tangent")
ROUNDING = 1e-9
"""Error of times, in steps, that does not add a step."""
STEPS_AT_ONCE = 2000
"""Steps in C between which Ctrl-C is heard."""
MOST_TERMS, ENOUGH = 40, 1e-17
"""Largest number of terms of T on manifolds, and the size of the last one."""


@dataclass(frozen=True)
class Scheme:
    """Options of `symgen.simulate`.

    `projection` is "mass" for P = M, "tangent" for P = A, or P itself; `projections` is the number
    of times that the multipliers of (10) and (11) are computed.
    """

    step: float
    penalty: float
    projection: Literal["mass", "tangent"] | Array
    projections: int


@dataclass
class State:
    """Everything of one instant: t (s), q (nq,), qd, qdd (n,), multipliers lam, sigma, kappa (m,).

    Derivatives have a column for each of the p sensitivities: d_q, d_qd, d_qdd (n, p), d_lam and so
    on (m, p).
    """

    t: float
    q: Array
    qd: Array
    qdd: Array
    lam: Array
    sigma: Array
    kappa: Array
    d_q: Array
    d_qd: Array
    d_qdd: Array
    d_lam: Array
    d_sigma: Array
    d_kappa: Array


ARRAYS = tuple(field.name for field in fields(State) if field.name != "t")
Steps = Callable[[State, float, int, Array], State]
"""State, step size h, number of steps, integrals to add to -> state."""


class NotConvergedError(Exception):
    """A step without a solution; its message has the remaining error."""


class Bordered:
    """The inverse of [A, J'; J, -1/w], A (n, n), J (m, n), w = s alpha, for several right sides.

    The block below A is `low` instead of J where that is passed.
    """

    def __init__(self, A: Array, J: Array, w: float, low: Array | None = None) -> None:
        m, n = J.shape
        self.n, self.w = n, w
        matrix = np.zeros_like(A, shape=(n + m, n + m))
        matrix[:n, :n], matrix[:n, n:], matrix[n:, :n] = A, J.T, J if low is None else low
        matrix[range(n, n + m), range(n, n + m)] = -1.0 / w
        try:
            self.inverse = np.linalg.inv(matrix)
        except np.linalg.LinAlgError:
            raise NotConvergedError("the tangent matrix is singular") from None

    def solve(self, above: Array, below: Array, updates: int) -> tuple[Array, Array]:
        """Return x (n, ...) and multipliers y (m, ...), which are computed so many times.

        `above` (n, ...) and `below` (m, ...) are the right sides.
        """
        y = np.zeros_like(below)
        for _ in range(updates):
            solution = self.inverse @ np.concatenate([above, below - y / self.w])
            x, y = solution[: self.n], solution[self.n :]
        return x, y

    def settle(self, above: Array, below: Array) -> tuple[Array, Array, float]:
        """Return x (n, ...) and y (m, ...) without penalty, and how far the last update moved x.

        `above` (n, ...) and `below` (m, ...) are the right sides.
        """
        x, y = np.zeros_like(above), np.zeros_like(below)
        moved = change = np.inf
        for _ in range(MOST_UPDATES):
            solution = self.inverse @ np.concatenate([above, below - y / self.w])
            before = moved, change
            moved = float(np.abs(solution[: self.n] - x).max(initial=0.0))
            change = float(np.abs(solution[self.n :] - y).max(initial=0.0))
            x, y = solution[: self.n], solution[self.n :]
            # the next change is smaller by as much as this one is smaller than the last
            following = change * (change / before[1] if 0 < before[1] < np.inf else 1.0)
            if following <= SETTLED * np.abs(y).max(initial=0.0):
                break
            if moved > 0.5 * before[0] and change > 0.5 * before[1]:
                break  # rounding, or a loss of rank
        return x, y, moved


@dataclass
class Tangent:
    """Terms of (9) at one state.

    The residual (n,) without multipliers, M, C, K (n, n), the constraints, or r (m,), J (m, n), the
    derivatives of `constraints` by z (m, n), and which of them are of velocities (m,).
    """

    residual: Array
    M: Array
    C: Array
    K: Array
    constraints: Array
    J: Array
    by_z: Array
    of_velocities: Array

    def matrix(self, h: float) -> Array:
        """Return A."""
        return self.M + 0.5 * h * self.C + 0.25 * h * h * self.K

    def system(self, h: float, w: float, T: Array | None) -> Bordered:
        """Return the linear system of (9) and (14); T (n, n) is None where it is 1."""
        K, by_z = (self.K, self.by_z) if T is None else (self.K @ T, self.by_z @ T)
        A = self.M + 0.5 * h * self.C + 0.25 * h * h * K
        by_velocities = np.where(self.of_velocities[:, np.newaxis], self.J, 0.0)
        return Bordered(A, self.J, w, self.weighted(h, by_z) + by_velocities)

    def weighted(self, h: float, rows: Array) -> Array:
        """Return rows (m, ...) of the constraints as (9) has them: h / 2 times r."""
        return (rows.T * np.where(self.of_velocities, 0.5 * h, 1.0)).T


def starred(h: float, change: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array]:
    """Return z - z_old, z*d, z*dd, (n,) each or (n, p), of the trapezoidal rule.

    z differs by `change` from its first guess; z*d is (z - z_old) 2 / h - zd_old, z*dd that of z*d,
    in forms without cancellation.
    """
    return (
        h * qd + 0.5 * h * h * qdd + change,
        qd + h * qdd + (2.0 / h) * change,
        qdd + (4.0 / h**2) * change,
    )


class AugmentedLagrangian:
    """Steps of a mechanism."""

    converged = CONVERGED

    def __init__(
        self, module: Any, scheme: Scheme, torques: Torques, loads: Loads, parameters: Array,
        columns: Columns,
    ) -> None:  # fmt: skip
        self.module, self.scheme = module, scheme
        self.space = configuration_of(module)
        self.torques, self.loads, self.columns = torques, loads, columns
        self.parameters = parameters
        self.keywords = {"parameters": parameters} if parameters.size else {}
        self.timed = bool(getattr(module, "timed", False))
        self.of_velocities = np.array(module._velocity_rows, dtype=bool)
        self.chosen, self.indices = selection(columns.parameters), selection(columns.indices)
        self.halved = 0

    def acting(self, t: float, q: Array, qd: Array) -> dict[str, Any]:
        """Return options of functions of the tree at q (nq,), qd (n,), without the parameters."""
        loads = {"loads": self.loads(t, q, qd)}
        return {**loads, "t": t} if self.timed else loads

    def states(self, state: State, h: float, steps: int) -> Iterator[State]:
        """Yield the state after each of so many steps of size h."""
        begin = state.t
        for k in range(1, steps + 1):
            state = self.after(state, begin + k * h)
            yield state

    def after(self, state: State, end: float, halvings: int = 0) -> State:
        """Return the state at the time `end`, in one step where it converges, or else in halves."""
        try:
            return self.stepped(state, end)
        except NotConvergedError as error:
            if halvings == MOST_HALVINGS:
                self.refuse(state.t, end, str(error), state.q)
        self.halved += 1
        middle = self.after(state, 0.5 * (state.t + end), halvings + 1)
        return self.after(middle, end, halvings + 1)

    def refuse(self, t: float, end: float, reason: str, q: Array) -> NoReturn:
        """Raise `RequestError` where no step from q (nq,) converges."""
        raise RequestError(
            f"simulate: no step from t = {t:.6g} s to {end:.6g} s converges, not even in halves of "
            f"halves ({MOST_HALVINGS} times): {reason}; q = {q.tolist()}"
        ) from None

    def stepped(self, old: State, end: float) -> State:
        """Return positions by (9), velocities by (10), accelerations by (11), and (14)-(18)."""
        h = end - old.t
        s = 0.25 * h * h
        w = s * self.scheme.penalty
        (u, q, qd, qdd), lam, at, left = self.positions(old, end, w)
        turn, carry = self.turning(u)
        if len(self.columns):  # (14) is linear in what (9) is at its solution
            at = self.tangent(end, q, qd, qdd, lam)
            left = at.system(h, left.w, turn)
        P = self.scheme.projection
        if not isinstance(P, np.ndarray):
            P = at.M if P == "mass" else at.matrix(h)
        right = Bordered(P, at.J, w)
        nothing = np.zeros(len(qd))
        updates = self.scheme.projections
        rates = self.module.constraint_rates(q, qd, t=end, **self.keywords)
        e, sigma = right.solve(nothing, -rates, updates)
        new_qd = qd + e
        bias = self.module.constraint_bias(q, new_qd, t=end, **self.keywords)
        ee, kappa = right.solve(nothing, -(at.J @ qdd + bias), updates)
        new = State(
            end, q, new_qd, qdd + ee, lam, sigma, kappa,
            *(np.zeros((len(x), len(self.columns))) for x in (qd, qd, qd, lam, lam, lam)),
        )  # fmt: skip
        if len(self.columns):
            self.sensitivities(old, new, (qd, qdd), at, (left, right), (turn, carry))
        return new

    def turning(self, u: Array) -> tuple[Array | None, Array | None]:
        """Return `displacements` for the displacement u (n,), None where they are 1."""
        return displacements(self.space, u) if self.space.joints else (None, None)

    def positions(
        self, old: State, end: float, w: float
    ) -> tuple[tuple[Array, Array, Array, Array], Array, Tangent, Bordered]:
        """Solve (9) by Newton's method: (u, z, z*d, z*dd), lambda, and the last correction."""
        h = end - old.t
        s, lam = 0.25 * h * h, old.lam
        correction = np.zeros_like(old.qd)
        u, qd, qdd = starred(h, correction, old.qd, old.qdd)
        for _ in range(MOST_NEWTON_STEPS):
            q = self.space.integrate(old.q, u)
            at = self.tangent(end, q, qd, qdd, lam)
            if not np.isfinite(at.residual).all():
                raise NotConvergedError("the motion is not finite")
            size = max(1.0, float(np.abs(q).max(initial=0.0)))
            left, change, y = self.corrected(at, h, w, self.converged * size, self.turning(u)[0])
            correction, lam = correction + change, y / s
            u, qd, qdd = starred(h, correction, old.qd, old.qdd)
            if np.abs(change).max(initial=0.0) <= self.converged * size:
                q = self.space.normalize(self.space.integrate(old.q, u))
                return (u, q, qd, qdd), lam, at, left
        raise NotConvergedError(f"the last correction was {np.abs(change).max(initial=0.0):.3g}")

    def corrected(
        self, at: Tangent, h: float, w: float, near: float, turn: Array | None
    ) -> tuple[Bordered, Array, Array]:
        """Solve the linear system of (9), with a penalty that holds what J has.

        Returns the system, the change of z (n,), and the multipliers (m,); `turn` (n, n) is T.
        """
        unit = float(np.abs(at.matrix(h)).max(initial=0.0)) / max(
            float(np.abs(at.J).max(initial=0.0)) ** 2, TINY
        )
        w = max(w, LEAST_PENALTY * unit)
        for _ in range(MOST_PENALTIES):
            left = at.system(h, w, turn)
            change, y, moved = left.settle(
                -0.25 * h * h * at.residual, -at.weighted(h, at.constraints)
            )
            if moved <= 0.01 * near:
                break
            w *= STRONGER
        return left, change, y

    def tangent(self, t: float, q: Array, qd: Array, qdd: Array, lam: Array) -> Tangent:
        """Return all that (9) is made of at q (nq,), qd, qdd (n,) and multipliers lam (m,)."""
        tau, acting = self.torques(t, q, qd), self.acting(t, q, qd)
        by_q, by_qd = self.torques.jacobians(t, q, qd)
        tree = self.module.inverse_dynamics_derivatives(q, qd, qdd, **acting, **self.keywords)
        _, curved = self.module.constraint_torque_derivatives(q, lam, t=t, **self.keywords)
        constraints = self.module.constraints(q, t=t, **self.keywords)
        J = by_z = self.module.constraint_jacobian(q, t=t, **self.keywords)
        if self.of_velocities.any():
            pair = self.module.constraint_rate_derivatives(q, qd, t=t, **self.keywords)
            constraints = np.where(self.of_velocities, pair[0], constraints)
            by_z = np.where(self.of_velocities[:, np.newaxis], pair[1], J)
        return Tangent(
            residual=tree[0] - tau,
            M=tree[3],
            C=tree[2] - by_qd,
            K=tree[1] - by_q + curved,
            constraints=constraints,
            J=J,
            by_z=by_z,
            of_velocities=self.of_velocities,
        )

    def sensitivities(
        self, old: State, new: State, unprojected: tuple[Array, Array], at: Tangent,
        systems: tuple[Bordered, Bordered], turning: tuple[Array | None, Array | None],
    ) -> None:  # fmt: skip
        """Solve (14), (15) and (17) into `new`; `unprojected` are z*d and z*dd, (n,) each."""
        h, t, q = new.t - old.t, new.t, new.q
        s, (left, right), (qd, qdd) = 0.25 * h * h, systems, unprojected
        acting, updates = self.acting(t, q, qd), self.scheme.projections
        # (14), for what is missing to the first guess
        turn, carry = (np.eye(len(qd)) if x is None else x for x in turning)
        guess = starred(h, np.zeros_like(old.d_q), old.d_qd, old.d_qdd)
        guess = carry @ old.d_q + turn @ guess[0], *guess[1:]
        torque = at.K @ guess[0] + at.C @ guess[1] + at.M @ guess[2]
        torque += self.by_parameters("inverse_dynamics", q, qd, qdd, **acting)
        torque += self.by_parameters("constraint_torque", q, new.lam, t=t)
        torque -= self.torques.along(t, q, qd, 0.0 * old.d_q, 0.0 * old.d_q)
        below = -self.by_parameters("constraints", q, t=t) - at.weighted(h, at.by_z @ guess[0])
        if self.of_velocities.any():
            rates = at.J @ guess[1] + self.by_parameters("constraint_rates", q, qd, t=t)
            below -= 0.5 * h * np.where(self.of_velocities[:, np.newaxis], rates, 0.0)
        change, y, _ = left.settle(-s * torque, below)
        new.d_lam = y / s
        d_u, d_qd, d_qdd = starred(h, change, old.d_qd, old.d_qdd)
        new.d_q = carry @ old.d_q + turn @ d_u
        # (15), (16)
        options = {"t": t, **self.keywords}
        _, by_q = self.module.constraint_rate_derivatives(q, new.qd, **options)
        b = by_q @ new.d_q + self.by_parameters("constraint_rates", q, new.qd, t=t)
        turned = self.turned(old, new, unprojected, new.qd - qd, new.sigma, d_qd, d_qdd)
        e, new.d_sigma = right.solve(-turned, -(at.J @ d_qd + b), updates)
        new.d_qd = d_qd + e
        # (17), (18)
        _, by_q, by_qd = self.module.constraint_acceleration_derivatives(
            q, new.qd, new.qdd, **options
        )
        c = by_q @ new.d_q + by_qd @ new.d_qd
        c += self.by_parameters("constraint_acceleration", q, new.qd, new.qdd, t=t)
        turned = self.turned(old, new, unprojected, new.qdd - qdd, new.kappa, d_qd, d_qdd)
        e, new.d_kappa = right.solve(-turned, -(at.J @ d_qdd + c), updates)
        new.d_qdd = d_qdd + e

    def multiplier_sensitivities(
        self, t: float, motion: tuple[Array, Array, Array], lam: Array, d_qdd: Array
    ) -> Array:
        """Return lambda' (m, p) at the start, the least that the equations of motion ask for.

        `motion` is q (nq,), qd, qdd (n,); `lam` (m,), `d_qdd` (n, p).
        """
        q, qd, qdd = motion
        at = self.tangent(t, q, qd, qdd, lam)
        acting, d_q, d_qd = self.acting(t, q, qd), self.columns.dq0, self.columns.dqd0
        change = at.M @ d_qdd + at.C @ d_qd + at.K @ d_q
        change += self.by_parameters("inverse_dynamics", q, qd, qdd, **acting)
        change += self.by_parameters("constraint_torque", q, lam, t=t)
        change -= self.torques.along(t, q, qd, 0.0 * d_q, 0.0 * d_q)
        sizes = row_sizes(self.module._row_units, at.J)
        pull = at.J.T / sizes
        return np.asarray(-np.linalg.pinv(pull, rcond=RANK) @ change / sizes[:, np.newaxis])

    def turned(
        self, old: State, new: State, unprojected: tuple[Array, Array], e: Array,
        multipliers: Array, d_qd: Array, d_qdd: Array,
    ) -> Array:  # fmt: skip
        """Return P' e + (Phi_z' x)_z z' + (Phi_z' x)_rho of (15) and (17), (n, p), x (m,)."""
        t, q = new.t, new.q
        _, curved = self.module.constraint_torque_derivatives(q, multipliers, t=t, **self.keywords)
        change: Array = curved @ new.d_q
        change += self.by_parameters("constraint_torque", q, multipliers, t=t)
        if isinstance(self.scheme.projection, np.ndarray):
            return change
        if self.scheme.projection == "tangent":
            return change + self.tangent_along(old, new, unprojected, e, d_qd, d_qdd)
        # M' e: the acceleration of inverse dynamics moved by e
        qd, qdd = unprojected
        acting = self.acting(t, q, qd)
        for sign, a in ((1.0, qdd + e), (-1.0, qdd)):
            by = self.module.inverse_dynamics_derivatives(q, qd, a, **acting, **self.keywords)
            change += sign * by[1] @ new.d_q
            change += sign * self.by_parameters("inverse_dynamics", q, qd, a, **acting)
        return change

    def tangent_along(
        self, old: State, new: State, unprojected: tuple[Array, Array], e: Array, d_qd: Array,
        d_qdd: Array,
    ) -> Array:  # fmt: skip
        """Return A' e (n, p) by differences along sensitivities, for small e (n,)."""
        change, h = np.empty_like(new.d_q), new.t - old.t
        qd, qdd = unprojected
        kept = self.keywords
        for k in range(len(self.columns)):
            sides = []
            for move in (DIFFERENCE, -DIFFERENCE):
                if self.parameters.size:
                    moved = self.parameters.copy()
                    for index, number in zip(
                        self.columns.indices, self.columns.parameters, strict=True
                    ):
                        moved[number] += move * (index == k)
                    self.keywords = {"parameters": moved}
                pairs = ((qd, d_qd), (qdd, d_qdd), (new.lam, new.d_lam))
                q = self.space.integrate(new.q, move * new.d_q[:, k])
                at = self.tangent(new.t, q, *(x + move * dx[:, k] for x, dx in pairs))
                sides.append(at.matrix(h) @ e)
            change[:, k] = (sides[0] - sides[1]) / (2.0 * DIFFERENCE)
        self.keywords = kept
        return change

    def by_parameters(self, name: str, *state: Array, **options: Any) -> Array:
        """Differentiate a function of the module by each sensitivity that is a parameter."""
        suffix = "_parameter_derivatives"
        rows = len(state[-1]) if name == "inverse_dynamics" else self.module.n_constraints
        rows = self.module.n if name == "constraint_torque" else rows
        derivatives = np.zeros((rows, len(self.columns)))
        if self.columns.indices.size:
            slopes = getattr(self.module, name + suffix)(*state, **options, **self.keywords)
            derivatives[:, self.indices] = slopes[:, self.chosen]
        return derivatives


def displacements(space: Configuration, u: Array) -> tuple[Array, Array]:
    """Return T and carry (n, n) of a step u (n,), which map displacements to its end.

    A step leads from q to integrate(q, u), and displacements of both ends are in the axes of moving
    bodies there.  With ad e = [u, e], which is 0 except for joints with a quaternion,

        integrate(q, u + d) = integrate(integrate(q, u), T d)
        integrate(integrate(q, e), u) = integrate(integrate(q, u), carry e)

    with T = sum (-ad)^k / (k + 1)! and carry = 1 - ad T, to the first order in d and e.  T is the
    differential of the exponential seen from its end, the series of dexp of Iserles and others
    (2000) with -ad for ad, since `integrate` turns bodies about their own axes.
    """
    unit = np.eye(space.n)
    ad = space.transported(u, unit)
    T, term = unit.copy(), unit
    for k in range(1, MOST_TERMS):
        term = -(ad @ term) / (k + 1)
        T += term
        if not np.abs(term).max(initial=0.0) > ENOUGH:
            break
    return T, unit - ad @ T


def checked_scheme(
    module: Any, step: Any, penalty: Any, projection: Any, projections: Any
) -> Scheme | None:
    """Return the scheme of the options, None for adaptive steps; RequestError for faulty ones."""
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
    size, penalty = (
        checked_number(name, value, lambda x: 0 < x < np.inf, "positive and finite")
        for name, value in (("step", step), ("penalty", PENALTY if penalty is None else penalty))
    )
    return Scheme(
        size,
        penalty,
        _projection("mass" if projection is None else projection, module.n),
        _count(1 if projections is None else projections),
    )


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
    matrix = numbers("projection", value, (n, n))
    refuse_not_finite("projection", matrix)
    if not np.array_equal(matrix, matrix.T):
        raise RequestError("simulate: projection: the matrix is not symmetric")
    return matrix


def integrate_in_steps(
    module: Any, scheme: Scheme, t: Array, start: tuple[Array, Array], motion: RobotState
) -> tuple[dict[str, Array], Array, int]:
    """Return rows of the dataset at the times t (T,), integrals of the objectives, and step count.

    `start` are coordinates (nq,) and velocities (n,) that keep the constraints, as do their
    sensitivities in the columns of `motion`, which has the inputs.  Every row has T entries, in
    front of the shape of one instant.
    """
    objectives, progress = motion.objectives, motion.progress
    solver = AugmentedLagrangian(
        module, scheme, motion.torques, motion.loads, motion.options["parameters"], motion.columns
    )
    state = starting_state(solver, t[0], *start)
    states = [row_of(solver, state, objectives)]
    integrals, steps = np.zeros_like(integrand(solver, state, objectives)), 0
    through = in_c(solver, objectives, progress)
    through = through or partial(in_python, solver, objectives, progress=progress)
    for end in t[1:]:
        count = max(1, math.ceil((end - state.t) / scheme.step * (1 - ROUNDING)))
        state = replace(through(state, (end - state.t) / count, count, integrals), t=end)
        states.append(row_of(solver, state, objectives))
        steps += count
    rows = stacked(states)
    rows["multipliers"] = least(module, rows["q"], t, rows["multipliers"], solver.keywords)
    if solver.halved:
        warnings.warn(
            "simulate: some steps did not converge and were halved; the constraints are near a "
            "loss of rank there, or the step is too large",
            RuntimeWarning,
            stacklevel=3,
        )
    return rows, integrals, steps


def least(
    module: Any, q: Array, t: Array, multipliers: Array, options: Mapping[str, Array]
) -> Array:
    """Return equivalent multipliers (T, m) of least norm at q (T, nq) and t (T,)."""
    J = module.constraint_jacobian(q, t=t, **options)
    sizes = row_sizes(module._row_units, J)
    pull = np.swapaxes(J / sizes[..., np.newaxis], -1, -2)
    forces = pull @ (multipliers * sizes)[..., np.newaxis]
    return np.asarray((np.linalg.pinv(pull, rcond=RANK) @ forces)[..., 0] / sizes)


def in_python(
    solver: AugmentedLagrangian, objectives: Objectives | None, state: State, h: float, steps: int,
    integrals: Array, progress: Progress | None = None,
) -> State:  # fmt: skip
    """Return the state after `steps` of size h; add integrals of `integrand` to `integrals`."""
    last = integrand(solver, state, objectives)
    for after in solver.states(state, h, steps):
        this = integrand(solver, after, objectives)
        integrals += 0.5 * (after.t - state.t) * (last + this)
        last, state = this, after
        if progress is not None:
            progress(state.t)
    return state


def advance_of(module: Any) -> Any:
    """Return the C function of a module that makes steps; None where it has none."""
    backend = getattr(getattr(module, "_backends", None), "serving", None)
    return getattr(backend, "advance_mechanism", None)


def in_c(
    solver: AugmentedLagrangian, objectives: Objectives | None, progress: Progress | None = None
) -> Steps | None:
    """Return steps in C; None without such code, or where torques or loads are functions."""
    scheme, columns, advance = solver.scheme, solver.columns, advance_of(solver.module)
    tangent = isinstance(scheme.projection, str) and scheme.projection == "tangent"
    asked = solver.torques.function is not None or solver.loads.function is not None
    if advance is None or asked:
        return None
    numbers_of = dict(zip(columns.indices.tolist(), columns.parameters.tolist(), strict=True))
    fixed = (
        scheme.penalty, scheme.projections, tangent,
        np.array(scheme.projection) if isinstance(scheme.projection, np.ndarray) else None,
        # owned, in any order
        *map(np.array, (solver.torques.value, solver.loads.value, solver.parameters)),
        tuple(numbers_of.get(k, -1) for k in range(len(columns))),
        () if objectives is None else tuple(objectives.chosen),
    )  # fmt: skip

    def through(state: State, h: float, steps: int, integrals: Array) -> State:
        arrays = [getattr(state, name) for name in ARRAYS]
        vector = np.concatenate([array.ravel() for array in arrays])
        t = state.t
        while steps:
            piece = min(steps, STEPS_AT_ONCE)
            done, halved, left = advance(*fixed, t, h, piece, vector, integrals)
            solver.halved += halved
            t, steps = t + done * h, steps - done
            if progress is not None:
                progress(t)
            if done < piece:
                solver.refuse(
                    t, t + h, f"the last correction was {left:.3g}", vector[: len(state.q)]
                )
        ends = np.cumsum([array.size for array in arrays])
        parts = np.split(vector, ends[:-1])
        shaped = [part.reshape(array.shape) for part, array in zip(parts, arrays, strict=True)]
        return State(t, *shaped)

    return through


def starting_state(solver: AugmentedLagrangian, t: float, q: Array, qd: Array) -> State:
    """Return the state at the start q (nq,), qd (n,), with accelerations and multipliers."""
    module, columns = solver.module, solver.columns
    for name, values in (("q0", q), ("qd0", qd), ("dq0", columns.dq0), ("dqd0", columns.dqd0)):
        refuse_not_finite(name, values)
    tau, loads = solver.torques(t, q, qd), solver.loads(t, q, qd)
    d_tau = np.zeros(columns.dq0.shape)
    if len(columns):
        solver.torques.check(t, q, qd)
        solver.loads.check(t, q, qd)
        d_tau += solver.torques.along(t, q, qd, columns.dq0, columns.dqd0)
    method = method_of(module, None, columns, np.zeros(module.n, dtype=bool))
    try:
        point = Point(q, qd, tau, columns.dq0, columns.dqd0, d_tau)
        qdd, d_qdd = method.solve(point, {"t": np.asarray(t), "loads": loads, **solver.keywords})
    except np.linalg.LinAlgError as error:
        raise RequestError(f"simulate: {error}; at the start") from None
    if not np.isfinite(qdd).all():
        raise RequestError(f"simulate: the motion is not finite at the start; tau = {tau.tolist()}")
    lam, d_lam = -method.multipliers, np.zeros((len(method.multipliers), len(columns)))
    if d_qdd is not None:
        d_lam = solver.multiplier_sensitivities(t, (q, qd, qdd), lam, d_qdd)
    slopes = np.zeros(d_tau.shape) if d_qdd is None else d_qdd
    none, d_none = np.zeros(len(lam)), np.zeros(d_lam.shape)
    return State(
        t, q, qd, qdd, lam, none, none,
        columns.dq0, columns.dqd0, slopes, d_lam, d_none, d_none,
    )  # fmt: skip


def row_of(
    solver: AugmentedLagrangian, state: State, objectives: Objectives | None
) -> dict[str, Array]:
    """Return the rows of the dataset at one instant."""
    at = instant(solver, state)
    row = {"q": at.q, "qd": at.qd, "qdd": at.qdd, "tau": at.tau}
    row["loads"] = solver.loads(at.t, at.q, at.qd)
    row |= dict(zip(MULTIPLIERS, at.multipliers, strict=True))
    if at.s:
        row |= {"dq": at.dq, "dqd": at.dqd, "dqdd": at.dqdd, "dtau": at.dtau}
        row |= {f"d{x}": d for x, d in zip(MULTIPLIERS, at.dmultipliers, strict=True)}
    for name, values in row.items():
        if not np.isfinite(values).all():
            raise RequestError(f"simulate: {name} is not finite at t = {at.t:.6g} s")
    if objectives is not None:
        objectives.evaluate(at, {**solver.keywords, "loads": row["loads"]})
        row |= objectives.row
    return row


def multipliers_of(solver: AugmentedLagrangian, lam: Array, sigma: Array, kappa: Array) -> Array:
    """Return multipliers of constraints and both projections, in the signs of the module, (3, ...).

    lambda keeps the balance of the unprojected accelerations, which are of first order in the step.
    Projections in M, or nearly so, add J' kappa to it: lambda + kappa is of second order.
    """
    balanced = not isinstance(solver.scheme.projection, np.ndarray)
    return -np.stack([lam + balanced * kappa, sigma, kappa])


def integrand(solver: AugmentedLagrangian, state: State, objectives: Objectives | None) -> Array:
    """Return the objectives and, row by row, their gradients."""
    if objectives is None:
        return np.zeros(0)
    objectives.evaluate(
        instant(solver, state),
        {**solver.keywords, "loads": solver.loads(state.t, state.q, state.qd)},
    )
    return np.concatenate([x.ravel() for x in objectives.of_chosen])


def instant(solver: AugmentedLagrangian, state: State) -> Instant:
    """Return the instant of a state, where outputs are evaluated."""
    t, q, qd = state.t, state.q, state.qd
    d_tau = np.zeros(state.d_q.shape)
    if len(solver.columns):
        d_tau += solver.torques.along(t, q, qd, state.d_q, state.d_qd)
    return Instant(
        t, q, qd, state.qdd, solver.torques(t, q, qd),
        state.d_q, state.d_qd, state.d_qdd, d_tau, len(solver.columns),
        multipliers_of(solver, state.lam, state.sigma, state.kappa),
        multipliers_of(solver, state.d_lam, state.d_sigma, state.d_kappa),
    )  # fmt: skip
