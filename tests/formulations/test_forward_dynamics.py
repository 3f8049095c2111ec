"""Accelerations by Newton-Euler: Pinocchio, numpy, complex steps, and back through the torques."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.models import spatial_tree
from symgen import read
from symgen.algebra.graph import Graph
from symgen.algebra.sympy_algebra import SymPyAlgebra, symbol
from symgen.deriving.derivation import derived_program
from symgen.formulations import derive
from symgen.formulations.newton_euler import NEWTON_EULER
from symgen.formulations.recursive_lagrange import RECURSIVE_LAGRANGE
from symgen.kinematics.tree import build_tree
from symgen.optimize.folding import fold
from symgen.optimize.operations import operations_after
from symgen.program.evaluation import call
from symgen.program.program import Output
from tests.choosing import one_in
from tests.oracles.comparison import STEP, agrees, solving_limit, state_of
from tests.oracles.descriptions import described
from tests.oracles.implicit import Implicit
from tests.oracles.parameter_kinds import chain, every_kind, independent, regular_model
from tests.oracles.pinocchio_forward import acceleration_derivatives, accelerations
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.random_models import EVERYTHING, Recipe

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
TREES = Recipe(joints=(2, 8), loads=(0, 3), terms=True)


def programs_of(description, prescribed=(), runtime=()):
    """Function and formulation -> folded program; joints `prescribed` are so whatever the file."""

    def program(function, formulation=NEWTON_EULER):
        tree = build_tree(description, Graph(), runtime)
        joints = tuple(replace(j, prescribed=j.number in prescribed) for j in tree.joints)
        tree = replace(tree, joints=joints)
        return fold(derive(tree, formulation, function), description.parameter_values, runtime)

    return program


SEEDS = (*range(6), *range(50, 62))
"""Of random models whose mass matrix can be inverted."""


def random_model(seed):
    return regular_model(seed, TREES if seed < 6 else EVERYTHING)


# -- accelerations -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", one_in(5, SEEDS))
def test_accelerations_equal_pinocchio(seed):
    description, robot = random_model(seed)
    state, limit = robot.state, solving_limit(robot.M)
    qdd, pivots, diagonal = call(programs_of(description)("forward_dynamics"), state)
    arguments = [state[name] for name in ("q", "qd", "tau", "loads")]
    assert agrees(qdd, accelerations(pinocchio_model(description), *arguments), limit)
    mass = pinocchio_model(description).mass_matrix(state["q"])
    assert agrees(diagonal, np.diag(mass))
    assert agrees(np.sum(np.log(pivots)), np.linalg.slogdet(mass)[1], limit)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_torques_of_the_accelerations_are_those_given(path):
    description = read(path)
    robot = Implicit(description, 3)
    state, limit = robot.state, solving_limit(robot.M)
    qdd = call(programs_of(description)("forward_dynamics"), state)[0]
    tau = call(programs_of(description)("inverse_dynamics"), {**state, "qdd": qdd})[0]
    assert agrees(tau, state["tau"], 1e-11)
    arguments = [state[name] for name in ("q", "qd", "tau", "loads")]
    assert agrees(qdd, accelerations(pinocchio_model(description), *arguments), limit)


def test_gravity_is_fallen_along():
    """A free body falls."""
    description = described(
        "symgen: 1\nname: stone\ngravity: [0, 0, -9.81]\njoints:\n"
        "  - {name: stone, type: floating, origin: {xyz: [0, 0, 0]}, link: {mass: 2, "
        "inertia: {xx: 1, yy: 1, zz: 1}}}\n"
    )
    state = {name: np.zeros(6) for name in ("q", "qd", "tau")}
    state["q"] = np.full(6, 0.3)
    qdd = call(programs_of(description)("forward_dynamics"), state)[0]
    assert agrees(qdd, [0, 0, -9.81, 0, 0, 0])


# -- derivatives -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", one_in(5, SEEDS))
def test_slopes_of_accelerations_equal_pinocchio(seed):
    description, robot = random_model(seed)
    state, limit = robot.state, solving_limit(robot.M)
    qdd, *slopes, pivots, _ = call(programs_of(description)("forward_dynamics_derivatives"), state)
    arguments = [state[name] for name in ("q", "qd", "tau", "loads")]
    expected = acceleration_derivatives(pinocchio_model(description), *arguments)
    for value, reference in zip(slopes, expected, strict=True):
        assert agrees(value, reference, limit)
    plain = call(programs_of(description)("forward_dynamics"), state)
    assert agrees(qdd, plain[0], limit) and agrees(pivots, plain[1], limit)


@pytest.mark.parametrize(
    "path",
    [pytest.param(p, marks=[pytest.mark.deep] if p.stem == "human43" else []) for p in EXAMPLES],
    ids=lambda path: path.stem,
)
def test_slopes_of_the_examples(path):
    description = read(path)
    robot = Implicit(description, 4)
    state, limit = robot.state, solving_limit(robot.M)
    results = call(programs_of(description)("forward_dynamics_derivatives"), state)
    arguments = [state[name] for name in ("q", "qd", "tau", "loads")]
    expected = acceleration_derivatives(pinocchio_model(description), *arguments)
    for value, reference in zip(results[1:4], expected, strict=True):
        assert agrees(value, reference, limit)


# -- prescribed joints -------------------------------------------------------------------------


def chosen(seed, n):
    """Numbers of the prescribed joints: some, and now and then all or none."""
    rng = np.random.default_rng(seed)
    share = rng.choice([0.0, 0.3, 0.6, 1.0], p=[0.1, 0.4, 0.4, 0.1])
    return tuple(j for j in range(1, n + 1) if rng.uniform() < share)


def hybrid_case(description, seed):
    """State with x, and y as numpy finds it from another formulation's M and bias."""
    state = state_of(description, seed)
    n = len(state["q"])
    prescribed = chosen(seed, n)
    p = np.array([j in prescribed for j in range(1, n + 1)], dtype=bool)
    x = np.where(p, state["qdd"], state["tau"])
    program = programs_of(description, prescribed)
    mass = call(program("mass_matrix", RECURSIVE_LAGRANGE), state)[0]
    bias = call(program("bias_forces", RECURSIVE_LAGRANGE), state)[0]
    f = ~p
    rhs = x[f] - bias[f] - mass[np.ix_(f, p)] @ x[p]
    qdd = np.where(p, x, 0.0)
    qdd[f] = np.linalg.solve(mass[np.ix_(f, f)], rhs)
    y = np.where(p, bias + mass @ qdd, qdd)
    return program, {**state, "x": x}, y, mass[np.ix_(f, f)]


@pytest.mark.parametrize("seed", one_in(5, SEEDS))
def test_what_was_not_given_equals_numpy(seed):
    description, _ = random_model(seed)
    program, state, y, mass = hybrid_case(description, seed)
    limit = solving_limit(mass)
    value, pivots, diagonal = call(program("hybrid_dynamics"), state)
    assert agrees(value, y, limit)
    assert agrees(diagonal, np.diag(mass))
    assert agrees(np.sum(np.log(pivots)), np.linalg.slogdet(mass)[1], limit)


@pytest.mark.parametrize("seed", one_in(9, SEEDS))
def test_hybrid_slopes_equal_complex_steps(seed):
    description, _ = random_model(seed)
    program, state, y, mass = hybrid_case(description, seed)
    limit = solving_limit(mass)
    value, *slopes, _pivots, _diagonal = call(program("hybrid_dynamics_derivatives"), state)
    assert agrees(value, y, limit)
    plain = program("hybrid_dynamics")
    for by, slope in zip(("q", "qd", "x"), slopes, strict=True):
        moved = {**state, by: state[by] + 1j * STEP * np.eye(len(y))}
        expected = call(plain, moved)[0].imag.T / STEP
        assert agrees(slope, expected, limit)


@pytest.mark.parametrize("seed", one_in(6, SEEDS))
def test_without_prescribed_joints_hybrid_is_forward(seed):
    description, robot = random_model(seed)
    state = robot.state
    program = programs_of(description)
    for function in ("dynamics", "dynamics_derivatives"):
        forward = call(program(f"forward_{function}"), state)
        hybrid = call(program(f"hybrid_{function}"), {**state, "x": state["tau"]})
        for a, c in zip(forward, hybrid, strict=True):
            assert (a == c).all()


def test_forward_dynamics_frees_all_joints():
    """Also those that are marked prescribed."""
    description = read(EXAMPLES[0])
    state = state_of(description, 5)
    marked, unmarked = programs_of(description, (1, 2)), programs_of(description)
    for function in ("forward_dynamics", "forward_dynamics_derivatives"):
        pairs = zip(call(marked(function), state), call(unmarked(function), state), strict=True)
        assert all((a == c).all() for a, c in pairs)


# -- what it costs -----------------------------------------------------------------------------


PLANAR = """
symgen: 1
name: planar
gravity: [0, -9.81, 0]
parameters: {L: 0.4, m: 1.2}
joints:
  - {name: a, type: revolute, origin: {}, link: {mass: m, com: [0.2, 0, 0], inertia: {zz: 0.1}}}
"""
AND_ONE = """  - {name: j%d, type: revolute, origin: {xyz: [L, 0, 0]},
     link: {mass: 1.3, com: [0.2, 0, 0], inertia: {zz: 0.0%d}}}
"""


WITH_PARAMETERS = (
    *("fork12", "planar3", "planar6", "chain4 a", "chain4 mass", "chain8 a", "chain8 mass"),
    *("gx", "dm ks", "m1 Ixy", "d1 roll", "gear", "one in four"),
    *("puma560", "arm7", "tree12", "satellite_arm", "two_link"),
)
"""Chains, trees, the robot with every kind of parameters, examples; each with some parameters."""


def with_parameters(name):
    """A robot of `WITH_PARAMETERS`, and its runtime parameters."""
    path = EXAMPLES[0].parent / f"{name}.yaml"
    if path.exists():
        description = read(path)
        return description, independent(description)[:2]
    if name == "fork12":
        return described(spatial_tree((*range(6), 2, 7, 8, 2, 10, 11), name)), ()
    if name.startswith("planar"):
        links = "".join(AND_ONE % (k, k) for k in range(2, int(name[-1]) + 1))
        return described(PLANAR + links), ("L", "m")
    if name.startswith("chain"):
        return chain(int(name[5]), 2, name.split()[1])
    description, runtime = every_kind()
    return description, runtime[::4] if name == "one in four" else tuple(name.split())


FUNCTIONS = [name for name in NEWTON_EULER.functions if name.startswith("forward_dynamics")]


@pytest.mark.parametrize("name", one_in(18, WITH_PARAMETERS))
def test_the_estimate_is_within_a_factor_of_two(name):
    description, runtime = with_parameters(name)
    for function in FUNCTIONS:
        program = derived_program(description, NEWTON_EULER, function, runtime)
        count = operations_after(program.results).total
        estimate = NEWTON_EULER.estimate(build_tree(description, Graph(), runtime), function)
        assert count / 2 < estimate < 2 * count, function


def test_recursions_are_not_estimated():
    tree = build_tree(read(EXAMPLES[0]), Graph())
    for function in ("inverse_dynamics", "mass_matrix", "inverse_dynamics_parameter_derivatives"):
        assert NEWTON_EULER.estimate(tree, function) == 0


@pytest.mark.parametrize(
    ("name", "accelerations_at_most", "slopes_at_most"),
    [("puma560", 1130, 4240), ("arm7", 2860, 10050), ("tree12", 3200, 11090)],
)
def test_counts_do_not_grow(name, accelerations_at_most, slopes_at_most):
    description = read(next(path for path in EXAMPLES if path.stem == name))
    limits = {
        "forward_dynamics": accelerations_at_most,
        "forward_dynamics_derivatives": slopes_at_most,
    }
    for function, most in limits.items():
        assert operations_after(programs_of(description)(function).results).total <= most


# -- how it reads ------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [*FUNCTIONS, "hybrid_dynamics", "mass_matrix"])
def test_entries_of_the_mass_matrix_have_their_names(function):
    """The numbers of the other statements give M, and `M_i_j` are its entries."""
    description = read(next(path for path in EXAMPLES if path.stem == "tree12"))
    state, program = state_of(description, 1), programs_of(description)(function)
    n = len(state["q"])
    state.update({name: np.zeros((n, 0)) for name in ("dq", "dqd", "dtau")})
    lines = [line for line in program.statements if line.name.startswith("M_")]
    called = call(replace(program, outputs=(Output("M", (len(lines),), values(lines)),)), state)
    mass = Implicit(description, 1).M
    places = [tuple(int(k) - 1 for k in line.name.split("_")[1:]) for line in lines]
    assert len(set(places)) == len(places) > 30
    assert agrees(called[0], np.array([mass[place] for place in places]))
    named = {line.value.index for line in lines}
    for output in program.outputs:
        if output.name in ("diagonal", "mass_matrix"):
            assert all(x.is_atomic or x.index in named for x in output.entries)


def values(lines):
    return tuple(line.value for line in lines)


def test_steps_say_what_they_are_for():
    description = read(next(path for path in EXAMPLES if path.stem == "two_link"))
    kinds = [step.kind for step in programs_of(description)("forward_dynamics").steps]
    assert "mass matrix, column 2: backward" in kinds and "bias: forward" in kinds
    assert "backward" not in kinds


# -- over SymPy --------------------------------------------------------------------------------

SMALL = """
symgen: 1
name: small
gravity: [0, -g, 0]
parameters: {m: 1.2, c: 0.1, I: 0.3, g: 9.81, L: 0.5, I_r: 0.01, G: 9, d: 0.2, f: 0.7}
joints:
  - {name: a, type: revolute, origin: {}, rotor_inertia: I_r, gear_ratio: G,
     damping: d, friction: f, link: {mass: m, com: [c, c, 0], inertia: {xx: I, zz: I}}}
  - {name: b, type: prismatic, origin: {xyz: [L, 0, 0]}, axis: [1, 0, 0], stiffness: 3,
     link: {mass: m, com: [c, 0, 0.2], inertia: {yy: I, zz: I}}}
"""
SOLVING = [name for name in NEWTON_EULER.functions if name.startswith(("forward_d", "hybrid"))]


@pytest.mark.parametrize("function", SOLVING)
def test_sympy_and_the_graph_give_the_same_numbers(function):
    """The statements one after the other, as numbers, for a robot with a prescribed joint."""
    description, runtime = described(SMALL), ("m", "L", "G")
    algebra = SymPyAlgebra()
    tree = build_tree(description, algebra, runtime)
    joints = tuple(replace(j, prescribed=j.number == 1) for j in tree.joints)
    program = derive(replace(tree, joints=joints), NEWTON_EULER, function)
    rng = np.random.default_rng(5)
    state = {array.name: rng.uniform(-1, 1, array.shape) for array in program.inputs}
    state["parameters"] = np.array([description.parameter_values[name] for name in runtime])
    values = {symbol(name): value for name, value in description.parameter_values.items()}
    for array in program.inputs:
        if array.name != "parameters":
            values.update(zip(array.symbols, map(float, state[array.name].ravel()), strict=True))
    for line in program.statements:
        values[symbol(line.name)] = float(line.value.xreplace(values))
    results = iter([float(entry.xreplace(values)) for entry in program.results])
    ours = [[next(results) for _ in output.entries] for output in program.outputs]
    theirs = call(programs_of(description, (1,), runtime)(function), state)
    assert len(ours) == len(theirs)
    for value, reference in zip(ours, theirs, strict=True):
        assert agrees(np.reshape(value, reference.shape), reference)
