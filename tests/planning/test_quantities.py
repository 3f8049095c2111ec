"""Derivatives of every kind of term against differences, along random directions."""

import numpy as np
import pytest

from symgen.planning import reading
from symgen.planning.collocation import collocate
from symgen.planning.quantities import MotionSamples, Torques
from symgen.planning.splines import Profile
from symgen.planning.transcription import transcribe
from tests.choosing import deep
from tests.planning.derivatives import agree_with_differences
from tests.planning.robots import WHOLE, arm, example

pytestmark = pytest.mark.slow

EVERYTHING = {
    "symgen_task": 1,
    "start": {"q": [0.1, 0.4, -0.3], "qd": [0.5, 0, 0], "qdd": [0, 1, None]},
    "goal": {"link": "hand", "offset": [0.1, 0, 0], "position": [0.4, 0.3, 0.1], "rpy": [1, 0, 2]},
    "via": [
        {"at": 0.4, "q": {"elbow": 0.7}, "qd": {"wrist": 0.2}},
        {"at": 0.6, "point": "tool", "position": [0.5, 0.2, 0.1]},
    ],
    "time": {"min": 0.5, "max": 3},
    "objective": {
        "time": 1, "torque": {"elbow": 0.1}, "acceleration": 0.01, "jerk": 1e-4,
        "wrench": {"shoulder": {"fx": 1e-3, "nz": 1e-2}}, "power": 0.02, "late": 0.1,
    },
    "limits": {
        "acceleration": 60, "jerk": {"wrist": 900}, "torque": [30, [-10, 15], 4],
        "wrench": {"elbow": {"fy": [-50, 60]}}, "outputs": {"height": [-0.5, 0.6], "late": 100},
    },
    "loads": {"grip": ["sin(3*t)", "-10*s", "2", 0, "t/T", "exp(-t)"]},
    "keep_out": {
        "margin": 0.01,
        "spheres": [
            {"name": "fist", "link": "hand", "center": [0.1, 0, 0], "radius": 0.05},
            {"link": "upper", "center": [0.2, 0.1, 0], "radius": 0.1},
        ],
        "obstacles": [
            {"sphere": [0.5, 0.5, 0], "radius": 0.1},
            {"box": [0.3, -0.4, 0], "size": [0.2, 0.1, 0.3], "rpy": [0.1, 0.2, 0.3]},
            {"half_space": [0, -0.8, 0], "normal": [0, 1, 0.2]},
        ],
        "pairs": [["fist", "sphere 2"]],
    },
    "profile": {"degree": 4, "segments": 6, "check": "midpoints"},
    "parameters": {"m2": 1.4},
}  # fmt: skip
"""A task with every kind of term."""


@pytest.fixture(scope="module")
def robot():
    return arm(WHOLE)


def program_of(robot, task):
    read = reading.read(task, robot)
    return transcribe(read, robot, Profile(read.profile.degree, read.profile.segments), 2)


@pytest.mark.parametrize("seed", [0, *deep(1)])
def test_derivatives_of_every_kind_of_term(robot, seed):
    check_derivatives(program_of(robot, EVERYTHING), seed)


def test_derivatives_with_respect_to_unknown_loads():
    robot = example("plan/two_arms", [name for name in WHOLE if "output" not in name])
    task = {
        "symgen_task": 1,
        "start": {"q": [0.1, 0.2, 0.3, 0.4, 0.5]}, "goal": {"q": [0.5, 0.4, 0.3, 0.2, 0.1]},
        "objective": {
            "time": 1, "torque": 0.1, "wrench": {"left_wrist": {"fx": 0.1}},
            "load": {"on_bar": {"nz": 0.2}},
        },
        "limits": {"torque": 10, "wrench": {"right_elbow": {"fy": 50}}},
        "loads": {"on_bar": {
            "given": ["3*t", "-t**2", 0, 0, 0, "s"], "free": {"nz": [-2, 3], "fx": "none"},
        }},
        "cuts": [{
            "first": {"link": "bar", "offset": [0.3, 0, 0]}, "second": {"point": "right_hand"},
            "loads": ["on_bar", "on_right_hand"], "axes": ["x", "y"],
        }],
        "profile": {"segments": 5},
    }  # fmt: skip
    check_derivatives(program_of(robot, task), 0)


@pytest.mark.parametrize("seed", range(2))
def test_derivatives_of_collocation(robot, seed):
    task = {
        "symgen_task": 1, "method": "collocation", "start": {"q": [0, 0, 0]},
        "goal": {"q": [1, 0, 0]}, "loads": {"grip": [1, 2, 3, 0.1, 0.2, 0.3]},
        "objective": {"time": 0.3, "torque": 0.1, "acceleration": [0.01, 0, 0.02]},
        "limits": {"wrench": {"elbow": {"fy": [-50, 60], "nz": 9}, "shoulder": {"fx": 100}}},
        "keep_out": EVERYTHING["keep_out"],
    }  # fmt: skip
    program = collocate(reading.read(task, robot), robot, 4)
    x = 0.5 * np.random.default_rng(seed).standard_normal(program.unknowns)
    x[-1] = 0.9
    agree_with_differences(program, x, seed)


def check_derivatives(program, seed):
    x = 0.4 * np.random.default_rng(seed).standard_normal(program.unknowns)
    x[program.sizes.time] = 1.3
    for number, term in enumerate(program.terms):
        rows = slice(program.starts[number], program.starts[number + 1])
        agree_with_differences(program, x, seed, rows, term.name)


def test_gradients_by_products_are_those_by_jacobians():
    """Along the axis of many motions, too."""
    robot = arm(("inverse_dynamics", "inverse_dynamics_derivatives", "inverse_dynamics_vjp"))
    torques = Torques(robot, {"m2": 1.4})
    rng = np.random.default_rng(4)
    q, qd, qdd, weights = rng.uniform(-1, 1, (4, 5, 3))
    motion = MotionSamples(q, qd, qdd, np.zeros(5), np.zeros(5), rng.uniform(-5, 5, (5, 1, 6)))
    for one in (motion, motion.moved(rng.uniform(-1, 1, (3, 2, 3)))):
        expected = np.einsum("...krij,ki->...krj", torques.jacobian(one)[1], weights)
        found = torques.gradients(one, weights)
        assert found.shape == expected.shape
        assert np.allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
