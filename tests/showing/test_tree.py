"""`symgen show MODEL tree`: what is drawn, aligned, wrapped and counted."""

import pytest

from benchmarks.models import spatial_tree
from symgen.description import read
from symgen.showing.tree import LARGEST_PICTURE, WIDTH, tree
from tests.modules import EXAMPLES, described

BODY = """
symgen: 1
name: body
parameters: {m: 2}
joints:
  - {name: mount, type: fixed, origin: {}}
  - {name: hip, type: spherical, origin: {}, link: {name: pelvis, mass: 2*m}}
  - {name: plate, type: fixed, origin: {}}
  - {name: left, type: universal, origin: {}, link: {mass: 1}}
  - {name: rail, type: prismatic, parent: base, origin: {}, link: {mass: 1}}
  - {name: right, type: revolute, parent: plate, origin: {}, link: {mass: 1.5}}
  - {name: end, type: revolute, parent: left, origin: {}, link: {mass: 1}}
loads:
  - {name: floor, link: base, point: [0, 0, 0]}
  - {name: push, link: end, point: [0, 0, 0]}
  - {name: pull, link: end, point: [0, 0, 0]}
points:
  - {name: eye, link: end, point: [0, 0, 0]}
"""

DRAWING = """
body: 8 coordinates, 7 links, 3 loads, 1 point

base                                                            load floor
├─ mount                      mount  fixed          massless
│  └─ pelvis        q_1..q_3  hip    spherical zyx  2*m = 4 kg
│     └─ plate                plate  fixed          massless
│        ├─ left    q_4..q_5  left   universal xy   1 kg
│        │  └─ end  q_8       end    revolute       1 kg        load push, load pull, point eye
│        └─ right   q_7       right  revolute       1.5 kg
└─ rail             q_6       rail   prismatic      1 kg

Joint parent matrix (Upsilon): joint i moves q_i; its parent carries it, 0 is the base
  joint  1 2 3 4 5 6 7 8
  parent 0 1 2 3 4 0 3 5

Branch parent matrix (Phi): a branch is a run of joints without a fork
  branch 1 2 3 4
  parent 0 1 0 1

Joint-branch matrix (Psi): where every branch starts and ends
  branch      1 2 3 4
  first joint 1 4 6 7
  last joint  3 8 6 7

Joints of the branches, which are not numbered consecutively
  branch 1: 1, 2, 3
  branch 2: 4, 5, 8
  branch 3: 6
  branch 4: 7

Junctions (joints that carry several): 3
Leaves: 6, 7, 8

44 of 64 entries of d tau / d q can be non-zero (one joint on the path to the other)
    12345678
  1 xxxxx.xx
  2 xxxxx.xx
  3 xxxxx.xx
  4 xxxxx..x
  5 xxxxx..x
  6 .....x..
  7 xxx...x.
  8 xxxxx..x
"""


def test_a_tree_with_everything():
    assert tree(described(BODY)) == DRAWING.strip()


def test_one_branch_has_no_junctions():
    text = tree(read(EXAMPLES / "two_link.yaml"))
    assert "Junctions (joints that carry several): none\nLeaves: 2\n" in text
    assert "   └─ forearm  q_2  elbow     revolute  m2 = 0.5 kg  load tip, point hand\n" in text


@pytest.mark.parametrize("n", [10, 35, 120])
def test_large_trees_fit_the_page(n):
    text = tree(described(spatial_tree(range(n), "chain")))
    drawing, upsilon, *_ = text.split("\n\nJoint parent matrix")
    assert max(map(len, upsilon.splitlines())) <= WIDTH
    parents = [line.split()[1:] for line in upsilon.splitlines() if line.startswith("  parent")]
    assert [int(x) for row in parents[:-1] for x in row] == list(range(n))  # the last is Phi's
    assert (f"  {n} xxx" in text) == (n <= LARGEST_PICTURE)
    assert len(drawing.splitlines()) == n + 3


def test_nothing_to_move():
    text = tree(described("symgen: 1\nname: rock\njoints: [{name: a, type: fixed, origin: {}}]\n"))
    assert text == (
        "rock: 0 coordinates, 1 link, 0 loads, 0 points\n\nbase\n└─ a  a  fixed  massless"
    )
