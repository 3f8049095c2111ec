"""Drake's own reading of an SDF file (by libsdformat), with coordinates as a description has them.

    python -m tests.oracles.drake_sdf FILE ...   prints a line for each file

Drake is no test dependency of its own: pip install 'symgen[test-robots]'.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from symgen import read
from symgen.description import RobotDescription
from symgen.errors import SymgenError
from symgen.formulations import formulation_named
from symgen.program.evaluation import call
from tests.oracles.programs import evaluated

Array = np.ndarray[Any, Any]
STEP = 1e-6


class DrakeSdf:
    """Torques, masses and frames of an SDF file, for one sample at a time.

    The root link is welded to the world where Drake would let it float.
    """

    def __init__(
        self, path: str, description: RobotDescription, packages: Mapping[str, str]
    ) -> None:
        from pydrake.multibody.parsing import Parser
        from pydrake.multibody.plant import MultibodyPlant

        logging.getLogger("drake").setLevel(logging.ERROR)
        plant = MultibodyPlant(0.0)
        parser = Parser(plant)
        for name, folder in packages.items():
            parser.package_map().Add(name, str(folder))
        parser.AddModels(str(path))
        for number in range(1, plant.num_bodies()):
            body = plant.get_body(_index(number))
            floats = not any(
                plant.get_joint(i).child_body().index() == body.index()
                for i in plant.GetJointIndices()
            )
            if floats:
                pose = plant.GetDefaultFloatingBaseBodyPose(body)
                plant.WeldFrames(plant.world_frame(), body.body_frame(), pose)
        gravity = [float(x.text) for x in description.gravity]
        plant.mutable_gravity_field().set_gravity_vector(gravity)
        plant.Finalize()
        self.plant, self.context = plant, plant.CreateDefaultContext()
        self.description = description
        self.places = self._places()

    def _places(self) -> Array:
        """Coordinate -> its place among Drake's positions."""
        places: dict[str, list[int]] = {}
        for index in self.plant.GetJointIndices():
            joint = self.plant.get_joint(index)
            first, count = joint.position_start(), joint.num_positions()
            order = range(first, first + count)
            # Drake's angles of a ball are roll, pitch, yaw; ours are yaw, pitch, roll.
            places[joint.name()] = [*reversed(order)] if count == 3 else [*order]
        found: list[int] = []
        for joint in self.description.joints:
            name = joint.source.key.removeprefix("joint.").rpartition("::")[2]
            for _ in range(joint.coordinates):
                found.append(places[name].pop(0))
        assert sorted(found) == [*range(self.plant.num_positions())]
        return np.array(found, dtype=int)

    def place(self, q: Array) -> Array:
        """Set the configuration; return dv / d(dq/dt) in the order of the description."""
        positions = np.empty(len(q))
        positions[self.places] = q
        self.plant.SetPositions(self.context, positions)
        columns = [
            self.plant.MapQDotToVelocity(self.context, np.eye(len(q))[place])
            for place in self.places
        ]
        return np.array(columns).T.reshape(-1, len(q))

    def mass_matrix(self, q: Array) -> Array:
        """M, (n, n)."""
        N = self.place(q)
        return N.T @ self.plant.CalcMassMatrix(self.context) @ N

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """tau, (n,); the rate of dv / d(dq/dt) is a central difference."""
        from pydrake.multibody.tree import MultibodyForces

        ahead, behind = self.place(q + STEP * qd), self.place(q - STEP * qd)
        N = self.place(q)
        acceleration = N @ qdd + (ahead - behind) @ qd / (2 * STEP)
        self.plant.SetVelocities(self.context, N @ qd)
        forces = MultibodyForces(self.plant)
        self.plant.CalcForceElementsContribution(self.context, forces)
        forces.mutable_generalized_forces()[:] = 0.0  # damping and springs
        return N.T @ self.plant.CalcInverseDynamics(self.context, acceleration, forces)

    def frame(self, link: str, q: Array) -> Array:
        """The pose of a link, (4, 4)."""
        self.place(q)
        body = self.plant.GetBodyByName(link.rpartition("::")[2])
        return self.plant.EvalBodyPoseInWorld(self.context, body).GetAsMatrix4()


def _index(number: int) -> Any:
    from pydrake.multibody.tree import BodyIndex

    return BodyIndex(number)


def disagreement(
    path: str, states: int = 3, packages: Mapping[str, str] | None = None
) -> tuple[int, Array]:
    """Number of coordinates, and the largest error of tau, M and the frames of links."""
    from tests.description.foreign.test_urdf import torques

    description = read(path, packages=packages)
    oracle = DrakeSdf(path, description, packages or {})
    n, rng, worst = len(description.coordinate_names), np.random.default_rng(1), np.zeros(3)
    newton_euler = formulation_named("newton_euler")
    masses = evaluated(description, newton_euler, "mass_matrix") if n else None
    frames = evaluated(description, newton_euler, "forward_kinematics")
    for _ in range(states):
        q, qd, qdd = rng.uniform(-1.2, 1.2, (3, n))
        found = [np.zeros(3)]
        if masses is not None:
            tau, expected = torques(description, q, qd, qdd), oracle.inverse_dynamics(q, qd, qdd)
            (M,) = call(masses, {"q": q})
            M_expected = oracle.mass_matrix(q)
            found.append([_error(tau, expected), _error(M, M_expected), 0.0])
        (poses,) = call(frames, {"q": q})
        for joint, pose in zip(description.joints, poses, strict=True):
            kind, _, link = joint.link.source.key.partition(".")
            if kind == "link" and not joint.link.name.endswith(("_frame", "_frame_link")):
                found.append([0.0, 0.0, _error(pose, oracle.frame(link, q))])
        worst = np.maximum(worst, np.max(found, axis=0))
    return n, worst


def _error(ours: Array, theirs: Array) -> float:
    return float(np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max()))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        try:
            n, worst = disagreement(name)
            print(f"{name}: {n} coordinates, " + " ".join(f"{x:.1e}" for x in worst))
        except (SymgenError, RuntimeError) as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:400]}")
