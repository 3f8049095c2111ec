"""Badly scaled models are no reason to fail, and ordinary ones get no slack."""

from pathlib import Path

import pytest

from symgen import read
from symgen.formulations import FORMULATIONS, formulation_named
from symgen.validation.conditioning import condition, singularity_warnings
from tests.choosing import deep, one_in
from tests.oracles.descriptions import described
from tests.oracles.programs import validation_of

EXAMPLES = Path(__file__).parents[2] / "examples"
MODEL = """
symgen: 1
name: scaled
convention: standard
parameters: {{a: {a}, alpha: {alpha}, m: {m}, i: {i}}}
joints:
  - name: first
    type: {kind}
    dh: {{a: a, alpha: alpha}}
    link: {{mass: m, com: [0.1, 0.2, 0.3], inertia: {{xx: i, yy: i, zz: i}}}}
  - name: arm
    type: revolute
    dh: {{a: a, alpha: 1}}
    link:
      mass: 1.3
      com: [0.1, -0.2, 0.15]
      inertia: {{xx: 0.3, yy: 0.25, zz: 0.2, xy: 0.02, xz: -0.03, yz: 0.01}}
  - {{name: hand, type: revolute, dh: {{a: 0.3}}, link: {{mass: 0.5, com: [0.1, 0, 0.15]}}}}
"""
ORDINARY = {"a": 0.5, "m": 1, "i": 0.1}
SCALES = [{"m": 1e3}, {"m": 1e6}, {"m": 1e8}, {"i": 1e3}, {"i": 1e6}, {"a": 1e2}, {"a": 1e4}]


@pytest.mark.deep
@pytest.mark.parametrize("kind", ["revolute", *deep("prismatic")])
@pytest.mark.parametrize("alpha", one_in(2, [0.7, 0]))
@pytest.mark.parametrize("scale", one_in(7, SCALES), ids=str)
def test_badly_scaled_models_pass(kind, alpha, scale):
    description = described(MODEL.format(kind=kind, alpha=alpha, **{**ORDINARY, **scale}))
    validation_of(description).raise_if_failed()


HEAVY = """
symgen: 1
name: heavy
gravity: {gravity}
joints:
  - {{name: a, type: {kind}, origin: {{}}, link: {{mass: 1e7, com: [0.4, -0.3, 0.2]}}}}
"""
OF_BODIES = ("mass_matrix", "coriolis_matrix", "inverse_dynamics", "forward_dynamics")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["floating", *deep("revolute", "spherical")])
@pytest.mark.parametrize("gravity", [*deep("[0, 0, 0]"), "[2, 4, -9]"])
@pytest.mark.parametrize("functions", [OF_BODIES, *deep(None)], ids=["some", "all"])
def test_a_heavy_body_alone_passes(kind, gravity, functions):
    """Its Coriolis matrix cancels, on one joint to nothing."""
    description = described(HEAVY.format(kind=kind, gravity=gravity))
    validation_of(description, functions).raise_if_failed()


def test_a_free_body_is_held_to_the_bare_limits():
    """Wherever it floats, and with or without gravity."""
    for gravity in ("[0, 0, 0]", "[2, 4, -9]"):
        text = HEAVY.format(kind="floating", gravity=gravity).replace("1e7", "10")
        assert condition(described(text)) == 1.0


@pytest.mark.parametrize("model", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_examples_are_held_to_the_bare_limits(model):
    assert condition(read(model)) == 1.0


FAR = """
symgen: 1
name: far
convention: standard
joints:
  - {{name: a, type: revolute, dh: {row}, link: {{mass: 1, com: {com}, inertia: {inertia}}}}}
  - {{name: b, type: revolute, dh: {row}, link: {{mass: 1, com: {com}, inertia: {inertia}}}}}
"""
INERTIA = "{xx: 0.1, yy: 0.2, zz: 0.15}"


@pytest.mark.slow
@pytest.mark.parametrize("offset", [1000, *deep(10_000)])
@pytest.mark.parametrize(
    ("row", "com"),
    [
        ("{{d: {}, alpha: 0}}", "[0.1, 0.2, 0.3]"),  # tr(J) - J along the offset
        ("{{a: {}, alpha: 90*deg}}", "[0, 0, 0]"),  # a part of the torques that cancels
    ],
)
def test_long_offsets_pass(row, com, offset):
    description = described(FAR.format(row=row.format(offset), com=com, inertia=INERTIA))
    few = map(formulation_named, ("newton_euler", "composite", "closed_form_lagrange"))
    able = few if offset == 1000 else FORMULATIONS
    validation_of(description, formulations=able).raise_if_failed()


def test_inertias_that_are_accepted_pass():
    """Identified ones need not be those of bodies, nor M positive definite."""
    tensor = "{xx: -0.05, yy: 0.03, zz: 0.001, accepted: true}"
    text = FAR.format(row="{a: 0.3, alpha: 90*deg}", com="[0.1, 0, 0]", inertia=tensor)
    description = described(text)
    names = ("mass_matrix", "inverse_dynamics", "forward_dynamics", "regressor")
    able = map(formulation_named, ("newton_euler", "composite"))
    validation_of(description, names, able).raise_if_failed()
    assert singularity_warnings(description) == ()


BESIDE = """
symgen: 1
name: beside
joints:
  - {name: body, type: floating, coordinates: quaternion, origin: {}, link: {mass: 30, com: [0.1, 0.2, 0], inertia: {xx: 0.5, yy: 0.5, zz: 0.6}}}
  - {name: a, type: revolute, parent: base, axis: [1, 0, 0], origin: {}, link: {mass: 0.006, com: [0, 0.02, -0.02], inertia: {xx: 3e-5, yy: 2e-5, zz: 3e-5}}}
  - {name: b, type: revolute, parent: a, axis: [0.6, 0.8, 0], origin: {xyz: [3000, 0, 0], rpy: [0.3, 0, 1]}, link: {mass: 0.001, com: [-0.06, 0, -0.03], inertia: {xx: 1e-5, yy: 1e-5, zz: 2e-5}}}
"""  # noqa: E501
DISTANT = """
symgen: 1
name: distant
joints:
  - {name: body, type: floating, coordinates: quaternion, origin: {xyz: [900, -300, 0], rpy: [0.3, 0, 0]}, link: {mass: 20, com: [0.002, 0.003, -0.001], inertia: {xx: 2e-4, yy: 2e-4, zz: 3e-4}}}
"""  # noqa: E501
SOLVED = ("mass_matrix", "inverse_dynamics", "forward_dynamics", "forward_dynamics_derivatives")


@pytest.mark.parametrize("model", [BESIDE, DISTANT], ids=["beside", "distant"])
def test_what_solving_enlarges(model):
    """A light, long tree whose mass matrix cancels, beside a body that hides it; and a free body
    far from the base, where the distance is in no lever."""
    able = map(formulation_named, ("composite", "kane", "newton_euler"))
    validation_of(described(model), SOLVED, able).raise_if_failed()
