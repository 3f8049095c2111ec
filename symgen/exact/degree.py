"""How often a difference can hide: a bound on the degrees of what programs compute.

A program is seen as a polynomial in its inputs and parameters, in the pairs (cos, sin) of its
angles, in the values of its other functions, in its roots, and in the reciprocals of what it
divides by.  Each node has a `Degree` in them.

The bound.  Let f have total degree d, where a sine or cosine counts 2 and everything else 1, and
let f not be 0.  At a random point f vanishes with probability at most d / p: by induction over the
variables, take the highest power a of one of them, with a coefficient of degree d - a that is not
0.  The coefficient vanishes with probability at most (d - a) / p; where it does not, f has at most
a roots in a variable of its own.  In a pair of degree a (reduced by s^2 = 1 - c^2, which keeps the
degree) f is a rational function of the half-angle t with a numerator of degree at most 2 a.

    reciprocals    f is multiplied by every divisor, as often as reciprocals occur at all
    roots          f is multiplied by its conjugates: twice the degree for each root; and points
                   are drawn until the root exists, which half of them pass: twice again.  The
                   product is 0 where f is for one choice of the signs of the roots: this is what
                   is proven (see `symgen.algebra.prime_field`)
    equal values   two different arguments of functions are equal by chance with probability at
                   most (their degree) / p; then their functions would be equal, too

The prime is drawn as well, among more than 2^118: a difference whose coefficients are all
multiples of it does not occur, for even a coefficient of a billion digits has less than 2^25
factors of that size.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from symgen.algebra.graph import (
    ARITHMETIC,
    CONST,
    DIV,
    MUL,
    NEG,
    SYMBOL,
    Scalar,
    reachable,
)


@dataclass(slots=True)  # not frozen: millions are made, and freezing trebles their cost
class Degree:
    """Degree in the variables, and in the reciprocals of divisors; never changed."""

    direct: int
    reciprocal: int

    def __mul__(self, other: Degree) -> Degree:
        """Of a product."""
        return Degree(self.direct + other.direct, self.reciprocal + other.reciprocal)

    def __or__(self, other: Degree) -> Degree:
        """Of a sum."""
        if self.direct >= other.direct and self.reciprocal >= other.reciprocal:
            return self
        return Degree(max(self.direct, other.direct), max(self.reciprocal, other.reciprocal))


CONSTANT, VARIABLE, PAIR, RECIPROCAL = Degree(0, 0), Degree(1, 0), Degree(2, 0), Degree(0, 1)


def hiding_degree(
    results: Iterable[Scalar],
    differentiated: Iterable[Scalar] = (),
    inputs: Collection[str] = (),
    units: Collection[int] = (),
) -> int:
    """d such that a difference of two of `results` hides at a random point with at most d / p.

    The same holds for the derivatives of those `differentiated` with respect to the symbols named
    in `inputs`.  `units` are the indices of roots that are known to be 1.
    """
    wanted, slopes = list(results), list(differentiated)
    bounds = _Degrees(inputs, units, {node.index for node in reachable(slopes)})
    for node in reachable([*wanted, *slopes]):
        bounds.visit(node)
    return bounds.total(wanted, slopes)


class _Degrees:
    """The degree of every node, and of the slopes of some; None for a slope that is 0."""

    def __init__(
        self, inputs: Collection[str], units: Collection[int], sloped: Collection[int]
    ) -> None:
        self.inputs = inputs
        self.units = units
        self.sloped = sloped
        self.of: dict[int, Degree] = {}
        self.slope: dict[int, Degree | None] = {}
        self.divisors = 0  # degree of the product of all divisors
        self.divided_by: set[int] = set()
        self.arguments: list[int] = []  # degrees of the arguments of functions
        self.roots = 0

    def visit(self, node: Scalar) -> None:
        """Find the degrees of a node whose operands were visited."""
        constant = node.op is CONST or node.index in self.units
        if constant:
            self.of[node.index] = CONSTANT
        elif node.op is SYMBOL:
            self.of[node.index] = VARIABLE
        elif node.op in ARITHMETIC:
            self.of[node.index] = self._arithmetic(node)
        else:
            self.of[node.index] = self._function(node)
        if node.index in self.sloped:
            self.slope[node.index] = None if constant else self._slope(node)

    def total(self, wanted: Iterable[Scalar], slopes: Iterable[Scalar]) -> int:
        """The degree of a difference, with everything that can go wrong."""
        degrees = [self.of[node.index] for node in wanted]
        degrees += [self.slope[node.index] or CONSTANT for node in slopes]
        worst = max(map(self._cleared, degrees), default=0)
        pairs = len(self.arguments) ** 2 * max(self.arguments, default=0)
        return (worst + pairs) << (2 * self.roots)

    def _arithmetic(self, node: Scalar) -> Degree:
        x = self.of[node.args[0].index]
        if node.op is NEG:
            return x
        y = self.of[node.args[1].index]
        if node.op is MUL:
            return x * y
        if node.op is not DIV:
            return x | y
        if node.args[1].op is CONST:
            return x
        self._divide_by(node.args[1].index, y)
        return x * RECIPROCAL

    def _function(self, node: Scalar) -> Degree:
        degree = CONSTANT
        for arg in node.args:
            degree = degree | self.of[arg.index]
        self.arguments.append(self._cleared(degree))
        if node.op in ("sin", "cos"):
            return PAIR
        # tan and whole powers are rational, roots algebraic, all others are values of their own;
        # their slopes are of degree 2 in the values and in the arguments, with one divisor
        power = 2
        if node.op == "pow" and node.args[1].op is CONST:
            power = max(power, int(abs(node.args[1].value)) + 1)
        if node.op in ("sqrt", "asin", "acos"):  # the slope of the last two has a root in it
            self.roots += 1
        value = Degree(2 + power * degree.direct, 1 + power * degree.reciprocal)
        self._divide_by(node.index, value)
        return value

    def _slope(self, node: Scalar) -> Degree | None:
        if node.op is SYMBOL:
            return CONSTANT if node.name in self.inputs else None
        degrees = [self.of[arg.index] for arg in node.args]
        slopes = [self.slope[arg.index] for arg in node.args]
        if node.op is MUL:
            return _sum(_product(slopes[0], degrees[1]), _product(slopes[1], degrees[0]))
        if node.op is DIV:
            by_divisor = _product(slopes[1], degrees[0] * RECIPROCAL * RECIPROCAL)
            return _sum(_product(slopes[0], RECIPROCAL), by_divisor)
        inner = _sum(slopes[0], slopes[-1])
        if node.op in ARITHMETIC:
            return inner
        value = self.of[node.index]
        return _product(inner, value if node.op in ("sin", "cos") else value * value)

    def _divide_by(self, index: int, degree: Degree) -> None:
        if index not in self.divided_by:
            self.divided_by.add(index)
            self.divisors += self._cleared(degree)

    def _cleared(self, degree: Degree) -> int:
        return degree.direct + degree.reciprocal * self.divisors


def _sum(x: Degree | None, y: Degree | None) -> Degree | None:
    if x is None or y is None:
        return y if x is None else x
    return x | y


def _product(x: Degree | None, factor: Degree) -> Degree | None:
    return None if x is None else x * factor
