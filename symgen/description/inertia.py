"""Conditions on the six entries of an inertia tensor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

ENTRIES = ("xx", "yy", "zz", "xy", "xz", "yz")
_ROUNDING = 1e-9  # of the largest entry: files have rounded decimals
_TRIANGLE_ROUNDING = 1e-6  # for a warning only, because CAD programs print few digits


def principal_moments(inertia: Sequence[float]) -> tuple[float, float, float]:
    """Return the eigenvalues (kg m^2) of a tensor xx yy zz xy xz yz, in ascending order."""
    xx, yy, zz, xy, xz, yz = inertia
    scale = max(abs(entry) for entry in inertia)
    if scale == 0.0:
        return 0.0, 0.0, 0.0
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) / scale  # cannot overflow
    low, middle, high = (float(value) * scale for value in np.linalg.eigvalsh(tensor))
    return low, middle, high


def indefinite(inertia: Sequence[float]) -> str | None:
    """The message for a tensor that is not positive semi-definite beyond rounding, or None."""
    scale = max(map(abs, inertia)) or 1.0  # the moments themselves may overflow
    low, _, high = principal_moments([entry / scale for entry in inertia])
    if low >= -_ROUNDING * max(abs(low), abs(high)):
        return None
    message = f"not positive semi-definite (smallest eigenvalue {low * scale:.3g})"
    products = [(abs(value), name) for name, value in zip(ENTRIES, inertia, strict=True)
                if name in ("xy", "xz", "yz") and value != 0.0]  # fmt: skip
    if min(inertia[:3]) < 0.0 or not products:
        return f"{message}; xx, yy and zz cannot be negative"
    name = max(products, key=lambda product: product[0])[1]
    return f"{message}; is {name} the tensor entry or the product of inertia (its negative)?"


def breaks_triangle(inertia: Sequence[float]) -> str | None:
    """Return the warning about a tensor that no mass distribution has, or None."""
    low, middle, high = principal_moments(inertia)
    if high - low - middle <= _TRIANGLE_ROUNDING * high:
        return None
    broken = f"principal moments {low:.6g} + {middle:.6g} < {high:.6g}"
    diagonal = dict(zip(ENTRIES, inertia[:3], strict=False))
    for name, value in diagonal.items():  # in the words of the file, if the diagonal shows it
        first, second = (entry for entry in diagonal if entry != name)
        rest = diagonal[first] + diagonal[second]
        if value > rest:
            broken = f"{first} + {second} < {name} ({rest:.6g} < {value:.6g})"
    return f"breaks the triangle inequality, {broken}; no rigid body can have this inertia"
