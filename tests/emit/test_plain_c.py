"""C to be read: compiled without a warning, and its numbers are those of the module."""

import ctypes
import importlib.util
import itertools
import shutil
from pathlib import Path

import numpy as np
import pytest

import symgen
from symgen.program.arguments import PARAMETERS
from symgen.program.functions import function_named
from tests.choosing import deep, slow
from tests.emit.test_kernels import arguments_of, call
from tests.oracles.comparison import agrees
from tests.support.commands import printed_by

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1"]
MODEL = """
symgen: 1
name: largest
gravity: [0, 0, -g]
parameters: {g: 9.81, singular: 1.5, i: 0.4, no_loads: 0.3, tau: 0.2}
joints:
  - {name: count, type: revolute, origin: {}, axis: [0, 1, 0], friction: 0.2,
     friction_velocity: 0.1,
     link: {name: a, mass: singular, com: [i, 0, 0], inertia: {xx: 0.1, yy: 0.2, zz: tau}}}
  - {name: slide, type: prismatic, parent: a, origin: {xyz: [i, 0, 0]}, axis: [1, 0, 0],
     link: {name: b, mass: 0.5, com: [no_loads, 0, 0.2]}}
loads: [{name: push, link: b, point: [0.1, 0, 0]}]
points: [{name: hand, link: b, point: [0.1, 0, 0]}]
outputs: {power: abs(tau.count*qd.count)}
"""

FUNCTIONS = (
    "inverse_dynamics,inverse_dynamics_derivatives,inverse_dynamics_parameter_derivatives,"
    "forward_dynamics,forward_kinematics,jacobians,kinetic_energy,point_motion,outputs"
)


def built(model, folder, **options):
    module = symgen.load(model, formulations="default", out=folder, backend="compiled", **options)
    return module, folder / module.name / "c" / "plain"


@pytest.fixture(scope="module", params=[*slow("runtime"), *deep("satellite_arm")])
def robot(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    if request.param == "runtime":
        model = folder / "largest.yaml"
        model.write_text(MODEL)
        options = {"runtime_parameters": "all", "functions": FUNCTIONS}
    else:
        model, options = EXAMPLES / f"{request.param}.yaml", {"plain_c": True}
    module, plain = built(model, folder, **options)
    library = folder / "plain.so"
    source = plain / f"{module.name}.c"
    printed_by("gcc", *STRICT, "-shared", "-fPIC", source, "-o", library, "-lm")
    return module, plain, ctypes.CDLL(str(library))


def pointer(array):
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def test_every_function_gives_the_numbers_of_the_module(robot):
    module, _, library = robot
    rng = np.random.default_rng(8)
    sizes = {name: getattr(module, name) for name in ("n", "nq", "n_loads", "n_parameters")}
    for name, changed in itertools.product(module.functions, (True, False)):
        table, given = function_named(name), arguments_of(name, sizes, rng)
        given["parameters"] = module.default_parameters * rng.uniform(0.8, 1.2, module.n_parameters)
        if not changed:
            given = {argument.name: given[argument.name] for argument in table.arguments}
        expected = [np.asarray(x) for x in call(module, name, given)]
        found = [np.full(x.shape, np.nan) for x in expected]
        order = (*table.arguments, *table.options, PARAMETERS)
        inputs = [pointer(given[x.name]) if x.name in given else None for x in order]
        getattr(library, f"{module.name}_{name}")(*inputs, *map(pointer, found))
        for value, wanted in zip(found, expected, strict=True):
            assert agrees(value, wanted), name


def test_a_singular_mass_matrix_is_returned(tmp_path):
    model = tmp_path / "light.yaml"
    model.write_text(
        "symgen: 1\nname: light\nparameters: {m: 1}\njoints:\n"
        "  - {name: a, type: prismatic, origin: {}, axis: [1, 0, 0], link: {mass: m}}\n"
    )
    options = {"runtime_parameters": "all", "functions": "forward_dynamics"}
    _, plain = built(model, tmp_path, **options)
    library = tmp_path / "light.so"
    source = str(plain / "light.c")
    printed_by("gcc", *STRICT, "-shared", "-fPIC", source, "-o", library, "-lm")
    forward = ctypes.CDLL(str(library)).light_forward_dynamics
    numbers, qdd = np.zeros(3), np.zeros(1)
    arguments = [pointer(numbers)] * 3
    assert forward(*arguments, None, pointer(np.array([2.0])), pointer(qdd)) == 0
    assert forward(*arguments, None, pointer(np.array([0.0])), pointer(qdd)) == 1
    assert np.isnan(qdd).all()


CPP = """
#include <cstdio>
#include "NAME.hpp"
namespace robot = NAME_dynamics;
int main() {
    robot::Vector<robot::n> q, qd, qdd;
    for (int i = 0; i < robot::n; ++i) { q(i) = 0.1 * (i + 1); qd(i) = 0.3; qdd(i) = -0.2; }
    robot::Loads loads;
    loads.setConstant(0.7);
    const auto tau = robot::inverse_dynamics(q, qd, qdd, &loads);
    const auto found = robot::inverse_dynamics_derivatives(q, qd, qdd);
    const auto poses = robot::forward_kinematics(q);
    const auto columns = robot::jacobians(q);
    const double energy = robot::kinetic_energy(q, qd);
    const auto back = robot::forward_dynamics(q, qd, tau, &loads);
    std::printf("%.17g %.17g %.17g %.17g %.17g %.17g", tau(0), found.dtau_dq(1, 0),
                poses.back()(0, 3), columns.back()(2, 1), energy, (back - qdd).norm());
}
"""


def test_the_header_for_cpp(robot, tmp_path):
    found = importlib.util.find_spec("cmeel")
    roots = [] if found is None or found.origin is None else [Path(found.origin).parents[1]]
    eigen = [root / "cmeel.prefix" / "include" / "eigen3" for root in roots]
    eigen = [path for path in (*eigen, Path("/usr/include/eigen3")) if (path / "Eigen").is_dir()]
    if not eigen or shutil.which("g++") is None:
        pytest.skip("needs g++ and the headers of Eigen: pip install 'symgen[test]'")
    module, plain, _ = robot
    (tmp_path / "use.cpp").write_text(CPP.replace("NAME", module.name))
    kernels = tmp_path / "kernels.o"
    source = plain / f"{module.name}.c"
    printed_by("gcc", *STRICT, "-c", source, "-o", kernels)
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-isystem", str(eigen[0])]
    command += ["-iquote", plain, tmp_path / "use.cpp", kernels, "-lm", "-o", tmp_path / "use"]
    printed_by(*command)
    printed = printed_by(tmp_path / "use")
    n = module.n
    q, qd, qdd = 0.1 * np.arange(1, n + 1), np.full(n, 0.3), np.full(n, -0.2)
    loads = np.full((module.n_loads, 6), 0.7)
    expected = [
        module.inverse_dynamics(q, qd, qdd, loads=loads)[0],
        module.inverse_dynamics_derivatives(q, qd, qdd)[1][1, 0],
        module.forward_kinematics(q)[-1, 0, 3],
        module.jacobians(q)[-1, 2, 1],
        module.kinetic_energy(q, qd),
        0.0,
    ]
    np.testing.assert_allclose([float(x) for x in printed.split()], expected, rtol=0, atol=1e-11)
