"""`symgen new`: a file that builds, with the name of the robot, and never over another."""

import os
from pathlib import Path

import numpy as np
import pytest

import symgen
from symgen.cli import run
from symgen.converting.starter import write_starter
from symgen.errors import RequestError


@pytest.mark.parametrize("file", ["walker.yaml", "walker.yml", "walker"])
def test_the_file_is_a_robot_of_that_name(file, folder, capfd):
    assert run(["new", file]) == 0
    written = file if "." in file else "walker.yaml"
    assert f"symgen build {written}" in capfd.readouterr().out
    description = symgen.read(written)
    assert description.name == "walker"
    assert description.warnings == ()
    assert f"symgen build {written}" in Path(written).read_text()


@pytest.mark.deep
def test_it_builds_without_a_change(folder):
    assert run(["new", "arm.yaml", "--quiet"]) == 0
    assert run(["build", "arm.yaml", "--quiet", "--functions", "mass_matrix,gravity_forces"]) == 0
    robot = symgen.load("arm.yaml", functions="gravity_forces", backend="numpy")
    held = robot.gravity_forces(np.zeros(2))  # both links lie level
    np.testing.assert_allclose(held[1], 1.5 * 9.81 * 0.2)


def test_nothing_is_overwritten(folder, refusal):
    Path("arm.yaml").write_text("mine")
    assert "arm.yaml is there already" in refusal(["new", "arm.yaml"])
    assert Path("arm.yaml").read_text() == "mine"
    os.symlink("elsewhere.yaml", "link.yaml")
    assert run(["new", "link.yaml"]) == 2
    assert not Path("elsewhere.yaml").exists()


@pytest.mark.parametrize(("file", "words"), [
    ("2dof.yaml", "'2dof' is not a name"),
    ("for.yaml", "keyword of Python"),
    ("arm.urdf", "expected one such as arm.yaml"),
    (".", "expected one such as arm.yaml"),
    ("..", "is not a name"),
    ("nowhere/arm.yaml", "cannot write nowhere/arm.yaml: No such file"),
    ("a" * 65, "64 are allowed"),
    ("é.yaml", "is not a name"),
])  # fmt: skip
def test_names_that_are_none(file, words, folder):
    with pytest.raises(RequestError, match=words) as caught:
        write_starter(Path(file))
    assert "\n" not in str(caught.value)
    assert list(folder.iterdir()) == []
