"""The benchmarks run, and their contestants agree; what they measure here means nothing."""

import json

import numpy as np
import pytest

from benchmarks import compare, contestants, growth, mechanisms, new_results
from benchmarks.interface import CALL, KERNEL, SMALL
from benchmarks.marks import replaced
from benchmarks.timing import Effort, Timing, interleaved, ratio_of_minima, ratio_within_rounds

WITHOUT_CPP = tuple(name for name in contestants.NAMES if name != contestants.REFERENCE)


@pytest.fixture(autouse=True)
def threads_of_others(monkeypatch):
    """The environment of the tests beside these stays as it is."""
    for module in (compare, growth, mechanisms, new_results):
        monkeypatch.setattr(module, "single_threaded", lambda: None)


@pytest.mark.deep
def test_two_link_beside_all_that_are_installed(tmp_path, capsys):
    """As short as can be."""
    file = tmp_path / "figures.json"
    short = ["--quick", "--rounds", "2", "--json", str(file), "--plot", "-"]
    chosen = ["--models", "two_link", "--functions", "inverse_dynamics"]
    contested = ["--contestants", ",".join(WITHOUT_CPP), "--modes", f"{KERNEL},{CALL},{SMALL}"]
    assert compare.main([*short, *chosen, *contested]) == 0
    data = json.loads(file.read_text())
    rows = {(row["contestant"], row["function"], row["mode"]) for row in data["figures"]}
    for mode in (KERNEL, CALL, SMALL):
        assert ("symgen_modules", "inverse_dynamics", mode) in rows
    assert all(row["minimum ns"] > 0.0 and row["error"] < 1e-8 for row in data["figures"])
    assert not data["wrong"]
    assert "symgen, NumPy backend" in capsys.readouterr().out


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


def test_text_between_marks():
    text = "head\n<!-- m: begin -->\nold\n<!-- m: end -->\ntail\n"
    new = replaced(text, "m", ["new"])
    assert new == "head\n<!-- m: begin -->\nnew\n<!-- m: end -->\ntail\n"
    assert replaced(new, "other", ["x"]) == new


def test_growth_stops_before_the_budget_ends():
    grown = growth.Growth(budget=100.0)
    grown.spent["f", "default"] = [(2, 1.0), (4, 8.0)]
    assert grown._expected(("f", "default"), 8) == pytest.approx(64.0)
    assert grown._expected(("other", "default"), 8) == 0.0
    grown.build("unused", "chain16", 16, "f", "default")
    assert grown.is_over("f", "default")
    assert not grown.is_over("g", "default")
