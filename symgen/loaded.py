"""Where modules of `symgen.load` live: ``symgen.loaded.two_link_1f0c...``, named by their build.

A pickle holds the name of a function and of its module.  In a process that has not loaded the robot
(one that was spawned, a worker of Dask or joblib) Python asks this package for that name, and it is
found among the builds of the user's cache: exactly that build, or none.  Builds in other folders
are found in processes that have loaded them; elsewhere ``symgen build --install`` makes modules
that every process can import.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from symgen.toolchain.cache import open_cache
from symgen.toolchain.install import undisturbed
from symgen.toolchain.loading import load_package
from symgen.toolchain.manifest import identity

__path__: list[str] = []
"""Makes it a package; none of its modules lies beside it."""

_NAME = re.compile(r"([A-Za-z][A-Za-z0-9_]*)_([0-9a-f]{32})")

_folders: dict[str, Path] = {}


def load(folder: Path) -> ModuleType:
    """The package in `folder` by the name of its build; the same module for the same build.

    One without a manifest gets a private name, as by `symgen.toolchain.loading.load_package`.
    """
    with undisturbed(folder):
        build = identity(folder)
        if build is None:
            return load_package(folder)
        name = f"{__name__}.{folder.name}_{build}"
        _folders[name] = folder.absolute()
        importlib.invalidate_caches()  # the folder may be younger than what the finders remember
        return importlib.import_module(name)


class _Finder(MetaPathFinder):
    """Finds builds by name: in the folders that were loaded, and in the user's cache."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, own = fullname.rpartition(".")
        found = _NAME.fullmatch(own) if package == __name__ else None
        if found is None:
            return None
        folder = _folders.get(fullname) or _in_cache(*found.groups())
        if folder is None:
            raise ModuleNotFoundError(
                f"a pickle asks for a build of {found[1]} that is not in the cache of this user "
                f"({open_cache().folder}): call symgen.load with the same model, options and "
                "version of symgen there first, or use a module that every process can import: "
                "symgen build MODEL --install",
                name=fullname,
            )
        return spec_from_file_location(
            fullname, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )


def _in_cache(robot: str, build: str) -> Path | None:
    """The folder of a build that `symgen.load` made, as it was made."""
    places = (open_cache().folder / "modules").glob(f"*/{robot}")
    return next((folder for folder in places if identity(folder) == build), None)


sys.meta_path.append(_Finder())
