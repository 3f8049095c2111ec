"""`symgen compare`: costs of formulations, and their disagreement.

Every formulation is compiled with equal options, including code for several samples at a time.
Times are those of the compiled module where there is a compiler: a single call from Python with
`out`, and the time per sample in a batch of 1000 rows on one thread; the minimum of several
repetitions.  Lines, bytes and seconds of the compiler are those of a C file with one function,
compiled for this processor.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from symgen.algebra.sympy_algebra import to_sympy
from symgen.comparing.growth import MAIN_FUNCTIONS, main_functions
from symgen.deriving.derivation import Derived, derive_all
from symgen.deriving.packaging import package_of
from symgen.emit.emission import kernel_files
from symgen.formulations.natural_coordinates import NATURAL_COORDINATES
from symgen.optimize.operations import OperationCount
from symgen.options import ALL, DEFAULT, BuildOptions
from symgen.pipeline.building import Built, described, run
from symgen.program.functions import function_named
from symgen.runtime.calls import ARGUMENTS, LOADED
from symgen.runtime.comparison import relative_error
from symgen.runtime.configuration import configuration_of
from symgen.runtime.subjects import Evaluation, Subject, random_states
from symgen.support.journal import Journal
from symgen.toolchain.extensions import seconds_alone
from symgen.toolchain.loading import forget_package, load_package

BATCH = 1000
REPETITIONS = 7
SECONDS_PER_REPETITION = 0.01
LARGEST_SYMPY_COMPARISON = 3
"""Largest number of coordinates for counts by `sympy.cse`, which takes minutes with more."""

Name = tuple[str, str]
"""Formulation and function."""


@dataclass(frozen=True)
class Row:
    """A function by one formulation.

    `before` are operations of the expanded expressions, None where these were not derived;
    `after_sympy` those that `sympy.cse` leaves, for small models.  `statements` are named
    temporaries; `lines` and `size` (bytes) those of C with this function alone.  `compile_seconds`
    is None without a compiler.  `disagreement` is the largest relative difference from the first
    formulation that has the function, None for one with other coordinates.
    """

    formulation: str
    function: str
    before: OperationCount | None
    after: OperationCount
    after_sympy: int | None
    statements: int
    lines: int
    size: int
    derive_seconds: float
    compile_seconds: float | None
    single_ns: float
    batch_ns: float
    disagreement: float | None


@dataclass(frozen=True)
class Comparison:
    """Rows of a comparison, with robot, number of coordinates, backend."""

    robot: str
    n: int
    backend: str
    rows: tuple[Row, ...]
    closed: bool = False

    @property
    def conclusion(self) -> tuple[str, ...]:
        """Sentences: the best formulations by function, and how well all agree."""
        rows: dict[str, list[Row]] = {}
        natural = NATURAL_COORDINATES.name
        for row in self.rows:
            if row.formulation != natural:
                rows.setdefault(row.function, []).append(row)
        compared = [each for each in rows.values() if len(each) > 1]
        listed = f"{natural}: listed, and not compared: its functions take other coordinates"
        apart = (listed,) if any(row.formulation == natural for row in self.rows) else ()
        if not compared:
            return apart or ("each function has one formulation only: there is nothing to compare",)
        largest = max(row.disagreement or 0.0 for each in compared for row in each)
        solved = "accelerations of a mechanism are solved numerically, alike for all formulations: "
        solved += "constrained_forward_dynamics"
        return (
            *((solved,) if self.closed else ()),
            f"fewest operations: {_best(compared, lambda row: row.after.total)}",
            f"fastest in batches: {_best(compared, lambda row: row.batch_ns)}",
            f"all formulations agree within {largest:.0e} (relative)",
            *apart,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as plain data."""
        return {**asdict(self), "rows": [asdict(row) for row in self.rows]}


def _best(compared: Sequence[Sequence[Row]], cost: Callable[[Row], float]) -> str:
    """Return, for every formulation, the functions for which its cost is lowest."""
    best: dict[str, list[str]] = {}
    for rows in compared:
        least = min(rows, key=cost)
        best.setdefault(least.formulation, []).append(least.function)
    if len(best) == 1 and len(compared) > 1:
        return f"{next(iter(best))} for all functions"
    return "; ".join(f"{name} for {', '.join(functions)}" for name, functions in best.items())


def compare(path: str | Path, options: BuildOptions, journal: Journal) -> Comparison:
    """Build MODEL with several formulations into the cache, and measure them.

    By default, all formulations and the main functions.  Natural coordinates are those of another
    module, whose rows have no disagreement.
    """
    alone = NATURAL_COORDINATES.name
    rest = tuple(name for name in options.formulations if name != alone)
    if rest != options.formulations and rest:
        joints = compare(path, replace(options, formulations=rest), journal)
        functions = {row.function for row in joints.rows} & NATURAL_COORDINATES.functions.keys()
        options = replace(options, formulations=(alone,), functions=tuple(sorted(functions)))
        natural = compare(path, options, journal).rows if functions else ()
        rows = [*joints.rows, *(replace(row, disagreement=None) for row in natural)]
        return replace(joints, rows=tuple(sorted(rows, key=lambda row: _order(row.function))))
    if DEFAULT in options.formulations:
        options = replace(options, formulations=(ALL, *options.formulations))
    if DEFAULT in options.functions:
        main = main_functions(bool(described(path, options).n_constraints))
        named = (name for name in options.functions if name != DEFAULT)
        options = replace(options, functions=(*main, *named))
    built = run(path, replace(options, equal=True), journal)
    with journal.stage("derive"):
        derived = built.derived or derive_all(
            built.description, built.selection, journal.progress, options.form
        )
    module: Any = load_package(built.report.folder)
    module.threads = 1
    try:
        rows = _rows(module, built, derived, options.templates, journal)
        closed = bool(built.description.n_constraints)
        return Comparison(built.report.robot, built.report.n, module.backend, tuple(rows), closed)
    finally:
        forget_package(module)


def _rows(
    module: ModuleType, built: Built, derived: Derived, templates: Path | None, journal: Journal
) -> list[Row]:
    formulations = built.selection.formulations
    reports = [report for report in derived.reports if report.formulation in formulations]
    package = package_of(built.description, derived)
    sources = kernel_files(package, templates)
    seconds = _compile_seconds(module, built.report.folder, sources, journal)
    differences = _disagreements(module, [(x.formulation, x.function) for x in reports])
    rows = []
    for done, report in enumerate(reports):
        name = report.formulation, report.function
        journal.progress(f"measure: {'.'.join(name)}", done, len(reports))
        single, batch = _nanoseconds(module, *name)
        program = derived.built[report.formulation][report.function].straight
        is_small = program is not None and module.n <= LARGEST_SYMPY_COMPARISON
        rows.append(
            Row(
                *name, before=report.before, after=report.after,
                after_sympy=_sympy_operations(program.results) if program and is_small else None,
                statements=report.statements, lines=sources[name].count("\n"),
                size=len(sources[name].encode()), derive_seconds=report.derive_seconds,
                compile_seconds=seconds.get(name), single_ns=single, batch_ns=batch,
                disagreement=differences[name],
            )
        )  # fmt: skip
    return sorted(rows, key=lambda row: (_order(row.function), formulations.index(row.formulation)))


def _compile_seconds(
    module: ModuleType, folder: Path, sources: dict[Name, str], journal: Journal
) -> dict[Name, float]:
    """Return the compile time of every function alone; none without a compiled module."""
    if module.backend == "numpy":
        return {}
    headers = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("c/*.h")}

    def progress(name: Name, done: int, total: int) -> None:
        journal.progress(f"compile alone: {'.'.join(name)}", done, total)

    return seconds_alone(sources, headers, progress=progress)


def _disagreements(module: ModuleType, names: list[Name]) -> dict[Name, float]:
    """Return the largest relative difference of every function from the first formulation."""
    states = _states(module)
    evaluations = {
        formulation: Evaluation(Subject(formulation, getattr(module, formulation)), states)
        for formulation, _ in names
    }
    first: dict[str, str] = {}
    differences = {}
    for formulation, function in names:
        first.setdefault(function, formulation)
        mine = evaluations[formulation].results(function)
        reference = evaluations[first[function]].results(function)
        errors = [relative_error(x, expected) for x, expected in zip(mine, reference, strict=True)]
        differences[formulation, function] = max(errors, default=0.0)
    return differences


def _states(module: ModuleType) -> Any:
    values = module.default_parameters
    space = configuration_of(module)
    return random_states(module.n, module.n_loads, BATCH, parameters=values, configuration=space)


def _order(function: str) -> int:
    return [*MAIN_FUNCTIONS, *ARGUMENTS].index(function)


def _sympy_operations(results: Any) -> int:
    import sympy

    replacements, reduced = sympy.cse(to_sympy(results), order="none")
    values = [*(value for _, value in replacements), *reduced]
    return int(sum(map(sympy.count_ops, values)))


def _nanoseconds(module: ModuleType, formulation: str, function: str) -> tuple[float, float]:
    """Return times of one sample, and per sample of a batch, with results written to `out`."""
    states, target = _states(module), getattr(module, formulation)
    names = [*ARGUMENTS[function], *(["loads"] if function in LOADED else [])]
    batch = {name: np.ascontiguousarray(getattr(states, name)) for name in names}
    single = {name: values[0].copy() for name, values in batch.items()}
    return (
        _fastest(_call(target, function, single)) * 1e9,
        _fastest(_call(target, function, batch)) * 1e9 / BATCH,
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
    """Return seconds per call, the minimum of several repetitions."""
    timer = timeit.Timer(call)
    number, taken = 1, timer.timeit(1)
    while taken < SECONDS_PER_REPETITION and number < 1_000_000:
        number *= 4
        taken = timer.timeit(number)
    return min([taken, *timer.repeat(REPETITIONS, number)]) / number
