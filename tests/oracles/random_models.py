"""Random robot files: trees in mixed frame styles, with joint terms and prescribed joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from symgen.program.functions import CONSTRAINT_FUNCTIONS, FUNCTIONS

T = TypeVar("T")

OF_TREES = tuple(
    x.name
    for x in FUNCTIONS
    if x not in CONSTRAINT_FUNCTIONS and "n_motion_multipliers" not in x.needs
)
"""Functions that every robot without loops and relations can have."""

WORDS = ("hip", "Knee", "a", "Z9", "wrist_roll", "x__", "boom", "q", "tau", "M", "shoulder", "R2D2")


class Choices:
    """Choices from a seeded NumPy generator."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def integer(self, low: int, high: int) -> int:
        """Draw a whole number, both ends included."""
        return int(self.rng.integers(low, high + 1))

    def real(self, low: float, high: float) -> float:
        """Draw a number, in steps of a thousandth of the range."""
        return round(low + (high - low) * self.integer(0, 1000) / 1000, 6)


@dataclass(frozen=True)
class Recipe:
    """What a random model may contain."""

    joints: tuple[int, int] = (1, 20)
    types: Sequence[str] = ("revolute", "revolute", "prismatic", "fixed")
    branching: bool = True
    loads: tuple[int, int] = (0, 3)
    points: tuple[int, int] = (0, 1)
    massless: bool = True
    terms: bool = False
    prescribed: bool = False


COMPOSITE: Mapping[str, int] = {"universal": 2, "cylindrical": 2, "spherical": 3, "floating": 6}
"""Joints of several coordinates."""

ON_MANIFOLDS: Mapping[str, str] = {"ball": "spherical", "free": "floating"}
"""What recipes call joints with a quaternion, and their types in files."""

EVERYTHING = Recipe(
    joints=(1, 6), types=("revolute", "prismatic", "fixed", *COMPOSITE), loads=(0, 3), terms=True
)
"""Every type of joint, with rotors, dampers, springs and friction."""


@dataclass
class _Tree:
    """Per joint: type and parent (-1: base)."""

    types: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)


def seeded_model_text(seed: int, recipe: Recipe | None = None) -> str:
    """Return the YAML text of a random model that depends on the seed alone."""
    choices, recipe = Choices(seed), recipe or Recipe()
    tree = _tree(choices, recipe)
    heavy = _links_with_mass(choices, recipe, tree)
    links = [f"{_pick(choices, WORDS)}_link{i}" for i in range(len(tree.types))]
    file_convention = _pick(choices, ["", "standard", "modified"])
    gravity = [choices.real(-10, 10) for _ in range(3)]
    lines = ["symgen: 1", "name: random_tree", f"gravity: {_row(gravity)}"]
    if file_convention:
        lines.append(f"convention: {file_convention}")
    lines += ["parameters:", "  k: 0.75", "  half: {value: k/1.5, unit: m}", "joints:"]
    for i, (kind, parent) in enumerate(zip(tree.types, tree.parents, strict=True)):
        name = f"{_pick(choices, WORDS)}_{i}" if choices.integer(0, 3) else links[i]
        lines.append(f"  - name: {name}")
        lines.append(f"    type: {ON_MANIFOLDS.get(kind, kind)}")
        if kind in ON_MANIFOLDS:
            lines.append("    coordinates: quaternion")
        if parent != i - 1 or choices.integer(0, 1):
            lines.append(f"    parent: {'base' if parent < 0 else links[parent]}")
        lines += _frame(choices, file_convention, kind)
        if recipe.terms and kind != "fixed":
            lines += _terms(choices, _coordinates(kind), springs=kind not in ON_MANIFOLDS)
        if recipe.prescribed and kind != "fixed":
            lines += _prescribed(choices, 1 if kind in ON_MANIFOLDS else _coordinates(kind))
        lines += _link(choices, links[i], i in heavy)
    lines += _points("loads", choices, links, choices.integer(*recipe.loads))
    lines += _points("points", choices, links, choices.integer(*recipe.points))
    return "\n".join(lines) + "\n"


def with_first_prescribed(text: str) -> str:
    """Prescribe the motion of the first joint of a model."""
    kind = text.split("    type: ")[1].split("\n")[0]
    return text.replace(f"    type: {kind}\n", f"    type: {kind}\n    prescribed: true\n", 1)


def _pick(choices: Choices, options: Sequence[T]) -> T:
    return options[choices.integer(0, len(options) - 1)]


def _row(values: Sequence[Any]) -> str:
    return "[" + ", ".join(v if isinstance(v, str) else repr(float(v)) for v in values) + "]"


def _tree(choices: Choices, recipe: Recipe) -> _Tree:
    tree = _Tree()
    for i in range(choices.integer(*recipe.joints)):
        tree.types.append(_pick(choices, recipe.types))
        branch = recipe.branching and choices.integer(0, 2) == 2
        tree.parents.append(choices.integer(-1, i - 1) if branch else i - 1)
    return tree


def _links_with_mass(choices: Choices, recipe: Recipe, tree: _Tree) -> set[int]:
    """Links with a mass: all leaves that move, and most others."""
    heavy: set[int] = set()
    supported: set[int] = set()  # joints with mass behind them
    for i in reversed(range(len(tree.types))):
        may_be_massless = recipe.massless and (i in supported or tree.types[i] == "fixed")
        if not (may_be_massless and choices.integer(0, 3) == 3):
            heavy.add(i)
        if i in heavy or i in supported:
            supported.add(tree.parents[i])
    return heavy


def _angle(choices: Choices) -> float | str:
    exact = ("0", "pi/2", "-pi/2", "pi", "90*deg")
    if choices.integer(0, 2) == 0:
        return _pick(choices, exact)
    return choices.real(-3, 3)


def _length(choices: Choices) -> float | str:
    kind = choices.integer(0, 4)
    if kind == 0:
        return "0"
    return "half" if kind == 1 else choices.real(-1, 1)


def _pose(choices: Choices) -> str:
    xyz = [_length(choices) for _ in range(3)]
    rpy = [_angle(choices) for _ in range(3)]
    kind = choices.integer(0, 3)
    if kind == 0:
        return f"{{xyz: {_row(xyz)}}}"
    return f"{{xyz: {_row(xyz)}, rpy: {_row(rpy)}}}"


def _composite_frame(choices: Choices, kind: str) -> list[str]:
    lines = [f"    origin: {_pose(choices)}"]
    if kind == "cylindrical":
        axis = _pick(choices, ("[0, 0, 1]", "[0, -1, 0]", "[2, -3, 6]", ""))
        return lines + ([f"    axis: {axis}"] if axis else [])
    if choices.integer(0, 3) == 0:
        return lines  # the default axes
    letters = [_pick(choices, "xyz")]
    for _ in range(1 if kind == "universal" else 2):
        letters.append(_pick(choices, [x for x in "xyz" if x != letters[-1]]))
    if kind == "universal":
        return [*lines, f"    axes: [{', '.join(letters)}]"]
    return [*lines, f"    sequence: {''.join(letters)}"]


def _coordinates(kind: str) -> int:
    return COMPOSITE.get(ON_MANIFOLDS.get(kind, kind), 1)


def _terms(choices: Choices, coordinates: int, springs: bool = True) -> list[str]:
    """Some of the terms of a joint, as a scalar or as a list with one entry per coordinate."""

    def line(key: str, low: float, high: float) -> str:
        if choices.integer(0, 1):
            return f"    {key}: {choices.real(low, high)}"
        return f"    {key}: {_row([choices.real(low, high) for _ in range(coordinates)])}"

    lines = []
    if choices.integer(0, 1):
        lines += [line("rotor_inertia", 0, 0.2), line("gear_ratio", -3, 3)]
    if choices.integer(0, 1):
        lines.append(line("damping", 0, 3))
    if springs and choices.integer(0, 1):
        lines += [line("stiffness", 0, 40), line("rest", -2, 2)]
    if choices.integer(0, 1):
        lines += [line("friction", 0, 3), line("friction_velocity", 0.1, 2)]
    return lines


def _prescribed(choices: Choices, coordinates: int) -> list[str]:
    """Whether the motion of a joint is given: of all, of some or of none of its coordinates."""
    if choices.integer(0, 1):
        return []
    if choices.integer(0, 1):
        return ["    prescribed: true"]
    if coordinates == 1:
        return ["    prescribed: false"]
    flags = [("false", "true")[choices.integer(0, 1)] for _ in range(coordinates)]
    return [f"    prescribed: [{', '.join(flags)}]"]


def _frame(choices: Choices, file_convention: str, kind: str) -> list[str]:
    if kind in ON_MANIFOLDS:
        return [f"    origin: {_pose(choices)}"]
    if kind in COMPOSITE:
        return _composite_frame(choices, kind)
    style = _pick(choices, ("standard", "modified", "origin"))
    if style == "origin":
        lines = [f"    origin: {_pose(choices)}"]
        if kind == "fixed":
            return lines
        axis = _pick(choices, ([], [1, 0, 0], [0, -1, 0], [0, 0, 1], None))
        if axis is None:
            axis = [choices.real(-1, 1), choices.real(-1, 1), choices.real(0.25, 1)]
        return lines + ([f"    axis: {_row(axis)}"] if axis else [])
    theta, alpha = _angle(choices), _angle(choices)
    d, a = _length(choices), _length(choices)
    row = {"theta": theta, "d": d, "a": a, "alpha": alpha}
    lines = ["    dh: {" + ", ".join(f"{key}: {value}" for key, value in row.items()) + "}"]
    if style != file_convention:
        lines.append(f"    convention: {style}")
    if choices.integer(0, 3) == 3:
        lines.append(f"    before: {_pose(choices)}")
    return lines


def _link(choices: Choices, name: str, heavy: bool) -> list[str]:
    lines = ["    link:", f"      name: {name}"]
    if not heavy:
        return lines
    lines.append(f"      mass: {choices.real(0.1, 3) if choices.integer(0, 4) else 'k*2'}")
    lines.append(f"      com: {_row([choices.real(-0.5, 0.5) for _ in range(3)])}")
    tensor = _physical_inertia(choices)
    entries = dict(xx=(0, 0), yy=(1, 1), zz=(2, 2), xy=(0, 1), xz=(0, 2), yz=(1, 2))
    shown = ", ".join(f"{key}: {round(float(tensor[ij]), 9)!r}" for key, ij in entries.items())
    lines.append(f"      inertia: {{{shown}}}")
    return lines


def _physical_inertia(choices: Choices) -> np.ndarray[Any, Any]:
    """Inertia of four point masses about their centre: any rigid body has one like it."""
    points = np.array([[choices.real(-0.4, 0.4) for _ in range(3)] for _ in range(4)])
    points -= points.mean(axis=0)
    tensor = np.zeros((3, 3))
    for point in points:
        tensor += (point @ point) * np.eye(3) - np.outer(point, point)
    return tensor + 1e-3 * np.eye(3)


def _points(key: str, choices: Choices, links: Sequence[str], count: int) -> list[str]:
    if count == 0:
        return []
    lines = [f"{key}:"]
    for i in range(count):
        point = _row([choices.real(-0.5, 0.5) for _ in range(3)])
        link = _pick(choices, [*links, "base"])
        lines.append(f"  - {{name: {key}_{i}, link: {link}, point: {point}}}")
    return lines
