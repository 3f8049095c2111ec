"""Badly scaled models are no reason to fail, and ordinary ones get no slack."""

import re
from pathlib import Path

import numpy as np
import pytest

import symgen
from symgen import read
from symgen.formulations import FORMULATIONS, formulation_named, provided_functions
from symgen.runtime.comparison import relative_error
from symgen.runtime.scales import Response, response
from symgen.runtime.subjects import Evaluation, Facts, Subject, random_states
from symgen.validation.conditioning import condition, singularity_warnings
from symgen.validation.oracles import NumericRobot
from symgen.validation.validate import validate
from tests.choosing import deep, one_in
from tests.mechanisms.models import BY_STATE
from tests.modules import EXAMPLES, described
from tests.oracles.comparison import validation_of
from tests.oracles.fake_module import altered, formulation
from tests.oracles.random_models import Recipe, seeded_model_text

HEAVY = """
symgen: 1
name: heavy
gravity: {gravity}
joints:
  - {{name: a, type: {kind}, origin: {{}}, link: {{mass: 1e7, com: [0.4, -0.3, 0.2]}}}}
"""
OF_BODIES = ("mass_matrix", "coriolis_matrix", "inverse_dynamics", "forward_dynamics")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["floating", *deep("revolute", "spherical")])
@pytest.mark.parametrize("gravity", [*deep("[0, 0, 0]"), "[2, 4, -9]"])
@pytest.mark.parametrize("functions", [OF_BODIES, *deep(None)], ids=["some", "all"])
def test_a_heavy_body_alone_passes(kind, gravity, functions):
    """Its Coriolis matrix cancels, on one joint to nothing."""
    description = described(HEAVY.format(kind=kind, gravity=gravity))
    validation_of(description, functions).raise_if_failed()


def test_a_free_body_is_held_to_the_bare_limits():
    """Wherever it floats, and with or without gravity."""
    for gravity in ("[0, 0, 0]", "[2, 4, -9]"):
        text = HEAVY.format(kind="floating", gravity=gravity).replace("1e7", "10")
        assert condition(described(text)) == 1.0


@pytest.mark.parametrize("model", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_examples_are_held_to_the_bare_limits(model):
    assert condition(read(model)) == 1.0


def test_a_weight_that_cancels_raises_the_limits():
    """1e7 kg at less than 1 m, by more than 10 m/s^2, over the slack: the next power of ten."""
    assert condition(described(HEAVY.format(kind="revolute", gravity="[0, 0, -9.81]"))) == 1e6


FAR = """
symgen: 1
name: far
convention: standard
joints:
  - {{name: a, type: revolute, dh: {row}, link: {{mass: 1, com: {com}, inertia: {inertia}}}}}
  - {{name: b, type: revolute, dh: {row}, link: {{mass: 1, com: {com}, inertia: {inertia}}}}}
"""
INERTIA = "{xx: 0.1, yy: 0.2, zz: 0.15}"


@pytest.mark.slow
@pytest.mark.parametrize("offset", [1000, *deep(10_000)])
@pytest.mark.parametrize(("row", "com"), [
    ("{{d: {}, alpha: 0}}", "[0.1, 0.2, 0.3]"),  # tr(J) - J along the offset
    ("{{a: {}, alpha: 90*deg}}", "[0, 0, 0]"),  # a part of the torques that cancels
])  # fmt: skip
def test_long_offsets_pass(row, com, offset):
    description = described(FAR.format(row=row.format(offset), com=com, inertia=INERTIA))
    few = map(formulation_named, ("newton_euler", "composite", "closed_form_lagrange"))
    able = few if offset == 1000 else FORMULATIONS
    validation_of(description, formulations=able).raise_if_failed()


def test_inertias_that_are_accepted_pass():
    """Identified ones need not be those of bodies, nor M positive definite."""
    tensor = "{xx: -0.05, yy: 0.03, zz: 0.001, accepted: true}"
    text = FAR.format(row="{a: 0.3, alpha: 90*deg}", com="[0.1, 0, 0]", inertia=tensor)
    description = described(text)
    names = ("mass_matrix", "inverse_dynamics", "forward_dynamics", "regressor")
    able = map(formulation_named, ("newton_euler", "composite"))
    validation_of(description, names, able).raise_if_failed()
    assert singularity_warnings(description) == ()


BESIDE = """
symgen: 1
name: beside
joints:
  - {name: body, type: floating, coordinates: quaternion, origin: {}, link: {mass: 30, com: [0.1, 0.2, 0], inertia: {xx: 0.5, yy: 0.5, zz: 0.6}}}
  - {name: a, type: revolute, parent: base, axis: [1, 0, 0], origin: {}, link: {mass: 0.006, com: [0, 0.02, -0.02], inertia: {xx: 3e-5, yy: 2e-5, zz: 3e-5}}}
  - {name: b, type: revolute, parent: a, axis: [0.6, 0.8, 0], origin: {xyz: [3000, 0, 0], rpy: [0.3, 0, 1]}, link: {mass: 0.001, com: [-0.06, 0, -0.03], inertia: {xx: 1e-5, yy: 1e-5, zz: 2e-5}}}
"""  # noqa: E501
DISTANT = """
symgen: 1
name: distant
joints:
  - {name: body, type: floating, coordinates: quaternion, origin: {xyz: [900, -300, 0], rpy: [0.3, 0, 0]}, link: {mass: 20, com: [0.002, 0.003, -0.001], inertia: {xx: 2e-4, yy: 2e-4, zz: 3e-4}}}
"""  # noqa: E501
SOLVED = ("mass_matrix", "inverse_dynamics", "forward_dynamics", "forward_dynamics_derivatives")


@pytest.mark.parametrize("model", [BESIDE, DISTANT], ids=["beside", "distant"])
def test_what_solving_enlarges(model):
    """A light, long tree whose mass matrix cancels, beside a body that hides it; and a free body
    far from the base, where the distance is in no lever."""
    able = map(formulation_named, ("composite", "kane", "newton_euler"))
    validation_of(described(model), SOLVED, able).raise_if_failed()


MODELS = Path(__file__).with_name("models")
SECOND = ["inverse_dynamics", "inverse_dynamics_derivatives", "forward_dynamics_hvp"]
PRODUCTS = {"functions": ["inverse_dynamics", "forward_dynamics_vjp", "forward_dynamics_jvp"]}


@pytest.mark.slow
@pytest.mark.parametrize(("model", "options"), [
    # random states are metres deep in the ground, where the terms of the spring cancel
    ("stiff_tyre", {"backend": "numpy", "functions": SECOND}),
    pytest.param("stiff_tyre", {"functions": "all"}, marks=pytest.mark.deep),
    ("free_beside_planar", {"backend": "numpy", "functions": SECOND[::2]}),
    ("cancelling_products", {"backend": "numpy", **PRODUCTS}),
    # some formulations have derivatives by the state, and none by the parameters
    pytest.param(
        "slider_beside_planar",
        {"backend": "numpy", "functions": "all", "runtime_parameters": "all"},
        marks=pytest.mark.deep,
    ),
    # a length of kilometres cancels from the distance of the ends
    ("long_spring", {"backend": "numpy", "functions": ["inverse_dynamics"]}),
    # a loop locks a ball and a hinge; steps of ALI3-P are compared with those in Python
    ("redundant_ball", {"functions": BY_STATE}),
    pytest.param("redundant_ball", {"runtime_parameters": "all"}, marks=pytest.mark.deep),
])  # fmt: skip
def test_builds_pass_validation(model, options):
    robot = symgen.load(MODELS / f"{model}.yaml", **options)
    assert robot.name == model


def test_a_fault_of_the_numeric_model_beside_what_cancels(monkeypatch):
    description = read(MODELS / "long_spring.yaml")
    assert validate(description, []).passed
    energy = NumericRobot.spring_energy
    monkeypatch.setattr(NumericRobot, "spring_energy", lambda *x: energy(*x) * (1 + 1e-9))
    assert not validate(description, []).passed


SMALL = Recipe(joints=(3, 5), types=("revolute", "prismatic"), massless=False)
SOLVING = "forward_dynamics", "forward_dynamics_derivatives"
ABLE = [item for item in FORMULATIONS if SOLVING[0] in provided_functions(item)]


def badly_scaled(seed):
    """Masses from 1e-5 to 1e3, inertias from 1e-5 to 10."""
    rng = np.random.default_rng(seed)

    def scaled(match):
        factor = 10.0 ** float(rng.integers(-5, 2))
        entries = (entry.split(": ") for entry in match[1].split(", "))
        shown = ", ".join(f"{key}: {float(value) * factor:.9g}" for key, value in entries)
        return f"inertia: {{{shown}}}"

    text = seeded_model_text(seed, SMALL)
    text = re.sub("mass: ", lambda _: f"mass: 1e{rng.integers(-5, 4)} * ", text)
    return re.sub(r"inertia: \{(.*)\}", scaled, text)


@pytest.mark.slow
@pytest.mark.parametrize("seed", one_in(4, range(6)))
def test_badly_scaled_trees_pass(seed):
    description = described(badly_scaled(seed))
    validation_of(description, (*SOLVING, "inverse_dynamics"), ABLE).raise_if_failed()


@pytest.mark.slow
@pytest.mark.parametrize("seed", one_in(6, range(6)))
@pytest.mark.parametrize("name", SOLVING)
def test_errors_are_found_in_badly_scaled_trees(seed, name):
    description = described(badly_scaled(seed))
    robot = NumericRobot(description)

    def wrong(result, *_):
        several = isinstance(result, tuple)
        return (*result[:-1], result[-1] * (1 + 1e-4)) if several else result * (1 + 1e-4)

    functions = formulation(robot, altered(robot, name, wrong), (*SOLVING, "inverse_dynamics"))
    made = [Subject("s", functions, complex_step=True, arrays=False)]
    result = validate(description, made, samples=4)
    assert {row.name.split(",")[0].split(" ")[0] for row in result.failures} & {name, f"{name}:"}


def test_the_bound_holds_for_disturbed_torques():
    """Torques that are wrong by e move the accelerations by at most gain e."""
    robot = NumericRobot(described(seeded_model_text(3, SMALL)))
    states = random_states(robot.n, robot.n_loads, 10)
    s = Evaluation(Subject("", robot, complex_step=True), states, Facts())
    found = response(s, "forward_dynamics")
    rng = np.random.default_rng(0)
    for _ in range(20):
        e = rng.uniform(-1, 1, states.tau.shape)
        moved = robot.forward_dynamics(states.q, states.qd, states.tau + e, loads=states.loads)
        change = np.abs(moved - s["forward_dynamics"]).max(axis=1)
        assert np.all(change <= found.gain * np.abs(e).max(axis=1) * (1 + 1e-9))


def test_without_prescribed_joints_both_responses_are_one():
    robot = NumericRobot(described(seeded_model_text(4, SMALL)))
    states = random_states(robot.n, robot.n_loads, 3)
    s = Evaluation(Subject("", robot, complex_step=True), states)
    both = [Response(s, name) for name in ("forward_dynamics", "hybrid_dynamics")]
    assert np.array_equal(both[0].gain, both[1].gain)
    held = Facts(prescribed=np.ones(robot.n, dtype=bool))
    s = Evaluation(Subject("", robot, complex_step=True), states, held)
    assert np.all(Response(s, "hybrid_dynamics").gain == 1.0)


@pytest.mark.parametrize("left", ["inverse_dynamics", "forward_dynamics_derivatives",
                                  "forward_dynamics"])  # fmt: skip
def test_the_mass_matrix_is_found_in_what_there_is(left):
    robot = NumericRobot(described(seeded_model_text(4, SMALL)))
    states = random_states(robot.n, robot.n_loads, 3)
    whole = Evaluation(Subject("", robot, complex_step=True), states)
    functions = type("Functions", (), {left: staticmethod(getattr(robot, left))})
    part = Evaluation(Subject("", functions, complex_step=True), states)
    expected, found = (response(s, "forward_dynamics") for s in (whole, part))
    assert relative_error(found.mass, expected.mass) < 1e-10
