"""What a link contributes to the derivatives of moments, the same for all joints.

With a = d a_G_j and the three angular velocities omega, omega', omega'' that joint i gives link j
(those of V_i, V_i', V_i'': see `velocity_fields.py`)

=======  ===========  ==================================  ======================================
per      force        moment of inertia about G_j         moment of the loads about G_j
=======  ===========  ==================================  ======================================
qdd_i    m a          I omega
qd_i     m a          2 I omega' + N_j omega
q_i      m a          I omega'' + N_j omega'              N_e_j omega, of the force f_load x omega
=======  ===========  ==================================  ======================================

N_j x = omega_j x I x + x x H_j - I (omega_j x x) is 2 omega_j x (I - tr(I)/2) x; its last part
belongs to d alpha = (rate in fixed axes) - omega_j x d omega.  N_e_j adds up the loads on the link:
N_e_j x = n_e x x + r x (f_e x x), where r goes from G_j to the point of the load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, diagonal, matrix_sum, skew
from symgen.formulations.newton_euler.passages import Effort, Passage
from symgen.formulations.newton_euler.recursion import LoadForces
from symgen.program.builder import ProgramBuilder


@dataclass(frozen=True)
class LinkMaps(Generic[S]):
    """Mass, inertia and N_j of a link, and f_load and N_e_j, None for a link without loads."""

    mass: S
    inertia: Matrix[S]
    N: Matrix[S]
    f_load: Vector[S] | None = None
    N_e: Matrix[S] | None = None

    def inertia_effort(self, d_a: Vector[S], rate: Vector[S], turn: Vector[S] | None) -> Effort[S]:
        """m `d_a` and I `rate` + N_j `turn`."""
        n = self.inertia.apply(rate)
        return Effort(d_a * self.mass, n if turn is None else n + self.N.apply(turn))

    def load_effort(self, turn: Vector[S]) -> Effort[S] | None:
        """Derivative of the loads when the link turns by `turn`."""
        if self.f_load is None or self.N_e is None:
            return None
        return Effort(self.f_load.cross(turn), self.N_e.apply(turn))


def link_maps(
    passage: Passage[S], omega: Vector[S], load: LoadForces[S] | None, b: ProgramBuilder[S]
) -> LinkMaps[S]:
    """dNE-12, dNE-13: what the derivatives by all joints have in common."""
    joint, inertia, algebra = passage.at.joint, passage.at.joint.body.inertia, b.algebra
    j, mass = joint.number, joint.body.mass
    half = (inertia[0, 0] + inertia[1, 1] + inertia[2, 2]) * algebra.constant(0.5)
    spin = inertia - diagonal(Vector(half, half, half), algebra)
    with b.step("backward derivatives", joint.name):
        twice = skew(omega * algebra.constant(2.0), algebra)
        N = b.let(f"N_{j}", twice @ spin, "dNE-12")
        if load is None:
            return LinkMaps(mass, inertia, N)
        turning = [
            skew(n_e, algebra) + skew(point - passage.center, algebra) @ skew(f_e, algebra)
            for point, f_e, n_e in load.applied
        ]
        N_e = b.let(f"N_e_{j}", matrix_sum(turning), "dNE-13")
    return LinkMaps(mass, inertia, N, load.f, N_e)
