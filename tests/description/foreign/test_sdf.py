"""SDF files: the dynamics of the same arm as a URDF in every convention; messages."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import symgen
from symgen.cli import run
from symgen.description.checks import check, read_document
from symgen.description.foreign.rotations import Pose, from_rpy, to_rpy
from symgen.errors import ModelError
from symgen.formulations import formulation_named
from symgen.options import ReadOptions
from symgen.program.interpreter import call
from tests.description.foreign.test_urdf import faults, torques, written
from tests.oracles.comparison import evaluated

# ------------------------------------------------------- one arm, written as URDF and as SDF


def at(xyz, rpy):
    return Pose(np.array(xyz), from_rpy(rpy))


def words(values):
    return " ".join(repr(float(x)) for x in values)


def origin(pose):
    return f'<origin xyz="{words(pose.at)}" rpy="{words(to_rpy(pose.turn))}"/>'


def sdf_pose(pose, relative_to=""):
    attribute = f' relative_to="{relative_to}"' if relative_to else ""
    return f"<pose{attribute}>{words([*pose.at, *to_rpy(pose.turn)])}</pose>"


JOINT_A, LINK_A = at([0.1, -0.2, 0.3], [0.0, 0.0, -0.6]), at([0.2, 0.1, -0.3], [-0.7, 0.5, 1.3])
JOINT_B, LINK_B = at([-0.3, 0.4, 0.1], [1.1, -0.3, 0.2]), at([0.1, 0.3, 0.2], [0.6, -1.1, 0.8])
COM = at([0.1, 0.02, -0.03], [0.4, 0.5, 0.6])
A = JOINT_A @ LINK_A
TWO = A @ JOINT_B
B = TWO @ LINK_B
AXIS = np.array([0.3, -0.4, 1.2])
"""Of the second joint, in its frame; the first turns about an axis that is the model's, too."""
ARM_URDF = f"""<robot name="arm"><link name="root"/>
<joint name="one" type="continuous"><parent link="root"/><child link="a"/>
  <axis xyz="0 0 1"/>{origin(JOINT_A)}</joint>
<link name="a"><inertial><mass value="1.5"/>{origin(LINK_A @ COM)}
  <inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="two" type="continuous"><parent link="a"/><child link="b"/>
  <axis xyz="{words(AXIS)}"/>{origin(LINK_A @ JOINT_B)}</joint>
<link name="b"><inertial><mass value="1.5"/>{origin(LINK_B @ COM)}
  <inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>"""
BODY = f"""<inertial>{sdf_pose(COM)}<mass>1.5</mass>
  <inertia><ixx>0.02</ixx><iyy>0.03</iyy><izz>0.025</izz></inertia></inertial></link>"""
ARM_SDF = f"""<sdf version="@version"><model name="arm"><link name="root"/>@frame
<joint name="two" type="revolute">@joint<parent>a</parent><child>b</child>
  <axis>@axis</axis></joint><link name="b">@link{BODY}<link name="a">{sdf_pose(A)}{BODY}
<joint name="one" type="revolute">{sdf_pose(LINK_A.inverse())}<parent>root</parent><child>a</child>
  <axis><xyz>0 0 1</xyz></axis></joint></model></sdf>"""
POSES = {  # of the second link, of its joint, and a frame that they are in
    "absolute": (sdf_pose(B), sdf_pose(LINK_B.inverse()), ""),
    "of the joint": (sdf_pose(LINK_B, "two"), sdf_pose(JOINT_B, "a"), ""),
    "of the parent": (sdf_pose(JOINT_B @ LINK_B, "a"), sdf_pose(LINK_B.inverse()), ""),
    "of a frame": (
        sdf_pose(LINK_B, "f"), '<pose relative_to="f"/>',
        f'<frame name="f" attached_to="a">{sdf_pose(JOINT_B)}</frame>',
    ),
    "quaternion": (
        sdf_pose(B),
        '<pose relative_to="__model__" rotation_format="quat_xyzw">'
        f"{words([*TWO.at, *Rotation.from_matrix(TWO.turn).as_quat()])}</pose>", "",
    ),
}  # fmt: skip
OWN, IN_MODEL, IN_LINK = words(AXIS), words(TWO.turn @ AXIS), words(LINK_B.turn.T @ AXIS)
FLAG = "<use_parent_model_frame>1</use_parent_model_frame>"


@pytest.mark.parametrize(("version", "axis", "poses"), [
    ("1.4", f"<xyz>{IN_MODEL}</xyz>", "absolute"),
    ("1.6", f"<xyz>{OWN}</xyz>", "absolute"),
    ("1.6", f"<xyz>{IN_MODEL}</xyz>{FLAG}", "absolute"),
    ("1.7", f"<xyz>{OWN}</xyz>", "of the joint"),
    ("1.9", f'<xyz expressed_in="__model__">{IN_MODEL}</xyz>', "of the parent"),
    ("1.9", f'<xyz expressed_in="b">{IN_LINK}</xyz>', "of a frame"),
    ("1.11", f"<xyz>{OWN}</xyz>", "quaternion"),
])  # fmt: skip
def test_the_dynamics_are_those_of_the_same_arm_as_urdf(version, axis, poses, tmp_path):
    parts = dict(zip(("@link", "@joint", "@frame"), POSES[poses], strict=True))
    text = ARM_SDF
    for word, part in {"@version": version, "@axis": axis, **parts}.items():
        text = text.replace(word, part)
    urdf = symgen.read(written(tmp_path, ARM_URDF, "arm.urdf"))
    sdf = symgen.read(written(tmp_path, text, "arm.sdf"))
    order = [sdf.coordinate_names.index(name) for name in urdf.coordinate_names]
    states = np.array([[0.3, -0.5], [0.7, 1.1], [-0.4, 0.9]])
    ours = np.empty_like(states)
    ours[:, order] = states
    np.testing.assert_allclose(torques(sdf, *ours)[order], torques(urdf, *states), atol=1e-12)
    # A link frame of the file is where the arm has it when nothing has moved.
    program = evaluated(sdf, formulation_named("newton_euler"), "forward_kinematics")
    (frames,) = call(program, {"q": np.zeros(2)})
    links = [item.link.name for item in sdf.joints]
    for name, expected in (("a", A), ("b", B)):
        pose = frames[links.index(name)]
        np.testing.assert_allclose(pose[:3, 3], expected.at, atol=1e-14)
        np.testing.assert_allclose(pose[:3, :3], expected.turn, atol=1e-14)


# ------------------------------------------------- what a URDF cannot say

ZOO = """<sdf version="1.11"><world name="w"><gravity>0.1 0.2 -9</gravity>
<model name="floor"><static>1</static><link name="ground"/></model>
<model name="zoo" placement_frame="mount">
  <pose>0.1 0 1 0 0.1 0</pose>
  <link name="root">INERTIA</link>
  <frame name="mount" attached_to="root"><pose>0 0 -0.3 0.2 0 0</pose></frame>
  <joint name="weld" type="fixed"><parent>world</parent><child>root</child></joint>
  <link name="a"><pose>0.1 0.2 0.3 0.1 0.2 0.3</pose>INERTIA</link>
  <joint name="cross" type="universal"><pose degrees="true">0 0.1 0 10 20 30</pose>
    <parent>mount</parent><child>a</child>
    <axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>
  <link name="b"><pose relative_to="a">0 0.4 0 1.5707963267948966 0 0</pose>INERTIA</link>
  <joint name="bolt" type="screw"><pose>0.1 0 0 0 0 0</pose><parent>a</parent><child>b</child>
    <axis><xyz>0 0 1</xyz></axis><screw_thread_pitch>0.3</screw_thread_pitch></joint>
  <model name="hand"><pose relative_to="b">0 0 0.2 0 0.3 0</pose>
    <link name="palm">INERTIA</link><link name="tip"><pose>0 0 0.2 0 0 0</pose>INERTIA</link>
    <joint name="wrist" type="revolute"><parent>palm</parent><child>tip</child>
      <axis><xyz expressed_in="__model__">0 1 0</xyz></axis></joint></model>
  <joint name="grip" type="ball"><parent>b</parent><child>hand</child></joint>
  <include><uri>thumb.sdf</uri><name>thumb</name><pose relative_to="hand::tip">0 0.1 0 0 0 0</pose>
    <placement_frame>nail</placement_frame></include>
  <include merge="true"><uri>model://nose</uri><pose relative_to="b">0.1 0 0 0 0 0</pose></include>
  <joint name="knuckle" type="prismatic"><parent>hand::tip</parent><child>thumb::bone</child>
    <axis><xyz>1 1 0</xyz></axis></joint>
  <joint name="sniff" type="continuous"><parent>b</parent><child>nose</child>
    <axis><xyz>0 1 1</xyz></axis></joint>
</model></world></sdf>""".replace(
    "INERTIA",
    "<inertial><pose>0.1 0.02 -0.03 0.4 0.5 0.6</pose><mass>1.5</mass><inertia><ixx>0.02</ixx>"
    "<iyy>0.03</iyy><izz>0.025</izz><ixy>0.001</ixy><ixz>-0.002</ixz><iyz>0.003</iyz></inertia>"
    "</inertial>",
)
THUMB = """<sdf version="1.6"><model name="other"><pose>9 9 9 0 0 0</pose>
<link name="bone"><pose>0 0 0.1 0 0.2 0</pose></link>
<link name="nail"><pose>0 0 0.2 0 0.1 0</pose></link>
<joint name="stiff" type="fixed"><parent>bone</parent><child>nail</child></joint></model></sdf>"""
NOSE = """<sdf version="1.9"><model name="face"><link name="nose"><pose>0 0.1 0 0 0 0</pose></link>
</model></sdf>"""


@pytest.fixture
def zoo(tmp_path):
    written(tmp_path, THUMB, "zoo/thumb.sdf")
    written(tmp_path, NOSE, "noses/long/nose.sdf")
    config = "<model><name>n</name><sdf version='1.9'>nose.sdf</sdf></model>"
    written(tmp_path, config, "noses/long/model.config")
    return written(tmp_path, ZOO, "zoo/zoo.sdf")


def test_every_joint_nested_models_and_includes(zoo):
    packages = {"nose": zoo.parents[1] / "noses/long"}
    robot = symgen.read(zoo, packages=packages)
    assert robot.coordinate_names == (
        "cross_1", "cross_2", "bolt", "grip_wx", "grip_wy", "grip_wz", "hand_wrist", "knuckle",
        "sniff",
    )  # fmt: skip
    assert {"hand_palm", "thumb_nail", "nose"} <= {joint.link.name for joint in robot.joints}
    said = " ".join(warning.message for warning in robot.warnings)
    assert "left out: model 'floor'; the robot is 'zoo'" in said
    assert "joint 'hand::wrist' is hand_wrist" in said
    assert "without <inertial> a link has 1 kg" in said


def test_momenta_and_weights_are_those_of_drake(zoo):
    """Values of Drake 1.51, whose angles of a ball come in the opposite order."""
    packages = {"nose": zoo.parents[1] / "noses/long"}
    robot, q = symgen.read(zoo, packages=packages, angles=True), np.arange(1, 10) / 10
    program = evaluated(robot, formulation_named("newton_euler"), "mass_matrix")
    momenta = call(program, {"q": q})[0] @ np.arange(1, 10)
    weights = torques(robot, q, 0 * q, 0 * q)
    expected = [
        -17.25342574225, -16.79181374031, 24.84647923384, 21.09758978797, 23.3634777748,
        2.04661081904, 33.80022566456, 14.49597251695, 9.6651768863,
    ]  # fmt: skip
    np.testing.assert_allclose(momenta, expected, rtol=1e-11)
    expected = [
        3.36066251516, -12.9698054928, 4.36043893537, 8.51139189674, 0.0161846844646,
        -3.8041896763, 3.09578275016, 16.3421789227, 0.0,
    ]  # fmt: skip
    np.testing.assert_allclose(weights, expected, atol=1e-10)


ARM = """<sdf version="1.9">
<model name="arm">
  <link name="base"/>
  <link name="upper">
    <pose relative_to="base">0 0 0.3 0 0 0</pose>
    <inertial><mass>2.5</mass>
      <inertia><ixx>0.02</ixx><iyy>0.03</iyy><izz>0.025</izz></inertia></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent>base</parent><child>upper</child>
    <axis>
      <xyz>0 1 0</xyz>
      <limit><lower>-1</lower><upper>2</upper><velocity>3</velocity><effort>40</effort></limit>
      <dynamics><damping>0.5</damping><friction>0.25</friction>
        <spring_stiffness>7</spring_stiffness><spring_reference>0.1</spring_reference></dynamics>
    </axis>
  </joint>
  <link name="fore"><pose relative_to="upper">0.5 0 0 0 0 0</pose></link>
  <joint name="slide" type="prismatic"><parent>upper</parent><child>fore</child>
    <axis><mimic joint="shoulder"><multiplier>2</multiplier><offset>0.5</offset>
      <reference>0.1</reference></mimic><limit><lower>-inf</lower><effort>-1</effort></limit></axis>
  </joint>
  <frame name="tool" attached_to="fore"><pose>0.1 0 0 0 0 0</pose></frame>
</model></sdf>
"""


def test_every_part_of_a_joint(tmp_path):
    robot = symgen.read(written(tmp_path, ARM, "arm.sdf"))
    shoulder, slide = robot.joints
    limits, terms = shoulder.limits[0], shoulder.terms[0]
    assert (limits.lower, limits.upper, limits.velocity, limits.effort) == (-1, 2, 3, 40)
    found = [terms.damping, terms.friction, terms.stiffness, terms.rest]
    assert [x.text for x in found] == ["0.5", "0.25", "7", "0.1"]
    assert (slide.limits[0].lower, slide.limits[0].effort) == (None, None)
    assert (slide.mimic.coordinate, slide.mimic.multiplier.text) == ("shoulder", "2.0")
    assert float(slide.mimic.offset.text) == pytest.approx(0.3)
    assert [x.text for x in shoulder.axis] == ["0", "1", "0"]  # as it is written
    assert [(x.name, x.link) for x in robot.points] == [("tool", "fore")]
    assert (shoulder.source.line, shoulder.source.key) == (9, "joint.shoulder")
    assert "a simulator lets it float" in " ".join(str(x) for x in robot.warnings)


def test_a_floating_base_and_convert(folder, refusal):
    written(folder, ARM, "arm.sdf")
    robot = check(read_document("arm.sdf", ReadOptions(floating_base=True)))
    assert [x.type for x in robot.joints] == ["floating", "revolute", "prismatic"]
    assert robot.joints[0].name == "floating_base"
    assert robot.joints[0].link.name == "base_link"  # base is a name of ours
    assert run(["convert", "arm.sdf", "arm.yaml", "--quiet"]) == 0
    states = ([0.3], [1.0], [0.5])
    one, other = (torques(symgen.read(x), *states) for x in ("arm.sdf", "arm.yaml"))
    np.testing.assert_array_equal(one, other)
    said = refusal(["show", "arm.sdf", "tree", "side:=left"])
    assert "arguments, NAME:=VALUE, are for xacro" in said


LOOP = '<joint name="back" type="fixed"><parent>base</parent><child>fore</child></joint>'


@pytest.mark.parametrize(("old", "new", "message"), [
    ("<child>fore<", "<child>for<", "19: joint.slide: child: there is no link or frame named "
     "'for'; did you mean 'fore'?"),
    ("<child>fore</child>", "", ":19: joint.slide: a joint needs <child>LINK</child>"),
    ("<child>fore<", "<child>world<", "the world is no child of a joint"),
    ('type="prismatic"', 'type="prismtic"', "'prismtic'; did you mean 'prismatic'?"),
    ('type="prismatic"', 'type="gearbox"', "type gearbox is not available"),
    ('type="prismatic"', 'type="universal"', "a universal joint needs <axis2>"),
    ('type="prismatic"', 'type="screw"', "a screw needs <screw_thread_pitch>"),
    ('name="slide"', 'name="shoulder"', "'shoulder' is a joint already, in line 9"),
    ('name="slide"', 'name="upper"', "'upper' is a link already, in line 4"),
    ('name="slide"', 'name="world"', "'world' is a name of the format itself"),
    ('relative_to="base"', 'relative_to="bse"', "4: link.upper: relative_to: there is no link "
     "or frame named 'bse'; did you mean 'base'?"),
    ('relative_to="base"', 'relative_to="fore"', "in a circle: 'upper' -> 'fore'"),
    ('attached_to="fore"', 'attached_to="tool"', "in a circle: 'tool'"),
    ("0 0 0.3 0 0 0", "0 0 0.3", ":5: link.upper: pose: expected 6 numbers"),
    ("<xyz>", '<xyz expressed_in="x">', "joint.shoulder.axis: there is no link or frame named"),
    ("<mass>2.5", "<mass>-2.5", "link.upper.mass: the mass is negative"),
    ("<inertial>", '<inertial auto="true">', "auto: masses of shapes are not computed"),
    ('<mimic joint="shoulder"', '<mimic joint="shulder"', "did you mean 'shoulder'?"),
    ("<frame name", f"{LOOP}<frame name", "'fore' is carried by 'slide' already"),
    ("<parent>base<", "<parent>fore<", "belongs to a loop of parents and children"),
    ("<frame name", '<link name="lost"/><frame name', "link.lost: no joint carries this link"),
    ('version="1.9"', 'version="1.2"', "version 1.2 is not read, 1.3 to 1.12 are"),
    ('version="1.9"', "", "<sdf> needs a version"),
    ("<frame name", '<drake:joint name="x"/><frame name', "is of drake alone, and is not read"),
    ("<frame name", "<include><uri>http://x.org/a.sdf</uri></include><frame name",
     "nothing is fetched"),
    ("<frame name", "<include><uri>../secret.sdf</uri></include><frame name",
     "'../secret.sdf' lies outside the folder of the model"),
    ("<frame name", "<include><uri>model://x</uri></include><frame name",
     "there is no package 'x' in the folders above this file; name its folder: --package x="),
    ("<frame name", "<include><uri>arm.sdf</uri></include><frame name",
     "more than 16 levels of includes; does a file include itself?"),
    ("<frame name", "<include><uri>none.sdf</uri></include><frame name", "there is no file"),
])  # fmt: skip
def test_a_wrong_file_says_what_is_wrong_and_where(old, new, message, tmp_path):
    assert old in ARM
    found = faults(tmp_path, ARM.replace(old, new, 1), "arm.sdf")
    assert any(message in fault for fault in found), found


def test_a_fault_in_an_included_file_names_that_file(zoo):
    thumb = zoo.parent / "thumb.sdf"
    thumb.write_text(THUMB.replace('"fixed"', '"fixd"'))
    with pytest.raises(ModelError) as caught:
        symgen.read(zoo, packages={"nose": zoo.parents[1] / "noses/long"})
    (fault,) = caught.value.faults
    assert (Path(fault.file).name, fault.line) == ("thumb.sdf", 4)
    assert fault.key == "joint.thumb::stiff"
