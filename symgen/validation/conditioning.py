"""How much larger the terms of the equations of a robot are than their sums.

Rounding errors are proportional to the terms that are added, not to their sum.  In a robot whose
first link weighs a ton and turns about a vertical axis, its weight cancels from every torque, but
its rounding error stays.  The limits of the validation are multiplied by the `condition` of the
robot, a power of ten that is 1 for most.
"""

from __future__ import annotations

import math

import numpy as np

from symgen.description.model import RobotDescription
from symgen.validation.checks import random_states
from symgen.validation.oracles import NumericRobot

SAMPLES = 5
SLACK = 1000.0
"""The limits themselves leave room for terms this much larger than their sums: the largest power of
ten with which correct models pass whose scales differ by up to 1e8 (tests/validation/
test_conditioning.py; their largest error was 0.32 of its limit, with 10,000 it is 1.36)."""


def condition(description: RobotDescription) -> float:
    """1, or the power of ten by which the terms of the equations exceed their sums and the slack.

    Terms are bounded from masses, inertias, the reach R of the robot and its rates: a link of mass
    m contributes m A R to torques and m R^2 to the mass matrix, with A a bound of accelerations.
    """
    robot = NumericRobot(description)
    if robot.n == 0:
        return 1.0
    states = random_states(robot.n, robot.n_loads, SAMPLES)
    with np.errstate(all="ignore"):
        reach = np.maximum(1.0, robot.reach(states.q))
        rate = np.abs(states.qd).sum(axis=1)
        turning = np.abs(states.qdd).sum(axis=1) + rate**2
        acceleration = robot.gravity_magnitude + reach * turning
        mass, inertia = robot.total_mass, robot.total_inertia
        loads = np.abs(states.loads).sum(axis=(1, 2))
        torque = mass * acceleration * reach + inertia * turning + loads * reach
        largest = np.abs(robot.gravity_forces(states.q)).max(axis=1)
        by_torque = torque / np.maximum(1.0, largest)
        matrix = np.abs(robot.mass_matrix(states.q)).max(axis=(1, 2))
        by_mass = (mass * reach**2 + inertia) / np.maximum(1.0, matrix)
        ratio = float(np.max([by_torque, by_mass, reach])) / SLACK
    if not math.isfinite(ratio) or ratio <= 1.0:
        return 1.0
    return float(10.0 ** math.ceil(math.log10(ratio)))
