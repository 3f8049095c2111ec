"""Derivatives of constraints by coordinates and by parameters, line by line.

The model has a parameter in every place that moves a frame, and rows of every kind.
`test_constraint_equations` has the printed equations."""

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
from tests.choosing import deep, slow
from tests.mechanisms.models import BY_STATE, FOUR_BAR, loaded
from tests.modules import described
from tests.oracles.lines import compared, slopes_of, values_of
from tests.oracles.parameter_kinds import EVERY_KIND

THREE = (SEMI_RECURSIVE, *VARIANTS)
CASES = [*slow(THREE[0]), *deep(*THREE[1:])]
EACH = pytest.mark.parametrize("formulation", CASES, ids=lambda item: item.name)
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
  blend: points.tip.y*q.turn**2*half + points.mark.x*q.flap*sin(t*ct)
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
    return description, description.independent_parameters


@cache
def state():
    """Off the unit sphere, and where nothing is closed: all holds there, too."""
    description, runtime = closed()
    tree, random = build_tree(description, Graph()), np.random.default_rng(5)
    found = {name: random.normal(size=tree.n) for name in ("q", "qd", "qdd")}
    found["constraint_multipliers"] = random.normal(size=len(tree.constraint_names))
    return {**found, "t": np.array(0.7)}, {x: description.parameter_values[x] for x in runtime}


TERMS = {
    "constraint_torque_derivatives": ("q", "A J p r_J u u_by w x x_by"),
    "constraint_acceleration_derivatives": (
        "q", "A a alpha b b_dot cd cdd d omega u u_ddot u_dot v w x",
    ),
    "constraints_parameter_derivatives": ("parameters", "A c o r_J u w x"),
    "constraint_rates_parameter_derivatives": ("parameters", "A b cd o omega r_J u u_dot v w x"),
    "constraint_acceleration_parameter_derivatives": (
        "parameters", "A a alpha b b_dot cd cdd d o omega r_J u u_ddot u_dot v w x",
    ),
    "constraint_torque_parameter_derivatives": ("parameters", "A J o p r_J u u_by w x x_by"),
    "point_motion_parameter_derivatives": ("parameters", "A a alpha b b_dot d o omega r_J u v w x"),
}  # fmt: skip
"""By function: the variable of its derivatives, and the lines that have some."""


def term_of(line):
    """Return what a line is of: x_by for x_tip_by_3_z."""
    return re.match(r"r_J|[ub]_d?dot|[A-Za-z]+", line)[0] + "_by" * ("_by_" in line)


@pytest.mark.parametrize("function", TERMS)
@EACH
def test_each_line_is_the_derivative_that_its_name_says(formulation, function):
    """Rows, points, vectors and axes, and all their rates."""
    description, runtime = closed()
    tree, (by, terms) = build_tree(description, Graph(), runtime), TERMS[function]
    program, given = derive(tree, formulation, function), state()
    names = runtime if by == "parameters" else [f"q_{k + 1}" for k in range(tree.n)]
    lines = compared(values_of(program, *given), slopes_of(program, *given, by), names)
    assert {term_of(line) for line in lines} >= {*terms.split()}


@pytest.mark.slow
def test_the_semi_recursive_formulation_serves_alone():
    """Accelerations, multipliers and their derivatives are those of the fastest formulations."""
    whole, alone = (
        loaded(FOUR_BAR, BY_STATE, **x) for x in ({}, {"formulations": "semi_recursive"})
    )
    assert tuple(alone.formulations) == ("semi_recursive",)
    q = whole.assemble(hold=["crank"])
    assert np.allclose(alone.assemble(hold=["crank"]), q, atol=1e-12)
    state = q, whole.closed_velocities(q, whole.initial_qd), [1.3, 0, 0]
    results = [x.constrained_forward_dynamics_derivatives(*state) for x in (whole, alone)]
    for one, other in zip(*results, strict=True):
        assert np.allclose(one, other, atol=1e-10, equal_nan=True)
