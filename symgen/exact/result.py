"""Results of the exact check: proven identities, and differences with their locations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from symgen.algebra.prime_field import BITS
from symgen.errors import ValidationError
from symgen.exact.location import Location

LARGEST_PROBABILITY = 1e-12
"""Largest probability of missing a difference that still counts as a proof."""

SMALLEST_PROBABILITY = 1e-300
"""Smaller probabilities are not distinguished."""


@dataclass(frozen=True)
class Difference:
    """The first of `count` entries that differ, and the statements where the difference begins.

    `index` counts from 0.  With `exact`, `locations` holds the first wrong statement; else the
    first result that differs by each formulation, in the order of its recursion.
    """

    output: str
    index: tuple[int, ...]
    count: int
    locations: tuple[Location, ...]
    exact: bool

    def __str__(self) -> str:
        entry = f"{self.output}[{', '.join(map(str, self.index))}]" if self.index else self.output
        text = f"{entry} differs" + (f", and {self.count - 1} more" if self.count > 1 else "")
        if not self.locations:
            return text
        lead = "first wrong statement" if self.exact else "first result that differs"
        return f"{text}; {lead}: " + "; ".join(map(str, self.locations))


@dataclass(frozen=True)
class Proof:
    """One claim about one function, and the difference if it fails."""

    function: str
    claim: str
    entries: int
    difference: Difference | None

    @property
    def holds(self) -> bool:
        """Whether no entry differs."""
        return self.difference is None

    def __str__(self) -> str:
        return f"{self.function}: {self.claim}: {self.difference or 'proven'}"


@dataclass(frozen=True)
class ExactResult:
    """All claims, and their certainty.

    `points` random points were used, each modulo a prime of `BITS` bits; `degree` bounds the
    probability that a difference hides at one of them.  `has_signs`: the functions have absolute
    values or signs, and a wrong sign hides at half of the points.  `left_out` gives the reasons why
    formulations or functions are missing.
    """

    robot: str
    rows: tuple[Proof, ...]
    left_out: Mapping[str, str]
    points: int
    degree: int
    has_signs: bool
    seconds: float

    @property
    def probability(self) -> float:
        """Upper bound of the probability that a difference was missed."""
        smallest_prime = 2 ** (BITS - 1)
        return math.pow(min(self.degree, smallest_prime) / smallest_prime, self.points)

    @property
    def conclusive(self) -> bool:
        """Whether the probability is small enough for a proof."""
        return self.probability <= LARGEST_PROBABILITY

    @property
    def passed(self) -> bool:
        """Whether every claim is proven."""
        return self.conclusive and not self.failures

    @property
    def failures(self) -> tuple[Proof, ...]:
        """The claims that do not hold."""
        return tuple(row for row in self.rows if not row.holds)

    @property
    def summary(self) -> str:
        """The result in one line."""
        if self.failures:
            return f"{len(self.failures)} of {len(self.rows)} identities do NOT hold"
        entries = sum(row.entries for row in self.rows)
        points = "1 random point" if self.points == 1 else f"{self.points} random points"
        where = f"at {points} modulo primes of {BITS} bits in {self.seconds:.1f} s"
        hidden = f"with probability below {max(self.probability, SMALLEST_PROBABILITY):.0e}"
        count = f"{len(self.rows)} identities of {entries:,} entries"
        if not self.conclusive:
            return (
                f"{count} hold {where}, which proves NOTHING: the degree of this model's equations "
                f"is so large that a difference would stay hidden {hidden}; ask for more --points"
            )
        sign = f", a wrong sign with {0.5**self.points:.0e}" if self.has_signs else ""
        return f"{count} proven {where}; a difference would stay hidden {hidden}{sign}"

    def raise_if_failed(self) -> None:
        """Raise `ValidationError` with every claim that does not hold."""
        if not self.passed:
            raise ValidationError("\n".join([self.summary, *map(str, self.failures)]), self)

    def as_json(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "passed": self.passed,
            "robot": self.robot,
            "points": self.points,
            "bits": BITS,
            "degree": self.degree,
            "has_signs": self.has_signs,
            "probability": self.probability,
            "seconds": round(self.seconds, 4),
            "left_out": dict(self.left_out),
            "identities": [{**asdict(row), "holds": row.holds} for row in self.rows],
        }
