"""Linear equations of a mechanism with loops or relations: solution, rank, unsatisfied rows.

`mechanism` has the notation.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Array = Any
"""float64 arrays, and what NumPy makes them of."""

RANK = 1e-6
"""Singular values below this, in units of the largest, are those of redundant rows: they are as
large as the error with which loops of a mechanism on its way are closed."""
CLOSED = 1e-12
"""Largest constraint of a mechanism that is assembled, in units of its row."""
_CORRECTIONS = 4
"""Newton steps that distinguish a state off the constraints from contradictory relations."""
_NAMED = 5
"""Largest number of rows in one message."""
_NEARLY_PARALLEL = 0.9
"""Least cosine of the angle between shared axes, in either direction, at initial positions."""


def row_sizes(units: Sequence[int], J: Array) -> Array:
    """Return sizes (..., m) of the rows of J, by which rows are scaled before rank is judged.

    1 for the unit -1 (cosines, norms); else the largest norm of a row of the same unit, so that
    lengths are relative to the largest lever, and a relation to itself.
    """
    norms = np.sqrt(np.sum(J * J, axis=-1))
    sizes = np.ones(norms.shape)
    row_units = np.asarray(units)
    for unit in set(units) - {-1}:
        rows = row_units == unit
        sizes[..., rows] = norms[..., rows].max(axis=-1, keepdims=True)
    return np.where(sizes > 0.0, sizes, 1.0)


def position_jacobian(module: Any, q: Array, options: Mapping[str, Any]) -> Array:
    """Return derivatives of the constraints by positions, (..., m, n): J of `module` at q (..., nq)
    without its rows of velocities, which are 0."""
    of_velocities = np.asarray(module._velocity_rows)[:, np.newaxis]
    return np.where(of_velocities, 0.0, module.constraint_jacobian(q, **options))


def independent(J: Array) -> tuple[Array, Array, Array]:
    """Return U (..., m, r), U' J (..., r, n), and which of its rows are independent, (..., r)."""
    try:
        U, s, V = np.linalg.svd(J, full_matrices=False)
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError("the constraints have no finite derivatives here") from None
    kept = s > RANK * s.max(axis=-1, keepdims=True, initial=0.0)
    return U, s[..., np.newaxis] * V, kept


def holdable(J: Array, candidates: Sequence[int]) -> Array:
    """Return which coordinates can stay while the others keep J a = b, (..., n) booleans.

    J (..., m, n) keeps its rank without the columns of these.  Only `candidates` are tried, in
    their order.
    """
    free = np.ones((*J.shape[:-2], J.shape[-1]), dtype=bool)
    rank = independent(J)[2].sum(axis=-1)
    for k in candidates:
        free[..., k] = False
        without = independent(J * free[..., np.newaxis, :])[2].sum(axis=-1)
        free[..., k] = without < rank
    return ~free


def step(J: Array, c: Array, damping: float) -> Array:
    """Return the step of least norm that closes the linearised loops, (k,)."""
    U, s, V = np.linalg.svd(J, full_matrices=False)
    small = s <= RANK * s.max(initial=0.0)
    gain = np.where(small, 0.0, s / np.where(small, 1.0, s * s + damping * damping))
    return V.T @ (gain * (U.T @ c))


def solved(M: Array, J: Array, above: Array, below: Array) -> tuple[Array, Array, Array]:
    """Solve M a - J' x = above, J a = below for a (..., n, k) and x (..., m, k); return also which
    rows of x are unique, (..., m)."""
    U, rows, kept = independent(J)
    r, n = rows.shape[-2:]
    rows = rows * kept[..., np.newaxis]
    batch = np.broadcast_shapes(M.shape[:-2], J.shape[:-2], above.shape[:-2], below.shape[:-2])
    matrix = np.zeros((*batch, n + r, n + r))
    matrix[..., :n, :n] = M
    matrix[..., :n, n:] = -np.swapaxes(rows, -1, -2)
    matrix[..., n:, :n] = rows
    matrix[..., range(n, n + r), range(n, n + r)] = ~kept  # multipliers of what is redundant: 0
    right = np.zeros((*batch, n + r, above.shape[-1]))
    right[..., :n, :] = above
    right[..., n:, :] = (np.swapaxes(U, -1, -2) @ below) * kept[..., np.newaxis]
    try:
        solution = np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError(
            "the accelerations are not determined: nothing resists a motion that the constraints "
            "allow"
        ) from None
    return (
        solution[..., :n, :],
        U @ solution[..., n:, :],
        np.broadcast_to(unique(U, kept), (*batch, J.shape[-2])),
    )


def unmet(J: Array, a: Array, b: Array, change: Array = 0.0) -> Array:
    """Return whether a row of J a + b, J (..., m, n), is not 0 relative to its terms, (...).

    Where `a` is the result of a `change`, terms count with both.
    """
    left = np.abs((J @ a[..., np.newaxis])[..., 0] + b)
    terms = np.abs(a) + np.abs(change)
    sizes = (np.abs(J) @ terms[..., np.newaxis])[..., 0] + np.abs(b)
    return left.max(axis=-1) > RANK * sizes.max(axis=-1)


def inconsistent(J: Array, b: Array, size: float) -> Array:
    """Return which rows of J a + b no `a` makes 0, up to `RANK` times `size` of its terms, (m,).

    Only redundant rows can be inconsistent.
    """
    U, _, kept = independent(J)
    U = U[:, kept]
    if U.shape[1] == len(b):
        return np.zeros(len(b), bool)
    return np.abs(b - U @ (U.T @ b)) > RANK * size


def refuse_unmet(
    module: Any, function: str, missed: Array, state: Sequence[Any], results: Sequence[Array],
    hold: Sequence[str] = (),
) -> None:  # fmt: skip
    """Raise LinAlgError where constraints contradict one another at a `missed` sample (...).

    Or where they contradict the coordinates in `hold`.  In a batch, set `results` of the sample to
    NaN, with a RuntimeWarning.  `state` is q, qd, t, parameters.
    """
    if not np.any(missed):
        return
    names: dict[str, None] = {}
    rows = 0
    for index in zip(*np.nonzero(missed), strict=True) if missed.ndim else [()]:
        q, qd, t, parameters = (
            sample_of(x, axes, missed.shape, index)
            for x, axes in zip(state, (1, 1, 0, 1), strict=True)
        )
        options = without_none(t=t, parameters=parameters)
        contradicted = _contradicted(module, q, qd, options)
        names.update(dict.fromkeys(contradicted))
        rows += bool(contradicted or hold)
        if contradicted or hold:
            for result in results:
                result[index] = np.nan
    if not rows:
        return
    listed = [*list(names)[:_NAMED], *([f"{len(names) - _NAMED} more"] * (len(names) > _NAMED))]
    named = " and ".join([", ".join(listed[:-1]), listed[-1]] if listed[1:] else listed)
    message = f"{function}: " + (
        f"the constraints {named} contradict one another here: no motion keeps all of them; "
        "remove one, or make them agree"
        if len(names) > 1
        else f"nothing keeps the loops closed while {', '.join(hold)} stays; hold less"
        if not names
        else f"no motion keeps the constraint {named} here, where its own gradient vanishes or "
        "depends on the others: a singular position, where branches of the motion may meet"
    )
    if not missed.ndim:
        raise np.linalg.LinAlgError(message)
    warnings.warn(f"{message}; NaN in {rows} rows", RuntimeWarning, stacklevel=5)


def _contradicted(module: Any, q: Array, qd: Array, options: Mapping[str, Any]) -> list[str]:
    """Return the constraints that no velocities or accelerations satisfy at the nearest closed
    state; none where a few Newton steps do not reach that state."""
    for _ in range(_CORRECTIONS):
        c, J, _ = _opened(module, q, options)
        q = module.integrate(q, -np.linalg.pinv(J, rcond=RANK) @ c)
    c, _, _ = _opened(module, q, options)
    if np.abs(c).max() > 1e3 * CLOSED:
        return []
    J = module.constraint_jacobian(q, **options)
    sizes = row_sizes(module._row_units, J)
    J = J / sizes[:, np.newaxis]
    standing = module.constraint_rates(q, 0.0 * qd, **options) / sizes
    missed = inconsistent(J, standing, np.abs(standing).max())
    if not missed.any():
        qd = qd - np.linalg.pinv(J, rcond=RANK) @ (J @ qd + standing)
        bias = module.constraint_bias(q, qd, **options) / sizes
        speeds = np.abs(J) @ np.abs(qd)
        missed = inconsistent(J, bias, np.abs(bias).max() + speeds.max() ** 2)
    return [name for name, x in zip(module.constraint_names, missed, strict=True) if x]


def _opened(module: Any, q: Array, options: Mapping[str, Any]) -> tuple[Array, Array, Array]:
    """Return constraints and their derivatives by positions at one q, divided by the sizes of the
    rows, and these sizes."""
    J = position_jacobian(module, q, options)
    sizes = row_sizes(module._row_units, J)
    return module.constraints(q, **options) / sizes, J / sizes[:, np.newaxis], sizes


def unique(U: Array, kept: Array) -> Array:
    """Return which multipliers the motion determines, (..., m)."""
    return np.sum((U * kept[..., np.newaxis, :]) ** 2, axis=-1) > 1.0 - RANK


def half_turned(module: Any, q: Array, timed: Mapping[str, Any]) -> str:
    """Return the first loop whose frames are over a quarter turn from the pose that closes it.

    Rows of angles are products, and vanish half a turn off as well; "" without such a loop.  A loop
    that shares only an axis (revolute, cylindrical, planar) may have it in opposite directions in
    its two frames, if these are nearly parallel at the initial positions.
    """
    axes = getattr(module, "_loop_axes", ())
    if not axes:
        return ""
    options = without_none(parameters=timed.get("parameters"))
    cosines = _cosines(axes, module.forward_kinematics(q, **options))
    initial = _cosines(axes, module.forward_kinematics(module.initial_q, **options))
    for (name, *_), at_q, at_first in zip(axes, cosines, initial, strict=True):
        sign = -1.0 if len(at_q) == 1 and at_first[0] < -_NEARLY_PARALLEL else 1.0
        if any(sign * cosine < 0.0 for cosine in at_q):
            return str(name)
    return ""


def _cosines(axes: Sequence[Any], poses: Array) -> list[list[float]]:
    """Return, for every loop, cosines of the angles between the axes that its frames share."""
    turns = (np.eye(3), *poses[..., :3, :3])
    return [
        [float((turns[first] @ u) @ (turns[second] @ v)) for u, v in pairs]
        for _, first, second, pairs in axes
    ]


def sample_of(values: Any, axes: int, shape: tuple[int, ...], index: tuple[int, ...]) -> Any:
    """Return the values of one sample of a batch of this shape; `axes` are those of a sample."""
    if values is None or isinstance(values, Mapping):
        return values
    core = np.shape(values)[np.ndim(values) - axes :]
    return np.broadcast_to(values, (*shape, *core))[index]


def without_none(**options: Any) -> dict[str, Any]:
    """Return the options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def by_keyword(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method so that options passed by position raise a clear TypeError.

    States that are dicts by name become arrays, but for a q that is not required.  Where q and qd
    are required, they should keep loops closed.
    """
    parameters = inspect.signature(method).parameters.values()
    names = [x.name for x in parameters]
    required = [x.name for x in parameters if x.default is x.empty]
    positional = [x.name for x in parameters if x.kind is not x.KEYWORD_ONLY]
    options = ", ".join(f"{x.name}=..." for x in parameters if x.name not in positional)

    @functools.wraps(method)
    def plain(*args: Any, **keywords: Any) -> Any:
        if len(args) > len(positional):
            call = f"{method.__name__}({', '.join(positional[1:])})"
            raise TypeError(f"{call} takes everything else by name: {options}")
        if unknown := sorted(keywords.keys() - names):
            call = f"{method.__name__}({', '.join(positional[1:])}, *, {options})"
            raise TypeError(
                f"{method.__name__}() got an unexpected keyword argument {unknown[0]!r}; it is "
                f"called as {call}"
            )
        if any(isinstance(x, Mapping) for x in (*args, *keywords.values())):
            read = args[0]._module._read
            kept = {"q"} - set(required)
            pairs = list(zip(positional, args, strict=False))[1:] + list(keywords.items())
            bound = {name: x if name in kept else read(name, x) for name, x in pairs}
            args, keywords = args[:1], bound
        bound = dict(zip(positional, args, strict=False)) | keywords
        if "q" in required and "q" in bound:
            qd = bound.get("qd") if "qd" in required else None
            timed = bound.get("t"), bound.get("parameters")
            args[0].warn_of_gaps(method.__name__, bound["q"], qd, *timed, stacklevel=3)
        return method(*args, **keywords)

    return plain
