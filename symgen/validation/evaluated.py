"""Formulations that are evaluated instead of compiled, as subjects of validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symgen.algebra.nodes import Scalar
from symgen.program.functions import function_named
from symgen.program.interpreter import call
from symgen.program.program import Program
from symgen.runtime import limits
from symgen.runtime.subjects import Check, Subject


class EvaluatedFormulation:
    """The functions of one formulation, evaluated from their programs, for complex numbers, too.

    `parameters` are the default values of the runtime parameters.
    """

    def __init__(
        self, programs: Mapping[str, Program[Scalar]], parameters: Sequence[float] = ()
    ) -> None:
        for name, program in programs.items():
            setattr(self, name, _function(program, parameters))


def _function(program: Program[Scalar], default: Sequence[float]) -> Any:
    spec = function_named(program.function)
    names = [argument.name for argument in spec.arguments]

    def function(*arguments: Any, parameters: Any = None, **options: Any) -> Any:
        inputs = dict(zip(names, arguments, strict=True))
        inputs |= {name: value for name, value in options.items() if value is not None}
        inputs["parameters"] = default if parameters is None else parameters
        outputs = call(program, inputs)
        results, hidden = outputs[: len(spec.results)], outputs[len(spec.results) :]
        if hidden:  # samples without a solution are NaN, as generated functions set them in a batch
            pivots, diagonal = hidden
            least = np.shape(arguments[0])[-1] * limits.EPS * np.real(diagonal)
            singular = np.any(np.real(pivots) <= least, axis=-1)
            for result in results:
                result[singular] = np.nan
        return results[0] if len(results) == 1 else results

    return function


def evaluated_subjects(
    programs: Mapping[str, Mapping[str, Program[Scalar]]], parameters: Sequence[float] = ()
) -> list[Subject]:
    """Make a subject of every formulation, with the functions that it has programs for."""
    return [
        Subject(_subject(name), EvaluatedFormulation(functions, parameters), True, False)
        for name, functions in programs.items()
    ]


def delegated_rows(delegated: Mapping[str, Mapping[str, str]]) -> list[Check]:
    """Rows without samples for functions that are left to other formulations, the inner values."""
    rows = []
    for name, functions in delegated.items():
        serving = " and ".join(dict.fromkeys(functions.values()))
        what = f"{name}: {', '.join(functions)} left to {serving} (symgen check compares all)"
        rows.append(Check(what, _subject(name), 0.0, 0.0, 0))
    return rows


def _subject(formulation: str) -> str:
    return f"evaluated {formulation}"
