"""`symgen compare --family`: sizes, exponents, crossings, the table and the picture."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from symgen.algebra.graph import Graph
from symgen.cli import run
from symgen.command.terminal import print_comparison
from symgen.comparing import comparison
from symgen.comparing.charts import growth_svg
from symgen.comparing.comparison import Comparison, Row
from symgen.comparing.families import FAMILIES, member
from symgen.comparing.growth import Size, _crossings, _exponents, grow, parse_range
from symgen.errors import RequestError
from symgen.kinematics.tree import build_tree
from symgen.optimize.operations import OperationCount
from symgen.support.journal import Journal

SVG = "{http://www.w3.org/2000/svg}"


def sizes(formulation, operations, function="inverse_dynamics"):
    return [
        Size(function, formulation, n, 2 * count, count, count // 2, 1, 0.1)
        for n, count in operations.items()
    ]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("joints", [1, 2, 7])
def test_members_are_chains_without_remarks(family, joints):
    robot = member(family, joints)
    assert [joint.coordinates for joint in robot.joints] == [1] * joints
    assert robot.warnings == ()


def test_nothing_of_a_serial_chain_folds_away():
    tree = build_tree(member("serial", 5), Graph())
    for joint in tree.joints:
        assert not any(x.is_zero for row in joint.body.inertia.rows for x in row)
        assert not any(x.is_zero for x in (joint.body.mass, *joint.body.com))


def test_exponents_are_those_of_the_upper_half():
    cubic = sizes("one", {n: 5 * n**3 if n > 4 else 1 for n in range(1, 11)})
    linear = sizes("two", {n: 100 * n for n in range(1, 11)})
    few = sizes("three", {1: 5, 2: 7})
    found = _exponents([*cubic, *linear, *few])
    assert found == {"inverse_dynamics": {"one": 3.0, "two": 1.0}}


def test_a_crossing_is_the_last_size_at_which_the_closed_form_is_cheaper():
    closed = sizes("closed_form_lagrange", {n: n**3 for n in range(1, 9)})
    linear = sizes("newton_euler", {n: 20 * n for n in range(1, 13)})
    never = sizes("kane", {n: n for n in range(1, 9)})
    found = {x.formulation: x.n for x in _crossings([*closed, *linear, *never])}
    assert found == {"newton_euler": 4, "kane": 0}


@pytest.mark.parametrize(
    ("text", "expected"), [("1..3", (1, 2, 3)), ("6", (6,)), ("8,2,2", (2, 8))]
)
def test_ranges_of_joints(text, expected):
    assert parse_range(text) == expected


@pytest.mark.parametrize("text", ["", "3..1", "1..", "a", "1-3", "1..2..3", "1.5"])
def test_what_is_no_range(text):
    with pytest.raises(RequestError, match=r"expected a range such as 1\.\.12"):
        parse_range(text)


def test_the_picture_has_every_point_and_says_its_numbers():
    growth = grow("planar", (1, 2, 3), ("newton_euler", "kane"), ("default",), Journal())
    svg = ElementTree.fromstring(growth_svg(growth))
    titles = [x.text for x in svg.iter(f"{SVG}title")]
    for size in growth.sizes:
        joints = "1 joint" if size.n == 1 else f"{size.n} joints"
        words = f"{size.formulation}, {joints}: {size.operations:,} operations"
        assert words in titles
    marks = {x.tag for x in svg.iter() if "newton_euler," in (x.findtext(f"{SVG}title") or "")}
    assert marks == {f"{SVG}circle"}  # of the first curve
    assert len(list(svg.iter(f"{SVG}polyline"))) == len(
        {(x.function, x.formulation) for x in growth.sizes}
    )
    width, height = map(float, svg.get("viewBox").split()[2:])
    for text in svg.iter(f"{SVG}text"):
        assert 0 <= float(text.get("x")) <= width
        assert 0 <= float(text.get("y")) <= height


def test_the_command_prints_tables_and_writes_the_picture(folder, capfd):
    command = ["compare", "--family", "serial", "--joints", "1..3", "--functions"]
    assert run([*command, "inverse_dynamics"]) == 0
    out = capfd.readouterr().out
    assert "the closed form never needs fewer operations than composite" in out
    assert "plot: serial.svg" in out
    ElementTree.parse("serial.svg")
    assert run([*command, "inverse_dynamics", "--json", "--plot", "a.svg"]) == 0
    data = json.loads(capfd.readouterr().out)
    assert data["joints"] == [1, 2, 3]
    assert {x["n"] for x in data["sizes"]} == {1, 2, 3}
    assert sorted(x.name for x in Path().iterdir()) == ["a.svg", "serial.svg"]


@pytest.mark.parametrize(("arguments", "message"), [
    ([], "give either MODEL or --family"),
    (["a.yaml", "--family", "serial"], "give either MODEL or --family"),
    (["a.yaml", "--joints", "1..3"], "options of --family"),
    (["--family", "tree"], "no family 'tree'; there are: serial, planar"),
    (["--family", "serial", "--joints", "0..3"], "expected 1 to 100, found 0"),
    (["--family", "serial", "--joints", "999"], "expected 1 to 100, found 999"),
    (["--family", "serial", "--functions", "torque"], "no function of these robots"),
    (["--family", "serial", "--formulations", "kan"], "no formulation is called 'kan'"),
    (["--family", "serial", "--joints", "1", "--plot", "no/a.svg"], "cannot write no/a.svg"),
    (["--family", "serial", "--joints", "1", "--plot", ""], "no name for a picture"),
    (["--family", "serial", "--joints", "1", "--plot", "mine.py"], "no name for a picture"),
    (["--family", "serial", "--joints", ""], "expected a range such as"),
    (["--family", "serial", "--joints", "1..999999999999"], "expected 1 to 100, found 101"),
    (["--family", "serial", "--backend", "numpy"], "--family counts operations"),
    (["--family", "serial", "--flags", "portable"], "only --formulations and --functions"),
    (["--family", "serial", "--form", "loops"], "only --formulations and --functions"),
    (["--family", "serial", "--force"], "only --formulations and --functions"),
])  # fmt: skip
def test_what_cannot_be_compared(arguments, message, folder, refusal):
    assert message in refusal(["compare", *arguments])
    assert list(folder.iterdir()) == []


def test_a_comparison_ends_with_its_conclusion():
    """The least of each column, by formulation, and the largest difference."""
    rows = [
        Row(name, function, None, OperationCount(additions), None, 1, 1, 1, 0, None, 1, ns, 1e-15)
        for name, function, additions, ns in (
            ("kane", "mass_matrix", 3, 9), ("composite", "mass_matrix", 5, 7),
            ("composite", "bias_forces", 5, 7), ("kane", "bias_forces", 6, 8),
        )
    ]  # fmt: skip
    assert Comparison("arm", 2, "numpy", tuple(rows)).conclusion == (
        "fewest operations: kane for mass_matrix; composite for bias_forces",
        "fastest in batches: composite for all functions",
        "all formulations agree within 1e-15 (relative)",
    )
    assert "solved numerically" in Comparison("arm", 2, "numpy", tuple(rows), True).conclusion[0]
    assert "nothing to compare" in Comparison("arm", 2, "numpy", tuple(rows[1:3])).conclusion[0]


def test_the_table_counts_divisions_with_functions(capfd):
    count = OperationCount(11, 12, 30, 4)
    row = Row("kane", "mass_matrix", count, count, None, 1, 1, 1, 0, None, 1, 1, 0)
    print_comparison(Comparison("arm", 2, "numpy", (row,)))
    assert re.search(r"kane\s+57\s+11\s+12\s+34\s", capfd.readouterr().out)


def test_times_are_per_sample_and_differences_from_the_first_formulation(monkeypatch):
    monkeypatch.setattr(comparison, "_fastest", lambda call: 2e-6)
    made = {
        name: SimpleNamespace(kinetic_energy=lambda q, qd, out=None, f=factor: f + 0 * q[..., 0])
        for name, factor in (("kane", 1.0), ("composite", 1.25))
    }
    module = SimpleNamespace(n=1, n_loads=0, default_parameters=(), **made)
    single, batch = comparison._nanoseconds(module, "kane", "kinetic_energy")
    assert (single, batch) == pytest.approx((2000, 2000 / comparison.BATCH))
    names = [(name, "kinetic_energy") for name in made]
    assert [*comparison._disagreements(module, names).values()] == [0, 0.25]
