"""The dynamics of Barman 2020, chapter III, line by line: for a chain of standard DH rows.

On top of the kinematics: centres of mass, forces, moments and torques, (3.41)-(3.46) and
(3.56)-(3.95), as printed but where the number is followed by "corrected".  Nothing is imported from
symgen.
"""

from dataclasses import dataclass

import numpy as np

from tests.oracles.barman_kinematics import Row, Thesis, _Zero

KINDS = ("q", "qd", "qdd")


@dataclass(frozen=True)
class Link:
    """A link behind a joint: mass, centre of mass and inertia about it, and where its load acts."""

    row: Row
    mass: float
    com: np.ndarray
    inertia: np.ndarray
    point: np.ndarray


class ThesisDynamics(Thesis):
    """All quantities of a chain at one state, sensitivities as in `Thesis`.

    `loads` has one row [force, moment] per link, base axes, exerted by the environment.
    """

    def __init__(self, links, gravity, q, qd, qdd, loads):
        super().__init__([link.row for link in links], q, qd, qdd)
        self.links, self.n = links, len(links)
        self.R, self.dR, self.e, self.dx = {}, {}, {}, {}
        for j, link in enumerate(links, start=1):
            self.geometry(j, link.row, q[j - 1])
        names = ("v_G", "a_G", "H", "F_G", "n_G", "F_p", "n_p", "F_e", "n_f", "n_m", "tau")
        for name in names:
            setattr(self, name, _Zero())
        for j, link in enumerate(links, start=1):
            self.center(j, link, qd[j - 1], qdd[j - 1])
            self.inertia(j, link, gravity)
        for j in range(self.n, 0, -1):
            self.forces(j)
        for j in range(self.n, 0, -1):
            self.loaded(j, links[j - 1], loads[j - 1])
        for j in range(self.n, 0, -1):
            self.torque(j)

    def geometry(self, j, row, q):
        """(2.10), (2.11), (3.1), (3.2)"""
        revolute = row.type == "revolute"
        theta, d = (row.theta + q, row.d) if revolute else (row.theta, row.d + q)
        ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(row.alpha), np.sin(row.alpha)
        self.R[j] = np.array([[ct, -ca * st, sa * st], [st, ca * ct, -sa * ct], [0, sa, ca]])
        slope = np.array([[-st, -ca * ct, sa * ct], [ct, -ca * st, sa * st], [0, 0, 0]])
        self.dR[j] = slope * revolute
        self.e[j] = np.array([0, sa, ca])
        self.dx[j] = np.array([row.a, d * sa, d * ca])
        self.dx[j, "q", j] = np.zeros(3) if revolute else self.e[j]

    def center(self, j, link, qd, qdd):
        revolute, e = link.row.type == "revolute", self.e[j]
        arm, omega, alpha = self.dx[j] + link.com, self.omega[j], self.alpha[j]
        v = self.into(self.v, j, self.R[j], self.dR[j])
        a = self.into(self.a, j, self.R[j], self.dR[j])
        slide = 0 * e if revolute else qd * e
        dv = np.cross(omega, arm) + slide  # (3.41)
        self.v_G[j] = v[0] + dv  # (3.44)
        change = np.cross(omega, slide) + (0 * e if revolute else qdd * e)
        self.a_G[j] = a[0] + np.cross(alpha, arm) + np.cross(omega, dv) + change  # (3.56) corrected
        for i in range(1, j + 1):
            own = i == j and not revolute
            slopes = {by: np.cross(self.omega[j, by, i], arm) for by in KINDS}  # (3.42), (3.43)
            if own:
                slopes = {"q": np.cross(omega, e), "qd": e, "qdd": 0 * e}
            for by in KINDS:
                self.v_G[j, by, i] = v[by, i] + slopes[by]  # (3.45), (3.46)
                turning = np.cross(self.alpha[j, by, i], arm)  # (3.57), (3.58)
                turning = turning + np.cross(self.omega[j, by, i], dv + slide)
                if own:
                    turning = {"q": np.cross(alpha, e), "qd": np.cross(omega, e), "qdd": e}[by]
                self.a_G[j, by, i] = a[by, i] + turning + np.cross(omega, slopes[by])  # (3.60)

    def inertia(self, j, link, gravity):
        omega, inertia, R0 = self.omega[j], link.inertia, self.R0
        self.H[j] = inertia @ omega  # (3.64)
        self.F_G[j] = link.mass * (self.a_G[j] - R0[j].T @ gravity)  # (3.67) corrected
        self.n_G[j] = inertia @ self.alpha[j] + np.cross(omega, self.H[j])  # (3.69)
        for i in range(1, j + 1):
            for by in KINDS:
                weight = R0[j, i].T @ gravity if by == "q" else np.zeros(3)
                self.F_G[j, by, i] = link.mass * (self.a_G[j, by, i] - weight)  # (3.68) corrected
                self.H[j, by, i] = inertia @ self.omega[j, by, i]  # (3.65), (3.66)
                self.n_G[j, by, i] = (  # (3.70), (3.71)
                    inertia @ self.alpha[j, by, i]
                    + np.cross(self.omega[j, by, i], self.H[j])
                    + np.cross(omega, self.H[j, by, i])
                )

    def beyond(self, X, j):
        """Of X at link j + 1, in axes of link j, with its sensitivities: (3.72), (3.73) alike."""
        Y = _Zero()
        if j < self.n:
            R, dR = self.R[j + 1], self.dR[j + 1]
            Y[0] = R @ X[j + 1]
            for i in range(1, self.n + 1):
                for by in KINDS:
                    turned = dR @ X[j + 1] if (by, i) == ("q", j + 1) else 0
                    Y[by, i] = R @ X[j + 1, by, i] + turned
        return Y

    def forces(self, j):
        """(3.72)-(3.75), (3.80)-(3.83): of inertia."""
        F_d, n_d = self.beyond(self.F_p, j), self.beyond(self.n_p, j)
        dx, com = self.dx[j], self.links[j - 1].com
        self.F_p[j] = F_d[0] + self.F_G[j]  # (3.74)
        self.n_p[j] = (  # (3.82)
            n_d[0] + self.n_G[j] - np.cross(F_d[0], dx) - np.cross(self.F_G[j], dx + com)
        )
        for i in range(1, self.n + 1):
            for by in KINDS:
                dF, dF_G = F_d[by, i], self.F_G[j, by, i]  # the latter is 0 for i > j
                self.F_p[j, by, i] = dF + dF_G  # (3.75)
                moved = self.dx.get((j, by, i), np.zeros(3))
                self.n_p[j, by, i] = (  # (3.83) corrected
                    n_d[by, i]
                    + self.n_G[j, by, i]
                    - np.cross(dF, dx)
                    - np.cross(dF_G, dx + com)
                    - np.cross(F_d[0] + self.F_G[j], moved)
                )

    def loaded(self, j, link, load):
        """(3.76)-(3.79), (3.84)-(3.91), corrected: all loads from link j on."""
        F, f, m = (self.beyond(X, j) for X in (self.F_e, self.n_f, self.n_m))
        R0, dx, reach = self.R0, self.dx[j], link.point + self.dx[j]
        here, moment = R0[j].T @ load[:3], R0[j].T @ load[3:]
        self.F_e[j] = F[0] + here  # (3.76)
        self.n_f[j] = f[0] + np.cross(dx, F[0]) + np.cross(reach, here)  # (3.84)
        self.n_m[j] = m[0] + moment  # (3.88)
        for i in range(1, self.n + 1):
            for by in KINDS:
                turned = R0[j, i].T if by == "q" and i <= j else np.zeros((3, 3))
                d_here, d_moment = turned @ load[:3], turned @ load[3:]
                moved = self.dx.get((j, by, i), np.zeros(3))
                self.F_e[j, by, i] = F[by, i] + d_here  # (3.77)
                self.n_f[j, by, i] = (  # (3.85)
                    f[by, i]
                    + np.cross(dx, F[by, i])
                    + np.cross(reach, d_here)
                    + np.cross(moved, F[0] + here)
                )
                self.n_m[j, by, i] = m[by, i] + d_moment  # (3.89)
        for key in [j, *((j, by, i) for i in range(1, self.n + 1) for by in KINDS)]:
            self.F_p[key] = self.F_p[key] - self.F_e[key]  # (3.78), (3.79)
            self.n_p[key] = self.n_p[key] - self.n_f[key] - self.n_m[key]  # (3.86)-(3.91)

    def torque(self, j):
        """(3.92)-(3.95); e does not depend on q."""
        felt = self.n_p if self.links[j - 1].row.type == "revolute" else self.F_p
        for key in [j, *((j, by, i) for i in range(1, self.n + 1) for by in KINDS)]:
            self.tau[key] = felt[key] @ self.e[j]
