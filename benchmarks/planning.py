"""The same optimal motions with symgen, with CasADi's own dynamics, with Pinocchio's derivatives.

One nonlinear program (fastest motion of examples/arm7.yaml, 60 cubic segments, torques limited at
121 instants, velocities by control points), one solver (IPOPT of CasADi's wheel, with the same
options), one start (straight, 2 s), one tolerance (1e-9), one thread.  What differs is who computes
objective, constraints and derivatives:

    symgen       batched generated functions, second derivatives in closed form
    pinocchio    the same program, with `computeRNEADerivatives` at one instant after another, and
                 second derivatives by differences of these
    casadi       torques as an SX function, mapped over the instants; everything else by CasADi,
                 whose Hessian is exact

    python -m benchmarks.planning [--repeat 3]
"""

import argparse
import time
from pathlib import Path

import numpy as np

import symgen
from benchmarks.contestants.casadi_c import symbolic_function
from benchmarks.machine import machine
from benchmarks.rigid_bodies import rigid_bodies
from symgen.planning import reading
from symgen.planning.ipopt import ipopt_options
from symgen.planning.program import SOLVED, Choices, Interrupted
from symgen.planning.solver import solve
from symgen.planning.splines import Profile
from symgen.planning.starting import guess
from symgen.planning.transcription import transcribe

EXAMPLES = Path(__file__).parents[1] / "examples"
"""Torque and velocity limits, times those of the file."""
PROBLEMS = (("arm7", 1.0, 1.0), ("arm7, torques x 0.4, velocities x 3", 0.4, 3.0))
SEGMENTS, PER_SEGMENT = 60, 2


def task_of(robot, torque, velocity):
    start = [-1.2, 0.9, 0.3, -0.9, 0.2, 1.2, 0.5]
    goal = [1.2, -0.3, -0.6, -2.3, -0.4, 2.4, -0.8]
    task = {
        "symgen_task": 1, "start": {"q": start}, "goal": {"q": goal}, "guess": {"T": 2},
        "limits": {
            "torque": torque * robot.limits["effort"],
            "velocity": velocity * robot.limits["velocity"],
        },
        "profile": {"segments": SEGMENTS, "check": "midpoints"},
    }  # fmt: skip
    return reading.read(task, robot)


class Timed:
    """A program whose calls are timed: the share of the dynamics, and of what is around them."""

    def __init__(self, program):
        self.program, self.seconds = program, 0.0

    def __getattr__(self, name):
        value = getattr(self.program, name)
        if not callable(value):
            return value

        def timed(*arguments):
            begun = time.perf_counter()
            result = value(*arguments)
            self.seconds += time.perf_counter() - begun
            return result

        return timed


class PinocchioRobot:
    """The two functions that a plan calls, by Pinocchio, one instant after another."""

    def __init__(self, robot, bodies):
        import pinocchio

        from benchmarks.contestants.pinocchio_python import pinocchio_model

        self.pin, self.robot, self.bodies = pinocchio, robot, bodies
        self.model = pinocchio_model(bodies)
        self.data = self.model.createData()

    inverse_dynamics_hessian = None  # Pinocchio has none: differences of the first derivatives

    def __getattr__(self, name):
        return getattr(self.robot, name)

    def inverse_dynamics(self, q, qd, qdd):
        shape = np.broadcast_shapes(q.shape, qd.shape, qdd.shape)
        states = (np.broadcast_to(x, shape).reshape(-1, shape[-1]) for x in (q, qd, qdd))
        rows = [self.pin.rnea(self.model, self.data, *row) for row in zip(*states, strict=True)]
        return np.array(rows).reshape(shape)

    def inverse_dynamics_derivatives(self, q, qd, qdd):
        shape = np.broadcast_shapes(q.shape, qd.shape, qdd.shape)
        n = shape[-1]
        states = (np.broadcast_to(x, shape).reshape(-1, n) for x in (q, qd, qdd))
        count = int(np.prod(shape[:-1]))
        tau, found = np.empty((count, n)), np.empty((3, count, n, n))
        for k, row in enumerate(zip(*states, strict=True)):
            by_q, by_qd, by_qdd = self.pin.computeRNEADerivatives(self.model, self.data, *row)
            tau[k] = self.data.tau
            found[0, k], found[1, k] = by_q, by_qd
            found[2, k] = np.triu(by_qdd) + np.triu(by_qdd, 1).T
        square = (*shape, n)
        return tau.reshape(shape), *(one.reshape(square) for one in found)


def by_symgen(robot, task):
    begun = time.perf_counter()
    profile = Profile(3, SEGMENTS)
    program = transcribe(task, robot, profile, PER_SEGMENT)
    x = guess(task, robot, profile, None)
    construction = time.perf_counter() - begun
    timed = Timed(program)
    outcome = solve(timed, x, Choices(), Interrupted())
    return construction, outcome.seconds, timed.seconds, outcome


def by_casadi(robot, task, bodies):
    """The same rows in the same order, as CasADi's symbols."""
    import casadi as ca

    begun = time.perf_counter()
    profile = Profile(3, SEGMENTS)
    program = transcribe(task, robot, profile, PER_SEGMENT)  # its bounds, and the start
    start = guess(task, robot, profile, None)
    n, M = robot.n, profile.controls
    s = np.linspace(0, 1, PER_SEGMENT * SEGMENTS + 1)
    local = profile.at(s)
    basis = np.zeros((3, len(s), M))
    columns = local.first[:, None] + np.arange(4)
    for order in range(3):
        basis[order, np.arange(len(s))[:, None], columns] = local.values[order]
    torques = symbolic_function(bodies, "inverse_dynamics").map(len(s))
    x = ca.MX.sym("x", program.unknowns)
    control, T = ca.reshape(x[: M * n], n, M), x[M * n]
    states = [control @ ca.sparsify(ca.DM(basis[r])).T / T**r for r in range(3)]
    tau = ca.reshape(torques(*states), n, len(s))
    rates = next(term for term in program.terms if term.name == "velocity")
    speed = control @ ca.sparsify(ca.DM(rates.matrix)).T / T
    rows = [
        ca.vec(speed / ca.repmat(ca.DM(rates.scale), 1, speed.shape[1])),
        ca.vec(tau / ca.repmat(ca.DM(task.limits.torque[:, 1]), 1, len(s))),
    ]
    options = {"ipopt": ipopt_options(Choices()), "print_time": False}
    solver = ca.nlpsol("plan", "ipopt", {"x": x, "f": T, "g": ca.vertcat(*rows)}, options)
    construction = time.perf_counter() - begun
    begun = time.perf_counter()
    found = solver(
        x0=np.clip(start, program.lower, program.upper), lbx=program.lower, ubx=program.upper,
        lbg=program.lower_rows, ubg=program.upper_rows,
    )  # fmt: skip
    seconds = time.perf_counter() - begun
    stats = solver.stats()
    dynamics = sum(value for key, value in stats.items() if key.startswith("t_wall_nlp"))
    return construction, seconds, dynamics, stats, found["x"].full().ravel()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    path = EXAMPLES / "arm7.yaml"
    robot = symgen.load(path)
    bodies = rigid_bodies(symgen.read(path))
    for key, value in machine().items():
        print(f"{key}: {value}")
    heading = f"{'problem':36} {'':10} {'T':>9} {'its':>5}"
    print(f"{heading} {'solve s':>8} {'callbacks':>9} {'build s':>8}")
    for name, torque, velocity in PROBLEMS:
        task = task_of(robot, torque, velocity)
        for contestant in ("symgen", "pinocchio", "casadi"):
            runs = []
            for _ in range(repeat if contestant == "symgen" else 1):
                if contestant == "casadi":
                    construction, seconds, dynamics, stats, x = by_casadi(robot, task, bodies)
                    T, iterations = x[-1], stats["iter_count"]
                    solved = stats["return_status"] == "Solve_Succeeded"
                else:
                    module = robot if contestant == "symgen" else PinocchioRobot(robot, bodies)
                    construction, seconds, dynamics, outcome = by_symgen(module, task)
                    T, iterations = outcome.x[-1], len(outcome.steps) - 1
                    solved = outcome.ended == SOLVED
                runs.append((seconds, dynamics, construction))
            seconds, dynamics, construction = min(runs)
            ended = "" if solved else " (not solved)"
            print(
                f"{name:36} {contestant:10} {T:9.6f} {iterations:5d} {seconds:8.3f} "
                f"{dynamics / seconds:9.0%} {construction:8.3f}{ended}"
            )


if __name__ == "__main__":
    main()
