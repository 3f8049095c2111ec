"""Universal, cylindrical, spherical and floating joints: every formulation against Pinocchio, the
numeric model, and the same robot with its joints written out."""

import numpy as np
import pytest

from symgen.algebra.graph import Graph
from symgen.kinematics.tree import build_tree
from symgen.program.evaluation import call
from symgen.showing.equations import frames
from symgen.validation.evaluated import evaluated_subjects
from symgen.validation.oracles import NumericRobot
from symgen.validation.singularity import singularity_warnings
from symgen.validation.validate import validate
from tests.agreement.test_pinocchio import compare, worth_deriving
from tests.choosing import deep, some_deep
from tests.oracles.descriptions import described
from tests.oracles.programs import evaluated
from tests.oracles.random_models import EVERYTHING, Recipe, seeded_model_text

LARGER = Recipe(joints=(5, 12), types=EVERYTHING.types, loads=(1, 5), terms=True)
LINKS = """
  - name: trunk
    type: revolute
    origin: {{xyz: [0.1, 0.2, 0.3], rpy: [0.4, 0, 0.6]}}
    axis: [1, 2, 2]
    link: {{mass: 1, com: [0.1, 0.2, 0.3], inertia: {{xx: 0.1, yy: 0.2, zz: 0.15, xy: 0.01}}}}
{joint}
    link: {{name: body, mass: 2, com: [0.3, 0, 0.1], inertia: {{xx: 0.2, yy: 0.1, zz: 0.2}}}}
  - name: tail
    type: prismatic
    parent: {parent}
    origin: {{xyz: [0.3, 0, 0.1], rpy: [0.5, 0.4, 0]}}
    link: {{mass: 0.5, com: [0, 0.2, 0.1], inertia: {{xx: 0.02, yy: 0.03, zz: 0.04, yz: 0.01}}}}
"""
MODEL = """\
symgen: 1
name: robot
gravity: [1, 2, -9]
joints:{links}
loads: [{{name: tip, link: tail}}]
points: [{{name: tip, link: tail, point: [0.1, 0.2, 0.3]}}]
"""
ORIGIN = "    origin: {xyz: [0.2, -0.1, 0.4], rpy: [0.3, 0.2, 0.1]}\n"
UNITS = {"x": "[1, 0, 0]", "y": "[0, 1, 0]", "z": "[0, 0, 1]"}

# One composite joint, and the joints of one coordinate that it is expanded into: type and axis.
EXPANDED = {
    "universal": ("", [("revolute", "x"), ("revolute", "y")]),
    "universal, zx": ("    axes: [z, x]\n", [("revolute", "z"), ("revolute", "x")]),
    "cylindrical": ("", [("prismatic", "z"), ("revolute", "z")]),
    "cylindrical, oblique": (
        "    axis: [2, 3, 6]\n", [("prismatic", "[2, 3, 6]"), ("revolute", "[2, 3, 6]")],
    ),
    "planar": ("", [("prismatic", "x"), ("prismatic", "y"), ("revolute", "z")]),
    "planar, below": (
        "    axis: [0, 0, -2]\n",
        [("prismatic", "x"), ("prismatic", "[0, -1, 0]"), ("revolute", "[0, 0, -1]")],
    ),
    "planar, oblique": (
        "    axis: [2, 3, 6]\n",
        [("prismatic", "[87, -6, -26]"), ("prismatic", "[-6, 82, -39]"), ("revolute", "[2, 3, 6]")],
    ),
    "spherical": ("", [("revolute", letter) for letter in "zyx"]),
    "spherical, xyx": ("    sequence: xyx\n", [("revolute", letter) for letter in "xyx"]),
    "floating": (
        "", [("prismatic", x) for x in "xyz"] + [("revolute", letter) for letter in "zyx"],
    ),
    "floating, yzx": (
        "    sequence: yzx\n",
        [("prismatic", x) for x in "xyz"] + [("revolute", letter) for letter in "yzx"],
    ),
}  # fmt: skip


def composite(case):
    keys, parts = EXPANDED[case]
    n = len(parts)
    terms = f"    damping: 0.3\n    rotor_inertia: {[0.1 * i for i in range(1, n + 1)]}\n"
    joint = f"  - name: hip\n    type: {case.split(',')[0]}\n{ORIGIN}{keys}{terms}"
    return described(MODEL.format(links=LINKS.format(joint=joint.rstrip(), parent="hip")))


def written_out(case):
    """The same with one joint for every coordinate, and links without mass between them."""
    _, parts = EXPANDED[case]
    joint = ""
    for i, (kind, axis) in enumerate(parts, start=1):
        origin = ORIGIN if i == 1 else "    origin: {}\n"
        joint += f"  - name: hip_{i}\n    type: {kind}\n{origin}    axis: {UNITS.get(axis, axis)}\n"
        joint += f"    damping: 0.3\n    rotor_inertia: {0.1 * i}\n"
    return described(MODEL.format(links=LINKS.format(joint=joint.rstrip(), parent="body")))


def programs(description):
    """Every function of every formulation that is not too large for it."""
    return {
        item.name: {name: evaluated(description, item, name) for name in functions}
        for item, functions in worth_deriving(description)
    }


QUICK = ("universal, zx", "planar, oblique")


@pytest.mark.parametrize("case", some_deep(EXPANDED, QUICK))
def test_a_composite_joint_is_what_it_is_expanded_into(case):
    """Every function of every formulation; only the links between appear in no list."""
    one, many = composite(case), written_out(case)
    tree, expanded = (build_tree(description, Graph()) for description in (one, many))
    assert [joint.name for joint in tree.joints] == [joint.name for joint in expanded.joints]
    assert [joint.parent for joint in tree.joints] == [joint.parent for joint in expanded.joints]
    assert [frame.name for frame in tree.frames] == ["trunk", "body", "tail"]
    kept = [i for i, frame in enumerate(expanded.frames) if frame.name in ("trunk", "body", "tail")]
    assert len(expanded.frames) == len(kept) + len(EXPANDED[case][1]) - 1
    rng = np.random.default_rng(5)
    state = {key: rng.uniform(-2, 2, (5, tree.n)) for key in ("q", "qd", "qdd")}
    state["loads"] = rng.uniform(-9, 9, (5, 1, 6))
    all_of_one, all_of_many = programs(one), programs(many)
    for formulation, functions in all_of_one.items():
        for name, program in functions.items():
            pairs = zip(
                call(program, state), call(all_of_many[formulation][name], state), strict=True
            )
            for value, expected in pairs:
                if name in ("forward_kinematics", "jacobians", "link_motion"):
                    expected = expected[:, kept]
                np.testing.assert_allclose(value, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("case", EXPANDED)
def test_the_numeric_model_expands_alike(case):
    one, many = NumericRobot(composite(case)), NumericRobot(written_out(case))
    assert one.coordinate_names == many.coordinate_names
    assert one.link_names == ("trunk", "body", "tail")
    assert (one.n, one.n_links) == (many.n, 3)
    q, qd, qdd = np.random.default_rng(6).uniform(-2, 2, (3, one.n))
    assert one.frames(q).shape == (3, 4, 4)
    assert one.jacobians(q).shape == (3, 6, one.n)
    for a, b in (
        (one.inverse_dynamics(q, qd, qdd), many.inverse_dynamics(q, qd, qdd)),
        (one.virtual_power(q, qd, qdd), many.inverse_dynamics(q, qd, qdd)),
        (one.mass_matrix(q), many.mass_matrix(q)),
        (one.frames(q)[1:], many.frames(q)[-2:]),
    ):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("seed", some_deep(range(12), (7,)))
def test_seeded_trees_against_pinocchio(seed):
    compare(described(seeded_model_text(seed, EVERYTHING)), seed, samples=1)


@pytest.mark.parametrize("seed", deep(200, 201))
def test_larger_trees_against_pinocchio(seed):
    compare(described(seeded_model_text(seed, LARGER)), seed, samples=1)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(300, 400, 5))
def test_many_seeded_trees_against_pinocchio(seed):
    recipe = LARGER if seed % 2 else EVERYTHING
    compare(described(seeded_model_text(seed, recipe)), seed)


@pytest.mark.parametrize("seed", [38, *deep(16, 17, 18)])
def test_seeded_trees_against_the_numeric_model_and_complex_step(seed):
    description = described(seeded_model_text(seed, EVERYTHING))
    validate(description, evaluated_subjects(programs(description))).raise_if_failed()


def test_frames_are_shown_over_all_coordinates_of_a_joint():
    poses = frames(described(ROD.replace(" TERMS,", "")), "pretty").split("\n\n")
    assert [pose.splitlines()[0] for pose in poses if "in" in pose.splitlines()[0]] == [
        "arm in base =", "wrist in arm =",
    ]  # fmt: skip
    wrist = "\n".join(poses).split("wrist in arm")[1]
    assert [q for q in ("q₁", "q₂", "q₃") if q in wrist] == ["q₂", "q₃"]


# ---------------------------------------------------------------------------- singular attitudes


def test_a_spherical_joint_is_singular_where_its_axes_meet():
    for case, angle in (("spherical", np.pi / 2), ("spherical, xyx", 0.0)):
        robot = NumericRobot(composite(case))
        q = np.array([0.3, 0.5, angle, -0.7, 0.2])  # trunk, hip_1 to hip_3, tail
        bodies = robot.mass_matrix(q) - np.diag(robot.joint_terms["reflected_inertia"])
        assert np.linalg.eigvalsh(bodies)[0] < 1e-14
        q[2] += 0.5
        bodies = robot.mass_matrix(q) - np.diag(robot.joint_terms["reflected_inertia"])
        assert np.linalg.eigvalsh(bodies)[0] > 1e-4


ROD = """
symgen: 1
name: rod
joints:
  - {name: arm, type: revolute, origin: {}, axis: [1, 0, 0], link: {mass: 1, com: [0, 1, 0]}}
  - {name: wrist, type: universal, axes: [x, y], origin: {xyz: [0, 2, 0]}, TERMS,
     link: {mass: 1, com: [0, 0.3, 0]}}
"""


def test_a_mass_matrix_that_is_always_singular_names_the_composite_joint():
    """A point mass on the second axis of the wrist: turning about it moves nothing."""
    (warning,) = singularity_warnings(described(ROD.replace(" TERMS,", "")))
    assert (warning.key, warning.line) == ("joints[1]", 6)
    rotor = ROD.replace("TERMS", "rotor_inertia: [0, 0.1]")
    assert singularity_warnings(described(rotor)) == ()
