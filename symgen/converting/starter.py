"""`symgen new`: a model file or a task to start from, with a comment on every key.

The texts are ``starter.yaml`` and ``starter_task.yaml`` in this folder; the robot gets the name of
the written file, a task the coordinates of its robot.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from symgen.description.names import illegal_name
from symgen.errors import RequestError
from symgen.toolchain.files import write_new

SUFFIXES = (".yaml", ".yml")


def write_starter(path: Path) -> Path:
    """Write a model file that builds; return its path (``arm`` becomes ``arm.yaml``).

    Raises:
        RequestError: the name is not legal for a robot, the file exists, or it cannot be written.
    """
    path = _with_suffix(path, "a model file", "arm.yaml")
    if problem := illegal_name(path.stem):
        raise RequestError(f"{path}: the robot is called as the file is, but {problem}")
    return _write(path, starter_text(path.stem, path.name))


def write_starter_task(
    path: Path, positions: Sequence[str], quaternion_starts: Sequence[int] = ()
) -> Path:
    """Write a task for a robot whose entries of q have these names; errors as in `write_starter`.

    `quaternion_starts` are the indices of the first entries of quaternions.
    """
    path = _with_suffix(path, "a task", "task.yaml")
    values = {
        "{start}": ("0", ("0", "0", "0", "1")),
        "{goal}": ("45*deg", ("0", "0", "sin(45*deg)", "cos(45*deg)")),
    }
    text = (files("symgen.converting") / "starter_task.yaml").read_text(encoding="utf-8")
    for key, (value, attitude) in values.items():
        entries = dict.fromkeys(positions, value)
        for k in quaternion_starts:
            entries |= zip(positions[k : k + 4], attitude, strict=True)
        listed = ", ".join(f"{name}: {entry}" for name, entry in entries.items())
        text = text.replace(key, f"{{{listed}}}")
    return _write(path, text.replace("{file}", path.name))


def _with_suffix(path: Path, what: str, example: str) -> Path:
    path = path if path.suffix or not path.name else path.with_name(f"{path.name}.yaml")
    if path.suffix not in SUFFIXES:
        raise RequestError(f"{path} is no name for {what}; expected one such as {example}")
    return path


def _write(path: Path, text: str) -> Path:
    try:
        write_new(path, text.encode())
    except FileExistsError:
        raise RequestError(f"{path} is there already; choose another name") from None
    except OSError as error:
        with suppress(OSError):
            path.unlink()  # what was written of it
        raise RequestError(f"cannot write {path}: {error.strerror}") from error
    return path


def starter_text(name: str, file: str) -> str:
    """Return the model of a robot called `name`, for a file called `file`."""
    text = (files("symgen.converting") / "starter.yaml").read_text(encoding="utf-8")
    return text.replace("{name}", name, 1).replace("{file}", file, 1)
