"""Docstrings begin with their subject, say more than a label, and names are terms of the field."""

import ast
import re

import pytest

from tests.modules import ROOT

OPENING = re.compile(r"(what|whatever|that|those|these|the same|of|both|likewise|alike|as)\b", re.I)
"""Words that a docstring does not begin with: they stand for something instead of naming it."""
LABEL = re.compile(r"[A-Za-z]{1,6}[-_ ]?\d+[\w, .-]{0,12}\.?$|See the module\.$")
RIDDLE = re.compile(r"(^|[.;:]\s+)(What(ever)?|Those (that|who)|That which|Who(ever)?)\s+\w+", re.M)
EVERYDAY = {
    "found", "given", "known", "own", "told", "felt", "bent", "spared", "senseless", "seat", "way",
}  # fmt: skip
"""Names that say nothing about what they hold."""
SOURCES = sorted((ROOT / "symgen").rglob("*.py"))


@pytest.mark.parametrize("package", sorted({path.relative_to(ROOT).parts[1] for path in SOURCES}))
def test_docstrings_and_names(package):
    faults = []
    for path in SOURCES:
        if path.relative_to(ROOT).parts[1] != package:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node) or ""
                if OPENING.match(text) or LABEL.match(text) or RIDDLE.search(text):
                    faults.append(f"{path}:{getattr(node, 'lineno', 1)}: {text.splitlines()[0]}")
            elif isinstance(node, ast.Name | ast.arg):
                name = node.id if isinstance(node, ast.Name) else node.arg
                if name in EVERYDAY:
                    faults.append(f"{path}:{node.lineno}: {name}")
    assert faults == []
