"""MF-4: derivatives of the chain, said in the tangent space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.formulations.manifolds.tangent import Row, Tangent, dot


@dataclass(frozen=True)
class TorqueSlopes(Generic[S]):
    """How the torque that the chain is given of a free joint changes, (k, k) each.

    [k] is by its coordinate k, and by its velocity k.
    """

    by_place: list[Row[S]]
    by_velocity: list[Row[S]]


def in_tangent_space(
    joints: Sequence[Tangent[S]],
    by: Sequence[Row[S]],
    qdd: Sequence[S],
    torques: Mapping[int, TorqueSlopes[S]],
) -> None:
    """The derivatives `by` q, qd and what is given, of one number, changed in place.

    Those that it does not depend on may be missing at the end.  `qdd` are the accelerations of the
    chain.  What is given are accelerations; but of joints in `torques`, by the place of their first
    coordinate, torques.
    """
    for one in joints:
        velocities, given = (one.of(row) for row in _filled(by, one)[1:])
        for k, place in enumerate(one.at):
            value = by[0][place] - dot(velocities, one.turned[k], one.zero)
            if one.at[0] in torques:
                slopes = torques[one.at[0]]
                value = value + dot(given, slopes.by_place[k], one.zero)
                rate = dot(given, slopes.by_velocity[k], one.zero)
            else:
                value = value - dot(given, one.bent(k, one.of(qdd)), one.zero)
                rate = -dot(given, one.N_by_velocity[k], one.zero)
            by[0][place] = value
            if len(by) > 1:
                by[1][place] = by[1][place] + rate


def _filled(by: Sequence[Row[S]], one: Tangent[S]) -> list[Row[S]]:
    """Three rows."""
    return [*by, *[[one.zero] * len(by[0])] * (3 - len(by))]
