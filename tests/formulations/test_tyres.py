"""Tyres: Fiala's laws case by case, a numeric construction of the contact, clearance."""

import numpy as np
import pytest

from symgen.description.figure import figure
from symgen.formulations import formulation_named
from symgen.page.animation import wheels
from symgen.program.interpreter import call
from symgen.validation.oracles import NumericRobot
from tests.modules import described
from tests.oracles.comparison import STEP, agrees, evaluated

WIDTH, CSLIP, CALPHA, UMAX, UMIN, ROLLING = 0.318, 193929.0, 50000.0, 0.9835, 0.5568, 0.015
RADIUS, STIFFNESS, DAMPING = 0.47, (168624.0, 1.3558e6), 7500.0
RIG = """
symgen: 1
name: rig
joints:
  - {name: x, type: prismatic, axis: [1, 0, 0], origin: {}, link: {}}
  - {name: y, type: prismatic, axis: [0, 1, 0], origin: {}, link: {}}
  - {name: z, type: prismatic, axis: [0, 0, 1], origin: {}, link: {}}
  - {name: steer, type: revolute, axis: [0, 0, 1], origin: {}, link: {}}
  - {name: camber, type: revolute, axis: [1, 0, 0], origin: {}, link: {}}
  - {name: wheel, type: revolute, axis: [0, 1, 0], origin: {},
     link: {mass: 70, inertia: {xx: 4, yy: 7, zz: 4}}}
"""
TYRE = """
forces:
  - name: fl
    type: tyre
    wheel: wheel
    radius: 0.47
    width: 0.318
    normal: {stiffness: [168624, 1.3558e6], damping: 7500}
    slip: {longitudinal: 193929, lateral: 50000, friction: [0.9835, 0.5568]}
    rolling: 0.015
    ground: GROUND
outputs: {n: tyres.fl.fn, x: tyres.fl.fx, y: tyres.fl.fy, m: tyres.fl.mz, r: tyres.fl.my,
  d: tyres.fl.depth, k: tyres.fl.kappa, a: tyres.fl.tan_alpha}
"""
HILLS = "0.1*x + 0.2*sin(2*y) + 0.1*tanh(x*y) + 0.05*max(x, 0)**2"


def program(function, ground=HILLS, tyre=TYRE):
    text = RIG + tyre.replace("GROUND", ground)
    return evaluated(described(text), formulation_named("newton_euler"), function)


def states(count, seed=3):
    """States near the ground of HILLS: the wheel steered, tilted, skidding, rolling both ways."""
    rng = np.random.default_rng(seed)
    q = rng.normal(scale=[2, 2, 0, 1, 0.2, 3], size=(count, 6))
    q[:, 2] = height(*q[:, :2].T) + 0.47 - rng.uniform(-0.02, 0.1, count)
    qd = rng.normal(scale=[3, 3, 0.2, 0.5, 0.5, 8], size=(count, 6))
    return {"q": q, "qd": qd, "qdd": np.zeros_like(q)}


def height(x, y):
    return 0.1 * x + 0.2 * np.sin(2 * y) + 0.1 * np.tanh(x * y) + 0.05 * np.where(x > 0, x, 0) ** 2


def piecewise(kappa, tangent, N):
    """F_x, F_y, M_z of ChFialaTire, by cases."""
    slip = np.sqrt(kappa**2 + tangent**2 + 1e-6)
    U = UMAX - (UMAX - UMIN) * slip / (1 + slip**8) ** 0.125
    if abs(kappa) < U * N / (2 * CSLIP):
        Fx = CSLIP * kappa
    else:
        Fx = np.sign(kappa) * (U * N - (U * N) ** 2 / (4 * abs(kappa) * CSLIP))
    if abs(tangent) <= 3 * U * N / CALPHA:
        H = 1 - CALPHA * abs(tangent) / (3 * U * N)
        return (
            Fx,
            -U * N * (1 - H**3) * np.sign(tangent),
            (U * N * WIDTH * (1 - H) * H**3 * np.sign(tangent)),
        )
    return Fx, -U * N * np.sign(tangent), 0.0


def test_slip_forces_are_fialas_by_cases():
    drawn = states(200)
    drawn["qd"][::2] *= 3e-3  # that adhere
    (values,) = call(program("outputs"), drawn)
    N, *forces, _, _, kappa, tangent = values.T
    expected = np.transpose([piecewise(*state) for state in zip(kappa, tangent, N, strict=True)])
    grip = UMAX * N * [[1.0], [1.0], [WIDTH]]
    assert np.all(np.abs(forces - expected) <= 1e-12 * grip)
    sliding = abs(kappa) > N / CSLIP
    assert 50 < sliding.sum() < 180 and 50 < np.count_nonzero(expected[2]) < 180


def constructed(q, qd):
    """Generalized forces of the tyre at one state: the contact from geometry alone."""
    c, (steer, camber) = q[:3], q[3:5]
    side, ahead = (np.array([np.cos(x), np.sin(x), 0]) for x in (steer, steer + np.pi / 2))
    a = np.cos(camber) * ahead + np.sin(camber) * np.array([0, 0, 1])
    omega = qd[3] * np.array([0, 0, 1]) + qd[4] * side + qd[5] * a
    slopes = [height(*(c[:2] + 1j * STEP * way)).imag / STEP for way in np.eye(2)]
    n = np.array([*(-np.array(slopes)), 1]) / np.sqrt(1 + np.dot(slopes, slopes))
    down = (n @ a) * a - n
    down /= np.linalg.norm(down)
    r = -n @ (c - [c[0], c[1], height(c[0], c[1])]) / (n @ down)
    forward = np.cross(a, n) / np.linalg.norm(np.cross(a, n))
    left = np.cross(n, forward)
    d = RADIUS - r
    d = (d + np.sqrt(d**2 + 1e-16 / 4 / (d**2 + 1e-8))) / 2 + 1e-11
    v = qd[:3]
    N0 = STIFFNESS[0] * d + STIFFNESS[1] * d**2 - DAMPING * (v @ n) * d / (d + 2e-3)
    N = (N0 + np.sqrt(N0**2 + (10 * d / (d + 2e-3)) ** 2)) / 2
    vb = np.sqrt((v @ forward) ** 2 + 0.01)
    Fx, Fy, Mz = piecewise((omega @ a * r - v @ forward) / vb, v @ left / vb, N)
    force = N * n + Fx * forward + Fy * left
    moment = np.cross(r * down, force) + Mz * n - ROLLING * N * np.tanh(omega @ a) * a
    return [*force, moment[2], moment @ side, moment @ a]


def test_tilted_wheels_on_slopes_are_as_constructed():
    drawn = states(40)
    forced = call(program("inverse_dynamics"), drawn)[0]
    Q = call(program("inverse_dynamics", tyre=""), drawn)[0] - forced
    expected = [constructed(*state) for state in zip(drawn["q"], drawn["qd"], strict=True)]
    assert all(agrees(*pair) for pair in zip(Q, expected, strict=True))


def test_derivatives_of_tilted_wheels_are_slopes():
    """By dual numbers, also of axes that are turned by joints ahead of others."""
    drawn = states(4)
    oblique = RIG.replace("camber, type: revolute, axis: [1, 0", "c, type: revolute, axis: [1, 2")
    robot = described(oblique + TYRE.replace("GROUND", HILLS))
    expected = NumericRobot(robot).inverse_dynamics_derivatives(*drawn.values())
    function = formulation_named("newton_euler"), "inverse_dynamics_derivatives"
    derivatives = call(evaluated(robot, *function), drawn)
    assert all(agrees(*pair) for pair in zip(derivatives, expected, strict=True))


@pytest.mark.parametrize("speed", [0.0, -2.0])
def test_no_force_5_mm_above_the_ground_and_all_of_it_in_contact(speed):
    fn = program("outputs", ground="-0.2")
    state = {"q": [0, 0, 0.275, 0.3, 0, 1], "qd": [3, 1, speed, 0, 0, 5]}
    assert 0 < call(fn, state)[0][0] < 1e-3
    state["q"][2] = 0.24
    expected = STIFFNESS[0] * 0.03 + STIFFNESS[1] * 9e-4 - DAMPING * speed * 0.03 / 0.032
    assert abs(call(fn, state)[0][0] - expected) < 0.01
    far = call(program("inverse_dynamics_derivatives"), {**states(5), "q": 1e3 * np.ones((5, 6))})
    assert all(np.isfinite(array).all() for array in far)


def test_a_ground_that_rises_meets_the_wheel():
    """What moves relative to the ground counts: a floor at 1 m/s is a wheel at -1 m/s."""
    moving, still = (program("outputs", ground) for ground in ("t", "0"))
    at = {"q": [0, 0, 0.44, 0, 0.1, 0]}
    rising = call(moving, {**at, "qd": [0, 0, 0, 0, 0, 0], "t": 0.0})[0]
    assert agrees(rising, call(still, {**at, "qd": [0, 0, -1, 0, 0, 0]})[0])


def test_figures_have_wheels():
    """Also of a wheel on a joint by Denavit and Hartenberg, about the z-axis before its twist."""
    dh = "dh: {alpha: 0.3}, convention: standard,\n"
    text = RIG.replace("axis: [0, 1, 0], origin: {},\n", dh)
    for robot, axis in ((RIG, [0, 1, 0]), (text, [0, ["sin", 0.3], ["cos", 0.3]])):
        drawn = figure(described(robot + TYRE.replace("GROUND", "0")))
        (wheel,), (shape,) = drawn["wheels"], wheels(drawn)
        assert wheel == {
            "name": "fl", "link": 5, "at": [0, 0, 0], "axis": axis, "radius": 0.47, "width": 0.318
        }  # fmt: skip
        unit = np.array([0, np.sin(0.3), np.cos(0.3)]) if robot is text else np.eye(3)[1]
        along = shape.vertices @ unit
        assert np.allclose(np.ptp(along), WIDTH) and np.allclose(along.min(), -WIDTH / 2)
        assert np.isclose(
            np.linalg.norm(shape.vertices - np.outer(along, unit), axis=1).max(), 0.47
        )
