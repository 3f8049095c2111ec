"""The motion at the times asked for, as an `xarray.Dataset`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from itertools import compress
from typing import Any

import numpy as np

from symgen.errors import RequestError
from symgen.runtime.configuration import configuration_of
from symgen.simulation.accelerations import formulations_of, has_constraints
from symgen.simulation.inputs import INSTANTS
from symgen.simulation.integration import Integration, Solver
from symgen.simulation.mechanisms import loop_variables
from symgen.simulation.motion import RobotState, stacked
from symgen.support.arrays import Array

Table = dict[str, tuple[tuple[str, ...], Array, dict[str, str]]]

PAST = 1e-6
"""Least distance behind a limit (rad, m) of which there is a warning."""
MEANINGS = {
    "q": ("coordinates", "rad or m"),
    "qd": ("velocities", "rad/s or m/s"),
    "qdd": ("accelerations", "rad/s^2 or m/s^2"),
    "tau": ("joint torques or forces", "N m or N"),
}
OF_COORDINATES = ("time", "coordinate")
BY_PARAMETER = "parameter"


def sample(motion: RobotState, t: Array, vectors: Iterable[Array]) -> dict[str, Array]:
    """Record `motion`, one row for each of the times t (T,); RequestError where not finite."""
    names = [*MEANINGS, *(f"d{name}" for name in MEANINGS if motion.s)]
    rows = []
    for instant, vector in zip(t, vectors, strict=True):
        motion.move_to(instant, vector)
        row = {name: np.array(getattr(motion, name)) for name in names}
        finite = list(row.values())
        if motion.method.multipliers.size:
            row["loads"] = np.array(motion.options["loads"])
        if motion.objectives is not None:
            row |= motion.objectives.row
            finite += motion.objectives.of_chosen
        if not all(np.isfinite(array).all() for array in finite):
            raise RequestError(f"simulate: the motion is not finite at {motion.trouble(vector)}")
        rows.append(row)
    return stacked(rows)


def attributes(
    module: Any, motion: RobotState, solver: Solver, integration: Integration
) -> dict[str, Any]:
    """Describe how the motion was made; the formulations of accelerations where known."""
    formulations = formulations_of(module, motion.method.functions)
    return {
        "robot": module.name,
        **({"formulation": formulations} if formulations else {}),
        "method": ", ".join(integration.methods),
        "rtol": solver.rtol,
        "atol": solver.atol,
        "evaluations": integration.evaluations,
        **({} if integration.stiff_from is None else {"stiff_from": integration.stiff_from}),
    }


def warn_of_limits(module: Any, t: Array, q: Array, space: Any) -> None:
    """Warn of the first instant at which q (T, nq) at the times t (T,) leaves joint limits."""
    coordinates, limits = space.coordinates(q), getattr(module, "limits", {})
    lower, upper = limits.get("lower", -np.inf), limits.get("upper", np.inf)
    past = np.fmax(lower - coordinates, coordinates - upper) > PAST
    if past.any():
        row = int(past.any(axis=1).argmax())
        named = ", ".join(compress(module.coordinate_names, past.any(axis=0)))
        warnings.warn(
            f"simulate: limits are no stops: the motion leaves those of {named}, first at t = "
            f"{t[row]:.4g} s; a stop is a force of the model (see examples/bump_stop.yaml)",
            RuntimeWarning,
            stacklevel=4,
        )


def dataset(
    xarray: Any, module: Any, t: Array, rows: Mapping[str, Array], last: Array,
    motion: RobotState, facts: Mapping[str, Any],
) -> Any:  # fmt: skip
    """Return `rows` of T entries, and integrals at the end of `last` (k,), with named axes."""
    columns, objectives = motion.columns, motion.objectives
    for row in sorted({round(share * (len(t) - 1)) for share in INSTANTS if len(columns)}):
        for values in (motion.torques, motion.loads):
            values.check(float(t[row]), rows["q"][row], rows["qd"][row])
    warn_of_limits(module, t, rows["q"], configuration_of(module))
    variables: Table = {}
    coordinates: dict[str, Any] = {
        "time": ("time", t, {"units": "s"}),
        "coordinate": list(module.coordinate_names),
    }
    if len(columns):
        coordinates[BY_PARAMETER] = list(columns.names)
    for name, (meaning, units) in MEANINGS.items():
        axes = OF_COORDINATES
        if name == "q" and motion.space is not None:
            axes = ("time", "position")
            coordinates["position"] = list(module.position_names)
        variables[name] = (axes, rows[name], {"long_name": meaning, "units": units})
    for name, (meaning, _) in MEANINGS.items():
        if len(columns):
            about = {"long_name": f"derivatives of the {meaning} by each parameter"}
            variables[f"d{name}"] = ((*OF_COORDINATES, BY_PARAMETER), rows[f"d{name}"], about)
    if has_constraints(module):
        coordinates["constraint"] = list(module.constraint_names)
        if module.n_loops:
            coordinates["loop"] = list(module.loop_names)
            coordinates["component"] = ["fx", "fy", "fz", "nx", "ny", "nz"]
        variables |= loop_variables(module, t, rows, motion.options["parameters"])
    if objectives is not None:
        chosen = objectives.chosen
        coordinates["output"] = list(module.output_names)
        coordinates["objective"] = [module.output_names[k] for k in chosen]
        variables |= _of_objectives(rows, last, chosen, len(columns))
    return xarray.Dataset(variables, coordinates, dict(facts))


def _of_objectives(rows: Mapping[str, Array], last: Array, chosen: list[int], s: int) -> Table:
    k = len(chosen)
    integrals = last[len(last) - k * (1 + s) :]
    about = {"long_name": "outputs of the model"}
    table: Table = {
        "outputs": (("time", "output"), rows["outputs"], about),
        "end": (("objective",), rows["outputs"][-1, chosen], {"long_name": "values at the end"}),
        "integral": (("objective",), integrals[:k], {"long_name": "integrals over the time"}),
    }
    if s:
        gradients = rows["outputs_gradient"]
        by = f"by each {BY_PARAMETER}"
        table["outputs_gradient"] = (
            ("time", "output", BY_PARAMETER), gradients,
            {"long_name": f"derivatives of the outputs {by}"},
        )  # fmt: skip
        table["end_gradient"] = (
            ("objective", BY_PARAMETER), gradients[-1, chosen],
            {"long_name": f"derivatives of the values at the end {by}"},
        )  # fmt: skip
        table["integral_gradient"] = (
            ("objective", BY_PARAMETER), integrals[k:].reshape(k, s),
            {"long_name": f"derivatives of the integrals {by}"},
        )  # fmt: skip
    return table
