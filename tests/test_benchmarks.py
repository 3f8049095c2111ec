"""The benchmarks run, and their contestants agree; what they measure here means nothing."""

import json

import numpy as np
import pytest

from benchmarks import (
    builds,
    compare,
    contestants,
    figures,
    growth,
    mechanisms,
    new_results,
    report,
)
from benchmarks.contestants import contestant
from benchmarks.interface import CALL, FUNCTIONS, KERNEL, SMALL
from benchmarks.marks import markdown, replaced
from benchmarks.timing import Effort, Timing, interleaved, ratio_of_minima, ratio_within_rounds
from symgen.toolchain.compiler import CompilerMissingError, find_compiler

WITHOUT_CPP = tuple(name for name in contestants.NAMES if name != contestants.REFERENCE)


def compiler():
    try:
        return find_compiler()
    except CompilerMissingError:
        return None


needs_compiler = pytest.mark.skipif(compiler() is None, reason="no C compiler")


@pytest.fixture(autouse=True)
def threads_of_others(monkeypatch):
    """The environment of the tests beside these stays as it is."""
    for module in (compare, growth, mechanisms, new_results):
        monkeypatch.setattr(module, "single_threaded", lambda: None)


def run(folder, *words):
    """The figures of a comparison that is as short as can be."""
    file = folder / "figures.json"
    short = ("--quick", "--rounds", "2", "--json", str(file), "--plot", "-")
    assert compare.main([*short, *words]) == 0
    return json.loads(file.read_text())


@pytest.mark.deep
@needs_compiler
def test_two_link_beside_all_that_are_installed(tmp_path, capsys):
    data = run(
        tmp_path, "--models", "two_link", "--functions", "inverse_dynamics",
        "--contestants", ",".join(WITHOUT_CPP), "--modes", f"{KERNEL},{CALL},{SMALL}",
    )  # fmt: skip
    rows = {(row["contestant"], row["function"], row["mode"]) for row in data["figures"]}
    for mode in (KERNEL, CALL, SMALL):
        assert ("symgen_modules", "inverse_dynamics", mode) in rows
    assert all(row["minimum ns"] > 0.0 and row["error"] < 1e-8 for row in data["figures"])
    assert not data["wrong"]
    assert "symgen, NumPy backend" in capsys.readouterr().out


@pytest.mark.deep
@needs_compiler
@pytest.mark.parametrize("model", ["puma560", "arm7", "human43", "quadruped"])
def test_all_functions_agree(tmp_path, model):
    functions = FUNCTIONS if model != "human43" else ("inverse_dynamics", "mass_matrix")
    data = run(
        tmp_path, "--models", model, "--contestants", ",".join(WITHOUT_CPP),
        "--functions", ",".join(functions), "--modes", f"{KERNEL},{CALL},{SMALL}",
    )  # fmt: skip
    assert not data["wrong"]
    assert {row["function"] for row in data["figures"]} == set(functions)


@pytest.mark.deep
@needs_compiler
def test_new_results_beside_those_that_are_there(capsys):
    new_results.main(["--models", "two_link", "--rows", "64,1000", "--quick"])
    lines = capsys.readouterr().out.splitlines()
    assert any("symgen_modules call-new" in line for line in lines)
    assert [line.split()[0] for line in lines[-3:-1]] == ["64", "1000"]


def test_simulators_of_a_mechanism_have_the_same_motion(capsys):
    mechanisms.main(["--quick"])
    rows = [line for line in capsys.readouterr().out.splitlines() if line.endswith(" m")]
    off = {line.split()[0].strip(","): float(line.split()[-2]) for line in rows}
    assert off.pop("symgen") < 1e-4
    assert all(distance < 1e-2 for distance in off.values())


def test_contestants_have_one_interface():
    for name in contestants.NAMES:
        module = contestant(name)
        for part in ("TITLE", "missing", "versions", "cases"):
            assert hasattr(module, part), (name, part)


def test_wrong_numbers_are_seen():
    right = [np.ones((3, 2))]
    assert compare.largest_error([np.full((2, 2), 1.0 + 1e-6)], right) == pytest.approx(1e-6)
    assert compare.largest_error([np.full((2, 2), np.nan)], right) == np.inf


class Steady:
    """A case that takes `seconds` for each call."""

    samples = 1

    def __init__(self, seconds):
        self.seconds, self.calls = seconds, 0

    def time(self, calls):
        self.calls += calls
        return self.seconds * calls


def test_interleaved():
    fast, slow, endless = Steady(1e-7), Steady(4e-7), Steady(0.2)
    timings = interleaved([slow, fast, endless], Effort(5, 1e-3))
    assert [timing.minimum for timing in timings] == pytest.approx([400.0, 100.0, 2e8])
    assert ratio_of_minima(timings[0], timings[1]) == pytest.approx(4.0)
    assert ratio_within_rounds(timings[0], timings[1]) == pytest.approx(4.0)
    assert np.isnan(timings[2].rounds).sum() == 2  # it is too slow for all rounds


def test_ratios_within_rounds_are_blind_to_drift():
    drift = np.array([1.0, 2.0, 3.0])
    reference, mine = Timing(None, 10.0 * drift), Timing(None, 2.0 * drift)
    assert ratio_within_rounds(reference, mine) == 5.0


def test_markdown():
    assert markdown(["a", "b"], [["x", 1], ["long", 22]]) == [
        "| a    |  b |",
        "| ---- | -: |",
        "| x    |  1 |",
        "| long | 22 |",
    ]


def test_text_between_marks():
    text = "head\n<!-- m: begin -->\nold\n<!-- m: end -->\ntail\n"
    new = replaced(text, "m", ["new"])
    assert new == "head\n<!-- m: begin -->\nnew\n<!-- m: end -->\ntail\n"
    assert replaced(new, "other", ["x"]) == new


def test_a_plot_is_made_of_the_figures(tmp_path):
    pytest.importorskip("matplotlib")
    rows = [
        {"model": "arm7", "function": "inverse_dynamics", "contestant": figures.OURS, "mode": mode,
         "minimum ns": 120.0, "ratio of minima": 9.8}
        for mode in (KERNEL, SMALL)
    ]  # fmt: skip
    facts = {"processor": "a processor", "date": "2026-01-01T00:00:00"}
    report.plot({"figures": rows, "machine": facts}, tmp_path / "plot")
    assert (tmp_path / "plot.png").stat().st_size > 10_000


def test_builds_by_stages(capsys):
    builds.main(["--models", "two_link", "--backend", "numpy", "--formulations", "newton_euler"])
    *_, first, second = capsys.readouterr().out.splitlines()
    (first, second) = ([cell.strip() for cell in row.split("|")] for row in (first, second))
    column = dict(zip(["", *builds.HEADINGS], zip(first, second, strict=True), strict=False))
    assert column["robot"] == ("two_link", "two_link")
    assert column["tool chain"][0] != "" and column["tool chain"][1] == ""
    assert all(float(x) > 0.0 for x in (*column["total"], *column["processor"]))


@pytest.mark.deep
@needs_compiler
def test_growth(tmp_path):
    file = tmp_path / "growth.json"
    growth.main(["--sizes", "2,4", "--functions", "inverse_dynamics,mass_matrix",
                 "--json", str(file), "--plot", "-"])  # fmt: skip
    rows = json.loads(file.read_text())["figures"]
    assert [(row["n"], row["function"]) for row in rows] == [
        (2, "inverse_dynamics"), (2, "mass_matrix"), (4, "inverse_dynamics"), (4, "mass_matrix"),
    ]  # fmt: skip
    assert all(row["compile s"] > 0.0 and row["call ns"] > 0.0 for row in rows)


def test_growth_stops_before_the_budget_ends():
    grown = growth.Growth(budget=100.0)
    grown.spent["f", "default"] = [(2, 1.0), (4, 8.0)]
    assert grown._expected(("f", "default"), 8) == pytest.approx(64.0)
    assert grown._expected(("other", "default"), 8) == 0.0
    grown.build("unused", "chain16", 16, "f", "default")
    assert grown.is_over("f", "default")
    assert not grown.is_over("g", "default")
