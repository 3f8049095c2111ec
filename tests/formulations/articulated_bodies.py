"""Articulated bodies after Featherstone 2008: a formulation that writes values alone.

Spatial vectors are six scalars, moments and turns ahead of forces and slides, in link axes about
the origin of the link: X_j carries motions from the parent to link j, its transpose forces back.

======  ==============================  ============================================
symbol  code                            meaning
======  ==============================  ============================================
v_j     V_j_i                           velocity of link j
a_j     A_j_i                           acceleration, gravity as one of the base
f_j     F_j_i                           force on link j, and what it hands on
I^A_j   IA_j_ik, p^A_j: PA_j_i          articulated inertia and bias force
======  ==============================  ============================================"""

from operator import add

from symgen.algebra.linear import Vector, total
from symgen.formulations import torques
from symgen.formulations.direct import with_derivatives
from symgen.formulations.interface import Formulation
from symgen.formulations.joint_terms import reflected_inertia, with_joint_terms
from symgen.formulations.shared import pivot_results

NOTES = {
    "AB-1": "v_j = X_j v_p + S_j qd_j -- Featherstone 2008, table 5.1",
    "AB-2": "a_j = X_j a_p + S_j qdd_j + v_j x S_j qd_j",
    "AB-3": "f_j = I_j a_j + v_j x* I_j v_j - f^ext_j, and those of the children",
    "AB-4": "composite inertia of link j and all beyond it",
    "AB-5": "I^A_j, p^A_j -- Featherstone 2008, table 7.1",
}


class Links:
    """What all recursions start from: X_j, S_j, I_j by joint."""

    def __init__(self, tree, b, state):
        self.tree, self.b, self.algebra = tree, b, b.algebra
        self.zero = [b.algebra.zero] * 6
        self.X, self.S, self.I, self.R0 = {}, {}, {}, {}
        for joint in tree.joints:
            j, q = joint.number, state.q[joint.number - 1]
            pose = joint.transform(q, self.algebra)
            s, dx = joint.angular_axis(self.algebra), joint.origin_to_link(q, self.algebra)
            R, p = pose.rotation, pose.translation
            with b.step("links", joint.name):
                R = b.let(f"R_{j}", R, "AB-1")
                p0 = joint.parent
                self.R0[j] = b.let(f"R0_{j}", self.R0[p0] @ R, "AB-1") if p0 else R
            units = [Vector(*row) for row in self._unit()]
            turn = [R.apply_transposed(u) for u in units]
            slide = [R.apply_transposed(u.cross(p)) for u in units]
            columns = [[*w, *v] for w, v in zip(turn, slide, strict=True)]
            columns += [[self.algebra.zero] * 3 + [*u] for u in turn]
            self.X[j] = [list(row) for row in zip(*columns, strict=True)]
            self.S[j] = [*s, *(joint.linear_axis(self.algebra) + s.cross(dx))]
            self.I[j] = self._inertia(joint.body)

    def acting(self, wrenches):
        """Loads in link axes, about the origin of the link."""
        loads = dict.fromkeys(self.I, self.zero)
        for load, wrench in zip(self.tree.loads, wrenches, strict=True):
            if load.body:
                f = self.R0[load.body].apply_transposed(wrench.force)
                n = self.R0[load.body].apply_transposed(wrench.moment) + load.point.cross(f)
                loads[load.body] = list(map(add, loads[load.body], [*n, *f]))
        return loads

    def _unit(self):
        one, zero = self.algebra.one, self.algebra.zero
        return [[one if i == k else zero for k in range(3)] for i in range(3)]

    def _inertia(self, body):
        """Columns by unit accelerations: f = m (a + alpha x c), n = I_c alpha + c x f."""
        zero, columns = Vector(*self.zero[:3]), []
        for place in range(6):
            unit = Vector(*self._unit()[place % 3])
            alpha, a = (unit, zero) if place < 3 else (zero, unit)
            f = (a + alpha.cross(body.com)) * body.mass
            columns.append([*(body.inertia.apply(alpha) + body.com.cross(f)), *f])
        return [list(row) for row in zip(*columns, strict=True)]

    def let(self, name, values, note):
        return [self.b.let(f"{name}_{i}", x, note) for i, x in enumerate(values, start=1)]

    def dot(self, x, y):
        return total([a * c for a, c in zip(x, y, strict=True)], self.algebra)

    def times(self, matrix, x):
        return [self.dot(row, x) for row in matrix]

    def back(self, j, f):
        return self.times(zip(*self.X[j], strict=True), f)

    def carried(self, j, inertia):
        """X^T I X"""
        columns = [self.times(inertia, column) for column in zip(*self.X[j], strict=True)]
        rows = [self.back(j, column) for column in columns]
        return [list(row) for row in zip(*rows, strict=True)]

    @staticmethod
    def crossed(v, m):
        """v x m of motions."""
        w, u, n, f = (Vector(*part) for part in (v[:3], v[3:], m[:3], m[3:]))
        return [*w.cross(n), *(w.cross(f) + u.cross(n))]

    @staticmethod
    def crossed_force(v, m):
        """v x* m of a force."""
        w, u, n, f = (Vector(*part) for part in (v[:3], v[3:], m[:3], m[3:]))
        return [*(w.cross(n) + u.cross(f)), *w.cross(f)]

    def velocities(self, qd):
        """v_j, and v_j x S_j qd_j."""
        V, moving = {0: self.zero}, {}
        for joint in self.tree.joints:
            j = joint.number
            own = [x * qd[j - 1] for x in self.S[j]]
            with self.b.step("velocities", joint.name):
                V[j] = map(add, self.times(self.X[j], V[joint.parent]), own)
                V[j] = self.let(f"V_{j}", V[j], "AB-1")
            moving[j] = self.crossed(V[j], own)
        return V, moving

    def bias(self, j, V, loads):
        forces = self.crossed_force(V[j], self.times(self.I[j], V[j]))
        return [x - y for x, y in zip(forces, loads[j], strict=True)]

    @property
    def base(self):
        return [*self.zero[:3], *-self.tree.gravity]


def rigid(tree, b, state):
    """See `symgen.formulations.torques.Rigid`."""
    links = Links(tree, b, state)

    def torques_of(given, gravity):
        V, moving = links.velocities(given.qd)
        base = links.base if gravity else links.zero
        A, F, tau = {0: base}, {}, [b.algebra.zero] * tree.n
        loads = links.acting(given.loads)
        for joint in tree.joints:
            j = joint.number
            own = [s * given.qdd[j - 1] + c for s, c in zip(links.S[j], moving[j], strict=True)]
            with b.step("accelerations", joint.name):
                A[j] = map(add, links.times(links.X[j], A[joint.parent]), own)
                A[j] = links.let(f"A_{j}", A[j], "AB-2")
            F[j] = list(map(add, links.times(links.I[j], A[j]), links.bias(j, V, loads)))
        for joint in reversed(tree.joints):
            j = joint.number
            with b.step("forces", joint.name):
                F[j] = links.let(f"F_{j}", F[j], "AB-3")
            tau[j - 1] = links.dot(links.S[j], F[j])
            if joint.parent:
                F[joint.parent] = list(map(add, F[joint.parent], links.back(j, F[j])))
        return tau

    return torques_of


def _composite(links):
    I = dict(links.I)
    for joint in reversed(links.tree.joints):
        j, p = joint.number, joint.parent
        with links.b.step("composites", joint.name):
            I[j] = [links.let(f"IC_{j}_{i}", row, "AB-4") for i, row in enumerate(I[j])]
        if p:
            I[p] = [
                list(map(add, *rows)) for rows in zip(I[p], links.carried(j, I[j]), strict=True)
            ]
    return I


def forward_dynamics(tree, b, state):
    """qdd, (n,)"""
    links = Links(tree, b, state)
    V, moving = links.velocities(state.qd)
    terms = with_joint_terms(tree, b, state, [-tau for tau in state.tau])
    loads = links.acting(state.loads)
    IA, PA, U, D, u = dict(links.I), {j: links.bias(j, V, loads) for j in links.I}, {}, {}, {}
    for joint in reversed(tree.joints):
        j, p = joint.number, joint.parent
        with b.step("articulated bodies", joint.name):
            IA[j] = [links.let(f"IA_{j}_{i}", row, "AB-5") for i, row in enumerate(IA[j], start=1)]
            PA[j] = links.let(f"PA_{j}", PA[j], "AB-5")
            U[j] = links.let(f"U_{j}", links.times(IA[j], links.S[j]), "AB-5")
            D[j] = b.let(f"D_{j}", links.dot(links.S[j], U[j]) + reflected_inertia(joint), "AB-5")
            u[j] = b.let(f"u_{j}", -terms[j - 1] - links.dot(links.S[j], PA[j]), "AB-5")
        if p:
            left = [[IA[j][i][k] - U[j][i] * U[j][k] / D[j] for k in range(6)] for i in range(6)]
            given = zip(PA[j], links.times(left, moving[j]), U[j], strict=True)
            f = [x + y + z * (u[j] / D[j]) for x, y, z in given]
            IA[p] = [
                list(map(add, *rows)) for rows in zip(IA[p], links.carried(j, left), strict=True)
            ]
            PA[p] = list(map(add, PA[p], links.back(j, f)))
    A, qdd = {0: links.base}, []
    for joint in tree.joints:
        j = joint.number
        with b.step("accelerations", joint.name):
            A[j] = list(map(add, links.times(links.X[j], A[joint.parent]), moving[j]))
            qdd.append(b.let(f"qdd_{j}", (u[j] - links.dot(U[j], A[j])) / D[j], "AB-5"))
            A[j] = [a + s * qdd[-1] for a, s in zip(A[j], links.S[j], strict=True)]
            A[j] = links.let(f"A_{j}", A[j], "AB-2")
    I = _composite(links)
    diagonal = [
        links.dot(links.S[x.number], links.times(I[x.number], links.S[x.number]))
        + reflected_inertia(x)
        for x in tree.joints
    ]
    return {"qdd": qdd, **pivot_results([D[joint.number] for joint in tree.joints], diagonal)}


ARTICULATED_BODIES = Formulation(
    name="articulated_bodies",
    title="Articulated bodies",
    source="Featherstone 2008",
    notes=NOTES,
    functions=with_derivatives({**torques.functions(rigid), "forward_dynamics": forward_dynamics}),
)
