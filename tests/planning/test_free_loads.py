"""Loads that are found with the motion: optima that are known, and the equations of motion."""

import numpy as np
import pytest

import symgen
from symgen.description.expressions import parse
from symgen.planning import reading
from symgen.planning.loads import loads_at
from symgen.planning.splines import Profile
from symgen.planning.transcription import transcribe
from tests.modules import module
from tests.planning.derivatives import agree_with_differences
from tests.planning.robots import SOLVED, example

pytest.importorskip("casadi", reason="needs casadi: pip install 'symgen[test]'")

SLIDER = """
symgen: 1
name: slider
gravity: [0, 0, 0]
joints:
  - {name: rail, type: prismatic, axis: [1, 0, 0], origin: {}, link: {name: body, mass: 2}}
loads:
  - {name: push, link: body}
"""
MASS, WAY = 2.0, 0.5
TASK = {
    "symgen_task": 1, "start": {"q": [0]}, "goal": {"q": [WAY]},
    "profile": {"segments": 10, "check": "midpoints"},
}  # fmt: skip

FUNCTIONS = (*SOLVED, "inverse_dynamics_load_derivatives")


@pytest.fixture(scope="module")
def slider():
    return module(SLIDER, functions=FUNCTIONS)


def test_effort_is_shared_as_its_weights_say(slider):
    """tau + f = m a with weights u and v: f / tau = u / v, and u v / (u + v) m^2 integral of a^2,
    whose least value from rest to rest is 12 d^2 / T^3 (a is linear)."""
    T, u, v = 0.8, 0.3, 0.1
    found = symgen.plan(slider, {
        **TASK, "time": T, "objective": {"torque": u, "load": {"push": {"fx": v}}},
        "loads": {"push": {"free": {"fx": 100}}},
    })  # fmt: skip
    assert found.status == "solved"
    force, tau = found.loads[:, 0, 0], found.tau[:, 0]
    assert np.allclose(tau + force, MASS * found.qdd[:, 0], atol=1e-9)
    assert np.allclose(u * tau, v * force, atol=1e-6)
    expected = u * v / (u + v) * MASS**2 * 12 * WAY**2 / T**3
    assert abs(found.objective - expected) < 1e-8 * expected
    assert found.final_error < 1e-8


def test_a_force_within_its_limits_moves_what_has_no_drive(slider):
    """From -3 N to 5 N: pushed, then pulled, the least time is sqrt(2 d m (1/3 + 1/5))."""
    found = symgen.plan(slider, {
        **TASK, "limits": {"torque": 0}, "loads": {"push": {"free": {"fx": [-3, 5]}}},
        "profile": {"segments": 40, "check": "midpoints"},
    })  # fmt: skip
    assert found.status == "solved"
    force = found.path.at(np.linspace(0, 1, 999)).loads[:, 0, 0]
    assert force.min() > -3 - 1e-9
    assert force.max() < 5 + 1e-9
    least = np.sqrt(2 * WAY * MASS * (1 / 3 + 1 / 5))
    assert least < found.T < 1.01 * least


def test_loads_are_carried_to_the_instants_of_tightened_limits(slider):
    """With weights there are twice the instants on coarse splines, and limits at four per segment
    when what lies between is tightened: the unknown loads go along."""
    found = symgen.plan(slider, {
        **TASK, "limits": {"torque": 2}, "loads": {"push": {"free": {"fx": [-3, 5]}}},
        "profile": {"segments": 5},
    })  # fmt: skip
    assert found.status == "solved"
    assert found.violation < 1e-6
    assert len(found.loads) == len(found.t)


POWER = """
outputs:
  power: {value: tau.rail * qd.rail}
  both: {value: (tau.rail + loads.push.fx) * qd.rail * (1 + t)}
  squared: {value: 0.2 * loads.push.fx**2 * qd.rail + tau.rail**2}
"""


def test_outputs_take_loads_that_are_unknown():
    """The derivatives of a program whose outputs are of the unknown loads, by differences."""
    robot = module(SLIDER + POWER, functions=(*FUNCTIONS, "outputs", "outputs_derivatives"))
    task = reading.read({
        **TASK, "time": {"min": 0.3, "max": 2}, "limits": {"outputs": {"power": 3, "both": 9}},
        "objective": {"time": 1, "squared": 0.1, "both": 0.2},
        "loads": {"push": {"free": {"fx": [-3, 5]}}}, "profile": {"segments": 2},
    }, robot)  # fmt: skip
    program = transcribe(task, robot, Profile(task.profile.degree, 2), 2)
    x = np.random.default_rng(0).uniform(0.2, 1.0, program.unknowns)
    for seed in range(5):
        agree_with_differences(program, x, seed)


@pytest.mark.slow
def test_given_and_free_components_act_together():
    """An unknown force at the tip bears most of a given one."""
    robot = example("two_link", FUNCTIONS)
    task = {
        "symgen_task": 1, "start": {"q": [0.3, 0.8]}, "goal": {"q": [0.5, 0.6]}, "time": 1,
        "objective": {"torque": 1, "load": {"tip": {"fx": 1e-2, "fy": 1e-2}}},
        "loads": {"tip": {"free": {"fx": 30, "fy": [-5, 30]}, "given": [0, "-20*t", 0, 0, 0, 0]}},
        "profile": {"segments": 10},
    }  # fmt: skip
    found = symgen.plan(robot, task)
    assert found.status == "solved"
    again = robot.inverse_dynamics(found.q, found.qd, found.qdd, loads=found.loads)
    assert np.allclose(found.tau, again, atol=1e-12)
    unknown = found.loads[:, 0, 1] + 20 * found.t
    assert unknown.min() > -5 - 1e-9
    alone = symgen.plan(robot, {**task, "objective": {"torque": 1}, "loads": {
        "tip": [0, "-20*t", 0, 0, 0, 0]}})  # fmt: skip
    assert np.sum(found.tau**2) < 0.5 * np.sum(alone.tau**2)


def test_rates_of_loads_beside_parameters_called_like_the_time():
    s, entries = np.array([0.25, 0.5]), tuple(parse(x) for x in ("s*t", "T", "t**2", 0, 0, 0))
    for parameters, names in (({"s": 3.0}, {0: 3 * s, 1: 1 + 0 * s, 2: 4 * s**2}),
                              ({"T": 3.0}, {0: s**2, 2: 4 * s**2}),
                              ({"t": 3.0, "T": 2.0}, {})):  # fmt: skip
        _, rates = loads_at({0: entries}, 1, parameters)(s, 2.0)
        expected = np.zeros((2, 6))
        for k, column in names.items():
            expected[:, k] = column
        assert np.allclose(rates[:, 0], expected)
