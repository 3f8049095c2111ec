"""A hundred random tasks of a 7R arm: SciPy evaluates the spline and integrates its torques."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import BSpline

import symgen
from tests.modules import module
from tests.planning.robots import EXAMPLES

pytestmark = pytest.mark.deep

COUNT, SOLVED = 100, 95
SEEDS = range(COUNT)


def reachable(robot, random):
    """A task between postures the arm can hold, on a line along which it can hold itself.

    Its limits are those of the file times random factors; every second goal is a place of the hand.
    """
    lower, upper = robot.limits["lower"], robot.limits["upper"]
    torque = robot.limits["effort"] * random.uniform(0.5, 1.5, robot.n)
    velocity = robot.limits["velocity"] * random.uniform(0.5, 3.0, robot.n)
    while True:
        start, goal = (random.uniform(lower, upper) for _ in range(2))
        line = start + np.linspace(0, 1, 51)[:, None] * (goal - start)
        still = np.zeros_like(line)
        if np.all(np.abs(robot.inverse_dynamics(line, still, still)) < 0.9 * torque):
            break
    place = {"link": robot.link_names[-1], "position": position(robot, goal).tolist()}
    return {
        "symgen_task": 1,
        "start": {"q": start.tolist()},
        "goal": place if random.random() < 0.5 else {"q": goal.tolist()},
        "limits": {"torque": torque.tolist(), "velocity": velocity.tolist()},
    }


def position(robot, q):
    return robot.frame_pose(robot.link_names[-1], q)[:3, 3]


def contradicted(robot, task, plan, random):
    T, profile = plan.T, plan.path.profile
    path = BSpline(profile.knots, plan.control_points, profile.degree)
    slopes = [path, path.derivative(1), path.derivative(2)]

    def state(t):
        return [one(t / T) / T**order for order, one in enumerate(slopes)]

    q, qd, qdd = state(np.sort(random.uniform(0, T, 3000)))
    tau = robot.inverse_dynamics(q, qd, qdd)
    lower, upper = robot.limits["lower"], robot.limits["upper"]
    found = []
    for name, size, limit in (("torque", tau, "torque"), ("velocity", qd, "velocity")):
        over = (np.abs(size) / np.array(task["limits"][limit])).max() - 1
        if over > 1e-5:
            found.append(f"{name} exceeded by {over:.1e}")
    if np.any(q < lower - 1e-7) or np.any(q > upper + 1e-7):
        found.append("position")
    n = robot.n

    def rate(t, z):
        return np.concatenate([z[n:], robot.forward_dynamics(z[:n], z[n:], drive(t))])

    def drive(t):
        return robot.inverse_dynamics(*state(t))

    end = np.concatenate([task["start"]["q"], np.zeros(n)])
    knots = np.unique(plan.path.profile.knots) * T
    for span in pairwise(knots):  # between kinks
        end = solve_ivp(rate, span, end, "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    if "q" in task["goal"]:
        miss = np.abs(end[:n] - task["goal"]["q"]).max()
    else:
        miss = np.abs(position(robot, end[:n]) - task["goal"]["position"]).max()
    if max(miss, np.abs(end[n:]).max()) > 1e-3:
        found.append(f"ends {miss:.1e} from the goal")
    return found


def test_random_tasks_that_can_be_met_are_solved():
    pytest.importorskip("casadi", reason="needs casadi: pip install 'symgen[test]'")
    robot = module(EXAMPLES / "arm7.yaml", functions="default", backend="compiled")
    solved, wrong = 0, {}
    for seed in SEEDS:
        random = np.random.default_rng([7, seed])
        task = reachable(robot, random)
        plan = symgen.plan(robot, task)
        if plan.status != "solved":
            continue
        solved += 1
        contradictions = contradicted(robot, task, plan, random)
        if contradictions:
            wrong[seed] = contradictions
    assert not wrong
    assert solved >= SOLVED
