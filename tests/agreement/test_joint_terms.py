"""Rotors, dampers, springs and friction: every formulation against formulas, Pinocchio, and itself
without them."""

import numpy as np
import pytest
import sympy

from symgen import derive as derive_symbolically
from symgen.algebra.graph import Graph
from symgen.formulations import FORMULATIONS, provided_functions
from symgen.kinematics.tree import build_tree
from symgen.program.evaluation import call
from symgen.program.functions import function_named, senseless_functions
from symgen.program.products import PRODUCTS
from symgen.validation.evaluated import evaluated_subjects
from symgen.validation.validate import validate
from tests.agreement.test_pinocchio import compare
from tests.choosing import one_in, some_deep
from tests.oracles.comparison import agrees, state_of
from tests.oracles.descriptions import described
from tests.oracles.programs import evaluated
from tests.oracles.random_models import Recipe, seeded_model_text

ONE_EACH = Recipe(joints=(1, 7), types=("revolute", "prismatic", "fixed"), loads=(0, 3), terms=True)
TERMS = """
    rotor_inertia: I_r
    gear_ratio: G
    damping: d
    stiffness: k
    rest: rest
    friction: f
    friction_velocity: v
"""
PENDULUM = f"""
symgen: 1
name: pendulum
gravity: [0, 0, -g]
parameters: {{I_r: 0.02, G: -7, d: 0.3, k: 5, rest: 0.4, f: 0.8, v: 0.5, m: 2, c: 0.3, I: 0.1,
             g: 9.81}}
joints:
  - name: pivot
    type: revolute
    origin: {{}}
    axis: [0, 1, 0]
    link: {{mass: m, com: [0, 0, -c], inertia: {{yy: I}}}}{TERMS}
"""


def functions(description, formulation):
    """What it derives and what means something, by name."""
    senseless = senseless_functions(build_tree(description, Graph()).sizes)
    return {
        name: evaluated(description, formulation, name)
        for name in provided_functions(formulation)
        if name not in senseless
    }


def pendulum(q, qd, qdd):
    """The pendulum that hangs along -z at q = 0, by hand: every function of it."""
    I_r, G, d, k, rest, f, v, m, c, I, g = 0.02, -7.0, 0.3, 5.0, 0.4, 0.8, 0.5, 2.0, 0.3, 0.1, 9.81
    M = I + m * c**2 + G**2 * I_r
    weight, dweight = m * g * c * np.sin(q), m * g * c * np.cos(q)
    held = weight + d * qd + k * (q - rest) + f * np.tanh(qd / v)
    tau = M * qdd + held
    loss = d + f / v / np.cosh(qd / v) ** 2
    return {
        "inverse_dynamics": (tau,),
        "inverse_dynamics_derivatives": (tau, dweight + k, loss, M),
        "mass_matrix": (M,),
        "coriolis_matrix": (0.0,),
        "bias_forces": (held,),
        "gravity_forces": (weight,),
        "torque_parts": (M * qdd, 0.0, 0.0, weight, 0.0, held - weight),
        "kinetic_energy": (0.5 * M * qd**2,),
        "potential_energy": (-m * g * c * np.cos(q) + 0.5 * k * (q - rest) ** 2,),
        "forward_dynamics": (qdd, M, M),
        "forward_dynamics_derivatives": (qdd, -(dweight + k) / M, -loss / M, 1 / M, M, M),
    }


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda f: f.name)
def test_a_pendulum_by_hand(formulation):
    rng = np.random.default_rng(1)
    programs = functions(described(PENDULUM), formulation)
    for q, qd, qdd in rng.uniform(-2, 2, (20, 3)):
        expected = pendulum(q, qd, qdd)
        assert {"bias_forces", "mass_matrix"} <= set(programs) or formulation.name == "kane"
        tau = expected["inverse_dynamics"]
        for name in set(expected) & set(programs):
            results = call(programs[name], {"q": [q], "qd": [qd], "qdd": [qdd], "tau": tau})
            for value, reference in zip(results, expected[name], strict=True):
                assert agrees(value.reshape(()), reference, 1e-14), name


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda f: f.name)
def test_the_terms_are_symbols_of_the_users_names(formulation):
    dyn = derive_symbolically(described(PENDULUM), formulation.name)
    I_r, G, d, k, rest, f, v, m, c, I, g, q, qd, qdd, given = sympy.symbols(
        "I_r G d k rest f v m c I g q_1 qd_1 qdd_1 tau_1", real=True
    )
    M, weight = I + m * c**2 + G**2 * I_r, m * g * c * sympy.sin(q)
    tau = M * qdd + weight + d * qd + k * (q - rest) + f * sympy.tanh(qd / v)
    expected = {
        "mass_matrix": M,
        "gravity_forces": weight,
        "inverse_dynamics": tau,
        "bias_forces": tau.subs(qdd, 0),
        "forward_dynamics": (given - tau.subs(qdd, 0)) / M,
    }
    found = [name for name in expected if name in formulation.functions]
    assert found
    for name in found:
        assert sympy.simplify(getattr(dyn, name)[0] - expected[name]) == 0


@pytest.mark.parametrize("seed", some_deep(range(8), (1, 5)))
def test_against_the_same_robot_without_terms(seed):
    """What the terms add to every function, with numbers read from the file once more."""
    text = seeded_model_text(seed, ONE_EACH)
    description, bare, numbers = with_and_without_terms(text)
    n = len(numbers["damping"])
    rng = np.random.default_rng(seed)
    state = {key: rng.uniform(-2, 2, n) for key in ("q", "qd", "qdd")}
    state["loads"] = rng.uniform(-9, 9, (len(description.loads), 6))
    added = additions(numbers, **{key: state[key] for key in ("q", "qd", "qdd")})
    for formulation in FORMULATIONS:
        with_terms, without = functions(description, formulation), functions(bare, formulation)
        for name in with_terms:
            if function_named(name).solves or name in PRODUCTS:  # of derivatives, which are here
                continue
            pairs = zip(call(with_terms[name], state), call(without[name], state), strict=True)
            for i, (value, reference) in enumerate(pairs):
                more = added.get(name, (0.0,) * 9)[i]
                assert agrees(value, reference + more), (formulation.name, name)


@pytest.mark.parametrize("seed", some_deep(range(8), (1, 6)))
def test_accelerations_against_the_same_robot_without_terms(seed):
    """The torques differ by what the terms take; then the accelerations are the same.

    M, dqdd/dq and dqdd/dqd, multiplied with M, differ by rotors, springs and losses.
    """
    text = seeded_model_text(seed, ONE_EACH)
    description, bare, numbers = with_and_without_terms(text)
    state = state_of(description, seed)
    motion = {key: state[key] for key in ("q", "qd", "qdd")}
    added = additions(numbers, **motion)
    torques = evaluated(bare, FORMULATIONS[0], "inverse_dynamics")
    mass = evaluated(bare, FORMULATIONS[0], "mass_matrix")
    assert np.linalg.cond(call(mass, state)[0]) < 1e6
    (tau,) = call(torques, state)
    loaded = {**state, "tau": tau + added["inverse_dynamics"][0]}
    _, springs, losses, rotors = added["inverse_dynamics_derivatives"]
    for formulation in FORMULATIONS:
        if "forward_dynamics_derivatives" not in formulation.functions:
            continue
        programs = [
            evaluated(model, formulation, "forward_dynamics_derivatives")
            for model in (description, bare)
        ]
        arguments = (loaded, {**state, "tau": tau})
        (qdd, *slopes, _, diagonal), (bare_qdd, *bare_slopes, _, bare_diagonal) = (
            call(*pair) for pair in zip(programs, arguments, strict=True)
        )
        assert agrees(qdd, state["qdd"], 1e-10) and agrees(bare_qdd, state["qdd"], 1e-10)
        assert agrees(diagonal, bare_diagonal + np.diag(rotors))
        M, bare_M = np.linalg.inv(slopes[2]), np.linalg.inv(bare_slopes[2])
        assert agrees(M, bare_M + rotors, 1e-10)
        assert agrees(M @ slopes[0], bare_M @ bare_slopes[0] - springs, 1e-9)
        assert agrees(M @ slopes[1], bare_M @ bare_slopes[1] - losses, 1e-9)


def with_and_without_terms(text):
    """The robot, the same without joint terms, and the numbers of these terms."""
    keys = [field.strip() for field in TERMS.split("\n") if ":" in field]
    keys = [key.split(":")[0] for key in keys]
    lines = [line for line in text.splitlines() if line.strip().split(":")[0] not in keys]
    return described(text), described("\n".join(lines) + "\n"), numbers_of(text, keys)


def numbers_of(text, keys):
    """The terms of all coordinates, from the lines of the file: joints of one coordinate each."""
    default = dict.fromkeys(keys, 0.0) | {"gear_ratio": 1.0, "friction_velocity": 1e-3}
    joints = []
    for line in text.split("joints:\n")[1].splitlines():
        key, _, value = line.strip().partition(": ")
        if line.startswith("  - name"):
            joints.append({"kind": "", **default})
        elif line.startswith("    type"):
            joints[-1]["kind"] = value
        elif key in keys:
            joints[-1][key] = float(value.strip("[]"))
    moving = [joint for joint in joints if joint["kind"] != "fixed"]
    return {key: np.array([joint[key] for joint in moving], dtype=float) for key in keys}


def additions(t, q, qd, qdd):
    """What is added to the results of each function; nothing to those that are not listed."""
    rotor = t["gear_ratio"] ** 2 * t["rotor_inertia"]
    spring = t["stiffness"] * (q - t["rest"])
    x = qd / t["friction_velocity"]
    held = spring + t["damping"] * qd + t["friction"] * np.tanh(x)
    with np.errstate(over="ignore"):
        slope = t["damping"] + t["friction"] / t["friction_velocity"] / np.cosh(x) ** 2
    tau = rotor * qdd + held
    slopes = (np.diag(part) for part in (t["stiffness"], slope, rotor))
    return {
        "inverse_dynamics": (tau,),
        "inverse_dynamics_derivatives": (tau, *slopes),
        "mass_matrix": (np.diag(rotor),),
        "bias_forces": (held,),
        "torque_parts": (rotor * qdd, 0.0, 0.0, 0.0, 0.0, held),
        "kinetic_energy": (0.5 * np.sum(rotor * qd**2),),
        "potential_energy": (0.5 * np.sum(spring * (q - t["rest"])),),
    }


@pytest.mark.parametrize("seed", one_in(10, range(10)))
def test_seeded_trees_against_pinocchio(seed):
    compare(described(seeded_model_text(seed, ONE_EACH)), seed)


@pytest.mark.parametrize("seed", some_deep(range(100, 103), (101,)))
def test_seeded_trees_against_the_numeric_model_and_complex_step(seed):
    description = described(seeded_model_text(seed, ONE_EACH))
    programs = {item.name: functions(description, item) for item in FORMULATIONS}
    validate(description, evaluated_subjects(programs)).raise_if_failed()
