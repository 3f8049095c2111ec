"""How joints move points, and how that varies: velocities of points per velocity of a joint.

Everything is seen from one body, the root, in its axes: the base, or for a force that is internal
the last body that carries all of its points.  A joint j between the root and a point at x moves it
by J_j = l_j + a_j x (x - o_j), and (Featherstone 2008, section 2.10, of fields fixed in a body)

    dJ_j/dq_k = a_k x J_j  where joint k carries the axis of joint j,  a_j x J_k  where j carries k,
    da_j/dq_k = a_k x a_j  where joint k carries the axis of joint j,  0          where j carries k.

The axes of a joint on a manifold are fixed in its own link, and so every column of it carries all
others: with this, derivatives are those in the tangent space.  So does every one of the four Euler
parameters p of a joint carry the others.  Their axes a_l = R w_l(p) turn in the link as well, so
that da_l/dp_k has R dw_l/dp_k in addition (`symgen.kinematics.euler_parameters`).

The axis u of a wheel is a point whose velocity is the angular velocity w of its body: a joint turns
it by a_j x u, and dw/dq_k = a_k x (angular velocity outboard of k).

=========  ==================  ====================================================================
symbol     code                meaning
=========  ==================  ====================================================================
R, p       R_j, p_j            pose of link j in the root
a_j, l_j   a_j, l_j            axis of joint j, and its velocity at o_j
o_j        o_j                 origin of joint j
J_j        J_<point>_j         what joint j makes of the velocity of a point
v          v_<point>           its velocity
=========  ==================  ====================================================================

Second derivatives of multipliers . Q, Q the generalized forces: the gradient, by adjoints of the
statements that Q takes, is differentiated along every coordinate. In the tangent space the order of
the two matters, but for coordinates of one joint alone: there half the sum of both is the Hessian
along the exponential, which `integrate` follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Transform, Vector, identity, zero_vector
from symgen.formulations.natural_frames import natural_bodies
from symgen.formulations.state import State
from symgen.kinematics.bodies import BodyAxis, BodyPoint
from symgen.kinematics.euler_parameters import Turning
from symgen.kinematics.forces import PointMotion
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.adjoints import pull_back
from symgen.program.builder import ProgramBuilder
from symgen.program.differentiation import differentiate

NOTES = {
    "FM-1": "frame of a link, and axis and origin of its joint, seen from the root of a force",
    "FM-2": "J_j = l_j + a_j x (x - o_j), v = sum_j J_j qd_j: motion of a point that forces need",
}


@dataclass(frozen=True)
class Axis(Generic[S]):
    """Axis of a joint in the root: `angular` a_j, `linear` l_j at `origin` o_j."""

    angular: Vector[S]
    linear: Vector[S]
    origin: Vector[S]


@dataclass(frozen=True)
class MovedPoint(Generic[S]):
    """A point in the root: `columns` are its J_j by joint, root first; `spins` of axes are a_j."""

    body: int
    motion: PointMotion[S]
    columns: dict[int, Vector[S]]
    spins: dict[int, Vector[S]] | None = None

    @property
    def rates(self) -> dict[int, Vector[S]]:
        """The derivatives of its velocity by those of joints."""
        return self.columns if self.spins is None else self.spins


class Columns(Generic[S]):
    """The joints outboard of `root` that move any of `bodies`; `state` has an entry for every
    joint."""

    def __init__(
        self,
        tree: KinematicTree[S],
        b: ProgramBuilder[S],
        state: State[S],
        root: int,
        bodies: Iterable[int],
    ) -> None:
        self.tree, self.b, self.state, self.root = tree, b, state, root
        self._suffix = "" if root == BASE else f"_in_{root}"
        algebra = b.algebra
        self._turning = {
            j: (joint, Turning(joint.of(state.q), joint.of(state.qd), algebra))
            for joint in tree.euler_parameters
            for j in joint.members
        }
        self.poses = {root: Transform(identity(algebra), zero_vector(algebra))}
        self.axes: dict[int, Axis[S]] = {}
        for j in tree.towards(bodies):
            if j not in tree.path(root):
                self._add(j)
        groups = [manifold.columns for manifold in tree.manifolds]
        groups += [joint.members for joint in tree.euler_parameters]
        self._groups = {j: group for group in groups for j in group}

    def _add(self, j: int) -> None:
        joint, b = self.tree.joint(j), self.b
        placement = self.poses[joint.parent] @ joint.placement.tree
        rotation = placement @ joint.pose_in_joint(self.state.q[j - 1], b.algebra)
        axis = joint.angular_axis(b.algebra)
        if j in self._turning:
            four, turning = self._turning[j]
            axis = turning.axes[four.place(j)]
            if four.place(j) == 0:
                rotation = placement @ Transform(turning.rotation, zero_vector(b.algebra))
        with b.step("forces", joint.name):
            R = b.let(f"R_{j}{self._suffix}", rotation.rotation, "FM-1")
            p = b.let(f"p_{j}{self._suffix}", rotation.translation, "FM-1")
            o = b.let(f"o_{j}{self._suffix}", placement.translation, "FM-1")
            a = b.let(f"a_{j}{self._suffix}", R.apply(axis), "FM-1")
            slide = R.apply(joint.linear_axis(b.algebra))
            along = b.let(f"l_{j}{self._suffix}", slide, "FM-1")
        self.poses[j], self.axes[j] = Transform(R, p), Axis(a, along, o)

    def path(self, body: int) -> tuple[int, ...]:
        """Return the joints between the root and a body, root first."""
        return tuple(j for j in self.tree.path(body) if j in self.axes)

    def carries(self, k: int, j: int) -> bool:
        """Whether joint k carries the axis of joint j."""
        return k in self.tree.path(j) or k in self._groups.get(j, ())

    def turned(self, j: int, k: int) -> Vector[S]:
        """R dw_j/dp_k of Euler parameters, 0 of all other joints."""
        if j not in self._turning or k not in self._groups[j]:
            return zero_vector(self.b.algebra)
        four, turning = self._turning[j]
        return self.poses[j].rotation.apply(turning.slope(four.place(j), four.place(k)))

    def moved(self, point: BodyPoint[S] | BodyAxis[S], label: str) -> MovedPoint[S]:
        """Position and velocity of a point, and its columns; those of an axis."""
        b, body = self.b, point.body
        if isinstance(point, BodyAxis):
            return self._moved_axis(point, label)
        with b.step("forces", label):
            x = b.let(f"x_{label}", self.poses[self._known(body)].apply(point.point), "FM-2")
            columns = {j: self._column(j, x, label) for j in self.path(body)}
            v = b.let(f"v_{label}", self.velocity(columns, columns), "FM-2")
        return MovedPoint(body, PointMotion(x, v), columns)

    def _moved_axis(self, axis: BodyAxis[S], label: str) -> MovedPoint[S]:
        b, spins = self.b, {j: self.axes[j].angular for j in self.path(axis.body)}
        with b.step("forces", label):
            u = b.let(f"x_{label}", self.poses[axis.body].rotation.apply(axis.direction), "FM-2")
            columns = {
                j: b.let(f"J_{label}_{j}", spin.cross(u), "FM-2") for j, spin in spins.items()
            }
            w = b.let(f"v_{label}", self.velocity(spins, spins), "FM-2")
        return MovedPoint(axis.body, PointMotion(u, w), columns, spins)

    def _known(self, body: int) -> int:
        """Return the body itself, or the root where it is fixed to that."""
        return body if body in self.poses else self.root

    def _column(self, j: int, x: Vector[S], label: str) -> Vector[S]:
        return self.b.let(f"J_{label}_{j}", self.field(j, x), "FM-2")

    def field(self, j: int, x: Vector[S]) -> Vector[S]:
        """l_j + a_j x (x - o_j)"""
        axis = self.axes[j]
        return axis.linear + axis.angular.cross(x - axis.origin)

    def moment_point(self, j: int) -> Vector[S]:
        """c_j: where the moment of a joint's wrench refers to."""
        stays = self.tree.joint(j).placement.origin_stays
        return self.axes[j].origin if stays else self.poses[j].translation

    def moment_point_slope(self, j: int, k: int) -> Vector[S]:
        """dc_j/dq_k"""
        stays = self.tree.joint(j).placement.origin_stays
        moves = k in self.axes and self.carries(k, j) and not (stays and k == j)
        return self.field(k, self.moment_point(j)) if moves else zero_vector(self.b.algebra)

    def velocity(self, columns: dict[int, Vector[S]], joints: Iterable[int]) -> Vector[S]:
        """sum_j J_j qd_j of some joints."""
        velocity = zero_vector(self.b.algebra)
        for j in joints:
            velocity = velocity + columns[j] * self.state.qd[j - 1]
        return velocity

    def spin(self, body: int, j: int) -> Vector[S]:
        """a_j: angular velocity of a body per velocity of joint j."""
        return self.axes[j].angular

    def curvature(
        self,
        point: MovedPoint[S],
        j: int,
        k: int,
        force: Vector[S] | None,
        torque: Vector[S] | None,
    ) -> list[S]:
        """Return the terms dJ_j/dq_k . f + da_j/dq_k . n, of joints that move the point."""
        if not self.carries(k, j):
            turned = point.columns[k]
            return [] if force is None else [self.axes[j].angular.dot(turned.cross(force))]
        terms, axis, turned = list[S](), self.axes[k], self.turned(j, k)
        if force is not None:
            moment = (point.motion.x - axis.origin).cross(force)
            terms += [axis.angular.dot(point.columns[j].cross(force)), turned.dot(moment)]
        if torque is not None:
            terms += [axis.angular.dot(self.axes[j].angular.cross(torque)), turned.dot(torque)]
        return terms

    def velocity_slope(self, point: MovedPoint[S], k: int) -> Vector[S]:
        """dv/dq_k = a_k x (what k and the joints beyond move) + (spin before k) x J_k"""
        before = [j for j in point.columns if not self.carries(k, j)]
        beyond = [j for j in point.columns if self.carries(k, j)]
        slope = self.axes[k].angular.cross(self.velocity(point.rates, beyond))
        if k in self._turning:
            turned = {j: self.turned(j, k) for j in self._groups[k]}
            w, arm = self.velocity(turned, turned), point.motion.x - self.axes[k].origin
            slope = slope + (w if point.spins is not None else w.cross(arm))
        if not before or point.spins is not None:
            return slope
        spins = {j: self.axes[j].angular for j in before}
        return slope + self.velocity(spins, before).cross(point.columns[k])


class NaturalColumns(Columns[S]):
    """Columns in natural coordinates, seen from the base: J_j is constant, a_j is S_j.

    See `symgen.formulations.natural_frames`.
    """

    def __init__(self, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
        self.tree, self.b, self.state, self.root = tree, b, state, BASE
        self.frames = natural_bodies(tree, b, state).frames

    def moved(self, point: BodyPoint[S] | BodyAxis[S], label: str) -> MovedPoint[S]:
        """Position and velocity of a point, and its columns; those of an axis."""
        frame = self.frames[point.body]
        if isinstance(point, BodyAxis):
            x, v, spins = frame.direction(point.direction), frame.omega, frame.spins
        else:
            x, spins = frame.point(point.point), None
            v = x.rate
        with self.b.step("forces", label):
            at, v = self.b.let(f"x_{label}", x.at, "FM-2"), self.b.let(f"v_{label}", v, "FM-2")
        columns = {j: x.by_joint.get(j, zero_vector(self.b.algebra)) for j in frame.numbers}
        return MovedPoint(point.body, PointMotion(at, v), columns, spins)

    def spin(self, body: int, j: int) -> Vector[S]:
        """S_j"""
        return self.frames[body].spins.get(j, zero_vector(self.b.algebra))

    def curvature(
        self,
        point: MovedPoint[S],
        j: int,
        k: int,
        force: Vector[S] | None,
        torque: Vector[S] | None,
    ) -> list[S]:
        """Return the term dS_j/dz_k . n."""
        frame = self.frames[point.body]
        return [] if torque is None else [frame.spin_slope(frame.columns(j), k).dot(torque)]

    def velocity_slope(self, point: MovedPoint[S], k: int) -> Vector[S]:
        """Return dv/dz_k: 0 of a point, and sum_a C_ak x X_a' / 2 of the angular velocity."""
        if point.spins is None:
            return zero_vector(self.b.algebra)
        frame = self.frames[point.body]
        return frame.spin_slope([axis.rate for axis in frame.axes], k)


Rows = list[list[S]]


def curvatures(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], forces: Sequence[S], start: int
) -> dict[str, Rows[S]]:
    """The blocks of the Hessian that can differ from 0, (n, n) each, by the name of the result.

    `forces` are Q by coordinate, which the steps from `start` on write.
    """
    inputs, q = [b.declared("q"), b.declared("qd")], state.q
    by_entries, by_qd = pull_back(b, forces, state.multipliers, inputs, start)
    gradient = [*tree.in_tangent_space(q, by_entries), *by_qd]
    derivatives = differentiate(b, inputs, range(start, b.length))
    n, nq, zero = len(by_qd), len(q), b.algebra.zero
    slopes = [derivatives.of(entry) for entry in gradient]
    rows = [[slope.get(k, zero) for k in range(nq + n)] for slope in slopes]
    q_q = [tree.in_tangent_space(q, row[:nq]) for row in rows[:n]]
    return {
        "hessian_q_q": _averaged(tree, _symmetric(q_q), q_q),
        "hessian_q_qd": [row[nq:] for row in rows[:n]],
        "hessian_qd_qd": _symmetric([row[nq:] for row in rows[n:]]),
    }


def _symmetric(matrix: Rows[S]) -> Rows[S]:
    """Return the upper half, mirrored: of two entries that are equal one need not be computed."""
    places = range(len(matrix))
    return [[matrix[min(i, k)][max(i, k)] for k in places] for i in places]


def _averaged(tree: KinematicTree[S], rows: Rows[S], matrix: Rows[S]) -> Rows[S]:
    """`rows`, with half the sum of both orders in `matrix` where one joint has both velocities."""
    half = tree.algebra.constant(0.5)
    for manifold in tree.manifolds:
        places = tree.velocities(manifold)
        for i in places:
            for k in places:
                if i != k:
                    rows[i][k] = (matrix[i][k] + matrix[k][i]) * half
    return rows
