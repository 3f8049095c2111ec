from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import composite as composite
from . import newton_euler as newton_euler
from . import kane as kane
from . import recursive_lagrange as recursive_lagrange
from . import closed_form_lagrange as closed_form_lagrange
from . import explicit_kane as explicit_kane
from . import partially_recursive_kane as partially_recursive_kane

Array = NDArray[np.float64]

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
default_parameters: Array
inertial_parameters: Array
limits: dict[str, Array]
joint_terms: dict[str, Array]
joint_parents: tuple[int, ...]
branches: tuple[tuple[int, ...], ...]
branch_parents: tuple[int, ...]
joint_branches: tuple[tuple[int, int], ...]
junctions: tuple[int, ...]
leaves: tuple[int, ...]
prescribed: tuple[bool, ...]
output_names: tuple[str, ...]
output_units: tuple[str, ...]
output_sparsity: dict[str, NDArray[np.bool_]]
derivative_sparsity: NDArray[np.bool_]
formulations: tuple[str, ...]
functions: tuple[str, ...]
operation_counts: dict[str, dict[str, dict[str, int]]]
model_hash: str
condition: float
symgen_version: str
threads: int
backend: str
backends: Mapping[str, Any]

def selftest() -> list[Any]: ...
def inverse_dynamics(q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, loads: ArrayLike | None = ..., parameters: ArrayLike | None = ..., out: Array | None = ...) -> Array: ...
def inverse_dynamics_derivatives(q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, loads: ArrayLike | None = ..., parameters: ArrayLike | None = ..., packed: bool = ..., out: tuple[Array | None, Array | None, Array | None, Array | None] | None = ...) -> tuple[Array, Array, Array, Array]: ...
def inverse_dynamics_load_derivatives(q: ArrayLike, *, parameters: ArrayLike | None = ..., out: Array | None = ...) -> Array: ...
def mass_matrix(q: ArrayLike, *, parameters: ArrayLike | None = ..., packed: bool = ..., out: Array | None = ...) -> Array: ...
def coriolis_matrix(q: ArrayLike, qd: ArrayLike, *, parameters: ArrayLike | None = ..., packed: bool = ..., out: Array | None = ...) -> Array: ...
def bias_forces(q: ArrayLike, qd: ArrayLike, *, loads: ArrayLike | None = ..., parameters: ArrayLike | None = ..., out: Array | None = ...) -> Array: ...
def gravity_forces(q: ArrayLike, *, parameters: ArrayLike | None = ..., out: Array | None = ...) -> Array: ...
def kinetic_energy(q: ArrayLike, qd: ArrayLike, *, parameters: ArrayLike | None = ..., out: Array | None = ...) -> Any: ...
def potential_energy(q: ArrayLike, *, parameters: ArrayLike | None = ..., out: Array | None = ...) -> Any: ...
def forward_kinematics(q: ArrayLike, *, parameters: ArrayLike | None = ..., out: Array | None = ...) -> Array: ...
def jacobians(q: ArrayLike, *, parameters: ArrayLike | None = ..., out: Array | None = ...) -> Array: ...
def joint_wrenches(q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, loads: ArrayLike | None = ..., parameters: ArrayLike | None = ..., out: Array | None = ...) -> Array: ...
def joint_wrench_derivatives(q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, loads: ArrayLike | None = ..., parameters: ArrayLike | None = ..., out: tuple[Array | None, Array | None, Array | None, Array | None] | None = ...) -> tuple[Array, Array, Array, Array]: ...
def point_motion(q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, parameters: ArrayLike | None = ..., out: tuple[Array | None, Array | None, Array | None] | None = ...) -> tuple[Array, Array, Array]: ...
def point_motion_derivatives(q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, parameters: ArrayLike | None = ..., out: tuple[Array | None, Array | None, Array | None, Array | None, Array | None, Array | None] | None = ...) -> tuple[Array, Array, Array, Array, Array, Array]: ...
def center_of_mass(q: ArrayLike, *, parameters: ArrayLike | None = ..., out: Array | None = ...) -> Array: ...
def center_of_mass_jacobian(q: ArrayLike, *, parameters: ArrayLike | None = ..., out: Array | None = ...) -> Array: ...
def centroidal_momentum(q: ArrayLike, qd: ArrayLike, *, parameters: ArrayLike | None = ..., out: Array | None = ...) -> Array: ...
def regressor(q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, parameters: ArrayLike | None = ..., out: Array | None = ...) -> Array: ...
def forward_dynamics(q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *, loads: ArrayLike | None = ..., parameters: ArrayLike | None = ..., out: Array | None = ...) -> Array: ...
def forward_dynamics_derivatives(q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *, loads: ArrayLike | None = ..., parameters: ArrayLike | None = ..., out: tuple[Array | None, Array | None, Array | None, Array | None] | None = ...) -> tuple[Array, Array, Array, Array]: ...
