"""The joints of a model: their parents, frames, limits and links."""

from __future__ import annotations

import math
from dataclasses import dataclass

from symgen.description.expressions import ONE, ZERO
from symgen.description.findings import Findings
from symgen.description.inertia import ENTRIES, breaks_triangle, indefinite
from symgen.description.model import (
    DenavitHartenberg,
    JointDescription,
    JointTerms,
    Limits,
    LinkDescription,
    Pose,
    Triple,
)
from symgen.description.names import BASE, NameSpace
from symgen.description.scalars import Scalars, vector
from symgen.description.schema import (
    DhTable,
    InertiaTable,
    JointTable,
    LimitsTable,
    LinkTable,
    PoseTable,
    RobotTable,
)
from symgen.description.wording import KeyPath
from symgen.joints import joint_type

_Z_AXIS: Triple = (ZERO, ZERO, ONE)


@dataclass(frozen=True)
class JointChecks:
    """Checks and builds one joint after the other; `path` is always the place in the file."""

    robot: RobotTable
    findings: Findings
    scalars: Scalars
    names: NameSpace

    def all(self) -> tuple[JointDescription, ...]:
        """All joints that could be read, in the order of the file."""
        self.check_conventions()
        tables = self.robot.joints or []
        return tuple(self.joint(i, table) for i, table in enumerate(tables) if table is not None)

    def joint(self, index: int, table: JointTable) -> JointDescription:
        """One joint with its link."""
        path: KeyPath = ("joints", index)
        self.check_styles(table, path)
        self.check_axis(table, (*path, "axis"))
        moves_along_axis = table.dh is None and table.type != "fixed"
        coordinates = joint_type(table.type).coordinates if table.type else 0
        return JointDescription(
            name=table.name or "",
            type=table.type or "",
            parent=self.parent(index, table),
            link=self.link(index, table),
            source=self.findings.source(path),
            dh=self.dh(table, (*path, "dh")),
            before=self.pose(table.before, (*path, "before")),
            origin=self.pose(table.origin, (*path, "origin")),
            axis=vector(table.axis, _Z_AXIS) if moves_along_axis else None,
            terms=(JointTerms(),) * coordinates,
            limits=(self.limits(table, (*path, "limits")),) * coordinates,
        )

    def parent(self, index: int, table: JointTable) -> str:
        """The link that carries the joint; by default that of the joint just before."""
        if table.parent is not None:
            return self.names.parent(table.parent, index)
        return self.names.links[index - 1] if index > 0 else BASE

    # ----------------------------------------------------------------------------------- frames

    def check_conventions(self) -> None:
        """Ask once for a DH convention, however many joints lack it: it is one omission."""
        if self.robot.gives("convention"):
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

    def check_styles(self, table: JointTable, path: KeyPath) -> None:
        """`dh`, perhaps after `before`; or `origin`, perhaps with `axis`."""
        if table.gives("dh") and table.gives("origin"):
            self.findings.fault(
                (*path, "origin"), "a joint has either 'dh' or 'origin', not both; remove one"
            )
            return
        if not table.gives("dh") and not table.gives("origin"):
            if table.type is not None:  # who knows what another type would need
                self.findings.fault(
                    path,
                    "this joint has neither 'dh' nor 'origin'; give one of "
                    "'dh: {theta, d, a, alpha}' and 'origin: {xyz, rpy}'",
                )
            return
        if table.gives("origin") and table.gives("before"):
            self.findings.fault(
                (*path, "before"),
                "'before' stands only beside 'dh'; put this transform into 'origin'",
            )
        if table.gives("dh") and table.gives("axis") and table.type != "fixed":
            self.findings.fault(
                (*path, "axis"),
                "'axis' stands only beside 'origin'; a joint with 'dh' acts along z",
            )

    def check_axis(self, table: JointTable, path: KeyPath) -> None:
        """An axis has a direction, and a fixed joint has no axis."""
        if table.type == "fixed" and table.gives("axis"):
            self.findings.fault(path, "a fixed joint does not move; remove 'axis'")
        values = self.scalars.triple(path, table.axis or _Z_AXIS)
        if values is None or self.findings.broken(path):
            return
        square = sum(value * value for value in values)  # of the length; it must not underflow
        if square == 0.0:
            self.findings.fault(path, "the axis is zero; expected a direction such as [0, 0, 1]")
        elif not math.isfinite(square):
            self.findings.fault(path, "the axis is too long to be normalised in float64")

    def dh(self, table: JointTable, path: KeyPath) -> DenavitHartenberg | None:
        """The DH row (rad, m) with the convention that holds for it."""
        row: DhTable | None = table.dh
        if row is None:
            return None
        moved = {"revolute": "theta", "prismatic": "d"}.get(table.type or "")
        self.scalars.angle((*path, "theta"), row.theta, moved)
        self.scalars.value((*path, "d"), row.d, moved)
        self.scalars.value((*path, "a"), row.a)
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
        if table is None:
            return None
        self.scalars.triple((*path, "xyz"), table.xyz)
        for index, angle in enumerate(table.rpy or ()):
            self.scalars.angle((*path, "rpy", index), angle)
        return Pose(vector(table.xyz), vector(table.rpy))

    # ----------------------------------------------------------------------------------- limits

    def limits(self, joint: JointTable, path: KeyPath) -> Limits:
        """The limits as numbers: they are metadata, no part of the equations."""
        table: LimitsTable | None = joint.limits
        if joint.type == "fixed" and joint.gives("limits"):
            self.findings.fault(path, "a fixed joint does not move; remove 'limits'")
        if table is None:
            return Limits()
        values = {
            key: None if expression is None else self.scalars.value((*path, key), expression)
            for key, expression in table
        }
        limits = Limits(**values)
        if limits.lower is not None and limits.upper is not None and limits.lower > limits.upper:
            self.findings.fault(
                (*path, "lower"),
                f"the lower limit {limits.lower:.6g} is above the upper one, {limits.upper:.6g}",
            )
        for key in ("velocity", "effort"):
            value = values[key]
            if value is not None and value < 0.0:
                self.findings.fault(
                    (*path, key), f"negative ({value:.6g}); the limit holds in both directions"
                )
        return limits

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
        warning = None if problem else breaks_triangle(values)
        if problem:
            self.findings.fault(path, problem)
        if warning:
            self.findings.warn(path, warning)
