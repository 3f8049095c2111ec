"""What `symgen show` says of arrays with more than two axes, with many zeros, or with nothing."""

from pathlib import Path

import pytest

from symgen.description import read
from symgen.formulations import formulation_named
from symgen.showing import show
from symgen.symbolic import SymbolicDynamics
from symgen.typesetting import latex as latex_of

EXAMPLES = Path(__file__).parents[1] / "examples"
TWO_LINK = EXAMPLES / "two_link.yaml"
STILL = """
symgen: 1
name: still
joints:
  - {name: mount, type: fixed, origin: {xyz: [1, 2, 3]}, link: {name: plate, mass: 2}}
points:
  - {name: corner, link: plate, point: [1, 0, 0]}
"""


@pytest.fixture
def still(tmp_path):
    path = tmp_path / "still.yaml"
    path.write_text(STILL)
    return path


def shown(path, what, style="pretty", steps=None):
    return show(path, what, style, None, steps)


def test_entries_of_three_axes_are_indexed_as_in_numpy():
    text = shown(TWO_LINK, "point_motion_derivatives", steps=False)
    assert text.startswith("dx_dq[0] =\n")
    assert "dv_dq[0, 0, 1] =\n- L₂⋅qd₁⋅cos(q₁ + q₂)\n- L₂⋅qd₂⋅cos(q₁ + q₂)\n" in text
    assert "][" not in text
    latex = shown(TWO_LINK, "point_motion_derivatives", "latex", False)
    assert latex.startswith(
        "% dx_dq[0]\n"
        r"\frac{\partial r^{\mathrm{hand}}}{\partial q} = \begin{bmatrix}- L_{1} \sin {q_{1}}"
    )
    assert (
        r"  \frac{\partial v_{x}^{\mathrm{hand}}}{\partial q_{2}} &= - L_{2} \dot{q}_{1}" in latex
    )
    assert r"\text{other entries of } \frac{\partial v^{\mathrm{hand}}}{\partial q} &= 0" in latex


def test_zeros_of_a_wide_matrix_are_said_once():
    text = shown(TWO_LINK, "regressor")
    assert "regressor[0, 2] =\n- g⋅sin(q₁)\n" in text
    assert "regressor[1, 19] =\n  qdd₁\n+ qdd₂\n" in text
    assert "regressor[0, 3]" not in text
    assert text.endswith("\nAll other entries of regressor are 0.")
    assert "All other entries" not in shown(TWO_LINK, "inverse_dynamics")


def test_latex_of_a_wide_result_is_one_equation_for_every_entry():
    lines = shown(TWO_LINK, "joint_wrenches", "latex").splitlines()
    assert lines[:2] == ["% joint_wrenches", r"\begin{align*}"]
    assert lines[-1] == r"\end{align*}"
    sides = [line.split(" &= ")[0].strip() for line in lines if " &= " in line]
    parts = ("f_x", "f_y", "f_z", "n_x", "n_y", "n_z")
    assert sides == [f"w_{{{joint},{part}}}" for joint in (1, 2) for part in parts]
    assert all(line.endswith(r" \\") for line in lines[2:-2])
    assert r"  w_{1,f_z} &= - f_{z}^{\mathrm{tip}} \\" in lines
    assert max(map(len, lines)) < 250  # what was one line of 2,735
    assert r"\tau_{1} &= - 2 L_{1} l_{2}" in shown(TWO_LINK, "inverse_dynamics", "latex")
    latex = shown(TWO_LINK, "regressor", "latex")
    assert r"  Y_{1,3} &= - g \sin {q_{1}} \\" in latex
    assert latex.endswith("  \\text{other entries of } Y &= 0\n\\end{align*}")


def test_latex_has_the_terms_of_the_result():
    """Every entry, read back from its lines, is the expression that the library derives."""
    dynamics = SymbolicDynamics(read(TWO_LINK), formulation_named("newton_euler"))
    expected = dynamics.readable("joint_wrenches")
    inputs = {array.name: array.symbols for array in dynamics.program("joint_wrenches").inputs}
    body = shown(TWO_LINK, "joint_wrenches", "latex").split("\n", 2)[2].rpartition("\n")[0]
    entries = body.replace(" \\\\\n    &\\quad", "").split(" \\\\\n")
    for entry, value in zip(entries, expected, strict=True):
        assert entry.partition(" &= ")[2] == latex_of(value, inputs)


def test_every_index_shows_even_that_of_a_single_column(tmp_path):
    a, b = "A" * 60, "B" * 60
    path = tmp_path / "wide.yaml"
    path.write_text(
        f"symgen: 1\nname: wide\nconvention: standard\nparameters: {{{a}: 1, {b}: 1}}\njoints:\n"
        f"  - {{name: hinge, type: revolute, dh: {{theta: 0, d: 0, alpha: 0, a: {a}*{b}}}, "
        "link: {mass: 1}}\n"
    )
    assert "jacobians[0, 1, 0] =\n" in shown(path, "jacobians")
    assert r"  J_{v_y,1}^{\mathrm{hinge}} &= " in shown(path, "jacobians", "latex")


def test_loads_are_printed_alike():
    text = shown(TWO_LINK, "joint_wrenches")
    for part in ("fx", "fy", "fz", "nx", "ny", "nz"):
        assert f"tip_{part}" in text


def test_a_fallback_to_the_steps_says_so_first():
    for style, mark in (("pretty", ""), ("latex", "% ")):
        first, empty, _ = shown(EXAMPLES / "human43.yaml", "mass_matrix", style).split("\n", 2)
        assert first.startswith(f"{mark}mass_matrix of human43 has ")
        assert "its recursion; --expanded writes it out all the same." in first
        assert not empty
    assert "--expanded" not in shown(TWO_LINK, "mass_matrix", steps=True)


def test_steps_end_with_one_matrix_after_the_other():
    text = shown(TWO_LINK, "joint_wrench_derivatives", steps=True)
    results = text[text.index("joint_wrenches = ") :].splitlines()
    assert [row.split(" = ")[0] for row in results if " = " in row] == [
        "joint_wrenches", *(f"dw_d{by}[{i}]" for by in ("q", "qd", "qdd") for i in (0, 1))
    ]  # fmt: skip
    assert len(results) == 2 + 6 * 6
    latex = shown(TWO_LINK, "joint_wrench_derivatives", "latex", True)
    assert all(row.startswith("%") for row in latex.splitlines()[-38:])


def test_what_has_no_entries_says_so(still):
    for steps in (True, False):
        text = shown(still, "joint_wrench_derivatives", steps=steps)
        for name in ("joint_wrenches", "dw_dq", "dw_dqd", "dw_dqdd"):
            assert f"{name} has no entries" in text
    assert "% dx_dq[0] has no entries" in shown(still, "point_motion_derivatives", "latex")
    assert "position =\n[2  2  3]" in shown(still, "point_motion")


@pytest.mark.parametrize("what", ["joint_wrenches", "regressor", "center_of_mass"])
def test_the_recursion_shows_what_the_closed_form_does_not_derive(what):
    assert "newton_euler" in shown(TWO_LINK, what, "python")
