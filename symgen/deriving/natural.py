"""Conversion of a model to natural coordinates: description -> description.

Links keep their parents, joints their frames; coordinates become those of `symgen.joints.natural`.
A joint whose axis is constant in base axes is recognised by structure, for all values of the
parameters: its link has two coordinates where it turns, and where it slides its old one.

The coordinate of any other joint stays, in addition to the natural ones, where a rotor, damper,
spring or friction acts along it, where a relation, force or output names it, and where it has a
drive in a model in which some joints have none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from symgen.algebra.graph import Graph
from symgen.algebra.linear import Vector, all_zero
from symgen.algebra.nodes import Scalar
from symgen.deriving.derivation import derived_program
from symgen.description.expressions import Expression, evaluate, literal
from symgen.description.model import JointDescription, JointTerms, Limits, RobotDescription
from symgen.description.quantities import RATES, WRENCHES
from symgen.errors import RequestError
from symgen.formulations.natural_coordinates import NATURAL_COORDINATES
from symgen.formulations.semi_recursive import SEMI_RECURSIVE
from symgen.joints import ANGLES, NaturalCoordinates, joint_type, natural_coordinates
from symgen.kinematics.frames import Placement, placement
from symgen.kinematics.natural_states import natural_state
from symgen.kinematics.tree import build_tree
from symgen.program.interpreter import call
from symgen.runtime.configuration import Configuration

SHAPES = ("gear_ratio", "rest", "friction_velocity", "stribeck_velocity")
"""Joint terms that are nothing without others."""

Constant = Vector[Scalar] | bool
"""Directions of a link that are constant in base axes: all, none, or one, in its axes."""
State = tuple[Sequence[float], Sequence[float]]
"""Coordinates (nq,) and velocities (n,)."""


def in_natural_coordinates(
    description: RobotDescription, start: State | None = None
) -> RobotDescription:
    """Convert a model to natural coordinates.

    Args:
        description: the robot, in relative coordinates.
        start: initial coordinates (nq,) and velocities (n,), default: those of the file.

    Returns:
        The robot with natural coordinates, and the initial state in these.

    Raises:
        RequestError: a joint follows another one, is prescribed or helical, has terms or names of
            several coordinates, or an output mentions a joint wrench.
    """
    graph, named = Graph(), _named(description)
    drives = not all(joint.actuated for joint in description.joints)
    constant: dict[str, Constant] = {"base": True}
    joints = []
    for joint in description.joints:
        used = any(map(_acts, joint.terms)) or not named.isdisjoint(joint.coordinate_names)
        if joint.coordinates == 1:
            used = used or (drives and joint.actuated)
        at = placement(joint, joint_type(joint.type).moved_entry, graph)
        axis, fixed = at.tree.rotation.apply(at.axis), constant[joint.parent]
        if isinstance(fixed, Vector):
            fixed = all_zero(fixed.cross(axis), graph)
        coordinates = _coordinates(joint, fixed, used, description)
        joints.append(_converted(joint, coordinates, fixed))
        constant[joint.link.name] = _directions(at, coordinates, constant[joint.parent])
    converted = replace(description, joints=tuple(joints), is_natural=True)
    names = set(converted.coordinate_names)
    if len(names) < len(converted.coordinate_names):
        raise RequestError(
            f"{description.file}: names of joints coincide with those of natural coordinates, such "
            "as arm_u_x of the joint arm; rename these joints"
        )
    rows = Counter(build_tree(converted, Graph()).constraint_names)
    for name in (name for name, count in rows.items() if count > 1):
        raise RequestError(
            f"{description.file}: the loop or relation {name!r} has the name of a row of natural "
            "coordinates; rename it"
        )
    kept = tuple(drive for drive in description.initial_drives if drive.name in names)
    initial = _initial(description, converted, start or description.initial_state)
    return replace(converted, initial=initial, initial_drives=kept)


def _named(description: RobotDescription) -> set[str]:
    """Return the coordinates in relations, forces and outputs."""
    mentioned = [x.expression.names for x in description.relations]
    mentioned += [x.expression.names for x in description.outputs]
    words = [name.split(".") for names in mentioned for name in names]
    words += [name.split(".") for force in description.forces for name in force.names]
    for output in description.outputs:
        if any(name.split(".")[0] == WRENCHES for name in output.expression.names):
            raise RequestError(
                f"{description.file}:{output.source.line}: the output {output.name!r} mentions a "
                "joint wrench, which natural coordinates have not; multipliers are the forces there"
            )
    return {word[1] for word in words if word[0] in RATES and len(word) > 1}


def _acts(terms: JointTerms) -> bool:
    """Whether a rotor, damper, spring or friction acts along a coordinate."""
    entries = (getattr(terms, field.name) for field in fields(terms) if field.name not in SHAPES)
    return any(x is not None and (x.names or evaluate(x, {}) != 0.0) for x in entries)


def _directions(
    at: Placement[Scalar], coordinates: NaturalCoordinates, carrier: Constant
) -> Constant:
    """Return the constant directions of the link of a joint."""
    if coordinates.plane:
        return at.link.rotation.apply_transposed(at.axis)
    if coordinates.vectors:
        return False
    turn = at.tree.rotation @ at.link.rotation  # as its parent
    return turn.apply_transposed(carrier) if isinstance(carrier, Vector) else carrier


def _coordinates(
    joint: JointDescription, fixed: bool, used: bool, description: RobotDescription
) -> NaturalCoordinates:
    """Return the natural coordinates of a link; `used`: whether its joint coordinates are."""
    where = f"{description.file}:{joint.source.line}"
    forbids = getattr(joint_type(joint.type), "forbids", () if joint.type == "floating" else None)
    if joint.mimic is not None or any(joint.prescribed) or forbids is None:
        what = "follows another joint (mimic)" if joint.mimic else f"is {joint.type}"
        what = "has a prescribed motion" if any(joint.prescribed) else what
        raise RequestError(
            f"{where}: {joint.name!r} {what}, for which there are no natural coordinates yet; use "
            "the formulation semi_recursive"
        )
    if (used and joint.coordinates > 1) or evaluate(joint.added_mass, {}):
        raise RequestError(
            f"{where}: a joint term, relation, force or output needs the coordinates of "
            f"{joint.name!r}; natural coordinates have none of joints with several; use the "
            "formulation semi_recursive"
        )
    return natural_coordinates(forbids, fixed, used)


def _converted(
    joint: JointDescription, coordinates: NaturalCoordinates, fixed: bool
) -> JointDescription:
    """Return a joint with natural coordinates; unchanged where it slides along a constant axis."""
    if joint.coordinates == 0 or (joint.type == "prismatic" and fixed):
        return joint
    count = len(coordinates.names(joint.name)) - coordinates.displacement
    kept = coordinates.displacement
    return replace(
        joint, natural=coordinates, representation=ANGLES, rest=(),
        actuated=kept and joint.actuated,
        terms=(*joint.terms[:kept], *(JointTerms(),) * count),
        limits=(*joint.limits[:kept], *(Limits(),) * count),
        prescribed=(False,) * (kept + count),
    )  # fmt: skip


# -- states ----------------------------------------------------------------------------------------


def _initial(
    description: RobotDescription, converted: RobotDescription, start: State
) -> dict[str, tuple[Expression, ...]]:
    """Return the initial state in natural coordinates."""
    q, qd = map(np.array, start)
    quaternions = build_tree(description, Graph()).quaternions
    q = Configuration(len(qd), quaternions).normalize(q)
    poses, motion = (
        derived_program(description, SEMI_RECURSIVE, name)
        for name in ("forward_kinematics", "link_motion")
    )
    natural = derived_program(converted, NATURAL_COORDINATES, "forward_kinematics")
    places = dict(zip(description.position_names, q, strict=True))
    rates = dict(zip(description.coordinate_names, qd, strict=True))
    z, zd = natural_state(
        lambda z: call(natural, {"q": z})[0],
        converted.coordinate_names,
        (call(poses, {"q": q})[0], call(motion, {"q": q, "qd": qd})[0]),
        (places, rates),
    )
    return {
        key: tuple(literal(repr(x), x) for x in entries.real.tolist())
        for key, entries in (("q", z), ("qd", zd))
    }
