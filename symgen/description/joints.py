"""The joints of a model: their parents, frames, axes and links.

What a type of joint takes is asked of the type itself (`symgen.joints`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from symgen.description.expressions import ZERO, Expression
from symgen.description.findings import Findings
from symgen.description.inertia import ENTRIES, indefinite
from symgen.description.joint_options import JointOptions
from symgen.description.model import (
    DenavitHartenberg,
    JointDescription,
    LinkDescription,
    Mimic,
    Pose,
)
from symgen.description.names import BASE, NameSpace
from symgen.description.poses import Z_AXIS, check_axis, checked_pose
from symgen.description.scalars import Scalars, vector
from symgen.description.schema import (
    DhTable,
    InertiaTable,
    JointTable,
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
