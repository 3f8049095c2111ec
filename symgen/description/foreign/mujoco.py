"""MJCF, compiled by MuJoCo -> the document of a model file.

MuJoCo compiles the file, with its includes, defaults, frames, replicas, and the masses of geoms and
meshes, in a separate process (`mujoco_process`); this module reads the numbers of the compiled
model, with all their digits.

| compiled model | model file |
| --- | --- |
| body | a link, whose frame is the body's; without joints on a fixed joint |
| hinge, slide | revolute, prismatic about or along `axis` through `pos`, with the zero of MuJoCo |
| ball, free | spherical, floating, with quaternions, or angles where these are asked for |
| several joints, a joint with `pos` | massless links in between |
| range, actuatorfrcrange; damping, frictionloss, armature, stiffness | `limits`; joint terms |
| armature and damping of actuators, times the square of their gear | joint terms |
| flags that disable gravity, springs, dampers, equalities, frictions, limits | none of these |
| body_ipos, body_iquat, body_mass, body_inertia | `com`, `mass`, `inertia` in body axes |
| site | point |
| connect, weld | loops of type `spherical`, `fixed` |
| joint equality | a relation: MuJoCo's polynomial of fourth degree |

Other constraints, and tendons that pull, are refused by name; `without_loops` leaves all
constraints out.  `mujoco_process` lists every field of a compiled model with its use; warnings name
entries that act on the dynamics but are left out, and inactive constraints.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from symgen.description.foreign.nodes import (
    Assembly,
    Content,
    Entries,
    LegalNames,
    inertia,
    joint_node,
    kind_of,
    name_of,
    node,
    point_node,
    pose_node,
    representation_of,
    table,
    triple,
)
from symgen.description.foreign.process import NoAnswerError, answer_of, is_installed
from symgen.description.foreign.rotations import (
    HERE,
    Pose,
    from_axis_angle,
    from_quaternion,
    turned,
)
from symgen.description.foreign.xml import Element, Faults, number, place, read_xml, stop
from symgen.description.model import FRICTION_VELOCITY
from symgen.description.names import BASE
from symgen.description.quantities import POINTS, quantity
from symgen.description.reading import FILE_STEP, Document, Node, Scalar, Table, load
from symgen.description.wording import in_line, shown
from symgen.errors import ModelError

PROGRAM = Path(__file__).with_name("mujoco_process.py")
SECONDS = 120
MOST_FILES = 100
TYPES = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical", "free": "floating"}
TERMS = {
    "armature": "rotor_inertia", "damping": "damping", "frictionloss": "friction",
    "stiffness": "stiffness",
}  # fmt: skip
"""Names of terms of joints in MuJoCo -> in a model file."""
_LOOPS = {"connect": "spherical", "weld": "fixed"}
_MOST_NAMED, _MOST_CONSTRAINTS = 5, 20
_LINE, _ERROR = re.compile(r"line (\d+)"), re.compile(r"^(XML )?Error: ")
_WITH_ANGLES = (
    "MuJoCo means the angular velocity, or the rotation, of the body, and with --angles "
    "the joint has three angles; leave --angles out, or write 0, to go on"
)


def document_of_mjcf(root: Element, file: str, without_loops: bool, angles: bool) -> Document:
    """Convert an MJCF file; `ModelError` if MuJoCo does not compile it.

    `root` is the file as written, with the lines of names.
    """
    if not is_installed("mujoco"):
        raise stop(file, root.line, "MuJoCo reads this format: pip install 'symgen[mujoco]'")
    try:
        model = answer_of(PROGRAM, {"path": str(Path(file).absolute())}, SECONDS)
    except NoAnswerError as error:
        model = {"error": f"its process {error}" if error.ended else str(error)}
    if "error" in model:
        words = _ERROR.sub("", " ".join(str(model["error"]).split()))
        match = _LINE.search(words)
        line = int(match[1]) if match else 0
        raise stop(file, line, f"MuJoCo does not compile this file: {words}")
    return _Reader(root, file, model, angles).document(without_loops)


def _shortened(words: Sequence[str], most: int) -> str:
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


class _Reader:
    """Converts a compiled model.

    `links` are names of the links of bodies, `named` names of joints, both by MuJoCo's numbers;
    `moving` are bodies that move; `frictions` are links of free joints with the size of their
    translational friction.
    """

    def __init__(self, root: Element, file: str, model: Mapping[str, Any], angles: bool) -> None:
        self.root, self.model, self.angles = root, model, angles
        self.elements, files = _named_elements(root, file)
        self.faults = Faults(file, files)
        parts = [*model["bodies"][1:], *model["joints"]]
        self.assembly = Assembly(self.faults, [part["name"] for part in parts])
        self.links: dict[int, str] = {0: BASE}
        self.assembly.base = "world"
        self.named: dict[int, str] = {}
        self.moving: set[int] = set()
        self.frictions: list[tuple[str, Scalar]] = []

    def document(self, without_loops: bool) -> Document:
        """Return the document of the model; `ModelError` lists what has no equations."""
        self.take_constraints(without_loops)
        self.remark()
        for body in range(1, len(self.model["bodies"])):
            self.take_body(body)
        loops, relations = ([], {}) if without_loops else self.closed()
        self.faults.raise_if_any()
        points, forces = self.points_and_forces()
        line, made = self.root.line, self.model["name"]
        name = self.root.attributes.get("model", "") or ("" if made == "MuJoCo Model" else made)
        gravity = node([float(x) + 0.0 for x in self.model["gravity"]], line)
        return self.assembly.document(
            self.root, in_line(name), gravity,
            points=points, forces=forces, loops=loops, relations=relations,
        )  # fmt: skip

    def element(self, kind: str, name: str) -> Element:
        """Return the element with a name in the files; without a line if the name was generated."""
        return self.elements.get((kind, name), Element(kind, {}, 0))

    def take_constraints(self, without_loops: bool) -> None:
        """Report unavailable constraints and tendons, as a warning if the open tree is wanted."""
        closed = self.model["closed"]
        if without_loops:
            closed = [*self.model["equalities"], *closed]
        if not closed:
            return
        named = [f"{x['kind']} {shown(x['name'])}" if x["name"] else x["kind"] for x in closed]
        words = _shortened(named, _MOST_CONSTRAINTS)
        tags = ("equality", "tendon", "deformable")
        element = next(filter(None, map(self.root.first, tags)), self.root)
        if without_loops:
            self.faults.warn(element, "", f"left out: {words}")
        else:
            remedy = "--without-loops (in Python: without_loops=True) reads the open tree"
            self.faults.add(element, "", f"not available: {words}; {remedy} without them")

    def remark(self) -> None:
        """Warn once of each effect that is left out, with the names of its entries."""
        kinds: dict[tuple[str, str], list[str]] = {}
        for x in self.model["left"]:
            kinds.setdefault((x["kind"], x["effect"]), []).append(x["name"])
        for (kind, effect), names in kinds.items():
            element, key = self.element(kind, names[0]), f"{kind}.{names[0]}"
            if kind in ("option", "asset"):
                element, key = self.root.first(kind) or self.root, kind
            listed = _shortened([shown(name) for name in names], _MOST_NAMED)
            of = f" of {kind} {listed}" if names[0] else ""
            self.faults.warn(element, key, f"left out{of}: {effect}")

    def take_body(self, index: int) -> None:
        """Add the joints of a body in turn, and its link in the body frame."""
        body, names = self.model["bodies"][index], self.assembly.names
        joints = [(k, x) for k, x in enumerate(self.model["joints"]) if x["body"] == index]
        name = body["name"] or f"body_{index}"
        element = self.element("body", body["name"])
        parent = self.links[body["parent"]]
        pose = Pose(np.array(body["pos"]), from_quaternion(body["quat"]))
        if joints or body["parent"] in self.moving:
            self.moving.add(index)
        at_body = False
        for count, (k, joint) in enumerate(joints, start=1):
            anchor = np.array(joint["pos"])
            if joint["type"] == "free":
                pose = HERE  # its coordinates are the pose in the world
            at_body = count == len(joints) and not anchor.any()
            link = names.new("link", name) if at_body else ""
            label, kind = joint["name"] or f"{name}_joint", TYPES[joint["type"]]
            make = names.new if joint["name"] else names.made
            self.named[k] = make("joint", label, kind_of(kind, self.angles))
            if at_body:
                content = self.link(body, link, element)
            else:
                content = table({"name": names.made("link", f"{name}_{count}")}, element.line)
            origin = pose @ Pose(anchor, np.eye(3)) @ _at_zero(joint)
            entries = self.entries(joint, label, name_of(content))
            line = (self.element("joint", joint["name"]) if joint["name"] else element).line
            moving = joint_node(self.named[k], kind, parent, origin, content, line, entries)
            self.assembly.add(moving, f"joint.{label}")
            parent = name_of(content)
            pose = Pose(-anchor, np.eye(3))
        if not at_body:
            link = names.new("link", name) if body["name"] else names.made("link", name)
            content = self.link(body, link, element)
            fixed = names.made("joint", f"{name}_fixed")
            still = joint_node(fixed, "fixed", parent, pose, content, element.line)
            self.assembly.add(still, f"body.{name}")
            parent = link
        self.links[index] = parent

    def link(self, body: Mapping[str, Any], link: str, element: Element) -> Table:
        """Return the link of a body, with its mass, if any."""
        line = element.line
        if not body["mass"] and not any(body["principal"]):
            return table({"name": link}, line)
        tensor = turned(from_quaternion(body["axes"]), [*body["principal"], 0.0, 0.0, 0.0])
        entries = {
            "name": link,
            "mass": body["mass"],
            "com": triple(body["com"], line),
            "inertia": inertia([number(x, line) for x in tensor], line),
        }
        return table(entries, line)

    def entries(self, joint: Mapping[str, Any], name: str, link: str) -> Entries:
        """Return the entries of a joint except name, type, parent and origin."""
        element, key = self.element("joint", joint["name"]), f"joint.{name}"
        line, faults = element.line, self.faults
        if joint["polynomial"]:
            message = "stiffness and damping that are polynomials are not available yet"
            faults.add(element, key, message)
        terms = {name: number(joint[name], line) for name in TERMS if joint[name]}
        if joint["type"] in ("ball", "free"):
            if terms and self.angles:
                words = f"{' and '.join(terms)} of a {joint['type']} joint: {_WITH_ANGLES}"
                faults.add(element, key, words)
                return {}
            return self.terms_on_manifold(joint, terms, link)
        nodes = {TERMS[name]: value for name, value in terms.items()}
        (rest,) = joint["rest"]
        if rest and "stiffness" in terms:
            nodes["rest"] = number(rest, line)
        limits = dict(zip(("lower", "upper"), joint["range"] or (), strict=False))
        efforts = joint["effort"]
        if efforts and efforts[1] == -efforts[0]:
            limits["effort"] = efforts[1]
        elif efforts:
            words = f"actuatorfrcrange {efforts} is left out: a limit of effort has one size"
            faults.warn(element, key, words)
        return {"axis": joint["axis"], "limits": limits or None, **nodes}

    def terms_on_manifold(
        self, joint: Mapping[str, Any], terms: Mapping[str, Scalar], link: str
    ) -> Entries:
        """Terms of a ball or free joint, whose link is `link`.

        MuJoCo uses the angular velocity in body axes, and the velocity of a free body in world
        axes, for which its armature is an added mass and its friction a force of the model.
        Damping and springs are equal in all axes.  Quaternions of MuJoCo are w x y z.
        """
        nodes: dict[str, Content] = {TERMS[name]: value for name, value in terms.items()}
        if joint["type"] == "free":
            for name in ("armature", "frictionloss"):
                if size := terms.get(name):
                    nodes[TERMS[name]] = [0, 0, 0, size, size, size]
            if "armature" in terms:
                nodes["added_mass"] = terms["armature"]
            if "frictionloss" in terms:
                self.frictions.append((link, terms["frictionloss"]))
        if "stiffness" in terms:
            *at, w, x, y, z = joint["rest"]
            nodes["rest"] = [*at, x, y, z, w]
        kind = kind_of(TYPES[joint["type"]], self.angles)
        return {"coordinates": representation_of(kind), **nodes}

    def points_and_forces(self) -> tuple[list[Node], list[Node]]:
        """Return the named moving sites as points; translational friction of free joints as forces.

        The friction is -f tanh(v / v_f) along each world axis, at the origin of the link.
        """
        sites = [x for x in self.model["sites"] if x["name"] and x["body"] in self.moving]
        names = LegalNames(x["name"] for x in sites)
        points: list[Node] = []
        for site in sites:
            new, line = names.new("point", site["name"]), self.element("site", site["name"]).line
            points.append(point_node(new, self.links[site["body"]], site["pos"], line))
        forces: list[Node] = []
        for link, size in self.frictions:
            point, line = names.made("point", f"{link}_origin"), size.line
            points.append(table({"name": point, "link": link}, line))
            rates = [quantity(POINTS, point, rate) for rate in ("vx", "vy", "vz")]
            slips = [f"-{size.text}*tanh({rate}/{FRICTION_VELOCITY.text})" for rate in rates]
            force = {"name": f"{point}_friction", "point": point, "force": slips}
            forces.append(table(force, line))
        self.assembly.names.changed.extend(names.changed)
        return points, forces

    def closed(self) -> tuple[list[Node], Entries]:
        """Return the loops, and the relations by name, of active equality constraints.

        MuJoCo's second body has the first frame of the loop, so that the rows have MuJoCo's signs.
        """
        names = LegalNames(x["name"] for x in self.model["equalities"])
        loops: list[Node] = []
        relations: dict[str, Content] = {}
        for count, equality in enumerate(self.model["equalities"], start=1):
            kind, line = equality["kind"], self.element(equality["kind"], equality["name"]).line
            label = equality["name"] or f"{kind}_{count}"
            if not equality["active"]:
                element = self.element(kind, equality["name"])
                self.faults.warn(element, f"{kind}.{label}", "is not active, and left out")
                continue
            name = (names.new if equality["name"] else names.made)("loop", label)
            if kind == "joint":
                relations[name] = node(self.relation(equality), line)
                self.assembly.places["relations", name] = place(f"equality.{name}")
            else:
                second, first = (self.frame(side, line) for side in equality["frames"])
                entries = {"name": name, "type": _LOOPS[kind], "first": first, "second": second}
                self.assembly.places["loops", len(loops)] = place(f"equality.{name}")
                loops.append(table(entries, line))
        return loops, relations

    def frame(self, side: Sequence[Any], line: int) -> Node:
        """A frame of a loop, from body, position (m) and quaternion (w, x, y, z) in its frame."""
        body, at, turn = side
        origin = pose_node(Pose(np.array(at), from_quaternion(turn)), line)
        return table({"link": self.links[body], "origin": origin}, line)

    def relation(self, equality: Mapping[str, Any]) -> str:
        """q1 - q1_0 = a0 + a1 x + a2 x^2 + a3 x^3 + a4 x^4, x = q2 - q2_0; x = 0 without q2."""
        (first, second), (zero, second_zero) = equality["joints"], equality["zeros"]
        constant, *factors = equality["polynomial"]
        terms = [f"q.{self.named[first]}", _signed(-zero - constant)]
        if second >= 0:
            x = f"q.{self.named[second]}"
            x = f"({x}{_signed(-second_zero)})" if second_zero else x
            for power, factor in enumerate(factors, start=1):
                if factor:
                    terms.append(f"{_signed(-factor)}*{x}" + (f"**{power}" if power > 1 else ""))
        return "".join(terms)


def _signed(value: float) -> str:
    """Print a summand with all its digits; "" for 0."""
    if not value:
        return ""
    return f" {'-' if value < 0 else '+'} {abs(value)!r}"


def _at_zero(joint: Mapping[str, Any]) -> Pose:
    """Return the motion of a joint at coordinate 0: MuJoCo counts from `ref`."""
    zero, axis = joint["zero"], np.array(joint["axis"])
    if not zero:
        return HERE
    if joint["type"] == "hinge":
        return Pose(np.zeros(3), from_axis_angle(axis.tolist(), -zero))
    return Pose(-zero * axis, np.eye(3))


def _named_elements(
    root: Element, file: str
) -> tuple[Mapping[tuple[str, str], Element], Sequence[str]]:
    """Return the elements by kind and name, with those of included files, and all files."""
    files = [file]
    elements: dict[tuple[str, str], Element] = {}
    waiting = [(root, root.tag)]
    while waiting:
        element, parent = waiting.pop()
        kind = "joint" if element.tag == "freejoint" else element.tag
        name = element.attributes.get("name", "")
        if name:
            elements.setdefault((parent if parent == "actuator" else kind, name), element)
        inner = [*element.children, *(_included(element, files) if kind == "include" else ())]
        waiting += [(x, element.tag if kind != "include" else parent) for x in reversed(inner)]
    return elements, files


def _included(include: Element, files: list[str]) -> list[Element]:
    """Return the elements of an included file; none if it cannot be read."""
    name = include.attributes.get("file", "")
    for of in (files[include.line // FILE_STEP], files[0]):
        path = os.path.join(os.path.dirname(of), name)
        if path not in files and len(files) < MOST_FILES:
            with suppress(ModelError):
                elements = read_xml(load(path, "an MJCF file"), path, len(files)).children
                files.append(path)
                return elements
    return []
