"""Those who solve the nonlinear programs of `benchmarks.planning`, one function each.

A function takes a `Setting` and returns a `Solution`.  What is counted as dynamics are all calls
of objective, constraints and derivatives.
"""

import contextlib
import subprocess
import tempfile
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contestants.casadi_c import symbolic_function
from benchmarks.native import REFERENCE_FLAGS
from benchmarks.rigid_bodies import RigidBodies
from symgen.planning.solver import SOLVED, Choices, Interrupted, ipopt_options, solve
from symgen.planning.splines import Profile
from symgen.planning.starting import guess
from symgen.planning.transcription import transcribe
from symgen.toolchain.compiler import find_compiler


@dataclass(frozen=True)
class Setting:
    """A robot, its task, the spline."""

    robot: Any
    bodies: RigidBodies
    task: Any
    segments: int
    per_segment: int

    @property
    def profile(self):
        return Profile(3, self.segments)

    @cached_property
    def instants(self):
        return np.linspace(0, 1, self.per_segment * self.segments + 1)

    def program(self):
        return transcribe(self.task, self.robot, self.profile, self.per_segment)

    def start(self):
        return guess(self.task, self.robot, self.profile, None)

    def violation(self, x):
        """How far limits at the instants are exceeded, relative to them."""
        return max((fault.over for fault in self.program().broken(x, 0.0)), default=0.0)


@dataclass(frozen=True)
class Solution:
    """T (s), and what it took: iterations and share of dynamics, None where nobody says.

    `seconds` of the processor for the solution; `construction` and `compilation` by the clock.
    """

    T: float
    seconds: float
    construction: float
    solved: bool
    iterations: int | None = None
    share: float | None = None
    compilation: float = 0.0
    violation: float = 0.0
    note: str = ""


class Timed:
    """A program whose calls are timed."""

    def __init__(self, program):
        self.program, self.seconds = program, 0.0

    def __getattr__(self, name):
        value = getattr(self.program, name)
        if not callable(value):
            return value

        def timed(*arguments):
            begun = time.process_time()
            result = value(*arguments)
            self.seconds += time.process_time() - begun
            return result

        return timed


def by_symgen(setting):
    """Batched generated functions, second derivatives in closed form."""
    begun = time.perf_counter()
    program, x = setting.program(), setting.start()
    construction = time.perf_counter() - begun
    timed = Timed(program)
    begun = time.process_time()
    outcome = solve(timed, x, Choices(), Interrupted())
    seconds = time.process_time() - begun
    return Solution(
        outcome.x[-1], seconds, construction, outcome.ended == SOLVED,
        len(outcome.steps) - 1, timed.seconds / seconds,
        violation=setting.violation(outcome.x),
    )  # fmt: skip


class OneFormulation:
    """A module whose functions are those of one formulation, where it has them."""

    def __init__(self, robot, formulation):
        self.robot, self.chosen = robot, getattr(robot, formulation)

    def __getattr__(self, name):
        return getattr(self.chosen, name, None) or getattr(self.robot, name)


class Differences:
    """A module whose derivatives of torques are central differences; there are no second ones."""

    inverse_dynamics_hessian = None

    def __init__(self, robot, step=1e-5):
        self.robot, self.step = robot, step

    def __getattr__(self, name):
        return getattr(self.robot, name)

    def inverse_dynamics_derivatives(self, *state, **options):
        tau, n = self.robot.inverse_dynamics(*state, **options), self.robot.n
        slopes = np.empty((3, *tau.shape, n))
        for argument in range(3):
            for k, axis in enumerate(self.step * np.eye(n)):
                ends = []
                for sign in (1, -1):
                    moved = list(state)
                    moved[argument] = moved[argument] + sign * axis
                    ends.append(self.robot.inverse_dynamics(*moved, **options))
                slopes[argument, ..., k] = (ends[0] - ends[1]) / (2 * self.step)
        return tau, *slopes


# ------------------------------------------------------------------------------------ Pinocchio


class PinocchioRobot:
    """The functions that a plan calls, by Pinocchio, one instant after another."""

    inverse_dynamics_hessian = None  # Pinocchio has none: differences of the first derivatives

    def __init__(self, robot, bodies):
        import pinocchio

        from benchmarks.contestants.pinocchio_python import pinocchio_model

        self.pin, self.robot = pinocchio, robot
        self.model = pinocchio_model(bodies)
        self.data = self.model.createData()

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


def by_pinocchio(setting):
    """The same program with `computeRNEADerivatives`; second derivatives by differences."""
    module = PinocchioRobot(setting.robot, setting.bodies)
    return by_symgen(
        Setting(module, setting.bodies, setting.task, setting.segments, setting.per_segment)
    )


# --------------------------------------------------------------------------------------- CasADi


def by_casadi(setting):
    """Torques as an SX function, mapped over the instants; the derivatives by CasADi, exact."""
    return _by_casadi(setting, compiled=False)


def by_compiled_casadi(setting):
    """The same, objective, constraints, Jacobian and Hessian as C that CasADi generates."""
    return _by_casadi(setting, compiled=True)


def _by_casadi(setting, compiled):
    import casadi as ca

    begun = time.perf_counter()
    program, start = setting.program(), setting.start()
    options = {"ipopt": ipopt_options(Choices()), "print_time": False}
    problem = _symbols(setting, program)
    solver = ca.nlpsol("plan", "ipopt", problem, options)
    construction, compilation = time.perf_counter() - begun, 0.0
    if compiled:
        begun = time.perf_counter()
        solver = _compiled(ca, solver, options)
        compilation = time.perf_counter() - begun
    begun = time.process_time()
    found = solver(
        x0=np.clip(start, program.lower, program.upper), lbx=program.lower, ubx=program.upper,
        lbg=program.lower_rows, ubg=program.upper_rows,
    )  # fmt: skip
    seconds = time.process_time() - begun
    stats, x = solver.stats(), found["x"].full().ravel()
    dynamics = sum(value for key, value in stats.items() if key.startswith("t_proc_nlp"))
    return Solution(
        x[-1], seconds, construction, stats["return_status"] == "Solve_Succeeded",
        stats["iter_count"], dynamics / seconds, compilation, setting.violation(x),
    )  # fmt: skip


def _symbols(setting, program):
    """The same rows in the same order, as CasADi's symbols."""
    import casadi as ca

    profile, task, s = setting.profile, setting.task, setting.instants
    n, M = setting.robot.n, profile.controls
    local = profile.at(s)
    basis = np.zeros((3, len(s), M))
    columns = local.first[:, None] + np.arange(4)
    for order in range(3):
        basis[order, np.arange(len(s))[:, None], columns] = local.values[order]
    torques = symbolic_function(setting.bodies, "inverse_dynamics").map(len(s))
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
    return {"x": x, "f": T, "g": ca.vertcat(*rows)}


def _compiled(ca, solver, options):
    """The solver with its functions in a shared library."""
    with tempfile.TemporaryDirectory(prefix="symgen-bench-") as name:
        folder = Path(name)
        with contextlib.chdir(folder):  # CasADi writes where it is
            source = solver.generate_dependencies("plan.c")
            command = [*find_compiler().command, *REFERENCE_FLAGS, "-w", "-fPIC", "-shared"]
            subprocess.run([*command, source, "-o", "plan.so", "-lm"], check=True)
        return ca.nlpsol("plan", "ipopt", str(folder / "plan.so"), options)
