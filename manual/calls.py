"""Arrays that checks pass to functions, by name, and names of results; all from `FUNCTIONS`.

``python -m manual.robot_type`` writes them as literals: `symgen.runtime.calls`.
"""

from __future__ import annotations

from functools import partial
from pprint import pformat

from symgen.program.derivatives import DERIVATIVES
from symgen.program.functions import FUNCTIONS, function_named

WIDTH = 100
BEGINNING = '''\
"""Arrays that checks pass to functions, by name, and names of results.

Written by ``python -m manual.robot_type`` from the table of functions; do not edit.
"""
'''

DIRECTIONS = {"dloads": "along_loads", "dparameters": "along_parameters"}
"""Options of functions along a direction, and the arrays of the states that are passed."""


def _with_option(name: str) -> tuple[str, ...]:
    return tuple(
        function.name for function in FUNCTIONS if name in (x.name for x in function.options)
    )


TIMED = _with_option("t")
"""Functions that take the time by keyword; where forces of the model mention it, so do `LOADED`
but those of `OF_OUTPUTS`, which have it as an argument."""
LOADED = _with_option("loads")
SOLVING = tuple(function.name for function in FUNCTIONS if function.solves)
OF_OUTPUTS = tuple(function.name for function in FUNCTIONS if function.is_of_outputs)
"""Functions that take the multipliers of constraints and projections where outputs mention them."""
DIRECTED = _with_option("dloads")
"""Functions along a direction, whose arguments are the `along` arrays of the states."""
ARGUMENTS = {
    function.name: tuple(
        f"along_{x.name[1:]}" if function.name in DIRECTED and x.name.startswith("d") else x.name
        for x in function.arguments
    )
    for function in FUNCTIONS
}
SEVERAL_RESULTS = {
    function.name: tuple(result.name for result in function.results)
    for function in FUNCTIONS
    if len(function.results) > 1
}
Slopes = tuple[str, tuple[tuple[str, int], ...]]


def _slopes(name: str) -> Slopes:
    derivative = DERIVATIVES[name]
    own, base = [x.name for x in function_named(name).results], derivative.of
    if base not in ARGUMENTS:  # the value alone is no function: that of the derivatives is
        base = f"{base.removesuffix('s')}_derivatives"
    results = [x.name for x in function_named(base).results]
    by = {
        derivative.name(result, argument): (argument, results.index(result))
        for result in derivative.symbols
        for argument in derivative.by
        if result in results
    }
    return base, tuple(by[label] for label in own if label in by)


SLOPES: dict[str, Slopes] = {
    "inverse_dynamics_load_derivatives": ("inverse_dynamics", (("loads", 0),)),
    "mass_matrix": ("inverse_dynamics", (("qdd", 0),)),
    "center_of_mass_jacobian": ("center_of_mass", (("q", 0),)),
    "constraint_jacobian": ("constraint_rates", (("qd", 0),)),
} | {name: _slopes(name) for name in DERIVATIVES if not DERIVATIVES[name].along}
"""Functions of first derivatives: the base, and for each derivative the argument and the result of
the base.  They stand behind the value, if that is among the results."""


def source() -> str:
    """A module with the same tables as literals."""
    names = (
        "ARGUMENTS", "DIRECTED", "DIRECTIONS", "LOADED", "SEVERAL_RESULTS", "SLOPES", "SOLVING",
        "TIMED", "OF_OUTPUTS",
    )  # fmt: skip
    return "\n".join([BEGINNING, *map(_table, names), ""])


def _table(name: str) -> str:
    """Write a table as an assignment, in lines of up to 100 characters."""
    widths = WIDTH - 2, WIDTH - 2 - len(f"{name} = ")
    lay_out = partial(pformat, globals()[name], compact=True, sort_dicts=False)
    wide, narrow = (f"{name} = {lay_out(width=width)}" for width in widths)
    return wide if max(map(len, wide.splitlines())) <= WIDTH else narrow
