"""Derivatives of the Newton-Euler torques: thesis, complex step, Pinocchio, independent model."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from benchmarks.models import HUMAN43, spatial_tree
from symgen import read
from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.deriving.derivation import derived_program
from symgen.formulations import declare_inputs, derive
from symgen.formulations.newton_euler import NEWTON_EULER, dynamics
from symgen.kinematics.tree import build_tree
from symgen.optimize.folding import fold
from symgen.optimize.operations import operations_after
from symgen.program.builder import ProgramBuilder
from symgen.program.differentiation import write_jacobians
from symgen.program.evaluation import call
from symgen.validation.oracles import NumericRobot
from tests.choosing import deep, one_in
from tests.oracles.barman_dynamics import KINDS, Link, Row, ThesisDynamics
from tests.oracles.comparison import STEP, agrees, complex_steps, motion_of
from tests.oracles.descriptions import described
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.programs import evaluated
from tests.oracles.random_models import EVERYTHING, Recipe, model_texts, seeded_model_text

EXAMPLES = Path(__file__).parents[2] / "examples"
FUNCTION = "inverse_dynamics_derivatives"
LARGE = Recipe(joints=(1, 20), loads=(0, 5))
SMALL = Recipe(joints=(1, 8), loads=(0, 3))
DERIVATIVE = re.compile(r"d_(.*?)_(\d+)(?:_from_\d+)?((?:_[xyz])?)_d(q|qd|qdd)_(\d+)")


def compare(description, seed, *oracles):
    """The whole function against oracles that are called as the generated module is."""
    state = motion_of(description, seed)
    results = call(evaluated(description, NEWTON_EULER, FUNCTION), state)
    motion = [state[name] for name in ("q", "qd", "qdd")]
    for oracle in oracles:
        expected = oracle.inverse_dynamics_derivatives(*motion, loads=state["loads"])
        for value, reference in zip(results, expected, strict=True):
            assert agrees(value, reference)


# -- independent oracles -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", one_in(9, range(40)))
def test_random_trees_equal_pinocchio(seed):
    description = described(seeded_model_text(seed, SMALL if seed % 2 else LARGE))
    compare(description, seed, pinocchio_model(description))


@pytest.mark.parametrize("seed", one_in(7, range(40, 60)))
def test_every_type_of_joint_with_terms_of_its_own(seed):
    description = described(seeded_model_text(seed, EVERYTHING))
    compare(description, seed, pinocchio_model(description), NumericRobot(description))


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(model_texts(Recipe(joints=(1, 6), loads=(0, 2))))
def test_drawn_trees_equal_pinocchio(text):
    description = described(text)
    compare(description, 1, pinocchio_model(description))


@pytest.mark.parametrize(
    "name", ["two_link", "cart_pole", "puma560", "arm7", "tree12", *deep("human43")]
)
def test_examples_equal_pinocchio(name):
    description = read(EXAMPLES / f"{name}.yaml")
    compare(description, 2, pinocchio_model(description))


@pytest.mark.parametrize("seed", one_in(8, range(60, 75)))
def test_slopes_equal_complex_step_of_the_torques(seed):
    description = described(seeded_model_text(seed, LARGE))
    state = motion_of(description, seed)
    torques = evaluated(description, NEWTON_EULER, "inverse_dynamics")
    tau, *slopes = call(evaluated(description, NEWTON_EULER, FUNCTION), state)
    assert agrees(tau, call(torques, state)[0])
    for by, slope in zip(("q", "qd", "qdd"), slopes, strict=True):
        assert agrees(slope, complex_steps(torques, state, by)[0])


# -- every line, by complex step ---------------------------------------------------------------


def statement_values(program, state, parameters):
    """Name -> value of every statement, batch axes in front."""
    values = dict(parameters)
    for array in program.inputs:
        if array.name != "parameters":
            given = np.asarray(state[array.name])
            flat = given.reshape((*given.shape[: given.ndim - len(array.shape)], -1))
            values.update({name: flat[..., k] for k, name in enumerate(array.symbol_names)})
    results = evaluate([line.value for line in program.statements], values)
    return {line.name: value for line, value in zip(program.statements, results, strict=True)}


def written(description, function):
    return derive(build_tree(description, Graph()), NEWTON_EULER, function)


def slopes_by_line(program, state, description):
    """Complex-step derivative of every statement: by input entry, name -> value."""
    result = {}
    for by in ("q", "qd", "qdd"):
        moved = {**state, by: state[by] + 1j * STEP * np.eye(len(state["q"]))}
        values = statement_values(program, moved, description.parameter_values)
        for k in range(len(state["q"])):
            result[f"{by}_{k + 1}"] = {
                name: np.broadcast_to(value, (len(state["q"]),)).imag[k] / STEP
                for name, value in values.items()
            }
    return result


@pytest.mark.parametrize("function", [FUNCTION, "joint_wrench_derivatives"])
@pytest.mark.parametrize("seed", one_in(4, range(80, 90)))
def test_each_line_is_the_derivative_that_its_name_says(seed, function):
    """``d_omega_3_x_dq_1`` is the derivative of the line ``omega_3_x`` with respect to q_1."""
    description = described(seeded_model_text(seed, SMALL))
    program = written(description, function)
    state = motion_of(description, seed)
    values = statement_values(program, state, description.parameter_values)
    slopes = slopes_by_line(program, state, description)
    for name, value in values.items():
        match = re.fullmatch(r"d_(.*)_d(qd?d?_\d+)", name)
        if match is None:
            continue
        line, by = match.groups()
        if line.startswith("drive"):
            continue
        assert line in values, f"{name} is the derivative of nothing"
        scale = max(1.0, abs(slopes[by][line]))
        assert abs(value - slopes[by][line]) <= 1e-10 * scale, name


@pytest.mark.parametrize("seed", range(90, 95))
def test_rates_hold_the_derivatives_of_the_accelerations(seed):
    """ddNE-3, ddNE-31 and the table of d alpha and d a_G in the docstring of `velocity_fields`."""
    _, _, description = thesis_chain(seed)
    tree = build_tree(description, Graph())
    program = written(description, FUNCTION)
    state = motion_of(description, seed)
    values = statement_values(program, state, description.parameter_values)
    slopes = slopes_by_line(program, state, description)

    def vector(table, name, ending=""):
        return np.array([table.get(f"{name}_{axis}{ending}", np.nan) for axis in "xyz"])

    compared = 0  # constants are no lines
    for joint in tree.joints:
        j = joint.number
        omega, v_G = vector(values, f"omega_{j}"), vector(values, f"v_G_{j}")
        for i in tree.path(j):
            by_qd = vector(values, f"d_omega_{j}", f"_dqd_{i}")
            by_q = vector(values, f"d_omega_{j}", f"_dq_{i}")
            rate = vector(values, f"dd_omega_{j}", f"_dq_{i}_dt")
            v_qd = vector(values, f"d_v_G_{j}", f"_dqd_{i}")
            v_q = vector(values, f"d_v_G_{j}", f"_dq_{i}")
            v_rate = vector(values, f"dd_v_G_{j}", f"_dq_{i}_dt")
            pairs = [
                (rate - np.cross(omega, by_q), f"alpha_{j}", f"q_{i}"),
                (2 * by_q - np.cross(omega, by_qd), f"alpha_{j}", f"qd_{i}"),
                (by_qd, f"alpha_{j}", f"qdd_{i}"),
                (v_rate + 2 * np.cross(by_q, v_G), f"a_G_{j}", f"q_{i}"),
                (2 * (v_q + np.cross(by_qd, v_G)), f"a_G_{j}", f"qd_{i}"),
                (v_qd, f"a_G_{j}", f"qdd_{i}"),
            ]
            for value, line, by in pairs:
                expected = vector(slopes[by], line)
                known = ~np.isnan(value) & ~np.isnan(expected)
                compared += known.sum()
                assert agrees(value[known], expected[known])
    assert compared > 100


# -- the thesis --------------------------------------------------------------------------------

TYPES = ("revolute", "prismatic", "revolute", "revolute", "prismatic", "revolute")
ENTRIES = dict(xx=(0, 0), yy=(1, 1), zz=(2, 2), xy=(0, 1), xz=(0, 2), yz=(1, 2))


def random_link(kind, rng):
    root = rng.normal(size=(3, 3)) * 0.3
    return Link(
        row=Row(str(kind), *rng.uniform(-1, 1, 4).tolist()),
        mass=float(rng.uniform(0.5, 2)),
        com=rng.normal(size=3),
        inertia=np.trace(root @ root.T) * np.eye(3) - root @ root.T,
        point=rng.normal(size=3),
    )


def thesis_chain(seed):
    """Links of a random chain of standard rows with a load on each, gravity, and their model."""
    rng = np.random.default_rng(seed)
    links = [random_link(kind, rng) for kind in rng.permutation(TYPES)]
    gravity = rng.normal(size=3) * 5
    head = ["symgen: 1", "name: thesis", "convention: standard", f"gravity: {gravity.tolist()}"]
    joints, loads = ["joints:"], ["loads:"]
    for k, link in enumerate(links):
        row = ", ".join(f"{x}: {getattr(link.row, x)!r}" for x in ("theta", "d", "a", "alpha"))
        inertia = ", ".join(f"{x}: {float(link.inertia[place])!r}" for x, place in ENTRIES.items())
        joints.append(
            f"  - {{name: j{k}, type: {link.row.type}, dh: {{{row}}}, link: {{mass: {link.mass!r}, "
            f"com: {link.com.tolist()}, inertia: {{{inertia}}}}}}}"
        )
        loads.append(f"  - {{name: load{k}, link: j{k}, point: {link.point.tolist()}}}")
    return links, gravity, described("\n".join(head + joints + loads))


@pytest.mark.parametrize("seed", range(5))
def test_the_corrected_equations_of_the_thesis_belong_together(seed):
    """(3.9)-(3.95): every sensitivity is the complex-step slope of what it is one of."""
    links, gravity, description = thesis_chain(seed)
    state = motion_of(description, seed)
    q, qd, qdd, loads = state.values()
    thesis = ThesisDynamics(links, gravity, q, qd, qdd, loads)
    vectors = ("omega", "alpha", "v", "a", "v_G", "a_G", "H", "F_G", "n_G")
    vectors += ("F_e", "n_f", "n_m", "F_p", "n_p")
    for by in KINDS:
        for i in range(1, len(links) + 1):
            moved = dict(state)
            moved[by] = state[by].astype(complex)
            moved[by][i - 1] += 1j * STEP
            slope = ThesisDynamics(links, gravity, *moved.values())
            for j in range(1, len(links) + 1):
                assert agrees(thesis.tau[j, by, i], slope.tau[j].imag / STEP)
                for name in vectors:
                    value, expected = getattr(thesis, name)[j, by, i], getattr(slope, name)[j]
                    assert agrees(value, expected.imag / STEP), (name, j, by, i)


@pytest.mark.parametrize("seed", range(5))
def test_the_lines_equal_the_equations_of_the_thesis(seed):
    """dNE-3 to dNE-32 and the equations that they cite."""
    links, gravity, description = thesis_chain(seed)
    state = motion_of(description, seed)
    thesis = ThesisDynamics(links, gravity, *state.values())
    program = written(description, "joint_wrench_derivatives")
    values = statement_values(program, state, description.parameter_values)
    torques = statement_values(written(description, FUNCTION), state, description.parameter_values)
    values = {**torques, **values}
    quantities = {
        "omega": thesis.omega,
        "v_G": thesis.v_G,
        "F_G": thesis.F_G,
        "n_G": thesis.n_G,
        "f": thesis.F_p,
        "n_o": thesis.n_p,
        "tau": thesis.tau,
    }
    seen = dict.fromkeys(quantities, 0)
    for name, value in values.items():
        match = DERIVATIVE.fullmatch(name)
        if match is None or "_from_" in name or match[1] not in quantities:
            continue
        quantity, j, axis, by, i = match.groups()
        expected = quantities[quantity][int(j), by, int(i)]
        if axis:
            expected = expected["xyz".index(axis[1])]
        seen[quantity] += 1
        assert abs(value - expected) <= 1e-10 * max(1.0, abs(expected)), name
    assert all(seen.values()), seen
    for j in range(1, len(links) + 1):
        omega = thesis.omega[j]
        for i in range(1, j + 1):
            turned = thesis.alpha[j, "q", i] + np.cross(omega, thesis.omega[j, "q", i])
            for axis, expected in zip("xyz", turned, strict=True):
                value = values.get(f"dd_omega_{j}_{axis}_dq_{i}_dt", expected)
                assert abs(value - expected) <= 1e-10 * max(1.0, abs(expected))


# -- zeros and cost ----------------------------------------------------------------------------


def related(tree):
    """[i, j]: whether joints i and j stand on one path, (n, n)."""
    result = np.zeros((tree.n, tree.n), dtype=bool)
    for joint in tree.joints:
        for i in tree.path(joint.number):
            result[i - 1, joint.number - 1] = result[joint.number - 1, i - 1] = True
    return result


@pytest.mark.parametrize("seed", range(100, 110))
def test_nothing_is_written_about_joints_on_different_branches(seed):
    description = described(seeded_model_text(seed, Recipe(joints=(6, 14), loads=(0, 3))))
    tree = build_tree(description, Graph())
    near = related(tree)
    program = written(description, FUNCTION)
    for line in program.statements:
        if match := DERIVATIVE.fullmatch(line.name):
            assert near[int(match[2]) - 1, int(match[5]) - 1], line.name
    for output in program.outputs[1:]:
        entries = np.array([entry.is_zero for entry in output.entries]).reshape(near.shape)
        assert entries[~near].all(), output.name


@pytest.mark.deep
def test_the_human_has_747_entries():
    """The tree of the 43-coordinate human in the open-tree paper, with general links."""
    text = spatial_tree(HUMAN43, "human")
    program = written(described(text + "gravity: [1, 2, -9]\n"), FUNCTION)
    for output in program.outputs[1:]:
        assert sum(not entry.is_zero for entry in output.entries) == 747
        assert output.entries[41 * 43 + 17].is_zero
    # the first axis is vertical: where gravity is, too, nothing changes with q_1
    by_q = written(described(text), FUNCTION).outputs[1]
    assert sum(not entry.is_zero for entry in by_q.entries) == 747 - 43
    assert operations_after(fold(program, {}).results).total < 155_000


def by_differentiation(description):
    """The same function by differentiation of the program of the torques."""
    tree = build_tree(description, Graph())
    builder = ProgramBuilder(tree.algebra, taken=tree.parameter_names)
    state = declare_inputs(tree, builder, FUNCTION)
    builder.parameters(tree.parameter_names)
    dynamics.torque_function("tau", tree, builder, state)
    inputs = [builder.declared(name) for name in ("q", "qd", "qdd")]
    write_jacobians(builder, "tau", builder.results("tau"), inputs)
    program = builder.build(tree.name, "newton_euler", FUNCTION, NEWTON_EULER.notes)
    return fold(program, description.parameter_values)


@pytest.mark.parametrize(
    ("name", "share"), [("puma560", 1.05), ("arm7", 0.83), *deep(("human43", 0.75))]
)
def test_its_cost_beside_that_of_differentiation_of_the_program(name, share):
    """About the same for six axes that are all parallel or at right angles; else less."""
    description = read(EXAMPLES / f"{name}.yaml")
    ours = derived_program(description, NEWTON_EULER, FUNCTION)
    theirs = by_differentiation(description)
    assert operations_after(ours.results).total < share * operations_after(theirs.results).total
    state = motion_of(description, 3)
    for value, expected in zip(call(ours, state), call(theirs, state), strict=True):
        assert agrees(value, expected)
