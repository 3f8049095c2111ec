"""Bounds on the probability that a difference vanishes at a random point of the field.

A program is a fraction of polynomials in its inputs and parameters, in the pairs (cos, sin) of its
angles, in the values of its other functions and in its roots.  Denominators are products of powers
of the numerators of divisors.  Each node has a `Degree`: that of its numerator, and these powers.
Separate powers of each divisor keep the bound small where pivots are divided by pivots: in a
factorisation of n joints, numerators have 2^n times the degree of the mass matrix; over one common
denominator they would have 2^(n^2) times this degree.

The bound.  Let f have total degree d, where a sine or cosine counts 2 and everything else 1, and
let f not be 0.  At a random point f vanishes with probability at most d / p: by induction over the
variables, take the highest power a of one of them, with a coefficient of degree d - a that is not
0.  The coefficient vanishes with probability at most (d - a) / p; where it does not, f has at most
a roots in a separate variable.  In a pair of degree a (reduced by s^2 = 1 - c^2, which keeps the
degree) f is a rational function of the half-angle t with a numerator of degree at most 2 a.

    divisors       f is multiplied by its denominator; where that is 0 there is no value, and
                   nothing is proven
    roots          f is multiplied by its conjugates: twice the degree for each root; and points
                   are drawn until the root exists, as at half of them: twice again.  The product
                   is 0 if f is for one choice of the signs of the roots, which is the proven claim
                   (see `symgen.algebra.prime_field`)
    equal values   two different arguments of functions are equal by chance with probability at
                   most (their degree) / p; then their functions would be equal, too

The prime is drawn among more than 2^118, so that it does not divide all coefficients of a
difference: even a coefficient of a billion digits has less than 2^25 factors of that size.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from symgen.algebra.nodes import ARITHMETIC, CONST, DIV, MUL, NEG, SYMBOL, Scalar, reachable


@dataclass(slots=True)  # not frozen: millions are made, and freezing trebles their cost
class Degree:
    """Degree of a numerator, and the number of the product of `_Divisors` below it."""

    above: int
    below: int = 0


CONSTANT, VARIABLE, PAIR = Degree(0), Degree(1), Degree(2)


def hiding_degree(
    results: Iterable[Scalar],
    differentiated: Iterable[Scalar] = (),
    inputs: Collection[str] = (),
    units: Collection[int] = (),
    rates: Mapping[str, Collection[Scalar]] | None = None,
) -> int:
    """Bound d such that a difference of two of `results` hides with a probability of at most d / p.

    The bound holds for the derivatives of those `differentiated`, too, where symbols named in
    `inputs` change at the rate 1, or at the rate of another symbol, or at one of their `rates`
    times such a symbol.  `units` are the indices of roots that are 1.
    """
    rates = rates or {}
    wanted, slopes = list(results), list(differentiated)
    bounds = _Degrees(inputs, units, rates)
    moving = [rate for changes in rates.values() for rate in changes]
    for node in reachable([*moving, *wanted, *slopes]):
        bounds.value(node)
    for node in reachable(slopes):
        bounds.change(node)
    return bounds.total(wanted, slopes)


class _Divisors:
    """Numbered products of integer powers of divisors: 0 for the empty one.

    Few of them are different, so that operations on pairs are cached.
    """

    def __init__(self) -> None:
        self.degrees: list[int] = []
        self.powers: list[dict[int, int]] = [{}]
        self._numbers: dict[tuple[tuple[int, int], ...], int] = {(): 0}
        self._products: dict[tuple[int, int], int] = {}
        self._common: dict[tuple[int, int], tuple[int, int, int]] = {}

    def new(self, degree: int) -> int:
        """Add a divisor of this degree; return its number."""
        self.degrees.append(degree)
        return self._number({len(self.degrees) - 1: 1})

    def product(self, x: int, y: int) -> int:
        """x y"""
        if not x or not y:
            return x or y
        if (x, y) not in self._products:
            powers = dict(self.powers[x])
            for k, power in self.powers[y].items():
                powers[k] = powers.get(k, 0) + power
            self._products[x, y] = self._number(powers)
        return self._products[x, y]

    def inverse(self, x: int) -> int:
        """1 / x"""
        return self._number({k: -power for k, power in self.powers[x].items()})

    def common(self, x: int, y: int) -> tuple[int, int, int]:
        """Return the least common multiple, and the degrees of the factors that x and y lack."""
        if x == y:
            return x, 0, 0
        if (x, y) not in self._common:
            a, b = self.powers[x], self.powers[y]
            powers_of_both = {k: max(a.get(k, 0), b.get(k, 0)) for k in {**a, **b}}
            missing = (self._weight(powers_of_both) - self._weight(powers) for powers in (a, b))
            self._common[x, y] = (self._number(powers_of_both), *missing)  # type: ignore[assignment]
        return self._common[x, y]

    def size(self, x: int) -> int:
        """Return the sum of the degrees of all factors of x, above and below."""
        return sum(abs(power) * self.degrees[k] for k, power in self.powers[x].items())

    def _weight(self, powers: dict[int, int]) -> int:
        return sum(power * self.degrees[k] for k, power in powers.items())

    def _number(self, powers: dict[int, int]) -> int:
        key = tuple(sorted((k, power) for k, power in powers.items() if power))
        if key not in self._numbers:
            self._numbers[key] = len(self.powers)
            self.powers.append(dict(key))
        return self._numbers[key]


@dataclass
class _Degrees:
    """The degree of every node, and of the slopes of some; None for a slope that is 0."""

    inputs: Collection[str]
    units: Collection[int]
    rates: Mapping[str, Collection[Scalar]]
    of: dict[int, Degree] = field(default_factory=dict)
    slope: dict[int, Degree | None] = field(default_factory=dict)
    divisors: _Divisors = field(default_factory=_Divisors)
    reciprocals: dict[int, Degree] = field(default_factory=dict)  # of nodes that divide something
    arguments: list[int] = field(default_factory=list)  # degrees of the arguments of functions
    roots: int = 0

    def value(self, node: Scalar) -> None:
        """Compute the degree of a node from those of its operands."""
        if self._is_constant(node):
            self.of[node.index] = CONSTANT
        elif node.op is SYMBOL:
            self.of[node.index] = VARIABLE
        elif node.op in ARITHMETIC:
            self.of[node.index] = self._arithmetic(node)
        else:
            self.of[node.index] = self._function(node)

    def change(self, node: Scalar) -> None:
        """Compute the degree of the slope of a node from those of its operands."""
        self.slope[node.index] = None if self._is_constant(node) else self._slope(node)

    def _is_constant(self, node: Scalar) -> bool:
        return node.op is CONST or node.index in self.units

    def total(self, wanted: Iterable[Scalar], slopes: Iterable[Scalar]) -> int:
        """Return the degree of a difference, with roots and equal values."""
        degrees = [self.of[node.index] for node in wanted]
        degrees += [self.slope[node.index] or CONSTANT for node in slopes]
        below = 0
        for number in {degree.below: None for degree in degrees}:
            below, _, _ = self.divisors.common(below, number)
        worst = max(
            map(lambda x: x.above + self.divisors.common(x.below, below)[1], degrees), default=0
        )
        pairs = len(self.arguments) ** 2 * max(self.arguments, default=0)
        return (worst + pairs) << (2 * self.roots)

    def _arithmetic(self, node: Scalar) -> Degree:
        x = self.of[node.args[0].index]
        if node.op is NEG:
            return x
        y = self.of[node.args[1].index]
        if node.op is MUL:
            return self._product(x, y)
        if node.op is not DIV:
            return self._sum(x, y)
        return x if node.args[1].op is CONST else self._product(x, self._reciprocal(node.args[1]))

    def _reciprocal(self, node: Scalar) -> Degree:
        """1 / node: the numerator of the node becomes a divisor."""
        if node.index not in self.reciprocals:
            degree = self.of[node.index]
            numerator = self.divisors.new(degree.above)
            below = self.divisors.product(numerator, self.divisors.inverse(degree.below))
            self.reciprocals[node.index] = Degree(0, below)
        return self.reciprocals[node.index]

    def _function(self, node: Scalar) -> Degree:
        degree = CONSTANT
        for arg in node.args:
            degree = self._sum(degree, self.of[arg.index])
        size = degree.above + self.divisors.size(degree.below)
        self.arguments.append(size)
        if node.op in ("sin", "cos"):
            return PAIR
        # tan and whole powers are rational, roots algebraic, all others are independent values;
        # their slopes are of degree 2 in the values and in the arguments, with one divisor
        power = 2
        if node.op == "pow" and node.args[1].op is CONST:
            power = max(power, int(abs(node.args[1].value)) + 1)
        if node.op in ("sqrt", "asin", "acos"):  # the slope of the last two has a root in it
            self.roots += 1
        value = 2 + power * size
        return Degree(2 * value, self.divisors.new(value))

    def _slope(self, node: Scalar) -> Degree | None:
        if node.op is SYMBOL:
            rate = VARIABLE if node.name in self.inputs else None
            for symbol_rate in self.rates.get(node.name, ()):
                rate = self._sum_of(rate, self._product(VARIABLE, self.of[symbol_rate.index]))
            return rate
        degrees = [self.of[arg.index] for arg in node.args]
        slopes = [self.slope[arg.index] for arg in node.args]
        if node.op is MUL:
            return self._sum_of(
                self._multiple(slopes[0], degrees[1]), self._multiple(slopes[1], degrees[0])
            )
        if node.op is DIV and node.args[1].op is not CONST:
            by = self._reciprocal(node.args[1])
            of_divisor = self._multiple(slopes[1], self._product(self.of[node.index], by))
            return self._sum_of(self._multiple(slopes[0], by), of_divisor)
        inner = self._sum_of(slopes[0], slopes[-1])
        if node.op in ARITHMETIC:
            return inner
        value = self.of[node.index]
        return self._multiple(
            inner, value if node.op in ("sin", "cos") else self._product(value, value)
        )

    def _product(self, x: Degree, y: Degree) -> Degree:
        return Degree(x.above + y.above, self.divisors.product(x.below, y.below))

    def _sum(self, x: Degree, y: Degree) -> Degree:
        if x.below == y.below:
            return x if x.above >= y.above else y
        below, of_x, of_y = self.divisors.common(x.below, y.below)
        return Degree(max(x.above + of_x, y.above + of_y), below)

    def _sum_of(self, x: Degree | None, y: Degree | None) -> Degree | None:
        if x is None or y is None:
            return y if x is None else x
        return self._sum(x, y)

    def _multiple(self, x: Degree | None, factor: Degree) -> Degree | None:
        return None if x is None else self._product(x, factor)
