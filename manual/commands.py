"""The reference of the command line, from the tree of commands itself."""

from __future__ import annotations

import click

from manual.notation import cell, code, table
from symgen.cli import cli


def markdown() -> str:
    """A section for every command: usage, what it does, its options."""
    return "\n".join(section(name) for name in sorted(cli.commands))


def section(name: str) -> str:
    """The section of the command called `name`."""
    command = cli.commands[name]
    with click.Context(cli, info_name="symgen") as parent:
        context = click.Context(command, info_name=name, parent=parent)
        usage = command.get_usage(context).removeprefix("Usage: ")
        rows = [_option(option, context) for option in command.get_params(context)]
    options = [row for row in rows if row]
    lines = [f"## symgen {name}", "", f"```text\n{usage}\n```", "", _prose(command.help or "")]
    return "\n".join([*lines, "", table(["option", "meaning"], options)])


def _option(parameter: click.Parameter, context: click.Context) -> list[str]:
    record = parameter.get_help_record(context)
    return [code(record[0]), cell(record[1])] if record and record[1] else []


def _prose(text: str) -> str:
    """Help of click as Markdown: paragraphs, and ``\\b`` before lines that stay as they are."""
    paragraphs = []
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("\b"):
            paragraphs.append("```text\n" + paragraph.removeprefix("\b").strip("\n") + "\n```")
        else:
            paragraphs.append(cell(" ".join(paragraph.split())))
    return "\n\n".join(paragraphs)
