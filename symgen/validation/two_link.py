"""The planar two-link arm in closed form: an oracle that was typed once, from the literature.

Source: appendix of Y. Xiang, J. S. Arora, K. Abdel-Malek, "Optimization-based motion prediction of
mechanical systems: sensitivity analysis" (2009), eqs. (69) to (82).  The left sides of (75) and
(76) are read as derivatives with respect to the accelerations; as printed they lack the two dots.

The functions are generic: numbers, complex numbers, arrays and SymPy symbols go through the same
lines.  `math` is a namespace with `sin` and `cos` (`math`, `cmath`, `numpy`, `sympy`).

| paper | here | meaning |
| --- | --- | --- |
| theta and its time derivatives | q, qd, qdd | pairs: coordinates, velocities, accelerations |
| f | f | vertical load that pulls the tip down: the wrench [0, -f, 0, 0, 0, 0] on the forearm |
| L, l, m, I, g | fields of `Arm` | lengths, to the centres of mass, masses, inertias, gravity |
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy

Pair = Any
"""Two scalars, of any kind: a tuple, or an array whose first axis has length 2."""

PATH = Path(__file__).with_name("two_link.yaml")


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
    """The model file of this arm, shipped with symgen."""
    return PATH


def arm(values: Mapping[str, Any]) -> Arm:
    """The arm whose parameters have these values, by name (a description's `parameter_values`)."""
    return Arm(**{name: values[name] for name in Arm._fields})


def torques(p: Arm, q: Pair, qd: Pair, qdd: Pair, f: Any, math: Any = numpy) -> tuple[Any, Any]:
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
    p: Arm, q: Pair, qd: Pair, qdd: Pair, f: Any, math: Any = numpy
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
    p: Arm, q: Pair, qd: Pair, math: Any = numpy
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
    p: Arm, q: Pair, math: Any = numpy
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """d tau_i / d theta-ddot_j, the mass matrix: eqs. (75), (76), (81), (82)."""
    c2 = math.cos(q[1])
    tau1_qdd1 = p.I1 + p.I2 + p.m1 * p.l1**2 + p.m2 * (p.L1**2 + p.l2**2 + 2 * p.L1 * p.l2 * c2)
    tau1_qdd2 = p.I2 + p.m2 * p.l2**2 + p.m2 * p.L1 * p.l2 * c2
    tau2_qdd1 = p.I2 + p.m2 * p.l2**2 + p.m2 * p.L1 * p.l2 * c2
    tau2_qdd2 = p.I2 + p.m2 * p.l2**2 + 0 * c2
    return (tau1_qdd1, tau1_qdd2), (tau2_qdd1, tau2_qdd2)
