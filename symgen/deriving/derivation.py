"""Derivation of the programs of all selected functions.

derive_all        RobotDescription, Selection -> Derived     (kinematics, formulations, optimize)
derive_built      programs to build only
with_evaluated    adds the programs to evaluate
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from symgen.algebra.graph import Graph
from symgen.algebra.nodes import Scalar
from symgen.deriving.selection import Selection
from symgen.description.model import RobotDescription
from symgen.emit.bundle import Forms
from symgen.errors import RequestError
from symgen.formulations import (
    Formulation,
    considered,
    derive,
    derive_rolled,
    formulation_named,
    has_rolled_form,
    without_solution,
)
from symgen.formulations.state import NoSolutionError
from symgen.kinematics.tree import KinematicTree, build_tree
from symgen.optimize.constant_factors import with_constants_inside
from symgen.optimize.folding import fold
from symgen.optimize.operations import (
    OperationCount,
    operations_after,
    operations_before,
    rolled_operations,
)
from symgen.options import AUTO, LOOPS, ONE_IN_LOOPS, STRAIGHT
from symgen.program.arguments import PIVOTS
from symgen.program.program import Output, Program
from symgen.program.rolled import RolledProgram
from symgen.support.collector import paused_collector
from symgen.support.journal import Progress, silent

Programs = dict[str, dict[str, Program[Scalar]]]
"""formulation -> function -> program"""

BATCHES_IN_LOOPS_FROM = 30_000
"""Operations from which loops are about as fast for batches as straight-line code, which is then
not derived: see "Forms" in benchmarks/README.md."""

LOOPS_FROM, LOOPS_LIKELY_FROM, LIKELY = 12_000, 2_500, 1.4
"""Operations of straight-line code from which loops are faster for one sample: always, and if they
take fewer than `LIKELY` times its operations."""

FUNCTION_WEIGHT = 10
"""Cost of a sine or a division in multiplications."""

LIKELY_IN_PAIRS = {"inverse_dynamics_derivatives": 1.65}
"""`LIKELY` of functions that process several pairs of joints at once.  Between calls from Python,
long straight-line code leaves the instruction cache."""

LIKELY_WHERE_A_BASE_FLOATS = 2.4
"""`LIKELY` of robots with floating bases, whose columns are short in straight-line code: from
`LOOPS_FROM` on, and for one sample only."""


@dataclass(frozen=True)
class FunctionReport:
    """One function by one formulation: operations before and after elimination, statements.

    For a function in loops only, operations count all joints and pairs of joints, `before` is None,
    and statements count the printed ones.
    """

    formulation: str
    function: str
    before: OperationCount | None
    after: OperationCount
    statements: int
    derive_seconds: float
    form: str
    """Form of its kernel in C: ``straight``, ``loops``, or ``loops for one sample``."""


@dataclass(frozen=True)
class Derived:
    """Derived programs by formulation and function: built ones with reports, and evaluated ones.

    Among the `rivals` of `selection` for a function, the one with the fewest operations is built.
    """

    selection: Selection
    built: Mapping[str, Mapping[str, Forms]]
    evaluated: Programs
    reports: tuple[FunctionReport, ...]
    tree: KinematicTree[Scalar]


def derive_all(
    description: RobotDescription,
    selection: Selection,
    progress: Progress = silent,
    form: str = AUTO,
    rolled_alone: bool = True,
) -> Derived:
    """Derive every function of every formulation that is built or evaluated, and optimise it.

    Args:
        description: the robot.
        selection: the functions.
        progress: is called before each function.
        form: form of built functions, see `symgen.options`.
        rolled_alone: omit straight-line code of functions that run in loops throughout.
    """
    built = derive_built(description, selection, progress, form, rolled_alone)
    return with_evaluated(built, description, progress)


def derive_built(
    description: RobotDescription,
    selection: Selection,
    progress: Progress = silent,
    form: str = AUTO,
    rolled_alone: bool = True,
    made: Callable[[str, str, Forms], None] = lambda formulation, function, forms: None,
) -> Derived:
    """Derive the functions to build; see `derive_all`.  `made` receives each function at once."""
    built: dict[str, dict[str, Forms]] = {}
    evaluated: Programs = {}
    reports: dict[tuple[str, str], FunctionReport] = {}
    runtime = selection.runtime_parameters

    def derived(item: Formulation, function: str) -> tuple[Forms, FunctionReport]:
        start = time.perf_counter()
        forms = _forms(description, item, function, runtime, form, rolled_alone)
        return forms, _report(forms, time.perf_counter() - start)

    for item, function in _work(selection, selection.built, progress):
        forms, report = derived(item, function)
        rivals: dict[str, Program[Scalar]] = {}
        for name in selection.rivals.get(function, ()) if forms.rolled is None else ():
            rival = formulation_named(name)
            rivals[name] = derived_program(description, rival, function, runtime, built=False)
        costs = {name: cost(operations_after(x.results)) for name, x in rivals.items()}
        best = min(costs, key=costs.__getitem__, default=item.name)
        if forms.straight is not None and costs.get(best, inf) < cost(report.after):
            rivals[item.name] = replace(forms.straight, steps=())
            del rivals[best]
            forms, report = derived(formulation_named(best), function)
        for name, program in rivals.items():
            evaluated.setdefault(name, {})[function] = program
        built.setdefault(report.formulation, {})[function] = forms
        reports[report.formulation, function] = report
        made(report.formulation, function, forms)
    settled = selection.settled(built)
    order = [(name, function) for name in settled.built for function in settled.built[name]]
    tree = build_tree(description, Graph(), runtime)
    programs = {name: {f: built[name][f] for f in chosen} for name, chosen in settled.built.items()}
    return Derived(settled, programs, evaluated, tuple(reports[x] for x in order), tree)


def with_evaluated(
    derived: Derived, description: RobotDescription, progress: Progress = silent
) -> Derived:
    """Add the programs that are only evaluated, for validation."""
    selection = derived.selection
    evaluated = {name: dict(programs) for name, programs in derived.evaluated.items()}
    runtime = selection.runtime_parameters
    for formulation, function in _work(selection, selection.evaluated, progress):
        programs = evaluated.setdefault(formulation.name, {})
        if function not in programs:
            arguments = description, formulation, function, runtime
            programs[function] = derived_program(*arguments, built=False)
    return replace(derived, evaluated=evaluated)


def _work(
    selection: Selection, functions: Mapping[str, Sequence[str]], progress: Progress
) -> Iterator[tuple[Formulation, str]]:
    """Yield every formulation with each of its `functions`, with the collector paused."""
    work = [
        (item, function)
        for item in considered(selection.formulations)
        for function in functions.get(item.name, ())
    ]
    with paused_collector():
        for done, (formulation, function) in enumerate(work):
            progress(f"derive: {formulation.name}.{function}", done, len(work))
            yield formulation, function


def _forms(
    description: RobotDescription,
    formulation: Formulation,
    function: str,
    runtime: tuple[str, ...],
    form: str,
    rolled_alone: bool,
) -> Forms:
    arguments = description, formulation, function, runtime
    if form == STRAIGHT or not is_rolled(description, formulation, function):
        return Forms(derived_program(*arguments))
    rolled = rolled_program(*arguments)
    size = rolled_operations(rolled).total
    floats = any(joint.manifold is not None for joint in description.joints)
    long = size >= BATCHES_IN_LOOPS_FROM and not floats
    throughout = rolled.n > 0 and (form == LOOPS or long)
    if throughout and rolled_alone:
        return Forms(None, rolled, throughout)
    straight = derived_program(*arguments)
    length = operations_after(straight.results).total
    if floats:
        faster = length >= LOOPS_FROM and size < LIKELY_WHERE_A_BASE_FLOATS * length
    else:
        is_likely = size < LIKELY_IN_PAIRS.get(function, LIKELY) * length
        faster = length >= (LOOPS_LIKELY_FROM if is_likely else LOOPS_FROM)
    return Forms(straight, rolled, throughout) if throughout or faster else Forms(straight)


def is_rolled(description: RobotDescription, formulation: Formulation, function: str) -> bool:
    """Whether the formulation writes the function in loops, for this robot."""
    if function not in formulation.rolled:
        return False
    return has_rolled_form(build_tree(description, Graph()), formulation, function)


def cost(count: OperationCount) -> int:
    """Number of operations, weighted by their cost."""
    return count.total + (FUNCTION_WEIGHT - 1) * (count.functions + count.divisions)


def _report(forms: Forms, seconds: float) -> FunctionReport:
    program, rolled, before = forms.any, forms.rolled, None
    if forms.straight is not None:
        before = operations_before(forms.straight.results)
        after = operations_after(forms.straight.results)
        statements = len(forms.straight.statements)
    elif rolled is not None:
        after = rolled_operations(rolled)
        statements = sum(len(program.statements) for program in rolled.programs)
    form = STRAIGHT if rolled is None else LOOPS if forms.batches_in_loops else ONE_IN_LOOPS
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
    """Derive one optimised program: parameters are symbols first, then folded at their values.

    `runtime` names the parameters that stay arguments.  Programs that are not `built` are only
    folded, without steps, for evaluation.  If a pivot of the mass matrix is 0 for all arguments,
    the program of a function that solves reports that there is no solution.

    Raises:
        RequestError: the numbers of the model overflow, or are divided by 0.
    """
    try:
        program = _folded(description, formulation, function, runtime, built)
        return closed(with_constants_inside(program) if built else program)
    except NoSolutionError:
        return without_solution(build_tree(description, Graph(), runtime), formulation, function)
    except (ArithmeticError, ValueError) as error:
        raise out_of_range(description, function, error) from error


def _folded(
    description: RobotDescription,
    formulation: Formulation,
    function: str,
    runtime: tuple[str, ...],
    with_steps: bool,
) -> Program[Scalar]:
    """Derive and fold a program, and free the graph; `NoSolutionError` if a pivot is 0."""
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


def rolled_program(
    description: RobotDescription,
    formulation: Formulation,
    function: str,
    runtime: tuple[str, ...] = (),
) -> RolledProgram[Scalar]:
    """Derive and fold the program in loops."""
    values = description.parameter_values
    looped = derive_rolled(build_tree(description, Graph(), runtime), formulation, function)
    return looped.mapped(
        lambda program: closed(with_constants_inside(fold(program, values, runtime)))
    )


def closed(program: Program[Scalar]) -> Program[Scalar]:
    """Close the graph of a finished program: its nodes are freed with the program."""
    for node in program.results[:1]:
        node.graph.close()
    return program


def _folds_to_a_zero_pivot(
    program: Program[Scalar], values: Mapping[str, float], runtime: tuple[str, ...]
) -> bool:
    """Whether a pivot is 0 at these values; each is divided by the pivots of later joints."""
    pivots = [x for array in program.outputs if array.name == PIVOTS for x in array.entries]
    for pivot in reversed(pivots):
        single = replace(program, outputs=(Output(PIVOTS, (1,), (pivot,)),))
        if fold(single, values, runtime).results[0].is_zero:
            return True
    return False


def out_of_range(description: RobotDescription, what: str, error: Exception) -> RequestError:
    """Return the error for numbers that overflow in `what`, or are divided by 0."""
    tyres = ", ".join(force.name for force in description.forces if force.wheel is not None)
    hint = f" Is the axis of a wheel always vertical ({tyres})?" if tyres else ""
    return RequestError(
        f"{description.file}: the numbers of this model leave the range of float64 in "
        f"{what} ({error}); are its units right?{hint}"
    )
