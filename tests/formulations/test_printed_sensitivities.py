"""The sensitivity equations of Anderson, Hsu 2002 and Xiang 2009, as printed but for misprints.

Each is evaluated with NumPy from what the recursion names and from complex steps of that.  Equal to
it are the complex step of what it is the derivative of, and every ``d_...`` line of the program."""

from dataclasses import replace
from functools import reduce

import numpy as np
import pytest

from symgen.formulations.explicit_kane import explicit, partially_recursive
from symgen.formulations.explicit_kane.equations import Equations, Route
from symgen.formulations.joint_terms import reflected_inertia
from symgen.formulations.kane.contributions import contributions
from symgen.formulations.kane.recursion import solve
from symgen.formulations.recursive_lagrange import RECURSIVE_LAGRANGE
from symgen.kinematics.tree import BASE
from tests.oracles.comparison import agrees
from tests.oracles.named import (
    LIMIT,
    ROBOTS,
    Named,
    block,
    cross,
    efforts,
    matrix,
    motions,
    plus,
    times,
    transposed,
    vector,
)

MOTION = ("q", "qd", "qdd")
HYBRID = ("hybrid_dynamics_derivatives", "hybrid_dynamics_parameter_derivatives")


def kane(robot, formulation, route):
    """The lines of M qdd - K of a route, at the accelerations that it finds."""

    def write(tree, b, state):
        free = tuple(joint.number for joint in tree.joints if not joint.prescribed)
        qdd = [b.algebra.zero if k + 1 in free else x for k, x in enumerate(state.qdd)]
        known = replace(state, qdd=tuple(qdd))
        Equations(tree, b, known, free, Route(route.mass_matrix, route.forces)).torques(state.qdd)
        for joint in tree.joints:
            b.keep(f"I_{joint.number}", joint.body.inertia)
            b.keep(f"mass_{joint.number}", joint.body.mass)
            b.keep(f"rotor_{joint.number}", reflected_inertia(joint))

    return Named(robot, formulation, HYBRID, ("q", "qd", "parameters"), write)


def body(x, k):
    """I_1^k, (21), with (76)."""
    mass = x([[f"mass_{k}"]])
    return block([[x(matrix(f"I_{k}", 3, 3)), None], [None, tuple(m * np.eye(3) for m in mass)]])


def shift(x, k):
    """S^k with its arrow."""
    C, gamma = x(matrix(f"C_{k}", 3, 3)), cross(x(vector(f"gamma_{k}")))
    return block([[C, times(gamma, C)], [None, C]])


def check_shared(x):
    """(72)-(74): partial velocities; (8), (9): torques and accelerations."""
    free = [joint.number for joint in x.tree.joints if not joint.prescribed]
    for joint in x.tree.joints:
        k = joint.number
        for r in x.tree.path(joint.parent):
            S, P = transposed(shift(x, k)), x(motions(f"P_{r}_{joint.parent}"))
            x.check(motions(f"P_{r}_{k}"), S[1] @ P[0] + S[0] @ P[1], "_held")
        unbalance, left = -x([[f"K_{k}"]])[1], x([[f"drive_{k}"]])[1]
        for i in free:
            M, rotor = x([[f"M_{max(k, i)}_{min(k, i)}"]]), x([[f"rotor_{k}"]])[0] * (i == k)
            unbalance = unbalance + M[1] * x.state["qdd"][i - 1]
            found = [x.lines.get(f"d_qdd_{i}_d{by}", 0.0) for by in x.variables]
            left = left + (M[0] + rotor) * np.reshape(found, (-1, 1, 1))
        x.check([[f"tau_{k}"]], unbalance, "_held")
        if k in free:
            assert agrees(left + unbalance, 0 * left, LIMIT)


@pytest.mark.parametrize("robot", ROBOTS)
def test_explicit_sums(robot):
    """(8), (9), (27)-(31), (72)-(74), (76) of Anderson, Hsu 2002."""
    x = kane(robot, "explicit_kane", explicit)
    check_shared(x)
    for r in x.numbers():
        d_K = 0
        for i in x.tree.path(r):
            d_M = 0
            for k in x.tree.carried_by(r):
                (P_r, d_P_r), (P_i, d_P_i) = (x(motions(f"P_{j}_{k}")) for j in (r, i))
                (I_1, d_I_1), P_t, d_P_t = body(x, k), P_r.T, np.swapaxes(d_P_r, 1, 2)
                d_M = d_M + d_P_t @ I_1 @ P_i + P_t @ d_I_1 @ P_i + P_t @ I_1 @ d_P_i
            if f"M_{r}_{i}" in x.values:
                x.check([[f"M_{r}_{i}"]], d_M, "_held")
        for k in x.tree.carried_by(r):
            P, F = transposed(x(motions(f"P_{r}_{k}"))), x(efforts(f"F1_{k}"))
            d_K = d_K + P[1] @ F[0] + P[0] @ F[1]
        x.check([[f"K_{r}"]], d_K, "_held")
    assert min(x.seen[name] for name in ("P", "M", "K", "tau")) > 10, x.seen


@pytest.mark.parametrize("robot", ROBOTS)
def test_sums_carried_inward(robot):
    """(8), (9), (72)-(96) of Anderson, Hsu 2002."""
    x = kane(robot, "partially_recursive_kane", partially_recursive)
    check_shared(x)

    def by_shifts(name, k):
        """(83), (92): products of shifts, the last factor of which is differentiated."""
        found = 0
        for j in x.tree.carried_by(k)[1:]:
            way = [a for a in x.tree.path(j) if a not in x.tree.path(k)]
            outer = reduce(np.matmul, [shift(x, a)[0] for a in way[:-1]], np.eye(6))
            found = found + outer @ shift(x, j)[1] @ x(efforts(f"{name}_{j}"))[0]
        return found

    def carried(own, k):
        """(81), (82), (91): a part of a sum."""
        return own(k) + sum((shift(x, c)[0] @ carried(own, c) for c in x.children(k)), 0)

    for k in x.numbers():
        P = transposed(x(motions(f"P_{k}_{k}")))
        for i in x.tree.path(k):
            RI = carried(lambda j, i=i: body(x, j)[1] @ x(motions(f"P_{i}_{j}"))[0], k)
            RP = carried(lambda j, i=i: body(x, j)[0] @ x(motions(f"P_{i}_{j}"))[1], k)
            parts, R2 = RI + RP + by_shifts(f"R2_{i}", k), x(efforts(f"R2_{i}_{k}"))
            x.check(efforts(f"R2_{i}_{k}"), parts, "_held")
            if f"M_{k}_{i}" in x.values:
                x.check([[f"M_{k}_{i}"]], P[1] @ R2[0] + P[0] @ parts, "_held")  # (79), (85)
        parts = carried(lambda j: x(efforts(f"F1_{j}"))[1], k) + by_shifts("F2", k)
        x.check(efforts(f"F2_{k}"), parts, "_held")
        d_K = P[1] @ x(efforts(f"F2_{k}"))[0] + P[0] @ parts  # (89), (94), (96)
        x.check([[f"K_{k}"]], d_K, "_held")
    assert min(x.seen[name] for name in ("P", "M", "K", "R2", "F2", "tau")) > 10, x.seen


@pytest.mark.parametrize("robot", ROBOTS)
def test_articulated_bodies(robot):
    """(62)-(70) of Anderson, Hsu 2002; a prescribed joint is not eliminated."""

    def write(tree, b, state):
        known = contributions(tree, b, state, [j.number for j in tree.joints if j.prescribed])
        solve(tree, known, b, state)
        for k, at in known.items():
            found = {"P_w": at.P.angular, "P_v": at.P.linear, "m": at.body.m, "rotor": at.rotor}
            for name, value in found.items():
                b.keep(f"{name}_{k}", value)

    x = Named(robot, "kane", HYBRID, ("q", "qd", "x", "parameters"), write, "hybrid_dynamics")
    for joint in x.tree.joints:
        k, p = joint.number, joint.parent

        def inertia(k):
            nn, ff = (matrix(f"I_3_{k}_{name}", 3, 3, True) for name in ("nn", "ff"))
            nf = matrix(f"I_3_{k}_nf", 3, 3)
            return np.block([[nn, nf], [nf.T, ff]])

        def back(k):
            """S^k with its arrow."""
            C = times(x(matrix(f"E_{k}", 3, 3)), x(matrix(f"Q_{k}", 3, 3)))
            near, far = (cross(x(vector(f"{name}_{k}"))) for name in "lu")
            return block([[C, plus(times(C, near), times(far, C))], [None, C]])

        def left(c):
            """(64), (65): what a child leaves to its parent."""
            S, I_3 = back(c), x(inertia(c))
            F_3, P = x(vector(f"F_3_n_{c}", f"F_3_f_{c}")), x(vector(f"P_w_{c}", f"P_v_{c}"))
            d_I, d_F = times(S, I_3, transposed(S))[1], times(S, F_3)[1]
            if x.tree.joint(c).prescribed:
                return d_I, d_F
            (M, d_M), U = x([[f"pivot_{c}"]]), times(S, I_3, P)
            over = 1 / M, -d_M / M**2
            d_I = d_I - times(U, over, transposed(U))[1]
            return d_I, d_F - times(U, over, x([[f"e_{c}"]]))[1]

        h, one = cross(x(vector(f"h_{k}"))), np.eye(3)
        m = tuple(part * one for part in x([[f"m_{k}"]]))
        J = x(matrix(f"J_{k}", 3, 3, True))
        J = tuple(np.einsum("...ii", part)[..., None, None] * one - part for part in J)
        d_I = block([[J, h], [transposed(h), m]])[1]
        d_F = x(vector(f"F_1_n_{k}", f"F_1_f_{k}"))[1]
        for c in x.children(k):
            d_I, d_F = d_I + left(c)[0], d_F + left(c)[1]
        x.check(inertia(k), d_I)
        x.check(vector(f"F_3_n_{k}", f"F_3_f_{k}"), d_F)
        S, I_3, P = back(k), x(inertia(k)), x(vector(f"P_w_{k}", f"P_v_{k}"))
        if joint.prescribed:
            continue
        A = "A_in" if p != BASE and x.tree.joint(p).prescribed else "A"
        A_in = times(transposed(S), x(vector(f"{A}_n_{p}", f"{A}_f_{p}")))
        M, e, qdd = x([[f"pivot_{k}"]]), x([[f"e_{k}"]]), x([[f"qdd_{k}"]])
        P_t = transposed(P)
        d_M = P_t[1] @ I_3[0] @ P[0] + P_t[0] @ I_3[1] @ P[0] + P_t[0] @ I_3[0] @ P[1]
        x.check([[f"pivot_{k}"]], d_M + x([[f"rotor_{k}"]])[1])  # (63)
        felt = times(P_t, I_3, A_in)  # (67), (69), by the quotient rule
        x.check([[f"qdd_{k}"]], (e[1] - felt[1] - qdd[0] * M[1]) / M[0])
        d_A = A_in[1] + P[1] @ qdd[0] + P[0] @ qdd[1]
        x.check(vector(f"A_n_{k}", f"A_f_{k}"), d_A)  # (68), (70)
    assert min(x.seen[name] for name in ("I", "F", "pivot", "qdd", "A")) > 10, x.seen


@pytest.mark.parametrize("robot", ROBOTS)
def test_lagrangian_recursion(robot):
    """(21)-(31), (33)-(35) of Xiang 2009, on a tree with several loads as (37) has it."""
    write = RECURSIVE_LAGRANGE.functions["inverse_dynamics"]
    x = Named(robot, "recursive_lagrange", ["inverse_dynamics_derivatives"], MOTION, write)
    n, state = x.tree.n, x.state
    gravity = np.array([1, -2, -9, 0])
    loads = {load.name: wrench for load, wrench in zip(x.tree.loads, state["loads"], strict=True)}

    def pose(name, k):
        """A_k, B_k or C_k; those of the base."""
        base = np.eye(4) * (name == "A"), np.zeros((3 * n, 4, 4))
        return base if k == BASE else x(matrix(f"{name}_{k}", 4, 4))

    for joint in x.tree.joints:
        i, p = joint.number, joint.parent
        U, Z, T = (x(matrix(f"{name}_{i}", 4, 4))[0] for name in "UZT")
        T0, T1, T2, T3 = (U @ np.linalg.matrix_power(Z, m) @ T for m in range(4))
        qd, qdd = state["qd"][i - 1], state["qdd"][i - 1]
        (A, dA), (B, dB), (C, dC) = (pose(name, p) for name in "ABC")
        d_A, d_B, d_C = (np.split(part, 3) for part in (dA, dB, dC))  # by q, qd, qdd
        zero, one = np.zeros((n, 4, 4)), np.eye(n)[i - 1][:, None, None]  # 1 for k = i
        slopes = {
            "A": [d_A[0] @ T0 + one * (A @ T1), zero, zero],  # (21)
            "B": [d_B[0] @ T0 + d_A[0] @ T1 * qd + one * (B @ T1 + A @ T2 * qd),  # (22)
                  d_B[1] @ T0 + one * (A @ T1), zero],  # (23)
            "C": [d_C[0] @ T0 + 2 * d_B[0] @ T1 * qd + d_A[0] @ (T2 * qd**2 + T1 * qdd)  # (24)
                  + one * (C @ T1 + 2 * B @ T2 * qd + A @ T3 * qd**2 + A @ T2 * qdd),
                  d_C[1] @ T0 + 2 * d_B[1] @ T1 * qd + one * 2 * (B @ T1 + A @ T2 * qd),  # (25)
                  d_C[2] @ T0 + one * (A @ T1)],  # (26)
        }  # fmt: skip
        for name, found in slopes.items():
            x.check(matrix(f"{name}_{i}", 4, 4), np.concatenate(found))
        d_C = np.swapaxes(np.concatenate(slopes["C"]), 1, 2)
        sums = {"D": x(matrix(f"I_{i}", 4, 4))[0] @ d_C}
        for name in ("D", "E", *(f"F_{load}" for load in loads)):  # (27)-(31)
            found, width = sums.get(name, 0 * dC[:, :, :1]), 4 if name == "D" else 1
            for c in x.children(i):
                U_c, Z_c, T_c = (x(matrix(f"{part}_{c}", 4, 4))[0] for part in "UZT")
                X, d_X = x(matrix(f"{name}_{c}", 4, width))
                found = found + U_c @ T_c @ d_X
                found[c - 1] += U_c @ Z_c @ T_c @ X
            x.check(matrix(f"{name}_{i}", 4, width), found)
            sums[name] = x(matrix(f"{name}_{i}", 4, width))[0], found
        first, second = A @ T1, dA @ T1 + np.concatenate([one, 0 * one, 0 * one]) * (A @ T2)
        moved = {name: second @ X + first @ d_X for name, (X, d_X) in sums.items()}
        z_0 = np.array([Z[2, 1], Z[0, 2], Z[1, 0], 0])
        d_tau = np.einsum("kii", moved["D"]) - (gravity @ moved["E"])[:, 0]  # (33)-(35)
        for load, wrench in loads.items():
            d_tau = d_tau - (np.append(wrench[:3], 0) @ moved[f"F_{load}"])[:, 0]
        d_tau = d_tau - x(matrix(f"G_{i}", 4, 1))[0][:, 0] @ (dA @ U @ z_0).T
        x.check([[f"tau_{i}"]], d_tau[:, None, None])
    assert min(x.seen[name] for name in ("A", "B", "C", "D", "E", "F", "tau")) > 5, x.seen
