"""Rough numbers of operations of the functions that solve, within a factor of two.

The recursions of this family count as 0: they take fewer operations than the other recursions, or
as many, on every robot that was measured; Coriolis matrices of two small robots take 1 % more.
Forward dynamics does not: elimination grows with the square of the depth, and from about 12 joints
on one path on articulated bodies are cheaper.

A joint costs so much behind any turn, less between quarter turns, less where it does not turn, and
the first two joints of a path cost less than the others.  Beside that there are pairs of joints of
which one carries the other, the elimination, and solving for columns.
"""

from __future__ import annotations

from typing import Any

from symgen.algebra.interface import S
from symgen.algebra.linear import all_zero
from symgen.formulations.elimination import columns_cost
from symgen.formulations.implicit import has_few_parameters
from symgen.formulations.shared import by_quarter_turns
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import KinematicTree

QUARTER, SLIDING = 0.45, 0.6
"""Weights of a joint between quarter turns, and of one that does not turn."""
START = (0.0, 0.42, 1.0)
"""Shares of the first joint of a path, the second, and the others."""

JOINT, CARRIED, PLACED, PAIR = 240, 36, 100, 12
"""Accelerations: per joint, and of M either per pair or, in the basis, per joint and per pair."""

DERIVED, DERIVED_PAIR = 700, 40
"""Derivatives of the torques: per joint and per pair."""

COLUMN, DIRECTION = 20, 170
"""By one parameter, per joint: change of the torques at rest, and where q and qd change as well."""

WRITTEN = {"joint_wrench_derivatives": 15_000, "regressor": 7_000}
"""Functions with results for every pair are in loops where they matter, and those are preferred to
a straight line of so many operations as others estimate: see "Forms" in benchmarks/README.md."""


def estimate(tree: KinematicTree[Any], function: str) -> int:
    """Operations of a function that solves, roughly; `WRITTEN`; 0 for the recursions."""
    if function in WRITTEN:
        return WRITTEN[function]
    if not function.startswith(("forward_dynamics", "hybrid_dynamics")):
        return 0
    depths = {joint.number: len(tree.path(joint.number)) for joint in tree.joints}
    weights = {joint.number: _weight(tree, joint) for joint in tree.joints}
    joints = sum(w * START[min(depths[j], len(START)) - 1] for j, w in weights.items())
    pairs = sum(depths.values()) - len(depths)
    eliminated = sum(depth * depth for depth in depths.values())
    carried = CARRIED * sum(weights[j] * (depth - 1) for j, depth in depths.items())
    mass = min(carried, PLACED * joints + PAIR * pairs)
    solution = JOINT * joints + mass + eliminated + 4 * sum(depths.values())
    slopes = DERIVED * joints + DERIVED_PAIR * pairs + eliminated + columns_cost(tree)
    columns = len(tree.runtime_parameters) * (4 * sum(depths.values()) + COLUMN * joints)
    if function.endswith("_parameter_derivatives"):
        return round(solution + columns)
    if function.endswith("_derivatives"):
        return round(slopes)
    if function.endswith("_sensitivities") and has_few_parameters(tree):
        return round(solution + columns + DIRECTION * joints * len(tree.runtime_parameters))
    if function.endswith("_sensitivities"):
        return round(slopes + columns + 8 * len(tree.runtime_parameters) * sum(depths.values()))
    return round(solution)


def _weight(tree: KinematicTree[S], joint: Joint[S]) -> float:
    turns = (joint.placement.tree.rotation, joint.placement.link.rotation)
    straight = all(by_quarter_turns(turn, tree.algebra) for turn in turns)
    slides = all_zero(joint.axes(tree.algebra)[0], tree.algebra)
    return (QUARTER if straight else 1.0) * (SLIDING if slides else 1.0)
