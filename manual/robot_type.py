"""``python -m manual.robot_type`` writes `symgen/robot/functions.py`, the type of the functions of
generated modules, and `symgen/runtime/calls.py`, the arguments with which checks call them.

Both come from the table of functions, and a test holds them equal to what this writes.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import symgen
from manual import calls
from symgen.emit.kernels import STATES
from symgen.program.arguments import PARAMETERS, Argument
from symgen.program.function import Function
from symgen.program.functions import CONSTRAINT_FUNCTIONS, FUNCTIONS
from symgen.program.products import PRODUCTS
from symgen.robot.records import record_fields

FOLDER = Path(symgen.__file__).parent
WIDTH = 100

BEGINNING = '''\
"""The functions of a generated module, as editors and type checkers see them.

Written by ``python -m manual.robot_type`` from the table of functions; do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from symgen.robot.records import AccelerationGradient, TorqueGradient, TorqueHessian, TorqueParts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]
    State = ArrayLike | Mapping[str, ArrayLike]
    Rows = State | None
    Out = Array | None
    Outs = tuple[Array | None, ...] | None

'''

CONSTRAINTS_HEAD = '''\
class Constraints(Protocol):
    """Functions of mechanisms with loops or relations.  Arguments are those of `Functions`."""
'''

PRODUCTS_HEAD = '''\
class Products(Protocol):
    """Derivatives times a vector.  Arguments are those of `Functions`; ``_jvp`` and ``_hvp`` take:

        dq, dqd, dqdd, dtau (..., n), dloads (..., n_loads, 6), dparameters (..., n_parameters):
            the direction
    """
'''

FUNCTIONS_HEAD = '''\
class Functions(Constraints, Products, Protocol):
    """The functions of a robot, by one formulation or, at the top level, each by the fastest.

    Arguments; batch axes ``...`` broadcast mutually:

        q, qd, qdd (..., n): coordinates (rad or m), their velocities and accelerations
        tau (..., n): joint torques or forces (N m or N)
        multipliers (..., n): weights of the results in their sum
        constraint_multipliers (..., n_constraints): one for every row of the constraints
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


def sources() -> dict[str, str]:
    """The whole files, by their path in the package."""
    products = [function for function in FUNCTIONS if function.name in PRODUCTS]
    apart = (*CONSTRAINT_FUNCTIONS, *products)
    classes = {
        CONSTRAINTS_HEAD: CONSTRAINT_FUNCTIONS,
        PRODUCTS_HEAD: products,
        FUNCTIONS_HEAD: [function for function in FUNCTIONS if function not in apart],
    }
    parts = ("\n" + head + "".join(map(_method, each)) for head, each in classes.items())
    return {
        "robot/functions.py": BEGINNING + "\n".join(parts),
        "runtime/calls.py": calls.source(),
    }


def _method(function: Function) -> str:
    states = ("State" if array.name in STATES else "ArrayLike" for array in function.arguments)
    arguments = [f"{x.name}: {kind}" for x, kind in zip(function.arguments, states, strict=True)]
    options = [f"{array.name}: Rows = None" for array in (*function.options, PARAMETERS)]
    options += ["packed: bool = False"] if function.packable else []
    out = "Outs" if len(function.results) > 1 else "Out"
    inside = ", ".join(["self", *arguments, "*", *options, f"out: {out} = None"])
    signature = f"    def {function.name}({inside}) -> {_result(function)}:\n"
    if len(signature) > WIDTH + 1:  # lines end between arguments
        filled = _filled(re.sub(r"(?<!,) ", "\0", f"{inside},"), 8).replace("\0", " ")
        signature = f"    def {function.name}(\n{filled}\n    ) -> {_result(function)}:\n"
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
    names = record_fields(function.record) or [array.name for array in function.results]
    results = "\n".join(map(_row, names, function.results))
    summary = _filled(f'"""{function.summary}', 8)
    return f'{summary}\n\n        Returns:\n{results}\n        """'


def _row(name: str, array: Argument) -> str:
    shape = ", ".join(["...", *map(str, array.shape)])
    return _filled(f"{name} ({shape}): {array.meaning}", 12, 4)


if __name__ == "__main__":
    for name, text in sources().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
