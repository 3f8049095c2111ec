"""The outputs that a model asks for: expressions over quantities that a formulation supplies.

A formulation receives what the expressions mention (`Mentioned`) and derives that and no more, by
its own recursion (`Supplied`); the expressions are written here, once for all families, over
whatever the family named.  Derivatives are those of the whole program, statement by statement or,
where that takes fewer operations, from every output back to the arguments; they hold for every
expression, and what is 0 by structure stays 0.

Time, torques, accelerations, loads and multipliers of constraints are arguments, independent of
each other.

==================  =====================================================================
OUT-1               output_<name>: the expression of the model file
==================  =====================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector
from symgen.description.quantities import (
    AXES,
    CENTER_OF_MASS,
    KINETIC_ENERGY,
    LOADS,
    MULTIPLIERS,
    POINT_PARTS,
    POINTS,
    POTENTIAL_ENERGY,
    RATES,
    TIME,
    TYRES,
    WRENCH_PARTS,
    WRENCHES,
    quantity,
)
from symgen.formulations.forces.generalized import stored, transmitted
from symgen.formulations.forces.laws import Laws, write_laws
from symgen.formulations.state import State
from symgen.kinematics.bodies import BodyPoint
from symgen.kinematics.scalars import scalar, with_definitions
from symgen.kinematics.tree import KinematicTree
from symgen.program.arguments import MOTION_MULTIPLIERS
from symgen.program.builder import ProgramBuilder, Results

NOTES = {"OUT-1": "the expression of the output in the model file"}

_ORDERS = {"x": 0, "v": 1, "a": 2}


@dataclass(frozen=True)
class Mentioned(Generic[S]):
    """Quantities that the outputs of a tree mention, apart from the arguments.

    `points` with the highest derivative by time that is mentioned of any of them: 0 for positions,
    1 for velocities, 2 for accelerations; `wrenches` are numbers of joints.
    """

    points: tuple[BodyPoint[S], ...]
    order: int
    wrenches: tuple[int, ...]
    kinetic_energy: bool
    potential_energy: bool
    center_of_mass: bool
    tyres: bool


@dataclass(frozen=True)
class Supplied(Generic[S]):
    """Quantities that a formulation derives for outputs.

    `points` maps a name to position, velocity and acceleration in base axes, `wrenches` the number
    of a joint to ``[fx fy fz nx ny nz]`` as in `joint_wrenches`.  Quantities that are not mentioned
    may be left out, or 0.
    """

    points: Mapping[str, tuple[Vector[S], Vector[S], Vector[S]]] = field(default_factory=dict)
    wrenches: Mapping[int, tuple[S, ...]] = field(default_factory=dict)
    kinetic_energy: S | None = None
    potential_energy: S | None = None
    center_of_mass: Vector[S] | None = None


Supply = Callable[
    [KinematicTree[Any], ProgramBuilder[Any], State[Any], Mentioned[Any]], Supplied[Any]
]
"""Writes the steps that the quantities take, and returns them."""


def write_outputs(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply
) -> Results[S]:
    """OUT-1, (n_outputs,)"""
    wanted = mentioned(tree)
    supplied = supply(tree, b, state, wanted)
    quantities = dict(tree.definitions)
    if tree.forces and (wanted.wrenches or wanted.potential_energy or wanted.tyres):
        laws = write_laws(tree, b, state)
        supplied = _with_forces(b, laws, supplied)
        for law in laws:
            for action in law.actions:
                quantities.update(action.components)
    quantities.update(_arguments(tree, b, state))
    quantities.update(_names_of(tree, supplied))
    algebra = with_definitions(b.algebra, quantities)
    entries: list[S] = []
    for output in tree.outputs:
        with b.step("outputs", output.name):
            value = scalar(output.expression, algebra)
            entries.append(b.let(f"output_{output.name}", value, "OUT-1"))
    return {"outputs": entries}


def _with_forces(b: ProgramBuilder[S], laws: Laws[S], supplied: Supplied[S]) -> Supplied[S]:
    """Add the quantities of the model's forces to those supplied."""
    added = transmitted(b, laws).values if supplied.wrenches else {}
    wrenches = {
        j: tuple(x + y for x, y in zip(wrench, added[j], strict=True)) if j in added else wrench
        for j, wrench in supplied.wrenches.items()
    }
    energy = supplied.potential_energy
    if energy is not None:
        energy = energy + stored(b, laws)
    return replace(supplied, wrenches=wrenches, potential_energy=energy)


def mentioned(tree: KinematicTree[S]) -> Mentioned[S]:
    """Return the quantities that the outputs of `tree` mention."""
    names = dict.fromkeys(name for output in tree.outputs for name in output.expression.names)
    words = [tuple(name.split(".")) for name in names]
    points = {name for _, name, *_ in _of(words, POINTS)}
    wrenches = {name for _, name, *_ in _of(words, WRENCHES)}
    parts = [part for _, _, part in _of(words, POINTS)]
    return Mentioned(
        points=tuple(point for point in tree.points if point.name in points),
        order=max((_ORDERS[_kind(part)] for part in parts), default=0),
        wrenches=tuple(joint.number for joint in tree.joints if joint.name in wrenches),
        kinetic_energy=KINETIC_ENERGY in names,
        potential_energy=POTENTIAL_ENERGY in names,
        center_of_mass=any(True for _ in _of(words, CENTER_OF_MASS)),
        tyres=any(True for _ in _of(words, TYRES)),
    )


def _of(words: Iterable[tuple[str, ...]], family: str) -> Iterator[tuple[str, ...]]:
    """The names with dots, split, of one family."""
    return (name for name in words if name[0] == family and len(name) > 1)


def _kind(part: str) -> str:
    """x, v or a for a component of a point's position, velocity or acceleration."""
    return part[0] if len(part) > 1 else "x"


def _arguments(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Iterator[tuple[str, S]]:
    """The arguments of the function by the names of quantities."""
    yield TIME, b.declared(TIME).symbols[0]
    for family, entries in zip(RATES, (state.q, state.qd, state.qdd, state.tau), strict=True):
        for joint, entry in zip(tree.joints, entries, strict=True):
            yield quantity(family, joint.name), entry
    for load, wrench in zip(tree.loads, state.loads, strict=True):
        for part, entry in zip(WRENCH_PARTS, (*wrench.force, *wrench.moment), strict=True):
            yield quantity(LOADS, load.name, part), entry
    if tree.tells_multipliers:
        symbols = b.declared(MOTION_MULTIPLIERS.name).symbols
        names = [quantity(x, name) for x in MULTIPLIERS for name in tree.constraint_names]
        yield from zip(names, symbols, strict=True)


def _names_of(tree: KinematicTree[S], supplied: Supplied[S]) -> Iterator[tuple[str, S]]:
    """Map the names of quantities to those that a formulation supplies."""
    for name, motion in supplied.points.items():
        entries = (entry for vector in motion for entry in vector)
        for part, entry in zip(POINT_PARTS, entries, strict=True):
            yield quantity(POINTS, name, part), entry
    for number, wrench in supplied.wrenches.items():
        for part, entry in zip(WRENCH_PARTS, wrench, strict=True):
            yield quantity(WRENCHES, tree.joint(number).name, part), entry
    if supplied.kinetic_energy is not None:
        yield KINETIC_ENERGY, supplied.kinetic_energy
    if supplied.potential_energy is not None:
        yield POTENTIAL_ENERGY, supplied.potential_energy
    if supplied.center_of_mass is not None:
        for part, entry in zip(AXES, supplied.center_of_mass, strict=True):
            yield quantity(CENTER_OF_MASS, part), entry
