"""Directions of differentiation: the rate at which every symbol of a program changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from symgen.algebra.nodes import Scalar
from symgen.exact.model import DISPLACEMENTS
from symgen.exact.points import Movement
from symgen.program.program import Program

Displacements = Mapping[str, Movement]
"""For every velocity how q moves along it, by a name for that direction."""


def by_entries(program: Program[Scalar]) -> Displacements:
    """Those of a robot without quaternions: every entry of q moves at its own velocity."""
    return {name: {name: None} for name in symbols(program, "q")}


def on_manifolds(model: Program[Scalar] | None) -> Displacements | None:
    """Those of a robot with quaternions, of which the program of the model tells; else None."""
    outputs = () if model is None else model.outputs
    found = next((output for output in outputs if output.name == DISPLACEMENTS), None)
    if model is None or found is None:
        return None
    positions, n = symbols(model, "q"), found.shape[1]
    return {
        velocity: {
            name: rate
            for name, rate in zip(positions, found.entries[k::n], strict=True)
            if not rate.is_zero
        }
        for k, velocity in enumerate(symbols(model, "qd"))
    }


def rates_of(displacements: Displacements) -> dict[str, list[Scalar]]:
    """The rates at which each symbol moves."""
    found: dict[str, list[Scalar]] = {}
    for movement in displacements.values():
        for name, rate in movement.items():
            if rate is not None:
                found.setdefault(name, []).append(rate)
    return found


def along(displacements: Displacements, velocities: Iterable[Scalar]) -> Movement:
    """How q moves at these velocities of all coordinates."""
    found: dict[str, Scalar] = {}
    for movement, velocity in zip(displacements.values(), velocities, strict=True):
        for name, share in movement.items():
            rate = velocity if share is None else share * velocity
            found[name] = found[name] + rate if name in found else rate
    return found


def in_time(program: Program[Scalar], displacements: Displacements) -> Movement:
    """q moves at the velocity qd, qd at the rate qdd if there is one, and t at the rate 1."""
    accelerations = entries(program, "qdd")
    rates = zip(symbols(program, "qd"), accelerations, strict=True) if accelerations else ()
    clock = dict.fromkeys(symbols(program, "t"))
    return {**along(displacements, entries(program, "qd")), **dict(rates), **clock}


def by_parameters(
    program: Program[Scalar], parameters: Sequence[str], displacements: Displacements
) -> list[Movement]:
    """One movement for each of `parameters`, the runtime parameters.

    Where a sensitivity analysis asks for it, the state varies with the parameters: column k of the
    argument ``dq`` says at which velocity q does so, and so on.
    """
    columns = len(parameters)
    rates: list[dict[str, Scalar | None]] = [{name: None} for name in parameters]
    for array in program.inputs:
        given = entries(program, f"d{array.name}")
        for k, movement in enumerate(rates) if given else ():
            if array.name == "q":
                movement.update(along(displacements, given[k::columns]))
            else:
                movement.update(zip(array.symbol_names, given[k::columns], strict=True))
    return list(rates)


def in_direction(
    program: Program[Scalar], parameters: Sequence[str], displacements: Displacements
) -> Movement:
    """The one movement that a product is taken along: by ``dq``, ``dqd``, and so on.

    q moves at the velocity ``dq``; `parameters` are the runtime parameters.
    """
    movement: dict[str, Scalar | None] = dict(along(displacements, entries(program, "dq")))
    for array in program.inputs:
        given = entries(program, f"d{array.name}")
        if given and array.name != "q":
            names = parameters if array.name == "parameters" else array.symbol_names
            movement.update(zip(names, given, strict=True))
    return movement


def varying_parameters(program: Program[Scalar]) -> list[str]:
    """The runtime parameters that the state varies with, by the names of the entries of ``dq``."""
    q, given = symbols(program, "q"), symbols(program, "dq")
    first = f"d{q[0]}_d" if q else ""
    return [name.removeprefix(first) for name in given if name.startswith(first)]


def symbols(program: Program[Scalar], *inputs: str) -> list[str]:
    """The names of the entries of some arguments of a program."""
    return [name for array in program.inputs if array.name in inputs for name in array.symbol_names]


def entries(program: Program[Scalar], name: str) -> tuple[Scalar, ...]:
    """The entries of one argument of a program; none where it has no such argument."""
    return next((array.symbols for array in program.inputs if array.name == name), ())
