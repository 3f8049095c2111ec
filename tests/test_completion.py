"""Editors by jedi: what it completes of `symgen.load`, and of a module that is imported."""

import ast
import inspect
from pathlib import Path

import pytest

import symgen
from symgen.program.functions import BY_LINK, FUNCTIONS
from tests.modules import EXAMPLES, module

jedi = pytest.importorskip("jedi")
SUMMARIES = {f.name: f.summary for f in (*FUNCTIONS, *BY_LINK.values())}


def shown(source: str, project: Path) -> dict[str, str]:
    """What is completed at the end of `source`: docstrings by name."""
    script = jedi.Script(source, path=project / "here.py", project=jedi.Project(project))
    return {found.name: " ".join(found.docstring().split()) for found in script.complete()}


@pytest.mark.slow
def test_what_load_returns_is_completed():
    names = shown('import symgen\narm = symgen.load("arm.yaml")\narm.', Path(symgen.__path__[0]))
    for name, summary in SUMMARIES.items():
        assert summary.rstrip(".").split(";")[0][:40] in names[name], name
    assert {"n", "link_names", "limits", "newton_euler", "selftest"} <= names.keys()
    inner = shown("import symgen\nsymgen.load('a').newton_euler.", Path(symgen.__path__[0]))
    assert "tau (..., n)" in inner["inverse_dynamics"]


@pytest.mark.slow
def test_an_imported_module_is_completed():
    root = Path(symgen.__path__[0]).parent
    if not (root / "generated" / "two_link").is_dir():
        pytest.skip("no committed package beside this installation")
    names = shown("from generated import two_link\ntwo_link.", root)
    assert names["frame_pose"].startswith("frame_pose(name: str, q: Rows")
    assert SUMMARIES.keys() & names.keys() >= {"inverse_dynamics", "mass_matrix", "frame_jacobian"}


def test_stubs_hold_the_docstrings_that_editors_show():
    """Pyright takes them from there: the functions themselves are made at run time."""
    functions = "mass_matrix,jacobians,forward_kinematics"
    robot = module(EXAMPLES / "two_link.yaml", functions=functions, formulations="newton_euler")
    stub = ast.parse(Path(robot.__file__).with_suffix(".pyi").read_text())
    found = {f.name: ast.get_docstring(f) for f in stub.body if isinstance(f, ast.FunctionDef)}
    for name in ("mass_matrix", "jacobians", "frame_pose"):
        assert found[name] == inspect.getdoc(getattr(robot, name))
    assert "local_world_aligned" in found["frame_jacobian"]
