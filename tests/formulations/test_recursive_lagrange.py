"""Recursive Lagrange: every function against independent models, and what is written of it."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.algebra.linear import Matrix, Vector
from symgen.description import read
from symgen.formulations import derive
from symgen.formulations.newton_euler import NEWTON_EULER
from symgen.formulations.recursive_lagrange import RECURSIVE_LAGRANGE
from symgen.kinematics.bodies import Body
from symgen.kinematics.tree import build_tree
from symgen.program.evaluation import call
from symgen.program.functions import function_named
from symgen.validation.oracles import NumericRobot
from tests.choosing import deep, one_in
from tests.oracles.comparison import LIMIT, STEP, complex_steps, error, state_of
from tests.oracles.descriptions import described
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.programs import evaluated
from tests.oracles.random_models import Recipe, seeded_model_text

EXAMPLES = Path(__file__).parents[2] / "examples"
TREES = Recipe(joints=(1, 12), loads=(0, 5))
DERIVATIVES = "inverse_dynamics_derivatives"

DRIVEN = """
symgen: 1
name: driven
gravity: [1, -2, -9]
convention: standard
joints:
  - {name: slide, type: prismatic, dh: {alpha: 0.3}, link: {mass: 2}, rotor_inertia: 0.1,
     gear_ratio: 3, damping: 0.3, stiffness: 2, rest: 0.1, friction: 0.5, friction_velocity: 0.2}
  - {name: hip, type: spherical, origin: {xyz: [0.1, 0.2, 0.3], rpy: [0.1, 0.2, 0.3]},
     link: {mass: 1, com: [0.1, 0, 0.3], inertia: {xx: 1, yy: 2, zz: 1.5, xy: 0.1}},
     damping: [1, 2, 3]}
  - {name: arm, type: revolute, parent: slide, dh: {a: 0.4, d: 0.2, alpha: -1.1},
     link: {mass: 1, com: [0.1, 0, 0.3], inertia: {xx: 1, yy: 2, zz: 1.5, xy: 0.1}}, friction: 1}
loads:
  - {name: foot, link: hip, point: [0.1, 0.2, 0.3]}
  - {name: floor, link: base, point: [0.1, 0, 0]}
  - {name: hand, link: arm, point: [0.1, -0.2, 0.3]}
  - {name: elbow, link: arm, point: [0, 0.1, 0]}
points:
  - {name: toe, link: hip, point: [0.1, 0.2, 0.3]}
  - {name: mark, link: base, point: [0.1, 0.2, 0.3]}
"""

BRANCHES = """
symgen: 1
name: branches
convention: modified
joints:
  - {name: a, type: revolute, dh: {alpha: 0.3}, link: {mass: 2, com: [0.1, 0, 0.2]}}
  - {name: b, type: revolute, dh: {a: 0.4}, link: {mass: 2, com: [0.1, 0, 0.2]}}
  - {name: c, type: prismatic, parent: a, dh: {alpha: 1, a: 0.2}, link: {mass: 1}}
  - {name: d, type: revolute, dh: {alpha: 1, a: 0.2}}
  - {name: e, type: revolute, parent: base, dh: {alpha: 1, a: 0.2}, link: {mass: 1}}
loads:
  - {name: pull, link: b, point: [0.1, 0.2, 0.3]}
"""

# parents of the 43 joints of the human, (18) of the open-tree paper
HUMAN = (*range(13), 5, *range(14, 21), 5, *range(22, 31), 22, *range(32, 40), 22, 41, 42)


def program_of(description, function, formulation=RECURSIVE_LAGRANGE):
    return evaluated(description, formulation, function)


def expected_of(oracle, function, state):
    spec = function_named(function)
    arguments = [state[argument.name] for argument in spec.arguments]
    options = {argument.name: state[argument.name] for argument in spec.options}
    result = getattr(oracle, function)(*arguments, **options)
    return result if isinstance(result, tuple) else (np.asarray(result),)


# -- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", RECURSIVE_LAGRANGE.functions)
@pytest.mark.parametrize("seed", one_in(6, range(12)))
def test_every_function_of_random_trees(seed, function):
    description = described(seeded_model_text(seed, TREES))
    state = state_of(description, seed)
    values = call(program_of(description, function), state)
    expected = expected_of(NumericRobot(description), function, state)
    for value, right in zip(values, expected, strict=True):
        assert error(value, right) <= LIMIT


@pytest.mark.parametrize("function", RECURSIVE_LAGRANGE.functions)
def test_every_function_of_a_driven_tree(function):
    description = described(DRIVEN)
    state = state_of(description, 1)
    values = call(program_of(description, function), state)
    expected = expected_of(NumericRobot(description), function, state)
    for value, right in zip(values, expected, strict=True):
        assert error(value, right) <= LIMIT


@pytest.mark.parametrize("seed", one_in(8, range(20, 60)))
def test_torques_and_derivatives_equal_pinocchio(seed):
    description = described(seeded_model_text(seed, TREES))
    state = state_of(description, seed)
    values = call(program_of(description, DERIVATIVES), state)
    expected = expected_of(pinocchio_model(description), DERIVATIVES, state)
    for value, right in zip(values, expected, strict=True):
        assert error(value, right) <= LIMIT


@pytest.mark.parametrize("model", ["tree12", *deep("puma560", "arm7", "two_link")])
def test_examples_equal_newton_euler(model):
    description = read(EXAMPLES / f"{model}.yaml")
    state = state_of(description, 3)
    for function in ("inverse_dynamics", DERIVATIVES, "mass_matrix", "coriolis_matrix"):
        values = call(program_of(description, function), state)
        others = call(program_of(description, function, NEWTON_EULER), state)
        for value, right in zip(values, others, strict=True):
            assert error(value, right) <= LIMIT


@pytest.mark.parametrize("seed", range(10))
def test_derivatives_are_the_complex_steps_of_the_recursion(seed):
    description = described(DRIVEN if seed == 0 else seeded_model_text(seed + 60, TREES))
    state = state_of(description, seed)
    _, *slopes = call(program_of(description, DERIVATIVES), state)
    torques = program_of(description, "inverse_dynamics")
    for by, slope in zip(("q", "qd", "qdd"), slopes, strict=True):
        assert error(slope, complex_steps(torques, state, by)[0]) <= LIMIT


@pytest.mark.parametrize("seed", range(5))
def test_named_derivatives_are_those_of_the_named_statements(seed):
    """Every statement d_X_d<by> is the complex step of the statement X of the same program."""
    description = described(DRIVEN if seed == 0 else seeded_model_text(seed + 80, TREES))
    program = program_of(description, DERIVATIVES)
    state = state_of(description, seed)
    named = {line.name: line.value for line in program.statements}
    pairs = []
    for name in named:
        match = re.fullmatch(r"d_(.+)_d((qd?d?)_(\d+))", name)
        if match and match[1] in named:
            pairs.append((name, match[1], match[3], int(match[4])))
    assert pairs or len(program.statements) < 20
    for by in ("q", "qd", "qdd"):
        steps = {**state, by: state[by] + 1j * STEP * np.eye(len(state[by]))}
        mine = [pair for pair in pairs if pair[2] == by]
        inputs = inputs_of(program, steps)
        bases = evaluate([named[pair[1]] for pair in mine], inputs)
        slopes = evaluate([named[pair[0]] for pair in mine], inputs_of(program, state))
        for (name, _, _, k), base, slope in zip(mine, bases, slopes, strict=True):
            right = np.broadcast_to(np.asarray(base).imag, len(state[by]))[k - 1] / STEP
            assert error(slope, right) <= LIMIT, name


def inputs_of(program, state):
    values = {}
    for array in program.inputs:
        given = np.asarray(state.get(array.name, np.zeros(array.shape)))
        flat = given.reshape((*given.shape[: given.ndim - len(array.shape)], -1))
        values |= {name: flat[..., i] for i, name in enumerate(array.symbol_names)}
    return values


# -- what is written -----------------------------------------------------------------------------


def trees():
    yield build_tree(described(BRANCHES), Graph())
    yield build_tree(described(DRIVEN), Graph())
    yield build_tree(read(EXAMPLES / "tree12.yaml"), Graph())
    for seed in range(5):
        yield build_tree(described(seeded_model_text(seed, TREES)), Graph())


def on_one_path(tree, j, k):
    return k in tree.path(j) or j in tree.path(k)


@pytest.mark.parametrize("function", [DERIVATIVES, "mass_matrix", "coriolis_matrix"])
def test_nothing_is_written_for_pairs_that_are_not_on_one_path(function):
    for tree in trees():
        numbers = {joint.name: joint.number for joint in tree.joints}
        program = derive(tree, RECURSIVE_LAGRANGE, function)
        for step in program.steps:
            for line in step.statements:
                match = re.fullmatch(r"d_(.+)_dqd?d?_(\d+)", line.name)
                if match and not line.name.startswith("d_drive"):
                    assert on_one_path(tree, numbers[step.joint], int(match[2])), line.name
                    assert not line.value.is_zero
        for output in program.outputs[-3:]:
            if output.shape == (tree.n, tree.n):
                for position, entry in enumerate(output.entries):
                    i, k = divmod(position, tree.n)
                    assert entry.is_zero or on_one_path(tree, i + 1, k + 1)


@pytest.mark.deep
def test_the_human_of_the_open_tree_paper():
    joints = "".join(
        f"  - {{name: j{i}, type: revolute, parent: {f'j{p}' if p else 'base'}, "
        f"dh: {{a: 0.{i}, alpha: 0.{i}}}, link: {{mass: 1, com: [0.1, 0.2, 0.3]}}}}\n"
        for i, p in enumerate(HUMAN, start=1)
    )
    text = f"symgen: 1\nname: human\nconvention: standard\njoints:\n{joints}"

    def derivatives_by_q(text):
        tree = build_tree(described(text), Graph())
        return derive(tree, RECURSIVE_LAGRANGE, DERIVATIVES).outputs[1].entries

    by_q = derivatives_by_q(f"{text}gravity: [1, 2, -9]\n")
    assert sum(not entry.is_zero for entry in by_q) == 747
    assert by_q[41 * 43 + 17].is_zero and by_q[17 * 43 + 41].is_zero
    # the first axis is vertical: where gravity is, too, nothing changes with q_1
    by_q = derivatives_by_q(text)
    assert sum(not entry.is_zero for entry in by_q) == 747 - 43
    assert all(entry.is_zero for entry in by_q[::43])


def test_massless_links_and_unloaded_branches_write_nothing():
    program = derive(build_tree(described(BRANCHES), Graph()), RECURSIVE_LAGRANGE, DERIVATIVES)
    written = {(step.kind, step.joint) for step in program.steps}
    assert ("backward", "a") in written
    assert not {("backward", "d"), ("torque", "d"), ("inertia", "d")} & written
    assert ("derivatives of backward", "d") not in written
    names = [line.name for line in program.statements]
    assert any(name.startswith("F_pull_1") for name in names)
    assert not any(name.startswith(("F_pull_3", "TF_pull_3", "G_3", "G_5")) for name in names)
    assert program.results[3].is_zero  # tau of the massless leaf
    still = derive(build_tree(described(BRANCHES), Graph()), RECURSIVE_LAGRANGE, "gravity_forces")
    assert not any(line.note in ("RL-3", "RL-4", "RL-5", "RL-7") for line in still.statements)


def test_the_last_rows_of_the_matrices_fold_away():
    program = derive(build_tree(described(DRIVEN), Graph()), RECURSIVE_LAGRANGE, DERIVATIVES)
    for line in program.statements:
        match = re.fullmatch(
            r"(?:d_)?([ABCT](?:_in|_at)?)_\d+_([1-4])([1-4])(?:_dq_\d+)?", line.name
        )
        assert match is None or match[2] != "4", line.name
        match = re.fullmatch(r"(?:d_)?T?D_\d+_([1-4])([1-4])(?:_dqd?d?_\d+)?", line.name)
        assert match is None or match[2] != "4", line.name


# -- what the recursion takes from the tree ------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_the_generator_of_a_joint(seed):
    """Of order 1, 2 and 3: dT = U Z^order (T behind the seat)."""
    description = described(seeded_model_text(seed, TREES))
    tree = build_tree(description, Graph())
    for joint in tree.joints:
        q = tree.algebra.symbol(f"q_{joint.number}")

        def numbers(matrix, name=q.name):
            values = {**description.parameter_values, name: 0.7}
            return np.array(evaluate(list(matrix.entries), values), dtype=float).reshape(4, 4)

        U = numbers(joint.placement.tree.homogeneous(tree.algebra))
        Z = numbers(joint.generator(tree.algebra))
        T = numbers(joint.behind_seat(q, tree.algebra).homogeneous(tree.algebra))
        pose = numbers(joint.transform(q, tree.algebra).homogeneous(tree.algebra))
        np.testing.assert_allclose(U @ T, pose, atol=1e-14)
        for order in (1, 2, 3):
            slope = numbers(joint.transform_derivative(q, order, tree.algebra))
            product = U @ np.linalg.matrix_power(Z, order) @ T
            np.testing.assert_allclose(product, slope, atol=1e-14)


def test_the_pseudo_inertia_is_the_second_moment_of_the_masses():
    rng = np.random.default_rng(5)
    masses, points = rng.uniform(0.1, 2, 6), rng.normal(size=(6, 3))
    com = masses @ points / masses.sum()
    arms = points - com
    tensor = sum(
        m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms, strict=True)
    )
    graph = Graph()
    body = Body(
        graph.constant(masses.sum()),
        Vector(*map(graph.constant, com)),
        Matrix([[graph.constant(entry) for entry in row] for row in tensor]),
    )
    homogeneous = np.column_stack([points, np.ones(6)])
    expected = (homogeneous * masses[:, np.newaxis]).T @ homogeneous
    found = [entry.value for entry in body.pseudo_inertia(graph).entries]
    np.testing.assert_allclose(np.reshape(found, (4, 4)), expected, atol=1e-13)


def test_a_robot_without_joints_and_one_without_mass():
    for text in (
        "symgen: 1\nname: none\njoints: []\n",
        BRANCHES.replace("mass: 2", "mass: 0").replace("mass: 1", "mass: 0"),
    ):
        description = described(text)
        state = state_of(description, 0)
        for function in RECURSIVE_LAGRANGE.functions:
            values = call(program_of(description, function), state)
            for value, right in zip(
                values, expected_of(NumericRobot(description), function, state), strict=True
            ):
                assert error(value, right) <= LIMIT, function


def test_a_flipped_generator_is_found():
    """The comparison can fail: one joint's axis turned round makes the torques wrong."""
    description = described(BRANCHES)
    state = state_of(description, 2)
    tree = build_tree(description, Graph())
    joint = tree.joints[1]
    flipped = replace(joint, placement=replace(joint.placement, axis=-joint.placement.axis))
    wrong = replace(tree, joints=(tree.joints[0], flipped, *tree.joints[2:]))
    tau = call(derive(wrong, RECURSIVE_LAGRANGE, "inverse_dynamics"), state)[0]
    expected = NumericRobot(description).inverse_dynamics(
        state["q"], state["qd"], state["qdd"], loads=state["loads"]
    )
    assert error(tau, expected) > 1e-3
