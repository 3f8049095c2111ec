"""Symbols of results in LaTeX, and names of parameters and loads in text."""

import pytest
import sympy

from symgen.program.functions import FUNCTIONS
from symgen.showing.typesetting import (
    fits,
    latex,
    latex_equation,
    pretty,
    pretty_sum,
    result_symbol,
)

NAMES = {
    "link": ["hand"], "point": ["tip_1"], "load": ["push"], "output": ["reach"],
    "parameter": ["L_1"],
}  # fmt: skip
RESULTS = [result for function in FUNCTIONS for result in function.results]


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: result.name)
def test_every_result_has_a_symbol_of_the_field(result):
    rank = len(result.shape)
    symbols = [result_symbol(result.name, NAMES, (0,) * length) for length in range(rank + 1)]
    assert len(set(symbols)) == rank + 1, "every index must show"
    assert not any(text.startswith(r"\mathrm") for text in symbols)


def test_no_two_results_have_the_same_symbol():
    """But for the gravity forces, which are a function and one of the parts of torques."""
    names = {result.name for result in RESULTS} - {"gravity_torques"}
    assert result_symbol("gravity_torques", NAMES) == result_symbol("gravity_forces", NAMES)
    assert len({result_symbol(name, NAMES) for name in names}) == len(names)


@pytest.mark.parametrize(("name", "index", "expected"), [
    ("joint_wrenches", (0, 5), "w_{1,n_z}"),
    ("tau", (0,), r"\tau_{1}"),
    ("regressor", (0, 2), "Y_{1,3}"),
    ("position", (0, 1), r"r_{y}^{\mathrm{tip\_1}}"),
    ("jacobians", (0, 3, 1), r"J_{\omega_x,2}^{\mathrm{hand}}"),
    ("kinetic_energy", (), r"E_{\mathrm{kin}}"),
    ("center_of_mass_jacobian", (2, 0),
     r"\frac{\partial r_{z}^{\mathrm{com}}}{\partial q_{1}}"),
    ("dw_dqd", (0, 5, 1), r"\frac{\partial w_{1,n_z}}{\partial \dot{q}_{2}}"),
    ("dtau_dqdd", (), r"\frac{\partial \tau}{\partial \ddot{q}}"),
    ("dtau_dloads", (1, 0, 2), r"\frac{\partial \tau_{2}}{\partial f_{z}^{\mathrm{push}}}"),
    ("qdd", (1,), r"\ddot{q}_{2}"),
    ("outputs", (0,), r"o^{\mathrm{reach}}"),
    ("do_dtau", (0, 1), r"\frac{\partial o^{\mathrm{reach}}}{\partial \tau_{2}}"),
    ("dT_dparameters", (0,), r"\frac{\partial E_{\mathrm{kin}}}{\partial \mathrm{L\_1}}"),
    ("dqdd", (1, 0), r"\frac{\mathrm{d} \ddot{q}_{2}}{\mathrm{d} \mathrm{L\_1}}"),
    ("dqdd_dparameters", (), r"\frac{\partial \ddot{q}}{\partial p}"),
    ("odd_one", (0, 1), r"\mathrm{odd\_one}_{1,2}"),
])  # fmt: skip
def test_symbols_and_their_indices(name, index, expected):
    assert result_symbol(name, NAMES, index) == expected


def test_only_numbers_become_subscripts_of_text():
    for name, shown in {"q_1": "q₁", "L2": "L₂", "tip_nx": "tip_nx", "I_xx": "I_xx"}.items():
        assert pretty(sympy.Symbol(name)) == shown


@pytest.mark.parametrize(("factors", "expected"), [
    ("l2 c_12 g m2", r"m_{2} \, g \, l_{2} \, c_{12}"),
    ("s_23 mp", r"m_{p} \, s_{23}"),
    ("qd_1 lc2 hip_fx Izz1", r"I_{zz1} \, l_{c2} \, f_{x}^{\mathrm{hip}} \, \dot{q}_{1}"),
    ("mu tip", r"\mu \, \mathrm{tip}"),
])  # fmt: skip
def test_products_have_the_order_of_textbooks_and_letters_are_subscripts(factors, expected):
    symbols = sympy.symbols(factors)
    inputs = {"qd": symbols[:1], "loads": [sympy.Symbol("hip_fx")]} if "qd" in factors else {}
    assert latex(sympy.Mul(*symbols), inputs) == expected
    negative = latex(-sympy.Mul(*symbols), inputs)
    assert negative == f"- {expected}"


def test_a_wide_matrix_of_zeros_is_one_equation():
    text = latex_equation(lambda at: f"Z_{at}" if at else "Z", sympy.zeros(1, 60), {})
    assert text == "\\begin{align*}\n  Z &= 0\n\\end{align*}"


def test_a_term_that_is_too_wide_spells_symbols_as_others():
    names = sympy.symbols("L1 m2 q_1:31", real=True)
    wide = sympy.Mul(*names[:2], sympy.Add(*(sympy.cos(q) for q in names[2:])), evaluate=False)
    text = pretty_sum(wide + names[0])
    assert fits(text) and text.count("cos(") == 30
    assert "L\u2081" in text and "cos(q\u2083\u2080)" in text
    assert "L1" not in text and "q_" not in text
