"""Linear equations of a mechanism with loops or relations: solution, rank, rows that are not met.

See `mechanism` for the notation.
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
"""Newton steps that tell a state beside the constraints from relations that contradict."""
_NAMED = 5
"""Rows that one message names, at most."""
_NEARLY_PARALLEL = 0.9
"""Least cosine of the angle between axes that were meant to be parallel, in one direction or not,
at the initial positions."""


def row_sizes(units: Sequence[int], J: Array) -> Array:
    """Sizes of the rows of J, (..., m): units in which redundant ones can be told from small ones.

    1 for the unit -1 (cosines, norms); else the largest norm of a row of the same unit, so that a
    length is small beside the largest lever, and a relation is small beside nothing.
    """
    norms = np.sqrt(np.sum(J * J, axis=-1))
    sizes = np.ones(norms.shape)
    row_units = np.asarray(units)
    for unit in set(units) - {-1}:
        rows = row_units == unit
        sizes[..., rows] = norms[..., rows].max(axis=-1, keepdims=True)
    return np.where(sizes > 0.0, sizes, 1.0)


def independent(J: Array) -> tuple[Array, Array, Array]:
    """U (..., m, r), what U' J is, and which of these rows are independent, (..., r)."""
    try:
        U, s, V = np.linalg.svd(J, full_matrices=False)
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError("the constraints have no finite derivatives here") from None
    kept = s > RANK * s.max(axis=-1, keepdims=True, initial=0.0)
    return U, s[..., np.newaxis] * V, kept


def step(J: Array, c: Array, damping: float) -> Array:
    """The step of least norm that closes the linearised loops, (k,)."""
    U, s, V = np.linalg.svd(J, full_matrices=False)
    small = s <= RANK * s.max(initial=0.0)
    gain = np.where(small, 0.0, s / np.where(small, 1.0, s * s + damping * damping))
    return V.T @ (gain * (U.T @ c))


def solved(M: Array, J: Array, above: Array, below: Array) -> tuple[Array, Array, Array]:
    """Of M a - J' x = above, J a = below: a (..., n, k), x (..., m, k), and which rows of x are
    unique (..., m)."""
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


def unmet(J: Array, a: Array, b: Array) -> Array:
    """Whether a row of J a + b, J (..., m, n), is not 0 beside the terms of all rows, (...)."""
    left = np.abs((J @ a[..., np.newaxis])[..., 0] + b)
    sizes = (np.abs(J) @ np.abs(a[..., np.newaxis]))[..., 0] + np.abs(b)
    return left.max(axis=-1) > RANK * sizes.max(axis=-1)


def inconsistent(J: Array, b: Array, size: float) -> Array:
    """Return which rows of J a + b no `a` makes 0, but for `RANK` of `size`, (m,).

    Only redundant rows can be such ones; `size` is that of the terms of b, (m,).
    """
    U, _, kept = independent(J)
    U = U[:, kept]
    return (
        np.abs(b - U @ (U.T @ b)) > RANK * size if U.shape[1] < len(b) else np.zeros(len(b), bool)
    )


def refuse_unmet(
    module: Any, function: str, missed: Array, state: Sequence[Any], results: Sequence[Array]
) -> None:
    """LinAlgError where constraints contradict one another at q, qd, t, parameters of a sample
    that is `missed` (...); in a batch NaN as its `results` and a RuntimeWarning."""
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
        rows += bool(contradicted)
        if contradicted:
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
        else f"no motion keeps the constraint {named} here, where its own gradient vanishes or "
        "depends on the others"
    )
    if not missed.ndim:
        raise np.linalg.LinAlgError(message)
    warnings.warn(f"{message}; NaN in {rows} rows", RuntimeWarning, stacklevel=5)


def _contradicted(module: Any, q: Array, qd: Array, options: Mapping[str, Any]) -> list[str]:
    """Return the constraints that no velocities, or no accelerations, keep at the state nearest
    to q, qd that keeps the loops closed; none where that is not reached in a few steps."""
    for _ in range(_CORRECTIONS):
        c, J, _ = _opened(module, q, options)
        q = module.integrate(q, -np.linalg.pinv(J, rcond=RANK) @ c)
    c, J, sizes = _opened(module, q, options)
    if np.abs(c).max() > 1e3 * CLOSED:
        return []
    standing = module.constraint_rates(q, 0.0 * qd, **options) / sizes
    missed = inconsistent(J, standing, np.abs(standing).max())
    if not missed.any():
        qd = qd - np.linalg.pinv(J, rcond=RANK) @ (J @ qd + standing)
        bias = module.constraint_bias(q, qd, **options) / sizes
        speeds = np.abs(J) @ np.abs(qd)
        missed = inconsistent(J, bias, np.abs(bias).max() + speeds.max() ** 2)
    return [name for name, x in zip(module.constraint_names, missed, strict=True) if x]


def _opened(module: Any, q: Array, options: Mapping[str, Any]) -> tuple[Array, Array, Array]:
    """The constraints and their Jacobian at one q, in the units of the rows, and these."""
    J = module.constraint_jacobian(q, **options)
    sizes = row_sizes(module._row_units, J)
    return module.constraints(q, **options) / sizes, J / sizes[:, np.newaxis], sizes


def unique(U: Array, kept: Array) -> Array:
    """Which multipliers the motion determines, (..., m)."""
    return np.sum((U * kept[..., np.newaxis, :]) ** 2, axis=-1) > 1.0 - RANK


def half_turned(module: Any, q: Array, timed: Mapping[str, Any]) -> str:
    """Return the first loop whose frames are over a quarter turn from the pose that closes it.

    Its rows, being products, are 0 half a turn off, too; "" where there is no such loop.  A loop
    that shares an axis alone (revolute, cylindrical, planar) may have it in opposite directions in
    its two frames: those of the initial positions count, where these are nearly parallel.
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
    """For every loop the cosines of the angles between the axes that its two frames share."""
    turns = (np.eye(3), *poses[..., :3, :3])
    return [
        [float((turns[first] @ u) @ (turns[second] @ v)) for u, v in pairs]
        for _, first, second, pairs in axes
    ]


def sample_of(values: Any, axes: int, shape: tuple[int, ...], index: tuple[int, ...]) -> Any:
    """Those of one sample, with so many axes of their own, of a batch of this shape."""
    if values is None or isinstance(values, Mapping):
        return values
    core = np.shape(values)[np.ndim(values) - axes :]
    return np.broadcast_to(values, (*shape, *core))[index]


def without_none(**options: Any) -> dict[str, Any]:
    """The options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def by_keyword(method: Callable[..., Any]) -> Callable[..., Any]:
    """`method` with a plain message where options are given by position."""
    kinds = {
        name: parameter.kind for name, parameter in inspect.signature(method).parameters.items()
    }
    positional = [
        name for name, kind in kinds.items() if kind is not inspect.Parameter.KEYWORD_ONLY
    ]
    options = ", ".join(f"{name}=..." for name in kinds if name not in positional)

    @functools.wraps(method)
    def plain(*args: Any, **keywords: Any) -> Any:
        if len(args) > len(positional):
            call = f"{method.__name__}({', '.join(positional[1:])})"
            raise TypeError(f"{call} takes everything else by name: {options}")
        return method(*args, **keywords)

    return plain
