"""Kane's method, fully recursive: the equations by dense linear algebra.

`test_lines` has the derivatives of every line.
"""

import numpy as np

from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.formulations import declare_inputs
from symgen.formulations.kane.contributions import contributions
from symgen.formulations.kane.recursion import solve
from symgen.kinematics.tree import build_tree
from symgen.program.builder import ProgramBuilder
from tests.oracles.comparison import agrees
from tests.oracles.implicit import Implicit
from tests.oracles.parameter_kinds import every_kind


def pose_behind(tree, joint):
    """Pose of basis k in that of its parent."""
    at, q = joint.placement, tree.algebra.symbol(f"q_{joint.number}")
    pose = at.tree @ joint.type.motion(at.axis, q + at.offset, tree.algebra)
    return tree.joint(joint.parent).placement.link @ pose if joint.parent else pose


class Dense:
    """The recursion at a state, and S^k, P_k^k and I_1^k as 6x6 matrices from poses and bodies."""

    def __init__(self, seed):
        description, _ = every_kind()
        self.robot = Implicit(description, seed)
        self.tree = build_tree(description, Graph())
        b = ProgramBuilder(self.tree.algebra, taken=self.tree.parameter_names)
        state = declare_inputs(self.tree, b, "forward_dynamics")
        self.solution = solve(self.tree, contributions(self.tree, b, state, ()), b, state)
        self.known = dict(description.parameter_values)
        for name in ("q", "qd", "tau", "loads"):
            given = self.robot.torques[name].reshape(-1)
            self.known |= dict(zip(b.declared(name).symbol_names, given, strict=True))
        self.numbers = range(1, self.tree.n + 1)
        self.parent = {joint.number: joint.parent for joint in self.tree.joints}
        self.S, self.P, self.I_1, self.C, self.gamma = {}, {}, {}, {}, {}
        self.mass, self.center, self.central = {}, {0: np.zeros(3)}, {}
        for joint in self.tree.joints:
            self._add(joint)

    def number(self, entries):
        return np.array(evaluate(list(entries), self.known), dtype=float)

    def matrix(self, inertia):
        """The 6x6 matrix of three blocks."""
        A, B, D = (
            self.number(block.entries).reshape(3, 3) for block in (inertia.A, inertia.B, inertia.D)
        )
        return np.block([[A, B], [B.T, D]])

    def motion(self, k):
        """omega, alpha_t, a_t and the acceleration of the mass centre, body axes."""
        motion = self.solution.motions[k]
        omega, alpha, a = (self.number(x) for x in (motion.omega, motion.alpha, motion.a))
        c = self.center[k]
        return omega, alpha, a, a + np.cross(alpha, c) + np.cross(omega, np.cross(omega, c))

    def _add(self, joint):
        k, algebra, at = joint.number, self.tree.algebra, joint.placement
        pose = pose_behind(self.tree, joint)
        self.C[k] = self.number(pose.rotation.entries).reshape(3, 3)
        self.gamma[k] = self.number(pose.translation)
        self.S[k] = shift(self.gamma[k]) @ np.kron(np.eye(2), self.C[k])  # (38), (42)
        self.P[k] = np.concatenate([self.number(axis) for axis in joint.axes(algebra)])
        E, body = self.number(at.link.rotation.entries).reshape(3, 3), joint.body
        (self.mass[k],), self.center[k] = (
            self.number([body.mass]),
            self.number(at.link.apply(body.com)),
        )
        self.central[k] = E @ self.number(body.inertia.entries).reshape(3, 3) @ E.T
        about_center = np.zeros((6, 6))
        about_center[:3, :3] = self.central[k]
        about_center[3:, 3:] = self.mass[k] * np.eye(3)
        self.I_1[k] = shift(self.center[k]) @ about_center @ shift(self.center[k]).T

    def F_1(self, k):
        """(23), (24) corrected, about the reference point, with the loads."""
        omega, alpha, _, a_c = self.motion(k)
        H = self.central[k] @ omega
        moment = -self.central[k] @ alpha - np.cross(omega, H)
        found = shift(self.center[k]) @ np.concatenate([moment, -self.mass[k] * a_c])
        for i, point in self.solution.at[k].points.items():
            load = self.number(self.solution.loads[k][i].entries)
            found = found + shift(self.number(point)) @ load
        return found


def shift(gamma):
    """(38)"""
    x, y, z = gamma
    result = np.eye(6, dtype=np.asarray(gamma).dtype)
    result[:3, 3:] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    return result


def test_the_mass_matrix_and_forces_of_the_definitions():
    """(25), (26), (37), (38): M qdd = K, with partial velocities and forces of the notes."""
    dense = Dense(1)
    M, K, partial = np.zeros_like(dense.robot.M), np.zeros(dense.robot.n), {}
    for k in dense.numbers:
        path = dense.tree.path(k)
        for i in path:
            partial[i, k] = dense.P[k] if i == k else dense.S[k].T @ partial[i, dense.parent[k]]
        for r in path:
            K[r - 1] += partial[r, k] @ dense.F_1(k)
            for i in path:
                M[r - 1, i - 1] += partial[r, k] @ dense.I_1[k] @ partial[i, k]
    rotors = dense.number([dense.solution.at[k].rotor for k in dense.numbers])
    resistances = dense.number([dense.solution.at[k].resistance for k in dense.numbers])
    assert agrees(M + np.diag(rotors), dense.robot.M)
    assert agrees(K - resistances, dense.robot.M @ dense.robot.qdd)


def test_articulated_bodies():
    """(56) to (61)"""
    dense = Dense(3)
    bodies, at = dense.solution.bodies, dense.solution.at
    I_3, F_3 = dict(dense.I_1), {k: dense.F_1(k) for k in dense.numbers}
    pivot, U, e = {}, {}, {}
    for k in reversed(dense.numbers):
        rotor, resistance = dense.number([at[k].rotor, at[k].resistance])
        U[k] = I_3[k] @ dense.P[k]
        pivot[k], e[k] = dense.P[k] @ U[k] + rotor, dense.P[k] @ F_3[k] - resistance  # (59)
        assert agrees(dense.matrix(bodies[k].I_3), I_3[k])
        assert agrees(dense.number(bodies[k].F_3.entries), F_3[k])
        assert agrees(dense.number([bodies[k].pivot, bodies[k].e]), [pivot[k], e[k]])
        if p := dense.parent[k]:
            left = I_3[k] - np.outer(U[k], U[k]) / pivot[k]
            I_3[p] = I_3[p] + dense.S[k] @ left @ dense.S[k].T  # (57)
            F_3[p] = F_3[p] + dense.S[k] @ (F_3[k] - U[k] * e[k] / pivot[k])  # (58)
    A = {0: np.zeros(6)}
    for k in dense.numbers:
        A_in = dense.S[k].T @ A[dense.parent[k]]
        qdd = (e[k] - U[k] @ A_in) / pivot[k]  # (60)
        A[k] = A_in + dense.P[k] * qdd  # (61)
        assert agrees(dense.number(dense.solution.accelerations[k].A.entries), A[k])
        assert agrees(qdd, dense.robot.qdd[k - 1])
        rotor, resistance = dense.number([at[k].rotor, at[k].resistance])
        left = dense.P[k] @ (I_3[k] @ A[k] - F_3[k]) + resistance + rotor * qdd
        assert agrees(left, 0)  # (56)
