"""What may be wrong with loops, relations and initial positions, and what messages say."""

from __future__ import annotations

import pytest

from tests.description.reports import faults, model
from tests.modules import module

MODEL = """
symgen: 1
name: m
parameters: {L: 1.0}
joints:
  - {name: a, type: revolute, origin: {}, link: {name: bar, mass: 1}}
  - {name: b, parent: base, type: revolute, origin: {xyz: [L, 0, 0]}, link: {name: rod, mass: 1}}
points:
  - {name: tip, link: bar, point: [L, 0, 0]}
"""


def loop(**changed):
    """Write the row of a loop, or two that differ in what has a second value."""
    keys = {"name": "c", "type": "revolute", "first": "{link: bar}", "second": "{link: rod}"}
    rows = []
    for place in range(1 + any(isinstance(value, tuple) for value in changed.values())):
        row = {k: v[place] if isinstance(v, tuple) else v for k, v in (keys | changed).items()}
        rows.append(", ".join(f"{key}: {value}" for key, value in row.items() if value))
    return "loops: [" + ", ".join(f"{{{row}}}" for row in rows) + "]"


WRONG = [
    (loop(type="revolut"),
     "loops.c.type: expected one of revolute, prismatic, fixed, universal, cylindrical, planar, "
     "spherical, distance, found the text 'revolut'; did you mean 'revolute'?"),
    (loop(type="floating"), "loops.c.type: a floating joint closes no loop"),
    (loop(type="helical"), "loops.c.type: a helical joint closes no loop"),
    (loop(second=""), "loops.c.second: this key is required and missing"),
    (loop(name=""), "loops[1].name: this key is required and missing"),
    (loop(first="{link: bat}"), "loops.c.first.link: 'bat' names no link; did you mean 'bar'?"),
    (loop(first="{link: a}"), "loops.c.first.link: 'a' is a joint; its link is called 'bar'"),
    (loop(second="{link: bar}"), "loops.c: both frames are on 'bar', which closes no loop"),
    (loop(first="{link: bar, axis: [0, 0, 0]}"), "loops.c.first.axis: the axis is zero"),
    (loop(first="{link: bar, origin: {xyz: [K, 0, 0]}}"),
     "loops.c.first.origin.xyz[1]: unknown name 'K'"),
    (loop(type="distance"), "loops.c: a distance needs 'length', in m"),
    (loop(type="distance", length="0"),
     "loops.c.length: expected more than 0 m, found 0; 'type: spherical' keeps two points"),
    (loop(length="1"), "loops.c.length: a revolute joint takes no length; remove it"),
    (loop(name=("c", "d")), "loops.d: the same loop as 'c'; remove one of them"),
    (loop(type=("spherical", "revolute")), "loops[2].name: 'c' is already the name of a loop, in"),
    (loop(name="'x y'"), "loops[1].name: 'x y' is not a name"),
    ("relations: {drive: q.a - 2*pi*tt}", "relations.drive: unknown name 'tt'"),
    ("relations: {drive: q.c}", "relations.drive: unknown quantity 'q.c'"),
    ("relations: {drive: qdd.a - 1}", "relations.drive: 'qdd.a' is no position or velocity; a rel"),
    ("relations: {drive: points.tip.ax}", "relations.drive: 'points.tip.ax' is no position or ve"),
    ("relations: {rolls: qd.a*(1 + q.a*points.tip.vx)}",
     "relations.rolls: velocities are multiplied by each other; a relation is linear"),
    ("relations: {rolls: q.a/qd.a}", "relations.rolls: a divisor contains velocities; a relation"),
    ("relations: {rolls: t + qd.a**2}", "relations.rolls: velocities are raised to a power; a rel"),
    ("relations: {rolls: sin(q.a - qd.a)}", "relations.rolls: velocities are in the argument of "),
    ("relations: {rolls: qd.c - 1}", "relations.rolls: unknown quantity 'qd.c'"),
    ("relations: {rolls: qd.a = qd.b}", "relations.rolls: 'qd.a = qd.b': unexpected character '='; "
     "an expression has no equals sign; what is to be 0 is a difference, a - (b)"),
    ("relations: {rolls: qd.a*qd.b}", "relations.rolls: velocities are multiplied by each other; "),
    ("relations: {rolls: abs(qd.a)}", "relations.rolls: velocities are in the argument of abs; a "),
    ("relations: {rolls: qdd.a}", "relations.rolls: 'qdd.a' is no position or velocity; a relati"),
    ("relations: {rolls: points.tip.ax}", "relations.rolls: 'points.tip.ax' is no position or vel"),
    ("relations: {rolls: qd.a - w*L}", "relations.rolls: unknown name 'w'; expected a parameter "),
    ("relations: {drive: kinetic_energy - q.a}",
     "relations.drive: 'kinetic_energy' is no position"),
    ("relations: {drive: L - 1}", "relations.drive: nothing in this relation moves"),
    ("relations: [q.a]", "relations: expected a mapping (name: value)"),
    ("initial: {q: {c: 1}}", "initial.q.c: 'c' is no coordinate; there are 'a', 'b'"),
    ("initial: {q: {a: K}}", "initial.q.a: unknown name 'K'"),
    ("initial: {x: {a: 1}}", "initial.x: unknown key"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[text for text, _ in WRONG])
def test_wrong_mechanisms_say_what_and_where(text, message):
    (fault,) = faults(f"{MODEL}{text}\n")
    assert message in fault


def test_a_prescribed_joint_beside_a_relation_is_refused():
    """It would move freely, since `hybrid_dynamics` is not built for mechanisms."""
    held = MODEL.replace("name: a, type", "name: a, prescribed: true, type")
    (fault,) = faults(held + "relations: {gear: q.b - sin(q.a)}\n")
    assert "joints.a.prescribed: not available beside loops" in fault


def test_what_quaternions_begin_with():
    ball = "name: a, type: spherical, coordinates: quaternion"
    free = MODEL.replace("name: a, type: revolute", ball)
    drive = free + "relations: {drive: q.b - t}\n"
    robot = model(drive + "initial: {q: {b: 0.5}}\n")
    assert [x.text for x in robot.initial_q] == ["0", "0", "0", "1", "0.5"]
    for initial, message in (
        ("q: {a_qw: 0}", "the quaternion of 'a' is zero; expected a_qw: 1 or such"),
        ("q: {a_wx: 1}", "'a_wx' is no coordinate; did you mean"),
        ("qd: {a_qx: 1}", "'a_qx' is no coordinate; did you mean"),
    ):
        (fault,) = faults(f"{drive}initial: {{{initial}}}\n")
        assert message in fault


@pytest.mark.parametrize(("initial", "keys"), [
    ("q: {a: 90, b: -30}", ["initial.q.a", "initial.q.b"]), ("q: {a: 6, b: 90.5}", []),
    ("q: {a: 90*deg, b: 8*pi}, qd: {a: 90}", []),
])  # fmt: skip
def test_initial_angles_that_seem_to_be_in_degrees(initial, keys):
    warnings = model(f"{MODEL}initial: {{{initial}}}\n").warnings
    assert [x.key for x in warnings if "if degrees are meant" in x.message] == keys


def test_functions_of_the_open_tree_say_what_serves():
    text = MODEL + "relations: {drive: q.a - t}\n"
    robot = module(text, functions="constraints,mass_matrix")
    with pytest.raises(AttributeError, match="use constrained_forward_dynamics"):
        robot.forward_dynamics
    with pytest.raises(AttributeError, match="models with loops or relations"):
        robot.hybrid_dynamics_parameter_derivatives
