"""xacro -> the tree of a URDF or SDF file, whose elements have their lines in the source.

A xacro file is a program: its expressions are Python.  If the user names a `.xacro` file, the
package `xacro` expands it in a separate process (`xacro_process`), which restricts expressions to
operations on numbers and texts, and reads only files of the package of the file and of packages
that are named or found.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from symgen.description.foreign.packages import own_package, searched
from symgen.description.foreign.process import NoAnswerError, answer_of, is_installed
from symgen.description.foreign.xml import Element, read_xml, stop
from symgen.description.reading import FILE_STEP, MAX_BYTES
from symgen.description.wording import shown
from symgen.errors import Fault, ModelError
from symgen.options import ReadOptions
from symgen.support.suggestions import suggestion

XACRO = ".xacro"
PROGRAM = Path(__file__).with_name("xacro_process.py")
SECONDS = 60
LONGEST = 500
"""Maximum length of a message of xacro."""
INSTALL = "pip install 'symgen[robots]'"


def expanded(file: str, reading: ReadOptions) -> tuple[Element, tuple[str, ...]]:
    """Expand a file: the root element, and the files that its line numbers refer to."""
    if not is_installed("xacro"):
        arguments = "".join(f" {name}:={value}" for name, value in reading.arguments)
        message = (
            f"this is xacro; {INSTALL} expands such files, or expand it yourself: "
            f"xacro {file}{arguments} > {file.removesuffix(XACRO)}"
        )
        raise stop(file, 0, message)
    path = str(Path(file).absolute())
    packages = {name: os.path.abspath(folder) for name, folder in reading.packages}
    asked = {
        "path": path,
        "mark": FILE_STEP,
        "arguments": dict(reading.arguments),
        "packages": packages,
        "search": searched(path, os.environ),
        "folders": [str(Path(os.path.realpath(path)).parent), own_package(path)],
    }
    needed = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    try:
        answer = answer_of(PROGRAM, asked, SECONDS, needed)
    except NoAnswerError as error:
        raise stop(file, 0, f"xacro {error}" if error.ended else f"xacro is {error}") from None
    if "unknown" in answer:
        name = answer["unknown"]
        proposal = suggestion(name, answer["known"])
        raise stop(file, 0, f"there is no argument {shown(name)}; {proposal}")
    if "error" in answer:
        raise ModelError([_fault(file, answer)])
    names = tuple(file if name == path else _short(name) for name in answer["files"])
    text = answer["text"].encode()
    if len(text) > MAX_BYTES:
        raise stop(file, 0, "xacro makes more than 4 MiB of it; no robot is that large")
    root = read_xml(text, file)
    _take_places(root, answer["attribute"])
    return root, names


def _fault(file: str, answer: dict[str, Any]) -> Fault:
    """Return an error of xacro, with its position in the file if known."""
    where = answer.get("file") or file
    shown_file = file if where == str(Path(file).absolute()) else _short(where)
    words = " ".join(str(answer["error"]).split())
    words = words if words.isprintable() else repr(words)[1:-1]
    words = words if len(words) <= LONGEST else f"{words[: LONGEST - 3]}..."
    return Fault(shown_file, int(answer.get("line", 0)), "", f"xacro: {words}")


def _short(path: str) -> str:
    """Return a path for messages: relative to the working folder if inside."""
    inside = Path(path).is_relative_to(os.getcwd())
    return os.path.relpath(path) if inside else path


def _take_places(root: Element, attribute: str) -> None:
    """Move the line number in `attribute` of every element to its `line`."""
    waiting = [(root, 1)]
    while waiting:
        element, line = waiting.pop()
        words = element.attributes.pop(attribute, "")
        element.line = int(words) if words.isdecimal() and len(words) < 12 else line
        waiting += [(child, element.line) for child in element.children]
