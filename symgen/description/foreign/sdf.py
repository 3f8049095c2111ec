"""SDF, the format of Gazebo -> the document of a model file.

| SDF | model file |
| --- | --- |
| the first model that has a joint | the robot; its gravity is that of the world around it |
| joint with the parent `world` | joint on `base`, which is the world |
| link that no joint carries | `base`; fixed to it if its pose differs from the world's; or floats |
| nested model, include | its links and joints, named `model::link` in the file: `model_link` |
| link pose, joint pose, frame | `origin` of joints: frames of links are those of the file |
| joint | see `symgen.description.foreign.sdf` |
| inertial | `mass`, `com`, `inertia` in link axes; 1 kg and 1 kg m^2 where none is given |
| frame that moves | a point |

An axis that does not contain the origin of the child's frame needs a massless link in between, so
that the frames of links stay those of the file.  `entries` lists every entry with its use; warnings
name entries that act on the dynamics but are left out, such as plugins.

Source: the SDFormat specification (sdformat.org), and libsdformat where that is silent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from symgen.description.foreign.entries import SDF, remark
from symgen.description.foreign.nodes import (
    Assembly,
    Entries,
    LegalNames,
    depth_first,
    inertia,
    joint_node,
    kind_of,
    name_of,
    node,
    point_node,
    representation_of,
    table,
    triple,
)
from symgen.description.foreign.rotations import HERE, Matrix, Pose, product, turned, unit
from symgen.description.foreign.sdf_frames import WORLD, Files, Frame, Frames
from symgen.description.foreign.xml import INFINITE, Element, Faults, number, unless_zero, values
from symgen.description.names import BASE
from symgen.description.reading import Document, Node, Scalar, Table
from symgen.description.wording import in_line, shown
from symgen.joints import JointType
from symgen.options import ReadOptions

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
_GRAVITY = ("0", "0", "-9.8")
"""Default gravity of a world in the format."""
_TENSOR = {"ixx": "1", "iyy": "1", "izz": "1", "ixy": "0", "ixz": "0", "iyz": "0"}
"""Entries of an inertia, with their defaults."""
_APART = ("world", "model", "link", "joint", "frame", "include")
"""Elements that are compared with the table one by one, because only those of the robot count."""


def document_of_sdf(root: Element, files: Sequence[str], reading: ReadOptions) -> Document:
    """Convert an <sdf>; `ModelError` lists all its faults.

    `files` are the source files that line numbers refer to.
    """
    frames = Frames(Files([*files], reading))
    frames.read(root)
    remark_all(frames, root)
    return _Reader(frames, reading).document(root)


class _Reader:
    """Converts the links and joints of a robot, by their full names.

    `carried` maps links to the joints on them; `ordered` is depth-first; `start` is the root link,
    None if the world carries all links; `moving` are links that move.
    """

    def __init__(self, frames: Frames, reading: ReadOptions) -> None:
        self.frames, self.faults, self.options = frames, frames.files.faults, reading
        self.links: dict[str, Element] = {}
        self.joints: list[_Joint] = []
        self.carried: dict[str, list[_Joint]] = {}
        self.link_names: dict[str, str] = {WORLD: BASE}
        self.joint_names: dict[str, str] = {}
        self.moving: set[str] = set()
        self.take_joints()
        self.faults.raise_if_any()
        self.start = self.root_link()
        self.ordered = list(depth_first(self.carried, self.start or WORLD))
        self.check_all_hang_together()
        full_names = [*(joint.name for joint in self.ordered), *self.links]
        self.assembly = Assembly(self.faults, map(frames.key, full_names))
        self.assembly.base = WORLD
        self.name_all()

    def document(self, root: Element) -> Document:
        """Return the document of the robot."""
        if self.start is not None:
            self.take_root(self.start)
        for joint in self.ordered:
            self.take_joint(joint)
        self.faults.raise_if_any()
        points, gravity = self.points(), self.gravity()
        return self.assembly.document(root, self.frames.model, gravity, points=points)

    # ------------------------------------------------------------------------------- the graph

    def take_joints(self) -> None:
        """Collect the links and joints of the robot."""
        frames, faults = self.frames, self.faults
        inside = f"{frames.model}::"
        inner = [(name, x) for name, x in frames.frames.items() if name.startswith(inside)]
        self.links = {name: x.element for name, x in inner if x.kind == "link"}
        if not self.links:
            faults.add(frames.frames[frames.model].element, "model", "a model needs a <link>")
        carriers: dict[str, _Joint] = {}
        for name, frame in inner:
            joint = self.joint_of(name, frame) if frame.kind == "joint" else None
            if joint is None:
                continue
            carrier = carriers.setdefault(joint.child, joint)
            if carrier is not joint:
                words = (
                    f"the link {shown(frames.key(joint.child))} is carried by "
                    f"{shown(frames.key(carrier.name))} already"
                )
                if self.options.without_loops:
                    faults.warn(frame.element, joint.key, f"left out: {words}")
                    continue
                message = (
                    f"{words}; are <parent> and <child> in each other's place? Loops of SDF are "
                    "not read; --without-loops (in Python: without_loops=True) reads the open tree "
                    "without this joint, and 'loops:' of a model file (symgen convert) closes it"
                )
                faults.add(frame.element, joint.key, message)
            self.joints.append(joint)
            self.carried.setdefault(joint.parent, []).append(joint)

    def joint_of(self, name: str, frame: Frame) -> _Joint | None:
        """Return a joint; None, with a fault or a warning, if it cannot be read."""
        element, key = frame.element, f"joint.{self.frames.key(name)}"
        is_gearbox = element.attributes.get("type", "").strip() == "gearbox"
        if self.options.without_loops and is_gearbox:
            self.faults.warn(element, key, "left out: a gearbox couples two joints")
            return None
        kind = _type_of(self.faults, element, key)
        parent, child = (self.end(frame, tag, key) for tag in ("parent", "child"))
        if not kind or parent is None or child is None:
            return None
        return _Joint(self.frames, name, frame, kind, parent, child)

    def end(self, frame: Frame, tag: str, key: str) -> str | None:
        """The full name of the link in <parent> or <child>; None, and a fault, if there is none."""
        element, key = frame.element.first(tag), f"{key}.{tag}"
        if element is None or not element.text:
            message = f"a joint needs <{tag}>LINK</{tag}>"
            self.faults.add(frame.element, key.removesuffix(f".{tag}"), message)
            return None
        full = self.frames.find(frame.scope, element.text, element, key)
        link = None if full is None else self.frames.link_of(full)
        if full is not None and link is None:
            self.faults.add(element, key, f"{shown(element.text)} is fixed to no link")
        if link == WORLD and tag == "child":
            question = "are <parent> and <child> in each other's place?"
            self.faults.add(element, key, f"the world is no child of a joint; {question}")
            return None
        if link is not None and link != WORLD and link not in self.links:
            self.faults.add(
                element, key, f"the link {shown(element.text)} belongs to another model"
            )
            return None
        return link

    def root_link(self) -> str | None:
        """Return the root link; None if the world carries all links."""
        key = self.frames.key
        carried = {joint.child for joint in self.joints}
        roots = [name for name in self.links if name not in carried]
        anchored = WORLD in self.carried
        if len(roots) + anchored > 1:
            besides = f"nor {shown(key(roots[0]))}" if len(roots) > 1 else "and others the world"
            message = (
                f"no joint carries this link, {besides}; exactly one link is the base, and every "
                "other one the <child> of a joint (type fixed, say)"
            )
            self.faults.add(self.links[roots[-1]], f"link.{key(roots[-1])}", message)
        if anchored and self.options.floating_base:
            joint = self.carried[WORLD][0]
            message = "fixed to the world by this joint; remove it for a robot that floats"
            self.faults.add(joint.frame.element, joint.key, message)
        self.faults.raise_if_any()
        return roots[0] if roots else None

    def check_all_hang_together(self) -> None:
        """Refuse joints that are not connected to the root link or the world."""
        reached = {joint.name for joint in self.ordered}
        lost = next((joint for joint in self.joints if joint.name not in reached), None)
        if lost is not None:
            message = "this joint belongs to a loop of parents and children; one link is the base"
            self.faults.add(lost.frame.element, lost.key, message)
        self.faults.raise_if_any()

    def name_all(self) -> None:
        """Name joints and links in the model; a link may have the name of its joint."""
        new, key = self.assembly.names.new, self.frames.key
        for joint in self.ordered:
            self.joint_names[joint.name] = new("joint", key(joint.own_name), self.kind(joint))
        if self.start is not None:
            at_base = not self.options.floating_base and _is_here(self.frames.in_world(self.start))
            self.link_names[self.start] = BASE if at_base else new("link", key(self.start))
            if at_base:
                self.assembly.base = key(self.start)
        for joint in self.ordered:
            same = joint.child == joint.own_name and self.kind(joint).coordinates < 2
            self.link_names[joint.child] = (
                self.joint_names[joint.name] if same else new("link", key(joint.child))
            )

    def kind(self, joint: _Joint) -> JointType:
        """Return the type of joint with the coordinates of a joint in SDF."""
        name = "universal" if joint.kind in _TWO_AXES else TYPES[joint.kind]
        return kind_of(name, self.options.angles)

    # ------------------------------------------------------------------------ joints and links

    def take_root(self, link: str) -> None:
        """Add the root link: the base itself, a link fixed to it, or a floating link."""
        frames, element, names = self.frames, self.links[link], self.assembly.names
        key, line = f"link.{frames.key(link)}", element.line
        if self.options.floating_base:
            self.assembly.add_floating_base(self.options.angles, self.link(link), key, line)
            self.moving.add(link)
            return
        placed = [frames.frames[frames.model].element, frames.includes.get(frames.model, element)]
        if not any(child_flag(self.faults, x, "static", "model") for x in placed):
            words = (
                "nothing fixes this link to the world, so a simulator lets it float; it is the "
                "base here, and its inertia is left out; a robot that floats: symgen convert "
                "--floating-base"
            )
            self.faults.warn(element, key, words)
        if self.link_names[link] != BASE:
            name = names.made("joint", f"{frames.key(link)}_fixed")
            content, pose = table({"name": self.link_names[link]}, line), frames.in_world(link)
            self.assembly.add(joint_node(name, "fixed", BASE, pose, content, line), key, key)

    def take_joint(self, joint: _Joint) -> None:
        """Add a joint and its link, with massless links in between if necessary."""
        frames, line, names = self.frames, joint.frame.element.line, self.assembly.names
        name, key = self.joint_names[joint.name], joint.key
        if joint.parent in self.moving or joint.kind != "fixed":
            self.moving.add(joint.child)
        link_key = f"link.{frames.key(joint.child)}"
        axes = joint.axes()
        pose = frames.relative(joint.parent, joint.child)
        ahead = joint.ahead(axes)
        parent, behind = self.link_names[joint.parent], self.link(joint.child)
        steps = self.steps(joint, axes, name)
        for count, (step, kind, nodes) in enumerate(steps, start=1):
            content = behind
            if count < len(steps) or not _is_here(ahead):
                content = table({"name": names.made("link", f"{name}_frame")}, line)
            origin = pose @ ahead if count == 1 else HERE
            moving = joint_node(step, kind, parent, origin, content, line, nodes)
            self.assembly.add(moving, key, link_key)
            parent = name_of(content)
        if not _is_here(ahead):
            fixed = names.made("joint", f"{name}_fixed")
            still = joint_node(fixed, "fixed", parent, ahead.inverse(), behind, line)
            self.assembly.add(still, key, link_key)

    def steps(self, joint: _Joint, axes: list[Axis], name: str) -> list[tuple[str, str, Entries]]:
        """Name, type and other entries of the joints that replace a joint."""
        kind = TYPES[joint.kind]
        if not axes:
            form = representation_of(kind_of(kind, self.options.angles))
            return [(name, kind, {"coordinates": form, **joint.of_ball(), **joint.rotor()})]
        entries = [
            {**axis.nodes, "mimic": self.mimic(joint, tag)}
            for axis, tag in zip(axes, ("axis", "axis2"), strict=False)
        ]
        if joint.kind == "screw":
            entries[0]["pitch"] = joint.pitch()
        entries[0] |= joint.rotor()
        if len(entries) == 1:
            return [(name, kind, entries[0])]
        return [(f"{name}_{k}", kind, entry) for k, entry in enumerate(entries, start=1)]

    def mimic(self, joint: _Joint, tag: str) -> Table | None:
        """Return the coordinate that an axis follows: multiplier (x - reference) + offset."""
        axis = joint.frame.element.first(tag)
        element, faults = None if axis is None else axis.first("mimic"), self.faults
        if element is None:
            return None
        key, line = f"{joint.key}.{tag}.mimic", element.line
        name = faults.text(element, "joint", key)
        full = self.frames.find(joint.frame.scope, name, element, key) if name else None
        if full is None:
            return None
        new = self.joint_names.get(full)
        if new is None:
            faults.add(element, key, f"there is no joint named {shown(name)} in this model")
            return None
        if self.frames.frames[full].element.attributes.get("type", "") in _TWO_AXES:
            new = f"{new}_{2 if element.attributes.get('axis', '').strip() == 'axis2' else 1}"
        numbers = {"multiplier": 1.0, "offset": 0.0, "reference": 0.0}
        for word in numbers:
            value = child_number(faults, element, word, key)
            numbers[word] = numbers[word] if value is None else float(value.text)
        shift = numbers["offset"] - numbers["multiplier"] * numbers["reference"]
        multiplier, offset = numbers["multiplier"], shift or None
        return table({"coordinate": new, "multiplier": multiplier, "offset": offset}, line)

    def link(self, name: str) -> Table:
        """Return the link: mass, centre of mass, inertia in axes of the link frame."""
        element, faults = self.links[name], self.faults
        key, line = f"link.{self.frames.key(name)}", element.line
        inertial = element.first("inertial")
        if inertial is None:
            words = "without <inertial> a link has 1 kg and 1 kg m^2 in this format"
            faults.warn(element, key, words)
            inertial = Element("inertial", {}, line)
        key = f"{key}.inertial"
        if inertial.attributes.get("auto", "false").strip() in ("true", "1"):
            message = "auto: masses of shapes are not computed; write <mass> and <inertia>"
            faults.add(inertial, key, message)
        at, tensor = inertial.first("pose"), inertial.first("inertia")
        pose = HERE if at is None else self.frames.pose_in(at, key)
        entries = [
            child_number(faults, tensor, tag, f"{key}.inertia") or number(default, inertial.line)
            for tag, default in _TENSOR.items()
        ]
        if not np.array_equal(pose.turn, np.eye(3)):
            about = turned(pose.turn, values(entries))
            entries = [number(x, inertial.line) for x in about]
        mass = child_number(faults, inertial, "mass", key)
        nodes = {
            "name": node(self.link_names[name], line),
            "mass": mass or number("1", inertial.line),
            "com": triple(pose.at, inertial.line),
            "inertia": inertia(entries, inertial.line),
        }
        return table(nodes, inertial.line)

    # -------------------------------------------------------------------------------- the rest

    def points(self) -> list[Node]:
        """Return the moving <frame>s, as points."""
        frames = self.frames
        moving = [
            (name, link)
            for name, frame in frames.frames.items()
            if frame.kind == "frame" and (link := frames.link_of(name)) in self.moving
        ]
        names = LegalNames(frames.key(name) for name, _ in moving)
        points: list[Node] = []
        for name, link in moving:
            new, at = names.new("point", frames.key(name)), frames.relative(link, name).at
            line = frames.frames[name].element.line
            points.append(point_node(new, self.link_names[link], at, line))
        self.assembly.names.changed.extend(names.changed)
        return points

    def gravity(self) -> Node | None:
        """Gravity of the world; None if the model is in no world."""
        world = self.frames.world
        if world is None:
            return None
        physics = world.first("physics")
        older = None if physics is None else physics.first("gravity")
        element = world.first("gravity") or older
        if element is None or not element.text:
            return node([number(word, world.line) for word in _GRAVITY], world.line)
        numbers = self.faults.numbers_in(element, element.text, "gravity: ", "world", 3)
        return None if numbers is None else node(numbers, element.line)


def _is_here(pose: Pose) -> bool:
    return not pose.at.any() and np.array_equal(pose.turn, np.eye(3))


# ---------------------------------------------------------------------------------------- joints


@dataclass(frozen=True)
class Axis:
    """One coordinate of a joint: its direction in the frame of the child, and its entries."""

    direction: Matrix
    nodes: Entries


def child_number(faults: Faults, element: Element | None, tag: str, key: str) -> Scalar | None:
    """Return the number in a child of an element; None if it is missing or faulty."""
    child = None if element is None else element.first(tag)
    if child is None or not child.text:
        return None
    numbers = faults.numbers_in(child, child.text, f"{tag}: ", key, 1)
    return None if numbers is None else numbers[0]


def child_flag(faults: Faults, element: Element, tag: str, key: str) -> bool:
    """Return the boolean value of a child of an element, false by default."""
    child = element.first(tag)
    words = "" if child is None else child.text.lower()
    if child is not None and words not in ("", "true", "1", "false", "0"):
        faults.add(child, key, f"{tag}: expected true or false, found {shown(child.text)}")
    return words in ("true", "1")


def _type_of(faults: Faults, element: Element, key: str) -> str:
    """Return the type of a joint in SDF; "", and a fault, if it is not available."""
    kind = faults.text(element, "type", key)
    if kind in _NOT_AVAILABLE:
        faults.add(element, key, f"type {kind} is not available: {_NOT_AVAILABLE[kind]}")
        return ""
    if kind and kind not in TYPES:
        faults.add(element, key, f"type: no joint type {shown(kind)}{faults.hint(kind, TYPES)}")
        return ""
    return kind


@dataclass(frozen=True)
class _Joint:
    """A joint with its links, by full names."""

    frames: Frames
    name: str
    frame: Frame
    kind: str
    parent: str
    child: str

    @property
    def faults(self) -> Faults:
        """The collector of faults."""
        return self.frames.files.faults

    @property
    def key(self) -> str:
        """The name of the joint in messages."""
        return f"joint.{self.frames.key(self.name)}"

    @property
    def own_name(self) -> str:
        """The name of the joint, without the suffix of its frame where a link has the same name."""
        return self.name.removesuffix(" (joint)")

    def ahead(self, axes: list[Axis]) -> Pose:
        """Pose in the child's frame of the frame with the axes of motion."""
        at_joint = self.frames.relative(self.child, self.name)
        if self.kind == "ball":
            return at_joint
        turns = self.kind not in ("fixed", "prismatic")
        if turns and any(_is_off(at_joint.at, axis.direction) for axis in axes):
            return Pose(at_joint.at, np.eye(3))
        return HERE

    def axes(self) -> list[Axis]:
        """Its axes from the parent outwards; none for a fixed or a ball joint."""
        if self.kind in _WITHOUT_AXIS:
            return []
        tags = ("axis", "axis2") if self.kind in _TWO_AXES else ("axis",)
        return [self.axis(tag) for tag in tags]

    def axis(self, tag: str) -> Axis:
        """Return the axis of an <axis> or <axis2>."""
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
        nonzero = {name: unless_zero(value) for name, value in terms.items()}
        if nonzero["stiffness"] is not None:
            rest = child_number(self.faults, dynamics, "spring_reference", key)
            nonzero["rest"] = unless_zero(rest)
        nodes = {"axis": written, "limits": self.limits(limit, key), **nonzero}
        return Axis(direction, nodes)

    def direction(self, element: Element, key: str) -> tuple[Matrix, Node | None]:
        """The direction in the child's frame, as numbers and as a node (as written if possible)."""
        xyz, line = element.first("xyz"), element.line
        numbers = [number(word, line) for word in ("0", "0", "1")]
        if xyz is not None and xyz.text:
            written = self.faults.numbers_in(xyz, xyz.text, "xyz: ", key, 3)
            numbers = numbers if written is None else written
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
            return vector, node(numbers, line)
        vector = product(turn, vector) + 0.0
        return vector, node(vector.tolist(), line)

    def expressed_in(self, element: Element, xyz: Element | None, key: str) -> str | None:
        """Return the full name of the frame in which the direction is expressed."""
        scope = self.frame.scope
        if scope.names_frames:
            frame = "" if xyz is None else xyz.attributes.get("expressed_in", "").strip()
            if not frame:
                return self.name
            return self.frames.find(scope, frame, xyz or element, key)
        if scope.source.version < IN_MODEL_FRAME:
            return scope.frame
        in_model = child_flag(self.faults, element, "use_parent_model_frame", key)
        return scope.frame if in_model else self.name

    def limits(self, limit: Element | None, key: str) -> Table | None:
        """Return the limits of an axis: lower, upper, velocity and effort."""
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
        entries = {**ends, **positive}
        return table(entries, limit.line) if any(entries.values()) else None

    def end(self, limit: Element, tag: str, key: str) -> Scalar | None:
        """Return a limit; None if it is very large or infinite."""
        child = limit.first(tag)
        if child is not None and child.text.lower() in INFINITE:
            return None
        value = child_number(self.faults, limit, tag, key)
        return None if value is None or abs(float(value.text)) >= _UNLIMITED else value

    def of_ball(self) -> Entries:
        """Damping and friction of a ball joint, from an <axis> without direction."""
        axis = self.frame.element.first("axis") if self.kind == "ball" else None
        dynamics, key = None if axis is None else axis.first("dynamics"), f"{self.key}.axis"
        stiffness = unless_zero(child_number(self.faults, dynamics, "spring_stiffness", key))
        if dynamics is not None and stiffness is not None:
            words = "spring_stiffness is left out: a ball joint has no axis that it is about"
            self.faults.warn(dynamics, key, words)
        names = ("damping", "friction")
        return {x: unless_zero(child_number(self.faults, dynamics, x, key)) for x in names}

    def rotor(self) -> Entries:
        """Return the rotor of a drive (Drake); none, with a warning, for joints without an axis."""
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
        """Return the pitch of a screw, in m per radian."""
        element, line = self.frame.element, self.frame.element.line
        travel = child_number(self.faults, element, "screw_thread_pitch", self.key)
        if travel is not None:
            return number(float(travel.text) / (2.0 * math.pi), line)
        old = child_number(self.faults, element, "thread_pitch", self.key)
        if old is None:
            self.faults.add(element, self.key, "a screw needs <screw_thread_pitch>, in m per turn")
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


def _is_off(anchor: Matrix, direction: Matrix) -> bool:
    """Whether an axis through `anchor` (3,) does not contain the origin."""
    beside = np.cross(anchor, direction)
    return bool(np.abs(beside).max() > _NEAR_PARALLEL * np.abs(anchor).max())


# --------------------------------------------------------------------------------------- remarks


def remark_all(frames: Frames, root: Element) -> None:
    """Warn of entries of the robot and its surroundings that are left out."""
    faults, world = frames.files.faults, frames.world
    if frames.other_models:
        names = ", ".join(map(shown, frames.other_models[:8]))
        more = ", ..." if len(frames.other_models) > 8 else ""
        word = "model" if len(frames.other_models) == 1 else "models"
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
    """Refuse joints that other programs have added to the format."""
    for child in element.children:
        prefix, colon, rest = child.tag.partition(":")
        if colon and rest == "joint":
            message = f"<{in_line(child.tag)}> is of {in_line(prefix)} alone, and is not read"
            faults.add(child, key, message)
