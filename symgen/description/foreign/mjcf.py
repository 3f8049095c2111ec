"""MJCF, the format of MuJoCo -> the document of a model file, without MuJoCo.

| MJCF | model file |
| --- | --- |
| worldbody | `base` |
| body | a link; without joints on a fixed joint; several joints make a chain with massless links |
| joint hinge, slide | revolute, prismatic, about or along `axis` through `pos` |
| joint ball, free | spherical, floating, with quaternions, or angles where these are asked for |
| joint ref | turned into the joint's frame, so that both count the coordinate from the same zero |
| range; damping, frictionloss, armature, stiffness and springref | `limits`; joint terms |
| inertial, or geoms that are no meshes | `mass`, `com`, `inertia`, turned into body axes |
| option gravity | `gravity` |

Defaults with their classes, and all ways to write an orientation, are read.  Not read, and refused:
<include>, <frame>, <replicate>, <attach>, masses of meshes, and global coordinates: MuJoCo reads
them where it is installed (`symgen.description.foreign.mujoco`).  Constraints, tendons and plugins
are refused by name.  `mjcf_format` lists every entry with its use; what acts on the dynamics but is
left out here (drives with an inertia, flags that disable, media) is named in a warning.

This reader stays beside MuJoCo's compiler for files that the compiler refuses because a mesh is
missing, and for machines without it.

Source: the XML reference of MuJoCo (mujoco.readthedocs.io/en/stable/XMLreference.html).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from symgen.description.foreign.entries import remark
from symgen.description.foreign.legal import LegalNames, name_of_robot
from symgen.description.foreign.mjcf_format import MJCF
from symgen.description.foreign.mjcf_friction import friction_nodes, travel_friction
from symgen.description.foreign.mjcf_geoms import Body, body_of_geoms, entries
from symgen.description.foreign.mjcf_joints import MjcfJoint
from symgen.description.foreign.mjcf_settings import (
    FLAT,
    MAIN,
    ORIENTATIONS,
    Reading,
    check_class,
    only,
    pose_of,
    refuse_constraints,
    take_settings,
)
from symgen.description.foreign.nodes import inertia, listing, table, text
from symgen.description.foreign.rotations import HERE, Matrix, Pose, to_rpy, turned
from symgen.description.foreign.xml import MOST_JOINTS, Element, Faults, number, stop, values
from symgen.description.names import BASE
from symgen.description.reading import Document, Node, Scalar, Table
from symgen.description.wording import shown

_REFUSED = ("include", "frame", "replicate", "attach", "composite", "flexcomp")
_LEFT_OUT = ("equality", "tendon")
_INERTIAS = {"diaginertia": 3, "fullinertia": 6}


def document_of_mjcf(
    root: Element, file: str, without_loops: bool = False, angles: bool = False
) -> Document:
    """The document of a <mujoco>; `ModelError` lists everything that is wrong with it."""
    reading = Reading(file, root, Faults(file), LegalNames(_all_names(root)), angles=angles)
    _refuse(reading, without_loops)
    take_settings(reading)
    reading.faults.raise_if_any()
    for body in _bodies_of_world(reading):
        _take_bodies(reading, body)
    remark(MJCF, [(root, "mujoco", "")], reading.faults)
    reading.faults.raise_if_any()
    return _document(reading)


def _all_names(root: Element) -> list[str]:
    """The names of all bodies and joints."""
    return [
        element.attributes.get("name", "")
        for element in _everything(root)
        if element.tag in ("body", "joint", "freejoint")
    ]


def _everything(root: Element) -> list[Element]:
    found, waiting = [], [root]
    while waiting:
        element = waiting.pop()
        found.append(element)
        waiting += reversed(element.children)
    return found


def _refuse(reading: Reading, without_loops: bool) -> None:
    lines: dict[tuple[str, str], int] = {}
    for element in _everything(reading.root):
        kind, name = element.tag.removeprefix("free"), element.attributes.get("name", "").strip()
        if kind in ("body", "joint") and name:
            if (kind, name) in lines:
                message = f"{shown(name)} is a {kind} already, in line {lines[kind, name]}"
                reading.faults.add(element, kind, message)
            lines.setdefault((kind, name), element.line)
        if element.tag in _REFUSED:
            message = f"<{element.tag}> is not available; {FLAT}"
            reading.faults.add(element, element.tag, message)
    for tag in _LEFT_OUT:
        for element in reading.root.all(tag):
            if element.children:
                _refuse_constraints(reading, element, without_loops)


def _refuse_constraints(reading: Reading, element: Element, without_loops: bool) -> None:
    named = [
        f"{child.tag} {shown(child.attributes['name'])}"
        if "name" in child.attributes
        else child.tag
        for child in element.children
    ]
    closing = ("connect", "weld", "joint")
    hint = "; with MuJoCo installed (pip install 'symgen[mujoco]') loops are read"
    known = all(child.tag in closing for child in element.children)
    refuse_constraints(reading.faults, element, named, without_loops, hint if known else "")


# --------------------------------------------------------------------------------------- bodies


def _bodies_of_world(reading: Reading) -> list[Element]:
    worlds = list(reading.root.all("worldbody"))
    if not worlds:
        reading.faults.add(
            reading.root, "", "a model needs a <worldbody>, which the bodies stand in"
        )
    return [body for world in worlds for body in world.all("body")]


def _take_bodies(reading: Reading, top: Element) -> None:
    """A body and all that it carries, depth first."""
    waiting = [(top, _Carrier(BASE, moves=False), MAIN)]
    while waiting:
        body, parent, inherited = waiting.pop()
        if "childclass" in body.attributes:
            inherited = body.attributes["childclass"]
            check_class(reading, body, inherited, f"body.{body.attributes.get('name', '')}")
        carrier = _take_body(reading, body, parent, inherited)
        waiting += [(x, carrier, inherited) for x in reversed(list(body.all("body")))]


@dataclass(frozen=True)
class _Carrier:
    """The link of a body, and whether it ever moves."""

    link: str
    moves: bool


def _take_body(reading: Reading, body: Element, carrier: _Carrier, inherited: str) -> _Carrier:
    """The joints and the link of a body."""
    reading.bodies += 1
    if reading.bodies > MOST_JOINTS:
        raise stop(reading.file, 0, f"more than {MOST_JOINTS} bodies; no robot is that large")
    name = _name_of_body(reading, body)
    key = f"body.{name}"
    pose = pose_of(reading, body, key)
    joints = [
        MjcfJoint.of(reading, x, name, inherited)
        for x in body.children
        if x.tag in ("joint", "freejoint")
    ]
    if not joints:
        link = _take_fixed(reading, body, carrier.link, pose, inherited, carrier.moves)
        return _Carrier(link, carrier.moves)
    if any(joint.is_free for joint in joints) and (len(joints) > 1 or carrier.link != BASE):
        message = "a free joint is the only joint of a body of the world"
        reading.faults.add(body, key, message)
    return _take_joints(reading, body, joints, carrier.link, pose, inherited)


def _take_fixed(
    reading: Reading, body: Element, parent: str, pose: Pose, inherited: str, moves: bool
) -> str:
    """The link of a body, held where it is in its parent's frame."""
    name = _name_of_body(reading, body)
    fixed = reading.names.made("joint", f"{name}_fixed")
    link = reading.link_name(body, name)
    content = _link(reading, body, link, inherited, moves)
    reading.add(_joint(fixed, "fixed", parent, pose, content, body), f"body.{name}")
    return link


def _take_joints(
    reading: Reading,
    body: Element,
    joints: list[MjcfJoint],
    parent: str,
    pose: Pose,
    inherited: str,
) -> _Carrier:
    """The joints of a body, one after the other, with massless links in between.

    The last one carries the body where it acts at the origin of the body's frame.
    """
    name, behind = _name_of_body(reading, body), pose
    for count, joint in enumerate(joints, start=1):
        last = count == len(joints) and not joint.anchor.any()
        if joint.is_free:
            behind = HERE  # its coordinates place the body in the world
        anchor = joint.anchor
        place = behind @ Pose(anchor, np.eye(3)) @ joint.at_zero
        behind = Pose(-anchor, np.eye(3))
        if joint.element.attributes.get("name", "").strip():
            new = reading.names.new("joint", joint.name, joint.type)
        else:
            new = reading.names.made("joint", joint.name, joint.type)
        if last:
            link = reading.link_name(body, name)
            content = _link(reading, body, link, inherited, True)
        else:
            link = reading.names.made("link", f"{name}_{count}")
            content = _massless(link, joint.element)
        more = joint.entries(pose)
        reading.frictions += travel_friction(joint.mujoco_type, link, more)
        added = _joint(new, joint.kind, parent, place, content, joint.element, more)
        reading.add(added, joint.key)
        parent = link
    if joints[-1].anchor.any():
        parent = _take_fixed(reading, body, parent, behind, inherited, True)
    return _Carrier(parent, True)


def _name_of_body(reading: Reading, body: Element) -> str:
    """Its own name, or one by its number."""
    return body.attributes.get("name", "").strip() or f"body_{reading.bodies}"


def _massless(link: str, element: Element) -> Table:
    return table({"name": text(link, element.line)}, element.line)


def _joint(
    name: str,
    kind: str,
    parent: str,
    pose: Pose,
    link: Table,
    element: Element,
    more: dict[str, Node | None] | None = None,
) -> Table:
    line = element.line
    return table(
        {
            "name": text(name, line),
            "type": text(kind, line),
            "parent": text(parent, line),
            "origin": _origin(pose, line),
            **(more or {}),
            "link": link,
        },
        line,
    )


def _origin(pose: Pose, line: int) -> Table:
    def triple(entries: Sequence[float]) -> Node | None:
        given = [float(x) for x in entries]
        return listing([number(x + 0.0, line) for x in given], line) if any(given) else None

    return table({"xyz": triple(pose.at.tolist()), "rpy": triple(to_rpy(pose.turn))}, line)


def _link(reading: Reading, body: Element, link: str, inherited: str, moves: bool) -> Table:
    """The link of a body, whose frame is the body's."""
    name = _name_of_body(reading, body)
    key = f"body.{name}.inertial"
    inertial, line = only(reading, body, "inertial", key), body.line
    if reading.from_geoms or (inertial is None and not reading.never_from_geoms):
        found = body_of_geoms(reading, body, inherited, f"body.{name}") if moves else None
        if found is not None:
            return _link_of_geoms(link, found, line)
    if inertial is None:
        return table({"name": text(link, line)}, line)
    line, faults = inertial.line, reading.faults
    for attribute in ("mass", "pos"):
        faults.text(inertial, attribute, key)
    com = pose_of(reading, inertial, key)
    return table(
        {
            "name": text(link, line),
            "mass": faults.number(inertial, "mass", key),
            "com": listing([number(float(x) + 0.0, line) for x in com.at], line),
            "inertia": _inertia(reading, inertial, com.turn, key),
        },
        line,
    )


def _link_of_geoms(link: str, body: Body, line: int) -> Table:
    return table(
        {
            "name": text(link, line),
            "mass": number(body.mass, line),
            "com": listing([number(float(x) + 0.0, line) for x in body.com], line),
            "inertia": inertia([number(x, line) for x in entries(body)], line),
        },
        line,
    )


def _inertia(reading: Reading, inertial: Element, turn: Matrix, key: str) -> Table | None:
    given = [name for name in _INERTIAS if name in inertial.attributes]
    if len(given) != 1:
        message = "an <inertial> needs either 'diaginertia' or 'fullinertia'"
        reading.faults.add(inertial, key, message)
        return None
    if given == ["fullinertia"] and not ORIENTATIONS.keys().isdisjoint(inertial.attributes):
        reading.faults.add(inertial, key, "'fullinertia' says its own orientation")
    found = reading.faults.numbers(inertial, given[0], key, _INERTIAS[given[0]])
    if found is None:
        return None
    tensor = [*values(found), 0.0, 0.0, 0.0][:6]
    if not np.array_equal(turn, np.eye(3)):
        tensor = list(turned(turn, tensor))
    return inertia([number(x, inertial.line) for x in tensor], inertial.line)


def _document(reading: Reading) -> Document:
    root, line = reading.root, reading.root.line
    gravity = reading.gravity
    if reading.weightless:
        gravity = [number("0", line)] * 3
    points, forces = friction_nodes(reading.frictions, LegalNames())
    name = name_of_robot(root.attributes.get("model", ""), reading.names)
    if reading.names.changed:
        reading.faults.warn(root, "", reading.names.report())
    content = {
        "symgen": Scalar("1", "int", line),
        "name": text(name, line),
        "gravity": listing(gravity, line),
        "joints": listing(reading.joints, line),
        "points": listing(points, line) if points else None,
        "forces": listing(forces, line) if forces else None,
    }
    warnings = tuple(reading.faults.warnings)
    return Document(reading.file, table(content, line), (), warnings, reading.places)
