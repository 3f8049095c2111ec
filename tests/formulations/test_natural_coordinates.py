"""Natural coordinates against coordinates of joints: an instant, derivatives, motions, refusals."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import symgen
from benchmarks.mechanisms import vehicle
from symgen.algebra.graph import Graph
from symgen.comparing.comparison import compare
from symgen.deriving.derivation import derived_program
from symgen.deriving.natural import in_natural_coordinates
from symgen.description import read
from symgen.errors import RequestError
from symgen.formulations import formulation_named
from symgen.kinematics.natural_states import natural_state
from symgen.kinematics.tree import build_tree
from symgen.options import BuildOptions
from symgen.program.interpreter import call
from symgen.runtime.closure import solved
from symgen.support.journal import Journal
from tests.choosing import deep
from tests.mechanisms.models import BY_PARAMETERS, BY_STATE, body, model
from tests.mechanisms.test_examples import GRADIENTS, MECHANISMS
from tests.modules import described, file_of, module, quick_builds
from tests.simulation.test_fixed_steps import five_bar_motion, five_bar_start

NAMES = ("L_s1", "L_s2", "m", "x_G", "L_A1")
SKEW = {"axis": [0.3, -0.5, 0.8], "origin": {"xyz": ["L", 0.1, -0.2], "rpy": [0.3, -0.7, 0.5]}}
SEAT = {"origin": SKEW["origin"]}
FLAT = {"origin": {"xyz": ["L", 0.1, 0.0]}}
JOINTS = (
    ("root", "base", "floating", {"coordinates": "quaternion", "origin": {}}),
    ("a", "root", "revolute", {**SKEW, "damping": 0.3, "rotor_inertia": 0.2}),
    ("b", "a", "prismatic", {**SKEW, "stiffness": 4, "rest": 0.1}),
    ("c", "root", "universal", {**SEAT, "axes": ["y", "x"]}),
    ("d", "c", "spherical", {**SEAT, "coordinates": "quaternion"}),
    ("e", "root", "cylindrical", SKEW),
    ("f", "e", "fixed", SEAT),
    ("g", "f", "planar", SKEW),
    ("h", "base", "revolute", FLAT),
    ("i", "h", "revolute", {**FLAT, "damping": 0, "damping_backward": 0.3}),
    ("j", "i", "prismatic", FLAT),
    ("k", "j", "revolute", {"origin": {"rpy": ["pi", 0, 0.3]}}),
    ("l", "k", "prismatic", SKEW),
)


@cache
def mixed_file():
    """Path of a tree with joints of all types that have them, springs, forces and a tyre."""
    joints = [
        {"name": x, "parent": parent, "type": kind, "link": body(f"link_{x}", 1 + k / 8)} | more
        for k, (x, parent, kind, more) in enumerate(JOINTS)
    ]  # fmt: skip
    joints[0]["link"]["mass"] = "m"
    ends = [{"link": "link_d", "point": [0.1, 0.2, "L"]}, {"link": "link_g", "point": "tip"}]
    return file_of(
        model(
            "mixed", joints, parameters={"L": 0.6, "m": 2.0},
            points=[{"name": "tip", "link": "link_g", "point": [0.2, -0.1, 0.3]}],
            springs=[{"name": "s", "between": ends, "stiffness": 30, "damping": 2, "length": "L"}],
            forces=[
                {"name": "drag", **ends[1], "force": ["-points.tip.vx*m", "qd.a", 0],
                 "torque": [0, "points.tip.x", "q.b"]},
                {"name": "tyre", "type": "tyre", "wheel": "a", "radius": 3, "width": 0.1,
                 "normal": {"stiffness": [1e2], "damping": 3}, "ground": 0,
                 "slip": {"longitudinal": 90, "lateral": 50, "friction": [0.9, 0.5]}},
            ],
            outputs={"o": "points.tip.ax*kinetic_energy + potential_energy + tyres.tyre.fn"},
            loads=[{"name": "hand", "link": "link_b", "point": [0.1, 0, 0.2]}],
        )
    )  # fmt: skip


@cache
def mixed():
    """The tree in coordinates of joints, and in natural ones."""
    relative = read(mixed_file())
    return relative, in_natural_coordinates(relative)


def values(description, function, runtime=(), formulation="natural_coordinates", **arguments):
    """Results of a function, from its program alone."""
    program = derived_program(description, formulation_named(formulation), function, runtime, False)
    return call(program, arguments)


@cache
def instant():
    """A state in both coordinates: q, qd, qdd, and z, zd."""
    relative, natural = mixed()
    n, rng = len(relative.coordinate_names), np.random.default_rng(5)
    q, qd, qdd = rng.uniform(-1, 1, (3, n + 2))
    for k in relative.quaternion_starts:
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    arguments = {"q": q, "qd": qd[:n], "qdd": qdd[:n], "loads": rng.uniform(-1, 1, (1, 6))}
    links = [
        values(relative, name, formulation="newton_euler", **arguments)[0]
        for name in ("forward_kinematics", "link_motion")
    ]
    program = derived_program(
        natural, formulation_named("natural_coordinates"), "forward_kinematics"
    )
    at, rates = (
        dict(zip(names, x, strict=True))
        for names, x in ((relative.position_names, q), (relative.coordinate_names, qd[:n]))
    )
    z, zd = natural_state(
        lambda z: call(program, {"q": z})[0], natural.coordinate_names, links, (at, rates)
    )
    return arguments, {"q": z.real, "qd": zd.real, "loads": arguments["loads"], "t": 0.0}


def test_accelerations_and_energies_are_those_of_coordinates_of_joints():
    (relative, natural), (old, new) = mixed(), instant()
    names = natural.coordinate_names
    assert np.abs(values(natural, "constraints", **new)[0]).max() < 1e-13
    assert np.abs(values(natural, "constraint_rates", **new)[0]).max() < 1e-13
    for name in ("kinetic_energy", "potential_energy", "center_of_mass", "centroidal_momentum"):
        expected = values(relative, name, formulation="newton_euler", **old)[0]
        assert np.allclose(values(natural, name, **new)[0], expected, rtol=1e-12), name
    tau = values(relative, "inverse_dynamics", formulation="newton_euler", **old)[0]
    M, J, bias, forces = (
        values(natural, name, **new)[0]
        for name in ("mass_matrix", "constraint_jacobian", "constraint_bias", "bias_forces")
    )
    acting = -forces[:, np.newaxis]
    kept = [k for k, name in enumerate(names) if name in relative.coordinate_names]
    assert [names[k] for k in kept] == ["a", "b", "i", "j"]
    qdd = solved(M, J, acting, -bias[:, np.newaxis])[0][:, 0]
    of_links = values(natural, "link_motion", **new, qdd=qdd)[1]
    # those of the joints, with the same torques: none
    M = values(relative, "mass_matrix", formulation="newton_euler", **old)[0]
    left = old["qdd"] - np.linalg.solve(M, tau)
    expected = values(relative, "link_motion", formulation="newton_euler", **{**old, "qdd": left})[
        1
    ]
    assert np.allclose(of_links, expected, rtol=1e-10, atol=1e-10)
    for state in (old, new):
        state["qdd"] = left if state is old else qdd
    outputs = [
        values(relative, "outputs", formulation="newton_euler", **old, t=0.0)[0],
        values(natural, "outputs", **new)[0],
    ]
    assert np.allclose(*outputs, rtol=1e-9)


@pytest.mark.slow
def test_a_build_validates_all_functions_and_derivatives():
    """The laws of mechanics, complex step, other values of the parameters."""
    options = {"runtime_parameters": "L,m", "backend": "numpy", "functions": "default"}
    natural = symgen.load(mixed_file(), formulations="natural_coordinates", **options)
    assert natural.n == 70 and all(check.passed for check in natural.selftest())


# ---------------------------------------------------------------------------------------- motions


@cache
def both(path, parameters=""):
    """Modules with coordinates of joints, and with natural ones."""
    loops = "\nloops:" in path.read_text() if isinstance(path, Path) else False
    functions = [*(BY_PARAMETERS if parameters else BY_STATE), *["loop_wrenches"] * loops]
    functions += ["outputs", "outputs_derivatives"] * bool(parameters)
    options = {"backend": "compiled", "runtime_parameters": parameters or "none"}
    if not loops:
        joints = ["forward_dynamics_sensitivities", *functions[-2:]]
    more = ["forward_kinematics", "link_motion"]
    return (
        module(path, functions=[*(functions if loops else joints), *more], **options),
        module(path, functions=[*functions, *more], formulations="natural_coordinates", **options),
    )


@pytest.mark.slow
def test_the_fifteen_gradients_of_the_five_bar_linkage():
    """Order 2, and in the limit those of semi_recursive, and of tables 7 and 8."""
    joints, natural = both(MECHANISMS / "five_bar.yaml", ",".join(NAMES))
    assert (natural.n, len(natural.constraint_names)) == (8, 7)
    _, q, length = five_bar_start()
    dq = np.outer(length, np.array(NAMES) == "L_A1")
    start = symgen.to_natural(joints, natural, q, np.zeros(4), sensitivities=NAMES, dq=dq)
    found = {}
    for step in (4e-3, 2e-3, 1e-3):
        run = symgen.simulate(
            natural, start.z, start.zd, np.linspace(0, 5, 3), step=step, sensitivities=NAMES,
            dq0=start.dz, dqd0=start.dzd, objectives="all",
        )  # fmt: skip
        assert run.violation.values.max() < 1e-12
        found[step] = run.integral_gradient.values
    coarse, middle, fine = found.values()
    ratio = np.abs(coarse - middle).max(axis=1) / np.abs(middle - fine).max(axis=1)
    assert np.all(np.abs(ratio - 4) < 0.1)
    limit = (4 * fine - middle) / 3
    assert np.allclose(limit, GRADIENTS, rtol=1e-6)
    coarse, fine = (five_bar_motion(step=x).integral_gradient.values for x in (2e-3, 1e-3))
    assert np.allclose(limit, (4 * fine - coarse) / 3, rtol=2e-6)  # each to 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "bricard", *deep("stewart", "double_four_bar")])
def test_states_and_reactions_of_mechanisms(name):
    joints, natural = both(MECHANISMS / f"{name}.yaml")
    q = joints.assemble()
    qd = joints.closed_velocities(q, joints.initial_qd)
    z, zd, _, _ = symgen.to_natural(joints, natural, q, qd)
    assert np.abs(natural.constraints(z)).max() < 1e-12
    assert joints.freedoms(q) == natural.freedoms(z)
    tau = {
        x: 0.5 for x, drive in zip(natural.coordinate_names, natural.actuated, strict=True) if drive
    }
    drives = [
        np.array([tau.get(x, 0.0) for x in each.coordinate_names]) for each in (joints, natural)
    ]
    rows = [natural.constraint_names.index(x) for x in joints.constraint_names]
    errors = []
    for step in (4e-3, 2e-3, 1e-3):
        ends = []
        for each, at, rate, drive in ((joints, q, qd, drives[0]), (natural, z, zd, drives[1])):
            run = symgen.simulate(each, at, rate, [0, 0.2], step=step, tau=drive)
            assert run.violation.values.max() < 1e-11
            end = run.q.values[-1], run.qd.values[-1]
            ends.append((*end, each.constrained_forward_dynamics(*end, drive).multipliers))
        end = symgen.to_joints(joints, natural, *ends[1][:2], ends[0][0])
        unique = (
            joints.unique_multipliers(ends[0][0]) & natural.unique_multipliers(ends[1][0])[rows]
        )
        reactions = np.abs(ends[0][2] - ends[1][2][rows])[unique]
        errors.append(
            [np.abs(joints.difference(ends[0][0], end[0])).max(), np.abs(ends[0][1] - end[1]).max(),
             reactions.max(initial=0.0)]
        )  # fmt: skip
    errors = np.array(errors)[:, : 2 + unique.any()]
    assert np.all(np.abs(errors[:-1] / errors[1:] - 4) < 0.2), errors


PENDULUM = model(
    "pendulum",
    [
        {"name": "a", "type": "revolute", **SKEW, "damping": 0.2, "stiffness": 3,
         "link": body("first", "m")},
        {"name": "b", "type": "revolute", **SKEW, "parent": "first", "link": body("second", 1.5)},
    ],
    parameters={"L": 0.6, "m": 2.0}, gravity=[0, 0, -9.81],
    points=[{"name": "tip", "link": "second", "point": ["L", 0.1, 0.2]}],
    springs=[{"name": "s", "between": [{"link": "base"}, {"link": "second", "point": "tip"}],
              "stiffness": 20, "length": "L", "damping": 0.5}],
    outputs={"height": "points.tip.z", "energy": "kinetic_energy + potential_energy"},
)  # fmt: skip


@pytest.mark.slow
def test_a_tree_without_loops_has_the_gradients_of_adaptive_steps():
    joints, natural = both(PENDULUM, "L,m")
    state, parameters = ([0.4, -0.3], [0.5, 1.0]), ("L", "m")
    tight = {"rtol": 1e-12, "atol": 1e-12, "objectives": "all", "sensitivities": parameters}
    exact = symgen.simulate(joints, *state, [0, 1.0], **tight)
    z, zd, dz, dzd = symgen.to_natural(
        joints, natural, *map(np.array, state), sensitivities=parameters
    )
    errors = []
    for step in (5e-3, 2.5e-3, 1.25e-3):
        run = symgen.simulate(
            natural, z, zd, [0, 1.0], step=step, objectives="all", sensitivities=parameters,
            dq0=dz, dqd0=dzd,
        )  # fmt: skip
        end = symgen.to_joints(joints, natural, run.q.values[-1], run.qd.values[-1], state[0])
        pairs = [(end[0], exact.q[-1]), (end[1], exact.qd[-1])]
        pairs += [(run[x], exact[x]) for x in ("integral", "integral_gradient", "end_gradient")]
        errors.append([np.abs(np.asarray(x) - np.asarray(y)).max() for x, y in pairs])
    assert np.all(np.abs(np.divide(errors[:-1], errors[1:]) - 4) < 0.2), errors


# --------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("joints", "outputs", "message"),
    [
        ([{"type": "helical", "pitch": 1}], {}, "'a' is helical, for which"),
        ([{"type": "revolute", "prescribed": True}], {}, "'a' has a prescribed motion, for which"),
        ([{"type": "spherical", "damping": 1}], {}, "needs the coordinates of 'a'"),
        ([{"type": "revolute"}], {"o": "wrenches.a.fx"}, "'o' mentions a joint wrench"),
        ([{"type": "revolute"}, {"type": "revolute", "mimic": {"coordinate": "a"}}], {},
         "'b' follows"),
        ([{"type": "revolute"}, {"name": "a_u_1", "type": "revolute", "damping": 1}], {},
         "coincide with those of natural coordinates"),
    ],
)  # fmt: skip
def test_refusals(joints, outputs, message):
    joints = [
        {"name": name, "parent": "base", "origin": {}, "link": body(f"link_{name}", 1), **joint}
        for name, joint in zip("ab", joints, strict=False)
    ]
    description = described(model("refused", joints, outputs=outputs))
    with pytest.raises(RequestError, match=message):
        in_natural_coordinates(description)


def test_formulations_of_joints_do_not_take_them():
    with pytest.raises(RequestError, match="natural_coordinates has a module of its own"):
        module(PENDULUM, functions="mass_matrix", formulations="default,natural_coordinates")


@pytest.mark.slow
def test_compare_lists_them_beside_the_others():
    options = BuildOptions(
        ("semi_recursive", "natural_coordinates"), ("mass_matrix", "jacobians"), "numpy"
    )
    with quick_builds():
        rows = compare(MECHANISMS / "four_bar.yaml", options, Journal()).rows
    functions = [(row.formulation, row.function, row.disagreement) for row in rows]
    assert functions == [
        ("semi_recursive", "mass_matrix", 0.0), ("natural_coordinates", "mass_matrix", None),
        ("semi_recursive", "jacobians", 0.0),
    ]  # fmt: skip
    assert rows[1].after.total == 0 < rows[0].after.total  # it is constant


@pytest.mark.deep
def test_gradients_of_the_vehicle():
    """Half a second of the lane change with tyres, laws of springs, and a relation of the rack."""
    pytest.importorskip("matplotlib")
    modules, (q, qd, dq), names, parameters, options = vehicle("LANE")
    defaults = zip(modules[0].parameter_names, modules[0].default_parameters, strict=True)
    values = [parameters.get(name, value) for name, value in defaults]
    start = symgen.to_natural(*modules, q, qd, parameters=values, sensitivities=names, dq=dq)
    errors = []
    for step in (5e-3, 2.5e-3, 1.25e-3):
        options |= {"t": [0, 0.5], "step": step, "sensitivities": names}
        joints = symgen.simulate(modules[0], q, qd, **options, dq0=dq)
        natural = symgen.simulate(modules[1], *start[:2], **options, dq0=start.dz, dqd0=start.dzd)
        pairs = [(natural[k].values, joints[k].values) for k in ("integral", "integral_gradient")]
        errors.append(max(np.abs(x / y - 1).max() for x, y in pairs))
    assert errors[2] < 5e-3 and np.all(np.divide(errors[:-1], errors[1:]) > 3), errors


TURNED = """symgen: 1
name: turned
parameters: {L: 0.5}
joints:
  - {name: a, type: spherical, coordinates: quaternion, origin: {}, link: {mass: 1, com: [0, 0, L]}}
  - {name: b, type: revolute, origin: {xyz: [0, 0, L]}, axis: [1, 0, 0], link: {mass: 1}}
initial: {q: {a_qx: 0.3, a_qw: 0.9, b: 1}, qd: {a_wx: 1, b: 2}}
"""
"""A quaternion that is not of norm 1."""


@pytest.mark.slow
def test_initial_states():
    """The loops closed, drives held; quaternions of norm 1."""
    text = (MECHANISMS / "four_bar.yaml").read_text().replace("    actuated: false\n", "")
    for path in (file_of(text.replace(", coupler: -40*deg, rocker: 70*deg", "")), file_of(TURNED)):
        options = {
            "backend": "numpy",
            "runtime_parameters": "L" if "L:" in path.read_text() else "none",
        }
        joints = module(path, functions=["default", "link_motion"], **options)
        natural = module(path, functions=["default"], formulations="natural_coordinates", **options)
        q, qd = joints.initial_q, joints.initial_qd
        if "loops:" in path.read_text():
            q = joints.assemble()
            qd = joints.closed_velocities(q, joints.initial_qd)
        z, zd, _, _ = symgen.to_natural(joints, natural, q, qd)
        assert np.allclose(natural.initial_q, z, atol=1e-10)
        assert np.allclose(natural.initial_qd, zd, atol=1e-10)
    for options in ({"parameters": {"L": 0.6}}, {"sensitivities": "L"}):
        with pytest.raises(RequestError, match="give q0, qd0, dq0, dqd0 by"):
            symgen.simulate(natural, t=[0, 0.1], **options)
    for change in ((0.5, 0.0), (0.0, 1.0)):
        with pytest.raises(RequestError, match="check that z and zd keep the constraints"):
            symgen.to_joints(joints, natural, z + change[0], zd + change[1], near=q)
    for refused, words in (
        ({"sensitivities": "M"}, "no runtime parameter is called 'M'; there are: L"),
        ({"qd": qd[1:]}, "qd: expected shape (4,), got (3,)"),
        ({"joints": natural}, "expected a module with coordinates of joints, then one in"),
    ):
        arguments = {"joints": joints, "natural": natural, "q": q, "qd": qd} | refused
        with pytest.raises(RequestError, match=re.escape(words)):
            symgen.to_natural(**arguments)


def test_names_of_rows():
    """One for every row; a relation that has the name of another row is refused."""
    universal = TURNED.replace("revolute", "universal").replace("axis: [1, 0, 0]", "axes: [x, y]")
    converted = in_natural_coordinates(described(universal.partition("initial")[0]))
    names = build_tree(converted, Graph()).constraint_names
    assert len({*names}) == len(names)
    with pytest.raises(RequestError, match="the loop or relation 'b_displacement' has the name"):
        in_natural_coordinates(described(f"{TURNED}relations: {{b_displacement: q.b - 1}}\n"))
