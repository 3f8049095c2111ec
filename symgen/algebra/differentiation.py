"""Derivatives of scalars, forward and reverse, with only the entries that are not 0.

Both directions put the derivatives into the graph of the scalars, where they share everything
with the expressions that they come from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symgen.algebra.nodes import ADD, CONST, DIV, MUL, NEG, SUB, SYMBOL, Nodes, Scalar, reachable

Tangent = dict[int, Scalar]


class ForwardDerivatives:
    """Forward differentiation with respect to `inputs` (symbols), each node once.

    The tangent of a node is a sparse row: position of the input -> derivative.  Tangents are
    remembered, so asking statement by statement costs no more than asking for all at once.
    """

    def __init__(self, inputs: Sequence[Scalar]) -> None:
        self._inputs = tuple(inputs)
        self._tangents: dict[int, Tangent] = {}
        for position, symbol in enumerate(inputs):
            self._tangents[symbol.index] = {position: symbol.graph.one}

    def rows(self, scalars: Sequence[Scalar]) -> list[Tangent]:
        """Derivatives of several scalars: forward, or each in reverse where that takes less.

        What is 0 by structure in one direction is left out in both.
        """
        forward = [self.of(x) for x in scalars]
        reverse = [
            {k: value for k, value in gradient(x, self._inputs).items() if k in row}
            for x, row in zip(scalars, forward, strict=True)
        ]
        return min(forward, reverse, key=lambda rows: _size(scalars, rows))

    def of_statement(self, name: str, value: Scalar) -> Tangent:
        """See `of`: over a graph a name is only a label."""
        return self.of(value)

    def remember(self, name: str, value: Scalar, row: Tangent) -> None:
        """Nothing to do: the derivatives are nodes, and known."""

    def of(self, root: Scalar) -> Tangent:
        """The derivatives of `root`: position of the input -> scalar, zeros left out."""
        known = self._tangents
        stack = [root]
        while stack:
            node = stack[-1]
            if node.index in known:
                stack.pop()
                continue
            missing = [arg for arg in node.args if arg.index not in known]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            known[node.index] = self._chain_rule(node)
        return known[root.index]

    def _chain_rule(self, node: Scalar) -> Tangent:
        tangents = [self._tangents[arg.index] for arg in node.args]
        if not any(tangents):
            return {}
        if node.op is ADD or node.op is SUB:
            return _add_or_subtract(node.graph, node.op, tangents[0], tangents[1])
        result: Tangent = {}
        partials = [
            partial_derivative(node, argument) if tangent else node.graph.zero
            for argument, tangent in enumerate(tangents)
        ]
        for position in sorted(set().union(*tangents)):
            value = node.graph.zero
            for partial, tangent in zip(partials, tangents, strict=True):
                if position in tangent:
                    value = value + partial * tangent[position]
            if not value.is_zero:
                result[position] = value
        return result


def _size(scalars: Sequence[Scalar], rows: Sequence[Tangent]) -> int:
    """Number of nodes that scalars and their derivatives consist of."""
    return len(reachable([*scalars, *(value for row in rows for value in row.values())]))


def _add_or_subtract(graph: Nodes, op: str, x: Tangent, y: Tangent) -> Tangent:
    combine = graph.add if op is ADD else graph.sub
    result: Tangent = {}
    for position in sorted(x.keys() | y.keys()):
        if position not in y:
            value = x[position]
        elif position not in x:
            value = y[position] if op is ADD else -y[position]
        else:
            value = combine(x[position], y[position])
        if not value.is_zero:
            result[position] = value
    return result


def partial_derivative(node: Scalar, argument: int) -> Scalar:
    """d node / d (its operand number `argument`), other operands held."""
    graph, args = node.graph, node.args
    if node.op is ADD:
        return graph.one
    if node.op is SUB:
        return graph.one if argument == 0 else -graph.one
    if node.op is NEG:
        return -graph.one
    if node.op is MUL:
        return args[1 - argument]
    if node.op is DIV:
        return 1.0 / args[1] if argument == 0 else -(node / args[1])
    if node.op == "atan2":
        y, x = args
        squares = x * x + y * y
        return x / squares if argument == 0 else -(y / squares)
    if node.op == "pow":
        base, exponent = args
        if argument == 0:
            return exponent * base ** (exponent - 1.0)
        return graph.function("log", base) * node
    return _DERIVATIVES[node.op](args[0], node)


_DERIVATIVES: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "sin": lambda x, y: x.graph.function("cos", x),
    "cos": lambda x, y: -x.graph.function("sin", x),
    "tan": lambda x, y: 1.0 + y * y,
    "asin": lambda x, y: 1.0 / x.graph.function("sqrt", 1.0 - x * x),
    "acos": lambda x, y: -1.0 / x.graph.function("sqrt", 1.0 - x * x),
    "atan": lambda x, y: 1.0 / (1.0 + x * x),
    "exp": lambda x, y: y,
    "log": lambda x, y: 1.0 / x,
    "tanh": lambda x, y: 1.0 - y * y,
    "sqrt": lambda x, y: 0.5 / y,
    "abs": lambda x, y: x.graph.function("sign", x),
    "sign": lambda x, y: x.graph.zero,
}


def gradient(output: Scalar, inputs: Sequence[Scalar]) -> Tangent:
    """d output / d inputs[k] where not 0, by reverse differentiation.

    Its cost is a small multiple of that of `output`, however many inputs there are.
    """
    positions = {symbol.index: position for position, symbol in enumerate(inputs)}
    nodes = reachable([output])
    relevant: set[int] = set()
    for node in nodes:
        if node.index in positions or any(arg.index in relevant for arg in node.args):
            relevant.add(node.index)
    adjoints: dict[int, Scalar] = {output.index: output.graph.one}
    for node in reversed(nodes):
        if node.index not in adjoints or node.op is SYMBOL or node.op is CONST:
            continue
        adjoint = adjoints[node.index]
        for argument, arg in enumerate(node.args):
            if arg.index not in relevant:
                continue
            term = adjoint * partial_derivative(node, argument)
            known = adjoints.get(arg.index)
            adjoints[arg.index] = term if known is None else known + term
    found = {
        positions[index]: adjoint
        for index, adjoint in adjoints.items()
        if index in positions and not adjoint.is_zero
    }
    return dict(sorted(found.items()))
