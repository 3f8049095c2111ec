"""`symgen report`: a report about one robot in one HTML file.

    report : model file -> HTML

The page is self-contained, without network, fonts or libraries.  Equations are MathML, pictures
SVG, and its Content-Security-Policy forbids it to load anything.  Its parts:

    robot        RobotDescription -> tables, tree, branch matrices, poses of the frames
    closing      RobotDescription -> rows that close the loops of a mechanism, and its start
    counting     Programs         -> operations, which decide on the length of other parts
    equations    SymPy results    -> the closed form, where it is short enough to read
    questions    all of these     -> answers to the questions of a lecture for this robot
    recursions   Programs         -> every recursion, step by step, with the formulas of the paper
    calculator   Programs         -> the functions of the module in JavaScript
    comparison, growth            -> costs of formulations (`symgen.comparing`)

Long parts are packed (deflate, base64): the functions of the calculator, and the steps of large
recursions, which the page unfolds when they are opened.  A quick report leaves out timings and the
slowest parts, and has equal bytes on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from pathlib import Path

from symgen.comparing import comparison, growth
from symgen.comparing.charts import growth_svg
from symgen.description import RobotDescription, read
from symgen.description.additions import with_additions
from symgen.emit.templates import Templates, own_templates
from symgen.emit.text import plain
from symgen.errors import RequestError
from symgen.formulations import FORMULATIONS
from symgen.options import DEFAULT, UNCHANGED, BuildOptions, ReadOptions
from symgen.page import calculator, counting, equations, questions, recursions, robot
from symgen.page.animation import SUFFIXES
from symgen.page.closing import check_closing, closing_part
from symgen.page.packing import as_script, packed
from symgen.support.journal import Journal
from symgen.toolchain.files import check_writable, replace_file
from symgen.validation.model_warnings import model_warnings

GROWTH_JOINTS = tuple(range(1, 9))
"""Chains for the picture of growth: long enough for the crossings, derived in seconds."""
LARGEST_TIMED = 60_000
"""Largest number of operations of a function in the timed comparison."""
_HEAD = 4096
"""Characters of a page among which its model file is named."""
_MODEL = re.compile('<meta name="model" content="([^"]*)">')
_REMARK = re.compile(r"(?m)^[ ]*//.*\n|[ ]{2}//[ ].*$|^[ ]+")

SCRIPTS = ("model", "figure", "manifolds", "calculator", "freebody", "motion", "page")
MECHANISM = "mechanism"
"""Script for pages of mechanisms only."""


def write_report(
    model: Path, target: Path | None, quick: bool, templates: Path | None, journal: Journal, *,
    loads: Sequence[str] = (), points: Sequence[str] = (), reading: ReadOptions = UNCHANGED,
) -> Path:  # fmt: skip
    """Write the report of `model` to `target` (default: ``<name>.html``) and return its path.

    `loads` and `points` are added to those of the file, each ``LINK`` or ``LINK:x,y,z``; `reading`
    are the options for reading the file.

    Raises `RequestError`, before any work, where the file cannot be written, or is `model`.
    """
    description = with_additions(read(model, reading), loads, points)
    for warning in model_warnings(description, check_closing(description)):
        journal.notice(warning)
    target = Path(f"{description.name}.html") if target is None else target
    if target.suffix.lower() not in SUFFIXES:
        raise RequestError(f"{str(target)!r} is no name for a page; expected one such as arm.html")
    check_writable(target, (model,))
    _warn_if_it_replaces(target, model, journal)
    if templates is not None:
        own_templates(templates)  # reports faulty templates before any work
    if not quick:
        journal.notice(
            "a full report compiles and times every formulation, which takes a minute or two; "
            "--quick leaves that out",
            at_once=True,
        )
    page = report(description, quick, templates, journal)
    return replace_file(target, page.encode())


def _warn_if_it_replaces(target: Path, model: Path, journal: Journal) -> None:
    """Warn before a page of another model file is replaced."""
    try:
        with target.open(encoding="utf-8", errors="replace") as former:
            names = _MODEL.findall(former.read(_HEAD))
    except OSError:
        return
    for name in map(unescape, names):
        if name != model.name:
            journal.notice(f"warning: {target} was a page of {plain(name)}; it is replaced")


def report(
    description: RobotDescription, quick: bool, templates: Path | None, journal: Journal
) -> str:
    """Return the page."""
    layout = Templates(templates)
    counted = counting.count(description, journal)
    closed_by = closing_part(description, counted.tree)
    live = calculator.calculator(description, counted, closed_by)
    steps = recursions.recursions(description, counted, journal)
    unfolded = recursions.unfolded_later(steps)
    closed = equations.closed_form(description, counted, journal)
    grown: tuple[growth.Growth, str] | None = None  # on the standard chain, with its picture
    if not quick:
        grown_chain = growth.grow("serial", GROWTH_JOINTS, (DEFAULT,), (DEFAULT,), journal)
        grown = grown_chain, growth_svg(grown_chain, standalone=False)
    return layout.render(
        "report/page.html",
        model=Path(description.file).name,
        robot=robot.robot_part(description, counted),
        closed=closed,
        closing=closed_by,
        questions=questions.questions(description, counted, closed),
        recursions=steps,
        calculator=live,
        operations=counted.reports,
        formulations={
            item.name: item.title for item in FORMULATIONS if item.name in counted.formulations
        },
        costs=None if quick else _comparison(description, counted, journal),
        growth=grown,
        style=layout.source("report/style.css"),
        scripts=[
            _without_remarks(layout.source(f"report/{name}.js"))
            for name in (*((MECHANISM,) if closed_by else ()), *SCRIPTS)
        ],
        data={
            "robot-data": as_script(live.facts),
            "functions": packed(_without_remarks(live.source).encode()),
            "steps": packed(as_script(unfolded).encode()),
        },
    )


def _without_remarks(script: str) -> str:
    """Return a script without comments and indentation, a fifth of its size.

    No string in a script contains two slashes, as all names are identifiers.
    """
    return _REMARK.sub("", script)


def _comparison(
    description: RobotDescription, counted: counting.Counted, journal: Journal
) -> comparison.Comparison:
    """Compare formulations, except those with functions that take minutes to compile."""
    sizes: dict[str, int] = {}
    for (formulation, _), size in counted.sizes.items():
        sizes[formulation] = max(size, sizes.get(formulation, 0))
    names = tuple(name for name in sizes if sizes[name] <= LARGEST_TIMED)
    functions = growth.main_functions(bool(description.n_constraints))
    options = BuildOptions(formulations=names or (DEFAULT,), functions=functions)
    return comparison.compare(description.file, options, journal)
