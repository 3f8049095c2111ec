"""Pinocchio from C++: its headers, compiled here with -O3 -march=native; loops in C++.

The headers come with the wheel ``libpinocchio``, those of Eigen with ``cmeel-eigen``.  The first
compilation takes four minutes; the library is kept in the user's cache.
"""

import ctypes
import importlib.metadata
import sysconfig
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.interface import FUNCTIONS, KERNEL, POOL, Case, NotMeasured
from benchmarks.native import DRIVERS, REFERENCE_FLAGS, CompilationError, cpp_library

TITLE = "Pinocchio C++"
WHEELS = ("libpinocchio", "cmeel-eigen", "cmeel-boost")
DEFINITIONS = (
    # as in the package's own build files, but without PINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION,
    # which would call the wheel's library, and that is compiled for any processor
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)  # fmt: skip
IN_WORLD_AXES = {"mass_matrix": 5, "forward_dynamics": 6}
"""Numbers of further functions in the driver; the others are numbered as `FUNCTIONS`."""

FREE = 2
"""Kind of a joint in the driver, beside 0 and 1: revolute and prismatic."""

FLAGS = ("-std=c++17", *REFERENCE_FLAGS, "-w", *DEFINITIONS)


def missing():
    include = _include()
    for header in ("pinocchio/algorithm/rnea.hpp", "eigen3/Eigen/Core", "boost/variant.hpp"):
        if not (include / header).is_file():
            return f"no {header}: pip install pin cmeel-eigen"
    try:
        driver()
    except (CompilationError, OSError) as error:
        return str(error)
    return None


def versions():
    return {**_wheels(), "C++ compiler": driver().compiler, "C++ flags": " ".join(driver().flags)}


def cases(problem, function, modes):
    """One sample at a time from C++; Pinocchio has no batches of derivatives."""
    if KERNEL not in modes:
        raise NotMeasured("its calls from C++ are single ones")
    robot = Robot(problem, function)
    robot.choose_axes()
    yield Case("pinocchio_cpp", function, KERNEL, 1, robot.time, robot.values)


class Robot:
    """A Pinocchio model with the pool of states for one function."""

    def __init__(self, problem, function):
        self.problem, self.function, self.number = problem, function, FUNCTIONS.index(function)
        self.library, bodies = driver().library, problem.bodies
        placements = np.concatenate(
            [bodies.rotations.reshape(-1, 9), bodies.positions.reshape(-1, 3)], axis=1
        )
        tensors = bodies.inertias.reshape(-1, 9)[:, [0, 4, 8, 1, 2, 5]]
        arrays = (placements, bodies.masses, bodies.centers, tensors, bodies.gravity)
        self.robot = ctypes.c_void_p(
            self.library.pinocchio_new(
                bodies.count,
                bodies.parents.astype(np.int32).ctypes,
                np.where(bodies.free, FREE, bodies.prismatic).astype(np.int32).ctypes,
                *(np.ascontiguousarray(array).ctypes for array in arrays),
            )
        )
        states = [bodies.depth_first(x) for x in problem.arguments(function, POOL)]
        while len(states) < 3:  # the mass matrix depends on q only
            states.append(np.zeros((POOL, bodies.n)))
        self.library.pinocchio_states(self.robot, POOL, *(x.ctypes for x in states))

    def __del__(self):
        self.library.pinocchio_delete(self.robot)

    def choose_axes(self):
        """Take the faster one where Pinocchio offers recursions in joint axes and in world axes."""
        numbers = (self.number, IN_WORLD_AXES.get(self.function, self.number))
        seconds = [min(self._time(number, 2000) for _ in range(5)) for number in numbers]
        self.number = numbers[int(np.argmin(seconds))]

    def time(self, calls):
        return self._time(self.number, calls)

    def _time(self, number, calls):
        return self.library.pinocchio_time(self.robot, number, calls)

    def values(self):
        shapes = self.problem.result_shapes(self.function)
        sizes = [int(np.prod(shape)) for shape in shapes]
        flat = np.empty((POOL, sum(sizes)))
        for sample in range(POOL):
            self.library.pinocchio_evaluate(self.robot, self.number, sample, flat[sample].ctypes)
        parts = np.split(flat, np.cumsum(sizes)[:-1], axis=1)
        return tuple(
            self.problem.bodies.in_file_order(part.reshape(POOL, *shape))
            for part, shape in zip(parts, shapes, strict=True)
        )


@cache
def driver():
    """The compiled driver."""
    include = _include()
    source = DRIVERS / "pinocchio.cpp"
    native = cpp_library(
        {source.name: source.read_text()},
        FLAGS,
        includes=(include, include / "eigen3"),
        key=tuple(f"{name} {version}" for name, version in _wheels().items()),
    )
    library = native.library
    pointer, integer = ctypes.c_void_p, ctypes.c_int
    library.pinocchio_new.argtypes = (integer, *(7 * (pointer,)))
    library.pinocchio_new.restype = pointer
    library.pinocchio_delete.argtypes = (pointer,)
    library.pinocchio_delete.restype = None
    library.pinocchio_states.argtypes = (pointer, integer, pointer, pointer, pointer)
    library.pinocchio_states.restype = None
    library.pinocchio_evaluate.argtypes = (pointer, integer, integer, pointer)
    library.pinocchio_evaluate.restype = None
    library.pinocchio_time.argtypes = (pointer, integer, ctypes.c_long)
    library.pinocchio_time.restype = ctypes.c_double
    return native


def _include():
    return Path(sysconfig.get_paths()["platlib"]) / "cmeel.prefix" / "include"


def _wheels():
    found = {}
    for name in WHEELS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "-"
    return found
