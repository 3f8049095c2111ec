"""The command line: `symgen new | convert | build | check | compare | report | show | ...`.

Only this module and `symgen.terminal` print.  Exit status: 0 done, 1 symgen's own fault, 2 the
user's input is wrong, 3 the result failed its validation, 4 the tool chain failed, 130 interrupted.
"""

from __future__ import annotations

import io
import json
import shlex
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from symgen import __version__
from symgen.errors import RequestError, SymgenError, ValidationError
from symgen.options import BACKENDS, FLAGS, FORMS, BuildOptions, names


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; errors of users end without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character shows "?"
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    try:
        return int(cli.main(arguments, prog_name="symgen", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except SymgenError as error:
        _complain(str(error))
        return error.exit_status
    except (KeyboardInterrupt, click.Abort):
        _complain("interrupted; what was there before is as it was")
        return 130
    except BrokenPipeError:
        return 0
    except SystemExit as stop:  # rich ends the program when nobody reads its output
        return 0 if isinstance(stop.__context__, BrokenPipeError) else int(stop.code or 0)
    except Exception:  # whatever is left is a fault of symgen itself, and says so
        _complain(
            f"{traceback.format_exc()}\nThis is a fault of symgen {__version__} (Python "
            f"{sys.version.split()[0]}), not of your model. Please report the lines above with "
            "the model file and the command."
        )
        return 1


def _complain(message: str) -> None:
    click.echo(message, err=True)


class Suggesting(click.Group):
    """A group that answers an unknown command with the nearest one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """See `click.Group`."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and self.get_command(ctx, name) is None:
            from symgen.selection import suggestion

            raise click.UsageError(f"no such command {name!r}; {suggestion(name, self.commands)}")
        return super().resolve_command(ctx, args)


@click.group(cls=Suggesting)
@click.version_option(__version__, prog_name="symgen")
def cli() -> None:
    """Generate fast, validated code for the dynamics of robots.

    Start with: symgen new robot.yaml; symgen build robot.yaml
    """


Model = click.argument("model", type=click.Path(path_type=Path))
Json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
Quiet = click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")


Out = click.option(
    "--out",
    default="generated",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder that the package's folder goes into.",
)


def build_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that `build` and the commands that build when needed share."""

    @click.option(
        "--formulations",
        default="default",
        show_default=True,
        help="Names separated by commas, 'default' or 'all'.",
    )
    @click.option(
        "--functions",
        default="default",
        show_default=True,
        help="Names separated by commas, 'default' or 'all'.",
    )
    @click.option(
        "--backend",
        type=click.Choice(BACKENDS),
        help="Default: compiled, or numpy where there is no C compiler.",
    )
    @click.option(
        "--runtime-parameters",
        default="none",
        show_default=True,
        help="Parameters of the model that become arguments: names separated by commas, 'all' or "
        "'none'.",
    )
    @click.option(
        "--flags",
        type=click.Choice(FLAGS),
        default="portable",
        show_default=True,
        help="Compile for any processor of this kind, choosing the instructions when it runs; for "
        "this one; or for any, with the instructions that all of them have.",
    )
    @click.option(
        "--form",
        type=click.Choice(FORMS),
        default="auto",
        show_default=True,
        help="Kernels in a straight line, in loops where there are any, or by what is faster.",
    )
    @click.option(
        "--templates",
        type=click.Path(path_type=Path),
        help="Folder whose templates replace those of symgen.",
    )
    @click.option("--force", is_flag=True, help="Build although nothing has changed.")
    @wraps(command)
    def with_options(
        formulations: str,
        functions: str,
        backend: str | None,
        runtime_parameters: str,
        flags: str,
        form: str,
        templates: Path | None,
        force: bool,
        out: Path | None = None,
        **rest: Any,
    ) -> Any:
        options = BuildOptions(
            formulations=names(formulations),
            functions=names(functions),
            backend=backend,
            runtime_parameters=names(runtime_parameters),
            flags=flags,
            form=form,
            templates=templates,
            force=force,
            out=out,
        )
        return command(options=options, **rest)

    return with_options


@cli.command()
@Model
@Quiet
def new(model: Path, quiet: bool) -> None:
    """Write MODEL, a file with a robot to be changed into yours."""
    from symgen.starter import write_starter

    written = write_starter(model)
    if not quiet:
        click.echo(f"wrote {written}; change it, then: symgen build {shlex.quote(str(written))}")


@cli.command()
@click.argument("source", type=click.Path(path_type=Path))
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
    type=click.Choice(["standard", "modified", "origin"]),
    help="Write joints by standard or modified DH rows, or by origin and axis.",
)
@click.option("--force", is_flag=True, help="Replace TARGET if it exists.")
@Quiet
def convert(
    source: Path,
    target: Path,
    floating_base: bool,
    round_angles: bool,
    style: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Write SOURCE, a robot in URDF or MJCF or a model file, as the model file TARGET."""
    from symgen.converting import convert

    done = convert(source, target, floating_base, round_angles, style, force)
    for warning in () if quiet else done.warnings:
        click.echo(f"warning: {warning}", err=True)
    if not quiet:
        count = "1 coordinate" if done.n == 1 else f"{done.n} coordinates"
        if done.pose_error is not None:
            click.echo(f"largest pose error of a link in random states: {done.pose_error:.1e}")
        click.echo(f"wrote {target}, {count}; symgen build {shlex.quote(str(target))}")


@cli.command()
def schema() -> None:
    """Print the JSON schema of model files, for completion in editors."""
    from symgen.description.published import json_schema

    click.echo(json.dumps(json_schema(), indent=2))


@cli.command()
@Model
@Out
@build_options
@Json
@Quiet
def build(model: Path, options: BuildOptions, as_json: bool, quiet: bool) -> None:
    """Generate, compile and validate the module of MODEL."""
    from symgen import pipeline, terminal

    with terminal.journal(silent=quiet or as_json) as journal:
        report = pipeline.build(model, options, journal)
    if as_json:
        click.echo(json.dumps(report.as_json(), indent=2))
    elif not quiet:
        terminal.print_build(report)


@cli.command()
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
    from symgen import checking, report, terminal

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
        click.echo(json.dumps(report.validation_json(result), indent=2))
    elif not quiet:
        terminal.print_checks(result, verbose)
    if not result.passed:
        raise ValidationError(result.summary)


def _check_exactly(
    model: Path, options: BuildOptions, points: int | None, as_json: bool, quiet: bool
) -> None:
    from symgen import checking, terminal

    with terminal.journal(silent=quiet or as_json) as journal:
        result = checking.check_exactly(model, options, points, journal)
    if as_json:
        click.echo(json.dumps(result.as_json(), indent=2))
    elif not quiet:
        terminal.print_proofs(result)
    if not result.passed:
        raise ValidationError(result.summary)


@cli.command()
@click.argument("model", type=click.Path(path_type=Path), required=False)
@build_options
@click.option(
    "--family",
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

    Or how they grow: symgen compare --family serial --joints 1..12
    """
    from symgen import comparison, terminal

    if (model is None) == (family is None):
        raise click.UsageError("give either MODEL or --family, such as: --family serial")
    if family is not None:
        sizes = "1..12" if joints is None else joints
        _compare_family(family, sizes, options, plot, as_json, quiet)
        return
    if model is None or joints is not None or plot is not None:
        raise click.UsageError("--joints and --plot are options of --family")
    if options.formulations == ("default",):
        options = replace(options, formulations=("all",))
    with terminal.journal(silent=quiet or as_json) as journal:
        result = comparison.compare(model, options, journal)
    if as_json:
        click.echo(json.dumps(result.as_json(), indent=2))
    elif not quiet:
        terminal.print_comparison(result)


def _compare_family(
    family: str, joints: str, options: BuildOptions, plot: Path | None, as_json: bool, quiet: bool
) -> None:
    from symgen import growth, terminal
    from symgen.charts import check_picture, growth_svg
    from symgen.families import FAMILIES
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
        click.echo(json.dumps(result.as_json(), indent=2))
    elif not quiet:
        terminal.print_growth(result)
        click.echo(f"plot: {plot}")


@cli.command()
@Model
@click.argument("answer", type=click.Path(path_type=Path))
@Json
@Quiet
def grade(model: Path, answer: Path, as_json: bool, quiet: bool) -> None:
    """Compare ANSWER, a student's formulas, with the truth about MODEL, exactly.

    The answer is a file with lines such as 'M[1,2] = I2 + m2*l2**2', 'tau[1] = ...',
    'dtau_dq[1,2] = ...' or 'newton_euler.omega_2_z = qd1 + qd2'; other lines define names.
    """
    from symgen import grading, terminal
    from symgen.description import read
    from symgen.description.reading import load

    text = load(answer, "an answer such as answer.txt").decode("utf-8-sig", errors="replace")
    with terminal.journal(silent=quiet or as_json) as journal:
        verdict = grading.grade(read(model), text, str(answer), journal.progress)
    if as_json:
        click.echo(json.dumps(verdict.as_json(), indent=2))
    elif not quiet:
        click.echo(str(verdict))
    if not verdict.passed:
        raise click.exceptions.Exit(ValidationError.exit_status)


@cli.command()
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
@click.option(
    "--templates",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Folder whose templates replace those of symgen.",
)
@Quiet
def report(
    model: Path, output: Path | None, quick: bool, templates: Path | None, quiet: bool
) -> None:
    """Write everything about MODEL into one HTML page: equations, recursions, a calculator."""
    from symgen import page, terminal

    with terminal.journal(silent=quiet) as journal:
        written = page.write_report(model, output, quick, templates, journal)
    if not quiet:
        click.echo(f"report: {written}")


@cli.command()
@Model
@click.argument("what")
@click.option(
    "--format",
    "style",
    type=click.Choice(["pretty", "latex", "python", "c", "javascript"]),
    default="pretty",
    show_default=True,
    help="How equations are printed.",
)
@click.option(
    "--formulation",
    default=None,
    help="Formulation to show; default: the closed form where it is small.",
)
@click.option(
    "--steps/--expanded",
    default=None,
    help="The recursion step by step, or everything substituted.",
)
def show(model: Path, what: str, style: str, formulation: str | None, steps: bool | None) -> None:
    """Show WHAT of MODEL: a function (mass_matrix, inverse_dynamics, ...), tree or frames."""
    from symgen import showing, terminal

    with terminal.journal(silent=False) as journal:
        text = showing.show(model, what, style, formulation, steps, journal)
    click.echo(text)


if __name__ == "__main__":
    main()
