"""The exact check of a robot: derivation of its general robot, and checks of all claims."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import chain

from symgen.algebra.graph import Graph
from symgen.algebra.nodes import Scalar, reachable
from symgen.description import RobotDescription
from symgen.exact.claims import Claims
from symgen.exact.compositions import CORIOLIS, OF_BODIES, OUTPUTS
from symgen.exact.general import general_robot, runtime_parameters
from symgen.exact.model import MODEL, Key, has_outputs_of_tyres, model_program
from symgen.exact.movements import by_three_numbers
from symgen.exact.points import random_points
from symgen.exact.result import ExactResult, Proof
from symgen.exact.values import Evaluations, Programs
from symgen.formulations import FORMULATIONS, Formulation, derive, provided_functions
from symgen.kinematics.tree import KinematicTree, build_tree
from symgen.program.arguments import PIVOTS
from symgen.program.functions import FUNCTION_NAMES, function_named, inapplicable_functions
from symgen.program.program import Program
from symgen.support.collector import paused_collector
from symgen.support.journal import Progress, silent

POINTS = 2
"""Number of random points."""

POINTS_WITH_SIGNS = 20
"""Number of random points for programs with signs, which are 1 or -1 at random: a wrong one is
right at half of the points."""

LARGEST_PROVEN = 1_000_000
"""Largest estimated number of operations of a function: more would take minutes and gigabytes."""

LARGEST_SOLUTION = 200_000
"""Limit for functions that solve, which are differentiated along many directions."""


def prove(
    description: RobotDescription,
    formulations: Sequence[Formulation] = FORMULATIONS,
    functions: Sequence[str] = FUNCTION_NAMES,
    *,
    points: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> ExactResult:
    """Prove that `formulations` derive equal `functions`, and correct derivatives.

    By default at `POINTS` random points, at `POINTS_WITH_SIGNS` where functions have signs.
    """
    start = time.perf_counter()
    with paused_collector():
        programs, left_out = general_programs(description, formulations, functions, progress)
        results = chain.from_iterable(program.results for program in programs.values())
        has_signs = any(node.op in ("abs", "sign") for node in reachable(results))
        points = points or (POINTS_WITH_SIGNS if has_signs else POINTS)
        rows, degree = compare(programs, points=points, seed=seed, progress=progress)
    compared = {row.function for row in rows}
    for (formulation, function), program in programs.items():
        if formulation != MODEL and program.results and function not in compared:
            left_out[f"{formulation}.{function}"] = "nothing to compare it with"
    seconds = time.perf_counter() - start
    return ExactResult(description.name, rows, left_out, points, degree, has_signs, seconds)


def general_programs(
    description: RobotDescription,
    formulations: Sequence[Formulation] = FORMULATIONS,
    functions: Sequence[str] = FUNCTION_NAMES,
    progress: Progress = silent,
) -> tuple[dict[Key, Program[Scalar]], dict[str, str]]:
    """Derive the programs of the general robot over one graph; return reasons for omissions, too.

    The model itself is one of the programs, under the key (MODEL, MODEL).  Functions that the model
    cannot have are left out silently.
    """
    robot = general_robot(description)
    tree = by_three_numbers(
        build_tree(robot, Graph(exact=True), runtime_parameters(description, robot))
    )
    inapplicable = inapplicable_functions(tree.sizes)
    work: list[tuple[Formulation, str]] = []
    left_out: dict[str, str] = {}
    if tree.manifolds:
        left_out[CORIOLIS.name] = "with quaternions, torques of velocity have no symmetric slopes"
    if tree.forces:
        reason = "the springs and forces of the model contribute to it"
        left_out.update({composition.name: reason for composition in OF_BODIES})
    if has_outputs_of_tyres(tree):
        left_out[OUTPUTS.name] = "tyres are results of no other function"
    for item in formulations:
        obstacle = item.why_not(tree)
        if obstacle is not None:
            left_out[item.name] = obstacle
            continue
        for name in provided_functions(item, tree):
            if name not in functions or name in inapplicable:
                continue
            size = item.operations(tree, name)
            if size <= (LARGEST_SOLUTION if function_named(name).solves else LARGEST_PROVEN):
                work.append((item, name))
            else:
                left_out[f"{item.name}.{name}"] = f"about {size:,} operations are too many"
    programs: dict[Key, Program[Scalar]] = {(MODEL, MODEL): model_program(tree)} if work else {}
    for done, (item, name) in enumerate(work):
        progress(f"derive: {item.name}.{name}", done, len(work))
        program = _derived(tree, item, name)
        if program is None:
            left_out[f"{item.name}.{name}"] = "the mass matrix is singular in every state"
        else:
            programs[item.name, name] = program
    return programs, left_out


def _derived(
    tree: KinematicTree[Scalar], formulation: Formulation, function: str
) -> Program[Scalar] | None:
    """Derive the program; None if it divides by a pivot that is always 0."""
    if not function_named(function).solves:
        return derive(tree, formulation, function)
    try:
        program = derive(tree, formulation, function)
        pivots = [x for output in program.outputs if output.name == PIVOTS for x in output.entries]
        (point,) = random_points(pivots)
        return program if all(point.values(pivots)) else None
    except ZeroDivisionError:
        return None


def compare(
    programs: Programs, *, points: int = POINTS, seed: int = 0, progress: Progress = silent
) -> tuple[tuple[Proof, ...], int]:
    """Check every claim about programs of one robot over one graph.

    Returns the proofs, and the degree that bounds their errors.  Claims about empty results (loads
    of a robot without loads) are left out.
    """
    progress("prove", 0, 0)
    evaluations = Evaluations(programs, points, seed)
    claims = Claims(evaluations)
    rows: list[Proof] = []
    for row in chain(claims.equalities(), claims.relations()):
        progress(f"prove: {row.function}: {row.claim}", 0, 0)
        if row.entries:
            rows.append(row)
    return tuple(rows), evaluations.degree
