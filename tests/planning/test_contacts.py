"""Contacts in plans: what stands, which rows are independent, derivatives, faults of task files."""

import numpy as np
import pytest

from symgen.description import read
from symgen.errors import ModelError
from symgen.planning import reading
from symgen.planning.placements import PlacedRates
from symgen.planning.quantities import MotionSamples, Quantity
from symgen.planning.splines import Profile
from symgen.planning.standing import Ground
from symgen.planning.support import Lines, edges, widest
from symgen.planning.transcription import transcribe
from tests.modules import EXAMPLES, file_of
from tests.planning.derivatives import agree_with_differences
from tests.planning.robots import example, refuses

NAMES = ("l_heel_in", "l_toe_in", "r_heel_in", "r_toe_in", "l_heel_out")
RIGHT = """symgen_task: 1
time: 0.6
mirrored: {pelvis_x: 0.2, pelvis_y: -pelvis_y, pelvis_qx: -pelvis_qx, pelvis_qz: -pelvis_qz,
           l_hip_yaw: -r_hip_yaw, l_hip_roll: -r_hip_roll, l_ankle_roll: -r_ankle_roll,
           l_hip: r_hip, l_knee: r_knee, l_ankle: r_ankle}
objective: {effort: 1}
profile: {segments: 3, check: midpoints}
contacts:
  ground: {normal: [0, 0, 1], height: 0, friction: 0.5}
  sets:
    left: [l_heel_in, l_toe_in]
    right: [r_heel_in, r_toe_in]
  phases:
    - {until: 1/3, on: [left, right]}
    - {until: 1, on: [left]}
  places: {l_heel_in: [~, 0.1]}
  clearance: 0
"""
TORQUES = [f"inverse_dynamics{kind}" for kind in ("", "_derivatives", "_load_derivatives")]
CALLED = (*TORQUES, "forward_kinematics", "jacobians", "point_motion")
WRONG = [  # what stands in place of what in RIGHT; line, words of the message
    ("sets:", "set:", 10, "did you mean 'sets'?"),
    ("[l_heel_in, l_toe_in]", "[l_hel_in, l_toe_in]", 11, "did you mean 'l_heel_in'?"),
    ("[l_heel_in, l_toe_in]", "[]", 11, "a set without points"),
    ("[l_heel_in, l_toe_in]", "l_heel_in", 11, "expected a list of points"),
    ("[r_heel_in, r_toe_in]", "[r_heel_in, l_toe_in]", 12, "is in the set 'left' already"),
    ("on: [left, right]", "on: [left, rigt]", 14, "did you mean 'right'?"),
    ("on: [left, right]", "off: [left]", 14, "unknown key; known: until, on"),
    (", on: [left, right]", "", 14, "'on' is missing"),
    ("until: 1/3, ", "", 14, "'until' is missing"),
    ("until: 1/3", "until: 0", 14, "above 0 and up to 1"),
    ("until: 1/3", "until: 1.5", 14, "above 0 and up to 1, found 1.5"),
    ("until: 1/3", "until: third", 14, "unknown name 'third'"),
    ("until: 1,", "until: 1/3,", 15, "above 0.3333 and up to 1"),
    ("until: 1,", "until: 0.5,", 15, "the last phase ends at 1"),
    ("until: 1/3", "until: 0.4", 14, "6 steps of equal length; the nearest one is 1/3"),
    ("normal: [0, 0, 1]", "normal: [0, 0, 0]", 9, "has no direction"),
    ("normal: [0, 0, 1]", "normal: [0, 0]", 9, "expected 3 numbers"),
    ("normal: [0, 0, 1]", "norm: [0, 0, 1]", 9, "did you mean 'normal'?"),
    ("height: 0", "height: low", 9, "unknown name 'low'"),
    ("friction: 0.5", "friction: 0", 9, "above 0"),
    ("friction: 0.5", "friction: -0.5", 9, "above 0"),
    ("places: {l_heel_in: [~, 0.1]}", "places: {l_heel: [0, 0]}", 16, "did you mean"),
    ("{l_heel_in: [~, 0.1]}", "{l_heel_in: [0]}", 16, "two numbers, ~ for a free one"),
    ("places: {l_heel_in: [~, 0.1]}", "places: [0, 0]", 16, "expected POINT: [x, y]"),
    ("clearance: 0", "clearance: some", 17, "unknown name 'some'"),
    ("clearance: 0", "clearance: -0.1", 17, "a length of 0 or more"),
    ("clearance: 0", "margin: -0.1", 17, "a length of 0 or more"),
    ("clearance: 0", "margin: 0.2", 17, "0.2 m is more than phase 2 leaves: its points stand"),
    ("clearance: 0", "margins: 0", 17, "did you mean 'margin'?"),
    ("clearance: 0", "forces: equal", 17, "expected found or shared"),
    ("clearance: 0", "forces: shared\n  sets: {left: [l_heel_in]}", 18, "twice"),
    ("r_hip, l_knee", "-r_hip, l_knee", 8, "is the image of 'l_heel_in'"),
    ("pelvis_y: -pelvis_y", "qdd: 1", 3, "mirrored, or free: write ~"),
    ("profile: {segments: 3, check: midpoints}", "method: collocation", 8, "not available yet"),
    ("check: midpoints", "check: midpoints, knots: few", 7, "expected instants or segments"),
]  # fmt: skip


@pytest.fixture(scope="module")
def walker():
    return example("plan/small_humanoid", CALLED, loads=NAMES)


@pytest.fixture
def task(walker):
    return reading.read(file_of(RIGHT), walker)


def standing_on(walker, points, more=()):
    contacts = {"sets": {"all": points}, "phases": [{"on": ["all"]}], **dict(more)}
    ends = {"start": {"q": {"pelvis_x": 0}}, "goal": {"q": {"pelvis_x": 0}}}
    more = {"contacts": contacts, "guess": {"q": 0}}
    return reading.read({"symgen_task": 1, "time": 1, **ends, **more}, walker)


@pytest.mark.parametrize(("was", "now", "line", "words"), WRONG)
def test_wrong_contacts(walker, was, now, line, words):
    assert was in RIGHT
    refuses(walker, RIGHT.replace(was, now), line, words)


def test_axes_of_the_ground_begin_with_x(walker):
    """They are turned into the plane, so that places keep their meaning on any slope."""
    for normal, first in (((1e-4, 0, 1), 0), ((0.5, 0, 1), 0), ((0, 0.5, 1), 0), ((1, 0, 0), 1)):
        more = {"ground": {"normal": list(normal)}}
        axes = standing_on(walker, ["l_heel_in"], more).contacts.axes
        assert axes[0, first] > 0.8
        assert np.allclose(np.cross(axes[0], axes[1]), axes[2])


def test_points_need_loads(walker):
    with pytest.raises(ModelError, match="rebuild it with --load l_toe_out"):
        standing_on(walker, ["l_toe_out"])


def test_forces_begin_and_end_at_0(walker, task):
    """At a change a point stands if it does on either side, and bears if it does on both; the first
    instant belongs to the image of the last phase, in which the right foot stands alone."""
    ground = Ground.of(task, walker, 7, Profile(3, 3, 2))
    left, right = ground.schedule.standing[:, 0], ground.schedule.standing[:, 2]
    assert left.tolist() == [True] * 7
    assert right.tolist() == [True, True, True, False, False, False, True]
    assert ground.schedule.bearing[:, 0].tolist() == [False, *[True] * 6]
    assert ground.schedule.bearing[:, 2].tolist() == [True, True, *[False] * 5]
    resting = ground.schedule.resting
    assert np.flatnonzero(resting[:, 0]).tolist() == [0]  # it comes on as the motion begins
    assert np.flatnonzero(resting[:, 2]).tolist() == [2, 6]  # it leaves, and comes on at the end


@pytest.mark.parametrize(("points", "rows"), [(1, 3), (2, 5), (3, 6)])
def test_independent_rows_of_a_point_a_line_a_face(walker, points, rows):
    """Of a foot that stands, three coordinates of a point, five of two, six of a face are held."""
    task = standing_on(walker, ["l_heel_in", "l_toe_in", "l_heel_out"][:points])
    ground = Ground.of(task, walker, 3, Profile(3, 2))
    independent = ground._independent(task, np.ones(18, dtype=bool))
    assert independent[1].sum() == rows
    assert independent[1][:, 2].all()


@pytest.mark.parametrize("more", ["clearance: 0", "margin: 0.01\n  forces: shared"])
def test_derivatives(walker, more):
    task = reading.read(file_of(RIGHT.replace("clearance: 0", more)), walker)
    random, profile = np.random.default_rng(0), Profile(3, 3, 2, tuple(range(6, 18)))
    x = 0.1 * random.normal(size=transcribe(task, walker, profile, 2).unknowns)
    x[profile.controls * walker.n] = 0.6
    agree_with_differences(transcribe(task, walker, profile, 2, near=x), x)


def test_edges_and_lines():
    """The zero-moment point of a square and of a line of points: distances from edges and ends."""
    square = np.array([[0, 0], [2, 2], [2, 0], [0, 2], [1, 1]], dtype=float)
    polygon = edges(square)
    assert len(polygon) == 4
    share = np.array([0.0, 0.25, 0.5, 0.0, 0.25])  # at (1.75, 0.75)
    inside = Lines(square, polygon).inside(square, share)
    assert np.allclose(sorted(inside), [0.25, 0.75, 1.25, 1.75])
    line = square[[1, 4, 0]]
    inside = Lines(line, edges(line)).inside(line, np.array([0.5, 0.0, 0.5]))
    assert np.allclose(inside, np.sqrt(2))
    assert edges(square[:1]) == edges(square[[1, 1, 1]]) == ()
    assert len(edges(np.concatenate([square, square + 1e-9]))) == 4
    assert np.isclose(widest(square), 1)


def test_rates_of_points(walker, task):
    """Second derivatives of velocities agree with differences of first ones, and these with those
    of values along the exponential."""
    random = np.random.default_rng(1)
    rates = PlacedRates(task.contacts.places_of(walker, None))
    space = task.chart.space
    q = np.array([space.integrate(walker.neutral(), random.normal(size=18)) for _ in range(2)])
    qd, zero = random.normal(size=(2, 18)), np.zeros((2, 18))
    motion = MotionSamples(q, qd, zero, np.zeros(2), np.zeros(2), space=space)
    multipliers = random.normal(size=(2, rates.size))
    exact, near = rates.hessian(motion, multipliers), Quantity.hessian(rates, motion, multipliers)
    assert np.abs(exact - near).max() < 1e-8 * np.abs(near).max()
    h, unit = 1e-6, np.eye(18)
    ahead, behind = (rates.value(motion.moved((s * h * unit, 0 * unit, 0 * unit))) for s in (1, -1))
    slopes = rates.jacobian(motion)[1][:, 0].transpose(2, 0, 1)
    assert np.abs((ahead - behind) / (2 * h) - slopes).max() < 1e-7


def test_links_are_points_of_contact_at_their_frames():
    robot = read(EXAMPLES / "plan" / "hopper.yaml")
    phases = [{"until": 1, "on": ["foot"]}]
    task = {"contacts": {"sets": {"foot": ["heel", "shank", "no"]}, "phases": phases}}
    assert reading.additions(task, robot) == (("heel", "shank"), ("shank",))
    task["loads"] = {name: [0] * 6 for name in ("thigh", "shank", "no")}
    assert reading.additions(task, robot) == (("heel", "shank", "thigh"), ("shank",))
