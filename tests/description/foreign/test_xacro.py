"""xacro: what it expands to, where faults are said to be, and what expressions may not do."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import symgen
from symgen.cli import run
from symgen.description.foreign import xacro as reader
from symgen.errors import ModelError, RequestError
from tests.choosing import some_slow

pytestmark = pytest.mark.skipif(
    not reader.is_installed("xacro"), reason="needs xacro: pip install 'symgen[robots]'"
)

ARM = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="segments" default="2"/>
  <xacro:include filename="$(find parts)/urdf/segment.xacro"/>
  <xacro:property name="mass" value="${2 * 1.5 * cos(0)}"/>
  <xacro:property name="data" value="${xacro.load_yaml('sizes.yaml')}"/>
  <link name="l0"/>
  <xacro:segment k="1"/>
  <xacro:if value="${$(arg segments) > 1}"><xacro:segment k="2"/></xacro:if>
</robot>
"""
SEGMENT = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="segment" params="k">
    <link name="l${k}"><inertial><mass value="${mass}"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="j${k}" type="continuous">
      <parent link="l${k - 1}"/><child link="l${k}"/><axis xyz="0 0 1"/>
      <origin xyz="0 0 ${data.lengths[k]}"/></joint>
  </xacro:macro>
</robot>
"""


@pytest.fixture
def arm(tmp_path):
    """A workspace of two packages, as ROS has them."""
    (tmp_path / "arm_description/urdf").mkdir(parents=True)
    (tmp_path / "other_name/urdf").mkdir(parents=True)
    (tmp_path / "arm_description/package.xml").write_text("<package><name>arms</name></package>")
    (tmp_path / "other_name/package.xml").write_text("<package><name>parts</name></package>")
    (tmp_path / "other_name/urdf/segment.xacro").write_text(SEGMENT)
    path = tmp_path / "arm_description/urdf/arm.urdf.xacro"
    path.write_text(ARM)
    (path.parent / "sizes.yaml").write_text("lengths: [0, 0.25, 0.5]\n")
    return path


def parts(arm):
    return {"parts": arm.parents[2] / "other_name"}


def test_arguments_packages_and_data(arm, monkeypatch, capfd, refusal):
    robot = symgen.read(arm, packages=parts(arm))
    assert robot.coordinate_names == ("j1", "j2")
    assert [float(joint.link.mass.text) for joint in robot.joints] == [3.0, 3.0]
    assert [float(joint.origin.xyz[2].text) for joint in robot.joints] == [0.25, 0.5]
    monkeypatch.chdir(arm.parents[1])
    command = ["convert", "urdf/arm.urdf.xacro", "arm.yaml", "--package", "parts=../other_name"]
    assert run([*command, "segments:=1"]) == 0
    assert "wrote arm.yaml, 1 coordinate" in capfd.readouterr().out
    assert symgen.read("arm.yaml").coordinate_names == ("j1",)
    assert "arguments of a xacro file are NAME:=VALUE" in refusal([*command, "segments=1"])
    assert "expected NAME=FOLDER, found 'parts'" in refusal([*command[:3], "--package", "parts"])


def test_a_package_beside_the_own_one_is_found_by_its_folder(arm):
    (arm.parents[2] / "other_name").rename(arm.parents[2] / "parts")
    assert symgen.read(arm).coordinate_names == ("j1", "j2")
    with pytest.raises(RequestError, match="NAME:=VALUE, are for xacro"):
        symgen.read(arm.parent / "sizes.yaml", arguments={"segments": 1})


def fault_of(arm, old="", new="", file=None, **options):
    path = arm if file is None else arm.parents[2] / "other_name/urdf" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ModelError) as caught:
        symgen.read(arm, packages=parts(arm), **options)
    return caught.value.faults[0]


def test_faults_are_where_they_were_written(arm):
    fault = fault_of(arm, 'value="${mass}"', 'value="-1"', "segment.xacro")
    assert (Path(fault.file).name, fault.line) == ("segment.xacro", 3)
    assert (fault.key, fault.message[:20]) == ("link.l1.mass", "the mass is negative")
    fault = fault_of(arm, '"l0"', '"l9"')
    assert (Path(fault.file).name, fault.line) == ("segment.xacro", 6)
    assert "there is no <link> named 'l0'" in fault.message


@pytest.mark.parametrize(("old", "new", "line", "message"), [
    ("cos(0)", "cosinus(0)", 4, "name 'cosinus' is not defined, in the expression '2 *"),
    ("2 * 1.5", "2 *", 4, "invalid syntax, in the expression"),
    ("<xacro:segment", "<xacro:segmnt", 7, "unknown macro name: xacro:segmnt"),
    ("$(arg segments)", "$(arg segmnts)", 8, "there is no value of the argument 'segmnts'"),
    ("$(find parts)", "$(find bits)", 3, "no package 'bits' in the folders above this file; "
     "name its folder: --package bits=FOLDER"),
    ("'sizes.yaml'", "'none.yaml'", 5, "none.yaml"),
    ("</robot>", "</robt>", 9, "malformed XML: mismatched tag"),
    ("$(find parts)/urdf/segment.xacro", "arm.urdf.xacro", 0, "a macro or file that calls"),
])  # fmt: skip
def test_a_wrong_file_says_what_is_wrong_and_where(arm, old, new, line, message):
    fault = fault_of(arm, old, new)
    assert message in fault.message
    assert (Path(fault.file).name, fault.line) == ("arm.urdf.xacro", line)


def test_an_argument_that_the_file_does_not_have(arm):
    fault = fault_of(arm, arguments={"segmnts": 1})
    assert fault.message == "there is no argument 'segmnts'; did you mean 'segments'?"


def test_what_it_makes_may_be_sdf_too(arm):
    link = '<link name="a"><pose>0 0 0</pose></link>'
    joint = '<joint name="j" type="fixed"><parent>world</parent><child>a</child></joint>'
    arm.write_text(
        '<sdf version="1.9" xmlns:xacro="http://www.ros.org/wiki/xacro"><model name="m">\n'
        f'<xacro:include filename="part.xacro"/>{joint}</model></sdf>'
    )
    (arm.parent / "part.xacro").write_text(f"<model>\n{link}</model>")
    with pytest.raises(ModelError, match=r"part.xacro:2: link.a: pose: expected 6 numbers"):
        symgen.read(arm)
    (arm.parent / "part.xacro").write_text(f"<model>{link.replace('0 0 0', '')}</model>")
    assert [joint.name for joint in symgen.read(arm).joints] == ["j"]
    arm.write_text("<mujoco/>")
    with pytest.raises(ModelError, match="xacro makes MJCF of this, which has to be a file: xacro"):
        symgen.read(arm)


def test_without_xacro_the_command_is_named(arm, monkeypatch):
    monkeypatch.setattr(reader, "is_installed", lambda _: False)
    fault = fault_of(arm, arguments={"segments": 1})
    assert "pip install 'symgen[robots]' expands such files, or expand it" in fault.message
    assert fault.message.endswith(f"xacro {arm} segments:=1 > {arm.parent / 'arm.urdf'}")


ESCAPES = (
    "[g.gi_frame.f_back.f_builtins for g in [(x for x in [1])]]", "().__class__",
    "'%s'.format(1)", "str.format_map('x', dict())", "python.vars(python.list)", "python.type(1)",
    "(lambda: 1)()", "[f for f in [1]] and (y := 1)", "open('/etc/passwd')", "__import__('os')",
    "python.list.mro()", "math.root", "xacro.load_yaml('/etc/passwd')",
    "xacro.load_yaml('../../../../../../../../etc/passwd')", "load_yaml('link')", "[0] * 10**11",
    "$(eval ().__class__)", "$(env HOME)", "$(eval env('HOME'))", "(" * 300 + ")" * 300,
    "getattr(1, 'real')",
)  # fmt: skip


@pytest.mark.parametrize("expression", some_slow(ESCAPES, ESCAPES[:6]))
def test_an_expression_only_computes(arm, expression):
    (arm.parent / "link").symlink_to("/etc/passwd")
    fault = fault_of(arm, "2 * 1.5", expression)
    assert fault.message.startswith("xacro: ")
    assert "root:" not in fault.message


@pytest.mark.parametrize("element", [
    '<xacro:include filename="/etc/passwd"/>',
    '<xacro:include filename="../../../../../../../etc/passwd"/>',
    '<xacro:include filename="/etc/*.conf"/>', '<xacro:include filename="link"/>',
    '<xacro:include filename="bomb.xacro"/>',
    '<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>',
    '<xacro:property name="p" value="${p}"/><a b="${p}"/>',
])  # fmt: skip
def test_a_file_reads_only_its_packages_and_ends(arm, element):
    (arm.parent / "link").symlink_to("/etc/passwd")
    bomb = '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
    (arm.parent / "bomb.xacro").write_text(bomb)
    fault = fault_of(arm, '<link name="l0"/>', f'{element}<link name="l0"/>')
    assert fault.message.startswith("xacro: ")
    assert "root:" not in fault.message


@pytest.mark.parametrize("call", ["open('link').read()", "getattr(1, 'real')", "str(type(1))"])
def test_an_expression_that_another_one_makes_only_computes(arm, call):
    """The builtin functions are there in ``$(eval ...)``, for xacro gives it all of them."""
    (arm.parent / "link").symlink_to("/etc/passwd")
    made = f'<xacro:property name="made" value="{call}"/><a b="$(eval ${{made}})"/>'
    fault = fault_of(arm, '<link name="l0"/>', f'{made}<link name="l0"/>')
    assert "is not allowed in expressions" in fault.message


@pytest.mark.slow
def test_it_ends_in_time(arm, monkeypatch):
    monkeypatch.setattr(reader, "SECONDS", 2)
    assert "xacro is not done after 2 s" in fault_of(arm, "2 * 1.5", "9**9**9**9").message


def test_what_the_process_may_not_do(tmp_path):
    """The audit hook holds without the check of expressions, too."""
    program = f"""
import json, runpy, sys
names = runpy.run_path({str(reader.PROGRAM)!r})
names["watch"]([{str(tmp_path)!r}])
said = []
for code in json.loads(sys.argv[1]):
    try:
        eval(compile(code, "x", "eval"))
        said.append("done")
    except BaseException as error:
        said.append(type(error).__name__)
sys.stdout.write(json.dumps(said))
"""
    (tmp_path / "own").write_text("words")
    own = str(tmp_path / "own")
    codes = (
        "open('/etc/passwd')", f"open({own!r}, 'w')", "sys.modules['os'].system('true')",
        "sys.modules['os'].listdir('/')", "sys.modules['os'].remove('x')", "__import__('socket')",
        "__import__('ctypes')", f"open({own!r}).read()",
    )  # fmt: skip
    command = [sys.executable, "-I", "-c", program, json.dumps(codes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    said = json.loads(done.stdout)
    assert said[-1] == "done"
    assert set(said[:-1]) <= {"RefusedError", "PermissionError"}
