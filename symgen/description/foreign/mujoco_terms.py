"""Terms of joints as MuJoCo means them, and what symgen has no equations for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symgen.description.foreign.kinds import kind_of, representation_of
from symgen.description.foreign.mujoco_friction import of_angular_velocity
from symgen.description.foreign.nodes import listing
from symgen.description.foreign.xml import Element, Faults, number
from symgen.description.reading import Node, Scalar

TYPES = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical", "free": "floating"}
TERMS = {
    "armature": "rotor_inertia",
    "damping": "damping",
    "frictionloss": "friction",
    "stiffness": "stiffness",
}
"""What drives, bearings and springs are called there and in a model file."""
_MOST_NAMED = 20


def refuse_constraints(
    faults: Faults,
    element: Element,
    named: Sequence[str],
    without_loops: bool,
) -> None:
    """Constraints and tendons, by name: a fault, or a remark where the open tree is asked for."""
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    words = ", ".join(named[:_MOST_NAMED]) + more
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
