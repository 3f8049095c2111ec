"""Floating bases: nothing that rides on a free body of the base feels where it is, or how fast.

Torques and relative accelerations are the same wherever a free body is and whichever way it faces,
but for gravity g and loads, which turn against it; and the same at every constant velocity of
translation v, which enters by the acceleration of the body's origin, v' + w x v, alone (Galilei).
So the chain is given v = 0, and N, which holds w x v, says the rest.  In the tangent space, a_k and
t_c being the columns of the motion subspace that turn and that slide, g_b = R^T g,

    dtau/dp = 0,    dtau/dtheta_k = -sum_c M[:, c] t_c . (g_b x a_k) + loads that turn by -R a_k,
    dtau/dv_k = sum_c M[:, c] dN_c/dv_k of the linear columns,

and where accelerations are sought the body falls with gravity, whatever hangs on it: g_b x a_k is
the derivative of its own acceleration, and all others have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.formulations.manifolds.springs import is_sprung
from symgen.formulations.manifolds.tangent import Row, Tangent
from symgen.kinematics.tree import BASE, KinematicTree

INVARIANT = (
    "inverse_dynamics", "inverse_dynamics_derivatives", "forward_dynamics",
    "forward_dynamics_derivatives", "hybrid_dynamics", "hybrid_dynamics_derivatives",
)  # fmt: skip
"""Functions of the chain that are torques or accelerations, and derivatives by the state."""


@dataclass(frozen=True)
class FloatingBase(Generic[S]):
    """A free body of the base: which of its columns slide, and which turn, among its own."""

    tangent: Tangent[S]
    linear: tuple[int, ...]
    angular: tuple[int, ...]

    @property
    def places(self) -> tuple[int, ...]:
        """The places of its coordinates among all."""
        return self.tangent.at

    @property
    def sliding(self) -> tuple[int, ...]:
        """The places of its velocities of translation among all."""
        return tuple(self.tangent.at[c] for c in self.linear)


def floating_bases(
    tree: KinematicTree[S], joints: Sequence[Tangent[S]], hybrid: bool
) -> list[FloatingBase[S]]:
    """The free bodies of the base without rotors, added mass and springs.

    In hybrid dynamics they are not prescribed, either.
    """
    found = []
    for one in joints:
        columns = [tree.joint(number) for number in one.joint.columns]
        linear = tuple(k for k, x in enumerate(one.columns) if all(map(tree.algebra.is_zero, x.w)))
        free = len(linear) == 3 and len(columns) == 6 and columns[0].parent == BASE
        rotors = not all(tree.algebra.is_zero(joint.terms.rotor_inertia) for joint in columns)
        massive = not tree.algebra.is_zero(one.joint.added_mass)
        bound = rotors or massive or is_sprung(tree, one.joint)
        if free and not bound and not (hybrid and columns[0].prescribed):
            angular = tuple(k for k in one.size if k not in linear)
            found.append(FloatingBase(one, linear, angular))
    return found


def without_sliding(bases: Sequence[FloatingBase[S]], by_qd: Sequence[Row[S]]) -> None:
    """The chain's derivatives by constant velocities of translation, which are 0, in place."""
    for base in bases:
        for row in by_qd:
            for k in base.sliding:
                row[k] = base.tangent.zero
