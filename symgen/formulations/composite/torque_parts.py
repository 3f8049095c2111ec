"""The torques in parts, by the recursion of `recursion.py`: once for each of them.

Composite bodies would give the centrifugal terms of short chains in fewer operations, as the force
S_k x* (I S_k) for each pair of joints, but about one point for all of a tree.  The Coriolis terms,
which are what is left, would then keep the rounding errors of both ways where links are long.
"""

from __future__ import annotations

from dataclasses import replace

from symgen.algebra.interface import S
from symgen.algebra.linear import zero_vector
from symgen.formulations.composite.passages import passage_sweep
from symgen.formulations.composite.recursion import torques
from symgen.formulations.state import State
from symgen.formulations.torque_parts import by_recursion, write_parts
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder


def torque_parts(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """Six outputs, (n,) each."""
    weightless = replace(tree, gravity=zero_vector(b.algebra))
    passages = passage_sweep(tree, b, state.q)

    def rigid(given: State[S], gravity: bool) -> list[S]:
        return torques(tree if gravity else weightless, passages, b, given)

    write_parts(tree, b, state, by_recursion(tree, b, state, rigid))
