"""The centroidal momentum as a matrix times the joint velocities, and its rate.

The matrix (Orin, Goswami 2008) has a column for every joint: the momentum of what the joint carries
when it alone moves, at the rate 1.  What it carries is one rigid body for it, with a mass, first
moments and an inertia that are summed from the leaves to the base.  The rate is the sum of all
inertia forces, which the recursion of `recursion.py` carries to the base.

Notation beyond that of `recursion.py` and `mass_center.py`

======  ====================================================================================
code    meaning
======  ====================================================================================
m_jC    mass of all that joint j carries
mc_jC   its first moments about the joint's origin, link axes
I_jC    its inertia about the joint's origin, link axes
A_P_k   linear momentum per unit of qd_k, base axes
A_L_k   angular momentum about the centre of mass per unit of qd_k, base axes
======  ====================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, inner, zero_vector
from symgen.formulations.newton_euler.kinematics import poses_of
from symgen.formulations.newton_euler.mass_center import heavy_links, mass_sweep, turning_links
from symgen.formulations.newton_euler.recursion import (
    Children,
    JointFrame,
    LoadForces,
    frames_sweep,
    leaves_first,
    motion_sweep,
    reaction_step,
)
from symgen.formulations.shared import write_matrix
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "NE-39": "m_jC, mc_jC, I_jC: sums of the body and of what its children carry, turned by R_c "
    "and moved by u_c, about the link's origin; moved by dx_j to the joint's; for the base x0_C",
    "NE-40": "A_P_k = R0_k (t m + s x mc), A_L_k = R0_k (I s + mc x t) + (x0_k - x0_C) x A_P_k, "
    "x0_k the joint's origin -- Orin, Goswami 2008",
    "NE-41": "dP/dt = f_0, dL_C/dt = n_0 - x0_C x f_0 of the reactions on the base, g = 0",
}


@dataclass(frozen=True)
class Composite(Generic[S]):
    """A rigid body about some point: mass, first moments, inertia."""

    m: S
    mc: Vector[S]
    inertia: Matrix[S]

    def __add__(self, other: Composite[S]) -> Composite[S]:
        return Composite(self.m + other.m, self.mc + other.mc, self.inertia + other.inertia)

    def moved(self, r: Vector[S]) -> Composite[S]:
        """About another point, from which the present one is seen at r.

        I + tr(X) 1 - X with X = r mc'^T + mc r^T and mc' = mc + m r: half of it is computed.
        """
        mc = self.mc + r * self.m
        arm, before, after = tuple(r), tuple(self.mc), tuple(mc)
        trace = r.dot(mc) + r.dot(self.mc)

        def entry(i: int, k: int) -> S:
            around = self.inertia[i, k] - (arm[i] * after[k] + before[i] * arm[k])
            return around + trace if i == k else around

        return Composite(self.m, mc, _symmetric(entry))

    def turned(self, R: Matrix[S]) -> Composite[S]:
        """In the axes that R leads to."""
        half = R @ self.inertia
        inertia = _symmetric(lambda i, k: inner(half.rows[i], R.rows[k]))
        return Composite(self.m, R.apply(self.mc), inertia)


def centroidal_momentum_matrix(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """NE-40, (6, n)"""
    frames = frames_sweep(tree, b, state.q, [*heavy_links(tree), *turning_links(tree)])
    composites, x0_C = composite_sweep(tree, frames, b)
    poses = poses_of(tree, frames, b)
    columns: list[tuple[S, ...]] = [(b.algebra.zero,) * 6] * tree.n
    for at in frames:
        k = at.joint.number
        from_C = poses[at.joint.parent].apply(at.u) - x0_C
        columns[k - 1] = column_step(at, composites[k], poses[k].rotation, from_C, b)
    rows = [[column[row] for column in columns] for row in range(6)]
    write_matrix(b, "centroidal_momentum_matrix", rows, tree.n)


def centroidal_momentum_rate(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """NE-41, (6,)"""
    frames = frames_sweep(tree, b, state.q, [*heavy_links(tree), *turning_links(tree)])
    x0_C, _ = mass_sweep(tree, frames, b)
    still = zero_vector(b.algebra)
    with b.variant("_free", "without gravity and loads"):
        motions = motion_sweep(frames, b, state.qd, state.qdd, still)
        unloaded = LoadForces(still, still)
        _, on_base = leaves_first(
            frames, lambda at, mine: reaction_step(at, motions[at.joint.number], unloaded, mine, b)
        )
    f, n = zero_vector(b.algebra), zero_vector(b.algebra)
    with b.step("momentum"):
        for at, reaction in on_base:
            f_c = b.let(f"f_0_from_{at.joint.number}", at.R.apply(reaction.f), "NE-41")
            f, n = f + f_c, n + at.R.apply(reaction.n) + at.u.cross(f_c)
        f, n = b.let("f_0", f, "NE-41"), b.let("n_0", n, "NE-41")
        about_C = b.let("dL_C", n - x0_C.cross(f), "NE-41")
    b.output("centroidal_momentum_rate", (6,), [*f, *about_C])


# -- steps, one joint each ---------------------------------------------------------------------


def composite_step(
    at: JointFrame[S], children: Children[S, Composite[S]], b: ProgramBuilder[S]
) -> Composite[S]:
    """NE-39"""
    j, body = at.joint.number, at.joint.body
    with b.step("backward", at.joint.name):
        whole = Composite(body.mass, zero_vector(b.algebra), body.inertia).moved(body.com)
        for child, carried in children:
            whole = whole + carried.turned(child.R).moved(child.u)
        whole = whole.moved(at.dx)
        return Composite(
            b.let(f"m_{j}C", whole.m, "NE-39"),
            b.let(f"mc_{j}C", whole.mc, "NE-39"),
            b.let(f"I_{j}C", whole.inertia, "NE-39"),
        )


def column_step(
    at: JointFrame[S],
    carried: Composite[S],
    R0: Matrix[S],
    from_C: Vector[S],
    b: ProgramBuilder[S],
) -> tuple[S, ...]:
    """NE-40; `from_C` leads from the centre of mass to the joint's origin, base axes."""
    k = at.joint.number
    with b.step("columns", at.joint.name):
        P = at.t * carried.m + at.s.cross(carried.mc)
        P0 = b.let(f"A_P_{k}", R0.apply(P), "NE-40")
        L = carried.inertia.apply(at.s) + carried.mc.cross(at.t)
        return (*P0, *b.let(f"A_L_{k}", R0.apply(L) + from_C.cross(P0), "NE-40"))


# -- sweeps over the tree ----------------------------------------------------------------------


def composite_sweep(
    tree: KinematicTree[S], frames: Sequence[JointFrame[S]], b: ProgramBuilder[S]
) -> tuple[dict[int, Composite[S]], Vector[S]]:
    """NE-39 of every joint of `frames`; and the centre of mass, base frame."""
    composites, on_base = leaves_first(frames, lambda at, mine: composite_step(at, mine, b))
    if tree.massless:
        return composites, zero_vector(b.algebra)
    with b.step("centre of mass"):
        m, mc = b.algebra.zero, zero_vector(b.algebra)
        for child, carried in on_base:
            m, mc = m + carried.m, mc + child.R.apply(carried.mc) + child.u * carried.m
        return composites, b.let("x0_C", mc * (b.algebra.one / m), "NE-39")


def _symmetric(entry: Callable[[int, int], S]) -> Matrix[S]:
    """The symmetric 3x3 matrix with these entries on and above its diagonal."""
    upper = {(i, k): entry(i, k) for i in range(3) for k in range(i, 3)}
    return Matrix([[upper[min(i, k), max(i, k)] for k in range(3)] for i in range(3)])
