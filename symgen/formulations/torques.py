"""Functions derived from rigid-body torques, for every formulation that supplies these.

A formulation supplies a `Rigid`, from which `functions` derives

    inverse dynamics    tau = rigid + joint terms; the bias forces are tau at qdd = 0
    gravity forces      rigid, at rest
    mass matrix         M = d rigid/d qdd + rotor inertias
    Coriolis matrix     C = (d V/d qd) / 2, as the velocity torques V are quadratic in qd
    load derivatives    rigid is linear in the loads
    parts               tau = inertial + centrifugal + coriolis + gravity + loads + joint terms

Terms of the velocity torques in a square qd_k^2 are centrifugal, terms in a product qd_k qd_l of
two velocities are Coriolis torques.  While coordinate k moves alone, there are no products: the
velocity torques are its centrifugal torques.  Mimic joints move with their
coordinate.
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
    "TP-1": "inertial_j: terms in qdd, including G^2 I_r qdd of the rotor",
    "TP-2": "centrifugal_j: terms in qd_k^2, the velocity torques while coordinate k moves alone",
    "TP-3": "coriolis_j: terms in qd_k qd_l, the remaining velocity torques",
    "TP-4": "gravity_j: torque that holds joint j at rest against gravity",
    "TP-5": "loads_j: torque that holds joint j at rest against the loads",
    "TP-6": "joint_terms_j: damping, spring and friction of the joint",
    "TP-7": "C_ik = (d V_i/d qd_k) / 2, V the velocity torques, which are quadratic in qd",
    "TP-8": "M_ik = d tau_i/d qdd_k, M_ii plus G^2 I_r of the rotor",
}

PARTS = tuple(NOTES)[:6]

Torques = Sequence[S]
"""One entry per joint."""

Run = Callable[[State[Any], bool], Torques[Any]]
"""Write the rigid-body torques in a state, with or without gravity."""

Rigid = Callable[[KinematicTree[Any], ProgramBuilder[Any], State[Any]], Run]
"""Write the steps that depend on q alone, and return a `Run` that writes the others."""


def functions(rigid: Rigid) -> dict[str, Derivation]:
    """Return the functions derived from the torques that `rigid` writes."""
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
    """Write the joint torques in `state`, (n,); at qdd = 0 they are the bias forces."""
    tau = rigid(tree, b, state)(state, True)
    return {result: with_joint_terms(tree, b, state, tau)}


def _gravity_forces(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], rigid: Rigid
) -> Results[S]:
    return {"gravity_forces": rigid(tree, b, state)(state, True)}


def _mass_matrix(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], rigid: Rigid
) -> Results[S]:
    """Write the mass matrix (n, n), TP-8: entries on and below the diagonal, then mirrored."""
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
    """Write the Coriolis matrix (n, n): TP-7."""
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
    """Write dtau_dloads, (n, n_loads, 6)."""
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
    """Parts of the rigid-body torques; `coriolis` may be computed as the remainder."""

    inertial: Torques[S]
    centrifugal: Torques[S]
    coriolis: Torques[S]
    gravity: Torques[S]
    loads: Torques[S]


def moving_alone(tree: KinematicTree[S], qd: Sequence[S]) -> Iterator[tuple[int, tuple[S, ...]]]:
    """Yield k and all joint velocities while coordinate k moves alone, if it moves a joint."""
    zero, numbers = tree.algebra.zero, tree.coordinate_numbers
    for k in sorted(set(numbers)):
        pairs = zip(qd, numbers, strict=True)
        yield k, tuple(rate if number == k else zero for rate, number in pairs)


def _by_recursion(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], torques: Run
) -> RigidParts[S]:
    """Return the parts, with one run of the rigid-body recursion for each."""
    none = (b.algebra.zero,) * tree.n
    still = replace(state, qd=none, qdd=none, loads=tuple(map(_zero_wrench, state.loads)))

    def run(part: str, at: State[S], gravity: bool = False) -> Torques[S]:
        with b.variant(f"_{part}", part.replace("_", " ")):
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


def _zero_wrench(wrench: Wrench[S]) -> Wrench[S]:
    force = wrench.force - wrench.force
    return Wrench(force, force)


def write_parts(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], rigid: RigidParts[S]
) -> Results[S]:
    """Write the six parts of the joint torques, (n,) each: TP-1 to TP-6."""
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
        name = array.name.removesuffix("_torques")
        with b.step(f"parts: {name.replace('_', ' ')}"):
            named = {f"{name}_{j}": x for j, x in enumerate(part, start=1)}
            results[array.name] = b.rename(named, note)
    return results
