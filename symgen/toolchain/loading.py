"""Import a generated package from its folder, under a unique name.

Python keeps modules by name.  A package that is loaded by path gets a unique name, so that several
builds of one robot can be loaded and a rebuilt package is never mistaken for the former one;
`sys.path` stays unchanged.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from symgen.errors import RequestError, ToolchainError

PREFIX = "_symgen_loaded"
FACTS = (
    "name", "n", "n_loads", "n_parameters", "coordinate_names", "parameter_names",
    "default_parameters",
)  # fmt: skip
"""Names in every generated module."""

_numbers = itertools.count(1)


def load_built(folder: Path, backends: Sequence[str]) -> ModuleType:
    """Import a package that was just built, and make sure that all its `backends` work.

    Raises `ToolchainError` with the loader's message if a binary does not load (the package itself
    would fall back to NumPy), or if the package cannot be imported.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            module = load_package(folder)
        except (Exception, SystemExit) as error:
            raise ToolchainError(
                f"the generated package cannot be imported: {type(error).__name__}: {error}"
            ) from error
    missing = [name for name in backends if name not in module.backends]
    if missing:
        forget_package(module)
        reasons = "; ".join(str(warning.message) for warning in caught)
        raise ToolchainError(f"the compiled code does not load ({', '.join(missing)}): {reasons}")
    return module


def load_package(folder: Path) -> ModuleType:
    """Import the package in `folder` and return it; every call makes a new module.

    Errors of the package's code pass through, and leave no half-imported module.
    """
    path = Path(folder).absolute() / "__init__.py"
    if not path.is_file():
        raise ToolchainError(f"{path.parent} holds no package (no __init__.py)")
    name = f"{PREFIX}_{next(_numbers)}_{path.parent.name}"
    importlib.invalidate_caches()  # the folder may be newer than the caches of the finders
    spec = importlib.util.spec_from_file_location(
        name, path, submodule_search_locations=[str(path.parent)]
    )
    if spec is None or spec.loader is None:
        raise ToolchainError(f"Python cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before its code runs, for relative imports
    try:
        spec.loader.exec_module(module)
    except BaseException:
        forget_package(module)
        raise
    return module


def forget_package(module: ModuleType) -> None:
    """Remove a loaded package and its sub-modules from `sys.modules`."""
    name = module.__name__
    for loaded in list(sys.modules):  # a copy: other threads import meanwhile
        if loaded == name or loaded.startswith(f"{name}."):
            sys.modules.pop(loaded, None)


def checked_module(module: Any, caller: str) -> None:
    """Raise `RequestError` for what is no generated module."""
    if _is_generated(module):
        return
    path = str(module) if isinstance(module, str | Path) else "robot.yaml"
    got = repr(path) if isinstance(module, str | Path) else type(module).__name__
    remedy = f'symgen.load("{path}") makes one'
    if isinstance(module, ModuleType):
        got = f"the module {module.__name__}"
        package, _, formulation = module.__name__.rpartition(".")
        if _is_generated(sys.modules.get(package)):
            remedy = f"give the module that it belongs to, and formulation={formulation!r}"
    elif isinstance(module, Mapping):
        remedy = f"{caller}(module, ...) begins with the robot"
    raise RequestError(f"{caller}: expected a generated module, got {got}; {remedy}")


def _is_generated(module: Any) -> bool:
    return all(hasattr(module, fact) for fact in FACTS)
