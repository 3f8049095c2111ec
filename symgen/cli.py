"""The command line: `symgen new | convert | build | check | compare | report | show | ...`.

Commands are in `symgen.command`, by theme; only they and `symgen.command.terminal` print.  Exit
status: 0 success, 1 fault of symgen, 2 wrong input, 3 failed validation, 4 failure of the tool
chain, 130 interrupted.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import traceback
from collections.abc import Sequence

import click

from symgen.command import builds, completion, models, outcome, planning, reading
from symgen.command.options import OneOf, Suggesting
from symgen.errors import RequestError, SymgenError
from symgen.toolchain.signals import ENDING
from symgen.version import __version__


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; errors of users end without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # "?" for characters that a terminal lacks
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        try:
            _check_working_folder()
            return int(cli.main(words, prog_name="symgen", standalone_mode=False) or 0)
        except (SymgenError, click.ClickException) as error:
            return _failed(error, outcome.exit_status(error), str(error), words)
        except (KeyboardInterrupt, click.Abort) as error:
            _ignore_further_signals()
            return _failed(error, 130, "interrupted; nothing is left half done", words)
        except BrokenPipeError:
            raise
        except Exception as error:  # all others are faults of symgen
            return _failed(
                error,
                1,
                f"{traceback.format_exc()}\nThis is a fault of symgen {__version__} (Python "
                f"{sys.version.split()[0]}), not of your model. Please report the lines above with "
                "the model file and the command.",
                words,
            )
    except BrokenPipeError:
        return 0
    except SystemExit as stop:  # rich exits if its output pipe is closed
        return 0 if isinstance(stop.__context__, BrokenPipeError) else int(stop.code or 0)


def _ignore_further_signals() -> None:
    """Ignore further signals to end the program, which would change the exit status."""
    for number in ENDING:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_IGN)


def _failed(error: BaseException, status: int, message: str, words: Sequence[str]) -> int:
    """Print the message, also as JSON if the command asked for it; return `status`."""
    if isinstance(error, click.ClickException):
        message = error.format_message()
        error.show()
    else:
        click.echo(message, err=True)
    if "--json" in words:
        click.echo(outcome.error_text(error, status, message))
    return status


def _check_working_folder() -> None:
    try:
        os.getcwd()
    except OSError:
        raise RequestError("the working folder does not exist any more; go to another") from None


@click.group(cls=Suggesting)
@click.version_option(__version__, prog_name="symgen")
def cli() -> None:
    """Generate fast, validated code for the dynamics of robots.

    Start with: symgen new robot.yaml; symgen build robot.yaml
    """


@click.command("completion", short_help="Print the completion script of SHELL.")
@click.argument("shell", metavar="SHELL", type=OneOf(completion.SHELLS))
def complete(shell: str) -> None:
    """Print the script with which SHELL completes commands, options, names and files.

    \b
    bash: symgen completion bash > ~/.local/share/bash-completion/completions/symgen
    zsh:  symgen completion zsh > _symgen     (in a folder of $fpath)
    fish: symgen completion fish > ~/.config/fish/completions/symgen.fish
    """
    click.echo(completion.script(cli, shell))


for command in (
    models.new, models.convert, models.schema, complete, builds.build, builds.wheel, builds.check,
    reading.compare, reading.grade, reading.report, reading.show, planning.plan,
):  # fmt: skip
    cli.add_command(command)


if __name__ == "__main__":
    main()
