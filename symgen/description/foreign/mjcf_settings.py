"""The settings of an MJCF file, and poses as it writes them: what bodies and joints are read with.

Of several elements of one kind the later one overrides what the former one says.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from symgen.description.foreign.kinds import kind_of, representation_of
from symgen.description.foreign.legal import LegalNames
from symgen.description.foreign.mjcf_friction import TravelFriction, of_angular_velocity
from symgen.description.foreign.nodes import listing
from symgen.description.foreign.rotations import (
    Matrix,
    Pose,
    about,
    from_axis_angle,
    from_quaternion,
    product,
    unit,
)
from symgen.description.foreign.xml import MOST_JOINTS, Element, Faults, number, place, stop, values
from symgen.description.reading import Node, Scalar, Table
from symgen.description.wording import KeyPath, shown

FLAT = "with pip install 'symgen[mujoco]' MuJoCo itself compiles the file"
MAIN = "main"
_CHANGES_MASSES = ("settotalmass", "boundmass", "boundinertia", "balanceinertia")
_OF_JOINTS = (
    "type", "pos", "axis", "ref", "range", "limited", "stiffness", "springref", "damping",
    "armature", "frictionloss",
)  # fmt: skip
_OF_GEOMS = (
    "type", "size", "pos", "quat", "axisangle", "euler", "xyaxes", "zaxis", "fromto", "mass",
    "density", "group", "mesh", "shellinertia",
)  # fmt: skip
_WITH_DEFAULTS = {"joint": _OF_JOINTS, "geom": _OF_GEOMS}
TYPES = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical", "free": "floating"}
TERMS = {
    "armature": "rotor_inertia",
    "damping": "damping",
    "frictionloss": "friction",
    "stiffness": "stiffness",
}
"""What drives, bearings and springs are called there and in a model file."""
ORIENTATIONS = {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}


@dataclass
class Reading:
    """The file with its settings, and what has been made of it."""

    file: str
    root: Element
    faults: Faults
    names: LegalNames
    degrees: bool = True
    sequence: str = "xyz"
    gravity: list[Scalar] | None = None
    weightless: bool = False
    defaults: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    """Class -> tag -> attributes."""
    joints: list[Node] = field(default_factory=list)
    frictions: list[TravelFriction] = field(default_factory=list)
    places: dict[KeyPath, str] = field(default_factory=dict)
    bodies: int = 0
    from_geoms: bool = False
    never_from_geoms: bool = False
    groups: tuple[float, float] = (0.0, 5.0)
    auto_limits: bool = True
    angles: bool = False
    """Whether free and ball joints have angles in place of quaternions."""

    def angle(self, value: float) -> float:
        """An angle of the file in rad."""
        return math.radians(value) if self.degrees else value

    def link_name(self, body: Element, name: str) -> str:
        """The name of the link of a body."""
        own = body.attributes.get("name", "").strip()
        return self.names.new("link", own) if own else self.names.made("link", name)

    def add(self, joint: Table, key: str) -> None:
        """One joint of the model; `key` is what messages call it and its link."""
        if len(self.joints) >= MOST_JOINTS:
            raise stop(self.file, 0, f"more than {MOST_JOINTS} joints; no robot is that large")
        self.places["joints", len(self.joints)] = place(key)
        self.joints.append(joint)


def take_settings(reading: Reading) -> None:
    """Of several elements of one kind the later one overrides what the former one says."""
    for compiler in reading.root.all("compiler"):
        _take_compiler(reading, compiler)
    for option in reading.root.all("option"):
        for flag in option.all("flag"):
            words = keyword(reading, flag, "gravity", "option", ("enable", "disable"))
            reading.weightless = words == "disable" or (reading.weightless and words is None)
        gravity = reading.faults.numbers(option, "gravity", "option", 3)
        reading.gravity = gravity or reading.gravity
    _take_defaults(reading)


def _take_defaults(reading: Reading) -> None:
    """Attributes of joints and geoms in every class, which inherits those of the one around it."""
    none: dict[str, dict[str, str]] = {}
    waiting = [(x, "", none) for x in reversed(list(reading.root.all("default")))]
    while waiting:
        element, outer, inherited = waiting.pop()
        name = _class_name(reading, element, outer)
        former = reading.defaults.get(name, {})
        reading.defaults[name] = {
            tag: {
                **inherited.get(tag, {}),
                **former.get(tag, {}),
                **_own_defaults(reading, element, tag),
            }
            for tag in _WITH_DEFAULTS
        }
        inner = reversed(list(element.all("default")))
        waiting += [(x, name, reading.defaults[name]) for x in inner]


def _own_defaults(reading: Reading, element: Element, tag: str) -> dict[str, str]:
    found = only(reading, element, tag, "default")
    own = {} if found is None else found.attributes
    return {key: value for key, value in own.items() if key in _WITH_DEFAULTS[tag]}


def _class_name(reading: Reading, element: Element, outer: str) -> str:
    """The name of a class; there may be several elements of the outermost one, `main`."""
    given = element.attributes.get("class", "" if outer else MAIN)
    if not outer and given != MAIN:
        message = f"the outermost class is called 'main', not {shown(given)}; put it into another"
        reading.faults.add(element, "default", message)
    elif not given:
        reading.faults.add(element, "default", "a <default> in another one needs a class")
    elif outer and given in reading.defaults:
        reading.faults.add(element, "default", f"{shown(given)} is a default class already")
    return given


def only(reading: Reading, element: Element, tag: str, key: str) -> Element | None:
    """The child of that name, of which there may be one."""
    found = list(element.all(tag))
    for other in found[1:]:
        first = found[0].line
        message = f"<{tag}> stands once in a <{element.tag}>, here in line {first} already"
        reading.faults.add(other, key, message)
    return found[0] if found else None


def _take_compiler(reading: Reading, compiler: Element) -> None:
    given, faults = compiler.attributes, reading.faults
    angle = given.get("angle", "degree" if reading.degrees else "radian")
    if angle not in ("degree", "radian"):
        message = f"angle: expected degree or radian, found {shown(angle)}"
        faults.add(compiler, "compiler", message)
    reading.degrees = angle == "degree"
    sequence = given.get("eulerseq", reading.sequence)
    if len(sequence) == 3 and set(sequence.lower()) <= set("xyz"):
        reading.sequence = sequence
    else:
        message = f"eulerseq: expected three of x, y, z, X, Y, Z, found {shown(sequence)}"
        faults.add(compiler, "compiler", message)
    if given.get("coordinate", "local") != "local":
        faults.add(compiler, "compiler", f"global coordinates are not read; {FLAT}")
    words = keyword(reading, compiler, "inertiafromgeom", "compiler")
    reading.from_geoms = words == "true" or (reading.from_geoms and words is None)
    reading.never_from_geoms = words == "false" or (reading.never_from_geoms and words is None)
    groups = faults.numbers(compiler, "inertiagrouprange", "compiler", 2)
    if groups:
        reading.groups = (float(groups[0].text), float(groups[1].text))
    words = keyword(reading, compiler, "autolimits", "compiler", ("true", "false"))
    reading.auto_limits = words == "true" or (reading.auto_limits and words is None)
    for name in _CHANGES_MASSES:
        if name in given and given[name] not in ("false", "0", "-1"):
            message = f"{name} changes masses when the model is compiled; {FLAT}"
            faults.add(compiler, "compiler", message)


def keyword(
    reading: Reading,
    element: Element,
    attribute: str,
    key: str,
    words: Sequence[str] = ("true", "false", "auto"),
) -> str | None:
    """One of a few words; None where it is not given or faulty."""
    given = element.attributes.get(attribute)
    if given is not None and given not in words:
        expected = " or ".join(words)
        message = f"{attribute}: expected {expected}, found {shown(given)}"
        reading.faults.add(element, key, message)
        return None
    return given


def check_class(reading: Reading, element: Element, name: str, key: str) -> None:
    """A class that an element names is one of the file."""
    if name not in reading.defaults and name != MAIN:
        hint = reading.faults.hint(name, reading.defaults)
        reading.faults.add(element, key, f"there is no default class {shown(name)}{hint}")


def attributes_of(reading: Reading, element: Element, inherited: str) -> dict[str, str]:
    """Those of a joint or geom, with the defaults of its class."""
    if element.tag == "freejoint":
        return element.attributes
    name = element.attributes.get("class", inherited)
    if "class" in element.attributes:
        check_class(reading, element, name, element.tag)
    return {**reading.defaults.get(name, {}).get(element.tag, {}), **element.attributes}


def pose_of(reading: Reading, element: Element, key: str) -> Pose:
    """The pose that an element gives in its parent's frame."""
    at = reading.faults.numbers(element, "pos", key, 3)
    return Pose(np.array(values(at)) if at else np.zeros(3), _orientation(reading, element, key))


def _orientation(reading: Reading, element: Element, key: str) -> Matrix:
    given = [name for name in ORIENTATIONS if name in element.attributes]
    if len(given) > 1:
        reading.faults.add(element, key, f"{' and '.join(given)}: an orientation is given once")
    if not given:
        return np.eye(3)
    found = reading.faults.numbers(element, given[0], key, ORIENTATIONS[given[0]])
    if found is None:
        return np.eye(3)
    try:
        return _rotation(reading, given[0], np.array(values(found)))
    except ValueError:
        reading.faults.add(element, key, f"{given[0]}: the direction is zero")
        return np.eye(3)


def _rotation(reading: Reading, name: str, x: Matrix) -> Matrix:
    """The orientation that an attribute means; ValueError where it has no direction."""
    if name == "euler":
        result = np.eye(3)
        for letter, value in zip(reading.sequence, x.tolist(), strict=True):
            turn = about(letter.lower(), reading.angle(value))
            result = product(result, turn) if letter.islower() else product(turn, result)
        return result
    if name == "quat":
        return from_quaternion(x.tolist())
    if name == "axisangle":
        return from_axis_angle(x[:3].tolist(), reading.angle(float(x[3])))
    if name == "xyaxes":
        first = unit(x[:3].tolist())
        second = unit((x[3:] - (first @ x[3:]) * first).tolist())
        return np.column_stack([first, second, np.cross(first, second)])
    return rotation_to(x.tolist())


def rotation_to(zaxis: Sequence[float]) -> Matrix:
    """The shortest rotation that takes z there; ValueError where there is no direction."""
    direction = unit(zaxis)
    normal = np.cross([0.0, 0.0, 1.0], direction)
    sine = float(np.linalg.norm(normal))
    axis = normal.tolist() if sine > 1e-100 else [1.0, 0.0, 0.0]
    return from_axis_angle(axis, math.atan2(sine, float(direction[2])))


# ------------------------------------------------------------- what symgen has no equations for

_MOST_NAMED = 20


def refuse_constraints(
    faults: Faults,
    element: Element,
    named: Sequence[str],
    without_loops: bool,
    hint: str = "",
) -> None:
    """Constraints and tendons, by name: a fault, or a remark where the open tree is asked for."""
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    words = ", ".join(named[:_MOST_NAMED]) + more
    if without_loops:
        faults.warn(element, "", f"left out: {words}")
        return
    message = (
        f"not available: {words}; --without-loops (in Python: without_loops=True) reads the open "
        f"tree without them{hint}"
    )
    faults.add(element, "", message)


_WITH_ANGLES = (
    "MuJoCo means the angular velocity, or the rotation, of the body, and with --angles "
    "the joint has three angles; leave --angles out, or write 0, to go on"
)


def terms_of(
    faults: Faults,
    element: Element,
    key: str,
    kind: str,
    given: Mapping[str, Scalar],
    rest: Node | None,
    angles: bool,
) -> dict[str, Node | None]:
    """What a model file says of a ball or free joint (`kind`) beside its frame.

    `given` are those of the `TERMS` of MuJoCo that are not 0, `rest` is where a spring is slack.
    MuJoCo means the angular velocity in the axes of the body, and the velocity of a free body in
    those of the world, where its armature is an added mass, and `mjcf_friction` has its friction.
    Damping and springs are the same in any axes.
    """
    if given and angles:
        named = " and ".join(given)
        faults.add(element, key, f"{named} of a {kind} joint: {_WITH_ANGLES}")
        return {}
    terms: dict[str, Node | None] = {TERMS[name]: value for name, value in given.items()}
    if kind == "free":
        turning = [name for name in ("armature", "frictionloss") if name in given]
        terms |= {TERMS[name]: of_angular_velocity(given[name]) for name in turning}
        terms["added_mass"] = given.get("armature")
    if "stiffness" in given:
        terms["rest"] = rest
    return {"coordinates": representation_of(kind_of(TYPES[kind], angles), element.line), **terms}


def rest_of(qpos: Sequence[float], line: int) -> Node | None:
    """Where a ball or free joint is slack, of the numbers of MuJoCo: quaternions are w x y z."""
    *place, w, x, y, z = qpos
    return listing([number(entry, line) for entry in (*place, x, y, z, w)], line)
