"""`symgen show MODEL tree`: the tree, its branch matrices, the sparsity of derivatives.

Links are drawn below their parents, each with its joint, coordinates, mass, loads and points.  Then
follow the matrices of the open-tree paper (`symgen.kinematics.topology`) by rows, and the entries
of d tau / d q that can be non-zero.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgen.algebra.graph import Graph
from symgen.algebra.nodes import Scalar
from symgen.description.expressions import evaluate
from symgen.description.model import JointDescription, RobotDescription
from symgen.formulations.coupled import coupled_coordinates
from symgen.kinematics.topology import Topology, topology
from symgen.kinematics.tree import KinematicTree, build_tree
from symgen.validation.mobility import mobility

WIDTH = 100
WIDEST_STAIRS = 36
"""Largest total indentation of links, in columns; deep trees have smaller steps."""
LARGEST_PICTURE = 60
"""Largest number of coordinates for the pattern of the derivatives."""

_PLURALS = {"velocity": "velocities", "entry of q": "entries of q"}

Row = tuple[str, ...]


def tree(description: RobotDescription) -> str:
    """Return the drawing of the tree and its description by matrices, as lines of text."""
    joints = build_tree(description, Graph())
    robot = topology(joints)
    blocks = [_summary(description), drawing(description)]
    if robot.n:
        blocks += [*_matrices(robot, _moving(joints)), _ends(robot), pattern(joints, robot)]
    freedoms = mobility(description)
    if freedoms is not None:
        blocks.append(f"Loops: {freedoms}")
    return "\n\n".join(blocks)


def degrees_of_freedom(description: RobotDescription) -> tuple[tuple[int, str], ...]:
    """Count coordinates, or velocities and entries of q where joints are on manifolds."""
    n, nq = len(description.coordinate_names), len(description.position_names)
    return ((n, "coordinate"),) if n == nq else ((n, "velocity"), (nq, "entry of q"))


def counted(number: int, what: str) -> str:
    """Return a number with its noun."""
    return f"{number} {what if number == 1 else _PLURALS.get(what, f'{what}s')}"


def numbered(description: RobotDescription, letter: str = "q_", last: str = "..") -> list[str]:
    """Return the coordinates of every joint; with manifolds also its velocities."""
    apart = description.coordinate_names != description.position_names
    q = qd = 0
    listed: list[str] = []
    for joint in description.joints:
        names = () if joint.mimic else joint.position_names
        words = [_range(letter, last, q, len(names))]
        if apart and names:
            rate = letter.replace("q", "qd")
            words.append(_range(rate, last, qd, joint.coordinates))
        q, qd = q + len(names), qd + (joint.coordinates if names else 0)
        listed.append(", ".join(words))
    return listed


def _range(letter: str, to: str, before: int, count: int) -> str:
    if count < 2:
        return f"{letter}{before + 1}" if count else ""
    return f"{letter}{before + 1}{to}{letter}{before + count}"


def _summary(description: RobotDescription) -> str:
    sizes = (
        *degrees_of_freedom(description),
        (len(description.joints), "link"),
        (len(description.loads), "load"),
        (len(description.points), "point"),
        *((count, what) for count, what in counts_of_forces(description) if count),
    )
    counts = ", ".join(counted(size, what) for size, what in sizes)
    return f"{description.name}: {counts}"


def counts_of_forces(description: RobotDescription) -> tuple[tuple[int, str], ...]:
    """Return the numbers of springs, forces and tyres, each with its word."""
    tyres = sum(force.wheel is not None for force in description.forces)
    applied = len(description.forces) - tyres
    return (len(description.springs), "spring"), (applied, "force"), (tyres, "tyre")


def drawing(description: RobotDescription) -> str:
    """Return the links below their parents, one line each.

    Columns: indented link, coordinates, joint, type, mass, attachments.
    """
    carried: dict[str, list[str]] = {}
    depths = {"base": 0}
    for joint in description.joints:
        carried.setdefault(joint.parent, []).append(joint.link.name)
        depths[joint.link.name] = depths[joint.parent] + 1
    step = max(1, min(3, WIDEST_STAIRS // max(*depths.values(), 1)))
    labels = _labels(description)
    rows: list[Row] = []
    stack = [("base", "", "")]
    while stack:
        link, mark, below = stack.pop()
        rows.append((mark + link, *labels[link]))
        children = carried.get(link, [])
        for position, child in reversed(list(enumerate(children))):
            corner, bar = ("└", " ") if position == len(children) - 1 else ("├", "│")
            mark = below + corner.ljust(step - 1, "─") + " "
            stack.append((child, mark, below + bar.ljust(step)))
    return _aligned(rows)


def _labels(description: RobotDescription) -> dict[str, Row]:
    """Return the columns of every link."""
    labels: dict[str, Row] = {"base": ("", "", "", "", _attached("base", description))}
    for joint, coordinates in zip(description.joints, numbered(description), strict=True):
        link = joint.link.name
        labels[link] = (
            f"as {joint.mimic.coordinate}" if joint.mimic else coordinates,
            joint.name,
            f"{joint.type} {rotations(joint)}".rstrip(),
            _mass(joint, description),
            _attached(link, description),
        )
    return labels


def rotations(joint: JointDescription) -> str:
    """Return the representation of the rotations of a joint."""
    return joint.sequence if joint.manifold is None else joint.representation


def _mass(joint: JointDescription, description: RobotDescription) -> str:
    mass = joint.link.mass
    value = evaluate(mass, description.parameter_values)
    if value == 0.0:
        return "massless"
    return f"{mass.text} = {value:.6g} kg" if mass.names else f"{value:.6g} kg"


def _attached(link: str, description: RobotDescription) -> str:
    """Return loads, points, springs, forces and tyres on a link, by name."""
    loads = [f"load {load.name}" for load in description.loads if load.link == link]
    points = [f"point {point.name}" for point in description.points if point.link == link]
    ends = [(spring.name, end.link) for spring in description.springs for end in spring.ends]
    springs = dict.fromkeys(f"spring {name}" for name, at in ends if at == link)
    forces = [f"{x.type} {x.name}" for x in description.forces if x.at.link == link]
    return ", ".join([*loads, *points, *springs, *forces])


def _aligned(table: Sequence[Row]) -> str:
    """Return rows with aligned columns, without empty columns."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True) if width]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _moving(joints: KinematicTree[Scalar]) -> str:
    """Describe the numbers of the joints of the matrices."""
    if joints.is_coupled:
        return "joints of one coordinate in order"
    if joints.manifolds:
        return "joint i has the velocity qd_i (a ball has three, a free joint six)"
    return "joint i moves q_i"


def _matrices(robot: Topology, moves: str) -> list[str]:
    """Return Upsilon, Phi and Psi by rows, and joints of branches where Psi does not imply them.

    `moves` describes the numbers of the joints.
    """
    joints = range(1, robot.n + 1)
    branches = range(1, len(robot.branches) + 1)
    first, last = zip(*robot.joint_branches, strict=True)
    blocks = [
        f"Joint parent matrix (Upsilon): {moves}; its parent carries it, 0 is the base\n"
        + _wrapped({"joint": joints, "parent": robot.joint_parents}),
        "Branch parent matrix (Phi): a branch is a run of joints without a fork\n"
        + _wrapped({"branch": branches, "parent": robot.branch_parents}),
        "Joint-branch matrix (Psi): where every branch starts and ends\n"
        + _wrapped({"branch": branches, "first joint": first, "last joint": last}),
    ]
    if not robot.is_consecutive:
        numbered = enumerate(robot.branches, start=1)
        rows = (f"  branch {number}: {_listed(branch)}" for number, branch in numbered)
        heading = "Joints of the branches, which are not numbered consecutively"
        blocks.append("\n".join([heading, *rows]))
    return blocks


def _wrapped(rows: dict[str, Sequence[int]]) -> str:
    """Return rows of numbers, broken at the width of the page with repeated heads."""
    numbers = list(zip(*rows.values(), strict=True))
    head = max(map(len, rows))
    cell = max(len(str(number)) for column in numbers for number in column)
    most = (WIDTH - head - 2) // (cell + 1)
    blocks = []
    for start in range(0, len(numbers), most):
        part = zip(*numbers[start : start + most], strict=True)
        lines = (
            f"  {name.ljust(head)}{''.join(f' {number:>{cell}}' for number in row)}"
            for name, row in zip(rows, part, strict=True)
        )
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _ends(robot: Topology) -> str:
    junctions = _listed(robot.junctions) or "none"
    return f"Junctions (joints that carry several): {junctions}\nLeaves: {_listed(robot.leaves)}"


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def pattern(joints: KinematicTree[Scalar], robot: Topology) -> str:
    """Return number and positions of entries of d tau / d q that can be non-zero."""
    n, related = len(joints.independent), robot.related
    because = "one joint on the path to the other"
    if joints.is_coupled:
        coupled, numbers = coupled_coordinates(joints), range(1, n + 1)
        related = tuple(tuple(k in coupled[i] for k in numbers) for i in numbers)
        because = "they move joints of which one is on the path to the other"
    if joints.tied:
        pairs = {(i, k) for numbers in joints.tied for i in numbers for k in numbers}
        related = tuple(
            tuple(entry or (i, k) in pairs for k, entry in enumerate(row, start=1))
            for i, row in enumerate(related, start=1)
        )
        because += ", or a spring or force ties them"
    count = sum(map(sum, related))
    said = f"{count} of {n**2} entries of d tau / d q can be non-zero ({because})"
    if n > LARGEST_PICTURE:
        return said
    margin = len(str(n))
    tens = "".join(str(m // 10) if m % 10 == 0 else " " for m in range(1, n + 1))
    units = "".join(str(m % 10) for m in range(1, n + 1))
    heads = [units] if n < 10 else [tens, units]
    lines = [f"  {'':{margin}} {head}".rstrip() for head in heads]
    for i, row in enumerate(related, start=1):
        marks = "".join("x" if entry else "." for entry in row)
        lines.append(f"  {i:>{margin}} {marks}")
    return f"{said}\n" + "\n".join(lines)
