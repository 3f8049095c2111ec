"""Every check can fail: a module that is wrong in one function fails exactly the rows it should."""

import warnings
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from symgen.runtime import limits, scales
from symgen.runtime.calls import ARGUMENTS, SEVERAL_RESULTS
from symgen.runtime.checks import CHANGED, check_evaluations, check_module
from symgen.runtime.comparison import relative_error
from symgen.runtime.scales import BASES, CURVED
from symgen.runtime.subjects import Check, Evaluation, Subject, random_states, without_warnings
from symgen.validation.oracles import NumericRobot
from tests.choosing import slow
from tests.modules import described
from tests.oracles.fake_module import altered, facts_of, fake_module, formulation, has
from tests.oracles.random_models import (
    EVERYTHING,
    OF_TREES,
    Recipe,
    seeded_model_text,
    with_first_prescribed,
)

ID, DID = "inverse_dynamics", "inverse_dynamics_derivatives"
FDL, FDD = "forward_dynamics", "forward_dynamics_derivatives"
FDP, SENS = "forward_dynamics_parameter_derivatives", "forward_dynamics_sensitivities"
BY = "complex step of inverse_dynamics"
COM, CMM = "center_of_mass", "centroidal_momentum"
REGRESSOR = "regressor inertial_parameters = inverse_dynamics without loads and joint terms"
CARRIED = "that of inertial_parameters moved by forward_kinematics and jacobians"
INVERSE = "inverse_dynamics of the accelerations = torques"
LINEAR = f"{CMM}, linear = total mass center_of_mass_jacobian qd"
CHRISTOFFEL = "coriolis_matrix = Christoffel symbols of mass_matrix"
SKEW = "d mass_matrix/dt - 2 coriolis_matrix is skew"

MODEL = seeded_model_text(
    5, Recipe(joints=(4, 4), types=("revolute", "prismatic"), loads=(2, 2), points=(2, 2))
)


@pytest.fixture(scope="module")
def robot():
    return NumericRobot(described(MODEL))


@pytest.fixture(scope="module")
def whole():
    """A robot with runtime parameters, outputs and a prescribed joint: it has every function."""
    return NumericRobot(described(with_everything(MODEL)), runtime=("w", "k"))


def with_everything(text):
    text = with_first_prescribed(text).replace("parameters:\n", "parameters:\n  w: 1.3\n", 1)
    outputs = """outputs:
  squares: t**2 * sin(w) + kinetic_energy
  reach: k*points.points_0.vx + loads.loads_1.fy
"""
    return text.replace("mass: ", "mass: 0.1*w**2 + ", 1) + outputs


FEW = ("mass_matrix", "kinetic_energy", "bias_forces", "outputs", ID)


def laws(robot, changed=None, arrays=False, only=ARGUMENTS):
    """Whether each law holds, by name; some functions of the robot are replaced."""
    states = random_states(robot.n, robot.n_loads, 4, parameters=robot.parameters)
    subject = Subject("s", formulation(robot, changed, only), complex_step=True, arrays=arrays)
    with without_warnings():
        rows = check_evaluations([Evaluation(subject, states, facts_of(robot))])
    return {row.name: row.passed for row in rows}


def failing_laws(robot, changed, *options, **more):
    return {name for name, passed in laws(robot, changed, *options, **more).items() if not passed}


@pytest.mark.slow
def test_a_right_module_with_every_function_passes(whole):
    assert all(has(whole, name) for name in OF_TREES)
    rows = check_module(fake_module(whole), samples=4)
    assert not [str(row) for row in rows if not row.passed]
    assert {row.subject for row in rows} == {
        "newton_euler (numpy)", "closed_form_lagrange (numpy)", "newton_euler (compiled)",
        "closed_form_lagrange (compiled)", "top level",
    }  # fmt: skip
    assert len({(row.subject, row.name) for row in rows}) == len(rows)
    for name in OF_TREES:
        assert any(row.name.startswith((name + ":", name + ",")) for row in rows)
        assert any(row.name.startswith(name) and CHANGED in row.name for row in rows)


@pytest.mark.slow
def test_the_same_rows_every_time(robot):
    assert check_module(fake_module(robot)) == check_module(fake_module(robot))


def test_a_seed_gives_the_same_states_whatever_is_added():
    plain, more = (random_states(3, 2, 5, 7, values) for values in ((), (0.5, 0.0)))
    rng = np.random.default_rng(7)
    assert np.array_equal(plain.q, rng.uniform(-np.pi, np.pi, (5, 3)))
    rates = rng.uniform(-2.0, 2.0, (2, 5, 3))
    assert np.array_equal(plain.qd, rates[0])
    assert np.array_equal(plain.qdd, rates[1])
    assert np.array_equal(plain.loads, rng.uniform(-10.0, 10.0, (5, 2, 6)))
    for name in ("q", "qd", "qdd", "loads", "tau", "x", "t"):
        assert np.array_equal(getattr(plain, name), getattr(more, name))
    assert more.dq.shape == more.dqd.shape == more.dtau.shape == (5, 3, 2)
    assert more.parameters.tolist() == [[0.5, 0.0]] * 5
    assert plain.parameters.shape == (5, 0)


def _skew_beside(c, q, qd):
    """C + S with S skew and S qd = 0: only the Christoffel matrix is unique."""
    a = np.cross(qd[..., :3], [1.0, 2.0, 3.0])
    b = np.cross(qd[..., :3], a)
    c = c.copy()
    c[..., :3, :3] += a[..., :, None] * b[..., None, :] - b[..., :, None] * a[..., None, :]
    return c


def _symmetric_beside(c, q, qd):
    """C + S with S symmetric and S qd = 0."""
    a = np.cross(qd[..., :3], [1.0, 2.0, 3.0])
    c = c.copy()
    c[..., :3, :3] += a[..., :, None] * a[..., None, :]
    return c


def _entry(x, index, value):
    x = x.copy()
    x[(..., *index)] = value
    return x


def _slightly_wrong(results, *arguments):
    """Change each entry of each result by another number, which varies with the arguments."""
    batch = len(arguments[0])
    sums = (np.sin(x).reshape(batch, -1).sum(axis=1) for x in arguments if np.size(x))
    size = 1e-8 * (2.0 + sum(sums))

    def changed(x):
        entries = np.linspace(1, 2, max(1, x[0].size)).reshape(x.shape[1:])
        return x + size.reshape((batch,) + (1,) * (x.ndim - 1)) * entries

    return tuple(map(changed, results)) if isinstance(results, tuple) else changed(results)


OF_SEVERAL = {
    "d": "coriolis_matrix", "power": "kinetic_energy", "mass_matrix is positive semi-definite": "",
}  # fmt: skip
"""Laws that begin with no function, by their first word, and the one that has a test of its own."""


def owner(law):
    return OF_SEVERAL.get(law, OF_SEVERAL.get(law.split()[0], law.split()[0].rstrip(":,")))


@pytest.mark.parametrize("name", OF_TREES)
def test_every_law_can_fail(whole, name):
    """By any fault of the function that it is about, in each of its results."""
    failing = failing_laws(whole, altered(whole, name, _slightly_wrong))
    assert failing >= {law for law in every_law(whole) if owner(law) == name}
    assert failing


@cache
def every_law(robot):
    return laws(robot)


def test_every_law_is_about_a_function(whole):
    assert all(every_law(whole).values())
    assert {owner(law) for law in every_law(whole)} <= {"", *OF_TREES}
    assert {f"{name}: {INVERSE}" for name in (FDL, "hybrid_dynamics")} <= set(every_law(whole))
    points = "point_motion", "point_motion_parameter_derivatives"
    assert not failing_laws(whole, None, only=points)


DRIFT = {f"torque_parts, {kind}_torques" for kind in ("centrifugal", "coriolis")}
FAULTS = [
    ("mass_matrix", lambda m, q: m - 1e3 * np.eye(4),
     {"torque_parts, inertial_torques", "mass_matrix is positive semi-definite",
      f"mass_matrix = {BY} in qdd", "kinetic_energy = qd' mass_matrix qd / 2"}),
    ("coriolis_matrix", _skew_beside, {CHRISTOFFEL}),
    ("coriolis_matrix", _symmetric_beside, {CHRISTOFFEL, SKEW}),
    ("torque_parts", lambda x, *_: (x[0], x[1] + x[2], 0 * x[2], *x[3:]), DRIFT),
    ("forward_kinematics", lambda f, q: f * np.array([1, 1, -1, 1]),
     {"forward_kinematics: frames right-handed", f"{COM} = {CARRIED}", f"{CMM} = {CARRIED}",
      "joint_wrenches along the joints = inverse_dynamics without joint terms"}),
    (DID, lambda x, *_: (*x[:3], np.full_like(x[3], np.nan)),
     {f"{DID}, dtau_dqdd = {BY}",
      f"inverse_dynamics_hessian, hessian_q_qdd^T v = complex step of {DID} in q"}),
]  # fmt: skip
"""Faults that some laws alone see, and these laws."""


@pytest.mark.parametrize(("name", "change", "expected"), FAULTS)
def test_other_laws_hold(robot, name, change, expected):
    failing = failing_laws(robot, altered(robot, name, change))
    assert {law for law in failing if not law.startswith((*BASES, *CURVED))} == expected


def _crossed(right):
    return lambda q, qd, **more: right(q, qd if np.ndim(qd) < 3 else np.swapaxes(qd, 0, 1), **more)


def _loaded(right):
    return lambda *state, loads=1.0, **more: right(*state, loads=loads + np.zeros((2, 6)), **more)


def _doubled(right):
    return lambda *state, parameters=(2.6, 1.5), **more: right(
        *state, parameters=parameters, **more
    )


CALLS = [
    ("kinetic_energy", "broadcast = written out", _crossed),
    *slow(
        ("mass_matrix", "single samples = batch",
         lambda right: lambda q, **more: right(q, **more) * (1 + 1e-9 * (np.ndim(q) == 1))),
        ("mass_matrix", "out= is filled",
         lambda right: lambda q, out=None, **more: right(q, **more)),
        ("bias_forces", "no loads = zero loads", _loaded),
        ("kinetic_energy", "no parameters = default parameters", _doubled),
        ("outputs", "broadcast = written out", lambda right: lambda t, *state, **more: right(
            t if np.ndim(t) < 2 else t[:1], *state, **more)),
    ),
]  # fmt: skip
"""Faults of the array interface, and the law that sees each."""


@pytest.mark.parametrize(("name", "law", "change"), CALLS)
def test_wrong_calls(whole, name, law, change):
    wrong = change(getattr(formulation(whole), name))
    assert failing_laws(whole, {name: wrong}, True, FEW) == {f"{name}: {law}"}


def test_a_function_that_raises_is_a_failed_check(robot):
    def wrong(q, out=None):
        raise ValueError("q: got (4, 4), expected (..., 5)")

    failing = failing_laws(robot, {"jacobians": wrong}, arrays=True)
    assert failing == {"call without ValueError (q: got (4, 4), expected (..., 5))"}


def test_a_wrong_shape_is_a_failed_check(robot):
    wrong = altered(robot, "mass_matrix", lambda m, q: m[..., 0])
    assert "kinetic_energy = qd' mass_matrix qd / 2" not in failing_laws(robot, {})
    failing = failing_laws(robot, wrong)
    assert f"mass_matrix = {BY} in qdd" in failing
    assert any(name.startswith("call without") for name in failing)


SINGULAR = """
symgen: 1
name: singular
parameters: {m: 2}
joints:
  - {name: a, type: revolute, origin: {}, link: {mass: m, com: [0.5, 0, 0.1]}}
  - {name: b, type: revolute, origin: {xyz: [1, 0, 0]}, axis: [0, 1, 0], link: {mass: 1,
     com: [0.2, 0, 0.1], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}}
  - {name: c, type: prismatic, origin: {}}
"""
ALL_SINGULAR = (
    "the mass matrix is singular at 4 of 4 random states: forward_dynamics is not compared there"
)


@pytest.fixture(scope="module")
def stuck():
    return NumericRobot(described(SINGULAR), runtime=("m",))


@pytest.mark.slow
def test_where_the_mass_matrix_is_singular_nothing_is_compared(stuck):
    rows = check_module(fake_module(stuck), samples=4)
    assert not [str(row) for row in rows if not row.passed]
    left_out = [row for row in rows if not row.samples]
    assert [row.name for row in left_out] == [ALL_SINGULAR]
    refusals = {row.name for row in rows if row.name.startswith(FDL)}
    assert {law for law in refusals if not law.startswith((*BASES, *CURVED))} == {
        ending
        for name in (FDL, FDD, FDP, SENS)
        for ending in (
            f"{name} has no solution where the mass matrix is singular",
            f"{name}: a singular sample raises LinAlgError, and warns once in a batch",
        )
    }


def _without_a_word(value):
    return lambda q, *others, **options: value * q


def _warning_of_each(q, *others, **options):
    if q.ndim == 1:
        raise np.linalg.LinAlgError("no solution")
    for sample in range(len(q)):
        warnings.warn(f"sample {sample}: no solution", RuntimeWarning, stacklevel=2)
    return np.nan * q


@pytest.mark.parametrize(
    ("wrong", "solved"),
    [(_without_a_word(0.0), True), (_without_a_word(np.nan), False), (_warning_of_each, False)],
)
def test_a_singular_sample_is_seen(stuck, wrong, solved):
    """Where there is a solution, neither an error nor a warning, or a warning of each sample."""
    expected = {f"{FDL}: a singular sample raises LinAlgError, and warns once in a batch"}
    if solved:
        expected |= {f"{FDL} has no solution where the mass matrix is singular"}
    assert failing_laws(stuck, {FDL: wrong}, arrays=True) == expected


def test_regular_samples_among_singular_ones_are_compared(robot):
    """One sample of four is stretched so that the mass matrix is singular there."""

    def degenerate(result, q, *_):
        first = np.abs(q[..., 0] - states.q[0, 0]) < 1e-12
        return np.where(first.reshape(first.shape + (1,) * (result.ndim - q.ndim + 1)), 0, result)

    states = random_states(robot.n, robot.n_loads, 4)
    masses = altered(robot, "mass_matrix", degenerate)
    wrong = altered(robot, FDL, lambda a, *_: a + 1e-8)
    for changed, found in ((masses, set()), ({**masses, **wrong}, {f"{FDL}: {INVERSE}"})):
        functions = {name: f for name, f in vars(formulation(robot, changed)).items()
                     if name in (ID, "mass_matrix", FDL)}  # fmt: skip
        subject = Subject("s", SimpleNamespace(**functions), complex_step=True, arrays=False)
        rows = check_evaluations([Evaluation(subject, states, facts_of(robot))])
        assert rows[0].name.startswith("the mass matrix is singular at 1 of 4 random states")
        failing = {row.name for row in rows if not row.passed and row.name.startswith(FDL)}
        assert failing - {f"{FDL} has no solution where the mass matrix is singular"} == found


@pytest.mark.parametrize("sizes", [(1.0, 1.0, 1.0), (1e4, 1.0, 1e-5)])
def test_pivots_are_those_of_the_elimination_from_the_leaves(sizes):
    rng = np.random.default_rng(0)
    low = np.tril(rng.uniform(-1, 1, (5, 3, 3)), -1) + np.eye(3)
    mass = np.swapaxes(low, -1, -2) @ np.diag(sizes) @ low
    assert np.allclose(scales._pivots(mass) / sizes, 1.0, rtol=1e-9)
    assert scales._pivots(np.zeros((2, 3, 3))).tolist() == [[0.0] * 3] * 2


@pytest.mark.parametrize("name", OF_TREES)
def test_disagreement_between_backends_is_named(whole, name):
    def change(result, *_):
        several = isinstance(result, tuple)
        return (*result[:-1], result[-1] + 1e-6) if several else result + 1e-6

    module = fake_module(whole, altered(whole, name, change), only=(name, "mass_matrix"))
    rows = check_module(module, samples=3)
    failing = [row for row in rows if not row.passed]
    assert {row.subject for row in failing} == {"newton_euler (compiled)"}
    label = ", ".join([name, *SEVERAL_RESULTS.get(name, ())[-1:]])
    row = f"{label} = that of newton_euler (numpy)"
    assert {row, f"{row}{CHANGED}"} <= {row.name for row in failing}


@pytest.mark.slow
def test_functions_that_were_not_built_are_left_out(robot):
    module = fake_module(robot)
    for functions in (module, *(vars(b)["newton_euler"] for b in module.backends.values())):
        for name in (ID, DID, "potential_energy", "coriolis_matrix"):
            if hasattr(functions, name):
                delattr(functions, name)
    module.formulations = ("newton_euler",)
    rows = check_module(module)
    assert rows
    assert all(row.passed for row in rows)
    assert not [row for row in rows if row.name.startswith((ID + ":", DID))]


KINDS = {
    "still": Recipe(joints=(1, 3), types=("fixed",), loads=(0, 2)),
    "bare": Recipe(joints=(3, 3), types=("revolute",), loads=(0, 0), points=(0, 0)),
    "every joint": replace(EVERYTHING, points=(1, 2)),
}
SEEDS = [
    *(("still", k) for k in range(3)),
    *slow(("bare", 0), *(("every joint", k) for k in range(3))),
]


@pytest.mark.parametrize(("kind", "seed"), SEEDS)
def test_robots_of_every_kind_pass(kind, seed):
    robot = NumericRobot(described(seeded_model_text(seed, KINDS[kind])))
    rows = check_module(fake_module(robot), samples=3)
    assert rows
    assert not [str(row) for row in rows if not row.passed]
    points = [row for row in rows if "complex step of point_motion" in row.name]
    assert kind != "bare" or not points


@pytest.mark.slow
def test_wrong_metadata_is_found(robot):
    module = fake_module(robot)
    module.inertial_parameters = module.inertial_parameters + _entry(np.zeros(40), (20,), 1e-8)
    failing = {row.name for row in check_module(module, samples=3) if not row.passed}
    assert failing == {REGRESSOR, LINEAR, f"{COM} = {CARRIED}", f"{CMM} = {CARRIED}"}
    module.inertial_parameters = None
    rows = check_module(module, samples=3)
    assert not [str(row) for row in rows if not row.passed]
    assert not [row for row in rows if row.name in failing]


def test_errors_are_relative_to_each_sample():
    reference = np.array([[1e6, 1.0], [0.5, 0.0], [-4.0, 1.0]])
    assert relative_error(reference, reference) == 0.0
    assert relative_error(reference + np.array([1.0, 0.0]), reference) == pytest.approx(1.0)
    assert relative_error(reference + np.array([[0, 0], [0, 0], [0, 1]]), reference) == 0.25
    assert relative_error(reference[:1] + 1.0, reference[:1], [[1e7, 0.0]]) == pytest.approx(1e-7)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_or_of_another_shape_is_an_infinite_error(bad):
    assert relative_error([[bad, 0.0]], [[1.0, 0.0]]) == np.inf
    assert relative_error([[1.0, 0.0]], [[bad, 0.0]]) == np.inf
    assert not Check("a", "b", float("nan"), 1.0, 1).passed
    assert relative_error(np.zeros((3, 2)), np.zeros((3, 1))) == np.inf
    assert relative_error(np.zeros((3, 0)), np.zeros((3, 0))) == 0.0


def test_a_row_reads_well():
    row = Check("mass_matrix is symmetric", "newton_euler (numpy)", 0.5, 1e-12, 20)
    assert str(row) == (
        "newton_euler (numpy): mass_matrix is symmetric: "
        "error 5.0e-01, limit 1.0e-12, 20 samples: FAILED"
    )


def test_limits_grow_with_n_and_stay_small():
    for limit in (limits.agreement, limits.derivative, limits.physics, limits.rotation):
        assert 0.0 < limit(0) < limit(6) < limit(43) < 2e-11
