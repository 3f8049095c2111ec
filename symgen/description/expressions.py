"""The expression grammar of model files: numbers, names, operators and a few functions.

    expression := term (("+" | "-") term)*
    term       := factor (("*" | "/") factor)*
    factor     := ("+" | "-") factor | power
    power      := atom ["**" factor]
    atom       := number | name | function "(" expression ["," expression] ")" | "(" expression ")"

`max` and `min` take two operands; where these are equal, their derivative is the mean of both.

`**` binds tighter than a sign on its left and is right-associative, as in Python.  The text is
parsed by the code in this file, never by Python's `eval`, `compile` or `ast`.

A model file is untrusted input, so everything is bounded: the length of the text, the nesting of
the grammar, and the height of the tree.  All arithmetic is float64: ``2**2**2**2**2**2`` overflows
at once instead of computing an integer with many digits.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from operator import add, mul, neg, sub, truediv

from symgen.algebra import rounding
from symgen.description.wording import did_you_mean, shown
from symgen.errors import SymgenError

ARITIES = {  # name: number of arguments
    "sqrt": 1, "sin": 1, "cos": 1, "tan": 1, "asin": 1, "acos": 1, "atan": 1, "atan2": 2,
    "exp": 1, "log": 1, "abs": 1, "tanh": 1, "max": 2, "min": 2,
}  # fmt: skip
CONSTANTS = ("pi", "deg")
CONSTANT_VALUES: Mapping[str, float] = {"pi": math.pi, "deg": math.pi / 180.0}

MAX_LENGTH = 2000  # characters of one expression
MAX_NESTING = 50  # parentheses within parentheses, or ** on the right of **
MAX_HEIGHT = 100  # of the tree, so that walks may recurse; also the longest sum


@dataclass(frozen=True)
class Number:
    """A literal number, already rounded to float64."""

    value: float


@dataclass(frozen=True)
class Name:
    """A parameter, one of `CONSTANTS`, or in an output a quantity such as ``q.elbow``."""

    name: str


@dataclass(frozen=True)
class Operation:
    """`operator` is one of ``+ - * / **`` (two operands), ``neg`` (one), or a function's name."""

    operator: str
    operands: tuple[Node, ...]


Node = Number | Name | Operation


@dataclass(frozen=True)
class Expression:
    """A parsed expression: its text as written, its tree, and its names.

    `names` are parameters, and in outputs also quantities (`symgen.description.quantities`), in the
    order of their first occurrence, without constants.
    """

    text: str
    root: Node
    names: tuple[str, ...]


class ExpressionError(SymgenError):
    """A text does not follow the grammar; `column` counts from 1, 0 for the whole text.

    `message` is the message without the column.
    """

    exit_status = 2

    def __init__(self, message: str, column: int = 0) -> None:
        self.message, self.column = message, column
        super().__init__(f"{message} (column {column} of the expression)" if column else message)


class EvaluationError(SymgenError):
    """An expression has no finite float64 value at the values of its names."""

    exit_status = 2


_NAME = r"[A-Za-z_][A-Za-z0-9_]*"


def _token_of(name: str) -> re.Pattern[str]:
    return re.compile(
        r"(?P<space>[ \t\r\n]+)"
        r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
        rf"|(?P<name>{name})"
        r"|(?P<sign>\*\*|[-+*/(),])"
    )


_TOKEN = _token_of(_NAME)
_TOKEN_WITH_DOTS = _token_of(rf"{_NAME}(?:\.{_NAME})*")
_ADVICE = {  # characters outside the grammar, and their replacements
    "^": "powers are written with **",
    "\u00b0": "degrees are written '90*deg'",
    "\u03c0": "write 'pi'",
    "\u2212": "this is not the ASCII minus sign '-'",
    "\u2013": "this is a dash, not the ASCII minus sign '-'",
    "\u2014": "this is a dash, not the ASCII minus sign '-'",
    "\u00d7": "a product is written with *",
    "\u00b7": "a product is written with *",
    "=": "an expression has no equals sign; what is to be 0 is a difference, a - (b)",
    **dict.fromkeys("<>", "there are no comparisons; write max, min, abs, sign or tanh"),
}
_SUPERSCRIPTS = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
_UNITS = ("m", "mm", "cm", "kg", "g", "rad", "s", "N", "Nm")  # written after a number by mistake


@dataclass(frozen=True)
class _Token:
    kind: str  # number, name, sign, end
    text: str
    column: int

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else shown(self.text)


def _tokens(text: str, dots: bool) -> list[_Token]:
    tokens: list[_Token] = []
    pattern = _TOKEN_WITH_DOTS if dots else _TOKEN
    position = 0
    while position < len(text):
        match = pattern.match(text, position)
        if match is None:
            character = text[position]
            advice = _ADVICE.get(character, "")
            if dots and character in "[]":
                advice = "quantities are written with dots and names, such as q.<joint>"
            if character in _SUPERSCRIPTS:
                power = f"**{_SUPERSCRIPTS.index(character)}"
                advice = f"write {shown(_operand(tokens[-1]) + power)}" if tokens else ""
            if character == "." and not dots and tokens and tokens[-1].kind == "name":
                advice = _without_prefix(tokens[-1].text, text[position + 1 :])
            advice = advice and f"; {advice}"
            raise ExpressionError(f"unexpected character {shown(character)}{advice}", position + 1)
        kind = str(match.lastgroup)
        if kind != "space":
            tokens.append(_Token(kind, match.group(), position + 1))
        position = match.end()
    tokens.append(_Token("end", "", len(text) + 1))
    return tokens


def _without_prefix(module: str, rest: str) -> str:
    """Advice about names such as ``np.sqrt``."""
    match = re.match(_NAME, rest)
    is_word = match is not None and match.group() in (*ARITIES, *CONSTANTS)
    if match is None or not is_word:
        return "names have no dots"
    return f"write {shown(match.group())} without {shown(f'{module}.')}"


def _operand(token: _Token) -> str:
    """Return an operand that starts or ends with `token`, for advice about what to write."""
    if token.text in ARITIES:
        return f"{token.text}(...)"
    return token.text if token.kind in ("number", "name") else "(...)"


def parse(
    value: str | int | float, parameters: Collection[str] = (), dots: bool = False
) -> Expression:
    """Parse a number or a text of the grammar.

    Args:
        value: number or text.
        parameters: names of parameters, for hints in messages only.
        dots: whether names may contain dots, like the quantities of outputs.

    Raises:
        ExpressionError: with the fault and its column.
    """
    if isinstance(value, str):
        return _parse_text(value, parameters, dots)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ExpressionError("expected a number or an expression")
    try:
        number = float(value)
    except OverflowError:
        raise ExpressionError("the number is too large for float64") from None
    return literal(repr(number), number)


def literal(text: str, value: float) -> Expression:
    """Return the expression of one number, possibly negative, with its text as written."""
    if not math.isfinite(value):
        raise ExpressionError(f"{shown(text)} is not a finite float64 number")
    return Expression(text, Number(value + 0.0), ())  # + 0.0 turns -0.0 into 0.0


ZERO = literal("0", 0.0)
ONE = literal("1", 1.0)


def _parse_text(text: str, parameters: Collection[str], dots: bool) -> Expression:
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"an expression has at most {MAX_LENGTH} characters, not {len(text)}")
    parser = _Parser(_tokens(text, dots), parameters)
    root = parser.whole()
    if _height(root) > MAX_HEIGHT:
        raise ExpressionError(
            f"more than {MAX_HEIGHT} operations build on each other; use derived parameters"
        )
    return Expression(text, root, tuple(parser.names))


def substitute(node: Node, meanings: Mapping[str, Node]) -> Node:
    """Return the tree with names replaced by their `meanings`."""
    # Recursion is safe: the grammar limits the height of an expression.
    if isinstance(node, Name):
        return meanings.get(node.name, node)
    if isinstance(node, Number):
        return node
    return Operation(node.operator, tuple(substitute(x, meanings) for x in node.operands))


def derivative(node: Node, name: str) -> Node:
    """Return the derivative of a tree by one of its names; 0 where it does not depend on it.

    It may contain ``sign``, 0 at 0, which the grammar has not: from abs, max and min.
    """
    if not isinstance(node, Operation):
        return Number(float(isinstance(node, Name) and node.name == name))
    slopes = [derivative(operand, name) for operand in node.operands]
    total: Node = _NOTHING
    for partial, slope in zip(_PARTIALS[node.operator], slopes, strict=True):
        if slope == _NOTHING:
            continue
        term = substitute(partial, dict(zip("ab", node.operands, strict=False)))
        term = slope if partial == _UNIT else Operation("*", (term, slope))
        total = term if total == _NOTHING else Operation("+", (total, term))
    return total


def mentions_constant(expression: Expression, in_arguments: bool = True) -> bool:
    """Whether an expression contains pi or deg; optionally ignore arguments of functions."""
    waiting = [expression.root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Name) and node.name in CONSTANTS:
            return True
        if isinstance(node, Operation) and (in_arguments or node.operator not in ARITIES):
            waiting.extend(node.operands)
    return False


def _height(root: Node) -> int:
    height = 0
    waiting = [(root, 1)]
    while waiting:
        node, depth = waiting.pop()
        height = max(height, depth)
        if isinstance(node, Operation):
            waiting.extend((operand, depth + 1) for operand in node.operands)
    return height


class _Parser:
    """Recursive descent; every recursion counts against `MAX_NESTING`."""

    def __init__(self, tokens: list[_Token], parameters: Collection[str]) -> None:
        self.tokens = tokens
        self.parameters = parameters
        self.position = 0
        self.names: dict[str, None] = {}  # as an ordered set

    @property
    def token(self) -> _Token:
        return self.tokens[self.position]

    def take(self) -> _Token:
        token = self.token
        self.position += 1
        return token

    def at(self, *signs: str) -> bool:
        return self.token.kind == "sign" and self.token.text in signs

    def whole(self) -> Node:
        if self.token.kind == "end":
            raise ExpressionError("the expression is empty")
        root = self.expression(0)
        if self.token.kind != "end":
            raise self.surplus()
        return root

    def expression(self, depth: int) -> Node:
        left = self.term(depth)
        while self.at("+", "-"):
            operator = self.take().text
            left = Operation(operator, (left, self.term(depth)))
        return left

    def term(self, depth: int) -> Node:
        left = self.factor(depth)
        while self.at("*", "/"):
            operator = self.take().text
            left = Operation(operator, (left, self.factor(depth)))
        return left

    def factor(self, depth: int) -> Node:
        negative = False
        while self.at("+", "-"):  # two minus signs cancel exactly, so any number of them is cheap
            negative ^= self.take().text == "-"
        node = self.power(depth)
        return Operation("neg", (node,)) if negative else node

    def power(self, depth: int) -> Node:
        base = self.atom(depth)
        if not self.at("**"):
            return base
        self.take()
        return Operation("**", (base, self.factor(self.deeper(depth))))

    def atom(self, depth: int) -> Node:
        token = self.take()
        if token.kind == "number":
            return self.number(token)
        if token.kind == "name":
            return self.name(token, depth)
        if token.text == "(":
            inner = self.expression(self.deeper(depth))
            self.close(token)
            return inner
        raise ExpressionError(f"expected a number, a name or '(', found {token}", token.column)

    def number(self, token: _Token) -> Node:
        value = float(token.text)
        if not math.isfinite(value):
            raise ExpressionError(f"{token} is too large for float64", token.column)
        return Number(value)

    def name(self, token: _Token, depth: int) -> Node:
        called = self.at("(")
        if token.text in ARITIES:
            if not called:
                message = f"the function {token} needs its argument in parentheses"
                raise ExpressionError(message, token.column)
            return self.call(token, depth)
        if called:
            hint = did_you_mean(token.text, ARITIES)
            if token.text in self.parameters:
                hint = f"; a product needs '*': {shown(f'{token.text}*(...)')}"
            hint = hint or f"; known are {', '.join(ARITIES)}; a product needs '*'"
            raise ExpressionError(f"{token} is not a function{hint}", token.column)
        if token.text not in CONSTANTS:
            self.names[token.text] = None
        return Name(token.text)

    def call(self, function: _Token, depth: int) -> Node:
        opening = self.take()
        operands = [self.expression(self.deeper(depth))]
        while self.at(","):
            self.take()
            operands.append(self.expression(self.deeper(depth)))
        wanted = ARITIES[function.text]
        short = wanted > len(operands)
        self.close(opening, "; between { } or [ ] YAML ends it at ',': quote it" if short else "")
        if len(operands) != wanted:
            arguments = "1 argument" if wanted == 1 else f"{wanted} arguments"
            message = f"{function} takes {arguments}, found {len(operands)}"
            raise ExpressionError(message, function.column)
        return Operation(function.text, tuple(operands))

    def close(self, opening: _Token, hint: str = "") -> None:
        if self.at(")"):
            self.take()
        elif self.token.kind == "end":
            raise ExpressionError(f"this '(' is never closed{hint}", opening.column)
        else:
            raise self.surplus()

    def surplus(self) -> ExpressionError:
        """Return the error about a token after a complete operand that is not an operator."""
        token = self.token
        message = f"unexpected {token}"
        if token.kind in ("number", "name") or token.text == "(":
            message = f"expected an operator before {token}{self.product(token)}"
        elif token.text == ",":
            message += "; a decimal point is '.', and only atan2, max and min take two arguments"
        return ExpressionError(message, token.column)

    def product(self, token: _Token) -> str:
        """Advice about an operand after another: a unit, or a product without ``*``."""
        if token.kind == "number":
            return ""  # such as 1.2.3
        if keyword.iskeyword(token.text):
            return "; there is nothing but arithmetic here"
        if token.text in _UNITS and token.text not in self.parameters:
            return "; numbers have no units here: SI (m, kg, s, rad)"
        degrees = token.text.lower() in ("deg", "degree", "degrees")
        right = "deg" if degrees and token.text not in self.parameters else _operand(token)
        product = f"{_operand(self.tokens[self.position - 1])}*{right}"
        return f"; write {shown(product)}"

    def deeper(self, depth: int) -> int:
        if depth >= MAX_NESTING:
            raise ExpressionError(f"nested deeper than {MAX_NESTING} levels", self.token.column)
        return depth + 1


_NOTHING, _UNIT = Number(0.0), Number(1.0)
_TEXTS: Mapping[str, tuple[str, ...]] = {
    "+": ("1", "1"), "-": ("1", "-1"), "neg": ("-1",), "*": ("b", "a"),
    "/": ("1/b", "-a/(b*b)"), "**": ("b*a**(b - 1)", "log(a)*a**b"), "sqrt": ("0.5/sqrt(a)",),
    "sin": ("cos(a)",), "cos": ("-sin(a)",), "tan": ("1 + tan(a)**2",),
    "asin": ("1/sqrt(1 - a*a)",), "acos": ("-1/sqrt(1 - a*a)",), "atan": ("1/(1 + a*a)",),
    "atan2": ("b/(a*a + b*b)", "-a/(a*a + b*b)"), "exp": ("exp(a)",), "log": ("1/a",),
    "tanh": ("1 - tanh(a)**2",), "abs": ("s",), "max": ("0.5 + 0.5*s", "0.5 - 0.5*s"),
    "min": ("0.5 - 0.5*s", "0.5 + 0.5*s"), "sign": ("0",),
}  # fmt: skip
"""Partial derivatives of every operator by its operands a and b, s the sign of a, or of a - b."""


def _partials(operator: str, texts: tuple[str, ...]) -> tuple[Node, ...]:
    size: Node = Name("a") if operator == "abs" else Operation("-", (Name("a"), Name("b")))
    return tuple(substitute(parse(x).root, {"s": Operation("sign", (size,))}) for x in texts)


_PARTIALS = {operator: _partials(operator, texts) for operator, texts in _TEXTS.items()}

_ARITHMETIC: Mapping[str, Callable[..., float]] = {
    **rounding.ROUNDED,  # correctly rounded, and exact at quarter turns: as in generated code
    "sign": lambda x: float((x > 0.0) - (x < 0.0)),
    "+": add, "-": sub, "*": mul, "/": truediv, "**": rounding.power, "neg": neg, "max": max,
    "min": min,
}  # fmt: skip


def evaluate(expression: Expression, values: Mapping[str, float]) -> float:
    """Evaluate an expression in float64, at the values of its names.

    Raises:
        EvaluationError: a part has no finite value (overflow, division by zero, the root of a
            negative number), or a name has no value.
    """
    return _evaluate(expression.root, values)


def _evaluate(node: Node, values: Mapping[str, float]) -> float:
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Name):
        return _value_of(node.name, values)
    operands = [_evaluate(operand, values) for operand in node.operands]
    try:
        result = _ARITHMETIC[node.operator](*operands)
    except ZeroDivisionError:
        raise EvaluationError("division by zero") from None
    except OverflowError:
        raise EvaluationError(f"{_written(node.operator, operands)} overflows float64") from None
    except ValueError:
        raise EvaluationError(f"{_written(node.operator, operands)} is not defined") from None
    if not math.isfinite(result):
        raise EvaluationError(f"{_written(node.operator, operands)} overflows float64")
    return result


def _value_of(name: str, values: Mapping[str, float]) -> float:
    if name in CONSTANT_VALUES:
        return CONSTANT_VALUES[name]
    if name not in values:
        raise EvaluationError(f"{shown(name)} has no value")
    value = float(values[name])
    if not math.isfinite(value):
        raise EvaluationError(f"{shown(name)} is not a finite number")
    return value


def _written(operator: str, operands: list[float]) -> str:
    """Print an operation with its values, for messages: ``sqrt(-1)``, ``(-2) ** 0.5``."""
    texts = [f"{operand:.6g}" for operand in operands]
    if operator.isalnum():
        return f"{operator}({', '.join(texts)})"
    return f" {operator} ".join(f"({text})" if text.startswith("-") else text for text in texts)
