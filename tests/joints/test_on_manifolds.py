"""Joints on manifolds through everything that a user meets: it knows them, or refuses them."""

import re
import subprocess
import sys

import numpy as np
import pytest
import sympy

import symgen
from symgen import cli
from symgen.deriving.selection import select
from symgen.deriving.symbolic import derive_symbolically
from symgen.description import read
from symgen.errors import RequestError
from symgen.options import BuildOptions
from tests.modules import EXAMPLES, file_of, module

BODY = """
  - {name: root, type: floating, coordinates: quaternion, origin: {xyz: [0, 0, 0.2]},
     link: {name: trunk, mass: 2.0, com: [0.1, 0.02, 0.03],
            inertia: {xx: 0.3, yy: 0.4, zz: 0.5, xy: 0.01, xz: 0.02, yz: -0.01}}}
"""
ARM = """
  - {name: arm, type: revolute, origin: {xyz: [0.1, 0, 0]}, axis: [0, 1, 0],
     limits: {lower: -1, upper: 1},
     link: {mass: m1, com: [0.2, 0, 0.1], inertia: {xx: 0.03, yy: 0.04, zz: 0.05}}}
  - {name: wrist, type: revolute, axis: [1, 0, 0], mimic: {coordinate: arm, multiplier: 2.0},
     origin: {xyz: [0.4, 0, 0]},
     link: {mass: m1/2, com: [0.2, 0, 0.1], inertia: {xx: 0.03, yy: 0.04, zz: 0.05}}}
"""
PENDULUM = """
  - {name: ball, type: spherical, coordinates: quaternion, origin: {}, damping: c, friction: c / 3,
     rotor_inertia: [I, 2 * I, 0.01], gear_ratio: 1 + c,
     link: {name: bob, mass: m1, com: [0, 0.02, -0.5], inertia: {xx: 0.03, yy: 0.04, zz: 0.05}}}
"""
REST = {
    "arm": "points: [{name: hand, link: wrist, point: [0.1, 0.2, 0]}]\n"
    "loads: [{name: pull, link: wrist, point: [0.1, 0, 0]}]\n"
    "outputs: {lift: q.arm * m1 + qd.arm**2 + points.hand.z, push: loads.pull.fx * tau.arm}\n",
    "pendulum": "",
}
JOINTS = {"arm": BODY + ARM, "pendulum": PENDULUM}
BOTH = pytest.mark.parametrize("name", JOINTS)
PARAMETERS = {"arm": "{m1: 1.0}", "pendulum": "{m1: 1.0, c: 0.1, I: 0.02}"}


def path_of(name):
    """A free body with an arm and a joint that follows it, loads and outputs; a pendulum."""
    head = f"symgen: 1\nname: {name}\nparameters: {PARAMETERS[name]}\njoints:"
    return file_of(head + JOINTS[name] + REST[name])


def loaded(name, *functions):
    return module(path_of(name), functions=functions, runtime_parameters="all")


@pytest.fixture
def run(capfd):
    """Exit status, what is printed and what is said besides."""

    def said(*words):
        capfd.readouterr()
        status = cli.run([str(word) for word in words])
        return status, *capfd.readouterr()

    return said


@pytest.mark.slow
@pytest.mark.parametrize(("robot", "functions", "said"), [
    ("pendulum", "inverse_dynamics", "q = pendulum.neutral()"),
    ("four_bar", "default", "four_bar.constrained_forward_dynamics(q, qd, tau=[0.0, 0.0, 0.0])"),
])  # fmt: skip
def test_what_a_build_says_works(robot, functions, said, run, tmp_path):
    path = path_of(robot) if robot in JOINTS else EXAMPLES / "mechanisms" / f"{robot}.yaml"
    words = ("--functions", functions, "--backend", "numpy", "--out", tmp_path / "made")
    status, text, _ = run("build", path, *words)
    assert status == 0 and said in text
    code = "\n".join(line.strip() for line in text.split("in Python")[1].splitlines()[2:6])
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0 and "_dynamics(" in code, done.stderr


@BOTH
def test_styles_keep_the_joint(name, run, tmp_path):
    """Link frames of such joints stay: their velocities are in its axes."""
    for style in ("origin", "standard", "modified"):
        target = tmp_path / f"{style}.yaml"
        _, text, _ = run("convert", path_of(name), target, "--style", style)
        assert float(re.search(r"random states: (\S+)", text)[1]) < 1e-14
        assert "coordinates: quaternion" in target.read_text()


@BOTH
def test_what_is_shown(name, run):
    model = path_of(name)
    drawn = run("show", model, "tree")[1]
    assert "velocities" in drawn and "quaternion" in drawn
    first = {"arm": "- 2⋅q₅  - 2⋅q₆  + 1", "pendulum": "- 2⋅q₂  - 2⋅q₃  + 1"}
    assert first[name] in run("show", model, "frames")[1]


@BOTH
def test_inverse_kinematics(name):
    """From random attitudes to random poses, within the limits of what has some."""
    robot = loaded(name, "forward_kinematics", "jacobians")
    q = robot.random_configuration(0, 5)
    link = robot.link_names[-1]
    target = robot.frame_pose(link, q)
    found = robot.inverse_kinematics(link, target, q0=1.3 * robot.neutral())
    assert found.solved.all()
    np.testing.assert_allclose(robot.frame_pose(link, found.q), target, atol=1e-9)
    np.testing.assert_allclose(robot.normalize(found.q), found.q, rtol=0, atol=1e-15)
    if "arm" in robot.position_names:
        assert np.abs(found.q[:, robot.position_names.index("arm")]).max() <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("library", ["jax", "casadi"])
def test_frameworks_differentiate_by_all_entries_of_q(library):
    """Derivatives of functions of the normalized q: by nq numbers that know no unit norm."""
    pytest.importorskip(library, reason=f"needs {library}: pip install 'symgen[test]'")
    names = ("inverse_dynamics", "forward_dynamics")
    robot = loaded("pendulum", *names, *(f"{name}_derivatives" for name in names))
    random = np.random.default_rng(0)
    q = 1.2 * robot.random_configuration(random)
    qd, x = random.standard_normal((2, robot.n))
    for name in names:
        value = getattr(robot, name)
        sides = [
            [value(robot.normalize(q + h * unit), qd, x) for unit in np.eye(robot.nq)]
            for h in (1e-6, -1e-6)
        ]
        slopes = (np.array(sides[0]) - sides[1]).T / 2e-6
        found = _jacobian(library, getattr(getattr(symgen, library)(robot), name), q, qd, x)
        np.testing.assert_allclose(found, slopes, atol=1e-6 * np.abs(slopes).max())


def _jacobian(library, function, q, qd, x):
    """Of one of the framework's functions by q."""
    if library == "jax":
        import jax

        with jax.enable_x64(True):
            return np.asarray(jax.jacrev(function)(q, qd, x))
    import casadi

    symbols = [casadi.MX.sym("x", len(values)) for values in (q, qd, x)]
    slope = casadi.jacobian(function(*symbols), symbols[0])
    return np.array(casadi.Function("slope", symbols, [slope])(q, qd, x))


def test_motions_are_interpolated_on_the_manifold(tmp_path):
    robot = loaded("arm", "forward_kinematics", "jacobians")
    q = robot.random_configuration(0, 3)
    page = symgen.animate(robot, ([0.0, 1.0, 2.0], q), tmp_path / "motion.html").read_text()
    assert f'"{robot.position_names[0]}"' in page
    with pytest.raises(RequestError, match=rf"q \(samples, {robot.nq}\)"):
        symgen.animate(robot, ([0.0, 1.0], np.zeros((2, robot.n))), tmp_path / "no.html")


@pytest.mark.deep
def test_a_report_of_them(run, tmp_path):
    page = tmp_path / "page.html"
    assert run("report", path_of("pendulum"), "--quick", "-o", page)[0] == 0
    text = page.read_text()
    assert "turned about x" in text and "abbreviates" not in text


@pytest.mark.slow
def test_equations_know_the_length_of_quaternions():
    """Whatever is the same about every axis: its angular momentum is A R w."""
    path = file_of(
        "symgen: 1\nname: bob\nparameters: {A: 0.03}\njoints:\n  - {name: ball, type: spherical, "
        "coordinates: quaternion, origin: {},\n     link: {mass: 2, com: [0, 0, -0.5], "
        "inertia: {xx: A, yy: A, zz: A}}}\n"
    )
    equations = derive_symbolically(read(path), "newton_euler")
    A, (x, y, z, w) = sympy.Symbol("A", real=True), equations.q
    found = equations.readable("centroidal_momentum_matrix")[3:, 0]
    expected = [1 - 2 * y**2 - 2 * z**2, 2 * (x * y + z * w), 2 * (x * z - y * w)]
    pairs = zip(found, expected, strict=True)
    assert [sympy.expand(entry - A * e) for entry, e in pairs] == [0, 0, 0]


def test_outputs_know_rotors_at_quaternions():
    """Their derivatives do not: they are left out, or refused by name."""
    path = file_of(
        "symgen: 1\nname: rotors\njoints:\n  - {name: ball, type: spherical, "
        "coordinates: quaternion, origin: {}, rotor_inertia: [0.1, 0.2, 0.3],\n"
        "     link: {mass: 2, com: [0, 0, -0.5]}}\n"
        "outputs: {T: kinetic_energy}\n"
    )
    built = select(read(path), BuildOptions()).built.values()
    assert any("outputs" in names for names in built)
    assert not any("outputs_derivatives" in names for names in built)
    robot = module(path, functions=("outputs", "kinetic_energy"))
    q, rates = robot.random_configuration(0), np.array([[0.3, -0.4, 0.5]] * 3)
    np.testing.assert_allclose(robot.outputs(0.0, q, *rates), robot.kinetic_energy(q, rates[0]))
    with pytest.raises(RequestError, match="kinetic energy of rotors at joints"):
        symgen.load(path, functions="outputs_derivatives")
