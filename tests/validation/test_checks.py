"""Every check can fail: a module that is wrong in one function fails exactly the rows it should."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from symgen.program.function import OUTPUTS
from symgen.program.functions import FUNCTIONS, OF_TREES
from symgen.validation import checks, forward_laws, limits
from symgen.validation.checks import (
    CHANGED,
    Check,
    Evaluation,
    Subject,
    check_evaluations,
    check_module,
    random_states,
    relative_error,
)
from symgen.validation.evaluation import without_warnings
from symgen.validation.forward_laws import SOLVED
from symgen.validation.oracles import NumericRobot
from symgen.validation.product_laws import BASES, CURVED
from tests.oracles.descriptions import described
from tests.oracles.fake_module import altered, facts_of, fake_module, formulation, has
from tests.oracles.random_models import EVERYTHING, Recipe, seeded_model_text

ID, DID = "inverse_dynamics", "inverse_dynamics_derivatives"
HESSIAN = "inverse_dynamics_hessian"
SECOND = f"{HESSIAN}, hessian_{{}} v = complex step of {DID} in {{}}"
BY = "complex step of inverse_dynamics"
JW, JWD = "joint_wrenches", "joint_wrench_derivatives"
PM, PMD = "point_motion", "point_motion_derivatives"
COM, CMM = "center_of_mass", "centroidal_momentum"
ALONG = "joint_wrenches along the joints = inverse_dynamics without joint terms"
REGRESSOR = "regressor inertial_parameters = inverse_dynamics without loads and joint terms"
PULL = "gravity_forces = center_of_mass_jacobian' times one vector in all states"
CARRIED = "that of inertial_parameters moved by forward_kinematics and jacobians"
ONE = "forward_dynamics_derivatives, dqdd_dtau mass_matrix = 1"
INVERSE = "inverse_dynamics of the accelerations = torques"
LINEAR = f"{CMM}, linear = total mass center_of_mass_jacobian qd"
MAP, RATE = f"{CMM}_matrix qd = {CMM}", f"{CMM}_rate = rate of {CMM}"
LM = "link_motion"
NU, NUD = f"{LM}, velocities = jacobians qd", f"{LM}, accelerations = rate of velocities"


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
    """The model with a prescribed joint, outputs and one more parameter."""
    first = text.split("    type: ")[1].split("\n")[0]
    text = text.replace(f"    type: {first}\n", f"    type: {first}\n    prescribed: true\n", 1)
    text = text.replace("parameters:\n", "parameters:\n  w: 1.3\n", 1)
    text = text.replace("mass: ", "mass: 0.1*w**2 + ", 1)
    return (
        text
        + """outputs:
  squares: t**2 * sin(w) + kinetic_energy
  reach: k*points.points_0.vx + loads.loads_1.fy
"""
    )


def failing_laws(robot, changed, arrays=False):
    states = random_states(robot.n, robot.n_loads, 4, parameters=robot.parameters)
    subject = Subject("s", formulation(robot, changed), complex_step=True, arrays=arrays)
    with without_warnings():
        rows = check_evaluations([Evaluation(subject, states, facts_of(robot))])
    return {row.name for row in rows if not row.passed}


def test_the_table_of_functions_is_the_one_of_the_program():
    assert list(checks.ARGUMENTS) == [function.name for function in FUNCTIONS]
    assert list(SOLVED) == [function.name for function in FUNCTIONS if function.solves]
    for function in FUNCTIONS:
        given = [key.replace("along_", "d") for key in checks.ARGUMENTS[function.name]]
        assert given == [a.name for a in function.arguments]
        assert (function.name in checks.TIMED) == any(o.name == "t" for o in function.options)
        assert (function.name in checks.LOADED) == any(o.name == "loads" for o in function.options)
        assert (function.name in checks.SEVERAL_RESULTS) == (len(function.results) > 1)
        assert (function.name in checks.TOLD) == (function.name in OUTPUTS)
        if len(function.results) > 1:
            names = tuple(result.name for result in function.results)
            assert checks.SEVERAL_RESULTS[function.name] == names


@pytest.mark.slow
def test_a_right_module_passes(robot):
    rows = check_module(fake_module(robot))
    assert not [str(row) for row in rows if not row.passed]
    assert {row.subject for row in rows} == {
        "newton_euler (numpy)", "closed_form_lagrange (numpy)", "newton_euler (compiled)",
        "closed_form_lagrange (compiled)", "top level",
    }  # fmt: skip
    assert len({(row.subject, row.name) for row in rows}) == len(rows)


@pytest.mark.slow
def test_a_right_module_with_every_function_passes(whole):
    assert all(has(whole, name) for name in OF_TREES)
    rows = check_module(fake_module(whole), samples=4)
    assert not [str(row) for row in rows if not row.passed]
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


PART, SUM = "torque_parts, {}_torques", "torque_parts add up to inverse_dynamics"
LAWS = [
    # mass matrix
    ("mass_matrix", lambda m, q: m + _entry(0 * m, (0, 1), 0.1),
     {PART.format("inertial"), "mass_matrix is symmetric", ONE, f"mass_matrix = {BY} in qdd",
      "kinetic_energy = qd' mass_matrix qd / 2"}),
    ("mass_matrix", lambda m, q: m - 1e3 * np.eye(4),
     {PART.format("inertial"), "mass_matrix is positive semi-definite",
      f"mass_matrix = {BY} in qdd",
      "kinetic_energy = qd' mass_matrix qd / 2"}),
    ("mass_matrix", lambda m, q: m * (1 + np.sin(q))[..., None],
     {PART.format("inertial"), "mass_matrix is symmetric", ONE, f"mass_matrix = {BY} in qdd",
      "kinetic_energy = qd' mass_matrix qd / 2", "d mass_matrix/dt - 2 coriolis_matrix is skew",
      "coriolis_matrix = Christoffel symbols of mass_matrix"}),
    # derivatives
    (DID, lambda x, *_: (x[0] + 1, *x[1:]), {f"{DID}, tau = {ID}"}),
    (DID, lambda x, *_: (x[0], np.swapaxes(x[1], -1, -2), *x[2:]),
     {f"{DID}, dtau_dq = {BY}", *(
         SECOND.format(*x) for x in (("q_q", "q"), ("q_qd", "qd"), ("q_qdd", "qdd")))}),
    (DID, lambda x, *_: (x[0], x[1], -x[2], x[3]),
     {f"{DID}, dtau_dqd = {BY}", SECOND.format("q_qd^T", "q"), SECOND.format("qd_qd", "qd")}),
    (DID, lambda x, *_: (*x[:3], 2 * x[3]),
     {f"{DID}, dtau_dqdd = {BY}", SECOND.format("q_qdd^T", "q")}),
    (DID, lambda x, *_: (*x[:3], np.full_like(x[3], np.nan)),
     {f"{DID}, dtau_dqdd = {BY}", SECOND.format("q_qdd^T", "q")}),
    # second derivatives
    *((HESSIAN, lambda x, *_, k=k: (*x[:k], x[k] + _entry(0 * x[k], (0, 1), 1e-6), *x[k + 1 :]),
       {SECOND.format(f"{block}{t}", by) for t, by in steps}
       | ({f"{HESSIAN}, hessian_{block} is symmetric"} if k in (0, 3) else set()))
      for k, (block, steps) in enumerate({
          "q_q": [("", "q")], "q_qd": [("", "qd"), ("^T", "q")],
          "q_qdd": [("", "qdd"), ("^T", "q")], "qd_qd": [("", "qd")]}.items())),
    ("inverse_dynamics_load_derivatives", lambda x, q: -x,
     {PART.format("load"), f"inverse_dynamics_load_derivatives = {BY}",
      "power of joints and loads - losses = rate of kinetic_energy + potential_energy"}),
    # forces
    ("gravity_forces", lambda g, q: -g,
     {PART.format("gravity"), "gravity_forces + springs = complex step of potential_energy",
      "coriolis_matrix qd + gravity_forces + joint terms = bias_forces without loads"}),
    ("bias_forces", lambda b, q, qd: b + _entry(0 * b, (2,), 1e-8),
     {"bias_forces = inverse_dynamics at qdd = 0",
      "coriolis_matrix qd + gravity_forces + joint terms = bias_forces without loads"}),
    ("coriolis_matrix", lambda c, q, qd: np.swapaxes(c, -1, -2),
     {PART.format("centrifugal"), PART.format("coriolis"),
      "coriolis_matrix qd + gravity_forces + joint terms = bias_forces without loads",
      "coriolis_matrix = Christoffel symbols of mass_matrix"}),
    ("coriolis_matrix", _skew_beside, {"coriolis_matrix = Christoffel symbols of mass_matrix"}),
    ("coriolis_matrix", _symmetric_beside,
     {"coriolis_matrix = Christoffel symbols of mass_matrix",
      "d mass_matrix/dt - 2 coriolis_matrix is skew"}),
    # parts of the torques
    *(("torque_parts", lambda x, *_, k=k: (*x[:k], x[k] + 1e-6, *x[k + 1 :]),
       {PART.format(part), SUM})
      for k, part in enumerate(
          ("inertial", "centrifugal", "coriolis", "gravity", "load", "joint_term"))),
    ("torque_parts", lambda x, *_: (x[0], x[1] + x[2], 0 * x[2], *x[3:]),
     {PART.format("centrifugal"), PART.format("coriolis")}),
    # energies
    ("kinetic_energy", lambda t, q, qd: 2 * t,
     {"kinetic_energy = qd' mass_matrix qd / 2",
      "power of joints and loads - losses = rate of kinetic_energy + potential_energy"}),
    ("potential_energy", lambda v, q: -v,
     {"gravity_forces + springs = complex step of potential_energy",
      "power of joints and loads - losses = rate of kinetic_energy + potential_energy"}),
    (ID, lambda tau, q, qd, qdd: tau + _entry(0 * tau, (1,), 1e-8),
     {SUM, f"{DID}, tau = {ID}", "bias_forces = inverse_dynamics at qdd = 0", ALONG, REGRESSOR,
      f"forward_dynamics: {INVERSE}",
      "power of joints and loads - losses = rate of kinetic_energy + potential_energy"}),
    (ID, lambda tau, q, qd, qdd: tau + q * qd * qdd,
     {SUM, f"{DID}, tau = {ID}", f"{DID}, dtau_dq = {BY}", f"{DID}, dtau_dqd = {BY}",
      f"{DID}, dtau_dqdd = {BY}", f"mass_matrix = {BY} in qdd", ALONG, REGRESSOR,
      f"forward_dynamics: {INVERSE}",
      "power of joints and loads - losses = rate of kinetic_energy + potential_energy"}),
    # kinematics
    ("forward_kinematics", lambda f, q: f * np.array([1, 1, 1 + 1e-9, 1]),
     {"forward_kinematics: rotations orthonormal", "forward_kinematics: frames right-handed",
      "jacobians, angular = complex step of forward_kinematics",
      ALONG, f"{COM} = {CARRIED}", f"{CMM} = {CARRIED}"}),
    ("forward_kinematics", lambda f, q: f * np.array([1, 1, -1, 1]),
     {"forward_kinematics: frames right-handed",
      ALONG, f"{COM} = {CARRIED}", f"{CMM} = {CARRIED}"}),
    ("forward_kinematics", lambda f, q: _entry(f, (1, 3, 2), 1e-9),
     {"forward_kinematics: last row is 0 0 0 1"}),
    ("forward_kinematics", lambda f, q: _entry(f, (1, 0, 3), f[..., 2, 0, 3]),
     {"jacobians, linear = complex step of forward_kinematics",
      f"{COM} = {CARRIED}", f"{CMM} = {CARRIED}"}),
    ("jacobians", lambda j, q: j * np.array([1, 1, 1, -1, 1, 1])[:, None],
     {"jacobians, angular = complex step of forward_kinematics", ALONG, f"{CMM} = {CARRIED}", NU}),
    ("jacobians", lambda j, q: j[..., [3, 4, 5, 0, 1, 2], :],
     {"jacobians, linear = complex step of forward_kinematics",
      "jacobians, angular = complex step of forward_kinematics", ALONG, f"{CMM} = {CARRIED}", NU}),
    # joint wrenches
    (JW, lambda w, *_: -w, {f"{JWD}, {JW} = {JW}", ALONG, *(
        f"{JWD}, dw_d{x} = complex step of {JW}" for x in ("q", "qd", "qdd"))}),
    (JW, lambda w, *_: w + _entry(0 * w, (1, 5), 1e-8), {f"{JWD}, {JW} = {JW}", ALONG}),
    (JWD, lambda x, *_: (x[0] * 1.001, *x[1:]), {f"{JWD}, {JW} = {JW}"}),
    (JWD, lambda x, *_: (x[0], np.swapaxes(x[1], -1, -3), *x[2:]),
     {f"{JWD}, dw_dq = complex step of {JW}"}),
    (JWD, lambda x, *_: (*x[:2], -x[2], x[3]), {f"{JWD}, dw_dqd = complex step of {JW}"}),
    (JWD, lambda x, *_: (*x[:3], 2 * x[3]), {f"{JWD}, dw_dqdd = complex step of {JW}"}),
    # points
    (PM, lambda x, *_: (2 * x[0], *x[1:]),
     {f"{PM}, velocity = rate of position", f"{PMD}, dx_dq = complex step of {PM}"}),
    (PM, lambda x, *_: (x[0], x[1][..., ::-1], x[2]),
     {f"{PM}, velocity = rate of position", f"{PM}, acceleration = rate of velocity",
      f"{PMD}, dv_dq = complex step of {PM}", f"{PMD}, dv_dqd = complex step of {PM}"}),
    (PM, lambda x, *_: (*x[:2], x[2] + [0, 0, 9.81]), {f"{PM}, acceleration = rate of velocity"}),
    *((PMD, lambda x, *_, k=k: (*x[:k], -x[k], *x[k + 1 :]),
       {f"{PMD}, {label} = complex step of {PM}"})
      for k, label in enumerate(("dx_dq", "dv_dq", "dv_dqd", "da_dq", "da_dqd", "da_dqdd"))),
    # centre of mass, momentum, regressor
    (COM, lambda c, q: c + [0, 1e-8, 0], {f"{COM} = {CARRIED}"}),
    (COM, lambda c, q: 1.01 * c,
     {f"{COM} = {CARRIED}", f"{COM}_jacobian = complex step of {COM}"}),
    (f"{COM}_jacobian", lambda j, q: j + _entry(0 * j, (1, 2), 1e-8),
     {f"{COM}_jacobian = complex step of {COM}", PULL, LINEAR}),
    (f"{COM}_jacobian", lambda j, q: 2 * j, {f"{COM}_jacobian = complex step of {COM}", LINEAR}),
    (CMM, lambda h, q, qd: h * np.array([1, 1, -1, 1, 1, 1]),
     {LINEAR, f"{CMM} = {CARRIED}", MAP, RATE}),
    (CMM, lambda h, q, qd: h * np.array([1, 1, 1, 1, 1, -1]), {f"{CMM} = {CARRIED}", MAP, RATE}),
    (f"{CMM}_matrix", lambda a, q: a + _entry(0 * a, (4, 2), 1e-8), {MAP}),
    (f"{CMM}_rate", lambda f, *_: f - [0, 0, 0, 0, 1e-6, 0], {RATE}),
    # link frames
    (LM, lambda x, *_: (x[0][..., [3, 4, 5, 0, 1, 2]], x[1]), {NU, NUD}),
    (LM, lambda x, *_: (x[0], x[1] + [0, 0, 9.81, 0, 0, 0]), {NUD}),
    ("gravity_forces", lambda g, q: g * (1 + 1e-8 * q**2),
     {PULL, PART.format("gravity"), "gravity_forces + springs = complex step of potential_energy",
      "coriolis_matrix qd + gravity_forces + joint terms = bias_forces without loads"}),
    ("regressor", lambda y, *_: y * (1 + 1e-8 * (np.arange(40) == 11)), {REGRESSOR}),
    ("regressor", lambda y, *_: y * np.where(np.arange(40) == 25, -1, 1), {REGRESSOR}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "expected"), LAWS)
def test_every_law_can_fail(robot, name, change, expected):
    assert without_products(failing_laws(robot, altered(robot, name, change))) == expected


def without_products(laws):
    """What is wrong with a function is wrong with its products: not said in every row above."""
    return {law for law in laws if not law.startswith((*BASES, *CURVED))}


PRODUCT_RESULTS = [(name, label) for name in BASES for label in checks.SEVERAL_RESULTS[name]]


@pytest.mark.parametrize(("name", "label"), PRODUCT_RESULTS)
def test_every_law_of_products_can_fail(whole, name, label):
    place = checks.SEVERAL_RESULTS[name].index(label)

    def change(results, *_):
        return tuple(x * (1 + 1e-8 * (k == place)) for k, x in enumerate(results))

    failing = failing_laws(whole, altered(whole, name, change))
    (law,) = (law for law in failing if not law.startswith(tuple(CURVED)))
    assert law.startswith(f"{name}, {label} = ")
    if name.endswith("jvp"):
        assert len(failing) == 1


FDL, FDD = "forward_dynamics", "forward_dynamics_derivatives"
FDP, SENS = "forward_dynamics_parameter_derivatives", "forward_dynamics_sensitivities"
HDL, HDD = "hybrid_dynamics", "hybrid_dynamics_derivatives"
HDP, OUT, OD = "hybrid_dynamics_parameter_derivatives", "outputs", "outputs_derivatives"
CHAIN = f"{SENS}, dqdd = chain rule"
WITH_TAU = {f"{FDL}: {INVERSE}", f"{FDD}, qdd = {FDL}", f"{SENS}, qdd = {FDL}"}
FD_SLOPES = {f"{FDD}, dqdd_d{x} = complex step of {FDL}" for x in ("q", "qd", "tau")}
HD_SLOPES = {f"{HDD}, dy_d{x} = complex step of {HDL}" for x in ("q", "qd", "x")}


def _number(k, change):
    """One of several results changed."""
    return lambda x, *_: (*x[:k], change(x[k]), *x[k + 1 :])


MORE_LAWS = [
    # forward dynamics
    (FDL, lambda a, *_: a + _entry(0 * a, (2,), 1e-8), WITH_TAU),
    (FDL, lambda a, q, qd, tau: a * (1 + q + qd**2) + tau**2,
     {*WITH_TAU, *FD_SLOPES, f"{FDP} = complex step of {FDL}"}),
    (FDD, _number(0, lambda x: x * (1 + 1e-8)), {f"{FDD}, qdd = {FDL}"}),
    (FDD, _number(1, np.negative), {f"{FDD}, dqdd_dq = complex step of {FDL}", CHAIN}),
    (FDD, _number(2, lambda x: np.swapaxes(x, -1, -2)),
     {f"{FDD}, dqdd_dqd = complex step of {FDL}", CHAIN}),
    (FDD, _number(3, lambda x: x + 1e-8 * np.eye(4)),
     {f"{FDD}, dqdd_dtau = complex step of {FDL}", CHAIN, ONE}),
    (FDP, lambda x, *_: x[..., ::-1], {f"{FDP} = complex step of {FDL}", CHAIN}),
    (SENS, _number(0, lambda x: x * (1 + 1e-8)), {f"{SENS}, qdd = {FDL}"}),
    (SENS, _number(1, lambda x: x * (1 + 1e-8)), {CHAIN}),
    # hybrid dynamics
    (HDL, lambda y, *_: y + _entry(0 * y, (0,), 1e-8),
     {f"{HDL}: {INVERSE}", f"{HDD}, y = {HDL}"}),
    (HDL, lambda y, *_: y + _entry(0 * y, (1,), 1e-8),
     {f"{HDL}: {INVERSE}", f"{HDD}, y = {HDL}"}),
    (HDL, lambda y, q, qd, x: y * (1 + q + qd**2) + x**2,
     {f"{HDL}: {INVERSE}", f"{HDD}, y = {HDL}", *HD_SLOPES, f"{HDP} = complex step of {HDL}"}),
    (HDD, _number(0, lambda x: x * (1 + 1e-8)), {f"{HDD}, y = {HDL}"}),
    *((HDD, _number(k, lambda x: x * np.array([1, -1, -1, 1])),
       {f"{HDD}, {label} = complex step of {HDL}"})
      for k, label in enumerate(("dy_dq", "dy_dqd", "dy_dx"), start=1)),
    (HDP, lambda x, *_: -x, {f"{HDP} = complex step of {HDL}"}),
    # derivatives by the parameters
    *((f"{base}_parameter_derivatives", lambda x, *_: x[..., ::-1],
       {f"{base}_parameter_derivatives = complex step of {base}"})
      for base in (ID, "kinetic_energy", "potential_energy")),
    *((f"{PM}_parameter_derivatives", _number(k, lambda x: 2 * x),
       {f"{PM}_parameter_derivatives, {label}_dparameters = complex step of {PM}"})
      for k, label in enumerate(("dx", "dv", "da"))),
    # outputs
    (OUT, lambda o, *_: o + 1e-8, {f"{OD}, {OUT} = {OUT}"}),
    (OUT, lambda o, t, q, qd, qdd, tau: o * (1 + t + (q + qd + qdd + tau).sum(-1))[..., None],
     {f"{OD}, {OUT} = {OUT}", *(f"{OD}, do_d{x} = complex step of {OUT}" for x in (
         "t", "q", "qd", "qdd", "tau", "loads", "parameters"))}),
    (OD, _number(0, lambda x: x + 1e-8), {f"{OD}, {OUT} = {OUT}"}),
    *((OD, _number(k, lambda x: x + 1e-8), {f"{OD}, {label} = complex step of {OUT}"})
      for k, label in enumerate(checks.SEVERAL_RESULTS[OD]) if k),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "expected"), MORE_LAWS)
def test_every_law_of_what_is_solved_for_can_fail(whole, name, change, expected):
    assert without_products(failing_laws(whole, altered(whole, name, change))) == expected


def test_every_law_of_a_whole_module_is_seen_to_fail(whole):
    states = random_states(whole.n, whole.n_loads, 2, parameters=whole.parameters)
    subject = Subject("s", formulation(whole), complex_step=True, arrays=False)
    rows = check_evaluations([Evaluation(subject, states, facts_of(whole))])
    expected = set().union(*(names for _, _, names in (*LAWS, *MORE_LAWS)))
    assert without_products({row.name for row in rows}) == expected


def test_every_law_is_seen_to_fail(robot):
    states = random_states(robot.n, robot.n_loads, 2)
    subject = Subject("s", formulation(robot), complex_step=True, arrays=False)
    rows = check_evaluations([Evaluation(subject, states, facts_of(robot))])
    expected = set().union(*(names for _, _, names in LAWS))
    names = {row.name for row in rows}
    names = without_products(names)
    assert {x for x in names if FDL not in x} == {x for x in expected if FDL not in x}


# ----------------------------------------------------------------------------- array interface


def _single_differs(function):
    return lambda q, **options: function(q, **options) * (1 + 1e-9 * (np.ndim(q) == 1))


@pytest.mark.slow
def test_wrong_single_samples(robot):
    wrong = _single_differs(formulation(robot).mass_matrix)
    assert failing_laws(robot, {"mass_matrix": wrong}, arrays=True) == {
        "mass_matrix: single samples = batch"
    }


@pytest.mark.slow
def test_ignored_out(robot):
    right = formulation(robot).mass_matrix
    wrong = {"mass_matrix": lambda q, out=None: right(q)}
    assert failing_laws(robot, wrong, arrays=True) == {"mass_matrix: out= is filled"}


def test_wrong_broadcast(robot):
    right = formulation(robot).kinetic_energy

    def wrong(q, qd, out=None):
        return right(q, qd if np.ndim(qd) < 3 else np.swapaxes(qd, 0, 1), out=out)

    failing = failing_laws(robot, {"kinetic_energy": wrong}, arrays=True)
    assert failing == {"kinetic_energy: broadcast = written out"}


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


@pytest.mark.slow
def test_loads_that_are_not_zero_by_default(robot):
    right = formulation(robot).bias_forces

    def wrong(q, qd, *, loads=None, out=None):
        loads = np.ones((robot.n_loads, 6)) if loads is None else loads
        return right(q, qd, loads=loads, out=out)

    failing = failing_laws(robot, {"bias_forces": wrong}, arrays=True)
    assert failing == {"bias_forces: no loads = zero loads"}


@pytest.mark.slow
def test_parameters_that_are_not_the_default_ones(whole):
    right = formulation(whole).kinetic_energy

    def wrong(q, qd, *, parameters=None, out=None):
        parameters = 2 * whole.parameters if parameters is None else parameters
        return right(q, qd, parameters=parameters, out=out)

    failing = failing_laws(whole, {"kinetic_energy": wrong}, arrays=True)
    assert failing == {"kinetic_energy: no parameters = default parameters"}


@pytest.mark.slow
def test_wrong_broadcast_of_the_time(whole):
    right = formulation(whole).outputs

    def wrong(t, *arguments, **options):
        return right(t if np.ndim(t) < 2 else t[:1], *arguments, **options)

    failing = failing_laws(whole, {"outputs": wrong}, arrays=True)
    assert failing == {"outputs: broadcast = written out"}


# ------------------------------------------------------------------------- singular mass matrices

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
    """A robot whose last joint moves no mass."""
    return NumericRobot(described(SINGULAR), runtime=("m",))


@pytest.mark.slow
def test_where_the_mass_matrix_is_singular_nothing_is_compared(stuck):
    rows = check_module(fake_module(stuck), samples=4)
    assert not [str(row) for row in rows if not row.passed]
    left_out = [row for row in rows if not row.samples]
    assert [row.name for row in left_out] == [ALL_SINGULAR]
    refusals = {row.name for row in rows if row.name.startswith(FDL)}
    assert without_products(refusals) == {
        ending
        for name in (FDL, FDD, FDP, SENS)
        for ending in (
            f"{name} has no solution where the mass matrix is singular",
            f"{name}: a singular sample raises LinAlgError, and warns once in a batch",
        )
    }


def test_a_solution_where_there_is_none_is_found(stuck):
    def wrong(q, qd, tau, *, loads=None, parameters=None, out=None):
        return 0.0 * q

    assert failing_laws(stuck, {FDL: wrong}, arrays=True) == {
        f"{FDL} has no solution where the mass matrix is singular",
        f"{FDL}: a singular sample raises LinAlgError, and warns once in a batch",
    }


def test_a_singular_sample_without_an_error_or_a_warning_is_found(stuck):
    def quiet(q, qd, tau, *, loads=None, parameters=None, out=None):
        return np.nan * q

    assert failing_laws(stuck, {FDL: quiet}, arrays=True) == {
        f"{FDL}: a singular sample raises LinAlgError, and warns once in a batch"
    }


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
    assert np.allclose(forward_laws._pivots(mass) / sizes, 1.0, rtol=1e-9)
    assert forward_laws._pivots(np.zeros((2, 3, 3))).tolist() == [[0.0] * 3] * 2


# ---------------------------------------------------------------------------- between subjects


@pytest.mark.parametrize("name", OF_TREES)
def test_disagreement_between_backends_is_named(whole, name):
    def change(result, *_):
        several = isinstance(result, tuple)
        return (*result[:-1], result[-1] + 1e-6) if several else result + 1e-6

    module = fake_module(whole, altered(whole, name, change), only=(name, "mass_matrix"))
    rows = check_module(module, samples=3)
    failing = [row for row in rows if not row.passed]
    assert {row.subject for row in failing} == {"newton_euler (compiled)"}
    label = ", ".join([name, *checks.SEVERAL_RESULTS.get(name, ())[-1:]])
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


@pytest.mark.parametrize("seed", range(3))
def test_no_coordinates(seed):
    recipe = Recipe(joints=(1, 3), types=("fixed",), loads=(0, 2))
    still = NumericRobot(described(seeded_model_text(seed, recipe)))
    rows = check_module(fake_module(still))
    assert rows
    assert not [str(row) for row in rows if not row.passed]


@pytest.mark.slow
def test_no_loads_and_no_points():
    recipe = Recipe(joints=(3, 3), types=("revolute",), loads=(0, 0), points=(0, 0))
    free = NumericRobot(described(seeded_model_text(0, recipe)))
    rows = check_module(fake_module(free))
    assert not [str(row) for row in rows if not row.passed]
    assert not [row for row in rows if "complex step of point_motion" in row.name]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_every_type_of_joint(seed):
    """The coordinates ahead of the last one of a joint have no link of their own."""
    robot = NumericRobot(described(seeded_model_text(seed, replace(EVERYTHING, points=(1, 2)))))
    rows = check_module(fake_module(robot), samples=3)
    assert not [str(row) for row in rows if not row.passed]


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


# -------------------------------------------------------------------------------------- errors


def test_errors_are_relative_to_each_sample():
    reference = np.array([[1e6, 1.0], [0.5, 0.0], [-4.0, 1.0]])
    assert relative_error(reference, reference) == 0.0
    assert relative_error(reference + np.array([1.0, 0.0]), reference) == pytest.approx(1.0)
    assert relative_error(reference + np.array([[0, 0], [0, 0], [0, 1]]), reference) == 0.25
    assert relative_error(reference[:1] + 1.0, reference[:1], [[1e7, 0.0]]) == pytest.approx(1e-7)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_an_infinite_error(bad):
    assert relative_error([[bad, 0.0]], [[1.0, 0.0]]) == np.inf
    assert relative_error([[1.0, 0.0]], [[bad, 0.0]]) == np.inf
    assert not Check("a", "b", float("nan"), 1.0, 1).passed


def test_wrong_shapes_are_an_infinite_error():
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
