"""`symgen wheel` and `symgen build --install`: modules that are imported without their folder."""

import base64
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest
from packaging.utils import parse_wheel_filename

from symgen.cli import run
from symgen.errors import RequestError
from symgen.toolchain import wheels
from tests.support.commands import printed_by

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "examples" / "two_link.yaml"
FEW = ("--functions", "inverse_dynamics,mass_matrix", "--formulations", "newton_euler")
USE = """
import importlib.util
import {name} as robot
assert robot.backend == "compiled" and robot.name == "two_link"
assert robot.newton_euler.mass_matrix([0.1, 0.2]).shape == (2, 2)
assert all(row.passed for row in robot.selftest())
"""


@pytest.fixture
def python(folder):
    """The Python of an environment with NumPy, and nothing else but what a test adds."""
    venv.create(folder / "environment", with_pip=False, symlinks=True)
    (packages,) = (folder / "environment").glob("lib/python*/site-packages")
    for found in Path(np.__file__).parents[1].glob("numpy*"):
        (packages / found.name).symlink_to(found)
    return folder / "environment" / "bin" / "python"


@pytest.mark.slow
def test_a_wheel_needs_numpy_alone(folder, python):
    assert run(["wheel", str(MODEL), "-q", "--name", "my_arm", "--version", "2.1", *FEW]) == 0
    (wheel,) = (folder / "dist").iterdir()
    name, version, _, (tag,) = parse_wheel_filename(wheel.name)
    assert (name, str(version)) == ("my-arm", "2.1")
    assert tag.platform == sysconfig.get_platform().replace("-", "_").replace(".", "_")
    printed_by(
        sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", wheel
    )
    printed_by(python, "-c", USE.format(name="my_arm"), cwd="/")
    assert (
        printed_by(python, "-c", "import importlib.util as i; print(i.find_spec('symgen'))")
        == "None\n"
    )


@pytest.mark.slow
def test_what_a_wheel_holds_is_said(folder, capsys):
    """It is what its own options ask for, whatever was built before."""
    few = (*FEW, "--backend", "numpy")
    assert run(["build", str(MODEL), "-q", *few, "--runtime-parameters", "m1"]) == 0
    assert run(["wheel", str(MODEL), *few]) == 0
    lines = capsys.readouterr().out.splitlines()
    held, parameters, loads, last = (" ".join(line.split()) for line in lines[-4:])
    assert held == "holds two_link_dynamics: 2 functions by the formulation newton_euler; numpy"
    assert parameters.startswith("parameters all compiled in (--runtime-parameters")
    assert loads == "loads tip" and "pip install dist" in last
    assert run(["wheel", str(MODEL), *few, "--runtime-parameters", "m1,L1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runtime_parameters"] == ["L1", "m1"]


@pytest.mark.deep
def test_sources_are_compiled_by_pip(folder, python):
    """Without isolation: setuptools, Cython and NumPy are those of the tests."""
    source = ["wheel", str(MODEL), "-q", "--name", "my_arm", "--version", "2.1", "--source", *FEW]
    assert run(source) == 0
    archive = folder / "dist" / "my_arm-2.1.tar.gz"
    first = archive.read_bytes()
    assert run(source) == 0 and archive.read_bytes() == first
    pip = (sys.executable, "-m", "pip")
    printed_by(
        *pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder / "made", archive
    )
    (wheel,) = (folder / "made").iterdir()
    printed_by(*pip, "--python", python, "install", "-q", "--no-index", wheel)
    printed_by(python, "-c", USE.format(name="my_arm"), cwd="/")
    if platform.machine() == "x86_64":
        kernels = "import my_arm; print(my_arm.backends['compiled'].choose(1))"
        assert printed_by(python, "-c", kernels, cwd="/") == "1\n"
        with zipfile.ZipFile(wheel) as packed:
            (binary,) = (name for name in packed.namelist() if name.endswith(".so"))
            assert b"mass_matrix_avx512_8" in packed.read(binary)


def test_it_lists_its_files_and_is_the_same_again(folder):
    for out in ("first", "second"):
        assert run(["wheel", str(MODEL), "-q", "--out", out, "--backend", "numpy", *FEW]) == 0
    (first,), (second,) = (folder / "first").iterdir(), (folder / "second").iterdir()
    assert first.name.endswith("-py3-none-any.whl") and first.name.startswith("two_link_dynamics-0")
    assert first.name == second.name and first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        names = archive.namelist()
        (record,) = (name for name in names if name.endswith("/RECORD"))
        rows = [line.rsplit(",", 2) for line in archive.read(record).decode().splitlines()]
        assert [row[0] for row in rows] == names
        for name, listed, size in rows[:-1]:
            content = archive.read(name)
            wanted = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            assert (listed, int(size)) == (f"sha256={wanted.decode()}", len(content))
    assert {"two_link_dynamics/py.typed", "two_link_dynamics/newton_euler.pyi"} <= {*names}
    assert not any(str(folder).encode() in first.read_bytes() for _ in names)


@pytest.mark.slow
def test_an_installed_module_is_the_one_that_was_built_last(folder, python):
    """In an environment that has symgen, by a .pth file, and its pip."""
    (packages,) = (folder / "environment").glob("lib/python*/site-packages")
    shared = [str(ROOT), sysconfig.get_paths()["purelib"]]
    (packages / "shared.pth").write_text("\n".join(shared) + "\n")
    said = printed_by(python, "-m", "symgen", "build", MODEL, "--install", *FEW)
    assert "import two_link_dynamics" in said and "from any folder" in said
    installed = packages / "two_link_dynamics"
    assert {path.suffix for path in installed.iterdir()} >= {".py", ".pyi", ".typed"}
    printed_by(python, "-c", USE.format(name="two_link_dynamics"), cwd="/")
    other = ("--functions", "kinetic_energy", "--backend", "numpy")
    printed_by(python, "-m", "symgen", "build", MODEL, "-q", *FEW[2:], *other)
    use = "import two_link_dynamics as robot; print(robot.functions)"
    assert printed_by(python, "-c", use, cwd="/") == "('kinetic_energy',)\n"
    printed_by(python, "-m", "symgen", "build", MODEL, "-q", "--install", *FEW)  # replaces its own
    shutil.rmtree(folder / "generated")
    failed = subprocess.run([python, "-c", use], capture_output=True, text=True, check=False)
    assert "which is gone: build it again with symgen build MODEL --install" in failed.stderr
    printed_by(python, "-m", "pip", "uninstall", "-qy", "two-link-dynamics")
    assert not installed.exists()


@pytest.mark.parametrize(("arguments", "words"), [
    (["build", "--install", "--name", "numpy"], "numpy is another module of this environment"),
    (["build", "--install", "--name", "math"], "'math' is a name of Python's own"),
    (["build", "--install", "--name", "match"], "'match' is a name of Python's own"),
    (["build", "--install", "--name", "../arm"], "'../arm' is not a name"),
    (["wheel", "--name", "arm-2"], "'arm-2' is not a name"),
    (["wheel", "--version", "1.x"], "'1.x' is no version"),
    (["wheel", "--version", "1\nName: numpy"], "is no version"),
    (["wheel", "--out", "file"], "file is no folder; choose another one with --out"),
    (["build", "--name", "arm"], "--name says what --install installs"),
])  # fmt: skip
def test_what_cannot_be_is_said_before_anything_is_built(folder, capsys, arguments, words):
    Path("file").touch()
    assert run([arguments[0], str(MODEL), *arguments[1:]]) == 2
    assert words in capsys.readouterr().err
    assert os.listdir(folder) == ["file"]


def test_an_environment_without_installers(monkeypatch):
    monkeypatch.setattr(wheels.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Exception, match="neither pip nor uv") as failure:
        wheels.install(wheels.Archive("arm-1-py3-none-any.whl", b""))
    assert failure.value.exit_status == 4
    wheels.check_free("whatever")
    monkeypatch.undo()
    with pytest.raises(RequestError, match="numpy is another module"):
        wheels.check_free("numpy")
