"""Over SymPy and over the graph the same code gives the same functions, symbolically."""

from pathlib import Path

import pytest
import sympy

from symgen import derive as derive_symbolically
from symgen import read
from symgen.algebra.blackboard import fourier
from symgen.algebra.graph import Graph
from symgen.algebra.sympy_algebra import to_sympy
from symgen.errors import RequestError
from symgen.formulations import FORMULATIONS, derive, provided_functions
from symgen.kinematics.tree import build_tree
from symgen.symbolic import euler_lagrange
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


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda f: f.name)
@pytest.mark.parametrize("model", MODELS)
def test_sympy_equals_the_graph(model, formulation):
    description = MODELS[model]()
    dyn = derive_symbolically(description, formulation.name)
    for function in provided_functions(formulation):
        program = derive(build_tree(description, Graph()), formulation, function)
        ours = flat(dyn.expanded(function))
        theirs = to_sympy(program.results)
        assert len(ours) == len(theirs)
        for x, y in zip(ours, theirs, strict=True):
            assert fourier(x - y) == 0, function


@pytest.mark.parametrize("formulation", [item.name for item in FORMULATIONS])
@pytest.mark.parametrize("model", MODELS)
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
    with pytest.raises(RequestError, match="not available yet"):
        derive_symbolically(read(EXAMPLES / "two_link.yaml"), "semi_recursive")
    with pytest.raises(RequestError, match="newton_euler"):
        derive_symbolically(read(EXAMPLES / "two_link.yaml"), "newton")


def test_a_changed_result_does_not_come_back():
    dynamics = derive_symbolically(read(EXAMPLES / "two_link.yaml"), "newton_euler")
    entry = dynamics.mass_matrix[0, 0]
    dynamics.mass_matrix[0, 0] = 0
    assert dynamics.mass_matrix[0, 0] == entry != 0
