"""Friction by direction and Stribeck's curve: the piecewise law, and parameters from torques."""

import numpy as np

from tests.modules import module

LAW = {"d": 0.4, "d_b": 0.9, "f": 1.2, "f_b": 0.7, "s": 2.0, "s_b": 1.5, "v_s": 0.3, "v_f": 1e-3}
MODEL = f"""
symgen: 1
name: slider
gravity: [0, 0, 0]
parameters: {LAW}
joints:
  - {{name: x, type: prismatic, origin: {{}}, damping: d, damping_backward: d_b, friction: f,
     friction_backward: f_b, static_friction: s, static_friction_backward: s_b,
     stribeck_velocity: v_s, friction_velocity: v_f, link: {{mass: 2}}}}
"""
COLUMNS = [*LAW][:6]


def slider():
    return module(
        MODEL, functions=["inverse_dynamics", "inverse_dynamics_parameter_derivatives"],
        runtime_parameters="all",
    )  # fmt: skip


def test_the_law_is_piecewise_away_from_rest():
    v = np.concatenate([-np.geomspace(0.02, 9, 40), np.geomspace(0.02, 9, 40), [0.0]])
    decay, ahead = np.exp(-((v / LAW["v_s"]) ** 2)), v > 0
    d, f, s = (np.where(ahead, LAW[x], LAW[f"{x}_b"]) for x in "dfs")
    law = d * v + np.sign(v) * (f + (s - f) * decay)
    q = np.zeros((len(v), 1))
    tau = slider().inverse_dynamics(q, v[:, np.newaxis], q)[:, 0]
    np.testing.assert_allclose(tau, law, rtol=0, atol=1e-13)


def test_coefficients_are_identified_by_least_squares():
    """Torques are linear in them: columns of exact derivatives are those of a regression."""
    robot, v = slider(), np.random.default_rng(0).uniform(-2, 2, 200)[:, np.newaxis]
    q = np.zeros_like(v)
    tau = robot.inverse_dynamics(q, v, q)[:, 0]
    start = dict(zip(robot.parameter_names, robot.default_parameters, strict=True))
    start |= dict.fromkeys(COLUMNS, 0.5)
    options = {"parameters": np.array([start[name] for name in robot.parameter_names])}
    Y = robot.inverse_dynamics_parameter_derivatives(q, v, q, **options)[:, 0]
    columns = [robot.parameter_names.index(name) for name in COLUMNS]
    found = np.linalg.lstsq(Y[:, columns], tau, rcond=None)[0]
    np.testing.assert_allclose(found, [LAW[name] for name in COLUMNS], rtol=1e-10)
