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

from symgen.description.foreign.legal import LegalNames
from symgen.description.foreign.nodes import listing, table, text
from symgen.description.foreign.rotations import (
    Matrix,
    about,
    from_axis_angle,
    from_quaternion,
    to_rpy,
    turned,
)
from symgen.description.foreign.xml import Element, Faults, number, values
from symgen.description.names import BASE
from symgen.description.reading import Document, Node, Scalar, Table
from symgen.description.wording import KeyPath, did_you_mean, shown
from symgen.errors import Fault

TYPES = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical", "free": "floating"}
_REFUSED = ("include", "frame", "replicate", "attach", "composite", "flexcomp")
_LEFT_OUT = ("equality", "tendon")
_FLAT = "let MuJoCo write the model as it understands it: mujoco.mj_saveLastXML(path, model)"
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
    defaults: dict[str, dict[str, str]] = field(default_factory=dict)
    warnings: list[Fault] = field(default_factory=list)
    joints: list[Node] = field(default_factory=list)
    places: dict[KeyPath, str] = field(default_factory=dict)
    bodies: int = 0

    def warn(self, element: Element, key: str, message: str) -> None:
        self.warnings.append(Fault(self.file, element.line, key, message))

    def angle(self, value: float) -> float:
        """An angle of the file in rad."""
        return math.radians(value) if self.degrees else value

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
    for element in _everything(reading.root):
        if element.tag in _REFUSED:
            message = f"<{element.tag}> is not available; {_FLAT}"
            reading.faults.add(element, element.tag, message)
    for tag in _LEFT_OUT:
        for element in reading.root.all(tag):
            if element.children:
                reading.warn(element, tag, "these constraints are left out")


# ------------------------------------------------------------------------------------- settings


def _take_settings(reading: _Reading) -> None:
    for compiler in reading.root.all("compiler"):
        given = compiler.attributes
        reading.degrees = given.get("angle", "degree") == "degree"
        reading.sequence = given.get("eulerseq", "xyz")
        if len(reading.sequence) != 3 or set(reading.sequence.lower()) - set("xyz"):
            message = (
                f"eulerseq: expected three of x, y, z, X, Y, Z, found {shown(given['eulerseq'])}"
            )
            reading.faults.add(compiler, "compiler", message)
        if given.get("coordinate", "local") != "local":
            reading.faults.add(compiler, "compiler", f"global coordinates are not read; {_FLAT}")
        if given.get("inertiafromgeom") == "true":
            message = f"inertiafromgeom: geoms are not read; {_FLAT}"
            reading.faults.add(compiler, "compiler", message)
    none: dict[str, str] = {}
    waiting = [(element, "main", none) for element in reading.root.all("default")]
    while waiting:
        element, name, inherited = waiting.pop()
        name = element.attributes.get("class", name)
        joint = element.first("joint")
        reading.defaults[name] = {**inherited, **(joint.attributes if joint else {})}
        waiting += [(x, name, reading.defaults[name]) for x in element.all("default")]


def _attributes(reading: _Reading, joint: Element, inherited: str) -> dict[str, str]:
    """Those of a joint, with the defaults of its class."""
    name = joint.attributes.get("class", inherited)
    if name not in reading.defaults and name != "main":
        hint = did_you_mean(name, reading.defaults)
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
    waiting = [(top, BASE, _HERE, "main")]
    while waiting:
        body, parent, ahead, inherited = waiting.pop()
        inherited = body.attributes.get("childclass", inherited)
        link, behind = _take_body(reading, body, parent, ahead, inherited)
        waiting += [(x, link, behind, inherited) for x in reversed(list(body.all("body")))]


def _take_body(
    reading: _Reading, body: Element, parent: str, ahead: _Pose, inherited: str
) -> tuple[str, _Pose]:
    """The joints and the link of a body; the link, and the pose of the body's frame in its frame.

    `ahead` is that pose of the parent.
    """
    reading.bodies += 1
    name = body.attributes.get("name", "").strip() or f"body_{reading.bodies}"
    key = f"body.{name}"
    pose = ahead @ _pose(reading, body, key)
    joints = [x for x in body.children if x.tag in ("joint", "freejoint")]
    if not joints:
        fixed = reading.names.new("joint", f"{name}_fixed")
        link = reading.names.new("link", name)
        reading.add(
            _joint(fixed, "fixed", parent, pose, _link(reading, body, link, _HERE), body), key
        )
        return link, _HERE
    behind = _HERE
    for count, element in enumerate(joints, start=1):
        last = count == len(joints)
        attributes = _attributes(reading, element, inherited)
        own = element.attributes.get("name", "").strip()
        own = own or (f"{name}_joint" if len(joints) == 1 else f"{name}_joint_{count}")
        joint = _Joint(reading, element, attributes, f"joint.{own}")
        if joint.kind == "floating":
            pose, behind = _HERE, _HERE  # its coordinates place the body in the world
        anchor = _Pose(joint.anchor, np.eye(3))
        place = (pose if count == 1 else behind) @ anchor @ joint.at_zero
        behind = _Pose(-joint.anchor, np.eye(3))
        link = reading.names.new("link", name if last else f"{name}_{count}")
        content = _link(reading, body, link, behind) if last else _massless(link, element)
        new = reading.names.new("joint", own)
        more = joint.entries()
        reading.add(_joint(new, joint.kind, parent, place, content, element, more), joint.key)
        parent = link
    return parent, behind


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
    """A joint of MJCF, with its defaults."""

    reading: _Reading
    element: Element
    attributes: dict[str, str]
    key: str

    @property
    def mujoco_type(self) -> str:
        """hinge, slide, ball or free."""
        if self.element.tag == "freejoint":
            return "free"
        kind = self.attributes.get("type", "hinge")
        if kind not in TYPES:
            hint = did_you_mean(kind, TYPES) or f"; there are {', '.join(TYPES)}"
            self.reading.faults.add(self.element, self.key, f"no joint type {shown(kind)}{hint}")
        return kind if kind in TYPES else "hinge"

    @property
    def kind(self) -> str:
        """The type in a model file."""
        return TYPES[self.mujoco_type]

    @property
    def turns(self) -> bool:
        """Whether its coordinate is an angle."""
        return self.mujoco_type == "hinge"

    @property
    def directed(self) -> bool:
        """Whether it has one coordinate, along or about its axis."""
        return self.mujoco_type in ("hinge", "slide")

    @property
    def anchor(self) -> Matrix:
        """The point that it acts in, in the body's frame."""
        found = self.numbers("pos", 3)
        return np.array(values(found)) if found and self.mujoco_type != "free" else np.zeros(3)

    @property
    def axis(self) -> list[Scalar]:
        """Its axis in the body's frame."""
        found = self.numbers("axis", 3)
        return found or [number(word, self.element.line) for word in ("0", "0", "1")]

    @property
    def at_zero(self) -> _Pose:
        """Its motion where the coordinate is 0: MuJoCo counts from `ref`."""
        found = self.numbers("ref", 1) if self.directed else None
        axis = np.array(values(self.axis))
        if not found or not values(found)[0] or not np.any(axis):
            return _HERE
        ref = values(found)[0]
        if self.turns:
            return _Pose(np.zeros(3), from_axis_angle(axis.tolist(), -self.reading.angle(ref)))
        return _Pose(-ref * axis / np.linalg.norm(axis), np.eye(3))

    def numbers(self, attribute: str, count: int) -> list[Scalar] | None:
        """Numbers of an attribute, its own or a default; None where it is not given."""
        filled = Element(self.element.tag, self.attributes, self.element.line)
        return self.reading.faults.numbers(filled, attribute, self.key, count)

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
        if not self.directed:
            self.reading.warn(
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
    if not np.any(x if name == "quat" else x[:3]):
        raise ValueError
    if name == "quat":
        return from_quaternion(x.tolist())
    if name == "axisangle":
        return from_axis_angle(x[:3].tolist(), reading.angle(float(x[3])))
    if name == "xyaxes":
        first = x[:3] / np.linalg.norm(x[:3])
        second = x[3:] - (first @ x[3:]) * first
        if not np.linalg.norm(second):
            raise ValueError
        second = second / np.linalg.norm(second)
        return np.column_stack([first, second, np.cross(first, second)])
    direction = x / np.linalg.norm(x)  # zaxis: the shortest rotation that takes z there
    normal = np.cross([0.0, 0.0, 1.0], direction)
    sine = float(np.linalg.norm(normal))
    axis = normal.tolist() if sine else [1.0, 0.0, 0.0]
    return from_axis_angle(axis, math.atan2(sine, float(direction[2])))


def _link(reading: _Reading, body: Element, link: str, behind: _Pose) -> Table:
    """The link of a body; `behind` is the pose of the body's frame in the link's."""
    name = body.attributes.get("name", "").strip() or f"body_{reading.bodies}"
    key = f"body.{name}.inertial"
    inertial, line = body.first("inertial"), body.line
    if inertial is None:
        if body.first("geom") is not None:
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
    names = ("xx", "yy", "zz", "xy", "xz", "yz")
    pairs = {
        name: number(x, inertial.line) for name, x in zip(names, entries, strict=True) if x != 0.0
    }
    return table(pairs, inertial.line)


def _document(reading: _Reading) -> Document:
    root, line = reading.root, reading.root.line
    option = next((x for x in root.all("option") if "gravity" in x.attributes), None)
    gravity = reading.faults.numbers(option, "gravity", "option", 3)
    reading.faults.raise_if_any()
    if reading.names.renamed:
        reading.warn(root, "", reading.names.report())
    name = LegalNames(()).new("robot", root.attributes.get("model", "").strip() or "robot")
    content = {
        "symgen": Scalar("1", "int", line),
        "name": text(name, line),
        "gravity": listing(gravity, line),
        "joints": listing(reading.joints, line),
    }
    warnings = tuple(reading.warnings)
    return Document(reading.file, table(content, line), (), warnings, reading.places)
