"""What `symgen show` says of arrays with more than two axes, with many zeros, or with nothing."""

from pathlib import Path

import pytest

from symgen.showing import show

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
    assert latex.startswith("% dx_dq[0]\n\\begin{bmatrix}- L_{1} \\sin {q_{1}}")


def test_zeros_of_a_wide_matrix_are_said_once():
    text = shown(TWO_LINK, "regressor")
    assert "regressor[0, 2] =\n- g⋅sin(q₁)\n" in text
    assert "regressor[1, 19] =\n  qdd₁\n+ qdd₂\n" in text
    assert "regressor[0, 3]" not in text
    assert text.endswith("\nAll other entries of regressor are 0.")
    assert "All other entries" not in shown(TWO_LINK, "inverse_dynamics")


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
