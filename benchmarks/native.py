"""C and C++ drivers -> shared libraries, kept in the user's cache folder.

A library is named by a digest of its sources, the compiler and the flags, so that it is compiled
once, and never taken for another one.
"""

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from symgen.options import NATIVE
from symgen.toolchain.compiler import COMMON_FLAGS, NATIVE_OPTIONS, find_compiler

DRIVERS = Path(__file__).parent / "drivers"
KERNEL_FLAGS = (*COMMON_FLAGS, *NATIVE_OPTIONS[0])
"""The flags with which symgen compiles for this very processor."""

REFERENCE_FLAGS = ("-O3", "-march=native", "-DNDEBUG")
"""The flags of those who are compared with."""


class CompilationError(Exception):
    """The compiler is missing, or did not like what it got."""


@dataclass(frozen=True)
class Native:
    """A shared library, and how it came to be."""

    library: ctypes.CDLL
    compiler: str
    flags: tuple[str, ...]
    size: int


def c_library(sources, flags):
    """A library of C files, {name: text}; those that end in .c are compiled, each on its own."""
    compiler = find_compiler()
    return _library(sources, compiler.command, compiler.version, flags, ("-lm",))


def cpp_library(sources, flags, includes=(), key=()):
    """A library of C++ files with the headers in the folders `includes`.

    `key` tells what the result depends on beside the sources, such as versions of the headers.
    """
    command = os.environ.get("CXX", "").split() or ["c++"]
    if shutil.which(command[0]) is None:
        raise CompilationError(f"no C++ compiler ({command[0]})")
    version = _run([*command, "--version"], None).strip()
    return _library(sources, tuple(command), version, flags, (), includes, key)


def timed(library, name):
    """The function ``double name(long calls, long samples, in, out)`` of a driver."""
    function = library[name]
    pointers = ctypes.POINTER(ctypes.c_void_p)
    function.argtypes = (ctypes.c_long, ctypes.c_long, pointers, pointers)
    function.restype = ctypes.c_double
    return function


def pointers(arrays):
    """The addresses of arrays, as C takes them."""
    return (ctypes.c_void_p * max(1, len(arrays)))(*(array.ctypes.data for array in arrays))


def _library(sources, command, version, flags, libraries, includes=(), key=()):
    parts = (version, *command, *flags, *libraries, *key, *(x for s in sources.items() for x in s))
    digest = hashlib.sha256("\0".join(parts).encode() + _processor().encode()).hexdigest()
    folder = _cache()
    path = folder / f"{digest[:32]}.so"
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=folder) as work:
            headers = [word for include in includes for word in ("-isystem", str(include))]
            _compile(Path(work), sources, command, (*flags, *headers), libraries)
            os.replace(Path(work) / "library.so", path)
    first = version.partition("\n")[0].strip()
    return Native(ctypes.CDLL(str(path)), first, tuple(flags), path.stat().st_size)


def _compile(work, sources, command, flags, libraries):
    objects = []
    for name, text in sources.items():
        (work / name).write_text(text)
    for name in sources:
        if not name.endswith(".h"):
            objects.append(f"{name}.o")
            _run([*command, *flags, "-fPIC", "-iquote", ".", "-c", name, "-o", objects[-1]], work)
    _run([*command, "-shared", *objects, "-o", "library.so", *libraries], work)


def _run(command, folder):
    answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if answer.returncode:
        lines = "\n".join((answer.stdout + answer.stderr).splitlines()[:20])
        raise CompilationError(f"{' '.join(command[:1])} failed: {lines}")
    return answer.stdout


def _processor():
    """What -march=native stands for here."""
    return find_compiler().processor(NATIVE)


def _cache():
    folder = Path(
        os.environ.get("SYMGEN_CACHE_DIR") or platformdirs.user_cache_dir("symgen", appauthor=False)
    )
    folder = folder / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
