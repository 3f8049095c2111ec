"""The shape of a model file: which keys there are, and what kind of value each takes.

The tables are pydantic models, so that the shape is declared once; `symgen.description.published`
makes a JSON schema of them.  What two values have to do with each other is checked in
`symgen.description.checks`.

Every key may come out as None: it was not given, or its value was faulty and has been reported.
That is how one reading finds all faults: `shape` records what pydantic objects to, takes exactly
those values out, and hands the rest on.
"""

from __future__ import annotations

from types import UnionType
from typing import Annotated, Any, ClassVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from symgen.description import synonyms
from symgen.description.findings import Findings
from symgen.description.leaves import (
    TYPES_IN_WORDS,
    Axis,
    Convention,
    Entries,
    Flag,
    Flags,
    Gravity,
    JointType,
    Letters,
    LoopType,
    Name,
    Number,
    Place,
    Quantified,
    QuantifiedTriple,
    Representation,
    Text,
    Triple,
    Turns,
    Version,
    found,
    refuse,
)
from symgen.description.reading import Listing, Node, Scalar
from symgen.description.wording import KeyPath, did_you_mean, shown
from symgen.joints import ANGLES, joint_type
from symgen.joints import JointType as Kind
from symgen.support.suggestions import nearest

_MOST_HINTS = 400  # faults that are looked into: to look for what was meant takes its time
_DEEPEST = 3  # levels of mappings in which a misplaced key is looked for


def optional(words: str) -> Any:
    """A key that may be missing, and what it means: editors show that."""
    return Field(default=None, description=words)


class KeyTable(BaseModel):
    """A mapping with fixed keys.

    `example` are the keys that a message shows where the mapping itself is missing, by default all;
    `planned` those of the format that are not available yet.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    example: ClassVar[tuple[str, ...]] = ()
    planned: ClassVar[tuple[str, ...]] = ()

    def gives(self, key: str) -> bool:
        """Whether the file gives `key`, faulty or not."""
        return key in self.model_fields_set


class ParameterTable(KeyTable):
    """A parameter: its value alone, or a mapping."""

    value: Number = Field(description="a number or an expression")
    unit: Text = optional("unit of the value, for readers")
    description: Text = optional("what it is, for readers")

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: object) -> object:
        if data is None or isinstance(data, dict):
            return data
        if isinstance(data, Scalar):
            return {"value": data}
        raise refuse(
            f"expected a number, an expression or {{value, unit, description}}, found {found(data)}"
        )


class OutputTable(ParameterTable):
    """A quantity that the model asks for, written as a parameter is."""

    value: Quantified = Field(description="an expression such as 'q.elbow'")


class PoseTable(KeyTable):
    """A fixed transform; what is missing is zero."""

    xyz: Triple = optional("translation [x, y, z] in m")
    rpy: Triple = optional("rotations about the fixed axes x, y, z, one after the other, in rad")


class DhTable(KeyTable):
    """A row of a Denavit-Hartenberg table; what is missing is zero."""

    theta: Number = optional("rotation about z in rad; a revolute joint adds its coordinate")
    d: Number = optional("translation along z in m; a prismatic joint adds its coordinate")
    a: Number = optional("translation along x in m")
    alpha: Number = optional("rotation about x in rad")


class LimitsTable(KeyTable):
    """Joint limits; what is missing is not limited."""

    lower: Entries = optional("of the coordinate")
    upper: Entries = optional("of the coordinate")
    velocity: Entries = optional("largest speed")
    effort: Entries = optional("largest torque (N m) or force (N)")


class MimicTable(KeyTable):
    """A joint that follows a coordinate: q = multiplier q_coordinate + offset."""

    coordinate: Name = Field(description="the name of the coordinate that the joint follows")
    multiplier: Number = optional("of that coordinate, 1 by default")
    offset: Number = optional("in rad or m, 0 by default")


class InertiaTable(KeyTable):
    """Entries of an inertia tensor in axes of the link frame; what is missing is zero."""

    example: ClassVar[tuple[str, ...]] = ("xx", "yy", "zz", "xy", "xz", "yz")
    xx: Number = None
    yy: Number = None
    zz: Number = None
    xy: Number = None
    xz: Number = None
    yz: Number = None
    accepted: Flag = optional("true for a tensor that no body has, and that is meant all the same")


class LinkTable(KeyTable):
    """The link that a joint carries."""

    name: Name = optional("by default the joint's")
    mass: Number = optional("in kg; 0 by default")
    com: Triple = optional("centre of mass in the link frame, in m")
    inertia: InertiaTable | None = optional("about the centre of mass, in kg m^2")


class JointTable(KeyTable):
    """A joint, the way from its parent to it, and its link."""

    example = ("name", "type", "dh", "link")
    name: Name = Field(description="a name such as 'elbow'")
    type: JointType = Field(description=TYPES_IN_WORDS)
    parent: Name = optional("listed before, or base; by default the joint before")
    convention: Convention = optional("of this joint's dh: standard or modified")
    before: PoseTable | None = optional("a fixed pose in the parent's link frame, ahead of dh")
    dh: DhTable | None = optional("row of the Denavit-Hartenberg table")
    origin: PoseTable | None = optional("in place of dh: pose in the parent's link frame")
    axis: Axis = optional("of the joint in its frame, [0, 0, 1] by default")
    axes: Letters = optional("of a universal joint, [x, y] by default")
    sequence: Turns = optional("of the rotations of a spherical or floating joint, zyx by default")
    coordinates: Representation = optional(
        "of a spherical or floating joint: angles, quaternion or euler_parameters"
    )
    pitch: Number = optional("of a helical joint: travel along the axis, in m per radian")
    limits: LimitsTable | None = optional("kept as metadata of the module")
    rotor_inertia: Entries = optional("in kg m^2, before the gear")
    gear_ratio: Entries = optional("1 by default")
    added_mass: Number = optional(
        "in kg, of a floating joint with a quaternion: inertia of its travel, without weight"
    )
    damping: Entries = optional("torque per velocity")
    stiffness: Entries = optional("of a spring between parent and link")
    rest: Entries = optional(
        "coordinates at which the spring is slack, all entries of q of a quaternion joint"
    )
    friction: Entries = optional("torque at high speed")
    friction_velocity: Entries = optional("at which it has reached 76 %, 1e-3 by default")
    prescribed: Flags = optional("hybrid dynamics is given its acceleration")
    actuated: Flag = optional("false for a joint without a drive; in mechanisms with loops")
    mimic: MimicTable | None = optional("follows another coordinate, and is none itself")
    link: LinkTable | None = optional("what the joint carries")

    @property
    def kind(self) -> Kind | None:
        """Its type; None where that is faulty, and the one with angles where it has no other."""
        if not self.type:
            return None
        try:
            return joint_type(self.type, self.coordinates or ANGLES)
        except KeyError:
            return joint_type(self.type)


class PointTable(KeyTable):
    """Where a load acts, or a point whose motion is wanted."""

    name: Name = Field(description="a name such as 'tip'")
    link: Name = Field(description="the name of a link")
    point: Triple = optional("in the link frame, [0, 0, 0] by default")


class LoopEndTable(KeyTable):
    """One of the two frames that a loop keeps together."""

    link: Name = Field(description="the name of a link, or base")
    origin: PoseTable | None = optional("pose of the frame in the link frame")
    axis: Axis = optional("of the joint in that frame, [0, 0, 1] by default")


class LoopTable(KeyTable):
    """A joint that closes a loop of the mechanism."""

    name: Name = Field(description="a name such as 'closure'")
    type: LoopType = Field(description="that of a joint, or distance")
    first: LoopEndTable | None = Field(description="a frame: {link: .., origin: .., axis: ..}")
    second: LoopEndTable | None = Field(description="a frame: {link: .., origin: .., axis: ..}")
    length: Number = optional("of a distance, in m")


class InitialTable(KeyTable):
    """Where a simulation begins; what is missing is zero."""

    q: dict[str, Number] | None = optional("positions by the name of a coordinate")
    qd: dict[str, Number] | None = optional("velocities by the name of a coordinate")


class EndTable(KeyTable):
    """Where an end of a spring is fastened."""

    link: Name = optional("the name of a link, or base")
    point: Place = optional("in the link frame, [0, 0, 0] by default, or the name of a point")


class SpringTable(KeyTable):
    """A spring and damper between two points."""

    name: Name = Field(description="a name such as 'muscle'")
    between: list[EndTable | None] | None = Field(description="its two ends, [{link, point}, ..]")
    stiffness: Number = optional("in N/m; 0 by default")
    damping: Number = optional("in N s/m; 0 by default")
    length: Number = optional("at which it is slack, in m; 0 by default")


class ForceTable(KeyTable):
    """A force and torque on a link, as expressions of the motion."""

    example = ("name", "link", "point", "force")

    name: Name = Field(description="a name such as 'drag'")
    link: Name = optional("the name of a link")
    point: Place = optional("in the link frame, [0, 0, 0] by default, or the name of a point")
    let: dict[str, Quantified] | None = optional("named expressions, each of those before it")
    force: QuantifiedTriple = optional("[x, y, z] in N, base axes, at the point")
    torque: QuantifiedTriple = optional("[x, y, z] in N m, base axes")


class RobotTable(KeyTable):
    """The whole file."""

    symgen: Version = Field(description="the version of the format; write 'symgen: 1'")
    name: Name = Field(description="the name of the robot and of its generated package")
    description: Text = optional("what it is, for readers")
    convention: Convention = optional("of dh rows: standard (distal) or modified (Craig)")
    gravity: Gravity = optional(
        "the way things fall in the base frame, [0, 0, -9.81] m/s^2 by default"
    )
    parameters: dict[str, ParameterTable | None] | None = optional("named numbers")
    joints: list[JointTable | None] | None = optional("parents before children")
    loads: list[PointTable | None] | None = optional("where the environment acts")
    points: list[PointTable | None] | None = optional("whose motion is wanted")
    springs: list[SpringTable | None] | None = optional("springs and dampers between points")
    forces: list[ForceTable | None] | None = optional("forces that the motion determines")
    outputs: dict[str, OutputTable | None] | None = optional("named expressions of the motion")
    loops: list[LoopTable | None] | None = optional("joints that close loops")
    relations: dict[str, Quantified] | None = optional("expressions that are 0")
    initial: InitialTable | None = optional("positions and velocities to begin with")


# ------------------------------------------------------------------------------------ the check


def shape(findings: Findings) -> RobotTable:
    """The document as tables; what does not fit goes to `findings` and comes out as None."""
    data = _plain(findings.document.root)
    parameters = data.get("parameters") if isinstance(data, dict) else None
    names = frozenset(parameters if isinstance(parameters, dict) else ())
    try:
        return RobotTable.model_validate(data, context=names)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        paths = [_existing(detail["loc"], data) for detail in details]
        unknown = [path for path, detail in zip(paths, details, strict=True)
                   if detail["type"] == "extra_forbidden"]  # fmt: skip
        misspelt = set(map(_meant, unknown[:_MOST_HINTS]))
        findings.excuse(misspelt)
        for number, (path, detail) in enumerate(zip(paths, details, strict=True)):
            if detail["type"] != "missing" or path not in misspelt:
                hint = number < _MOST_HINTS
                findings.fault(path, _message(detail["type"], detail["msg"], path, data, hint))
            if path:
                _take_out(path, data)
    if not isinstance(data, dict):
        findings.raise_faults()
    return RobotTable.model_validate(data, context=names)


def _plain(node: Node) -> Any:
    """The tree as mutable dictionaries and lists, aliases copied; the leaves stay `Scalar`."""
    if isinstance(node, Scalar):
        return node
    if isinstance(node, Listing):
        return [_plain(item) for item in node.items]
    return {key: _plain(entry.value) for key, entry in node.entries.items()}


def _existing(loc: KeyPath, data: Any) -> KeyPath:
    """The part of pydantic's location that stands in the file, and a missing key behind it.

    They differ where a parameter in short form was blown up to the long one.
    """
    for end, step in enumerate(loc):
        if isinstance(data, Scalar):
            return loc[:end]
        if isinstance(data, dict) and step not in data:
            return loc[: end + 1]
        data = data[step]
    return loc


def _at(path: KeyPath, data: Any) -> Any:
    for step in path:
        data = data[step]
    return data


def _take_out(path: KeyPath, data: Any) -> None:
    """Remove an unknown key; put None where a faulty value is, or a missing one should be."""
    holder, last = _at(path[:-1], data), path[-1]
    table = _table_at(path[:-1])
    if table is not None and last not in table.model_fields:
        holder.pop(last, None)
    else:
        holder[last] = None


def _message(kind: str, text: str, path: KeyPath, data: Any, hint: bool) -> str:
    if kind == "missing":
        return f"this key is required and missing; expected {_description(path)}"
    if kind == "extra_forbidden":
        table = _table_at(path[:-1])
        if table is not None and path[-1] in table.planned:
            return "not available yet"
        return _unknown_key(path, _at(path, data)) if hint else "unknown key"
    expected = {
        "model_type": "a mapping (key: value)",
        "dict_type": "a mapping (name: value)",
        "list_type": f"a list (items that start with '-'{_item(path)})",
    }.get(kind)
    if expected:
        return f"expected {expected}{_example(path)}, found {found(_at(path, data))}"
    return text


def _example(path: KeyPath) -> str:
    """The keys of the mapping that is expected at `path`, if one with fixed keys is."""
    table = _table_at(path) if path else None
    if table is None:
        return ""
    keys = table.example or tuple(table.model_fields)
    return f", for example {{{', '.join(f'{key}: ..' for key in keys)}}}"


def _item(path: KeyPath) -> str:
    """The first key of the mappings in the list that is expected at `path`, for an example."""
    table = _table_at((*path, 0)) if path else None
    return "" if table is None else f", such as '- {next(iter(table.model_fields))}: ..'"


def _description(path: KeyPath) -> str:
    table = _table_at(path[:-1])
    field = None if table is None else table.model_fields.get(str(path[-1]))
    return (field.description if field else None) or "a value"


def _meant(path: KeyPath) -> KeyPath | None:
    """The key that an unknown key may have been meant to be."""
    table = _table_at(path[:-1])
    if table is None or path[-1] in table.planned:
        return None
    key = _nearest_key(str(path[-1]), tuple(table.model_fields))
    return None if key is None else (*path[:-1], key)


def _nearest_key(key: str, known: tuple[str, ...]) -> str | None:
    return synonyms.known_key(key, known) or nearest(key, known)


def _unknown_key(path: KeyPath, value: object) -> str:
    table, key = _table_at(path[:-1]), str(path[-1])
    if table is None:
        return "unknown key"
    if key == "<<":
        return "merge keys are not part of YAML 1.2; write the keys out"
    empty = getattr(value, "text", None) == ""
    if ":" in key and empty:
        start, _, rest = key.partition(":")
        return f"unknown key; a space is missing after ':'; write {shown(f'{start}: {rest}')}"
    if " " in key and empty:
        return f"{shown(key)} is no key; a text with a comma in it needs quotes"
    known = tuple(table.model_fields)
    meant = synonyms.known_key(key, known)
    hint = did_you_mean(key, known) if meant is None else f"; did you mean {shown(meant)}?"
    if key in synonyms.ADVICE:
        hint = f"; {synonyms.ADVICE[key]}"
    hint = _elsewhere(path) or hint
    return "unknown key" + (hint or f"; known here are {', '.join(map(shown, table.model_fields))}")


def _elsewhere(path: KeyPath) -> str:
    """The tail of a message about a key that another mapping takes, further in or further out."""
    key = str(path[-1])
    for end in range(len(path) - 2, -1, -1):
        outer = _table_at(path[:end])
        if outer is not None and key in outer.model_fields and isinstance(path[end], str):
            return f" here; it belongs further out, beside {shown(str(path[end]))}"
    inner = _inner_tables(_table_at(path[:-1]))
    for _ in range(_DEEPEST):
        places = [place for place, table in inner if key in table.model_fields]
        if places:
            return f" here; it belongs in {' or '.join(shown(place) for place in places)}"
        inner = [(f"{place}.{name}", table) for place, outer in inner
                 for name, table in _inner_tables(outer)]  # fmt: skip
    return ""


def _inner_tables(table: type[KeyTable] | None) -> list[tuple[str, type[KeyTable]]]:
    """The mappings with fixed keys that a mapping holds, also in lists, with their places."""
    found_ones = []
    for name, field in ({} if table is None else table.model_fields).items():
        annotation, place = _bare(field.annotation), name
        if get_origin(annotation) is list:
            annotation, place = _bare(get_args(annotation)[-1]), f"{name}[..]"
        if _is_table(annotation):
            found_ones.append((place, annotation))
    return found_ones


def _table_at(path: KeyPath) -> type[KeyTable] | None:
    """The table that describes the mapping at `path`."""
    annotation: Any = RobotTable
    for step in path:
        annotation = _inner(annotation, step)
    annotation = _bare(annotation)
    return annotation if _is_table(annotation) else None


def _inner(annotation: Any, step: str | int) -> Any:
    annotation = _bare(annotation)
    if _is_table(annotation):
        field = annotation.model_fields.get(step)
        return None if field is None else field.annotation
    return get_args(annotation)[-1] if get_origin(annotation) in (dict, list) else None


def _bare(annotation: Any) -> Any:
    """The type itself, without `Annotated` and without ``| None``."""
    while get_origin(annotation) in (Annotated, Union, UnionType):
        annotation = get_args(annotation)[0]
    return annotation


def _is_table(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, KeyTable)
