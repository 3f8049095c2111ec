"""Legal names of a model, and the name space of joints and links."""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from symgen.description.expressions import ARITIES, CONSTANTS
from symgen.description.findings import Findings
from symgen.description.model import names_made
from symgen.description.schema import MAX_NAME, NAME_PATTERN, JointTable, RobotTable, readable
from symgen.description.wording import KeyPath, shown

BASE = "base"
_PATTERN = re.compile(NAME_PATTERN)
_QUOTES = frozenset("\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb")  # of word processors

# C99 and C11, the new words of C23 (the default of recent compilers), and `asm`, which every
# compiler reserves in its default mode.  Names that begin with an underscore are illegal anyway.
_C_WORDS = """
    auto break case char const continue default do double else enum extern float for goto if
    inline int long register restrict return short signed sizeof static struct switch typedef
    union unsigned void volatile while
    alignas alignof bool constexpr false nullptr static_assert thread_local true typeof
    typeof_unqual
    asm
"""
C_KEYWORDS = frozenset(_C_WORDS.split())


def illegal_name(name: str) -> str | None:
    """Explain why `name` cannot be a name in generated Python and C; None if it can."""
    if not _QUOTES.isdisjoint(name):
        return f"{shown(name)}: these quotes belong to the name; leave them out, or write \" or '"
    if not _PATTERN.fullmatch(name):
        return (
            f"{shown(name)} is not a name; a name starts with a letter (A-Z, a-z), followed by "
            "letters, digits and '_'"
        )
    if len(name) > MAX_NAME:
        return f"the name {shown(name)} has {len(name)} characters; {MAX_NAME} are allowed"
    if keyword.iskeyword(name):
        return f"{shown(name)} is a keyword of Python; choose another name"
    if name in C_KEYWORDS:
        return f"{shown(name)} is a keyword of C; choose another name"
    return None


def illegal_parameter_name(name: str) -> str | None:
    """Explain why `name` cannot be a parameter; None if it can."""
    if name in ARITIES:
        return f"{shown(name)} is a function in expressions; choose another name"
    if name in CONSTANTS:
        return f"{shown(name)} is a constant in expressions; choose another name"
    return illegal_name(name)


class UniqueNames:
    """A name space of legal names; messages call a name `what`."""

    def __init__(self, what: str, findings: Findings) -> None:
        self.what, self.findings = what, findings
        self.paths: dict[str, KeyPath] = {}

    def check(self, name: str | None, path: KeyPath) -> None:
        """Report the fault of a name at `path`, if any."""
        if name is None:
            return
        problem = illegal_name(name)
        if name in self.paths:
            _, line = self.findings.document.where(self.paths[name])
            problem = f"{shown(name)} is already {self.what}, in line {line}"
        if problem:
            self.findings.fault(path, problem)
        self.paths.setdefault(name, path)


@dataclass
class NameSpace:
    """The names of all joints and links.

    `owners` maps a name to its joint (by index) and its path; `links` has the name of each joint's
    link, "" where it is faulty.  `complete` is False if a name could not be read, so that no
    reference can be called wrong.
    """

    findings: Findings
    owners: dict[str, tuple[int, KeyPath]] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    complete: bool = True

    def add(self, name: str | None, index: int, path: KeyPath) -> None:
        """Add a name of joint `index`, at `path`."""
        if name is None:
            self.complete = False
            return
        problem = illegal_name(name)
        if name == BASE:
            problem = f"{shown(name)} is reserved for the base of the robot; choose another name"
        elif name in self.owners:
            _, line = self.findings.document.where(self.owners[name][1])
            problem = (
                f"{shown(name)} is already the name of a joint or link, in line {line}; joints "
                "and links share one name space"
            )
        if problem is not None:
            self.findings.fault(path, problem)
        self.owners.setdefault(name, (index, path))

    def check_coordinates(self, joint: str, names: Sequence[str], path: KeyPath) -> None:
        """Report generated names of coordinates that are in use or too long."""
        for name in names:
            if name in self.owners:
                _, line = self.findings.document.where(self.owners[name][1])
                self.findings.fault(
                    path,
                    f"{shown(name)}, a coordinate of this joint, is already the name of a joint or "
                    f"link, in line {line}",
                )
            elif len(joint) <= MAX_NAME < len(name):
                self.findings.fault(
                    path,
                    f"the coordinates of this joint would be called {shown(name)} and so on; "
                    f"{MAX_NAME - len(name) + len(joint)} characters are allowed here",
                )
                return

    def parent(self, name: str, index: int) -> str:
        """Resolve the parent `name` of joint `index` to a link; "" if there is none."""
        path: KeyPath = ("joints", index, "parent")
        if name == BASE:
            return BASE
        if name not in self.owners:
            if self.complete:
                before = (word for word, (owner, _) in self.owners.items() if owner < index)
                hint = self.findings.did_you_mean(name, chain(before, [BASE]))
                hint = hint or "; expected the name of such a one, or base"
                message = f"{shown(name)} names no joint or link listed before{hint}"
                self.findings.fault(path, message)
            return ""
        owner, place = self.owners[name]
        if owner == index:
            self.findings.fault(path, f"{shown(name)} is this joint itself, or its own link")
        elif owner > index:
            self.findings.fault(
                path,
                f"{shown(name)} is listed later, in line {self.findings.document.where(place)[1]}; "
                "a parent is listed before its children, and there are no loops",
            )
        return self.links[owner]

    @cached_property
    def _link_names(self) -> frozenset[str]:
        """All links, after the last was added."""
        return frozenset(self.links)

    def link(self, name: str, path: KeyPath) -> str:
        """Resolve the name of a link or of the base; "", and a fault, if there is none."""
        if name == BASE or name in self._link_names:
            return name
        if name in self.owners:
            link = self.links[self.owners[name][0]]
            if link:
                message = f"{shown(name)} is a joint; its link is called {shown(link)}"
                self.findings.fault(path, message)
        elif self.complete:
            hint = self.findings.did_you_mean(name, chain(self.links, [BASE]))
            hint = hint or "; expected the name of a link, or base"
            self.findings.fault(path, f"{shown(name)} names no link{hint}")
        return ""


def name_space(robot: RobotTable, findings: Findings) -> NameSpace:
    """Collect the names of all joints and links; a link without a name has its joint's."""
    names = NameSpace(findings, complete=robot.joints is not None or not robot.gives("joints"))
    for index, joint in enumerate(robot.joints or []):
        names.links.append(_add_joint(joint, index, names))
    for index, joint in readable(robot.joints):
        if joint.name is not None and joint.kind is not None:
            made = names_made(joint.name, joint.kind)
            names.check_coordinates(joint.name, made, ("joints", index, "name"))
    return names


def _add_joint(joint: JointTable | None, index: int, names: NameSpace) -> str:
    path: KeyPath = ("joints", index)
    if joint is None:
        names.complete = False
        return ""
    names.add(joint.name, index, (*path, "name"))
    link = joint.link
    if link is None or not link.gives("name"):
        if joint.gives("link") and link is None:
            names.complete = False  # the link is faulty, and with it perhaps its name
        return joint.name or ""
    if link.name is None or link.name != joint.name:
        names.add(link.name, index, (*path, "link", "name"))
    return link.name or ""
