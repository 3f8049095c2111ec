"""The joint torques in parts: what a lecture calls them, and what they are made of.

    tau = inertial + centrifugal + coriolis + gravity + loads + joint_terms

Velocity torques are quadratic in the velocities of the coordinates.  The terms with a square qd_k^2
are centrifugal, those with a product qd_k qd_l of two coordinates are Coriolis torques.  A part of
the velocity torques that is left when coordinate k moves alone has no products: each family says
how it has that, by its own recursion.  Where joints follow a coordinate they move with it.

==================  =====================================================================
TP-1                inertial_j = (M qdd)_j, with the rotors of `symgen.formulations.joint_terms`
TP-2                centrifugal_j = sum_k of the velocity torques V_j while coordinate k moves alone
TP-3                coriolis_j = V_j - centrifugal_j
TP-4                gravity_j: what holds joint j at rest
TP-5                loads_j: what holds joint j against the loads, at rest
TP-6                joint_terms_j = d qd + k (q - q_rest) + f tanh(qd / v_f), without the rotor
==================  =====================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import total
from symgen.formulations.joint_terms import reflected_inertia, with_joint_terms
from symgen.formulations.state import State, Wrench
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.functions import function_named

NOTES = {
    "TP-1": "inertial_j: terms in qdd, with the rotor: + G^2 I_r qdd",
    "TP-2": "centrifugal_j: terms in qd_k^2, the velocity torques while coordinate k moves alone",
    "TP-3": "coriolis_j: terms in qd_k qd_l, the other velocity torques",
    "TP-4": "gravity_j: what holds the joint at rest",
    "TP-5": "loads_j: what holds the joint against the loads, at rest",
    "TP-6": "joint_terms_j: damping, spring and friction of the joint",
}

NAME = "torque_parts"

Torques = Sequence[S]
"""One entry per joint."""


@dataclass(frozen=True)
class RigidParts(Generic[S]):
    """What a family derives: the parts of the rigid bodies; `coriolis` may be what is left."""

    inertial: Torques[S]
    centrifugal: Torques[S]
    coriolis: Torques[S]
    gravity: Torques[S]
    loads: Torques[S]


def moving_alone(tree: KinematicTree[S], qd: Sequence[S]) -> Iterator[tuple[int, tuple[S, ...]]]:
    """The velocities of all joints while coordinate k moves alone, for every k that moves any."""
    zero, numbers = tree.algebra.zero, tree.coordinate_numbers
    for k in sorted(set(numbers)):
        pairs = zip(qd, numbers, strict=True)
        yield k, tuple(rate if number == k else zero for rate, number in pairs)


def by_recursion(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    torques: Callable[[State[S], bool], Torques[S]],
) -> RigidParts[S]:
    """The parts from a recursion of the rigid bodies, run once for each.

    `torques` takes a state, and whether there is gravity.
    """
    none = (b.algebra.zero,) * tree.n
    still = replace(state, qd=none, qdd=none, loads=tuple(map(_nothing, state.loads)))

    def run(what: str, given: State[S], gravity: bool = False) -> Torques[S]:
        with b.variant(f"_{what}", what.replace("_", " ")):
            return torques(given, gravity)

    velocity = run("velocity", replace(still, qd=state.qd))
    alone = [run(f"velocity_{k}", replace(still, qd=qd)) for k, qd in moving_alone(tree, state.qd)]
    centrifugal = [total(terms, b.algebra) for terms in zip(*alone, strict=True)]
    return RigidParts(
        inertial=run("inertial", replace(still, qdd=state.qdd)),
        centrifugal=centrifugal,
        coriolis=[v - c for v, c in zip(velocity, centrifugal, strict=True)],
        gravity=run("gravity", still, True),
        loads=run("loads", replace(still, loads=state.loads)),
    )


def _nothing(wrench: Wrench[S]) -> Wrench[S]:
    force = wrench.force - wrench.force
    return Wrench(force, force)


def write_parts(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], rigid: RigidParts[S]
) -> None:
    """TP-1 to TP-6: six outputs, (n,) each."""
    none = (b.algebra.zero,) * tree.n
    rotors = map(reflected_inertia, tree.joints)
    torques = (
        [t + i * qdd for t, i, qdd in zip(rigid.inertial, rotors, state.qdd, strict=True)],
        rigid.centrifugal,
        rigid.coriolis,
        rigid.gravity,
        rigid.loads,
        with_joint_terms(tree, b, replace(state, qdd=none), none),
    )
    for note, part, array in zip(NOTES, torques, function_named(NAME).results, strict=True):
        what = array.name.removesuffix("_torques")
        with b.step(f"parts: {what.replace('_', ' ')}"):
            named = b.rename({f"{what}_{j}": x for j, x in enumerate(part, start=1)}, note)
        b.output(array.name, (tree.n,), named)
