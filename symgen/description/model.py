"""The checked description of a robot: what `robot.yaml` says, and where it says it.

Every class is frozen.  Every scalar is an `Expression`: a parsed tree of the small grammar of
`symgen.description.expressions`, never a Python object that could be evaluated by accident.
Nothing here knows about DH composition, trees or algebra: that begins in `symgen.kinematics`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from symgen.description.expressions import ONE, ZERO, Expression, literal
from symgen.description.quantities import MULTIPLIERS, TIME
from symgen.errors import Fault, RequestError
from symgen.joints import ANGLES, JointType, OnManifold, Redundant, closing_type, joint_type

Triple = tuple[Expression, Expression, Expression]

FRICTION_VELOCITY = literal("1e-3", 1e-3)
"""Velocity at which dry friction reaches tanh(1) of its size, where the file gives none."""


@dataclass(frozen=True)
class Source:
    """Where a value stands: file name as the user gave it, line from 1, path of the key."""

    file: str
    line: int
    key: str

    def fault(self, message: str) -> Fault:
        """A fault at this place."""
        return Fault(self.file, self.line, self.key, message)


@dataclass(frozen=True)
class Parameter:
    """A named scalar.  `expression` is a number, or for a derived parameter names others.

    `value` is its value in float64, computed when the file is checked.
    """

    name: str
    expression: Expression
    value: float
    source: Source
    unit: str = ""
    description: str = ""

    @property
    def derived(self) -> bool:
        """Whether other parameters determine this one."""
        return bool(self.expression.names)


@dataclass(frozen=True)
class Pose:
    """A fixed transform: translation `xyz` (m), then fixed-axis x-y-z rotation `rpy` (rad)."""

    xyz: Triple
    rpy: Triple


@dataclass(frozen=True)
class DenavitHartenberg:
    """One row of a DH table, in m and rad; `convention` is ``standard`` or ``modified``."""

    convention: str
    theta: Expression
    d: Expression
    a: Expression
    alpha: Expression


@dataclass(frozen=True)
class Limits:
    """Joint limits, kept as metadata: position (rad or m), velocity, effort; None: not given."""

    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None


@dataclass(frozen=True)
class JointTerms:
    """Torques of one coordinate's drive, bearing and spring, added to that of the rigid bodies.

    tau += gear_ratio^2 rotor_inertia qdd + damping qd + stiffness (q - rest)
    + friction tanh(qd / friction_velocity); SI units.
    """

    rotor_inertia: Expression = ZERO
    gear_ratio: Expression = ONE
    damping: Expression = ZERO
    stiffness: Expression = ZERO
    rest: Expression = ZERO
    friction: Expression = ZERO
    friction_velocity: Expression = FRICTION_VELOCITY


@dataclass(frozen=True)
class Mimic:
    """The motion of a joint that follows a coordinate: q = multiplier q_coordinate + offset.

    Units are those that make it so: rad or m for the offset, their quotient for the multiplier.
    """

    coordinate: str
    multiplier: Expression = ONE
    offset: Expression = ZERO


@dataclass(frozen=True)
class LinkDescription:
    """A rigid link.

    `com` is the centre of mass in the link frame (m); `inertia` is the tensor about the centre
    of mass in link-frame axes, in the order xx, yy, zz, xy, xz, yz (kg m^2; tensor entries, so
    xy is minus the integral of x y dm).
    """

    name: str
    mass: Expression
    com: Triple
    inertia: tuple[Expression, Expression, Expression, Expression, Expression, Expression]
    source: Source


@dataclass(frozen=True)
class JointDescription:
    """A joint and the link that it carries.

    `parent` is the name of the LINK that carries the joint, already resolved (``base`` for the
    base).  Exactly one of `dh` and `origin` is given.  `before` is a fixed transform ahead of a
    DH row, None where the file gives none; `axis` belongs to `origin` (default z).  `sequence`
    has one letter for each of several rotations, such as ``zyx``; `pitch` is that of a helical
    joint (m per radian).  `representation` is what ``coordinates`` of the file says: ``angles``,
    ``euler_parameters``, or ``quaternion`` of a joint on a manifold, whose spring is slack where
    its entries in q are `rest`; where it has not moved if that is empty.  `added_mass` (kg) is
    inertia of a free joint's travel that gravity does not pull.  `terms`, `limits` and
    `prescribed` (whether its motion is given, rather than the torque of its joint) have one entry
    per coordinate.  One that is not `actuated` has no drive.  A joint with `mimic` has one
    coordinate, which is none of the robot's.
    """

    name: str
    type: str
    parent: str
    link: LinkDescription
    source: Source
    dh: DenavitHartenberg | None = None
    before: Pose | None = None
    origin: Pose | None = None
    axis: Triple | None = None
    sequence: str = ""
    pitch: Expression | None = None
    terms: tuple[JointTerms, ...] = ()
    limits: tuple[Limits, ...] = ()
    prescribed: tuple[bool, ...] = ()
    actuated: bool = True
    mimic: Mimic | None = None
    representation: str = ANGLES
    rest: tuple[Expression, ...] = ()
    added_mass: Expression = ZERO

    @property
    def coordinates(self) -> int:
        """Number of coordinates, and of velocities; 0 for a fixed joint."""
        return len(self.terms)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The joint's own name for one coordinate, ``<joint>_1``, ``<joint>_2``, ... for more.

        On a manifold they are the names of the velocities, ``<joint>_wx``, ...
        """
        if self.manifold is not None:
            return tuple(f"{self.name}_{x}" for x in self.manifold.velocity_suffixes)
        return coordinate_names(self.name, self.coordinates)

    @property
    def position_names(self) -> tuple[str, ...]:
        """The names of its entries in q: those of its coordinates, or ``<joint>_qx``, ..."""
        if self.manifold is not None:
            return tuple(f"{self.name}_{x}" for x in self.manifold.position_suffixes)
        return self.coordinate_names

    @property
    def neutral(self) -> tuple[Expression, ...]:
        """Its entries of q where it has not moved."""
        places = (ZERO,) * len(self.position_names)
        return places if self.representation == ANGLES else (*places[1:], ONE)

    @property
    def rest_entries(self) -> tuple[Expression, ...]:
        """Its entries of a configuration at which springs on manifolds are slack, 0 of others."""
        return self.rest or self.neutral

    @property
    def manifold(self) -> OnManifold | None:
        """Its type where that is one on a manifold."""
        if self.representation == ANGLES:
            return None
        kind = joint_type(self.type, self.representation)
        return kind if isinstance(kind, OnManifold) else None

    @property
    def is_redundant(self) -> bool:
        """Whether it has more coordinates than freedoms: the norm of the last four is 1."""
        return isinstance(joint_type(self.type, self.representation), Redundant)


def coordinate_names(joint: str, coordinates: int) -> tuple[str, ...]:
    """The names of the coordinates of the joint called `joint`, from the parent outwards."""
    if coordinates == 1:
        return (joint,)
    return tuple(f"{joint}_{i}" for i in range(1, coordinates + 1))


def names_made(joint: str, kind: JointType) -> tuple[str, ...]:
    """All names that are made for a joint of several coordinates, on a manifold or not."""
    if isinstance(kind, OnManifold):
        return tuple(f"{joint}_{x}" for x in kind.velocity_suffixes + kind.position_suffixes)
    return coordinate_names(joint, kind.coordinates) if kind.coordinates > 1 else ()


@dataclass(frozen=True)
class LinkPoint:
    """A named point of a link, in the link frame (m): where a load acts, or a point of interest."""

    name: str
    link: str
    point: Triple
    source: Source


@dataclass(frozen=True)
class SpringDescription:
    """A spring and damper between two points.

    It pulls them together with stiffness (l - length) + damping dl/dt (N), where l is their
    distance.  An end bears the name of the point that it is fastened to, or none.
    """

    name: str
    ends: tuple[LinkPoint, LinkPoint]
    stiffness: Expression
    damping: Expression
    length: Expression
    source: Source


@dataclass(frozen=True)
class ForceDescription:
    """A force (N) at a point of a link and a torque (N m) on it, base axes.

    Names in expressions are parameters, those of `let` (each may use the ones before it), and
    quantities with dots: ``q.elbow``, ``qd.elbow``, ``points.hand.x``, ``points.hand.vx``.
    """

    name: str
    at: LinkPoint
    let: tuple[tuple[str, Expression], ...]
    force: Triple
    torque: Triple
    source: Source

    @property
    def names(self) -> tuple[str, ...]:
        """All names in its expressions, each once."""
        written = (*(value for _, value in self.let), *self.force, *self.torque)
        return tuple(dict.fromkeys(name for value in written for name in value.names))


@dataclass(frozen=True)
class OutputDescription:
    """A named quantity that the model asks for, such as an objective or a constraint.

    The names in `expression` are parameters, ``t``, energies, and quantities with dots such as
    ``q.elbow`` or ``points.hand.vx``: see `symgen.description.quantities`.
    """

    name: str
    expression: Expression
    source: Source
    unit: str = ""
    description: str = ""


@dataclass(frozen=True)
class LoopEnd:
    """A frame of a loop: `origin` is its pose in the frame of `link`, `axis` that of the joint."""

    link: str
    origin: Pose
    axis: Triple


@dataclass(frozen=True)
class LoopDescription:
    """A joint that closes a loop between two frames; `length` (m) is that of a distance."""

    name: str
    type: str
    first: LoopEnd
    second: LoopEnd
    length: Expression
    source: Source


@dataclass(frozen=True)
class RelationDescription:
    """An expression that is 0, of coordinates, positions of points, ``t`` and parameters."""

    name: str
    expression: Expression
    source: Source


@dataclass(frozen=True)
class RobotDescription:
    """A whole checked model file.  Joints stand with parents before children.

    `gravity` is the acceleration of gravity in base axes (m/s^2).
    `warnings` are remarks that do not make the model wrong.
    """

    name: str
    description: str
    convention: str | None
    gravity: Triple
    parameters: tuple[Parameter, ...]
    joints: tuple[JointDescription, ...]
    loads: tuple[LinkPoint, ...]
    points: tuple[LinkPoint, ...]
    warnings: tuple[Fault, ...]
    file: str
    outputs: tuple[OutputDescription, ...] = ()
    loops: tuple[LoopDescription, ...] = ()
    relations: tuple[RelationDescription, ...] = ()
    initial: Mapping[str, tuple[Expression, ...]] = field(default_factory=dict, hash=False)
    """``q`` and ``qd``: one entry for each of q, or of the velocities; nothing where the file says
    nothing."""
    springs: tuple[SpringDescription, ...] = ()
    forces: tuple[ForceDescription, ...] = ()

    @property
    def n_constraints(self) -> int:
        """Rows that are 0 where all loops are closed and all relations hold."""
        rows = sum(len(closing_type(loop.type).forbids) for loop in self.loops)
        norms = sum(joint.is_redundant for joint in self.joints)
        return rows + len(self.relations) + norms

    @property
    def tells_multipliers(self) -> bool:
        """Whether outputs mention multipliers of constraints."""
        names = (name for output in self.outputs for name in output.expression.names)
        return any(name.split(".")[0] in MULTIPLIERS for name in names)

    @property
    def is_timed(self) -> bool:
        """Whether forces mention the time."""
        return any(self.mentions_time(force) for force in self.forces)

    def mentions_time(self, force: ForceDescription) -> bool:
        """Whether a force does: ``t``, where that is no parameter and not let be anything."""
        taken = {parameter.name for parameter in self.parameters}
        return TIME in force.names and TIME not in {*taken, *dict(force.let)}

    @property
    def free_joints(self) -> tuple[JointDescription, ...]:
        """Joints that follow no other one."""
        return tuple(joint for joint in self.joints if joint.mimic is None)

    @property
    def initial_q(self) -> tuple[Expression, ...]:
        """The entries of q that a motion begins with: where nothing has moved, if none are said."""
        return self.initial.get("q") or tuple(x for j in self.free_joints for x in j.neutral)

    @property
    def initial_qd(self) -> tuple[Expression, ...]:
        """The velocities that a motion begins with: 0, if none are said."""
        return self.initial.get("qd") or (ZERO,) * len(self.coordinate_names)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the coordinates of the robot, without those of joints that follow others."""
        return tuple(name for joint in self.free_joints for name in joint.coordinate_names)

    @property
    def position_names(self) -> tuple[str, ...]:
        """Names of the entries of q: those of the coordinates, but for joints on manifolds."""
        return tuple(name for joint in self.free_joints for name in joint.position_names)

    @property
    def quaternion_starts(self) -> tuple[int, ...]:
        """Where in q, from 0, the four entries x y z w of every quaternion begin."""
        places, start = list[int](), 0
        for joint in self.joints:
            if joint.manifold is not None:
                places.append(start + joint.manifold.quaternion)
            start += 0 if joint.mimic else len(joint.position_names)
        return tuple(places)

    @property
    def independent_parameters(self) -> tuple[str, ...]:
        """Names of the parameters that are not derived from others, in the order of the file."""
        return tuple(parameter.name for parameter in self.parameters if not parameter.derived)

    @property
    def parameter_values(self) -> Mapping[str, float]:
        """Value of every parameter, derived ones included, by name."""
        return {parameter.name: parameter.value for parameter in self.parameters}

    def refuse_manifolds(self, what: str) -> None:
        """`RequestError` where a joint is on a manifold; `what` is not available for such yet."""
        for joint in self.joints:
            if joint.manifold is not None:
                raise RequestError(
                    f"{self.file}:{joint.source.line}: {what} is not available yet for joints "
                    f"with 'coordinates: {joint.representation}', such as {joint.name!r}; write "
                    "'coordinates: angles'"
                )
