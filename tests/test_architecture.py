"""The rules of the architecture that imports and calls can show, held by an AST walk."""

import ast
import re
from functools import cache
from pathlib import Path

from symgen.joints import JOINTS

ROOT = Path(__file__).parents[1] / "symgen"
PARTS = (
    "version", "errors", "support", "options", "quaternions", "runtime", "robot",
    "algebra", "joints", "description", "program", "kinematics", "formulations", "exact",
    "optimize", "emit", "toolchain", "loaded", "simulation", "validation",
    "deriving", "pipeline",
    "showing", "comparing", "converting", "grading", "page", "planning", "frameworks",
    "command", "cli", "__init__", "__main__",
)  # fmt: skip
"""The parts of the package: each imports those before it, and none after it."""
RANK = {name: rank for rank, name in enumerate(PARTS)}
GATES = {
    "sympy": ("algebra", "deriving", "showing", "comparing", "grading", "page"),
    "jinja2": ("emit",),
    "subprocess": ("toolchain", "description"),  # description: MuJoCo, for strangers' files
    "multiprocessing": ("toolchain",),
    "scipy": ("simulation", "planning"),
    "casadi": ("planning", "frameworks"),
    "jax": ("frameworks",),
    "torch": ("frameworks",),
    "matplotlib": ("planning",),
    "xarray": ("simulation",),
    "click": ("command", "cli"),
    "rich": ("command", "cli"),
}
"""Libraries, and the parts of the package that may import them."""
FORBIDDEN = {
    "eval", "exec", "compile", "os.chdir", "os.system", "sympy.parse_expr", "parse_expr",
    "sys.setrecursionlimit",
}  # fmt: skip
ANSWERS = {
    "why_not", "applies_to_every_tree", "moves_by_one_coordinate",
    "needs_a_coordinate_for_every_joint",
}  # fmt: skip
JOINT_TYPES = {joint.name for joint in JOINTS}
FILES = sorted(ROOT.rglob("*.py"))


def part(path):
    """The part of the package that a file belongs to."""
    relative = path.relative_to(ROOT)
    return relative.parts[0].removesuffix(".py")


def name_of(path):
    """The name under which a file is imported."""
    parts = ("symgen", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


@cache
def nodes(path):
    """Nodes of the syntax tree of a file."""
    return tuple(ast.walk(ast.parse(path.read_text())))


@cache
def imports(path):
    """Modules of every import of a file, also of those that run late or for types alone."""
    found = []
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level or part(path) == "runtime", f"{path}: imports are absolute"
            package = ".".join(filter(None, ("symgen.runtime" * node.level, node.module)))
            for alias in node.names:
                module = f"{package}.{alias.name}"
                inner = ROOT.parent / module.replace(".", "/")
                is_module = inner.is_dir() or inner.with_suffix(".py").is_file()
                found.append(module if is_module else package)
    return tuple(dict.fromkeys(found))


def test_imports_go_one_way():
    for path in FILES:
        here = part(path)
        assert here in RANK, f"{here} is not among PARTS"
        for module in imports(path):
            parts = module.split(".")
            if parts[0] == "symgen":
                assert len(parts) > 1, f"{path}: the top of the package imports the others"
                there = parts[1] if parts[1] in RANK else "__init__"
                assert RANK[there] <= RANK[here], f"{path} imports {module}"


def test_no_modules_import_each_other_in_a_circle():
    modules = {name_of(path): path for path in FILES}
    open_ones = {
        name: {found for found in imports(path) if found in modules and found != name}
        for name, path in modules.items()
    }
    while leaves := {name for name, needed in open_ones.items() if not needed}:
        open_ones = {
            name: needed - leaves for name, needed in open_ones.items() if name not in leaves
        }
    assert not open_ones, f"in a circle, or behind one: {sorted(open_ones)}"


def test_each_library_has_one_gate():
    for path in FILES:
        here = part(path)
        for library in {module.split(".")[0] for module in imports(path)} & GATES.keys():
            assert here in GATES[library], f"{path} imports {library}"


def test_nothing_is_evaluated_printed_or_moved():
    for path in FILES:
        for node in nodes(path):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            assert called not in FORBIDDEN, f"{path} calls {called}"
            assert not called.startswith("sys.path."), f"{path} calls {called}"
            assert called != "print" or part(path) == "cli", f"{path} prints"
            for keyword in node.keywords:
                assert not (keyword.arg == "shell" and ast.unparse(keyword.value) == "True"), path


def test_formulations_do_not_know_each_other():
    folder = ROOT / "formulations"
    shared = {
        "interface", "state", "shared", "joint_terms", "rolled", "elimination", "accelerations",
        "model_outputs", "constraints", "torques", "second_derivatives", "coupled",
        "constraint_parts", "constraint_rows", "forces", "implicit", "direct",
        "sizes", "natural_frames",
    }  # fmt: skip
    for path in folder.rglob("*.py"):
        family = path.relative_to(folder).parts[0]
        if family == "__init__.py":
            continue
        for module in imports(path):
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


def lines_of(function):
    """Lines of a function, without its docstring and the functions and classes inside it."""
    documented = ast.get_docstring(function) is not None
    body = function.body[documented:]
    if not body:
        return 0
    inner = [x for x in body if isinstance(x, (ast.FunctionDef, ast.ClassDef))]
    span = body[-1].end_lineno - body[0].lineno + 1
    return span - sum(x.end_lineno - x.lineno + 1 for x in inner)


def test_a_function_fits_on_a_screen():
    for path in FILES:
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef):
                assert lines_of(node) <= 60, f"{path}:{node.lineno}: {node.name} is too long"


def test_a_module_needs_few_others():
    """Those that put parts together, the driver and `__init__`, may need more."""
    for path in FILES:
        if path.name not in ("__init__.py", "building.py"):
            needed = [name for name in imports(path) if name.startswith("symgen.")]
            assert len(needed) <= 25, f"{path} imports {len(needed)} modules"


def test_a_formulation_answers_why_not_with_a_listed_reason_or_none():
    found = 0
    for path in (ROOT / "formulations").rglob("*.py"):
        for node in nodes(path):
            if not isinstance(node, ast.FunctionDef) or node.name not in ANSWERS:
                continue
            for answer in (part for part in ast.walk(node) if isinstance(part, ast.Return)):
                found += 1
                text = ast.unparse(answer.value)
                assert text == "None" or text.startswith("reason("), f"{path.name}: {text}"
    assert found >= 3


def test_tests_name_the_functions_that_they_need():
    """Outside of tests of builds and their validation."""
    tests = Path(__file__).parent
    about_builds = {tests / "builds", tests / "validation"}
    for path in tests.rglob("*.py"):
        if about_builds & {*path.parents}:
            continue
        text = path.read_text()
        assert not re.search(r"^ *from symgen import .*\bload\b", text, re.M), path
        calls = ast.walk(ast.parse(text)) if "symgen.load(" in text else ()
        for call in calls:
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "symgen.load":
                keys = {keyword.arg for keyword in call.keywords}
                assert keys & {"functions", None}, f"{path}:{call.lineno}: see tests/modules.py"
