"""`symgen compare --family`: growth of the formulations with the number of joints.

For every robot of a family (`symgen.comparing.families`) and every formulation: operations before
and after common subexpressions are shared, named temporaries, seconds of the derivation.  From
these an exponent p of cost ~ n^p for every formulation, fitted by least squares to the logarithms
for n from half of the largest; and the crossings, the largest n at which the closed form needs
fewer operations than a recursion.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from symgen.algebra.graph import Graph
from symgen.comparing.families import MOST_JOINTS, check_size, member
from symgen.deriving.derivation import derived_program
from symgen.errors import RequestError
from symgen.formulations import FORMULATIONS, formulations_named
from symgen.kinematics.tree import build_tree
from symgen.optimize.operations import operations_after, operations_before
from symgen.options import ALL, DEFAULT
from symgen.program.functions import FUNCTION_NAMES, function_named
from symgen.support.journal import Journal
from symgen.support.suggestions import suggestion

MAIN_FUNCTIONS = (
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "forward_dynamics",
    "forward_dynamics_derivatives",
)
"""Functions by default: with and without derivatives."""


def main_functions(closed: bool) -> tuple[str, ...]:
    """Return the main functions of a tree, or of a `closed` mechanism, without accelerations."""
    return tuple(x for x in MAIN_FUNCTIONS if not (closed and function_named(x).solves))


LARGEST = 300_000
"""Largest estimated number of operations; larger programs are left out."""

LEAST_POINTS = 3
"""Least number of sizes for a slope."""

CLOSED = "closed_form_lagrange"

PUBLISHED = {
    "closed_form_lagrange": (66_271, 51_548),
    "recursive_lagrange": (4_388, 3_586),
    "newton_euler": (852, 738),
}
"""Published multiplications and additions of the torques of a general chain of `PUBLISHED_N`
joints: Hollerbach 1980, as quoted by later authors (docs/operation_counts.md)."""

PUBLISHED_N = 6


@dataclass(frozen=True)
class Size:
    """A function by one formulation for n joints; operations of all kinds together."""

    function: str
    formulation: str
    n: int
    expanded: int
    operations: int
    multiplications: int
    temporaries: int
    derive_seconds: float


@dataclass(frozen=True)
class Crossing:
    """Largest size `n` at which the closed form needs fewer operations than `formulation`, or 0."""

    function: str
    formulation: str
    n: int


@dataclass(frozen=True)
class Growth:
    """Sizes of a family, with exponents by function and formulation, and crossings."""

    family: str
    joints: tuple[int, ...]
    sizes: tuple[Size, ...]
    exponents: dict[str, dict[str, float]]
    crossings: tuple[Crossing, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the growth as plain data."""
        return asdict(self)

    def of(self, function: str, formulation: str) -> list[Size]:
        """Return the sizes of one curve, in the order of n."""
        return [x for x in self.sizes if (x.function, x.formulation) == (function, formulation)]

    @property
    def beside_published(self) -> list[tuple[str, int, int]]:
        """Formulation, its operations for the torques of 6 joints, and the published number."""
        return [
            (x.formulation, x.operations, sum(PUBLISHED[x.formulation]))
            for x in self.sizes
            if (x.function, x.n) == (MAIN_FUNCTIONS[0], PUBLISHED_N) and x.formulation in PUBLISHED
        ]

    def torques(self, n: int) -> list[Size]:
        """Return sizes of the torques of `n` joints, the fewest operations first."""
        sizes = [x for x in self.sizes if (x.function, x.n) == (MAIN_FUNCTIONS[0], n)]
        return sorted(sizes, key=lambda x: x.operations)


def parse_range(text: str) -> tuple[int, ...]:
    """Return the numbers of joints in ``1..12``, ``6`` or ``2,4,8``; `RequestError` for others."""
    parts = text.split("..")
    try:
        if len(parts) == 2:
            first, last = map(int, parts)
            numbers = tuple(range(first, min(last, MOST_JOINTS + 1) + 1))
        else:
            numbers = tuple(sorted({int(word) for word in text.split(",")}))
    except ValueError:
        numbers = ()
    if not numbers:
        raise RequestError(f"--joints: expected a range such as 1..12, or 2,4,8; found {text!r}")
    for n in (numbers[0], numbers[-1]):
        check_size(n)
    return numbers


def grow(
    family: str, joints: Sequence[int], formulations: Sequence[str], functions: Sequence[str],
    journal: Journal,
) -> Growth:  # fmt: skip
    """Derive every function by every formulation for every size, and compare.

    `formulations` and `functions` are names, among which may be ``default`` and ``all``.
    """
    chosen = formulations_named(formulations)
    wanted = _functions(functions)
    sizes: list[Size] = []
    for done, n in enumerate(joints):
        description = member(family, n)
        tree = build_tree(description, Graph())
        for formulation in chosen:
            if formulation.why_not(tree):
                continue
            for function in filter(formulation.functions.__contains__, wanted):
                if formulation.operations(tree, function) > LARGEST:
                    continue
                what = f"derive: {formulation.name}.{function} of {n} joints"
                journal.progress(what, done, len(joints))
                start = time.perf_counter()
                program = derived_program(description, formulation, function)
                seconds = time.perf_counter() - start
                shared = operations_after(program.results)
                sizes.append(
                    Size(
                        function, formulation.name, n, operations_before(program.results).total,
                        shared.total, shared.multiplications, len(program.statements), seconds,
                    )
                )  # fmt: skip
    if not sizes:
        raise RequestError(
            "none of these formulations has any of these functions, at a size that is of use"
        )
    order = [item.name for item in FORMULATIONS]
    sizes.sort(key=lambda x: (wanted.index(x.function), order.index(x.formulation), x.n))
    return Growth(family, tuple(joints), tuple(sizes), _exponents(sizes), _crossings(sizes))


def _functions(names: Sequence[str]) -> list[str]:
    candidates = [name for name in FUNCTION_NAMES if not function_named(name).needs]
    if ALL in names:
        return candidates
    usual = MAIN_FUNCTIONS if DEFAULT in names else ()
    named = [name for name in names if name != DEFAULT]
    for name in named:
        if name not in candidates:
            raise RequestError(
                f"no function of these robots is called {name!r}; {suggestion(name, candidates)}"
            )
    return list(dict.fromkeys([*usual, *named]))


def _exponents(sizes: Sequence[Size]) -> dict[str, dict[str, float]]:
    """Return slopes of log operations over log n, upper half of n, by function and formulation."""
    exponents: dict[str, dict[str, float]] = {}
    for function, formulation in dict.fromkeys((x.function, x.formulation) for x in sizes):
        curve = [x for x in sizes if (x.function, x.formulation) == (function, formulation)]
        upper = [x for x in curve if x.n >= curve[-1].n / 2 and x.operations > 0]
        if len(upper) >= LEAST_POINTS:
            n, operations = np.log([(x.n, x.operations) for x in upper]).T
            slope = np.polyfit(n, operations, 1)[0]
            exponents.setdefault(function, {})[formulation] = round(float(slope), 3)
    return exponents


def _crossings(sizes: Sequence[Size]) -> tuple[Crossing, ...]:
    """Return crossings of the closed form with every formulation of the same function."""
    by_curve = {(x.function, x.formulation, x.n): x.operations for x in sizes}
    pairs = dict.fromkeys((x.function, x.formulation) for x in sizes if x.formulation != CLOSED)
    crossings = []
    for function, formulation in pairs:
        common = [
            n
            for f, name, n in by_curve
            if (f, name) == (function, CLOSED) and (function, formulation, n) in by_curve
        ]
        if common:
            rival = function, formulation
            cheaper = [n for n in common if by_curve[function, CLOSED, n] < by_curve[*rival, n]]
            crossings.append(Crossing(function, formulation, max(cheaper, default=0)))
    return tuple(crossings)
