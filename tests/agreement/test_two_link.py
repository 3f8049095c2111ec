"""The two-link arm, symbolically: every derivation equals eqs. (69)-(82) of Xiang 2009."""

from pathlib import Path

import pytest
import sympy

from symgen import derive, read
from symgen.algebra.blackboard import fourier
from symgen.algebra.sympy_algebra import symbol
from symgen.deriving.symbolic import euler_lagrange
from symgen.formulations import FORMULATIONS
from symgen.validation import two_link
from tests.choosing import deep, slow

EXAMPLE = Path(__file__).parents[2] / "examples" / "two_link.yaml"
ARM = two_link.arm({name: symbol(name) for name in two_link.Arm._fields})
Q, QD, QDD = ([symbol(f"{name}_{i}") for i in (1, 2)] for name in ("q", "qd", "qdd"))
F = symbol("f")
DEAR = "semi_recursive"
LOAD = {symbol(f"tip_{part}"): 0 for part in ("fx", "fz", "nx", "ny", "nz")} | {
    symbol("tip_fy"): -F
}


def each_with(function):
    """Try the formulations that derive `function`; all but one are slow, one is deep."""
    found = [item.name for item in FORMULATIONS if function in item.functions]
    assert len(found) >= 3
    quick = ["newton_euler", *slow(*(x for x in found if x not in ("newton_euler", DEAR)))]
    return pytest.mark.parametrize("formulation", [*quick, *deep(*({DEAR} & {*found}))])


@pytest.fixture(scope="module")
def model():
    return read(EXAMPLE)


def equal(matrix, expected):
    difference = sympy.Matrix(matrix).xreplace(LOAD) - sympy.Matrix(expected)
    return difference.applyfunc(fourier) == sympy.zeros(*difference.shape)


@each_with("inverse_dynamics")
def test_torques_equal_69_and_70(model, formulation):
    dyn = derive(model, formulation)
    expected = two_link.torques(ARM, Q, QD, QDD, F, sympy)
    assert equal(dyn.inverse_dynamics, expected)
    assert equal(dyn.expanded("inverse_dynamics"), expected)
    assert set(dyn.inverse_dynamics.free_symbols) >= {symbol("l2"), symbol("L2"), symbol("g")}


@pytest.mark.slow
def test_euler_lagrange_equals_69_and_70(model):
    assert equal(euler_lagrange(model), two_link.torques(ARM, Q, QD, QDD, F, sympy))


@each_with("forward_dynamics")
def test_accelerations_solve_69_and_70(model, formulation):
    """The torques (69), (70) of the accelerations are those that were given, as symbols."""
    dyn = derive(model, formulation)
    given = [symbol(f"tau_{i}") for i in (1, 2)]
    expected = two_link.torques(ARM, Q, QD, list(dyn.forward_dynamics), F, sympy)
    for torque, tau in zip(expected, given, strict=True):
        difference = sympy.fraction(sympy.together((torque - tau).xreplace(LOAD)))[0]
        assert sympy.simplify(fourier(difference)) == 0


@each_with("inverse_dynamics_derivatives")
def test_gradients_equal_71_to_82(model, formulation):
    _, by_q, by_qd, by_qdd = derive(model, formulation).inverse_dynamics_derivatives
    assert equal(by_q, two_link.position_gradients(ARM, Q, QD, QDD, F, sympy))
    assert equal(by_qd, two_link.velocity_gradients(ARM, Q, QD, sympy))
    assert equal(by_qdd, two_link.acceleration_gradients(ARM, Q, sympy))


@each_with("kinetic_energy")
def test_the_other_functions_follow(model, formulation):
    dyn = derive(model, formulation)
    M = sympy.Matrix(two_link.acceleration_gradients(ARM, Q, sympy))
    qd = sympy.Matrix(QD)
    assert equal(dyn.mass_matrix, M)
    assert equal([dyn.kinetic_energy], [(qd.T * M * qd)[0] / 2])
    at_rest = {x: 0 for x in (*QD, *QDD)} | {F: 0}
    torques = sympy.Matrix(two_link.torques(ARM, Q, QD, QDD, F, sympy))
    assert equal(dyn.gravity_forces, torques.xreplace(at_rest))
    assert equal(dyn.bias_forces, torques.xreplace({x: 0 for x in QDD}))
    height = sympy.Matrix([dyn.potential_energy]).jacobian(Q).T
    assert equal(height, torques.xreplace(at_rest))
    if "coriolis_matrix" in dyn.functions:
        rates = sum((M.diff(q) * v for q, v in zip(Q, QD, strict=True)), sympy.zeros(2))
        skew = rates - 2 * dyn.coriolis_matrix
        assert equal(skew + skew.T, sympy.zeros(2))
    loads = dyn.inverse_dynamics_load_derivatives
    assert equal([row[0, 1] for row in loads], [-row.diff(F) for row in torques])


def test_the_shipped_arm_has_no_two_equal_parameters():
    """Otherwise an exchange of two would go unseen."""
    arm = two_link.arm(read(two_link.model_path()).parameter_values)
    assert len(set(arm)) == len(arm)
