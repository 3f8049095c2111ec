"""Examples with contacts: trot, jump, lift, step, by Newton's equations and their phases."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import symgen
from symgen.description import read
from symgen.errors import ModelError
from symgen.planning import ground_reaction, reading
from tests.modules import module
from tests.planning.robots import EXAMPLES, SOLVED, example

pytest.importorskip("casadi", reason="needs casadi: pip install 'symgen[test]'")
pytestmark = pytest.mark.slow

MORE = ("mass_matrix", "point_motion", "center_of_mass", "centroidal_momentum_rate")
FUNCTIONS = (*SOLVED, *MORE, "inverse_dynamics_load_derivatives")
TASKS = {
    "quadruped_trot": ("trunk_x", 0.15), "hopper_jump": ("x", 0.4),
    "small_humanoid_step": ("pelvis_x", 0.2), "lifter_lift": None,
}  # fmt: skip
"""Tasks, and how far a coordinate goes in each."""
NEAR = 1e-6
"""Accepted distance (m) of points from where they stand, of forces (N) from 0 and from cones."""


@pytest.fixture(scope="module", params=TASKS)
def found(request):
    task = EXAMPLES / "plan" / f"{request.param}.yaml"
    return symgen.plan(built(request.param), task)


def built(task):
    file, name = EXAMPLES / "plan" / f"{task}.yaml", f"plan/{task.rpartition('_')[0]}"
    loads, _ = reading.additions(file, read(EXAMPLES / f"{name}.yaml"))
    return example(name, FUNCTIONS, loads=loads)


def on(found):
    """Whether each point is on in a phase that contains an instant, and in all of them, (K, P)."""
    contacts, s = found.task.contacts, found.shares[:, None]
    since = np.append(0, contacts.until[:-1])
    within = ((s > since - 1e-9) & (s < contacts.until + 1e-9))[..., None]
    return (within & contacts.on).any(axis=1), (~within | contacts.on).all(axis=1)


def places(found):
    """Positions of contact points, (K, P, 3)."""
    positions = found.module.point_motion(found.q, found.qd, found.qdd)[0]
    return positions[:, found.task.contacts.points]


def pull(found):
    """The acceleration of the centre of mass less that of gravity, (K, 3), and the mass."""
    mass = sum(found.module.inertial_parameters[::10])
    rate = found.module.centroidal_momentum_rate(found.q, found.qd, found.qdd)[:, :3]
    return rate / mass - found.module.gravity, mass


def test_it_is_solved_and_goes_on(found):
    assert found.status == "solved"
    if goes := TASKS[Path(found.task.file).stem]:
        k = found.module.position_names.index(goes[0])
        assert abs(found.q[-1, k] - found.q[0, k] - goes[1]) < NEAR
    else:
        box = list(found.module.point_names).index("box_center")
        height = found.module.point_motion(found.q, found.qd, found.qdd)[0][:, box, 2]
        assert np.allclose(height[[0, -1]], [0.35, 0.9])


def test_points_stand_in_their_phases_and_stay_above_the_ground(found):
    standing, p = on(found)[0], places(found)
    assert np.abs(p[..., 2][standing]).max() < NEAR
    assert p[..., 2].min() > -NEAR
    contacts, s = found.task.contacts, found.shares
    begins = np.append(0, contacts.until[:-1])
    for points, since, until in zip(contacts.on, begins, contacts.until, strict=True):
        phase = (s > since - 1e-9) & (s < until + 1e-9)
        assert np.ptp(p[phase][:, points], axis=0).max(initial=0.0) < NEAR


def test_forces_push_within_cones_and_are_0_off_the_ground(found):
    f = found.contact_forces
    assert np.abs(f[~on(found)[1]]).max(initial=0.0) < NEAR
    most = found.task.contacts.friction / np.sqrt(2) * f[..., 2:]
    assert np.all(f[..., 2] > -NEAR)
    assert np.all(np.abs(f[..., :2]) <= most + NEAR)


def test_forces_move_the_centre_of_mass_and_are_the_reaction(found):
    f, p, (a, mass) = found.contact_forces, places(found), pull(found)
    near = 1e-8 * mass * 9.81
    assert np.allclose(f.sum(axis=1), mass * a, rtol=0, atol=near)
    others = found.loads.copy()
    others[:, found.task.contacts.loads, :3] = 0
    reaction = ground_reaction(found.module, found.q, found.qd, found.qdd, loads=others)
    assert np.allclose(f.sum(axis=1), reaction.force, atol=near, rtol=0)
    assert np.allclose(np.cross(p, f).sum(axis=1), reaction.moment, atol=near, rtol=0)


def test_nothing_but_gravity_acts_in_flight(found):
    flight = ~on(found)[0].any(axis=1) | ~on(found)[1].any(axis=1)
    if found.module.name == "hopper":
        assert flight.sum() == 13
    assert np.abs(pull(found)[0][flight]).max(initial=0.0) < 1e-9


TABLE = """
symgen: 1
name: table
joints:
  - {name: trunk, type: floating, coordinates: quaternion, origin: {}, actuated: false,
     link: {name: base_link, mass: 30, com: [0, 0, 0.1], inertia: {xx: 1, yy: 1.2, zz: 1.5}}}
  - {name: shoulder, type: revolute, parent: base_link, origin: {xyz: [0.1, 0, 0.3]},
     axis: [0, 1, 0], limits: {lower: -2, upper: 2, velocity: 2, effort: 60},
     link: {name: upper, mass: 3, com: [0, 0, 0.15], inertia: {xx: 0.03, yy: 0.03, zz: 0.01}}}
points:
  - {name: a, link: base_link, point: [0.25, 0.25, 0]}
  - {name: b, link: base_link, point: [0.25, -0.25, 0]}
  - {name: c, link: base_link, point: [-0.25, 0.25, 0]}
  - {name: d, link: base_link, point: [-0.25, -0.25, 0]}
"""


def test_a_base_on_feet_of_its_own_stands_while_its_arm_swings():
    """Its own coordinates have knots at all instants, as those of limbs have."""
    robot = module(TABLE, functions=FUNCTIONS, backend="compiled", loads=("a", "b", "c", "d"))
    task = {
        "symgen_task": 1,
        "time": 2,
        "objective": {"torque": 1},
        "start": {"q": {**dict.fromkeys(robot.position_names, 0), "trunk_qw": 1, "shoulder": -1}},
        "goal": {"q": {"shoulder": 1}},
        "contacts": {"sets": {"feet": [*"abcd"]}, "phases": [{"until": 1, "on": ["feet"]}]},
    }
    plan = symgen.plan(robot, task)
    assert plan.status == "solved"
    assert (
        np.abs(robot.difference(plan.q, np.tile(plan.q[0], (len(plan.q), 1)))[:, :6]).max() < 1e-6
    )


def test_a_stride_is_twice_its_half(tmp_path):
    """Forces at the ends of cycles are images of each other: here of two feet, with one edge."""
    task = (EXAMPLES / "plan" / "quadruped_trot.yaml").read_text()
    half = task.replace(
        "    - on: [lf, rh]", "    - {until: 1/4, on: [lf, rf, lh, rh]}\n    - on: [lf, rh]"
    )
    half = half.replace("segments: 6", "segments: 8")
    first = "    - {until: 1/8, on: [lf, rf, lh, rh]}\n    - {until: 1/2, on: [lf, rh]}\n"
    second = "    - {until: 5/8, on: [lf, rf, lh, rh]}\n    - {until: 1, on: [rf, lh]}"
    whole = re.sub(r"mirrored:\n(  .*\n)+", "mirrored: {trunk_x: 0.5*T}\n", task)
    whole = whole.replace("    - on: [lf, rh]", first + second).replace("time: 0.3", "time: 0.6")
    whole = whole.replace("segments: 6", "segments: 16")
    for name, text in (("half", half), ("whole", whole)):
        (tmp_path / name).write_text(text)
    plans = [symgen.plan(built("quadruped_trot"), tmp_path / name) for name in ("half", "whole")]
    assert all(found.status == "solved" and found.iterations < 150 for found in plans)
    assert abs(plans[1].objective - 2 * plans[0].objective) < 1e-6


def test_two_feet_share_forces(tmp_path):
    """Of the resultant of the motion, with its zero-moment point z between the feet at c_1 and c_2,
    the second foot bears the share (z - c_1) . D / |D|^2, D = c_2 - c_1, beside its centre as far
    as z is from the line between them."""
    task = (EXAMPLES / "plan" / "small_humanoid_step.yaml").read_text()
    (tmp_path / "task.yaml").write_text(
        task.replace("contacts:\n", "contacts:\n  forces: shared\n  margin: 0.032\n")
    )
    found = symgen.plan(built("small_humanoid_step"), tmp_path / "task.yaml")
    assert found.status == "solved"
    reaction = ground_reaction(found.module, found.q, found.qd, found.qdd)
    z, p, f = reaction.zmp[:, :2], places(found)[..., :2], found.contact_forces
    feet = np.array([name[0] == "r" for name in found.task.contacts.names])
    both = np.min([f[:, feet == foot, 2].sum(axis=1) for foot in (False, True)], axis=0) > 1
    assert both.sum() == 3
    for k in np.flatnonzero(both):
        c = [p[k, feet == foot].mean(axis=0) for foot in (False, True)]
        D = c[1] - c[0]
        share = (z[k] - c[0]) @ D / (D @ D)
        second = f[k, feet].sum(axis=0)
        assert np.allclose(second, share * reaction.force[k], atol=1e-5)
        centre = (f[k, feet, 2:] * p[k, feet]).sum(axis=0) / second[2]
        assert np.allclose(centre - c[1], z[k] - c[0] - share * D, atol=1e-6)
        left = p[k, feet] - centre
        free = left[:, 0] @ f[k, feet, 1] - left[:, 1] @ f[k, feet, 0]
        assert abs(free - share * reaction.free_moment[k]) < 1e-5
    for k, bears in enumerate(on(found)[1]):
        hull = p[k, bears][ConvexHull(p[k, bears]).vertices]
        d = np.roll(hull, -1, axis=0) - hull
        inside = d[:, 0] * (z[k] - hull)[:, 1] - d[:, 1] * (z[k] - hull)[:, 0]
        assert (inside / np.linalg.norm(d, axis=1)).min() > 0.032 - 1e-6


FOOT = {"sets": {"foot": ["heel", "toe"]}, "phases": [{"on": ["foot"]}]}
FAULTS = [
    ({"contacts": {**FOOT, "phases": []}}, "contacts.phases: expected at least one phase"),
    ({"contacts": {**FOOT, "sets": {"foot": ["heel", "heel"]}}}, "'heel' is in the set 'foot'"),
    (
        {"contacts": {**FOOT, "forces": "shared"}},
        "forces: two feet share forces; the sets of this task",
    ),
    ({"loads": {"heel": [0, 0, 1, 0, 0, 0]}}, "loads.heel: the ground acts there"),
    ({"limits": {"torque": {"x": 10}}}, "limits.torque.x: it has no drive"),
]


@pytest.mark.parametrize(("more", "words"), FAULTS)
def test_faults(more, words):
    task = {"symgen_task": 1, "start": {"q": 0}, "goal": {"q": 0}, "contacts": FOOT, **more}
    with pytest.raises(ModelError, match=re.escape(words)):
        reading.read(task, built("hopper_jump"))


def test_one_torque_limit_for_all_drives_nothing_without_a_drive():
    task = {"symgen_task": 1, "start": {"q": 0}, "goal": {"q": 0}, "limits": {"torque": 80}}
    limits = reading.read(task, built("hopper_jump")).limits
    assert limits.torque[:, 1].tolist() == [0, 0, 0, 80, 80, 80]
