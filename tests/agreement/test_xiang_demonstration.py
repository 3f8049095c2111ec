"""Xiang 2009, section 6.2: the recursion and its derivatives for the two-link arm, step by step.

The matrices (43)-(51) and the results (52)-(65) are typed in from the paper; (61), printed as a
derivative by the acceleration of joint 2, is the one by its coordinate.  What the paper writes as
products and derivatives of its matrices is carried out by SymPy.  Against them stand the matrices
that the recursion names, expanded, entry by entry.

The links are slender as in (47): the moments of inertia about y and z are equal."""

import pytest
import sympy
from sympy import Matrix, cos, sin, zeros

from symgen.algebra import linear
from symgen.algebra.blackboard import fourier
from symgen.algebra.sympy_algebra import SymPyAlgebra, symbol
from symgen.formulations import declare_inputs
from symgen.formulations.recursive_lagrange import RECURSIVE_LAGRANGE
from symgen.kinematics.tree import build_tree
from symgen.program.builder import ProgramBuilder
from symgen.program.differentiation import differentiate
from tests.modules import EXAMPLES, described

EXAMPLE = EXAMPLES / "two_link.yaml"
DERIVATIVES = "inverse_dynamics_derivatives"

L1, L2, l1, l2, m1, m2, I1, I2, g, f = (
    symbol(name) for name in ("L1", "L2", "l1", "l2", "m1", "m2", "I1", "I2", "g", "f")
)
Q = q1, q2 = symbol("q_1"), symbol("q_2")
QD = w1, w2 = symbol("qd_1"), symbol("qd_2")
QDD = a1, a2 = symbol("qdd_1"), symbol("qdd_2")
LOAD = {symbol(f"tip_{part}"): 0 for part in ("fx", "fz", "nx", "ny", "nz")}
LOAD[symbol("tip_fy")] = -f


def turn(q, L):
    """(43)"""
    top = [[cos(q), -sin(q), 0, L * cos(q)], [sin(q), cos(q), 0, L * sin(q)]]
    return Matrix([*top, [0, 0, 1, 0], [0, 0, 0, 1]])


def inertia(I, m, l, L):
    """(47a), (47b)"""
    first = m * (l - L)
    return Matrix([[I + m * (l - L) ** 2, 0, 0, first], [0] * 4, [0] * 4, [first, 0, 0, m]])


T1, T2 = turn(q1, L1), turn(q2, L2)
# (44)
A1 = T1
A2 = A1 * T2
# (45)
B1 = T1.diff(q1) * w1
B2 = B1 * T2 + A1 * T2.diff(q2) * w2
# (46)
C1 = T1.diff(q1, 2) * w1**2 + T1.diff(q1) * a1
C2 = C1 * T2 + 2 * B1 * T2.diff(q2) * w2
C2 += A1 * T2.diff(q2, 2) * w2**2 + A1 * T2.diff(q2) * a2
J1, J2 = inertia(I1, m1, l1, L1), inertia(I2, m2, l2, L2)
# (48)
D2 = J2 * C2.T
D1 = J1 * C1.T + T2 * D2
# (49)
E2 = m2 * Matrix([l2 - L2, 0, 0, 1])
E1 = m1 * Matrix([l1 - L1, 0, 0, 1]) + T2 * E2
# (50)
F2 = Matrix([0, 0, 0, 1])
F1 = T2 * F2
# (51)
GRAVITY = Matrix([0, -g, 0, 0])
FORCE = Matrix([0, -f, 0, 0])

# right sides of (52), (53)
TAU = (
    (I1 + I2 + m1 * l1**2 + m2 * (L1**2 + l2**2 + 2 * L1 * l2 * cos(q2))) * a1
    + (I2 + m2 * l2**2 + m2 * L1 * l2 * cos(q2)) * a2
    - 2 * m2 * L1 * l2 * w1 * w2 * sin(q2) - m2 * L1 * l2 * w2**2 * sin(q2)
    + m2 * g * l2 * cos(q1 + q2) + m1 * g * l1 * cos(q1) + m2 * g * L1 * cos(q1)
    + f * L2 * cos(q1 + q2) + f * L1 * cos(q1),
    (I2 + m2 * l2**2) * a2 + (I2 + m2 * l2**2 + m2 * L1 * l2 * cos(q2)) * a1
    + m2 * L1 * l2 * w1**2 * sin(q2) + m2 * g * l2 * cos(q1 + q2) + f * L2 * cos(q1 + q2),
)  # fmt: skip
# right sides of (54), (55); (60), (61)
TAU_Q = (
    (
        -m2 * g * l2 * sin(q1 + q2) - m1 * g * l1 * sin(q1) - m2 * g * L1 * sin(q1)
        - f * L2 * sin(q1 + q2) - f * L1 * sin(q1),
        (-2 * m2 * L1 * l2 * sin(q2)) * a1 + (-m2 * L1 * l2 * sin(q2)) * a2
        - 2 * m2 * L1 * l2 * w1 * w2 * cos(q2) - m2 * L1 * l2 * w2**2 * cos(q2)
        - m2 * g * l2 * sin(q1 + q2) - f * L2 * sin(q1 + q2),
    ),
    (
        -m2 * g * l2 * sin(q1 + q2) - f * L2 * sin(q1 + q2),
        (-m2 * L1 * l2 * sin(q2)) * a1 + m2 * L1 * l2 * w1**2 * cos(q2)
        - m2 * g * l2 * sin(q1 + q2) - f * L2 * sin(q1 + q2),
    ),
)  # fmt: skip
# right sides of (56), (57); (62), (63)
TAU_QD = (
    (-2 * m2 * L1 * l2 * w2 * sin(q2),
     -2 * m2 * L1 * l2 * w1 * sin(q2) - 2 * m2 * L1 * l2 * w2 * sin(q2)),
    (2 * m2 * L1 * l2 * w1 * sin(q2), 0),
)  # fmt: skip
# right sides of (58), (59); (64), (65)
TAU_QDD = (
    (I1 + I2 + m1 * l1**2 + m2 * (L1**2 + l2**2 + 2 * L1 * l2 * cos(q2)),
     I2 + m2 * l2**2 + m2 * L1 * l2 * cos(q2)),
    (I2 + m2 * l2**2 + m2 * L1 * l2 * cos(q2), I2 + m2 * l2**2),
)  # fmt: skip

PRINTED = {
    "T_1": T1, "T_2": T2, "A_1": A1, "A_2": A2, "B_1": B1, "B_2": B2, "C_1": C1, "C_2": C2,
    "I_1": J1, "I_2": J2, "D_1": D1, "D_2": D2, "E_1": E1, "E_2": E2,
    "F_tip_1": F1, "F_tip_2": F2,
    "TD_1": T1 * D1, "TD_2": T2 * D2, "TE_1": T1 * E1, "TE_2": T2 * E2,
    "TF_tip_1": T1 * F1, "TF_tip_2": T2 * F2,
}  # fmt: skip


class Recorder(ProgramBuilder):
    """Keeps every scalar and matrix that gets a name, as a whole."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.named = {}

    def let(self, name, value, note):
        result = super().let(name, value, note)
        self.named[name + self._variant] = result
        return result


@pytest.fixture(scope="module")
def recursion():
    """The recursion of the arm with slender links."""
    text = EXAMPLE.read_text().replace("{zz: I1}", "{yy: I1, zz: I1}")
    return recorded(text.replace("{zz: I2}", "{yy: I2, zz: I2}"))


def recorded(text):
    """What the recursion names and its derivatives, matrices of expanded expressions; the results.

    Derivatives are those that are written behind every line."""
    tree, builder, state = started(text)
    RECURSIVE_LAGRANGE.functions["inverse_dynamics"](tree, builder, state)
    slopes = differentiate(builder, [builder.declared(name) for name in ("q", "qd", "qdd")])
    named = dict(builder.named)
    for k, by in enumerate((*Q, *QD, *QDD)):
        for name, value in builder.named.items():
            named[f"d_{name}_d{by}"] = mapped(value, lambda x, k=k: slopes.of(x).get(k, 0))
    named = {
        name: mapped(value, lambda x: tree.algebra.expanded(x).xreplace(LOAD))
        for name, value in named.items()
    }
    tree, builder, state = started(text)
    written = RECURSIVE_LAGRANGE.functions[DERIVATIVES](tree, builder, state)
    shapes = {"tau": (2, 1), "dtau_dq": (2, 2), "dtau_dqd": (2, 2), "dtau_dqdd": (2, 2)}
    results = {
        name: Matrix(*shape, [tree.algebra.expanded(x) for x in written[name]])
        for name, shape in shapes.items()
    }
    return named, {name: result.xreplace(LOAD) for name, result in results.items()}


def started(text):
    """A tree over SymPy, a recorder, and a state."""
    algebra = SymPyAlgebra()
    tree = build_tree(described(text), algebra)
    builder = Recorder(algebra, taken=tree.parameter_names)
    return tree, builder, declare_inputs(tree, builder, DERIVATIVES)


def mapped(value, change):
    """A scalar or a matrix with every entry changed, over SymPy."""
    if isinstance(value, linear.Matrix | sympy.MatrixBase):
        rows = value.rows if isinstance(value, linear.Matrix) else value.tolist()
        return Matrix([[change(sympy.sympify(x)) for x in row] for row in rows])
    return sympy.sympify(change(sympy.sympify(value)))


def equal(left, right):
    difference = sympy.Matrix([left]) - sympy.Matrix([right])
    return difference.applyfunc(fourier) == zeros(*difference.shape)


@pytest.mark.parametrize("name", PRINTED)
def test_matrices_43_to_50(recursion, name):
    named, _ = recursion
    assert named[name].shape == PRINTED[name].shape
    for i, k in [(i, k) for i in range(4) for k in range(PRINTED[name].shape[1])]:
        assert fourier(named[name][i, k] - PRINTED[name][i, k]) == 0, (name, i + 1, k + 1)


@pytest.mark.parametrize("by", Q, ids=str)
@pytest.mark.parametrize("name", [name for name in PRINTED if name[:2] not in ("T_", "I_")])
def test_derivatives_of_the_matrices(recursion, name, by):
    """(21), (22), (24), (27), (30), (31): whole matrices."""
    named, _ = recursion
    assert equal(named[f"d_{name}_d{by}"], PRINTED[name].diff(by)), f"d_{name}_d{by}"


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("j", [1, 2])
def test_derivatives_by_rates(recursion, j, k):
    """(23), (25), (26), (28), (29), and how they are related: dB/dqd = dA/dq and so on."""
    named, _ = recursion
    q, qd, qdd = (rates[k - 1] for rates in (Q, QD, QDD))
    B, C, D = (PRINTED[f"{letter}_{j}"] for letter in "BCD")
    d_A, d_B = (named[f"d_{letter}_{j}_d{q}"] for letter in "AB")
    assert equal(B.diff(qd), d_A) and equal(named[f"d_B_{j}_d{qd}"], d_A)
    assert equal(C.diff(qd), 2 * d_B) and equal(named[f"d_C_{j}_d{qd}"], 2 * d_B)
    assert equal(C.diff(qdd), d_A) and equal(named[f"d_C_{j}_d{qdd}"], d_A)
    assert equal(D.diff(qd), named[f"d_D_{j}_d{qd}"])
    assert equal(D.diff(qdd), named[f"d_D_{j}_d{qdd}"])


def test_torques_52_and_53(recursion):
    named, results = recursion
    for i, (A, D, E, F) in enumerate([(A1, D1, E1, F1), (A2, D2, E2, F2)]):
        dA = A.diff(Q[i])
        moment = (dA * D).trace() - (GRAVITY.T * dA * E)[0] - (FORCE.T * dA * F)[0]
        assert fourier(moment - TAU[i]) == 0
        assert fourier(named[f"tau_{i + 1}"] - TAU[i]) == 0
        assert fourier(results["tau"][i] - TAU[i]) == 0


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize("i", [0, 1])
def test_derivatives_54_to_65(recursion, i, k):
    named, results = recursion
    A, D, E, F = [(A1, D1, E1, F1), (A2, D2, E2, F2)][i]
    dA, ddA = A.diff(Q[i]), A.diff(Q[i], Q[k])
    # the middle of (54), (55), (60), (61), by (33)
    inertial = (ddA * D + dA * D.diff(Q[k])).trace()
    weight = (GRAVITY.T * (ddA * E + dA * E.diff(Q[k])))[0]
    load = (FORCE.T * (ddA * F + dA * F.diff(Q[k])))[0]
    assert fourier(inertial - weight - load - TAU_Q[i][k]) == 0
    for by, printed, rates in (("qd", TAU_QD, QD), ("qdd", TAU_QDD, QDD)):
        assert fourier((dA * D.diff(rates[k])).trace() - printed[i][k]) == 0
        assert fourier(results[f"dtau_d{by}"][i, k] - printed[i][k]) == 0
    assert fourier(results["dtau_dq"][i, k] - TAU_Q[i][k]) == 0
    assert fourier(named[f"d_tau_{i + 1}_dq_{k + 1}"] - TAU_Q[i][k]) == 0


@pytest.mark.slow
def test_the_moment_of_inertia_about_y_has_no_say():
    """The example has it at 0, and its I_j are not those of (47); the torques are the same."""
    named, results = recorded(EXAMPLE.read_text())
    assert not equal(named["I_2"], J2)
    assert equal(results["tau"], Matrix(TAU))
    assert equal(results["dtau_dq"], Matrix(TAU_Q))
