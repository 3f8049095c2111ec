"""Springs and forces of a model: every function by every formulation, against what is independent:
the numeric model, complex step, MuJoCo's tendons, and formulas of mechanics."""

import mujoco
import numpy as np
import pytest

from symgen.algebra.graph import Graph
from symgen.errors import ModelError
from symgen.formulations import (
    FORMULATIONS,
    formulation_named,
    has_loops,
    provided_functions,
)
from symgen.kinematics.forces import FORCES
from symgen.kinematics.tree import build_tree
from symgen.program.evaluation import call
from symgen.program.functions import function_named, senseless_functions
from symgen.program.products import PRODUCTS
from symgen.validation.limits import STEP
from symgen.validation.oracles import NumericRobot
from tests.choosing import one_in
from tests.oracles.comparison import agrees
from tests.oracles.descriptions import described
from tests.oracles.programs import evaluated
from tests.oracles.random_models import Recipe, SeededChoices, random_model_text

RUNTIME = ("k", "c", "slack", "reach")
NEWTON_EULER = formulation_named("newton_euler")
KINDS = ("revolute", "prismatic", "revolute", "fixed", "cylindrical", "spherical")
TREES = Recipe(
    joints=(2, 4), types=KINDS, loads=(0, 1), points=(1, 3), prescribed=True, massless=False
)
ON_MANIFOLDS = Recipe(
    joints=(2, 3), types=("revolute", "ball", "free"), loads=(0, 1), points=(1, 2), massless=False
)


def with_forces(text, choices):
    """The text of a model with random springs and forces on its links."""
    model = described(text)
    links = ["base", *(joint.link.name for joint in model.joints)]
    moving = [joint.link.name for joint in model.joints]
    names = [point.name for point in model.points]
    coordinates = [
        x for j in model.joints if j.manifold is None for x in j.coordinate_names
    ] or None

    def pick(items):
        return items[choices.integer(0, len(items) - 1)]

    def place():
        return [choices.real(-0.5, 0.5), choices.real(-0.5, 0.5), "reach"]

    lines = ["springs:"]
    for number in range(choices.integer(1, 3)):
        first = pick(links)
        second = pick([link for link in links if link != first])
        ends = f"[{{link: {first}, point: {place()}}}, {{link: {second}, point: {place()}}}]"
        length = pick(["slack", "0", "0.3"])
        numbers = f"stiffness: k*{number + 1}, damping: {pick(['c', '0'])}, length: {length}"
        lines.append(f"  - {{name: s{number}, between: {ends}, {numbers}}}")
    lines.append("forces:")
    for number in range(choices.integer(1, 2)):
        point, other = pick(names), pick(names)
        q = pick(coordinates) if coordinates else None
        also = f"tanh(q.{q})*qd.{q}" if q else "c"
        lines += [
            f"  - name: f{number}",
            f"    link: {pick(moving)}",
            f"    point: {place()}",
            "    let:",
            f"      speed: sqrt(0.1 + points.{point}.vx**2 + points.{other}.vz**2)",
            f"      push: max(c*speed, k*points.{other}.y - min(points.{point}.x, {also}))",
            f"    force: [-c*speed*points.{point}.vx, push, {also}]",
        ]
        if choices.integer(0, 1):
            lines.append(f"    torque: [push/10, 0, -c*points.{other}.z]")
    text = text.replace("parameters:\n  k: 0.75\n  half: {value: k/1.5, unit: m}\n",
                        "parameters:\n  k: 30\n  half: {value: k/60, unit: m}\n"
                        "  c: 2.5\n  slack: 0.2\n  reach: 0.15\n")  # fmt: skip
    return text + "\n".join(lines) + "\n"


def random_model(seed, recipe):
    choices = SeededChoices(np.random.default_rng(seed))
    while True:
        text = with_forces(random_model_text(choices, recipe), choices)
        try:
            model = described(text)
        except ModelError as error:  # a world without a moving link
            raise AssertionError(text) from error
        if model.coordinate_names:
            return model


def states_of(model, robot, samples=2, seed=1):
    rng = np.random.default_rng(seed)
    n, p, loads = robot.n, len(RUNTIME), robot.n_loads
    shapes = {
        "qd": (n,), "qdd": (n,), "tau": (n,), "x": (n,), "loads": (loads, 6), "t": (),
        "dq": (n, p), "dqd": (n, p), "dtau": (n, p), "multipliers": (n,),
    }  # fmt: skip
    found = {name: rng.normal(size=(samples, *shape)) for name, shape in shapes.items()}
    return {"q": robot.space.random_configuration(rng, (samples,)), **found}


def compare(model, only=()):
    """Every function by every formulation against the numeric model, which reads forces anew."""
    tree = build_tree(model, Graph(), RUNTIME)
    robot = NumericRobot(model, {}, RUNTIME)
    states = states_of(model, robot)
    senseless, compared = senseless_functions(tree.sizes), 0
    for formulation in FORMULATIONS:
        if formulation.why_not(tree) is not None:
            continue
        for function in provided_functions(formulation, tree):
            elsewhere = function in PRODUCTS or function == "inverse_dynamics_hessian"
            if function in senseless or elsewhere or (only and function not in only):
                continue
            spec = function_named(function)
            given = {a.name: states[a.name] for a in (*spec.arguments, *spec.options)}
            options = {a.name: given[a.name] for a in spec.options}
            wanted = getattr(robot, function)(*(given[a.name] for a in spec.arguments), **options)
            program = evaluated(model, formulation, function, RUNTIME)
            for k in range(len(states["q"])):
                sample = {name: x[k] for name, x in given.items()}
                found = call(program, {**sample, "parameters": robot.parameters})
                several = wanted if isinstance(wanted, tuple) else (wanted,)
                for array, value, expected in zip(spec.results, found, several, strict=False):
                    what = f"{formulation.name}.{function}: {array.name}"
                    assert agrees(value, expected[k]), what
                    compared += 1
    return compared


@pytest.mark.parametrize("seed", one_in(6, range(18)))
def test_every_function_of_random_trees(seed):
    assert compare(random_model(seed, TREES)) > 50


@pytest.mark.parametrize("seed", one_in(3, range(100, 106)))
def test_every_function_of_random_trees_with_quaternions(seed):
    assert compare(random_model(seed, ON_MANIFOLDS)) > 50


@pytest.mark.parametrize("recipe", [TREES, ON_MANIFOLDS], ids=["angles", "quaternions"])
@pytest.mark.parametrize("seed", one_in(3, range(100, 106)))
def test_hessians_times_directions(seed, recipe):
    """The blocks, in closed form but for the forces, beside the torques differentiated twice."""
    model = random_model(seed, recipe)
    tree, robot = build_tree(model, Graph(), RUNTIME), NumericRobot(model, {}, RUNTIME)
    state = {name: x[0] for name, x in states_of(model, robot).items()}
    state |= {name: state["qd"] * scale for name, scale in (("dq", -2), ("dqd", 1), ("dqdd", 3))}
    state |= {"dloads": 0 * state["loads"], "dparameters": 0 * robot.parameters}
    state |= {"parameters": robot.parameters}
    dq, dqd, dqdd = (state[name] for name in ("dq", "dqd", "dqdd"))
    tried = 0
    for formulation in FORMULATIONS:
        if "inverse_dynamics_hessian" not in provided_functions(formulation, tree):
            continue
        hessian, product = (
            call(evaluated(model, formulation, f"inverse_dynamics_{name}", RUNTIME), state)
            for name in ("hessian", "hvp")
        )
        by_q, mixed, by_qdd, by_qd = hessian
        assert agrees(product[0], by_q @ dq + mixed @ dqd + by_qdd @ dqdd)
        assert agrees(product[1], mixed.T @ dq + by_qd @ dqd)
        assert agrees(product[2], by_qdd.T @ dq)
        tried += 1
    assert tried >= 2


ARM = """
symgen: 1
name: arm
gravity: [0, 0, -9.81]
parameters: {k: 40, c: 3, slack: 0.25, reach: 0.1}
joints:
  - {name: a, type: revolute, origin: {xyz: [0, 0, 0.3]}, axis: [0, 1, 0],
     link: {mass: 1, com: [0.2, 0, 0.1], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
  - {name: b, type: revolute, origin: {xyz: [0.5, 0, 0.1]}, axis: [0, 0.6, 0.8],
     link: {mass: 2, com: [0.1, 0.1, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
  - {name: c, type: prismatic, origin: {xyz: [0.1, 0.4, 0.1]}, axis: [1, 0, 0],
     link: {mass: 1, com: [0, 0.1, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
  - {name: d, type: revolute, parent: a, origin: {xyz: [0.5, 0.2, 0.1]}, axis: [1, 0, 0],
     link: {mass: 1, com: [0.2, 0.1, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
"""
SPRINGS = """
springs:
  - {name: one, between: [{link: c, point: [0.2, 0.1, reach]}, {link: d, point: [0, 0.3, 0]}],
     stiffness: k, damping: c, length: slack}
  - {name: two, between: [{link: base, point: [1, 0, 0]}, {link: b, point: [0, reach, 0]}],
     stiffness: 2*k, damping: c/2}
"""
XML = """
<mujoco>
  <compiler angle="radian" autolimits="true"/>
  <option gravity="0 0 -9.81"/>
  <worldbody>
    <site name="w" pos="1 0 0"/>
    <body name="a" pos="0 0 0.3">
      <joint type="hinge" axis="0 1 0"/>
      <inertial mass="1" pos="0.2 0 0.1" diaginertia="0.1 0.2 0.15"/>
      <body name="b" pos="0.5 0 0.1">
        <joint type="hinge" axis="0 0.6 0.8"/>
        <inertial mass="2" pos="0.1 0.1 0" diaginertia="0.1 0.2 0.15"/>
        <site name="b" pos="0 0.1 0"/>
        <body name="c" pos="0.1 0.4 0.1">
          <joint type="slide" axis="1 0 0"/>
          <inertial mass="1" pos="0 0.1 0" diaginertia="0.1 0.2 0.15"/>
          <site name="c" pos="0.2 0.1 0.1"/>
        </body>
      </body>
      <body name="d" pos="0.5 0.2 0.1">
        <joint type="hinge" axis="1 0 0"/>
        <inertial mass="1" pos="0.2 0.1 0" diaginertia="0.1 0.2 0.15"/>
        <site name="d" pos="0 0.3 0"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <spatial stiffness="40" damping="3" springlength="0.25">
      <site site="c"/><site site="d"/>
    </spatial>
    <spatial stiffness="80" damping="1.5" springlength="0">
      <site site="w"/><site site="b"/>
    </spatial>
  </tendon>
</mujoco>
"""


def arm_program(formulation, function, text=ARM + SPRINGS):
    return evaluated(described(text), formulation_named(formulation), function, RUNTIME)


def arm_values():
    return np.array([40, 3, 0.25, 0.1])


def test_springs_are_mujocos_tendons():
    """Spatial tendons between sites, with springlength, stiffness and damping."""
    model = mujoco.MjModel.from_xml_string(XML)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(5)
    torques = arm_program("newton_euler", "inverse_dynamics")
    accelerations = arm_program("composite", "forward_dynamics")
    energy = arm_program("newton_euler", "potential_energy")
    bare = arm_program("newton_euler", "potential_energy", ARM)
    for _ in range(20):
        q, qd, qdd, tau = rng.normal(size=(4, 4))
        data.qpos[:], data.qvel[:] = q, qd
        data.qfrc_applied[:] = tau
        mujoco.mj_forward(model, data)
        state = {"q": q, "qd": qd, "parameters": arm_values(), "loads": np.zeros((0, 6))}
        assert agrees(call(accelerations, {**state, "tau": tau})[0], data.qacc)
        data.qacc[:] = qdd
        mujoco.mj_inverse(model, data)
        assert agrees(call(torques, {**state, "qdd": qdd})[0], data.qfrc_inverse)
        mujoco.mj_energyPos(model, data)
        stored = call(energy, state)[0] - call(bare, state)[0]
        lengths = data.ten_length - np.array([0.25, 0.0])
        assert agrees(stored, 0.5 * np.array([40.0, 80.0]) @ lengths**2)


def test_derivatives_are_complex_steps():
    """Of the program itself: by q, qd and parameters."""
    rng = np.random.default_rng(2)
    state = dict(zip(("q", "qd", "qdd"), rng.normal(size=(3, 4)), strict=True))
    state = {**state, "loads": np.zeros((0, 6)), "parameters": arm_values()}
    values = arm_program("composite", "inverse_dynamics")
    found = call(arm_program("composite", "inverse_dynamics_derivatives"), state)
    by_parameters = call(
        arm_program("newton_euler", "inverse_dynamics_parameter_derivatives"), state
    )
    for name, slope in (("q", found[1]), ("qd", found[2]), ("parameters", by_parameters[0])):
        steps = 1j * STEP * np.eye(4)
        moved = [call(values, {**state, name: state[name] + step})[0].imag / STEP for step in steps]
        assert agrees(slope, np.stack(moved, axis=-1)), name


def test_power_of_springs_is_the_rate_of_their_energy():
    """Without dampers; with them, what they take is not negative."""
    rng = np.random.default_rng(3)
    bias = arm_program("newton_euler", "bias_forces")
    bare = arm_program("newton_euler", "bias_forces", ARM)
    energy = arm_program("newton_euler", "potential_energy")
    gravity = arm_program("newton_euler", "potential_energy", ARM)
    for damping in (0.0, 3.0):
        for _ in range(5):
            q, qd = rng.normal(size=(2, 4))
            values = np.array([40.0, damping, 0.25, 0.1])
            state = {"q": q, "qd": qd, "loads": np.zeros((0, 6)), "parameters": values}
            held = qd @ (call(bias, state)[0] - call(bare, state)[0])
            moved = {**state, "q": q + 1j * STEP * qd}
            rate = (call(energy, moved)[0] - call(gravity, moved)[0]).imag / STEP
            assert held - rate == pytest.approx(0.0, abs=1e-10) if not damping else held > rate


def test_a_spring_of_no_length_is_regular_where_its_ends_meet():
    text = ARM + "springs: [{name: s, between: [{link: base}, {link: a}], stiffness: k}]\n"
    text = text.replace("xyz: [0, 0, 0.3]", "xyz: [0, 0, 0]")
    program = arm_program("newton_euler", "inverse_dynamics_derivatives", text)
    state = {name: np.zeros(4) for name in ("q", "qd", "qdd")}
    found = call(program, {**state, "loads": np.zeros((0, 6)), "parameters": arm_values()})
    assert all(np.all(np.isfinite(array)) for array in found)


def test_what_forces_have_no_part_in_is_as_without_them():
    for function in ("mass_matrix", "coriolis_matrix", "gravity_forces", "kinetic_energy"):
        with_springs, without = (
            arm_program("newton_euler", function, text) for text in (ARM + SPRINGS, ARM)
        )
        assert len(with_springs.steps) == len(without.steps), function


def test_there_are_no_loops():
    trees = [build_tree(described(text), Graph()) for text in (ARM, ARM + SPRINGS)]
    composite = formulation_named("composite")
    assert [has_loops(tree, composite, "mass_matrix") for tree in trees] == [True, False]


def test_types_have_names_of_their_own():
    assert len({kind.type for kind in FORCES}) == len(FORCES) == 2
