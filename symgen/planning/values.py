"""Values of a task file: numbers, lists by coordinate, ranges; every fault at its line.

A faulty value is reported and replaced by a default, so that one reading reports all faults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

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
from symgen.description.wording import KeyPath, degrees_meant, seems_in_degrees, shown
from symgen.errors import Fault, ModelError
from symgen.support.arrays import Array

Range = tuple[float, float]
"""Lower and upper limit, infinite where there is none."""

COMPONENTS = ("fx", "fy", "fz", "nx", "ny", "nz")
"""Components of wrenches and loads."""
_DEEPEST = 32
_ENDLESS = {".inf": np.inf, "inf": np.inf, "+.inf": np.inf, "-.inf": -np.inf, "-inf": -np.inf}
_NOT_FINITE = (*_ENDLESS, ".nan", "nan")
_UNLIMITED = (-np.inf, np.inf)


@dataclass(frozen=True)
class Value:
    """A node of a task file with its path; without a node where its key is missing.

    `names` maps the names in expressions to their values.
    """

    findings: Findings
    names: dict[str, float]
    node: Node | None
    path: KeyPath = ()

    def below(self, key: str | int, node: Node | None = None) -> Value:
        """Return the value at a key or an index."""
        return replace(self, node=node, path=(*self.path, key))

    def fault(self, message: str, *keys: str | int) -> None:
        """Report a fault, perhaps of an entry."""
        self.findings.fault((*self.path, *keys), message)

    @property
    def is_broken(self) -> bool:
        """Whether a fault of the value, or of an entry, has been reported."""
        return self.findings.broken(self.path)

    # ---------------------------------------------------------------------------- structure

    def table(self, keys: Sequence[str], expected: str) -> Entries:
        """Return entries of a mapping with these `keys`, empty without a node; report others."""
        entries = Entries(self)
        if not isinstance(self.node, Table):
            if self.node is not None:
                self.fault(f"expected {expected}, found {seen(self.node)}")
            return entries
        for key, entry in self.node.entries.items():
            if key in keys:
                entries[key] = self.below(key, entry.value)
            else:
                hint = self.findings.did_you_mean(key, keys) or f"; known: {', '.join(keys)}"
                self.fault(f"unknown key{hint}", key)
        return entries

    def items(self, expected: str) -> tuple[Value, ...]:
        """Return the items of a list."""
        if self.node is None:
            return ()
        if not isinstance(self.node, Listing):
            self.fault(f"expected a list of {expected}, found {seen(self.node)}")
            return ()
        return tuple(self.below(k, item) for k, item in enumerate(self.node.items))

    def by_component(self, names: Sequence[str], expected: str) -> dict[tuple[int, int], Value]:
        """Return the values of {NAME: {fx: value}}, by number of the name and of the component."""
        return {
            (names.index(name), COMPONENTS.index(part)): value
            for name, entries in self.table(names, expected).items()
            for part, value in entries.table(COMPONENTS, "components fx ... nz").items()
        }

    # ------------------------------------------------------------------------------ scalars

    @property
    def is_null(self) -> bool:
        """Whether it is ~."""
        return isinstance(self.node, Scalar) and self.node.kind == "null"

    @property
    def word(self) -> str:
        """The text of a scalar, empty for other values."""
        return self.node.text if isinstance(self.node, Scalar) else ""

    def text(self, default: str) -> str:
        """Read a name that messages use."""
        if self.node is None:
            return default
        if not self.word:
            self.fault(f"expected a name, found {seen(self.node)}")
        return self.word or default

    def number(self, default: float = 0.0, *, endless: bool = False) -> float:
        """Read a number or expression; `.inf` too where it may be `endless`."""
        if self.node is None:
            return default
        if endless and self.word.lower() in _ENDLESS:
            return _ENDLESS[self.word.lower()]
        expression = self.expression(())
        if expression is None:
            return default
        try:
            return evaluate(expression, self.names)
        except EvaluationError as error:
            self.fault(f"{shown(expression.text)}: {error}")
            return default

    def expression(self, more: Sequence[str]) -> Expression | None:
        """Read an expression of the known names and `more`."""
        node = self.node
        if not isinstance(node, Scalar) or node.kind in ("null", "bool"):
            if node is not None:
                self.fault(f"expected a number or an expression, found {seen(node)}")
            return None
        if node.kind == "float" and node.text.lower() in _NOT_FINITE:
            self.fault(f"expected a finite number, found {node.text}")
            return None
        try:
            parsed = parse(node.text if node.kind == "text" else float(node.text), self.names)
        except (ExpressionError, ValueError) as error:
            self.fault(f"{shown(node.text)}: {error}")
            return None
        names = [*self.names, *more]
        for name in parsed.names:
            if name not in names:
                hint = self.findings.did_you_mean(name, names)
                expected = ", ".join((*more, "pi", "deg", "a runtime parameter"))
                self.fault(f"unknown name {shown(name)}{hint or f'; expected {expected}'}")
                return None
        return parsed

    def positive(self, default: float, missing: str = "") -> float:
        """Read a number above 0; reports that it is `missing` where that is a message."""
        if self.node is None and missing:
            self.fault(f"missing: {missing}")
        value = self.number(default)
        if value <= 0:
            self.fault(f"expected a number above 0, found {value:.6g}")
            return default
        return value

    def whole(self, default: int, least: int, most: int) -> int:
        """Read a whole number from `least` to `most`."""
        node = self.node
        if node is None:
            return default
        if not isinstance(node, Scalar) or node.kind != "int" or len(node.text) > 9:
            self.fault(f"expected a whole number, found {seen(node)}")
            return default
        value = int(float(node.text))
        if not least <= value <= most:
            self.fault(f"expected a whole number from {least} to {most}, found {value}")
            return default
        return value

    def flag(self) -> bool:
        """Read true or false."""
        if self.node is None:
            return False
        if not isinstance(self.node, Scalar) or self.node.kind != "bool":
            self.fault(f"expected true or false, found {seen(self.node)}")
            return False
        return self.word.lower() == "true"

    def choice(self, words: Sequence[str], default: str) -> str:
        """Read a word out of several."""
        if self.node is None:
            return default
        if self.word not in words:
            hint = self.findings.did_you_mean(self.word, words)
            self.fault(f"expected {' or '.join(words)}, found {seen(self.node)}{hint}")
            return default
        return self.word

    def name(self, names: Sequence[str], kind: str) -> int:
        """Return the number of a name in `names`; 0 where it is none of them."""
        if self.node is None:
            self.fault(f"expected the name of a {kind}")
            return 0
        return self.index(self.word, names, kind, seen(self.node))

    def index(self, text: str, names: Sequence[str], kind: str, written: str = "") -> int:
        """Return the number of a text in `names`, like `name`."""
        if text in names:
            return list(names).index(text)
        hint = self.findings.did_you_mean(text, names) if text else ""
        if not hint:
            hint = f"; known: {', '.join(names[:12])}" if names else f"; this robot has no {kind}"
        self.fault(f"{written or shown(text)} is no {kind}{hint}")
        return 0

    # ------------------------------------------------------------------------------- arrays

    def vector(self, size: int, default: Array | None = None) -> Array:
        """Read a list of `size` numbers, (size,); it is required without a default."""
        fallback = np.zeros(size) if default is None else default
        if self.node is None:
            if default is None:
                self.fault(f"missing: a list of {size} numbers")
            return fallback
        if not isinstance(self.node, Listing):
            self.fault(f"expected a list of {size} numbers, found {seen(self.node)}")
            return fallback
        if len(self.node.items) != size:
            self.fault(f"expected {size} numbers, found {len(self.node.items)}")
            return fallback
        return np.array([self.below(k, item).number() for k, item in enumerate(self.node.items)])

    def direction(self) -> Array:
        """Read a vector of length 1, (3,)."""
        vector = self.vector(3)
        length = float(np.linalg.norm(vector))
        if not length and not self.is_broken:
            self.fault("has no direction")
        return vector / (length or 1.0)

    def rotation(self, default: Array | None = None) -> Array:
        """Read fixed-axis angles (3,) about x, y, z, as in model files, as a matrix (3, 3)."""
        rpy = self.vector(3, default)
        for angle in filter(seems_in_degrees, rpy.tolist()):
            self.fault(degrees_meant(angle, f"{angle:g}*deg"))
        (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
        return np.array([
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ])  # fmt: skip

    def _by_coordinate(
        self, names: Sequence[str], read: Callable[[Value], Any], into: Array
    ) -> None:
        """Read a value for all, a list in the order of `names`, or a mapping by name.

        In a mapping ``all`` stands for the names that it lacks, at any position.
        """
        node = self.node
        if node is None:
            return
        if isinstance(node, Scalar):
            into[:] = read(self)
        elif isinstance(node, Table):
            for key, entry in sorted(node.entries.items(), key=lambda item: item[0] != "all"):
                value = self.below(key, entry.value)
                if key == "all":
                    into[:] = read(value)
                elif key in names:
                    into[list(names).index(key)] = read(value)
                else:
                    value.index(key, names, "coordinate")
        elif len(node.items) == len(names):
            for k, item in enumerate(node.items):
                into[k] = read(self.below(k, item))
        else:
            is_pair = read == Value.range and len(node.items) == 2
            more = "; [lower, upper] goes under a name, or all" if is_pair else ""
            self.fault(
                f"expected {len(names)} entries in the order {', '.join(names)}, or NAME: value, "
                f"found {seen(node)} of {len(node.items)}{more}"
            )

    def coordinates(self, names: Sequence[str], default: float) -> Array:
        """Read numbers by coordinate, (len(names),); ~ stands for no demand, NaN."""
        values = np.full(len(names), default)
        self._by_coordinate(names, lambda x: np.nan if x.is_null else x.number(), values)
        return values

    def demands(self, names: Sequence[str]) -> Array:
        """Read numbers or ranges by coordinate, (len(names), 2); NaN for no demand."""
        values = np.full((len(names), 2), np.nan)
        self._by_coordinate(names, Value._demand, values)
        return values

    def _demand(self) -> Range:
        if self.is_null:
            return np.nan, np.nan
        if isinstance(self.node, Listing):
            return self.range()
        number = self.number()
        return number, number

    def ranges(self, names: Sequence[str], into: Array) -> None:
        """Read limits by coordinate, (n, 2): a number for both sides, [lower, upper], or none."""
        self._by_coordinate(names, Value.range, into)

    def range(self) -> Range:
        """Read lower and upper limit."""
        if self.is_null or self.word == "none":
            return _UNLIMITED
        if isinstance(self.node, Listing):
            if len(self.node.items) != 2:
                self.fault(f"expected [lower, upper], found {len(self.node.items)} entries")
                return _UNLIMITED
            sides = [self.below(k, item) for k, item in enumerate(self.node.items)]
            lower, upper = (
                endless if side.word == "none" else side.number(endless=True)
                for side, endless in zip(sides, _UNLIMITED, strict=True)
            )
            if not lower <= upper:
                self.fault(f"the lower limit {lower:.6g} is above the upper one {upper:.6g}")
                return _UNLIMITED
            return lower, upper
        size = self.number(np.inf, endless=True)
        if size < 0:
            self.fault(f"one number limits both sides, +- {-size:.6g}: write it without sign")
            return _UNLIMITED
        return -size, size


class Entries(dict[str, Value]):
    """The entries of a mapping; a missing one is read as a value without a node."""

    def __init__(self, table: Value) -> None:
        super().__init__()
        self.table = table

    def __missing__(self, key: str) -> Value:
        return self.table.below(key)


def document_of(value: Any, file: str) -> Document:
    """Return a task that is a dict, as a document; `ModelError` where it holds another type."""
    return Document(file, _node(value, file, 0), ())


def _node(value: Any, file: str, depth: int) -> Node:
    if depth > _DEEPEST:
        raise ModelError([Fault(file, 0, "", "nested too deep")])
    if isinstance(value, Mapping):
        entries = {
            "on" if k is True else str(k): Entry(
                0, _node(v, file, depth + 1)
            )  # YAML 1.1 reads on so
            for k, v in value.items()
        }
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
