"""A tiny hand-written package with one extension module, as emission would hand it over."""

from symgen.emit.bundle import Extension, SourceBundle
from symgen.toolchain.install import stage
from symgen.toolchain.manifest import Manifest

INIT = '''\
"""A package whose parts must belong together."""

from . import _runtime
from .parts import first, second
from .parts.second import FACTOR

assert first.FACTOR == second.FACTOR, "parts of two builds"


def scaled(x):
    return _runtime.extension().scaled(x)
'''

RUNTIME = """\
import importlib.util
import json
from pathlib import Path

_folder = Path(__file__).parent


def extension():
    entry = json.loads((_folder / "binaries.json").read_text())["compiled"]
    spec = importlib.util.spec_from_file_location(
        f"{__package__}.{entry['module']}", _folder / entry["file"]
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
"""

PYX = '''\
cdef extern from "c/kernel.h":
    double kernel(double x) nogil


def scaled(double x):
    """Scale by the factor of this build."""
    return kernel(x)
'''

REPLACING = """
import os
import sys
from pathlib import Path
from tests.toolchain.sample import install
parent = os.getppid()
print("ready", flush=True)
number = float(sys.argv[2])
while os.getppid() == parent:
    number += 1.0
    install(Path(sys.argv[1]), number, **{f"only_{int(number)}": ""})
"""
"""A program that installs the package over and over, while its parent lives; its arguments are the
folder and the first factor less 1."""


def package(factor=2.0):
    """Return sources that all depend on `factor`."""
    parts = dict.fromkeys(("parts/first.py", "parts/second.py"), f"FACTOR = {factor!r}\n")
    return {"__init__.py": INIT, "_runtime.py": RUNTIME, "parts/__init__.py": "", **parts}


def bundle(factor=2.0, pyx=PYX, kernel=None):
    scale = f"double kernel(double x) {{ return helper({factor}, x); }}\n"
    files = {
        **package(factor),
        "_compiled.pyx": pyx,
        "c/kernel.h": "double kernel(double x);\ndouble helper(double a, double b);\n",
        "c/kernel.c": kernel or f'#include "kernel.h"\n{scale}',
        "c/helper.c": '#include "kernel.h"\ndouble helper(double a, double b) { return a * b; }\n',
    }
    extension = Extension("_compiled", "_compiled.pyx", ("c/kernel.c", "c/helper.c"))
    return SourceBundle("sample", files, (extension,))


def install(target, factor=2.0, **more):
    """Install the package without its extension; `more` files are named by their stem."""
    with stage(target) as staged:
        extra = {f"{stem}.py": text for stem, text in more.items()}
        staged.write_sources({**package(factor), **extra})
        staged.install(Manifest(build_key=f"key-{factor}"))


def visible(folder):
    paths = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    return sorted(path for path in paths if "__pycache__" not in path)
