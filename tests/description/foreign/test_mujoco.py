"""MJCF as MuJoCo compiles it: the same dynamics and frames, names, refusals; strangers' files."""

import importlib.util
import re
import time
from pathlib import Path

import mujoco
import numpy as np
import pytest

import symgen
from symgen.cli import run
from symgen.description.foreign import mujoco as reader
from symgen.errors import ModelError
from symgen.formulations import formulation_named
from symgen.program.interpreter import call
from tests.choosing import deep
from tests.modules import module
from tests.oracles.comparison import evaluated, state_of
from tests.oracles.mujoco_dynamics import MujocoDynamics, disagreement

ROBOT = """<mujoco model="zoo">
  <compiler angle="degree" eulerseq="zyx"/>
  <option gravity="1 2 -9"/>
  <include file="defaults.xml"/>
  <asset>
    <mesh name="wedge" vertex="0 0 0  .1 0 0  0 .2 0  0 0 .3"/>
    <model name="claw" file="claw.xml"/>
  </asset>
  <worldbody>
    <body name="base/free" pos="1 2 3">
      <joint name="root" type="free" damping=".3" armature=".7" frictionloss=".4"/>
      <geom type="box" size=".1 .2 .3"/>
      <frame pos=".1 0 .2" euler="10 20 30">
        <body name="left arm" pos="0 .3 0" childclass="stiff">
          <joint name="s-1" pos=".1 .2 .3" axis="1 2 3" range="-30 40"/>
          <joint name="s-2" type="slide" axis="0 1 1" ref=".2"/>
          <joint name="s-3" pos="0 0 .1" axis="0 1 0" ref="15" springref="-20"/>
          <geom type="capsule" size=".05" fromto="0 0 0 .1 .2 .3"/>
          <geom type="mesh" mesh="wedge"/><site name="tip/1" pos=".1 .2 .3"/>
          <body name="ball"><joint name="b" type="ball" class="loose" pos="0 0 .1"/>
            <inertial pos="0 .1 0" mass="1" fullinertia=".02 .03 .025 .001 -.002 .003"/>
            <attach model="claw" body="claw" prefix="c_"/>
          </body>
        </body>
      </frame>
    </body>
    <replicate count="2" offset="0 0 1" euler="0 0 30">
      <body name="post" pos="5 0 0"><joint name="turn" axis="1 0 0"/><geom size=".1"/></body>
    </replicate>
  </worldbody>
</mujoco>
"""
DEFAULTS = """<mujocoinclude><default><default class="stiff">
  <joint stiffness="3" damping=".5" armature=".1" frictionloss=".2"/></default>
  <default class="loose"><joint damping=".4" armature=".2" frictionloss=".1"/></default></default>
</mujocoinclude>"""
CLAW = """<mujoco><worldbody><body name="claw" pos="0 0 .2"><joint axis="0 1 0"/>
  <geom type="ellipsoid" size=".1 .02 .05"/></body></worldbody></mujoco>"""


@pytest.fixture
def zoo(tmp_path):
    for name, text in {"zoo.xml": ROBOT, "defaults.xml": DEFAULTS, "claw.xml": CLAW}.items():
        (tmp_path / name).write_text(text)
    return tmp_path / "zoo.xml"


@pytest.mark.slow
def test_the_dynamics_are_those_of_mujoco(zoo):
    n, worst = disagreement(zoo)
    assert n == 6 + 3 + 3 + 1 + 2
    assert worst.max() < 1e-13


def test_names_frames_and_points_are_those_of_the_file(zoo):
    robot = symgen.read(zoo)
    assert robot.name == "zoo"
    links = [joint.link.name for joint in robot.joints]
    assert {"base_free", "left_arm", "ball", "c_claw", "post0", "post1"} <= set(links)
    of_friction = ("base_free_origin", "base_free")
    assert [(p.name, p.link) for p in robot.points] == [("tip_1", "left_arm"), of_friction]
    said = " ".join(w.message for w in robot.warnings)
    assert "body 'base/free' is base_free" in said or "link 'base/free' is base_free" in said
    assert ", and 3 more; file_names of the module has those" in said
    oracle = MujocoDynamics(zoo)
    q = state_of(robot, 1)["q"]
    oracle.place(q)
    mujoco.mj_forward(oracle.model, oracle.data)
    program = evaluated(robot, formulation_named("newton_euler"), "forward_kinematics")
    (poses,) = call(program, {"q": q})
    for link, body in (("base_free", "base/free"), ("left_arm", "left arm"), ("c_claw",) * 2):
        pose, found = poses[links.index(link)], oracle.data.body(body)
        np.testing.assert_allclose(pose[:3, 3], found.xpos, atol=1e-14)
        np.testing.assert_allclose(pose[:3, :3].ravel(), found.xmat, atol=1e-14)
    (shoulder,) = (joint for joint in robot.joints if joint.name == "s_1")
    limits = shoulder.limits[0]
    np.testing.assert_allclose((limits.lower, limits.upper), np.radians((-30, 40)))


CONSTRAINTS = "constraints,constraint_jacobian"


def changed(path, *pairs):
    text = path.read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return path


@pytest.mark.slow
def test_tendons_are_refused_by_name_or_left_out_with_the_loops(zoo, monkeypatch):
    loops = """<equality><connect name="pin" body1="post0" body2="post1" anchor="0 0 0"/></equality>
      <tendon><fixed name="cord" stiffness="1"><joint joint="s-1" coef="1"/></fixed>
      <fixed name="gauge"><joint joint="s-1" coef="1"/></fixed></tendon></mujoco>"""
    changed(zoo, ("</mujoco>", loops))
    with pytest.raises(ModelError, match="not available: tendon 'cord'; --without-loops"):
        symgen.read(zoo)  # a gauge only measures
    robot = symgen.read(zoo, without_loops=True)
    assert [p.name for p in robot.points] == ["tip_1", "base_free_origin"]
    assert not robot.loops
    assert any("left out: connect 'pin', tendon 'cord'" in x.message for x in robot.warnings)
    monkeypatch.chdir(zoo.parent)
    assert run(["convert", "zoo.xml", "zoo.yaml"]) == 2
    assert run(["convert", "zoo.xml", "zoo.yaml", "--without-loops"]) == 0
    assert symgen.read("zoo.yaml").name == "zoo"


LEG = """
<mujoco model="leg"><option gravity="0 0 -9.81"/><worldbody>
  <body name="thigh" pos="0 0 1"><joint name="hip" axis="0 1 0" ref="0.3"/>
    <inertial pos=".2 0 0" mass="1" diaginertia=".1 .1 .1"/>
    <body name="shank" pos=".5 0 0" euler="0 20 10"><joint name="knee" axis="0 1 0"/>
      <inertial pos=".2 0 0" mass="1" diaginertia=".1 .1 .1"/>
      <site name="ankle" pos=".4 0 0" euler="10 20 30"/></body></body>
  <body name="rod" pos="1 0 1"><joint name="crank" axis=".1 1 0"/>
    <inertial pos=".2 0 0" mass="1" diaginertia=".1 .1 .1"/><site name="eye" pos=".1 0 .2"/></body>
</worldbody><equality>
  <connect name="pin" body1="shank" body2="rod" anchor=".1 .2 .3"/>
  <weld name="seam" body1="thigh" body2="rod" anchor=".1 .2 .3"/>
  <weld body1="thigh"/>
  <joint name="gear" joint1="hip" joint2="crank" polycoef="0.1 2 3 0 -1"/>
  <joint joint1="knee"/>
  <connect site1="ankle" site2="eye"/>
  <connect name="idle" site1="ankle" site2="eye" active="false"/>
</equality></mujoco>
"""


def constrained(folder, text):
    """The module of a file, and the model and state of MuJoCo."""
    path = folder / "leg.xml"
    path.write_text(text)
    model = mujoco.MjModel.from_xml_path(str(path))
    return module(path, functions=CONSTRAINTS), model, mujoco.MjData(model)


@pytest.mark.slow
def test_equality_constraints_are_loops_and_relations(tmp_path):
    """Values and Jacobians are MuJoCo's; of the turns of welds, those where they are closed."""
    leg, model, data = constrained(tmp_path, LEG)
    loops = symgen.read(tmp_path / "leg.xml").loops
    assert [loop.type for loop in loops] == ["spherical", "fixed", "fixed", "spherical"]
    names = leg.constraint_names
    turns = [k for k, name in enumerate(names) if name.endswith(("axis", "_u_v"))]
    same = np.setdiff1d(np.arange(len(names)), turns)
    theirs = [*range(15), 17, 18, 19, 15, 16]  # relations stand behind the loops here
    for seed in range(3):
        q, qd = np.random.default_rng(seed).uniform(-1, 1, (2, 3))
        data.qpos[:], data.qvel[:] = q, qd
        mujoco.mj_forward(model, data)
        expected, errors = data.efc_J.reshape(-1, 3)[theirs], data.efc_pos[theirs]
        value, slopes = leg.constraints(q), leg.constraint_jacobian(q)
        assert len(names) == len(expected) == data.nefc == 20
        assert np.allclose(slopes[same], expected[same], atol=1e-12)
        assert np.allclose(value[same], errors[same], atol=1e-12)
        rank = np.linalg.matrix_rank(expected[turns], tol=1e-9)
        assert np.linalg.matrix_rank(slopes[turns], tol=1e-9) == rank


@pytest.mark.slow
def test_equality_constraints_of_free_bodies_and_balls(tmp_path):
    """Jacobians are MuJoCo's, whose free bodies have velocities along the axes of the world."""
    floating = LEG.replace('<joint name="crank" axis=".1 1 0"/>', "<freejoint/>").replace(
        '<joint name="knee" axis="0 1 0"/>', '<joint name="knee" type="ball"/>'
    )
    equality = """<equality><connect name="pin" body1="shank" body2="rod" anchor=".1 .2 .3"/>
      <weld name="seam" site1="ankle" site2="eye"/></equality></mujoco>"""
    leg, model, data = constrained(tmp_path, floating.split("<equality>")[0] + equality)
    xyzw = [0, 2, 3, 4, 1, 5, 6, 7, 9, 10, 11, 8]
    random = np.random.default_rng(1)
    for _ in range(3):
        q, qd = leg.random_configuration(random), random.uniform(-1, 1, leg.n)
        data.qpos[xyzw], data.qvel[:] = q, qd
        mujoco.mj_forward(model, data)
        expected, turn = data.efc_J.reshape(-1, leg.n).copy(), np.zeros(9)
        mujoco.mju_quat2Mat(turn, data.qpos[8:])
        expected[:, 4:7] = expected[:, 4:7] @ turn.reshape(3, 3)
        slopes = leg.constraint_jacobian(q)
        assert np.allclose(leg.constraints(q)[:6], data.efc_pos[:6], atol=1e-12)
        assert np.allclose(slopes[:6], expected[:6], atol=1e-12)


@pytest.mark.parametrize(("old", "new", "message"), [
    ('axis="0 1 1"', 'axis="0 1 1" damping="1 2"', "joint.s-2: .*polynomials"),
    ("defaults.xml", "../../secret.xml", "MuJoCo does not compile this file: "),
    ("<geom size=", "<geom sise=",
     "zoo.xml:28: MuJoCo does not compile this file: size 0"),
    ('<option gravity="1 2 -9"/>',
     '<extension><plugin plugin="mujoco.pid"><instance name="i"/></plugin></extension>',
     "plugins are programs, and are not run"),
    *deep(('count="2"', 'count="4000"', "more than 3000 bodies")),
])  # fmt: skip
def test_what_is_refused(zoo, old, new, message):
    with pytest.raises(ModelError, match=message):
        symgen.read(changed(zoo, (old, new)))


@pytest.mark.slow
def test_a_process_that_ends_or_hangs_is_a_message(zoo, monkeypatch, tmp_path):
    program = tmp_path / "program.py"
    monkeypatch.setattr(reader, "PROGRAM", program)
    for code, message in (
        ("import os; os.abort()", "not enough time or memory"),
        ("print('no JSON')", "not enough time or memory"),
        ("import time; time.sleep(60)", "not done after 0.5 s"),
    ):
        program.write_text(code)
        monkeypatch.setattr(reader, "SECONDS", 0.5 if "sleep" in code else 20)
        start = time.monotonic()
        with pytest.raises(ModelError, match=message):
            symgen.read(zoo)
        assert time.monotonic() - start < 20


LOOKS = """<mujoco><asset><mesh name="m" file="gone.stl"/>
  <texture name="t" type="2d" file="gone.png"/><material name="wood" texture="t"/></asset>
<worldbody><body name="a"><joint/><geom type="mesh" mesh="m" material="wood"/>
  <inertial pos="0 0 .1" mass="2" diaginertia=".1 .1 .1"/></body></worldbody></mujoco>"""


def test_shapes_whose_files_are_missing_are_left_out_where_no_mass_follows_from_them(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(LOOKS)
    robot = symgen.read(path)
    said = [x.message for x in robot.warnings if x.key == "asset"]
    assert len(said) == 1 and said[0].startswith("left out: what files say of shapes and looks")
    path.write_text(re.sub("<inertial.*?/>", "", LOOKS))
    with pytest.raises(ModelError, match="does not compile this file: Error opening file"):
        symgen.read(path)


def test_without_mujoco_a_file_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "arm.xml").write_text(LOOKS)
    monkeypatch.setattr(reader, "is_installed", lambda _: False)
    with pytest.raises(ModelError, match=r"arm.xml:1: MuJoCo reads this format: pip install 'sym"):
        symgen.read(tmp_path / "arm.xml")


def _gymnasium():
    spec = importlib.util.find_spec("gymnasium")
    folder = Path(spec.origin).parent / "envs" / "mujoco" / "assets" if spec else None
    return sorted(folder.glob("*.xml")) if folder else []


@pytest.mark.deep
@pytest.mark.skipif(not _gymnasium(), reason="without gymnasium: pip install 'symgen[test-robots]'")
@pytest.mark.parametrize("path", _gymnasium(), ids=lambda path: path.stem)
def test_the_models_of_gymnasium(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its warnings into a file here
    model = mujoco.MjModel.from_xml_path(str(path))
    _, worst = disagreement(path, without_loops=bool(model.neq))
    assert worst.max() < 1e-10
