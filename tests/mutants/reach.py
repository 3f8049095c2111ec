"""Which test files reach which mutants: one run of all tests, with notes in mutated functions.

The first statement of the function around a mutant notes that it was reached, and by which test
(`PYTEST_CURRENT_TEST`, which processes that a test starts inherit).  Where a fault lies outside of
functions, those of its module stand for it; for templates, those of what renders them."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.etree import ElementTree

from tests.mutants.table import Mutant, restore

NOTES = '''"""Notes which mutants are reached by which tests (written by tests.mutants.reach)."""

import os

_seen = set()


def reached(*mutants):
    """Note it once for every test."""
    new = [mutant for mutant in mutants if mutant not in _seen]
    if new:
        _seen.update(new)
        test = os.environ.get("PYTEST_CURRENT_TEST", "").split("::")[0].split(" ")[0]
        with open(os.path.join({folder!r}, str(os.getpid())), "a") as log:
            log.writelines(f"{{mutant}} {{test}}\\n" for mutant in new)


def pytest_runtest_logstart(nodeid, location):
    """What the test before had reached says nothing of the next."""
    _seen.clear()
'''
MODULE = "symgen.reached_mutants"
RENDERERS = {"templates/report": "symgen/page/__init__.py", "templates": "symgen/emit/emission.py"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def reach(
    checkout: Path, table: Sequence[Mutant], options: Sequence[str], folder: Path
) -> tuple[dict[str, list[str]], dict[str, float]]:
    """Test files by mutant, and seconds by test file, measured in `checkout`, which is restored."""
    log = folder / "reached"
    log.mkdir(parents=True)
    _instrument(checkout, table)
    added = checkout / f"{MODULE.replace('.', '/')}.py"
    added.write_text(NOTES.format(folder=str(log)))
    results = folder / "junit.xml"
    command = [str(checkout / ".venv/bin/python"), "-m", "pytest", "-q", "-p", MODULE]
    command += ["-p", "no:cacheprovider", f"--junitxml={results}", *options]
    try:
        subprocess.run(command, cwd=checkout, stdout=subprocess.DEVNULL, check=False)
    finally:
        added.unlink()
        restore(checkout)
    return _reached(log, table), _seconds(results, checkout)


def _instrument(checkout: Path, table: Sequence[Mutant]) -> None:
    """Write the notes into the functions."""
    places: dict[Path, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, mutant in enumerate(table):
        path, line = _place(checkout, mutant)
        for function in _functions_around(path, line):
            places[path][_first_line(function)].append(number)
    for path, noted in places.items():
        text = path.read_text()
        lines = text.splitlines(keepends=True)
        for line in sorted(noted, reverse=True):
            indent = re.match(r"\s*", lines[line - 1])
            call = f"_reached({', '.join(map(str, noted[line]))})\n"
            lines.insert(line - 1, (indent[0] if indent else "") + call)
        place = _after_future_imports(text)
        lines.insert(place, f"from {MODULE} import reached as _reached\n")
        path.write_text("".join(lines))


def _place(checkout: Path, mutant: Mutant) -> tuple[Path, int]:
    """The file in which a mutant is noted, and its line there; 0 for all of the file."""
    for folder, renderer in RENDERERS.items():
        if mutant.file.startswith(folder):
            return checkout / renderer, 0
    path = checkout / mutant.file
    text = path.read_text()
    mutant.planted_in(text)
    return path, text[: text.index(mutant.was)].count("\n") + 1


def _functions_around(path: Path, line: int) -> list[Function]:
    found = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, Function)]
    around = [node for node in found if node.lineno <= line <= (node.end_lineno or 0)]
    return [max(around, key=lambda node: node.lineno)] if around else found


def _first_line(function: Function) -> int:
    """The line of the first statement after the docstring."""
    body = function.body
    if ast.get_docstring(function) is not None and len(body) > 1:
        body = body[1:]
    elif ast.get_docstring(function) is not None:
        return body[0].lineno  # nothing but a docstring: an interface
    return min([body[0].lineno, *(node.lineno for node in getattr(body[0], "decorator_list", ()))])


def _after_future_imports(text: str) -> int:
    ends = [
        node.end_lineno or 0
        for place, node in enumerate(ast.parse(text).body)
        if (place == 0 and isinstance(node, ast.Expr))
        or (isinstance(node, ast.ImportFrom) and node.module == "__future__")
    ]
    return max(ends, default=0)


def _reached(log: Path, table: Sequence[Mutant]) -> dict[str, list[str]]:
    found: dict[str, set[str]] = {mutant.name: set() for mutant in table}
    for path in log.iterdir():
        for line in path.read_text().splitlines():
            number, _, test = line.partition(" ")
            if test:
                found[table[int(number)].name].add(test)
    return {name: sorted(tests) for name, tests in found.items()}


def _seconds(results: Path, checkout: Path) -> dict[str, float]:
    seconds: dict[str, float] = defaultdict(float)
    for case in ElementTree.parse(results).iter("testcase"):
        if name := case.get("classname"):  # none for a file that was skipped when it was collected
            seconds[_file_of(checkout, name.split("."))] += float(case.get("time", "0"))
    return dict(seconds)


def _file_of(checkout: Path, parts: Iterable[str]) -> str:
    path = Path()
    for part in parts:
        path /= part
        if (checkout / path).with_suffix(".py").is_file():
            break
    return str(path.with_suffix(".py"))
