"""Angles of links: of one of its axes from a direction, or of its frame from an attitude.

What is limited is the cosine, which is smooth where the angle is 0 or half a turn.  With R the
attitude of the link, J its angular Jacobian, base frame:

    axis a, towards d       R a . d,                      d/dq = (R a x d)^T J
    frame, from R_0         (trace(R R_0^T) - 1) / 2,     d/dq = k^T J,

k being half the vector of the skew part of R R_0^T: minus the sine of the angle times its axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.planning.quantities import Motion, Quantity

Array = NDArray[np.float64]

LEAST = 0.1
"""Of sines that cosines are divided by, so that what is exceeded is about the angle in rad."""


@dataclass(frozen=True)
class Angle:
    """A limit of an angle (rad), `lower` to `upper`, of a link.

    It is that of `axis` (3,) in the link's frame, a unit vector, from `toward` (3,) in the base
    frame; without an axis that of the rotation of the frame from `rotation` (3, 3).
    """

    name: str
    link: int
    lower: float
    upper: float
    axis: Array | None
    toward: Array
    rotation: Array

    @property
    def cosines(self) -> tuple[float, float]:
        """Limits of the cosine; infinite where no angle is beyond."""
        least = np.cos(self.upper) if self.upper < np.pi else -np.inf
        return float(least), float(np.cos(self.lower)) if self.lower > 0 else np.inf

    @property
    def scale(self) -> float:
        """How fast the cosine changes with the angle at the narrower limit."""
        sines = [np.sin(x) for x in (self.lower, self.upper) if 0 < x < np.pi]
        return float(max(LEAST, *sines)) if sines else 1.0


class Cosines(Quantity):
    """Of `angles`, (K, m)."""

    orders = 1
    nonlinear = 1

    def __init__(
        self, module: Any, parameters: Mapping[str, float] | None, angles: Sequence[Angle]
    ) -> None:
        super().__init__(module, parameters)
        self.angles = tuple(angles)
        self.labels = tuple(one.name for one in angles)

    def jacobian(self, motion: Motion) -> tuple[Array, Array]:
        """(K, m), (K, 1, m, n)."""
        poses = np.asarray(self.module.forward_kinematics(motion.q, **self.given))
        jacobians = np.asarray(self.module.jacobians(motion.q, **self.given))
        values, rows = [], []
        for one in self.angles:
            R, J = poses[..., one.link, :3, :3], jacobians[..., one.link, 3:, :]
            if one.axis is not None:
                axis = R @ one.axis
                values.append(axis @ one.toward)
                by_turn = np.cross(axis, one.toward)
            else:
                left = R @ one.rotation.T
                values.append(0.5 * (np.trace(left, axis1=-2, axis2=-1) - 1.0))
                by_turn = 0.5 * (left[..., [1, 2, 0], [2, 0, 1]] - left[..., [2, 0, 1], [1, 2, 0]])
            rows.append(np.einsum("...a,...aj->...j", by_turn, J))
        return np.stack(values, axis=-1), np.stack(rows, axis=-2)[..., None, :, :]
