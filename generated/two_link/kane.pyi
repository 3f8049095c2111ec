from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Rows = ArrayLike | Mapping[str, ArrayLike]

def forward_dynamics(q: Rows, qd: Rows, tau: Rows, *, loads: Rows | None = ..., parameters: Rows | None = ..., out: Array | None = ...) -> Array: ...
def forward_dynamics_derivatives(q: Rows, qd: Rows, tau: Rows, *, loads: Rows | None = ..., parameters: Rows | None = ..., out: tuple[Array | None, Array | None, Array | None, Array | None] | None = ...) -> tuple[Array, Array, Array, Array]: ...
