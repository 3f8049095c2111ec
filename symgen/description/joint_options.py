"""What a joint of a model may give beside its frame: limits, and the terms of its coordinates.

Every entry is a scalar that holds for all coordinates of the joint, or a list with one entry for
each of them, the one next to the parent first.

Where the format is silent: a fixed joint has no options; rotor inertia, damping and friction are
not negative, and the velocity of friction is positive; a gear ratio of any sign is good, for only
its square counts; a negative stiffness is a spring that pushes away from its rest position, legal
and remarked.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from symgen.description.expressions import ZERO, Expression
from symgen.description.findings import Findings
from symgen.description.model import JointTerms, Limits
from symgen.description.scalars import Scalars
from symgen.description.schema import AllFlags, Entries, ForAll, JointTable, LimitsTable
from symgen.description.wording import KeyPath
from symgen.joints import ANGLES, JointType, OnManifold

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
