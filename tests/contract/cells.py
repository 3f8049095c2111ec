"""Robots of the contract, and what every formulation derives of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from symgen.algebra.nodes import Scalar
from symgen.deriving.derivation import derived_program
from symgen.deriving.selection import Selection, select
from symgen.description import RobotDescription, read
from symgen.formulations import formulation_named
from symgen.options import BuildOptions
from symgen.program.program import Program
from symgen.runtime.subjects import Array, States, call
from symgen.validation.evaluated import EvaluatedFormulation

FOLDER = Path(__file__).parent
ROBOTS = tuple(sorted(path.stem for path in (FOLDER / "robots").glob("*.yaml")))


@cache
def described(robot: str) -> RobotDescription:
    """Return the description of a robot."""
    return read(FOLDER / "robots" / f"{robot}.yaml")


@cache
def selection(robot: str) -> Selection:
    """Return every function of every formulation; all parameters are arguments."""
    options = BuildOptions(
        formulations=("all",), functions=("all",), runtime_parameters=("all",), thorough=True
    )
    return select(described(robot), options)


def cells() -> Iterator[tuple[str, str, str]]:
    """Yield every robot, formulation and function."""
    for robot in ROBOTS:
        for formulation, functions in selection(robot).built.items():
            for function in functions:
                yield robot, formulation, function


def program_of(robot: str, formulation: str, function: str) -> Program[Scalar]:
    """Return the program that a build prints."""
    runtime = selection(robot).runtime_parameters
    return derived_program(described(robot), formulation_named(formulation), function, runtime)


def results_of(program: Program[Scalar], states: States) -> tuple[Array, ...]:
    """Evaluate a program."""
    functions = EvaluatedFormulation({program.function: program})
    return call(functions, program.function, vars(states))
