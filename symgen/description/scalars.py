"""The values of expressions at the parameters' values, and what can be wrong with them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from symgen import rounding
from symgen.description.expressions import (
    ZERO,
    EvaluationError,
    Expression,
    Name,
    evaluate,
)
from symgen.description.findings import Findings
from symgen.description.leaves import Number
from symgen.description.model import Triple
from symgen.description.wording import KeyPath, shown

_NOT_FINITE = ("nan", "inf", "infinity")
ORIGIN: Triple = (ZERO, ZERO, ZERO)
_QUARTER = math.pi / 2
_MOST_QUARTERS = 4  # beyond a full turn nobody writes rounded angles
_NEAR = 1e-4  # relative: 1.5708 and 3.1416 are meant, 1.57 may be a measured angle


class Scalars:
    """Evaluates the expressions of a file, each at its place, and reports what goes wrong.

    `values` lacks the parameters that are faulty themselves: what builds on those is not
    evaluated, so that their faults are reported once.  `trusted` is False where the parameters
    could not be read at all, so that no name can be called unknown.
    """

    def __init__(self, findings: Findings, known: Mapping[str, KeyPath], trusted: bool) -> None:
        self.findings = findings
        self.known = known
        self.trusted = trusted
        self.values: dict[str, float] = {}
        self.used: set[str] = set()  # only asked for membership

    def names_are_known(self, path: KeyPath, expression: Expression) -> bool:
        """Report every name of `expression` that is no parameter."""
        self.used.update(expression.names)
        unknown = [name for name in expression.names if name not in self.known]
        for name in unknown if self.trusted else ():
            if name.lower() in _NOT_FINITE:
                self.findings.fault(path, f"{shown(name)} is not a finite number")
                continue
            hint = self.findings.did_you_mean(name, self.known)
            hint = hint or "; expected a parameter of this file, pi or deg"
            self.findings.fault(path, f"unknown name {shown(name)}{hint}")
        return not unknown

    def value(self, path: KeyPath, expression: Number) -> float | None:
        """The value of an expression (0 where none is given), or None where it has none."""
        expression = expression or ZERO
        if not self.names_are_known(path, expression):
            return None
        if any(name not in self.values for name in expression.names):
            return None
        try:
            return evaluate(expression, self.values)
        except EvaluationError as error:
            self.findings.fault(path, f"{shown(expression.text)}: {error}")
            return None

    def angle(self, path: KeyPath, expression: Number) -> None:
        """Check an angle (rad), and warn where it looks like a rounded multiple of pi/2."""
        value = self.value(path, expression)
        quarters = 0 if value is None else round(value / _QUARTER)
        if value is None or not 0 < abs(quarters) <= _MOST_QUARTERS:
            return
        exact = quarters * _QUARTER
        error = abs(value - exact)
        if rounding.quarter_turns(value) is None and error <= _NEAR * abs(exact):
            root = expression.root if expression else None
            if isinstance(root, Name) and root.name in self.known:
                path = self.known[root.name]  # the number itself stands there
            self.findings.warn(
                path,
                f"the angle {value:.17g} is near {_multiple(quarters)} but "
                f"not equal to it; write '{_multiple(quarters)}' if that is "
                "meant, so that its sine and cosine become exact",
            )

    def triple(
        self, path: KeyPath, entries: tuple[Number, Number, Number] | None
    ) -> tuple[float, float, float] | None:
        """The values of a vector (zero where none is given), or None where one has none."""
        x, y, z = entries or (None, None, None)
        values = [self.value((*path, index), entry) for index, entry in enumerate((x, y, z))]
        if values[0] is None or values[1] is None or values[2] is None:
            return None
        return values[0], values[1], values[2]


def vector(entries: tuple[Number, Number, Number] | None, default: Triple = ORIGIN) -> Triple:
    """A vector of expressions; what is not given is taken from `default`."""
    if entries is None:
        return default
    x, y, z = entries
    return x or default[0], y or default[1], z or default[2]


def _multiple(quarters: int) -> str:
    sign = "-" if quarters < 0 else ""
    return sign + {1: "pi/2", 2: "pi", 3: "3*pi/2", 4: "2*pi"}[abs(quarters)]
