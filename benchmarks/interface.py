"""What the contestants of a comparison have in common: functions, modes, problems, cases.

A contestant is a module of `benchmarks.contestants` with

    TITLE               its name in tables
    missing()           why it cannot take part at all (a package, a compiler), or None
    versions()          {package or compiler: version}, for the record
    cases(problem, function, modes)
                        an iterator of `Case`s; raises `NotMeasured` where it cannot do it
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rigid_bodies import RigidBodies
from symgen.description import RobotDescription
from symgen.program.functions import function_named

FUNCTIONS = (
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "mass_matrix",
    "forward_dynamics",
    "forward_dynamics_derivatives",
)

KERNEL, CALL, NEW, SMALL, LARGE = "kernel", "call", "call-new", "batch-64", "batch-10000"
MODES = (KERNEL, CALL, NEW, SMALL, LARGE)
"""One sample: from C, from Python with results written to the same arrays, from Python with
results in new arrays.  Many samples: rows of C-contiguous arrays, results written to the same."""

ROWS = {SMALL: 64, LARGE: 10_000}
POOL = 16
"""So many states are gone through in turn in C, so that nothing can be taken out of the loop."""

LARGEST_RESULT = 1 << 30
"""Batches whose results are larger than so many bytes get fewer rows."""


class NotMeasured(Exception):  # noqa: N818 - it is no error
    """A contestant leaves something out; the message says why."""


@dataclass(frozen=True)
class Case:
    """One measurement: `time(calls)` gives seconds for so many calls of `samples` samples each.

    `values()` gives the results for the first states of the problem, a tuple of arrays with the
    samples in front, to be compared with those of the others before anything is timed.
    """

    contestant: str
    function: str
    mode: str
    samples: int
    time: Callable[[int], float]
    values: Callable[[], tuple[np.ndarray, ...]]
    tolerance: float = 1e-8
    """How far the values may be off, relative to the largest entry of each array."""

    facts: dict[str, Any] = field(default_factory=dict)
    """What else is worth recording, such as operations or bytes of code."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A model, and random states of it; everything in the order of the file.

    `functions` are all that will be asked for, so that they can be built together.
    """

    name: str
    path: Path
    description: RobotDescription
    bodies: RigidBodies
    functions: tuple[str, ...]

    @property
    def n(self):
        return self.bodies.n

    @cached_property
    def states(self):
        """`ROWS[LARGE]` samples of each argument; the first `POOL` of them are used one by one."""
        rng = np.random.default_rng(1)
        shape = (ROWS[LARGE], self.n)
        q = rng.uniform(-2.0, 2.0, (ROWS[LARGE], self.bodies.nq))
        for places in self.bodies.quaternions:
            q[:, places] /= np.linalg.norm(q[:, places], axis=1, keepdims=True)
        return {
            "q": q,
            "qd": rng.uniform(-2.0, 2.0, shape),
            "qdd": rng.uniform(-5.0, 5.0, shape),
            "tau": rng.uniform(-5.0, 5.0, shape),
        }

    def arguments(self, function, rows):
        """The first `rows` samples of the arguments of a function, (rows, n) or (rows, nq) each."""
        names = [argument.name for argument in function_named(function).arguments]
        return [np.ascontiguousarray(self.states[name][:rows]) for name in names]

    def without_free_bodies(self, reason):
        """`NotMeasured` where the robot has free bodies, for contestants that do not take them."""
        if self.bodies.free.any():
            raise NotMeasured(reason)

    def rows(self, function, mode):
        """Samples of a batch; fewer where the results would not fit into memory."""
        size = 8 * sum(int(np.prod(shape)) for shape in self.result_shapes(function))
        return min(ROWS[mode], max(1, LARGEST_RESULT // size))

    def result_shapes(self, function):
        """Shapes of the results of one sample."""
        n = self.n
        if function == "mass_matrix":
            return [(n, n)]
        if function.endswith("_derivatives"):
            return [(n,), (n, n), (n, n), (n, n)]
        return [(n,)]
