"""The reference of what `import symgen` offers, from its signatures and docstrings."""

from __future__ import annotations

import inspect
import re

import symgen
from symgen.deriving.symbolic import SymbolicDynamics
from symgen.grading import Verdict

CLASSES = (SymbolicDynamics, Verdict)
"""Classes whose objects users hold in their hands."""


def markdown() -> str:
    """A section for every function, and for every class of what they return."""
    names = [name for name in symgen.__all__ if not name.startswith("_")]
    sections = [_offered(f"symgen.{name}", getattr(symgen, name)) for name in names]
    return "\n".join([*sections, *(_class(item) for item in CLASSES)])


def _offered(name: str, item: object) -> str:
    if inspect.isclass(item):  # the type of modules, whose functions have a page of their own
        return f"## {name}\n\n{_doc(item)}  See [the generated module](module.md).\n"
    return _function(name, item)


def _function(name: str, item: object, level: str = "##") -> str:
    text = _plain(str(inspect.signature(item)))  # type: ignore[arg-type]
    return "\n".join([f"{level} {name}", "", f"```python\n{name}{text}\n```", "", _doc(item), ""])


def _plain(signature: str) -> str:
    """A signature whose annotations stand without quotation marks, functions by their names."""
    named = re.sub(r"<function (\w+) at \w+>", r"\1", signature)
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", named)


def _class(item: type) -> str:
    lines = [f"## {item.__name__}", "", _doc(item), ""]
    for name, member in vars(item).items():
        if name.startswith("_") or not getattr(member, "__doc__", None):
            continue
        if isinstance(member, property):
            lines += [f"### {item.__name__}.{name}", "", _doc(member), ""]
        elif inspect.isfunction(member):
            lines.append(_function(f"{item.__name__}.{name}", member, "###"))
    return "\n".join(lines)


def _doc(item: object) -> str:
    """A docstring as Markdown: what is laid out in columns stays as it is."""
    paragraphs = []
    for paragraph in (inspect.getdoc(item) or "").split("\n\n"):
        laid_out = any(line.startswith("  ") for line in paragraph.splitlines())
        paragraphs.append(
            f"```text\n{paragraph}\n```" if laid_out else paragraph.replace("``", "`")
        )
    return "\n\n".join(paragraphs)
