"""Directions of differentiation: the rate at which every symbol of a program changes.

Quaternions have length 1 at random points, because three independent numbers parametrise them: in
place of a quaternion x y z w, the entries x, y, z of q hold the modified Rodrigues parameters s
(Schaub, Junkins 1996), and w is unused:

    (x, y, z) = 2 s / (1 + s.s),    w = (1 - s.s) / (1 + s.s)

has length 1 for every s.  At the angular velocity w of the link and the velocity v of its origin,
both in link axes,

    4 ds/dt = (1 - s.s) w + 2 s x w + 2 (s.w) s,    dp/dt = R v

so that derivatives in the tangent space are slopes along these columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Vector
from symgen.algebra.nodes import Scalar
from symgen.exact.points import Movement
from symgen.kinematics.tree import KinematicTree, Manifold
from symgen.program.program import Program

DISPLACEMENTS = "displacements"
"""The output of the model's program with the rates of q at unit velocities, for quaternions."""
Displacements = Mapping[str, Movement]
"""The movement of q at each unit velocity, by name of the velocity."""


def by_entries(program: Program[Scalar]) -> Displacements:
    """Displacements without quaternions: every entry of q moves at its own velocity."""
    return {name: {name: None} for name in symbols(program, "q")}


def on_manifolds(model: Program[Scalar] | None) -> Displacements | None:
    """Displacements of a robot with quaternions, from the program of the model; else None."""
    outputs = () if model is None else model.outputs
    displaced = next((output for output in outputs if output.name == DISPLACEMENTS), None)
    if model is None or displaced is None:
        return None
    positions, n = symbols(model, "q"), displaced.shape[1]
    return {
        velocity: {
            name: rate
            for name, rate in zip(positions, displaced.entries[k::n], strict=True)
            if not rate.is_zero
        }
        for k, velocity in enumerate(symbols(model, "qd"))
    }


def rates_of(displacements: Displacements) -> dict[str, list[Scalar]]:
    """Return the rates at which each symbol moves."""
    rates: dict[str, list[Scalar]] = {}
    for movement in displacements.values():
        for name, rate in movement.items():
            if rate is not None:
                rates.setdefault(name, []).append(rate)
    return rates


def along(displacements: Displacements, velocities: Iterable[Scalar]) -> Movement:
    """Return the movement of q at these velocities of all coordinates."""
    changes: dict[str, Scalar] = {}
    for movement, velocity in zip(displacements.values(), velocities, strict=True):
        for name, share in movement.items():
            rate = velocity if share is None else share * velocity
            changes[name] = changes[name] + rate if name in changes else rate
    return changes


def in_time(program: Program[Scalar], displacements: Displacements) -> Movement:
    """Return the movement in time: q at the velocity qd, qd at the rate qdd, if any, and t at 1."""
    accelerations = entries(program, "qdd")
    rates = zip(symbols(program, "qd"), accelerations, strict=True) if accelerations else ()
    clock = dict.fromkeys(symbols(program, "t"))
    return {**along(displacements, entries(program, "qd")), **dict(rates), **clock}


def by_parameters(
    program: Program[Scalar], parameters: Sequence[str], displacements: Displacements
) -> list[Movement]:
    """One movement for each of `parameters`, the runtime parameters.

    In a sensitivity analysis the state varies with the parameters: column k of the argument ``dq``
    is the velocity of q for parameter k, and so on.
    """
    columns = len(parameters)
    rates: list[dict[str, Scalar | None]] = [{name: None} for name in parameters]
    for array in program.inputs:
        varied = entries(program, f"d{array.name}")
        for k, movement in enumerate(rates) if varied else ():
            if array.name == "q":
                movement.update(along(displacements, varied[k::columns]))
            else:
                movement.update(zip(array.symbol_names, varied[k::columns], strict=True))
    return list(rates)


def in_direction(
    program: Program[Scalar], parameters: Sequence[str], displacements: Displacements
) -> Movement:
    """Return the movement along the direction ``dq``, ``dqd``, ... of a product.

    q moves at the velocity ``dq``; `parameters` are the runtime parameters.
    """
    movement: dict[str, Scalar | None] = dict(along(displacements, entries(program, "dq")))
    for array in program.inputs:
        directions = entries(program, f"d{array.name}")
        if directions and array.name != "q":
            names = parameters if array.name == "parameters" else array.symbol_names
            movement.update(zip(names, directions, strict=True))
    return movement


def varying_parameters(program: Program[Scalar]) -> list[str]:
    """The runtime parameters that the state varies with, by the names of the entries of ``dq``."""
    q, varied = symbols(program, "q"), symbols(program, "dq")
    first = f"d{q[0]}_d" if q else ""
    return [name.removeprefix(first) for name in varied if name.startswith(first)]


def symbols(program: Program[Scalar], *inputs: str) -> list[str]:
    """Return the names of the entries of some arguments of a program."""
    return [name for array in program.inputs if array.name in inputs for name in array.symbol_names]


def entries(program: Program[Scalar], name: str) -> tuple[Scalar, ...]:
    """Return the entries of one argument of a program; none where it has no such argument."""
    return next((array.symbols for array in program.inputs if array.name == name), ())


# ---------------------------------------------------------------------------------- quaternions


@dataclass(frozen=True)
class ByThreeNumbers(Manifold[Scalar]):
    """A joint whose quaternion is parametrised by s: see the module."""

    def configuration(self, q: Sequence[Scalar], algebra: Algebra[Scalar]) -> Sequence[Scalar]:
        """Return the entries of q of the joint, with a unit quaternion."""
        entries_of_q, at = list(q[self.entries]), self.kind.quaternion
        entries_of_q[at:] = unit_quaternion(Vector(*entries_of_q[at : at + 3]), algebra)
        return entries_of_q

    def turning(
        self, numbers: Sequence[Scalar], w: Vector[Scalar], algebra: Algebra[Scalar]
    ) -> list[Scalar]:
        """ds/dt at the angular velocity `w`, and 0 for the unused entry."""
        s, half, quarter = Vector(*numbers[:3]), algebra.constant(0.5), algebra.constant(0.25)
        grown = w * ((algebra.one - s.dot(s)) * quarter)
        return [*(grown + s.cross(w) * half + s * (s.dot(w) * half)), algebra.zero]


def by_three_numbers(tree: KinematicTree[Scalar]) -> KinematicTree[Scalar]:
    """Return the tree with quaternions of length 1 for every q."""
    made = (
        ByThreeNumbers(**{x.name: getattr(manifold, x.name) for x in fields(Manifold)})
        for manifold in tree.manifolds
    )
    return replace(tree, manifolds=tuple(made))


def displacements(tree: KinematicTree[Scalar], q: Sequence[Scalar]) -> list[list[Scalar]]:
    """Rates of the entries of q at unit velocities, (nq, n)."""
    algebra, n = tree.algebra, len(tree.independent)
    rows = [[algebra.zero] * n for _ in q]
    for k, place in enumerate(tree.q_indices):
        if place is not None:
            rows[place][k] = algebra.one
    for manifold, (_, start, first) in zip(tree.manifolds, tree.quaternions, strict=True):
        for k, column in enumerate(manifold.rates(q, algebra)):
            for i, rate in column.items():
                rows[start + i][first + k] = rate
    return rows


def unit_quaternion(s: Vector[S], algebra: Algebra[S]) -> list[S]:
    """Return the quaternion x y z w of modified Rodrigues parameters."""
    unit, square = algebra.one, s.dot(s)
    return [*(s * (algebra.constant(2.0) / (unit + square))), (unit - square) / (unit + square)]
