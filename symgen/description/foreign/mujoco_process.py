"""Separate program: MuJoCo compiles an MJCF file, and the tree of the model is printed as JSON.

The file is untrusted, and MuJoCo opens its includes; so this process has limited time and memory
and cannot write files (`process`).  Plugins are not run: a model with a plugin is refused before it
is compiled.  Numbers keep all their digits.

The question has the `path` of the file.  The answer has the lists `bodies` (world first), `joints`,
`sites`, `equalities` (constraints that close loops), `closed` (other constraints and tendons by
kind and name), `left` (entries that act but are left out), and the settings; or `error`.

The tables have every field of `mjModel` and `mjOption` with its use, like the tables of `entries`.
``*`` after a prefix stands for a group without effect on the dynamics; ``opt.``, ``disable.`` and
``enable.`` are prefixes of options and flags.  The line of a field that is left out or refused has
its effect if it is not zero.  Forces of actuators are not part of the model: the torques of a
module are the sums over all drives.  Contacts, and limits of joints as constraints, are not
modelled in any format.
"""

from __future__ import annotations

import os
import runpy
from collections.abc import Iterator
from typing import Any

SECONDS = 100
"""Limit of processor time."""
BYTES = 8 * 2**30
"""Limit of the address space."""
MOST = 3000
"""Maximum number of bodies, as in other formats."""

_NO_FILE = "Error: Error opening file"
"""Start of MuJoCo's message about a missing mesh or texture."""
_JOINTS = ("free", "ball", "slide", "hinge")
_ENTRIES = {"free": 7, "ball": 4, "slide": 1, "hinge": 1}
_CLOSING = ("connect", "weld", "joint")
_EQUALITIES = (*_CLOSING, "tendon", "flex", "flexvert", "flexstrain", "distance")
_SITE = 6
"""`mjOBJ_SITE`: a constraint between sites; others are between bodies."""
_ACROSS = ("joint", "joint in parent", "slider-crank", "tendon", "site", "body")
"""Transmissions of actuators."""


READ = """
nbody njnt nsite neq ntendon nflex nactuator nu nplugin
names name_bodyadr name_jntadr name_siteadr name_eqadr name_tendonadr name_flexadr name_actuatoradr
body_parentid body_pos body_quat body_ipos body_iquat body_mass body_inertia
jnt_type jnt_qposadr jnt_dofadr jnt_bodyid jnt_pos jnt_axis jnt_stiffness jnt_range jnt_limited
jnt_actfrcrange jnt_actfrclimited
dof_armature dof_damping dof_frictionloss
qpos0 qpos_spring
site_bodyid site_pos site_quat
eq_type eq_obj1id eq_obj2id eq_objtype eq_active0 eq_data
tendon_adr tendon_num tendon_type wrap_type wrap_objid wrap_prm
actuator_trntype actuator_trnid actuator_gear actuator_armature actuator_damping
opt.gravity opt.disableflags
disable.GRAVITY disable.SPRING disable.DAMPER disable.PASSIVE disable.EQUALITY
disable.CONSTRAINT disable.FRICTIONLOSS disable.LIMIT
"""

NO_EFFECT = """
B_* D_* M_* efm0_* efmC_* mapD2M mapM2D mapM2M nB nC nD nM nJ* nefm* bvh_* oct_* paths signature
cam_* light_* mat_* tex_* mesh_* skin_* hfield_* vis stat key_* text_* tuple_* numeric_* sensor_*
exclude_* pair_* name_* names_map geom_* flg_* flex_* flexedge_* ten_J_* tree_* plugin plugin_*
na narena nbuffer nbvh nbvhdynamic nbvhstatic ncam nconmax nemax nexclude nflex* ngeom ngravcomp
nhfield nhfielddata nhistory njmax nkey nlight nmat nmesh* nmocap nnames nnames_map nnumeric
nnumericdata noct nout npair npaths nplastic npluginattr npluginstate npolygonmax nq nsensor
nsensordata nskin* ntex ntexdata ntext ntextdata ntree ntuple ntupledata nuser_* nuserdata nv nwrap
body_bvhadr body_bvhnum body_conaffinity body_contype body_dofadr body_dofnum body_geomadr
body_geomnum body_invweight0 body_jntadr body_jntnum body_margin body_rootid body_sameframe
body_simple body_subtreemass body_treeid body_user body_weldid body_plugin
jnt_group jnt_margin jnt_solimp jnt_solref jnt_user jnt_actuatorid jnt_plasticadr jnt_actgravcomp
dof_M0 dof_Madr dof_bodyid dof_invweight0 dof_jntid dof_length dof_parentid dof_simplenum
dof_solimp dof_solref dof_treeid
site_group site_matid site_rgba site_sameframe site_size site_type site_user site_dataid
eq_solimp eq_solref
tendon_actfrclimited tendon_actfrcrange tendon_actuatorid tendon_group tendon_invweight0
tendon_length0 tendon_lengthspring tendon_margin tendon_matid tendon_plasticadr tendon_range
tendon_rgba tendon_solimp_fri tendon_solimp_lim tendon_solref_fri tendon_solref_lim
tendon_treeid tendon_treenum tendon_user tendon_width
actuator_acc0 actuator_actadr actuator_actearly actuator_actlimited actuator_actnum
actuator_actrange actuator_biasprm actuator_biastype actuator_cranklength actuator_ctrladr
actuator_ctrllimited actuator_ctrlnum actuator_ctrlrange actuator_ctrlspec actuator_delay
actuator_dynprm actuator_dyntype actuator_forcelimited actuator_forcerange actuator_gainprm
actuator_gaintype actuator_group actuator_history actuator_historyadr actuator_length0
actuator_lengthrange actuator_outadr actuator_outnum actuator_plugin actuator_user
opt.timestep opt.integrator opt.cone opt.jacobian opt.solver opt.iterations opt.ls_iterations
opt.noslip_iterations opt.ccd_iterations opt.sdf_iterations opt.sdf_initpoints opt.tolerance
opt.ls_tolerance opt.noslip_tolerance opt.ccd_tolerance opt.sleep_tolerance opt.impratio
opt.magnetic opt.o_friction opt.o_margin opt.o_solimp opt.o_solref opt.disableactuator
opt.enableflags opt.apirate opt.mpr_iterations opt.mpr_tolerance opt.wind
disable.CONTACT disable.CLAMPCTRL disable.WARMSTART disable.FILTERPARENT disable.ACTUATION
disable.REFSAFE disable.SENSOR disable.MIDPHASE disable.EULERDAMP disable.AUTORESET
disable.NATIVECCD disable.ISLAND disable.MULTICCD
enable.OVERRIDE enable.ENERGY enable.FWDINV enable.INVDISCRETE enable.SLEEP enable.DIAGEXACT
enable.IPC enable.SPECULATIVE enable.MULTICCD enable.ISLAND
"""

LEFT_OUT = """
opt.density : bodies would be slowed down, and carried by the wind, in a medium of this density
opt.viscosity : bodies would be slowed down in a medium of this viscosity
body_gravcomp : gravity would be compensated in part
body_mocapid : motion capture would move the body, which is fixed here
jnt_springyield : the spring would yield, and stay bent
actuator_dampingpoly : damping of drives of higher order would act
"""

REFUSED = """
jnt_stiffnesspoly : stiffness and damping that are polynomials are not available yet
dof_dampingpoly : stiffness and damping that are polynomials are not available yet
tendon_stiffness : the tendon would pull
tendon_stiffnesspoly : the tendon would pull
tendon_damping : the tendon would be damped
tendon_dampingpoly : the tendon would be damped
tendon_frictionloss : the tendon would rub
tendon_armature : the tendon has an inertia
tendon_limited : the length of the tendon has limits
tendon_springyield : the tendon would yield
"""


def compiled(path: str) -> dict[str, Any]:
    """Compile a model into numbers and names."""
    import mujoco

    spec = mujoco.MjSpec.from_file(path)
    if len(spec.plugins) or spec.hasImplicitPluginElem:
        return {"error": "plugins are programs, and are not run", "final": True}
    if len(spec.bodies) - 1 > MOST:  # the world is a body
        return {"error": f"more than {MOST} bodies; no robot is that large"}
    try:
        return tree(mujoco, spec.compile(), spec.modelname)
    except ValueError as error:
        if not str(error).startswith(_NO_FILE):
            raise
        spec = mujoco.MjSpec.from_file(path)
        drop_shapes(spec)
        parts = tree(mujoco, spec.compile(), spec.modelname)
        words = str(error).removeprefix("Error: ")
        effect = f"what files say of shapes and looks; masses are those of <inertial> ({words})"
        left = {"kind": "asset", "name": "", "effect": effect}
        return {**parts, "left": [left, *parts["left"]]}


def drop_shapes(spec: Any) -> None:
    """Delete shapes and materials, except shapes that determine the mass of a body."""
    for geom in list(spec.geoms):
        geom.material = ""
        if geom.meshname and geom.parent.explicitinertial:
            spec.delete(geom)
    needed = {geom.meshname for geom in spec.geoms}
    for mesh in list(spec.meshes):
        if mesh.name not in needed:
            spec.delete(mesh)
    for asset in [*spec.materials, *spec.textures]:
        spec.delete(asset)


def tree(mujoco: Any, m: Any, name: str) -> dict[str, Any]:
    """Return the parts of a compiled model that determine its motion."""
    off = disabled(mujoco, m)
    switch_off(m, off)
    drives = [drive(m, i) for i in range(getattr(m, "nactuator", m.nu))]
    return {
        "mujoco": mujoco.__version__,
        "name": name,
        "gravity": m.opt.gravity.tolist(),
        "bodies": [body(m, i) for i in range(m.nbody)],
        "joints": [joint(m, i, drives) for i in range(m.njnt)],
        "sites": [
            {"name": m.site(i).name, "body": int(m.site_bodyid[i]), "pos": m.site_pos[i].tolist()}
            for i in range(m.nsite)
        ],
        "equalities": [
            equality(m, i)
            for i in range(m.neq)
            if m.eq_type[i] < len(_CLOSING) and "EQUALITY" not in off
        ],
        "closed": list(closed(m, off)),
        "left": list(left_out(m, drives)),
    }


def disabled(mujoco: Any, m: Any) -> set[str]:
    """Names of the flags that are set to disable effects, implied ones included."""
    bits = mujoco.mjtDisableBit.__members__.items()
    names = {name.removeprefix("mjDSBL_") for name, x in bits if name.startswith("mjDSBL_")
             and m.opt.disableflags & int(x)}  # fmt: skip
    if "CONSTRAINT" in names:
        names |= {"EQUALITY", "FRICTIONLOSS", "LIMIT"}
    if "PASSIVE" in names:  # of versions before 3.4
        names |= {"SPRING", "DAMPER"}
    return names


def switch_off(m: Any, off: set[str]) -> None:
    """Set to zero all fields that the flags disable."""
    fields = {
        "GRAVITY": (m.opt.gravity,),
        "SPRING": fields_of(m, "jnt_stiffness", "jnt_springyield", "tendon_stiffness"),
        "DAMPER": fields_of(m, "dof_damping", "actuator_damping", "tendon_damping"),
        "FRICTIONLOSS": fields_of(m, "dof_frictionloss", "tendon_frictionloss"),
        "LIMIT": fields_of(m, "jnt_limited", "tendon_limited"),
    }
    for flag in off & set(fields):
        for field in fields[flag]:
            field[:] = 0
    if {"SPRING", "DAMPER"} <= off:  # MuJoCo leaves out all passive forces then
        m.opt.density = m.opt.viscosity = 0.0
        m.body_gravcomp[:] = 0.0


def fields_of(m: Any, *names: str) -> list[Any]:
    """Fields, and their polynomials, that this version of MuJoCo has."""
    every = [x for name in names for x in (name, f"{name}poly")]
    return [getattr(m, name) for name in every if hasattr(m, name)]


def drive(m: Any, i: int) -> dict[str, Any]:
    """An actuator: its contribution to inertia and damping of the hinge or slide it acts on."""
    across, target = int(m.actuator_trntype[i]), int(m.actuator_trnid[i].flat[0])
    kind = _ACROSS[across] if 0 <= across < len(_ACROSS) else "actuator"
    gear, joint = float(m.actuator_gear[i].flat[0]), target if across < 2 else -1
    if kind == "tendon" and m.tendon_num[target] == 1:
        at = int(m.tendon_adr[target])
        if int(m.wrap_type[at]) == 1:  # `mjWRAP_JOINT`: a fixed tendon of a single joint
            gear, joint = gear * float(m.wrap_prm[at]), int(m.wrap_objid[at])
    if joint >= 0 and _JOINTS[m.jnt_type[joint]] not in ("slide", "hinge"):
        joint, kind = -1, f"{_JOINTS[m.jnt_type[joint]]} joint"
    values = [getattr(m, f"actuator_{x}", None) for x in ("armature", "damping")]
    armature, damping = (0.0 if x is None else float(x[i]) for x in values)
    return {
        "name": named(m, "actuator", i), "joint": joint, "kind": kind,
        "armature": gear**2 * armature, "damping": gear**2 * damping,
    }  # fmt: skip


def named(m: Any, kind: str, i: int) -> str:
    """Return the name of a body, joint or actuator, or one made of its number."""
    label = str(getattr(m, kind)(i).name)
    if kind == "joint":
        return label or f"{named(m, 'body', int(m.jnt_bodyid[i]))}_joint"
    return label or f"{kind}_{i + (kind == 'actuator')}"


def left_out(m: Any, drives: list[dict[str, Any]]) -> Iterator[dict[str, str]]:
    """Kind, name and effect of fields, actuators and limits that act but are left out."""
    for field, effect in effects("left out").items():
        kind, _, name = field.partition("_")
        if field.startswith("opt."):
            if getattr(m.opt, field[4:], 0.0):
                yield {"kind": "option", "name": field[4:], "effect": effect}
            continue
        values, nothing = getattr(m, field, ()), -1 if name == "mocapid" else 0
        for i in range(len(values)):
            if (values[i] != nothing).any():
                tag = "joint" if kind == "jnt" else kind
                yield {"kind": tag, "name": named(m, tag, i), "effect": f"{effect} ({name})"}
    for x in drives:
        if x["joint"] < 0 and (x["armature"] or x["damping"]):
            effect = f"it acts on a {x['kind']}, where its armature and damping would count"
            yield {"kind": "actuator", "name": x["name"], "effect": effect}
    for i in range(m.njnt):
        if _JOINTS[m.jnt_type[i]] == "ball" and m.jnt_limited[i]:
            name = named(m, "joint", i)
            yield {"kind": "joint", "name": name, "effect": "the angle of a ball has a limit"}


def body(m: Any, i: int) -> dict[str, Any]:
    """Return a body: its frame in its parent's, and its mass; the quaternions are w, x, y, z."""
    return {
        "name": m.body(i).name,
        "parent": int(m.body_parentid[i]),
        "pos": m.body_pos[i].tolist(),
        "quat": m.body_quat[i].tolist(),
        "mass": float(m.body_mass[i]),
        "com": m.body_ipos[i].tolist(),
        "principal": m.body_inertia[i].tolist(),
        "axes": m.body_iquat[i].tolist(),
    }


def joint(m: Any, i: int, drives: list[dict[str, Any]]) -> dict[str, Any]:
    """A joint, in the frame of its body; `zero` is its coordinate in the body's initial pose."""
    driving = [x for x in drives if x["joint"] == i]
    kind, at, dof = _JOINTS[m.jnt_type[i]], int(m.jnt_qposadr[i]), int(m.jnt_dofadr[i])
    directed = kind in ("slide", "hinge")
    return {
        "name": m.joint(i).name,
        "body": int(m.jnt_bodyid[i]),
        "type": kind,
        "pos": m.jnt_pos[i].tolist(),
        "axis": m.jnt_axis[i].tolist(),
        "zero": float(m.qpos0[at]) if directed else 0.0,
        "range": m.jnt_range[i].tolist() if directed and m.jnt_limited[i] else None,
        "effort": m.jnt_actfrcrange[i].tolist() if directed and m.jnt_actfrclimited[i] else None,
        "rest": m.qpos_spring[at : at + _ENTRIES[kind]].tolist(),
        "stiffness": float(m.jnt_stiffness[i]),
        "damping": float(m.dof_damping[dof]) + sum(x["damping"] for x in driving),
        "armature": float(m.dof_armature[dof]) + sum(x["armature"] for x in driving),
        "frictionloss": float(m.dof_frictionloss[dof]),
        "polynomial": any(  # fields of recent versions
            getattr(m, name)[row].any()
            for name, row in (("jnt_stiffnesspoly", i), ("dof_dampingpoly", dof))
            if hasattr(m, name)
        ),
    }


def equality(m: Any, i: int) -> dict[str, Any]:
    """Return a constraint between the frames of two bodies, or between two joints.

    A frame is a body, a point and a quaternion (w, x, y, z) in its frame.  As in MuJoCo's
    `mj_instantiateEquality`, the first point minus the second is 0, and the frame of a weld on the
    first body is rotated by `relpose`.
    """
    kind, data = _CLOSING[m.eq_type[i]], m.eq_data[i]
    ids = [int(m.eq_obj1id[i]), int(m.eq_obj2id[i])]
    constraint: dict[str, Any] = {
        "kind": kind, "name": m.eq(i).name, "active": bool(m.eq_active0[i]),
    }  # fmt: skip
    if kind == "joint":
        at = [float(m.qpos0[m.jnt_qposadr[j]]) if j >= 0 else 0.0 for j in ids]
        return constraint | {"joints": ids, "zeros": at, "polynomial": data[:5].tolist()}
    unturned = [1.0, 0.0, 0.0, 0.0]
    if int(m.eq_objtype[i]) == _SITE:
        sides = [
            (int(m.site_bodyid[j]), m.site_pos[j].tolist(), m.site_quat[j].tolist()) for j in ids
        ]
    elif kind == "connect":
        sides = [(ids[0], data[0:3].tolist(), unturned), (ids[1], data[3:6].tolist(), unturned)]
    else:
        turned = data[6:10].tolist()
        sides = [(ids[0], data[3:6].tolist(), turned), (ids[1], data[0:3].tolist(), unturned)]
    return constraint | {"frames": sides}


def closed(m: Any, off: set[str]) -> Iterator[dict[str, str]]:
    """Kind and name of constraints that are not available; `off` are flags that disable some."""
    for i in range(0 if "EQUALITY" in off else m.neq):
        if m.eq_type[i] < len(_CLOSING):
            continue
        kind = _EQUALITIES[m.eq_type[i]] if m.eq_type[i] < len(_EQUALITIES) else "equality"
        yield {"kind": kind, "name": m.eq(i).name}
    for i in range(m.ntendon):
        if acts(m, i):
            yield {"kind": "tendon", "name": m.tendon(i).name}
    for i in range(m.nflex):
        yield {"kind": "flex", "name": m.flex(i).name}


def acts(m: Any, i: int) -> bool:
    """Whether a tendon exerts forces by itself."""
    fields = [key for key in effects("refused") if key.startswith("tendon_")]
    values = [getattr(m, field, None) for field in fields]
    return any(value is not None and value[i].any() for value in values)


def uses() -> dict[str, tuple[str, str]]:
    """Use and effect of every field, or of the group with its prefix and ``*``."""
    result: dict[str, tuple[str, str]] = {}
    blocks = {"read": READ, "no effect": NO_EFFECT, "left out": LEFT_OUT, "refused": REFUSED}
    for use, block in blocks.items():
        for line in filter(None, block.splitlines()):
            fields, _, effect = line.partition(" : ")
            result.update((field, (use, effect)) for field in fields.split())
    return result


def effects(use: str) -> dict[str, str]:
    """Effect of each field with a use."""
    return {field: effect for field, (kind, effect) in uses().items() if kind == use}


def answer(question: dict[str, str]) -> dict[str, Any]:
    """Return the tree of the file, or MuJoCo's error message."""
    try:
        return compiled(question["path"])
    except Exception as error:
        return {"error": str(error)}


if __name__ == "__main__":
    beside = os.path.join(os.path.dirname(__file__), "process.py")
    runpy.run_path(beside)["respond"](answer, SECONDS, BYTES)
