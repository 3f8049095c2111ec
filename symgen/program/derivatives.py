"""Functions that are derivatives of other functions of the table: of which, by what, in what names.

A formulation writes values.  `symgen.formulations.direct` derives these functions from what it
writes; `symgen.formulations.implicit` those of accelerations, where that takes fewer operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Derivative:
    """What a function is the derivative of: results of the function `of`, by the arguments `by`.

    `symbols` has, by result, what stands for it in the names of derivatives: ``dx_dq`` for
    ``position`` by ``q``.  Of each result those by the arguments that it does not depend on are
    left out.  `values` says that the results themselves are returned, too.  With `along`, the
    derivatives are total ones: it names the argument that says how an argument varies.
    """

    of: str
    symbols: Mapping[str, str]
    by: tuple[str, ...]
    values: bool = False
    along: Mapping[str, str] = field(default_factory=dict)

    def name(self, result: str, by: str) -> str:
        """Return what the derivative of a result by an argument is called."""
        return f"d{self.symbols[result]}" if self.along else f"d{self.symbols[result]}_d{by}"


INTERNAL = ("constraint_accelerations", "constraint_torques")
"""Functions that formulations write for the sake of their derivatives alone."""

_STATE = ("q", "qd", "qdd")
_POINTS = {"position": "x", "velocity": "v", "acceleration": "a"}


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
        ("constraint_accelerations", {"constraint_accelerations": "cdd"}),
        ("constraint_torques", {"constraint_torques": "p"}),
    ):
        name = of.removesuffix("s") if of in INTERNAL else of
        yield f"{name}_parameter_derivatives", Derivative(of, symbols, ("parameters",))


DERIVATIVES: Mapping[str, Derivative] = {
    "inverse_dynamics_derivatives": Derivative(
        "inverse_dynamics", {"tau": "tau"}, _STATE, values=True
    ),
    "joint_wrench_derivatives": Derivative(
        "joint_wrenches", {"joint_wrenches": "w"}, _STATE, values=True
    ),
    "point_motion_derivatives": Derivative("point_motion", _POINTS, _STATE),
    "forward_dynamics_derivatives": Derivative(
        "forward_dynamics", {"qdd": "qdd"}, ("q", "qd", "tau"), values=True
    ),
    "forward_dynamics_sensitivities": Derivative(
        "forward_dynamics",
        {"qdd": "qdd"},
        ("parameters",),
        values=True,
        along={"q": "dq", "qd": "dqd", "tau": "dtau"},
    ),
    "hybrid_dynamics_derivatives": Derivative(
        "hybrid_dynamics", {"y": "y"}, ("q", "qd", "x"), values=True
    ),
    "constraint_acceleration_derivatives": Derivative(
        "constraint_accelerations", {"constraint_accelerations": "cdd"}, ("q", "qd"), values=True
    ),
    "constraint_torque_derivatives": Derivative(
        "constraint_torques", {"constraint_torques": "p"}, ("q",), values=True
    ),
    **dict(_by_parameters()),
}
"""By name of the function."""

SYMMETRIC: Mapping[str, bool] = {"dtau_dqdd": True, "dqdd_dtau": False, "dp_dq": False}
"""Matrices that are symmetric (M and its inverse), each with whether the entries below the diagonal
take fewer operations.  An acceleration changes the torques of joints ahead by what it changes
behind; a torque changes the accelerations of joints behind by what it changes ahead."""
