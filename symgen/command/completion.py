"""Shell completion: commands, options, and names from the model on the command line.

Completion reports no errors: where a file cannot be read, it offers nothing.  It does not import
SymPy, so that an answer takes a fraction of a second.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import wraps

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)

from symgen.errors import SymgenError
from symgen.options import ALL, DEFAULT, NONE

SHELLS = ("bash", "zsh", "fish")
MODEL_ENDINGS = (".yaml", ".yml", ".urdf", ".xml", ".mjcf", ".sdf", ".xacro")
MOST_FILES = 1000
"""Largest number of files that are read from a folder."""

_PLAIN = re.compile(r"[\w@%+./-]*", re.ASCII)
"""Names that need no quoting in a shell; the shell itself completes other file names."""

_Items = list[CompletionItem]
_Completer = Callable[[click.Context, click.Parameter, str], _Items]


def _silent(complete: _Completer) -> _Completer:
    """Wrap `complete` to offer nothing where it fails: a message would spoil the user's line."""

    @wraps(complete)
    def silent(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
        try:
            return complete(ctx, param, incomplete)
        except (OSError, SymgenError, ValueError):
            return []

    return silent


class _Bash(BashComplete):
    """Completion for bash, which splits ``--option=value`` into three words."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """See `click.shell_completion.ShellComplete`."""
        words, incomplete = super().get_completion_args()
        return [word for word in words if word != "="], incomplete


class _Fish(FishComplete):
    """Completion for fish; the script of click loses text after a comma."""

    source_template = """\
function %(complete_func)s
    set -l response (env %(complete_var)s=fish_complete COMP_WORDS=(commandline -cp) \\
        COMP_CWORD=(commandline -t) %(prog_name)s)
    for completion in $response
        set -l metadata (string split --max 1 "," $completion)
        switch $metadata[1]
            case dir
                __fish_complete_directories $metadata[2]
            case file
                __fish_complete_path $metadata[2]
            case plain
                echo $metadata[2]
        end
    end
end
complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)"
"""


add_completion_class(_Bash)
add_completion_class(_Fish)


def script(program: click.Command, shell: str) -> str:
    """Return the script by which `shell` completes the words of `program`."""
    completion = get_completion_class(shell)
    if completion is None:
        raise ValueError(f"click knows no shell {shell!r}")
    return completion(program, {}, "symgen", "_SYMGEN_COMPLETE").source()


def _formulation_names() -> Sequence[str]:
    from symgen.formulations import FORMULATIONS

    return [item.name for item in FORMULATIONS]


def _function_names() -> Sequence[str]:
    from symgen.program.functions import FUNCTION_NAMES

    return FUNCTION_NAMES


def _family_names() -> Iterable[str]:
    from symgen.comparing.families import FAMILIES

    return FAMILIES


def _completer(names: Callable[[], Iterable[str]], exclusive: Sequence[str] = ()) -> _Completer:
    """Return the completion of a name, or of several with commas, but for `exclusive` ones."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
        if exclusive:
            return _listed(incomplete, names(), exclusive)
        return [CompletionItem(name) for name in names() if name.startswith(incomplete)]

    return _silent(complete)


formulations = _completer(_formulation_names, (DEFAULT, ALL))
formulation = _completer(_formulation_names)
functions = _completer(_function_names, (DEFAULT, ALL))
shown = _completer(lambda: ("tree", "frames", *_function_names()))
families = _completer(_family_names)


@_silent
def runtime_parameters(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Complete names of parameters, separated by commas, of the model on the line."""
    from symgen.description import read

    model = ctx.params.get("model") or _model_on_the_line()
    parameters = read(model).independent_parameters if model else ()
    return _listed(incomplete, parameters, (ALL, NONE))


@_silent
def model_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Complete model files; without any, let the shell complete files."""
    place, start = os.path.split(incomplete)
    with os.scandir(place or ".") as entries:
        names = sorted(
            entry.name
            for entry, _ in zip(entries, range(MOST_FILES), strict=False)
            if entry.name.startswith(start)
            and (start or not entry.name.startswith("."))
            and _is_model_file(os.path.join(place, entry.name))
        )
    paths = [os.path.join(place, name) for name in names]
    if not paths or not all(_PLAIN.fullmatch(path) for path in paths):
        return [CompletionItem(incomplete, type="file")]
    return [CompletionItem(path) for path in paths]


def folders(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Let the shell complete folders."""
    return [CompletionItem(incomplete, type="dir")]


def _model_on_the_line() -> str | None:
    """Return the model file on a line that click cannot parse, as it lacks the completed value."""
    words = split_arg_string(os.environ.get("COMP_WORDS", ""))
    return next((word for word in words[1:] if _is_model_file(word)), None)


def _is_model_file(word: str) -> bool:
    return os.path.splitext(word)[1].lower() in MODEL_ENDINGS and os.path.isfile(word)


def _listed(incomplete: str, names: Iterable[str], exclusive: Sequence[str]) -> _Items:
    """Complete a list by names that are not in it yet; `exclusive` names stand alone."""
    before, comma, last = incomplete.rpartition(",")
    taken = before.split(",")
    offered = [name for name in names if name not in taken]
    if not comma:
        offered += [name for name in exclusive if name not in offered]
    return [CompletionItem(f"{before}{comma}{name}") for name in offered if name.startswith(last)]
