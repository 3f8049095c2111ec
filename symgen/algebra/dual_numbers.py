"""Dual numbers over a prime field: a value and its exact slopes in many directions.

Evaluating a program with a slope of 1 at an input gives its derivatives with respect to that input,
without rounding and without a differentiated program, as a reference for derivatives.  Slopes are
sparse rows, direction -> slope.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from symgen.algebra.evaluation import Arithmetic
from symgen.algebra.prime_field import PrimeField, Residue, inverse

Slopes = dict[int, int]


class Dual:
    """`value` + `slopes`, all modulo `prime`.  Supports ``+ - * /`` and unary minus."""

    __slots__ = ("prime", "slopes", "value")

    def __init__(self, value: int, slopes: Slopes, prime: int) -> None:
        self.value = value
        self.slopes = slopes
        self.prime = prime

    def __add__(self, other: Dual) -> Dual:
        p = self.prime
        return Dual((self.value + other.value) % p, _sum(self.slopes, other.slopes, p), p)

    def __sub__(self, other: Dual) -> Dual:
        p = self.prime
        slopes = _sum(self.slopes, _scaled(other.slopes, -1, p), p)
        return Dual((self.value - other.value) % p, slopes, p)

    def __mul__(self, other: Dual) -> Dual:
        x, y, p = self.value, other.value, self.prime
        slopes = _sum(_scaled(self.slopes, y, p), _scaled(other.slopes, x, p), p)
        return Dual(x * y % p, slopes, p)

    def __truediv__(self, other: Dual) -> Dual:
        """(x/y)' = (x' - (x/y) y') / y"""
        p = self.prime
        reciprocal = inverse(other.value, p)
        value = self.value * reciprocal % p
        change = _sum(self.slopes, _scaled(other.slopes, -value, p), p)
        return Dual(value, _scaled(change, reciprocal, p), p)

    def __neg__(self) -> Dual:
        return Dual(-self.value % self.prime, _scaled(self.slopes, -1, self.prime), self.prime)


def _scaled(slopes: Slopes, factor: int, prime: int) -> Slopes:
    return {k: slope * factor % prime for k, slope in slopes.items()}


def _sum(x: Slopes, y: Slopes, prime: int) -> Slopes:
    if not x or not y:
        return x or y
    result = dict(x)
    for k, slope in y.items():
        result[k] = (result[k] + slope) % prime if k in result else slope
    return result


def dual_arithmetic(field: PrimeField) -> Arithmetic:
    """Return the arithmetic of dual numbers over `field`, for `evaluate`."""
    values = field.arithmetic.functions

    def constant(value: float) -> Dual:
        return Dual(field.constant(value).value, {}, field.prime)

    def function(name: str) -> Callable[..., Dual]:
        def of(*arguments: Dual) -> Dual:
            residues = [Residue(x.value, field.prime) for x in arguments]
            result: Residue = values[name](*residues)
            slopes: Slopes = {}
            for number, argument in enumerate(arguments):
                if argument.slopes:
                    partial = _PARTIALS[name, number](values, result, *residues)
                    scaled = _scaled(argument.slopes, partial.value, field.prime)
                    slopes = _sum(slopes, scaled, field.prime)
            return Dual(result.value, slopes, field.prime)

        return of

    return Arithmetic(constant, {name: function(name) for name in values})


Functions = Mapping[str, Callable[..., Residue]]


def _one(x: Residue) -> Residue:
    return Residue(1, x.prime)


def _root_of_rest(f: Functions, x: Residue) -> Residue:
    return f["sqrt"](_one(x) - x * x)


# d f / d (argument number k) from the functions, the value y = f(...) and the arguments
_PARTIALS: dict[tuple[str, int], Callable[..., Residue]] = {
    ("sin", 0): lambda f, y, x: f["cos"](x),
    ("cos", 0): lambda f, y, x: -f["sin"](x),
    ("tan", 0): lambda f, y, x: _one(x) + y * y,
    ("asin", 0): lambda f, y, x: _one(x) / _root_of_rest(f, x),
    ("acos", 0): lambda f, y, x: -(_one(x) / _root_of_rest(f, x)),
    ("atan", 0): lambda f, y, x: _one(x) / (_one(x) + x * x),
    ("atan2", 0): lambda f, y, a, b: b / (a * a + b * b),
    ("atan2", 1): lambda f, y, a, b: -(a / (a * a + b * b)),
    ("exp", 0): lambda f, y, x: y,
    ("log", 0): lambda f, y, x: _one(x) / x,
    ("tanh", 0): lambda f, y, x: _one(x) - y * y,
    ("sqrt", 0): lambda f, y, x: _one(x) / (y + y),
    ("abs", 0): lambda f, y, x: f["sign"](x),
    ("sign", 0): lambda f, y, x: x - x,
    ("pow", 0): lambda f, y, a, b: b * f["pow"](a, b - _one(b)),
    ("pow", 1): lambda f, y, a, b: f["log"](a) * y,
}
