"""Sound robots whose terms cancel, or whose mass matrix is ill-conditioned: none is refused."""

from pathlib import Path

import pytest

import symgen
from symgen.description import read
from symgen.validation.oracles import NumericRobot
from symgen.validation.validate import validate
from tests.mechanisms.models import BY_STATE

MODELS = Path(__file__).with_name("models")
SECOND = ["inverse_dynamics", "inverse_dynamics_derivatives", "forward_dynamics_hvp"]
PRODUCTS = {"functions": ["inverse_dynamics", "forward_dynamics_vjp", "forward_dynamics_jvp"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "options"),
    [
        # random states are metres deep in the ground, where the terms of the spring cancel
        ("stiff_tyre", {"backend": "numpy", "functions": SECOND}),
        pytest.param("stiff_tyre", {"functions": "all"}, marks=pytest.mark.deep),
        ("free_beside_planar", {"backend": "numpy", "functions": SECOND[::2]}),
        ("cancelling_products", {"backend": "numpy", **PRODUCTS}),
        # some formulations have derivatives by the state, and none by the parameters
        pytest.param(
            "slider_beside_planar",
            {"backend": "numpy", "functions": "all", "runtime_parameters": "all"},
            marks=pytest.mark.deep,
        ),
        # a length of kilometres cancels from the distance of the ends
        ("long_spring", {"backend": "numpy", "functions": ["inverse_dynamics"]}),
        # a loop locks a ball and a hinge; steps of ALI3-P are compared with those in Python
        ("redundant_ball", {"functions": BY_STATE}),
        pytest.param("redundant_ball", {"runtime_parameters": "all"}, marks=pytest.mark.deep),
    ],
)
def test_builds_pass_validation(model, options):
    robot = symgen.load(MODELS / f"{model}.yaml", **options)
    assert robot.name == model


def test_a_fault_of_the_numeric_model_beside_what_cancels(monkeypatch):
    description = read(MODELS / "long_spring.yaml")
    assert validate(description, []).passed
    energy = NumericRobot.spring_energy
    monkeypatch.setattr(NumericRobot, "spring_energy", lambda *x: energy(*x) * (1 + 1e-9))
    assert not validate(description, []).passed
