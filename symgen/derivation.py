"""Derivation of everything that a build needs: which formulations, which functions, all programs.

select      RobotDescription, BuildOptions -> Selection
derive_all  RobotDescription, Selection    -> Derived     (kinematics, formulations, optimize)
package_of  Derived                        -> Package     (what emission takes)
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from symgen import __version__
from symgen.algebra.collector import paused_collector
from symgen.algebra.evaluation import evaluate, over_graph
from symgen.algebra.graph import Graph, Scalar
from symgen.description.expressions import Expression
from symgen.description.expressions import evaluate as value_of
from symgen.description.model import RobotDescription, Source
from symgen.description.wording import nearest
from symgen.emit.bundle import Limits, ModuleMetadata, Package
from symgen.errors import RequestError
from symgen.formulations import (
    FORMULATIONS,
    Formulation,
    derive,
    formulation_named,
    provided_functions,
)
from symgen.kinematics.topology import topology
from symgen.kinematics.tree import KinematicTree, build_tree
from symgen.optimize.folding import fold
from symgen.optimize.operations import OperationCount, operations_after, operations_before
from symgen.options import ALL, DEFAULT, LARGEST_READING_ROBOT, BuildOptions
from symgen.program.functions import FUNCTION_NAMES, PLANNED_FUNCTIONS
from symgen.program.program import Program
from symgen.report import FunctionReport
from symgen.validation.conditioning import condition

Programs = dict[str, dict[str, Program[Scalar]]]
"""formulation -> function -> program"""

LARGEST_EVALUATED = 60_000
"""A function of a formulation that was not selected is derived and evaluated, for validation alone,
up to this estimated number of operations (a second or two).  Above, the independent numeric model
and the physics serve alone."""

FUNCTION_WEIGHT = 10
"""A sine costs about as much as ten multiplications: for choosing the fastest formulation."""


@dataclass(frozen=True)
class Selection:
    """What to build: formulations and functions by name, in the order of their tables.

    `evaluated` are functions by formulation that are not built, but derived and evaluated for
    validation.  `skipped` says of everything else why it is left out.
    """

    n: int
    formulations: tuple[str, ...]
    functions: tuple[str, ...]
    evaluated: Mapping[str, tuple[str, ...]]
    skipped: Mapping[str, str]


@dataclass(frozen=True)
class Derived:
    """Optimised programs of all formulations, selected or not, and a report on each."""

    programs: Programs
    reports: tuple[FunctionReport, ...]
    tree: KinematicTree[Scalar]


def select(description: RobotDescription, options: BuildOptions) -> Selection:
    """Decide what to build; RequestError where something asked for does not exist or apply."""
    tree = build_tree(description, Graph())
    reasons = {item.name: item.why_not(tree) for item in FORMULATIONS}
    chosen = _chosen_formulations(options.formulations, reasons, tree.n)
    functions = _chosen_functions(options.functions, chosen)
    evaluated: dict[str, tuple[str, ...]] = {}
    skipped: dict[str, str] = {}
    for item in FORMULATIONS:
        reason = reasons[item.name]
        if item.name in chosen:
            continue
        if reason is not None:
            skipped[item.name] = reason
            continue
        wanted = [name for name in functions if name in provided_functions(item)]
        small = [name for name in wanted if item.estimate(tree, name) <= LARGEST_EVALUATED]
        evaluated[item.name] = tuple(small)
        if small != wanted:
            left_out = ", ".join(name for name in wanted if name not in small)
            skipped[item.name] = f"not selected, and too large to evaluate here: {left_out}"
    return Selection(tree.n, chosen, functions, evaluated, skipped)


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
    provided = _provided_by(formulations)
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
                f"{' and '.join(formulations)} cannot derive {name}; {_who_derives(name)}"
            )
    return tuple(name for name in FUNCTION_NAMES if name in asked)


def _provided_by(formulations: tuple[str, ...]) -> set[str]:
    return {name for item in formulations for name in provided_functions(formulation_named(item))}


def _who_derives(function: str) -> str:
    able = [item.name for item in FORMULATIONS if function in provided_functions(item)]
    return f"add --formulations {' or '.join(able)}" if able else f"{function} is not available yet"


def suggestion(name: str, known: Iterable[str]) -> str:
    """``did you mean ...?``, or all known names."""
    names = list(known)
    near = nearest(name, names)
    return f"did you mean {near!r}?" if near else f"there are: {', '.join(names)}"


def derive_all(
    description: RobotDescription,
    selection: Selection,
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> Derived:
    """Derive and optimise every function of every formulation that is built or evaluated."""
    work = [
        (item, function) for item in FORMULATIONS for function in _functions_of(item, selection)
    ]
    programs: Programs = {}
    reports: list[FunctionReport] = []
    for done, (formulation, function) in enumerate(work):
        progress(f"derive: {formulation.name}.{function}", done, len(work))
        start = time.perf_counter()
        with paused_collector():
            program = derived_program(description, formulation, function)
        seconds = time.perf_counter() - start
        programs.setdefault(formulation.name, {})[function] = program
        reports.append(
            FunctionReport(
                formulation.name,
                function,
                operations_before(program.results),
                operations_after(program.results),
                len(program.statements),
                seconds,
            )
        )
    return Derived(programs, tuple(reports), build_tree(description, Graph()))


def _functions_of(formulation: Formulation, selection: Selection) -> tuple[str, ...]:
    """The functions to derive by `formulation`: all that are selected, or those to evaluate."""
    if formulation.name in selection.formulations:
        provided = provided_functions(formulation)
        return tuple(name for name in selection.functions if name in provided)
    return selection.evaluated.get(formulation.name, ())


def derived_program(
    description: RobotDescription, formulation: Formulation, function: str
) -> Program[Scalar]:
    """One optimised program: derived with parameters as symbols, then folded at their values.

    Raises `RequestError` where the numbers of the model overflow, or are divided by 0.
    """
    try:
        tree = build_tree(description, Graph())
        return fold(derive(tree, formulation, function), description.parameter_values)
    except (ArithmeticError, ValueError) as error:
        raise _out_of_range(description, function, error) from error


def _out_of_range(description: RobotDescription, what: str, error: Exception) -> RequestError:
    return RequestError(
        f"{description.file}: the numbers of this model leave the range of float64 in "
        f"{what} ({error}); are its units right?"
    )


def package_of(description: RobotDescription, selection: Selection, derived: Derived) -> Package:
    """The selected programs with the module's metadata, ready for emission."""
    programs = {name: derived.programs[name] for name in selection.formulations}
    counts = {(report.formulation, report.function): report.after for report in derived.reports}
    return Package(
        metadata=_metadata(description, selection, derived, counts),
        programs=programs,
        fastest={
            function: min(
                (name for name in programs if function in programs[name]),
                key=lambda name: _cost(counts[name, function]),
            )
            for function in selection.functions
        },
        missing=_missing(selection),
    )


def _cost(count: OperationCount) -> int:
    return count.total + (FUNCTION_WEIGHT - 1) * (count.functions + count.divisions)


def _missing(selection: Selection) -> dict[str, str]:
    """What `module.<function>` answers for functions that were not built."""
    missing: dict[str, str] = {}
    provided = _provided_by(selection.formulations)
    for name in FUNCTION_NAMES:
        if name in selection.functions:
            continue
        if name not in provided:
            missing[name] = f"{name} was not built; {_who_derives(name)}"
        else:
            functions = ",".join([*selection.functions, name])
            missing[name] = (
                f"{name} was not built; build it with: symgen build MODEL --functions {functions}"
            )
    missing.update({name: f"{name} is not available yet" for name in PLANNED_FUNCTIONS})
    return missing


def _metadata(
    description: RobotDescription,
    selection: Selection,
    derived: Derived,
    counts: Mapping[tuple[str, str], OperationCount],
) -> ModuleMetadata:
    tree = derived.tree
    robot = topology(tree)
    operations: dict[str, dict[str, dict[str, int]]] = {}
    for (formulation, function), count in counts.items():
        if formulation in selection.formulations:
            operations.setdefault(formulation, {})[function] = {
                field.name: getattr(count, field.name) for field in fields(count)
            }
    return ModuleMetadata(
        name=description.name,
        description=description.description,
        n=tree.n,
        coordinate_names=tuple(joint.name for joint in tree.joints),
        link_names=tuple(frame.name for frame in tree.frames),
        load_names=tuple(load.name for load in tree.loads),
        point_names=tuple(point.name for point in tree.points),
        parameter_names=(),
        default_parameters=(),
        limits=tuple(
            Limits(limits.lower, limits.upper, limits.velocity, limits.effort)
            for joint in description.joints
            for limits in joint.limits
        ),
        model_hash=model_hash(description),
        symgen_version=__version__,
        condition=condition(description),
        inertial_parameters=_inertial_parameters(description, tree),
        joint_terms=_joint_terms(description),
        joint_parents=robot.joint_parents,
        branches=robot.branches,
        branch_parents=robot.branch_parents,
        joint_branches=robot.joint_branches,
        junctions=robot.junctions,
        leaves=robot.leaves,
        operation_counts=operations,
    )


def _inertial_parameters(
    description: RobotDescription, tree: KinematicTree[Scalar]
) -> tuple[float, ...]:
    """Their values, with functions rounded as in programs: the same on every machine."""
    graph = Graph()
    values = {name: graph.constant(x) for name, x in description.parameter_values.items()}
    try:
        found = evaluate(tree.inertial_parameters, values, over_graph(graph))
    except (ArithmeticError, ValueError) as error:
        raise _out_of_range(description, "inertial_parameters", error) from error
    return tuple(parameter.value for parameter in found)


def _joint_terms(description: RobotDescription) -> dict[str, tuple[float, ...]]:
    """The numbers of drives, bearings and springs, one per coordinate; rotors reflected."""
    terms = [terms for joint in description.joints for terms in joint.terms]

    def column(key: str) -> tuple[float, ...]:
        values = description.parameter_values
        return tuple(value_of(getattr(term, key), values) for term in terms)

    rotors = zip(column("gear_ratio"), column("rotor_inertia"), strict=True)
    kept = ("damping", "stiffness", "rest", "friction", "friction_velocity")
    reflected = tuple(ratio * ratio * inertia for ratio, inertia in rotors)
    return {"reflected_inertia": reflected, **{key: column(key) for key in kept}}


def model_hash(description: RobotDescription) -> str:
    """Digest of everything a description says, but not of where or with what comments."""
    text = json.dumps(_plain(description), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, Expression):
        return value.text
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if is_dataclass(value):
        return {
            field.name: _plain(getattr(value, field.name))
            for field in fields(value)
            if field.name not in ("file", "warnings")
            and not isinstance(getattr(value, field.name), Source)
        }
    return value
