"""Derivatives by parameters of every kind: complex steps through another formulation.

Every number of `ROBOT` is a named parameter.  Kind by kind these are arguments at run time; every
formulation then differentiates every function by them.  Torques, points and energies are held
against complex steps through another formulation, accelerations against those through a dense
solution with Lagrange's mass matrix.
"""

import re

import numpy as np
import pytest

from symgen.algebra.graph import Graph
from symgen.formulations import FORMULATIONS
from symgen.formulations.newton_euler import NEWTON_EULER
from symgen.formulations.recursive_lagrange import RECURSIVE_LAGRANGE
from symgen.kinematics.tree import build_tree
from symgen.program.evaluation import call
from symgen.program.functions import OF_TREES, function_named
from tests.choosing import some_deep
from tests.oracles.comparison import STEP, agrees, solving_limit, state_of
from tests.oracles.dense import DenseRobot
from tests.oracles.descriptions import described
from tests.oracles.pinocchio_functions import mass_to_invert
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.programs import evaluated
from tests.oracles.random_models import Recipe, seeded_model_text

ROBOT = """
symgen: 1
name: every_number
gravity: [gx, gy, gz]
convention: standard
parameters:
  {gx: 1.5, gy: -0.7, gz: -9.81, m1: 1.3, m2: 0.9, m3: 0.6, m4: 0.4, mass_of_none: 0,
   theta: 0.2, d: 0.15, a: 0.6, alpha: 0.7, no_alpha: 0, right: pi/2, no_d: 0,
   theta_m: -0.4, d_m: 0.3, a_m: 0.2, alpha_m: -0.8,
   cx: 0.11, cy: -0.06, cz: 0, Ixx: 0.21, Iyy: 0.25, Izz: 0.3, Ixy: 0.02, Ixz: -0.01, Iyz: 0,
   k: 12, no_k: 0, rest: 0.3, damping: 0.4, no_damping: 0, friction: 0.7, no_friction: 0, vf: 0.3,
   rotor: 0.02, no_rotor: 0, gear: -7, one: 1,
   lx: -0.2, ly: 0.15, lz: 0, px: 0.25, py: -0.1, pz: 0,
   ox: 0.33, oy: 0, oz: -0.14, roll: 0.41, pitch: 0, yaw: -0.3, bx: 0.05, turn: 0.6,
   ax: 0.3, ay: 0, az: 1, fx: 0.2, tilt: 0,
   length: 0.8, density: 1.7, half: length/2, weight: density*length**2, sway: sin(half)/2,
   slender: weight*length**2/12 + 0.1}
joints:
  - {name: arm, type: revolute, dh: {theta: theta, d: d, a: a, alpha: alpha},
     before: {xyz: [bx, oy, 0], rpy: [0, turn, pitch]},
     rotor_inertia: rotor, gear_ratio: gear, stiffness: k, rest: rest, damping: damping,
     friction: friction, friction_velocity: vf,
     link: {mass: m1, com: [cx, cy, cz],
            inertia: {xx: Ixx, yy: Iyy, zz: Izz, xy: Ixy, xz: Ixz, yz: Iyz}}}
  - {name: slide, type: prismatic, prescribed: true,
     origin: {xyz: [ox, oy, oz], rpy: [roll, pitch, yaw]}, axis: [ax, ay, az],
     rotor_inertia: no_rotor, gear_ratio: one, stiffness: no_k, damping: no_damping,
     friction: no_friction, friction_velocity: 0.5,
     link: {mass: m2, com: [sway, cy, half], inertia: {xx: Ixx, yy: slender, zz: 0.2}}}
  - {name: pad, type: fixed, origin: {xyz: [fx, 0, half], rpy: [tilt, 0, yaw]},
     link: {mass: m4, com: [cx, 0, cz], inertia: {xx: 0.02, yy: 0.03, zz: Iyz + 0.02}}}
  - {name: flap, type: revolute, convention: modified, parent: arm,
     dh: {theta: theta_m, d: d_m, a: a_m, alpha: alpha_m},
     link: {mass: weight, com: [half, 0.1, 0], inertia: {xx: 0.1, yy: slender, zz: slender}}}
  - {name: wrist, type: revolute, parent: pad, dh: {theta: right, d: no_d, a: 0.2, alpha: no_alpha},
     link: {mass: m3, com: [0.1, 0.2, cz], inertia: {xx: 0.1, yy: 0.2, zz: 0.2}}}
  - {name: label, type: fixed, origin: {xyz: [0.1, 0.2, 0.3]},
     link: {mass: mass_of_none, com: [0.1, 0, 0]}}
loads: [{name: push, link: wrist, point: [lx, ly, lz]}]
points: [{name: tip, link: label, point: [px, py, pz]},
         {name: mark, link: flap, point: [half, py, 0]}]
"""
KINDS = {
    "gravity": "gx gy gz",
    "mass": "m1 m2 m3",
    "mass of a fixed link": "m4 mass_of_none",
    "theta, d": "theta d theta_m d_m",
    "a, alpha": "a alpha a_m alpha_m",
    "theta, d, alpha at special values": "right no_d no_alpha",
    "centre of mass": "cx cy cz",
    "moment of inertia": "Ixx Iyy Izz",
    "product of inertia": "Ixy Ixz Iyz",
    "spring": "k no_k rest",
    "damping": "damping no_damping",
    "friction": "friction no_friction vf",
    "rotor": "rotor no_rotor gear one",
    "load point": "lx ly lz",
    "point": "px py pz",
    "origin": "ox oy oz bx fx",
    "rpy": "roll pitch yaw turn tilt",
    "axis": "ax ay az",
    "what others are derived from": "length density",
    "one of each": "gz m1 a_m alpha cy Ixy rest vf gear ly py roll az length",
}
DESCRIPTION = described(ROBOT)
PLAIN = tuple(name for name in OF_TREES if name.endswith("_parameter_derivatives"))
SENSITIVITIES = "forward_dynamics_sensitivities"
DIFFERENT = {NEWTON_EULER.name: RECURSIVE_LAGRANGE}
"""Through which formulation complex steps go; through Newton-Euler for the others."""


def in_file_order(description, names):
    """Runtime parameters stand in the order of the file, whoever names them."""
    return tuple(p.name for p in description.parameters if p.name in names)


def situation(description, seed, runtime):
    """A state with values and directions of the runtime parameters."""
    state = state_of(description, seed)
    values = description.parameter_values
    state["parameters"] = np.array([values[name] for name in runtime])
    rng = np.random.default_rng(seed)
    for name in ("q", "qd", "tau"):
        state[f"d{name}"] = rng.uniform(-1, 1, (len(state["q"]), len(runtime)))
    return state


def along_parameters(state, following=False):
    """A complex step along every parameter in turn; q, qd and tau may follow them."""
    values = state["parameters"]
    moved = {**state, "parameters": values + 1j * STEP * np.eye(len(values))}
    for name in ("q", "qd", "tau") if following else ():
        moved[name] = state[name] + 1j * STEP * state[f"d{name}"].T
    return moved


def slope(values):
    """The derivatives that results of complex steps hold, their axis last."""
    return np.moveaxis(values.imag / STEP, 0, -1)


class Expected:
    """What the derivatives of one robot at one state are, by runtime parameters."""

    def __init__(self, description, state, runtime):
        self.description, self.state, self.runtime = description, state, runtime
        self.moved = along_parameters(state)
        self.robot = DenseRobot(description, runtime)
        self.known = {}

    def of(self, function, formulation):
        """The visible results of `function`, by another formulation than `formulation`."""
        base = function.removesuffix("_parameter_derivatives")
        if function == SENSITIVITIES:
            moved = along_parameters(self.state, following=True)
            return [self.robot.forward(self.state), slope(self.robot.forward(moved))]
        if base == "forward_dynamics":
            return [slope(self.robot.forward(self.moved))]
        if base == "hybrid_dynamics":
            return [slope(self.robot.hybrid(self.moved))]
        other = DIFFERENT.get(formulation.name, NEWTON_EULER)
        if (base, other.name) not in self.known:
            program = evaluated(self.description, other, base, self.runtime)
            self.known[base, other.name] = [slope(x) for x in call(program, self.moved)]
        return self.known[base, other.name]


def check(description, runtime, seed):
    """Every formulation, every function: the parameters that change at least one of them."""
    state = situation(description, seed, runtime)
    expected, oracle = Expected(description, state, runtime), pinocchio_model(description)
    n_prescribed = build_tree(description, Graph()).sizes["n_prescribed"]
    seen = np.zeros(len(runtime), dtype=bool)
    for formulation in FORMULATIONS:
        for function in (*PLAIN, SENSITIVITIES):
            if function not in formulation.functions:
                continue
            if function.startswith("hybrid") and not n_prescribed:
                continue
            results = call(evaluated(description, formulation, function, runtime), state)
            mass = mass_to_invert(oracle, function, state)
            limit = 1e-11 if mass is None else solving_limit(mass)
            references = expected.of(function, formulation)
            visible = results[: len(function_named(function).results)]
            for value, reference in zip(visible, references, strict=True):
                assert agrees(value, reference, limit), (formulation.name, function)
            if mass is not None:
                assert agrees(results[-1], np.diag(mass)), (formulation.name, function)
            seen |= (visible[-1].reshape(-1, len(runtime)) != 0).any(axis=0)
    return seen


@pytest.mark.parametrize("kind", some_deep(KINDS, ["one of each"]))
def test_every_kind_of_parameter(kind):
    runtime = in_file_order(DESCRIPTION, KINDS[kind].split())
    assert len(runtime) == len(KINDS[kind].split())
    assert check(DESCRIPTION, runtime, 1).all()


def test_every_parameter_of_the_model_has_its_turn():
    names = {name for kind in KINDS.values() for name in kind.split()}
    assert names == {p.name for p in DESCRIPTION.parameters if not p.derived}


def test_every_function_has_a_formulation():
    able = {name for item in FORMULATIONS for name in item.functions}
    assert {*PLAIN, SENSITIVITIES} <= able
    for function in ("forward_dynamics", "hybrid_dynamics"):
        name = f"{function}_parameter_derivatives"
        assert sum(name in item.functions for item in FORMULATIONS) >= 4


# -- random robots -----------------------------------------------------------------------------

NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e-?\d+)?(?![\w.])")
"""Decimal numbers: what random models are made of."""
TREES = Recipe(
    joints=(2, 5),
    types=("revolute", "prismatic", "fixed", "universal", "cylindrical"),
    loads=(1, 2), points=(1, 2), terms=True, prescribed=True, massless=False,
)  # fmt: skip


def with_named_numbers(text):
    """The model with a named parameter for every decimal number, and their names."""
    head, joints = text.split("joints:\n")
    numbers = []

    def named(match):
        numbers.append(match[0])
        return f"p_{len(numbers)}"

    joints = NUMBER.sub(named, joints)
    lines = "".join(f"  p_{i}: {value}\n" for i, value in enumerate(numbers, start=1))
    names = [f"p_{i}" for i in range(1, len(numbers) + 1)]
    return f"{head}{lines}joints:\n{joints}", names


def random_parameters(seed, count=8):
    """A random model, and some of its numbers."""
    text, names = with_named_numbers(seeded_model_text(seed, TREES))
    chosen = np.random.default_rng(seed).choice(len(names), size=count, replace=False)
    return described(text), tuple(names[k] for k in sorted(chosen))


@pytest.mark.parametrize("seed", some_deep(range(901, 905), (904,)))
def test_seeded_trees_with_random_parameters(seed):
    description, runtime = random_parameters(seed)
    assert check(description, runtime, seed).sum() >= len(runtime) - 3


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(910, 940))
def test_many_seeded_trees_with_random_parameters(seed):
    description, runtime = random_parameters(seed)
    check(description, runtime, seed)
