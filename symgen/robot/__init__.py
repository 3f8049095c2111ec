"""The type of what `symgen.load` returns: a generated module, as editors and type checkers see it.

`functions` are what it computes, `records` what some of them return.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from symgen.robot.functions import Functions
from symgen.robot.records import TorqueHessian, TorqueParts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]
    Rows = ArrayLike | Mapping[str, ArrayLike]

__all__ = ["Functions", "Robot", "TorqueHessian", "TorqueParts"]


class Robot(Functions, Protocol):
    """A generated module: its functions, each by the fastest formulation, and what it says of
    the robot.  Formulations are attributes by their names, with the functions they derive."""

    name: str
    n: int
    n_links: int
    n_loads: int
    n_points: int
    n_outputs: int
    n_parameters: int
    coordinate_names: tuple[str, ...]
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
    joint_parents: tuple[int, ...]
    prescribed: tuple[bool, ...]
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
    composite: Functions
    newton_euler: Functions
    kane: Functions
    recursive_lagrange: Functions
    closed_form_lagrange: Functions
    explicit_kane: Functions
    partially_recursive_kane: Functions

    def frame_pose(
        self, name: str, q: ArrayLike, *, parameters: Rows | None = None, out: Array | None = None
    ) -> Array:
        """Pose of one link frame in the base frame.

        `name` is a link, one of link_names; ValueError where no link has this name.

        Returns:
            pose (..., 4, 4): homogeneous transform (m)
        """

    def frame_jacobian(
        self, name: str, q: ArrayLike, *, parameters: Rows | None = None, out: Array | None = None
    ) -> Array:
        """Geometric Jacobian of one link frame.

        `name` is a link, one of link_names; ValueError where no link has this name.

        Returns:
            jacobian (..., 6, n): [linear; angular] velocity of the frame's origin per joint
                velocity, base axes
        """

    def selftest(self) -> list[Any]:
        """Validate the module where it is installed; return the table of checks."""
