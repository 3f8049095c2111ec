"""Choice of the backend: compiled C, compiled Cython, or NumPy.

``binaries.json`` names the binaries that were built for this package.  A binary for
another Python or another processor is skipped with a warning, and the next backend is used.
Batches are computed in vector registers, several samples at a time, and long batches by several
threads.  ``SYMGEN_WIDTH`` (1, 2, 4 or 8) sets the number of samples, ``SYMGEN_THREADS`` the number
of threads.  Both are read on import, as is ``SYMGEN_RESULT_MEMORY`` (see `_result_memory`).
This file is the same for every robot.
"""

import importlib.machinery
import importlib.util
import json
import operator
import os
import pathlib
import platform
import sys
import types
import warnings

from . import _numpy_backend
from ._result_memory import ResultMemory

_FOLDER = pathlib.Path(__file__).parent
_PREFERENCE = ("compiled", "cython")


def _load():
    """Return the backends that this machine can run by name, the fastest first."""
    loaded, faults = {}, []
    try:
        binaries = _binaries()
    except ValueError as error:
        binaries, faults = {}, [f"binaries.json: {error}"]
    for name in _PREFERENCE:
        if name in binaries:
            try:
                loaded[name] = _binary(binaries[name])
            except (ImportError, OSError, RuntimeError, KeyError, TypeError, ValueError) as error:
                faults.append(f"{name}: {error}")
    if faults:
        _warn(faults, next(iter(loaded), "numpy"))
    return {**loaded, "numpy": _numpy_backend}


def _binaries():
    """Return the contents of ``binaries.json``; {} if the package was built for NumPy only."""
    try:
        text = (_FOLDER / "binaries.json").read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    entries = json.loads(text)
    if not isinstance(entries, dict) or not all(isinstance(e, dict) for e in entries.values()):
        raise ValueError("expected one object for each binary")
    return entries


def _binary(entry):
    """Import the binary that `entry` of ``binaries.json`` describes."""
    path = _FOLDER / entry["file"]
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    if not path.name.endswith(suffix):
        raise ImportError(f"{path.name} was built for another Python; this one loads *{suffix}")
    if not path.is_file():
        raise ImportError(f"{path.name} is missing")
    if entry.get("size", path.stat().st_size) != path.stat().st_size:
        raise ImportError(f"{path.name} is damaged: its size differs from the size at build time")
    _check_processor(entry.get("machine"), entry.get("cpu_features", ()))
    spec = importlib.util.spec_from_file_location(f"{__package__}.{entry['module']}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    return module


def _check_processor(machine, features):
    """Raise ImportError if the binary needs another processor."""
    if machine is not None and machine != platform.machine():
        raise ImportError(f"built for a {machine} processor, this one is {platform.machine()}")
    missing = set(features) - _cpu_features() if features else set()
    if missing:
        raise ImportError(
            f"built for another processor; this one lacks {', '.join(sorted(missing))}; "
            "symgen build --flags portable builds for all processors"
        )


def _cpu_features():
    """Return the feature names of this processor that Linux reports."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            for line in lines:
                if line.startswith(("flags", "Features")):
                    return set(line.split(":", 1)[1].split())
    except OSError:
        pass
    return set()


def _warn(faults, serving):
    robot = __package__.rpartition(".")[2]
    warnings.warn(
        f"{robot}: a binary of this package cannot be loaded, so the {serving} backend is used "
        f"({'; '.join(faults)}). To rebuild it: symgen build {robot}.yaml --force",
        RuntimeWarning,
        stacklevel=2,
    )


backends = types.MappingProxyType(_load())
"""Backend name -> namespace of the formulations."""

backend = next(iter(backends))
"""Name of the backend in use."""

serving = backends[backend]


def _number_from(variable, allowed):
    """Return the number in an environment variable; None if it is not set."""
    text = os.environ.get(variable, "").strip()
    if not text:
        return None
    if not text.isdecimal() or not allowed(int(text)):
        raise ValueError(f"{variable}={text!r}: {allowed.__doc__}")
    return int(text)


def _is_width(number):
    """expected 1, 2, 4 or 8"""
    return number in (1, 2, 4, 8)


def _is_positive(number):
    """expected a number of threads, 1 or more"""
    return number >= 1


def _is_size(number):
    """expected a number of bytes"""
    return number >= 0


def processors():
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _set_width(number):
    """Use the kernels that compute `number` samples at once."""
    if "compiled" in backends and not backends["compiled"].choose(number):
        raise ValueError(
            f"SYMGEN_WIDTH={number}: this module has no kernels for {number} samples at once, or "
            "this processor cannot run them"
        )


class Threads:
    """Number of threads that one call may use: `threads` of the package."""

    def __init__(self, number):
        self.number = number

    @property
    def number(self):
        """Number of threads, at least 1."""
        return self._number

    @number.setter
    def number(self, number):
        if isinstance(number, bool) or not hasattr(number, "__index__"):
            raise TypeError(f"threads: expected an integer, got {type(number).__name__}")
        number = operator.index(number)
        if number < 1:
            raise ValueError(f"threads: expected 1 or more, got {number}")
        self._number = number
        if "compiled" in backends:
            backends["compiled"].set_threads(min(number, 10_000))


if (_width := _number_from("SYMGEN_WIDTH", _is_width)) is not None:
    _set_width(_width)
threads = Threads(_number_from("SYMGEN_THREADS", _is_positive) or processors())
result_memory = ResultMemory(
    [namespace for name, namespace in backends.items() if name != "numpy"],
    _number_from("SYMGEN_RESULT_MEMORY", _is_size),
)
