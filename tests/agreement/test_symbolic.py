"""Over SymPy and over the graph the same code gives the same functions, symbolically."""

from pathlib import Path

import numpy as np
import pytest
import sympy

from symgen import derive as derive_symbolically
from symgen import read
from symgen.algebra.blackboard import fourier
from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.algebra.sympy_algebra import to_sympy
from symgen.deriving.symbolic import euler_lagrange
from symgen.errors import RequestError
from symgen.formulations import FORMULATIONS, derive, provided_functions
from symgen.kinematics.tree import build_tree
from symgen.program.functions import function_named
from tests.choosing import some_deep
from tests.oracles.comparison import agrees
from tests.oracles.descriptions import described

EXAMPLES = Path(__file__).parents[2] / "examples"
THREE = """
symgen: 1
name: three
convention: modified
gravity: [0, 0, -g]
parameters: {L1: 0.4, L2: 0.3, m1: 1, m2: 2, m3: 0.5, c: 0.1, I1: 0.1, I2: 0.2, Ixy: 0.01, g: 9.81}
joints:
  - {name: a, type: revolute, dh: {d: L1}, link: {mass: m1, com: [c, 0, 0], inertia: {zz: I1}}}
  - name: b
    type: revolute
    dh: {a: L2, alpha: pi/2}
    link: {mass: m2, com: [c, 0, 0], inertia: {xx: I2, yy: I2, zz: I2}}
  - name: c
    type: prismatic
    origin: {xyz: [0, L1, 0], rpy: [pi/2, 0, 0]}
    axis: [0, 1, 0]
    link: {mass: m3, com: [0, 0, c], inertia: {xx: I2, yy: I2, zz: I2, xy: Ixy}}
loads:
  - {name: tip, link: c, point: [0.1, 0, L2]}
"""
TERMS = """
symgen: 1
name: terms
gravity: [0, -g, 0]
parameters: {m: 1, c: 0.1, I: 0.1, g: 9.81, I_r: 0.01, G: 9, d: 0.2, k: 4, k0: 0.3, f: 0.7, v: 0.2}
joints:
  - {name: a, type: universal, axes: [z, x], origin: {}, rotor_inertia: I_r, gear_ratio: [G, 1],
     damping: [0, d], stiffness: k, rest: [0, k0], friction: [f, 0], friction_velocity: v,
     link: {mass: m, com: [c, c, 0], inertia: {xx: I, yy: I}}}
"""
MODELS = {
    "two_link": lambda: read(EXAMPLES / "two_link.yaml"),
    "cart_pole": lambda: read(EXAMPLES / "cart_pole.yaml"),
    "three": lambda: described(THREE),
    "terms": lambda: described(TERMS),
}


def flat(result):
    if isinstance(result, tuple | list):
        return [entry for part in result for entry in flat(part)]
    return list(result) if isinstance(result, sympy.MatrixBase) else [result]


def by_parameters(function):
    """Whether it is differentiated by all parameters that do not follow from others."""
    return any("n_parameters" in array.shape for array in function_named(function).results)


def graph_program(description, formulation, function):
    runtime = description.independent_parameters if by_parameters(function) else ()
    return derive(build_tree(description, Graph(), runtime), formulation, function)


def exact_functions(formulation):
    """What consists of polynomials with the numbers of the model file."""
    provided = provided_functions(formulation)
    return [f for f in provided if not (function_named(f).solves or by_parameters(f))]


CASES = [
    pytest.param(model, formulation, id=f"{model}-{formulation.name}")
    for formulation in FORMULATIONS
    for model in MODELS
]


@pytest.mark.parametrize(
    ("model", "formulation"),
    some_deep(CASES, [case for case in CASES if case.values[0] == "three"]),
)
def test_sympy_equals_the_graph(model, formulation):
    """By their canonical forms."""
    description = MODELS[model]()
    dyn = derive_symbolically(description, formulation.name)
    for function in exact_functions(formulation):
        if function not in dyn.functions:
            continue
        program = graph_program(description, formulation, function)
        ours = flat(dyn.expanded(function))
        theirs = to_sympy(program.results)
        assert len(ours) == len(theirs)
        for x, y in zip(ours, theirs, strict=True):
            assert fourier(x - y) == 0, function


@pytest.mark.parametrize(
    ("model", "formulation"),
    some_deep(CASES, [case for case in CASES if case.values[0] == "terms"]),
)
def test_sympy_gives_the_numbers_of_the_graph(model, formulation):
    """30 digits against floats, where it divides by pivots, or rounds 1/3 and 1/12 of a model."""
    description = MODELS[model]()
    dyn = derive_symbolically(description, formulation.name)
    exact = exact_functions(formulation)
    functions = [function for function in dyn.functions if function not in exact]
    assert functions
    for function in functions:
        program = graph_program(description, formulation, function)
        names = [name for array in program.inputs for name in array.symbol_names]
        values = np.random.default_rng(1).uniform(0.3, 1.5, len(names))
        numbers = dict(zip(names, values, strict=True))
        expected = np.array(evaluate(program.results, numbers), dtype=float)
        symbolic = dyn.program(function)
        known = {sympy.Symbol(x, real=True): sympy.Float(v, 30) for x, v in numbers.items()}
        for line in symbolic.statements:
            known[sympy.Symbol(line.name, real=True)] = line.value.xreplace(known).evalf(30)
        found = [sympy.sympify(x).xreplace(known).evalf(30) for x in symbolic.results]
        assert agrees(np.array(found, dtype=float), expected, 1e-10), function


def those_with(function):
    return [item.name for item in FORMULATIONS if function in item.functions]


@pytest.mark.parametrize("formulation", those_with("inverse_dynamics"))
@pytest.mark.parametrize("model", some_deep(MODELS, ["three", "terms"]))
def test_every_formulation_equals_euler_lagrange(model, formulation):
    description = MODELS[model]()
    difference = derive_symbolically(description, formulation).inverse_dynamics
    difference -= euler_lagrange(description)
    assert difference.applyfunc(fourier) == sympy.zeros(*difference.shape)


@pytest.mark.parametrize("formulation", those_with("forward_dynamics"))
@pytest.mark.parametrize("model", MODELS)
def test_accelerations_solve_the_euler_lagrange_equations(model, formulation):
    """With 30 digits, at a random state with random parameters."""
    description = MODELS[model]()
    dyn = derive_symbolically(description, formulation)
    torques, program = euler_lagrange(description), dyn.program("forward_dynamics")
    rng = np.random.default_rng(2)
    known = {
        sympy.Symbol(name, real=True): sympy.Float(rng.uniform(0.3, 1.5), 30)
        for array in program.inputs
        for name in array.symbol_names
    }
    for line in program.statements:
        known[sympy.Symbol(line.name, real=True)] = line.value.xreplace(known).evalf(30)
    qdd = [sympy.sympify(x).xreplace(known).evalf(30) for x in program.outputs[0].entries]
    n = len(qdd)
    known |= {sympy.Symbol(f"qdd_{k + 1}", real=True): qdd[k] for k in range(n)}
    for k in range(n):
        given = known[sympy.Symbol(f"tau_{k + 1}", real=True)]
        assert abs(torques[k].xreplace(known).evalf(30) - given) < 1e-20


def test_steps_name_their_equations():
    dyn = derive_symbolically(read(EXAMPLES / "two_link.yaml"), "newton_euler")
    names = [name for name, _, _ in dyn.steps]
    assert names.index("omega_2_z") < names.index("alpha_2_z") < names.index("f_2_x")
    by_name = {name: (expression, equation) for name, expression, equation in dyn.steps}
    expression, equation = by_name["omega_2_z"]
    assert str(expression) == "qd_1 + qd_2"
    assert "Barman 2020" in equation and "(3.11)" in equation
    assert len(names) == len(set(names))


def test_parameters_may_bear_any_name():
    text = THREE.replace("L1", "q_1").replace("L2", "tip_fx").replace("m1", "qdd_2")
    text = text.replace("I1", "E").replace("m2", "S").replace("m3", "I").replace("c: 0.1", "c: 0.1")
    description = described(text)
    dyn = derive_symbolically(description, "newton_euler")
    assert [s.name for s in dyn.q] == ["q_1_2", "q_2", "q_3"]
    assert [s.name for s in dyn.loads][:2] == ["tip_fx_2", "tip_fy"]
    assert len(dyn.qd) == len(dyn.qdd) == 3
    difference = dyn.inverse_dynamics - euler_lagrange(description)
    assert difference.applyfunc(fourier) == sympy.zeros(3, 1)


def test_what_is_not_derived_is_named():
    dyn = derive_symbolically(read(EXAMPLES / "two_link.yaml"), "newton_euler")
    with pytest.raises(AttributeError, match="mass_matrix"):
        dyn.mas_matrix
    with pytest.raises(RequestError, match="newton_euler"):
        derive_symbolically(read(EXAMPLES / "two_link.yaml"), "newton")


def test_a_changed_result_does_not_come_back():
    dynamics = derive_symbolically(read(EXAMPLES / "two_link.yaml"), "newton_euler")
    entry = dynamics.mass_matrix[0, 0]
    dynamics.mass_matrix[0, 0] = 0
    assert dynamics.mass_matrix[0, 0] == entry != 0
