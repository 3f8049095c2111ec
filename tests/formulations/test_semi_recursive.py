"""Semi-recursive dynamics about three kinds of reference points, against inverse dynamics.

Every named term stands in a line of its own, so that its derivatives are compared with complex
steps of that line; the sums are held against (7) in NumPy.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
import sympy

import symgen
from symgen import derive as derive_symbolically
from symgen import read
from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.deriving.derivation import derived_program
from symgen.deriving.selection import select
from symgen.deriving.symbolic import euler_lagrange
from symgen.errors import RequestError
from symgen.formulations import FORMULATIONS, VARIANTS, declare_inputs, derive, formulation_named
from symgen.formulations.composite import COMPOSITE
from symgen.formulations.newton_euler import NEWTON_EULER
from symgen.formulations.semi_recursive import SEMI_RECURSIVE
from symgen.formulations.semi_recursive.functions import equations_of
from symgen.formulations.semi_recursive.kinematics import rates_sweep
from symgen.formulations.semi_recursive.reference_points import LINK_ORIGIN, RTDYN0, RTDYN1
from symgen.formulations.semi_recursive.slopes import responses_sweep
from symgen.kinematics.tree import build_tree
from symgen.optimize.operations import operations_after
from symgen.options import BuildOptions
from symgen.program.builder import ProgramBuilder
from symgen.program.evaluation import call
from symgen.program.functions import function_named
from tests.choosing import one_in
from tests.formulations.test_explicit_kane import (
    EXAMPLES,
    PLANE,
    check_forward,
    check_hybrid,
    compare_algebras,
    random_model,
)
from tests.oracles.comparison import STEP, agrees, state_of
from tests.oracles.descriptions import described
from tests.oracles.implicit import Implicit
from tests.oracles.lines import compared, slopes_of, values_of
from tests.oracles.parameter_kinds import chain, every_kind
from tests.oracles.programs import evaluated
from tests.oracles.random_models import EVERYTHING, Recipe, seeded_model_text

THREE = (SEMI_RECURSIVE, *VARIANTS)
POINTS = (LINK_ORIGIN, RTDYN0, RTDYN1)
EACH = pytest.mark.parametrize("formulation", THREE, ids=lambda item: item.name)
EACH_POINT = pytest.mark.parametrize("point", POINTS, ids=lambda point: point.name)
FREE = Recipe(
    joints=(1, 4),
    types=("revolute", "prismatic", "fixed", "ball", "free"),
    loads=(0, 2),
    terms=True,
)


OTHERS = (
    "inverse_dynamics_load_derivatives", "gravity_forces", "kinetic_energy", "potential_energy",
    "forward_kinematics", "jacobians", "joint_wrenches", "link_motion", "point_motion",
    "point_motion_derivatives", "point_motion_parameter_derivatives",
    "kinetic_energy_parameter_derivatives", "potential_energy_parameter_derivatives",
)  # fmt: skip


# -- results -----------------------------------------------------------------------------------


@EACH
@pytest.mark.parametrize("seed", one_in(4, range(400, 420)))
def test_torques_and_their_derivatives_on_random_trees(formulation, seed):
    description = described(seeded_model_text(seed, EVERYTHING))
    oracle = Implicit(description, seed, ("k",))
    expected = {
        "inverse_dynamics": (oracle.tau,),
        "inverse_dynamics_derivatives": (
            oracle.tau, *(oracle.slope(by) for by in ("q", "qd")), oracle.M,
        ),
        "mass_matrix": (oracle.M,),
        "bias_forces": (oracle.tau - oracle.M @ oracle.qdd,),
        "inverse_dynamics_parameter_derivatives": (oracle.slope("parameters"),),
    }  # fmt: skip
    for function, references in expected.items():
        results = call(evaluated(description, formulation, function, ("k",)), oracle.state)
        for result, reference in zip(results, references, strict=True):
            assert agrees(result, reference), function


@EACH
def test_parameters_of_every_kind(formulation):
    description, runtime = every_kind()
    oracle = Implicit(description, 1, runtime)
    program = evaluated(description, formulation, "inverse_dynamics_parameter_derivatives", runtime)
    (found,) = call(program, oracle.state)
    assert agrees(found, oracle.slope("parameters"))
    check_forward(description, formulation, runtime, seed=1)
    check_hybrid(description, formulation, runtime, seed=1)


@EACH
@pytest.mark.parametrize("seed", one_in(4, range(440, 452)))
def test_points_wrenches_and_energies_on_random_trees(formulation, seed):
    description = described(seeded_model_text(seed, replace(EVERYTHING, points=(1, 3))))
    state = {**state_of(description, seed), "parameters": [0.75]}
    for function in OTHERS:
        programs = (
            evaluated(description, x, function, ("k",)) for x in (formulation, NEWTON_EULER)
        )
        results, expected = (call(program, state) for program in programs)
        for result, reference in zip(results, expected, strict=True):
            assert agrees(result, reference), function


@EACH
@pytest.mark.parametrize("seed", one_in(3, [320, 321, 322, *range(324, 330)]))
def test_forward_dynamics_of_random_trees(formulation, seed):
    check_forward(random_model(seed), formulation, ("k",), seed)


@EACH
@pytest.mark.parametrize("seed", one_in(4, range(340, 350)))
def test_hybrid_dynamics_of_random_trees(formulation, seed):
    check_hybrid(random_model(seed, prescribed=True), formulation, ("k",), seed)


def compare_with_composite(description, seed, formulations):
    """All functions that both have, to 1e-10."""
    state, count = state_of(description, seed), 0
    for name in COMPOSITE.functions:
        spec = function_named(name)
        if name not in SEMI_RECURSIVE.functions or "hybrid" in name:
            continue
        expected = call(evaluated(description, COMPOSITE, name), state)
        if spec.solves and not np.isfinite(expected[0]).all():
            continue
        for formulation in formulations:
            results = call(evaluated(description, formulation, name), state)
            visible = len(spec.results)
            for value, other in zip(results[:visible], expected[:visible], strict=True):
                assert agrees(value, other, 1e-10), (formulation.name, name)
            count += 1
    return count


@pytest.mark.parametrize("seed", one_in(3, [430, 431, 432, 433, 435, 436]))
def test_quaternions(seed):
    """Free bodies and balls, whose velocities are no derivatives of coordinates."""
    assert compare_with_composite(described(seeded_model_text(seed, FREE)), seed, THREE) >= 18


def test_joints_that_follow_others():
    from tests.agreement.test_mimic import GRIPPER

    assert compare_with_composite(described(GRIPPER), 3, THREE) >= 18


@EACH
def test_no_joint_at_all(formulation):
    description = described("symgen: 1\nname: still\njoints: []\n")
    for name in formulation.functions:
        results = call(evaluated(description, formulation, name), {})
        for result in results:  # of energies one number
            assert np.all(np.asarray(result) == 0) and np.size(result) == name.endswith("energy"), (
                name
            )


# -- the terms of the equations ----------------------------------------------------------------


class Terms:
    """What the paper's terms are at a state, as numbers: by body, and stacked as in (5) to (7)."""

    def __init__(self, description, state, point):
        tree = build_tree(description, Graph())
        b = ProgramBuilder(tree.algebra, taken=tree.parameter_names)
        symbols = declare_inputs(tree, b, "inverse_dynamics")
        self.equations = equations_of(point, tree, b, symbols)
        self.system, self.known = self.equations.system, self.equations.known
        self.rates = rates_sweep(self.system)
        self.values = dict(description.parameter_values)
        for name in ("q", "qd", "qdd", "loads"):
            names = b.declared(name).symbol_names
            self.values.update(zip(names, np.ravel(state[name]), strict=True))
        self.bodies = list(self.system.geometry)

    def of(self, scalars):
        return np.array(evaluate(list(scalars), self.values))

    def matrix(self, scalars):
        return self.of(scalars.entries).reshape(3, 3)

    def stacked(self, columns):
        """6 n_b x n, from 6-vectors by body and joint."""
        n = len(self.bodies)
        found = np.zeros((6 * n, n))
        for i in self.bodies:
            for j, column in columns(i).items():
                found[6 * i - 6 : 6 * i, j - 1] = self.of(column)
        return found

    @property
    def R(self):
        return self.stacked(lambda i: self.system.geometry[i].R)

    @property
    def R_dot(self):
        return self.stacked(lambda i: self.rates[i])

    def mass(self, i):
        """(75): D^T diag(m I, J_G) D"""
        body, D = self.known.bodies[i], np.eye(6)
        D[:3, 3:] = -tilde(self.of(body.c))
        about = np.zeros((6, 6))
        about[:3, :3] = np.eye(3) * self.of([body.m])[0]
        about[3:, 3:] = self.matrix(body.J_G)
        return D.T @ about @ D

    def velocity_of_centre(self, i):
        motion = self.system.motions[i]
        v, omega, c = map(self.of, (motion.V.linear, motion.omega, self.known.bodies[i].c))
        return v + np.cross(omega, c)


def tilde(x):
    """The matrix of x x (.)"""
    return np.cross(np.eye(3), x)


@EACH_POINT
@pytest.mark.parametrize("seed", [320, 321, 325, 327])
def test_velocities_and_accelerations_are_derivatives_by_time(point, seed):
    """(4), (6), (24): of the centres of mass, whichever point the motion is described at."""
    description = random_model(seed)
    state = state_of(description, seed)
    now = Terms(description, state, point)
    soon = {**state, "q": state["q"] + 1j * STEP * state["qd"]}
    later = Terms(description, soon, point)
    for i in now.bodies:
        places = [x.system.geometry[i].places.centre for x in (now, later)]
        moved = later.of(places[1])
        assert agrees(now.velocity_of_centre(i), moved.imag / STEP)
        motion, c = now.system.motions[i], now.of(now.known.bodies[i].c)
        omega, d_sum = now.of(motion.omega), now.of(motion.d_sum)
        swing = np.cross(omega, np.cross(omega, c))
        acceleration = d_sum[:3] + np.cross(d_sum[3:], c) + swing
        assert agrees(acceleration, later.velocity_of_centre(i).imag / STEP)
        alpha = later.of(later.system.motions[i].omega).imag / STEP
        assert agrees(d_sum[3:], alpha)


@EACH_POINT
@pytest.mark.parametrize("seed", [320, 321, 325, 327])
def test_the_sums_are_those_of_the_topology_matrix(point, seed):
    """(5) to (8): V = R qd, d_sum = Rdot qd, M = R^T M R and Q = R^T (Q - M Rdot qd)."""
    description = random_model(seed)
    state = state_of(description, seed)
    terms = Terms(description, state, point)
    n, known, system = len(terms.bodies), terms.known, terms.system
    R, R_dot = terms.R, terms.R_dot
    M, Q = np.zeros((6 * n, 6 * n)), np.zeros(6 * n)
    for i in terms.bodies:
        rows = slice(6 * i - 6, 6 * i)
        M[rows, rows] = terms.mass(i)
        assert agrees(terms.of(system.motions[i].V), (R @ state["qd"])[rows])
        assert agrees(terms.of(system.motions[i].d_sum), (R_dot @ state["qd"])[rows])
        c, body = terms.of(known.bodies[i].c), known.bodies[i]
        omega, J = terms.of(system.motions[i].omega), terms.matrix(body.J_G)
        t = terms.of([body.m])[0] * np.cross(omega, np.cross(omega, c))
        Q[rows] = [*-t, *(-np.cross(omega, J @ omega) - np.cross(c, t))]
        gravity = terms.of(system.tree.gravity) * terms.of([body.m])[0]
        Q[rows] += [*gravity, *np.cross(c, gravity)]
        at = system.geometry[i]
        for place, load in enumerate(system.tree.loads):
            if load.body == i:
                arm = terms.of(at.places.origin) + terms.matrix(at.A) @ terms.of(load.point)
                force, moment = np.split(state["loads"][place], 2)
                Q[rows] += [*force, *(moment + np.cross(arm - terms.of(at.r), force))]
    expected = R.T @ M @ R
    for (i, j), entry in terms.equations.mass.items():
        assert agrees(terms.of([entry])[0], expected[i - 1, j - 1])
    forces = R.T @ (Q - M @ R_dot @ state["qd"])
    assert agrees([terms.of([known.Q[i]])[0] for i in terms.bodies], forces)


def test_what_the_reference_points_are_chosen_for():
    """RTdyn0: masses are block diagonal. RTdyn1: every B_i is the identity."""
    description = random_model(320)
    state = state_of(description, 320)
    centre, origin = (Terms(description, state, point) for point in (RTDYN0, RTDYN1))
    assert all((centre.of(body.M.mc) == 0).all() for body in centre.known.bodies.values())
    assert all((origin.of(at.arm) == 0).all() for at in origin.system.geometry.values())
    general = Terms(description, state, LINK_ORIGIN)
    assert any((general.of(body.M.mc) != 0).any() for body in general.known.bodies.values())
    assert any((general.of(at.arm) != 0).any() for at in general.system.geometry.values())


# -- every line --------------------------------------------------------------------------------


def terms_of(lines):
    """What the lines are of: Q_I for Q_I_2_f_x."""
    return {re.sub(r"_\d+(_|$).*", "", line) for line in lines}


BY_COORDINATE = {
    "J_G", "arm", "c", "b", "omega", "v", "b_dot", "arm_dot", "d", "d_sum", "mc", "J", "t", "Q_I",
    "mc_sum", "J_sum", "P", "M", "Q_E", "Q_sum", "Q",
}  # fmt: skip
BY_VELOCITY = {"b_dot", "arm_dot", "d", "d_sum", "t", "Q_I", "Q_sum", "Q"}
BY_PARAMETER = BY_COORDINATE | {"m_sum", "o", "r_J", "r_G", "w", "u", "weight", "drive"}
ALWAYS_ZERO = {"": set(), "_rtdyn0": {"c", "mc", "t"}, "_rtdyn1": {"arm"}}
"""What the choice of the reference points leaves no derivative of, by the end of the name."""

COMPARED = {320: (280, 100), 328: (190, 75), 333: (390, 150)}
"""By seed: the least numbers of lines that have a derivative by a coordinate, and by a velocity."""


def named(formulation):
    return ALWAYS_ZERO[formulation.name.removeprefix("semi_recursive")]


@EACH
@pytest.mark.parametrize("seed", COMPARED)
def test_each_line_is_the_derivative_that_its_name_says(formulation, seed):
    """(20), (21), (25) to (32), (59) to (69), (76), table 6 and what they are made of."""
    description = random_model(seed)
    oracle = Implicit(description, seed)
    program = derive(build_tree(description, Graph()), formulation, "inverse_dynamics_derivatives")
    given = oracle.state, description.parameter_values
    values = values_of(program, *given)
    everything = {"q": BY_COORDINATE, "qd": BY_VELOCITY}
    for (by, expected), number in zip(everything.items(), COMPARED[seed], strict=True):
        variables = [f"{by}_{i + 1}" for i in range(oracle.n)]
        lines = compared(values, slopes_of(program, *given, by), variables)
        assert len(lines) >= number
        assert seed != 320 or terms_of(lines) >= expected - named(formulation)


@EACH
def test_each_line_is_the_derivative_by_the_parameter_in_its_name(formulation):
    """(33) to (36), (53), (57), (77) and what they are made of."""
    description, runtime = every_kind()
    oracle = Implicit(description, 1, runtime)
    tree = build_tree(description, Graph(), runtime)
    program = derive(tree, formulation, "inverse_dynamics_parameter_derivatives")
    given = oracle.state, {name: description.parameter_values[name] for name in runtime}
    slopes, values = slopes_of(program, *given, "parameters"), values_of(program, *given)
    lines = compared(values, slopes, runtime)
    assert len(lines) >= 450 and terms_of(lines) >= BY_PARAMETER - named(formulation)
    found = 0
    for name, value in values.items():
        match = re.fullmatch(r"phi_(\d+)_([xyz])_d(\w+)", name)
        lines = [f"A_{match[1]}_{r}{c}" for r in "123" for c in "123"] if match else []
        if match and set(lines) <= set(values):  # (57): dA A^T = phi~
            A = np.array([values[line] for line in lines]).reshape(3, 3)
            d_A = [slopes[line][runtime.index(match[3])] for line in lines]
            place = {"x": (2, 1), "y": (0, 2), "z": (1, 0)}[match[2]]
            assert agrees(value, (np.reshape(d_A, (3, 3)) @ A.T)[place]), name
            found += 1
    assert found >= 20


@EACH
def test_each_line_of_a_point_is_the_derivative_that_its_name_says(formulation):
    """(48) and table 3."""
    description, _ = every_kind()
    state = state_of(description, 2)
    program = derive(build_tree(description, Graph()), formulation, "point_motion_derivatives")
    given = state, description.parameter_values
    variables = [f"q_{i + 1}" for i in range(len(state["q"]))]
    lines = compared(values_of(program, *given), slopes_of(program, *given, "q"), variables)
    assert {line[0] for line in lines} == {"x", "v", "a"} and len(lines) == 18


@EACH
@pytest.mark.parametrize("seed", COMPARED)
def test_stiffness_damping_and_the_derivative_of_the_mass_matrix(formulation, seed):
    """(14c), (25a), (31a), and (29c), (30b), (32c) of an angular velocity."""
    description = random_model(seed)
    oracle, n = Implicit(description, seed), 0
    program = derive(build_tree(description, Graph()), formulation, "inverse_dynamics_derivatives")
    given = oracle.state, description.parameter_values
    values = values_of(program, *given)
    by_q, by_qd = (slopes_of(program, *given, by) for by in ("q", "qd"))
    constant = np.zeros(oracle.n)
    for name, value in values.items():
        if match := re.fullmatch(r"(K|C|Mz_qdd)_(\d+)_(\d+)", name):
            i, k = int(match[2]), int(match[3])
            if match[1] == "Mz_qdd":
                pairs = [(max(i, j), min(i, j)) for j in range(1, oracle.n + 1)]
                rows = [by_q.get(f"M_{r}_{c}", constant) for r, c in pairs]
                expected = np.array(rows)[:, k - 1] @ oracle.qdd
            else:
                expected = -(by_q if match[1] == "K" else by_qd)[f"Q_{i}"][k - 1]
            assert agrees(value, expected), name
            n += 1
    assert n > oracle.n**2


@EACH_POINT
def test_responses_to_an_angular_velocity(point):
    """T and N of (29c), (30b), (32c): what omega does to m omega~ omega~ c and omega~ J omega."""
    description = random_model(320)
    terms = Terms(description, state_of(description, 320), point)
    for i, response in responses_sweep(terms.system, terms.known).items():
        body, omega = terms.known.bodies[i], terms.of(terms.system.motions[i].omega)
        m, c, J = terms.of([body.m])[0], terms.of(body.c), terms.matrix(body.J_G)
        moved = omega + 1j * STEP * np.eye(3)
        swing = m * np.cross(moved, np.cross(moved, c))
        spin = np.cross(moved, moved @ J)
        assert agrees(terms.matrix(response.T), swing.imag.T / STEP)
        assert agrees(terms.matrix(response.N), spin.imag.T / STEP)


# -- the SymPy view ----------------------------------------------------------------------------


@EACH
def test_two_link_in_symbols(formulation):
    """M qdd + bias is what Lagrange's equations say, and so is the inverse dynamics."""
    model = read(EXAMPLES / "two_link.yaml")
    dynamics = derive_symbolically(model, formulation.name)
    torques = euler_lagrange(model)
    qdd = sympy.Matrix(derive_symbolically(model, "closed_form_lagrange").qdd)
    for ours in (dynamics.mass_matrix * qdd + dynamics.bias_forces, dynamics.inverse_dynamics):
        residual = sympy.Matrix(ours) - torques
        symbols = sorted(residual.free_symbols, key=str)
        values = sympy.lambdify(symbols, residual)(*np.linspace(0.4, 1.9, len(symbols)))
        assert np.abs(values).max() < 1e-11


@EACH
@pytest.mark.parametrize("function", one_in(4, sorted(SEMI_RECURSIVE.functions)))
def test_both_algebras_give_the_same_numbers(formulation, function):
    """Over SymPy scalars and over the graph, with prescribed joints, loads and parameters."""
    compare_algebras(described(PLANE), formulation, function, ("L", "m", "G"))


SMALL = {"link_motion"} | {name for name in OTHERS if name != "gravity_forces"}
"""What is no larger than the robot: too small to matter."""


# -- choice and cost ---------------------------------------------------------------------------


def test_it_is_built_where_it_is_named():
    description = read(EXAMPLES / "two_link.yaml")
    for options, expected in (
        (BuildOptions(), set()),
        (BuildOptions(thorough=True), set()),
        (BuildOptions(formulations=("all",)), {"semi_recursive"}),
        (BuildOptions(formulations=("semi_recursive_rtdyn1",)), {"semi_recursive_rtdyn1"}),
        (BuildOptions(formulations=tuple(x.name for x in THREE)), {x.name for x in THREE}),
    ):
        selection = select(description, options)
        assert {name for name in selection.built if name.startswith("semi")} == expected
        assert ("semi_recursive" in selection.evaluated) == options.thorough


def test_modules_have_the_variants_that_are_named(tmp_path):
    names = [item.name for item in THREE]
    robot = symgen.load(
        EXAMPLES / "two_link.yaml", formulations=names, backend="numpy", out=tmp_path
    )
    assert robot.formulations == tuple(names)
    q, qd, qdd = np.linspace(-1.0, 2.0, 12).reshape(3, 4, 1) * [1.0, -0.7]
    expected = robot.inverse_dynamics_derivatives(q, qd, qdd)
    for name in names:
        results = getattr(robot, name).inverse_dynamics_derivatives(q, qd, qdd)
        for value, other in zip(results, expected, strict=True):
            assert agrees(value, other)


def test_names_that_are_not_there_are_told_from_those_that_are():
    with pytest.raises(RequestError, match="did you mean 'semi_recursive_rtdyn1'"):
        formulation_named("semi_recursive_rtdyn11")


def test_it_never_takes_the_place_of_a_faster_one():
    description, _ = chain(5)
    selection = select(description, BuildOptions())
    assert not {item.name for item in FORMULATIONS if not item.by_default} & {*selection.built}


CLOSING = {name for name in SEMI_RECURSIVE.functions if name.startswith(("constraint", "loop_"))}
"""What chains have not."""


@pytest.mark.parametrize(
    "function", one_in(6, sorted(set(SEMI_RECURSIVE.functions) - SMALL - CLOSING))
)
def test_the_estimate_is_within_a_factor_two(function):
    forward = function.replace("hybrid", "forward")  # the same for chains whose joints are free
    for n, parameters in [(3, 1), (6, 1), (10, 1)] + (
        [(6, 6)] if function_named(function).needs else []
    ):
        description, runtime = chain(n, parameters)
        estimate = SEMI_RECURSIVE.estimate(build_tree(description, Graph(), runtime), function)
        program = derived_program(description, SEMI_RECURSIVE, forward, runtime)
        real = operations_after(program.results).total
        assert 0.5 < estimate / real < 2, (n, parameters, estimate, real)
