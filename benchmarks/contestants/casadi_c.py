"""CasADi: textbook recursions over its SX scalars, `jacobian` for derivatives, its generated C.

The wheel of Pinocchio has no ``pinocchio.casadi``, so the recursions stand here: Newton-Euler,
composite rigid bodies and articulated bodies after Featherstone, in body axes, over 3-vectors and
3x3 blocks.  Constants are folded and common subexpressions shared by CasADi.  The generated C is
compiled with -O3 -march=native; one function of many thousand lines takes the compiler minutes, so
large ones are left out.
"""

from functools import cache

import numpy as np

from benchmarks.contestants import installed
from benchmarks.interface import KERNEL, POOL, Case, NotMeasured
from benchmarks.native import (
    DRIVERS,
    REFERENCE_FLAGS,
    CompilationError,
    c_library,
    pointers,
    timed,
)

TITLE = "CasADi C"

LARGEST = 40_000
"""Functions with more instructions than that are left out: gcc would take minutes."""

LARGEST_ESTIMATE = 60_000
"""Jacobians are not even derived above this estimate of their instructions."""


def missing():
    return None if installed("casadi") else "pip install casadi"


def versions():
    import casadi as ca

    return {"CasADi": ca.__version__, "flags of CasADi's C": " ".join(REFERENCE_FLAGS)}


def cases(problem, function, modes):
    if KERNEL not in modes:
        raise NotMeasured("it is called from C only")
    problem.without_free_bodies("its dynamics here are those of revolute and prismatic joints")
    symbolic = symbolic_function(problem.bodies, function)
    instructions = symbolic.n_instructions()
    if instructions > LARGEST:
        raise NotMeasured(f"{instructions:,} instructions")
    try:
        native = compiled(symbolic)
    except CompilationError as error:
        raise NotMeasured(str(error)) from error
    loop = timed(native.library, "time_function")
    bodies = problem.bodies
    states = [bodies.depth_first(x) for x in problem.arguments(function, POOL)]
    results = [np.empty(shape) for shape in problem.result_shapes(function)]
    inputs, outputs = pointers(states), pointers(results)

    def time(calls, _keep=(states, results, symbolic)):
        return loop(calls, POOL, inputs, outputs)

    def values():
        rows = []
        for sample in range(POOL):
            loop(1, 1, pointers([x[sample] for x in states]), outputs)
            rows.append([x.copy() for x in results])
        return tuple(bodies.in_file_order(np.array(x)) for x in zip(*rows, strict=True))

    facts = {"operations": instructions, "library bytes": native.size}
    yield Case("casadi_c", function, KERNEL, 1, time, values, facts=facts)


def symbolic_function(bodies, function):
    """A `casadi.Function` with the results of one sample, matrices row by row."""
    import casadi as ca

    q, qd, x = (ca.SX.sym(name, bodies.n) for name in ("q", "qd", "x"))
    if function == "mass_matrix":
        inputs, results = [q], [composite_rigid_bodies(bodies, q)]
    elif function.startswith("inverse_dynamics"):
        inputs, results = [q, qd, x], [newton_euler(bodies, q, qd, x)]
    else:
        inputs, results = [q, qd, x], [articulated_bodies(bodies, q, qd, x)]
    results = ca.cse(results)
    if function.endswith("_derivatives"):
        estimate = bodies.n * ca.Function("primal", inputs, results).n_instructions()
        if estimate > LARGEST_ESTIMATE:
            raise NotMeasured(f"some {estimate:,} instructions")
        slopes = [ca.jacobian(results[0], argument) for argument in (q, qd)]
        if function == "inverse_dynamics_derivatives":
            slopes.append(composite_rigid_bodies(bodies, q))  # cheaper than another Jacobian
        else:
            slopes.append(ca.jacobian(results[0], x))
        results = ca.cse([*results, *slopes])
    dense = [ca.densify(result.T) for result in results]  # it stores columns, we want rows
    return ca.Function("generated", inputs, dense)


@cache
def compiled(symbolic):
    """The generated C with a loop around it."""
    import casadi as ca

    generator = ca.CodeGenerator("generated.c", {"with_header": False})
    generator.add(symbolic)
    inputs = "".join(
        f"arg[{k}] = x[{k}] + s*{symbolic.size1_in(k)}; " for k in range(symbolic.n_in())
    )
    outputs = "".join(f"res[{k}] = y[{k}]; " for k in range(symbolic.n_out()))
    driver = f"""
#define CALL {inputs}{outputs} generated(arg, res, iw, w, 0)
static const double *arg[{symbolic.sz_arg()}];
static double *res[{symbolic.sz_res()}];
static long long iw[{symbolic.sz_iw() + 1}];
static double w[{symbolic.sz_w() + 1}];
TIMED_LOOP(time_function, CALL)
"""
    loop = (DRIVERS / "loop.h").read_text()
    text = f'#include "loop.h"\n{generator.dump()}\n{driver}'
    return c_library({"loop.h": loop, "generated.c": text}, (*REFERENCE_FLAGS, "-w"))


# ---------------------------------------------------------------------------------- recursions


def newton_euler(bodies, q, qd, qdd):
    """Joint torques."""
    import casadi as ca

    zero, count = ca.SX(3, 1), bodies.n
    turns, arms = _placements(bodies, q)
    w, wd, a = [zero] * count, [zero] * count, [zero] * count
    for i in range(count):
        parent, R, p = bodies.parents[i], turns[i], arms[i]
        w0, wd0, a0 = zero, zero, ca.SX(-bodies.gravity)
        if parent >= 0:
            w0, wd0, a0 = w[parent], wd[parent], a[parent]
        w[i] = R.T @ w0
        a[i] = R.T @ (a0 + _cross(wd0, p) + _cross(w0, _cross(w0, p)))
        wd[i] = R.T @ wd0
        if bodies.prismatic[i]:
            a[i] += _z(qdd[i]) + 2 * _cross(w[i], _z(qd[i]))
        else:
            wd[i] += _cross(w[i], _z(qd[i])) + _z(qdd[i])
            w[i] += _z(qd[i])
    forces, moments = [], []
    for i in range(count):
        c, inertia = ca.SX(bodies.centers[i]), _constant(bodies.inertias[i])
        F = bodies.masses[i] * (a[i] + _cross(wd[i], c) + _cross(w[i], _cross(w[i], c)))
        forces.append(F)
        moments.append(inertia @ wd[i] + _cross(w[i], inertia @ w[i]) + _cross(c, F))
    tau = [None] * count
    for i in reversed(range(count)):
        tau[i] = forces[i][2] if bodies.prismatic[i] else moments[i][2]
        parent = bodies.parents[i]
        if parent >= 0:
            f = turns[i] @ forces[i]
            forces[parent] += f
            moments[parent] += turns[i] @ moments[i] + _cross(arms[i], f)
    return ca.vertcat(*tau)


def composite_rigid_bodies(bodies, q):
    """The mass matrix."""
    import casadi as ca

    count = bodies.n
    turns, arms = _placements(bodies, q)
    m, h, J = [], [], []
    for i in range(count):
        c = bodies.centers[i]
        m.append(ca.SX(bodies.masses[i]))
        h.append(_constant(bodies.masses[i] * c))
        about_origin = bodies.inertias[i] + bodies.masses[i] * (c @ c * np.eye(3) - np.outer(c, c))
        J.append(_constant(about_origin))
    M = ca.SX(count, count)
    for i in reversed(range(count)):
        if bodies.prismatic[i]:
            f, n = _z(m[i]), _cross(h[i], _z(1))
        else:
            f, n = _cross(_z(1), h[i]), J[i] @ _z(1)
        M[i, i] = f[2] if bodies.prismatic[i] else n[2]
        R, p, j, parent = turns[i], arms[i], i, bodies.parents[i]
        if parent >= 0:
            turned = R @ h[i]
            J[parent] += (
                R @ J[i] @ R.T + (m[i] * ca.dot(p, p) + 2 * ca.dot(p, turned)) * ca.SX.eye(3)
                - m[i] * p @ p.T - p @ turned.T - turned @ p.T
            )  # fmt: skip
            m[parent] = m[parent] + m[i]
            h[parent] += turned + m[i] * p
        while bodies.parents[j] >= 0:
            f = turns[j] @ f
            n = turns[j] @ n + _cross(arms[j], f)
            j = bodies.parents[j]
            M[i, j] = M[j, i] = f[2] if bodies.prismatic[j] else n[2]
    return M


def articulated_bodies(bodies, q, qd, tau):
    """Accelerations."""
    import casadi as ca

    zero, count = ca.SX(3, 1), bodies.n
    turns, arms = _placements(bodies, q)
    w, v, bias = [None] * count, [None] * count, []
    blocks, moments, forces = [], [], []
    for i in range(count):
        parent, R, p = bodies.parents[i], turns[i], arms[i]
        w0, v0 = (w[parent], v[parent]) if parent >= 0 else (zero, zero)
        w[i], v[i] = R.T @ w0, R.T @ (v0 + _cross(w0, p))
        rate = _z(qd[i])
        if bodies.prismatic[i]:
            bias.append((zero, _cross(w[i], rate)))
            v[i] += rate
        else:
            bias.append((_cross(w[i], rate), _cross(v[i], rate)))
            w[i] += rate
        mass, C = bodies.masses[i], _skew_of_numbers(bodies.centers[i])
        A, B = _constant(bodies.inertias[i] - mass * C @ C), _constant(mass * C)
        D = _constant(mass * np.eye(3))
        blocks.append([A, B, D])
        n, f = A @ w[i] + B @ v[i], B.T @ w[i] + D @ v[i]
        moments.append(_cross(w[i], n) + _cross(v[i], f))
        forces.append(_cross(w[i], f))
    pivots, drives, columns = [None] * count, [None] * count, [None] * count
    for i in reversed(range(count)):
        A, B, D = blocks[i]
        if bodies.prismatic[i]:
            U = (B[:, 2], D[:, 2])
            pivots[i], drives[i] = D[2, 2], tau[i] - forces[i][2]
        else:
            U = (A[:, 2], B[2, :].T)
            pivots[i], drives[i] = A[2, 2], tau[i] - moments[i][2]
        columns[i] = U
        parent, R, p = bodies.parents[i], turns[i], arms[i]
        if parent < 0:
            continue
        A, B = A - U[0] @ U[0].T / pivots[i], B - U[0] @ U[1].T / pivots[i]
        D = D - U[1] @ U[1].T / pivots[i]
        scale = drives[i] / pivots[i]
        bw, bv = bias[i]
        n = moments[i] + A @ bw + B @ bv + U[0] * scale
        f = R @ (forces[i] + B.T @ bw + D @ bv + U[1] * scale)
        A, B, D = (R @ block @ R.T for block in (A, B, D))
        P = ca.skew(p)
        at_parent = blocks[parent]
        blocks[parent] = [
            at_parent[0] + A - B @ P + P @ B.T - P @ D @ P,
            at_parent[1] + B + P @ D,
            at_parent[2] + D,
        ]
        forces[parent] += f
        moments[parent] += R @ n + _cross(p, f)
    qdd, wd, vd = [None] * count, [None] * count, [None] * count
    for i in range(count):
        parent, R, p = bodies.parents[i], turns[i], arms[i]
        wd0, vd0 = (wd[parent], vd[parent]) if parent >= 0 else (zero, ca.SX(-bodies.gravity))
        wd[i] = R.T @ wd0 + bias[i][0]
        vd[i] = R.T @ (vd0 + _cross(wd0, p)) + bias[i][1]
        carried = ca.dot(columns[i][0], wd[i]) + ca.dot(columns[i][1], vd[i])
        qdd[i] = (drives[i] - carried) / pivots[i]
        moving = vd if bodies.prismatic[i] else wd
        moving[i] = moving[i] + _z(qdd[i])
    return ca.vertcat(*qdd)


def _placements(bodies, q):
    """Rotations to the frame of the parent's joint, and positions in it."""
    import casadi as ca

    turns, arms = [], []
    for i in range(bodies.n):
        R, p = _constant(bodies.twists[i]), _constant(bodies.positions[i])
        if bodies.prismatic[i]:
            turns.append(R)
            arms.append(p + R[:, 2] * q[i])
        else:
            angle = q[i] + bodies.offsets[i]
            c, s = ca.cos(angle), ca.sin(angle)
            about_z = ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1))
            turns.append(R @ about_z)
            arms.append(p)
    return turns, arms


def _constant(numbers):
    """Numbers as SX, zeros left out."""
    import casadi as ca

    return ca.sparsify(ca.SX(ca.DM(np.asarray(numbers, dtype=float))))


def _z(value):
    import casadi as ca

    return ca.vertcat(0, 0, value)


def _cross(a, b):
    import casadi as ca

    return ca.cross(a, b)


def _skew_of_numbers(c):
    return np.array([[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]])
