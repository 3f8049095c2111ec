"""States in natural coordinates and in those of joints: conversion of states of modules.

Derivatives are by complex step, through the functions in NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from symgen.errors import RequestError
from symgen.kinematics.natural_states import natural_state, pose_rates
from symgen.runtime.configuration import configuration_of
from symgen.runtime.limits import STEP
from symgen.simulation.arguments import (
    by_name,
    numbers,
    parameter_values,
    refuse_not_finite,
    runtime_names,
)
from symgen.toolchain.loading import checked_module

Array = Any
"""float64 arrays, and what NumPy makes them of."""

STEPS, CONVERGED = 50, 1e-12
"""Largest number of Gauss-Newton steps, and the change (rad, m) below which they end."""
KEPT = 1e-6
"""Error of poses (-, m) and their rates, as a share of the largest entry, up to which natural
coordinates keep the constraints."""


class NaturalState(NamedTuple):
    """Natural coordinates `z` and rates `zd` (N,), and their derivatives `dz`, `dzd` (N, s)."""

    z: Array
    zd: Array
    dz: Array
    dzd: Array


def to_natural(
    joints: Any, natural: Any, q: Array, qd: Array, *, parameters: Array = None,
    sensitivities: str | Sequence[str] = (), dq: Array = None, dqd: Array = None,
) -> NaturalState:  # fmt: skip
    """Convert a state to natural coordinates, with its derivatives.

    Args:
        joints: a module with coordinates of joints, ``forward_kinematics`` and ``link_motion``.
        natural: the module of the same model in natural coordinates, ``forward_kinematics``.
        q: coordinates (nq,).
        qd: velocities (n,); q and qd may be dicts by name.
        parameters: runtime parameters (p,) of both modules, or some by name; default: those of the
            model.
        sensitivities: names of runtime parameters, (s,), or "all".
        dq: derivatives of q by these (n, s); default: 0.
        dqd: derivatives of qd by these (n, s); default: 0.

    Returns:
        `NaturalState`, with total derivatives: `dq0` and `dqd0` of `symgen.simulate`.

    Raises:
        RequestError: wrong arguments, functions that were not built.
    """
    caller = "to_natural"
    _check_modules(joints, natural, caller)
    chosen, space = runtime_names(joints, sensitivities, caller), configuration_of(joints)
    count, n = len(chosen), joints.n
    q = numbers("q", by_name(joints, "q0", q, caller), (space.nq,), caller)
    qd = numbers("qd", by_name(joints, "qd0", qd, caller), (n,), caller)
    values = parameter_values(joints, parameters, caller).astype(complex)
    values = np.tile(values, (count + 1, 1))
    for k, name in enumerate(chosen):
        values[k, joints.parameter_names.index(name)] += 1j * STEP
    moved = np.zeros((2, count + 1, n), dtype=complex)
    for each, (name, slopes) in zip(moved, {"dq": dq, "dqd": dqd}.items(), strict=True):
        if slopes is not None:
            each[:count] = 1j * STEP * numbers(name, slopes, (n, count), caller).T
    links = _in_numpy(joints, "link_motion", "forward_kinematics")
    natural_links = _in_numpy(natural, "forward_kinematics")
    states = []
    for row, change, turn in zip(values, *moved, strict=True):
        options = {"parameters": row} if len(row) else {}
        at, rates = space.integrate(space.normalize(q), change), qd + turn
        poses = links.forward_kinematics(at, **options)
        twists = links.link_motion(at, rates, 0.0 * rates, **options)[0]
        named = (
            dict(zip(joints.position_names, at, strict=True)),
            dict(zip(joints.coordinate_names, rates, strict=True)),
        )
        of = partial(natural_links.forward_kinematics, **options)
        states.append(natural_state(of, natural.coordinate_names, (poses, twists), named))
    z, zd = np.swapaxes(states, 0, 1)
    slopes = (np.transpose(x[:count].imag) / STEP for x in (z, zd))
    return NaturalState(z[-1].real, zd[-1].real, *slopes)


def _check_modules(joints: Any, natural: Any, caller: str) -> None:
    """Refuse modules that are no pair."""
    for module in (joints, natural):
        checked_module(module, caller)
    if getattr(joints, "_natural", False) or not getattr(natural, "_natural", False):
        raise RequestError(
            f"{caller}: expected a module with coordinates of joints, then one in natural "
            "coordinates: symgen.load(MODEL, formulations='natural_coordinates')"
        )


def _in_numpy(module: Any, *functions: str) -> Any:
    """Return functions of a module in NumPy, of a formulation that has these."""
    backend = dict(module.backends)["numpy"]
    every = [getattr(backend, name) for name in module.formulations]
    derived = {
        name: getattr(item, name) for name in functions for item in every if hasattr(item, name)
    }
    if missing := " and ".join(name for name in functions if name not in derived):
        raise RequestError(f"{module.name} was not built with {missing}: add --functions")
    return SimpleNamespace(**derived)


def to_joints(
    joints: Any, natural: Any, z: Array, zd: Array, near: Array, *, parameters: Array = None
) -> tuple[Array, Array]:
    """Convert a state in natural coordinates to coordinates of joints.

    Args:
        joints: as of `to_natural`.
        natural: as of `to_natural`.
        z: natural coordinates (N,) that keep the constraints.
        zd: their rates (N,).
        near: coordinates (nq,) from which the search begins: of all that have these poses those are
            returned that Gauss-Newton steps reach.
        parameters: as of `to_natural`.

    Returns:
        Coordinates (nq,) and velocities (n,).

    Raises:
        RequestError: the steps do not converge.
    """
    caller = "to_joints"
    _check_modules(joints, natural, caller)
    values = parameter_values(joints, parameters, caller)
    options = {"parameters": values} if len(values) else {}
    z, zd = (numbers(name, x, (natural.n,), caller) for name, x in (("z", z), ("zd", zd)))
    for name, x in (("z", z), ("zd", zd)):
        refuse_not_finite(name, x, caller)
    near = numbers("near", by_name(joints, "q0", near, caller), (joints.nq,), caller)
    q, units = joints.normalize(near), np.eye(joints.n)
    wanted = natural.forward_kinematics(z, **options)
    rate = natural.forward_kinematics(z + zd, **options) - wanted  # it is linear
    for _ in range(STEPS):
        at = joints.forward_kinematics(q, **options)
        slopes = pose_rates(at, joints.link_motion(q, units, 0.0 * units, **options)[0])
        slopes = slopes.reshape(joints.n, -1).T
        right = np.stack([(wanted - at).ravel(), rate.ravel()], axis=-1)
        solution = np.linalg.lstsq(slopes, right, rcond=None)[0]
        error = np.abs(right - slopes @ solution).max(axis=0, initial=0.0)
        change, qd = solution.T
        q = joints.integrate(q, change)
        if np.abs(change).max(initial=0.0) < CONVERGED:
            if error[0] <= KEPT * np.abs(wanted).max() and error[1] <= KEPT * np.abs(rate).max():
                return q, qd
            break
    raise RequestError(
        "to_joints: no coordinates of joints near these have the poses of the links, or their "
        "rates; begin nearer, and check that z and zd keep the constraints"
    )
