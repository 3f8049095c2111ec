"""The SymPy view of a robot, to inspect, expand, differentiate and print.

`SymbolicDynamics` runs the step functions of code generation over SymPy scalars.  Named parameters,
derived ones included, stay symbols.  Every function of a generated module is an attribute; vectors
are column matrices, and arrays of more axes are nested lists of matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count
from typing import Any

import sympy

from symgen.algebra.blackboard import readable
from symgen.algebra.graph import Graph
from symgen.algebra.quotients import Quotients
from symgen.algebra.sympy_algebra import SymPyAlgebra, symbol
from symgen.description.model import RobotDescription
from symgen.errors import RequestError
from symgen.formulations import Formulation, derive, formulation_named, provided_functions
from symgen.kinematics.tree import KinematicTree, build_tree
from symgen.kinematics.turns import why_not_written_out
from symgen.program.arguments import PIVOTS
from symgen.program.functions import function_named, inapplicable_functions, visible_outputs
from symgen.program.program import Program

Expr = Any
Result = Any  # a sympy expression, a sympy.Matrix, or nested lists of matrices
Watch = Callable[[int, int], None]
"""Callback (done, total) before each entry is simplified."""

_MOST_FACTORS = 2  # D in the denominator of a solution, D^2 in the denominator of its derivatives


def unwatched(done: int, total: int) -> None:
    """Ignore progress."""


@dataclass(frozen=True)
class OverDeterminant:
    """The results of a function that solves, without fractions.

    `determinant` is the determinant of the mass matrix (of the free joints), `symbol` an unused
    name for it.  `results` are pairs (power, result times determinant**power).
    """

    symbol: Expr
    determinant: Expr
    results: tuple[tuple[int, Result], ...]


class SingularError(RequestError):
    """The mass matrix is singular at every pose: a function that solves has no equations."""


class SymbolicDynamics:
    """The functions of one robot by one formulation, as SymPy expressions.

    ``dyn.mass_matrix``, ``dyn.inverse_dynamics`` and so on are the expanded results; a function
    with several results (``inverse_dynamics_derivatives``) gives a tuple.  Parameters are symbols
    of their names; `q`, `qd`, `qdd`, `tau` and `loads` hold the other symbols: ``q_1``, ``qd_1``,
    ``qdd_1``, ``tau_1``, ``<load>_fx``, with a number appended if a parameter has that name.
    Derivatives with respect to parameters are taken by all independent parameters, with derived
    parameters replaced by their definitions.
    """

    def __init__(self, description: RobotDescription, formulation: Formulation) -> None:
        self.description = description
        self.formulation = formulation
        self._programs: dict[str, tuple[SymPyAlgebra, Program[Expr]]] = {}
        self._results: dict[str, Result] = {}
        reason = why_not_written_out(description)
        reason = reason or formulation.why_not(build_tree(description, SymPyAlgebra()))
        if reason is not None:
            raise RequestError(f"{formulation.name} does not apply to {description.name}: {reason}")

    @property
    def q(self) -> tuple[Expr, ...]:
        """Symbols of the coordinates."""
        return self._symbols("q")

    @property
    def qd(self) -> tuple[Expr, ...]:
        """Symbols of the velocities."""
        return self._symbols("qd")

    @property
    def qdd(self) -> tuple[Expr, ...]:
        """Symbols of the accelerations."""
        return self._symbols("qdd")

    @property
    def tau(self) -> tuple[Expr, ...]:
        """Symbols of the joint torques, as arguments."""
        return self._symbols("tau")

    @property
    def loads(self) -> tuple[Expr, ...]:
        """Symbols of the loads, [fx fy fz nx ny nz] of each in turn."""
        return self._symbols("loads")

    def _symbols(self, argument: str) -> tuple[Expr, ...]:
        for name in self.functions:
            spec = function_named(name).of(self._tree.sizes)
            if argument in (array.name for array in (*spec.arguments, *spec.options)):
                return self.program(name).input(argument).symbols
        raise AttributeError(f"no function of {self.formulation.name} takes {argument}")

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of the functions that this formulation derives."""
        provided = provided_functions(self.formulation, self._tree)
        return tuple(name for name in provided if name not in self._inapplicable)

    @property
    def steps(self) -> tuple[tuple[str, Expr, str], ...]:
        """The steps of inverse dynamics, or of forward dynamics if the formulation lacks it."""
        inverse = "inverse_dynamics" in provided_functions(self.formulation, self._tree)
        return self.steps_of("inverse_dynamics" if inverse else "forward_dynamics")

    def steps_of(self, function: str) -> tuple[tuple[str, Expr, str], ...]:
        """Return the steps of a function: (name, expression, source equation)."""
        _, program = self._derived(function)
        return tuple(
            (statement.name, statement.value, f"{statement.note}: {program.notes[statement.note]}")
            for statement in program.statements
        )

    def expanded(self, function: str) -> Result:
        """Return the result with every step substituted, in closed form."""
        if function not in self._results:
            algebra, program = self._derived(function)
            results = [
                _nested([algebra.expanded(entry) for entry in output.entries], output.shape)
                for output in visible_outputs(program)
            ]
            self._results[function] = results[0] if len(results) == 1 else tuple(results)
        return _mapped(self._results[function], lambda entry: entry)  # a copy: matrices are mutable

    def readable(self, function: str, watch: Watch = unwatched) -> Result:
        """`expanded`, simplified and factored for reading; meant for small robots.

        `symgen show` prints it for functions without a determinant.
        """
        program = self.program(function)
        motion, total, number = _motion(program), _size(program), count()
        quaternions = quaternions_of(self.description, program)

        def simplified(entry: Expr) -> Expr:
            watch(next(number), total)
            return readable(entry, motion, quaternions)

        return _mapped(self.expanded(function), simplified)

    def over_determinant(self, function: str, watch: Watch = unwatched) -> OverDeterminant | None:
        """The results of a function that solves as readable polynomials over powers of D = det M.

        None if the function does not solve, or if a result has no such form.
        """
        algebra, program = self._derived(function)
        pivots = [x for array in program.outputs if array.name == PIVOTS for x in array.entries]
        if not pivots:
            return None
        quotients = Quotients(algebra.definitions, program.results)
        try:
            determinant = quotients.polynomial(sympy.S.One, pivots)
            over = _numerators(quotients, program, pivots, watch)
        except ZeroDivisionError as error:
            raise SingularError(no_solution(self.description, function)) from error
        if determinant is None or over is None:
            return None
        motion, quaternions = _motion(program), quaternions_of(self.description, program)

        def simplified(numerator: Expr) -> Expr:
            terms = sympy.Add.make_args(readable(numerator, motion, quaternions))
            return sympy.Add(*(sympy.factor_terms(term) for term in terms))

        name = _unused_name(program, self.description.parameter_values)
        return OverDeterminant(
            symbol(name),
            simplified(determinant),
            tuple(
                (power, _nested([simplified(x) for x in numerators], output.shape))
                for (power, numerators), output in zip(over, visible_outputs(program), strict=True)
            ),
        )

    def program(self, function: str) -> Program[Expr]:
        """Return the program over SymPy scalars."""
        return self._derived(function)[1]

    def __getattr__(self, name: str) -> Result:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self.functions:
            raise AttributeError(self._lacks(name))
        return self.expanded(name)

    def _derived(self, function: str) -> tuple[SymPyAlgebra, Program[Expr]]:
        if function not in self.functions:
            raise RequestError(self._lacks(function))
        if function not in self._programs:
            algebra = SymPyAlgebra()
            tree = build_tree(self.description, algebra, self._runtime(function))
            try:
                self._programs[function] = (algebra, derive(tree, self.formulation, function))
            except ZeroDivisionError as error:
                raise SingularError(no_solution(self.description, function)) from error
        return self._programs[function]

    def _runtime(self, function: str) -> tuple[str, ...]:
        """Return the parameters by which `function` is differentiated."""
        results = function_named(function).results
        if not any("n_parameters" in array.shape for array in results):
            return ()
        return self.description.independent_parameters

    @cached_property
    def _inapplicable(self) -> dict[str, str]:
        """The functions that are undefined for this robot, each with the reason."""
        return inapplicable_functions(self._tree.sizes)

    @cached_property
    def _tree(self) -> KinematicTree[Any]:
        return build_tree(self.description, Graph(), self.description.independent_parameters)

    def _lacks(self, name: str) -> str:
        if name in self._inapplicable:
            return f"{name}: {self._inapplicable[name]}"
        names = ", ".join(self.functions)
        return f"{self.formulation.name} has no function {name!r}; it derives: {names}"


def _motion(program: Program[Expr]) -> tuple[Expr, ...]:
    """Return the symbols of velocities, accelerations, loads, torques and solutions."""
    moving = ("qd", "qdd", "loads", "tau", "x")
    return tuple(x for array in program.inputs if array.name in moving for x in array.symbols)


def _size(program: Program[Expr]) -> int:
    return sum(len(output.entries) for output in visible_outputs(program))


def _numerators(
    quotients: Quotients, program: Program[Expr], pivots: list[Expr], watch: Watch
) -> list[tuple[int, list[Expr]]] | None:
    """For every result the least power of the determinant that gives polynomials, and these."""
    results: list[tuple[int, list[Expr]]] = []
    done, total = 0, _size(program)
    for output in visible_outputs(program):
        power, numerators = 0, list[Expr]()
        while len(numerators) < len(output.entries):
            watch(done + len(numerators), total)
            entry = output.entries[len(numerators)]
            numerator = quotients.polynomial(entry, pivots * power)
            if numerator is not None:
                numerators.append(numerator)
            elif power < _MOST_FACTORS:
                power, numerators = power + 1, []
            else:
                return None
        results.append((power, numerators))
        done += len(numerators)
    return results


def _unused_name(program: Program[Expr], used: Collection[str]) -> str:
    """``D``, or ``D_1`` and so on if a parameter or an input has that name."""
    taken = {*used, *(name for array in program.inputs for name in array.symbol_names)}
    names = chain(["D"], (f"D_{number}" for number in count(1)))
    return next(name for name in names if name not in taken)


def quaternions_of(description: RobotDescription, program: Program[Expr]) -> list[tuple[Expr, ...]]:
    """Return the entries x y z w of every quaternion among the inputs of a program."""
    q = next((array.symbols for array in program.inputs if array.name == "q"), ())
    return [q[at : at + 4] for at in description.quaternion_starts] if q else []


def no_solution(description: RobotDescription, function: str) -> str:
    """Return the message about a function that solves with a singular mass matrix."""
    return (
        f"{function} of {description.name} has no solution: the mass matrix is singular at every "
        "pose, for some motion of the joints moves no mass"
    )


def derive_symbolically(description: RobotDescription, formulation: str) -> SymbolicDynamics:
    """Return the SymPy view of `description` by the named formulation."""
    return SymbolicDynamics(description, formulation_named(formulation))


def _nested(entries: list[Expr], shape: tuple[int, ...]) -> Result:
    if not shape:
        return entries[0]
    if len(shape) == 1:
        return sympy.Matrix(shape[0], 1, entries)
    if len(shape) == 2:
        return sympy.Matrix(*shape, entries)
    size = len(entries) // shape[0] if shape[0] else 0
    return [_nested(entries[i * size : (i + 1) * size], shape[1:]) for i in range(shape[0])]


def _mapped(result: Result, change: Callable[[Expr], Expr]) -> Result:
    if isinstance(result, tuple | list):
        return type(result)(_mapped(part, change) for part in result)
    return result.applyfunc(change) if isinstance(result, sympy.MatrixBase) else change(result)
