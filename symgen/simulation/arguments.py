"""Arguments of `simulate` and `equilibrium`, read and checked; messages begin with the `caller`.

`Columns` are the requested sensitivities.  Each is a direction of runtime parameters and initial
values together: for a parameter, the parameter with its `dq0` and `dqd0`; for an initial value,
that value alone.
"""

from __future__ import annotations

import reprlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symgen.errors import RequestError
from symgen.runtime.configuration import FREE, Configuration
from symgen.support.arrays import Array, Flags, Index
from symgen.support.suggestions import suggestion

Derivatives = Mapping[str, ArrayLike] | ArrayLike | None

ALL = "all"
Listener = Callable[[float, float], object]
"""Listener to progress: the time reached, and the end (s)."""

INTERVAL = 0.1
"""Least time between two calls (s), so that progress costs nothing."""
INITIAL = ("q0", "qd0")
"""Prefixes of names of sensitivities to initial values: ``q0.elbow``, ``qd0.elbow``."""


@dataclass(frozen=True)
class Columns:
    """The sensitivities, one column each: s of them, p of these for runtime parameters.

    Column ``indices[k]`` belongs to the runtime parameter with the number ``parameters[k]``.
    `dq0` and `dqd0`, (n, s), are the derivatives of the initial values.
    """

    names: tuple[str, ...]
    parameters: Index
    indices: Index
    dq0: Array
    dqd0: Array

    def __len__(self) -> int:
        return len(self.names)


def selection(numbers_of: ArrayLike) -> Any:
    """Return numbers (k,) as an index: a slice where they are consecutive, which is much faster."""
    chosen = np.asarray(numbers_of, dtype=np.intp)
    if chosen.size and np.array_equal(chosen, np.arange(chosen[0], chosen[0] + chosen.size)):
        return slice(int(chosen[0]), int(chosen[-1]) + 1)
    return chosen


def by_name(module: Any, name: str, value: Any, caller: str = "simulate") -> Any:
    """Return a state that is a dict by coordinate as an array, anything else as it is."""
    if not isinstance(value, Mapping):
        return value
    try:
        return module._read(name, value)
    except (TypeError, ValueError) as error:
        raise RequestError(f"{caller}: {name}: {error}") from None


def start_state(module: Any, space: Configuration, q0: Any, qd0: Any) -> tuple[Array, Array]:
    """Return positions (nq,) and velocities (n,) at the start; None stands for the defaults."""
    rest = np.zeros(module.n)
    if qd0 is None:
        qd0 = getattr(module, "initial_qd", rest) if q0 is None else rest
    if q0 is None:
        q0 = getattr(module, "initial_q", space.neutral())
    q0, qd0 = by_name(module, "q0", q0), by_name(module, "qd0", qd0)
    return numbers("q0", q0, (space.nq,)), numbers("qd0", qd0, (module.n,))


def refuse_natural_default(module: Any, values: Any, is_differentiated: bool) -> None:
    """Refuse the initial state of the file where its natural coordinates depend on parameters."""
    if not getattr(module, "_natural", False):
        return
    if is_differentiated or not np.array_equal(values, module.default_parameters):
        raise RequestError(
            "simulate: natural coordinates of the initial state depend on the parameters; give "
            "q0, qd0, dq0, dqd0 by symgen.to_natural"
        )


def numbers(name: str, value: Any, shape: tuple[int, ...], caller: str = "simulate") -> Array:
    """Return `value` as a float64 array of this shape; RequestError for anything else.

    A plain number is treated as an array of one entry.
    """
    array = _real(name, value, caller)
    if not array.shape and shape == (1,):
        array = array.reshape(shape)
    if array.shape != shape:
        raise RequestError(f"{caller}: {name}: expected shape {shape}, got {array.shape}")
    return array


def checked_number(name: str, value: Any, sound: Callable[[float], bool], words: str) -> float:
    """Return a number that is `sound`, in `words`; RequestError for anything else."""
    number = float(numbers(name, value, ()))
    if not sound(number):
        raise RequestError(f"simulate: {name}: expected a number that is {words}; got {number:g}")
    return number


def _real(name: str, value: Any, caller: str = "simulate") -> Array:
    """Return `value` as a float64 array of any shape."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:  # lists of unequal lengths, for example
        raise RequestError(f"{caller}: {name}: {error}") from None
    if array.dtype.kind not in "biuf":
        got = array.dtype if array.dtype.kind == "c" else reprlib.repr(value)
        raise RequestError(f"{caller}: {name}: expected real numbers, got {got}")
    return array.astype(np.float64, copy=False)


def refuse_not_finite(name: str, values: Array, caller: str = "simulate") -> None:
    """Raise `RequestError` for values, of any shape, that are not all finite."""
    if not np.isfinite(values).all():
        raise RequestError(f"{caller}: {name}: not all finite: {values.tolist()}")


def times(t: ArrayLike) -> Array:
    """Return the times (T,) at which results are wanted: two or more, finite, increasing (s)."""
    instants = _real("t", t)
    if instants.ndim != 1 or instants.size < 2:
        raise RequestError(
            "simulate: t: expected two or more times, the first of them the start, such as "
            f"numpy.linspace(0, 2, 201); got shape {instants.shape}"
        )
    refuse_not_finite("t", instants)
    late = np.flatnonzero(np.diff(instants) <= 0)
    if late.size:
        k = late[0]
        raise RequestError(
            f"simulate: t: expected times that increase; t[{k + 1}] = {instants[k + 1]} follows "
            f"t[{k}] = {instants[k]}"
        )
    return instants


def prescribed_coordinates(module: Any) -> Flags:
    """Return whether the motion of each coordinate is prescribed, (n,)."""
    return np.array(getattr(module, "prescribed", [False] * module.n), dtype=bool)


def entries_of(space: Any, chosen: Flags) -> Index:
    """Return the entries of q of the joints that have the `chosen` coordinates, (n,).

    A joint on a manifold has all of its coordinates among them, or none.
    """
    wanted = np.zeros(space.nq, dtype=bool)
    wanted[space.positions] = chosen[space.velocities]
    for kind, entry, velocity in space.joints:
        wanted[entry : entry + 4 + 3 * (kind == FREE)] = chosen[velocity]
    return np.flatnonzero(wanted)


def parameter_values(
    module: Any, parameters: Mapping[str, float] | ArrayLike | None, caller: str = "simulate"
) -> Array:
    """Return all runtime parameters, (n_parameters,), with defaults for missing ones."""
    values = np.array(module.default_parameters, dtype=np.float64)
    if parameters is None:
        return values
    if not isinstance(parameters, Mapping):
        values = numbers("parameters", parameters, values.shape, caller)
        refuse_not_finite("parameters", values, caller)
        return values
    names = tuple(module.parameter_names)
    for name, value in parameters.items():
        if name not in names:
            raise RequestError(f"{caller}: parameters: {_unknown_parameter(name, names)}")
        number = numbers(f"parameters: {name}", value, (), caller)
        refuse_not_finite(f"parameters: {name}", number, caller)
        values[names.index(name)] = number
    return values


def columns(
    module: Any, wanted: str | Iterable[str], dq0: Derivatives, dqd0: Derivatives, free: Flags
) -> Columns:
    """Return the `wanted` sensitivities; `free` (n,): coordinates that are integrated."""
    parameters = tuple(module.parameter_names)
    every = isinstance(wanted, str) and wanted == ALL
    names = parameters if every else _listed("sensitivities", wanted)
    numbers_of = [parameters.index(name) if name in parameters else -1 for name in names]
    indices = np.flatnonzero(np.array(numbers_of, dtype=int) >= 0)
    chosen_names = tuple(names[k] for k in indices)
    start = [
        _initial_derivatives(name, slopes, module.n, chosen_names, indices, len(names))
        for name, slopes in (("dq0", dq0), ("dqd0", dqd0))
    ]
    for column, name in enumerate(names):
        if name not in parameters:
            which, coordinate = _initial_value(name, module, parameters, free)
            start[which][coordinate, column] = 1.0
    chosen = np.array([numbers_of[k] for k in indices], dtype=np.intp)
    return Columns(names, chosen, indices, *start)


def objective_numbers(module: Any, objectives: str | Iterable[str]) -> list[int]:
    """Return the numbers of the objectives among the outputs of the model."""
    outputs = tuple(getattr(module, "output_names", ()))
    if isinstance(objectives, str) and objectives == ALL:
        return list(range(len(outputs)))
    names = _listed("objectives", objectives)
    for name in names:
        if name not in outputs:
            hint = meant(name, outputs) if outputs else "; its model has no outputs"
            raise RequestError(f"simulate: objectives: no output is called {name!r}{hint}")
    return [outputs.index(name) for name in names]


def runtime_names(module: Any, names: str | Sequence[str], caller: str) -> tuple[str, ...]:
    """Return names of runtime parameters, as a sequence, separated by commas, or all."""
    every = tuple(module.parameter_names)
    chosen = every if names == ALL else _listed("sensitivities", names or ())
    for name in chosen:
        if name not in every:
            raise RequestError(f"{caller}: sensitivities: {_unknown_parameter(name, every)}")
    return chosen


def meant(name: object, names: Sequence[str]) -> str:
    """Return the end of a message about an unknown name: a suggestion."""
    return f"; {suggestion(str(name), names)}"


def _listed(what: str, value: Any) -> tuple[str, ...]:
    names: tuple[Any, ...]
    try:
        names = tuple(map(str.strip, value.split(","))) if isinstance(value, str) else tuple(value)
    except TypeError:  # nothing to iterate over
        names = (None,)
    if not all(isinstance(name, str) for name in names):
        raise RequestError(f"simulate: {what}: expected names, or {ALL!r}; got {value!r}")
    for name in names:
        if names.count(name) > 1:
            raise RequestError(f"simulate: {what}: {name!r} stands there twice")
    return names


def _unknown_parameter(name: object, names: Sequence[str]) -> str:
    if not names:
        return (
            f"{name!r} is no argument of this module, because it has no runtime parameters; build "
            f"it with: symgen build MODEL --runtime-parameters {name}"
        )
    return f"no runtime parameter is called {name!r}{meant(name, names)}"


def _initial_derivatives(
    what: str, derivatives: Any, n: int, names: tuple[str, ...], indices: Index, s: int
) -> Array:
    """Return ``(n, s)``: `derivatives` in the columns of the parameters, 0 elsewhere."""
    result = np.zeros((n, s))
    if isinstance(derivatives, Mapping):
        for name, value in derivatives.items():
            if name not in names:
                hint = meant(name, names) if names else "; there are none of parameters"
                raise RequestError(f"simulate: {what}: no sensitivity is called {name!r}{hint}")
            result[:, indices[names.index(name)]] = numbers(f"{what}: {name}", value, (n,))
    elif derivatives is not None:
        result[:, indices] = numbers(what, derivatives, (n, len(names)))
    return result


def _initial_value(name: str, module: Any, names: Sequence[str], free: Flags) -> tuple[int, int]:
    """Return which of `INITIAL` and which coordinate a sensitivity such as ``q0.elbow`` names."""
    kind, dot, coordinate = name.partition(".")
    if kind not in INITIAL or not dot:
        hint = "; or q0.COORDINATE, qd0.COORDINATE for an initial value"
        raise RequestError(f"simulate: sensitivities: {_unknown_parameter(name, names)}{hint}")
    if coordinate not in module.coordinate_names:
        hint = meant(coordinate, module.coordinate_names)
        raise RequestError(
            f"simulate: sensitivities: {name!r}: no coordinate is called {coordinate!r}{hint}"
        )
    number = module.coordinate_names.index(coordinate)
    if not free[number]:
        raise RequestError(
            f"simulate: sensitivities: {name!r}: the motion of {coordinate!r} is prescribed, it "
            "has no initial values"
        )
    return INITIAL.index(kind), number


class Progress:
    """Calls of `listener` with the time that a motion until `end` has reached."""

    def __init__(self, listener: Listener | None, start: float, end: float) -> None:
        self.listener, self.furthest, self.end = listener, float(start), float(end)
        self.due = time.monotonic() + INTERVAL

    def __call__(self, t: float) -> None:
        """Report the time t; trials of an integrator may go back behind it."""
        if self.listener is None or not t > self.furthest:
            return
        self.furthest = min(float(t), self.end)
        now = time.monotonic()
        if now >= self.due:
            self.due = now + INTERVAL
            self.listener(self.furthest, self.end)

    def finish(self) -> None:
        """Report the end of the motion."""
        if self.listener is not None:
            self.listener(self.end, self.end)


def checked_progress(listener: Any, start: float, end: float) -> Progress:
    """Raise `RequestError` for what is no function."""
    if listener is not None and not callable(listener):
        expected = "expected a function of (t, end), or None"
        raise RequestError(f"simulate: progress: {expected}; got {listener!r}")
    return Progress(listener, start, end)
