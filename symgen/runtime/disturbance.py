"""Measurement of rounding errors: functions whose operations are disturbed at random.

Fixed limits ignore the size of terms that cancel in a result and the condition of a mass matrix.
Both are measured where a comparison exceeds its bare limit: it is repeated with its functions in
NumPy, every operation and every result multiplied by 1 + `SIZE` x, with x uniform in [-1, 1] and
drawn anew each time.  The change of the difference, times EPS / `SIZE`, estimates the effect of
rounding for any function and formulation: Monte Carlo arithmetic (Parker, Pierce, Eggert 2000),
with a disturbance far above roundings and small enough for effects to stay linear.

Faults still fail: a wrong sign is present before and after, and only changes count.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

SIZE = 2.0**-36
"""Disturbance of each operation, relative: 65,536 times the spacing of float64 at 1."""
DRAWS = 3
"""Number of repetitions of a comparison; the largest change of a sample counts."""

_EXACT = frozenset({
    np.negative, np.positive, np.absolute, np.sign, np.conjugate, np.copysign, np.maximum,
    np.minimum, np.fmax, np.fmin,
})  # fmt: skip
"""Operations that are never rounded."""


class Disturbed(Array):
    """An array whose operations are disturbed; their results are such arrays as well."""

    keeps_class = True
    """Generated functions take it without conversion."""
    random: np.random.Generator | None = None

    def __array_finalize__(self, source: Any) -> None:
        self.random = getattr(source, "random", None)

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        if function in (np.linalg.inv, np.linalg.solve):  # backward stable, row by row
            matrix = np.asarray(inputs[0])
            size = np.abs(matrix).max(axis=-1, keepdims=True)
            random = self.random or np.random.default_rng(0)
            noise = SIZE * random.uniform(-1.0, 1.0, matrix.shape)
            inputs = (matrix + size * noise, *map(_plain, inputs[1:]))
            return _like(self, function(*inputs, **options))
        return super().__array_function__(function, types, inputs, options)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any
    ) -> Any:
        if out is not None:
            options["out"] = tuple(map(_plain, out))
        result = getattr(ufunc, method)(*map(_plain, inputs), **options)
        if ufunc in _EXACT or np.asarray(result).dtype.kind not in "fc":
            return result if isinstance(result, tuple) else _like(self, result)
        random = next(x.random for x in (*inputs, *(out or ())) if isinstance(x, Disturbed))
        changed = disturbed(np.asarray(result), random)
        if out is None:
            return _like(self, changed)
        out[0][...] = changed
        return out[0]


def disturbed(result: Array, random: np.random.Generator | None) -> Array:
    """Return the result of an operation (...), each entry multiplied by a random factor near 1."""
    if random is None or result.dtype.kind not in "fc":
        return result
    return np.asarray(result * (1.0 + SIZE * random.uniform(-1.0, 1.0, result.shape)))


def disturbed_product(a: Array, b: Array, random: np.random.Generator | None) -> Array:
    """Return a @ b, (..., n, k) @ (..., k, m), disturbed in proportion to the terms that are added.

    Real and imaginary parts are disturbed separately: complex steps make them differ by 1e100.
    """
    product = a @ b
    if random is None:
        return product

    def noise(*terms: Array) -> Array:
        return SIZE * sum(terms) * random.uniform(-1.0, 1.0, product.shape)

    real_a, real_b = np.abs(a.real), np.abs(b.real)
    changed = product + noise(real_a @ real_b)
    if np.iscomplexobj(product):
        changed = changed + 1j * noise(real_a @ np.abs(b.imag), np.abs(a.imag) @ real_b)
    return np.asarray(changed)


class DisturbedFunctions:
    """Functions with disturbed results, and with disturbed operations where they are in NumPy.

    `in_numpy` has those of the functions that NumPy implements, or is None.  With `passed_on`
    operations on their results are disturbed as well.
    """

    def __init__(self, functions: Any, in_numpy: Any, seed: int, passed_on: bool = False) -> None:
        self._functions, self._in_numpy, self._passed_on = functions, in_numpy, passed_on
        self._random = np.random.default_rng(seed)

    def __getattr__(self, name: str) -> Any:
        inside = hasattr(self._in_numpy, name) and hasattr(self._functions, name)
        function = getattr(self._in_numpy if inside else self._functions, name)
        if name.startswith("_") or not callable(function):
            return function

        def run(*arguments: Any, **options: Any) -> Any:
            if inside:
                arguments = tuple(map(self._argument, arguments))
                options = {k: x if k == "out" else self._argument(x) for k, x in options.items()}
            results = function(*arguments, **options)
            if not isinstance(results, tuple):
                return self._result(results)
            return tuple(map(self._result, results))

        return run

    def _argument(self, value: Any) -> Any:
        if not (isinstance(value, np.ndarray) and value.dtype.kind in "fc"):
            return value
        array = value.view(Disturbed)
        array.random = self._random
        return array

    def _result(self, result: Any) -> Any:
        if not isinstance(result, np.ndarray | float | complex):
            return result
        changed = disturbed(np.asarray(result), self._random)
        return self._argument(changed) if self._passed_on else changed


def seed_of(name: str, draw: int) -> int:
    """Return a seed that depends on subject and draw alone, and is equal in every process."""
    return zlib.crc32(f"{name} {draw}".encode())


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, Disturbed) else value


def _like(source: Disturbed, result: Any) -> Any:
    array = np.asarray(result)
    if array.dtype.kind not in "fc":
        return result
    view = array.view(Disturbed)
    view.random = source.random
    return view
