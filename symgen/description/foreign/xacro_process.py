"""Separate program: xacro expands a file, and the resulting XML is printed as JSON.

The file is untrusted, and xacro evaluates its expressions as Python, after a check that can be
circumvented (by `gi_frame`, `str.format` and `vars`).  Three barriers protect the user: expressions
are parsed, and refused unless they consist of numbers, texts, lists, names, operators and calls,
without attributes that lead out of the data (`check`); the process may only read files of given
folders, and nothing else that Python's audit hooks report (`watch`); its time and memory are
limited, and it has no environment and cannot write files (`process`).

`asked` is an object with `path`, `arguments`, `packages` and `search` (see `packages.find`),
`folders` (which may be read) and `mark`, the offset of line numbers for each further file.  The
answer has `text`, `files` and `attribute`, the attribute with the line of each element; or `error`,
with `file` and `line` if they are known.
"""

from __future__ import annotations

import ast
import builtins
import os
import re
import runpy
import sys
from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from types import ModuleType
from typing import Any, Never
from xml.parsers import expat

SECONDS = 10
"""Limit of processor time."""
BYTES = 2 * 2**30
"""Limit of the address space."""
MOST_BYTES = 4 * 2**20
"""Limit of the size of a file."""
MOST_FILES = 200
LONGEST = 10_000
"""Characters of an expression."""
ATTRIBUTE = "written_in_line"

_NODES = (
    ast.Expression, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Constant,
    ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Call, ast.keyword, ast.List, ast.Tuple,
    ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension,
    ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop,
)  # fmt: skip
_LEAD_OUT = frozenset({  # attributes that lead from data to the interpreter
    "format", "format_map", "mro", "gi_frame", "gi_code", "gi_yieldfrom", "cr_frame", "cr_code",
    "cr_await", "cr_origin", "ag_frame", "ag_code", "ag_await", "f_back", "f_builtins", "f_code",
    "f_globals", "f_locals", "f_trace", "tb_frame", "tb_next", "co_code", "parent", "root", "top",
})  # fmt: skip
_OF_EVAL = ("arg", "dirname")
"""Functions of ``$(eval ...)`` that are not in its dictionary."""
_TAKEN_AWAY = ("type", "vars", "hash", "isinstance", "issubclass")
_MAY_HAPPEN = frozenset({"compile", "exec", "glob.glob", "builtins.id", "sys._getframe"})
_QUOTED = (
    re.compile(r"in the expression '(.*)'", re.DOTALL),
    re.compile(r"(xacro:\S+)"),
    re.compile(r"['\"]([^'\"]{3,})['\"]"),
)
_EXPRESSION = re.compile(r"when evaluating expression '(.*)'", re.DOTALL)
_DECLARED = re.compile(rb"<xacro:arg\b[^>]*?\bname\s*=\s*[\"']([^\"'<>]*)[\"']")
_USED = re.compile(rb"\$\(arg\s+([^\s()]+)\s*\)|\barg\(\s*[\"']([^\"'()]+)[\"']\s*\)")


class RefusedError(Exception):
    """An expression or a file contains a forbidden operation."""


def check(expression: str, allowed: Set[str] | None = None) -> None:
    """Raise `RefusedError` for an expression that may do more than compute with its data.

    xacro provides all builtin functions of Python in ``$(eval ...)``: those `allowed` are not
    refused there.
    """
    if len(expression) > LONGEST:
        raise RefusedError(f"an expression of more than {LONGEST} characters")
    for node in ast.walk(ast.parse(expression.strip(), mode="eval")):
        if not isinstance(node, _NODES):
            raise RefusedError(f"{type(node).__name__} is not allowed in expressions")
        name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
        if name.startswith("_") or (name in _LEAD_OUT and isinstance(node, ast.Attribute)):
            raise RefusedError(f"{name!r} is not allowed in expressions")
        is_builtin = isinstance(node, ast.Name) and hasattr(builtins, name)
        if allowed is not None and is_builtin and name not in allowed:
            raise RefusedError(f"{name!r} is not allowed in expressions")


def checked(evaluate: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap xacro's evaluation by `check`."""

    def safely(expression: str, *rest: Any) -> Any:
        check(expression)
        return evaluate(expression, *rest)

    return safely


class Files:
    """The files that xacro parses, and the lines of their elements."""

    def __init__(self, xacro: Any, asked: Mapping[str, Any]) -> None:
        self.xacro, self.mark = xacro, asked["mark"]
        self.names: list[str] = []
        self.arguments: dict[str, None] = {}  # as an ordered set
        self.read: Callable[..., Any] = xacro.parse

    def parse(self, source: Any, filename: str | None = None) -> Any:
        """Parse a file, instead of xacro's function."""
        if filename is None:
            return self.read(source, filename)
        try:
            with open(filename, "rb") as stream:
                content = stream.read(MOST_BYTES + 1)
        except OSError as error:
            self.xacro.filestack.pop()
            raise self.xacro.XacroException(f"{error.strerror}: {filename}", exc=error) from None
        if len(content) > MOST_BYTES or len(self.names) >= MOST_FILES:
            raise RefusedError(f"more than 4 MiB, or than {MOST_FILES} files: {filename}")
        for pattern in (_DECLARED, _USED):
            matches = (b"".join(x.groups(b"")) for x in pattern.finditer(content))
            self.arguments.update(dict.fromkeys(x.decode(errors="replace") for x in matches))
        name = os.path.abspath(filename)
        if name not in self.names:
            self.names.append(name)
        return self.read(self.marked(content, self.names.index(name)).decode("utf-8-sig"))

    def marked(self, content: bytes, number: int) -> bytes:
        """The file with the line of each element as an attribute, except elements of xacro."""
        places: list[tuple[int, int]] = []
        parser = expat.ParserCreate("utf-8")

        def start(tag: str, attributes: Mapping[str, str]) -> None:
            if not tag.startswith("xacro:"):
                end = parser.CurrentByteIndex + 1 + len(tag.encode())
                places.append((end, number * self.mark + parser.CurrentLineNumber))

        def doctype(*_: object) -> Never:
            raise RefusedError("a document type (<!DOCTYPE ...>) is not allowed; remove it")

        parser.StartElementHandler = start
        parser.StartDoctypeDeclHandler = doctype
        parser.Parse(content, True)
        parts, at = [], 0
        for end, line in places:
            parts += [content[at:end], f' {ATTRIBUTE}="{line}"'.encode()]
            at = end
        return b"".join([*parts, content[at:]])


def expand(asked: Mapping[str, Any], xacro: Any, files: Files) -> dict[str, Any]:
    """Expand the file to XML."""
    arguments = dict(asked["arguments"])
    xacro.init_stacks(asked["path"])
    document = files.parse(None, asked["path"])
    xacro.process_doc(document, mappings=arguments, verbosity=0)
    for name in asked["arguments"]:
        if name not in files.arguments:
            return {"unknown": name, "known": [*files.arguments]}
    text = document.documentElement.toxml()
    return {"text": text, "files": files.names, "attribute": ATTRIBUTE}


def prepare(asked: Mapping[str, Any]) -> tuple[ModuleType, Files]:
    """xacro, with its evaluation, its search for packages and its parser replaced."""
    import xacro
    import yaml
    from xacro import substitution_args

    yaml.safe_load("a: [1, 2.5]")  # import lazily loaded modules before `watch`
    xacro.parse("<a b='c'>d</a>").toxml().encode("utf-8-sig").decode("utf-8-sig")
    find = runpy.run_path(os.path.join(os.path.dirname(__file__), "packages.py"))["find"]
    folders = asked["folders"]

    def folder_of(package: str) -> str:
        folder = find(package, asked["packages"], asked["search"])
        if folder is None:
            raise substitution_args.SubstitutionException(
                f"there is no package {package!r} in the folders above this file; name its folder: "
                f"--package {package}=FOLDER (in Python packages=)"
            )
        folders.append(os.path.realpath(folder))
        return str(folder)

    changed: Any = xacro
    changed.safe_eval = checked(changed.safe_eval)
    changed.message = changed.warning = changed.error = lambda *_, **__: ""
    evaluate = substitution_args._eval

    def extension(expression: str, context: Any) -> str:
        functions = substitution_args._eval_dict
        check(expression, {*functions, *functions["__builtins__"], *_OF_EVAL, *context["arg"]})
        return str(evaluate(expression, context))

    substitution_args._eval = extension
    substitution_args._eval_find = folder_of
    substitution_args._eval_dict["find"] = folder_of
    for name in _TAKEN_AWAY:
        changed._global_symbols["python"].pop(name, None)
    files = Files(xacro, asked)
    changed.parse = files.parse
    return xacro, files


def watch(folders: list[str]) -> None:
    """Forbid all audited operations of this process except reading in `folders`."""

    def heard(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _MAY_HAPPEN:
            return
        if event in ("open", "os.listdir", "os.scandir") and arguments:
            path = arguments[0]
            reads = event != "open" or arguments[1] in (None, "r", "rb")
            if reads and isinstance(path, str) and is_inside(path, folders):
                return
            what = path if isinstance(path, str) else event
            raise PermissionError(1, "outside the folder and the packages of the model", what)
        raise RefusedError(f"{event} is not allowed")

    sys.addaudithook(heard)


def is_inside(path: str, folders: list[str]) -> bool:
    """Whether a file is in one of the folders, with links resolved."""
    real = os.path.realpath(path) + os.sep
    return any(real.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


def described(error: Exception, xacro: Any) -> dict[str, Any]:
    """Return an error with its file and line, if they are known."""
    file = next((x for x in reversed(xacro.filestack or []) if x), None)
    words, line = in_words(error), 0
    if isinstance(error, expat.ExpatError):
        words, line = f"malformed XML: {error}", error.lineno
    return {"error": words, "file": file, "line": line or line_of(words, file)}


def in_words(error: BaseException) -> str:
    """Return the message of the innermost error in an error of xacro, with its expression."""
    expression = ""
    while True:
        match = _EXPRESSION.search(getattr(error, "suffix", None) or "")
        expression = match[1] if match else expression
        inner = getattr(error, "exc", None)
        if not isinstance(inner, Exception):
            break
        error = inner
    words = str(error).replace(" (<unknown>, line 1)", "")
    if type(error).__name__ == "ArgException":
        words = f"there is no value of the argument {words!r}; give one, {words}:=VALUE"
    elif isinstance(error, OSError) and error.filename:
        words = f"{error.strerror}: {error.filename}"
    elif isinstance(error, RecursionError):
        words = "nested too deep, or a macro or file that calls itself"
    elif isinstance(error, MemoryError):
        words = "not enough memory"
    words = words or type(error).__name__
    return f"{words}, in the expression {expression!r}" if expression else words


def line_of(words: str, file: str | None) -> int:
    """Return the first line of the file with a quotation of the message; 0 if there is none."""
    quoted = [match[1] for match in (x.search(words) for x in _QUOTED) if match]
    with suppress(OSError, ValueError):
        with open(file or "", encoding="utf-8", errors="replace") as stream:
            lines = stream.read(MOST_BYTES).splitlines()
        for part in quoted:
            for number, line in enumerate(lines, start=1):
                if part.strip() and part.strip() in line:
                    return number
    return 0


def answer(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return the expanded XML of a file, or an error."""
    xacro, files = prepare(question)
    watch(question["folders"])
    try:
        return expand(question, xacro, files)
    except Exception as error:
        return described(error, xacro)


if __name__ == "__main__":
    beside = os.path.join(os.path.dirname(__file__), "process.py")
    runpy.run_path(beside)["respond"](answer, SECONDS, BYTES)
