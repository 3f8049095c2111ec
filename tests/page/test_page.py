"""The report as text: complete, closed in itself, the same every time."""

import base64
import html.parser
import json
import math
import re
import zlib
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pytest
import sympy
from click.testing import CliRunner

from symgen import page
from symgen.algebra.blackboard import with_short_waves
from symgen.algebra.graph import Graph
from symgen.cli import cli
from symgen.description import read
from symgen.formulations import FORMULATIONS, derive
from symgen.kinematics.tree import build_tree
from symgen.optimize.operations import OperationCount
from symgen.page import calculator, closing, counting, equations
from symgen.page.equations import cost_as_written, with_named_radicands
from symgen.page.mathml import formula, mathml
from symgen.page.packing import as_script
from symgen.support.journal import Journal
from tests.choosing import slow, some_slow
from tests.modules import EXAMPLES, described, file_of

VOID = {"meta", "input", "br", "wbr"}


def report(model, quick=True):
    return page.report(read(model), quick, None, Journal())


@pytest.fixture(scope="module", params=slow("two_link"))
def two_link():
    return report(EXAMPLES / "two_link.yaml")


class Outline(html.parser.HTMLParser):
    """Tags that are open, and what was seen."""

    def __init__(self):
        super().__init__()
        self.open, self.identifiers, self.references, self.tags = [], [], [], set()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.add(tag)
        if "id" in values:
            self.identifiers.append(values["id"])
        for name in ("src", "href", "action", "data", "poster"):
            if name in values:
                self.references.append(values[name])
        for name in ("for", "aria-labelledby", "aria-describedby"):
            if name in values:
                self.references.append(f"#{values[name]}")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, self.getpos()


def outline(text):
    parser = Outline()
    parser.feed(text)
    parser.close()
    assert not parser.open
    return parser


def unpacked(text, name):
    packed = re.search(f'<script type="text/plain" id="{name}">(.*?)</script>', text)[1]
    return zlib.decompress(base64.b64decode(packed)).decode()


def test_the_page_is_well_formed_and_refers_to_nothing_outside(two_link):
    seen = outline(two_link)
    assert len(seen.identifiers) == len(set(seen.identifiers))
    assert all(reference.startswith("#") for reference in seen.references)
    assert {reference[1:] for reference in seen.references} <= set(seen.identifiers)
    assert not {"link", "iframe", "img", "object", "embed"} & seen.tags
    loaded = re.sub(r'(xmlns="|const SVG = ")http://www\.w3\.org/[^"]+"', "", two_link)
    assert "http://" not in loaded
    assert "https://" not in loaded
    assert "default-src 'none'" in two_link


def test_every_formulation_is_there_with_steps_and_functions(two_link):
    functions = unpacked(two_link, "functions")
    for formulation in FORMULATIONS:
        assert f"<h3>{formulation.title.replace(chr(39), '&#39;')}</h3>" in two_link
        assert f"const {formulation.name} = {{" in functions
    assert r"\omega_{2,z} &amp;= \dot{q}_{1} + \dot{q}_{2} \tag{NE-3}" in two_link
    steps = json.loads(unpacked(two_link, "steps"))
    assert r"T_{1,14} &= L_{1} \, \cos" in steps["recursive_lagrange-inverse_dynamics"]["latex"]


def test_the_closed_form_is_collected_and_abbreviated(two_link):
    section = re.search(r'<section id="equations".*?</section>', two_link, re.S)[0]
    assert "<msub><mi>c</mi><mn>12</mn></msub>" in section
    mass_matrix = re.search(r"<h3>Mass matrix</h3>.*?</math>", section, re.S)[0]
    entries = re.findall(r"<mtd>(.*?)</mtd>", mass_matrix)
    shown = [re.sub(r"<[^>]+>", "", entry) for entry in entries]
    assert shown[3] == "I2+m2l22"
    assert shown[1] == shown[2] == "I2+m2l2(L1c2+l2)"
    for heading in ("The torques in parts", "Equations of motion", "Derivatives of the torques"):
        assert f">{heading}</h3>" in section


def test_the_determinant_is_that_of_the_mass_matrix():
    from symgen.page.equations import symbolic
    from symgen.page.questions import determinant

    for model in ("cart_pole", "two_link"):
        matrix = symbolic(read(EXAMPLES / f"{model}.yaml")).readable("mass_matrix")
        found = determinant(matrix)
        values = {x: 0.3 + 0.1 * i for i, x in enumerate(sorted(matrix.free_symbols, key=str))}
        expected = np.linalg.det(np.array(matrix.subs(values), dtype=float))
        assert float(found.subs(values)) == pytest.approx(expected, rel=1e-12)
        assert not found.atoms(sympy.cos)  # every term is positive, as it is on a blackboard


def test_operations_of_printed_equations_are_those_that_a_pencil_counts():
    a, b, c, wave = sympy.symbols("a b c c_1")
    results = [a * b**2 * wave - 2 * a * b + c / 2, (a * b + c) / b + wave, -a]
    cost = cost_as_written(results, {wave: sympy.cos(a)})
    assert cost.as_printed == OperationCount(
        additions=2 + 2, multiplications=3 + 2 + 1 + 1, divisions=1, functions=1
    )
    assert cost.shared.multiplications == cost.as_printed.multiplications - 1  # a b, once
    assert cost.shared.additions == cost.as_printed.additions


def test_the_questions_of_a_lecture_are_answered(two_link):
    section = re.search(r'<section id="questions".*?</section>', two_link, re.S)[0]
    words = " ".join(re.sub(r"<[^>]+>", "", section).split())
    assert section.count("<dt>") == 10
    assert "(composite) 30 and 21; Recursive Newton-Euler, 3x3 rotations (newton_euler) 34" in words
    assert "term by term: 56 multiplications and 29 additions" in words  # counted with a pencil
    for name in ("Torques at rest, part 2", "A derivative of the torques"):
        assert f'aria-label="{name}"' in section
    assert "“tip” acts on forearm, at the point (0, 0, 0) of its frame" in words
    assert "M of this robot never loses rank" in words
    assert "changes the torques of shoulder, elbow" in words
    assert "detM=" in words.replace(" ", "").replace("\u2009", "")


def test_torques_at_rest_are_said_to_be_0_only_where_they_are_shown(monkeypatch):
    monkeypatch.setattr(equations, "LARGEST", -1)
    words = report(file_of(STILL.replace("fixed", "revolute").replace("mount", "turn")))
    assert "too long for this page" in words and "all of them are 0" not in words


@pytest.mark.slow
def test_steps_that_are_folded_are_those_that_show_prints(monkeypatch):
    from symgen.page import recursions
    from symgen.showing.equations import show

    monkeypatch.setattr(recursions, "LARGEST_AT_ONCE", 100)
    for largest in (recursions.LARGEST_TYPESET, 0):
        monkeypatch.setattr(recursions, "LARGEST_TYPESET", largest)
        folded = json.loads(unpacked(report(EXAMPLES / "two_link.yaml"), "steps"))
        steps = folded["newton_euler-inverse_dynamics"]
        lines = [text for _, groups in steps["sections"] for _, text in groups]
        if largest:
            style, pattern = "latex", r"^  .* \\tag\{.*?\}"
            printed = steps["latex"].splitlines()[1:-1]
            assert "".join(lines).count("<math") == len(printed)
            lines = [row.removesuffix(" \\\\") for row in printed]
        else:
            style, pattern = "pretty", r"^  (\w+ = .*?)    \["
            lines = [unescape(row) for text in lines for row in text[5:-6].splitlines()]
        shown = show(EXAMPLES / "two_link.yaml", "inverse_dynamics", style, "newton_euler", True)
        assert lines == re.findall(pattern, shown, re.M)


HOSTILE = """
symgen: 1
name: hostile
description: "</title><script>alert(1)</script> \\u2028 <!-- {{ 7*7 }}"
parameters:
  k: {value: 2, unit: "<img src=x>", description: "\\" onload=alert(2) '"}
joints:
  - {name: a, type: revolute, origin: {},
     link: {name: one, mass: k, com: [k, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}}
"""


def test_data_cannot_end_its_script():
    data = as_script({"name": "</script><!--\u2028&"})
    assert not set("<>&\u2028") & set(data)
    assert json.loads(data) == {"name": "</script><!--\u2028&"}


GRIPPER = """
symgen: 1
name: gripper
joints:
  - {name: turn, type: revolute, origin: {}, link: {name: palm, mass: 1, com: [0.1, 0, 0]}}
  - {name: left, type: prismatic, origin: {}, axis: [1, 0, 0], limits: {lower: 0.02},
     link: {name: finger, mass: 0.2}}
  - {name: right, type: prismatic, parent: palm, origin: {}, axis: [0, 1, 0],
     mimic: {coordinate: left, multiplier: -1, offset: 0.1}, link: {name: thumb, mass: 0.2}}
"""
ASKEW = """
symgen: 1
name: askew
joints:
  - {name: turn, type: revolute, origin: {}, link: {name: l0, mass: 1}}
""" + "".join(
    f"  - {{name: f{i}, type: fixed, parent: l{i - 1}, link: {{name: l{i}, mass: 0.1}}, "
    "origin: {xyz: [0.1, 0, 0], rpy: [0.1, 0.2, 0.3]}}\n"
    for i in range(1, 13)
)
STILL = """
symgen: 1
name: still
joints:
  - {name: mount, type: fixed, origin: {xyz: [1, 2, 3]}, link: {name: base_plate, mass: 2,
     com: [0.12345678901234567, 0, 0], inertia: {xx: 0.011127012, yy: 0.02, zz: 1.234567e-2}}}
"""
MASSLESS = """
symgen: 1
name: massless
joints:
  - {name: a, type: revolute, origin: {}, axis: [0, 1, 0], link: {name: upper}}
  - {name: b, type: revolute, origin: {xyz: [1, 0, 0]}, axis: [0, 1, 0], link: {mass: 1}}
"""


@pytest.mark.parametrize(("model", "shown", "absent"), [
    *slow(
        (HOSTILE, ["{{ 7*7 }}", "&lt;script&gt;alert(1)"], "<script>alert"),
        (HOSTILE, ["&lt;img src=x&gt;"], "<img"),
        (GRIPPER, ["2 coordinates, 3 links", "= -q of left + 0.1", 'id="qdd-2"',
                   'min="0.02" max="1.02"'], 'id="qdd-3"'),
        (ASKEW, ["Too long for a page", "const newton_euler = {"], "<mtable"),
        (MASSLESS, ["forward_dynamics of massless has no solution", "<h3>Mass matrix</h3>"],
         "const nothing"),
    ),
    (STILL, ["1 link", '<td title="(0.12345678901234567, 0, 0)">(0.1235, 0, 0)<',
             ">base_<wbr>plate<", ">xx\N{NO-BREAK SPACE}0.01113, yy"], 'id="qdd-1"'),
])  # fmt: skip
def test_robots_of_other_kinds(model, shown, absent):
    """Text of strangers, a joint that follows, links fixed askew, no inertia, no coordinates."""
    text = report(file_of(model))
    outline(text)
    text += unpacked(text, "functions")
    assert [words for words in shown if words not in text] == []
    assert absent not in text


def test_loops_have_the_frames_of_both_ends():
    loop = "  - {name: pin, type: revolute, first: {link: base_plate, axis: [1, 0, 0]},"
    loop += " second: {link: base, origin: {xyz: [1, 2, 3], rpy: [0, 0.5, 0]}, axis: [0, 1, 0]}}"
    robot = described(f"{STILL.replace('fixed', 'revolute')}loops:\n{loop}\n")
    ends = [closing._end(x, "revolute") for x in (robot.loops[0].first, robot.loops[0].second)]
    second = "base, xyz (1, 2, 3), rpy (0, 0.5, 0), axis (0, 1, 0)"
    assert ends == ["base_plate, xyz (0, 0, 0), axis (1, 0, 0)", second]
    assert "axis" not in closing._end(robot.loops[0].first, "spherical")


@pytest.mark.parametrize(("limits", "shown"), [
    ("lower: -1.0e308, upper: 1.0e308", (-math.pi, math.pi)),
    ("lower: 0, upper: 1e16", (0.0, math.pi)),
    ("lower: 2, upper: 2", (2.0, 2.0)),
    ("lower: -30, upper: 900", (-30.0, 900.0)),
    ("velocity: 1", (-math.pi, math.pi)),
])  # fmt: skip
def test_sliders_reach_as_far_as_is_of_use(limits, shown):
    robot = described(
        "symgen: 1\nname: wheel\njoints:\n  - {name: a, type: revolute, origin: {}, "
        f"limits: {{{limits}}}, link: {{mass: 1, com: [1, 0, 0]}}}}\n"
    )
    counted = counting.count(robot, Journal())
    totals = {(x.formulation, x.function): x.after.total for x in counted.derived.reports}
    assert totals.items() <= counted.sizes.items()
    (coordinate,) = calculator.calculator(robot, counted).coordinates
    assert (coordinate["low"], coordinate["high"]) == shown
    assert shown[0] <= coordinate["q"] <= shown[1]


def test_pages_of_trees_begin_where_the_file_says():
    robot = described(
        "symgen: 1\nname: wheel\njoints:\n"
        "  - {name: a, type: revolute, origin: {}, link: {mass: 1}}\n"
        "  - {name: b, type: revolute, origin: {}, link: {mass: 1}}\n"
        "initial: {q: {b: 60*deg}, qd: {a: 7}}\n"
    )
    sliders = calculator.calculator(robot, counting.count(robot, Journal())).coordinates
    assert [(x["q"], x["qd"], x["qdd"]) for x in sliders] == [(0, 7, 0), (math.pi / 3, 0, 0)]


def test_a_page_of_another_model_file_is_replaced_with_a_warning(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    slide = "{name: a, type: prismatic, origin: {}, link: {mass: 1}}"
    names, notices = ("a&b.yaml", "a&b.yaml", "other.yaml"), []
    for name in names:
        (tmp_path / name).write_text(f"symgen: 1\nname: m\njoints: [{slide}]\n")
    text = report(tmp_path / names[0])
    monkeypatch.setattr(page, "report", lambda *arguments: text)
    for name in names:
        journal = Journal()
        page.write_report(tmp_path / name, None, True, None, journal)
        notices.append([x for x in journal.notices if "replaced" in x])
    assert notices == [[], [], ["warning: m.html was a page of a&b.yaml; it is replaced"]]


@pytest.mark.deep
def test_a_full_report_of_seven_joints_is_small_enough():
    text = report(EXAMPLES / "arm7.yaml", quick=False)
    outline(text)
    assert len(text.encode()) <= 1_750_000
    assert 'id="growth"' in text
    assert "ns in C" in text


def test_sums_under_roots_that_recur_have_names():
    L, r = sympy.symbols("L r_1", positive=True)
    root = sympy.sqrt(L**2 + 1)
    names = {}
    value = sympy.Matrix([L / root + root, sympy.sqrt(L + 2)])
    short, legend = with_named_radicands(value, names)
    assert list(short) == [L / sympy.sqrt(r) + sympy.sqrt(r), sympy.sqrt(L + 2)]
    assert legend == {r: L**2 + 1}
    assert with_named_radicands(root, names)[0] == sympy.sqrt(r)


def test_short_waves():
    q = sympy.symbols("q_1:13")
    a, b, c = q[0], q[1], q[11]
    value = sympy.cos(a + b) + sympy.sin(a - b) + sympy.cos(2 * a) + sympy.sin(c + a)
    short, waves = with_short_waves(value, q)
    assert {symbol.name: wave for symbol, wave in waves.items()} == {
        "c_12": sympy.cos(a + b),
        "s_1-2": sympy.sin(a - b),
        "s_1,12": sympy.sin(a + c),
    }
    assert short.xreplace(waves) == value
    taken = value + sympy.Symbol("c_12", real=True)
    assert with_short_waves(taken, q) == (taken, {})


def test_the_command_names_what_it_wrote(two_link, folder):
    """And it is the same page every time."""
    done = CliRunner().invoke(cli, ["report", str(EXAMPLES / "two_link.yaml"), "--quick"])
    assert done.exit_code == 0
    assert "open two_link.html" in done.output
    assert (folder / "two_link.html").read_text(encoding="utf-8") == two_link


@pytest.mark.parametrize(("target", "words"), [
    ("report.txt", "is no name for a page; expected one such as arm.html"),
    ("missing/report.html", "needs the folder missing"),
    ("folder.html", "is a folder"),
])  # fmt: skip
def test_a_wrong_target_is_refused_before_any_work(folder, refusal, target, words):
    (folder / "folder.html").mkdir()
    assert words in refusal(["report", str(EXAMPLES / "two_link.yaml"), "-o", target])


def test_templates_of_the_user(tmp_path):
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "style.css").write_text("body { color: teal }")
    text = page.report(described(STILL), True, tmp_path, Journal())
    assert "color: teal" in text


def plain(markup):
    """The characters of a formula, without spaces between tags."""
    return unescape(re.sub(r"<[^>]+>", "", markup))


@pytest.mark.parametrize(("note", "shown"), [
    ("omega_j = omega_in_j + s qd_j", "ωj =ωin,j +sq•j"),
    ("n_G_j = I_j alpha_j + omega_j x H_j", "nG,j =Ijαj +ωj×Hj"),
    ("tau_j = s . n_j + t . f_j", "τj =s·nj +t·fj"),
    ("the parent's w in axes of j", "the parent's w in axes of j"),
    ("a load's force", "a load's force"),
    ("LG-3 differentiated once more", "LG-3 differentiated once more"),
    ("R_1^k and (C^k)^T", "R1k and (Ck)T"),
    ("sum_c L_ck U_ck, c beyond k", "∑cLckUck, c beyond k"),
    ("L x = D^-1 y", "Lx =D−1y"),
    ("a < b & <script>", "a<b&< script >"),
])  # fmt: skip
def test_a_note(note, shown):
    assert plain(formula(note)) == shown


def test_rates_have_dots_matrices_brackets_and_words_are_one_identifier():
    assert '<mover><mi>q</mi><mo class="dots">•</mo></mover>' in mathml(r"\dot{q}_{1}")
    rounded = '<mn><span title="0.1234567">0.123457</span></mn>'
    assert rounded in mathml("0.1234567 x")
    matrix = mathml(r"\begin{bmatrix}a & b\\c & d\end{bmatrix}")
    assert '<mtable class="bracketed">' in matrix
    assert "[" not in matrix
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
