"""Torques, mass matrix and accelerations of an MJCF file by MuJoCo, in symgen's coordinates.

    python -m tests.oracles.mujoco_dynamics FOLDER ...

compares every model that moves in the folders, and prints what was compared, and why not.

| symbol | array | shape |
| --- | --- | --- |
| q, v, a | coordinates of symgen (angles z, y, x of balls and free joints) and their rates | (n,) |
| J | MuJoCo's velocities are J v: those of balls and free joints are angular ones | (n, n) |
"""

import sys
from collections import Counter
from pathlib import Path

import mujoco
import numpy as np

from symgen import read
from symgen.errors import ModelError
from symgen.formulations import formulation_named
from symgen.program.evaluation import call
from tests.oracles.programs import evaluated

STEP = 1e-30
FREE, BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
OFF = (
    mujoco.mjtDisableBit.mjDSBL_CONSTRAINT,
    mujoco.mjtDisableBit.mjDSBL_ACTUATION,
)


class MujocoDynamics:
    """A model with its constraints, contacts, actuators and media switched off."""

    def __init__(self, path):
        self.model = m = mujoco.MjModel.from_xml_path(str(path))
        self.data = mujoco.MjData(m)
        for flag in OFF:
            m.opt.disableflags |= flag
        m.opt.density = m.opt.viscosity = 0.0
        m.opt.wind[:] = 0.0
        m.body_gravcomp[:] = 0.0
        for of_tendons in ("armature", "stiffness", "damping"):
            getattr(m, f"tendon_{of_tendons}")[:] = 0.0
        self.turns = [
            int(m.jnt_dofadr[i]) + (3 if m.jnt_type[i] == FREE else 0)
            for i in range(m.njnt)
            if int(m.jnt_type[i]) in (FREE, BALL)
        ]

    def jacobian(self, q):
        """J, analytic in q."""
        J = np.eye(len(q), dtype=complex)
        for k in self.turns:
            _, y, x = q[k : k + 3]
            about_x = np.array([[1, 0, 0], [0, np.cos(x), np.sin(x)], [0, -np.sin(x), np.cos(x)]])
            about_y = np.array([[np.cos(y), 0, -np.sin(y)], [0, 1, 0], [np.sin(y), 0, np.cos(y)]])
            z_in_body = about_x @ about_y @ [0, 0, 1]
            J[k : k + 3, k : k + 3] = np.column_stack([z_in_body, about_x @ [0, 1, 0], [1, 0, 0]])
        return J

    def place(self, q):
        """Set MuJoCo's positions."""
        m, d = self.model, self.data
        for i in range(m.njnt):
            at, k = int(m.jnt_qposadr[i]), int(m.jnt_dofadr[i])
            if m.jnt_type[i] == FREE:
                d.qpos[at : at + 3] = q[k : k + 3]
                d.qpos[at + 3 : at + 7] = quaternion(q[k + 3 : k + 6])
            elif m.jnt_type[i] == BALL:
                d.qpos[at : at + 4] = quaternion(q[k : k + 3])
            else:
                d.qpos[at] = q[k]

    def dynamics(self, q, v, a, tau):
        """Torques that give a, mass matrix, and accelerations that tau gives, without friction."""
        m, d = self.model, self.data
        J = self.jacobian(q)
        rate = self.jacobian(q + 1j * STEP * v).imag / STEP @ v
        J = J.real
        self.place(q)
        d.qvel[:] = J @ v
        d.qfrc_applied[:] = np.linalg.solve(J.T, tau)
        mujoco.mj_forward(m, d)
        accelerations = np.linalg.solve(J, d.qacc - rate)
        mass = np.zeros((m.nv, m.nv))
        if "MjData" in mujoco.mj_fullM.__doc__:  # since MuJoCo 4
            mujoco.mj_fullM(m, d, mass)
        else:
            mujoco.mj_fullM(m, mass, d.qM)
        d.qacc[:] = J @ a + rate
        torques = np.zeros(m.nv)
        mujoco.mj_rne(m, d, 1, torques)
        torques = torques + m.dof_armature * d.qacc - d.qfrc_passive
        return J.T @ torques, J.T @ mass @ J, accelerations

    def friction(self, v):
        """What symgen makes of `frictionloss`, which is a constraint in MuJoCo."""
        return self.model.dof_frictionloss * np.tanh(v / 1e-3)


def quaternion(angles):
    """w, x, y, z of rotations about z, y and x, one after the other."""
    (cz, sz), (cy, sy), (cx, sx) = ((np.cos(x / 2), np.sin(x / 2)) for x in angles)
    return [
        cx * cy * cz + sx * sy * sz,
        sx * cy * cz - cx * sy * sz,
        cx * sy * cz + sx * cy * sz,
        cx * cy * sz - sx * sy * cz,
    ]


def disagreement(path, without_loops=False, states=3):
    """Largest relative differences of torques, mass matrix and accelerations.

    Those of the accelerations are relative to the condition of the mass matrix, scaled to a
    diagonal of ones.
    """
    description, oracle = read(path, without_loops=without_loops), MujocoDynamics(path)
    programs = [
        evaluated(description, formulation_named(formulation), function)
        for formulation, function in (
            ("newton_euler", "inverse_dynamics"),
            ("composite", "mass_matrix"),
            ("kane", "forward_dynamics"),
        )
    ]
    rng = np.random.default_rng(22)
    n, worst = len(description.coordinate_names), np.zeros(3)
    assert n == oracle.model.nv
    loads = np.zeros((len(description.loads), 6))
    for _ in range(states):
        q, v, a, tau = rng.uniform(-1, 1, (4, n))
        friction = oracle.friction(v)
        expected = oracle.dynamics(q, v, a, tau)
        given = {"q": q, "qd": v, "qdd": a, "tau": tau + friction, "loads": loads}
        found = [call(program, {**given, "parameters": ()})[0] for program in programs]
        found[0] = found[0] - friction
        scale = np.sqrt(np.diag(expected[1]))
        condition = np.linalg.cond(expected[1] / scale[:, None] / scale)
        rates = [scale * x for x in (found[2], expected[2])]
        worst = np.maximum(
            worst,
            [
                np.abs(found[0] - expected[0]).max() / max(1.0, np.abs(expected[0]).max()),
                np.abs(found[1] - expected[1]).max() / np.abs(expected[1]).max(),
                np.abs(rates[0] - rates[1]).max() / np.abs(rates[1]).max() / condition,
            ],
        )
    return n, worst


def main(folders):
    """The table, and how many."""
    counts = Counter()
    for folder in map(Path, folders):
        for path in sorted(folder.rglob("*.xml")):
            name = path.relative_to(folder.parent)
            verdict, words = judged(path)
            counts[folder.name, verdict] += 1
            if verdict not in ("no model", "static"):
                print(f"{verdict:13} {name}: {words}", flush=True)
    for (folder, verdict), count in sorted(counts.items()):
        print(f"{folder:20} {verdict:13} {count}")


def judged(path):
    """What became of one file."""
    if "<mujoco" not in path.read_text(errors="replace"):
        return "no model", ""
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        return "not compiled", " ".join(str(error).split())[:100]
    if not model.nv:
        return "static", ""
    closed = bool(model.neq or model.ntendon or model.nflex)
    try:
        n, worst = disagreement(path, without_loops=closed)
    except ModelError as error:
        return "refused", str(error.faults[0])[len(str(path)) :][:160]
    verdict = "agrees" if worst.max() < 1e-10 else "DISAGREES"
    numbers = ", ".join(f"{x:.1e}" for x in worst)
    return (f"{verdict}, open" if closed else verdict), f"n = {n}: {numbers}"


if __name__ == "__main__":
    main(sys.argv[1:])
