"""`symgen build | wheel | check`: modules."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from symgen.command import completion
from symgen.command.options import Model, Name, Out, build_options, output_options
from symgen.command.outcome import Output, as_argument
from symgen.errors import ValidationError
from symgen.options import PORTABLE, BuildOptions


@click.command(short_help="Generate, compile and validate the module of MODEL.")
@Model
@Out
@build_options
@output_options
@click.option(
    "--verbose", "-v", is_flag=True,
    help="Print the operations of every function, and what was left out.",
)  # fmt: skip
@click.option(
    "--install", is_flag=True,
    help="Install the module into this environment, so that it is imported from any folder.",
)  # fmt: skip
@Name
def build(
    model: Path, options: BuildOptions, output: Output, verbose: bool, install: bool,
    name: str | None,
) -> None:  # fmt: skip
    """Generate, compile and validate the module of MODEL."""
    from symgen.command import terminal
    from symgen.pipeline import building, distribution

    if name is not None and not install:
        raise click.UsageError("--name says what --install installs; give both")
    with output.journal() as journal:
        if install:
            report = distribution.build_installed(model, options, name, journal)
        else:
            report = building.build(model, options, journal)
    output.write(report.as_json, lambda: terminal.print_build(report, model, verbose))


@click.command(short_help="Write a wheel of the module of MODEL, for other machines.")
@Model
@click.option(
    "--out", "folder", default="dist", show_default=True, type=click.Path(path_type=Path),
    shell_complete=completion.folders, help="Folder that the wheel goes into.",
)  # fmt: skip
@Name
@click.option("--version", help="Version of the wheel; default: 0.1 with a digest of the module.")
@click.option(
    "--source", "as_source", is_flag=True,
    help="Write a source distribution, which pip and cibuildwheel compile on any platform.",
)  # fmt: skip
@partial(build_options, flags=PORTABLE)
@output_options
def wheel(
    model: Path, folder: Path, name: str | None, version: str | None, as_source: bool,
    options: BuildOptions, output: Output,
) -> None:  # fmt: skip
    """Write a wheel of the module of MODEL, which pip installs where there is no symgen.

    The wheel serves this version of Python and this platform and needs only NumPy.  With --backend
    numpy it serves all platforms, and with --source all that have a C compiler.  It holds the
    package that `symgen build` makes with the same options.
    """
    from symgen.command import terminal
    from symgen.pipeline import distribution

    with output.journal() as journal:
        written = distribution.write_wheel(
            model, options, folder, name, version, journal, as_source=as_source
        )

    def printed() -> None:
        terminal.print_distribution(written)
        click.echo(f"wrote {written.file}; pip install {as_argument(written.file)}")

    output.write(written.as_json, printed, journal)


@click.command(short_help="Validate the module of MODEL again; --exact: prove it.")
@Model
@Out
@build_options
@output_options
@click.option(
    "--samples", type=click.IntRange(1, 100_000), default=None, help="Number of random states."
)
@click.option("--verbose", "-v", is_flag=True, help="Print every comparison, or identity.")
@click.option(
    "--exact", is_flag=True,
    help="Prove that all formulations and derivatives agree, exactly rather than within a "
    "tolerance; builds nothing.",
)  # fmt: skip
@click.option(
    "--points", type=click.IntRange(1, 100), default=None, help="Random points of --exact."
)
def check(
    model: Path, options: BuildOptions, output: Output, samples: int | None, verbose: bool,
    exact: bool, points: int | None,
) -> None:  # fmt: skip
    """Validate the module of MODEL (built if needed): formulations, derivatives, physics."""
    from symgen.command import terminal
    from symgen.pipeline import build_report, checking

    if exact:
        if samples is not None:
            raise click.UsageError("--samples has no meaning with --exact; did you mean --points?")
        _check_exactly(model, options, points, output, verbose)
        return
    if points is not None:
        raise click.UsageError("--points is an option of --exact; did you mean --samples?")
    with output.journal() as journal:
        result = checking.check(model, options, samples, journal)
    output.write(
        lambda: build_report.validation_json(result),
        lambda: terminal.print_checks(result, verbose),
        journal,
    )
    _end(result)


def _check_exactly(
    model: Path, options: BuildOptions, points: int | None, output: Output, verbose: bool
) -> None:
    from symgen.command import terminal
    from symgen.pipeline import checking

    with output.journal() as journal:
        result = checking.check_exactly(model, options, points, journal)
    output.write(result.as_json, lambda: terminal.print_proofs(result, verbose), journal)
    _end(result)


def _end(result: Any) -> None:
    """Print the summary of a failure; the result itself is printed already."""
    if not result.passed:
        click.echo(result.summary, err=True)
        raise click.exceptions.Exit(ValidationError.exit_status)
