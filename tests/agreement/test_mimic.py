"""Joints that follow others: every formulation against Pinocchio reduced by hand, against formulas,
against Euler and Lagrange, and what a module says about them."""

import dataclasses
import importlib
import sys

import numpy as np
import pytest
import sympy
from hypothesis import HealthCheck, given, settings

import symgen
from symgen import derive as derive_symbolically
from symgen.algebra.graph import Graph
from symgen.cli import main
from symgen.deriving.digest import model_hash
from symgen.deriving.symbolic import euler_lagrange
from symgen.exact import prove
from symgen.formulations import FORMULATIONS, coupled, formulation_named, provided_functions
from symgen.kinematics.tree import build_tree
from symgen.program.evaluation import call
from symgen.program.functions import visible_outputs
from symgen.validation.evaluated import evaluated_subjects
from symgen.validation.validate import validate
from tests.agreement.test_pinocchio import largest
from tests.choosing import some_deep
from tests.oracles.comparison import SINGULAR, agrees, condition, solving_limit
from tests.oracles.coupled import CoupledPinocchio, coupling, with_followers
from tests.oracles.descriptions import described
from tests.oracles.programs import evaluated
from tests.oracles.random_models import EVERYTHING, Recipe, model_texts, seeded_model_text

LIMIT = 1e-11
DRAWN = Recipe(joints=(2, 6), types=("revolute", "revolute", "prismatic", "universal", "fixed"),
               terms=True)  # fmt: skip
FUNCTIONS = (
    "inverse_dynamics", "inverse_dynamics_derivatives", "inverse_dynamics_hessian", "mass_matrix",
    "bias_forces", "gravity_forces", "kinetic_energy", "potential_energy", "forward_kinematics",
    "jacobians", "forward_dynamics", "forward_dynamics_derivatives",
)  # fmt: skip
LOADED = (
    "inverse_dynamics", "inverse_dynamics_derivatives", "inverse_dynamics_hessian", "bias_forces",
    "forward_dynamics",
    "forward_dynamics_derivatives",
)  # fmt: skip
ARGUMENTS = {
    "inverse_dynamics": "q qd qdd", "inverse_dynamics_derivatives": "q qd qdd",
    "inverse_dynamics_hessian": "q qd qdd multipliers",
    "bias_forces": "q qd", "kinetic_energy": "q qd", "forward_dynamics": "q qd tau",
    "forward_dynamics_derivatives": "q qd tau",
}  # fmt: skip
GRIPPER = """
symgen: 1
name: gripper
parameters: {r: 0.05, ratio: -1}
joints:
  - name: wrist
    type: revolute
    origin: {}
    axis: [1, 0, 0]
    limits: {lower: -1, upper: 2}
    link: {mass: 1, inertia: {xx: 0.1, yy: 0.2, zz: 0.3}}
  - name: left
    type: prismatic
    parent: wrist
    origin: {xyz: [0, 0.1, 0]}
    axis: [0, 1, 0]
    mimic: {coordinate: pinion, multiplier: r}
    limits: {lower: 0, upper: 0.04}
    damping: 3
    link: {mass: 0.4, com: [0, 0.1, 0.2]}
  - name: pinion
    type: revolute
    parent: wrist
    origin: {}
    prescribed: true
    limits: {lower: 0, upper: 3}
    link: {mass: 0.1, inertia: {zz: 0.002}}
  - name: right
    type: prismatic
    parent: wrist
    origin: {xyz: [0, -0.1, 0]}
    axis: [0, 1, 0]
    mimic: {coordinate: left, multiplier: ratio, offset: 0.01}
    rotor_inertia: 0.02
    link: {mass: 0.4, com: [0, -0.1, 0.2]}
points: [{name: tip, link: right, point: [0, 0, 0.3]}]
loads: [{name: grip, link: left, point: [0, 0, 0.3]}]
outputs: {gap: points.tip.y + q.pinion, pull: wrenches.left.fy}
"""


def applicable(description):
    tree = build_tree(description, Graph())
    return [(item, tree) for item in FORMULATIONS if item.why_not(tree) is None]


def compare(description, seed):
    """What Pinocchio has, by every formulation that applies, in one random state."""
    oracle, rng = CoupledPinocchio(description), np.random.default_rng(seed)
    state = {name: rng.uniform(-2, 2, oracle.n) for name in ("q", "qd", "qdd", "tau")}
    state["loads"] = rng.uniform(-10, 10, (len(description.loads), 6))
    state["multipliers"] = rng.uniform(-1, 1, oracle.n)
    mass = oracle.mass_matrix(state["q"])
    for formulation, tree in applicable(description):
        for function in FUNCTIONS:
            absent = function not in formulation.functions
            if absent or formulation.estimate(tree, function) > largest(function):
                continue
            limit = LIMIT
            if function.startswith("forward_dynamics"):
                if condition(mass) > SINGULAR:
                    continue
                limit = solving_limit(mass)
            program = evaluated(description, formulation, function)
            options = {"loads": state["loads"]} if function in LOADED else {}
            names = ARGUMENTS.get(function, "q").split()
            expected = getattr(oracle, function)(*(state[name] for name in names), **options)
            expected = expected if isinstance(expected, tuple) else (expected,)
            results = call(program, state)[: len(visible_outputs(program))]
            for value, reference in zip(results, expected, strict=True):
                assert agrees(value, reference, limit), (formulation.name, function)


@pytest.mark.parametrize("seed", some_deep(range(6), (2,)))
def test_random_followers_against_pinocchio(seed):
    text = with_followers(
        seeded_model_text(seed + 50, dataclasses.replace(EVERYTHING, joints=(3, 7))),
        np.random.default_rng(seed),
    )
    description = described(text)
    assert any(joint.mimic for joint in description.joints)
    compare(description, seed)


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@pytest.mark.deep
@given(text=model_texts(DRAWN))
def test_drawn_followers_against_pinocchio(text):
    names = [name for joint in described(text).joints for name in joint.coordinate_names]
    if len(names) > 1:
        compare(described(with_followers(text, np.random.default_rng(len(text)))), 1)


@pytest.mark.parametrize("seed", some_deep(range(3), (0,)))
def test_all_functions_against_the_numeric_model(seed):
    """With parameters at run time that multipliers and offsets depend on, and prescribed joints."""
    recipe = Recipe(
        joints=(3, 5), types=("revolute", "prismatic", "universal"), loads=(0, 2), points=(0, 2),
        terms=True, prescribed=True,
    )  # fmt: skip
    text = with_followers(seeded_model_text(seed + 70, recipe), np.random.default_rng(seed))
    text = text.replace("multiplier: -1,", "multiplier: k,")
    description = described(text)
    result = validate(description, subjects(description, ("k",)), runtime=("k",))
    result.raise_if_failed()
    checked = {row.name.split(" = ")[0].split(",")[0] for row in result.rows}
    solved = {"forward_dynamics_derivatives", "forward_dynamics_sensitivities"}
    assert {*solved, "regressor", "joint_wrench_derivatives"} <= checked


def subjects(description, runtime=()):
    """Every function of every formulation that applies, evaluated."""
    tree = build_tree(description, Graph(), runtime)
    programs = {}
    for item, _ in applicable(description):
        programs[item.name] = {
            function: evaluated(description, item, function, runtime)
            for function in provided_functions(item, tree)
            if not function.startswith("hybrid") or tree.sizes["n_prescribed"]
            if not function.startswith("outputs") or tree.outputs
            if runtime or ("parameter" not in function and "sensitiv" not in function)
        }
    values = [description.parameter_values[name] for name in runtime]
    return evaluated_subjects(programs, values)


def test_validation_finds_what_is_not_summed(monkeypatch):
    """The numeric model shares nothing with the sums: without a follower they are wrong."""
    description = described(GRIPPER)
    assert validate(description, subjects(description)).passed
    monkeypatch.setattr(
        coupled, "felt", lambda tree, x, power=1: tuple(x[j.number - 1] for j in tree.independent)
    )
    failures = validate(description, subjects(description)).failures
    assert {"mass_matrix", "jacobians"} <= {row.name.split(" = ")[0] for row in failures}


def test_a_rack_and_its_pinion():
    """By hand: the two racks move by r and -r for each radian of the pinion."""
    m, r, c, inertia, rotor = 0.4, 0.05, 3.0, 0.002, 0.02
    description = described(GRIPPER)
    q, qd, qdd = np.array([0.3, 0.7]), np.array([0.0, 0.4]), np.array([0.0, -0.6])
    for formulation, _ in applicable(description):
        if "mass_matrix" in formulation.functions:
            program = evaluated(description, formulation, "mass_matrix")
            (mass,) = call(program, {"q": q})
            assert agrees(mass[1, 1], inertia + 2 * m * r**2 + rotor * r**2, 1e-14)
    program = evaluated(description, formulation_named("newton_euler"), "inverse_dynamics")
    state = {"q": q, "qd": qd, "qdd": qdd, "loads": np.zeros((1, 6))}
    tau, *_ = call(program, state)  # the weights of the racks balance
    assert agrees(tau[1], (inertia + 2 * m * r**2 + rotor * r**2) * -0.6 + c * r**2 * 0.4, 1e-12)


def test_symbols_against_euler_and_lagrange():
    description = described(GRIPPER)
    expected = euler_lagrange(description)
    numbers = np.random.default_rng(3)
    for name in ("newton_euler", "recursive_lagrange", "closed_form_lagrange"):
        dyn = derive_symbolically(description, name)
        assert dyn.q == sympy.symbols("q_1 q_2", real=True)
        difference = dyn.inverse_dynamics - expected
        values = {x: numbers.uniform(0.5, 1.5) for x in sorted(difference.free_symbols, key=str)}
        assert max(abs(sympy.N(x.subs(values))) for x in difference) < 1e-12


def test_identities_are_proven():
    result = prove(described(GRIPPER))
    assert result.rows and not result.failures
    assert {"forward_dynamics_sensitivities", "hybrid_dynamics_derivatives", "regressor"} <= {
        row.function for row in result.rows
    }


@pytest.mark.parametrize("multiplier", ["0", "1", "r"])
def test_a_robot_without_loads_and_points(multiplier):
    text = GRIPPER[: GRIPPER.index("points:")].replace(
        "multiplier: ratio", f"multiplier: {multiplier}"
    )
    description = described(text)
    assert validate(description, subjects(description)).passed
    newton_euler = [formulation_named("newton_euler")]
    result = prove(description, newton_euler, ("inverse_dynamics", "inverse_dynamics_derivatives"))
    assert result.rows and not result.failures


def test_formulations_that_solve_joint_by_joint_say_so():
    tree = build_tree(described(GRIPPER), Graph())
    reasons = {item.name: item.why_not(tree) for item in FORMULATIONS if item.why_not(tree)}
    assert list(reasons) == ["kane", "explicit_kane", "partially_recursive_kane"]
    assert {*reasons.values()} == {"it takes every joint as free, and some follow others (mimic)"}


def test_a_robot_without_followers_has_the_same_hash():
    """So that modules which were built before there were any are still up to date."""
    text = GRIPPER.replace("{coordinate: pinion, multiplier: r}", "{coordinate: pinion}")
    assert model_hash(described(text)) != model_hash(described(GRIPPER))


@pytest.fixture(scope="module")
def gripper(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gripper")
    file = folder / "gripper.yaml"
    file.write_text(GRIPPER)
    arguments = [
        "build",
        str(file),
        "--out",
        str(folder / "built"),
        "--backend",
        "numpy",
        "--quiet",
    ]
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert not ended.value.code
    sys.path.insert(0, str(folder / "built"))
    yield importlib.import_module("gripper")
    sys.path.remove(str(folder / "built"))


def test_a_module_speaks_of_coordinates(gripper):
    S, o = coupling(described(GRIPPER))
    assert (gripper.n, gripper.coordinate_names) == (2, ("wrist", "pinion"))
    assert gripper.joint_names == ("wrist", "left", "pinion", "right")
    assert gripper.joint_coordinates == (1, 2, 2, 2)
    np.testing.assert_array_equal(gripper.coupling, S)
    np.testing.assert_array_equal(gripper.coupling_offsets, o)
    assert gripper.prescribed == (False, True)
    np.testing.assert_array_equal(gripper.limits["upper"], [2, 3])
    q = np.array([0.2, 0.5])
    assert gripper.joint_wrenches(q, q, q).shape == (4, 6)
    assert gripper.regressor(q, q, q).shape == (2, 40)
    assert gripper.inertial_parameters.shape == (40,)
    assert gripper.derivative_sparsity.all()
    packed = gripper.mass_matrix(q, packed=True)
    np.testing.assert_array_equal(packed, gripper.mass_matrix(q)[gripper.derivative_sparsity])
    assert all(row.passed for row in gripper.selftest())


@pytest.mark.deep
def test_compiled_code_gives_the_same(gripper, tmp_path):
    file = tmp_path / "gripper.yaml"
    file.write_text(GRIPPER)
    functions = "inverse_dynamics_derivatives,hybrid_dynamics"
    compiled = symgen.load(file, functions=functions, formulations="composite")
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 5, 2))
    for packed in (False, True):
        found = compiled.inverse_dynamics_derivatives(q, qd, qdd, packed=packed)
        expected = gripper.inverse_dynamics_derivatives(q, qd, qdd, packed=packed)
        for one, other in zip(found, expected, strict=True):
            assert agrees(one, other, 1e-13)
    assert agrees(compiled.hybrid_dynamics(q, qd, qdd), gripper.hybrid_dynamics(q, qd, qdd), 1e-13)


def test_energy_is_kept_in_a_simulation(tmp_path):
    """Without drives and dampers; the coordinates go where the equations of both joints say."""
    file = tmp_path / "free.yaml"
    text = GRIPPER.replace("    damping: 3\n", "").replace("    prescribed: true\n", "")
    file.write_text(text.replace("name: gripper", "name: free"))
    robot = symgen.load(file, backend="numpy", formulations="composite,newton_euler")
    motion = symgen.simulate(robot, [0.3, 1.0], [0.5, -2.0], np.linspace(0, 1, 5))
    assert list(motion.q.coords["coordinate"].values) == ["wrist", "pinion"]
    q, qd = motion.q.values, motion.qd.values
    energy = robot.kinetic_energy(q, qd) + robot.potential_energy(q)
    assert np.ptp(q, axis=0).min() > 0.1
    assert agrees(energy, np.full(5, energy[0]), 1e-6)
