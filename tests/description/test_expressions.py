"""The expression grammar: Python's arithmetic in float64, bounded, and never Python's `eval`."""

from __future__ import annotations

import ast
import contextlib
import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symgen.algebra import rounding
from symgen.description.expressions import (
    ARITIES,
    CONSTANT_VALUES,
    MAX_HEIGHT,
    MAX_LENGTH,
    EvaluationError,
    Expression,
    ExpressionError,
    Name,
    Node,
    Number,
    Operation,
    derivative,
    evaluate,
    parse,
)
from symgen.validation.oracle_expressions import value_of

VALUES = {"L1": 0.4, "m": 2.5, "x_2": -1.25, "e": 0.125, "infinite": math.inf}

numbers = st.floats(0, 1e6, allow_nan=False).map(repr) | st.sampled_from(
    ["0.5", ".5", "5.", "1e3", "2.5E-3", "1e+2", "0.0", "3.0"]
)
leaves = numbers | st.sampled_from([*VALUES, *CONSTANT_VALUES])


def _compound(texts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    spaces = st.sampled_from(["", " ", "  "])
    binary = st.tuples(texts, spaces, st.sampled_from(["+", "-", "*", "/", "**"]), spaces, texts)
    unary = st.tuples(st.sampled_from(["-", "+", "- ", "--"]), texts)
    one = [name for name, count in ARITIES.items() if count == 1]
    two = [name for name, count in ARITIES.items() if count == 2]
    return st.one_of(
        binary.map("".join),
        unary.map("".join),
        texts.map(lambda text: f"({text})"),
        st.tuples(st.sampled_from(one), texts).map(lambda pair: f"{pair[0]}({pair[1]})"),
        st.tuples(st.sampled_from(two), texts, texts).map(lambda x: f"{x[0]}({x[1]}, {x[2]})"),
    )


texts = st.recursive(leaves, _compound, max_leaves=12)

OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.USub: "neg",
}  # fmt: skip


def written(node: ast.expr) -> Node:
    """Translate a tree of Python's."""
    match node:
        case ast.Constant(value):
            return Number(float(value))
        case ast.Name(name):
            return Name(name)
        case ast.UnaryOp(ast.UAdd(), operand):
            return written(operand)
        case ast.UnaryOp(operator, operand):
            return Operation(OPERATORS[type(operator)], (written(operand),))
        case ast.BinOp(left, operator, right):
            return Operation(OPERATORS[type(operator)], (written(left), written(right)))
        case ast.Call(ast.Name(name), operands):
            return Operation(name, tuple(map(written, operands)))
    raise AssertionError(ast.dump(node))


def without_double_signs(node: Node) -> Node:
    """Remove pairs of signs, of which the parser keeps those between parentheses alone."""
    if not isinstance(node, Operation):
        return node
    first, *rest = map(without_double_signs, node.operands)
    if node.operator == "neg" and isinstance(first, Operation) and first.operator == "neg":
        return first.operands[0]
    return Operation(node.operator, (first, *rest))


@settings(max_examples=150)
@given(texts)
def test_the_grammar_is_that_of_python(text: str) -> None:
    expected = written(ast.parse(text.strip(), mode="eval").body)
    assert without_double_signs(parse(text).root) == without_double_signs(expected)


ROUNDED = {"max": max, "min": min, **rounding.ROUNDED}


def test_operations_are_those_of_float64() -> None:
    values = {"a": 0.7, "b": -1.3}
    for operator, expected in (("+", 0.7 - 1.3), ("-", 0.7 + 1.3), ("*", 0.7 * -1.3),
                               ("/", 0.7 / -1.3), ("**", rounding.power(0.7, -1.3))):  # fmt: skip
        assert evaluate(parse(f"a {operator} b"), values) == expected
    for name, count in ARITIES.items():
        operands = [0.7, -1.3][:count]
        assert evaluate(parse(f"{name}({', '.join('ab'[:count])})"), values) == ROUNDED[name](
            *operands
        )
    assert evaluate(parse("-a*007."), values) == -0.7 * 7.0  # Python's numbers begin with no 0
    assert evaluate(parse("2*pi + deg"), {}) == 2 * math.pi + math.pi / 180


@given(st.text(alphabet="0123456789.eE+-*/() ,pisincoabt_xL^!", max_size=40))
def test_any_text_parses_or_raises_an_expression_error(text: str) -> None:
    try:
        expression = parse(text)
    except ExpressionError:
        return
    with contextlib.suppress(EvaluationError):
        assert math.isfinite(evaluate(expression, dict.fromkeys(expression.names, 0.5)))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_keep_every_bit(value: float) -> None:
    assert evaluate(parse(value), {}) == value
    assert evaluate(parse(repr(value)), {}) == value


def test_precedence_and_associativity() -> None:
    one, two, three = Number(1.0), Number(2.0), Number(3.0)
    assert parse("1 - 2 - 3").root == Operation("-", (Operation("-", (one, two)), three))
    assert parse("1 + 2*3").root == Operation("+", (one, Operation("*", (two, three))))
    assert parse("2**3**1").root == Operation("**", (two, Operation("**", (three, one))))
    assert parse("-2**2").root == Operation("neg", (Operation("**", (two, two)),))
    assert parse("2**-1").root == Operation("**", (two, Operation("neg", (one,))))
    assert parse("+--2").root == two
    assert parse("pi").root == Name("pi")


def test_a_negative_number_of_yaml_is_a_number() -> None:
    assert parse(-9.81) == Expression("-9.81", Number(-9.81), ())
    assert parse(3).root == Number(3.0)
    assert math.copysign(1.0, parse(-0.0).root.value) == 1.0  # type: ignore[union-attr]


WRONG = {
    "": "the expression is empty",
    "a * / b": "expected a number, a name or '(', found '/' (column 5 of the expression)",
    "2(3)": "expected an operator before '('; write '2*(...)' (column 2 of the expression)",
    "(a)b": "expected an operator before 'b'; write '(...)*b' (column 4 of the expression)",
    "2 sin(a)": "expected an operator before 'sin'; write '2*sin(...)' (column 3 of the "
    "expression)",
    "90 degrees": "expected an operator before 'degrees'; write '90*deg' (column 4 of the "
    "expression)",
    "2*(a + b)³": "unexpected character '³'; write '(...)**3' (column 10 of the expression)",
    "²": "unexpected character '²' (column 1 of the expression)",
    "1.2.3": "expected an operator before '.3' (column 4 of the expression)",
    "(1": "this '(' is never closed (column 1 of the expression)",
    "max(0": "this '(' is never closed; between { } or [ ] YAML ends it at ',': quote it "
    "(column 4 of the expression)",
    "1)": "unexpected ')' (column 2 of the expression)",
    "2*π": "unexpected character 'π'; write 'pi' (column 3 of the expression)",
    "a.b": "unexpected character '.'; names have no dots (column 2 of the expression)",
    "a\0": "unexpected character '\\x00' (column 2 of the expression)",
    "sin": "the function 'sin' needs its argument in parentheses (column 1 of the expression)",
    "sin()": "expected a number, a name or '(', found ')' (column 5 of the expression)",
    "sin(1, 2)": "'sin' takes 1 argument, found 2 (column 1 of the expression)",
    "atan2(1)": "'atan2' takes 2 arguments, found 1 (column 1 of the expression)",
    "sine(1)": "'sine' is not a function; did you mean 'sin'? (column 1 of the expression)",
    "__import__('os')": 'unexpected character "\'" (column 12 of the expression)',
    "2 kg": "expected an operator before 'kg'; write '2*kg' (column 3 of the expression)",
    "system(1)": "'system' is not a function; known are sqrt, sin, cos, tan, asin, acos, atan, "
    "atan2, exp, log, abs, tanh, max, min; a product needs '*' (column 1 of the expression)",
    "1e400": "'1e400' is too large for float64 (column 1 of the expression)",
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_texts_are_explained(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text, parameters={"kg"})
    assert str(caught.value) == WRONG[text]


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, 10**400, True, None, [1], "1e999"]
)
def test_what_is_no_finite_number_is_refused(value: object) -> None:
    with pytest.raises(ExpressionError):
        parse(value)  # type: ignore[arg-type]


UNDEFINED = {
    "1/0": "division by zero", "sqrt(-1)": "sqrt(-1) is not defined",
    "log(0)": "log(0) is not defined", "(-2)**0.5": "(-2) ** 0.5 is not defined",
    "0**-1": "division by zero", "exp(1000)": "exp(1000) overflows float64",
    "1e300*1e300": "1e+300 * 1e+300 overflows float64",
    "10.0**1000": "10 ** 1000 overflows float64", "missing": "'missing' has no value",
    "9**9**9**9**9**9": "9 ** 3.8742e+08 overflows float64",
    "atan(infinite)": "'infinite' is not a finite number",
}  # fmt: skip


@pytest.mark.parametrize("text", UNDEFINED)
def test_undefined_values_are_errors(text: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        evaluate(parse(text), VALUES)
    assert str(caught.value) == UNDEFINED[text]


@pytest.mark.parametrize("text", [
    "1" + "+1" * 900,
    "(" * 900 + "1" + ")" * 900,
    "2**" * 600 + "2",
    "sin(" * 400 + "1" + ")" * 400,
    "(" * 1999,
    "-(" * 500 + "1" + ")" * 500,
    "1" * 100_000, "x" * 100_000, "1e" + "9" * 1500,
])  # fmt: skip
def test_what_goes_too_far_is_refused_at_once(text: str) -> None:
    start = time.perf_counter()
    with pytest.raises(ExpressionError):
        parse(text)
    assert time.perf_counter() - start < 1.0


def test_what_is_within_the_limits_is_accepted() -> None:
    assert evaluate(parse("+".join(["1"] * MAX_HEIGHT)), {}) == MAX_HEIGHT
    assert evaluate(parse("-" * (MAX_LENGTH - 2) + "1"), {}) == 1.0
    assert evaluate(parse("(" * 40 + "1" + ")" * 40), {}) == 1.0


SLOPES = (
    "x*x - 3*x/(x + y)", "-(x**3) + y**x + 2**y", "sqrt(x) + exp(-x) + log(x*y)", "sin(x)*cos(y)",
    "tan(x/2) + tanh(x - y)", "asin(x/9) + acos(x/8) + atan(x*y)", "atan2(x, y)", "abs(y - x) + pi",
    "max(x, y)**2 + min(x, y)", "max(2*x, x) - min(x, x)", "y + 3",
)  # fmt: skip


@pytest.mark.parametrize("text", SLOPES)
@pytest.mark.parametrize("x", [0.7, 1.3])
def test_derivatives_are_slopes(text, x):
    """Against dual numbers, which differentiate operation by operation."""
    root = parse(text).root
    at = {"x": np.array(x + 1e-20j), "y": np.array(0.9), **CONSTANT_VALUES}
    values = {name: np.real(value) for name, value in at.items()}
    slope = value_of(root, at.__getitem__).imag / 1e-20
    named = Expression("", derivative(root, "x"), ())
    assert evaluate(named, values) == pytest.approx(slope, rel=1e-14)
    assert derivative(parse("2*y + 1").root, "x") == parse(0).root
