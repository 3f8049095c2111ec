"""q_rho, q_z rho and their rates: what constraints are by parameters, term by term.

The model has a parameter in every place that moves a frame, and rows of every kind.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
import yaml

from symgen.algebra.graph import Graph
from symgen.formulations import VARIANTS, derive
from symgen.formulations.semi_recursive import SEMI_RECURSIVE
from symgen.kinematics.tree import build_tree
from tests.choosing import slow
from tests.oracles.comparison import STEP, agrees
from tests.oracles.descriptions import described
from tests.oracles.lines import compared, slopes_of, values_of
from tests.oracles.parameter_kinds import EVERY_KIND, independent

THREE = (SEMI_RECURSIVE, *VARIANTS)
EACH = pytest.mark.parametrize("formulation", slow(*THREE), ids=lambda item: item.name)
CLOSED = """
joints:
  - {name: root, type: floating, coordinates: euler_parameters, parent: base,
     origin: {xyz: [ux, 0.1, px], rpy: [roll, yaw, 0.3]}, link: {mass: 1}}
  - {name: bolt, type: helical, pitch: ct, axis: [0.1, ay, 1], origin: {xyz: [0, px, 0.2]},
     link: {mass: 1}}
  - {name: ball, type: spherical, coordinates: euler_parameters,
     origin: {xyz: [0.1, cz, 0], rpy: [0, 0.2, yaw]}, link: {mass: 1}}
points:
  - {name: knob, link: ball, point: [px, cx, 0.3]}
  - {name: post, link: base, point: [half, 0, ct]}
loops:
  - {name: rod, type: distance, length: "0.5 + a1*ct",
     first: {link: base, origin: {xyz: [px, 0, 1]}},
     second: {link: tool, origin: {xyz: [0.1, half, 0]}}}
  - {name: seam, type: universal,
     first: {link: pendulum, origin: {xyz: [ct, 0, 0], rpy: [0, al, 0]}, axis: [0.1, ay, 0.3]},
     second: {link: ball, origin: {rpy: [roll, 0, 0]}, axis: [px, 0.2, 1]}}
  - {name: groove, type: prismatic, first: {link: flap, axis: [0, 1, 0.2]},
     second: {link: bolt, origin: {xyz: [0, 0, d1]}, axis: [roll, 0.4, 1]}}
relations:
  track: points.tip.x*th - sin(t*m1)*q.turn**2*al
  pace: (points.knob.y - points.post.z*points.mark.x)**2 - gear*t**2*q.screw_2
"""


@cache
def closed():
    """`EVERY_KIND` with three more bodies, closed, and its runtime parameters."""
    model, more = yaml.safe_load(EVERY_KIND), yaml.safe_load(CLOSED)
    for joint in model["joints"]:
        joint.pop("prescribed", None)
    for key in ("joints", "points"):
        model[key] += more.pop(key)
    description = described(yaml.safe_dump({**model, **more}))
    return description, independent(description)


@cache
def state():
    """Off the unit sphere, and where nothing is closed: all holds there, too."""
    description, runtime = closed()
    tree, random = build_tree(description, Graph()), np.random.default_rng(5)
    found = {name: random.normal(size=tree.n) for name in ("q", "qd", "qdd")}
    found["constraint_multipliers"] = random.normal(size=len(tree.constraint_names))
    return {**found, "t": np.array(0.7)}, {x: description.parameter_values[x] for x in runtime}


def later(steps):
    """The same state a complex step of time on."""
    now, _ = state()
    q, qd = (now[x] + 1j * STEP * now[f"{x}d"] for x in ("q", "qd"))
    return {**now, "q": q, "qd": qd, "t": now["t"] + 1j * STEP, **steps}


def term_of(line):
    """What a line is of: x_by for x_tip_by_3_z."""
    return re.match(r"r_J|u_d?dot|[A-Za-z]+", line)[0] + "_by" * ("_by_" in line)


def program_of(formulation, function):
    description, runtime = closed()
    return derive(build_tree(description, Graph(), runtime), formulation, function)


@EACH
def test_each_line_is_the_derivative_by_the_parameter_in_its_name(formulation):
    """(41), (43), (46), (53), (54): rows, points, vectors and axes, and all their rates."""
    terms = {
        "constraints": {"c"},
        "constraint_rates": {"cd", "v", "u_dot"},
        "constraint_acceleration": {"cdd", "v", "a", "u_dot", "u_ddot"},
        "constraint_torque": {"J", "p", "x_by", "u_by"},
        "point_motion": {"v", "a"},
    }
    given, runtime = state(), closed()[1]
    for name, expected in terms.items():
        program = program_of(formulation, f"{name}_parameter_derivatives")
        slopes = slopes_of(program, *given, "parameters")
        lines = compared(values_of(program, *given), slopes, runtime)
        assert {term_of(line) for line in lines} == expected | {"x", "u", "w", "o", "r_J"}


@EACH
def test_rates_of_turns_and_of_origins_are_rates(formulation):
    """(53), (57): of phi_i and (o_i)_rho, by a complex step of time."""
    program = program_of(formulation, "constraint_acceleration_parameter_derivatives")
    now, soon = values_of(program, *state()), values_of(program, later({}), state()[1])
    rates = {"phi_dot": "phi", "phi_ddot": "phi_dot", "o_rho_dot": "d_o", "o_rho_ddot": "o_rho_dot"}
    seen = set()
    for name, value in now.items():
        match = re.fullmatch(r"(phi_d?dot|o_rho_d?dot)(_.*)", name)
        if match:
            before = soon.get(rates[match[1]] + match[2], 0.0)
            assert agrees(value, np.imag(before) / STEP), name
            seen.add(match[1])
    assert seen == set(rates)


CASES = """
symgen: 1
name: cases
parameters: {one: 0.3, two: 0.2, own: 0.4}
joints:
  - {name: a, type: revolute, axis: [0.3, 0.4, 1], origin: {}, link: {mass: 1}}
  - {name: b, type: revolute, axis: [1, 0.2, 0], origin: {xyz: [one, 0.1, 0.2], rpy: [0.3, 0, 1]},
     link: {mass: 1}}
  - {name: c, type: revolute, axis: [0, 1, 0.5], origin: {xyz: ["0.5 - two", 0, 0.1]},
     link: {mass: 1}}
points: [{name: k, link: c, point: [own, 0.2, 0.3]}]
relations: {tie: "points.k.x + 2*points.k.y - points.k.z"}
"""


def test_local_coordinates_of_points_by_the_cases_of_the_paper():
    """(53): A_l where the point is the joint's on its first body, or r_k itself; -A_l where it is
    the joint's on the second body, for all others of that body come nearer.  (54): (A_l)_z.
    """
    description = described(CASES)
    runtime = tuple(description.parameter_values)
    tree, random = build_tree(description, Graph(), runtime), np.random.default_rng(2)
    given = {"q": random.normal(size=3), "constraint_multipliers": np.ones(1), "t": np.array(0.0)}
    program = derive(tree, SEMI_RECURSIVE, "constraint_torque_parameter_derivatives")
    values = values_of(program, given, description.parameter_values)
    slopes = slopes_of(program, given, description.parameter_values, "q")
    for parameter, body, sign in (("one", 1, 1), ("two", 2, -1), ("own", 3, 1)):
        for row, axis in enumerate("xyz", 1):
            column = f"A_{body}_{row}1"  # all are coordinates along x
            assert agrees(values[f"d_x_k_{axis}_d{parameter}"], sign * values[column])
            for j in (1, 2, 3):
                found = values.get(f"d_x_k_by_{j}_{axis}_d{parameter}", 0.0)
                assert agrees(found, sign * slopes[column][j - 1])
