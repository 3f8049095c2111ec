"""The same optimal motions, solved by symgen and by others.

One nonlinear program (fastest motion of examples/arm7.yaml, 60 cubic segments, torques limited at
121 instants, velocities by control points), one solver (IPOPT of CasADi's wheel, with the same
options), one start (straight, 2 s), one tolerance (1e-9), one thread.  What differs is who computes
objective, constraints and derivatives:

    symgen            batched generated functions, second derivatives in closed form
    casadi            torques as an SX function, mapped over the instants; the rest by CasADi, exact
    casadi compiled   the same, as C that CasADi generates, gcc -O3 -march=native
    pinocchio         `computeRNEADerivatives` at one instant after another, from Python, and
                      second derivatives by differences of these

Then those who state the same program, or the nearest, to solvers of their own (tolerance 1e-6):

    drake snopt       `KinematicTrajectoryOptimization`, the same spline and limits, no Hessians
    drake ipopt       the same, IPOPT with limited memory
    crocoddyl         the time given, Euler steps, penalties: see `benchmarks.plan_others`

`--derivatives` shows instead how the two-link arm of Xiang 2009 fares with the exact derivatives of
each formulation, and with central differences of its torques.  `--chain` adds a general chain of 24
joints, 20 segments, with symgen and CasADi: minutes.  Who is not installed is left out, and the
table says so.

    python -m benchmarks.planning [--repeat 5] [--only symgen,casadi] [--chain] [--derivatives]
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

import symgen
from benchmarks import plan_contestants, plan_others
from benchmarks.contestants import installed
from benchmarks.machine import machine
from benchmarks.models import chain
from benchmarks.plan_contestants import Setting
from benchmarks.rigid_bodies import rigid_bodies
from symgen.planning import reading

EXAMPLES = Path(__file__).parents[1] / "examples"
"""Torque and velocity limits, times those of the file."""
PROBLEMS = (("arm7", 1.0, 1.0), ("arm7, torques x 0.4, velocities x 3", 0.4, 3.0))
SEGMENTS, PER_SEGMENT = 60, 2
LINKS, CHAIN_SEGMENTS = 24, 20

CONTESTANTS = {
    "symgen": ("casadi", plan_contestants.by_symgen),
    "casadi": ("casadi", plan_contestants.by_casadi),
    "casadi compiled": ("casadi", plan_contestants.by_compiled_casadi),
    "pinocchio": ("pinocchio", plan_contestants.by_pinocchio),
    "drake snopt": ("pydrake", plan_others.by_drake_snopt),
    "drake ipopt": ("pydrake", plan_others.by_drake_ipopt),
    "crocoddyl": ("crocoddyl", plan_others.by_crocoddyl),
}
"""Name -> the module it needs, and who solves."""
FOR_CHAINS = ("symgen", "casadi")
FIRST = "inverse_dynamics_derivatives"


def task_of(robot, torque, velocity):
    """The fastest motion of arm7."""
    start = [-1.2, 0.9, 0.3, -0.9, 0.2, 1.2, 0.5]
    goal = [1.2, -0.3, -0.6, -2.3, -0.4, 2.4, -0.8]
    torques = torque * robot.limits["effort"]
    return _task(robot, start, goal, torques, velocity * robot.limits["velocity"], SEGMENTS)


def chain_task(robot):
    """The fastest motion of a chain; its torques are twice what holds it on a line, and 50 N m."""
    random = np.random.default_rng(24)
    start, goal = random.uniform(-0.5, 0.5, (2, robot.n))
    line = start + np.linspace(0, 1, 51)[:, None] * (goal - start)
    still = np.zeros_like(line)
    held = np.abs(robot.inverse_dynamics(line, still, still)).max(axis=0)
    return _task(robot, start, goal, 2 * held + 50, np.full(robot.n, 3.0), CHAIN_SEGMENTS)


def _task(robot, start, goal, torques, velocities, segments):
    task = {
        "symgen_task": 1, "start": {"q": list(start)}, "goal": {"q": list(goal)},
        "guess": {"T": 2}, "limits": {"torque": torques, "velocity": velocities},
        "profile": {"segments": segments, "check": "midpoints"},
    }  # fmt: skip
    return reading.read(task, robot)


def arm_settings():
    """Name and setting of every problem of arm7."""
    path = EXAMPLES / "arm7.yaml"
    robot, bodies = symgen.load(path), rigid_bodies(symgen.read(path))
    for name, torque, velocity in PROBLEMS:
        yield name, Setting(robot, bodies, task_of(robot, torque, velocity), SEGMENTS, PER_SEGMENT)


def chain_settings():
    """The chain."""
    with tempfile.TemporaryDirectory(prefix="symgen-bench-") as folder:
        path = chain(LINKS, folder)
        robot, bodies = symgen.load(path), rigid_bodies(symgen.read(path))
    yield (
        f"chain of {LINKS} joints",
        Setting(robot, bodies, chain_task(robot), CHAIN_SEGMENTS, PER_SEGMENT),
    )


def show(name, setting, contestants, repeat):
    """A line for each contestant; symgen's best of several runs."""
    T = None
    for contestant in contestants:
        needed, solve = CONTESTANTS[contestant]
        title = f"{name:36} {contestant:16}"
        if not installed(needed):
            print(f"{title} not installed", flush=True)
            continue
        if contestant == "crocoddyl":
            if T is None:
                print(f"{title} needs symgen's time", flush=True)
                continue
            runs = [solve(setting, T)]
        else:
            runs = [solve(setting) for _ in range(repeat if contestant == "symgen" else 1)]
        best = min(runs, key=lambda run: run.seconds)
        T = best.T if contestant == "symgen" else T
        iterations = "-" if best.iterations is None else best.iterations
        share = "-" if best.share is None else f"{best.share:.0%}"
        print(
            f"{title} {best.T:9.6f} {iterations:>5} {best.seconds:8.3f} {share:>9} "
            f"{best.construction:8.3f} {best.compilation:8.1f} {best.violation:9.1e} "
            f"{'' if best.solved else '(not solved) '}{best.note}".rstrip(),
            flush=True,
        )


def show_derivatives(repeat):
    """The published fastest motion by each formulation, and by central differences."""
    plan = EXAMPLES / "plan"
    robot = symgen.load(plan / "two_link_free.yaml", formulations="all")
    formulations = [name for name in robot.formulations if hasattr(getattr(robot, name), FIRST)]
    ways = {name: plan_contestants.OneFormulation(robot, name) for name in formulations}
    ways["central differences"] = plan_contestants.Differences(robot)
    for name, module in ways.items():
        task = reading.read(plan / "two_link_fastest.yaml", module)
        setting = Setting(module, None, task, 20, 1)
        best = min((plan_contestants.by_symgen(setting) for _ in range(repeat)), key=_seconds)
        print(f"{name:24} T {best.T:.6f} {best.iterations:4} iterations {best.seconds:8.4f} s")


def _seconds(solution):
    return solution.seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5, help="runs of symgen, of which the best")
    parser.add_argument("--only", default=",".join(CONTESTANTS), help="some, separated by commas")
    parser.add_argument("--chain", action="store_true", help="the chain of 24 joints, too")
    parser.add_argument("--no-arm", action="store_true", help="not arm7")
    parser.add_argument("--derivatives", action="store_true", help="of the two-link arm, alone")
    given = parser.parse_args()
    if given.derivatives:
        show_derivatives(given.repeat)
        return
    chosen = given.only.split(",")
    unknown = [name for name in chosen if name not in CONTESTANTS]
    if unknown:
        parser.error(f"--only: {', '.join(unknown)}; there are {', '.join(CONTESTANTS)}")
    for key, value in machine().items():
        print(f"{key}: {value}")
    print(
        f"{'problem':36} {'':16} {'T':>9} {'its':>5} {'cpu s':>8} {'callbacks':>9} "
        f"{'build s':>8} {'gcc s':>8} {'violation':>9}"
    )
    if not given.no_arm:
        for name, setting in arm_settings():
            show(name, setting, chosen, given.repeat)
    if given.chain:
        for name, setting in chain_settings():
            show(name, setting, [one for one in chosen if one in FOR_CHAINS], given.repeat)


if __name__ == "__main__":
    main()
