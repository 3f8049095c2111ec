"""The statements of a program one by one: their values, and their derivatives by complex steps."""

import re

import numpy as np

from symgen.algebra.evaluation import evaluate
from tests.oracles.comparison import STEP

HELD = "_held"
"""At the end of a name: a line of the torques at accelerations that are held."""


def values_of(program, arguments, parameters, known=None):
    """Name -> value of every statement, batch axes in front; `known` are values by node."""
    values = dict(parameters)
    for array in program.inputs:
        if array.name == "parameters":
            continue
        given = np.asarray(arguments[array.name])
        flat = given.reshape((*given.shape[: given.ndim - len(array.shape)], -1))
        values.update({name: flat[..., k] for k, name in enumerate(array.symbol_names)})
    results = evaluate([line.value for line in program.statements], values, values_by_index=known)
    return {line.name: value for line, value in zip(program.statements, results, strict=True)}


def slopes_of(program, arguments, parameters, by):
    """Name -> derivatives of every statement, by the entries of an argument or by parameters.

    Where accelerations are held, those of free joints, ``qdd_3``, do not move."""
    values = values_of(program, arguments, parameters)
    if by == "parameters":
        moves = 1j * STEP * np.eye(len(parameters))
        parameters = {name: x + moves[k] for k, (name, x) in enumerate(parameters.items())}
    else:
        moves = 1j * STEP * np.eye(len(arguments[by]))
        arguments = {**arguments, by: arguments[by] + moves}
    steps = values_of(program, arguments, parameters)
    if any(name.endswith(HELD) for name in values):
        lines = [line for line in program.statements if re.fullmatch(r"qdd_\d+", line.name)]
        qdd = {line.value.index: values[line.name] for line in lines}
        held = values_of(program, arguments, parameters, qdd)
        steps |= {name: x for name, x in held.items() if name.endswith(HELD)}
    return {name: np.broadcast_to(x, len(moves)).imag / STEP for name, x in steps.items()}


def compared(values, slopes, variables):
    """The lines X for which there is a d_X_d<x>; each of these is the derivative of X by x.

    An X that is no line is a constant."""
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
