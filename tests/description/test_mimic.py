"""`mimic` in a model file: what it may say, and every fault in one report."""

from __future__ import annotations

import pytest

from symgen.algebra.graph import Graph
from symgen.converting.conversion import model_text
from symgen.description.reading import compose
from symgen.kinematics.tree import build_tree
from tests.description.reports import faults, model, rows, warnings

START = """symgen: 1
name: robot
parameters: {r: 0.05, k: 2}
joints:
"""
LINK = "link: {mass: 1, com: [0.1, 0.2, 0.3], inertia: {xx: 1, yy: 1, zz: 1}}"


def robot(**joints: str) -> str:
    """A model of joints by name, each with its type and what else it says, one in a line."""
    lines = [f"  - {{name: {name}, origin: {{}}, {LINK}, {keys}}}" for name, keys in joints.items()]
    return START + "\n".join(lines) + "\n"


def test_what_follows_is_no_coordinate() -> None:
    text = robot(
        a="type: revolute, mimic: {coordinate: c, multiplier: -2*r, offset: pi/2}",
        b="type: spherical",
        c="type: prismatic, mimic: {coordinate: b_2}",
        d="type: fixed",
        e="type: revolute",
    )
    description = model(text)
    assert description.coordinate_names == ("b_1", "b_2", "b_3", "e")
    first, _, second, *_ = description.joints
    assert first.mimic is not None and second.mimic is not None
    assert (first.mimic.coordinate, second.mimic.coordinate) == ("c", "b_2")
    assert second.mimic.multiplier.text == "1" and second.mimic.offset.text == "0"
    again = model(model_text(compose(text, "robot.yaml")))
    assert [joint.mimic for joint in again.joints] == [joint.mimic for joint in description.joints]


def test_followers_of_followers_follow_the_first_of_them() -> None:
    description = model(
        robot(
            a="type: revolute, mimic: {coordinate: b, multiplier: 2, offset: 1}",
            b="type: revolute, mimic: {coordinate: c, multiplier: -3, offset: 5}",
            c="type: revolute",
        )
    )
    tree = build_tree(description, Graph())
    assert [joint.name for joint in tree.independent] == ["c"]
    assert tree.coordinate_numbers == (1, 1, 1)
    found = [joint.following for joint in tree.joints[:2]]
    assert [x and x.leader for x in found] == [3, 3]
    assert [x and x.multiplier.value for x in found] == [-6.0, -3.0]
    assert [x and x.offset.value for x in found] == [11.0, 5.0]
    assert (tree.n, tree.sizes["n"], tree.sizes["n_joints"]) == (3, 1, 3)


def test_a_multiplier_of_zero_is_remarked() -> None:
    text = robot(a="type: revolute", b="type: revolute, mimic: {coordinate: a, multiplier: 0}")
    assert warnings(text)[2:] == [  # behind those of parameters that are not used
        "6: joints.b.mimic.multiplier: zero: the joint does not move, it stays at its offset"
    ]


def test_a_link_without_mass_is_remarked_only_where_nothing_is_tied_to_its_joint() -> None:
    lines = [
        "  - {name: a, type: revolute, origin: {}}",
        "  - {name: b, type: revolute, parent: base, origin: {}, mimic: {coordinate: a}}",
        "  - {name: c, type: revolute, parent: base, origin: {}}",
    ]
    found = warnings(START + "\n".join(lines) + "\n")
    assert [line.split(":")[0] for line in found if "nothing resists" in line] == ["7"]


WRONG = {
    "type: revolute, mimic: {coordinate: hop}":
        "mimic.coordinate: 'hop' names no coordinate; did you mean 'hip'?",
    "type: revolute, mimic: {coordinate: ball}":
        "mimic.coordinate: 'ball' has several coordinates; name one: 'ball_1', 'ball_2', 'ball_3'",
    "type: revolute, mimic: {coordinate: plate}":
        "mimic.coordinate: 'plate' names no coordinate; expected that of a joint that moves",
    "type: revolute, mimic: {coordinate: x}": "mimic.coordinate: 'x' is this joint itself",
    "type: revolute, mimic: {multiplier: z, offset: [1]}":
        "mimic.coordinate: this key is required and missing; expected the name of the coordinate "
        "that the joint follows\n"
        "mimic.offset: expected a number or an expression, found a list\n"
        "mimic.multiplier: unknown name 'z'; expected a parameter of this file, pi or deg",
    "type: fixed, mimic: {coordinate: hip}": "mimic: a fixed joint does not move; remove 'mimic'",
    "type: universal, mimic: {coordinate: hip}":
        "mimic: only a joint of one coordinate can follow another; a universal joint has 2",
    "type: revolute, prescribed: true, mimic: {coordinate: hip}":
        "prescribed: the motion of a joint with 'mimic' follows from that of another one; "
        "prescribe that",
}  # fmt: skip


def with_x(keys: str) -> str:
    return robot(hip="type: revolute", ball="type: spherical", plate="type: fixed", x=keys)


@pytest.mark.parametrize(("text", "report"), rows(WRONG, with_x))
def test_wrong_followers(text: str, report: str) -> None:
    assert [line.removeprefix("8: joints.x.") for line in faults(text)] == report.split("\n")


def test_circles_are_reported_once_each() -> None:
    text = robot(
        a="type: revolute, mimic: {coordinate: b}",
        b="type: revolute, mimic: {coordinate: c}",
        c="type: revolute, mimic: {coordinate: b}",
        d="type: revolute, mimic: {coordinate: e}",
        e="type: revolute, mimic: {coordinate: d}",
        f="type: revolute",
    )
    assert faults(text) == [
        "6: joints.b.mimic.coordinate: joints that follow each other in a circle: 'b' follows 'c' "
        "follows 'b'",
        "8: joints.d.mimic.coordinate: joints that follow each other in a circle: 'd' follows 'e' "
        "follows 'd'",
    ]


def test_outputs_speak_of_coordinates_and_of_all_wrenches() -> None:
    text = robot(a="type: revolute", b="type: revolute, mimic: {coordinate: a}")
    assert model(f"{text}outputs: {{o: q.a + wrenches.b.nx}}\n").outputs
    assert faults(f"{text}outputs: {{o: qd.b}}\n") == [
        "7: outputs.o: unknown quantity 'qd.b'; there is 'a'"
    ]
