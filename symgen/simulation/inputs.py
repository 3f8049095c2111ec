"""Inputs of a moving robot: torques, loads, and the motion of prescribed joints.

Torques and loads are arrays or functions of ``(t, q, qd)``.  A torque that depends on the state
also moves with it: its derivative along the sensitivities dq, dqd is

    dtau = dtau/dq dq + dtau/dqd dqd + dtau/dp

from the function of the user, or else by a complex step through the torques, which is exact for
analytic functions.  `Torques.check` compares it with differences, because functions that take
complex numbers need not be analytic, such as ``abs`` and ``sign``.

The motion of prescribed joints is a function of t.  `Prescribed.check` compares its qd and qdd with
differences of q and qd, because the equations would take any three arrays.
"""

from __future__ import annotations

import inspect
import reprlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symgen.errors import RequestError
from symgen.runtime.configuration import configuration_of
from symgen.simulation.arguments import Columns, by_name, entries_of, numbers
from symgen.support.arrays import Array, Flags

Named = ArrayLike | Mapping[str, ArrayLike]
Input = Named | Callable[[float, Array, Array], Named] | None
Slopes = Callable[[float, Array, Array], tuple[ArrayLike, ...]] | None

STATE = ("t", "q", "qd")
"""Arguments of functions of the state."""
STEP = 1e-40
"""Size of the complex step: its square is below the rounding of 1."""
DIFFERENCE = 1e-6
"""Step of the differences for comparison with the complex step, relative to the state."""
AGREEMENT = 1e-4
"""Largest relative difference of the two, far above the error of differences."""
SPAN = 1e-5
"""Largest step of differences of a prescribed motion (s): far below the periods of robots."""
INSTANTS = (0.0, 0.382, 0.731, 1.0)
"""Instants at which inputs are compared with differences, as shares of the time.

Several, because a wrong derivative may be right at the start; not at the likely borders of motions
in pieces.
"""
NEARNESS = 1e-2
"""Largest relative difference of derivatives, as of interpolated tables."""


class ArrayInput:
    """An array, a dict by name, or a function of ``(t, q, qd)`` that returns one; 0 by default."""

    def __init__(self, name: str, value: Input, shape: tuple[int, ...], module: Any) -> None:
        self.name, self.shape, self.module = name, shape, module
        self.space = configuration_of(module)
        self.function = value if callable(value) else None
        if self.function is not None:
            _check_takes(name, value, *STATE)
        self.value = np.zeros(shape)
        if value is not None and not callable(value):
            self.value = numbers(name, by_name(module, name, value), shape)

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        """Return the array at one instant."""
        if self.function is None:
            return self.value
        # copies: the function may keep them, or write into them
        value = _something(self.name, self.function(t, q.copy(), qd.copy()))
        return numbers(self.name, by_name(self.module, self.name, value), self.shape)


class Loads(ArrayInput):
    """The loads ``(n_loads, 6)``, which have no derivatives by the state."""

    def check(self, t: float, q: Array, qd: Array) -> None:
        """Raise `RequestError` where loads at two states with q (nq,), qd (n,) differ."""
        if self.function is None:
            return
        moved = self(t, *_moved(self.space, q, qd, 1e-3, q_too=True, qd_too=True))
        if not np.array_equal(self(t, q, qd), moved, equal_nan=True):
            raise RequestError(
                "simulate: loads: they depend on the state, which sensitivities cannot follow; "
                "give constants or a function of time, or put the forces into tau"
            )


class Torques(ArrayInput):
    """The joint torques ``(n,)`` and their derivatives ``(n, s)`` along the sensitivities."""

    def __init__(self, value: Input, slopes: Slopes, module: Any, columns: Columns) -> None:
        super().__init__("tau", value, (module.n,), module)
        self.slopes, self.columns = slopes, columns
        if slopes is not None:
            _check_takes("tau_derivatives", slopes, *STATE)
        if slopes is not None and self.function is None:
            raise RequestError("simulate: tau_derivatives: tau is no function of t, q and qd")

    def warn_of_undriven(self, t: float, q: Array, qd: Array) -> None:
        """Warn of torques at coordinates without a drive, as at q (nq,), qd (n,)."""
        pushed = np.flatnonzero(self(t, q, qd) * ~np.array(self.module.actuated))
        if len(pushed):
            names = ", ".join(self.module.coordinate_names[k] for k in pushed)
            warnings.warn(
                f"simulate: tau: there is no drive at {names} ('actuated: false'); this torque "
                "acts as one of the surroundings",
                RuntimeWarning,
                stacklevel=3,
            )

    def along(self, t: float, q: Array, qd: Array, dq: Array, dqd: Array) -> Array | float:
        """Return derivatives of torques at q (nq,), qd (n,) by s sensitivities, (n, s), or 0.

        q and qd vary by dq and dqd, (n, s) each.
        """
        if self.function is None:
            return 0.0
        if self.slopes is not None:
            by_q, by_qd, *explicit = self._user_slopes(t, q, qd)
            result: Array = by_q @ dq + by_qd @ dqd
            for by_parameters in explicit:
                result[:, self.columns.indices] += by_parameters
            return result
        result = np.empty(dq.shape)
        for k in range(dq.shape[1]):
            result[:, k] = self._by_complex_step(t, q, qd, dq[:, k], dqd[:, k])
        return result

    def jacobians(self, t: float, q: Array, qd: Array) -> tuple[Array, Array]:
        """Return derivatives of the torques by coordinates and velocities, (n, n) each.

        Without sensitivities they are 0 unless the user has derivatives: functions that are not
        differentiated need not take complex numbers.
        """
        unit, none = np.eye(len(qd)), np.zeros((len(qd), len(qd)))
        if self.slopes is not None:
            by_q, by_qd, *_ = self._user_slopes(t, q, qd)
            return by_q, by_qd
        if self.function is None or not len(self.columns):
            return none, none
        columns = (
            [self._by_complex_step(t, q, qd, *direction) for direction in zip(*pair, strict=True)]
            for pair in ((unit, none), (none, unit))
        )
        along_q, along_qd = (np.stack(vectors, axis=-1) for vectors in columns)
        return along_q, along_qd

    def check(self, t: float, q: Array, qd: Array) -> None:
        """Raise `RequestError` where complex steps of torques at q (nq,), qd (n,) are wrong."""
        if self.function is None or self.slopes is not None or not len(self.columns) * q.size:
            return
        for q_too in (True, False):
            start = _moved(self.space, q, qd, -DIFFERENCE, q_too, not q_too)
            stop = _moved(self.space, q, qd, DIFFERENCE, q_too, not q_too)
            displacement = [self.space.difference(start[0], stop[0]), stop[1] - start[1]]
            change = self(t, *stop) - self(t, *start)
            if not np.isfinite(change).all():
                return  # the motion will not be finite, and says where
            with warnings.catch_warnings():
                warnings.simplefilter("error", np.exceptions.ComplexWarning)
                slope = self._by_complex_step(t, q, qd, *displacement)
            size = max(float(np.abs(displacement).max()), float(np.abs([change, slope]).max()))
            limit = AGREEMENT * size + 1e-14 * np.abs(self(t, q, qd)).max()
            if not (np.abs(change - slope) <= limit).all():
                raise RequestError(
                    f"simulate: tau: at t = {t:.6g} s its derivatives by complex step are not "
                    "those by differences (abs, sign and clip do that); give tau_derivatives"
                )

    def _by_complex_step(self, t: float, q: Array, qd: Array, dq: Array, dqd: Array) -> Array:
        assert self.function is not None
        try:
            moved = self.space.integrate(q, 1j * STEP * dq), qd + 1j * STEP * dqd
            value = np.asarray(by_name(self.module, "tau", self.function(t, *moved)))
            slope: Array = np.imag(value) / STEP
        except (TypeError, np.exceptions.ComplexWarning) as error:
            raise RequestError(
                f"simulate: tau takes no complex numbers ({error}), so that its derivatives cannot "
                "be had by complex step; give tau_derivatives(t, q, qd) -> (dtau_dq, dtau_dqd)"
            ) from error
        return numbers("tau", slope, self.shape)

    def _user_slopes(self, t: float, q: Array, qd: Array) -> tuple[Array, ...]:
        assert self.slopes is not None
        slopes: Any = _something("tau_derivatives", self.slopes(t, q.copy(), qd.copy()))
        if not isinstance(slopes, tuple) or len(slopes) not in (2, 3):
            raise RequestError(
                "simulate: tau_derivatives: expected a tuple (dtau_dq, dtau_dqd) or (dtau_dq, "
                "dtau_dqd, dtau_dparameters)"
            )
        square = (*self.shape, *self.shape)
        wide = (*self.shape, len(self.columns.indices))
        return tuple(
            numbers(f"tau_derivatives[{k}]", slope, square if k < 2 else wide)
            for k, slope in enumerate(slopes)
        )


class Prescribed:
    """The motion of the prescribed joints: a function of t that returns their q, qd and qdd.

    `held` (n,) marks their coordinates; with quaternions among them the entries of q are more.
    """

    def __init__(self, function: Any, module: Any, held: Flags) -> None:
        names = tuple(compress(module.coordinate_names, held))
        if names and not callable(function):
            raise RequestError(
                f"simulate: prescribed: the motion of {', '.join(names)} is prescribed; give a "
                "function of t that returns (q, qd, qdd) of these coordinates"
            )
        if not names and function is not None:
            raise RequestError(
                "simulate: prescribed: no joint of this robot is prescribed; 'prescribed: true' in "
                "the model file makes one so"
            )
        if names:
            _check_takes("prescribed", function, "t")
        self.function, self.names, self.space = function, names, configuration_of(module)
        self.entries, self.held = entries_of(self.space, held), np.flatnonzero(held)
        self.entry_names = tuple(module.position_names[k] for k in self.entries)

    def __call__(self, t: float) -> tuple[Array, Array, Array]:
        """Return q, qd and qdd of the prescribed coordinates."""
        values = _something("prescribed", self.function(t))
        try:
            q, qd, qdd = values
        except (TypeError, ValueError):
            raise RequestError(
                "simulate: prescribed: expected the function to return (q, qd, qdd), got "
                f"{reprlib.repr(values)}"
            ) from None
        shape, names = (len(self.names),), ", ".join(self.names)
        q = numbers(f"prescribed: q of {', '.join(self.entry_names)}", q, self.entries.shape)
        return (
            self._normalized(q, t),
            numbers(f"prescribed: qd of {names}", qd, shape),
            numbers(f"prescribed: qdd of {names}", qdd, shape),
        )

    def check(self, start: float, stop: float) -> None:
        """Raise `RequestError` where qd is not the derivative of q, or qdd not that of qd.

        By central differences at `INSTANTS`; nothing is asked for outside the times of the motion.
        """
        if not self.names:
            return
        spacing = float(np.spacing(max(abs(start), abs(stop))))
        h = min(max(SPAN, 1024 * spacing), (stop - start) / 2)
        first = start + np.multiply(INSTANTS, stop - start - 2 * h)
        t = np.minimum(first[:, None] + [0.0, h, 2 * h], stop)
        samples = [[self(float(time)) for time in row] for row in t]
        if not all(np.isfinite(x).all() for row in samples for sample in row for x in sample):
            return  # the motion will not be finite, and says where
        spans = (t[:, 2] - t[:, 0])[:, None, None]
        # [instant, q or qd, coordinate]
        changes = np.array([self._changes(row[0], row[2]) for row in samples]) / spans
        rates = np.array([row[1][1:] for row in samples])
        sizes = np.abs([changes, rates]).max(axis=(0, 1))
        largest = [np.abs(self._scales(sample)) for row in samples for sample in row]
        rounding = 1e-14 / h * np.max(largest, axis=0)
        wrong = np.argwhere(~(np.abs(changes - rates) <= NEARNESS * sizes + rounding))
        if len(wrong):
            instant, order, coordinate = index = tuple(wrong[0])
            what, rate = ("q", "qd", "qdd")[order : order + 2]
            raise RequestError(
                f"simulate: prescribed: {self.names[coordinate]}: at t = {t[instant, 1]:.6g} s "
                f"{what} changes by {changes[index]:.6g} per second, but {rate} is "
                f"{rates[index]:.6g}; return q with its own first and second derivative in time"
            )

    def _changes(self, before: Sequence[Array], behind: Sequence[Array]) -> list[Array]:
        """Return changes of q, in the tangent space, and of qd."""
        (q0, qd0, _), (q1, qd1, _) = before, behind
        moved = self.space.difference(self._whole(q0), self._whole(q1))[self.held]
        return [moved, qd1 - qd0]

    def _scales(self, sample: Sequence[Array]) -> list[Array]:
        """Return magnitudes for the rounding errors of q and qd."""
        q, qd, _ = sample
        return [np.full(len(qd), np.abs(q).max()) if self.space.joints else q, qd]

    def _normalized(self, q: Array, t: float) -> Array:
        """Return prescribed entries of q, (k,), with unit quaternions; RequestError for 0."""
        if not self.space.joints or not np.isfinite(q).all():
            return q
        try:
            return self.space.normalize(self._whole(q))[self.entries]
        except ValueError as error:
            raise RequestError(f"simulate: prescribed: q at t = {t:.6g} s: {error}") from None

    def _whole(self, q: Array) -> Array:
        configuration = self.space.neutral()
        configuration[self.entries] = q
        return configuration


def _check_takes(name: str, function: Any, *arguments: str) -> None:
    """Raise `RequestError` where `function` cannot be called with these arguments."""
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError as error:
        raise RequestError(
            f"simulate: {name}: expected a function of ({', '.join(arguments)}): {error}"
        ) from None
    except ValueError:  # some functions written in C have no signature
        return


def _something(name: str, returned: Any) -> Any:
    """Return the value of a function of the user; RequestError for None."""
    if returned is None:
        raise RequestError(
            f"simulate: {name}: the function returned nothing (None); is its return missing?"
        )
    return returned


def _moved(
    space: Any, q: Array, qd: Array, step: float, q_too: bool, qd_too: bool
) -> tuple[Array, Array]:
    """Return a state near q, qd, with every coordinate moved by a different amount."""
    move = step * np.linspace(1.0, 1.7, qd.size)
    size = np.maximum(1.0, np.abs(space.coordinates(q)))
    moved = space.integrate(q, move * size * q_too)
    return moved, qd + move * np.maximum(1.0, np.abs(qd)) * qd_too
