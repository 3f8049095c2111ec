"""The planar two-link arm in closed form: reference formulas from the literature.

Source: appendix of Y. Xiang, J. S. Arora, K. Abdel-Malek, "Optimization-based motion prediction of
mechanical systems: sensitivity analysis" (2009), eqs. (69) to (82).  The left sides of (75) and
(76) are read as derivatives with respect to the accelerations; as printed they lack the two dots.

The functions take numbers, complex numbers, arrays and SymPy symbols.  `math` is a namespace with
`sin` and `cos` (`math`, `cmath`, `numpy`, `sympy`).

| paper | here | meaning |
| --- | --- | --- |
| theta and its time derivatives | q, qd, qdd | pairs: coordinates, velocities, accelerations |
| f | f | vertical load that pulls the tip down: the wrench [0, -f, 0, 0, 0, 0] on the forearm |
| L, l, m, I, g | fields of `Arm` | lengths, to the centres of mass, masses, inertias, gravity |
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from symgen.description import read
from symgen.runtime import limits
from symgen.runtime.comparison import relative_error
from symgen.runtime.subjects import (
    Check,
    Evaluation,
    States,
    Subject,
    random_states,
    without_warnings,
)
from symgen.validation.validate import ValidationResult

Pair = Any
"""Two scalars, of any kind: a tuple, or an array whose first axis has length 2."""

PATH = Path(__file__).with_name("two_link.yaml")
PRINTED = "eqs. (69)-(82) of Xiang et al. 2009"
PRINTED_FUNCTIONS = (
    "inverse_dynamics", "inverse_dynamics_derivatives", "inverse_dynamics_load_derivatives",
    "mass_matrix", "coriolis_matrix", "bias_forces", "gravity_forces", "kinetic_energy",
    "forward_dynamics",
)  # fmt: skip
"""The functions that `validate_two_link` compares with the printed formulas."""


class Arm(NamedTuple):
    """Parameters of the arm (m, kg, kg m^2, m/s^2); inertias are about the centres of mass."""

    L1: Any
    L2: Any
    l1: Any
    l2: Any
    m1: Any
    m2: Any
    I1: Any
    I2: Any
    g: Any


def model_path() -> Path:
    """Return the model file of this arm, shipped with symgen."""
    return PATH


def arm(values: Mapping[str, Any]) -> Arm:
    """The arm whose parameters have these values, by name (a description's `parameter_values`)."""
    return Arm(**{name: values[name] for name in Arm._fields})


def torques(p: Arm, q: Pair, qd: Pair, qdd: Pair, f: Any, math: Any = np) -> tuple[Any, Any]:
    """Joint torques tau1, tau2: eqs. (69), (70)."""
    (q1, q2), (qd1, qd2), (qdd1, qdd2) = q, qd, qdd
    c1, c12 = math.cos(q1), math.cos(q1 + q2)
    c2, s2 = math.cos(q2), math.sin(q2)
    tau1 = (
        (p.I1 + p.I2 + p.m1 * p.l1**2 + p.m2 * (p.L1**2 + p.l2**2 + 2 * p.L1 * p.l2 * c2)) * qdd1
        + (p.I2 + p.m2 * p.l2**2 + p.m2 * p.L1 * p.l2 * c2) * qdd2
        - 2 * p.m2 * p.L1 * p.l2 * qd1 * qd2 * s2
        - p.m2 * p.L1 * p.l2 * qd2**2 * s2
        + p.m2 * p.g * p.l2 * c12
        + p.m1 * p.g * p.l1 * c1
        + p.m2 * p.g * p.L1 * c1
        + f * p.L2 * c12
        + f * p.L1 * c1
    )
    tau2 = (
        (p.I2 + p.m2 * p.l2**2) * qdd2
        + (p.I2 + p.m2 * p.l2**2 + p.m2 * p.L1 * p.l2 * c2) * qdd1
        + p.m2 * p.L1 * p.l2 * qd1**2 * s2
        + p.m2 * p.g * p.l2 * c12
        + f * p.L2 * c12
    )
    return tau1, tau2


def position_gradients(
    p: Arm, q: Pair, qd: Pair, qdd: Pair, f: Any, math: Any = np
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """d tau_i / d theta_j: eqs. (71), (72), (77), (78)."""
    (q1, q2), (qd1, qd2), (qdd1, qdd2) = q, qd, qdd
    s1, s12 = math.sin(q1), math.sin(q1 + q2)
    c2, s2 = math.cos(q2), math.sin(q2)
    tau1_q1 = (
        -p.m2 * p.g * p.l2 * s12
        - p.m1 * p.g * p.l1 * s1
        - p.m2 * p.g * p.L1 * s1
        - f * p.L2 * s12
        - f * p.L1 * s1
    )
    tau1_q2 = (
        (-2 * p.m2 * p.L1 * p.l2 * s2) * qdd1
        + (-p.m2 * p.L1 * p.l2 * s2) * qdd2
        - 2 * p.m2 * p.L1 * p.l2 * qd1 * qd2 * c2
        - p.m2 * p.L1 * p.l2 * qd2**2 * c2
        - p.m2 * p.g * p.l2 * s12
        - f * p.L2 * s12
    )
    tau2_q1 = -p.m2 * p.g * p.l2 * s12 - f * p.L2 * s12
    tau2_q2 = (
        (-p.m2 * p.L1 * p.l2 * s2) * qdd1
        + p.m2 * p.L1 * p.l2 * qd1**2 * c2
        - p.m2 * p.g * p.l2 * s12
        - f * p.L2 * s12
    )
    return (tau1_q1, tau1_q2), (tau2_q1, tau2_q2)


def velocity_gradients(
    p: Arm, q: Pair, qd: Pair, math: Any = np
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """d tau_i / d theta-dot_j: eqs. (73), (74), (79), (80)."""
    (_, q2), (qd1, qd2) = q, qd
    s2 = math.sin(q2)
    tau1_qd1 = -2 * p.m2 * p.L1 * p.l2 * qd2 * s2
    tau1_qd2 = -2 * p.m2 * p.L1 * p.l2 * qd1 * s2 - 2 * p.m2 * p.L1 * p.l2 * qd2 * s2
    tau2_qd1 = 2 * p.m2 * p.L1 * p.l2 * qd1 * s2
    tau2_qd2 = 0 * qd2
    return (tau1_qd1, tau1_qd2), (tau2_qd1, tau2_qd2)


def acceleration_gradients(
    p: Arm, q: Pair, math: Any = np
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """d tau_i / d theta-ddot_j, the mass matrix: eqs. (75), (76), (81), (82)."""
    c2 = math.cos(q[1])
    tau1_qdd1 = p.I1 + p.I2 + p.m1 * p.l1**2 + p.m2 * (p.L1**2 + p.l2**2 + 2 * p.L1 * p.l2 * c2)
    tau1_qdd2 = p.I2 + p.m2 * p.l2**2 + p.m2 * p.L1 * p.l2 * c2
    tau2_qdd1 = p.I2 + p.m2 * p.l2**2 + p.m2 * p.L1 * p.l2 * c2
    tau2_qdd2 = p.I2 + p.m2 * p.l2**2 + 0 * c2
    return (tau1_qdd1, tau1_qdd2), (tau2_qdd1, tau2_qdd2)


# ------------------------------------------------------------------------------- comparison


def validate_two_link(
    subjects: Sequence[Subject], of: Arm | None = None, samples: int = 1000
) -> ValidationResult:
    """Check subjects that were built from `two_link.yaml` against the printed formulas.

    `of` replaces the parameters of the file.  The states have gravity and the load
    [0, -f, 0, 0, 0, 0] at the tip.
    """
    start = time.perf_counter()
    states = random_states(2, 1, samples)
    states.loads[:, 0, [0, 2, 3, 4, 5]] = 0.0
    arm_of = of or arm(read(PATH).parameter_values)
    expected = printed_results(arm_of, states)
    rows: list[Check] = []
    with without_warnings():
        for subject in subjects:
            s = Evaluation(subject, states)
            for name, reference in expected.items():
                if s.has(name):
                    rows += _printed_rows(s, name, _compared(s, name, arm_of), reference)
    return ValidationResult(tuple(rows), time.perf_counter() - start)


def printed_results(p: Arm, states: States) -> dict[str, tuple[Any, ...]]:
    """Values of the printed formulas by function; see `_compared`."""
    q, qd, qdd = states.q.T, states.qd.T, states.qdd.T
    zero = 0.0 * q
    f = -states.loads[:, 0, 1]
    tau = _vector(torques(p, q, qd, qdd, f))
    slopes = (
        _matrix(position_gradients(p, q, qd, qdd, f)),
        _matrix(velocity_gradients(p, q, qd)),
        _matrix(acceleration_gradients(p, q)),
    )
    weight = _vector(torques(p, q, zero, zero, 0.0 * f))
    bias = _vector(torques(p, q, qd, zero, f))
    pull = _vector(torques(p._replace(g=0.0), q, zero, zero, 1.0 + 0.0 * f))
    convective = _vector(torques(p._replace(g=0.0), q, qd, zero, 0.0 * f))
    energy = 0.5 * np.einsum("si,sij,sj->s", states.qd, slopes[2], states.qd)

    return {
        "inverse_dynamics": (tau,),
        "inverse_dynamics_derivatives": (tau, *slopes),
        "inverse_dynamics_load_derivatives": (pull,),
        "mass_matrix": (slopes[2],),
        "coriolis_matrix": (convective,),
        "bias_forces": (bias,),
        "gravity_forces": (weight,),
        "kinetic_energy": (energy,),
        "forward_dynamics": (states.tau,),
    }


def _compared(s: Evaluation, name: str, p: Arm) -> tuple[Any, ...]:
    """Results of a function, or what the formulas state about them: d tau / d f of the load -f in
    the direction of y, torques C qd, and the torques of accelerations."""
    if name == "inverse_dynamics_load_derivatives":
        return (-np.asarray(s[name])[:, :, 0, 1],)
    if name == "coriolis_matrix":
        return (np.einsum("sij,sj->si", s[name], s.states.qd),)
    if name == "forward_dynamics":
        motion = s.states.q.T, s.states.qd.T, np.asarray(s[name]).T
        return (_vector(torques(p, *motion, -s.states.loads[:, 0, 1])),)
    return tuple(s.results(name))


def _printed_rows(
    s: Evaluation, name: str, values: Sequence[Any], references: Sequence[Any]
) -> Iterator[Check]:
    labels = ("", ", dtau_dq", ", dtau_dqd", ", dtau_dqdd")
    for label, value, reference in zip(labels, values, references, strict=False):
        error = relative_error(value, reference)
        what = f"{name}{label} = {PRINTED}"
        yield Check(what, s.subject.name, error, limits.TWO_LINK, len(s.states.q))


def _vector(pair: Sequence[Any]) -> Any:
    return np.stack([np.asarray(x) for x in pair], axis=-1)


def _matrix(rows: Sequence[Sequence[Any]]) -> Any:
    columns = np.broadcast_arrays(*(x for row in rows for x in row))
    return np.stack(columns, axis=-1).reshape(*columns[0].shape, 2, 2)
