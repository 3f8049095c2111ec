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
from numpy.typing import NDArray

from symgen import description
from symgen.errors import RequestError
from symgen.options import BuildOptions
from symgen.pipeline.building import build
from symgen.planning import collocation, reading
from symgen.planning.collocation import Collocation
from symgen.planning.cuts import dependent
from symgen.planning.loads import loads_at
from symgen.planning.problem import Problem
from symgen.planning.program import (
    EXCEEDED,
    SOLVED,
    STOPPED,
    Choices,
    Interrupted,
    Outcome,
    Program,
    Step,
)
from symgen.planning.remarks import remarks_on
from symgen.planning.results import Start
from symgen.planning.solver import ready, solve, unknowns_and_equations
from symgen.planning.splines import Profile
from symgen.planning.starting import coordinates, guess
from symgen.planning.suitability import check_module, check_robot
from symgen.planning.task import COLLOCATION, KNOTS, MIDPOINTS, REFINE, SHORTEST, SPLINES, Task
from symgen.planning.terms import Fault, instant
from symgen.planning.transcription import Margins, forces, instants, transcribe
from symgen.planning.verification import (
    Trajectory,
    Verified,
    excess,
    margins,
    simulate_forward,
    trajectory,
    verify,
)
from symgen.planning.writing import Plan
from symgen.toolchain.loading import load_package

Array = NDArray[np.float64]

PER_SEGMENT: Mapping[str, int] = {KNOTS: 1, MIDPOINTS: 2, REFINE: 4}
"""Instants at which limits are asked for, in each segment."""
FEWEST_SEGMENTS = 10
"""Of the coarsest spline."""
MOST_TIGHTENED = 8
MOST_DOUBLED = 4
"""How often segments are halved by collocation."""
HOLDS = 1e-6
"""Relative violation that is none: the tolerance to which a plan keeps its limits."""
NEARLY = 1e-3
"""Relative violation that is accepted between the nodes of collocation, and between the instants
of `check: knots` and `check: midpoints`."""
ARRIVES = 1e-3
"""Error of the forward simulation (rad, m, rad/s, m/s) above which a plan is not called solved."""
NEARBY = 1e-4
"""The barrier parameter with which a solver starts near an optimum."""

Told = Callable[[str, Step], None]
"""What hears of progress: the stage, and each iterate."""


@dataclass
class _Run:
    """One planning: what is counted over all its solutions."""

    task: Task
    module: Any
    choices: Choices
    interrupted: Interrupted
    told: Told | None
    evaluations: int = 0
    seconds: float = 0.0

    def profile(self, segments: int, per_segment: int) -> Profile:
        """Of the task, with limits at so many instants of so many segments."""
        degree = self.task.profile.degree
        if not self.task.cuts:
            return Profile(degree, segments)
        within = instants(self.task, self.module, per_segment)
        return Profile(degree, segments, within, self.dependent)

    @cached_property
    def dependent(self) -> tuple[int, ...]:
        """The coordinates that close the cuts, judged along the straight motion."""
        profile = Profile(self.task.profile.degree, self.task.profile.segments)
        control = guess(self.task, self.module, profile, None)[:-1]
        return dependent(self.task, self.module, control.reshape(-1, self.module.n))

    def solve(self, program: Program, start: Array, stage: str, near: bool = False) -> Outcome:
        """Solve one program."""
        choices = replace(self.choices, mu=NEARBY if near else None)
        told = self.told
        report = None if told is None else (lambda step: told(stage, step))
        with warnings.catch_warnings():  # of singular states that are only tried
            warnings.simplefilter("ignore", RuntimeWarning)
            outcome = solve(program, start, choices, self.interrupted, report)
        self.evaluations += getattr(program, "evaluations", 0)
        self.seconds += outcome.seconds
        return outcome


@dataclass(frozen=True)
class _Found:
    """A solution of one program, on its spline, and the steps that led to it from a start."""

    profile: Profile
    program: Problem | Collocation
    outcome: Outcome
    steps: tuple[Step, ...]


def plan(
    module: Any,
    task: str | PathLike[str] | Mapping[str, Any],
    *,
    starts: int = 1,
    seed: int = 0,
    solver: str | None = None,
    exact_hessian: bool = True,
    tolerance: float = 1e-9,
    max_iterations: int = 1000,
    progress: Told | None = None,
) -> Plan:
    """The optimal motion of a robot for a task.

    `module` is what `symgen.load` returned, or the path of a model file; `task` the path of a task
    file or a dict with the same keys.  `starts` motions are tried, the straight one and random
    ones (`seed`), and the best is kept.  `solver` is "ipopt", which comes with CasADi and is used
    where it is installed, or "trust-constr" of SciPy.  Without `exact_hessian`, second derivatives
    are approximated from gradients (L-BFGS, by IPOPT).  `progress(stage, step)` hears of every
    iteration; of the build of a path `symgen.load(path, progress=...)` tells.  Ctrl-C ends the
    search, and the best motion so far is returned.

    Raises `symgen.errors.ModelError` for a wrong task, `symgen.errors.RequestError` where the
    robot cannot be planned for, or no solver is installed.
    """
    solver = ready(solver, exact_hessian=exact_hessian)
    if isinstance(module, str | Path):
        chosen = reading.named_parameters(task) or ("none",)
        check_robot(description.read(module))
        module = load_package(build(module, BuildOptions(runtime_parameters=chosen)).folder)
    for name, value, least in (
        ("starts", starts, 1), ("seed", seed, 0), ("max_iterations", max_iterations, 1)
    ):  # fmt: skip
        if value < least:
            raise RequestError(f"plan: {name}: expected at least {least}, found {value}")
    if not 0 < tolerance < 1:
        raise RequestError(f"plan: tolerance: expected a number in (0, 1), found {tolerance}")
    check_module(module)
    read = reading.read(task, module)
    choices = Choices(tolerance, max_iterations, exact_hessian, solver=solver)
    run = _Run(read, module, choices, Interrupted(), progress)
    begun = time.perf_counter()
    with run.interrupted.heard():
        if read.method == COLLOCATION:
            found, verified, others = _collocated(run, starts, seed)
        else:
            found, others = _best(run, starts, seed)
            found, verified = _refined(run, found)
    return _result(run, found, verified, others, time.perf_counter() - begun)


# ------------------------------------------------------------------------------------- solving


def _best(run: _Run, starts: int, seed: int) -> tuple[_Found, tuple[Start, ...]]:
    """The best of several starts, on the spline that each is solved on."""
    knots = run.task.profile
    segments = knots.segments
    while knots.check == REFINE and segments % 2 == 0 and segments // 2 >= FEWEST_SEGMENTS:
        segments //= 2
    per = min(PER_SEGMENT[knots.check], 2)
    profile = run.profile(segments, per)
    while profile.segments < knots.segments and _is_overdetermined(run, profile, per):
        profile = run.profile(2 * profile.segments, per)

    def begin(random: np.random.Generator | None) -> tuple[Problem, Array]:
        program = transcribe(run.task, run.module, profile, per)
        x = guess(run.task, run.module, profile, random)
        return program, np.append(x, np.zeros(program.sizes.loads))

    return _tried(run, profile, begin, starts, seed)


def _tried(
    run: _Run,
    profile: Profile,
    begin: Callable[[np.random.Generator | None], tuple[Problem | Collocation, Array]],
    starts: int,
    seed: int,
) -> tuple[_Found, tuple[Start, ...]]:
    """The best of what several starts lead to, and the others; the first is not random."""
    found: list[_Found] = []
    listed: list[Start] = []
    for k in range(starts):
        if run.interrupted.pressed and found:
            break
        program, x = begin(np.random.default_rng([seed, k]) if k else None)
        stage = f"start {k + 1} of {starts}" if starts > 1 else f"{profile.segments} segments"
        outcome = run.solve(program, x, stage)
        found.append(_Found(profile, program, outcome, outcome.steps))
        listed.append(_start(k, program, outcome))
    best = min(range(len(found)), key=lambda k: (listed[k].rank, k))
    return found[best], tuple(start for k, start in enumerate(listed) if k != best)


def _is_overdetermined(run: _Run, profile: Profile, per: int) -> bool:
    free, equations = unknowns_and_equations(transcribe(run.task, run.module, profile, per))
    return equations > free


def _start(number: int, program: Problem | Collocation, outcome: Outcome) -> Start:
    broken = program.broken(outcome.x, HOLDS)
    return Start(
        number + 1, outcome.ended, program.objective(outcome.x),
        float(outcome.x[program.sizes.time]), len(outcome.steps), broken[0].over if broken else 0.0,
    )  # fmt: skip


def _refined(run: _Run, found: _Found) -> tuple[_Found, Verified]:
    """`check: refine`: on the spline asked for, with limits that hold on the fine grid."""
    task, module = run.task, run.module
    per = PER_SEGMENT[task.profile.check]
    if task.profile.check == REFINE:
        last = run.profile(task.profile.segments, per)
        while found.profile != last and _may_go_on(run, found):
            finer = _on_finer(run, found, per)
            if finer.outcome.ended != SOLVED:
                break
            found = finer

    def again(found: _Found, more: Margins) -> tuple[Problem, Array]:
        program = transcribe(task, module, found.profile, per, more)
        x, size = found.outcome.x, found.program.sizes.time + 1
        return program, np.concatenate([x[:size], _spread(run, x[size:], program.sizes.loads)])

    return _tightened(run, found, per, HOLDS, again)


def _tightened(
    run: _Run,
    found: _Found,
    per: int,
    least: float,
    again: Callable[[_Found, Margins], tuple[Problem | Collocation, Array]],
) -> tuple[_Found, Verified]:
    """`check: refine`: with limits tightened until they hold on the fine grid, to `least`.

    `again` states the program with margins, and where to start.
    """
    verified = _verified(run, found, per)
    more: dict[str, Array] = {}
    for _ in range(MOST_TIGHTENED):
        if run.task.profile.check != REFINE or not _may_go_on(run, found):
            break
        if _sampled(verified) <= least:
            break
        more = margins(verified, more, _path(run, found).segments, per)
        program, x = again(found, more)
        outcome = run.solve(program, x, "limits between instants", near=True)
        if outcome.ended != SOLVED:
            break
        found = _Found(found.profile, program, outcome, (*found.steps, *outcome.steps))
        verified = _verified(run, found, per)
    return found, verified


def _may_go_on(run: _Run, found: _Found) -> bool:
    return found.outcome.ended == SOLVED and not run.interrupted.pressed


def _on_finer(run: _Run, found: _Found, per: int) -> _Found:
    old, most = found.program.sizes, run.task.profile.segments
    segments = min(2 * found.profile.segments, most)
    per = per if segments == most else min(per, 2)
    profile = run.profile(segments, per)
    refined = found.profile.refined(found.outcome.x[: old.time].reshape(-1, old.n), profile)
    program = transcribe(run.task, run.module, profile, per)
    T, loads = found.outcome.x[old.time], found.outcome.x[old.time + 1 :]
    x = np.concatenate([refined.ravel(), [T], _spread(run, loads, program.sizes.loads)])
    outcome = run.solve(program, x, f"{profile.segments} segments", near=True)
    return _Found(profile, program, outcome, (*found.steps, *outcome.steps))


def _spread(run: _Run, loads: Array, size: int) -> Array:
    """Unknown loads at more instants."""
    a = len(forces(run.task, run.module))
    if not a:
        return loads
    rows = loads.reshape(-1, a)
    before, after = np.linspace(0, 1, len(rows)), np.linspace(0, 1, size // a)
    return np.ravel(np.column_stack([np.interp(after, before, column) for column in rows.T]))


def _path(run: _Run, found: _Found) -> Trajectory:
    x = found.outcome.x
    if isinstance(found.program, Collocation):
        return found.program.path(x)
    return trajectory(run.task, run.module, found.profile, x)


def _verified(run: _Run, found: _Found, per: int) -> Verified:
    return verify(run.task, run.module, _path(run, found), per)


def _sampled(verified: Verified) -> float:
    """The violation of what is limited at instants only."""
    return max((float(over.max(initial=0.0)) for over in verified.overshoot.values()), default=0.0)


# --------------------------------------------------------------------------------- collocation


def _collocated(run: _Run, starts: int, seed: int) -> tuple[_Found, Verified, tuple[Start, ...]]:
    """By direct collocation; with `check: refine` on twice as many segments until it arrives."""
    task, module = run.task, run.module
    given = loads_at(task.loads, module.n_loads, task.parameters)
    loads = None if given is None else given(np.zeros(1), 1.0)[0][0]
    start = coordinates(task, module, task.start, None, None)
    goal = coordinates(task, module, task.goal, start, None)
    profile = Profile(3, task.profile.segments)

    def begin(random: np.random.Generator | None) -> tuple[Collocation, Array]:
        program = Collocation(task, module, task.profile.segments, loads)
        return program, collocation.guess(task, program, start, goal, random)

    def again(found: _Found, more: Margins) -> tuple[Collocation, Array]:
        segments = _path(run, found).segments
        return Collocation(task, module, segments, loads, more), found.outcome.x

    kept, others = _tried(run, profile, begin, starts, seed)
    for _ in range(MOST_DOUBLED if task.profile.check == REFINE else 0):
        if not _may_go_on(run, kept) or _misses(task, module, _path(run, kept)) < HOLDS:
            break
        assert isinstance(kept.program, Collocation)
        x = kept.program.finer(kept.outcome.x)
        program = Collocation(task, module, 2 * kept.program.segments, loads)
        outcome = run.solve(program, x, f"{program.segments} segments", near=True)
        if outcome.ended != SOLVED:
            break
        kept = _Found(profile, program, outcome, (*kept.steps, *outcome.steps))
    return *_tightened(run, kept, PER_SEGMENT[MIDPOINTS], NEARLY, again), others


def _misses(task: Task, module: Any, path: Trajectory) -> float:
    """How far from its end the torques of a motion lead."""
    q, qd = simulate_forward(task, module, path)
    if not (np.all(np.isfinite(q)) and np.all(np.isfinite(qd))):
        return np.inf
    end, space = path.motion(np.ones(1)), path.chart.space
    final = np.concatenate([space.difference(end.q[0], space.normalize(q)), qd - end.qd[0]])
    return float(np.abs(final).max())


# ------------------------------------------------------------------------------------- results


def _result(
    run: _Run, found: _Found, verified: Verified, others: tuple[Start, ...], seconds: float
) -> Plan:
    task, module, x, path = run.task, run.module, found.outcome.x, _path(run, found)
    error = _misses(task, module, path)
    status, broken, remarks = _status(run, found, verified, error)
    objective = found.program.objective(x)
    return Plan(
        module=module, task=task, path=path, status=status, objective=objective,
        iterations=len(found.steps), evaluations=run.evaluations, seconds=seconds,
        solver_seconds=run.seconds, violation=verified.violation, worst=dict(verified.worst),
        gaps=dict(verified.gaps),
        final_error=error, steps=found.steps, others=_named(others),
        broken=tuple((fault.name, fault.over) for fault in broken),
        remarks=(*remarks, *remarks_on(task, module)),
        per_segment=PER_SEGMENT[task.profile.check] if task.method == SPLINES else 2,
    )  # fmt: skip


def _status(
    run: _Run, found: _Found, verified: Verified, error: float
) -> tuple[str, tuple[Fault, ...], tuple[str, ...]]:
    """How the plan is to be called, what is not met, and what there is to say about it."""
    worst = sorted(verified.worst.items(), key=lambda item: (-item[1], item[0]))
    x_time = float(found.outcome.x[found.program.sizes.time])
    refined = run.task.profile.check == REFINE
    least = HOLDS if refined and run.task.method == SPLINES else NEARLY
    broken, conflict = _unmet(found, verified, least)
    remarks = []
    if found.outcome.ended == STOPPED or run.interrupted.pressed:
        status = "stopped"
    elif broken:
        status = "infeasible" if conflict else EXCEEDED
    else:
        status = "solved" if found.outcome.ended == SOLVED else "feasible"
    if conflict and status == "infeasible":
        remarks.append(_conflict(run.task, found, broken))
    elif worst and worst[0][1] > HOLDS and status != "stopped":
        name, most = worst[0]
        finer = refined or run.task.method != SPLINES
        between = "; more segments make that less" if finer else "; 'check: refine' prevents that"
        remarks.append(
            f"between the instants {name} exceeds its limit by {excess(name, most)} "
            f"{instant(verified.where[name])}{between}"
        )
    is_free = run.task.time[0] == SHORTEST < run.task.time[1]
    if is_free and status in ("solved", "feasible") and np.isclose(x_time, SHORTEST):
        same = np.array_equal(run.task.start.q, run.task.goal.q) and not run.task.via
        why = "start and goal are the same" if same else "nothing limits the motion"
        remarks.append(f"{why}: T is the shortest time that is tried, {x_time:.3g} s")
    for name, gap in verified.gaps.items():
        if gap > HOLDS:
            remarks.append(
                f"{name} is closed at the instants of the plan and opens by up to {gap:.1e} m "
                "between them; more segments make that less"
            )
    if error > ARRIVES and status == "solved":
        status = "feasible"
        remarks.append(
            f"applied open loop, the torques end {error:.2g} from the goal: the motion is unstable"
        )
    return status, broken, tuple(remarks)


def _unmet(found: _Found, verified: Verified, least: float) -> tuple[tuple[Fault, ...], bool]:
    """What is not met, largest first, and whether that is so at the instants of the program, too.

    Limits are those of the motion, on the fine grid: the program knows them at its instants alone,
    or by control points, and with margins.  Between its instants they may be exceeded by `least`.
    """
    program = found.program.broken(found.outcome.x, HOLDS)
    asked = {fault.name for fault in program}
    faults = [fault for fault in program if fault.name not in verified.limits]
    faults += [
        verified.fault(name)
        for name, over in verified.worst.items()
        if over > (HOLDS if name in asked else least)
    ]
    faults.sort(key=lambda fault: (-fault.over, fault.name))
    return tuple(faults), any(fault.name in asked for fault in faults)


def _conflict(task: Task, found: _Found, broken: tuple[Fault, ...]) -> str:
    """What cannot be met together; the time is one of it where it is given, or at its longest."""
    T = float(found.outcome.x[found.program.sizes.time])
    faults = [f"{fault.name} ({fault.text})" for fault in broken]
    most = 5
    if len(faults) > most:
        faults = [*faults[:most], f"{len(faults) - most} more"]
    least, longest = task.time
    if least == longest or np.isclose(T, longest):
        faults.insert(0, f"the time ({'' if least == longest else 'at most '}{longest:.6g} s)")
    return "these cannot be met together, as far as the solver can tell: " + "; ".join(faults)


def _named(others: tuple[Start, ...]) -> tuple[Start, ...]:
    return tuple(sorted(others, key=lambda start: (start.rank, start.number)))
