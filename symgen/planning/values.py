"""Values in a task file: numbers, lists by coordinate, ranges; each fault at its line.

Whoever reads a value gets one that can be used: where the file's is faulty, the fault is noted and
a default returned, so that one reading finds all faults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.description.expressions import (
    EvaluationError,
    Expression,
    ExpressionError,
    evaluate,
    parse,
)
from symgen.description.findings import Findings
from symgen.description.reading import Document, Entry, Listing, Node, Scalar, Table
from symgen.description.schema import seen
from symgen.description.wording import KeyPath, shown
from symgen.errors import Fault, ModelError

Array = NDArray[np.float64]

_DEEPEST = 32


class Values:
    """Reads values of one document; `names` are those that expressions may use, with values."""

    def __init__(self, document: Document, names: Mapping[str, float]) -> None:
        self.findings = Findings(document)
        self.names = names

    def fault(self, path: KeyPath, message: str) -> None:
        """Note a fault."""
        self.findings.fault(path, message)

    # ---------------------------------------------------------------------------- structure

    def table(self, node: Node | None, path: KeyPath, known: Sequence[str], what: str) -> Any:
        """The entries of a mapping with `known` keys; others are faults.  Empty without one."""
        if not isinstance(node, Table):
            if node is not None:
                self.fault(path, f"expected {what}, found {seen(node)}")
            return {}
        for key in node.entries:
            if key not in known:
                hint = self.findings.did_you_mean(key, known) or f"; known: {', '.join(known)}"
                self.fault((*path, key), f"unknown key{hint}")
        return {key: entry.value for key, entry in node.entries.items() if key in known}

    def items(self, node: Node | None, path: KeyPath, what: str) -> tuple[Node, ...]:
        """The items of a list of `what`."""
        if node is None:
            return ()
        if not isinstance(node, Listing):
            self.fault(path, f"expected a list of {what}, found {seen(node)}")
            return ()
        return node.items

    # ------------------------------------------------------------------------------ scalars

    def number(
        self, node: Node | None, path: KeyPath, default: float = 0.0, *, endless: bool = False
    ) -> float:
        """A number or expression; `.inf` too where it may be `endless`."""
        if node is None:
            return default
        if endless and isinstance(node, Scalar) and node.text.lower() in _ENDLESS:
            return _ENDLESS[node.text.lower()]
        expression = self.expression(node, path, ())
        if expression is None:
            return default
        try:
            return evaluate(expression, self.names)
        except EvaluationError as error:
            self.fault(path, f"{shown(expression.text)}: {error}")
            return default

    def expression(self, node: Node, path: KeyPath, more: Sequence[str]) -> Expression | None:
        """An expression of the known names and `more`."""
        if not isinstance(node, Scalar) or node.kind in ("null", "bool"):
            self.fault(path, f"expected a number or an expression, found {seen(node)}")
            return None
        if node.kind == "float" and node.text.lower() in _NOT_FINITE:
            self.fault(path, f"expected a finite number, found {node.text}")
            return None
        try:
            parsed = parse(node.text if node.kind == "text" else float(node.text), self.names)
        except (ExpressionError, ValueError) as error:
            self.fault(path, f"{shown(node.text)}: {error}")
            return None
        known = [*self.names, *more]
        for name in parsed.names:
            if name not in known:
                hint = self.findings.did_you_mean(name, known)
                expected = ", ".join((*more, "pi", "deg", "a runtime parameter"))
                self.fault(path, f"unknown name {shown(name)}{hint or f'; expected {expected}'}")
                return None
        return parsed

    def positive(self, node: Node | None, path: KeyPath, default: float) -> float:
        """A number above 0."""
        value = self.number(node, path, default)
        if value <= 0:
            self.fault(path, f"expected a number above 0, found {value:.6g}")
            return default
        return value

    def whole(self, node: Node | None, path: KeyPath, default: int, least: int, most: int) -> int:
        """A whole number from `least` to `most`."""
        if node is None:
            return default
        if not isinstance(node, Scalar) or node.kind != "int" or len(node.text) > 9:
            self.fault(path, f"expected a whole number, found {seen(node)}")
            return default
        value = int(float(node.text))
        if not least <= value <= most:
            self.fault(path, f"expected a whole number from {least} to {most}, found {value}")
            return default
        return value

    def flag(self, node: Node | None, path: KeyPath) -> bool:
        """True or false."""
        if node is None:
            return False
        if not isinstance(node, Scalar) or node.kind != "bool":
            self.fault(path, f"expected true or false, found {seen(node)}")
            return False
        return node.text.lower() == "true"

    def choice(self, node: Node | None, path: KeyPath, known: Sequence[str], default: str) -> str:
        """One of some words."""
        if node is None:
            return default
        text = node.text if isinstance(node, Scalar) else ""
        if text not in known:
            hint = self.findings.did_you_mean(text, known)
            self.fault(path, f"expected {' or '.join(known)}, found {seen(node)}{hint}")
            return default
        return text

    def name(self, node: Node | None, path: KeyPath, known: Sequence[str], what: str) -> int:
        """The number of a name in `known`; 0 where it is none."""
        if node is None:
            self.fault(path, f"expected the name of a {what}")
            return 0
        text = node.text if isinstance(node, Scalar) else ""
        return self.index(text, path, known, what, seen(node))

    def index(
        self, text: str, path: KeyPath, known: Sequence[str], what: str, seen: str = ""
    ) -> int:
        """As `name`, for a text."""
        if text in known:
            return list(known).index(text)
        hint = self.findings.did_you_mean(text, known) if text else ""
        if not hint:
            hint = f"; known: {', '.join(known[:12])}" if known else f"; this robot has no {what}"
        self.fault(path, f"{seen or shown(text)} is no {what}{hint}")
        return 0

    # ------------------------------------------------------------------------------- arrays

    def vector(self, node: Node | None, path: KeyPath, size: int, default: Array | None) -> Array:
        """A list of `size` numbers."""
        other = np.zeros(size) if default is None else default
        if node is None:
            if default is None:
                self.fault(path, f"missing: a list of {size} numbers")
            return other
        if not isinstance(node, Listing):
            self.fault(path, f"expected a list of {size} numbers, found {seen(node)}")
            return other
        if len(node.items) != size:
            self.fault(path, f"expected {size} numbers, found {len(node.items)}")
            return other
        return np.array([self.number(x, (*path, k)) for k, x in enumerate(node.items)])

    def by_name(
        self,
        node: Node | None,
        path: KeyPath,
        known: Sequence[str],
        what: str,
        read: Callable[[Node, KeyPath], Any],
        set_to: Callable[[int, Any], None],
        for_all: Callable[[Node], bool],
    ) -> None:
        """Values for `known` names: one for all, a list in their order, or a mapping by name.

        In a mapping ``all`` stands for those that it does not name, wherever it stands.
        """
        if node is None:
            return
        if for_all(node):
            value = read(node, path)
            for k in range(len(known)):
                set_to(k, value)
        elif isinstance(node, Table):
            for key, entry in sorted(node.entries.items(), key=lambda item: item[0] != "all"):
                below = (*path, key)
                if key == "all":
                    for k in range(len(known)):
                        set_to(k, read(entry.value, below))
                elif key in known:
                    set_to(list(known).index(key), read(entry.value, below))
                else:
                    self.index(key, below, known, what)
        elif isinstance(node, Listing) and len(node.items) == len(known):
            for k, item in enumerate(node.items):
                set_to(k, read(item, (*path, k)))
        else:
            count = f" of {len(node.items)}" if isinstance(node, Listing) else ""
            self.fault(
                path,
                f"expected {len(known)} entries in the order {', '.join(known)}, or NAME: value, "
                f"found {seen(node)}{count}",
            )

    def coordinates(
        self, node: Node | None, path: KeyPath, known: Sequence[str], default: float
    ) -> Array:
        """Numbers by coordinate, `default` where none is given; ~ stands for nothing asked."""
        values = np.full(len(known), default)

        def read(node: Node, path: KeyPath) -> float:
            if isinstance(node, Scalar) and node.kind == "null":
                return np.nan
            return self.number(node, path)

        self.by_name(node, path, known, "coordinate", read, values.__setitem__, _is_number)
        return values

    def ranges(self, node: Node | None, path: KeyPath, known: Sequence[str], into: Array) -> None:
        """Limits by coordinate, (n, 2): a number for both sides, [lower, upper], or none."""
        self.by_name(
            node, path, known, "coordinate", self.range, into.__setitem__,
            lambda node: isinstance(node, Scalar),
        )  # fmt: skip

    def range(self, node: Node, path: KeyPath) -> tuple[float, float]:
        """Lower and upper limit."""
        if isinstance(node, Scalar) and (node.kind == "null" or node.text == "none"):
            return -np.inf, np.inf
        if isinstance(node, Listing):
            if len(node.items) != 2:
                self.fault(path, f"expected [lower, upper], found {len(node.items)} entries")
                return -np.inf, np.inf
            lower, upper = (
                self.number(item, (*path, k), endless=True) for k, item in enumerate(node.items)
            )
            if not lower <= upper:
                self.fault(path, f"the lower limit {lower:.6g} is above the upper one {upper:.6g}")
                return -np.inf, np.inf
            return lower, upper
        size = self.number(node, path, np.inf, endless=True)
        if size < 0:
            self.fault(path, f"one number limits both sides, +- {-size:.6g}: write it without sign")
            return -np.inf, np.inf
        return -size, size


_ENDLESS = {".inf": np.inf, "inf": np.inf, "+.inf": np.inf, "-.inf": -np.inf, "-inf": -np.inf}


_NOT_FINITE = (*_ENDLESS, ".nan", "nan")


def _is_number(node: Node) -> bool:
    return isinstance(node, Scalar)


def document_of(value: Any, file: str) -> Document:
    """A task that is a dict, as a document; `ModelError` where it holds something else."""
    return Document(file, _node(value, file, 0), ())


def _node(value: Any, file: str, depth: int) -> Node:
    if depth > _DEEPEST:
        raise ModelError([Fault(file, 0, "", "nested too deep")])
    if isinstance(value, Mapping):
        entries = {str(k): Entry(0, _node(v, file, depth + 1)) for k, v in value.items()}
        return Table(entries, 0)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return Listing(tuple(_node(v, file, depth + 1) for v in value), 0)
    if value is None:
        return Scalar("~", "null", 0)
    if isinstance(value, bool | np.bool_):
        return Scalar(str(bool(value)).lower(), "bool", 0)
    if isinstance(value, int | np.integer):
        return Scalar(str(int(value)), "int", 0)
    if isinstance(value, float | np.floating):
        text = {np.inf: ".inf", -np.inf: "-.inf"}.get(float(value), repr(float(value)))
        return Scalar(text, "float", 0)
    if isinstance(value, str):
        return Scalar(value, "text", 0)
    raise ModelError([Fault(file, 0, "", f"a task holds no {type(value).__name__}")])
