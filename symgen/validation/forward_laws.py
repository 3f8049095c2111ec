"""Laws of forward and hybrid dynamics, and how rounding errors show in what is solved for.

Hybrid dynamics takes x, the accelerations of the prescribed and the torques of the free joints, and
returns y, the others; in forward dynamics all joints are free.

| symbol | array | shape; S samples |
| --- | --- | --- |
| M | mass matrix | (S, n, n) |
| R | magnitude of dy / d torques, which is M^-1 where all joints are free | (S, n, n) |
| T | bound of the terms that M is the sum of, at least its magnitude | (S, n, n) |
| F | size of the torques that a solution balances, T times magnitudes of qdd, at least 1 | (S,) |
| G | the same for a derivative X of y: T times magnitudes | (S,) |
| gain, spread | largest sums of the rows of R and of M R | (S,) |

The torques in a recursion carry rounding errors proportional to F, as those of inverse dynamics do;
solving multiplies them by R.  With M + dM in place of M, y changes by -R dM qdd, and dM is
proportional to T, whatever cancels in M: hence T, not M, in F and G.  An entry of T is the root of
the product of those `Facts.mass_terms` of its row and column, where these are known and M is not 0.
A derivative by q or by a parameter moreover takes the error of y along.
`Response.scales` gives the sizes to which errors are relative accordingly; the constants are those
of `symgen.validation.limits`.

Where the mass matrix is singular there is nothing to compare.  It counts as singular where a pivot
is below `CLEAR` n eps times the diagonal entry of its row, while generated code gives up at n eps:
between the two a result may or may not be there.  Where a diagonal entry is exactly 0, and with it
its row, no function may return numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from symgen.validation import limits
from symgen.validation.evaluation import (
    ARGUMENTS,
    SEVERAL_RESULTS,
    Array,
    Check,
    Comparison,
    Evaluation,
    States,
    friction_slope,
)

SOLVED: Mapping[str, str] = {
    name: "hybrid_dynamics" if name.startswith("hybrid") else "forward_dynamics"
    for name in ARGUMENTS
    if name.startswith(("forward_dynamics", "hybrid_dynamics"))
}
"""The functions that solve for accelerations, and the one that returns nothing else."""

CLEAR = 1000.0
"""Pivots this many times larger than those of a singular matrix are not mistaken for one."""

ID, FD, HD = "inverse_dynamics", "forward_dynamics", "hybrid_dynamics"


class Response:
    """What the mass matrix of a subject says of the solutions of forward or hybrid dynamics."""

    def __init__(self, s: Evaluation, name: str) -> None:
        n = s.states.qd.shape[1]
        self.base = SOLVED[name]
        prescribed = s.facts.prescribed if self.base == HD else None
        held = np.zeros(n, dtype=bool) if prescribed is None else prescribed
        self.free = np.logical_not(np.asarray(held, dtype=bool).reshape(n))
        mass = _mass_matrix(s)
        known = np.asarray(np.isfinite(mass).all(axis=(-1, -2)))
        mass = np.where(known[:, np.newaxis, np.newaxis], mass, np.eye(n))
        block = mass[:, self.free][:, :, self.free]
        diagonal = np.diagonal(block, axis1=-2, axis2=-1)
        least = CLEAR * n * limits.EPS * diagonal
        rounding = (n * limits.EPS) ** 2 * diagonal.max(axis=-1, initial=0.0)  # of squared levers
        levers = np.all(diagonal > rounding[:, np.newaxis], axis=-1)
        self.regular = known & levers & np.all(_pivots(block) > least, axis=-1)
        self.unsolvable = known & np.any(diagonal == 0.0, axis=-1)
        solvable = np.where(self.regular[:, np.newaxis, np.newaxis], mass, np.eye(n))
        self.mass = self.terms = np.abs(solvable)
        if s.facts.mass_terms is not None:
            roots = np.sqrt(s.facts.mass_terms)
            bounds = np.where(solvable != 0.0, np.outer(roots, roots), 0.0)
            self.terms = np.maximum(self.terms, bounds)
        self.gain, self.spread = self._sums(solvable)

    def _sums(self, mass: Array) -> tuple[Array, Array]:
        """gain and spread, (S,)."""
        free, response = self.free, np.zeros(mass.shape)
        inverse = np.abs(np.linalg.inv(mass[:, free][:, :, free]))
        response[np.ix_(np.arange(len(mass)), free, free)] = inverse
        if not free.all():
            held = ~free
            response[:, held, held] = 1.0
            coupling = np.abs(mass[:, held][:, :, free])
            response[np.ix_(np.arange(len(mass)), held, free)] = coupling @ inverse
        rows = response.sum(axis=-1, keepdims=True)
        moved = np.where(free[:, np.newaxis], rows, 0.0)
        return _top(rows), _top(np.abs(mass) @ moved)

    def both(self, given: Array, found: Array) -> tuple[Array, Array]:
        """Accelerations and torques of all joints, from x and y, 2 x (S, n)."""
        return np.where(self.free, found, given), np.where(self.free, given, found)

    def forces(self, given: Array, found: Array) -> Array:
        """F, (S,)."""
        accelerations, torques = self.both(given, found)
        inertial = np.einsum("sij,sj->si", self.terms, np.abs(accelerations))
        return np.maximum(1.0, np.maximum(_top(inertial), _top(torques)))

    def _slope_forces(self, slopes: Array) -> Array:
        """G, (S,), of the slopes (S, n, m)."""
        moved = np.where(self.free[:, np.newaxis], np.abs(slopes), 0.0)
        held = np.where(self.free[:, np.newaxis], 0.0, slopes)
        return np.maximum(_top(self.terms @ moved), _top(held))

    def scales(self, s: Evaluation, name: str) -> list[Array]:
        """For every result of a function of `s` the size that errors are relative to, (S,)."""
        given = s.states.x if self.base == HD else s.states.tau
        results = [np.asarray(result) for result in s.results(name)]
        found = next((s[f] for f in _returning(self.base) if s.has(f)), np.zeros(given.shape))
        forces = self.forces(given, np.asarray(found))
        labels = SEVERAL_RESULTS.get(name, ("y" if name == self.base else "dparameters",))
        sizes = []
        for label, result in zip(labels, results, strict=True):
            if result.ndim == 2:
                sizes.append(limits.SOLVED * self.gain * forces)
                continue
            sizes.append(self.scale_of_slopes(s, label, result, forces))
        return sizes

    def scale_of_slopes(self, s: Evaluation, label: str, slopes: Array, forces: Array) -> Array:
        """The size that errors of the derivatives `slopes` (S, n, m) are relative to, (S,)."""
        size = self._slope_forces(slopes)
        if label.endswith("_dqd"):
            size = np.maximum(np.maximum(1.0, size), _top(friction_slope(s)))
        elif label not in ("dqdd_dtau", "dy_dx"):
            size = size + np.maximum(forces, size) * self.spread
        return np.asarray(limits.SOLVED * self.gain * size)


def response(s: Evaluation, name: str) -> Response:
    """That of the function called `name`, made once for every subject."""
    key = SOLVED[name]
    if key not in s.responses:
        s.responses[key] = Response(s, key)
    found: Response = s.responses[key]
    return found


def _returning(base: str) -> tuple[str, ...]:
    """Functions of which y is the first result."""
    return (base, f"{base}_derivatives", f"{base}_sensitivities", f"{base}_jvp")


def _mass_matrix(s: Evaluation) -> Array:
    """M, (S, n, n), from what the subject has; NaN where it cannot be known."""
    samples, n = s.states.qd.shape
    if s.has("mass_matrix"):
        return np.asarray(s["mass_matrix"], dtype=float)
    if s.subject.complex_step and s.has(ID):
        return s.slope(ID, "qdd")
    inverse = np.zeros((samples, n, n))
    if s.has(f"{FD}_derivatives"):
        inverse = np.asarray(s.results(f"{FD}_derivatives")[3], dtype=float)
    elif s.subject.complex_step and s.has(FD):
        inverse = s.slope(FD, "tau")
    known = np.isfinite(inverse).all(axis=(-1, -2)) & (np.abs(np.linalg.det(inverse)) > 0.0)
    known = known[:, np.newaxis, np.newaxis]
    return np.where(known, np.linalg.inv(np.where(known, inverse, np.eye(n))), np.nan)


def _pivots(mass: Array) -> Array:
    """Pivots of the elimination from the last coordinate to the first, (S, n)."""
    rest, n = mass.copy(), mass.shape[-1]
    for k in range(n - 1, -1, -1):
        column, row = rest[:, :k, k, np.newaxis], rest[:, k, np.newaxis, :k]
        with np.errstate(all="ignore"):
            rest[:, :k, :k] -= column * row / rest[:, k, k, np.newaxis, np.newaxis]
    pivots = np.diagonal(rest, axis1=-2, axis2=-1)
    return np.where(np.isfinite(pivots), pivots, 0.0)


def _top(array: Array) -> Array:
    """Largest magnitude in each sample, (S,)."""
    return np.asarray(np.abs(array).max(axis=tuple(range(1, np.ndim(array))), initial=0.0))


# --------------------------------------------------------------------------------- singularity


def not_compared(s: Evaluation) -> Iterator[Check]:
    """A row without samples that says where the mass matrix is singular."""
    for base in (FD, HD):
        if any(s.has(name) for name, of in SOLVED.items() if of == base):
            regular = response(s, base).regular
            singular, samples = int(np.sum(~regular)), len(regular)
            if singular:
                of = "" if base == FD else " of the free joints"
                what = f"{base} is not compared there"
                where = f"{singular} of {samples} random states"
                name = f"the mass matrix{of} is singular at {where}: {what}"
                yield Check(name, "every formulation", 0.0, 0.0, 0)


def unsolvable(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Where a joint moves no mass at all, no function returns numbers."""
    for name in filter(s.has, SOLVED):
        where = response(lens, name).unsolvable
        if where.any():
            found = np.asarray(s[name])[where]
            solved = np.isfinite(found).all(axis=-1, keepdims=True)
            while solved.ndim > 2:
                solved = solved.all(axis=-1)
            what = f"{name} has no solution where the mass matrix is singular"
            yield what, limits.exact, solved.astype(float), np.zeros(solved.shape)


# -------------------------------------------------------------------------------------- the laws


def forward_dynamics(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """It is the inverse of inverse dynamics; its derivatives are those of itself."""
    yield from _consistent(s, lens, FD)
    yield from _derivatives(s, lens, FD, ("q", "qd", "tau"))
    name = f"{FD}_derivatives"
    if s.has(name) and lens.has("mass_matrix"):
        r = response(lens, name)
        mass, ok = np.asarray(lens["mass_matrix"]), r.regular
        product = np.asarray(s.results(name)[3]) @ mass
        scale = r.scales(s, name)[3] * _top(np.abs(mass).sum(axis=-2))
        one = np.broadcast_to(np.eye(mass.shape[-1]), product.shape)
        what = f"{name}, dqdd_dtau mass_matrix = 1"
        yield what, limits.physics, product[ok], one[ok], scale[ok]
    yield from _sensitivities(s, lens)


def hybrid_dynamics(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """It agrees with inverse dynamics; its derivatives are those of itself."""
    if s.facts.prescribed is not None:
        yield from _consistent(s, lens, HD)
        yield from _derivatives(s, lens, HD, ("q", "qd", "x"))


def _consistent(s: Evaluation, lens: Evaluation, name: str) -> Iterator[Comparison]:
    holder = s if s.has(ID) else lens
    if not (s.has(name) and holder.has(ID)):
        return
    r, given = response(lens, name), _given(s.states, name)
    accelerations, torques = r.both(given, np.asarray(s[name]))
    value, ok = np.asarray(holder.at(ID, qdd=accelerations)), r.regular
    scale = r.forces(given, np.asarray(s[name]))
    what = "inverse_dynamics of the accelerations = torques"
    yield f"{name}: {what}", limits.physics, value[ok], torques[ok], scale[ok]


def _given(states: States, name: str) -> Array:
    return states.x if name == HD else states.tau


def _derivatives(
    s: Evaluation, lens: Evaluation, base: str, arguments: tuple[str, ...]
) -> Iterator[Comparison]:
    """By complex step; the parameters last."""
    name, by = f"{base}_derivatives", f"complex step of {base}"
    if s.has(name):
        r = response(lens, name)
        ok, labels = r.regular, SEVERAL_RESULTS[name]
        results, scales = [np.asarray(x)[ok] for x in s.results(name)], r.scales(s, name)
        if s.has(base):
            what = f"{name}, {labels[0]} = {base}"
            yield what, limits.agreement, results[0], np.asarray(s[base])[ok], scales[0][ok]
        if lens.has(base):
            for k, argument in enumerate(arguments, start=1):
                expected = lens.slope(base, argument)[ok]
                what = f"{name}, {labels[k]} = {by}"
                yield what, limits.derivative, results[k], expected, scales[k][ok]
    name = f"{base}_parameter_derivatives"
    if s.has(name) and lens.has(base) and s.states.parameters.size:
        r = response(lens, name)
        expected, scale = lens.slope(base, "parameters"), r.scales(s, name)[0]
        value, ok = np.asarray(s[name]), r.regular
        yield f"{name} = {by}", limits.derivative, value[ok], expected[ok], scale[ok]


def _sensitivities(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """The chain rule."""
    name, states = f"{FD}_sensitivities", s.states
    if not (s.has(name) and states.parameters.size):
        return
    r = response(lens, name)
    qdd, total = (np.asarray(x) for x in s.results(name))
    scales, ok = r.scales(s, name), r.regular
    if s.has(FD):
        what = f"{name}, qdd = {FD}"
        yield what, limits.agreement, qdd[ok], np.asarray(s[FD])[ok], scales[0][ok]
    parts = f"{FD}_derivatives", f"{FD}_parameter_derivatives"
    holder = s if s.has(*parts) else lens
    if holder.has(*parts):
        slopes = [np.asarray(x) for x in holder.results(parts[0])[1:]]
        pairs = zip(slopes, (states.dq, states.dqd, states.dtau), strict=True)
        terms = [np.asarray(holder[parts[1]]), *(a @ b for a, b in pairs)]
        sizes = np.maximum(scales[1], np.max(r.scales(holder, parts[0])[1:], axis=0))
        what = f"{name}, dqdd = chain rule"
        terms = [term[ok] for term in terms]
        yield what, limits.physics, total[ok], sum(terms), sizes[ok], *terms


FORWARD_LAWS: tuple[Callable[[Evaluation, Evaluation], Iterator[Comparison]], ...] = (
    forward_dynamics, hybrid_dynamics, unsolvable,
)  # fmt: skip
