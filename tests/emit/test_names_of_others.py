"""Models that use names of Python, its modules, NumPy, C and Cython: the numbers stay the same."""

import os
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pytest

import symgen

ROOT = Path(__file__).parents[2]

MODEL = """
symgen: 1
name: {robot}
gravity: [0, 0, -{0}]
parameters: {{{0}: 9.81, {1}: 0.5, {2}: 1.5}}
joints:
  - {{name: {3}, type: revolute, origin: {{}}, axis: [0, 1, 0], damping: {2},
     link: {{name: {4}, mass: {2}, com: [{1}, 0, 0], inertia: {{xx: 0.1, yy: 0.2, zz: 0.2}}}}}}
  - {{name: {5}, type: revolute, origin: {{xyz: [{1}, 0, 0]}}, axis: [0, 1, 0],
     link: {{name: {6}, mass: 0.7, com: [0, 0.1, {1}], inertia: {{xx: 0.1, yy: 0.1, zz: 0.1}}}}}}
loads: [{{name: {7}, link: {6}, point: [0, 0, {1}]}}]
points: [{{name: {8}, link: {6}, point: [0, 0, {1}]}}]
outputs:
  {9}: "{2}*points.{8}.x + q.{5}*loads.{7}.fz"
"""
PLAIN = ["g", "length", "mass", "shoulder", "upper_arm", "elbow", "forearm", "tip", "hand", "reach"]
OF_C = ["NAN", "I", "M_PI", "main", "printf", "errno", "stdin", "signgam", "INFINITY", "EOF"]
OF_NUMPY = ["np", "numpy", "out", "sincos", "q", "qd", "tau", "parameters", "loads", "dtype"]
OF_PYTHON = [
    "self",
    "print",
    "NotImplemented",
    "len",
    "type",
    "object",
    "exec",
    "range",
    "super",
    "eval",
]
OF_CYTHON = [
    "cdef",
    "nogil",
    "cimport",
    "bint",
    "ndarray",
    "memoryview",
    "Py_ssize_t",
    "libc",
    "cython",
    "gil",
]
OF_OURS = [
    "w",
    "n",
    "samples",
    "real",
    "p_tau",
    "lanes",
    "symgen",
    "threads",
    "selftest",
    "backend",
]
FUNCTIONS = "inverse_dynamics,inverse_dynamics_parameter_derivatives,outputs,point_motion"
OTHERS = [OF_PYTHON, OF_CYTHON, OF_OURS]
MODULES = [
    "cython",
    "math",
    "os",
    "sys",
    "types",
    "symgen",
    "generated",
    "test",
    "site",
    "encodings",
]


def load(folder, listed, robot="robot"):
    folder.mkdir()
    model = folder / "model.yaml"
    model.write_text(MODEL.format(*listed, robot=robot))
    return symgen.load(
        model,
        formulations="newton_euler",
        functions=FUNCTIONS,
        runtime_parameters="all",
        backend="all",
        out=folder / "generated",
    )


def results(module):
    """What every function of every backend gives, by its place."""
    q, qd, qdd = np.random.default_rng(7).uniform(-1, 1, (3, 5, 2))
    loads = np.random.default_rng(8).uniform(-1, 1, (5, 1, 6))
    found = []
    for backend in module.backends.values():
        found += [
            backend.newton_euler.inverse_dynamics(q, qd, qdd, loads=loads),
            backend.newton_euler.inverse_dynamics_parameter_derivatives(q, qd, qdd, loads=loads),
            *backend.newton_euler.point_motion(q, qd, qdd),
            backend.newton_euler.outputs(0.0, q, qd, qdd, qd, loads=loads),
        ]
    return found


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return results(load(tmp_path_factory.mktemp("plain") / "place", PLAIN))


IMPORTED = """
import sys
import numpy as np
from generated import {name} as robot
assert len(robot.backends) == 3
for backend in robot.backends.values():
    assert backend.newton_euler.inverse_dynamics([0.1, 0.2], [0, 0], [1, 1]).shape == (2,)
assert all(row.passed for row in robot.selftest())
"""


@pytest.mark.parametrize(
    ("listed", "name"),
    [
        pytest.param(OF_C, "builtins", id="C-builtins", marks=pytest.mark.deep),
        pytest.param(OF_NUMPY, "numpy", id="numpy-numpy", marks=pytest.mark.deep),
        *(
            pytest.param(listed, name, id=f"{listed[0]}-{name}", marks=pytest.mark.deep)
            for listed, name in zip_longest(OTHERS, MODULES, fillvalue=PLAIN)
        ),
    ],
)
def test_names_of_others_change_no_number(tmp_path, plain, listed, name):
    """Nor does the name of a module, as that of the robot."""
    folder = tmp_path / "place"
    module = load(folder, listed, name)
    assert len(module.backends) == 3
    for ours, theirs in zip(results(module), plain, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert module.parameter_names == tuple(listed[:3])
    assert module.name == name and all(row.passed for row in module.selftest())
    text = IMPORTED.format(name=name)
    if name != "generated":  # of which there is no other
        text += f"import {name} as other\nassert other is not robot\n"
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
