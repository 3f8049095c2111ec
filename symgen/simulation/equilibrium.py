"""Static equilibrium of a generated module: `symgen.equilibrium`.

With h(q) the torques of inverse dynamics at rest, constraints c with Jacobian J and multipliers x,
the robot is in equilibrium where

    r = h - tau - J' x = 0,    c = 0

along all velocities but those that are held.  The stiffness is K = dh/dq - (J' x)_q.  With joints
on manifolds, derivatives by q and steps are velocities, along which `integrate` moves.

Constraints of velocities have rows of J and multipliers, and none in c: a robot at rest keeps them
anywhere, and an equilibrium is one of a family with a pose for each of them.  Steps and derivatives
lead along velocities that keep them.  Their forces J' x turn with the robot and have no potential
energy, so that A need not be symmetric.

The columns of B span the free velocities that keep the constraints, B' M B = 1: y are coordinates
along them, g = B' r is the negative acceleration of the robot released at rest, and x are the
multipliers of that acceleration.  One step is y, followed by `assemble`, which closes the loops.

Newton's step is y = -A^-1 g with A = B' K B.  It is taken where it halves g and A is positive
definite; before any other step also where it is small, so that an unstable equilibrium is a result
only for a start near it.  Elsewhere each eigenvector of the symmetric part of A moves against its
part of g, by |g / eigenvalue| and at most `REACH`, halved until unbalanced forces do work along the
step: a descent of the energy where there is one, which needs none.  Steps that only make g smaller
stop where A is singular (a body above its ground, a link level with its hinge) and end at any
equilibrium.  They are tried last, Newton's step halved until g is smaller, for forces that follow a
link and have no energy.

The derivatives by parameters p solve the bordered system

    K dq - J' dx = -(dh/dp - (J' x)_p),    J dq = -dc/dp.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from symgen.errors import RequestError
from symgen.runtime.closure import RANK, inconsistent, row_sizes, solved
from symgen.runtime.configuration import configuration_of
from symgen.simulation.accelerations import has_constraints
from symgen.simulation.arguments import (
    Columns,
    by_name,
    meant,
    numbers,
    parameter_values,
    prescribed_coordinates,
    refuse_not_finite,
)
from symgen.simulation.mechanisms import refuse_missing
from symgen.support.arrays import Array, Flags
from symgen.toolchain.loading import checked_module

CALLER = "equilibrium"
STEPS, HALVES, LESS = 200, 20, 1e-4
"""Largest numbers of steps and of halves, and the least share by which a step makes g smaller."""
REACH, NEAR = 0.5, 0.1
"""Largest step, and largest step to an unstable equilibrium (rad, m)."""
BALANCED, SYMMETRIC, NOTHING = 1e-10, 1e-8, 1e-11
"""Largest g in units of the terms of r; largest A - A', and largest eigenvalue of a motion without
stiffness, in units of the largest eigenvalue."""
LEAST_MASS = 1e-4
"""Mass added to all coordinates, in units of their mean: B exists where some have none."""
NAMED = 4
"""Largest number of unbalanced forces in a message."""


class EquilibriumDerivatives(NamedTuple):
    """Derivatives of an equilibrium by the p runtime parameters.

    `dq` (n, p) along the velocities, 0 where these are held; `dmultipliers` (m, p), NaN for those
    of redundant rows; `dpositions` (nq, p), of the entries of q.
    """

    dq: Array
    dmultipliers: Array
    dpositions: Array


@dataclass(frozen=True)
class Equilibrium:
    """A static equilibrium.

    `q` (nq,), `multipliers` (m,) of the constraints, number of `iterations`, and
    `residual` (n,): tau_ID - J' x - tau (N m or N), 0 along the free velocities, along the others
    the force that holds.  `stable` says whether the `stiffness` (n, n) is positive definite along
    the free velocities that keep the constraints; None where it is not symmetric there, as with
    forces that follow a link, or of friction that keeps constraints of velocities, and where it is
    so near to singular that the sign of an eigenvalue is undecided, as where a load begins to
    buckle a robot.
    """

    q: Array
    multipliers: Array
    residual: Array
    iterations: int
    stable: bool | None
    stiffness: Array
    statics: Statics = field(repr=False, compare=False)

    def derivatives(self) -> EquilibriumDerivatives:
        """Return the derivatives by the runtime parameters, where what is held stays.

        With constraints of velocities they are those of the equilibrium that is reached from here.

        Raises `symgen.errors.RequestError` without runtime parameters, and for functions that were
        not built.
        """
        return self.statics.derivatives(self.q, self.multipliers, self.stiffness)

    def start_of_motion(self, parameters: Array, columns: Columns | None) -> Array:
        """Return q, and put its derivatives by parameters into `columns`, unless None.

        Raises `symgen.errors.RequestError` where the motion has other `parameters` (p,).
        """
        names = self.statics.module.parameter_names
        changed = list(compress(names, parameters != self.statics.of_tree["parameters"]))
        if changed:
            raise RequestError(
                f"simulate: q0: the equilibrium is that of another {', '.join(changed)}; give "
                "equilibrium and simulate the same parameters=.."
            )
        if columns is not None and columns.indices.size:
            columns.dq0[:, columns.indices] = self.derivatives().dq[:, columns.parameters]
        return self.q


def equilibrium(
    module: Any,
    hold: Iterable[str] = (),
    q: ArrayLike | Mapping[str, ArrayLike] | None = None,
    tau: ArrayLike | Mapping[str, ArrayLike] = 0,
    loads: ArrayLike | Mapping[str, ArrayLike] = 0,
    parameters: Mapping[str, float] | ArrayLike | None = None,
    *,
    t: float = 0.0,
) -> Equilibrium:
    """Return a static equilibrium of a robot or mechanism near q.

    Without forces that follow a link, an unstable one is a result only for a start near it (0.1
    rad or m).

    Arguments (n velocities, nq coordinates):
        module      a generated module, from `symgen.load` or imported
        hold        names of velocities along which the robot does not move, for a pose that is not
                    unique, or a posture that drives hold; prescribed coordinates are held
        q           start, (nq,) or a dict by name; default: the initial positions of the model
                    file, else `neutral()`.  Loops are closed by `assemble`
        tau         (n,) joint torques (N m or N), or a dict by name; default: 0
        loads       (n_loads, 6) [fx fy fz nx ny nz], base axes, or a dict by name; default: 0
        parameters  {name: value} or (n_parameters,): runtime parameters; default: the module's
        t           time (s), for constraints and forces that mention it

    Returns an `Equilibrium`: q, multipliers, residual, iterations, stable, stiffness, and
    `derivatives()` by the runtime parameters.  `symgen.simulate` takes it for q0.

    Raises `symgen.errors.RequestError` for wrong arguments, functions that were not built, loops
    that do not close, relations of velocities that move the robot, no equilibrium within reach, and
    one that is not isolated: the message names the velocities along which nothing resists, for
    `hold`.
    """
    checked_module(module, CALLER)
    needed = ["inverse_dynamics_derivatives"]
    if has_constraints(module):
        needed += ["constraints", "constraint_jacobian", "constraint_torque_derivatives"]
        needed += ["constraint_rates"] * any(module._velocity_rows)
    refuse_missing(module, [name for name in needed if not hasattr(module, name)], CALLER)
    forces = _array("loads", by_name(module, "loads", loads, CALLER), (module.n_loads, 6))
    instant = float(_array("t", t, ()))
    values = parameter_values(module, parameters, CALLER)
    torques = _array("tau", by_name(module, "tau", tau, CALLER), (module.n,))
    statics = Statics(
        module, _held(module, hold), torques,
        {"loads": forces, "parameters": values,
         **({"t": instant} if getattr(module, "timed", False) else {})},
        {"t": instant, **({"parameters": values} if values.size else {})},
    )  # fmt: skip
    start = statics.start(by_name(module, "q", q, CALLER))
    at, iterations = statics.settled(start, by_work=True)
    if not at.is_balanced:
        at, iterations = statics.settled(start, by_work=False)
    statics.refuse(at)
    statics.refuse_moved(at.q)
    skew = np.abs(at.A - at.A.T).max(initial=0.0) > SYMMETRIC * at.stiffest
    sign = -1 if (at.values < -at.doubt).any() else 1 if (at.values > at.doubt).all() else 0
    stable = None if skew or not sign else sign > 0
    return Equilibrium(at.q, at.multipliers, at.r, iterations, stable, at.K, statics)


@dataclass(frozen=True)
class Balance:
    """Forces and stiffness at one configuration, in the notation of the module.

    `B` is (n, k) for k free motions; `values` (k,) and `vectors` (k, k) are eigenvalues and
    eigenvectors of the symmetric part of A, `doubt` (k,) sizes of eigenvalues below which their
    signs are undecided, `size` is the norm of g, `rounding` that below which forces are balanced.
    `descended` is whether a descent led here.
    """

    q: Array
    multipliers: Array
    r: Array
    K: Array
    B: Array
    g: Array
    A: Array
    values: Array
    vectors: Array
    doubt: Array
    size: float
    rounding: float
    descended: bool

    @property
    def stiffest(self) -> float:
        """Largest magnitude of an eigenvalue."""
        return float(np.abs(self.values).max(initial=0.0))

    @property
    def is_balanced(self) -> bool:
        """Whether the forces are balanced."""
        return self.size <= self.rounding

    def newton(self) -> Array:
        """Return Newton's step (n,)."""
        return np.asarray(-self.B @ np.linalg.pinv(self.A, rcond=NOTHING) @ self.g)

    def descent(self) -> Array:
        """Return the step (n,) along which unbalanced forces do work in every mode."""
        shapes, w = self.B @ self.vectors, self.vectors.T @ self.g
        softest = np.abs(w) * np.abs(shapes).max(axis=0) / REACH
        stiffness = np.maximum(np.abs(self.values), softest)
        y = np.divide(w, stiffness, out=np.zeros_like(w), where=np.abs(w) > self.rounding)
        return np.asarray(-shapes @ y)


@dataclass(frozen=True)
class Statics:
    """A robot under constant torques (n,), held along some velocities (n,).

    `of_tree` are options of functions of the tree, `of_loops` those of functions of constraints.
    """

    module: Any
    held: Flags
    tau: Array
    of_tree: Mapping[str, Any]
    of_loops: Mapping[str, Any]

    @property
    def hold(self) -> list[str]:
        """Names of the velocities that are held."""
        return list(compress(self.module.coordinate_names, self.held))

    def start(self, q: Any) -> Balance:
        """Return forces and stiffness at the start; RequestError where it is none."""
        module = self.module
        q = getattr(module, "initial_q", module.neutral()) if q is None else q
        q = _array("q", q, (len(module.position_names),))
        try:
            return self.balance(self.closed(module.normalize(q)))
        except (ValueError, np.linalg.LinAlgError) as error:
            raise RequestError(f"{CALLER}: q: {error}") from None

    def closed(self, q: Array) -> Array:
        """Return q (nq,) with closed loops; ValueError where they do not close."""
        if not has_constraints(self.module):
            return q
        return np.asarray(self.module.assemble(q, hold=self.hold, **self.of_loops))

    def rows(self, q: Array) -> tuple[Array, Array]:
        """Return J (m, n) in units of the sizes of its rows, and these sizes (m, 1)."""
        if not has_constraints(self.module):
            return np.zeros((0, self.module.n)), np.zeros((0, 1))
        J = self.module.constraint_jacobian(q, **self.of_loops)
        sizes = row_sizes(self.module._row_units, J)[:, np.newaxis]
        return J / sizes, sizes

    def balance(self, q: Array, descended: bool = False) -> Balance:
        """Return forces and stiffness at q (nq,); ValueError where they are not finite."""
        n, free, rest = self.module.n, ~self.held, np.zeros(self.module.n)
        h, K, _, M = self.module.inverse_dynamics_derivatives(q, rest, rest, **self.of_tree)
        if not (np.isfinite(h).all() and np.isfinite(K).all()):
            raise ValueError(f"torques at rest or their derivatives are not finite, {q.tolist()}")
        J, sizes = self.rows(q)
        M = (M + np.eye(n) * (LEAST_MASS * np.trace(M) / n or 1.0))[np.ix_(free, free)]
        released = (self.tau - h)[free, np.newaxis]
        x = solved(M, J[:, free], released, np.zeros((len(J), 1)))[1]
        multipliers = (x / sizes)[:, 0]
        if len(J):
            K = K - self.module.constraint_torque_derivatives(q, multipliers, **self.of_loops)[1]
        _, s, V = np.linalg.svd(J[:, free])
        Z = V[np.count_nonzero(s > RANK * s.max(initial=0.0)) :].T
        B = np.zeros((n, Z.shape[1]))
        B[free] = np.linalg.solve(np.linalg.cholesky(Z.T @ M @ Z), Z.T).T
        r = h - self.tau - (J.T @ x)[:, 0]
        g, A = B.T @ r, B.T @ K @ B
        terms = np.abs(h) + np.abs(self.tau) + (np.abs(J.T) @ np.abs(x))[:, 0]
        terms = np.abs(B.T) @ (terms + np.abs(K).sum(axis=1))
        size, rounding = float(np.linalg.norm(g)), BALANCED * float(np.linalg.norm(terms))
        values, vectors = np.linalg.eigh((A + A.T) / 2)
        # forces of half a squared distance are balanced up to here, and stiffness is linear in it
        reach = np.sqrt(2.0 * BALANCED) * np.abs(B @ vectors).max(axis=0, initial=0.0)
        doubt = reach * (np.abs(vectors.T) @ terms)
        modes = values, vectors, doubt
        return Balance(q, multipliers, r, K, B, g, A, *modes, size, rounding, descended)

    def settled(self, at: Balance, by_work: bool) -> tuple[Balance, int]:
        """Return the balance after steps from `at`, and their number."""
        for steps in range(STEPS):
            ahead = self.ahead(at, by_work)
            if ahead is None or (at.is_balanced and ahead.size >= at.size / 2):
                return at, steps
            at = ahead
        return at, STEPS

    def ahead(self, at: Balance, by_work: bool) -> Balance | None:
        """Return the balance after one step; None where none gets nearer to an equilibrium.

        Unbalanced forces do work along the step, or become smaller (not `by_work`).
        """
        step, definite = at.newton(), (at.values >= -NOTHING * at.stiffest).all()
        if np.abs(step).max(initial=0.0) <= (REACH if definite else 0.0 if at.descended else NEAR):
            new = self.moved(at, step, at.descended)
            if new is not None and new.size <= at.size / 2:
                return new
        if at.is_balanced:
            return None
        step = at.descent() if by_work else step
        step = step / max(1.0, np.abs(step).max() / REACH)
        for _ in range(HALVES):
            new = self.moved(at, step, by_work)
            if new is not None:
                work = step @ (at.r + new.r)
                if work < 0.0 if by_work else new.size < (1.0 - LESS) * at.size:
                    return new
            step = step / 2
        return None

    def moved(self, at: Balance, step: Array, descended: bool) -> Balance | None:
        """Return the balance after a step (n,) with closed loops; None where there is none."""
        try:
            return self.balance(self.closed(self.module.integrate(at.q, step)), descended)
        except (ValueError, np.linalg.LinAlgError):
            return None

    def refuse(self, at: Balance) -> None:
        """Raise `RequestError` where forces are unbalanced, or the equilibrium not isolated."""
        names, loose = self.module.coordinate_names, []
        _, s, V = np.linalg.svd(at.A)
        across = at.B @ V[s <= NOTHING * s.max(initial=0.0)].T
        while across.size and np.abs(across).max() > RANK:  # pivots of the directions
            k = int(np.linalg.norm(across, axis=1).argmax())
            loose.append(names[k])
            across = across - np.outer(across @ across[k], across[k]) / (across[k] @ across[k])
        loose.sort(key=names.index)
        resists = f"nothing resists a motion along {', '.join(loose)}"
        remedy = f"hold={[*self.hold, *loose]}"
        if not at.is_balanced:
            forces = np.where(self.held, 0.0, at.r)
            largest = [k for k in np.argsort(-np.abs(forces))[:NAMED] if forces[k]]
            left = ", ".join(f"{forces[k]:.3g} along {names[k]}" for k in largest)
            raise RequestError(
                f"{CALLER}: none within reach: forces (N or N m) stay unbalanced, {left}; "
                + (f"{resists}: {remedy}; " if loose else "")
                + "begin elsewhere (q=..), or change tau, loads or parameters"
            )
        if loose:
            raise RequestError(
                f"{CALLER}: it is not isolated: {resists}; choose a pose by {remedy}"
            )

    def refuse_moved(self, q: Array) -> None:
        """Refuse constraints of velocities that do not hold at rest at q (nq,)."""
        if not has_constraints(self.module) or not any(self.module._velocity_rows):
            return
        rates = self.module.constraint_rates(q, np.zeros(self.module.n), **self.of_loops)
        rows = zip(self.module.constraint_names, self.module._velocity_rows, rates, strict=True)
        for name, is_of_velocities, rate in rows:
            if is_of_velocities and rate != 0.0:
                raise RequestError(
                    f"{CALLER}: relation {name!r} moves the robot: at rest it is {rate:.6g}; "
                    "choose another t, or a relation without terms that contain no velocity"
                )

    def derivatives(self, q: Array, multipliers: Array, K: Array) -> EquilibriumDerivatives:
        """Return derivatives of an equilibrium with the stiffness K (n, n)."""
        module, free, rest = self.module, ~self.held, np.zeros(self.module.n)
        caller, names = f"{CALLER}: derivatives", module.parameter_names
        if not names:
            raise RequestError(
                f"{caller}: the module has no runtime parameters; build it with: "
                "symgen build MODEL --runtime-parameters NAME"
            )
        of_loops = ["constraints", "constraint_torque"] if has_constraints(module) else []
        needed = [f"{x}_parameter_derivatives" for x in ("inverse_dynamics", *of_loops)]
        refuse_missing(module, [x for x in needed if not hasattr(module, x)], caller)
        by_tree, *by_loops = (getattr(module, name) for name in needed)
        above = -by_tree(q, rest, rest, **self.of_tree)
        (J, sizes), below = self.rows(q), np.zeros((0, len(names)))
        if by_loops:
            below = -by_loops[0](q, **self.of_loops) / sizes
            above = above + by_loops[1](q, multipliers, **self.of_loops)
        dq = np.zeros((module.n, len(names)))
        dq[free], dx, unique = solved(K[np.ix_(free, free)], J[:, free], above[free], below)
        for name, b in zip(names, below.T, strict=True):
            if inconsistent(J[:, free], b, np.abs(b).max(initial=0.0)).any():
                raise RequestError(
                    f"{caller}: no pose closes the loops where {name} changes; hold less"
                )
        dx = np.where(unique[:, np.newaxis], dx / sizes, np.nan)
        return EquilibriumDerivatives(dq, dx, configuration_of(module).rate(q, dq.T).T)


def _array(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    """Return finite numbers of this shape; 0 stands for zeros."""
    is_zero = isinstance(value, int | float) and value == 0
    array = np.zeros(shape) if is_zero else numbers(name, value, shape, CALLER)
    refuse_not_finite(name, array, CALLER)
    return array


def _held(module: Any, hold: Iterable[str]) -> Flags:
    """Return which velocities are held, (n,); RequestError for unknown names."""
    names = tuple(module.coordinate_names)
    if isinstance(hold, str) or not isinstance(hold, Iterable):
        raise RequestError(
            f"{CALLER}: hold: expected a list of names, such as [{names[0]!r}]; got {hold!r}"
        )
    held = prescribed_coordinates(module)
    for name in hold:
        if name not in names:
            is_name = isinstance(name, str)
            hint = meant(name, names) if is_name else "; is it the start, q=...?"
            raise RequestError(f"{CALLER}: hold: no velocity is called {name!r}{hint}")
        held[names.index(name)] = True
    return held
