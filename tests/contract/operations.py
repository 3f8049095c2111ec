"""Operation counts of the contract: one line for each robot, formulation and function.

A count may move by `TOLERATED`; a redesign sees at once what it costs."""

from __future__ import annotations

from symgen.algebra.nodes import Scalar
from symgen.deriving.derivation import is_rolled, rolled_program
from symgen.formulations import formulation_named
from symgen.optimize.operations import operations_after, rolled_operations
from symgen.program.program import Program
from tests.contract.cells import FOLDER, cells, described, program_of, selection

FILE = FOLDER / "operations.txt"
TOLERATED = 0.02


def straight(program: Program[Scalar]) -> int:
    """Count the operations of a program."""
    return operations_after(program.results).total


def in_loops(robot: str, formulation: str, function: str) -> int | None:
    """Count the operations of the same function in loops; None where it has no such form."""
    given = described(robot), formulation_named(formulation), function
    if not is_rolled(*given):
        return None
    return rolled_operations(rolled_program(*given, selection(robot).runtime_parameters)).total


def line(robot: str, formulation: str, function: str, straight: int, loops: int | None) -> str:
    """Write a line of the table."""
    return f"{robot} {formulation} {function} {straight} {'-' if loops is None else loops}\n"


def counted() -> str:
    """Count everything."""
    return "".join(line(*cell, straight(program_of(*cell)), in_loops(*cell)) for cell in cells())


def stored() -> dict[tuple[str, str, str], tuple[int, int | None]]:
    """Read the table."""
    rows = map(str.split, FILE.read_text().splitlines())
    return {
        (robot, formulation, function): (int(straight), None if loops == "-" else int(loops))
        for robot, formulation, function, straight, loops in rows
    }
