"""Over SymPy the code gives the functions that it gives over the graph, and Euler-Lagrange's."""

import numpy as np
import pytest
import sympy

from symgen import derive as derive_symbolically
from symgen import read
from symgen.algebra.blackboard import fourier
from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.errors import RequestError
from symgen.formulations import FORMULATIONS, derive
from symgen.kinematics.tree import build_tree
from symgen.program.functions import function_named
from tests.choosing import deep, slow, some_deep, some_slow
from tests.modules import EXAMPLES, described
from tests.oracles.comparison import agrees
from tests.oracles.euler_lagrange import euler_lagrange

THREE = """
symgen: 1
name: three
convention: modified
gravity: [0, 0, -g]
parameters: {L1: 0.4, L2: 0.3, m1: 1, m2: 2, m3: 0.5, c: 0.1, I1: 0.1, I2: 0.2, Ixy: 0.01, g: 9.81}
joints:
  - {name: a, type: revolute, dh: {d: L1}, link: {mass: m1, com: [c, 0, 0], inertia: {zz: I1}}}
  - {name: b, type: revolute, dh: {a: L2, alpha: pi/2},
     link: {mass: m2, com: [c, 0, 0], inertia: {xx: I2, yy: I2, zz: I2}}}
  - {name: c, type: prismatic, origin: {xyz: [0, L1, 0], rpy: [pi/2, 0, 0]}, axis: [0, 1, 0],
     link: {mass: m3, com: [0, 0, c], inertia: {xx: I2, yy: I2, zz: I2, xy: Ixy}}}
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


def by_parameters(function):
    """Whether it is differentiated by all parameters that do not follow from others."""
    return any("n_parameters" in array.shape for array in function_named(function).results)


def graph_program(description, formulation, function):
    runtime = description.independent_parameters if by_parameters(function) else ()
    return derive(build_tree(description, Graph(), runtime), formulation, function)


NUMBERS = [
    *slow(("two_link", FORMULATIONS[0])),
    *deep(*(("two_link", item) for item in FORMULATIONS[1:])),
    *slow(("terms", FORMULATIONS[1])),
    *deep(*(("terms", item) for item in (FORMULATIONS[0], *FORMULATIONS[2:]))),
]


@pytest.mark.parametrize(("model", "formulation"), NUMBERS)
def test_sympy_gives_the_numbers_of_the_graph(model, formulation):
    """30 digits against floats, for every function."""
    description = MODELS[model]()
    dyn = derive_symbolically(description, formulation.name)
    for function in dyn.functions:
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


def pairs_with(function):
    """All models by all formulations; all but some are slow or deep."""
    names = [item.name for item in FORMULATIONS if function in item.functions]
    both = [(model, name) for model in ("cart_pole", "two_link") for name in names]
    others = [("three", name) for name in names] + [("terms", name) for name in names]
    some = some_deep(others, [("three", "newton_euler"), ("terms", "composite")])
    return some_slow([*both, *some], [("cart_pole", "composite")])


@pytest.mark.parametrize(("model", "formulation"), pairs_with("inverse_dynamics"))
def test_every_formulation_equals_euler_lagrange(model, formulation):
    description = MODELS[model]()
    difference = derive_symbolically(description, formulation).inverse_dynamics
    difference -= euler_lagrange(description)
    assert difference.applyfunc(fourier) == sympy.zeros(*difference.shape)


def test_steps_name_their_equations():
    dyn = derive_symbolically(read(EXAMPLES / "two_link.yaml"), "newton_euler")
    names = [name for name, _, _ in dyn.steps]
    assert names.index("omega_2_z") < names.index("alpha_2_z") < names.index("f_2_x")
    by_name = {name: (expression, equation) for name, expression, equation in dyn.steps}
    expression, equation = by_name["omega_2_z"]
    assert str(expression) == "qd_1 + qd_2"
    assert "Barman 2020" in equation and "(3.11)" in equation
    assert len(names) == len(set(names))


ODD = """
symgen: 1
name: odd
gravity: [0, -E, 0]
parameters: {q_1: 0.4, tip_fx: 0.3, qdd_1: 1, E: 9.81, S: 0.1, I: 0.2}
joints:
  - {name: a, type: revolute, origin: {}, link: {mass: qdd_1, com: [q_1, S, 0], inertia: {zz: I}}}
loads: [{name: tip, link: a, point: [tip_fx, 0, 0]}]
"""


def test_parameters_may_bear_any_name():
    description = described(ODD)
    dyn = derive_symbolically(description, "newton_euler")
    assert [s.name for s in (*dyn.q, *dyn.qdd)] == ["q_1_2", "qdd_1_2"]
    assert [s.name for s in dyn.loads][:2] == ["tip_fx_2", "tip_fy"]
    difference = dyn.inverse_dynamics - euler_lagrange(description)
    assert difference.applyfunc(fourier) == sympy.zeros(1, 1)


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
