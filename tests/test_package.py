"""`import symgen`: load, read, derive; and the example scripts."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import symgen
from tests.choosing import slow

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


@pytest.mark.slow
def test_load_builds_once_and_returns_the_module():
    chosen = {"functions": "mass_matrix", "backend": "numpy"}
    robot, again = (symgen.load(EXAMPLES / "two_link.yaml", **chosen) for _ in range(2))
    assert robot.name == "two_link"
    assert robot.__file__ == again.__file__
    q = np.array([0.3, -0.8])
    np.testing.assert_array_equal(robot.mass_matrix(q), again.mass_matrix(q))
    assert robot.coordinate_names == ("shoulder", "elbow")
    assert robot.load_names == ("tip",)
    assert robot.symgen_version == symgen.__version__


@pytest.mark.slow
def test_load_tells_of_its_progress(tmp_path):
    heard = []
    symgen.load(
        EXAMPLES / "cart_pole.yaml", formulations="newton_euler", functions="mass_matrix",
        backend="numpy", out=tmp_path, progress=lambda *x: heard.append(x),
    )  # fmt: skip
    stages = list(dict.fromkeys(what.partition(":")[0] for what, _, _ in heard))
    assert stages[0] == "read" and stages[-1] == "install"
    assert {"derive", "emit", "validate"} < {*stages}
    assert ("derive: newton_euler.mass_matrix", 0, 1) in heard
    assert any(
        what.startswith("validate: newton_euler (numpy): mass_matrix") for what, _, _ in heard
    )


@pytest.mark.parametrize(
    ("modules", "dear"),
    [
        ("symgen", {"sympy", "numpy", "Cython"}),
        *slow(("symgen.pipeline.building, symgen.command.terminal", {"sympy"})),
    ],
)
def test_importing_is_light(modules, dear):
    program = f"import sys, {modules}; print({dear} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "set()", done.stderr


@pytest.mark.slow
def test_the_example_script_runs():
    # in the repository `make demo` builds generated/two_link first; here a copy of the layout
    from symgen.cli import run

    model, out = str(EXAMPLES / "two_link.yaml"), str(ROOT / "generated")
    assert run(["build", model, "--quiet", "--out", out]) == 0
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "use_two_link.py")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "1000 samples:      (1000, 2)" in done.stdout
