"""The formulations, and how a program is derived from one of them.

Adding a formulation is one module or package here and one entry of `FORMULATIONS`.  The order is
that of preference where several serve equally well.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgen.algebra.interface import S
from symgen.errors import RequestError
from symgen.formulations import joint_terms
from symgen.formulations.closed_form_lagrange import CLOSED_FORM_LAGRANGE
from symgen.formulations.interface import Formulation, State
from symgen.formulations.newton_euler import NEWTON_EULER
from symgen.formulations.recursive_lagrange import RECURSIVE_LAGRANGE
from symgen.formulations.shared import load_entry_names, wrenches
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.functions import FUNCTION_NAMES, function_named
from symgen.program.program import Program

FORMULATIONS: tuple[Formulation, ...] = (
    NEWTON_EULER,
    RECURSIVE_LAGRANGE,
    CLOSED_FORM_LAGRANGE,
)

PLANNED_FORMULATIONS = (
    "kane",
    "explicit_kane",
    "semi_recursive",
    "composite",
)

__all__ = [
    "FORMULATIONS",
    "PLANNED_FORMULATIONS",
    "Formulation",
    "declare_inputs",
    "derive",
    "formulation_named",
    "provided_functions",
]


def formulation_named(name: str) -> Formulation:
    """The formulation called `name`; RequestError says what there is instead."""
    for candidate in FORMULATIONS:
        if candidate.name == name:
            return candidate
    if name in PLANNED_FORMULATIONS:
        raise RequestError(f"formulation {name!r} is not available yet")
    names = ", ".join(formulation.name for formulation in FORMULATIONS)
    raise RequestError(f"no formulation is called {name!r}; there are: {names}")


def provided_functions(formulation: Formulation) -> tuple[str, ...]:
    """The functions that `formulation` can derive, in the order of the table of functions."""
    return tuple(name for name in FUNCTION_NAMES if name in formulation.functions)


def derive(tree: KinematicTree[S], formulation: Formulation, function: str) -> Program[S]:
    """The program of one function by one formulation, over the algebra of `tree`."""
    builder = ProgramBuilder(tree.algebra, taken=tree.parameter_names)
    state = declare_inputs(tree, builder, function)
    builder.parameters(tree.parameter_names)
    if function not in formulation.functions:
        raise KeyError(f"{formulation.name} does not derive {function}")
    formulation.functions[function](tree, builder, state)
    notes = {**formulation.notes, **joint_terms.NOTES}
    return builder.build(tree.name, formulation.name, function, notes)


def declare_inputs(tree: KinematicTree[S], builder: ProgramBuilder[S], function: str) -> State[S]:
    """Declare what `function` takes, as symbols; what it does not take is 0."""
    n, loads = tree.n, len(tree.loads)
    spec = function_named(function)
    taken = {argument.name for argument in (*spec.arguments, *spec.options)}
    zero = tree.algebra.zero

    def joint_input(name: str) -> tuple[S, ...]:
        if name not in taken:
            return (zero,) * n
        return builder.input(name, (n,), [f"{name}_{i}" for i in range(1, n + 1)])

    q, qd, qdd = joint_input("q"), joint_input("qd"), joint_input("qdd")
    entries: Sequence[S] = (zero,) * (6 * loads)
    if "loads" in taken:
        entries = builder.input("loads", (loads, 6), load_entry_names(tree))
    return State(q, qd, qdd, wrenches(entries))
