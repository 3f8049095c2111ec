"""The questions of a lecture, answered for one robot.

Sentences that hold for every robot stand in `templates/report/questions.html.jinja`; here is what
they need to know of this one: the cheapest formulation of its torques, the determinant of its mass
matrix where that is short, an entry of C, and which coordinates each load reaches.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy
from sympy import Expr

from symgen.algebra.blackboard import with_cosine_squares, with_decimals, with_short_waves
from symgen.deriving.derivation import FunctionReport
from symgen.description.model import RobotDescription
from symgen.page.counting import TORQUES, Counted
from symgen.page.equations import ClosedForm, symbolic
from symgen.page.mathml import mathml
from symgen.showing.typesetting import inputs_of, latex

LARGEST_DETERMINANT = 3
"""Up to so many coordinates the determinant of M is written out, if it is short."""
LONGEST_MATRIX, LONGEST_DETERMINANT, LONGEST_ENTRY = 120, 16, 40
"""Operations of the mass matrix, terms of the determinant, operations of an entry of C."""


@dataclass(frozen=True)
class Entering:
    """A load: its link, its point in the link frame, the coordinates whose torques it changes."""

    name: str
    link: str
    point: str
    coordinates: tuple[str, ...]


@dataclass(frozen=True)
class Questions:
    """What the answers need; `determinant` and `entry` are MathML, empty where they are too long.

    `fewest` is the report on the torques with the fewest multiplications, `unloaded` the same
    without the loads.  `angles` are the joints whose coordinates are three angles.
    """

    coordinates: tuple[str, ...]
    fewest: FunctionReport | None
    unloaded: FunctionReport | None
    determinant: str
    entry: str
    loads: tuple[Entering, ...]
    angles: tuple[str, ...]


def questions(description: RobotDescription, counted: Counted, closed: ClosedForm) -> Questions:
    """The facts behind the answers."""
    shown = {item.function for item in closed.functions if item.equations}
    return Questions(
        coordinates=description.coordinate_names,
        fewest=_fewest(counted, TORQUES),
        unloaded=_fewest(counted, f"{TORQUES}, without loads"),
        determinant=_determinant(description, counted) if "mass_matrix" in shown else "",
        entry=_entry(description) if "coriolis_matrix" in shown else "",
        loads=_loads(description),
        angles=tuple(joint.name for joint in description.joints if joint.sequence),
    )


def _fewest(counted: Counted, function: str) -> FunctionReport | None:
    found = [report for report in counted.reports if report.function == function]
    return min(found, key=lambda report: report.after.multiplications, default=None)


def _determinant(description: RobotDescription, counted: Counted) -> str:
    if not 2 <= counted.tree.n <= LARGEST_DETERMINANT:
        return ""
    dynamics = symbolic(description)
    matrix = dynamics.readable("mass_matrix")
    if sympy.count_ops(matrix) > LONGEST_MATRIX:
        return ""
    value = determinant(matrix)
    if len(sympy.Add.make_args(sympy.expand(value))) > LONGEST_DETERMINANT:
        return ""
    inputs = inputs_of(dynamics.program("mass_matrix"))
    short, _ = with_short_waves(with_decimals(value), inputs["q"])
    return mathml(rf"\det M = {latex(short, inputs)}")


def determinant(matrix: sympy.MatrixBase) -> Expr:
    """The determinant with as few terms as 1 - cos^2 = sin^2 gives, common factors outside."""
    value = with_cosine_squares(matrix.det(method="berkowitz"))
    for wave in sorted(value.atoms(sympy.cos), key=sympy.default_sort_key):
        other = sympy.expand(value.subs(wave**2, 1 - sympy.sin(wave.args[0]) ** 2))
        value = min(value, other, key=lambda form: len(sympy.Add.make_args(form)))
    return sympy.factor_terms(value)


def _entry(description: RobotDescription) -> str:
    """C_12, which is easily taken for the cosine c_12."""
    dynamics = symbolic(description)
    if len(description.coordinate_names) < 2:
        return ""
    entry = dynamics.readable("coriolis_matrix")[0, 1]
    if sympy.count_ops(entry) > LONGEST_ENTRY:
        return ""
    inputs = inputs_of(dynamics.program("coriolis_matrix"))
    short, _ = with_short_waves(with_decimals(entry), inputs["q"])
    return mathml(f"C_{{1,2}} = {latex(short, inputs)}")


def _loads(description: RobotDescription) -> tuple[Entering, ...]:
    """Every load with the coordinates on the path from its link to the base."""
    carrier = {joint.link.name: joint for joint in description.joints}
    found = []
    for load in description.loads:
        path: list[str] = []
        link = load.link
        while link in carrier:
            joint = carrier[link]
            path[:0] = [joint.mimic.coordinate] if joint.mimic else joint.coordinate_names
            link = joint.parent
        point = f"({', '.join(entry.text for entry in load.point)})"
        found.append(Entering(load.name, load.link, point, tuple(dict.fromkeys(path))))
    return tuple(found)
