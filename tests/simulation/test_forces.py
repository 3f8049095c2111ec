"""Simulation of robots with springs of the model: energy, and sensitivities."""

import numpy as np
import pytest

import symgen
from tests.formulations.test_forces import ARM, SPRINGS

FUNCTIONS = "forward_dynamics,forward_dynamics_sensitivities,kinetic_energy,potential_energy"
TIMES = np.linspace(0.0, 0.5, 6)
START = ([0.3, -0.4, 0.1, 0.5], [0.5, 0.2, -0.3, 1.0])


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    folder = tmp_path_factory.mktemp("arm")
    (folder / "arm.yaml").write_text(ARM + SPRINGS)
    return symgen.load(
        folder / "arm.yaml",
        out=folder / "made",
        backend="numpy",
        formulations="newton_euler",
        functions=FUNCTIONS,
        runtime_parameters="k,c,slack",
    )


def energy(arm, run, parameters):
    states = np.asarray(run.q), np.asarray(run.qd)
    kinetic = arm.kinetic_energy(*states, parameters=parameters)
    return kinetic + arm.potential_energy(states[0], parameters=parameters)


def test_energy_is_kept_without_dampers_and_lost_with_them(arm):
    for damping in (0.0, 3.0):
        parameters = np.array([40.0, damping, 0.25])
        run = symgen.simulate(arm, *START, TIMES, parameters=parameters, rtol=1e-10, atol=1e-12)
        found = energy(arm, run, parameters)
        if damping:
            assert np.all(np.diff(found) < 0.0)
        else:
            assert np.allclose(found, found[0], rtol=1e-8)


def test_sensitivities_by_stiffness_damping_and_length(arm):
    options = {"rtol": 1e-11, "atol": 1e-13}
    run = symgen.simulate(arm, *START, TIMES, sensitivities="all", **options)
    for k, (name, value) in enumerate({"k": 40.0, "c": 3.0, "slack": 0.25}.items()):
        step = 1e-5 * value
        ends = [
            symgen.simulate(arm, *START, TIMES, parameters={name: value + sign * step}, **options)
            for sign in (1, -1)
        ]
        slope = (np.asarray(ends[0].q) - np.asarray(ends[1].q)) / (2 * step)
        assert np.allclose(np.asarray(run.dq)[..., k], slope, rtol=1e-4, atol=1e-8)
