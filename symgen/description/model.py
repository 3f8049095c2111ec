"""The checked description of a robot: the values of `robot.yaml` with their positions in the file.

Every class is frozen.  Every scalar is an `Expression`, a parsed tree of the grammar of
`symgen.description.expressions`.  DH composition, trees and algebra begin in `symgen.kinematics`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from symgen.description.expressions import ONE, ZERO, Expression, evaluate, literal
from symgen.description.quantities import MULTIPLIERS, TIME, is_velocity
from symgen.errors import Fault
from symgen.joints import (
    ANGLES,
    JointType,
    NaturalCoordinates,
    OnManifold,
    Redundant,
    closing_type,
    joint_type,
)
from symgen.joints.closing import row_names

Triple = tuple[Expression, Expression, Expression]

FRICTION_VELOCITY = literal("1e-3", 1e-3)
"""Velocity at which dry friction reaches tanh(1) of its size, where the file gives none."""


@dataclass(frozen=True)
class Source:
    """Position of a value: file name as specified by the user, line from 1, key path."""

    file: str
    line: int
    key: str

    def fault(self, message: str) -> Fault:
        """Return a fault at this position."""
        return Fault(self.file, self.line, self.key, message)


@dataclass(frozen=True)
class InitialDrive:
    """A driven coordinate by name, and the `key` of `initial`, q or qd, that has a value of it."""

    name: str
    key: str
    source: Source


@dataclass(frozen=True)
class Parameter:
    """A named scalar with its float64 value; a derived one has other parameters in `expression`."""

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
    """Joint limits, metadata only: position (rad or m), velocity, effort; None: no limit."""

    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None


@dataclass(frozen=True)
class JointTerms:
    """Torques of one coordinate's drive, bearing and spring, added to those of the rigid bodies.

    tau += gear_ratio^2 rotor_inertia qdd + d qd + stiffness (q - rest)
    + (f + (s - f) exp(-(qd / stribeck_velocity)^2)) tanh(qd / friction_velocity); SI units.
    d, f and s pass smoothly from `damping_backward`, `friction_backward` and
    `static_friction_backward` to `damping`, `friction` and `static_friction`.
    """

    rotor_inertia: Expression = ZERO
    gear_ratio: Expression = ONE
    damping: Expression = ZERO
    stiffness: Expression = ZERO
    rest: Expression = ZERO
    friction: Expression = ZERO
    friction_velocity: Expression = FRICTION_VELOCITY
    damping_backward: Expression | None = None
    friction_backward: Expression | None = None
    static_friction: Expression | None = None
    static_friction_backward: Expression | None = None
    stribeck_velocity: Expression | None = None

    @property
    def complete(self) -> JointTerms:
        """Terms with defaults for those that are missing: equal directions, no Stribeck effect."""
        backward = self.friction_backward or self.friction
        return replace(
            self,
            damping_backward=self.damping_backward or self.damping,
            friction_backward=backward,
            static_friction=self.static_friction or self.friction,
            static_friction_backward=self.static_friction_backward
            or self.static_friction
            or backward,
            stribeck_velocity=self.stribeck_velocity or ONE,
        )


@dataclass(frozen=True)
class Mimic:
    """The motion of a joint that follows a coordinate: q = multiplier q_coordinate + offset.

    Units are rad or m for the offset, their quotient for the multiplier.
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
    """A joint and its link.

    `parent` is the name of the link that carries the joint, or ``base``.  Exactly one of `dh` and
    `origin` is set.  `before` is a fixed transform before a DH row; `axis` belongs to `origin`
    (default z).  `sequence` has one letter for each of several rotations, such as ``zyx``; `pitch`
    belongs to a helical joint (m per radian).  `representation` is the key ``coordinates`` of the
    file: ``angles``, ``euler_parameters``, or ``quaternion`` for a joint on a manifold, whose
    spring is slack at the entries `rest` of q (default: the neutral configuration).  `added_mass`
    (kg) is weightless inertia of a free joint's translation.  `terms`, `limits` and `prescribed`
    (whether the motion is an argument, rather than the torque) have one entry per coordinate.  A
    joint that is not `actuated` has no drive.  A joint with `mimic` has one coordinate, which is
    not a coordinate of the robot.  A joint with `natural` has these coordinates.
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
    natural: NaturalCoordinates | None = None

    @property
    def coordinates(self) -> int:
        """Number of coordinates, and of velocities; 0 for a fixed joint."""
        return len(self.terms)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The joint's name for one coordinate, ``<joint>_1``, ``<joint>_2``, ... for several.

        On a manifold they are the names of the velocities, ``<joint>_wx``, ...
        """
        if self.manifold is not None:
            return tuple(f"{self.name}_{x}" for x in self.manifold.velocity_suffixes)
        if self.natural is not None:
            return self.natural.names(self.name)
        return coordinate_names(self.name, self.coordinates)

    @property
    def position_names(self) -> tuple[str, ...]:
        """Names of its entries in q: of its coordinates, or ``<joint>_qx``, ... on a manifold."""
        if self.manifold is not None:
            return tuple(f"{self.name}_{x}" for x in self.manifold.position_suffixes)
        return self.coordinate_names

    @property
    def neutral(self) -> tuple[Expression, ...]:
        """Its entries of q in the neutral configuration, without motion."""
        zeros = (ZERO,) * len(self.position_names)
        return zeros if self.representation == ANGLES else (*zeros[1:], ONE)

    @property
    def rest_entries(self) -> tuple[Expression, ...]:
        """Its entries of q at which a spring on a manifold is slack; neutral for other joints."""
        return self.rest or self.neutral

    @property
    def manifold(self) -> OnManifold | None:
        """Its type if it is on a manifold, else None."""
        if self.representation == ANGLES:
            return None
        kind = joint_type(self.type, self.representation)
        return kind if isinstance(kind, OnManifold) else None

    @property
    def is_redundant(self) -> bool:
        """Whether it has more coordinates than degrees of freedom: the norm of four is 1."""
        return isinstance(joint_type(self.type, self.representation), Redundant)

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the constraints among its coordinates, if these outnumber its freedoms."""
        suffixes = self.natural.rows if self.natural else ("norm",) * self.is_redundant
        return tuple(f"{self.name}_{suffix}" for suffix in suffixes)


def coordinate_names(joint: str, coordinates: int) -> tuple[str, ...]:
    """Names of the coordinates of the joint called `joint`, from the parent outwards."""
    if coordinates == 1:
        return (joint,)
    return tuple(f"{joint}_{i}" for i in range(1, coordinates + 1))


def names_made(joint: str, kind: JointType) -> tuple[str, ...]:
    """All names that are generated for a joint of several coordinates."""
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
    distance, or with its `law`, an expression of x = l - length, l, v = dl/dt and parameters; the
    potential of that is `energy` (J), if it is known.  An end has the name of its point, "" for
    coordinates in the file.
    """

    name: str
    ends: tuple[LinkPoint, LinkPoint]
    stiffness: Expression
    damping: Expression
    length: Expression
    source: Source
    law: Expression | None = None
    energy: Expression | None = None

    @property
    def type(self) -> str:
        """``spring`` where it has an energy and any damper takes power, else ``spring_law``."""
        law = self.law
        return "spring" if law is None or (self.energy and "v" not in law.names) else "spring_law"


@dataclass(frozen=True)
class WheelDescription:
    """The name of the `joint` that a wheel turns about, its `radius` and `width` (m)."""

    joint: str
    radius: Expression
    width: Expression


@dataclass(frozen=True)
class ForceDescription:
    """A force (N) at a point of a link and a torque (N m) on it, base axes.

    Names in expressions are parameters, definitions of `let` (each may use earlier ones), and
    quantities with dots: ``q.elbow``, ``qd.elbow``, ``points.hand.x``, ``points.hand.vx``.  A tyre
    has a `wheel`; its expressions (`symgen.description.tyres`) contain the motion of the point,
    ``centre.x`` .. ``centre.vz``, and the axis and the angular velocity of the link, ``axis.x`` ..
    ``axis.wz``.
    """

    name: str
    at: LinkPoint
    let: tuple[tuple[str, Expression], ...]
    force: Triple
    torque: Triple
    source: Source
    wheel: WheelDescription | None = None

    @property
    def type(self) -> str:
        """``tyre`` or ``force``."""
        return "tyre" if self.wheel else "force"

    @property
    def names(self) -> tuple[str, ...]:
        """All names in its expressions, each once."""
        written = (*(value for _, value in self.let), *self.force, *self.torque)
        return tuple(dict.fromkeys(name for value in written for name in value.names))


@dataclass(frozen=True)
class OutputDescription:
    """A named expression that the module computes, such as an objective or a constraint.

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
    """A frame of a loop: `origin` is its pose in the frame of `link`, `axis` the joint axis."""

    link: str
    origin: Pose
    axis: Triple


@dataclass(frozen=True)
class LoopDescription:
    """A joint that closes a loop between two frames; `length` (m) belongs to a distance."""

    name: str
    type: str
    first: LoopEnd
    second: LoopEnd
    length: Expression
    source: Source


@dataclass(frozen=True)
class RelationDescription:
    """An expression that is 0, of coordinates, motions of points, ``t`` and parameters."""

    name: str
    expression: Expression
    source: Source

    @property
    def is_of_velocities(self) -> bool:
        """Whether the expression contains velocities, in which it is linear."""
        return any(map(is_velocity, self.expression.names))

    @property
    def is_timed(self) -> bool:
        """Whether the expression contains the time."""
        return TIME in self.expression.names


@dataclass(frozen=True)
class RobotDescription:
    """A checked model file, with parents before children.

    `gravity` is the acceleration of gravity in base axes (m/s^2).
    `warnings` do not make the model invalid.
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
    """Entries of ``q`` and of ``qd``; empty if the file has none."""
    initial_drives: tuple[InitialDrive, ...] = ()
    springs: tuple[SpringDescription, ...] = ()
    forces: tuple[ForceDescription, ...] = ()
    file_names: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Names in a file of another format, by names of joints, links and the base that differ."""
    names_drives: bool = False
    """Whether the file has `actuated` at some joint."""
    is_natural: bool = False
    """Whether positions of links are natural coordinates: see `symgen.joints.natural`."""

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the rows of loops, of relations, and those among coordinates of one joint."""
        rows = [
            x for loop in self.loops for x in row_names(loop.name, closing_type(loop.type).forbids)
        ]
        rows += [relation.name for relation in self.relations]
        return (*rows, *(name for joint in self.joints for name in joint.rows))

    @property
    def n_constraints(self) -> int:
        """Number of rows that are 0 if all loops are closed and all relations hold."""
        return len(self.constraint_names)

    @property
    def tells_multipliers(self) -> bool:
        """Whether outputs contain multipliers of constraints."""
        names = (name for output in self.outputs for name in output.expression.names)
        return any(name.split(".")[0] in MULTIPLIERS for name in names)

    @property
    def is_timed(self) -> bool:
        """Whether forces depend on time explicitly."""
        return any(self.mentions_time(force) for force in self.forces)

    def mentions_time(self, force: ForceDescription) -> bool:
        """Whether a force contains ``t``, unless this is a parameter or a definition of `let`."""
        taken = {parameter.name for parameter in self.parameters}
        return TIME in force.names and TIME not in {*taken, *dict(force.let)}

    @property
    def independent_joints(self) -> tuple[JointDescription, ...]:
        """Joints with independent coordinates."""
        return tuple(joint for joint in self.joints if joint.mimic is None)

    @property
    def initial_q(self) -> tuple[Expression, ...]:
        """The initial entries of q, by default of the neutral configuration."""
        return self.initial.get("q") or tuple(x for j in self.independent_joints for x in j.neutral)

    @property
    def initial_qd(self) -> tuple[Expression, ...]:
        """The initial velocities, by default 0."""
        return self.initial.get("qd") or (ZERO,) * len(self.coordinate_names)

    @property
    def initial_state(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The numbers of the initial q (nq,), as in the file, and of the velocities (n,)."""
        values = self.parameter_values
        q = tuple(evaluate(entry, values) for entry in self.initial_q)
        return q, tuple(evaluate(entry, values) for entry in self.initial_qd)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the independent coordinates of the robot."""
        return tuple(name for joint in self.independent_joints for name in joint.coordinate_names)

    @property
    def position_names(self) -> tuple[str, ...]:
        """Names of the entries of q."""
        return tuple(name for joint in self.independent_joints for name in joint.position_names)

    @property
    def quaternion_starts(self) -> tuple[int, ...]:
        """Index in q, from 0, of the first of the four entries x y z w of every quaternion."""
        starts, first = list[int](), 0
        for joint in self.independent_joints:
            if joint.manifold is not None:
                starts.append(first + joint.manifold.quaternion)
            first += len(joint.position_names)
        return tuple(starts)

    @property
    def independent_parameters(self) -> tuple[str, ...]:
        """Names of the parameters that are not derived, in the order of the file."""
        return tuple(parameter.name for parameter in self.parameters if not parameter.derived)

    @property
    def parameter_values(self) -> Mapping[str, float]:
        """Values of all parameters by name."""
        return {parameter.name: parameter.value for parameter in self.parameters}
