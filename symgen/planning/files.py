"""Files of a plan: samples as CSV or NPZ, and what ROS sends to controllers.

.csv    t, then q, qd, qdd and tau by coordinate: a line of names, numbers with 17 digits
.npz    arrays t, q, qd, qdd, tau, control_points, knots, and degree, T; with quaternions also
        references, the attitudes at which control points of attitudes are 0
.yaml   trajectory_msgs/JointTrajectory: positions, velocities, accelerations, efforts of the
        joints that have one coordinate each
"""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from symgen.errors import RequestError
from symgen.planning.results import Solution
from symgen.toolchain.files import check_writable, write_atomically

Array = NDArray[np.float64]

ENDINGS = (".csv", ".npz", ".yaml", ".yml")
_EPOCH = (1980, 1, 1, 0, 0, 0)


def save(plan: Solution, path: Path) -> Path:
    """Write the motion, in the format that the name ends with."""
    writers = {".csv": _csv, ".npz": _npz, ".yaml": _joint_trajectory, ".yml": _joint_trajectory}
    if path.suffix not in writers:
        raise RequestError(f"{path}: a plan is saved as {', '.join(ENDINGS)}")
    check_writable(path)
    return write(path, writers[path.suffix](plan))


def write(path: Path, content: bytes) -> Path:
    """Write a file, or none."""
    try:
        write_atomically(path, content)
    except OSError as error:
        raise RequestError(f"cannot write {path}: {error.strerror}") from error
    return path


def _csv(plan: Solution) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = {**dict.fromkeys(_KINDS, plan.module.coordinate_names), "q": plan.module.position_names}
    writer.writerow(["t", *(f"{kind}_{name}" for kind in _KINDS for name in names[kind])])
    columns = np.column_stack([plan.t, *(getattr(plan, kind) for kind in _KINDS)])
    writer.writerows([repr(float(x)) for x in row] for row in columns)
    return text.getvalue().encode()


_KINDS = ("q", "qd", "qdd", "tau")


def _npz(plan: Solution) -> bytes:
    """As `numpy.savez` does, without the time of day."""
    arrays = {
        "t": plan.t, **{kind: getattr(plan, kind) for kind in _KINDS},
        "control_points": plan.control_points, "knots": plan.path.knots,
        "degree": np.array(plan.path.degree), "T": np.array(plan.T),
    }  # fmt: skip
    if plan.path.chart.references:
        arrays["references"] = np.array(plan.path.chart.references)
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            one = io.BytesIO()
            np.save(one, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", _EPOCH), one.getvalue())
    return whole.getvalue()


def _joint_trajectory(plan: Solution) -> bytes:
    """Knot by knot: controllers interpolate between."""
    s = np.linspace(0.0, 1.0, plan.path.pieces + 1)
    own = np.flatnonzero(plan.path.chart.plain)
    rates = (plan.path.rate(order, s) for order in range(3))
    kinds = ("positions", "velocities", "accelerations", "effort")
    rows = {kind: x[:, own] for kind, x in zip(kinds, (*rates, plan.torques(s)), strict=True)}
    lines = ["# trajectory_msgs/JointTrajectory", "joint_names:"]
    lines += [f"  - {plan.module.coordinate_names[k]}" for k in own]
    lines.append("points:")
    for k, share in enumerate(s):
        seconds, nanoseconds = divmod(round(share * plan.T * 1e9), 1_000_000_000)
        for name, values in rows.items():
            numbers = ", ".join(repr(float(x)) for x in values[k])
            lines.append(f"  {'-' if name == 'positions' else ' '} {name}: [{numbers}]")
        lines.append(f"    time_from_start: {{sec: {seconds}, nanosec: {nanoseconds}}}")
    return ("\n".join(lines) + "\n").encode()
