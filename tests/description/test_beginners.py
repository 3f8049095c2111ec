"""Wrong files as a class of beginners writes them: each gets the message that a beginner needs.

The files stand in beginners/, all messages in beginners/expected.txt.
After a deliberate change:  SYMGEN_UPDATE_GOLDEN=1 pytest tests/description/test_beginners.py"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from symgen.cli import run
from tests.modules import quick_builds

FOLDER = Path(__file__).parent / "beginners"
EXPECTED = FOLDER / "expected.txt"
FILES = sorted(path.name for path in FOLDER.iterdir() if path != EXPECTED)
SHORT = ("--backend", "numpy", "--functions", "mass_matrix", "--formulations", "newton_euler")
OUTCOMES = {0: "builds with", 2: "refused"}


def outcome(name: str, capfd: pytest.CaptureFixture[str]) -> str:
    """What `symgen build` says to one of the files: a heading, and its messages."""
    shutil.copy(FOLDER / name, name)
    with quick_builds():
        status = run(["build", name, *SHORT])
    captured = capfd.readouterr()
    lines = [line for line in captured.err.splitlines() if not line.endswith(" ...")]  # progress
    if status == 0:  # beside warnings there may be a remark that this machine can run the code
        lines = [line for line in lines if line.startswith("warning: ")]
    else:
        assert not captured.out
        assert os.listdir() == [name], "nothing is written"
    return "\n".join([f"--- {name}: {OUTCOMES[status]}", *lines, ""])


def expected() -> dict[str, str]:
    parts = re.split("^(?=--- )", EXPECTED.read_text(), flags=re.MULTILINE)
    return {part[4:].partition(":")[0]: part.rstrip("\n") + "\n" for part in parts if part}


@pytest.mark.parametrize("name", FILES)
def test_the_message_that_a_beginner_needs(
    name: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = outcome(name, capfd)
    if os.environ.get("SYMGEN_UPDATE_GOLDEN"):
        update(name, text)
    heading, *messages = text.splitlines()
    assert messages, heading
    place = re.compile(rf"(warning: )?{re.escape(name)}:[1-9][0-9]*: ")
    for message in messages:
        assert place.match(message), "file and line"
    assert expected()[name] == text


def update(name: str, text: str) -> None:
    """Write one part of the expected text; the parts of files that are gone disappear."""
    parts = {**expected(), name: text} if EXPECTED.exists() else {name: text}
    EXPECTED.write_text("\n".join(parts[name] for name in FILES if name in parts))


def words() -> Iterator[str]:
    for part in expected().values():
        yield from part.splitlines()[1:]


def test_there_are_enough_and_no_message_is_of_another_tool() -> None:
    assert sorted(expected()) == FILES
    assert len(FILES) >= 60
    for line in words():
        assert not re.search(r"Traceback|pydantic|<class|Error\b|expat|NoneType", line), line
