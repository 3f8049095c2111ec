"""`Plan`, the result of `symgen.plan`, and its files: samples, trajectories for ROS, figures.

.csv    t, then q, qd, qdd and tau by coordinate: a line of names, numbers with 17 digits
.npz    arrays t, q, qd, qdd, tau, control_points, knots, and degree, T; with quaternions also
        references, the attitudes at which control points of attitudes are 0
.yaml   trajectory_msgs/JointTrajectory: positions, velocities, accelerations, efforts of the
        joints that have one coordinate each
.html, .png, .svg, .pdf     the page and the figures of `symgen.planning.figures`
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from symgen.errors import RequestError
from symgen.planning import figures
from symgen.planning.results import Solution
from symgen.toolchain.files import check_writable, replace_file

Array = NDArray[np.float64]

PAGE = ".html"
ENDINGS = (".csv", ".npz", ".yaml", ".yml")
_EPOCH = (1980, 1, 1, 0, 0, 0)
_KINDS = ("q", "qd", "qdd", "tau")


def check_outputs(paths: Iterable[Path]) -> None:
    """Raise `RequestError` where a file cannot be written, before anything is solved."""
    endings = (PAGE, *figures.ENDINGS, *ENDINGS)
    for path in paths:
        if path.suffix not in endings:
            raise RequestError(f"{path}: a plan is written as {', '.join(endings)}")
        check_writable(path)


class Plan(Solution):
    """An optimal motion with its files; `Solution` documents its fields."""

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the motion: .csv or .npz (samples), or .yaml (a ROS JointTrajectory)."""
        path = Path(path)
        if path.suffix not in ENDINGS:
            raise RequestError(f"{path}: a plan is saved as {', '.join(ENDINGS)}")
        check_writable(path)
        write = {".csv": _csv, ".npz": _npz}.get(path.suffix, _joint_trajectory)
        return replace_file(path, write(self))

    def plot(self, path: str | PathLike[str]) -> Path:
        """Write a figure, .png, .svg or .pdf: coordinates, velocities and torques."""
        return figures.plot(self, Path(path))

    def report(self, path: str | PathLike[str]) -> Path:
        """Write an HTML page: the moving robot, figures, limits, history."""
        return figures.report(self, Path(path))

    def write(self, path: str | PathLike[str]) -> Path:
        """Write a file by the ending of its name: samples, a figure, or the page."""
        ending = Path(path).suffix
        if ending == PAGE:
            return self.report(path)
        return self.plot(path) if ending in figures.ENDINGS else self.save(path)


def _csv(plan: Solution) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = {**dict.fromkeys(_KINDS, plan.module.coordinate_names), "q": plan.module.position_names}
    writer.writerow(["t", *(f"{kind}_{name}" for kind in _KINDS for name in names[kind])])
    columns = np.column_stack([plan.t, *(getattr(plan, kind) for kind in _KINDS)])
    writer.writerows([repr(float(x)) for x in row] for row in columns)
    return text.getvalue().encode()


def _npz(plan: Solution) -> bytes:
    """Return an archive of `numpy.savez`, without the time of day."""
    arrays = {
        "t": plan.t, **{kind: getattr(plan, kind) for kind in _KINDS},
        "control_points": plan.control_points, "knots": plan.path.knots,
        "degree": np.array(plan.path.profile.degree), "T": np.array(plan.T),
    }  # fmt: skip
    if plan.path.chart.references:
        arrays["references"] = np.array(plan.path.chart.references)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.save(member, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", _EPOCH), member.getvalue())
    return content.getvalue()


def _joint_trajectory(plan: Solution) -> bytes:
    """Return samples at the knots, between which controllers interpolate."""
    s = np.linspace(0.0, 1.0, plan.path.profile.pieces + 1)
    joints = np.flatnonzero(plan.path.chart.plain)
    rates = (plan.path.rate(order, s) for order in range(3))
    kinds = ("positions", "velocities", "accelerations", "effort")
    rows = {kind: x[:, joints] for kind, x in zip(kinds, (*rates, plan.torques(s)), strict=True)}
    lines = ["# trajectory_msgs/JointTrajectory", "joint_names:"]
    lines += [f"  - {plan.module.coordinate_names[k]}" for k in joints]
    lines.append("points:")
    for k, share in enumerate(s):
        seconds, nanoseconds = divmod(round(share * plan.T * 1e9), 1_000_000_000)
        for name, values in rows.items():
            numbers = ", ".join(repr(float(x)) for x in values[k])
            lines.append(f"  {'-' if name == 'positions' else ' '} {name}: [{numbers}]")
        lines.append(f"    time_from_start: {{sec: {seconds}, nanosec: {nanoseconds}}}")
    return ("\n".join(lines) + "\n").encode()
