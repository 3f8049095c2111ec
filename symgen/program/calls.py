"""Arrays that checks pass to functions, by name, and names of results; all from `FUNCTIONS`.

Every generated package has a copy of the values for its ``selftest``.
"""

from __future__ import annotations

from pprint import pformat

from symgen.program.function import OUTPUTS
from symgen.program.functions import FUNCTIONS

DIRECTIONS = {"dloads": "along_loads", "dparameters": "along_parameters"}
"""Options of functions along a direction, and the arrays of the states that are passed."""


def _with_option(name: str) -> tuple[str, ...]:
    return tuple(
        function.name for function in FUNCTIONS if name in (x.name for x in function.options)
    )


TIMED = _with_option("t")
"""Functions that take the time by keyword; where forces of the model mention it, so do `LOADED`
but those of `TOLD`, which have it as an argument."""
LOADED = _with_option("loads")
SOLVING = tuple(function.name for function in FUNCTIONS if function.solves)
TOLD = OUTPUTS
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


def source() -> str:
    """A module with the same tables as literals."""
    names = (
        "ARGUMENTS", "DIRECTED", "DIRECTIONS", "LOADED", "SEVERAL_RESULTS", "SOLVING", "TIMED",
        "TOLD",
    )  # fmt: skip
    tables = (f"{name} = {pformat(globals()[name], width=88, sort_dicts=False)}" for name in names)
    title = "Arrays that checks pass to functions, by name, and names of results."
    return "\n".join([f'"""{title}"""', "", *tables, ""])
