"""`symgen new`: a model file or a task to start from, with a comment on every key.

The texts are ``starter.yaml`` and ``starter_task.yaml`` in this folder; the robot gets the name of
the written file, a task the coordinates of its robot.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

import numpy as np

from symgen.algebra.graph import Graph
from symgen.description.model import Limits, RobotDescription
from symgen.description.names import illegal_name
from symgen.errors import RequestError
from symgen.kinematics.tree import build_tree, coordinate_units
from symgen.runtime.configuration import FREE, Configuration
from symgen.support.arrays import Array
from symgen.toolchain.files import write_new
from symgen.validation.mobility import assembled, determining, mobility
from symgen.validation.oracles import NumericRobot

SUFFIXES = (".yaml", ".yml")
TURN, SLIDE = 45.0, 0.1
"""Motion of a coordinate in a task (degrees, m)."""
INSIDE = 0.05
"""Distance of a start from limits that exclude 0: share of their range, and at most (rad, m)."""
SHARES = (1.0, -1.0, 0.5, -0.5, 0.25, -0.25, 0.1, -0.1)
"""Shares of these that the drives of a mechanism move, tried one after another."""
SEVERAL, USUAL, TINY = 3.0, 30.0, 1e-9
"""Limit of torques in a task in units of the static ones; where these are tiny (N m, N)."""
ATTITUDES = ("0", "0", "0", "1"), ("0", "0", "sin(45*deg)", "cos(45*deg)")
"""Quaternions at the ends of a task."""


def write_starter(path: Path) -> Path:
    """Write a model file that builds; return its path (``arm`` becomes ``arm.yaml``).

    Raises:
        RequestError: the name is not legal for a robot, the file exists, or it cannot be written.
    """
    path = _with_suffix(path, "a model file", "arm.yaml")
    if problem := illegal_name(path.stem):
        raise RequestError(f"{path}: the robot is called as the file is, but {problem}")
    return _write(path, starter_text(path.stem, path.name))


def write_starter_task(path: Path, robot: RobotDescription | None = None) -> Path:
    """Write a task for a robot, or that of `symgen new`; errors as in `write_starter`."""
    path = _with_suffix(path, "a task", "task.yaml")
    angles = {"shoulder": ("0", "45*deg"), "elbow": ("0", "45*deg")}
    ends, limits = (angles, ("torque: 30", "velocity: 5")) if robot is None else _for_robot(robot)
    text = (files("symgen.converting") / "starter_task.yaml").read_text(encoding="utf-8")
    for k, key in enumerate(("{start}", "{goal}")):
        listed = ", ".join(f"{name}: {values[k]}" for name, values in ends.items())
        text = text.replace(key, f"{{{listed}}}")
    lines = ["limits:", *(f"  {line}" for line in limits)] if limits else ["# limits: {torque: 30}"]
    return _write(path, text.replace("{limits}", "\n".join(lines)).replace("{file}", path.name))


def _for_robot(robot: RobotDescription) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """Return start and goal by entry of q, within the limits of the file, and lines of limits."""
    space = NumericRobot(robot).space
    units = np.array(coordinate_units(build_tree(robot, Graph())))
    limits = [limit for joint in robot.independent_joints for limit in joint.limits]
    lower = np.array([-np.inf if x.lower is None else x.lower for x in limits])
    upper = np.array([np.inf if x.upper is None else x.upper for x in limits])
    steps = np.where(units == "m", SLIDE, np.radians(TURN))
    if robot.n_constraints:
        start, goal, named = _closed_ends(robot, space, steps, lower, upper)
    else:
        start, named = space.neutral(), np.ones(space.n, dtype=bool)
        inside = np.minimum(INSIDE * (upper - lower), INSIDE)
        start[space.positions] = np.clip(0.0, lower + inside, upper - inside)[space.velocities]
        goal = space.integrate(start, _inward(space.coordinates(start), steps, lower, upper))
    rows = [dict[int, str](), dict[int, str]()]
    for row, q, attitude in zip(rows, (start, goal), ATTITUDES, strict=True):
        for v, i in zip(space.velocities.tolist(), space.positions.tolist(), strict=True):
            if named[v]:
                row[i] = _text(q[i], units[v])
        for kind, i, _ in () if robot.n_constraints else space.joints:
            places = [_text(x, "m") for x in q[i : i + 3 * (kind == FREE)]]
            row |= enumerate((*places, *attitude), i)
    ends = {robot.position_names[i]: (rows[0][i], rows[1][i]) for i in sorted(rows[0])}
    return ends, _limits(robot, limits, units, (start, goal))


def _inward(q: Array, steps: Array, lower: Array, upper: Array) -> Array:
    """Return steps up, or down, or shorter ones, that stay within limits, (n,)."""
    up, down = upper - q, q - lower
    farther = np.where(up >= down, 0.5 * up, -0.5 * down)
    return np.where(up >= steps, steps, np.where(down >= steps, -steps, farther))


def _closed_ends(
    robot: RobotDescription, space: Configuration, steps: Array, lower: Array, upper: Array
) -> tuple[Array, Array, Array]:
    """Return closed configurations (nq,), and which coordinates (n,) determine them: driven ones.

    Limits (n,) are those of all coordinates; both are alike where no other is within them.
    """
    closed = mobility(robot)
    if closed is None or closed.open_by:
        reason = "joints of this type have no task yet" if closed is None else closed.open_by
        raise RequestError(f"{robot.file}: {reason}")
    start = np.array(closed.q)
    named = determining(robot, start)
    names = [name for name, held in zip(robot.coordinate_names, named, strict=True) if held]
    for share in SHARES:
        moved = assembled(robot, space.integrate(start, share * steps * named), names)
        if moved is None:
            continue
        q = moved[space.positions]
        if np.all((q >= lower[space.velocities]) & (q <= upper[space.velocities])):
            return start, moved, named
    return start, start, named


def _text(value: float, unit: str) -> str:
    """Return a length (m), or an angle in degrees, to four digits."""
    if unit != "rad":
        return f"{value:.4g}"
    degrees = float(f"{np.degrees(value):.4g}")
    return f"{degrees:g}*deg" if degrees else "0"


def _limits(
    robot: RobotDescription, limits: Sequence[Limits], units: Array, ends: Sequence[Array]
) -> list[str]:
    """Return limits of driven coordinates that the file lacks."""
    driven = [joint.actuated for joint in robot.independent_joints for _ in joint.coordinate_names]
    lines = []
    for key, sizes, missing in (
        ("torque", _torques(robot, driven, units, ends), [x.effort is None for x in limits]),
        ("velocity", np.where(units == "m", 1.0, 5.0), [x.velocity is None for x in limits]),
    ):
        rows = zip(robot.coordinate_names, sizes, driven, missing, strict=True)
        each = {name: f"{size:g}" for name, size, acts, lacks in rows if acts and lacks}
        values = {*each.values()}
        if len(each) == sum(driven) and len(values) == 1:
            lines.append(f"{key}: {values.pop()}")
        elif each:
            lines.append(f"{key}: {{{', '.join(f'{name}: {x}' for name, x in each.items())}}}")
    return lines


def _torques(
    robot: RobotDescription, driven: Sequence[bool], units: Array, ends: Sequence[Array]
) -> Array:
    """Return limits of torques, alike in one unit: several times those that hold the robot, with
    its loops closed, at both ends."""
    model, n = NumericRobot(robot), len(driven)
    static = np.zeros(n)
    for q in ends:
        rows = model.constraint_jacobian(q) if robot.n_constraints else np.zeros((0, n))
        acting = np.column_stack([np.eye(n)[:, driven], rows.T])
        tau = np.linalg.pinv(acting) @ model.inverse_dynamics(q, np.zeros(n), np.zeros(n))
        static[driven] = np.maximum(static[driven], np.abs(tau[: sum(driven)]))
    sizes = SEVERAL * np.array([static[units == unit].max() for unit in units])
    digit = 10.0 ** np.floor(np.log10(np.maximum(sizes, TINY)))
    return np.where(sizes > TINY, np.ceil(sizes / digit) * digit, USUAL)


def _with_suffix(path: Path, what: str, example: str) -> Path:
    path = path if path.suffix or not path.name else path.with_name(f"{path.name}.yaml")
    if path.suffix not in SUFFIXES:
        raise RequestError(f"{path} is no name for {what}; expected one such as {example}")
    return path


def _write(path: Path, text: str) -> Path:
    try:
        write_new(path, text.encode())
    except FileExistsError:
        raise RequestError(f"{path} is there already; choose another name") from None
    except OSError as error:
        with suppress(OSError):
            path.unlink()  # what was written of it
        raise RequestError(f"cannot write {path}: {error.strerror}") from error
    return path


def starter_text(name: str, file: str) -> str:
    """Return the model of a robot called `name`, for a file called `file`."""
    text = (files("symgen.converting") / "starter.yaml").read_text(encoding="utf-8")
    return text.replace("{name}", name, 1).replace("{file}", file, 1)
