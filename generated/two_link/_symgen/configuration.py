"""The configuration space of a robot: integration, distances, neutral and random configurations.

A configuration q has nq numbers, a velocity n.  They are equal, and operations are addition and
subtraction, except for joints with a unit quaternion (`coordinates: quaternion` in model files):

=========  ============================  ==========================================================
joint      in q                          velocity, in the axes of the link
=========  ============================  ==========================================================
ball       qx qy qz qw                   wx wy wz
free       x y z qx qy qz qw             vx vy vz wx wy wz
=========  ============================  ==========================================================

`integrate` moves a joint at a constant velocity for a unit of time: a ball by the exponential of
its rotation vector, a free joint by that of its twist, as Pinocchio does; `difference` is its
inverse.  Everything broadcasts over batch axes.  `integrate` is analytic in v, so that complex
steps give derivatives in the tangent space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

BALL, FREE = "ball", "free"
SMALL = 1e-2
"""Squared angles below which series are exact to rounding."""


def named_in_file(file_names: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return those of `names` that the file calls by texts that are none of `names`, by these."""
    names = tuple(names)
    written = {file_names[name]: name for name in names if name in file_names}
    return {text: name for text, name in written.items() if text not in names}


class Configuration:
    """Configuration space of a robot with `n` velocities, some of whose `joints` have a quaternion.

    Each of `joints` is (kind, first entry in q, first velocity).  `lower` and `upper` (n,) are the
    limits of random configurations; those of quaternions are not used.  `read(name, value)` makes
    an array of a state that is a dict by name.
    """

    def __init__(
        self, n: int, joints: Sequence[tuple[str, int, int]] = (), lower: Any = None,
        upper: Any = None,
    ) -> None:  # fmt: skip
        self.n, self.nq, self.joints = n, n + len(joints), tuple(joints)
        self.read: Callable[[str, Any], Array] | None = None
        on_manifolds = np.zeros(n, dtype=bool)
        taken = np.zeros(self.nq, dtype=bool)
        for kind, q, v in joints:
            on_manifolds[v : v + 3 * (1 + (kind == FREE))] = True
            taken[q : q + 4 + 3 * (kind == FREE)] = True
        self.velocities = np.flatnonzero(~on_manifolds)
        self.positions = np.flatnonzero(~taken)
        self.lower = np.full(n, -np.inf) if lower is None else np.asarray(lower, dtype=float)
        self.upper = np.full(n, np.inf) if upper is None else np.asarray(upper, dtype=float)

    @cached_property
    def rows(self) -> Array:
        """Number of the joint of every velocity, (n,); joints on manifolds have several."""
        inner = np.ones(self.n, dtype=int)
        for kind, _, v in self.joints:
            inner[v + 1 : v + 3 * (1 + (kind == FREE))] = 0
        return np.cumsum(inner) - 1

    @cached_property
    def turning(self) -> Array:
        """Matrices D_k of `symgen.formulations.manifolds`, [k, i, j], (n, n, n)."""
        D = np.zeros((self.n, self.n, self.n))
        for kind, _, v in self.joints:
            w = v + 3 * (kind == FREE)
            x, y, z = w, w + 1, w + 2
            D[y, z, x], D[z, y, x], D[z, x, y] = 1.0, -1.0, 1.0
            for k in range(3 * (kind == FREE)):
                for j in range(3):
                    D[w + k, v : v + 3, v + j] = np.cross(np.eye(3)[j], np.eye(3)[k])
        return D

    def coordinates(self, q: Any) -> Array:
        """Return the entries of q by velocity, 0 for joints with a quaternion, (..., n)."""
        if not self.joints:
            return np.asarray(q)
        q = np.asarray(q)
        coordinates = np.zeros((*q.shape[:-1], self.n), dtype=np.result_type(q, float))
        coordinates[..., self.velocities] = q[..., self.positions]
        return coordinates

    def integrate(self, q: Any, v: Any) -> Array:
        """Return q (..., nq) after a unit of time at the constant velocity v (..., n)."""
        q, v = self._array("q", q, self.nq), self._array("v", v, self.n)
        if not self.joints:
            return np.asarray(q + v)
        batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
        moved = np.empty((*batch, self.nq), dtype=np.result_type(q, v))
        moved[..., self.positions] = q[..., self.positions] + v[..., self.velocities]
        for kind, i, k in self.joints:
            if kind == BALL:
                moved[..., i : i + 4] = _turned(q[..., i : i + 4], v[..., k : k + 3])
                continue
            turned, w = q[..., i + 3 : i + 7], v[..., k + 3 : k + 6]
            travel = rotated(turned, _travel(v[..., k : k + 3], w))
            moved[..., i : i + 3] = q[..., i : i + 3] + travel
            moved[..., i + 3 : i + 7] = _turned(turned, w)
        return moved

    def difference(self, q0: Any, q1: Any) -> Array:
        """Return the velocity (..., n) from q0 to q1 in a unit of time, by the shorter rotation."""
        q0, q1 = self._array("q0", q0, self.nq), self._array("q1", q1, self.nq)
        if not self.joints:
            return np.asarray(q1 - q0)
        batch = np.broadcast_shapes(q0.shape[:-1], q1.shape[:-1])
        difference = np.empty((*batch, self.n))
        difference[..., self.velocities] = q1[..., self.positions] - q0[..., self.positions]
        for kind, i, k in self.joints:
            at = i + 3 * (kind == FREE)
            back = conjugate(q0[..., at : at + 4])
            w = logarithm(product(back, q1[..., at : at + 4]))
            if kind == BALL:
                difference[..., k : k + 3] = w
                continue
            travel = rotated(back, q1[..., i : i + 3] - q0[..., i : i + 3])
            difference[..., k : k + 3] = _velocity(travel, w)
            difference[..., k + 3 : k + 6] = w
        return difference

    def normalize(self, q: Any) -> Array:
        """Return q with quaternions of unit norm, (..., nq)."""
        normalized = np.array(self._array("q", q, self.nq), dtype=float)
        for kind, i, _ in self.joints:
            at = i + 3 * (kind == FREE)
            norm = np.linalg.norm(normalized[..., at : at + 4], axis=-1, keepdims=True)
            if not np.all(norm > 0.0):
                raise ValueError(f"q[{at}:{at + 4}] is a quaternion of norm 0: no attitude")
            normalized[..., at : at + 4] /= norm
        return normalized

    def tangents(self, q: Any) -> Array:
        """Return de/dq (..., n, nq) of normalize(q) = integrate(normalize(q0), e), at q0 = q.

        Derivatives in the tangent space times this are derivatives of a function of normalize(q) by
        the entries of q.  The rotation vector is 2 conj(q) dq / |q|^2.
        """
        q = self._array("q", q, self.nq)
        unit = self.normalize(q)
        tangents = np.zeros((*q.shape[:-1], self.n, self.nq))
        tangents[..., self.velocities, self.positions] = 1.0
        for kind, i, k in self.joints:
            at, w = i + 3 * (kind == FREE), k + 3 * (kind == FREE)
            back = conjugate(unit[..., at : at + 4])[..., np.newaxis, :]
            norm = np.linalg.norm(q[..., at : at + 4], axis=-1)[..., np.newaxis, np.newaxis]
            turned = product(back, np.broadcast_to(np.eye(4), (*q.shape[:-1], 4, 4)))
            by_turn = np.swapaxes(2.0 * turned[..., :3], -1, -2) / norm
            tangents[..., w : w + 3, at : at + 4] = by_turn
            if kind == FREE:
                along = rotated(back, np.broadcast_to(np.eye(3), (*q.shape[:-1], 3, 3)))
                tangents[..., k : k + 3, i : i + 3] = np.swapaxes(along, -1, -2)
        return tangents

    def neutral(self) -> Array:
        """Return the configuration (nq,) with all coordinates 0 and no rotation."""
        q = np.zeros(self.nq)
        for kind, i, _ in self.joints:
            q[i + 3 + 3 * (kind == FREE)] = 1.0
        return q

    def random_configuration(self, rng: Any = None, shape: Any = ()) -> Array:
        """Return random configurations within the limits, (*shape, nq).

        `rng` is a `numpy.random.Generator` or a seed.  A coordinate without limits lies between -pi
        and pi (rad or m), with one limit within pi of it; attitudes are uniform, positions of free
        joints between -1 and 1 m.
        """
        rng = np.random.default_rng(rng)
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        bounded, low, high = np.isfinite, self.lower, self.upper
        lower = np.where(bounded(low), low, np.where(bounded(high), high, 0.0) - np.pi)
        upper = np.where(bounded(high), high, np.where(bounded(low), low, 0.0) + np.pi)
        q = np.empty((*shape, self.nq))
        sample = rng.uniform(lower, upper, (*shape, self.n))
        q[..., self.positions] = sample[..., self.velocities]
        for kind, i, _ in self.joints:
            if kind == FREE:
                q[..., i : i + 3] = rng.uniform(-1.0, 1.0, (*shape, 3))
            at = i + 3 * (kind == FREE)
            turn = rng.normal(size=(*shape, 4))
            q[..., at : at + 4] = turn / np.linalg.norm(turn, axis=-1, keepdims=True)
        return q

    def transported(self, v: Any, directions: Any) -> Array:
        """Return brackets [v, e] of twists for joints with a quaternion, else 0, (n, s).

        `directions` e are (n, s); a displacement e(t) of a motion with velocity v changes by
        de/dt = dv - [v, e].
        """
        v, directions = np.asarray(v), np.asarray(directions)
        transported: Array = np.zeros_like(directions)
        for kind, _, k in self.joints:
            at = k + 3 * (kind == FREE)
            w, turned = v[at : at + 3], directions[at : at + 3]
            transported[at : at + 3] = np.cross(w, turned, axisb=0, axisc=0)
            if kind == FREE:
                transported[k : k + 3] = np.cross(w, directions[k : k + 3], axisb=0, axisc=0)
                transported[k : k + 3] += np.cross(v[k : k + 3], turned, axisb=0, axisc=0)
        return transported

    def rate(self, q: Any, v: Any) -> Array:
        """Return dq/dt (..., nq) at the velocity v; for quaternions it is q (0, w) / 2."""
        q, v = self._array("q", q, self.nq), self._array("v", v, self.n)
        batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
        rate = np.empty((*batch, self.nq), dtype=np.result_type(q, v))
        rate[..., self.positions] = v[..., self.velocities]
        for kind, i, k in self.joints:
            at, w = i + 3 * (kind == FREE), k + 3 * (kind == FREE)
            turned = q[..., at : at + 4]
            if kind == FREE:
                rate[..., i : i + 3] = rotated(turned, v[..., k : k + 3])
            spin = np.zeros((*v.shape[:-1], 4), dtype=v.dtype)
            spin[..., :3] = v[..., w : w + 3]
            rate[..., at : at + 4] = 0.5 * product(turned, spin)
        return rate

    def _array(self, name: str, values: Any, size: int) -> Array:
        array = np.asarray(values)
        if array.dtype.kind not in "biufc":
            if self.read is not None and isinstance(values, Mapping):
                return self.read(name, values)
            raise TypeError(f"{name}: expected numbers, got {array.dtype}")
        if array.ndim == 0 or array.shape[-1] != size:
            raise ValueError(f"{name}: expected shape (..., {size}), got {array.shape}")
        return np.asarray(array, dtype=np.result_type(array, float))


def configuration_of(module: Any) -> Configuration:
    """Return the configuration space of a generated module, by default n plain coordinates."""
    return Configuration(module.n, getattr(getattr(module, "_configuration", None), "joints", ()))


def stretches(space: Configuration, q: Array, rest: Array | None = None) -> Array:
    """Return stretches (..., n) of the springs of joints on manifolds; 0 for other joints.

    R'(p - p_0), and the shortest rotation vector from R_0 to R, by the tangent of a quarter of its
    angle: 4 atan(|h|) h / |h| with h = v / (1 + w).
    """
    q, rest = np.asarray(q), space.neutral() if rest is None else rest
    stretches = np.zeros((*q.shape[:-1], space.n), dtype=np.result_type(q, rest))
    for kind, at, start in space.joints:
        turn = at + 3 * (kind == FREE)
        Q, slack = q[..., turn : turn + 4], rest[turn : turn + 4]
        back = product(conjugate(slack / np.sqrt(slack @ slack)), Q)
        back = np.where(back[..., 3:].real < 0.0, -back, back)
        h = back[..., :3] / (1.0 + back[..., 3:])
        square = np.sum(h * h, axis=-1, keepdims=True)
        near = np.abs(square) < 1e-4
        size = np.sqrt(np.where(near, 1.0, square))
        series = 1.0 - square / 3.0 + square**2 / 5.0 - square**3 / 7.0
        vector = 4.0 * np.where(near, series, np.arctan(size) / size) * h
        stretches[..., start + turn - at : start + turn - at + 3] = vector
        if kind == FREE:
            travel = q[..., at:turn] - rest[at:turn]
            stretches[..., start : start + 3] = rotated(conjugate(Q), travel)
    return stretches


# ----------------------------------------------------------------------- quaternions x y z w


def product(a: Array, b: Array) -> Array:
    """Return the quaternion of the rotation by b, then by a, (..., 4)."""
    u, v = a[..., :3], b[..., :3]
    vector = a[..., 3:] * v + b[..., 3:] * u + np.cross(u, v)
    scalar = a[..., 3] * b[..., 3] - np.sum(u * v, axis=-1)
    return np.concatenate([vector, scalar[..., np.newaxis]], axis=-1)


def conjugate(a: Array) -> Array:
    """Return the quaternion of the inverse rotation, (..., 4)."""
    return np.asarray(a * np.array([-1.0, -1.0, -1.0, 1.0]))


def rotated(a: Array, x: Array) -> Array:
    """Return vectors x (..., 3) rotated by unit quaternions a (..., 4)."""
    u, w = a[..., :3], a[..., 3:]
    once = np.cross(u, x)
    return np.asarray(x + 2.0 * (w * once + np.cross(u, once)))


def exponential(w: Array) -> Array:
    """Return the unit quaternion (..., 4) of a rotation vector (..., 3)."""
    square = np.sum(w * w, axis=-1, keepdims=True)
    return np.concatenate([w * _half_sine(square), _half_cosine(square)], axis=-1)


def logarithm(a: Array) -> Array:
    """Return the shortest rotation vector of a unit quaternion, (..., 3)."""
    a = np.where(a[..., 3:] < 0.0, -a, a)
    sine = np.linalg.norm(a[..., :3], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, a[..., 3:])
    small = sine < 1e-8
    return np.asarray(a[..., :3] * np.where(small, 2.0, angle / np.where(small, 1.0, sine)))


def _turned(a: Array, w: Array) -> Array:
    """Return a rotated by the vector w in its own axes, with the sign that is nearer to a."""
    turned = product(a, exponential(w))
    flipped = np.sum(np.real(turned * np.conj(a)), axis=-1, keepdims=True) < 0.0
    return np.where(flipped, -turned, turned)


def _half_sine(square: Array) -> Array:
    """Return sin(x / 2) / x of the square of x."""
    small = np.abs(square) < SMALL
    x = np.sqrt(np.where(small, 1.0, square))
    inner = 1 / 3840 - square * (1 / 645120 - square / 185794560)
    series = 0.5 - square * (1 / 48 - square * inner)
    return np.asarray(np.where(small, series, np.sin(0.5 * x) / x))


def _half_cosine(square: Array) -> Array:
    """Return cos(x / 2) of the square of x."""
    small = np.abs(square) < SMALL
    x = np.sqrt(np.where(small, 1.0, square))
    series = 1.0 - square * (1 / 8 - square * (1 / 384 - square * (1 / 46080 - square / 10321920)))
    return np.asarray(np.where(small, series, np.cos(0.5 * x)))


def _travel(v: Array, w: Array) -> Array:
    """Return V(w) v, the travel by a twist in a unit of time, in the axes at the start."""
    square = np.sum(w * w, axis=-1, keepdims=True)
    small = np.abs(square) < SMALL
    x = np.sqrt(np.where(small, 1.0, square))
    cosine = 0.5 - square * (1 / 24 - square * (1 / 720 - square * (1 / 40320 - square / 3628800)))
    inner = 1 / 5040 - square * (1 / 362880 - square / 39916800)
    sine = 1 / 6 - square * (1 / 120 - square * inner)
    cosine = np.where(small, cosine, (1.0 - np.cos(x)) / x**2)
    sine = np.where(small, sine, (x - np.sin(x)) / x**3)
    turned = np.cross(w, v)
    return np.asarray(v + cosine * turned + sine * np.cross(w, turned))


def _velocity(travel: Array, w: Array) -> Array:
    """Return v of the twist with this travel, the inverse of `_travel`."""
    square = np.sum(w * w, axis=-1, keepdims=True)
    small = square < SMALL
    x = np.sqrt(np.where(small, 1.0, square))
    inner = 1 / 30240 + square * (1 / 1209600 + square / 47900160)
    series = 1 / 12 + square * (1 / 720 + square * inner)
    closed = (1.0 - 0.5 * x * np.cos(0.5 * x) / np.sin(0.5 * x)) / x**2
    turned = np.cross(w, travel)
    factor = np.where(small, series, closed)
    return np.asarray(travel - 0.5 * turned + factor * np.cross(w, turned))
