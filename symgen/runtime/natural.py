"""States in natural coordinates and in relative ones: conversion by the poses of links.

Poses are linear in natural coordinates, up to a constant, and determine all of them but those that
are coordinates of joints, which both have under the same names.
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
    named: tuple[Mapping[str, float], Mapping[str, float]],
) -> tuple[Array, Array]:
    """Convert positions and velocities of links to natural coordinates.

    Args:
        poses: function of z (..., n): poses of links (..., n_links, 4, 4).
        names: names of the n coordinates.
        links: poses (n_links, 4, 4) and velocities (n_links, 6), [linear; angular], base axes.
        named: coordinates of joints by name, and their rates.

    Returns:
        z and its rates, (n,) each.
    """
    at, twists = links
    first = poses(np.zeros(len(names)))
    slopes = (poses(np.eye(len(names))) - first).reshape(len(names), -1).T
    rates = np.zeros_like(at)
    rates[:, :3, :3] = np.cross(twists[:, np.newaxis, 3:], at[:, :3, :3].swapaxes(1, 2)).swapaxes(
        1, 2
    )
    rates[:, :3, 3] = twists[:, :3]
    right = np.stack([(at - first).ravel(), rates.ravel()], axis=-1)
    solution = np.linalg.lstsq(slopes, right, rcond=None)[0]
    for k, name in enumerate(names):
        if not slopes[:, k].any():
            solution[k] = [values[name] for values in named]
    return solution[:, 0], solution[:, 1]
