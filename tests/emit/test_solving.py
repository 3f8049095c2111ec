"""Functions that solve for accelerations, where there is no solution: in every backend alike."""

import warnings
from math import pi

import numpy as np
import pytest

from symgen.options import BuildOptions
from tests.choosing import some_slow
from tests.emit.building import BACKENDS, build_bundle, build_versions
from tests.safety.building import bundle_of

FUNCTIONS = ("mass_matrix", "bias_forces", "forward_dynamics", "forward_dynamics_derivatives")
BALL = """
symgen: 1
name: ball
joints:
  - {name: s, type: spherical, origin: {},
     link: {mass: 2, com: [0.1, 0.2, -0.3], inertia: {xx: 0.1, yy: 0.2, zz: 0.25, xy: 0.01}}}
  - {name: e, type: revolute, origin: {xyz: [1, 0, 0]}, axis: [1, 0, 0], link: {mass: 1,
     com: [0, 0.1, 0.2]}}
loads:
  - {name: tip, link: e, point: [0, 0, 1]}
"""
REGULAR, SINGULAR = [0.1, 0.2, 0.3, 0.4], [0.1, pi / 2, 0.3, 0.4]
TAU = [0.5, -1.0, 2.0, 0.25]
QD = [1.0, 2.0, 3.0, -1.0]

LOOPS = ("compiled", "numpy")
BACKEND_SETS = [
    *some_slow([("numpy",), LOOPS], [("numpy",)], alone=True),
    pytest.param(BACKENDS, marks=pytest.mark.deep),
]


def loaded(text, backends, folder):
    """A module in straight lines, or by composite bodies in loops."""
    (folder / "model.yaml").write_text(text)
    form, formulation = ("straight", "newton_euler")
    if backends == LOOPS:
        form, formulation = ("loops", "composite")
    functions = FUNCTIONS if text is BALL else FUNCTIONS[:3]
    options = BuildOptions(functions=functions, formulations=(formulation,), form=form)
    build = build_versions if backends == LOOPS else build_bundle
    return build(bundle_of(folder / "model.yaml", options, backends), folder)


@pytest.fixture(scope="module", params=BACKEND_SETS, ids=str)
def ball(request, tmp_path_factory):
    return loaded(BALL, request.param, tmp_path_factory.mktemp("ball"))


def families(ball):
    (name,) = ball.formulations
    return [getattr(backend, name) for backend in ball.backends.values()]


def solvers(ball):
    for family in families(ball):
        yield family.forward_dynamics
        yield family.forward_dynamics_derivatives


def test_docstrings_say_what_may_have_no_solution(ball):
    assert "LinAlgError" in ball.forward_dynamics.__doc__
    assert "LinAlgError" not in ball.mass_matrix.__doc__


def test_a_regular_sample(ball):
    expected = np.linalg.solve(ball.mass_matrix(REGULAR), TAU - ball.bias_forces(REGULAR, QD))
    for solve in solvers(ball):
        result = solve(REGULAR, QD, TAU)
        qdd = result[0] if isinstance(result, tuple) else result
        np.testing.assert_allclose(qdd, expected, rtol=1e-12)


def test_one_singular_sample_is_an_error(ball):
    for solve in solvers(ball):
        with pytest.raises(np.linalg.LinAlgError, match="the mass matrix is singular"):
            solve(SINGULAR, QD, TAU)
        with pytest.raises(np.linalg.LinAlgError):
            solve(*map(np.array, (SINGULAR, QD, TAU)))


def test_a_singular_sample_in_a_batch_is_nan_with_one_warning(ball):
    q = np.array([REGULAR, SINGULAR, REGULAR, SINGULAR])
    for solve in solvers(ball):
        for arguments in ((q, QD, TAU), (q, np.tile(QD, (4, 1)), np.tile(TAU, (4, 1)))):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                results = solve(*arguments)
            assert [w.category for w in caught] == [RuntimeWarning]
            assert "singular in 2 of 4 samples" in str(caught[0].message)
            assert caught[0].filename == __file__
            for result in results if isinstance(results, tuple) else (results,):
                axes = tuple(range(1, result.ndim))
                assert np.isnan(result).all(axis=axes).tolist() == [False, True, False, True]
                np.testing.assert_array_equal(result[0], result[2])


@pytest.mark.parametrize(("count", "words"), [(1, "1 of 1 samples"), (12000, "6000 of 12000")])
def test_batches_of_any_size_warn_once(ball, count, words):
    q = np.tile([SINGULAR, REGULAR], (count, 1))[:count]
    for solve in solvers(ball):
        with pytest.warns(RuntimeWarning, match=f"singular in {words}") as caught:
            solve(q, QD, TAU)
        assert len(caught) == 1


def test_results_that_are_given(ball):
    for family in families(ball):
        out = np.zeros(4)
        with pytest.raises(np.linalg.LinAlgError):
            family.forward_dynamics(SINGULAR, QD, TAU, out=out)
        assert family.forward_dynamics(REGULAR, QD, TAU, out=out) is out
        assert np.isfinite(out).all()


def test_a_nan_goes_through(ball):
    for solve in solvers(ball):
        result = solve([np.nan, 0.2, 0.3, 0.4], QD, TAU)
        assert np.isnan(result[0] if isinstance(result, tuple) else result).all()


def test_a_singular_sample_of_complex_numbers_is_an_error(ball):
    with pytest.raises(np.linalg.LinAlgError):
        families(ball)[-1].forward_dynamics(np.array(SINGULAR) + 1e-30j, QD, TAU)


BESIDE = """
symgen: 1
name: beside
joints:
  - {name: ship, type: floating, origin: {}, link: {mass: 1000, com: [0.1, 0, 0.02],
     inertia: {xx: 500, yy: 300, zz: 400}}}
  - {name: mote, type: floating, parent: base, origin: {}, link: {mass: 1e-6, com: [1e-4, 0, 0],
     inertia: {xx: 2e-13, yy: 4e-13, zz: 3e-13}}}
"""


@pytest.mark.slow
def test_a_light_body_beside_a_heavy_one_is_not_singular(tmp_path):
    """Each pivot is compared with the diagonal entry of its own row."""
    module = loaded(BESIDE, BACKENDS, tmp_path)
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.uniform(-1, 1, (3, module.n))
    mass = module.mass_matrix(q)
    scale = np.diag(1 / np.sqrt(np.diag(mass)))
    assert np.linalg.cond(scale @ mass @ scale) < 30 < 1e12 < np.linalg.cond(mass)
    tau = mass @ qdd + module.bias_forces(q, qd)
    for family in families(module):
        solve = family.forward_dynamics
        np.testing.assert_allclose(solve(q, qd, tau), qdd, rtol=1e-8)
