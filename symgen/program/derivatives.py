"""The functions that are derivatives of other functions of the table.

Formulations write values; `symgen.formulations.direct` differentiates their statements.  For
formulations that give equations of motion, `symgen.formulations.implicit` derives the derivatives
of accelerations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from symgen.program.arguments import MOTION_MULTIPLIERS
from symgen.program.functions import INTERNAL_FUNCTIONS


@dataclass(frozen=True)
class Derivative:
    """Derivative of the results of the function `of`, by the arguments `by`.

    `of` is a function of the table, or one of `INTERNAL_FUNCTIONS`.

    `symbols` maps a result to its symbol in names of derivatives: ``dx_dq`` for ``position`` by
    ``q``.  Derivatives by arguments that a result does not depend on are left out.  With `along`,
    the derivatives are total ones by the parameters: it maps an argument to the one that holds its
    derivatives by them.

    Where one result is the rate of another, some derivatives are multiples of others: `rates` maps
    them to the name of the other and the factor.
    """

    of: str
    symbols: Mapping[str, str]
    by: tuple[str, ...]
    along: Mapping[str, str] = field(default_factory=dict)
    rates: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    symmetric: tuple[str, ...] = ()
    """Matrices that are symmetric: M, its inverse, second derivatives of a sum of constraints."""
    any_mode: bool = False
    """Whether rows may be differentiated in reverse where that takes fewer operations."""

    def of_velocities(self) -> Derivative:
        """Return the derivative where constraints of velocities are no rates of constraints."""
        is_plain = not self.of.startswith("constraint")
        return self if is_plain else replace(self, rates={}, symmetric=())

    @property
    def holds_motion(self) -> bool:
        """Whether the derivatives are partial ones at a fixed state."""
        return not self.along and set(self.by) <= {"parameters", MOTION_MULTIPLIERS.name}

    def name(self, result: str, by: str) -> str:
        """Return the name of the derivative of a result by an argument."""
        return f"d{self.symbols[result]}" if self.along else f"d{self.symbols[result]}_d{by}"


_INTERNAL = {function.name for function in INTERNAL_FUNCTIONS}
_STATE = ("q", "qd", "qdd")
_POINTS = {"position": "x", "velocity": "v", "acceleration": "a"}
_POINT_RATES = {"dv_dqd": ("dx_dq", 1), "da_dqd": ("dv_dq", 2), "da_dqdd": ("dx_dq", 1)}
_CONSTRAINTS = {"constraint_rates": "cd", "constraint_accelerations": "cdd"}


def _by_parameters() -> Iterator[tuple[str, Derivative]]:
    for of, symbols in (
        ("inverse_dynamics", {"tau": "tau"}),
        ("point_motion", _POINTS),
        ("kinetic_energy", {"kinetic_energy": "T"}),
        ("potential_energy", {"potential_energy": "V"}),
        ("forward_dynamics", {"qdd": "qdd"}),
        ("hybrid_dynamics", {"y": "y"}),
        ("constraints", {"constraints": "c"}),
        ("constraint_rates", {"constraint_rates": "cd"}),
        ("constraint_accelerations", _CONSTRAINTS),
        ("constraint_torques", {"constraint_torques": "p"}),
    ):
        name = of.removesuffix("s") if of in _INTERNAL else of
        yield f"{name}_parameter_derivatives", Derivative(of, symbols, ("parameters",))


DERIVATIVES: Mapping[str, Derivative] = {
    "inverse_dynamics_derivatives": Derivative(
        "inverse_dynamics", {"tau": "tau"}, _STATE, symmetric=("dtau_dqdd",)
    ),
    "joint_wrench_derivatives": Derivative("joint_wrenches", {"joint_wrenches": "w"}, _STATE),
    "point_motion_derivatives": Derivative("point_motion", _POINTS, _STATE, rates=_POINT_RATES),
    "forward_dynamics_derivatives": Derivative(
        "forward_dynamics", {"qdd": "qdd"}, ("q", "qd", "tau"), symmetric=("dqdd_dtau",)
    ),
    "forward_dynamics_sensitivities": Derivative(
        "forward_dynamics",
        {"qdd": "qdd"},
        ("parameters",),
        along={"q": "dq", "qd": "dqd", "tau": "dtau"},
    ),
    "hybrid_dynamics_derivatives": Derivative("hybrid_dynamics", {"y": "y"}, ("q", "qd", "x")),
    "constraint_rate_derivatives": Derivative(
        "constraint_rates", {"constraint_rates": "cd"}, ("q",)
    ),
    "constraint_acceleration_derivatives": Derivative(
        "constraint_accelerations", _CONSTRAINTS, ("q", "qd"), rates={"dcdd_dqd": ("dcd_dq", 2)}
    ),
    "constraint_torque_derivatives": Derivative(
        "constraint_torques", {"constraint_torques": "p"}, ("q",), symmetric=("dp_dq",)
    ),
    "outputs_derivatives": Derivative(
        "outputs", {"outputs": "o"}, ("t", *_STATE, "tau", "loads", "parameters"), any_mode=True
    ),
    "outputs_multiplier_derivatives": Derivative(
        "outputs", {"outputs": "o"}, (MOTION_MULTIPLIERS.name,), any_mode=True
    ),
    **dict(_by_parameters()),
}
"""Map of a function to its entry."""
