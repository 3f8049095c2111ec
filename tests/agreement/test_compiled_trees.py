"""Random trees, compiled: every formulation that was built, against Pinocchio.

Every fourth module has all numbers of its model as arguments, and is called with other ones.
"""

import warnings

import numpy as np
import pytest

import symgen
from symgen.program.functions import function_named
from tests.agreement.test_parameter_derivatives import with_named_numbers
from tests.agreement.test_pinocchio import TYPES
from tests.oracles.comparison import LIMIT, agrees, solving_limit, state_of
from tests.oracles.descriptions import described
from tests.oracles.pinocchio_functions import has_solution, mass_to_invert, reference
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.random_models import Recipe, seeded_model_text

FUNCTIONS = (
    "inverse_dynamics", "inverse_dynamics_derivatives", "joint_wrenches",
    "point_motion_derivatives", "forward_dynamics", "forward_dynamics_derivatives",
)  # fmt: skip
SMALL = Recipe(joints=(1, 3), types=TYPES, loads=(0, 3), points=(0, 2))
LARGE = Recipe(joints=(4, 12), loads=(0, 5), points=(0, 2))
SAMPLES = 5
LARGEST_CLOSED_FORM = 5
"""Coordinates: gcc takes minutes over larger ones."""


def with_other_numbers(text, rng):
    """The model with every p_<i> up to a tenth larger or smaller, and k, too."""

    def changed(line):
        name, _, value = line.strip().partition(": ")
        if not line.startswith("  ") or not (name.startswith("p_") or name == "k"):
            return line
        return f"  {name}: {float(value) * rng.uniform(0.9, 1.1)!r}"

    head, joints = text.split("joints:\n")
    return "\n".join(map(changed, head.splitlines())) + "\njoints:\n" + joints


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(20))
def test_compiled(tmp_path, seed):
    text = seeded_model_text(seed, LARGE if seed % 4 == 0 else SMALL)
    changing = seed % 4 == 1
    if changing:
        text, _ = with_named_numbers(text)
    path = tmp_path / "random_tree.yaml"
    path.write_text(text)
    formulations = ["newton_euler", "recursive_lagrange", "kane", "explicit_kane"]
    description = described(text)
    if pinocchio_model(description).n <= LARGEST_CLOSED_FORM:
        formulations.append("closed_form_lagrange")
    robot = symgen.load(
        path,
        formulations=formulations,
        functions=FUNCTIONS,
        runtime_parameters="all" if changing else "none",
    )
    assert robot.backend == "compiled"
    options = {}
    if changing:
        description = described(with_other_numbers(text, np.random.default_rng(seed)))
        names = robot.parameter_names
        options = {"parameters": [description.parameter_values[name] for name in names]}
        assert names and not np.allclose(options["parameters"], robot.default_parameters)
    check(robot, description, formulations, options, seed)


def check(robot, description, formulations, parameters, seed):
    """All functions of all formulations, in a batch.

    Where there is no solution they say NaN, or something huge if rounding hides a pivot of 0.
    """
    oracle = pinocchio_model(description)
    states = [state_of(description, seed + 1000 * k) for k in range(SAMPLES)]
    for name in formulations:
        for function in FUNCTIONS:
            if function not in robot.operation_counts.get(name, {}):
                continue
            spec = function_named(function)

            def stacked(arrays):
                return {x.name: np.stack([state[x.name] for state in states]) for x in arrays}

            options = {**stacked(spec.options), **parameters}
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "(?s).*mass matrix is singular")
                solve = getattr(getattr(robot, name), function)
                results = solve(*stacked(spec.arguments).values(), **options)
            results = results if isinstance(results, tuple) else (results,)
            for k, state in enumerate(states):
                if not has_solution(oracle, function, state):
                    largest = np.abs(results[0][k]).max()
                    assert np.isnan(largest) or largest > 1e8, (name, function)
                    continue
                mass = mass_to_invert(oracle, function, state)
                limit = LIMIT if mass is None else solving_limit(mass)
                expected = reference(oracle, function, state)[: len(results)]
                for value, other in zip(results, expected, strict=True):
                    assert agrees(value[k], other, limit), (name, function)
