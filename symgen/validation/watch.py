"""Progress of a validation: the comparisons as they are made, and how many parts are done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count

from symgen.support.journal import Progress
from symgen.validation.evaluation import Check


def parts(progress: Progress, total: int) -> Callable[[Iterable[Check]], Iterator[Check]]:
    """A function that passes on the rows of one of `total` parts, and tells of each row."""
    number = count()

    def rows_of(rows: Iterable[Check]) -> Iterator[Check]:
        done = next(number)
        for row in rows:
            progress(f"validate: {row.subject}: {row.name}", done, total)
            yield row

    return rows_of
