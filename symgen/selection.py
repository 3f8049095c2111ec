"""What a build derives: formulations and functions, and what is left out for which reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from symgen.algebra.graph import Graph
from symgen.description.model import RobotDescription
from symgen.description.wording import nearest
from symgen.errors import RequestError
from symgen.formulations import FORMULATIONS, Formulation, formulation_named, provided_functions
from symgen.kinematics.tree import KinematicTree, build_tree
from symgen.options import ALL, DEFAULT, LARGEST_READING_ROBOT, BuildOptions
from symgen.program.functions import FUNCTION_NAMES, PLANNED_FUNCTIONS

LARGEST_BUILT = 1_000_000
"""A function of a formulation is not built above this estimated number of operations: gcc alone
would take minutes and gigabytes."""

LARGEST_EVALUATED = 60_000
"""A function of a formulation that was not selected is derived and evaluated, for validation alone,
up to this estimated number of operations (a second or two).  Above, the independent numeric model
and the physics serve alone."""


@dataclass(frozen=True)
class Selection:
    """What to build, and what to derive besides: functions by formulation, in table order.

    `evaluated` functions are not built, but derived and evaluated for validation.  `skipped` says
    of everything else why it is left out.
    """

    n: int
    built: Mapping[str, tuple[str, ...]]
    evaluated: Mapping[str, tuple[str, ...]]
    skipped: Mapping[str, str]

    @property
    def formulations(self) -> tuple[str, ...]:
        """The formulations that are built."""
        return tuple(self.built)

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions that at least one of them derives."""
        names = {name for functions in self.built.values() for name in functions}
        return tuple(name for name in FUNCTION_NAMES if name in names)

    def functions_of(self, formulation: str) -> tuple[str, ...]:
        """The functions to derive by `formulation`: to build, or to evaluate."""
        return self.built.get(formulation, self.evaluated.get(formulation, ()))


def select(description: RobotDescription, options: BuildOptions) -> Selection:
    """Decide what to build; RequestError where something asked for does not exist or apply."""
    tree = build_tree(description, Graph())
    reasons = {item.name: item.why_not(tree) for item in FORMULATIONS}
    chosen = _chosen_formulations(options.formulations, reasons, tree.n)
    functions = _chosen_functions(options.functions, chosen)
    built: dict[str, tuple[str, ...]] = {}
    evaluated: dict[str, tuple[str, ...]] = {}
    skipped = {name: reason for name, reason in reasons.items() if reason is not None}
    for item in FORMULATIONS:
        if item.name in skipped:
            continue
        is_built = item.name in chosen
        small, large = _by_size(
            item, functions, tree, LARGEST_BUILT if is_built else LARGEST_EVALUATED
        )
        if small or not is_built:
            (built if is_built else evaluated)[item.name] = small
        if large:
            what = "too large to build" if is_built else "not selected, and too large to evaluate"
            skipped[item.name] = f"{what}: {', '.join(large)}"
        elif not small:
            skipped[item.name] = "derives none of these functions"
    if functions and not built:
        raise RequestError("; ".join(f"{name}: {skipped[name]}" for name in chosen))
    return Selection(tree.n, built, evaluated, skipped)


def _by_size(
    item: Formulation, functions: Iterable[str], tree: KinematicTree[Any], limit: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What `item` derives of `functions`, up to an estimated size, and beyond it."""
    wanted = [name for name in functions if name in provided_functions(item)]
    small = tuple(name for name in wanted if item.estimate(tree, name) <= limit)
    return small, tuple(name for name in wanted if name not in small)


def _chosen_formulations(
    asked: tuple[str, ...], reasons: Mapping[str, str | None], n: int
) -> tuple[str, ...]:
    applicable = [name for name, reason in reasons.items() if reason is None]
    if asked == (ALL,) or (asked == (DEFAULT,) and n <= LARGEST_READING_ROBOT):
        return tuple(applicable)
    if asked == (DEFAULT,):
        return tuple(applicable[:1])
    for name in asked:
        formulation_named(name)
        if (reason := reasons[name]) is not None:
            raise RequestError(f"{name} does not apply to this model: {reason}")
    return tuple(name for name in reasons if name in asked)


def _chosen_functions(asked: tuple[str, ...], formulations: tuple[str, ...]) -> tuple[str, ...]:
    provided = provided_by(formulations)
    if asked in ((DEFAULT,), (ALL,)):
        return tuple(name for name in FUNCTION_NAMES if name in provided)
    for name in asked:
        if name in PLANNED_FUNCTIONS:
            raise RequestError(f"function {name!r} is not available yet")
        if name not in FUNCTION_NAMES:
            raise RequestError(
                f"no function is called {name!r}; {suggestion(name, FUNCTION_NAMES)}"
            )
        if name not in provided:
            raise RequestError(
                f"{' and '.join(formulations)} cannot derive {name}; {who_derives(name)}"
            )
    return tuple(name for name in FUNCTION_NAMES if name in asked)


def provided_by(formulations: tuple[str, ...]) -> set[str]:
    """The functions that at least one of these formulations derives."""
    return {name for item in formulations for name in provided_functions(formulation_named(item))}


def who_derives(function: str) -> str:
    """What to ask for in order to get `function`, in words."""
    able = [item.name for item in FORMULATIONS if function in provided_functions(item)]
    return f"add --formulations {' or '.join(able)}" if able else f"{function} is not available yet"


def suggestion(name: str, known: Iterable[str]) -> str:
    """``did you mean ...?``, or all known names."""
    names = list(known)
    near = nearest(name, names)
    return f"did you mean {near!r}?" if near else f"there are: {', '.join(names)}"
