"""Points fixed in bodies: where loads and forces act, whose motion is wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector


@dataclass(frozen=True)
class BodyPoint(Generic[S]):
    """A named point fixed in a body, in the body's frame; body 0 is the base."""

    name: str
    body: int
    point: Vector[S]
