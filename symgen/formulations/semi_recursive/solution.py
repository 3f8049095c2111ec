"""Forward and hybrid dynamics: M qdd = Q is formed, factorised and solved.

Their derivatives are those of `symgen.formulations.implicit`: M d qdd = d tau - (the change of
M qdd - Q with qdd held), which is (14a) without constraints,
M qdd' + C qd' + (M_z qdd + K) q' = Q_rho - M_rho qdd + tau'.  The same factors serve every
parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from symgen.algebra.interface import S
from symgen.formulations import implicit
from symgen.formulations.accelerations import Solution, solution_of
from symgen.formulations.interface import Derivation
from symgen.formulations.joint_terms import reflected_inertia, with_joint_terms
from symgen.formulations.semi_recursive.functions import mass_entries, rigid_torques
from symgen.formulations.semi_recursive.kinematics import system_at
from symgen.formulations.semi_recursive.reference_points import ReferencePoint


@dataclass(frozen=True)
class Equations(implicit.Equations[S]):
    """M and Q about these reference points."""

    point: ReferencePoint

    def solution(self, for_derivatives: bool = False) -> Solution[S]:
        """See `implicit.Equations`."""
        tree, b, state = self.tree, self.b, self.state
        system = system_at(tree, b, state, self.point)
        mass = dict(mass_entries(system))
        for joint in tree.joints:
            i = joint.number
            mass[i, i] = mass[i, i] + reflected_inertia(joint)
        bias = with_joint_terms(tree, b, state, rigid_torques(system, "bias"))
        return solution_of(tree, b, state, bias, mass, self.free)

    def torques(self, qdd: Sequence[S]) -> Sequence[S]:
        """See `implicit.Equations`."""
        state = replace(self.state, qdd=tuple(qdd))
        rigid = rigid_torques(system_at(self.tree, self.b, state, self.point))
        return with_joint_terms(self.tree, self.b, state, rigid)


def functions(point: ReferencePoint) -> dict[str, Derivation]:
    """Return forward and hybrid dynamics, and their derivatives."""
    return implicit.functions(partial(Equations, point=point))
