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
| transmission with an inertia of its rotor | `rotor_inertia`, `gear_ratio` |

Joints are in depth-first order, children of a link in the order of the file.  Numbers are copied as
written, except rotated inertias and quaternions.  `entries` lists every entry with its use; a
warning names entries that act on the dynamics but are left out, and the inertia of the base link.

Source: the URDF specification of ROS (wiki.ros.org/urdf/XML), and urdfdom where that is silent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from symgen.description.foreign.entries import URDF, remark
from symgen.description.foreign.nodes import (
    Assembly,
    Entries,
    depth_first,
    inertia,
    kind_of,
    node,
    representation_of,
    table,
)
from symgen.description.foreign.rotations import from_quaternion, from_rpy, to_rpy, turned
from symgen.description.foreign.xml import (
    MOST_JOINTS,
    Element,
    Faults,
    line_of,
    number,
    stop,
    unless_zero,
    values,
    without_infinite,
)
from symgen.description.names import BASE
from symgen.description.reading import Document, Scalar, Table
from symgen.description.scalars import LARGEST_ANGLE
from symgen.description.wording import degrees_meant, shown
from symgen.joints import JointType

_NAMES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
TYPES = {name: name for name in _NAMES} | {"continuous": "revolute"}


_OF_TENSORS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_OF_LIMITS = ("lower", "upper", "velocity", "effort")


@dataclass(frozen=True)
class _Joint:
    """A joint element with the links that it names."""

    element: Element
    name: str
    kind: str
    parent: str
    child: str


def link_names_of_urdf(root: Element, file: str, floating_base: bool = False) -> dict[str, str]:
    """Map names of links in the file to names in the model; `ModelError` if it is not a robot."""
    return _Reader(root, (file,), floating_base, angles=False).link_names


def document_of_urdf(
    root: Element, files: Sequence[str], floating_base: bool = False, angles: bool = False
) -> Document:
    """Convert a <robot>; `ModelError` lists all its faults.

    `files` are the source files that line numbers refer to.
    """
    return _Reader(root, files, floating_base, angles).document()


class _Reader:
    """Converts the links and joints of a <robot>.

    `carried` maps links to the joints on them; `ordered` is depth-first; `joint_names` and
    `link_names` map names in the file to names in the model.
    """

    def __init__(
        self, root: Element, files: Sequence[str], floating_base: bool, angles: bool
    ) -> None:
        self.root, self.floats, self.angles = root, floating_base, angles
        self.faults = Faults(files[0], files)
        self.links: dict[str, Element] = {}
        self.joints: list[_Joint] = []
        self.carried: dict[str, list[_Joint]] = {}
        self.take_links()
        self.take_joints()
        self.root_link = "" if self.faults else self.find_root()
        if self.faults:
            self.read_values()
            self.faults.raise_if_any()
        self.ordered = list(depth_first(self.carried, self.root_link))
        self.assembly = Assembly(self.faults, [*(x.name for x in self.ordered), *self.links])
        self.joint_names, self.link_names = self.names()

    # ------------------------------------------------------------------------------- the graph

    def take_links(self) -> None:
        """The links by name."""
        for element in self.root.all("link"):
            name = self.faults.text(element, "name", "link")
            if name in self.links:
                first = line_of(self.links[name])
                message = f"{shown(name)} is a link already, in line {first}"
                self.faults.add(element, "link", message)
            elif name:
                self.links[name] = element
        if not self.links:
            self.faults.add(self.root, "", "a robot needs at least one <link>")

    def take_joints(self) -> None:
        """The joints, and the link that carries each."""
        faults = self.faults
        if sum(1 for _ in self.root.all("joint")) > MOST_JOINTS:
            message = f"more than {MOST_JOINTS} joints; no robot is that large"
            raise stop(faults.files[0], 0, message)
        lines: dict[str, int] = {}
        carriers: dict[str, _Joint] = {}
        for element in self.root.all("joint"):
            name = faults.text(element, "name", "joint")
            key = f"joint.{name}" if name else "joint"
            if name in lines:
                message = f"{shown(name)} is a joint already, in line {lines[name]}"
                faults.add(element, key, message)
            lines.setdefault(name, line_of(element))
            kind = self.type_of(element, key)
            ends = [self.end(element, tag, key) for tag in ("parent", "child")]
            joint = _Joint(element, name, kind, *ends)
            carrier = carriers.setdefault(joint.child, joint)
            if carrier is not joint and joint.child:
                message = (
                    f"the link {shown(joint.child)} is carried by the joint {shown(carrier.name)} "
                    "already; are <parent> and <child> in each other's place? A URDF is a tree; "
                    "'loops:' of a model file (symgen convert) closes it"
                )
                faults.add(element, key, message)
            self.joints.append(joint)
            self.carried.setdefault(joint.parent, []).append(joint)

    def type_of(self, element: Element, key: str) -> str:
        """Return the type of a joint in a model file; "", and a fault, if there is none."""
        kind = self.faults.text(element, "type", key)
        if kind and kind not in TYPES:
            hint = self.faults.hint(kind, TYPES)
            self.faults.add(element, key, f"type: no joint type {shown(kind)}{hint}")
        return TYPES.get(kind, "")

    def end(self, element: Element, tag: str, key: str) -> str:
        """Return the link named in <parent> or <child>; "", and a fault, if there is none."""
        end = element.first(tag)
        if end is None:
            self.faults.add(element, key, f'a joint needs <{tag} link="..."/>')
            return ""
        name = self.faults.text(end, "link", f"{key}.{tag}")
        if name and name not in self.links:
            hint = self.faults.hint(name, self.links)
            self.faults.add(end, f"{key}.{tag}", f"there is no <link> named {shown(name)}{hint}")
            return ""
        return name

    def find_root(self) -> str:
        """Find the root link of the tree."""
        carried = {joint.child for joint in self.joints}
        roots = [name for name in self.links if name not in carried]
        if len(roots) > 1:
            message = (
                f"no joint carries this link, nor {shown(roots[0])}; exactly one link is the base, "
                "and every other one the <child> of a joint (type fixed, say)"
            )
            self.faults.add(self.links[roots[1]], f"link.{roots[1]}", message)
        reached = {joint.name for joint in depth_first(self.carried, *roots[:1])}
        lost = [joint for joint in self.joints if joint.name not in reached]
        if not self.faults and lost:
            message = (
                "this joint belongs to a loop of parents and children; exactly one link is the base"
            )
            self.faults.add(lost[0].element, f"joint.{lost[0].name}", message)
        return roots[0] if roots else ""

    def read_values(self) -> None:
        """Record the faults of all values, in addition to those of the graph."""
        self.joint_names = {joint.name: joint.name for joint in self.joints}
        self.link_names = {name: name for name in self.links}
        for joint in self.joints:
            self.values(joint)
        for name in self.links:
            self.link(name, False)

    def kind(self, joint: _Joint) -> JointType:
        """Return the type of a joint."""
        return kind_of(joint.kind, self.angles)

    def names(self) -> tuple[dict[str, str], dict[str, str]]:
        """Names of joints and links in the model; a link may have the name of its joint."""
        new = self.assembly.names.new
        joints = {x.name: new("joint", x.name, self.kind(x)) for x in self.ordered}
        links = {self.root_link: new("link", self.root_link) if self.floats else BASE}
        for joint in self.ordered:
            same = joint.child == joint.name
            links[joint.child] = joints[joint.name] if same else new("link", joint.child)
        return joints, links

    # ------------------------------------------------------------------------------ the document

    def document(self) -> Document:
        """Return the document of the robot."""
        rotors = rotors_of(self.root, {x.name: x.kind for x in self.joints}, self.faults)
        key = f"link.{self.root_link}"
        if not self.floats:
            self.assembly.base = self.root_link
        if self.floats:
            line, link = self.links[self.root_link].line, self.link(self.root_link, True)
            self.assembly.add_floating_base(self.angles, link, key, line)
        elif self.links[self.root_link].first("inertial") is not None:
            words = (
                "this link is the base, and its inertia is left out, for it does not move; a robot "
                "that floats: --floating-base"
            )
            self.faults.warn(self.links[self.root_link], key, words)
        for joint in self.ordered:
            node = self.joint(joint, rotors.get(joint.name, {}))
            self.assembly.add(node, f"joint.{joint.name}", f"link.{joint.child}")
        remark(URDF, [(self.root, "robot", "")], self.faults)
        return self.assembly.document(self.root, self.root.attributes.get("name", ""))

    def joint(self, joint: _Joint, rotor: Entries) -> Table:
        """One joint with its link."""
        entries = {
            "name": self.joint_names[joint.name],
            "type": joint.kind,
            "coordinates": representation_of(self.kind(joint)),
            "parent": self.link_names[joint.parent],
            **self.values(joint),
            **rotor,
            "link": self.link(joint.child, joint.child != joint.name),
        }
        return table(entries, joint.element.line)

    def values(self, joint: _Joint) -> Entries:
        """Return the entries of a joint that do not depend on its place in the tree."""
        element, key, faults = joint.element, f"joint.{joint.name}", self.faults
        dynamics = element.first("dynamics") if joint.kind != "fixed" else None
        axis, limits = self.axis(joint, key), self.limits(joint, key)
        return {
            "origin": self.origin(element, key),
            "axis": axis,
            "limits": limits,
            "damping": unless_zero(faults.number(dynamics, "damping", f"{key}.dynamics")),
            "friction": unless_zero(faults.number(dynamics, "friction", f"{key}.dynamics")),
            "mimic": self.mimic(joint, key),
        }

    def axis(self, joint: _Joint, key: str) -> Sequence[Scalar] | None:
        """Return the axis of a joint; for a planar joint the normal of its plane."""
        if joint.kind not in ("revolute", "prismatic", "planar"):
            return None
        axis, line = joint.element.first("axis"), joint.element.line
        if axis is not None:
            self.faults.text(axis, "xyz", f"{key}.axis")
        direction = self.faults.numbers(axis, "xyz", f"{key}.axis", 3)
        return direction or [number(word, line) for word in ("1", "0", "0")]

    def limits(self, joint: _Joint, key: str) -> Table | None:
        """Return the limits of a joint, limits of position only if there are any."""
        kind = joint.element.attributes.get("type", "")
        directed, continuous = joint.kind in ("revolute", "prismatic"), kind == "continuous"
        limits = joint.element.first("limit") if joint.kind != "fixed" else None
        if limits is None:
            if kind in ("revolute", "prismatic"):  # other programs refuse such a file
                words = f"in URDF a {kind} joint has <limit lower= upper= effort= velocity=>"
                words += ', or is of type="continuous"' if kind == "revolute" else ""
                self.faults.warn(joint.element, key, words)
            return None
        keys, key = _OF_LIMITS[2 if continuous or not directed else 0 :], f"{key}.limit"
        if not {"lower", "upper"}.isdisjoint(limits.attributes):
            limits.attributes = {"lower": "0", "upper": "0", **limits.attributes}  # by definition
        limits.attributes = without_infinite(limits.attributes)
        if directed and not continuous:
            ends = [self.faults.number(limits, name, key) for name in ("lower", "upper")]
            lower, upper = (math.nan if x is None else float(x.text) for x in ends)
            if lower > upper:
                words = f"lower {lower:.6g} is above upper {upper:.6g}: read as no limit"
                self.faults.warn(limits, key, f"{words}, as Bullet means it")
                keys = _OF_LIMITS[2:]
        numbers = {name: self.faults.number(limits, name, key) for name in keys}
        return table(numbers, limits.line) if any(numbers.values()) else None

    def mimic(self, joint: _Joint, key: str) -> Table | None:
        """Return the coordinate that a joint follows; None for a fixed joint."""
        element, faults, key = joint.element.first("mimic"), self.faults, f"{key}.mimic"
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
        entries = {
            "coordinate": self.joint_names[name],
            "multiplier": faults.number(element, "multiplier", key),
            "offset": unless_zero(faults.number(element, "offset", key)),
        }
        return table(entries, element.line)

    def origin(self, element: Element, key: str) -> Table:
        """Return the pose of a joint in its parent's link frame."""
        origin = element.first("origin")
        if origin is None:
            return table({}, element.line)
        at = self.faults.numbers(origin, "xyz", f"{key}.origin", 3)
        rpy = self.attitude(origin, f"{key}.origin")
        return table({"xyz": unless_zero(at), "rpy": unless_zero(rpy)}, origin.line)

    def attitude(self, origin: Element | None, key: str) -> list[Scalar] | None:
        """Roll, pitch and yaw (rad) of an <origin>, from `rpy` or `quat_xyzw` (URDF 1.1)."""
        rpy = self.faults.numbers(origin, "rpy", key, 3)
        quaternion = self.faults.numbers(origin, "quat_xyzw", key, 4)
        if origin is None or quaternion is None:
            return rpy
        if "rpy" in origin.attributes:
            self.faults.add(origin, key, "rpy and quat_xyzw: an orientation is given once")
            return None
        x, y, z, w = values(quaternion)
        try:
            angles = to_rpy(from_quaternion((w, x, y, z)))
        except ValueError:
            self.faults.add(origin, key, "quat_xyzw: the quaternion is zero, and has no direction")
            return None
        return [number(angle, origin.line) for angle in angles]

    def link(self, name: str, named: bool) -> Table | None:
        """Return a link: mass, centre of mass, inertia in axes of the link frame."""
        element = self.links[name]
        new = node(self.link_names[name], element.line) if named else None
        inertial, key = element.first("inertial"), f"link.{name}.inertial"
        if inertial is None:
            return table({"name": new}, element.line) if named else None
        com = self.faults.numbers(inertial.first("origin"), "xyz", f"{key}.origin", 3)
        entries = {
            "name": new,
            "mass": self.mass(inertial, key),
            "com": unless_zero(com),
            "inertia": self.inertia(inertial, key),
        }
        return table(entries, inertial.line)

    def mass(self, inertial: Element, key: str) -> Scalar | None:
        """Return the mass of an <inertial>, which is required."""
        element, faults = inertial.first("mass"), self.faults
        if element is None:
            faults.add(inertial, key, 'an <inertial> needs <mass value="..."/>')
            return None
        value = faults.text(element, "value", f"{key}.mass")
        return faults.number(element, "value", f"{key}.mass") if value else None

    def inertia(self, inertial: Element, key: str) -> Table | None:
        """Return the tensor about the centre of mass, in the axes of the link frame."""
        element, faults = inertial.first("inertia"), self.faults
        if element is None:
            return None
        for name in _OF_TENSORS[:3]:
            faults.text(element, name, f"{key}.inertia")
        numbers = [faults.number(element, name, f"{key}.inertia") for name in _OF_TENSORS]
        entries = [number("0", element.line) if entry is None else entry for entry in numbers]
        rpy = self.attitude(inertial.first("origin"), f"{key}.origin")
        if rpy is not None and any(values(rpy)):
            for angle in values(rpy):
                if abs(angle) > LARGEST_ANGLE:
                    faults.warn(element, f"{key}.origin", degrees_meant(angle))
            tensor = turned(from_rpy(values(rpy)), values(entries))
            entries = [number(entry, element.line) for entry in tensor]
        return None if faults else inertia(entries, element.line)


_MOVING = ("revolute", "prismatic")
_INERTIAS = ("drake:rotor_inertia", "motorInertia")
_RATIOS = ("drake:gear_ratio", "mechanicalReduction")
_TOLERANCE = 1e-9
"""Maximum relative difference of equal values."""


def rotors_of(root: Element, kinds: Mapping[str, str], faults: Faults) -> dict[str, Entries]:
    """Return the entries of joints with rotors, by joint; `kinds` are types of joints by name.

    | URDF | meaning |
    | --- | --- |
    | `motorInertia`, `drake:rotor_inertia` | inertia J of a rotor, in kg m^2 before the gear |
    | `mechanicalReduction`, `drake:gear_ratio` | gear ratio n, in any of the elements |

    The inertia reflected to a joint is n^2 J, summed over its rotors.  Gear ratios without an
    inertia have no effect, because torques refer to joints.  An inertia of the transmission itself
    belongs to one rotor, for any number of actuators.  A rotor that couples several joints
    (differential, four-bar linkage) cannot be a joint term and gives a warning.

    Source: `transmission_interface` of ros_control, Drake's documentation of `drake:rotor_inertia`.
    """
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
    return {joint: _entries(values) for joint, values in rotors.items()}


def _drives(transmission: Element, faults: Faults, key: str) -> list[tuple[Element, ...]]:
    """The elements that describe each rotor; an inertia of the transmission belongs to one."""
    actuators = list(transmission.all("actuator"))
    driving = [x for x in actuators if any(_values(faults, (x,), _INERTIAS, key))]
    return [(x, transmission) for x in driving] or [(*actuators, transmission)]


def _joint_of(
    joints: list[Element], kinds: Mapping[str, str], inertia: Scalar, drive: Element,
    faults: Faults, key: str,
) -> str:  # fmt: skip
    """Return the joint that a rotor drives; "", and a warning, if it cannot be a joint term."""
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


def _entries(rotors: list[tuple[Scalar, Scalar | None]]) -> Entries:
    """`rotor_inertia` and `gear_ratio` of one rotor as written, of several the reflected sum."""
    if len(rotors) == 1:
        return dict(zip(("rotor_inertia", "gear_ratio"), rotors[0], strict=True))
    ratios = (1.0 if ratio is None else float(ratio.text) for _, ratio in rotors)
    pairs = zip(rotors, ratios, strict=True)
    reflected = sum(float(inertia.text) * ratio**2 for (inertia, _), ratio in pairs)
    return {"rotor_inertia": number(reflected, rotors[0][0].line)}


def _value(
    faults: Faults, places: tuple[Element, ...], tags: tuple[str, ...], key: str
) -> Scalar | None:
    """Return the first value in the elements; a warning if there are different ones."""
    values = list(_values(faults, places, tags, key))
    for element, value in values[1:]:
        first, second = float(values[0][1].text), float(value.text)
        if abs(first - second) > _TOLERANCE * max(abs(first), abs(second)):
            words = f"<{element.tag}> {value.text} is left out: {values[0][1].text} is given, too"
            faults.warn(element, key, words)
            break
    return values[0][1] if values else None


def _values(
    faults: Faults, places: tuple[Element, ...], tags: tuple[str, ...], key: str
) -> Iterator[tuple[Element, Scalar]]:
    for element in places:
        for tag in tags:
            candidates = [(element, element.attributes.get(tag, ""))]
            candidates += [(x, x.attributes.get("value", "") or x.text) for x in element.all(tag)]
            for source, words in candidates:
                numbers = faults.numbers_in(source, words, f"{tag}: ", key, 1) if words else None
                if numbers:
                    yield source, numbers[0]
