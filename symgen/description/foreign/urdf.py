"""URDF -> the document of a model file.

| URDF | model file |
| --- | --- |
| the link that no joint carries | `base`; or a link on a floating joint |
| joint origin, axis (default x) | `origin`, `axis`; both have the link frame behind the motion |
| planar | planar, in the plane normal to the axis; coordinates x, y, angle |
| floating | floating, with a quaternion, or with angles where these are asked for |
| continuous | revolute, without limits of position; all other types bear the same name |
| inertial origin, mass, inertia | `mass`, `com`, `inertia`, turned into link-frame axes |
| limit, dynamics damping and friction | `limits`, `damping`, `friction` |
| mimic joint, multiplier, offset | `mimic` |
| transmission with an inertia of its rotor | `rotor_inertia`, `gear_ratio` (`urdf_transmissions`) |

Joints stand depth first, children of a link in the order of the file.  Numbers are copied as they
are written, but for inertias and quaternions that are turned.  `urdf_format` lists every entry with
its use, and what acts on the dynamics but is left out is named in a warning; so is what the base
link weighs, for it does not move.

Source: the URDF specification of ROS (wiki.ros.org/urdf/XML), and urdfdom where that is silent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from symgen.description.foreign.entries import URDF, remark
from symgen.description.foreign.nodes import (
    LegalNames,
    inertia,
    kind_of,
    listing,
    name_of_robot,
    representation_of,
    table,
    text,
)
from symgen.description.foreign.rotations import from_quaternion, from_rpy, to_rpy, turned
from symgen.description.foreign.xml import (
    MOST_JOINTS,
    Element,
    Faults,
    line_of,
    number,
    place,
    stop,
    values,
    without_infinite,
)
from symgen.description.names import BASE
from symgen.description.reading import Document, Node, Scalar, Table
from symgen.description.scalars import LARGEST_ANGLE
from symgen.description.wording import KeyPath, degrees_meant, shown

_NAMES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
TYPES = {name: name for name in _NAMES} | {"continuous": "revolute"}
FLOATING_BASE = "floating_base"
"""The joint between the base and the root link of a robot that is not bolted down."""

_OF_TENSORS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_OF_LIMITS = ("lower", "upper", "velocity", "effort")


@dataclass
class _Joint:
    """A joint element with the links that it names."""

    element: Element
    name: str
    kind: str
    parent: str
    child: str


@dataclass
class _Robot:
    """The elements of the file by name, and what is wrong with them."""

    files: Sequence[str]
    root: Element
    floating_base: bool
    angles: bool
    faults: Faults
    links: dict[str, Element] = field(default_factory=dict)
    joints: list[_Joint] = field(default_factory=list)
    carried: dict[str, list[_Joint]] = field(default_factory=dict)


def link_names_of_urdf(root: Element, file: str, floating_base: bool = False) -> dict[str, str]:
    """Name of a link in the file -> its name in the model; `ModelError` where that is no robot."""
    return _named(_checked(root, (file,), floating_base, angles=False))[3]


def document_of_urdf(
    root: Element, files: Sequence[str], floating_base: bool = False, angles: bool = False
) -> Document:
    """The document of a <robot>; `ModelError` lists everything that is wrong with it.

    `files` are those that it was made from, of which numbers of lines name one.
    """
    return _document(_checked(root, files, floating_base, angles))


def _checked(root: Element, files: Sequence[str], floating_base: bool, angles: bool) -> _Robot:
    robot = _Robot(files, root, floating_base, angles, Faults(files[0], files))
    _take_links(robot)
    _take_joints(robot)
    robot.faults.raise_if_any()
    return robot


# ------------------------------------------------------------------------------------- the graph


def _take_links(robot: _Robot) -> None:
    for element in robot.root.all("link"):
        name = robot.faults.text(element, "name", "link")
        if name in robot.links:
            first = line_of(robot.links[name])
            robot.faults.add(element, "link", f"{shown(name)} is a link already, in line {first}")
        elif name:
            robot.links[name] = element
    if not robot.links:
        robot.faults.add(robot.root, "", "a robot needs at least one <link>")


def _take_joints(robot: _Robot) -> None:
    if sum(1 for _ in robot.root.all("joint")) > MOST_JOINTS:
        raise stop(robot.files[0], 0, f"more than {MOST_JOINTS} joints; no robot is that large")
    lines: dict[str, int] = {}
    carriers: dict[str, _Joint] = {}
    for element in robot.root.all("joint"):
        name = robot.faults.text(element, "name", "joint")
        key = f"joint.{name}" if name else "joint"
        if name in lines:
            first = lines[name]
            robot.faults.add(element, key, f"{shown(name)} is a joint already, in line {first}")
        lines.setdefault(name, line_of(element))
        joint = _Joint(
            element,
            name,
            _kind(robot, element, key),
            _end(robot, element, "parent", key),
            _end(robot, element, "child", key),
        )
        other = carriers.setdefault(joint.child, joint)
        if other is not joint and joint.child:
            robot.faults.add(
                element,
                key,
                f"the link {shown(joint.child)} is carried by the joint {shown(other.name)} "
                "already; are <parent> and <child> in each other's place? Closed loops are not "
                "available yet",
            )
        robot.joints.append(joint)
        robot.carried.setdefault(joint.parent, []).append(joint)


def _kind(robot: _Robot, element: Element, key: str) -> str:
    kind = robot.faults.text(element, "type", key)
    if kind and kind not in TYPES:
        hint = robot.faults.hint(kind, TYPES)
        robot.faults.add(element, key, f"type: no joint type {shown(kind)}{hint}")
    return TYPES.get(kind, "")


def _end(robot: _Robot, element: Element, tag: str, key: str) -> str:
    """The link that <parent> or <child> names; "" where there is none."""
    found = element.first(tag)
    if found is None:
        robot.faults.add(element, key, f'a joint needs <{tag} link="..."/>')
        return ""
    name = robot.faults.text(found, "link", f"{key}.{tag}")
    if name and name not in robot.links:
        hint = robot.faults.hint(name, robot.links)
        robot.faults.add(found, f"{key}.{tag}", f"there is no <link> named {shown(name)}{hint}")
        return ""
    return name


def _root_link(robot: _Robot) -> str:
    """The link that everything hangs on."""
    carried = {joint.child for joint in robot.joints}
    roots = [name for name in robot.links if name not in carried]
    if len(roots) > 1:
        robot.faults.add(
            robot.links[roots[1]],
            f"link.{roots[1]}",
            f"no joint carries this link, nor {shown(roots[0])}; exactly one link is the base, and "
            "every other one the <child> of a joint (type fixed, say)",
        )
    joints = {joint.name for joint, _ in _depth_first(robot, roots[0])} if roots else set()
    lost = [joint for joint in robot.joints if joint.name not in joints]
    if not robot.faults and lost:
        robot.faults.add(
            lost[0].element,
            f"joint.{lost[0].name}",
            "this joint belongs to a loop of parents and children; exactly one link is the base",
        )
    robot.faults.raise_if_any()
    return roots[0]


def _depth_first(robot: _Robot, root: str) -> Iterator[tuple[_Joint, str]]:
    """The joints that hang on a link, each with the link that carries it."""
    waiting = [(joint, root) for joint in reversed(robot.carried.get(root, []))]
    while waiting:
        joint, parent = waiting.pop()
        yield joint, parent
        waiting += [(child, joint.child) for child in reversed(robot.carried.get(joint.child, []))]


# ---------------------------------------------------------------------------------- the document


def _named(robot: _Robot) -> tuple[str, LegalNames, dict[str, str], dict[str, str]]:
    """The link that carries all others; the names of the model: all, of joints, of links."""
    root_link = _root_link(robot)
    ordered = [joint for joint, _ in _depth_first(robot, root_link)]
    names = LegalNames([*(joint.name for joint in ordered), *robot.links])
    joint_names = {
        joint.name: names.new("joint", joint.name, kind_of(joint.kind, robot.angles))
        for joint in ordered
    }
    link_names = _link_names(robot, root_link, ordered, joint_names, names)
    return root_link, names, joint_names, link_names


def _document(robot: _Robot) -> Document:
    root_link, names, joint_names, link_names = _named(robot)
    ordered = [joint for joint, _ in _depth_first(robot, root_link)]
    rotors = rotors_of(robot.root, {x.name: x.kind for x in robot.joints}, robot.faults)
    parts = _Parts(robot, joint_names, link_names, rotors)
    items: list[Node] = []
    places: dict[KeyPath, str] = {}
    if robot.floating_base:
        base = names.made("joint", FLOATING_BASE, kind_of("floating", robot.angles))
        items.append(parts.floating_base(base, root_link))
        places["joints", 0] = places["joints", 0, "link"] = place(f"link.{root_link}")
    else:
        parts.warn_base(root_link)
    for joint in ordered:
        places["joints", len(items)] = place(f"joint.{joint.name}")
        places["joints", len(items), "link"] = place(f"link.{joint.child}")
        items.append(parts.joint(joint))
    remark(URDF, [(robot.root, "robot", "")], robot.faults)
    robot.faults.raise_if_any()
    line = robot.root.line
    robot_name = name_of_robot(robot.root.attributes.get("name", ""), names)
    if names.changed:
        robot.faults.warn(robot.root, "", names.report())
    document = table(
        {
            "symgen": Scalar("1", "int", line),
            "name": text(robot_name, line),
            "joints": listing(items, line),
        },
        line,
    )
    warnings, files = tuple(robot.faults.warnings), tuple(robot.files)
    return Document(files[0], document, (), warnings, places, files)


def _link_names(
    robot: _Robot,
    root_link: str,
    ordered: list[_Joint],
    joint_names: dict[str, str],
    names: LegalNames,
) -> dict[str, str]:
    """Former name of a link -> new one; a link that is called as its joint stays so."""
    new = {}
    if robot.floating_base:
        new[root_link] = names.new("link", root_link)
    else:
        new[root_link] = BASE
    for joint in ordered:
        same = joint.child == joint.name
        new[joint.child] = joint_names[joint.name] if same else names.new("link", joint.child)
    return new


@dataclass(frozen=True)
class _Parts:
    """Makes the nodes of joints and links."""

    robot: _Robot
    joint_names: dict[str, str]
    link_names: dict[str, str]
    rotors: Mapping[str, Mapping[str, Node]]
    """Joint terms of the rotors of transmissions, by the joint."""

    def joint(self, joint: _Joint) -> Table:
        """One joint with its link."""
        element, key, faults = joint.element, f"joint.{joint.name}", self.robot.faults
        moves, continuous = joint.kind != "fixed", element.attributes["type"] == "continuous"
        dynamics = element.first("dynamics") if moves else None
        limits = element.first("limit") if moves else None
        axis = element.first("axis")
        directed = joint.kind in ("revolute", "prismatic")
        has_axis = directed or joint.kind == "planar"  # whose axis is the normal of its plane
        if has_axis and axis is not None:
            faults.text(axis, "xyz", f"{key}.axis")
        direction = faults.numbers(axis, "xyz", f"{key}.axis", 3) if has_axis else None
        if has_axis and direction is None:
            direction = [number(word, element.line) for word in ("1", "0", "0")]
        self.warn_unlimited(element, limits, key)
        limit_keys = _OF_LIMITS[2 if continuous or not directed else 0 :]
        if limits is not None and not {"lower", "upper"}.isdisjoint(limits.attributes):
            limits.attributes = {"lower": "0", "upper": "0", **limits.attributes}  # by definition
        if limits is not None:
            limits.attributes = without_infinite(limits.attributes)
        if directed and not continuous and self.is_unlimited(limits, key):
            limit_keys = _OF_LIMITS[2:]
        return table(
            {
                "name": text(self.joint_names[joint.name], element.line),
                "type": text(joint.kind, element.line),
                "coordinates": representation_of(
                    kind_of(joint.kind, self.robot.angles), element.line
                ),
                "parent": text(self.link_names[joint.parent], element.line),
                "origin": self.origin(element, key),
                "axis": listing(direction, element.line),
                "limits": self.numbers(limits, limit_keys, f"{key}.limit"),
                "damping": _unless_zero(faults.number(dynamics, "damping", f"{key}.dynamics")),
                "friction": _unless_zero(faults.number(dynamics, "friction", f"{key}.dynamics")),
                **self.rotors.get(joint.name, {}),
                "mimic": self.mimic(joint, key),
                "link": self.link(joint.child, joint.child != joint.name),
            },
            element.line,
        )

    def mimic(self, joint: _Joint, key: str) -> Table | None:
        """What the joint follows; a joint that does not move follows nothing."""
        element, faults, key = joint.element.first("mimic"), self.robot.faults, f"{key}.mimic"
        if element is None:
            return None
        name = faults.text(element, "joint", key)
        if name and name not in self.joint_names:
            hint = faults.hint(name, self.joint_names)
            faults.add(element, key, f"there is no <joint> named {shown(name)}{hint}")
            return None
        if joint.kind == "fixed":
            faults.warn(element, key, "left out: this joint is fixed, and does not move")
            return None
        if not name:
            return None
        return table(
            {
                "coordinate": text(self.joint_names[name], element.line),
                "multiplier": faults.number(element, "multiplier", key),
                "offset": _unless_zero(faults.number(element, "offset", key)),
            },
            element.line,
        )

    def floating_base(self, name: str, root_link: str) -> Table:
        """The floating joint under the root link."""
        line = self.robot.links[root_link].line
        entries = {
            "name": text(name, line),
            "type": text("floating", line),
            "coordinates": representation_of(kind_of("floating", self.robot.angles), line),
            "parent": text(BASE, line),
            "origin": table({}, line),
            "link": self.link(root_link, True),
        }
        return table(entries, line)

    def origin(self, element: Element, key: str) -> Table:
        """The pose of a joint in its parent's link frame."""
        origin, line = element.first("origin"), element.line
        if origin is None:
            return table({}, line)
        faults, key = self.robot.faults, f"{key}.origin"
        at = faults.numbers(origin, "xyz", key, 3)
        rpy = attitude(faults, origin, key)
        return table(
            {
                "xyz": listing(_unless_zeros(at), origin.line),
                "rpy": listing(_unless_zeros(rpy), origin.line),
            },
            origin.line,
        )

    def numbers(self, element: Element | None, names: tuple[str, ...], key: str) -> Table | None:
        """A mapping of the attributes of an element; None where there is none of them."""
        if element is None:
            return None
        given = {name: self.robot.faults.number(element, name, key) for name in names}
        return table(given, element.line) if any(given.values()) else None

    def link(self, name: str, named: bool) -> Table | None:
        """The link of that name: mass, centre of mass, inertia in axes of the link frame."""
        element = self.robot.links[name]
        new = {"name": text(self.link_names[name], element.line) if named else None}
        inertial, key = element.first("inertial"), f"link.{name}.inertial"
        if inertial is None:
            return table(new, element.line) if named else None
        origin = inertial.first("origin")
        com = self.robot.faults.numbers(origin, "xyz", f"{key}.origin", 3)
        return table(
            {
                **new,
                "mass": self.mass(inertial, key),
                "com": listing(_unless_zeros(com), inertial.line),
                "inertia": self.inertia(inertial, key),
            },
            inertial.line,
        )

    def mass(self, inertial: Element, key: str) -> Scalar | None:
        """The mass that an inertial must give."""
        element, faults = inertial.first("mass"), self.robot.faults
        if element is None:
            faults.add(inertial, key, 'an <inertial> needs <mass value="..."/>')
            return None
        given = faults.text(element, "value", f"{key}.mass")
        return faults.number(element, "value", f"{key}.mass") if given else None

    def inertia(self, inertial: Element, key: str) -> Table | None:
        """The tensor about the centre of mass, turned into the axes of the link frame."""
        element, faults = inertial.first("inertia"), self.robot.faults
        if element is None:
            return None
        names = _OF_TENSORS
        key = f"{key}.inertia"
        for name in names[:3]:
            faults.text(element, name, key)
        found = [faults.number(element, name, key) for name in names]
        entries = [number("0", element.line) if entry is None else entry for entry in found]
        rpy = attitude(faults, inertial.first("origin"), f"{key[: -len('.inertia')]}.origin")
        if rpy is not None and any(values(rpy)):
            self.warn_turned(rpy, element, f"{key[: -len('.inertia')]}.origin")
            tensor = turned(from_rpy(values(rpy)), values(entries))
            entries = [number(entry, element.line) for entry in tensor]
        return None if faults else inertia(entries, element.line)

    def is_unlimited(self, limits: Element | None, key: str) -> bool:
        """Whether the lower limit is above the upper one, with a warning."""
        faults = self.robot.faults
        ends = [faults.number(limits, name, f"{key}.limit") for name in ("lower", "upper")]
        lower, upper = (math.nan if x is None else float(x.text) for x in ends)
        if not lower > upper or limits is None:
            return False
        words = (
            f"lower {lower:.6g} is above upper {upper:.6g}: read as no limit, as Bullet means it"
        )
        faults.warn(limits, f"{key}.limit", words)
        return True

    def warn_unlimited(self, element: Element, limits: Element | None, key: str) -> None:
        """Other programs refuse such a file."""
        kind = element.attributes["type"]
        if limits is None and kind in ("revolute", "prismatic"):
            or_else = ', or is of type="continuous"' if kind == "revolute" else ""
            words = f"in URDF a {kind} joint has <limit lower= upper= effort= velocity=>{or_else}"
            self.robot.faults.warn(element, key, words)

    def warn_turned(self, rpy: list[Scalar], inertial: Element, key: str) -> None:
        """Angles that look like degrees turn an inertia anywhere."""
        for angle in rpy:
            if abs(float(angle.text)) > LARGEST_ANGLE:
                self.robot.faults.warn(inertial, key, degrees_meant(float(angle.text)))

    def warn_base(self, root_link: str) -> None:
        """What the root link weighs counts for nothing where it is the base."""
        element = self.robot.links[root_link]
        if element.first("inertial") is not None:
            self.robot.faults.warn(
                element,
                f"link.{root_link}",
                "this link is the base, and its inertia is left out, for it does not move; a robot "
                "that floats: --floating-base",
            )


def _unless_zero(value: Scalar | None) -> Scalar | None:
    """None for a number that is zero: it is the default."""
    return None if value is None or float(value.text) == 0.0 else value


def _unless_zeros(numbers: list[Scalar] | None) -> list[Scalar] | None:
    """None for numbers that are all zero."""
    return numbers if numbers and any(values(numbers)) else None


# ----------------------------------------------------------------------------------- urdf origins


def attitude(faults: Faults, origin: Element | None, key: str) -> list[Scalar] | None:
    """Roll, pitch and yaw of an <origin> (rad), of its `rpy` or its `quat_xyzw`; None for none."""
    rpy = faults.numbers(origin, "rpy", key, 3)
    quaternion = faults.numbers(origin, "quat_xyzw", key, 4)
    if origin is None or quaternion is None:
        return rpy
    if "rpy" in origin.attributes:
        faults.add(origin, key, "rpy and quat_xyzw: an orientation is given once")
        return None
    x, y, z, w = values(quaternion)
    try:
        angles = to_rpy(from_quaternion((w, x, y, z)))
    except ValueError:
        faults.add(origin, key, "quat_xyzw: the quaternion is zero, and has no direction")
        return None
    return [number(angle, origin.line) for angle in angles]


# ----------------------------------------------------------------------------- urdf transmissions


_MOVING = ("revolute", "prismatic")
_INERTIAS = ("drake:rotor_inertia", "motorInertia")
_RATIOS = ("drake:gear_ratio", "mechanicalReduction")
_TOLERANCE = 1e-9
"""Relative: two values beyond it are not the same."""


def rotors_of(
    root: Element, kinds: Mapping[str, str], faults: Faults
) -> dict[str, dict[str, Node]]:
    """The entries of joints that have rotors, by the joint; `kinds` are types of joints by name."""
    rotors: dict[str, list[tuple[Scalar, Scalar | None]]] = {}
    for transmission in root.all("transmission"):
        key = f"transmission.{transmission.attributes.get('name', '')}"
        joints = list(transmission.all("joint"))
        for places in _drives(transmission, faults, key):
            inertia = _value(faults, places, _INERTIAS, key)
            if inertia is None or float(inertia.text) == 0.0:
                continue
            if float(inertia.text) < 0.0:
                faults.add(places[0], key, f"the inertia of a rotor is negative: {inertia.text}")
                continue
            joint = _joint_of(joints, kinds, inertia, places[0], faults, key)
            if joint:
                ratio = _value(faults, (*places, joints[0]), _RATIOS, key)
                rotors.setdefault(joint, []).append((inertia, ratio))
    return {joint: _entries(found) for joint, found in rotors.items()}


def _drives(transmission: Element, faults: Faults, key: str) -> list[tuple[Element, ...]]:
    """The elements that describe each rotor: an inertia of the transmission is that of one."""
    actuators = list(transmission.all("actuator"))
    own = [x for x in actuators if any(_values(faults, (x,), _INERTIAS, key))]
    return [(x, transmission) for x in own] or [(*actuators, transmission)]


def _joint_of(
    joints: list[Element],
    kinds: Mapping[str, str],
    inertia: Scalar,
    drive: Element,
    faults: Faults,
    key: str,
) -> str:
    """The joint that a rotor drives; "", and a warning, where it cannot be a term of a joint."""
    names = [x.attributes.get("name", "").strip() for x in joints]
    rotor = f"the rotor inertia {inertia.text} of {shown(drive.attributes.get('name', ''))}"
    if len(names) != 1:
        listed = ", ".join(map(shown, names[:4])) if names else "no <joint>"
        words = f"{rotor} is left out: it couples joints ({listed}), and would add to their inertia"
        faults.warn(drive, key, words if names else f"{rotor} is left out: there is {listed}")
    elif kinds.get(names[0]) not in _MOVING:
        kind = kinds.get(names[0])
        why = f"the joint is {kind}" if kind else f"there is no joint named {shown(names[0])}"
        faults.warn(drive, key, f"{rotor} is left out: {why}")
    else:
        return names[0]
    return ""


def _entries(rotors: list[tuple[Scalar, Scalar | None]]) -> dict[str, Node]:
    """`rotor_inertia` and `gear_ratio` of one rotor as written, of several the reflected sum."""
    if len(rotors) == 1:
        inertia, ratio = rotors[0]
        entries: dict[str, Node] = {"rotor_inertia": inertia}
        return entries if ratio is None else {**entries, "gear_ratio": ratio}
    reflected = sum(
        float(inertia.text) * (1.0 if ratio is None else float(ratio.text)) ** 2
        for inertia, ratio in rotors
    )
    return {"rotor_inertia": number(reflected, rotors[0][0].line)}


def _value(
    faults: Faults, places: tuple[Element, ...], tags: tuple[str, ...], key: str
) -> Scalar | None:
    """The first of the values that elements give; a warning where they differ."""
    values = list(_values(faults, places, tags, key))
    for element, other in values[1:]:
        first, second = float(values[0][1].text), float(other.text)
        if abs(first - second) > _TOLERANCE * max(abs(first), abs(second)):
            words = f"<{element.tag}> {other.text} is left out: {values[0][1].text} is given, too"
            faults.warn(element, key, words)
            break
    return values[0][1] if values else None


def _values(
    faults: Faults, places: tuple[Element, ...], tags: tuple[str, ...], key: str
) -> Iterator[tuple[Element, Scalar]]:
    for element in places:
        for tag in tags:
            given = [(element, element.attributes.get(tag, ""))]
            given += [(x, x.attributes.get("value", "") or x.text) for x in element.all(tag)]
            for here, words in given:
                numbers = faults.numbers_in(here, words, f"{tag}: ", key, 1) if words else None
                if numbers:
                    yield here, numbers[0]
