"""The closed form of Lagrange's equations with 4x4 transforms (Xiang 2009, section 3).

tau = M(q) qdd + V(q, qd) + gravity + loads, every term written out over the descendants of each
joint.  It is the form of the textbooks, and grows as n^4; the recursions are for large robots.

Notation (j runs over the links that all joints named carry)

===============  ==============  =======  ======================================================
paper            code            shape    meaning
===============  ==============  =======  ======================================================
T_j              T_j             4x4      pose of link frame j in its parent's link frame
0T_j             A_j             4x4      pose of link frame j in the base frame
d 0T_j / dq_k    dA_j_k          4x4      its derivative, for k on the path to j
d2 0T_j          ddA_j_k_m       4x4      its second derivative, k <= m on the path to j
I_j              pseudo_inertia  4x4      augmented inertia about the link frame's origin
--               dA_I_j_k        4x4      dA_j/dq_k I_j
M_ik             M_i_k           scalar   mass matrix
--               D_i_k_m         scalar   Christoffel symbol: the factor of qd_k qd_m in V_i
V_i              V_i             scalar   velocity torque
r_j, r_s         com, point      3        centre of mass, point of a load (link frame)
f_s, h           force, moment   3        load, exerted by the environment on the link (base axes)
===============  ==============  =======  ======================================================

`NOTES` maps the labels of the statements to the equations.  Gravity and loads carry minus signs
because g is the acceleration of gravity and f, h act on the link, as in (16) and (51) of the paper;
(6) is printed with plus signs.  The moment of a load, which (6) leaves out, is that of (16).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, inner, total
from symgen.formulations.interface import Formulation, State, Wrench
from symgen.formulations.shared import symbolic_loads, wrenches, write_frames
from symgen.kinematics.tree import BASE, Body, KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.differentiation import write_jacobians

NOTES = {
    "LG-1": "T_j of the joint -- Xiang 2009 (1)",
    "LG-2": "A_j = A_p T_j -- Xiang 2009 (5)",
    "LG-3": "dA_j/dq_k = dA_p/dq_k T_j for k above j, A_p dT_j/dq_j for k = j -- Xiang 2009 (21)",
    "LG-4": "d2A_j/dq_k dq_m: LG-3 differentiated once more -- Xiang 2009 (8), (21)",
    "LG-5": "dA_j/dq_k I_j -- Xiang 2009 (7)",
    "LG-6": "M_ik = sum_j tr(dA_j/dq_k I_j (dA_j/dq_i)^T) -- Xiang 2009 (7)",
    "LG-7": "D_ikm = sum_j tr(d2A_j/dq_k dq_m I_j (dA_j/dq_i)^T) -- Xiang 2009 (8)",
    "LG-8": "V_i = sum_k sum_m D_ikm qd_k qd_m -- Xiang 2009 (8)",
    "LG-9": "gravity_i = -sum_j m_j g . dA_j/dq_i r_j -- Xiang 2009 (6), (9)",
    "LG-10": "load_i = -f . dA_s/dq_i r_s - h . axis_i -- Xiang 2009 (6), (10), (16)",
    "LG-11": "tau_i = sum_k M_ik qdd_k + V_i + gravity_i + load_i -- Xiang 2009 (6)",
    "LG-12": "C_ik = sum_m D_ikm qd_m -- Christoffel symbols of Xiang 2009 (8)",
    "LG-13": "potential energy of a link -m_j g . A_j r_j",
    "LG-14": "angular velocity per qd_k: axis of (dR/dq_k) R^T",
}

LARGEST_CLOSED_FORM = 200_000
"""Largest estimated number of operations of a closed form that is still derived."""


class Kinematics(Generic[S]):
    """A_j and its derivatives, made when they are first asked for.

    Every entry is written into the program once, as a step of the joint that it belongs to.
    """

    def __init__(self, tree: KinematicTree[S], b: ProgramBuilder[S], q: Sequence[S]) -> None:
        self.tree, self.b, self.q = tree, b, q
        self._T: dict[int, Matrix[S]] = {}
        self._A: dict[int, Matrix[S]] = {}
        self._dA: dict[tuple[int, int], Matrix[S]] = {}
        self._ddA: dict[tuple[int, int, int], Matrix[S]] = {}
        self._dA_I: dict[tuple[int, int], Matrix[S]] = {}
        for joint in tree.joints:
            self._transform(joint.number)

    def _transform(self, j: int) -> None:
        """LG-1, LG-2"""
        joint = self.tree.joint(j)
        with self.b.step("transforms", joint.name):
            T = joint.transform(self.q[j - 1], self.b.algebra).homogeneous(self.b.algebra)
            self._T[j] = self.b.let(f"T_{j}", T, "LG-1")
            A = self._A[joint.parent] @ self._T[j] if joint.parent != BASE else self._T[j]
            self._A[j] = self.b.let(f"A_{j}", A, "LG-2")

    def A(self, j: int) -> Matrix[S]:
        """0T_j"""
        return self._A[j]

    def dA(self, j: int, k: int) -> Matrix[S]:
        """LG-3: d 0T_j / dq_k, for k on the path to j."""
        if (j, k) not in self._dA:
            parent = self.tree.joint(j).parent
            if k == j:
                value = self._from_parent(j, self._joint_derivative(j, 1))
            else:
                value = self.dA(parent, k) @ self._T[j]
            with self.b.step("first derivatives", self.tree.joint(j).name):
                self._dA[j, k] = self.b.let(f"dA_{j}_{k}", value, "LG-3")
        return self._dA[j, k]

    def ddA(self, j: int, k: int, m: int) -> Matrix[S]:
        """LG-4: d2 0T_j / dq_k dq_m, for k <= m on the path to j."""
        if (j, k, m) not in self._ddA:
            parent = self.tree.joint(j).parent
            if k == m == j:
                value = self._from_parent(j, self._joint_derivative(j, 2))
            elif m == j:
                value = self.dA(parent, k) @ self._joint_derivative(j, 1)
            else:
                value = self.ddA(parent, k, m) @ self._T[j]
            with self.b.step("second derivatives", self.tree.joint(j).name):
                self._ddA[j, k, m] = self.b.let(f"ddA_{j}_{k}_{m}", value, "LG-4")
        return self._ddA[j, k, m]

    def dA_I(self, j: int, k: int) -> Matrix[S]:
        """LG-5"""
        if (j, k) not in self._dA_I:
            value = self.dA(j, k) @ pseudo_inertia(self.tree.joint(j).body, self.b)
            with self.b.step("first derivatives", self.tree.joint(j).name):
                self._dA_I[j, k] = self.b.let(f"dA_I_{j}_{k}", value, "LG-5")
        return self._dA_I[j, k]

    def _joint_derivative(self, j: int, order: int) -> Matrix[S]:
        return self.tree.joint(j).transform_derivative(self.q[j - 1], order, self.b.algebra)

    def _from_parent(self, j: int, matrix: Matrix[S]) -> Matrix[S]:
        parent = self.tree.joint(j).parent
        return matrix if parent == BASE else self._A[parent] @ matrix


def pseudo_inertia(body: Body[S], b: ProgramBuilder[S]) -> Matrix[S]:
    """The augmented inertia about the link frame's origin: [[int r r^T dm, m r], [m r^T, m]].

    int x x dm = (Iyy + Izz - Ixx) / 2 and so on, int x y dm = -Ixy for tensor entries.
    """
    half, m, r = b.algebra.constant(0.5), body.mass, body.com
    xx, yy, zz = (body.inertia[i, i] for i in range(3))
    second = (
        ((yy + zz - xx) * half, -body.inertia[0, 1], -body.inertia[0, 2]),
        (-body.inertia[0, 1], (xx + zz - yy) * half, -body.inertia[1, 2]),
        (-body.inertia[0, 2], -body.inertia[1, 2], (xx + yy - zz) * half),
    )
    c = tuple(r)
    rows = [[second[i][k] + m * c[i] * c[k] for k in range(3)] + [m * c[i]] for i in range(3)]
    return Matrix([*rows, [m * c[0], m * c[1], m * c[2], m]])


def trace(x: Matrix[S], y: Matrix[S]) -> S:
    """tr(x y^T)"""
    return inner(x.entries, y.entries)


def carried_by(tree: KinematicTree[S], *joints: int) -> list[int]:
    """Links that all these joints carry, in order."""
    return [joint.number for joint in tree.joints if set(joints) <= set(tree.path(joint.number))]


# -- terms of the equation of motion -----------------------------------------------------------


def mass_matrix_entries(kinematics: Kinematics[S]) -> list[list[S]]:
    """LG-6"""
    tree, b = kinematics.tree, kinematics.b
    entries = [[b.algebra.zero] * tree.n for _ in range(tree.n)]
    for k in range(1, tree.n + 1):
        for i in tree.path(k):
            terms = [
                trace(kinematics.dA_I(j, k), kinematics.dA(j, i)) for j in carried_by(tree, i, k)
            ]
            with b.step("mass matrix", tree.joint(i).name):
                value = b.let(f"M_{i}_{k}", total(terms, b.algebra), "LG-6")
            entries[i - 1][k - 1] = entries[k - 1][i - 1] = value
    return entries


def christoffel_symbols(kinematics: Kinematics[S]) -> dict[tuple[int, int, int], S]:
    """LG-7: D_ikm with k <= m, all three on one path."""
    tree, b = kinematics.tree, kinematics.b
    symbols: dict[tuple[int, int, int], S] = {}
    for i, k, m in _triples_on_one_path(tree):
        terms = [
            trace(kinematics.dA_I(j, i), kinematics.ddA(j, k, m)) for j in carried_by(tree, i, k, m)
        ]
        with b.step("Christoffel symbols", tree.joint(i).name):
            value = b.let(f"D_{i}_{k}_{m}", total(terms, b.algebra), "LG-7")
        if not b.algebra.is_zero(value):
            symbols[i, k, m] = value
    return symbols


def _triples_on_one_path(tree: KinematicTree[S]) -> list[tuple[int, int, int]]:
    """(i, k, m) with k <= m, in order, such that some link is carried by all three."""
    found: set[tuple[int, int, int]] = set()
    for joint in tree.joints:
        last, path = joint.number, tree.path(joint.number)
        # `last` is the deepest of the three; the paths of other links give the other triples
        found |= {(last, k, m) for k in path for m in path if k <= m}
        found |= {(i, k, last) for i in path for k in path}
    return sorted(found)


def velocity_torques(
    symbols: dict[tuple[int, int, int], S], qd: Sequence[S], kinematics: Kinematics[S]
) -> list[S]:
    """LG-8"""
    b = kinematics.b
    torques: list[S] = []
    for joint in kinematics.tree.joints:
        terms: list[S] = []
        for (i, k, m), value in symbols.items():
            if i == joint.number:
                square = value * qd[k - 1] * qd[m - 1]
                terms.append(square if k == m else square + square)
        with b.step("velocity torques", joint.name):
            torques.append(b.let(f"V_{joint.number}", total(terms, b.algebra), "LG-8"))
    return torques


def gravity_torques(kinematics: Kinematics[S]) -> list[S]:
    """LG-9"""
    tree, b = kinematics.tree, kinematics.b
    torques: list[S] = []
    for joint in tree.joints:
        i = joint.number
        terms: list[S] = []
        for j in carried_by(tree, i):
            body = tree.joint(j).body
            terms.append(-(tree.gravity.dot(moved(kinematics.dA(j, i), body.com)) * body.mass))
        with b.step("gravity", joint.name):
            torques.append(b.let(f"G_{i}", total(terms, b.algebra), "LG-9"))
    return torques


def load_torques(kinematics: Kinematics[S], loads: Sequence[Wrench[S]]) -> list[S]:
    """LG-10"""
    tree, b = kinematics.tree, kinematics.b
    torques: list[S] = []
    for joint in tree.joints:
        i = joint.number
        terms: list[S] = []
        for place, wrench in zip(tree.loads, loads, strict=True):
            if i in tree.path(place.body):
                dA = kinematics.dA(place.body, i)
                axis = rotation_axis(dA, kinematics.A(place.body))
                terms.append(-wrench.force.dot(moved(dA, place.point)) - wrench.moment.dot(axis))
        with b.step("loads", joint.name):
            torques.append(b.let(f"load_{i}", total(terms, b.algebra), "LG-10"))
    return torques


def moved(dA: Matrix[S], point: Vector[S]) -> Vector[S]:
    """dA r for the point r: how fast it moves, in base axes."""
    return Vector(*(inner(row[:3], tuple(point)) + row[3] for row in dA.rows[:3]))


def rotation_axis(dA: Matrix[S], A: Matrix[S]) -> Vector[S]:
    """The vector of the skew matrix (dR/dq) R^T: angular velocity per unit of joint velocity."""

    def entry(i: int, k: int) -> S:
        return inner(dA.rows[i][:3], A.rows[k][:3])

    return Vector(entry(2, 1), entry(0, 2), entry(1, 0))


# -- functions ---------------------------------------------------------------------------------


def inverse_dynamics(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """LG-11"""
    kinematics = Kinematics(tree, b, state.q)
    M = mass_matrix_entries(kinematics)
    bias = bias_torques(kinematics, state)
    torques: list[S] = []
    for joint, row, rest in zip(tree.joints, M, bias, strict=True):
        with b.step("torque", joint.name):
            tau = inner(row, state.qdd) + rest
            torques.append(b.let(f"tau_{joint.number}", tau, "LG-11"))
    b.output("tau", (tree.n,), torques)


def bias_torques(kinematics: Kinematics[S], state: State[S]) -> list[S]:
    """V + gravity + loads"""
    velocity = velocity_torques(christoffel_symbols(kinematics), state.qd, kinematics)
    gravity = gravity_torques(kinematics)
    loads = load_torques(kinematics, state.loads)
    return [v + g + f for v, g, f in zip(velocity, gravity, loads, strict=True)]


def bias_forces(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """LG-11 at qdd = 0"""
    torques: list[S] = []
    for joint, bias in zip(
        tree.joints, bias_torques(Kinematics(tree, b, state.q), state), strict=True
    ):
        with b.step("torque", joint.name):
            torques.append(b.let(f"bias_{joint.number}", bias, "LG-11"))
    b.output("bias_forces", (tree.n,), torques)


def gravity_forces(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """LG-9"""
    b.output("gravity_forces", (tree.n,), gravity_torques(Kinematics(tree, b, state.q)))


def mass_matrix(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """LG-6"""
    rows = mass_matrix_entries(Kinematics(tree, b, state.q))
    b.output("mass_matrix", (tree.n, tree.n), [entry for row in rows for entry in row])


def coriolis_matrix(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """LG-12"""
    symbols = christoffel_symbols(Kinematics(tree, b, state.q))
    by_entry: dict[tuple[int, int], list[S]] = {}
    for (i, k, m), value in symbols.items():
        by_entry.setdefault((i, k), []).append(value * state.qd[m - 1])
        if k != m:
            by_entry.setdefault((i, m), []).append(value * state.qd[k - 1])
    with b.step("coriolis"):
        entries = [
            b.let(f"C_{i}_{k}", total(by_entry.get((i, k), []), b.algebra), "LG-12")
            for i in range(1, tree.n + 1)
            for k in range(1, tree.n + 1)
        ]
    b.output("coriolis_matrix", (tree.n, tree.n), entries)


def load_derivatives(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """LG-10 is linear in the loads: its Jacobian with respect to them."""
    loads = symbolic_loads(tree, b)
    torques = load_torques(Kinematics(tree, b, state.q), wrenches(loads.symbols))
    write_jacobians(b, "tau", torques, [loads])


def kinetic_energy(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """qd^T M qd / 2"""
    rows = mass_matrix_entries(Kinematics(tree, b, state.q))
    terms = [inner(row, state.qd) * qd for row, qd in zip(rows, state.qd, strict=True)]
    b.output("kinetic_energy", (), [total(terms, b.algebra) * b.algebra.constant(0.5)])


def potential_energy(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """LG-13"""
    kinematics = Kinematics(tree, b, state.q)
    energies: list[S] = []
    for joint in tree.joints:
        center = moved(kinematics.A(joint.number), joint.body.com)
        with b.step("energy", joint.name):
            energy = -(tree.gravity.dot(center) * joint.body.mass)
            energies.append(b.let(f"U_{joint.number}", energy, "LG-13"))
    b.output("potential_energy", (), [total(energies, b.algebra)])


def forward_kinematics(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """LG-2 for every link frame of the file."""
    kinematics = Kinematics(tree, b, state.q)
    poses = [(frame.body, frame.pose.homogeneous(b.algebra)) for frame in tree.frames]
    write_frames(b, [pose if body == BASE else kinematics.A(body) @ pose for body, pose in poses])


def jacobians(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """LG-3 of the frame's origin, LG-14"""
    kinematics = Kinematics(tree, b, state.q)
    entries: list[S] = []
    for frame in tree.frames:
        columns: list[tuple[S, ...]] = []
        for k in range(1, tree.n + 1):
            if k not in tree.path(frame.body):
                columns.append((b.algebra.zero,) * 6)
                continue
            dA = kinematics.dA(frame.body, k)
            axis = rotation_axis(dA, kinematics.A(frame.body))
            with b.step("columns", frame.name):
                linear = b.let(f"J_{frame.name}_{k}", moved(dA, frame.pose.translation), "LG-3")
                angular = b.let(f"axis_{frame.name}_{k}", axis, "LG-14")
            columns.append((*linear, *angular))
        entries += [column[row] for row in range(6) for column in columns]
    b.output("jacobians", (len(tree.frames), 6, tree.n), entries)


def estimate(tree: KinematicTree[Any], function: str = "inverse_dynamics") -> int:
    """Rough size: 12 multiply-adds per trace, 36 per second derivative; derivatives once more."""
    depths = [len(tree.path(joint.number)) for joint in tree.joints]
    operations = sum(12 * depth**3 + 36 * depth**2 for depth in depths)
    differentiated = function == "inverse_dynamics_derivatives"
    return operations * max(depths, default=1) if differentiated else operations


def why_not(tree: KinematicTree[Any]) -> str | None:
    """Only the size of the result stands against a closed form."""
    operations = estimate(tree)
    if operations <= LARGEST_CLOSED_FORM:
        return None
    return (
        f"its closed form would have about {operations:,} operations "
        f"(more than {LARGEST_CLOSED_FORM:,}); use a recursive formulation"
    )


CLOSED_FORM_LAGRANGE = Formulation(
    name="closed_form_lagrange",
    title="Closed-form Lagrange, 4x4 transforms",
    source="Xiang 2009, section 3",
    notes=NOTES,
    functions={
        "inverse_dynamics": inverse_dynamics,
        "inverse_dynamics_load_derivatives": load_derivatives,
        "mass_matrix": mass_matrix,
        "coriolis_matrix": coriolis_matrix,
        "bias_forces": bias_forces,
        "gravity_forces": gravity_forces,
        "kinetic_energy": kinetic_energy,
        "potential_energy": potential_energy,
        "forward_kinematics": forward_kinematics,
        "jacobians": jacobians,
    },
    why_not=why_not,
    estimate=estimate,
)
