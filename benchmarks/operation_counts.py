"""Operations of every formulation for general spatial chains of 1 to 12 joints.

    python -m benchmarks.operation_counts [--joints N] [--write]

Counts what is left after elimination of common subexpressions and folding of the numbers of a chain
whose DH entries and inertial parameters are all non-zero.  `--write` puts the tables into
docs/operation_counts.md, between the marks; tests/test_documents.py holds their first rows.
"""

import argparse
import tempfile

from benchmarks.marks import replaced
from benchmarks.models import ROOT, chain
from symgen.algebra.graph import Graph
from symgen.comparing.growth import LARGEST, MAIN_FUNCTIONS
from symgen.deriving.derivation import derived_program
from symgen.description import read
from symgen.formulations import FORMULATIONS
from symgen.kinematics.tree import build_tree
from symgen.optimize.operations import operations_after

DOCUMENT = ROOT / "docs" / "operation_counts.md"


def count(description, formulation, function):
    """``multiplications + additions`` of one function, or a dash where it is too large."""
    tree = build_tree(description, Graph())
    if formulation.why_not(tree) or formulation.operations(tree, function) > LARGEST:
        return "-"
    program = derived_program(description, formulation, function)
    operations = operations_after(program.results)
    products = operations.multiplications + operations.divisions
    return f"{products:,} + {operations.additions:,}"


def table(function, joints):
    """Lines of a Markdown table: one row per number of joints, one column per formulation."""
    able = [formulation for formulation in FORMULATIONS if function in formulation.functions]
    names = [formulation.name for formulation in able]
    lines = ["| n | " + " | ".join(names) + " |", "| ---: |" + " ---: |" * len(names)]
    with tempfile.TemporaryDirectory() as folder:
        for n in joints:
            robot = read(chain(n, folder))
            cells = [count(robot, formulation, function) for formulation in able]
            lines.append(f"| {n} | " + " | ".join(cells) + " |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--joints", type=int, default=12)
    parser.add_argument("--write", action="store_true", help=f"into {DOCUMENT.name}")
    options = parser.parse_args()
    text = DOCUMENT.read_text()
    for function in MAIN_FUNCTIONS:
        lines = table(function, range(1, options.joints + 1))
        print(function, *lines, "", sep="\n", flush=True)
        text = replaced(text, function, lines)
    if options.write:
        DOCUMENT.write_text(text)


if __name__ == "__main__":
    main()
