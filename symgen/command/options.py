"""Options that several commands share; suggestions for unknown commands and words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symgen.command import completion
from symgen.command.outcome import Output
from symgen.options import BACKENDS, FLAGS, FORMS, NATIVE, BuildOptions, ReadOptions, names
from symgen.support.suggestions import suggestion

if TYPE_CHECKING:
    _Choice = click.Choice[str]
else:  # which older versions of click cannot subscribe
    _Choice = click.Choice

Pairs = tuple[tuple[str, str], ...]


_IN_PYTHON = ("simulate", "animate", "equilibrium")


class Suggesting(click.Group):
    """A group that answers an unknown command with the nearest one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """See `click.Group`."""
        name = args[0] if args else ""
        asked = bool(name) and not name.startswith("-") and not ctx.resilient_parsing
        if asked and self.get_command(ctx, name) is None:  # completion parses too, and is silent
            hint = suggestion(name, self.commands)
            if name in _IN_PYTHON:
                hint = f"in Python: symgen.{name}(symgen.load('robot.yaml'), ...)"
            raise click.UsageError(f"no such command {name!r}; {hint}")
        return super().resolve_command(ctx, args)


class OneOf(_Choice):
    """A choice of words that answers an unknown one with the nearest."""

    def __init__(self, choices: Sequence[str]) -> None:
        super().__init__(choices)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See `click.Choice`."""
        if value not in self.choices:
            self.fail(f"{value!r} is unknown; {suggestion(str(value), self.choices)}", param, ctx)
        return super().convert(value, param, ctx)


Model = click.argument(
    "model", type=click.Path(path_type=Path), shell_complete=completion.model_files
)
Out = click.option(
    "--out", default="generated", show_default=True, type=click.Path(path_type=Path),
    shell_complete=completion.folders, help="Folder that the package's folder is made in.",
)  # fmt: skip
Name = click.option(
    "--name", help="Name under which Python imports the module; default: ROBOT_dynamics."
)
Templates = click.option(
    "--templates", type=click.Path(path_type=Path), shell_complete=completion.folders,
    help="Folder whose templates replace those of symgen.",
)  # fmt: skip


def output_options(
    command: Callable[..., Any], quiet_help: str = "Print nothing but errors."
) -> Callable[..., Any]:
    """Add ``--json`` and ``--quiet``, as the keyword `output`."""

    @wraps(command)
    def with_output(as_json: bool, quiet: bool, **rest: Any) -> Any:
        return command(output=Output(as_json, quiet), **rest)

    json_help = "Print the result, or the error, as JSON."
    with_output = click.option("--quiet", "-q", is_flag=True, help=quiet_help)(with_output)
    return click.option("--json", "as_json", is_flag=True, help=json_help)(with_output)


def _packages(ctx: click.Context, param: click.Parameter, words: tuple[str, ...]) -> Pairs:
    """Return names of packages with their folders."""
    return tuple(_pair(word, "=", "--package: expected NAME=FOLDER, found {!r}") for word in words)


def _xacro(ctx: click.Context, param: click.Parameter, words: tuple[str, ...]) -> Pairs:
    """Return arguments of a xacro file, which follow all other arguments."""
    wrong = "Got unexpected extra argument ({}); arguments of a xacro file are NAME:=VALUE"
    return tuple(_pair(word, ":=", wrong) for word in words)


def _answers(ctx: click.Context, param: click.Parameter, words: tuple[str, ...]) -> Sequence[str]:
    """Return the names of answers, and set the arguments of a xacro file among `words`."""
    ctx.params["xacro_arguments"] = _xacro(ctx, param, tuple(x for x in words if ":=" in x))
    answers = [x for x in words if ":=" not in x]
    if not answers:
        raise click.MissingParameter("give a file of answers, or - for standard input", ctx, param)
    return answers


def _pair(word: str, sign: str, wrong: str) -> tuple[str, str]:
    name, separator, value = word.partition(sign)
    if not name or not separator:
        raise click.UsageError(wrong.format(word))
    return name, value


_READING = (
    click.option(
        "--without-loops", is_flag=True,
        help="Read an MJCF or SDF file as an open tree, and ignore what closes its loops.",
    ),
    click.option(
        "--angles", is_flag=True,
        help="Use angles instead of quaternions for free bodies and balls of URDF, SDF and MJCF.",
    ),
    click.option(
        "--floating-base", is_flag=True,
        help="Let the root link of a URDF or SDF robot move freely, instead of fixing it.",
    ),
    click.option(
        "--package", "packages", multiple=True, metavar="NAME=FOLDER", callback=_packages,
        help="Folder of the package NAME, for $(find NAME) in xacro and model://NAME in SDF.",
    ),
)  # fmt: skip
_XACRO = click.argument("xacro_arguments", nargs=-1, metavar="[NAME:=VALUE]...", callback=_xacro)
Answers = click.argument(
    "answers", nargs=-1, metavar="ANSWER... [NAME:=VALUE]...", callback=_answers
)
"""Files, and the arguments of a xacro file: `click` allows one list of words for both."""


def reading_options(
    command: Callable[..., Any], words: Callable[..., Any] = _XACRO
) -> Callable[..., Any]:
    """Add the options for reading MODEL, as the keyword `reading`, and its last `words`."""

    @wraps(command)
    def with_reading(
        without_loops: bool, angles: bool, floating_base: bool, packages: Pairs,
        xacro_arguments: Pairs, **rest: Any,
    ) -> Any:  # fmt: skip
        reading = ReadOptions(without_loops, packages, xacro_arguments, angles, floating_base)
        return command(reading=reading, **rest)

    with_reading.__doc__ = f"{getdoc(command)}\n\nNAME:=VALUE are arguments of a file in xacro."
    for option in reversed((*_READING, words)):
        with_reading = option(with_reading)
    return with_reading


_ADDITIONS = (
    click.option(
        "--load", "loads", multiple=True, metavar="LINK[:x,y,z]",
        help="Add a load to those of the model, at a point of the link's frame (m); or at a point "
        "of the model, by its name.",
    ),
    click.option(
        "--point", "added_points", multiple=True, metavar="LINK[:x,y,z]",
        help="Add a point of interest, in the form of --load.",
    ),
)  # fmt: skip

_BUILD_OPTIONS = (
    click.option(
        "--formulations", default="default", show_default=True, metavar="NAME[,NAME..]",
        shell_complete=completion.formulations,
        help="Formulations, such as newton_euler.  'default': the fastest of each function, up to "
        "3 coordinates all usual ones; 'default,NAME': these and NAME; 'all'.",
    ),
    click.option(
        "--functions", default="default", show_default=True, metavar="NAME[,NAME..]",
        shell_complete=completion.functions,
        help="Functions, such as mass_matrix.  'default,NAME': the default ones and NAME; 'all'.",
    ),
    click.option(
        "--backend", type=OneOf(BACKENDS),
        help="Default: compiled, or numpy where there is no C compiler.",
    ),
    click.option(
        "--runtime-parameters", default="none", show_default=True, metavar="NAME[,NAME..]",
        shell_complete=completion.runtime_parameters,
        help="Parameters of the model that remain changeable, as arguments; or 'all', or 'none'.",
    ),
    click.option(
        "--flags", type=OneOf(FLAGS),
        help="Processors that the code is for.  native: those of this machine (quickest build); "
        "portable: all of this architecture, with instructions chosen at run time; baseline: all, "
        "with common instructions only.  Default: native; portable for wheels.",
    ),
    click.option(
        "--form", type=OneOf(FORMS), default="auto", show_default=True,
        help="Form of the code: straight-line, loops over joints where available, or (auto) the "
        "faster one.",
    ),
    *_ADDITIONS,
    click.option(
        "--plain-c", is_flag=True, help="Write readable C, c/plain, for robots of any size."
    ),
    click.option(
        "--casadi", is_flag=True,
        help="Also build a library with exact derivatives for casadi.external.",
    ),
    Templates,
    click.option("--force", is_flag=True, help="Build even if nothing has changed."),
)  # fmt: skip
_FIELDS = ("backend", "form", "templates", "force", "plain_c", "casadi", "loads", "reading")
"""Fields of `BuildOptions` that take the values of options unchanged."""


def build_options(command: Callable[..., Any], flags: str = NATIVE) -> Callable[..., Any]:
    """Add the options of a build, as the keyword `options`; `flags` are the default of --flags."""
    usual, listed = flags, ("formulations", "functions", "runtime_parameters")

    @wraps(command)
    def with_options(**values: Any) -> Any:
        fields = {key: values.pop(key) for key in _FIELDS}
        fields |= {key: names(values.pop(key)) for key in listed}
        options = BuildOptions(
            **fields, flags=values.pop("flags") or usual, points=values.pop("added_points"),
            out=values.pop("out", None),
        )  # fmt: skip
        return command(options=options, **values)

    with_reading = reading_options(with_options)
    for option in reversed(_BUILD_OPTIONS):
        with_reading = option(with_reading)
    return with_reading


def additions(
    command: Callable[..., Any], words: Callable[..., Any] = _XACRO
) -> Callable[..., Any]:
    """Add the options `loads`, `added_points`, `reading` and `words` of commands but builds."""
    command = reading_options(command, words)
    for option in reversed(_ADDITIONS):
        command = option(command)
    return command
