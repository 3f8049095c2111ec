"""A model in another style: joints by standard DH, by modified DH, or by origin and axis.

    placed      RobotDescription            -> poses before and after every motion
    layout      poses, style                -> a new frame for every link, and its rows
    restyled    Document, style             -> Document, and the largest pose error

The robot is unchanged; frames of links move as the style requires, and centres of mass, inertias,
loads and points are expressed in the new frames.  Numbers replace expressions only where a frame
moves.  Fixed joints and joints of several coordinates are written by `origin`.

symbol  code    meaning
------  ------  -----------------------------------------------------------------------------------
X_j     before  pose of joint j in its parent's link frame, at coordinate 0
Y_j     behind  pose of the link frame behind the motion
A_j     turn    rotation of z to the axis of the joint
W_j     --      frame with z on the axis, moving with the link: X_j (motion) A_j
N_j     new     the new link frame, fixed in the link; K_j its pose in the former link frame
c       --      the first moving joint on link j, whose axis determines the frame of link j

DH rows as in the model file: standard Rz(theta) Tz(d) Tx(a) Rx(alpha), modified (Craig 1989)
Rx(alpha) Tx(a) Rz(theta) Tz(d).  The frame of a link lies on the common normal of its axis and that
of c; other joints on the link have a `before`, and so has c if its axis is so nearly parallel that
the normal is kilometres away.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.algebra.graph import Graph
from symgen.deriving.derivation import derived_program
from symgen.description.checks import check
from symgen.description.expressions import evaluate
from symgen.description.foreign.nodes import plain, table
from symgen.description.foreign.rotations import (
    entries_of,
    from_rpy,
    homogeneous,
    inverse,
    shifted,
    symmetric,
    to_rpy,
    turned_about,
)
from symgen.description.inertia import ENTRIES
from symgen.description.model import JointDescription, LinkPoint, Pose, RobotDescription
from symgen.description.names import BASE
from symgen.description.reading import Document, Scalar
from symgen.description.scalars import QUARTERS
from symgen.errors import RequestError
from symgen.formulations import formulation_named
from symgen.joints import joint_type
from symgen.kinematics.tree import build_tree
from symgen.program.interpreter import call
from symgen.runtime.configuration import Configuration
from symgen.support.suggestions import suggestion

Array = NDArray[np.float64]
STANDARD, MODIFIED, ORIGIN = "standard", "modified", "origin"
STYLES = (STANDARD, MODIFIED, ORIGIN)
_TINY = 1e-12
"""Tolerance, relative to 1 m and 1 rad."""
_FAR = 1e4
"""Maximum distance (m) of a common normal: above it, poses lose too many digits."""

_STATES = 20


@dataclass(frozen=True)
class Placed:
    """A joint with the poses of the module's table."""

    joint: JointDescription
    before: Array
    behind: Array
    axis: Array

    @property
    def turn(self) -> Array:
        """A_j, with x as near as possible to its former direction."""
        z = self.axis / np.linalg.norm(self.axis)
        if abs(z[2] - 1.0) < _TINY:
            return np.eye(4)
        x = np.array([1.0, 0.0, 0.0]) if abs(z[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
        x = x - (x @ z) * z
        x = x / np.linalg.norm(x)
        return homogeneous(np.column_stack([x, np.cross(z, x), z]), np.zeros(3))

    @property
    def moves(self) -> bool:
        """Whether it has one coordinate, and so a style."""
        return self.joint.coordinates == 1 and bool(joint_type(self.joint.type).moved_entry)


def placed(description: RobotDescription) -> list[Placed]:
    """X, Y and the axis of every joint."""
    values = description.parameter_values

    def number(expression: Any) -> float:
        return evaluate(expression, values)

    def pose(description_pose: Pose | None) -> Array:
        if description_pose is None:
            return np.eye(4)
        turn = from_rpy([number(x) for x in description_pose.rpy])
        return homogeneous(turn, np.array([number(x) for x in description_pose.xyz]))

    joints = []
    for joint in description.joints:
        axis = np.array([0.0, 0.0, 1.0])
        before, behind = pose(joint.before) @ pose(joint.origin), np.eye(4)
        if joint.axis is not None:
            axis = np.array([number(x) for x in joint.axis])
        if joint.dh is not None:
            row = joint.dh
            theta, d, a, alpha = (number(x) for x in (row.theta, row.d, row.a, row.alpha))
            screw_z = turned_about("z", theta) @ shifted(z=d)
            screw_x = shifted(x=a) @ turned_about("x", alpha)
            if row.convention == STANDARD:
                before, behind = before @ screw_z, screw_x
            else:
                before = before @ screw_x @ screw_z
        joints.append(Placed(joint, before, behind, axis))
    return joints


@dataclass(frozen=True)
class Row:
    """A joint as `before` and DH row (theta, d, a, alpha), or as `origin` and axis."""

    before: Array
    dh: tuple[float, float, float, float] | None
    axis: Array | None


@dataclass(frozen=True)
class Layout:
    """The rows of all joints, and K_j of every link by name."""

    rows: tuple[Row, ...]
    moved: Mapping[str, Array]


def layout(joints: list[Placed], style: str) -> Layout:
    """Place the frames of all links in a style."""
    moved: dict[str, Array] = {BASE: np.eye(4)}
    rows = []
    for item in joints:
        carrier = inverse(moved[item.joint.parent])
        child = next(
            (x for x in joints if x.moves and x.joint.parent == item.joint.link.name), None
        )
        if not item.moves:
            rows.append(Row(carrier @ item.before @ item.behind, None, None))
            moved[item.joint.link.name] = np.eye(4)
        elif style == ORIGIN:
            rows.append(Row(carrier @ item.before, None, item.axis))
            moved[item.joint.link.name] = inverse(item.behind)
        else:
            place = _standard if style == STANDARD else _modified
            row, frame = place(carrier @ item.before @ item.turn, _line_of(item, child))
            rows.append(row)
            moved[item.joint.link.name] = inverse(item.behind) @ item.turn @ frame
    return Layout(tuple(rows), moved)


def _line_of(item: Placed, child: Placed | None) -> tuple[Array, Array] | None:
    """Return a point of the axis of `child` and its direction, in W of `item`.

    None without child, and where the common normal is far away.
    """
    if child is None:
        return None
    seen = inverse(item.turn) @ item.behind @ child.before
    axis = child.axis / np.linalg.norm(child.axis)
    line = seen[:3, 3], seen[:3, :3] @ axis
    return None if _is_far(line) else line


def _is_far(line: tuple[Array, Array]) -> bool:
    """Whether a line is so nearly parallel to z that their common normal is too far away."""
    point, u = line
    flat = float(u[:2] @ u[:2])
    return flat >= _TINY**2 and abs(float(point[:2] @ u[:2])) > _FAR * flat


def _standard(W: Array, line: tuple[Array, Array] | None) -> tuple[Row, Array]:
    """Return the row of a joint with W in the frame of its carrier, and N in W."""
    if line is None:
        frame = np.eye(4)
    else:
        foot, normal = _common_normal(line)
        point, u = line
        on_line = point + (u @ (np.array([0.0, 0.0, foot]) - point)) * u
        if abs(u[2]) < 1.0 - _TINY:
            on_line = _nearest_on_line(line)
        frame = homogeneous(np.column_stack([normal, np.cross(u, normal), u]), on_line)
    z_is_axis = np.abs(W[:2, 3]).max() < _TINY and abs(W[2, 2] - 1.0) < _TINY
    before, start = (np.eye(4), W) if z_is_axis else (W, np.eye(4))
    goal = start @ frame
    R, p = goal[:3, :3], goal[:3, 3]
    theta, alpha = math.atan2(R[1, 0], R[0, 0]), math.atan2(R[2, 1], R[2, 2])
    a = p[0] * math.cos(theta) + p[1] * math.sin(theta)
    return Row(before, (theta, float(p[2]), float(a), alpha), None), frame


def _modified(W: Array, line: tuple[Array, Array] | None) -> tuple[Row, Array]:
    """Return the row and the frame of a joint, as of `_standard`, for Craig's rows."""
    before = _ahead_of_modified(W)
    if _is_identity(before):
        before = np.eye(4)
    local = inverse(before) @ W
    alpha = math.atan2(-local[1, 2], local[2, 2])
    a = float(local[0, 3])
    start = turned_about("x", alpha) @ shifted(x=a)
    goal = start if line is None else local @ _on_z(*_common_normal(line))
    rest = inverse(start) @ goal
    theta, d = math.atan2(rest[1, 0], rest[0, 0]), float(rest[2, 3])
    return Row(before, (theta, d, a, alpha), None), inverse(local) @ goal


def _ahead_of_modified(W: Array) -> Array:
    """Return the pose in the carrier's frame with x along the common normal with the axis of W."""
    seen = W[:3, 3], W[:3, 2]  # the axis in the frame of the carrier
    if _is_far(seen):
        return W
    return _on_z(*_common_normal(seen))


def _on_z(foot: float, normal: Array) -> Array:
    """Return the frame at `foot` on the z axis with x along `normal`."""
    z = np.array([0.0, 0.0, 1.0])
    return homogeneous(np.column_stack([normal, np.cross(z, normal), z]), foot * z)


def _common_normal(line: tuple[Array, Array]) -> tuple[float, Array]:
    """Return the common normal of the z axis and a line: its place on z and its direction.

    Where the axes are parallel it begins at the origin; where they meet it is normal to both.
    """
    point, u = line
    flat = np.array([u[0], u[1], 0.0])
    if np.linalg.norm(flat) < _TINY:
        normal = np.array([point[0], point[1], 0.0])
        length = np.linalg.norm(normal)
        return 0.0, normal / length if length > _TINY else np.array([1.0, 0.0, 0.0])
    nearest = _nearest_on_line(line)
    normal = np.array([nearest[0], nearest[1], 0.0])
    length = np.linalg.norm(normal)
    if length > _TINY:
        return float(nearest[2]), normal / length
    across = np.cross([0.0, 0.0, 1.0], u)
    return float(nearest[2]), across / np.linalg.norm(across)


def _nearest_on_line(line: tuple[Array, Array]) -> Array:
    """Return the point of a line, not parallel to z, that is nearest to the z axis."""
    point, u = line
    flat = u[:2]
    result: Array = point - (point[:2] @ flat) / (flat @ flat) * u
    return result


def _is_identity(pose: Array) -> bool:
    return bool(np.abs(pose - np.eye(4)).max() < _TINY)


def restyled(document: Document, style: str) -> tuple[Document, float]:
    """Convert a robot to another style; return the largest pose error in random states, too.

    Raises:
        RequestError: the style is unknown.
    """
    if style not in STYLES:
        raise RequestError(f"there is no style {style!r}; {suggestion(style, STYLES)}")
    description = check(document)
    joints = placed(description)
    places = layout(joints, style)
    data = _with_joints(plain(document.root), description, joints, places, style)
    move_points(data, description, places.moved)
    _drop_idle_parameters(data)
    result = replace(document, root=table(data, document.root.line))
    return result, pose_error(description, check(result), places)


def pose_error(old: RobotDescription, new: RobotDescription, places: Layout) -> float:
    """Largest difference of an entry of a link's pose, over random states."""
    newton_euler = formulation_named("newton_euler")
    programs = [derived_program(x, newton_euler, "forward_kinematics") for x in (old, new)]
    tree = build_tree(old, Graph())
    space = Configuration(tree.sizes["n"], tree.quaternions)
    moved = np.array([places.moved[joint.link.name] for joint in old.joints]).reshape(-1, 4, 4)
    worst = 0.0
    for q in space.random_configuration(1, _STATES):
        before, after = (call(program, {"q": q})[0] for program in programs)
        worst = max(worst, float(np.abs(before @ moved - after).max(initial=0.0)))
    return worst


def _with_joints(
    data: Mapping[str, Any], description: RobotDescription, joints: list[Placed], places: Layout,
    style: str,
) -> dict[str, Any]:  # fmt: skip
    """Return the file with new rows, in the convention of the style."""
    values = description.parameter_values
    written = [
        _joint(joint, item, row, places.moved[item.joint.link.name], values)
        for joint, item, row in zip(data.get("joints", ()), joints, places.rows, strict=True)
    ]
    pairs = [(key, entry) for key, entry in data.items() if key != "convention"]
    if style != ORIGIN:
        pairs.insert([key for key, _ in pairs].index("name") + 1, ("convention", style))
    return {key: written if key == "joints" else entry for key, entry in pairs}


def _joint(
    data: Mapping[str, Any], item: Placed, row: Row, moved: Array, values: Mapping[str, float]
) -> dict[str, Any]:
    """Return a joint with its new row; `link` and options stay.

    `moved` is the new link frame's pose in the former one, (4, 4).
    """
    new = {"name": data["name"], "type": data["type"], "parent": item.joint.parent}
    if row.dh is not None:
        if not _is_identity(row.before):
            new["before"] = _pose(row.before)
        names, angles = ("theta", "d", "a", "alpha"), (True, False, False, True)
        columns = zip(names, row.dh, angles, strict=True)
        new["dh"] = {name: _number(x, angle) for name, x, angle in columns}
    else:
        new["origin"] = _pose(row.before)
        if row.axis is not None and item.moves:
            new["axis"] = [_number(x) for x in row.axis]
    replaced = {*new, "dh", "before", "origin", "convention", "link", *["axis"] * item.moves}
    new |= {key: entry for key, entry in data.items() if key not in replaced}
    if "link" in data:
        new["link"] = _link(data["link"], item, moved, values)
    return new


def _link(
    data: dict[str, Any], item: Placed, moved: Array, values: Mapping[str, float]
) -> dict[str, Any]:
    """Return a link with centre of mass and inertia in the new frame."""
    if _is_identity(moved):
        return data
    back, link = inverse(moved), item.joint.link
    turn, shift = back[:3, :3], back[:3, 3]
    new = dict(data)
    at = turn @ np.array([evaluate(x, values) for x in link.com]) + shift
    if not data.keys().isdisjoint(("mass", "com", "inertia")) and np.abs(at).max() > _TINY:
        new["com"] = [_number(x) for x in at]
    else:
        new.pop("com", None)
    if "inertia" in data:
        turned = entries_of(turn @ symmetric([evaluate(x, values) for x in link.inertia]) @ turn.T)
        size = max(map(abs, turned), default=0.0)
        tensor = zip(ENTRIES, turned, strict=True)
        new["inertia"] = {key: _number(x) for key, x in tensor if abs(x) > 1e-15 * size}
        if "accepted" in data["inertia"]:
            new["inertia"]["accepted"] = data["inertia"]["accepted"]
    return new


def _drop_idle_parameters(data: dict[str, Any]) -> None:
    """Remove parameters that no expression contains any more."""
    kept = data.get("parameters", {})
    while kept:
        rest = [x for key, x in data.items() if key != "description"]
        used = {word for text in _texts_of(rest) for word in re.findall(r"[A-Za-z_]\w*", text)}
        idle = [name for name in kept if name not in used]
        if not idle:
            return
        for name in idle:
            del kept[name]
    data.pop("parameters", None)


def _texts_of(data: Any) -> Iterator[str]:
    """All texts and numbers of plain data."""
    if isinstance(data, dict | list):
        for item in data.values() if isinstance(data, dict) else data:
            yield from _texts_of(item)
    else:
        yield data.text if isinstance(data, Scalar) else str(data)


def _number(value: float, angle: bool = False) -> str | float:
    """Return a number with all its digits; 0 and multiples of pi/2 are written as such."""
    value = float(value)
    if abs(value) < 1e-15:
        return 0
    quarters = round(value / (math.pi / 2))
    if angle and quarters and abs(value - quarters * math.pi / 2) < _TINY:
        return QUARTERS.get(quarters, repr(value))
    return value


def _pose(pose: Array) -> dict[str, list[str | float]]:
    """`xyz` and `rpy`, without those that are zero."""
    at, rpy = pose[:3, 3], to_rpy(pose[:3, :3])
    parts = {}
    if np.abs(at).max() > 1e-15:
        parts["xyz"] = [_number(x) for x in at]
    if max(map(abs, rpy)) > 1e-15:
        parts["rpy"] = [_number(x, angle=True) for x in rpy]
    return parts


def move_points(
    data: Mapping[str, Any], description: RobotDescription, moved: Mapping[str, Array]
) -> None:
    """Express all points in the new frames; `moved` has the poses of these in the old, by link."""
    values, ends = description.parameter_values, list[tuple[Any, LinkPoint]]()
    at = [force.at for force in description.forces]
    for key, points in ("loads", description.loads), ("points", description.points), ("forces", at):
        ends += zip(data.get(key, ()), points, strict=True)
    for item, spring in zip(data.get("springs", ()), description.springs, strict=True):
        ends += zip(item["between"], spring.ends, strict=True)
    for item, point in ends:
        if not isinstance(item.get("point"), Scalar) and not _is_identity(moved[point.link]):
            back = inverse(moved[point.link])
            old = np.array([evaluate(x, values) for x in point.point])
            item["point"] = [_number(x) for x in back[:3, :3] @ old + back[:3, 3]]
