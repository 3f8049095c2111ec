"""Importing packages by their folder."""

import sys
from pathlib import Path

import pytest

from symgen.errors import ToolchainError
from symgen.toolchain.extensions import compile_extensions
from symgen.toolchain.install import stage
from symgen.toolchain.loading import forget_package, load_built, load_package
from symgen.toolchain.manifest import Manifest
from tests.toolchain.sample import bundle, install


def _build(target, factor):
    sources = bundle(factor)
    with stage(target) as staged:
        staged.write_sources(sources.files)
        staged.write_binaries(compile_extensions(sources).files())
        staged.install(Manifest(build_key=f"key-{factor}"))


@pytest.mark.slow
def test_a_rebuilt_package_and_the_former_one_live_side_by_side(tmp_path):
    target = tmp_path / "sample"
    _build(target, 2.0)
    former = load_package(target)
    former_function = former.scaled
    (former_binary,) = target.glob("_compiled_*")
    assert former_function(1.0) == 2.0
    _build(target, 5.0)
    new = load_package(target)
    assert new.scaled(1.0) == 5.0
    assert new.FACTOR == 5.0
    assert former.FACTOR == 2.0
    assert load_package(target).scaled(1.0) == 5.0
    (binary,) = target.glob("_compiled_*")
    assert binary.name != former_binary.name


def test_names_are_private_and_the_search_path_stays(tmp_path):
    install(tmp_path / "numpy", 2.0)  # a robot may have the name of an installed package
    before = list(sys.path)
    module = load_package(tmp_path / "numpy")
    assert sys.path == before
    assert module.__name__.startswith("_symgen_loaded_")
    assert sys.modules[f"{module.__name__}.parts.first"].FACTOR == 2.0
    assert sys.modules.get("numpy") is not module
    forget_package(module)
    assert not [name for name in sys.modules if name.startswith(module.__name__)]


def test_a_package_that_fails_leaves_no_half_of_it(tmp_path):
    install(tmp_path / "sample", 2.0, broken="")
    (tmp_path / "sample" / "__init__.py").write_text("from . import parts\n1 / 0\n")
    before = set(sys.modules)
    with pytest.raises(ZeroDivisionError):
        load_package(tmp_path / "sample")
    assert {name for name in set(sys.modules) - before if "symgen_loaded" in name} == set()


def test_a_package_without_a_backend_is_refused_and_forgotten(tmp_path):
    (tmp_path / "__init__.py").write_text("backends = ()\n")
    before = set(sys.modules)
    with pytest.raises(ToolchainError, match=r"does not load \(compiled\)"):
        load_built(tmp_path, ["compiled"])
    assert not [name for name in set(sys.modules) - before if "symgen_loaded" in name]


def test_no_package_is_told(tmp_path):
    with pytest.raises(ToolchainError, match="holds no package"):
        load_package(tmp_path)


def test_relative_folders_work(tmp_path, monkeypatch):
    install(tmp_path / "sample")
    monkeypatch.chdir(tmp_path)
    module = load_package(Path("sample"))
    monkeypatch.chdir("/")
    assert Path(module.__file__ or "").is_absolute()
