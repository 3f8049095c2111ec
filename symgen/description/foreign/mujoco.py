"""MJCF as MuJoCo itself understands it -> the document of a model file.

MuJoCo compiles the file, with what it includes, its defaults, frames, replicas, and the masses that
follow from geoms and meshes, in a process of its own (`mujoco_process`); what is read here are
the numbers of the compiled model, with all their digits.

| compiled model | model file |
| --- | --- |
| body | a link, whose frame is the body's; without joints on a fixed joint |
| hinge, slide | revolute, prismatic about or along `axis` through `pos`, with the zero of MuJoCo |
| ball, free | spherical, floating, with quaternions, or angles where these are asked for |
| several joints, a joint with `pos` | massless links in between |
| range, actuatorfrcrange; damping, frictionloss, armature, stiffness | `limits`; joint terms |
| armature and damping of actuators, times the square of their gear | joint terms |
| flags that disable gravity, springs, dampers, equalities, frictions, limits | none of these |
| body_ipos, body_iquat, body_mass, body_inertia | `com`, `mass`, `inertia` in body axes |
| site | point |
| connect, weld, joint equalities | `loops`, `relations` (`mujoco_equalities`) |

Other constraints, and tendons that pull, are refused by name; with the open tree asked for all are
left out.  `mujoco_fields` lists every field of a compiled model with its use; what acts on the
dynamics but is left out is named in a warning.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from symgen.description.foreign.nodes import (
    LegalNames,
    inertia,
    joint_node,
    kind_of,
    listing,
    massless,
    name_of,
    name_of_robot,
    representation_of,
    table,
    text,
    triple,
)
from symgen.description.foreign.process import NoAnswerError, answer_of, is_installed
from symgen.description.foreign.rotations import (
    HERE,
    Pose,
    from_axis_angle,
    from_quaternion,
    to_rpy,
    turned,
)
from symgen.description.foreign.xml import (
    MOST_JOINTS,
    Element,
    Faults,
    number,
    place,
    read_xml,
    stop,
)
from symgen.description.model import FRICTION_VELOCITY
from symgen.description.names import BASE
from symgen.description.quantities import POINTS, quantity
from symgen.description.reading import FILE_STEP, Document, Listing, Node, Scalar, Table, load
from symgen.description.wording import KeyPath, in_line, shown
from symgen.errors import ModelError

PROGRAM = Path(__file__).with_name("mujoco_process.py")
SECONDS = 120
MOST_FILES = 100
_MOST_NAMED = 5
_LINE, _ERROR = re.compile(r"line (\d+)"), re.compile(r"^(XML )?Error: ")


def document_of_mjcf(root: Element, file: str, without_loops: bool, angles: bool) -> Document:
    """Return the document of an MJCF file; `ModelError` where MuJoCo does not compile it.

    `root` is the file as it is written: it knows the lines of names.
    """
    if not is_installed("mujoco"):
        raise stop(file, root.line, "MuJoCo reads this format: pip install 'symgen[mujoco]'")
    try:
        model = answer_of(PROGRAM, {"path": str(Path(file).absolute())}, SECONDS)
    except NoAnswerError as error:
        model = {"error": f"its process {error}" if error.ended else str(error)}
    if "error" in model:
        words = _ERROR.sub("", " ".join(str(model["error"]).split()))
        found = _LINE.search(words)
        line = int(found[1]) if found else 0
        raise stop(file, line, f"MuJoCo does not compile this file: {words}")
    return _document_of_compiled(root, file, model, without_loops, angles)


def _document_of_compiled(
    root: Element,
    file: str,
    model: Mapping[str, Any],
    without_loops: bool,
    angles: bool,
) -> Document:
    """Return the document of a compiled model; `ModelError` lists what has no equations."""
    reading = _Reading.of(root, file, model, angles)
    _take_constraints(reading, without_loops)
    _remark(reading)
    for body in range(1, len(model["bodies"])):
        _take_body(reading, body)
    if not without_loops:
        _close(reading)
    reading.faults.raise_if_any()
    return _document(reading)


@dataclass
class _Reading:
    """The compiled model, and what has been made of it."""

    file: str
    root: Element
    model: Mapping[str, Any]
    angles: bool
    faults: Faults
    names: LegalNames
    elements: Mapping[tuple[str, str], Element]
    links: dict[int, str] = field(default_factory=lambda: {0: BASE})
    moving: set[int] = field(default_factory=set)
    joints: list[Node] = field(default_factory=list)
    frictions: list[TravelFriction] = field(default_factory=list)
    places: dict[KeyPath, str] = field(default_factory=dict)
    named: dict[int, str] = field(default_factory=dict)
    """Names of joints by MuJoCo's numbers."""
    closed: Closed = field(default_factory=lambda: Closed((), {}))

    @classmethod
    def of(cls, root: Element, file: str, model: Mapping[str, Any], angles: bool) -> _Reading:
        parts = [*model["bodies"][1:], *model["joints"]]
        names = LegalNames(part["name"] for part in parts)
        elements, files = _named_elements(root, file)
        return cls(file, root, model, angles, Faults(file, files), names, elements)

    def element(self, kind: str, name: str) -> Element:
        """Where the files say it; an element without a line where the name was made."""
        return self.elements.get((kind, name), Element(kind, {}, 0))

    def add(self, joint: Table, key: str) -> None:
        if len(self.joints) >= MOST_JOINTS:
            raise stop(self.file, 0, f"more than {MOST_JOINTS} joints; no robot is that large")
        self.places["joints", len(self.joints)] = place(key)
        self.joints.append(joint)


def _named_elements(
    root: Element, file: str
) -> tuple[Mapping[tuple[str, str], Element], Sequence[str]]:
    """The elements by kind and name, and the files in which they are: what is included as well."""
    files = [file]
    found: dict[tuple[str, str], Element] = {}
    waiting = [(root, root.tag)]
    while waiting:
        element, parent = waiting.pop()
        kind = "joint" if element.tag == "freejoint" else element.tag
        name = element.attributes.get("name", "")
        if name:
            found.setdefault((parent if parent == "actuator" else kind, name), element)
        inner = [*element.children, *(_included(element, files) if kind == "include" else ())]
        waiting += [(x, element.tag if kind != "include" else parent) for x in reversed(inner)]
    return found, files


def _included(include: Element, files: list[str]) -> list[Element]:
    """The elements of the file that an <include> names; none where it cannot be read here."""
    name = include.attributes.get("file", "")
    for of in (files[include.line // FILE_STEP], files[0]):
        path = os.path.join(os.path.dirname(of), name)
        if path not in files and len(files) < MOST_FILES:
            with suppress(ModelError):
                elements = read_xml(load(path, "an MJCF file"), path, len(files)).children
                files.append(path)
                return elements
    return []


def _take_constraints(reading: _Reading, without_loops: bool) -> None:
    closed = reading.model["closed"]
    if without_loops:
        closed = [*reading.model["equalities"], *closed]
    if not closed:
        return
    named = [f"{x['kind']} {shown(x['name'])}" if x["name"] else x["kind"] for x in closed]
    tags = ("equality", "tendon", "deformable")
    element = next(filter(None, map(reading.root.first, tags)), reading.root)
    refuse_constraints(reading.faults, element, named, without_loops)


def _remark(reading: _Reading) -> None:
    """Warn once of each effect that is left out, with the names of what has it."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for x in reading.model["left"]:
        kinds.setdefault((x["kind"], x["effect"]), []).append(x["name"])
    for (kind, effect), names in kinds.items():
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        listed = ", ".join(map(shown, names[:_MOST_NAMED]))
        element = reading.element(kind, names[0])
        if kind in ("option", "asset"):
            element = reading.root.first(kind) or reading.root
        of = f" of {kind} {listed}{more}" if names[0] else ""
        key = kind if kind in ("option", "asset") else f"{kind}.{names[0]}"
        reading.faults.warn(element, key, f"left out{of}: {effect}")


def _close(reading: _Reading) -> None:
    equalities = reading.model["equalities"]
    reading.closed = closed_by(
        equalities, reading.links, reading.named, reading.element, reading.faults
    )
    for index, loop in enumerate(reading.closed.loops):
        assert isinstance(loop, Table)
        reading.places["loops", index] = place(f"equality.{name_of(loop)}")
    for name in reading.closed.relations:
        reading.places["relations", name] = place(f"equality.{name}")


# --------------------------------------------------------------------------------------- bodies


def _take_body(reading: _Reading, number_of_body: int) -> None:
    """The joints of a body, one after the other, and its link in the frame of the file."""
    body = reading.model["bodies"][number_of_body]
    every = reading.model["joints"]
    numbers = [k for k, x in enumerate(every) if x["body"] == number_of_body]
    joints = [every[k] for k in numbers]
    name = body["name"] or f"body_{number_of_body}"
    element, key = reading.element("body", body["name"]), f"body.{name}"
    parent = reading.links[body["parent"]]
    pose = Pose(np.array(body["pos"]), from_quaternion(body["quat"]))
    if joints or body["parent"] in reading.moving:
        reading.moving.add(number_of_body)
    names, at_body = reading.names, False
    for count, joint in enumerate(joints, start=1):
        anchor = np.array(joint["pos"])
        if joint["type"] == "free":
            pose = HERE  # its coordinates place the body in the world
        at_body = count == len(joints) and not anchor.any()
        own, link = joint["name"], names.new("link", name) if at_body else ""
        given = own or f"{name}_joint"
        kind = kind_of(TYPES[joint["type"]], reading.angles)
        new = (names.new if own else names.made)("joint", given, kind)
        reading.named[numbers[count - 1]] = new
        content = (
            _link(reading, body, link, element)
            if at_body
            else massless(names.made("link", f"{name}_{count}"), element.line)
        )
        place_of_joint = pose @ Pose(anchor, np.eye(3)) @ _at_zero(joint)
        entries = _entries(reading, joint, given)
        reading.frictions += travel_friction(joint["type"], name_of(content), entries)
        joint_element = reading.element("joint", own) if own else element
        reading.add(
            joint_node(
                new,
                TYPES[joint["type"]],
                parent,
                place_of_joint,
                content,
                joint_element.line,
                entries,
            ),
            f"joint.{given}",
        )
        parent = name_of(content)
        pose = Pose(-anchor, np.eye(3))
    if not at_body:
        link = names.new("link", body["name"]) if body["name"] else names.made("link", name)
        content = _link(reading, body, link, element)
        fixed = names.made("joint", f"{name}_fixed")
        reading.add(joint_node(fixed, "fixed", parent, pose, content, element.line), key)
        parent = link
    reading.links[number_of_body] = parent


def _at_zero(joint: Mapping[str, Any]) -> Pose:
    """Its motion where the coordinate is 0: MuJoCo counts from `ref`."""
    zero, axis = joint["zero"], np.array(joint["axis"])
    if not zero:
        return HERE
    if joint["type"] == "hinge":
        return Pose(np.zeros(3), from_axis_angle(axis.tolist(), -zero))
    return Pose(-zero * axis, np.eye(3))


def _entries(reading: _Reading, joint: Mapping[str, Any], name: str) -> dict[str, Node | None]:
    """What the model file says of a joint beside name, type, parent and origin."""
    element, key = reading.element("joint", joint["name"]), f"joint.{name}"
    line, faults = element.line, reading.faults
    if joint["polynomial"]:
        message = "stiffness and damping that are polynomials are not available yet"
        faults.add(element, key, message)
    given = {name: number(joint[name], line) for name in TERMS if joint[name]}
    if joint["type"] in ("ball", "free"):
        rest = rest_of(joint["rest"], line)
        return terms_of(faults, element, key, joint["type"], given, rest, reading.angles)
    terms: dict[str, Node | None] = {TERMS[name]: value for name, value in given.items()}
    (rest,) = joint["rest"]
    if rest and "stiffness" in given:
        terms["rest"] = number(rest, line)
    ends = joint["range"]
    limits = {"lower": number(ends[0], line), "upper": number(ends[1], line)} if ends else {}
    efforts = joint["effort"]
    if efforts and efforts[1] == -efforts[0]:
        limits["effort"] = number(efforts[1], line)
    elif efforts:
        words = f"actuatorfrcrange {efforts} is left out: a limit of effort has one size"
        faults.warn(element, key, words)
    return {
        "axis": listing([number(x, line) for x in joint["axis"]], line),
        "limits": table(limits, line) if limits else None,
        **terms,
    }


def _link(reading: _Reading, body: Mapping[str, Any], link: str, element: Element) -> Table:
    line = element.line
    if not body["mass"] and not any(body["principal"]):
        return table({"name": text(link, line)}, line)
    tensor = turned(from_quaternion(body["axes"]), [*body["principal"], 0.0, 0.0, 0.0])
    return table(
        {
            "name": text(link, line),
            "mass": number(body["mass"], line),
            "com": triple(body["com"], line),
            "inertia": inertia([number(x, line) for x in tensor], line),
        },
        line,
    )


# ------------------------------------------------------------------------------------- the rest


def _points_and_forces(reading: _Reading) -> tuple[list[Node], list[Node]]:
    """The sites that have a name and move; the friction of free joints with its points."""
    sites = [x for x in reading.model["sites"] if x["name"] and x["body"] in reading.moving]
    names = LegalNames(x["name"] for x in sites)
    points: list[Node] = []
    for site in sites:
        line = reading.element("site", site["name"]).line
        point = {
            "name": text(names.new("point", site["name"]), line),
            "link": text(reading.links[site["body"]], line),
            "point": listing([number(float(x) + 0.0, line) for x in site["pos"]], line),
        }
        points.append(table(point, line))
    origins, forces = friction_nodes(reading.frictions, names)
    reading.names.changed.extend(names.changed)
    return points + origins, forces


def _document(reading: _Reading) -> Document:
    root, line, model = reading.root, reading.root.line, reading.model
    points, forces = _points_and_forces(reading)
    own = root.attributes.get("model", "") or (
        "" if model["name"] == "MuJoCo Model" else model["name"]
    )
    name = name_of_robot(in_line(own), reading.names)
    if reading.names.changed:
        reading.faults.warn(root, "", reading.names.report())
    content = {
        "symgen": Scalar("1", "int", line),
        "name": text(name, line),
        "gravity": listing([number(float(x) + 0.0, line) for x in model["gravity"]], line),
        "joints": listing(reading.joints, line),
        "points": listing(points, line) if points else None,
        "forces": listing(forces, line) if forces else None,
        "loops": listing(reading.closed.loops, line) if reading.closed.loops else None,
        "relations": table(reading.closed.relations, line) if reading.closed.relations else None,
    }
    warnings, files = tuple(reading.faults.warnings), tuple(reading.faults.files)
    return Document(reading.file, table(content, line), (), warnings, reading.places, files)


# ----------------------------------------------------------------------------------- mujoco terms


TYPES = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical", "free": "floating"}
TERMS = {
    "armature": "rotor_inertia",
    "damping": "damping",
    "frictionloss": "friction",
    "stiffness": "stiffness",
}
"""What drives, bearings and springs are called there and in a model file."""
_MOST_CONSTRAINTS = 20


def refuse_constraints(
    faults: Faults,
    element: Element,
    named: Sequence[str],
    without_loops: bool,
) -> None:
    """Constraints and tendons, by name: a fault, or a remark where the open tree is asked for."""
    more = f" and {len(named) - _MOST_CONSTRAINTS} more" if len(named) > _MOST_CONSTRAINTS else ""
    words = ", ".join(named[:_MOST_CONSTRAINTS]) + more
    if without_loops:
        faults.warn(element, "", f"left out: {words}")
        return
    message = (
        f"not available: {words}; --without-loops (in Python: without_loops=True) reads the open "
        f"tree without them"
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
    those of the world, where its armature is an added mass, and `mujoco_friction` has its friction.
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


# -------------------------------------------------------------------------------- mujoco friction


@dataclass(frozen=True)
class TravelFriction:
    """The friction of a free joint's travel, and the link that travels."""

    link: str
    size: Scalar


def of_angular_velocity(size: Scalar) -> Node | None:
    """A joint term of the three rotations of a free joint alone."""
    none = Scalar("0", "int", size.line)
    return listing([none] * 3 + [size] * 3, size.line)


def travel_friction(kind: str, link: str, terms: Mapping[str, Node | None]) -> list[TravelFriction]:
    """That of a joint of MuJoCo with these joint terms, if it has some; `kind` is free or other."""
    friction = terms.get("friction")
    if kind != "free" or not isinstance(friction, Listing):
        return []
    size = friction.items[-1]
    return [TravelFriction(link, size)] if isinstance(size, Scalar) else []


def friction_nodes(
    frictions: Sequence[TravelFriction], names: LegalNames
) -> tuple[list[Node], list[Node]]:
    """Points and forces of the model; `names` are those of its points."""
    points: list[Node] = []
    forces: list[Node] = []
    for one in frictions:
        line = one.size.line
        point = names.made("point", f"{one.link}_origin")
        at = {"name": text(point, line), "link": text(one.link, line)}
        points.append(table(at, line))
        rates = [quantity(POINTS, point, rate) for rate in ("vx", "vy", "vz")]
        slips = [f"-{one.size.text}*tanh({rate}/{FRICTION_VELOCITY.text})" for rate in rates]
        force = {
            "name": text(f"{point}_friction", line),
            "point": text(point, line),
            "force": listing([text(slip, line) for slip in slips], line),
        }
        forces.append(table(force, line))
    return points, forces


# ------------------------------------------------------------------------------ mujoco equalities


_LOOPS = {"connect": "spherical", "weld": "fixed"}


@dataclass(frozen=True)
class Closed:
    """What closes loops, as nodes of a model file; relations by name."""

    loops: Sequence[Node]
    relations: Mapping[str, Node]


def closed_by(
    equalities: Sequence[Mapping[str, Any]],
    links: Mapping[int, str],
    joints: Mapping[int, str],
    element_of: Callable[[str, str], Element],
    faults: Faults,
) -> Closed:
    """Loops and relations; `links` and `joints` are names by MuJoCo's numbers."""
    names = LegalNames(x["name"] for x in equalities)
    loops: list[Node] = []
    relations: dict[str, Node] = {}
    for count, one in enumerate(equalities, start=1):
        element = element_of(one["kind"], one["name"])
        given = one["name"] or f"{one['kind']}_{count}"
        if not one["active"]:
            faults.warn(element, f"{one['kind']}.{given}", "is not active, and left out")
            continue
        name = (names.new if one["name"] else names.made)("loop", given)
        if one["kind"] == "joint":
            relations[name] = text(_relation(one, joints), element.line)
        else:
            loops.append(_loop(name, one, links, element.line))
    return Closed(loops, relations)


def _loop(name: str, one: Mapping[str, Any], links: Mapping[int, str], line: int) -> Node:
    second, first = (_frame(side, links, line) for side in one["frames"])
    kind = text(_LOOPS[one["kind"]], line)
    entries = {"name": text(name, line), "type": kind, "first": first, "second": second}
    return table(entries, line)


def _frame(side: Sequence[Any], links: Mapping[int, str], line: int) -> Node:
    body, at, turn = side
    rpy = to_rpy(from_quaternion(turn))
    origin = table({"xyz": triple(at, line), "rpy": triple(rpy, line)}, line)
    return table({"link": text(links[body], line), "origin": origin}, line)


def _relation(one: Mapping[str, Any], joints: Mapping[int, str]) -> str:
    """q1 - q1_0 = a0 + a1 x + a2 x^2 + a3 x^3 + a4 x^4 with x = q2 - q2_0; x = 0 without q2."""
    (first, second), (zero, other_zero) = one["joints"], one["zeros"]
    constant, *factors = one["polynomial"]
    terms = [f"q.{joints[first]}", _signed(-zero - constant)]
    if second >= 0:
        x = f"(q.{joints[second]}{_signed(-other_zero)})" if other_zero else f"q.{joints[second]}"
        for power, factor in enumerate(factors, start=1):
            if factor:
                terms.append(f"{_signed(-factor)}*{x}" + (f"**{power}" if power > 1 else ""))
    return "".join(terms)


def _signed(value: float) -> str:
    """A number to be added, with all its digits; nothing for 0."""
    if not value:
        return ""
    return f" {'-' if value < 0 else '+'} {abs(value)!r}"
