"""Points and directions that links carry, and functions of them, with exact derivatives.

Of a vector x that link l carries, with w_j the angular velocity of the link per unit of qd_j, base
axes, and o the origin of the link, for joints i and j on its path, i before j or j itself,

    dx/dq_j = c_j,   c_j = dx_o/dq_j + w_j x (x - o) of a point,   w_j x x of a direction,
    d2x / dq_i dq_j = w_i x c_j,

since joint i turns all that it carries, the velocity c_j included.  The coordinates of a joint with
a quaternion turn each other: there the mean of both orders is the derivative along the exponential.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgen.errors import RequestError
from symgen.planning.quantities import MotionSamples, Parameters, Quantity, options_of, skew
from symgen.runtime.configuration import configuration_of
from symgen.support.arrays import Array


@dataclass(frozen=True)
class Carried:
    """A vector (3,) in the frame of a link, numbered from 1, 0 for the base: a point or not."""

    link: int
    vector: Array
    is_point: bool = True


class Placed(Quantity):
    """A function of the vectors that links carry, (K, m)."""

    orders = 1
    nonlinear = 1

    def __init__(
        self, module: Any, parameters: Parameters, carried: Sequence[Carried], labels: Sequence[str]
    ) -> None:
        super().__init__(module, parameters)
        self.labels = tuple(labels)
        self.links = np.array([x.link for x in carried], dtype=int)
        self.vectors = np.array([x.vector for x in carried])
        self.is_point = np.array([[x.is_point] for x in carried], dtype=float)
        self._joints = configuration_of(module).rows

    @abstractmethod
    def of_vectors(self, x: Array) -> tuple[Array, Array]:
        """Return values (..., m) and slopes (..., m, V, 3) by the vectors x (..., V, 3)."""

    def curvature(self, x: Array, multipliers: Array) -> Array | None:
        """Return second derivatives (K, V, 3, V, 3) of multipliers (K, m) . values; None for 0."""
        return None

    def value(self, motion: MotionSamples) -> Array:
        """(..., K, m)."""
        poses = self._poses(motion.q)
        return self.of_vectors(poses[..., :3, 3] * self.is_point + self._arms(poses))[0]

    def jacobian(self, motion: MotionSamples) -> tuple[Array, Array]:
        """Return values, and their derivatives (..., K, 1, m, n)."""
        x, columns, _ = self.placed(motion.q)
        values, slopes = self.of_vectors(x)
        flat = slopes.reshape(*slopes.shape[:-2], -1) @ columns.reshape(*x.shape[:-2], -1, self.n)
        return values, flat[..., None, :, :]

    def hessian(self, motion: MotionSamples, multipliers: Array) -> Array:
        """Return second derivatives of multipliers (K, m) . values, (K, 1, 1, n, n)."""
        if len(self.module.joint_parents) != self.n:  # one coordinate moves several joints
            return super().hessian(motion, multipliers)
        x, columns, spins = self.placed(motion.q)
        shape = len(x), -1, self.n
        weights = np.einsum("km,kmvc->kvc", multipliers, self.of_vectors(x)[1])
        turned = (skew(weights) @ spins).reshape(shape)
        flat = columns.reshape(shape)
        inward = turned.transpose(0, 2, 1) @ flat
        outward = inward.transpose(0, 2, 1)
        order = np.sign(np.subtract.outer(self._joints, self._joints))
        mean = 0.5 * (1 - order)
        second = mean * inward + (1 - mean) * outward
        curvature = self.curvature(x, multipliers)
        if curvature is not None:
            size = flat.shape[1]
            second = second + flat.transpose(0, 2, 1) @ curvature.reshape(-1, size, size) @ flat
        return np.asarray(second[:, None, None])

    def placed(self, q: Array) -> tuple[Array, Array, Array]:
        """Return the vectors (..., V, 3), c_j and w_j by column, (..., V, 3, n) each."""
        _check(self.module, "jacobians")
        poses = self._poses(q)
        jacobians = np.asarray(self.module.jacobians(q, **self.keywords))
        J, arms = self._of_links(jacobians, np.zeros((6, self.n))), self._arms(poses)
        spins, moved = J[..., 3:, :], J[..., :3, :] * self.is_point[:, None]
        columns = moved - skew(arms) @ spins
        return poses[..., :3, 3] * self.is_point + arms, columns, spins

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return int(self.module.n)

    def _poses(self, q: Array) -> Array:
        """Return the frames of the links of all vectors, (..., V, 4, 4)."""
        frames = np.asarray(self.module.forward_kinematics(q, **self.keywords))
        return self._of_links(frames, np.eye(4))

    def _of_links(self, of_all: Array, of_base: Array) -> Array:
        """Return what belongs to the link of each vector; `of_all` is by link."""
        chosen: Array = of_all[..., self.links - 1, :, :]
        if not self.links.all():
            chosen[..., self.links == 0, :, :] = of_base
        return chosen

    def _arms(self, poses: Array) -> Array:
        """Return the vectors in base axes, (..., V, 3), of points from the origin of the link."""
        return np.asarray(np.einsum("...vij,vj->...vi", poses[..., :3, :3], self.vectors))


class Combination(Placed):
    """Sums of entries of vectors: `matrix` (m, V, 3) and `constant` (m,)."""

    def __init__(
        self, module: Any, parameters: Parameters, carried: Sequence[Carried],
        labels: Sequence[str], matrix: Array, constant: Array,
    ) -> None:  # fmt: skip
        super().__init__(module, parameters, carried, labels)
        self.matrix, self.constant = matrix, constant

    def of_vectors(self, x: Array) -> tuple[Array, Array]:
        """Return values (..., m), and the matrix."""
        values = np.einsum("mvc,...vc->...m", self.matrix, x) + self.constant
        return values, np.broadcast_to(self.matrix, (*values.shape, *x.shape[-2:]))


class PlacedRates(Quantity):
    """Rates of a combination of vectors, v . qd with v = c, (K, m).

    For joints i and j on the path, i before j or in one joint with it,

        dc_j/dq_i = w_i x c_j,    dc_i/dq_j = w_i x c_j  (i before j),

    and of three joints in their order d2c_k / dq_i dq_j = w_i x (w_j x c_k) in the same way.
    """

    orders = 2

    def __init__(self, places: Combination) -> None:
        self.module, self.keywords, self.labels = places.module, places.keywords, places.labels
        self.places = places
        rows = configuration_of(places.module).rows
        self._order = np.sign(np.subtract.outer(rows, rows))
        self._before = (self._order < 0).astype(float)  # [j, i]: j before i

    def _parts(self, motion: MotionSamples) -> tuple[Array, Array, Array, Array]:
        """Return c_j, w_j, the velocity by joints from i on and the spin by those before i."""
        _, columns, spins = self.places.placed(motion.q)
        rate = motion.qd[..., None, None, :]
        before, spin = ((parts * rate) @ self._before for parts in (columns, spins))
        return columns, spins, (columns * rate).sum(axis=-1, keepdims=True) - before, spin

    def value(self, motion: MotionSamples) -> Array:
        """(..., K, m)."""
        _, columns, _ = self.places.placed(motion.q)
        v = (columns @ motion.qd[..., None, :, None])[..., 0]
        return np.asarray(np.einsum("mvc,...vc->...m", self.places.matrix, v))

    def jacobian(self, motion: MotionSamples) -> tuple[Array, Array]:
        """Return values, and derivatives by q and qd, (..., K, 2, m, n)."""
        columns, spins, onward, spin = self._parts(motion)
        by_q = _cross(spins, onward) + _cross(spin, columns)
        by_both = np.stack([by_q, columns], axis=-4)
        flat = by_both.reshape(*by_both.shape[:-3], -1, by_both.shape[-1])
        slopes = self.places.matrix.reshape(self.size, -1) @ flat
        return (slopes[..., 1, :, :] @ motion.qd[..., None])[..., 0], slopes

    def hessian(self, motion: MotionSamples, multipliers: Array) -> Array:
        """Return second derivatives of multipliers (K, m) . values, (K, 2, 2, n, n)."""
        columns, spins, onward, spin = self._parts(motion)
        weights = np.einsum("km,mvc->kvc", multipliers, self.places.matrix)[..., None]
        turned = _cross(weights, spins)
        ahead = _cross(spins, onward) + _cross(spin, columns)
        behind = _cross(_cross(weights, spin), spins) - _cross(turned, spin)

        def product(left: Array, right: Array) -> Array:
            shape = len(left), -1, left.shape[-1]
            return np.asarray(left.reshape(shape).transpose(0, 2, 1) @ right.reshape(shape))

        inward = product(turned, columns)
        result = np.zeros((len(inward), 2, 2, *inward.shape[1:]))
        twice = product(turned, ahead) + product(behind, columns)
        mean = 0.5 * (1 - self._order)
        result[:, 0, 0] = mean * twice + (1 - mean) * twice.transpose(0, 2, 1)
        result[:, 0, 1] = np.where(self._order <= 0, inward, inward.transpose(0, 2, 1))
        result[:, 1, 0] = result[:, 0, 1].transpose(0, 2, 1)
        return result


def _cross(a: Array, b: Array) -> Array:
    """Return a x b of columns (..., 3, n)."""
    (x, y, z), (u, v, w) = (np.moveaxis(each, -2, 0) for each in (a, b))
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-2)


def point_of(module: Any, parameters: Parameters, number: int) -> Carried:
    """Return a point of the model, numbered from 0, in the frame of its link."""
    _check(module, "point_motion")
    link, q, options = module.point_links[number], module.neutral(), options_of(parameters)
    zero = np.zeros(module.n)
    place = module.point_motion(q, zero, zero, **options)[0][number]
    if not link:
        return Carried(0, place)
    frame = module.forward_kinematics(q, **options)[link - 1]
    return Carried(link, frame[:3, :3].T @ (place - frame[:3, 3]))


def _check(module: Any, function: str) -> None:
    """Raise `RequestError` for a module without a function."""
    if function not in module.functions:
        raise RequestError(
            f"plan: points of this task need {function}, which the module lacks; rebuild it "
            "without --functions"
        )
