"""The derivatives that Lopez Varela 2023 prints, in NumPy, and those of the lines of the recursion.

Equations are as printed unless the number is followed by "corrected": see "Corrections to the
printed equations" in docs/theory/semi_recursive.md.  On the robot with a parameter in every place.
At zdd = 0, where
Vdot_i is d_i^Sigma and tau is -Q^d, but for what has zdd in it."""

from functools import cache, cached_property

import numpy as np
import pytest

from symgen.formulations.semi_recursive.kinematics import LINK_ORIGIN, RTDYN0, RTDYN1
from symgen.kinematics.tree import BASE
from tests.formulations.test_semi_recursive import EACH_POINT, Terms, tilde
from tests.oracles.comparison import agrees, state_of
from tests.oracles.parameter_kinds import every_kind

ONE, NONE = np.eye(3), np.zeros((3, 3))


class Printed(Terms):
    """The terms of the robot, with the products that the equations are made of."""

    def __init__(self, point, qdd=0.0):
        description, runtime = every_kind()
        state = state_of(description, 1)
        state["qdd"] = np.broadcast_to(qdd, state["qdd"].shape)
        super().__init__(description, state, point, runtime)
        self.qd, self.point, self.n = state["qd"], point, len(self.bodies)

    @property
    def gravity(self):
        return self.of(self.system.tree.gravity)

    def of_matrix(self, x, name):
        """(A)_x, a 3x3 matrix for every variable."""
        return self.by(x.entries, name).T.reshape(-1, 3, 3)

    def mass_slopes(self, M, name):
        """(M)_x, a 6x6 matrix for every variable."""
        columns = np.vstack([self.by(x, name) for x in ([M.m], M.h, M.J.entries)])
        return np.array([mass(x[0], x[1:4], x[4:].reshape(3, 3)) for x in columns.T])

    def body(self, i):
        return Body(self, i)


def mass(m, mc, J):
    """[[m I, -mc~], [mc~, J]]"""
    return np.block([[m * ONE, -tilde(mc)], [tilde(mc), J]])


class Body:
    """One body: numbers, and how they depend on z by the equations that say it."""

    def __init__(self, known, i):
        self.known, self.i = known, i
        self.at, self.motion = known.system.geometry[i], known.system.motions[i]
        self.body, self.p = known.known[i], self.at.joint.parent
        self.R, self.R_dot = known.R(i), known.R_dot(i)
        self.R_p, self.R_dot_p = known.R(self.p), known.R_dot(self.p)
        self.r, self.omega = known.of(self.at.r), known.of(self.motion.omega)
        self.omega_p = known.of(known.system.motions[self.p].omega)
        self.m, self.c = known.of([self.body.m])[0], known.of(self.body.c)
        self.J, self.r_G = known.matrix(self.body.J_G), known.of(self.at.places.centre)
        self.M = mass(self.m, self.m * self.c, known.matrix(self.body.M.J))
        self.b = known.of(self.at.b)
        self.in_space = known.point is RTDYN1
        self.h = np.cross(self.omega, self.c)  # (30c)
        self.t = self.m * np.cross(self.omega, self.h)  # (30a)

    def point_z(self, r):
        """(26)"""
        return self.R[:3] + tilde(self.r - r) @ self.R[3:]

    @property
    def r_z(self):
        """(r_i)_z"""
        return 0 * self.R[:3] if self.in_space else self.R[:3]

    @cached_property
    def omega_z(self):
        """(28)"""
        return self.R_dot[3:] - tilde(self.omega) @ self.R[3:]

    @cached_property
    def v_z(self):
        """(27) of r_i, and (64) of a point of space"""
        return self.R_dot[:3] - self.in_space * tilde(self.omega) @ self.R[:3]

    @cached_property
    def J_z(self):
        """(J_G)_z with (56)"""
        w = [tilde(column) for column in self.R[3:].T]
        return np.array([a @ self.J - self.J @ a for a in w])

    @property
    def spin(self):
        """omega~ J_G - (J_G omega)~"""
        return tilde(self.omega) @ self.J - tilde(self.J @ self.omega)

    @property
    def swing(self):
        """-m (h~ - omega~ (r_i~ - r_G~)): what omega_x does to t"""
        return -self.m * (tilde(self.h) + tilde(self.omega) @ tilde(self.c))

    @property
    def t_z(self):
        """(30b)"""
        w = tilde(self.omega)
        return self.m * w @ w @ (self.point_z(self.r_G) - self.r_z) + self.swing @ self.omega_z

    @property
    def K_I(self):
        """(29c)"""
        moment = tilde(self.c) @ self.t_z - tilde(self.t) @ (self.point_z(self.r_G) - self.r_z)
        moment += self.spin @ self.omega_z
        moment += tilde(self.omega) @ np.tensordot(self.J_z, self.omega, (2, 0)).T
        return np.vstack([self.t_z, moment])

    def forces(self):
        """(22b) corrected: of every force its point and value, scalars."""
        yield self.at.places.centre, self.body.weight
        for load in self.body.loads:
            yield self.at.r + load.arm, load.wrench.force

    @property
    def K_e(self):
        """(29b), of all forces"""
        of = self.known.of
        moments = (tilde(of(f)) @ (self.point_z(of(r)) - self.r_z) for r, f in self.forces())
        return np.vstack([0 * self.r_z, sum(moments)])

    @property
    def C(self):
        """(32c); no force depends on velocities"""
        swing = np.vstack([self.swing, self.spin + tilde(self.c) @ self.swing])
        return swing @ self.R[3:]

    def lever(self, d_arm, x):
        """(B_i)_z x, or that of Bdot_i: arm_z x x_2"""
        return np.vstack([-tilde(x[3:]) @ d_arm, 0 * d_arm])


@cache
def printed(point):
    return Printed(point)


def bodies(known):
    return [known.body(i) for i in known.bodies]


def zeroed(rows):
    """The rows, with zeros below."""
    return np.vstack([rows, 0 * rows])


@EACH_POINT
def test_points_and_velocities(point):
    """(26), (27), (28), and (52)'s points"""
    known = printed(point)
    for body in bodies(known):
        places, motion = body.at.places, body.motion
        assert agrees(known.by(body.at.r, "q"), body.r_z)
        for place in (places.centre, places.origin):
            assert agrees(known.by(place, "q"), body.point_z(known.of(place)))
        assert agrees(known.by(motion.omega, "q"), body.omega_z)
        assert agrees(known.by(motion.V.linear, "q"), body.v_z)
        assert agrees(known.by(motion.V, "qd"), body.R)
        v_G = motion.V.linear + motion.omega.cross(body.body.c)
        passing = tilde(known.of(motion.V.linear) - known.of(v_G))  # at r_i, the body's velocity
        found = passing @ body.R[3:] + body.R_dot[:3]
        found += tilde(body.r - body.r_G) @ body.R_dot[3:]
        assert agrees(known.by(v_G, "q"), found)


@EACH_POINT
def test_rotations(point):
    """(55), (56), (57)"""
    known = printed(point)
    algebra, q = known.system.tree.algebra, known.system.state.q
    slopes, sums = ({BASE: dict.fromkeys(known.places, NONE)} for _ in range(2))
    for body in bodies(known):
        A = known.matrix(body.at.A)
        A_p = known.matrix(known.system.geometry[body.p].A) if body.p else ONE
        step = body.at.joint.transform(q[body.i - 1], algebra).rotation
        slopes[body.i], sums[body.i] = {}, {}
        for by in ("q", "parameters"):
            moved = known.of_matrix(step, by)
            whole = slopes[body.p][by] @ known.matrix(step) + A_p @ moved  # (55)
            total = sums[body.p][by] + A_p @ moved @ A.T
            found = known.of_matrix(body.at.A, by)
            assert agrees(found, whole)
            assert agrees(found, total @ A)  # (56), (57)
            slopes[body.i][by], sums[body.i][by] = whole, total
        assert agrees(known.of_matrix(body.body.J_G, "q"), body.J_z)


@EACH_POINT
def test_recursive_terms_by_coordinates_and_velocities(point):
    """(59) to (69)"""
    known = printed(point)
    for body in bodies(known):
        motion, qd = body.motion, known.qd[body.i - 1]
        rows = known.rows(body.at.b, "q")
        by_z = np.array([known.of(map(known.rate, row)) for row in rows])  # (59)
        by_zd = known.by(body.at.b, "q")
        if body.in_space:  # bdot_i is of the point of the body that passes
            w, w_z = known.of(body.at.w), known.by(body.at.w, "q")
            v = known.of(motion.V.linear)
            by_z += zeroed(-tilde(v) @ w_z + tilde(w) @ body.v_z)
            by_zd = by_zd + zeroed(tilde(w) @ body.R[:3])
        assert agrees(known.by(motion.b_dot, "q"), by_z)
        assert agrees(known.by(motion.b_dot, "qd"), by_zd)
        arm_dot = tilde(known.of(motion.arm_dot))
        by_z, by_zd = by_z * qd, by_zd * qd
        by_zd[:, body.i - 1] += known.of(motion.b_dot)  # (66)
        before, d_arm, d_sum_p = body.p, np.zeros((3, known.n)), np.zeros((2, 6, known.n))
        if before != BASE:
            parent = known.body(before)
            own = np.zeros((6, known.n))
            own[:, body.i - 1] = body.b
            if not body.in_space:  # (62)
                d_arm = -tilde(parent.r - body.r) @ body.R_p[3:] - own[:3]
            assert agrees(parent.r_z - body.r_z, d_arm)  # (60)
            d_arm_dot = parent.v_z - body.v_z  # (61), (63), (64)
            assert agrees(known.by(motion.arm_dot, "q"), d_arm_dot)
            turning = -tilde(body.omega_p)
            by_z += zeroed(arm_dot @ parent.omega_z + turning @ d_arm_dot)  # (68) corrected
            moved = turning @ (body.R_p[:3] - body.R[:3])
            by_zd += zeroed(arm_dot @ body.R_p[3:] + moved)  # (65) corrected
            d_sum_p = [known.by(parent.motion.V_dot, name) for name in ("q", "qd")]
        assert agrees(known.by(body.at.arm, "q"), d_arm)
        assert agrees(known.by(motion.d, "q"), by_z)
        assert agrees(known.by(motion.d, "qd"), by_zd)
        B, d_sum = known.shift(body.at.arm), known.of(known.system.motions[before].V_dot)
        by_z = by_z + body.lever(d_arm, d_sum) + B @ d_sum_p[0]  # (69)
        assert agrees(known.by(motion.V_dot, "q"), by_z)
        assert agrees(known.by(motion.V_dot, "qd"), by_zd + B @ d_sum_p[1])  # (67)


@EACH_POINT
@pytest.mark.parametrize("by", ["q", "parameters"])
def test_mass_matrices(point, by):
    """(20), (21), (76), (77) corrected"""
    known = printed(point)
    for body in reversed(bodies(known)):
        i, D, D_x = body.i, np.eye(6), np.zeros((len(known.places[by]), 6, 6))
        D[:3, 3:] = -tilde(body.c)
        D_x[:, :3, 3:] = [-tilde(x) for x in known.by(body.body.c, by).T]
        centred = np.diag([1.0, 1, 1, 0, 0, 0])
        turned = D.T @ centred @ D_x
        slopes = body.m * (turned + turned.transpose(0, 2, 1))
        slopes += known.by([body.body.m], by)[0][:, None, None] * (D.T @ centred @ D)
        slopes[:, 3:, 3:] += known.of_matrix(body.body.J_G, by)
        assert agrees(known.mass_slopes(body.body.M, by), slopes)
        for s in known.system.children(i):
            B, M_s = known.shift(known.system.geometry[s].arm), known.masses.M_sum[s]
            B_x = np.zeros_like(D_x)
            B_x[:, :3, 3:] = [tilde(x) for x in known.by(known.system.geometry[s].arm, by).T]
            whole = mass(*known.of([M_s.m]), known.of(M_s.h), known.matrix(M_s.J))
            moved = B.T @ whole @ B_x
            slopes = slopes + moved + moved.transpose(0, 2, 1)
            slopes = slopes + B.T @ known.mass_slopes(M_s, by) @ B
        sums = known.masses.M_sum[i]
        assert agrees(known.mass_slopes(sums, by), slopes)  # (21)
        whole = mass(*known.of([sums.m]), known.of(sums.h), known.matrix(sums.J))
        b, b_x = known.of(body.at.b), known.by(body.at.b, by)
        for j, column in known.columns[i].items():
            b_j, b_j_x = known.of(column), known.by(column, by)
            found = b_x.T @ whole @ b_j + b @ slopes @ b_j + b @ whole @ b_j_x  # (20)
            assert agrees(known.by([known.masses.entries[i, j]], by)[0], found)


@EACH_POINT
def test_stiffness_and_damping(point):
    """(25) to (32), and (78) to (83), which are the same about their points"""
    known = printed(point)
    K_sum, C_sum = {}, {}
    for body in reversed(bodies(known)):
        i, forces = body.i, known.forces
        assert agrees(known.by(forces.inertial[i].t, "q"), body.t_z)
        assert agrees(-known.by(forces.inertial[i].Q, "q"), body.K_I)
        assert agrees(-known.by(forces.external[i], "q"), body.K_e)
        assert agrees(-known.by(forces.inertial[i].Q, "qd"), body.C)
        d_sum = known.of(body.motion.V_dot)
        moved = known.mass_slopes(body.body.M, "q") @ d_sum
        K = body.K_I + body.K_e + moved.T + body.M @ known.by(body.motion.V_dot, "q")
        C = body.C + body.M @ known.by(body.motion.V_dot, "qd")
        for s in known.system.children(i):
            arm, Q_s = known.system.geometry[s].arm, known.of(forces.Q_sum[s])
            B = known.shift(arm)
            returned = np.vstack([0 * body.r_z, tilde(Q_s[:3]) @ known.by(arm, "q")])
            K, C = K + B.T @ K_sum[s] - returned, C + B.T @ C_sum[s]
        K_sum[i], C_sum[i] = K, C
        assert agrees(-known.by(forces.Q_sum[i], "q"), K)  # (25b)
        assert agrees(-known.by(forces.Q_sum[i], "qd"), C)  # (31b)
        K = body.b @ K - known.of(forces.Q_sum[i]) @ known.by(body.at.b, "q")  # (25a)
        assert agrees(known.by([known.tau[i - 1]], "q")[0], K)
        assert agrees(known.by([known.tau[i - 1]], "qd")[0], body.b @ C)  # (31a)


@pytest.mark.parametrize("point", [RTDYN0, RTDYN1])
def test_inertia_about_centres_and_about_the_origin(point):
    """(78c), (79c) to (79e), (81b), (82c)"""
    known = printed(point)
    for body in bodies(known):
        w, spin = tilde(body.omega), body.spin
        turned = spin @ body.omega_z + w @ np.tensordot(body.J_z, body.omega, (2, 0)).T
        K, C = (np.vstack([0 * x, x]) for x in (turned, spin @ body.R[3:]))
        if point is RTDYN1:
            x = tilde(body.r_G)
            swing = -body.m * (tilde(w @ body.r_G) + w @ x)
            moved = body.R[:3] - x @ body.R[3:]
            t_z = body.m * w @ w @ moved + swing @ body.omega_z
            K = K + np.vstack([t_z, x @ t_z - tilde(body.t) @ moved])
            C = C + np.vstack([swing, x @ swing]) @ body.R[3:]
        assert agrees(-known.by(known.forces.inertial[body.i].Q, "q"), K)
        assert agrees(-known.by(known.forces.inertial[body.i].Q, "qd"), C)


@EACH_POINT
def test_forces_by_parameters(point):
    """(33) to (36), (33b), (34) and (35) corrected; and section 9.4"""
    known, by = printed(point), "parameters"
    for body in reversed(bodies(known)):
        i, at, motion, forces = body.i, body.at, body.motion, known.forces
        r_x, G_x = known.by(at.r, by), known.by(at.places.centre, by)
        omega_x, w = known.by(motion.omega, by), tilde(body.omega)
        m_x = known.by([body.body.m], by)
        t = -body.t
        t_x = -body.m * w @ w @ (G_x - r_x) - body.swing @ omega_x  # (35)
        t_x = t_x - np.outer(w @ body.h, m_x)
        J_x = known.of_matrix(body.body.J_G, by)
        moment = tilde(body.c) @ t_x + tilde(t) @ (r_x - G_x) - body.spin @ omega_x
        moment -= w @ np.tensordot(J_x, body.omega, (2, 0)).T
        Q_x = np.vstack([t_x, moment])  # (34c)
        assert agrees(known.by(forces.inertial[i].Q, by), Q_x)
        external = np.zeros_like(Q_x)
        for r, f in body.forces():  # (34b)
            f_x, arm = known.by(f, by), known.of(r) - body.r
            moved = tilde(known.of(f)) @ (r_x - known.by(r, by)) + tilde(arm) @ f_x
            external += np.vstack([f_x, moved])
        assert agrees(known.by(forces.external[i], by), external)
        Q_x = Q_x + external - (known.mass_slopes(body.body.M, by) @ known.of(motion.V_dot)).T
        Q_x = Q_x - body.M @ known.by(motion.V_dot, by)
        for s in known.system.children(i):
            arm, Q_s = known.system.geometry[s].arm, known.of(forces.Q_sum[s])
            Q_x = Q_x + known.shift(arm).T @ known.by(forces.Q_sum[s], by)
            Q_x = Q_x + np.vstack([0 * r_x, tilde(Q_s[:3]) @ known.by(arm, by)])
        assert agrees(known.by(forces.Q_sum[i], by), Q_x)  # (33b)
        b_x = known.by(at.b, by)
        found = body.b @ Q_x + known.of(forces.Q_sum[i]) @ b_x  # (33a)
        assert agrees(-known.by([known.tau[i - 1]], by)[0], found)
        before = known.by(known.system.motions[body.p].omega, by)
        assert agrees(omega_x, before + b_x[3:] * known.qd[i - 1])  # (36)
        w_x, u_x, J_at = (known.by(x, by) for x in (at.w, at.u, at.places.joint))
        lever = (
            tilde(known.of(at.w)) @ (r_x - J_at) - tilde(body.r - known.of(at.places.joint)) @ w_x
        )
        assert agrees(b_x, np.vstack([lever + u_x, w_x]))


def test_points_by_their_coordinates():
    """(53), (54): cases 1 to 3"""
    known, places = printed(LINK_ORIGIN), {x: k for k, x in enumerate(every_kind()[1])}
    numbers = {joint.name: joint.number for joint in known.system.tree.joints}
    turn, flap, pendulum = (known.body(numbers[x]) for x in ("turn", "flap", "pendulum"))
    centre = flap.at.places.centre
    for point, parameter, body, axis in (
        (centre, "cz", flap, 2),  # k = j
        (centre, "a1", turn, 0),  # x of the joint in its second body is -a1: case 2, twice minus
        (pendulum.at.places.centre, "cz", None, 0),  # case 3
    ):
        column = known.by(point, "parameters")[:, places[parameter]]
        ways = [known.slopes.of(x) for x in point]
        start = known.places["parameters"].start + places[parameter]
        entries = [row.get(start, known.zero) for row in ways]
        if body is None:
            assert agrees(column, np.zeros(3)), parameter
            continue
        assert agrees(column, known.matrix(body.at.A)[:, axis]), parameter
        expected = known.of_matrix(body.at.A, "q")[:, :, axis].T
        assert agrees(known.by(entries, "q"), expected), parameter


@EACH_POINT
def test_accelerations(point):
    """(14a), (14c) and (14d), without constraints"""
    state, still = state_of(every_kind()[0], 1), printed(point)
    known = Printed(point, state["qdd"])
    assert agrees(known.by(known.tau, "qd"), still.by(still.tau, "qd"))  # C
    for by in ("q", "parameters"):
        M_x = np.zeros((known.n, known.n, len(known.places[by])))
        for (i, j), entry in known.masses.entries.items():
            M_x[i - 1, j - 1] = M_x[j - 1, i - 1] = known.by([entry], by)[0]
        whole = np.einsum("ijk,j->ik", M_x, state["qdd"]) + still.by(still.tau, by)
        assert agrees(known.by(known.tau, by), whole)
