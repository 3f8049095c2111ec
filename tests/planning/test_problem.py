"""Derivatives of problems against differences, and the optima of Xiang 2009's two-link arm."""

import numpy as np
import pytest
import scipy.sparse

from symgen.planning.problem import Problem
from symgen.planning.program import SOLVED, Choices, Interrupted, violation
from symgen.planning.quantities import Torques
from symgen.planning.samples import Sampled
from symgen.planning.solver import solve
from symgen.planning.splines import Profile
from symgen.planning.terms import Effort, Rates, Sizes, Time
from tests.planning.robots import example

START, GOAL = np.array([0.0, -2.0]), np.array([1.0, -1.0])


@pytest.fixture
def module():
    """The two-link arm without gravity, as the time-optimal problem has it."""
    return example("plan/two_link_free")


def problem(module, midpoints, effort=0.0, squares=0.0):
    """From START to GOAL at rest in 20 cubic segments with at most 10 N m, and a first guess."""
    n, profile = module.n, Profile(3, 20)
    sizes, joints = Sizes(profile.controls, n), np.arange(n)
    count = 41 if midpoints else 21
    s = np.linspace(0.0, 1.0, count)
    none, limit = np.zeros(0), np.ones(count * n)
    speed = profile.differences(1)[1:-1]
    fastest = np.full(len(speed) * n, 50.0)
    gram = profile.differences(2).T @ profile.differences(2)
    terms = (
        Time(sizes, "time", none, none, 1.0),
        Effort(sizes, "acceleration", none, none, (), 2, np.full(n, effort), gram),
        Rates(sizes, "velocity", -fastest, fastest, (), speed, 1, joints),
        Sampled(
            sizes, "torque", -limit, limit, s=s, local=profile.at(s), quantity=Torques(module),
            limited=np.arange(count), chosen=joints, scale=np.full(n, 10.0),
            quadrature=np.full(count, 1 / count), squares=np.full(n, squares), linear=np.zeros(n),
        ),
    )  # fmt: skip
    lower, upper = np.full(sizes.unknowns, -np.inf), np.full(sizes.unknowns, np.inf)
    lower[:4] = upper[:4] = np.tile(START, 2)
    lower[-5:-1] = upper[-5:-1] = np.tile(GOAL, 2)
    lower[-1], upper[-1] = 0.01, 100.0
    guess = np.append(profile.straight(START, GOAL), 1.0)
    return Problem(profile, n, terms, lower, upper), guess


def matrix(pattern, values):
    return scipy.sparse.csc_matrix((values, (pattern.rows, pattern.columns)), pattern.shape)


@pytest.mark.parametrize("midpoints", [False, True])
def test_derivatives_agree_with_differences_along_random_directions(module, midpoints):
    program, x = problem(module, midpoints, effort=1e-4, squares=0.1)
    random = np.random.default_rng(0)
    x = x + 0.02 * random.standard_normal(len(x))
    direction = random.standard_normal(len(x))
    multipliers = random.standard_normal(program.rows)
    step = 1e-6

    def slope(function):
        return (function(x + step * direction) - function(x - step * direction)) / (2 * step)

    def jacobian(at):
        return matrix(program.jacobian_pattern, program.jacobian(at))

    def gradient(at):
        return 0.7 * program.gradient(at) + jacobian(at).T @ multipliers

    expected = slope(program.constraints)
    assert np.allclose(jacobian(x) @ direction, expected, atol=1e-8 * np.abs(expected).max())
    assert np.isclose(program.gradient(x) @ direction, slope(program.objective), rtol=1e-7)
    upper = matrix(program.hessian_pattern, program.hessian(x, 0.7, multipliers))
    hessian = upper + scipy.sparse.triu(upper, 1).T
    expected = slope(gradient)
    assert np.allclose(hessian @ direction, expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize(("midpoints", "best"), [(False, 0.39266), (True, 0.39314)])
def test_the_time_optimal_motion_of_the_two_link_arm(module, midpoints, best):
    pytest.importorskip("casadi", reason="needs casadi: pip install 'symgen[test]'")
    program, guess = problem(module, midpoints)
    first, second = (solve(program, guess, Choices(), Interrupted()) for _ in range(2))
    assert first.ended == SOLVED
    assert abs(first.x[-1] - best) < 1e-5
    assert first.x.tobytes() == second.x.tobytes()
    assert violation(program, first.x, program.constraints(first.x)) < 1e-8


def test_refined_splines_are_the_same_and_rates_are_bounded_by_their_control_points():
    random = np.random.default_rng(1)
    s = np.linspace(0.0, 1.0, 101)
    for degree in (3, 5):
        profile = Profile(degree, 7)
        control = random.standard_normal((profile.controls, 2))
        finer = Profile(degree, 14)
        refined = profile.refined(control, finer)
        for order in range(3):
            values = profile.at(s).of(control, order)
            assert np.allclose(finer.at(s).of(refined, order), values, atol=1e-8)
            bounds = profile.differences(order) @ control
            assert np.all(values <= bounds.max(axis=0) + 1e-9)
            assert np.all(values >= bounds.min(axis=0) - 1e-9)
        within = Profile(degree, 7, 4)
        assert np.allclose(
            within.bends() @ profile.refined(control, within),
            0,
            atol=1e-8 * np.abs(within.bends()).max(),
        )
        assert len(within.bends()) == 7 * 3
