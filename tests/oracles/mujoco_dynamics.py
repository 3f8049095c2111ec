"""Torques, mass matrix and accelerations of an MJCF file by MuJoCo, in symgen's coordinates.

| symbol | array | shape |
| --- | --- | --- |
| q | configuration of symgen: that of MuJoCo but for the order of quaternions | (nq,) |
| v, a | velocities, accelerations of symgen: of free joints in the axes of the body | (n,) |
| J | MuJoCo's velocities are J v: those of free joints are along the axes of the world | (n, n) |
"""

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from symgen import read
from symgen.formulations import formulation_named
from symgen.program.interpreter import call
from symgen.quaternions import reorder
from tests.oracles.comparison import evaluated, state_of

FREE, BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
OFF = (mujoco.mjtDisableBit.mjDSBL_CONSTRAINT, mujoco.mjtDisableBit.mjDSBL_ACTUATION)


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
        joints = list(zip(m.jnt_type, m.jnt_qposadr.tolist(), m.jnt_dofadr.tolist(), strict=True))
        self.free = [(at, k) for kind, at, k in joints if kind == FREE]
        self.quaternions = [
            at + 3 * (kind == FREE) for kind, at, _ in joints if kind in (FREE, BALL)
        ]

    def jacobian(self, q):
        """J."""
        J = np.eye(self.model.nv)
        for at, k in self.free:
            J[k : k + 3, k : k + 3] = Rotation.from_quat(q[at + 3 : at + 7]).as_matrix()
        return J

    def turning(self, v):
        """What J v has for a rate beside J a, by its J: w x v of free joints, (n,)."""
        rate = np.zeros(len(v))
        for _, k in self.free:
            rate[k : k + 3] = np.cross(v[k + 3 : k + 6], v[k : k + 3])
        return rate

    def place(self, q):
        """Set MuJoCo's positions."""
        self.data.qpos[:] = q
        for at in self.quaternions:
            self.data.qpos[at : at + 4] = reorder(q[at : at + 4], "xyzw", "wxyz")

    def dynamics(self, q, v, a, tau):
        """Torques that give a, mass matrix, and accelerations that tau gives, without friction."""
        m, d = self.model, self.data
        J = self.jacobian(q)
        rate = J @ self.turning(v)
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

    def friction(self, q, v):
        """What symgen makes of `frictionloss`, which is a constraint in MuJoCo."""
        J = self.jacobian(q)
        return J.T @ (self.model.dof_frictionloss * np.tanh(J @ v / 1e-3))


def disagreement(path, without_loops=False, states=3):
    """Largest relative differences of torques, mass matrix and accelerations.

    Those of the accelerations are relative to the condition of the mass matrix, scaled to a
    diagonal of ones."""
    description, oracle = read(path, without_loops=without_loops), MujocoDynamics(path)
    chosen = {
        "newton_euler": "inverse_dynamics", "composite": "mass_matrix", "kane": "forward_dynamics"
    }  # fmt: skip
    programs = [evaluated(description, formulation_named(by), chosen[by]) for by in chosen]
    n, worst = len(description.coordinate_names), np.zeros(3)
    assert n == oracle.model.nv
    loads = np.zeros((len(description.loads), 6))
    for seed in range(states):
        state = state_of(description, seed)
        q, v, a, tau = (state[name] for name in ("q", "qd", "qdd", "tau"))
        friction = oracle.friction(q, v)
        expected = oracle.dynamics(q, v, a, tau)
        given = {"q": q, "qd": v, "qdd": a, "tau": tau + friction, "loads": loads}
        found = [call(program, {**given, "parameters": ()})[0] for program in programs]
        found[0] = found[0] - friction
        scale = np.sqrt(np.diag(expected[1]))
        condition = np.linalg.cond(expected[1] / scale[:, None] / scale)
        rates = [scale * x for x in (found[2], expected[2])]
        errors = (
            np.abs(found[0] - expected[0]).max() / max(1.0, np.abs(expected[0]).max()),
            np.abs(found[1] - expected[1]).max() / np.abs(expected[1]).max(),
            np.abs(rates[0] - rates[1]).max() / np.abs(rates[1]).max() / condition,
        )
        worst = np.maximum(worst, errors)
    return n, worst
