"""`NumericRobot` solved for accelerations, and its derivatives with respect to parameters.

The mass matrix is formed and solved; derivatives are those of the implicit function, with
derivatives of torques by complex step.  Forward dynamics is hybrid dynamics without a prescribed
joint, so that both are written once.

| symbol | array | shape |
| --- | --- | --- |
| f, p | numbers of the free and of the prescribed coordinates | (n_f,), (n_p,) |
| x, y | given and wanted: qdd_p and tau_f, tau_p and qdd_f | (..., n) |
| M, h | mass matrix, torques at zero acceleration | (..., n, n), (..., n) |
| T | torques or their derivatives at fixed accelerations | (..., n, m) |

With M_ff y_f = x_f - h_f - M_fp x_p and y_p = h_p + M_pp x_p + M_pf y_f; a change T of the torques
at fixed accelerations changes y_f by -M_ff^-1 T_f and y_p by T_p - M_pf M_ff^-1 T_f.

Where M_ff is singular (a pivot below n eps times the diagonal entry of its row) results are NaN.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from symgen.validation.disturbance import SIZE, disturbed
from symgen.validation.limits import EPS, STEP
from symgen.validation.oracle_motion import MotionFunctions
from symgen.validation.oracle_parts import Array, same_batch


class ForwardFunctions(MotionFunctions):
    """Functions of `NumericRobot` that solve, and its derivatives with respect to parameters."""

    @abstractmethod
    def mass_matrix(self, q: Array) -> Array:
        """See `NumericRobot`, as for the others."""

    @abstractmethod
    def virtual_power(
        self, q: Array, qd: Array, qdd: Array, *, loads: Array | None = None
    ) -> Array:
        """tau"""

    @abstractmethod
    def inverse_dynamics_derivatives(
        self, q: Array, qd: Array, qdd: Array, *, loads: Array | None = None
    ) -> tuple[Array, Array, Array, Array]:
        """tau, dtau/dq, dtau/dqd, M"""

    @abstractmethod
    def kinetic_energy(self, q: Array, qd: Array) -> Array:
        """J"""

    @abstractmethod
    def potential_energy(self, q: Array) -> Array:
        """J"""

    # ------------------------------------------------------------------------ forward dynamics

    def forward_dynamics(
        self, q: Array, qd: Array, tau: Array, *, loads: Array | None = None
    ) -> Array:
        """Accelerations, (..., n); all joints are free."""
        return self._solved(self._nothing, q, qd, tau, loads)

    def forward_dynamics_derivatives(
        self, q: Array, qd: Array, tau: Array, *, loads: Array | None = None
    ) -> tuple[Array, Array, Array, Array]:
        """qdd, dqdd/dq, dqdd/dqd, dqdd/dtau, (..., n) and 3 x (..., n, n); real only."""
        return self._solved_derivatives(self._nothing, q, qd, tau, loads)

    def forward_dynamics_parameter_derivatives(
        self, q: Array, qd: Array, tau: Array, *, loads: Array | None = None
    ) -> Array:
        """dqdd/dparameters at fixed q, qd, tau, (..., n, n_parameters); real only."""
        return self._solved_parameter_derivatives(self._nothing, q, qd, tau, loads)

    def forward_dynamics_sensitivities(
        self,
        q: Array,
        qd: Array,
        tau: Array,
        dq: Array,
        dqd: Array,
        dtau: Array,
        *,
        loads: Array | None = None,
    ) -> tuple[Array, Array]:
        """qdd, and its derivative along the parameters where q, qd, tau vary by dq, dqd, dtau."""
        qdd, *slopes = self.forward_dynamics_derivatives(q, qd, tau, loads=loads)
        explicit = self.forward_dynamics_parameter_derivatives(q, qd, tau, loads=loads)
        implicit = (a @ b for a, b in zip(slopes, (dq, dqd, dtau), strict=True))
        return qdd, np.asarray(sum(implicit, explicit))

    # ------------------------------------------------------------------------- hybrid dynamics

    def hybrid_dynamics(
        self, q: Array, qd: Array, x: Array, *, loads: Array | None = None
    ) -> Array:
        """Torques of the prescribed and accelerations of the free joints, (..., n)."""
        return self._solved(self.prescribed, q, qd, x, loads)

    def hybrid_dynamics_derivatives(
        self, q: Array, qd: Array, x: Array, *, loads: Array | None = None
    ) -> tuple[Array, Array, Array, Array]:
        """y, dy/dq, dy/dqd, dy/dx, (..., n) and 3 x (..., n, n); real only."""
        return self._solved_derivatives(self.prescribed, q, qd, x, loads)

    def hybrid_dynamics_parameter_derivatives(
        self, q: Array, qd: Array, x: Array, *, loads: Array | None = None
    ) -> Array:
        """dy/dparameters at fixed q, qd, x, (..., n, n_parameters); real only."""
        return self._solved_parameter_derivatives(self.prescribed, q, qd, x, loads)

    # ------------------------------------------------------------ the implicit function of both

    @property
    def _nothing(self) -> Array:
        return np.zeros(self.n, dtype=bool)

    def _solved(
        self, prescribed: Array, q: Array, qd: Array, x: Array, loads: Array | None
    ) -> Array:
        q, qd, x = same_batch(q, qd, x)
        given = np.where(prescribed, x, 0.0)
        torques = self.virtual_power(q, qd, given, loads=loads) - np.where(prescribed, 0.0, x)
        return self._implicit(self.mass_matrix(q), prescribed, torques[..., np.newaxis])[..., 0]

    def _accelerations_of(self, prescribed: Array, x: Array, y: Array) -> Array:
        return np.where(prescribed, x, y)

    def _solved_derivatives(
        self, prescribed: Array, q: Array, qd: Array, x: Array, loads: Array | None
    ) -> tuple[Array, Array, Array, Array]:
        q, qd, x = same_batch(q, qd, x)
        y = self._solved(prescribed, q, qd, x, loads)
        qdd = self._accelerations_of(prescribed, x, y)
        _, by_q, by_qd, mass = self.inverse_dynamics_derivatives(q, qd, qdd, loads=loads)
        by_x = np.where(prescribed, mass, -np.eye(self.n))
        by_q, by_qd, by_x = (self._implicit(mass, prescribed, x) for x in (by_q, by_qd, by_x))
        return y, by_q, by_qd, by_x

    def _solved_parameter_derivatives(
        self, prescribed: Array, q: Array, qd: Array, x: Array, loads: Array | None
    ) -> Array:
        q, qd, x = same_batch(q, qd, x)
        qdd = self._accelerations_of(prescribed, x, self._solved(prescribed, q, qd, x, loads))
        slopes = self.inverse_dynamics_parameter_derivatives(q, qd, qdd, loads=loads)
        return self._implicit(self.mass_matrix(q), prescribed, slopes)

    def _implicit(self, mass: Array, prescribed: Array, torques: Array) -> Array:
        """`_implicit` of both; where the robot is disturbed, of what rounding makes of both, and
        of elimination, whose errors are those of a matrix changed row by row."""
        if self._random is not None:
            rows = np.abs(mass).max(axis=-1, keepdims=True)
            mass = mass + SIZE * rows * self._random.uniform(-1.0, 1.0, mass.shape)
            torques = disturbed(torques, self._random)
        return _implicit(mass, prescribed, torques)

    # ------------------------------------------------------ derivatives by the runtime parameters

    def by_parameters(self, function: Callable[[ForwardFunctions], Array]) -> Array:
        """d function(robot) / d parameters by complex step: an axis of n_parameters behind it."""
        columns = [
            np.asarray(function(self.with_parameters(self.parameters + 1j * STEP * direction)))
            for direction in np.eye(self.n_parameters)
        ]
        if not columns:
            shape = np.shape(function(self))
            return np.zeros((*shape, 0))
        return np.stack([column.imag / STEP for column in columns], axis=-1)

    def inverse_dynamics_parameter_derivatives(
        self, q: Array, qd: Array, qdd: Array, *, loads: Array | None = None
    ) -> Array:
        """dtau/dparameters, (..., n, n_parameters)."""
        return self.by_parameters(lambda robot: robot.virtual_power(q, qd, qdd, loads=loads))

    def point_motion_parameter_derivatives(
        self, q: Array, qd: Array, qdd: Array
    ) -> tuple[Array, ...]:
        """Of position, velocity and acceleration, each (..., n_points, 3, n_parameters)."""
        motions = self.by_parameters(lambda robot: np.stack(robot.point_motion(q, qd, qdd)))
        return tuple(motions)

    def kinetic_energy_parameter_derivatives(self, q: Array, qd: Array) -> Array:
        """(..., n_parameters)"""
        return self.by_parameters(lambda robot: robot.kinetic_energy(q, qd))

    def potential_energy_parameter_derivatives(self, q: Array) -> Array:
        """(..., n_parameters)"""
        return self.by_parameters(lambda robot: robot.potential_energy(q))


def _implicit(mass: Array, prescribed: Array, torques: Array) -> Array:
    """The change of y where the torques at fixed accelerations change by T: both (..., n, m)."""
    free, given = np.flatnonzero(~prescribed), np.flatnonzero(prescribed)
    block = mass[..., free[:, np.newaxis], free]
    solvable = _solvable(block, mass.shape[-1])[..., np.newaxis, np.newaxis]
    block = np.where(solvable, block, np.eye(len(free)))
    change = -_solution(block, torques[..., free, :])
    change = np.where(solvable, change, np.nan)
    result = np.empty(torques.shape, dtype=np.result_type(torques, change))
    result[..., free, :] = change
    coupling = mass[..., given[:, np.newaxis], free]
    result[..., given, :] = torques[..., given, :] + coupling @ change
    return result


def _solution(block: Array, right: Array) -> Array:
    """block^-1 right, batch axes in front; NaN where numpy meets a pivot of exactly 0.

    By its order of elimination that may be so where `_solvable` is left with rounding errors.
    """
    batch = np.broadcast_shapes(block.shape[:-2], right.shape[:-2])
    block = np.broadcast_to(block, (*batch, *block.shape[-2:]))
    right = np.broadcast_to(right, (*batch, *right.shape[-2:]))
    try:
        return np.asarray(np.linalg.solve(block, right))
    except np.linalg.LinAlgError:
        if not batch:
            return np.full(right.shape, np.nan)
        return np.stack([_solution(*pair) for pair in zip(block, right, strict=True)])


def _solvable(block: Array, coordinates: int) -> Array:
    """Whether no pivot is below n eps times the diagonal entry of its row, (...).

    n is the number of all coordinates, prescribed ones included.  The pivots are those of an
    elimination from the last coordinate to the first.
    """
    rest, n = np.array(block.real), block.shape[-1]
    least = coordinates * EPS * np.diagonal(block.real, axis1=-2, axis2=-1)
    result = np.ones(block.shape[:-2], dtype=bool)
    with np.errstate(all="ignore"):
        for k in range(n - 1, -1, -1):
            result &= rest[..., k, k] > least[..., k]
            column = rest[..., :k, k, np.newaxis]
            rest[..., :k, :k] -= column * rest[..., np.newaxis, k, :k] / rest[..., k, k, None, None]
    return np.asarray(result)
