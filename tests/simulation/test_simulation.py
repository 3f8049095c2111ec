"""`symgen.simulate` against energy, and against integration in complex numbers."""

import inspect
import itertools
import pydoc
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import symgen
from symgen.errors import RequestError
from symgen.frameworks.functions import functions_of
from symgen.simulation.inputs import Prescribed
from symgen.simulation.integration import METHODS
from tests import modules
from tests.choosing import slow
from tests.oracles.comparison import agrees

solve_ivp = pytest.importorskip("scipy.integrate").solve_ivp
pytest.importorskip("xarray")

LIMIT = 1e-8  # far above what tolerances of 1e-10 leave in a second, far below any wrong term

CRANE = """
symgen: 1
name: {name}
gravity: [0, -g, 0]
parameters:
  {{g: 9.81, L: 0.7, half: L/2, m1: 1.3, m2: 0.8, m3: 0.5, I2: 0.05, d: 0.2, k: 3, r: 0.1}}
joints:
  - {{name: slide, type: prismatic, parent: base, origin: {{}}, axis: [1, 0, 0], damping: d,
      prescribed: {slide}, link: {{name: cart, mass: m1}}}}
  - {{name: boom, type: revolute, origin: {{}}, stiffness: k, rest: r, prescribed: {boom},
      link: {{name: beam, mass: m2, com: [0, -half, 0], inertia: {{zz: I2}}}}}}
  - {{name: hook, type: revolute, origin: {{xyz: [0, -L, 0]}}, damping: d/4, prescribed: {hook},
      link: {{name: rope, mass: m3, com: [0, -0.4, 0], inertia: {{zz: 0.01}}}}}}
loads: [{{name: wind, link: rope, point: [0, -0.5, 0]}}]
points: [{{name: tip, link: rope, point: [0.1, -0.8, 0]}}]
outputs:
  energy: kinetic_energy + potential_energy
  losses: d*qd.slide**2 + d/4*qd.hook**2
  power: tau.slide*qd.slide + tau.boom*qd.boom + tau.hook*qd.hook
  reach: points.tip.y**2 + L*points.tip.ax + t*sin(q.hook)
  effort: tau.slide**2/10 + r*tau.boom*qdd.boom + loads.wind.fx*q.hook
  pull: wrenches.hook.fy/g
"""
Q0, QD0 = np.array([0.1, 0.6, -0.4]), np.array([0.3, -0.5, 0.9])
T = np.linspace(0.2, 0.8, 7)

SENSITIVE = (
    "forward_dynamics", "forward_dynamics_sensitivities", "outputs", "outputs_derivatives",
)  # fmt: skip


def crane(functions=SENSITIVE, runtime="all", formulations="newton_euler", **prescribed):
    given = {name: str(prescribed.get(name, False)).lower() for name in ("slide", "boom", "hook")}
    text = CRANE.format(name="crane", **given)
    options = {"runtime_parameters": runtime, "formulations": formulations}
    return modules.module(text, functions=functions, **options)


@pytest.fixture(scope="module")
def free():
    return crane()


@pytest.fixture(scope="module")
def both():
    """By two formulations, with derivatives and what the oracle calls."""
    derivatives = ("forward_dynamics_derivatives", "forward_dynamics_parameter_derivatives")
    functions = (*SENSITIVE, *derivatives, "mass_matrix", "bias_forces")
    return crane(functions, formulations="newton_euler,kane")


@pytest.fixture(scope="module")
def driven():
    return crane(("hybrid_dynamics", "inverse_dynamics"), boom=True)


class Oracle:
    """Motions of all variations at once, one row each; accelerations by M and the bias forces."""

    def __init__(self, robot, tau=None, loads=None, prescribed=None):
        self.robot = robot.backends["numpy"].newton_euler
        self.n, self.held = robot.n, np.array(robot.prescribed)
        self.tau = tau or (lambda t, q, qd: np.zeros(self.n))
        self.loads = loads or (lambda t: np.zeros((robot.n_loads, 6)))
        self.prescribed = prescribed

    def everything(self, t, q, qd, parameters):
        q, qd, qdd = q.copy(), qd.copy(), np.zeros_like(q)
        if self.held.any():
            q[:, self.held], qd[:, self.held], qdd[:, self.held] = self.prescribed(t)
        tau = np.array([self.tau(t, *row) for row in zip(q, qd, strict=True)]) + 0 * q
        rest = {"parameters": parameters}
        M = self.robot.mass_matrix(q, **rest)
        bias = self.robot.bias_forces(q, qd, loads=self.loads(t), **rest)
        force = tau - bias - (M @ qdd[..., None])[..., 0]
        free = ~self.held
        block = M[:, free][:, :, free]
        qdd[:, free] = np.linalg.solve(block, force[:, free, None])[..., 0]
        tau[:, self.held] = ((M @ qdd[..., None])[..., 0] + bias)[:, self.held]
        outputs = self.robot.outputs(t, q, qd, qdd, tau, loads=self.loads(t), **rest)
        return {"q": q, "qd": qd, "qdd": qdd, "tau": tau, "outputs": outputs}

    def derivatives(self, q, qd, parameters, times, dq, dqd, dp):
        """Values and derivatives along the rows of dq, dqd, dp, by complex steps."""
        h = 1e-40
        q, qd, parameters = (x + 1j * h * dx for x, dx in ((q, dq), (qd, dqd), (parameters, dp)))

        def parts(y):
            return np.split(y.reshape(len(dp), -1), [self.n, 2 * self.n], axis=1)[:2]

        def slope(t, y):
            at = self.everything(t, *parts(y), parameters)
            return np.concatenate([at["qd"], at["qdd"], at["outputs"]], axis=1).ravel()

        first = self.everything(times[0], q, qd, parameters)
        start = np.concatenate([q, qd, 0 * first["outputs"]], axis=1).ravel()
        solved = solve_ivp(slope, times[[0, -1]], start, "DOP853", times, rtol=1e-11, atol=1e-11)
        rows = [
            self.everything(t, *parts(y), parameters)
            for t, y in zip(times, solved.y.T, strict=True)
        ]
        table = {name: np.array([row[name] for row in rows]) for name in first}
        table["integral"] = solved.y[:, -1].reshape(len(dp), -1)[:, 2 * self.n :]
        values = {name: x[..., 0, :].real for name, x in table.items()}
        slopes = {name: np.moveaxis(x.imag, -2, -1) / h for name, x in table.items()}
        return values, slopes


def close(found, expected, limit=LIMIT):
    assert agrees(found, expected, limit)


def agree(motion, values, slopes):
    """All that a Dataset holds is what the oracle says."""
    for name in ("q", "qd", "qdd", "tau"):
        close(motion[name], values[name])
        close(motion[f"d{name}"], slopes[name])
    close(motion.outputs, values["outputs"])
    close(motion.outputs_gradient, slopes["outputs"])
    close(motion.end, values["outputs"][-1])
    close(motion.end_gradient, slopes["outputs"][-1])
    close(motion.integral, values["integral"])
    close(motion.integral_gradient, slopes["integral"])


def feedback(t, q, qd):
    push = np.array([np.sin(3 * t), -2.0, 0.4])
    return push - 0.7 * q * np.roll(q, 1) - np.array([1, 0.5, 0.1]) * qd


def feedback_derivatives(t, q, qd):
    dtau_dq = -0.7 * (np.diag(np.roll(q, 1)) + np.diag(q) @ np.roll(np.eye(3), -1, axis=1))
    return dtau_dq, -np.diag([1, 0.5, 0.1])


def wind(t, *state):
    return np.array([[3 * np.cos(5 * t), 1.0, 0.0, 0.0, 0.0, 0.5]])


@pytest.mark.slow
@pytest.mark.parametrize("by", ["tau_derivatives", "complex step"])
def test_sensitivities_to_parameters_under_feedback(both, by):
    dq0 = np.array([[0.0, 1.0, 0.0], [0.5, 0.0, -1.0]])  # of L and k
    dp = np.eye(both.n_parameters)
    oracle = Oracle(both, feedback, wind)
    rows = {name: np.zeros((both.n_parameters, 3)) for name in ("dq", "dqd")}
    for name, row in zip(("L", "k"), dq0, strict=True):
        rows["dq"][both.parameter_names.index(name)] = row
    rows["dqd"][both.parameter_names.index("m3")] = [0.1, 0.2, 0.3]
    expected = oracle.derivatives(Q0, QD0, both.default_parameters, T, **rows, dp=dp)
    motion = symgen.simulate(
        both, Q0, QD0, T, tau=feedback, loads=wind, sensitivities="all", objectives="all",
        dq0={"L": dq0[0], "k": dq0[1]}, dqd0={"m3": [0.1, 0.2, 0.3]},
        tau_derivatives=None if by == "complex step" else feedback_derivatives,
    )  # fmt: skip
    agree(motion, *expected)


@pytest.mark.slow
def test_sensitivities_to_initial_values_and_some_parameters(both):
    names = ("q0.boom", "m3", "qd0.hook", "L")
    dp = np.zeros((4, both.n_parameters))
    dp[1, both.parameter_names.index("m3")] = dp[3, both.parameter_names.index("L")] = 1
    dq, dqd = np.zeros((4, 3)), np.zeros((4, 3))
    dq[0, 1], dqd[2, 2] = 1, 1
    dq[3] = [0.1, 0.2, 0.3]
    values = dict(zip(both.parameter_names, both.default_parameters, strict=True)) | {"k": 5.0}
    expected = Oracle(both).derivatives(Q0, QD0, np.array([*values.values()]), T, dq, dqd, dp)
    motion = symgen.simulate(
        both, Q0, QD0, T, parameters={"k": 5.0}, sensitivities=names, objectives="all",
        dq0=np.array([[0, 0.1], [0, 0.2], [0, 0.3]]),
    )  # fmt: skip
    assert list(motion.parameter.values) == list(names)
    agree(motion, *expected)
    last = motion.output.values[-1:].tolist()
    single = symgen.simulate(
        both, Q0, QD0, T, parameters={"k": 5.0}, sensitivities=names, objectives=last,
        dq0=np.array([[0, 0.1], [0, 0.2], [0, 0.3]]),
    )  # fmt: skip
    close(single.end_gradient, motion.end_gradient.sel(objective=last), 1e-9)


@pytest.mark.slow
def test_torques_may_depend_on_parameters(free):
    gain = free.parameter_names.index("k")

    def tau(t, q, qd, k=free.default_parameters[gain]):
        return -k * np.array([1.0, 0.0, 0.5]) * q

    def tau_derivatives(t, q, qd):
        slope = -np.diag([1.0, 0.0, 0.5])
        return 3.0 * slope, np.zeros((3, 3)), (slope @ q)[:, None]

    motion = symgen.simulate(
        free, Q0, QD0, T, tau=tau, tau_derivatives=tau_derivatives, sensitivities=["k"]
    )
    h = 1e-4
    ends = []
    for k in (3.0 + h, 3.0 - h):
        moved = symgen.simulate(
            free, Q0, QD0, T, tau=lambda t, q, qd, k=k: tau(t, q, qd, k), parameters={"k": k},
            rtol=1e-12, atol=1e-12,
        )  # fmt: skip
        ends.append(moved.q.values)
    close(motion.dq[..., 0], (ends[0] - ends[1]) / (2 * h), 1e-7)


@pytest.mark.slow
def test_both_ways_to_accelerations_agree_and_the_cheaper_one_is_taken(both):
    cheap = {name: {"additions": 1} for name in both.functions}
    results = []
    for ways in (("sensitivities",), ("derivatives", "parameter_derivatives")):
        dear = {f"forward_dynamics_{way}": {"additions": 10**9} for way in ways}
        kept = {name: getattr(both, name) for name in dir(both) if not name.startswith("_")}
        kept |= dict.fromkeys(dear, "not to be called")
        module = SimpleNamespace(**kept | {"operation_counts": {"kane": cheap | dear}})
        results.append(symgen.simulate(module, Q0, QD0, T, tau=feedback, sensitivities="all"))
    close(results[0].dqdd, results[1].dqdd)


def swing(t):
    return [0.5 * np.sin(4 * t)], [2 * np.cos(4 * t)], [-8 * np.sin(4 * t)]


@pytest.mark.slow
def test_prescribed_motion():
    functions = ("hybrid_dynamics", "inverse_dynamics", "mass_matrix", "bias_forces")
    slopes = ("derivatives", "parameter_derivatives")
    derivatives = [f"{name}_{x}" for name in functions[:2] for x in slopes]
    outputs = ("outputs", "outputs_derivatives")
    driven = crane((*functions, *derivatives, *outputs), boom=True)
    s = driven.n_parameters + 2
    dp = np.vstack([np.eye(driven.n_parameters), np.zeros((2, driven.n_parameters))])
    dq, dqd = np.zeros((s, 3)), np.zeros((s, 3))
    dq[-2, 2], dqd[-1, 0] = 1, 1
    oracle = Oracle(driven, feedback, wind, swing)
    expected = oracle.derivatives(Q0, QD0, driven.default_parameters, T, dq, dqd, dp)
    motion = symgen.simulate(
        driven, Q0, QD0, T, tau=feedback, loads=wind, prescribed=swing, objectives="all",
        sensitivities=(*driven.parameter_names, "q0.hook", "qd0.slide"),
    )  # fmt: skip
    agree(motion, *expected)
    assert not motion.dq.sel(coordinate="boom").any()
    assert np.abs(motion.dtau.sel(coordinate="boom")).max() > 1


@pytest.mark.slow
def test_all_joints_prescribed_is_inverse_dynamics():
    names = ("hybrid_dynamics", "inverse_dynamics")
    slopes = [f"{x}_{y}" for x in names for y in ("derivatives", "parameter_derivatives")]
    robot = crane((*names, *slopes), slide=True, boom=True, hook=True, runtime="m3")

    def given(t):
        w = np.arange(1, 4)
        return np.sin(t * w), w * np.cos(t * w), -w * w * np.sin(t * w)

    motion = symgen.simulate(robot, Q0, QD0, T, prescribed=given, sensitivities="all")
    q, qd, qdd = (np.array([given(t)[k] for t in T]) for k in range(3))
    close(motion.tau, robot.inverse_dynamics(q, qd, qdd), 1e-13)
    slope = robot.inverse_dynamics_parameter_derivatives(q, qd, qdd)
    close(motion.dtau, slope, 1e-13)
    assert motion.attrs["evaluations"] == 0


def test_a_plain_number_serves_as_one_entry(driven):
    def floats(t):
        return tuple(float(x[0]) for x in swing(t))

    motion = symgen.simulate(driven, Q0, QD0, T, prescribed=swing)
    for same in (floats, lambda t: np.array(floats(t)), lambda t: np.array(swing(t))):
        again = symgen.simulate(driven, Q0, QD0, T, prescribed=same)
        np.testing.assert_array_equal(again.tau, motion.tau)


def test_a_prescribed_motion_is_asked_for_within_the_times_alone(driven):
    seen = []

    def table(t):  # as an interpolation, which has no values outside
        seen.append(t)
        return swing(t)

    for t in ([0.3, 0.8], [1e6, 1e6 + 1], [0.1, np.nextafter(0.1, 1)]):
        seen.clear()
        symgen.simulate(driven, Q0, QD0, t, prescribed=table, rtol=1e-3, atol=1e-3, max_step=1)
        assert min(seen) == t[0] and max(seen) == t[-1]


def test_late_times_are_no_reason_to_refuse_a_prescribed_motion():
    """There 1e-5 s are less than the spacing of times."""
    boom = SimpleNamespace(n=1, coordinate_names=("boom",), position_names=("boom",))
    Prescribed(lambda t: (0.1 * t, 0.1, 0), boom, np.array([True])).check(1e12, 1e12 + 1)
    with pytest.raises(RequestError, match=r"but qd is 0\.2"):
        Prescribed(lambda t: (0.1 * t, 0.2, 0), boom, np.array([True])).check(1e12, 1e12 + 1)


GRID = np.linspace(0, 1, 1001)


@pytest.mark.parametrize("given", [
    lambda t: (t * t, 2 * t, 2) if t < 0.5 else (0.5 - (1 - t) ** 2, 2 * (1 - t), -2),
    lambda t: (max(t - 0.3, 0) ** 3, 3 * max(t - 0.3, 0) ** 2, 6 * max(t - 0.3, 0)),
    lambda t: (1.3, 0, 0),
    lambda t: (1e3 - 2 * t, -2, 0),
    lambda t: (1e-6 * np.sin(t), 1e-6 * np.cos(t), -1e-6 * np.sin(t)),
    *slow(lambda t: (np.sin(300 * t), 300 * np.cos(300 * t), -9e4 * np.sin(300 * t))),
    lambda t: [np.interp(t, GRID, values) for values in np.array(swing(GRID))[:, 0]],
])  # fmt: skip
def test_consistent_prescribed_motions_are_accepted(driven, given):
    t = np.linspace(0, 1, 3)
    qd0 = [QD0[0], np.nan, QD0[2]]  # what is prescribed is not read
    motion = symgen.simulate(driven, Q0, qd0, t, prescribed=given, rtol=1e-4, atol=1e-4)
    assert motion.tau.notnull().all()


def test_energy_is_what_torques_bring_and_damping_takes(free):
    motion = symgen.simulate(
        free, Q0, QD0, np.linspace(0, 2, 5), tau=feedback,
        objectives=["power", "losses"],
    )  # fmt: skip
    change = motion.outputs.sel(output="energy")[-1] - motion.outputs.sel(output="energy")[0]
    balance = motion.integral.sel(objective="power") - motion.integral.sel(objective="losses")
    assert abs(change) > 0.1
    assert abs(float(change - balance)) < 1e-8


def test_the_dataset_names_its_axes(free):
    motion = symgen.simulate(
        free, Q0, QD0, T, sensitivities="L, m3", objectives=["effort"], method="LSODA", rtol=1e-8,
        formulation="newton_euler",
    )  # fmt: skip
    assert dict(motion.sizes) == {
        "time": 7, "coordinate": 3, "parameter": 2, "output": 6, "objective": 1,
    }  # fmt: skip
    assert motion.dq.dims == ("time", "coordinate", "parameter")
    assert motion.integral_gradient.dims == ("objective", "parameter")
    assert list(motion.coordinate.values) == ["slide", "boom", "hook"]
    assert list(motion.output.values) == list(free.output_names)
    np.testing.assert_array_equal(motion.time, T)
    np.testing.assert_array_equal(motion.q[0], Q0)
    attributes = motion.attrs
    assert attributes.pop("evaluations") > 20
    assert attributes == {
        "robot": free.name, "formulation": "newton_euler", "method": "LSODA", "rtol": 1e-8,
        "atol": 1e-10,
    }  # fmt: skip
    one = motion.dq.sel(coordinate="hook", parameter="L", time=T[-1])
    assert one == motion.dq[-1, 2, 0]


def test_without_requests_there_is_the_motion_alone(free):
    motion = symgen.simulate(free, Q0, QD0, T)
    assert set(motion.data_vars) == {"q", "qd", "qdd", "tau"}
    motion = symgen.simulate(free, Q0, QD0, [0.5, 0.6], tau=[1, 2, 3], loads=wind(0.1))
    np.testing.assert_array_equal(motion.tau[0], [1, 2, 3])
    qdd = free.forward_dynamics(Q0, QD0, [1.0, 2.0, 3.0], loads=wind(0.1))
    close(motion.qdd[0], qdd, 1e-14)


def test_torques_and_loads_by_name(free):
    """Also of functions, and of functions that are differentiated by complex step."""
    rows = {"loads": wind(0.1), "tau": [0, 2, 0]}
    named = {"loads": {"wind": wind(0.1)[0]}, "tau": {"boom": 2}}
    expected = symgen.simulate(free, Q0, QD0, T[:2], sensitivities="L", **rows)
    functions = {name: lambda t, q, qd, value=value: value for name, value in named.items()}
    for inputs in (named, functions):
        motion = symgen.simulate(free, Q0, QD0, T[:2], sensitivities="L", **inputs)
        np.testing.assert_array_equal(motion.dq, expected.dq)
    assert refusal(free, Q0, QD0, T, loads={"wnd": [0] * 6}).endswith("did you mean 'wind'?")


def test_limits_are_no_stops():
    limited = CRANE.replace("rest: r,", "rest: r, limits: {{lower: -1, upper: 0.65}},")
    text = limited.format(name="crane", slide="false", boom="false", hook="false")
    module = modules.module(text, functions="forward_dynamics", formulations="newton_euler")
    with pytest.warns(RuntimeWarning, match=r"no stops: .* of boom, first at t = 0\.\d+ s; "):
        symgen.simulate(module, Q0, [0, 2, 0], T)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["newton_euler", "kane"])
def test_the_formulation_is_named(both, name):
    def used(module, **options):
        return symgen.simulate(module, Q0, QD0, T[:2], **options).attrs.get("formulation")

    assert used(both, formulation=name) == name
    kept = {name: getattr(both, name) for name in dir(both) if not name.startswith("_")}
    for function in both.newton_euler.__all__:
        kept[function] = getattr(getattr(both, name), function, None) or kept[function]
    assert used(SimpleNamespace(**kept)) == name
    mixed = SimpleNamespace(**kept | {"formulations": ("newton_euler", "kane")})
    del mixed.forward_dynamics_sensitivities
    mixed.forward_dynamics_derivatives = both.kane.forward_dynamics_derivatives
    mixed.forward_dynamics_parameter_derivatives = (
        both.newton_euler.forward_dynamics_parameter_derivatives
    )
    assert used(mixed, sensitivities="L") == "kane, newton_euler"
    kept["forward_dynamics"] = lambda *arguments, **options: both.forward_dynamics(*arguments)
    assert used(SimpleNamespace(**kept)) is None  # nothing tells


def test_help_shows_the_function_itself():
    assert symgen.simulate is symgen.simulation.simulate
    assert "tau_derivatives" in inspect.signature(symgen.simulate).parameters
    assert "tau_derivatives" in pydoc.plain(pydoc.render_doc(symgen))
    with pytest.raises(AttributeError, match="module 'symgen' has no attribute 'simulat'"):
        symgen.simulat


def test_parameters_are_names_or_an_array(free):
    named = symgen.simulate(free, Q0, QD0, T, parameters={"L": 0.9, "m3": 1.0})
    values = np.array(free.default_parameters)
    values[[free.parameter_names.index("L"), free.parameter_names.index("m3")]] = 0.9, 1.0
    given = symgen.simulate(free, Q0, QD0, T, parameters=values)
    np.testing.assert_array_equal(named.q, given.q)
    assert np.abs(named.q - symgen.simulate(free, Q0, QD0, T).q).max() > 0.01


def test_functions_of_the_user_cannot_spoil_the_state(free):
    kept = []

    def rude(t, q, qd):
        kept.append(q)
        result = feedback(t, q, qd)
        q[:] = np.nan
        return result

    spoilt = symgen.simulate(free, Q0, QD0, T, tau=rude)
    np.testing.assert_array_equal(spoilt.q, symgen.simulate(free, Q0, QD0, T, tau=feedback).q)
    assert len({id(q) for q in kept}) == len(kept)


def refusal(*arguments, **options):
    with pytest.raises(RequestError) as caught:
        symgen.simulate(*arguments, **options)
    return str(caught.value)


MORE_TIMES = "t: expected two or more times, the first of them the start, such as numpy.linspace"
NO_MODULE = "simulate: expected a generated module, got "


@pytest.mark.parametrize(("options", "words"), [
    ({"parameters": {"m33": 1.0}}, "no runtime parameter is called 'm33'; did you mean 'm3'?"),
    ({"parameters": [1.0]}, "parameters: expected shape (9,), got (1,)"),
    ({"sensitivities": "Lx"}, "no runtime parameter is called 'Lx'"),
    ({"sensitivities": "q0.bom"}, "no coordinate is called 'bom'; did you mean 'boom'?"),
    ({"sensitivities": "L,L"}, "sensitivities: 'L' stands there twice"),
    ({"sensitivities": "L", "dq0": {"k": Q0}}, "dq0: no sensitivity is called 'k'"),
    ({"sensitivities": "L", "dqd0": np.ones((3, 2))}, "dqd0: expected shape (3, 1)"),
    ({"objectives": "Reach"}, "no output is called 'Reach'; did you mean 'reach'?"),
    ({"formulation": "newton"}, "the module has no 'newton'; did you mean 'newton_euler'?"),
    ({"method": "RK44"}, "no method is called 'RK44'; did you mean 'RK45'?"),
    ({"tau": [1.0]}, "tau: expected shape (3,), got (1,)"),
    ({"tau": lambda t, q, qd: q[:2]}, "tau: expected shape (3,), got (2,)"),
    ({"tau": 1j * Q0}, "tau: expected real numbers, got complex128"),
    ({"tau": lambda t, q, qd: q * np.nan}, "not finite at the start, t = 0.2 s"),
    ({"tau": lambda t, q, qd: q * np.nan, "sensitivities": "L"}, "; tau is not finite there"),
    ({"tau": np.full(3, np.nan)}, "; tau is not finite there"),
    ({"tau": lambda t, q, qd: None}, "tau: the function returned nothing (None)"),
    ({"tau": lambda t: Q0}, "tau: expected a function of (t, q, qd): too many positional"),
    ({"loads": lambda t: Q0}, "loads: expected a function of (t, q, qd): too many positional"),
    ({"loads": lambda t, q, qd: None}, "loads: the function returned nothing (None)"),
    ({"loads": lambda t, q, qd: np.full((1, 6), np.nan), "sensitivities": "L"},
     "; loads is not finite there"),
    ({"tau": feedback, "tau_derivatives": lambda t, q, qd: None, "sensitivities": "L"},
     "tau_derivatives: the function returned nothing (None)"),
    ({"parameters": {"L": np.nan}}, "parameters: L: not all finite: nan"),
    ({"loads": np.zeros(6)}, "loads: expected shape (1, 6), got (6,)"),
    ({"prescribed": swing}, "no joint of this robot is prescribed"),
    ({"tau_derivatives": feedback_derivatives}, "tau is no function of t, q and qd"),
    ({"tau_derivatives": 3, "tau": feedback}, "tau_derivatives: expected a function"),
    ({"sensitivities": None}, "sensitivities: expected names, or 'all'; got None"),
    ({"objectives": None}, "objectives: expected names, or 'all'; got None"),
    ({"method": None}, "no method is called None; there are: auto, DOP853, RK45"),
    ({"rtol": "a"}, "rtol: expected real numbers, got 'a'"),
    ({"first_step": "1"}, "first_step: expected real numbers"),
    ({"first_step": 0.61}, "first_step: expected a number that is positive, at most 0.6 s"),
    ({"first_step": 0}, "first_step: expected a number that is positive"),
    ({"max_step": None}, "max_step: expected real numbers"),
    ({"max_step": 0}, "max_step: expected a number that is positive; got 0"),
    ({"rtoll": 1e-8}, "simulate() has no option 'rtoll'; did you mean 'rtol'?"),
    ({"xyz": 1}, "simulate() has no option 'xyz'; there are: tau, loads, parameters"),
    ({"q0": Q0[:2]}, "q0: expected shape (3,), got (2,)"),
    ({"qd0": QD0 * np.nan}, "qd0: not all finite: [nan, nan, nan]"),
    ({"sensitivities": "L", "dq0": {"L": [0, np.inf, 0]}},
     "dq0: not all finite: [[0.0], [inf], [0.0]]"),
    ({"t": []}, f"{MORE_TIMES}(0, 2, 201); got shape (0,)"),
    ({"t": [[0, 1]]}, f"{MORE_TIMES}(0, 2, 201); got shape (1, 2)"),
    ({"t": [0, 0]}, "t: expected times that increase; t[1] = 0.0 follows t[0] = 0.0"),
    ({"t": [0, 1, 0.5, 2]}, "t: expected times that increase; t[2] = 0.5 follows t[1] = 1.0"),
    ({"t": [0, np.nan, 1]}, "t: not all finite: [0.0, nan, 1.0]"),
    ({"t": [0, [1, 2]]}, "simulate: t: setting an array element"),
    ({"t": None}, "t: expected real numbers, got None"),
    ({"module": None}, f'{NO_MODULE}NoneType; symgen.load("robot.yaml") makes one'),
    ({"module": np}, f'{NO_MODULE}the module numpy; symgen.load("robot.yaml") makes one'),
    ({"module": "a.yaml"}, f"{NO_MODULE}'a.yaml'; symgen.load(\"a.yaml\") makes one"),
    ({"module": Path("a.yaml")}, f"{NO_MODULE}'a.yaml'; symgen.load(\"a.yaml\") makes one"),
])  # fmt: skip
def test_wrong_arguments(free, options, words):
    assert words in refusal(**{"module": free, "q0": Q0, "qd0": QD0, "t": T, **options})


def test_a_formulation_is_no_module(free):
    message = refusal(free.newton_euler, Q0, QD0, T)
    assert "expected a generated module" in message
    assert message.endswith("belongs to, and formulation='newton_euler'")


@pytest.mark.parametrize("call", [
    lambda value: symgen.plan(value, {}), lambda value: symgen.animate(value, ([0], [[0]])),
])  # fmt: skip
def test_plans_and_animations_begin_with_a_module(call):
    for value in ({"symgen_task": 1}, None, np):
        with pytest.raises(RequestError, match="expected a generated module, got"):
            call(value)


@pytest.mark.parametrize(("options", "words"), [
    ({"rtol": 0}, "rtol: expected a number that is positive and finite; got 0"),
    ({"rtol": np.nan}, "rtol: expected a number that is positive and finite; got nan"),
    ({"rtol": np.inf}, "rtol: expected a number that is positive and finite; got inf"),
    ({"atol": -1}, "atol: expected a number that is at least 0 and finite; got -1"),
    ({"atol": np.nan}, "atol: expected a number that is at least 0 and finite; got nan"),
    ({"atol": np.inf}, "atol: expected a number that is at least 0 and finite; got inf"),
    ({"atol": 0}, "atol: 0 leaves no tolerance to what is 0 at the start"),
    ({"first_step": np.nan}, "first_step: expected a number that is positive"),
    ({"max_step": np.nan}, "max_step: expected a number that is positive; got nan"),
])  # fmt: skip
def test_what_makes_integrators_run_forever_is_refused(free, options, words):
    calls = itertools.count()

    def patient(t, q, qd):  # some integrators would go on forever
        assert next(calls) < 10_000
        return 0 * q

    assert words in refusal(free, Q0, [1, 0, 1], T, tau=patient, **options)


def test_no_absolute_tolerance_where_nothing_is_zero(free):
    close(symgen.simulate(free, Q0, QD0, T, atol=0).q, symgen.simulate(free, Q0, QD0, T).q)


@pytest.mark.parametrize(("tau", "qd0", "words"), [
    (lambda t, q, qd: np.array([float(x) for x in q]), QD0, "takes no complex numbers"),
    (lambda t, q, qd: np.array(q, dtype=float), QD0, "takes no complex numbers"),
    (lambda t, q, qd: -np.abs(qd) * q, QD0, "not those by differences"),
    (lambda t, q, qd: 0.0 * q - q.real, QD0, "not those by differences"),
    (lambda t, q, qd: -np.abs(qd) * qd, np.zeros(3), "not those by differences"),  # right at rest
])  # fmt: skip
def test_torques_that_no_complex_step_differentiates(free, tau, qd0, words):
    message = refusal(free, Q0, qd0, T, tau=tau, sensitivities="L")
    assert words in message and "give tau_derivatives" in message
    symgen.simulate(free, Q0, QD0, T[:2], tau=tau)  # nothing is wrong with them otherwise


def test_loads_that_depend_on_the_state_have_no_sensitivities(free):
    def drag(t, q, qd):
        return wind(t) * qd[2]

    message = refusal(free, Q0, QD0, T, loads=drag, sensitivities="L")
    assert "loads: they depend on the state" in message
    assert symgen.simulate(free, Q0, QD0, T[:2], loads=drag).qdd.notnull().all()


def test_prescribed_joints_need_their_motion(driven):
    assert "the motion of boom is prescribed" in refusal(driven, Q0, QD0, T)
    initial = refusal(driven, Q0, QD0, T, prescribed=swing, sensitivities="q0.boom")
    assert "the motion of 'boom' is prescribed" in initial


@pytest.mark.parametrize(("given", "words"), [
    ([0, 0, 0], "the motion of boom is prescribed; give a function of t"),
    (lambda t: ([0], [0], [0, 0]), "prescribed: qdd of boom: expected shape (1,), got (2,)"),
    (lambda t: None, "prescribed: the function returned nothing (None)"),
    (lambda t: 0.0, "expected the function to return (q, qd, qdd), got 0.0"),
    (lambda t: ([0], [0]), "expected the function to return (q, qd, qdd), got ([0], [0])"),
    (lambda t: {"q": 0, "qd": 0, "qdd": 0},
     "prescribed: q of boom: expected real numbers, got 'q'"),
    (lambda t, q, qd: (0, 0, 0), "expected a function of (t): missing a required argument"),
    (lambda t: (t, 1, np.nan), "not finite at the start, t = 0 s"),
    (lambda t: (t, 1, 0 if t < 0.5 else np.nan), "; prescribed is not finite there"),
    (lambda t: (np.sin(t), np.sin(t), -np.sin(t)), "q changes by 1 per second, but qd is 1e"),
    (lambda t: (np.sin(2 * t), np.cos(2 * t), -4 * np.sin(2 * t)), "q changes by 2 per second"),
    # right at the start alone
    (lambda t: (t * t, t, 1.0), "q changes by 0.764005 per second, but qd is 0.382002;"),
    (lambda t: (np.sin(t), np.cos(t), np.sin(t)),
     "qd changes by -0.372779 per second, but qdd is 0.372779;"),
    (lambda t: (t**9, 9 * t**8, 72 * t**7 * (t < 0.9)), "qd changes by 71.99"),
    (lambda t: (t, 1.02, 0), "q changes by 1 per second, but qd is 1.02;"),
    (lambda t: (0.5, 0.0, 1e-4), "qd changes by 0 per second, but qdd is 0.0001;"),
])  # fmt: skip
def test_what_is_no_prescribed_motion(driven, given, words):
    message = refusal(driven, Q0, QD0, [0, 1], prescribed=given)
    assert words in message
    if " changes by " in words:
        assert re.search(r"prescribed: boom: at t = \S+ s ", message)
        assert message.endswith("; return q with its own first and second derivative in time")


def test_the_prescribed_coordinate_at_fault_is_named():
    robot = crane(("hybrid_dynamics", "inverse_dynamics"), slide=True, hook=True)
    message = refusal(
        robot, Q0, QD0, T, prescribed=lambda t: ([t, np.sin(t)], [1, np.cos(t)], [0, np.cos(t)])
    )
    assert "prescribed: hook: at t = 0.20001 s qd changes by -0.198679 " in message


def test_functions_that_were_not_built():
    robot = crane("forward_dynamics,mass_matrix", "L")
    symgen.simulate(robot, Q0, QD0, T[:2])
    message = refusal(robot, Q0, QD0, T, sensitivities="L")
    assert "sensitivities need forward_dynamics_sensitivities, or forward_dynamics_deriv" in message
    assert "symgen build" in message
    assert "simulate needs outputs: " in refusal(robot, Q0, QD0, T, objectives="reach")
    fixed = crane("forward_dynamics", "none")
    assert "it has no runtime parameters" in refusal(fixed, Q0, QD0, T, parameters={"L": 1})


def block(forward_dynamics):
    return SimpleNamespace(
        n=1, n_loads=0, n_parameters=0, parameter_names=(), default_parameters=(),
        coordinate_names=("x",), name="block", actuated=(True,), forward_dynamics=forward_dynamics,
    )  # fmt: skip


def test_a_singular_mass_matrix_is_met_with_time_and_state(free):
    names = ("m2", "m3", "I2")
    assert "the mass matrix is singular" in refusal(
        free, Q0, QD0, T, parameters=dict.fromkeys(names, 0.0) | {"m1": 0.0}
    )

    def forward_dynamics(q, qd, tau, loads=None, parameters=None):
        if q[0] > 1.5:
            raise np.linalg.LinAlgError("forward_dynamics: the mass matrix is singular")
        return np.zeros(1)

    module = block(forward_dynamics)
    assert symgen.simulate(module, [0], [1], [0, 1]).q[-1] == pytest.approx(1)
    message = refusal(module, [0], [1], [0, 1, 2], max_step=0.1)
    found = re.search(r"is singular; t = (\S+) s, q = \[(\S+)\], qd = \[1.0\]", message)
    assert float(found[1]) == pytest.approx(float(found[2]), rel=1e-5)
    assert 1.5 < float(found[1]) < 1.6


def rubbed(v0):
    def forward_dynamics(q, qd, tau, loads=None, parameters=None):
        return tau - q - 2.0 * np.tanh(qd / v0)

    return block(forward_dynamics)


def test_friction_at_rest_is_stiff():
    """Released at 1 it sticks, and creeps by qd = -v0 q / 2; rates are 2 / v0 there.  The default
    goes on by Radau; an explicit method warns; without friction that matters nothing changes."""
    v0, T = 1e-4, 5.0
    options = {"rtol": 1e-6, "atol": 1e-9}
    motion = symgen.simulate(rubbed(v0), [1], [0], [0, 1, T], **options)
    assert motion.attrs["method"] == "DOP853, Radau"
    assert motion.attrs["stiff_from"] < 0.1
    assert motion.attrs["evaluations"] < 2000
    creep = np.arctanh(0.5) * v0  # as q hardly moves
    assert motion.q.values[-1, 0] == pytest.approx(1 - creep * T, abs=2e-7)
    with pytest.warns(RuntimeWarning, match=r"stiff from t = 0\.0.*limits the steps of RK45"):
        symgen.simulate(rubbed(v0), [1], [0], [0, 0.3], method="RK45", **options)
    smooth = symgen.simulate(rubbed(1e3), [1], [0], [0, 10], **options)
    assert smooth.attrs["method"] == "DOP853" and "stiff_from" not in smooth.attrs


@pytest.mark.slow
def test_an_integrator_that_gives_up_says_why(free):
    message = refusal(free, Q0, QD0, [0, 1], tau=lambda t, q, qd: 10 * q**3 * qd**2)
    assert "DOP853: Required step size is less than spacing between numbers. t = " in message


@pytest.mark.parametrize(
    ("method", "sensitivities"),
    [("auto", "L"), ("LSODA", ()), *slow(*[(method, ()) for method in METHODS])],
)
def test_a_motion_that_ceases_to_be_finite_says_when(free, method, sensitivities):
    def until_half(t, q, qd):
        return (np.nan if t > 0.5 else 0.0) * q

    message = refusal(
        free, Q0, QD0, [0, 1], tau=until_half, method=method, rtol=1e-5, atol=1e-5,
        sensitivities=sensitivities,
    )  # fmt: skip
    by = "DOP853" if method == "auto" else method
    found = re.match(rf"simulate: {by}: the motion is not finite at t = (\S+) s, q = ", message)
    assert 0.4999 < float(found[1]) < 0.55  # within a step
    assert "nan" not in message


def test_results_are_finite_where_the_integrator_did_not_look(free):
    message = refusal(free, Q0, QD0, T, tau=lambda t, q, qd: q * np.where(t == T[3], np.nan, 0))
    assert f"simulate: the motion is not finite at t = {T[3]:.6g} s" in message


def test_outputs_that_are_no_objectives_need_not_be_finite(free):
    def outputs(t, *arguments, out, **options):
        free.outputs(t, *arguments, **options, out=out)
        out[3] = np.inf
        out[1] += np.where(t == T[3], np.inf, 0)  # losses

    kept = {name: getattr(free, name) for name in dir(free) if not name.startswith("_")}
    module = SimpleNamespace(**kept | {"outputs": outputs})
    motion = symgen.simulate(module, Q0, QD0, T[:3], objectives=["losses"])
    assert f"not finite at t = {T[3]:.6g} s" in refusal(module, Q0, QD0, T, objectives="losses")
    assert np.isinf(motion.outputs[:, 3]).all() and np.isfinite(motion.integral).all()


def test_errors_of_the_users_functions_are_his(free):
    def broken(t, q, qd):
        if t > 0.5:
            raise ValueError("mine")
        return q

    with pytest.raises(ValueError, match="mine"):
        symgen.simulate(free, Q0, QD0, T, tau=broken)


@pytest.mark.parametrize("missing", ["scipy", "xarray"])
def test_a_missing_library_names_the_extra(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    said = refusal(None, [], [], [])
    assert said.startswith("simulate needs SciPy and xarray (") and missing in said
    assert said.endswith("): pip install 'symgen[simulate]'")


SHAKEN = (modules.EXAMPLES / "two_link.yaml").read_text().replace("  g: ", "  w: 3.0\n  g: ", 1)
OF_STATE = (
    "inverse_dynamics,inverse_dynamics_derivatives,joint_wrenches,forward_dynamics,"
    "forward_dynamics_derivatives,forward_dynamics_parameter_derivatives"
)
OF_TIME = """
forces:
  - {name: push, point: hand, let: {s: 4*sin(w*t)}, force: [s, 2*t, 0], torque: [0, 0, s*t]}
"""


@pytest.mark.slow
def test_a_force_of_time_is_a_load_of_time():
    """In functions and in motions; sensitivities by what it depends on."""
    without, shaken = (
        modules.module(text, functions=OF_STATE, runtime_parameters="w")
        for text in (SHAKEN, SHAKEN + OF_TIME)
    )

    def pushing(t, q=None, qd=None):
        s = 4 * np.sin(3.0 * t)
        return np.stack([s, 2 * t, 0 * t, 0 * t, 0 * t, s * t], axis=-1)[..., np.newaxis, :]

    t = np.linspace(0.1, 2.0, 5)
    state = np.random.default_rng(1).normal(size=(3, 5, 2))
    for name in ("inverse_dynamics_derivatives", "joint_wrenches", "forward_dynamics"):
        expected = getattr(without, name)(*state, loads=pushing(t))
        for one, other in zip(getattr(shaken, name)(*state, t=t), expected, strict=True):
            assert np.allclose(one, other, rtol=1e-12, atol=1e-12), name
    assert np.allclose(shaken.inverse_dynamics(*state), without.inverse_dynamics(*state))  # t = 0
    given = {"t": np.linspace(0, 1, 3), "sensitivities": ["w", "q0.shoulder"]}
    run = symgen.simulate(shaken, [0.2, 0.4], [0, 0], **given)
    with_loads = symgen.simulate(without, [0.2, 0.4], [0, 0], loads=pushing, **given)
    for name in ("q", "qd", "qdd"):
        assert np.allclose(run[name], with_loads[name], rtol=1e-8, atol=1e-8)
    assert np.allclose(*(x.dq.sel(parameter="q0.shoulder") for x in (run, with_loads)))
    ends = [
        symgen.simulate(shaken, [0.2, 0.4], [0, 0], t=given["t"], parameters={"w": w}).q.values
        for w in (3.0 + 1e-4, 3.0 - 1e-4)
    ]
    slope = (ends[0] - ends[1]) / 2e-4
    assert np.allclose(run.dq.sel(parameter="w"), slope, rtol=1e-5, atol=1e-7)
    with pytest.raises(RequestError, match="mentions the time"):
        functions_of(shaken, loads=False, parameters=False)
    task = {"symgen_task": 1, "start": {"q": [0, 0]}, "goal": {"q": [1, 0]}, "time": 1}
    with pytest.raises(
        RequestError, match="plan: a force or a relation of the model mentions the time"
    ):
        symgen.plan(shaken, task)
