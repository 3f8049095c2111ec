"""Readable forms of SymPy expressions.

`fourier` is a canonical form: a sum of terms with at most one sine or cosine of a sum of angles.
Polynomials in sines and cosines of symbols are equal if and only if their canonical forms are (but
constants inside an angle, as in sin(q + pi/3), are not expanded).  `readable` starts from it and
factors it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import sympy

Expr = Any
_LARGEST_DENOMINATOR, _LARGEST_OF_PERIODIC = 16, 360
_MOST_CONSTANT_ANGLES = 2
_DIGITS = 17
_LOAD_PARTS = ("fx", "fy", "fz", "nx", "ny", "nz")
_LIKE_AN_INPUT = re.compile(rf"(q|qd|qdd)_\d+$|.*_({'|'.join(_LOAD_PARTS)})$")
_WORD = re.compile(r"(?!d[A-Za-z]\d*$)([A-Za-z]{2,})(\d*)")  # dx is a differential, no word
_Waves = dict[tuple[str, Expr], Expr]
"""(``sin`` or ``cos``, angle) -> coefficient"""


@lru_cache(maxsize=4096)
def fourier(expression: Expr) -> Expr:
    """Return the canonical form of a polynomial in sines, cosines and symbols."""
    total: _Waves = {}
    for term in sympy.Add.make_args(sympy.expand(expression)):
        for wave, coefficient in _waves_of(term).items():
            total[wave] = total.get(wave, sympy.S.Zero) + coefficient
    functions = {"sin": sympy.sin, "cos": sympy.cos}
    return sympy.Add(*(sympy.expand(functions[f](x) * total[f, x]) for f, x in total))


def _waves_of(term: Expr) -> _Waves:
    waves: _Waves = {("cos", sympy.S.Zero): sympy.S.One}
    rest = []
    for factor in sympy.Mul.make_args(term):
        base, exponent = factor.as_base_exp()
        if base.func in (sympy.sin, sympy.cos) and exponent.is_Integer and exponent > 0:
            for _ in range(int(exponent)):
                waves = _times(waves, base)
        else:
            rest.append(factor)
    coefficient = sympy.Mul(*rest)
    return {wave: value * coefficient for wave, value in waves.items()}


def _times(waves: _Waves, factor: Expr) -> _Waves:
    """Product to sum: every wave times one sine or cosine."""
    b = factor.args[0]
    product: _Waves = {}
    for (kind, a), value in waves.items():
        half = value / 2
        if kind == "cos" and factor.func is sympy.cos:
            parts = (("cos", a - b, half), ("cos", a + b, half))
        elif kind == "sin" and factor.func is sympy.cos:
            parts = (("sin", a + b, half), ("sin", a - b, half))
        elif kind == "cos":
            parts = (("sin", a + b, half), ("sin", a - b, -half))
        else:
            parts = (("cos", a - b, half), ("cos", a + b, -half))
        for new_kind, angle, coefficient in parts:
            if angle.could_extract_minus_sign():
                angle = -angle
                coefficient = -coefficient if new_kind == "sin" else coefficient
            wave = (new_kind, angle)
            product[wave] = product.get(wave, sympy.S.Zero) + coefficient
    return {wave: value for wave, value in product.items() if value != 0}


def readable(
    expression: Expr, motion: Collection[Expr] = (), quaternions: Sequence[Sequence[Expr]] = ()
) -> Expr:
    """Return the expression in a readable form, grouped by motion and factored.

    `motion` are the symbols of velocities, accelerations and load components; terms with the same
    product of them are grouped.  Sums of angles suit planar robots, products of sines and cosines
    spatial ones: the shorter form is returned.  `quaternions` are symbols x y z w of length 1.
    """
    expression = _with_few_constants(expression)
    forms = [fourier(expression), with_cosine_squares(expression)]
    present = [entries for entries in quaternions if expression.has(*entries)]
    forms += [with_unit_norms(form, present) for form in forms] if present else []
    grouped = (_grouped(form, frozenset(motion)) for form in forms)
    return min(grouped, key=lambda form: sympy.count_ops(form))


def _with_few_constants(expression: Expr) -> Expr:
    """Evaluate sines and cosines of numbers unless they are few, to avoid unreadable products such
    as cos(1/10)*cos(1/5)*sin(3/10)."""
    waves = [x for x in expression.atoms(sympy.sin, sympy.cos) if x.is_number]
    if len({x.args[0] for x in waves}) <= _MOST_CONSTANT_ANGLES:
        return expression
    return expression.xreplace({x: x.evalf(_DIGITS) for x in waves})


def with_cosine_squares(expression: Expr) -> Expr:
    """Expand the expression, and replace sin^2 by 1 - cos^2."""
    expanded = sympy.expand(expression)
    for wave in sorted(expanded.atoms(sympy.sin), key=sympy.default_sort_key):
        square = 1 - sympy.cos(wave.args[0]) ** 2
        expanded = _reduced(expanded, wave, square)
    return expanded


def with_unit_norms(expression: Expr, quaternions: Iterable[Sequence[Expr]]) -> Expr:
    """Expand the expression, and replace w^2 of every quaternion by 1 - x^2 - y^2 - z^2."""
    expanded = sympy.expand(expression)
    for x, y, z, w in quaternions:
        expanded = _reduced(expanded, w, 1 - x**2 - y**2 - z**2)
    return expanded


def _reduced(expanded: Expr, variable: Expr, square: Expr) -> Expr:
    """Replace even powers of `variable` by powers of its `square`."""
    terms = []
    for term in sympy.Add.make_args(expanded):
        exponent = _factors(term).get(variable, 0)
        terms.append(term / variable ** (exponent - exponent % 2) * square ** (exponent // 2))
    return sympy.expand(sympy.Add(*terms))


def _grouped(expanded: Expr, motion: Collection[Expr]) -> Expr:
    groups: dict[Expr, list[Expr]] = {}
    for term in sympy.Add.make_args(expanded):
        factors = sympy.Mul.make_args(term)
        moving = sympy.Mul(*(f for f in factors if f.as_base_exp()[0] in motion))
        groups.setdefault(moving, []).append(term / moving)
    ordered = sorted(groups, key=sympy.default_sort_key)
    return sympy.Add(*(moving * _factored(groups[moving]) for moving in ordered))


def _factored(terms: list[Expr]) -> Expr:
    """Return the sum of `terms`, grouped by shared factors, with common factors pulled out."""
    shared = _most_shared_factor(terms)
    if shared is None:
        return sympy.Add(*terms)
    inside = [_factors(term) for term in terms if shared in _factors(term)]
    common = sympy.Mul(*(x ** min(y.get(x, 0) for y in inside) for x in inside[0]))
    sharing = sympy.Add(*(term / common for term in terms if shared in _factors(term)))
    outside = [term for term in terms if shared not in _factors(term)]
    return sympy.Mul(common, sharing) + (_factored(outside) if outside else sympy.S.Zero)


def _most_shared_factor(terms: list[Expr]) -> Expr | None:
    if len(terms) < 2:
        return None
    uses: dict[Expr, int] = {}
    largest: dict[Expr, int] = {}
    for term in terms:
        for factor, exponent in _factors(term).items():
            uses[factor] = uses.get(factor, 0) + 1
            largest[factor] = max(largest.get(factor, 0), exponent)
    candidates = [factor for factor, count in uses.items() if count > 1]
    if not candidates:
        return None
    return min(
        candidates, key=lambda f: (-uses[f], largest[f], not f.is_Symbol, sympy.default_sort_key(f))
    )


def _factors(term: Expr) -> dict[Expr, int]:
    """Return the exponents of the symbols and functions in a product."""
    exponents: dict[Expr, int] = {}
    for factor in sympy.Mul.make_args(term):
        base, exponent = factor.as_base_exp()
        if not base.is_number and exponent.is_Integer and exponent > 0:
            exponents[base] = int(exponent)
    return exponents


_LIKE_A_WAVE = re.compile(r"[sc]_?\d+")


def with_short_waves(
    value: Expr, q: Sequence[Expr], names: Collection[str] = ()
) -> tuple[Expr, dict[Expr, Expr]]:
    """Abbreviate sines and cosines of sums of coordinates as ``s_12``, ``c_1``; return both.

    `value` is an expression or a matrix.  If one of its symbols, or of the `names` on the same
    page, looks like an abbreviation when it is typeset (``s1``), nothing is abbreviated.
    """
    taken = {symbol.name for symbol in value.free_symbols} | {*names}
    if any(map(_LIKE_A_WAVE.fullmatch, taken)):
        return value, {}
    numbers = {symbol: str(number) for number, symbol in enumerate(q, start=1)}
    short: dict[Expr, Expr] = {}
    for wave in value.atoms(sympy.sin, sympy.cos):
        subscript = _sum_of_numbers(wave.args[0], numbers)
        if subscript:
            letter = "s" if wave.func is sympy.sin else "c"
            short[wave] = sympy.Symbol(f"{letter}_{subscript}", real=True)
    return value.xreplace(short), {symbol: wave for wave, symbol in short.items()}


def _sum_of_numbers(angle: Expr, numbers: Mapping[Expr, str]) -> str:
    """``12`` for q_1 + q_2, ``1-2`` for their difference; empty for any other angle."""
    terms = []
    for term in sympy.Add.make_args(angle):
        sign, symbol = ("-", -term) if term.could_extract_minus_sign() else ("", term)
        if symbol not in numbers:
            return ""
        terms.append((numbers[symbol], sign))
    terms.sort(key=lambda term: (len(term[0]), term[0]))
    between = "," if any(len(number) > 1 for number, _ in terms) else ""
    return between.join(f"{sign}{number}" for number, sign in terms)


def with_decimals(expression: Expr) -> Expr:
    """Replace fractions with large denominators by decimal numbers, for display only."""
    fractions = {
        number: _decimal(float(number))
        for number in expression.atoms(sympy.Rational)
        if number.q > (_LARGEST_OF_PERIODIC if _is_periodic(number.q) else _LARGEST_DENOMINATOR)
    }
    return expression.xreplace(fractions)


def _is_periodic(denominator: int) -> bool:
    return pow(10, denominator.bit_length(), denominator) != 0


def _decimal(value: float) -> Expr:
    """Return the Float with the shortest digits of `value`."""
    text = repr(value)
    mantissa = text.lower().partition("e")[0]
    digits = mantissa.replace(".", "").replace("-", "").lstrip("0")
    return sympy.Float(text, max(len(digits), 1))


def latex_names(inputs: Mapping[str, Sequence[Expr]], symbols: Iterable[Expr]) -> dict[Expr, str]:
    """Return the LaTeX of symbols: dots for rates, components of loads, subscripts of temporaries.

    `inputs` maps ``q``, ``qd``, ``qdd``, ``loads`` to their symbols.  Parameters that look like
    inputs, and words of several letters, which look like products, are set upright.
    """
    names: dict[Expr, str] = {}
    for rate, dotted in (("q", "q"), ("qd", r"\dot{q}"), ("qdd", r"\ddot{q}")):
        for number, label in enumerate(inputs.get(rate, ()), start=1):
            names[label] = f"{dotted}_{{{number}}}"
    for position, label in enumerate(inputs.get("loads", ())):
        part = _LOAD_PARTS[position % len(_LOAD_PARTS)]
        load = label.name.partition(f"_{part}")[0].replace("_", r"\_")
        names[label] = f"{part[0]}_{{{part[1]}}}^{{\\mathrm{{{load}}}}}"
    for label in symbols:
        if label in names:
            continue
        if _LIKE_AN_INPUT.match(label.name):
            upright = label.name.replace("_", r"\_")
            names[label] = rf"\mathrm{{{upright}}}"
        elif "_" in label.name or _WORD.fullmatch(label.name):
            names[label] = _subscripted(*label.name.split("_"))
    return names


def _subscripted(head: str, *subscripts: str) -> str:
    """Typeset a temporary such as ``omega_2_z`` or ``f_1_from_2_x`` with its subscripts."""
    symbol_text = _letters(head) if head else r"\\_"
    parts = [
        part if part.isdigit() or len(part) <= 2 else rf"\mathrm{{{part}}}"
        for part in subscripts
        if part
    ]
    if not parts:
        return symbol_text
    base = f"{{{symbol_text}}}" if "_{" in symbol_text else symbol_text  # one subscript at a time
    return f"{base}_{{{','.join(parts)}}}"


def _letters(head: str) -> str:
    """Typeset a letter in italics (or as a Greek one), a word upright."""
    word = _WORD.fullmatch(head)
    if word and sympy.latex(sympy.Symbol(word[1])) == word[1]:
        return rf"\mathrm{{{word[1]}}}" + (f"_{{{word[2]}}}" if word[2] else "")
    return str(sympy.latex(sympy.Symbol(head)))
