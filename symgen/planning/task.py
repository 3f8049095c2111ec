"""`Task`: the demands of a task file, checked against the robot.

Arrays follow the robot's coordinates, positions those of a chart (`symgen.planning.charts`); units
are SI (s, m, rad, N, N m), frames are the base frame unless a link is named.
`symgen.planning.reading` makes tasks from YAML files and dicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from symgen.planning.angles import Angle
from symgen.planning.charts import Chart
from symgen.planning.contacts import Contacts
from symgen.planning.loads import FreeLoad, Loads
from symgen.planning.mirroring import Mirrored
from symgen.planning.obstacles import KeepOut
from symgen.planning.poses import Pose
from symgen.planning.values import Range
from symgen.support.arrays import Array, Index

VERSION = 1
"""Version of the format of task files."""

KNOTS, MIDPOINTS, REFINE = "knots", "midpoints", "refine"
CHECKS = (KNOTS, MIDPOINTS, REFINE)
"""Instants with limits: `refine` tightens limits until they hold on the fine grid."""
PER_SEGMENT: Mapping[str, int] = {KNOTS: 1, MIDPOINTS: 2, REFINE: 4}
"""Instants with limits in each segment."""
INSTANTS, SEGMENTS = "instants", "segments"
FINE = (INSTANTS, SEGMENTS)
"""Knots of coordinates that close cuts or stand."""
CLOSURE = "closure"
"""Name of the rows in messages: "closure of pin_x"."""
SIX = 6
"""Components of a load, or multipliers in its place."""
SHORTEST, LONGEST = 1e-3, 1e4
"""Bounds of free times (s)."""
SPLINES, COLLOCATION = "splines", "collocation"
METHODS = (SPLINES, COLLOCATION)
"""Torques of a spline by inverse dynamics, or states and torques at nodes by forward dynamics."""


@dataclass(frozen=True)
class State:
    """Demands at an instant: x, x', x'' of the task's chart, (n,) each, NaN for none; a pose.

    `ranges` (n, 2) are limits of x there, infinite for none.
    """

    q: Array
    qd: Array
    qdd: Array
    ranges: Array
    pose: Pose | None = None


@dataclass(frozen=True)
class Via:
    """A state at a share of the time, 0 < `at` < 1."""

    at: float
    state: State


@dataclass(frozen=True)
class Objective:
    """Weights: of T, of integrals of squares per coordinate (n,), of joint wrenches, of outputs.

    `wrenches` maps (joint, component) to the weight of the integral of its square, `loads` (load,
    component) likewise, `outputs` the number of an output to the weight of its integral.
    """

    time: float
    torque: Array
    acceleration: Array
    jerk: Array
    wrenches: Mapping[tuple[int, int], float] = field(default_factory=dict)
    outputs: Mapping[int, float] = field(default_factory=dict)
    loads: Mapping[tuple[int, int], float] = field(default_factory=dict)


@dataclass(frozen=True)
class Limits:
    """Lower and upper limits, (n, 2) each; of wrenches and outputs as in `Objective`."""

    position: Array
    velocity: Array
    acceleration: Array
    jerk: Array
    torque: Array
    wrenches: Mapping[tuple[int, int], Range] = field(default_factory=dict)
    outputs: Mapping[int, Range] = field(default_factory=dict)
    angles: tuple[Angle, ...] = ()


@dataclass(frozen=True)
class Cut:
    """A joint that was cut: two points that stay together along `axes`, and the force between.

    The force acts on the link of the load `pull`, its opposite on that of the load `push`, both at
    the points of these loads; it is unknown, and at most `limit` along every axis (N).
    """

    name: str
    first: Pose
    second: Pose
    pull: int
    push: int
    axes: tuple[int, ...]
    limit: float

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the components of the force."""
        return tuple(f"{self.name} along {'xyz'[axis]}" for axis in self.axes)

    def units(self, count: int) -> Array:
        """Return `count` loads by each component of size 1 N, (axes, count, 6)."""
        units = np.zeros((len(self.axes), count, SIX))
        for unit, axis in zip(units, self.axes, strict=True):
            unit[self.pull, axis], unit[self.push, axis] = 1.0, -1.0
        return units


@dataclass(frozen=True)
class Closure:
    """Rows of a mechanism that a plan closes, and the load behind which their multipliers stand."""

    labels: tuple[str, ...]
    rows: Index
    first: int
    limit: float = np.inf
    name: str = CLOSURE

    def units(self, count: int) -> Array:
        """Return `count` loads by each multiplier of size 1, (rows, count, 6)."""
        units = np.eye(len(self.rows), count * SIX, self.first * SIX)
        return units.reshape(-1, count, SIX)


@dataclass(frozen=True)
class Knots:
    """Degree and number of segments of the splines, the instants with limits, `FINE` knots."""

    degree: int = 3
    segments: int = 20
    check: str = REFINE
    knots: str = INSTANTS


@dataclass(frozen=True)
class Guess:
    """Start of the solver: T (s), coordinates to pass (K, n), evenly spaced in time.

    With `at_rest` the robot rests at the one state of `through`.
    """

    T: float | None = None
    through: Array | None = None
    at_rest: bool = False


@dataclass(frozen=True)
class Task:
    """A motion to be found, with its `chart` of the robot's coordinates.

    `written` are keys and values of its file (`symgen.planning.summary`).
    """

    file: str
    chart: Chart
    start: State
    goal: State
    via: tuple[Via, ...]
    time: Range
    objective: Objective
    limits: Limits
    loads: Loads
    free_loads: tuple[FreeLoad, ...]
    keep_out: KeepOut
    cuts: tuple[Cut | Closure, ...]
    periodic: bool
    mirrored: Mirrored
    profile: Knots
    guess: Guess
    parameters: Mapping[str, float]
    contacts: Contacts | None = None
    method: str = SPLINES
    written: tuple[tuple[str, str], ...] = ()

    @property
    def images(self) -> tuple[tuple[int, int, float], ...]:
        """Coordinate i at the end is sign times coordinate j at the start: (i, j, sign)."""
        periodic = tuple((k, k, 1.0) for k in range(len(self.limits.torque)))
        return self.mirrored.coordinates or (periodic if self.periodic else ())

    def image(self, x: Array) -> Array:
        """Return coordinates, rates or torques (..., n) at the end by those at the start."""
        image = x.copy()
        for i, j, sign in self.images:
            image[..., i] = sign * x[..., j]
        return image
