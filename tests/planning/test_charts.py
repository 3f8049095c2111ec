"""Charts of attitudes, splines of profiles: motions, their derivatives, what bounds them."""

import numpy as np
import pytest

from symgen.planning.charts import Chart, parameters_of, rates_on
from symgen.planning.poses import Pose, position_of
from symgen.planning.quantities import MotionSamples, Outputs, Torques
from symgen.planning.splines import Profile
from symgen.runtime.configuration import configuration_of
from tests import modules
from tests.choosing import some_slow

SATELLITE = """
symgen: 1
name: planning_satellite
gravity: [0.3, -0.2, 0.1]
joints:
  - {name: bus, type: floating, coordinates: quaternion, origin: {rpy: [0.3, 0.1, -0.2]},
     link: {mass: 12, com: [0, 0, 0.02], inertia: {xx: 0.5, yy: 0.6, zz: 0.4, xy: 0.02}}}
  - {name: shoulder, type: revolute, origin: {xyz: [0, 0.2, 0.15]}, axis: [0, 1, 0],
     limits: {lower: -2, upper: 2, velocity: 2, effort: 4},
     link: {mass: 1.2, com: [0, 0, 0.2], inertia: {xx: 0.02, yy: 0.02, zz: 0.002}}}
  - {name: wrist, type: spherical, coordinates: quaternion, origin: {xyz: [0, 0, 0.4]},
     link: {mass: 0.6, com: [0.02, 0, 0.1], inertia: {xx: 0.004, yy: 0.004, zz: 0.001}}}
points:
  - {name: tool, link: wrist, point: [0, 0, 0.2]}
outputs:
  power: tau.shoulder*qd.shoulder
  height: points.tool.z
"""


@pytest.fixture(scope="module")
def bare():
    """A free body with an arm that ends in a ball."""
    return modules.module(SATELLITE, functions=["forward_kinematics"])


OF_QUANTITIES = {
    "torques": ("inverse_dynamics", "inverse_dynamics_derivatives", "inverse_dynamics_hessian"),
    "outputs": (
        "inverse_dynamics", "inverse_dynamics_derivatives", "outputs", "outputs_derivatives",
    ),
    "pose": ("forward_kinematics", "jacobians", "link_motion"),
}  # fmt: skip


@pytest.fixture
def chart(bare):
    turns = np.random.default_rng(3).normal(size=(2, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    return Chart(configuration_of(bare), tuple(turns))


_SIZES = np.array([2.0, 1.0, 1.0])[:, None, None]


def states(chart, count, seed=0):
    """x, x', x'' at instants, some attitudes more than half a turn from the reference."""
    return np.random.default_rng(seed).normal(size=(3, count, chart.space.n)) * _SIZES


def planned(x, rate, bend):
    t = np.zeros(len(x))
    return MotionSamples(x, rate, bend, t, t)


def test_velocities_and_accelerations_are_rates_of_the_configuration(chart):
    h, space = 1e-5, chart.space
    x, rate, bend = states(chart, 20)
    at, before, after = (
        chart.motion(planned(x + k * rate + k * k / 2 * bend, rate + k * bend, bend))
        for k in (0.0, -h, h)
    )
    assert np.allclose(space.normalize(at.q), at.q, atol=1e-15)
    moved = (space.difference(at.q, after.q) - space.difference(at.q, before.q)) / (2 * h)
    assert np.allclose(moved, at.qd, atol=1e-8)
    assert np.allclose((after.qd - before.qd) / (2 * h), at.qdd, atol=1e-8)


def test_parameters_lead_back_to_attitudes(chart):
    x = states(chart, 20)[0]
    q = chart.configuration(x)
    for at, reference in zip(chart.joints, chart.references, strict=True):
        assert np.allclose(parameters_of(reference, q[:, at.attitude]), x[:, at.turn], atol=1e-12)


@pytest.mark.parametrize("kind", some_slow(OF_QUANTITIES, ["pose"]))
def test_quantities_have_the_slopes_of_differences(chart, kind):
    module = modules.module(SATELLITE, functions=OF_QUANTITIES[kind])
    own = {
        "torques": lambda: Torques(module),
        "outputs": lambda: Outputs(module, None, [0, 1]),
        "pose": lambda: position_of(
            module, None, Pose("tip", np.zeros(3), link=2, offset=np.ones(3), rotation=np.eye(3))
        ),
    }[kind]()
    quantity, h = chart.along(own), 1e-5
    state = states(chart, 4, seed=1)
    directions = states(chart, 4, seed=2)
    orders = quantity.orders
    weights = np.random.default_rng(5).normal(size=(4, quantity.size))

    def along(size):
        return planned(*(state + size * directions * (np.arange(3) < orders)[:, None, None]))

    by = quantity.jacobian(along(0.0))[1]
    slope = np.einsum("krmj,rkj->km", by, directions[:orders])
    differences = (quantity.value(along(h)) - quantity.value(along(-h))) / (2 * h)
    assert np.allclose(slope, differences, atol=1e-7 * np.abs(by).max())
    gradients = quantity.gradients(along(0.0), weights)
    assert np.allclose(gradients, np.einsum("krmj,km->krj", by, weights), atol=1e-12)
    bent = quantity.hessian(along(0.0), weights)
    found = np.einsum("krsij,rki->ksj", bent, directions[:orders])
    ends = (quantity.gradients(along(k * h), weights) for k in (1, -1))
    differences = np.subtract(*ends) / (2 * h)
    assert np.allclose(found, differences, atol=1e-6 * np.abs(bent).max())
    assert not by[:, :, ~quantity.related()].any()


@pytest.mark.slow
def test_forward_dynamics_lead_back(chart):
    names = ("inverse_dynamics", "forward_dynamics")
    names += tuple(f"{name}_derivatives" for name in names)
    module = modules.module(SATELLITE, functions=names)
    x, rate, bend = states(chart, 5)
    torques = chart.along(Torques(module))
    tau, slopes = torques.jacobian(planned(x, rate, bend))
    found, by = chart.forward(module, x, rate, tau, {})
    assert np.allclose(found, bend, atol=1e-9)
    back = np.linalg.inv(slopes[:, 2])
    expected = np.concatenate([-back @ slopes[:, 0], -back @ slopes[:, 1], back], axis=2)
    assert np.allclose(by, expected, atol=1e-9 * np.abs(expected).max())


def test_rates_of_one_state_are_those_of_the_configuration(chart):
    x, rate, _ = states(chart, 3)
    for q, v in zip(chart.configuration(x), rate, strict=True):
        assert np.allclose(rates_on(chart.space)(q, v), chart.space.rate(q, v), atol=1e-14)


def test_refined_splines_are_the_same_and_rates_are_bounded_by_their_control_points():
    random = np.random.default_rng(1)
    s = np.linspace(0.0, 1.0, 101)
    for degree in (3, 5):
        profile = Profile(degree, 7)
        control = random.standard_normal((profile.controls, 2))
        finer = Profile(degree, 14)
        refined = profile.refined(control, finer)
        for order in range(3):
            values = profile.at(s).of(control, order)
            assert np.allclose(finer.at(s).of(refined, order), values, atol=1e-8)
            bounds = profile.differences(order) @ control
            assert np.all(values <= bounds.max(axis=0) + 1e-9)
            assert np.all(values >= bounds.min(axis=0) - 1e-9)
        within = Profile(degree, 7, 4)
        jumps, refined = within.jumps(), profile.refined(control, within)
        assert np.allclose(jumps @ refined, 0, atol=1e-8 * np.abs(jumps).max())
        assert len(jumps) == 7 * 3
