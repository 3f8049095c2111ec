"""The topology of an open tree: parents and branches (open-tree paper, section 2).

The nodes of the tree are joints of one coordinate, numbered 1..n so that a joint has a higher
number than its parent; 0 is the base.  A branch is a maximal sequence of joints without a fork: it
starts at the base or at a junction, and ends at a junction or a leaf.  Branches are numbered in
the order of their first joints, so that a branch has a higher number than its parent.

==============  ====================  ======================================================
paper           code                  meaning
==============  ====================  ======================================================
lambda_j(i)     joint_parents[i-1]    parent of joint i, 0 for the base
nu_j(i)         children[i-1]         children of joint i
kappa_j(i)      child_counts[i-1]     number of children
Upsilon         joint_parent_matrix   (n, 2): i, lambda_j(i)
--              branches              the joints of every branch
lambda_b(k)     branch_parents[k-1]   parent of branch k, 0 for the base
Phi             branch_parent_matrix  (number of branches, 2): k, lambda_b(k)
Psi             joint_branches        (number of branches, 2): first and last joint
complex nodes   junctions             joints with several children
external nodes  leaves                joints without children
--              related               (n, n): whether one joint is on the path to the other
==============  ====================  ======================================================

The base is no joint: each joint on it starts a branch, and 0 is no junction.  The paper numbers the
joints of a branch consecutively.  Files may list joints in another order; then only `branches`
tells which joints a branch has.

`related` is the sparsity pattern of all derivatives of joint torques: the motion of joint m changes
the torque at joint i only if one of the two carries the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from symgen.algebra.interface import S
from symgen.kinematics.tree import BASE, KinematicTree

Rows = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Topology:
    """The tree of joints with these parents.  Joints and branches count from 1."""

    joint_parents: tuple[int, ...]

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joint_parents)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Children of every joint, in order."""
        children: list[list[int]] = [[] for _ in range(self.n + 1)]
        for joint, parent in enumerate(self.joint_parents, start=1):
            children[parent].append(joint)
        return tuple(map(tuple, children[1:]))

    @property
    def child_counts(self) -> tuple[int, ...]:
        """Number of children of every joint."""
        return tuple(map(len, self.children))

    @property
    def junctions(self) -> tuple[int, ...]:
        """Joints with several children."""
        return tuple(i for i, count in enumerate(self.child_counts, start=1) if count > 1)

    @property
    def leaves(self) -> tuple[int, ...]:
        """Joints without children."""
        return tuple(i for i, count in enumerate(self.child_counts, start=1) if count == 0)

    @cached_property
    def branches(self) -> tuple[tuple[int, ...], ...]:
        """The joints of every branch, from the base outwards."""
        branches: dict[int, list[int]] = {}
        first: dict[int, int] = {}  # joint -> first joint of its branch
        for joint, parent in enumerate(self.joint_parents, start=1):
            starts = parent == BASE or self.child_counts[parent - 1] > 1
            first[joint] = joint if starts else first[parent]
            branches.setdefault(first[joint], []).append(joint)
        return tuple(map(tuple, branches.values()))

    @property
    def branch_parents(self) -> tuple[int, ...]:
        """Parent of every branch, 0 for the base."""
        ending_in = {branch[-1]: number for number, branch in enumerate(self.branches, start=1)}
        parents = (self.joint_parents[branch[0] - 1] for branch in self.branches)
        return tuple(BASE if parent == BASE else ending_in[parent] for parent in parents)

    @property
    def joint_parent_matrix(self) -> Rows:
        """Upsilon: every joint with its parent."""
        return tuple(enumerate(self.joint_parents, start=1))

    @property
    def branch_parent_matrix(self) -> Rows:
        """Phi: every branch with its parent."""
        return tuple(enumerate(self.branch_parents, start=1))

    @property
    def joint_branches(self) -> Rows:
        """Psi: the first and the last joint of every branch."""
        return tuple((branch[0], branch[-1]) for branch in self.branches)

    @property
    def is_consecutive(self) -> bool:
        """Whether the joints of every branch have consecutive numbers, as in the paper."""
        return all(branch[-1] - branch[0] + 1 == len(branch) for branch in self.branches)

    @cached_property
    def related(self) -> tuple[tuple[bool, ...], ...]:
        """Whether one of two joints is on the path to the other; symmetric, (n, n)."""
        paths: list[set[int]] = [set()]
        for joint, parent in enumerate(self.joint_parents, start=1):
            paths.append(paths[parent] | {joint})
        numbers = range(1, self.n + 1)
        return tuple(tuple(i in paths[m] or m in paths[i] for m in numbers) for i in numbers)


def topology(tree: KinematicTree[S]) -> Topology:
    """Return the topology of a kinematic tree."""
    return from_parents([joint.parent for joint in tree.joints])


def from_parents(joint_parents: Sequence[int]) -> Topology:
    """The topology of joints 1, 2, ... with these parents; ValueError where one comes later."""
    for joint, parent in enumerate(joint_parents, start=1):
        if not BASE <= parent < joint:
            raise ValueError(f"the parent of joint {joint} must lie in 0..{joint - 1}: {parent}")
    return Topology(tuple(joint_parents))
