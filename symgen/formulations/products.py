"""Products of derivatives and a vector, by any formulation: its program, differentiated.

A function whose derivatives are asked for is written as ever, and what is written is differentiated
statement by statement: forwards along one direction, or backwards from multipliers . results.  Both
take a small multiple of the operations of the function itself, where a matrix takes as many columns
(Griewank, Walther 2008, sections 3.1 and 3.2).

In q, a direction is one of the tangent space, as qd is.  Where a joint stands on a manifold its
entries are moved by the velocities (v, w) of the link in its own axes, so that with R, p the pose
of the joint and a quaternion (e, s) of vector e and scalar s

    dp = R v,    de = (s w + e x w) / 2,    ds = -e.w / 2,

and the gradient by a velocity is the sum of the gradients by the entries times how they move.  What
a rotation is for a quaternion whose length is not 1 does not matter: the length stays.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector
from symgen.formulations.shared import symbolic_parameters
from symgen.kinematics.frames import units
from symgen.kinematics.tree import KinematicTree
from symgen.program.adjoints import pull_back
from symgen.program.builder import ProgramBuilder
from symgen.program.differentiation import differentiate
from symgen.program.functions import function_named
from symgen.program.products import Product
from symgen.program.program import Input

NOTES = {
    "PR-1": "how the entries of q move at velocities of the joint",
    "PR-2": "gradient by the velocities of a joint: by its entries, times how they move",
}


def write(tree: KinematicTree[S], b: ProgramBuilder[S], product: Product, q: Sequence[S]) -> None:
    """Differentiate all that is written; `q` are the nq entries of the configuration."""
    inputs = [b.declared(name) for name in product.by if name != "parameters"]
    inputs.append(symbolic_parameters(tree))
    hidden = [b.withdraw(array.name) for array in function_named(product.of).hidden]
    if product.backwards:
        _backwards(tree, b, product, inputs, q)
    else:
        _along(tree, b, product, inputs, q)
    for output in hidden:
        b.output(output.name, output.shape, output.entries)


def _along(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    product: Product,
    inputs: Sequence[Input[S]],
    q: Sequence[S],
) -> None:
    directions: list[S] = []
    given = [list(b.declared(name).symbols) for name in product.by.values()]
    given[0] = _moved(tree, b, q, given[0])
    for entries in given:
        directions += entries
    results = b.results(product.result)
    found = differentiate(b, inputs, along=directions)
    slopes = [found.of(x).get(0, b.algebra.zero) for x in results]
    b.output(f"{product.result}_along", (len(slopes),), slopes)


def _backwards(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    product: Product,
    inputs: Sequence[Input[S]],
    q: Sequence[S],
) -> None:
    results = b.withdraw(product.result).entries
    by_entries = pull_back(b, results, b.declared("multipliers").symbols, inputs)
    for array, name, gradient in zip(inputs, product.gradients.values(), by_entries, strict=True):
        if array.name == "q":
            gradient = _in_tangent_space(tree, b, q, gradient)
        b.output(name, (len(gradient),) if array.name == "q" else array.shape, gradient)


# ------------------------------------------------------------------- the configuration's tangent


def _moved(
    tree: KinematicTree[S], b: ProgramBuilder[S], q: Sequence[S], velocities: Sequence[S]
) -> list[S]:
    """How every entry of q moves at these velocities, (nq,)."""
    found = [b.algebra.zero] * len(q)
    for place, velocity in zip(tree.places, velocities, strict=True):
        if place is not None:
            found[place] = velocity
    for manifold, (_, start, first) in zip(tree.manifolds, tree.quaternions, strict=True):
        with b.step("configuration", manifold.name):
            for k, column in enumerate(_columns(tree, q, start, manifold.kind.quaternion)):
                for i, rate in column.items():
                    found[start + i] = found[start + i] + rate * velocities[first + k]
            stop = manifold.entries.stop
            found[start:stop] = [
                b.let(f"dq_{k}_of_{manifold.name}", x, "PR-1")
                for k, x in enumerate(found[start:stop], start=1)
            ]
    return found


def _in_tangent_space(
    tree: KinematicTree[S], b: ProgramBuilder[S], q: Sequence[S], gradient: Sequence[S]
) -> list[S]:
    """The gradient by the velocities, (n,), of one by the entries of q."""
    zero = b.algebra.zero
    found = [zero if place is None else gradient[place] for place in tree.places]
    for manifold, (_, start, first) in zip(tree.manifolds, tree.quaternions, strict=True):
        with b.step("configuration", manifold.name):
            for k, column in enumerate(_columns(tree, q, start, manifold.kind.quaternion)):
                total = zero
                for i, rate in column.items():
                    total = total + rate * gradient[start + i]
                name = f"gradient_{tree.independent[first + k].name}"
                found[first + k] = b.let(name, total, "PR-2")
    return found


def _columns(
    tree: KinematicTree[S], q: Sequence[S], start: int, quaternion: int
) -> list[dict[int, S]]:
    """By velocity of a joint how its entries of q move, counted from its first one."""
    manifold = next(x for x in tree.manifolds if x.start == start)
    algebra = tree.algebra
    turn, half = manifold.pose(q, algebra).rotation, algebra.constant(0.5)
    slides = [{i: turn.rows[i][k] for i in range(quaternion)} for k in range(quaternion)]
    e, s = Vector(*q[start + quaternion :][:3]), q[start + quaternion + 3]
    turns = []
    for unit in units(algebra):
        rates = [*((unit * s + e.cross(unit)) * half), -(e.dot(unit) * half)]
        turns.append({quaternion + i: rate for i, rate in enumerate(rates)})
    return slides + turns
