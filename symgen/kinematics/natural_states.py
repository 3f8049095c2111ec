"""States in natural coordinates and in those of joints: conversion by the poses of links.

Poses are linear in natural coordinates, up to a constant, and determine all of them but
coordinates of joints, which both modules have under the same names.  Derivatives are by complex
step, through the functions in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Array = Any
"""float64 arrays, and what NumPy makes them of."""


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
