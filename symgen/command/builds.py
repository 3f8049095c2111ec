"""`symgen build | wheel | check`: modules."""

from __future__ import annotations

from pathlib import Path

import click

from symgen.command import completion, outcome
from symgen.command.options import (
    Json,
    Model,
    Name,
    Out,
    Quiet,
    build_options,
    build_options_for_others,
)
from symgen.command.outcome import as_argument
from symgen.errors import ValidationError
from symgen.options import BuildOptions


@click.command(short_help="Generate, compile and validate the module of MODEL.")
@Model
@Out
@build_options
@Json
@Quiet
@click.option(
    "--verbose",
    "-v",
    is_flag=True,
    help="Print operations of every function, and what is left out.",
)
@click.option(
    "--install",
    is_flag=True,
    help="Install the module into this environment, so that it is imported from any folder.",
)
@Name
def build(
    model: Path,
    options: BuildOptions,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    install: bool,
    name: str | None,
) -> None:
    """Generate, compile and validate the module of MODEL."""
    from symgen.command import terminal
    from symgen.pipeline import building, distribution

    if name is not None and not install:
        raise click.UsageError("--name says what --install installs; give both")
    with terminal.journal(silent=quiet or as_json) as journal:
        if install:
            report = distribution.build_installed(model, options, name, journal)
        else:
            report = building.build(model, options, journal)
    if as_json:
        click.echo(outcome.text(report.as_json()))
    elif not quiet:
        terminal.print_build(report, model, verbose)


@click.command(short_help="Write a wheel of the module of MODEL, for other machines.")
@Model
@click.option(
    "--out",
    "folder",
    default="dist",
    show_default=True,
    type=click.Path(path_type=Path),
    shell_complete=completion.folders,
    help="Folder that the wheel goes into.",
)
@Name
@click.option("--version", help="Version of the wheel; default: 0.1 with a digest of the module.")
@click.option(
    "--source",
    "as_source",
    is_flag=True,
    help="Write a source distribution, which pip and cibuildwheel compile on any platform.",
)
@build_options_for_others
@Json
@Quiet
def wheel(
    model: Path,
    folder: Path,
    name: str | None,
    version: str | None,
    as_source: bool,
    options: BuildOptions,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write a wheel of the module of MODEL, which pip installs where there is no symgen.

    It serves this version of Python and this platform and needs nothing but NumPy; one that was
    built with --backend numpy serves any, and so does --source, where there is a C compiler.  It
    holds the package that `symgen build` makes of the same options, whatever was built last.
    """
    from symgen.command import terminal
    from symgen.pipeline import distribution

    with terminal.journal(silent=quiet or as_json) as journal:
        written = distribution.write_wheel(
            model, options, folder, name, version, journal, as_source=as_source
        )
    if as_json:
        click.echo(outcome.text(written.as_json(), journal.notices))
    elif not quiet:
        terminal.print_distribution(written)
        click.echo(f"wrote {written.file}; pip install {as_argument(written.file)}")


@click.command(short_help="Validate the module of MODEL again; --exact: without tolerance.")
@Model
@Out
@build_options
@Json
@Quiet
@click.option(
    "--samples", type=click.IntRange(1, 100_000), default=None, help="Number of random states."
)
@click.option("--verbose", "-v", is_flag=True, help="Print every comparison, or identity.")
@click.option(
    "--exact",
    is_flag=True,
    help="Prove the formulations and their derivatives identical, without tolerance; builds "
    "nothing.",
)
@click.option(
    "--points", type=click.IntRange(1, 100), default=None, help="Random points of --exact."
)
def check(
    model: Path,
    options: BuildOptions,
    as_json: bool,
    quiet: bool,
    samples: int | None,
    verbose: bool,
    exact: bool,
    points: int | None,
) -> None:
    """Validate the module of MODEL (built if needed): formulations, derivatives, physics."""
    from symgen.command import terminal
    from symgen.pipeline import build_report, checking

    if exact:
        if samples is not None:
            raise click.UsageError("--samples has no meaning with --exact; did you mean --points?")
        _check_exactly(model, options, points, as_json, quiet, verbose)
        return
    if points is not None:
        raise click.UsageError("--points is an option of --exact; did you mean --samples?")
    with terminal.journal(silent=quiet or as_json) as journal:
        result = checking.check(model, options, samples, journal)
    if as_json:
        click.echo(outcome.text(build_report.validation_json(result), journal.notices))
    elif not quiet:
        terminal.print_checks(result, verbose)
    if not result.passed:
        click.echo(result.summary, err=True)  # the result itself is printed already
        raise click.exceptions.Exit(ValidationError.exit_status)


def _check_exactly(
    model: Path,
    options: BuildOptions,
    points: int | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    from symgen.command import terminal
    from symgen.pipeline import checking

    with terminal.journal(silent=quiet or as_json) as journal:
        result = checking.check_exactly(model, options, points, journal)
    if as_json:
        click.echo(outcome.text(result.as_json(), journal.notices))
    elif not quiet:
        terminal.print_proofs(result, verbose)
    if not result.passed:
        click.echo(result.summary, err=True)
        raise click.exceptions.Exit(ValidationError.exit_status)
