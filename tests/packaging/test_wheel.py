"""The wheel holds everything that an installed symgen needs, and nothing else."""

import os
import re
import shutil
import sys
import tomllib
import venv
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

import symgen
from symgen.emit.templates import BESIDE_BUILDS
from tests.choosing import slow
from tests.support.commands import printed_by

ROOT = Path(symgen.__file__).resolve().parents[1]
PARTS = ("pyproject.toml", "README.md", "LICENSE", "symgen", "templates")


def _checkout(folder):
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    folder.mkdir()
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=ignored)
        else:
            shutil.copy(source, folder / part)
    return folder


def _pip(*arguments, python=sys.executable):
    printed_by(python, "-m", "pip", "--disable-pip-version-check", *arguments)


@pytest.fixture(scope="module", params=slow("wheel"))
def wheel(tmp_path_factory):
    try:
        installed = int(version("setuptools").partition(".")[0])
    except PackageNotFoundError:
        installed = 0
    if installed < 77:
        pytest.skip("needs setuptools 77 or later: pip install 'symgen[test]'")
    folder = tmp_path_factory.mktemp("wheel")
    checkout = _checkout(folder / "checkout")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    _pip("wheel", *options, "--wheel-dir", str(folder), str(checkout))
    (path,) = folder.glob("symgen-*.whl")
    return path


@pytest.fixture(scope="module")
def contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def _files(folder):
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {
        path.relative_to(folder).as_posix() for path in paths if "__pycache__" not in path.parts
    }


def test_all_packages_are_listed():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    listed = set(settings["tool"]["setuptools"]["packages"]) - {"symgen.templates"}
    folders = {path.parent for path in (ROOT / "symgen").rglob("*.py")}
    assert listed == {".".join(folder.relative_to(ROOT).parts) for folder in folders}


def test_every_dependency_is_justified():
    text = (ROOT / "pyproject.toml").read_text()
    block = re.search(r"^dependencies = \[\n(.*?)^\]", text, re.DOTALL | re.MULTILINE)
    assert block is not None
    for line in block.group(1).splitlines():
        assert re.fullmatch(r'    "[\w.]+>=[\d.]+", +# \S.{10,}', line), line


def test_the_wheel_holds_all_sources_and_templates(contents):
    sources = {f"symgen/{name}" for name in _files(ROOT / "symgen")}
    templates = {f"symgen/templates/{name}" for name in _files(ROOT / "templates")}
    rest = {name for name in contents if not name.startswith("symgen-")}
    assert rest == sources | templates


def test_the_wheel_says_what_it_is(wheel, contents):
    info = f"symgen-{symgen.__version__}.dist-info"
    assert {f"{info}/METADATA", f"{info}/entry_points.txt", f"{info}/licenses/LICENSE"} <= contents
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(f"{info}/METADATA").decode()
        scripts = archive.read(f"{info}/entry_points.txt").decode()
    assert f"Version: {symgen.__version__}\n" in metadata
    assert "License-Expression: BSD-3-Clause\n" in metadata
    assert "Requires-Python: >=3.11\n" in metadata
    assert "symgen = symgen.__main__:main" in scripts


SHOW = """
import symgen
from symgen.emit.templates import Templates
from symgen.toolchain.key import own_folders
assert all(folder.is_dir() for folder in own_folders())
assert Templates().source("report/page.html.jinja") and Templates().source("report/page.js")
print(symgen.__file__, *Templates().sources())
"""


@pytest.mark.parametrize("kind", ["wheel", "editable"])
def test_an_installation_finds_its_templates(kind, wheel, tmp_path):
    """In a new environment, which sees this one's libraries but not this checkout."""
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=False, symlinks=True)
    python = environment / "bin" / "python"
    if sys.platform == "win32":
        python = environment / "Scripts" / "python.exe"
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(printed_by(python, "-c", ask).strip())
    libraries = Path(pytest.__file__).parents[1]
    # Before the libraries come the packages of the environment itself; `.pth` files of the
    # libraries (an editable symgen among them) are not read.
    (packages / "libraries.pth").write_text(f"{libraries}\n")
    source = wheel if kind == "wheel" else _checkout(tmp_path / "checkout")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--ignore-installed"]
    editable = ["--editable"] if kind == "editable" else []
    _pip("install", *options, *editable, str(source), python=str(python))
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    place, *templates = printed_by(python, "-c", SHOW, cwd=tmp_path, env=clean).split()
    expected = packages if kind == "wheel" else source
    assert Path(place).resolve().is_relative_to(expected.resolve())
    kinds = (".jinja", ".py", ".h", ".c")
    known = {name for name in _files(ROOT / "templates") if name.endswith(kinds)}
    beside = {name for name in known if name.startswith(BESIDE_BUILDS)}
    assert beside  # a part of the wheel, but of no package that is built
    assert set(templates) == known - beside - {"__init__.py"}
    script = (python.parent / "symgen").read_text()
    assert "symgen.__main__" in script
