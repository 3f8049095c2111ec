"""Mathematics for a page: MathML, which browsers typeset and screen readers speak without scripts.

`mathml` takes the LaTeX that `symgen.showing.typesetting` writes.  `formula` takes an equation of a
formulation's notes, ``omega_j = omega_in_j + s qd_j``: symbols become mathematics, words stay
words, and lines can break between terms.
"""

from __future__ import annotations

import re
from html import escape, unescape
from xml.etree import ElementTree

from latex2mathml.converter import convert_to_element

_LETTERS = """
    alpha beta gamma delta epsilon theta lambda mu nu rho sigma tau phi psi omega
    Gamma Delta Theta Lambda Phi Psi Omega Upsilon
"""
GREEK = frozenset(_LETTERS.split())
_RATES = {"qd": r"\dot{q}", "qdd": r"\ddot{q}"}
_NAMES = frozenset({"com", "dx", "tr"})
"""Symbols of several letters."""
_DOTS = {"\u02d9": "\u2022", "\u00a8": "\u2022\u2022"}
"""Dots of derivatives in time, which are small, and those that a style sizes."""
DIGITS = 6
"""Largest number of digits of a decimal number."""
_FUNCTIONS = frozenset({"sin", "cos", "tan", "exp", "log", "tanh", "atan"})
_RELATIONS = {"x": r"\times", ".": r"\cdot", "<=": r"\le", "=": "=", "+": "+", "-": "-", "/": "/"}
_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<label>[A-Z]{2,}-\d+)|(?P<name>\d?[A-Za-z][A-Za-z0-9]*(?:_(?:[A-Za-z0-9*]+|\([A-Za-z0-9*]+\)))*)"
    r"|(?P<number>\d+(?:\.\d+)?)|(?P<power>\^(?:-?[A-Za-z0-9]+|\([^)]*\)))"
    r"|(?P<below>_(?:[A-Za-z0-9]+|\{[^}]*\}))|(?P<tail>'s\b)|(?P<mark><=|.)"
)
_WORD = re.compile(r"[A-Za-z]{2,}")
_ARTICLE = re.compile(r"a\s+(?!and\b|sum\b)[a-z]{3,}")
_NO_FACTOR = re.compile(r"x\s*(?:=|$)")


def mathml(latex: str, block: bool = False) -> str:
    """Return a formula in LaTeX as a ``math`` element."""
    root = convert_to_element(latex, display="block" if block else "inline")
    for element in root.iter():
        element.text = unescape(element.text) if element.text else None
    for element in list(root.iter()):
        _put_words_together(element)
        if element.text in _FUNCTIONS:  # apart from its argument
            element.tag = "mo"
            element.set("rspace", "0.17em")
        if dots := _DOTS.get(element.text or ""):
            element.text = dots
            element.set("class", "dots")
        _shorten(element)
        _set_brackets(element)
        _unwrap(element)
    for name in [name for name in root.attrib if name.startswith("xmlns")]:
        del root.attrib[name]
    if "align" in latex:
        root.set("class", "aligned")
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)


def _put_words_together(row: ElementTree.Element) -> None:
    """Join adjacent upright letters to one identifier, which is upright by default."""
    last: ElementTree.Element | None = None
    for child in list(row):
        upright = child.tag == "mi" and child.get("mathvariant") == "normal"
        if upright and last is not None:
            last.text = f"{last.text or ''}{child.text or ''}"
            row.remove(child)
        elif upright:
            last = child
        else:
            last = None
    for child in row:
        if child.get("mathvariant") == "normal" and len(child.text or "") > 1:
            del child.attrib["mathvariant"]


def _unwrap(parent: ElementTree.Element) -> None:
    """Remove rows of one element."""
    for place, child in enumerate(list(parent)):
        while child.tag == "mrow" and len(child) == 1 and not child.attrib:
            child = child[0]
        parent[place] = child


def _shorten(element: ElementTree.Element) -> None:
    """Round a number to `DIGITS` digits; all of them are its tooltip."""
    text = element.text or ""
    rounded = f"{float(text):.{DIGITS}g}" if element.tag == "mn" and "." in text else text
    if len(rounded) < len(text):
        element.text = None
        ElementTree.SubElement(element, "span", title=text).text = rounded


def _set_brackets(row: ElementTree.Element) -> None:
    """Replace brackets of matrices, which only mathematical fonts stretch, by a style."""
    children = list(row)
    for before, table, after in zip(children, children[1:], children[2:], strict=False):
        if table.tag == "mtable" and (before.text, after.text) == ("[", "]"):
            table.set("class", "bracketed")
            row.remove(before)
            row.remove(after)


def formula(text: str) -> str:
    """Return an equation of the notes as HTML: words unchanged, the rest as MathML."""
    pieces: list[str] = []
    run: list[str] = []
    depth = 0

    def close() -> None:
        if any(part.strip() for part in run):
            pieces.append(mathml(" ".join(run)))
        run.clear()

    for token in _TOKEN.finditer(text):
        kind, part = str(token.lastgroup), token[0]
        if kind == "space":
            continue
        word = kind == "name" and (_is_word(part) or _ARTICLE.match(text, token.start()))
        if kind == "label" or word:
            close()
            pieces.append(escape(part))
        elif kind == "tail" or (kind == "mark" and part in ",;:" and depth == 0):
            close()
            pieces[-1:] = [f"{pieces[-1]}{escape(part)}" if pieces else escape(part)]
        else:
            depth += (part in "([") - (part in ")]") if kind == "mark" else 0
            if kind == "mark" and part in "+-=" and depth == 0 and run:
                close()  # a line may break here
            unknown = part == "x" and _NO_FACTOR.match(text, token.start())
            run.append(part if unknown else _latex_of(kind, part))
    close()
    return " ".join(pieces)


def _is_word(name: str) -> bool:
    is_symbol = name in GREEK or name in _RATES or name in _NAMES or name in ("sum", "int")
    return _WORD.fullmatch(name) is not None and not is_symbol and not name.isupper()


def _latex_of(kind: str, part: str) -> str:
    if kind == "number":
        return part
    if kind in ("power", "below"):
        inside = part[1:].strip("(){}")
        return f"{part[0]}{{{inside}}}"
    if kind == "mark" or part == "x":
        return _RELATIONS.get(part, rf"\{part}" if part in "{}%&#_" else part)
    head, *subscripts = part.split("_")
    symbol = _symbol(head)
    below = ",".join(_subscript(word) for word in subscripts)
    return f"{symbol}_{{{below}}}" if below else symbol


def _subscript(word: str) -> str:
    return rf"\mathrm{{{word}}}" if _WORD.fullmatch(word.strip("()")) and len(word) > 2 else word


def _symbol(head: str) -> str:
    if head in GREEK:
        return rf"\{head}" if head != "epsilon" else r"\varepsilon"
    if head in ("sum", "int"):
        return rf"\{head}"
    if head in _RATES:
        return _RATES[head]
    if len(head) == 1:
        return head
    differential = re.fullmatch(r"(d2?)(q|qd|qdd|tau|[A-Z])", head)
    if differential:
        order = "d^2" if differential[1] == "d2" else "d"
        return f"{order}{_symbol(differential[2])}"
    return rf"\mathrm{{{head}}}"
