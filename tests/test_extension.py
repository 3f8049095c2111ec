"""A new type of joint, and a new formulation, is one file and one line.

Each is added to a copy of the package, and the copy is used as a user would."""

import json
import shutil
import sys
from pathlib import Path

import pytest

import symgen
from tests.support.commands import printed_by

pytestmark = pytest.mark.slow
PACKAGE = Path(symgen.__file__).parent
TEMPLATES = PACKAGE.parent / "templates"

LEAD_SCREW = '''
"""The lead screw: a rotation by x about an axis and a translation by PITCH x along it."""

from symgen.algebra.linear import Transform
from symgen.joints.interface import JointType
from symgen.joints.prismatic import Prismatic
from symgen.joints.revolute import Revolute

PITCH = 0.25


class LeadScrew(JointType):
    name = "lead_screw"
    coordinates = 1
    keys = ("axis",)

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
  - {name: screw, type: lead_screw, origin: {xyz: [0, 0.3, 0], rpy: [0.4, 0.5, 0.6]},
     axis: [2, 3, 6],
     link: {mass: 2, com: [0.3, 0.1, 0], inertia: {xx: 0.2, yy: 0.1, zz: 0.12, yz: 0.02}}}
  - {name: b, type: revolute, origin: {xyz: [0.2, 0, 0.1]}, axis: [1, 0, 0],
     link: {mass: 1.5, com: [0, 0.2, 0.1], inertia: {xx: 0.3, yy: 0.2, zz: 0.2}}}
loads: [{name: tip, link: b, point: [0.1, 0.2, 0.3]}]
points: [{name: tip, link: b, point: [0.1, 0.2, 0.3]}]
"""

USE = """
import json, sys
import numpy as np
sys.path.insert(0, "generated")
import lead_screw
rng = np.random.default_rng(4)
q, qd, qdd = rng.uniform(-1, 1, (3, 3))
still = lead_screw.inverse_dynamics(q, qd, 0 * qdd)
moved = lead_screw.inverse_dynamics(q, qd, qdd)
error = np.abs(lead_screw.mass_matrix(q) @ qdd - (moved - still)).max()
print(json.dumps({"formulations": list(lead_screw.formulations), "error": float(error)}))
"""

MASS_ALONE = '''
"""A formulation of one function, that of another one."""

from dataclasses import replace

from symgen.formulations.newton_euler import NEWTON_EULER

FEW = {"mass_matrix": NEWTON_EULER.functions["mass_matrix"]}
MASS_ALONE = replace(NEWTON_EULER, name="mass_alone", title="The mass matrix alone", functions=FEW)
'''

MASS = ("--functions", "mass_matrix")


@pytest.fixture(scope="module")
def package_copy(tmp_path_factory):
    """A copy of the package as it is installed: the templates are a part of it."""
    folder = tmp_path_factory.mktemp("package_copy")
    nothing_made = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, folder / "symgen", ignore=nothing_made)
    if TEMPLATES.is_dir():
        shutil.copytree(TEMPLATES, folder / "symgen" / "templates", ignore=nothing_made)
    joints, formulations = folder / "symgen" / "joints", folder / "symgen" / "formulations"
    (joints / "lead_screw.py").write_text(LEAD_SCREW)
    (formulations / "mass_alone.py").write_text(MASS_ALONE)
    register(joints, "JOINTS: tuple[JointType, ...] = (", "lead_screw", "LeadScrew", "LeadScrew()")
    line = "FORMULATIONS: tuple[Formulation, ...] = ("
    register(formulations, line, "mass_alone", "MASS_ALONE", "MASS_ALONE")
    (folder / "lead_screw.yaml").write_text(MODEL)
    (folder / "plain.yaml").write_text(MODEL.replace("type: lead_screw", "type: revolute"))
    return folder


def register(package, line, module, name, entry):
    """The one line: the last entry of the tuple, and the import that it needs."""
    registry = package / "__init__.py"
    before, found, after = registry.read_text().partition(line)
    assert found
    entries, end, rest = after.partition("\n)")
    added = f"from symgen.{package.name}.{module} import {name}\n"
    registry.write_text(f"{before}{added}{line}{entries}\n    {entry},{end}{rest}")


def run(package_copy, *arguments):
    return printed_by(sys.executable, *arguments, cwd=package_copy)


def test_a_robot_with_a_new_joint_type_is_built_and_says_what_was_not_compared(package_copy):
    few = "inverse_dynamics,inverse_dynamics_derivatives,mass_matrix,coriolis_matrix"
    few += ",forward_kinematics,jacobians,kinetic_energy,potential_energy,point_motion"
    options = ("--backend", "numpy", "--formulations", "all", "--json", "--functions", few)
    report = json.loads(run(package_copy, "-m", "symgen", "build", "lead_screw.yaml", *options))
    (row,) = [row for row in report["validation"]["checks"] if row["samples"] == 0]
    assert row["name"] == (
        "the independent numeric model cannot read joint type lead_screw: not compared with it"
    )
    assert report["validation"]["passed"]
    names = " ".join(row["name"] for row in report["validation"]["checks"])
    for law in ("that of composite (numpy)", "complex step of", "Christoffel", "rate of"):
        assert law in names
    assert not any("singular" in notice for notice in report["notices"])
    figures = json.loads(run(package_copy, "-c", USE))
    assert "mass_alone" in figures["formulations"]
    assert figures["error"] < 1e-12
    few = ("--backend", "numpy", "--formulations", "newton_euler", *MASS)
    told = run(package_copy, "-m", "symgen", "build", "lead_screw.yaml", *few, "--out", "few")
    assert "cannot read joint type lead_screw" in " ".join(told.split())


def test_a_new_formulation_is_a_sub_module_of_a_build(package_copy):
    options = ("--backend", "numpy", "--formulations", "all", "--json")
    report = json.loads(
        run(package_copy, "-m", "symgen", "build", "plain.yaml", *options, *MASS, "--out", "plain")
    )
    assert "mass_alone" in report["formulations"]
    compared = {
        row["subject"] for row in report["validation"]["checks"] if row["name"].startswith("mass_m")
    }
    assert "mass_alone (numpy)" in compared
    code = (
        "import sys; sys.path.insert(0, 'plain'); import numpy as np; import lead_screw as r; "
        "q = np.array([0.1, 0.2, 0.3]); "
        "print(np.abs(r.mass_alone.mass_matrix(q) - r.newton_euler.mass_matrix(q)).max() < 1e-12)"
    )
    assert run(package_copy, "-c", code) == "True\n"
