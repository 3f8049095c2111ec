"""Simulation of robots with springs and forces of the model: energy, time, and sensitivities."""

import numpy as np
import pytest

import symgen
from symgen.errors import RequestError
from symgen.frameworks.functions import functions_of
from tests.modules import module

ARM = """
symgen: 1
name: arm
gravity: [0, 0, -9.81]
parameters: {k: 40, c: 3, slack: 0.25, reach: 0.1}
joints:
  - {name: a, type: revolute, origin: {xyz: [0, 0, 0.3]}, axis: [0, 1, 0],
     link: {mass: 1, com: [0.2, 0, 0.1], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
  - {name: b, type: revolute, origin: {xyz: [0.5, 0, 0.1]}, axis: [0, 0.6, 0.8],
     link: {mass: 2, com: [0.1, 0.1, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
  - {name: c, type: prismatic, origin: {xyz: [0.1, 0.4, 0.1]}, axis: [1, 0, 0],
     link: {mass: 1, com: [0, 0.1, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
  - {name: d, type: revolute, parent: a, origin: {xyz: [0.5, 0.2, 0.1]}, axis: [1, 0, 0],
     link: {mass: 1, com: [0.2, 0.1, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
springs:
  - {name: one, between: [{link: c, point: [0.2, 0.1, reach]}, {link: d, point: [0, 0.3, 0]}],
     stiffness: k, damping: c, length: slack}
  - {name: two, between: [{link: base, point: [1, 0, 0]}, {link: b, point: [0, reach, 0]}],
     stiffness: 2*k, damping: c/2}
"""
FUNCTIONS = "forward_dynamics,forward_dynamics_sensitivities,kinetic_energy,potential_energy"
TIMES = np.linspace(0.0, 0.5, 6)
START = ([0.3, -0.4, 0.1, 0.5], [0.5, 0.2, -0.3, 1.0])


@pytest.fixture(scope="module")
def arm():
    return module(ARM, functions=FUNCTIONS, runtime_parameters="k,c,slack")


def energy(arm, run, parameters):
    states = np.asarray(run.q), np.asarray(run.qd)
    kinetic = arm.kinetic_energy(*states, parameters=parameters)
    return kinetic + arm.potential_energy(states[0], parameters=parameters)


@pytest.mark.slow
def test_energy_is_kept_without_dampers_and_lost_with_them(arm):
    for damping in (0.0, 3.0):
        parameters = np.array([40.0, damping, 0.25])
        run = symgen.simulate(arm, *START, TIMES, parameters=parameters, rtol=1e-10, atol=1e-12)
        found = energy(arm, run, parameters)
        if damping:
            assert np.all(np.diff(found) < 0.0)
        else:
            assert np.allclose(found, found[0], rtol=1e-8)


@pytest.mark.slow
def test_sensitivities_by_stiffness_damping_and_length(arm):
    options = {"rtol": 1e-11, "atol": 1e-13}
    run = symgen.simulate(arm, *START, TIMES, sensitivities="all", **options)
    for k, (name, value) in enumerate({"k": 40.0, "c": 3.0, "slack": 0.25}.items()):
        step = 1e-5 * value
        ends = [
            symgen.simulate(arm, *START, TIMES, parameters={name: value + sign * step}, **options)
            for sign in (1, -1)
        ]
        slope = (np.asarray(ends[0].q) - np.asarray(ends[1].q)) / (2 * step)
        assert np.allclose(np.asarray(run.dq)[..., k], slope, rtol=1e-4, atol=1e-8)


SHAKEN = """
symgen: 1
name: shaken
gravity: [0, -9.81, 0]
parameters: {w: 3.0}
joints:
  - {name: a, type: revolute, origin: {}, link: {mass: 1, com: [0.5, 0, 0], inertia: {zz: 1/12}}}
  - name: b
    type: revolute
    origin: {xyz: [1, 0, 0]}
    damping: 0.1
    link: {mass: 0.7, com: [0.3, 0, 0.1], inertia: {xx: 0.01, zz: 0.05}}
points: [{name: tip, link: b, point: [0.6, 0, 0]}]
loads: [{name: tip, link: b, point: [0.6, 0, 0]}]
"""
OF_STATE = (
    "inverse_dynamics,inverse_dynamics_derivatives,joint_wrenches,forward_dynamics,"
    "forward_dynamics_derivatives,forward_dynamics_parameter_derivatives"
)
OF_TIME = """
forces:
  - {name: push, point: tip, let: {s: 4*sin(w*t)}, force: [s, 2*t, 0], torque: [0, 0, s*t]}
"""


@pytest.mark.slow
def test_a_force_of_time_is_a_load_of_time():
    """In functions and in motions; sensitivities by what it depends on."""
    without, shaken = (
        module(text, functions=OF_STATE, runtime_parameters="w")
        for text in (SHAKEN, SHAKEN + OF_TIME)
    )

    def pushing(t, q=None, qd=None):
        s = 4 * np.sin(3.0 * t)
        return np.stack([s, 2 * t, 0 * t, 0 * t, 0 * t, s * t], axis=-1)[..., np.newaxis, :]

    t = np.linspace(0.1, 2.0, 5)
    state = np.random.default_rng(1).normal(size=(3, 5, 2))
    for name in ("inverse_dynamics_derivatives", "joint_wrenches", "forward_dynamics"):
        expected = getattr(without, name)(*state, loads=pushing(t))
        for one, other in zip(getattr(shaken, name)(*state, t=t), expected, strict=True):
            assert np.allclose(one, other, rtol=1e-12, atol=1e-12), name
    assert np.allclose(shaken.inverse_dynamics(*state), without.inverse_dynamics(*state))  # t = 0
    given = {"t": np.linspace(0, 1, 3), "sensitivities": ["w", "q0.a"]}
    run = symgen.simulate(shaken, [0.2, 0.4], [0, 0], **given)
    with_loads = symgen.simulate(without, [0.2, 0.4], [0, 0], loads=pushing, **given)
    for name in ("q", "qd", "qdd"):
        assert np.allclose(run[name], with_loads[name], rtol=1e-8, atol=1e-8)
    assert np.allclose(run.dq.sel(parameter="q0.a"), with_loads.dq.sel(parameter="q0.a"))
    ends = [
        symgen.simulate(shaken, [0.2, 0.4], [0, 0], t=given["t"], parameters={"w": w}).q.values
        for w in (3.0 + 1e-4, 3.0 - 1e-4)
    ]
    slope = (ends[0] - ends[1]) / 2e-4
    assert np.allclose(run.dq.sel(parameter="w"), slope, rtol=1e-5, atol=1e-7)
    with pytest.raises(RequestError, match="mentions the time"):
        functions_of(shaken, loads=False, parameters=False)
    task = {"symgen_task": 1, "start": {"q": [0, 0]}, "goal": {"q": [1, 0]}, "time": 1}
    with pytest.raises(RequestError, match="plan: a force of the model mentions the time"):
        symgen.plan(shaken, task)
