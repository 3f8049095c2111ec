"""Starts of the solver: ends in coordinates, a straight or random motion, a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from symgen.planning.loads import loads_at
from symgen.planning.loops import Opened
from symgen.planning.poses import position_of
from symgen.planning.quantities import MotionSamples, Quantity, options_of
from symgen.planning.reactions import balance, forces_in_cuts
from symgen.planning.splines import Profile
from symgen.planning.task import State, Task
from symgen.planning.trajectories import Splines
from symgen.planning.transcription import TORQUE, forces, limited
from symgen.support.arrays import Array, Flags

TIMES = np.geomspace(0.05, 50.0, 61)
"""Times of a straight motion that keeps its limits, tried one after another (s)."""
SPREAD = 0.6
"""Distance of random motions from the straight one (rad, m)."""
_STEPS, _NEAR = 100, 1e-10
_ATTAINED = 1e-4
"""Distance (m, rad) from a pose up to which it is attained."""
_TRIES, _REACHED = 20, 1e-6
"""Number of random coordinates from which a pose is sought, and the error that ends it."""


def guess(task: Task, module: Any, profile: Profile, random: np.random.Generator | None) -> Array:
    """Return the unknowns of a straight motion, with a random detour from `random`."""
    rest = task.guess.through[0] if task.guess.at_rest and task.guess.through is not None else None
    closes = isinstance(module, Opened) and not task.chart.joints
    near = module.initial if closes and rest is None else rest
    start = coordinates(task, module, task.start, near, random)
    goal = coordinates(task, module, task.goal, start, random)
    if rest is None:
        control = _through(task, profile, start, goal)
    else:
        control = np.tile(rest, (profile.controls, 1))
        control[:2], control[-2:] = start, goal
    if random is not None:
        orders = np.arange(1, 4)
        waves = np.sin(np.pi * profile.greville[:, None] * orders)
        detour = random.normal(size=(3, module.n)) / orders[:, None]
        control = control + SPREAD * waves @ detour
        control[:2], control[-2:] = start, goal
        lower, upper = task.limits.position.T
        control = np.clip(control, lower, upper)
    if closes:
        control = module.closed(control, options_of(task.parameters))
    T = task.guess.T or _time(task, module, profile, control)
    return np.append(control, np.clip(T, *task.time))


def _through(task: Task, profile: Profile, start: Array, goal: Array) -> Array:
    """Return a motion from rest to rest, past the states that the guess or via states name."""
    stops = [(0.0, start)]
    if task.guess.through is not None:
        count = len(task.guess.through)
        stops += [((k + 1) / (count + 1), q) for k, q in enumerate(task.guess.through)]
    else:
        named = [via for via in task.via if not np.any(np.isnan(via.state.q))]
        stops += [(via.at, via.state.q) for via in sorted(named, key=lambda via: via.at)]
    stops.append((1.0, goal))
    if len(stops) == 2:
        return profile.straight(start, goal)
    abscissas = profile.greville
    times = [at for at, _ in stops]
    columns = np.array([q for _, q in stops]).T
    return np.column_stack([np.interp(abscissas, times, column) for column in columns])


def coordinates(
    task: Task, module: Any, state: State, near: Array | None, random: np.random.Generator | None
) -> Array:
    """Return q (nq,) of an end, nearest to its pose where one is required.

    `near` (nq,) is the start of the search.
    """
    lower, upper = task.limits.position.T
    bounded = np.isfinite(lower) & np.isfinite(upper)
    middle = np.where(bounded, 0.5 * (np.where(bounded, lower, 0) + np.where(bounded, upper, 0)), 0)
    lower, upper = np.maximum(lower, state.ranges[:, 0]), np.minimum(upper, state.ranges[:, 1])
    free = np.clip(middle if near is None else near, lower, upper)
    q = np.where(np.isnan(state.q), free, state.q)
    if state.pose is None:
        return q
    if random is not None:
        q = np.where(np.isnan(state.q), q + random.normal(scale=0.5, size=len(q)), q)
    pose = state.pose
    position = task.chart.along(position_of(module, task.parameters, pose))
    turn = () if pose.rotation is None else (0.0, 0.0, 0.0, 1.0)
    target, movable = np.array([*pose.position, *turn]), np.isnan(state.q)
    best, error = _reached(position, q, movable, target, lower, upper)
    seeded = np.random.default_rng(0)
    for _ in range(_TRIES):
        if error < _REACHED:
            break
        start = np.clip(q + movable * seeded.normal(size=len(q)), lower, upper)
        end, left = _reached(position, start, movable, target, lower, upper)
        if left < error:
            best, error = end, left
    return best


def out_of_reach(task: Task, module: Any, state: State) -> str:
    """Return how far from its pose a state stays at best, in words; "" where a search attains it.

    Distances are compared with that of the pose from the origin of the base.
    """
    assert state.pose is not None
    pose = state.pose
    place, far = _place(pose.position), np.linalg.norm(pose.position)
    reached = _nearest(task, module, replace(state, pose=replace(pose, rotation=None)))
    short = np.linalg.norm(reached - pose.position)
    if short > _ATTAINED:
        return (
            f"{pose.name} cannot get to {place}, {far:.3g} m from the base: it reaches "
            f"{_place(reached)}, {np.linalg.norm(reached):.3g} m from the base, and stays "
            f"{short:.3g} m away"
        )
    if pose.rotation is None:
        return ""
    value = _nearest(task, module, state)
    off, angle = np.linalg.norm(value[:3] - pose.position), np.arccos(np.clip(value[-1], -1, 1))
    if max(off, angle) <= _ATTAINED:
        return ""
    return (
        f"{pose.name} gets to {place}, but not in the orientation 'rpy' there: position and "
        f"orientation differ by {off:.2g} m and {np.degrees(angle):.2g} degrees at best"
    )


def _nearest(task: Task, module: Any, state: State) -> Array:
    """Return the value of `Positions` where a state is nearest to its pose, (m,)."""
    assert state.pose is not None
    q = coordinates(task, module, state, None, None)[None]
    position = task.chart.along(position_of(module, task.parameters, state.pose))
    return np.asarray(position.value(MotionSamples.of(q))[0])


def _place(position: Array) -> str:
    return f"({', '.join(f'{x:.3g}' for x in position)})"


def _reached(
    position: Quantity, q: Array, movable: Flags, target: Array, lower: Array,
    upper: Array,
) -> tuple[Array, float]:  # fmt: skip
    """Return q by Levenberg-Marquardt steps within the limits, and its distance from the target."""
    damping = 1e-3

    def residual(q: Array) -> tuple[Array, Array]:
        value, slopes = position.jacobian(MotionSamples.of(q[None]))
        return value[0] - target, slopes[0, 0] * movable

    error, slopes = residual(q)
    for _ in range(_STEPS):
        if float(error @ error) < _NEAR**2:
            break
        normal = slopes.T @ slopes + damping * np.eye(len(q))
        moved = np.clip(q - np.linalg.solve(normal, slopes.T @ error), lower, upper)
        moved = np.where(movable, moved, q)
        new, new_slopes = residual(moved)
        if new @ new < error @ error:
            q, error, slopes, damping = moved, new, new_slopes, max(damping / 3, 1e-12)
        else:
            damping *= 4
    return q, float(np.linalg.norm(error))


def _time(task: Task, module: Any, profile: Profile, control: Array) -> float:
    """Find the shortest of `TIMES` in which the motion keeps its limits; else the least bad."""
    if task.time[0] == task.time[1]:
        return task.time[0]
    s = np.linspace(0.0, 1.0, 4 * profile.segments + 1)
    torques = [x for x in limited(task, module) if x.name == TORQUE and len(x.chosen)]
    best, time = np.inf, 1.0
    for T in TIMES:
        path = _reacting(task, module, profile, control, float(T))
        worst = 0.0
        for order, limits in ((1, task.limits.velocity), (2, task.limits.acceleration)):
            worst = max(worst, _relative(path.rate(order, s), limits))
        for torque in torques:
            worst = max(worst, _relative(path.torques(module, task.parameters, s), torque.limits))
        if worst <= 1.0:
            return float(T) if np.isfinite(best) else 1.0
        if worst < 0.99 * best:
            best, time = worst, float(T)
    return time


def _reacting(task: Task, module: Any, profile: Profile, control: Array, T: float) -> Splines:
    """Return a motion with the forces in cuts that coordinates without a drive need."""
    count = module.n_loads

    def unloaded(s: Array, T: float) -> tuple[Array, None]:
        return np.zeros((len(s), count, 6)), None

    loads = loads_at(task.loads, count, task.parameters)
    reacting = balance(task, module, np.zeros((1, count, 6)), np.inf) if task.cuts else None
    if task.contacts is not None or reacting is None:
        return Splines(profile, control, T, loads, task.chart)
    return Splines(profile, control, T, loads or unloaded, task.chart, reacting)


def reactions(task: Task, module: Any, profile: Profile, x: Array, size: int) -> Array:
    """Return unknown loads (size,) of a motion x, its control points and T: forces in cuts."""
    count = len(forces(task, module))
    path = _reacting(task, module, profile, x[:-1].reshape(-1, module.n), float(x[-1]))
    if path.balance is None:
        return np.zeros(size)
    motion = path.motion(np.linspace(0.0, 1.0, size // count))
    in_cuts = forces_in_cuts(task, module, motion)
    return np.pad(in_cuts, ((0, 0), (0, count - in_cuts.shape[1]))).ravel()


def _relative(values: Array, limits: Array) -> float:
    """Return the largest value in units of its limit."""
    upper = np.where(limits[:, 1] > 0, limits[:, 1], 1e-9)
    lower = np.where(limits[:, 0] < 0, limits[:, 0], -1e-9)
    return float(np.max(np.maximum(values / upper, values / lower), initial=0.0))
