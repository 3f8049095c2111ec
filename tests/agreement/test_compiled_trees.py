"""Random trees, compiled: every formulation that was built, against Pinocchio, to 1e-11."""

import numpy as np
import pytest

import symgen
from tests.agreement.test_pinocchio import TYPES
from tests.oracles.comparison import agrees
from tests.oracles.descriptions import described
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.random_models import Recipe, seeded_model_text

FUNCTIONS = "inverse_dynamics,inverse_dynamics_derivatives,joint_wrenches,point_motion_derivatives"
SMALL = Recipe(joints=(1, 3), types=TYPES, loads=(0, 3), points=(0, 2))
LARGE = Recipe(joints=(4, 12), loads=(0, 5), points=(0, 2))
SAMPLES = 5
LARGEST_CLOSED_FORM = 5
"""Coordinates: gcc takes minutes over larger ones."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_compiled(tmp_path, seed):
    path = tmp_path / "random_tree.yaml"
    path.write_text(seeded_model_text(seed, LARGE if seed % 4 == 0 else SMALL))
    oracle = pinocchio_model(described(path.read_text()))
    formulations = "newton_euler,recursive_lagrange"
    if oracle.n <= LARGEST_CLOSED_FORM:
        formulations += ",closed_form_lagrange"
    robot = symgen.load(path, formulations=formulations, functions=FUNCTIONS)
    assert robot.backend == "compiled"
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi, np.pi, (SAMPLES, robot.n))
    qd, qdd = rng.uniform(-2, 2, (2, SAMPLES, robot.n))
    loads = rng.uniform(-10, 10, (SAMPLES, robot.n_loads, 6))
    for name in formulations.split(","):
        family = getattr(robot, name)
        for function in FUNCTIONS.split(","):
            if function not in robot.operation_counts[name]:
                continue
            options = {} if function.startswith("point") else {"loads": loads}
            results = getattr(family, function)(q, qd, qdd, **options)
            results = results if isinstance(results, tuple) else (results,)
            for k in range(SAMPLES):
                one = {key: value[k] for key, value in options.items()}
                expected = getattr(oracle, function)(q[k], qd[k], qdd[k], **one)
                expected = expected if isinstance(expected, tuple) else (expected,)
                for value, reference in zip(results, expected, strict=True):
                    assert agrees(value[k], reference), (name, function)
