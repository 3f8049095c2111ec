"""Loads and points beside those of a file."""

import numpy as np
import pytest

from symgen.cli import run
from symgen.description import read
from symgen.description.additions import with_additions
from symgen.errors import RequestError
from tests.modules import EXAMPLES, module

TWO_LINK = EXAMPLES / "two_link.yaml"
URDF = """\
<robot name="lift"><link name="rail"/>
  <link name="car"><inertial><mass value="2"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="up" type="prismatic"><parent link="rail"/><child link="car"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="1" effort="9" velocity="2"/></joint></robot>
"""


def test_they_have_the_name_of_their_link_and_a_place_in_its_frame():
    robot = with_additions(read(TWO_LINK), ["forearm", "forearm:0.1,-2e-1,3"], [])
    added = robot.loads[1:]
    assert [load.name for load in added] == ["forearm", "forearm_2"]
    values = [[entry.root.value for entry in load.point] for load in added]
    assert values == [[0.0, 0.0, 0.0], [0.1, -0.2, 3.0]]
    assert with_additions(robot, [], []) is robot


def test_a_load_acts_where_it_was_put(tmp_path):
    (tmp_path / "lift.urdf").write_text(URDF)
    options = {"loads": "car:0.5,0,0", "points": ["car:0,0,0.3"]}
    lift = module(tmp_path / "lift.urdf", functions="inverse_dynamics,point_motion", **options)
    assert (lift.load_names, lift.point_names) == (("car",), ("car",))
    pull = {"car": [0, 0, -5, 0, 0, 0]}
    tau = lift.inverse_dynamics([0.2], [0], [0], loads=pull)
    np.testing.assert_allclose(tau, [2 * 9.81 + 5], rtol=1e-12)
    position, *_ = lift.point_motion([0.2], [0], [0])
    np.testing.assert_allclose(position, [[0, 0, 0.5]], atol=1e-15)


@pytest.mark.parametrize(("text", "words"), [
    ("forarm", "no link is called 'forarm'; did you mean 'forearm'?"),
    ("base", "no link is called 'base'"),
    ("forearm:", "expected LINK or LINK:x,y,z with three numbers"),
    ("forearm:1,2,inf", "expected LINK or LINK:x,y,z with three numbers"),
    ("forearm:1,2,__import__('os')", "expected LINK or LINK:x,y,z with three numbers"),
    ("", "no link is called ''"),
])  # fmt: skip
def test_wrong_ones_are_refused_in_words(text, words):
    for loads, points in (([text], []), ([], [text])):
        with pytest.raises(RequestError) as caught:
            with_additions(read(TWO_LINK), loads, points)
        assert words in str(caught.value)


@pytest.mark.slow
def test_commands_take_them(folder, capfd):
    options = ["--functions", "mass_matrix", "--backend", "numpy", "-q"]
    assert run(["build", str(TWO_LINK), "--load", "forearm", *options]) == 0
    assert run(["check", str(TWO_LINK), "--exact", "--load", "forearm", *options[:2]]) == 0
    capfd.readouterr()
    show = ["show", str(TWO_LINK), "inverse_dynamics_load_derivatives", "--expanded"]
    assert run([*show, "--load", "upper_arm:0.2,0,0"]) == 0
    assert "sin(q₁)⋅(L₁ + 1/5)" in capfd.readouterr().out
    report = ["report", str(TWO_LINK), "--quick", "--load", "elbow", "-o", "page.html"]
    assert run(report) == 2
    words = "--load 'elbow': 'elbow' is a joint; its link is called 'forearm'"
    assert words in capfd.readouterr().err
