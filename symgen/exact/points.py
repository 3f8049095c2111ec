"""Random points to compare programs at: a value in a prime field for every symbol.

A symbol's value depends on its name alone, so all programs of a robot see the same point.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, TypeVar

from symgen.algebra.dual_numbers import Dual, Slopes, dual_arithmetic
from symgen.algebra.evaluation import evaluate
from symgen.algebra.nodes import SYMBOL, Scalar, reachable
from symgen.algebra.prime_field import NotASquareError, PrimeField, Residue, random_field
from symgen.errors import RequestError

_PRIMES = 200
"""Fields to try for one point: a root of a number, such as sqrt(2 c^2), exists in half of them."""

_TRIES_PER_ROOT = 20
"""Draws in one field, per root; a root takes two draws on average."""

Movement = Mapping[str, Scalar | None]
"""Rates of symbols that change; None stands for the rate 1."""

T = TypeVar("T")


class Root(NamedTuple):
    """The root of a scalar x; with `rest`, that of 1 - x^2."""

    of: Scalar
    rest: bool


_ROOTS = {"sqrt": False, "asin": True, "acos": True}
"""Functions that are a root or have one in their derivative, and whether it is that of 1 - x^2."""


class _Drawn(dict[str, T]):
    """Values of symbols, computed at the first access."""

    def __init__(self, make: Callable[[str], T]) -> None:
        super().__init__()
        self.make = make

    def __missing__(self, name: str) -> T:
        self[name] = value = self.make(name)
        return value


@dataclass(frozen=True)
class Point:
    """A value for every symbol; `redrawn` counts rejected draws by symbol."""

    field: PrimeField
    redrawn: Mapping[str, int]

    def symbol(self, name: str) -> Residue:
        """Return the value of the symbol called `name`."""
        return self.field.draw("symbol", name, self.redrawn.get(name, 0))

    def values(self, scalars: Iterable[Scalar], zeros: Iterable[str] = ()) -> list[int]:
        """Return the values of `scalars`; the symbols named in `zeros` are 0."""
        values = _Drawn(self.symbol)
        values.update((name, self.field.number(0)) for name in zeros)
        return [x.value for x in evaluate(scalars, values, self.field.arithmetic)]

    def changes(
        self, scalars: Iterable[Scalar], movements: Sequence[Movement], held: Sequence[Scalar] = ()
    ) -> list[Slopes]:
        """Sparse derivatives of scalars along `movements`, by position, with the nodes `held`."""
        prime = self.field.prime
        unmoved = {
            node.index: Dual(value, {}, prime)
            for node, value in zip(held, self.values(held), strict=True)
        }
        rates = [rate for movement in movements for rate in movement.values() if rate is not None]
        values = iter(self.values(rates))
        seeds: dict[str, Slopes] = {}
        for k, movement in enumerate(movements):
            for name, rate in movement.items():
                seeds.setdefault(name, {})[k] = 1 if rate is None else next(values)

        def dual(name: str) -> Dual:
            return Dual(self.symbol(name).value, seeds.get(name, {}), prime)

        numbers = dual_arithmetic(self.field)
        return [x.slopes for x in evaluate(scalars, _Drawn(dual), numbers, unmoved)]


def random_points(*scalars: Iterable[Scalar], count: int = 1, seed: int = 0) -> tuple[Point, ...]:
    """Draw `count` random points, each in another field, at which all roots in `scalars` exist.

    So do the roots in the derivatives of asin and acos.  Each of `scalars` is a group over one
    graph.  RequestError if no point is found.
    """
    nodes = [node for group in scalars for node in reachable(group) if node.op in _ROOTS]
    roots = [Root(node.args[0], _ROOTS[node.op]) for node in nodes]
    supports = [{x.name for x in reachable([root.of]) if x.op is SYMBOL} for root in roots]
    fields = (random_field(seed, k) for k in range(count * _PRIMES))
    drawn = (_point(field, roots, supports) for field in fields)
    points = tuple(islice((point for point in drawn if point is not None), count))
    if len(points) < count:
        raise RequestError("the exact check finds no point at which all roots of the model exist")
    return points


def _point(field: PrimeField, roots: Sequence[Root], supports: Sequence[set[str]]) -> Point | None:
    """Draw a point at which one root after the other exists; None if that fails.

    Symbols are drawn again for a root if possible without affecting earlier roots.
    """
    redrawn: Counter[str] = Counter()
    done = 0
    for _ in range(_TRIES_PER_ROOT * len(roots) + 1):
        point = Point(field, dict(redrawn))
        while done < len(roots) and _has_value(field, roots[done], point):
            done += 1
        if done == len(roots):
            return point
        earlier: set[str] = set().union(*supports[:done])
        free = supports[done] - earlier
        redrawn.update(free or supports[done])
        done = done if free else 0
    return None


def _has_value(field: PrimeField, root: Root, point: Point) -> bool:
    try:
        (value,) = point.values([root.of])
        field.sqrt(field.number(1 - value * value if root.rest else value))
    except (NotASquareError, ZeroDivisionError):
        return False
    return True
