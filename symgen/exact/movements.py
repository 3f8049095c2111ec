"""Directions of differentiation: the rate at which every symbol of a program changes."""

from __future__ import annotations

from collections.abc import Sequence

from symgen.algebra.nodes import Scalar
from symgen.exact.points import Movement
from symgen.program.program import Program


def in_time(program: Program[Scalar]) -> Movement:
    """q changes at the rate qd, and qd at the rate qdd."""
    q, qd, qdd = (symbols(program, name) for name in ("q", "qd", "qdd"))
    return dict(zip([*q, *qd], [*qd, *qdd], strict=True))


def by_parameters(program: Program[Scalar], parameters: Sequence[str]) -> list[Movement]:
    """One movement for each of `parameters`, the runtime parameters.

    Where a sensitivity analysis asks for it, the state varies with the parameters: column k of the
    argument ``dq`` says how q does so, and so on.
    """
    columns = len(parameters)
    rates: list[dict[str, str | None]] = [{name: None} for name in parameters]
    for array in program.inputs:
        given = symbols(program, f"d{array.name}")
        if given:
            for k, movement in enumerate(rates):
                movement.update(zip(array.symbol_names, given[k::columns], strict=True))
    return list(rates)


def varying_parameters(program: Program[Scalar]) -> list[str]:
    """The runtime parameters that the state varies with, by the names of the entries of ``dq``."""
    q, given = symbols(program, "q"), symbols(program, "dq")
    columns = len(given) // len(q) if q else 0
    return [name.removeprefix(f"d{q[0]}_d") for name in given[:columns]]


def symbols(program: Program[Scalar], *inputs: str) -> list[str]:
    """The names of the entries of some arguments of a program."""
    return [name for array in program.inputs if array.name in inputs for name in array.symbol_names]
