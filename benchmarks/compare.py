"""symgen beside Pinocchio, CasADi, MuJoCo and SymPy, in one run, on one core.

    make bench                     # or: python -m benchmarks.compare
    make bench BENCH="--quick --models two_link,arm7 --functions inverse_dynamics"

For every model and function all contestants first have to give the same numbers; then they are
called in turn, slice by slice (`benchmarks.timing`), so that what the machine does to one it does
to all.  Ratios refer to Pinocchio C++, one sample at a time.  The tables go to the terminal; the
figures to a JSON file and a plot, by default in `.benchmarks/`; `--write` puts the tables into
docs/benchmarks.md.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import contestants, report
from benchmarks.contestants import contestant
from benchmarks.interface import FUNCTIONS, MODES, NotMeasured, Problem
from benchmarks.machine import machine
from benchmarks.models import MODELS, without_loads
from benchmarks.rigid_bodies import rigid_bodies
from benchmarks.timing import (
    QUICK,
    Effort,
    interleaved,
    ratio_of_minima,
    ratio_within_rounds,
    single_threaded,
)
from symgen.description import read

DEFAULT_MODELS = (
    "two_link", "puma560", "arm7", "arm24", "human43", "quadruped", "humanoid", "chain7", "tree43",
)  # fmt: skip


class Comparison:
    """What was measured, what was left out and why, and who gave wrong numbers."""

    def __init__(self):
        self.machine = machine()
        self.versions = {}
        self.rows = []
        self.left_out = []
        self.wrong = []

    def as_json(self):
        """All of it as plain data."""
        return {
            "machine": self.machine,
            "versions": self.versions,
            "reference": contestants.REFERENCE,
            "figures": self.rows,
            "left out": self.left_out,
            "wrong": self.wrong,
        }

    def run(self, problem, names, functions, modes, effort):
        """Measure all functions of one model."""
        for function in functions:
            cases = []
            for name in names:
                try:
                    cases += contestant(name).cases(problem, function, modes)
                except NotMeasured as reason:
                    self._leave_out(problem, function, name, str(reason))
            self._measure(problem, function, self._checked(problem, cases), effort)

    def _leave_out(self, problem, function, name, reason):
        entry = {"model": problem.name, "function": function, "contestant": name, "why": reason}
        known = any({**entry, "function": f} in self.left_out for f in FUNCTIONS)
        self.left_out.append(entry)
        if not known:
            say(f"  without {contestant(name).TITLE} in {function}: {reason}")

    def _checked(self, problem, cases):
        """The cases whose values agree with those of the first one."""
        if not cases:
            return []
        expected = cases[0].values()
        agreeing = []
        for case in cases:
            error = largest_error(case.values(), expected)
            case.facts["error"] = error
            if error <= case.tolerance:
                agreeing.append(case)
                continue
            entry = {"model": problem.name, "function": case.function, "mode": case.mode,
                     "contestant": case.contestant, "error": error}  # fmt: skip
            self.wrong.append(entry)
            say(f"  WRONG: {case.contestant}, {case.function}, {case.mode}: off by {error:.1e}")
        return agreeing

    def _measure(self, problem, function, cases, effort):
        timings = interleaved(cases, effort)
        reference = next((t for t in timings if t.case.contestant == contestants.REFERENCE), None)
        for timing in timings:
            case = timing.case
            row = {
                "model": problem.name,
                "n": problem.n,
                "function": function,
                "contestant": case.contestant,
                "mode": case.mode,
                "minimum ns": timing.minimum,
                "median ns": timing.median,
                "ratio of minima": None,
                "ratio within rounds": None,
                **case.facts,
            }
            if reference is not None:
                row["ratio of minima"] = ratio_of_minima(reference, timing)
                row["ratio within rounds"] = ratio_within_rounds(reference, timing)
            self.rows.append(row)
        fastest = min(timings, key=lambda timing: timing.minimum, default=None)
        if fastest is not None:
            say(f"  {function}: {len(timings)} ways, the fastest takes {fastest.minimum:,.1f} ns "
                f"({contestant(fastest.case.contestant).TITLE}, {fastest.case.mode})")  # fmt: skip


def largest_error(values, expected):
    """Largest difference relative to the largest entry of each array; NaN counts as infinite."""
    errors = []
    for mine, other in zip(values, expected, strict=True):
        rows = min(len(mine), len(other))
        scale = max(float(np.max(np.abs(other[:rows]))), np.finfo(float).tiny)
        errors.append(float(np.max(np.abs(mine[:rows] - other[:rows]))) / scale)
    return float(np.nan_to_num(max(errors), nan=np.inf))


def problem_named(name, functions, folder):
    """The model with this name; its file is written into `folder`."""
    path = without_loads(name, folder)
    description = read(path)
    return Problem(name, path, description, rigid_bodies(description), functions)


def available(names, comparison):
    """The contestants that can take part; the others are named, with the reason."""
    present = []
    for name in names:
        module = contestant(name)
        reason = module.missing()
        if reason is None:
            present.append(name)
            comparison.versions.update(module.versions())
        else:
            comparison.left_out.append({"contestant": name, "why": reason})
            say(f"without {module.TITLE}: {reason}")
    return present


def say(text):
    print(text, flush=True)


def chosen(text, known, what):
    """Names separated by commas, checked."""
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in known:
            raise SystemExit(f"no {what} is called {name!r}; there are: {', '.join(known)}")
    return names


def arguments(words):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare",
                                     description=__doc__.split("\n")[0])  # fmt: skip
    add = parser.add_argument
    add("--quick", action="store_true", help="few short rounds: for a look, not for figures")
    add("--models", default=",".join(DEFAULT_MODELS), help="names separated by commas")
    add("--functions", default=",".join(FUNCTIONS))
    add("--contestants", default=",".join(contestants.NAMES))
    add("--modes", default=",".join(MODES), help=f"names of: {', '.join(MODES)}")
    add("--rounds", type=int, help="how many times everybody has a turn")
    add("--json", type=Path, help="where the figures go", default=report.FOLDER / "compare.json")
    add("--plot", type=Path, help="where the plot goes, without ending; - for none",
        default=report.FOLDER / "compare")  # fmt: skip
    add("--write", action="store_true", help="put the tables and the plot into docs/")
    return parser.parse_args(words)


def main(words=None):
    """Run the comparison; the exit status is 1 where somebody's numbers were wrong."""
    options = arguments(words)
    single_threaded()
    effort = QUICK if options.quick else Effort()
    if options.rounds:
        effort = Effort(options.rounds, effort.seconds)
    functions = chosen(options.functions, FUNCTIONS, "function")
    models = chosen(options.models, tuple(MODELS), "model")
    modes = chosen(options.modes, MODES, "mode")
    comparison = Comparison()
    names = available(chosen(options.contestants, contestants.NAMES, "contestant"), comparison)
    with tempfile.TemporaryDirectory() as folder:
        for name in models:
            say(f"{name}: building and measuring")
            problem = problem_named(name, functions, folder)
            comparison.run(problem, names, functions, modes, effort)
    report.finish(comparison.as_json(), options)
    return 1 if comparison.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
