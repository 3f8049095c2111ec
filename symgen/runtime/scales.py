"""Scales of the errors of results, and samples at which results exist.

Where terms of a result cancel, its errors are relative to the terms.  Solving for accelerations
moreover multiplies rounding errors by the inverse of the mass matrix.  Hybrid dynamics takes x, the
accelerations of prescribed and torques of free joints, and returns y, torques of prescribed and
accelerations of free joints; in forward dynamics all joints are free.

| symbol | array | shape; S samples |
| --- | --- | --- |
| M | mass matrix | (S, n, n) |
| R | magnitude of dy / d torques, which is M^-1 where all joints are free | (S, n, n) |
| T | bound of the terms that M is the sum of, at least its magnitude | (S, n, n) |
| F | size of the torques that a solution balances, T times magnitudes of qdd, at least 1 | (S,) |
| G | size for a derivative X of y: T times magnitudes | (S,) |
| gain, spread | largest sums of the rows of R and of M R | (S,) |

The torques in a recursion carry rounding errors proportional to F, as those of inverse dynamics do;
solving multiplies them by R.  With M + dM instead of M, y changes by -R dM qdd, and dM is
proportional to T, whatever cancels in M: hence T, not M, in F and G.  An entry of T is the root of
the product of the `Facts.mass_terms` of its row and column, where these are known and M is not 0.
A derivative by q or by a parameter also carries the error of y.  `Response.scales` returns these
scales; the constants are those of `limits`.

Samples with a singular mass matrix are not compared.  It counts as singular where a pivot is below
`CLEAR` n eps times the diagonal entry of its row, while generated code gives up at n eps: between
these two a result may exist or not.  Where a diagonal entry is exactly 0, and with it its row, no
function may return numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import limits
from .calls import SEVERAL_RESULTS, SOLVING
from .subjects import Array, Evaluation, call, times, top

ID, FD, HD = "inverse_dynamics", "forward_dynamics", "hybrid_dynamics"
SOLVED: Mapping[str, str] = {name: HD if name.startswith(HD) else FD for name in SOLVING}
"""Functions that solve for accelerations -> the function that returns these alone."""
CLEAR = 1000.0
"""Ratio of a pivot to that of a singular matrix above which a matrix is regular."""

PRODUCTS: Mapping[str, tuple[str, ...]] = {
    ID: ("q", "qd", "qdd", "loads", "parameters"),
    FD: ("q", "qd", "tau", "loads", "parameters"),
}
"""Functions with products, and the arguments of their derivatives."""
BASES: Mapping[str, str] = {f"{base}_{kind}": base for base in PRODUCTS for kind in ("jvp", "vjp")}
"""Product -> its function."""
CURVED: Mapping[str, str] = {f"{base}_hvp": base for base in PRODUCTS}
"""Product with second derivatives -> its function."""
LOADS, HESSIAN, PARTS = f"{ID}_load_derivatives", f"{ID}_hessian", "torque_parts"


def labels_of(name: str) -> list[str]:
    """Return suffixes of the name of a function for each of its results."""
    return [f", {label}" for label in SEVERAL_RESULTS.get(name, ())] or [""]


def comparable(lens: Evaluation, name: str) -> Array:
    """Return the samples at which a function has a result, (S,)."""
    if name in SOLVED:
        return np.asarray(response(lens, name).regular)
    return np.ones(len(lens.states.q), dtype=bool)


def scales_of(s: Evaluation, lens: Evaluation, name: str) -> list[Array]:
    """Return further scales of the errors of every result, (S, ...), that are known."""
    if name in BASES:
        return scales_of_products(s, lens, name)
    if name in CURVED:
        scales = scales_of_curvatures(s, lens, name)
        if lens.subject.independent:  # differences of gradients have roundings
            sizes = map(top, lens.results(f"{CURVED[name]}_vjp"))
            scales = [scale + size for scale, size in zip(scales, sizes, strict=True)]
        return scales
    holder = lens if lens.has(name) else s
    if name in SOLVED:
        return response(lens, name).scales(holder, name)
    labels, nothing = labels_of(name), np.zeros(len(s.states.q))
    if name == HESSIAN:
        return [scale_of_hessian(s, holder)] * len(labels)
    if name == PARTS:  # one part may cancel, whose terms are as large as those of others
        return [np.max([top(part) for part in holder.results(PARTS)], axis=0)] * len(labels)
    if name == f"{ID}_parameter_derivatives":
        return [s.terms.friction_by_velocity(s.states.qd)]
    slope = s.terms.friction_slope(s.states.qd)
    return [slope if label == ", dtau_dqd" else nothing for label in labels]


def scale_of_hessian(s: Evaluation, source: Evaluation) -> Array:
    """Return entries of the Hessian by `source`, and rounding errors of friction, (S, ...)."""
    blocks = [np.reshape(x, (len(s.states.q), -1)) for x in source.results(HESSIAN)]
    return np.concatenate([*blocks, s.terms.friction_curvature(s.states.qd)], axis=1)


class Response:
    """Rounding errors of solutions of forward or hybrid dynamics, from the mass matrix."""

    def __init__(self, s: Evaluation, name: str) -> None:
        n = s.states.qd.shape[1]
        self.base = SOLVED[name]
        prescribed = s.facts.prescribed if self.base == HD else None
        held = np.zeros(n, dtype=bool) if prescribed is None else prescribed
        self.free = np.logical_not(np.asarray(held, dtype=bool).reshape(n))
        mass = _mass_matrix(s)
        finite = np.asarray(np.isfinite(mass).all(axis=(-1, -2)))
        mass = np.where(finite[:, np.newaxis, np.newaxis], mass, np.eye(n))
        block = mass[:, self.free][:, :, self.free]
        diagonal = np.diagonal(block, axis1=-2, axis2=-1)
        least = CLEAR * n * limits.EPS * diagonal
        rounding = (n * limits.EPS) ** 2 * diagonal.max(axis=-1, initial=0.0)  # of squared levers
        levers = np.all(diagonal > rounding[:, np.newaxis], axis=-1)
        self.regular = finite & levers & np.all(_pivots(block) > least, axis=-1)
        self.unsolvable = finite & np.any(diagonal == 0.0, axis=-1)
        solvable = np.where(self.regular[:, np.newaxis, np.newaxis], mass, np.eye(n))
        self.mass = self.terms = np.abs(solvable)
        if s.facts.mass_terms is not None:
            roots = np.sqrt(s.facts.mass_terms)
            bounds = np.where(solvable != 0.0, np.outer(roots, roots), 0.0)
            self.terms = np.maximum(self.terms, bounds)
        self.gain, self.spread = self._sums(solvable)

    def _sums(self, mass: Array) -> tuple[Array, Array]:
        """Return gain and spread, (S,)."""
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
        return top(rows), top(np.abs(mass) @ moved)

    def both(self, inputs: Array, outputs: Array) -> tuple[Array, Array]:
        """Return accelerations and torques of all joints from x and y, 2 x (S, n)."""
        return np.where(self.free, outputs, inputs), np.where(self.free, inputs, outputs)

    def forces(self, inputs: Array, outputs: Array) -> Array:
        """Return F, (S,)."""
        accelerations, torques = self.both(inputs, outputs)
        inertial = np.einsum("sij,sj->si", self.terms, np.abs(accelerations))
        return np.maximum(1.0, np.maximum(top(inertial), top(torques)))

    def scales(self, s: Evaluation, name: str) -> list[Array]:
        """Return scales (S,) of the errors of every result of a function of `s`."""
        inputs, base = s.states.x if self.base == HD else s.states.tau, self.base
        results = [np.asarray(result) for result in s.results(name)]
        returning = base, f"{base}_derivatives", f"{base}_sensitivities", f"{base}_jvp"
        outputs = next((s[f] for f in returning if s.has(f)), np.zeros(inputs.shape))
        forces = self.forces(inputs, np.asarray(outputs))
        labels = SEVERAL_RESULTS.get(name, ("y" if name == self.base else "dparameters",))
        sizes = []
        for label, result in zip(labels, results, strict=True):
            if result.ndim == 2:
                sizes.append(limits.SOLVED * self.gain * forces)
                continue
            sizes.append(self.scale_of_slopes(s, label, result, forces))
        return sizes

    def scale_of_slopes(self, s: Evaluation, label: str, slopes: Array, forces: Array) -> Array:
        """Return the scale (S,) of errors of the derivatives `slopes` (S, n, m)."""
        moved = np.where(self.free[:, np.newaxis], np.abs(slopes), 0.0)
        held = np.where(self.free[:, np.newaxis], 0.0, slopes)
        size = np.maximum(top(self.terms @ moved), top(held))  # G
        if label.endswith("_dqd"):
            size = np.maximum(np.maximum(1.0, size), top(s.terms.friction_slope(s.states.qd)))
        elif label not in ("dqdd_dtau", "dy_dx"):
            size = size + np.maximum(forces, size) * self.spread
        return np.asarray(limits.SOLVED * self.gain * size)


def response(s: Evaluation, name: str) -> Response:
    """Return the response for the function called `name`, computed once for every subject."""
    key = SOLVED[name]
    if key not in s.responses:
        s.responses[key] = Response(s, key)
    return s.responses[key]  # type: ignore[no-any-return]


def _mass_matrix(s: Evaluation) -> Array:
    """Return M (S, n, n) by functions that the subject has; NaN where it has none."""
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
    invertible = np.isfinite(inverse).all(axis=(-1, -2)) & (np.abs(np.linalg.det(inverse)) > 0.0)
    invertible = invertible[:, np.newaxis, np.newaxis]
    return np.where(invertible, np.linalg.inv(np.where(invertible, inverse, np.eye(n))), np.nan)


def _pivots(mass: Array) -> Array:
    """Return pivots of the elimination from the last coordinate to the first, (S, n)."""
    rest, n = mass.copy(), mass.shape[-1]
    for k in range(n - 1, -1, -1):
        column, row = rest[:, :k, k, np.newaxis], rest[:, k, np.newaxis, :k]
        with np.errstate(all="ignore"):
            rest[:, :k, :k] -= column * row / rest[:, k, k, np.newaxis, np.newaxis]
    pivots = np.diagonal(rest, axis1=-2, axis2=-1)
    return np.where(np.isfinite(pivots), pivots, 0.0)


@dataclass(frozen=True)
class Slope:
    """Derivatives of a function by one argument, (S, n, m), and the scale of their errors, (S,)."""

    argument: str
    matrix: Array
    scale: Array


def scales_of_products(s: Evaluation, lens: Evaluation, name: str) -> list[Array]:
    """Return scales (S,) of the errors of every result, for which `lens` has derivatives."""
    base, none = BASES[name], np.zeros(len(s.states.qd))
    slopes = slopes_of(lens, base)
    if not slopes:
        return [none] * len(SEVERAL_RESULTS[name])
    if name.endswith("jvp"):
        total = none
        for x in slopes:
            direction = np.abs(direction_of(lens, x.argument))
            total = total + top(times(np.abs(x.matrix), direction)) + x.scale * top(direction)
        is_solved = base == FD and lens.has(base)
        values = response(lens, base).scales(lens, base)[0] if is_solved else none
        return [values, total]
    weights = np.abs(s.states.multipliers)
    sums = weights.sum(axis=-1)
    return [
        top(np.einsum("si,sij->sj", weights, np.abs(x.matrix))) + x.scale * sums for x in slopes
    ]


def direction_of(s: Evaluation, argument: str) -> Array:
    """Return the change of an argument along the direction, (S, m)."""
    return np.asarray(vars(s.states)[f"along_{argument}"].reshape(len(s.states.qd), -1))


def slopes_of(lens: Evaluation, base: str) -> list[Slope]:
    """Return derivatives by every argument of `PRODUCTS`; none where `lens` has none."""
    slopes: list[Slope] = []
    for argument, matrix in _matrices(lens, base).items():
        if base == FD:
            r = response(lens, base)
            accelerations = lens[FD if lens.has(FD) else f"{FD}_derivatives"]
            forces = r.forces(lens.states.tau, np.asarray(accelerations))
            scale = r.scale_of_slopes(lens, f"dqdd_d{argument}", matrix, forces)
        else:
            friction = top(lens.terms.friction_slope(lens.states.qd))
            scale = friction if argument == "qd" else 0.0 * friction
        slopes.append(Slope(argument, matrix, scale))
    return slopes


def _matrices(lens: Evaluation, base: str) -> dict[str, Array]:
    """Return derivatives by argument, (S, n, m), by complex step or functions that return them."""
    S, n = lens.states.qd.shape
    arguments = PRODUCTS[base]
    if lens.subject.complex_step and not lens.subject.independent and lens.has(base):
        sizes = {argument: vars(lens.states)[argument].size for argument in arguments}
        none = np.zeros((S, n, 0))
        matrices = {x: lens.slope(base, x) if size else none for x, size in sizes.items()}
    elif has_matrices(lens, base):
        matrices = dict(zip(arguments, matrices_of(lens, base, vars(lens.states)), strict=True))
    else:
        return {}
    return {x: np.reshape(y, (S, n, math.prod(np.shape(y)[2:]))) for x, y in matrices.items()}


def matrices_of(lens: Evaluation, base: str, at: dict[str, Any]) -> list[Array]:
    """Return the matrices at these states from functions that return them."""
    functions = lens.subject.functions
    _, *by_state = call(functions, f"{base}_derivatives", at)
    (by_loads,), sizes = call(functions, LOADS, at), lens.states.parameters.shape
    if base == FD:  # M qdd + ... = tau + loads
        by_loads = -np.einsum("sij,sjkc->sikc", by_state[2], by_loads)
    name, n = f"{base}_parameter_derivatives", by_loads.shape[1]
    by_parameters = np.zeros((sizes[0], n, sizes[1]))
    if sizes[1]:
        (by_parameters,) = call(functions, name, at)
    return [*by_state, by_loads, by_parameters]


def has_matrices(lens: Evaluation, base: str) -> bool:
    """Return whether the subject has all functions of `matrices_of`."""
    by_parameters = (f"{base}_parameter_derivatives",) if lens.states.parameters.size else ()
    return lens.has(f"{base}_derivatives", LOADS, *by_parameters)


def scales_of_curvatures(s: Evaluation, lens: Evaluation, name: str) -> list[Array]:
    """Return scales (S,) of the errors of every result of a Hessian times a direction.

    Terms are the contributions of each entry of the direction; friction contributes only by its
    velocity.  Solving adds the errors of the first derivatives, spread once more.
    """
    base, states = CURVED[name], vars(s.states)
    totals = [np.zeros(len(s.states.qd))] * len(SEVERAL_RESULTS[name])
    for argument in PRODUCTS[base]:
        for result, terms in enumerate(_terms(s, name, f"along_{argument}", states)):
            totals[result] = totals[result] + terms
    totals[1] = totals[1] + top(s.terms.friction_curvature(s.states.qd))
    if base == FD:
        weights = np.abs(s.states.multipliers).sum(axis=-1) * (1.0 + response(lens, base).spread)
        slopes = slopes_of(lens, base)
        solved = sum(x.scale * top(direction_of(lens, x.argument)) for x in slopes)
        totals = [total + weights * solved for total in totals]
    return totals


def _terms(s: Evaluation, name: str, key: str, states: dict[str, Array]) -> list[Array]:
    """Return sums of magnitudes over the entries of one part of the direction, by result, (S,)."""
    direction = states[key].reshape(len(states[key]), -1)
    samples, size = direction.shape
    if not size:
        return []
    stacked = {x: np.repeat(array, size, axis=0) for x, array in states.items()}
    stacked |= {x: np.zeros_like(y) for x, y in stacked.items() if x.startswith("along_")}
    single = direction[:, np.newaxis] * np.eye(size)
    stacked[key] = single.reshape(stacked[key].shape)
    results = call(s.subject.functions, name, stacked)
    return [top(np.abs(x).reshape(samples, size, -1).sum(axis=1)) for x in results]
