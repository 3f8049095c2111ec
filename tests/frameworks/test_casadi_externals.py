"""`symgen build --casadi`: functions for CasADi's C interface, against module and differences."""

import os
import platform
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import symgen
from symgen.cli import run
from symgen.description import read
from symgen.options import BuildOptions
from symgen.pipeline import building
from symgen.support.journal import Journal
from symgen.toolchain.compiler import find_compiler
from tests.choosing import deep
from tests.modules import EXAMPLES, module
from tests.planning.robots import ARM
from tests.safety.building import python

casadi = pytest.importorskip("casadi", reason="needs casadi: pip install 'symgen[test]'")

pytestmark = pytest.mark.slow  # all compile
NAMES = ("inverse_dynamics", "forward_dynamics")
NEEDED = [
    f"{name}{more}"
    for name in NAMES
    for more in ("", "_derivatives", "_load_derivatives", "_parameter_derivatives")
    if (name, more) != ("forward_dynamics", "_load_derivatives")
]
BRANCHES = Path(__file__).parents[1] / "contract" / "robots" / "branched_tree.yaml"

FLYING = """
symgen: 1
name: flying
parameters: {mass: 0.7}
joints:
  - {name: lift, type: prismatic, origin: {}, link: {name: rail, mass: 1}}
  - {name: hip, type: spherical, coordinates: quaternion, parent: rail, origin: {xyz: [0.1, 0, 0]},
     link: {name: leg, mass: 1, com: [0.1, 0, 0.3], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
  - {name: body, type: floating, coordinates: quaternion, parent: base, origin: {rpy: [0, 0.2, 0]},
     link: {name: trunk, mass: 2, com: [0.1, 0, 0.1], inertia: {xx: 0.1, yy: 0.3, zz: 0.25}}}
  - {name: wrist, type: revolute, parent: trunk, origin: {xyz: [0, 0.1, 0.2]}, axis: [0, 1, 0],
     link: {name: hand, mass: mass, com: [0.2, 0, 0.1], inertia: {xx: 0.01, yy: 0.02, zz: 0.02}}}
loads:
  - {name: foot, link: leg, point: [0.1, 0.2, 0]}
  - {name: grip, link: hand, point: [0.1, 0, 0.3]}
"""


def made(folder, text, parameter, functions=NEEDED):
    options = {"runtime_parameters": parameter} if parameter else {}
    robot = module(
        text, functions=functions, backend="compiled", casadi=True, out=folder, flags="baseline",
        **options,
    )  # fmt: skip
    (library,) = folder.glob("*/casadi/*.so")
    return robot, library


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return made(tmp_path_factory.mktemp("externals"), ARM, "m2")


def external(library, name):
    return casadi.external(f"{library.stem}_{name}", str(library))


def sources_of(package):
    """The C files of a library, as they are named at the top of the first one."""
    text = next(package.glob("casadi/*.c")).read_text()
    head = text[: text.index("*/")].splitlines()
    return [package / line[2:].strip() for line in head if line.endswith(".c")]


def columns():
    random = np.random.default_rng(0)
    return [random.standard_normal(size) for size in (3, 3, 3, 6)] + [np.array([1.4])]


@pytest.mark.parametrize("name", NAMES)
def test_values_and_derivatives_are_those_of_the_module(built, name):
    arm, library = built
    agree(arm, library, name, columns())


@pytest.fixture
def flying(name, tmp_path):
    """A ball on a rail and an arm on a free body, with loads and a parameter, and its library."""
    names = NAMES[: NAMES.index(name) + 1]  # what solves needs what it inverts
    needed = [function for function in NEEDED if function.startswith(names)]
    return made(tmp_path, FLYING, "mass", needed)


@pytest.mark.parametrize("name", [NAMES[0], *deep(NAMES[1])])
def test_quaternions_are_normalized_and_derivatives_are_by_all_of_q(flying, name):
    robot, library = flying
    random = np.random.default_rng(3)
    sizes = (robot.nq, robot.n, robot.n, 6 * robot.n_loads)
    at = [*map(random.standard_normal, sizes), np.array([0.8])]
    agree(robot, library, name, at)
    quaternion = robot.position_names.index("body_qx")
    at[0][quaternion : quaternion + 4] = 0.0
    with pytest.raises(RuntimeError, match="failed"):
        external(library, name)(*at)


def agree(robot, library, name, at):
    """Value and derivatives of an external function, and of that through Python."""
    reference = symgen.casadi(robot, loads=True, parameters=True)
    function, expected = external(library, name), getattr(reference, name)
    assert function.name_in() == expected.name_in()
    value = function(*at).full().ravel()
    assert np.allclose(value, expected(*at).full().ravel(), rtol=1e-12)
    exact = function.jacobian()(*at, value)
    right = expected.jacobian()(*at, value)
    differences = casadi.external(
        function.name(), str(library),
        {"enable_jacobian": False, "enable_fd": True, "fd_method": "central"},
    )  # fmt: skip
    symbols = [casadi.MX.sym(f"x{k}", len(x)) for k, x in enumerate(at)]
    slopes = [casadi.jacobian(differences(*symbols), x) for x in symbols]
    approximate = casadi.Function("slopes", symbols, slopes)(*at)
    for matrices in zip(exact, right, approximate, strict=True):
        one, other, near = (matrix.full() for matrix in matrices)
        assert np.allclose(one, other, rtol=1e-11, atol=1e-12 * np.abs(other).max())
        assert np.allclose(one, near, atol=1e-5 * max(1.0, np.abs(near).max()))


def test_what_is_always_0_is_left_out_of_trees(tmp_path):
    functions = [f"inverse_dynamics{more}" for more in ("", "_derivatives", "_load_derivatives")]
    tree, library = made(tmp_path, BRANCHES, "", functions)
    function = external(library, "inverse_dynamics")
    at = np.random.default_rng(0).standard_normal((3, tree.n))
    blocks = function.jacobian()(*at, np.zeros(6 * tree.n_loads), 0)[:3]
    found = tree.inverse_dynamics_derivatives(*at)[1:]
    for block, exact in zip(blocks, found, strict=True):
        assert np.allclose(block.full(), exact, rtol=1e-12, atol=1e-15)
        assert block.nnz() == np.count_nonzero(exact)
    assert blocks[2].nnz() < tree.n**2


def test_many_samples_in_threads(built):
    arm, library = built
    function = external(library, "forward_dynamics")
    random = np.random.default_rng(1)
    batch = [random.standard_normal((len(x), 200)) for x in columns()[:4]] + [
        np.full((1, 200), 1.2)
    ]
    found = function.map(200, "thread", 4)(*batch).full()
    q, qd, tau, loads, parameters = (x.T for x in batch)
    expected = arm.forward_dynamics(
        q, qd, tau, loads=loads.reshape(-1, 1, 6), parameters=parameters
    )
    assert np.allclose(found.T, expected, rtol=1e-10)


def test_it_is_part_of_programs_that_casadi_writes(built, tmp_path, monkeypatch):
    """A gradient of the power, as C: compiled with the sources of the package, without Python."""
    _, library = built
    package = library.parents[1]
    monkeypatch.chdir(tmp_path)
    function = external(library, "inverse_dynamics")
    symbols = [casadi.MX.sym(f"x{k}", len(x)) for k, x in enumerate(columns())]
    power = casadi.dot(function(*symbols), symbols[1])
    slope = casadi.Function("slope", symbols, [casadi.gradient(power, symbols[0])])
    generator = casadi.CodeGenerator("slope.c")
    generator.add(slope)
    generator.generate()
    objects = []
    compiler = find_compiler()
    for k, source in enumerate([tmp_path / "slope.c", *sources_of(package)]):
        objects.append(f"{k}.o")
        command = compiler.compile_command(str(source), objects[-1], flags="baseline")
        subprocess.run(command, check=True, cwd=tmp_path)
    subprocess.run(compiler.link_command(objects, "slope.so"), check=True, cwd=tmp_path)
    compiled = casadi.external("slope", os.path.abspath("slope.so"))
    assert np.allclose(compiled(*columns()).full(), slope(*columns()).full(), rtol=1e-13)


def test_sources_have_no_warnings(built, tmp_path):
    _, library = built
    command = find_compiler().compile_command(
        str(library.with_suffix(".c")), str(tmp_path / "x.o"), flags="baseline",
        more=("-Wall", "-Wextra", "-Wpedantic", "-Werror"),
    )  # fmt: skip
    subprocess.run(command, check=True)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="asks x86-64 processors")
def test_another_kind_of_machine_is_an_error(built, tmp_path):
    """A processor that says of no leaf what it has."""
    _, library = built
    header = tmp_path / "other.h"
    header.write_text("#include <cpuid.h>\n#define __get_cpuid_count(a, b, c, d, e, f) 0\n")
    other = tmp_path / library.name
    options = ("-shared", "-fPIC", "-std=c99", "-mfma", "-include", str(header))
    sources = map(str, sources_of(library.parents[1]))
    subprocess.run(["cc", *options, *sources, "-o", str(other), "-lm"], check=True)
    program = (
        "import casadi, sys\n"
        "f = casadi.external(sys.argv[1], sys.argv[2])\n"
        "f(*(0.0 for _ in range(f.n_in())))\n"
    )
    done = python("-c", program, f"{library.stem}_inverse_dynamics", str(other))
    assert done.returncode == 1 and "--flags portable" in done.stderr, done.stderr


def test_derivatives_that_were_not_built_are_left_to_casadi(tmp_path):
    made(tmp_path, BRANCHES, "", ["inverse_dynamics"])
    text = (tmp_path / "branched_tree/casadi/branched_tree.c").read_text()
    assert "branched_tree_inverse_dynamics(" in text
    assert "jac_branched_tree" not in text
    assert "forward" not in text


def test_of_a_mechanism_it_is_the_tree_cut_open():
    for name, count in (("two_link", 0), ("mechanisms/four_bar", 1)):
        journal, description = Journal(), read(EXAMPLES / f"{name}.yaml")
        plan = SimpleNamespace(description=description, options=BuildOptions(casadi=True))
        building._warn_of_open_tree(plan, journal)
        assert "".join(journal.notices).count("nothing of the closed mechanism") == count


def test_it_needs_compiled_code(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert run(["build", str(BRANCHES), "--casadi", "--backend", "numpy"]) == 2
    assert "leave out --backend" in capfd.readouterr().err
    environment = {**os.environ, "CC": "no-such-compiler"}
    done = python("-m", "symgen", "build", str(BRANCHES), "--casadi", environment=environment)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
