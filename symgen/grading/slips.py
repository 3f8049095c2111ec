"""Usual mistakes, represented by changed robots.

Every slip is a change of the robot or of its state.  If an answer agrees identically with the truth
about the changed robot, the student has made this slip.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from symgen.description.expressions import ZERO, Expression, Node, Operation
from symgen.description.model import JointDescription, RobotDescription, Triple
from symgen.grading.truth import UNCHANGED, Changed

Six = tuple[Expression, Expression, Expression, Expression, Expression, Expression]
NOTHING: Triple = (ZERO, ZERO, ZERO)


@dataclass(frozen=True)
class Slip:
    """A mistake in words, and the robot for which the answer would be right."""

    words: str
    description: RobotDescription
    changed: Changed = UNCHANGED


def slips_of(description: RobotDescription, links: bool = True) -> Iterator[Slip]:
    """Yield the slips for a robot, the most usual first, with or without those about `links`."""
    yield from _of_state(description)
    yield from _of_gravity(description)
    for place, joint in enumerate(description.joints if links else ()):
        for words, changed in _of_link(joint, _ends(description, joint.link.name)):
            joints = list(description.joints)
            joints[place] = changed
            yield Slip(words, replace(description, joints=tuple(joints)))


def _of_state(description: RobotDescription) -> Iterator[Slip]:
    yield Slip("velocity terms are missing", description, Changed(("qd",)))
    yield Slip("acceleration terms are missing", description, Changed(("qdd",)))
    yield Slip("the loads are missing", description, Changed(("loads",)))
    if any(joint.manifold is not None for joint in description.joints):
        yield from _of_quaternions(description)
    elif len(description.joints) > 1:
        words = (
            "angles are measured from the base; a coordinate is measured from the link before "
            "(wrong frame)"
        )
        yield Slip(words, description, Changed(absolute=True))


def _of_quaternions(description: RobotDescription) -> Iterator[Slip]:
    first = ((1, 1), (2, 1), (3, 1), (0, 1))
    words = "quaternions are read as w x y z; here they are x y z w (order of a quaternion)"
    yield Slip(words, description, Changed(turned=first))
    conjugate = ((0, -1), (1, -1), (2, -1), (3, 1))
    words = (
        "quaternions turn the other way: they carry axes of the link into those of the joint "
        "(conjugate of a quaternion)"
    )
    yield Slip(words, description, Changed(turned=conjugate))


def _of_gravity(description: RobotDescription) -> Iterator[Slip]:
    x, y, z = (_negative(part) for part in description.gravity)
    yield Slip("gravity has the wrong sign", replace(description, gravity=(x, y, z)))
    yield Slip("gravity is missing", replace(description, gravity=NOTHING))


def _ends(description: RobotDescription, link: str) -> dict[str, Triple]:
    """Return the places, in link axes, of what is attached to a link, by name."""
    placed = [(x.parent, x.name, x.origin.xyz) for x in description.joints if x.origin is not None]
    placed += [(x.link, x.name, x.point) for x in (*description.points, *description.loads)]
    return {name: place for carrier, name, place in placed if carrier == link}


def _of_link(
    joint: JointDescription, ends: Mapping[str, Triple]
) -> Iterator[tuple[str, JointDescription]]:
    """Yield the slips about one link, each with the changed joint."""
    link = joint.link
    name, nothing = link.name, (ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)
    x, y, z = (_combined("+", c, o) for c, o in zip(link.com, _offset(joint), strict=True))
    steiner = _steiner(link.mass, (x, y, z))

    def changed(words: str, **entries: Any) -> tuple[str, JointDescription]:
        return words, replace(joint, link=replace(link, **entries))

    words = f"the link {name} is left out (missing child)"
    yield changed(words, mass=ZERO, com=NOTHING, inertia=nothing)
    words = (
        f"the inertia of {name} is taken as if it were about its joint (moment about the wrong "
        "point: m r^2 is missing)"
    )
    yield changed(words, inertia=_summed(link.inertia, steiner, "-"))
    words = f"m r^2 of {name} is counted twice (moment about the wrong point)"
    yield changed(words, inertia=_summed(link.inertia, steiner, "+"))
    yield changed(f"the inertia of {name} about its centre of mass is missing", inertia=nothing)
    yield changed(f"the mass of {name} is missing", mass=ZERO)
    for end, place in ends.items():
        yield changed(f"the centre of mass of {name} is taken at its end ({end})", com=place)
    words = f"the centre of mass of {name} is taken at the origin of its frame"
    yield changed(words, com=NOTHING)
    x, y, z = (_negative(part) for part in _offset(joint))
    yield changed(f"the centre of mass of {name} is taken in its joint", com=(x, y, z))
    if joint.dh is not None and joint.dh.convention == "standard":
        x, y, z = (_combined("-", c, o) for c, o in zip(link.com, _offset(joint), strict=True))
        words = (
            f"the centre of mass of {name} is measured from its joint, not from the link's frame "
            "at the far end (wrong frame)"
        )
        yield changed(words, com=(x, y, z))
    if any(entry.root != ZERO.root for entry in link.inertia[3:]):
        xx, yy, zz, *products = link.inertia
        xy, xz, yz = (_negative(entry) for entry in products)
        words = f"products of inertia of {name} have the wrong sign"
        yield changed(words, inertia=(xx, yy, zz, xy, xz, yz))


def _offset(joint: JointDescription) -> Triple:
    """From a joint to its link's frame origin, in link axes (DH)."""
    row = joint.dh
    if row is None or row.convention != "standard":
        return NOTHING
    sine, cosine = (
        _expression(Operation(name, (row.alpha.root,)), row.alpha) for name in ("sin", "cos")
    )
    return row.a, _combined("*", row.d, sine), _combined("*", row.d, cosine)


def _steiner(mass: Expression, r: Triple) -> Six:
    """Entries xx, yy, zz, xy, xz, yz of m (r^2 1 - r r^T)."""
    x, y, z = r

    def times(a: Expression, b: Expression) -> Expression:
        return _combined("*", mass, _combined("*", a, b))

    squares = [times(part, part) for part in (x, y, z)]
    return (
        _combined("+", squares[1], squares[2]),
        _combined("+", squares[0], squares[2]),
        _combined("+", squares[0], squares[1]),
        _negative(times(x, y)),
        _negative(times(x, z)),
        _negative(times(y, z)),
    )


def _summed(first: Six, second: Six, operator: str) -> Six:
    xx, yy, zz, xy, xz, yz = (_combined(operator, a, b) for a, b in zip(first, second, strict=True))
    return xx, yy, zz, xy, xz, yz


def _combined(operator: str, first: Expression, second: Expression) -> Expression:
    """Apply an operator; operands that are 0 are eliminated, so that structure is kept."""
    zeros = first.root == ZERO.root, second.root == ZERO.root
    if operator == "*" and any(zeros):
        return ZERO
    if operator in "+-" and zeros[1]:
        return first
    if operator == "+" and zeros[0]:
        return second
    return _expression(Operation(operator, (first.root, second.root)), first, second)


def _negative(operand: Expression) -> Expression:
    if operand.root == ZERO.root:
        return operand
    return _expression(Operation("neg", (operand.root,)), operand)


def _expression(root: Node, *parts: Expression) -> Expression:
    names = tuple(dict.fromkeys(name for part in parts for name in part.names))
    return Expression("", root, names)
