"""MJCF files: what they become, agreement with MuJoCo, messages."""

import re
import tracemalloc
from pathlib import Path

import mujoco
import numpy as np
import pytest

import symgen
from symgen.description import read
from symgen.errors import ModelError
from symgen.options import ReadOptions
from tests.oracles.mujoco_dynamics import disagreement

pytestmark = pytest.mark.usefixtures("without_mujoco")

ARM = """<mujoco model="arm">
  <compiler angle="radian"/>
  <option gravity="0 1 -9"/>
  <default>
    <joint damping="0.5"/>
    <default class="wrist"><joint axis="1 0 0" armature="0.1" range="-1 2"/></default>
  </default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="upper" pos="0 0 0.3" euler="0.1 -0.2 0.3">
      <joint name="shoulder" pos="0.05 0.1 -0.02" axis="0 1 1"/>
      <inertial pos="0.1 0.02 -0.03" mass="2.5"
                fullinertia="0.02 0.03 0.025 0.001 -0.002 0.003"/>
      <body name="mount" pos="0.2 0 0" axisangle="1 2 2 0.7">
        <inertial pos="0 0 0.1" mass="0.5" diaginertia="0.01 0.01 0.005"/>
        <body name="hand" pos="0.5 0 0" quat="2 0.2 0 1" childclass="wrist">
          <joint name="bend"/>
          <joint name="slide" type="slide" axis="0 0.6 0.8" pos="0 0 0.1"/>
          <inertial pos="0 0.1 0" mass="1" quat="0.9 0.1 0.2 0.3"
                    diaginertia="0.01 0.02 0.025"/>
        </body>
      </body>
      <body name="other" pos="0 0.2 0" xyaxes="0 1 0 -1 0 0.2">
        <joint name="turn" axis="0 0 1" ref="0.3" stiffness="2" springref="0.1"/>
        <inertial pos="0 0 0" mass="1" diaginertia="0.01 0.02 0.02"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


INERTIAL = '<inertial pos="0 0 0.1" mass="0.5" diaginertia="0.01 0.01 0.005"/>'
GEOMS = (
    '<geom size="0.1"/><geom size="0.2" pos="0.1 0.2 0.3" mass="0.4"/>',
    '<geom type="capsule" size="0.1 0.3" euler="0.1 0.2 0.3" pos="1 0 0" density="20"/>',
    '<geom type="capsule" size="0.1" fromto="0.1 0.2 -0.3 0.4 0.2 0.5"/><geom mass="0" size="9"/>',
    '<geom type="cylinder" size="0.1 0.3" zaxis="1 2 0"/>',
    '<geom type="box" size="0.1 0.2 0.3" quat="1 2 3 4"/><geom size="0.1" group="3"/>',
    '<geom type="box" size="0.1" fromto="0 0 0 0.1 0.5 0.2"/>',
    '<geom type="box" size="0.1 0.2" fromto="0 0 0.5 0 0 0"/>',
    '<geom type="ellipsoid" size="0.1 0.2 0.3" xyaxes="0 1 0 0 0 1"/>',
    '<geom type="ellipsoid" size="0.1 0.2 0.3" fromto="0 0 0 0.1 0.5 0.2"/>',
)


def written(folder, text):
    path = Path(folder) / "arm.xml"
    path.write_text(text)
    return path


def compare_with_mujoco(folder, text):
    path = written(folder, text)
    _, worst = disagreement(path)
    assert worst.max() < 1e-10
    return read(path)


def test_the_dynamics_are_those_of_mujoco(tmp_path):
    description = compare_with_mujoco(tmp_path, ARM)
    (warning,) = description.warnings
    assert "read without MuJoCo" in warning.message
    assert [joint.link.name for joint in description.joints] == [
        "upper_1", "upper", "mount", "hand_1", "hand_2", "hand", "other",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<compiler angle="radian"/>', ""),  # degrees
        ('angle="radian"', 'angle="radian" eulerseq="ZYX"'),
        ('angle="radian"', 'angle="radian" eulerseq="zxz"'),
        ('xyaxes="0 1 0 -1 0 0.2"', 'zaxis="1 2 -3"'),
        ('xyaxes="0 1 0 -1 0 0.2"', 'zaxis="0 0 -2"'),
        ('xyaxes="0 1 0 -1 0 0.2"', 'xyaxes="1 2 3 0 1 0"'),
        ('<body name="mount"', '<body name="mount" childclass="wrist"'),
        ('<joint name="turn"', '<joint name="turn" class="wrist"'),
        ('<joint name="bend"/>', '<joint name="bend" pos="0.1 0.2 0.3" ref="-0.4"/>'),
        ('type="slide"', 'type="slide" ref="0.5"'),
        ('<option gravity="0 1 -9"/>', ""),
        ('<option gravity="0 1 -9"/>', '<option gravity="0 0 1"/><option gravity="1 2 3"/>'),
        ('<option gravity="0 1 -9"/>', '<option><flag gravity="disable"/></option>'),
        (
            '<option gravity="0 1 -9"/>',
            '<option><flag gravity="disable"/></option><option><flag gravity="enable"/></option>',
        ),
        ('angle="radian"/>', 'angle="radian" eulerseq="zYx"/><compiler autolimits="true"/>'),
        ("<default>", '<default><joint damping="3" armature="0.2"/></default><default>'),
        ('quat="2 0.2 0 1"', 'quat="0.70710678 1e-8 0.70710678 2e-8"'),
        ('quat="2 0.2 0 1"', 'quat="0.6991667425534 0.1056747 0.6991667425534 0.1056748"'),
        ('axisangle="1 2 2 0.7"', 'axisangle="1e-9 1 0 1.5707963"'),
        *((INERTIAL, geoms) for geoms in GEOMS),
        ("<default>", '<default><geom density="3" type="box" size="1 2 3"/></default><default>'),
        (
            '<compiler angle="radian"/>',
            '<compiler angle="radian" inertiafromgeom="true" inertiagrouprange="1 2"/>',
        ),
        ('angle="radian"', 'angle="radian" inertiafromgeom="false"'),
    ],
)
def test_settings_mean_what_mujoco_makes_of_them(old, new, tmp_path):
    assert old in ARM
    compare_with_mujoco(tmp_path, ARM.replace(old, new))


def test_limits_in_degrees_and_radians(tmp_path):
    bend, slide = read(written(tmp_path, ARM)).joints[3:5]
    assert (bend.limits[0].lower, bend.limits[0].upper) == (-1, 2)
    text = ARM.replace('<compiler angle="radian"/>', "")
    bend, slide = read(written(tmp_path, text)).joints[3:5]
    np.testing.assert_allclose((bend.limits[0].lower, bend.limits[0].upper), np.radians((-1, 2)))
    assert (slide.limits[0].lower, slide.limits[0].upper) == (-1, 2)


def test_a_free_body_and_a_ball(tmp_path):
    text = ARM.replace('<joint name="shoulder" pos="0.05 0.1 -0.02" axis="0 1 1"/>', "<freejoint/>")
    text = text.replace('<joint name="turn" axis="0 0 1" ref="0.3" stiffness="2" springref="0.1"/>',
                        '<joint name="turn" type="ball" damping="0"/>')  # fmt: skip
    description = compare_with_mujoco(tmp_path, text)
    assert [joint.type for joint in description.joints] == [
        "floating", "fixed", "revolute", "prismatic", "fixed", "spherical",
    ]  # fmt: skip
    assert [x.key for x in description.warnings] == [""]
    joints = read(tmp_path / "arm.xml", ReadOptions(angles=True)).joints
    assert {(joints[k].representation, joints[k].sequence) for k in (0, 5)} == {("angles", "zyx")}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('type="slide"', 'type="slider"', "no joint type 'slider'; did you mean 'slide'?"),
        ('<default class="wrist"', '<default class="wirst"', "did you mean 'wirst'?"),
        ('mass="2.5"', 'mass="2.5" quat="1 0 0 0"', "'fullinertia' says its own orientation"),
        ('mass="0.5" ', "", "<inertial> needs the attribute 'mass'"),
        ('diaginertia="0.01 0.01 0.005"', "", "needs either 'diaginertia' or 'fullinertia'"),
        ('diaginertia="0.01 0.01 0.005"', 'diaginertia="1 1"', "diaginertia: expected 3 numbers"),
        ('pos="0.2 0 0"', 'pos="0.2 0 0" quat="1 0 0 0"', "an orientation is given once"),
        ('axisangle="1 2 2 0.7"', 'axisangle="0 0 0 1"', "axisangle: the direction is zero"),
        ("<worldbody>", '<worldbody><include file="a.xml"/>', "<include> is not available"),
        ("<worldbody>", '<worldbody><frame pos="0 0 1"/>', "<frame> is not available"),
        ('angle="radian"', 'eulerseq="xy"', "eulerseq: expected three of"),
        ('angle="radian"/>', 'eulerseq="xyq"/><compiler angle="radian"/>', "found 'xyq'"),
        ('angle="radian"', 'coordinate="global"', "global coordinates are not read"),
        ('angle="radian"', 'angle="Degree"', "angle: expected degree or radian"),
        ('angle="radian"', 'settotalmass="3"', "settotalmass changes masses"),
        ('name="mount"', 'name="upper"', "'upper' is a body already, in line 10"),
        ('name="slide"', 'name="bend"', "'bend' is a joint already, in line 17"),
        ('<joint name="bend"/>', '<joint name="bend" type="free"/>', "a free joint is the only"),
        ('quat="2 0.2 0 1"', 'quat="1e-200 0 0 0"', "quat: the direction is zero"),
        ('axisangle="1 2 2 0.7"', 'axisangle="1e200 0 0 1"', "axisangle: the direction is zero"),
        ('mass="1"', 'mass="-1"', "the mass is negative"),
    ],
)  # fmt: skip
def test_a_wrong_file_says_what_is_wrong_and_where(old, new, message, tmp_path):
    assert old in ARM
    with pytest.raises(ModelError) as caught:
        read(written(tmp_path, ARM.replace(old, new)))
    assert message in str(caught.value)
    assert all(fault.line > 0 for fault in caught.value.faults)


SMALL = """<mujoco>
  {settings}
  <worldbody>
    <body name="a" {body}>
      {joint}
      {inertial}
      {more}
    </body>
  </worldbody>
</mujoco>
"""
PARTS = {
    "settings": "",
    "body": "",
    "joint": '<joint name="j" axis="0 1 0"/>',
    "inertial": '<inertial pos="0.1 0 0" mass="1" diaginertia="1 1 1"/>',
    "more": "",
}
INERTIAL = PARTS["inertial"]


def by_mujoco_or_none(text):
    try:
        return mujoco.MjModel.from_xml_string(text)
    except ValueError:
        return None


@pytest.mark.parametrize(
    ("part", "text", "message"),
    [
        ("inertial", INERTIAL + INERTIAL, "<inertial> stands once in a <body>, here in line 6"),
        ("inertial", INERTIAL.replace('pos="0.1 0 0"', ""), "needs the attribute 'pos'"),
        ("body", 'childclass="x"', "body.a: there is no default class 'x'"),
        ("joint", '<joint class="x"/>', "there is no default class 'x'"),
        ("joint", '<joint limited="xx"/>', "limited: expected true or false or auto, found 'xx'"),
        ("joint", '<joint limited="true"/>', "limited: expected a range"),
        ("joint", '<joint limited="true" range="1 0"/>', "limited: expected a range"),
        ("joint", '<joint damping="1 2 3 4"/>', "damping: expected a number"),
        ("joint", '<joint armature="1 2"/>', "armature: expected a number"),
        ("settings", "<default><joint/><joint/></default>", "<joint> stands once in a <default>"),
        ("settings", "<default><default><joint/></default></default>", "needs a class"),
        ("settings", '<default class="y"/>', "the outermost class is called 'main', not 'y'"),
        ("settings", '<default><default class="y"/><default class="y"/></default>',
         "'y' is a default class already"),
        ("settings", '<default><default class="main"/></default>', "is a default class already"),
        ("settings", '<compiler inertiafromgeom="yes"/>',
         "inertiafromgeom: expected true or false or auto"),
        ("settings", '<compiler autolimits="auto"/>', "autolimits: expected true or false"),
    ],
)  # fmt: skip
def test_what_mujoco_refuses_is_refused(part, text, message, tmp_path):
    text = SMALL.format(**{**PARTS, part: text})
    assert by_mujoco_or_none(text) is None
    with pytest.raises(ModelError, match=re.escape(message)):
        read(written(tmp_path, text))


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("joint", '<joint name="j" stiffness="2 0" damping="3 0 0"/>'),
        ("joint", '<joint name="j" limited="auto" range="0 1"/>'),
        ("joint", '<joint name="j" limited="true" range="0 1"/>'),
        ("joint", '<joint name="j" limited="false" range="0 1"/>'),
        ("joint", '<joint name="j" range="1 0"/>'),
        ("settings", '<compiler inertiafromgeom="true"/>'),
        ("settings", "<default/><default><joint damping='2'/></default>"),
        ("settings", '<default class="main"><joint damping="2"/></default>'),
        ("settings", '<compiler autolimits="false"/>'),
        ("body", 'childclass="main"'),
    ],
)
def test_what_mujoco_takes_is_taken_as_it_does(part, text, tmp_path):
    text = SMALL.format(**{**PARTS, part: text})
    model = by_mujoco_or_none(text)
    (joint,) = read(written(tmp_path, text)).joints
    (terms,), (limits,) = joint.terms, joint.limits
    assert float(terms.damping.text) == model.dof_damping[0]
    assert float(terms.stiffness.text) == model.jnt_stiffness[0]
    assert (limits.upper is not None) == bool(model.jnt_limited[0])
    if limits.upper is not None:
        np.testing.assert_allclose([limits.lower, limits.upper], model.jnt_range[0])
    assert float(joint.link.mass.text) == model.body_mass[-1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"joint": '<joint stiffness="1 2"/>'}, "stiffness: a polynomial, here of 2 coefficients"),
        ({"joint": '<joint damping="0 0 1"/>'}, "damping: a polynomial, here of 3 coefficients"),
        ({"settings": '<compiler inertiafromgeom="true"/>',
          "more": '<geom size="1" shellinertia="true"/>'},
         "body.a: shellinertia: its mass is not computed here"),
    ],
)  # fmt: skip
def test_what_mujoco_takes_and_is_not_available_is_named(changes, message, tmp_path):
    text = SMALL.format(**{**PARTS, **changes})
    assert by_mujoco_or_none(text) is not None
    with pytest.raises(ModelError, match=re.escape(message)):
        read(written(tmp_path, text))


def test_a_table_has_no_need_of_a_mass(tmp_path):
    table = '<body name="table"><geom size="1"/></body></worldbody>'
    compare_with_mujoco(tmp_path, ARM.replace("</worldbody>", table))


def test_made_up_names_take_nobody_elses(tmp_path):
    text = """<mujoco><worldbody>
      <body name="a"><joint/><joint axis="1 0 0"/>
        <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
        <body name="a_1"><joint name="a_joint"/>
          <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
        <body name="a_joint_joint"><joint name="a" type="ball"/>
          <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
      </body></worldbody></mujoco>"""
    robot = read(written(tmp_path, text))
    links = [joint.link.name for joint in robot.joints]
    assert links[1:] == ["a", "a_1", "a_joint_joint"]
    names = [*links, *(joint.name for joint in robot.joints if joint.name != joint.link.name)]
    assert len(set(names)) == len(names)


def test_defaults_are_not_for_free_joints_and_no_range_is_no_limit(tmp_path):
    text = ARM.replace('<joint name="shoulder" pos="0.05 0.1 -0.02" axis="0 1 1"/>', "<freejoint/>")
    text = text.replace('<joint name="bend"/>', '<joint name="bend" range="0 0"/>')
    robot = read(written(tmp_path, text))
    assert {float(x.damping.text) for x in robot.joints[0].terms} == {0.0}
    assert robot.joints[2].limits[0].lower is None


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('name="mount"', 'name="mount" gravcomp="1"', "body.mount"),
        ('gravity="0 1 -9"', 'gravity="0 1 -9" density="1.2"', "option"),
        ('name="bend"', 'name="bend" springdamper="1 1"', "joint.bend"),
    ],
)
def test_what_is_left_out_though_it_pushes_is_a_warning(old, new, key, tmp_path):
    _, warning = read(written(tmp_path, ARM.replace(old, new))).warnings
    assert warning.key == key
    assert "left out" in warning.message


@pytest.mark.deep
def test_many_classes_with_many_attributes_take_no_memory(tmp_path):
    attributes = " ".join(f'a{k}=""' for k in range(20_000))
    classes = "".join(f'<default class="c{k}"/>' for k in range(20_000))
    defaults = f"<default><joint {attributes}/>{classes}</default>"
    path = written(tmp_path, ARM.replace("<default>", f"{defaults}<default>", 1))
    tracemalloc.start()
    read(path)
    assert tracemalloc.get_traced_memory()[1] < 200e6
    tracemalloc.stop()


def test_constraints_are_refused_by_name_or_left_out(tmp_path):
    equality = """<equality><joint name="pair" joint1="bend" joint2="turn"/></equality>
      <tendon><fixed><joint joint="bend" coef="1"/></fixed></tendon></mujoco>"""
    path = written(tmp_path, ARM.replace("</mujoco>", equality))
    with pytest.raises(ModelError) as caught:
        read(path)
    words = [str(fault) for fault in caught.value.faults]
    assert len(words) == 2
    assert "joint 'pair'; --without-loops" in words[0]
    assert "fixed; --without-loops" in words[1]
    robot = symgen.read(path, without_loops=True)
    assert [w.message for w in robot.warnings[1:]] == ["left out: joint 'pair'", "left out: fixed"]


@pytest.mark.parametrize("kind", ["ball", "free"])
@pytest.mark.parametrize("term", ["damping", "armature", "frictionloss", "stiffness"])
def test_terms_of_angular_velocities(tmp_path, kind, term):
    text = ARM.replace(
        'name="shoulder" pos="0.05 0.1 -0.02" axis="0 1 1"',
        f'name="s" class="plain" type="{kind}" {term}="0.5"',
    ).replace("<default>", '<default><default class="plain"><joint damping="0"/></default>', 1)
    path = written(tmp_path, text)
    with pytest.raises(ModelError, match=f"joint.s: {term} of a {kind} joint: .*--angles"):
        read(path, ReadOptions(angles=True))
    robot = read(path)
    key = {"armature": "rotor_inertia", "frictionloss": "friction"}.get(term, term)
    columns = [float(getattr(terms, key).text) for terms in robot.joints[0].terms]
    of_travel = 3 * (kind == "free")
    beside = term in ("armature", "frictionloss")  # what acts along the axes of the world
    assert columns == [0.0 if beside else 0.5] * of_travel + [0.5] * 3
    added = 0.5 if of_travel and term == "armature" else 0.0
    assert float(robot.joints[0].added_mass.text) == added
    rubbing = of_travel and term == "frictionloss"
    assert [point.link for point in robot.points] == (["upper"] if rubbing else [])
    assert len(robot.forces) == bool(rubbing)
