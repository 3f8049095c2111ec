"""Products of derivatives and a vector, by any formulation: its program, differentiated.

A function whose derivatives are asked for is written as ever, and what is written is differentiated
statement by statement: forwards along one direction, or backwards from multipliers . results, or
backwards and what that has written forwards.  Each takes a small multiple of the operations of what
is differentiated, where a matrix takes as many columns (Griewank, Walther 2008, sections 3.1, 3.2
and 5.1).

In q, a direction is one of the tangent space, as qd is.  Where a joint stands on a manifold its
entries are moved by the velocities (v, w) of the link in its own axes, so that with R, p the pose
of the joint and a quaternion (e, s) of vector e and scalar s

    dp = R v,    de = (s w + e x w) / 2,    ds = -e.w / 2,

and the gradient by a velocity is the sum of the gradients by the entries times how they move.  The
length of the quaternion stays.

A Hessian there is the one along the exponential, which `integrate` follows, and symmetric.  The
gradient g by velocities, differentiated along the velocities a, is in its place that by a after
that by each column: half of what the order of both makes is too much, the derivative along the
bracket of a and the column.  With g = (f, t) and a = (v, w) of a free joint,

    H a = dg/da - (f x w, t x w + f x v) / 2,

and of a ball the same with the turning parts alone (Bullo, Murray 1999, for the bracket).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector
from symgen.formulations.shared import symbolic_parameters
from symgen.kinematics.tree import KinematicTree
from symgen.program.adjoints import pull_back
from symgen.program.builder import ProgramBuilder, Results
from symgen.program.differentiation import differentiate
from symgen.program.products import Product
from symgen.program.program import Input

NOTES = {
    "PR-1": "how the entries of q move at velocities of the joint",
    "PR-2": "gradient by the velocities of a joint: by its entries, times how they move",
    "PR-3": "Hessian times a direction: the change of the gradient, less half of the bracket",
}


def write(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    product: Product,
    q: Sequence[S],
    results: Results[S],
) -> Results[S]:
    """Differentiate all that is written, with its `results`; `q` has nq entries."""
    inputs, values = inputs_of(tree, b, product), results[product.result]
    if product.backwards:
        gradients = _backwards(tree, b, inputs, q, values)
        if product.along:
            gradients = _curved(tree, b, product, inputs, q, gradients)
        return {**results, **dict(zip(product.gradients.values(), gradients, strict=True))}
    slopes = _along(tree, b, product, inputs, q, values)
    return {**results, f"{product.result}_along": slopes}


def inputs_of(tree: KinematicTree[S], b: ProgramBuilder[S], product: Product) -> list[Input[S]]:
    """Return the inputs that derivatives are taken by, the parameters last."""
    inputs = [b.declared(name) for name in product.by if name != "parameters"]
    return [*inputs, symbolic_parameters(tree)]


def _along(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    product: Product,
    inputs: Sequence[Input[S]],
    q: Sequence[S],
    results: Sequence[S],
) -> list[S]:
    """How `results` change along the direction that the program is given."""
    directions: list[S] = []
    entries_by_input = [list(b.declared(name).symbols) for name in product.by.values()]
    entries_by_input[0] = moved(tree, b, q, entries_by_input[0])
    for entries in entries_by_input:
        directions += entries
    slopes = differentiate(b, inputs, along=directions)
    return [slopes.of(x).get(0, b.algebra.zero) for x in results]


def _backwards(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    inputs: Sequence[Input[S]],
    q: Sequence[S],
    results: Sequence[S],
) -> list[list[S]]:
    """Return the gradient of multipliers . results by each of the inputs."""
    gradients = pull_back(b, results, b.declared("multipliers").symbols, inputs)
    gradients[0] = in_tangent_space(tree, b, q, gradients[0])
    return gradients


def _curved(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    product: Product,
    inputs: Sequence[Input[S]],
    q: Sequence[S],
    gradients: Sequence[list[S]],
) -> list[list[S]]:
    """How the `gradients` change along the direction; by q the symmetric part of that."""
    flat = [entry for gradient in gradients for entry in gradient]
    return symmetric_along(tree, b, product, gradients, _along(tree, b, product, inputs, q, flat))


def symmetric_along(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    product: Product,
    gradients: Sequence[Sequence[S]],
    slopes: Sequence[S],
) -> list[list[S]]:
    """Return the `slopes` of all entries of the `gradients`, arranged as these; by q symmetric."""
    left = iter(slopes)
    curvatures = [list(islice(left, len(gradient))) for gradient in gradients]
    velocities = b.declared(product.by["q"]).symbols
    curvatures[0] = _symmetric(tree, b, curvatures[0], gradients[0], velocities)
    return curvatures


# ------------------------------------------------------------------- the configuration's tangent


def moved(
    tree: KinematicTree[S], b: ProgramBuilder[S], q: Sequence[S], velocities: Sequence[S]
) -> list[S]:
    """How every entry of q moves at these velocities, (nq,)."""
    rates = [b.algebra.zero] * len(q)
    for place, velocity in zip(tree.q_indices, velocities, strict=True):
        if place is not None:
            rates[place] = velocity
    for manifold, (_, start, first) in zip(tree.manifolds, tree.quaternions, strict=True):
        with b.step("configuration", manifold.name):
            for k, column in enumerate(manifold.rates(q, b.algebra)):
                for i, rate in column.items():
                    rates[start + i] = rates[start + i] + rate * velocities[first + k]
            stop = manifold.entries.stop
            rates[start:stop] = [
                b.let(f"dq_{k}_of_{manifold.name}", x, "PR-1")
                for k, x in enumerate(rates[start:stop], start=1)
            ]
    return rates


def in_tangent_space(
    tree: KinematicTree[S], b: ProgramBuilder[S], q: Sequence[S], gradient: Sequence[S]
) -> list[S]:
    """Return the gradient by the velocities, (n,), of one by the entries of q."""
    tangent = tree.in_tangent_space(q, gradient)
    for manifold in tree.manifolds:
        with b.step("configuration", manifold.name):
            for k in tree.velocities(manifold):
                name = f"gradient_{tree.independent[k].name}"
                tangent[k] = b.let(name, tangent[k], "PR-2")
    return tangent


def _symmetric(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    slopes: Sequence[S],
    gradient: Sequence[S],
    velocities: Sequence[S],
) -> list[S]:
    """The change of the gradient by q at these velocities, less half of the bracket, (n,)."""
    rows_by_velocity, half = list(slopes), b.algebra.constant(0.5)
    for manifold, (_, _, first) in zip(tree.manifolds, tree.quaternions, strict=True):
        slides = manifold.kind.quaternion
        turning = slice(first + slides, first + slides + 3)
        t, w = Vector(*gradient[turning]), Vector(*velocities[turning])
        excess = t.cross(w)
        rows = [*excess]
        if slides:
            f, v = Vector(*gradient[first : first + 3]), Vector(*velocities[first : first + 3])
            rows = [*f.cross(w), *(excess + f.cross(v))]
        with b.step("configuration", manifold.name):
            for k, row in enumerate(rows, start=first):
                name = f"curvature_{tree.independent[k].name}"
                rows_by_velocity[k] = b.let(name, rows_by_velocity[k] - row * half, "PR-3")
    return rows_by_velocity
