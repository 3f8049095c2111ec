"""Where files from strangers enter, and what is done with those that are accepted.

    read_file     model, URDF, SDF, MJCF   as `symgen build` and `symgen convert` read them
    grade_file    answer              as `symgen grade` does, about a robot with one coordinate
    go_deeper     a description       the sources that are made of it

A `SymgenError` is how a file is refused; whatever else is raised is a fault of symgen."""

from __future__ import annotations

import sys
from functools import cache
from unittest.mock import patch

import symgen.grading.grade  # noqa: F401  (imported before anything is watched)
from symgen.converting.conversion import model_text
from symgen.deriving.derivation import derive_all
from symgen.deriving.packaging import package_of
from symgen.deriving.selection import select
from symgen.description import RobotDescription
from symgen.description.checks import check, is_foreign, read_document
from symgen.description.reading import Document, decode, load
from symgen.emit.emission import emit, javascript_source
from symgen.errors import SymgenError
from symgen.grading import Verdict, grade, questions, slips
from symgen.grading.truth import Truth
from symgen.options import STRAIGHT, BuildOptions, ReadOptions
from symgen.showing.tree import tree

PENDULUM = """
symgen: 1
name: pendulum
gravity: [0, -g, 0]
parameters: {m: 1, l: 0.5, I: 0.1, g: 9.81}
joints:
  - {name: hinge, type: revolute, origin: {},
     link: {name: rod, mass: m, com: [l, 0, 0], inertia: {zz: I}}}
"""

MOST_MESSAGES = 500
"""Lines of one refusal."""

LONGEST_MESSAGE = 700
"""Characters of one line of it, the name of the file left out."""


def read_file(path: str, number: int = 0) -> RobotDescription:
    """Read a file; every fourth is written as `symgen convert` does, without the writing."""
    floating_base = number % 7 == 1
    document = read_document(path, ReadOptions(floating_base=floating_base))
    description = check(document)
    if is_foreign(path) and number % 4 == 0:
        _round_trip(document)
    return description


def _round_trip(document: Document) -> None:
    """What convert would write is read again."""
    check(decode(model_text(document, "Made by symgen convert.").encode(), "converted.yaml"))


def grade_file(path: str) -> Verdict:
    """Grade an answer about the pendulum."""
    text = load(path).decode("utf-8-sig", errors="replace")
    module = sys.modules["symgen.grading.grade"]
    with (
        patch.object(module, "Truth", lambda _: truth()),
        patch.object(module, "slips_of", lambda _, links=True: all_slips(links)),
        patch.object(questions, "Truth", lambda _: truth()),
    ):
        return grade(pendulum(), text, path)


@cache
def pendulum() -> RobotDescription:
    """The robot that answers are about."""
    return check(decode(PENDULUM.encode(), "pendulum.yaml"))


@cache
def truth() -> Truth:
    """Derive the truth about the pendulum once, not for every answer: that takes longest."""
    return Truth(pendulum())


@cache
def all_slips(links: bool) -> tuple[slips.Slip, ...]:
    """Derive the slips of the pendulum once."""
    return tuple(slips.slips_of(pendulum(), links))


def check_verdict(verdict: Verdict) -> None:
    """A verdict is short lines of printable text."""
    for line in str(verdict).split("\n"):
        assert line.isprintable(), f"what a terminal may obey: {line!r}"
        assert len(line) <= LONGEST_MESSAGE, f"a line of {len(line)} characters: {line[:200]}"


def check_message(error: SymgenError, path: str) -> None:
    """A refusal is lines of printable text, each of which names the file and is not endless."""
    lines = str(error).replace(path, "FILE").split("\n")
    assert len(lines) <= MOST_MESSAGES, f"{len(lines)} lines"
    for line in lines:
        assert line.strip(), "an empty line"
        assert len(line) <= LONGEST_MESSAGE, f"a line of {len(line)} characters: {line[:200]}"
        assert line.isprintable(), f"what a terminal may obey: {line!r}"
    assert error.exit_status == 2


# ------------------------------------------------------------- what is made of accepted models

DEEP = BuildOptions(
    formulations=("newton_euler",), functions=("inverse_dynamics", "forward_kinematics")
)
LARGEST = 4
"""Coordinates and links of a model that sources are made of."""


def draw(description: RobotDescription) -> None:
    """The drawing of a small model holds nothing that a terminal obeys."""
    if len(description.joints) <= 20 and len(description.points) <= 100:
        lines = tree(description).split("\n")
        assert all(line.isprintable() for line in lines), "what a terminal may obey"


def go_deeper(description: RobotDescription) -> bool:
    """Make sources of a small model; False of a larger one.

    That texts of authors stay comments there is tried by `tests/emit/test_names.py`."""
    if max(len(description.joints), len(description.points), len(description.loads)) > LARGEST:
        return False
    if len(description.coordinate_names) > LARGEST or len(description.parameters) > 20:
        return False
    selection = select(description, DEEP)
    derived = derive_all(description, selection)
    emit(package_of(description, derived), ("compiled", "cython", "numpy"))
    straight = derive_all(description, selection, form=STRAIGHT)
    javascript_source(package_of(description, straight))
    return True
