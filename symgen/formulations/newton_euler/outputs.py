"""Quantities that the outputs of a model mention, by the recursion of `recursion.py`.

One sweep of frames and one of motions serve all quantities.  Only where accelerations of points and
wrenches are both mentioned the links are accelerated twice: points do so without gravity, and
wrenches with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector, zero_vector
from symgen.formulations.model_outputs import Mentioned, Supplied, write_outputs
from symgen.formulations.newton_euler.dynamics import wrench_step
from symgen.formulations.newton_euler.kinematics import (
    base_step,
    kinetic_energy_of,
    origin_velocity_sweep,
    point_step,
    poses_of,
    potential_energy_of,
)
from symgen.formulations.newton_euler.mass_center import mass_sweep
from symgen.formulations.newton_euler.recursion import (
    JointFrame,
    Motion,
    Twist,
    frames_sweep,
    load_sweep,
    motion_sweep,
    reaction_sweep,
)
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder


def supply(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], wanted: Mentioned[S]
) -> Supplied[S]:
    """Supply what the outputs mention: see `symgen.formulations.model_outputs`."""
    frames = frames_sweep(tree, b, state.q, _links(tree, wanted))
    heavy: dict[int, Motion[S]] = {}
    motions: dict[int, Motion[S]] = {}
    velocities: dict[int, Twist[S]] = {}
    if wanted.wrenches:
        heavy = motion_sweep(frames, b, state.qd, state.qdd, -tree.gravity)
    if wanted.order == 2:
        with b.variant("_of_points" if heavy else ""):
            motions = motion_sweep(frames, b, state.qd, state.qdd, zero_vector(b.algebra))
    if wanted.kinetic_energy or wanted.order > 0:
        velocities = origin_velocity_sweep(frames, b, state.qd, motions or heavy or None)
    poses = poses_of(tree, frames, b) if wanted.points or wanted.potential_energy else {}
    kinetic = potential = center = None
    if wanted.kinetic_energy:
        kinetic = kinetic_energy_of(tree, frames, velocities, b, state)
    if wanted.potential_energy:
        potential = potential_energy_of(tree, poses, b, state)
    if wanted.center_of_mass:
        center, _ = mass_sweep(tree, frames, b)
    points: dict[str, tuple[Vector[S], Vector[S], Vector[S]]] = {}
    for point in wanted.points:
        twist, motion = _at(point.body, velocities, motions, b)
        point_motion = point_step(point, poses[point.body], twist.v, motion, b, wanted.order)
        points[point.name] = base_step(point, poses[point.body], point_motion, b)
    wrenches = wrench_sweep(tree, frames, heavy, b, state, wanted.wrenches)
    return Supplied(points, wrenches, kinetic, potential, center)


def _links(tree: KinematicTree[S], wanted: Mentioned[S]) -> Sequence[int] | None:
    """Return the links that must be known; None: all."""
    all_links = wanted.kinetic_energy or wanted.potential_energy or wanted.center_of_mass
    return None if all_links or wanted.wrenches else [point.body for point in wanted.points]


def _at(
    link: int,
    velocities: Mapping[int, Twist[S]],
    motions: Mapping[int, Motion[S]],
    b: ProgramBuilder[S],
) -> tuple[Twist[S], Motion[S]]:
    """Velocity and motion of a link; what was not derived is 0, and no output needs it."""
    zero = zero_vector(b.algebra)
    twist = velocities.get(link, Twist(zero, zero))
    return twist, motions.get(link, Motion(twist.omega, zero, zero))


def wrench_sweep(
    tree: KinematicTree[S],
    frames: Sequence[JointFrame[S]],
    motions: dict[int, Motion[S]],
    b: ProgramBuilder[S],
    state: State[S],
    joints: Sequence[int],
) -> dict[int, tuple[S, ...]]:
    """NE-33: what `joints` transmit; `frames` and `motions` are those of all links, with weight."""
    if not joints:
        return {}
    loads = load_sweep(tree, frames, b, state.loads)
    beyond = {j for number in joints for j in tree.carried_by(number)}
    carried = [at for at in frames if at.joint.number in beyond]
    reactions = reaction_sweep(carried, motions, loads, b)
    return {j: wrench_step(frames[j - 1], state.q, reactions[j], b) for j in joints}


outputs = partial(write_outputs, supply=supply)
