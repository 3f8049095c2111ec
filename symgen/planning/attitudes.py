"""States of joints with a quaternion, from a task to coordinates of a chart of their attitudes.

The reference attitude of the chart is the mean of the attitudes in the task.  From one to the next
a link turns by the smaller angle: a larger one needs a state between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from symgen.description.wording import shown
from symgen.planning.charts import Chart, Columns, columns_of, parameters_of, rates_of
from symgen.planning.mirroring import Mirrored
from symgen.planning.task import State
from symgen.planning.values import Entries, Value
from symgen.runtime.configuration import Configuration, rotated
from symgen.support.arrays import Array

FARTHEST = 300.0
"""Largest angle from the reference attitude (degrees); at 360 the parameters are infinite."""
LEAST = 0.1
"""Length of a mean of unit quaternions below which it is no mean attitude."""


class Stop(NamedTuple):
    """A state with its q (nq,), at a share of the time, and its value in the task."""

    value: Value
    at: float
    state: State


def on_chart(
    space: Configuration, names: Sequence[str], stops: Sequence[Stop], mirrored: Mirrored
) -> tuple[Chart, list[State]]:
    """Return a chart for all `stops`, and their states in it; `names` are those of q."""
    order = sorted(range(len(stops)), key=lambda k: stops[k].at)
    q = [stop.state.q.copy() for stop in stops]
    references = []
    for joint in columns_of(space):
        sequence = [(stops[k].value, q[k][joint.attitude]) for k in order]
        references.append(_reference(_unwound(sequence, _name(names, joint))))
    chart = Chart(space, tuple(mirrored.references(references)))
    states = (_state(chart, names, stop, at) for stop, at in zip(stops, q, strict=True))
    return chart, list(states)


def _name(names: Sequence[str], joint: Columns) -> str:
    return shown(str(names[joint.attitude.start]).removesuffix("_qx"))


def _unwound(sequence: Sequence[tuple[Value, Array]], joint: str) -> list[Array]:
    """Normalize attitudes in place, with signs nearer to the one before; faulty ones become NaN."""
    attitudes: list[Array] = []
    for value, attitude in sequence:
        missing = np.isnan(attitude)
        norm = np.linalg.norm(attitude)
        if missing.any() or norm == 0:
            if not missing.all():
                what = "a quaternion of norm 0" if norm == 0 else "a part of a quaternion"
                value.fault(f"{joint} has {what}; give x, y, z, w, or none", "q")
            attitude[:] = np.nan
            continue
        attitude /= norm
        if attitudes and attitude @ attitudes[-1] < 0:
            attitude *= -1
        attitudes.append(attitude)
    return attitudes


def _reference(attitudes: Sequence[Array]) -> Array:
    """Return the mean of attitudes, or the middle one where the mean is 0."""
    if not attitudes:
        return np.array([0.0, 0.0, 0.0, 1.0])
    mean = np.mean(attitudes, axis=0)
    norm = float(np.linalg.norm(mean))
    return np.array(attitudes[len(attitudes) // 2]) if norm < LEAST else mean / norm


def names_of_limits(
    space: Configuration, coordinates: Sequence[str], positions: Sequence[str]
) -> list[str]:
    """Return names of limits of positions, (n,); velocities of attitudes, which have no limits."""
    names = list(coordinates)
    for k, entry in zip(space.velocities.tolist(), space.positions.tolist(), strict=True):
        names[k] = positions[entry]
    for at in columns_of(space):
        if at.position is not None:
            names[at.travel] = positions[at.position]
    return names


def refuse_limits(
    limits: Entries, space: Configuration, names: Sequence[str], ranges: dict[str, Array]
) -> None:
    """Report limits (n, 2) of attitudes, and of jerks that are not those of splines."""
    for joint in columns_of(space):
        name = _name(names, joint)
        if np.any(np.isfinite(ranges["position"][joint.turn])):
            limits["position"].fault(
                f"the attitude of {name} has no limits entry by entry; name other coordinates, "
                "or write 'coordinates: angles' in the model file"
            )
        if np.any(np.isfinite(ranges["jerk"][joint.columns])):
            limits["jerk"].fault(f"not available yet for {name}; name other coordinates")


def _state(chart: Chart, names: Sequence[str], stop: Stop, q: Array) -> State:
    """Return the state with x, x', x'' (n,) for q (nq,), velocities and accelerations."""
    space = chart.space
    x = np.full(space.n, np.nan)
    x[space.velocities] = q[space.positions]
    xd, xdd = stop.state.qd.copy(), stop.state.qdd.copy()
    ranges = np.tile([-np.inf, np.inf], (space.n, 1))
    ranges[space.velocities] = stop.state.ranges[space.positions]
    for joint, reference in zip(chart.joints, chart.references, strict=True):
        name, attitude = _name(names, joint), q[joint.attitude]
        with np.errstate(divide="ignore", invalid="ignore"):  # a whole turn away
            r = parameters_of(reference, attitude)
        if np.linalg.norm(r) > 4 * np.tan(np.radians(FARTHEST) / 4):
            most = f"{FARTHEST:g} degrees from the mean attitude of the task"
            stop.value.fault(f"{name} is turned by more than {most}; make several tasks of it", "q")
        x[joint.turn] = r
        if np.any(np.isfinite(stop.state.ranges[joint.attitude])):
            stop.value.fault(f"the attitude of {name} has no ranges entry by entry", "q")
        if joint.position is not None:
            x[joint.travel] = q[joint.position]
            ranges[joint.travel] = stop.state.ranges[joint.position]
        is_named = not np.isnan(r).any()
        if _has_rates(stop, joint, name, is_named):
            omega, spin = stop.state.qd[joint.turn], stop.state.qdd[joint.turn]
            angles = np.where(np.isnan(r), 0.0, r)
            xd[joint.turn], xdd[joint.turn] = rates_of(angles, omega, spin)
            if joint.position is not None and is_named:
                v, a = stop.state.qd[joint.travel], stop.state.qdd[joint.travel]
                xd[joint.travel] = rotated(attitude, v)
                xdd[joint.travel] = rotated(attitude, a + np.cross(omega, v))
    return State(x, xd, xdd, ranges, stop.state.pose)


def _has_rates(stop: Stop, joint: Columns, name: str, is_named: bool) -> bool:
    """Return whether rates of the chart follow from the state; report why they do not."""
    qd, qdd = (rates[joint.columns] for rates in (stop.state.qd, stop.state.qdd))
    for key, rates in (("qd", qd), ("qdd", qdd)):
        if np.isnan(rates).any() and not np.isnan(rates).all():
            stop.value.fault(f"give all velocities of {name}, or none: it turns", key)
            return False
    moves = bool(np.nansum(np.abs([qd, qdd])))
    if not np.isnan(qdd).all() and np.isnan(qd).all():
        stop.value.fault(f"of {name}: its qd is needed, too", "qdd")
        return False
    if moves and not is_named:
        stop.value.fault(f"{name} moves: its attitude in q is needed, too", "qd")
        return False
    return True
