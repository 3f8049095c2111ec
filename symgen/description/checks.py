"""Checks of a model file: path -> `RobotDescription`, or one `ModelError` with every fault.

    read_document   file -> tree with lines                (reading; other formats: foreign)
    read_tables     tree -> tables of typed values         (schema)
    the rest        tables -> description                  (here, names, parameters, joints, ...)

Every stage reports to one `Findings` and goes on with the sound values, so that one report has the
faults of all stages; a faulty value is removed and causes no further faults.

Decisions of this module: missing entries of `dh`, `origin` and `before` are zero; `joints` may
be omitted; loads and points may be on `base`, and name links, not joints; `convention` on a joint
without `dh` has no effect; `axis` and the options of moving joints on a fixed joint, YAML tags and
merge keys (``<<``) are faults; the words of C23 count as keywords of C; the names of coordinates,
such as ``hip_2``, belong to the name space of joints and links.  The modules `joints`, `outputs`,
`forces` and `loops` list the decisions about their parts of the file.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath

from symgen.description.expressions import ZERO, Expression, evaluate, literal
from symgen.description.findings import Findings
from symgen.description.forces import check_forces
from symgen.description.foreign import ENDINGS, document_of_xacro, document_of_xml
from symgen.description.foreign.xacro import XACRO
from symgen.description.inertia import breaks_triangle, indefinite
from symgen.description.joints import check_joints
from symgen.description.loops import (
    check_initial,
    check_loops,
    check_prescribed,
    check_relations,
    initial_drives,
)
from symgen.description.model import JointDescription, LinkPoint, RobotDescription, Triple
from symgen.description.names import BASE, NameSpace, UniqueNames, illegal_name, name_space
from symgen.description.outputs import check_outputs
from symgen.description.reading import Document, Table, decode, load
from symgen.description.scalars import (
    Scalars,
    check_parameters,
    vector,
    warn_coordinates,
    warn_units,
    warn_unused,
)
from symgen.description.schema import PointTable, RobotTable, read_tables, readable
from symgen.description.wording import KeyPath, shown
from symgen.errors import RequestError
from symgen.options import UNCHANGED, ReadOptions

ROUNDING = 1e-9
"""Sines below this are those of multiples of pi."""
LONGEST = 50.0
"""Longest length (m) without a warning."""
FARTHEST = 1e-5
"""Least inertia without a warning, in units of mass times the squared distance of the centre of
mass from the frame: that of a ball of 10 mm diameter at the end of a metre."""
OUTSIDE, DENSEST, HEAVIER = 10.0, 1e5, 50.0
"""Least distance of a centre of mass with a warning, in units of the largest other length and of
1.5 radii of the body; least density (kg/m^3) of a mass, in units of the next one."""
STANDARD_GRAVITY: Triple = (ZERO, ZERO, literal("-9.81", -9.81))


def read(path: str | PathLike[str], reading: ReadOptions = UNCHANGED) -> RobotDescription:
    """Read and check one model file; `ModelError` lists all its faults."""
    return check(read_document(path, reading=reading))


def check(document: Document) -> RobotDescription:
    """Check a document and describe its robot; `ModelError` lists all faults."""
    findings, root = Findings(document), document.root
    if isinstance(root, Table) and "symgen_task" in root.entries:
        words = "this is a task, not a robot; both are read by symgen plan ROBOT TASK"
        findings.fault(("symgen_task",), words)
        findings.raise_faults()
    robot = read_tables(findings)
    parameters, scalars = check_parameters(robot, findings)
    names = name_space(robot, findings)
    if robot.name is not None and (problem := illegal_name(robot.name)):
        findings.fault(("name",), problem)  # the name of the package
    scalars.triple(("gravity",), robot.gravity)
    joints = check_joints(robot, names, scalars)
    loads = link_points("loads", robot.loads, names, scalars)
    points = link_points("points", robot.points, names, scalars)
    outputs = check_outputs(robot, scalars)
    loops = check_loops(robot, names, scalars)
    check_prescribed(robot, findings)
    relations = check_relations(robot, scalars)
    initial = check_initial(robot, scalars)
    springs, forces = check_forces(robot, points, names, scalars)
    file_names = check_file_names(robot, names, findings)
    findings.raise_faults()
    scalars.warn_rounded()
    warn_unused(parameters, scalars)
    other_units = warn_units(parameters, scalars)
    entries = sum(len(joint.position_names) for joint in joints if joint.mimic is None)
    warn_coordinates(parameters, entries, findings)
    if not robot.joints:
        path: KeyPath = ("joints",) if robot.gives("joints") else ()
        findings.warn(path, "no joints: the robot has 0 coordinates")
    forgotten = warn_forgotten_masses(robot, findings)
    warn_massless_ends(joints, scalars, forgotten)
    warn_impossible_inertias(robot, joints, scalars)
    warn_point_masses(robot, joints, scalars)
    if not other_units:
        warn_millimetres(joints, loads, points, scalars)
    return RobotDescription(
        name=robot.name or "",
        description=robot.description or "",
        convention=robot.convention,
        gravity=vector(robot.gravity, STANDARD_GRAVITY),
        parameters=parameters,
        joints=joints,
        loads=loads,
        points=points,
        warnings=findings.warnings,
        file=document.file,
        outputs=outputs,
        loops=loops,
        relations=relations,
        initial=initial,
        initial_drives=initial_drives(robot, findings),
        springs=springs,
        forces=forces,
        file_names=file_names,
        names_drives=any(joint.gives("actuated") for _, joint in readable(robot.joints)),
    )


def check_file_names(robot: RobotTable, names: NameSpace, findings: Findings) -> dict[str, str]:
    """Check that `file_names` has names of joints, links or the base, and return it."""
    named, parts = robot.file_names or {}, (*names.owners, BASE)
    firsts: dict[tuple[bool, str | None], str] = {}
    for name, text in named.items() if names.complete else ():
        first = firsts.setdefault((name in (*names.links, BASE), text), name)
        if text is not None and first != name:
            findings.fault(("file_names", name), f"{shown(text)} is the name of {shown(first)}")
        if name not in parts:
            hint = findings.did_you_mean(name, parts) or "; expected one of these, or base"
            findings.fault(("file_names", name), f"{shown(name)} is no joint or link{hint}")
    return {name: text for name, text in named.items() if text is not None}


def link_points(
    section: str, tables: Sequence[PointTable | None] | None, names: NameSpace, scalars: Scalars
) -> tuple[LinkPoint, ...]:
    """Check the list of loads or of points; each list has its own name space."""
    unique = UniqueNames(f"a name in {section}", scalars.findings)
    points = []
    for index, table in readable(tables):
        path: KeyPath = (section, index)
        unique.check(table.name, (*path, "name"))
        link = "" if table.link is None else names.link(table.link, (*path, "link"))
        scalars.triple((*path, "point"), table.point)
        source = scalars.findings.source(path)
        points.append(LinkPoint(table.name or "", link, vector(table.point), source))
    return tuple(points)


def warn_forgotten_masses(robot: RobotTable, findings: Findings) -> frozenset[int]:
    """Warn of links with a centre of mass or an inertia but no mass; return their joints."""
    forgotten = set()
    for index, joint in readable(robot.joints):
        link = joint.link
        if link is None or link.gives("mass"):
            continue
        if keys := [key for key in ("com", "inertia") if link.gives(key)]:
            forgotten.add(index)
            words = f"this link gives {' and '.join(keys)} but no mass"
            findings.warn(("joints", index, "link"), f"{words}; write 'mass: 0' if that is meant")
    return frozenset(forgotten)


def warn_massless_ends(
    joints: Sequence[JointDescription], scalars: Scalars, remarked: Collection[int] = ()
) -> None:
    """Warn of every moving body at the end of a chain with neither mass nor inertia.

    Links on fixed joints belong to the body of their parent.  Exceptions: joints in `remarked` (by
    index), which have a warning already, joints whose rotors resist all motions, and joints that
    follow others or are followed.
    """
    tied = {joint.mimic.coordinate for joint in joints if joint.mimic is not None}
    tied |= {joint.name for joint in joints if joint.mimic is not None}
    body = {BASE: BASE}  # by link: the link of the moving joint that it is fixed to
    carries: set[str] = set()  # bodies that carry a moving body or have inertia
    for joint in joints:
        parent = body[joint.parent]
        moves = joint.coordinates > 0
        body[joint.link.name] = joint.link.name if moves else parent
        if moves:
            carries.add(parent)
        inertia: tuple[Expression, ...] = (joint.link.mass, *joint.link.inertia)
        if any(evaluate(entry, scalars.values) != 0.0 for entry in inertia):
            carries.add(body[joint.link.name])
    foreign = scalars.findings.document.foreign
    advice = "; it needs <inertial> (meshes and shapes give none here)" if foreign else ""
    for index, joint in enumerate(joints):
        if index in remarked or joint.link.name in carries:
            continue
        if not tied.isdisjoint(joint.coordinate_names):
            continue
        rotors = ((x.rotor_inertia, x.gear_ratio) for x in joint.terms)
        if not all(evaluate(x, scalars.values) for rotor in rotors for x in rotor):
            scalars.findings.warn(
                ("joints", index),
                f"the link {shown(joint.link.name)} ends a chain and has neither mass nor "
                f"inertia, so that nothing resists its joint{advice}",
            )


def warn_point_masses(
    robot: RobotTable, joints: Sequence[JointDescription], scalars: Scalars
) -> None:
    """Warn once of all rotating links with a mass but without the key `inertia`.

    Files of other formats have their own rules.
    """
    if scalars.findings.document.foreign:
        return
    turning: set[str] = set()
    silent: dict[str, int] = {}
    for index, (table, joint) in enumerate(zip(robot.joints or [], joints, strict=True)):
        if joint.parent in turning or joint.type not in ("fixed", "prismatic"):
            turning.add(joint.link.name)
        says_nothing = table is None or table.link is None or not table.link.gives("inertia")
        mass = evaluate(joint.link.mass, scalars.values)
        if says_nothing and mass != 0.0 and joint.link.name in turning:
            silent[joint.link.name] = index
    if silent:
        names = ", ".join(shown(name) for name in silent)
        what = "these links are point masses" if len(silent) > 1 else "this link is a point mass"
        scalars.findings.warn(
            ("joints", next(iter(silent.values())), "link"),
            f"{names}: a mass without 'inertia': {what}; write 'inertia: {{}}' if that is meant",
        )


def warn_impossible_inertias(
    robot: RobotTable, joints: Sequence[JointDescription], scalars: Scalars
) -> None:
    """Warn of inertias that no mass distribution has, and that are not marked as accepted.

    A planar robot may give zz alone.
    """
    planar = is_planar(joints, scalars.values)
    tail = "" if scalars.findings.document.foreign else "; harmless in planar or textbook models"
    for index, (table, joint) in enumerate(zip(robot.joints or [], joints, strict=True)):
        if table and table.link and table.link.inertia and table.link.inertia.accepted:
            continue
        values = [evaluate(entry, scalars.values) for entry in joint.link.inertia]
        problem = None if indefinite(values) else breaks_triangle(values)
        zz_alone = not any(values[:2]) and not any(values[3:])
        if problem and not (planar and zz_alone):
            scalars.findings.warn(("joints", index, "link", "inertia"), f"{problem}{tail}")
        mass = evaluate(joint.link.mass, scalars.values)
        if max(values) > mass * LONGEST**2 > 0.0:
            radius = math.sqrt(max(values) / mass)
            scalars.findings.warn(
                ("joints", index, "link", "inertia"),
                f"a radius of gyration of {radius:.3g} m; inertias are in kg m^2: divide by 1e6 if "
                "this is in kg mm^2, by 1e9 if in g mm^2",
            )


def warn_millimetres(
    joints: Sequence[JointDescription], loads: Sequence[LinkPoint], points: Sequence[LinkPoint],
    scalars: Scalars,
) -> None:  # fmt: skip
    """Warn once of lengths above `LONGEST`, else of centres of mass too far for their inertias."""
    long, far = dict[KeyPath, float](), dict[KeyPath, float]()
    lengths = {
        path: math.hypot(*(evaluate(x, scalars.values) for x in length))
        for path, length in _lengths(joints, loads, points)
    }
    warn_outliers(joints, lengths, scalars)
    for path, size in lengths.items():
        if size > LONGEST:
            long[path] = size
        if path[-1] == "com":
            link = joints[int(path[1])].link
            mass = evaluate(link.mass, scalars.values)
            moment = max(evaluate(x, scalars.values) for x in link.inertia)
            if 0.0 < moment < FARTHEST * mass * size * size:
                far[path] = size
    for path, size in list((long or far).items())[:1]:
        why = "" if long else "; the inertia is far below mass times this distance squared"
        more = f" ({len(long or far)} such lengths)" if len(long or far) > 1 else ""
        scalars.findings.warn(
            path, f"{size:.6g} m{why}; lengths are in m: if this is in mm, divide by 1000{more}"
        )


def warn_outliers(
    joints: Sequence[JointDescription], lengths: Mapping[KeyPath, float], scalars: Scalars
) -> None:
    """Warn of a centre of mass, and of a mass, that fits neither its inertia nor the other links.

    A body of mass m whose tensor has the trace t is at most the ball of radius sqrt(5 t / (6 m)).
    """
    longest = sorted(lengths, key=lengths.__getitem__)[-2:]
    masses = sorted(evaluate(joint.link.mass, scalars.values) for joint in joints)
    for index, joint in enumerate(joints):
        mass = evaluate(joint.link.mass, scalars.values)
        trace = sum(evaluate(x, scalars.values) for x in joint.link.inertia[:3])
        path: KeyPath = ("joints", index, "link", "com")
        size, radius = lengths[path], math.sqrt(max(0.0, trace) / mass / 1.2) if mass > 0.0 else 0.0
        second = lengths[longest[0]] if path == longest[-1] else size
        if LONGEST >= size > OUTSIDE * max(second, 1.5 * radius) and second > 0.0 < radius:
            words = f"no other length of this robot is above {second:.3g} m; are lengths in m?"
            scalars.findings.warn(path, f"{size:.6g} m from the frame of the link; {words}")
        density = mass / (4.2 * radius * radius * radius or math.inf)
        if density > DENSEST and mass == masses[-1] > HEAVIER * max(masses[-2:-1], default=mass):
            words = f"the next one of this robot is {masses[-2]:.3g} kg, and with this inertia the "
            words = f"a mass of {mass:.6g} kg; {words}density is {density:.2g} kg/m^3 or more"
            scalars.findings.warn(path[:-1], words)


def _lengths(
    joints: Sequence[JointDescription], loads: Sequence[LinkPoint], points: Sequence[LinkPoint]
) -> Iterator[tuple[KeyPath, Sequence[Expression]]]:
    """Yield the paths and entries of the lengths between frames, of centres of mass, of points."""
    for index, joint in enumerate(joints):
        at: KeyPath = ("joints", index)
        if joint.dh is not None:
            yield (*at, "dh", "d"), (joint.dh.d,)
            yield (*at, "dh", "a"), (joint.dh.a,)
        for key, pose in (("before", joint.before), ("origin", joint.origin)):
            if pose is not None:
                yield (*at, key, "xyz"), pose.xyz
        yield (*at, "link", "com"), joint.link.com
    for key, places in (("loads", loads), ("points", points)):
        for index, place in enumerate(places):
            yield (key, index, "point"), place.point


def is_planar(joints: Sequence[JointDescription], values: Mapping[str, float]) -> bool:
    """Whether all joints rotate about parallel z axes, or slide."""

    def vanishes(angles: Iterable[Expression]) -> bool:
        return all(abs(math.sin(evaluate(angle, values))) < ROUNDING for angle in angles)

    for joint in joints:
        twist = () if joint.dh is None else (joint.dh.alpha,)
        poses = [pose for pose in (joint.before, joint.origin) if pose is not None]
        if not vanishes([*twist, *(angle for pose in poses for angle in pose.rpy[:2])]):
            return False
        x, y = (0.0, 0.0) if joint.axis is None else (evaluate(c, values) for c in joint.axis[:2])
        slides = joint.type in ("prismatic", "fixed")
        if not slides and (joint.type != "revolute" or x != 0.0 or y != 0.0):
            return False
    return True


def read_document(path: str | PathLike[str], reading: ReadOptions = UNCHANGED) -> Document:
    """Read one file of any format; `ModelError` if it cannot be read."""
    file, content = fspath(path), load(path)
    ending = os.path.splitext(file)[1].lower()
    if reading.arguments and ending != XACRO:
        raise RequestError(
            "arguments, NAME:=VALUE, are for xacro, in files such as arm.urdf.xacro; parameters of "
            "a model file get other values when functions are called: --runtime-parameters NAME"
        )
    if ending == XACRO:
        return document_of_xacro(content, file, reading)
    if is_foreign(path):
        return document_of_xml(content, file, reading)
    if reading.floating_base:
        raise RequestError("--floating-base is for URDF and SDF; a model file says type: floating")
    if reading.without_loops:
        raise RequestError("--without-loops is for MJCF and SDF, whose files close loops")
    if reading.angles:
        raise RequestError(
            "--angles is for URDF, SDF and MJCF; a model file says so: coordinates: angles"
        )
    return decode(content, file)


def is_foreign(path: str | PathLike[str]) -> bool:
    """Whether the ending of a file name belongs to another format."""
    return os.path.splitext(fspath(path))[1].lower() in ENDINGS
