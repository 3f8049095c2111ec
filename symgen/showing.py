"""`symgen show`: equations and frames of a model as text; the tree is drawn by `drawing`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import sympy

from symgen.algebra.blackboard import latex_names, readable, with_decimals
from symgen.algebra.graph import Graph
from symgen.algebra.sympy_algebra import SymPyAlgebra, symbol
from symgen.derivation import derive_all, package_of, select, suggestion
from symgen.description import RobotDescription, read
from symgen.drawing import WIDTH, tree
from symgen.emit.emission import emit
from symgen.errors import RequestError
from symgen.formulations import declare_inputs, derive, formulation_named, provided_functions
from symgen.kinematics.tree import BASE, KinematicTree, build_tree
from symgen.optimize.operations import operations_before
from symgen.options import BuildOptions
from symgen.program.builder import ProgramBuilder
from symgen.program.functions import FUNCTION_NAMES, PLANNED_FUNCTIONS
from symgen.program.program import Output, Program, Step
from symgen.symbolic import SymbolicDynamics

LARGEST_EXPANSION = 3000
"""Results of up to this many operations, written out, are shown expanded; others step by step."""

LARGEST_CLOSED_ROBOT = 3
"""Up to this many coordinates the closed form is expanded quickly enough to be the one to show."""

Inputs = Mapping[str, Sequence[Any]]
"""Name of an input of a program -> its symbols."""


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
    if what in PLANNED_FUNCTIONS:
        raise RequestError(f"{what} is not available yet")
    if what not in FUNCTION_NAMES:
        known = (*FUNCTION_NAMES, *drawings)
        raise RequestError(f"there is no {what!r} to show; {suggestion(what, known)}")
    name = formulation or _default_formulation(description, what, steps)
    if what not in provided_functions(formulation_named(name)):
        raise RequestError(f"{name} does not derive {what}")
    if style in ("python", "c"):
        return source(description, name, what, style)
    dynamics = SymbolicDynamics(description, formulation_named(name))
    if steps is None:
        steps = not _is_small(description, what)
        if steps and style == "pretty":
            hint = "\n\nThis is the recursion; --expanded substitutes everything."
            return step_by_step(dynamics, what, style) + hint
    return (step_by_step if steps else expanded)(dynamics, what, style)


def _default_formulation(description: RobotDescription, what: str, steps: bool | None) -> str:
    """The closed form where it is to be read as such, else the recursion."""
    closed = formulation_named("closed_form_lagrange")
    if what not in provided_functions(closed) or _size(description) > LARGEST_CLOSED_ROBOT:
        return "newton_euler"
    if steps or (steps is None and not _is_small(description, what)):
        return "newton_euler"
    return closed.name


def _is_small(description: RobotDescription, what: str) -> bool:
    """Whether the result, written out in full, is short enough to be read."""
    tree = build_tree(description, Graph())
    program = derive(tree, formulation_named("newton_euler"), what)
    return operations_before(program.results).total <= LARGEST_EXPANSION


def _size(description: RobotDescription) -> int:
    return build_tree(description, SymPyAlgebra()).n


# -- equations ---------------------------------------------------------------------------------


def expanded(dynamics: SymbolicDynamics, function: str, style: str) -> str:
    """The result with everything substituted, in readable form."""
    program = dynamics.program(function)
    result = dynamics.readable(function)
    parts = result if isinstance(result, tuple) else (result,)
    inputs = _inputs(program)
    named = [(output.name, part) for output, part in zip(program.outputs, parts, strict=True)]
    if style == "latex" and len(named) == 1 and not isinstance(named[0][1], list):
        return _latex(_display(named[0][1]), inputs)
    return "\n\n".join(_equation(name, part, style, inputs) for name, part in named)


def _equation(
    name: str, value: Any, style: str, inputs: Inputs, index: tuple[int, ...] = ()
) -> str:
    """`value` is what stands at `index` of the result `name`: an expression, a matrix or a list."""
    label = _indexed(name, index)
    if isinstance(value, list | sympy.MatrixBase) and not len(value):
        return f"{'% ' if style == 'latex' else ''}{label} has no entries"
    if isinstance(value, list):
        return "\n\n".join(
            _equation(name, part, style, inputs, (*index, i)) for i, part in enumerate(value)
        )
    display = _display(value)
    if style == "latex":
        return f"% {label}\n{_latex(display, inputs)}"
    text = _pretty(display)
    if max(map(len, text.splitlines())) <= WIDTH:
        return f"{label} =\n{text}"
    if isinstance(display, sympy.MatrixBase):
        return "\n\n".join(_entries(name, index, display))
    return f"{label} =\n{_sum(display)}"


def _entries(name: str, index: tuple[int, ...], matrix: Any) -> Iterator[str]:
    """One equation for every entry that is not 0, of a matrix too wide for one line."""
    rows, columns = matrix.shape
    for i in range(rows):
        for k in range(columns):
            place = (*index, i, k) if columns > 1 else (*index, i)
            if matrix[i, k] != 0:
                yield f"{_indexed(name, place)} =\n{_sum(matrix[i, k])}"
    if any(entry == 0 for entry in matrix):
        yield f"All other entries of {_indexed(name, index)} are 0."


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


def _sum(expression: Any) -> str:
    """A sum too wide for one line, term by term."""
    lines: list[str] = []
    for term in expression.as_ordered_terms():
        negative = term.could_extract_minus_sign()
        text = _pretty(-term if negative else term)
        if max(map(len, text.splitlines())) > WIDTH:
            text = str(-term if negative else term)
        sign = "- " if negative else "+ " if lines else "  "
        rows = [row.rstrip() for row in text.splitlines()]
        middle = len(rows) // 2
        lines += [(sign if i == middle else "  ") + row for i, row in enumerate(rows)]
    return "\n".join(lines)


def _pretty(expression: Any) -> str:
    return str(sympy.pretty(expression, use_unicode=True, wrap_line=False))


def _latex(value: Any, inputs: Inputs) -> str:
    return str(
        sympy.latex(
            value,
            symbol_names=latex_names(inputs, value.free_symbols),
            mat_str="bmatrix",
            mat_delim="",
            fold_func_brackets=True,
        )
    )


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
    lines += [_result(output) for output in program.outputs]
    return "\n".join(lines)


def _steps_in_latex(program: Program[Any], title: str) -> str:
    """The recursion as align* environments, one per step, with \\tag for the equation."""
    lines = [f"% {title}", *(f"% {label}: {text}" for label, text in program.notes.items())]
    inputs = _inputs(program)
    for step in program.steps:
        rows = [
            f"  {_latex(symbol(line.name), inputs)} &= {_latex(with_decimals(line.value), inputs)}"
            f" \\tag{{{line.note}}}"
            for line in step.statements
        ]
        lines += ["", f"% {_heading(step)}", r"\begin{align*}"]
        lines += [row + r" \\" for row in rows[:-1]] + [rows[-1], r"\end{align*}"]
    results = [row for output in program.outputs for row in _result(output).splitlines()]
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
    options = BuildOptions(formulations=(formulation,), functions=(function,))
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
        blocks.append(_equation(f"{frame.name} in {parent}", matrix, style, inputs))
    return "\n\n".join(blocks)


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
