"""Relations between the functions of a robot, as tables.

Each relation says: result `result` of `function` is result `base_result` of `base`, with the inputs
in `at_zero` set to 0, or its derivative with respect to the input `by`, or to `TIME`.  Functions
may be compositions (`symgen.exact.compositions`).  Results are counted as in
`symgen.program.functions`, the hidden ones after the others.  The derivative of an array of shape r
by an input of shape s has the shape (*r, *s).
"""

from __future__ import annotations

from dataclasses import dataclass

from symgen.exact import compositions as composition
from symgen.program.functions import function_named
from symgen.runtime.calls import SLOPES

TIME = "time"
"""Derivative in time: q changes at the rate qd, and qd at the rate qdd."""

PARAMETERS = "parameters"
"""Derivative by the runtime parameters."""

SENSITIVITY = "parameters and varying state"
"""Total derivative by the runtime parameters, with which q, qd and tau vary."""

DIRECTION = "direction"
"""Derivative along the direction among the arguments of the function."""

WEIGHT = "gravity"
"""In `at_zero`: the acceleration of gravity, which is no input but part of the model."""


@dataclass(frozen=True)
class Relation:
    """One relation: see the module; `by` is empty for the result itself.

    With `symmetric`, slopes by the q of quaternions are made symmetric, as second derivatives along
    the exponential are.
    """

    function: str
    result: int
    base: str
    base_result: int = 0
    by: str = ""
    at_zero: tuple[str, ...] = ()
    symmetric: bool = False


def _derivatives(
    function: str, base: str, *pairs: tuple[int, str], first: int = 0
) -> tuple[Relation, ...]:
    """Results first, first + 1, ... are derivatives of (result of base) by (input)."""
    return tuple(
        Relation(function, number, base, result, by)
        for number, (result, by) in enumerate(pairs, start=first)
    )


def _changes(function: str, base: str, count: int) -> tuple[Relation, ...]:
    """Results are derivatives of a gradient along the direction of the function."""
    return tuple(
        Relation(function, number, base, number, DIRECTION, symmetric=number == 0)
        for number in range(count)
    )


def _of_table(name: str) -> tuple[Relation, ...]:
    """Return a function of `SLOPES`, its hidden results included."""
    base, by = SLOPES[name]
    function, pairs = function_named(name), [(result, argument) for argument, result in by]
    values = len(function.results) - len(by)
    relations: tuple[Relation, ...] = ()
    if values and base != name:
        relations = (Relation(name, 0, base),)
    relations += _derivatives(name, base, *pairs, first=values)
    return relations + _hidden(name, base) if function.solves else relations


def _hidden(name: str, base: str) -> tuple[Relation, ...]:
    """Hidden results of a function that solves are those of its base."""
    first = len(function_named(name).results)
    return tuple(Relation(name, first + k, base, 1 + k) for k in range(2))


_HESSIAN = "inverse_dynamics_hessian"
_BY_MOTION = ((0, "q"), (0, "qd"), (0, "qdd"))
_BY_MODEL = ((0, "loads"), (0, PARAMETERS))

RELATIONS: tuple[Relation, ...] = (
    *(relation for name in SLOPES for relation in _of_table(name)),
    Relation(_HESSIAN, 0, composition.GRADIENT_BY_Q.name, by="q", symmetric=True),
    *_derivatives(_HESSIAN, composition.GRADIENT_BY_Q.name, *_BY_MOTION[1:], first=1),
    *_derivatives(_HESSIAN, composition.GRADIENT_BY_QD.name, (0, "qd"), first=3),
    Relation("inverse_dynamics_jvp", 0, "inverse_dynamics"),
    Relation("inverse_dynamics_jvp", 1, "inverse_dynamics", by=DIRECTION),
    *_derivatives("inverse_dynamics_vjp", composition.SUM_OF_TORQUES.name, *_BY_MOTION, *_BY_MODEL),
    *_changes("inverse_dynamics_hvp", "inverse_dynamics_vjp", 5),
    Relation("bias_forces", 0, "inverse_dynamics", at_zero=("qdd",)),
    Relation("point_motion", 1, "point_motion", 0, TIME),
    Relation("point_motion", 2, "point_motion", 1, TIME),
    Relation("link_motion", 1, "link_motion", 0, TIME),
    *_derivatives("jacobians", "link_motion", (0, "qd")),
    *_derivatives("centroidal_momentum_matrix", "centroidal_momentum", (0, "qd")),
    Relation("centroidal_momentum_rate", 0, "centroidal_momentum", 0, TIME),
    Relation(composition.REGRESSOR.name, 0, "inverse_dynamics", at_zero=("loads",)),
    Relation(composition.WRENCHES.name, 0, "inverse_dynamics"),
    Relation(composition.PARTS.name, 0, "inverse_dynamics"),
    *_derivatives(composition.CORIOLIS.name, "inverse_dynamics", (0, "qd")),
    *_derivatives(composition.GRAVITY.name, "potential_energy", (0, "q")),
    *_derivatives(composition.POSES.name, "forward_kinematics", (0, "q")),
    Relation("kinetic_energy", 0, composition.ENERGY.name),
    Relation(composition.MOTION.name, 0, composition.TORQUES.name),
    Relation("forward_dynamics", 1, composition.PIVOTS.name),
    Relation("forward_dynamics", 2, composition.DIAGONAL.name),
    Relation("forward_dynamics_jvp", 0, "forward_dynamics"),
    Relation("forward_dynamics_jvp", 1, "forward_dynamics", by=DIRECTION),
    *_hidden("forward_dynamics_jvp", "forward_dynamics"),
    *_derivatives(
        "forward_dynamics_vjp", composition.SUM_OF_ACCELERATIONS.name,
        (0, "q"), (0, "qd"), (0, "tau"), *_BY_MODEL,
    ),
    *_hidden("forward_dynamics_vjp", "forward_dynamics"),
    *_changes("forward_dynamics_hvp", "forward_dynamics_vjp", 5),
    *_hidden("forward_dynamics_hvp", "forward_dynamics"),
    Relation("forward_dynamics_sensitivities", 0, "forward_dynamics"),
    Relation("forward_dynamics_sensitivities", 1, "forward_dynamics", by=SENSITIVITY),
    *_hidden("forward_dynamics_sensitivities", "forward_dynamics"),
    Relation(composition.HYBRID_MOTION.name, 0, composition.HYBRID_TORQUES.name),
    Relation("hybrid_dynamics", 1, composition.FREE_PIVOTS.name),
    Relation("hybrid_dynamics", 2, composition.FREE_DIAGONAL.name),
    Relation("outputs", 0, composition.OUTPUTS.name),
    *_derivatives("outputs_multiplier_derivatives", "outputs", (0, "motion_multipliers")),
    Relation(composition.RATES.name, 0, "constraints", 0, TIME),
    Relation(composition.VELOCITIES.name, 0, composition.RELATED.name),
    Relation("constraint_bias", 0, "constraint_rates", 0, TIME),
    Relation("constraint_acceleration_derivatives", 0, "constraint_rates", 0, TIME),
)  # fmt: skip

_EVERYWHERE = (
    "mass_matrix", "kinetic_energy", "potential_energy", "forward_kinematics", "jacobians",
    "center_of_mass", "center_of_mass_jacobian", "centroidal_momentum",
    "centroidal_momentum_matrix", "kinetic_energy_parameter_derivatives",
    "potential_energy_parameter_derivatives",
)  # fmt: skip
"""Functions whose statements do not depend on gravity, loads or accelerations."""

SAME_STATEMENTS: tuple[tuple[str, ...], ...] = tuple((*functions, *_EVERYWHERE) for functions in (
    (
        "inverse_dynamics", "inverse_dynamics_derivatives", "inverse_dynamics_hessian",
        "joint_wrenches", "joint_wrench_derivatives", "regressor",
        "inverse_dynamics_parameter_derivatives", "centroidal_momentum_rate", "torque_parts",
    ),
    (
        "point_motion", "point_motion_derivatives", "point_motion_parameter_derivatives",
        "inverse_dynamics_load_derivatives", "link_motion",
    ),
    *(
        (base, *(f"{base}_{kind}" for kind in ("jvp", "vjp", "hvp")))
        for base in ("inverse_dynamics", "forward_dynamics")
    ),
    ("coriolis_matrix",),
    ("bias_forces", "forward_dynamics"),
    ("forward_dynamics_derivatives", "forward_dynamics_sensitivities"),
    ("forward_dynamics_parameter_derivatives",),
    ("hybrid_dynamics",),
    ("hybrid_dynamics_derivatives",),
    ("hybrid_dynamics_parameter_derivatives",),
    ("outputs", "outputs_derivatives"),
    ("gravity_forces",),
))  # fmt: skip
"""Functions whose programs by one formulation share a recursion: where statements of one name
differ between two of them, one is wrong."""


@dataclass(frozen=True)
class Rerun:
    """`function` runs the recursion of `base` with the inputs in `at_zero` set to 0.

    There, the names of its statements end in `suffix`; those of `base` do not.
    """

    function: str
    base: str
    at_zero: tuple[str, ...] = ()
    suffix: str = ""


def _inverse_dynamics(function: str, *at_zero: str, suffix: str = "") -> Rerun:
    return Rerun(function, "inverse_dynamics", at_zero, suffix)


RERUNS: tuple[Rerun, ...] = (
    _inverse_dynamics("bias_forces", "qdd"),
    _inverse_dynamics("forward_dynamics", "qdd"),
    _inverse_dynamics("gravity_forces", "qd", "qdd", "loads"),
    _inverse_dynamics("coriolis_matrix", WEIGHT, "qdd", "loads"),
    _inverse_dynamics("torque_parts", WEIGHT, "qd", "loads", suffix="_inertial"),
    _inverse_dynamics("torque_parts", WEIGHT, "qdd", "loads", suffix="_velocity"),
    _inverse_dynamics("torque_parts", "qd", "qdd", "loads", suffix="_gravity"),
    _inverse_dynamics("torque_parts", WEIGHT, "qd", "qdd", suffix="_loads"),
    _inverse_dynamics("centroidal_momentum_rate", WEIGHT, "loads", suffix="_free"),
    Rerun("forward_dynamics_parameter_derivatives", "forward_dynamics", suffix="_bias"),
    Rerun("hybrid_dynamics_parameter_derivatives", "hybrid_dynamics", suffix="_bias"),
)
"""Where statements of the two differ, one is wrong, as with `SAME_STATEMENTS`."""
