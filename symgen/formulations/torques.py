"""Functions of the torques of rigid bodies, for every formulation that writes these.

A formulation brings `Rigid`; `functions` makes of it

    inverse dynamics    tau = rigid + joint terms, and their bias at qdd = 0
    gravity forces      rigid, at rest
    mass matrix         M = d rigid/d qdd, and the rotors
    Coriolis matrix     C = (d V/d qd) / 2, for the velocity torques V are quadratic in qd
    load derivatives    rigid is linear in the loads
    parts               tau = inertial + centrifugal + coriolis + gravity + loads + joint terms

Of the velocity torques the terms with a square qd_k^2 are centrifugal, those with a product
qd_k qd_l of two coordinates are Coriolis torques: what is left when coordinate k moves alone has no
products.  Where joints follow a coordinate they move with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import total, zero_vector
from symgen.formulations.interface import Derivation
from symgen.formulations.joint_terms import reflected_inertia, with_joint_terms, with_rotors
from symgen.formulations.shared import flat, square, symbolic_loads, wrenches
from symgen.formulations.state import State, Wrench
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder, Results
from symgen.program.differentiation import differentiate, jacobian
from symgen.program.functions import function_named

NOTES = {
    "TP-1": "inertial_j: terms in qdd, with the rotor: + G^2 I_r qdd",
    "TP-2": "centrifugal_j: terms in qd_k^2, the velocity torques while coordinate k moves alone",
    "TP-3": "coriolis_j: terms in qd_k qd_l, the other velocity torques",
    "TP-4": "gravity_j: what holds the joint at rest",
    "TP-5": "loads_j: what holds the joint against the loads, at rest",
    "TP-6": "joint_terms_j: damping, spring and friction of the joint",
    "TP-7": "C_ik = (d V_i/d qd_k) / 2, V the velocity torques, which are quadratic in qd",
    "TP-8": "M_ik = d tau_i/d qdd_k, M_ii with the rotor: + G^2 I_r",
}

PARTS = tuple(NOTES)[:6]

Torques = Sequence[S]
"""One entry per joint."""

Run = Callable[[State[Any], bool], Torques[Any]]
"""Writes the torques of the rigid bodies in a state, with gravity or without."""

Rigid = Callable[[KinematicTree[Any], ProgramBuilder[Any], State[Any]], Run]
"""Writes what depends on q alone, and returns what writes the rest."""


def functions(rigid: Rigid) -> dict[str, Derivation]:
    """Return the functions that are made of the torques of rigid bodies."""
    writers: dict[str, Callable[..., Results[Any]]] = {
        "inverse_dynamics": partial(_torques, "tau"),
        "inverse_dynamics_load_derivatives": _load_derivatives,
        "mass_matrix": _mass_matrix,
        "coriolis_matrix": _coriolis_matrix,
        "bias_forces": partial(_torques, "bias_forces"),
        "gravity_forces": _gravity_forces,
        "torque_parts": _torque_parts,
    }
    return {name: partial(write, rigid=rigid) for name, write in writers.items()}


def weightless(tree: KinematicTree[S]) -> KinematicTree[S]:
    """Return the tree without gravity."""
    return replace(tree, gravity=zero_vector(tree.algebra))


def _torques(
    result: str, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], rigid: Rigid
) -> Results[S]:
    """The torques of `state`, (n,); at qdd = 0 they are the bias forces."""
    tau = rigid(tree, b, state)(state, True)
    return {result: with_joint_terms(tree, b, state, tau)}


def _gravity_forces(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], rigid: Rigid
) -> Results[S]:
    return {"gravity_forces": rigid(tree, b, state)(state, True)}


def _mass_matrix(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], rigid: Rigid
) -> Results[S]:
    """TP-8, (n, n): entries on and below the diagonal are written, and mirrored."""
    qdd = b.auxiliary("qdd", (tree.n,), [f"qdd_{j}" for j in range(1, tree.n + 1)])
    run = rigid(tree, b, state)
    with b.variant("_by_qdd", "torques"):
        tau = run(replace(state, qdd=qdd.symbols), False)
    slopes = differentiate(b, [qdd])
    entries: dict[tuple[int, int], S] = {}
    for joint, row in zip(tree.joints, map(slopes.of, tau), strict=True):
        j = joint.number
        with b.step("mass matrix", joint.name):
            for k in tree.path(j):
                entry = b.let(f"M_{j}_{k}", row.get(k - 1, b.algebra.zero), "TP-8")
                entries[j, k] = entries[k, j] = entry
    return {"mass_matrix": flat(with_rotors(tree, square(tree, entries)))}


def _coriolis_matrix(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], rigid: Rigid
) -> Results[S]:
    """TP-7, (n, n)"""
    run = rigid(tree, b, state)
    with b.variant("_by_qd", "torques"):
        tau = run(state, False)
    slopes, half = differentiate(b, [b.declared("qd")]), b.algebra.constant(0.5)
    entries: dict[tuple[int, int], S] = {}
    for joint, row in zip(tree.joints, map(slopes.of, tau), strict=True):
        j = joint.number
        with b.step("coriolis", joint.name):
            for k in sorted(row):
                entries[j, k + 1] = b.let(f"C_{j}_{k + 1}", row[k] * half, "TP-7")
    return {"coriolis_matrix": flat(square(tree, entries))}


def _load_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], rigid: Rigid
) -> Results[S]:
    """dtau_dloads, (n, n_loads, 6)"""
    loads = symbolic_loads(tree, b)
    run = rigid(tree, b, state)
    with b.variant("_by_loads", "torques"):
        tau = run(replace(state, loads=wrenches(loads.symbols)), False)
    return {"dtau_dloads": jacobian(b, tau, loads)}


def _torque_parts(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], rigid: Rigid
) -> Results[S]:
    return write_parts(tree, b, state, _by_recursion(tree, b, state, rigid(tree, b, state)))


@dataclass(frozen=True)
class RigidParts(Generic[S]):
    """Parts of the torques of the rigid bodies; `coriolis` may be the remainder."""

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


def _by_recursion(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], torques: Run
) -> RigidParts[S]:
    """The parts from a recursion of the rigid bodies, run once for each."""
    none = (b.algebra.zero,) * tree.n
    still = replace(state, qd=none, qdd=none, loads=tuple(map(_nothing, state.loads)))

    def run(what: str, at: State[S], gravity: bool = False) -> Torques[S]:
        with b.variant(f"_{what}", what.replace("_", " ")):
            return torques(at, gravity)

    velocity = run("velocity", replace(still, qd=state.qd))
    centrifugal_parts = [
        run(f"velocity_{k}", replace(still, qd=qd)) for k, qd in moving_alone(tree, state.qd)
    ]
    centrifugal = [total(terms, b.algebra) for terms in zip(*centrifugal_parts, strict=True)]
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
) -> Results[S]:
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
    results: dict[str, Sequence[S]] = {}
    arrays = function_named("torque_parts").results
    for note, part, array in zip(PARTS, torques, arrays, strict=True):
        what = array.name.removesuffix("_torques")
        with b.step(f"parts: {what.replace('_', ' ')}"):
            named = {f"{what}_{j}": x for j, x in enumerate(part, start=1)}
            results[array.name] = b.rename(named, note)
    return results
