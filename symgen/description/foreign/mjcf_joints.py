"""The joints of MJCF, with their defaults."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from symgen.description.foreign.kinds import kind_of
from symgen.description.foreign.mjcf_settings import (
    TERMS,
    TYPES,
    Reading,
    attributes_of,
    keyword,
    rest_of,
    terms_of,
)
from symgen.description.foreign.nodes import listing, table
from symgen.description.foreign.rotations import (
    HERE,
    Matrix,
    Pose,
    from_axis_angle,
    to_quaternion,
    unit,
)
from symgen.description.foreign.xml import Element, number, values
from symgen.description.reading import Node, Scalar, Table
from symgen.description.synonyms import OF_MUJOCO
from symgen.description.wording import shown
from symgen.joints import JointType

_COEFFICIENTS = 3


@dataclass(frozen=True)
class MjcfJoint:
    """A joint of MJCF, with its defaults: `anchor` and `axis` are in the body's frame."""

    reading: Reading
    element: Element
    attributes: dict[str, str]
    name: str
    mujoco_type: str
    anchor: Matrix
    axis: list[Scalar]

    @classmethod
    def of(cls, reading: Reading, element: Element, body: str, inherited: str) -> MjcfJoint:
        """What the element says; faults are recorded here."""
        attributes = attributes_of(reading, element, inherited)
        name = element.attributes.get("name", "").strip() or f"{body}_joint"
        filled = Element(element.tag, attributes, element.line)
        kind = "free" if element.tag == "freejoint" else attributes.get("type", "hinge")
        if kind not in TYPES:
            hint = reading.faults.hint(kind, TYPES)
            if kind.lower() in OF_MUJOCO:
                hint = f"; in MJCF it is called {shown(OF_MUJOCO[kind.lower()])}"
            elif kind.lower() == "fixed":
                hint = "; a body without a joint is fixed to its parent"
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
    def type(self) -> JointType:
        """The same with the coordinates that are asked for."""
        return kind_of(self.kind, self.reading.angles)

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
    def at_zero(self) -> Pose:
        """Its motion where the coordinate is 0: MuJoCo counts from `ref`."""
        found = self.numbers("ref", 1) if self.directed else None
        if not found or not values(found)[0]:
            return HERE
        ref = values(found)[0]
        try:
            axis = unit(values(self.axis))
        except ValueError:
            return HERE  # the check of the axis says so
        if self.turns:
            turn = from_axis_angle(axis.tolist(), -self.reading.angle(ref))
            return Pose(np.zeros(3), turn)
        return Pose(-ref * axis, np.eye(3))

    def numbers(self, attribute: str, count: int) -> list[Scalar] | None:
        """Numbers of an attribute, its own or a default; None where it is not given."""
        return self.reading.faults.numbers(self.element, attribute, self.key, count)

    def coefficients(self, attribute: str) -> int:
        """How many numbers an attribute gives: MuJoCo has polynomials, of up to three.

        Those behind the first one are of higher order, and 0 where they are read here.
        """
        words = self.attributes.get(attribute, "").split()
        count = len(words) if attribute in ("stiffness", "damping") else 1
        found = self.numbers(attribute, count) if 1 < count <= _COEFFICIENTS else None
        if found is None:
            return 1
        if any(values(found[1:])):
            message = (
                f"{attribute}: a polynomial, here of {count} coefficients, is not available yet; "
                "give the first coefficient alone"
            )
            self.reading.faults.add(self.element, self.key, message)
        return count

    def term(self, attribute: str, is_angle: bool = False) -> Scalar | None:
        """A number that is not 0; angles in rad."""
        found = self.numbers(attribute, self.coefficients(attribute))
        if not found or not values(found)[0]:
            return None
        if is_angle and self.turns and self.reading.degrees:
            return number(math.radians(values(found)[0]), self.element.line)
        return found[0]

    def entries(self, body: Pose) -> dict[str, Node | None]:
        """What the model file says of it beside name, type, parent and origin.

        `body` is the pose of its body where all coordinates are 0.
        """
        limited = keyword(self.reading, self.element, "limited", self.key) or "auto"
        if not self.directed:
            if self.mujoco_type == "ball" and self.limits(limited):
                words = f"left out of joint {shown(self.name)}: the angle of a ball has a limit"
                self.reading.faults.warn(self.element, self.key, words)
            return self.entries_on_manifold(body)
        stiffness = self.term("stiffness")
        terms: dict[str, Node | None] = {
            "rotor_inertia": self.term("armature"),
            "damping": self.term("damping"),
            "stiffness": stiffness,
            "rest": self.term("springref", is_angle=True) if stiffness else None,
            "friction": self.term("frictionloss"),
        }
        return {
            "axis": listing(self.axis, self.element.line),
            "limits": self.limits(limited),
            **terms,
        }

    def entries_on_manifold(self, body: Pose) -> dict[str, Node | None]:
        """The same of a ball or free joint, whose spring is slack where the body stands."""
        given = {name: value for name in TERMS if (value := self.term(name)) is not None}
        reading = self.reading
        place = [*body.at, *to_quaternion(body.turn)] if self.is_free else [1, 0, 0, 0]
        rest = rest_of([float(x) for x in place], self.element.line)
        return terms_of(
            reading.faults, self.element, self.key, self.mujoco_type, given, rest, reading.angles
        )

    def limits(self, limited: str) -> Table | None:
        """The range of a joint that is limited: `limited` is true, false or auto."""
        found = self.numbers("range", 2)
        in_order = found is not None and float(found[0].text) < float(found[1].text)
        if limited == "true" and not in_order and ("range" not in self.attributes or found):
            message = "limited: expected a range beside it, from a lower to a higher number"
            self.reading.faults.add(self.element, self.key, message)
        if limited == "auto" and found and not self.reading.auto_limits:
            message = "range: with autolimits='false' it needs limited='true' or 'false' beside it"
            self.reading.faults.add(self.element, self.key, message)
        if found is None or limited == "false" or not in_order:
            return None  # for MuJoCo such a range limits nothing
        if self.turns and self.reading.degrees:
            found = [number(math.radians(x), self.element.line) for x in values(found)]
        return table({"lower": found[0], "upper": found[1]}, self.element.line)
