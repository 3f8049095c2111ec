"""ALI3-P: mechanisms in steps of one size, with direct sensitivities.

The augmented Lagrangian formulation of index 3 with projections of velocities and accelerations, as
in Lopez Varela, Dopico and Luaces (2023); equation numbers are theirs.  It calls functions of the
generated module and nothing else, so that any formulation drives it: `inverse_dynamics` is
M zdd - Q, its derivatives are M, C, K + M_z zdd, and so on.

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

On manifolds a step leads to integrate(q, u), u = h zd + h^2 / 2 zdd + change, the trapezoidal rule
of Brüls and Cardona (2010), with the same rates.  Then dz = T du, with T of
`symgen.simulation.displacements`, and what is solved for is du: K T stands for K in A, and Phi_z T
for Phi_z in the lower row of (9) and (14).  Derivatives by z are those in the tangent space.

These are the printed equations with the multiplier kept as an unknown (*bordered*): eliminated, the
penalty stands beside the mass matrix and rounds it away.  (9) is solved by Newton's method; on each
linear system the multiplier is updated from 0 until the penalty no longer counts.  There it is as
large as alpha or `PENALTY` says, and larger where updates hardly move the constraints, near a loss
of rank.  Redundant rows get nothing of these multipliers but rounding: they are of least norm.
(14)-(18) are the derivatives of the same systems, with the same matrices.

A step that does not converge is tried again in halves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np

from symgen.errors import RequestError
from symgen.robot.closure import RANK, row_sizes
from symgen.robot.configuration import configuration_of
from symgen.simulation.arguments import Array, Columns, selection
from symgen.simulation.displacements import operators
from symgen.simulation.inputs import Loads, Torques

CONVERGED = 1e-11
"""Newton steps below this, relative to coordinates of size 1 or more, are the last."""
MOST_NEWTON_STEPS = 12
MOST_UPDATES = 20
"""Of multipliers in one linear system."""
SETTLED = 1e-14
"""Change of multipliers, relative to the largest, with which the updates end."""
PENALTY = 1e5
"""s alpha of (9) at least, in units in which A and J are of size 1."""
STRONGER, MOST_PENALTIES = 1e4, 3
"""Near a loss of rank the penalty grows by this factor, until so many were tried."""
TINY = 1e-300
MOST_HALVINGS = 10
DIFFERENCE = 1e-6
"""Step of the differences of a tangent matrix along sensitivities."""


@dataclass(frozen=True)
class Scheme:
    """What a user may choose: see `symgen.simulate`.

    `projection` is "mass" for P = M, "tangent" for P = A, or P itself; `projections` is how often
    the multipliers of (10) and (11) are computed, 1 for once.
    """

    step: float
    penalty: float
    projection: Literal["mass", "tangent"] | Array
    projections: int


@dataclass
class State:
    """Everything of one instant; the derivatives have a column for each sensitivity."""

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


class NotConvergedError(Exception):
    """A step without a solution; its message says what was left."""


class Bordered:
    """[A, J'; J, -1/w] with w = s alpha, factorised once for several right sides."""

    def __init__(self, A: Array, J: Array, w: float, low: Array | None = None) -> None:
        """`low` stands for J below A, where it is another one."""
        m, n = J.shape
        self.n, self.w = n, w
        whole = np.zeros_like(A, shape=(n + m, n + m))
        whole[:n, :n], whole[:n, n:], whole[n:, :n] = A, J.T, J if low is None else low
        whole[range(n, n + m), range(n, n + m)] = -1.0 / w
        try:
            self.inverse = np.linalg.inv(whole)
        except np.linalg.LinAlgError:
            raise NotConvergedError("the tangent matrix is singular") from None

    def solve(self, above: Array, below: Array, updates: int) -> tuple[Array, Array]:
        """The solution, with the multipliers computed so many times."""
        y = np.zeros_like(below)
        for _ in range(updates):
            found = self.inverse @ np.concatenate([above, below - y / self.w])
            x, y = found[: self.n], found[self.n :]
        return x, y

    def settle(self, above: Array, below: Array) -> tuple[Array, Array, float]:
        """The solution without penalty, and by how much the last update moved it."""
        x, y = np.zeros_like(above), np.zeros_like(below)
        moved = change = np.inf
        for _ in range(MOST_UPDATES):
            found = self.inverse @ np.concatenate([above, below - y / self.w])
            before = moved, change
            moved = float(np.abs(found[: self.n] - x).max(initial=0.0))
            change = float(np.abs(found[self.n :] - y).max(initial=0.0))
            x, y = found[: self.n], found[self.n :]
            # the next change is smaller by as much as this one is smaller than the last
            following = change * (change / before[1] if 0 < before[1] < np.inf else 1.0)
            if following <= SETTLED * np.abs(y).max(initial=0.0):
                break
            if moved > 0.5 * before[0] and change > 0.5 * before[1]:
                break  # rounding, or a loss of rank
        return x, y, moved


@dataclass
class Tangent:
    """(9) at one state: the residual without multipliers, M, C, K, the constraints, J."""

    residual: Array
    M: Array
    C: Array
    K: Array
    constraints: Array
    J: Array

    def matrix(self, h: float) -> Array:
        """A."""
        return self.M + 0.5 * h * self.C + 0.25 * h * h * self.K

    def system(self, h: float, w: float, T: Array | None) -> Bordered:
        """The linear system of (9) and (14); T is None where it is 1."""
        if T is None:
            return Bordered(self.matrix(h), self.J, w)
        A = self.M + 0.5 * h * self.C + 0.25 * h * h * (self.K @ T)
        return Bordered(A, self.J, w, self.J @ T)


def starred(h: float, change: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array]:
    """z - z_old, z*d, z*dd of the trapezoidal rule, `change` beyond the first guess of z.

    z*d is (z - z_old) 2 / h - zd_old, z*dd the same of z*d; written so that nothing cancels.
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
        self.known = {"parameters": parameters} if parameters.size else {}
        self.timed = bool(getattr(module, "timed", False))
        self.chosen, self.places = selection(columns.parameters), selection(columns.places)
        self.halved = 0

    def acting(self, t: float, q: Array, qd: Array) -> dict[str, Any]:
        """Options of functions of the tree, but parameters: loads, and t where its forces mention
        that."""
        loads = {"loads": self.loads(t, q, qd)}
        return {**loads, "t": t} if self.timed else loads

    # ---- the instants ----

    def states(self, state: State, h: float, steps: int) -> Iterator[State]:
        """The state after each of so many steps of size h."""
        begin = state.t
        for k in range(1, steps + 1):
            state = self.after(state, begin + k * h)
            yield state

    def after(self, state: State, end: float, halvings: int = 0) -> State:
        """The state at the time `end`, in one step where it converges, or else in halves."""
        try:
            return self.stepped(state, end)
        except NotConvergedError as error:
            if halvings == MOST_HALVINGS:
                self.refuse(state.t, end, str(error), state.q)
        self.halved += 1
        middle = self.after(state, 0.5 * (state.t + end), halvings + 1)
        return self.after(middle, end, halvings + 1)

    def refuse(self, t: float, end: float, reason: str, q: Array) -> NoReturn:
        """RequestError where no step converges."""
        raise RequestError(
            f"simulate: no step from t = {t:.6g} s to {end:.6g} s converges, not even in halves of "
            f"halves ({MOST_HALVINGS} times): {reason}; q = {q.tolist()}"
        ) from None

    # ---- one step ----

    def stepped(self, old: State, end: float) -> State:
        """Positions by (9), velocities by (10), accelerations by (11), and (14)-(18)."""
        h = end - old.t
        s = 0.25 * h * h
        w = s * self.scheme.penalty
        (u, q, qd, qdd), lam, at, left = self.positions(old, end, w)
        turn, carry = self.turning(u)
        if len(self.columns):  # (14) is linear in what (9) is at its solution
            at = self.tangent(end, q, qd, qdd, lam)
            left = at.system(h, left.w, turn)
        P = self.projection_matrix(at, h)
        right = Bordered(P, at.J, w)
        nothing = np.zeros(len(qd))
        updates = self.scheme.projections
        rates = self.module.constraint_rates(q, qd, t=end, **self.known)
        e, sigma = right.solve(nothing, -rates, updates)
        new_qd = qd + e
        bias = self.module.constraint_bias(q, new_qd, t=end, **self.known)
        ee, kappa = right.solve(nothing, -(at.J @ qdd + bias), updates)
        new = State(
            end, q, new_qd, qdd + ee, lam, sigma, kappa,
            *(np.zeros((len(x), len(self.columns))) for x in (qd, qd, qd, lam, lam, lam)),
        )  # fmt: skip
        if len(self.columns):
            self.sensitivities(old, new, (qd, qdd), at, (left, right), (turn, carry))
        return new

    def turning(self, u: Array) -> tuple[Array | None, Array | None]:
        """T and carry of `symgen.simulation.displacements`, None where they are 1."""
        return operators(self.space, u) if self.space.joints else (None, None)

    def positions(
        self, old: State, end: float, w: float
    ) -> tuple[tuple[Array, Array, Array, Array], Array, Tangent, Bordered]:
        """(9) by Newton's method: (u, z, z*d, z*dd), lambda, and what the last correction had."""
        h = end - old.t
        s, lam = 0.25 * h * h, old.lam
        whole = np.zeros_like(old.qd)
        u, qd, qdd = starred(h, whole, old.qd, old.qdd)
        for _ in range(MOST_NEWTON_STEPS):
            q = self.space.integrate(old.q, u)
            at = self.tangent(end, q, qd, qdd, lam)
            if not np.isfinite(at.residual).all():
                raise NotConvergedError("the motion is not finite")
            size = max(1.0, float(np.abs(q).max(initial=0.0)))
            left, change, y = self.corrected(at, h, w, self.converged * size, self.turning(u)[0])
            whole, lam = whole + change, y / s
            u, qd, qdd = starred(h, whole, old.qd, old.qdd)
            if np.abs(change).max(initial=0.0) <= self.converged * size:
                q = self.space.normalize(self.space.integrate(old.q, u))
                return (u, q, qd, qdd), lam, at, left
        raise NotConvergedError(f"the last correction was {np.abs(change).max(initial=0.0):.3g}")

    def corrected(
        self, at: Tangent, h: float, w: float, near: float, turn: Array | None
    ) -> tuple[Bordered, Array, Array]:
        """The linear system of (9) and its solution, with a penalty that holds what J has."""
        unit = float(np.abs(at.matrix(h)).max(initial=0.0)) / max(
            float(np.abs(at.J).max(initial=0.0)) ** 2, TINY
        )
        w = max(w, PENALTY * unit)
        for _ in range(MOST_PENALTIES):
            left = at.system(h, w, turn)
            change, y, moved = left.settle(-0.25 * h * h * at.residual, -at.constraints)
            if moved <= 0.01 * near:
                break
            w *= STRONGER
        return left, change, y

    def tangent(self, t: float, q: Array, qd: Array, qdd: Array, lam: Array) -> Tangent:
        """All that (9) is made of at this state."""
        tau, acting = self.torques(t, q, qd), self.acting(t, q, qd)
        by_q, by_qd = self.torques.jacobians(t, q, qd)
        felt = self.module.inverse_dynamics_derivatives(q, qd, qdd, **acting, **self.known)
        _, curved = self.module.constraint_torque_derivatives(q, lam, t=t, **self.known)
        return Tangent(
            residual=felt[0] - tau,
            M=felt[3],
            C=felt[2] - by_qd,
            K=felt[1] - by_q + curved,
            constraints=self.module.constraints(q, t=t, **self.known),
            J=self.module.constraint_jacobian(q, t=t, **self.known),
        )

    def projection_matrix(self, at: Tangent, h: float) -> Array:
        """P."""
        if isinstance(self.scheme.projection, np.ndarray):
            return self.scheme.projection
        return at.M if self.scheme.projection == "mass" else at.matrix(h)

    # ---- sensitivities ----

    def sensitivities(
        self, old: State, new: State, unprojected: tuple[Array, Array], at: Tangent,
        systems: tuple[Bordered, Bordered], turning: tuple[Array | None, Array | None],
    ) -> None:  # fmt: skip
        """(14), (15) and (17), into `new`; `unprojected` are z*d and z*dd."""
        h, t, q = new.t - old.t, new.t, new.q
        s, (left, right), (qd, qdd) = 0.25 * h * h, systems, unprojected
        acting, updates = self.acting(t, q, qd), self.scheme.projections
        # (14), for what is missing to the first guess
        turn, carry = (np.eye(len(qd)) if x is None else x for x in turning)
        guess = starred(h, np.zeros_like(old.d_q), old.d_qd, old.d_qdd)
        guess = carry @ old.d_q + turn @ guess[0], *guess[1:]
        felt = at.K @ guess[0] + at.C @ guess[1] + at.M @ guess[2]
        felt += self.by_parameters("inverse_dynamics", q, qd, qdd, **acting)
        felt += self.by_parameters("constraint_torque", q, new.lam, t=t)
        felt -= self.torques.along(t, q, qd, 0.0 * old.d_q, 0.0 * old.d_q)
        below = -self.by_parameters("constraints", q, t=t) - at.J @ guess[0]
        change, y, _ = left.settle(-s * felt, below)
        new.d_lam = y / s
        d_u, d_qd, d_qdd = starred(h, change, old.d_qd, old.d_qdd)
        new.d_q = carry @ old.d_q + turn @ d_u
        # (15), (16): dPhid/dz z' is half of dPhidd/dzd z', on manifolds less half of Phi_z [zd, z']
        known = {"t": t, **self.known}
        _, by_q, by_qd = self.module.constraint_acceleration_derivatives(
            q, new.qd, new.qdd, **known
        )
        b = 0.5 * (by_qd @ new.d_q - at.J @ self.space.transported(new.qd, new.d_q))
        b += self.by_parameters("constraint_rates", q, new.qd, t=t)
        turned = self.turned(old, new, unprojected, new.qd - qd, new.sigma, d_qd, d_qdd)
        e, new.d_sigma = right.solve(-turned, -(at.J @ d_qd + b), updates)
        new.d_qd = d_qd + e
        # (17), (18)
        c = by_q @ new.d_q + by_qd @ new.d_qd
        c += self.by_parameters("constraint_acceleration", q, new.qd, new.qdd, t=t)
        turned = self.turned(old, new, unprojected, new.qdd - qdd, new.kappa, d_qd, d_qdd)
        e, new.d_kappa = right.solve(-turned, -(at.J @ d_qdd + c), updates)
        new.d_qdd = d_qdd + e

    def multiplier_sensitivities(
        self, t: float, motion: tuple[Array, Array, Array], lam: Array, d_qdd: Array
    ) -> Array:
        """lambda' at the start, the least that the equations of motion ask for."""
        q, qd, qdd = motion
        at = self.tangent(t, q, qd, qdd, lam)
        acting, d_q, d_qd = self.acting(t, q, qd), self.columns.dq0, self.columns.dqd0
        felt = at.M @ d_qdd + at.C @ d_qd + at.K @ d_q
        felt += self.by_parameters("inverse_dynamics", q, qd, qdd, **acting)
        felt += self.by_parameters("constraint_torque", q, lam, t=t)
        felt -= self.torques.along(t, q, qd, 0.0 * d_q, 0.0 * d_q)
        sizes = row_sizes(self.module._row_units, at.J)
        pull = at.J.T / sizes
        found: Array = -np.linalg.pinv(pull, rcond=RANK) @ felt / sizes[:, np.newaxis]
        return found

    def turned(
        self, old: State, new: State, unprojected: tuple[Array, Array], e: Array,
        multipliers: Array, d_qd: Array, d_qdd: Array,
    ) -> Array:  # fmt: skip
        """P' e + (Phi_z' x)_z z' + (Phi_z' x)_rho of (15) and (17)."""
        t, q = new.t, new.q
        _, curved = self.module.constraint_torque_derivatives(q, multipliers, t=t, **self.known)
        found: Array = curved @ new.d_q
        found += self.by_parameters("constraint_torque", q, multipliers, t=t)
        if isinstance(self.scheme.projection, np.ndarray):
            return found
        if self.scheme.projection == "tangent":
            return found + self.tangent_along(old, new, unprojected, e, d_qd, d_qdd)
        # M' e: the acceleration of inverse dynamics moved by e
        qd, qdd = unprojected
        acting = self.acting(t, q, qd)
        for sign, a in ((1.0, qdd + e), (-1.0, qdd)):
            felt = self.module.inverse_dynamics_derivatives(q, qd, a, **acting, **self.known)
            found += sign * felt[1] @ new.d_q
            found += sign * self.by_parameters("inverse_dynamics", q, qd, a, **acting)
        return found

    def tangent_along(
        self, old: State, new: State, unprojected: tuple[Array, Array], e: Array, d_qd: Array,
        d_qdd: Array,
    ) -> Array:  # fmt: skip
        """A' e by differences along every sensitivity: e is small, and so is what they round."""
        found, h = np.empty_like(new.d_q), new.t - old.t
        qd, qdd = unprojected
        kept = self.known
        for k in range(len(self.columns)):
            sides = []
            for move in (DIFFERENCE, -DIFFERENCE):
                if self.parameters.size:
                    moved = self.parameters.copy()
                    for place, number in zip(
                        self.columns.places, self.columns.parameters, strict=True
                    ):
                        moved[number] += move * (place == k)
                    self.known = {"parameters": moved}
                ways = ((qd, d_qd), (qdd, d_qdd), (new.lam, new.d_lam))
                q = self.space.integrate(new.q, move * new.d_q[:, k])
                at = self.tangent(new.t, q, *(x + move * dx[:, k] for x, dx in ways))
                sides.append(at.matrix(h) @ e)
            found[:, k] = (sides[0] - sides[1]) / (2.0 * DIFFERENCE)
        self.known = kept
        return found

    def by_parameters(self, name: str, *state: Array, **options: Any) -> Array:
        """The derivatives of a function of the module by each sensitivity that is a parameter."""
        suffix = "_parameter_derivatives"
        rows = len(state[-1]) if name == "inverse_dynamics" else self.module.n_constraints
        rows = self.module.n if name == "constraint_torque" else rows
        found = np.zeros((rows, len(self.columns)))
        if self.columns.places.size:
            slopes = getattr(self.module, name + suffix)(*state, **options, **self.known)
            found[:, self.places] = slopes[:, self.chosen]
        return found
