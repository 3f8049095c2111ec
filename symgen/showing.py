"""`symgen show`: equations and frames of a model as text; the tree is drawn by `drawing`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import sympy

from symgen.algebra.blackboard import readable, with_decimals
from symgen.algebra.graph import Graph
from symgen.algebra.sympy_algebra import SymPyAlgebra, symbol
from symgen.derivation import derive_all, package_of
from symgen.description import RobotDescription, read
from symgen.drawing import tree
from symgen.emit.emission import emit
from symgen.errors import RequestError
from symgen.formulations import declare_inputs, derive, formulation_named, provided_functions
from symgen.kinematics.tree import BASE, KinematicTree, build_tree
from symgen.optimize.operations import operations_before
from symgen.options import ALL, NONE, BuildOptions
from symgen.program.builder import ProgramBuilder
from symgen.program.functions import FUNCTION_NAMES, function_named, visible_outputs
from symgen.program.program import Output, Program, Step
from symgen.selection import select, suggestion, who_derives
from symgen.symbolic import SymbolicDynamics, no_solution
from symgen.typesetting import (
    Inputs,
    Label,
    Names,
    aligned,
    fits,
    latex,
    latex_equation,
    names_in,
    pretty,
    pretty_sum,
    result_symbol,
    upright,
)

LARGEST_EXPANSION = 3000
"""Results of up to this many operations, written out, are shown expanded; others step by step."""

LARGEST_CLOSED_ROBOT = 3
"""Up to this many coordinates the closed form is expanded quickly enough to be the one to show."""


def show(
    path: str | Path, what: str, style: str, formulation: str | None, steps: bool | None
) -> str:
    """The text that `symgen show PATH WHAT` prints."""
    description = read(path)
    drawings: dict[str, Callable[[RobotDescription, str], str]] = {"tree": tree, "frames": frames}
    if what in drawings:
        styles = ("pretty", "latex") if what == "frames" else ("pretty",)
        if style not in styles:
            raise RequestError(f"{what} is shown as {' or '.join(styles)}, not as {style}")
        return drawings[what](description, style)
    if what not in FUNCTION_NAMES:
        known = (*FUNCTION_NAMES, *drawings)
        raise RequestError(f"there is no {what!r} to show; {suggestion(what, known)}")
    name = formulation or _default_formulation(description, what, steps)
    if what not in provided_functions(formulation_named(name)):
        raise RequestError(f"{name} does not derive {what}; {who_derives(what)}")
    if style in ("python", "c"):
        return source(description, name, what, style)
    dynamics = SymbolicDynamics(description, formulation_named(name))
    if steps is None:
        operations = _operations(description, what, name)
        if operations > LARGEST_EXPANSION:
            heading = _too_long(description.name, what, style, operations)
            return f"{heading}\n\n{step_by_step(dynamics, what, style)}"
    return (step_by_step if steps else expanded)(dynamics, what, style)


def _too_long(robot: str, what: str, style: str, operations: int) -> str:
    """Why the steps are shown and not the result, and what to do about it."""
    number = f"{operations:,}" if operations < 1e6 else f"{float(operations):.0e}"
    return (
        f"{'% ' if style == 'latex' else ''}{what} of {robot} has {number} operations when written "
        "out, so here is its recursion; --expanded writes it out all the same."
    )


def _default_formulation(description: RobotDescription, what: str, steps: bool | None) -> str:
    """The closed form where it is to be read as such, else the recursion."""
    closed = formulation_named("closed_form_lagrange")
    recursion = "kane" if function_named(what).solves else "newton_euler"
    if what not in provided_functions(closed) or _size(description) > LARGEST_CLOSED_ROBOT:
        return recursion
    if steps or (steps is None and _operations(description, what, recursion) > LARGEST_EXPANSION):
        return recursion
    return closed.name


def _operations(description: RobotDescription, what: str, formulation: str) -> int:
    """How many operations the result has, written out in full."""
    tree = build_tree(description, Graph(), description.independent_parameters)
    try:
        program = derive(tree, formulation_named(formulation), what)
    except ZeroDivisionError as error:
        raise RequestError(no_solution(description, what)) from error
    return operations_before([x for array in visible_outputs(program) for x in array.entries]).total


def _size(description: RobotDescription) -> int:
    return build_tree(description, SymPyAlgebra()).n


# -- equations ---------------------------------------------------------------------------------


def expanded(dynamics: SymbolicDynamics, function: str, style: str) -> str:
    """The result with everything substituted, in readable form.

    In LaTeX one matrix that fits on a slide is only that matrix, to be pasted into any equation;
    everything else has a left-hand side.
    """
    program = dynamics.program(function)
    result = dynamics.readable(function)
    parts = result if isinstance(result, tuple) else (result,)
    inputs = _inputs(program)
    if style == "latex" and len(parts) == 1 and not isinstance(result, list):
        display = _display(result)
        if not _is_empty(display) and fits(pretty(display)):
            return latex(display, inputs)
    runtime = dynamics.description.independent_parameters
    names = names_in(build_tree(dynamics.description, Graph(), runtime))
    return "\n\n".join(
        _equation(
            _indexed(output.name, index), _label(output, index, style, names), part, style, inputs
        )
        for output, whole in zip(visible_outputs(program), parts, strict=True)
        for index, part in _matrices(whole)
    )


def _label(output: Output[Any], index: tuple[int, ...], style: str, names: Names) -> Label:
    """The names of the entries of what stands at `index` of a result."""

    def label(place: tuple[int, ...]) -> str:
        full = (*index, *place)[: len(output.shape)]  # a vector is a column: its second index goes
        if style == "latex":
            return result_symbol(output.name, names, full)
        return _indexed(output.name, full)

    return label


def _matrices(value: Any, index: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    """The matrices of nested lists, each with the indices that lead to it."""
    if not isinstance(value, list) or not value:
        yield index, value
        return
    for i, part in enumerate(value):
        yield from _matrices(part, (*index, i))


def _equation(heading: str, label: Label, value: Any, style: str, inputs: Inputs) -> str:
    """An expression or a matrix with its name; entry by entry where it is too wide."""
    if _is_empty(value):
        return f"{'% ' if style == 'latex' else ''}{heading} has no entries"
    display = _display(value)
    if style == "latex":
        return f"% {heading}\n{latex_equation(label, display, inputs)}"
    text = pretty(display)
    if fits(text):
        return f"{heading} =\n{text}"
    if isinstance(display, sympy.MatrixBase):
        return "\n\n".join(_entries(heading, label, display))
    return f"{heading} =\n{pretty_sum(display)}"


def _is_empty(value: Any) -> bool:
    return isinstance(value, list | sympy.MatrixBase) and not len(value)


def _entries(heading: str, label: Label, matrix: Any) -> Iterator[str]:
    """One equation for every entry that is not 0, of a matrix too wide for one line."""
    for i, k in itertools.product(*map(range, matrix.shape)):
        if matrix[i, k] != 0:
            yield f"{label((i, k))} =\n{pretty_sum(matrix[i, k])}"
    if any(entry == 0 for entry in matrix):
        yield f"All other entries of {heading} are 0."


def _indexed(name: str, index: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def _display(value: Any) -> Any:
    """The value with its numbers as decimals."""
    return (
        value.applyfunc(with_decimals)
        if isinstance(value, sympy.MatrixBase)
        else (with_decimals(value))
    )


def _inputs(program: Program[Any]) -> Inputs:
    return {array.name: array.symbols for array in program.inputs}


def step_by_step(dynamics: SymbolicDynamics, function: str, style: str) -> str:
    """The recursion: one line per statement, grouped by step, with the equations it comes from."""
    program = dynamics.program(function)
    title = f"{dynamics.formulation.title} ({dynamics.formulation.source}): {function}"
    if style == "latex":
        return _steps_in_latex(program, title)
    lines = [title, "", *(f"  {label}: {text}" for label, text in program.notes.items())]
    for step in program.steps:
        lines += ["", _heading(step)]
        for statement in step.statements:
            value = with_decimals(statement.value)
            lines.append(f"  {statement.name} = {value}    [{statement.note}]")
    lines.append("")
    lines += [_result(output) for output in visible_outputs(program)]
    return "\n".join(lines)


def _steps_in_latex(program: Program[Any], title: str) -> str:
    """The recursion as align* environments, one per step, with \\tag for the equation."""
    lines = [f"% {title}", *(f"% {label}: {text}" for label, text in program.notes.items())]
    inputs = _inputs(program)
    for step in program.steps:
        rows = [
            f"{latex(symbol(line.name), inputs)} &= {latex(with_decimals(line.value), inputs)}"
            f" \\tag{{{line.note}}}"
            for line in step.statements
        ]
        lines += ["", f"% {_heading(step)}", aligned(rows)]
    results = [row for output in visible_outputs(program) for row in _result(output).splitlines()]
    return "\n".join([*lines, "", *(f"% {row}" for row in results)])


def _heading(step: Step[Any]) -> str:
    return f"{step.kind}, {step.joint}" if step.joint else step.kind


def _result(output: Output[Any]) -> str:
    """A result in terms of the statements, matrices row by row, one after the other."""
    entries = [str(with_decimals(entry)) for entry in output.entries]
    if not output.shape:
        return f"{output.name} = {entries[0]}"
    if not entries:
        return f"{output.name} has no entries"
    leading, (height, width) = output.shape[:-2], (1, *output.shape)[-2:]
    size = height * width
    return "\n".join(
        _matrix(_indexed(output.name, index), entries[i * size : (i + 1) * size], width)
        for i, index in enumerate(itertools.product(*map(range, leading)))
    )


def _matrix(label: str, entries: Sequence[str], width: int) -> str:
    rows = ["[" + ", ".join(entries[i : i + width]) + "]" for i in range(0, len(entries), width)]
    separator = ",\n" + " " * (len(label) + 4)
    body = separator.join(rows)
    return f"{label} = {body}" if len(rows) == 1 else f"{label} = [{body}]"


def source(description: RobotDescription, formulation: str, function: str, style: str) -> str:
    """The generated NumPy or C source of one function."""
    by_parameters = any("n_parameters" in a.shape for a in function_named(function).results)
    runtime = (ALL,) if by_parameters else (NONE,)
    options = BuildOptions(
        formulations=(formulation,), functions=(function,), runtime_parameters=runtime
    )
    selection = select(description, options)
    derived = derive_all(description, selection)
    backend = "numpy" if style == "python" else "compiled"
    bundle = emit(package_of(description, selection, derived), (backend,))
    folder, suffix = ("_numpy/", ".py") if style == "python" else ("c/", ".c")
    return "\n".join(
        text.rstrip()
        for name, text in bundle.files.items()
        if name.startswith(folder) and name.endswith(suffix) and formulation in name
    )


# -- frames ------------------------------------------------------------------------------------


def frames(description: RobotDescription, style: str) -> str:
    """The symbolic pose of every link frame in the frame of the link that carries it."""
    robot: KinematicTree[Any] = build_tree(description, SymPyAlgebra())
    builder = ProgramBuilder(robot.algebra, taken=robot.parameter_names)
    q = declare_inputs(robot, builder, "forward_kinematics").q
    inputs = {"q": q}
    blocks = []
    for frame in robot.frames:
        parent = "base"
        pose = frame.pose
        if frame.body != BASE and _is_own_frame(robot, frame):
            parent, pose = _in_carrier(robot, frame.body, q)
        elif frame.body != BASE:
            parent = next(
                f.name for f in robot.frames if f.body == frame.body and _is_own_frame(robot, f)
            )
        matrix = sympy.Matrix(pose.homogeneous(robot.algebra).rows).applyfunc(readable)
        heading = f"{frame.name} in {parent}"
        label = _pose_symbol(frame.name, parent) if style == "latex" else _entry_of(heading)
        blocks.append(_equation(heading, label, matrix, style, inputs))
    return "\n\n".join(blocks)


def _entry_of(heading: str) -> Label:
    return lambda place: _indexed(heading, place)


def _pose_symbol(name: str, parent: str) -> Label:
    """The pose of one frame in another, and its entries."""
    pose = rf"{{}}^{{{upright(parent)}}}T_{{{upright(name)}}}"
    return lambda at: rf"\left({pose}\right)_{{{at[0] + 1},{at[1] + 1}}}" if at else pose


def _in_carrier(robot: KinematicTree[Any], body: int, q: Sequence[Any]) -> tuple[str, Any]:
    """The link that carries `body`, and the pose in it, over all coordinates of the joint."""
    names = {f.body: f.name for f in robot.frames if _is_own_frame(robot, f)}
    joint = robot.joint(body)
    pose = joint.transform(q[joint.number - 1], robot.algebra)
    while joint.parent != BASE and joint.parent not in names:  # a body within a composite joint
        joint = robot.joint(joint.parent)
        pose = joint.transform(q[joint.number - 1], robot.algebra) @ pose
    return names.get(joint.parent, "base"), pose


def _is_own_frame(robot: KinematicTree[Any], frame: Any) -> bool:
    """Whether this is the frame behind the moving joint itself, not one fixed to that body."""
    first = next(other for other in robot.frames if other.body == frame.body)
    return frame.body != BASE and frame is first
