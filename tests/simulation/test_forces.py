"""Simulation of robots with forces of the model that mention the time, and their sensitivities."""

import numpy as np
import pytest

import symgen
from symgen.errors import RequestError
from symgen.frameworks.functions import functions_of
from tests.modules import module

pytestmark = pytest.mark.slow

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
