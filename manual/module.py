"""The reference of generated modules, from the table of functions and from a module."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

from manual.notation import cell, code, table
from symgen.formulations import FORMULATIONS, provided_functions
from symgen.program.arguments import PARAMETERS, Argument
from symgen.program.function import NEEDS, Function
from symgen.program.functions import FUNCTIONS
from symgen.robot import Robot
from symgen.robot.records import record_fields

PRESENT = {
    "n_parameters": "Modules with runtime parameters have it.",
    "n_outputs": "Modules of a model with `outputs` have it.",
    "n_prescribed": "Modules of a model with prescribed joints have it.",
    "n_motion_multipliers": "Modules of a model whose outputs mention multipliers have it.",
    "n_constraints": "Modules of a model with `loops` or `relations` have it.",
    "n_loops": "Modules of a model with `loops` have it.",
}
"""When a function exists, by the size that it needs."""

BY_HAND = {
    "templates/package/_kinematics.py": (
        "frame_jacobian", "frame_motion", "inverse_kinematics", "operational_space_inertia",
    ),
    "symgen/runtime/mechanism.py": (
        "assemble", "closed_accelerations", "closed_velocities", "closing_derivatives",
        "constrained_forward_dynamics",
        "constrained_forward_dynamics_derivatives",
        "constrained_forward_dynamics_parameter_derivatives",
        "constraint_multiplier_parameter_derivatives", "constrained_inverse_dynamics",
        "constrained_inverse_dynamics_derivatives",
        "constrained_inverse_dynamics_parameter_derivatives",
        "freedoms", "unique_multipliers",
    ),
}  # fmt: skip
"""Functions that modules have in the same words: of one link, and of closed loops."""

METADATA = {
    "name": "of the robot",
    "n, nv": "number of coordinates, which is that of velocities",
    "nq": "number of entries of q: n, but for joints with `coordinates: quaternion`",
    "n_links, n_loads, n_points, n_outputs, n_parameters": "other sizes",
    "coordinate_names, link_names, load_names, point_names, output_names, parameter_names": (
        "names, in the order of the entries of the arrays"
    ),
    "position_names": "of the entries of q: `coordinate_names`, but for quaternions",
    "quaternion_order": "`xyzw`",
    "default_parameters": "`(n_parameters,)`: the values of the file",
    "inertial_parameters": "`(10 n,)`: what `regressor` is multiplied by",
    "limits": "`lower`, `upper`, `velocity`, `effort`, each `(n,)`; infinite where there is none",
    "joint_terms": "rotor inertias, damping, stiffness, ..., each `(n,)`; `rest_configuration` "
    "`(nq,)` where springs on quaternions have a `rest`",
    "prescribed, actuated": "by coordinate, whether its motion is given, whether it has a drive",
    "output_units, output_sparsity": "units; which derivatives of outputs can differ from 0",
    "gravity": "`(3,)`, m/s^2, base axes",
    "point_links": "by point, the number (from 1) of its link, 0 for the base",
    "link_parents": "by link, the number (from 1) of the link that carries it, 0 for the base",
    "joint_links": "name of every joint of the file -> name of its link",
    "file_names": "joint, link or `base` -> its name in a URDF, SDF or MJCF file, where "
    "that differs; functions of a link, dicts by name and `hold` take both",
    "joint_parents": "by joint, the number (from 1) of the joint that carries it, 0 for the base",
    "branches, branch_parents, joint_branches, junctions, leaves": (
        "the tree as the open-tree paper describes it, numbers of joints from 1"
    ),
    "derivative_sparsity": "bool `(n, n)`: the entries of the derivatives that can differ from 0",
    "formulations, functions": "names of those that were built",
    "operation_counts": "by formulation and function: what was emitted",
    "backend, backends": "the backend that serves the calls, and all that were built",
    "condition": "how much larger the terms of the equations are than their sums: the limits of "
    "`selftest()` are multiplied by it; where the mass matrix alone cancels, `mass_terms` `(n,)` "
    "says in which coordinates",
    "threads": "how many threads one call may use; may be set",
    "result_memory": (
        "bytes of former results that are kept for new ones, in all modules together, at most; "
        "may be set"
    ),
    "model_hash, symgen_version": "which file it was made of, and by which symgen",
    "integrate(), difference()": (
        "`integrate(q, v)`, `(..., nq)`: q after a unit of time at the velocity v; "
        "`difference(q0, q1)`, `(..., n)`: its inverse"
    ),
    "neutral(), normalize(), random_configuration()": (
        "`(nq,)`, q with quaternions of unit norm, and random q within the limits"
    ),
    "frame_pose()": "`frame_pose(name, q)`, `(..., 4, 4)`: pose of one link frame, by its name",
    "frame_jacobian()": (
        "`frame_jacobian(name, q, reference=...)`, `(..., 6, n)`: Jacobian of one link frame, by "
        "its name"
    ),
    "frame_motion()": (
        "`frame_motion(name, q, qd, qdd)`: pose, velocity and acceleration of one link frame; see "
        "[frames](../how_to/kinematics.md)"
    ),
    "inverse_kinematics()": (
        "`inverse_kinematics(name, target, q0=None)`: coordinates at which a link frame has a pose "
        "or a position; see [inverse kinematics](../how_to/kinematics.md#inverse-kinematics)"
    ),
    "operational_space_inertia()": (
        "`operational_space_inertia(name, q, rows=None)`, `(..., m, m)`: inertia of a link frame; "
        "see [operational space](../how_to/kinematics.md#operational-space)"
    ),
    "selftest()": "validates the module where it is installed; returns a table",
}
"""Attributes of a module that are no functions."""

OF_MECHANISMS = {
    "n_constraints, n_loops, constraint_names, loop_names": (
        "sizes, and names of the rows and of the loops"
    ),
    "initial_q, initial_qd": "where a motion begins; of trees, too, whose file has `initial`",
    "constrained_forward_dynamics(), constrained_inverse_dynamics()": (
        "dynamics with the loops closed; see [closed loops](../how_to/closed_loops.md)"
    ),
    "assemble(), closing_derivatives(), closed_velocities(), closed_accelerations(), freedoms(), "
    "unique_multipliers()": (
        "positions, velocities and accelerations at which the loops are closed, and what the "
        "constraints leave free"
    ),
}
"""Further attributes of a module of a model with loops or relations."""


def functions() -> str:
    """A section for every function."""
    return "\n".join([*(_section(function) for function in FUNCTIONS), *_by_hand()])


def _by_hand() -> Iterator[str]:
    """Sections for the functions that are written by hand, from their docstrings."""
    texts: dict[str, str] = {}
    calls: dict[str, str] = {}
    for file, names in BY_HAND.items():
        path = Path(__file__).parents[1] / file
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        texts |= {name: ast.get_docstring(found[name]) or "" for name in names}
        calls |= {name: ast.unparse(found[name].args).removeprefix("self, ") for name in names}
    texts["frame_pose"] = inspect.getdoc(Robot.frame_pose) or ""
    calls["frame_pose"] = "name, q, *, parameters=None, out=None"
    for name, text in sorted(texts.items()):
        yield f"## {name}\n\n```python\n{name}({calls[name]})\n```\n\n```text\n{text}\n```\n"


def metadata() -> str:
    """A table of the attributes of a module that are no functions."""
    more = {names: f"of models with loops or relations: {x}" for names, x in OF_MECHANISMS.items()}
    rows = [
        [", ".join(code(name) for name in names.split(", ")), meaning]
        for names, meaning in {**METADATA, **more}.items()
    ]
    return table(["name", "meaning"], rows)


def signature(function: Function) -> str:
    """How `function` is called."""
    options = [f"{array.name}=None" for array in (*function.options, PARAMETERS)]
    packed = ["packed=False"] if function.packable else []
    arguments = [array.name for array in function.arguments]
    inside = ", ".join([*arguments, "*", *options, *packed, "out=None"])
    return f"{function.name}({inside})"


def _section(function: Function) -> str:
    rows = [["argument", *_row(a)] for a in (*function.arguments, *function.options)]
    names = record_fields(function.record) or [array.name for array in function.results]
    rows += [
        ["result", code(name), *_row(array)[1:]]
        for name, array in zip(names, function.results, strict=True)
    ]
    served = [item for item in FORMULATIONS if function.name in provided_functions(item)]
    conditions = [PRESENT[size] for size in NEEDS if size in function.needs]
    if function.solves:
        conditions.append("Raises `numpy.linalg.LinAlgError` where the mass matrix is singular.")
    lines = [
        f"## {function.name}",
        "",
        f"```python\n{signature(function)}\n```",
        "",
        " ".join([cell(function.summary), *conditions]),
        "",
        table(["kind", "name", "shape", "meaning"], rows),
        f"By: {', '.join(code(item.name) for item in served)}.",
        "",
    ]
    return "\n".join(lines)


def _row(array: Argument) -> list[str]:
    sizes = ", ".join(["...", *(str(size) for size in array.shape)])
    return [code(array.name), code(f"({sizes})"), cell(array.meaning)]
