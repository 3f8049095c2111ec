"""Answers to the questions of a lecture for one robot.

`templates/report/questions.html.jinja` has the sentences; this module the facts of a robot: the
cheapest formulation of its torques, the determinant of its mass matrix where that is short, an
entry of C, and the coordinates whose torques each load changes.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import sympy
from sympy import Expr

from symgen.algebra.blackboard import with_cosine_squares, with_decimals, with_short_waves
from symgen.deriving.derivation import FunctionReport
from symgen.description.model import RobotDescription
from symgen.formulations import formulation_named
from symgen.page.counting import TORQUES, Counted
from symgen.page.equations import ClosedForm, symbolic
from symgen.page.mathml import mathml
from symgen.showing.typesetting import inputs_of, latex

LARGEST_DETERMINANT = 3
"""Largest number of coordinates for the determinant of M, written out if it is short."""
LONGEST_MATRIX, LONGEST_DETERMINANT, LONGEST_ENTRY = 120, 16, 60
"""Operations of the mass matrix, terms of the determinant, operations of a single entry."""


@dataclass(frozen=True)
class Entering:
    """A load: its link, its point in the link frame, the coordinates whose torques it changes."""

    name: str
    link: str
    point: str
    coordinates: tuple[str, ...]


@dataclass(frozen=True)
class Questions:
    """Facts for the answers; `determinant` and `entry` are MathML, empty where they are too long.

    `torques` are titles of formulations and their reports on the torques, the fewest
    multiplications first, `unloaded` the first without loads.  `slope` is dtau_1/dq_2.
    `always_regular`: the determinant is positive at every pose.  `angles` are the joints whose
    coordinates are three angles.
    """

    coordinates: tuple[str, ...]
    torques: tuple[tuple[str, FunctionReport], ...]
    unloaded: tuple[str, FunctionReport] | None
    determinant: str
    always_regular: bool
    entry: str
    slope: str
    loads: tuple[Entering, ...]
    angles: tuple[str, ...]


def questions(description: RobotDescription, counted: Counted, closed: ClosedForm) -> Questions:
    """Return the facts behind the answers."""
    formula, always_regular = "", False
    if closed.shows("mass_matrix"):
        formula, always_regular = _determinant(description, counted)
    return Questions(
        coordinates=description.coordinate_names,
        torques=_cheapest(counted, TORQUES),
        unloaded=next(iter(_cheapest(counted, f"{TORQUES}, without loads")), None),
        determinant=formula,
        always_regular=always_regular,
        entry=_entry(description) if closed.shows("coriolis_matrix") else "",
        slope=_slope(description) if closed.shows("inverse_dynamics_derivatives") else "",
        loads=_loads(description),
        angles=tuple(joint.name for joint in description.joints if joint.sequence),
    )


def _cheapest(counted: Counted, function: str) -> tuple[tuple[str, FunctionReport], ...]:
    reports = [report for report in counted.reports if report.function == function]
    reports.sort(key=lambda report: report.after.multiplications)
    return tuple((formulation_named(report.formulation).title, report) for report in reports)


def _determinant(description: RobotDescription, counted: Counted) -> tuple[str, bool]:
    """Return the formula, "" where it is too long, and whether it is provably positive."""
    if not 2 <= counted.tree.n <= LARGEST_DETERMINANT:
        return "", False
    dynamics = symbolic(description)
    matrix = dynamics.readable("mass_matrix")
    if sympy.count_ops(matrix) > LONGEST_MATRIX:
        return "", False
    value = determinant(matrix)
    terms = sympy.Add.make_args(sympy.expand(value))
    if len(terms) > LONGEST_DETERMINANT:
        return "", False
    q = inputs_of(dynamics.program("mass_matrix"))["q"]
    positive = {name for name, number in description.parameter_values.items() if number > 0.0}
    always = all(_never_negative(term, positive) for term in terms)
    constant = any(not term.has(*q) and not term.is_zero for term in terms)
    return _typeset(description, "mass_matrix", r"\det M", value), always and constant


def _never_negative(term: Expr, positive: Collection[str]) -> bool:
    """Return whether a term is a product of positive numbers and parameters, and of squares."""
    return all(
        factor.is_positive
        or (factor.is_Pow and factor.exp.is_even)
        or (factor.is_Pow and factor.base.is_Symbol and factor.base.name in positive)
        or (factor.is_Symbol and factor.name in positive)
        for factor in sympy.Mul.make_args(term)
    )


def determinant(matrix: sympy.MatrixBase) -> Expr:
    """Return the determinant, shortened by 1 - cos^2 = sin^2, with common factors extracted."""
    value = with_cosine_squares(matrix.det(method="berkowitz"))
    for wave in sorted(value.atoms(sympy.cos), key=sympy.default_sort_key):
        replaced = sympy.expand(value.subs(wave**2, 1 - sympy.sin(wave.args[0]) ** 2))
        value = min(value, replaced, key=lambda form: len(sympy.Add.make_args(form)))
    return sympy.factor_terms(value)


def _entry(description: RobotDescription) -> str:
    """Return C_12, which may be mistaken for the cosine c_12."""
    if len(description.coordinate_names) < 2:
        return ""
    entry = symbolic(description).readable("coriolis_matrix")[0, 1]
    return _equation(description, "coriolis_matrix", "C_{1,2}", entry)


def _slope(description: RobotDescription) -> str:
    """Return the derivative of the first torque by the second coordinate, or by the only one."""
    column = min(len(description.coordinate_names), 2)
    if not column:
        return ""
    _, slopes, *_ = symbolic(description).readable("inverse_dynamics_derivatives")
    left = rf"\frac{{\partial \tau_{{1}}}}{{\partial q_{{{column}}}}}"
    return _equation(description, "inverse_dynamics_derivatives", left, slopes[0, column - 1])


def _equation(description: RobotDescription, function: str, left: str, entry: Expr) -> str:
    """Return an entry of a result as MathML, "" where it is too long for an answer."""
    short = sympy.count_ops(entry) <= LONGEST_ENTRY
    return _typeset(description, function, left, entry) if short else ""


def _typeset(description: RobotDescription, function: str, left: str, entry: Expr) -> str:
    inputs = inputs_of(symbolic(description).program(function))
    names = description.parameter_values
    short, _ = with_short_waves(with_decimals(entry), inputs["q"], names)
    return mathml(f"{left} = {latex(short, inputs)}")


def _loads(description: RobotDescription) -> tuple[Entering, ...]:
    """Return every load with the coordinates on the path from its link to the base."""
    carrier = {joint.link.name: joint for joint in description.joints}
    entering = []
    for load in description.loads:
        path: list[str] = []
        link = load.link
        while link in carrier:
            joint = carrier[link]
            path[:0] = [joint.mimic.coordinate] if joint.mimic else joint.coordinate_names
            link = joint.parent
        point = f"({', '.join(entry.text for entry in load.point)})"
        entering.append(Entering(load.name, load.link, point, tuple(dict.fromkeys(path))))
    return tuple(entering)
