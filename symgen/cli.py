"""The command line: `symgen new | convert | build | check | compare | report | show | ...`.

Only this module and `symgen.command.terminal` print.  Exit status: 0 done, 1 symgen's own fault,
2 the user's input is wrong, 3 the result failed its validation, 4 the tool chain failed, 130
interrupted.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import click

from symgen.command import completion, outcome
from symgen.command.options import (
    Json,
    Model,
    OneOf,
    Out,
    Quiet,
    Suggesting,
    Templates,
    build_options,
)
from symgen.errors import RequestError, SymgenError, ValidationError
from symgen.options import BuildOptions
from symgen.toolchain.signals import ENDING
from symgen.version import __version__


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; errors of users end without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character shows "?"
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        try:
            _check_working_folder()
            return int(cli.main(given, prog_name="symgen", standalone_mode=False) or 0)
        except (SymgenError, click.ClickException) as error:
            return _failed(error, outcome.exit_status(error), str(error), given)
        except (KeyboardInterrupt, click.Abort) as error:
            _ignore_further_signals()
            return _failed(error, 130, "interrupted; nothing is left half done", given)
        except BrokenPipeError:
            raise
        except Exception as error:  # whatever is left is a fault of symgen itself, and says so
            return _failed(error, 1, _report_this(), given)
    except BrokenPipeError:
        return 0
    except SystemExit as stop:  # rich ends the program when nobody reads its output
        return 0 if isinstance(stop.__context__, BrokenPipeError) else int(stop.code or 0)


def _ignore_further_signals() -> None:
    """Of those that ask to end a second one has nothing left to stop; it would change the status.

    While Python shuts down, signals that it handled before end the program as they do any other.
    """
    for number in ENDING:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_IGN)


def _failed(error: BaseException, status: int, message: str, given: Sequence[str]) -> int:
    """Say what went wrong, for programs too where they asked for JSON; return `status`."""
    if isinstance(error, click.ClickException):
        message = error.format_message()
        error.show()
    else:
        _complain(message)
    if "--json" in given:
        click.echo(outcome.error_text(error, status, message))
    return status


def _check_working_folder() -> None:
    try:
        os.getcwd()
    except OSError:
        raise RequestError("the working folder does not exist any more; go to another") from None


def _report_this() -> str:
    return (
        f"{traceback.format_exc()}\nThis is a fault of symgen {__version__} (Python "
        f"{sys.version.split()[0]}), not of your model. Please report the lines above with "
        "the model file and the command."
    )


def _complain(message: str) -> None:
    click.echo(message, err=True)


def _as_argument(path: Path) -> str:
    """A path as a shell takes it, and not for an option."""
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


@click.group(cls=Suggesting)
@click.version_option(__version__, prog_name="symgen")
def cli() -> None:
    """Generate fast, validated code for the dynamics of robots.

    Start with: symgen new robot.yaml; symgen build robot.yaml
    """


@cli.command(short_help="Write MODEL, a robot to start from.")
@Model
@Json
@Quiet
def new(model: Path, as_json: bool, quiet: bool) -> None:
    """Write MODEL, a file with a robot to be changed into yours."""
    from symgen.converting.starter import write_starter

    written = write_starter(model)
    if as_json:
        click.echo(outcome.text({"robot": written.stem, "file": str(written)}))
    elif not quiet:
        click.echo(f"wrote {written}; change it, then: symgen build {_as_argument(written)}")


@cli.command(short_help="Write SOURCE (URDF, MJCF or a model file) as a model file.")
@click.argument("source", type=click.Path(path_type=Path), shell_complete=completion.model_files)
@click.argument("target", type=click.Path(path_type=Path))
@click.option(
    "--floating-base",
    is_flag=True,
    help="The root link moves freely, on a joint of six coordinates, in place of being the base.",
)
@click.option(
    "--round-angles",
    is_flag=True,
    help="Angles such as 1.5708 become pi/2, which shortens the code.",
)
@click.option(
    "--style",
    type=OneOf(["standard", "modified", "origin"]),
    help="Write joints by standard or modified DH rows, or by origin and axis.",
)
@click.option("--force", is_flag=True, help="Replace TARGET if it exists.")
@Json
@Quiet
def convert(
    source: Path,
    target: Path,
    floating_base: bool,
    round_angles: bool,
    style: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write SOURCE, a robot in URDF or MJCF or a model file, as the model file TARGET."""
    from symgen.converting.conversion import convert

    done = convert(source, target, floating_base, round_angles, style, force)
    if as_json:
        click.echo(outcome.text(done.as_json()))
        return
    for warning in () if quiet else done.warnings:
        click.echo(f"warning: {warning}", err=True)
    if not quiet:
        count = "1 coordinate" if done.n == 1 else f"{done.n} coordinates"
        if done.pose_error is not None:
            click.echo(f"largest pose error of a link in random states: {done.pose_error:.1e}")
        click.echo(f"wrote {target}, {count}; symgen build {_as_argument(target)}")


@cli.command(short_help="Print the JSON schema of model files, for editors.")
def schema() -> None:
    """Print the JSON schema of model files, for completion in editors."""
    from symgen.description.published import json_schema

    click.echo(json.dumps(json_schema(), indent=2))


@cli.command("completion", short_help="Print the completion script of SHELL.")
@click.argument("shell", metavar="SHELL", type=OneOf(completion.SHELLS))
def complete(shell: str) -> None:
    """Print what SHELL needs so that the tab key completes commands, options, names and files.

    \b
    bash: symgen completion bash > ~/.local/share/bash-completion/completions/symgen
    zsh:  symgen completion zsh > _symgen     (in a folder of $fpath)
    fish: symgen completion fish > ~/.config/fish/completions/symgen.fish
    """
    click.echo(completion.script(cli, shell))


@cli.command(short_help="Generate, compile and validate the module of MODEL.")
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
def build(model: Path, options: BuildOptions, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Generate, compile and validate the module of MODEL."""
    from symgen.command import terminal
    from symgen.pipeline import building

    with terminal.journal(silent=quiet or as_json) as journal:
        report = building.build(model, options, journal)
    if as_json:
        click.echo(outcome.text(report.as_json()))
    elif not quiet:
        terminal.print_build(report, model, verbose)


@cli.command(short_help="Validate the module of MODEL again; --exact: without tolerance.")
@Model
@Out
@build_options
@Json
@Quiet
@click.option(
    "--samples", type=click.IntRange(1, 100_000), default=None, help="Number of random states."
)
@click.option("--verbose", "-v", is_flag=True, help="Print every comparison.")
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
    from symgen.pipeline import checking, report

    if exact:
        if samples is not None:
            raise click.UsageError("--samples has no meaning with --exact; did you mean --points?")
        _check_exactly(model, options, points, as_json, quiet)
        return
    if points is not None:
        raise click.UsageError("--points is an option of --exact; did you mean --samples?")
    with terminal.journal(silent=quiet or as_json) as journal:
        result = checking.check(model, options, samples, journal)
    if as_json:
        click.echo(outcome.text(report.validation_json(result), journal.notices))
    elif not quiet:
        terminal.print_checks(result, verbose)
    if not result.passed:
        _complain(result.summary)  # the result itself is printed already
        raise click.exceptions.Exit(ValidationError.exit_status)


def _check_exactly(
    model: Path, options: BuildOptions, points: int | None, as_json: bool, quiet: bool
) -> None:
    from symgen.command import terminal
    from symgen.pipeline import checking

    with terminal.journal(silent=quiet or as_json) as journal:
        result = checking.check_exactly(model, options, points, journal)
    if as_json:
        click.echo(outcome.text(result.as_json(), journal.notices))
    elif not quiet:
        terminal.print_proofs(result)
    if not result.passed:
        _complain(result.summary)
        raise click.exceptions.Exit(ValidationError.exit_status)


@cli.command(short_help="Compare formulations of MODEL: operations, seconds, ns per call.")
@click.argument(
    "model",
    type=click.Path(path_type=Path),
    required=False,
    shell_complete=completion.model_files,
)
@build_options
@click.option(
    "--family",
    shell_complete=completion.families,
    help="In place of MODEL a family of robots (serial, planar), to see how formulations grow.",
)
@click.option("--joints", help="Sizes of the family: 1..12 (the default), or 2,4,8.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    help="SVG file for the growth of the family; default: FAMILY.svg.",
)
@Json
@Quiet
def compare(
    model: Path | None,
    options: BuildOptions,
    family: str | None,
    joints: str | None,
    plot: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare the formulations of MODEL: operations, lines, seconds, ns per call, disagreement.

    All formulations, of the main functions, unless others are named.  Or how they grow:
    symgen compare --family serial --joints 1..12
    """
    from symgen.command import terminal
    from symgen.comparing import comparison

    if (model is None) == (family is None):
        raise click.UsageError("give either MODEL or --family, such as: --family serial")
    if family is not None:
        sizes = "1..12" if joints is None else joints
        _compare_family(family, sizes, options, plot, as_json, quiet)
        return
    if model is None or joints is not None or plot is not None:
        raise click.UsageError("--joints and --plot are options of --family")
    with terminal.journal(silent=quiet or as_json) as journal:
        result = comparison.compare(model, comparison.unless_named(options), journal)
    if as_json:
        click.echo(outcome.text(result.as_json(), journal.notices))
    elif not quiet:
        terminal.print_comparison(result)


def _compare_family(
    family: str, joints: str, options: BuildOptions, plot: Path | None, as_json: bool, quiet: bool
) -> None:
    from symgen.command import terminal
    from symgen.comparing import growth
    from symgen.comparing.charts import check_picture, growth_svg
    from symgen.comparing.families import FAMILIES
    from symgen.toolchain.files import write_atomically

    counted = BuildOptions(options.formulations, options.functions)
    if options != counted:
        raise click.UsageError(
            "--family counts operations, and nothing is compiled: of the options of builds only "
            "--formulations and --functions say something"
        )
    sizes = growth.parse_range(joints)
    plot = Path(f"{family}.svg") if plot is None else plot
    if family in FAMILIES:
        check_picture(plot)
    with terminal.journal(silent=quiet or as_json) as journal:
        result = growth.grow(family, sizes, options.formulations, options.functions, journal)
    try:
        write_atomically(plot, growth_svg(result).encode())
    except OSError as error:
        raise RequestError(f"cannot write {plot}: {error.strerror}") from error
    if as_json:
        click.echo(outcome.text(result.as_json(), journal.notices))
    elif not quiet:
        terminal.print_growth(result)
        click.echo(f"plot: {plot}")


@cli.command(short_help="Compare a student's formulas with the truth about MODEL.")
@Model
@click.argument("answer", type=click.Path(path_type=Path))
@Json
@Quiet
def grade(model: Path, answer: Path, as_json: bool, quiet: bool) -> None:
    """Compare ANSWER, a student's formulas, with the truth about MODEL, exactly.

    The answer is a file with lines such as 'M[1,2] = I2 + m2*l2**2', 'tau[1] = ...',
    'dtau_dq[1,2] = ...' or 'newton_euler.omega_2_z = qd1 + qd2'; other lines define names.
    """
    from symgen import grading
    from symgen.command import terminal
    from symgen.description import read
    from symgen.description.reading import load

    text = load(answer, "an answer such as answer.txt").decode("utf-8-sig", errors="replace")
    with terminal.journal(silent=quiet or as_json) as journal:
        verdict = grading.grade(read(model), text, str(answer), journal.progress)
    if as_json:
        click.echo(outcome.text(verdict.as_json(), journal.notices))
    elif not quiet:
        click.echo(str(verdict))
    if not verdict.passed:
        raise click.exceptions.Exit(ValidationError.exit_status)


@cli.command(short_help="Write a page about MODEL: equations, recursions, a calculator.")
@Model
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="HTML file to write; default: NAME.html.",
)
@click.option(
    "--quick", is_flag=True, help="Leave out what is compiled and timed, and the plot of growth."
)
@Templates
@Json
@Quiet
def report(
    model: Path,
    output: Path | None,
    quick: bool,
    templates: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write everything about MODEL into one HTML page: equations, recursions, a calculator."""
    from symgen import page
    from symgen.command import terminal

    with terminal.journal(silent=quiet or as_json) as journal:
        written = page.write_report(model, output, quick, templates, journal)
    if as_json:
        click.echo(outcome.text({"file": str(written), "quick": quick}, journal.notices))
    elif not quiet:
        click.echo(f"open {written}")


@cli.command(short_help="Show equations of MODEL, its tree or its frames.")
@Model
@click.argument("what", shell_complete=completion.shown)
@click.option(
    "--format",
    "style",
    type=OneOf(["pretty", "latex", "python", "c", "javascript"]),
    default="pretty",
    show_default=True,
    help="How equations are printed.",
)
@click.option(
    "--formulation",
    default=None,
    shell_complete=completion.formulation,
    help="Formulation to show; default: the closed form where it is small.",
)
@click.option(
    "--steps/--expanded",
    default=None,
    help="The recursion step by step, or everything substituted.",
)
@Json
@click.option("--quiet", "-q", is_flag=True, help="Print the equations and nothing else.")
def show(
    model: Path,
    what: str,
    style: str,
    formulation: str | None,
    steps: bool | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Show WHAT of MODEL: a function (mass_matrix, inverse_dynamics, ...), tree or frames."""
    from symgen.command import terminal
    from symgen.showing import equations

    with terminal.journal(silent=quiet or as_json) as journal:
        text = equations.show(model, what, style, formulation, steps, journal)
    if as_json:
        data = {"what": what, "format": style, "text": text}
        text = outcome.text(data, journal.notices)
    click.echo(text)


if __name__ == "__main__":
    main()
