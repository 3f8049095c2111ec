"""SDF, the format of Gazebo -> the document of a model file.

| SDF | model file |
| --- | --- |
| the first model that has a joint | the robot; its gravity is that of the world around it |
| joint with the parent `world` | hangs on `base`, which is the world |
| link that no joint carries | `base`; fixed to it where its place is not the world's; or floats |
| nested model, include | its links and joints, named `model::link` in the file: `model_link` |
| link pose, joint pose, frame | `origin` of joints: frames of links are those of the file |
| joint | see `symgen.description.foreign.sdf` |
| inertial | `mass`, `com`, `inertia` in link axes; 1 kg and 1 kg m^2 where none is given |
| frame that moves | a point |

`sdf_format` lists every entry with its use; what would move the robot otherwise but is left out,
plugins say, is named in a warning.

Source: the SDFormat specification (sdformat.org), and libsdformat where that is silent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from symgen.description.foreign.entries import SDF, remark
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
from symgen.description.foreign.rotations import HERE, Matrix, Pose, turned, unit
from symgen.description.foreign.sdf_files import Files
from symgen.description.foreign.sdf_frames import WORLD, Frame, Frames, turned_vector
from symgen.description.foreign.xml import (
    INFINITE,
    MOST_JOINTS,
    Element,
    Faults,
    number,
    place,
    stop,
    values,
)
from symgen.description.names import BASE
from symgen.description.reading import Document, Node, Scalar, Table
from symgen.description.wording import KeyPath, in_line, shown
from symgen.joints import JointType
from symgen.options import ReadOptions

FLOATING_BASE = "floating_base"
TWO_AXES = ("universal", "revolute2")
"""The joint between the base and the root link of a robot that is not bolted down."""
_GRAVITY = ("0", "0", "-9.8")
"""Of a world that says nothing, by the format's definition."""
_OF_TENSOR = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_DEFAULTS = ("1", "1", "1", "0", "0", "0")


@dataclass(frozen=True)
class _Joint:
    """A joint with the links that it connects, by their full names."""

    axes: Axes
    parent: str
    child: str


@dataclass
class _Robot:
    """The robot of a file, and what has been made of it."""

    frames: Frames
    floating_base: bool
    without_loops: bool
    angles: bool
    joints: list[_Joint] = field(default_factory=list)
    carried: dict[str, list[_Joint]] = field(default_factory=dict)
    links: dict[str, Element] = field(default_factory=dict)
    link_names: dict[str, str] = field(default_factory=lambda: {WORLD: BASE})
    joint_names: dict[str, str] = field(default_factory=dict)
    names: LegalNames = field(default_factory=LegalNames)
    items: list[Node] = field(default_factory=list)
    places: dict[KeyPath, str] = field(default_factory=dict)
    moving: set[str] = field(default_factory=set)

    @property
    def faults(self) -> Faults:
        """Where faults go."""
        return self.frames.files.faults

    def add(self, joint: Table, key: str, link_key: str = "") -> None:
        """One joint of the model; `key` is what messages call it."""
        if len(self.items) >= MOST_JOINTS:
            message = f"more than {MOST_JOINTS} joints; no robot is that large"
            raise stop(self.frames.files.names[0], 0, message)
        at = len(self.items)
        self.places["joints", at] = place(key)
        self.places["joints", at, "link"] = place(link_key or key)
        self.items.append(joint)


def document_of_sdf(root: Element, files: Sequence[str], reading: ReadOptions) -> Document:
    """The document of an <sdf>; `ModelError` lists everything that is wrong with it.

    `files` are those that it was made from, of which numbers of lines name one.
    """
    frames = Frames(Files([*files], reading))
    frames.read(root)
    robot = _Robot(frames, reading.floating_base, reading.without_loops, reading.angles)
    remark_all(frames, root)
    _take_joints(robot)
    robot.faults.raise_if_any()
    start = _root_link(robot)
    ordered = list(_depth_first(robot, WORLD if start is None else start))
    _check_all_hang_together(robot, ordered)
    _name_all(robot, start, ordered)
    if start is not None:
        _take_root(robot, start)
    for joint in ordered:
        _take_joint(robot, joint)
    robot.faults.raise_if_any()
    return _document(robot, root)


# ------------------------------------------------------------------------------------- the graph


def _take_joints(robot: _Robot) -> None:
    """The links and joints of the robot, and which link each joint carries."""
    frames, faults = robot.frames, robot.faults
    inside = f"{frames.model}::"
    own = [(name, x) for name, x in frames.frames.items() if name.startswith(inside)]
    robot.links = {name: x.element for name, x in own if x.kind == "link"}
    if not robot.links:
        faults.add(frames.frames[frames.model].element, "model", "a model needs a <link>")
    carriers: dict[str, _Joint] = {}
    for name, frame in own:
        if frame.kind != "joint":
            continue
        element, key = frame.element, f"joint.{frames.key(name)}"
        if robot.without_loops and element.attributes.get("type", "").strip() == "gearbox":
            faults.warn(element, key, "left out: a gearbox couples two joints")
            continue
        kind = sdf_type_of(faults, element, key)
        parent, child = (_end(robot, name, tag, key) for tag in ("parent", "child"))
        if not kind or parent is None or child is None:
            continue
        joint = _Joint(Axes(frames, name, frame, kind, child), parent, child)
        other = carriers.setdefault(child, joint)
        if other is not joint:
            carrier = (
                f"{shown(frames.key(child))} is carried by {shown(frames.key(other.axes.name))}"
            )
            if robot.without_loops:
                faults.warn(element, key, f"left out: the link {carrier} already")
                continue
            message = (
                f"the link {carrier} already; are <parent> and <child> in each other's place? "
                "Closed loops are not available yet; --without-loops (in Python: "
                "without_loops=True) reads the open tree without this joint"
            )
            faults.add(element, key, message)
        robot.joints.append(joint)
        robot.carried.setdefault(parent, []).append(joint)


def _end(robot: _Robot, name: str, tag: str, key: str) -> str | None:
    """The link that <parent> or <child> means, by its full name; None, and a fault, for none."""
    frames, frame = robot.frames, robot.frames.frames[name]
    element = frame.element.first(tag)
    if element is None or not element.text:
        robot.faults.add(frame.element, key, f"a joint needs <{tag}>LINK</{tag}>")
        return None
    full = frames.find(frame.scope, element.text, element, f"{key}.{tag}")
    link = None if full is None else frames.link_of(full)
    if full is not None and link is None:
        message = f"{shown(element.text)} is fixed to no link"
        robot.faults.add(element, f"{key}.{tag}", message)
    if link == WORLD and tag == "child":
        message = "the world is no child of a joint; are <parent> and <child> in each other's place"
        robot.faults.add(element, f"{key}.{tag}", f"{message}?")
        return None
    if link is not None and link != WORLD and link not in robot.links:
        message = f"the link {shown(element.text)} belongs to another model"
        robot.faults.add(element, f"{key}.{tag}", message)
        return None
    return link


def _root_link(robot: _Robot) -> str | None:
    """The link that no joint carries; None where the world carries all."""
    frames, faults = robot.frames, robot.faults
    carried = {joint.child for joint in robot.joints}
    roots = [name for name in robot.links if name not in carried]
    anchored = WORLD in robot.carried
    if len(roots) + anchored > 1:
        key = f"link.{frames.key(roots[-1])}"
        other = f"nor {shown(frames.key(roots[0]))}" if len(roots) > 1 else "and others the world"
        message = (
            f"no joint carries this link, {other}; exactly one link is the base, and every other "
            "one the <child> of a joint (type fixed, say)"
        )
        faults.add(robot.links[roots[-1]], key, message)
    if anchored and robot.floating_base:
        joint = robot.carried[WORLD][0]
        message = "fixed to the world by this joint; remove it for a robot that floats"
        faults.add(joint.axes.frame.element, joint.axes.key, message)
    faults.raise_if_any()
    return roots[0] if roots else None


def _depth_first(robot: _Robot, root: str) -> Iterator[_Joint]:
    waiting = robot.carried.get(root, [])[::-1]
    while waiting:
        joint = waiting.pop()
        yield joint
        waiting += robot.carried.get(joint.child, [])[::-1]


def _check_all_hang_together(robot: _Robot, ordered: list[_Joint]) -> None:
    found = {joint.axes.name for joint in ordered}
    lost = next((joint for joint in robot.joints if joint.axes.name not in found), None)
    if lost is not None:
        message = "this joint belongs to a loop of parents and children; one link is the base"
        robot.faults.add(lost.axes.frame.element, lost.axes.key, message)
    robot.faults.raise_if_any()


def _name_all(robot: _Robot, start: str | None, ordered: list[_Joint]) -> None:
    """The names of joints and links in the model; a link that is called as its joint stays so."""
    key = robot.frames.key
    own = [*(key(joint.axes.name) for joint in ordered), *map(key, robot.links)]
    robot.names = LegalNames(own)
    for joint in ordered:
        kind = _kind(robot, joint.axes.kind)
        name = joint.axes.name.removesuffix(" (joint)")
        robot.joint_names[joint.axes.name] = robot.names.new("joint", key(name), kind)
    if start is not None:
        at_base = not robot.floating_base and _is_here(robot.frames.in_world(start))
        robot.link_names[start] = BASE if at_base else robot.names.new("link", key(start))
    for joint in ordered:
        same = joint.child == joint.axes.name.removesuffix(" (joint)")
        name = robot.joint_names[joint.axes.name]
        single = _kind(robot, joint.axes.kind).coordinates < 2
        robot.link_names[joint.child] = (
            name if same and single else robot.names.new("link", key(joint.child))
        )


def _kind(robot: _Robot, kind: str) -> JointType:
    """The type of joint whose coordinates one of SDF has."""
    return kind_of("universal" if kind in TWO_AXES else TYPES[kind], robot.angles)


def _is_here(pose: Pose) -> bool:
    return not pose.at.any() and np.array_equal(pose.turn, np.eye(3))


# ------------------------------------------------------------------------------ joints and links


def _take_root(robot: _Robot, link: str) -> None:
    """The root link: the base itself, a link that is fixed to it, or one that floats."""
    frames, faults, element = robot.frames, robot.faults, robot.links[link]
    key = f"link.{frames.key(link)}"
    if robot.floating_base:
        kind = kind_of("floating", robot.angles)
        name = robot.names.made("joint", FLOATING_BASE, kind)
        content, line = _link(robot, link), element.line
        more = {"coordinates": representation_of(kind, line)}
        robot.add(joint_node(name, kind.name, BASE, HERE, content, line, more), key)
        robot.moving.add(link)
        return
    placed = [frames.frames[frames.model].element, frames.includes.get(frames.model, element)]
    if not any(child_flag(faults, x, "static", "model") for x in placed):
        words = (
            "nothing fixes this link to the world, so a simulator lets it float; it is the base "
            "here, and its inertia is left out; a robot that floats: symgen convert --floating-base"
        )
        faults.warn(element, key, words)
    if robot.link_names[link] != BASE:
        name = robot.names.made("joint", f"{frames.key(link)}_fixed")
        content = massless(robot.link_names[link], element.line)
        pose = frames.in_world(link)
        robot.add(joint_node(name, "fixed", BASE, pose, content, element.line), key)


def _take_joint(robot: _Robot, joint: _Joint) -> None:
    """A joint and the link that it carries, with massless links between where there must be."""
    frames, axes, kind = robot.frames, joint.axes, joint.axes.kind
    element, name = axes.frame.element, robot.joint_names[joint.axes.name]
    if joint.parent in robot.moving or kind != "fixed":
        robot.moving.add(joint.child)
    key, link_key = axes.key, f"link.{frames.key(joint.child)}"
    directions = axes.all()
    pose = frames.relative(joint.parent, joint.child)
    at_joint = frames.relative(joint.child, axes.name)
    ahead = _ahead(kind, directions, at_joint)
    parent, behind = robot.link_names[joint.parent], _link(robot, joint.child)
    steps = _steps(robot, axes, directions, name)
    for count, (step_name, step_kind, nodes) in enumerate(steps, start=1):
        is_last = count == len(steps) and _is_here(ahead)
        content = behind
        if not is_last:
            content = massless(robot.names.made("link", f"{name}_frame"), element.line)
        origin = pose @ ahead if count == 1 else HERE
        robot.add(
            joint_node(step_name, step_kind, parent, origin, content, element.line, nodes),
            key,
            link_key,
        )
        parent = name_of(content)
    if not _is_here(ahead):
        fixed = robot.names.made("joint", f"{name}_fixed")
        inverse = ahead.inverse()
        robot.add(joint_node(fixed, "fixed", parent, inverse, behind, element.line), key, link_key)


def _ahead(kind: str, directions: list[Axis], at_joint: Pose) -> Pose:
    """The pose, in the child's frame, of the frame about or along whose axes the joint moves."""
    if kind == "ball":
        return at_joint
    turns = kind not in ("fixed", "prismatic")
    if turns and any(is_off(at_joint.at, axis.direction) for axis in directions):
        return Pose(at_joint.at, np.eye(3))
    return HERE


def _steps(
    robot: _Robot, axes: Axes, directions: list[Axis], name: str
) -> list[tuple[str, str, Mapping[str, Node | None]]]:
    """Name, type and other entries of the joints that a joint becomes."""
    kind = TYPES[axes.kind]
    if not directions:
        line = axes.frame.element.line
        own = representation_of(kind_of(kind, robot.angles), line)
        return [(name, kind, {"coordinates": own, **axes.of_ball(), **axes.rotor()})]
    mimics = [_mimic(robot, axes, tag) for tag in ("axis", "axis2")[: len(directions)]]
    entries = [
        {**axis.nodes, "mimic": mimic} for axis, mimic in zip(directions, mimics, strict=True)
    ]
    if axes.kind == "screw":
        entries[0]["pitch"] = axes.pitch()
    entries[0] |= axes.rotor()
    if len(entries) == 1:
        return [(name, kind, entries[0])]
    return [(f"{name}_{k}", kind, entry) for k, entry in enumerate(entries, start=1)]


def _mimic(robot: _Robot, axes: Axes, tag: str) -> Table | None:
    """What an axis follows: multiplier (x - reference) + offset."""
    axis = axes.frame.element.first(tag)
    element, faults = None if axis is None else axis.first("mimic"), robot.faults
    if element is None:
        return None
    key = f"{axes.key}.{tag}.mimic"
    name = faults.text(element, "joint", key)
    full = robot.frames.find(axes.frame.scope, name, element, key) if name else None
    if full is None:
        return None
    new = robot.joint_names.get(full)
    if new is None:
        faults.add(element, key, f"there is no joint named {shown(name)} in this model")
        return None
    if robot.frames.frames[full].element.attributes.get("type", "") in TWO_AXES:
        new = f"{new}_{2 if element.attributes.get('axis', '').strip() == 'axis2' else 1}"
    numbers = [child_number(faults, element, x, key) for x in ("multiplier", "offset", "reference")]
    multiplier, offset, reference = (
        (1.0, 0.0, 0.0)[k] if x is None else float(x.text) for k, x in enumerate(numbers)
    )
    shift = offset - multiplier * reference
    return table(
        {
            "coordinate": text(new, element.line),
            "multiplier": number(multiplier, element.line),
            "offset": number(shift, element.line) if shift else None,
        },
        element.line,
    )


def _link(robot: _Robot, name: str) -> Table:
    """The link: mass, centre of mass, inertia in axes of the link frame."""
    element, faults = robot.links[name], robot.faults
    key, new = f"link.{robot.frames.key(name)}", robot.link_names[name]
    inertial, line = element.first("inertial"), element.line
    if inertial is None:
        words = "without <inertial> a link has 1 kg and 1 kg m^2 in this format"
        faults.warn(element, key, words)
        inertial = Element("inertial", {}, line)
    key = f"{key}.inertial"
    if inertial.attributes.get("auto", "false").strip() in ("true", "1"):
        message = "auto: masses of shapes are not computed; write <mass> and <inertia>"
        faults.add(inertial, key, message)
    pose_element, tensor = inertial.first("pose"), inertial.first("inertia")
    pose = HERE if pose_element is None else robot.frames.pose_in(pose_element, key)
    found = [child_number(faults, tensor, tag, f"{key}.inertia") for tag in _OF_TENSOR]
    entries = [
        number(given, inertial.line) if x is None else x
        for x, given in zip(found, _DEFAULTS, strict=True)
    ]
    if not np.array_equal(pose.turn, np.eye(3)):
        about = turned(pose.turn, [float(x.text) for x in entries])
        entries = [number(x, inertial.line) for x in about]
    mass = child_number(faults, inertial, "mass", key)
    return table(
        {
            "name": text(new, line),
            "mass": number("1", inertial.line) if mass is None else mass,
            "com": triple(pose.at.tolist(), inertial.line),
            "inertia": inertia(entries, inertial.line),
        },
        inertial.line,
    )


# ------------------------------------------------------------------------------------- the rest


def _points(robot: _Robot) -> list[Node]:
    """The <frame>s that move, as points."""
    frames = robot.frames
    points: list[Node] = []
    found = [
        (name, link)
        for name, frame in frames.frames.items()
        if frame.kind == "frame" and (link := frames.link_of(name)) in robot.moving
    ]
    names = LegalNames(frames.key(name) for name, _ in found)
    for name, link in found:
        line = frames.frames[name].element.line
        at = frames.relative(link, name).at
        point = {
            "name": text(names.new("point", frames.key(name)), line),
            "link": text(robot.link_names[link], line),
            "point": listing([number(float(x), line) for x in at], line),
        }
        points.append(table(point, line))
    robot.names.changed.extend(names.changed)
    return points


def _gravity(robot: _Robot) -> Node | None:
    """That of the world; None where there is none around the model."""
    world = robot.frames.world
    if world is None:
        return None
    physics = world.first("physics")
    older = None if physics is None else physics.first("gravity")
    element = world.first("gravity") or older
    if element is None or not element.text:
        return listing([number(word, world.line) for word in _GRAVITY], world.line)
    found = robot.faults.numbers_in(element, element.text, "gravity: ", "world", 3)
    return listing(found, element.line)


def _document(robot: _Robot, root: Element) -> Document:
    files, line = robot.frames.files, root.line
    points, gravity = _points(robot), _gravity(robot)
    robot.faults.raise_if_any()
    name = name_of_robot(robot.frames.model, robot.names)
    if robot.names.changed:
        robot.faults.warn(root, "", robot.names.report())
    content = {
        "symgen": Scalar("1", "int", line),
        "name": text(name, line),
        "gravity": gravity,
        "joints": listing(robot.items, line),
        "points": listing(points, line) if points else None,
    }
    warnings = tuple(robot.faults.warnings)
    document = Document(files.names[0], table(content, line), (), warnings, robot.places)
    return replace(document, files=tuple(files.names))


# ------------------------------------------------------------------------------------- sdf joints


TYPES = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "ball": "spherical",
    "screw": "helical",
    "universal": "revolute",
    "revolute2": "revolute",
}
IN_MODEL_FRAME = (1, 5)
"""Axes of versions before this one are given in the frame of the model."""

_TWO_AXES = ("universal", "revolute2")
_WITHOUT_AXIS = ("fixed", "ball")
_NOT_AVAILABLE = {"gearbox": "a gearbox couples two joints; --without-loops leaves it out"}
_UNLIMITED = 1e16
_NEAR_PARALLEL = 1e-15


@dataclass(frozen=True)
class Axis:
    """One coordinate of a joint: its direction in the frame of the child, and what it gives."""

    direction: Matrix
    nodes: Mapping[str, Node | None]


def child_number(faults: Faults, element: Element | None, tag: str, key: str) -> Scalar | None:
    """The number in a child of an element; None where it is not given or faulty."""
    child = None if element is None else element.first(tag)
    if child is None or not child.text:
        return None
    found = faults.numbers_in(child, child.text, f"{tag}: ", key, 1)
    return None if found is None else found[0]


def child_flag(faults: Faults, element: Element, tag: str, key: str) -> bool:
    """Whether a child of an element says true."""
    child = element.first(tag)
    words = "" if child is None else child.text.lower()
    if child is not None and words not in ("", "true", "1", "false", "0"):
        faults.add(child, key, f"{tag}: expected true or false, found {shown(child.text)}")
    return words in ("true", "1")


def sdf_type_of(faults: Faults, element: Element, key: str) -> str:
    """The type of a joint, in the words of SDF; "", and a fault, where symgen has no such."""
    kind = faults.text(element, "type", key)
    if kind in _NOT_AVAILABLE:
        faults.add(element, key, f"type {kind} is not available: {_NOT_AVAILABLE[kind]}")
        return ""
    if kind and kind not in TYPES:
        faults.add(element, key, f"type: no joint type {shown(kind)}{faults.hint(kind, TYPES)}")
        return ""
    return kind


def is_off(anchor: Matrix, direction: Matrix) -> bool:
    """Whether an axis does not go through the origin that `anchor` (3,) is given from."""
    beside = np.cross(anchor, direction)
    return bool(np.abs(beside).max() > _NEAR_PARALLEL * np.abs(anchor).max())


@dataclass(frozen=True)
class Axes:
    """Reads the axes of one joint, whose child is the link `child` (a full name)."""

    frames: Frames
    name: str
    frame: Frame
    kind: str
    child: str

    @property
    def faults(self) -> Faults:
        """Where faults go."""
        return self.frames.files.faults

    @property
    def key(self) -> str:
        """What messages call the joint."""
        return f"joint.{self.frames.key(self.name)}"

    def all(self) -> list[Axis]:
        """Its axes, the one next to the parent first; none of a fixed or a ball joint."""
        if self.kind in _WITHOUT_AXIS:
            return []
        tags = ("axis", "axis2") if self.kind in _TWO_AXES else ("axis",)
        return [self.axis(tag) for tag in tags]

    def axis(self, tag: str) -> Axis:
        """One of them."""
        element = self.frame.element.first(tag)
        if element is None:
            if self.kind in _TWO_AXES or tag == "axis2":
                words = f"a {self.kind} joint needs <{tag}><xyz>...</xyz></{tag}>"
                self.faults.add(self.frame.element, self.key, words)
            element = Element(tag, {}, self.frame.element.line)
        key = f"{self.key}.{tag}"
        direction, written = self.direction(element, key)
        limit, dynamics = element.first("limit"), element.first("dynamics")
        terms = {
            "damping": child_number(self.faults, dynamics, "damping", key),
            "friction": child_number(self.faults, dynamics, "friction", key),
            "stiffness": child_number(self.faults, dynamics, "spring_stiffness", key),
        }
        given = {name: _unless_zero(value) for name, value in terms.items()}
        if given["stiffness"] is not None:
            rest = child_number(self.faults, dynamics, "spring_reference", key)
            given["rest"] = _unless_zero(rest)
        nodes = {"axis": written, "limits": self.limits(limit, key), **given}
        return Axis(direction, nodes)

    def direction(self, element: Element, key: str) -> tuple[Matrix, Node | None]:
        """The direction in the child's frame, as numbers and as a node (as written, if it may)."""
        xyz, line = element.first("xyz"), element.line
        numbers = [number(word, line) for word in ("0", "0", "1")]
        if xyz is not None and xyz.text:
            found = self.faults.numbers_in(xyz, xyz.text, "xyz: ", key, 3)
            numbers = numbers if found is None else found
        try:
            vector = unit(values(numbers))
        except ValueError:
            self.faults.add(xyz or element, key, "xyz: the axis is zero")
            return np.array([0.0, 0.0, 1.0]), None
        expressed_in = self.expressed_in(element, xyz, key)
        if expressed_in is None:
            return vector, None
        turn = self.frames.relative(self.child, expressed_in).turn
        if np.array_equal(turn, np.eye(3)):
            return vector, listing(numbers, line)
        vector = turned_vector(turn, vector) + 0.0
        return vector, listing([number(float(x), line) for x in vector], line)

    def expressed_in(self, element: Element, xyz: Element | None, key: str) -> str | None:
        """The full name of the frame whose axes the direction is given in."""
        scope = self.frame.scope
        if scope.names_frames:
            given = "" if xyz is None else xyz.attributes.get("expressed_in", "").strip()
            if not given:
                return self.name
            return self.frames.find(scope, given, xyz or element, key)
        if scope.source.version < IN_MODEL_FRAME:
            return scope.frame
        in_model = child_flag(self.faults, element, "use_parent_model_frame", key)
        return scope.frame if in_model else self.name

    def limits(self, limit: Element | None, key: str) -> Table | None:
        """What the axis gives of lower, upper, velocity and effort."""
        if limit is None:
            return None
        ends = {name: self.end(limit, name, f"{key}.limit") for name in ("lower", "upper")}
        lower, upper = (math.nan if x is None else float(x.text) for x in ends.values())
        if self.kind == "continuous":
            ends = {}
        elif lower > upper:
            words = f"lower {lower:.6g} is above upper {upper:.6g}: read as no limit"
            self.faults.warn(limit, f"{key}.limit", words)
            ends = {}
        sizes = {name: self.end(limit, name, f"{key}.limit") for name in ("velocity", "effort")}
        positive = {name: x for name, x in sizes.items() if x is not None and float(x.text) >= 0.0}
        given: dict[str, Node | None] = {**ends, **positive}
        return table(given, limit.line) if any(given.values()) else None

    def end(self, limit: Element, tag: str, key: str) -> Scalar | None:
        """A limit; None for those that mean none, which are very large or infinite."""
        child = limit.first(tag)
        if child is not None and child.text.lower() in INFINITE:
            return None
        found = child_number(self.faults, limit, tag, key)
        return None if found is None or abs(float(found.text)) >= _UNLIMITED else found

    # -- of some types -----------------------------------------------------------------------------

    def of_ball(self) -> dict[str, Node | None]:
        """Damping and friction of a ball joint, whose <axis> has no direction; else none."""
        axis = self.frame.element.first("axis") if self.kind == "ball" else None
        dynamics, key = None if axis is None else axis.first("dynamics"), f"{self.key}.axis"
        stiffness = _unless_zero(child_number(self.faults, dynamics, "spring_stiffness", key))
        if dynamics is not None and stiffness is not None:
            words = "spring_stiffness is left out: a ball joint has no axis that it is about"
            self.faults.warn(dynamics, key, words)
        names = ("damping", "friction")
        return {x: _unless_zero(child_number(self.faults, dynamics, x, key)) for x in names}

    def rotor(self) -> dict[str, Node | None]:
        """The rotor of a drive, as Drake has it; none, with a warning, without an axis."""
        element = self.frame.element
        inertia, ratio = (
            child_number(self.faults, element, tag, self.key)
            for tag in ("drake:rotor_inertia", "drake:gear_ratio")
        )
        if inertia is None or float(inertia.text) == 0.0:
            return {}
        if self.kind in _WITHOUT_AXIS:
            words = f"the rotor inertia {inertia.text} is left out: the joint is {self.kind}"
            self.faults.warn(element, self.key, words)
            return {}
        return {"rotor_inertia": inertia, "gear_ratio": ratio}

    def pitch(self) -> Scalar | None:
        """That of a screw, in m per radian."""
        element, line = self.frame.element, self.frame.element.line
        travel = child_number(self.faults, element, "screw_thread_pitch", self.key)
        if travel is not None:
            return number(float(travel.text) / (2.0 * math.pi), line)
        old = child_number(self.faults, element, "thread_pitch", self.key)
        if old is None:
            message = "a screw needs <screw_thread_pitch>, in m per turn"
            self.faults.add(element, self.key, message)
            return None
        if float(old.text) == 0.0:
            self.faults.add(element, self.key, "thread_pitch: expected a number other than 0")
            return None
        words = (
            f"thread_pitch has had several meanings; read as -2 pi over the travel per turn, which "
            f"is {-2.0 * math.pi / float(old.text):.6g} m; screw_thread_pitch is clear"
        )
        self.faults.warn(element, self.key, words)
        return number(-1.0 / float(old.text), line)


def _unless_zero(value: Scalar | None) -> Scalar | None:
    return None if value is None or float(value.text) == 0.0 else value


# ------------------------------------------------------------------------------------ sdf remarks


_APART = ("world", "model", "link", "joint", "frame", "include")
"""Elements that the walk meets one by one, for only those of the robot count."""


def remark_all(frames: Frames, root: Element) -> None:
    """Warnings about the robot, and about what stands around it."""
    faults, world = frames.files.faults, frames.world
    if frames.others:
        names = ", ".join(map(shown, frames.others[:8]))
        more = ", ..." if len(frames.others) > 8 else ""
        word = "model" if len(frames.others) == 1 else "models"
        robot = frames.frames[frames.model].element
        words = f"left out: {word} {names}{more}; the robot is {shown(frames.model)}"
        faults.warn(robot, "", words)
    for joint in world.all("joint") if world is not None else ():
        message = "joints of a world are not read; put the models into one"
        faults.add(joint, "world", message)
    inside = f"{frames.model}::"
    tops = [(root, "sdf", "sdf")]
    for name, frame in frames.frames.items():
        if name == frames.model or name.startswith(inside):
            key = f"{frame.kind}.{frames.key(name)}"
            tops.append((frame.element, frame.element.tag, key))
            if name in frames.includes:
                tops.append((frames.includes[name], "include", key))
            _refuse_added_joints(faults, frame.element, key)
    remark(SDF, tops, faults, _APART)
    if world is not None:
        remark(SDF, [(world, "world", "world")], faults, _APART)


def _refuse_added_joints(faults: Faults, element: Element, key: str) -> None:
    """Joints that other programs have added to the format."""
    for child in element.children:
        prefix, colon, rest = child.tag.partition(":")
        if colon and rest == "joint":
            message = f"<{in_line(child.tag)}> is of {in_line(prefix)} alone, and is not read"
            faults.add(child, key, message)
