"""Products of derivatives of accelerations: what the accelerations solve, differentiated.

With qdd the accelerations, tau(q, qd, qdd) the torques that a motion takes and x all of q, qd, the
loads and the parameters, tau(q, qd, qdd) = tau holds whatever x and tau are.  So neither the
factors of the mass matrix nor articulated bodies are differentiated, but the torques, with qdd held
(implicit functions: Griewank, Walther 2008, section 15.1):

    dqdd = M^-1 (dtau - dtau(q, qd, qdd)/dx dx)
    g_tau = M^-1 w = u,    g_x = -u . dtau(q, qd, qdd)/dx     the gradient of w . qdd,
    dg_tau = du = -M^-1 dM u,    dg_x                         and how it changes

where dg_x is the change of g_x with x, with qdd and with u.

M^-1 is applied as the formulation applies it: what it has written is linear in the torques, and
differentiated along these, statement by statement.  -M u is the gradient of -u . tau by qdd.

========  ===============  =======================================================================
symbol    code             meaning
========  ===============  =======================================================================
qdd       held_j           the accelerations, as symbols until all is written
u         weight_j         M^-1 w, likewise; w are the multipliers
--        x_weight         of a statement x of the solution, what makes u of w
--        x_change         what makes dqdd of `missing`; x_weight_change du
--        missing_j        dtau less what the change of the motion takes
--        d_y, total_d_y   change of a statement y of the torques, with qdd and u held; with theirs
========  ===============  =======================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Derivatives, S
from symgen.formulations.products.by_statements import (
    in_tangent_space,
    inputs_of,
    moved,
    symmetric_along,
)
from symgen.kinematics.tree import KinematicTree
from symgen.program.adjoints import pull_back
from symgen.program.builder import ProgramBuilder, Results
from symgen.program.differentiation import push_forward
from symgen.program.products import Product
from symgen.program.program import Input

NOTES = {"RE-1": "M dqdd = dtau less the change of the torques with the motion at fixed qdd"}

WEIGHT, CHANGE, WEIGHT_CHANGE = "{}_weight", "{}_change", "{}_weight_change"
"""Names of a statement of the solution where it stands for u, dqdd and du."""
TOTAL = "total_d_{}"
"""The change of a statement where qdd and u change, too."""

Torques = Callable[[Sequence[S]], Sequence[S]]
"""Writes the torques that these accelerations take."""


@dataclass(frozen=True)
class _Writing(Generic[S]):
    """State of writing a product of accelerations.

    `solution` are the steps that find the `accelerations`.  `qdd` and `weights` are symbols that
    stand for these and for u while all is differentiated.
    """

    tree: KinematicTree[S]
    b: ProgramBuilder[S]
    product: Product
    q: Sequence[S]
    torques: Torques[S]
    solution: range
    accelerations: Sequence[S]
    qdd: Input[S]
    weights: Input[S]

    @property
    def moving(self) -> list[Input[S]]:
        """Return the inputs of the torques but qdd: q, qd, the loads and the parameters."""
        inputs = inputs_of(self.tree, self.b, self.product)
        return [array for array in inputs if array.name != "tau"]

    def directions(self) -> tuple[list[S], list[S]]:
        """How all that is `moving` changes, and how the torques do."""
        changes = {
            name: list(self.b.declared(change).symbols) for name, change in self.product.by.items()
        }
        changes["q"] = moved(self.tree, self.b, self.q, changes["q"])
        dtau = changes.pop("tau")
        return [entry for entries in changes.values() for entry in entries], dtau

    def response(self, rhs: Sequence[S], label: str) -> list[S]:
        """M^-1 rhs: what the accelerations gain where the torques do.

        `label` says what that is called for each statement of the solution.
        """
        tau = self.b.declared("tau")
        slopes = push_forward(self.b, [tau], rhs, self.solution, label)
        return self.changes(slopes, self.accelerations)

    def taken(self) -> Sequence[S]:
        """Write the torques that `qdd` takes."""
        with self.b.variant("_held", "torques"):
            return self.torques(self.qdd.symbols)

    def missing(self, dtau: Sequence[S], changes: Sequence[S]) -> list[S]:
        """Write the torques that are missing: RE-1."""
        with self.b.step("torques that are missing"):
            return [
                self.b.let(f"missing_{j}", torque - change, "RE-1")
                for j, (torque, change) in enumerate(zip(dtau, changes, strict=True), start=1)
            ]

    def changes(self, slopes: Derivatives[S], scalars: Sequence[S]) -> list[S]:
        """How `scalars` change along the direction of `slopes`."""
        return [slopes.of(x).get(0, self.b.algebra.zero) for x in scalars]


def write(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    product: Product,
    q: Sequence[S],
    results: Results[S],
    torques: Torques[S],
) -> Results[S]:
    """Return the product of the accelerations that are written, which are among their `results`.

    `q` are the nq entries of the configuration.
    """
    names = [joint.name for joint in tree.independent]
    held = (
        b.auxiliary(kind, (tree.n,), [f"{kind}_{name}" for name in names])
        for kind in ("held", "weight")
    )
    accelerations = results[product.result]
    writing = _Writing(tree, b, product, q, torques, range(b.length), accelerations, *held)
    values = dict(zip(writing.qdd.symbols, accelerations, strict=True))
    if not product.backwards:
        written = _along(writing)
    else:
        weights = writing.response(b.declared("multipliers").symbols, WEIGHT)
        values |= dict(zip(writing.weights.symbols, weights, strict=True))
        written = _curved(writing) if product.along else _backwards(writing)
    return b.substitute(values, {**results, **written})


def _along(x: _Writing[S]) -> Results[S]:
    """Write dqdd."""
    directions, dtau = x.directions()
    start = x.b.length
    taken = x.taken()
    changes = push_forward(x.b, x.moving, directions, range(start, x.b.length))
    slopes = x.response(x.missing(dtau, x.changes(changes, taken)), CHANGE)
    return {f"{x.product.result}_along": slopes}


def _backwards(x: _Writing[S]) -> Results[S]:
    """g_x and g_tau."""
    gradients, _, _ = _gradients(x)
    return _named(x, gradients, x.weights.symbols)


def _curved(x: _Writing[S]) -> Results[S]:
    """dg_x and dg_tau."""
    b = x.b
    directions, dtau = x.directions()
    start = b.length
    gradients, by_qdd, taken = _gradients(x)
    steps = range(start, b.length)
    held = push_forward(b, x.moving, directions, steps)
    dqdd = x.response(x.missing(dtau, x.changes(held, taken)), CHANGE)
    dweights = x.response(x.changes(held, by_qdd), WEIGHT_CHANGE)
    everything = [*x.moving, x.qdd, x.weights]
    changes = push_forward(b, everything, [*directions, *dqdd, *dweights], steps, TOTAL)
    entries = x.changes(changes, [entry for gradient in gradients for entry in gradient])
    return _named(x, symmetric_along(x.tree, b, x.product, gradients, entries), dweights)


def _gradients(x: _Writing[S]) -> tuple[list[list[S]], list[S], Sequence[S]]:
    """g_x, -M u and the torques."""
    start = x.b.length
    taken = x.taken()
    weights = [-weight for weight in x.weights.symbols]
    *gradients, by_qdd = pull_back(x.b, taken, weights, [*x.moving, x.qdd], start)
    gradients[0] = in_tangent_space(x.tree, x.b, x.q, gradients[0])
    return gradients, by_qdd, taken


def _named(x: _Writing[S], gradients: Sequence[Sequence[S]], by_torques: Sequence[S]) -> Results[S]:
    """Return the gradients by name."""
    inputs = [array.name for array in inputs_of(x.tree, x.b, x.product)]
    rest = iter(gradients)
    entries = [by_torques if name == "tau" else next(rest) for name in inputs]
    return dict(zip(x.product.gradients.values(), entries, strict=True))
