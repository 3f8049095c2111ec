"""`symgen new`: a file that builds, with the name of the robot, and never over another."""

import os
from pathlib import Path

import numpy as np
import pytest

import symgen
from symgen.cli import run
from symgen.converting.starter import write_starter, write_starter_task
from symgen.errors import RequestError
from tests.modules import EXAMPLES


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


@pytest.mark.parametrize(("robot", "start", "goal", "limits"), [
    ("mechanisms/four_bar", "{crank: 60*deg}", "{crank: 105*deg}", "torque: 40 velocity: 5"),
    ("mechanisms/stewart", "leg6: 1.2}", "leg6: 1.3}", "torque: 100 velocity: 1"),
    ("plan/slider_crank", "{crank: 0}", "{crank: 45*deg}", "# limits"),
    ("plan/prismatic_revolute", "{slider: 0, arm: 0}", "{slider: 0.1, arm: 45*deg}",
     "torque: 30 velocity: {slider: 1, arm: 5}"),
    ("arm7", "joint4: -6.865*deg", "joint4: -51.86*deg", "# limits"),
    ("plan/spacecraft", "body_qw: 1}", "body_qz: sin(45*deg)", "velocity: 5"),
])  # fmt: skip
def test_a_task_has_values_within_the_limits_of_its_robot(robot, start, goal, limits, folder):
    """Of a mechanism, of the drives that close its loops; only limits that the file lacks."""
    write_starter_task(Path("task.yaml"), symgen.read(EXAMPLES / f"{robot}.yaml"))
    lines = Path("task.yaml").read_text().splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("start:"))
    assert start in lines[first] and goal in lines[first + 1]
    assert limits in " ".join(" ".join(lines).split())
