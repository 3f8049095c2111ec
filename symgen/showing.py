"""`symgen show`: equations, the tree and the frames of a model, as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import sympy

from symgen.algebra.blackboard import latex_names, readable, with_decimals
from symgen.algebra.graph import Graph
from symgen.algebra.sympy_algebra import SymPyAlgebra, symbol
from symgen.derivation import derive_all, package_of, select, suggestion
from symgen.description import RobotDescription, read
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

WIDTH = 100

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
    if steps or (steps is None and not _is_small(description, what)):
        return "newton_euler"
    return "closed_form_lagrange" if _size(description) <= LARGEST_CLOSED_ROBOT else "newton_euler"


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


def _equation(name: str, value: Any, style: str, inputs: Inputs) -> str:
    if isinstance(value, list):
        return "\n\n".join(
            _equation(f"{name}[{i}]", part, style, inputs) for i, part in enumerate(value)
        )
    display = _display(value)
    if style == "latex":
        return f"% {name}\n{_latex(display, inputs)}"
    text = _pretty(display)
    if max(map(len, text.splitlines())) <= WIDTH:
        return f"{name} =\n{text}"
    if isinstance(display, sympy.MatrixBase):
        rows, columns = display.shape
        return "\n\n".join(
            f"{name}[{i}{f', {k}' if columns > 1 else ''}] =\n{_sum(display[i, k])}"
            for i in range(rows)
            for k in range(columns)
        )
    return f"{name} =\n{_sum(display)}"


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
    lines += ["", *(f"% {_result(output)}" for output in program.outputs)]
    return "\n".join(lines)


def _heading(step: Step[Any]) -> str:
    return f"{step.kind}, {step.joint}" if step.joint else step.kind


def _result(output: Output[Any]) -> str:
    """A result in terms of the statements, matrices row by row."""
    entries = [str(with_decimals(entry)) for entry in output.entries]
    if not output.shape:
        return f"{output.name} = {entries[0]}"
    width = output.shape[-1] or 1
    rows = ["[" + ", ".join(entries[i : i + width]) + "]" for i in range(0, len(entries), width)]
    separator = ",\n" + " " * (len(output.name) + 4)
    body = separator.join(rows)
    return f"{output.name} = {body}" if len(rows) == 1 else f"{output.name} = [{body}]"


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


# -- the robot ---------------------------------------------------------------------------------


def tree(description: RobotDescription, style: str) -> str:
    """A drawing of the tree: every link under the one that carries it."""
    carried: dict[str, list[str]] = {}
    labels = {"base": "base"}
    number = 0
    for joint in description.joints:
        first, number = number + 1, number + joint.coordinates
        coordinate = {0: "", 1: f"q_{number} "}.get(joint.coordinates, f"q_{first}..q_{number} ")
        labels[joint.link.name] = f"{joint.link.name}  ({coordinate}{joint.type} {joint.name})"
        carried.setdefault(joint.parent, []).append(joint.link.name)
    lines: list[str] = []
    stack = [("base", "", "")]
    while stack:
        link, lead, rest = stack.pop()
        lines.append(lead + labels[link])
        children = carried.get(link, [])
        for position, child in reversed(list(enumerate(children))):
            last = position == len(children) - 1
            branch, below = ("└─ ", "   ") if last else ("├─ ", "│  ")
            stack.append((child, rest + branch, rest + below))
    return "\n".join(lines)


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
            joint = robot.joint(frame.body)
            pose = joint.transform(q[joint.number - 1], robot.algebra)
            parent = next(
                (
                    f.name
                    for f in robot.frames
                    if f.body == joint.parent and _is_own_frame(robot, f)
                ),
                "base",
            )
        elif frame.body != BASE:
            parent = next(
                f.name for f in robot.frames if f.body == frame.body and _is_own_frame(robot, f)
            )
        matrix = sympy.Matrix(pose.homogeneous(robot.algebra).rows).applyfunc(readable)
        blocks.append(_equation(f"{frame.name} in {parent}", matrix, style, inputs))
    return "\n\n".join(blocks)


def _is_own_frame(robot: KinematicTree[Any], frame: Any) -> bool:
    """Whether this is the frame behind the moving joint itself, not one fixed to that body."""
    first = next(other for other in robot.frames if other.body == frame.body)
    return frame.body != BASE and frame is first
