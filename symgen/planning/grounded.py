"""Plans on the ground between instants: slips, excess of friction, simulations with held feet.

A foot of small mass under the weight of a robot is unstable in open loop.  So the forward
simulation begins anew at every instant, with the points held that stand until the next one, and
coordinates with one value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symgen.planning.contacts import Contacts, weight_of
from symgen.planning.placements import PlacedRates
from symgen.planning.quantities import MotionSamples, Torques
from symgen.planning.reactions import LEAST
from symgen.planning.support import Lines, edges
from symgen.planning.task import Task
from symgen.support.arrays import Array, Flags

STEPS = 20
"""Runge-Kutta steps from an instant to the next one."""
LEAST_FORCE = 0.1
"""Normal force, in units of the largest one, below which its centre is left out."""


@dataclass(frozen=True)
class Grounded:
    """Contacts of a plan on a fine grid.

    Attributes:
        slips: largest distance of each point in the plane from where it came on, m.
        depth: of the lowest point below the ground, m.
        excess: largest pull, or friction outside the pyramid, as a share of the weight.
        at: share of the time of `excess`.
        missed: largest distance of each point at an instant from where it stands, m.
        inside: least distance of the zero-moment point from the edges of the support polygon, m;
            None without a margin, or where no points span a polygon or line.
        short: margin that is missing at an instant, m.
    """

    slips: Mapping[str, float]
    depth: float
    excess: float
    at: float
    missed: Mapping[str, float]
    inside: float | None = None
    short: float = 0.0

    @property
    def words(self) -> str:
        """Losses between instants, in words."""
        name, slip = max(self.slips.items(), key=lambda item: item[1])
        margin = ""
        if self.inside is not None:
            side = "inside" if self.inside >= 0 else "outside"
            margin = f", the zero-moment point comes to {1e3 * abs(self.inside):.3g} mm {side} "
            margin += "the edges of its polygon"
        return (
            f"between instants {name} slips by {1e3 * slip:.2g} mm at most, the lowest point is "
            f"{1e3 * self.depth:.2g} mm below the ground, forces leave their friction pyramids by "
            f"{self.excess:.2g} of the weight{margin}"
        )


def grounded(
    task: Task, module: Any, motion: MotionSamples, contacts: Contacts, every: int
) -> Grounded:
    """Compare the robot's motion on a fine grid, `every` so many an instant, with its contacts."""
    places = contacts.places_of(module, task.parameters).value(motion).reshape(len(motion.q), -1, 3)
    on = contacts.standing(motion.shares)
    slips, missed = dict[str, float](), dict[str, float]()
    for i, name in enumerate(contacts.names):
        came_on = on[:, i] & ~np.concatenate([[False], on[:-1, i]])
        since = np.maximum.accumulate(np.where(came_on, np.arange(len(on)), 0))
        target = places[since, i, :2]
        target = np.where(np.isnan(contacts.places[i]), target, contacts.places[i])
        distances = np.linalg.norm(places[:, i, :2] - target, axis=1)
        slips[name] = float(distances[on[:, i]].max(initial=0.0))
        heights = np.abs(places[:, i, 2])
        missed[name] = float(
            np.maximum(distances, heights)[::every][on[::every, i]].max(initial=0.0)
        )
    assert motion.loads is not None
    forces = motion.loads[:, contacts.loads, :3] @ contacts.axes.T
    normal, tangent = forces[..., 2], np.abs(forces[..., :2]).max(axis=-1)
    over = np.maximum(-normal, tangent - contacts.slope * np.maximum(normal, 0.0)).max(axis=-1)
    worst = int(over.argmax())
    share = max(float(over[worst]), 0.0) / weight_of(module, task.parameters)
    depth = max(0.0, -float(places[..., 2].min()))
    result = Grounded(slips, depth, share, float(motion.shares[worst]), missed)
    if not contacts.margin:
        return result
    margins = _margins(places[..., :2], normal, contacts.bearing(motion.shares))
    least, at_instants = (float(each.min()) for each in (margins, margins[::every]))
    if not np.isfinite(least):
        return result
    return replace(result, inside=least, short=max(0.0, contacts.margin - at_instants))


def _margins(places: Array, normal: Array, bearing: Flags) -> Array:
    """Return distances of zero-moment points from the edges of support polygons, (K,); infinite
    where one point bears, or little force.

    `places` (K, P, 2) and `normal` forces (K, P) are those of points, of which some are `bearing`.
    """
    total = normal.sum(axis=1)
    distances = np.full(len(total), np.inf)
    for k in np.flatnonzero(total > LEAST_FORCE * total.max(initial=0.0)):
        some = bearing[k]
        polygon = edges(places[k, some])
        if polygon:
            f = normal[k, some] / total[k]
            distances[k] = Lines(places[k, some], polygon).inside(places[k, some], f).min()
    return distances


def held_error(
    task: Task,
    module: Any,
    contacts: Contacts,
    motion: Callable[[Array], MotionSamples],
    count: int,
) -> float:
    """Return the largest error (rad, m) at an instant of simulations from the one before.

    `motion` returns the robot's motion at shares of the time, with its loads; there are `count`
    instants.
    """
    s = np.linspace(0.0, 1.0, count)
    T = float(motion(np.ones(1)).t[0])
    fine = np.linspace(0.0, 1.0, 2 * STEPS * (count - 1) + 1)
    planned, torques = motion(fine), Torques(module, task.parameters)
    assert planned.loads is not None
    tau, loads = torques.value(planned) * module.actuated, planned.loads.copy()
    loads[:, contacts.loads, :3] = 0.0  # held instead
    held = contacts.standing(0.5 * (s[1:] + s[:-1])).repeat(3, axis=1)
    frozen = task.limits.position[:, 0] == task.limits.position[:, 1]
    system = _Held(task, module, contacts, ~frozen, held)
    starts = np.arange(count - 1) * 2 * STEPS
    q, v = planned.q[starts], planned.qd[starts]
    h = T / (count - 1) / STEPS
    space = task.chart.space

    for k in range(STEPS):

        def slope(q: Array, v: Array, offset: int, k: int = k) -> tuple[Array, Array]:
            at = starts + 2 * k + offset
            return space.rate(q, v), system.accelerations(q, v, tau[at], loads[at])

        with np.errstate(all="ignore"):  # it may diverge
            slopes = [slope(q, v, 0)]
            for share, offset in ((0.5, 1), (0.5, 1), (1.0, 2)):
                dq, dv = slopes[-1]
                slopes.append(slope(q + share * h * dq, v + share * h * dv, offset))
        weights = (1.0, 2.0, 2.0, 1.0)
        q, v = (
            x + h / 6 * sum(w * each[order] for w, each in zip(weights, slopes, strict=True))
            for order, x in enumerate((q, v))
        )
    ends = planned.q[starts + 2 * STEPS]
    if not np.all(np.isfinite(q)):
        return np.inf
    return float(np.abs(space.difference(ends, space.normalize(q)))[:, ~frozen].max())


class _Held:
    """Forward dynamics of one state per instant, with points `held` (K, 3 P) and fixed joints."""

    def __init__(
        self, task: Task, module: Any, contacts: Contacts, free: Flags, held: Flags
    ) -> None:
        self.module, self.free, self.held = module, free, held
        self.rates = PlacedRates(contacts.places_of(module, task.parameters))

    def accelerations(self, q: Array, v: Array, tau: Array, loads: Array) -> Array:
        """Return the accelerations (K, n): M a = tau - h + J^T f with J a = -dJ/dt v."""
        zero, options, free = np.zeros_like(v), self.rates.keywords, self.free
        bias = self.module.inverse_dynamics(q, v, zero, loads=loads, **options)
        M = self.module.mass_matrix(q, **options)[:, free][:, :, free]
        _, slopes = self.rates.jacobian(MotionSamples.of(q, v))
        J = (slopes[:, 1] * self.held[..., None])[..., free]
        drift = (slopes[:, 0] @ v[..., None])[..., 0] * self.held
        count, n = J.shape[1:]
        system = np.zeros((len(q), n + count, n + count))
        system[:, :n, :n] = M
        system[:, :n, n:], system[:, n:, :n] = -J.transpose(0, 2, 1), J
        right = np.concatenate([(tau - bias)[:, free], -drift], axis=1)[..., None]
        accelerations = np.full_like(v, np.nan)
        if not np.all(np.isfinite(system)):  # it diverged
            return accelerations
        accelerations[:] = 0.0
        accelerations[:, free] = (np.linalg.pinv(system, rcond=LEAST) @ right)[:, :n, 0]
        return accelerations
