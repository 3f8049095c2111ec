"""`symgen new | convert | schema`: model files."""

from __future__ import annotations

import json
from pathlib import Path

import click

from symgen.command import completion
from symgen.command.options import OneOf, output_options, reading_options
from symgen.command.outcome import Output, as_argument
from symgen.options import ReadOptions


@click.command(short_help="Write MODEL, a robot to start from; or, with --task, a task.")
@click.argument(
    "model", type=click.Path(path_type=Path), shell_complete=completion.model_files,
    required=False, metavar="MODEL",
)  # fmt: skip
@click.option("--task", is_flag=True, help="Write a task for symgen plan instead of a robot.")
@click.option(
    "--robot", type=click.Path(path_type=Path), shell_complete=completion.model_files,
    help="Robot that the task is for; default: that of symgen new.",
)  # fmt: skip
@output_options
def new(model: Path | None, task: bool, robot: Path | None, output: Output) -> None:
    """Write MODEL, an example robot (with --task an example task) for you to change."""
    from symgen.converting.starter import write_starter

    if model is None:
        of = "" if robot is None else f" --robot {as_argument(robot)}"
        words = f"name the task file: symgen new --task{of} task.yaml"
        raise click.UsageError(words if task else "Missing argument 'MODEL'.")
    if task:
        _new_task(model, robot, output)
        return
    if robot is not None:
        raise click.UsageError("--robot goes with --task")
    written = write_starter(model)
    output.write(
        lambda: {"robot": written.stem, "file": str(written)},
        lambda: click.echo(
            f"wrote {written}; change it, then: symgen build {as_argument(written)}"
        ),
    )


def _new_task(path: Path, robot: Path | None, output: Output) -> None:
    from symgen.converting.starter import write_starter_task

    description = None
    if robot is not None:
        from symgen.description import read

        description = read(robot)
    written = write_starter_task(path, description)
    model = "ROBOT.yaml" if robot is None else as_argument(robot)
    command = f"symgen plan {model} {as_argument(written)}"
    output.write(
        lambda: {"file": str(written)},
        lambda: click.echo(f"wrote {written}; change it, then: {command}"),
    )


@click.command(short_help="Write SOURCE (URDF, xacro, SDF, MJCF) as a model file.")
@click.argument("source", type=click.Path(path_type=Path), shell_complete=completion.model_files)
@click.argument("target", type=click.Path(path_type=Path))
@click.option(
    "--round-angles",
    is_flag=True,
    help="Angles such as 1.5708 become pi/2, which shortens the code.",
)
@click.option(
    "--style", type=OneOf(["standard", "modified", "origin"]),
    help="Write joints by standard or modified DH rows, or by origin and axis.",
)  # fmt: skip
@reading_options
@click.option("--force", is_flag=True, help="Replace TARGET if it exists.")
@output_options
def convert(
    source: Path, target: Path, reading: ReadOptions, round_angles: bool, style: str | None,
    force: bool, output: Output,
) -> None:  # fmt: skip
    """Write SOURCE, a robot in URDF, xacro, SDF, MJCF or a model file, as the file TARGET."""
    from symgen.converting.conversion import convert

    done = convert(source, target, round_angles, style, force, reading=reading)

    def printed() -> None:
        for warning in done.warnings:
            click.echo(f"warning: {warning}", err=True)
        count = "1 coordinate" if done.n == 1 else f"{done.n} coordinates"
        if done.pose_error is not None:
            click.echo(f"largest pose error of a link in random states: {done.pose_error:.1e}")
        click.echo(f"wrote {target}, {count}; symgen build {as_argument(target)}")

    output.write(done.as_json, printed)


@click.command(short_help="Print the JSON schema of model files, for editors.")
def schema() -> None:
    """Print the JSON schema of model files, for completion in editors."""
    from symgen.description.schema import json_schema

    click.echo(json.dumps(json_schema(), indent=2))
