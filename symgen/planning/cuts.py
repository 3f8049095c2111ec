"""Joints that were cut: closed at every instant at which limits are asked for.

The r rows of all cuts take r freedoms at an instant.  Splines of n coordinates with N segments have
n (N + p) control points: closing at k > 1 instants of every segment would take k N r of them, and
leave the motion that much less to choose from (two arms with 20 segments, closed at the midpoints,
need twice the torque).  So r coordinates are *dependent*: they have a knot at every instant, as
many control points as there are equations, and interpolate the closed motion there.  The others
stay polynomials over their segments: no jump of the p-th derivative at the knots within (`smooth`).

Between the instants, r (N k) pieces of degree p follow the closed motion to the order p + 1 where
the motion is smooth, less where torques reach and leave their limits.

Which coordinates are dependent only decides how smooth each is, never what is asked of it.  They
are chosen such that the Jacobian of the cuts with respect to them is as far from singular as can
be, along the motion that the solver starts from.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.planning.places import gap_of
from symgen.planning.quantities import Motion
from symgen.planning.samples import Sampled
from symgen.planning.splines import Profile
from symgen.planning.task import State, Task
from symgen.planning.terms import Linear, Sizes, Term

Array = NDArray[np.float64]


def dependent(task: Task, module: Any, q: Array) -> tuple[int, ...]:
    """The coordinates that close the cuts of a task along a motion q (K, n)."""
    from scipy.linalg import qr

    zero = np.zeros_like(q)
    motion = Motion(q, zero, zero, np.zeros(len(q)), np.zeros(len(q)))
    slopes = [gap_of(task, module, cut).jacobian(motion)[1][:, 0] for cut in task.cuts]
    jacobian = np.concatenate(slopes, axis=1)  # (K, r, n)
    rows = min(jacobian.shape[1:])
    choices = {tuple(sorted(qr(one, pivoting=True)[2][:rows].tolist())) for one in jacobian}

    def nearest_to_singular(chosen: tuple[int, ...]) -> float:
        return float(np.linalg.svd(jacobian[:, :, list(chosen)], compute_uv=False)[:, -1].min())

    return max(sorted(choices), key=nearest_to_singular)


def closed(task: Task, module: Any, profile: Profile, sizes: Sizes) -> list[Term]:
    """The points of every cut together; and what keeps the other coordinates smooth."""
    if not task.cuts:
        return []
    s = _instants(task, profile)
    terms: list[Term] = []
    for cut in task.cuts:
        gap = gap_of(task, module, cut)
        m = gap.size
        zero = np.zeros(len(s) * m)
        terms.append(
            Sampled(
                sizes, cut.name, zero, zero, gap.labels, axes=True, s=s, local=profile.at(s),
                quantity=gap, limited=np.arange(len(s)), chosen=np.arange(m), scale=np.ones(m),
                quadrature=np.zeros(len(s)), squares=np.zeros(m), linear=np.zeros(m),
            )
        )  # fmt: skip
    return [*terms, *_smooth(profile, sizes)]


def _instants(task: Task, profile: Profile) -> Array:
    """The knots, but for ends that are closed as given; and where control points are left.

    Dependent coordinates have as many control points as there are knots and conditions at the ends
    (positions, velocities, accelerations), or some more: the cuts are closed in the middle of the
    first and the last piece, too.
    """
    s = np.linspace(0.0, 1.0, profile.pieces + 1)
    kept = np.ones(len(s), dtype=bool)
    kept[0], kept[-1] = (bool(np.any(np.isnan(end.q))) for end in (task.start, task.goal))
    left = profile.degree + 1 - sum(_conditions(end) for end in (task.start, task.goal))
    between = [0.5 * (s[0] + s[1]), 0.5 * (s[-2] + s[-1])][: max(left, 0)]
    return np.sort([*s[kept], *between])


def _conditions(end: State) -> int:
    """What an end asks of each coordinate, the place among it."""
    return 1 + sum(not np.any(np.isnan(rate)) for rate in (end.qd, end.qdd))


def _smooth(profile: Profile, sizes: Sizes) -> list[Term]:
    """One polynomial over every segment, for the coordinates that are not dependent."""
    bends = profile.bends()
    others = np.setdiff1d(np.arange(sizes.n), profile.dependent)
    if not len(bends) or not len(others):
        return []
    bends = bends / np.abs(bends).max(axis=1, keepdims=True)
    rows, columns = np.nonzero(bends)
    places = np.arange(len(rows)).repeat(len(others))
    joints = np.tile(others, len(rows))
    which = np.tile(np.arange(len(others)), len(rows))
    zero = np.zeros(len(bends) * len(others))
    return [
        Linear(
            sizes, "smooth", zero, zero, (), rows[places] * len(others) + which,
            columns[places] * sizes.n + joints, bends[rows, columns][places],
        )
    ]  # fmt: skip
