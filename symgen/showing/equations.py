"""`symgen show`: equations and frames of a model as text."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import sympy

from symgen.algebra.blackboard import readable, with_decimals
from symgen.algebra.graph import Graph
from symgen.algebra.sympy_algebra import SymPyAlgebra
from symgen.deriving.derivation import derive_all
from symgen.deriving.packaging import package_of
from symgen.deriving.selection import select, who_derives
from symgen.deriving.symbolic import (
    OverDeterminant,
    SymbolicDynamics,
    Watch,
    no_solution,
    unwatched,
)
from symgen.description import RobotDescription, read
from symgen.description.additions import with_additions
from symgen.emit.emission import emit, javascript_source
from symgen.errors import RequestError
from symgen.formulations import (
    declare_inputs,
    derive,
    formulation_named,
    provided_functions,
    state_of_joints,
)
from symgen.kinematics.loops import velocity_rows
from symgen.kinematics.tree import BASE, KinematicTree, build_tree
from symgen.kinematics.turns import why_not_written_out
from symgen.optimize.operations import operations_before
from symgen.options import ALL, NONE, STRAIGHT, UNCHANGED, BuildOptions, ReadOptions
from symgen.program.arguments import Argument, why_empty
from symgen.program.builder import ProgramBuilder
from symgen.program.functions import (
    FUNCTION_NAMES,
    SYMBOLS,
    function_named,
    function_suggestion,
    visible_outputs,
)
from symgen.showing.steps import step_by_step
from symgen.showing.tree import tree as drawn_tree
from symgen.showing.typesetting import (
    CODE_STYLES,
    Inputs,
    Label,
    Names,
    assignment,
    code_name,
    comment,
    fits,
    indexed,
    inputs_of,
    latex,
    latex_equation,
    names_in,
    pretty,
    pretty_sum,
    result_symbol,
    upright,
)
from symgen.support.journal import Journal
from symgen.validation.model_warnings import model_warnings

LARGEST_EXPANSION = 3000
"""Largest number of operations of results that are shown expanded; others are step by step."""
LARGEST_QUICK_EXPANSION = 20_000
"""Largest number of operations of results that are expanded in seconds, and shown if they become
short by simplification."""
LARGEST_SIMPLIFIED = 1000
"""Operations of the longest simplified result that is shown: some pages."""
_MACROS = """\
/* real, lanes, NAMED, OCTET and sines_and_cosines are types, macros and functions of symgen-real.h:
 * this source is compiled for one sample, and for several at a time.  C without them is in
 * generated/{}/c/plain (symgen build; large robots: --plain-c). */"""
_NAMED_ROWS = {"n_outputs": "output", "n_constraints": "constraint"}
_ENTRY_BY_ENTRY = ("outputs", "constraints")
LARGEST_CLOSED_ROBOT = 3
"""Largest number of coordinates for which the closed form is the default."""


def show(
    path: str | Path, what: str, style: str, formulation: str | None, steps: bool | None,
    journal: Journal | None = None, *, loads: Sequence[str] = (), points: Sequence[str] = (),
    reading: ReadOptions = UNCHANGED, generated: bool = False,
) -> str:  # fmt: skip
    """Return the text of `symgen show PATH WHAT`; `journal` takes notices and progress.

    `what` is ``tree``, ``frames``, or a function, by its name or its symbol (`SYMBOLS`).
    `loads` and `points` are added to those of the file, each ``LINK`` or ``LINK:x,y,z``; `reading`
    are the options for reading the file.  `generated`: the source that a build generates for the
    function in the language `style`, instead of equations in that language.
    """
    what = SYMBOLS.get(what, what)
    description = with_additions(read(path, reading), loads, points)
    if journal is not None:
        for warning in model_warnings(description):
            journal.notice(warning)
    if generated and style not in CODE_STYLES:
        raise RequestError(
            "--code prints the generated source of a function in a language; choose it: "
            f"--format {', '.join(CODE_STYLES)}"
        )
    if what in ("tree", "frames"):
        styles = ("pretty", "latex") if what == "frames" else ("pretty",)
        if style not in styles:
            raise RequestError(f"{what} is shown as {' or '.join(styles)}, not as {style}")
        return frames(description, style) if what == "frames" else drawn_tree(description)
    if what not in FUNCTION_NAMES:
        names = (*FUNCTION_NAMES, "tree", "frames")
        if what.startswith("constrained_"):
            raise RequestError(
                f"{what} is solved numerically; its equations are those of mass_matrix, "
                "bias_forces, constraint_jacobian and constraint_bias: show these"
            )
        raise RequestError(f"there is no {what!r} to show; {function_suggestion(what, names)}")
    tree = build_tree(description, Graph())
    remark = why_empty(function_named(what).results, tree.sizes)
    if journal is not None and remark:
        journal.notice(remark)
    name = formulation or _default_formulation(description, what, steps)
    if what not in provided_functions(formulation_named(name), tree):
        advice = who_derives(what, tree, "choose --formulation")
        raise RequestError(f"{name} does not derive {what}; {advice}")
    if generated:
        return source(description, name, what, style)
    dynamics = SymbolicDynamics(description, formulation_named(name))
    if steps:
        return step_by_step(dynamics, what, style)
    operations = written_out(description, what, name)
    if operations <= LARGEST_EXPANSION:
        return expanded(dynamics, what, style)
    progress = unwatched if journal is None else partial(journal.progress, "simplify")
    if steps is None:
        short = operations <= LARGEST_QUICK_EXPANSION and not function_named(what).solves
        text = _if_short(dynamics, what, style, progress) if short else ""
        return text or _steps_instead(description, what, style, formulation, operations)
    if operations > LARGEST_QUICK_EXPANSION and journal is not None:
        journal.notice(
            f"{_size_of(description, what, operations)}; this may take minutes or longer (Ctrl-C "
            "stops it), and --steps, which takes seconds, is easier to read",
            at_once=True,
        )
    return expanded(dynamics, what, style, progress)


def _steps_instead(
    description: RobotDescription, what: str, style: str, formulation: str | None, operations: int
) -> str:
    """Return the recursion of a result that is too large for other forms."""
    name = formulation or _recursion(description, what)
    dynamics = SymbolicDynamics(description, formulation_named(name))
    return (
        f"{comment(style)}{_size_of(description, what, operations)}, so here "
        "is its recursion; --expanded writes it out all the same."
        f"\n\n{step_by_step(dynamics, what, style)}"
    )


def _size_of(description: RobotDescription, what: str, operations: int) -> str:
    """Return the size of a result in words."""
    number = f"{operations:,}" if operations < 1e6 else f"{float(operations):.0e}"
    return f"{what} of {description.name} has {number} operations when written out"


def _default_formulation(description: RobotDescription, what: str, steps: bool | None) -> str:
    """Return the closed form where it is short enough, else the recursion."""
    closed = formulation_named("closed_form_lagrange")
    tree = build_tree(description, Graph())
    unfit = tree.sizes["n_joints"] > LARGEST_CLOSED_ROBOT or closed.why_not(tree) is not None
    if steps or unfit or what not in provided_functions(closed):
        return _recursion(description, what)
    if steps is None and written_out(description, what, closed.name) > LARGEST_QUICK_EXPANSION:
        return _recursion(description, what)
    return closed.name


def _recursion(description: RobotDescription, what: str) -> str:
    """Return the recursion that shows a function by default."""
    if any(joint.is_redundant for joint in description.joints):
        return "semi_recursive"
    return "kane" if function_named(what).solves else "newton_euler"


def written_out(description: RobotDescription, what: str, formulation: str) -> int:
    """Return the number of operations of the expanded result."""
    tree = build_tree(description, Graph(), description.independent_parameters)
    try:
        program = derive(tree, formulation_named(formulation), what)
    except ZeroDivisionError as error:
        raise RequestError(no_solution(description, what)) from error
    return operations_before([x for array in visible_outputs(program) for x in array.entries]).total


def expanded(
    dynamics: SymbolicDynamics, function: str, style: str, watch: Watch = unwatched
) -> str:
    """Return the result with all temporaries substituted, in readable form.

    A function that solves has the determinant of the mass matrix as its common denominator, and as
    a factor on the left.
    """
    program = dynamics.program(function)
    over = dynamics.over_determinant(function, watch)
    if over is not None and any(power for power, _ in over.results):
        if style in CODE_STYLES:
            quotients = [(0, result / over.symbol**power) for power, result in over.results]
            equations = _equations(dynamics, function, style, quotients)
            return "\n".join([assignment(str(over.symbol), over.determinant, style), *equations])
        denominator = _determinant(over, function, style, inputs_of(program))
        results = _equations(dynamics, function, style, over.results, over.symbol)
        return "\n\n".join([*denominator, *results])
    return _written(dynamics, function, style, dynamics.readable(function, watch))


def _if_short(dynamics: SymbolicDynamics, function: str, style: str, watch: Watch) -> str:
    """Return the simplified result of functions that do not solve; "" where it is long."""
    result = dynamics.readable(function, watch)
    if sum(map(sympy.count_ops, _scalars(result))) > LARGEST_SIMPLIFIED:
        return ""
    return _written(dynamics, function, style, result)


def _scalars(value: Any) -> Iterator[Any]:
    """Yield the expressions in matrices, lists and tuples of them."""
    if isinstance(value, tuple | list | sympy.MatrixBase):
        for part in value:
            yield from _scalars(part)
    else:
        yield value


def _written(dynamics: SymbolicDynamics, function: str, style: str, result: Any) -> str:
    """Return a result as text."""
    parts = result if isinstance(result, tuple) else (result,)
    between = "\n" if style in CODE_STYLES else "\n\n"
    return between.join(_equations(dynamics, function, style, [(0, part) for part in parts]))


def _determinant(over: OverDeterminant, function: str, style: str, inputs: Inputs) -> Iterator[str]:
    """Yield the common denominator and its equation."""
    free = " of the free joints" if "n_prescribed" in function_named(function).needs else ""
    yield (
        f"{comment(style)}{over.symbol} is the determinant of the mass matrix"
        f"{free}, the common denominator."
    )
    name = latex(over.symbol, inputs) if style == "latex" else str(over.symbol)
    yield _equation(name, lambda place: name, over.determinant, style, inputs)


def _equations(
    dynamics: SymbolicDynamics, function: str, style: str, results: Sequence[tuple[int, Any]],
    determinant: Any = None,
) -> Iterator[str]:  # fmt: skip
    """Yield one equation or more for every result times a power of the determinant."""
    inputs, zero = inputs_of(dynamics.program(function)), []
    for heading, label, part in shown_parts(dynamics, function, results, style, determinant):
        if function == "constraints" and part == 0 and style not in CODE_STYLES:
            zero.append(heading)
        else:
            yield _equation(heading, label, part, style, inputs)
    if zero:
        yield f"{comment(style)}0 at all coordinates: {', '.join(zero)}"
        if any(velocity_rows(dynamics.description)):
            yield f"{comment(style)}constraint_rates has the relations of velocities"


def shown_parts(
    dynamics: SymbolicDynamics, function: str, results: Sequence[tuple[int, Any]], style: str,
    determinant: Any = None,
) -> Iterator[tuple[str, Label, Any]]:  # fmt: skip
    """Yield heading, names of the entries, and value of every equation."""
    tree = build_tree(dynamics.description, Graph(), dynamics.description.independent_parameters)
    names, inputs = names_in(tree), inputs_of(dynamics.program(function))
    for array, (power, written_out) in zip(function_named(function).results, results, strict=True):
        factor = _factor(determinant, power, style, inputs)
        single = array.name in _ENTRY_BY_ENTRY
        for index, part in _matrices([*written_out] if single else written_out):
            heading = _part(array, index, names)
            if _rows(array) and not index:
                heading += f" (rows: {', '.join(names[_rows(array)])})"
            if style != "latex":
                heading = factor + heading
            yield heading, _label(array, index, style, names, factor), part


def _factor(determinant: Any, power: int, style: str, inputs: Inputs) -> str:
    """Return the power of the determinant in front of a result."""
    if not power:
        return ""
    if style == "latex":
        return rf"{latex(determinant**power, inputs)} \, "
    return f"{determinant}{'²' if power == 2 else ''}⋅"


def _label(array: Argument, index: tuple[int, ...], style: str, names: Names, factor: str) -> Label:
    """Return the names of the entries of a result at `index`."""

    def label(place: tuple[int, ...]) -> str:
        full = (*index, *place)[: len(array.shape)]  # a vector is a column: drop its second index
        if style == "latex":
            return factor + result_symbol(array.name, names, full)
        if style in CODE_STYLES:
            return code_name(array.name, names, full)
        return factor + _part(array, full, names)

    return label


def _part(array: Argument, index: tuple[int, ...], names: Names) -> str:
    """Return the name of a part of a result; outputs and constraints have those of the file."""
    if not index or not _rows(array):
        return indexed(array.name, index)
    name = names[_rows(array)][index[0]]
    return name if array.name in _ENTRY_BY_ENTRY else indexed(array.name, (name, *index[1:]))


def _rows(array: Argument) -> str:
    """Return what the rows of a result have names of; "" for numbers."""
    return _NAMED_ROWS.get(str(array.shape[0]), "") if array.shape else ""


def _matrices(value: Any, index: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Yield the matrices of nested lists, each with its indices."""
    if not isinstance(value, list) or not value:
        yield index, value
        return
    for i, part in enumerate(value):
        yield from _matrices(part, (*index, i))


def _equation(heading: str, label: Label, value: Any, style: str, inputs: Inputs) -> str:
    """Return an expression or a matrix with its name; entry by entry where it is too wide."""
    if isinstance(value, list | sympy.MatrixBase) and not len(value):
        return f"{comment(style)}{heading} has no entries"
    display = decimal(value)
    if style in CODE_STYLES:
        matrix = isinstance(display, sympy.MatrixBase)
        places = itertools.product(*map(range, display.shape)) if matrix else [()]
        entries = ((label(at), display[at] if matrix else display) for at in places)
        return "\n".join(assignment(name, entry, style) for name, entry in entries)
    if style == "latex":
        return f"% {heading}\n{latex_equation(label, display, inputs)}"
    text = pretty(display)
    if fits(text):
        return f"{heading} =\n{text}"
    if isinstance(display, sympy.MatrixBase):
        return "\n\n".join(_entries(label, display))
    return f"{heading} =\n{pretty_sum(display)}"


def _entries(label: Label, matrix: Any) -> Iterator[str]:
    """Yield one equation per entry that is not 0, of a matrix too wide for one line."""
    for i, k in itertools.product(*map(range, matrix.shape)):
        if matrix[i, k] != 0:
            yield f"{label((i, k))} =\n{pretty_sum(matrix[i, k])}"
    if any(entry == 0 for entry in matrix):
        yield f"All other entries of {label(())} are 0."


def decimal(value: Any) -> Any:
    """Return an expression or a matrix with its numbers as decimals."""
    is_matrix = isinstance(value, sympy.MatrixBase)
    return value.applyfunc(with_decimals) if is_matrix else with_decimals(value)


def source(description: RobotDescription, formulation: str, function: str, style: str) -> str:
    """Return the generated NumPy, C or JavaScript source of one function."""
    by_parameters = any("n_parameters" in a.shape for a in function_named(function).results)
    runtime = (ALL,) if by_parameters else (NONE,)
    options = BuildOptions(
        formulations=(formulation,), functions=(function,), runtime_parameters=runtime
    )
    selection = select(description, options)
    if style == "javascript":
        derived = derive_all(description, selection, form=STRAIGHT)
        return javascript_source(package_of(description, derived)).rstrip()
    derived = derive_all(description, selection)
    backend = "numpy" if style == "python" else "compiled"
    bundle = emit(package_of(description, derived), (backend,))
    folder, suffix = ("_numpy/", ".py") if style == "python" else ("c/", ".c")
    about = f"{_MACROS.format(description.name)}\n" if style == "c" else ""
    return about + "\n".join(
        text.rstrip()
        for name, text in bundle.files.items()
        if name.startswith(folder) and name.endswith(suffix) and formulation in name
    )


def frames(description: RobotDescription, style: str) -> str:
    """Return the symbolic pose of every link frame in the frame of the link that carries it."""
    return "\n\n".join(
        _equation(heading, label, matrix, style, inputs)
        for heading, label, matrix, inputs in poses_of_frames(description, style)
    )


def poses_of_frames(
    description: RobotDescription, style: str
) -> Iterator[tuple[str, Label, Any, Inputs]]:
    """Yield heading, names of the entries, 4x4 matrix, and the symbols in it of every link."""
    reason = why_not_written_out(description)
    if reason is not None:
        raise RequestError(f"the frames of {description.name} cannot be shown: {reason}")
    robot: KinematicTree[Any] = build_tree(description, SymPyAlgebra())
    builder = ProgramBuilder(robot.algebra, taken=robot.parameter_names)
    state = declare_inputs(robot, builder, "forward_kinematics")
    q, inputs = state_of_joints(robot, state).q, {"q": state.q}
    robot = robot.posed(state.q)
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
        label: Label = partial(indexed, heading)
        if style == "latex":
            label = _pose_symbol(frame.name, parent)
        yield heading, label, matrix, inputs


def _pose_symbol(name: str, parent: str) -> Label:
    """Return the pose of one frame in another, and its entries."""
    pose = rf"{{}}^{{{upright(parent)}}}T_{{{upright(name)}}}"
    return lambda at: rf"\left({pose}\right)_{{{at[0] + 1},{at[1] + 1}}}" if at else pose


def _in_carrier(robot: KinematicTree[Any], body: int, q: Sequence[Any]) -> tuple[str, Any]:
    """Return the link that carries `body` and the pose in it, over the joint's coordinates."""
    names = {f.body: f.name for f in robot.frames if _is_own_frame(robot, f)}
    joint = robot.joint(body)
    pose = joint.transform(q[joint.number - 1], robot.algebra)
    while joint.parent != BASE and joint.parent not in names:  # a body within a composite joint
        joint = robot.joint(joint.parent)
        pose = joint.transform(q[joint.number - 1], robot.algebra) @ pose
    return names.get(joint.parent, "base"), pose


def _is_own_frame(robot: KinematicTree[Any], frame: Any) -> bool:
    """Return whether a frame is that behind the moving joint, not one fixed to the body."""
    first = next(x for x in robot.frames if x.body == frame.body)
    return frame.body != BASE and frame is first
