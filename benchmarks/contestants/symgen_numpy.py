"""symgen's NumPy backend, the one that serves where there is no C compiler."""

import numpy as np

from benchmarks.contestants.symgen_modules import loaded, python_cases, serving_formulation

TITLE = "symgen, NumPy backend"


def missing():
    return None


def versions():
    return {"NumPy": np.__version__}


def cases(problem, function, modes):
    module = loaded(problem)
    formulation = serving_formulation(module, function)
    target = getattr(getattr(module.backends["numpy"], formulation), function)
    yield from python_cases("symgen_numpy", problem, function, target, modes, {})
