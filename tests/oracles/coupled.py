"""Joints that follow others: random ones, and how their positions follow, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgen.description import RobotDescription
from symgen.description.expressions import evaluate
from tests.oracles.descriptions import described


def with_followers(text: str, rng: np.random.Generator) -> str:
    """The same model, in which some joints of one coordinate follow others, some of them twice."""
    joints = described(text).joints
    names = [name for joint in joints for name in joint.coordinate_names]
    order = [str(name) for name in rng.permutation(names)]
    single = {joint.name for joint in joints if joint.coordinates == 1}
    followers = {}
    for place, name in enumerate(order[:-1]):  # a joint follows one behind it in this order
        if name in single and (not followers or rng.random() < 0.4):
            leader = order[rng.integers(place + 1, len(order))]
            multiplier = ["-1", "1", "k", f"{rng.uniform(-2, 2):.3f}"][rng.integers(4)]
            offset = ["0", "half", f"{rng.uniform(-1, 1):.3f}"][rng.integers(3)]
            followers[name] = (
                f"    mimic: {{coordinate: {leader}, multiplier: {multiplier}, offset: {offset}}}"
            )
    lines, follows = [], False
    for line in text.splitlines():
        if line.startswith("  - name: "):
            follows = line.removeprefix("  - name: ") in followers
            lines += [line, followers[line.removeprefix("  - name: ")]] if follows else [line]
        elif not (follows and line.strip().startswith("prescribed")):
            lines.append(line)
    return "\n".join(lines) + "\n"


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
