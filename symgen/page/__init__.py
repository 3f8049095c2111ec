"""`symgen report`: everything about one robot in one HTML file that can be handed out.

    report : model file -> HTML

The page needs nothing but itself: no network, no fonts, no library.  Equations are MathML, pictures
SVG, and its own policy (Content-Security-Policy) forbids it to load anything.  Its parts:

    robot        RobotDescription -> tables, tree, branch matrices, poses of the frames
    closing      RobotDescription -> what closes the loops of a mechanism, and where it begins
    counting     Programs         -> operations, which say what is short enough for what follows
    equations    SymPy results    -> the closed form, where it is small enough to be read
    questions    all of these     -> what a lecture asks, answered for this robot
    recursions   Programs         -> every recursion, step by step, beside the formulas of the paper
    calculator   Programs         -> JavaScript that computes in the page what the module computes
    comparison, growth            -> what formulations cost (`symgen.comparing`)

Long parts are packed (deflate, base64): the functions of the calculator, and the steps of large
recursions, which the page unfolds when they are opened.  A quick report leaves out what is
timed and what takes longest, and is the same bytes on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from symgen.comparing import comparison, growth
from symgen.comparing.charts import growth_svg
from symgen.description import RobotDescription, read
from symgen.description.additions import with_additions
from symgen.emit.templates import Templates, own_templates
from symgen.errors import RequestError
from symgen.formulations import FORMULATIONS
from symgen.options import DEFAULT, UNCHANGED, BuildOptions, ReadOptions
from symgen.page import calculator, counting, equations, questions, recursions, robot
from symgen.page.closing import check_closing, closing_part
from symgen.page.packing import as_script, packed
from symgen.support.journal import Journal
from symgen.toolchain.files import check_writable, replace_file

GROWTH_JOINTS = tuple(range(1, 9))
"""Chains for the picture of growth: large enough to see the crossings, derived in seconds."""

LARGEST_TIMED = 60_000
"""A formulation with a function of more operations is left out of what is compiled and timed."""

_REMARK = re.compile(r"(?m)^[ ]*//.*\n|[ ]{2}//[ ].*$|^[ ]+")

SCRIPTS = ("model", "figure", "manifolds", "calculator", "freebody", "motion", "page")
MECHANISM = "mechanism"
"""The script of pages of mechanisms alone."""

SUFFIXES = (".html", ".htm")


def write_report(
    model: Path,
    target: Path | None,
    quick: bool,
    templates: Path | None,
    journal: Journal,
    *,
    loads: Sequence[str] = (),
    points: Sequence[str] = (),
    reading: ReadOptions = UNCHANGED,
) -> Path:
    """Write the report of `model` to `target` (default: ``<name>.html`` here) and return where.

    `loads` and `points` are added to those of the file, each ``LINK`` or ``LINK:x,y,z``;
    `reading` is how the file is read.

    RequestError, before any work, where it cannot be written there.
    """
    description = with_additions(read(model, reading), loads, points)
    check_closing(description)
    target = Path(f"{description.name}.html") if target is None else target
    _check_target(target)
    if templates is not None:
        own_templates(templates)  # which are wrong are told before any work
    if not quick:
        journal.notice(
            "a full report compiles and times every formulation, which takes a minute or two; "
            "--quick leaves that out",
            at_once=True,
        )
    page = report(description, quick, templates, journal)
    return replace_file(target, page.encode())


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
    return layout.render(
        "report/page.html",
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
        growth=None if quick else _growth(journal),
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
    """Return a script without remarks and indentation, which nobody reads in a page: a fifth of it.

    No string in a script holds two strokes: all names are identifiers.
    """
    return _REMARK.sub("", script)


def _comparison(
    description: RobotDescription, counted: counting.Counted, journal: Journal
) -> comparison.Comparison:
    """Return formulations side by side, but those with functions that take minutes to compile."""
    sizes: dict[str, int] = {}
    for (formulation, _), size in counted.sizes.items():
        sizes[formulation] = max(size, sizes.get(formulation, 0))
    names = tuple(name for name in sizes if sizes[name] <= LARGEST_TIMED)
    functions = growth.main_functions(bool(description.n_constraints))
    options = BuildOptions(formulations=names or (DEFAULT,), functions=functions)
    return comparison.compare(description.file, options, journal)


def _growth(journal: Journal) -> tuple[growth.Growth, str]:
    """Return how formulations grow on the standard chain, and the picture of it."""
    result = growth.grow("serial", GROWTH_JOINTS, (DEFAULT,), (DEFAULT,), journal)
    return result, growth_svg(result, standalone=False)


def _check_target(target: Path) -> None:
    if target.suffix.lower() not in SUFFIXES:
        raise RequestError(f"{str(target)!r} is no name for a page; expected one such as arm.html")
    check_writable(target)
