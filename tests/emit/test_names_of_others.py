"""Models that use names of Python, its modules, NumPy, C and Cython: the numbers stay the same."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.choosing import deep, slow
from tests.modules import module

pytestmark = pytest.mark.slow

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
PLAIN = "g length mass shoulder upper_arm elbow forearm tip hand reach"
OTHERS = {  # name of the robot -> names in it
    "builtins": "NAN I M_PI main printf errno stdin signgam INFINITY EOF",
    "numpy": "np numpy out sincos q qd tau parameters loads dtype",
    "cython": "self print NotImplemented len type object exec range super eval",
    "math": "cdef nogil cimport bint ndarray memoryview Py_ssize_t libc cython gil",
    "os": "w n samples real p_tau lanes symgen threads selftest backend",
    **dict.fromkeys(
        ("M_PI", "rows", "compute", "sys", "types", "symgen", "generated", "limits", "stdint"),
        PLAIN,
    ),
}
FUNCTIONS = "inverse_dynamics,inverse_dynamics_parameter_derivatives,outputs,point_motion"


def loaded(names, robot="robot", **options):
    options |= {"formulations": "newton_euler", "runtime_parameters": "all", "backend": "all"}
    return module(MODEL.format(*names.split(), robot=robot), functions=FUNCTIONS, **options)


def results(robot):
    q, qd, qdd = np.random.default_rng(7).uniform(-1, 1, (3, 5, 2))
    loads = np.random.default_rng(8).uniform(-1, 1, (5, 1, 6))
    found = []
    for backend in robot.backends.values():
        found += [
            backend.newton_euler.inverse_dynamics(q, qd, qdd, loads=loads),
            backend.newton_euler.inverse_dynamics_parameter_derivatives(q, qd, qdd, loads=loads),
            *backend.newton_euler.point_motion(q, qd, qdd),
            backend.newton_euler.outputs(0.0, q, qd, qdd, qd, loads=loads),
        ]
    return found


IMPORTED = """
from generated import {name} as robot
assert len(robot.backends) == 3
assert all(row.passed for row in robot.selftest())
"""


@pytest.mark.parametrize("name", [*slow("builtins"), *deep(*list(OTHERS)[1:])])
def test_names_of_others_change_no_number(tmp_path, name):
    """Nor does the name of a module, as that of the robot."""
    robot = loaded(OTHERS[name], name, out=tmp_path / "generated")
    for ours, theirs in zip(results(robot), results(loaded(PLAIN)), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert robot.parameter_names == tuple(OTHERS[name].split()[:3])
    text = IMPORTED.format(name=name)
    if name in sys.stdlib_module_names | {"numpy", "cython", "symgen"}:
        text += f"import {name} as other\nassert other is not robot\n"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    subprocess.run([sys.executable, "-c", text], cwd=tmp_path, env=environment, check=True)
