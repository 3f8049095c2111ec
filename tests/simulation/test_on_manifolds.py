"""`symgen.simulate` of free bodies: no singular attitude, no drift, sensitivities."""

import numpy as np
import pytest

import symgen
from symgen.errors import RequestError

pytest.importorskip("scipy")
pytest.importorskip("xarray")

BODY = """\
symgen: 1
name: {name}
gravity: [0, 0, 0]
parameters: {{m: 2}}
joints:
  - name: body
    type: floating
    {keys}
    origin: {{}}
    link: {{mass: m, com: [0.1, 0, 0.2], inertia: {{xx: 0.3, yy: 0.5, zz: 0.7, xy: 0.02}}}}
  - name: arm
    type: revolute
    origin: {{xyz: [0.2, 0, 0.1]}}
    axis: [0, 1, 0]
    link: {{mass: 0.5, com: [0, 0.2, 0], inertia: {{xx: 0.03, yy: 0.02, zz: 0.03}}}}
"""
RATES = np.array([0.1, -0.2, 0.3, 0.5, 2.0, -0.4, 0.8])


def loaded(folder, name, keys):
    path = folder / f"{name}.yaml"
    path.write_text(BODY.format(name=name, keys=keys))
    return symgen.load(
        path, formulations="newton_euler,kane", runtime_parameters="all", backend="numpy"
    )


@pytest.fixture(scope="module")
def body(tmp_path_factory):
    return loaded(tmp_path_factory.mktemp("free"), "tumbling", "coordinates: quaternion")


def test_nothing_drifts(body):
    """Energy and momentum of a tumbling body over 100 s, and the norm of its quaternion."""
    t = np.linspace(0, 100, 201)
    run = symgen.simulate(body, body.neutral(), RATES, t, rtol=1e-13, atol=1e-13)
    q, qd = run.q.values, run.qd.values
    np.testing.assert_allclose(np.linalg.norm(q[:, 3:7], axis=1), 1.0, rtol=0, atol=1e-15)
    for values in (body.kinetic_energy(q, qd), body.centroidal_momentum(q, qd)):
        assert np.abs(values - values[0]).max() < 1e-9


def test_the_attitude_where_angles_are_singular_is_like_any_other(body, tmp_path):
    """The same motion, turned as a whole: once far from the pole of the angles, once at it."""
    t = np.linspace(0, 2, 21)
    start = body.neutral()
    turned = body.integrate(start, [0, 0, 0, 0, np.pi / 2, 0, 0])
    runs = [symgen.simulate(body, q0, RATES, t, rtol=1e-13, atol=1e-13) for q0 in (start, turned)]
    np.testing.assert_allclose(runs[0].qd, runs[1].qd, rtol=0, atol=1e-10)
    angles = loaded(tmp_path, "by_angles", "sequence: zyx")
    pole = [0, 0, 0, 0, np.pi / 2, 0, 0]
    mass = [body.mass_matrix(turned), angles.mass_matrix(pole)]
    conditions = [np.linalg.cond(one) for one in mass]
    assert conditions[0] < 1e3 < 1e10 < conditions[1]


def test_sensitivities_are_differences(body):
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
