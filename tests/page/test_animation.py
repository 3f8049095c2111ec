"""`symgen.animate`: which motions it takes, what the page holds, and what links look like."""

import base64
import json
import re
import sys
import zlib
from types import SimpleNamespace

import numpy as np
import pytest

import symgen
from symgen.description.foreign.process import is_installed
from symgen.errors import ModelError, RequestError
from symgen.options import ReadOptions
from symgen.page import shapes
from symgen.page.animation import COLOURS, FRAMES_PER_SECOND, Curves, by_unit
from symgen.page.shapes import shapes_of
from tests.mechanisms.models import FOUR_BAR
from tests.modules import module
from tests.page.test_page import EXAMPLES, outline


@pytest.fixture(scope="module")
def two_link():
    functions = "forward_kinematics,point_motion,forward_dynamics,inverse_dynamics"
    return module(EXAMPLES / "two_link.yaml", functions=functions)


def packed(text, name):
    content = re.search(f'<script type="text/plain" id="{name}">(.*?)</script>', text)[1]
    return np.frombuffer(zlib.decompress(base64.b64decode(content)), dtype="<f4")


@pytest.mark.slow
def test_it_holds_the_poses_of_a_simulated_motion(two_link, tmp_path):
    run = symgen.simulate(two_link, [0.3, 0.5], [0, 0], np.linspace(0, 1, 601), tau=[0.1, 0])
    text = symgen.animate(two_link, run, tmp_path / "a.html").read_text(encoding="utf-8")
    outline(text)
    facts = json.loads(re.search(r'id="player">(.*?)</script>', text)[1])
    assert facts["frames"] == FRAMES_PER_SECOND + 1
    assert [curve["title"].split()[0] for curve in facts["curves"]] == ["Angles", "Torques"]
    free = symgen.animate(two_link, run.assign(tau=0 * run.tau), tmp_path / "b.html")
    assert "Torques" not in re.search(r'id="player">(.*?)</script>', free.read_text())[1]
    assert [link["parent"] for link in facts["figure"]["links"]] == [-1, 0]
    poses = packed(text, "poses").reshape(facts["frames"], 2, 3, 4)
    expected = two_link.forward_kinematics(run["q"].values[::10])[:, :, :3, :]
    np.testing.assert_allclose(poses, expected, atol=1e-6)


def test_curves_have_one_unit_each_and_sliders_their_axis(tmp_path):
    cart = module(EXAMPLES / "cart_pole.yaml", functions="forward_kinematics,inverse_dynamics")
    run = SimpleNamespace(t=np.arange(2.0), q=np.ones((2, 2)), tau=np.outer([0, 1], [3, 0]))
    text = symgen.animate(cart, run, tmp_path / "a.html").read_text(encoding="utf-8")
    facts = json.loads(re.search(r'id="player">(.*?)</script>', text)[1])
    curves = [(curve["title"], curve["names"], curve["colours"]) for curve in facts["curves"]]
    assert curves == [
        ("Displacements (m)", ["rail"], [0]), ("Angles (rad)", ["hinge"], [1]),
        ("Forces (N)", ["rail"], [0]),
    ]  # fmt: skip
    assert all(f".curve-{k} {{ --part: {x}; }}" in text for k, x in enumerate(COLOURS))
    slides = [link.get("slides") for link in facts["figure"]["links"]]
    assert slides == [[1.0, 0.0, 0.0], None]
    arm = module(EXAMPLES / "plan" / "quadrotor_arm.yaml", functions="mass_matrix")
    units = {unit: [arm.position_names[k] for k in x] for unit, x in by_unit(arm, False).items()}
    assert [name[-2:] for name in units["m"]] == ["_x", "_y", "_z"]
    assert [name[-2:] for name in units[""]] == ["qx", "qy", "qz", "qw"]
    assert len(units["rad"]) == arm.nq - 7 and len(by_unit(arm, True)["rad"]) == arm.n - 3


def test_limits_are_drawn_near_curves_in_the_colour_of_a_single_one():
    limits = np.array([[-2, 3], [-2, 9], [-np.inf, np.inf]])
    curves = Curves("", ["a", "b", "c"], np.array([[1, 0, 0], [1.5, 0, 0]]), [0.5], limits)
    assert curves.lines == {0.5: None, -2: None, 3: 0}


def test_a_mechanism_is_drawn_with_its_loops(tmp_path):
    linkage = module(FOUR_BAR, functions="forward_kinematics", runtime_parameters="L")
    run = np.linspace(0, 1, 5), np.zeros((5, linkage.n))
    text = symgen.animate(linkage, run, tmp_path / "a.html", parameters={"L": 1.25}).read_text()
    figure = json.loads(re.search(r'id="player">(.*?)</script>', text)[1])["figure"]
    assert figure["fixed"] == {"L": 1.25, "d": 2.0}
    assert figure["links"][0]["com"][0] == ["/", "L", 2]
    (pin,) = figure["loops"]
    assert [(end["link"], end["at"][0]) for end in pin["ends"]] == [(1, 2), (2, 1.5)]


@pytest.mark.parametrize(("run", "words"), [
    (([0, 1], [[0, 0], [1, 1], [2, 2]]), "found (2,) and (3, 2)"),
    (([0, 1], [[0], [1]]), "q (samples, 2)"),
    (([0], [[0, 0]]), "at least 2 samples"),
    (([0, 0], [[0, 0], [1, 1]]), "times must increase"),
    (([0, 1], [[0, 0], [np.nan, 1]]), "finite"),
    ("motion.npz", 'numpy.load("plan.npz"); found str'),
])  # fmt: skip
def test_what_is_no_motion_is_told(two_link, tmp_path, run, words):
    with pytest.raises(RequestError, match=re.escape(words)):
        symgen.animate(two_link, run, tmp_path / "a.html")
    with pytest.raises(RequestError, match=r"m\.gif' is no name for a page"):
        symgen.animate(two_link, run, tmp_path / "m.gif")
    assert not list(tmp_path.iterdir())


def test_a_title_is_text(two_link, tmp_path):
    run = np.linspace(0, 1, 5), np.zeros((5, 2))
    path = symgen.animate(two_link, run, tmp_path / "a.html", title="<b>&")
    assert "<h1>&lt;b&gt;&amp;</h1>" in path.read_text(encoding="utf-8")


URDF = """<robot name="arm">
  <material name="blue"><color rgba="0 0 1 1"/></material>
  <link name="foot"><visual><geometry><sphere radius="0.1"/></geometry></visual></link>
  <joint name="turn" type="revolute"><parent link="foot"/><child link="upper link"/>
    <axis xyz="0 0 1"/><limit effort="1" velocity="1"/></joint>
  <link name="upper link">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="1 0 0" rpy="0 1.5707963267948966 0"/>
      <geometry><cylinder radius="0.1" length="2"/></geometry><material name="blue"/></visual>
    <visual><geometry>{}</geometry></visual>
  </link>
</robot>
"""
BOX = '<box size="1 2 3"/>'
STILL = np.linspace(0, 1, 5), np.zeros((5, 1))
TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3.0]])
FACES = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
CORNERS = ["".join("vertex {} {} {}\n".format(*TETRAHEDRON[k]) for k in face) for face in FACES]
FACETS = [f"facet normal 0 0 0\nouter loop\n{three}endloop\nendfacet\n" for three in CORNERS]
STL = f"solid t\n{''.join(FACETS)}endsolid t\n"
OBJ = "".join("v {} {} {}\n".format(*v) for v in TETRAHEDRON) + "".join(
    f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in FACES
)


def written(folder, geometry):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "arm.urdf"
    path.write_text(URDF.format(geometry))
    return path


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    path = written(tmp_path_factory.mktemp("arm"), BOX)
    return module(path, functions="forward_kinematics")


def volume(shape):
    a, b, c = shape.vertices[shape.faces].transpose(1, 0, 2)
    return float(np.sum(np.cross(a, b) * c) / 6)


def test_boxes_cylinders_and_spheres_stand_where_the_file_says(arm, tmp_path):
    ball, rod, box = shapes_of(written(tmp_path, BOX), tuple(arm.link_names))
    assert [shape.link for shape in (ball, rod, box)] == [-1, 0, 0]
    assert rod.colour == (0, 0, 1)
    np.testing.assert_allclose(np.ptp(rod.vertices, axis=0), [2, 0.2, 0.2], atol=1e-12)
    np.testing.assert_allclose(rod.vertices.mean(axis=0), [1, 0, 0], atol=1e-12)
    assert volume(box) == pytest.approx(6)  # closed, and all faces look outwards
    assert volume(rod) == pytest.approx(2 * np.pi * 0.01, rel=0.02)
    assert volume(ball) == pytest.approx(4 / 3 * np.pi * 0.001, rel=0.05)


def test_visuals_turn_by_quaternions_as_by_angles(arm, tmp_path):
    path = written(tmp_path, BOX)
    links = tuple(arm.link_names)
    expected = [shape.vertices for shape in shapes_of(path, links)]
    half = "0.7071067811865476"
    quaternion = f'quat_xyzw="0 {half} 0 {half}"'
    path.write_text(path.read_text().replace('rpy="0 1.5707963267948966 0"', quaternion))
    for shape, vertices in zip(shapes_of(path, links), expected, strict=True):
        np.testing.assert_allclose(shape.vertices, vertices, atol=1e-12)


@pytest.mark.parametrize(("ending", "text"), [("stl", STL), ("obj", OBJ)])
@pytest.mark.parametrize(
    "where",
    ["package://arm_description/meshes/t", "package://named/meshes/t", "../meshes/t", "binary"],
)
def test_meshes_are_found_read_and_scaled(arm, tmp_path, ending, text, where):
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
    package = tmp_path / "arm_description"
    (package / "meshes").mkdir(parents=True)
    mesh = package / "meshes" / f"t.{ending}"
    if where == "binary":
        if ending == "obj":
            pytest.skip("OBJ files are text")
        mesh.write_bytes(trimesh.Trimesh(TETRAHEDRON, FACES).export(file_type="stl"))
        where = "../meshes/t"
    else:
        mesh.write_text(text)
    path = written(package / "urdf", f'<mesh filename="{where}.{ending}" scale="2 1 1"/>')
    reading = ReadOptions.of(packages={"named": package})
    *_, found = shapes_of(path, tuple(arm.link_names), reading)
    assert volume(found) == pytest.approx(2.0)


@pytest.mark.skipif(not is_installed("xacro"), reason="needs xacro: pip install 'symgen[robots]'")
def test_xacro_is_expanded_first(arm, tmp_path):
    path = written(tmp_path, '<box size="$(arg size) 2 3"/>')
    path = path.rename(path.with_suffix(".urdf.xacro"))
    reading = ReadOptions.of(arguments={"size": 2})
    *_, box = shapes_of(path, tuple(arm.link_names), reading)
    assert volume(box) == pytest.approx(12.0)


def test_the_page_holds_the_shapes_and_draws_them(arm, tmp_path):
    path = symgen.animate(arm, STILL, tmp_path / "a.html", urdf=written(tmp_path, BOX))
    text = path.read_text(encoding="utf-8")
    facts = json.loads(re.search(r'id="player">(.*?)</script>', text)[1])
    counts = [(shape["vertices"], shape["triangles"]) for shape in facts["shapes"]]
    assert counts[2] == (8, 12)
    vertices = packed(text, "vertices").reshape(-1, 3)
    assert len(vertices) == sum(count for count, _ in counts)
    np.testing.assert_allclose(np.abs(vertices[-8:]), np.tile([0.5, 1, 1.5], (8, 1)))


def test_large_meshes_are_thinned_and_keep_their_size(monkeypatch):
    x = np.linspace(0, 1, 101)
    grid = np.array([[a, b, a * b] for a in x for b in x])
    corner = np.array([101 * i + j for i in range(100) for j in range(100)])
    faces = np.vstack([
        np.column_stack([corner, corner + 101, corner + 1]),
        np.column_stack([corner + 1, corner + 101, corner + 102]),
    ])  # fmt: skip
    (thin,) = shapes.thinned([shapes.Shape(0, grid, faces, shapes.GREY)])
    assert 1000 < len(thin.faces) <= shapes.MOST_TRIANGLES
    np.testing.assert_allclose(np.ptp(thin.vertices, axis=0), 1, atol=0.03)


@pytest.mark.parametrize(("geometry", "words"), [
    ('<mesh filename="https://example.org/a.stl"/>', "only files of this machine"),
    ('<mesh filename="/etc/passwd"/>', "expected a mesh (.stl, .obj"),
    ('<mesh filename="wrong.stl"/>', "wrong.stl"),
    ('<mesh filename="large.stl"/>', "at most 0 MB are read"),
    ('<mesh filename="."/>', "expected a mesh"),
    ('<box size="1 2"/>', "size: expected 3 numbers, found '1 2'"),
    ('<box size="1 2 inf"/>', "size: expected 3 numbers"),
    ('<cone radius="1"/>', "<cone> is no box, cylinder, sphere or mesh"),
    ("", "<geometry> with a box, cylinder, sphere or mesh is missing"),
])  # fmt: skip
def test_what_cannot_be_drawn_is_told(arm, tmp_path, monkeypatch, geometry, words):
    (tmp_path / "wrong.stl").write_text("this is no mesh")
    if "large" in geometry:
        (tmp_path / "large.stl").write_bytes(bytes(5000))
        monkeypatch.setattr(shapes, "MOST_BYTES", 4000)
    with pytest.raises(RequestError, match=re.escape(words)) as told:
        symgen.animate(arm, STILL, tmp_path / "a.html", urdf=written(tmp_path, geometry))
    assert "arm.urdf, line 10" in str(told.value)
    assert not (tmp_path / "a.html").exists()


@pytest.mark.parametrize(("geometry", "words"), [
    ('<mesh filename="missing.stl"/>', "is no file"),
    ('<mesh filename="package://nowhere/a.stl"/>', "was not found beside the URDF"),
    ('<mesh filename="nul&#x9;.stl"/>', "is no file"),
])  # fmt: skip
def test_meshes_that_are_missing_are_left_out(arm, tmp_path, geometry, words):
    two = f"{geometry}</geometry></visual><visual><geometry>{geometry}"
    warning = f"left out: arm.urdf, line 10: .*{words}.* \\(and 1 more\\)"
    file = written(tmp_path, two)
    with pytest.warns(RuntimeWarning, match=f"{warning}$"):
        symgen.animate(arm, STILL, tmp_path / "a.html", urdf=file)
    file.write_text(re.sub("<(box|cylinder|sphere) .*?/>", geometry, file.read_text()))
    with pytest.warns(RuntimeWarning, match=r"left out: .*; no shape is left, the stick figure"):
        assert symgen.animate(arm, STILL, tmp_path / "b.html", urdf=file).exists()
    with pytest.raises(RequestError, match=r"the URDF .* is no file") as raised:
        symgen.animate(arm, STILL, tmp_path / "c.html", urdf=tmp_path / "none.urdf")
    assert type(raised.value) is RequestError


@pytest.mark.parametrize(("text", "error", "words"), [
    ('<robot name="o"><link name="a"/></robot>', RequestError,
     "no <visual> geometry of a link of this module"),
    ("<mujoco/>", RequestError, "is no URDF"),
    ("<robot", ModelError, "malformed XML"),
])  # fmt: skip
def test_a_file_of_another_robot_is_told(arm, tmp_path, text, error, words):
    (tmp_path / "other.urdf").write_text(text)
    with pytest.raises(error, match=words):
        shapes_of(tmp_path / "other.urdf", tuple(arm.link_names))


def test_links_that_a_file_does_not_have_are_named(arm, tmp_path):
    with pytest.warns(RuntimeWarning, match=r"arm\.urdf has no link 'hand' of this module; is it"):
        shapes_of(written(tmp_path, BOX), (*arm.link_names, "hand"))


def test_without_trimesh_or_meshcat_it_says_what_to_install(arm, tmp_path, monkeypatch):
    (tmp_path / "t.stl").write_text(STL)
    path = written(tmp_path, '<mesh filename="t.stl"/>')
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(RequestError, match=r"pip install .symgen\[animate\]"):
        symgen.animate(arm, STILL, tmp_path / "a.html", urdf=path)
    monkeypatch.setitem(sys.modules, "meshcat", None)
    with pytest.raises(RequestError, match="pip install meshcat"):
        symgen.animate(arm, STILL, tmp_path / "a.html", viewer="meshcat")
    with pytest.raises(RequestError, match="expected symgen or meshcat"):
        symgen.animate(arm, STILL, tmp_path / "a.html", viewer="rviz")


@pytest.mark.parametrize("with_shapes", [False, True])
def test_a_page_for_the_viewer_of_meshcat(arm, tmp_path, with_shapes):
    pytest.importorskip("meshcat", reason="meshcat is not installed")
    run = np.linspace(0, 1, 61), np.linspace(0, 1, 61)[:, None]
    urdf = written(tmp_path, BOX) if with_shapes else None
    path = symgen.animate(arm, run, tmp_path / "a.html", viewer="meshcat", urdf=urdf)
    text = path.read_text(encoding="utf-8")
    assert "new MeshCat.Viewer" in text
    assert '<script src="' not in text
