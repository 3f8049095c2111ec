"""The closed form of a page: results in readable mathematics, where they are small enough.

The equations are those of `symgen show --expanded`, collected by `symgen.algebra.blackboard`, with
its abbreviations of sines and cosines of sums of coordinates: s_12 = sin(q_1 + q_2).

`cost_as_written` counts operations by hand.  In programs (`symgen.optimize.operations`) the closed
form is derived from 4x4 matrices, link by link, and not collected into the terms of the page.  Here
SymPy's expressions are counted as printed: a product of k factors has k - 1 multiplications, as has
a power of exponent k, a sum of k terms k - 1 additions; a change of sign is free, and every sine or
cosine is computed once, as the abbreviations of the page imply.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy

from symgen.algebra.blackboard import with_short_waves
from symgen.deriving.symbolic import SymbolicDynamics
from symgen.description.model import RobotDescription
from symgen.formulations import formulation_named
from symgen.optimize.operations import OperationCount
from symgen.page.counting import PARTS, TORQUES, Counted
from symgen.page.mathml import mathml
from symgen.showing.equations import LARGEST_CLOSED_ROBOT, decimal, shown_parts, written_out
from symgen.showing.typesetting import Inputs, Label, inputs_of, latex, latex_equation
from symgen.support.journal import Journal

CLOSED = "closed_form_lagrange"
HEADINGS = {
    "mass_matrix": "Mass matrix",
    "coriolis_matrix": "Coriolis matrix (of the Christoffel symbols)",
    "torque_parts": "The torques in parts",
    "kinetic_energy": "Kinetic energy",
    "potential_energy": "Potential energy",
    "inverse_dynamics": "Equations of motion",
    "inverse_dynamics_derivatives": "Derivatives of the torques",
    "constraints": "Constraints that close the loops",
    "constraint_jacobian": "Jacobian of the constraints",
}
OF_CONSTRAINTS = "newton_euler"
"""Formulation of constraints, which the closed form of the tree has not."""
AT_REST = ("gravity", "load", "joint_term")
"""Parts of the torques that do not vanish with the velocities and accelerations."""

LARGEST, LARGEST_OF_MANY = 12_000, 300
"""Largest number of operations of shown results, written out; of robots with many joints only short
results, because products of many sines and cosines take minutes to collect."""

LONGEST_UNFOLDED = 3000
"""Largest number of characters in LaTeX of equations that are not folded."""


@dataclass(frozen=True)
class Equation:
    """An equation as MathML and as LaTeX; `part` is that of the torque in `torque_parts`."""

    mathml: str
    latex: str
    part: str
    is_zero: bool


@dataclass(frozen=True)
class _Printed:
    """An equation before typesetting: left side, right side, and abbreviations."""

    label: Label
    value: Any
    inputs: Inputs
    waves: dict[Any, Any]
    part: str

    @property
    def entries(self) -> list[Any]:
        """The entries of a vector or a matrix, or the only one."""
        return list(self.value) if isinstance(self.value, sympy.MatrixBase) else [self.value]


@dataclass(frozen=True)
class Equations:
    """A function: heading and equations, or only its size where it is too large."""

    function: str
    heading: str
    equations: tuple[Equation, ...]
    operations: int

    @property
    def is_long(self) -> bool:
        """Whether the equations are folded in the page."""
        return sum(len(equation.latex) for equation in self.equations) > LONGEST_UNFOLDED


@dataclass(frozen=True)
class ClosedForm:
    """The functions with equations, and their abbreviations as MathML.

    `has_roots` says whether sums under roots are abbreviated.
    `torques` is the cost of the printed equations of motion, `unloaded` that without terms of
    loads; None where not applicable.
    """

    functions: tuple[Equations, ...]
    abbreviations: tuple[str, ...]
    has_roots: bool = False
    torques: WrittenCost | None = None
    unloaded: WrittenCost | None = None

    @property
    def is_shown(self) -> bool:
        """Whether anything was small enough."""
        return any(function.equations for function in self.functions)

    def shows(self, function: str) -> bool:
        """Return whether the equations of a function were small enough."""
        return any(item.equations for item in self.functions if item.function == function)

    @property
    def at_rest(self) -> tuple[Equation, ...]:
        """Shown parts of the torques without motion, except those that are always 0."""
        parts = (x for function in self.functions for x in function.equations)
        return tuple(x for x in parts if x.part in AT_REST and not x.is_zero)


@lru_cache(maxsize=1)
def symbolic(description: RobotDescription) -> SymbolicDynamics:
    """Return the closed form over SymPy, derived once for all parts of a page."""
    return SymbolicDynamics(description, formulation_named(CLOSED))


def closed_form(description: RobotDescription, counted: Counted, journal: Journal) -> ClosedForm:
    """Derive the closed form of `description`; nothing where it is too large."""
    formulation = formulation_named(CLOSED)
    if not counted.legible or formulation.why_not(counted.tree) is not None:
        return ClosedForm((), ())
    dynamics = symbolic(description)
    legend: dict[Any, Any] = {}
    few = sum(joint.coordinates for joint in description.joints) <= LARGEST_CLOSED_ROBOT
    largest = LARGEST if few else LARGEST_OF_MANY
    functions = []
    radicands: dict[Any, Any] = {}
    costs: tuple[WrittenCost | None, WrittenCost | None] = (None, None)
    sources = [dynamics]
    if counted.tree.constraint_names:
        sources.append(SymbolicDynamics(description, formulation_named(OF_CONSTRAINTS)))
    for done, (function, heading) in enumerate(HEADINGS.items()):
        source = next((x for x in sources if function in x.functions), None)
        if source is None:
            continue
        journal.progress(f"closed form: {function}", done, len(HEADINGS))
        by = CLOSED if few and source is dynamics else "newton_euler"
        size = written_out(description, function, by)
        printed = list(_printed(source, function, radicands)) if size <= largest else []
        for item in printed:
            legend.update({name: (wave, item.inputs) for name, wave in item.waves.items()})
        functions.append(Equations(function, heading, tuple(map(_equation, printed)), size))
        if function == TORQUES and printed:
            costs = _costs(printed[0])
    names = sorted(legend, key=lambda symbol: (len(symbol.name), symbol.name))
    waves = (mathml(f"{latex(name, {})} = {latex(*legend[name])}") for name in names)
    return ClosedForm(tuple(functions), tuple(waves), bool(radicands), *costs)


def _costs(torques: _Printed) -> tuple[WrittenCost, WrittenCost | None]:
    """Return costs of the equations of motion with loads, and without if there are any."""
    cost = cost_as_written(torques.entries, torques.waves)
    loads = dict.fromkeys(torques.inputs.get("loads", ()), 0)
    if not loads:
        return cost, None
    bare = [entry.subs(loads) for entry in torques.entries]
    return cost, cost_as_written(bare, torques.waves)


def _printed(
    dynamics: SymbolicDynamics, function: str, radicands: dict[Any, Any]
) -> Iterator[_Printed]:
    inputs = inputs_of(dynamics.program(function))
    result = dynamics.readable(function)
    parts = result if isinstance(result, tuple) else (result,)
    results = [(0, part) for part in parts]
    for heading, label, value in shown_parts(dynamics, function, results, "latex"):
        if isinstance(value, list) or (heading == "tau" and len(parts) > 1):
            continue  # no entries, or shown before
        names = dynamics.description.parameter_values
        short, waves = with_short_waves(decimal(value), inputs.get("q", ()), names)
        short, roots = with_named_radicands(short, radicands)
        part = heading.removesuffix("_torques") if function == PARTS else ""
        yield _Printed(label, short, inputs, waves | roots, part)


def with_named_radicands(value: Any, names: dict[Any, Any]) -> tuple[Any, dict[Any, Any]]:
    """Abbreviate sums under roots that occur repeatedly as ``r_1``; return both.

    `value` is an expression or a matrix; `names` are radicands with their names so far, to which
    those of `value` are added.  If a symbol has such a name, nothing is abbreviated.
    """
    entries = list(value) if isinstance(value, sympy.MatrixBase) else [value]
    roots = [
        node for entry in entries for node in sympy.preorder_traversal(entry)
        if node.is_Pow and node.exp.is_Rational and node.exp.q == 2 and node.base.is_Add
    ]  # fmt: skip
    if any(re.match(r"r_?\d", symbol.name) for symbol in value.free_symbols):
        return value, {}
    bases = [root.base for root in roots]
    for base in dict.fromkeys(bases):
        if bases.count(base) > 1 and base not in names:
            names[base] = sympy.Symbol(f"r_{len(names) + 1}", positive=True)
    short = {root: names[root.base] ** root.exp for root in roots if root.base in names}
    return value.xreplace(short), {names[root.base]: root.base for root in short}


def _equation(item: _Printed) -> Equation:
    text = latex_equation(item.label, item.value, item.inputs)
    zero = not any(item.entries)
    return Equation(mathml(text, block=True), text, item.part, zero)


@dataclass(frozen=True)
class WrittenCost:
    """Operations of printed equations: term by term, and with common subexpressions shared."""

    as_printed: OperationCount
    shared: OperationCount
    temporaries: int


def cost_as_written(entries: Iterable[Any], waves: Mapping[Any, Any]) -> WrittenCost:
    """Return the cost of `entries`, in which the names in `waves` abbreviate sines and cosines."""
    results = list(entries)
    used = sympy.Tuple(*results).free_symbols
    abbreviated = _count([wave for name, wave in waves.items() if name in used])
    temporaries, rest = sympy.cse(results)
    common = _count([value for _, value in temporaries])
    return WrittenCost(
        as_printed=abbreviated + _count(results),
        shared=abbreviated + common + _count(rest),
        temporaries=len(temporaries) + sum(name in used for name in waves),
    )


def _count(expressions: Iterable[Any]) -> OperationCount:
    return sum(map(_of, expressions), OperationCount())


def _of(expression: Any) -> OperationCount:
    if expression.is_Atom:
        return OperationCount()
    if expression.is_Add:
        return _count(expression.args) + OperationCount(additions=len(expression.args) - 1)
    above, below = sympy.fraction(expression) if expression.is_Mul else (expression, sympy.S.One)
    if below.free_symbols:
        return _of(above) + _of(below) + OperationCount(divisions=1)
    if expression.is_Mul:
        factors = [factor for factor in expression.args if factor != -1]
        return _count(factors) + OperationCount(multiplications=len(factors) - 1)
    if expression.is_Pow and expression.exp.is_Integer:
        base, times = expression.base, abs(int(expression.exp)) - 1
        return _of(base) + OperationCount(0, times, int(bool(expression.exp < 0)))
    return _count(expression.args) + OperationCount(functions=1)
