"""The kinematic tree that every formulation works on.

It has joints of one coordinate only, parents before children, numbered 1..n in the order of the
file; link j is the rigid body after joint j.  A joint of several coordinates is a chain of such
joints with massless bodies in between.  Links on fixed joints are merged into the body that carries
them (mass, centre of mass, inertia), but keep their frames: `frames` has one entry for every link
of the file.  Scalars belong to one algebra, in which named parameters are symbols.

A joint on a manifold is a chain, too: the columns of its motion subspace, at displacement 0 after
the pose given by its entries of q.  `manifolds` lists these joints;
`symgen.formulations.manifolds` inserts the pose.

Joints of k columns, the alternative, would put sums over columns into every recursion, and a choice
of columns into recursions of 4x4 matrices, which are published for joints of one coordinate.
Chains keep the recursions of the papers, for angles, quaternions and Euler parameters alike, at no
cost: massless bodies at displacement 0 have neither a rotation nor an inertia.  The torques of a
free body take 110 operations, as many as a recursion with six columns
(`tests/joints/test_on_manifolds.py`).

A joint with Euler parameters (`euler_parameters`) is a chain of four joints whose first moves the
link by all four parameters together; only formulations that provide for this accept such trees.

A joint may follow another one, possibly through further joints: then it has no coordinate of its
own, and the robot has fewer coordinates than joints.  Formulations derive as if every joint had a
coordinate; `symgen.formulations.coupled` eliminates the dependent ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Transform, Vector
from symgen.algebra.nodes import Scalar
from symgen.description.expressions import evaluate
from symgen.description.model import (
    JointDescription,
    JointTerms,
    LinkPoint,
    OutputDescription,
    RelationDescription,
    RobotDescription,
)
from symgen.joints import JointType, OnManifold, Redundant, joint_type
from symgen.kinematics.bodies import BodyAxis, BodyPoint, Piece, body_of, in_body, massless, merged
from symgen.kinematics.euler_parameters import EulerParameters
from symgen.kinematics.forces import FORCES, Making, ModelForce
from symgen.kinematics.frames import chain_of, identity_transform, placement, units
from symgen.kinematics.joint import Following, Joint, terms_of
from symgen.kinematics.loops import Loop, loop_of
from symgen.kinematics.natural import NaturalLink, natural_link
from symgen.kinematics.scalars import definitions_of, followers, scalar, vector, with_definitions
from symgen.runtime.configuration import BALL, FREE

BASE = 0


@dataclass(frozen=True)
class Frame(Generic[S]):
    """A named frame fixed in a body: `body` is the joint's number, 0 for the base."""

    name: str
    body: int
    pose: Transform[S]


@dataclass(frozen=True)
class Manifold(Generic[S]):
    """A joint whose configuration space is a manifold.

    `columns` are the numbers of the joints that are the columns of its motion subspace, `start` is
    the index of its first entry in q, `rest` are its entries of q at which its spring is slack, and
    `added_mass` (kg) is additional weightless inertia of its translation.
    """

    name: str
    kind: OnManifold
    columns: tuple[int, ...]
    start: int
    rest: tuple[S, ...]
    added_mass: S

    @property
    def sliding(self) -> tuple[int, ...]:
        """Its columns that slide, as many as entries of q before the quaternion."""
        return self.columns[: self.kind.quaternion]

    @property
    def entries(self) -> slice:
        """Its entries in q."""
        return slice(self.start, self.start + len(self.kind.position_suffixes))

    def pose(self, q: Sequence[S], algebra: Algebra[S]) -> Transform[S]:
        """Pose of the link's frame in the joint frame; `q` are the entries of all joints."""
        return self.kind.pose(self.configuration(q, algebra), algebra)

    def configuration(self, q: Sequence[S], algebra: Algebra[S]) -> Sequence[S]:
        """Its entries of `q`, those of all joints."""
        return q[self.entries]

    def rates(self, q: Sequence[S], algebra: Algebra[S]) -> list[dict[int, S]]:
        """Rates of its entries of q, by index from `start`, for unit values of each velocity."""
        at, turn = self.kind.quaternion, self.pose(q, algebra).rotation
        slides = [{i: turn.rows[i][k] for i in range(at)} for k in range(at)]
        quaternion = q[self.entries][at:]
        turns = (self.turning(quaternion, unit, algebra) for unit in units(algebra))
        return slides + [dict(enumerate(rates, start=at)) for rates in turns]

    def turning(self, quaternion: Sequence[S], w: Vector[S], algebra: Algebra[S]) -> list[S]:
        """Rates of a quaternion x y z w at the angular velocity `w` (rad/s, link axes)."""
        half, (e, s) = algebra.constant(0.5), (Vector(*quaternion[:3]), quaternion[3])
        return [*((w * s + e.cross(w)) * half), -(e.dot(w) * half)]


@dataclass(frozen=True)
class KinematicTree(Generic[S]):
    """A robot over one algebra.

    `massless`: all moving masses are 0 for all arguments, so that there is no centre of mass.
    `weightless` are groups of rigidly connected links whose masses are runtime parameters with the
    value 0 in the file, so that their common centre of mass is not defined there.
    `parameter_names` are all parameters of the model; `runtime_parameters` are arguments at run
    time, by which derivatives with respect to parameters are taken; `definitions` are the
    parameters that follow these, for expressions that are not scalars yet (`outputs`, `relations`).
    `natural_links` have natural coordinates; with `is_natural` all other joints slide along axes
    that are constant in base axes.  `loops` are closed by constraints; `forces` are loads that
    depend on the motion (`symgen.formulations.forces`).  `constraint_names` are the rows of all
    constraints; `tells_multipliers`: outputs contain their multipliers.
    """

    name: str
    algebra: Algebra[S]
    parameter_names: tuple[str, ...]
    runtime_parameters: tuple[str, ...]
    gravity: Vector[S]
    joints: tuple[Joint[S], ...]
    frames: tuple[Frame[S], ...]
    loads: tuple[BodyPoint[S], ...]
    points: tuple[BodyPoint[S], ...]
    massless: bool
    weightless: tuple[tuple[str, ...], ...] = ()
    outputs: tuple[OutputDescription, ...] = ()
    manifolds: tuple[Manifold[S], ...] = ()
    euler_parameters: tuple[EulerParameters[S], ...] = ()
    natural_links: tuple[NaturalLink[S], ...] = ()
    is_natural: bool = False
    loops: tuple[Loop[S], ...] = ()
    relations: tuple[RelationDescription, ...] = ()
    definitions: Mapping[str, S] = field(default_factory=dict, hash=False)
    forces: tuple[ModelForce[S], ...] = ()
    constraint_names: tuple[str, ...] = ()
    tells_multipliers: bool = False

    @property
    def n(self) -> int:
        """Number of joints of one coordinate; `sizes["n"]` is the number of coordinates."""
        return len(self.joints)

    @cached_property
    def q_indices(self) -> tuple[int | None, ...]:
        """Index in q of every coordinate, from 0; None for coordinates on manifolds."""
        places: list[int | None] = []
        starts = {manifold.columns[0]: manifold for manifold in self.manifolds}
        on_manifolds = {k for manifold in self.manifolds for k in manifold.columns}
        place = 0
        for joint in self.independent:
            if joint.number in starts:
                place = starts[joint.number].entries.stop
            places.append(None if joint.number in on_manifolds else place)
            place += joint.number not in on_manifolds
        return tuple(places)

    def posed(self, q: Sequence[S]) -> KinematicTree[S]:
        """Return the tree with the poses of joints on manifolds for the entries of q inserted."""
        joints = list(self.joints)
        for manifold in self.manifolds:
            joint = joints[manifold.columns[0] - 1]
            pose = joint.placement.tree @ manifold.pose(q, self.algebra)
            joints[joint.number - 1] = replace(joint, placement=replace(joint.placement, tree=pose))
        return replace(self, joints=tuple(joints))

    @cached_property
    def quaternions(self) -> tuple[tuple[str, int, int], ...]:
        """Kind and first indices in q and qd of every joint on a manifold.

        See `symgen.runtime.configuration`.
        """
        return tuple(
            (FREE if x.kind.quaternion else BALL, x.start, self.velocities(x).start)
            for x in self.manifolds
        )

    def velocities(self, manifold: Manifold[S]) -> range:
        """Indices of the velocities of a joint on a manifold among all velocities."""
        numbers = [joint.number for joint in self.independent]
        first = numbers.index(manifold.columns[0])
        return range(first, first + len(manifold.columns))

    def in_tangent_space(self, q: Sequence[S], gradient: Sequence[S]) -> list[S]:
        """Convert a gradient by the entries of q, (nq,), into one by the velocities, (n,)."""
        zero = self.algebra.zero
        tangent = [zero if place is None else gradient[place] for place in self.q_indices]
        for manifold in self.manifolds:
            columns = manifold.rates(q, self.algebra)
            for k, column in zip(self.velocities(manifold), columns, strict=True):
                terms = (rate * gradient[manifold.start + i] for i, rate in column.items())
                tangent[k] = sum(terms, start=zero)
        return tangent

    @cached_property
    def link_sides(self) -> tuple[int, ...]:
        """Numbers of the joints that have a wrench and a body.

        A joint on a manifold has one, next to its link; all others have one for each coordinate.
        """
        inner = {k for manifold in self.manifolds for k in manifold.columns[:-1]}
        return tuple(joint.number for joint in self.joints if joint.number not in inner)

    @cached_property
    def independent(self) -> tuple[Joint[S], ...]:
        """Joints with independent coordinates, in the order of these."""
        return tuple(joint for joint in self.joints if joint.following is None)

    def turned_by(self, number: int) -> EulerParameters[S] | None:
        """Return the Euler parameters that a joint of the tree belongs to; None if it does not."""
        return next((x for x in self.euler_parameters if number in x.members), None)

    @property
    def is_moved_by_several(self) -> bool:
        """Whether several coordinates move a joint together: quaternions, Euler parameters."""
        return bool(self.manifolds or self.euler_parameters)

    @property
    def is_coupled(self) -> bool:
        """Whether a joint follows another one."""
        return len(self.independent) < self.n

    @cached_property
    def coordinate_numbers(self) -> tuple[int, ...]:
        """Number, from 1, of the coordinate that moves each joint."""
        numbers = {joint.number: k for k, joint in enumerate(self.independent, start=1)}
        return tuple(
            numbers[joint.number if joint.following is None else joint.following.leader]
            for joint in self.joints
        )

    def joint(self, number: int) -> Joint[S]:
        """Return the joint with this number, from 1."""
        return self.joints[number - 1]

    def path(self, number: int) -> tuple[int, ...]:
        """Numbers of the joints from the base to link `number`, inclusive."""
        return self._paths[number]

    @cached_property
    def tied(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of the coordinates that each force acts on or depends on."""
        tied = []
        for force in self.forces:
            paths = [set(self.path(point.body)) for point in force.points]
            joints = {j for path in paths for j in path}
            if force.internal:
                joints -= {j for j in joints if all(j in path for path in paths)}
            named = {name.split(".")[1] for name in force.quantities}
            joints |= {joint.number for joint in self.joints if joint.name in named}
            tied.append(tuple(sorted({self.coordinate_numbers[j - 1] for j in joints})))
        return tuple(tied)

    def on_one_path(self, i: int, k: int) -> bool:
        """Whether one of two joints carries the other, or they are identical."""
        return i in self.path(k) or k in self.path(i)

    def carried_by(self, *joints: int) -> tuple[int, ...]:
        """Numbers of the links that all these joints carry, in order."""
        last = max(joints)
        return self._carried[last] if set(joints) <= set(self.path(last)) else ()

    def towards(self, links: Iterable[int]) -> list[int]:
        """Numbers of the joints on the paths from the base to `links`, in order."""
        return sorted({number for link in links for number in self.path(link)})

    @cached_property
    def _paths(self) -> tuple[tuple[int, ...], ...]:
        paths: list[tuple[int, ...]] = [()]
        for joint in self.joints:
            paths.append((*paths[joint.parent], joint.number))
        return tuple(paths)

    @cached_property
    def _carried(self) -> tuple[tuple[int, ...], ...]:
        carried: list[list[int]] = [[] for _ in self._paths]
        for joint in self.joints:
            for number in (BASE, *self.path(joint.number)):
                carried[number].append(joint.number)
        return tuple(map(tuple, carried))

    @property
    def is_holonomic(self) -> bool:
        """Whether no relation is of velocities, so that rates are those of constraints."""
        return not any(relation.is_of_velocities for relation in self.relations)

    @property
    def inertial_parameters(self) -> tuple[S, ...]:
        """The inertial parameters of all moving bodies, (10 n_joints,), as in the regressor."""
        return tuple(
            parameter
            for number in self.link_sides
            for parameter in self.joint(number).body.inertial_parameters(self.algebra)
        )

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes that shapes of functions refer to, by name.

        ``n_motion_multipliers`` counts those of constraints, if an output depends on them.
        """
        return {
            "n": len(self.independent),
            "nq": len(self.independent) + len(self.manifolds),
            "n_joints": len(self.link_sides),
            "10 n_joints": 10 * len(self.link_sides),
            "n_links": len(self.frames),
            "n_loads": len(self.loads),
            "n_points": len(self.points),
            "n_parameters": len(self.runtime_parameters),
            "n_free": sum(not joint.prescribed for joint in self.independent),
            "n_prescribed": sum(joint.prescribed for joint in self.independent),
            "n_outputs": len(self.outputs),
            "n_constraints": len(self.constraint_names),
            "n_loops": len(self.loops),
            "n_times": int(self.is_timed),
            "n_motion_multipliers": len(self.constraint_names) * self.tells_multipliers,
        }

    @property
    def is_timed(self) -> bool:
        """Whether forces of the model depend on time explicitly."""
        return any(force.is_timed for force in self.forces)


def build_tree(
    description: RobotDescription, algebra: Algebra[S], runtime: Collection[str] = ()
) -> KinematicTree[S]:
    """Build the tree of a checked description, over `algebra`.

    `runtime` names parameters that are arguments at run time; parameters derived from them follow,
    and no decision depends on the values of either.
    """
    plain_algebra, changing = algebra, {*runtime, *followers(description.parameters, runtime)}
    definitions = definitions_of(description.parameters, runtime, algebra)
    if definitions:
        algebra = with_definitions(algebra, definitions)
    skeleton = _Skeleton[S](description, algebra, changing)
    for joint in description.joints:
        skeleton.add(joint)
    frames, pieces = skeleton.frames, skeleton.pieces
    joints = skeleton.joints
    for number, parts in pieces.items():
        if number != BASE:
            joints[number - 1] = replace(joints[number - 1], body=merged(parts, algebra))
    joints = _with_followers(joints, description, algebra)

    def body_point(point: LinkPoint) -> BodyPoint[S]:
        frame = frames[point.link]
        return BodyPoint(point.name, frame.body, frame.pose.apply(vector(point.point, algebra)))

    carriers = {name: (frame.body, frame.pose) for name, frame in frames.items()}
    making = Making(
        body_point,
        partial(scalar, algebra=algebra),
        {
            **{joint.name: BodyAxis(joint.number, joint.angular_axis(algebra)) for joint in joints},
            **{link.name: link.axis for link in skeleton.natural_links},
        }.__getitem__,
        {point.name: point for point in description.points},
        definitions,
    )
    return KinematicTree(
        name=description.name,
        algebra=plain_algebra,
        parameter_names=tuple(parameter.name for parameter in description.parameters),
        runtime_parameters=tuple(
            parameter.name for parameter in description.parameters if parameter.name in runtime
        ),
        gravity=vector(description.gravity, algebra),
        joints=tuple(joints),
        frames=tuple(frame for name, frame in frames.items() if name != "base"),
        loads=tuple(map(body_point, description.loads)),
        points=tuple(map(body_point, description.points)),
        massless=all(piece.stays_massless for j in pieces if j != BASE for piece in pieces[j]),
        weightless=tuple(
            tuple(piece.link for piece in group)
            for j, group in pieces.items()
            if j != BASE and _has_no_centre(group, algebra)
        ),
        outputs=description.outputs,
        manifolds=tuple(skeleton.manifolds),
        euler_parameters=tuple(skeleton.euler_parameters),
        natural_links=tuple(skeleton.natural_links),
        is_natural=description.is_natural,
        loops=tuple(loop_of(loop, carriers, algebra) for loop in description.loops),
        relations=description.relations,
        definitions=definitions,
        forces=tuple(force for kind in FORCES for force in kind.all(description, making)),
        constraint_names=description.constraint_names,
        tells_multipliers=description.tells_multipliers,
    )


class _Skeleton(Generic[S]):
    """Frames, joints (massless as yet) and the pieces that each body is merged from."""

    def __init__(
        self, description: RobotDescription, algebra: Algebra[S], changing: Set[str]
    ) -> None:
        self._parameters, self._algebra = description.parameter_values, algebra
        self._changing = changing
        self._positions = 0
        self.frames = {"base": Frame("base", BASE, identity_transform(algebra))}
        self.joints: list[Joint[S]] = []
        self.manifolds: list[Manifold[S]] = []
        self.euler_parameters: list[EulerParameters[S]] = []
        self.natural_links: list[NaturalLink[S]] = []
        self.pieces: dict[int, list[Piece[S]]] = {BASE: []}

    def add(self, joint: JointDescription) -> None:
        """Add a joint with its link, after the link that carries it."""
        algebra, frame = self._algebra, self.frames[joint.parent]
        kind = joint_type(joint.type, joint.representation)
        if isinstance(kind, OnManifold):
            columns = range(len(self.joints) + 1, len(self.joints) + 1 + kind.coordinates)
            rest = tuple(scalar(x, algebra) for x in joint.rest_entries)
            mass = scalar(joint.added_mass, algebra)
            place = tuple(columns), self._positions
            self.manifolds.append(Manifold(joint.name, kind, *place, rest, mass))
        self._positions += 0 if joint.mimic else len(joint.position_names)
        if kind.coordinates == 0:
            at = placement(joint, kind.moved_entry, algebra)
            pose = (frame.pose @ at.tree @ at.link).settled(algebra)
            frame = Frame(joint.link.name, frame.body, pose)
        elif joint.natural is not None:
            link, chain = natural_link(
                joint, joint.natural, kind.moved_entry, (frame.body, frame.pose), len(self.joints),
                algebra,
            )  # fmt: skip
            self.natural_links.append(link)
            self.joints += chain
            frame = Frame(joint.link.name, link.number, identity_transform(algebra))
        else:
            self.joints += _chain(joint, kind, frame, len(self.joints), algebra)
            number = len(self.joints)
            if isinstance(kind, Redundant):
                members = tuple(range(number - 3, number + 1))
                self.euler_parameters.append(EulerParameters(joint.name, members))
            frame = Frame(joint.link.name, number, identity_transform(algebra))
        self.frames[frame.name] = frame
        piece = Piece(
            link=joint.link.name,
            body=in_body(body_of(joint.link, algebra), frame.pose),
            value=evaluate(joint.link.mass, self._parameters),
            changes=not self._changing.isdisjoint(joint.link.mass.names),
        )
        self.pieces.setdefault(frame.body, []).append(piece)


def _with_followers(
    joints: Sequence[Joint[S]], description: RobotDescription, algebra: Algebra[S]
) -> list[Joint[S]]:
    """Add the laws of joints that follow others; a checked description has no cycles."""
    mimics = {joint.name: joint.mimic for joint in description.joints if joint.mimic is not None}
    numbers = {joint.name: joint.number for joint in joints}
    followed: list[Joint[S]] = []
    for joint in joints:
        name, multiplier, offset = joint.name, algebra.one, algebra.zero
        while name in mimics:
            mimic = mimics[name]
            offset = offset + multiplier * scalar(mimic.offset, algebra)
            multiplier = multiplier * scalar(mimic.multiplier, algebra)
            name = mimic.coordinate
        following = None if name == joint.name else Following(numbers[name], multiplier, offset)
        followed.append(replace(joint, following=following))
    return followed


def _has_no_centre(group: list[Piece[S]], algebra: Algebra[S]) -> bool:
    """Whether several pieces of variable mass are merged whose masses are all 0 in the file."""
    heavy = [piece for piece in group if not algebra.is_zero(piece.body.mass)]
    changes = any(piece.changes for piece in group)
    return len(heavy) > 1 and changes and all(piece.value == 0.0 for piece in group)


def _own_terms(joint: JointDescription) -> tuple[JointTerms, ...]:
    """Return the joint terms; a spring on a manifold acts along or about three columns together."""
    if joint.manifold is None:
        return joint.terms
    return tuple(
        replace(terms, stiffness=joint.terms[k - k % 3].stiffness)
        for k, terms in enumerate(joint.terms)
    )


def _chain(
    joint: JointDescription, kind: JointType, carrier: Frame[S], before: int, algebra: Algebra[S]
) -> list[Joint[S]]:
    """Convert `joint` into joints of one coordinate, after `before` joints of the tree."""
    chain: list[Joint[S]] = []
    links, empty = chain_of(joint, kind, algebra), massless(algebra)
    columns = zip(joint.coordinate_names, _own_terms(joint), joint.prescribed, links, strict=True)
    for number, (name, terms, prescribed, (motion, at)) in enumerate(columns, start=before + 1):
        if not chain:
            at = replace(at, tree=(carrier.pose @ at.tree).settled(algebra))
        parent = number - 1 if chain else carrier.body
        values = terms_of(terms, algebra)
        chain.append(Joint(name, number, parent, motion, at, empty, values, prescribed))
    return chain


def coordinate_units(tree: KinematicTree[Scalar]) -> tuple[str, ...]:
    """Return units of the independent coordinates: "rad", "m", "" for one of Euler parameters, "1"
    for one of a unit vector."""
    plain = {number: "1" for x in tree.natural_links for number in x.directions}
    plain |= {number: "" for x in tree.euler_parameters for number in x.members}

    def turns(joint: Joint[Scalar]) -> bool:
        axis = joint.type.angular_axis(joint.placement.axis, tree.algebra)
        return any(not x.is_zero for x in axis)

    return tuple(plain.get(x.number, "rad" if turns(x) else "m") for x in tree.independent)
