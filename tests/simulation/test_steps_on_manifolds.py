"""Steps of one size beside quaternions: adaptive motion, energy, Euler parameters, themselves."""

import numpy as np
import pytest

import symgen
from symgen.runtime.configuration import configuration_of
from symgen.validation.mechanism_kernels import steps
from tests.mechanisms.models import BY_PARAMETERS, BY_STATE, SEAT, body, loaded, model
from tests.mechanisms.test_manifolds import closed

pytestmark = pytest.mark.slow
T = np.linspace(0, 0.4, 3)
SPIN = {"pin": (0.7, -0.4, 5.1), "hook": (-1.0, 3.0, 0.5)}


def pendulum(coordinates="quaternion", functions=BY_PARAMETERS):
    """A trunk that floats, but for one of its points, and a bob on a ball."""
    joints = [
        {"name": "trunk", "type": "floating", "coordinates": coordinates, "origin": SEAT,
         "link": body("trunk", "M")},
        {"name": "hook", "type": "spherical", "coordinates": coordinates,
         "origin": {"xyz": [0.1, "L", -0.4]}, "link": body("bob", 0.8)},
    ]  # fmt: skip
    outputs = {"height": "points.P.z", "energy": "kinetic_energy + potential_energy"}
    if coordinates == "quaternion":  # Euler parameters have no outputs
        functions = (*functions, "outputs", "outputs_derivatives")
    ends = {"first": {"link": "base", "origin": SEAT}, "second": {"link": "trunk"}}
    text = model(
        f"pendulum_{coordinates}", joints, gravity=[1.0, -9.81, 2.0],
        parameters={"M": 1.3, "L": 0.2},
        loops=[{"name": "pin", "type": "spherical", **ends}],
        points=[{"name": "P", "link": "bob", "point": [0.1, 0.2, "L"]}],
        outputs=outputs,
    )  # fmt: skip
    return loaded(text, functions, runtime_parameters="all")


def start():
    """Configuration, velocities, and how they vary with M and L."""
    robot, random = pendulum(), np.random.default_rng(2)
    q = robot.random_configuration(random)
    q[:3] = 0.0
    qd = np.concatenate([np.zeros(3), *map(np.array, SPIN.values())])
    way = random.uniform(-1, 1, (2, 9)) * np.repeat([0, 1], [3, 6])  # which keep the pin closed
    return q, qd, {"L": way[0]}, {"M": way[1]}


def moved(step=None, **options):
    q, qd, dq0, dqd0 = start()
    given = {"rtol": 1e-10, "atol": 1e-11} if step is None else {"step": step}
    every = {"sensitivities": "all", "objectives": "all", "dq0": dq0, "dqd0": dqd0}
    return symgen.simulate(pendulum(), q, qd, T, **{**every, **given, **options})


def test_steps_are_of_second_order():
    """Half the step, a quarter of the error: of motion, sensitivities, gradients and energy."""
    exact, errors = moved(), []
    for step in (1e-2, 5e-3):
        found = moved(step)
        assert found.violation.max() < 1e-12
        q = found.q.values
        assert np.abs(np.linalg.norm(q[:, 3:7], axis=1) - 1).max() < 1e-15
        names = ("q", "qd", "dq", "dqd", "integral", "integral_gradient", "end_gradient")
        energy = found.outputs.sel(output="energy").values
        errors.append([float(abs(found[x] - exact[x]).max()) for x in names])
        errors[-1].append(float(np.abs(energy - energy[0]).max()))
    ratios = np.divide(*errors)
    assert (ratios > 3.7).all(), ratios
    assert (ratios < 4.4).all(), ratios


@pytest.mark.parametrize(
    "projection", ["mass", "tangent", np.diag(np.arange(1.0, 10))],
    ids=["mass", "tangent", "matrix"],
)  # fmt: skip
def test_sensitivities_are_those_of_the_steps_themselves(projection):
    robot, (q, qd, dq0, dqd0) = pendulum(), start()
    space, options = configuration_of(robot), {"step": 2e-2, "projection": projection}
    found = moved(**options)
    for k, name in enumerate(robot.parameter_names):
        sides = []
        for e in (1e-5, -1e-5):
            values = np.array(robot.default_parameters)
            values[k] += e
            begin = space.integrate(q, e * dq0.get(name, np.zeros(9)))
            rates = qd + e * dqd0.get(name, np.zeros(9))
            options |= {"parameters": values, "objectives": "all"}
            sides.append(symgen.simulate(robot, begin, rates, T, **options))
        slope = space.difference(sides[1].q.values, sides[0].q.values) / 2e-5
        assert np.allclose(found.dq.values[..., k], slope, atol=2e-7)
        for variable in ("qd", "qdd", "multipliers", "velocity_multipliers"):
            slope = (sides[0][variable] - sides[1][variable]).values / 2e-5
            assert np.allclose(found[f"d{variable}"].values[..., k], slope, rtol=1e-6, atol=2e-6)
        slope = (sides[0].integral - sides[1].integral).values / 2e-5
        assert np.allclose(found.integral_gradient.values[:, k], slope, atol=1e-8)


@pytest.mark.deep
def test_euler_parameters_move_the_same_way():
    """Both of second order: (4 fine - coarse) / 3 of each."""
    robot, (q, qd, *_) = pendulum("euler_parameters", BY_STATE), start()
    rate = configuration_of(pendulum()).rate(q, qd)
    assert robot.n == len(q)
    values = []
    for module, begin, rates in ((pendulum(), q, qd), (robot, q, rate)):
        coarse, fine = (
            symgen.simulate(module, begin, rates, T, step=step).q.values for step in (4e-3, 2e-3)
        )
        values.append((4 * fine - coarse) / 3)
    assert np.allclose(*values, atol=1e-6)


@pytest.mark.parametrize("projection", ["mass", "tangent"])
def test_c_and_the_reference_make_the_same_steps(projection):
    """Beside a rod, a welded trunk and a relation of time; every build compares them."""
    rows = [row for row in steps(closed(backend="compiled"), projection=projection) if row.samples]
    assert len(rows) == 14
    assert max(row.error for row in rows) < 1e-9
