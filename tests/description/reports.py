"""Models from text, and what is reported about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from _pytest.mark import ParameterSet

from symgen.description import RobotDescription
from symgen.description.checks import check
from symgen.description.reading import compose
from symgen.errors import ModelError


def model(text: str) -> RobotDescription:
    return check(compose(text, "robot.yaml"))


def faults(text: str) -> list[str]:
    """The report on a text, line by line, without the name of the file."""
    with pytest.raises(ModelError) as caught:
        model(text)
    assert caught.value.exit_status == 2
    return [line.removeprefix("robot.yaml:") for line in str(caught.value).splitlines()]


def all_warnings(text: str) -> list[str]:
    return [str(warning).removeprefix("robot.yaml:") for warning in model(text).warnings]


def warnings(text: str) -> list[str]:
    """All but that of masses without inertia, which models for tests often are."""
    return [warning for warning in all_warnings(text) if "a mass without 'inertia'" not in warning]


def with_header(text: str) -> str:
    """A model in standard DH, whose `text` starts in line 4."""
    return "symgen: 1\nname: robot\nconvention: standard\n" + text


def one_joint(keys: str) -> str:
    """A model of one joint without its frame, whose `keys` start in line 6."""
    keys = "".join(f"    {line}\n" for line in keys.splitlines())
    return with_header(f"joints:\n  - name: a\n{keys}")


def one_link(link: str) -> str:
    """A model of one joint, whose link is in line 7."""
    return one_joint(f"type: revolute\nlink: {link}\ndh: {{}}")


def rows(table: Mapping[str, str], text: Callable[[str], str] = str) -> list[ParameterSet]:
    """Cases of a table: the text of a model, made of a key, and the report on it."""
    return [pytest.param(text(key), report, id=repr(key)[:50]) for key, report in table.items()]
