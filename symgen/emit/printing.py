"""Printing of expressions: one printer, and one table per target language.

The text associates exactly as the graph does, with as few parentheses as possible, and a constant
is printed with the shortest digits that read back as the same float64.  Rewritings keep every bit
of a result: operands of + and * change places where that saves parentheses, ``-(a*b)`` is printed
``-a*b``, and ``a + (-b)*c`` is printed ``a - b*c``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from symgen.algebra.nodes import ADD, CONST, DIV, MUL, NEG, SUB, Scalar


@dataclass(frozen=True)
class Language:
    """Names of functions in a language, and the delimiters of its comments.

    With `angles_together`, one call computes sines and cosines of several angles.
    """

    functions: Mapping[str, str]
    remark: tuple[str, str]
    angles_together: bool = False


_OF_C = (
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "exp", "log", "tanh", "sqrt", "sign",
    "pow",
)  # fmt: skip
"""Functions that have the same name in C as in the graph."""

C = Language(
    functions={**{name: name for name in _OF_C}, "abs": "fabs"},
    remark=("/* ", " */"),
    angles_together=True,
)
PLAIN_C = Language(functions=C.functions, remark=C.remark)
CYTHON = Language(functions=C.functions, remark=("# ", ""))
NUMPY = Language(
    functions={
        **C.functions, "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
        "abs": "absolute", "pow": "power",
    },
    remark=("# ", ""),
)  # fmt: skip
JAVASCRIPT = Language(
    functions={name: f"Math.{called}" for name, called in {**C.functions, "abs": "abs"}.items()},
    remark=("// ", ""),
)

_Text = tuple[str, int]  # printed, and its binding strength
_SUM, _PRODUCT, _ATOM = 1, 2, 3
_SYMBOLS = {ADD: (" + ", _SUM), SUB: (" - ", _SUM), MUL: ("*", _PRODUCT), DIV: ("/", _PRODUCT)}
_OPPOSITE = {ADD: " - ", SUB: " + "}


@dataclass(frozen=True)
class Printer:
    """Prints expressions of named nodes.

    `names` maps indices of nodes to their names.  Only the nodes between a root and the next named
    nodes are walked.
    """

    language: Language
    names: Mapping[int, str]

    def definition(self, node: Scalar) -> str:
        """Return the right-hand side that computes `node`."""
        return self._operation(node)[0] if node.args else self.use(node)

    def use(self, node: Scalar) -> str:
        """Return `node` as the whole of a right-hand side: its name if it has one."""
        return self._text(node)[0]

    def _text(self, node: Scalar) -> _Text:
        name = self.names.get(node.index)
        if name is not None:
            return name, _ATOM
        if node.op is CONST:
            return repr(node.value), _ATOM
        if not node.args:
            raise ValueError(f"the symbol {node.name!r} is no entry of an argument")
        return self._operation(node)

    def _operation(self, node: Scalar) -> _Text:
        op, args = node.op, node.args
        if op in _SYMBOLS:
            symbol, strength = _SYMBOLS[op]
            left, right = self._text(args[0]), self._text(args[1])
            swap = op is ADD and _sum_reads_better(right, left)
            if swap or (op is MUL and _product_reads_better(args[1], right, args[0], left)):
                left, right = right, left
            before = _enclosed(left, strength)
            if strength == _SUM and right[1] >= _PRODUCT and right[0].startswith("-"):
                return f"{before}{_OPPOSITE[op]}{right[0][1:]}", strength
            return f"{before}{symbol}{_enclosed(right, strength + 1, signed=False)}", strength
        if op is NEG:
            return f"-{_enclosed(self._text(args[0]), _PRODUCT, signed=False)}", _PRODUCT
        inside = ", ".join(self.use(arg) for arg in args)
        return f"{self.language.functions[op]}({inside})", _ATOM


def _enclosed(operand: _Text, strength: int, signed: bool = True) -> str:
    """Print `operand`, in parentheses if weaker than `strength` or with an unwanted sign."""
    text, binding = operand
    return f"({text})" if binding < strength or (text.startswith("-") and not signed) else text


def _sum_reads_better(first: _Text, second: _Text) -> bool:
    """Say whether ``first + second`` needs fewer parentheses or signs than ``second + first``."""
    if _SUM in (first[1], second[1]):
        return second[1] > _SUM
    return second[0].startswith("-") and not first[0].startswith("-")


def _product_reads_better(x: Scalar, first: _Text, y: Scalar, second: _Text) -> bool:
    """Say whether ``x*y`` needs fewer parentheses than ``y*x``; constants stay in front."""
    product = x.op is MUL and first[1] == _PRODUCT and not first[0].startswith("-")
    return product and second[1] == _ATOM and y.op is not CONST


def functions_used(nodes: Iterable[Scalar]) -> list[str]:
    """Return the functions of the graph that `nodes` call, sorted."""
    return sorted({node.op for node in nodes} & set(C.functions))
