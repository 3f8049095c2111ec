"""The kinematics of Barman 2020, chapter III, line by line: for a chain of standard DH rows.

Every equation in its two cases, revolute and prismatic, as printed but where the number is followed
by "corrected".  Nothing is imported from symgen.
"""

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
    0 where they are not set.  `R0[j, i]` is that of `R0[j]` with respect to q_i.
    """

    def __init__(self, rows, q, qd, qdd):
        self.omega, self.alpha, self.x, self.v, self.a, self.R0 = (_Zero() for _ in range(6))
        self.R0[0] = np.eye(3)
        for j, row in enumerate(rows, start=1):
            revolute = row.type == "revolute"
            theta = row.theta + (q[j - 1] if revolute else 0.0)
            d = row.d + (0.0 if revolute else q[j - 1])
            ct, st = np.cos(theta), np.sin(theta)
            ca, sa = np.cos(row.alpha), np.sin(row.alpha)
            R = np.array([[ct, -ca * st, sa * st], [st, ca * ct, -sa * ct], [0, sa, ca]])  # (2.10)
            dR = np.array([[-st, -ca * ct, sa * ct], [ct, -ca * st, sa * st], [0, 0, 0]]) * revolute
            e = np.array([0, sa, ca])
            dx = np.array([row.a, d * sa, d * ca])  # R_j^T times (2.11)
            step = self.revolute if revolute else self.prismatic
            step(j, R, dR, e, dx, qd[j - 1], qdd[j - 1])

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
