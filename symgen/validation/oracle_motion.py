"""Motion of a robot in one state: frames of all links with their rates, Jacobians, forces.

A frame is a homogeneous matrix T with rates along a path q(t).  Frames are composed as in the model
format, T = T_parent placement A(x) tool, and rates follow from the product rule with A' = A W, W
the twist of the motion as a matrix.  Positions, velocities and accelerations of points of a link
are products of T, T' and T'' with their coordinates; angular velocity and acceleration are the skew
parts of R' R^T and R'' R^T.

| symbol | array | shape, frame |
| --- | --- | --- |
| T, T', T'' | frames and their rates | (..., order, 4, 4), base frame |
| J | Jacobians of points and links, columns of coordinates | (..., m, 3, n), base axes |
| x, f, n | points of application, forces, torques | (..., m, 3), base axes |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgen.runtime.disturbance import disturbed_product
from symgen.validation.oracle_model import Array, JointMotion, Model, Points, as_array, twist_matrix


class RobotMotion:
    """Frames and Jacobians at q (..., nq), and rates where `rates` are qd, or qd and qdd (..., n).

    With `moved`, every tree is moved so that its first joint is at the base origin.  This changes
    potential energy and springs alone, and avoids the cancellation in differences of points far
    from the origin (eps times the distance).  With `random`, products of frames are disturbed
    (`symgen.runtime.disturbance`).
    """

    def __init__(
        self,
        model: Model,
        q: Array,
        *rates: Array,
        moved: bool = False,
        random: np.random.Generator | None = None,
    ) -> None:
        self.model, self.random = model, random
        self._places = model.terms.positions(q)
        self._rates = [model.terms.of_joints(x) for x in rates]
        self._order = 1 + len(rates)
        self._batch = np.broadcast_shapes(*(x.shape[:-1] for x in (q, *rates)))
        kind = complex if model.is_complex or any(map(np.iscomplexobj, (q, *rates))) else float
        count = len(model.joint_names)
        shape = (*self._batch, len(model.joints) + 1, self._order, 4, 4)
        self.jets = np.zeros(shape, kind)
        """Frames of the links and, as the last one, the base, (..., n_links + 1, order, 4, 4)."""
        self.jets[..., -1, 0, :, :] = np.eye(4)
        self.behind = np.zeros((*self._batch, count, self._order, 4, 4), kind)
        """Child frames of coordinates, with later ones of the joint at 0, (..., N, order, 4, 4)."""
        self.screws = np.zeros((*self._batch, count, 2, 3), kind)
        self.origins = np.zeros((*self._batch, count, 3), kind)
        self._compose(q, moved)

    def _compose(self, q: Array, moved: bool) -> None:
        stop = 0
        for i, joint in enumerate(self.model.joints):
            at = self._product(self.jets[..., joint.parent, :, :, :], joint.placement)
            if moved and joint.motions and not self.model.moves[joint.parent].any():
                at[..., 0, :3, 3] = 0.0
            for motion in joint.motions:
                columns = slice(stop, stop + motion.size)
                stop = columns.stop
                x = self._places[..., columns] if joint.entries is None else q[..., joint.entries]
                at = self._product(at, motion.pose(x))
                self._add_rates(at, motion, x, [rates[..., columns] for rates in self._rates])
                turn = np.swapaxes(at[..., 0, :3, :3], -1, -2)
                self.screws[..., columns, :, :] = motion.twists(x) @ turn[..., np.newaxis, :, :]
                self.origins[..., columns, :] = at[..., 0, np.newaxis, :3, 3]
                self.behind[..., columns, :, :, :] = at[..., np.newaxis, :, :, :]
            if joint.tool is not None:
                at = self._product(at, joint.tool)
                self.behind[..., stop - len(joint.motions) : stop, :, :, :] = at[
                    ..., np.newaxis, :, :, :
                ]
            self.jets[..., i, :, :, :] = at

    def _product(self, jets: Array, matrix: Array) -> Array:
        """Frames and rates (..., order, 4, 4) times matrices (..., 4, c), at once."""
        rows = jets.reshape(*jets.shape[:-3], 4 * self._order, 4)
        product = disturbed_product(rows, matrix, self.random)
        return product.reshape(*product.shape[:-2], self._order, 4, matrix.shape[-1])

    def _add_rates(self, at: Array, motion: JointMotion, x: Array, rates: list[Array]) -> None:
        """Add the rates of A(x) to those of the parent frame: A' = A W, A'' = A (W W + W')."""
        twists = [np.einsum("...kab,...k->...ab", motion.twists(x), rate) for rate in rates]
        if not twists:
            return
        W = twist_matrix(twists[0])
        if len(twists) > 1:
            second = W @ W + twist_matrix(twists[1] + motion.drift(x, rates[0]))
            at[..., 2, :, :] += 2.0 * at[..., 1, :, :] @ W + at[..., 0, :, :] @ second
        at[..., 1, :, :] += at[..., 0, :, :] @ W

    # -------------------------------------------------------------------- frames and velocities

    @property
    def frames(self) -> Array:
        """Poses of the links, (..., n_links, 4, 4)."""
        return self.jets[..., :-1, 0, :, :]

    @property
    def turns(self) -> Array:
        """Rotations of the links, (..., n_links, 3, 3)."""
        return self.frames[..., :3, :3]

    def points(self, points: Points) -> tuple[Array, ...]:
        """Positions of points of links and, up to the order, velocities and accelerations."""
        ones = np.ones((len(points.places), 1))
        places = np.concatenate([points.places, ones], axis=-1)[..., np.newaxis]
        moving = self._product(self.jets[..., points.links, :, :, :], places)[..., :3, 0]
        return tuple(np.moveaxis(moving, -2, 0))

    def spins(self) -> tuple[Array, ...]:
        """Angular velocity and, up to the order, acceleration of the links, (..., n_links, 3)."""
        back, orders = np.swapaxes(self.turns, -1, -2), range(1, self._order)
        return tuple(_vector(self.jets[..., :-1, k, :3, :3] @ back) for k in orders)

    def inertias(self) -> Array:
        """Inertia of the links about their centres of mass in base axes, (..., n_links, 3, 3)."""
        return np.asarray(self.turns @ self.model.inertia @ np.swapaxes(self.turns, -1, -2))

    # ------------------------------------------------------------------------------- Jacobians

    def jacobians(self, places: Array, links: Sequence[int]) -> tuple[Array, Array]:
        """Linear and angular Jacobians of points (..., m, 3) of links."""
        return self.jacobians_of(places, self.model.moves[list(links)])

    def jacobians_of(self, places: Array, moves: Array) -> tuple[Array, Array]:
        """Linear and angular Jacobians of points that some joint coordinates move, (m, N)."""
        moves = moves[..., np.newaxis].astype(float)
        travel, turn = (self.screws[..., np.newaxis, :, k, :] for k in range(2))
        arms = places[..., :, np.newaxis, :] - self.origins[..., np.newaxis, :, :]
        linear, angular = moves * (np.cross(turn, arms) + travel), moves * turn
        return self._of_coordinates(linear), self._of_coordinates(angular)

    def _of_coordinates(self, of_joints: Array) -> Array:
        return self.model.terms.of_coordinates(np.swapaxes(of_joints, -1, -2))

    def generalized_forces(self, actions: Actions) -> Array:
        """Generalized forces of forces on links, (..., n): virtual power."""
        linear, angular = self.jacobians(actions.places, actions.links)
        return np.asarray(
            np.einsum("...mcn,...mc->...n", linear, actions.forces)
            + np.einsum("...mcn,...mc->...n", angular, actions.torques)
        )

    def inertia_forces(self, gravity: Array) -> Actions:
        """Forces m (g - a) and torques -(I alpha + omega x I omega) of links; gravity g (3,)."""
        model = self.model
        centres, _, acceleration = self.points(model.centres)
        (omega, alpha), inertia = self.spins(), self.inertias()
        forces = model.mass[:, np.newaxis] * (gravity - acceleration)
        torques = -times(inertia, alpha) - np.cross(omega, times(inertia, omega))
        return Actions(model.centres.links, centres, forces, torques)


@dataclass(frozen=True)
class Actions:
    """Forces and torques on links, -1 for the base; places, forces, torques (..., m, 3)."""

    links: list[int]
    places: Array
    forces: Array
    torques: Array

    def __add__(self, more: Actions) -> Actions:
        return Actions(
            self.links + more.links,
            _beside(self.places, more.places),
            _beside(self.forces, more.forces),
            _beside(self.torques, more.torques),
        )


# -------------------------------------------------------------------------------- small algebra


def times(matrix: Array, vectors: Array) -> Array:
    """Matrices (..., r, c) times vectors (..., c)."""
    return np.asarray((matrix @ vectors[..., np.newaxis])[..., 0])


def same_batch(*arrays: Any) -> tuple[Array, ...]:
    """Vectors with batch axes broadcast to one shape; a configuration is longer than a velocity."""
    vectors = [as_array(x) for x in arrays]
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in vectors))
    return tuple(np.broadcast_to(x, (*batch, x.shape[-1])) for x in vectors)


def _beside(left: Array, right: Array) -> Array:
    """Concatenate arrays along axis -2, batch axes broadcast."""
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    parts = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (left, right))
    return np.concatenate(list(parts), axis=-2)


def _vector(matrix: Array) -> Array:
    """Return the vector of the skew part of a matrix, (..., 3)."""
    pairs = ((2, 1), (0, 2), (1, 0))
    return np.stack([(matrix[..., i, k] - matrix[..., k, i]) / 2.0 for i, k in pairs], axis=-1)
