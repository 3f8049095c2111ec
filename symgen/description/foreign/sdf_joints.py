"""The joints of an SDF file: their types, axes, limits and terms as nodes of a model file.

| SDF | model file |
| --- | --- |
| revolute, continuous, prismatic, fixed | the same; continuous is revolute without limits |
| universal, revolute2 | two revolute joints, the first about `axis`, the second about `axis2` |
| screw | helical, its pitch from `screw_thread_pitch` (m per turn) or `thread_pitch` |
| ball | spherical, with a quaternion, or angles where these are asked for |
| axis xyz, in the joint's frame, that of `expressed_in`, or before 1.5 the model's | `axis` |
| limit, dynamics, mimic | `limits`; `damping`, `friction`, `stiffness` and `rest`; `mimic` |
| damping and friction of the `axis` of a ball | those of the angular velocity, as in Drake |
| `drake:rotor_inertia`, `drake:gear_ratio` | `rotor_inertia`, `gear_ratio`, of the first axis |

An axis that does not go through the origin of the child's frame takes a massless link in between,
so that the frames of links stay those of the file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from symgen.description.foreign.nodes import listing, table
from symgen.description.foreign.rotations import Matrix, unit
from symgen.description.foreign.sdf_frames import Frame, Frames, turned_vector
from symgen.description.foreign.xml import INFINITE, Element, Faults, number, values
from symgen.description.reading import Node, Scalar, Table
from symgen.description.wording import shown

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
