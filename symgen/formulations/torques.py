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
from typing import Any

from symgen.algebra.interface import S
from symgen.algebra.linear import total, zero_vector
from symgen.formulations import implicit
from symgen.formulations.accelerations import Solution, solution_of
from symgen.formulations.interface import Derivation
from symgen.formulations.joint_terms import reflected_inertia, with_joint_terms
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
    "TP-9": "bias_j: torque of joint j where the free joints have qdd = 0 -- Walker, Orin 1982, "
    "method 1",
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


def solving(rigid: Rigid) -> dict[str, Derivation]:
    """Return forward and hybrid dynamics, and derivatives, from the torques that `rigid` writes."""
    return implicit.functions(partial(Equations, rigid=rigid))


@dataclass(frozen=True)
class Equations(implicit.Equations[S]):
    """Accelerations by a bias and a mass matrix, both from torques of rigid bodies."""

    rigid: Rigid

    def solution(self, for_derivatives: bool = False) -> Solution[S]:
        """See `implicit.Equations`."""
        tree, b, state = self.tree, self.b, self.state
        run = self.rigid(tree, b, state)
        with b.variant("_bias", "bias"):
            bias = with_joint_terms(tree, b, state, run(state, True))
        with b.step("bias"):
            b.rename({f"bias_{j}": x for j, x in enumerate(bias, start=1)}, "TP-9")
        entries = _mass_entries(tree, b, state, run)
        return solution_of(tree, b, state, bias, entries, self.free)

    def torques(self, qdd: Sequence[S]) -> Sequence[S]:
        """See `implicit.Equations`."""
        state = replace(self.state, qdd=tuple(qdd))
        rigid = self.rigid(self.tree, self.b, state)(state, True)
        return with_joint_terms(self.tree, self.b, state, rigid)


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
    """Write the mass matrix (n, n)."""
    entries = _mass_entries(tree, b, state, rigid(tree, b, state))
    return {"mass_matrix": flat(square(tree, entries))}


def _mass_entries(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], run: Run
) -> dict[tuple[int, int], S]:
    """TP-8: the triangle that takes fewer operations, mirrored."""
    qdd = b.auxiliary("qdd", (tree.n,), [f"qdd_{j}" for j in range(1, tree.n + 1)])
    with b.variant("_by_qdd", "torques"):
        tau = run(replace(_at_rest(tree, state), qdd=qdd.symbols), False)
    rows, zero = list(map(differentiate(b, [qdd]).of, tau)), b.algebra.zero
    pairs = [(joint.number, k) for joint in tree.joints for k in tree.path(joint.number)]
    below = {(j, k): rows[j - 1].get(k - 1, zero) for j, k in pairs}
    above = {(j, k): rows[k - 1].get(j - 1, zero) for j, k in pairs}
    sizes = [b.algebra.size([*entries.values()]) for entries in (below, above)]
    entries = below if sizes[0] <= sizes[1] else above
    for joint in tree.joints:
        j, path, rotor = joint.number, tree.path(joint.number), reflected_inertia(joint)
        entries[j, j] = entries[j, j] + rotor
        names = {k: f"M_{j}_{k}" for k in path}  # that of the bodies alone has these names, too
        names[j] += "" if b.algebra.is_zero(rotor) else "_with_rotor"
        with b.step("mass matrix", joint.name):
            row = b.rename({names[k]: entries[j, k] for k in path}, "TP-8")
        for k, entry in zip(path, row, strict=True):
            entries[j, k] = entries[k, j] = entry
    return entries


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
    """Write the six parts of the joint torques, (n,) each: TP-1 to TP-6."""
    torques, still = rigid(tree, b, state), _at_rest(tree, state)

    def run(part: str, at: State[S], gravity: bool = False) -> Torques[S]:
        with b.variant(f"_{part}", part.replace("_", " ")):
            return torques(at, gravity)

    velocity = run("velocity", replace(still, qd=state.qd))
    squares = [run(f"velocity_{k}", replace(still, qd=qd)) for k, qd in _alone(tree, state.qd)]
    centrifugal = [total(terms, b.algebra) for terms in zip(*squares, strict=True)]
    inertial = run("inertial", replace(still, qdd=state.qdd))
    gravity, loads = run("gravity", still, True), run("loads", replace(still, loads=state.loads))
    rotors = map(reflected_inertia, tree.joints)
    parts = (
        [t + i * qdd for t, i, qdd in zip(inertial, rotors, state.qdd, strict=True)],
        centrifugal,
        [v - c for v, c in zip(velocity, centrifugal, strict=True)],
        gravity,
        loads,
        with_joint_terms(tree, b, replace(state, qdd=still.qdd), still.qdd),
    )
    results: dict[str, Sequence[S]] = {}
    arrays = function_named("torque_parts").results
    for note, part, array in zip(PARTS, parts, arrays, strict=True):
        name = array.name.removesuffix("_torques")
        with b.step(f"parts: {name.replace('_', ' ')}"):
            named = {f"{name}_{j}": x for j, x in enumerate(part, start=1)}
            results[array.name] = b.rename(named, note)
    return results


def _alone(tree: KinematicTree[S], qd: Sequence[S]) -> Iterator[tuple[int, tuple[S, ...]]]:
    """Yield k and all joint velocities while coordinate k moves alone, if it moves a joint."""
    zero, numbers = tree.algebra.zero, tree.coordinate_numbers
    for k in sorted(set(numbers)):
        pairs = zip(qd, numbers, strict=True)
        yield k, tuple(rate if number == k else zero for rate, number in pairs)


def _at_rest(tree: KinematicTree[S], state: State[S]) -> State[S]:
    """Return the state without velocities, accelerations and loads."""
    none, o = (tree.algebra.zero,) * tree.n, zero_vector(tree.algebra)
    return replace(state, qd=none, qdd=none, loads=tuple(Wrench(o, o) for _ in state.loads))
