"""URDF files: what they become, agreement with Pinocchio's reading, messages for beginners."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import symgen
from symgen.cli import run
from symgen.converting.conversion import convert
from symgen.description import read
from symgen.description.checks import check, read_document
from symgen.description.model import JointTerms
from symgen.errors import ModelError
from symgen.formulations import formulation_named
from symgen.options import ReadOptions
from symgen.program.interpreter import call
from tests.oracles.comparison import agrees, evaluated, state_of
from tests.oracles.pinocchio_urdf import PinocchioUrdf

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base_link"/>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 0.3" rpy="0.1 -0.2 0.3"/>
    <parent link="base_link"/><child link="upper"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" velocity="3" effort="40"/>
    <dynamics damping="0.5" friction="0.25"/>
  </joint>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0.02 -0.03" rpy="0.4 0.5 0.6"/>
      <mass value="2.5"/>
      <inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.001" ixz="-0.002" iyz="0.003"/>
    </inertial>
  </link>
  <joint name="slide" type="prismatic">
    <origin xyz="0.5 0 0"/>
    <parent link="upper"/><child link="fore"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/>
  </joint>
  <link name="fore">
    <inertial><mass value="1"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
  </link>
</robot>
"""

LIMIT = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'
"""Of its second joint."""


def written(folder, text, name="arm.urdf"):
    path = Path(folder) / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text)
    return path


def numbers(values):
    return [float(x.text) for x in values]


def test_every_part_of_a_joint_and_its_link(tmp_path):
    robot = read(written(tmp_path, ARM))
    assert robot.name == "arm"
    assert robot.warnings == ()
    shoulder, slide = robot.joints
    assert (shoulder.name, shoulder.type, shoulder.parent) == ("shoulder", "revolute", "base")
    assert (slide.link.name, slide.parent) == ("fore", "upper")
    assert numbers(shoulder.origin.rpy) == [0.1, -0.2, 0.3]
    assert numbers(shoulder.axis) == [0, 1, 0]
    assert numbers(slide.axis) == [1, 0, 0]
    assert float(shoulder.terms[0].damping.text) == 0.5
    assert float(shoulder.terms[0].friction.text) == 0.25
    assert numbers(shoulder.link.com) == [0.1, 0.02, -0.03]
    assert shoulder.source.line == 4
    assert shoulder.source.key == "joint.shoulder"


def torques(description, q, qd, qdd):
    """Without what damping and friction take: Pinocchio leaves them out of inverse dynamics."""
    newton_euler = formulation_named("newton_euler")
    bare = [replace(x, terms=(JointTerms(),) * x.coordinates) for x in description.joints]
    description = replace(description, joints=tuple(bare))
    program = evaluated(description, newton_euler, "inverse_dynamics")
    (tau,) = call(program, {"q": q, "qd": qd, "qdd": qdd, "loads": np.zeros((0, 6))})
    return tau


def compare_with_pinocchio(path, text, floating_base=False, samples=2, masses=True, angles=False):
    """Torques and masses of every sample, and the frames of all links, to 1e-10."""
    description = check(
        read_document(path, ReadOptions(angles=angles, floating_base=floating_base))
    )
    oracle = PinocchioUrdf(text, description, floating_base, angles)
    assert oracle.n == len(description.coordinate_names)
    newton_euler = formulation_named("newton_euler")
    frames = evaluated(description, newton_euler, "forward_kinematics")
    for seed in range(samples):
        state = state_of(description, seed)
        q, qd, qdd = state["q"], state["qd"], state["qdd"]
        tau = torques(description, q, qd, qdd)
        assert agrees(tau, oracle.inverse_dynamics(q, qd, qdd), 1e-10)
        (poses,) = call(frames, {"q": q})
        for joint, pose in zip(description.joints, poses, strict=True):
            kind, _, link = joint.link.source.key.partition(".")
            if kind == "link":
                assert agrees(pose, oracle.frame(link, q), 1e-10)
        if masses:
            (M,) = call(evaluated(description, newton_euler, "mass_matrix"), {"q": q})
            assert agrees(M, oracle.mass_matrix(q), 1e-10)


def test_a_joint_that_mimics_another_has_no_coordinate(tmp_path):
    mimic = '<mimic joint="shoulder" multiplier="-0.5" offset="0.2"/>'
    text = ARM.replace(LIMIT, LIMIT + mimic)
    path = written(tmp_path, text)
    robot = read(path)
    assert robot.coordinate_names == ("shoulder",)
    mimic = robot.joints[1].mimic
    assert (mimic.coordinate, mimic.multiplier.text, mimic.offset.text) == (
        "shoulder", "-0.5", "0.2",
    )  # fmt: skip
    compare_with_pinocchio(path, text)
    plain = read(written(tmp_path, ARM.replace(LIMIT, '<mimic joint="shoulder"/>')))
    assert (plain.joints[1].mimic.multiplier.text, plain.joints[1].mimic.offset.text) == ("1", "0")


def test_a_fixed_joint_mimics_nothing(tmp_path):
    text = ARM.replace("prismatic", "fixed").replace(LIMIT, '<mimic joint="shoulder"/>')
    robot = read(written(tmp_path, text))
    assert robot.joints[1].mimic is None
    (warning,) = robot.warnings
    assert str(warning).endswith(
        "21: joint.slide.mimic: left out: this joint is fixed, and does not move"
    )


def test_a_floating_base(tmp_path):
    root = '<link name="base_link"><inertial><mass value="5"/><origin xyz="0.1 0 0.2"/>'
    root += '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial></link>'
    text = ARM.replace('<link name="base_link"/>', root)
    path = written(tmp_path, text)
    compare_with_pinocchio(path, text, floating_base=True)
    compare_with_pinocchio(path, text, floating_base=True, angles=True)
    robot = symgen.read(path, floating_base=True)
    assert (robot.joints[0].type, robot.joints[0].representation) == ("floating", "quaternion")
    assert robot.joints[0].link.name == "base_link"
    fixed = read(path)
    assert [fault.key for fault in fixed.warnings] == ["link.base_link"]


TURN = 'rpy="0.1 -0.2 0.3"'


def faults(folder, text, name="arm.urdf"):
    with pytest.raises(ModelError) as caught:
        read(written(folder, text, name))
    return [str(fault).removeprefix(f"{folder}/") for fault in caught.value.faults]


@pytest.mark.parametrize(("old", "new", "message"), [
    ('<joint name="slide"', "<joint", "<joint> needs the attribute 'name'"),
    ('<mass value="2.5"/>', "", 'an <inertial> needs <mass value="..."/>'),
    ('ixx="0.02" ', "", "<inertia> needs the attribute 'ixx'"),
    ("<?xml", "arm<?xml", "malformed XML"),
    (TURN, 'quat_xyzw="0 0 0 0"', "5: joint.shoulder.origin: quat_xyzw: the quaternion is zero"),
    (TURN, f'{TURN} quat_xyzw="0 0 0 1"', "rpy and quat_xyzw: an orientation is given once"),
    (TURN, 'quat_xyzw="0 0 1"', "quat_xyzw: expected 4 numbers"),
    (LIMIT, '<mimic multiplier="2"/>', "<mimic> needs the attribute 'joint'"),
    (LIMIT, '<mimic joint="slide"/>', "21: joint.slide.mimic.coordinate: 'slide' is this"),
    ("</robot>", "", "malformed XML: no element found"),
    ("<robot", "<!DOCTYPE robot>\n<robot", "a document type (<!DOCTYPE ...>) is not allowed"),
    ("</robot>", '<xacro:include filename="a"/></robot>', "this is xacro"),
])  # fmt: skip
def test_a_wrong_file_says_what_is_wrong_and_where(old, new, message, tmp_path):
    assert old in ARM
    found = faults(tmp_path, ARM.replace(old, new, 1))
    assert any(message in fault for fault in found), found
    assert all(fault.startswith("arm.urdf") for fault in found)


def test_xacro_in_a_file_that_is_not_called_so_is_not_run(tmp_path):
    text = '<robot xmlns:xacro="x" name="a"><xacro:macro name="b"/></robot>'
    (fault,) = faults(tmp_path, text, "arm.xml")
    assert "whose expressions are evaluated only in a file that is called .xacro" in fault
    assert fault.endswith(f"expand it first: xacro {tmp_path}/arm.xml > {tmp_path}/arm.xml.urdf")
    other = '<robot xmlns:x="http://www.ros.org/wiki/xacro" name="a"><x:macro name="b"/></robot>'
    (fault,) = faults(tmp_path, other, "my arm.urdf")
    assert fault.endswith(f"> '{tmp_path}/my arm.expanded.urdf'")


def test_a_file_that_xacro_wrote_is_urdf(tmp_path):
    text = ARM.replace('<robot name="arm">', '<robot name="arm" xmlns:xacro="http://ros.org">')
    assert len(read(written(tmp_path, text)).joints) == 2


def test_names_that_are_no_identifiers_are_changed_and_reported(tmp_path):
    text = ARM.replace('"upper"', '"upper-arm"').replace('"fore"', '"7 fore"')
    text = text.replace('"slide"', '"upper_arm"').replace('"base_link"', '"while"')
    robot = read(written(tmp_path, text))
    assert [joint.name for joint in robot.joints] == ["shoulder", "upper_arm"]
    assert [joint.link.name for joint in robot.joints] == ["upper_arm_link", "link_7_fore"]
    (warning,) = robot.warnings
    assert warning.message == (
        "some names were changed because they are not valid identifiers or were already in use: "
        "link 'upper-arm' is upper_arm_link, link '7 fore' is link_7_fore"
    )
    names = {"upper_arm_link": "upper-arm", "link_7_fore": "7 fore", "base": "while"}
    assert robot.file_names == names
    converted = convert(tmp_path / "arm.urdf", tmp_path / "arm.yaml").target
    assert read(converted).file_names == names


def test_of_many_changed_names_three_are_printed(tmp_path):
    more = '<parent link="fore"/><child link="c-1"/>'
    more = f'<link name="c-1"/><joint name="j-1" type="fixed">{more}</joint>'
    text = ARM.replace('"upper"', '"upper-arm"').replace('"slide"', '"s-1"')
    (warning,) = read(written(tmp_path, text.replace("</robot>", f"{more}</robot>"))).warnings
    words = (
        "joint 's-1' is s_1, joint 'j-1' is j_1, link 'upper-arm' is upper_arm, and 1 more; file_"
    )
    assert words in warning.message


def test_all_faults_are_reported_at_once(tmp_path):
    """Of the graph, of values, and of the checks of a document."""
    number = ARM.replace('value="2.5"', 'value="3.7kg"')
    broken = number.replace('parent link="base_link"', 'parent link="baselink"').replace(
        "0 1 0", "1 0"
    )
    with pytest.raises(ModelError) as raised:
        read(written(tmp_path, broken))
    said = [fault.message for fault in raised.value.faults]
    assert any("'baselink'" in x for x in said) and any("3.7kg" in x for x in said), said
    assert any("expected 3 numbers" in x for x in said), said
    with pytest.raises(ModelError) as raised:
        read(written(tmp_path, number.replace('<mass value="1"', '<mass value="-1"')))
    assert {"3.7kg" in fault.message for fault in raised.value.faults} == {True, False}


def test_masses_out_of_place_are_remarked(tmp_path):
    text = ARM.replace('iyy="0.01"', 'iyy="0.03"').replace('<mass value="1"/>',
        '<origin xyz="10 0 0"/><mass value="1"/>').replace('"2.5"', '"2300"')  # fmt: skip
    triangle, far, heavy = (x.message for x in read(written(tmp_path, text)).warnings[::-1])
    assert triangle.endswith("no rigid body can have this inertia")
    assert far.startswith("10 m from the frame of the link; no other length of this robot is above")
    assert heavy.startswith("a mass of 2300 kg; the next one of this robot is 1 kg, and with this")


def test_a_changed_name_is_none_of_the_file(tmp_path):
    text = ARM.replace('"upper"', '"fore-"').replace('"fore"', '"fore_"')
    robot = read(written(tmp_path, text))
    assert [joint.link.name for joint in robot.joints] == ["fore__link", "fore_"]


def test_a_link_that_is_called_as_another_joint_gets_another_name(tmp_path):
    text = ARM.replace('"upper"', '"slide"', 10)
    robot = read(written(tmp_path, text))
    assert [joint.link.name for joint in robot.joints] == ["slide_link", "fore"]
    same = ARM.replace('"upper"', '"shoulder"')
    assert read(written(tmp_path, same)).joints[0].link.name == "shoulder"
    assert read(written(tmp_path, same)).warnings == ()


def test_convert_writes_a_model_file_of_the_same_robot(folder, capfd):
    written(folder, ARM)
    assert run(["convert", "arm.urdf", "arm.yaml"]) == 0
    assert "wrote arm.yaml, 2 coordinates" in capfd.readouterr().out
    one, other = read("arm.urdf"), read("arm.yaml")
    state = ([0.3, -0.2], [1.0, 2.0], [0.5, -1.0])
    np.testing.assert_array_equal(torques(one, *state), torques(other, *state))
    assert [x.terms for x in one.joints] == [x.terms for x in other.joints]
    assert [x.limits for x in one.joints] == [x.limits for x in other.joints]


def test_convert_never_replaces_a_file_unasked(folder, refusal):
    written(folder, ARM)
    Path("arm.yaml").write_text("mine")
    assert "arm.yaml is there already" in refusal(["convert", "arm.urdf", "arm.yaml"])
    assert Path("arm.yaml").read_text() == "mine"
    assert run(["convert", "arm.urdf", "arm.yaml", "--force", "--quiet"]) == 0
    assert read("arm.yaml").name == "arm"
    assert sorted(x.name for x in folder.iterdir()) == ["arm.urdf", "arm.yaml"]


def test_round_angles_makes_exact_quarter_turns(folder, capfd):
    written(folder, ARM.replace('rpy="0.1 -0.2 0.3"', 'rpy="1.5708 0.2 -3.14159"'))
    (warning,) = read("arm.urdf").warnings
    assert "2 angles are near a multiple of pi/2" in warning.message
    assert run(["convert", "arm.urdf", "arm.yaml", "--round-angles"]) == 0
    assert [x.text for x in read("arm.yaml").joints[0].origin.rpy] == ["pi/2", "0.2", "-pi"]
    assert capfd.readouterr().err == ""


def test_a_model_file_is_converted_too(folder, refusal):
    pose = "origin: {xyz: [1, 0, 0], rpy: [pi/2, 1.5708, 0x1]}"
    joint = f"{{name: j, type: revolute, {pose}, link: {{mass: 1}}}}"
    Path("a.yaml").write_text(f"symgen: 1\nname: a\njoints:\n  - {joint}")
    assert run(["convert", "a.yaml", "b.yaml", "--round-angles", "--quiet"]) == 0
    assert [x.text for x in read("b.yaml").joints[0].origin.rpy] == ["pi/2", "pi/2", "0x1"]
    for option, words in (
        ("floating-base", "is for URDF"),
        ("angles", "is for URDF, SDF and MJCF"),
    ):
        assert f"--{option} {words}" in refusal(["convert", "a.yaml", "c.yaml", f"--{option}"])


def test_what_cad_programs_write_is_converted_too(folder, capfd):
    """An inertia that no body has, numbers without a digit ahead, a strange file name."""
    text = ARM.replace('ixy="0.001"', 'ixy="0.5"').replace('xyz="0.5 0 0"', 'xyz=".5e0 +.5 -.5E1"')
    name = "a\x07 \u2028\udcff.urdf"
    Path(name).write_text(text)
    assert run(["convert", name, "arm.yaml"]) == 0
    assert "not positive semi-definite" in capfd.readouterr().err
    robot = read("arm.yaml")
    assert Path("arm.yaml").read_text().count("accepted: true") == 1
    assert numbers(robot.joints[1].origin.xyz) == [0.5, 0.5, -5.0]
    (warning,) = robot.warnings
    assert warning.key == "joints.shoulder.link.inertia"
    assert "not positive semi-definite" in warning.message
    assert run(["convert", "arm.yaml", "dh.yaml", "--style", "standard", "--quiet"]) == 0
    assert read("dh.yaml").warnings


def test_names_of_coordinates_are_kept_free(tmp_path):
    for angles, suffix in ((False, "qw"), (False, "vx"), (True, "2")):
        text = ARM.replace('type="revolute"', 'type="floating"')
        text = text.replace('"fore"', f'"shoulder_{suffix}"')
        robot = read(written(tmp_path, text), ReadOptions(angles=angles))
        assert [joint.name for joint in robot.joints] == ["shoulder_joint", "slide"]
        base = written(tmp_path, ARM.replace('"fore"', f'"floating_base_{suffix}"'))
        robot = check(read_document(base, ReadOptions(angles=angles, floating_base=True)))
        assert robot.joints[0].name == "floating_base_joint"


def test_a_name_leaves_room_for_those_of_coordinates(tmp_path):
    text = ARM.replace('type="revolute"', 'type="floating"').replace('"shoulder"', f'"{"s" * 62}"')
    assert read(written(tmp_path, text), ReadOptions(angles=True)).joints[0].name == "s" * 62
    assert len(read(written(tmp_path, text)).joints[0].name) < 62


RANGE = 'lower="-1" upper="2" velocity="3"'
NONE = (None, None, 3, 40)
REVERSED = 'lower="1" upper="-1" velocity="3"'


@pytest.mark.parametrize(("kind", "limit", "expected"), [
    ("continuous", RANGE, NONE),
    ("revolute", 'upper="2" velocity="3"', (0, 2, 3, 40)),  # as the format defines
    ("revolute", 'lower="-inf" upper="Infinity" velocity="inf"', (None, None, None, 40)),
    ("revolute", REVERSED, NONE),  # so Bullet's files write that there is none
    ("prismatic", REVERSED, NONE),
])  # fmt: skip
def test_limits(tmp_path, kind, limit, expected):
    text = ARM.replace('type="revolute"', f'type="{kind}"').replace(RANGE, limit)
    robot = read(written(tmp_path, text))
    limits = robot.joints[0].limits[0]
    assert (limits.lower, limits.upper, limits.velocity, limits.effort) == expected
    said = "joint.shoulder.limit: lower 1 is above upper -1: read as no limit"
    assert [said in str(warning) for warning in robot.warnings] == [True] * (limit == REVERSED)


@pytest.mark.parametrize(("ahead", "behind", "said"), [
    (b"\n\n", b"", ["before <?xml"]),
    (b"\xef\xbb\xbf\n", b"", ["before <?xml"]),
    (b"\n\xef\xbb\xbf \xef\xbb\xbf", b"\n\0", ["NUL", "before <?xml"]),
    (b"\xef\xbb\xbf", b"\0\0", ["NUL"]),
    (b"\xef\xbb\xbf", b"\n", []),
])  # fmt: skip
def test_what_some_programs_write_around_a_file(tmp_path, ahead, behind, said):
    path = tmp_path / "arm.urdf"
    path.write_bytes(ahead + ARM.encode() + behind)
    robot = read(path)
    assert [joint.name for joint in robot.joints] == ["shoulder", "slide"]
    assert robot.joints[0].source.line == 4 + ahead.count(b"\n")
    assert len(robot.warnings) == len(said)
    for words, warning in zip(said, robot.warnings, strict=True):
        assert words in str(warning)


def test_planar_and_floating_joints(tmp_path):
    text = ARM.replace('type="revolute"', 'type="planar"').replace(
        'type="prismatic"', 'type="floating"'
    )
    planar, floating = read(written(tmp_path, text)).joints
    assert (planar.type, planar.coordinates) == ("planar", 3)
    assert numbers(planar.axis) == [0, 1, 0]
    assert {x.velocity for x in planar.limits} == {3}
    assert {x.lower for x in planar.limits} == {None}
    assert (floating.type, floating.coordinates) == ("floating", 6)
    assert (floating.representation, len(floating.position_names)) == ("quaternion", 7)
