"""Outputs of a model: against the functions they are made of, the numeric model, complex step."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sympy
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from symgen.algebra.graph import Graph
from symgen.algebra.sympy_algebra import SymPyAlgebra
from symgen.deriving.derivation import derived_program
from symgen.deriving.digest import model_hash
from symgen.description import read
from symgen.description.model import coordinate_names
from symgen.description.quantities import POINT_PARTS, RATES, SINGLE, WRENCH_PARTS
from symgen.exact.general import general_robot
from symgen.formulations import derive, formulation_named
from symgen.kinematics.tree import build_tree
from symgen.optimize.operations import operations_after
from symgen.program.evaluation import call
from symgen.validation.oracles import NumericRobot
from tests.choosing import one_in
from tests.oracles.comparison import STEP, agrees
from tests.oracles.descriptions import described
from tests.oracles.programs import evaluated
from tests.oracles.random_models import (
    EVERYTHING,
    DrawnChoices,
    SeededChoices,
    random_model_text,
    seeded_model_text,
)

EXAMPLES = Path(__file__).parents[2] / "examples"
NEWTON_EULER = formulation_named("newton_euler")
RECIPE = replace(EVERYTHING, loads=(0, 2), points=(0, 2))
RUNTIME = ("k",)  # `half` of the random models follows it
ARGUMENTS = ("t", *RATES, "loads", "parameters")


def state_of(description, seed):
    rng = np.random.default_rng(seed)
    n = sum(joint.coordinates for joint in description.joints)
    return {
        "t": rng.uniform(-1, 1),
        "q": rng.uniform(-np.pi, np.pi, n),
        **{rate: rng.uniform(-2, 2, n) for rate in RATES[1:]},
        "loads": rng.uniform(-10, 10, (len(description.loads), 6)),
    }


def with_parameters(description, state, runtime=RUNTIME):
    values = [description.parameter_values[name] for name in runtime]
    return {**state, "parameters": np.array(values)}


def quantities(description):
    """The names that an output of a model may use, beside its parameters."""
    coordinates = [
        name for joint in description.joints for name in coordinate_names(joint.name,
                                                                         joint.coordinates)
    ]  # fmt: skip
    return [
        *SINGLE,
        *(f"center_of_mass.{part}" for part in "xyz"),
        *(f"{rate}.{name}" for rate in RATES for name in coordinates),
        *(f"points.{x.name}.{part}" for x in description.points for part in POINT_PARTS),
        *(f"wrenches.{name}.{part}" for name in coordinates for part in WRENCH_PARTS),
        *(f"loads.{x.name}.{part}" for x in description.loads for part in WRENCH_PARTS),
    ]


FORMS = (
    "({0}) + ({1})", "({0}) - ({1})", "({0})*({1})/10", "({0})/(2 + ({1})**2)", "-({0})",
    "sin(({0})/(1 + abs({0})))", "cos(({0})/(1 + abs({0})))*k", "sqrt(1 + ({0})**2)", "abs({0})",
    "tanh({0})", "max({0}, {1})/(1 + abs({0}))", "min({0}, k*{1})",
    "atan2({0}, 3 + abs({1}))", "exp(-abs({0})/20)", "({0})**3/half**2", "log(2 + ({0})**2)",
    "(1 + k**2)**(t*({0})/(1 + abs({0})))", "atan({0})*2**half",
)  # fmt: skip
"""Nothing that blows up rounding errors: angles and exponents stay small."""


def random_expression(choices, names, depth):
    if depth == 0:
        return names[choices.integer(0, len(names) - 1)]
    form = FORMS[choices.integer(0, len(FORMS) - 1)]
    parts = [random_expression(choices, names, choices.integer(0, depth - 1)) for _ in range(2)]
    return form.format(*parts)


def with_random_outputs(text, choices):
    names = [*quantities(described(text)), "k", "half", "1.5"]
    lines = [
        f"  o{i}: {random_expression(choices, names, choices.integer(0, 3))}\n"
        for i in range(choices.integer(1, 5))
    ]
    return f"{text}outputs:\n{''.join(lines)}"


def compare(description, seed):
    """Values and derivatives of all outputs against the numeric model; one complex step."""
    state = state_of(description, seed)
    given = with_parameters(description, state)
    robot = NumericRobot(description, {}, RUNTIME)
    values = evaluated(description, NEWTON_EULER, "outputs", RUNTIME)
    (found,) = call(values, given)
    assert agrees(found, robot.outputs(**state))
    slopes = evaluated(description, NEWTON_EULER, "outputs_derivatives", RUNTIME)
    results = dict(zip((x.name for x in slopes.outputs), call(slopes, given), strict=True))
    assert list(results) == ["outputs", *(f"do_d{name}" for name in ARGUMENTS)]
    assert agrees(results["outputs"], found)
    for name, expected in zip(results, robot.outputs_derivatives(**state), strict=True):
        assert agrees(results[name], expected), name
    for name in ARGUMENTS:
        assert agrees(results[f"do_d{name}"], by_complex_step(values, given, name)), name


def by_complex_step(program, state, name):
    value = np.asarray(state[name], dtype=float)
    steps = 1j * STEP * np.eye(value.size).reshape(value.size, *value.shape)
    slope = np.moveaxis(call(program, {**state, name: value + steps})[0].imag / STEP, 0, -1)
    return slope.reshape(*slope.shape[:-1], *value.shape)


# ------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("seed", one_in(8, range(8)))
def test_every_quantity_is_that_of_the_function_of_its_name(seed):
    text = seeded_model_text(seed, RECIPE)
    names = quantities(described(text))
    outputs = "".join(f"  o{i}: {name}\n" for i, name in enumerate(names))
    description = described(f"{text}outputs:\n{outputs}")
    state = state_of(description, seed)
    values = call(evaluated(description, NEWTON_EULER, "outputs"), state)[0]
    results = {
        name: call(evaluated(description, NEWTON_EULER, name), state)
        for name in ("kinetic_energy", "potential_energy", "center_of_mass", "point_motion",
                     "joint_wrenches")
    }  # fmt: skip
    expected = np.concatenate(
        [
            [state["t"]],
            [results["kinetic_energy"][0], results["potential_energy"][0]],
            results["center_of_mass"][0],
            *(state[rate] for rate in RATES),
            np.concatenate(results["point_motion"], axis=-1).ravel(),
            results["joint_wrenches"][0].ravel(),
            state["loads"].ravel(),
        ]
    )
    assert agrees(values, expected, 1e-13)
    assert agrees(values, NumericRobot(description).outputs(**state))
    compare(description, seed)


def test_a_double_pendulum_moves_as_the_textbook_says():
    description = read(EXAMPLES / "double_pendulum.yaml")
    q, qd = np.radians([30.0, 30.0]), np.array([0.7, -0.4])
    program = evaluated(description, NEWTON_EULER, "outputs", ("L1", "L2", "M_P", "M_Q"))
    L1, L2, m1, m2 = 0.8, 1.3, 1.5, 0.6
    found = call(program, {"q": q, "qd": qd, "parameters": [L1, L2, m1, m2]})[0]
    one, two, w1, w2 = q[0], q.sum(), qd[0], qd.sum()
    kinetic = m1 * (L1 * w1) ** 2 / 2 + m2 / 2 * (
        (L1 * w1) ** 2 + (L2 * w2) ** 2 + 2 * L1 * L2 * w1 * w2 * np.cos(one - two)
    )
    depth = L1 * np.cos(one) + L2 * np.cos(two)
    potential = -9.81 * (m1 * L1 * np.cos(one) + m2 * depth)
    assert agrees(found, [kinetic, potential, L1 + L2 - depth, np.pi / 3], 1e-14)


# -------------------------------------------------------------------------------- derivatives


@pytest.mark.parametrize("seed", one_in(3, range(100, 115)))
def test_random_outputs_equal_the_numeric_model(seed):
    choices = SeededChoices(np.random.default_rng(seed))
    text = random_model_text(choices, RECIPE)
    compare(described(with_random_outputs(text, choices)), seed)


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_drawn_outputs_equal_the_numeric_model(data):
    choices = DrawnChoices(data.draw)
    text = random_model_text(choices, replace(RECIPE, joints=(1, 3), massless=False))
    assume(described(text).coordinate_names)  # without moving mass there is no centre of it
    compare(described(with_random_outputs(text, choices)), 1)


def test_a_few_outputs_are_differentiated_from_the_output_back():
    """The gradient of one energy costs a few times the energy, however many joints there are."""
    text = (EXAMPLES / "arm7.yaml").read_text() + "\noutputs: {energy: kinetic_energy}\n"
    description = described(text)
    value, slopes = (
        operations_after(derived_program(description, NEWTON_EULER, name).results).total
        for name in ("outputs", "outputs_derivatives")
    )
    assert slopes <= 3 * value
    state = state_of(description, 1)
    program = evaluated(description, NEWTON_EULER, "outputs_derivatives")
    robot = NumericRobot(description)
    for found, expected in zip(
        call(program, state), robot.outputs_derivatives(**state), strict=True
    ):
        assert agrees(found, expected)


# ----------------------------------------------------------------------------------- sparsity

BRANCHES = """
symgen: 1
name: branches
parameters: {k: 2, half: k/2}
joints:
  - {name: waist, type: revolute, origin: {}, link: {mass: k, com: [0.1, 0.2, 0]}}
  - {name: left, type: revolute, origin: {xyz: [0, half, 0]}, link: {mass: 1, com: [0.3, 0, 0]}}
  - {name: right, type: prismatic, parent: waist, origin: {}, link: {mass: 1, com: [0.3, 0, 0]}}
points:
  - {name: hand, link: left, point: [0.3, 0, 0]}
  - {name: mark, link: base, point: [1, 2, half]}
loads: [{name: push, link: right}]
outputs:
"""


def patterns(expression, algebra=Graph):
    """Positions of what can differ from 0 in every derivative of one output."""
    description = described(f"{BRANCHES}  o: {expression}\n")
    tree = build_tree(description, algebra(), RUNTIME)
    program = derive(tree, NEWTON_EULER, "outputs_derivatives")
    found = {}
    for output in program.outputs[1:]:
        filled = [i for i, entry in enumerate(output.entries) if not tree.algebra.is_zero(entry)]
        if filled:
            found[output.name.removeprefix("do_d")] = filled
    return found


@pytest.mark.parametrize("algebra", [Graph, SymPyAlgebra])
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("q.left", {"q": [1]}),
        ("t*tau.right", {"t": [0], "tau": [2]}),
        ("qdd.waist", {"qdd": [0]}),
        ("loads.push.ny", {"loads": [4]}),
        ("points.hand.x", {"q": [0, 1], "parameters": [0]}),
        ("points.hand.vx", {"q": [0, 1], "qd": [0, 1], "parameters": [0]}),
        ("points.hand.az", {}),  # a planar motion
        ("points.mark.x + points.mark.vy", {}),
        ("points.mark.z", {"parameters": [0]}),
        ("wrenches.right.nz", {"qdd": [0], "loads": [5]}),
        ("half", {"parameters": [0]}),
        ("3*pi", {}),
    ],
)  # fmt: skip
def test_what_is_zero_by_structure_stays_so(expression, expected, algebra):
    assert patterns(expression, algebra) == expected


def test_only_what_is_mentioned_is_derived():
    def kinds(expression):
        description = described(f"{BRANCHES}  o: {expression}\n")
        program = derive(build_tree(description, Graph()), NEWTON_EULER, "outputs")
        return {step.kind for step in program.steps}, {step.joint for step in program.steps}

    assert kinds("2*q.left + t") == ({"outputs"}, {"o"})
    found, joints = kinds("points.hand.x")
    assert found == {"frames", "rotations", "positions", "points", "outputs"}
    assert "right" not in joints
    assert "forward" in kinds("points.hand.vx")[0]
    assert "backward" not in kinds("points.hand.ax")[0]
    assert "backward" in kinds("wrenches.left.fx")[0]


# ------------------------------------------------------------------------------- other algebras


def test_the_sympy_view_has_the_same_outputs():
    algebra = SymPyAlgebra()
    description = described(
        f"{BRANCHES}  o: sqrt(k + points.hand.vx**2)*cos(t)\n  p: kinetic_energy/half\n"
        "  r: abs(wrenches.left.fy) + points.hand.ax\n"
    )
    tree = build_tree(description, algebra, RUNTIME)
    program = derive(tree, NEWTON_EULER, "outputs_derivatives")
    state = with_parameters(description, state_of(description, 3))
    values = {}
    for array in program.inputs:
        entries = np.ravel(state[array.name]) if array.name != "parameters" else [2.0, 1.0]
        values.update(zip(array.symbols, map(float, entries), strict=True))
    compiled = evaluated(description, NEWTON_EULER, "outputs_derivatives", RUNTIME)
    for output, expected in zip(program.outputs, call(compiled, state), strict=True):
        entries = [algebra.expanded(entry) for entry in output.entries]
        found = [float(sympy.sympify(entry).subs(values)) for entry in entries]
        assert agrees(np.array(found).reshape(expected.shape), expected), output.name


def test_a_general_robot_has_the_same_outputs():
    description = described(f"{BRANCHES}  o: 3*q.left + kinetic_energy**2.5/7 + center_of_mass.x\n")
    general = general_robot(description)
    (output,) = general.outputs
    assert output.expression.names[1] == "q.left"
    assert "kinetic_energy" in output.expression.names
    state = state_of(description, 2)
    found, expected = (
        call(evaluated(x, NEWTON_EULER, "outputs"), state)[0] for x in (general, description)
    )
    assert agrees(found, expected)


def test_an_output_is_part_of_what_a_model_says():
    texts = ("o: q.left", "o: q.right", "p: q.left", "o: {value: q.left, unit: rad}", "o: q.left ")
    hashes = [model_hash(described(f"{BRANCHES}  {text}\n")) for text in texts]
    assert len(set(hashes)) == 4 and hashes[0] == hashes[4]


def test_a_robot_without_joints_has_outputs():
    description = described("symgen: 1\nname: x\nparameters: {k: 2}\noutputs: {o: k*sin(t)}\n")
    state = {"t": np.array([0.5, 1.0]), "parameters": [3.0]}
    program = evaluated(description, NEWTON_EULER, "outputs_derivatives", RUNTIME)
    values, by_t, by_q, *_, by_parameters = call(program, state)
    assert agrees(values, 3 * np.sin(state["t"])[:, np.newaxis])
    assert agrees(by_t, 3 * np.cos(state["t"])[:, np.newaxis])
    assert by_q.shape == (2, 1, 0)
    assert agrees(by_parameters, np.sin(state["t"])[:, np.newaxis, np.newaxis])
