"""What equations cost as they are written on a page: the count that a reader makes with a pencil.

Programs are counted elsewhere (`symgen.optimize.operations`): the closed form there is derived from
4x4 matrices, link by link, and never collected into the terms that a page prints.  Here SymPy's
expressions are counted as they stand: a product of k factors has k - 1 multiplications, a power of
k too, a sum of k terms k - 1 additions; a change of sign is free, and every sine or cosine is
computed once, as the abbreviations of the page say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy

from symgen.optimize.operations import OperationCount


@dataclass(frozen=True)
class WrittenCost:
    """Operations of printed equations: term by term, and with what they share computed once."""

    as_printed: OperationCount
    shared: OperationCount
    temporaries: int


def cost_as_written(entries: Iterable[Any], waves: Mapping[Any, Any]) -> WrittenCost:
    """The cost of `entries`, in which the names in `waves` abbreviate sines and cosines."""
    results = list(entries)
    used = sympy.Tuple(*results).free_symbols
    abbreviated = _count([wave for name, wave in waves.items() if name in used])
    temporaries, rest = sympy.cse(results)
    common = _count([value for _, value in temporaries])
    return WrittenCost(
        as_printed=abbreviated + _count(results),
        shared=abbreviated + common + _count(rest),
        temporaries=len(temporaries) + sum(name in used for name in waves),
    )


def _count(expressions: Iterable[Any]) -> OperationCount:
    return sum(map(_of, expressions), OperationCount())


def _of(expression: Any) -> OperationCount:
    if expression.is_Atom:
        return OperationCount()
    if expression.is_Add:
        return _count(expression.args) + OperationCount(additions=len(expression.args) - 1)
    above, below = sympy.fraction(expression) if expression.is_Mul else (expression, sympy.S.One)
    if below.free_symbols:
        return _of(above) + _of(below) + OperationCount(divisions=1)
    if expression.is_Mul:
        factors = [factor for factor in expression.args if factor != -1]
        return _count(factors) + OperationCount(multiplications=len(factors) - 1)
    if expression.is_Pow and expression.exp.is_Integer:
        base, times = expression.base, abs(int(expression.exp)) - 1
        return _of(base) + OperationCount(0, times, int(bool(expression.exp < 0)))
    return _count(expression.args) + OperationCount(functions=1)
