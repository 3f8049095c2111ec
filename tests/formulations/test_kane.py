"""Kane's method, fully recursive: through inverse dynamics, Pinocchio and dense linear algebra."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import sympy

from benchmarks.models import spatial_tree
from symgen import read
from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.algebra.sympy_algebra import SymPyAlgebra
from symgen.deriving.derivation import derived_program
from symgen.formulations import declare_inputs, derive
from symgen.formulations.kane import KANE
from symgen.formulations.kane.contributions import contributions
from symgen.formulations.kane.recursion import solve
from symgen.kinematics.tree import build_tree
from symgen.optimize.operations import operations_after
from symgen.program.builder import ProgramBuilder
from symgen.program.evaluation import call
from tests.choosing import deep, one_in
from tests.oracles.comparison import SINGULAR, STEP, agrees, solving_limit
from tests.oracles.descriptions import described
from tests.oracles.implicit import Implicit, pivots
from tests.oracles.parameter_kinds import EVERY_KIND, chain, every_kind, regular_model
from tests.oracles.pinocchio_forward import acceleration_derivatives, accelerations
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.programs import evaluated
from tests.oracles.random_models import EVERYTHING, Recipe, seeded_model_text

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("two_link", "puma560", "arm7", "tree12", "cart_pole", "satellite_arm", "human43")
TREES = Recipe(joints=(2, 12), loads=(0, 3), terms=True)


def prescribed_somewhere(seed, recipe):
    """A random model in which every other joint or so is prescribed."""
    text = seeded_model_text(seed, recipe)
    rng = np.random.default_rng(seed)
    kinds = r"(\n    type: (?:revolute|prismatic|universal|cylindrical|spherical|floating))"

    def marked(found):
        return found[1] + ("\n    prescribed: true" if rng.integers(2) else "")

    return described(re.sub(kinds, marked, text))


SEEDS = (*range(10), 40, *range(42, 48), *range(50, 65))
"""Of random models whose mass matrix can be inverted."""


def random_model(seed):
    return regular_model(seed, TREES if seed < 10 else EVERYTHING)


def solved(description, function, arguments, runtime=()):
    program = evaluated(description, KANE, function, runtime)
    return call(program, arguments)


@cache
def program_of_every_kind(function):
    """With all parameters that have a value as arguments."""
    description, runtime = every_kind()
    return evaluated(description, KANE, function, runtime)


def check_accelerations(description, robot):
    """qdd of the torques of qdd; torques of the qdd; Pinocchio; pivots and diagonal."""
    qdd, found_pivots, diagonal = solved(description, "forward_dynamics", robot.torques)
    (tau,) = call(robot.program, {**robot.state, "qdd": qdd})
    arguments = [robot.torques[name] for name in ("q", "qd", "tau", "loads")]
    assert agrees(tau, robot.tau, 1e-11)
    assert agrees(qdd, robot.qdd, solving_limit(robot.M))
    assert agrees(
        qdd, accelerations(pinocchio_model(description), *arguments), solving_limit(robot.M)
    )
    assert agrees(diagonal, np.diag(robot.M))
    assert agrees(found_pivots, pivots(robot.M), solving_limit(robot.M))


def check_slopes(description, robot):
    """By q, qd and tau: implicitly from inverse dynamics, and by Pinocchio."""
    results = solved(description, "forward_dynamics_derivatives", robot.torques)
    arguments = [robot.torques[name] for name in ("q", "qd", "tau", "loads")]
    expected = acceleration_derivatives(pinocchio_model(description), *arguments)
    assert agrees(results[0], robot.qdd, solving_limit(robot.M))
    for by, slope, other in zip(("q", "qd", "tau"), results[1:4], expected, strict=True):
        assert agrees(slope, robot.forward(by), solving_limit(robot.M))
        assert agrees(slope, other, solving_limit(robot.M))
    assert agrees(results[4], pivots(robot.M), solving_limit(robot.M))


# -- accelerations and their derivatives -------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_accelerations_of_the_examples(name):
    description = read(EXAMPLES / f"{name}.yaml")
    for seed in range(3):
        check_accelerations(description, Implicit(description, seed))


@pytest.mark.parametrize("seed", one_in(2, SEEDS))
def test_accelerations_of_random_trees(seed):
    check_accelerations(*random_model(seed))


@pytest.mark.parametrize("name", [*NAMES[:-1], pytest.param(NAMES[-1], marks=pytest.mark.deep)])
def test_slopes_of_the_examples(name):
    description = read(EXAMPLES / f"{name}.yaml")
    check_slopes(description, Implicit(description, 3))


@pytest.mark.parametrize("seed", one_in(6, SEEDS))
def test_slopes_of_random_trees(seed):
    check_slopes(*random_model(seed))


def test_a_free_body_falls():
    description = described(
        "symgen: 1\nname: stone\ngravity: [0, 1, -9.81]\njoints:\n"
        "  - {name: stone, type: floating, origin: {xyz: [0, 0, 0]}, link: {mass: 2, "
        "inertia: {xx: 1, yy: 1, zz: 1}}}\n"
    )
    at_rest = {"q": np.full(6, 0.3)}
    assert agrees(solved(description, "forward_dynamics", at_rest)[0], [0, 1, -9.81, 0, 0, 0])


# -- parameters --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_every_kind_of_parameter(seed):
    description, runtime = every_kind()
    robot = Implicit(description, seed, runtime)
    program = program_of_every_kind("forward_dynamics_parameter_derivatives")
    slopes, found_pivots, diagonal = call(program, robot.torques)
    expected = robot.forward("parameters")
    assert np.abs(expected).max(axis=0).min() > 1e-3  # each of them matters
    for k, name in enumerate(runtime):
        assert agrees(slopes[:, k], expected[:, k]), name
    assert agrees(diagonal, np.diag(robot.M)) and agrees(found_pivots, pivots(robot.M))


@pytest.mark.parametrize("seed", one_in(2, range(2)))
def test_total_derivatives(seed):
    description, runtime = every_kind()
    robot = Implicit(description, seed, runtime)
    rng = np.random.default_rng(seed)
    seeds = {name: rng.uniform(-1, 1, (robot.n, len(runtime))) for name in ("dq", "dqd", "dtau")}
    program = program_of_every_kind("forward_dynamics_sensitivities")
    qdd, along, *_ = call(program, {**robot.torques, **seeds})
    assert agrees(qdd, robot.qdd)
    assert agrees(along, robot.sensitivities(seeds))


def test_values_of_parameters_are_arguments():
    """With other values than those of the file, also in the derivatives."""
    description, runtime = every_kind()
    robot = Implicit(description, 5, runtime)
    rng = np.random.default_rng(5)
    robot.state["parameters"] = robot.state["parameters"] * rng.uniform(0.8, 1.2, len(runtime))
    (robot.tau,), robot.M = call(robot.program, robot.state), robot.slope("qdd")
    results = solved(description, "forward_dynamics_derivatives", robot.torques, runtime)
    for by, slope in zip(("q", "qd", "tau"), results[1:4], strict=True):
        assert agrees(slope, robot.forward(by))
    slopes = solved(description, "forward_dynamics_parameter_derivatives", robot.torques, runtime)[
        0
    ]
    assert agrees(slopes, robot.forward("parameters"))


# -- prescribed joints -------------------------------------------------------------------------


def check_hybrid(description, robot, runtime=()):
    """y, its derivatives, and the pivots of the free joints' block of M."""
    free = ~robot.prescribed
    block = robot.M[np.ix_(free, free)]
    close = solving_limit(block)
    y, found_pivots, diagonal = solved(description, "hybrid_dynamics", robot.given, runtime)
    assert agrees(y, robot.found, close)
    assert agrees(diagonal, np.diag(block)) and agrees(found_pivots, pivots(block), close)
    results = solved(description, "hybrid_dynamics_derivatives", robot.given, runtime)
    assert agrees(results[0], robot.found, close)
    for by, slope in zip(("q", "qd", "x"), results[1:4], strict=True):
        assert agrees(slope, robot.hybrid(by), close)


@pytest.mark.parametrize("seed", one_in(5, range(70, 90)))
def test_hybrid_dynamics_of_random_trees(seed):
    description = prescribed_somewhere(seed, EVERYTHING if seed % 2 else TREES)
    robot = Implicit(description, seed)
    free = ~robot.prescribed
    if free.any() and np.linalg.cond(robot.M[np.ix_(free, free)]) > SINGULAR:
        pytest.skip("the free joints have no mass of their own")
    check_hybrid(description, robot)


def test_hybrid_dynamics_with_parameters():
    description, runtime = every_kind()
    robot = Implicit(description, 1, runtime)
    assert robot.prescribed.sum() == 3
    check_hybrid(description, robot, runtime)
    slopes = solved(description, "hybrid_dynamics_parameter_derivatives", robot.given, runtime)[0]
    assert agrees(slopes, robot.hybrid("parameters"))


def test_forward_dynamics_frees_prescribed_joints():
    description, _ = every_kind()
    freed = described(re.sub(r"prescribed: (true|\[.*?\]),", "", EVERY_KIND))
    robot = Implicit(description, 2)
    for function in ("forward_dynamics", "forward_dynamics_derivatives"):
        results = solved(description, function, robot.torques)
        others = solved(freed, function, robot.torques)
        assert all((a == c).all() for a, c in zip(results, others, strict=True))


# -- the equations, by dense linear algebra ----------------------------------------------------


class Statements:
    """Values of all statements of a program over the graph, by name; parameters stay names."""

    def __init__(self, description, function, state, runtime=()):
        self.tree = build_tree(description, Graph(), runtime)
        self.program = derive(self.tree, KANE, function)
        self.known = dict(state["constants"])
        for array in self.program.inputs:
            if array.name in state and array.name != "parameters":
                flat = np.asarray(state[array.name]).reshape(-1)
                self.known |= dict(zip(array.symbol_names, flat, strict=True))
        self.known |= dict(zip(runtime, state["parameters"], strict=True))
        self.values = self.at(self.known)

    def at(self, known):
        """Name -> value; the symbols of inputs and parameters among them."""
        lines = self.program.statements
        found = evaluate([line.value for line in lines], known)
        return known | {line.name: x for line, x in zip(lines, found, strict=True)}

    def moved(self, symbols):
        """Values of the inputs, each of `symbols` moved by an imaginary step: a row of states."""
        steps = zip(symbols, 1j * STEP * np.eye(len(symbols)), strict=True)
        return self.known | {symbol: self.known[symbol] + step for symbol, step in steps}

    def slopes(self, symbols):
        """Complex-step derivatives of all statements by each of `symbols`."""
        found = self.at(self.moved(symbols))
        n = len(symbols)
        return {name: np.broadcast_to(np.imag(x) / STEP, n) for name, x in found.items()}

    def lines_by_symbol(self):
        """Symbol -> the lines of derivatives by it, with their names ahead of ``_d<symbol>``."""
        arrays = (array for array in self.program.inputs if array.name != "loads")
        names = [name for array in arrays for name in array.symbol_names]
        found = {name: [] for name in names}
        for line in self.program.statements:
            if line.note.startswith("dKANE"):
                symbol = next(name for name in names if line.name.endswith(f"_d{name}"))
                found[symbol].append((line.name.removesuffix(f"_d{symbol}"), line))
        return found


DERIVATIVES = [
    "forward_dynamics_derivatives",
    "forward_dynamics_parameter_derivatives",
    "hybrid_dynamics_derivatives",
    "hybrid_dynamics_parameter_derivatives",
]


def statements_of_every_kind(function, seed):
    description, runtime = every_kind()
    robot = Implicit(description, seed, runtime)
    arguments = robot.given if "hybrid" in function else robot.torques
    state = {**arguments, "constants": description.parameter_values}
    state.pop("qdd")
    return Statements(description, function, state, runtime)


def pose_behind(tree, joint):
    """Pose of basis k in that of its parent."""
    at, q = joint.placement, tree.algebra.symbol(f"q_{joint.number}")
    pose = at.tree @ joint.type.motion(at.axis, q + at.offset, tree.algebra)
    return tree.joint(joint.parent).placement.link @ pose if joint.parent else pose


class Dense:
    """The recursion at a state, and S^k, P_k^k and I_1^k as 6x6 matrices from poses and bodies."""

    def __init__(self, seed):
        description, _ = every_kind()
        self.robot = Implicit(description, seed)
        self.tree = build_tree(description, Graph())
        b = ProgramBuilder(self.tree.algebra, taken=self.tree.parameter_names)
        state = declare_inputs(self.tree, b, "forward_dynamics")
        self.solution = solve(self.tree, contributions(self.tree, b, state, ()), b, state)
        self.known = dict(description.parameter_values)
        for name in ("q", "qd", "tau", "loads"):
            given = self.robot.torques[name].reshape(-1)
            self.known |= dict(zip(b.declared(name).symbol_names, given, strict=True))
        self.numbers = range(1, self.tree.n + 1)
        self.parent = {joint.number: joint.parent for joint in self.tree.joints}
        self.S, self.P, self.I_1, self.C, self.gamma = {}, {}, {}, {}, {}
        self.mass, self.center, self.central = {}, {0: np.zeros(3)}, {}
        for joint in self.tree.joints:
            self._add(joint)

    def number(self, entries):
        return np.array(evaluate(list(entries), self.known), dtype=float)

    def matrix(self, inertia):
        """The 6x6 matrix of three blocks."""
        A, B, D = (
            self.number(block.entries).reshape(3, 3) for block in (inertia.A, inertia.B, inertia.D)
        )
        return np.block([[A, B], [B.T, D]])

    def motion(self, k):
        """omega, alpha_t, a_t and the acceleration of the mass centre, body axes."""
        motion = self.solution.motions[k]
        omega, alpha, a = (self.number(x) for x in (motion.omega, motion.alpha, motion.a))
        c = self.center[k]
        return omega, alpha, a, a + np.cross(alpha, c) + np.cross(omega, np.cross(omega, c))

    def _add(self, joint):
        k, algebra, at = joint.number, self.tree.algebra, joint.placement
        pose = pose_behind(self.tree, joint)
        self.C[k] = self.number(pose.rotation.entries).reshape(3, 3)
        self.gamma[k] = self.number(pose.translation)
        self.S[k] = shift(self.gamma[k]) @ np.kron(np.eye(2), self.C[k])  # (38), (42)
        self.P[k] = np.concatenate([self.number(axis) for axis in joint.axes(algebra)])
        E, body = self.number(at.link.rotation.entries).reshape(3, 3), joint.body
        (self.mass[k],), self.center[k] = (
            self.number([body.mass]),
            self.number(at.link.apply(body.com)),
        )
        self.central[k] = E @ self.number(body.inertia.entries).reshape(3, 3) @ E.T
        about_center = np.zeros((6, 6))
        about_center[:3, :3] = self.central[k]
        about_center[3:, 3:] = self.mass[k] * np.eye(3)
        self.I_1[k] = shift(self.center[k]) @ about_center @ shift(self.center[k]).T

    def F_1(self, k):
        """(23), (24) corrected, about the reference point, with the loads."""
        omega, alpha, _, a_c = self.motion(k)
        H = self.central[k] @ omega
        moment = -self.central[k] @ alpha - np.cross(omega, H)
        found = shift(self.center[k]) @ np.concatenate([moment, -self.mass[k] * a_c])
        for i, point in self.solution.at[k].points.items():
            load = self.number(self.solution.loads[k][i].entries)
            found = found + shift(self.number(point)) @ load
        return found


def shift(gamma):
    """(38)"""
    x, y, z = gamma
    result = np.eye(6, dtype=np.asarray(gamma).dtype)
    result[:3, 3:] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    return result


def test_the_mass_matrix_and_forces_of_the_definitions():
    """(25), (26), (37), (38): M qdd = K, with partial velocities and forces of the notes."""
    dense = Dense(1)
    M, K, partial = np.zeros_like(dense.robot.M), np.zeros(dense.robot.n), {}
    for k in dense.numbers:
        path = dense.tree.path(k)
        for i in path:
            partial[i, k] = dense.P[k] if i == k else dense.S[k].T @ partial[i, dense.parent[k]]
        for r in path:
            K[r - 1] += partial[r, k] @ dense.F_1(k)
            for i in path:
                M[r - 1, i - 1] += partial[r, k] @ dense.I_1[k] @ partial[i, k]
    rotors = dense.number([dense.solution.at[k].rotor for k in dense.numbers])
    resistances = dense.number([dense.solution.at[k].resistance for k in dense.numbers])
    assert agrees(M + np.diag(rotors), dense.robot.M)
    assert agrees(K - resistances, dense.robot.M @ dense.robot.qdd)


def test_known_motions():
    """(33), (35) and (36), that of the mass centres, with the paper's s^k and r^k."""
    dense = Dense(2)
    gravity = dense.number(dense.tree.gravity)
    zero = np.zeros(3)
    for k in dense.numbers:
        p, turn, rate = dense.parent[k], dense.C[k].T, dense.robot.state["qd"][k - 1]
        at_p = dense.motion(p) if p else (zero, zero, -gravity, -gravity)
        omega_p, alpha_p, a_p = (turn @ at_p[i] for i in (0, 1, 3))
        s = turn @ (dense.gamma[k] - dense.center[p])
        r, w, v = dense.center[k], dense.P[k][:3] * rate, dense.P[k][3:] * rate
        omega, alpha, _, a = dense.motion(k)
        assert agrees(omega, omega_p + w)
        assert agrees(alpha, alpha_p + np.cross(omega_p, w))
        expected = a_p + np.cross(alpha_p, s + r) + np.cross(omega_p, np.cross(omega_p, s))
        expected = expected + np.cross(omega, np.cross(omega, r))
        expected = expected + np.cross(np.cross(omega_p, w), r) + 2 * np.cross(omega_p, v)
        assert agrees(a, expected)


def test_articulated_bodies():
    """(56) to (61)"""
    dense = Dense(3)
    bodies, at = dense.solution.bodies, dense.solution.at
    I_3, F_3 = dict(dense.I_1), {k: dense.F_1(k) for k in dense.numbers}
    pivot, U, e = {}, {}, {}
    for k in reversed(dense.numbers):
        rotor, resistance = dense.number([at[k].rotor, at[k].resistance])
        U[k] = I_3[k] @ dense.P[k]
        pivot[k], e[k] = dense.P[k] @ U[k] + rotor, dense.P[k] @ F_3[k] - resistance  # (59)
        assert agrees(dense.matrix(bodies[k].I_3), I_3[k])
        assert agrees(dense.number(bodies[k].F_3.entries), F_3[k])
        assert agrees(dense.number([bodies[k].pivot, bodies[k].e]), [pivot[k], e[k]])
        if p := dense.parent[k]:
            left = I_3[k] - np.outer(U[k], U[k]) / pivot[k]
            I_3[p] = I_3[p] + dense.S[k] @ left @ dense.S[k].T  # (57)
            F_3[p] = F_3[p] + dense.S[k] @ (F_3[k] - U[k] * e[k] / pivot[k])  # (58)
    A = {0: np.zeros(6)}
    for k in dense.numbers:
        A_in = dense.S[k].T @ A[dense.parent[k]]
        qdd = (e[k] - U[k] @ A_in) / pivot[k]  # (60)
        A[k] = A_in + dense.P[k] * qdd  # (61)
        assert agrees(dense.number(dense.solution.accelerations[k].A.entries), A[k])
        assert agrees(qdd, dense.robot.qdd[k - 1])
        rotor, resistance = dense.number([at[k].rotor, at[k].resistance])
        left = dense.P[k] @ (I_3[k] @ A[k] - F_3[k]) + resistance + rotor * qdd
        assert agrees(left, 0)  # (56)


AS_IF = ("turn_", "shift_", "change_")
"""Lines that have no line whose derivatives they are."""


@pytest.mark.parametrize("function", one_in(2, DERIVATIVES))
def test_every_line_is_the_derivative_of_its_line(function):
    """(62)-(70): d_X_dz is the complex-step derivative of X with respect to z."""
    statements = statements_of_every_kind(function, 4)
    checked = set()
    by_symbol = statements.lines_by_symbol()
    slopes = statements.slopes(list(by_symbol))
    for place, lines in enumerate(by_symbol.values()):
        for name, line in lines:
            if not name.startswith(AS_IF):
                assert name.startswith("d_") and name.removeprefix("d_") in slopes, line.name
                expected = slopes[name.removeprefix("d_")][place]
                assert agrees(statements.values[line.name], expected), line.name
                checked.add(line.note)
    assert checked >= {f"dKANE-{number}" for number in range(4, 16)}


@pytest.mark.parametrize("function", one_in(4, DERIVATIVES))
def test_displacements_and_what_they_change(function):
    """turn, shift from C^T C_{,z}, C^T gamma_{,z}; change_I from the derivative of S I_left S^T."""
    statements = statements_of_every_kind(function, 5)
    ways = Ways(statements, "hybrid" in function)
    checked = set()
    for symbol, lines in statements.lines_by_symbol().items():
        moved = statements.known[symbol] + 1j * STEP
        expected = ways.changes(statements.known | {symbol: moved})
        for name, line in lines:
            if name.startswith(AS_IF):
                value = statements.values[line.name]
                assert agrees(value, expected[name]), line.name
                checked.add(re.sub(r"_\d+_.*", "", name))
    assert checked == {"turn", "shift", "change_I_seat", "change_I_ahead"}


class Ways:
    """C^k, gamma^k, and what joints carry to their parents, at any arguments of `statements`."""

    def __init__(self, statements, prescribed):
        self.tree = statements.tree
        b = ProgramBuilder(self.tree.algebra, taken=self.tree.parameter_names)
        function = statements.program.function
        state = declare_inputs(self.tree, b, function)
        given = [joint.number for joint in self.tree.joints if joint.prescribed and prescribed]
        self.solution = solve(self.tree, contributions(self.tree, b, state, given), b, state)

    def changes(self, moved):
        """Name -> entry of the derivative along the imaginary part of `moved`."""
        found = {}
        for joint in self.tree.joints:
            k, at = joint.number, self.solution.at[joint.number]
            C, gamma = self._pose(joint, moved)
            turn = C.real.T @ C.imag / STEP
            shifted = C.real.T @ gamma.imag / STEP
            for i, axis in enumerate("xyz"):
                entry = (turn[2, 1], turn[0, 2], turn[1, 0])[i]
                found |= {f"turn_{k}_{axis}": entry, f"shift_{k}_{axis}": shifted[i]}
            carried = self._carried(k, moved).imag / STEP
            u = numbers(at.u, moved).real
            E = np.kron(np.eye(2), numbers(at.E.matrix.entries, moved, (3, 3)).real)
            ahead = shift(-u) @ carried @ shift(-u).T
            found |= blocks(f"change_I_ahead_{k}", ahead)
            found |= blocks(f"change_I_seat_{k}", E.T @ ahead @ E)
        return found

    def _carried(self, k, moved):
        """S^k I_left (S^k)^T"""
        inertia = self.solution.bodies[k].left_inertia
        A, B, D = (
            numbers(block.entries, moved, (3, 3)) for block in (inertia.A, inertia.B, inertia.D)
        )
        C, gamma = self._pose(self.tree.joint(k), moved)
        S = shift(gamma) @ np.kron(np.eye(2), C)
        return S @ np.block([[A, B], [B.T, D]]) @ S.T

    def _pose(self, joint, moved):
        pose = pose_behind(self.tree, joint)
        return numbers(pose.rotation.entries, moved, (3, 3)), numbers(pose.translation, moved)


def numbers(entries, known, shape=(3,)):
    """Complex values of scalars."""
    return np.array(evaluate(list(entries), known), dtype=complex).reshape(shape)


def blocks(name, inertia):
    """The entries of a 6x6 matrix under the names that `let_inertia` gives them."""
    found = {}
    for label, i, k in (("nn", 0, 0), ("nf", 0, 3), ("ff", 3, 3)):
        for row in range(3):
            for column in range(3):
                entry = inertia[i + row, k + column]
                found[f"{name}_{label}_{row + 1}{column + 1}"] = entry
    return found


# -- the same over SymPy -----------------------------------------------------------------------


@pytest.mark.parametrize("function", sorted(KANE.functions))
def test_both_algebras_give_the_same_numbers(function):
    """Of the two-link arm, its elbow prescribed where that matters, with friction and a spring."""
    text = (EXAMPLES / "two_link.yaml").read_text(encoding="utf-8")
    marked = "name: elbow\n    prescribed: true\n    friction: 0.3\n    stiffness: 2"
    description = described(text.replace("name: elbow", marked))
    programs = [
        derive(build_tree(description, algebra, ("L1", "m2")), KANE, function)
        for algebra in (SymPyAlgebra(), Graph())
    ]
    symbolic, graph = programs
    names = [name for array in graph.inputs for name in array.symbol_names]
    assert names == [name for array in symbolic.inputs for name in array.symbol_names]
    values = np.random.default_rng(5).uniform(0.3, 1.5, len(names))
    numbers = dict(zip(names, map(float, values), strict=True))
    known = {sympy.Symbol(x, real=True): sympy.Float(v, 30) for x, v in numbers.items()}
    for line in symbolic.statements:
        known[sympy.Symbol(line.name, real=True)] = line.value.xreplace(known).evalf(30)
    found = [float(sympy.sympify(x).xreplace(known).evalf(30)) for x in symbolic.results]
    expected = evaluate(graph.results, numbers)
    assert agrees(found, np.array(expected, dtype=float))


# -- growth ------------------------------------------------------------------------------------


def operations(n, parameters):
    description, runtime = chain(n, parameters, "mass")
    tree = build_tree(description, Graph(), runtime)
    program = derive(tree, KANE, "forward_dynamics_sensitivities")
    return operations_after(program.results).total


@pytest.mark.deep
def test_sensitivities_grow_in_proportion_to_joints_and_parameters():
    sizes = (12, 24, 48, 96)
    per_parameter = [operations(n, 2) - operations(n, 1) for n in sizes]
    exponent = np.polyfit(np.log(sizes), np.log(per_parameter), 1)[0]
    assert 0.85 < exponent <= 1.15
    counts = [operations(12, p) for p in (1, 2, 3, 4, 6)]
    steps = np.diff(counts) / np.diff((1, 2, 3, 4, 6))
    assert np.ptp(steps) <= 0.05 * steps.mean()


PARALLEL = """
symgen: 1
name: parallel
convention: standard
gravity: [0, -9.81, 0]
parameters: {L: 0.4, m: 1.1}
joints:
"""


def estimated_models():
    """Trees of joints about skew, quarter turned and parallel axes."""
    for name in ("puma560", "arm7", "tree12", "satellite_arm"):
        yield pytest.param(read(EXAMPLES / f"{name}.yaml"), id=name)
    for n in (3, 8):
        yield pytest.param(chain(n, 2, "mass")[0], id=f"chain{n}")
    yield pytest.param(described(spatial_tree((0, 1, 2, 0, 4, 5, 0, 7, 8), "star9")), id="star9")
    joints = "".join(
        f"  - {{name: j{k}, type: revolute, dh: {{a: {'L' if k == 1 else 0.3}}}, link: "
        f"{{mass: {'m' if k == 2 else 0.7}, com: [-0.2, 0, 0], inertia: {{zz: 0.1}}}}}}\n"
        for k in range(5)
    )
    yield pytest.param(described(PARALLEL + joints), id="parallel5")


@pytest.mark.parametrize("description", one_in(4, estimated_models()))
def test_the_estimate_is_within_a_factor_of_two(description):
    runtime = tuple(p.name for p in description.parameters if not p.derived)
    for function in KANE.functions:
        by_parameters = function.endswith(("parameter_derivatives", "sensitivities"))
        given = runtime if by_parameters else ()
        if by_parameters and not runtime:
            continue
        program = derived_program(description, KANE, function, given)
        count = operations_after(program.results).total
        estimate = KANE.estimate(build_tree(description, Graph(), given), function)
        assert count / 2 < estimate < 2 * count, function


@pytest.mark.parametrize(
    ("name", "multiplications", "additions"),
    [
        ("puma560", 415, 376),
        ("arm7", 830, 830),
        ("tree12", 1335, 1195),
        *deep(("human43", 4310, 3610)),
    ],
)
def test_operations_stay_low(name, multiplications, additions):
    """Of forward dynamics, with the diagonal of the mass matrix."""
    program = derived_program(read(EXAMPLES / f"{name}.yaml"), KANE, "forward_dynamics")
    count = operations_after(program.results)
    assert count.multiplications <= multiplications and count.additions <= additions
