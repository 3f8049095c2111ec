"""Search of packages in model files: ``package://NAME/...``, ``$(find NAME)``, ``model://``.

A package is a folder with a `package.xml` (ROS) or a `model.config` (Gazebo).  Its name is that of
the folder, or the name in its `package.xml`.  The search order is: folders named by the user; the
folders above the file, and packages in them; and the folders in the variables `ROS_PACKAGE_PATH`,
`GZ_SIM_RESOURCE_PATH`, `GAZEBO_MODEL_PATH` and `AMENT_PREFIX_PATH`.

This module imports nothing of symgen, because `xacro_process` runs it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

MARKS = ("package.xml", "model.config")
VARIABLES = ("ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH")
AMENT = "AMENT_PREFIX_PATH"
MOST_READ = 100_000
"""Characters of a package.xml that are searched for its name."""
_NAME = re.compile(r"<name>\s*([^<>\s]+)\s*</name>")


def find(name: str, folders: Mapping[str, str], search: Sequence[str]) -> str | None:
    """Return the absolute folder of a package, or None.

    `folders` are folders by name, `search` is the result of `searched`.
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
    """Return the folders that are searched for packages named in `file`."""
    folder = Path(os.path.realpath(file)).parent

    def listed(variable: str) -> list[str]:
        return [x for x in environment.get(variable, "").split(os.pathsep) if x]

    named = [x for variable in VARIABLES for x in listed(variable)]
    shares = [os.path.join(x, "share") for x in listed(AMENT)]
    return [str(folder), *map(str, folder.parents), *named, *shares]


def own_package(file: str) -> str:
    """Return the package of a file: the nearest package folder above it, else its folder."""
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
