"""Modules that symgen generates, as they come by default, compiled for this processor.

From C the kernels in the package's folder ``c`` are called, compiled with symgen's own flags beside
a loop; from Python the functions of the package, on arrays that are there already and on new ones.
"""

from functools import cache
from pathlib import Path

import numpy as np

import symgen
from benchmarks.interface import (
    CALL,
    KERNEL,
    LARGE,
    NEW,
    POOL,
    ROWS,
    SMALL,
    Case,
    NotMeasured,
)
from benchmarks.native import DRIVERS, KERNEL_FLAGS, c_library, pointers, timed
from benchmarks.timing import python_loop
from symgen.errors import SymgenError, ToolchainError
from symgen.program.functions import function_named
from symgen.toolchain.compiler import find_compiler

TITLE = "symgen"
FLAGS = "native"


def missing():
    try:
        find_compiler()
    except ToolchainError as error:
        return str(error)
    return None


def versions():
    return {
        "symgen": symgen.__version__,
        "NumPy": np.__version__,
        "C compiler": find_compiler().name,
        "C flags": " ".join(KERNEL_FLAGS),
    }


def cases(problem, function, modes):
    module = loaded(problem)
    if function not in module.functions:
        raise NotMeasured("it was not built")
    if KERNEL in modes:
        yield _kernel_case(problem, module, function)
    facts = _facts(module, function)
    target = getattr(module, function)
    yield from python_cases("symgen_modules", problem, function, target, modes, facts)


def loaded(problem):
    """The generated module, from the user's cache; `NotMeasured` where it cannot be built."""
    module = _built(problem)
    if isinstance(module, SymgenError):
        raise NotMeasured(str(module)) from module
    return module


@cache
def _built(problem):
    """The module, or why there is none: it is not tried twice."""
    try:
        return symgen.load(problem.path, flags=FLAGS, functions=problem.functions)
    except SymgenError as error:
        return error


def python_cases(contestant, problem, function, target, modes, facts):
    """A function of a module called from Python in every mode."""
    for mode, case in ((CALL, _single_case), (NEW, _single_case), (SMALL, _batch_case),
                       (LARGE, _batch_case)):  # fmt: skip
        if mode in modes:
            yield case(contestant, problem, function, target, mode, facts)


def _single_case(contestant, problem, function, target, mode, facts):
    states = problem.arguments(function, POOL)
    first = [x[0].copy() for x in states]
    out = target(*first)
    given = dict(zip("abc", first, strict=False))
    names = [*given, *(["out=out"] if mode == CALL else [])]
    loop = python_loop(f"f({', '.join(names)})", f=target, out=out, **given)

    def values():
        rows = []
        for sample in range(POOL):
            arguments = [x[sample] for x in states]
            result = target(*arguments, out=out) if mode == CALL else target(*arguments)
            rows.append([x.copy() for x in _tuple(result)])
        return tuple(np.array(x) for x in zip(*rows, strict=True))

    return Case(contestant, function, mode, 1, loop, values, facts=dict(facts))


def _tuple(results):
    return results if isinstance(results, tuple) else (results,)


def _batch_case(contestant, problem, function, target, mode, facts):
    rows = problem.rows(function, mode)
    states = problem.arguments(function, rows)
    out = target(*states)
    given = dict(zip("abc", states, strict=False))
    loop = python_loop(f"f({', '.join(given)}, out=out)", f=target, out=out, **given)

    def values():
        target(*states, out=out)
        return tuple(x[: ROWS[SMALL]].copy() for x in _tuple(out))

    facts = {**facts, "rows": rows}
    return Case(contestant, function, mode, rows, loop, values, facts=facts)


def _kernel_case(problem, module, function):
    native = kernels(problem)
    loop = timed(native.library, f"time_{function}")
    states = problem.arguments(function, POOL)
    results = [np.empty(shape) for shape in problem.result_shapes(function)]
    inputs, outputs = pointers(states), pointers(results)

    def time(calls, _keep=(states, results)):
        return loop(calls, POOL, inputs, outputs)

    def values():
        rows = []
        for sample in range(POOL):
            loop(1, 1, pointers([x[sample] for x in states]), outputs)
            rows.append([x.copy() for x in results])
        return tuple(np.array(x) for x in zip(*rows, strict=True))

    facts = {**_facts(module, function), "library bytes": native.size}
    return Case("symgen_modules", function, KERNEL, 1, time, values, facts=facts)


@cache
def kernels(problem):
    """The C kernels of the package, compiled with a loop for each of the functions."""
    module = loaded(problem)
    folder = Path(module.__file__).parent / "c"
    files = [path for path in sorted(folder.iterdir()) if path.suffix in (".c", ".h")]
    sources = {path.name: path.read_text() for path in files}
    loops = ['#include "loop.h"', f'#include "{module.name}.h"']
    for function in problem.functions:
        spec = function_named(function)
        sizes = [module.nq if argument.name == "q" else module.n for argument in spec.arguments]
        inputs = [f"x[{k}] + s*{size}" for k, size in enumerate(sizes)]
        outputs = [f"y[{k}]" for k in range(len(spec.results))]
        kernel = f"{module.name}_{serving_formulation(module, function)}_{function}"
        loops.append(f"TIMED_LOOP(time_{function}, {kernel}({', '.join([*inputs, *outputs])}))")
    sources["loop.h"] = (DRIVERS / "loop.h").read_text()
    sources["time_kernels.c"] = "\n".join(loops) + "\n"
    return c_library(sources, KERNEL_FLAGS)


def serving_formulation(module, function):
    """The formulation that serves a function at the top level of a package."""
    return getattr(module, function).__module__.rpartition(".")[2]


def _facts(module, function):
    formulation = serving_formulation(module, function)
    return {
        "formulation": formulation,
        "operations": sum(module.operation_counts[formulation][function].values()),
    }
