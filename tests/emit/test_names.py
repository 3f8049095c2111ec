"""Names of models and of Python, NumPy, C: unique, legal in every language, never code."""

import keyword
import os
import subprocess
import sys

import numpy as np
import pytest

from symgen.emit import text
from symgen.emit.bundle import Forms
from symgen.emit.emission import emit
from symgen.emit.kernels import kernel
from symgen.emit.names import RESERVED, identifier
from symgen.emit.printing import CYTHON, NUMPY, C
from tests.choosing import deep, slow, some_slow
from tests.emit.building import build
from tests.emit.samples import Writer, arm, metadata, package, random_package
from tests.modules import ROOT, module


@pytest.mark.parametrize("name", ["", "a b", "a;b", "1a", "_a", "ä", "a\n", "a-b", "a.b", "a\0"])
def test_what_is_no_identifier_is_refused(name):
    with pytest.raises(ValueError, match="identifier"):
        identifier(name)


def test_keywords_and_functions_are_reserved():
    assert set(keyword.kwlist) <= RESERVED
    for language in (C, CYTHON, NUMPY):
        assert set(language.functions.values()) <= RESERVED


@pytest.mark.parametrize("seed", range(2))
def test_local_names_collide_with_nothing(seed):
    facts = random_package(seed, 200)
    for forms in facts.programs["newton_euler"].values():
        k = kernel("newton_euler", forms, facts.metadata.sizes)
        names = list(k.body.names.values())
        assert len(names) == len(set(names))
        assert not set(names) & RESERVED
        assert not set(names) & {array.name for array in k.arrays}


def test_parameters_are_prefixed_and_temporaries_renamed():
    facts = metadata("robot", 1, parameter_names=("tau",), default_parameters=(1.0,))
    w = Writer("inverse_dynamics", facts.sizes, ("tau",))
    (q,) = w.inputs["q"]
    (parameter,) = w.parameters
    with w.builder.step("forward"):
        first = w.builder.let("double", q * parameter, "CF-1")
        second = w.builder.let("double_", first * q, "CF-1")
        third = w.builder.let("p_tau", second * first, "CF-1")
        fourth = w.builder.let("qd", third * second * first, "CF-1")
    k = kernel("f", Forms(w.finish("f", [fourth])), facts.sizes)
    names = {
        node.index: k.body.names[node.index] for node in (parameter, first, second, third, fourth)
    }
    assert list(names.values()) == ["p_tau", "double__", "double_", "p_tau_", "qd_"]


@pytest.mark.parametrize("field", ["name", "coordinate_names"])
def test_a_hostile_name_stops_emission(field):
    if field == "name":
        with pytest.raises(ValueError, match="identifier"):
            emit(package([arm("mass_matrix")], metadata("x; import os", 2)))
    else:
        w = Writer("mass_matrix", {"n": 1, "nq": 1, "n_parameters": 0}, ())
        with w.builder.step("forward", "joint_1"):
            value = w.builder.let("x\nimport os", w.inputs["q"][0] * 2.0, "CF-1")
        with pytest.raises(ValueError, match="identifier"):
            emit(package([w.finish("f", [value])], metadata("robot", 1)))


BACKEND_SETS = [("numpy",), ("compiled", "cython")]
HOSTILE = 'x"""\nimport os; os.abort() # \\ */ #error \u202e end of ??/\ncomment \\'


@pytest.mark.parametrize("backends", some_slow(BACKEND_SETS, BACKEND_SETS[:1], alone=True), ids=str)
def test_hostile_texts_stay_comments(tmp_path, backends):
    facts = metadata("robot", 1, description=HOSTILE, model_hash=HOSTILE, symgen_version=HOSTILE)
    w = Writer("mass_matrix", facts.sizes, ())
    with w.builder.step(HOSTILE, "joint_1"):
        value = w.builder.let("x", w.inputs["q"][0] * 2.0, HOSTILE)
    w.builder.output("mass_matrix", (1, 1), [value])
    program = w.builder.build("robot", "f", "mass_matrix", {HOSTILE: HOSTILE})
    module = build(package([program], facts), tmp_path, backends)
    for backend in module.backends.values():
        assert backend.f.mass_matrix([2.0]).tolist() == [[4.0]]
    assert module.model_hash == HOSTILE


def test_text_helpers():
    assert text.plain(" a\n\tb\u202ec ") == "a b c"
    assert "*/" not in text.comment("a */ b")
    assert eval('"""' + text.docstring('"a" \\ """') + '"""') == '"a" \\ """'
    assert text.table([("a", "x"), ("long", "")]) == "    a     x\n    long"


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


@pytest.mark.slow
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
