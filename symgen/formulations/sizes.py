"""How many operations a function has, roughly, before it is derived: within a factor of four.

A recursion takes so many operations for each joint, and so many for each entry of its results.
Derivatives by the state have entries only for pairs of joints of which one carries the other,
unless accelerations are solved for.  The estimate decides what is too large to build, or to derive
for validation alone, and which formulation is derived first; of those that are derived, but in
loops, the one whose program has the fewest operations is built.
"""

from __future__ import annotations

from math import prod
from typing import Any

from symgen.kinematics.tree import KinematicTree
from symgen.program.derivatives import DERIVATIVES
from symgen.program.functions import function_named

JOINT, ENTRY = 150, 20
"""Operations of `composite` per joint, and per entry of the results."""
SOLVED = 2
"""Per entry of derivatives of accelerations, times the mean depth of a joint."""
ALONG = 150
"""Per entry of total derivatives."""


def operations(tree: KinematicTree[Any], function: str) -> int:
    """Estimate the operations of a function by the formulation that has the fewest."""
    spec, sizes = function_named(function), tree.sizes
    depths = sum(len(tree.path(joint.number)) for joint in tree.joints)
    pairs = 2 * depths - tree.n
    entries = 0
    for array in spec.results:
        shape = array.sizes(sizes)
        by_joints = [size for size in array.shape if size in ("n", "n_joints", "10 n_joints")]
        if len(by_joints) > 1 and not spec.solves and tree.n:
            entries += prod(shape) * pairs // tree.n**2
        else:
            entries += prod(shape)
    derivative = DERIVATIVES.get(function)
    each: float = ALONG if derivative is not None and derivative.along else ENTRY
    if derivative is not None and spec.solves and not derivative.along:
        each = SOLVED * depths / max(tree.n, 1) + ENTRY / 2
    return JOINT * tree.n + round(each * entries)
