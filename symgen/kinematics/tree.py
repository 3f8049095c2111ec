"""The kinematic tree: what every formulation works on.

Joints of one coordinate only, parents before children, numbered 1..n in the order of the file; link
j is the rigid body behind joint j.  A joint of several coordinates has become a chain of them, with
massless bodies in between.  Links on fixed joints are merged into the body that carries them (mass,
centre, inertia), but their frames stay: `frames` has one entry for every link of the file.
DH flavours are gone.  Scalars belong to one algebra; named parameters are still symbols in it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import (
    Matrix,
    Transform,
    Vector,
    diagonal,
    outer,
    skew,
    total,
    zero_vector,
)
from symgen.description.expressions import evaluate
from symgen.description.model import (
    JointDescription,
    JointTerms,
    LinkDescription,
    LinkPoint,
    RobotDescription,
)
from symgen.joints import JointType, Motion, joint_type
from symgen.kinematics.frames import Placement, chain_of, identity_transform, placement
from symgen.kinematics.scalars import scalar, vector

BASE = 0

INERTIAL_PARAMETERS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""Of a body, in the order of the regressor's columns: mass (kg), first moments (kg m), entries of
the inertia tensor about the origin of the link frame (kg m^2)."""


@dataclass(frozen=True)
class Body(Generic[S]):
    """A rigid body in its own frame: mass, centre of mass, inertia about the centre of mass."""

    mass: S
    com: Vector[S]
    inertia: Matrix[S]

    def pseudo_inertia(self, algebra: Algebra[S]) -> Matrix[S]:
        """The 4x4 matrix [[int r r^T dm, m c], [m c^T, m]] about the link frame's origin.

        int x x dm = (Iyy + Izz - Ixx) / 2 and so on, int x y dm = -Ixy for tensor entries; c is
        the centre of mass.
        """
        half, m, c = algebra.constant(0.5), self.mass, tuple(self.com)
        mc = [m * part for part in c]
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = self.inertia.rows
        about_com = (
            ((yy + zz - xx) * half, -xy, -xz),
            (-xy, (xx + zz - yy) * half, -yz),
            (-xz, -yz, (xx + yy - zz) * half),
        )
        rows = [[about_com[i][k] + mc[i] * c[k] for k in range(3)] + [mc[i]] for i in range(3)]
        return Matrix([*rows, [*mc, m]])

    def inertial_parameters(self, algebra: Algebra[S]) -> tuple[S, ...]:
        """The ten `INERTIAL_PARAMETERS`, link-frame axes."""
        about_origin = self.inertia + _point_mass_inertia(self.mass, self.com, algebra)
        places = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
        return (self.mass, *self.com * self.mass, *(about_origin[place] for place in places))


@dataclass(frozen=True)
class Terms(Generic[S]):
    """What a coordinate's drive, bearing and spring add: see `description.model.JointTerms`."""

    rotor_inertia: S
    gear_ratio: S
    damping: S
    stiffness: S
    rest: S
    friction: S
    friction_velocity: S


@dataclass(frozen=True)
class Joint(Generic[S]):
    """A joint of one coordinate and the body behind it.

    `number` counts from 1, `parent` is the number of the joint that carries this one (0: base).
    The link frame in the parent's link frame is ``tree @ motion(offset + q) @ link``.  `name` is
    that of the coordinate.
    """

    name: str
    number: int
    parent: int
    type: Motion
    placement: Placement[S]
    body: Body[S]
    terms: Terms[S]

    def transform(self, q: S, algebra: Algebra[S]) -> Transform[S]:
        """Pose of the link frame in the parent's link frame."""
        at, x = self.placement, q + self.placement.offset
        return at.tree @ self.type.motion(at.axis, x, algebra) @ at.link

    def transform_derivative(self, q: S, order: int, algebra: Algebra[S]) -> Matrix[S]:
        """4x4 derivative of that pose with respect to q, of order 1, 2 or 3."""
        at, x = self.placement, q + self.placement.offset
        motion = self.type.motion_derivative(at.axis, x, order, algebra)
        zero = algebra.zero
        rows = [
            (*row, part) for row, part in zip(motion.rotation.rows, motion.translation, strict=True)
        ]
        middle = Matrix([*rows, (zero, zero, zero, zero)])
        return at.tree.homogeneous(algebra) @ middle @ at.link.homogeneous(algebra)

    def behind_seat(self, q: S, algebra: Algebra[S]) -> Transform[S]:
        """Pose of the link frame in the joint's frame, which is that of ``tree``."""
        at = self.placement
        return self.type.motion(at.axis, q + at.offset, algebra) @ at.link

    def generator(self, algebra: Algebra[S]) -> Matrix[S]:
        """The constant 4x4 matrix Z of the joint: the q-derivative of `behind_seat` is Z times it.

        It is the velocity of the link per unit of joint velocity, as a field in the joint's frame:
        the axis of rotation goes through that frame's origin.
        """
        z = self.type.angular_axis(self.placement.axis, algebra)
        t = self.type.linear_axis(self.placement.axis, algebra)
        zero = algebra.zero
        rows = [(*row, part) for row, part in zip(skew(z, algebra).rows, t, strict=True)]
        return Matrix([*rows, (zero, zero, zero, zero)])

    def angular_axis(self, algebra: Algebra[S]) -> Vector[S]:
        """Angular velocity of the link per unit of joint velocity, in link-frame axes."""
        axis = self.type.angular_axis(self.placement.axis, algebra)
        return self.placement.link.rotation.apply_transposed(axis)

    def linear_axis(self, algebra: Algebra[S]) -> Vector[S]:
        """Velocity of the origin behind the joint per unit of joint velocity, link-frame axes."""
        axis = self.type.linear_axis(self.placement.axis, algebra)
        return self.placement.link.rotation.apply_transposed(axis)

    def origin_to_link(self, q: S, algebra: Algebra[S]) -> Vector[S]:
        """From the joint's origin to the link frame's origin, in link-frame axes.

        The joint's origin is that of ``tree``.  Constant for a revolute joint: the
        ``Delta x_j = [a, d sin(alpha), d cos(alpha)]`` of Barman 2020.
        """
        return self.placement.link.rotation.apply_transposed(self.arm(q, algebra))

    def turns(self, q: S, algebra: Algebra[S]) -> tuple[Matrix[S], Matrix[S], Matrix[S]]:
        """Rotations of ``tree``, of the motion and of ``link``; their product is `transform`'s.

        Joint axes are those behind the motion and ahead of ``link``.
        """
        at, x = self.placement, q + self.placement.offset
        motion = self.type.motion(at.axis, x, algebra)
        return at.tree.rotation, motion.rotation, at.link.rotation

    def arm(self, q: S, algebra: Algebra[S]) -> Vector[S]:
        """From the joint's origin to the link frame's origin, in joint axes."""
        at, x = self.placement, q + self.placement.offset
        motion = self.type.motion(at.axis, x, algebra)
        return motion.rotation.apply_transposed(motion.translation) + at.link.translation

    def axes(self, algebra: Algebra[S]) -> tuple[Vector[S], Vector[S]]:
        """`angular_axis` and `linear_axis` in joint axes."""
        axis = self.placement.axis
        return self.type.angular_axis(axis, algebra), self.type.linear_axis(axis, algebra)

    def wrench_origin(self, q: S, algebra: Algebra[S]) -> Vector[S]:
        """From the joint's origin to the point that the moment of its wrench refers to, link axes.

        That point is the joint's origin itself where the placement says that it stays with the
        parent (P of a standard DH row), else the link frame's origin.
        """
        if self.placement.origin_stays:
            return zero_vector(algebra)
        return self.origin_to_link(q, algebra)

    def wrench_origin_velocity(self, algebra: Algebra[S]) -> Vector[S]:
        """Derivative of `wrench_origin` with respect to q."""
        return zero_vector(algebra) if self.placement.origin_stays else self.linear_axis(algebra)


@dataclass(frozen=True)
class Frame(Generic[S]):
    """A named frame fixed in a body: `body` is the joint's number, 0 for the base."""

    name: str
    body: int
    pose: Transform[S]


@dataclass(frozen=True)
class BodyPoint(Generic[S]):
    """A named point fixed in a body, in the body's frame."""

    name: str
    body: int
    point: Vector[S]


@dataclass(frozen=True)
class KinematicTree(Generic[S]):
    """A robot over one algebra.  See the module.

    `massless`: the values of all masses that move are 0, whatever names stand for them; there is
    no centre of mass.
    """

    name: str
    algebra: Algebra[S]
    parameter_names: tuple[str, ...]
    gravity: Vector[S]
    joints: tuple[Joint[S], ...]
    frames: tuple[Frame[S], ...]
    loads: tuple[BodyPoint[S], ...]
    points: tuple[BodyPoint[S], ...]
    massless: bool

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.joints)

    def joint(self, number: int) -> Joint[S]:
        """The joint with this number, from 1."""
        return self.joints[number - 1]

    def children(self, number: int) -> tuple[Joint[S], ...]:
        """The joints that sit on link `number` (0: on the base), in file order."""
        return tuple(joint for joint in self.joints if joint.parent == number)

    def path(self, number: int) -> tuple[int, ...]:
        """Numbers of the joints from the base to link `number`, itself included."""
        result: list[int] = []
        while number != BASE:
            result.append(number)
            number = self.joint(number).parent
        return tuple(reversed(result))

    @property
    def inertial_parameters(self) -> tuple[S, ...]:
        """Those of all moving bodies, 10 n: what the columns of the regressor belong to."""
        return tuple(
            parameter
            for joint in self.joints
            for parameter in joint.body.inertial_parameters(self.algebra)
        )

    @property
    def sizes(self) -> dict[str, int]:
        """Value of every size that the shapes of functions are written in."""
        return {
            "n": self.n,
            "10 n": 10 * self.n,
            "n_links": len(self.frames),
            "n_loads": len(self.loads),
            "n_points": len(self.points),
            "n_parameters": len(self.parameter_names),
        }


def build_tree(description: RobotDescription, algebra: Algebra[S]) -> KinematicTree[S]:
    """The tree of a checked description, over `algebra`."""
    frames: dict[str, Frame[S]] = {"base": Frame("base", BASE, identity_transform(algebra))}
    joints: list[Joint[S]] = []  # massless as yet
    pieces: dict[int, list[tuple[Body[S], float]]] = {BASE: []}
    for joint in description.joints:
        frame = frames[joint.parent]
        kind = joint_type(joint.type)
        if kind.coordinates == 0:
            at = placement(joint, kind.moved_entry, algebra)
            frame = Frame(joint.link.name, frame.body, frame.pose @ at.tree @ at.link)
        else:
            joints += _chain(joint, kind, frame, len(joints), algebra)
            frame = Frame(joint.link.name, len(joints), identity_transform(algebra))
        frames[frame.name] = frame
        mass = evaluate(joint.link.mass, description.parameter_values)
        piece = _in_body(_body(joint.link, algebra), frame.pose)
        pieces.setdefault(frame.body, []).append((piece, mass))
    joints = [
        replace(joint, body=_merged(pieces[joint.number], algebra))
        if joint.number in pieces
        else joint
        for joint in joints
    ]

    def body_points(points: tuple[LinkPoint, ...]) -> tuple[BodyPoint[S], ...]:
        return tuple(
            BodyPoint(
                point.name,
                frames[point.link].body,
                frames[point.link].pose.apply(vector(point.point, algebra)),
            )
            for point in points
        )

    return KinematicTree(
        name=description.name,
        algebra=algebra,
        parameter_names=tuple(parameter.name for parameter in description.parameters),
        gravity=vector(description.gravity, algebra),
        joints=tuple(joints),
        frames=tuple(frame for name, frame in frames.items() if name != "base"),
        loads=body_points(description.loads),
        points=body_points(description.points),
        massless=all(mass == 0.0 for j in pieces if j != BASE for _, mass in pieces[j]),
    )


def _chain(
    joint: JointDescription,
    kind: JointType,
    carrier: Frame[S],
    before: int,
    algebra: Algebra[S],
) -> list[Joint[S]]:
    """The one-coordinate joints that `joint` becomes; there are `before` joints already."""
    chain: list[Joint[S]] = []
    links = chain_of(joint, kind, algebra)
    for number, (name, terms, (motion, at)) in enumerate(
        zip(joint.coordinate_names, joint.terms, links, strict=True), start=before + 1
    ):
        if not chain:
            at = replace(at, tree=carrier.pose @ at.tree)
        chain.append(
            Joint(
                name=name,
                number=number,
                parent=number - 1 if chain else carrier.body,
                type=motion,
                placement=at,
                body=_nothing(algebra),
                terms=_terms(terms, algebra),
            )
        )
    return chain


def _terms(terms: JointTerms, algebra: Algebra[S]) -> Terms[S]:
    return Terms(*(scalar(getattr(terms, field.name), algebra) for field in fields(Terms)))


def _nothing(algebra: Algebra[S]) -> Body[S]:
    """A body without mass."""
    zero = zero_vector(algebra)
    return Body(algebra.zero, zero, diagonal(zero, algebra))


def _body(link: LinkDescription, algebra: Algebra[S]) -> Body[S]:
    xx, yy, zz, xy, xz, yz = (scalar(entry, algebra) for entry in link.inertia)
    inertia = Matrix([(xx, xy, xz), (xy, yy, yz), (xz, yz, zz)])
    return Body(scalar(link.mass, algebra), vector(link.com, algebra), inertia)


def _in_body(body: Body[S], pose: Transform[S]) -> Body[S]:
    """The same piece, its frame given by `pose` in the body's frame."""
    rotated = pose.rotation @ body.inertia @ pose.rotation.transposed
    return Body(body.mass, pose.apply(body.com), rotated)


def _merged(pieces: list[tuple[Body[S], float]], algebra: Algebra[S]) -> Body[S]:
    """One body from rigidly connected pieces (with the value of their mass), the main one first.

    Pieces without mass have no say in where the common centre is; which ones those are is decided
    by structure, so that a named mass stays in the equations even where its value is 0.  Only
    where the values of all masses are 0 is there no common centre, and they are left out.
    """
    heavy = [piece for piece, _ in pieces if not algebra.is_zero(piece.mass)]
    if len(heavy) > 1 and sum(mass for _, mass in pieces) == 0.0:
        heavy = []
    inertia = pieces[0][0].inertia
    for piece, _ in pieces[1:]:
        inertia = inertia + piece.inertia
    if len(heavy) <= 1:
        main = heavy[0] if heavy else pieces[0][0]
        return Body(main.mass, main.com, inertia)
    mass = total([piece.mass for piece in heavy], algebra)
    com = heavy[0].com * (heavy[0].mass / mass)
    for piece in heavy[1:]:
        com = com + piece.com * (piece.mass / mass)
    for piece in heavy:
        inertia = inertia + _point_mass_inertia(piece.mass, piece.com - com, algebra)
    return Body(mass, com, inertia)


def _point_mass_inertia(mass: S, r: Vector[S], algebra: Algebra[S]) -> Matrix[S]:
    """Inertia of a point mass at r about the origin: m (r.r I - r r^T)."""
    square = r.dot(r)
    return (diagonal(Vector(square, square, square), algebra) - outer(r, r)) * mass
