"""The same source and metadata for any hash seed, locale, time zone and folder."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
ROOT = Path(__file__).parents[2]
MACHINE_FILES = {"binaries.json", "build.json"}


def digest(folder, environment, model):
    done = subprocess.run(
        [sys.executable, "-m", "symgen.cli", "build", str(model), "-q", "--backend", "all"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    total = hashlib.sha256()
    package = folder / "generated" / model.stem
    for path in sorted(package.rglob("*")):
        relative = path.relative_to(package)
        if path.is_file() and path.suffix != ".so" and path.name not in MACHINE_FILES:
            total.update(f"{relative}\n".encode() + path.read_bytes())
    return total.hexdigest()


@pytest.mark.parametrize("name", ["two_link", "cart_pole"])
def test_one_digest(tmp_path, name):
    model = EXAMPLES / f"{name}.yaml"
    found = set()
    for number, environment in enumerate(
        (
            {"PYTHONHASHSEED": "0"},
            {"PYTHONHASHSEED": "4711", "TZ": "Asia/Kathmandu", "LC_ALL": "C"},
            {"PYTHONHASHSEED": "random", "LANG": "tr_TR.UTF-8", "LC_ALL": "C.UTF-8"},
        )
    ):
        folder = tmp_path / f"place {number}"
        folder.mkdir()
        found.add(digest(folder, environment, model))
    assert len(found) == 1


def test_the_committed_package_is_what_is_generated_today(tmp_path):
    from symgen.cli import run

    assert run(["build", str(EXAMPLES / "two_link.yaml"), "-q", "--out", str(tmp_path)]) == 0
    committed = ROOT / "generated" / "two_link"
    fresh = tmp_path / "two_link"
    files = {
        path.relative_to(fresh)
        for path in fresh.rglob("*")
        if path.is_file() and path.suffix != ".so" and path.name not in MACHINE_FILES
    }
    for file in sorted(files):
        assert (committed / file).read_bytes() == (fresh / file).read_bytes(), (
            f"{file} differs; run: symgen build examples/two_link.yaml"
        )
