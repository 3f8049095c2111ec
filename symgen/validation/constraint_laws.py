"""Laws of what closes the loops of a mechanism: Jacobians, rates and derivatives.

Rates of the constraints are taken along q' = qd, t' = 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from symgen.validation import limits
from symgen.validation.evaluation import Comparison, Evaluation, times


def constraints(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """The Jacobian, and both rates."""
    if lens.has("constraints"):
        if s.has("constraint_jacobian"):
            expected = lens.slope("constraints", "q")
            what = "constraint_jacobian = complex step of constraints"
            yield what, limits.derivative, s["constraint_jacobian"], expected
        if s.has("constraint_rates"):
            what = "constraint_rates = rate of constraints"
            yield what, limits.physics, s["constraint_rates"], lens.rate("constraints")
    if lens.has("constraint_rates") and s.has("constraint_bias"):
        still = np.zeros_like(s.states.qdd)
        expected = lens.rate("constraint_rates", qdd=still)
        what = "constraint_bias = rate of constraint_rates at qdd = 0"
        yield what, limits.physics, s["constraint_bias"], expected


def accelerations(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Second rates: J qdd + bias, and their derivatives."""
    name = "constraint_acceleration_derivatives"
    if not s.has(name):
        return
    value, *slopes = s.results(name)
    if lens.has("constraint_jacobian", "constraint_bias"):
        pushed = times(lens["constraint_jacobian"], s.states.qdd)
        bias = np.asarray(lens["constraint_bias"])
        what = f"{name}, value = constraint_jacobian qdd + constraint_bias"
        yield what, limits.physics, value, pushed + bias, pushed, bias
    for argument, slope in zip(("q", "qd"), slopes, strict=True) if lens.has(name) else ():
        what = f"{name}, dcdd_d{argument} = complex step of the value"
        yield what, limits.derivative, slope, lens.slope(name, argument)


def torques(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """J^T multipliers, and their derivatives."""
    name = "constraint_torque_derivatives"
    if not s.has(name):
        return
    value, slope = s.results(name)
    if lens.has("constraint_jacobian"):
        lever = np.swapaxes(np.asarray(lens["constraint_jacobian"]), -1, -2)
        multipliers = s.states.constraint_multipliers
        parts = times(np.abs(lever), np.abs(multipliers))
        what = f"{name}, value = constraint_jacobian' multipliers"
        yield what, limits.physics, value, times(lever, multipliers), parts
    if lens.has(name):
        what = f"{name}, dp_dq = complex step of the value"
        yield what, limits.derivative, slope, lens.slope(name, "q")


def by_parameters(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Derivatives of constraints, their rates, and torques."""
    pairs = {
        "constraints": "constraints",
        "constraint_rates": "constraint_rates",
        "constraint_acceleration": "constraint_acceleration_derivatives",
        "constraint_torque": "constraint_torque_derivatives",
    }
    for what, base in pairs.items():
        name = f"{what}_parameter_derivatives"
        if s.has(name) and lens.has(base) and s.states.parameters.size:
            expected = lens.slope(base, "parameters")
            yield f"{name} = complex step of {base}", limits.derivative, s[name], expected


CONSTRAINT_LAWS: tuple[Callable[[Evaluation, Evaluation], Iterator[Comparison]], ...] = (
    constraints,
    accelerations,
    torques,
    by_parameters,
)
