"""Writing, compiling and importing emitted packages, most of them without symgen's tool chain."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from symgen.emit.bundle import Package, SourceBundle
from symgen.emit.emission import emit
from symgen.toolchain import compile as toolchain
from symgen.toolchain.compiler import CompilerMissingError

BACKENDS = ("compiled", "cython", "numpy")
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
        first = target / extension.source
        translated = first.with_name(f"{module}.c")
        if first.suffix == ".pyx":
            cython = [sys.executable, "-m", "cython", "-3", "--module-name", module]
            _run([*cython, str(first), "-o", str(translated)])
            first = translated
        objects = []
        for source in (
            first,
            *(target / name for name in (*extension.c_sources, *extension.shared)),
        ):
            strict = (*CYTHONS, "-O0") if source == translated else OURS
            if source.name in map(os.path.basename, extension.shared):  # with NumPy's own headers
                strict = ("-Werror", *CYTHONS)
            objects.append(str(source.with_name(f"{module}_{source.stem}.o")))
            named = f"-DSYMGEN_MODULE={module}"
            _run(["cc", *flags, *strict, *includes, named, "-c", str(source), "-o", objects[-1]])
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
    return build_bundle(emit(package, backends), folder)


def build_bundle(bundle: SourceBundle, folder: Path) -> ModuleType:
    """Compile a bundle in one version and import it."""
    target = write(bundle, folder)
    if bundle.extensions:
        compile_extensions(bundle, target)
    return load(target)


def build_versions(bundle: SourceBundle, folder: Path, flags: str = "portable") -> ModuleType:
    """Compile a bundle as symgen does, or take it from the cache, and import it; no validation."""
    try:
        binaries = toolchain.compile_extensions(bundle, flags=flags)
    except CompilerMissingError as error:
        pytest.skip(str(error))
    target = write(bundle, folder)
    for file, content in binaries.files().items():
        (target / file).write_bytes(content)
    return load(target)


def _run(command: list[str]) -> None:
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout}{result.stderr}"
