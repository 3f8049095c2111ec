"""Where the packages lie that model files name: ``package://NAME/...``, ``$(find NAME)``, ``model://``.

A package is a folder with a `package.xml` (ROS) or a `model.config` (Gazebo).  It bears the name
of the folder, or the one that its `package.xml` gives.  Looked for are, in this order, the folders
that the user names; the folders above the file, and packages that lie in them; and those of the
variables `ROS_PACKAGE_PATH`, `GZ_SIM_RESOURCE_PATH`, `GAZEBO_MODEL_PATH` and `AMENT_PREFIX_PATH`.

This module imports nothing of symgen: `xacro_process` runs it, too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

MARKS = ("package.xml", "model.config")
VARIABLES = ("ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH")
AMENT = "AMENT_PREFIX_PATH"
MOST_READ = 100_000
"""Characters of a package.xml in which its name is looked for."""
_NAME = re.compile(r"<name>\s*([^<>\s]+)\s*</name>")


def find(name: str, folders: Mapping[str, str], search: Sequence[str]) -> str | None:
    """The folder of a package, absolute; None where it is not found.

    `folders` are folders by name, `search` is what `searched` gives.
    """
    if name in folders:
        return os.path.abspath(folders[name])
    if not name or name in (os.curdir, os.pardir) or {"/", "\\", "\0"} & set(name):
        return None
    for folder in map(Path, search):
        if _is_package(folder) and name in _names(folder):
            return str(folder)
        if _is_package(folder / name):
            return str(folder / name)
    return None


def searched(file: str, environment: Mapping[str, str]) -> list[str]:
    """The folders in which packages are looked for that `file` names."""
    folder = Path(os.path.realpath(file)).parent
    return [str(folder), *map(str, folder.parents), *_named(environment)]


def _named(environment: Mapping[str, str]) -> Iterator[str]:
    for variable in VARIABLES:
        yield from filter(None, environment.get(variable, "").split(os.pathsep))
    for folder in filter(None, environment.get(AMENT, "").split(os.pathsep)):
        yield os.path.join(folder, "share")


def own_package(file: str) -> str:
    """The package that a file lies in: the nearest folder above it that is one, else its folder."""
    nearest = Path(os.path.realpath(file)).parent
    return str(next(filter(_is_package, (nearest, *nearest.parents)), nearest))


def _is_package(folder: Path) -> bool:
    return any(os.path.isfile(folder / mark) for mark in MARKS)


def _names(folder: Path) -> tuple[str, ...]:
    try:
        with open(folder / MARKS[0], encoding="utf-8", errors="replace") as stream:
            match = _NAME.search(stream.read(MOST_READ))
    except OSError:
        return (folder.name,)
    return (folder.name, *match.groups()) if match else (folder.name,)
