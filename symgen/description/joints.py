"""Checks of joints: parents, frames, axes and links; limits and terms of their coordinates.

`symgen.joints` defines the keys of each type of joint.  A limit or term is a scalar for all
coordinates of the joint, or a list with one entry for each, from the parent outwards.

Decisions of this module: a fixed joint has no options; rotor inertia, damping and friction are
not negative, and the velocity of friction is positive; a gear ratio may have any sign, because only
its square counts; a negative stiffness, a spring that pushes away from its rest position, gives a
warning.  Velocities of Euler parameters are not angular velocities, so that drives, bearings,
springs and limits of one Euler parameter are undefined.

A joint with `mimic` follows a coordinate: q = multiplier q_coordinate + offset.  It moves, has a
link, joint terms and a wrench, but no coordinate of the robot: its torque acts on the coordinate
that it follows.  Only a joint of one coordinate follows another; it may follow a coordinate of a
joint with several (``hip_2``), of a joint listed later, or of a joint that follows a third one, but
cycles are faults; angles and lengths may be mixed (rack and pinion).  A multiplier of 0 gives a
warning: the joint stays at its offset.  Its motion cannot be prescribed, unlike that of the
coordinate.  Its limits are checked like any others and do not limit the coordinate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

from symgen.description.expressions import ONE, ZERO, Expression
from symgen.description.findings import Findings
from symgen.description.inertia import ENTRIES, indefinite
from symgen.description.model import (
    DenavitHartenberg,
    JointDescription,
    JointTerms,
    Limits,
    LinkDescription,
    Mimic,
    coordinate_names,
)
from symgen.description.names import BASE, NameSpace
from symgen.description.scalars import Z_AXIS, Scalars, check_axis, checked_pose, vector
from symgen.description.schema import (
    AllFlags,
    Entries,
    ForAll,
    InertiaTable,
    JointTable,
    LimitsTable,
    LinkTable,
    MimicTable,
    RobotTable,
    readable,
)  # fmt: skip
from symgen.description.wording import KeyPath, shown
from symgen.joints import ANGLES, ON_MANIFOLDS, OnManifold, Redundant

_DIRECTIONS = ("axis", "axes", "sequence", "pitch")
"""Keys of directions, with `origin`."""
_TERMS = tuple(field.name for field in fields(JointTerms))
_NOT_NEGATIVE = ("rotor_inertia", "damping", "friction")
_NEEDS = {"gear_ratio": "rotor_inertia", "rest": "stiffness", "friction_velocity": "friction"}
_SPRINGS = ("translation", "rotation")

Placed = tuple[KeyPath, Expression | None]
"""An expression with its key path; None where it is missing or faulty."""


def check_joints(
    robot: RobotTable, names: NameSpace, scalars: Scalars
) -> tuple[JointDescription, ...]:
    """All joints that could be read, in the order of the file."""
    mimics = check_mimics(robot, scalars)
    check_conventions(robot, scalars.findings)
    joints = [_Joint(robot, names, scalars, *pair) for pair in readable(robot.joints)]
    checked = tuple(joint.checked(mimics.get(joint.index)) for joint in joints)
    check_redundant(joints)
    return checked


def check_conventions(robot: RobotTable, findings: Findings) -> None:
    """Report missing DH conventions of all joints as one fault."""
    if robot.gives("convention") or findings.broken(("convention",)):
        return
    lacking = [
        index
        for index, table in readable(robot.joints)
        if table.gives("dh") and not table.gives("convention")
    ]
    if lacking:
        more = f" (and {len(lacking) - 1} more)" if len(lacking) > 1 else ""
        findings.fault(
            ("joints", lacking[0], "dh"),
            f"this joint{more} has no DH convention; write 'convention: standard' (distal) or "
            "'convention: modified' (Craig, proximal) at the top of the file or in the joint",
        )


def check_redundant(joints: Sequence[_Joint]) -> None:
    """Refuse options of joints with Euler parameters."""
    for joint in (joint for joint in joints if isinstance(joint.kind, Redundant)):
        for key in filter(joint.table.gives, (*_TERMS, "limits", "prescribed")):
            joint.fault(
                f"{key!r} means nothing for one of four Euler parameters; remove it, or write "
                "'coordinates: quaternion'",
                key,
            )


class _Joint:
    """Checks one joint; `kind` is its type, None where that is faulty."""

    def __init__(
        self, robot: RobotTable, names: NameSpace, scalars: Scalars, index: int, table: JointTable
    ) -> None:
        self.robot, self.names, self.scalars = robot, names, scalars
        self.findings, self.index, self.table = scalars.findings, index, table
        self.path: KeyPath = ("joints", index)
        self.kind = table.kind
        self.keys: Sequence[str] = () if self.kind is None else self.kind.keys

    def fault(self, message: str, *keys: str | int) -> None:
        """Record a fault of the joint, or of a value in it."""
        self.findings.fault((*self.path, *keys), message)

    def value(self, expression: Expression | None, *keys: str | int) -> float | None:
        """Return the value of an expression of the joint: see `Scalars.value`."""
        return self.scalars.value((*self.path, *keys), expression)

    @property
    def coordinates(self) -> int:
        """Number of coordinates of the joint; 1 where its type is unknown."""
        return 1 if self.kind is None else self.kind.coordinates

    def checked(self, mimic: Mimic | None) -> JointDescription:
        """Return the joint with its link."""
        table, kind = self.table, self.kind
        self.check_representation()
        self.check_styles()
        self.check_directions()
        axis = vector(table.axis, Z_AXIS)
        check_axis(axis, (*self.path, "axis"), self.scalars)
        represented = kind if isinstance(kind, OnManifold | Redundant) else None
        return JointDescription(
            name=table.name or "",
            type=table.type or "",
            parent=self.parent(),
            link=self.link(),
            source=self.findings.source(self.path),
            dh=self.dh(),
            before=checked_pose(table.before, (*self.path, "before"), self.scalars),
            origin=checked_pose(table.origin, (*self.path, "origin"), self.scalars),
            axis=axis if "axis" in self.keys and table.dh is None else None,
            sequence=self.sequence(),
            pitch=self.pitch(),
            terms=self.terms(),
            limits=self.limits(),
            prescribed=self.prescribed(),
            actuated=table.actuated is not False,
            mimic=mimic,
            representation=represented.representation if represented else ANGLES,
            rest=self.rest(),
            added_mass=self.added_mass(),
        )

    def parent(self) -> str:
        """Return the link that carries the joint; by default the link of the previous joint."""
        if self.table.parent is not None:
            return self.names.parent(self.table.parent, self.index)
        return self.names.links[self.index - 1] if self.index > 0 else BASE

    # ----------------------------------------------------------------------------------- frames

    def check_styles(self) -> None:
        """Check that the joint has either `dh`, if its type takes it, or `origin`."""
        dh, origin = self.table.gives("dh"), self.table.gives("origin")
        takes_dh = self.kind is None or "dh" in self.keys
        if dh and not takes_dh:
            self.fault(f"a {self.table.type} joint takes 'origin: {{xyz, rpy}}', not 'dh'", "dh")
        elif dh and origin:
            self.fault("a joint has either 'dh' or 'origin', not both; remove one", "origin")
        elif any(self.findings.broken((*self.path, key)) for key in ("dh", "origin")):
            pass  # misspelt
        elif not dh and not origin and self.kind is not None:
            problem = f"a {self.kind.name} joint needs 'origin: {{xyz, rpy}}'"
            if takes_dh:
                problem = (
                    "this joint has neither 'dh' nor 'origin'; give one of "
                    "'dh: {theta, d, a, alpha}' and 'origin: {xyz, rpy}'"
                )
            self.fault(f"{problem}, perhaps 'origin: {{}}'")
        if self.table.gives("before") and (not takes_dh or (origin and not dh)):
            problem = "'before' stands only beside 'dh'; put this transform into 'origin'"
            self.fault(problem, "before")

    def check_directions(self) -> None:
        """Refuse keys of directions that the type does not take."""
        kind, table = self.kind, self.table
        if kind is None:
            return
        taken = " and ".join(repr(key) for key in _DIRECTIONS if key in kind.keys)
        for key in filter(table.gives, _DIRECTIONS):
            if kind.coordinates == 0:
                problem = f"a {kind.name} joint does not move; remove {key!r}"
            elif key == "sequence" and isinstance(kind, OnManifold | Redundant):
                continue  # see check_representation
            elif key not in kind.keys:
                problem = f"a {kind.name} joint takes {taken or 'no axes'}, not {key!r}"
            elif table.gives("dh") and not table.gives("origin") and "dh" in kind.keys:
                problem = f"{key!r} stands only beside 'origin'; a joint with 'dh' acts along z"
            else:
                continue
            self.fault(problem, key)

    def check_representation(self) -> None:
        """Refuse `coordinates` for other types, and a sequence without angles."""
        asked, kind = self.table.coordinates, self.table.type
        if asked is None or kind is None:
            return
        able = [x.name for x in ON_MANIFOLDS]
        if kind not in able:
            words = f"a {kind} joint takes no 'coordinates'; {' and '.join(able)} joints do"
            self.fault(words, "coordinates")
        elif asked != ANGLES and self.table.gives("sequence"):
            self.fault(f"says nothing beside 'coordinates: {asked}'; remove it", "sequence")

    def pitch(self) -> Expression | None:
        """Return the pitch of a helical joint, which is required."""
        if self.kind is None or "pitch" not in self.keys:
            return None
        if self.table.pitch is None and not self.findings.broken((*self.path, "pitch")):
            self.fault(f"a {self.kind.name} joint needs 'pitch', in m per radian")
        if self.table.pitch is not None:
            self.value(self.table.pitch, "pitch")
        return self.table.pitch

    def sequence(self) -> str:
        """Return the letters of the axes of several rotations, for types that have them."""
        if self.kind is None or not self.kind.sequences:
            return ""
        key = "axes" if "axes" in self.keys else "sequence"
        letters = self.table.axes if key == "axes" else self.table.sequence
        if letters is None:
            return self.kind.sequences[0]
        sequences = {_written(sequence, key): sequence for sequence in self.kind.sequences}
        text = letters if isinstance(letters, str) else _written(letters, key)
        if text not in sequences:
            hint = f"; did you mean {shown(text.lower())}?" if text.lower() in sequences else ""
            self.fault(f"expected one of {', '.join(sequences)}, found {shown(text)}{hint}", key)
        return sequences.get(text, self.kind.sequences[0])

    def dh(self) -> DenavitHartenberg | None:
        """Return the DH row (rad, m) with its convention."""
        table, row, path = self.table, self.table.dh, (*self.path, "dh")
        if row is None:
            return None
        moved = None if self.kind is None else self.kind.moved_entry or None
        self.scalars.angle((*path, "theta"), row.theta, moved)
        self.scalars.length((*path, "d"), row.d, moved)
        self.scalars.length((*path, "a"), row.a)
        self.scalars.angle((*path, "alpha"), row.alpha)
        theta, d, a, alpha = (x or ZERO for x in (row.theta, row.d, row.a, row.alpha))
        convention = table.convention or self.robot.convention or ""
        return DenavitHartenberg(convention, theta, d, a, alpha)

    # ------------------------------------------------------------------------------------- link

    def link(self) -> LinkDescription:
        """Return the link of the joint, massless by default."""
        table = self.table.link or LinkTable()
        mass = self.value(table.mass, "link", "mass")
        if mass is not None and mass < 0.0:
            message = f"the mass is negative ({mass:.6g}); expected zero or more (kg)"
            self.fault(message, "link", "mass")
        self.scalars.triple((*self.path, "link", "com"), table.com)
        inertia = table.inertia or InertiaTable()
        self.check_inertia(inertia, (*self.path, "link", "inertia"))
        xx, yy, zz, xy, xz, yz = (getattr(inertia, key) or ZERO for key in ENTRIES)
        return LinkDescription(
            name=self.names.links[self.index],
            mass=table.mass or ZERO,
            com=vector(table.com),
            inertia=(xx, yy, zz, xy, xz, yz),
            source=self.findings.source((*self.path, "link") if self.table.link else self.path),
        )

    def check_inertia(self, table: InertiaTable, path: KeyPath) -> None:
        """Refuse an indefinite tensor, unless it is marked as accepted."""
        entries = [self.scalars.value((*path, key), getattr(table, key)) for key in ENTRIES]
        values = [entry for entry in entries if entry is not None]
        if len(values) < len(ENTRIES) or self.findings.broken(path):
            return
        problem = indefinite(values)
        if problem and table.accepted:
            self.findings.warn(path, problem)
        elif problem:
            self.findings.fault(path, problem)

    # ------------------------------------------------------------------------------------ terms

    def moves(self, key: str) -> bool:
        """Whether the joint has coordinates; refuse the option `key` if it has none."""
        if self.coordinates == 0 and self.table.gives(key):
            self.fault(f"a {self.table.type} joint does not move; remove {key!r}", key)
        return self.coordinates > 0

    def per_coordinate(self, entries: Entries, *keys: str) -> list[Placed]:
        """Return the entry of every coordinate with its path; a scalar holds for all.

        Surplus entries of a list follow, so that their faults are reported, too.
        """
        count, path = self.coordinates, (*self.path, *keys)
        if entries is None or isinstance(entries, ForAll):
            return [(path, entries[0] if entries else None)] * count
        placed: list[Placed] = [((*path, i), entry) for i, entry in enumerate(entries)]
        if self.kind is not None and len(entries) != count:
            expected = "1 entry" if count == 1 else f"{count} entries"
            self.findings.fault(
                path,
                f"expected a number, or a list of {expected}, one for each coordinate of a "
                f"{self.kind.name} joint, found {len(entries)}",
            )
        return placed + [(path, None)] * (count - len(placed))

    def terms(self) -> tuple[JointTerms, ...]:
        """Drive, bearing and spring of every coordinate."""
        keys = _TERMS
        if isinstance(self.kind, OnManifold):
            self.refuse_entries(self.kind)
            self.check_springs(self.kind)
            keys = tuple(key for key in _TERMS if key != "rest")
        columns = {key: self.term(key) for key in keys if self.moves(key)}
        for key, partner in _NEEDS.items():
            if self.table.gives(key) and not self.table.gives(partner):
                self.findings.warn((*self.path, key), f"says nothing without {partner!r}")
        terms = []
        for i in range(self.coordinates):
            entries = {key: entry for key, column in columns.items() if (entry := column[i])}
            terms.append(JointTerms(**entries))
        return tuple(terms)

    def refuse_entries(self, kind: OnManifold) -> None:
        """Refuse limits and flags of single coordinates of a joint on a manifold."""
        context = f"beside 'coordinates: {kind.representation}'"
        for key in filter((self.table.limits or LimitsTable()).gives, ("lower", "upper")):
            self.fault(
                f"{key!r} means nothing {context}: an attitude has no limits entry by entry; "
                f"remove it ('velocity' and 'effort' may stay), or write 'coordinates: {ANGLES}'",
                "limits",
                key,
            )
        if len(set(self.table.prescribed or ())) > 1:
            message = f"expected true or false {context}: the joint is prescribed as a whole"
            self.fault(message, "prescribed")

    def check_springs(self, kind: OnManifold) -> None:
        """Refuse springs on a manifold with several stiffnesses in rotation or in translation."""
        entries = [entry for _, entry in self.per_coordinate(self.table.stiffness, "stiffness")]
        groups = [entries[start : start + 3] for start in range(0, kind.coordinates, 3)]
        if any(x is None or x.root != group[0].root for group in groups if group[0] for x in group):
            motions = " and for ".join(_SPRINGS[-len(groups) :])
            self.fault(
                f"expected a number, or the same three times for {motions}: such a spring pulls "
                "along the shortest way to its rest",
                "stiffness",
            )

    def rest(self) -> tuple[Expression, ...]:
        """Return the entries of q of a joint on a manifold at which its spring is slack."""
        entries = self.table.rest
        if not isinstance(self.kind, OnManifold) or entries is None:
            return ()
        names = self.kind.position_suffixes
        if isinstance(entries, ForAll) or len(entries) != len(names):
            self.fault(
                f"expected a list of {len(names)}, the entries {' '.join(names)} of q at which the "
                "spring is slack",
                "rest",
            )
            return ()
        values = [None if x is None else self.value(x, "rest", i) for i, x in enumerate(entries)]
        if not any(x is None or x for x in values[self.kind.quaternion :]):
            self.fault("the quaternion is zero; expected [..., 0, 0, 0, 1] or such", "rest")
        return tuple(x for x in entries if x is not None)

    def added_mass(self) -> Expression:
        """Weightless inertia (kg) of the translation of a free joint."""
        if not self.table.gives("added_mass"):
            return ZERO
        mass, kind = self.table.added_mass, self.kind
        if kind is not None and not (isinstance(kind, OnManifold) and kind.quaternion > 0):
            self.fault(
                "belongs to a floating joint with 'coordinates: quaternion'; remove it, or give "
                "'rotor_inertia'",
                "added_mass",
            )
        value = None if mass is None else self.value(mass, "added_mass")
        if value is not None and value < 0.0:
            self.fault(f"negative ({value:.6g}); expected zero or more", "added_mass")
        return mass or ZERO

    def term(self, key: str) -> list[Expression | None]:
        """Return the values of one key for all coordinates; None is the default."""
        placed = self.per_coordinate(getattr(self.table, key), key)
        for path, expression in dict(placed).items():
            value = None if expression is None else self.scalars.value(path, expression)
            if value is not None:
                self.check_term(key, path, value)
        return [expression for _, expression in placed]

    def check_term(self, key: str, path: KeyPath, value: float) -> None:
        """Check the sign of a value (SI units)."""
        if key in _NOT_NEGATIVE and value < 0.0:
            self.findings.fault(path, f"negative ({value:.6g}); expected zero or more")
        elif key == "friction_velocity" and value <= 0.0:
            self.findings.fault(
                path,
                f"expected more than zero, found {value:.6g}; it is the velocity at which friction "
                "reaches tanh(1) = 76 % of its size",
            )
        elif key == "stiffness" and value < 0.0:
            words = f"negative ({value:.6g}): this spring pushes away from its rest position"
            self.findings.warn(path, words)
        elif key == "gear_ratio" and value == 0.0:
            self.findings.warn(path, "zero: the inertia of the rotor has no effect on the joint")

    def prescribed(self) -> tuple[bool, ...]:
        """Whether the motion of each coordinate is prescribed."""
        flags = self.table.prescribed
        if not self.moves("prescribed") or flags is None:
            return (False,) * self.coordinates
        if isinstance(flags, AllFlags):
            return flags * self.coordinates
        if self.kind is not None and len(flags) != self.coordinates:
            self.fault(
                f"expected true, false, or a list of {self.coordinates}, one for each coordinate "
                f"of a {self.kind.name} joint, found {len(flags)}",
                "prescribed",
            )
        return (flags + (False,) * self.coordinates)[: self.coordinates]

    # ----------------------------------------------------------------------------------- limits

    def limits(self) -> tuple[Limits, ...]:
        """Return the limits as numbers: metadata that the equations do not contain."""
        table = self.table.limits or LimitsTable()
        if not self.moves("limits"):
            return ()
        turns = self.kind is not None and self.kind.moved_entry == "theta"
        places, columns = {}, {}
        for key in LimitsTable.all_keys():
            placed = self.per_coordinate(getattr(table, key), "limits", key)
            values = {
                place: None if expression is None else self.scalars.value(place, expression)
                for place, expression in dict(placed).items()
            }
            places[key] = [place for place, _ in placed]
            columns[key] = [values[place] for place in places[key]]
            for place, expression in placed if turns and key in ("lower", "upper") else ():
                if (value := values[place]) is not None:
                    self.scalars.limit(place, expression, value)
        limits = []
        for i in range(self.coordinates):
            limits.append(Limits(**{key: column[i] for key, column in columns.items()}))
            self.check_limits(limits[-1], {key: column[i] for key, column in places.items()})
        return tuple(limits)

    def check_limits(self, limits: Limits, places: dict[str, KeyPath]) -> None:
        """Check the order of the limits of one coordinate, and the signs of magnitudes."""
        lower, upper = limits.lower, limits.upper
        if lower is not None and upper is not None and lower > upper:
            message = f"the lower limit {lower:.6g} is above the upper one, {upper:.6g}"
            self.findings.fault(places["lower"], message)
        for key in ("velocity", "effort"):
            value = getattr(limits, key)
            if value is not None and value < 0.0:
                message = f"negative ({value:.6g}); the limit holds in both directions"
                self.findings.fault(places[key], message)


def _written(letters: Sequence[str], key: str) -> str:
    """Return the axes of several rotations in the notation of `key`."""
    return f"[{', '.join(letters)}]" if key == "axes" else "".join(letters)


# ------------------------------------------------------------------------------------------ mimic


def check_mimics(robot: RobotTable, scalars: Scalars) -> dict[int, Mimic]:
    """Check the joints that follow coordinates; the laws by index of the joint."""
    mimics: dict[int, Mimic] = {}
    coordinates = coordinates_of(robot)
    for index, joint in readable(robot.joints):
        path: KeyPath = ("joints", index, "mimic")
        if joint.gives("mimic"):
            _check_joint(joint, path, scalars)
        if joint.mimic is not None:
            mimics[index] = _mimic(joint, joint.mimic, path, scalars, coordinates)
    _check_cycles(robot, mimics, scalars)
    return mimics


def coordinates_of(robot: RobotTable, independent: bool = False) -> tuple[str, ...] | None:
    """Names of the coordinates of all joints, or of `independent` joints.

    Joints on manifolds have no coordinates that can be followed or used in expressions.  None if
    some joints could not be read.
    """
    if robot.joints is None:
        return None if robot.gives("joints") else ()
    names: list[str] = []
    for joint in robot.joints:
        kind = None if joint is None else joint.kind
        if joint is None or joint.name is None or kind is None:
            return None
        if not (independent and joint.gives("mimic")) and not isinstance(kind, OnManifold):
            names += coordinate_names(joint.name, kind.coordinates)
    return tuple(names)


def _check_joint(joint: JointTable, path: KeyPath, scalars: Scalars) -> None:
    """Refuse a joint that cannot follow a coordinate."""
    kind = joint.kind
    if kind is not None and kind.coordinates == 0:
        scalars.findings.fault(path, f"a {kind.name} joint does not move; remove 'mimic'")
    elif kind is not None and kind.coordinates > 1:
        message = "only a joint of one coordinate can follow another"
        scalars.findings.fault(path, f"{message}; a {kind.name} joint has {kind.coordinates}")
    if any(joint.prescribed or ()):
        scalars.findings.fault(
            (*path[:-1], "prescribed"),
            "the motion of a joint with 'mimic' follows from that of another one; prescribe that",
        )


def _mimic(
    joint: JointTable,
    table: MimicTable,
    path: KeyPath,
    scalars: Scalars,
    coordinates: tuple[str, ...] | None,
) -> Mimic:
    findings, name = scalars.findings, table.coordinate
    if name is not None and coordinates is not None and name not in coordinates:
        findings.fault((*path, "coordinate"), _unknown(name, coordinates, scalars))
    elif name is not None and name == joint.name:
        findings.fault((*path, "coordinate"), f"{shown(name)} is this joint itself")
    value = scalars.value((*path, "multiplier"), table.multiplier)
    if value == 0.0 and table.multiplier is not None:
        words = "zero: the joint does not move, it stays at its offset"
        findings.warn((*path, "multiplier"), words)
    scalars.value((*path, "offset"), table.offset)
    return Mimic(name or "", table.multiplier or ONE, table.offset or ZERO)


def _unknown(name: str, coordinates: tuple[str, ...], scalars: Scalars) -> str:
    several = [x for x in coordinates if x.startswith(f"{name}_") and x[len(name) + 1 :].isdigit()]
    if several:
        return f"{shown(name)} has several coordinates; name one: {', '.join(map(shown, several))}"
    hint = scalars.findings.did_you_mean(name, coordinates)
    hint = hint or "; expected that of a joint that moves"
    return f"{shown(name)} names no coordinate{hint}"


def _check_cycles(robot: RobotTable, mimics: Mapping[int, Mimic], scalars: Scalars) -> None:
    """Report every cycle of joints that follow each other as one fault, at its first joint."""
    by_name = {x.name: index for index, x in readable(robot.joints) if x.name and index in mimics}
    done: set[int] = set()
    for start in mimics:
        path: dict[int, str] = {}
        at: int | None = start
        while at is not None and at not in done and at not in path:
            path[at] = mimics[at].coordinate
            at = by_name.get(mimics[at].coordinate)
        if at is not None and at in path:
            cycle = [path[at]]
            while by_name[cycle[-1]] != at:
                cycle.append(path[by_name[cycle[-1]]])
            if len(cycle) > 1:
                names = " follows ".join(map(shown, (cycle[-1], *cycle)))
                scalars.findings.fault(
                    ("joints", at, "mimic", "coordinate"),
                    f"joints that follow each other in a circle: {names}",
                )
        done.update(path)
