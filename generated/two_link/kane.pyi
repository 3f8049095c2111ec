from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

def forward_dynamics(q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *, loads: ArrayLike | None = ..., parameters: ArrayLike | None = ..., out: Array | None = ...) -> Array: ...
def forward_dynamics_derivatives(q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *, loads: ArrayLike | None = ..., parameters: ArrayLike | None = ..., out: tuple[Array | None, Array | None, Array | None, Array | None] | None = ...) -> tuple[Array, Array, Array, Array]: ...
