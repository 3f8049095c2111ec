"""Derivatives of points, vectors and constraints: (37) to (54) of Lopez Varela 2023, table 3.

Phi is a function of natural coordinates q, of z, t and the parameters; its explicit derivatives
(table 1) are those of its expression, what q depends on (table 2) is written in NumPy as printed,
and total derivatives are those of the lines.  (39) and (40) are corrected: Phi_zq q_z and its
transpose stand for 2 Phi_zq q_z."""

from functools import cache

import numpy as np
import pytest

from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.algebra.linear import Vector
from symgen.description.quantities import AXES, POINTS, RATES, TIME, quantity
from symgen.formulations import declare_inputs
from symgen.formulations.constraints import SECOND_RATE, VALUE, Moving, Wanted, constraint_rows
from symgen.formulations.semi_recursive.constraints import supply
from symgen.formulations.semi_recursive.kinematics import LINK_ORIGIN, RTDYN0, RTDYN1, system_at
from symgen.formulations.shared import symbolic_parameters
from symgen.kinematics.frames import units
from symgen.kinematics.loops import BASE_AXES, GAP
from symgen.kinematics.scalars import scalar, with_definitions
from symgen.kinematics.tree import build_tree
from symgen.program.builder import ProgramBuilder
from tests.mechanisms.test_constraint_lines import closed, state
from tests.oracles.comparison import agrees
from tests.oracles.differentiated import Differentiated

FUNCTION = "constraint_acceleration_derivatives"
PARTS = ("at", "rate", "second_rate")
pytestmark = pytest.mark.slow
EACH_POINT = pytest.mark.parametrize("point", (LINK_ORIGIN, RTDYN0, RTDYN1), ids=lambda x: x.name)


class Mechanism(Differentiated):
    """Natural coordinates by key with all that is asked of a family, and the rows."""

    def __init__(self, point):
        description, runtime = closed()
        given = state()[0]
        self.tree = tree = build_tree(description, Graph(), runtime)
        self.b = b = ProgramBuilder(tree.algebra, taken=tree.parameter_names)
        symbols = declare_inputs(tree, b, FUNCTION)
        kept = []

        def kept_supply(*args):
            kept.append(supply(point, *args))
            return kept[-1]

        wanted = (Wanted(SECOND_RATE, False), Wanted(VALUE, False), Wanted(VALUE, True))
        moving, fixed, columns = (constraint_rows(tree, b, symbols, kept_supply, x) for x in wanted)
        self.phi = [
            Moving(at.at, x.rate, x.second_rate, column.by_joint)
            for at, x, column in zip(fixed, moving, columns, strict=True)
        ]
        self.natural = {
            key: Moving(x.at, x.rate, x.second_rate, by_key(kept[2])[key].by_joint)
            for key, x in by_key(kept[0]).items()
        }
        self.system = system_at(tree, b, symbols, point)
        values = dict(description.parameter_values)
        for name in ("q", "qd", "qdd", TIME):
            values.update(zip(b.declared(name).symbol_names, np.ravel(given[name]), strict=True))
        inputs = [b.declared("q"), b.declared("qd"), symbolic_parameters(tree), b.declared(TIME)]
        rates = (("q", symbols.qd), ("qd", symbols.qdd), (TIME, (b.algebra.one,)))
        super().__init__(b, inputs, rates, values)
        self.z, self.qd, self.qdd = (given[name] for name in ("q", "qd", "qdd"))

    def columns_of(self, x, c):
        """Entry c of the derivatives by joints, one for each of these."""
        for joint in self.tree.joints:
            column = x.by_joint.get(joint.number)
            yield self.zero if column is None else tuple(column)[c]

    def columns_of_row(self, row):
        """The derivatives of a row by joints, one for each of these."""
        return [row.by_joint.get(joint.number, self.zero) for joint in self.tree.joints]

    def twice(self, rows, name):
        """Derivatives by z, then by an input: rows of scalars in front."""
        return np.array([self.by(row, name) for row in rows])


def by_key(supplied):
    """Points and vectors, by which they are."""
    found = {("origin", *key): x for key, x in supplied.origins.items()}
    for key, axes in supplied.axes.items():
        found |= {("axis", *key, name): x for name, x in axes.items()}
    return found | {("point", name): x for name, x in supplied.points.items()}


mechanism = cache(Mechanism)


@EACH_POINT
def test_points_and_vectors(point):
    """(47) to (51), (53), (54) and table 3"""
    known = mechanism(point)
    for key, x in known.natural.items():
        q, is_point = known.of(x.at), key[0] != "axis"
        q_z, q_x = known.by(x.at, "q"), known.rows(x.at, "parameters")
        printed = np.zeros_like(q_z)
        rates, bends = np.zeros_like(q_z), np.zeros_like(q_z)
        for j, column in x.by_joint.items():
            at = known.system.geometry[j]
            w, u, r = map(known.of, (at.w, at.u, at.places.joint))
            w_z, u_z, r_z = (known.by(y, "q") for y in (at.w, at.u, at.places.joint))
            arm, arm_z = (q - r, q_z - r_z) if is_point else (q, q_z)
            printed[:, j - 1] = np.cross(w, arm) + u * is_point  # table 3
            assert agrees(known.of(column), printed[:, j - 1])
            rate = list(map(known.rate, column))
            rates[:, j - 1] = known.of(rate)
            bends[:, j - 1] = known.of(map(known.rate, rate))
            found = np.cross(w_z, arm, axisa=0).T + np.cross(w, arm_z, axisb=0).T
            assert agrees(known.by(column, "q"), found + u_z * is_point)  # (50), (51)
            mixed = np.array([[row[j - 1] for row in known.rows(line, "q")] for line in q_x])
            mixed = [known.of(row) for row in mixed]
            assert agrees(known.by(column, "parameters"), np.array(mixed))  # (54)
        assert agrees(q_z, printed)  # (47)
        assert agrees(known.by(x.rate, "q"), rates)  # (48a)
        assert agrees(known.by(x.second_rate, "q"), bends)  # (48b)
        assert agrees(known.by(x.rate, "qd"), q_z)
        assert agrees(known.by(x.second_rate, "qd"), 2 * rates)
        first = [list(map(known.rate, line)) for line in q_x]
        second = [list(map(known.rate, line)) for line in first]
        assert agrees(known.by(x.rate, "parameters"), np.array(list(map(known.of, first))))
        assert agrees(known.by(x.second_rate, "parameters"), np.array(list(map(known.of, second))))


class Explicit:
    """Phi of every row as an expression of symbols for q, z and t, and for their rates."""

    def __init__(self, known):
        tree, self.b = known.tree, known.b
        algebra, self.values, self.symbols = self.b.algebra, dict(known.values), {}
        rates = zip(PARTS, (known.z, known.qd, known.qdd), strict=True)
        for order, (part, z) in enumerate(rates):
            q = [known.of(getattr(x, part)) for x in known.natural.values()]
            t = (known.values[TIME], 1.0, 0.0)[order]
            for name, given in (("q", np.ravel(q)), ("z", z), ("t", [t])):
                names = [f"of_phi_{name}_{order}_{k}" for k in range(len(given))]
                self.symbols[name, order] = list(map(algebra.symbol, names))
                self.values.update(zip(names, given, strict=True))
        self.symbols["p", 0] = list(map(algebra.symbol, tree.runtime_parameters))
        flat = [x for group in self.symbols.values() for x in group]
        self.slopes, self.places, start = algebra.derivatives(flat), {}, 0
        for key, group in self.symbols.items():
            self.places[key] = range(start, start := start + len(group))
        self.rows = self.expressions(tree, list(known.natural))

    def expressions(self, tree, keys):
        """Rows of loops are products of vectors, of a rod less the square of its length."""
        b, entries, (t,) = self.b, self.symbols["q", 0], self.symbols["t", 0]
        q = {key: Vector(*entries[3 * k : 3 * k + 3]) for k, key in enumerate(keys)}
        for loop in tree.loops:
            vectors = []
            for side in range(2):
                axes = zip(BASE_AXES, units(b.algebra), strict=True)
                own = {key[3]: x for key, x in q.items() if key[:3] == ("axis", loop.name, side)}
                vectors.append({**dict(axes), **own})
                if loop.has_gap:
                    vectors[side][GAP] = q["origin", loop.name, 1] - q["origin", loop.name, 0]
            for one, other in loop.rows:
                length = loop.length * loop.length * float(one == other == GAP)
                yield vectors[0][one].dot(vectors[1][other]) - length
        z = self.symbols["z", 0]
        names = {quantity(RATES[0], joint.name): z[joint.number - 1] for joint in tree.joints}
        for key, x in q.items():
            if key[0] == "point":
                names |= {
                    quantity(POINTS, key[1], axis): e for axis, e in zip(AXES, x, strict=True)
                }
        algebra = with_definitions(b.algebra, {**tree.definitions, **names, TIME: t})
        for relation in tree.relations:
            yield scalar(relation.expression, algebra)
        for joint in tree.euler_parameters:
            yield sum((x * x for x in joint.of(z)), b.algebra.constant(-1.0))

    def by(self, e, name):
        """The explicit derivatives of a scalar."""
        row = self.slopes.of(e)
        return [row.get(k, self.b.algebra.zero) for k in self.places[name, 0]]

    def rate(self, e):
        """The derivative of a scalar by time."""
        row, found = self.slopes.of(e), self.b.algebra.zero
        for name in "qzt":
            for order in range(2):
                rates = self.symbols[name, order + 1]
                for k, rate in zip(self.places[name, order], rates, strict=True):
                    if k in row:
                        found = found + row[k] * rate
        return found

    def of(self, e, names="", order=0):
        """Explicit derivatives by several groups, or a rate of these, as an array."""
        scalars, shape = [e], []
        for name in names:
            scalars = [x for y in scalars for x in self.by(y, name)]
            shape.append(len(self.places[name, 0]))
        for _ in range(order):
            scalars = list(map(self.rate, scalars))
        return np.array(evaluate(scalars, self.values)).reshape(shape)


def with_transpose(x):
    return x + x.T


@EACH_POINT
def test_constraints(point):
    """(18) and (37) to (46)"""
    known = mechanism(point)
    phi, p, zd, zdd = Explicit(known), "parameters", known.qd, known.qdd
    x, xd, xdd = (
        [y for one in known.natural.values() for y in getattr(one, part)] for part in PARTS
    )
    columns = [list(known.columns_of(one, c)) for one in known.natural.values() for c in range(3)]
    q_z, qd_z, qdd_z = (known.by(y, "q") for y in (x, xd, xdd))
    q_p, qd_p = known.by(x, p), known.by(xd, p)
    q_zz, q_zp = (known.twice(columns, name) for name in ("q", p))
    qd_zz, qd_zp = (known.twice(known.rows(xd, "q"), name) for name in ("q", p))
    for line, e in zip(known.phi, phi.rows, strict=True):

        def of(names, order=0, e=e):
            return phi.of(e, names, order)

        first = of("q") @ q_z + of("z")  # (37)
        assert agrees(known.of(known.columns_of_row(line)), first)
        assert agrees(known.by([line.at], "q")[0], first)
        rate = of("q", 1) @ q_z + of("q") @ qd_z + of("z", 1)  # (38)
        assert agrees(known.by([line.rate], "q")[0], rate)
        assert agrees(known.by([line.second_rate], "qd")[0], 2 * rate)
        bend = of("q", 2) @ q_z + 2 * of("q", 1) @ qd_z + of("q") @ qdd_z + of("z", 2)
        assert agrees(known.by([line.second_rate], "q")[0], bend)  # in (18)
        qq, zq, qq_dot, zq_dot = of("qq"), of("zq"), of("qq", 1), of("zq", 1)
        second = q_z.T @ qq @ q_z + np.tensordot(of("q"), q_zz, 1)
        second += with_transpose(zq @ q_z) + of("zz")  # (39)
        assert agrees(known.by(known.columns_of_row(line), "q"), second)
        second = q_z.T @ qq_dot @ q_z + with_transpose(qd_z.T @ qq @ q_z)
        second += np.tensordot(of("q", 1), q_zz, 1) + np.tensordot(of("q"), qd_zz, 1)
        second += with_transpose(zq_dot @ q_z + zq @ qd_z) + of("zz", 1)  # (40)
        assert agrees(known.twice(known.rows([line.rate], "q"), "q")[0], second)
        assert agrees(known.by([line.at], p)[0], of("q") @ q_p + of("p"))  # section 7.3
        moved = qq @ q_p + of("qp")  # (42a)
        mixed = q_z.T @ moved + np.tensordot(of("q"), q_zp, 1)
        mixed += zq @ q_p + of("zp")  # (41), (42b)
        assert agrees(known.by(known.columns_of_row(line), p), mixed)
        found = zd @ mixed + (of("tq") @ q_p + of("tp"))[0]  # (43)
        assert agrees(known.by([line.rate], p)[0], found)
        swung = qq_dot @ q_p + qq @ qd_p + of("qp", 1)  # (45a)
        turning = q_z.T @ swung + qd_z.T @ moved
        turning += np.tensordot(of("q", 1), q_zp, 1) + np.tensordot(of("q"), qd_zp, 1)
        turning += zq_dot @ q_p + zq @ qd_p + of("zp", 1)  # (44), (45b)
        assert agrees(known.twice(known.rows([line.rate], "q"), p)[0], turning)
        found = zd @ turning + zdd @ mixed
        found += (of("tq", 1) @ q_p + of("tq") @ qd_p + of("tp", 1))[0]  # (46)
        assert agrees(known.by([line.second_rate], p)[0], found)
