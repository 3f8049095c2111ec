"""Kane's equations with M formed, explicit and partially recursive, against inverse dynamics."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import sympy

from symgen import derive as derive_symbolically
from symgen import read
from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.algebra.sympy_algebra import SymPyAlgebra
from symgen.deriving.derivation import derived_program
from symgen.deriving.symbolic import euler_lagrange
from symgen.formulations import declare_inputs, derive, formulation_named
from symgen.formulations.explicit_kane import EXPLICIT_KANE, PARTIALLY_RECURSIVE_KANE
from symgen.formulations.explicit_kane.kinematics import system_at
from symgen.formulations.newton_euler import NEWTON_EULER
from symgen.kinematics.tree import BASE, build_tree
from symgen.optimize.folding import fold
from symgen.optimize.operations import operations_after
from symgen.program.builder import ProgramBuilder
from symgen.program.evaluation import call
from symgen.program.functions import function_named
from tests.choosing import one_in
from tests.oracles.comparison import STEP, agrees, state_of
from tests.oracles.descriptions import described
from tests.oracles.implicit import Implicit, pivots
from tests.oracles.lines import compared, slopes_of, values_of
from tests.oracles.parameter_kinds import chain, every_kind
from tests.oracles.programs import evaluated
from tests.oracles.random_models import EVERYTHING, Recipe, seeded_model_text

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("explicit_kane", "partially_recursive_kane")
BOTH = pytest.mark.parametrize(
    "formulation", [EXPLICIT_KANE, PARTIALLY_RECURSIVE_KANE], ids=lambda item: item.name
)
SMALL = Recipe(joints=(1, 4), types=EVERYTHING.types, loads=(0, 3), terms=True)


def random_model(seed, prescribed=()):
    """A small random tree with k a runtime parameter; every second joint may be prescribed."""
    text = seeded_model_text(seed, SMALL)
    places = [match.end() for match in re.finditer(r"\n    type: (?!fixed)\w+", text)]
    for place in reversed(places[1::2] if prescribed else []):
        text = text[:place] + "\n    prescribed: true" + text[place:]
    return described(text)


def check(description, formulation, function, runtime, arguments, *expected):
    """The results of a function; the pivots and the diagonal are the last two of `expected`."""
    program = evaluated(description, formulation, function, runtime)
    results = call(program, arguments)
    assert len(results) == len(expected)
    for output, value, reference in zip(program.outputs, results, expected, strict=True):
        assert agrees(value, reference, 1e-10), output.name


def check_forward(description, formulation, runtime, seed):
    oracle = Implicit(description, seed, runtime)
    hidden = (pivots(oracle.M), np.diag(oracle.M))
    rng = np.random.default_rng(seed)
    seeds = {name: rng.normal(size=(oracle.n, len(runtime))) for name in ("dq", "dqd", "dtau")}
    slopes = [oracle.forward(by) for by in ("q", "qd", "tau")]
    expected = {
        "forward_dynamics": (oracle.qdd,),
        "forward_dynamics_derivatives": (oracle.qdd, *slopes),
        "forward_dynamics_parameter_derivatives": (oracle.forward("parameters"),),
        "forward_dynamics_sensitivities": (oracle.qdd, oracle.sensitivities(seeds)),
    }
    for function, results in expected.items():
        arguments = {**oracle.torques, **seeds}
        check(description, formulation, function, runtime, arguments, *results, *hidden)


def check_hybrid(description, formulation, runtime, seed):
    oracle = Implicit(description, seed, runtime)
    free = ~oracle.prescribed
    block = oracle.M[np.ix_(free, free)]
    hidden = (pivots(block), np.diag(block))
    slopes = [oracle.hybrid(by) for by in ("q", "qd", "x")]
    expected = {
        "hybrid_dynamics": (oracle.found,),
        "hybrid_dynamics_derivatives": (oracle.found, *slopes),
        "hybrid_dynamics_parameter_derivatives": (oracle.hybrid("parameters"),),
    }
    for function, results in expected.items():
        check(description, formulation, function, runtime, oracle.given, *results, *hidden)


# -- results -----------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("seed", one_in(3, range(300, 312)))
def test_mass_matrix_and_bias_forces_of_random_trees(formulation, seed):
    description = described(seeded_model_text(seed, EVERYTHING))
    oracle = Implicit(description, seed)
    (M,) = call(evaluated(description, formulation, "mass_matrix"), oracle.state)
    assert agrees(M, oracle.M)
    (bias,) = call(evaluated(description, formulation, "bias_forces"), oracle.state)
    assert agrees(bias, oracle.tau - oracle.M @ oracle.qdd)


@BOTH
@pytest.mark.parametrize("seed", one_in(3, [320, 321, 322, *range(324, 330)]))
def test_forward_dynamics_of_random_trees(formulation, seed):
    check_forward(random_model(seed), formulation, ("k",), seed)


@BOTH
@pytest.mark.parametrize("seed", one_in(4, range(340, 350)))
def test_hybrid_dynamics_of_random_trees(formulation, seed):
    check_hybrid(random_model(seed, prescribed=True), formulation, ("k",), seed)


@BOTH
def test_a_singular_mass_matrix_shows_in_the_pivots(formulation):
    """Massless links between axes that coincide: a pivot is nothing but rounding."""
    description = random_model(323)
    oracle = Implicit(description, 323)
    assert np.linalg.cond(oracle.M) > 1e15
    program = evaluated(description, formulation, "forward_dynamics")
    *_, found, diagonal = call(program, oracle.torques)
    assert found.min() < oracle.n * np.finfo(float).eps * diagonal.max()


@BOTH
def test_parameters_of_every_kind(formulation):
    description, runtime = every_kind()
    check_forward(description, formulation, runtime, seed=1)
    check_hybrid(description, formulation, runtime, seed=1)


def test_every_parameter_of_that_model_matters():
    description, runtime = every_kind()
    oracle = Implicit(description, 1, runtime)
    assert (np.abs(oracle.forward("parameters")).max(axis=0) > 1e-6).all()
    assert np.flatnonzero(oracle.prescribed).tolist() == [1, 5, 7] and oracle.n == 9


@BOTH
@pytest.mark.parametrize("seed", one_in(3, range(300, 312)))
def test_inverse_dynamics_undoes_forward_dynamics(formulation, seed):
    description = described(seeded_model_text(seed, EVERYTHING))
    oracle = Implicit(description, seed)
    tau = np.random.default_rng(seed).normal(size=oracle.n) * 10
    given = {**oracle.state, "tau": tau}
    qdd = call(evaluated(description, formulation, "forward_dynamics"), given)[0]
    inverse = evaluated(description, NEWTON_EULER, "inverse_dynamics")
    scale = max(1.0, np.abs(tau).max(initial=0), np.abs(oracle.M).sum(1).max(initial=0))
    residual = call(inverse, {**oracle.state, "qdd": qdd})[0] - tau
    size = scale * max(1.0, np.abs(qdd).max(initial=0))
    assert np.abs(residual).max(initial=0) <= 1e-13 * size


@BOTH
@pytest.mark.parametrize("function", ["forward_dynamics", "hybrid_dynamics"])
def test_no_joint_at_all(formulation, function):
    description = described("symgen: 1\nname: still\njoints: []\n")
    for name in (function, f"{function}_derivatives", f"{function}_parameter_derivatives"):
        results = call(evaluated(description, formulation, name), {})
        assert all(result.size == 0 for result in results)


# -- kinematics --------------------------------------------------------------------------------


def kinematics_at(description, state):
    """What `System` holds, as numbers by body and name, and the parents of the bodies.

    The loads and R0 are put together here.
    """
    tree = build_tree(description, Graph())
    b = ProgramBuilder(tree.algebra, taken=tree.parameter_names)
    system = system_at(tree, b, declare_inputs(tree, b, "inverse_dynamics"))
    values = dict(description.parameter_values)
    for name in ("q", "qd", "qdd", "loads"):
        values.update(zip(b.declared(name).symbol_names, np.ravel(state[name]), strict=True))

    def vector(scalars):
        return np.array(evaluate(list(scalars), values))

    def matrix(scalars):
        return vector(scalars.entries).reshape(3, 3)

    still = {"R0": np.eye(3), "omega": np.zeros(3), "alpha": np.zeros(3)}
    bodies = {BASE: {**still, "a": vector(-tree.gravity), "P": {}}}
    for joint in system.joints:
        k, at, motion = joint.number, system.geometry[joint.number], system.motions[joint.number]
        body = {name: vector(getattr(at, name)) for name in ("s", "r", "gamma", "turn", "slide")}
        body |= {name: vector(getattr(motion, name)) for name in ("omega", "alpha", "a")}
        body |= {"C": matrix(at.C), "I": matrix(at.inertia), "m": vector([at.mass])}
        body |= {"load": np.zeros(6), "F1": vector(system.forces[k])}
        body["P"] = {r: vector(system.partial[r, k]) for r in tree.path(k)}
        body["R0"] = bodies[joint.parent]["R0"] @ body["C"]
        for arm, wrench in zip(at.arms, system.loads.get(k, ()), strict=True):
            force, moment = (body["R0"].T @ vector(x) for x in (wrench.force, wrench.moment))
            moment = moment + np.cross(vector(arm), force)
            body["load"] = body["load"] + [*moment, *force]
        bodies[k] = body
    return bodies, {joint.number: joint.parent for joint in system.joints}


@pytest.mark.parametrize("seed", [320, 321, 325, 327])
def test_the_equations_of_the_notes_hold_component_by_component(seed):
    """EK-1 to EK-7 as they stand in the notes, in NumPy."""
    description = random_model(seed)
    state = state_of(description, seed)
    bodies, parents = kinematics_at(description, state)
    for k, p in parents.items():
        here, before = bodies[k], bodies[p]
        C, s, r, gamma = (here[name] for name in ("C", "s", "r", "gamma"))
        turn, slide, qd, qdd = here["turn"], here["slide"], state["qd"][k - 1], state["qdd"][k - 1]
        omega_p, alpha_p, omega = before["omega"], before["alpha"], here["omega"]
        assert agrees(here["P"][k], [*turn, *(np.cross(turn, r) + slide)])
        assert agrees(gamma, s + C @ r)
        for i, P in before["P"].items():
            expected = [*(C.T @ P[:3]), *(C.T @ (P[3:] + np.cross(P[:3], gamma)))]
            assert agrees(here["P"][i], expected)
        omega_in = C.T @ omega_p
        assert agrees(omega, omega_in + turn * qd)
        alpha_own = turn * qdd + np.cross(omega_in, turn * qd)
        assert agrees(here["alpha"], C.T @ alpha_p + alpha_own)
        a_carried = before["a"] + np.cross(alpha_p, gamma)
        a_carried = a_carried + np.cross(omega_p, np.cross(omega_p, s))
        a = C.T @ a_carried + np.cross(omega, np.cross(omega, r)) + np.cross(alpha_own, r)
        a = a + 2 * np.cross(omega_in, slide * qd) + slide * qdd
        assert agrees(here["a"], a)
        H = here["I"] @ omega
        inertia = [*(here["I"] @ here["alpha"] + np.cross(omega, H)), *(here["m"] * here["a"])]
        assert agrees(here["F1"], here["load"] - inertia)


@pytest.mark.parametrize("seed", [320, 321, 325, 327])
def test_velocities_and_accelerations_are_derivatives_by_time(seed):
    """(10) to (13): of the centres' positions, and of sum_r P_r_k qd_r."""
    description = random_model(seed)
    state = state_of(description, seed)
    bodies, parents = kinematics_at(description, state)
    q, qd, qdd = (state[name] for name in ("q", "qd", "qdd"))
    soon = {**state, "q": q + 1j * STEP * qd, "qd": qd + 1j * STEP * qdd}
    later, _ = kinematics_at(description, soon)
    centers = {BASE: np.zeros(3)}
    gravity = -bodies[BASE]["a"]
    for k, p in parents.items():
        here, then = bodies[k], later[k]
        centers[k] = centers[p] + later[p]["R0"] @ then["gamma"]
        velocity = sum(P * qd[r - 1] for r, P in here["P"].items())
        moved = sum(P * soon["qd"][r - 1] for r, P in then["P"].items())
        d_R0, d_center, d_velocity = (x.imag / STEP for x in (then["R0"], centers[k], moved))
        spin, omega = here["R0"].T @ d_R0, velocity[:3]
        assert agrees(spin, np.cross(np.eye(3), omega)) and agrees(here["omega"], omega)
        assert agrees(here["R0"].T @ d_center, velocity[3:])
        assert agrees(here["alpha"], d_velocity[:3])
        a = d_velocity[3:] + np.cross(omega, velocity[3:])
        assert agrees(here["a"], a - here["R0"].T @ gravity)


# -- every line --------------------------------------------------------------------------------


def heads(lines):
    """What the lines are of: F1 for F1_2_n_x."""
    return {re.match("[^_]+", line)[0] for line in lines}


BY_VELOCITY = {"omega", "alpha", "a", "H", "F1", "K", "drive", "qdd"}
BY_COORDINATE = {"C", "gamma", "P", "omega", "alpha", "a", "H", "F1", "M", "K", "qdd"}
BY_PARAMETER = BY_VELOCITY | BY_COORDINATE | {"s", "r", "R0", "n", "f"}
COMPARED = {320: (190, 90), 328: (120, 50), 333: (310, 120)}
"""By seed: the least numbers of lines that have a derivative by a coordinate, and by a velocity."""


@BOTH
@pytest.mark.parametrize("seed", COMPARED)
def test_each_line_is_the_derivative_that_its_name_says(formulation, seed):
    """(27) to (31), (72) to (96) and what they are made of; (8), (9) through d_qdd."""
    description = random_model(seed)
    oracle = Implicit(description, seed)
    tree = build_tree(description, Graph())
    program = derive(tree, formulation, "forward_dynamics_derivatives")
    given = oracle.torques, description.parameter_values
    values = values_of(program, *given)
    everything = {"q": BY_COORDINATE, "qd": BY_VELOCITY}
    for (by, expected), number in zip(everything.items(), COMPARED[seed], strict=True):
        variables = [f"{by}_{i + 1}" for i in range(oracle.n)]
        lines = compared(values, slopes_of(program, *given, by), variables)
        assert len(lines) >= number and heads(lines) >= expected
        assert by == "qd" or seed != 320 or heads(lines) >= {"R0", "n", "f"}


@BOTH
def test_each_line_is_the_derivative_by_the_parameter_in_its_name(formulation):
    description, runtime = every_kind()
    oracle = Implicit(description, 1, runtime)
    tree = build_tree(description, Graph(), runtime)
    program = derive(tree, formulation, "forward_dynamics_parameter_derivatives")
    given = oracle.torques, {name: description.parameter_values[name] for name in runtime}
    slopes = slopes_of(program, *given, "parameters")
    lines = compared(values_of(program, *given), slopes, runtime)
    assert len(lines) >= 270 and heads(lines) >= BY_PARAMETER


@pytest.mark.parametrize("seed", [320, 321])
def test_the_parts_of_appendix_a_add_up(seed):
    """(80) to (83): the three parts are d R_2i^k; (90) to (92): the two are d F_2^k."""
    description = random_model(seed)
    oracle = Implicit(description, seed)
    tree = build_tree(description, Graph())
    program = derive(tree, PARTIALLY_RECURSIVE_KANE, "forward_dynamics_derivatives")
    given = oracle.torques, description.parameter_values
    values, added = values_of(program, *given), 0
    for name, slopes in slopes_of(program, *given, "q").items():
        match = re.fullmatch(r"(R2_\d+|F2)_(\d+)_([nf]_[xyz])", name)
        for i, expected in enumerate(slopes if match else (), start=1):
            letters = ("FQ", "FRQ") if match[1] == "F2" else ("RI", "RQ", "RRQ")
            column = match[1][2:]
            parts = [f"{letter}{column}_{match[2]}_{match[3]}_dq_{i}" for letter in letters]
            found = sum(values.get(part, 0.0) for part in parts)
            assert abs(found - expected) <= 1e-10 * max(1.0, abs(expected)), (name, i)
            added += any(part in values for part in parts)
    assert added > 20


# -- the SymPy view ----------------------------------------------------------------------------


@BOTH
def test_two_link_in_symbols(formulation):
    """M qdd + bias is what Lagrange's equations say, and so is M^-1 (tau - bias)."""
    model = read(EXAMPLES / "two_link.yaml")
    dynamics = derive_symbolically(model, formulation.name)
    lagrange = derive_symbolically(model, "closed_form_lagrange")
    torques, qdd = euler_lagrange(model), sympy.Matrix(lagrange.qdd)
    ours = dynamics.mass_matrix * qdd + dynamics.bias_forces
    tau = sympy.Matrix(dynamics.program("forward_dynamics").input("tau").symbols)
    solved = dict(zip(qdd, dynamics.forward_dynamics, strict=True))
    for residual in (ours - torques, torques.xreplace(solved) - tau):
        symbols = sorted(residual.free_symbols, key=str)
        values = sympy.lambdify(symbols, residual)(*np.linspace(0.4, 1.9, len(symbols)))
        assert np.abs(values).max() < 1e-11


@BOTH
@pytest.mark.parametrize("function", sorted(EXPLICIT_KANE.functions))
def test_both_algebras_give_the_same_numbers(formulation, function):
    """Over SymPy scalars and over the graph, with prescribed joints, loads and parameters."""
    compare_algebras(described(PLANE), formulation, function, ("L", "m", "G"))


def compare_algebras(description, formulation, function, runtime):
    algebra = SymPyAlgebra()
    symbolic = derive(build_tree(description, algebra, runtime), formulation, function)
    graph = derive(build_tree(description, Graph(), runtime), formulation, function)
    rng = np.random.default_rng(5)
    names = [name for array in graph.inputs for name in array.symbol_names]
    numbers = {
        name: float(x) for name, x in zip(names, rng.uniform(0.3, 1.5, len(names)), strict=True)
    }
    assert [array.symbol_names for array in symbolic.inputs] == [
        array.symbol_names for array in graph.inputs
    ]
    known = {sympy.Symbol(name, real=True): sympy.Float(x, 30) for name, x in numbers.items()}
    for line in symbolic.statements:
        known[sympy.Symbol(line.name, real=True)] = line.value.xreplace(known).evalf(30)
    expected = evaluate(graph.results, numbers)
    found = [float(sympy.sympify(x).xreplace(known).evalf(30)) for x in symbolic.results]
    assert agrees(np.array(expected, dtype=float), np.array(found), 1e-10)


PLANE = """
symgen: 1
name: plane
convention: standard
gravity: [0, -g, 0]
parameters: {L: 0.4, m: 1, I: 0.1, g: 9.81, G: 3, half: L/2}
joints:
  - {name: a, type: revolute, dh: {a: L}, rotor_inertia: 0.1, gear_ratio: G, friction: 0.2,
     link: {mass: m, com: [-half, 0, 0], inertia: {zz: I}}}
  - {name: b, type: prismatic, dh: {alpha: pi/2, theta: 0.3}, prescribed: true, damping: G,
     link: {mass: 2, com: [0, 0, 0.1], inertia: {xx: I}}}
  - {name: c, type: revolute, parent: a, dh: {a: L}, link: {mass: m, com: [-half, 0, 0]}}
loads:
  - {name: tip, link: c, point: [L, 0, 0]}
"""


# -- cost --------------------------------------------------------------------------------------


@cache
def operations(name, function, n, parameters=1):
    description, runtime = chain(n, parameters)
    program = derived_program(description, formulation_named(name), function, runtime)
    return operations_after(program.results).total


def operations_of_the_formulation(name, function, n):
    """Before constants find their places, which depends on which numbers happen to be equal."""
    description, runtime = chain(n, 1)
    tree = build_tree(description, Graph(), runtime)
    program = derive(tree, formulation_named(name), function)
    return operations_after(fold(program, description.parameter_values, runtime).results).total


DEGREES = {
    "mass_matrix": (3, 2),
    "bias_forces": (2, 1),
    "forward_dynamics": (3, 3),
    "forward_dynamics_derivatives": (4, 3),
    "forward_dynamics_sensitivities": (4, 3),
}
"""Of the polynomials in n that the numbers of operations of chains are: explicit, and recursive."""


@pytest.mark.parametrize("function", one_in(6, DEGREES))
def test_growth_with_the_number_of_coordinates(function):
    """For chains the number of operations is a polynomial in n: that of the paper's order."""
    for name, degree in zip(NAMES, DEGREES[function], strict=True):
        sizes = range(3, degree + 5)
        counts = [operations_of_the_formulation(name, function, n) for n in sizes]
        leading = np.diff(counts, degree)
        assert leading[0] > 0 and (leading == leading[0]).all(), (name, leading)
        if function == "forward_dynamics_sensitivities":  # times the factorial of the degree
            assert leading[0] == {"explicit_kane": 24 * 15 / 8, NAMES[1]: 6 * 233 / 6}[name]


@BOTH
@pytest.mark.parametrize("function", one_in(8, sorted(EXPLICIT_KANE.functions)))
def test_the_estimate_is_within_a_factor_two(formulation, function):
    forward = function.replace("hybrid", "forward")  # the same for chains whose joints are free
    cases = [(2, 1), (6, 1), (10, 1)] + ([(6, 6)] if function_named(function).needs else [])
    for n, parameters in cases:
        description, runtime = chain(n, parameters)
        estimate = formulation.estimate(build_tree(description, Graph(), runtime), function)
        real = operations(formulation.name, forward, n, parameters)
        assert 0.5 < estimate / real < 2, (n, parameters, estimate, real)


@pytest.mark.deep
def test_the_recursive_sums_are_cheaper_for_long_chains_only():
    for n, sign in ((4, -1), (11, -1), (12, 1)):
        costs = [operations(name, "forward_dynamics_sensitivities", n) for name in NAMES]
        assert np.sign(costs[0] - costs[1]) == sign, costs
