"""Scalars of a builder as numbers, with the derivatives that `differentiate` finds of them."""

import numpy as np

from symgen.algebra.evaluation import evaluate
from symgen.algebra.spatial import Spatial
from symgen.program.differentiation import differentiate


def entries_of(scalars):
    """A list; 6-vectors are [linear; angular], as papers and modules have them."""
    return list(scalars.linear_first if isinstance(scalars, Spatial) else scalars)


class Differentiated:
    """All that is written, differentiated by some inputs.

    `rates` are pairs of an input and the rates of its entries: how these vary with time."""

    def __init__(self, b, inputs, rates, values):
        self.values, self.zero, start = values, b.algebra.zero, 0
        self.slopes, self.places = differentiate(b, inputs), {}
        for array in inputs:
            self.places[array.name] = range(start, start := start + len(array.symbols))
        self.moving = [
            (place, rate)
            for name, given in rates
            for place, rate in zip(self.places[name], given, strict=True)
        ]

    def of(self, scalars):
        """Their values."""
        return np.array(evaluate(entries_of(scalars), self.values))

    def matrix(self, scalars):
        """Those of a 3x3 matrix."""
        return self.of(scalars.entries).reshape(3, 3)

    def rows(self, scalars, name):
        """Derivatives by an input, as scalars: a row for each."""
        rows = [self.slopes.of(x) for x in entries_of(scalars)]
        return [[row.get(k, self.zero) for k in self.places[name]] for row in rows]

    def by(self, scalars, name):
        """The same as numbers."""
        rows = self.rows(scalars, name)
        entries = self.of([entry for row in rows for entry in row])
        return entries.reshape(len(rows), len(self.places[name]))

    def rate(self, x):
        """The derivative of a scalar by time."""
        row, found = self.slopes.of(x), self.zero
        for place, rate in self.moving:
            if place in row:
                found = found + row[place] * rate
        return found
