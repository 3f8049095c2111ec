"""The description of the tree: the paper's examples typed in, random trees against brute force."""

import importlib.util
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.models import HUMAN43, spatial_tree
from symgen.kinematics.topology import from_parents
from symgen.validation.oracles import NumericRobot
from tests.modules import ROOT, described

# (18): the second row of the transposed joint parent matrix, without the repeated column 35
UPSILON = (
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 5, 14, 15, 16, 17, 18,
    19, 20, 5, 22, 23, 24, 25, 26, 27, 28, 29, 30, 22, 32, 33, 34,
    35, 36, 37, 38, 39, 22, 41, 42,
)  # fmt: skip
# (19), (20): the transposed branch parent matrix and joint-branch connectivity matrix
PHI = ((1, 2, 3, 4, 5, 6, 7), (0, 1, 1, 1, 4, 4, 4))
PSI = ((1, 6, 14, 22, 23, 32, 41), (5, 13, 21, 22, 31, 40, 43))

# fig. 1 as the text tells it: 11 joints, 6 branches, junctions 3 and 5, leaves 6, 7, 9 and 11;
# which of the two carries joint 8 the text leaves open
FIGURE_1 = ((0, 1, 2, 3, 4, 5, 5, 3, 8, 3, 10), (0, 1, 2, 3, 4, 5, 5, 5, 8, 3, 10))


def test_the_human_is_that_of_18_to_20():
    human = from_parents(UPSILON)
    assert human.joint_parents == HUMAN43
    assert human.joint_parent_matrix == tuple(zip(range(1, 44), UPSILON, strict=True))
    assert human.branch_parent_matrix == tuple(zip(*PHI, strict=True))
    assert human.joint_branches == tuple(zip(*PSI, strict=True))
    ranges = [(1, 5), (6, 13), (14, 21), (22, 22), (23, 31), (32, 40), (41, 43)]
    assert human.branches == tuple(tuple(range(a, b + 1)) for a, b in ranges)
    assert human.junctions == (5, 22)
    assert human.leaves == (13, 21, 31, 40, 43)
    assert human.children[4] == (6, 14, 22) and human.children[21] == (23, 32, 41)
    assert human.is_consecutive


def test_the_human_has_747_related_pairs():
    related = np.array(from_parents(UPSILON).related)
    assert related.sum() == 747
    assert not related[42 - 1, 18 - 1] and not related[18 - 1, 42 - 1]
    assert related[20 - 1, 5 - 1] and related[30 - 1, 25 - 1] and related[42 - 1, 22 - 1]


@pytest.mark.parametrize("parents", FIGURE_1)
def test_the_tree_of_figure_1(parents):
    tree = from_parents(parents)
    assert tree.junctions == (3, 5)
    assert tree.leaves == (6, 7, 9, 11)
    assert tree.branches == ((1, 2, 3), (4, 5), (6,), (7,), (8, 9), (10, 11))
    assert tree.branch_parents == (0, 1, 2, 2, 1 if parents[7] == 3 else 2, 1)


def test_joints_in_any_order_and_several_on_the_base():
    tree = from_parents((0, 0, 1, 2, 3, 3))
    assert tree.branches == ((1, 3), (2, 4), (5,), (6,))
    assert tree.branch_parents == (0, 0, 1, 1)
    assert tree.joint_branches == ((1, 3), (2, 4), (5, 5), (6, 6))
    assert tree.junctions == (3,)
    assert not tree.is_consecutive


def test_related_joints_are_those_with_derivatives():
    """On a general tree exactly these entries of d tau / d q differ from 0."""
    parents = (0, 1, 2, 2, 4, 1, 6, 0)
    description = described(spatial_tree(parents, "tree"))
    state = np.random.default_rng(0).uniform(-1, 1, (3, len(parents)))
    slopes = NumericRobot(description).inverse_dynamics_derivatives(*state)[1:]
    for slope in slopes:
        assert ((slope != 0) <= from_parents(parents).related).all()
    assert ((slopes[0] != 0) == from_parents(parents).related).all()


def test_a_package_finds_the_same_pattern():
    """`derivative_sparsity` is computed where the package is imported, by a function of its own."""
    path = ROOT / "templates" / "package" / "_runtime.py"
    spec = importlib.util.spec_from_file_location("runtime_of_packages", path)
    runtime = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runtime)
    for parents in (UPSILON, *FIGURE_1, (0, 0, 1, 2, 3, 3), (0,), ()):
        pattern = runtime.on_one_path(parents)
        assert pattern.dtype == bool and pattern.shape == (len(parents), len(parents))
        assert pattern.tolist() == [list(row) for row in from_parents(parents).related]
        assert not pattern.flags.writeable


def test_no_joints():
    tree = from_parents(())
    assert tree.n == 0
    assert (tree.branches, tree.branch_parents, tree.related, tree.leaves) == ((), (), (), ())


@pytest.mark.parametrize("parents", [(1,), (0, 2), (0, -1)])
def test_parents_come_first(parents):
    with pytest.raises(ValueError, match=f"joint {len(parents)}"):
        from_parents(parents)


@st.composite
def parents_of_trees(draw):
    return tuple(draw(st.integers(0, i)) for i in range(draw(st.integers(0, 25))))


def ancestors(parents, joint):
    """The joint and all that carry it."""
    found = []
    while joint:
        found.append(joint)
        joint = parents[joint - 1]
    return found


@pytest.mark.slow
@settings(max_examples=30)
@given(parents_of_trees())
def test_random_trees(parents):
    tree = from_parents(parents)
    joints = range(1, len(parents) + 1)
    carried = {i: [j for j in joints if parents[j - 1] == i] for i in (0, *joints)}
    assert tree.children == tuple(tuple(carried[i]) for i in joints)
    assert tree.child_counts == tuple(len(carried[i]) for i in joints)
    assert tree.junctions == tuple(i for i in joints if len(carried[i]) > 1)
    assert tree.leaves == tuple(i for i in joints if not carried[i])

    # branches: every joint in one; unbranched runs that cannot be made longer
    assert sorted(j for branch in tree.branches for j in branch) == list(joints)
    assert [branch[0] for branch in tree.branches] == sorted(branch[0] for branch in tree.branches)
    for number, branch in enumerate(tree.branches, start=1):
        for above, below in pairwise(branch):
            assert carried[above] == [below]
        assert len(carried[branch[-1]]) != 1
        above = parents[branch[0] - 1]
        assert above == 0 or len(carried[above]) > 1
        parent = tree.branch_parents[number - 1]
        assert parent < number
        assert above == (tree.branches[parent - 1][-1] if parent else 0)
    assert tree.joint_branches == tuple((branch[0], branch[-1]) for branch in tree.branches)

    # the branch matrices tell the whole tree where joints are numbered consecutively
    if tree.is_consecutive:
        rebuilt = {}
        for above, (first, last) in zip(tree.branch_parents, tree.joint_branches, strict=True):
            rebuilt[first] = tree.joint_branches[above - 1][1] if above else 0
            rebuilt |= {j: j - 1 for j in range(first + 1, last + 1)}
        assert tuple(rebuilt[j] for j in joints) == parents

    for i in joints:
        for m in joints:
            expected = i in ancestors(parents, m) or m in ancestors(parents, i)
            assert tree.related[i - 1][m - 1] == expected
