"""`symgen.simulate` of free bodies: no singular attitude, no drift, sensitivities."""

import numpy as np
import pytest

import symgen
from symgen.errors import RequestError
from tests.modules import module

pytest.importorskip("scipy")
pytest.importorskip("xarray")

BODY = """\
symgen: 1
name: {name}
gravity: {gravity}
parameters: {{m: 2}}
joints:
  - name: body
    {joint}
    origin: {{}}
    link: {{mass: m, com: [0.1, 0, 0.2], inertia: {{xx: 0.3, yy: 0.5, zz: 0.7, xy: 0.02}}}}
  - {{name: arm, type: revolute, origin: {{xyz: [0.2, 0, 0.1]}}, axis: [0, 1, 0],
      link: {{mass: 0.5, com: [0, 0.2, 0], inertia: {{xx: 0.03, yy: 0.02, zz: 0.03}}}}}}
"""
RATES = np.array([0.1, -0.2, 0.3, 0.5, 2.0, -0.4, 0.8])


def loaded(keys, *functions):
    joint = f"type: floating\n    {keys}"
    text = BODY.format(name="tumbling", gravity=[0, 0, 0], joint=joint)
    return module(text, functions=functions, runtime_parameters="all")


@pytest.fixture(scope="module")
def body():
    energies = ("kinetic_energy", "centroidal_momentum", "mass_matrix")
    return loaded("coordinates: quaternion", "forward_dynamics", *energies)


@pytest.mark.slow
def test_nothing_drifts(body):
    """Energy and momentum of a tumbling body over 10 s, and the norm of its quaternion."""
    t = np.linspace(0, 10, 21)
    run = symgen.simulate(body, body.neutral(), RATES, t, rtol=1e-13, atol=1e-13)
    q, qd = run.q.values, run.qd.values
    np.testing.assert_allclose(np.linalg.norm(q[:, 3:7], axis=1), 1.0, rtol=0, atol=1e-15)
    for values in (body.kinetic_energy(q, qd), body.centroidal_momentum(q, qd)):
        assert np.abs(values - values[0]).max() < 1e-9


def test_the_attitude_where_angles_are_singular_is_like_any_other(body):
    """The same motion, turned as a whole: once far from the pole of the angles, once at it."""
    t = np.linspace(0, 0.5, 3)
    start = body.neutral()
    turned = body.integrate(start, [0, 0, 0, 0, np.pi / 2, 0, 0])
    runs = [symgen.simulate(body, q0, RATES, t, rtol=1e-13, atol=1e-13) for q0 in (start, turned)]
    np.testing.assert_allclose(runs[0].qd, runs[1].qd, rtol=0, atol=1e-10)
    angles = loaded("sequence: zyx", "mass_matrix")
    pole = [0, 0, 0, 0, np.pi / 2, 0, 0]
    mass = [body.mass_matrix(turned), angles.mass_matrix(pole)]
    conditions = [np.linalg.cond(one) for one in mass]
    assert conditions[0] < 1e3 < 1e10 < conditions[1]


@pytest.mark.slow
def test_sensitivities_are_differences():
    derivatives = ("forward_dynamics_derivatives", "forward_dynamics_parameter_derivatives")
    body = loaded("coordinates: quaternion", "forward_dynamics", *derivatives)
    t, h = np.linspace(0, 1, 5), 1e-5
    changes = {"q0.body_wy": 4, "q0.body_vx": 0, "qd0.body_wz": 5, "m": None}
    q0 = body.random_configuration(2)
    run = symgen.simulate(body, q0, RATES, t, sensitivities=changes, tau=lambda t, q, qd: -0.1 * qd)
    for name, k in changes.items():
        ends = []
        for step in (-h, h):
            q, qd, options = q0, RATES, {}
            if k is None:
                options["parameters"] = {"m": 2 + step}
            elif name.startswith("q0"):
                q = body.integrate(q0, step * np.eye(7)[k])
            else:
                qd = RATES + step * np.eye(7)[k]
            ends.append(symgen.simulate(body, q, qd, t, tau=lambda t, q, qd: -0.1 * qd, **options))
        along = body.difference(ends[0].q.values, ends[1].q.values) / (2 * h)
        np.testing.assert_allclose(run.dq.sel(parameter=name), along, rtol=0, atol=1e-7)
        rates = (ends[1].qd.values - ends[0].qd.values) / (2 * h)
        np.testing.assert_allclose(run.dqd.sel(parameter=name), rates, rtol=0, atol=1e-7)


def test_what_is_wrong(body):
    with pytest.raises(RequestError, match=r"q0: expected shape \(8,\), got \(7,\)"):
        symgen.simulate(body, np.zeros(7), RATES, [0, 1])
    with pytest.raises(RequestError, match="quaternion of norm 0"):
        symgen.simulate(body, np.zeros(8), RATES, [0, 1])


AXIS = np.array([2.0, -3.0, 6.0]) / 7.0


def swing(t):
    return 0.6 * np.sin(2 * t), 1.2 * np.cos(2 * t), -2.4 * np.sin(2 * t)


def turned(t):
    """The swing about an axis that is constant in the link, as a quaternion of any norm."""
    angle, rate, acceleration = swing(t)
    quaternion = 3.0 * np.array([*np.sin(angle / 2) * AXIS, np.cos(angle / 2)])
    return quaternion, rate * AXIS, acceleration * AXIS


def flown(t):
    """The same of a free joint that rises, too: its velocity is in the axes of the link."""
    quaternion, w, dw = turned(t)
    up = np.array([0.0, 0.0, 1.0])
    x, y, z, s = quaternion / np.linalg.norm(quaternion)
    u = np.array([x, y, z])
    seen = up + 2 * np.cross(u, np.cross(u, up)) - 2 * s * np.cross(u, up)  # R^T up
    v = 0.3 * seen
    return [0, 0, 0.3 * t, *quaternion], [*v, *w], [*np.cross(v, w), *dw]


DERIVED = ("hybrid_dynamics_derivatives", "inverse_dynamics_derivatives")
HYBRID = ("hybrid_dynamics", "inverse_dynamics")


def driven(name, joint, functions=HYBRID):
    joint += "\n    prescribed: true"
    text = BODY.format(name=name, gravity=[0, 0, -9.81], joint=joint)
    return module(text, functions=functions)


@pytest.mark.slow
def test_a_prescribed_attitude_is_a_hinge_where_its_axis_is_constant():
    hinge = driven("hinge", f"type: revolute\n    axis: {AXIS.tolist()}")
    ball = driven("ball", "type: spherical\n    coordinates: quaternion", (*HYBRID, *DERIVED))
    t, options = np.linspace(0, 2, 21), {"rtol": 1e-11, "atol": 1e-11}
    one = symgen.simulate(hinge, [0, 0.2], [0, 0.3], t, prescribed=swing_of_one, **options)
    start = [0, 0, 0, 0, 0.2], [0, 0, 0, 0.3]  # what is prescribed is not read
    other = symgen.simulate(ball, *start, t, prescribed=turned, sensitivities="all", **options)
    arm = {"coordinate": "arm"}
    assert np.allclose(one.q.sel(arm), other.q[:, -1], rtol=0, atol=1e-9)
    torque = other.tau[:, :3].values @ AXIS
    assert np.allclose(one.tau[:, 0], torque, rtol=0, atol=1e-8)
    assert np.allclose(np.linalg.norm(other.q[:, :4], axis=1), 1.0, rtol=0, atol=1e-15)


def swing_of_one(t):
    return tuple([x] for x in swing(t))


def test_a_prescribed_free_body_takes_the_torques_of_its_motion():
    flyer = driven("flyer", "type: floating\n    coordinates: quaternion")
    run = symgen.simulate(
        flyer, flyer.neutral(), np.zeros(7), np.linspace(0, 1, 11), prescribed=flown
    )
    state = run.q.values, run.qd.values, run.qdd.values
    expected = flyer.inverse_dynamics(*state)
    assert np.allclose(run.tau, expected, rtol=0, atol=1e-9)
    assert np.allclose(run.q[:, 2], 0.3 * run.time)


@pytest.mark.parametrize(("motion", "words"), [
    (lambda t: (turned(t)[0], 2 * turned(t)[1], turned(t)[2]), "q changes by .* but qd is"),
    (lambda t: (np.zeros(4), *turned(t)[1:]), "q at t = 0 s: .*quaternion"),
    (lambda t: (turned(t)[1], *turned(t)[1:]), "q of body_qx, body_qy, body_qz, body_qw"),
])  # fmt: skip
def test_wrong_prescribed_attitudes(motion, words):
    ball = driven("ball", "type: spherical\n    coordinates: quaternion")
    with pytest.raises(RequestError, match=words):
        symgen.simulate(ball, ball.neutral(), np.zeros(4), [0, 1], prescribed=motion)
