"""``python -m manual.robot_type`` writes `symgen/robot.py`, the type of generated modules.

It is written from the table of functions, and a test holds it equal to what this writes.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import symgen
from symgen.program.arguments import PARAMETERS, Argument
from symgen.program.functions import FUNCTIONS, Function

FILE = Path(symgen.__file__).with_name("robot.py")
WIDTH = 98

HEAD = '''\
"""The type of what `symgen.load` returns: a generated module, as editors and type checkers see it.

Written by ``python -m manual.robot_type`` from the table of functions; do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]
    Rows = ArrayLike | Mapping[str, ArrayLike]


class TorqueParts(NamedTuple):
    """The joint torques in parts, (..., n) each, which add up to those of inverse_dynamics."""

    inertial: Array
    centrifugal: Array
    coriolis: Array
    gravity: Array
    loads: Array
    joint_terms: Array


class Functions(Protocol):
    """The functions of a robot, by one formulation or, at the top level, each by the fastest.

    Arguments; batch axes ``...`` broadcast mutually:

        q, qd, qdd (..., n): coordinates (rad or m), their velocities and accelerations
        tau (..., n): joint torques or forces (N m or N)
        x (..., n): accelerations of prescribed joints, torques of free ones
        t (...): time (s)
        loads (..., n_loads, 6), or a dict by name: [fx fy fz nx ny nz] exerted by the environment
            on the links, base axes, the force at the load's point (N, N m)
        parameters (..., n_parameters), or a dict by name: values of the runtime parameters
        dq, dqd, dtau (..., n, n_parameters): how q, qd and tau vary with the parameters
        packed: square results without the entries that are always 0, see derivative_sparsity
        out: arrays to write the results to and to return

    A function that was not built raises AttributeError with the command that builds it.
    """
'''

ROBOT = '''

class Robot(Functions, Protocol):
    """A generated module: its functions, each by the fastest formulation, and what it says of
    the robot.  Formulations are attributes by their names, with the functions they derive."""

    name: str
    n: int
    n_links: int
    n_loads: int
    n_points: int
    n_outputs: int
    n_parameters: int
    coordinate_names: tuple[str, ...]
    link_names: tuple[str, ...]
    load_names: tuple[str, ...]
    point_names: tuple[str, ...]
    parameter_names: tuple[str, ...]
    output_names: tuple[str, ...]
    output_units: tuple[str, ...]
    default_parameters: Array
    inertial_parameters: Array
    limits: dict[str, Array]
    joint_terms: dict[str, Array]
    gravity: Array
    link_parents: tuple[int, ...]
    joint_parents: tuple[int, ...]
    prescribed: tuple[bool, ...]
    derivative_sparsity: NDArray[np.bool_]
    output_sparsity: dict[str, NDArray[np.bool_]]
    formulations: tuple[str, ...]
    functions: tuple[str, ...]
    operation_counts: dict[str, dict[str, dict[str, int]]]
    condition: float
    model_hash: str
    symgen_version: str
    backend: str
    backends: Mapping[str, Any]
    threads: int
    composite: Functions
    newton_euler: Functions
    kane: Functions
    recursive_lagrange: Functions
    closed_form_lagrange: Functions
    explicit_kane: Functions
    partially_recursive_kane: Functions

    def frame_pose(
        self, name: str, q: ArrayLike, *, parameters: Rows | None = None, out: Array | None = None
    ) -> Array:
        """Pose of a link frame in the base frame, (..., 4, 4)."""

    def frame_jacobian(
        self, name: str, q: ArrayLike, *, parameters: Rows | None = None, out: Array | None = None
    ) -> Array:
        """Geometric Jacobian of a link frame, (..., 6, n): [linear; angular], base axes."""

    def selftest(self) -> list[Any]:
        """Validate the module where it is installed; return the table of checks."""
'''


def source() -> str:
    """The whole file."""
    return HEAD + "".join(map(_method, FUNCTIONS)) + ROBOT


def _method(function: Function) -> str:
    arguments = [f"{array.name}: ArrayLike" for array in function.arguments]
    options = [f"{array.name}: Rows | None = None" for array in (*function.options, PARAMETERS)]
    options += ["packed: bool = False"] if function.packable else []
    out = "tuple[Array | None, ...]" if len(function.results) > 1 else "Array"
    inside = ", ".join(["self", *arguments, "*", *options, f"out: {out} | None = None"])
    signature = f"    def {function.name}(\n{_filled(inside, 8)},\n    ) -> {_result(function)}:\n"
    return f"\n{signature}{_docstring(function)}\n"


def _filled(text: str, indent: int, hanging: int = 0) -> str:
    first, rest = " " * indent, " " * (indent + hanging)
    return textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=rest)


def _result(function: Function) -> str:
    types = ["Array" if array.shape else "Any" for array in function.results]
    if function.record:
        return function.record
    return types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"


def _docstring(function: Function) -> str:
    results = "\n".join(map(_row, function.results))
    summary = _filled(f'"""{function.summary}', 8)
    return f'{summary}\n\n        Returns:\n{results}\n        """'


def _row(array: Argument) -> str:
    shape = ", ".join(["...", *map(str, array.shape)])
    return _filled(f"{array.name} ({shape}): {array.meaning}", 12, 4)


if __name__ == "__main__":
    FILE.write_text(source(), encoding="utf-8")
