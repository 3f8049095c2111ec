"""Positions of joints that follow others, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgen.description import RobotDescription
from symgen.description.expressions import evaluate


def coupling(description: RobotDescription) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """S (N, n) and o (N,), joint by joint along what it follows."""
    values = description.parameter_values
    mimics = {joint.name: joint.mimic for joint in description.joints if joint.mimic is not None}
    names = [name for joint in description.joints for name in joint.coordinate_names]
    own = [name for name in names if name not in mimics]

    def row(name: str) -> tuple[np.ndarray[Any, Any], float]:
        if name not in mimics:
            return np.array([float(name == other) for other in own]), 0.0
        mimic = mimics[name]
        factor, shift = evaluate(mimic.multiplier, values), evaluate(mimic.offset, values)
        of_leader, at = row(mimic.coordinate)
        return factor * of_leader, factor * at + shift

    rows = [row(name) for name in names]
    return np.array([s for s, _ in rows]).reshape(len(names), len(own)), np.array(
        [at for _, at in rows]
    )
