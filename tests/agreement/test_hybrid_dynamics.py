"""Prescribed joints at random: every formulation against a dense partitioned solution.

The solution is that of numpy, with Pinocchio's mass matrix and torques; derivatives are complex
steps through a dense solution with another formulation's mass matrix and bias forces, and
Pinocchio's slopes besides.
"""

from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest

from symgen.formulations import FORMULATIONS
from symgen.program.evaluation import call
from tests.agreement.test_pinocchio import compare
from tests.choosing import deep, one_in
from tests.oracles.comparison import (
    STEP,
    agrees,
    prescribed_coordinates,
    solving_limit,
    state_of,
)
from tests.oracles.dense import DenseRobot
from tests.oracles.descriptions import described
from tests.oracles.pinocchio_functions import has_solution, mass_to_invert
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.programs import evaluated
from tests.oracles.random_models import Recipe, seeded_model_text

FUNCTIONS = ("hybrid_dynamics", "hybrid_dynamics_derivatives")
TYPES = ("revolute", "prismatic", "fixed", "universal", "cylindrical", "spherical", "floating")
MIXED = Recipe(joints=(2, 6), types=TYPES, loads=(0, 3), terms=True, prescribed=True)
LARGE = Recipe(joints=(8, 20), loads=(0, 4), terms=True, prescribed=True)
ABLE = [item for item in FORMULATIONS if FUNCTIONS[0] in item.functions]


def model(seed):
    return described(seeded_model_text(seed, LARGE if seed % 5 == 0 else MIXED))


@pytest.mark.parametrize("seed", one_in(12, range(701, 713)))
def test_seeded_trees_against_pinocchio(seed):
    compare(model(seed), seed, only=FUNCTIONS)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(800, 860))
def test_many_seeded_trees_against_pinocchio(seed):
    compare(model(seed), seed, only=FUNCTIONS)


def test_the_trees_have_free_and_prescribed_joints():
    """And most of them a solution."""
    shares, solvable = [], 0
    for seed in range(700, 712):
        description = model(seed)
        shares.append(np.mean(prescribed_coordinates(description)))
        state = state_of(description, seed)
        solvable += has_solution(pinocchio_model(description), FUNCTIONS[0], state)
    assert sum(0 < share < 1 for share in shares) >= 8
    assert solvable >= 11


# -- derivatives by complex steps --------------------------------------------------------------


def slopes_of(robot, state):
    """dy/dq, dy/dqd, dy/dx of a `DenseRobot`."""
    for by in ("q", "qd", "x"):
        moved = {**state, by: state[by] + 1j * STEP * np.eye(len(state[by]))}
        yield robot.hybrid(moved).imag.T / STEP


@pytest.mark.parametrize("seed", [722, 724, *deep(721, 723, 725, 726, 727, 728)])
def test_slopes_equal_complex_steps(seed):
    description = model(seed)
    state, oracle = state_of(description, seed), pinocchio_model(description)
    mass = mass_to_invert(oracle, FUNCTIONS[0], state)
    assert has_solution(oracle, FUNCTIONS[0], state)
    expected = list(slopes_of(DenseRobot(description), state))
    for formulation in ABLE:
        program = evaluated(description, formulation, FUNCTIONS[1])
        for value, slope in zip(call(program, state)[1:4], expected, strict=True):
            assert agrees(value, slope, solving_limit(mass)), formulation.name


# -- all and none prescribed -------------------------------------------------------------------


def with_prescribed(description, flags):
    """The same robot with these coordinates prescribed, whatever its file says."""
    flags = iter(flags)
    joints = tuple(
        replace(joint, prescribed=tuple(next(flags) for _ in joint.prescribed))
        for joint in description.joints
    )
    return replace(description, joints=joints)


@pytest.mark.parametrize("seed", [732, 734, *deep(731, 733)])
def test_all_prescribed_is_inverse_dynamics(seed):
    description = with_prescribed(model(seed), cycle([True]))
    state = state_of(description, seed)
    torques = evaluated(description, FORMULATIONS[0], "inverse_dynamics_derivatives")
    tau, *slopes = call(torques, state)
    for formulation in ABLE:
        for function in FUNCTIONS:
            y, *rest, pivots, diagonal = call(evaluated(description, formulation, function), state)
            assert pivots.shape == diagonal.shape == (0,)
            assert agrees(y, tau)
            assert len(rest) == (3 if function == FUNCTIONS[1] else 0)
            for value, slope in zip(rest, slopes, strict=False):
                assert agrees(value, slope), (formulation.name, function)


@pytest.mark.parametrize("seed", [741, 743, *deep(742)])
def test_none_prescribed_is_forward_dynamics(seed):
    """And in forward dynamics those that are prescribed are free."""
    description = model(seed)
    free = with_prescribed(description, cycle([False]))
    state = state_of(free, seed)
    for formulation in ABLE:
        for kind in ("dynamics", "dynamics_derivatives"):
            cases = (free, "hybrid"), (free, "forward"), (description, "forward")
            one, two, three = (
                call(evaluated(robot, formulation, f"{direction}_{kind}"), state)
                for robot, direction in cases
            )
            for value, other, same in zip(one, two, three, strict=True):
                assert agrees(value, other, 1e-10), (formulation.name, kind)
                assert (other == same).all(), (formulation.name, kind)


@pytest.mark.parametrize("seed", one_in(2, range(751, 755)))
def test_one_prescribed_as_it_moves_by_itself(seed):
    """Given the acceleration that it has when free, the last joint takes the torque it had."""
    free = with_prescribed(model(seed), cycle([False]))
    state = state_of(free, seed)
    n = len(state["q"])
    last = with_prescribed(free, [k == n - 1 for k in range(n)])
    limit = solving_limit(pinocchio_model(free).mass_matrix(state["q"]))
    for formulation in ABLE:
        qdd, *_ = call(evaluated(free, formulation, "forward_dynamics"), state)
        x = np.append(state["tau"][:-1], qdd[-1])
        y, *_ = call(evaluated(last, formulation, FUNCTIONS[0]), {**state, "x": x})
        assert agrees(y[:-1], qdd[:-1], limit), formulation.name
        assert agrees(y[-1], state["tau"][-1], limit), formulation.name
