"""`import symgen`: load, quaternions, `symgen.Robot` (the type of modules), example scripts."""

import inspect
import shutil
import sys

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import symgen
from manual import robot_type
from symgen.program.functions import FUNCTIONS
from symgen.quaternions import reorder
from symgen.robot import Functions, Robot, TorqueParts
from tests import modules
from tests.choosing import slow
from tests.modules import EXAMPLES, ROOT
from tests.support.commands import printed_by


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


@pytest.mark.parametrize(("modules", "dear"), [
    ("symgen", {"sympy", "numpy", "Cython"}),
    *slow(("symgen.pipeline.building, symgen.command.terminal", {"sympy"})),
])  # fmt: skip
def test_importing_is_light(modules, dear):
    program = f"import sys, {modules}; print({dear} & set(sys.modules))"
    assert printed_by(sys.executable, "-c", program, cwd=ROOT) == "set()\n"


@pytest.mark.slow
def test_the_example_script_runs():
    # in the repository `make demo` builds generated/two_link first; here a copy of the layout
    from symgen.cli import run

    model, out = str(EXAMPLES / "two_link.yaml"), str(ROOT / "generated")
    assert run(["build", model, "--quiet", "--out", out]) == 0
    printed = printed_by(sys.executable, EXAMPLES / "use_two_link.py")
    assert "1000 samples:      (1000, 2)" in printed


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_the_demo_installs_nothing_where_symgen_is(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "symgen").touch()
    printed = printed_by("make", "--dry-run", "demo", f"VIRTUAL_ENV={tmp_path}", cwd=ROOT)
    assert "pip" not in printed
    assert f"{tmp_path}/bin/symgen report" in printed and "--quick" in printed


def test_orders_are_those_of_scipy():
    turn = Rotation.random(3, rng=np.random.default_rng(1))
    xyzw, wxyz = turn.as_quat(), turn.as_quat(scalar_first=True)
    np.testing.assert_array_equal(reorder(xyzw, "xyzw", "wxyz"), wxyz)
    np.testing.assert_array_equal(reorder(wxyz.tolist(), "wxyz", "xyzw"), xyzw)
    same = reorder(xyzw, "xyzw", "xyzw")
    assert not np.shares_memory(same, xyzw)
    np.testing.assert_array_equal(same, xyzw)


@pytest.mark.parametrize(("arguments", "error", "message"), [
    (([0, 0, 0, 1], "xyzw", "wzyx"), ValueError, "'wzyx'; expected xyzw or wxyz"),
    (([0, 0, 1], "xyzw", "wxyz"), ValueError, r"shape \(..., 4\), got \(3,\)"),
    ((1.0, "xyzw", "wxyz"), ValueError, r"got \(\)"),
    ((["a"] * 4, "xyzw", "wxyz"), TypeError, "expected numbers"),
])  # fmt: skip
def test_orders_that_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        reorder(*arguments)


def test_the_type_is_written_from_the_table_of_functions():
    for name, wanted in robot_type.sources().items():
        written = (robot_type.FOLDER / name).read_text(encoding="utf-8")
        assert written == wanted, "python -m manual.robot_type"


@pytest.fixture(scope="module", params=slow("two_link"))
def module():
    return modules.module(EXAMPLES / "two_link.yaml", functions="default")


def test_a_module_has_what_the_type_says(module):
    absent = {"partially_recursive_kane", "explicit_kane", "semi_recursive"}  # if named, or small
    for name in set(inspect.get_annotations(Robot)) - absent:
        assert hasattr(module, name), name
    own = {name for name in vars(Robot) if not name.startswith("_")} | {*dir(Functions)}
    public = {name for name in dir(module) if not name.startswith("_")}
    missing = {"branches", "branch_parents", "joint_branches", "junctions", "leaves"}  # of a paper
    assert public - own - set(inspect.get_annotations(Robot)) == missing


def test_signatures_are_those_of_modules(module):
    for function in FUNCTIONS:
        if hasattr(module, function.name):
            typed = inspect.signature(getattr(Functions, function.name)).parameters
            actual = inspect.signature(getattr(module, function.name)).parameters
            assert list(typed) == ["self", *actual], function.name
    parts = module.torque_parts([0.1, 0.2], [1.0, -1.0], [0.5, 0.0])
    assert parts._fields == TorqueParts._fields


def test_what_symgen_offers():
    assert dir(symgen) == sorted([*symgen.__all__, "errors"])
    assert all(hasattr(symgen, name) for name in dir(symgen))
