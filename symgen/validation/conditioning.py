"""Condition of the equations of a robot: the ratio of their terms to the sums.

Rounding errors are proportional to the terms that are added, not to their sum.  In a robot whose
first link weighs a ton and turns about a vertical axis, its weight cancels from every torque, but
its rounding error remains.  The limits of the validation are multiplied by the `condition` of the
robot, a power of ten that is 1 for most.

Springs, dampers, rotors and friction, however stiff or heavy, need no slack: their terms are part
of the arrays that errors are relative to; where a law subtracts them, or loses their digits, they
set its scale (`symgen.runtime.checks`).

A mass matrix that is singular at every pose gives a warning.  Textbook and planar models may have
one on purpose (a massless link at the end of a chain, a joint that turns a slender link about its
axis); inverse dynamics works with it, forward dynamics does not.
"""

from __future__ import annotations

import math

import numpy as np

from symgen.description.model import RobotDescription
from symgen.errors import Fault
from symgen.runtime.limits import STEP
from symgen.runtime.subjects import Array, random_states
from symgen.validation.oracle_model import Points, configuration, unread_types
from symgen.validation.oracles import NumericRobot

SAMPLES = 5
SLACK = 1000.0
"""Ratio that the limits themselves allow for: the largest power of ten with which correct models
pass whose scales differ by up to 1e8 (tests/validation/test_conditioning.py; their largest error
was 0.58 of its limit, with 10,000 it is 5.2)."""


def condition(description: RobotDescription) -> float:
    """The power of ten by which the terms of the equations exceed their sums and the slack, or 1.

    Terms are bounded from masses, inertias, rates and the longest lever arm L between a link and an
    axis that turns it: a link of mass m contributes m A L to torques, with A a bound of its
    acceleration, m L^2 to the mass matrix, and m L^2 times a rate to the Coriolis matrix.  The axes
    of a free body move with it, so that its position has no effect.  Joint wrenches are themselves
    the terms of their derivatives: a heavy slider loads its guide at every position.

    1 for a model that the numeric model cannot read.
    """
    if unread_types(description):
        return 1.0
    robot = NumericRobot(description)
    if robot.n == 0:
        return 1.0
    states = random_states(
        robot.n, robot.n_loads, SAMPLES, configuration=configuration(description)
    )
    model = robot.model
    with np.errstate(all="ignore"):
        reach, arm = (np.maximum(1.0, x) for x in _reach_and_lever(robot, states.q))
        turning = path_sum(robot, states.qdd) + path_sum(robot, states.qd) ** 2
        gravity = float(np.linalg.norm(model.gravity))
        acceleration = gravity + arm * turning
        mass = float(model.mass.sum())
        inertia = float(np.abs(model.inertia).max(axis=(1, 2), initial=0.0).sum())
        loads = np.abs(states.loads).sum(axis=(1, 2))
        torque = mass * acceleration * arm + inertia * turning + loads * arm
        still = np.zeros_like(states.qdd)
        bias = np.abs(robot.inverse_dynamics(states.q, states.qd, still, loads=states.loads))
        by_torque = torque / np.maximum(1.0, bias.max(axis=1))
        held = np.abs(robot.gravity_forces(states.q)).max(axis=1)
        by_weight = mass * gravity * arm / np.maximum(1.0, held)
        matrix = np.abs(robot.mass_matrix(states.q)).max(axis=(1, 2))
        by_mass = (mass * arm**2 + inertia) / np.maximum(1.0, matrix)
        # in the first state alone: the Coriolis matrix is slow
        coriolis = np.abs(robot.coriolis_matrix(states.q[0], states.qd[0])).max()
        rate = float(path_sum(robot, states.qd[0]) / np.maximum(1.0, coriolis))
        by_rate = rate * (mass * arm[0] ** 2 + inertia)
        # the largest joint wrench over its derivative along the velocities
        moving = robot.space.integrate(states.q, 1j * STEP * states.qd)
        wrenches = robot.joint_wrenches(moving, states.qd, states.qdd, loads=states.loads)
        size, slope = (np.abs(x).max(axis=(1, 2)) for x in (wrenches.real, wrenches.imag / STEP))
        by_wrench = size / np.maximum(1.0, slope)
        largest = np.max([by_torque, by_weight, by_mass, by_wrench, reach])
        ratio = float(np.maximum(largest, by_rate)) / SLACK
    if not math.isfinite(ratio) or ratio <= 1.0:
        return 1.0
    return float(10.0 ** math.ceil(math.log10(ratio)))


def mass_terms(description: RobotDescription, condition: float) -> Array | None:
    """Scales of rounding errors of the mass matrix by coordinate, (n,).

    The `condition` is one number for all equations: next to a heavy body, it does not show the
    cancellation in the mass matrix of a light, long tree, whose M^-1 is large.  The scales are the
    terms of the diagonal over `SLACK` and `condition`; None if they never exceed their sums.
    """
    if unread_types(description):
        return None
    robot = NumericRobot(description)
    states = random_states(robot.n, 0, SAMPLES, configuration=configuration(description))
    with np.errstate(all="ignore"):
        terms = _mass_terms(robot, states.q) / (SLACK * condition)
        sums = np.abs(np.diagonal(robot.mass_matrix(states.q), axis1=-2, axis2=-1))
        needed = bool(np.isfinite(terms).all() and np.any(terms > sums))
    return terms.max(axis=0) if needed else None


def path_sum(robot: NumericRobot, rates: Array) -> Array:
    """Largest sum of magnitudes of rates (..., n) of the joints that move one link, (...)."""
    magnitudes = np.abs(robot.model.terms.of_joints(rates))
    moved = magnitudes @ robot.model.moves[:-1].astype(float).T
    return np.asarray(moved.max(axis=-1, initial=0.0))


def _reach_and_lever(robot: NumericRobot, q: Array) -> tuple[Array, Array]:
    """Largest distance of a link's origin or centre of mass from the base origin (m), and largest
    velocity of one per unit of one joint velocity, 2 x (...)."""
    motion, links = robot.motion(q), [*range(robot.n_links)] * 2
    places = np.concatenate([np.zeros((robot.n_links, 3)), robot.model.centres.places])
    (points,) = motion.points(Points(links, places))
    linear, _ = motion.jacobians(points, links)
    lever = np.linalg.norm(linear, axis=-2).max(axis=(-1, -2), initial=0.0)
    return np.linalg.norm(points, axis=-1).max(axis=-1, initial=0.0), np.asarray(lever)


def _mass_terms(robot: NumericRobot, q: Array) -> Array:
    """Bounds of the terms of the diagonal of the mass matrix, (..., n).

    Composite bodies may refer to one point P of their tree, the origin of its first joint that
    turns.  For a joint with its axis through o, a body of mass m at c with inertia I then enters
    with m |c - P|^2, 2 m |c - P| |o - P|, m |o - P|^2 and I, whose sum may be only m |c - o|^2 + I.
    A joint that slides moves m alone.
    """
    motion, model = robot.motion(q, moved=True), robot.model
    moves, inertia = model.moves[:-1], np.trace(model.inertia, axis1=1, axis2=2)
    (centres,) = motion.points(model.centres)
    turning = np.any(motion.screws[..., 1, :] != 0.0, axis=(*range(q.ndim - 1), -1))
    terms_of_joints = np.empty(motion.origins.shape[:-1])
    for j in range(moves.shape[1]):
        carriers = np.all(moves >= moves[:, [j]], axis=0) & turning
        first = next((int(k) for k in np.flatnonzero(carriers[: j + 1])), j)
        point = motion.origins[..., first, :]
        distances = np.linalg.norm(centres - point[..., np.newaxis, :], axis=-1)
        arm = np.linalg.norm(motion.origins[..., j, :] - point, axis=-1)[..., np.newaxis]
        terms = model.mass * (distances + arm) ** 2 + inertia if turning[j] else model.mass
        terms_of_joints[..., j] = np.sum(moves[:, j] * terms, axis=-1)
    return np.asarray((np.sqrt(terms_of_joints) @ np.abs(model.terms.coupling)) ** 2)


# ------------------------------------------------------------------------------ singularity


POSES = 5
SMALLEST = np.finfo(float).tiny
SINGULAR = 1e-12
"""Ratio of the smallest eigenvalue to the largest of a singular matrix, scaled to a diagonal of
ones, so that neither light bodies among heavy ones nor units matter."""


def singularity_warnings(description: RobotDescription) -> tuple[Fault, ...]:
    """One warning if M(q) is singular at all of a few random poses.

    None where the joint has a warning already: that says why.  None for a model that the numeric
    model cannot read, or with Euler parameters, whose norm moves no mass.
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
    owners = [joint for joint in description.independent_joints for _ in joint.coordinate_names]
    joint = owners[int(np.argmax(np.abs(vectors[0, :, np.argmin(sizes[0])])))]
    fault = joint.source.fault(
        "the mass matrix is singular at every pose: some motion of this joint (perhaps together "
        "with others) moves no mass, so that accelerations cannot be computed from torques; "
        "inverse dynamics is not affected"
    )
    warned = any((x.line, x.key) == (fault.line, fault.key) for x in description.warnings)
    return () if warned else (fault,)


def _scaled(matrices: Array) -> Array:
    """Matrices scaled to a diagonal of ones, except for entries that are 0 up to rounding.

    An entry of the diagonal is the square of a lever, which has the rounding error; (..., n, n).
    """
    size = np.sqrt(np.abs(np.diagonal(matrices, axis1=-2, axis2=-1)))
    least = size.shape[-1] * np.finfo(float).eps * size.max(axis=-1, keepdims=True)
    factors = np.divide(1.0, size, out=np.zeros_like(size), where=size > least)
    return np.asarray(matrices * factors[..., np.newaxis] * factors[..., np.newaxis, :])
