"""Modules that tests look at, built once for a run and shared by its workers.

A test that is not about a build names the functions that it needs; the module is built without
optimisation by the C compiler and without validation: `tests/builds` builds as users do, and
`tests/validation` tries validation.  Equal requests of different tests are answered by one build,
from the cache of the run (`tests/conftest.py`)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import symgen
from symgen.description import RobotDescription, read
from symgen.pipeline import building
from symgen.toolchain import compiler
from symgen.validation.validate import ValidationResult

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


def module(
    model: str | Path, *, functions: str | Sequence[str], backend: str = "numpy", **options: Any
) -> Any:
    """Return the module of a model, built when needed, without validation.

    Args:
        model: path of a model file, or the text of a ``robot.yaml``.
        functions: names of functions, ``"default"`` or ``"all"``.
        backend: a backend, by NumPy alone unless another one is named.
        options: further options of `symgen.load`."""
    path = model if isinstance(model, Path) else file_of(model)
    with quick_builds():
        return symgen.load(path, functions=functions, backend=backend, **options)


def file_of(text: str, suffix: str = "yaml") -> Path:
    """Write a model into the cache of the run, under the name of its content; return its path."""
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    path = Path(os.environ["SYMGEN_CACHE_DIR"]) / "models" / name / f"model.{suffix}"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{os.getpid()}.{suffix}")
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    return path


def described(text: str) -> RobotDescription:
    """Read a model from its text."""
    return read(file_of(text))


@contextmanager
def quick_builds() -> Iterator[None]:
    """Build without validation and without optimisation by the C compiler, in a cache apart."""
    nothing = ValidationResult((), 0.0)
    unoptimised = tuple("-O0" if flag == "-O2" else flag for flag in compiler.COMMON_FLAGS)
    with (
        patch.dict(
            os.environ, SYMGEN_CACHE_DIR=str(Path(os.environ["SYMGEN_CACHE_DIR"]) / "quick")
        ),
        patch.object(compiler, "COMMON_FLAGS", unoptimised),
        patch.object(building, "validate_package", lambda *a, **k: nothing),
        patch.object(building, "beginning_of_validation", lambda *a: nullcontext()),
        patch.object(building, "qualification", lambda *a: nullcontext(lambda: False)),
        patch.object(building, "with_evaluated", lambda derived, *a: derived),
    ):
        yield
