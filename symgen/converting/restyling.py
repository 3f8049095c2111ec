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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.algebra.graph import Graph
from symgen.deriving.derivation import derived_program
from symgen.description.checks import check
from symgen.description.expressions import evaluate
from symgen.description.foreign.nodes import listing, table
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
from symgen.description.reading import Document, Entry, Listing, Node, Scalar, Table
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
    root = _with_joints(document.root, description, joints, places, style)
    root = with_points(root, description, places.moved)
    root = _without_idle_parameters(root)
    result = replace(document, root=root)
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
    root: Node, description: RobotDescription, joints: list[Placed], places: Layout, style: str
) -> Table:
    if not isinstance(root, Table):
        raise TypeError("a checked document is a mapping")
    entries = dict(root.entries)
    if "joints" in entries and isinstance(entries["joints"].value, Listing):
        items, values = entries["joints"].value.items, description.parameter_values
        written = [
            _joint(node, item, row, places.moved[item.joint.link.name], values)
            for node, item, row in zip(items, joints, places.rows, strict=True)
        ]
        line = entries["joints"].line
        entries["joints"] = Entry(line, listing(written, line))
    entries.pop("convention", None)
    if style != ORIGIN:
        position = list(entries).index("name") + 1
        pairs = list(entries.items())
        pairs.insert(position, ("convention", Entry(root.line, Scalar(style, "text", root.line))))
        entries = dict(pairs)
    return replace(root, entries=entries)


def _joint(node: Node, item: Placed, row: Row, moved: Array, values: Mapping[str, float]) -> Node:
    """Return a joint with its new row; `link` and options stay.

    `moved` is the new link frame's pose in the former one, (4, 4).
    """
    if not isinstance(node, Table):
        raise TypeError("a checked joint is a mapping")
    kept = dict(node.entries)
    given_by_row = ("axis",) if item.moves else ()
    for key in ("dh", "before", "origin", "convention", "link", "parent", *given_by_row):
        kept.pop(key, None)
    line = node.line
    new: dict[str, Node | None] = {"name": None, "type": None}
    new.update({key: kept.pop(key).value for key in ("name", "type")})
    new["parent"] = Scalar(item.joint.parent, "text", line)
    if row.dh is not None:
        new["before"] = None if _is_identity(row.before) else _pose_node(row.before, line)
        names = ("theta", "d", "a", "alpha")
        angles = (True, False, False, True)
        columns = zip(names, row.dh, angles, strict=True)
        new["dh"] = table({name: _number(x, line, angle) for name, x, angle in columns}, line)
    else:
        new["origin"] = _pose_node(row.before, line)
        if row.axis is not None and item.moves:
            new["axis"] = listing([_number(float(x), line) for x in row.axis], line)
    new.update({key: entry.value for key, entry in kept.items()})
    link = node.entries.get("link")
    new["link"] = None if link is None else _link(link.value, item, moved, values)
    return table(new, line)


def _link(node: Node, item: Placed, moved: Array, values: Mapping[str, float]) -> Node:
    """Return a link with centre of mass and inertia in the new frame."""
    if not isinstance(node, Table) or _is_identity(moved):
        return node
    back, link = inverse(moved), item.joint.link
    turn, shift = back[:3, :3], back[:3, 3]
    entries, line = dict(node.entries), node.line
    massive = any(key in entries for key in ("mass", "com", "inertia"))
    at = turn @ np.array([evaluate(x, values) for x in link.com]) + shift
    if massive and np.abs(at).max() > _TINY:
        entries["com"] = Entry(line, listing([_number(float(x), line) for x in at], line))
    else:
        entries.pop("com", None)
    if "inertia" in entries:
        turned = entries_of(turn @ symmetric([evaluate(x, values) for x in link.inertia]) @ turn.T)
        size = max(map(abs, turned), default=0.0)
        tensor = zip(ENTRIES, turned, strict=True)
        pairs: dict[str, Node | None] = {
            key: _number(x, line) for key, x in tensor if abs(x) > 1e-15 * size
        }
        former = entries["inertia"].value
        if isinstance(former, Table) and "accepted" in former.entries:
            pairs["accepted"] = former.entries["accepted"].value
        entries["inertia"] = Entry(line, table(pairs, line))
    return replace(node, entries=entries)


def _without_idle_parameters(root: Table) -> Table:
    """Remove parameters that no expression contains any more."""
    entry = root.entries.get("parameters")
    if entry is None or not isinstance(entry.value, Table):
        return root
    kept = dict(entry.value.entries)
    while True:
        rest = {k: x for k, x in root.entries.items() if k not in ("parameters", "description")}
        texts = [*_texts_of(rest.values()), *_texts_of(kept.values())]
        used = {word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text)}
        idle = [name for name in kept if name not in used]
        if not idle:
            break
        for name in idle:
            del kept[name]
    entries = dict(root.entries)
    entries["parameters"] = Entry(entry.line, replace(entry.value, entries=kept))
    if not kept:
        del entries["parameters"]
    return replace(root, entries=entries)


def _texts_of(nodes: Iterable[Entry | Node]) -> Iterator[str]:
    """All scalars of some nodes."""
    waiting = [node.value if isinstance(node, Entry) else node for node in nodes]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Scalar):
            yield node.text
        elif isinstance(node, Listing):
            waiting += node.items
        else:
            waiting += [entry.value for entry in node.entries.values()]


def _number(value: float, line: int, angle: bool = False) -> Scalar:
    """Return a number with all its digits; 0 and multiples of pi/2 are written as such."""
    if abs(value) < 1e-15:
        return Scalar("0", "int", line)
    quarters = round(value / (math.pi / 2))
    if angle and quarters and abs(value - quarters * math.pi / 2) < _TINY:
        return Scalar(QUARTERS.get(quarters, repr(value)), "text", line)
    return Scalar(repr(float(value)), "float", line)


def _pose_node(pose: Array, line: int) -> Table:
    """`xyz` and `rpy`, without those that are zero."""
    rpy = to_rpy(pose[:3, :3])
    parts: dict[str, Node | None] = {"xyz": None, "rpy": None}
    if np.abs(pose[:3, 3]).max() > 1e-15:
        parts["xyz"] = listing([_number(float(x), line) for x in pose[:3, 3]], line)
    if max(map(abs, rpy)) > 1e-15:
        parts["rpy"] = listing([_number(float(x), line, angle=True) for x in rpy], line)
    return table(parts, line)


def with_points(root: Table, description: RobotDescription, moved: Mapping[str, Array]) -> Table:
    """Express all points in the new frames; `moved` has the poses of these in the old, by link."""
    points = _Points(description.parameter_values, moved)
    for key in ("loads", "points"):
        root = _with_items(root, key, [[point] for point in getattr(description, key)], points)
    root = _with_items(root, "springs", [spring.ends for spring in description.springs], points)
    return _with_items(root, "forces", [[force.at] for force in description.forces], points)


def _with_items(
    root: Table, key: str, places: Sequence[Sequence[LinkPoint]], points: _Points
) -> Table:
    """One list of the document; `places` has the points of every item."""
    entry = root.entries.get(key)
    if entry is None or not isinstance(entry.value, Listing):
        return root
    pairs = zip(entry.value.items, places, strict=True)
    items = [points.written(node, ends) for node, ends in pairs]
    value = listing(items, entry.line)
    return replace(root, entries={**root.entries, key: Entry(entry.line, value)})


class _Points:
    """Expresses points in new frames; `values` are the values of the parameters."""

    def __init__(self, values: Mapping[str, float], moved: Mapping[str, Array]) -> None:
        self.values, self.moved = values, moved

    def written(self, node: Node, places: Sequence[LinkPoint]) -> Node:
        """Rewrite an item of a list: a point, or a spring with points in `between`."""
        ends = node.entries.get("between") if isinstance(node, Table) else None
        if isinstance(node, Table) and ends is not None and isinstance(ends.value, Listing):
            items = [self._point(*pair) for pair in zip(ends.value.items, places, strict=True)]
            value = listing(items, ends.line)
            return replace(node, entries={**node.entries, "between": Entry(ends.line, value)})
        return self._point(node, places[0])

    def _point(self, node: Node, point: LinkPoint) -> Node:
        pose = self.moved[point.link]
        entry = node.entries.get("point") if isinstance(node, Table) else None
        is_named = entry is not None and isinstance(entry.value, Scalar)
        if not isinstance(node, Table) or is_named or np.abs(pose - np.eye(4)).max() < _TINY:
            return node
        back = inverse(pose)
        old = np.array([evaluate(x, self.values) for x in point.point])
        at = back[:3, :3] @ old + back[:3, 3]
        value = listing([_number(x, node.line) for x in at.tolist()], node.line)
        return replace(node, entries={**node.entries, "point": Entry(node.line, value)})
