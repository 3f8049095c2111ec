"""Rolling without slipping and blades: relations of velocities, against motions in closed form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest

import symgen
from symgen.errors import RequestError
from symgen.runtime.configuration import configuration_of
from symgen.validation.mobility import mobility
from tests.mechanisms.models import BY_PARAMETERS, BY_STATE, model
from tests.modules import EXAMPLES, described, module

pytest.importorskip("scipy")
pytest.importorskip("xarray")

DISC = (EXAMPLES / "mechanisms" / "rolling_disc.yaml").read_text()
X, Y = ({"name": c, "type": "prismatic", "axis": axis, "origin": {}, "link": {"name": f"of_{c}"}}
        for c, axis in (("x", [1, 0, 0]), ("y", [0, 1, 0])))  # fmt: skip
TABLE, R = 2.0, 0.2
SPIN = (
    "((points.e{k}.z - r)*(points.e{k}.v{c} - qd.{c}) - (points.e{k}.{c} - q.{c})*points.e{k}.vz)"
)


def turning(name, axis, **more):
    return {"name": name, "type": "revolute", "axis": axis, "origin": {}, **more}


def ball(coordinates):
    """A ball on a turntable: 2 (omega x ez) = sum of e' e.z - e e'.z over its axes e."""
    inertia = dict.fromkeys(("xx", "yy", "zz"), "2/5*m*r**2")
    link = {"name": "ball", "mass": "m", "com": [0, 0, 0], "inertia": inertia}
    joint = {"name": "turn", "type": "spherical", "coordinates": coordinates, "link": link}
    slips = {c: " + ".join(SPIN.format(k=k, c=c) for k in range(3)) for c in "xy"}
    return model(
        "ball", [X, Y, {**joint, "origin": {"xyz": [0, 0, "r"]}}],
        parameters={"m": 1.5, "r": R, "W": TABLE},
        points=[
            {"name": f"e{k}", "link": "ball", "point": e.tolist()} for k, e in enumerate(np.eye(3))
        ],
        relations={"rolls_x": f"qd.x + W*q.y - r/2*({slips['x']})",
                   "rolls_y": f"qd.y - W*q.x - r/2*({slips['y']})"},
    )  # fmt: skip


def of_ball(t):
    """The centre runs along a circle at 2/7 of the rate of the table."""
    k, at, v = 2 / 7 * TABLE, 0.3 - 0.1j, 0.5 + 0.2j
    z = at + v * (np.exp(1j * k * t) - 1) / (1j * k)
    return [z.real, z.imag]


BLADE = {"mass": 2, "com": [0, 0, 0], "inertia": {"xx": 0.2, "yy": 0.2, "zz": 0.3}}
SKATE = model(
    "skate", [X, Y, turning("turn", [0, 0, 1], link=BLADE)],
    gravity=[3.0, 0, -9.0], relations={"edge": "qd.x*sin(q.turn) - qd.y*cos(q.turn)"},
)  # fmt: skip


def of_skate(t, fall=3.0, rate=2.0):
    """A cycloid: Bloch, Nonholonomic Mechanics and Control (2003), section 1.6."""
    angle, size = rate * t, fall / (2 * rate**2)
    return [size * np.sin(angle) ** 2, size * (angle - np.sin(2 * angle) / 2), angle]


WHEEL = {"mass": 0.5, "com": [0, 0, 0], "inertia": {"xx": 0.002, "yy": 0.004, "zz": 0.002}}
BODY = {"name": "body", "mass": 4, "com": [0, 0, 0.1], "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.2}}
CART = model(
    "cart",
    [X, Y, turning("heading", [0, 0, 1], link=BODY), *(
        turning(name, [0, 1, 0], parent="body", link=WHEEL) | {"origin": {"xyz": [0, y, 0.1]}}
        for name, y in (("left", 0.3), ("right", -0.3)))],
    relations={
        "straight": "qd.y*cos(q.heading) - qd.x*sin(q.heading)",
        **{f"{name}_rolls": f"qd.x*cos(q.heading) + qd.y*sin(q.heading) {sign} 0.3*qd.heading"
           f" - 0.1*qd.{name}" for name, sign in (("left", "-"), ("right", "+"))},
    },
)  # fmt: skip


def of_cart(t, tau=0.3, rate=0.8):
    """Equal torques drive it, and it goes on turning: d/dt (v e) along the heading e."""
    a = 2 * tau / 0.1 / (5 + 2 * 0.004 / 0.01)
    phase = np.exp(1j * rate * t)
    z = a * ((phase - 1) / rate**2 - 1j * phase * t / rate)
    return [z.real, z.imag, rate * t]


LEAN, TURN = 0.3, 3.0


def disc_in_circles():
    """The rate of spin with which the disc keeps its lean, by the balance of moments."""
    sine, cosine, inertia = np.sin(LEAN), np.cos(LEAN), 2 * 0.3**2
    total = inertia / 4 * TURN**2 * sine * cosine - 2 * 9.81 * 0.3 * sine
    return total / (1.5 * inertia * TURN * cosine) - TURN * sine


def of_disc(t):
    size = 0.3 * disc_in_circles() / TURN
    return [size * np.sin(TURN * t), size * (1 - np.cos(TURN * t)), TURN * t, LEAN]


class Case(NamedTuple):
    """A model, its motion, values at the start; `fixed`: steps of one size make errors."""

    text: str
    known: Any
    q: Mapping[str, float] = {}
    qd: Mapping[str, float] = {}
    tau: Mapping[str, float] = {}
    freedoms: int = 3
    fixed: bool = True


AT = {"x": 0.3, "y": -0.1}, {"x": 0.5, "y": 0.2}
CASES = {
    "disc": Case(DISC, of_disc, {"lean": LEAN}, {"heading": TURN, "spin": disc_in_circles()}),
    "upright": Case(DISC, lambda t: [0, 0, 9 * t, 0], {}, {"heading": 9.0}, fixed=False),
    **{kind: Case(ball(kind), of_ball, *AT) for kind in ("angles", "quaternion")},
    "euler_parameters": Case(ball("euler_parameters"), of_ball, *AT),
    "skate": Case(SKATE, of_skate, {}, {"turn": 2.0}, freedoms=2),
    "cart": Case(CART, of_cart, {}, {"heading": 0.8}, {"left": 0.3, "right": 0.3}, 2),
}  # fmt: skip


def started(case, **options):
    """Return the module of a case, and its coordinates, velocities and torques at the start."""
    functions = BY_PARAMETERS if "runtime_parameters" in options else BY_STATE
    robot = module(case.text, functions=functions, **options)
    q, qd, tau = robot.initial_q.copy(), np.zeros(robot.n), np.zeros(robot.n)
    names = [*robot.position_names], [*robot.coordinate_names], [*robot.coordinate_names]
    for array, order, values in zip((q, qd, tau), names, (case.q, case.qd, case.tau), strict=True):
        array[:] = 0 if case.text == DISC else array
        for name, value in values.items():
            array[order.index(name)] = value
    return robot, q, robot.closed_velocities(q, qd, hold=list(case.qd)), tau


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_motions_in_closed_form(name):
    """By both ways of simulation; steps of one size make errors of order 2."""
    case, end = CASES[name], 0.6
    robot, q, qd, tau = started(case)
    assert robot.freedoms(q) == case.freedoms
    assert np.array_equal(robot.assemble(q, hold=[]), robot.normalize(q))

    def error(**options):
        motion = symgen.simulate(robot, q, qd, [0, end], tau=tau, **options)
        at, rates = motion.q.values[-1], motion.qd.values[-1]
        assert np.abs(robot.constraint_rates(at, rates)).max() < 1e-8
        return np.abs(at[: len(expected)] - expected).max()

    expected = np.asarray(case.known(end))
    assert error(rtol=1e-10, atol=1e-10) < 1e-8
    coarse, fine = error(step=0.02), error(step=0.01)
    assert np.isclose(coarse, 4 * fine, rtol=0.1) if case.fixed else coarse < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "projection"),
    [("disc", "mass"), ("disc", "tangent"), ("angles", "mass"), ("quaternion", "mass"),
     ("quaternion", "tangent"), ("euler_parameters", "mass"), ("cart", "mass")],
)  # fmt: skip
@pytest.mark.parametrize("backend", ["numpy", "compiled"])
def test_sensitivities_are_those_of_the_discrete_motion(name, projection, backend):
    """By parameters and by initial values, against central differences of the same steps."""
    case = CASES[name]
    first = {} if name == "cart" else {"runtime_parameters": "r"}
    robot, q, qd, tau = started(case, backend=backend, **first)
    space, change = configuration_of(robot), 1e-5
    wanted = [*first.values(), "q0.x", f"qd0.{robot.coordinate_names[2]}"]
    options = {"tau": tau + 0.1, "step": 0.01, "projection": projection}
    motion = symgen.simulate(robot, q, qd, [0, 0.1], sensitivities=wanted, **options)
    keys = ("qd", "qdd", "multipliers", "velocity_multipliers")
    for k, name in enumerate(wanted):
        ends = []
        for way in (change, -change):
            moved = space.integrate(q, way * motion.dq.values[0, :, k])
            rates = qd + way * motion.dqd.values[0, :, k]
            values = {"r": robot.default_parameters[0] + way} if name == "r" else {}
            ends.append(
                symgen.simulate(robot, moved, rates, [0, 0.1], parameters=values, **options)
            )
        after, before = ends
        pairs = {"dq": space.difference(before.q.values[-1], after.q.values[-1])}
        pairs |= {f"d{key}": after[key].values[-1] - before[key].values[-1] for key in keys}
        for key, difference in pairs.items():
            expected = difference / (2 * change)
            size = max(1.0, np.abs(expected).max())
            assert np.abs(motion[key].values[-1, :, k] - expected).max() < 1e-6 * size, (name, key)


def test_positions_do_not_know_constraints_of_velocities():
    state = mobility(described(DISC))
    assert (state.freedoms, state.placements, state.gruebler) == (3, 5, 3)
    assert str(state).startswith("2 constraints; 3 degrees of freedom, 5 of positions (Gruebler")


LEANING = (
    DISC.replace("[0, 0, -9.81]", "[0.8, 0.6, -9.81]")
    .replace("name: lean,", "name: lean, stiffness: 30, rest: 0.2,")
    .replace("name: heading,", "name: heading, stiffness: 3,")
    .replace("relations:", """springs: [{name: tie, stiffness: 40, length: 0.2, between: [
  {link: base, point: [0.1, 0.2, 0.9]}, {link: leaning, point: [0.05, 0, 0.3]}]}]
relations:""")
)  # fmt: skip


@pytest.mark.slow
def test_a_tied_disc_rests_on_a_slope():
    """Friction keeps it from sliding sideways, and turns with it: there is no energy to be least.
    Derivatives lead along velocities that do not slip."""
    disc = module(LEANING, functions=BY_PARAMETERS, runtime_parameters="all")
    rest, values = symgen.equilibrium(disc), disc.default_parameters
    assert rest.stable is None and np.abs(rest.multipliers).max() > 1.0
    released = disc.constrained_forward_dynamics(rest.q, np.zeros(5), np.zeros(5))
    assert np.abs(released.qdd).max() < 1e-12 and np.abs(rest.residual).max() < 1e-12
    np.testing.assert_allclose(released.multipliers, rest.multipliers, atol=1e-11)
    slopes = rest.derivatives()
    assert np.abs(disc.constraint_jacobian(rest.q) @ slopes.dq).max() < 1e-14
    for k, name in enumerate(disc.parameter_names):
        h = 1e-5
        above, below = (
            symgen.equilibrium(disc, q=rest.q, parameters={name: values[k] + s}) for s in (h, -h)
        )
        np.testing.assert_allclose((above.q - below.q) / (2 * h), slopes.dq[:, k], atol=1e-9)
        change = above.multipliers - below.multipliers
        np.testing.assert_allclose(change / (2 * h), slopes.dmultipliers[:, k], atol=1e-8)


@pytest.mark.slow
def test_equilibria_that_roll():
    """That of the same wheel by a relation of positions; a moved ground, and a pose left open."""
    held, texts = ["heading"], [LEANING, re.sub(r"qd\.(x|y|spin)", r"q.\1", LEANING)]
    texts[0] = texts[0].replace("cos(q.heading)", "1").replace("sin(q.heading)", "0")
    texts[1] = texts[1].replace("cos(q.heading)", "1").replace("sin(q.heading)", "0")
    one, same = (symgen.equilibrium(module(x, functions=BY_STATE), held) for x in texts)
    np.testing.assert_allclose(one.q, same.q, atol=1e-12)
    np.testing.assert_allclose(one.multipliers, same.multipliers, atol=1e-11)
    assert one.stable is same.stable is True and abs(one.q[4]) > 0.1
    with pytest.raises(RequestError, match=r"along heading, spin; choose a pose by hold=\['headin"):
        symgen.equilibrium(module(DISC, functions=BY_STATE))
    moved = module(texts[0].replace("qd.y -", "qd.y - 0.5 -"), functions=BY_STATE)
    with pytest.raises(RequestError, match=r"'rolls_in_y' moves the robot: at rest it is -0\.5; "):
        symgen.equilibrium(moved, held)
