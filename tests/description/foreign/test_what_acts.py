"""Entries of other formats that act on the dynamics: read with the right values, or named."""

import mujoco
import numpy as np
import pinocchio
import pytest

from symgen.description import read
from symgen.errors import ModelError
from symgen.formulations import formulation_named
from symgen.options import ReadOptions
from symgen.program.interpreter import call
from tests.choosing import some_slow
from tests.modules import file_of, module
from tests.oracles.comparison import evaluated


def value(robot, function, **arguments):
    loads = {"loads": np.zeros((0, 6))} if function == "inverse_dynamics" else {}
    program = evaluated(robot, formulation_named("newton_euler"), function)
    (result,) = call(program, {**arguments, **loads})
    return result


def torque(robot, q, qd, qdd):
    arguments = {"q": q, "qd": qd, "qdd": qdd}
    arrays = {name: np.atleast_1d(np.asarray(x, float)) for name, x in arguments.items()}
    return value(robot, "inverse_dynamics", **arrays)


def mass(robot, q):
    return value(robot, "mass_matrix", q=np.atleast_1d(np.asarray(q, float)))


def said(robot):
    return "\n".join(f"{x.line} {x.key}: {x.message}" for x in robot.warnings)


# ------------------------------------------------------------------------------------------- URDF

URDF = """<robot name="r" version="1.1" xmlns:drake="http://drake.mit.edu">
  <link name="b"/>
  <joint name="j" type="{kind}"><parent link="b"/><child link="a"/>
    <origin xyz="0 0 0" {turn}/><axis xyz="0 0 1"/>{limit}</joint>
  <link name="a"><inertial><origin xyz="0.3 0 0" {turned}/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.025" ixy="0.001" ixz="0" iyz="0"/></inertial></link>
  {more}
</robot>"""
TRANSMISSION = """<transmission name="t"><type>transmission_interface/SimpleTransmission</type>
  <joint name="j">{of_joint}</joint><actuator name="m">{of_drive}</actuator></transmission>"""


def urdf(folder, kind="continuous", turn="", turned="", limit="", more=""):
    path = folder / "r.urdf"
    path.write_text(URDF.format(kind=kind, turn=turn, turned=turned, limit=limit, more=more))
    return path


@pytest.mark.parametrize(("turn", "turned"), [
    ('quat_xyzw="0.7071067811865476 0 0 0.7071067811865476"', ""),
    ('quat_xyzw="2 0 0 2"', ""),  # of any length
    ('quat_xyzw="0.7071067811865476 0 0 0.7071067811865476"',
     'quat_xyzw="0.5 0.5 0.5 0.5"'),
    ('rpy="0.3 0.2 -1.1"', 'quat_xyzw="0 0.6 0 0.8"'),
])  # fmt: skip
def test_quaternions_in_urdf_turn_frames_and_inertias(tmp_path, turn, turned):
    unit = turn.replace('"2 0 0 2"', '"0.7071067811865476 0 0 0.7071067811865476"')
    model = pinocchio.buildModelFromUrdf(str(urdf(tmp_path, turn=unit, turned=turned)))
    q = np.array([np.cos(0.2), np.sin(0.2)])
    expected = pinocchio.rnea(model, model.createData(), q, np.array([0.5]), np.array([1.5]))
    robot = read(urdf(tmp_path, turn=turn, turned=turned))
    np.testing.assert_allclose(torque(robot, 0.2, 0.5, 1.5), expected, atol=1e-12)


RATIO = "<mechanicalReduction>{}</mechanicalReduction>".format
ROTOR = "<motorInertia>{}</motorInertia>".format
OF_DRAKE = '<drake:rotor_inertia value="0.0005"/><drake:gear_ratio value="50"/>'
ALONE = 0.025 + 0.09


@pytest.mark.parametrize(("more", "expected"), [
    (TRANSMISSION.format(of_joint="", of_drive=RATIO(50) + ROTOR(0.0005) + OF_DRAKE), 1.25),
    (TRANSMISSION.format(of_joint="", of_drive=RATIO(50) + ROTOR(0.0005)), 1.25),
    (TRANSMISSION.format(of_joint="", of_drive=OF_DRAKE), 1.25),
    (TRANSMISSION.format(of_joint="", of_drive=ROTOR(0.3)), 0.3),
    (TRANSMISSION.format(of_joint="", of_drive=RATIO(-20) + ROTOR(0.001)), 0.4),
    (TRANSMISSION.format(of_joint=RATIO(10), of_drive=ROTOR(0.01)), 1.0),
    (TRANSMISSION.format(of_joint="", of_drive=RATIO(100)), 0.0),  # no inertia to reflect
    (2 * TRANSMISSION.format(of_joint="", of_drive=RATIO(10) + ROTOR(0.01)), 2.0),
    ('<transmission name="t" type="SimpleTransmission"><actuator name="m"/><joint name="j"/>'
     + RATIO(10) + ROTOR(0.01) + "</transmission>", 1.0),
    ('<transmission name="t"><joint name="j">' + RATIO(100) + "</joint>" + ROTOR("1e-4")
     + "</transmission>", 1.0),  # of no actuator
    ('<transmission name="t"><joint name="j"/><actuator name="m"/><actuator name="n"/>'
     + RATIO(10) + ROTOR(0.01) + "</transmission>", 1.0),  # the rotor of all its actuators
    (TRANSMISSION.format(of_joint="", of_drive=RATIO(10)
     + "<drake:rotor_inertia>0.01</drake:rotor_inertia>"), 1.0),
])  # fmt: skip
def test_rotors_of_transmissions_add_to_the_mass_matrix(tmp_path, more, expected):
    robot = read(urdf(tmp_path, more=more))
    assert mass(robot, 0.7) == pytest.approx(ALONE + expected, rel=1e-14)
    assert "left out" not in said(robot)


def test_rotors_that_no_joint_term_says_are_named(tmp_path):
    drive = TRANSMISSION.format(of_joint="", of_drive=ROTOR("0.5"))
    coupled = drive.replace('<joint name="j">', '<joint name="k"/><joint name="j">')
    robot = read(urdf(tmp_path, more=coupled))
    words = "8 transmission.t: the rotor inertia 0.5 of 'm' is left out: it couples joints"
    assert words in said(robot)
    absent = read(urdf(tmp_path, more=drive.replace('<joint name="j">', '<joint name="k">')))
    assert "is left out: there is no joint named 'k'" in said(absent)
    fixed = read(urdf(tmp_path, kind="fixed", more=drive))
    assert "is left out: the joint is fixed" in said(fixed)
    differ = TRANSMISSION.format(of_joint="", of_drive=RATIO(2) + OF_DRAKE)
    assert "<mechanicalReduction> 2 is left out: 50 is given" in said(
        read(urdf(tmp_path, more=differ))
    )
    twice = TRANSMISSION.format(of_joint="", of_drive=ROTOR(2) + ROTOR(3))
    assert "<motorInertia> 3 is left out: 2 is given" in said(read(urdf(tmp_path, more=twice)))
    with pytest.raises(
        ModelError, match=r"r\.urdf:8: transmission\.t: the inertia of a rotor is neg"
    ):
        read(urdf(tmp_path, more=drive.replace("0.5", "-0.5")))


def test_what_is_left_out_of_urdf_is_named_once_with_its_effect(tmp_path):
    more = """<gazebo reference="a"><turnGravityOff>true</turnGravityOff><mu1>3</mu1></gazebo>
      <gazebo reference="b"><turnGravityOff>true</turnGravityOff></gazebo>
      <gazebo reference="j"><springStiffness>5</springStiffness><plugin name="p"/></gazebo>
      <gazebo><static>false</static></gazebo><other:thing/><aslo/>"""
    lines = said(read(urdf(tmp_path, more=more)))
    assert "7 gazebo: <turnGravityOff> is left out: the link would have no weight (1 more" in lines
    assert "9 gazebo: <springStiffness> is left out: a spring would act" in lines
    assert "9 gazebo: <plugin> is left out: plugins are not run" in lines
    assert "not part of URDF, and left out: <other:thing> (line 10), <aslo> (line 10)" in lines
    assert len(lines.splitlines()) == 4


# ------------------------------------------------------------------------------------------- MJCF

BODY = """<body><joint name="j" axis="0 1 0" {joint}/>
  <geom type="sphere" size=".1" pos=".3 0 0" mass="1"/>{inner}</body>"""
MJCF = """<mujoco model="m">{option}<worldbody>{bodies}</worldbody>{more}</mujoco>"""
DRIVE = '<actuator><motor {target} gear="10" armature="0.02" damping="0.003"/></actuator>'
OF_JOINT = 'stiffness="5" damping="3" armature=".7"'


def mjcf(folder, joint="", option="", more="", inner=""):
    path = folder / "a.xml"
    path.write_text(
        MJCF.format(option=option, more=more, bodies=BODY.format(joint=joint, inner=inner))
    )
    return path


DRIVES = [
    ("", "", DRIVE.format(target='joint="j"')),
    (OF_JOINT, "", 2 * DRIVE.format(target='joint="j"')),
    ('type="slide" pos="0 0 0"', "", DRIVE.format(target='jointinparent="j"')),
    ("", "", '<tendon><fixed name="t"><joint joint="j" coef="3"/></fixed></tendon>'
     + DRIVE.format(target='tendon="t"')),
    (OF_JOINT, '<option><flag damper="disable"/></option>', DRIVE.format(target='joint="j"')),
    (OF_JOINT, '<option><flag spring="disable"/></option>', ""),
    (OF_JOINT, '<option><flag spring="disable" damper="disable"/></option>', ""),
    (OF_JOINT, '<option><flag gravity="disable" contact="disable"/></option>', ""),
]  # fmt: skip


@pytest.mark.parametrize(("joint", "option", "more"), some_slow(DRIVES, DRIVES[:1]))
def test_drives_and_flags_are_those_of_mujoco(tmp_path, joint, option, more):
    path = mjcf(tmp_path, joint, option, more)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qacc[:] = 0.2, 0.5, 1
    mujoco.mj_inverse(model, data)
    robot = read(path)
    np.testing.assert_allclose(torque(robot, 0.2, 0.5, 1), data.qfrc_inverse, rtol=1e-12)
    assert said(robot) == ""


@pytest.mark.slow
def test_constraints_limits_and_frictions_that_flags_disable_are_none(tmp_path):
    joint, inner = 'frictionloss="2" range="-10 10"', '<body name="k"><joint name="k"/></body>'
    inner = inner.replace("</body>", '<geom size=".1"/></body>')
    equality = '<equality><joint joint1="j" joint2="k"/></equality>'
    robot = read(mjcf(tmp_path, joint, "", equality, inner))
    assert (len(robot.relations), robot.joints[0].terms[0].friction.text) == (1, "2.0")
    for flags, counts in (
        ('equality="disable"', (0, "2.0", False)),
        ('frictionloss="disable"', (1, "0", False)),
        ('limit="disable"', (1, "2.0", True)),
        ('constraint="disable"', (0, "0", True)),
    ):
        option = f"<option><flag {flags}/></option>"
        robot = read(mjcf(tmp_path, joint, option, equality, inner))
        first = robot.joints[0]
        unlimited = first.limits[0].upper is None
        assert (len(robot.relations), first.terms[0].friction.text, unlimited) == counts


@pytest.mark.slow
def test_what_is_left_out_of_mjcf_is_named_with_its_effect(tmp_path):
    inner = """<body name="k" gravcomp="1"><joint name="ball" type="ball" range="0 30"/>
      <geom size=".1"/></body>"""
    option = '<option density="1.2"/>'
    lines = said(read(mjcf(tmp_path, "", option, DRIVE.format(target='joint="ball"'), inner)))
    assert "option: left out of option 'density': bodies would be slowed down" in lines
    assert "2 body.k: left out of body 'k': gravity would be compensated in part" in lines
    assert "left out of actuator" in lines
    assert "it acts on a ball joint, where its armature and damping would count" in lines
    assert "joint.ball: left out of joint 'ball': the angle of a ball has a limit" in lines
    # MuJoCo drops all passive forces with springs and dampers
    option = '<option density="1.2"><flag spring="disable" damper="disable"/></option>'
    assert "option" not in said(read(mjcf(tmp_path, "", option, "", inner)))


@pytest.mark.slow
def test_what_is_left_out_of_files_that_are_included_is_named_with_file_and_line(tmp_path):
    """Bodies and actuators without a name are counted, and no line is made up for them."""
    (tmp_path / "parts").mkdir()
    drives = '<actuator>\n<include file="parts/drive.xml"/>\n<include file="parts/other.xml"/>'
    tendon = '<tendon><spatial name="t"><site site="p"/><site site="q"/></spatial></tendon>'
    main = mjcf(
        tmp_path, inner='<site name="q"/>',
        more='<worldbody><site name="p" pos="9 9 9"/></worldbody><include file="parts/a.xml"/>'
        + tendon + drives + "</actuator>",
    )  # fmt: skip
    drive = '<mujocoinclude>\n<motor {} tendon="t" armature="1"/></mujocoinclude>'
    texts = {
        "a": '<mujoco>\n<include file="b.xml"/></mujoco>',
        "b": """<mujoco><worldbody>

          <body name="k" gravcomp="1"><joint name="h" type="ball" range="0 9"/><geom size=".1"/>
            <body gravcomp="2"><joint type="ball" range="0 9"/><geom size=".1"/></body></body>
          </worldbody></mujoco>""",
        "drive": drive.format(""),
        "other": drive.format('name="d"'),
    }
    for name, text in texts.items():
        (tmp_path / "parts" / f"{name}.xml").write_text(text)
    found = {(x.file.removeprefix(f"{tmp_path}/"), x.line, x.key): x.message
             for x in read(main).warnings}  # fmt: skip
    assert {place: words.partition(":")[0] for place, words in found.items() if place[2]} == {
        ("parts/b.xml", 3, "body.k"): "left out of body 'k', 'body_3'",
        ("parts/b.xml", 3, "joint.h"): "left out of joint 'h', 'body_3_joint'",
        ("a.xml", 0, "actuator.actuator_1"): "left out of actuator 'actuator_1', 'd'",
    }
    (tmp_path / "parts" / "drive.xml").write_text(drive.format('name="c"'))
    places = [(x.file, x.line) for x in read(main).warnings if x.key == "actuator.c"]
    assert places == [(f"{tmp_path}/parts/drive.xml", 2)]


@pytest.mark.slow
def test_limits_of_forces_at_joints_are_efforts(tmp_path):
    (joint,) = read(mjcf(tmp_path, 'actuatorfrcrange="-3 3"')).joints
    assert joint.limits[0].effort == 3
    robot = read(mjcf(tmp_path, 'actuatorfrcrange="-3 4"'))
    assert "actuatorfrcrange [-3.0, 4.0] is left out" in said(robot)


@pytest.mark.parametrize(
    ("limit", "named"),
    [('range="0 30"', True), ("", False), ('range="0 30" limited="false"', False)],
)
def test_limits_of_balls_are_named(tmp_path, limit, named):
    inner = f'<body name="k"><joint name="ball" type="ball" {limit}/><geom size=".1"/></body>'
    words = "joint.ball: left out of joint 'ball': the angle of a ball has a limit"
    assert (words in said(read(mjcf(tmp_path, inner=inner)))) == named


# -------------------------------------------------------------------------------------------- SDF

SDF = """<sdf version="1.11"><model name="m">
  <joint name="j" type="{kind}"><parent>world</parent><child>a</child>
    <axis><xyz>0 0 1</xyz><dynamics><damping>3</damping><friction>0.5</friction></dynamics></axis>
    {joint}</joint>
  <link name="a">{link}<inertial><pose>0.3 0 0 0 0 0</pose><mass>1</mass><inertia><ixx>0.01</ixx>
    <iyy>0.02</iyy><izz>0.025</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia>
    {inertial}</inertial></link>{model}
</model></sdf>"""


def sdf(folder, kind="revolute", joint="", link="", inertial="", model=""):
    path = folder / "m.sdf"
    path.write_text(SDF.format(kind=kind, joint=joint, link=link, inertial=inertial, model=model))
    return path


def test_rotors_of_sdf_add_to_the_mass_matrix(tmp_path):
    rotor = "<drake:rotor_inertia>0.0005</drake:rotor_inertia>"
    robot = read(sdf(tmp_path, joint=rotor + "<drake:gear_ratio>50</drake:gear_ratio>"))
    assert mass(robot, 0.7) == pytest.approx(ALONE + 1.25, rel=1e-14)
    assert mass(read(sdf(tmp_path, joint=rotor)), 0.7) == pytest.approx(ALONE + 0.0005, rel=1e-14)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "continuous", "ball"])
def test_damping_and_friction_of_every_joint_of_sdf(tmp_path, kind):
    (joint,) = read(sdf(tmp_path, kind), ReadOptions()).joints
    assert {(x.damping.text, x.friction.text) for x in joint.terms} == {("3", "0.5")}


def test_what_is_left_out_of_sdf_is_named_with_its_effect(tmp_path):
    link = """<gravity>false</gravity><kinematic>true</kinematic><enable_wind>1</enable_wind>
      <velocity_decay><linear>0.1</linear><angular>0</angular></velocity_decay><a:b/>"""
    lines = said(read(sdf(
        tmp_path, link=link,
        inertial="<fluid_added_mass><xx>1</xx><yy>0.0</yy></fluid_added_mass>",
        joint="<physics><ode><max_force>5</max_force><cfm>1</cfm></ode></physics><lnik/>",
        model='<plugin name="p" filename="p.so"/><gripper name="g"/>'
        "<drake:linear_spring_damper><drake:k>1</drake:k></drake:linear_spring_damper>",
    )))  # fmt: skip
    for words in (
        "link.a: <gravity> is left out: the link would have no weight",
        "link.a: <kinematic> is left out", "link.a: <enable_wind> is left out",
        "link.a: <linear> is left out: the velocity", "link.a: <xx> is left out: the fluid",
        "joint.j: <max_force> is left out: a motor", "model.m: <plugin> is left out",
        "model.m: <gripper> is left out", "<lnik> is left out; did you mean <link>?",
        "not part of SDF, and left out: <a:b> (line 6)",
        "<drake:linear_spring_damper> is left out: a spring and damper between two points would",
    ):  # fmt: skip
        assert words in lines, words
    assert "<yy>" not in lines
    assert "<angular>" not in lines
    assert "left out" not in said(read(sdf(tmp_path, link="<gravity>true</gravity>")))


def test_load_warns_of_what_is_left_out_each_time():
    """Built the first time, found up to date the second."""
    file = file_of(
        """<robot name="weightless"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>
<gazebo reference="arm"><gravity>false</gravity></gazebo></robot>""",
        "urdf",
    )
    for _ in range(2):
        with pytest.warns(UserWarning, match=r"model.urdf:4: gazebo: <gravity> is left out"):
            module(file, functions=["inverse_dynamics"])


@pytest.mark.parametrize(
    ("of_include", "of_model"), [("", "<static>true</static>"), ("<static>1</static>", "")]
)
@pytest.mark.parametrize("around", ["", "model", "world"])
def test_robots_of_sdf_that_are_static_are_named(tmp_path, around, of_include, of_model):
    path = sdf(tmp_path, model=of_model + '<link name="b"/>')
    path.write_text(path.read_text().replace("<parent>world", "<parent>b"))
    include = f"<include><uri>m.sdf</uri>{of_include}</include>"
    outer = f'<{around} name="o">{include}</{around}>' if around else include
    (tmp_path / "o.sdf").write_text(f'<sdf version="1.11">{outer}</sdf>')
    lines = said(read(tmp_path / "o.sdf"))
    assert "<static> is left out: the model would not move" in lines
    assert ("nothing fixes this link" in lines) == (around == "model")  # which is not static


@pytest.mark.parametrize("kind", ["ball", "fixed"])
def test_rotors_of_sdf_at_joints_without_an_axis_are_named(tmp_path, kind):
    rotor = "<drake:rotor_inertia>0.5</drake:rotor_inertia><drake:gear_ratio>2</drake:gear_ratio>"
    words = f"joint.j: the rotor inertia 0.5 is left out: the joint is {kind}"
    assert words in said(read(sdf(tmp_path, kind, rotor)))
    assert "left out" not in said(read(sdf(tmp_path, kind, rotor.replace("0.5", "0"))))
