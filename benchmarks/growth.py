"""How builds and calls grow with the number of joints: seconds, code, memory, operations, time.

    make bench-growth              # or: python -m benchmarks.growth
    python -m benchmarks.growth --sizes 2,4,8 --functions inverse_dynamics --budget 120
    python -m benchmarks.growth --models puma560,human43,tree43

Chains of general joints (every DH entry and inertial parameter is non-zero), or models by name.
Every function is built in a process of its own, from nothing, with the flags of this processor; so
its peak memory is its own.  Sizes rise; a function whose next build would not fit into what is
left of the budget, as the last two let expect, is not built any further.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.compare import chosen, say
from benchmarks.contestants import installed
from benchmarks.figures import FUNCTION_TITLES
from benchmarks.interface import FUNCTIONS, ROWS, SMALL
from benchmarks.machine import machine
from benchmarks.marks import markdown, replaced
from benchmarks.models import MODELS, ROOT, chain, without_loads
from benchmarks.report import FOLDER
from benchmarks.timing import Effort, interleaved, single_threaded

DOCUMENT, PLOT = ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "growth"
SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96)
BUDGET = 1800.0
"""Seconds for everything."""

USUAL_GROWTH, STEEPEST_GROWTH = 3.0, 4.0
"""Exponents of n: what is expected where one size is known, and at most where two are."""

COLUMNS = (
    "function", "formulation", "n", "operations", "derive s", "emit s", "compile s", "C lines",
    "C kB", "binary kB", "peak MB", "compiler MB", "call ns", "64 rows ns",
)  # fmt: skip


def build_and_measure(path, function, formulation):
    """Everything about one function of one model; runs in a process of its own."""
    from symgen.deriving.derivation import derive_all
    from symgen.deriving.packaging import package_of
    from symgen.deriving.selection import select
    from symgen.description import read
    from symgen.emit.emission import emit
    from symgen.options import BuildOptions
    from symgen.toolchain.extensions import compile_extensions

    marks = [time.perf_counter()]
    description = read(path)
    options = BuildOptions(formulations=(formulation,), functions=(function,), flags="native")
    selection = replace(select(description, options), evaluated={})
    if len(selection.built) > 1:  # small robots get all formulations; only the fastest counts
        candidates = package_of(description, derive_all(description, selection))
        options = replace(options, formulations=(candidates.fastest[function],))
        marks = [time.perf_counter()]
        selection = replace(select(description, options), evaluated={})
    marks.append(time.perf_counter())
    derived = derive_all(description, selection)
    marks.append(time.perf_counter())
    bundle = emit(package_of(description, derived), ("compiled",))
    marks.append(time.perf_counter())
    result = compile_extensions(bundle, flags="native", force=True)
    marks.append(time.perf_counter())
    sources = [text for name, text in bundle.files.items() if name.endswith(".c")]
    report = next(r for r in derived.reports if r.function == function)
    return {
        "n": selection.n,
        "function": function,
        "formulation": report.formulation,
        "operations": report.after.total,
        **dict(zip(("read s", "derive s", "emit s", "compile s"), np.diff(marks), strict=True)),
        "C lines": sum(text.count("\n") for text in sources),
        "C kB": sum(len(text) for text in sources) / 1e3,
        "binary kB": sum(len(binary.content) for binary in result.binaries) / 1e3,
        "peak MB": _megabytes(resource.RUSAGE_SELF),
        "compiler MB": _megabytes(resource.RUSAGE_CHILDREN),
        **_times(bundle, result, function, selection.n),
    }


def _times(bundle, result, function, n):
    """ns of a call from Python, and per row in a batch, with results written to the same arrays."""
    from benchmarks.contestants.symgen_modules import python_loop
    from benchmarks.interface import Case
    from symgen.program.functions import function_named
    from symgen.toolchain.loading import load_package

    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / bundle.package
        for name, content in {**bundle.files, **result.files()}.items():
            file = package / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        target = getattr(load_package(package), function)
        rng = np.random.default_rng(1)
        count = len(function_named(function).arguments)
        batch = rng.uniform(-2.0, 2.0, (count, ROWS[SMALL], n))
        cases = []
        for rows, states in ((1, list(batch[:, 0])), (ROWS[SMALL], list(batch))):
            given = dict(zip("abc", states, strict=False))
            loop = python_loop(
                f"f({', '.join(given)}, out=out)", f=target, out=target(*states), **given
            )
            cases.append(Case("growth", function, "", rows, loop, tuple))
        single, many = interleaved(cases, Effort(11, 2e-3))
    return {"call ns": single.minimum, "64 rows ns": many.minimum}


def _megabytes(who):
    """Largest resident memory of this process, or of the largest of its children."""
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return resource.getrusage(who).ru_maxrss / unit


class Growth:
    """The rows, and why some are missing."""

    def __init__(self, budget):
        self.deadline = time.perf_counter() + budget
        self.rows, self.left_out, self.spent = [], [], {}

    def build(self, path, name, n, function, formulation):
        """One build in a process of its own, if it can be expected to end in time."""
        key = (function, formulation)
        left = self.deadline - time.perf_counter()
        if self._expected(key, n) > left:
            self.leave_out(name, key, "it would not fit into the budget")
            return
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as cache:
            try:
                answer = subprocess.run(
                    [sys.executable, "-m", "benchmarks.growth",
                     "--child", str(path), function, formulation],
                    capture_output=True, text=True, timeout=max(left, 1.0), cwd=ROOT, check=False,
                    env={**os.environ, "SYMGEN_CACHE_DIR": cache},
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                self.leave_out(name, key, "the budget ended")
                return
        if answer.returncode:
            self.leave_out(name, key, (answer.stderr.strip().splitlines() or ["?"])[-1])
            return
        self.spent.setdefault(key, []).append((n, time.perf_counter() - start))
        row = {
            "model": name,
            "asked for": formulation,
            **json.loads(answer.stdout.splitlines()[-1]),
        }
        self.rows.append(row)
        say(f"{name:8} {function:29} {row['formulation']:22} {row['operations']:>9,} operations "
            f"{row['derive s'] + row['emit s']:7.2f} s + {row['compile s']:7.2f} s of compiling "
            f"{row['call ns']:>11,.0f} ns")  # fmt: skip

    def leave_out(self, name, key, why):
        self.left_out.append({"model": name, "function": key[0], "formulation": key[1], "why": why})
        say(f"{name:8} {key[0]:29} left out: {why}")

    def is_over(self, function, formulation):
        """Whether a smaller chain was left out already."""
        return any((x["function"], x["formulation"]) == (function, formulation)
                   for x in self.left_out)  # fmt: skip

    def _expected(self, key, n):
        """Seconds, from how the last two builds of this function grew."""
        spent = self.spent.get(key, [])
        if not spent:
            return 0.0
        (n1, last), power = spent[-1], USUAL_GROWTH
        if len(spent) > 1 and spent[-2][0] < n1:
            n0, former = spent[-2]
            power = min(np.log(last / former) / np.log(n1 / n0), STEEPEST_GROWTH)
        return last * (n / n1) ** power if n > n1 else last

    def table(self):
        """Lines of a Markdown table."""
        rows = [[row["model"], *(_cell(row[name]) for name in COLUMNS)] for row in self.rows]
        for row in rows:
            row[1] = FUNCTION_TITLES[row[1]]
        return markdown(["model", *COLUMNS], rows, words=3)


def _cell(value):
    if isinstance(value, float):
        return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else value


def arguments(words):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth",
                                     description=__doc__.split("\n")[0])  # fmt: skip
    add = parser.add_argument
    add("--sizes", default=",".join(map(str, SIZES)), help="numbers of joints of the chains")
    add("--models", help="instead of chains, models by name")
    add("--functions", default=",".join(FUNCTIONS))
    add("--formulations", default="default", help="names separated by commas")
    add("--budget", type=float, default=BUDGET, help="seconds for everything")
    add("--json", type=Path, default=FOLDER / "growth.json", help="where the figures go")
    add("--plot", type=Path, default=FOLDER / "growth", help="without ending; - for none")
    add("--write", action="store_true", help=f"put table and plot into docs/{DOCUMENT.name}")
    add("--child", nargs=3, metavar=("PATH", "FUNCTION", "FORMULATION"), help=argparse.SUPPRESS)
    return parser.parse_args(words)


def main(words=None):
    """Build everything that fits into the budget, smaller robots first."""
    single_threaded()
    options = arguments(words)
    if options.child:
        print(json.dumps(build_and_measure(*options.child)))
        return
    functions = chosen(options.functions, FUNCTIONS, "function")
    growth, formulations = Growth(options.budget), options.formulations.split(",")
    facts = machine()
    with tempfile.TemporaryDirectory() as folder:
        for name, n, path in _robots(options, Path(folder)):
            for function in functions:
                for formulation in formulations:
                    if options.models or not growth.is_over(function, formulation):
                        growth.build(path, name, n, function, formulation)
    print("", *growth.table(), sep="\n")
    data = {"machine": facts, "figures": growth.rows, "left out": growth.left_out}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(data, indent=1) + "\n")
    if options.write:
        write(facts, growth.table())
    if str(options.plot) != "-" and installed("matplotlib") and growth.rows:
        from benchmarks.plots import growth_figure, save

        for path in (options.plot, *([PLOT] if options.write else [])):
            save(growth_figure(data), path)


def write(facts, lines):
    """Put the table between the marks of the document."""
    where = f"{facts['processor']}; {facts['date'][:10]}, commit {facts['commit']}."
    image = f"![the table as lines]({PLOT.name}.png)"
    lines = [where, "", image, "", *lines]
    DOCUMENT.write_text(replaced(DOCUMENT.read_text(), "growth", lines))


def _robots(options, folder):
    """(name, n or 0 where it plays no part, path) of what is built."""
    if options.models:
        for name in chosen(options.models, tuple(MODELS), "model"):
            yield name, 0, without_loads(name, folder)
        return
    for n in sorted(int(size) for size in options.sizes.split(",")):
        yield f"chain{n}", n, chain(n, folder)


if __name__ == "__main__":
    main()
