"""Kinematics and dynamics of Barman 2020, chapter III, line by line: chains of standard DH rows.

Every equation in its two cases, revolute and prismatic, as printed but where the number is followed
by "corrected"; centres of mass, forces, moments and torques are (3.41)-(3.46) and (3.56)-(3.95).
Nothing is imported from symgen."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Row:
    """A joint: its type and its DH row."""

    type: str
    theta: float
    d: float
    a: float
    alpha: float


class Thesis:
    """All quantities of a chain at one state.

    `X[j]` in link axes; `X[j, "q", i]`, `X[j, "qd", i]`, `X[j, "qdd", i]` are its sensitivities,
    0 where they are not set.  `R0[j, i]` is that of `R0[j]` with respect to q_i."""

    def __init__(self, rows, q, qd, qdd):
        self.omega, self.alpha, self.x, self.v, self.a, self.R0 = (_Zero() for _ in range(6))
        self.R0[0] = np.eye(3)
        self.R, self.dR, self.e, self.dx = {}, {}, {}, {}
        for j, row in enumerate(rows, start=1):
            self.geometry(j, row, q[j - 1])
            step = self.revolute if row.type == "revolute" else self.prismatic
            step(j, self.R[j], self.dR[j], self.e[j], self.dx[j], qd[j - 1], qdd[j - 1])

    def geometry(self, j, row, q):
        """(2.10), R_j^T times (2.11), (3.1), (3.2)"""
        revolute = row.type == "revolute"
        theta, d = (row.theta + q, row.d) if revolute else (row.theta, row.d + q)
        ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(row.alpha), np.sin(row.alpha)
        self.R[j] = np.array([[ct, -ca * st, sa * st], [st, ca * ct, -sa * ct], [0, sa, ca]])
        slope = np.array([[-st, -ca * ct, sa * ct], [ct, -ca * st, sa * st], [0, 0, 0]])
        self.dR[j] = slope * revolute
        self.e[j] = np.array([0, sa, ca])
        self.dx[j] = np.array([row.a, d * sa, d * ca])
        self.dx[j, "q", j] = np.zeros(3) if revolute else self.e[j]

    def into(self, X, j, R, dR):
        """(3.8)-(3.10), (3.14)-(3.16), (3.23)-(3.25), (3.32)-(3.34), (3.47)-(3.49)"""
        Y = _Zero({0: R.T @ X[j - 1]})
        for i in range(1, j):
            for by in ("q", "qd", "qdd"):
                Y[by, i] = R.T @ X[j - 1, by, i]
        Y["q", j] = dR.T @ X[j - 1]
        return Y

    def common(self, j, R, dR):
        self.R0[j] = self.R0[j - 1] @ R  # (3.62)
        for i in range(1, j):
            self.R0[j, i] = self.R0[j - 1, i] @ R  # (3.63)
        self.R0[j, j] = self.R0[j - 1] @ dR
        return [self.into(X, j, R, dR) for X in (self.omega, self.alpha, self.x, self.v, self.a)]

    def revolute(self, j, R, dR, e, dx, qd, qdd):
        w, wd, x, v, a = self.common(j, R, dR)
        dw = qd * e  # (3.5)
        self.omega[j] = w[0] + dw  # (3.11)
        self.alpha[j] = wd[0] + qdd * e + np.cross(w[0], dw)  # (3.17), (3.20)
        self.x[j] = x[0] + dx  # (3.26)
        dv = np.cross(self.omega[j], dx)  # (3.35)
        self.v[j] = v[0] + dv  # (3.38)
        self.a[j] = (
            a[0] + np.cross(self.alpha[j], dx) + np.cross(self.omega[j], dv)
        )  # (3.50), (3.53)
        for i in range(1, j + 1):
            own = i == j
            self.omega[j, "q", i] = w["q", i]  # (3.12)
            self.omega[j, "qd", i] = e if own else w["qd", i]  # (3.6), (3.12)
            self.alpha[j, "q", i] = wd["q", i] + np.cross(w["q", i], dw)  # (3.18), (3.21)
            turned = np.cross(w[0], e) if own else np.cross(w["qd", i], dw)  # (3.18) corrected
            self.alpha[j, "qd", i] = wd["qd", i] + turned  # (3.21)
            self.alpha[j, "qdd", i] = e if own else wd["qdd", i]  # (3.21)
            self.x[j, "q", i] = x["q", i]  # (3.27)
            for by in ("q", "qd"):
                slope = np.cross(self.omega[j, by, i], dx)  # (3.36)
                self.v[j, by, i] = v[by, i] + slope  # (3.39)
                self.a[j, by, i] = (  # (3.51), (3.54)
                    a[by, i]
                    + np.cross(self.alpha[j, by, i], dx)
                    + np.cross(self.omega[j, by, i], dv)
                    + np.cross(self.omega[j], slope)
                )
            self.a[j, "qdd", i] = a["qdd", i] + np.cross(self.alpha[j, "qdd", i], dx)  # corrected

    def prismatic(self, j, R, dR, e, dx, qd, qdd):
        w, wd, x, v, a = self.common(j, R, dR)
        omega, alpha = w[0], wd[0]
        self.omega[j], self.alpha[j] = omega, alpha  # (3.5), (3.11), (3.17), (3.20)
        self.x[j] = x[0] + dx  # (3.26)
        dv = np.cross(omega, dx) + qd * e  # (3.35)
        self.v[j] = v[0] + dv  # (3.38)
        sliding = np.cross(omega, qd * e) + qdd * e
        self.a[j] = a[0] + np.cross(alpha, dx) + np.cross(omega, dv) + sliding  # (3.50), (3.53)
        for i in range(1, j):
            for by in ("q", "qd", "qdd"):
                self.omega[j, by, i] = w[by, i]  # (3.13) corrected
                self.alpha[j, by, i] = wd[by, i]  # (3.22)
                slope = np.cross(self.omega[j, by, i], dx)  # (3.37)
                self.v[j, by, i] = v[by, i] + slope  # (3.40) corrected
                self.a[j, by, i] = (  # (3.52), (3.55)
                    a[by, i]
                    + np.cross(self.alpha[j, by, i], dx)
                    + np.cross(self.omega[j, by, i], dv + qd * e)
                    + np.cross(omega, slope)
                )
            self.x[j, "q", i] = x["q", i]  # (3.28)
        self.x[j, "q", j] = e  # (3.28), the frame in front does not turn
        self.v[j, "q", j] = np.cross(omega, e)  # (3.37), (3.40)
        self.v[j, "qd", j] = e
        self.a[j, "q", j] = np.cross(alpha, e) + np.cross(omega, np.cross(omega, e))  # corrected
        self.a[j, "qd", j] = 2 * np.cross(omega, e)
        self.a[j, "qdd", j] = e


class _Zero(dict):
    """What is not set is 0."""

    def __missing__(self, key):
        return np.zeros(3)


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

    `loads` has one row [force, moment] per link, base axes, exerted by the environment."""

    def __init__(self, links, gravity, q, qd, qdd, loads):
        super().__init__([link.row for link in links], q, qd, qdd)
        self.links, self.n = links, len(links)
        for name in ("v_G", "a_G", "H", "F_G", "n_G", "F_p", "n_p", "F_e", "n_f", "n_m", "tau"):
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
