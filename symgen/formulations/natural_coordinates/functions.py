"""Functions of a tree in natural coordinates; `symgen.formulations.natural_frames` has X_a, S_j.

The pseudo-inertia P of a body, (4, 4) in the frame of its link, gives its kinetic energy
sum_ab P_ab X_a' . X_b' / 2 (Garcia de Jalon and Bayo 1994, chapter 4), so that M is constant:

    F_a = sum_b P_ab X_b'' - P_a4 g,   tau_j = sum_bodies sum_a C_aj . F_a
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from operator import add
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector, total, zero_vector
from symgen.algebra.spatial import Spatial
from symgen.formulations.constraints import Moving, Supplied, Wanted, supplied_by
from symgen.formulations.joint_terms import rotor_energy, spring_energy
from symgen.formulations.model_outputs import Mentioned, write_outputs
from symgen.formulations.model_outputs import Supplied as SuppliedToOutputs
from symgen.formulations.natural_frames import (
    NaturalBodies,
    NaturalFrame,
    named,
    natural_bodies,
    natural_rows,
)
from symgen.formulations.shared import flat
from symgen.formulations.state import State
from symgen.formulations.torques import Run
from symgen.kinematics.bodies import BodyPoint
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder, Results

NOTES = {
    "NC-3": "F_a = sum_b P_ab X_b'' - P_a4 g -- Garcia de Jalon, Bayo 1994, chapter 4",
    "NC-4": "tau_j = sum_a C_aj . F_a, less those of the loads",
    "NC-5": "twice the kinetic energy: sum_ab P_ab X_a' . X_b'",
    "NC-6": "m c and m of all bodies, U = -sum_a P_a4 g . X_a",
    "NC-8": "angular momentum of a body about the origin of the base: sum_ab P_ab X_a x X_b'",
    "NC-7": "a point of a link, and its rates",
}


def rigid(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Run:
    """NC-4; see `symgen.formulations.torques.Rigid`."""

    def run(at: State[S], gravity: bool) -> Sequence[S]:
        bodies = natural_bodies(tree, b, at)
        pull = tree.gravity if gravity else zero_vector(b.algebra)
        terms: dict[int, list[S]] = {joint.number: [] for joint in tree.joints}
        for i, P, frame in _heavy(tree, bodies):
            with b.step("forces of inertia", tree.joint(i).name):
                for name, row, x in zip("xyzo", P, frame.every, strict=True):
                    pairs = zip(row, frame.every, strict=True)
                    force = reduce(add, (y.second_rate * p for p, y in pairs)) - pull * row[3]
                    force = b.let(f"F_{i}_{name}", force, "NC-3")
                    for j, column in x.by_joint.items():
                        terms[j].append(column.dot(force))
        for load, wrench in zip(tree.loads, at.loads, strict=True):
            frame = bodies.frames[load.body]
            for j, column in frame.point(load.point).by_joint.items():
                terms[j].append(-column.dot(wrench.force))
            for j, column in frame.spins.items():
                terms[j].append(-column.dot(wrench.moment))
        tau = []
        for joint in tree.joints:
            with b.step("torques", joint.name):
                value = total(terms[joint.number], b.algebra)
                tau.append(b.let(f"tau_{joint.number}", value, "NC-4"))
        return tau

    return run


def _heavy(
    tree: KinematicTree[S], bodies: NaturalBodies[S]
) -> Iterator[tuple[int, Sequence[Sequence[S]], NaturalFrame[S]]]:
    """Yield number, pseudo-inertia and frame of all moving bodies."""
    for i, frame in bodies.frames.items():
        if i:
            yield i, tree.joint(i).body.pseudo_inertia(tree.algebra).rows, frame


# -- energies and momentum -----------------------------------------------------------------------


def kinetic_energy(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """NC-5, and the rotors."""
    return {"kinetic_energy": [_kinetic(tree, b, state, natural_bodies(tree, b, state))]}


def _kinetic(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], bodies: NaturalBodies[S]
) -> S:
    energies = []
    for i, P, frame in _heavy(tree, bodies):
        rates = [x.rate for x in frame.every]
        momenta = [reduce(add, (y * p for p, y in zip(row, rates, strict=True))) for row in P]
        with b.step("energy", tree.joint(i).name):
            value = total([x.dot(p) for x, p in zip(rates, momenta, strict=True)], b.algebra)
            energies.append(b.let(f"twice_T_{i}", value, "NC-5"))
    half = b.algebra.constant(0.5)
    return total(energies, b.algebra) * half + rotor_energy(tree, b, state)


def _moments(
    tree: KinematicTree[S], b: ProgramBuilder[S], bodies: NaturalBodies[S], part: str
) -> tuple[Vector[S], S]:
    """NC-6: sum of m c, or of its rate for the `part` "rate", and of m, of all bodies."""
    first, masses = zero_vector(b.algebra), b.algebra.zero
    for _, P, frame in _heavy(tree, bodies):
        terms = (getattr(x, part) * row[3] for x, row in zip(frame.every, P, strict=True))
        first, masses = first + reduce(add, terms), masses + P[3][3]
    with b.step("moments"):
        return b.let(f"mc_{part}", first, "NC-6"), b.let("m_all", masses, "NC-6")


def potential_energy(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """NC-6, and the springs of joints."""
    return {"potential_energy": [_potential(tree, b, state, natural_bodies(tree, b, state))]}


def _potential(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], bodies: NaturalBodies[S]
) -> S:
    moments, _ = _moments(tree, b, bodies, "at")
    return spring_energy(tree, b, state) - tree.gravity.dot(moments)


def center_of_mass(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write the centre of mass, (3,): NC-6."""
    return {"center_of_mass": list(_center(tree, b, natural_bodies(tree, b, state)))}


def _center(tree: KinematicTree[S], b: ProgramBuilder[S], bodies: NaturalBodies[S]) -> Vector[S]:
    moments, m = _moments(tree, b, bodies, "at")
    return Vector(*(part / m for part in moments))


def centroidal_momentum(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """Write [linear; angular] momentum, the latter about the centre of mass, (6,): NC-8."""
    bodies, angular = natural_bodies(tree, b, state), zero_vector(b.algebra)
    for i, P, frame in _heavy(tree, bodies):
        with b.step("momentum", tree.joint(i).name):
            terms = (
                x.at.cross(y.rate * P[k][j])
                for k, x in enumerate(frame.every)
                for j, y in enumerate(frame.every)
            )
            angular = angular + b.let(f"h_{i}", reduce(add, terms), "NC-8")
    linear, _ = _moments(tree, b, bodies, "rate")
    return {"centroidal_momentum": [*linear, *(angular - _center(tree, b, bodies).cross(linear))]}


# -- positions -----------------------------------------------------------------------------------


def forward_kinematics(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write the poses of all link frames, (n_links, 4, 4): NC-1."""
    frames = natural_bodies(tree, b, state).frames
    poses = [frames[x.body].pose @ x.pose for x in tree.frames]
    return {"forward_kinematics": flat(pose.homogeneous(b.algebra).entries for pose in poses)}


def link_motion(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write velocities and accelerations of all link frames, (n_links, 6) each."""
    bodies = natural_bodies(tree, b, state)
    velocities, accelerations = list[Spatial[S]](), list[Spatial[S]]()
    for link in tree.frames:
        frame = bodies.frames[link.body]
        x = frame.point(link.pose.translation)
        velocities.append(Spatial(frame.omega, x.rate))
        accelerations.append(Spatial(frame.alpha, x.second_rate))
    return {
        "link_velocities": flat(x.linear_first for x in velocities),
        "link_accelerations": flat(x.linear_first for x in accelerations),
    }


class _Bodies(Generic[S]):
    """Points and vectors of bodies with names: `symgen.formulations.constraints.Bodies`."""

    def __init__(self, bodies: NaturalBodies[S], b: ProgramBuilder[S]) -> None:
        self.frames, self.b = bodies.frames, b

    def point(self, name: str, body: int, p: Vector[S]) -> Moving[Vector[S]]:
        """Return a point of a body: NC-7."""
        return self._named(f"x_{name}", self.frames[body].point(p))

    def direction(self, name: str, body: int, e: Vector[S]) -> Moving[Vector[S]]:
        """Return a vector of a body: NC-7."""
        return self._named(f"u_{name}", self.frames[body].direction(e))

    def _named(self, name: str, x: Moving[Vector[S]]) -> Moving[Vector[S]]:
        return named(self.b, name, x, ("NC-7", "NC-7"))


def point_motion(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write position, velocity and acceleration of all points, (n_points, 3) each: NC-7."""
    points = list(_points(tree.points, b, natural_bodies(tree, b, state)).values())
    parts = {"position": "at", "velocity": "rate", "acceleration": "second_rate"}
    return {name: flat(getattr(x, part) for x in points) for name, part in parts.items()}


def _points(
    points: Sequence[BodyPoint[S]], b: ProgramBuilder[S], bodies: NaturalBodies[S]
) -> dict[str, Moving[Vector[S]]]:
    written = {}
    for point in points:
        with b.step("points", point.name):
            written[point.name] = _Bodies(bodies, b).point(point.name, point.body, point.point)
    return written


# -- constraints and outputs -----------------------------------------------------------------------


def supply(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    points: Sequence[BodyPoint[S]],
    wanted: Wanted,
) -> Supplied[S]:
    """Write the ends of loops, `points` and rows: see `symgen.formulations.constraints.Supply`."""
    bodies = natural_bodies(tree, b, state)
    supplied = supplied_by(_Bodies(bodies, b), tree, b, points)
    return Supplied(supplied.origins, supplied.axes, supplied.points, natural_rows(bodies, state))


def _of_outputs(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], wanted: Mentioned[S]
) -> SuppliedToOutputs[S]:
    bodies = natural_bodies(tree, b, state)
    points = _points(wanted.points, b, bodies)
    return SuppliedToOutputs(
        points={name: (x.at, x.rate, x.second_rate) for name, x in points.items()},
        kinetic_energy=_kinetic(tree, b, state, bodies) if wanted.kinetic_energy else None,
        potential_energy=_potential(tree, b, state, bodies) if wanted.potential_energy else None,
        center_of_mass=_center(tree, b, bodies) if wanted.center_of_mass else None,
    )


outputs = partial(write_outputs, supply=_of_outputs)
