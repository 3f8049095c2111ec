"""Where frames and axes are: fixed transforms and directions of a model file, checked."""

from __future__ import annotations

import math

from symgen.description.expressions import ONE, ZERO
from symgen.description.model import Pose, Triple
from symgen.description.scalars import Scalars, vector
from symgen.description.schema import PoseTable
from symgen.description.wording import KeyPath

Z_AXIS: Triple = (ZERO, ZERO, ONE)


def checked_pose(table: PoseTable, path: KeyPath, scalars: Scalars) -> Pose:
    """A fixed transform (m, rad)."""
    scalars.triple((*path, "xyz"), table.xyz)
    for index, angle in enumerate(table.rpy or ()):
        scalars.angle((*path, "rpy", index), angle)
    return Pose(vector(table.xyz), vector(table.rpy))


def check_axis(axis: Triple, path: KeyPath, scalars: Scalars) -> None:
    """An axis has a direction."""
    findings = scalars.findings
    values = scalars.triple(path, axis)
    if values is None or findings.broken(path):
        return
    square = sum(value * value for value in values)  # of the length; it must not underflow
    if square == 0.0:
        findings.fault(path, "the axis is zero; expected a direction such as [0, 0, 1]")
    elif not math.isfinite(square):
        findings.fault(path, "the axis is too long to be normalised in float64")
