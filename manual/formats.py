"""The page of the entries of URDF, SDF and MJCF, from the tables that the readers are held by."""

from __future__ import annotations

from collections.abc import Iterator

from manual.notation import cell
from symgen.description.foreign import mujoco_process
from symgen.description.foreign.entries import SDF, URDF, Format, Use

HEAD = "| entry | use | what it would have changed |\n| --- | --- | --- |\n"
FIELDS_HEAD = "| use | fields | what they would have changed |\n| --- | --- | --- |\n"


def markdown() -> str:
    """The tables of all formats, one after the other."""
    parts = [f"## {table.name}\n\n{_of(table)}" for table in (URDF, SDF)]
    parts.append(f"## MJCF, as MuJoCo compiles it\n\n{_of_fields()}")
    return "\n\n".join(parts)


def _of(table: Format) -> str:
    numbers = counts(table)
    total = ", ".join(f"{count} {use}" for use, count in numbers.items() if count)
    order = list(Use)
    lines = sorted(rows(table), key=lambda row: order.index(row[1]))
    body = "".join(f"| {entry} | {use} | {cell(effect)} |\n" for entry, use, effect in lines)
    return f"{sum(numbers.values())} entries: {total}.\n\n{HEAD}{body}"


def _of_fields() -> str:
    grouped: dict[tuple[str, str], list[str]] = {}
    for field, (use, effect) in mujoco_process.uses().items():
        grouped.setdefault((use, effect), []).append(field)
    body = "".join(
        f"| {use} | {' '.join(f'`{x}`' for x in fields)} | {cell(effect)} |\n"
        for (use, effect), fields in grouped.items()
    )
    total = sum(map(len, grouped.values()))
    return f"{total} fields and groups of fields (`*`).\n\n{FIELDS_HEAD}{body}"


def counts(table: Format) -> dict[Use, int]:
    """Entries of a table by use."""
    uses = [entry.use for entry in table.entries.values()]
    return {use: uses.count(use) for use in Use}


def rows(table: Format) -> Iterator[tuple[str, Use, str]]:
    """Element with its attributes, use and effect, for a page of documentation."""
    lines: dict[tuple[str, Use, str], list[str]] = {}
    for path, entry in table.entries.items():
        element, _, attribute = path.partition("@")
        lines.setdefault((element, entry.use, entry.effect), []).extend(filter(None, [attribute]))
    for (element, use, effect), attributes in lines.items():
        inner = " and all within" if element in table.whole and not attributes else ""
        yield f"`{element}`{inner}" + "".join(f" `@{x}`" for x in attributes), use, effect
