"""`symgen compare | grade | report | show`: results about a model, without a module to keep."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from symgen.command import completion, outcome
from symgen.command.options import (
    Answers,
    Model,
    OneOf,
    Templates,
    additions,
    build_options,
    output_options,
)
from symgen.command.outcome import Output
from symgen.errors import RequestError, ValidationError
from symgen.options import BuildOptions, ReadOptions


@click.command(short_help="Compare formulations of MODEL: operations, seconds, ns per call.")
@click.argument(
    "model", type=click.Path(path_type=Path), required=False, shell_complete=completion.model_files
)
@build_options
@click.option(
    "--family", shell_complete=completion.families,
    help="A family of robots (serial, planar) instead of MODEL, to see how formulations grow.",
)  # fmt: skip
@click.option("--joints", help="Sizes of the family: 1..12 (the default), or 2,4,8.")
@click.option(
    "--plot", type=click.Path(path_type=Path),
    help="SVG file for the growth of the family; default: FAMILY.svg.",
)  # fmt: skip
@output_options
def compare(
    model: Path | None, options: BuildOptions, family: str | None, joints: str | None,
    plot: Path | None, output: Output,
) -> None:  # fmt: skip
    """Compare the formulations of MODEL: operations, lines, seconds, ns per call, disagreement.

    By default all formulations and the main functions.  With --family, compare how the
    operations grow with the number of joints: symgen compare --family serial --joints 1..12
    """
    from symgen.command import terminal
    from symgen.comparing import comparison

    if (model is None) == (family is None):
        raise click.UsageError("give either MODEL or --family, such as: --family serial")
    if family is not None:
        _compare_family(family, "1..12" if joints is None else joints, options, plot, output)
        return
    if model is None or joints is not None or plot is not None:
        raise click.UsageError("--joints and --plot are options of --family")
    with output.journal() as journal:
        result = comparison.compare(model, options, journal)
    output.write(result.as_json, lambda: terminal.print_comparison(result), journal)


def _compare_family(
    family: str, joints: str, options: BuildOptions, plot: Path | None, output: Output
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
    picture = Path(f"{family}.svg") if plot is None else plot
    if family in FAMILIES:
        check_picture(picture)
    with output.journal() as journal:
        result = growth.grow(family, sizes, options.formulations, options.functions, journal)
    try:
        write_atomically(picture, growth_svg(result).encode())
    except OSError as error:
        raise RequestError(f"cannot write {picture}: {error.strerror}") from error

    def printed() -> None:
        terminal.print_growth(result)
        click.echo(f"plot: {picture}")

    output.write(result.as_json, printed, journal)


@click.command(short_help="Compare a student's formulas with the truth about MODEL.")
@Model
@partial(additions, words=Answers)
@partial(output_options, quiet_help="Print the number of right lines and nothing else.")
def grade(
    model: Path, answers: Sequence[str], loads: tuple[str, ...], added_points: tuple[str, ...],
    reading: ReadOptions, output: Output,
) -> None:  # fmt: skip
    """Compare ANSWER, a student's formulas, with the truth about MODEL, exactly.

    ANSWER is a file, or - for standard input, with lines such as 'M[1,2] = I2 + m2*l2**2',
    'tau[1] = ...', 'dtau_dq[1,2] = ...' or 'newton_euler.omega_2_z = qd1 + qd2'; other lines define
    names.  Several answers are graded one by one, with a summary at the end.
    """
    from symgen import grading
    from symgen.description import read
    from symgen.description.additions import with_additions
    from symgen.grading.answer import check_order

    check_order(str(model), _text(model))
    texts = [(answer, _text(answer, "an answer such as answer.txt")) for answer in answers]
    with output.journal() as journal:
        robot = with_additions(read(model, reading), loads, added_points)
        verdicts = [grading.grade(robot, text, file, journal.progress) for file, text in texts]
    passed, graded = all(x.passed for x in verdicts), list(zip(answers, verdicts, strict=True))
    files = [{"file": file, **verdict.as_json()} for file, verdict in graded]
    single = len(verdicts) == 1
    summary = [f"{file}: " * (not single) + verdict.summary for file, verdict in graded]
    details = [f"{file}:\n{verdict}\n" for file, verdict in graded]
    output.write(
        lambda: verdicts[0].as_json() if single else {"answers": files, "passed": passed},
        lambda: click.echo("\n".join([str(verdicts[0])] if single else [*details, *summary])),
        journal,
    )
    if output.quiet and not output.as_json:
        click.echo("\n".join(summary))
    if not passed:
        raise click.exceptions.Exit(ValidationError.exit_status)


def _text(file: str | Path, *meant: str) -> str:
    """Read a file, or standard input for "-"; `meant` is what messages expect, or a robot."""
    from symgen.description.reading import MAX_BYTES, load
    from symgen.grading.answer import decoded

    return decoded(sys.stdin.buffer.read(MAX_BYTES) if file == "-" else load(file, *meant))


@click.command(short_help="Write a page about MODEL: equations, recursions, a calculator.")
@Model
@click.option(
    "--output", "-o", "target", type=click.Path(path_type=Path),
    help="HTML file to write; default: NAME.html.",
)  # fmt: skip
@click.option(
    "--quick", is_flag=True, help="Leave out the timings of compiled code and the plot of growth."
)
@additions
@Templates
@output_options
def report(
    model: Path, target: Path | None, quick: bool, loads: tuple[str, ...],
    added_points: tuple[str, ...], reading: ReadOptions, templates: Path | None, output: Output,
) -> None:  # fmt: skip
    """Write everything about MODEL into one HTML page: equations, recursions, a calculator."""
    from symgen import page

    with output.journal() as journal:
        written = page.write_report(
            model, target, quick, templates, journal,
            loads=loads, points=added_points, reading=reading,
        )  # fmt: skip
    data = {"file": str(written), "quick": quick}
    output.write(lambda: data, lambda: click.echo(f"open {written}"), journal)


@click.command(short_help="Show equations of MODEL, its tree or its frames.")
@Model
@click.argument("what", shell_complete=completion.shown, metavar="WHAT", required=False)
@click.option(
    "--format", "style", type=OneOf(["pretty", "latex", "python", "c", "javascript"]),
    default="pretty", show_default=True, help="How equations are printed.",
)  # fmt: skip
@click.option(
    "--formulation", default=None, shell_complete=completion.formulation,
    help="Formulation to show; default: the closed form where it is small.",
)  # fmt: skip
@click.option(
    "--steps/--expanded", default=None,
    help="The recursion step by step, or everything substituted.",
)  # fmt: skip
@click.option(
    "--code", "generated", is_flag=True,
    help="The source that a build generates (--format c, python or javascript), not equations.",
)  # fmt: skip
@additions
@partial(output_options, quiet_help="Print the equations and nothing else.")
def show(
    model: Path, what: str | None, style: str, formulation: str | None, steps: bool | None,
    generated: bool, loads: tuple[str, ...], added_points: tuple[str, ...], reading: ReadOptions,
    output: Output,
) -> None:  # fmt: skip
    """Show WHAT of MODEL: a function (mass_matrix or M, inverse_dynamics or tau, ...), tree or
    frames."""
    from symgen.program.functions import FUNCTION_NAMES
    from symgen.showing import equations
    from symgen.showing.typesetting import CODE_STYLES

    if what is None:
        raise click.UsageError(
            f"show what of {model}? Give tree, frames, or a function: {', '.join(FUNCTION_NAMES)}"
        )
    with output.journal() as journal:
        text = equations.show(
            model, what, style, formulation, steps, journal,
            loads=loads, points=added_points, reading=reading, generated=generated,
        )  # fmt: skip
        if style in CODE_STYLES and not generated:
            journal.notice(f"equations in the notation of {style}; --code has the generated source")
    if output.as_json:
        text = outcome.text({"what": what, "format": style, "text": text}, journal.notices)
    click.echo(text)
