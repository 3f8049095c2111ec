"""The equations of motion of a robot by one of the two routes: M qdd = K, (6), (17).

M is formed, factorised and solved with.  Free joints are the unknowns.  The accelerations of the
others are given, stand in the remainder terms of K, and their torques are found afterwards.

Derivatives are those of the lines of M and K, with qdd held: of tau = M qdd - K the change by x is
M_{,x} qdd - K_{,x}, and (9) is solved for M d qdd.

Notation, added to that of `kinematics.py`

======================  ================  ======================================================
paper                   code              meaning
======================  ================  ======================================================
M, with rotors          mass              by pair of joints
K                       sums              of the bodies, without drives
tau_r                   tau_r             torque that accelerations take, without the drive's
M_{,x} qdd - K_{,x}     d_tau_r_d<x>      what M^-1 is multiplied with in (9), but for its sign
======================  ================  ======================================================
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from symgen.algebra.interface import S
from symgen.algebra.linear import total
from symgen.formulations import implicit
from symgen.formulations.accelerations import Solution, solution_of
from symgen.formulations.explicit_kane.explicit import JointPair
from symgen.formulations.explicit_kane.kinematics import System, system_at
from symgen.formulations.joint_terms import reflected_inertia, with_joint_terms, with_rotors
from symgen.formulations.shared import all_joints, flat, square
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder, Results

NOTES = {
    "EK-10": "tau_r = sum_i M_ri qdd_i - K_r, i free: torque that accelerations take, but for the "
    "drive's -- Anderson, Hsu 2002 (6), (17)",
    "d EK-10": "d tau_r = sum_i dM_ri qdd_i - dK_r, i free; d qdd = -M^-1 d tau "
    "-- Anderson, Hsu 2002 (8), (9)",
}


@dataclass(frozen=True)
class Route:
    """How M and K of the bodies are found."""

    mass_matrix: Callable[[System[Any], Collection[JointPair]], dict[JointPair, Any]]
    forces: Callable[[System[Any]], dict[int, Any]]


@dataclass(frozen=True)
class Equations(implicit.Equations[S]):
    """M qdd = K at a state, by a `route`."""

    route: Route

    def solution(self, for_derivatives: bool = False) -> Solution[S]:
        """See `implicit.Equations`; entries between prescribed joints serve derivatives alone."""
        tree, b, state = self.tree, self.b, self.state
        system = system_at(tree, b, state)
        pairs = [
            pair for pair in all_pairs(tree) if for_derivatives or any(i in self.free for i in pair)
        ]
        mass = both_triangles(self.route.mass_matrix(system, pairs))
        for joint in tree.joints:
            k = joint.number
            if (k, k) in mass:
                mass[k, k] = mass[k, k] + reflected_inertia(joint)
        return solution_of(tree, b, state, bias(self.route, tree, b, system), mass, self.free)

    def torques(self, qdd: Sequence[S]) -> Sequence[S]:
        """Write EK-10 for every joint, and the drives."""
        tree, b = self.tree, self.b
        system = system_at(tree, b, self.state)
        pairs = [pair for pair in all_pairs(tree) if any(i in self.free for i in pair)]
        mass = both_triangles(self.route.mass_matrix(system, pairs))
        sums = self.route.forces(system)
        rigid: list[S] = []
        for joint in tree.joints:
            r = joint.number
            terms = [mass[r, i] * qdd[i - 1] for i in self.free if (r, i) in mass]
            with b.step("torques", joint.name):
                rigid.append(b.let(f"tau_{r}", total(terms, b.algebra) - sums[r], "EK-10"))
        return with_joint_terms(tree, b, replace(self.state, qdd=tuple(qdd)), rigid)


def all_pairs(tree: KinematicTree[S]) -> tuple[JointPair, ...]:
    """(r, i) for all joints r and those on the path to them."""
    return tuple((r, i) for r in all_joints(tree) for i in tree.path(r))


def both_triangles(lower: Mapping[JointPair, S]) -> dict[JointPair, S]:
    """Return the entries of a symmetric matrix, from those on and below its diagonal."""
    return {**lower, **{(i, r): entry for (r, i), entry in lower.items()}}


def bias(route: Route, tree: KinematicTree[S], b: ProgramBuilder[S], system: System[S]) -> list[S]:
    """-K and the joints' own terms, one per joint."""
    sums = route.forces(system)
    return with_joint_terms(tree, b, system.state, [-sums[r] for r in all_joints(tree)])


def mass_matrix(
    route: Route, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """Write the mass matrix, (n, n), with the rotors on its diagonal."""
    system = system_at(tree, b, state, moving=False)
    rigid = both_triangles(route.mass_matrix(system, all_pairs(tree)))
    return {"mass_matrix": flat(with_rotors(tree, square(tree, rigid)))}


def bias_forces(
    route: Route, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """Write the bias forces, (n,): -K with the joint terms at qdd = 0."""
    at_rest = replace(state, qdd=(b.algebra.zero,) * tree.n)
    return {"bias_forces": bias(route, tree, b, system_at(tree, b, at_rest))}
