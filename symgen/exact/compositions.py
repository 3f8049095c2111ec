"""Compositions of results of functions with the model, for further relations.

    inverse dynamics  = regressor @ inertial parameters + joint terms, without loads
                      = joint wrenches along the axes of the joints + joint terms
    its slopes by qd  = 2 C + damping, for the torques of velocity are quadratic in qd and the
                        Christoffel symbols are symmetric in their last two indices
                      = the sum of its parts
    slopes of the potential energy by q = gravity forces + springs
    slopes of the poses by q            = what the Jacobians say: dR = omega x R, dx = v
    gradients of multipliers . tau = multipliers . (derivatives of the torques)
    sums whose gradients are products = multipliers . torques, multipliers . accelerations
    kinetic energy    = qd^T M qd / 2
    M qdd + bias      = tau, for the accelerations of forward dynamics, and for those of hybrid
                        dynamics
    pivots, diagonal  = those of M, by elimination that ignores the tree
    rates of constraints of positions = slopes of these in time; of velocities = their expressions

    outputs           = their expressions over the results of other functions

The program of the model (`symgen.exact.model`) is over the same graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add

from symgen.algebra.evaluation import evaluate, over_graph
from symgen.algebra.linear import Vector, inner
from symgen.algebra.nodes import SYMBOL, Scalar, reachable
from symgen.exact.model import (
    EXPRESSIONS,
    FORCES,
    MODEL,
    NAMES,
    RELATIONS,
    SIDES,
    VELOCITY_ROWS,
    Entries,
    Key,
)
from symgen.exact.movements import DISPLACEMENTS
from symgen.program.arguments import Size
from symgen.program.functions import function_named
from symgen.program.program import Output, Program

PARTS_NAME = "torque_parts"


@dataclass(frozen=True)
class Composition:
    """`entries` computes entries from the outputs, by name, of `sources` and the model.

    The sources are functions of one formulation; the composition is about the first, and others are
    by another formulation if this one lacks them.  Outputs of sources replace outputs of the model
    with the same name.
    """

    name: str
    sources: tuple[str, ...]
    shape: tuple[Size, ...]
    entries: Callable[[Mapping[str, Entries]], Sequence[Scalar]]


def _sum_of_parts(of: Mapping[str, Entries]) -> list[Scalar]:
    parts = [of[array.name] for array in function_named(PARTS_NAME).results]
    return [reduce(add, entries) for entries in zip(*parts, strict=True)]


def _along_axes(of: Mapping[str, Entries]) -> list[Scalar]:
    pairs = zip(_wrenches_of_joints(of), of["axes"], strict=True)
    products = [x * y for x, y in pairs]
    along = [reduce(add, products[i : i + 6]) for i in range(0, len(products), 6)]
    n = len(of["terms"])
    return [inner(of["coupling"][k::n], along) + term for k, term in enumerate(of["terms"])]


def _wrenches_of_joints(of: Mapping[str, Entries]) -> Sequence[Scalar]:
    """The wrench for every axis: a joint with a quaternion has several axes, and one wrench."""
    wrenches = of["joint_wrenches"]
    if SIDES not in of:
        return wrenches
    rows = _rows(of[SIDES], len(wrenches) // 6)
    places = [next(k for k, flag in enumerate(row) if not flag.is_zero) for row in rows]
    return [x for k in places for x in wrenches[6 * k : 6 * k + 6]]


def _twice_coriolis(of: Mapping[str, Entries]) -> list[Scalar]:
    n = len(of["damping"])
    doubled = [2.0 * x for x in of["coriolis_matrix"]]
    for i, damping in enumerate(of["damping"]):
        doubled[(n + 1) * i] = doubled[(n + 1) * i] + damping
    return doubled


def _weighted(slopes: str, of: Mapping[str, Entries]) -> list[Scalar]:
    """multipliers . slopes: one entry for every column."""
    n = len(of["multipliers"])
    return [inner(of["multipliers"], of[slopes][k::n]) for k in range(n)]


def _changes_of_poses(of: Mapping[str, Entries]) -> list[Scalar]:
    """Entries [link, row, column, j] of the derivatives of the poses, from the Jacobians."""
    n = len(of["qd"])
    result: list[Scalar] = []
    for link in range(len(of["forward_kinematics"]) // 16):
        pose = of["forward_kinematics"][16 * link : 16 * link + 16]
        jacobian = of["jacobians"][6 * n * link : 6 * n * (link + 1)]
        columns = [
            _change(pose, Vector(*jacobian[j : 3 * n : n]), Vector(*jacobian[3 * n + j :: n]))
            for j in range(n)
        ]
        result += [column[k] for k in range(16) for column in columns]
    return result


def _change(pose: Entries, v: Vector[Scalar], omega: Vector[Scalar]) -> list[Scalar]:
    zero = v.x.graph.zero
    turned = [omega.cross(Vector(pose[k], pose[4 + k], pose[8 + k])) for k in range(3)]
    return [part for row in zip(*turned, v, strict=True) for part in row] + [zero] * 4


def _rates(of_velocities: bool, of: Mapping[str, Entries]) -> list[Scalar]:
    """Rates of the constraints of positions or velocities, 0 for the others."""
    pairs = zip(of[VELOCITY_ROWS], of["constraint_rates"], strict=True)
    return [x.graph.zero if flag.is_zero == of_velocities else x for flag, x in pairs]


def _torques_of_motion(of: Mapping[str, Entries]) -> list[Scalar]:
    """M qdd + bias for the accelerations of forward dynamics."""
    return _plus(_times(of["mass_matrix"], of["qdd"]), of["bias_forces"])


def _chosen(of: Mapping[str, Entries], prescribed: str, free: str) -> tuple[Scalar, ...]:
    """Entries of the first array for prescribed joints, of the second for free ones."""
    triples = zip(of["prescribed"], of[prescribed], of[free], strict=True)
    return tuple(y if flag.is_zero else x for flag, x, y in triples)


def _expressions(array_of: str, of: Mapping[str, Entries]) -> list[Scalar]:
    """Return expressions of the model, with results of other functions for the quantities."""
    expressions = of[array_of]
    graph = expressions[0].graph
    values = {x.name: x for x in reachable(expressions) if x.op is SYMBOL}
    for array, names in of.items():
        if array.startswith(NAMES) and array.removeprefix(NAMES) in of:
            entries = of[array.removeprefix(NAMES)]
            values.update((x.name, y) for x, y in zip(names, entries, strict=True))
    return evaluate(expressions, values, over_graph(graph))


def _all_rows(of: Mapping[str, Entries]) -> list[Entries]:
    return _rows(of["mass_matrix"], len(of["prescribed"]))


def _free_rows(of: Mapping[str, Entries]) -> list[list[Scalar]]:
    """Return the block of the mass matrix that belongs to the free joints."""
    rows = _all_rows(of)
    free = [k for k, flag in enumerate(of["prescribed"]) if flag.is_zero]
    return [[rows[i][k] for k in free] for i in free]


def _diagonal(matrix: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    return [row[k] for k, row in enumerate(matrix)]


def _eliminated(left: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """Return the pivots of a symmetric matrix, by elimination from the last row."""
    rows = [list(row) for row in left]
    for k in reversed(range(len(rows))):
        present = [i for i in range(k) if not rows[k][i].is_zero]
        for i in present:
            factor = rows[k][i] / rows[k][k]
            for j in present:
                rows[i][j] = rows[i][j] - factor * rows[k][j]
    return _diagonal(rows)


def _rows(matrix: Entries, width: int) -> list[Entries]:
    return [matrix[start : start + width] for start in range(0, len(matrix), width)]


def _times(matrix: Entries, vector: Entries) -> list[Scalar]:
    return [inner(row, vector) for row in _rows(matrix, len(vector))]


def _plus(first: Sequence[Scalar], second: Sequence[Scalar]) -> list[Scalar]:
    return [x + y for x, y in zip(first, second, strict=True)]


def _made(
    name: str, shape: str, entries: Callable[[Mapping[str, Entries]], Sequence[Scalar]],
    *sources: str,
) -> Composition:  # fmt: skip
    """Make a composition; `shape` lists sizes, separated by spaces."""
    sizes: tuple[Size, ...] = tuple(int(x) if x.isdigit() else x for x in shape.split())
    return Composition(name, sources, sizes, entries)


REGRESSOR = _made(
    "regressor @ inertial_parameters + joint terms", "n",
    lambda of: _plus(_times(of["regressor"], of["parameters"]), of["terms"]), "regressor",
)  # fmt: skip
WRENCHES = _made("joint_wrenches along the axes + joint terms", "n", _along_axes, "joint_wrenches")
PARTS = _made("sum of torque_parts", "n", _sum_of_parts, PARTS_NAME)
CORIOLIS = _made("2 coriolis_matrix + damping", "n n", _twice_coriolis, "coriolis_matrix")
GRADIENT_BY_Q, GRADIENT_BY_QD = (
    _made(f"multipliers . {x}", "n", partial(_weighted, x), "inverse_dynamics_derivatives")
    for x in ("dtau_dq", "dtau_dqd")
)
SUM_OF_TORQUES = _made(
    "multipliers . tau", "", lambda of: [inner(of["multipliers"], of["tau"])], "inverse_dynamics"
)
SUM_OF_ACCELERATIONS = _made(
    "multipliers . qdd", "", lambda of: [inner(of["multipliers"], of["qdd"])], "forward_dynamics"
)
GRAVITY = _made(
    "gravity_forces + springs", "n", lambda of: _plus(of["gravity_forces"], of["springs"]),
    "gravity_forces",
)  # fmt: skip
ENERGY = _made(
    "qd^T mass_matrix qd / 2", "",
    lambda of: [inner(_times(of["mass_matrix"], of["qd"]), of["qd"]) * 0.5], "mass_matrix",
)  # fmt: skip
POSES = _made(
    "poses changed by jacobians", "n_links 4 4 n", _changes_of_poses,
    "jacobians", "forward_kinematics",
)  # fmt: skip
TORQUES = _made("tau", "n", lambda of: of["tau"])
MOTION = _made(
    "mass_matrix @ qdd + bias_forces", "n", _torques_of_motion,
    "forward_dynamics", "mass_matrix", "bias_forces",
)  # fmt: skip
HYBRID_TORQUES = _made("all torques", "n", lambda of: _chosen(of, "y", "x"), "hybrid_dynamics")
HYBRID_MOTION = _made(
    "mass_matrix @ all accelerations + bias_forces", "n",
    lambda of: _torques_of_motion({**of, "qdd": _chosen(of, "x", "y")}),
    "hybrid_dynamics", "mass_matrix", "bias_forces",
)  # fmt: skip
_FREE, _SOME_FREE = ("mass_matrix", "forward_dynamics"), ("mass_matrix", "hybrid_dynamics")
PIVOTS = _made("pivots of the mass matrix", "n", lambda of: _eliminated(_all_rows(of)), *_FREE)
DIAGONAL = _made("diagonal of the mass matrix", "n", lambda of: _diagonal(_all_rows(of)), *_FREE)
FREE_PIVOTS = _made(
    "pivots of the free mass matrix", "n_free", lambda of: _eliminated(_free_rows(of)), *_SOME_FREE
)
FREE_DIAGONAL = _made(
    "diagonal of the free mass matrix", "n_free", lambda of: _diagonal(_free_rows(of)), *_SOME_FREE
)
OUTPUTS = _made(
    "expressions over the results of other functions", "n_outputs",
    partial(_expressions, EXPRESSIONS),
    "point_motion", "outputs", "joint_wrenches", "kinetic_energy", "potential_energy",
    "center_of_mass",
)  # fmt: skip

RATES, VELOCITIES = (
    _made(f"constraint_rates of {x}", "n_constraints", partial(_rates, is_kept), "constraint_rates")
    for x, is_kept in (("positions", False), ("velocities", True))
)
RELATED = _made(
    "relations over the results of other functions", "n_constraints",
    partial(_expressions, RELATIONS), "point_motion",
)  # fmt: skip

COMPOSITIONS = (
    REGRESSOR, WRENCHES, PARTS, CORIOLIS, GRADIENT_BY_Q, GRADIENT_BY_QD, SUM_OF_TORQUES,
    SUM_OF_ACCELERATIONS, GRAVITY, ENERGY, POSES, TORQUES, MOTION, PIVOTS, DIAGONAL,
    HYBRID_TORQUES, HYBRID_MOTION, FREE_PIVOTS, FREE_DIAGONAL, OUTPUTS, RATES,
    VELOCITIES, RELATED,
)  # fmt: skip
OF_BODIES = (CORIOLIS, GRAVITY, REGRESSOR)
"""Compositions that fail for models with forces."""


def composed(programs: Mapping[Key, Program[Scalar]]) -> dict[Key, Program[Scalar]]:
    """Make every composition by every formulation that has its first source, by formulation and
    name.

    The program is that of the first source, with other outputs; without sources, that of the model.
    """
    model = programs.get((MODEL, MODEL))
    if model is None or not _sizes(model)["n"]:
        return {}  # a robot that does not move
    result: dict[Key, Program[Scalar]] = {}
    formulations = [name for name in dict.fromkeys(name for name, _ in programs) if name != MODEL]
    present, sizes = {output.name for output in model.outputs}, _sizes(model)
    left_out = [*(OF_BODIES if FORCES in present else ())]
    # velocities on manifolds are no rates of coordinates
    left_out += [CORIOLIS] * (DISPLACEMENTS in present) + [RELATED] * (not sizes["n_constraints"])
    left_out += [OUTPUTS] * (not sizes["n_outputs"])
    for composition in COMPOSITIONS:
        if composition in left_out:
            continue
        if not composition.sources:
            result[MODEL, composition.name] = _program(composition, [model], model)
        for formulation in formulations if composition.sources else ():
            first, *more = composition.sources
            optional = [programs.get((formulation, first))]
            optional += [_source(programs, name, (formulation, *formulations)) for name in more]
            sources = [program for program in optional if program is not None]
            if len(sources) == len(optional):
                result[formulation, composition.name] = _program(composition, sources, model)
    return result


def _source(
    programs: Mapping[Key, Program[Scalar]], function: str, formulations: Iterable[str]
) -> Program[Scalar] | None:
    """Return the program of a function by the first of `formulations` that has it."""
    keys = ((formulation, function) for formulation in formulations)
    return next((programs[key] for key in keys if key in programs), None)


def _sizes(model: Program[Scalar]) -> dict[str, int]:
    prescribed = next(output for output in model.outputs if output.name == "prescribed").entries
    n_free = sum(flag.is_zero for flag in prescribed)
    outputs = [output for output in model.outputs if output.name == EXPRESSIONS]
    n_outputs = sum(len(output.entries) for output in outputs)
    rows = next(output for output in model.outputs if output.name == VELOCITY_ROWS).entries
    sizes = {"n": len(prescribed), "n_free": n_free, "n_outputs": n_outputs}
    return {**sizes, "n_constraints": len(rows)}


def _program(
    composition: Composition, sources: Sequence[Program[Scalar]], model: Program[Scalar]
) -> Program[Scalar]:
    outputs = [output for program in (model, *sources) for output in program.outputs]
    entries = tuple(composition.entries({output.name: output.entries for output in outputs}))
    sizes = _sizes(model)
    sizes["n_links"] = len(entries) // (16 * sizes["n"])
    shape = tuple(size if isinstance(size, int) else sizes[size] for size in composition.shape)
    return replace(sources[0], outputs=(Output(composition.name, shape, entries),))
