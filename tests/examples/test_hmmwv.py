"""The vehicle of `examples/mechanisms`: rest, gradients and order of manoeuvres, free flight.

Oracles: central differences of the same discrete motion, laws of mechanics, other formulations."""

import importlib.util
from dataclasses import replace
from functools import cache
from types import ModuleType

import numpy as np
import pytest

import symgen
from symgen.runtime.configuration import configuration_of
from tests.modules import EXAMPLES, file_of, module

pytest.importorskip("matplotlib")
pytest.importorskip("scipy")
pytest.importorskip("xarray")

FOLDER = EXAMPLES / "mechanisms"
RACK = (0.01205, 0.01261, 0.01251, 0.01331)
WEIGHT = (2086.52 + 9.072 + 4 * (23.965 + 5.813 + 19.45 + 14.705 + 18.8 + 37.6)) * 9.81


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("hmmwv", FOLDER / "hmmwv.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    return example


@cache
def built(functions, names, text="", **options):
    options |= {"functions": functions, "runtime_parameters": names, "backend": "compiled"}
    return module(file_of(text) if text else FOLDER / "hmmwv.yaml", **options)


@pytest.fixture
def car(script):
    return built(script.FUNCTIONS, ",".join([*script.DESIGN, "step_height", *script.RACK]))


@pytest.fixture(params=[pytest.param("step", marks=pytest.mark.deep), "lane"])
def manoeuvre(script, request):
    lane = replace(script.LANE, parameters=dict(zip(script.RACK, RACK, strict=True)))
    return script.STEP if request.param == "step" else lane


def integral(script, car, manoeuvre, values=(), sensitivities=(), **options):
    """The objective and its gradient, from a start of these parameters."""
    name = manoeuvre.objective
    run = script.motion(
        car, manoeuvre, dict(values), sensitivities, objectives=(name,), all_steps=False, **options
    )
    return script.objective(run, name), script.gradient(run, name) if sensitivities else ()


def test_inertias_of_the_arms_are_those_of_the_source():
    """Principal moments about x along the axis of an arm, z normal to its three points."""
    robot = symgen.read(FOLDER / "hmmwv.yaml")
    assert not robot.warnings
    moments = {"lower": (0.4, 0.4, 0.8938), "upper": (0.03, 0.03, 0.06276)}
    arms = 0
    for joint in robot.joints:
        part = joint.name[:5]
        if part in moments:
            xx, yy, zz, xy, xz, yz = (float(entry.text) for entry in joint.link.inertia)
            tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            axis = np.array([float(entry.text) for entry in joint.axis])
            assert np.allclose(np.linalg.eigvalsh(tensor), moments[part], atol=1e-11)
            assert np.allclose(tensor @ axis, moments[part][0] * axis, atol=1e-11)
            arms += 1
    assert arms == 8


@pytest.mark.slow
def test_it_rests_on_its_tyres(script, car):
    q = symgen.equilibrium(car, script.HOLD).q
    assert (car.n, len(car.constraint_names), car.freedoms(q)) == (31, 17, 14)
    assert np.linalg.matrix_rank(car.constraint_jacobian(q)) == 17
    rest, still = symgen.equilibrium(car, script.HOLD, q=q), np.zeros(31)
    outputs = car.outputs(0.0, q, still, still, still)
    assert outputs[car.output_names.index("load")] == pytest.approx(WEIGHT, rel=1e-9)
    slopes, values = rest.derivatives().dpositions, script.all_of(car, {})
    for name in script.DESIGN:
        k = car.parameter_names.index(name)
        step = 1e-5 * values[k]
        sides = [
            symgen.equilibrium(car, script.HOLD, q=q, parameters={name: values[k] + x}).q
            for x in (step, -step)
        ]
        error = (sides[0] - sides[1]) / (2 * step) - slopes[:, k]
        assert np.abs(error).max() <= 1e-6 * np.abs(slopes[:, k]).max()  # dampers: 0


@pytest.mark.slow
def test_gradients_are_those_of_the_discrete_motion(script, car, manoeuvre):
    """The start included, which is the equilibrium of the parameters."""
    value, gradient = integral(script, car, manoeuvre, sensitivities=tuple(script.DESIGN))
    nominal = dict(zip(car.parameter_names, car.default_parameters, strict=True))
    for name, slope in zip(script.DESIGN, gradient, strict=True):
        step = 1e-5 * nominal[name]
        above, below = (
            integral(script, car, manoeuvre, {name: nominal[name] + x})[0] for x in (step, -step)
        )
        error = (above - below) / (2 * step) - slope
        rounding = 1e-9 * value / nominal[name]
        assert abs(error) < 1e-6 * abs(slope) + rounding, (name, error, slope)


@pytest.mark.slow
def test_integrals_are_of_second_order(script, car, manoeuvre):
    values = [integral(script, car, manoeuvre, step=manoeuvre.step / k)[0] for k in (1, 2, 4)]
    a, b, c = values
    assert 3.8 < (a - b) / (b - c) < 4.2


@pytest.mark.slow
def test_the_fitted_pulses_follow_the_path(script, car):
    pulses = dict(zip(script.RACK, RACK, strict=True))
    off, _ = script.off_path(script.motion(car, script.LANE, pulses, ("rack_1",)))
    assert np.abs(off).max() < 0.05


@pytest.mark.deep
def test_pulses_are_fitted_and_the_roll_is_lowered(script, car):
    fitted = script.follow_path(car)
    assert np.allclose([fitted.parameters[name] for name in script.RACK], RACK, atol=2e-5)
    points, values = script.lower(car, fitted)
    assert (np.diff(values) < 0).all() and values[-1] < 0.88 * values[0]
    limits = np.array([list(point.values()) for point in points])
    assert limits.min() >= 0.7 and limits.max() <= 1.3


def thrown(script, car, step):
    """Energy, momentum about the centre of mass and of travel, and violations, of a free flight."""
    values = {"c_f": 0.0, "c_r": 0.0}
    options = {"parameters": script.all_of(car, values)}
    q, qd = symgen.equilibrium(car, script.HOLD).q, np.zeros(car.n)
    q[2], qd[:6], qd[[12, 18, 24, 30]] = 9.0, (2, 1, 3, 0.5, -0.4, 0.3), 5.0
    qd = car.closed_velocities(q, qd, **options)
    run = symgen.simulate(
        car, q, qd, np.linspace(0, 0.4, 9), step=step, parameters=values, penalty=1e15
    )
    t, q, qd, qdd = (run[name].values for name in ("time", "q", "qd", "qdd"))
    energy = car.kinetic_energy(q, qd, **options) + car.potential_energy(q, **options)
    momentum = car.centroidal_momentum(q, qd, **options)
    momentum[:, :3] += np.outer(t, [0, 0, WEIGHT])
    J = car.constraint_jacobian(q, t=t, **options)
    second = (J @ qdd[..., np.newaxis])[..., 0] + car.constraint_bias(q, qd, t=t, **options)
    rates = car.constraint_rates(q, qd, t=t, **options)
    opened = run.violation, rates / np.abs(qd).max(), second / np.abs(qdd).max()
    return energy, momentum, max(float(np.abs(x).max()) for x in opened)


@pytest.mark.slow
def test_energy_and_momentum_of_a_free_flight(script, car):
    """Springs and gravity clone: errors of order 2, in steps that keep the constraints."""
    errors = []
    for step in (2e-3, 1e-3):
        energy, momentum, opened = thrown(script, car, step)
        assert opened < 1e-8
        errors.append([np.abs(x - x[0]).max() for x in (energy, momentum[:, :3], momentum[:, 3:])])
    ratios = np.divide(*errors)
    assert (ratios > 3.7).all() and (ratios < 4.3).all(), (ratios, errors)


@pytest.mark.deep
def test_euler_parameters_give_the_same_motion(script, car):
    """36 coordinates and 22 rows, norms among them, as in the paper; 2 s of the step descent."""
    text = (FOLDER / "hmmwv.yaml").read_text().split("initial:")[0]
    text = text.replace("coordinates: quaternion", "coordinates: euler_parameters")
    theirs = ("outputs", "centroidal_momentum", "center_of_mass")  # not of semi_recursive
    functions = [name for name in script.FUNCTIONS if not name.startswith(theirs)]
    redundant = built(tuple(functions), "step_height", text)
    short = replace(script.STEP, duration=2.0)
    run = script.motion(car, short, {}, ())
    q, qd = run.q.values, run.qd.values
    assert (redundant.n, len(redundant.constraint_names), redundant.freedoms(q[0])) == (36, 22, 14)
    assert np.linalg.matrix_rank(redundant.constraint_jacobian(q[0])) == 22
    rates = configuration_of(car).rate(q[0], qd[0])
    again = symgen.simulate(
        redundant, q[0], rates, run.time.values, step=short.step, parameters=short.parameters
    )
    assert np.abs(again.q.values - q).max() < 1e-6 and np.ptp(q[:, 2]) > 0.01
    assert again.violation.max() < 1e-12


@pytest.mark.deep
def test_formulations_agree(script, manoeuvre):
    """Composite, newton_euler, RTdyn0 and RTdyn1: accelerations, objectives, gradients."""
    names = ("composite", "newton_euler", "semi_recursive_rtdyn0", "semi_recursive_rtdyn1")
    every = built(
        script.FUNCTIONS, ",".join([*script.DESIGN, "step_height", *script.RACK]),
        formulations=",".join(names),
    )  # fmt: skip
    short = replace(manoeuvre, duration=2.0 if manoeuvre.name == "step" else 4.0)
    q = symgen.equilibrium(every, script.HOLD).q
    qd = every.closed_velocities(q, np.random.default_rng(1).uniform(-1, 1, 31))
    results = []
    for name in names:
        clone = ModuleType(name)
        clone.__dict__.update(vars(every))
        clone.__dict__.update(vars(getattr(every, name)))
        clone._backends = None  # steps in Python, which call functions of the formulation
        M, h = clone.mass_matrix(q), clone.bias_forces(q, qd)
        J, b = clone.constraint_jacobian(q), clone.constraint_bias(q, qd)
        zero = np.zeros((17, 17))
        qdd = np.linalg.solve(np.block([[M, J.T], [J, zero]]), -np.concatenate([h, b]))[:31]
        value, gradient = integral(script, clone, short, sensitivities=tuple(script.DESIGN))
        results.append([qdd, value, gradient])
    for result in results[1:]:
        for x, reference in zip(result, results[0], strict=True):
            assert np.allclose(x, reference, rtol=1e-8, atol=1e-8 * np.abs(reference).max())


@pytest.mark.deep
def test_a_rolling_car_settles_at_the_equilibrium(script):
    """Without slip forces, which change the track and so the height."""
    text = (FOLDER / "hmmwv.yaml").read_text()
    text = text.replace("longitudinal: 193929, lateral: 50000", "longitudinal: 1e-6, lateral: 1e-6")
    free = built(script.FUNCTIONS, ",".join([*script.DESIGN, "step_height", *script.RACK]), text)
    run = script.motion(free, replace(script.STEP, parameters={}), {}, ())
    rest = symgen.equilibrium(free, script.HOLD).q
    assert abs(run.q.values[-1, 2] - rest[2]) < 1e-4
