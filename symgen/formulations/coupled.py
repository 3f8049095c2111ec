"""Mimic joints: the equations of all joints, projected onto the independent coordinates.

A formulation derives as if each of the N joints had a coordinate.  With n coordinates q the joints
stand at q_j = s_jk q_k + o_j, so that their velocities and accelerations are those of the
coordinates times s_jk, and by virtual power (s does not vary with q)

    tau_k = sum_j s_jk tau_j,    M_kl = sum_ij s_ik M_ij s_jl,
    d tau_k/dq_l = sum_ij s_ik d tau_i/dq_j s_jl

and so on: every axis of a result that counts joints is summed in this way, but those of joint
wrenches and of inertial parameters, which each joint and its body keep.  Accelerations come from M
and tau of the coordinates by elimination.  Where s or o depend on runtime parameters, derivatives
with respect to them are those of the sums.

=========  ====================  ==================================================================
symbol     code                  meaning
=========  ====================  ==================================================================
s_jk, o_j  .multiplier, .offset  of joint j that follows coordinate k; 1 and 0 where it has it
--         q_<joint>, ...        stand for joints that follow, until the sums are made
--         coupled_<result>_i_k  a sum
=========  ====================  ==================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import prod
from typing import Any

from symgen.algebra.interface import S
from symgen.formulations import implicit
from symgen.formulations.accelerations import Solution, solution_of
from symgen.formulations.direct import Direct
from symgen.formulations.interface import Derivation
from symgen.formulations.state import State
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.arguments import Argument
from symgen.program.builder import ProgramBuilder, Results
from symgen.program.derivatives import DERIVATIVES
from symgen.program.functions import function_named
from symgen.program.program import Input

NOTES = {
    "MC-1": "generalized force of a coordinate: the sum of those of the joints that it moves, "
    "times their multipliers -- virtual power"
}

Functions = Mapping[str, Derivation]
Rows = list[list[S]]


def write(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    functions: Functions,
    function: str,
) -> Results[S]:
    """Write `function` of the coordinates; `functions` are those of the joints.

    `state` has an entry for every coordinate, and so have the inputs that are declared.
    """
    derivative = DERIVATIVES.get(function)
    if function in implicit.WRITERS:
        writer, coordinates = implicit.WRITERS[function], coordinate_tree(tree)
        free = writer.free(coordinates)
        equations = _Equations(coordinates, b, state, free, joints=tree, functions=functions)
        return writer.write(equations, writer.names)
    if derivative is not None and isinstance(functions[function], Direct):
        return Direct(function, partial(_summed, functions, derivative.of))(tree, b, state)
    return _summed(functions, function, tree, b, state)


# ------------------------------------------------------------------------------- all joints


def state_of_joints(tree: KinematicTree[S], state: State[S]) -> State[S]:
    """Return the state of all joints where the coordinates are in `state`; torques are 0."""
    zero = tree.algebra.zero
    coordinates = [zero if place is None else state.q[place] for place in tree.q_indices]
    q, qd, qdd = (_moved(tree, entries) for entries in (coordinates, state.qd, state.qdd))
    offsets = [zero if x.following is None else x.following.offset for x in tree.joints]
    places = tuple(x + offset for x, offset in zip(q, offsets, strict=True))
    return State(places, qd, qdd, state.loads, (zero,) * tree.n, t=state.t)


def _moved(tree: KinematicTree[S], entries: Sequence[S]) -> tuple[S, ...]:
    """s_jk x_k"""
    pairs = zip(tree.joints, tree.coordinate_numbers, strict=True)
    return tuple(
        entries[k - 1] if joint.following is None else joint.following.multiplier * entries[k - 1]
        for joint, k in pairs
    )


def generalized_forces(
    tree: KinematicTree[S], torques: Sequence[S], power: int = 1
) -> tuple[S, ...]:
    """MC-1: sum_j s_jk tau_j of the torques of all joints; or of s_jk to another `power`."""
    sums = [torques[joint.number - 1] for joint in tree.independent]
    for joint, k in zip(tree.joints, tree.coordinate_numbers, strict=True):
        if joint.following is not None:
            term = torques[joint.number - 1]
            for _ in range(power):
                term = joint.following.multiplier * term
            sums[k - 1] = sums[k - 1] + term
    return tuple(sums)


def _summed(
    functions: Functions,
    function: str,
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
) -> Results[S]:
    """A function that does not solve, by all joints, then summed over those of each coordinate."""
    values: dict[S, S] = {}
    inputs = [
        _array_of_all_joints(tree, b, name, getattr(state, name), values)
        for name in ("q", "qd", "qdd", "tau", "multipliers")
    ]
    q, qd, qdd, tau, multipliers = (array.symbols for array in inputs)
    joints = State(q, qd, qdd, state.loads, tau, multipliers, state.t)
    with b.taking(inputs):
        results = functions[function](tree, b, joints)
    results = b.substitute(values, results)
    arrays = function_named(function).results
    return {array.name: _sum_axes(tree, b, array, results[array.name]) for array in arrays}


def _array_of_all_joints(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    name: str,
    coordinates: Sequence[S],
    values: dict[S, S],
) -> Input[S]:
    """An entry for every joint; `coordinates` has one for every coordinate, and `values` is added
    to.

    Quantities that are 0 for all coordinates are 0 for all joints, but positions.
    """
    entries: list[S] = []
    idle = name != "q" and all(map(b.algebra.is_zero, coordinates))
    for joint, number in zip(tree.joints, tree.coordinate_numbers, strict=True):
        entry = coordinates[number - 1] if coordinates else b.algebra.zero
        if joint.following is not None and not idle:
            (symbol,) = b.auxiliary(name, (1,), [f"{name}_{joint.name}"]).symbols
            values[symbol] = joint.following.multiplier * entry
            if name == "q":
                values[symbol] = values[symbol] + joint.following.offset
            elif name == "tau":
                values[symbol] = b.algebra.zero  # the coordinate has it all
            entry = symbol
        entries.append(entry)
    names = tuple(f"{name}_{joint.name}" for joint in tree.joints)
    return Input(name, (tree.n,), tuple(entries), names)


def _sum_axes(
    tree: KinematicTree[S], b: ProgramBuilder[S], array: Argument, result: Sequence[S]
) -> list[S]:
    """MC-1 along every axis that counts coordinates."""
    sizes = {**tree.sizes, "n": tree.n, "n_joints": tree.n, "10 n_joints": 10 * tree.n}
    shape, entries = list(array.sizes(sizes)), list(result)
    for axis, size in enumerate(array.shape):
        if size == "n":
            entries = _sums(tree, entries, shape, axis)
            shape[axis] = len(tree.independent)
    unchanged = {id(entry) for entry in result}
    places = product(*(range(1, size + 1) for size in shape))
    named: list[S] = []
    with b.step("coupling"):
        for place, entry in zip(places, entries, strict=True):
            name = "_".join(map(str, ("coupled", array.name, *place)))
            named.append(entry if id(entry) in unchanged else b.let(name, entry, "MC-1"))
    return named


def _sums(tree: KinematicTree[S], entries: Sequence[S], shape: Sequence[int], axis: int) -> list[S]:
    """Return the entries of an array of this shape, one axis of which is summed."""
    below, above = prod(shape[axis + 1 :]), prod(shape[:axis])
    sums: list[S] = []
    for start in (i * tree.n * below for i in range(above)):
        columns = [entries[start + k : start + tree.n * below : below] for k in range(below)]
        summed = [generalized_forces(tree, column) for column in columns]
        sums += [entry for row in zip(*summed, strict=True) for entry in row]
    return sums


# ---------------------------------------------------------------------------- accelerations


def coordinate_tree(tree: KinematicTree[S]) -> KinematicTree[S]:
    """The coordinates as joints 1..n, each on the path to those that an elimination couples it to.

    It says who is eliminated before whom and nothing of frames: M has an entry for two coordinates
    only if they move joints on one path, and eliminating the last one couples all that are coupled
    to it.
    """
    coupled = coupled_coordinates(tree)
    parents: dict[int, int] = {}
    for k in reversed(range(1, len(tree.independent) + 1)):
        before = sorted(i for i in coupled[k] if i < k)
        parents[k] = before[-1] if before else BASE
        for i in before[:-1]:
            coupled[before[-1]].add(i)
    joints = tuple(
        replace(joint, number=k, parent=parents[k])
        for k, joint in enumerate(tree.independent, start=1)
    )
    return replace(tree, joints=joints)


def coupled_coordinates(tree: KinematicTree[Any]) -> dict[int, set[int]]:
    """For every coordinate those that move a joint on one path with one that it moves."""
    coupled: dict[int, set[int]] = {k: {k} for k in range(1, len(tree.independent) + 1)}
    numbers = tree.coordinate_numbers
    for joint in tree.joints:
        k = numbers[joint.number - 1]
        for carrier in tree.path(joint.number):
            i = numbers[carrier - 1]
            coupled[k].add(i)
            coupled[i].add(k)
    return coupled


@dataclass(frozen=True)
class _Equations(implicit.Equations[S]):
    """The equations of the coordinates: `tree` has these as joints, `joints` all joints."""

    joints: KinematicTree[S]
    functions: Functions

    def results(self, function: str, state: State[S]) -> list[Sequence[S]]:
        """Return the entries of what a function of the coordinates returns."""
        return list(_summed(self.functions, function, self.joints, self.b, state).values())

    def rows(self, entries: Sequence[S]) -> Rows[S]:
        """An (n, n) matrix."""
        n = self.tree.n
        return [list(entries[start : start + n]) for start in range(0, n * n, n)]

    def solution(self, for_derivatives: bool = False) -> Solution[S]:
        """See `implicit.Equations`."""
        with self.b.variant("_bias", "bias"):
            (bias,) = self.results("inverse_dynamics", self.state)
        (entries,) = self.results("mass_matrix", self.state)
        rows, numbers = self.rows(entries), range(1, self.tree.n + 1)
        mass = {
            (i, k): rows[i - 1][k - 1]
            for i in numbers
            for k in numbers
            if not self.b.algebra.is_zero(rows[i - 1][k - 1])
        }
        return solution_of(self.tree, self.b, self.state, bias, mass, self.free)

    def slopes(self, held: implicit.Held[S]) -> tuple[implicit.Rows[S], implicit.Rows[S]]:
        """See `implicit.Equations`."""
        name = "inverse_dynamics_derivatives"
        if isinstance(self.functions[name], Direct):
            return super().slopes(held)
        state = replace(self.state, qdd=tuple(held.qdd))
        _, by_q, by_qd, _ = self.results(name, state)
        return self.rows(by_q), self.rows(by_qd)

    def torques(self, qdd: Sequence[S]) -> Sequence[S]:
        """See `implicit.Equations`."""
        (tau,) = self.results("inverse_dynamics", replace(self.state, qdd=tuple(qdd)))
        return tau
