"""`Robot`: the type of a generated module, which `symgen.load` returns, for editors and checkers.

`functions` declares its functions, `records` the named tuples that some of them return.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from symgen.robot.functions import Functions
from symgen.robot.records import (
    AccelerationGradient,
    FrameMotion,
    InverseKinematics,
    TorqueGradient,
    TorqueHessian,
    TorqueParts,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from symgen.robot.functions import Array, Out, Rows, State

__all__ = [
    "AccelerationGradient", "FrameMotion", "Functions", "InverseKinematics", "Robot",
    "TorqueGradient", "TorqueHessian", "TorqueParts",
]  # fmt: skip


class Robot(Functions, Protocol):
    """A generated module: its functions, each by the fastest formulation, and facts of the robot.

    Formulations are attributes by their names, with the functions that they derive.
    """

    name: str
    n: int
    nq: int
    nv: int
    n_links: int
    n_loads: int
    n_points: int
    n_outputs: int
    n_parameters: int
    coordinate_names: tuple[str, ...]
    position_names: tuple[str, ...]
    quaternion_order: str
    link_names: tuple[str, ...]
    load_names: tuple[str, ...]
    point_names: tuple[str, ...]
    parameter_names: tuple[str, ...]
    output_names: tuple[str, ...]
    output_units: tuple[str, ...]
    default_parameters: Array
    inertial_parameters: Array
    limits: dict[str, Array]
    joint_terms: dict[str, Array]
    gravity: Array
    link_parents: tuple[int, ...]
    point_links: tuple[int, ...]
    joint_links: dict[str, str]
    file_names: dict[str, str]
    joint_parents: tuple[int, ...]
    prescribed: tuple[bool, ...]
    actuated: tuple[bool, ...]
    derivative_sparsity: NDArray[np.bool_]
    output_sparsity: dict[str, NDArray[np.bool_]]
    formulations: tuple[str, ...]
    functions: tuple[str, ...]
    operation_counts: dict[str, dict[str, dict[str, int]]]
    condition: float
    model_hash: str
    symgen_version: str
    backend: str
    backends: Mapping[str, Any]
    threads: int
    result_memory: int
    composite: Functions
    newton_euler: Functions
    kane: Functions
    recursive_lagrange: Functions
    closed_form_lagrange: Functions
    explicit_kane: Functions
    partially_recursive_kane: Functions
    semi_recursive: Functions

    def integrate(self, q: State, v: State) -> Array:
        """Return q (..., nq) after a unit of time at the constant velocity v (..., n)."""

    def difference(self, q0: State, q1: State) -> Array:
        """Return the velocity (..., n) from q0 to q1 in a unit of time, by the shorter rotation."""

    def neutral(self) -> Array:
        """Return the configuration (nq,) with all coordinates 0 and no rotation."""

    def normalize(self, q: State) -> Array:
        """Return q with quaternions of unit norm, (..., nq)."""

    def random_configuration(self, rng: Any = None, shape: int | Sequence[int] = ()) -> Array:
        """Return random configurations within the limits, (*shape, nq); `rng` may be a seed."""

    def frame_pose(self, name: str, q: State, *, parameters: Rows = None, out: Out = None) -> Array:
        """Pose of one link frame in the base frame.

        `name` is a link, one of link_names; ValueError where no link has this name.

        Returns:
            pose (..., 4, 4): homogeneous transform (m)
        """

    def frame_jacobian(
        self, name: str, q: State, *, reference: str = "local_world_aligned",
        parameters: Rows = None, out: Out = None,
    ) -> Array:  # fmt: skip
        """Geometric Jacobian of one link frame.

        `name` is a link, one of link_names; ValueError where no link has this name.  `reference`:
        "local_world_aligned", of the frame's origin, base axes; "local", the same in axes of the
        frame; "world", of the point of the link that passes through the base origin, base axes.

        Returns:
            jacobian (..., 6, n): [linear; angular] velocity per joint velocity
        """

    def frame_motion(
        self, name: str, q: State, qd: State, qdd: State, *,
        reference: str = "local_world_aligned", parameters: Rows = None,
    ) -> FrameMotion:  # fmt: skip
        """Pose, velocity and acceleration of a link frame; at qdd = 0 the last is dJ/dt qd.

        `reference` is that of `frame_jacobian`.
        """

    def operational_space_inertia(
        self, name: str, q: State, *, rows: Sequence[str] | None = None, parameters: Rows = None
    ) -> Array:
        """Inertia (J M^-1 J')^-1 of a link frame, (..., m, m).

        `rows` are m different ones of "x", "y", "z", "rx", "ry", "rz" (default: all).
        numpy.linalg.LinAlgError where the frame cannot move in all of these directions.
        """

    def inverse_kinematics(
        self, name: str, target: ArrayLike, q0: State | None = None, *, limits: bool = True,
        starts: int = 10, seed: int = 0, tolerance: float = 1e-10, iterations: int = 100,
        parameters: Rows = None,
    ) -> InverseKinematics:  # fmt: skip
        """Coordinates at which a link frame has the pose `target` (..., 4, 4), or its origin the
        position (..., 3), within the limits of the joints.

        All samples are solved together, by damped least squares with exact Jacobians, from `q0`
        (default: the middle of the limits) and up to `starts` - 1 random configurations.
        """

    def selftest(self) -> list[Any]:
        """Validate the module where it is installed; return the table of checks."""
