"""The statements of a program one by one: their values, and their derivatives by complex steps."""

import numpy as np

from symgen.algebra.evaluation import evaluate
from tests.oracles.comparison import STEP


def values_of(program, arguments, parameters):
    """Name -> value of every statement, batch axes in front."""
    values = dict(parameters)
    for array in program.inputs:
        if array.name == "parameters":
            continue
        given = np.asarray(arguments[array.name])
        flat = given.reshape((*given.shape[: given.ndim - len(array.shape)], -1))
        values.update({name: flat[..., k] for k, name in enumerate(array.symbol_names)})
    results = evaluate([line.value for line in program.statements], values)
    return {line.name: value for line, value in zip(program.statements, results, strict=True)}


def slopes_of(program, arguments, parameters, by):
    """Name -> derivatives of every statement, by the entries of an argument or by parameters."""
    if by == "parameters":
        moves = 1j * STEP * np.eye(len(parameters))
        moved = {name: x + moves[k] for k, (name, x) in enumerate(parameters.items())}
        steps = values_of(program, arguments, moved)
    else:
        moves = 1j * STEP * np.eye(len(arguments[by]))
        steps = values_of(program, {**arguments, by: arguments[by] + moves}, parameters)
    return {name: np.broadcast_to(x, len(moves)).imag / STEP for name, x in steps.items()}


def compared(values, slopes, variables):
    """The lines X for which there is a d_X_d<x>; each of these is the derivative of X by x.

    An X that is no line is a constant.
    """
    lines, constant = set(), np.zeros(len(variables))
    for name, value in values.items():
        for place, x in enumerate(variables):
            line = name.removeprefix("d_").removesuffix(f"_d{x}")
            if name == f"d_{line}_d{x}":
                slope = slopes.get(line, constant)
                scale = max(1.0, np.abs(slope).max())
                assert abs(value - slope[place]) <= 1e-10 * scale, name
                lines.add(line)
    return lines
