"""Joint torques and what follows from them, by the recursion and derivatives of its lines.

The mass matrix is the derivative of the torques by the accelerations, and the Coriolis matrix half
of that by the velocities.
"""

from __future__ import annotations

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector
from symgen.formulations.recursive_lagrange.recursion import (
    first_three,
    frames_sweep,
    point_sweep,
    position_sweep,
    recursion,
    torques,
)
from symgen.formulations.state import State
from symgen.formulations.torques import Run, weightless
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder, Results

NOTES = {"RL-12": "d tau_j / d f = -P TF_load_j, d tau_j / d h = -A_in_j z_j -- Xiang 2009 (16)"}


def rigid(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Run:
    """See `symgen.formulations.torques.Rigid`."""
    frames = frames_sweep(tree, b, state.q)
    return lambda at, gravity: torques(
        recursion(tree if gravity else weightless(tree), frames, b, at), b
    )


def inverse_dynamics_load_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """Write dtau_dloads, (n, n_loads, 6): RL-12."""
    frames = frames_sweep(tree, b, state.q, {place.body for place in tree.loads})
    positions = position_sweep(frames, b)
    axes: dict[int, Vector[S]] = {}
    for at in frames:
        j = at.joint.number
        with b.step("axes", at.joint.name):
            axes[j] = b.let(f"z0_{j}", first_three(positions[j].A_in @ at.z), "RL-12")
    slopes: dict[tuple[int, int], tuple[S, ...]] = {}
    for number, place in enumerate(tree.loads):
        TF = point_sweep(place, frames, b)
        for at in frames:
            j = at.joint.number
            if j in TF:
                moved = first_three(positions[j].A_in @ at.Z @ TF[j])
                with b.step("loads", at.joint.name):
                    moved = b.let(f"J_{place.name}_{j}", moved, "RL-12")
                slopes[j, number] = (*-moved, *-axes[j])
    nothing = (b.algebra.zero,) * 6
    pairs = [(j, number) for j in range(1, tree.n + 1) for number in range(len(tree.loads))]
    entries = [entry for pair in pairs for entry in slopes.get(pair, nothing)]
    return {"dtau_dloads": entries}
