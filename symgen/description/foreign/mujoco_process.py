"""A program of its own: MuJoCo compiles an MJCF file, and the tree of the model is printed as JSON.

    python -I mujoco_process.py FILE

The file comes from a stranger, and what it includes is for MuJoCo to open; so this process may use
so much time and memory, writes nothing, and takes nothing down with it.  Plugins are not run: a
model that names one is refused before it is compiled.  Numbers keep all their digits.

The last line of its output is an object with the lists `bodies` (world first), `joints`, `sites`,
`equalities` (constraints that close loops), `closed` (other constraints and tendons by kind and
name), `left` (what acts but is left out: `mujoco_fields`), and the settings; or with `error`.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from collections.abc import Iterator
from typing import Any

SECONDS = 100
"""Of processor time."""
BYTES = 8 * 2**30
"""Of addresses."""
MOST = 3000
"""Bodies of a model, as many as files in other formats may have."""

_NO_FILE = "Error: Error opening file"
"""How MuJoCo begins where a mesh or texture is not there."""
_JOINTS = ("free", "ball", "slide", "hinge")
_ENTRIES = {"free": 7, "ball": 4, "slide": 1, "hinge": 1}
_CLOSING = ("connect", "weld", "joint")
_EQUALITIES = (*_CLOSING, "tendon", "flex", "flexvert", "flexstrain", "distance")
_SITE = 6
"""`mjOBJ_SITE`: a constraint between sites; others are between bodies."""
_ACROSS = ("joint", "joint in parent", "slider-crank", "tendon", "site", "body")
"""Transmissions of actuators."""


def compiled(path: str) -> dict[str, Any]:
    """What the model file means, in numbers and names."""
    import mujoco

    spec = mujoco.MjSpec.from_file(path)
    if len(spec.plugins) or spec.hasImplicitPluginElem:
        return {"error": "plugins are programs, and are not run", "final": True}
    if len(spec.bodies) > MOST:
        return {"error": f"more than {MOST} bodies; no robot is that large"}
    try:
        return tree(mujoco, spec.compile(), spec.modelname)
    except ValueError as error:
        if not str(error).startswith(_NO_FILE):
            raise
        spec = mujoco.MjSpec.from_file(path)
        drop_shapes(spec)
        found = tree(mujoco, spec.compile(), spec.modelname)
        words = str(error).removeprefix("Error: ")
        effect = f"what files say of shapes and looks; masses are those of <inertial> ({words})"
        return {
            **found,
            "left": [{"kind": "asset", "name": "", "effect": effect}, *found["left"]],
        }


def drop_shapes(spec: Any) -> None:
    """Leave out what files say of shapes and looks.

    A shape of a body whose mass follows from it stays, so that its file is missed.
    """
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
    """The parts of a compiled model that say how it moves."""
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
        "left": [*left_out(m), *left_of_drives(drives), *left_of_joints(m)],
    }


def disabled(mujoco: Any, m: Any) -> set[str]:
    """Names of the flags that disable something, with what they disable beside."""
    bits = mujoco.mjtDisableBit.__members__.items()
    names = {name.removeprefix("mjDSBL_") for name, x in bits if name.startswith("mjDSBL_")
             and m.opt.disableflags & int(x)}  # fmt: skip
    if "CONSTRAINT" in names:
        names |= {"EQUALITY", "FRICTIONLOSS", "LIMIT"}
    if "PASSIVE" in names:  # of versions before 3.4
        names |= {"SPRING", "DAMPER"}
    return names


def switch_off(m: Any, off: set[str]) -> None:
    """Take from the compiled model what its flags disable."""
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
    """An actuator: what it adds to the inertia and damping of a hinge or slide it acts on."""
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
    """Its own name, or one that says which of the bodies, joints or actuators it is."""
    own = str(getattr(m, kind)(i).name)
    if kind == "joint":
        return own or f"{named(m, 'body', int(m.jnt_bodyid[i]))}_joint"
    return own or f"{kind}_{i + (kind == 'actuator')}"


def left_of_drives(drives: list[dict[str, Any]]) -> Iterator[dict[str, str]]:
    """Inertia and damping of actuators that are no terms of one joint."""
    for x in drives:
        if x["joint"] < 0 and (x["armature"] or x["damping"]):
            effect = f"it acts on a {x['kind']}, where its armature and damping would count"
            yield {"kind": "actuator", "name": x["name"], "effect": effect}


def left_of_joints(m: Any) -> Iterator[dict[str, str]]:
    """Limits of joints that no key says: of angles of balls."""
    for i in range(m.njnt):
        if _JOINTS[m.jnt_type[i]] == "ball" and m.jnt_limited[i]:
            name = named(m, "joint", i)
            yield {"kind": "joint", "name": name, "effect": "the angle of a ball has a limit"}


def left_out(m: Any) -> Iterator[dict[str, str]]:
    """What acts, by the table of fields, and is left out: its kind, name and effect."""
    table = runpy.run_path(os.path.join(os.path.dirname(__file__), "mujoco_fields.py"))
    for field, effect in table["effects"]("left out").items():
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


def body(m: Any, i: int) -> dict[str, Any]:
    """A body: its frame in its parent's, and its mass; the quaternions are w, x, y, z."""
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
    """A joint, in the frame of its body; `zero` is its coordinate where the body's frame is."""
    own = [x for x in drives if x["joint"] == i]
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
        "damping": float(m.dof_damping[dof]) + sum(x["damping"] for x in own),
        "armature": float(m.dof_armature[dof]) + sum(x["armature"] for x in own),
        "frictionloss": float(m.dof_frictionloss[dof]),
        "polynomial": any(higher_orders(m, i, dof)),
    }


def higher_orders(m: Any, i: int, dof: int) -> Iterator[bool]:
    """Whether coefficients of higher order are given, where this MuJoCo has such."""
    for name, row in (("jnt_stiffnesspoly", i), ("dof_dampingpoly", dof)):
        if hasattr(m, name):
            yield bool(getattr(m, name)[row].any())


def equality(m: Any, i: int) -> dict[str, Any]:
    """A constraint: the frames of two bodies that it keeps together, or two joints.

    A frame is a body, a point and a quaternion (w, x, y, z) in its frame.  As MuJoCo's
    `mj_instantiateEquality` has it: what is 0 is the first point less the second; that of a weld
    on the first body turns with `relpose`.
    """
    kind, data = _CLOSING[m.eq_type[i]], m.eq_data[i]
    ids = [int(m.eq_obj1id[i]), int(m.eq_obj2id[i])]
    found: dict[str, Any] = {
        "kind": kind, "name": m.eq(i).name, "active": bool(m.eq_active0[i]),
    }  # fmt: skip
    if kind == "joint":
        at = [float(m.qpos0[m.jnt_qposadr[j]]) if j >= 0 else 0.0 for j in ids]
        return found | {"joints": ids, "zeros": at, "polynomial": data[:5].tolist()}
    here = [1.0, 0.0, 0.0, 0.0]
    if int(m.eq_objtype[i]) == _SITE:
        sides = [
            (int(m.site_bodyid[j]), m.site_pos[j].tolist(), m.site_quat[j].tolist()) for j in ids
        ]
    elif kind == "connect":
        sides = [(ids[0], data[0:3].tolist(), here), (ids[1], data[3:6].tolist(), here)]
    else:
        turned = data[6:10].tolist()
        sides = [(ids[0], data[3:6].tolist(), turned), (ids[1], data[0:3].tolist(), here)]
    return found | {"frames": sides}


def closed(m: Any, off: set[str]) -> Iterator[dict[str, str]]:
    """What there are no equations for, by kind and name; `off` are flags that disable it."""
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
    """Whether a tendon does more than to measure, or to carry what an actuator does."""
    table = runpy.run_path(os.path.join(os.path.dirname(__file__), "mujoco_fields.py"))
    fields = [key for key in table["effects"]("refused") if key.startswith("tendon_")]
    values = [getattr(m, field, None) for field in fields]
    return any(value is not None and value[i].any() for value in values)


def main() -> None:
    """Print the tree of the file that is named; what MuJoCo itself prints goes nowhere."""
    answer = os.dup(1)
    os.dup2(2, 1)
    beside = os.path.join(os.path.dirname(__file__), "process_limits.py")
    runpy.run_path(beside)["limit_resources"](SECONDS, BYTES)
    try:
        found = compiled(sys.argv[1])
    except Exception as error:  # MuJoCo's own words: of XML, of compiling, of files
        found = {"error": str(error)}
    with open(answer, "w", encoding="utf-8") as stream:
        json.dump(found, stream)


if __name__ == "__main__":
    main()
