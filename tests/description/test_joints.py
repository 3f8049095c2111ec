"""Joints: limits and terms as scalars or lists; keys of types, their axes, the names they make."""

from __future__ import annotations

from typing import Any

import pytest

from symgen.description.expressions import evaluate
from symgen.description.model import JointTerms, Limits
from symgen.joints import JOINTS
from tests.description.reports import faults, model, one_joint, rows, warnings, with_header

LINK = "link: {mass: 1, com: [0.1, 0.2, 0.3], inertia: {xx: 1, yy: 1, zz: 1}}"
REVOLUTE = f"type: revolute\ndh: {{}}\n{LINK}\n"
SPHERICAL = f"type: spherical\norigin: {{}}\n{LINK}\n"
TERMS = ("rotor_inertia", "gear_ratio", "damping", "stiffness", "rest", "friction",
         "friction_velocity")  # fmt: skip
LOSSES = ("damping_backward", "friction_backward", "static_friction", "static_friction_backward",
          "stribeck_velocity")  # fmt: skip


def terms(text: str) -> list[dict[str, float]]:
    robot = model(text)
    values = robot.parameter_values
    return [
        {key: evaluate(getattr(term.complete, key), values) for key in (*TERMS, *LOSSES)}
        for term in robot.joints[0].terms
    ]


def test_defaults() -> None:
    default = dict.fromkeys((*TERMS, *LOSSES), 0.0)
    default |= {"gear_ratio": 1.0, "friction_velocity": 1e-3, "stribeck_velocity": 1.0}
    assert terms(one_joint(REVOLUTE)) == [default]
    assert terms(one_joint(SPHERICAL)) == [default] * 3
    assert model(one_joint(SPHERICAL)).joints[0].terms == (JointTerms(),) * 3
    assert model(one_joint(SPHERICAL)).joints[0].limits == (Limits(),) * 3


@pytest.mark.parametrize("key", TERMS)
def test_a_scalar_is_for_all_and_a_list_has_one_entry_each(key: str) -> None:
    parameters = "parameters: {k: 3}\n"
    scalar = terms(one_joint(f"{SPHERICAL}{key}: 2*k") + parameters)
    assert [term[key] for term in scalar] == [6.0] * 3
    listed = terms(one_joint(f"{SPHERICAL}{key}: [1, 2*k, k/2]") + parameters)
    assert [term[key] for term in listed] == [1.0, 6.0, 1.5]
    single = terms(one_joint(f"{REVOLUTE}{key}: [k]") + parameters)
    assert [term[key] for term in single] == [3.0]
    others = [other for other in TERMS if other != key]
    default = terms(one_joint(REVOLUTE))[0]
    assert all(term[other] == default[other] for term in listed for other in others)


def test_losses_have_the_defaults_of_the_other_direction() -> None:
    keys = "damping: 1\nfriction: 2\nfriction_backward: 3"
    (plain,) = terms(one_joint(REVOLUTE + keys))
    assert [plain[key] for key in LOSSES[:4]] == [1.0, 3.0, 2.0, 3.0]
    (stribeck,) = terms(one_joint(f"{REVOLUTE}{keys}\nstatic_friction: 4\nstribeck_velocity: 0.1"))
    assert [stribeck[key] for key in LOSSES] == [1.0, 3.0, 4.0, 4.0, 0.1]


def test_limits_are_scalars_or_lists() -> None:
    limits = "limits: {lower: [-1, -pi, -3], upper: 2, velocity: [4, 5, 6]}"
    assert model(one_joint(SPHERICAL + limits)).joints[0].limits == (
        Limits(-1.0, 2.0, 4.0),
        Limits(-3.141592653589793, 2.0, 5.0),
        Limits(-3.0, 2.0, 6.0),
    )


WRONG = {  # lines from 9
    SPHERICAL + "damping: [1, 2]":
        "9: joints.a.damping: expected a number, or a list of 3 entries, one for each coordinate "
        "of a spherical joint, found 2",
    SPHERICAL + "damping: [1, -2, b]\nfriction: {x: 1}\nrest: true\nstiffness: [1, [2], 3]":
        "9: joints.a.damping[2]: negative (-2); expected zero or more\n"
        "9: joints.a.damping[3]: unknown name 'b'; expected a parameter of this file, pi or deg\n"
        "10: joints.a.friction: expected a number or an expression, or a list with one for each "
        "coordinate, found a mapping; damping, friction_backward, static_friction and "
        "stribeck_velocity are keys of the joint\n"
        "11: joints.a.rest: expected a number or an expression, or a list with one for each "
        "coordinate, found 'true'\n"
        "12: joints.a.stiffness[2]: expected a number or an expression, found a list",
    REVOLUTE + "rotor_inertia: -1\nfriction: -0.5\nfriction_velocity: 0\ngear_ratio: 1/0":
        "9: joints.a.rotor_inertia: negative (-1); expected zero or more\n"
        "10: joints.a.friction: negative (-0.5); expected zero or more\n"
        "11: joints.a.friction_velocity: expected more than zero, found 0; it is the velocity at "
        "which friction reaches tanh(1) = 76 % of its size\n"
        "12: joints.a.gear_ratio: '1/0': division by zero",
    REVOLUTE + "damping_backward: 1\nfriction_backward: -1\nstatic_friction: 2":
        "9: joints.a.damping_backward: 'damping' is missing; it holds at positive velocity\n"
        "10: joints.a.friction_backward: negative (-1); expected zero or more\n"
        "10: joints.a.friction_backward: 'friction' is missing; it holds at positive velocity\n"
        "11: joints.a.static_friction: 'stribeck_velocity' is missing; over this velocity "
        "friction falls from its static value, for example 0.05 rad/s",
    REVOLUTE + "friction: 2\nfriction_velocity: 0.1\nstatic_friction: 1\nstribeck_velocity: 0.1":
        "11: joints.a.static_friction: 1 is less than the friction at high speed, 2; static "
        "friction is the larger one\n"
        "12: joints.a.stribeck_velocity: 0.1 is not more than 'friction_velocity', 0.1; friction "
        "has to reach its static value before it falls",
    REVOLUTE + "static_friction: 1\nstatic_friction_backward: x\nstribeck_velocity: 0":
        "10: joints.a.static_friction_backward: unknown name 'x'; expected a parameter of this "
        "file, pi or deg\n"
        "11: joints.a.stribeck_velocity: expected more than zero, found 0; it is the velocity at "
        "which exp(-1) = 37 % of what static friction adds are left",
    REVOLUTE + "coulomb: 1\nviscous: 2\nstiction: 3\ndamping_forward: 4":
        "9: joints.a.coulomb: unknown key; did you mean 'friction'?\n"
        "10: joints.a.viscous: unknown key; did you mean 'damping'?\n"
        "11: joints.a.stiction: unknown key; did you mean 'static_friction'?\n"
        "12: joints.a.damping_forward: unknown key; did you mean 'damping'?",
    REVOLUTE + "friction: [1, 2]":
        "9: joints.a.friction: expected a number, or a list of 1 entry, one for each coordinate "
        "of a revolute joint, found 2; for either direction of motion write 'friction: ..' "
        "and 'friction_backward: ..'",
    REVOLUTE + "mimic: b\nprescribed: t":
        "9: joints.a.mimic: expected a mapping (key: value), for example {coordinate: .., "
        "multiplier: .., offset: ..}, found the text 'b'\n"
        "10: joints.a.prescribed: expected true or false, found the text 't'",
    REVOLUTE + "prescribed: [true, false]":
        "9: joints.a.prescribed: expected true, false, or a list of 1, one for each coordinate "
        "of a revolute joint, found 2",
    f"type: fixed\norigin: {{}}\n{LINK}\n" + "\n".join(f"{key}: 1" for key in TERMS):
        "\n".join(
            f"{line}: joints.a.{key}: a fixed joint does not move; remove '{key}'"
            for line, key in enumerate(TERMS, start=9)
        ),
    f"type: ball\norigin: {{}}\n{LINK}\ndamping: [1, 2, c]\nlimits: {{lower: [1, d]}}":
        "6: joints.a.type: 'ball' is no joint type here; write spherical\n"
        "9: joints.a.damping[3]: unknown name 'c'; expected a parameter of this file, pi or deg\n"
        "10: joints.a.limits.lower[2]: unknown name 'd'; expected a parameter of this file, pi "
        "or deg",
}  # fmt: skip

REMARKS = {  # lines from 9
    "rest: 1": "9: joints.a.rest: says nothing without 'stiffness'",
    "gear_ratio: 100": "9: joints.a.gear_ratio: says nothing without 'rotor_inertia'",
    "friction_velocity: 1": "9: joints.a.friction_velocity: says nothing without 'friction'",
    "stribeck_velocity: 1": "9: joints.a.stribeck_velocity: says nothing without "
        "'static_friction'",
    "rest: 1\nstiffness: 0": "",
    "stiffness: -2":
        "9: joints.a.stiffness: negative (-2): this spring pushes away from its rest position",
    "rotor_inertia: 1\ngear_ratio: 0":
        "10: joints.a.gear_ratio: zero: the inertia of the rotor has no effect on the joint",
    "rotor_inertia: 1\ngear_ratio: -50": "",
    "rotor_inertia: 0\ndamping: 0\nfriction: 0": "",
}  # fmt: skip


def test_parameters_of_options_are_used() -> None:
    keys = "rotor_inertia: a\ndamping: [b]\nlimits: {upper: c, lower: [d]}"
    text = one_joint(REVOLUTE + keys) + "parameters: {a: 1, b: 1, c: 1, d: 1, e: 1}\n"
    assert warnings(text) == ["12: parameters.e: this parameter is not used"]


SEQUENCES = "zyx, xyz, xzy, yxz, yzx, zxy, xyx, xzx, yxy, yzy, zxz, zyz"
PAIRS = "[x, y], [x, z], [y, x], [y, z], [z, x], [z, y]"


def test_joints_on_manifolds() -> None:
    keys = f"origin: {{}}\ncoordinates: quaternion\n{LINK}"
    (joint,) = model(one_joint(f"type: spherical\n{keys}")).joints
    assert joint.coordinate_names == ("a_wx", "a_wy", "a_wz")
    assert joint.position_names == ("a_qx", "a_qy", "a_qz", "a_qw")
    (joint,) = model(one_joint(f"type: floating\n{keys}")).joints
    assert (joint.coordinates, len(joint.position_names)) == (6, 7)
    (joint,) = model(one_joint(f"type: floating\n{keys.replace('quaternion', 'angles')}")).joints
    assert joint.position_names == joint.coordinate_names


WRONG_AXES = {  # lines from 6
    "type: revolute\norigin: {}\ncoordinates: quaternion":
        "8: joints.a.coordinates: a revolute joint takes no 'coordinates'; spherical and "
        "floating joints do",
    "type: spherical\norigin: {}\ncoordinates: quaternions":
        "8: joints.a.coordinates: expected angles, quaternion or euler_parameters, found the "
        "text 'quaternions'; did you mean 'quaternion'?",
    "type: spherical\norigin: {}\ncoordinates: euler_parameters\nsequence: xyz\n"
    "limits: {velocity: 3}\nstiffness: 2":
        "9: joints.a.sequence: says nothing beside 'coordinates: euler_parameters'; remove it\n"
        "10: joints.a.limits: 'limits' means nothing for one of four Euler parameters; remove "
        "it, or write 'coordinates: quaternion'\n"
        "11: joints.a.stiffness: 'stiffness' means nothing for one of four Euler parameters; "
        "remove it, or write 'coordinates: quaternion'",
    "type: spherical\norigin: {}\ncoordinates: quaternion\nsequence: xyz\nstiffness: [3, 3, 4]\n"
    "limits: {lower: 0}\nprescribed: [true, true, false]":
        "9: joints.a.sequence: says nothing beside 'coordinates: quaternion'; remove it\n"
        "10: joints.a.stiffness: expected a number, or the same three times for rotation: such a "
        "spring pulls along the shortest way to its rest\n"
        "11: joints.a.limits.lower: 'lower' means nothing beside 'coordinates: quaternion': an "
        "attitude has no limits entry by entry; remove it ('velocity' and 'effort' may stay), or "
        "write 'coordinates: angles'\n"
        "12: joints.a.prescribed: expected true or false beside 'coordinates: quaternion': the "
        "joint is prescribed as a whole",
    "type: spherical\norigin: {}\ncoordinates: quaternion\nstiffness: 3\nrest: 0":
        "10: joints.a.rest: expected a list of 4, the entries qx qy qz qw of q at which the "
        "spring is slack",
    "type: floating\norigin: {}\ncoordinates: quaternion\nstiffness: 3\n"
    "rest: [1, 2, 3, 0, 0, 0, 0]":
        "10: joints.a.rest: the quaternion is zero; expected [..., 0, 0, 0, 1] or such",
    "type: spherical":
        "5: joints.a: a spherical joint needs 'origin: {xyz, rpy}', perhaps 'origin: {}'",
    "type: cylindrical\nbefore: {}\ndh: {}\naxis: [0, 0, 1]":
        "7: joints.a.before: 'before' stands only beside 'dh'; put this transform into 'origin'\n"
        "8: joints.a.dh: a cylindrical joint takes 'origin: {xyz, rpy}', not 'dh'",
    "type: spherical\norigin: {}\naxis: [0, 0, 1]\naxes: [x, y]":
        "8: joints.a.axis: a spherical joint takes 'sequence', not 'axis'\n"
        "9: joints.a.axes: a spherical joint takes 'sequence', not 'axes'",
    "type: fixed\norigin: {}\naxes: [x, y]\nsequence: zyx":
        "8: joints.a.axes: a fixed joint does not move; remove 'axes'\n"
        "9: joints.a.sequence: a fixed joint does not move; remove 'sequence'",
    "type: universal\norigin: {}\naxes: [x, x]":
        f"8: joints.a.axes: expected one of {PAIRS}, found '[x, x]'",
    "type: universal\norigin: {}\naxes: xy":
        "8: joints.a.axes: expected a list of axes such as [x, y], found the text 'xy'",
    "type: spherical\norigin: {}\nsequence: zzx":
        f"8: joints.a.sequence: expected one of {SEQUENCES}, found 'zzx'",
    "type: spherical\norigin: {}\nsequence: ZYX":
        f"8: joints.a.sequence: expected one of {SEQUENCES}, found 'ZYX'; did you mean 'zyx'?",
    "type: floating\norigin: {}\nsequence: [z, y, x]":
        "8: joints.a.sequence: expected a sequence of axes such as zyx, found a list",
}  # fmt: skip


@pytest.mark.parametrize(("text", "report"), rows({**WRONG, **WRONG_AXES}, one_joint))
def test_wrong_joints(text: str, report: str) -> None:
    assert faults(text) == report.split("\n")


@pytest.mark.parametrize("kind", JOINTS, ids=lambda kind: kind.name)
def test_every_type_with_every_sequence_is_read(kind: Any) -> None:
    for sequence in kind.sequences:
        written = f"[{', '.join(sequence)}]" if "axes" in kind.keys else sequence
        key = "axes" if "axes" in kind.keys else "sequence"
        (joint,) = model(one_joint(f"type: {kind.name}\norigin: {{}}\n{key}: {written}")).joints
        assert joint.sequence == sequence
    pitch = "\npitch: 0.1" if "pitch" in kind.keys else ""
    text = one_joint(f"type: {kind.name}\norigin: {{}}{pitch}\n{LINK}")
    (joint,) = model(text).joints
    assert joint.sequence == (kind.sequences or ("",))[0]
    n = kind.coordinates
    names = tuple(f"a_{i}" for i in range(1, n + 1)) if n > 1 else ("a",)[:n]
    assert joint.coordinate_names == names
    assert len(joint.limits) == len(joint.terms) == n
    assert (joint.axis is not None) == ("axis" in kind.keys)
    assert warnings(text) == []


HIP = "{name: hip, type: universal, origin: {}, link: {name: thigh, mass: 1, com: [1, 1, 1]}}"
KNEE = "{name: knee, type: revolute, origin: {}, link: {mass: 1, com: [1, 0, 0]}}"


def chain(*joints: str) -> str:
    return with_header("joints:\n" + "".join(f"  - {joint}\n" for joint in joints))


def test_a_parent_that_names_the_joint_means_its_last_link() -> None:
    robot = model(chain(HIP, KNEE, KNEE.replace("knee", "toe, parent: hip")))
    assert [joint.parent for joint in robot.joints] == ["base", "thigh", "thigh"]


TAKEN = (
    "joints[{}].name: '{}', a coordinate of this joint, is already the name of a joint or link, in "
    "line {}"
)
NAMES = {
    chain(HIP, KNEE.replace("knee", "hip_2")): f"5: {TAKEN.format(1, 'hip_2', 6)}",
    chain(HIP.replace("name: thigh", "name: hip_2"), KNEE): f"5: {TAKEN.format(1, 'hip_2', 5)}",
    chain(KNEE.replace("knee", "hip_1"), HIP): f"6: {TAKEN.format(2, 'hip_1', 5)}",
    chain(HIP, KNEE.replace("knee", "hip_3")): "",  # there are two only
    chain(KNEE.replace("knee", "hip"), KNEE.replace("knee", "hip_1")): "",
    chain(HIP, KNEE.replace("knee", "knee, parent: hip_2")):
        "6: joints.knee.parent: 'hip_2' names no joint or link listed before; did you mean 'hip'?",
    chain(HIP.replace("hip", "h" * 63)):
        f"5: joints[1].name: the coordinates of this joint would be called '{'h' * 57}...' and so "
        "on; 62 characters are allowed here",
    chain(HIP.replace("hip", "h" * 62)): "",
    chain(KNEE.replace("knee", "k" * 64)): "",
}  # fmt: skip


@pytest.mark.parametrize(("text", "report"), rows(NAMES))
def test_names_of_coordinates(text: str, report: str) -> None:
    assert (faults(text) if report else list(model(text).loads)) == report.splitlines()


HAND = "type: revolute\ndh: {}\n"
FREE = (
    "5: joints.{}: the link '{}' ends a chain and has neither mass nor inertia, so that nothing "
    "resists its joint"
)
MASSLESS = chain(HIP.replace("mass: 1, com: [1, 1, 1]", "mass: 0"))
ROTORS = MASSLESS.replace("origin: {}", "origin: {}, rotor_inertia: [0.1, 0.2]")
ENDS = {
    one_joint(HAND): FREE.format("a", "a"),
    one_joint(HAND + "rotor_inertia: 1e-5"): "",
    one_joint(HAND + "rotor_inertia: 0"): FREE.format("a", "a"),
    one_joint(HAND + "rotor_inertia: 1\ngear_ratio: 0"):
        FREE.format("a", "a") + "\n9: joints.a.gear_ratio: zero: the inertia of the rotor has "
        "no effect on the joint",
    one_joint(HAND + "damping: 1\nstiffness: 1"): FREE.format("a", "a"),
    MASSLESS: FREE.format("hip", "thigh"),
    ROTORS: "",
    ROTORS.replace("0.2]", "0]"): FREE.format("hip", "thigh"),  # one motion is free all the same
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "report"), [*rows(REMARKS, lambda keys: one_joint(REVOLUTE + keys)), *rows(ENDS)]
)
def test_remarks_on_options_and_massless_ends(text: str, report: str) -> None:
    assert warnings(text) == report.splitlines()
