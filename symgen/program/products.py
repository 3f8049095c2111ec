"""Functions that multiply derivatives of inverse or forward dynamics by a vector, without a matrix.

Programs of the base function are differentiated along one direction (``jvp``, a Jacobian times a
vector), backwards from one sum (``vjp``, a vector times a Jacobian), or first backwards and then
along (``hvp``, the Hessian of that sum times a vector): see `symgen.formulations.products`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from symgen.program.arguments import ALL_FREE, LOADS, QD, QDD, TAU, Argument, Q
from symgen.program.function import Function

DQ = Argument("dq", ("n",), "direction: how q changes, in its tangent space, as qd says")
DQD = Argument("dqd", ("n",), "direction: how qd changes")
DQDD = Argument("dqdd", ("n",), "direction: how qdd changes")
DTAU = Argument("dtau", ("n",), "direction: how tau changes")
DLOADS = Argument("dloads", ("n_loads", 6), "direction: how the loads change")
DPARAMETERS = Argument(
    "dparameters", ("n_parameters",), "direction: how the runtime parameters change"
)
MULTIPLIERS = Argument("multipliers", ("n",), "weights of the results in their sum")


@dataclass(frozen=True)
class Product:
    """Product of a vector and derivatives of the first result of the function `of`.

    `by` maps arguments to the names of their directions.  A product `backwards` is the gradient of
    a sum; one `along` is a derivative along a direction.
    """

    of: str
    result: str
    by: Mapping[str, str]
    backwards: bool = False
    along: bool = False

    @property
    def gradients(self) -> dict[str, str]:
        """Names of the derivatives of the sum, or of their changes, by argument."""
        end = "_along" if self.along else ""
        return {argument: f"gradient_{argument}{end}" for argument in self.by}


_SAME = {"loads": "dloads", "parameters": "dparameters"}
_BY_MOTION = {"q": "dq", "qd": "dqd", "qdd": "dqdd", **_SAME}
_BY_TORQUE = {"q": "dq", "qd": "dqd", "tau": "dtau", **_SAME}

PRODUCTS: Mapping[str, Product] = {
    f"{of}_{kind}": Product(of, result, by, kind in ("vjp", "hvp"), kind in ("jvp", "hvp"))
    for of, result, by in (
        ("inverse_dynamics", "tau", _BY_MOTION),
        ("forward_dynamics", "qdd", _BY_TORQUE),
    )
    for kind in ("jvp", "vjp", "hvp")
}
"""Products by function name."""

NEEDED: Mapping[str, tuple[str, ...]] = {
    "inverse_dynamics_hvp": ("inverse_dynamics_vjp",),
    "forward_dynamics_hvp": ("forward_dynamics_vjp", "forward_dynamics"),
}
"""Functions that validation compares Hessians times a direction with."""


def _gradients(of: str, argument: str) -> tuple[Argument, ...]:
    """Gradients of multipliers . `of` by all arguments, `argument` being the third."""
    total = f"d (multipliers . {of}) / d"
    return (
        Argument("gradient_q", ("n",), f"[j] = {total} q_j, in the tangent space of q"),
        Argument("gradient_qd", ("n",), f"[j] = {total} qd_j"),
        Argument(f"gradient_{argument}", ("n",), f"[j] = {total} {argument}_j"),
        Argument("gradient_loads", ("n_loads", 6), f"[k, c] = {total} loads[k, c]"),
        Argument("gradient_parameters", ("n_parameters",), f"[k] = {total} parameters[k]"),
    )


def _curvatures(of: str, argument: str) -> tuple[Argument, ...]:
    """Derivatives of these gradients along a direction."""
    hessian = f"times the direction, H the Hessian of multipliers . {of}"
    return tuple(
        Argument(
            f"{x.name}_along",
            x.shape,
            f"H_{x.name.removeprefix('gradient_')} {hessian}"
            + (", in the tangent space of q" if x.name == "gradient_q" else ""),
        )
        for x in _gradients(of, argument)
    )


# fmt: off
INVERSE_PRODUCTS: tuple[Function, ...] = (
    Function("inverse_dynamics_jvp",
        "Joint torques, and their derivative along one direction of all that they depend on.",
        (Q, QD, QDD, DQ, DQD, DQDD),
        (TAU, Argument("tau_along", ("n",), "derivative of tau along the direction")),
        (LOADS, DLOADS, DPARAMETERS), on_request=True),
    Function("inverse_dynamics_vjp",
        "Gradient of multipliers . tau with respect to all that the joint torques depend on.",
        (Q, QD, QDD, MULTIPLIERS), _gradients("tau", "qdd"), (LOADS,), record="TorqueGradient",
        on_request=True),
    Function("inverse_dynamics_hvp",
        "Hessian of multipliers . tau with respect to all that the joint torques depend on, times "
        "one direction.",
        (Q, QD, QDD, MULTIPLIERS, DQ, DQD, DQDD), _curvatures("tau", "qdd"),
        (LOADS, DLOADS, DPARAMETERS), record="TorqueGradient", on_request=True),
)

FORWARD_PRODUCTS: tuple[Function, ...] = (
    Function("forward_dynamics_jvp",
        "Accelerations, and their derivative along one direction of all that they depend on.",
        (Q, QD, TAU, DQ, DQD, DTAU),
        (QDD, Argument("qdd_along", ("n",), "derivative of qdd along the direction")),
        (LOADS, DLOADS, DPARAMETERS), hidden=ALL_FREE, on_request=True),
    Function("forward_dynamics_vjp",
        "Gradient of multipliers . qdd with respect to all that the accelerations depend on.",
        (Q, QD, TAU, MULTIPLIERS), _gradients("qdd", "tau"), (LOADS,), hidden=ALL_FREE,
        record="AccelerationGradient", on_request=True),
    Function("forward_dynamics_hvp",
        "Hessian of multipliers . qdd with respect to all that the accelerations depend on, times "
        "one direction.",
        (Q, QD, TAU, MULTIPLIERS, DQ, DQD, DTAU), _curvatures("qdd", "tau"),
        (LOADS, DLOADS, DPARAMETERS), hidden=ALL_FREE, record="AccelerationGradient",
        on_request=True),
)
# fmt: on
