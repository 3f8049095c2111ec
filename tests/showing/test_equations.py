"""What `symgen show` prints: equations in full, over a determinant, or step by step."""

import random
import re
from pathlib import Path

import pytest
import sympy

from symgen.algebra.sympy_algebra import symbol
from symgen.deriving.symbolic import SymbolicDynamics
from symgen.description import read
from symgen.errors import RequestError
from symgen.formulations import FORMULATIONS, formulation_named
from symgen.program.functions import visible_outputs
from symgen.showing import equations as showing
from symgen.showing.equations import show
from symgen.showing.typesetting import latex as latex_of
from symgen.support.journal import Journal
from tests.choosing import deep, slow
from tests.mechanisms.models import FOUR_BAR
from tests.modules import EXAMPLES, described, file_of

TWO_LINK = EXAMPLES / "two_link.yaml"
STILL = """
symgen: 1
name: still
joints:
  - {name: mount, type: fixed, origin: {xyz: [1, 2, 3]}, link: {name: plate, mass: 2}}
points:
  - {name: corner, link: plate, point: [1, 0, 0]}
"""


def shown(path, what, style="pretty", steps=None):
    return show(path, what, style, None, steps)


def test_latex_has_the_terms_of_the_result():
    """Every entry, read back from its lines, is the expression that the library derives."""
    dynamics = SymbolicDynamics(read(TWO_LINK), formulation_named("newton_euler"))
    expected = dynamics.readable("joint_wrenches")
    inputs = {array.name: array.symbols for array in dynamics.program("joint_wrenches").inputs}
    head, align, body = shown(TWO_LINK, "joint_wrenches", "latex").split("\n", 2)
    assert (head, align) == ("% joint_wrenches", r"\begin{align*}")
    body, _, end = body.rpartition("\n")
    assert end == r"\end{align*}"
    entries = body.replace(" \\\\\n    &\\quad", "").split(" \\\\\n")
    for entry, value in zip(entries, expected, strict=True):
        assert entry.partition(" &= ")[2] == latex_of(value, inputs)


@pytest.mark.slow
def test_a_fallback_to_the_steps_says_so_first():
    for style, mark in (("pretty", ""), ("latex", "% ")):
        first, empty, _ = shown(EXAMPLES / "arm7.yaml", "mass_matrix", style).split("\n", 2)
        assert first.startswith(f"{mark}mass_matrix of arm7 has ")
        assert "its recursion; --expanded writes it out all the same." in first
        assert not empty
    assert "--expanded" not in shown(TWO_LINK, "mass_matrix", steps=True)


def test_a_frame_behind_several_coordinates_has_their_order():
    """A planar joint slides first: its translation is not turned."""
    text = "{symgen: 1, name: r, joints: [{name: a, type: planar, origin: {}, link: {mass: 1}}]}"
    ((*_, pose, _),) = showing.poses_of_frames(described(text), "pretty")
    assert [x.name for x in pose[:2, 3]] == ["q_1", "q_2"]


def test_steps_end_with_one_matrix_after_the_other():
    text = shown(TWO_LINK, "joint_wrench_derivatives", steps=True)
    results = text[text.index("joint_wrenches = ") :].splitlines()
    assert [row.split(" = ")[0] for row in results if " = " in row] == [
        "joint_wrenches", *(f"dw_d{by}[{i}]" for by in ("q", "qd", "qdd") for i in (1, 2))
    ]  # fmt: skip
    assert len(results) == 2 + 6 * 6
    latex = shown(TWO_LINK, "joint_wrench_derivatives", "latex", True)
    assert all(row.startswith("%") for row in latex.splitlines()[-38:])


@pytest.mark.parametrize("what", ["joint_wrenches", "regressor", "center_of_mass"])
def test_the_recursion_shows_what_the_closed_form_does_not_derive(what):
    assert "newton_euler" in show(TWO_LINK, what, "python", None, None, generated=True)


@pytest.mark.parametrize(
    ("what", "words"), [
        ("h", "show torque_parts$"),
        ("Lagrangian", "kinetic_energy and potential_energy$"),
        ("J", "symgen's name of J is jacobians$"),
    ],
)  # fmt: skip
def test_symbols_lead_to_functions(what, words):
    assert shown(TWO_LINK, "tau").startswith("tau[1] =")
    with pytest.raises(RequestError, match=words):
        shown(TWO_LINK, what)


def test_another_formulation_is_chosen_by_the_option_of_show():
    with pytest.raises(RequestError, match="inverse_dynamics; choose --formulation composite or"):
        show(TWO_LINK, "inverse_dynamics", "pretty", "kane", None)


def test_generated_c_explains_its_macros():
    text = show(TWO_LINK, "mass_matrix", "c", None, None, generated=True)
    assert text.index("c/plain") < text.index("NAMED(two_link")


SPATIAL = """
symgen: 1
name: spatial
convention: standard
parameters: {L: 0.4, m: 1.5, A: 0.1, B: 0.2, C: 0.3, E: 0.05, D: 0.7}
joints:
  - {name: turn, type: revolute, dh: {a: L, alpha: pi/2}, friction: 0.3, stiffness: 2,
     link: {mass: m, com: [-L/2, 0, 0], inertia: {xx: A, yy: B, zz: C}}}
  - {name: lift, type: revolute, dh: {a: L, theta: 0.3},
     link: {mass: D, com: [-L/2, 0.1, 0], inertia: {xx: A, yy: B, zz: C, xy: E}}}
loads: [{name: tip, link: lift}]
"""


def arguments(dynamics, function, seed):
    """Random values of the arguments, and the parameters of the file, with 25 digits."""
    rng = random.Random(seed)
    inputs = [x for array in dynamics.program(function).inputs for x in array.symbols]
    known = dynamics.description.parameter_values
    return {x: sympy.Float(known.get(x.name, rng.uniform(-1.5, 1.5)), 25) for x in inputs}


def recursion_at(dynamics, function, values):
    """The results of the recursion as it is, one after the other."""
    program, values = dynamics.program(function), dict(values)
    for statement in program.statements:
        values[symbol(statement.name)] = statement.value.xreplace(values)
    return [[x.xreplace(values) for x in output.entries] for output in visible_outputs(program)]


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["kane", *deep("newton_euler", "explicit_kane")])
@pytest.mark.parametrize("model", ["spatial", *deep("two_link", "cart_pole")])
def test_over_the_determinant_results_are_what_they_were(model, formulation):
    path = file_of(SPATIAL) if model == "spatial" else EXAMPLES / f"{model}.yaml"
    dynamics = SymbolicDynamics(read(path), formulation_named(formulation))
    mass_matrix = SymbolicDynamics(read(path), formulation_named("newton_euler")).mass_matrix
    functions = ["forward_dynamics"]
    if formulation == "kane" and model == "cart_pole":
        functions.append("forward_dynamics_derivatives")
    for function in functions:
        over = dynamics.over_determinant(function)
        numerators = [x for _, result in over.results for x in result]
        assert not any(sympy.denom(x).free_symbols for x in numerators)
        for seed in range(3):
            values = arguments(dynamics, function, seed)
            determinant = over.determinant.xreplace(values)
            assert float(determinant) == pytest.approx(float(mass_matrix.xreplace(values).det()))
            exact = recursion_at(dynamics, function, values)
            for (power, result), expected in zip(over.results, exact, strict=True):
                found = [float(x.xreplace(values) / determinant**power) for x in result]
                assert found == pytest.approx([float(x) for x in expected], rel=1e-12, abs=1e-12)


OUTPUTS = (
    TWO_LINK.read_text()
    + """
outputs:
  reach: L1*q.shoulder
  power: tau.shoulder*qd.shoulder
"""
)
WIDE = f"""
symgen: 1
name: wide
convention: standard
parameters: {{{"A" * 60}: 1, {"B" * 60}: 1}}
joints:
  - {{name: hinge, type: revolute, dh: {{a: {"A" * 60}*{"B" * 60}}}, link: {{mass: 1}}}}
"""
MOVING = OUTPUTS.replace("L1*q.shoulder", "kinetic_energy*points.hand.x")
HELD = SPATIAL.replace("type: revolute", "type: revolute, prescribed: true")
CART = EXAMPLES / "cart_pole.yaml"
DISC = EXAMPLES / "mechanisms" / "rolling_disc.yaml"
PRINTED = [  # model, function, style, whether in steps; what is printed, and what is not
    (TWO_LINK, "point_motion_derivatives", "pretty", False,
     ["\ndx_dq[1] =\n", "dv_dq[1, 1, 2] =\n- L₂⋅cos(q₁ + q₂)⋅qd₁ - L₂⋅cos(q₁ + q₂)⋅qd₂\n"], "]["),
    (TWO_LINK, "point_motion_derivatives", "latex", False,
     ["\n% dx_dq[1]\n\\frac{\\partial r^{\\mathrm{hand}}}{\\partial q} = "
      r"\begin{bmatrix}- L_{1} \, \sin {q_{1}}",
      r"  \frac{\partial v_{x}^{\mathrm{hand}}}{\partial q_{2}} &= - L_{2} \, \cos{\left(",
      r"\text{other entries of } \frac{\partial v^{\mathrm{hand}}}{\partial q} &= 0"], ""),
    (TWO_LINK, "regressor", "pretty", None,
     ["regressor[1, 3] =\n- g⋅sin(q₁)\n", "regressor[2, 20] =\n  qdd₁ + qdd₂\n",
      "\nAll other entries of regressor are 0.\n"], "regressor[1, 4]"),
    (TWO_LINK, "mass_matrix", "python", None,
     ["M_12 = I2 + l2*m2*(L1*cos(q_2) + l2)\nM_21 = "], "M_11 = L"),
    (TWO_LINK, "mass_matrix", "latex", None,
     ["\n% mass_matrix\nM = \\begin{bmatrix}I_{1} "], ""),
    (FOUR_BAR, "constraints", "pretty", None,
     ["\npin_y =\n", "\n\n0 at all coordinates: pin_z, pin_u_axis, pin_v_axis\n"], "pin_z ="),
    (DISC, "constraints", "latex", None, ["\n% constraint_rates has the relations of"], "&"),
    (DISC, "constraint_rates", "pretty", None, ["(rows: rolls_in_x, rolls_in_y) ="], ""),
    (TWO_LINK, "mass_matrix", "c", None, ["M_22 = I2 + pow(l2, 2)*m2;\n"], "[0]"),
    (TWO_LINK, "mass_matrix", "javascript", True, ["// mass_matrix = [[", ";  // NE-"], "\n  "),
    (TWO_LINK, "inverse_dynamics", "pretty", None, [], "All other entries"),
    (WIDE, "jacobians", "pretty", None, ["jacobians[1, 2, 1] =\n"], ""),
    (WIDE, "jacobians", "latex", None, [r"  J_{v_y,1}^{\mathrm{hinge}} &= "], ""),
    *((STILL, "joint_wrench_derivatives", "pretty", steps,
       [f"{name} has no entries" for name in ("joint_wrenches", "dw_dq", "dw_dqd", "dw_dqdd")], "")
      for steps in (True, False)),
    (STILL, "point_motion_derivatives", "latex", None, ["% dx_dq[1] has no entries"], ""),
    (STILL, "point_motion", "pretty", None, ["position =\n[2  2  3]"], ""),
    *slow(  # no fraction within a term: D is written once
        (TWO_LINK, "forward_dynamics", "pretty", None,
         ["\nD is the determinant of the mass matrix, the common denominator.\n\nD =",
          "\nD⋅qdd[1] =\n", "\nD⋅qdd[2] =\n"], "/("),
        (TWO_LINK, "forward_dynamics", "latex", None,
         ["\n% D is the determinant of the mass matrix, the common denominator.", "\nD = I_{2} ",
          r"  D \, \ddot{q}_{1} &= "], r"\frac{1}"),
        (CART, "forward_dynamics_derivatives", "pretty", None,
         ["\nD⋅qdd[1] =\n", "\nD²⋅dqdd_dq", "\nD⋅dqdd_dtau =\n"], ""),
        (CART, "forward_dynamics_derivatives", "latex", None,
         [r"D^{2} \, \frac{\partial \ddot{q}"], ""),
        (SPATIAL, "forward_dynamics", "pretty", None,  # with a parameter D
         ["\nD_1 is the determinant", "\nD_1⋅qdd[1] =\n"], ""),
    ),
    (HELD, "hybrid_dynamics", "pretty", None, ["\ny[1] =\n"], "determinant"),
    (OUTPUTS, "outputs", "pretty", None, ["\nreach =\nL₁⋅q₁\n\npower =\nqd₁⋅τ₁\n"], ""),
    (OUTPUTS, "outputs", "latex", None,
     ["% reach\no^{\\mathrm{reach}} = L_{1} \\, q_{1}",
      r"o^{\mathrm{power}} = \dot{q}_{1} \, \tau_{1}"], ""),
    (OUTPUTS, "outputs_derivatives", "pretty", None,
     ["do_dq (rows: reach, power) =\n⎡L₁  0⎤"], "outputs["),
    (OUTPUTS, "outputs_derivatives", "latex", None, ["% do_dq (rows: reach, power)\n"], ""),
    pytest.param(
        MOVING, "outputs_derivatives", "pretty", False,
        ["do_dq[reach, 2] =\n", "All other entries of do_dq are 0."], "", marks=pytest.mark.slow,
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("model", "what", "style", "steps", "parts", "absent"), PRINTED, ids=lambda x: str(x)[:30]
)
def test_what_is_printed(model, what, style, steps, parts, absent):
    text = shown(model if isinstance(model, Path) else file_of(model), what, style, steps)
    assert [part for part in parts if part not in f"\n{text}\n"] == []
    assert not absent or absent not in text


ROD = "type: revolute, dh: {a: L}, link: {mass: m, com: [-L/2, 0, 0], inertia: {zz: m*L**2/12}}"
THREE = f"""
symgen: 1
name: three
convention: standard
gravity: [0, -g, 0]
parameters: {{g: 9.81, L: 0.4, m: 1.5, M: 0.8}}
joints:
  - {{name: a, {ROD}}}
  - {{name: b, {ROD}}}
  - {{name: c, {ROD}}}
  - {{name: tool, type: fixed, origin: {{}}, link: {{mass: M, inertia: {{}}}}}}
"""


@pytest.mark.deep
def test_what_is_large_before_it_is_simplified():
    """13,584 operations here are shown where little is left."""
    told = []
    text = show(file_of(THREE), "torque_parts", "pretty", None, None, Journal(notify=told.append))
    assert text.startswith("inertial_torques[1] =\n") and not told
    assert max(map(len, text.splitlines())) < 800
    assert set(re.findall(r"(?:sin|cos)\((.*?)\)", text)) == {
        "q₁", "q₂", "q₃", "q₁ + q₂", "q₂ + q₃", "q₁ + q₂ + q₃"
    }  # fmt: skip


@pytest.mark.slow
def test_a_payload_at_the_tip_of_three_links():
    """What has a named mass has no quotients by it."""
    three = file_of(THREE)
    text = shown(three, "mass_matrix")
    assert text.endswith("mass_matrix[3, 3] =\n   2 ⎛    m⎞\n  L ⋅⎜M + ─⎟\n     ⎝    3⎠")
    assert "Recursive Newton-Euler" in shown(three, "inverse_dynamics_derivatives")
    journal = Journal()
    show(three, "point_motion", "pretty", None, None, journal)
    assert [notice[:24] for notice in journal.notices] == ["This model has no points"]


@pytest.mark.parametrize("formulation", [item.name for item in FORMULATIONS])
def test_the_steps_open_with_the_notation_of_the_recursion(formulation):
    functions = formulation_named(formulation).functions
    what = next(name for name in ("inverse_dynamics", "forward_dynamics") if name in functions)
    text = show(TWO_LINK, what, "pretty", formulation, True)
    head = text.split("\n\nframes", 1)[0]
    assert "\nNotation (" in head
    assert re.search(r"^(paper|Xiang) .* code .* meaning$", head, re.M)
    assert head.count("\n===") % 3 == 0


def test_the_notation_follows_its_references():
    text = show(TWO_LINK, "forward_dynamics", "pretty", "newton_euler", True)
    parts = "Notation (p is the parent of joint j", "Notation of `accelerations`", "pivot_k"
    places = [text.index(part) for part in (*parts, "  NE-1: ")]
    assert places == sorted(places)
    assert "pivot" not in show(TWO_LINK, "inverse_dynamics", "pretty", "newton_euler", True)
    latex = show(TWO_LINK, "forward_dynamics", "latex", "newton_euler", True)
    head = latex.split(r"\begin{align*}", 1)[0]
    assert "% Notation (p is the parent" in head
    assert all(line.startswith("%") or not line for line in head.splitlines())


@pytest.mark.slow
def test_long_work_says_so_and_shows_its_progress(monkeypatch):
    monkeypatch.setattr(showing, "LARGEST_EXPANSION", 10)
    monkeypatch.setattr(showing, "LARGEST_QUICK_EXPANSION", 10)
    told, seen = [], []
    journal = Journal(progress=lambda *args: seen.append(args), notify=told.append)
    text = show(TWO_LINK, "inverse_dynamics", "pretty", None, False, journal)
    (message,) = told
    assert re.match(r"inverse_dynamics of two_link has [\d,]+ operations when written out", message)
    assert "--steps" in message
    assert seen == [("simplify", 0, 2), ("simplify", 1, 2)]
    assert text.startswith("tau[1] =")
    seen.clear()
    show(TWO_LINK, "forward_dynamics", "pretty", None, False, journal)
    assert ("simplify", 1, 2) in seen
    told.clear()
    seen.clear()
    monkeypatch.setattr(showing, "LARGEST_QUICK_EXPANSION", 20_000)
    show(TWO_LINK, "inverse_dynamics", "pretty", None, False, journal)
    assert seen and not told  # seconds: progress without a warning
    monkeypatch.setattr(showing, "LARGEST_EXPANSION", 3000)
    show(TWO_LINK, "inverse_dynamics", "pretty", None, False, journal)
    show(TWO_LINK, "inverse_dynamics", "pretty", None, True, journal)
    assert not told
