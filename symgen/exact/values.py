"""Values and slopes of programs at random points, each computed once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import isqrt

from symgen.algebra.nodes import Scalar, reachable
from symgen.algebra.prime_field import NotASquareError
from symgen.errors import RequestError
from symgen.exact.compositions import composed
from symgen.exact.degree import hiding_degree
from symgen.exact.model import MODEL, Key, runtime_parameters
from symgen.exact.movements import (
    Displacements,
    by_entries,
    by_parameters,
    entries,
    in_direction,
    in_time,
    on_manifolds,
    rates_of,
    symbols,
)
from symgen.exact.points import Movement, Point, random_points
from symgen.exact.relations import DIRECTION, PARAMETERS, RELATIONS, SENSITIVITY, TIME, Relation
from symgen.program.program import Program

Programs = Mapping[Key, Program[Scalar]]
"""Programs by formulation and function, or by formulation and composition."""

Movements = tuple[tuple[tuple[str, Scalar | None], ...], ...]

Entries = list[tuple[int, ...]]
"""The entries of one result, each with its values at all points."""


class Evaluations:
    """Values and slopes of programs over one graph, and of their compositions."""

    def __init__(self, programs: Programs, points: int, seed: int) -> None:
        self.programs = programs = {**programs, **composed(programs)}
        self.runtime_parameters = runtime_parameters(programs)
        self.on_manifolds = on_manifolds(programs.get((MODEL, MODEL)))
        self.results = [entry for program in programs.values() for entry in program.results]
        self.points = random_points(self.results, count=points, seed=seed)
        everything = iter(self._at_points(lambda point: point.values(self.results)))
        self._values: dict[tuple[Key, tuple[str, ...]], list[Entries]] = {
            (key, ()): _by_output(program, everything) for key, program in programs.items()
        }
        self._changes: dict[tuple[Key, Movements], list[Entries]] = {}

    @property
    def degree(self) -> int:
        """The number d such that a difference hides at one point with probability d / prime."""
        inputs = {*self.runtime_parameters}
        for program in self.programs.values():
            arrays = (array for array in program.inputs if array.name != "parameters")
            inputs.update(name for array in arrays for name in array.symbol_names)
        roots = [node for node in reachable(self.results) if node.op == "sqrt"]
        columns = self._at_points(lambda point: point.values(roots))
        ones = {
            node.index
            for node, values in zip(roots, columns, strict=True)
            if all(value == 1 for value in values)
        }
        bases = {relation.base for relation in RELATIONS if relation.by}
        differentiated = [
            entry
            for (_, function), program in self.programs.items()
            if function in bases
            for entry in program.results
        ]
        rates = rates_of(self.on_manifolds or {})
        return hiding_degree(self.results, differentiated, inputs, ones, rates)

    def values(self, key: Key, at_zero: tuple[str, ...] = ()) -> list[Entries]:
        """Return the results of a program with the inputs named in `at_zero` set to 0."""
        if (key, at_zero) not in self._values:
            program = self.programs[key]
            zeros = symbols(program, *at_zero)
            columns = self._at_points(lambda point: point.values(program.results, zeros))
            self._values[key, at_zero] = _by_output(program, iter(columns))
        return self._values[key, at_zero]

    def related(self, relation: Relation, key: Key, base: Key) -> Entries:
        """Return the right side of a relation: a result of `base`, or derivatives of it.

        The direction of a derivative may be among the arguments of the program `key`.
        """
        if not relation.by:
            return self.values(base, relation.at_zero)[relation.base_result]
        slopes = self._rates(base, self._movements(relation.by, key, base))[relation.base_result]
        if not (relation.symmetric and self.on_manifolds):
            return slopes
        if relation.by == DIRECTION:
            return self._without_bracket(slopes, base, key)
        return self._symmetric(slopes)

    def _movements(self, by: str, key: Key, base: Key) -> list[Movement]:
        program, runtime = self.programs[key], self.runtime_parameters
        if by == TIME:
            return [in_time(program, self._displacements(key))]
        if by == SENSITIVITY:
            return by_parameters(program, runtime, self._displacements(key))
        if by == DIRECTION:
            return [in_direction(program, runtime, self._displacements(key))]
        names = [*runtime] if by == PARAMETERS else symbols(self.programs[base], by)
        if by == "q" and names:
            return list(self._displacements(base).values())
        return [{name: None} for name in names]

    def _displacements(self, key: Key) -> Displacements:
        """Return the rates of the q of a program at its velocities."""
        return self.on_manifolds or by_entries(self.programs[key])

    def _without_bracket(self, changes: Entries, key: Key, product: Key) -> Entries:
        """The `changes` of the first result, a gradient, with (J + J^T) / 2 instead of its slopes
        J by q, times the direction ``dq`` of the program `product`."""
        J = self._rates(key, self._movements("q", key, key))[0]
        inputs = entries(self.programs[product], "dq")
        direction = self._at_points(lambda point: point.values(inputs))
        n, symmetric = len(direction), []
        for i, change in enumerate(changes):
            row = []
            for p, point in enumerate(self.points):
                prime = point.field.prime
                twice = sum((J[n * i + k][p] - J[n * k + i][p]) * direction[k][p] for k in range(n))
                row.append((change[p] - twice * ((prime + 1) // 2)) % prime)
            symmetric.append(tuple(row))
        return symmetric

    def _symmetric(self, matrix: Entries) -> Entries:
        """Return the symmetric part of n by n entries."""
        n = isqrt(len(matrix))
        primes = [point.field.prime for point in self.points]
        return [
            tuple((x + y) * ((prime + 1) // 2) % prime for x, y, prime in zip(
                matrix[n * i + k], matrix[n * k + i], primes, strict=True
            ))
            for i in range(n) for k in range(n)
        ]  # fmt: skip

    def _rates(self, key: Key, movements: Sequence[Movement]) -> list[Entries]:
        """Return the derivatives of the results of a program along each of `movements`."""
        key_of_change = key, tuple(tuple(movement.items()) for movement in movements)
        if key_of_change not in self._changes:
            program, width = self.programs[key], len(movements)

            def rows(point: Point) -> Iterator[int]:
                for row in point.changes(program.results, movements):
                    yield from (row.get(k, 0) for k in range(width))

            columns = self._at_points(rows)
            self._changes[key_of_change] = _by_output(program, iter(columns), width)
        return self._changes[key_of_change]

    def _at_points(self, at: Callable[[Point], Iterable[int]]) -> Entries:
        try:
            return list(zip(*(at(point) for point in self.points), strict=True))
        except (ZeroDivisionError, NotASquareError) as error:
            raise RequestError(
                "this model cannot be checked exactly: it divides by an expression that is always "
                "0, or takes a root of coordinates"
            ) from error


def _by_output(
    program: Program[Scalar], entries: Iterator[tuple[int, ...]], width: int = 1
) -> list[Entries]:
    """Split `entries` by output; `width` of them belong to each entry of an output."""
    return [list(islice(entries, width * len(output.entries))) for output in program.outputs]
