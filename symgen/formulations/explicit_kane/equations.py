"""The equations of motion of a robot by one of the two routes, and their derivatives.

Free joints are the unknowns.  The accelerations of the others are given, stand in the remainder
terms of K, and their torques are found afterwards.

Notation beyond that of `kinematics.py`

======================  ================  ======================================================
paper                   code              meaning
======================  ================  ======================================================
M, with rotors          mass              by pair of joints, the second on the path to the first
K                       balance           tau_r - drive_r + K_r, by joint; tau 0 where prescribed
K_{,x} - M_{,x} qdd     unbalance_r_d<x>  what M^-1 is multiplied with in (9)
======================  ================  ======================================================
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic

from symgen.algebra.interface import S
from symgen.formulations.explicit_kane.explicit import Forces, JointPair, MassMatrix
from symgen.formulations.explicit_kane.kinematic_derivatives import (
    COORDINATE,
    PARAMETER,
    VELOCITY,
    Slopes,
    Variable,
    d_system_at,
)
from symgen.formulations.explicit_kane.kinematics import System, system_at
from symgen.formulations.joint_terms import reflected_inertia, with_joint_terms
from symgen.formulations.shared import symbolic_parameters
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.program import DERIVATIVE

NOTES = {
    "EK-10": "unbalance_r = dK_r - sum_i dM_ri qdd_i, i free: what M^-1 turns into d qdd "
    "-- Anderson, Hsu 2002 (8), (9)",
}

Column = dict[int, S]
"""A vector by number of the joint; what is left out is structurally 0."""


@dataclass(frozen=True)
class Route:
    """How M and K of the bodies, and their derivatives, are found."""

    mass_matrix: Callable[[System[Any], Collection[JointPair]], MassMatrix[Any]]
    forces: Callable[[System[Any]], Forces[Any]]
    d_mass_matrix: Callable[
        [System[Any], MassMatrix[Any], Slopes[Any], Collection[JointPair]], dict[JointPair, Any]
    ]
    d_forces: Callable[[System[Any], Forces[Any], Slopes[Any]], dict[int, Any]]


@dataclass(frozen=True)
class Equations(Generic[S]):
    """M qdd = K at a state.  See the notation of the module; `pairs` are the entries of M."""

    route: Route
    system: System[S]
    free: tuple[int, ...]
    pairs: tuple[JointPair, ...]
    bodies: MassMatrix[S]
    sums: Forces[S]
    drives: tuple[S, ...]
    mass: Mapping[JointPair, S]
    balance: Mapping[int, S]

    def mass_between(self, r: int, i: int) -> S:
        """M_ri for any two joints."""
        return self.mass.get((max(r, i), min(r, i)), self.system.b.algebra.zero)

    def times(self, mass: Mapping[JointPair, S], qdd: Mapping[int, S]) -> Column[S]:
        """A symmetric matrix, given by its lower triangle, times the `qdd` of the free joints."""
        zero = self.system.b.algebra.zero
        product: Column[S] = {}
        for (r, i), entry in mass.items():
            for row, column in ((r, i),) if r == i else ((r, i), (i, r)):
                if column in qdd:
                    product[row] = product.get(row, zero) + entry * qdd[column]
        return product

    def unbalance(self, d: Slopes[S], qdd: Mapping[int, S]) -> Column[S]:
        """EK-10 with respect to one variable, for all joints."""
        b, zero = self.system.b, self.system.b.algebra.zero
        d_sums = self.route.d_forces(self.system, self.sums, d)
        d_mass: dict[JointPair, S] = {}
        if d.x.kind != VELOCITY:
            d_mass = self.route.d_mass_matrix(self.system, self.bodies, d, self.pairs)
        for k, rotor in d.rotors.items():
            d_mass[k, k] = d_mass.get((k, k), zero) + rotor
        moved = self.times(d_mass, qdd)
        column: Column[S] = {}
        for joint in self.system.joints:
            r = joint.number
            value = d_sums.get(r, zero)
            if r in d.drives:
                with b.step("derivatives of joint terms", joint.name), b.variant(f"_d{d.x.name}"):
                    value = value - b.let(f"d_drive_{r}", d.drives[r], f"{DERIVATIVE}JT-1")
            value = value - moved.get(r, zero)
            with b.step("derivatives of the balance", joint.name), b.variant(f"_d{d.x.name}"):
                value = b.let(f"unbalance_{r}", value, "EK-10")
            if not b.algebra.is_zero(value):
                column[r] = value
        return column

    def slopes(self, xs: Sequence[Variable[S]]) -> list[Slopes[S]]:
        """The derivatives of the system with respect to `xs`."""
        rotors = [reflected_inertia(joint) for joint in self.system.joints]
        return d_system_at(self.system, xs, self.drives, rotors)


def all_pairs(tree: KinematicTree[S]) -> tuple[JointPair, ...]:
    """(r, i) for all joints r and those on the path to them."""
    return tuple((joint.number, i) for joint in tree.joints for i in tree.path(joint.number))


def equations_of(
    route: Route,
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    free: Sequence[int],
    pairs: tuple[JointPair, ...] | None = None,
) -> Equations[S]:
    """M and K at a state; `pairs` are the entries of M that are needed, by default all."""
    system = system_at(tree, b, state)
    pairs = all_pairs(tree) if pairs is None else pairs
    bodies, sums = route.mass_matrix(system, pairs), route.forces(system)
    zero = b.algebra.zero
    drives = tuple(with_joint_terms(tree, b, state, [zero] * tree.n))
    rotors = [reflected_inertia(joint) for joint in tree.joints]
    mass = {
        (r, i): entry + rotors[r - 1] if r == i else entry
        for (r, i), entry in bodies.entries.items()
    }
    numbered = zip(drives, state.tau or (zero,) * tree.n, strict=True)
    balance = {r: tau - drive + sums.entries[r] for r, (drive, tau) in enumerate(numbered, start=1)}
    return Equations(route, system, tuple(free), pairs, bodies, sums, drives, mass, balance)


def mass_matrix_entries(
    route: Route, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Mapping[JointPair, S]:
    """The entries of M of the bodies alone, without rotors, for all pairs."""
    return route.mass_matrix(system_at(tree, b, state, moving=False), all_pairs(tree)).entries


def bias(route: Route, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> list[S]:
    """-K without the joints' torques: the torques at qdd = 0, terms of the joints included."""
    at_rest = replace(state, qdd=(b.algebra.zero,) * tree.n)
    sums = route.forces(system_at(tree, b, at_rest))
    rigid = [-sums.entries[joint.number] for joint in tree.joints]
    return with_joint_terms(tree, b, at_rest, rigid)


def coordinates(b: ProgramBuilder[S]) -> list[Variable[S]]:
    """The variables q."""
    return _joint_variables(b, COORDINATE)


def velocities(b: ProgramBuilder[S]) -> list[Variable[S]]:
    """The variables qd."""
    return _joint_variables(b, VELOCITY)


def parameters(tree: KinematicTree[S]) -> list[Variable[S]]:
    """The variables p: the runtime parameters."""
    array = symbolic_parameters(tree)
    return [
        Variable(PARAMETER, name, symbol)
        for name, symbol in zip(array.symbol_names, array.symbols, strict=True)
    ]


def _joint_variables(b: ProgramBuilder[S], kind: str) -> list[Variable[S]]:
    symbols = b.declared(kind).symbols
    return [Variable(kind, f"{kind}_{j}", symbol, j) for j, symbol in enumerate(symbols, start=1)]
