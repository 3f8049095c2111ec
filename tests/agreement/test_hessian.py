"""`inverse_dynamics_hessian`, entry by entry, against complex steps of gradients, by example."""

from pathlib import Path

import numpy as np
import pytest

import symgen
from tests.choosing import some_deep

EXAMPLES = sorted(path.stem for path in (Path(__file__).parents[2] / "examples").glob("*.yaml"))
STEP = 1e-100


@pytest.mark.parametrize("name", some_deep(EXAMPLES, {"cart_pole"}))
def test_second_derivatives_are_complex_steps_of_gradients(name):
    robot = symgen.load(
        Path("examples") / f"{name}.yaml", backend="numpy",
        functions="inverse_dynamics_derivatives,inverse_dynamics_hessian",
    )  # fmt: skip
    n, random = robot.n, np.random.default_rng(0)
    multipliers = random.standard_normal(n)
    state = random.standard_normal((3, n))
    given = {"loads": random.standard_normal((robot.n_loads, 6))} if robot.n_loads else {}
    moved = state.reshape(1, -1) + 1j * STEP * np.eye(3 * n)
    _, *slopes = robot.inverse_dynamics_derivatives(*np.split(moved, 3, axis=1), **given)
    rows = [multipliers @ np.asarray(slope).imag / STEP for slope in slopes]
    expected = np.concatenate(rows, axis=1)
    q_q, q_qd, q_qdd, qd_qd = robot.inverse_dynamics_hessian(*state, multipliers, **given)
    zero = np.zeros((n, n))
    found = np.block([[q_q, q_qd, q_qdd], [q_qd.T, qd_qd, zero], [q_qdd.T, zero, zero]])
    assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()
