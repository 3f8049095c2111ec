"""Parameters as a tree is built: which stay names, and which follow others.

A parameter that is an argument at run time must carry those that are derived from it along: they
are replaced by their definitions, so that the equations, and their derivatives with respect to
parameters, follow by the chain rule.  All others stay names, derived ones included; folding puts
numbers in their place.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Generic

from symgen.algebra.interface import Adjoints, Algebra, Derivatives, S
from symgen.description.model import Parameter
from symgen.description.scalars import dependency_order
from symgen.kinematics.scalars import scalar


class WithDefinitions(Generic[S]):
    """An algebra in which some names stand for scalars that are given."""

    def __init__(self, algebra: Algebra[S], definitions: Mapping[str, S]) -> None:
        self._algebra = algebra
        self._definitions = definitions

    @property
    def is_exact(self) -> bool:
        """See `Algebra`."""
        return self._algebra.is_exact

    @property
    def zero(self) -> S:
        """The constant 0."""
        return self._algebra.zero

    @property
    def one(self) -> S:
        """The constant 1."""
        return self._algebra.one

    def constant(self, value: float) -> S:
        """The constant `value`."""
        return self._algebra.constant(value)

    def symbol(self, name: str) -> S:
        """Return the definition of `name`, or its symbol."""
        definition = self._definitions.get(name)
        return self._algebra.symbol(name) if definition is None else definition

    def function(self, name: str, *args: S) -> S:
        """See `Algebra`."""
        return self._algebra.function(name, *args)

    def is_zero(self, x: S) -> bool:
        """See `Algebra`."""
        return self._algebra.is_zero(x)

    def is_atomic(self, x: S) -> bool:
        """See `Algebra`."""
        return self._algebra.is_atomic(x)

    def settled(self, x: S) -> S:
        """See `Algebra`."""
        return self._algebra.settled(x)

    def named(self, name: str, x: S) -> S:
        """See `Algebra`."""
        return self._algebra.named(name, x)

    def unsigned(self, x: S) -> S:
        """See `Algebra`."""
        return self._algebra.unsigned(x)

    def shared(self, values: Sequence[S], named: Collection[S]) -> list[list[S]]:
        """See `Algebra`."""
        return self._algebra.shared(values, named)

    def size(self, scalars: Sequence[S]) -> int:
        """See `Algebra`."""
        return self._algebra.size(scalars)

    def replaced(self, scalars: Sequence[S], values: Mapping[S, S]) -> list[S]:
        """See `Algebra`."""
        return self._algebra.replaced(scalars, values)

    def derivatives(self, inputs: Sequence[S], along: Sequence[S] = ()) -> Derivatives[S]:
        """See `Algebra`."""
        return self._algebra.derivatives(inputs, along)

    def adjoints(self, inputs: Sequence[S]) -> Adjoints[S]:
        """See `Algebra`."""
        return self._algebra.adjoints(inputs)

    def jacobian(self, outputs: Sequence[S], inputs: Sequence[S]) -> list[dict[int, S]]:
        """See `Algebra`."""
        return self._algebra.jacobian(outputs, inputs)


def followers(parameters: Sequence[Parameter], leaders: Collection[str]) -> dict[str, Parameter]:
    """The parameters that are derived from one of `leaders`, those that they build on first."""
    by_name = {parameter.name: parameter for parameter in parameters}
    order, _ = dependency_order({p.name: p.expression.names for p in parameters})
    changing, dependents = set(leaders), {}
    for name in order:
        if not changing.isdisjoint(by_name[name].expression.names):
            changing.add(name)
            dependents[name] = by_name[name]
    return dependents


def definitions_of(
    parameters: Sequence[Parameter], runtime: Collection[str], algebra: Algebra[S]
) -> dict[str, S]:
    """The parameters that follow one of `runtime`, by name, as expressions over `algebra`."""
    definitions: dict[str, S] = {}
    defining = WithDefinitions(algebra, definitions)
    for name, parameter in followers(parameters, runtime).items():
        definitions[name] = scalar(parameter.expression, defining)
    return definitions
