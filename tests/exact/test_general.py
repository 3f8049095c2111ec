"""The general robot contains the model, and has nothing left that could be rounded."""

from dataclasses import fields, replace

import numpy as np
import pytest

from symgen.algebra.graph import Graph
from symgen.algebra.nodes import CONST, SYMBOL, reachable
from symgen.algebra.rounding import quarter_turns
from symgen.exact import general_programs
from symgen.exact.general import COLUMNS, general_robot, runtime_parameters
from symgen.formulations import NEWTON_EULER, derive
from symgen.kinematics.tree import build_tree
from symgen.optimize.folding import fold
from symgen.program.interpreter import call
from tests.modules import described
from tests.oracles.random_models import EVERYTHING, Recipe, seeded_model_text

ODD = """
symgen: 1
name: odd
convention: standard
gravity: [0, 0, -9.81]
parameters: {p: 0.3, s: {value: 2*p}, turn: 90*deg}
joints:
  - {name: a, type: revolute, dh: {theta: p + pi/2, d: sqrt(p**2 + s**2), a: 1, alpha: 45*deg*2},
     link: {mass: abs(-2*p), com: [0.1 + p*pi, -1, 0.5], inertia: {xx: 0.2, yy: 0.2, zz: 0.2}}}
  - {name: b, type: revolute, origin: {xyz: [p**3/7, 0.25, -0.25], rpy: [pi, -pi/2, 0.7]},
     axis: [0, -2, 0],
     link: {mass: 1.5, com: [sin(p + pi/2), 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}}
  - {name: c, type: prismatic, origin: {xyz: [0, 0, 0.3], rpy: [0, 0, turn]}, axis: [0.3, 0, -0.4],
     link: {mass: 1, com: [0.2, 0.1, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}}
  - {name: d, type: revolute, origin: {xyz: [0.1, 0, 0]}, axis: [1, 2, 3],
     link: {mass: 1, com: [0, 0, 0.1], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}}
  - {name: e, type: revolute, origin: {xyz: [0.1, 0, 0]}, axis: [p, 0.2, s],
     link: {mass: 1, com: [0, 0, 0.1], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}}
  - {name: f, type: revolute, origin: {xyz: [0.1, 0, 0]}, axis: [0, 0, -p],
     link: {mass: 1, com: [0.1, 0, 0.1], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}}
"""


def test_structure_stays_and_numbers_get_names():
    robot = general_robot(described(ODD))
    a, b, c, d, e, f = robot.joints
    assert [part.root.value for part in (a.dh.alpha, b.origin.rpy[0])] == [np.pi / 2, np.pi]
    assert len({*a.dh.a.names, *a.link.com[1].names}) == 2  # 1 and -1: their sums have thirds
    assert a.dh.theta.names == ("p",)  # the quarter turn beside it stays a number
    assert a.dh.d.names == ("p", "s")  # exponents too
    assert [part.root.value for part in b.axis] == [0.0, -1.0, 0.0]
    assert [part.root.value for part in f.axis] == [0.0, 0.0, -1.0]
    assert c.axis[0].names == c.axis[2].names
    assert c.axis[1].root.value == 0.0
    assert len({name for part in d.axis for name in part.names}) == 2
    assert e.axis[0].names == ("p",)
    values = robot.parameter_values
    assert values[b.link.mass.names[0]] == 1.5
    assert {"p", "s", "turn"} <= set(values)
    assert values[robot.gravity[2].names[0]] == 9.81


ONES = """
symgen: 1
name: ones
joints:
  - {name: a, type: prismatic, origin: {rpy: [0, 0, 1]}, axis: [1, 0, 0],
     link: {mass: 1, com: [1, 1, 1], inertia: {xx: 1, yy: 1, zz: 1}}}
  - {name: b, type: revolute, origin: {xyz: [0, 1, 0]}, axis: [0, 1, 0],
     link: {mass: 1, com: [1, 1, 1], inertia: {xx: 1, yy: 1, zz: 1}}}
"""


@pytest.mark.parametrize("text", [ODD, ONES, seeded_model_text(1, EVERYTHING)])
def test_nothing_that_could_be_rounded_is_left(text):
    """Constants are small whole numbers, halves and quarters, or quarter turns."""
    functions = ("inverse_dynamics", "jacobians", "kinetic_energy", "forward_dynamics")
    programs, _ = general_programs(described(text), functions=functions)
    for program in programs.values():
        constants = {node.value for node in reachable(program.results) if node.op == CONST}
        constants -= {value for value in constants if quarter_turns(value)}
        assert all((4.0 * value).is_integer() and abs(value) < 10 for value in constants)


@pytest.mark.parametrize(
    "text", [ODD, *(seeded_model_text(seed, Recipe(joints=(2, 6))) for seed in range(8)),
             *(seeded_model_text(seed, EVERYTHING) for seed in range(4))]
)  # fmt: skip
def test_the_general_robot_at_the_values_of_the_model_is_the_model(text):
    """Evaluated in floating point, as the model's own program is."""
    description = described(text)
    robot = general_robot(description)
    own = derive(build_tree(description, Graph()), NEWTON_EULER, "inverse_dynamics")
    general = derive(build_tree(robot, Graph()), NEWTON_EULER, "inverse_dynamics")
    rng = np.random.default_rng(0)
    state = {x.name: rng.uniform(-3, 3, x.shape) for x in own.inputs if x.name != "parameters"}
    expected = call(fold(own, description.parameter_values), state)[0]
    found = call(fold(general, robot.parameter_values), state)[0]
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    assert np.abs(found - expected).max(initial=0.0) < 1e-12 * scale


def kinds_of(description):
    """Parts of the model -> the runtime parameters that their entries depend on."""
    robot = general_robot(description)
    names = runtime_parameters(description, robot)
    tree = build_tree(robot, Graph(), names)
    parts = {"gravity": tuple(tree.gravity)}
    for joint in tree.joints:
        body, terms = joint.body, joint.terms
        placed = (*joint.placement.tree.rotation.entries, *joint.placement.tree.translation)
        found = {"mass": [body.mass], "com": body.com, "inertia": body.inertia.entries}
        found |= {field.name: [getattr(terms, field.name)] for field in fields(terms)}
        found |= {"placement": [*placed, joint.placement.offset]}
        for part, entries in found.items():
            parts[part] = (*parts.get(part, ()), *entries)
    parts["loads"] = tuple(x for load in tree.loads for x in load.point)
    parts["points"] = tuple(x for point in tree.points for x in point.point)
    return names, {
        part: {x.name for x in reachable(entries) if x.op == SYMBOL} & set(names)
        for part, entries in parts.items()
    }


@pytest.mark.parametrize("seed", range(6))
def test_runtime_parameters_are_of_every_kind_that_the_file_has(seed):
    recipe = replace(EVERYTHING, joints=(2, 4), loads=(1, 2), points=(1, 1), massless=False)
    description = described(seeded_model_text(seed, recipe))
    names, parts = kinds_of(description)
    general = build_tree(general_robot(description), Graph())
    idle = {"friction_velocity": "friction", "gear_ratio": "rotor_inertia", "rest": "stiffness"}
    for part, found in parts.items():
        terms = [joint.terms for joint in general.joints]
        if hasattr(terms[0], part):
            varying = [
                getattr(x, part) for x in terms if not getattr(x, idle.get(part, part)).is_zero
            ]
            if all(x.op == CONST for x in varying):
                continue
        assert found, part
    assert len(names) == len(set(names)) <= COLUMNS // len(general.joints)


def test_those_of_the_file_come_first():
    description = described(ODD)
    names = runtime_parameters(description, general_robot(description))
    assert names[:2] == ("p", "turn")  # s is derived from p, and follows it
    assert len(names) > 2


def test_what_follows_a_runtime_parameter_keeps_no_number():
    """s = 2 p and the mass 0.3 m: 2 and 0.3 are parameters, too."""
    text = ODD.replace("{p: 0.3, s: {value: 2*p}", "{p: 0.3, s: {value: 2.7*p}")
    robot = general_robot(described(text))
    tree = build_tree(robot, Graph(), ("p",))
    entries = [x for joint in tree.joints for x in joint.placement.tree.translation]
    names = {x.name for x in reachable(entries) if x.op == SYMBOL}
    assert "p" in names and "s" not in names
    assert not any(x.op == CONST and x.value == 2.7 for x in reachable(entries))
    (literal,) = robot.parameters[1].expression.names[:1]
    assert robot.parameter_values[literal] == 2.7


def test_a_large_robot_has_few():
    description = described(seeded_model_text(3, Recipe(joints=(90, 90), types=("revolute",))))
    assert 1 <= len(runtime_parameters(description, general_robot(description))) <= 2


def test_names_of_the_model_are_not_taken():
    text = ODD.replace("{p: 0.3,", "{p: 0.3, literal_1: 4, literal_2: 5,")
    robot = general_robot(described(text.replace("mass: 1.5", "mass: literal_1 + literal_2")))
    names = [parameter.name for parameter in robot.parameters]
    assert len(names) == len(set(names))
    assert robot.parameter_values["literal_1"] == 4.0
