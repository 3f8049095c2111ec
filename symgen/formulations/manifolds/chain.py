"""Chain of a tree with joints on manifolds, on which a formulation is called instead of the tree.

Floating bases.  Torques and relative accelerations are the same wherever a free body is and
whichever way it faces, but for gravity g and loads, which turn against it; and the same at every
constant velocity of translation v, which enters by the acceleration of the body's origin, v' + w x
v, alone (Galilei). So the chain is given v = 0, and N, which holds w x v, says the rest.  In the
tangent space, a_k and t_c being the columns of the motion subspace that turn and that slide, g_b =
R^T g,

    dtau/dp = 0,    dtau/dtheta_k = -sum_c M[:, c] t_c . (g_b x a_k) + loads that turn by -R a_k,
    dtau/dv_k = sum_c M[:, c] dN_c/dv_k of the linear columns,

and where accelerations are sought the body falls with gravity, whatever hangs on it: g_b x a_k is
the derivative of its own acceleration, and all others have none.
Gravity and loads turn against the base, in its axes (MF-8).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Transform, zero_vector
from symgen.formulations.joint_terms import (
    drive_derivatives,
    drives,
    reflected_inertia,
    without_joint_terms,
)
from symgen.formulations.manifolds.bending import smooth_entries
from symgen.formulations.manifolds.tangent import (
    Row,
    Stretch,
    Tangent,
    is_sprung,
    plus,
    tangent,
    times,
)
from symgen.formulations.state import State, Wrench
from symgen.kinematics.joint import Joint, Terms
from symgen.kinematics.tree import BASE, KinematicTree, Manifold
from symgen.program.arguments import Argument
from symgen.program.builder import ProgramBuilder, Results
from symgen.program.functions import function_named
from symgen.program.program import Input

Write = Callable[[KinematicTree[Any], ProgramBuilder[Any], State[Any], str], Results[Any]]
"""Writes a function, called by its name, of a chain."""


@dataclass
class Chain(Generic[S]):
    """One function as it is written: `state` has nq entries in q and n elsewhere, as the inputs.

    `written` writes functions of the chain, whose q has an entry for every coordinate.  With
    `is_smooth` the statements can be differentiated more than once.
    """

    tree: KinematicTree[S]
    b: ProgramBuilder[S]
    state: State[S]
    written: Write
    function: str
    is_smooth: bool = False
    values: dict[S, S] = field(default_factory=dict)
    """Values of the symbols of the chain."""

    def __post_init__(self) -> None:
        self.n = len(self.tree.independent)
        self.zero = self.b.algebra.zero
        self.joints = [tangent(self.tree, x, self.state.qd) for x in self.tree.manifolds]
        hybrid = function_named(self.function).is_hybrid
        self.bases = floating_bases(self.tree, self.joints, hybrid)
        if self.function.endswith("hessian"):  # which takes all first derivatives
            self.bases = []
        self.posed = self._posed()

    def _posed(self) -> KinematicTree[S]:
        """MF-1: the tree with the poses that q gives, and chains behind them."""
        joints = list(self.tree.joints)
        for manifold in self.tree.manifolds:
            pose = manifold.pose(self.state.q, self.b.algebra)
            with self.b.step("configuration", manifold.name):
                R = self.b.let(f"R_{manifold.name}", pose.rotation, "MF-1")
                p = self.b.let(f"p_{manifold.name}", pose.translation, "MF-1")
            k = manifold.columns[0] - 1
            at = joints[k].placement
            placement = at.tree @ Transform(R, p)
            joints[k] = replace(joints[k], placement=replace(at, tree=placement))
        return replace(self.tree, joints=tuple(joints))

    def placement(self, joint: Manifold[S]) -> Transform[S]:
        """Pose of a joint's link in that which carries it."""
        return self.posed.joint(joint.columns[0]).placement.tree

    def name(self, coordinate: int) -> str:
        """Return the name of a coordinate, counted from 0, in the model."""
        return self.tree.independent[coordinate].name

    # ------------------------------------------------------------------------ accelerations

    @cached_property
    def N(self) -> list[S]:
        """MF-2 by coordinate; 0 for those that are on no manifold."""
        entries = [self.zero] * self.n
        for space in self.joints:
            with self.b.step("tangent space", space.joint.name):
                for k, entry in zip(space.at, space.N, strict=True):
                    entries[k] = self.b.let(f"N_{self.name(k)}", entry, "MF-2")
        return entries

    @cached_property
    def accelerations(self) -> tuple[S, ...]:
        """MF-3: of all coordinates of the chain, where those of the joints are in the state."""
        qdd, N = list(self.state.qdd), self.N
        for space in self.joints:
            with self.b.step("tangent space", space.joint.name):
                for k in space.at:
                    qdd[k] = self.b.let(f"qdd_{self.name(k)}", qdd[k] - N[k], "MF-3")
        return tuple(qdd)

    # --------------------------------------------------------------------- calling the chain

    def call(
        self,
        function: str,
        qdd: Sequence[S],
        tau: Sequence[S] = (),
        rotors: bool = False,
        bearings: bool = False,
        springs: bool = False,
    ) -> dict[str, Sequence[S]]:
        """Write a function of the chain at these accelerations, or torques; return its results.

        Coordinates on manifolds, and what they are given here, are symbols until `finish`, so that
        the chain can differentiate by them.  Joints on manifolds have no rotors unless they are
        asked for, nor `springs`, for their energy; with `bearings` the chain has all of MF-6, so
        that it can differentiate that by parameters.
        """
        arguments = {"q": self._places(), "qdd": qdd, "tau": tau or self.state.tau}
        bases = self.bases if function in INVARIANT else []
        unfelt = {k for base in bases for k in base.places}
        arrays = {name: self._array(name, entries, unfelt) for name, entries in arguments.items()}
        arrays["x"] = self._mixed(arrays["qdd"], arrays["tau"])
        q, qdd, tau = (arrays[name].symbols for name in ("q", "qdd", "tau"))
        inner = replace(self.state, q=q, qd=self._without_sliding(bases), qdd=qdd, tau=tau)
        tree = self._loaded() if bearings else self._stripped(rotors, springs)
        with self.b.taking(arrays.values()):
            return dict(self.written(tree, self.b, inner, function))

    def posed_state(self) -> tuple[State[S], KinematicTree[S]]:
        """Return the state of the chain, and the chain, for steps that differentiate by nothing."""
        qd, qdd = self._without_sliding(self.bases), self.accelerations if self.state.qdd else ()
        inner = replace(self.state, q=tuple(self._places()), qd=qd, qdd=qdd)
        return inner, self._stripped(rotors=False)

    def _without_sliding(self, bases: Sequence[FloatingBase[S]]) -> tuple[S, ...]:
        """Return the velocities, 0 where floating bases slide."""
        sliding = {k for base in bases for k in base.sliding}
        return tuple(self.zero if k in sliding else x for k, x in enumerate(self.state.qd))

    def of_loads_alone(self, function: str, loads: tuple[Wrench[S], ...]) -> Row[S]:
        """The first result of a function of the chain for a robot that nothing but `loads` acts on.

        It is at rest where q says, without gravity and springs, and what is given besides is 0.
        """
        joints = [
            replace(joint, terms=self._heavier(joint, replace(joint.terms, stiffness=self.zero)))
            for joint in self.posed.joints
        ]
        none = zero_vector(self.tree.algebra)
        tree = replace(self.posed, gravity=none, joints=tuple(joints))
        still = (self.zero,) * self.n
        places = tuple(self._places())
        rest = replace(self.state, q=places, qd=still, qdd=still, tau=still, loads=loads)
        entries, *_ = self.written(tree, self.b, rest, function).values()
        return list(entries)

    def _places(self) -> Row[S]:
        """Coordinates of the chain: 0 on manifolds."""
        q = self.state.q
        return [self.zero if place is None else q[place] for place in self.tree.q_indices]

    def _array(self, name: str, entries: Sequence[S], unfelt: Collection[int]) -> Input[S]:
        """An input of the chain: symbols for what is not one of ours, but for structural zeros.

        Places are 0 and no symbols where nothing can be differentiated by them, or need be.
        """
        symbols, names = list(entries), [f"{name}_{k}" for k in range(1, len(entries) + 1)]
        by_place = self.function.endswith(("derivatives", "hessian"))
        for k in (k for space in self.joints for k in space.at):
            is_symbol = by_place and k not in unfelt
            if not entries or (
                not is_symbol if name == "q" else self.b.algebra.is_zero(entries[k])
            ):
                continue
            label = f"{name}_of_{self.name(k)}"
            array = self.b.auxiliary(label, (1,), [label])
            (symbols[k],), (names[k],) = array.symbols, array.symbol_names
            self.values[symbols[k]] = entries[k]
        return Input(name, (len(symbols),), tuple(symbols), tuple(names))

    def _mixed(self, qdd: Input[S], tau: Input[S]) -> Input[S]:
        """Return the given quantity of every coordinate in hybrid dynamics."""
        if not tau.symbols:
            return tau
        sides = [qdd if joint.prescribed else tau for joint in self.tree.independent]
        symbols = tuple(side.symbols[k] for k, side in enumerate(sides))
        names = tuple(side.symbol_names[k] for k, side in enumerate(sides))
        return Input("x", (self.n,), symbols, names)

    def _stripped(self, rotors: bool, springs: bool = False) -> KinematicTree[S]:
        """The posed tree, whose joints on manifolds add nothing, or their rotors and springs alone,
        but for added mass, which the chain moves as it does the bodies.

        At e = 0 a spring with rest at -x has the energy k x^2 / 2 and the torque k x.
        """
        numbers = {number for joint in self.tree.manifolds for number in joint.columns}
        joints = list(self.posed.joints)
        for bare in without_joint_terms(self.posed).joints:
            if bare.number in numbers:
                kept = joints[bare.number - 1].terms.rotor_inertia
                terms = replace(bare.terms, rotor_inertia=kept) if rotors else bare.terms
                if springs:
                    stretch = self.stretch[self.tree.coordinate_numbers[bare.number - 1] - 1]
                    stiffness = joints[bare.number - 1].terms.stiffness
                    terms = replace(terms, stiffness=stiffness, rest=-stretch)
                joints[bare.number - 1] = replace(bare, terms=self._heavier(bare, terms))
        return replace(self.posed, joints=tuple(joints))

    def _loaded(self) -> KinematicTree[S]:
        """Return the posed tree with all terms of joints on manifolds.

        Its rotors have e'' instead of w' = e'' + N; a spring I with rest at -N adds I N at e = 0,
        and one of stiffness 1 with rest at -(I N + k x) the torque of its spring, too.
        """
        joints = list(self.posed.joints)
        for k in (k for space in self.joints for k in space.at):
            number = self.tree.independent[k].number
            joint = joints[number - 1]
            rotor, spring = reflected_inertia(joint), joint.terms.stiffness * self.stretch[k]
            terms = replace(joint.terms, stiffness=rotor, rest=-self.N[k])
            if not self.tree.algebra.is_zero(spring):
                space = self.tree.algebra.one
                terms = replace(joint.terms, stiffness=space, rest=-(rotor * self.N[k] + spring))
            joints[number - 1] = replace(joint, terms=self._heavier(joint, terms))
        return replace(self.posed, joints=tuple(joints))

    def _heavier(self, column: Joint[S], terms: Terms[S]) -> Terms[S]:
        """`terms` with the added mass of the joint as a rotor of the columns that slide.

        Those stand ahead of the columns that turn, so that their rotors, being equal, have the
        energy of a mass at the origin of the link wherever the chain is.
        """
        masses = {k: x.added_mass for x in self.tree.manifolds for k in x.sliding}
        if self.tree.algebra.is_zero(masses.get(column.number, self.zero)):
            return terms
        rotor = reflected_inertia(replace(column, terms=terms)) + masses[column.number]
        return replace(terms, rotor_inertia=rotor, gear_ratio=self.tree.algebra.one)

    # -------------------------------------------------------------------------------- results

    def named(self, name: str, entries: Sequence[S], note: str) -> list[S]:
        """Name the entries of a result."""
        with self.b.step("tangent space"):
            return [self.b.let(f"{name}_{k}", x, note) for k, x in enumerate(entries, start=1)]

    def finish(self, results: Results[S]) -> Results[S]:
        """Put in what symbols stand for; leave one wrench and one body for each joint."""
        results = self.b.substitute(self.values, results)
        spec = function_named(self.function)
        arrays = (*spec.results, *spec.hidden)
        return {array.name: _of_joints(self.tree, array, results[array.name]) for array in arrays}

    # ---------------------------------------------------------------- joint terms on manifolds

    @cached_property
    def drives(self) -> list[S]:
        """MF-6 by coordinate: rotors, damping, friction, springs on manifolds, else 0."""
        return plus(drives(self.with_terms, self.b, self.rates), self.springs)

    @cached_property
    def losses(self) -> list[S]:
        """MF-6: the same without rotors."""
        still = replace(self.rates, qdd=(self.zero,) * self.n)
        return plus(drives(self.with_terms, self.b, still), self.springs)

    @cached_property
    def stretch(self) -> list[S]:
        """x of springs by coordinate; 0 where there are none."""
        torques = [self.zero] * self.n
        for space in self.joints:
            if is_sprung(self.tree, space.joint):
                stretch = Stretch.of(space.joint, self.state.q, self.b.algebra)
                x = smooth_entries(stretch) if self.is_smooth else stretch.entries
                for k, entry in zip(space.at, x, strict=True):
                    torques[k] = entry
        return torques

    @cached_property
    def springs(self) -> list[S]:
        """MF-9 by coordinate: k x."""
        torques = [self.zero] * self.n
        for space in self.joints:
            with self.b.step("joint terms", space.joint.name):
                for k in space.at:
                    torque = self.tree.independent[k].terms.stiffness * self.stretch[k]
                    torques[k] = self.b.let(f"spring_{self.name(k)}", torque, "MF-9")
        return torques

    def spring_slopes(self, space: Tangent[S]) -> list[Row[S]]:
        """MF-9, [k]: derivative of the joint's springs by its place k, by column."""
        if not is_sprung(self.tree, space.joint):
            return [[self.zero] * len(space.at) for _ in space.at]
        stiffness = [self.tree.independent[k].terms.stiffness for k in space.at]
        slopes = Stretch.of(space.joint, self.state.q, self.b.algebra).slopes
        with self.b.step("joint terms", space.joint.name):
            return [
                [
                    self.b.let(f"d_spring_{self.name(i)}_d{self.name(place)}", x, "MF-9")
                    for i, x in zip(space.at, times(stiffness, row), strict=True)
                ]
                for place, row in zip(space.at, slopes, strict=True)
            ]

    @cached_property
    def drive_slopes(self) -> dict[str, list[S]]:
        """MF-6: derivatives of `drives` by "qd" and "qdd"."""
        return drive_derivatives(self.with_terms, self.b, self.rates)

    @property
    def with_terms(self) -> KinematicTree[S]:
        """The coordinates as joints, with joint terms on manifolds alone."""
        ours = {k for space in self.joints for k in space.at}
        bare = without_joint_terms(self.tree)
        joints = [
            replace((self.tree if k in ours else bare).joint(joint.number), number=k + 1)
            for k, joint in enumerate(self.tree.independent)
        ]
        return replace(self.tree, joints=tuple(joints))

    @property
    def rates(self) -> State[S]:
        """The velocities and accelerations of the joints, and multipliers, at q = 0."""
        none = (self.zero,) * self.n
        return replace(self.state, q=none, loads=(), tau=())


def _of_joints(tree: KinematicTree[S], array: Argument, entries: Sequence[S]) -> Sequence[S]:
    """Return the entries of a result, without those of the inner columns of joints."""
    widths = {"n_joints": 1, "10 n_joints": 10}
    shape = array.sizes({**tree.sizes, **{size: x * tree.n for size, x in widths.items()}})
    for axis, size in enumerate(array.shape):
        if size in widths:
            width, below, above = widths[size], prod(shape[axis + 1 :]), prod(shape[:axis])
            kept = [width * (k - 1) + i for k, i in product(tree.link_sides, range(width))]
            places = product(range(above), kept, range(below))
            entries = [entries[(i * shape[axis] + k) * below + j] for i, k, j in places]
    return entries


INVARIANT = (
    "inverse_dynamics", "inverse_dynamics_derivatives", "forward_dynamics",
    "forward_dynamics_derivatives", "hybrid_dynamics", "hybrid_dynamics_derivatives",
)  # fmt: skip
"""Functions of the chain that are torques or accelerations, and derivatives by the state."""


@dataclass(frozen=True)
class FloatingBase(Generic[S]):
    """A free body of the base: which of its columns slide, and which turn, among its own."""

    tangent: Tangent[S]
    linear: tuple[int, ...]
    angular: tuple[int, ...]

    @property
    def places(self) -> tuple[int, ...]:
        """Indices of its coordinates among all."""
        return self.tangent.at

    @property
    def sliding(self) -> tuple[int, ...]:
        """Indices of its velocities of translation among all."""
        return tuple(self.tangent.at[c] for c in self.linear)


def floating_bases(
    tree: KinematicTree[S], joints: Sequence[Tangent[S]], hybrid: bool
) -> list[FloatingBase[S]]:
    """Return the free bodies of the base without rotors, added mass and springs.

    In hybrid dynamics they are not prescribed, either.
    """
    bases = []
    for space in joints:
        columns = [tree.joint(number) for number in space.joint.columns]
        linear = tuple(
            k for k, x in enumerate(space.columns) if all(map(tree.algebra.is_zero, x.w))
        )
        free = len(linear) == 3 and len(columns) == 6 and columns[0].parent == BASE
        rotors = not all(tree.algebra.is_zero(joint.terms.rotor_inertia) for joint in columns)
        massive = not tree.algebra.is_zero(space.joint.added_mass)
        bound = rotors or massive or is_sprung(tree, space.joint)
        if free and not bound and not (hybrid and columns[0].prescribed):
            angular = tuple(k for k in space.size if k not in linear)
            bases.append(FloatingBase(space, linear, angular))
    return bases


def without_sliding(bases: Sequence[FloatingBase[S]], by_qd: Sequence[Row[S]]) -> None:
    """The chain's derivatives by constant velocities of translation, which are 0, in place."""
    for base in bases:
        for row in by_qd:
            for k in base.sliding:
                row[k] = base.tangent.zero


def turned_gravity(chain: Chain[S], base: FloatingBase[S], k: int) -> dict[int, S]:
    """t_c . (g_b x a_k) by the index of each linear column c."""
    tangent, b = base.tangent, chain.b
    with b.step("tangent space", tangent.joint.name):
        placement = chain.placement(tangent.joint).rotation
        g = b.let(f"g_{tangent.joint.name}", placement.transposed.apply(chain.tree.gravity), "MF-8")
    turned = g.cross(tangent.columns[k].w)
    return {tangent.at[c]: tangent.columns[c].v.dot(turned) for c in base.linear}


def of_turned_loads(chain: Chain[S], base: FloatingBase[S], k: int, function: str) -> Row[S] | None:
    """Return the part of loads in the derivative of a function by theta_k; None where none rides on
    the base.

    It is that function of a robot without weight or motion, loaded by -R a_k x f and -R a_k x n.
    """
    tangent, b = base.tangent, chain.b
    body = tangent.joint.columns[-1]
    riding = [body in chain.tree.path(load.body) for load in chain.tree.loads]
    if not any(riding):
        return None
    axis = chain.placement(tangent.joint).rotation.apply(tangent.columns[k].w)
    none = Wrench(zero_vector(chain.tree.algebra), zero_vector(chain.tree.algebra))
    name = chain.name(tangent.at[k])
    loads = []
    with b.variant(f"_{name}", "loads that turn"), b.step("tangent space", tangent.joint.name):
        for number, (load, rides) in enumerate(zip(chain.state.loads, riding, strict=True)):
            turned = Wrench(load.force.cross(axis), load.moment.cross(axis))
            force = b.let(f"turned_f_{number}", turned.force, "MF-8")
            moment = b.let(f"turned_n_{number}", turned.moment, "MF-8")
            loads.append(Wrench(force, moment) if rides else none)
    with b.variant(f"_{name}", "loads that turn"):
        return chain.of_loads_alone(function, tuple(loads))
