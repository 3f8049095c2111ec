"""Derivatives of scalars, forward and reverse, with only the entries that are not 0.

Both directions put the derivatives into the graph of the scalars, where they share everything
with the expressions that they come from.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from operator import attrgetter

from symgen.algebra.nodes import ADD, DIV, MUL, NEG, SUB, SYMBOL, Nodes, Scalar, reachable
from symgen.algebra.quarter_turns import WAVES, Turned, turned

Tangent = dict[int, Scalar]


class ForwardDerivatives:
    """Forward differentiation with respect to `inputs` (symbols), each node once.

    The tangent of a node is a sparse row: position of the input -> derivative.  Tangents are
    remembered, so asking statement by statement costs no more than asking for all at once.  With
    `along`, a direction, there is one position, 0.
    """

    def __init__(self, inputs: Sequence[Scalar], along: Sequence[Scalar] = ()) -> None:
        self._inputs = tuple(inputs)
        self._tangents: dict[int, Tangent] = {}
        for position, symbol in enumerate(inputs):
            self._tangents[symbol.index] = {position: symbol.graph.one}
        for symbol, change in zip(inputs, along, strict=bool(along)):
            self._tangents[symbol.index] = {} if change.is_zero else {0: change}
        self._is_along = bool(along)

    def reverse(self, scalars: Sequence[Scalar]) -> list[Tangent]:
        """Reverse derivatives, with the entries that are not structurally 0 in forward mode."""
        return [
            {k: value for k, value in gradient(x, self._inputs).items() if k in self.of(x)}
            for x in scalars
        ]

    def remember(self, name: str, value: Scalar, row: Tangent) -> None:
        """Do nothing: over a graph a name is only a label."""

    def of(self, root: Scalar) -> Tangent:
        """Return the derivatives of `root`: position of the input -> scalar, zeros left out."""
        tangents = self._tangents
        stack = [root]
        while stack:
            node = stack[-1]
            if node.index in tangents:
                stack.pop()
                continue
            missing = [arg for arg in node.args if arg.index not in tangents]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            tangents[node.index] = self._chain_rule(node)
        return tangents[root.index]

    def _chain_rule(self, node: Scalar) -> Tangent:
        tangents = [self._tangents[arg.index] for arg in node.args]
        if not any(tangents):
            return {}
        if self._is_along and (turned := self._turned(node)) is not None:
            return turned
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

    def _turned(self, node: Scalar) -> Tangent | None:
        """Derivative along the direction of an entry of a turned vector, by `Turned.slope`."""
        entry = turned(node)
        if entry is None:
            return None
        value = entry.slope * self.of(entry.angle).get(0, node.graph.zero)
        for factor, wave in entry.terms:
            value = value + wave * self.of(factor).get(0, node.graph.zero)
        return {} if value.is_zero else {0: value}


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
    """Derivative of `node` by its operand number `argument`."""
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


class ReverseDerivatives:
    """Reverse differentiation with respect to `inputs` (symbols): see `interface.Adjoints`.

    It costs a small multiple of the original program, for any number of inputs.
    """

    def __init__(self, inputs: Sequence[Scalar]) -> None:
        self._moves = {symbol.index: True for symbol in inputs}

    def of(self, x: Scalar, weight: Scalar, named: Collection[Scalar]) -> dict[Scalar, Scalar]:
        """See `interface.Adjoints.of`."""
        adjoints = {x.index: weight}
        gradient: dict[Scalar, Scalar] = {}
        angles: dict[Scalar, Scalar] = {}
        for node in reversed(reachable([x], named)):
            if node.index not in adjoints or not self._moved(node):
                continue
            adjoint = adjoints[node.index]
            if node.op is SYMBOL or node in named:
                gradient[node] = adjoint
                continue
            entry = turned(node)
            if entry is not None and self._is_free(entry, named):
                self._pull_turn_back(entry, adjoint, adjoints, angles)
                continue
            for argument, arg in enumerate(node.args):
                if not self._moved(arg):
                    continue
                term = adjoint * partial_derivative(node, argument)
                adjoint_so_far = adjoints.get(arg.index)
                adjoints[arg.index] = term if adjoint_so_far is None else adjoint_so_far + term
        for angle, adjoint in angles.items():
            for node, term in self.of(angle, adjoint, named).items():
                gradient[node] = gradient[node] + term if node in gradient else term
        return {node: adjoint for node, adjoint in gradient.items() if not adjoint.is_zero}

    def _is_free(self, entry: Turned, named: Collection[Scalar]) -> bool:
        """Whether the angle moves, and no product of the entry is differentiated by itself."""
        return self._moved(entry.angle) and not any(x in named for x in entry.products)

    def _pull_turn_back(
        self,
        entry: Turned,
        adjoint: Scalar,
        adjoints: dict[int, Scalar],
        angles: dict[Scalar, Scalar],
    ) -> None:
        """Add the adjoint of an entry of a turned vector to those of its factors and its angle."""
        for factor, wave in entry.terms:
            if self._moved(factor):
                term, adjoint_so_far = adjoint * wave, adjoints.get(factor.index)
                adjoints[factor.index] = term if adjoint_so_far is None else adjoint_so_far + term
        term = adjoint * entry.slope
        angles[entry.angle] = angles[entry.angle] + term if entry.angle in angles else term

    def _moved(self, node: Scalar) -> bool:
        """Whether `node` depends on the inputs."""
        moves, stack = self._moves, [node]
        while stack:
            top = stack[-1]
            unknown = [arg for arg in top.args if arg.index not in moves]
            if top.index not in moves and unknown:
                stack += unknown
                continue
            moves.setdefault(top.index, any(moves[arg.index] for arg in top.args))
            stack.pop()
        return moves[node.index]


def shared(values: Sequence[Scalar], named: Collection[Scalar]) -> list[list[Scalar]]:
    """Find the subexpressions that several of `values` contain: see `Algebra.shared`.

    Products with a sine or cosine are left out: a turned vector is pulled back as a whole.
    """
    met: dict[Scalar, int] = {}
    again: set[Scalar] = set()
    for position, value in enumerate(values):
        fresh: set[Scalar] = set()
        stack = list(value.args[0].args if value.op is NEG else value.args)
        while stack:
            node = stack.pop()
            if node in named or node in fresh or not node.args:
                continue
            if node in met:
                again.add(node)
                continue
            fresh.add(node)
            stack += node.args
        met |= dict.fromkeys(fresh, position)
    subexpressions: list[list[Scalar]] = [[] for _ in values]
    for node in sorted(again, key=attrgetter("index")):
        if node.op is not NEG and not any(arg.op in WAVES for arg in node.args):
            subexpressions[met[node]].append(node)
    return subexpressions


def gradient(output: Scalar, inputs: Sequence[Scalar]) -> Tangent:
    """Derivatives of `output` by `inputs` where not 0, by reverse differentiation."""
    positions = {symbol: position for position, symbol in enumerate(inputs)}
    slopes = ReverseDerivatives(inputs).of(output, output.graph.one, ())
    return dict(sorted((positions[symbol], adjoint) for symbol, adjoint in slopes.items()))
