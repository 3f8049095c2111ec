"""Values and slopes of programs at random points, each computed once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice

from symgen.algebra.graph import Scalar, reachable
from symgen.algebra.prime_field import NotASquareError
from symgen.errors import RequestError
from symgen.exact.compositions import Key, composed
from symgen.exact.degree import hiding_degree
from symgen.exact.points import Point, random_points
from symgen.exact.relations import RELATIONS
from symgen.program.program import Program

Programs = Mapping[Key, Program[Scalar]]
"""By formulation and function, or by formulation and composition."""

Entries = list[tuple[int, ...]]
"""The entries of one result, each with its values at all points."""


class Evaluations:
    """See the module.  The programs stand over one graph; their compositions join them."""

    def __init__(self, programs: Programs, points: int, seed: int) -> None:
        self.programs = programs = {**programs, **composed(programs)}
        self.results = [entry for program in programs.values() for entry in program.results]
        self.points = random_points(self.results, count=points, seed=seed)
        everything = iter(self._at_points(lambda point: point.values(self.results)))
        self._values: dict[tuple[Key, tuple[str, ...]], list[Entries]] = {
            (key, ()): _by_output(program, everything) for key, program in programs.items()
        }
        self._slopes: dict[tuple[Key, str], list[Entries]] = {}

    @property
    def degree(self) -> int:
        """A difference hides at one point with probability at most degree / prime."""
        inputs = {
            name
            for program in self.programs.values()
            for array in program.inputs
            if array.name != "parameters"
            for name in array.symbol_names
        }
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
        return hiding_degree(self.results, differentiated, inputs, ones)

    def values(self, key: Key, at_zero: tuple[str, ...] = ()) -> list[Entries]:
        """The results of a program; the inputs named in `at_zero` are 0."""
        if (key, at_zero) not in self._values:
            program = self.programs[key]
            zeros = _symbols(program, at_zero)
            columns = self._at_points(lambda point: point.values(program.results, zeros))
            self._values[key, at_zero] = _by_output(program, iter(columns))
        return self._values[key, at_zero]

    def slopes(self, key: Key, by: str) -> list[Entries]:
        """Derivatives of the results of a program, by all entries of the input `by` in turn."""
        if (key, by) not in self._slopes:
            program = self.programs[key]
            names = _symbols(program, (by,))

            def rows(point: Point) -> Iterator[int]:
                for row in point.slopes(program.results, names):
                    yield from (row.get(k, 0) for k in range(len(names)))

            columns = self._at_points(rows)
            self._slopes[key, by] = _by_output(program, iter(columns), len(names))
        return self._slopes[key, by]

    def rates(self, key: Key) -> list[Entries]:
        """Derivatives of the results of a program with respect to time."""
        program = self.programs[key]
        q, qd, qdd = (_symbols(program, (name,)) for name in ("q", "qd", "qdd"))
        successors = dict(zip([*q, *qd], [*qd, *qdd], strict=True))
        columns = self._at_points(lambda point: point.rates(program.results, successors))
        return _by_output(program, iter(columns))

    def _at_points(self, at: Callable[[Point], Iterable[int]]) -> Entries:
        try:
            return list(zip(*(at(point) for point in self.points), strict=True))
        except (ZeroDivisionError, NotASquareError) as error:
            raise RequestError(
                "this model cannot be checked exactly: something is divided by what is always 0, "
                "or a root is taken of the coordinates"
            ) from error


def _by_output(
    program: Program[Scalar], entries: Iterator[tuple[int, ...]], width: int = 1
) -> list[Entries]:
    """The next of `entries`, split by output; `width` of them belong to one of its entries."""
    return [list(islice(entries, width * len(output.entries))) for output in program.outputs]


def _symbols(program: Program[Scalar], inputs: Collection[str]) -> list[str]:
    return [name for array in program.inputs if array.name in inputs for name in array.symbol_names]
