"""Algebras of scalars: the interface that formulations use.

A formulation is written once, over an `Algebra`.  Over a `Graph` its scalars become statements to
optimise and emit; over SymPy they become expressions to read, expand and differentiate.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, Self, TypeVar


class Arithmetic(Protocol):
    """A scalar: anything with the four operations and a sign."""

    def __add__(self, other: Self, /) -> Self: ...
    def __sub__(self, other: Self, /) -> Self: ...
    def __mul__(self, other: Self, /) -> Self: ...
    def __truediv__(self, other: Self, /) -> Self: ...
    def __neg__(self) -> Self: ...


S = TypeVar("S", bound=Arithmetic)


class Derivatives(Protocol[S]):
    """Forward derivatives with respect to a fixed list of inputs, as sparse rows.

    A sparse row maps the position of an input to a derivative that is not structurally 0.
    """

    def of(self, x: S) -> dict[int, S]:
        """Derivatives of `x`, with the remembered derivatives of the named scalars inside it."""

    def reverse(self, scalars: Sequence[S]) -> list[dict[int, S]]:
        """Derivatives of several scalars by reverse differentiation, which opens all names."""

    def remember(self, name: str, value: S, row: dict[int, S]) -> None:
        """Take `row` as the derivatives of the scalar that ``name = value`` defines."""


class Adjoints(Protocol[S]):
    """Reverse derivatives with respect to a fixed list of inputs, one statement at a time."""

    def of(self, x: S, weight: S, named: Collection[S]) -> dict[S, S]:
        """`weight` times the derivatives of `x` by the inputs and by the `named` scalars inside it.

        Scalars that do not depend on the inputs are left out; `named` scalars are not opened.
        """


class Algebra(Protocol[S]):
    """A kind of scalars."""

    @property
    def is_exact(self) -> bool:
        """Whether no number is ever rounded, so that cancellation does no harm."""

    @property
    def zero(self) -> S:
        """The constant 0."""

    @property
    def one(self) -> S:
        """The constant 1."""

    def constant(self, value: float) -> S:
        """The constant `value`; a float64 within 2 ulp of k pi/2 may be taken as exactly that."""

    def symbol(self, name: str) -> S:
        """Return the input or parameter named `name`."""

    def function(self, name: str, *args: S) -> S:
        """``sin cos tan asin acos atan atan2 exp log tanh sqrt abs sign pow``."""

    def is_zero(self, x: S) -> bool:
        """Whether `x` is known to be 0 by its structure."""

    def is_atomic(self, x: S) -> bool:
        """Whether `x` is a constant or a symbol, perhaps negated."""

    def settled(self, x: S) -> S:
        """`x`, with a constant of many operations replaced by a decimal number."""

    def named(self, name: str, x: S) -> S:
        """Name `x`; later expressions should use the result."""

    def unsigned(self, x: S) -> S:
        """`x` without the sign that expressions leave out where they use it."""

    def shared(self, values: Sequence[S], named: Collection[S]) -> list[list[S]]:
        """For each of `values`, the unnamed subexpressions that later values contain, too.

        Operands stand before their users; `named` scalars are not opened.
        """

    def size(self, scalars: Sequence[S]) -> int:
        """Number of distinct nodes of scalars; 0 for an algebra without a graph."""

    def replaced(self, scalars: Sequence[S], values: Mapping[S, S]) -> list[S]:
        """`scalars` with the symbols that are keys of `values` replaced, simplified anew."""

    def derivatives(self, inputs: Sequence[S], along: Sequence[S] = ()) -> Derivatives[S]:
        """Forward derivatives by `inputs`, which are symbols; or `along` one direction, at 0."""

    def adjoints(self, inputs: Sequence[S]) -> Adjoints[S]:
        """Reverse derivatives with respect to `inputs`, which are symbols."""
