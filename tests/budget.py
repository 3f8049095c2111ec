"""Processor seconds of a test run, held to a budget: `--builds NUMBER`.

The unit is what `symgen build examples/arm7.yaml` takes with an empty cache on this machine, in
this run; the module stays in the cache for the tests.  A run may take NUMBER times as much, child
processes, collection and that build included.  An ordinary case may take `LARGEST` of the unit,
its set-up included, unless `tests/dear_cases.toml` has its name and a reason.  One that takes up to
`FIRST` times as much runs again: the first of a process imports and makes what others share.

Processor time does not count what other processes take, but a busy machine is slower: caches and
cores are shared.  So every process compiles one file of Python's library now and then, and the
budget grows by how much slower that was than beside the unit."""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import mean, median
from typing import Any

import pytest

LARGEST = 0.03
FIRST = 3
LISTED = 10
"""Cases and files that the summary names."""
EXAMPLE = Path(__file__).parents[1] / "examples" / "arm7.yaml"
DEAR_CASES = Path(__file__).with_name("dear_cases.toml")
UNIT = "SYMGEN_TESTS_UNIT"
"""Environment variable that hands the unit to the workers, in seconds."""
SAMPLE = "SYMGEN_TESTS_SAMPLE"
"""The same for what a sample took beside it."""
BESIDE = 5
"""Samples before the unit is measured, and after."""
SAMPLED_AFTER = 5.0
"""Processor seconds between two samples of how fast the machine is."""


def seconds() -> float:
    """Return the processor seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def sample() -> float:
    """Return the processor seconds of a fixed piece of work, a tenth of a second."""
    source, before = Path(argparse.__file__).read_text(), time.process_time()
    for _ in range(8):
        compile(source, argparse.__file__, "exec")
    return time.process_time() - before


class Budget:
    """Measures each case where it runs, and adds up where reports arrive."""

    def __init__(self, builds: float | None) -> None:
        self.builds = builds
        self.unit = float(os.environ.get(UNIT, "inf"))
        self.dear = tomllib.loads(DEAR_CASES.read_text())
        self.before = seconds()
        self.children = sum(os.times()[2:4])
        self.spent = self.collected = 0.0
        gc.callbacks.append(self.collecting)
        self.cases: Counter[str] = Counter()
        self.files: Counter[str] = Counter()
        self.workers = 0.0
        self.sampled_at = 0.0
        self.samples: list[float] = []

    def collecting(self, phase: str, info: Mapping[str, int]) -> None:
        """Charge no case with a collection of what others left behind."""
        self.collected += seconds() if phase == "stop" else -seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """Sample the machine where that is due, and begin to count."""
        if self.builds is not None and seconds() > self.sampled_at + SAMPLED_AFTER:
            self.samples.append(sample())
            self.sampled_at = seconds()
        self.before, self.spent, self.collected = seconds(), 0.0, 0.0
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Note the seconds of a phase in its report; fail an ordinary case that takes too many."""
        report = yield
        now = seconds()
        report.processor = now - self.before - self.collected
        self.before, self.collected = now, 0.0
        self.spent += report.processor
        name = report.nodeid.split("[")[0]
        marked = any(item.get_closest_marker(tier) for tier in ("slow", "deep"))
        ordinary = not marked and name not in self.dear
        most = LARGEST * self.unit * self.slowness
        is_dear = call.when == "call" and report.passed and ordinary and self.spent > most
        if is_dear and self.spent < FIRST * most:
            is_dear = again(item) > most
            self.before = seconds()
        if is_dear:
            report.outcome = "failed"
            report.longrepr = (
                f"{self.spent:.2f} processor seconds; an ordinary case may take "
                f"{most:.2f} ({LARGEST:.0%} of a build of {EXAMPLE.name}).  Make it "
                f"cheaper, mark it slow, or name it in {DEAR_CASES.name} with a reason"
            )
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up a phase."""
        spent = getattr(report, "processor", 0.0)
        self.cases[report.nodeid] += spent
        self.files[report.nodeid.split("::")[0]] += spent

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand over what this process took, or fail the run where all took too much."""
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["processor"] = seconds()
            session.config.workeroutput["samples"] = self.samples
        elif self.builds is not None and self.total > self.budget:
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: Any) -> None:
        """Add what a worker took."""
        output = getattr(node, "workeroutput", {})
        self.workers += output.get("processor", 0.0)
        self.samples += output.get("samples", [])

    @property
    def total(self) -> float:
        """Processor seconds of all processes so far; workers that have ended count once."""
        return sum(os.times()[:2]) + self.children + self.workers if self.workers else seconds()

    @property
    def slowness(self) -> float:
        """How many times what they took beside the unit samples take now, and 1 at least."""
        if not self.samples:
            return 1.0
        return max(1.0, mean(self.samples) / float(os.environ[SAMPLE]))

    @property
    def budget(self) -> float:
        """Processor seconds that the run may take at the speed that the machine has now."""
        return (self.builds or 0.0) * self.unit * self.slowness

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what the run took, and who took most of it."""
        if self.builds is None:
            return
        tr = terminalreporter
        for title, counted in (("cases", self.cases), ("files", self.files)):
            tr.section(f"dearest {title}, processor seconds")
            for name, spent in counted.most_common(LISTED):
                tr.write_line(f"{spent:8.2f} {name}")
        outside = self.total - sum(self.cases.values()) - self.unit
        over = "; OVER THE BUDGET" if self.total > self.budget else ""
        tr.write_line(
            f"{self.total:.0f} processor seconds of {self.budget:.0f}, {self.builds:g} builds of "
            f"{EXAMPLE.name} of {self.unit:.1f} s each, on a machine {self.slowness:.2f} times as "
            f"slow as beside that build ({outside:.0f} s outside cases){over}",
            red=bool(over),
        )


def again(item: pytest.Item) -> float:
    """Return the processor seconds of a case that runs again, 0 where it can run once alone."""
    before = seconds()
    try:
        item.runtest()
    except Exception:  # as where it writes a file twice
        return 0.0
    return seconds() - before


def unit() -> float:
    """Build `EXAMPLE` into the cache of the tests; return its processor seconds."""
    before = seconds()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "symgen", "build", str(EXAMPLE), "-q", "--out", folder]
        subprocess.run(command, check=True)
    return seconds() - before


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the option."""
    parser.addoption(
        "--builds", type=float, metavar="NUMBER", help=f"budget, in builds of {EXAMPLE.name}"
    )


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Measure the unit before any worker starts."""
    builds = config.getoption("builds")
    if builds is not None and UNIT not in os.environ:
        samples = [sample() for _ in range(BESIDE)]
        os.environ[UNIT] = str(unit())
        os.environ[SAMPLE] = str(median([*samples, *(sample() for _ in range(BESIDE))]))
    config.pluginmanager.register(Budget(builds), "budget")
