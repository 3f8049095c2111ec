"""Plans of mechanisms: loops are closed by multipliers that are found with the motion."""

import re
from dataclasses import replace

import numpy as np
import pytest

import symgen
from symgen.description import read
from symgen.errors import ModelError, RequestError
from symgen.planning import reading
from symgen.planning.checks import check_robot
from symgen.planning.holding import too_weak
from symgen.planning.loops import opened
from symgen.planning.quantities import MotionSamples
from symgen.planning.splines import Profile
from symgen.planning.transcription import transcribe
from tests.modules import EXAMPLES, file_of, module
from tests.planning.robots import SOLVED, example
from tests.planning.test_quantities import check_derivatives

CLOSING = (
    "constraints", "constraint_jacobian", "constraint_rates", "constraint_torque_derivatives",
    "constraint_acceleration_derivatives", "constraint_bias", "mass_matrix", "bias_forces",
    "loop_wrenches",
)  # fmt: skip
FUNCTIONS = (*(name for name in SOLVED if not name.startswith("forward_dyn")), *CLOSING)
TURNED = {"symgen_task": 1, "start": {"q": {"crank": 1}}, "goal": {"q": {"crank": 2.6}}}
TURNED |= {"limits": {"torque": {"crank": 60}, "velocity": 10}}


def mechanism(name="mechanisms/four_bar"):
    return example(name, FUNCTIONS)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "bricard"])
def test_derivatives(name):
    """Rows of points and of axes, some of which depend on others."""
    robot = opened(mechanism(f"mechanisms/{name}"))
    ends = {key: {"q": {robot.coordinate_names[0]: x}} for key, x in (("start", 1), ("goal", 1.3))}
    weights = {"objective": {"time": 1, "torque": 0.1}, "limits": {"torque": 30}}
    task = reading.read({"symgen_task": 1, **ends, **weights}, robot)
    check_derivatives(transcribe(task, robot, Profile(3, 5), 2), 0)


@pytest.mark.slow
def test_torques_are_those_of_the_mechanism():
    """By its own dynamics, which know nothing of the multipliers of the plan; closed throughout."""
    robot = mechanism()
    plan = symgen.plan(robot, TURNED | {"profile": {"degree": 5, "segments": 40}})
    assert plan.status == "solved" and plan.final_error < 1e-8
    state = plan.path.motion(np.linspace(0, 1, 1234))
    assert np.abs(robot.constraints(state.q)).max() < 1e-8 > max(plan.gaps.values())
    tau = plan.torques(state.shares)
    motion = robot.constrained_forward_dynamics(state.q, state.qd, tau)
    assert np.abs(motion.qdd - state.qdd).max() < 1e-3 < 20 < np.abs(state.qdd).max()
    assert np.abs(tau[:, 1:]).max() < 1e-9 and 59.9 < np.abs(tau).max() < 60.0001
    multipliers = robot.constrained_forward_dynamics(plan.q, plan.qd, plan.tau).multipliers
    assert np.allclose(plan.multipliers, multipliers, atol=1e-3 * np.abs(multipliers).max())


@pytest.mark.slow
def test_a_slider_crank_turns_past_its_dead_centres(tmp_path):
    task = EXAMPLES / "plan" / "slider_crank_turn.yaml"
    robot = mechanism("plan/slider_crank")
    plan = symgen.plan(robot, task)
    assert plan.status == "solved" and plan.loads.shape[1] == 0
    assert 'joint_names:\n  - "crank"\npoints:' in plan.save(tmp_path / "plan.yaml").read_text()
    assert np.allclose(plan.q[-1], [2 * np.pi, -2 * np.pi, 0.4])
    assert np.abs(np.hypot(*_pin(plan.q[:, 0]) - [plan.q[:, 2], 0 * plan.t]) - 0.3).max() < 1e-9
    table = plan.save(tmp_path / "turn.csv").read_text().splitlines()
    columns = dict(zip(table[0].split(","), map(float, table[9].split(",")), strict=True))
    assert columns["multiplier_pin_y"] == plan.multipliers[8, 1] != 0
    page = plan.report(tmp_path / "turn.html").read_text()
    assert "Forces in the loops" in page and "motion: the tree cut open</h2>" in page
    assert "∂τ crank / ∂q" in page and "∂τ rod" not in page
    assert '<strong class="verdict good">solved' in page and "<td>no drive</td>" in page
    torques = robot.constrained_inverse_dynamics(plan.q, plan.qd, plan.qdd)
    assert np.allclose(plan.tau, torques.tau, rtol=0, atol=1e-9)
    assert np.allclose(plan.multipliers, torques.multipliers, rtol=0, atol=1e-9)


def _pin(crank):
    return 0.1 * np.array([np.cos(crank), np.sin(crank)])


@pytest.mark.parametrize(
    "change, words",
    [
        ({"goal": {"q": {"rocker": -3}}}, r"goal.q: .*branch with rocker from 1.29014 to 1.09469"),
        (
            {"goal": {"q": {"rocker": 60}}},
            r"not beyond; name .*; write 60\*deg if degrees are meant",
        ),
        ({"start": {"q": [1, 0, 1]}}, r"start.q: the loops do not close there: pin_\w is off by"),
        (
            {"start": {"q": {"crank": 1}, "qd": {"crank": 2, "rocker": 0}}},
            "nothing keeps the loops closed",
        ),
        ({"limits": {"wrench": {"crank": {"fx": 1}}}}, "not available yet for models with loops"),
        ({"method": "collocation"}, "not available yet for models with loops"),
    ],
)
def test_wrong_tasks(change, words):
    with pytest.raises(ModelError, match=words):
        reading.read(TURNED | change, opened(mechanism()))


@pytest.mark.slow
def test_outputs_that_contain_multipliers_may_be_in_the_model():
    """A task that names none of them has a plan; one that does is refused."""
    text = (EXAMPLES / "mechanisms" / "four_bar.yaml").read_text()
    robot = module(f"{text}outputs: {{side: multipliers.pin_x}}\n", functions=("all",))
    assert symgen.plan(robot, TURNED | {"profile": {"segments": 10}}).status == "solved"
    with pytest.raises(ModelError, match="some of which contain multipliers are not available"):
        symgen.plan(robot, TURNED | {"limits": {"outputs": {"side": 100}}})


def test_samples_between_instants_are_projected_onto_the_loops():
    """Near them; drives stay, and the mechanism's own dynamics take the accelerations."""
    robot, random = mechanism(), np.random.default_rng(0)
    q = np.array([robot.assemble(hold=["crank"], q=[x, -0.7, 1.2]) for x in (1.0, 1.2, 1.4)])
    state = [z + 1e-3 * random.normal(size=q.shape) for z in (q, 3 + 0 * q, 5 + 0 * q)]
    state[0][2] += [0, 3, 0]
    after = opened(robot).projected(MotionSamples(*state, np.zeros(3), np.zeros(3)), {})
    assert np.array_equal(after.q[2], state[0][2]) and after.q[0, 1] != state[0][0, 1]
    q, qd, qdd = (z[:2] for z in after.state)
    assert all(np.array_equal(z[:, 0], x[:2, 0]) for z, x in zip((q, qd, qdd), state, strict=True))
    assert np.abs(robot.constraints(q)).max() < 1e-12
    assert np.abs(robot.constraint_jacobian(q) @ qd[..., None]).max() < 1e-12
    assert np.isfinite(robot.constrained_inverse_dynamics(q, qd, qdd).tau).all()


def test_a_drive_too_weak_for_its_mechanism_and_loops_that_open_on_the_way_are_named():
    robot = mechanism()
    tree = opened(robot)
    task = reading.read(TURNED | {"limits": {"torque": {"crank": 8}}}, tree)
    q = tree.closed(np.linspace(task.start.q, task.goal.q, 20), {})
    tau = robot.constrained_inverse_dynamics(q, 0 * q, 0 * q).tau[:, 0]
    worst = np.abs(tau).argmax()
    ((k, words),) = too_weak(task, tree, q)
    assert k == worst and f"crank takes {tau[worst]:.4g} N m to rest there" in words
    tree.drives = [2]
    far = replace(task, goal=replace(task.goal, q=task.start.q + [0, 0, 3]))
    words = r"as rocker moves straight .*, the loops do not close at \d+ % of the way: pin_"
    assert re.match(words, tree.opens_on_the_way(far))


def test_ends_follow_driven_coordinates():
    """Past the start of the model, with its branch; velocities too; of two freedoms one is free."""
    robot = opened(mechanism())
    moving = TURNED | {"goal": {"q": {"crank": 1 + 2 * np.pi}, "qd": {"crank": 2}}}
    with pytest.raises(ModelError, match="nothing limits the motion, so that the least time is 0"):
        reading.read({key: moving[key] for key in ("symgen_task", "start", "goal")}, robot)
    task = reading.read(moving, robot)
    assert np.allclose(task.goal.q, task.start.q + [2 * np.pi, -2 * np.pi, 0])
    assert np.abs(robot.constraints(task.goal.q)).max() < 1e-9
    assert np.abs(robot.constraint_jacobian(task.goal.q) @ task.goal.qd).max() < 1e-9
    assert task.goal.qd[0] == 2 != task.goal.qd[2]
    two = opened(mechanism("mechanisms/five_bar"))
    ends = {"start": {"q": {"A": -2}}, "goal": {"q": {"A": -2.3, "one": 1.7}}}
    task = reading.read({"symgen_task": 1, "time": 1, **ends}, two)
    assert np.isnan(task.start.q[1:]).all() and not np.isnan(task.goal.q).any()


@pytest.mark.parametrize(
    "relation, words", [("qd.a - q.b*qd.b", "rolling"), ("q.a - sin(t)", "mentions the time")]
)
def test_relations_that_have_no_plan(relation, words):
    link = "link: {mass: 1}, type: prismatic, origin: {}"
    text = f"symgen: 1\nname: r\njoints: [{{name: a, {link}}}, {{name: b, {link}}}]\n"
    path = file_of(f"{text}relations: {{row: '{relation}'}}\n")
    with pytest.raises(RequestError, match=words):
        check_robot(read(path))
    with pytest.raises(RequestError, match=words):
        symgen.plan(module(path, functions=FUNCTIONS[:-1]), TURNED)


@pytest.mark.slow
def test_a_cycle_is_closed_once():
    """The end of a cycle is its start: loops that are closed there twice have no solution."""
    cycle = {"crank": "2*pi", "rod": "-2*pi"}
    task = {"symgen_task": 1, "mirrored": cycle, "start": {"q": {"crank": 0}}, "time": 0.5}
    task |= {"objective": {"torque": 1}, "profile": {"segments": 10}}
    plan = symgen.plan(mechanism("plan/slider_crank"), task)
    assert plan.status == "solved" and plan.objective < 0.2
    assert np.allclose(plan.qd[-1], plan.qd[0]) and plan.qd[0, 0] > 10
