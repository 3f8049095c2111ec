"""The order of the entries of a quaternion.

symgen, Pinocchio, ROS and SciPy use x, y, z, w; MuJoCo, Drake and Eigen's constructor w, x, y, z.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ORDERS = ("xyzw", "wxyz")


def reorder(quaternions: Any, source: str, target: str) -> np.ndarray[Any, Any]:
    """Return quaternions (..., 4) of the order `source` in the order `target`.

    Orders are ``"xyzw"`` and ``"wxyz"``.  ValueError for another order or shape, TypeError for
    entries that are no numbers.
    """
    for order in (source, target):
        if order not in ORDERS:
            raise ValueError(f"no order of a quaternion {order!r}; expected xyzw or wxyz")
    array = np.asarray(quaternions)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"quaternions: expected numbers, got {array.dtype}")
    if array.shape[-1:] != (4,):
        raise ValueError(f"quaternions: expected shape (..., 4), got {array.shape}")
    return array[..., [source.index(letter) for letter in target]]
