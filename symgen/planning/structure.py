"""Where entries of sparse matrices stand, worked out once; the numbers change at every iterate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclass(frozen=True)
class Pattern:
    """Entries of a matrix column by column, (rows[k], columns[k]) without repetition.

    `order` takes the entries as they were given to their places: several may share one, and add up.
    """

    shape: tuple[int, int]
    rows: Index
    columns: Index
    order: Index

    @property
    def size(self) -> int:
        """Number of entries."""
        return len(self.rows)

    def summed(self, values: Array) -> Array:
        """The entries, from values in the order in which their places were given."""
        if len(self.order) == self.size:  # nothing to add up
            found = np.empty(self.size)
            found[self.order] = values
            return found
        return np.asarray(np.bincount(self.order, values, self.size), dtype=float)


def pattern(shape: tuple[int, int], rows: Index, columns: Index) -> Pattern:
    """The pattern with entries at these places."""
    keys, order = np.unique(columns * shape[0] + rows, return_inverse=True)
    return Pattern(shape, keys % shape[0], keys // shape[0], order.reshape(-1))
