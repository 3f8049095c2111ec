"""The 43-coordinate human: the tree of the open-tree paper, published anthropometry, its posture.

Poses, masses and torques come from Pinocchio, which knows nothing of DH rows; the anthropometric
table is written out here once more."""

import numpy as np
import pinocchio as pin
import pytest
from pytest import approx

from symgen.deriving.derivation import derived_program
from symgen.description import read
from symgen.description.expressions import evaluate
from symgen.formulations import formulation_named
from symgen.program.interpreter import call
from tests.kinematics.test_topology import UPSILON
from tests.modules import EXAMPLES
from tests.oracles.pinocchio_model import PinocchioRobot

PATH = EXAMPLES / "human43.yaml"

# de Leva (1996), table 4, males: fraction of body mass; length, mm; centre of mass and sagittal,
# transverse, longitudinal radius of gyration in per cent of the length
DE_LEVA = {
    "head": (6.94, 242.9, 50.02, 30.3, 31.5, 26.1),
    "upper_trunk": (15.96, 170.7, 29.99, 71.6, 45.4, 65.9),
    "middle_trunk": (16.33, 215.5, 45.02, 48.2, 38.3, 46.8),
    "lower_trunk": (11.17, 145.7, 61.15, 61.5, 55.1, 58.7),
    "upper_arm": (2.71, 281.7, 57.72, 28.5, 26.9, 15.8),
    "forearm": (1.62, 268.9, 45.74, 27.6, 26.5, 12.1),
    "hand": (0.61, 86.2, 79.00, 62.8, 51.3, 40.1),
    "thigh": (14.16, 422.2, 40.95, 32.9, 32.9, 14.9),
    "shank": (4.33, 440.3, 43.95, 25.1, 24.6, 10.2),
    "foot": (1.37, 258.1, 44.15, 25.7, 24.5, 12.4),
}
PAIRED = ("upper_arm", "forearm", "hand", "thigh", "shank", "foot")
UPRIGHT = ("head", "upper_trunk", "middle_trunk", "lower_trunk", "thigh", "shank")


@pytest.fixture(scope="module")
def human():
    return read(PATH)


@pytest.fixture(scope="module")
def oracle(human):
    return PinocchioRobot(human)


@pytest.fixture(scope="module")
def values(human):
    return dict(human.parameter_values)


def positions(human, oracle, q, items=None):
    poses = oracle.forward_kinematics(q)
    links = [joint.link.name for joint in human.joints]
    found = {}
    for item in human.points if items is None else items:
        local = [evaluate(x, human.parameter_values) for x in item.point]
        found[item.name] = (poses[links.index(item.link)] @ [*local, 1.0])[:3]
    return found


def test_joint_parents_are_those_of_the_paper(human):
    links = ["base", *(joint.link.name for joint in human.joints)]
    assert tuple(links.index(joint.parent) for joint in human.joints) == UPSILON
    assert {joint.type for joint in human.joints} == {"prismatic", "revolute"}
    assert [joint.type for joint in human.joints].count("prismatic") == 3


@pytest.mark.parametrize("segment", DE_LEVA)
def test_numbers_are_those_of_de_leva(values, segment):
    fraction, length, com, sag, trans, long = DE_LEVA[segment]
    assert values[f"f_{segment}"] == approx(fraction / 100, rel=1e-12)
    assert values[f"c_{segment}"] == approx(com / 100, rel=1e-12)
    assert values[segment] == approx(
        length / 1000 * (values["upright"] if segment in UPRIGHT else 1), rel=1e-12
    )
    for axis, radius in (("sag", sag), ("trans", trans), ("long", long)):
        assert values[f"{segment}_{axis}"] == approx(radius / 100 * values[segment])


def test_the_mass_is_that_of_the_body(human):
    """Segments alone have mass: 17 links of 43."""
    assert sum(DE_LEVA[name][0] * (2 if name in PAIRED else 1) for name in DE_LEVA) == approx(100)
    links = [evaluate(joint.link.mass, human.parameter_values) for joint in human.joints]
    assert sum(links) == approx(73.0, rel=1e-14)
    assert sum(mass > 0 for mass in links) == 17


def whole(oracle, links):
    """Mass, centre of mass and diagonal of the inertia about it of links at q = 0, base axes."""
    poses = oracle.forward_kinematics(np.zeros(43))
    sum_ = pin.Inertia.Zero()
    for joint, pose in zip(oracle.description.joints, poses, strict=True):
        if joint.link.name in links:
            sum_ += oracle._inertia(joint).se3Action(pin.SE3(pose))
    return sum_.mass, sum_.lever, np.diag(sum_.inertia)


@pytest.mark.parametrize("side", "rl")
def test_segments_lie_where_the_table_says(oracle, values, side):
    """Centres of mass below the upper end, inertias in anatomical axes, of the standing man."""
    hip = values["foot_height"] + values["shank"] + values["thigh"]
    shoulder = hip + 0.5155 * values["upright"]
    elbow = shoulder - values["upper_arm"]
    upper_ends = {
        "head": ("head_and_neck", 1.741),
        "lower_trunk": ("pelvis", hip + values["lower_trunk"]),
        "thigh": (f"{side}_thigh", hip),
        "shank": (f"{side}_shank", hip - values["thigh"]),
        "upper_arm": (f"{side}_upper_arm", shoulder),
        "forearm": (f"{side}_forearm", elbow),
        "hand": (f"{side}_hand", elbow - values["forearm"]),
    }
    for segment, (link, upper_end) in upper_ends.items():
        mass, com, inertia = whole(oracle, (link,))
        fraction, _, place, sag, trans, long = DE_LEVA[segment]
        length = values[segment]
        assert mass == approx(fraction / 100 * 73)
        assert com[2] == approx(upper_end - place / 100 * length)
        if segment in ("forearm", "hand"):  # the palms face the thighs
            sag, trans = trans, sag
        radii = np.array([sag, trans, long]) / 100 * length
        np.testing.assert_allclose(inertia, mass * radii**2, rtol=1e-12)


@pytest.mark.parametrize("side", "rl")
def test_foot_and_toes_are_the_foot_of_the_table(human, oracle, values, side):
    """Mass, place along the foot and longitudinal radius; the others but for unequal heights."""
    mass, com, inertia = whole(oracle, (f"{side}_foot", f"{side}_toes"))
    fraction, length, place, sag, trans, long = DE_LEVA["foot"]
    heel = positions(human, oracle, np.zeros(43))[f"{side}_heel"]
    assert mass == approx(fraction / 100 * 73)
    assert com[0] - heel[0] == approx(place / 100 * length / 1000)
    m_toes, m_rest, drop = values["m_toes"], values["m_midfoot"], values["ball_down"] / 2
    heights = m_toes * m_rest / mass * drop**2  # which the table does not have
    radii = np.array([long, trans, sag]) / 100 * length / 1000
    np.testing.assert_allclose(inertia, mass * radii**2 + [heights, heights, 0], rtol=1e-12)


def test_the_trunk_is_its_two_parts(oracle, values):
    mass, com, inertia = whole(oracle, ("trunk",))
    parts = [DE_LEVA["middle_trunk"], DE_LEVA["upper_trunk"]]
    masses = np.array([part[0] for part in parts]) / 100 * 73
    lengths = np.array([part[1] for part in parts]) / 1000 * values["upright"]
    bottoms = values["hip_height"] + values["lower_trunk"] + np.array([0, lengths[0]])
    heights = bottoms + lengths * (1 - np.array([part[2] for part in parts]) / 100)
    assert mass == approx(masses.sum())
    np.testing.assert_allclose(com, [0, 0, masses @ heights / mass], atol=1e-12)
    apart = masses @ (heights - com[2]) ** 2
    radii = np.array([part[3:] for part in parts]) / 100 * lengths[:, np.newaxis]
    np.testing.assert_allclose(inertia, masses @ radii**2 + [apart, apart, 0], rtol=1e-12)


def test_he_stands_on_the_floor_at_full_stature(human, oracle):
    points = positions(human, oracle, np.zeros(43))
    np.testing.assert_allclose(points["vertex"], [0, 0, 1.741], atol=1e-12)
    for name in ("r_heel", "l_heel", "r_toe_tip", "l_toe_tip"):
        assert points[name][2] == approx(0, abs=1e-12)
    for load in positions(human, oracle, np.zeros(43), human.loads[:4]).values():
        assert load[2] == approx(0, abs=1e-12)
    assert points["r_toe_tip"][0] - points["r_heel"][0] == approx(0.2581)
    assert points["r_fingertip"][1] < points["r_heel"][1] < 0 < points["l_heel"][1]


def test_left_mirrors_right(human, oracle):
    """Equal coordinates on both sides: mirrored poses, masses, centres of mass, inertias."""
    joints = {joint.name: k for k, joint in enumerate(human.joints)}
    mirror = np.diag([1.0, -1.0, 1.0])
    rng = np.random.default_rng(1)
    q = np.zeros(43)
    for name, k in joints.items():
        if name.startswith("r_"):
            q[k] = q[joints[f"l_{name[2:]}"]] = rng.uniform(-1, 1)
    poses = oracle.forward_kinematics(q)
    points = positions(human, oracle, q)
    points |= positions(human, oracle, q, human.loads)
    for name in points:
        if name.startswith("r_"):
            np.testing.assert_allclose(points[f"l_{name[2:]}"], mirror @ points[name], atol=1e-14)
    for name, k in joints.items():
        if not name.startswith("r_"):
            continue
        right, left = (
            oracle._inertia(human.joints[i]).se3Action(pin.SE3(poses[i]))
            for i in (k, joints[f"l_{name[2:]}"])
        )
        assert right.mass == left.mass
        np.testing.assert_allclose(left.lever, mirror @ right.lever, atol=1e-14)
        np.testing.assert_allclose(left.inertia, mirror @ right.inertia @ mirror, atol=1e-14)


FORWARD, UP, LEFT = np.eye(3)[[0, 2, 1]]
BENT, PRONATED = {"r_elbow_flexion": 1.57}, {"r_elbow_flexion": 1.57, "r_wrist_flexion": 1.57}
MOTIONS = (
    ("r_hip_flexion", "r_heel", FORWARD, {}), ("r_hip_adduction", "r_heel", LEFT, {}),
    ("r_hip_rotation", "r_toe_tip", LEFT, {}), ("r_knee_flexion", "r_heel", -FORWARD, {}),
    ("r_knee_rotation", "r_toe_tip", LEFT, {}), ("r_ankle_dorsiflexion", "r_toe_tip", UP, {}),
    ("r_ankle_inversion", "r_ground", LEFT, {}), ("r_toes_extension", "r_toe_tip", UP, {}),
    ("r_clavicle_protraction", "r_fingertip", FORWARD, {}),
    ("r_clavicle_elevation", "r_fingertip", UP, {}),
    ("r_shoulder_flexion", "r_fingertip", FORWARD, {}),
    ("r_shoulder_adduction", "r_fingertip", LEFT, {}),
    ("r_shoulder_rotation", "r_fingertip", LEFT, BENT),
    ("r_elbow_flexion", "r_fingertip", FORWARD, {}),
    ("r_forearm_pronation", "r_fingertip", -UP, PRONATED),
    ("r_wrist_flexion", "r_fingertip", LEFT, {}), ("r_wrist_deviation", "r_fingertip", FORWARD, {}),
    ("pelvis_x", "mid_hip", FORWARD, {}), ("pelvis_y", "mid_hip", LEFT, {}),
    ("pelvis_z", "mid_hip", UP, {}), ("pelvis_rotation", "r_toe_tip", LEFT, {}),
    ("pelvis_obliquity", "l_heel", UP, {}), ("spine_extension", "vertex", -FORWARD, {}),
    ("neck_bending", "vertex", -LEFT, {}), ("neck_flexion", "vertex", FORWARD, {}),
    ("neck_rotation", "vertex", LEFT, {"neck_flexion": 0.5}),
)  # fmt: skip
"""Joint, point, direction in which a small positive angle moves it, posture; left mirrors right."""


@pytest.mark.parametrize(("joint", "point", "direction", "bent"), MOTIONS)
def test_joints_move_the_right_way(human, oracle, joint, point, direction, bent):
    names = [each.name for each in human.joints]
    still = np.zeros(43)
    for name, angle in bent.items():
        still[names.index(name)] = angle
    moved = still + 0.1 * np.eye(43)[names.index(joint)]
    before, after = (
        positions(human, oracle, q) | positions(human, oracle, q, human.loads)
        for q in (still, moved)
    )
    assert (after[point] - before[point]) @ direction > 0.002
    if joint[:2] == "r_":
        assert all(np.allclose(after[name], before[name]) for name in after if name[0] != "r")


def test_standing_on_both_feet_needs_no_force_at_the_pelvis(human, oracle):
    """Half the weight on each sole, below the centre of mass: the global coordinates are free."""
    loads = np.zeros((len(human.loads), 6))
    com = pin.centerOfMass(oracle.model, oracle.data, np.zeros(43))
    names = [load.name for load in human.loads]
    for name in ("r_ground", "l_ground"):
        loads[names.index(name), 2] = 73 * 9.81 / 2
        loads[names.index(name), 4] = -com[0] * 73 * 9.81 / 2  # moment: the ankle is behind
    program = derived_program(human, formulation_named("newton_euler"), "inverse_dynamics")
    (tau,) = call(program, {"loads": loads})
    np.testing.assert_allclose(tau[:5], 0, atol=1e-11)
    assert abs(tau[21]) < 1e-11  # the trunk stands in balance on the spine
