"""`symgen.plan`: task -> optimal motion.

    read        task file -> Task, checked against the robot
    guess       straight motion, and random ones where several starts are wanted
    solve       with `check: refine` on a coarse spline first, whose segments are halved
    verify      limits on the fine grid, the torques in a forward simulation
    tighten     `check: refine`: limits exceeded between instants are tightened there, until none is

Coarse splines find better optima in less time than fine ones from a straight start, and their
optimum, refined by knot insertion, is a start near that of the finer spline.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from symgen import description
from symgen.errors import RequestError
from symgen.options import BuildOptions
from symgen.pipeline.building import build
from symgen.planning import collocation, reading
from symgen.planning.checks import check_module, check_robot, remarks_on
from symgen.planning.collocation import collocate
from symgen.planning.contacts import limbs
from symgen.planning.cuts import dependent
from symgen.planning.grounded import held_error
from symgen.planning.holding import too_weak
from symgen.planning.loops import Opened, opened
from symgen.planning.problem import Fault, Feasible, Problem, instant
from symgen.planning.quantities import options_of
from symgen.planning.results import EXCEEDED, Plan, Start
from symgen.planning.solver import (
    HOLDS,
    SOLVED,
    STOPPED,
    Choices,
    Interrupted,
    Outcome,
    Step,
    ready,
    solve,
    unknowns_and_equations,
)
from symgen.planning.splines import Profile
from symgen.planning.starting import guess, out_of_reach, reactions
from symgen.planning.task import (
    CLOSURE,
    COLLOCATION,
    MIDPOINTS,
    PER_SEGMENT,
    REFINE,
    SEGMENTS,
    SHORTEST,
    SPLINES,
    Cut,
    Task,
)
from symgen.planning.trajectories import Trajectory, trajectory
from symgen.planning.transcription import TORQUE, Margins, forces, instants, transcribe
from symgen.planning.verification import Verified, demand, margins, simulate_forward, verify
from symgen.support.arrays import Array
from symgen.support.journal import Journal
from symgen.toolchain.loading import checked_module, load_package

FEWEST_SEGMENTS = 10
"""Segments of the coarsest spline."""
MOST_TIGHTENED = 8
MOST_DOUBLED = 4
"""Largest number of times that collocation doubles its segments."""
NEARLY = 1e-3
"""Accepted relative violation of limits, 0.1 %, on the fine grid."""
MUCH = 0.1
"""Relative violation of limits on the fine grid above which a plan is infeasible."""
ARRIVES = 1e-3
"""Error of the forward simulation (rad, m, rad/s, m/s) above which a plan is not solved."""
MOST_POLYGONS = 3
"""Largest number of programs whose support polygons are those of the motion before."""
AROUND, MOST_RANDOM = 5, 200
"""Default number of starts around obstacles, and of iterations from those that are random."""
MOST_FEASIBLE = 150
"""Largest number of iterations until a motion keeps its limits."""
SLIDES = 0.25
"""Excess of friction pyramids between instants, as a share of the weight, above which a plan is not
solved."""
OPENS = 0.01
"""Gap of a loop between instants (m, or none) above which a plan is not solved."""
STAYS = 0.02
"""Error (rad, m) from one instant to the next, with contacts, above which a plan is not solved."""
NEARBY = 1e-4
"""Barrier parameter of a start near an optimum."""

Progress = Callable[[str, Step], None]
"""Listener to progress: the stage, and each iterate."""


@dataclass
class _Run:
    """A planning, and counts over all its solutions."""

    task: Task
    module: Any
    choices: Choices
    interrupted: Interrupted
    progress: Progress | None
    most_random: int
    evaluations: int = 0
    seconds: float = 0.0

    def profile(self, segments: int, per_segment: int) -> Profile:
        """Return the profile of the task, with limits at `per_segment` instants of each segment."""
        degree, task = self.task.profile.degree, self.task
        if task.profile.knots == SEGMENTS or not (task.cuts or task.contacts):
            return Profile(degree, segments)
        within = instants(task, self.module, per_segment)
        return Profile(degree, segments, within, self.dependent)

    @cached_property
    def dependent(self) -> tuple[int, ...]:
        """Coordinates that close the cuts, judged along the straight motion, and that stand."""
        task, chosen = self.task, list[int]()
        if task.cuts:
            profile = Profile(task.profile.degree, task.profile.segments)
            control = guess(task, self.module, profile, None)[:-1]
            chosen += dependent(task, self.module, control.reshape(-1, self.module.n))
        if task.contacts is not None:
            chosen += limbs(task.contacts, self.module, task.parameters)
        return tuple(sorted({*chosen}))

    def solve(self, program: Problem, start: Array, stage: str, near: bool = False) -> Outcome:
        """Solve one program from `start` (unknowns,)."""
        return self.tried(program, start, stage, replace(self.choices, mu=NEARBY if near else None))

    def feasible(self, program: Problem, start: Array, stage: str) -> Outcome:
        """Return a motion that keeps all limits, if one is found, or the last one tried."""
        any_motion, stage = Feasible(program), f"{stage}, feasible"
        most = min(self.choices.most_iterations, MOST_FEASIBLE)
        choices = replace(self.choices, ends_feasible=True, most_iterations=most, exact=True)
        outcome = self.tried(any_motion, start, stage, replace(choices, mu=None))
        if outcome.ended == SOLVED or self.interrupted.pressed:
            return outcome
        return self.tried(program, start, stage, replace(choices, mu=1.0, is_cautious=True))

    def tried(self, program: Problem, start: Array, stage: str, choices: Choices) -> Outcome:
        """Solve one program from `start` (unknowns,) by these choices."""
        progress = self.progress
        report = None if progress is None else (lambda step: progress(stage, step))
        with warnings.catch_warnings():  # of singular states that are only tried
            warnings.simplefilter("ignore", RuntimeWarning)
            outcome = solve(program, start, choices, self.interrupted, report)
        self.evaluations += program.evaluations
        self.seconds += outcome.seconds
        return replace(outcome, steps=tuple(replace(step, stage=stage) for step in outcome.steps))


@dataclass(frozen=True)
class _Solution:
    """A solution of one program on its spline, with the steps from its start."""

    profile: Profile
    program: Problem
    outcome: Outcome
    steps: tuple[Step, ...]


def plan(
    module: Any,
    task: str | PathLike[str] | Mapping[str, Any],
    *,
    starts: int | None = None,
    seed: int = 0,
    solver: str | None = None,
    exact_hessian: bool = True,
    tolerance: float = 1e-9,
    max_iterations: int = 1000,
    progress: Progress | None = None,
    notify: Callable[[str], None] | None = None,
) -> Plan:
    """Plan the optimal motion of a robot for a task.

    `module` is a result of `symgen.load`, or the path of a model file; `task` the path of a task
    file or a dict with the same keys.  `starts` motions are tried, the straight one and random
    ones (`seed`), and the best is kept: by default one, with `keep_out` five.  `solver` is "ipopt",
    which comes with CasADi and is the default where it is installed, or "trust-constr" of SciPy.
    Without `exact_hessian`, second derivatives are approximated from gradients (L-BFGS, by IPOPT).
    `progress(stage, step)` is called at every iteration; `symgen.load(path, progress=...)` reports
    on the build of a path; `notify(remark)` for every remark on the task, before it is solved.
    Ctrl-C ends the search with the best motion so far.

    Raises `symgen.errors.ModelError` for a wrong task, `symgen.errors.RequestError` for a robot
    that plans do not support, or without a solver.
    """
    solver = ready(solver, exact_hessian=exact_hessian)
    if isinstance(module, str | Path):
        module = built(module, task, BuildOptions())
    checked_module(module, "plan")
    for name, value, least in (
        ("starts", starts, 1), ("seed", seed, 0), ("max_iterations", max_iterations, 1)
    ):  # fmt: skip
        if value is not None and value < least:
            raise RequestError(f"plan: {name}: expected at least {least}, found {value}")
    if not 0 < tolerance < 1:
        raise RequestError(f"plan: tolerance: expected a number in (0, 1), found {tolerance}")
    check_module(module)
    module = opened(module)
    read = reading.read(task, module)
    remarks = remarks_on(read, module)
    if notify is not None:
        for remark in remarks:
            notify(remark)
    choices = Choices(tolerance, max_iterations, exact_hessian, solver=solver)
    most = min(max_iterations, MOST_RANDOM) if starts is None else max_iterations
    starts = starts or (AROUND if read.keep_out.acts and read.contacts is None else 1)
    run = _Run(read, module, choices, Interrupted(), progress, most)
    begun = time.perf_counter()
    with run.interrupted.heard(), np.errstate(over="ignore"):  # of motions that are only tried
        if read.method == COLLOCATION:
            solution, verified, rejected = _collocated(run, starts, seed)
        else:
            solution, rejected = _best(run, starts, seed)
            solution, verified = _refined(run, solution)
        plan = _result(run, solution, verified, rejected, time.perf_counter() - begun)
    return replace(plan, remarks=(*remarks, *plan.remarks))


def built(
    model: str | Path, task: str | PathLike[str] | Mapping[str, Any],
    options: BuildOptions, journal: Journal | None = None,
) -> Any:  # fmt: skip
    """Build a model with what a task needs, besides the options, and return the module."""
    reading.check_order(model)
    parameters = reading.named_parameters(task) or ("none",)
    robot = description.read(model, options.reading)
    check_robot(robot)
    reading.check_names(task, robot)
    loads, points = reading.additions(task, robot)
    options = replace(
        options, runtime_parameters=parameters,
        loads=tuple(dict.fromkeys((*options.loads, *loads))),
        points=tuple(dict.fromkeys((*options.points, *points))),
    )  # fmt: skip
    return load_package(build(model, options, journal).folder)


# ------------------------------------------------------------------------------------- solving


def _best(run: _Run, starts: int, seed: int) -> tuple[_Solution, tuple[Start, ...]]:
    """Return the best of several starts, on the spline that each is solved on."""
    knots = run.task.profile
    segments = knots.segments
    # phases of contacts need all instants, and between few of them mechanisms change their branch
    coarse = knots.check == REFINE and not run.task.contacts and not isinstance(run.module, Opened)
    while coarse and segments % 2 == 0 and segments // 2 >= FEWEST_SEGMENTS:
        segments //= 2
    per = PER_SEGMENT[knots.check] if run.task.contacts else min(PER_SEGMENT[knots.check], 2)
    profile = run.profile(segments, per)
    while profile.segments < knots.segments:
        free, equations = unknowns_and_equations(transcribe(run.task, run.module, profile, per))
        if equations <= free:
            break
        profile = run.profile(2 * profile.segments, per)

    def begin(random: np.random.Generator | None) -> tuple[Problem, Array]:
        program = transcribe(run.task, run.module, profile, per)
        x = guess(run.task, run.module, profile, random)
        loads = reactions(run.task, run.module, profile, x, program.sizes.loads)
        return program, np.append(x, loads)

    def again(x: Array) -> Problem:
        return transcribe(run.task, run.module, profile, per, near=x)

    return _tried(run, profile, begin, starts, seed, again)


def _tried(
    run: _Run, profile: Profile,
    begin: Callable[[np.random.Generator | None], tuple[Problem, Array]], starts: int, seed: int,
    again: Callable[[Array], Problem] | None = None,
) -> tuple[_Solution, tuple[Start, ...]]:  # fmt: skip
    """Return the best result of several starts, and the others; the first is not random."""
    solutions: list[_Solution] = []
    listed: list[Start] = []
    for k in range(starts):
        if run.interrupted.pressed and solutions:
            break
        program, x = begin(np.random.default_rng([seed, k]) if k else None)
        stage = f"{profile.segments} segments"
        if starts > 1:
            stage += f", start {k + 1} of {starts}"
        if run.task.contacts is not None and again is not None:
            solution = _standing(run, profile, program, x, stage, again)
        else:
            most = run.most_random if k else run.choices.most_iterations
            outcome = run.tried(program, x, stage, replace(run.choices, most_iterations=most))
            solution = _Solution(profile, program, outcome, outcome.steps)
        solutions.append(solution)
        listed.append(_start(k, solution.program, solution.outcome))
    best = min(range(len(solutions)), key=lambda k: (listed[k].rank, k))
    rejected = (start for k, start in enumerate(listed) if k != best)
    return solutions[best], tuple(sorted(rejected, key=lambda start: (start.rank, start.number)))


def _standing(
    run: _Run, profile: Profile, program: Problem, x: Array, stage: str,
    again: Callable[[Array], Problem],
) -> _Solution:  # fmt: skip
    """Solve a program with contacts from any motion within its limits.

    With a margin, `again` returns the program with support polygons at x (unknowns,).
    """
    assert run.task.contacts is not None
    outcome = run.feasible(program, x, stage)
    steps, margin = outcome.steps, run.task.contacts.margin
    if margin:
        narrower = again(outcome.x)
        inside = run.feasible(narrower, outcome.x, f"{stage}, margin")
        steps += inside.steps
        if inside.ended != SOLVED:  # verification says by how much the margin is missed
            return _Solution(profile, program, replace(outcome, ended=inside.ended), steps)
        program, outcome = narrower, inside
    for k in range(MOST_POLYGONS):
        outcome = run.solve(program, outcome.x, stage, near=k > 0)
        steps += outcome.steps
        moved = again(outcome.x) if margin and outcome.ended == SOLVED else program
        if not moved.broken(outcome.x, HOLDS):
            break
        program = moved
    return _Solution(profile, program, outcome, steps)


def _start(number: int, program: Problem, outcome: Outcome) -> Start:
    broken = program.broken(outcome.x, HOLDS)
    return Start(
        number + 1, outcome.ended, program.objective(outcome.x),
        float(outcome.x[program.sizes.time]), len(outcome.steps), broken[0].over if broken else 0.0,
    )  # fmt: skip


def _refined(run: _Run, solution: _Solution) -> tuple[_Solution, Verified]:
    """Refine a solution to the spline of the task, with limits that hold on the fine grid."""
    task, module = run.task, run.module
    per = PER_SEGMENT[task.profile.check]
    if task.profile.check == REFINE:
        last = run.profile(task.profile.segments, per)
        while solution.profile != last and _may_go_on(run, solution):
            finer = _on_finer(run, solution, per)
            if finer.outcome.ended != SOLVED:
                break
            solution = finer

    def again(solution: _Solution, more: Margins) -> tuple[Problem, Array]:
        x, size = solution.outcome.x, solution.program.sizes.time + 1
        program = transcribe(task, module, solution.profile, per, more, near=x)
        return program, np.concatenate([x[:size], _spread(run, x[size:], program.sizes.loads)])

    return _tightened(run, solution, per, HOLDS, again)


def _tightened(
    run: _Run, solution: _Solution, per: int, least: float,
    again: Callable[[_Solution, Margins], tuple[Problem, Array]],
) -> tuple[_Solution, Verified]:  # fmt: skip
    """Tighten limits until they hold on the fine grid, to `least`, for `check: refine`.

    `again` returns the program with margins, and its start.
    """
    verified = verify(run.task, run.module, _path(run, solution), per)
    more: dict[str, Array] = {}
    for _ in range(MOST_TIGHTENED):
        if run.task.profile.check != REFINE or not _may_go_on(run, solution):
            break
        if all(np.all(over <= least) for over in verified.overshoot.values()):
            break
        more = margins(verified, more, _path(run, solution).profile.segments, per)
        program, x = again(solution, more)
        outcome = run.solve(program, x, "limits tightened between instants", near=True)
        if outcome.ended != SOLVED:
            break
        solution = _Solution(solution.profile, program, outcome, (*solution.steps, *outcome.steps))
        verified = verify(run.task, run.module, _path(run, solution), per)
    return solution, verified


def _may_go_on(run: _Run, solution: _Solution) -> bool:
    return solution.outcome.ended == SOLVED and not run.interrupted.pressed


def _on_finer(run: _Run, solution: _Solution, per: int) -> _Solution:
    old, most = solution.program.sizes, run.task.profile.segments
    segments = min(2 * solution.profile.segments, most)
    per = per if segments == most else min(per, 2)
    profile = run.profile(segments, per)
    refined = solution.profile.refined(solution.outcome.x[: old.time].reshape(-1, old.n), profile)
    program = transcribe(run.task, run.module, profile, per)
    T, loads = solution.outcome.x[old.time], solution.outcome.x[old.time + 1 :]
    x = np.concatenate([refined.ravel(), [T], _spread(run, loads, program.sizes.loads)])
    outcome = run.solve(program, x, f"{profile.segments} segments", near=True)
    return _Solution(profile, program, outcome, (*solution.steps, *outcome.steps))


def _spread(run: _Run, loads: Array, size: int) -> Array:
    """Return unknown loads at more instants."""
    a = len(forces(run.task, run.module))
    if not a:
        return loads
    rows = loads.reshape(-1, a)
    before, after = np.linspace(0, 1, len(rows)), np.linspace(0, 1, size // a)
    return np.ravel(np.column_stack([np.interp(after, before, column) for column in rows.T]))


def _path(run: _Run, solution: _Solution) -> Trajectory:
    x = solution.outcome.x
    if run.task.method == COLLOCATION:
        return collocation.nodes_of(run.task, run.module, x)
    return trajectory(run.task, run.module, solution.profile, x)


# --------------------------------------------------------------------------------- collocation


def _collocated(run: _Run, starts: int, seed: int) -> tuple[_Solution, Verified, tuple[Start, ...]]:
    """Solve by direct collocation; `check: refine` doubles the segments until it arrives."""
    task, module = run.task, run.module
    profile = Profile(3, task.profile.segments)

    def begin(random: np.random.Generator | None) -> tuple[Problem, Array]:
        start = collocation.guess(task, module, profile.segments, random)
        return collocate(task, module, profile.segments), start

    def again(solution: _Solution, more: Margins) -> tuple[Problem, Array]:
        return collocate(task, module, solution.profile.segments, more), solution.outcome.x

    best, rejected = _tried(run, profile, begin, starts, seed)
    for _ in range(MOST_DOUBLED if task.profile.check == REFINE else 0):
        path = _path(run, best)
        if not _may_go_on(run, best) or _misses(task, module, path) < HOLDS:
            break
        profile = Profile(3, 2 * path.profile.segments)
        program = collocate(task, module, profile.segments)
        x = collocation.finer(task, module, path)
        outcome = run.solve(program, x, f"{profile.segments} segments", near=True)
        if outcome.ended != SOLVED:
            break
        best = _Solution(profile, program, outcome, (*best.steps, *outcome.steps))
    return *_tightened(run, best, PER_SEGMENT[MIDPOINTS], NEARLY, again), rejected


def _misses(task: Task, module: Any, path: Trajectory) -> float:
    """Return the distance between the ends of a motion and of a simulation by its torques.

    With contacts, the largest one of simulations from each instant to the next; infinite for one
    that diverges, also to where accelerations do not exist.
    """
    try:
        if task.contacts is not None:
            each = instants(task, module, PER_SEGMENT[task.profile.check])
            count = path.profile.segments * each + 1
            return held_error(task, module, task.contacts, path.motion, count)
        with warnings.catch_warnings():  # of loops that are open
            warnings.simplefilter("ignore", RuntimeWarning)
            q, qd = simulate_forward(task, module, path)
    except np.linalg.LinAlgError:
        return np.inf
    if not (np.all(np.isfinite(q)) and np.all(np.isfinite(qd))):
        return np.inf
    end, space = path.motion(np.ones(1)), path.chart.space
    final = np.concatenate([space.difference(end.q[0], space.normalize(q)), qd - end.qd[0]])
    return float(np.abs(final).max())


# ------------------------------------------------------------------------------------- results


def _result(
    run: _Run, solution: _Solution, verified: Verified, rejected: tuple[Start, ...], seconds: float
) -> Plan:
    task, module, x, path = run.task, run.module, solution.outcome.x, _path(run, solution)
    error = _misses(task, module, path)
    status, broken, remarks = _status(run, solution, verified, error)
    objective = solution.program.objective(x)
    return Plan(
        module=module, task=task, path=path, status=status, objective=objective,
        iterations=len(solution.steps), evaluations=run.evaluations, seconds=seconds,
        solver_seconds=run.seconds, violation=verified.violation, worst=dict(verified.worst),
        gaps=dict(verified.gaps), nearest=verified.nearest, ground=verified.ground,
        final_error=error,
        steps=solution.steps, others=rejected,
        broken=tuple((fault.name, fault.over) for fault in broken),
        remarks=remarks,
        per_segment=PER_SEGMENT[task.profile.check] if task.method == SPLINES else 2,
    )  # fmt: skip


def _status(
    run: _Run, solution: _Solution, verified: Verified, error: float
) -> tuple[str, tuple[Fault, ...], tuple[str, ...]]:
    """Return the status of a plan, its unmet demands, and remarks."""
    worst = sorted(verified.worst.items(), key=lambda item: (-item[1], item[0]))
    x_time = float(solution.outcome.x[solution.program.sizes.time])
    refined = run.task.profile.check == REFINE
    broken, conflict = _unmet(run, solution, verified)
    closes = broken and isinstance(run.module, Opened)
    opens = run.module.opens_on_the_way(run.task) if closes else ""
    is_weak = not opens and any(fault.name.startswith(TORQUE) for fault in broken)
    weak = _too_weak(run, solution) if is_weak else ""
    remarks = [opens] if opens else []
    if solution.outcome.ended == STOPPED or run.interrupted.pressed:
        status = "stopped"
    elif broken:
        status = "infeasible" if conflict else EXCEEDED
    else:
        status = "solved" if solution.outcome.ended == SOLVED else "feasible"
    if conflict and status == "infeasible":
        remarks += _out_of_reach(run, broken) or [_conflict(run, solution, broken, weak)]
        if verified.ground is not None and max(verified.ground.missed.values(), default=0) > HOLDS:
            remarks.append(
                "points that stand may contradict each other, or the states: flat feet on legs of "
                "less than six joints leave the trunk less than six freedoms"
            )
    elif worst and worst[0][1] > HOLDS and status != "stopped":
        name, _ = worst[0]
        words = demand(run.module, name)
        over = "exceeds its limit by" if words == name else "is missed by"
        finer = refined or run.task.method != SPLINES or name in verified.equations
        between = "; more segments reduce this" if finer else "; 'check: refine' prevents this"
        remarks.append(
            f"between the instants {words} {over} {verified.excess(name)} "
            f"{instant(verified.where[name])}{weak or between}"
        )
    is_free = run.task.time[0] == SHORTEST < run.task.time[1]
    if is_free and status in ("solved", "feasible") and np.isclose(x_time, SHORTEST):
        same = np.array_equal(run.task.start.q, run.task.goal.q) and not run.task.via
        why = "start and goal are the same" if same else "nothing limits the motion"
        remarks.append(f"{why}: T is the least time that plans may take, {x_time:.3g} s")
    remarks += _gaps(run, verified)
    if verified.ground is not None:
        remarks.append(verified.ground.words)
        if error > STAYS and status == "solved":
            status = "feasible"
            remarks.append(
                "simulations from each instant to the next one, under the torques alone and with "
                f"the points held that stand, end up to {error:.2g} from it; more segments reduce "
                "this"
            )
    elif error > ARRIVES and status == "solved":
        status = "feasible"
        ends = "diverges" if not np.isfinite(error) else f"ends {error:.2g} from the goal"
        remarks.append(f"a simulation under the torques alone (open loop) {ends}: errors grow fast")
    return status, broken, tuple(remarks)


def _gaps(run: _Run, verified: Verified) -> list[str]:
    """Return remarks on loops that open between the instants."""
    unit = "" if isinstance(run.module, Opened) else " m"
    return [
        f"{name} is closed at the instants of the plan and opens by up to {gap:.1e}{unit} between "
        "them; more segments reduce this"
        for name, gap in verified.gaps.items()
        if HOLDS < gap <= OPENS
    ]


def _unmet(run: _Run, solution: _Solution, verified: Verified) -> tuple[tuple[Fault, ...], bool]:
    """Return unmet demands, open loops first, and whether they make the plan infeasible.

    Limits are those of the motion, on the fine grid: the program has them only at its instants, or
    by control points, and with margins.  They may be exceeded by `NEARLY`; in flight and on points
    along a line equations of coordinates without a drive by `MUCH`.  Infeasible is what exceeds
    limits by more than `MUCH`, violates instants of the program, too, or opens loops.
    """
    undriven = {
        f"{TORQUE} of {name}"
        for name, driven in zip(run.module.coordinate_names, run.module.actuated, strict=True)
        if not driven and verified.ground is not None
    }
    program = solution.program.broken(solution.outcome.x, HOLDS)
    severe = {fault.name for fault in program}
    faults = [fault for fault in program if fault.name not in verified.limits]
    faults += [
        Fault(f"closure of {name}", gap, f"open by up to {gap:.2g} between the instants")
        for name, gap in verified.gaps.items()
        if gap > OPENS and f"closure of {name}" not in severe
    ]
    severe |= {fault.name for fault in faults}
    severe |= {name for name, over in verified.worst.items() if over > MUCH}
    faults += [
        verified.fault(name)
        for name, over in verified.worst.items()
        if over > (MUCH if name in undriven else NEARLY)
    ]
    if verified.ground is not None:
        if verified.ground.excess > SLIDES:
            over = verified.ground.excess
            faults.append(Fault("friction", over, f"exceeded by {over:.2g} of the weight"))
        for name, over in verified.ground.missed.items():
            if over > HOLDS:
                text = f"{over:.2g} m from where it stands"
                faults.append(Fault(f"contact of {name}", over, text))
                severe.add(faults[-1].name)
        if verified.ground.short > HOLDS:
            text = f"{verified.ground.short:.2g} m too near to an edge of its polygon"
            faults.append(Fault("zero-moment point", verified.ground.short, text))
            severe.add(faults[-1].name)
    faults.sort(key=lambda fault: (not fault.name.startswith(CLOSURE), -fault.over, fault.name))
    return tuple(faults), any(fault.name in severe for fault in faults)


def _too_weak(run: _Run, solution: _Solution) -> str:
    """Return which drives do not hold the robot at rest along a motion, in words; "" for none."""
    module, s = run.module, np.linspace(0.0, 1.0, 4 * solution.profile.segments + 1)
    q = _path(run, solution).motion(s).q
    if isinstance(module, Opened) and not run.task.chart.joints:
        q = module.closed(q, options_of(run.task.parameters))
    weak = "; ".join(f"{instant(s[k])}, {x}" for k, x in too_weak(run.task, module, q))
    return weak and (
        f".  Drives are too weak for this motion: {weak}.  Only momentum leads past; raise the "
        "limit, lighten the robot, or lead it elsewhere with 'guess: {through: [...]}'"
    )


def _conflict(run: _Run, solution: _Solution, broken: tuple[Fault, ...], weak: str) -> str:
    """Return contradictory demands, at the required time or at the longest."""
    T = float(solution.outcome.x[solution.program.sizes.time])
    faults, most = [f"{demand(run.module, fault.name)} ({fault.text})" for fault in broken], 5
    if len(faults) > most:
        faults = [*faults[:most], f"{len(faults) - most} more"]
    task, (least, longest) = run.task, run.task.time
    if least == longest or np.isclose(T, longest):
        faults.append(f"the time, {'' if least == longest else 'at most '}{longest:.6g} s")
    advice = weak or ".  A 'guess', or more --starts, may lead to one"
    if solution.outcome.ended == SOLVED and not weak:
        finer = "more segments" if task.profile.check == REFINE else "'check: refine'"
        advice = f".  Instants of the plan satisfy them: {finer} may lead to one that does between"
    if any(isinstance(cut, Cut) for cut in task.cuts):
        time = "" if least == longest else "a fixed 'time', and "
        advice = f".  The solver starts with the cuts open: try {time}'guess: {{through: [...]}}'"
    return f"the solver found no motion that satisfies all of these: {'; '.join(faults)}{advice}"


def _out_of_reach(run: _Run, broken: tuple[Fault, ...]) -> list[str]:
    """Return a sentence for every unmet pose that no configuration within the limits attains."""
    task = run.task
    states = [("start", task.start), ("goal", task.goal)]
    states += [(f"via {k}", via.state) for k, via in enumerate(task.via, 1)]
    sentences = []
    for name, state in states:
        at = "" if state.pose is None else f" of {state.pose.name} at {name}"
        if at and any(fault.name.endswith(at) for fault in broken):
            shortfall = out_of_reach(task, run.module, state)
            sentences += [f"{name}: {shortfall}"] if shortfall else []
    return sentences
