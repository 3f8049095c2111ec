"""Wrong task files: every fault in one report, with its line, its key, and what to do."""

from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest

import symgen
from symgen.errors import ModelError, RequestError
from symgen.planning import plan, reading, results, starting, verification
from symgen.planning.charts import Chart
from symgen.planning.checks import remarks_on
from symgen.planning.obstacles import Box, HalfSpace, Sphere
from symgen.planning.results import Plan
from symgen.planning.splines import Profile
from symgen.planning.starting import out_of_reach
from symgen.planning.summary import table_of_coordinates
from symgen.planning.trajectories import Splines
from symgen.planning.transcription import limited
from symgen.planning.verification import Verified
from symgen.runtime.configuration import Configuration
from tests.modules import file_of
from tests.planning.robots import ARM, NEEDED, arm, example, refuses

RIGHT = """symgen_task: 1
start: {q: [0, 0, 0]}
goal: {q: [1, 0, 0]}
"""

WALL = """symgen_task: 1
start: {{q: {{shoulder: 0}}}}
goal: {{q: [2, 0, 0]}}
keep_out:
  spheres: [{{name: tip, link: fore, radius: 0.05}}]
  obstacles: [{{name: wall, box: [0.4, 0, {}], size: [0.2, 0.2, 0.2]}}]
"""
WRONG = [  # what is added to RIGHT, or stands in its place; line, words of the message
    ("symgen_task: 2\nstart: {q: [0, 0, 0]}\ngoal: {q: [1, 0, 0]}", 1, "expected 1, the version"),
    ("start: {q: [0, 0, 0]}\ngoal: {q: [1, 0, 0]}", 1, "'symgen_task: 1' is missing"),
    ("symgen_task: 1\ngoal: {q: [1, 0, 0]}", 1, "'start' is missing"),
    ("symgen_task: 1\nstart: {q: [0, 0]}\ngoal: {q: [1, 0, 0]}", 2, "expected 3 entries"),
    ("symgen_task: 1\nstart: {q: {elbw: 1}}\ngoal: {q: [1, 0, 0]}", 2, "did you mean 'elbow'?"),
    ("symgen_task: 1\nstart: {}\ngoal: {q: [1, 0, 0]}", 2, "nothing is asked for"),
    ("symgen_task: 1\nstart: {q: [9, 0, 0]}\ngoal: {q: [1, 0, 0]}", 2, "limits are -3 and 3"),
    ("symgen_task: 1\nstart: {q: [0, 0, 0]}\ngoal: {point: tol, position: [1, 0, 0]}", 3, "'tool'"),
    ("symgen_task: 1\nstart: {q: [0, 0, 0]}\ngoal: {position: [1, 0, 0]}", 3, "of which point?"),
    ("symgen_task: 1\nstart: {q: [0, 0, 0]}\ngoal: {point: tool}", 3, "a list of 3 numbers"),
    ("symgen_task: 1\nstart: {q: [0, 0, 0]}\ngoal: {point: tool, position: [1, 0]}", 3,
     "expected 3 numbers, found 2"),
    ("symgen_task: 1\nstart: {q: [90, 0, 0]}\ngoal: {q: 0}", 2, "in degrees, write 90*deg"),
    (WALL.format("0.1"), 2, "tip is 0.05 m inside wall"),
    (WALL.format("0.2") + "  margin: -1", 7, "a distance (m) of at least 0, found -1"),
    (WALL.format("0.2") + "  margin: 0.1", 2, "less than the margin, 0.1 m"),
    ("gaol: 1", 4, "did you mean 'goal'?"),
    ("time: fast", 4, "unknown name 'fast'"),
    ("time: -1", 4, "above 0"),
    ("time: .inf", 4, "expected a finite number, found .inf"),
    ("limits: {outputs: {height: 1}}\nmethod: collocation", 4, "not available yet"),
    ("time: 1e300", 4, "expected 1e-06 to 1e+06 s"),
    ("time: {min: 1e-9}", 4, "expected 1e-06 to 1e+06 s"),
    ("time: {min: 3, max: 2}", 4, "min 3 s is above max 2 s"),
    ("objective: {torque: 1}", 1, "slower is always better"),
    ("time: 1\nobjective: {time: 0}", 5, "nothing is minimised"),
    ("time: 1\nobjective: {torque: -1}", 5, "no minimum"),
    ("objective: {time: 1, wrench: {elbow: {fx: -1}}}", 4, "no minimum"),
    ("time: 1\nobjective: {torqe: 1}", 5, "did you mean 'torque'?"),
    ("limits: {torque: {elbow: [5, -5]}}", 4, "is above the upper one"),
    ("limits: {velocity: -3}", 4, "write it without sign"),
    ("limits: {velocity: [1, 2]}", 4, "2; [lower, upper] goes under a name, or all"),
    ("limits: {outputs: {hight: 1}}", 4, "did you mean 'height'?"),
    ("limits: {wrench: {elbow: {fxx: 1}}}", 4, "did you mean 'fx'?"),
    ("loads: {tip: [0, 0, 0, 0, 0, 0]}", 4, "known: grip"),
    ("loads: {grip: {fre: {fx: 1}}}", 4, "did you mean 'free'?"),
    ("loads: {grip: {free: {fxx: 1}}}", 4, "did you mean 'fx'?"),
    ("loads: {grip: {free: {fx: [2, 1]}}}", 4, "is above the upper one"),
    ("loads: {grip: {free: [fx, gx]}}", 4, "'gx' is no component of a load"),
    ("objective: {time: 1, load: {grip: {fx: 1}}}", 4, "it is not free"),
    ("method: collocation\nloads: {grip: {free: [fx]}}", 5, "not available yet"),
    ("loads: {grip: [0, 0, 0]}", 4, "found 3 entries"),
    ("loads: {grip: [tt, 0, 0, 0, 0, 0]}", 4, "did you mean"),
    ("loads: {grip: ['__import__(1)', 0, 0, 0, 0, 0]}", 4, "is not a function"),
    ("via: [{at: 2, q: [0, 0, 0]}]", 4, "between 0 and 1"),
    ("via: [{q: {elbow: [4, 5]}}]", 4, "'elbow' is 4 to 5 there, its limits are -3 and 3"),
    ("via: [{q: {elbow: [2, 1]}}]", 4, "is above the upper one"),
    ("via: [{q: {elbow: -9}}]", 4, "'elbow' is -9 there, its limits are"),
    ("method: collocation\nguess: {q: 0}", 5, "'q' and 'through': not available yet"),
    ("guess: {q: 0, through: [[0, 0, 0]]}", 4, "where the robot rests, or through, not both"),
    ("time: 1\nlimits: {torque: none}\nobjective: {effort: 1}", 6, "no torque is limited"),
    ("time: 1\nobjective: {effort: -1}", 5, "no minimum"),
    ("mirrored: {elbow: T**2}", 4, "expected a length, or one linear in T"),
    ("mirrored: {elbow: 1/T}", 4, "expected a length, or one linear in T"),
    ("mirrored: {elbow: wris}", 4, "did you mean 'wrist'?"),
    ("via: {at: 0.5}", 4, "expected a list of states"),
    ("via: [{at: 0.5, link: hand, position: [1, 0, 0], rpy: [180, 0, 0]}]", 4, "write 180*deg"),
    ("profile: {degree: 2}", 4, "from 3 to 7"),
    ("profile: {segments: many}", 4, "expected a whole number"),
    ("profile: {check: midpoint}", 4, "did you mean 'midpoints'?"),
    ("keep_out: {spheres: [{link: hnd, radius: 1}], obstacles: []}", 4, "did you mean 'hand'?"),
    ("keep_out: {spheres: [{link: hand}], obstacles: [{sphere: [1, 0, 0]}]}", 4, "the radius"),
    ("keep_out: {obstacles: [{sphere: [1, 0, 0], radius: 1}]}", 4, "no spheres on links"),
    ("keep_out: {spheres: [{link: hand, radius: 1}], obstacles: [{half_space: [0, 0, 0], "
     "normal: [0, 0, 0]}]}", 4, "has no direction"),
    ("cuts: [{first: {point: tool}, loads: [grip, grip]}]", 4, "missing: {point: NAME}"),
    ("cuts: [{first: {point: tool}, second: {link: fore}, loads: [grip]}]", 4,
     "expected two loads"),
    ("method: colocation", 4, "did you mean 'collocation'?"),
    ("method: collocation\nperiodic: true", 5, "not available yet"),
    ("periodic: perhaps", 4, "expected true or false"),
    ("mirrored: {elbow: knee}", 4, "'knee' is no coordinate"),
    ("guess: {T: 0}", 4, "above 0"),
    ("parameters: {m1: 1}", 4, "known: m2"),
    ("profile: [1", 4, "malformed YAML"),
]  # fmt: skip


@pytest.fixture
def robot():
    return arm(("forward_kinematics", "outputs", "inverse_dynamics"))


@pytest.mark.parametrize(("text", "line", "words"), WRONG)
def test_wrong_tasks(robot, text, line, words):
    refuses(robot, text if "start:" in text or "goal:" in text else RIGHT + text, line, words)


@pytest.mark.slow
def test_every_fault_is_told_at_once_and_dicts_are_checked_too(tmp_path):
    robot = example("two_link", NEEDED)
    task = {
        "symgen_task": 1, "start": {"q": [0]}, "goal": {"q": [1, "x"]}, "time": "slow",
        "limits": {"torque": object},
    }  # fmt: skip
    with pytest.raises(ModelError, match="a task holds no type"):
        symgen.plan(robot, task)
    del task["limits"]
    with pytest.raises(ModelError) as caught:
        symgen.plan(robot, task)
    assert [fault.key for fault in caught.value.faults] == ["start.q", "goal.q[2]", "time"]
    with pytest.raises(symgen.errors.RequestError, match="path of a task file, or a dict"):
        symgen.plan(robot, None)
    held = {**task, "start": {"q": [0, 0]}, "goal": {"q": [1, 0]}, "time": 1}
    for name, value in {"starts": 0, "seed": -1, "max_iterations": 0, "tolerance": -1}.items():
        with pytest.raises(symgen.errors.RequestError, match=f"plan: {name}: expected"):
            symgen.plan(robot, held, **{name: value})
    with pytest.raises(symgen.errors.RequestError, match="'method: collocation'"):
        symgen.plan(robot, {**held, "limits": {"torque": {"elbow": 0}}})
    with pytest.raises(ModelError, match="no such file"):
        symgen.plan(robot, tmp_path / "none.yaml")


def test_a_model_file_in_place_of_a_task_is_told_before_anything_is_built():
    with pytest.raises(RequestError, match=r"model\.yaml: this is a model file; expected a task"):
        reading.named_parameters(file_of("symgen: 1\nname: arm\njoints: []\n"))


def test_what_may_not_be_meant_is_said(robot):
    """Coordinates that no end names, and limits beyond those of the model."""
    most = 2 * robot.limits["velocity"][0]
    first = robot.coordinate_names[0]
    task = {"symgen_task": 1, "start": {"q": {first: 0.1}}, "goal": {"q": [0.0] * robot.n}}
    said = remarks_on(reading.read({**task, "limits": {"velocity": {first: most}}}, robot), robot)
    others = ", ".join(robot.coordinate_names[1:])
    assert said[0].startswith(f"start: {others} ") and "free there" in said[0]
    assert f"velocity of {first} is {most:.6g} in the task" in said[1]
    assert remarks_on(reading.read({**task, "start": task["goal"]}, robot), robot) == ()
    turned = {"start": {"q": 0}, "goal": {"q": {first: 90, "all": "90*deg"}}}
    half_spaces = [{"half_space": [0, 0, z], "normal": [0, 0, 1]} for z in (-9, -800)]
    balls = [{"link": "hand", "radius": 0.05}]
    keep = {"spheres": balls, "obstacles": [{"sphere": [450, 0, 0], "radius": 40}, *half_spaces]}
    turned |= {"limits": {"position": "none"}, "keep_out": keep}
    turns, ball, plane = remarks_on(reading.read({**task, **turned}, robot), robot)
    assert ball.startswith("keep_out: obstacle 1 is 409 m or more") and "obstacle 3" in plane
    assert turns.startswith(f"goal.q.{first}: the angle 90 is in radians") and "90*deg" in turns
    task = {**task, "start": task["goal"], "limits": {"torque": {first: "none", "all": 5}}}
    *_, unlimited = remarks_on(reading.read(task, robot), robot)
    assert unlimited.startswith(f"limits: the torque of {first} is unlimited")


def test_a_limit_of_0_is_measured_by_the_largest_torque_and_holds_between_instants_nearly(robot):
    task = {"symgen_task": 1, "start": {"q": 0}, "goal": {"q": 0}, "limits": {"torque": [10, 0, 5]}}
    torques = limited(reading.read(task, robot), robot)[0]
    assert torques.scale.tolist() == [10, 10, 5]
    name, s = "torque of elbow", {"torque of elbow": 0.5}
    equations = verification._equations(torques)
    verified = Verified([name], {name: 1.3e-4}, s, {}, {}, equations=equations)
    assert verified.excess(name) == "0.013 % of the largest torque limit"
    undriven = SimpleNamespace(coordinate_names=["base", "elbow"], actuated=[True, False])
    words = [verification.demand(undriven, f"torque of {x}") for x in ("base", "elbow")]
    assert words == ["torque of base", "the equation of motion of elbow (no drive)"]
    program = SimpleNamespace(broken=lambda x, least: [])
    solution = SimpleNamespace(program=program, outcome=SimpleNamespace(x=None))
    run = SimpleNamespace(module=robot)
    assert plan._unmet(run, solution, verified) == ((), False)
    for over, gap, broken, infeasible in (
        (5e-4, 0.0, [], False), (5e-3, 0.0, [name], False), (0.2, 0.0, [name], True),
        (5e-3, 0.02, ["closure of pin", name], True),
    ):  # fmt: skip
        verified = Verified([name], {name: over}, s, {}, {"pin": gap})
        faults, severe = plan._unmet(run, solution, verified)
        assert ([fault.name for fault in faults], severe) == (broken, infeasible)


@pytest.mark.parametrize("status", ["exceeded", "infeasible", "solved"])
def test_a_plan_beyond_its_limits_is_no_trajectory(status):
    words = Plan.withheld(SimpleNamespace(status=status), Path("motion.yml"))
    assert words.startswith(
        f"a plan that is {status} is no trajectory" if status != "solved" else ""
    )
    assert bool(words) == (status != "solved")


def test_a_drive_that_does_not_hold_an_end_is_remarked(robot):
    """Not of an end where the robot moves, nor with a load that varies."""
    ends = {"start": {"q": [0.1, 0.2, 0]}, "goal": {"q": [1.5, 0, 0], "qd": [0.1, 0, 0]}}
    task = {"symgen_task": 1, **ends, "limits": {"torque": {"shoulder": 3}}}
    rest = np.zeros(3)
    tau = robot.inverse_dynamics(ends["start"]["q"], rest, rest)[0]
    words = f"start: shoulder takes {tau:.4g} N m to rest there, its limit is 3 N m"
    assert [*remarks_on(reading.read(task, robot), robot)] == [words]
    task["loads"] = {"grip": ["t", 0, 0, 0, 0, 0]}
    assert remarks_on(reading.read(task, robot), robot) == ()


def test_several_starts_are_the_default_around_obstacles(robot):
    task = reading.read(file_of(WALL.format("0.2")), robot)
    assert task.keep_out.acts and not reading.read(file_of(RIGHT), robot).keep_out.acts


def test_a_simulation_follows_a_motion_that_turns_against_stiff_friction(monkeypatch):
    """Of one joint: 0.1 N m of friction that changes its sign within 1 mm/s, at 1 g m^2."""
    inertia, control = 1e-3, np.array([0, 0, 0.4, 0.2, 0.2])[:, None]
    module = SimpleNamespace(
        coordinate_names=["wheel"],
        inverse_dynamics=lambda q, qd, qdd: inertia * qdd + 0.1 * np.tanh(1e3 * qd),
        forward_dynamics=lambda q, qd, tau: (tau - 0.1 * np.tanh(1e3 * qd)) / inertia,
    )
    monkeypatch.setattr(verification, "MOST_STEPS", 400)
    path = Splines(Profile(3, 2), control, 1.0, None, Chart(Configuration(1)))
    end = verification.simulate_forward(SimpleNamespace(parameters={}), module, path)
    assert np.abs(np.ravel(end) - [0.2, 0]).max() < 1e-8
    monkeypatch.setattr(verification, "MOST_CALLS", 9)
    with pytest.raises(np.linalg.LinAlgError):
        verification.simulate_forward(SimpleNamespace(parameters={}), module, path)


def test_surfaces_that_are_drawn_are_those_of_distances():
    turned = np.linalg.qr(np.arange(9.0).reshape(3, 3) ** 2)[0]
    place = np.array([0.3, -0.2, 0.1])
    for obstacle in (
        Sphere("s", place, 0.4),
        Box("b", place, np.array([0.2, 0.3, 0.4]), turned),
        HalfSpace("h", place, turned[0]),
    ):
        vertices, _ = obstacle.surface(np.array([1.0, 2.0, 3.0]), 5.0)
        assert np.abs(obstacle.distance(vertices)[0]).max() < 1e-12


@pytest.mark.slow
def test_a_pose_out_of_reach_says_how_far_it_is_and_how_far_the_robot_reaches(monkeypatch):
    robot, far = arm(), "hand cannot get to (7, 0, 0), 7 m from the base: it reaches ("
    for goal, parts in (
        ({"link": "hand", "position": [7, 0, 0]}, [far, ", 0.7 m from the base", "stays 6.3 m"]),
        ({"link": "upper", "position": [0, 0, 0], "rpy": [0, 1, 0]}, ["not in the orientation"]),
        ({"link": "fore", "position": [0.4, 0, 0]}, []),
    ):
        read = reading.read({"symgen_task": 1, "start": {"q": 0}, "goal": goal}, robot)
        words = out_of_reach(read, robot, read.goal)
        assert all(part in words for part in parts) and bool(words) == bool(parts), words
    monkeypatch.setattr(starting, "_TRIES", 0)
    with pytest.raises(ModelError, match=r"if this is in mm, divide by 1000"):
        goal = {"link": "hand", "position": [350, 300, 50]}
        reading.read({"symgen_task": 1, "start": {"q": 0}, "goal": goal}, robot)


@pytest.mark.parametrize("turned", [False, True])
def test_all_stands_for_those_that_are_not_named_wherever_it_stands(robot, turned):
    first, *others = robot.coordinate_names
    given = {first: 1.0, "all": 0.2} if turned else {"all": 0.2, first: 1.0}
    task = {"symgen_task": 1, "start": {"q": 0}, "goal": {"q": given}}
    assert reading.read(task, robot).goal.q.tolist() == [1.0, *[0.2] * len(others)]


def test_tasks_take_the_names_of_the_file(robot):
    """With a sign, of links below `link` and `loads`; a joint may not be named twice."""
    names = {"shoulder": "joint-1", "elbow": "joint-2", "hand": "link-3", "grip": "a-load"}
    ball = [{"link": "link-3", "radius": 0.1}]
    box = [{"box": [9, 9, 9], "size": [1, 1, 1]}]
    ends = {"start": {"q": {"joint-1": 1, "all": 0}}, "goal": {"q": 0}}
    task = {"symgen_task": 1, **ends, "keep_out": {"spheres": ball, "obstacles": box},
            "limits": {"velocity": {"joint-2": 3}}}  # fmt: skip
    with patch.dict(robot.file_names, names):
        read = reading.read(task, robot)
        twice = {**task, "goal": {"q": {"joint-1": 1, "shoulder": 2, "all": 0}}}
        with pytest.raises(ModelError, match="'joint-1' is no coordinate"):
            reading.read(twice, robot)
        mirrored = {"symgen_task": 1, "mirrored": {"joint-1": "-joint-2"}, "goal": {"q": 0}}
        pairs = reading.read(mirrored, robot).mirrored
    assert read.start.q.tolist() == [1, 0, 0] and read.keep_out.balls[0].link == 2
    assert read.limits.velocity[1].tolist() == [-3, 3]
    assert (
        pairs.coordinates
        and pairs == reading.read({**mirrored, "mirrored": {"shoulder": "-elbow"}}, robot).mirrored
    )
    text = 'file_names: {elbow: joint-2, hand: "3 d"}\n'
    wrong = {
        "symgen_task": 1,
        "start": {"q": {"joint-2": 1}},
        "via": [{"link": "3 d"}, {"link": "x"}],
    }
    with pytest.raises(ModelError, match=r"^task: via\[2\].link: [^\n]*$"):
        symgen.plan(file_of(ARM + text), wrong)


def test_trajectories_have_no_efforts_and_no_rounding():
    chart = SimpleNamespace(plain=np.array([True]), space=Configuration(1))
    motion = SimpleNamespace(q=np.ones((2, 1)), qd=np.array([[1], [-3e-15]]), qdd=np.zeros((2, 1)))
    path = SimpleNamespace(profile=SimpleNamespace(pieces=1), chart=chart, motion=lambda s: motion)
    module = SimpleNamespace(actuated=[True], coordinate_names=["a"], file_names={"a": "a-1"})
    solved = SimpleNamespace(path=path, module=module, T=1.0, status="solved")
    text = results._joint_trajectory(solved).decode()
    assert 'joint_names:\n  - "a-1"\n' in text and "effort" not in text
    assert "velocities: [1.0]" in text and "velocities: [0.0]" in text


def test_names_that_a_robot_lacks_are_told_before_it_is_built(monkeypatch):
    monkeypatch.setattr(plan, "build", None)
    path, balls = file_of(ARM), [{"link": "hnd", "radius": 0.1}]
    task = {"symgen_task": 1, "start": {"q": {"elbw": 1, "all": 0}}, "keep_out": {"spheres": balls}}
    task |= {"goal": {"point": "tol"}, "limits": {"torque": {"wrst": 1}}, "via": [{"link": "fre"}]}
    with pytest.raises(ModelError) as caught:
        symgen.plan(path, task)
    keys = ["goal.point", "keep_out.spheres[1].link", "limits.torque.wrst", "start.q.elbw"]
    assert sorted(fault.key for fault in caught.value.faults) == [*keys, "via[1].link"]


def test_what_cannot_be_planned_for_is_told_before_anything_is_built(monkeypatch):
    monkeypatch.setattr(plan, "build", None)
    path = file_of(
        "symgen: 1\nname: body\njoints:\n  - {name: b, type: revolute, prescribed: true, "
        "origin: {}, link: {mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}}\n"
    )
    with pytest.raises(RequestError, match="a joint of this robot is prescribed"):
        symgen.plan(path, {"symgen_task": 1, "start": {"q": 0}, "goal": {"q": 0}})


def test_the_page_has_the_task():
    task = {
        "symgen_task": 1, "start": {"q": {"shoulder": "30*deg"}, "qd": {"all": None}},
        "goal": {"q": [1, 0, 2]}, "via": [{"at": 0.5, "point": "tool", "position": [0.7, 0, 0]}],
        "limits": {"velocity": {"elbow": [-1, 2]}, "outputs": {"height": [0, 1]}},
    }  # fmt: skip
    robot = arm((*NEEDED, "point_motion"))
    read = reading.read(task, robot)
    headings, rows = table_of_coordinates(read, robot)
    names = ["start q", "goal q", "limits of q", "limits of q̇ (1/s)"]
    assert headings == [*names, "limits of torque (N m), force (N)"]
    assert rows[:2] == [
        ("shoulder (rad)", "0.5236", "1", "±3", "±6", "±40"),
        ("elbow (rad)", "", "0", "±3", "-1 to 2", "±20"),
    ]
    assert read.written == (
        ("start", "qd: {all: ~}"),
        ("via", "[{at: 0.5, point: tool, position: [0.7, 0, 0]}]"),
        ("limits", "outputs: {height: [0, 1]}"),
    )
