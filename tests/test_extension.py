"""What house rules promise: a new type of joint is one file and one line, and works everywhere."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import symgen

PACKAGE = Path(symgen.__file__).parent

HELICAL = '''
"""The helical joint: a rotation by x about an axis and a translation by PITCH x along it."""

from symgen.algebra.linear import Transform
from symgen.joints.interface import Chain, Directions
from symgen.joints.prismatic import Prismatic
from symgen.joints.revolute import Revolute

PITCH = 0.25


class Helical:
    name = "helical"
    coordinates = 1
    moved_entry = ""
    keys = ("axis",)
    sequences = ()

    def chain(self, directions):
        return ((self, directions.axis),)

    def motion(self, axis, x, algebra):
        turn = Revolute().motion(axis, x, algebra)
        return Transform(turn.rotation, axis * (x * algebra.constant(PITCH)))

    def motion_derivative(self, axis, x, order, algebra):
        turn = Revolute().motion_derivative(axis, x, order, algebra)
        slide = Prismatic().motion_derivative(axis, x, order, algebra)
        return Transform(turn.rotation, slide.translation * algebra.constant(PITCH))

    def angular_axis(self, axis, algebra):
        return axis

    def linear_axis(self, axis, algebra):
        return axis * algebra.constant(PITCH)
'''

MODEL = """
symgen: 1
name: lead_screw
joints:
  - {name: a, type: revolute, origin: {xyz: [0.1, 0, 0.2]}, axis: [0, 1, 0],
     link: {mass: 1, com: [0.1, 0.2, 0.3], inertia: {xx: 0.1, yy: 0.2, zz: 0.15, xy: 0.01}}}
  - {name: screw, type: helical, origin: {xyz: [0, 0.3, 0], rpy: [0.4, 0.5, 0.6]},
     axis: [2, 3, 6],
     link: {mass: 2, com: [0.3, 0.1, 0], inertia: {xx: 0.2, yy: 0.1, zz: 0.12, yz: 0.02}}}
  - {name: b, type: revolute, origin: {xyz: [0.2, 0, 0.1]}, axis: [1, 0, 0],
     link: {mass: 1.5, com: [0, 0.2, 0.1], inertia: {xx: 0.3, yy: 0.2, zz: 0.2}}}
loads: [{name: tip, link: b, point: [0.1, 0.2, 0.3]}]
points: [{name: tip, link: b, point: [0.1, 0.2, 0.3]}]
"""

COMPARISON = """
import json, sys
import numpy as np
import symgen
from symgen.derivation import derived_program
from symgen.formulations import FORMULATIONS, provided_functions
from symgen.program.evaluation import call

robot = symgen.read(sys.argv[1])
rng = np.random.default_rng(3)
state = {name: rng.uniform(-2, 2, (5, 3)) for name in ("q", "qd", "qdd")}
state["loads"] = rng.uniform(-9, 9, (5, 1, 6))
by_function = {}
for formulation in FORMULATIONS:
    for function in provided_functions(formulation):
        program = derived_program(robot, formulation, function)
        by_function.setdefault(function, []).append(call(program, state))
errors = {
    function: max(
        float(np.abs(x - y).max() / max(1.0, np.abs(y).max()))
        for other in results[1:]
        for x, y in zip(other, results[0])
    )
    for function, results in by_function.items()
    if len(results) > 1
}
mass, = call(derived_program(robot, FORMULATIONS[0], "mass_matrix"), state)
print(json.dumps({"errors": errors, "coupling": float(np.abs(mass[:, 1, :]).min())}))
"""


def test_a_joint_type_is_one_file_and_one_line(tmp_path):
    """Formulations that differ in how they use a joint agree on a type that they never saw."""
    shutil.copytree(PACKAGE, tmp_path / "symgen", ignore=shutil.ignore_patterns("__pycache__"))
    joints = tmp_path / "symgen" / "joints"
    (joints / "helical.py").write_text(HELICAL)
    registry = (joints / "__init__.py").read_text()
    line = "JOINTS: tuple[JointType, ...] = ("
    assert line in registry
    registry = registry.replace(
        line, f"from symgen.joints.helical import Helical\n{line}Helical(), "
    )
    (joints / "__init__.py").write_text(registry)
    (tmp_path / "lead_screw.yaml").write_text(MODEL)
    command = [sys.executable, "-c", COMPARISON, "lead_screw.yaml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert len(figures["errors"]) >= 10
    assert figures["coupling"] > 1e-6
    assert max(figures["errors"].values()) <= 1e-12, figures["errors"]
