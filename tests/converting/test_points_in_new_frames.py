"""Restyled models: loads, points, springs and forces stay where they are."""

import numpy as np
import pytest

from symgen.converting.restyling import STYLES, restyled
from symgen.description.checks import check
from symgen.description.reading import compose
from symgen.description.writing import model_text
from symgen.validation.oracles import NumericRobot

MODEL = """
symgen: 1
name: arm
gravity: [0, -9.81, 0]
parameters: {k: 40}
joints:
  - {name: a, type: revolute, origin: {xyz: [0, 0, 0.3]}, axis: [0, 1, 0],
     link: {mass: 1, com: [0.2, 0, 0.1], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
  - {name: b, type: revolute, origin: {xyz: [0.5, 0.1, 0.1]}, axis: [0, 0.6, 0.8],
     link: {mass: 2, com: [0.1, 0.1, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
points:
  - {name: hand, link: b, point: [0.1, 0.2, 0.3]}
springs:
  - {name: s, between: [{link: a, point: [0.1, k/100, 0]}, {point: hand}], stiffness: k}
  - {name: t, between: [{link: base}, {link: b, point: [0, 0.3, 0]}], stiffness: 9, damping: 1}
forces:
  - {name: f, link: b, point: [0.3, 0, 0.1], force: [-points.hand.vx, q.a, 0], torque: [0, qd.b, 0]}
"""


@pytest.mark.parametrize("style", STYLES)
def test_torques_are_the_same(style):
    document = compose(MODEL, "arm.yaml")
    written, _ = restyled(document, style)
    again = check(compose(model_text(written), "again.yaml"))
    rng = np.random.default_rng(4)
    q, qd, qdd = rng.normal(size=(3, 5, 2))
    robots = [NumericRobot(model) for model in (check(document), again)]
    assert np.allclose(*(robot.inverse_dynamics(q, qd, qdd) for robot in robots), rtol=1e-9)
