"""Mechanisms in steps of one size: against published figures, the adaptive way, and themselves.

Compiled modules, whose builds compare C with the reference in Python already; where torques are
functions, the reference itself runs."""

import warnings
from functools import cache

import numpy as np
import pytest

import symgen
from symgen.errors import RequestError
from symgen.runtime.closure import row_sizes
from symgen.simulation import fixed_steps, sample
from symgen.validation.mechanism_kernels import accelerations, steps
from tests.choosing import deep
from tests.mechanisms.models import BY_PARAMETERS, BY_STATE, FOUR_BAR, loaded
from tests.mechanisms.test_examples import GRADIENTS, MECHANISMS, OBJECTIVES
from tests.modules import module

pytest.importorskip("scipy")
pytest.importorskip("xarray")

NAMES = ("L_s1", "L_s2", "m", "x_G", "L_A1")


def compiled(name, parameters="", backend="compiled"):
    options = {"runtime_parameters": parameters} if parameters else {}
    functions = [*(BY_PARAMETERS if parameters else BY_STATE), "loop_wrenches"]
    functions += ["outputs", "outputs_derivatives"] if parameters else []
    functions += ["kinetic_energy", "potential_energy"] if name == "double_four_bar" else []
    path = MECHANISMS / f"{name}.yaml"
    return module(path, functions=functions, backend=backend, **options)


@cache
def five_bar_start():
    five_bar = compiled("five_bar", ",".join(NAMES))
    q = five_bar.assemble()
    closing = five_bar.closing_derivatives(q, hold=["A", "one"])
    return five_bar, q, closing[:, five_bar.parameter_names.index("L_A1")]


def five_bar_motion(end=5.0, **options):
    five_bar, q, length = five_bar_start()
    given = {"sensitivities": NAMES, "dq0": {"L_A1": length}, "objectives": "all"} | options
    return symgen.simulate(five_bar, q, np.zeros(4), np.linspace(0, end, 3), **given)


@cache
def published(step):
    found = five_bar_motion(step=step)
    return found.integral.values, found.integral_gradient.values, float(found.violation.max())


@pytest.mark.slow
def test_the_fifteen_gradients_of_the_five_bar_linkage():
    """Those of table 7 at 1 ms; order 2; without the error of that order, six digits."""
    errors = {}
    for step in (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4):
        values, gradients, violation = published(step)
        assert violation < 1e-13
        assert np.allclose(values, OBJECTIVES, rtol=4e-5 * (step / 4e-3) ** 2)
        errors[step] = np.abs(gradients / GRADIENTS - 1).max()
    assert errors[1e-3] < 1.2e-4
    for coarse, fine in ((4e-3, 2e-3), (2e-3, 1e-3), (1e-3, 5e-4), (5e-4, 2.5e-4)):
        known = 2e-6  # so exact are the seven digits of the reference
        assert np.isclose(errors[coarse], 4 * errors[fine], rtol=0.03, atol=5 * known)
    (_, coarse, _), (_, fine, _) = published(1e-3), published(5e-4)
    assert np.allclose((4 * fine - coarse) / 3, GRADIENTS, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [{}, {"projections": 4}, {"penalty": 1e7}, {"projection": np.diag([2.0, 1.0, 3.0, 1.5])},
     {"projection": "tangent"}],
    ids=["mass", "iterated", "penalty", "matrix", "tangent"],
)  # fmt: skip
def test_sensitivities_are_those_of_the_steps_themselves(options):
    """Central differences of the same discrete motion, of the multipliers and projections too."""
    five_bar, _, _ = five_bar_start()
    options = {"step": 5e-3, **options}
    start = dict(zip(five_bar.parameter_names, five_bar.default_parameters, strict=True))
    found = five_bar_motion(0.1, **options)
    for name in ("m", "L_s2", "x_G"):
        sides = [
            five_bar_motion(
                0.1, **options, sensitivities=(), dq0=None,
                parameters={name: start[name] + move * 1e-2},
            )
            for move in (1, -1, 2, -2)
        ]  # fmt: skip

        def slope(result, sides=sides):
            one, minus_one, two, minus_two = (side[result].values for side in sides)
            return (8 * (one - minus_one) - (two - minus_two)) / 12e-2

        column = NAMES.index(name)
        for result in ("q", "qd", "qdd", "multipliers", "velocity_multipliers",
                       "acceleration_multipliers"):  # fmt: skip
            expected, exact = slope(result), found[f"d{result}"].values[..., column]
            assert np.abs(exact - expected).max() < 1e-5 * np.abs(expected).max() + 1e-8, result
        gradient = found.integral_gradient.values[:, column]
        assert np.allclose(gradient, slope("integral"), rtol=1e-6, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["five_bar", "andrews", *deep("double_four_bar")])
def test_every_build_compares_c_with_the_reference(name):
    parameters = ",".join(NAMES) if name == "five_bar" else ""
    module = compiled(name, parameters)
    made = [list(accelerations(module)), list(steps(module))]
    projections = ["tangent", np.eye(4)] if name == "five_bar" else []
    made += [list(steps(module, projection=projection)) for projection in projections]
    assert [len(rows) for rows in made] == [10, *[14] * (len(made) - 1)]
    assert all(row.passed and row.samples for rows in made for row in rows)


@pytest.mark.slow
def test_a_wrong_step_is_seen(monkeypatch):
    """A damping that one of the two does not have."""
    right = fixed_steps.in_python

    def wrong(way, *others):
        way.torques.value = way.torques.value + 1e-3
        return right(way, *others)

    monkeypatch.setattr("symgen.validation.mechanism_kernels.in_python", wrong)
    rows = list(steps(compiled("five_bar", ",".join(NAMES))))
    assert {"q", "qd", "qdd", "lam"} & {row.name.split()[3] for row in rows if not row.passed}


@pytest.mark.slow
@pytest.mark.parametrize("step", [1e-2, 2e-3, *deep(5e-4)])
def test_the_double_four_bar_passes_its_singular_positions(step):
    """Problem A02 of the IFToMM library: ten passages, no other branch, little drift of energy."""
    robot = compiled("double_four_bar")
    q = robot.assemble()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        motion = symgen.simulate(robot, q, robot.initial_qd, np.linspace(0, 10, 1001), step=step)
    (passages,) = caught
    assert "2.657 s and 7 later times the mechanism passes" in str(passages.message)
    q, qd, qdd = (motion[name].values for name in ("q", "qd", "qdd"))
    flat = np.sin(q[:, 0])
    assert np.count_nonzero(np.diff(np.sign(flat))) == 10
    assert np.abs(np.sin(q[:, 0] + q[:, 1])).max() < 1e-10  # the couplers stay level
    energy = robot.kinetic_energy(q, qd) + robot.potential_energy(q)
    assert np.abs(energy - energy[0]).max() < 2e-4 * (step / 1e-3) ** 2
    rows = np.einsum("tij,tj->ti", robot.constraint_jacobian(q), qdd)
    away = np.abs(flat) > 0.2
    for rate in (robot.constraints(q), robot.constraint_rates(q, qd),
                 rows + robot.constraint_bias(q, qd)):  # fmt: skip
        assert np.abs(rate[away]).max() < 1e-8


ANDREWS = {
    "beta": 15.81077119629904, "theta": -15.75637105984298, "gamma": 0.04082224013073101,
    "phi": -0.5347301163226948, "delta": 0.5244099658805304, "omega": 0.5347301163226948,
    "epsilon": 1.048080741042263,
}  # fmt: skip
"""Angles after 0.03 s, of the Test Set for Initial Value Problem Solvers."""


@pytest.mark.slow
def test_andrews_mechanism():
    """Published accelerations and multipliers at the start, and where it is after 0.03 s."""
    andrews = compiled("andrews")
    q, still = andrews.assemble(), np.zeros(7)
    tau = np.zeros(7)
    tau[andrews.coordinate_names.index("beta")] = 0.033
    motion = andrews.constrained_forward_dynamics(q, still, tau)
    first = [14222.4439199541387, -10666.8329399655854]
    assert np.allclose(motion.qdd, [*first, *[0] * 5], rtol=1e-12, atol=1e-8)
    forces = andrews.loop_wrenches(q, motion.multipliers)[:, :2]  # on K2, at its far end
    assert np.allclose(forces, [[-98.5668703962410, 6.12268834425566], [0, 0], [0, 0]], atol=1e-9)
    expected = [ANDREWS[name] for name in andrews.coordinate_names]
    adaptive = symgen.simulate(andrews, q, still, [0, 0.03], tau=tau).q.values[-1]
    assert np.abs(adaptive - expected).max() < 1e-8
    error = {}
    for step in (1e-5, 2.5e-6):
        ends = symgen.simulate(andrews, q, still, [0, 0.03], tau=tau, step=step).q.values[-1]
        error[step] = np.abs(ends - expected).max()
    assert error[2.5e-6] < 1e-5
    assert 12 < error[1e-5] / error[2.5e-6] < 18  # order 2


@pytest.mark.deep
def test_bricard_in_steps():
    """Redundant multipliers are of least norm."""
    mechanism = compiled("bricard")
    still = np.zeros(mechanism.n)
    motion = symgen.simulate(mechanism, still, still, np.linspace(0, 2, 5), step=1e-3)
    assert motion.violation.max() < 1e-12
    J = mechanism.constraint_jacobian(motion.q.values[-1])
    multipliers = motion.multipliers.values[-1]
    sizes = row_sizes(mechanism._row_units, J)
    pull = J.T / sizes
    least = np.linalg.pinv(pull, rcond=1e-9) @ (J.T @ multipliers) / sizes
    assert np.allclose(multipliers, least, atol=1e-5)
    assert np.abs(motion.q.values - motion.q.values[0]).max() > 0.1


TOLD = """outputs:
  pull: multipliers.two_x**2 + 3*velocity_multipliers.two_y*points.P2.x
  other: acceleration_multipliers.two_x*t + multipliers.two_y*m
"""
WIND = (
    "forces:\n  - {name: wind, point: P2, let: {s: 5*m*sin(3*t)}, force: [s, s*points.P2.vx, 0]}\n"
)


@pytest.mark.deep
def test_objectives_name_multipliers_and_forces_name_time():
    """Gradients by eqs. (12) to (18) are those of the discrete motion; order 2 to the adaptive one.

    Its projections have no multipliers, and those of steps are of first order."""
    text = (MECHANISMS / "five_bar.yaml").read_text()
    text = text.replace("outputs:\n", TOLD).replace("loops:\n", f"{WIND}loops:\n", 1)
    names = ("m", "L_s1", "x_G")
    functions = (*BY_PARAMETERS, "outputs", "outputs_derivatives", "outputs_multiplier_derivatives")
    robot = loaded(text, functions, backend="compiled", runtime_parameters=",".join(names))
    assert all(row.passed and row.samples for row in (*accelerations(robot), *steps(robot)))
    q = robot.assemble()
    qd = robot.closed_velocities(q, [1, 0, 2, 0])
    start = dict(zip(robot.parameter_names, robot.default_parameters, strict=True))
    t = np.linspace(0, 0.1, 3)

    def motion(**options):
        return symgen.simulate(robot, q, qd, t, objectives=["pull", "other"], **options)

    for projection in ("mass", "tangent", np.diag([2.0, 1.0, 3.0, 1.5])):
        options = {"step": 5e-3, "projection": projection}
        found = motion(sensitivities=[*names, "qd0.A"], **options)
        for k, name in enumerate(names):
            one, minus_one, two, minus_two = (
                motion(parameters={name: start[name] + move * 1e-3}, **options)
                for move in (1, -1, 2, -2)
            )
            for what in ("integral", "end"):
                slope = (8 * (one[what] - minus_one[what]) - (two[what] - minus_two[what])) / 12e-3
                gradient = found[f"{what}_gradient"].values[:, k]
                assert np.allclose(gradient, slope.values, rtol=2e-6, atol=1e-8), (what, name)
    wanted = {"sensitivities": ("m", "qd0.A")}
    exact, coarse, fine = (motion(**wanted, **x) for x in ({}, {"step": 2e-3}, {"step": 1e-3}))
    for what in ("integral", "integral_gradient"):
        errors = [np.abs((x[what] - exact[what]).values[0]).max() for x in (coarse, fine)]
        assert errors[1] < 2e-4
        assert errors[1] < 0.3 * errors[0] + 1e-8, what


CART = FOUR_BAR + "relations: {drive: q.crank - w*t - 0.3*t**2 - 1}\n"


@pytest.mark.slow
def test_functions_of_state_and_time_against_the_adaptive_way():
    """Torques with feedback, loads of time, and a relation that drives, with sensitivities."""
    text = CART.replace("L: 1.0", "w: 2.0, L: 1.0")
    driven = loaded(text, BY_PARAMETERS, runtime_parameters="w,d")
    q = driven.assemble([1.0, -0.7, 1.2])
    qd = driven.closed_velocities(q, np.zeros(3))
    t = np.linspace(0, 0.5, 3)

    def motion(**options):
        return symgen.simulate(
            driven, q, qd, t, tau=lambda t, q, qd: -2.0 * q - 0.5 * qd * qd,
            sensitivities=("w", "d", "q0.crank"), **options,
        )  # fmt: skip

    exact, coarse, fine = motion(), motion(step=0.02), motion(step=0.01)
    for name in ("q", "qd", "multipliers", "dq", "dqd"):
        wanted, scale = exact[name].values, np.abs(exact[name].values).max()
        errors = [np.abs(x[name].values - wanted).max() / scale for x in (coarse, fine)]
        assert errors[1] < 2e-3, name
        assert errors[1] < 0.3 * errors[0] + 1e-8, name  # order 2, or what rtol leaves


@pytest.mark.slow
def test_progress_is_told(monkeypatch):
    """By both ways, in C and in Python, in order and up to the end; what it raises ends them."""
    monkeypatch.setattr("symgen.simulation.arguments.INTERVAL", 0.0)
    robot = compiled("five_bar", ",".join(NAMES))
    q, still = robot.assemble(), np.zeros(4)
    for options in ({}, {"step": 1e-3}, {"step": 1e-3, "tau": lambda t, q, qd: 0.0 * q}):
        heard = []
        symgen.simulate(
            robot, q, still, [0, 0.02, 0.05], progress=lambda *x, to=heard: to.append(x), **options
        )
        times = [t for t, _ in heard]
        assert len(times) > 2 and times == sorted(times)
        assert {end for _, end in heard} == {0.05}
        assert heard[-1] == (0.05, 0.05)

        def stop(t, end):
            raise InterruptedError

        with pytest.raises(InterruptedError):
            symgen.simulate(robot, q, still, [0, 0.05], progress=stop, **options)
    with pytest.raises(RequestError, match="progress: expected a function"):
        symgen.simulate(robot, q, still, [0, 0.05], progress=True)
    heard = []  # the end is told when the results are there
    monkeypatch.setattr("symgen.simulation.arguments.INTERVAL", np.inf)
    monkeypatch.setattr(
        "symgen.simulation.sample", lambda *x: heard.append("sampled") or sample(*x)
    )
    symgen.simulate(robot, q, still, [0, 0.05], progress=lambda *x: heard.append(x))
    assert heard == ["sampled", (0.05, 0.05)]


@pytest.mark.slow
def test_steps_that_do_not_converge_are_halved_or_refused():
    """A step far beyond the motion; one that nothing can save."""
    five_bar, q, _ = five_bar_start()
    with pytest.warns(RuntimeWarning, match="steps did not converge and were halved"):
        found = symgen.simulate(five_bar, q, np.zeros(4), [0, 2.0], step=1.0)
    assert found.violation.max() < 1e-10
    torn = compiled("four_bar", backend="numpy")
    q = torn.assemble()

    def breaking(t, q, qd):
        return np.full(3, np.nan if t > 0.05 else 0.0)

    with pytest.raises(RequestError, match=r"no step from t = 0\.05.* converges"):
        symgen.simulate(torn, q, torn.initial_qd, [0, 0.1], tau=breaking, step=0.01)


@pytest.mark.parametrize(("options", "said"), [
    ({"step": 0}, "step: expected a number that is positive"),
    ({"step": -1e-3}, "step: expected a number that is positive"),
    ({"step": np.nan}, "step"),
    ({"step": "1 ms"}, "step"),
    ({"penalty": 1e9}, "penalty: it belongs to integration with step"),
    ({"step": 0.1, "penalty": 0}, "penalty: expected a number that is positive"),
    ({"step": 0.1, "projections": 0}, "projections: expected how often"),
    ({"step": 0.1, "projections": True}, "projections: expected how often"),
    ({"step": 0.1, "projection": "mas"}, "expected 'mass', 'tangent' or a matrix"),
    ({"step": 0.1, "projection": np.eye(3)}, "projection"),
    ({"step": 0.1, "projection": np.triu(np.ones((4, 4)))}, "not symmetric"),
    ({"step": 0.1, "projection": np.full((4, 4), np.inf)}, "not all finite"),
])  # fmt: skip
def test_wrong_options_have_a_message(options, said):
    five_bar = compiled("five_bar", backend="numpy")
    q = five_bar.initial_q
    with pytest.raises(RequestError, match=said):
        symgen.simulate(five_bar, q, np.zeros(4), [0, 1], **options)


def test_a_tree_is_refused():
    arm = module(MECHANISMS.parent / "two_link.yaml", functions="forward_dynamics")
    with pytest.raises(RequestError, match="it is the way of mechanisms with loops"):
        symgen.simulate(arm, [0, 0], [0, 0], [0, 1], step=1e-3)
