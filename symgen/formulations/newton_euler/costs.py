"""Rough numbers of operations of the functions that solve, from 3 joints on within a factor of two,
of the derivatives of joint wrenches, of the regressor and of the second derivatives.

M and the derivatives of torques cost so much per pair of joints of which one carries the other (a
joint counts as such a pair, too, but for `STARTED`: the first joint of a recursion costs less), the
recursion so much per joint.  A joint counts less where axes are turned by quarter turns or stay
parallel.  Beside that there is the factorisation, and solving for columns: see `elimination`, of
whose sums the multiply-adds are counted here.

A parameter costs a column, in which is written only what depends on it: motions of the joints that
it moves, reactions from there to the base.  The accelerations themselves are only found where a
torque by a parameter depends on them: not for gravity, springs, damping, friction and loads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import identity
from symgen.formulations.elimination import columns_cost
from symgen.formulations.shared import by_quarter_turns
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import BASE, KinematicTree

PARALLEL, SIMPLE, FULL = 0.13, 0.22, 0.28
"""What a joint costs where all axes stay parallel, and where frames are turned by quarter turns,
against one with any turn; the last is added where the link has a general centre and inertia."""

SLIDING = 0.6
"""The same for a joint that does not turn."""

STARTED = 0.6
"""What the first joint of a recursion costs less than the others."""

MASS_MATRIX, SLOPES = 145, 410
"""Per pair of joints: M column by column; derivatives of the torques by q, qd and qdd."""

WRITTEN = {"joint_wrench_derivatives": 550, "regressor": 75}
"""Per pair of joints: functions that have results for every pair."""

TWICE = 450
"""Per joint and square of the number of joints before it: second derivatives, statement by
statement."""

BIAS = 240
"""Per joint: torques where the free joints have no acceleration."""

KNOWN, REACTIONS = 25, 30
"""Per joint: motions at the solution, and reactions where joints move by a parameter."""

MOVED, TURNED, FALLING, BACK = 44, 215, 20, 44
"""By one parameter, per joint: derivatives of its motion where joints before it are displaced, or
turned; of its motion by gravity; and of its reaction."""

SOLVING = ("forward_dynamics", "hybrid_dynamics")


def estimate(tree: KinematicTree[Any], function: str) -> int:
    """Operations of a function that solves or has much to write, roughly; 0 for the recursions."""
    base = next((name for name in SOLVING if function.startswith(name)), None)
    if base is None and function not in (*WRITTEN, "inverse_dynamics_hessian"):
        return 0
    weights = {joint.number: _weight(tree, joint) for joint in tree.joints}
    depths = {joint.number: len(tree.path(joint.number)) for joint in tree.joints}
    if function not in WRITTEN and base is None:
        return round(TWICE * sum(weights[j] * depth**2 for j, depth in depths.items()))
    if base is None:
        return round(WRITTEN[function] * sum(weights[j] * depth for j, depth in depths.items()))
    pairs = sum(weight * (depths[k] - STARTED) for k, weight in weights.items())
    first = sum(weights[k] for k in weights if depths[k] == 1)
    factorised = 1.3 * sum(depth * depth for depth in depths.values())
    mass = MASS_MATRIX * pairs + factorised
    bias = BIAS * (sum(weights.values()) - STARTED * first)
    kind = function.removeprefix(base)
    if kind == "_derivatives":
        return round(SLOPES * pairs + factorised + columns_cost(tree))
    if kind == "":
        return round(mass + bias)
    effects = [effect for effect in _effects(tree) if effect.touched or effect.driven]
    columns = sum(_column(tree, weights, effect) for effect in effects)
    columns += 4 * sum(depths.values()) * len(effects)
    if kind == "_sensitivities":
        along = 8 * sum(depths.values()) * len(effects)
        return round(SLOPES * pairs + factorised + columns + along)
    if any(effect.accelerated for effect in effects):
        columns += bias + _known(tree, weights, effects)
    return round(mass + columns)


# -- parameters --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Effect:
    """The joints that a parameter has an effect on, by number.

    `moved` and `turned` are placed otherwise, with all that they carry; `falling` accelerate
    otherwise by gravity; the links of `heavy` have another inertia, and on `loaded` the loads act
    elsewhere; `driven` have other joint terms, `geared` another rotor.
    """

    moved: frozenset[int]
    turned: frozenset[int]
    falling: frozenset[int]
    heavy: frozenset[int]
    loaded: frozenset[int]
    driven: frozenset[int]
    geared: frozenset[int]

    @property
    def accelerated(self) -> bool:
        """Whether torques by the parameter depend on the accelerations."""
        return bool(self.moved or self.heavy or self.geared)

    @property
    def touched(self) -> frozenset[int]:
        """Joints whose reaction depends on the parameter, with all on the way to them."""
        return self.moved | self.falling | self.heavy | self.loaded


def _effects(tree: KinematicTree[Any]) -> list[Effect]:
    """By parameter."""
    dependence = _Dependence(tree)
    joints = {joint.number: joint for joint in tree.joints}
    moved = {k: dependence.of(_places(tree, joint)) for k, joint in joints.items()}
    turned = {k: dependence.of(_turns(joint)) for k, joint in joints.items()}
    heavy = {k: dependence.of(_inertia(joint)) for k, joint in joints.items()}
    rotors = {k: (x.terms.gear_ratio, x.terms.rotor_inertia) for k, x in joints.items()}
    driven = {k: dependence.of(vars(x.terms).values()) for k, x in joints.items()}
    geared = {k: dependence.of(entries) for k, entries in rotors.items()}
    loaded = {k: frozenset[int]() for k in joints}
    for load in tree.loads:
        if load.body != BASE:
            loaded[load.body] |= dependence.of(load.point)
    falling = dependence.of(tree.gravity)

    def having(position: int, known: Mapping[int, frozenset[int]]) -> frozenset[int]:
        return frozenset(k for k, positions in known.items() if position in positions)

    def beyond(numbers: Iterable[int]) -> frozenset[int]:
        return frozenset(i for k in numbers for i in tree.carried_by(k))

    return [
        Effect(
            moved=beyond(having(position, moved) | having(position, turned)),
            turned=beyond(having(position, turned)),
            falling=frozenset(joints) if position in falling else frozenset(),
            heavy=having(position, heavy),
            loaded=having(position, loaded),
            driven=having(position, driven),
            geared=having(position, geared),
        )
        for position in range(len(tree.runtime_parameters))
    ]


class _Dependence(Generic[S]):
    """Which runtime parameters scalars depend on."""

    def __init__(self, tree: KinematicTree[S]) -> None:
        symbols = [tree.algebra.symbol(name) for name in tree.runtime_parameters]
        self._derivatives = tree.algebra.derivatives(symbols)

    def of(self, entries: Iterable[S]) -> frozenset[int]:
        """Positions of the parameters."""
        return frozenset(k for entry in entries for k in self._derivatives.of(entry))


def _places(tree: KinematicTree[S], joint: Joint[S]) -> tuple[S, ...]:
    """What the position of a joint and of its link depends on, as far as torques depend on it.

    Where nothing turns the seat of the joint it does not matter where it is, and where that turns
    about an axis in space it does not matter where along the axis.
    """
    at, seat = joint.placement, tuple(joint.placement.tree.translation)
    path = tree.path(joint.parent) if joint.parent != BASE else ()
    turning = [k for k in path if _axis(tree, tree.joint(k))]
    if not turning:
        seat = ()
    elif turning == [joint.parent]:
        axis = _axis(tree, tree.joint(joint.parent))
        seat = tuple(x for i, x in enumerate(seat) if axis != (i,))
    return (*seat, *at.link.translation, at.offset)


def _turns(joint: Joint[S]) -> tuple[S, ...]:
    """What the attitude of a joint and of its link depends on."""
    at = joint.placement
    return (*at.tree.rotation.entries, *at.link.rotation.entries, *at.axis)


def _inertia(joint: Joint[S]) -> tuple[S, ...]:
    """What the inertia of a link depends on."""
    return (joint.body.mass, *joint.body.com, *joint.body.inertia.entries)


def _column(tree: KinematicTree[Any], weights: Mapping[int, float], effect: Effect) -> float:
    """Of the derivatives of the torques by one parameter."""
    counted = (
        (MOVED, effect.moved),
        (TURNED, effect.turned),
        (FALLING, effect.falling),
        (BACK, tree.towards(effect.touched)),
    )
    return sum(cost * sum(weights[k] for k in joints) for cost, joints in counted)


def _known(
    tree: KinematicTree[Any], weights: Mapping[int, float], effects: Iterable[Effect]
) -> float:
    """Of the recursion at the solution, where columns need it."""
    touched = frozenset[int]().union(*(effect.moved | effect.heavy for effect in effects))
    moved = frozenset[int]().union(*(effect.moved for effect in effects))
    motions = sum(weights[k] for k in tree.towards(touched))
    return KNOWN * motions + REACTIONS * sum(weights[k] for k in tree.towards(moved))


# -- weights -----------------------------------------------------------------------------------


def _weight(tree: KinematicTree[S], joint: Joint[S]) -> float:
    """1 for a joint that turns and whose frames are turned in any way."""
    turns = (joint.placement.tree.rotation, joint.placement.link.rotation)
    if _stays_parallel(tree, joint):
        weight = PARALLEL
    elif all(by_quarter_turns(turn, tree.algebra) for turn in turns):
        weight = SIMPLE + FULL * _fullness(tree, joint)
    else:
        weight = 1.0
    return weight if _axis(tree, joint) else SLIDING * weight


def _fullness(tree: KinematicTree[S], joint: Joint[S]) -> float:
    """Share of the centre's coordinates and the products of inertia that are not 0 by structure."""
    I = joint.body.inertia  # noqa: E741
    entries = (*joint.body.com, I[0, 1], I[0, 2], I[1, 2])
    return sum(not tree.algebra.is_zero(entry) for entry in entries) / len(entries)


def _stays_parallel(tree: KinematicTree[S], joint: Joint[S]) -> bool:
    """Whether all joints on one path with this one turn about the same axis of their frames."""
    one = identity(tree.algebra)
    axes: set[tuple[int, ...]] = set()
    for k in {*tree.path(joint.number), *tree.carried_by(joint.number)}:
        other = tree.joint(k)
        at = other.placement
        turns = [at.link.rotation] + ([at.tree.rotation] if other.parent != BASE else [])
        for turn in turns:
            pairs = zip(turn.entries, one.entries, strict=True)
            if not all(tree.algebra.is_zero(x - y) for x, y in pairs):
                return False
        axes.add(_axis(tree, other))
    axes.discard(())
    return len(axes) <= 1 and all(len(axis) == 1 for axis in axes)


def _axis(tree: KinematicTree[S], joint: Joint[S]) -> tuple[int, ...]:
    """Which entries of the axis of rotation are not 0 by structure, link axes."""
    s = joint.angular_axis(tree.algebra)
    return tuple(i for i, entry in enumerate(s) if not tree.algebra.is_zero(entry))
