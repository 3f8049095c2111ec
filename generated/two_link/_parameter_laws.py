"""Laws of derivatives by the runtime parameters, and of the outputs that a model asks for.

Each is a complex step of the function itself; those of forward and hybrid dynamics stand in
`symgen.validation.forward_laws`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import _limits as limits
from ._domain import where_both_are_defined, where_defined
from ._evaluation import (
    SEVERAL_RESULTS,
    Comparison,
    Evaluation,
    friction_by_velocity,
)


def parameter_derivatives(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Of torques, energies and the motion of points."""
    if not s.states.parameters.size:
        return
    for base in ("inverse_dynamics", "kinetic_energy", "potential_energy", "point_motion"):
        name = f"{base}_parameter_derivatives"
        if not (s.has(name) and lens.has(base)):
            continue
        labels = SEVERAL_RESULTS.get(name, ("",))
        for k, (label, value) in enumerate(zip(labels, s.results(name), strict=True)):
            what = f"{name}{', ' * bool(label)}{label} = complex step of {base}"
            scale = [friction_by_velocity(s)] if base == "inverse_dynamics" else []
            yield what, limits.derivative, value, lens.slope(base, "parameters", k), *scale


def outputs(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Their derivatives by everything that they depend on."""
    name = "outputs_derivatives"
    if not s.has(name):
        return
    values, *slopes = s.results(name)
    if s.has("outputs"):
        both = where_both_are_defined(name, values, s["outputs"])
        yield f"{name}, outputs = outputs", limits.agreement, *both
    arguments = ("t", "q", "qd", "qdd", "tau", "loads", "parameters")
    for label, argument, slope in zip(SEVERAL_RESULTS[name][1:], arguments, slopes, strict=True):
        if lens.has("outputs") and vars(s.states)[argument].size:
            both = where_defined(lens, name, f", {label}", slope, lens.slope("outputs", argument))
            yield f"{name}, {label} = complex step of outputs", limits.derivative, *both


PARAMETER_LAWS: tuple[Callable[[Evaluation, Evaluation], Iterator[Comparison]], ...] = (
    parameter_derivatives, outputs,
)  # fmt: skip
