"""Package of the modules of `symgen.load`: ``symgen.loaded.two_link_1f0c...``, named by build.

A pickle holds the name of a function and of its module.  In a process that has not loaded the robot
(a spawned one, a worker of Dask or joblib), Python imports that name from this package, which
searches the builds of the user's cache: exactly that build, or none.  Builds in other folders are
available in processes that have loaded them; ``symgen build --install`` makes modules that every
process can import.
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
"""Makes this a package, whose modules are in other folders."""

_NAME = re.compile(r"([A-Za-z][A-Za-z0-9_]*)_([0-9a-f]{32})")

_folders: dict[str, Path] = {}


def load(folder: Path) -> ModuleType:
    """Import the package in `folder` by the name of its build; one module per build.

    A package without a manifest gets a private name: `symgen.toolchain.loading.load_package`.
    """
    with undisturbed(folder):
        build = identity(folder)
        if build is None:
            return load_package(folder)
        name = f"{__name__}.{folder.name}_{build}"
        _folders[name] = folder.absolute()
        importlib.invalidate_caches()  # the folder may be newer than the caches of the finders
        return importlib.import_module(name)


class _Finder(MetaPathFinder):
    """Finder of builds by name, in loaded folders and in the user's cache."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, module = fullname.rpartition(".")
        match = _NAME.fullmatch(module) if package == __name__ else None
        if match is None:
            return None
        folder = _folders.get(fullname)
        if folder is None:
            robot, build = match.groups()
            places = (open_cache().folder / "modules").glob(f"*/{robot}")
            folder = next((place for place in places if identity(place) == build), None)
        if folder is None:
            raise ModuleNotFoundError(
                f"a pickle needs a build of {match[1]} that is not in the cache of this user "
                f"({open_cache().folder}): call symgen.load with the same model, options and "
                "version of symgen there first, or use a module that every process can import: "
                "symgen build MODEL --install",
                name=fullname,
            )
        return spec_from_file_location(
            fullname, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )


sys.meta_path.append(_Finder())
