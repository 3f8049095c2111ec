"""Arithmetic of a prime field, for tests of identities without rounding.

A polynomial that is not 0 vanishes at a random point of a field of p elements with probability at
most degree / p (Schwartz, Zippel).  So two programs that agree at one random point modulo a random
prime of 127 bits are the same function, up to a negligible probability.  `PrimeField.arithmetic`
is an arithmetic for `symgen.algebra.evaluation.evaluate`.

Constants are exact: a float64 is a fraction whose denominator is a power of two.

Functions are no polynomials.  They are replaced by functions that keep the identities of mechanics
and are otherwise random (a keyed hash of the argument, so that equal arguments have equal values):

    sin, cos     a point of the circle c^2 + s^2 = 1, c = (1 - t^2)/(1 + t^2), s = 2 t/(1 + t^2)
                 with t drawn for the argument; sin is odd, cos is even; tan = sin / cos
    sqrt         the root that is a square itself, so that the product of two roots is the root of
                 the product; `NotASquareError` if there is none
    x ** n       the power, for integers n of less than 54 bits
    sign         Legendre's symbol, 1 for squares and -1 for all else: it is multiplicative, and odd
                 as -1 is no square; |x| = x sign(x), which is the root of x^2
    tanh, asin, atan
                 an odd function; everything else any function

Identities that fail there (sin of a sum, exp(x) exp(-x) = 1) can only make equal programs look
different, never different programs equal, up to signs: a field has no order, so that |x + y|, and
the root of (x + y)^2, is x + y at half of the points and -(x + y) at the others.  Results that
agree are identical for one choice of the signs.  If no product of radicands is the square of a
rational function, the choices for roots are conjugate, and an identity holds for all of them or for
none.

Residues are Python integers: a product modulo 127 bits takes 0.7 us; with five 31-bit residues in
NumPy, which are as safe, it takes 1.8 us.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from symgen.algebra import rounding
from symgen.algebra.evaluation import Arithmetic

BITS = 127
_LARGEST_WHOLE_EXPONENT = 2**53
_ODD = ("tanh", "asin", "atan")
_ANY = ("acos", "exp", "log", "atan2")


class NotASquareError(ArithmeticError):
    """A number has no square root in the field; at another random point it may have one."""


class Residue:
    """A number modulo a prime, from 0 to prime - 1.  Supports ``+ - * /`` and unary minus."""

    __slots__ = ("prime", "value")

    def __init__(self, value: int, prime: int) -> None:
        self.value = value
        self.prime = prime

    def __add__(self, other: Residue) -> Residue:
        return Residue((self.value + other.value) % self.prime, self.prime)

    def __sub__(self, other: Residue) -> Residue:
        return Residue((self.value - other.value) % self.prime, self.prime)

    def __mul__(self, other: Residue) -> Residue:
        return Residue(self.value * other.value % self.prime, self.prime)

    def __truediv__(self, other: Residue) -> Residue:
        return Residue(self.value * inverse(other.value, self.prime) % self.prime, self.prime)

    def __neg__(self) -> Residue:
        return Residue(-self.value % self.prime, self.prime)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Residue) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"{self.value} mod {self.prime}"


def inverse(value: int, prime: int) -> int:
    """1 / value modulo `prime`; ZeroDivisionError for 0."""
    if value == 0:
        raise ZeroDivisionError("division by a number that is 0 at this point")
    return pow(value, -1, prime)


@dataclass(frozen=True)
class PrimeField:
    """The numbers modulo `prime`, which is 3 modulo 4; `key` determines all draws."""

    prime: int
    key: bytes = b""

    def number(self, value: int) -> Residue:
        """Return the whole number `value`."""
        return Residue(value % self.prime, self.prime)

    def constant(self, value: float) -> Residue:
        """Return the exact value of a float64; `rounding.GUARD` is 0."""
        if value == rounding.GUARD:
            return self.number(0)
        numerator, denominator = value.as_integer_ratio()
        return self.number(numerator * inverse(denominator % self.prime, self.prime))

    def draw(self, *label: str | int) -> Residue:
        """Return a random number that is determined by its label."""
        message = "\0".join(map(str, label)).encode()
        digest = hashlib.blake2b(message, key=self.key, digest_size=48).digest()
        return self.number(int.from_bytes(digest, "big"))

    @property
    def arithmetic(self) -> Arithmetic:
        """Return the arithmetic by which `evaluate` computes with residues."""
        functions: dict[str, Callable[..., Residue]] = {
            "sin": self.sin,
            "cos": self.cos,
            "tan": lambda x: self.sin(x) / self.cos(x),
            "sqrt": self.sqrt,
            "pow": self.pow,
            "sign": self.sign,
            "abs": lambda x: x * self.sign(x),
        }
        functions.update((name, partial(self._odd, name)) for name in _ODD)
        functions.update((name, partial(self._any, name)) for name in _ANY)
        return Arithmetic(self.constant, functions)

    def sin(self, x: Residue) -> Residue:
        """Return the second coordinate of the point on the circle for x."""
        t = self._odd("circle", x)
        return (t + t) / (self.number(1) + t * t)

    def cos(self, x: Residue) -> Residue:
        """Return the first coordinate of the point on the circle for x."""
        t = self._odd("circle", x)
        return (self.number(1) - t * t) / (self.number(1) + t * t)

    def sqrt(self, x: Residue) -> Residue:
        """Return the root of x that is a square itself; `NotASquareError` if x has no root."""
        root = Residue(pow(x.value, (self.prime + 1) // 4, self.prime), self.prime)
        if root * root != x:
            raise NotASquareError
        return root

    def sign(self, x: Residue) -> Residue:
        """Return 1 for squares, 0 for 0, and -1 for all other numbers."""
        return Residue(pow(x.value, self.prime // 2, self.prime), self.prime)

    def pow(self, base: Residue, exponent: Residue) -> Residue:
        """Return the power for integer exponents that a float64 holds, else a random function."""
        n = exponent.value if exponent.value < self.prime // 2 else exponent.value - self.prime
        if abs(n) >= _LARGEST_WHOLE_EXPONENT:
            return self.draw("pow", base.value, exponent.value)
        power = Residue(pow(base.value, abs(n), self.prime), self.prime)
        return power if n >= 0 else self.number(1) / power

    def _odd(self, name: str, x: Residue) -> Residue:
        """Return a random odd function of x, drawn for the smaller of x and -x; 0 for 0."""
        positive = min(x.value, self.prime - x.value)
        value = self.draw(name, positive) if positive else self.number(0)
        return value if x.value == positive else -value

    def _any(self, name: str, *arguments: Residue) -> Residue:
        return self.draw(name, *(x.value for x in arguments))


def random_field(seed: int, number: int) -> PrimeField:
    """Make the `number`-th random field of `seed`: its prime has `BITS` bits and is 3 modulo 4."""
    import sympy  # slow to import

    key = f"symgen {seed} {number}".encode()
    attempt = 0
    while True:
        digest = hashlib.blake2b(str(attempt).encode(), key=key, digest_size=32).digest()
        candidate = int.from_bytes(digest, "big") % 2 ** (BITS - 1) | 2 ** (BITS - 1) | 3
        if sympy.isprime(candidate):
            return PrimeField(candidate, key)
        attempt += 1
