"""What new results cost: calls that allocate them beside calls that write into the same arrays.

    python -m benchmarks.new_results                 # part of `make bench`
    python -m benchmarks.new_results --models arm7 --rows 64,1000 --quick

Torques, their derivatives and the mass matrix, one core.  "Dropped" is a call whose former result
is gone, "kept" one whose former result is still seen while the next is computed.  Beside a single
call stands what its kernel takes in a loop in C, and what Pinocchio's derivatives take from Python.
"""

import argparse
import resource
import tempfile
from pathlib import Path

from benchmarks.contestants import contestant, symgen_modules
from benchmarks.interface import CALL, FUNCTIONS, KERNEL, NEW, Case, NotMeasured, Problem
from benchmarks.machine import machine
from benchmarks.models import without_loads
from benchmarks.rigid_bodies import rigid_bodies
from benchmarks.timing import (
    QUICK,
    Effort,
    interleaved,
    python_loop,
    ratio_within_rounds,
    single_threaded,
)
from symgen.description import read

FUNCTION = "inverse_dynamics_derivatives"
ROWS = (64, 512, 4_000, 20_000, 100_000)
LARGEST = 1 << 29
"""Larger results get fewer rows: two of them and what is kept have to fit into memory."""

STATEMENTS = {
    "out": "f(a, b, c, out=out)",
    "dropped": "f(a, b, c)",
    "kept": "kept = f(a, b, c)",
}


def problem_of(name, folder):
    """The model without loads, which Pinocchio does not know."""
    path = without_loads(name, folder)
    description = read(path)
    return Problem(name, path, description, rigid_bodies(description), FUNCTIONS)


def single_call(problem, effort):
    """`Timing`s of one sample, by what was called."""
    cases = list(symgen_modules.cases(problem, FUNCTION, (KERNEL, CALL, NEW)))
    other = contestant("pinocchio_python")
    try:
        if not other.missing():
            cases += other.cases(problem, FUNCTION, (CALL,))
    except NotMeasured:
        pass
    timings = interleaved(cases, effort)
    return {(t.case.contestant, t.case.mode): t for t in timings}


def batch(problem, function, rows, effort):
    """Of so many rows: ns a row with `out=`, and the ratios of dropped and kept to that."""
    states = [
        x.repeat(-(-rows // len(x)), axis=0)[:rows] for x in problem.arguments(FUNCTION, rows)
    ]
    names = dict(zip("abc", states, strict=True), f=function, out=function(*states))
    cases = [
        Case(name, FUNCTION, name, rows, python_loop(statement, **names), tuple)
        for name, statement in STATEMENTS.items()
    ]
    timings = {t.case.mode: t for t in interleaved(cases, effort)}
    ratios = [ratio_within_rounds(timings[x], timings["out"]) for x in ("dropped", "kept")]
    return timings["out"].minimum, *ratios


def resident():
    """Bytes of memory that this process has; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * resource.getpagesize()


def report(name, folder, rows, effort):
    """Print what one model costs."""
    problem = problem_of(name, folder)
    module = symgen_modules.loaded(problem)
    function = getattr(module, FUNCTION)
    timings = single_call(problem, effort)
    texts = [f"{who} {mode} {t.minimum:.0f}" for (who, mode), t in timings.items()]
    print(f"\n{name}, one sample, ns: {', '.join(texts)}")
    new = timings["symgen_modules", NEW]
    for (who, mode), timing in timings.items():
        if timing is not new:
            print(f"  {who} {mode} / new: {ratio_within_rounds(timing, new):.2f}")
    before = resident()
    size = 8 * sum(x.size for x in function(*(x[0] for x in problem.arguments(FUNCTION, 1))))
    print(f"{'rows':>9} {'out= ns a row':>14} {'dropped':>8} {'kept':>8}")
    for number in dict.fromkeys(min(number, LARGEST // size) for number in rows):
        ns, dropped, kept = batch(problem, function, number, effort)
        print(f"{number:9} {ns:14.1f} {dropped:8.2f} {kept:8.2f}", flush=True)
    more, most = (resident() - before) / 2**20, module.result_memory / 2**20
    print(f"resident memory afterwards: {more:.0f} MiB more, at most {most:.0f} are kept")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", default="arm7,human43")
    parser.add_argument("--rows", default=",".join(map(str, ROWS)))
    parser.add_argument("--quick", action="store_true", help="a look, not a measurement")
    given = parser.parse_args(arguments)
    single_threaded()
    effort = QUICK if given.quick else Effort()
    print(", ".join(f"{key} {value}" for key, value in machine().items()))
    with tempfile.TemporaryDirectory() as folder:
        for name in given.models.split(","):
            report(name, folder, [int(number) for number in given.rows.split(",")], effort)


if __name__ == "__main__":
    main()
