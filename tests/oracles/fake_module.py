"""A generated module without generation: the functions of `NumericRobot`, and changes to them.

Second derivatives, and first ones at complex states, which complex steps in `NumericRobot` do not
give, are evaluated from derived programs.

The tests of the validation feed it with one function made wrong."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from symgen.description.model import RobotDescription
from symgen.formulations.composite import COMPOSITE
from symgen.runtime.calls import ARGUMENTS
from symgen.runtime.scales import SOLVED
from symgen.runtime.subjects import Facts
from symgen.validation.evaluated import EvaluatedFormulation
from symgen.validation.oracles import NumericRobot
from tests.oracles.comparison import evaluated

BASES = ("inverse_dynamics", "forward_dynamics")
GRADIENTS = ("inverse_dynamics_derivatives", *(f"{base}_vjp" for base in BASES))
SECOND = ("inverse_dynamics_hessian", *(f"{base}_hvp" for base in BASES))

TOLD = (
    "n", "n_links", "n_loads", "inertial_parameters", "joint_terms", "prescribed", "n_parameters",
)  # fmt: skip

Function = Callable[..., Any]

CORES = {"t": 0, "dq": 2, "dqd": 2, "dtau": 2, "loads": 2, "dloads": 2}
"""Numbers of axes of arguments; of the others 1."""


def functions_of(robot: NumericRobot) -> dict[str, Function]:
    """Every function that means something for the robot, with `parameters=` and `out=`."""
    return {
        name: _with_out(_with_parameters(robot, name)) for name in ARGUMENTS if has(robot, name)
    }


def has(robot: NumericRobot, name: str) -> bool:
    """Whether a function of the table means something for the robot."""
    needed = {
        "_parameter_derivatives": robot.n_parameters,
        "_sensitivities": robot.n_parameters,
        "hybrid_dynamics": robot.prescribed.any(),
        "outputs": robot.description.outputs,
        "constraint": robot.description.n_constraints,
        "loop_": robot.description.loops,
    }
    return all(bool(size) for key, size in needed.items() if key in name)


def formulation(
    robot: NumericRobot,
    changed: Mapping[str, Function] | None = None,
    only: Collection[str] = ARGUMENTS,
) -> Any:
    """An object with `only` these functions as attributes, some of them replaced."""
    functions = {name: f for name, f in functions_of(robot).items() if name in only}
    return SimpleNamespace(**{**functions, **(changed or {})})


def facts_of(robot: NumericRobot) -> Facts:
    """What a module's metadata says about the robot."""
    return Facts(1.0, robot.inertial_parameters, robot.joint_terms, robot.prescribed)


def fake_module(
    robot: NumericRobot,
    changed: Mapping[str, Function] | None = None,
    only: Collection[str] = ARGUMENTS,
) -> Any:
    """Two formulations and two backends; `newton_euler` of ``compiled`` is changed.

    There are `only` these functions."""
    right = formulation(robot, None, only)
    wrong = formulation(robot, changed, only)
    return SimpleNamespace(
        **vars(right),
        **{name: getattr(robot, name) for name in TOLD},
        default_parameters=robot.parameters,
        formulations=("newton_euler", "closed_form_lagrange"),
        backends={
            "compiled": SimpleNamespace(newton_euler=wrong, closed_form_lagrange=right),
            "numpy": SimpleNamespace(newton_euler=right, closed_form_lagrange=right),
        },
    )


def altered(robot: NumericRobot, name: str, change: Callable[..., Any]) -> dict[str, Function]:
    """`name` replaced by `change(result, *arguments)`."""
    function = _with_parameters(robot, name)

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


def _remembered(robot: NumericRobot, name: str) -> Function:
    """The function; what it was called with before is not computed again."""
    function, known = _function(robot, name), _KNOWN.setdefault(robot, {})

    def remembered(*arguments: Any, **options: Any) -> Any:
        if any(hasattr(x, "keeps_class") for x in arguments):  # disturbed: no two calls are equal
            return function(*arguments, **options)
        given = [np.asarray(x) for x in (*arguments, *options.values()) if x is not None]
        key = (name, len(given), *((x.shape, x.dtype.kind, x.tobytes()) for x in given))
        if key not in known:
            known[key] = function(*arguments, **options)
        found = known[key]
        return tuple(map(np.copy, found)) if isinstance(found, tuple) else np.copy(found)

    return remembered


def _function(robot: NumericRobot, name: str) -> Function:
    if name not in (*GRADIENTS, *SECOND):
        return getattr(robot, name)  # type: ignore[no-any-return]

    def chosen(*arguments: Any, **options: Any) -> Any:
        options = {key: value for key, value in options.items() if value is not None}
        given = (*arguments, *options.values(), robot.parameters)
        real = not any(map(np.iscomplexobj, given))
        if name in GRADIENTS and real:
            return getattr(robot, name)(*arguments, **options)
        program = _derived(robot.description, robot.parameter_names, name)
        found = EvaluatedFormulation({name: program}, robot.parameters)
        return getattr(found, name)(*arguments, **options)

    return chosen


@cache
def _derived(description: RobotDescription, runtime: tuple[str, ...], name: str) -> Any:
    return evaluated(description, COMPOSITE, name, runtime)


_KNOWN: WeakKeyDictionary[NumericRobot, dict[Any, Any]] = WeakKeyDictionary()


def _with_parameters(robot: NumericRobot, name: str) -> Function:
    """The function with `parameters=`: every set of values is a robot of its own."""
    robots = {robot.parameters.tobytes(): _remembered(robot, name)}

    def function(*arguments: Any, parameters: Any = None, **options: Any) -> Any:
        if parameters is None:
            result = robots[robot.parameters.tobytes()](*arguments, **options)
            return _solved(result, arguments, name)
        options = {key: x for key, x in options.items() if x is not None}
        given = [*arguments, *options.values()]
        cores = [CORES.get(key, 1) for key in (*ARGUMENTS[name], *options)]
        rows = np.asarray(parameters)
        shapes = [np.shape(x)[: np.ndim(x) - k] for x, k in zip(given, cores, strict=False)]
        batch = np.broadcast_shapes(*shapes, rows.shape[:-1])
        count = math.prod(batch)
        flat = []
        for x, shape in zip(given, shapes, strict=True):
            core = np.shape(x)[len(shape) :]
            flat.append(np.broadcast_to(x, (*batch, *core)).reshape((count, *core)))
        rows = np.broadcast_to(rows, (*batch, rows.shape[-1])).reshape(count, rows.shape[-1])
        sets, owners = np.unique(rows, axis=0, return_inverse=True)
        results: list[Any] = [None] * len(rows)
        for number, values in enumerate(sets):
            key = values.tobytes()
            if key not in robots:
                robots[key] = _remembered(robot.with_parameters(values), name)
            chosen = np.flatnonzero(owners.reshape(-1) == number)
            parts = [x[chosen] for x in flat]
            keyword = dict(zip(options, parts[len(arguments) :], strict=True))
            found = robots[key](*parts[: len(arguments)], **keyword)
            several = isinstance(found, tuple)
            for place, sample in enumerate(chosen):
                picked = [x[place] for x in (found if several else (found,))]
                results[sample] = picked
        stacked = tuple(
            np.stack(column).reshape((*batch, *np.shape(column[0])))
            for column in zip(*results, strict=True)
        )
        return _solved(stacked if several else stacked[0], arguments, name)

    return function


def _solved(result: Any, arguments: Any, name: str) -> Any:
    """As generated code: no solution of one sample is an error, in a batch a warning."""
    first = np.asarray(result[0] if isinstance(result, tuple) else result)
    if name in SOLVED and np.isnan(first).any():
        if np.ndim(arguments[0]) == 1:
            raise np.linalg.LinAlgError("the mass matrix is singular")
        warnings.warn("the mass matrix is singular", RuntimeWarning, stacklevel=2)
    return result
