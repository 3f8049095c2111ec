"""A generated module without generation: the functions of `NumericRobot`, and changes to them.

The tests of the validation feed it with one function made wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from symgen.validation.checks import ARGUMENTS, Facts
from symgen.validation.oracles import NumericRobot

Function = Callable[..., Any]


def functions_of(robot: NumericRobot) -> dict[str, Function]:
    """Every function of the table, with `out=`."""
    return {name: _with_out(getattr(robot, name)) for name in ARGUMENTS}


def formulation(robot: NumericRobot, changed: Mapping[str, Function] | None = None) -> Any:
    """An object with the functions as attributes, some of them replaced."""
    return SimpleNamespace(**{**functions_of(robot), **(changed or {})})


def facts_of(robot: NumericRobot) -> Facts:
    """What a module's metadata says about the robot."""
    return Facts(1.0, robot.inertial_parameters, robot.joint_terms)


def fake_module(robot: NumericRobot, changed: Mapping[str, Function] | None = None) -> Any:
    """Two formulations and two backends; `newton_euler` of ``compiled`` is changed."""
    right = formulation(robot)
    wrong = formulation(robot, changed)
    return SimpleNamespace(
        **functions_of(robot),
        n=robot.n,
        n_links=robot.n_links,
        n_loads=robot.n_loads,
        inertial_parameters=robot.inertial_parameters,
        joint_terms=robot.joint_terms,
        formulations=("newton_euler", "closed_form_lagrange"),
        backends={
            "compiled": SimpleNamespace(newton_euler=wrong, closed_form_lagrange=right),
            "numpy": SimpleNamespace(newton_euler=right, closed_form_lagrange=right),
        },
    )


def altered(robot: NumericRobot, name: str, change: Callable[..., Any]) -> dict[str, Function]:
    """`name` replaced by `change(result, *arguments)`."""
    function = getattr(robot, name)

    def wrong(*arguments: Any, **options: Any) -> Any:
        return change(function(*arguments, **options), *arguments)

    return {name: _with_out(wrong)}


def _with_out(function: Function) -> Function:
    def filled(*arguments: Any, out: Any = None, **options: Any) -> Any:
        result = function(*arguments, **options)
        if out is None:
            return result
        several = isinstance(result, tuple)
        for target, value in zip(out, result, strict=True) if several else [(out, result)]:
            np.copyto(target, value)
        return out

    return filled
