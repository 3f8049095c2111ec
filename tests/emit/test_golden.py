"""What a generated package looks like; update by SYMGEN_UPDATE_GOLDEN=1 pytest tests/emit."""

import functools
import os
from pathlib import Path

import pytest

from symgen.emit.bundle import Forms, Package
from symgen.emit.emission import BACKEND_NAMES, emit
from tests.emit.samples import ARM, arm

FOLDER = Path(__file__).parent / "golden"
FUNCTIONS = ("inverse_dynamics", "mass_matrix", "potential_energy")
VERBATIM = ("_runtime.py", "_backends.py", "_result_memory.py", "_numpy/_analytic.py", "_symgen/")


@functools.cache
def sources():
    """The files of a small package, without those that are the same for every robot."""
    package = Package(
        metadata=ARM,
        programs={"closed_form": {name: Forms(arm(name)) for name in FUNCTIONS}},
        fastest=dict.fromkeys(FUNCTIONS, "closed_form"),
        missing={"coriolis_matrix": "coriolis_matrix was not built"},
    )
    files = emit(package, BACKEND_NAMES).files
    return {f"{name}.txt": text for name, text in files.items() if not name.startswith(VERBATIM)}


def golden():
    files = sorted(path for path in FOLDER.rglob("*") if path.is_file())
    return {path.relative_to(FOLDER).as_posix(): path.read_text() for path in files}


@pytest.fixture(scope="module", autouse=True)
def update():
    if os.environ.get("SYMGEN_UPDATE_GOLDEN"):
        for name in golden():
            (FOLDER / name).unlink()
        for name, text in sources().items():
            (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
            (FOLDER / name).write_text(text)


def test_the_same_files():
    assert sorted(golden()) == sorted(sources())


@pytest.mark.parametrize("name", sorted(golden()))
def test_the_same_text(name):
    assert sources()[name].splitlines() == golden()[name].splitlines()
