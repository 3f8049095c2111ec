"""Loops beside joints with quaternions: trees, differences along integrate()."""

from __future__ import annotations

import numpy as np
import pytest

import symgen
from symgen.validation.mechanism_kernels import accelerations
from tests.choosing import slow
from tests.mechanisms.models import BY_PARAMETERS, BY_STATE, ROD, held_text, loaded, model

STEP = 1e-6


def closed(functions=BY_PARAMETERS, backend="numpy"):
    start = {"q": {"root_x": 0.3, "root_qx": 1, "root_qw": 2}, "qd": {"root_vx": 0.4}}
    text = held_text("quaternion", initial=start)
    return loaded(text, functions, runtime_parameters="all", backend=backend)


@pytest.mark.slow
def test_accelerations_in_c():
    """Those of Python; coordinates of another number than nq are refused, not read beyond."""
    held = closed(backend="compiled")
    rows = list(accelerations(held))
    assert len(rows) == 10 and all(row.passed and row.samples for row in rows)
    still = np.zeros(held.n)
    with pytest.raises(ValueError, match=r"q: expected shape \(..., 12\), got \(10,\)"):
        held.constrained_forward_dynamics(still, still, still)


def rod():
    """A crank and a slider."""
    return loaded(ROD.replace("RELATION", "q.slider**2 - cos(q.crank) - 1"), BY_STATE)


@pytest.mark.parametrize("mechanism", [rod, *slow(closed)])
def test_derivatives_of_accelerations_and_multipliers(mechanism):
    """Against central differences along integrate(), at states that keep no constraint."""
    robot, random = mechanism(), np.random.default_rng(1)
    q = robot.random_configuration(random)
    state, steps = (q, *random.uniform(-0.6, 0.6, (2, robot.n))), STEP * np.eye(robot.n)
    derivatives = robot.constrained_forward_dynamics_derivatives(*state, t=0.4)
    for k, name in enumerate(("q", "qd", "tau")):
        sides = []
        for sign in (1, -1):
            moved = [np.tile(x, (robot.n, 1)) for x in state]
            moved[k] = moved[k] + sign * steps if k else robot.integrate(q, sign * steps)
            sides.append(robot.constrained_forward_dynamics(*moved, t=0.4))
        for result in ("qdd", "multipliers"):
            slope = (getattr(sides[0], result) - getattr(sides[1], result)).T / (2 * STEP)
            slopes = getattr(derivatives, f"d{result}_d{name}")
            assert np.allclose(slopes, slope, atol=2e-6, rtol=1e-6)


def test_it_is_put_together_on_the_manifold():
    """From the initial attitude, normalized; what is held stays."""
    held = closed(("constraints", "constraint_jacobian"))
    assert np.allclose(held.initial_q[3:7], [1 / 5**0.5, 0, 0, 2 / 5**0.5], atol=1e-15)
    assert held.initial_qd[0] == 0.4
    q = held.assemble(t=0.4)
    assert np.abs(held.constraints(q, t=0.4)).max() < 1e-12
    assert np.allclose(held.normalize(q), q, atol=1e-15)
    ball = [f"wrist_{x}" for x in ("wx", "wy", "wz")]
    begin = held.integrate(q, 0.01 * np.ones(held.n))
    again = held.assemble(begin, hold=[ball[0]], t=0.4)
    assert np.abs(held.constraints(again, t=0.4)).max() < 1e-12


OF_TREES = (
    "forward_dynamics", "forward_dynamics_derivatives", "forward_dynamics_parameter_derivatives",
)  # fmt: skip
HUNG = {
    "gravity": [0, 0, -9.81], "parameters": {"M": 1.3, "L": 0.4},
    "outputs": {"height": {"value": "center_of_mass.z"}},
}  # fmt: skip


def hung(joint, **more):
    """A heavy body on a ball at one end."""
    link = {"name": "bob", "mass": "M", "com": [0.1, 0.2, "L"], "inertia": {"xx": 0.1, "yy": 0.2,
            "zz": 0.25, "xy": 0.01}}  # fmt: skip
    joint = {"name": "ball", "coordinates": "quaternion", "origin": {}, "link": link, **joint}
    dynamics = BY_PARAMETERS if more else OF_TREES
    functions = (*dynamics, "outputs", "outputs_derivatives", "kinetic_energy")
    return loaded(model("hung", [joint], **HUNG, **more), functions, runtime_parameters="all")


@pytest.mark.deep
def test_a_body_on_a_ball_moves_as_the_tree_does():
    """Motion and sensitivities by parameters, of which one moves the ball in the body."""
    tree = hung({"type": "spherical"})
    ends = {"first": {"link": "base"}, "second": {"link": "bob"}}
    free = hung({"type": "floating"}, loops=[{"name": "pin", "type": "spherical", **ends}])
    t, spin = np.linspace(0, 1, 5), np.array([0.7, -0.4, 1.1])
    attitude = tree.random_configuration(np.random.default_rng(2))
    options = {"sensitivities": "all", "objectives": "all", "rtol": 1e-10, "atol": 1e-12}
    start = np.concatenate([np.zeros(3), attitude]), np.concatenate([np.zeros(3), spin])
    way = np.array([0.1, 0.2, 0.3])  # in which the attitude at the start varies, too
    turned = symgen.simulate(tree, attitude, spin, t, dq0={"M": way}, **options)
    given = {"M": np.concatenate([np.zeros(3), way])}
    found = symgen.simulate(free, *start, t, dq0=given, **options)
    assert found.violation.max() < 1e-9
    assert np.allclose(found.q.values[:, 3:], turned.q.values, atol=1e-8)
    assert np.allclose(found.qd.values[:, 3:], turned.qd.values, atol=1e-7)
    assert np.allclose(found.dq.values[:, 3:], turned.dq.values, atol=1e-7)
    assert np.allclose(found.integral_gradient, turned.integral_gradient, atol=1e-7)


@pytest.mark.slow
def test_sensitivities_of_the_start_keep_the_loops_closed():
    """Both rows of the tangent of a start that is moved, against starts that are."""
    held = closed()
    q = held.assemble(t=0.4)
    qd = held.closed_velocities(q, 0.3 * np.ones(held.n), t=0.4)
    random = np.random.default_rng(3)
    dq0, dqd0 = random.normal(size=(2, held.n, 1))
    slow = {"sensitivities": ["w"], "max_step": 0.01}
    found = symgen.simulate(held, q, qd, [0.4, 0.41], dq0=dq0, dqd0=dqd0, **slow)
    dq, dqd = found.dq.values[0], found.dqd.values[0]
    rows = []
    for sign in (1, -1):
        moved = held.integrate(q, sign * STEP * dq[:, 0]), qd + sign * STEP * dqd[:, 0]
        given = {"t": 0.4, "parameters": [3.0 + sign * STEP]}
        rows.append((held.constraints(moved[0], **given), held.constraint_rates(*moved, **given)))
    for one, other in zip(*rows, strict=True):
        assert np.abs(one - other).max() / (2 * STEP) < 1e-8
