"""`frictionloss` of free joints of MuJoCo: in their travel, along the axes of the world.

Joint terms act along the axes of the body there.  So this friction becomes a force of the model at
the origin of the link, -f tanh(v / v_f) along each axis of the base, as joints have it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from symgen.description.foreign.legal import LegalNames
from symgen.description.foreign.nodes import listing, table, text
from symgen.description.model import FRICTION_VELOCITY
from symgen.description.quantities import POINTS, quantity
from symgen.description.reading import Listing, Node, Scalar


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
