"""`symgen.equilibrium`: chains, a linkage, a robot on springs, derivatives, wrong calls."""

import numpy as np
import pytest
import yaml

import symgen
from symgen.errors import RequestError
from tests.mechanisms.models import FOUR_BAR
from tests.modules import module

optimize = pytest.importorskip("scipy.optimize")
pytest.importorskip("xarray")

TREE = ("inverse_dynamics_derivatives", "inverse_dynamics_parameter_derivatives")
CLOSED = (
    "constraints", "constraint_jacobian", "constraint_torque_derivatives",
    "constraints_parameter_derivatives", "constraint_torque_parameter_derivatives",
)  # fmt: skip
MASSES = (1.0, 2.0, 1.5, 1.0, 3.0)
SPAN, DROP = 3.0, -0.4


def chain(count, **more):
    """Links of 1 m, one hinged to the end of the other, in the plane of x and y."""
    joints = [
        {"name": f"j{k}", "type": "revolute", "origin": {"xyz": ["L" if k else 0, 0, 0]},
         "actuated": False,
         "link": {"name": f"link{k}", "mass": "m" if k == 1 else mass, "com": ["L/2", 0, 0],
                  "inertia": {"zz": 0.1}}}
        for k, mass in enumerate(MASSES[:count])
    ]  # fmt: skip
    return yaml.safe_dump({
        "symgen": 1, "name": "chain", "gravity": [0, -9.81, 0], "parameters": {"L": 1.0, "m": 2.0},
        "joints": joints, **more,
    })  # fmt: skip


LOOP = {
    "loops": [{"name": "end", "type": "revolute",
               "first": {"link": "link4", "origin": {"xyz": ["L", 0, 0]}},
               "second": {"link": "base", "origin": {"xyz": [SPAN, DROP, 0]}}}],
    "initial": {"q": {"j0": 0.8, "j1": 0.5, "j2": -1.0, "j3": -1.2, "j4": -0.5}},
}  # fmt: skip


@pytest.fixture(scope="module")
def hanging():
    return module(chain(3), functions=TREE, runtime_parameters="all")


@pytest.fixture(scope="module")
def closed():
    return module(chain(5, **LOOP), functions=[*TREE, *CLOSED], runtime_parameters="all")


def differences(robot, rest, step=1e-5, **options):
    """Central differences of q, along the velocities, and of the multipliers."""
    columns = []
    for name, value in zip(robot.parameter_names, robot.default_parameters, strict=True):
        near = [
            symgen.equilibrium(robot, q=rest.q, parameters={name: value + s}, **options)
            for s in (-step, step)
        ]
        moved = robot.difference(near[0].q, near[1].q)
        columns.append([moved, near[1].multipliers - near[0].multipliers])
    return [np.stack(x, axis=-1) / (2 * step) for x in zip(*columns, strict=True)]


@pytest.mark.parametrize("q", [[0, 0, 0], [0.9, 2.5, -2.6], [1.4, 0.2, 0.3]])
def test_a_chain_hangs_down(hanging, q):
    rest = symgen.equilibrium(hanging, q=q)
    np.testing.assert_allclose(np.cos(np.cumsum(rest.q) + np.pi / 2), 1.0, rtol=0, atol=1e-14)
    assert rest.stable is True and np.abs(rest.residual).max() < 1e-12


@pytest.mark.parametrize(("below", "stable"), [(1e-3, True), (1e-12, None), (0.0, None)])
def test_stability_at_a_fold_is_undecided(below, stable):
    """Of a link under its largest static torque, level with its hinge."""
    link = module(chain(1), functions=TREE[:1])
    tau = (1 - below) * link.inverse_dynamics_derivatives([0], [0], [0])[0]
    assert symgen.equilibrium(link, q=[-0.01], tau=tau).stable is stable


def test_prescribed_joints_stay():
    text = chain(2).replace("name: j1\n", "name: j1\n  prescribed: true\n")
    rest = symgen.equilibrium(module(text, functions=TREE[:1]), q=[0, 0.4])
    assert rest.q[1] == 0.4 and abs(rest.residual[0]) < 1e-12 < abs(rest.residual[1])


def test_a_chain_that_stands_is_not_stable(hanging):
    rest = symgen.equilibrium(hanging, q={"j0": 1.5, "j1": 0.05, "j2": -0.02})
    np.testing.assert_allclose(rest.q, [np.pi / 2, 0, 0], rtol=0, atol=1e-12)
    assert rest.stable is False


def test_a_chain_between_two_pins_has_the_least_energy(closed):
    """A start that is folded upwards, and a minimum that knows neither torques nor loops."""
    rest = symgen.equilibrium(closed)

    def energy(a):
        middles = np.cumsum(np.sin(a)) - np.sin(a) / 2
        return 9.81 * np.dot(MASSES, middles)

    def gap(a):
        return [np.cos(a).sum() - SPAN, np.sin(a).sum() - DROP]

    least = optimize.minimize(
        energy, np.linspace(-1.2, 1.0, 5), method="SLSQP", tol=1e-14,
        constraints={"type": "eq", "fun": gap},
    )  # fmt: skip
    np.testing.assert_allclose(np.cumsum(rest.q), least.x, rtol=0, atol=1e-6)
    assert rest.stable is True
    derivatives = rest.derivatives()
    dq, dmultipliers = differences(closed, rest)
    np.testing.assert_allclose(derivatives.dq, dq, rtol=0, atol=1e-8)
    unique = closed.unique_multipliers(rest.q)
    assert list(np.isnan(derivatives.dmultipliers).any(axis=1)) == list(~unique)
    np.testing.assert_allclose(
        derivatives.dmultipliers[unique], dmultipliers[unique], rtol=0, atol=1e-6
    )


SPRING = """
springs:
  - {name: pull, between: [{link: bar2, point: [1, 0, 0]}, {link: base, point: [1, 3, 0]}],
     stiffness: 30, length: 0.5}
"""


def test_a_four_bar_on_a_spring_has_the_least_energy():
    """The pin is where circles about the ends of crank and rocker meet."""
    linkage = module(FOUR_BAR + SPRING, functions=[TREE[0], *CLOSED[:3]])
    rest = symgen.equilibrium(linkage)

    def energy(a):
        crank = np.array([np.cos(a), np.sin(a)])
        across = np.array([2.0, 0.0]) - crank
        D = np.hypot(*across)
        along = (2.0**2 - 1.5**2 + D**2) / (2 * D)
        side = np.sqrt(2.0**2 - along**2) * np.array([-across[1], across[0]]) / D
        coupler = crank + (along * across / D + side) / 2
        pin = 2 * coupler - crank
        heights = 1.0 * crank[1] / 2 + 2.0 * coupler[1] + 1.5 * pin[1] / 2
        return 9.81 * heights + 15 * (np.hypot(*(coupler - [1, 3])) - 0.5) ** 2

    least = optimize.minimize_scalar(
        energy, (rest.q[0] - 0.1, rest.q[0] + 0.1), tol=1e-12, method="brent"
    )
    assert abs(rest.q[0] - least.x) < 1e-6 and rest.stable is True
    holding = symgen.equilibrium(linkage, hold=["crank"], q=rest.q + [0.1, 0, 0])
    slope = (energy(holding.q[0] + 1e-5) - energy(holding.q[0] - 1e-5)) / 2e-5
    assert abs(holding.residual[0] - slope) < 1e-6
    driven = symgen.equilibrium(linkage, q=holding.q, tau={"crank": holding.residual[0]})
    np.testing.assert_allclose(driven.q, holding.q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(driven.multipliers, holding.multipliers, rtol=0, atol=1e-8)


LEG = """
  - {{name: hip_{0}, parent: trunk, type: revolute, axis: [0, 1, 0], stiffness: k, rest: 0.5,
     origin: {{xyz: [{1}, {2}, 0]}}, link: {{name: thigh_{0}, mass: 0.5, com: [0, 0, -0.1], inertia: {{xx: 0.002, yy: 0.002, zz: 0.001}}}}}}
"""  # noqa: E501
FOOT = """
  - {{name: ground_{0}, point: foot_{0}, let: {{d: -points.foot_{0}.z, n: 2000*(d + sqrt(d**2 + 1e-6))}},
     force: [-20*points.foot_{0}.vx, -20*points.foot_{0}.vy, n*(1 - points.foot_{0}.vz)]}}
"""  # noqa: E501
PLACES = {"fl": (0.25, 0.15), "fr": (0.2, -0.15), "rl": (-0.2, 0.15), "rr": (-0.2, -0.15)}
QUADRUPED = f"""
symgen: 1
name: quadruped
gravity: [0, 0, -9.81]
parameters: {{m: 5, k: 40}}
joints:
  - {{name: trunk, type: floating, coordinates: quaternion, actuated: false, origin: {{}},
     link: {{mass: m, com: [0.02, 0.01, 0], inertia: {{xx: 0.05, yy: 0.1, zz: 0.12}}}}}}
{"".join(LEG.format(name, x, y) for name, (x, y) in PLACES.items())}
points:
{"".join(f"  - {{name: foot_{x}, link: thigh_{x}, point: [0, 0, -0.3]}}" + chr(10) for x in PLACES)}
forces:
{"".join(map(FOOT.format, PLACES))}
"""
ON_FEET = ["trunk_vx", "trunk_vy", "trunk_wz"]


@pytest.fixture(scope="module")
def quadruped():
    return module(QUADRUPED, functions=[*TREE, "point_motion"], runtime_parameters="all")


def test_a_robot_falls_onto_its_feet(quadruped):
    """From above the ground, where nothing resists; its feet carry the weight."""
    start = quadruped.integrate(quadruped.neutral(), np.r_[0, 0, 0.9, 0.2, 0.1, np.zeros(5)])
    rest = symgen.equilibrium(quadruped, ON_FEET, start)
    z = quadruped.point_motion(rest.q, *np.zeros((2, 10)))[0][:, 2]
    carried = 2000 * (np.sqrt(z**2 + 1e-6) - z)
    assert abs(carried.sum() - 7.0 * 9.81) < 1e-9 * 7.0 * 9.81
    assert rest.stable is True
    derivatives = rest.derivatives()
    np.testing.assert_allclose(
        derivatives.dq, differences(quadruped, rest, hold=ON_FEET)[0], rtol=0, atol=1e-7
    )
    near = [rest.q + s * derivatives.dpositions[:, 0] for s in (-1e-5, 1e-5)]
    moved = quadruped.difference(*map(quadruped.normalize, near)) / 2e-5
    np.testing.assert_allclose(moved, derivatives.dq[:, 0], rtol=0, atol=1e-9)


COLUMN = """
symgen: 1
name: column
gravity: [0, -9.81, 0]
parameters: {k: 60, F: 0, m: 1}
joints:
  - {name: low, type: revolute, origin: {}, stiffness: k, rest: 1, damping: 4,
     link: {mass: 1, com: [0.5, 0, 0], inertia: {zz: 0.1}}}
  - {name: high, type: revolute, origin: {xyz: [1, 0, 0]}, stiffness: 30, rest: 0.5, damping: 4,
     link: {mass: m, com: [0.5, 0, 0], inertia: {zz: 0.1*m}}}
points: [{name: hinge, link: high, point: [0, 0, 0]}, {name: tip, link: high, point: [1, 0, 0]}]
forces:
  - {name: push, point: tip, force: [F*(points.hinge.x - points.tip.x), F*(points.hinge.y - points.tip.y), 0]}
"""  # noqa: E501


@pytest.fixture(scope="module")
def column():
    names = [*TREE, "forward_dynamics", "forward_dynamics_sensitivities"]
    return module(COLUMN, functions=names, runtime_parameters="all")


@pytest.mark.parametrize(
    ("F", "m", "stable"), [(0, 1, True), (0, 0, True), (3, 1, None), (150, 1, None)]
)
def test_a_force_that_follows_a_link_has_no_energy(column, F, m, stable):
    """The column flutters under the last, where no steps downhill end."""
    rest = symgen.equilibrium(column, parameters={"F": F, "m": m})
    assert rest.stable is stable and np.abs(rest.residual).max() < 1e-9


def test_a_motion_from_an_equilibrium_stays_with_its_derivatives(column):
    """And a damped motion from elsewhere ends there."""
    options = {"parameters": {"F": 3.0}}
    rest = symgen.equilibrium(column, **options)
    slopes = rest.derivatives().dq
    t = [0.0, 0.2]
    ended = symgen.simulate(column, rest.q + 0.3, [0, 0], [0, 12], rtol=1e-5, atol=1e-7, **options)
    np.testing.assert_allclose(ended.q[-1], rest.q, rtol=0, atol=1e-4)
    run = symgen.simulate(column, rest, [0, 0], t, sensitivities=["F", "k"], **options)
    np.testing.assert_allclose(run.q[-1], rest.q, rtol=0, atol=1e-8)
    np.testing.assert_allclose(run.dq[-1], slopes[:, [1, 0]], rtol=0, atol=1e-8)
    with pytest.raises(RequestError, match="that of another F; give"):
        symgen.simulate(column, rest, [0, 0], t)


WRONG = {
    "hold: expected a list of names, such as ['j0']; got 'j0'": {"hold": "j0"},
    "hold: no velocity is called 'j7'; there are: j0, j1, j2": {"hold": ["j7"]},
    "hold: no velocity is called 0.1; is it the start, q=...?": {"hold": [0.1, 0, 0]},
    "q: expected shape (3,), got (2,)": {"q": [0, 0]},
    "q: 'elbow' is no coordinate": {"q": {"elbow": 1}},
    "q: not all finite": {"q": [0, 0, np.nan]},
    "tau: expected shape (3,), got ()": {"tau": 1},
    "loads: expected shape (0, 6), got (1, 6)": {"loads": np.ones((1, 6))},
    "parameters: no runtime parameter is called 'M'": {"parameters": {"M": 1}},
    "t: expected real numbers, got 'now'": {"t": "now"},
    "nothing resists a motion along j0, j1, j2; choose a pose by hold=['j0', 'j1', 'j2']":
        {"parameters": {"L": 0}},
    "none within reach: forces (N or N m) stay unbalanced, ": {"tau": [100, 0, 0]},
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_wrong_calls(hanging, message):
    with pytest.raises(RequestError) as caught:
        symgen.equilibrium(hanging, **WRONG[message])
    assert str(caught.value).startswith("equilibrium: ") and message in str(caught.value)


def test_wrong_robots(closed, quadruped):
    names, q = closed.coordinate_names, symgen.equilibrium(closed).q
    wrong = {
        "expected a generated module, got 'arm.yaml'": lambda: symgen.equilibrium("arm.yaml"),
        "q: assemble: the loops do not close from here: end_":
            lambda: symgen.equilibrium(closed, names),
        "derivatives: no pose closes the loops where L changes; hold less":
            lambda: symgen.equilibrium(closed, names[:4], q).derivatives(),
        "along trunk_vx, trunk_vy, trunk_wz; choose a pose by hold=['trunk_vx', 'trunk_vy', ":
            lambda: symgen.equilibrium(quadruped),
    }  # fmt: skip
    for message, call in wrong.items():
        with pytest.raises(RequestError) as caught:
            call()
        assert message in str(caught.value)
