"""Seconds per stage, operations and code size of builds: where the time of `symgen build` goes.

    python benchmarks/build_time.py [--json FILE]

Every model is derived, emitted and compiled from nothing (no cached binary), one after the other;
the figures are of one run, so only their proportions mean something on another machine.  Rows with
"-" are derived and emitted, but not compiled.
"""

import argparse
import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.models import MODELS  # noqa: E402
from symgen.derivation import derive_all, package_of  # noqa: E402
from symgen.description import read  # noqa: E402
from symgen.emit.emission import emit  # noqa: E402
from symgen.options import BuildOptions  # noqa: E402
from symgen.selection import select  # noqa: E402
from symgen.toolchain.compile import compile_extensions  # noqa: E402

CASES = (
    # model, formulation, functions, compile it?
    ("puma560", "closed_form_lagrange", ("default",), True),
    ("chain6", "closed_form_lagrange", ("default",), True),
    ("chain6", "newton_euler", ("default",), True),
    ("human43", "newton_euler", ("inverse_dynamics", "inverse_dynamics_derivatives"), True),
    ("human43", "recursive_lagrange", ("inverse_dynamics", "inverse_dynamics_derivatives"), True),
    ("tree43", "newton_euler", ("inverse_dynamics",), True),
    ("tree43", "newton_euler", ("inverse_dynamics_derivatives",), True),
    ("tree43", "newton_euler", ("default",), False),
)


def measure(model, formulation, functions, compiled, folder):
    path = MODELS[model](folder)
    start = time.perf_counter()
    description = read(path)
    selection = select(description, BuildOptions(formulations=(formulation,), functions=functions))
    read_at = time.perf_counter()
    derived = derive_all(description, replace(selection, evaluated={}))
    derived_at = time.perf_counter()
    bundle = emit(package_of(description, selection, derived), ("compiled",))
    emitted_at = time.perf_counter()
    if compiled:
        compile_extensions(bundle, force=True)
    done = time.perf_counter()
    return {
        "model": model,
        "formulation": formulation,
        "functions": ", ".join(functions),
        "operations": sum(report.after.total for report in derived.reports),
        "lines": bundle.lines,
        "read": read_at - start,
        "derive": derived_at - read_at,
        "emit": emitted_at - derived_at,
        "compile": done - emitted_at if compiled else None,
        "total": done - start,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    rows = []
    file = parser.parse_args().json
    stages = ("read", "derive", "emit", "compile", "total")
    print(f"{'model':9} {'formulation':21} {'functions':29} {'operations':>10} {'lines':>8} "
          + " ".join(f"{stage:>8}" for stage in stages))  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            row = measure(*case, Path(folder))
            rows.append(row)
            seconds = " ".join(
                f"{'-':>8}" if row[stage] is None else f"{row[stage]:8.2f}" for stage in stages
            )
            print(f"{row['model']:9} {row['formulation']:21} {row['functions']:29} "
                  f"{row['operations']:10,} {row['lines']:8,} {seconds}", flush=True)  # fmt: skip
    if file:
        file.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
