"""The table of SDF: every element and attribute of its published description, with its use.

Sources: the descriptions of SDFormat 1.3 to 1.12 (`sdf/*/*.sdf` of sdformat), and the extensions
of Drake.
"""

from __future__ import annotations

from symgen.description.foreign.entries import Format

_POSE = "@relative_to @frame @rotation_format @degrees"
_AXIS_READ = """
joint/AXIS
joint/AXIS/xyz @expressed_in
joint/AXIS/use_parent_model_frame
joint/AXIS/dynamics
joint/AXIS/dynamics/damping
joint/AXIS/dynamics/friction
joint/AXIS/dynamics/spring_reference
joint/AXIS/dynamics/spring_stiffness
joint/AXIS/limit
joint/AXIS/limit/lower
joint/AXIS/limit/upper
joint/AXIS/limit/effort
joint/AXIS/limit/velocity
joint/AXIS/mimic @joint @axis
joint/AXIS/mimic/multiplier
joint/AXIS/mimic/offset
joint/AXIS/mimic/reference
"""
_AXIS_NO_EFFECT = """
joint/AXIS/initial_position
joint/AXIS/limit/stiffness
joint/AXIS/limit/dissipation
joint/AXIS/limit/drake:acceleration
"""
_ADDED_MASSES = [f"{a}{b}" for k, a in enumerate("xyzpqr") for b in "xyzpqr"[k:]]
_ADDED_MASS = "".join(
    f"link/inertial/fluid_added_mass/{entry} = 0 : the fluid around it would add to its mass\n"
    for entry in _ADDED_MASSES
)


def _of_axes(lines: str) -> str:
    return lines.replace("AXIS", "axis") + lines.replace("AXIS", "axis2")


SDF = Format(
    "SDF",
    read=f"""
sdf @version
world @name
world/gravity
world/physics/gravity
world/joint
model @name @canonical_link @placement_frame
model/pose {_POSE}
include @merge
include/uri
include/name
include/placement_frame
include/pose {_POSE}
frame @name @attached_to
frame/pose {_POSE}
link @name
link/pose {_POSE}
link/inertial @auto
link/inertial/mass
link/inertial/pose {_POSE}
link/inertial/inertia
link/inertial/inertia/ixx
link/inertial/inertia/ixy
link/inertial/inertia/ixz
link/inertial/inertia/iyy
link/inertial/inertia/iyz
link/inertial/inertia/izz
joint @name @type
joint/parent
joint/child
joint/pose {_POSE}
joint/screw_thread_pitch
joint/thread_pitch
joint/drake:rotor_inertia
joint/drake:gear_ratio
{_of_axes(_AXIS_READ)}
""",
    no_effect=f"""
sdf/actor ...
sdf/light ...
sdf/gui ...
world @namespace
world/audio ...
world/wind ...
world/atmosphere ...
world/magnetic_field
world/gui ...
world/physics ...
world/scene ...
world/light ...
world/actor ...
world/road ...
world/spherical_coordinates ...
world/state ...
world/population ...
model @namespace
model/self_collide
model/allow_auto_disable
model/model_state ...
include/model_state ...
link/must_be_base_link
link/self_collide
link/collision ...
link/visual ...
link/sensor ...
link/light ...
link/projector ...
link/audio_source ...
link/audio_sink ...
link/battery ...
link/particle_emitter ...
link/inertial/density
link/inertial/auto_inertia_params ...
joint/gearbox_ratio
joint/gearbox_reference_body
joint/sensor ...
joint/physics ...
model/drake:collision_filter_group ...
{_of_axes(_AXIS_NO_EFFECT)}
""",
    left_out=f"""
world/plugin ... : plugins are not run, and their forces do not act
model/plugin ... : plugins are not run, and their forces do not act
link/plugin ... : plugins are not run, and their forces do not act
joint/plugin ... : plugins are not run, and their forces do not act
include/plugin ... : plugins are not run, and their forces do not act
model/static = false 0 : the model would not move
include/static = false 0 : the model would not move
model/enable_wind = false 0 : the wind would push the links
link/enable_wind = false 0 : the wind would push the link
link/gravity = true 1 : the link would have no weight
link/kinematic = false 0 : forces would not move the link
link/velocity_decay
link/velocity_decay/linear = 0 : the velocity of the link would decay
link/velocity_decay/angular = 0 : the velocity of the link would decay
joint/physics/ode/max_force = 0 : a motor of this force would drive the joint
joint/drake:controller_gains ... : a controller would drive the joint
joint/drake:mimic ... : the joint would follow another one; write <mimic> in its <axis>
model/gripper ... : the gripper would hold what it grasps
model/drake:linear_bushing_rpy ... : springs and dampers between two frames would act
model/drake:linear_spring_damper ... : a spring and damper between two points would act
model/drake:ball_constraint ... : a loop would be closed
link/inertial/fluid_added_mass
{_ADDED_MASS}
""",
    refused="""
model/drake:joint ...
""",
    parts=("world", "model", "link", "joint", "frame", "include"),
)
