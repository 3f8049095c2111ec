"""Ground reaction of a motion: the resultant on a robot that moves freely, and its centre.

Barman 2020, chapter 5, in two steps: inverse dynamics without ground reactions leaves torques in
the coordinates between the base and the robot; what has the same power on their twists is what the
ground exerts.  With S (6, k) the twists of these coordinates at the base origin, per unit of rate,

    S^T [F; M] = tau,

of which the solution of least norm is taken: a robot that moves in a plane has no forces across it.
The zero-moment point p of a plane n . p = h, and the moment about n that is left there,

    p = h n + (h F_t + n x M) / F_n,    m = n . (M - p x F),    F = F_n n + F_t.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from symgen.description.wording import shown
from symgen.errors import RequestError
from symgen.planning.quantities import skew
from symgen.runtime.configuration import configuration_of
from symgen.support.arrays import Array
from symgen.support.suggestions import suggestion


class GroundReaction(NamedTuple):
    """Resultant of the forces of the ground on a robot, base axes.

    Attributes:
        force: (..., 3), N.
        moment: (..., 3), N m, about the base origin.
        zmp: (..., 3), m: the zero-moment point in the plane of the ground, NaN without a force
            along its normal.
        free_moment: (...,), N m, about the normal at `zmp`.
    """

    force: Array
    moment: Array
    zmp: Array
    free_moment: Array


def ground_reaction(
    module: Any, q: Any, qd: Any, qdd: Any, *, free: Sequence[str] = (),
    normal: Any = (0.0, 0.0, 1.0), height: float = 0.0, **options: Any,
) -> GroundReaction:  # fmt: skip
    """Return the resultant of the ground's forces along a motion, and its zero-moment point.

    Args:
        module: generated module with `inverse_dynamics` and `jacobians`.
        q, qd, qdd: states, (..., nq), (..., n), (..., n).
        free: names of the coordinates that move all of the robot, up to six.  Without it those at
            its base that have no drive (``actuated: false``), or of a joint with a quaternion.
        normal: of the ground, out of it, (3,), base axes, a unit vector.
        height: of the ground along `normal` from the base origin, m.
        options: `parameters` and `loads` (..., n_loads, 6) of the module's functions; loads are
            what acts on the robot beside the ground.

    Raises:
        RequestError: no coordinates move all of the robot, or the normal is no unit vector.
    """
    n = np.asarray(normal, dtype=float)
    if n.shape != (3,) or abs(np.linalg.norm(n) - 1) > 1e-9:
        raise RequestError(f"ground_reaction: normal: expected a unit vector (3,), found {normal}")
    of_pose = {key: value for key, value in options.items() if key != "loads"}
    chosen = base_coordinates(module, free, of_pose)
    tau = np.asarray(module.inverse_dynamics(q, qd, qdd, **options))[..., chosen]
    link = np.asarray(module.forward_kinematics(q, **of_pose))[..., -1, :3, 3]
    jacobian = np.asarray(module.jacobians(q, **of_pose))[..., -1, :, :][..., chosen]
    spins = jacobian[..., 3:, :]
    twists = np.concatenate([jacobian[..., :3, :] + skew(link) @ spins, spins], axis=-2)
    wrench = (np.linalg.pinv(np.swapaxes(twists, -1, -2)) @ tau[..., None])[..., 0]
    F, M = wrench[..., :3], wrench[..., 3:]
    along = (F @ n)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        zmp = np.where(along == 0, np.nan, (height * (F - along * n) + np.cross(n, M)) / along)
    zmp = zmp + height * n
    return GroundReaction(F, M, zmp, (M - np.cross(zmp, F)) @ n)


def base_coordinates(module: Any, names: Sequence[str], options: dict[str, Any]) -> list[int]:
    """Return coordinates that move all of the robot, counted from 0: those of `names`, if any."""
    coordinates, start = list(module.coordinate_names), "ground_reaction: free: "
    for name in names:
        if name not in coordinates:
            hint = suggestion(name, coordinates)
            raise RequestError(f"{start}{shown(name)} is no coordinate; {hint}")
    if names:
        chosen = [coordinates.index(name) for name in names]
    else:
        undriven = [not driven for driven in module.actuated]
        turned = [first for _, _, first in configuration_of(module).joints]
        first = (*undriven, False).index(False) or (6 if turned[:1] == [0] else 0)
        chosen = list(range(min(first, 6)))
    moves = np.abs(module.jacobians(module.neutral(), **options)).max(axis=-2) > 0
    beyond = moves[np.delete(moves, chosen, axis=1).any(axis=1)]  # links that other joints move
    if not chosen or not np.all([*beyond, moves[-1]], axis=0)[chosen].all():
        raise RequestError(f"{start}name up to six coordinates at the base that move all links")
    return chosen
