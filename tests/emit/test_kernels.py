"""Numbers: every backend computes what `symgen.algebra.evaluation` computes."""

import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from symgen.algebra.evaluation import NUMPY, Arithmetic, evaluate
from symgen.emit import compiled, cython
from symgen.emit import numpy as numpy_backend
from symgen.emit.parts import split
from symgen.optimize.ordering import schedule
from symgen.program.arguments import PARAMETERS
from symgen.program.functions import function_named
from tests.choosing import some_slow
from tests.emit.building import BACKENDS, FLAGS, build
from tests.emit.samples import (
    Writer,
    arm,
    arm_package,
    every_function,
    metadata,
    package,
    random_package,
)

# The functions of the C library, as the kernels call them.
LIBM = Arithmetic(
    constant=float,
    functions={
        **{name: getattr(math, name) for name in NUMPY.functions if hasattr(math, name)},
        "abs": abs,
        "sign": lambda x: float((x > 0.0) - (x < 0.0)),
    },
)


def arguments_of(function, sizes, rng, *batch):
    """Random arguments of a public function, loads and parameters included."""
    table = function_named(function)
    arguments = (*table.arguments, *table.options, PARAMETERS)
    return {a.name: rng.normal(size=(*batch, *a.sizes(sizes))) for a in arguments}


def call(functions, name, given, **more):
    """Results as a tuple; q, qd, qdd go in by position."""
    table = function_named(name)
    positional = [given[a.name] for a in table.arguments]
    options = {a.name: given[a.name] for a in (*table.options, PARAMETERS) if a.name in given}
    result = getattr(functions, name)(*positional, **options, **more)
    return result if isinstance(result, tuple) else (result,)


def reference(program, given, arithmetic=NUMPY):
    values = {}
    for declared in program.inputs:
        entries = np.reshape(given[declared.name], -1)
        if arithmetic is LIBM:
            entries = entries.tolist()
        values.update(zip(declared.symbol_names, entries, strict=True))
    flat = evaluate(program.results, values, arithmetic)
    results, start = [], 0
    for output in program.outputs:
        size = len(output.entries)
        results.append(np.reshape(flat[start : start + size], output.shape))
        start += size
    return results


def check_against_evaluation(module, source, backends):
    """Compiled kernels to the bit with the same library functions, NumPy with its own."""
    rng = np.random.default_rng(0)
    for formulation, programs in source.programs.items():
        for name, forms in programs.items():
            program = forms.straight
            for _ in range(20):
                given = arguments_of(name, source.metadata.sizes, rng)
                for backend in backends:
                    functions = getattr(module.backends[backend], formulation)
                    values = call(functions, name, given)
                    arithmetic = NUMPY if backend == "numpy" else LIBM
                    expected = reference(program, given, arithmetic)
                    for value, wanted in zip(values, expected, strict=True):
                        assert np.array_equal(value, wanted), (backend, name)


def test_arm(arm_module):
    check_against_evaluation(arm_module, arm_package(), BACKENDS)


@pytest.mark.slow
def test_every_function_of_the_graph(tmp_path):
    source = every_function()
    module = build(source, tmp_path, BACKENDS)
    check_against_evaluation(module, source, BACKENDS)
    states = np.random.default_rng(3).normal(size=(2, 1000, source.metadata.n))
    every = [module.backends[name].newton_euler.kinetic_energy(*states) for name in BACKENDS]
    for energies in every:  # arithmetic is the same to the bit everywhere
        assert np.array_equal(energies, every[0])


@pytest.mark.slow
def test_random_programs_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(compiled, "LINES_PER_PART", 40)
    monkeypatch.setattr(cython, "LINES_PER_PART", 40)
    monkeypatch.setattr(numpy_backend, "LINES_PER_FUNCTION", 40)
    source = random_package(7, 400)
    module = build(source, tmp_path, BACKENDS)
    text = (tmp_path / "random_7/c/random_7_newton_euler_mass_matrix.c").read_text()
    assert "part_2_of_mass_matrix" in text
    check_against_evaluation(module, source, BACKENDS)


def test_parts_are_of_equal_length_and_slots_are_used_again():
    program = random_package(3, 900).programs["newton_euler"]["mass_matrix"].straight
    plan = schedule(program)
    whole = split(plan, 50)
    lengths = [sum(len(s.lines) for s in part.sections) for part in whole.parts]
    assert max(lengths) - min(lengths) <= 1 and max(lengths) <= 50
    kept = sum(len(part.keeps) for part in whole.parts)
    assert whole.slots < kept


@pytest.mark.parametrize("seed", range(3))
def test_random_programs_in_numpy(tmp_path, seed):
    source = random_package(seed, 150)
    check_against_evaluation(build(source, tmp_path), source, ("numpy",))


@pytest.mark.parametrize("compiler", ["cc", "c++"])
def test_the_kernels_link_into_a_controller(arm_module, tmp_path, compiler):
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    main = tmp_path / ("main.c" if compiler == "cc" else "main.cpp")
    main.write_text(CONTROLLER)
    folder = Path(str(arm_module.__file__)).parent / "c"
    kernels = [*FLAGS, "-c", str(folder / "two_link_closed_form.c"), "-o", "kernels.o"]
    subprocess.run(["cc", *kernels], check=True, cwd=tmp_path)
    command = [compiler, str(main), "kernels.o", f"-I{folder}", "-o", "main", "-lm"]
    subprocess.run(command, check=True, cwd=tmp_path)
    output = subprocess.check_output([str(tmp_path / "main")], text=True)
    sample = {"q": [0.1, 0.2], "qd": [0.3, 0.4], "parameters": [0.5, 9.81]}
    assert float(output) == reference(arm("kinetic_energy"), sample, LIBM)[0]


CONTROLLER = """
#include <stdio.h>
#include "two_link.h"
int main(void)
{
    const double q[] = {0.1, 0.2}, qd[] = {0.3, 0.4}, parameters[] = {0.5, 9.81};
    double energy;
    two_link_closed_form_kinetic_energy(q, qd, parameters, &energy);
    printf("%.17g", energy);
    return 0;
}
"""


def test_complex_step_of_every_function(tmp_path):
    source = every_function()
    functions = build(source, tmp_path).backends["numpy"].newton_euler
    rng = np.random.default_rng(5)
    n = source.metadata.n
    q, qd, qdd = rng.normal(size=(3, n))
    direction = rng.normal(size=n)
    slope = functions.inverse_dynamics(q + 1e-40j * direction, qd, qdd).imag / 1e-40
    ahead, behind = (functions.inverse_dynamics(q + h * direction, qd, qdd) for h in (1e-6, -1e-6))
    assert np.allclose(slope, (ahead - behind) / 2e-6, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("backends", some_slow([("numpy",), BACKENDS], [("numpy",)], alone=True))
def test_a_robot_without_coordinates(tmp_path, backends):
    facts, programs = metadata("rock", 0), []
    names = "inverse_dynamics", "mass_matrix", "potential_energy", "forward_kinematics"
    for name in (*names, "inverse_dynamics_load_derivatives"):
        w = Writer(name, facts.sizes, ())
        results = [[w.graph.constant(3.5)] if name == "potential_energy" else []]
        programs.append(w.finish("f", *results))
    for backend in build(package(programs, facts), tmp_path, backends).backends.values():
        f = backend.f
        assert f.inverse_dynamics([], [], []).shape == (0,)
        batch = f.inverse_dynamics(np.empty((3, 0)), [], [], loads=np.empty((0, 6)))
        assert batch.shape == (3, 0)
        assert f.mass_matrix(np.empty(0)).shape == (0, 0)
        assert f.mass_matrix(np.empty((2, 5, 0))).shape == (2, 5, 0, 0)
        assert f.potential_energy([]) == 3.5
        assert f.potential_energy(np.empty((4, 0))).tolist() == [3.5] * 4
        assert f.forward_kinematics([]).shape == (0, 4, 4)
        assert f.inverse_dynamics_load_derivatives(np.empty((7, 0))).shape == (7, 0, 0, 6)
        with pytest.raises(ValueError, match="q: expected shape"):
            f.mass_matrix([1.0])
