"""The mechanisms of `examples/mechanisms`, and what is known of them."""

from __future__ import annotations

import numpy as np
import pytest
import yaml

import symgen
from symgen.validation.mobility import mobility, open_loops
from tests.mechanisms.models import BY_PARAMETERS, CLOSED, loaded
from tests.modules import EXAMPLES, file_of, module

MECHANISMS = EXAMPLES / "mechanisms"


def test_bricard_has_one_freedom_where_gruebler_counts_none():
    found = mobility(symgen.read(MECHANISMS / "bricard.yaml"))
    assert (found.gruebler, found.freedoms) == (0, 1)
    assert found.redundant == {"joint6": 1}


@pytest.mark.slow
def test_bricard_moves_with_reactions_that_are_not_unique():
    functions = (*CLOSED, "loop_wrenches", "kinetic_energy", "potential_energy")
    mechanism = module(MECHANISMS / "bricard.yaml", functions=functions)
    still = np.zeros(mechanism.n)
    assert mechanism.freedoms(still) == 1
    assert not mechanism.unique_multipliers(still).all()
    motion = symgen.simulate(mechanism, still, still, np.linspace(0, 0.5, 6), max_step=0.02)
    assert motion.violation.max() < 1e-8
    q, qd = motion.q.values, motion.qd.values
    energy = mechanism.kinetic_energy(q, qd) + mechanism.potential_energy(q)
    assert np.ptp(energy) < 1e-7
    assert np.abs(q[-1] - q[0]).max() > 0.01


# Independent solutions of the benchmark; table 7 of Lopez Varela et al. 2023 has its first digits.
OBJECTIVES = [0.7268774613, 7.3422877928, 304.9206932]
GRADIENTS = [
    [-4.228811, 3.211604, 0.318657, 0.442351, 3.359810],
    [-15.452069, 50.308785, 0.970124, 0.745602, -27.359240],
    [221.640068, 2436.607347, -32.497523, -85.656719, -2546.590203],
]


@pytest.mark.deep  # by steps of one size: tests/simulation/test_fixed_steps.py
def test_the_five_bar_linkage_has_the_published_gradients():
    """Springs, a loop, sensitivities by parameters, and of where the loop closes."""
    names = ("L_s1", "L_s2", "m", "x_G", "L_A1")
    functions = (*BY_PARAMETERS, "loop_wrenches", "outputs", "outputs_derivatives")
    five_bar = module(
        MECHANISMS / "five_bar.yaml", functions=functions, runtime_parameters=",".join(names)
    )
    q = five_bar.assemble()
    assert five_bar.freedoms(q) == 2
    closing = five_bar.closing_derivatives(q, hold=["A", "one"])  # point 3 closes the loop again
    length = five_bar.parameter_names.index("L_A1")
    found = symgen.simulate(
        five_bar, q, np.zeros(4), np.linspace(0, 5, 11), objectives="all", sensitivities=names,
        dq0={"L_A1": closing[:, length]},
    )  # fmt: skip
    assert np.allclose(found.integral, OBJECTIVES, rtol=1e-8)
    assert np.allclose(found.integral_gradient, GRADIENTS, rtol=2e-6)
    assert found.violation.max() < 1e-8


@pytest.mark.slow
def test_sensitivities_of_a_driven_mechanism_with_time():
    """Against central differences: a crank driven by a relation of time and a parameter."""
    text = (MECHANISMS / "four_bar.yaml").read_text()
    text = text.replace("joints:", "parameters: {w: 2.0, M: 1.5}\njoints:", 1)
    text = text.replace("mass: 1.5", "mass: M")
    text += "relations: {drive: q.crank - w*t - 0.3*t**2 - 1}\n"
    driven = loaded(text, BY_PARAMETERS, runtime_parameters="all")
    t = np.linspace(0, 0.2, 3)
    start = [1.0, -0.7, 1.2]

    def motion(sensitivities=(), **parameters):
        q = driven.assemble(start, parameters=parameters)
        qd = driven.closed_velocities(q, np.zeros(3), parameters=parameters)
        return symgen.simulate(driven, q, qd, t, parameters=parameters, sensitivities=sensitivities)

    found = motion(("w", "M"), w=2.0, M=1.5)
    assert found.violation.max() < 1e-9
    for k, (name, value) in enumerate({"w": 2.0, "M": 1.5}.items()):
        sides = [motion(**({"w": 2.0, "M": 1.5} | {name: value + sign * 1e-5})) for sign in (1, -1)]
        for result in ("q", "qd"):
            slope = (sides[0][result] - sides[1][result]).values / 2e-5
            assert np.allclose(found[f"d{result}"][..., k], slope, atol=1e-6)


@pytest.mark.slow
def test_the_legs_of_a_stewart_platform():
    """The forces that move it are found again; what carries its weight stands still."""
    functions = (*CLOSED, "loop_wrenches", "inverse_dynamics")
    stewart = module(MECHANISMS / "stewart.yaml", functions=functions)
    q = stewart.assemble()
    assert stewart.freedoms(q) == 6
    assert stewart.unique_multipliers(q).all()
    random = np.random.default_rng(1)
    qd = stewart.closed_velocities(q, random.uniform(-1, 1, stewart.n))
    tau = np.where(stewart.actuated, random.uniform(-50, 50, stewart.n), 0.0)
    motion = stewart.constrained_forward_dynamics(q, qd, tau)
    again = stewart.constrained_inverse_dynamics(q, qd, motion.qdd)
    assert np.allclose(again.tau, tau, atol=1e-9)
    still = np.zeros(stewart.n)
    held = stewart.constrained_inverse_dynamics(q, still, still).tau
    assert np.count_nonzero(held) == 6
    assert np.abs(stewart.constrained_forward_dynamics(q, still, held).qdd).max() < 1e-9


@pytest.mark.slow
def test_a_mechanism_that_cannot_close_says_so():
    text = (MECHANISMS / "four_bar.yaml").read_text().replace("xyz: [2, 0, 0]", "xyz: [9, 0, 0]", 1)
    path = file_of(text)
    found = mobility(symgen.read(path))
    assert "the loops do not close from here: pin is off by" in str(found)
    (warning,) = open_loops(symgen.read(path), found)
    line = text[: text.index("name: pin")].count("\n") + 1
    assert str(warning).startswith(f"{path}:{line}: loops.pin: the loops do not close from here")


FREEDOMS = {
    "four_bar": 1, "five_bar": 2, "bricard": 1, "stewart": 6, "double_four_bar": 1, "andrews": 1,
    "rolling_disc": 3,
}  # fmt: skip


@pytest.mark.parametrize("name", FREEDOMS)
def test_the_examples_read_and_close(name):
    found = mobility(symgen.read(MECHANISMS / f"{name}.yaml"))
    assert not found.open_by
    assert not open_loops(symgen.read(MECHANISMS / f"{name}.yaml"), found)
    assert found.freedoms == FREEDOMS[name]
    page = (MECHANISMS.parents[1] / "docs/how_to/closed_loops.md").read_text()
    written = yaml.safe_load((MECHANISMS / "four_bar.yaml").read_text())
    shown = yaml.safe_load(page.split('four_bar.yaml"\n')[1].split("```")[0])
    assert shown["joints"] == written["joints"]
