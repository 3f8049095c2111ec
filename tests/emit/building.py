"""Writing, compiling and importing emitted packages."""

import importlib
import sys
from dataclasses import dataclass
from types import ModuleType

from symgen.emit.emission import emit
from symgen.toolchain.compiler import Version
from tests.safety.building import Watched, write

BACKENDS = ("compiled", "cython", "numpy")
FLAGS = (
    "-std=c99", "-O1", "-fPIC", "-ffp-contract=off", "-DSYMGEN_LIBM", "-Wall", "-Wextra",
    "-Werror=vla",
)  # fmt: skip
"""Arithmetic in which every bit is that of the evaluation of the graph."""

OURS = ("-Werror", "-pedantic", "-Wno-unused-function")
CYTHONS = (
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
    "-Werror=implicit-function-declaration",
)
"""What newer compilers (gcc 14, clang 16) refuse without being asked."""


@dataclass(frozen=True)
class Strict(Watched):
    """A compiler that makes one version, and takes no warning of symgen's own C."""

    def compile_command(self, source, output, *, flags, includes=(), more=()):
        if source.endswith("/_cython.c"):
            strict = (*CYTHONS, "-O0")
        else:  # some include NumPy's own headers
            strict = ("-Werror", *CYTHONS) if source.startswith("c/python/") else OURS
        folders = [f"-I{folder}" for folder in includes]
        options = (*FLAGS, *more, *strict, "-iquote", ".", *folders)
        return (*self.command, *options, "-c", source, "-o", output)


def load(target):
    """Import the package in the folder `target`, under a name of its own."""
    parent = f"emitted_{abs(hash(str(target)))}"
    package = ModuleType(parent)
    package.__path__ = [str(target.parent)]
    sys.modules[parent] = package
    return importlib.import_module(f"{parent}.{target.name}")


def build(package, folder, backends=()):
    return build_bundle(emit(package, backends), folder)


def build_bundle(bundle, folder):
    """Compile a bundle in one version, without a warning, and import it."""
    strict = Strict(("cc",), "strict cc", (Version(1, "all"),))
    return load(write(bundle, folder, compiler=strict))


def build_versions(bundle, folder, flags="portable"):
    """Compile a bundle as symgen does, or take it from the cache, and import it; no validation."""
    return load(write(bundle, folder, flags=flags))
