"""The tables of entries against the published descriptions of the formats: nothing is missing."""

from pathlib import Path

import mujoco
import pytest

from manual.formats import counts, rows
from symgen.description.foreign import mujoco_process
from symgen.description.foreign.entries import SDF, URDF, Use

URDF_XSD = """
robot @name @version
robot/link @name @type
robot/link/inertial
robot/link/inertial/origin @xyz @rpy @quat_xyzw
robot/link/inertial/mass @value
robot/link/inertial/inertia @ixx @ixy @ixz @iyy @iyz @izz
robot/link/visual
robot/link/visual/origin @xyz @rpy @quat_xyzw
robot/link/visual/geometry
robot/link/visual/geometry/box @size
robot/link/visual/geometry/cylinder @radius @length
robot/link/visual/geometry/sphere @radius
robot/link/visual/geometry/capsule @radius @length
robot/link/visual/geometry/mesh @filename @scale
robot/link/visual/material @name
robot/link/visual/material/color @rgba
robot/link/visual/material/texture @filename
robot/link/collision @name
robot/link/collision/origin @xyz @rpy @quat_xyzw
robot/link/collision/geometry
robot/link/collision/verbose @value
robot/joint @name @type
robot/joint/origin @xyz @rpy @quat_xyzw
robot/joint/parent @link
robot/joint/child @link
robot/joint/axis @xyz
robot/joint/calibration @reference_position @rising @falling
robot/joint/dynamics @damping @friction
robot/joint/limit @lower @upper @effort @velocity @acceleration @deceleration @jerk
robot/joint/safety_controller @soft_lower_limit @soft_upper_limit @k_position @k_velocity
robot/joint/mimic @joint @multiplier @offset
robot/material @name
robot/transmission @name @type
robot/transmission/leftActuator @name @mechanicalReduction
robot/transmission/rightActuator @name @mechanicalReduction
robot/transmission/flexJoint @name @mechanicalReduction
robot/transmission/rollJoint @name @mechanicalReduction
robot/transmission/gap_joint @L0 @a @b @gear_ratio @h @mechanical_reduction @name @phi0 @r
robot/transmission/gap_joint @screw_reduction @t0 @theta0
robot/transmission/passive_joint @name
robot/transmission/use_simulated_gripper_joint
robot/transmission/mechanicalReduction
robot/transmission/actuator @name
robot/transmission/joint @name
robot/transmission/type
robot/transmission/joint/hardwareInterface
robot/transmission/joint/role
robot/transmission/joint/offset
robot/transmission/joint/mechanicalReduction
robot/transmission/actuator/mechanicalReduction
robot/transmission/actuator/role
robot/transmission/actuator/hardwareInterface
"""
"""`xsd/urdf.xsd` of urdfdom, what its parser takes beside, and `transmission_interface` of ROS."""


def paths_of(lines):
    for line in filter(str.strip, lines):
        path, *attributes = line.split()
        yield path
        yield from (path + attribute for attribute in attributes)


def sdf_paths():
    """Paths of the list, whose levels are its blanks; those within visuals and so on are long."""
    above = []
    for line in (Path(__file__).with_name("sdf_entries.txt")).read_text().splitlines():
        if line.startswith("#"):
            continue
        level = len(line) - len(line.lstrip())
        name, *attributes = line.split()
        above = [*above[:level], name]
        path = "/".join(above)
        yield path
        yield from (path + attribute for attribute in attributes)


def test_every_entry_of_the_schema_of_urdf_is_in_the_table():
    assert [path for path in paths_of(URDF_XSD.splitlines()) if URDF.entry(path) is None] == []


def test_every_entry_of_the_descriptions_of_sdf_is_in_the_table():
    paths = list(sdf_paths())
    assert len(paths) > 2900
    assert [path for path in paths if SDF.entry(path) is None] == []


def fields_of(thing):
    names = (name for name in dir(thing) if not name.startswith("_"))
    return [name for name in names if not callable(getattr(thing, name))]


def use_of(field):
    """The use of a field; "" where the table has none."""
    table = mujoco_process.uses()
    if field in table:
        return table[field][0]
    groups = [name for name in table if name.endswith("*") and field.startswith(name[:-1])]
    return table[groups[0]][0] if groups else ""


def test_every_field_of_a_compiled_model_is_in_the_table():
    model = mujoco.MjModel.from_xml_string("<mujoco><worldbody/></mujoco>")
    fields = fields_of(model)
    fields.remove("opt")
    fields += [f"opt.{name}" for name in fields_of(model.opt)]
    for kind, flags in (("disable", mujoco.mjtDisableBit), ("enable", mujoco.mjtEnableBit)):
        members = (name for name in flags.__members__ if "BL_" in name)
        fields += [f"{kind}.{name.partition('BL_')[2]}" for name in members]
    assert len(fields) > 500
    assert [name for name in fields if not use_of(name)] == []


@pytest.mark.parametrize("table", [URDF, SDF], ids=lambda table: table.name)
def test_tables_say_what_is_left_out_would_have_changed(table):
    silent = [
        path
        for path, entry in table.entries.items()
        if entry.use == Use.LEFT_OUT and not entry.effect and path not in table.opened
    ]
    assert silent == []
    assert sum(counts(table).values()) == len(table.entries)
    assert len(list(rows(table))) > 50
