"""The formulations, and how a program is derived from one of them.

Adding a formulation is one module or package here and one entry of `FORMULATIONS`.  The order is
that of preference where several serve equally well.  `VARIANTS` differ from one of them in a
parameter, and are there for those who name them, as those of `GLOBAL` are, which take trees in
natural coordinates.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import prod

from symgen.algebra.interface import S
from symgen.errors import RequestError
from symgen.formulations import (
    accelerations,
    coupled,
    forces,
    joint_terms,
    manifolds,
    products,
    torques,
)
from symgen.formulations.closed_form_lagrange import CLOSED_FORM_LAGRANGE
from symgen.formulations.composite import COMPOSITE
from symgen.formulations.coupled import state_of_joints
from symgen.formulations.direct import Direct
from symgen.formulations.explicit_kane import EXPLICIT_KANE, PARTIALLY_RECURSIVE_KANE
from symgen.formulations.interface import Formulation
from symgen.formulations.kane import KANE
from symgen.formulations.natural_coordinates import NATURAL_COORDINATES
from symgen.formulations.newton_euler import NEWTON_EULER
from symgen.formulations.recursive_lagrange import RECURSIVE_LAGRANGE
from symgen.formulations.rolled import RolledBuilder, Start
from symgen.formulations.semi_recursive import (
    SEMI_RECURSIVE,
    SEMI_RECURSIVE_RTDYN0,
    SEMI_RECURSIVE_RTDYN1,
)
from symgen.formulations.shared import declare_inputs, declare_results
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.options import ALL, DEFAULT
from symgen.program.builder import ProgramBuilder, Results
from symgen.program.derivatives import DERIVATIVES
from symgen.program.functions import FUNCTION_NAMES, function_named
from symgen.program.products import PRODUCTS
from symgen.program.program import Program
from symgen.program.rolled import RolledProgram
from symgen.support.suggestions import suggestion

FORMULATIONS: tuple[Formulation, ...] = (
    COMPOSITE,
    NEWTON_EULER,
    KANE,
    RECURSIVE_LAGRANGE,
    CLOSED_FORM_LAGRANGE,
    EXPLICIT_KANE,
    PARTIALLY_RECURSIVE_KANE,
    SEMI_RECURSIVE,
)

VARIANTS: tuple[Formulation, ...] = (SEMI_RECURSIVE_RTDYN0, SEMI_RECURSIVE_RTDYN1)

GLOBAL: tuple[Formulation, ...] = (NATURAL_COORDINATES,)

KNOWN = (*FORMULATIONS, *VARIANTS, *GLOBAL)

SHARED_NOTES = {
    **joint_terms.NOTES,
    **torques.NOTES,
    **accelerations.NOTES,
    **coupled.NOTES,
    **manifolds.NOTES,
    **forces.ALL_NOTES,
    **products.by_statements.NOTES,
    **products.by_torques.NOTES,
}

__all__ = [
    "FORMULATIONS",
    "GLOBAL",
    "KNOWN",
    "VARIANTS",
    "Formulation",
    "considered",
    "declare_inputs",
    "derive",
    "derive_rolled",
    "formulation_named",
    "formulations_named",
    "has_rolled_form",
    "provided_functions",
    "state_of_joints",
    "without_solution",
]


def formulation_named(name: str) -> Formulation:
    """Return the formulation called `name`; RequestError says what there is instead."""
    for candidate in KNOWN:
        if candidate.name == name:
            return candidate
    names = [formulation.name for formulation in KNOWN]
    raise RequestError(f"no formulation is called {name!r}; {suggestion(name, names)}")


def formulations_named(names: Collection[str]) -> tuple[Formulation, ...]:
    """Return the formulations called `names`; ``default`` and ``all`` stand for `FORMULATIONS`."""
    named = [formulation_named(name) for name in names if name not in (DEFAULT, ALL)]
    everything = len(named) < len(names)
    return tuple(x for x in considered(names) if everything or x in named)


def considered(names: Collection[str]) -> tuple[Formulation, ...]:
    """All formulations, and those of the variants and global ones that are among `names`."""
    return (*FORMULATIONS, *(item for item in (*VARIANTS, *GLOBAL) if item.name in names))


def provided_functions(
    formulation: Formulation, tree: KinematicTree[S] | None = None
) -> tuple[str, ...]:
    """Return the functions that `formulation` can derive, in the order of the table of functions.

    With a `tree`, those that it can derive for it.
    """
    able = set(formulation.functions)
    if tree is not None and tree.manifolds:
        able = manifolds.are_derived(able, tree)
    if tree is not None and tree.forces:
        able = forces.are_derived(able)
    able |= {
        name
        for name, product in PRODUCTS.items()
        if product.of in able and not (tree is not None and manifolds.lacking(name, tree))
    }
    return tuple(name for name in FUNCTION_NAMES if name in able)


def derive(tree: KinematicTree[S], formulation: Formulation, function: str) -> Program[S]:
    """Return the program of one function by one formulation, over the algebra of `tree`."""
    builder = ProgramBuilder(tree.algebra, taken=tree.parameter_names)
    state = declare_inputs(tree, builder, function)
    builder.parameters(tree.parameter_names)
    product = PRODUCTS.get(function)
    written = function if product is None else product.of
    if written not in formulation.functions:
        raise KeyError(f"{formulation.name} does not derive {function}")

    functions = dict(formulation.functions)
    if formulation.inverse_dynamics is not None:
        functions["inverse_dynamics"] = formulation.inverse_dynamics

    def by_coordinates(
        tree: KinematicTree[S], builder: ProgramBuilder[S], state: State[S], name: str
    ) -> Results[S]:
        if tree.is_coupled:
            return coupled.write(tree, builder, state, functions, name)
        return functions[name](tree, builder, state)

    def by_velocities(
        tree: KinematicTree[S], builder: ProgramBuilder[S], state: State[S], name: str
    ) -> Results[S]:
        if tree.manifolds:
            twice = product is not None and product.backwards and product.along
            return manifolds.write(tree, builder, state, by_coordinates, name, twice)
        return by_coordinates(tree, builder, state, name)

    def by_motion(state: State[S], name: str) -> Results[S]:
        if tree.forces:
            return forces.write(tree, builder, state, by_velocities, name)
        return by_velocities(tree, builder, state, name)

    def torques_at(qdd: Sequence[S]) -> Sequence[S]:
        return by_motion(replace(state, qdd=tuple(qdd)), "inverse_dynamics")["tau"]

    derivative = DERIVATIVES.get(written)
    if isinstance(functions[written], Direct) and derivative and derivative.holds_motion:
        values = derivative.of
        results = Direct(written, lambda *_: by_motion(state, values))(tree, builder, state)
    else:
        results = by_motion(state, written)
    if written == "forward_dynamics" and product is not None and "inverse_dynamics" in functions:
        results = products.by_torques.write(tree, builder, product, state.q, results, torques_at)
    elif product is not None:
        results = products.by_statements.write(tree, builder, product, state.q, results)
    declare_results(tree, builder, function, results)
    notes = {**formulation.notes, **SHARED_NOTES}
    return builder.build(tree.name, formulation.name, function, notes)


def has_rolled_form(tree: KinematicTree[S], formulation: Formulation, function: str) -> bool:
    """Whether there are loops of a function: not where joints follow others or there are forces of
    the model, and of joints on manifolds for some functions and floating bases alone."""
    if function not in formulation.rolled or tree.is_coupled or tree.forces:
        return False
    return not tree.manifolds or manifolds.has_rolled_form(tree, function)


def derive_rolled(
    tree: KinematicTree[S], formulation: Formulation, function: str
) -> RolledProgram[S]:
    """Derive the rolled program of a function that has loops (`has_rolled_form`)."""

    def start() -> Start[S]:
        builder = ProgramBuilder(tree.algebra, taken=tree.parameter_names)
        state = declare_inputs(tree, builder, function)
        if tree.manifolds:
            return manifolds.start_of_rolled(tree, builder, state, function)
        return Start(builder, state, tree, state)

    notes = {**formulation.notes, **SHARED_NOTES}
    rolled = RolledBuilder(tree, (formulation.name, function), start, notes)
    formulation.rolled[function](tree, rolled)
    return rolled.build()


def without_solution(tree: KinematicTree[S], formulation: Formulation, function: str) -> Program[S]:
    """The program of a function that solves, for a robot whose mass matrix is always singular.

    Its pivots are 0, so that every call reports that there is no solution.
    """
    builder = ProgramBuilder(tree.algebra)
    declare_inputs(tree, builder, function)
    builder.parameters(tree.runtime_parameters)
    spec = function_named(function)
    shapes = {x.name: x.sizes(tree.sizes) for x in (*spec.results, *spec.hidden)}
    nothing = {name: (tree.algebra.zero,) * prod(shape) for name, shape in shapes.items()}
    declare_results(tree, builder, function, nothing)
    return builder.build(tree.name, formulation.name, function, {})
