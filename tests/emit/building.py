"""Writing, compiling and importing emitted packages, without the tool chain of symgen."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np

from symgen.emit.bundle import Package, SourceBundle
from symgen.emit.emission import emit

FLAGS = (
    "-std=c99", "-O1", "-fPIC", "-ffp-contract=off", "-DSYMGEN_LIBM", "-Wall", "-Wextra",
    "-Werror=vla",
)  # fmt: skip
"""Arithmetic in which every bit is that of the evaluation of the graph."""

OURS = ("-Werror", "-pedantic")
CYTHONS = (
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
    "-Werror=implicit-function-declaration",
)
"""What newer compilers (gcc 14, clang 16) refuse without being asked."""


def write(bundle: SourceBundle, folder: Path) -> Path:
    """Write the files of a package below `folder`; return the package's folder."""
    target = folder / bundle.package
    for name, text in bundle.files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return target


def compile_extensions(bundle: SourceBundle, target: Path, flags: tuple[str, ...] = FLAGS) -> None:
    """Compile the extensions in place, and list them in ``binaries.json``."""
    binaries = {}
    includes = [f"-I{target}", f"-I{sysconfig.get_path('include')}", f"-I{np.get_include()}"]
    for extension in bundle.extensions:
        module = f"{extension.name}_0123456789ab"
        generated = target / f"{module}.c"
        cython = [sys.executable, "-m", "cython", "-3", "--module-name", module]
        _run([*cython, str(target / extension.pyx), "-o", str(generated)])
        objects = []
        for source in (generated, *(target / name for name in extension.c_sources)):
            strict = OURS if source != generated else CYTHONS
            objects.append(str(source.with_suffix(".o")))
            command = ["cc", *flags, *strict, *includes, "-c", str(source), "-o", objects[-1]]
            _run(command)
        file = module + sysconfig.get_config_var("EXT_SUFFIX")
        _run(["cc", "-shared", *objects, "-o", str(target / file), "-lm", "-pthread"])
        binaries[extension.name.strip("_")] = {"module": module, "file": file}
    (target / "binaries.json").write_text(json.dumps(binaries))


def load(target: Path) -> ModuleType:
    """Import the package in the folder `target`, under a name of its own."""
    parent = f"emitted_{abs(hash(str(target)))}"
    package = ModuleType(parent)
    package.__path__ = [str(target.parent)]
    sys.modules[parent] = package
    return importlib.import_module(f"{parent}.{target.name}")


def build(package: Package, folder: Path, backends: Sequence[str] = ()) -> ModuleType:
    """Emit, compile and import `package`."""
    bundle = emit(package, backends)
    target = write(bundle, folder)
    if bundle.extensions:
        compile_extensions(bundle, target)
    return load(target)


def _run(command: list[str]) -> None:
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout}{result.stderr}"
