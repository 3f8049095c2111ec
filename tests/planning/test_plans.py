"""Motions that tasks ask for: the papers' optima, states on the way, cycles, obstacles, poses."""

import json
import re

import numpy as np
import pytest
import yaml

import symgen
from symgen.cli import run
from symgen.planning import reading
from symgen.planning.verification import _peaks
from tests.choosing import deep
from tests.modules import quick_builds
from tests.planning.robots import EXAMPLES, SOLVED, TASK, example

pytest.importorskip("casadi", reason="needs casadi: pip install 'symgen[test]'")

PLAN = EXAMPLES / "plan"
PUBLISHED = [
    ("plan/two_link_free", "two_link_fastest", "exceeded", 0.39266, 0.39266, 1e-5),
    ("two_link", "two_link_lifting", "solved", 0.51914, 0.84495, 1e-4),
    ("plan/prismatic_revolute", "prismatic_revolute_task", "solved",
     0.58578, 0.77323, 1e-4),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("robot", "task", "status", "T", "objective", "near"), PUBLISHED)
def test_the_optima_of_the_papers(robot, task, status, T, objective, near):
    names = reading.named_parameters(PLAN / f"{task}.yaml")
    more = ["inverse_dynamics_load_derivatives"] if "lifting" in task else []
    options = {"runtime_parameters": names} if names else {}
    found = symgen.plan(example(robot, (*SOLVED, *more), **options), PLAN / f"{task}.yaml")
    assert found.status == status
    assert abs(found.T - T) < near
    assert abs(found.objective - objective) < near
    assert found.final_error < 1e-6


@pytest.mark.slow
def test_torques_hold_between_instants(robot):
    found = symgen.plan(robot, TASK)
    assert found.status == "solved"
    tau = found.torques(np.linspace(0, 1, 2001))
    assert np.all(np.abs(tau) <= robot.limits["effort"] * (1 + 1e-5))
    assert np.any(np.abs(tau) > 0.99 * robot.limits["effort"])
    assert np.allclose(found.q[[0, -1]], [TASK["start"]["q"], TASK["goal"]["q"]], atol=1e-12)
    assert np.allclose(found.qd[[0, -1]], 0, atol=1e-9)
    again = robot.inverse_dynamics(found.q, found.qd, found.qdd, parameters={"m2": 1.4})
    assert np.array_equal(found.tau, again)


@pytest.mark.slow
def test_states_and_poses_on_the_way(robot):
    via = [{"at": 0.3, "q": {"elbow": 0.9}}, {"at": 0.7, "q": {"wrist": 0.1}, "qdd": {"wrist": 2}}]
    pose = {"link": "hand", "offset": [0.1, 0, 0], "position": [0.3, 0.55, 0.05]}
    found = symgen.plan(robot, {**TASK, "via": via, "goal": pose})
    assert found.status == "solved"
    at = np.array([0.3, 0.7])
    assert abs(found.path.rate(0, at)[0, 1] - 0.9) < 1e-8
    assert abs(found.path.rate(0, at)[1, 2] - 0.1) < 1e-8
    assert abs(found.path.rate(2, at)[1, 2] - 2) < 1e-6
    hand = robot.frame_pose("hand", found.q[-1]) @ [0.1, 0, 0, 1]
    assert np.allclose(hand[:3], pose["position"], atol=1e-8)
    assert np.allclose(found.qd[-1], 0, atol=1e-8)


@pytest.mark.slow
def test_orientations_are_reached(robot):
    target = robot.frame_pose("hand", [0.9, -0.4, 0.5])
    yaw = np.arctan2(target[1, 0], target[0, 0])
    pitch, roll = -np.arcsin(target[2, 0]), np.arctan2(target[2, 1], target[2, 2])
    goal = {"link": "hand", "position": target[:3, 3], "rpy": [roll, pitch, yaw]}
    found = symgen.plan(robot, {**TASK, "goal": goal})
    assert found.status == "solved"
    assert np.allclose(robot.frame_pose("hand", found.q[-1]), target, atol=1e-7)


@pytest.mark.slow
def test_periodic_and_mirrored_motions_close(robot):
    via = [{"at": 0.5, "q": {"elbow": 0.8}}]
    task = {"symgen_task": 1, "time": 1.0, "objective": {"torque": 1}, "via": via}
    task["profile"] = {"segments": 8, "check": "midpoints"}
    closed = symgen.plan(robot, {**task, "periodic": True})
    assert closed.status == "solved"
    for rate in range(3):
        start, end = closed.path.rate(rate, np.array([0.0, 1.0]))
        assert np.allclose(start, end, atol=1e-6)
    mirrored = symgen.plan(robot, {**task, "mirrored": {"shoulder": "elbow", "wrist": "-wrist"}})
    assert mirrored.status == "solved"
    start, end = mirrored.path.rate(1, np.array([0.0, 1.0]))
    assert np.allclose(end, [start[1], start[0], -start[2]], atol=1e-6)


@pytest.mark.slow
def test_a_robot_that_moves_on(robot):
    """Travel in proportion to the time, ranges, effort; from a posture at which the robot rests."""
    swing = {"q": {"shoulder": 0, "elbow": [-0.1, 0.1]}, "qd": {"all": None}}
    task = {"symgen_task": 1, "time": {"min": 0.8, "max": 2}, "guess": {"q": {"elbow": 0.1}}}
    task |= {"mirrored": {"shoulder": "0.3 + 0.2*T", "wrist": "-wrist"}, "start": swing}
    task |= {"via": [{"q": {"elbow": [0.7, 0.9]}}], "profile": {"segments": 6, "check": "knots"}}
    found = symgen.plan(robot, {**task, "objective": {"effort": 1}})
    (start, middle, end), (rate, _, last) = (found.path.rate(k, np.arange(3) / 2) for k in (0, 1))
    assert found.status == "solved"
    assert np.allclose(end - start, [0.3 + 0.2 * found.T, 0, -2 * start[2]], atol=1e-7)
    assert np.allclose(last, rate * [1, 1, -1], atol=1e-6)
    assert abs(start[0]) < 1e-8 and abs(start[1]) < 0.1 + 1e-8
    assert 0.7 - 1e-8 < middle[1] < 0.9 + 1e-8
    weights = 1 / np.array(robot.limits["effort"]) ** 2
    same = symgen.plan(robot, {**task, "objective": {"torque": weights}})
    assert abs(same.objective - found.objective) < 1e-12


@pytest.mark.slow
def test_obstacles_are_gone_around(robot, tmp_path):
    task = {**TASK, "start": {"q": [-1, 0.1, 0.1]}, "goal": {"q": [1, 0.1, 0.1]}}
    free = symgen.plan(robot, task)
    middle = robot.frame_pose("hand", free.path.rate(0, np.array([0.5])))[0] @ [0.1, 0, 0, 1]
    obstacle = {"name": "post", "sphere": 1.1 * middle[:3], "radius": 0.1}
    keep = {
        "spheres": [{"name": "fist", "link": "hand", "center": [0.1, 0, 0], "radius": 0.05}],
        "obstacles": [obstacle, {"name": "far", "sphere": [9, 9, 9], "radius": 0.1}],
    }
    found = symgen.plan(robot, {**task, "keep_out": keep})
    page = found.report(tmp_path / "page.html").read_text()
    assert re.search(r"Nearest: fist to post, \S+ m apart at", page)
    assert "the nearest of 2 pairs" in page
    assert [(solid.link, len(solid.faces)) for solid in found.solids] == [
        (-1, 360), (-1, 360), (2, 360)
    ]  # fmt: skip
    facts = json.loads(re.search(r'id="player">(.*?)</script>', page)[1])
    assert facts["curves"][2]["levels"] == [[0, None]]
    assert {x for x, _ in facts["curves"][1]["levels"]} >= {-40, 40}
    found.plot(tmp_path / "picture.png")
    start = re.fullmatch(r"10 segments, start (\d) of 5", next(iter(found.stages)))
    assert {int(start[1]), *(other.number for other in found.others)} == {1, 2, 3, 4, 5}
    assert found.outcome.endswith(", a local optimum, the best of 5 starts")

    def nearest(plan):
        places = robot.frame_pose("hand", plan.path.rate(0, np.linspace(0, 1, 999)))
        centres = places[:, :3, 3] + 0.1 * places[:, :3, 0]
        return np.linalg.norm(centres - obstacle["sphere"], axis=1).min()

    assert found.status == "solved"
    assert nearest(free) < 0.1
    assert nearest(found) >= 0.15 - 1e-6
    assert found.nearest.distance == pytest.approx(nearest(found) - 0.15, abs=1e-4)
    assert found.T > free.T


def two_arms():
    functions = ("inverse_dynamics_load_derivatives", "point_motion", "point_motion_derivatives")
    return example("plan/two_arms", (*SOLVED, *functions))


@pytest.mark.deep
def test_two_arms_that_hold_one_bar():
    """A cut joint: closed everywhere, by forces that are opposite on its two sides."""
    found = symgen.plan(two_arms(), PLAN / "two_arms_lift.yaml")
    assert found.status == "solved"
    ends = found.module.point_motion(found.q, found.qd, found.qdd)[0]
    assert np.abs(ends[:, 0] - ends[:, 1]).max() < 1e-10
    assert found.gaps["grip"] < 1e-8
    assert found.violation < 1e-6
    force = found.loads[:, 0, :2]
    assert np.array_equal(found.loads[:, 1, :2], -force)
    assert np.abs(force).max() > 1
    state = found.q, found.qd, found.qdd
    torques = found.module.inverse_dynamics(*state, loads=found.loads)
    assert np.allclose(found.tau, torques, atol=1e-8)
    assert found.final_error < 1e-6


@pytest.mark.deep
def test_cuts_are_closed_at_every_instant_whatever_the_splines():
    """Cubic ones with limits at knots, midpoints; ends that are free; a goal of one hand."""
    robot = two_arms()
    task = yaml.safe_load((PLAN / "two_arms_lift.yaml").read_text())
    for change in (
        {"profile": {"segments": 20, "check": "knots"}},
        {"profile": {"segments": 20, "check": "midpoints"}},
        {"profile": {"segments": 21}, "time": {"min": 0.3, "max": 5},
         "objective": {"time": 1, "torque": 0.01}},
        {"profile": {"segments": 20}, "goal": {"point": "bar_end", "position": [0.25, 0.5, 0]}},
    ):  # fmt: skip
        found = symgen.plan(robot, task | change)
        assert found.status == "solved"
        ends = found.module.point_motion(found.q, found.qd, found.qdd)[0]
        assert np.abs(ends[:, 0] - ends[:, 1]).max() < 1e-10
        assert found.gaps["grip"] < 1e-4
        effort = np.sum(found.torques(np.linspace(0, 1, 2001)) ** 2, axis=1).mean() * found.T
        weight = (task | change)["objective"]["torque"]
        time = (task | change)["objective"].get("time", 0) * found.T
        assert found.objective == pytest.approx(time + weight * effort, rel=0.05)


@pytest.mark.slow
def test_reactions_in_cuts_keep_their_limits_between_instants():
    """They are those that a wrist without a drive needs; limits are tightened where they pass."""
    task = yaml.safe_load((PLAN / "two_arms_lift.yaml").read_text())
    task["limits"] = {"torque": {"all": 60, "left_wrist": 0}}
    task |= {"cuts": [task["cuts"][0] | {"limit": 20}], "profile": {"segments": 20}}
    found = symgen.plan(two_arms(), task)
    assert found.status == "solved"
    assert found.violation < 1e-9
    s = np.linspace(0, 1, 1234)
    motion = found.path.motion(s)
    torques = found.module.inverse_dynamics(motion.q, motion.qd, motion.qdd, loads=motion.loads)
    assert np.abs(torques[:, 2]).max() < 1e-9
    assert 19.9 < np.abs(motion.loads).max() < 20.0002


@pytest.mark.slow
def test_a_cart_swings_up_its_pole():
    """A joint without a drive, by collocation."""
    found = symgen.plan(example("cart_pole"), PLAN / "cart_pole_swing_up.yaml")
    assert found.status == "solved"
    assert found.final_error < 1e-6
    assert np.array_equal(found.tau[:, 1], np.zeros(len(found.t)))
    assert np.abs(found.tau[:, 0]).max() <= 20 + 1e-9
    assert np.allclose(found.q[-1], [0, np.pi])
    assert np.allclose(found.module.forward_dynamics(found.q, found.qd, found.tau), found.qdd)


@pytest.mark.deep
def test_collocation_keeps_wrenches_and_distances():
    """As by splines: a floor that the hand would pass through, and a force in the shoulder."""
    robot = example("two_link", (*SOLVED, "joint_wrenches", "joint_wrench_derivatives"))
    task = {"symgen_task": 1, "start": {"q": [-0.3, 0.2]}, "goal": {"q": [-2.8, -0.2]}, "time": 1}
    task |= {"objective": {"torque": 1}, "profile": {"segments": 20}}
    task["keep_out"] = {
        "spheres": [{"link": "forearm", "radius": 0.05}],
        "obstacles": [{"half_space": [0, -0.7, 0], "normal": [0, 1, 0]}],
    }
    free = symgen.plan(robot, task)
    most = 0.9 * np.abs(robot.joint_wrenches(free.q, free.qd, free.qdd)[:, 0, 0]).max()
    task["limits"] = {"wrench": {"shoulder": {"fx": most}}}
    splines = symgen.plan(robot, task)
    nodes = symgen.plan(robot, {**task, "method": "collocation"})
    assert splines.status == nodes.status == "solved"
    assert nodes.objective > 1.001 * free.objective
    assert abs(nodes.objective - splines.objective) < 1e-2 * splines.objective
    hand = robot.frame_pose("forearm", nodes.q)[:, 1, 3]
    assert abs(hand.min() - (0.05 - 0.7)) < 1e-6
    force = robot.joint_wrenches(nodes.q, nodes.qd, nodes.qdd)[:, 0, 0]
    assert abs(np.abs(force).max() - most) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "status", "least", "most"),
    [("knots", "exceeded", 0.01, 0.1), *deep(("refine", "solved", 0, 1e-3))],
)
def test_velocities_between_the_nodes_of_collocation(check, status, least, most):
    robot = example("two_link")
    task = {"symgen_task": 1, "start": {"q": [-1.6, 0.2]}, "goal": {"q": [-0.6, -0.2]}, "time": 2}
    task |= {"objective": {"torque": 1}, "limits": {"velocity": 0.7}, "method": "collocation"}
    found = symgen.plan(robot, {**task, "profile": {"segments": 4, "check": check}})
    fastest = np.abs(found.path.rate(1, np.linspace(0, 1, 2001))).max()
    assert found.status == status
    assert least <= max(fastest / 0.7 - 1, 0) <= most
    assert found.violation == pytest.approx(max(fastest / 0.7 - 1, 0), abs=1e-4)


@pytest.mark.slow
def test_what_cannot_be_met_is_named(robot):
    found = symgen.plan(robot, {**TASK, "time": 0.05})
    assert found.status == "infeasible" and "no motion was found" in found.outcome
    for part in (
        "; the time, 0.05 s.  A 'guess'",
        "; velocity of shoulder (exceeded by ",
        " at the goal)",
    ):
        assert part in found.remarks[0]
    assert {name: found.worst.get(name, over) for name, over in found.broken} == dict(found.broken)
    assert {name for name, over in found.worst.items() if over > 1e-6} <= {*dict(found.broken)}


@pytest.mark.slow
def test_a_simulation_that_ends_in_a_singular_mass_matrix_diverges(robot, monkeypatch):
    def singular(*_):
        raise np.linalg.LinAlgError

    monkeypatch.setattr("symgen.planning.plan.simulate_forward", singular)
    found = symgen.plan(robot, TASK)
    assert found.status == "feasible" and "(open loop) diverges" in found.remarks[-1]
    assert found.scalars()["final_error"] is None
    assert found.simulated == "a simulation under the torques of the plan diverges"


def test_peaks_between_fine_instants_count_and_none_lies_across_a_knot():
    t = np.linspace(0.0, 1.0, 11)
    bent = 1 - 8 * (t - 0.33) ** 2  # one segment
    assert np.isclose(_peaks(bent[:, None], 10).max(), 1.0)
    kink = -np.abs(t - 0.5) * np.where(t < 0.5, 1, 0.2)  # two segments, a knot on top
    assert _peaks(kink[:, None], 5).max() <= 1e-12


@pytest.mark.deep
def test_other_starts_are_listed_and_seeded(robot):
    task = {**TASK, "profile": {"segments": 6, "check": "midpoints"}}
    first, second = (symgen.plan(robot, task, starts=3, seed=3) for _ in range(2))
    assert [start.number for start in first.others] == [start.number for start in second.others]
    assert first.control_points.tobytes() == second.control_points.tobytes()
    assert first.others[0].objective >= first.objective - 1e-9


@pytest.mark.deep
def test_limited_memory_finds_the_same_optimum(robot):
    task = {**TASK, "profile": {"segments": 8, "check": "midpoints"}}
    exact = symgen.plan(robot, task)
    approximate = symgen.plan(robot, task, exact_hessian=False, tolerance=1e-7)
    assert abs(exact.T - approximate.T) < 1e-5


@pytest.mark.slow
def test_the_command_and_its_files(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    task = str(PLAN / "two_link_fastest.yaml")
    arguments = ["plan", str(PLAN / "two_link_free.yaml"), task]
    files = ["m.html", "m.png", "m.svg", "m.csv", "m.npz"]
    outputs = [word for file in files for word in ("-o", file)]
    assert run([*arguments, "--json", *outputs]) == 0
    said = json.loads(capfd.readouterr().out)
    assert said["status"] == "exceeded"  # torques between the knots, where nothing limits them
    assert abs(said["T"] - 0.39266) < 1e-5
    contents = {file: (tmp_path / file).read_bytes() for file in files}
    assert run([*arguments, *outputs]) == 0
    printed, progress = capfd.readouterr()
    assert printed.startswith("exceeded")
    assert progress.index("write ...") > progress.index("20 segments ...")
    for file in files[1:]:  # the page says how long the search took
        assert (tmp_path / file).read_bytes() == contents[file], file
    rows = np.genfromtxt("m.csv", delimiter=",", names=True)
    arrays = np.load("m.npz")
    assert np.array_equal(rows["tau_elbow"], arrays["tau"][:, 1])
    assert run([*arguments, "-o", "m.pdx"]) == 2
    assert "m.pdx" in capfd.readouterr().err
    turned = (
        (PLAN / "two_link_fastest.yaml")
        .read_text()
        .replace("[1, -1]", "[90, -1]")
        .replace("knots", "midpoints")
    )
    (tmp_path / "turned.yaml").write_text(turned)
    assert run([*arguments[:2], "turned.yaml"]) == 3
    printed, progress = capfd.readouterr()
    assert "Instants of the plan satisfy them: 'check: refine' may lead to one" in progress
    assert progress.count("the angle 90 is in radians") == 1
    assert progress.index("the angle 90 is in radians") < progress.index("20 segments ...")
    hurried = (PLAN / "two_link_fastest.yaml").read_text().replace("profile", "time: 0.05\nprofile")
    (tmp_path / "hurried.yaml").write_text(hurried)
    assert run([*arguments[:2], "hurried.yaml", "-q"]) == 3
    printed, reason = capfd.readouterr()
    assert not printed and reason.startswith("infeasible: the solver found no motion")
    assert run([*arguments[:2], "hurried.yaml", "-o", "no.yaml", "-o", "no.csv"]) == 3
    assert "no.yaml is not written: a plan that is infeasible" in capfd.readouterr().err
    assert not (tmp_path / "no.yaml").exists() and (tmp_path / "no.csv").exists()


@pytest.mark.slow
def test_a_new_task_is_one(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert run(["new", "arm.yaml"]) == 0
    assert run(["new", "--task", "task.yaml"]) == 0
    with quick_builds():
        assert run(["plan", "arm.yaml", "task.yaml", "--quiet"]) == 0
    assert run(["new", "--task", "other.yaml", "--robot", str(EXAMPLES / "cart_pole.yaml")]) == 0
    assert "rail" in (tmp_path / "other.yaml").read_text()
    assert run(["new", "--task", "other.yaml"]) == 2
    assert run(["new", "--task", "--robot", "arm.yaml"]) == 2
    assert "symgen new --task --robot arm.yaml task.yaml" in capfd.readouterr().err
