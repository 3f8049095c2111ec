"""The joints of a model: parents, frames, axes and links; limits, and terms of their coordinates.

What a type of joint takes is asked of the type itself (`symgen.joints`).  Every limit or term is a
scalar that holds for all coordinates of the joint, or a list with one entry for each of them, the
one next to the parent first.

Where the format is silent: a fixed joint has no options; rotor inertia, damping and friction are
not negative, and the velocity of friction is positive; a gear ratio of any sign is good, for only
its square counts; a negative stiffness is a spring that pushes away from its rest position, legal
and remarked.  Velocities of Euler parameters are no angular velocities, so that drives, bearings,
springs and limits of one of them mean nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from symgen.description.expressions import ZERO, Expression
from symgen.description.findings import Findings
from symgen.description.inertia import ENTRIES, indefinite
from symgen.description.model import (
    DenavitHartenberg,
    JointDescription,
    JointTerms,
    Limits,
    LinkDescription,
    Mimic,
    Pose,
)
from symgen.description.names import BASE, NameSpace
from symgen.description.scalars import Z_AXIS, Scalars, check_axis, checked_pose, vector
from symgen.description.schema import (
    AllFlags,
    DhTable,
    Entries,
    ForAll,
    InertiaTable,
    JointTable,
    LimitsTable,
    LinkTable,
    PoseTable,
    RobotTable,
)
from symgen.description.wording import KeyPath, shown
from symgen.joints import ANGLES, ON_MANIFOLDS, JointType, OnManifold, Redundant

_DIRECTIONS = (
    "axis",
    "axes",
    "sequence",
    "pitch",
)  # keys that say where the axes are, beside `origin`


@dataclass(frozen=True)
class JointChecks:
    """Checks and builds one joint after the other; `path` is always the place in the file."""

    robot: RobotTable
    findings: Findings
    scalars: Scalars
    names: NameSpace
    mimics: Mapping[int, Mimic]

    def all(self) -> tuple[JointDescription, ...]:
        """All joints that could be read, in the order of the file."""
        self.check_conventions()
        tables = self.robot.joints or []
        return tuple(self.joint(i, table) for i, table in enumerate(tables) if table is not None)

    def joint(self, index: int, table: JointTable) -> JointDescription:
        """One joint with its link."""
        path: KeyPath = ("joints", index)
        kind = table.kind
        self.check_representation(table, path)
        options = JointOptions(self.findings, self.scalars, table, kind, path)
        self.check_styles(table, kind, path)
        self.check_directions(table, kind, path)
        check_axis(vector(table.axis, Z_AXIS), (*path, "axis"), self.scalars)
        moves_along_axis = kind is not None and "axis" in kind.keys and table.dh is None
        return JointDescription(
            name=table.name or "",
            type=table.type or "",
            parent=self.parent(index, table),
            link=self.link(index, table),
            source=self.findings.source(path),
            dh=self.dh(table, kind, (*path, "dh")),
            before=self.pose(table.before, (*path, "before")),
            origin=self.pose(table.origin, (*path, "origin")),
            axis=vector(table.axis, Z_AXIS) if moves_along_axis else None,
            sequence=self.sequence(table, kind, path),
            pitch=self.pitch(table, kind, path),
            terms=options.terms(),
            limits=options.limits(),
            prescribed=options.prescribed(),
            actuated=table.actuated is not False,
            mimic=self.mimics.get(index),
            representation=(
                kind.representation if isinstance(kind, (OnManifold, Redundant)) else ANGLES
            ),
            rest=options.rest(),
            added_mass=options.added_mass(),
        )

    def parent(self, index: int, table: JointTable) -> str:
        """The link that carries the joint; by default that of the joint just before."""
        if table.parent is not None:
            return self.names.parent(table.parent, index)
        return self.names.links[index - 1] if index > 0 else BASE

    # ----------------------------------------------------------------------------------- frames

    def check_conventions(self) -> None:
        """Ask once for a DH convention, however many joints lack it: it is one omission."""
        if self.robot.gives("convention") or self.findings.broken(("convention",)):
            return
        lacking = [
            index
            for index, table in enumerate(self.robot.joints or [])
            if table is not None and table.gives("dh") and not table.gives("convention")
        ]
        if lacking:
            others = f" (and {len(lacking) - 1} more)" if len(lacking) > 1 else ""
            self.findings.fault(
                ("joints", lacking[0], "dh"),
                f"this joint{others} has no DH convention; write 'convention: standard' (distal) "
                "or 'convention: modified' (Craig, proximal) at the top of the file or in the "
                "joint",
            )

    def check_styles(self, table: JointTable, kind: JointType | None, path: KeyPath) -> None:
        """`dh`, perhaps after `before`, for the types that take it; or `origin`."""
        dh, origin = table.gives("dh"), table.gives("origin")
        takes_dh = kind is None or "dh" in kind.keys
        if dh and not takes_dh:
            self.findings.fault(
                (*path, "dh"), f"a {table.type} joint takes 'origin: {{xyz, rpy}}', not 'dh'"
            )
        elif dh and origin:
            self.findings.fault(
                (*path, "origin"), "a joint has either 'dh' or 'origin', not both; remove one"
            )
        elif any(self.findings.broken((*path, key)) for key in ("dh", "origin")):
            pass  # misspelt
        elif not dh and not origin and kind is not None:  # who knows what another type would need
            problem = f"a {kind.name} joint needs 'origin: {{xyz, rpy}}', perhaps 'origin: {{}}'"
            if takes_dh:
                problem = (
                    "this joint has neither 'dh' nor 'origin'; give one of "
                    "'dh: {theta, d, a, alpha}' and 'origin: {xyz, rpy}', perhaps 'origin: {}'"
                )
            self.findings.fault(path, problem)
        if table.gives("before") and (not takes_dh or (origin and not dh)):
            self.findings.fault(
                (*path, "before"),
                "'before' stands only beside 'dh'; put this transform into 'origin'",
            )

    def check_directions(self, table: JointTable, kind: JointType | None, path: KeyPath) -> None:
        """A joint gives only those keys about its axes that its type takes."""
        if kind is None:
            return
        taken = " and ".join(repr(key) for key in _DIRECTIONS if key in kind.keys)
        for key in filter(table.gives, _DIRECTIONS):
            if kind.coordinates == 0:
                problem = f"a {kind.name} joint does not move; remove {key!r}"
            elif key == "sequence" and isinstance(kind, (OnManifold, Redundant)):
                continue  # said of the representation
            elif key not in kind.keys:
                problem = f"a {kind.name} joint takes {taken or 'no axes'}, not {key!r}"
            elif table.gives("dh") and not table.gives("origin") and "dh" in kind.keys:
                problem = f"{key!r} stands only beside 'origin'; a joint with 'dh' acts along z"
            else:
                continue
            self.findings.fault((*path, key), problem)

    def check_representation(self, table: JointTable, path: KeyPath) -> None:
        """Angles and quaternions are a choice of few types; a sequence belongs to angles."""
        asked = table.coordinates
        if asked is None or table.type is None:
            return
        able = [kind.name for kind in ON_MANIFOLDS]
        if table.type not in able:
            self.findings.fault(
                (*path, "coordinates"),
                f"a {table.type} joint takes no 'coordinates'; {' and '.join(able)} joints do",
            )
        elif asked != ANGLES and table.gives("sequence"):
            self.findings.fault(
                (*path, "sequence"), f"says nothing beside 'coordinates: {asked}'; remove it"
            )

    def pitch(self, table: JointTable, kind: JointType | None, path: KeyPath) -> Expression | None:
        """That of a helical joint, which has to give it."""
        if kind is None or "pitch" not in kind.keys:
            return None
        if table.pitch is None and not self.findings.broken((*path, "pitch")):
            self.findings.fault(path, f"a {kind.name} joint needs 'pitch', in m per radian")
        if table.pitch is not None:
            self.scalars.value((*path, "pitch"), table.pitch)
        return table.pitch

    def sequence(self, table: JointTable, kind: JointType | None, path: KeyPath) -> str:
        """The letters of the axes of several rotations, for the types that have them."""
        if kind is None or not kind.sequences:
            return ""
        key = "axes" if "axes" in kind.keys else "sequence"
        given = table.axes if key == "axes" else table.sequence
        if given is None:
            return kind.sequences[0]
        known = {_written(sequence, key): sequence for sequence in kind.sequences}
        text = given if isinstance(given, str) else _written(given, key)
        if text not in known:
            hint = f"; did you mean {shown(text.lower())}?" if text.lower() in known else ""
            self.findings.fault(
                (*path, key), f"expected one of {', '.join(known)}, found {shown(text)}{hint}"
            )
        return known.get(text, kind.sequences[0])

    def dh(
        self, table: JointTable, kind: JointType | None, path: KeyPath
    ) -> DenavitHartenberg | None:
        """The DH row (rad, m) with the convention that holds for it."""
        row: DhTable | None = table.dh
        if row is None:
            return None
        moved = kind.moved_entry or None if kind is not None else None
        self.scalars.angle((*path, "theta"), row.theta, moved)
        self.scalars.length((*path, "d"), row.d, moved)
        self.scalars.length((*path, "a"), row.a)
        self.scalars.angle((*path, "alpha"), row.alpha)
        return DenavitHartenberg(
            convention=table.convention or self.robot.convention or "",
            theta=row.theta or ZERO,
            d=row.d or ZERO,
            a=row.a or ZERO,
            alpha=row.alpha or ZERO,
        )

    def pose(self, table: PoseTable | None, path: KeyPath) -> Pose | None:
        """A fixed transform (m, rad)."""
        return None if table is None else checked_pose(table, path, self.scalars)

    # ------------------------------------------------------------------------------------- link

    def link(self, index: int, joint: JointTable) -> LinkDescription:
        """The link of joint `index`: massless where the file says nothing about it."""
        path: KeyPath = ("joints", index, "link")
        table = joint.link or LinkTable()
        mass = self.scalars.value((*path, "mass"), table.mass)
        if mass is not None and mass < 0.0:
            self.findings.fault(
                (*path, "mass"), f"the mass is negative ({mass:.6g}); expected zero or more (kg)"
            )
        self.scalars.triple((*path, "com"), table.com)
        inertia = table.inertia or InertiaTable()
        self.check_inertia(inertia, (*path, "inertia"))
        return LinkDescription(
            name=self.names.links[index],
            mass=table.mass or ZERO,
            com=vector(table.com),
            inertia=(
                inertia.xx or ZERO,
                inertia.yy or ZERO,
                inertia.zz or ZERO,
                inertia.xy or ZERO,
                inertia.xz or ZERO,
                inertia.yz or ZERO,
            ),
            source=self.findings.source(path if joint.link is not None else path[:-1]),
        )

    def check_inertia(self, table: InertiaTable, path: KeyPath) -> None:
        """The tensor is one of a body, or at least of a planar one."""
        entries = [self.scalars.value((*path, key), getattr(table, key)) for key in ENTRIES]
        values = [entry for entry in entries if entry is not None]
        if len(values) < len(ENTRIES) or self.findings.broken(path):
            return
        problem = indefinite(values)
        if problem and table.accepted:
            self.findings.warn(path, problem)
        elif problem:
            self.findings.fault(path, problem)


def _written(letters: Sequence[str], key: str) -> str:
    """The axes of several rotations as the file writes them under `key`."""
    return f"[{', '.join(letters)}]" if key == "axes" else "".join(letters)


# ---------------------------------------------------------------------------------- joint options


TERMS = tuple(field.name for field in fields(JointTerms))
_NOT_NEGATIVE = ("rotor_inertia", "damping", "friction")
_NEEDS = {"gear_ratio": "rotor_inertia", "rest": "stiffness", "friction_velocity": "friction"}

_SPRINGS = ("translation", "rotation")

Placed = tuple[KeyPath, Expression | None]
"""An expression with its place in the file; None where it is not given, or faulty."""


@dataclass(frozen=True)
class JointOptions:
    """Checks and reads the options of one joint; `kind` is None where its type is faulty."""

    findings: Findings
    scalars: Scalars
    table: JointTable
    kind: JointType | None
    path: KeyPath

    @property
    def coordinates(self) -> int:
        """Number of coordinates of the joint; 1 where nobody knows its type."""
        return 1 if self.kind is None else self.kind.coordinates

    def moves(self, key: str) -> bool:
        """Whether the joint has coordinates that the option `key` can be about."""
        if self.coordinates == 0 and self.table.gives(key):
            self.findings.fault(
                (*self.path, key), f"a {self.table.type} joint does not move; remove {key!r}"
            )
        return self.coordinates > 0

    def per_coordinate(self, path: KeyPath, entries: Entries) -> list[Placed]:
        """The entry of every coordinate with its place; a scalar is the same for all.

        What a list has too many stands behind, so that faults in it are found, too.
        """
        count = self.coordinates
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

    # ------------------------------------------------------------------------------------ terms

    def refuse_places(self) -> None:
        """What is said of coordinates says nothing of a joint on a manifold."""
        if not isinstance(self.kind, OnManifold):
            return
        said = f"beside 'coordinates: {self.kind.representation}'"
        for key in filter((self.table.limits or LimitsTable()).gives, ("lower", "upper")):
            self.findings.fault(
                (*self.path, "limits", key),
                f"{key!r} means nothing {said}: an attitude has no limits entry by entry; remove "
                f"it ('velocity' and 'effort' may stay), or write 'coordinates: {ANGLES}'",
            )
        flags = self.table.prescribed or ()
        if len(set(flags)) > 1:
            self.findings.fault(
                (*self.path, "prescribed"),
                f"expected true or false {said}: the joint is prescribed as a whole",
            )

    def terms(self) -> tuple[JointTerms, ...]:
        """Drive, bearing and spring of every coordinate."""
        self.refuse_places()
        if isinstance(self.kind, OnManifold):
            self.check_springs(self.kind)
        own = [key for key in TERMS if key != "rest" or not isinstance(self.kind, OnManifold)]
        columns = {key: self.term(key) for key in own if self.moves(key)}
        self.warn_missing_partners()
        terms = []
        for i in range(self.coordinates):
            given = {key: expr for key, column in columns.items() if (expr := column[i])}
            terms.append(JointTerms(**given))
        return tuple(terms)

    def check_springs(self, kind: OnManifold) -> None:
        """One spring turns the link, and one pulls its origin: each has one stiffness."""
        path: KeyPath = (*self.path, "stiffness")
        given = [expression for _, expression in self.per_coordinate(path, self.table.stiffness)]
        groups = [given[start : start + 3] for start in range(0, kind.coordinates, 3)]
        if any(x is None or x.root != group[0].root for group in groups if group[0] for x in group):
            self.findings.fault(
                path,
                "expected a number, or the same three times for "
                f"{' and for '.join(_SPRINGS[-len(groups) :])}: such a spring pulls along the "
                "shortest way to its rest",
            )

    def rest(self) -> tuple[Expression, ...]:
        """Of a joint on a manifold the configuration at which its spring is slack."""
        if not isinstance(self.kind, OnManifold) or self.table.rest is None:
            return ()
        path: KeyPath = (*self.path, "rest")
        names = self.kind.position_suffixes
        if isinstance(self.table.rest, ForAll) or len(self.table.rest) != len(names):
            self.findings.fault(
                path,
                f"expected a list of {len(names)}, the entries {' '.join(names)} of q at which the "
                "spring is slack",
            )
            return ()
        values = [
            None if x is None else self.scalars.value((*path, i), x)
            for i, x in enumerate(self.table.rest)
        ]
        if not any(x is None or x for x in values[self.kind.quaternion :]):
            self.findings.fault(path, "the quaternion is zero; expected [..., 0, 0, 0, 1] or such")
        return tuple(x for x in self.table.rest if x is not None)

    def added_mass(self) -> Expression:
        """Inertia of a free joint's travel, which has no weight."""
        given, path = self.table.added_mass, (*self.path, "added_mass")
        if not self.table.gives("added_mass"):
            return ZERO
        travels = isinstance(self.kind, OnManifold) and self.kind.quaternion > 0
        if self.kind is not None and not travels:
            self.findings.fault(
                path,
                "belongs to a floating joint with 'coordinates: quaternion'; remove it, or give "
                "'rotor_inertia'",
            )
        value = None if given is None else self.scalars.value(path, given)
        if value is not None and value < 0.0:
            self.findings.fault(path, f"negative ({value:.6g}); expected zero or more")
        return given or ZERO

    def term(self, key: str) -> list[Expression | None]:
        """One key for every coordinate; None is the default."""
        placed = self.per_coordinate((*self.path, key), getattr(self.table, key))
        for path, expression in dict(placed).items():
            value = None if expression is None else self.scalars.value(path, expression)
            if value is not None:
                self.check_term(key, path, value)
        return [expression for _, expression in placed]

    def check_term(self, key: str, path: KeyPath, value: float) -> None:
        """The sign of a value (SI units)."""
        if key in _NOT_NEGATIVE and value < 0.0:
            self.findings.fault(path, f"negative ({value:.6g}); expected zero or more")
        elif key == "friction_velocity" and value <= 0.0:
            self.findings.fault(
                path,
                f"expected more than zero, found {value:.6g}; it is the velocity at which friction "
                "reaches tanh(1) = 76 % of its size",
            )
        elif key == "stiffness" and value < 0.0:
            self.findings.warn(
                path, f"negative ({value:.6g}): this spring pushes away from its rest position"
            )
        elif key == "gear_ratio" and value == 0.0:
            self.findings.warn(path, "zero: the joint does not feel the inertia of its rotor")

    def warn_missing_partners(self) -> None:
        """Warn of a key that says nothing without another one."""
        for key, partner in _NEEDS.items():
            if self.table.gives(key) and not self.table.gives(partner):
                self.findings.warn((*self.path, key), f"says nothing without {partner!r}")

    def prescribed(self) -> tuple[bool, ...]:
        """Whether the motion of each coordinate is given."""
        flags, path = self.table.prescribed, (*self.path, "prescribed")
        if not self.moves("prescribed") or flags is None:
            return (False,) * self.coordinates
        if isinstance(flags, AllFlags):
            return flags * self.coordinates
        if self.kind is not None and len(flags) != self.coordinates:
            self.findings.fault(
                path,
                f"expected true, false, or a list of {self.coordinates}, one for each coordinate "
                f"of a {self.kind.name} joint, found {len(flags)}",
            )
        return (flags + (False,) * self.coordinates)[: self.coordinates]

    # ----------------------------------------------------------------------------------- limits

    def limits(self) -> tuple[Limits, ...]:
        """The limits as numbers: they are metadata, no part of the equations."""
        path: KeyPath = (*self.path, "limits")
        table = self.table.limits or LimitsTable()
        if not self.moves("limits"):
            return ()
        places, columns = {}, {}
        for key in LimitsTable.all_keys():
            placed = self.per_coordinate((*path, key), getattr(table, key))
            values = {
                place: None if expression is None else self.scalars.value(place, expression)
                for place, expression in dict(placed).items()
            }
            places[key] = [place for place, _ in placed]
            columns[key] = [values[place] for place in places[key]]
            self.warn_degrees(key, placed, values)
        limits = []
        for i in range(self.coordinates):
            limits.append(Limits(**{key: column[i] for key, column in columns.items()}))
            self.check_limits(limits[-1], {key: column[i] for key, column in places.items()})
        return tuple(limits)

    def warn_degrees(
        self, key: str, placed: list[Placed], values: dict[KeyPath, float | None]
    ) -> None:
        """Warn of limits of an angle that look like degrees."""
        turns = self.kind is not None and self.kind.moved_entry == "theta"
        for place, expression in placed if turns and key in ("lower", "upper") else ():
            value = values[place]
            if value is not None:
                self.scalars.limit(place, expression, value)

    def check_limits(self, limits: Limits, places: dict[str, KeyPath]) -> None:
        """The limits of one coordinate are in order, and those of magnitudes not negative."""
        if limits.lower is not None and limits.upper is not None and limits.lower > limits.upper:
            self.findings.fault(
                places["lower"],
                f"the lower limit {limits.lower:.6g} is above the upper one, {limits.upper:.6g}",
            )
        for key in ("velocity", "effort"):
            value = getattr(limits, key)
            if value is not None and value < 0.0:
                self.findings.fault(
                    places[key], f"negative ({value:.6g}); the limit holds in both directions"
                )


# -------------------------------------------------------------------------------------- redundant


_MEANINGLESS = (*TERMS, "limits", "prescribed")


def check_redundant(robot: RobotTable, findings: Findings) -> None:
    """Refuse options of such joints, and what is not available yet beside them."""
    joints = [
        (index, table)
        for index, table in enumerate(robot.joints or [])
        if table is not None and isinstance(table.kind, Redundant)
    ]
    for index, table in joints:
        for key in filter(table.gives, _MEANINGLESS):
            findings.fault(
                ("joints", index, key),
                f"{key!r} means nothing for one of four Euler parameters; remove it, or write "
                "'coordinates: quaternion'",
            )
    for key in ("springs", "forces"):
        if joints and getattr(robot, key):
            findings.fault(
                (key,),
                f"{key!r} are not available yet beside 'coordinates: euler_parameters', such as "
                f"those of {_name(joints[0][1])}; write 'coordinates: quaternion'",
            )


def _name(table: JointTable) -> str:
    return repr(table.name)
