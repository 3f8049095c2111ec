"""The wrong terms of an answer: both sides expanded and compared term by term.

The comparison is exact: coefficients are rational numbers, sin^2 is 1 - cos^2, the sine of a sum is
expanded, and w^2 of a quaternion is 1 - x^2 - y^2 - z^2.  An answer is not compared if it is no
polynomial of parameters, sines, cosines, coordinates and rates, or too long to be expanded.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, compress, product
from typing import Any

import sympy
from sympy.polys.polyerrors import BasePolynomialError

from symgen.description.expressions import Name, Node, Number, Operation

Expr = Any
MOST_TERMS = 20_000
"""Maximum number of terms of an answer, before like terms are collected."""
MOST_ANGLES = 12
"""Maximum number of angles in a cosine, multiples counted: expansion doubles the terms by each."""
MOST_COMBINED = 100
"""Maximum number of wrong terms up to which they are combined into sums of angles."""

_OF_FORMULAS = (1, 2, 4, 8)
"""Denominators of fractions in formulas of any robot."""
_LONGEST_FACTOR, _LONGEST_TERM = 40, 160
Squares = Mapping[int, tuple[int, ...]]
"""Index of a generator -> indices of the generators whose squares complement its square to 1."""

_RANK = {"+": 1, "-": 1, "neg": 2, "*": 3, "/": 3, "**": 4}


@dataclass(frozen=True)
class WrongTerm:
    """A term of an answer with a wrong factor.

    `written` is the summand of the answer with the term, "" if the term is missing; `product` is
    the term without its factor, `factor` the factor in the answer, `expected` the true one.
    """

    written: str
    product: Expr
    factor: Expr
    expected: Expr

    @property
    def slip(self) -> str:
        """The likely mistake, "" if the factor shows none."""
        return "a term is forgotten" if self.factor == 0 else self._ratio[0]

    @property
    def _ratio(self) -> tuple[str, str]:
        """Noun and sentence for the ratio of the factor to the true one."""
        if self.factor == -self.expected:
            return "a sign", "has the wrong sign"
        if 2 * self.factor == self.expected:
            return "a missing factor 2", "lacks a factor 2"
        if self.factor == 2 * self.expected:
            return "a factor 2 too many", "has a factor 2 too many"
        fraction, decimal = self.expected, self.factor
        near = abs(decimal - fraction) < abs(fraction) / 20
        if fraction.is_Rational and not is_decimal(fraction) and is_decimal(decimal) and near:
            return "a rounded number", f"is rounded (write fractions exactly: {fraction})"
        return "", f"should be {_term(self.expected, self.product)}"

    @property
    def words(self) -> str:
        """The mistake in words."""
        if self.factor == 0:
            return f"the term {_term(self.expected, self.product)} is missing"
        term, written = _term(self.factor, self.product), _short(self.written)
        term = f"the term {term}" if term == written else f"the term {term} (in {written})"
        return f"{term} {'does not belong there' if self.expected == 0 else self._ratio[1]}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_TERM else f"{text[: _LONGEST_TERM - 3]}..."


def _term(factor: Expr, product: Expr) -> str:
    """Return a term with its factor, truncated if very long."""
    if factor.is_number and _is_long(factor):
        factor = factor.evalf(5)
    number = str(float(factor)) if is_decimal(factor) else str(factor)
    before = {1: "", -1: "-"}.get(factor, f"{number}*")
    return _short(number if product == 1 else f"{before}{product}")


def _is_long(number: Expr) -> bool:
    """Whether a number has too many digits to be read, or to be printed at all."""
    digits = (abs(n) for x in number.atoms(sympy.Rational) for n in (x.p, x.q))
    return any(n >= 10**_LONGEST_FACTOR for n in digits) or len(str(number)) > _LONGEST_FACTOR


def is_decimal(x: Expr) -> bool:
    """Whether a number is a decimal that may be a measure: 0.35, but not 1/2, 2/3 or 1/180."""
    if not x.is_Rational:
        return bool(x.is_Float)
    return x.q not in _OF_FORMULAS and 10**18 % x.q == 0


def wrong_terms(
    summands: Sequence[tuple[str, Expr]],
    truth: Expr,
    size: int,
    quaternions: Sequence[tuple[Expr, ...]] = (),
    ignored: Collection[Expr] | None = None,
) -> list[WrongTerm]:
    """Find the wrong terms of an answer, in its order, then the missing terms.

    Args:
        summands: text and value of each summand of the answer.
        truth: the true value.
        size: number of terms of the answer.
        quaternions: symbols x y z w of unit quaternions.
        ignored: symbols; terms of these alone, and of numbers, are not compared.

    Returns:
        The terms; none if the two sides cannot be compared term by term.
    """
    if size > MOST_TERMS or not all(_are_plain(x) for x in (*(x for _, x in summands), truth)):
        return []
    *everything, truth = (sympy.expand_trig(x) for x in (*(x for _, x in summands), truth))
    generators, replaced = _generators([*everything, truth, *chain(*quaternions)])
    squares = _squares(generators, quaternions)
    try:
        parts = [_terms(x.xreplace(replaced), generators, squares) for x in everything]
        true = _terms(truth.xreplace(replaced), generators, squares)
    except BasePolynomialError:
        return []
    by_monomial: dict[tuple[int, ...], Expr] = {}
    for part in parts:
        for monomial, factor in part.items():
            by_monomial[monomial] = by_monomial.get(monomial, 0) + factor
    zero = sympy.S.Zero
    names = {x: x for x in generators} | {x: name for name, x in replaced.items()}
    compared = [not names[x].free_symbols <= {*(ignored or ())} for x in generators]
    wrong = [
        m
        for m in dict.fromkeys([*by_monomial, *true])
        if sympy.expand(by_monomial.get(m, zero) - true.get(m, zero)) != 0
        and (ignored is None or any(compress(m, compared)))
    ]
    sources: dict[tuple[int, ...], str] = {}
    for (written, _), part in zip(summands, parts, strict=True):
        for monomial in part:
            if by_monomial[monomial] != 0:
                sources.setdefault(monomial, written)
    products = {
        m: sympy.Mul(*(names[x] ** power for x, power in zip(generators, m, strict=True)))
        for m in sorted(wrong, key=lambda x: x not in sources)
    }
    return _with_sums_of_angles([
        WrongTerm(sources.get(m, ""), x, by_monomial.get(m, zero), true.get(m, zero))
        for m, x in products.items()
    ])  # fmt: skip


_A, _B = sympy.symbols("a b", cls=sympy.Dummy)
_SUMS = {
    x: sympy.expand_trig(x).as_coefficients_dict()
    for x in (f(_A + sign * _B) for f in (sympy.cos, sympy.sin) for sign in (1, -1))
}


def _with_sums_of_angles(terms: Sequence[WrongTerm]) -> list[WrongTerm]:
    """Combine terms by addition theorems, as c1 c2 - s1 s2 = cos(q1 + q2), in their order."""
    combined, place = {x.product: x for x in terms}, 0
    while place < len(combined) <= MOST_COMBINED:
        term = list(combined)[place]
        waves = [x for x in term.atoms(sympy.sin, sympy.cos) if x.free_symbols]  # angles
        place += 1
        for (first, second), wave in product(combinations(sorted(waves, key=str), 2), _SUMS):
            angles = {_A: first.args[0], _B: second.args[0]}
            remaining = term / (first * second)
            parts = {remaining * x.xreplace(angles): k for x, k in _SUMS[wave].items()}
            if first.args == second.args or not {term} <= parts.keys() <= combined.keys():
                continue
            sides = {(k * combined[x].factor, k * combined[x].expected) for x, k in parts.items()}
            number, total = (remaining * wave.xreplace(angles)).as_coeff_Mul()
            if len(sides) == 1 and total not in combined:
                source = max(combined[x].written for x in parts)
                combined[term] = WrongTerm(source, total, *(number * x for x in sides.pop()))
                kept = [y for x, y in combined.items() if x == term or x not in parts]
                combined, place = {x.product: x for x in kept}, 0
                break
    return [*combined.values()]


def cofunction(wave: Expr) -> Expr:
    """Return the cosine for a sine, and the sine for a cosine."""
    return (sympy.cos if isinstance(wave, sympy.sin) else sympy.sin)(wave.args[0])


def _are_plain(expression: Expr) -> bool:
    """Whether the angles in an expression are sums of few small multiples of symbols."""
    for wave in expression.atoms(sympy.sin, sympy.cos):
        count, rest = wave.args[0].as_coeff_Mul()
        parts = [(count * x).as_coeff_Mul() for x in sympy.Add.make_args(rest)]
        multiples = sum(math.ceil(abs(factor)) for factor, x in parts if x != 1)
        if multiples > MOST_ANGLES or rest.has(sympy.sin, sympy.cos):
            return False
    return True


def _generators(expressions: Sequence[Expr]) -> tuple[list[Expr], dict[Expr, Expr]]:
    """Symbols, then dummies for cosines and sines, two per angle; and the dummy of each."""
    angles = {x.args[0] for e in expressions for x in e.atoms(sympy.sin, sympy.cos)}
    waves = [wave(x) for x in sorted(angles, key=str) for wave in (sympy.cos, sympy.sin)]
    replaced = {x: sympy.Dummy(str(x)) for x in waves}
    symbols = {x for e in expressions for x in e.xreplace(replaced).free_symbols}
    free_symbols = sorted(symbols - set(replaced.values()), key=str)
    return [*free_symbols, *replaced.values()], replaced


def _squares(generators: Sequence[Expr], quaternions: Sequence[tuple[Expr, ...]]) -> Squares:
    """Squares to eliminate: of a sine, by the cosine before it, and of the w of a quaternion."""
    squares: dict[int, tuple[int, ...]] = {
        place: (place - 1,) for place, x in enumerate(generators) if x.name.startswith("sin(")
    }
    for entries in quaternions:
        *vector, w = (generators.index(x) for x in entries)
        squares[w] = tuple(vector)
    return squares


def _terms(
    expression: Expr, generators: Sequence[Expr], squares: Squares
) -> dict[tuple[int, ...], Expr]:
    """Map exponents of the generators to factors, with all `squares` eliminated."""
    if not generators:
        return {(): expression} if expression != 0 else {}
    terms: dict[tuple[int, ...], Expr] = {}
    for monomial, factor in sympy.Poly(expression, *generators).as_dict().items():
        for reduced, more in _without_squares(monomial, squares).items():
            terms[reduced] = terms.get(reduced, 0) + more * factor
    return dict(sorted(((m, x) for m, x in terms.items() if x != 0), reverse=True))


def _without_squares(monomial: tuple[int, ...], squares: Squares) -> dict[tuple[int, ...], int]:
    """Replace each of the `squares` in a monomial by 1 - a^2 - ..."""
    reduced = {monomial: 1}
    for place, components in squares.items():
        pairs, odd = divmod(monomial[place], 2)
        for _ in range(pairs):
            expanded: dict[tuple[int, ...], int] = {}
            for exponents, factor in reduced.items():
                for component in (None, *components):
                    changed = list(exponents)
                    changed[place] = odd
                    if component is not None:
                        changed[component] += 2
                    key, sign = tuple(changed), 1 if component is None else -1
                    expanded[key] = expanded.get(key, 0) + sign * factor
            reduced = expanded
    return reduced


def summands_of(root: Node) -> list[Node]:
    """Return the terms of the outermost sum, with their signs, in the order of the text."""
    if isinstance(root, Operation) and root.operator == "+":
        return [*summands_of(root.operands[0]), *summands_of(root.operands[1])]
    if isinstance(root, Operation) and root.operator == "-":
        right = [Operation("neg", (x,)) for x in summands_of(root.operands[1])]
        return [*summands_of(root.operands[0]), *right]
    return [root]


def written(node: Node, outer: int = 0) -> str:
    """Print an expression, with the parentheses that it needs."""
    if isinstance(node, Number):
        return f"{node.value:g}"
    if isinstance(node, Name):
        return node.name
    if node.operator not in _RANK:
        return f"{node.operator}({', '.join(written(x) for x in node.operands)})"
    rank = _RANK[node.operator]
    if node.operator == "neg":
        text = f"-{written(node.operands[0], rank)}"
    else:
        left, right = node.operands
        space = " " if rank == 1 else ""
        after = rank + (node.operator in "-/")
        first = min(rank, 2) if rank < 4 else rank + 1  # a sign in front needs no parentheses
        text = f"{written(left, first)}{space}{node.operator}{space}{written(right, after)}"
    return f"({text})" if rank < outer else text
