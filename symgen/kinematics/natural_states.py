"""States in natural coordinates and in those of joints: conversion by the poses of links.

Poses are linear in natural coordinates, up to a constant, and determine all of them but
coordinates of joints, which both modules have under the same names.  Derivatives are by complex
step, through the functions in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from symgen.errors import RequestError
from symgen.runtime.configuration import configuration_of
from symgen.runtime.limits import STEP

Array = Any
"""float64 arrays, and what NumPy makes them of."""

STEPS, CONVERGED = 50, 1e-12
"""Largest number of Gauss-Newton steps, and the change (rad, m) below which they end."""


class NaturalState(NamedTuple):
    """Natural coordinates `z` and rates `zd` (N,), and their derivatives `dz`, `dzd` (N, s)."""

    z: Array
    zd: Array
    dz: Array
    dzd: Array


def to_natural(
    joints: Any, natural: Any, q: Array, qd: Array, *, parameters: Array = None,
    sensitivities: Sequence[str] = (), dq: Array = None, dqd: Array = None,
) -> NaturalState:  # fmt: skip
    """Convert a state to natural coordinates, with its derivatives.

    Args:
        joints: a module with coordinates of joints, ``forward_kinematics`` and ``link_motion``.
        natural: the module of the same model in natural coordinates, ``forward_kinematics``.
        q: coordinates (nq,).
        qd: velocities (n,).
        parameters: runtime parameters (p,) of both modules; default: those of the model.
        sensitivities: names of runtime parameters, (s,), as in `symgen.simulate`.
        dq: derivatives of q by these (n, s); default: 0.
        dqd: derivatives of qd by these (n, s); default: 0.

    Returns:
        `NaturalState`, with total derivatives: `dq0` and `dqd0` of `symgen.simulate`.
    """
    count, space = len(sensitivities), configuration_of(joints)
    defaults = joints.default_parameters if parameters is None else parameters
    values = np.tile(np.asarray(defaults, dtype=complex), (count + 1, 1))
    for k, name in enumerate(sensitivities):
        values[k, joints.parameter_names.index(name)] += 1j * STEP
    moved = np.zeros((2, count + 1, joints.n), dtype=complex)
    for each, slopes in zip(moved, (dq, dqd), strict=True):
        if slopes is not None:
            each[:count] = 1j * STEP * np.transpose(slopes)
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


def _in_numpy(module: Any, *functions: str) -> Any:
    """Return functions of a module in NumPy, of a formulation that has these."""
    backend = dict(module.backends)["numpy"]
    every = [getattr(backend, name) for name in module.formulations]
    for item in every:
        if all(hasattr(item, name) for name in functions):
            return item
    missing = " and ".join(functions)
    raise RequestError(f"{module.name} was not built with {missing}: add --functions")


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
    options = {} if parameters is None else {"parameters": parameters}
    q, units = joints.normalize(near), np.eye(joints.n)
    wanted = natural.forward_kinematics(z, **options)
    rate = natural.forward_kinematics(z + zd, **options) - wanted  # it is linear
    for _ in range(STEPS):
        at = joints.forward_kinematics(q, **options)
        slopes = pose_rates(at, joints.link_motion(q, units, 0.0 * units, **options)[0])
        slopes = slopes.reshape(joints.n, -1).T
        right = np.stack([(wanted - at).ravel(), rate.ravel()], axis=-1)
        change, qd = np.linalg.lstsq(slopes, right, rcond=None)[0].T
        q = joints.integrate(q, change)
        if np.abs(change).max(initial=0.0) < CONVERGED:
            return q, qd
    raise RequestError(
        "to_joints: no coordinates of joints near these have the poses of the links; begin nearer, "
        "and check that z keeps the constraints"
    )


def natural_state(
    poses: Callable[[Array], Array],
    names: Sequence[str],
    links: tuple[Array, Array],
    named: tuple[Mapping[str, Any], Mapping[str, Any]],
) -> tuple[Array, Array]:
    """Convert positions and velocities of links to natural coordinates.

    Args:
        poses: function of z (N, N): poses of links (N, n_links, 4, 4), analytic in parameters.
        names: names of the N coordinates.
        links: poses (n_links, 4, 4) and velocities (n_links, 6), [linear; angular], base axes;
            imaginary parts are small.
        named: coordinates of joints by name, and their rates.

    Returns:
        z and its rates, (N,) each, with imaginary parts of first order.
    """
    at, twists = links
    count = len(names)
    every = poses(np.vstack([np.zeros(count), np.eye(count)])).reshape(count + 1, -1)
    first, slopes = every[0], (every[1:] - every[0]).T
    right = np.stack([at.ravel() - first, pose_rates(at, twists).ravel()], axis=-1)
    solution = np.linalg.lstsq(slopes.real, right.real, rcond=None)[0]
    change = right.imag - slopes.imag @ solution
    solution = solution + 1j * np.linalg.lstsq(slopes.real, change, rcond=None)[0]
    for k, name in enumerate(names):
        if not slopes[:, k].any():
            solution[k] = [values[name] for values in named]
    return solution[:, 0], solution[:, 1]


def pose_rates(at: Array, twists: Array) -> Array:
    """Return the rates (..., n_links, 4, 4) of poses (n_links, 4, 4) at `twists` (..., n_links, 6),
    [linear; angular]."""
    rates = np.zeros((*twists.shape[:-1], 4, 4), dtype=np.result_type(at, twists))
    turned = np.cross(twists[..., np.newaxis, 3:], np.swapaxes(at[..., :3, :3], -1, -2))
    rates[..., :3, :3], rates[..., :3, 3] = np.swapaxes(turned, -1, -2), twists[..., :3]
    return rates
