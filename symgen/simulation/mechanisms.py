"""Mechanisms with closed loops: the start of a motion, multipliers and wrenches in the loops.

Positions of the start are assembled, and its velocities replaced by the nearest ones, in kinetic
energy, that keep the loops closed, with driven coordinates held (`Mechanism.assemble`).  Loops stay
closed because their second rates are 0, up to the errors of the integrator, the `violation` of the
result.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symgen.errors import RequestError
from symgen.runtime.closure import RANK, holdable, independent, position_jacobian, row_sizes
from symgen.runtime.mechanism import CHANGED
from symgen.simulation.arguments import Columns
from symgen.support.arrays import Array

ALWAYS = (
    "constraints", "constraint_jacobian", "constraint_rates", "constraint_bias", "mass_matrix",
    "bias_forces",
)  # fmt: skip
DERIVED = ("inverse_dynamics_derivatives", "constraint_torque_derivatives")
BY_STATE = ("constraint_acceleration_derivatives",)
BY_RATE = ("constraint_rate_derivatives",)
BY_PARAMETER = tuple(
    f"{name}_parameter_derivatives"
    for name in (
        "constraints", "constraint_rates", "constraint_acceleration", "constraint_torque",
        "inverse_dynamics",
    )
)  # fmt: skip

_SMALL, _NAMED = 0.1, 3
"""Share of its maximum to which a singular value falls near a singular position; times named."""


def missing_functions(module: Any, columns: Columns, in_steps: bool) -> list[str]:
    """Return functions that a simulation of a mechanism needs and that were not built."""
    names = [*ALWAYS, *(["loop_wrenches"] if module.n_loops else [])]
    names += DERIVED if in_steps or len(columns) else ()
    names += BY_STATE if len(columns) else ()
    names += BY_RATE if len(columns) or (in_steps and any(module._velocity_rows)) else ()
    names += BY_PARAMETER if columns.indices.size else ()
    return [name for name in names if not hasattr(module, name)]


def refuse_missing(module: Any, missing: Sequence[str], caller: str = "simulate") -> None:
    """Raise `RequestError` for the functions that `caller` needs and that were not built."""
    if missing:
        built = ",".join([*getattr(module, "functions", ()), *missing])
        raise RequestError(
            f"{caller} needs {', '.join(missing)}: not built; build with: symgen build MODEL "
            f"--functions {built}"
        )


def start_names(module: Any, q0: Any, qd0: Any) -> list[Sequence[str]]:
    """Return names in q and in qd of the values that q0 and qd0 of a caller contain.

    Those of None, the default, are the driven coordinates that `initial` of the model file names.
    """
    names: list[Sequence[str]] = [module.position_names, module.coordinate_names]
    for k, (key, value) in enumerate((("q", q0), ("qd", qd0))):
        if isinstance(value, Mapping):
            names[k] = list(value)
        elif value is None and q0 is None:
            names[k] = _drives(module, key)
        elif value is None:
            names[k] = ()
    return names


def closed_start(
    module: Any, q0: Array, qd0: Array, t: float, parameters: Array,
    named: Sequence[Sequence[str]], by_name: Any,
) -> tuple[Array, Array]:  # fmt: skip
    """Return positions (nq,) and velocities (n,) at the start that keep the constraints.

    `by_name` is q0 where it was a dict, which keeps to the initial branch.  Warnings name the
    values of q0 and qd0 that change, of those that are `named` (`start_names`).
    """
    options = {"t": t, **({"parameters": parameters} if parameters.size else {})}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # those below name these values, too
        try:
            start = by_name if isinstance(by_name, Mapping) else q0
            q = np.asarray(module.assemble(start, **options))
        except ValueError as error:
            raise RequestError(f"simulate: q0: {error}") from None
        try:
            qd = np.asarray(module.closed_velocities(q, qd0, **options))
        except np.linalg.LinAlgError as error:
            raise RequestError(f"simulate: qd0: {error}") from None
    normal = module.normalize(q0)
    for name, chosen, names, old, new in (
        ("q0", named[0], module.position_names, normal, q),
        ("qd0", named[1], module.coordinate_names, qd0, qd),
    ):
        changed = [
            f"{names[k]} at {new[k]:.6g}, not {old[k]:.6g}"
            for k in np.flatnonzero(np.abs(new - old) > CHANGED)
            if names[k] in chosen
        ]
        if changed:
            warnings.warn(
                f"simulate: {name} leaves the loops open; the motion begins with "
                f"{'; '.join(changed)}",
                RuntimeWarning,
                stacklevel=3,
            )
    return q, qd


def _drives(module: Any, *keys: str) -> list[str]:
    """Return the driven coordinates that `initial` of the model file names under these keys."""
    return [name for key in keys for name, where in module._initial_drives if where == key]


def held_at_start(module: Any, by_name: Any) -> tuple[list[str], list[str]]:
    """Return the coordinates, and the velocities, that `assemble` and `closed_velocities` hold.

    `by_name` is q0 of the caller.
    """
    of_q = list(by_name) if isinstance(by_name, Mapping) else _drives(module, "q")
    return of_q, _drives(module, "qd", "q")


def closed_sensitivities(
    module: Any, q: Array, qd: Array, t: float, parameters: Array, columns: Columns,
    held: tuple[list[str], list[str]] = ([], []),
) -> None:  # fmt: skip
    """Replace sensitivities of the start q (nq,), qd (n,) by the nearest with closed loops.

    Those of coordinates and velocities that are `held` stay where the others can close the loops.

    With c = 0 and c' = 0 at all values of the parameters, dc/dq dq = -dc/dp, and J dqd =
    -dc'/dp - dc'/dq dq, where dc/dq is J without the rows of constraints of velocities.
    """
    options = {"t": t, **({"parameters": parameters} if parameters.size else {})}
    J, positions = module.constraint_jacobian(q, **options), position_jacobian(module, q, options)
    _, by_q = module.constraint_rate_derivatives(q, qd, **options)
    sizes = row_sizes(module._row_units, J)[:, np.newaxis]
    numbers_of = {name: k for k, name in enumerate(module.coordinate_names)}
    stays = [
        holdable(rows / sizes, [numbers_of[name] for name in names if name in numbers_of])
        for rows, names in zip((positions, J), held, strict=True)
    ]
    left, rates = positions @ columns.dq0, J @ columns.dqd0
    chosen, indices = columns.parameters, columns.indices
    if indices.size:
        left[:, indices] += module.constraints_parameter_derivatives(q, **options)[:, chosen]
        explicit = module.constraint_rates_parameter_derivatives(q, qd, **options)
        rates[:, indices] += explicit[:, chosen]
    terms = np.abs(positions) @ np.abs(columns.dq0) + np.abs(left)
    change = np.linalg.pinv(positions * ~stays[0] / sizes, rcond=RANK) @ (left / sizes)
    columns.dq0[...] -= change
    missed = np.abs(left - positions @ change) / sizes > RANK * (terms / sizes).max(axis=0)
    if missed.any():
        name = columns.names[int(missed.any(axis=0).argmax())]
        raise RequestError(
            f"simulate: no motion keeps the loops closed where {name} changes: constraints "
            "contradict one another then, and there is no such sensitivity"
        )
    rates += by_q @ columns.dq0
    columns.dqd0[...] -= np.linalg.pinv(J * ~stays[1] / sizes, rcond=RANK) @ (rates / sizes)


def warn_of_branching(module: Any, t: Array, q: Array, options: Mapping[str, Array]) -> None:
    """Warn of singular positions that a motion q (T, nq) at the times t (T,) passes.

    There the smallest singular value of J falls to 0 and rises again, and branches may meet.
    """
    J = module.constraint_jacobian(q, t=t, **options)
    J = J / row_sizes(module._row_units, J)[..., np.newaxis]
    rank = int(independent(J[0])[2].sum())
    least = np.linalg.svd(J, compute_uv=False)[:, rank - 1] if rank else np.ones(len(t))
    rates = np.diff(least) / np.diff(t)
    with np.errstate(divide="ignore", invalid="ignore"):
        # zeros of the straight lines through two values before an interval and behind it
        before, behind = (
            t[k] - least[k] / rate
            for k, rate in ((slice(1, -2), rates[:-2]), (slice(2, -1), rates[2:]))
        )
    margin = 0.25 * np.diff(t)[1:-1]
    falls = (rates[:-2] < 0) & (before < t[2:-1] + margin)
    rises = (rates[2:] > 0) & (behind > t[1:-2] - margin)
    small = np.minimum(least[1:-2], least[2:-1]) < _SMALL * least.max()
    at = np.flatnonzero(falls & rises & small)
    passed = [f"{(before[k] + behind[k]) / 2:.4g}" for k in at[np.diff(at, prepend=-2) > 1]]
    if passed:
        more = f" and {len(passed) - _NAMED} later times" if len(passed) > _NAMED else ""
        warnings.warn(
            f"simulate: at t = {', '.join(passed[:_NAMED])} s{more} the mechanism passes a "
            "singular position (the smallest singular value of its constraint Jacobian is near 0), "
            "where branches of the motion may meet: errors of the integration choose the branch; "
            "compare q with the branch you expect, or keep the motion off such positions",
            RuntimeWarning,
            stacklevel=5,
        )


def loop_variables(
    module: Any, t: Array, rows: Mapping[str, Array], parameters: Array
) -> dict[str, tuple[tuple[str, ...], Array, dict[str, str]]]:
    """Return multipliers, wrenches in loops and violation at the times t (T,), as variables."""
    options = {"parameters": parameters} if parameters.size else {}
    q, qd, tau, loads = (rows[name] for name in ("q", "qd", "tau", "loads"))
    multipliers = rows.get("multipliers")
    if multipliers is None:
        motion = module.constrained_forward_dynamics(q, qd, tau, t=t, loads=loads, **options)
        multipliers = motion.multipliers
    warn_of_branching(module, t, q, options)
    violation = np.abs(module.constraints(q, t=t, **options)).max(axis=-1)
    variables = {
        "multipliers": (
            ("time", "constraint"), multipliers, {"long_name": "multipliers of constraints"},
        ),
        "violation": (("time",), violation, {"long_name": "largest constraint"}),
    }  # fmt: skip
    for name, values in rows.items():
        if name.endswith("_multipliers") or name == "dmultipliers":
            axes = ("time", "constraint", "parameter")[: values.ndim]
            variables[name] = (axes, values, {"long_name": name.replace("_", " ")})
    if module.n_loops:
        wrenches = np.asarray(module.loop_wrenches(q, multipliers, **options))
        about = {"long_name": "force and moment on the second link of each loop", "units": "N, N m"}
        variables["loop_wrenches"] = (("time", "loop", "component"), wrenches, about)
    return variables
