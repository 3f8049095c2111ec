"""What a task says of joints with a quaternion, in coordinates of a chart of their attitudes.

The reference attitude of the chart is the mean of those that the task names.  From one of them to
the next a link turns the shorter way: a longer one needs a state between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symgen.description.wording import KeyPath, shown
from symgen.planning.charts import Chart, Columns, columns_of, parameters_of, rates_of
from symgen.planning.mirroring import Mirrored
from symgen.planning.task import Guess, State
from symgen.planning.values import Values
from symgen.robot.configuration import Configuration, rotated

Array = NDArray[np.float64]

FARTHEST = 300.0
"""From the reference attitude (degrees); at 360 the parameters are infinite."""
LEAST = 0.1
"""Length of a mean of unit quaternions below which it says nothing."""


class Stop(NamedTuple):
    """A state at a share of the time, its q (nq,), and its key in the task."""

    path: KeyPath
    at: float
    state: State


def on_chart(
    values: Values,
    space: Configuration,
    names: Sequence[str],
    stops: Sequence[Stop],
    mirrored: Mirrored | None = None,
) -> tuple[Chart, list[State]]:
    """A chart for all `stops`, and their states in its coordinates; `names` are those of q."""
    joints = columns_of(space)
    order = sorted(range(len(stops)), key=lambda k: stops[k].at)
    q = [stop.state.q.copy() for stop in stops]
    references = []
    for at in joints:
        sequence = [(stops[k].path, q[k][at.attitude]) for k in order]
        references.append(_reference(_unwound(values, sequence, _joint(names, at))))
    chart = Chart(space, tuple((mirrored or Mirrored()).references(references)))
    reader = _OnChart(values, chart, names)
    return chart, [reader.state(stop, own) for stop, own in zip(stops, q, strict=True)]


def _joint(names: Sequence[str], at: Columns) -> str:
    return str(names[at.attitude.start]).removesuffix("_qx")


def _unwound(values: Values, sequence: Sequence[tuple[KeyPath, Array]], joint: str) -> list[Array]:
    """The attitudes that are given, of norm 1 and each by the sign nearer to the one before.

    They are changed in place; a faulty one is as if it were not given.
    """
    found: list[Array] = []
    for path, attitude in sequence:
        missing = np.isnan(attitude)
        norm = np.linalg.norm(attitude)
        if missing.any() or norm == 0:
            if not missing.all():
                what = "a quaternion of norm 0" if norm == 0 else "a part of a quaternion"
                values.fault((*path, "q"), f"{shown(joint)} has {what}; give x, y, z, w, or none")
            attitude[:] = np.nan
            continue
        attitude /= norm
        if found and attitude @ found[-1] < 0:
            attitude *= -1
        found.append(attitude)
    return found


def _reference(attitudes: Sequence[Array]) -> Array:
    """Their mean; of attitudes all around, the middle one."""
    if not attitudes:
        return np.array([0.0, 0.0, 0.0, 1.0])
    mean = np.mean(attitudes, axis=0)
    norm = float(np.linalg.norm(mean))
    return np.array(attitudes[len(attitudes) // 2]) if norm < LEAST else mean / norm


def stops_of(guess: Guess, n: int) -> list[Stop]:
    """The states that a guess passes, evenly spaced in time."""
    rows, free = guess.through, np.full(n, np.nan)
    count = 0 if rows is None else len(rows)
    return [
        Stop(("guess", "through", k), (k + 1) / (count + 1), State(row, free, free))
        for k, row in enumerate(() if rows is None else rows)
    ]


def names_of_places(
    space: Configuration, coordinates: Sequence[str], positions: Sequence[str]
) -> list[str]:
    """What limits of positions are named by: attitudes, which have none, by their velocities."""
    names = list(coordinates)
    for k, place in zip(space.velocities.tolist(), space.positions.tolist(), strict=True):
        names[k] = positions[place]
    for at in columns_of(space):
        if at.place is not None:
            names[at.travel] = positions[at.place]
    return names


def refuse_limits(
    values: Values, space: Configuration, names: Sequence[str], ranges: Mapping[str, Array]
) -> None:
    """Faults of limits of attitudes, and of jerks that are not those of splines."""
    for at in columns_of(space):
        name = shown(_joint(names, at))
        if np.any(np.isfinite(ranges["position"][at.turn])):
            values.fault(
                ("limits", "position"),
                f"the attitude of {name} has no limits entry by entry; name other coordinates, "
                "or write 'coordinates: angles' in the model file",
            )
        if np.any(np.isfinite(ranges["jerk"][at.columns])):
            values.fault(
                ("limits", "jerk"), f"not available yet for {name}; name other coordinates"
            )


class _OnChart:
    def __init__(self, values: Values, chart: Chart, names: Sequence[str]) -> None:
        self.values, self.chart, self.names = values, chart, names

    def state(self, stop: Stop, q: Array) -> State:
        """The state with x, x', x'' for q, velocities and accelerations."""
        space = self.chart.space
        x = np.full(space.n, np.nan)
        x[space.velocities] = q[space.positions]
        rate, bend = stop.state.qd.copy(), stop.state.qdd.copy()
        for at, reference in zip(self.chart.joints, self.chart.references, strict=True):
            name, attitude = _joint(self.names, at), q[at.attitude]
            with np.errstate(divide="ignore", invalid="ignore"):  # a whole turn away
                r = parameters_of(reference, attitude)
            if np.linalg.norm(r) > 4 * np.tan(np.radians(FARTHEST) / 4):
                self.values.fault(
                    (*stop.path, "q"),
                    f"{shown(name)} is turned by more than {FARTHEST:g} degrees from the mean "
                    "attitude of the task; make several tasks of it",
                )
            x[at.turn] = r
            if at.place is not None:
                x[at.travel] = q[at.place]
            if self.has_rates(stop, at, name, not np.isnan(r).any()):
                known = np.where(np.isnan(r), 0.0, r)
                omega, spin = stop.state.qd[at.turn], stop.state.qdd[at.turn]
                rate[at.turn], bend[at.turn] = rates_of(known, omega, spin)
                if at.place is not None and not np.isnan(r).any():
                    v, a = stop.state.qd[at.travel], stop.state.qdd[at.travel]
                    rate[at.travel] = rotated(attitude, v)
                    bend[at.travel] = rotated(attitude, a + np.cross(omega, v))
        return State(x, rate, bend, stop.state.pose)

    def has_rates(self, stop: Stop, at: Columns, name: str, is_known: bool) -> bool:
        """Whether rates of the chart follow from what is given, or a fault that says why not."""
        qd, qdd = (rates[at.columns] for rates in (stop.state.qd, stop.state.qdd))
        for key, rates in (("qd", qd), ("qdd", qdd)):
            if np.isnan(rates).any() and not np.isnan(rates).all():
                self.values.fault(
                    (*stop.path, key), f"give all velocities of {shown(name)}, or none: it turns"
                )
                return False
        moves = bool(np.nansum(np.abs([qd, qdd])))
        if not np.isnan(qdd).all() and np.isnan(qd).all():
            self.values.fault((*stop.path, "qdd"), f"of {shown(name)}: its qd is needed, too")
            return False
        if moves and not is_known:
            self.values.fault(
                (*stop.path, "qd"), f"{shown(name)} moves: its attitude in q is needed, too"
            )
            return False
        return True
