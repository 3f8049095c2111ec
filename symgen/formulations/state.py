"""The state that recursions work on: coordinates, rates, torques and loads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector


@dataclass(frozen=True)
class Wrench(Generic[S]):
    """A force (N) at a point and a moment (N m), in base axes."""

    force: Vector[S]
    moment: Vector[S]


@dataclass(frozen=True)
class State(Generic[S]):
    """State at which a function is evaluated; arguments that it does not take are 0.

    `q`, `qd`, `qdd`, `tau` have one entry per joint, `loads` one wrench per load of the tree,
    exerted by the environment on the link.  In hybrid dynamics `qdd` holds the given accelerations
    of the prescribed joints and `tau` the given torques of the free ones; the others are 0.
    `multipliers` weigh the torques of which a function differentiates the sum; `t` is the time
    where a function takes it.
    """

    q: tuple[S, ...]
    qd: tuple[S, ...]
    qdd: tuple[S, ...]
    loads: tuple[Wrench[S], ...]
    tau: tuple[S, ...] = ()
    multipliers: tuple[S, ...] = ()
    t: S | None = None


@dataclass(frozen=True)
class LinkMotion(Generic[S]):
    """Angular velocity and acceleration of a link, and the acceleration of its origin or centre of
    mass, link axes."""

    omega: Vector[S]
    alpha: Vector[S]
    a: Vector[S]


class NoSolutionError(ZeroDivisionError):
    """A pivot is 0 by structure: the mass matrix is singular whatever the arguments are."""
