"""`symgen new`: a model file to start from, with a word about every key.

The text is ``starter.yaml`` beside this file; the robot gets the name of the file that is written.
"""

from __future__ import annotations

from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from symgen.description.names import illegal_name
from symgen.errors import RequestError
from symgen.toolchain.files import write_new

SUFFIXES = (".yaml", ".yml")


def write_starter(path: Path) -> Path:
    """Write a model file that builds; return where it is (``arm`` becomes ``arm.yaml``).

    Raises `RequestError` where the file's name is none for a robot, where there is such a file, and
    where none can be written.  Then nothing is.
    """
    path = path if path.suffix or not path.name else path.with_name(f"{path.name}.yaml")
    if path.suffix not in SUFFIXES:
        raise RequestError(f"{path} is no name for a model file; expected one such as arm.yaml")
    if problem := illegal_name(path.stem):
        raise RequestError(f"{path}: the robot is called as the file is, but {problem}")
    try:
        write_new(path, starter_text(path.stem, path.name).encode())
    except FileExistsError:
        raise RequestError(f"{path} is there already; choose another name") from None
    except OSError as error:
        with suppress(OSError):
            path.unlink()  # what was written of it
        raise RequestError(f"cannot write {path}: {error.strerror}") from error
    return path


def starter_text(name: str, file: str) -> str:
    """Return the model of a robot called `name` in a file called `file`."""
    text = (files("symgen.converting") / "starter.yaml").read_text(encoding="utf-8")
    return text.replace("{name}", name, 1).replace("{file}", file, 1)
