"""Named tuples that functions return; generated packages define the same ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def record_fields(record: str) -> tuple[str, ...]:
    """Return the field names of the named tuple `record`; () for ""."""
    return tuple(globals()[record]._fields) if record else ()


class TorqueParts(NamedTuple):
    """Parts of the joint torques, (..., n) each; their sum is tau of inverse_dynamics."""

    inertial: Array
    centrifugal: Array
    coriolis: Array
    gravity: Array
    loads: Array
    joint_terms: Array


class FrameMotion(NamedTuple):
    """Pose (..., 4, 4), velocity and acceleration (..., 6), [linear; angular], of a link frame."""

    pose: Array
    velocity: Array
    acceleration: Array


class InverseKinematics(NamedTuple):
    """Coordinates (..., n), residual error (...), success flag (...), iteration count (...)."""

    q: Array
    error: Array
    solved: NDArray[np.bool_]
    iterations: NDArray[np.int64]


class TorqueHessian(NamedTuple):
    """Second derivatives of multipliers . tau, (..., n, n) each; all other blocks are 0.

    `q_qd[i, j]` is the derivative by q_i and qd_j, and so on; `q_q` and `qd_qd` are symmetric.
    """

    q_q: Array
    q_qd: Array
    q_qdd: Array
    qd_qd: Array


class TorqueGradient(NamedTuple):
    """Gradient of multipliers . tau by all arguments of the joint torques, or its derivative.

    (..., n) each, but `loads` (..., n_loads, 6) and `parameters` (..., n_parameters).
    The gradient by `q` is in the tangent space of q.
    """

    q: Array
    qd: Array
    qdd: Array
    loads: Array
    parameters: Array


class AccelerationGradient(NamedTuple):
    """Gradient of multipliers . qdd, like `TorqueGradient`; by `tau` (..., n) instead of qdd."""

    q: Array
    qd: Array
    tau: Array
    loads: Array
    parameters: Array
