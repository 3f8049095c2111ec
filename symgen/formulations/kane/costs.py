"""Rough numbers of operations, from the tree: for most robots of 3 joints on within a factor of 2.

The recursion costs so much per joint: a full step from the third joint of a path on, less before,
where velocities and accelerations have few entries; less where axes are turned by quarter turns,
least where all stay parallel, and more for skew axes.  Its derivatives have columns.  What a column
costs depends on how its variable comes in: by the displacement of a body, all joints beyond it move
otherwise; by that, or by masses, the articulated bodies from there to the base change; and
accelerations change everywhere on the same joint of the base.  By a coordinate, the velocity and
the torque of every joint all of this happens; a parameter touches some joints, a sensitivity all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix
from symgen.algebra.turns import turn_of
from symgen.formulations.shared import by_quarter_turns
from symgen.kinematics.frames import identity_transform
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import BASE, KinematicTree

STEP = 485
"""Operations of one step of the recursion: a joint turned by any twist, third of its path."""
START = (0.0, 0.42)
"""Shares of a step that the first and the second joint of a path take."""
COLUMN_START = (0.3, 0.8)
"""The same in a column by a parameter."""

PARALLEL, QUARTER, TWIST, ANY = 0.22, 0.45, 1.0, 1.2
"""Weights of a joint by its seat: all axes parallel, quarter turns, a plane turn, any turn."""
SLIDING, SKEW = 0.6, 1.6
"""Factors where the joint does not turn, and where its axis is no axis of its frame."""

ON_PATH, ELSEWHERE = 557, 184
"""Derivatives by the coordinate, the velocity and the torque of a joint: operations per joint on
one path with it, and per joint on the same joint of the base."""
MOVED, ARTICULATED, ACCELERATED = 150, 180, 60
"""Derivatives by a parameter: per joint that moves otherwise, whose articulated body changes, and
whose acceleration changes."""
SENSITIVITY = 520
"""Total derivatives by a parameter: per joint."""


def estimate(tree: KinematicTree[Any], function: str) -> int:
    """Rough number of operations of a function of this family."""
    weights = {joint.number: _weight(tree, joint) for joint in tree.joints}
    steps = _started(tree, weights, START)
    recursion = STEP * sum(steps.values())
    if function.endswith("_parameter_derivatives"):
        return round(recursion + _parameter_columns(tree, _started(tree, weights, COLUMN_START)))
    if function.endswith("_sensitivities"):
        columns = len(tree.runtime_parameters)
        return round(recursion + SENSITIVITY * columns * sum(steps.values()))
    if function.endswith("_derivatives"):
        return round(_columns(tree, steps))  # the recursion's share is in the coefficients
    return round(recursion)


def _started(
    tree: KinematicTree[Any], weights: dict[int, float], start: tuple[float, ...]
) -> dict[int, float]:
    """Weights of the joints, those of the first ones of a path reduced by `start`."""
    shares = (*start, 1.0)
    depths = {k: min(len(tree.path(k)), len(shares)) for k in weights}
    return {k: weight * shares[depths[k] - 1] for k, weight in weights.items()}


def _columns(tree: KinematicTree[Any], steps: dict[int, float]) -> float:
    """Of the derivatives by q, qd and tau."""
    operations = 0.0
    for k in steps:
        path = tree.path(k)
        operations += ON_PATH * sum(steps[i] + steps[k] for i in path) / 2
        operations += ELSEWHERE * sum(steps[i] for i in tree.carried_by(path[0]))
    return operations


# -- columns by parameters ---------------------------------------------------------------------


def _parameter_columns(tree: KinematicTree[S], steps: dict[int, float]) -> float:
    """Of the derivatives by the runtime parameters, by the joints that each of them touches."""
    symbols = [tree.algebra.symbol(name) for name in tree.runtime_parameters]
    derivatives = tree.algebra.derivatives(symbols)

    def depends(entries: Iterable[S]) -> frozenset[int]:
        return frozenset(position for entry in entries for position in derivatives.of(entry))

    moving = {joint.number: depends(_geometry(joint)) for joint in tree.joints}
    heavy = {joint.number: depends(_inertia(joint)) for joint in tree.joints}
    driven = {joint.number: depends(vars(joint.terms).values()) for joint in tree.joints}
    falling = depends(tree.gravity)
    operations = 0.0
    for column in range(len(symbols)):
        moved = {i for k in steps if column in moving[k] for i in tree.carried_by(k)}
        if column in falling:
            moved = set(steps)
        inertias = [k for k in steps if column in moving[k] | heavy[k]]
        touched = {*moved, *inertias, *(k for k in steps if column in driven[k])}
        articulated = {i for k in inertias for i in tree.path(k)}
        feet = {tree.path(k)[0] for k in touched}
        accelerated = {i for k in feet for i in tree.carried_by(k)}
        counted = ((MOVED, moved), (ARTICULATED, articulated), (ACCELERATED, accelerated))
        operations += sum(cost * sum(steps[k] for k in joints) for cost, joints in counted)
    return operations


def _geometry(joint: Joint[S]) -> tuple[S, ...]:
    """What the placement of a joint and of its body depends on."""
    at = joint.placement
    fixed = (*at.tree.rotation.entries, *at.tree.translation)
    behind = (*at.link.rotation.entries, *at.link.translation)
    return (*fixed, *behind, at.offset, *at.axis)


def _inertia(joint: Joint[S]) -> tuple[S, ...]:
    """What the inertia of a body depends on."""
    return (joint.body.mass, *joint.body.com, *joint.body.inertia.entries)


# -- weights -----------------------------------------------------------------------------------


def _weight(tree: KinematicTree[S], joint: Joint[S]) -> float:
    """Against a joint that turns about an axis of its frame, behind any twist."""
    if _stays_parallel(tree, joint):
        return PARALLEL
    seat = _seat(tree, joint)
    if by_quarter_turns(seat, tree.algebra):
        weight = QUARTER
    else:
        weight = ANY if turn_of(seat, tree.algebra).plane is None else TWIST
    turning = len(_axis(tree, joint))
    return weight * (SLIDING if turning == 0 else SKEW if turning > 1 else 1.0)


def _stays_parallel(tree: KinematicTree[S], joint: Joint[S]) -> bool:
    """Whether all joints on one path with this one turn about the same axis of their frames."""
    related = {*tree.path(joint.number), *tree.carried_by(joint.number)}
    joints = [tree.joint(k) for k in sorted(related, key=lambda k: abs(k - joint.number))]
    axes: set[tuple[int, ...]] = set()
    for one in joints:  # the nearest first: most robots are decided by them
        axes |= {_axis(tree, one)} - {()}
        if len(axes) > 1 or any(len(axis) != 1 for axis in axes):
            return False
        if one.parent != BASE and not turn_of(_seat(tree, one), tree.algebra).trivial:
            return False
    return len(axes) == 1


def _axis(tree: KinematicTree[S], joint: Joint[S]) -> tuple[int, ...]:
    """Which entries of the joint's axis of rotation are not 0 by structure."""
    s, _ = joint.axes(tree.algebra)
    return tuple(i for i, entry in enumerate(s) if not tree.algebra.is_zero(entry))


def _seat(tree: KinematicTree[S], joint: Joint[S]) -> Matrix[S]:
    """The fixed turn from the joint to the basis of its parent."""
    parent = identity_transform(tree.algebra)
    if joint.parent != BASE:
        parent = tree.joint(joint.parent).placement.link
    return parent.rotation @ joint.placement.tree.rotation
