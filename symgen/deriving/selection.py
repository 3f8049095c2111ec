"""Selection of formulations and functions, with reasons for those left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from symgen.algebra.graph import Graph
from symgen.description.model import RobotDescription
from symgen.errors import RequestError
from symgen.formulations import (
    FORMULATIONS,
    Formulation,
    considered,
    formulation_named,
    manifolds,
    provided_functions,
)
from symgen.kinematics.tree import KinematicTree, build_tree
from symgen.options import ALL, DEFAULT, LARGEST_READING_ROBOT, NONE, STRAIGHT, BuildOptions
from symgen.program.functions import (
    FUNCTION_NAMES,
    function_named,
    function_suggestion,
    inapplicable_functions,
)
from symgen.program.products import NEEDED
from symgen.support.suggestions import suggestion

LARGEST_BUILT = 1_300_000
"""Maximum estimated number of operations of a function to build: above, gcc would take a quarter of
an hour and gigabytes."""

LARGEST_EVALUATED = 80_000
"""Maximum estimated number of operations (a second or two) up to which a function of a formulation
that was not selected is evaluated for validation.  Above, the independent numeric model and the
physical checks validate."""

LARGEST_ROBOT = 400
"""Maximum number of coordinates: above, selection alone takes minutes, and results such as the
derivatives of the mass matrix exceed the memory."""

MANY_COORDINATES = 80
"""Number of coordinates from which a build takes minutes and announces this."""

SIZE_IN_LOOPS = 30_000
"""Operations of straight-line code that takes as long to build as a large function in loops."""

LARGEST_SEVERAL = 1_500
"""Maximum number of entries of results up to which every formulation that was not selected
evaluates a function.  Above (derivatives of the torques from 23 coordinates, the mass matrix from
39) only the one with the smallest estimate does in a build; in `symgen check` all of them do."""

Size = Callable[[Formulation, str], int]
"""Estimated operations of a function by a formulation."""

Delegated = Mapping[str, Mapping[str, str]]
"""formulation -> function -> the formulation that evaluates it instead"""


@dataclass(frozen=True)
class Selection:
    """Functions to build and to evaluate, by formulation, in table order.

    `evaluated` functions are not built, but derived and evaluated for validation.  `skipped` maps
    every other formulation to the reason, `inapplicable` every function that is undefined for this
    model.  `runtime_parameters` are arguments of the module.  `delegated` functions are evaluated
    by another formulation instead.  `rivals` are formulations, by function, that may derive it with
    fewer operations than the one that builds it.
    """

    n: int
    built: Mapping[str, tuple[str, ...]]
    evaluated: Mapping[str, tuple[str, ...]]
    skipped: Mapping[str, str]
    inapplicable: Mapping[str, str] = field(default_factory=dict)
    runtime_parameters: tuple[str, ...] = ()
    delegated: Delegated = field(default_factory=dict)
    rivals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def settled(self, built: Mapping[str, Collection[str]]) -> Selection:
        """Return the selection after the decision between rivals: the `built` ones stay."""
        names = [item.name for item in considered((*self.built, *self.evaluated))]
        chosen = {n: tuple(f for f in FUNCTION_NAMES if f in built.get(n, ())) for n in names}
        remaining = {n: tuple(f for f in self.functions_of(n) if f not in chosen[n]) for n in names}
        empty = [n for n, functions in self.built.items() if not functions]
        return replace(
            self,
            built={n: x for n, x in chosen.items() if x or n in empty},
            evaluated={n: x for n, x in remaining.items() if x},
            rivals={},
        )

    @property
    def formulations(self) -> tuple[str, ...]:
        """The formulations that are built."""
        return tuple(self.built)

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions that are built by at least one formulation."""
        names = {name for functions in self.built.values() for name in functions}
        return tuple(name for name in FUNCTION_NAMES if name in names)

    def functions_of(self, formulation: str) -> tuple[str, ...]:
        """Return the functions to derive by `formulation`: to build, or to evaluate."""
        names = (*self.built.get(formulation, ()), *self.evaluated.get(formulation, ()))
        return tuple(name for name in FUNCTION_NAMES if name in names)


def notices_of_size(description: RobotDescription) -> tuple[str, ...]:
    """Announce a long build."""
    n = len(description.coordinate_names)
    if n < MANY_COORDINATES:
        return ()
    return (
        f"{n} coordinates: a build of everything takes minutes, or longer (Ctrl-C stops it); "
        "--functions inverse_dynamics,forward_dynamics builds much less",
    )


def select(description: RobotDescription, options: BuildOptions) -> Selection:
    """Select formulations and functions.

    Raises:
        RequestError: the robot is too large, or a requested formulation, function or parameter
            does not exist or apply.
    """
    runtime = runtime_parameters(description, options.runtime_parameters)
    axes = sum(joint.coordinates for joint in description.joints)
    if axes > LARGEST_ROBOT:
        raise RequestError(
            f"{description.file}: the robot has {axes} moving axes; code is generated for up to "
            f"{LARGEST_ROBOT}. Fixed joints do not count: fix those that need not move"
        )
    tree = build_tree(description, Graph(), runtime)
    for links in tree.weightless:
        raise RequestError(
            f"{description.file}: the links {' and '.join(links)} are fixed to each other, their "
            "masses are runtime parameters, and all of them are 0 in the file: their common centre "
            "of mass is not defined; give one of them a mass, or leave them out of "
            "--runtime-parameters"
        )
    items = considered(options.formulations)
    reasons = {item.name: item.why_not(tree) for item in items}
    applicable = tuple(name for name, reason in reasons.items() if reason is None)
    inapplicable = inapplicable_functions(tree.sizes)
    n = len(tree.independent)
    entire, fastest = _asked_formulations(options.formulations, reasons, n)
    providers = applicable if fastest else entire
    functions = _chosen_functions(options.functions, providers, inapplicable, tree)
    size, size_evaluated = _size_built(tree, options), _size(tree)
    provided = {item.name: provided_functions(item, tree) for item in items}
    wanted = _wanted(entire, fastest, functions, size, provided)
    built, able = dict[str, tuple[str, ...]](), dict[str, tuple[str, ...]]()
    too_large: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    for item in items:
        idle = item.name not in wanted and not (item.by_default or options.thorough)
        if reasons[item.name] is not None or idle:
            continue
        chosen = wanted.get(item.name, ())
        small, large = _by_size(item, chosen, size, LARGEST_BUILT)
        rest = [x for x in functions if x not in chosen and x in provided[item.name]]
        able[item.name], unchecked = _by_size(item, rest, size_evaluated, LARGEST_EVALUATED)
        if small or (item.name in wanted and not functions):
            built[item.name] = small
        too_large[item.name] = large, unchecked
    delegated = {} if options.thorough else _delegated(able, tree)
    skipped = {name: reason for name, reason in reasons.items() if reason is not None}
    for name, (large, unchecked) in too_large.items():
        reason = _left_out(large, unchecked, delegated.get(name, {}))
        if not (reason or built.get(name) or able[name]) and functions:
            reason = "derives none of these functions"
        if reason:
            skipped[name] = reason
    if functions and not built:
        raise RequestError("; ".join(f"{name}: {skipped[name]}" for name in wanted))
    evaluated = {
        name: remaining
        for name, candidates in able.items()
        if (remaining := tuple(x for x in candidates if x not in delegated.get(name, {})))
    }
    rivals = {
        function: tuple(x for x in fastest if function in evaluated.get(x, ()))
        for name in fastest
        for function in built.get(name, ())
    }
    return Selection(n, built, evaluated, skipped, inapplicable, runtime, delegated, rivals)


def _size(tree: KinematicTree[Any]) -> Size:
    return lambda item, function: item.operations(tree, function)


def _size_built(tree: KinematicTree[Any], options: BuildOptions) -> Size:
    """Estimate operations; loops replace straight-line code if all backends have them."""
    backend_has_loops = options.form != STRAIGHT and options.backend not in ("cython", ALL)
    in_loops = backend_has_loops and not (tree.is_coupled or tree.forces)

    def size(item: Formulation, function: str) -> int:
        operations = item.operations(tree, function)
        loops = in_loops and function in item.rolled
        return min(operations, SIZE_IN_LOOPS) if loops else operations

    return size


def _delegated(able: Mapping[str, Sequence[str]], tree: KinematicTree[Any]) -> Delegated:
    """Return the large functions of `able` that only one formulation evaluates."""
    delegated: dict[str, dict[str, str]] = {}
    for function in FUNCTION_NAMES:
        names = [name for name, functions in able.items() if function in functions]
        results = function_named(function).results
        numbers = sum(prod(x.sizes(tree.sizes)) for x in results)
        if not names or numbers <= LARGEST_SEVERAL:
            continue
        sizes = {name: formulation_named(name).operations(tree, function) for name in names}
        serving = min(names, key=sizes.__getitem__)
        for name in names:
            if name != serving:
                delegated.setdefault(name, {})[function] = serving
    return delegated


def _left_out(large: Sequence[str], unchecked: Sequence[str], delegated: Mapping[str, str]) -> str:
    parts = []
    if large:
        parts.append(f"too large to build: {', '.join(large)}")
    if unchecked:
        parts.append(f"not selected, and too large to evaluate: {', '.join(unchecked)}")
    if delegated:
        serving = " and ".join(dict.fromkeys(delegated.values()))
        parts.append(f"not selected, and left to {serving}: {', '.join(delegated)}")
    return "; ".join(parts)


def _wanted(
    entire: tuple[str, ...],
    fastest: tuple[str, ...],
    functions: tuple[str, ...],
    size: Size,
    provided: Mapping[str, Sequence[str]],
) -> dict[str, tuple[str, ...]]:
    """Map formulations to the functions to build.

    Formulations of `entire` build all their functions, formulations of `fastest` the functions that
    they derive with the fewest operations.
    """
    names = [name for name in provided if name in entire or name in fastest]
    able = {name: [f for f in functions if f in provided[name]] for name in names}
    for function in functions:
        rivals = [name for name in fastest if function in able[name]]
        sizes = {name: size(formulation_named(name), function) for name in rivals}
        for name in rivals:
            if name not in entire and name != min(rivals, key=sizes.__getitem__):
                able[name].remove(function)
    wanted = {name: tuple(chosen) for name, chosen in able.items() if chosen or name in entire}
    return wanted or {name: () for name in names[:1]}


def _by_size(
    item: Formulation, functions: Iterable[str], size: Size, limit: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the functions that `item` derives by an estimated size."""
    wanted = [name for name in functions if name in provided_functions(item)]
    small = tuple(name for name in wanted if size(item, name) <= limit)
    return small, tuple(name for name in wanted if name not in small)


def _asked_formulations(
    asked: tuple[str, ...], reasons: Mapping[str, str | None], n: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the formulations to build entirely, and those to build where they are fastest."""
    applicable = tuple(name for name, reason in reasons.items() if reason is None)
    named = [name for name in asked if name not in (ALL, DEFAULT)]
    for name in named:
        formulation_named(name)
        if (reason := reasons[name]) is not None:
            raise RequestError(f"{name} does not apply to this model: {reason}")
    if ALL in asked:
        return applicable, ()
    usual = tuple(name for name in applicable if formulation_named(name).by_default)
    usual = (usual or applicable[:1]) if DEFAULT in asked else ()
    if n <= LARGEST_READING_ROBOT:
        return tuple(name for name in reasons if name in usual or name in named), ()
    return tuple(name for name in reasons if name in named), usual


def _chosen_functions(
    asked: tuple[str, ...],
    formulations: tuple[str, ...],
    inapplicable: Mapping[str, str],
    tree: KinematicTree[Any],
) -> tuple[str, ...]:
    provided = provided_by(formulations, tree)
    usual = DEFAULT in asked
    for name in asked:
        if name in (ALL, DEFAULT):
            continue
        if name not in FUNCTION_NAMES:
            raise RequestError(
                f"no function is called {name!r}; {function_suggestion(name, FUNCTION_NAMES)}"
            )
        if name in inapplicable:
            raise RequestError(f"function {name!r}: {inapplicable[name]}")
        if name not in provided:
            raise RequestError(
                f"{' and '.join(formulations)} cannot derive {name}; {who_derives(name, tree)}"
            )
    if ALL in asked:
        return tuple(n for n in FUNCTION_NAMES if n in provided and n not in inapplicable)
    compared = {needed for name in asked for needed in NEEDED.get(name, ())}  # at every build
    if "constraints" in asked and tree.loops:
        compared.add("forward_kinematics")  # by which `assemble` judges poses
    chosen = {*asked, *compared}
    if usual:
        chosen |= {x for x in provided - inapplicable.keys() if not function_named(x).on_request}
    return tuple(name for name in FUNCTION_NAMES if name in chosen)


def runtime_parameters(description: RobotDescription, asked: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the parameters that become arguments, in the order of the file.

    Raises:
        RequestError: a name is unknown or belongs to a derived parameter.
    """
    independent = description.independent_parameters
    if asked == (ALL,):
        return independent
    if asked in ((NONE,), ()):
        return ()
    by_name = {parameter.name: parameter for parameter in description.parameters}
    for name in asked:
        if name in (ALL, NONE) and name not in by_name:
            raise RequestError(f"--runtime-parameters: {name!r} stands alone, without other names")
        if name not in by_name:
            proposal = suggestion(name, independent) if independent else "the model has none"
            if len(name.split()) > 1:
                proposal = f"names are separated by commas: {','.join(name.split())}"
            raise RequestError(f"{description.file}: no parameter is called {name!r}; {proposal}")
        if name not in independent:
            text = by_name[name].expression.text
            raise RequestError(
                f"{description.file}:{by_name[name].source.line}: the parameter {name!r} is "
                f"derived ({text}) and follows {' and '.join(by_name[name].expression.names)}; "
                "make those runtime parameters instead"
            )
    return tuple(name for name in independent if name in asked)


def provided_by(formulations: tuple[str, ...], tree: KinematicTree[Any] | None = None) -> set[str]:
    """Return the functions that at least one of these formulations derives, for `tree` if given."""
    named = map(formulation_named, formulations)
    return {name for item in named for name in provided_functions(item, tree)}


def functions_with_rolled_form() -> list[str]:
    """Names ``formulation.function`` of the functions that have loops."""
    return [f"{item.name}.{function}" for item in FORMULATIONS for function in item.rolled]


def who_derives(
    function: str, tree: KinematicTree[Any] | None = None, advice: str = "add --formulations"
) -> str:
    """Describe the option that adds `function`; `advice` names it before its value."""
    able = [item.name for item in FORMULATIONS if function in provided_functions(item, tree)]
    if tree is not None and tree.manifolds and not able and function in FUNCTION_NAMES:
        beside = manifolds.lacking(function, tree) or "joints"
        return f"{function} is not available yet for {beside} with 'coordinates: quaternion'"
    reasons = [None if tree is None else formulation_named(name).why_not(tree) for name in able]
    serving = [name for name, reason in zip(able, reasons, strict=True) if reason is None]
    if serving:
        return f"{advice} {' or '.join(serving)}"
    why = f" for this model: {able[0]}: {reasons[0]}" if able else ""
    return f"{function} is not available yet{why}"
