"""Limits and terms of joints: scalars or lists, their signs, and what is missing beside them."""

from __future__ import annotations

import pytest

from symgen.description.expressions import evaluate
from symgen.description.model import JointTerms, Limits
from tests.description.reports import faults, model, one_joint, warnings

LINK = "link: {mass: 1, com: [0.1, 0.2, 0.3], inertia: {xx: 1, yy: 1, zz: 1}}"
REVOLUTE = f"type: revolute\ndh: {{}}\n{LINK}\n"
SPHERICAL = f"type: spherical\norigin: {{}}\n{LINK}\n"
TERMS = ("rotor_inertia", "gear_ratio", "damping", "stiffness", "rest", "friction",
         "friction_velocity")  # fmt: skip


def terms(text: str) -> list[dict[str, float]]:
    robot = model(text)
    values = robot.parameter_values
    return [
        {key: evaluate(getattr(term, key), values) for key in TERMS}
        for term in robot.joints[0].terms
    ]


def test_defaults() -> None:
    default = dict.fromkeys(TERMS, 0.0) | {"gear_ratio": 1.0, "friction_velocity": 1e-3}
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


def test_limits_are_scalars_or_lists() -> None:
    limits = "limits: {lower: [-1, -pi, -3], upper: 2, velocity: [4, 5, 6]}"
    assert model(one_joint(SPHERICAL + limits)).joints[0].limits == (
        Limits(-1.0, 2.0, 4.0),
        Limits(-3.141592653589793, 2.0, 5.0),
        Limits(-3.0, 2.0, 6.0),
    )


WRONG = {  # lines from 9
    SPHERICAL + "damping: [1, 2]": [
        "9: joints[0].damping: expected a number, or a list of 3 entries, one for each coordinate "
        "of a spherical joint, found 2"
    ],
    REVOLUTE + "friction: [1, 2]": [
        "9: joints[0].friction: expected a number, or a list of 1 entry, one for each coordinate "
        "of a revolute joint, found 2"
    ],
    SPHERICAL + "damping: [1, -2, b]\nfriction: {x: 1}\nrest: true\nstiffness: [1, [2], 3]": [
        "9: joints[0].damping[1]: negative (-2); expected zero or more",
        "9: joints[0].damping[2]: unknown name 'b'; expected a parameter of this file, pi or deg",
        "10: joints[0].friction: expected a number or an expression, or a list with one for each "
        "coordinate, found a mapping",
        "11: joints[0].rest: expected a number or an expression, or a list with one for each "
        "coordinate, found 'true'",
        "12: joints[0].stiffness[1]: expected a number or an expression, found a list",
    ],
    REVOLUTE + "rotor_inertia: -1\nfriction: -0.5\nfriction_velocity: 0\ngear_ratio: 1/0": [
        "9: joints[0].rotor_inertia: negative (-1); expected zero or more",
        "10: joints[0].friction: negative (-0.5); expected zero or more",
        "11: joints[0].friction_velocity: expected more than zero, found 0; it is the velocity at "
        "which friction reaches tanh(1) = 76 % of its size",
        "12: joints[0].gear_ratio: '1/0': division by zero",
    ],
    REVOLUTE + "mimic: b\nprescribed: t": [
        "9: joints[0].mimic: expected a mapping (key: value), for example {coordinate: .., "
        "multiplier: .., offset: ..}, found the text 'b'",
        "10: joints[0].prescribed: expected true or false, found the text 't'",
    ],
    REVOLUTE + "prescribed: [true, false]": [
        "9: joints[0].prescribed: expected true, false, or a list of 1, one for each coordinate of "
        "a revolute joint, found 2"
    ],
    f"type: fixed\ndh: {{}}\n{LINK}\n" + "\n".join(f"{key}: 1" for key in TERMS): [
        f"{line}: joints[0].{key}: a fixed joint does not move; remove '{key}'"
        for line, key in enumerate(TERMS, start=9)
    ],
    f"type: ball\norigin: {{}}\n{LINK}\ndamping: [1, 2, c]\nlimits: {{lower: [1, d]}}": [
        "6: joints[0].type: 'ball' is no joint type here; write spherical",
        "9: joints[0].damping[2]: unknown name 'c'; expected a parameter of this file, pi or deg",
        "10: joints[0].limits.lower[1]: unknown name 'd'; expected a parameter of this file, pi or "
        "deg",
    ],
}


@pytest.mark.parametrize("keys", WRONG)
def test_wrong_options(keys: str) -> None:
    assert faults(one_joint(keys)) == WRONG[keys]


REMARKS = {  # lines from 9
    "rest: 1": ["9: joints[0].rest: says nothing without 'stiffness'"],
    "gear_ratio: 100": ["9: joints[0].gear_ratio: says nothing without 'rotor_inertia'"],
    "friction_velocity: 1": ["9: joints[0].friction_velocity: says nothing without 'friction'"],
    "rest: 1\nstiffness: 0": [],
    "stiffness: -2": [
        "9: joints[0].stiffness: negative (-2): this spring pushes away from its rest position"
    ],
    "rotor_inertia: 1\ngear_ratio: 0": [
        "10: joints[0].gear_ratio: zero: the joint does not feel the inertia of its rotor"
    ],
    "rotor_inertia: 1\ngear_ratio: -50": [],
    "rotor_inertia: 0\ndamping: 0\nfriction: 0": [],
}


@pytest.mark.parametrize("keys", REMARKS)
def test_remarks_on_options(keys: str) -> None:
    assert warnings(one_joint(REVOLUTE + keys)) == REMARKS[keys]


def test_remarks_on_entries_of_lists() -> None:
    assert warnings(one_joint(f"{SPHERICAL}stiffness: [1, -2, -3]")) == [
        "9: joints[0].stiffness[1]: negative (-2): this spring pushes away from its rest position",
        "9: joints[0].stiffness[2]: negative (-3): this spring pushes away from its rest position",
    ]


def test_parameters_of_options_are_used() -> None:
    keys = "rotor_inertia: a\ndamping: [b]\nlimits: {upper: c, lower: [d]}"
    text = one_joint(REVOLUTE + keys) + "parameters: {a: 1, b: 1, c: 1, d: 1, e: 1}\n"
    assert warnings(text) == ["12: parameters.e: this parameter is not used"]


def test_a_rotor_resists_a_joint_without_mass() -> None:
    end = (
        "5: joints[0]: the link 'a' ends a chain and has neither mass nor inertia, so that nothing "
        "resists its joint"
    )
    assert warnings(one_joint("type: revolute\ndh: {}")) == [end]
    assert warnings(one_joint("type: revolute\ndh: {}\nrotor_inertia: 1e-5")) == []
    assert warnings(one_joint("type: revolute\ndh: {}\nrotor_inertia: 0")) == [end]
    assert end in warnings(one_joint("type: revolute\ndh: {}\nrotor_inertia: 1\ngear_ratio: 0"))
    assert warnings(one_joint("type: revolute\ndh: {}\ndamping: 1\nstiffness: 1")) == [end]
