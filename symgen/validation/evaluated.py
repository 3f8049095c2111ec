"""Formulations that are evaluated and not compiled, as subjects of validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symgen.algebra.graph import Scalar
from symgen.program.evaluation import call
from symgen.program.functions import function_named
from symgen.program.program import Program
from symgen.validation.checks import Subject


class EvaluatedFormulation:
    """The functions of one formulation, each evaluated from its program; complex numbers work."""

    def __init__(self, programs: Mapping[str, Program[Scalar]]) -> None:
        for name, program in programs.items():
            setattr(self, name, _function(program))


def _function(program: Program[Scalar]) -> Any:
    names = [argument.name for argument in function_named(program.function).arguments]

    def function(*arguments: Any, loads: Any = None) -> Any:
        given = dict(zip(names, arguments, strict=True))
        if loads is not None:
            given["loads"] = loads
        results = call(program, given)
        return results[0] if len(results) == 1 else results

    return function


def evaluated_subjects(
    programs: Mapping[str, Mapping[str, Program[Scalar]]], without: tuple[str, ...] = ()
) -> list[Subject]:
    """A subject for every formulation of `programs` except those named in `without`."""
    return [
        Subject(f"evaluated {name}", EvaluatedFormulation(functions), True, False)
        for name, functions in programs.items()
        if name not in without
    ]
