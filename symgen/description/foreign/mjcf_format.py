"""The table of MJCF as it is read without MuJoCo: elements and attributes with their use.

With MuJoCo the table is that of the compiled model, `mujoco_fields`.  This reader is for files that
MuJoCo cannot compile, because meshes are missing, say, and for machines without it: it reads
bodies, joints, geoms and gravity, and names everything else that acts.

Source: the XML reference of MuJoCo 4.0 (mujoco.readthedocs.io/en/stable/XMLreference.html).
"""

from __future__ import annotations

from symgen.description.foreign.entries import Format

_ORIENTATION = "@quat @axisangle @xyaxes @zaxis @euler"
_OWNERS = ("body", "worldbody", "default")
_DRIVES = (
    "general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle",
    "adhesion", "dcmotor",
)  # fmt: skip
_FLAGS = {
    "spring": "springs would not act",
    "damper": "damping would not act",
    "passive": "springs and damping would not act",
    "equality": "equality constraints would not act",
    "constraint": "constraints, friction losses and limits would not act",
    "frictionloss": "friction losses would not act",
    "limit": "limits of joints would not act",
}
_OF_OWNERS_READ = f"""
OWNER/joint @name @class @type @pos @axis @ref @range @limited @stiffness @springref
OWNER/joint @damping @armature @frictionloss
OWNER/geom @class @type @size @pos @fromto @mass @density @mesh @group @shellinertia {_ORIENTATION}
"""
_OF_OWNERS_NO_EFFECT = """
OWNER/joint @group @solreflimit @solimplimit @solreffriction @solimpfriction @margin @user
OWNER/joint @actuatorgravcomp @actuatorfrclimited
OWNER/geom ...
OWNER/site ...
OWNER/camera ...
OWNER/light ...
"""
_OF_OWNERS_REFUSED = """
OWNER/plugin ... : plugins are programs, and are not run
"""
_DRIVES_NO_EFFECT = "".join(
    f"mujoco/actuator/{drive} ...\ndefault/{drive} ...\n" for drive in _DRIVES
)
_DRIVES_LEFT_OUT = "".join(
    f"{owner}/{drive} @armature = 0 : the drive would add to the inertia of what it moves\n"
    f"{owner}/{drive} @damping = 0 : the drive would damp what it moves\n"
    for owner in ("mujoco/actuator", "default")
    for drive in _DRIVES
)


def _of_owners(lines: str) -> str:
    return "".join(lines.replace("OWNER", owner) for owner in _OWNERS)


MJCF = Format(
    "MJCF",
    read=f"""
mujoco @model
mujoco/compiler @angle @eulerseq @coordinate @inertiafromgeom @inertiagrouprange @autolimits
mujoco/compiler @settotalmass @boundmass @boundinertia @balanceinertia
mujoco/option @gravity
mujoco/option/flag @gravity
mujoco/equality ...
mujoco/tendon ...
mujoco/actuator
default @class
worldbody
body @name @childclass @pos {_ORIENTATION}
body/freejoint @name
body/inertial @pos @mass @diaginertia @fullinertia {_ORIENTATION}
{_of_owners(_OF_OWNERS_READ)}
""",
    no_effect=f"""
mujoco/compiler @assetdir @meshdir @texturedir @discardvisual @fusestatic @usethread @strippath
mujoco/compiler @alignfree @saveinertial @fitaabb @inertiagroup
mujoco/compiler/lengthrange ...
mujoco/option @timestep @apirate @impratio @magnetic @o_margin @o_solref @o_solimp @o_friction
mujoco/option @integrator @cone @jacobian @solver @iterations @tolerance @ls_iterations
mujoco/option @ls_tolerance @noslip_iterations @noslip_tolerance @ccd_iterations @ccd_tolerance
mujoco/option @sdf_iterations @sdf_initpoints @actuatorgroupdisable @wind @sleep_tolerance
mujoco/option @collision @mpr_iterations @mpr_tolerance
mujoco/option/flag ...
mujoco/size ...
mujoco/statistic ...
mujoco/visual ...
mujoco/asset ...
mujoco/contact ...
mujoco/sensor ...
mujoco/keyframe ...
mujoco/custom ...
mujoco/extension
default/mesh ...
default/material ...
default/pair ...
default/equality ...
default/tendon ...
body @user @sleep
body/freejoint @group @align
{_of_owners(_OF_OWNERS_NO_EFFECT)}
{_DRIVES_NO_EFFECT}
""",
    left_out=f"""
mujoco/option @density = 0 : bodies would be slowed down, and carried by the wind, in a medium
mujoco/option @viscosity = 0 : bodies would be slowed down in a medium
body @gravcomp = 0 : gravity would be compensated in part
body @mocap = false : motion capture would move the body, which is fixed here
{_DRIVES_LEFT_OUT}
"""
    + "".join(f"mujoco/option/flag @{k} = enable : {x}\n" for k, x in _FLAGS.items())
    + "".join(
        f"{owner}/joint @springdamper = 0 : a spring and a damper would act\n"
        f"{owner}/joint @springyield = 0 : the spring would yield, and stay bent\n"
        f"{owner}/joint @actuatorfrcrange = 0 : the effort of the joint would have a limit\n"
        for owner in _OWNERS
    ),
    refused=f"""
mujoco/deformable ... : flexible bodies are not available
mujoco/extension/plugin ... : plugins are programs, and are not run
mujoco/actuator/plugin ... : plugins are programs, and are not run
{_of_owners(_OF_OWNERS_REFUSED)}
mujoco/include ...
body/include ...
worldbody/include ...
body/frame ...
worldbody/frame ...
body/replicate ...
worldbody/replicate ...
body/attach ...
worldbody/attach ...
body/composite ...
worldbody/composite ...
body/flexcomp ...
worldbody/flexcomp ...
""",
    parts=_OWNERS,
)
