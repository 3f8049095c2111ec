"""A program of its own: MuJoCo compiles an MJCF file, and the tree of the model is printed as JSON.

    python -I mujoco_process.py FILE

The file comes from a stranger, and what it includes is for MuJoCo to open; so this process may use
so much time and memory, writes nothing, and takes nothing down with it.  Plugins are not run: a
model that names one is refused before it is compiled.  Numbers keep all their digits.

The last line of its output is an object with the lists `bodies` (world first), `joints`, `sites`,
`equalities` (constraints that close loops), `closed` (other constraints and tendons by kind and
name), and the settings; or with `error`.
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

_JOINTS = ("free", "ball", "slide", "hinge")
_ENTRIES = {"free": 7, "ball": 4, "slide": 1, "hinge": 1}
_CLOSING = ("connect", "weld", "joint")
_EQUALITIES = (*_CLOSING, "tendon", "flex", "flexvert", "flexstrain", "distance")
_SITE = 6
"""`mjOBJ_SITE`: a constraint between sites; others are between bodies."""
_WITHOUT_GRAVITY = 1 << 7


def compiled(path: str) -> dict[str, Any]:
    """What the model file means, in numbers and names."""
    import mujoco

    spec = mujoco.MjSpec.from_file(path)
    if len(spec.plugins) or spec.hasImplicitPluginElem:
        return {"error": "plugins are programs, and are not run", "final": True}
    if len(spec.bodies) > MOST:
        return {"error": f"more than {MOST} bodies; no robot is that large", "final": True}
    return tree(mujoco, spec.compile(), spec.modelname)


def tree(mujoco: Any, m: Any, name: str) -> dict[str, Any]:
    """The parts of a compiled model that say how it moves."""
    gravity = m.opt.gravity * (0.0 if m.opt.disableflags & _WITHOUT_GRAVITY else 1.0)
    return {
        "mujoco": mujoco.__version__,
        "name": name,
        "gravity": gravity.tolist(),
        "media": [float(m.opt.density), float(m.opt.viscosity), *m.opt.wind.tolist()],
        "bodies": [body(m, i) for i in range(m.nbody)],
        "joints": [joint(m, i) for i in range(m.njnt)],
        "sites": [
            {"name": m.site(i).name, "body": int(m.site_bodyid[i]), "pos": m.site_pos[i].tolist()}
            for i in range(m.nsite)
        ],
        "equalities": [equality(m, i) for i in range(m.neq) if m.eq_type[i] < len(_CLOSING)],
        "closed": list(closed(m)),
    }


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
        "gravcomp": float(m.body_gravcomp[i]),
    }


def joint(m: Any, i: int) -> dict[str, Any]:
    """A joint, in the frame of its body; `zero` is its coordinate where the body's frame is."""
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
        "rest": m.qpos_spring[at : at + _ENTRIES[kind]].tolist(),
        "stiffness": float(m.jnt_stiffness[i]),
        "damping": float(m.dof_damping[dof]),
        "armature": float(m.dof_armature[dof]),
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


def closed(m: Any) -> Iterator[dict[str, str]]:
    """What there are no equations for, by kind and name."""
    for i in range(m.neq):
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
    keys = ("stiffness", "damping", "frictionloss", "armature", "limited")
    polynomials = ("stiffnesspoly", "dampingpoly")  # of newer versions
    values = [getattr(m, f"tendon_{key}", None) for key in (*keys, *polynomials)]
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
