"""Output of the command line: progress while it works, tables when it is done."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from symgen.emit.text import plain
from symgen.errors import RequestError
from symgen.optimize.operations import OperationCount
from symgen.options import LOOPS, ONE_IN_LOOPS
from symgen.pipeline.build_report import BuildReport
from symgen.program.functions import FUNCTION_NAMES, function_named
from symgen.runtime.subjects import Check
from symgen.support.journal import Journal
from symgen.support.journal import Progress as ShowProgress
from symgen.validation.validate import ValidationResult

if TYPE_CHECKING:  # it loads SymPy, half a second that no build needs
    from symgen.comparing.comparison import Comparison
    from symgen.comparing.growth import Growth
    from symgen.exact import ExactResult
    from symgen.pipeline.distribution import Distribution


def _out() -> Console:
    """Return the console of stdout: text wraps at words on a terminal, and never in a file."""
    return Console(soft_wrap=not sys.stdout.isatty(), highlight=False)


def _print_table(console: Console, table: Table) -> None:
    """Print at the full width of the table: a narrow terminal wraps it, nothing is cut off."""
    needed = console.measure(table, options=console.options.update(max_width=1000)).maximum
    wide = Console(soft_wrap=True, highlight=False, width=max(console.width, needed))
    wide.print(table)


def _legend(columns: str) -> str:
    """Return the legend of operations; `columns` are those of kinds of operations."""
    return (
        f"expanded: all operations of the expressions written out; {columns}: those that remain "
        "when common subexpressions are shared"
    )


def _table(*headings: str, names: int = 1) -> Table:
    """Return a plain table: `names` columns of names, then columns of numbers, none ever cut."""
    table = Table(box=None, pad_edge=False, padding=(0, 0, 0, 1))
    for position, heading in enumerate(headings):
        table.add_column(heading, justify="left" if position < names else "right", no_wrap=True)
    return table


@contextmanager
def journal(silent: bool) -> Iterator[Journal]:
    """Yield a journal that shows progress by a bar on a terminal, plain lines elsewhere, or not.

    Notices are printed when the command ends, beneath its output, each once; not after a refusal.
    """
    if silent:
        yield Journal()
        return
    console = Console(stderr=True, soft_wrap=not sys.stderr.isatty(), highlight=False)
    noted = Journal(_plain_progress(console), lambda message: console.print(message, markup=False))
    click.get_current_context().call_on_close(lambda: _print_notices(console, noted))
    try:
        if not sys.stderr.isatty():
            yield noted
            return
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("", total=None)

            def show(what: str, done: int, total: int) -> None:
                bar.update(task, description=what, completed=done, total=total or None)

            noted.progress = show
            yield noted
    except RequestError:
        noted.notices.clear()
        raise


def _print_notices(console: Console, journal: Journal) -> None:
    for message in dict.fromkeys(journal.notices):
        if message not in journal.shown:
            console.print(message, markup=False)


def _plain_progress(console: Console) -> ShowProgress:
    """Return progress of one line at the start of every stage."""
    last: list[str] = [""]

    def show(what: str, done: int, total: int) -> None:
        stage = what.partition(":")[0]
        if stage != last[0]:
            last[0] = stage
            console.print(f"{stage} ...", markup=False)

    return show


# -- build -------------------------------------------------------------------------------------


def print_build(report: BuildReport, model: Path, verbose: bool = False) -> None:
    """Print the result of a build: contents, seconds, validation, folder, and how to use it.

    With `verbose` the operations of every function, and what was left out, too.
    """
    console = _out()
    if report.up_to_date:
        unchanged = f"nothing has changed, {report.folder} is up to date (--force builds anyway)"
        console.print(f"{report.robot}: {unchanged}", markup=False)
        if report.installed_as:
            console.print(f"installed: import {report.installed_as}, from any folder")
        return
    if verbose:
        _print_operations(console, report)
    functions = len({row.function for row in report.functions})
    coordinates = "1 coordinate" if report.n == 1 else f"{report.n} coordinates"
    if report.nq != report.n:
        coordinates = f"{report.n} velocities, {report.nq} numbers in q"
    lines = [
        ("built", _functions(functions, report)),
        ("for", _backends(report)),
        ("took", _took(report)),
    ]
    if report.runtime_parameters:
        lines.insert(1, ("arguments", f"the parameters {', '.join(report.runtime_parameters)}"))
    if report.mobility is not None:
        lines.insert(1, ("loops", str(report.mobility)))
    if report.validation is not None:
        lines.append(("validated", report.validation.summary))
    lines.append(("in", str(report.folder)))
    console.print(f"{report.robot}: {coordinates}, from {plain(str(model))}", markup=False)
    _print_labelled(console, lines)
    console.print(_snippet(report), markup=False)


def print_distribution(written: Distribution) -> None:
    """Print the contents of a wheel, and how it is installed."""
    report = written.report
    functions = _functions(len(report.function_names), report)
    parameters = ", ".join(report.runtime_parameters)
    contents = f"{written.module}: {functions}; {' and '.join(report.backends)}"
    lines = [("holds", contents)]
    if parameters:
        lines.append(("arguments", f"the parameters {parameters}"))
    else:
        compiled = "all compiled in (--runtime-parameters NAME keeps some changeable)"
        lines.append(("parameters", compiled))
    if written.loads:
        lines.append(("loads", ", ".join(written.loads)))
    _print_labelled(_out(), lines)


def _print_labelled(console: Console, lines: Iterable[tuple[str, str]]) -> None:
    """Print labels in front of their texts, which wrap in their own column on a terminal."""
    if console.is_terminal:
        table = Table.grid(padding=(0, 1, 0, 0))
        for label, text in lines:
            table.add_row(Text(label), Text(text))
        console.print(table)
        return
    for label, text in lines:
        console.print(f"{label:<10} {text}", markup=False)


def _functions(number: int, report: BuildReport) -> str:
    counted = "1 function" if number == 1 else f"{number} functions"
    names = report.formulations
    formulations = "the formulation" if len(names) == 1 else f"{len(names)} formulations:"
    return f"{counted} by {formulations} {', '.join(names)}"


def _backends(report: BuildReport) -> str:
    size = f"{report.lines:,} lines, {report.size / 1e6:.2f} MB"
    compiler = f", {report.compiler}" if report.compiler else ""
    return f"{' and '.join(report.backends)}{compiler}: {size}"


def _took(report: BuildReport) -> str:
    stages = {stage: value for stage, value in report.seconds.items() if value >= 0.05}
    listed = ", ".join(f"{stage} {value:.1f}" for stage, value in stages.items())
    return f"{sum(report.seconds.values()):.1f} s" + (f": {listed}" if listed else "")


def _print_operations(console: Console, report: BuildReport) -> None:
    _print_table(console, _operations_table(report))
    console.print(_legend("add, mul, div, func"), markup=False)
    for form in (LOOPS, ONE_IN_LOOPS):
        looped = [row.function for row in report.functions if row.form == form]
        if looped:
            console.print(f"in {form} (--form): {', '.join(looped)}", markup=False)
    for name in report.evaluated:
        text = f"{name}: used for validation, not built (--formulations all builds it)"
        console.print(text, markup=False)
    for name, reason in report.skipped.items():
        console.print(f"{name}: {reason}", markup=False)
    console.print()


def _operations_table(report: BuildReport) -> Table:
    table = _table("formulation, function", "expanded", "add", "mul", "div", "func")
    formulation = ""
    for row in report.functions:
        if row.formulation != formulation:
            formulation = row.formulation
            table.add_row(f"[bold]{formulation}[/]")
        count = row.after
        parts = count.additions, count.multiplications, count.divisions, count.functions
        table.add_row(f" {row.function}", _expanded(row.before), *(f"{x:,}" for x in parts))
    return table


def _expanded(count: OperationCount | None) -> str:
    """Return the number of expanded operations; a dash for functions in loops."""
    return "-" if count is None else quantity(count.total)


def quantity(number: int) -> str:
    """Return a count in full, or in powers of ten from 10 million on."""
    return f"{number:,}" if number < 10_000_000 else f"{float(number):.1e}"


def _snippet(report: BuildReport) -> str:
    folder, module = report.folder.parent, report.installed_as or report.robot
    where = f"from {folder.parent} (--install: from any folder)"
    imported = f"from {folder.name} import {module}"
    if report.installed_as:
        where, imported = "from any folder", f"import {module}"
    zeros = ", ".join(["0.0"] * report.n)
    zero = f"[{zeros}]" if report.n <= 8 else f"[0.0] * {report.n}"
    values = {"t": "0.0"}
    if report.nq != report.n:
        values["q"] = f"{module}.neutral()"
    function = function_named(report.function_names[0])
    arguments = [argument.name for argument in function.arguments]
    lines = [imported, *(f"{name} = {values[name]}" for name in arguments if name in values)]
    vectors = [name for name in arguments if name not in values]
    if vectors:
        lines.append(f"{' = '.join(vectors)} = {zero}")
    lines.append(f"{module}.{function.name}({', '.join(arguments)})")
    if {"constraint_bias", "bias_forces"} <= set(report.function_names):
        lines = [
            imported,
            f"q = {module}.assemble()  # where the loops are closed",
            f"qd = {module}.closed_velocities(q, {module}.initial_qd)",
            f"{module}.constrained_forward_dynamics(q, qd, tau={zero})",
        ]
    return f"\nin Python, {where}:\n\n" + "".join(f"    {line}\n" for line in lines)


# -- check -------------------------------------------------------------------------------------


def print_checks(result: ValidationResult, verbose: bool = False) -> None:
    """Print a summary by subject and kind of check with failures in full, or every comparison."""
    console = _out()
    if verbose:
        table = _table("subject", "check", "error", "limit", "samples", "", names=2)
        for row in result.rows:
            table.add_row(row.subject, row.name, *_figures(row), str(row.samples), _verdict(row))
        _print_table(console, table)
    else:
        _print_table(console, _summary_table(result))
        for row in result.failures:
            console.print(str(row), markup=False)
    console.print(result.summary, markup=False)


def _summary_table(result: ValidationResult) -> Table:
    order = list(dict.fromkeys(row.subject for row in result.rows))
    groups: dict[tuple[str, str], list[Check]] = {}
    for row in sorted(result.rows, key=lambda row: order.index(row.subject)):
        groups.setdefault((row.subject, _kind(row)), []).append(row)
    table = _table("formulation, kind of check", "checks", "error", "limit", "")
    subject = ""
    for (name, kind), rows in groups.items():
        if name != subject:
            subject = name
            table.add_row(f"[bold]{name}[/]")
        worst = max(rows, key=lambda row: (not row.passed, row.error / (row.limit or 1.0)))
        table.add_row(f" {kind}", str(len(rows)), *_figures(worst), _verdict(worst))
    return table


def _kind(row: Check) -> str:
    """Return the kind of a check, for the summary."""
    if " = that of " in row.name or " = eqs." in row.name:
        return "against " + row.name.split(" = that of ")[-1].split(" = ")[-1]
    if "complex step" in row.name:
        return "derivatives by complex step"
    if any(word in row.name for word in ("samples", "out=", "broadcast", "loads = zero")):
        return "single, batch, out=, broadcast"
    return "laws of mechanics"


def _figures(row: Check) -> tuple[str, str]:
    return f"{row.error:.1e}", f"{row.limit:.1e}"


def _verdict(row: Check) -> str:
    return "[green]ok[/]" if row.passed else "[bold red]FAILED[/]"


def print_proofs(result: ExactResult, verbose: bool) -> None:
    """Print proofs, function by function, or claim by claim; every difference in full."""
    console = _out()
    headings = ("function, identity",) if verbose else ("function", "identities")
    table = _table(*headings, "entries", "")
    rows = sorted(result.rows, key=lambda row: FUNCTION_NAMES.index(row.function))
    for function, claims in groupby(rows, lambda row: row.function):
        proofs = list(claims)
        if verbose:
            table.add_row(f"[bold]{function}[/]")
            for row in proofs:
                table.add_row(f" {row.claim}", f"{row.entries:,}", _proven(row.holds))
        else:
            entries, holds = sum(row.entries for row in proofs), all(row.holds for row in proofs)
            table.add_row(function, f"{len(proofs):,}", f"{entries:,}", _proven(holds))
    _print_table(console, table)
    for name, reason in result.left_out.items():
        console.print(f"{name}: {reason}", markup=False)
    for row in result.failures:
        console.print(str(row), markup=False)
    console.print(result.summary, markup=False)


def _proven(holds: bool) -> str:
    return "[green]proven[/]" if holds else "[bold red]DIFFERS[/]"


# -- compare -----------------------------------------------------------------------------------


def print_comparison(result: Comparison) -> None:
    """Print one table, function by function."""
    console = _out()
    with_sympy = any(row.after_sympy is not None for row in result.rows)
    headings = ["expanded", "add", "mul", "func", *(["cse"] if with_sympy else []), "temps"]
    headings += ["lines", "kB", "derive s", "compile s", "ns 1", "ns batch", "diff"]
    table = _table("function, formulation", *headings)
    function = ""
    for row in result.rows:
        if row.function != function:
            function = row.function
            table.add_row(f"[bold]{function}[/]")
        table.add_row(
            f" {row.formulation}",
            _expanded(row.before),
            f"{row.after.additions:,}",
            f"{row.after.multiplications:,}",
            f"{row.after.functions + row.after.divisions:,}",
            *(["" if row.after_sympy is None else f"{row.after_sympy:,}"] if with_sympy else []),
            f"{row.statements:,}",
            f"{row.lines:,}",
            f"{row.size / 1e3:,.1f}",
            f"{row.derive_seconds:.2f}",
            "-" if row.compile_seconds is None else f"{row.compile_seconds:.2f}",
            f"{row.single_ns:,.0f}",
            f"{row.batch_ns:,.0f}",
            "-" if row.disagreement is None else f"{row.disagreement:.0e}",
        )
    coordinates = "1 coordinate" if result.n == 1 else f"{result.n} coordinates"
    console.print(f"{result.robot}: {coordinates}, {result.backend} backend", markup=False)
    _print_table(console, table)
    first = result.rows[0].formulation if result.rows else "the first"
    console.print(
        f"{_legend('add, mul, func')} (divisions count as functions); "
        + ("cse: all operations that sympy.cse leaves; " if with_sympy else "")
        + "temps: named temporaries; lines, kB, compile s: of a C file with the function alone; ns "
        "1: one call from Python; ns batch: per sample of 1000; diff: largest relative difference "
        f"from {first}",
        markup=False,
    )
    console.print("--functions all, or names, compares other functions\n", markup=False)
    for sentence in result.conclusion:
        console.print(sentence, markup=False)


def print_growth(growth: Growth) -> None:
    """Print a table per function: operations by size and formulation; exponents; crossings."""
    console = _out()
    for function in dict.fromkeys(x.function for x in growth.sizes):
        sizes = [x for x in growth.sizes if x.function == function]
        names = list(dict.fromkeys(x.formulation for x in sizes))
        table = _table("joints", *names)
        cells = {(x.formulation, x.n): f"{x.operations:,}" for x in sizes}
        for n in growth.joints:
            table.add_row(str(n), *(cells.get((name, n), "-") for name in names))
        fitted = growth.exponents.get(function, {})
        if fitted:
            powers = (f"n^{fitted[name]:.2f}" if name in fitted else "-" for name in names)
            table.add_row("grows as", *powers)
        console.print(f"[bold]{function}[/]")
        _print_table(console, table)
        for crossing in growth.crossings:
            if crossing.function == function:
                console.print(f"  {_crossing(crossing.formulation, crossing.n)}", markup=False)
    console.print(
        "operations of all kinds that remain when common subexpressions are shared; grows as: "
        "fitted for n from half of the largest one on; -: too large to be of use",
        markup=False,
    )


def _crossing(formulation: str, n: int) -> str:
    if n == 0:
        return f"the closed form never needs fewer operations than {formulation}"
    joints = "1 joint" if n == 1 else f"{n} joints"
    return f"the closed form needs fewer operations than {formulation} for at most {joints}"
