"""Fixed transforms and frame styles.

Joints of every style are converted to ``tree @ motion(offset + q) @ link``: two fixed transforms
around the motion of the joint along or about `axis`.  Later stages need no DH rows.

=================  ==============================  ================  =======================
style              tree                            motion            link
=================  ==============================  ================  =======================
standard DH        before, constant z-part         along z           Tx(a) Rx(alpha)
modified DH        before Rx(alpha) Tx(a), z-part  along z           identity
origin and axis    origin                          along `axis`      identity
=================  ==============================  ================  =======================

The z-part ``Rz(theta) Tz(d)`` of a row splits into the entry that the coordinate is added to (the
joint's `offset`) and the constant one.  Both act along z and commute.  For a standard row the fixed
``Tz(d)`` of a revolute joint is applied after the motion, where it is constant in link axes (the
``[a, d sin(alpha), d cos(alpha)]`` of Barman 2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Transform, Vector, identity, total, zero_vector
from symgen.description.model import DenavitHartenberg, JointDescription, Pose
from symgen.joints import Directions, ElementaryMotion, JointType
from symgen.kinematics.scalars import scalar, vector


@dataclass(frozen=True)
class Placement(Generic[S]):
    """Placement of a joint: ``parent link frame @ tree @ motion(offset + q) @ link``.

    The joint wrench is referred to the origin of the joint.  With `origin_stays` this is the origin
    of `tree`, fixed in the parent; otherwise it is the origin of the link frame.
    """

    tree: Transform[S]
    axis: Vector[S]
    offset: S
    link: Transform[S]
    origin_stays: bool = False


def placement(joint: JointDescription, moved_entry: str, algebra: Algebra[S]) -> Placement[S]:
    """Return the placement of `joint`; its coordinate is added to the DH entry `moved_entry`.

    This is ``theta`` for a revolute joint, ``d`` for a prismatic one, empty for a fixed one.
    """
    z_axis = units(algebra)[2]
    if joint.dh is not None:
        return _from_dh(joint.dh, joint.before, moved_entry, z_axis, algebra)
    axis = z_axis if joint.axis is None else normalized(vector(joint.axis, algebra), algebra)
    origin = identity_transform(algebra) if joint.origin is None else pose(joint.origin, algebra)
    return Placement(origin, axis, algebra.zero, identity_transform(algebra))


def chain_of(
    joint: JointDescription, kind: JointType, algebra: Algebra[S]
) -> list[tuple[ElementaryMotion, Placement[S]]]:
    """Return the motions of `joint`, each with its placement, from the parent outwards.

    The first motion is relative to the joint frame, every later one to the frame after the previous
    motion.  The link frame is fixed in the frame after the last motion.
    """
    first = placement(joint, kind.moved_entry, algebra)
    pitch = algebra.zero if joint.pitch is None else scalar(joint.pitch, algebra)
    links = list(kind.chain(Directions(first.axis, units(algebra), joint.sequence, pitch)))
    still, last = identity_transform(algebra), len(links) - 1
    chain = []
    for i, (motion, axis) in enumerate(links):
        tree, link = first.tree if i == 0 else still, first.link if i == last else still
        chain.append((motion, Placement(tree, axis, first.offset, link, first.origin_stays)))
    return chain


def units(algebra: Algebra[S]) -> tuple[Vector[S], Vector[S], Vector[S]]:
    """Return the unit vectors along x, y and z."""
    o, i = algebra.zero, algebra.one
    return Vector(i, o, o), Vector(o, i, o), Vector(o, o, i)


def _from_dh(
    row: DenavitHartenberg,
    before: Pose | None,
    moved_entry: str,
    z_axis: Vector[S],
    algebra: Algebra[S],
) -> Placement[S]:
    theta, d = scalar(row.theta, algebra), scalar(row.d, algebra)
    still = identity_transform(algebra)
    rotation, shift = turned("z", theta, algebra), Transform(still.rotation, z_axis * d)
    a = Vector(scalar(row.a, algebra), algebra.zero, algebra.zero)
    x_part = Transform(still.rotation, a) @ turned("x", scalar(row.alpha, algebra), algebra)
    tree = still if before is None else pose(before, algebra)
    link = x_part if row.convention == "standard" else still
    if row.convention == "modified":
        tree = tree @ x_part
    if moved_entry == "theta" and row.convention == "standard":
        link = shift @ link
    elif moved_entry != "d":
        tree = tree @ shift
    if moved_entry != "theta":
        tree = tree @ rotation
    offset = {"theta": theta, "d": d}.get(moved_entry, algebra.zero)
    return Placement(tree, z_axis, offset, link, origin_stays=row.convention == "standard")


def pose(description: Pose, algebra: Algebra[S]) -> Transform[S]:
    """Return the transform of a pose: rotations about fixed x, y and z axes, then a translation."""
    roll, pitch, yaw = (scalar(angle, algebra) for angle in description.rpy)
    rotation = turned("z", yaw, algebra).rotation @ turned("y", pitch, algebra).rotation
    rotation = rotation @ turned("x", roll, algebra).rotation
    return Transform(rotation, vector(description.xyz, algebra))


def identity_transform(algebra: Algebra[S]) -> Transform[S]:
    """Return the identity transform."""
    return Transform(identity(algebra), zero_vector(algebra))


def turned(axis: str, angle: S, algebra: Algebra[S]) -> Transform[S]:
    """Return the rotation about the coordinate axis ``x``, ``y`` or ``z`` by `angle` (rad)."""
    s, c = algebra.function("sin", angle), algebra.function("cos", angle)
    o, i = algebra.zero, algebra.one
    rows = {
        "x": [(i, o, o), (o, c, -s), (o, s, c)],
        "y": [(c, o, s), (o, i, o), (-s, o, c)],
        "z": [(c, -s, o), (s, c, o), (o, o, i)],
    }
    return Transform(Matrix(rows[axis]), zero_vector(algebra))


def normalized(v: Vector[S], algebra: Algebra[S]) -> Vector[S]:
    """Return the unit vector along v."""
    length = algebra.function("sqrt", total([part * part for part in v], algebra))
    return Vector(*(part / length for part in v))
