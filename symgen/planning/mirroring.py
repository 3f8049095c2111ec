"""`mirrored` of a task: coordinates that end as others start, with a sign.

The attitude of a joint with a quaternion is mirrored whole.  A reflection across a plane of its
axes, or half a turn about one of them, changes the signs of none or two entries of the vector part,
which is an automorphism S of rotations.  With reference attitudes Q_i = S(Q_j) of their chart the
coordinates of attitudes follow it, too: r_i = S r_j.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from symgen.description.expressions import EvaluationError, evaluate
from symgen.description.wording import shown
from symgen.planning.charts import columns_of
from symgen.planning.values import Value
from symgen.runtime.configuration import Configuration
from symgen.support.arrays import Array

RATES = "qdd"
"""Key of accelerations, beside the names of coordinates."""


@dataclass(frozen=True)
class Mirrored:
    """Coordinate i at the end is sign times coordinate j at the start: (i, j, sign) for each.

    Coordinates of `advancing` are free at the end, and keep their rates; those of `travel`, too,
    and end (length, speed) by length + speed T further on.  `attitudes` are pairs of joints with a
    quaternion, in their order, and the signs of the vector part, (3,).  `orders` counts positions,
    velocities and accelerations, all of which are mirrored where it is 3.
    """

    coordinates: tuple[tuple[int, int, float], ...] = ()
    advancing: frozenset[int] = frozenset()
    travel: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    attitudes: tuple[tuple[int, int, tuple[float, ...]], ...] = ()
    orders: int = 3

    def references(self, near: Sequence[Array]) -> list[Array]:
        """Return mirrored reference attitudes (4,) close to those of every joint."""
        attitudes = list(near)
        for i, j, signs in self.attitudes:
            S = np.array([*signs, 1.0])
            image = S * near[j]
            mean = near[i] + (image if near[i] @ image >= 0 else -image)
            mean /= np.linalg.norm(mean)
            attitudes[i] = mean
            if i != j:
                attitudes[j] = S * mean
        return attitudes


def read_mirrored(value: Value, space: Configuration, names: Sequence[str]) -> Mirrored:
    """Read {left: right}, which swaps two entries of q between the ends, or {roll: -roll}.

    `names` are those of q; with ~ an entry is left free, and its rates are kept.  A number, or an
    expression that is linear in T, says how far an entry moves on; ``qdd: ~`` leaves accelerations
    free.
    """
    if value.node is None:
        return Mirrored()
    pairs = {k: (k, 1.0) for k in range(len(names))}
    advancing, travel = set(), dict[int, tuple[float, float]]()
    entries = value.table([*names, RATES], "LEFT: RIGHT")
    rates = entries.pop(RATES) if RATES in entries and RATES not in names else None
    if rates is not None and not rates.is_null:
        rates.fault("accelerations are mirrored, or free: write ~")
    for name, entry in entries.items():
        k = list(names).index(name)
        if entry.is_null:
            advancing.add(k)
            continue
        sign = -1.0 if entry.word.startswith("-") else 1.0
        named = entry.word.lstrip("+-")
        if named not in names and not named.isidentifier():
            travel[k] = _travel(entry)
            continue
        j = entry.index(named, names, "coordinate")
        pairs[k] = (j, sign)
        if j != k:
            pairs[j] = (k, sign)
    on_chart = _on_chart(value, space, names, pairs, advancing, travel)
    return on_chart if rates is None else replace(on_chart, orders=2)


def _travel(value: Value) -> tuple[float, float]:
    """Read a + b T as (a, b)."""
    expression = value.expression(("T",))
    if expression is None:
        return 0.0, 0.0
    try:
        a, b, c = (evaluate(expression, {**value.names, "T": T}) for T in (0.0, 1.0, 2.0))
    except EvaluationError:
        a, b, c = 0.0, 0.0, 1.0
    if abs(c - 2 * b + a) > 1e-12 * max(abs(a), abs(b), abs(c)):
        value.fault(f"{shown(expression.text)}: expected a length, or one linear in T: 0.1 + 1.2*T")
    return a, b - a


def _on_chart(
    value: Value, space: Configuration, names: Sequence[str],
    pairs: dict[int, tuple[int, float]], advancing: set[int],
    travel: Mapping[int, tuple[float, float]],
) -> Mirrored:  # fmt: skip
    """Rearrange pairs of entries of q by coordinates of a chart."""
    joints = columns_of(space)
    starts = [joint.attitude.start for joint in joints]
    columns = dict(zip(space.positions.tolist(), space.velocities.tolist(), strict=True))
    for joint in joints:
        if joint.position is not None:
            entries = range(joint.position.start, joint.position.stop)
            columns |= zip(entries, range(joint.travel.start, joint.travel.stop), strict=True)
    rows: dict[int, tuple[int, int, float]] = {}
    attitudes = []
    for number, joint in enumerate(joints):
        entries = range(joint.attitude.start, joint.attitude.stop)
        first = pairs[joint.attitude.start][0]
        signs = tuple(pairs[k][1] * pairs[entries[3]][1] for k in entries[:3])
        in_order = [pairs[k][0] for k in entries] == list(range(first, first + 4))
        is_reflection = in_order and float(np.prod(signs)) > 0
        moved = (advancing | {*travel}) & {*entries}
        if first not in starts or moved or not is_reflection:
            name = shown(names[joint.attitude.start].removesuffix("_qx"))
            value.fault(
                f"the attitude of {name} is mirrored whole: none or two of qx, qy, qz change "
                "their signs, such as {qx: -qx, qz: -qz} across the plane of x and z"
            )
            continue
        image = starts.index(first)
        if number <= image:
            attitudes.append((number, image, signs))
        for k, sign in enumerate(signs):
            i = joint.turn.start + k
            rows[i] = (i, joints[image].turn.start + k, sign)
    for entry, i in columns.items():
        j, sign = pairs[entry]
        if j in columns:
            rows[i] = (i, columns[j], sign)
        else:
            value.fault(f"{shown(names[j])} is a part of an attitude", names[entry])
    free = frozenset(columns[k] for k in advancing if k in columns)
    moved_on = {columns[k]: x for k, x in travel.items() if k in columns}
    return Mirrored(tuple(rows[i] for i in sorted(rows)), free, moved_on, tuple(attitudes))
