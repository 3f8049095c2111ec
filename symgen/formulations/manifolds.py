"""Joints on manifolds: the equations of a chain, at displacement 0, in the tangent space.

A formulation derives as if a ball were three revolute joints, and a free joint three prismatic ones
and a ball.  Here that chain stands behind the pose (R, p) that the quaternion gives, and its
displacements e are 0, so that every sine of them is gone and what lies between its links costs
nothing.  What is left to do is to say everything in the velocities w of the joint, those of the
link's frame in its own axes.  With S_j the columns of its motion subspace (constant in the link)
and [a, b] the Lie bracket of twists,

    w = W(e) e',    W_j(e) = exp(-S_k e_k) ... exp(-S_j+1 e_j+1) S_j,    W(0) = 1,
    D_k = dW/de_k:  column j is -[S_k, S_j] for k > j, else 0,

and so the accelerations of the chain are e'' = w' - N(w) with N = sum_k w_k D_k w, its torques
W^T tau.  Torques, wrenches, motions are those of the chain at w and w' - N.  Derivatives by a
configuration are those in the tangent space: with w, w' and tau held,

    de'/de_k = -D_k w,   de''/de_k = -D_k e'' - N_k,   d(W^T tau)/de_k = D_k^T tau,

where N_k = dN/de_k with w held.  A joint is moved by its own velocity, which is why the Christoffel
matrix of the chain, less M D(w), is the one whose C w are the velocity-product torques and with
which dM/dt - 2 C is skew-symmetric (the same as Featherstone's sum of J^T (I J' + B J)).

What drives and bearings of such a joint add is a matter of its velocities, not of the chain: it is
added here, to what the bodies alone do.  Where accelerations are sought, its rotors stand in the
chain's equations; the torque that the chain is given is

    W^T (tau - I N - damping, friction) - (W^T I W - I) e''.

Bullo, Murray 1999 ("Tracking for fully actuated mechanical systems") have the geometry; the columns
of S are those of Featherstone 2008, table 4.1.

=========  ====================  ==================================================================
symbol     code                  meaning
=========  ====================  ==================================================================
R, p       R_<joint>, p_<joint>  pose that the entries of q give
N          N_<coordinate>        what w leaves of the chain's accelerations at w' = 0
e''        qdd_<coordinate>      accelerations of the chain
=========  ====================  ==================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Transform, Vector
from symgen.formulations.joint_terms import (
    drive_derivatives,
    drives,
    reflected_inertia,
    without_joint_terms,
)
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree, Manifold
from symgen.program.builder import ProgramBuilder
from symgen.program.functions import function_named
from symgen.program.program import Input, Output

NOTES = {
    "MF-1": "R and p of the unit quaternion and the position of a joint",
    "MF-2": "N = sum_k w_k D_k w: velocity products of the joint's own columns",
    "MF-3": "e'' = w' - N: accelerations of the chain",
    "MF-4": "in the tangent space: the chain's, by its coordinates, velocities and accelerations",
    "MF-5": "C - M D(w): of the joint's velocities",
    "MF-6": "what drives and bearings of the joint add to its torques",
}

Write = Callable[[KinematicTree[Any], ProgramBuilder[Any], State[Any], str], None]
"""Writes a function, called by its name, of a chain."""

Row = list[S]

UNCHANGED = (
    "inverse_dynamics_load_derivatives", "mass_matrix", "gravity_forces", "kinetic_energy",
    "potential_energy", "forward_kinematics", "jacobians", "center_of_mass",
    "center_of_mass_jacobian", "centroidal_momentum", "centroidal_momentum_matrix",
    "kinetic_energy_parameter_derivatives", "potential_energy_parameter_derivatives",
)  # fmt: skip
"""The functions that are those of the chain, rotors included."""

OF_ACCELERATIONS = (
    "joint_wrenches", "point_motion", "link_motion", "centroidal_momentum_rate", "regressor",
    "inverse_dynamics_parameter_derivatives", "point_motion_parameter_derivatives", "outputs",
)  # fmt: skip
"""Those of the chain at its accelerations."""

SLOPES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "joint_wrench_derivatives": (("dw_dq", "dw_dqd", "dw_dqdd"),),
    "point_motion_derivatives": (
        ("dx_dq",),
        ("dv_dq", "dv_dqd"),
        ("da_dq", "da_dqd", "da_dqdd"),
    ),
    "outputs_derivatives": (("do_dq", "do_dqd", "do_dqdd"),),
}
"""Results that are derivatives of one thing by q, qd and qdd, and of no torque."""

LEFT_OUT = ("inverse_dynamics_hessian", "forward_dynamics_sensitivities")
"""What is not derived for joints on manifolds yet."""


NEEDS: Mapping[str, str] = {
    "bias_forces": "inverse_dynamics",
    "coriolis_matrix": "mass_matrix",
}
"""What else a formulation has to derive for the chain."""


def are_derived(functions: Collection[str]) -> set[str]:
    """Those that there are for trees with joints on manifolds, of functions of the chain."""
    return {name for name in functions if name not in LEFT_OUT and NEEDS.get(name, name) in functions}


# ------------------------------------------------------------------------- one joint's tangent space


@dataclass(frozen=True)
class Twist(Generic[S]):
    """Velocity of the link's origin and angular velocity, in the axes of the link."""

    v: Vector[S]
    w: Vector[S]

    def bracket(self, other: Twist[S]) -> Twist[S]:
        """[self, other]"""
        return Twist(self.w.cross(other.v) + self.v.cross(other.w), self.w.cross(other.w))

    def dot(self, other: Twist[S]) -> S:
        """Sum of the products of entries."""
        return self.v.dot(other.v) + self.w.dot(other.w)


@dataclass(frozen=True)
class Tangent(Generic[S]):
    """The constants of one joint: D[k][i][j] is entry i, j of D_k, and DD[k][l] of d2W/de_k de_l.

    `at` are the places of its coordinates, from 0.
    """

    joint: Manifold
    at: tuple[int, ...]
    D: tuple[tuple[tuple[S, ...], ...], ...]
    DD: tuple[tuple[tuple[tuple[S, ...], ...], ...], ...]
    zero: S

    def times(self, matrix: Sequence[Sequence[S]], x: Sequence[S]) -> Row[S]:
        """A matrix times a vector."""
        return [_dot(row, x, self.zero) for row in matrix]

    def transposed(self, matrix: Sequence[Sequence[S]], x: Sequence[S]) -> Row[S]:
        """Its transpose times a vector."""
        return [_dot(column, x, self.zero) for column in zip(*matrix, strict=True)]

    def weighted(self, w: Sequence[S]) -> list[Row[S]]:
        """D(w) = sum_k w_k D_k"""
        size = range(len(self.at))
        return [
            [_dot([self.D[k][i][j] for k in size], w, self.zero) for j in size] for i in size
        ]

    def rates(self, w: Sequence[S]) -> Row[S]:
        """N(w) = D(w) w"""
        return self.times(self.weighted(w), w)

    def rates_by_velocity(self, w: Sequence[S]) -> list[Row[S]]:
        """[k]: dN/dw_k"""
        D = self.weighted(w)
        return [
            _sum(self.times(self.D[k], w), [row[k] for row in D]) for k in range(len(self.at))
        ]

    def rates_by_place(self, w: Sequence[S]) -> list[Row[S]]:
        """[k]: N_k = sum_i (w_i d2W/de_i de_k w - (D_k w)_i D_i w - w_i D_i D_k w)"""
        D = self.weighted(w)
        found: list[Row[S]] = []
        for k in range(len(self.at)):
            turned = self.times(self.D[k], w)
            bent = [
                [_dot([self.DD[i][k][a][j] for i in range(len(w))], w, self.zero) for j in
                 range(len(w))]
                for a in range(len(w))
            ]  # fmt: skip
            first = self.times(bent, w)
            second = self.times(self.weighted(turned), w)
            third = self.times(D, turned)
            found.append([x - y - z for x, y, z in zip(first, second, third, strict=True)])
        return found


def tangent(tree: KinematicTree[S], joint: Manifold) -> Tangent[S]:
    """The constants of a joint on a manifold."""
    algebra, size = tree.algebra, range(len(joint.columns))
    columns: list[Twist[S]] = []
    for number in joint.columns:
        column = tree.joint(number)
        axis = column.placement.axis
        linear = column.type.linear_axis(axis, algebra)
        columns.append(Twist(linear, column.type.angular_axis(axis, algebra)))

    def matrix(change: Callable[[int], Twist[S] | None]) -> tuple[tuple[S, ...], ...]:
        twists = [change(j) for j in size]
        return tuple(
            tuple(algebra.zero if x is None else columns[i].dot(x) for x in twists) for i in size
        )

    def first(k: int, j: int) -> Twist[S] | None:
        return columns[j].bracket(columns[k]) if k > j else None

    def second(k: int, i: int, j: int) -> Twist[S] | None:
        inner = first(min(i, k), j)
        return None if inner is None else inner.bracket(columns[max(i, k)])

    own = [tree.coordinate_numbers[number - 1] - 1 for number in joint.columns]
    return Tangent(
        joint,
        tuple(own),
        tuple(matrix(lambda j, k=k: first(k, j)) for k in size),  # type: ignore[misc]
        tuple(
            tuple(matrix(lambda j, i=i, k=k: second(k, i, j)) for k in size)  # type: ignore[misc]
            for i in size
        ),
        algebra.zero,
    )


# ------------------------------------------------------------------------------------- all joints


def write(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], chain: Write, function: str
) -> None:
    """Write `function` of the joints' velocities; `chain` writes one of the chain.

    `state` has nq entries in q, and n elsewhere, as the inputs that are declared.
    """
    task = _Task(tree, b, state, chain, function)
    if function in UNCHANGED:
        task.call(function, state.qdd, rotors=True)
        task.finish()
    elif function in OF_ACCELERATIONS:
        task.call(function, task.accelerations)
        task.finish()
    elif function in SLOPES:
        task.slopes()
    else:
        _OTHERS[function](task)


@dataclass
class _Task(Generic[S]):
    """One function, as it is written."""

    tree: KinematicTree[S]
    b: ProgramBuilder[S]
    state: State[S]
    chain: Write
    function: str

    def __post_init__(self) -> None:
        self.tangents = tuple(tangent(self.tree, joint) for joint in self.tree.manifolds)
        self.n = len(self.tree.independent)
        self.zero = self.b.algebra.zero
        self.posed = self._posed()
        self.values: dict[S, S] = {}
        self.own = self.b.inputs

    @property
    def coordinates(self) -> list[tuple[Tangent[S], int, int]]:
        """Every coordinate on a manifold: its joint, its number there, its place among all."""
        return [(one, k, at) for one in self.tangents for k, at in enumerate(one.at)]

    def _posed(self) -> KinematicTree[S]:
        """MF-1: the tree with the poses that q gives, and chains behind them."""
        joints = list(self.tree.joints)
        for manifold in self.tree.manifolds:
            pose = manifold.kind.pose(self.state.q[manifold.entries], self.b.algebra)
            with self.b.step("configuration", manifold.name):
                R = self.b.let(f"R_{manifold.name}", pose.rotation, "MF-1")
                p = self.b.let(f"p_{manifold.name}", pose.translation, "MF-1")
            k = manifold.columns[0] - 1
            at = joints[k].placement
            seat = at.tree @ Transform(R, p)
            joints[k] = replace(joints[k], placement=replace(at, tree=seat))
        return replace(self.tree, joints=tuple(joints))

    # ----------------------------------------------------------------------- velocities and N

    def w(self, one: Tangent[S]) -> Row[S]:
        """The velocities of a joint."""
        return [self.state.qd[k] for k in one.at]

    @cached_property
    def N(self) -> dict[int, S]:
        """MF-2 by coordinate on a manifold."""
        found: dict[int, S] = {}
        for one in self.tangents:
            with self.b.step("tangent space", one.joint.name):
                for k, entry in zip(one.at, one.rates(self.w(one)), strict=True):
                    found[k] = self.b.let(f"N_{self.name(k)}", entry, "MF-2")
        return found

    @cached_property
    def accelerations(self) -> tuple[S, ...]:
        """MF-3: of all coordinates of the chain, where those of the joints are in the state."""
        found, N = list(self.state.qdd), self.N
        for one in self.tangents:
            with self.b.step("tangent space", one.joint.name):
                for k in one.at:
                    value = self.state.qdd[k] - N[k]
                    found[k] = self.b.let(f"qdd_{self.name(k)}", value, "MF-3")
        return tuple(found)

    def name(self, coordinate: int) -> str:
        """What the coordinate is called in the model."""
        return self.tree.independent[coordinate].name

    # ------------------------------------------------------------------------ calling the chain

    def call(
        self,
        function: str,
        qdd: Sequence[S],
        tau: Sequence[S] | None = None,
        rotors: bool = False,
    ) -> None:
        """Write a function of the chain at these accelerations.

        Coordinates on manifolds, and what they are given here, are symbols until `finish`, so that
        the chain can differentiate by them.  Joints on manifolds have no bearings, and no rotors
        unless they are asked for.
        """
        given = {"q": self._places(), "qdd": qdd, "tau": tau or self.state.tau}
        arrays = {name: self._array(name, entries) for name, entries in given.items()}
        arrays["x"] = self._mixed(arrays["qdd"], arrays["tau"])
        self.b.redeclare(arrays[x.name] for x in self.own if x.name in arrays)
        q, qdd, tau = (arrays[name].symbols for name in ("q", "qdd", "tau"))
        inner = replace(self.state, q=q, qdd=qdd, tau=tau)
        self.chain(self.stripped(rotors), self.b, inner, function)
        self.b.redeclare(self.own)

    def _places(self) -> list[S]:
        """Coordinates of the chain: 0 on manifolds."""
        q = self.state.q
        return [self.zero if place is None else q[place] for place in self.tree.places]

    def _array(self, name: str, entries: Sequence[S]) -> Input[S]:
        """An input of the chain: symbols where it is not one of ours."""
        symbols, names = list(entries), [f"{name}_{k}" for k in range(1, self.n + 1)]
        for _, _, k in self.coordinates if entries else ():
            if name != "q" and self.b.algebra.is_zero(entries[k]):
                continue  # what is 0 by structure stays so
            symbols[k], names[k] = self._symbol(f"{name}_of_{self.name(k)}", entries[k])
        return Input(name, (len(symbols),), tuple(symbols), tuple(names[: len(symbols)]))

    def _mixed(self, qdd: Input[S], tau: Input[S]) -> Input[S]:
        """What is given of every coordinate in hybrid dynamics."""
        if not tau.symbols:
            return tau
        sides = [qdd if joint.prescribed else tau for joint in self.tree.independent]
        symbols = tuple(side.symbols[k] for k, side in enumerate(sides))
        names = tuple(side.symbol_names[k] for k, side in enumerate(sides))
        return Input("x", (self.n,), symbols, names)

    def _symbol(self, name: str, value: S) -> tuple[S, str]:
        if name.startswith("q_of_") and not _differentiates(self.function):
            return value, name
        array = self.b.auxiliary(name, (1,), [name])
        self.values[array.symbols[0]] = value
        return array.symbols[0], array.symbol_names[0]

    def stripped(self, rotors: bool) -> KinematicTree[S]:
        """The posed tree, whose joints on manifolds add nothing, or their rotors alone."""
        bare = without_joint_terms(self.posed)
        mine = {number for joint in self.tree.manifolds for number in joint.columns}
        joints = [
            full if full.number not in mine
            else replace(full, terms=replace(none.terms, rotor_inertia=full.terms.rotor_inertia))
            if rotors else none
            for full, none in zip(self.posed.joints, bare.joints, strict=True)
        ]  # fmt: skip
        return replace(self.posed, joints=tuple(joints))

    def results(self, function: str) -> dict[str, list[S]]:
        """What the chain's function returned, by name; it is no result any more."""
        return {x.name: list(self.b.withdraw(x.name).entries) for x in
                function_named(function).results}  # fmt: skip

    def finish(self) -> None:
        """Put in what symbols stand for; leave one wrench and one body for each joint."""
        if self.values:
            self.b.substitute(self.values)
        for array in function_named(self.function).results:
            output = self.b.withdraw(array.name)
            shape, entries = list(output.shape), list(output.entries)
            for axis, size in enumerate(array.shape):
                width = {"n_joints": 1, "10 n_joints": 10}.get(size) if isinstance(size, str) else 0
                if width:
                    entries = _kept(self.tree, entries, shape, axis, width)
                    shape[axis] = width * len(self.tree.link_sides)
            self.b.output(array.name, tuple(shape), entries)

    # -------------------------------------------------------------------- joint terms of these

    @cached_property
    def drives(self) -> list[S]:
        """MF-6 by coordinate: rotors, damping and friction of joints on manifolds, else 0."""
        return drives(self._mine, self.b, self._rates)

    @cached_property
    def drive_slopes(self) -> dict[str, list[S]]:
        """MF-6: the same by "qd" and "qdd"."""
        return drive_derivatives(self._mine, self.b, self._rates)

    @property
    def _mine(self) -> KinematicTree[S]:
        """The coordinates as joints, with joint terms on manifolds alone."""
        ours = {k for _, _, k in self.coordinates}
        bare = without_joint_terms(self.tree)
        joints = [
            replace((self.tree if k in ours else bare).joint(joint.number), number=k + 1)
            for k, joint in enumerate(self.tree.independent)
        ]
        return replace(self.tree, joints=tuple(joints))

    @property
    def _rates(self) -> State[S]:
        none = (self.zero,) * self.n
        return State(none, self.state.qd, self.state.qdd, ())

    # --------------------------------------------------------------------------------- slopes

    def slopes(self) -> None:
        """MF-4 of what is no torque: motions of points, wrenches, outputs."""
        self.call(self.function, self.accelerations)
        names = [array.name for array in function_named(self.function).results]
        found = {name: self.b.withdraw(name) for name in names}
        shapes = {name: output.shape for name, output in found.items()}
        entries = {name: list(output.entries) for name, output in found.items()}
        for group in SLOPES[self.function]:
            rows = [_rows(entries[name], self.n) for name in group]
            for row in zip(*rows, strict=True):
                self.in_tangent_space(list(row), self.accelerations)
            for name, changed in zip(group, rows, strict=True):
                entries[name] = [x for row in changed for x in row]
        with self.b.step("tangent space"):
            for name in names:
                if any(name in group for group in SLOPES[self.function]):
                    entries[name] = self.named(name, entries[name])
        for name in names:
            self.b.output(name, shapes[name], entries[name])
        self.finish()

    def named(self, name: str, entries: Sequence[S], note: str = "MF-4") -> list[S]:
        """Names for the entries of a result that had none."""
        return [self.b.let(f"{name}_{k}", x, note) for k, x in enumerate(entries, start=1)]

    def in_tangent_space(
        self, by: Sequence[Row[S]], qdd: Sequence[S], torques: Mapping[int, Sequence[Row[S]]] = {}
    ) -> None:
        """MF-4 of one entry: its derivatives `by` q, qd and what is given, changed in place.

        `qdd` are the accelerations of the chain.  Given are accelerations; but for the coordinates
        of joints in `torques` (by place), torques: then [k] is how coordinate k of the joint changes
        that torque, first through its place, then through its velocity.
        """
        for one in self.tangents:
            w, e = self.w(one), [qdd[k] for k in one.at]
            rates = [by[1][i] for i in one.at] if len(by) > 1 else []
            bent, steep = one.rates_by_place(w), one.rates_by_velocity(w)
            for k, place in enumerate(one.at):
                turned = one.times(one.D[k], w)
                value, rate = by[0][place], by[1][place] if len(by) > 1 else self.zero
                if len(by) > 1:
                    value = value - _dot(rates, turned, self.zero)
                if len(by) > 2:
                    given = [by[2][i] for i in one.at]
                    if one.at[0] in torques:
                        placed, moved = torques[one.at[0]][0][k], torques[one.at[0]][1][k]
                        value = value + _dot(given, placed, self.zero)
                        rate = rate + _dot(given, moved, self.zero)
                    else:
                        left = _sum(one.times(one.D[k], e), bent[k])
                        value = value - _dot(given, left, self.zero)
                        rate = rate - _dot(given, steep[k], self.zero)
                by[0][place] = value
                if len(by) > 1:
                    by[1][place] = rate


# ------------------------------------------------------------------------------ single functions


def _inverse_dynamics(task: _Task[S]) -> None:
    task.call("inverse_dynamics", task.accelerations)
    _write_torques(task, "tau")


def _bias_forces(task: _Task[S]) -> None:
    """At w' = 0: what a formulation says of qdd = 0 says nothing of the chain's N."""
    task.call("inverse_dynamics", task.accelerations)
    _write_torques(task, "bias_forces")


def _write_torques(task: _Task[S], name: str) -> None:
    (tau,) = task.results("inverse_dynamics").values()
    felt = _sum(tau, task.drives)
    with task.b.step("tangent space"):
        tau = task.named(name, felt, "MF-6")
    task.b.output(name, (task.n,), tau)
    task.finish()


def _coriolis_matrix(task: _Task[S]) -> None:
    """MF-5"""
    task.call("coriolis_matrix", task.state.qdd)
    (C,) = task.results("coriolis_matrix").values()
    with task.b.variant("_mass"):
        task.call("mass_matrix", task.state.qdd)
    (M,) = task.results("mass_matrix").values()
    rows, masses = _rows(C, task.n), _rows(M, task.n)
    for one in task.tangents:
        D = one.weighted(task.w(one))
        for row, mass in zip(rows, masses, strict=True):
            moved = one.transposed(D, [mass[i] for i in one.at])
            for k, x in zip(one.at, moved, strict=True):
                row[k] = row[k] - x
    with task.b.step("tangent space"):
        entries = task.named("C", [x for row in rows for x in row], "MF-5")
    task.b.output("coriolis_matrix", (task.n, task.n), entries)
    task.finish()


def _torque_parts(task: _Task[S]) -> None:
    """M w' apart from -M N, which are products of different velocities: Coriolis torques."""
    task.call("torque_parts", task.state.qdd)
    parts = task.results("torque_parts")
    less = [task.zero] * task.n
    for k, x in task.N.items():
        less[k] = -x
    with task.b.variant("_own"):
        task.call("torque_parts", less)
    own = task.results("torque_parts")
    inertial, coriolis, terms = "inertial_torques", "coriolis_torques", "joint_term_torques"
    parts[coriolis] = _sum(parts[coriolis], own[inertial])
    none = (task.zero,) * task.n
    rotors = drives(task._mine, task.b, replace(task._rates, qd=none))
    losses = drives(task._mine, task.b, replace(task._rates, qdd=none))
    parts[inertial] = _sum(parts[inertial], rotors)
    parts[terms] = _sum(parts[terms], losses)
    with task.b.step("tangent space"):
        for name in (inertial, coriolis, terms):
            parts[name] = task.named(name, parts[name], "MF-4")
    for name, entries in parts.items():
        task.b.output(name, (task.n,), entries)
    task.finish()


def _inverse_dynamics_derivatives(task: _Task[S]) -> None:
    task.call("inverse_dynamics_derivatives", task.accelerations)
    found = task.results("inverse_dynamics_derivatives")
    tau = _sum(found.pop("tau"), [task.zero] * task.n)
    matrices = [_rows(entries, task.n) for entries in found.values()]
    for row in zip(*matrices, strict=True):
        task.in_tangent_space(list(row), task.accelerations)
    for one in task.tangents:
        felt = [tau[i] for i in one.at]
        for k, place in enumerate(one.at):
            for i, x in zip(one.at, one.transposed(one.D[k], felt), strict=True):
                matrices[0][i][place] = matrices[0][i][place] - x
    slopes = task.drive_slopes
    for k in range(task.n):
        matrices[1][k][k] = matrices[1][k][k] + slopes["qd"][k]
        matrices[2][k][k] = matrices[2][k][k] + slopes["qdd"][k]
    felt = _sum(tau, task.drives)
    with task.b.step("tangent space"):
        task.b.output("tau", (task.n,), task.named("tau", felt, "MF-6"))
        for name, matrix in zip(found, matrices, strict=True):
            entries = task.named(name, [x for row in matrix for x in row])
            task.b.output(name, (task.n, task.n), entries)
    task.finish()


# -- functions that solve


@dataclass(frozen=True)
class _Given(Generic[S]):
    """What the chain is given where accelerations of some joints are sought.

    `free` says of each joint on a manifold, by the place of its first coordinate, whether its
    accelerations are; `tau` and `qdd` have an entry for every coordinate.
    """

    free: dict[int, bool]
    qdd: tuple[S, ...]
    tau: tuple[S, ...]


def _given(task: _Task[S], hybrid: bool) -> _Given[S]:
    """W^T (tau - I N - losses) at e = 0, and w' - N where that is given."""
    coordinates = task.tree.independent
    free = {
        one.at[0]: not (hybrid and coordinates[one.at[0]].prescribed) for one in task.tangents
    }
    none = (task.zero,) * task.n
    losses, N = drives(task._mine, task.b, replace(task._rates, qdd=none)), task.N
    qdd, tau = list(task.state.qdd), list(task.state.tau)
    for one in task.tangents:
        with task.b.step("tangent space", one.joint.name):
            for k in one.at:
                rotor = reflected_inertia(coordinates[k])
                if free[one.at[0]]:
                    value = tau[k] - losses[k] - rotor * N[k]
                    tau[k] = task.b.let(f"tau_{task.name(k)}", value, "MF-6")
                else:
                    value = qdd[k] - N[k]
                    qdd[k] = task.b.let(f"qdd_{task.name(k)}", value, "MF-3")
    return _Given(free, tuple(qdd), tuple(tau))


def _solve(task: _Task[S], hybrid: bool) -> tuple[_Given[S], dict[str, list[S]], list[Output[S]]]:
    given = _given(task, hybrid)
    task.call(task.function, given.qdd, given.tau, rotors=True)
    hidden = [task.b.withdraw(array.name) for array in function_named(task.function).hidden]
    return given, task.results(task.function), hidden


def _found(task: _Task[S], given: _Given[S], entries: Sequence[S]) -> list[S]:
    """w' = e'' + N of free joints; torques with what drives add of prescribed ones."""
    found = list(entries)
    for one in task.tangents:
        for k in one.at:
            free = given.free[one.at[0]]
            found[k] = found[k] + (task.N[k] if free else _losses_of(task, k))
    return found


def _losses_of(task: _Task[S], k: int) -> S:
    """Losses of a prescribed joint, and its rotors less those that are in the chain."""
    rotor = reflected_inertia(task.tree.independent[k])
    none = (task.zero,) * task.n
    losses = drives(task._mine, task.b, replace(task._rates, qdd=none))
    return losses[k] + rotor * task.N[k]


def _accelerations(task: _Task[S], hybrid: bool) -> None:
    given, results, hidden = _solve(task, hybrid)
    ((name, entries),) = results.items()
    found = _found(task, given, entries)
    with task.b.step("tangent space"):
        entries = task.named(name, found, "MF-3")
    task.b.output(name, (task.n,), entries)
    _finish_solution(task, hidden)


def _finish_solution(task: _Task[S], hidden: Sequence[Output[S]]) -> None:
    for output in hidden:
        task.b.output(output.name, output.shape, output.entries)
    if task.values:
        task.b.substitute(task.values)


def _acceleration_derivatives(task: _Task[S], hybrid: bool) -> None:
    """MF-4 with torques given of free joints, accelerations of prescribed ones."""
    given, results, hidden = _solve(task, hybrid)
    (first, entries), *others = results.items()
    matrices = [_rows(matrix, task.n) for _, matrix in others]
    qdd = tuple(
        entries[k] if given.free.get(_first(task, k), True) else given.qdd[k]
        for k in range(task.n)
    )
    slopes = task.drive_slopes
    torques = {
        one.at[0]: _torque_slopes(task, one, given, qdd, slopes["qd"])
        for one in task.tangents if given.free[one.at[0]]
    }  # fmt: skip
    for row in zip(*matrices, strict=True):
        task.in_tangent_space(list(row), qdd, torques)
    for one in task.tangents:
        w = task.w(one)
        bent, steep = one.rates_by_place(w), one.rates_by_velocity(w)
        for k, place in enumerate(one.at):
            if given.free[one.at[0]]:
                more = _sum(one.times(one.D[k], [qdd[i] for i in one.at]), bent[k])
                rate = steep[k]
            else:
                felt = [entries[i] for i in one.at]
                more = [-x for x in one.transposed(one.D[k], felt)]
                rotors = [reflected_inertia(task.tree.independent[i]) for i in one.at]
                rate = [I * x for I, x in zip(rotors, steep[k], strict=True)]
                rate[k] = rate[k] + slopes["qd"][place]
                more = _sum(more, _rotor_slopes(one, rotors, [qdd[i] for i in one.at], k))
                more = _sum(more, [I * x for I, x in zip(rotors, bent[k], strict=True)])
            for i, x, y in zip(one.at, more, rate, strict=True):
                matrices[0][i][place] = matrices[0][i][place] + x
                matrices[1][i][place] = matrices[1][i][place] + y
    found = _found(task, given, entries)
    with task.b.step("tangent space"):
        values = task.named(first, found, "MF-3")
        task.b.output(first, (task.n,), values)
        for (name, _), matrix in zip(others, matrices, strict=True):
            rows = task.named(name, [x for row in matrix for x in row])
            task.b.output(name, (task.n, task.n), rows)
    _finish_solution(task, hidden)


def _first(task: _Task[S], coordinate: int) -> int:
    """The first coordinate of the joint on a manifold that has this one, or -1."""
    return next((one.at[0] for one in task.tangents if coordinate in one.at), -1)


def _rotor_slopes(one: Tangent[S], rotors: Sequence[S], qdd: Sequence[S], k: int) -> Row[S]:
    """(D_k^T I + I D_k) e''"""
    moved = [I * x for I, x in zip(rotors, one.times(one.D[k], qdd), strict=True)]
    heavy = [I * x for I, x in zip(rotors, qdd, strict=True)]
    return _sum(one.transposed(one.D[k], heavy), moved)


def _torque_slopes(
    task: _Task[S], one: Tangent[S], given: _Given[S], qdd: Sequence[S], losses: Sequence[S]
) -> tuple[list[Row[S]], list[Row[S]]]:
    """How the torque that the chain is given changes with the places and velocities of a joint."""
    w, tau, e = task.w(one), [given.tau[i] for i in one.at], [qdd[i] for i in one.at]
    rotors = [reflected_inertia(task.tree.independent[i]) for i in one.at]
    bent, steep = one.rates_by_place(w), one.rates_by_velocity(w)
    by_place: list[Row[S]] = []
    by_velocity: list[Row[S]] = []
    for k, place in enumerate(one.at):
        less = _sum(
            [I * x for I, x in zip(rotors, bent[k], strict=True)],
            _rotor_slopes(one, rotors, e, k),
        )
        felt = one.transposed(one.D[k], tau)
        by_place.append([x - y for x, y in zip(felt, less, strict=True)])
        moved = [-(I * x) for I, x in zip(rotors, steep[k], strict=True)]
        moved[k] = moved[k] - losses[place]
        by_velocity.append(moved)
    return by_place, by_velocity


def _parameter_derivatives(task: _Task[S], hybrid: bool) -> None:
    given = _given(task, hybrid)
    task.call(task.function, given.qdd, given.tau, rotors=True)
    if task.values:
        task.b.substitute(task.values)


_OTHERS: Mapping[str, Callable[[_Task[Any]], None]] = {
    "inverse_dynamics": _inverse_dynamics,
    "bias_forces": _bias_forces,
    "coriolis_matrix": _coriolis_matrix,
    "torque_parts": _torque_parts,
    "inverse_dynamics_derivatives": _inverse_dynamics_derivatives,
    "forward_dynamics": lambda task: _accelerations(task, hybrid=False),
    "hybrid_dynamics": lambda task: _accelerations(task, hybrid=True),
    "forward_dynamics_derivatives": lambda task: _acceleration_derivatives(task, hybrid=False),
    "hybrid_dynamics_derivatives": lambda task: _acceleration_derivatives(task, hybrid=True),
    "forward_dynamics_parameter_derivatives": lambda task: _parameter_derivatives(task, False),
    "hybrid_dynamics_parameter_derivatives": lambda task: _parameter_derivatives(task, True),
}


def _differentiates(function: str) -> bool:
    """Whether a formulation may differentiate by the coordinates of the chain."""
    return function.endswith("derivatives")


# --------------------------------------------------------------------------------- small algebra


def _dot(x: Sequence[S], y: Sequence[S], zero: S) -> S:
    found = zero
    for one, other in zip(x, y, strict=True):
        found = found + one * other
    return found


def _sum(x: Sequence[S], y: Sequence[S]) -> Row[S]:
    return [one + other for one, other in zip(x, y, strict=True)]


def _rows(entries: Sequence[S], width: int) -> list[Row[S]]:
    return [list(entries[start : start + width]) for start in range(0, len(entries), width)]


def _kept(
    tree: KinematicTree[S], entries: Sequence[S], shape: Sequence[int], axis: int, width: int
) -> list[S]:
    """The entries of an array without those of the inner columns of joints along an axis."""
    below, above = prod(shape[axis + 1 :]), prod(shape[:axis])
    kept = [width * (number - 1) + k for number, k in product(tree.link_sides, range(width))]
    return [
        entries[(i * shape[axis] + k) * below + j]
        for i, k, j in product(range(above), kept, range(below))
    ]
