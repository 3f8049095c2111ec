"""Quantities that the outputs of a model mention, by the recursion of `recursion.py`.

One sweep of frames and one of motions serve all quantities.  Only where accelerations of points and
wrenches are both mentioned the links are accelerated twice: points do so without gravity, and
wrenches with it.
"""

from __future__ import annotations

from functools import partial

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector, zero_vector
from symgen.formulations.model_outputs import Mentioned, Supplied, write_outputs
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
    Twist,
    frames_sweep,
    load_sweep,
    motion_sweep,
    reaction_sweep,
    wrench_step,
)
from symgen.formulations.state import LinkMotion, State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder


def supply(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], wanted: Mentioned[S]
) -> Supplied[S]:
    """Supply what the outputs mention: see `symgen.formulations.model_outputs`."""
    everything = wanted.kinetic_energy or wanted.potential_energy or wanted.center_of_mass
    links = [point.body for point in wanted.points]
    complete = everything or wanted.wrenches
    frames, o = frames_sweep(tree, b, state.q, None if complete else links), zero_vector(b.algebra)
    heavy: dict[int, LinkMotion[S]] = {}
    motions: dict[int, LinkMotion[S]] = {}
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
        twist = velocities.get(point.body, Twist(o, o))  # what is 0 here, no output needs
        motion = motions.get(point.body, LinkMotion(twist.omega, o, o))
        point_motion = point_step(point, poses[point.body], twist.v, motion, b, wanted.order)
        points[point.name] = base_step(point, poses[point.body], point_motion, b)
    wrenches: dict[int, tuple[S, ...]] = {}
    if wanted.wrenches:
        loads = load_sweep(tree, frames, b, state.loads)
        beyond = {j for number in wanted.wrenches for j in tree.carried_by(number)}
        carried = [at for at in frames if at.joint.number in beyond]
        reactions = reaction_sweep(carried, heavy, loads, b)
        wrenches = {
            j: wrench_step(frames[j - 1], state.q, reactions[j], b) for j in wanted.wrenches
        }
    return Supplied(points, wrenches, kinetic, potential, center)


outputs = partial(write_outputs, supply=supply)
