"""Formulas as MathML: symbols are symbols, words are words."""

import re
from html import unescape
from xml.etree import ElementTree

import pytest

from symgen.algebra.graph import Graph
from symgen.description import read
from symgen.formulations import FORMULATIONS, derive
from symgen.kinematics.tree import build_tree
from symgen.page.mathml import formula, mathml
from tests.choosing import some_slow
from tests.page.test_page import EXAMPLES


def plain(markup):
    """The characters of a formula, without spaces between tags."""
    return unescape(re.sub(r"<[^>]+>", "", markup))


@pytest.mark.parametrize(
    ("note", "shown"),
    [
        ("omega_j = omega_in_j + s qd_j", "ωj =ωin,j +sq˙j"),
        ("n_G_j = I_j alpha_j + omega_j x H_j", "nG,j =Ijαj +ωj×Hj"),
        ("tau_j = s . n_j + t . f_j", "τj =s·nj +t·fj"),
        ("the parent's w in axes of j", "the parent's w in axes of j"),
        ("a load's force", "a load's force"),
        ("LG-3 differentiated once more", "LG-3 differentiated once more"),
        ("R_1^k and (C^k)^T", "R1k and (Ck)T"),
        ("sum_c L_ck U_ck, c beyond k", "∑cLckUck, c beyond k"),
        ("L x = D^-1 y", "Lx =D−1y"),
        ("a < b & <script>", "a<b&< script >"),
    ],
)
def test_a_note(note, shown):
    assert plain(formula(note)) == shown


def test_rates_have_dots_and_matrices_brackets():
    assert "<mover><mi>q</mi><mo>˙</mo></mover>" in mathml(r"\dot{q}_{1}")
    matrix = mathml(r"\begin{bmatrix}a & b\\c & d\end{bmatrix}")
    assert '<mtable class="bracketed">' in matrix
    assert "[" not in matrix


def test_upright_words_are_one_identifier():
    assert "<mi>bias</mi>" in mathml(r"\tau^{\mathrm{bias}}")


@pytest.mark.parametrize(
    "formulation", some_slow(FORMULATIONS, FORMULATIONS[:1]), ids=lambda item: item.name
)
def test_every_note_of_every_formulation_is_well_formed(formulation):
    tree = build_tree(read(EXAMPLES / "two_link.yaml"), Graph())
    for function in formulation.functions:
        for note in derive(tree, formulation, function).notes.values():
            markup = formula(note.partition(" -- ")[0])
            ElementTree.fromstring(f"<p>{markup}</p>")
            assert "\\" not in markup
            assert "_" not in plain(markup).replace("mass_center", "")
