"""Claims about the programs of one robot, and their checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

import numpy as np

from symgen.algebra.nodes import Scalar
from symgen.algebra.prime_field import NotASquareError
from symgen.errors import RequestError
from symgen.exact.location import Location, earliest, first_difference, first_wrong_derivative
from symgen.exact.model import MODEL, Key, gravity_symbols
from symgen.exact.movements import Displacements, symbols
from symgen.exact.relations import RELATIONS, RERUNS, SAME_STATEMENTS, WEIGHT, Relation, Rerun
from symgen.exact.result import Difference, Proof
from symgen.exact.values import Entries, Evaluations, Programs
from symgen.program.functions import FUNCTION_NAMES
from symgen.program.program import Output


@dataclass(frozen=True)
class Comparison:
    """One result of a program, and the expected values."""

    output: Output[Scalar]
    values: Entries
    expected: Entries

    @property
    def wrong(self) -> list[int]:
        """Positions of the entries that differ."""
        pairs = enumerate(zip(self.values, self.expected, strict=True))
        return [k for k, (x, y) in pairs if x != y]


class Claims:
    """All claims about the programs of `evaluations`."""

    def __init__(self, evaluations: Evaluations) -> None:
        self.evaluations = evaluations
        self.programs = evaluations.programs
        self._wrong_statements: dict[Key, Location | None] = {}

    def equalities(self) -> Iterator[Proof]:
        """Compare every formulation with the one that most of them agree with."""
        for function in FUNCTION_NAMES:
            keys = self._keys(function)
            results = [self.evaluations.values(key) for key in keys]
            votes = [results.count(result) for result in results]
            for k, key in enumerate(keys):
                reference = votes.index(max(votes))
                if k != reference:
                    triples = zip(
                        self.programs[key].outputs, results[k], results[reference], strict=True
                    )
                    comparisons = [Comparison(*triple) for triple in triples]
                    claim = f"{key[0]} = {keys[reference][0]}"
                    yield self._proof(claim, comparisons, key, keys[reference])

    def relations(self) -> Iterator[Proof]:
        """Check every relation of `symgen.exact.relations`."""
        for (function, base), group in groupby(RELATIONS, key=lambda r: (r.function, r.base)):
            table, bases = tuple(group), self._keys(base)
            for key in self._keys(function):
                proofs = [self._relation(table, key, reference) for reference in bases]
                failures = [proof for proof in proofs if not proof.holds]
                if not failures and len(proofs) > 1:
                    claim = f"{self._subject(key)} = {_in_words(table, base)} by each formulation"
                    proofs = [replace(proofs[0], claim=claim)]
                yield from failures or proofs

    def _relation(self, table: Sequence[Relation], key: Key, base: Key) -> Proof:
        outputs, values = self.programs[key].outputs, self.evaluations.values(key)
        comparisons = [
            Comparison(outputs[x.result], values[x.result], self.evaluations.related(x, key, base))
            for x in table
        ]
        name = base[1] if base[0] == MODEL else ".".join(base)
        claim = f"{self._subject(key)} = {_in_words(table, name)}"
        return self._proof(claim, comparisons, key, base)

    def _subject(self, key: Key) -> str:
        """The left side of a claim: the formulation, and the composition of its results, if any."""
        is_plain = self.programs[key].function == key[1]
        return key[0] if is_plain else f"{key[0]}: {key[1]}"

    def _keys(self, function: str) -> list[Key]:
        return [key for key in self.programs if key[1] == function]

    def _proof(
        self, claim: str, comparisons: Sequence[Comparison], key: Key, reference: Key
    ) -> Proof:
        program = self.programs[key]
        entries = sum(len(comparison.values) for comparison in comparisons)
        wrong = [(c, k) for c in comparisons for k in c.wrong]
        if not wrong:
            return Proof(program.function, claim, entries, None)
        first, place = earliest(program, [c.output.entries[k] for c, k in wrong])
        output, position = wrong[first][0].output, wrong[first][1]
        places = [place]
        statements = [self._wrong_statement(key), self._wrong_statement(reference)]
        exact = any(statements)
        if exact:
            places = statements
        elif key[1] == reference[1]:
            number = program.outputs.index(output)
            entry = self.programs[reference].outputs[number].entries[position]
            places.append(earliest(self.programs[reference], [entry])[1])
        index = np.unravel_index(position, output.shape) if output.shape else ()
        difference = Difference(
            output.name,
            tuple(int(i) for i in index),
            len(wrong),
            tuple(place for place in places if place is not None),
            exact,
        )
        return Proof(program.function, claim, entries, difference)

    def _wrong_statement(self, key: Key) -> Location | None:
        """Return the first statement of a program that contradicts its formulation."""
        if key not in self._wrong_statements:
            moved = self.evaluations.on_manifolds
            self._wrong_statements[key] = _wrong_statement(key, self.programs, moved)
        return self._wrong_statements[key]


def _wrong_statement(key: Key, programs: Programs, moved: Displacements | None) -> Location | None:
    program = programs[key]
    formulation, function = key[0], program.function  # a composition is about its first source
    places = [_located(partial(first_wrong_derivative, program, displacements=moved))]
    relatives = (name for group in SAME_STATEMENTS if function in group for name in group)
    for name in dict.fromkeys(relatives):
        if name != function and (formulation, name) in programs:
            relative = programs[formulation, name]
            places.append(_located(partial(first_difference, program, relative)))
    for rerun in RERUNS:
        pair = (rerun.function, rerun.base)
        if function in pair and all((formulation, name) in programs for name in pair):
            places.append(first_difference_by_rerun(key, rerun, programs))
    order = {statement.name: k for k, statement in enumerate(program.statements)}
    located = [place for place in places if place is not None]
    return min(located, key=lambda place: order[place.statement], default=None)


def first_difference_by_rerun(key: Key, rerun: Rerun, programs: Programs) -> Location | None:
    """Locate the first statement of a program that differs from its counterpart in `rerun`.

    None, too, if gravity should be 0 but is a number, an expression or a divisor.
    """
    formulation, program = key[0], programs[key]
    weight = gravity_symbols(programs) if WEIGHT in rerun.at_zero else []
    if weight is None:
        return None
    zeros = [*symbols(programs[formulation, rerun.base], *rerun.at_zero), *weight]
    first, again = (rerun.base, ""), (rerun.function, rerun.suffix)
    is_first = program.function == rerun.base
    pair = (first, again) if is_first else (again, first)
    (_, ending), (counterpart_name, reference_ending) = pair
    counterpart, ends = programs[formulation, counterpart_name], (ending, reference_ending)
    return _located(partial(first_difference, program, counterpart, endings=ends, zeros=zeros))


def _located(search: Callable[[], Location | None]) -> Location | None:
    """Return the result of `search`; None also if a statement has no value at random points."""
    try:
        return search()
    except (ZeroDivisionError, NotASquareError, RequestError):
        return None


def _in_words(table: Sequence[Relation], base: str) -> str:
    inputs = list(dict.fromkeys(relation.by for relation in table if relation.by))
    if inputs:
        return f"slopes by {inputs[0]} of {base}" if len(inputs) == 1 else f"slopes of {base}"
    zeros = dict.fromkeys(name for relation in table for name in relation.at_zero)
    return f"{base}{' at ' if zeros else ''}{', '.join(f'{name} = 0' for name in zeros)}"
