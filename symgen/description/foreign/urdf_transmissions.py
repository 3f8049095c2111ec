"""Rotors of URDF transmissions -> `rotor_inertia` and `gear_ratio` of joints.

| URDF | meaning |
| --- | --- |
| `motorInertia`, `drake:rotor_inertia` | inertia J of a rotor, in kg m^2 before the gear |
| `mechanicalReduction`, `drake:gear_ratio` | gear ratio n; of the transmission, actuator or joint |

A joint feels n^2 J; of several rotors at one joint the sum.  Gear ratios without an inertia of the
rotor say nothing about motions, for torques are those of the joints.  An inertia that only the
transmission has is that of one rotor, whatever its number of actuators.  A rotor that several
joints turn (differential, four-bar linkage) couples them, which joint terms cannot say: a warning
says so.

Source: `transmission_interface` of ros_control, Drake's documentation of `drake:rotor_inertia`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from symgen.description.foreign.xml import Element, Faults, number
from symgen.description.reading import Node, Scalar
from symgen.description.wording import shown

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
    for place in places:
        for tag in tags:
            given = [(place, place.attributes.get(tag, ""))]
            given += [(x, x.attributes.get("value", "") or x.text) for x in place.all(tag)]
            for here, words in given:
                numbers = faults.numbers_in(here, words, f"{tag}: ", key, 1) if words else None
                if numbers:
                    yield here, numbers[0]
