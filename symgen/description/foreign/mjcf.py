"""MJCF, the format of MuJoCo -> the document of a model file.

| MJCF | model file |
| --- | --- |
| worldbody | `base` |
| body | a link; without joints on a fixed joint; several joints make a chain with massless links |
| joint hinge, slide | revolute, prismatic; the origin of the link frame is `pos` |
| joint ball, free | spherical, floating: angles in place of quaternions, with a warning |
| joint ref | turned into the joint's frame, so that both count the coordinate from the same zero |
| range; damping, frictionloss, armature, stiffness and springref | `limits`; joint terms |
| inertial | `mass`, `com`, `inertia`, turned into the axes of the link frame |
| option gravity | `gravity` |

Defaults with their classes, and all ways to write an orientation, are read.  Not read, and refused:
<include>, <frame>, <replicate>, <attach>, bodies whose mass MuJoCo would take from geoms, and
global coordinates.  Constraints of <equality> and <tendon> are left out with a warning; actuators,
sensors, contacts and looks say nothing here.

Source: the XML reference of MuJoCo (mujoco.readthedocs.io/en/stable/XMLreference.html).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from symgen.description.foreign.legal import LegalNames, name_of_robot
from symgen.description.foreign.nodes import inertia, listing, table, text
from symgen.description.foreign.rotations import (
    Matrix,
    about,
    from_axis_angle,
    from_quaternion,
    to_rpy,
    turned,
    unit,
)
from symgen.description.foreign.xml import MOST_JOINTS, Element, Faults, number, stop, values
from symgen.description.names import BASE
from symgen.description.reading import Document, Node, Scalar, Table
from symgen.description.wording import KeyPath, shown
from symgen.joints import joint_type

TYPES = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical", "free": "floating"}
_REFUSED = ("include", "frame", "replicate", "attach", "composite", "flexcomp")
_LEFT_OUT = ("equality", "tendon")
_FLAT = "let MuJoCo write the model as it understands it: mujoco.mj_saveLastXML(path, model)"
_MEDIA = ("density", "viscosity", "wind")
_CHANGES_MASSES = ("settotalmass", "boundmass", "boundinertia", "balanceinertia")
_OF_JOINTS = (
    "type", "pos", "axis", "ref", "range", "limited", "stiffness", "springref", "springdamper",
    "damping", "armature", "frictionloss",
)  # fmt: skip
_ORIENTATIONS = {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}
_INERTIAS = {"diaginertia": 3, "fullinertia": 6}


@dataclass(frozen=True)
class _Pose:
    """A place and an orientation."""

    at: Matrix
    turn: Matrix

    def __matmul__(self, other: _Pose) -> _Pose:
        return _Pose(self.at + self.turn @ other.at, self.turn @ other.turn)


_HERE = _Pose(np.zeros(3), np.eye(3))


@dataclass
class _Reading:
    """The file with its settings, and what has been made of it."""

    file: str
    root: Element
    faults: Faults
    names: LegalNames
    degrees: bool = True
    sequence: str = "xyz"
    gravity: list[Scalar] | None = None
    weightless: bool = False
    defaults: dict[str, dict[str, str]] = field(default_factory=dict)
    joints: list[Node] = field(default_factory=list)
    places: dict[KeyPath, str] = field(default_factory=dict)
    bodies: int = 0

    def angle(self, value: float) -> float:
        """An angle of the file in rad."""
        return math.radians(value) if self.degrees else value

    def link_name(self, body: Element, name: str) -> str:
        """The name of the link of a body."""
        own = body.attributes.get("name", "").strip()
        return self.names.new("link", own) if own else self.names.made("link", name)

    def add(self, joint: Table, key: str) -> None:
        """One joint of the model; `key` is what messages call it and its link."""
        self.places["joints", len(self.joints)] = key
        self.joints.append(joint)


def document_of_mjcf(root: Element, file: str) -> Document:
    """The document of a <mujoco>; `ModelError` lists everything that is wrong with it."""
    reading = _Reading(file, root, Faults(file), LegalNames(_all_names(root)))
    _refuse(reading)
    _take_settings(reading)
    reading.faults.raise_if_any()
    for body in _bodies_of_world(reading):
        _take_bodies(reading, body)
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


def _refuse(reading: _Reading) -> None:
    lines: dict[tuple[str, str], int] = {}
    for element in _everything(reading.root):
        kind, name = element.tag.removeprefix("free"), element.attributes.get("name", "").strip()
        if kind in ("body", "joint") and name:
            if (kind, name) in lines:
                message = f"{shown(name)} is a {kind} already, in line {lines[kind, name]}"
                reading.faults.add(element, kind, message)
            lines.setdefault((kind, name), element.line)
        if element.tag in _REFUSED:
            message = f"<{element.tag}> is not available; {_FLAT}"
            reading.faults.add(element, element.tag, message)
    for tag in _LEFT_OUT:
        for element in reading.root.all(tag):
            if element.children:
                reading.faults.warn(element, tag, "these constraints are left out")


# ------------------------------------------------------------------------------------- settings


def _take_settings(reading: _Reading) -> None:
    """Of several elements of one kind the later one overrides what the former one says."""
    for compiler in reading.root.all("compiler"):
        _take_compiler(reading, compiler)
    for option in reading.root.all("option"):
        for name in _MEDIA:
            if name in option.attributes:
                reading.faults.warn(option, "option", f"{name} is left out")
        if any(flag.attributes.get("gravity") == "disable" for flag in option.all("flag")):
            reading.weightless = True
        gravity = reading.faults.numbers(option, "gravity", "option", 3)
        reading.gravity = gravity or reading.gravity
    none: dict[str, str] = {}
    waiting = [(x, "main", none) for x in reversed(list(reading.root.all("default")))]
    while waiting:
        element, name, inherited = waiting.pop()
        name = element.attributes.get("class", name)
        joint = element.first("joint")
        own = {} if joint is None else joint.attributes
        own = {key: value for key, value in own.items() if key in _OF_JOINTS}
        reading.defaults[name] = {**inherited, **reading.defaults.get(name, {}), **own}
        inner = reversed(list(element.all("default")))
        waiting += [(x, name, reading.defaults[name]) for x in inner]


def _take_compiler(reading: _Reading, compiler: Element) -> None:
    given, faults = compiler.attributes, reading.faults
    angle = given.get("angle", "degree" if reading.degrees else "radian")
    if angle not in ("degree", "radian"):
        message = f"angle: expected degree or radian, found {shown(angle)}"
        faults.add(compiler, "compiler", message)
    reading.degrees = angle == "degree"
    reading.sequence = given.get("eulerseq", reading.sequence)
    if len(reading.sequence) != 3 or set(reading.sequence.lower()) - set("xyz"):
        message = f"eulerseq: expected three of x, y, z, X, Y, Z, found {shown(given['eulerseq'])}"
        faults.add(compiler, "compiler", message)
    if given.get("coordinate", "local") != "local":
        faults.add(compiler, "compiler", f"global coordinates are not read; {_FLAT}")
    if given.get("inertiafromgeom") == "true":
        faults.add(compiler, "compiler", f"inertiafromgeom: geoms are not read; {_FLAT}")
    for name in _CHANGES_MASSES:
        if name in given and given[name] not in ("false", "0", "-1"):
            message = f"{name} changes masses when the model is compiled; {_FLAT}"
            faults.add(compiler, "compiler", message)


def _attributes(reading: _Reading, joint: Element, inherited: str) -> dict[str, str]:
    """Those of a joint, with the defaults of its class."""
    if joint.tag == "freejoint":
        return joint.attributes
    name = joint.attributes.get("class", inherited)
    if name not in reading.defaults and name != "main":
        hint = reading.faults.hint(name, reading.defaults)
        reading.faults.add(joint, "joint", f"there is no default class {shown(name)}{hint}")
    return {**reading.defaults.get(name, {}), **joint.attributes}


# --------------------------------------------------------------------------------------- bodies


def _bodies_of_world(reading: _Reading) -> list[Element]:
    worlds = list(reading.root.all("worldbody"))
    if not worlds:
        reading.faults.add(reading.root, "", "a model needs a <worldbody>")
    return [body for world in worlds for body in world.all("body")]


def _take_bodies(reading: _Reading, top: Element) -> None:
    """A body and all that it carries, depth first."""
    waiting = [(top, _Carrier(BASE, _HERE, moves=False), "main")]
    while waiting:
        body, parent, inherited = waiting.pop()
        inherited = body.attributes.get("childclass", inherited)
        carrier = _take_body(reading, body, parent, inherited)
        waiting += [(x, carrier, inherited) for x in reversed(list(body.all("body")))]


@dataclass(frozen=True)
class _Carrier:
    """A link, the pose of its body's frame in the link's, and whether it ever moves."""

    link: str
    behind: _Pose
    moves: bool


def _take_body(reading: _Reading, body: Element, carrier: _Carrier, inherited: str) -> _Carrier:
    """The joints and the link of a body."""
    reading.bodies += 1
    if reading.bodies > MOST_JOINTS:
        raise stop(reading.file, 0, f"more than {MOST_JOINTS} bodies; no robot is that large")
    name = _name_of_body(reading, body)
    key = f"body.{name}"
    if "gravcomp" in body.attributes:
        reading.faults.warn(body, key, "gravcomp is left out")
    pose = carrier.behind @ _pose(reading, body, key)
    joints = [
        _Joint.of(reading, x, name, inherited)
        for x in body.children
        if x.tag in ("joint", "freejoint")
    ]
    if not joints:
        fixed = reading.names.made("joint", f"{name}_fixed")
        link = reading.link_name(body, name)
        content = _link(reading, body, link, _HERE, carrier.moves)
        reading.add(_joint(fixed, "fixed", carrier.link, pose, content, body), key)
        return _Carrier(link, _HERE, carrier.moves)
    if any(joint.is_free for joint in joints) and (len(joints) > 1 or carrier.link != BASE):
        message = "a free joint is the only joint of a body of the world"
        reading.faults.add(body, key, message)
    return _take_joints(reading, body, joints, carrier.link, pose)


def _take_joints(
    reading: _Reading, body: Element, joints: list[_Joint], parent: str, pose: _Pose
) -> _Carrier:
    """The joints of a body, one after the other, with massless links in between."""
    name, behind = _name_of_body(reading, body), pose
    for count, joint in enumerate(joints, start=1):
        last = count == len(joints)
        if joint.is_free:
            behind = _HERE  # its coordinates place the body in the world
        anchor = joint.anchor
        place = behind @ _Pose(anchor, np.eye(3)) @ joint.at_zero
        behind = _Pose(-anchor, np.eye(3))
        coordinates = joint_type(joint.kind).coordinates
        if joint.element.attributes.get("name", "").strip():
            new = reading.names.new("joint", joint.name, coordinates)
        else:
            new = reading.names.made("joint", joint.name, coordinates)
        if last:
            link = reading.link_name(body, name)
            content = _link(reading, body, link, behind, True)
        else:
            link = reading.names.made("link", f"{name}_{count}")
            content = _massless(link, joint.element)
        more = joint.entries()
        added = _joint(new, joint.kind, parent, place, content, joint.element, more)
        reading.add(added, joint.key)
        parent = link
    return _Carrier(parent, behind, True)


def _name_of_body(reading: _Reading, body: Element) -> str:
    """Its own name, or one by its number."""
    return body.attributes.get("name", "").strip() or f"body_{reading.bodies}"


def _massless(link: str, element: Element) -> Table:
    return table({"name": text(link, element.line)}, element.line)


def _joint(
    name: str,
    kind: str,
    parent: str,
    pose: _Pose,
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


def _origin(pose: _Pose, line: int) -> Table:
    def triple(entries: Sequence[float]) -> Node | None:
        given = [float(x) for x in entries]
        return listing([number(x + 0.0, line) for x in given], line) if any(given) else None

    return table({"xyz": triple(pose.at.tolist()), "rpy": triple(to_rpy(pose.turn))}, line)


@dataclass(frozen=True)
class _Joint:
    """A joint of MJCF, with its defaults: `anchor` and `axis` are in the body's frame."""

    reading: _Reading
    element: Element
    attributes: dict[str, str]
    name: str
    mujoco_type: str
    anchor: Matrix
    axis: list[Scalar]

    @classmethod
    def of(cls, reading: _Reading, element: Element, body: str, inherited: str) -> _Joint:
        """What the element says; faults are recorded here."""
        attributes = _attributes(reading, element, inherited)
        name = element.attributes.get("name", "").strip() or f"{body}_joint"
        filled = Element(element.tag, attributes, element.line)
        kind = "free" if element.tag == "freejoint" else attributes.get("type", "hinge")
        if kind not in TYPES:
            hint = reading.faults.hint(kind, TYPES)
            message = f"no joint type {shown(kind)}{hint}"
            reading.faults.add(element, f"joint.{name}", message)
            kind = "hinge"
        at = reading.faults.numbers(filled, "pos", f"joint.{name}", 3)
        axis = reading.faults.numbers(filled, "axis", f"joint.{name}", 3)
        return cls(
            reading,
            filled,
            attributes,
            name,
            kind,
            np.array(values(at)) if at and kind != "free" else np.zeros(3),
            axis or [number(word, element.line) for word in ("0", "0", "1")],
        )

    @property
    def key(self) -> str:
        """What messages call it."""
        return f"joint.{self.name}"

    @property
    def kind(self) -> str:
        """The type in a model file."""
        return TYPES[self.mujoco_type]

    @property
    def is_free(self) -> bool:
        """Whether it places its body anywhere."""
        return self.mujoco_type == "free"

    @property
    def turns(self) -> bool:
        """Whether its coordinate is an angle."""
        return self.mujoco_type == "hinge"

    @property
    def directed(self) -> bool:
        """Whether it has one coordinate, along or about its axis."""
        return self.mujoco_type in ("hinge", "slide")

    @property
    def at_zero(self) -> _Pose:
        """Its motion where the coordinate is 0: MuJoCo counts from `ref`."""
        found = self.numbers("ref", 1) if self.directed else None
        if not found or not values(found)[0]:
            return _HERE
        ref = values(found)[0]
        try:
            axis = unit(values(self.axis))
        except ValueError:
            return _HERE  # the check of the axis says so
        if self.turns:
            turn = from_axis_angle(axis.tolist(), -self.reading.angle(ref))
            return _Pose(np.zeros(3), turn)
        return _Pose(-ref * axis, np.eye(3))

    def numbers(self, attribute: str, count: int) -> list[Scalar] | None:
        """Numbers of an attribute, its own or a default; None where it is not given."""
        return self.reading.faults.numbers(self.element, attribute, self.key, count)

    def term(self, attribute: str, is_angle: bool = False) -> Scalar | None:
        """A number that is not 0; angles in rad."""
        found = self.numbers(attribute, 1)
        if not found or not values(found)[0]:
            return None
        if is_angle and self.turns and self.reading.degrees:
            return number(math.radians(values(found)[0]), self.element.line)
        return found[0]

    def entries(self) -> dict[str, Node | None]:
        """What the model file says of it beside name, type, parent and origin."""
        stiffness = self.term("stiffness")
        terms: dict[str, Node | None] = {
            "rotor_inertia": self.term("armature"),
            "damping": self.term("damping"),
            "stiffness": stiffness,
            "rest": self.term("springref", is_angle=True) if stiffness else None,
            "friction": self.term("frictionloss"),
        }
        if "springdamper" in self.attributes:
            self.reading.faults.warn(self.element, self.key, "springdamper is left out")
        if not self.directed:
            if stiffness is not None:
                self.reading.faults.warn(self.element, self.key, "stiffness is left out")
            self.reading.faults.warn(
                self.element,
                self.key,
                f"a {self.mujoco_type} joint has angles (about z, y and x, one after the other) "
                "here, and a quaternion in MuJoCo",
            )
            return {k: x for k, x in terms.items() if k not in ("stiffness", "rest")}
        return {"axis": listing(self.axis, self.element.line), "limits": self.limits(), **terms}

    def limits(self) -> Table | None:
        """The range of a joint that is limited."""
        found = self.numbers("range", 2)
        if not found or self.attributes.get("limited", "auto") == "false":
            return None
        if not any(values(found)) and "limited" not in self.attributes:
            return None  # a range of 0 to 0 limits nothing
        if self.turns and self.reading.degrees:
            found = [number(math.radians(x), self.element.line) for x in values(found)]
        return table({"lower": found[0], "upper": found[1]}, self.element.line)


# ---------------------------------------------------------------------------------- parts of bodies


def _pose(reading: _Reading, element: Element, key: str) -> _Pose:
    """The pose that an element gives in its parent's frame."""
    at = reading.faults.numbers(element, "pos", key, 3)
    return _Pose(np.array(values(at)) if at else np.zeros(3), _orientation(reading, element, key))


def _orientation(reading: _Reading, element: Element, key: str) -> Matrix:
    given = [name for name in _ORIENTATIONS if name in element.attributes]
    if len(given) > 1:
        reading.faults.add(element, key, f"{' and '.join(given)}: an orientation is given once")
    if not given:
        return np.eye(3)
    found = reading.faults.numbers(element, given[0], key, _ORIENTATIONS[given[0]])
    if found is None:
        return np.eye(3)
    try:
        return _rotation(reading, given[0], np.array(values(found)))
    except ValueError:
        reading.faults.add(element, key, f"{given[0]}: the direction is zero")
        return np.eye(3)


def _rotation(reading: _Reading, name: str, x: Matrix) -> Matrix:
    """The orientation that an attribute means; ValueError where it has no direction."""
    if name == "euler":
        result = np.eye(3)
        for letter, value in zip(reading.sequence, x.tolist(), strict=True):
            turn = about(letter.lower(), reading.angle(value))
            result = result @ turn if letter.islower() else turn @ result
        return result
    if name == "quat":
        return from_quaternion(x.tolist())
    if name == "axisangle":
        return from_axis_angle(x[:3].tolist(), reading.angle(float(x[3])))
    if name == "xyaxes":
        first = unit(x[:3].tolist())
        second = unit((x[3:] - (first @ x[3:]) * first).tolist())
        return np.column_stack([first, second, np.cross(first, second)])
    direction = unit(x.tolist())  # zaxis: the shortest rotation that takes z there
    normal = np.cross([0.0, 0.0, 1.0], direction)
    sine = float(np.linalg.norm(normal))
    axis = normal.tolist() if sine > 1e-100 else [1.0, 0.0, 0.0]
    return from_axis_angle(axis, math.atan2(sine, float(direction[2])))


def _link(reading: _Reading, body: Element, link: str, behind: _Pose, moves: bool) -> Table:
    """The link of a body; `behind` is the pose of the body's frame in the link's."""
    name = _name_of_body(reading, body)
    key = f"body.{name}.inertial"
    inertial, line = body.first("inertial"), body.line
    if inertial is None:
        if moves and body.first("geom") is not None:
            reading.faults.add(
                body,
                f"body.{name}",
                "this body has geoms and no <inertial>; its mass is not computed from them here. "
                + "Give <inertial>, or "
                + _FLAT,
            )
        return table({"name": text(link, line)}, line)
    line, faults = inertial.line, reading.faults
    if faults.text(inertial, "mass", key):
        faults.number(inertial, "mass", key)
    com = behind @ _pose(reading, inertial, key)
    return table(
        {
            "name": text(link, line),
            "mass": faults.number(inertial, "mass", key),
            "com": listing([number(float(x) + 0.0, line) for x in com.at], line),
            "inertia": _inertia(reading, inertial, com.turn, key),
        },
        line,
    )


def _inertia(reading: _Reading, inertial: Element, turn: Matrix, key: str) -> Table | None:
    given = [name for name in _INERTIAS if name in inertial.attributes]
    if len(given) != 1:
        message = "an <inertial> needs either 'diaginertia' or 'fullinertia'"
        reading.faults.add(inertial, key, message)
        return None
    if given == ["fullinertia"] and not _ORIENTATIONS.keys().isdisjoint(inertial.attributes):
        reading.faults.add(inertial, key, "'fullinertia' says its own orientation")
    found = reading.faults.numbers(inertial, given[0], key, _INERTIAS[given[0]])
    if found is None:
        return None
    entries = [*values(found), 0.0, 0.0, 0.0][:6]
    if not np.array_equal(turn, np.eye(3)):
        entries = list(turned(turn, entries))
    return inertia([number(x, inertial.line) for x in entries], inertial.line)


def _document(reading: _Reading) -> Document:
    root, line = reading.root, reading.root.line
    gravity = reading.gravity
    if reading.weightless:
        gravity = [number("0", line)] * 3
    name = name_of_robot(root.attributes.get("model", ""), reading.names)
    if reading.names.changed:
        reading.faults.warn(root, "", reading.names.report())
    content = {
        "symgen": Scalar("1", "int", line),
        "name": text(name, line),
        "gravity": listing(gravity, line),
        "joints": listing(reading.joints, line),
    }
    warnings = tuple(reading.faults.warnings)
    return Document(reading.file, table(content, line), (), warnings, reading.places)
