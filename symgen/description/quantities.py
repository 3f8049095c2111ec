"""The names of quantities of the motion in expressions.

In outputs:

=========================================  ====================================================
name                                       meaning
=========================================  ====================================================
t                                          time (s)
q.NAME, qd.NAME, qdd.NAME                  a coordinate, its velocity and acceleration
tau.NAME                                   the torque or force of its joint, an argument like the
                                           acceleration
points.NAME.x y z, vx vy vz, ax ay az      position, velocity and acceleration of a point, base
                                           axes, without gravity
wrenches.NAME.fx fy fz nx ny nz            what the joint of a coordinate transmits, link axes
loads.NAME.fx fy fz nx ny nz               a load, base axes
tyres.NAME.fn fx fy mz my                  normal, forward and lateral force, moments about the
                                           normal of the ground and the axis of the wheel
tyres.NAME.depth kappa tan_alpha           depth in the ground (m), slip, tangent of slip angle
kinetic_energy, potential_energy           of the whole robot, rotors and springs included (J)
center_of_mass.x y z                       of all moving bodies, base frame (m)
multipliers.NAME                           of a constraint, in motions with closed loops
velocity_multipliers.NAME                  of the projection of velocities, if there is one
acceleration_multipliers.NAME              of the projection of accelerations
=========================================  ====================================================

They are results of the functions with the same names (`symgen.program.functions`).  NAME is the
name of a coordinate, a point, a load or a tyre; after ``wrenches`` also of a joint that follows
another, after ``multipliers`` of a row of ``constraint_names``.  Expressions of forces may contain
t, q, qd, and positions and velocities of points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from symgen.description.wording import shown

TIME = "t"
KINETIC_ENERGY = "kinetic_energy"
POTENTIAL_ENERGY = "potential_energy"
CENTER_OF_MASS = "center_of_mass"
POINTS = "points"
WRENCHES = "wrenches"
LOADS = "loads"
TYRES = "tyres"
MULTIPLIERS = ("multipliers", "velocity_multipliers", "acceleration_multipliers")
"""Families with one quantity for every constraint, in the order of `motion_multipliers`."""
RATES = ("q", "qd", "qdd", "tau")
"""Families with one quantity for every coordinate."""

SINGLE = (TIME, KINETIC_ENERGY, POTENTIAL_ENERGY)
"""Quantities without a dot, whose names a parameter in an output cannot have."""

AXES = ("x", "y", "z")

POINT_PARTS = ("x", "y", "z", "vx", "vy", "vz", "ax", "ay", "az")
STATE_PARTS = POINT_PARTS[:6]
"""Components of positions and velocities."""
WRENCH_PARTS = ("fx", "fy", "fz", "nx", "ny", "nz")
TYRE_PARTS = ("fn", "fx", "fy", "mz", "my", "depth", "kappa", "tan_alpha")

_MOST_LISTED = 9  # maximum number of names in a message
_OTHER_WORDS = {  # synonyms of families
    "angle": "q", "position": "q", "speed": "qd", "velocity": "qd", "acceleration": "qdd",
    "torque": "tau", "force": "tau", "moment": "tau", "com": CENTER_OF_MASS,
}  # fmt: skip

Nearest = Callable[[str, Iterable[str]], str | None]
"""Search of the nearest word."""


def is_velocity(name: str) -> bool:
    """Return whether a quantity is the velocity of a coordinate or of a point."""
    family, *rest = name.split(".")
    return family == RATES[1] or (family == POINTS and rest[-1:] in ([x] for x in STATE_PARTS[3:]))


def quantity(family: str, *rest: str) -> str:
    """Return the name of a quantity: ``quantity("points", "hand", "vx")`` is ``points.hand.vx``."""
    return ".".join((family, *rest))


@dataclass(frozen=True)
class Slot:
    """A part of a quantity's name: its kind and the possible words, None if not all are known."""

    kind: str
    words: Sequence[str] | None


@dataclass(frozen=True)
class Vocabulary:
    """The quantities of one model: the names of its coordinates, points, loads, tyres, constraints.

    `joints` are the names of the coordinates and of joints that follow them, in the order of the
    file.  None stands for names that could not all be read, so that none can be called wrong.
    `manifolds` are the joints with a quaternion, whose entries and rates are not quantities.
    """

    coordinates: Sequence[str] | None
    joints: Sequence[str] | None
    points: Sequence[str] | None
    loads: Sequence[str] | None
    manifolds: Sequence[str] = ()
    constraints: Sequence[str] | None = ()
    singles: tuple[str, ...] = SINGLE
    tyres: Sequence[str] | None = ()

    @property
    def families(self) -> Mapping[str, tuple[Slot, ...]]:
        """The parts after the first of quantities with dots, by the first."""
        coordinate = Slot("coordinate", self.coordinates)
        constraint = Slot("constraint", self.constraints)
        tyre = Slot("tyre", self.tyres), Slot("component", TYRE_PARTS)
        return {
            **{rate: (coordinate,) for rate in RATES},
            POINTS: (Slot("point", self.points), Slot("component", POINT_PARTS)),
            WRENCHES: (Slot("coordinate", self.joints), Slot("component", WRENCH_PARTS)),
            LOADS: (Slot("load", self.loads), Slot("component", WRENCH_PARTS)),
            CENTER_OF_MASS: (Slot("component", AXES),),
            **dict.fromkeys(() if self.constraints == () else MULTIPLIERS, (constraint,)),
            **dict.fromkeys(() if self.tyres == () else (TYRES,), tyre),
        }

    def problem(self, name: str, nearest: Nearest) -> str:
        """Return the message about the quantity `name`; "" if it exists."""
        family, *rest = name.split(".")
        if name in self.singles:
            return ""
        slots = self.families.get(family)
        if slots is None:
            return f"unknown quantity {shown(name)}{self._meant(family, rest, nearest)}"
        for word, slot in zip(rest, slots, strict=False):
            if slot.words is not None and word not in slot.words:
                if family in RATES and (joint := self._on_manifold(word)):
                    return (
                        f"{shown(name)}: {shown(joint)} has a quaternion, and velocities in axes "
                        "of its link, which no output can name; use a point of the link, such as "
                        f"{shown(quantity(POINTS, '<point>', 'vx'))}"
                    )
                hint = self._meant(family, rest, nearest) or _listed(slot)
                return f"unknown quantity {shown(name)}{hint}"
        if len(rest) < len(slots):
            missing = slots[len(rest)]
            return f"{shown(name)} lacks the {missing.kind} behind it{_listed(missing)}"
        if len(rest) > len(slots):
            end = quantity(family, *rest[: len(slots)])
            return f"unknown quantity {shown(name)}; nothing follows {shown(end)}"
        return ""

    def _on_manifold(self, word: str) -> str:
        """Return the joint with a quaternion that `word` or its coordinate belongs to, or ""."""
        joints = (x for x in self.manifolds if word == x or word.startswith(f"{x}_"))
        return max(joints, key=len, default="")

    def _meant(self, family: str, rest: Sequence[str], nearest: Nearest) -> str:
        """Return the tail of a message: the nearest quantity, or the forms of all."""
        near = family if family in self.families else _OTHER_WORDS.get(family)
        near = near or nearest(family, self.families)
        otherwise = "" if near == family else f"; there are {', '.join(self._forms())}"
        slots = () if near is None else self.families[near]
        if near is None or len(rest) != len(slots):
            return otherwise
        words: list[str] = []
        for place, (word, slot) in enumerate(zip(rest, slots, strict=True)):
            words_of_slot = slot.words or ()
            if several := _numbered(word, words_of_slot):
                names = (shown(quantity(near, *words, x, *rest[place + 1 :])) for x in several)
                return f"; did you mean one of {', '.join(names)}?"
            near_word = word if word in words_of_slot else nearest(word, words_of_slot)
            if near_word is None:
                return otherwise
            words.append(near_word)
        return f"; did you mean {shown(quantity(near, *words))}?"

    def _forms(self) -> list[str]:
        """Return the forms of the quantities of all families: ``points.<point>.<component>``."""
        families = self.families.items()
        forms = (quantity(name, *(f"<{x.kind}>" for x in slots)) for name, slots in families)
        return [*self.singles, *forms]


class StateVocabulary(Vocabulary):
    """The quantities in expressions of forces: functions of positions and velocities."""

    @property
    def families(self) -> Mapping[str, tuple[Slot, ...]]:
        """The parts after the first of quantities with dots, by the first."""
        coordinate = Slot("coordinate", self.coordinates)
        places = (Slot("point", self.points), Slot("component", STATE_PARTS))
        return {**dict.fromkeys(RATES[:2], (coordinate,)), POINTS: places}


def _numbered(word: str, names: Sequence[str]) -> list[str]:
    """The coordinates ``word_1``, ``word_2``, ... of a joint called `word`, if it has several."""
    if word in names:
        return []
    numbered = [x for x in names if x.startswith(f"{word}_") and x[len(word) + 1 :].isdigit()]
    return numbered if 1 < len(numbered) <= _MOST_LISTED else []


def _listed(slot: Slot) -> str:
    """Return the tail of a message: the words of a part."""
    if slot.words is None:
        return ""
    if not slot.words:
        return f"; the model has no {slot.kind}s"
    names = [*map(shown, slot.words[:_MOST_LISTED]), *["..."] * (len(slot.words) > _MOST_LISTED)]
    return f"; there {'is' if len(names) == 1 else 'are'} {', '.join(names)}"
