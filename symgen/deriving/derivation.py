"""Derivation of everything that a build needs: the programs of all selected functions.

derive_all  RobotDescription, Selection    -> Derived     (kinematics, formulations, optimize)
package_of  Derived                        -> Package     (what emission takes)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from symgen.algebra.evaluation import evaluate, over_graph
from symgen.algebra.graph import Graph
from symgen.algebra.nodes import Scalar
from symgen.deriving.digest import model_hash
from symgen.deriving.mechanism import mechanism
from symgen.deriving.selection import Selection, provided_by, who_derives
from symgen.description.expressions import evaluate as value_of
from symgen.description.model import JointDescription, RobotDescription
from symgen.emit.bundle import Forms, Limits, ModuleMetadata, Package, Sparsity
from symgen.emit.text import plain
from symgen.errors import RequestError
from symgen.formulations import (
    FORMULATIONS,
    Formulation,
    considered,
    derive,
    derive_loops,
    has_loops,
    without_solution,
)
from symgen.formulations.state import NoSolutionError
from symgen.kinematics.topology import topology
from symgen.kinematics.tree import KinematicTree, build_tree
from symgen.optimize.constant_factors import with_constants_inside
from symgen.optimize.folding import fold
from symgen.optimize.operations import (
    OperationCount,
    operations_after,
    operations_before,
    operations_in_loops,
)
from symgen.options import AUTO, DEFAULT, LOOPS, ONE_IN_LOOPS, STRAIGHT
from symgen.program.arguments import PIVOTS
from symgen.program.functions import FUNCTION_NAMES, function_named
from symgen.program.loops import LoopedProgram
from symgen.program.program import Output, Program
from symgen.support.collector import paused_collector
from symgen.validation.conditioning import condition, mass_terms
from symgen.version import __version__

Programs = dict[str, dict[str, Program[Scalar]]]
"""formulation -> function -> program"""

BATCHES_IN_LOOPS_FROM = 30_000
"""Operations in loops from which they are about as fast for several samples as a straight line, and
that is not derived at all: see "Forms" in benchmarks/README.md."""

LOOPS_FROM, LOOPS_LIKELY_FROM, LIKELY = 12_000, 2_500, 1.4
"""Operations of a straight line from which loops are faster for one sample; or from which they are
where they have less than so many times its operations."""

LIKELY_IN_PAIRS = {"inverse_dynamics_derivatives": 1.65}
"""The same for functions of which most is done for several pairs of joints at once.  What is called
from Python finds a long straight line no longer in the cache of instructions."""

LIKELY_WHERE_A_BASE_FLOATS = 2.4
"""The same beside floating bases, whose columns are short in a straight line: from `LOOPS_FROM` on,
and for one sample alone."""

FUNCTION_WEIGHT = 10
"""A sine costs about as much as ten multiplications: for choosing the fastest formulation."""


@dataclass(frozen=True)
class FunctionReport:
    """One function by one formulation: operations before and after elimination, statements.

    Of what is said in loops alone, operations are those of all joints and pairs of joints, with
    none eliminated `before`, and statements those that are printed.
    """

    formulation: str
    function: str
    before: OperationCount | None
    after: OperationCount
    statements: int
    derive_seconds: float
    form: str
    """How its kernel is written in C: ``straight``, ``loops``, or ``loops for one sample``."""


@dataclass(frozen=True)
class Derived:
    """What is built, by formulation and function, with a report on each; and what is evaluated."""

    built: Mapping[str, Mapping[str, Forms]]
    evaluated: Programs
    reports: tuple[FunctionReport, ...]
    tree: KinematicTree[Scalar]


def derive_all(
    description: RobotDescription,
    selection: Selection,
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
    form: str = AUTO,
    loops_alone: bool = True,
) -> Derived:
    """Derive every function of every formulation that is built or evaluated, and optimise it.

    `form` says in which forms those are that are built: see `symgen.options`.  What is computed in
    loops throughout has a straight line as well unless `loops_alone`.
    """
    work = [
        (item, function)
        for item in considered(selection.formulations)
        for function in selection.functions_of(item.name)
    ]
    built: dict[str, dict[str, Forms]] = {name: {} for name in selection.built}
    evaluated: Programs = {}
    reports: list[FunctionReport] = []
    runtime = selection.runtime_parameters
    with paused_collector():
        for done, (formulation, function) in enumerate(work):
            name = formulation.name
            progress(f"derive: {name}.{function}", done, len(work))
            given = description, formulation, function, runtime
            if function not in selection.built.get(name, ()):
                evaluated.setdefault(name, {})[function] = derived_program(*given, built=False)
                continue
            start = time.perf_counter()
            forms = _forms(*given, form, loops_alone)
            built[name][function] = forms
            reports.append(_report(forms, time.perf_counter() - start))
    tree = build_tree(description, Graph(), selection.runtime_parameters)
    return Derived(built, evaluated, tuple(reports), tree)


def _forms(
    description: RobotDescription,
    formulation: Formulation,
    function: str,
    runtime: tuple[str, ...],
    form: str,
    loops_alone: bool,
) -> Forms:
    given = description, formulation, function, runtime
    if form == STRAIGHT or not _may_loop(description, formulation, function):
        return Forms(derived_program(*given))
    loops = derived_loops(*given)
    size = operations_in_loops(loops).total
    floats = any(joint.manifold is not None for joint in description.joints)
    long = size >= BATCHES_IN_LOOPS_FROM and not floats
    throughout = loops.n > 0 and (form == LOOPS or long)
    if throughout and loops_alone:
        return Forms(None, loops, throughout)
    straight = derived_program(*given)
    length = operations_after(straight.results).total
    likely = LIKELY_IN_PAIRS.get(function, LIKELY)
    if throughout or _one_is_faster_in_loops(size, length, floats, likely):
        return Forms(straight, loops, throughout)
    return Forms(straight)


def _may_loop(description: RobotDescription, formulation: Formulation, function: str) -> bool:
    if function not in formulation.loops:
        return False
    return has_loops(build_tree(description, Graph()), formulation, function)


def _one_is_faster_in_loops(size: int, straight: int, floats: bool, likely: float) -> bool:
    if floats:
        return straight >= LOOPS_FROM and size < LIKELY_WHERE_A_BASE_FLOATS * straight
    return straight >= (LOOPS_LIKELY_FROM if size < likely * straight else LOOPS_FROM)


def _report(forms: Forms, seconds: float) -> FunctionReport:
    program, loops, before = forms.any, forms.loops, None
    if forms.straight is not None:
        before = operations_before(forms.straight.results)
        after = operations_after(forms.straight.results)
        statements = len(forms.straight.statements)
    elif loops is not None:
        after = operations_in_loops(loops)
        statements = sum(len(program.statements) for program in loops.programs)
    form = STRAIGHT if loops is None else LOOPS if forms.batches_in_loops else ONE_IN_LOOPS
    return FunctionReport(
        program.formulation, program.function, before, after, statements, seconds, form
    )


def derived_program(
    description: RobotDescription,
    formulation: Formulation,
    function: str,
    runtime: tuple[str, ...] = (),
    built: bool = True,
) -> Program[Scalar]:
    """One optimised program: derived with parameters as symbols, then folded at their values.

    `runtime` names the parameters that stay arguments.  What is not `built` is only folded, and
    without steps: that is enough to evaluate it.  Raises `RequestError` where the numbers of the
    model overflow, or are divided by 0; but where a function that solves divides by a pivot that is
    0 the mass matrix is singular whatever its arguments, and the program says just that.
    """
    try:
        program = _folded(description, formulation, function, runtime, built)
        return with_constants_inside(program) if built else program
    except NoSolutionError:
        return without_solution(build_tree(description, Graph(), runtime), formulation, function)
    except (ArithmeticError, ValueError) as error:
        raise _out_of_range(description, function, error) from error


def _folded(
    description: RobotDescription,
    formulation: Formulation,
    function: str,
    runtime: tuple[str, ...],
    with_steps: bool,
) -> Program[Scalar]:
    """`NoSolutionError` where a pivot is 0; the graph of the derivation is gone afterwards."""
    graph, values = Graph(), description.parameter_values
    try:
        program = derive(build_tree(description, graph, runtime), formulation, function)
        try:
            return fold(program if with_steps else replace(program, steps=()), values, runtime)
        except ZeroDivisionError as error:
            if _folds_to_a_zero_pivot(program, values, runtime):
                raise NoSolutionError from error
            raise
    finally:
        graph.close()


def derived_loops(
    description: RobotDescription,
    formulation: Formulation,
    function: str,
    runtime: tuple[str, ...] = (),
) -> LoopedProgram[Scalar]:
    """The same in loops."""
    values = description.parameter_values
    looped = derive_loops(build_tree(description, Graph(), runtime), formulation, function)
    return looped.mapped(lambda program: with_constants_inside(fold(program, values, runtime)))


def _folds_to_a_zero_pivot(
    program: Program[Scalar], values: Mapping[str, float], runtime: tuple[str, ...]
) -> bool:
    """Whether a pivot is 0 at these values; a pivot is divided by those of joints beyond it."""
    pivots = [x for array in program.outputs if array.name == PIVOTS for x in array.entries]
    for pivot in reversed(pivots):
        alone = replace(program, outputs=(Output(PIVOTS, (1,), (pivot,)),))
        if fold(alone, values, runtime).results[0].is_zero:
            return True
    return False


def _out_of_range(description: RobotDescription, what: str, error: Exception) -> RequestError:
    return RequestError(
        f"{description.file}: the numbers of this model leave the range of float64 in "
        f"{what} ({error}); are its units right?"
    )


def package_of(
    description: RobotDescription, selection: Selection, derived: Derived, equal: bool = False
) -> Package:
    """The selected programs with the module's metadata, ready for emission.

    `equal`: see `symgen.emit.bundle.Package`.
    """
    programs = {
        name: {function: derived.built[name][function] for function in functions}
        for name, functions in selection.built.items()
    }
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
        missing=_missing(selection, derived.tree),
        equal=equal,
    )


def _cost(count: OperationCount) -> int:
    return count.total + (FUNCTION_WEIGHT - 1) * (count.functions + count.divisions)


def _missing(selection: Selection, tree: KinematicTree[Scalar]) -> dict[str, str]:
    """What `module.<function>` answers for functions that were not built."""
    missing: dict[str, str] = {}
    provided = provided_by(selection.formulations, tree)
    for name in FUNCTION_NAMES:
        if name in selection.functions:
            continue
        if name in selection.senseless:
            missing[name] = f"{name} was not built: {selection.senseless[name]}"
        elif name not in provided:
            missing[name] = f"{name} was not built; {who_derives(name, tree)}"
        else:
            functions = ",".join(_asked_for(selection, provided, name))
            missing[name] = (
                f"{name} was not built; build it with: symgen build MODEL --functions {functions}"
            )
    for item in FORMULATIONS:
        if item.by_default and item.name not in selection.built:
            missing[item.name] = (
                f"the formulation {item.name} was not built; build it with: symgen build MODEL "
                f"--formulations {','.join([*selection.formulations, item.name])}"
            )
    return missing


def _asked_for(selection: Selection, provided: set[str], name: str) -> list[str]:
    """What to ask for to have the function `name` beside those that were built."""
    usual = {x for x in provided if not function_named(x).on_request} - set(selection.senseless)
    if not usual <= set(selection.functions):
        return [*selection.functions, name]
    return [DEFAULT, *(x for x in selection.functions if x not in usual), name]


def _mass_terms(description: RobotDescription, condition: float) -> tuple[float, ...]:
    found = mass_terms(description, condition)
    return () if found is None else tuple(found.tolist())


def _metadata(
    description: RobotDescription,
    selection: Selection,
    derived: Derived,
    counts: Mapping[tuple[str, str], OperationCount],
) -> ModuleMetadata:
    tree, terms = derived.tree, condition(description)
    robot = topology(tree)
    operations: dict[str, dict[str, dict[str, int]]] = {}
    for (formulation, function), count in counts.items():
        if function in selection.built.get(formulation, ()):
            operations.setdefault(formulation, {})[function] = {
                field.name: getattr(count, field.name) for field in fields(count)
            }
    return ModuleMetadata(
        name=description.name,
        description=description.description,
        n=len(tree.independent),
        coordinate_names=tuple(joint.name for joint in tree.independent),
        link_names=tuple(frame.name for frame in tree.frames),
        load_names=tuple(load.name for load in tree.loads),
        point_names=tuple(point.name for point in tree.points),
        parameter_names=tree.runtime_parameters,
        default_parameters=tuple(
            description.parameter_values[name] for name in tree.runtime_parameters
        ),
        limits=tuple(
            Limits(limits.lower, limits.upper, limits.velocity, limits.effort)
            for joint in description.joints
            if joint.mimic is None
            for limits in joint.limits
        ),
        model_hash=model_hash(description),
        symgen_version=__version__,
        condition=terms,
        mass_terms=_mass_terms(description, terms),
        inertial_parameters=_inertial_parameters(description, tree),
        joint_terms=_joint_terms(description),
        prescribed=tuple(joint.prescribed for joint in tree.independent),
        output_names=tuple(output.name for output in tree.outputs),
        output_units=tuple(plain(output.unit) for output in tree.outputs),
        output_sparsity=_output_sparsity(derived),
        link_parents=_link_parents(description),
        joint_links={joint.name: joint.link.name for joint in description.joints},
        gravity=tuple(value_of(x, description.parameter_values) for x in description.gravity),
        joint_parents=robot.joint_parents,
        branches=robot.branches,
        branch_parents=robot.branch_parents,
        joint_branches=robot.joint_branches,
        junctions=robot.junctions,
        leaves=robot.leaves,
        operation_counts=operations,
        force_names=tuple(force.name for force in tree.forces),
        force_types=tuple(force.type for force in tree.forces),
        tied=tree.tied,
        timed=tree.is_timed,
        tells_multipliers=tree.tells_multipliers,
        **_coupling(description, tree),
        **_configuration(description, tree),
        **mechanism(description, tree),
    )


def _link_parents(description: RobotDescription) -> tuple[int, ...]:
    numbers = {joint.link.name: i for i, joint in enumerate(description.joints, start=1)}
    return tuple(numbers.get(joint.parent, 0) for joint in description.joints)


def _coupling(description: RobotDescription, tree: KinematicTree[Scalar]) -> dict[str, Any]:
    """What is said of joints that follow others, with the values of the file."""
    if not tree.is_coupled:
        return {}
    graph = Graph()
    values = {name: graph.constant(x) for name, x in description.parameter_values.items()}
    zero, one = tree.algebra.zero, tree.algebra.one
    of = [joint.following for joint in tree.joints]
    multipliers = [one if x is None else x.multiplier for x in of]
    offsets = [zero if x is None else x.offset for x in of]
    found = [x.value for x in evaluate([*multipliers, *offsets], values, over_graph(graph))]
    numbers = range(1, len(tree.independent) + 1)
    pairs = zip(found, tree.coordinate_numbers, strict=False)
    return {
        "joint_names": tuple(joint.name for joint in tree.joints),
        "joint_coordinates": tree.coordinate_numbers,
        "coupling": tuple(tuple(s if k == own else 0.0 for k in numbers) for s, own in pairs),
        "coupling_offsets": tuple(found[tree.n :]),
    }


def _configuration(description: RobotDescription, tree: KinematicTree[Scalar]) -> dict[str, Any]:
    """What is said of joints on manifolds."""
    if not tree.manifolds:
        return {}
    return {
        "position_names": description.position_names,
        "quaternions": tree.quaternions,
    }


def _output_sparsity(derived: Derived) -> dict[str, Sparsity]:
    """By derivative of the outputs: its entries that can differ from 0."""
    function = "outputs_derivatives"
    found = [x[function].straight for x in derived.built.values() if function in x]
    found += [x[function] for x in derived.evaluated.values() if function in x]
    program = next((program for program in found if program is not None), None)
    jacobians = program.outputs[1:] if program else ()
    return {array.name: _sparsity(array) for array in jacobians}


def _sparsity(array: Output[Scalar]) -> Sparsity:
    positions = (k for k, entry in enumerate(array.entries) if not entry.is_zero)
    return Sparsity(array.shape, tuple(positions))


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
    found = {"reflected_inertia": reflected, **{key: column(key) for key in kept}}
    if any(joint.rest for joint in description.joints):
        own = [joint for joint in description.joints if joint.mimic is None]
        rest = [x for joint in own for x in joint.rest_entries]
        values = description.parameter_values
        found["rest_configuration"] = tuple(value_of(x, values) for x in rest)
    masses = [_added_masses(description, joint) for joint in description.joints]
    if any(map(any, masses)):
        found["added_mass"] = tuple(x for columns in masses for x in columns)
    return found


def _added_masses(description: RobotDescription, joint: JointDescription) -> list[float]:
    """That of a joint for its coordinates that slide, 0 for others."""
    sliding = 0 if joint.manifold is None else joint.manifold.quaternion
    mass = value_of(joint.added_mass, description.parameter_values)
    return [mass] * sliding + [0.0] * (joint.coordinates - sliding)
