"""`mirrored` of a task file: which coordinates end as others start, with which sign.

The attitude of a joint with a quaternion is mirrored whole.  A reflection across a plane of its
axes, or half a turn about one of them, changes the signs of none or two entries of the vector part,
which is an automorphism S of rotations.  With reference attitudes Q_i = S(Q_j) of their chart the
coordinates of attitudes follow it, too: r_i = S r_j.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from symgen.description.reading import Node, Scalar
from symgen.description.wording import shown
from symgen.planning.charts import columns_of
from symgen.planning.values import Values
from symgen.robot.configuration import Configuration

Array = NDArray[np.float64]

_KEY = ("mirrored",)


@dataclass(frozen=True)
class Mirrored:
    """Coordinate i at the end is sign times coordinate j at the start: (i, j, sign) for each.

    Those of `advancing` are at the end where they like, with the same rates.  `attitudes` are pairs
    of joints with a quaternion, in their order, and the signs of the vector part, (3,).
    """

    coordinates: tuple[tuple[int, int, float], ...] = ()
    advancing: frozenset[int] = frozenset()
    attitudes: tuple[tuple[int, int, tuple[float, ...]], ...] = ()

    def references(self, own: Sequence[Array]) -> list[Array]:
        """Reference attitudes near `own` that follow it."""
        found = list(own)
        for i, j, signs in self.attitudes:
            S = np.array([*signs, 1.0])
            image = S * own[j]
            mean = own[i] + (image if own[i] @ image >= 0 else -image)
            mean /= np.linalg.norm(mean)
            found[i] = mean
            if i != j:
                found[j] = S * mean
        return found


def read_mirrored(
    values: Values, space: Configuration, names: Sequence[str], node: Node | None
) -> Mirrored:
    """{left: right} swaps two entries of q between the ends; {roll: -roll} changes a sign.

    `names` are those of q; with ~ an entry is left free, and its rates are kept.
    """
    if node is None:
        return Mirrored()
    pairs = {k: (k, 1.0) for k in range(len(names))}
    advancing = set()
    for name, value in values.table(node, _KEY, names, "LEFT: RIGHT").items():
        k = list(names).index(name)
        if isinstance(value, Scalar) and value.kind == "null":
            advancing.add(k)
            continue
        text = value.text if isinstance(value, Scalar) else ""
        sign = -1.0 if text.startswith("-") else 1.0
        j = values.index(text.lstrip("+-"), (*_KEY, name), names, "coordinate")
        pairs[k] = (j, sign)
        if j != k:
            pairs[j] = (k, sign)
    return _of_space(values, space, names, pairs, advancing)


def _of_space(
    values: Values,
    space: Configuration,
    names: Sequence[str],
    pairs: dict[int, tuple[int, float]],
    advancing: set[int],
) -> Mirrored:
    """The same by coordinates of a chart, in their order."""
    joints = columns_of(space)
    columns = dict(zip(space.positions.tolist(), space.velocities.tolist(), strict=True))
    for at in joints:
        if at.place is not None:
            places = range(at.place.start, at.place.stop)
            columns |= zip(places, range(at.travel.start, at.travel.stop), strict=True)
    found: dict[int, tuple[int, int, float]] = {}
    attitudes = []
    for number, at in enumerate(joints):
        entries = range(at.attitude.start, at.attitude.stop)
        whole = [pairs[k] for k in entries]
        other = next((i for i, x in enumerate(joints) if x.attitude.start == whole[0][0]), None)
        signs = tuple(sign * whole[3][1] for _, sign in whole[:3])
        is_whole = other is not None and not advancing & {*entries}
        if not is_whole or not _is_mirrored(whole, joints[other].attitude.start, signs):  # type: ignore[index]
            joint = shown(names[at.attitude.start].removesuffix("_qx"))
            values.fault(
                _KEY,
                f"the attitude of {joint} is mirrored whole: none or two of qx, qy, qz change "
                "their signs, such as {qx: -qx, qz: -qz} across the plane of x and z",
            )
            continue
        assert other is not None
        if number <= other:
            attitudes.append((number, other, signs))
        for k, sign in enumerate(signs):
            i = at.turn.start + k
            found[i] = (i, joints[other].turn.start + k, sign)
    for place, i in columns.items():
        j, sign = pairs[place]
        if j not in columns:
            values.fault((*_KEY, names[place]), f"{shown(names[j])} is a part of an attitude")
            continue
        found[i] = (i, columns[j], sign)
    rows = tuple(found[i] for i in sorted(found))
    return Mirrored(
        rows, frozenset(columns[k] for k in advancing if k in columns), tuple(attitudes)
    )


def _is_mirrored(whole: Sequence[tuple[int, float]], first: int, signs: Sequence[float]) -> bool:
    """Whether four entries are those of one attitude, mirrored."""
    in_order = [place for place, _ in whole] == list(range(first, first + 4))
    return in_order and float(np.prod(signs)) > 0
