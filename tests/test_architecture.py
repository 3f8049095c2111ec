"""The house rules that imports and calls can show (house.md), held by an AST walk."""

import ast
from pathlib import Path

import pytest

from symgen.joints import JOINTS

ROOT = Path(__file__).parents[1] / "symgen"
DOORS = (
    ("errors", "options", "rounding", "journal", "collector", "suggestions"),
    ("simulation",),
    ("algebra",),
    ("joints",),
    ("description",),
    ("program",),
    ("kinematics",),
    ("formulations",),
    ("exact",),
    ("optimize",),
    ("emit",),
    ("toolchain",),
    ("validation",),
    ("symbolic", "report"),
    ("selection",),
    ("derivation",),
    ("qualification",),
    ("pipeline",),
    (
        "charts",
        "checking",
        "comparison",
        "converting",
        "drawing",
        "families",
        "grading",
        "growth",
        "page",
        "restyling",
        "showing",
        "starter",
        "steps",
        "typesetting",
    ),
    ("terminal", "command", "cli"),
)
RANK = {name: rank for rank, names in enumerate(DOORS) for name in names}
SYMPY = {"algebra", "symbolic", "typesetting", "showing", "comparison", "grading", "page"}
ANSWERS = {"why_not", "applies_to_every_tree", "needs_a_coordinate_for_every_joint"}
JOINT_TYPES = {joint.name for joint in JOINTS}
FILES = sorted(ROOT.rglob("*.py"))


def door(path):
    """The part of the house that a file belongs to."""
    relative = path.relative_to(ROOT)
    return relative.parts[0].removesuffix(".py")


def imports(path):
    """(module, is it for types only) of every import of a file."""
    tree = ast.parse(path.read_text())
    typing_only = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node in typing_only
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield node.module, node in typing_only


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_doors_open_to_the_left_only(path):
    here = door(path)
    if here in ("__init__", "__main__"):
        return
    assert here in RANK, f"{here} is not in the plan of the house"
    for module, typing_only in imports(path):
        parts = module.split(".")
        if parts[0] != "symgen" or len(parts) == 1 or typing_only:
            continue
        there = parts[1]
        assert there == here or RANK[there] < RANK[here] or DOORS[RANK[there]] == DOORS[RANK[here]]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_each_library_has_one_gate(path):
    here = door(path)
    roots = {module.split(".")[0] for module, _ in imports(path)}
    if here not in SYMPY:
        assert "sympy" not in roots
    if here != "emit":
        assert "jinja2" not in roots
    if here != "toolchain":
        assert not roots & {"subprocess", "multiprocessing"}
    if here != "simulation":
        used = {module.split(".")[0] for module, typing_only in imports(path) if not typing_only}
        assert not used & {"scipy", "xarray"}
    if here not in ("cli", "command", "terminal"):
        assert not roots & {"click", "rich"}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_nothing_is_evaluated_printed_or_moved(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        assert called not in {"eval", "exec", "compile", "os.chdir", "os.system"}, called
        assert called not in {"sympy.parse_expr", "parse_expr", "sys.setrecursionlimit"}, called
        assert not called.startswith("sys.path.")
        if called == "print":
            assert door(path) == "cli"
        for keyword in node.keywords:
            assert not (keyword.arg == "shell" and ast.unparse(keyword.value) == "True")


def test_formulations_do_not_know_each_other():
    folder = ROOT / "formulations"
    shared = {
        "interface", "shared", "joint_terms", "loops", "elimination", "accelerations",
        "model_outputs",
    }  # fmt: skip
    for path in folder.rglob("*.py"):
        family = path.relative_to(folder).parts[0]
        if family == "__init__.py":
            continue
        for module, _ in imports(path):
            if module.startswith("symgen.formulations"):
                there = module.split(".")[2]
                assert there in shared or there == family, f"{path.name} imports {module}"


def questions_of_type(tree):
    """Where a syntax tree looks at the type of a joint, or could name one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "type":
            yield ast.unparse(node)
        elif isinstance(node, ast.Constant) and node.value in JOINT_TYPES:
            yield repr(node.value)
        elif isinstance(node, ast.Import):
            yield from (x.name for x in node.names if x.name.startswith("symgen.joints"))
        elif isinstance(node, ast.ImportFrom) and node.module.startswith("symgen.joints"):
            yield node.module
        elif isinstance(node, ast.ImportFrom) and node.module == "symgen":
            yield from (x.name for x in node.names if x.name == "joints")
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr":
            yield from ("getattr" for x in node.args if ast.unparse(x) == "'type'")


def test_recursions_do_not_ask_for_the_type_of_a_joint():
    for path in (ROOT / "formulations").rglob("*.py"):
        assert not list(questions_of_type(ast.parse(path.read_text()))), path.name


@pytest.mark.parametrize(
    "line",
    (
        "x = joint.type.name", "isinstance(at.joint.type, Revolute)", "kind == 'prismatic'",
        "from symgen.joints.revolute import Revolute", "import symgen.joints.revolute",
        "from symgen import joints", "getattr(joint, 'type')",
    ),
)  # fmt: skip
def test_such_a_question_is_found(line):
    assert list(questions_of_type(ast.parse(line)))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_module_is_a_labyrinth(path):
    assert len(path.read_text().splitlines()) <= 500


def test_a_formulation_answers_why_not_with_a_listed_reason_or_none():
    found = 0
    for path in (ROOT / "formulations").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.FunctionDef) or node.name not in ANSWERS:
                continue
            for answer in (part for part in ast.walk(node) if isinstance(part, ast.Return)):
                found += 1
                text = ast.unparse(answer.value)
                assert text == "None" or text.startswith("reason("), f"{path.name}: {text}"
    assert found >= 3
