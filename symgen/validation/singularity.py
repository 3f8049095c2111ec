"""Warning for robots whose mass matrix is singular at every pose.

Textbook and planar models do it on purpose (a massless link at the end of a chain, a joint that
turns a slender link about its own axis); inverse dynamics is fine with it, forward dynamics is not.
"""

from __future__ import annotations

import numpy as np

from symgen.description.model import RobotDescription
from symgen.errors import Fault
from symgen.validation.evaluation import Array
from symgen.validation.oracle_model import unread_types
from symgen.validation.oracles import NumericRobot

POSES = 5
SMALLEST = np.finfo(float).tiny
SINGULAR = 1e-12
"""Smallest eigenvalue over the largest, of a matrix that counts as singular, scaled to a diagonal
of ones: light bodies beside heavy ones, or other units, make no matrix singular."""


def singularity_warnings(description: RobotDescription) -> tuple[Fault, ...]:
    """One warning where M(q) is singular at every one of a few random poses.

    None for a model that the numeric model cannot read, or with Euler parameters, along which
    nothing moves.
    """
    if unread_types(description) or any(joint.is_redundant for joint in description.joints):
        return ()
    robot = NumericRobot(description)
    if robot.n == 0:
        return ()
    drawn = np.random.default_rng(1).uniform(-np.pi, np.pi, (POSES, robot.n))
    q = robot.space.integrate(robot.space.neutral(), drawn)
    with np.errstate(all="ignore"):
        matrices = robot.mass_matrix(q)
    if not np.isfinite(matrices).all():
        return ()
    values, vectors = np.linalg.eigh(_scaled(matrices))
    sizes = np.abs(values)  # of accepted inertias, eigenvalues may be negative
    if not np.all(sizes.min(axis=1) <= SINGULAR * np.maximum(sizes.max(axis=1), SMALLEST)):
        return ()
    free = (joint for joint in description.joints if joint.mimic is None)
    owners = [joint for joint in free for _ in joint.coordinate_names]
    joint = owners[int(np.argmax(np.abs(vectors[0, :, np.argmin(sizes[0])])))]
    return (
        joint.source.fault(
            "the mass matrix is singular at every pose: some motion of this joint (perhaps "
            "together with others) moves no mass, so that accelerations cannot be computed from "
            "torques; inverse dynamics is not affected"
        ),
    )


def _scaled(matrices: Array) -> Array:
    """The same with ones on the diagonal, where it is not 0 beyond rounding, (..., n, n).

    An entry of the diagonal is the square of a lever; the lever has the rounding error.
    """
    size = np.sqrt(np.abs(np.diagonal(matrices, axis1=-2, axis2=-1)))
    least = size.shape[-1] * np.finfo(float).eps * size.max(axis=-1, keepdims=True)
    factors = np.divide(1.0, size, out=np.zeros_like(size), where=size > least)
    return np.asarray(matrices * factors[..., np.newaxis] * factors[..., np.newaxis, :])
