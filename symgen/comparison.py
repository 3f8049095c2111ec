"""`symgen compare`: what each formulation costs, and how far they disagree.

Times are of the compiled module where there is a compiler: a single call from Python with `out`
given, and the time per sample in a batch of 1000 rows; the minimum of several repetitions.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from symgen.algebra.sympy_algebra import to_sympy
from symgen.derivation import Derived, derive_all
from symgen.journal import Journal
from symgen.optimize.operations import OperationCount
from symgen.options import BuildOptions
from symgen.pipeline import run
from symgen.program.functions import function_named
from symgen.toolchain.loading import forget_package, load_package
from symgen.validation.checks import (
    ARGUMENTS,
    LOADED,
    Evaluation,
    Subject,
    random_states,
    relative_error,
)

BATCH = 1000
REPETITIONS = 7
SECONDS_PER_REPETITION = 0.01
LARGEST_SYMPY_COMPARISON = 3
"""Up to this many coordinates `sympy.cse` is shown beside our own counts; above it
takes minutes."""


@dataclass(frozen=True)
class Row:
    """One function by one formulation.

    `after_sympy` is what `sympy.cse` leaves of the expanded expressions, for small models.
    `disagreement` is the largest relative difference from the first formulation that has the
    function.
    """

    formulation: str
    function: str
    before: OperationCount | None
    after: OperationCount
    after_sympy: int | None
    statements: int
    derive_seconds: float
    single_ns: float
    batch_ns: float
    disagreement: float


@dataclass(frozen=True)
class Comparison:
    """All rows, and what was compared: robot, coordinates, backend, lines of C or Python."""

    robot: str
    n: int
    backend: str
    lines: dict[str, int]
    compile_seconds: float | None
    """None where the binary was in the cache."""
    rows: tuple[Row, ...]

    def as_json(self) -> dict[str, Any]:
        """The comparison as plain data."""
        return {**asdict(self), "rows": [asdict(row) for row in self.rows]}


def compare(path: str | Path, options: BuildOptions, journal: Journal) -> Comparison:
    """Build MODEL with several formulations into the cache, and measure them."""
    built = run(path, options, journal)
    report, formulations = built.report, built.selection.formulations
    with journal.stage("derive"):
        derived = built.derived or derive_all(built.description, built.selection, journal.progress)
    module = load_package(report.folder)
    try:
        rows = _rows(module, derived, formulations, journal)
        return Comparison(
            robot=report.robot,
            n=report.n,
            backend=module.backend,
            lines=_lines(report.folder, module, formulations),
            compile_seconds=report.seconds["compile"] if report.compiled_now else None,
            rows=tuple(rows),
        )
    finally:
        forget_package(module)


def _rows(
    module: ModuleType, derived: Derived, formulations: tuple[str, ...], journal: Journal
) -> list[Row]:
    values = module.default_parameters
    states = random_states(module.n, module.n_loads, BATCH, parameters=values)
    evaluations = {
        name: Evaluation(Subject(name, getattr(module, name)), states) for name in formulations
    }
    rows = []
    selected = [report for report in derived.reports if report.formulation in formulations]
    first: dict[str, str] = {}
    for report in selected:
        first.setdefault(report.function, report.formulation)
    for done, report in enumerate(selected):
        function = report.function
        journal.progress(f"measure: {report.formulation}.{function}", done, len(selected))
        mine, reference = evaluations[report.formulation], evaluations[first[function]]
        errors = [
            relative_error(value, other)
            for value, other in zip(
                mine.results(function), reference.results(function), strict=True
            )
        ]
        single, batch = _nanoseconds(getattr(module, report.formulation), function, states)
        program = derived.built[report.formulation][function].straight
        rows.append(
            Row(
                report.formulation,
                function,
                report.before,
                report.after,
                _sympy_operations(program.results)
                if program and module.n <= LARGEST_SYMPY_COMPARISON
                else None,
                report.statements,
                report.derive_seconds,
                single,
                batch,
                max(errors, default=0.0),
            )
        )
    return sorted(rows, key=lambda row: (_order(row.function), formulations.index(row.formulation)))


def _order(function: str) -> int:
    return list(ARGUMENTS).index(function)


def _sympy_operations(results: Any) -> int:
    import sympy

    replacements, reduced = sympy.cse(to_sympy(results), order="none")
    return int(
        sum(sympy.count_ops(value) for _, value in replacements)
        + sum(sympy.count_ops(value) for value in reduced)
    )


def _nanoseconds(formulation: Any, function: str, states: Any) -> tuple[float, float]:
    """(one sample, per sample of a batch), results written to arrays that are there already."""
    names = [*ARGUMENTS[function], *(["loads"] if function in LOADED else [])]
    batch = {name: np.ascontiguousarray(getattr(states, name)) for name in names}
    single = {name: values[0].copy() for name, values in batch.items()}
    return (
        _fastest(_call(formulation, function, single)) * 1e9,
        _fastest(_call(formulation, function, batch)) * 1e9 / BATCH,
    )


def _call(formulation: Any, function: str, values: dict[str, Any]) -> Callable[[], Any]:
    target = getattr(formulation, function)
    positional = [values[argument.name] for argument in function_named(function).arguments]
    options = {"loads": values["loads"]} if "loads" in values else {}
    result = target(*positional, **options)
    scalar = not isinstance(result, tuple) and np.ndim(result) == 0
    if scalar:
        return lambda: target(*positional, **options)
    return lambda: target(*positional, out=result, **options)


def _fastest(call: Callable[[], Any]) -> float:
    """Seconds per call: the minimum of several repetitions."""
    timer = timeit.Timer(call)
    number, taken = 1, timer.timeit(1)
    while taken < SECONDS_PER_REPETITION and number < 1_000_000:
        number *= 4
        taken = timer.timeit(number)
    return min([taken, *timer.repeat(REPETITIONS, number)]) / number


def _lines(folder: Path, module: ModuleType, formulations: tuple[str, ...]) -> dict[str, int]:
    """Lines of generated arithmetic per formulation: C where it is compiled, else Python."""
    patterns = {"compiled": "c/{robot}_{name}*.c", "numpy": "_numpy/{name}*.py"}
    pattern = patterns.get(module.backend, patterns["numpy"])
    return {
        name: sum(
            len(file.read_text().splitlines())
            for file in sorted(folder.glob(pattern.format(robot=module.name, name=name)))
        )
        for name in formulations
    }
