"""The named tuples that functions return; generated packages have the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def record_fields(record: str) -> tuple[str, ...]:
    """Names of the entries of the named tuple `record`; none for ""."""
    return tuple(globals()[record]._fields) if record else ()


class TorqueParts(NamedTuple):
    """The joint torques in parts, (..., n) each, which add up to those of inverse_dynamics."""

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
    """Coordinates (..., n), what is left of the error (...), whether it is solved, iterations."""

    q: Array
    error: Array
    solved: NDArray[np.bool_]
    iterations: NDArray[np.int64]


class TorqueHessian(NamedTuple):
    """Second derivatives of multipliers . tau, (..., n, n) each; all other blocks are 0.

    `q_qd[i, j]` is that by q_i and qd_j, and so on; `q_q` and `qd_qd` are symmetric.
    """

    q_q: Array
    q_qd: Array
    q_qdd: Array
    qd_qd: Array


class TorqueGradient(NamedTuple):
    """Gradient of multipliers . tau by all that the joint torques depend on, or how that changes.

    (..., n) each; by the loads (..., n_loads, 6), by the runtime parameters (..., n_parameters).
    That by `q` is in its tangent space.
    """

    q: Array
    qd: Array
    qdd: Array
    loads: Array
    parameters: Array


class AccelerationGradient(NamedTuple):
    """Gradient of multipliers . qdd, as `TorqueGradient`; by `tau` (..., n) instead of qdd."""

    q: Array
    qd: Array
    tau: Array
    loads: Array
    parameters: Array
