"""The schema of a model file: its keys, the kind of value of each, and their meanings.

`read_tables` reads a document by these tables, messages propose their keys, and `json_schema`
publishes them for editors.  Relations between two values are checked in
`symgen.description.checks`.

Every key may be None: it is missing, or its value is faulty and has been reported.  So one reading
finds all faults.  Annotations of this module are objects, not strings, so that they need not be
evaluated.
"""

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from types import UnionType
from typing import Annotated, Any, ClassVar, TypeVar, Union, get_args, get_origin

from symgen.description.expressions import MAX_LENGTH, Expression, ExpressionError, literal, parse
from symgen.description.findings import Findings
from symgen.description.reading import Listing, Node, Scalar, Table
from symgen.description.wording import KeyPath, did_you_mean, shown
from symgen.joints import ANGLES, CLOSING, JOINTS, ON_MANIFOLDS, REDUNDANT, joint_type
from symgen.joints import JointType as Kind
from symgen.support.suggestions import nearest

FORMAT_VERSION = 1
MAX_NAME = 64
LONGEST_FILE_NAME = 200
NAME_PATTERN = "[A-Za-z][A-Za-z0-9_]*"
CONVENTIONS = ("standard", "modified")
JOINT_TYPES = tuple(kind.name for kind in JOINTS)
LOOP_TYPES = tuple(kind.name for kind in CLOSING)
REPRESENTATIONS = tuple(dict.fromkeys((
    ANGLES, *(x.representation for x in ON_MANIFOLDS), *(x.representation for x in REDUNDANT),
)))  # fmt: skip

_MOST_HINTS = 400  # maximum number of faults with suggestions, which take time
_DEEPEST = 3  # maximum depth of mappings in which a misplaced key is searched

_KEYS: Mapping[str, str] = {
    "\u03b8": "theta", "\u03d1": "theta", "\u03b1": "alpha",
    "yx": "xy", "zx": "xz", "zy": "yz",
    "cog": "com", "cm": "com", "center_of_mass": "com", "centre_of_mass": "com",
    "inertial": "inertia", "moment_of_inertia": "inertia", "weight": "mass",
    "coulomb": "friction", "friction_forward": "friction", "damping_forward": "damping",
    "coulomb_friction": "friction", "stiction": "static_friction",
    "viscous": "damping", "viscous_friction": "damping",
    "child": "link", "min": "lower", "max": "upper", "rotation": "rpy", "position": "xyz",
}  # fmt: skip
"""Keys of other conventions -> keys of the format, if the mapping takes them."""

_ADVICE: Mapping[str, str] = {
    "links": "a link stands in the joint that carries it: 'link: {name, mass, com, inertia}'",
    "child": "a joint carries its own link: 'link: {name: ..}'",
}
"""Explanations for keys that have no single counterpart."""

_TURNS = (
    "rotational", "rotation", "rotary", "rotating", "revolving", "hinge", "pin", "turn", "angular",
    "r", "rev", "rot",
)  # fmt: skip
_SLIDES = (
    "linear", "translational", "translation", "sliding", "slide", "slider", "p", "t",
    "prism", "trans",
)  # fmt: skip
_OTHER_TYPES: Mapping[str, str] = {
    **dict.fromkeys(_TURNS, "revolute"),
    **dict.fromkeys(_SLIDES, "prismatic"),
    "continuous": "revolute without limits",
    "ball": "spherical",
    "cardan": "universal",
    "free": "floating",
    "weld": "fixed",
    "rigid": "fixed",
}
"""Types of joints in other words, lower case."""


# --------------------------------------------------------------------------------- kinds of values


class KindError(Exception):
    """A value is not of the kind that its key takes; the message says what is expected."""


@dataclass(frozen=True)
class Leaf:
    """A kind of value that is read as a whole.

    `read` takes the node and the names of the parameters (for hints), and raises `KindError`;
    `schema` is the JSON schema of the kind.
    """

    read: Callable[[Node, Collection[str]], Any]
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """A kind of list whose items are read one by one, as a tuple.

    `check` raises `KindError` for other nodes; `scalar`, if any, reads nodes that are not lists.
    """

    item: Leaf
    schema: Mapping[str, Any]
    check: Callable[[Node], None] = lambda node: None
    scalar: Leaf | None = None


class ForAll(tuple[Expression, ...]):
    """One expression that holds for every coordinate of a joint."""


class AllFlags(tuple[bool, ...]):
    """One flag that holds for every coordinate of a joint."""


def seen(node: Node) -> str:
    """Describe a value of the file, for the end of a message."""
    if not isinstance(node, Scalar):
        return "a mapping" if isinstance(node, Table) else "a list"
    if node.kind == "null":
        return "nothing"
    kind = {"text": "the text ", "bool": ""}.get(node.kind, "the number ")
    return f"{kind}{shown(node.text)}"


def _read_for_all(node: Node, parameters: Collection[str]) -> ForAll:
    return ForAll((_expression(node, parameters, ", or a list with one for each coordinate"),))


def _read_friction(node: Node, parameters: Collection[str]) -> ForAll:
    """Read the friction of all coordinates; refuse a mapping with the keys that there are."""
    try:
        return _read_for_all(node, parameters)
    except KindError as error:
        keys = "damping, friction_backward, static_friction and stribeck_velocity"
        hint = f"; {keys} are keys of the joint" if isinstance(node, Table) else ""
        raise KindError(f"{error}{hint}") from None


def _expression(
    node: Node, parameters: Collection[str], alternative: str = "", dots: bool = False
) -> Expression:
    """Read a number or an expression; with `dots`, its names may be quantities of the motion."""
    if not isinstance(node, Scalar) or node.kind in ("null", "bool"):
        raise KindError(f"expected a number or an expression{alternative}, found {seen(node)}")
    try:
        if node.kind == "text":
            return parse(node.text, parameters, dots)
        return _literal(node.text)
    except ExpressionError as error:
        raise KindError(f"{shown(node.text)}: {error}") from None


def _literal(text: str) -> Expression:
    """Read a number of YAML, including ``0x1F`` and ``0o17``; refuse ``.inf`` and ``.nan``."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"a number has at most {MAX_LENGTH} characters, not {len(text)}")
    try:
        base = {"0x": 16, "0o": 8}.get(text[:2])
        return literal(text, float(text) if base is None else float(int(text[2:], base)))
    except (ValueError, OverflowError, ExpressionError):
        raise ExpressionError("not a finite float64 number") from None


def _words(expected: str, *kinds: str) -> Callable[[Node, Collection[str]], str]:
    """Make a reader of scalars of these kinds, by default of all but null."""

    def read(node: Node, _: Collection[str]) -> str:
        fits = isinstance(node, Scalar) and node.kind != "null"
        if not isinstance(node, Scalar) or not fits or (kinds and node.kind not in kinds):
            raise KindError(f"expected {expected}, found {seen(node)}")
        return node.text

    return read


def _choice(
    words: tuple[str, ...], expected: str = "", meant: Mapping[str, str] | None = None
) -> Leaf:
    """Make a kind with a fixed set of words; `meant` maps synonyms to them."""
    expected = expected or f"one of {', '.join(words)}"

    def read(node: Node, _: Collection[str]) -> str:
        text = node.text if isinstance(node, Scalar) else ""
        if text in words:
            return text
        hint = did_you_mean((meant or {}).get(text.lower(), text), words)
        raise KindError(f"expected {expected}, found {seen(node)}{hint}")

    return Leaf(read, {"enum": list(words)})


def _read_joint_type(node: Node, names: Collection[str]) -> Any:
    text = node.text if isinstance(node, Scalar) else ""
    if text not in JOINT_TYPES and text.lower() in _OTHER_TYPES:
        meant = _OTHER_TYPES[text.lower()]
        raise KindError(f"{shown(text)} is no joint type here; write {meant}")
    return _JOINT_TYPE.read(node, names)


def _read_loop_type(node: Node, names: Collection[str]) -> Any:
    text = node.text if isinstance(node, Scalar) else ""
    meant = _OTHER_TYPES.get(text.lower(), text)
    if text not in LOOP_TYPES and meant in JOINT_TYPES and meant not in LOOP_TYPES:
        loops = ", ".join(LOOP_TYPES)
        raise KindError(f"a {meant} joint closes no loop; expected one of {loops}")
    return _LOOP_TYPE.read(node, names)


def _read_version(node: Node, _: Collection[str]) -> int:
    if not isinstance(node, Scalar) or node.kind != "int" or node.text != str(FORMAT_VERSION):
        expected = f"expected {FORMAT_VERSION}, the version of the format that this symgen reads"
        raise KindError(f"{expected}, found {seen(node)}")
    return FORMAT_VERSION


_THREE = "expected a list of three numbers [x, y, z]"


def _check_three(node: Node) -> None:
    if not isinstance(node, Listing):
        raise KindError(f"{_THREE}, found {seen(node)}")
    count = len(node.items)
    if count != 3:
        entries = "1 entry" if count == 1 else f"{count} entries"
        comma = "; a decimal point is '.'" if count > 3 else ""
        raise KindError(f"{_THREE}, found {entries}{comma}")


def _check_list(node: Node) -> None:
    if not isinstance(node, Listing) or not node.items:
        value = "an empty list" if isinstance(node, Listing) else seen(node)
        raise KindError(f"expected a list of numbers [a, b, ..], found {value}")


def _check_gravity(node: Node) -> None:
    """Refuse a vector that is not a list of three, with an example for its magnitude alone."""
    if isinstance(node, Scalar) and node.kind != "null":
        what = "the acceleration of gravity, for example [0, 0, -9.81]"
        raise KindError(f"{_THREE}, {what}, found {seen(node)}")
    _check_three(node)


def _check_axis(node: Node) -> None:
    """Refuse a direction that is not a list of three, with an example for a letter."""
    if not isinstance(node, Listing):
        text = node.text.lower() if isinstance(node, Scalar) else ""
        examples = {"x": "[1, 0, 0]", "y": "[0, 1, 0]"}
        example = examples.get(text.lstrip("+-"), "[0, 0, 1]")
        if text.startswith("-"):
            example = example.replace("1", "-1")
        raise KindError(f"{_THREE}, for example {example}, found {seen(node)}")
    _check_three(node)


def _read_place(node: Node, parameters: Collection[str]) -> str | tuple[Expression, ...]:
    """Read the name of a point, or its coordinates."""
    if isinstance(node, Scalar) and node.kind == "text":
        return node.text
    if not isinstance(node, Listing):
        expected = "expected the name of one of 'points', or three numbers [x, y, z]"
        raise KindError(f"{expected}, found {seen(node)}")
    _check_three(node)
    return tuple(_expression(item, parameters) for item in node.items)


def _read_flag(node: Node, _: Collection[str]) -> bool:
    if not isinstance(node, Scalar) or node.kind != "bool":
        raise KindError(f"expected true or false, found {seen(node)}")
    return node.text.lower() == "true"


def _read_flags(node: Node, names: Collection[str]) -> tuple[bool, ...]:
    """Read one flag for all coordinates of a joint, or a list with one for each."""
    if isinstance(node, Listing):
        return tuple(_read_flag(item, names) for item in node.items)
    return AllFlags((_read_flag(node, names),))


def is_file_name(text: str) -> bool:
    """Whether a text can be a value of `file_names`."""
    return 0 < len(text) <= LONGEST_FILE_NAME and text.isprintable()


def _read_file_name(node: Node, names: Collection[str]) -> str:
    if is_file_name(word := _words("a name in another file")(node, names)):
        return word
    limits = f"1 to {LONGEST_FILE_NAME} characters, without control characters"
    raise KindError(f"expected {limits}, found {seen(node)}")


def _read_letters(node: Node, _: Collection[str]) -> tuple[str, ...]:
    """Read the names of axes; joints check later whether they take these."""
    items = node.items if isinstance(node, Listing) else ()
    texts = tuple(item.text for item in items if isinstance(item, Scalar))
    if not isinstance(node, Listing) or len(texts) < len(items):
        raise KindError(f"expected a list of axes such as [x, y], found {seen(node)}")
    return texts


_TEXT_SCHEMA = {"type": "string"}
_NAME_SCHEMA = {"type": "string", "pattern": f"^{NAME_PATTERN}$", "maxLength": MAX_NAME}
_NUMBER_SCHEMA = {"type": ["number", "string"]}
_FLAG_SCHEMA = {"type": "boolean"}


def _list_of(schema: Mapping[str, Any], **more: int) -> dict[str, Any]:
    return {"type": "array", "items": schema, **more}


_THREE_SCHEMA = _list_of(_NUMBER_SCHEMA, minItems=3, maxItems=3)
_NUMBER = Leaf(_expression, _NUMBER_SCHEMA)
_QUANTIFIED = Leaf(partial(_expression, dots=True), _NUMBER_SCHEMA)
_ENTRIES_SCHEMA = {"anyOf": [_NUMBER_SCHEMA, _list_of(_NUMBER_SCHEMA)]}
_JOINT_TYPE = _choice(JOINT_TYPES)
_LOOP_TYPE = _choice(LOOP_TYPES, meant=_OTHER_TYPES)

TYRE = "tyre"
_FORCE_TYPE = _choice(("force", TYRE), "force or tyre")
ForceType = Annotated[str | None, _FORCE_TYPE]
Number = Annotated[Expression | None, _NUMBER]
Quantified = Annotated[Expression | None, _QUANTIFIED]
Text = Annotated[str | None, Leaf(_words("a text"), _TEXT_SCHEMA)]
Name = Annotated[str | None, Leaf(_words("a name", "text"), _NAME_SCHEMA)]
"""Any text; whether it is a legal name is checked later, so that references to it resolve."""
Version = Annotated[int | None, Leaf(_read_version, {"const": FORMAT_VERSION})]
_CONVENTION = _choice(CONVENTIONS, "standard (distal) or modified (Craig, proximal)")
Convention = Annotated[str | None, _CONVENTION]
JointType = Annotated[str | None, Leaf(_read_joint_type, _JOINT_TYPE.schema)]
LoopType = Annotated[str | None, Leaf(_read_loop_type, _LOOP_TYPE.schema)]
_REPRESENTATION_WORDS = f"{', '.join(REPRESENTATIONS[:-1])} or {REPRESENTATIONS[-1]}"
Representation = Annotated[str | None, _choice(REPRESENTATIONS, _REPRESENTATION_WORDS)]
Turns = Annotated[str | None, Leaf(_words("a sequence of axes such as zyx"), _TEXT_SCHEMA)]
_LETTERS_SCHEMA = _list_of({"enum": ["x", "y", "z"]})
Letters = Annotated[tuple[str, ...] | None, Leaf(_read_letters, _LETTERS_SCHEMA)]
FileName = Annotated[
    str | None, Leaf(_read_file_name, {**_TEXT_SCHEMA, "maxLength": LONGEST_FILE_NAME})
]
Flag = Annotated[bool | None, Leaf(_read_flag, _FLAG_SCHEMA)]
_FLAGS_SCHEMA = {"anyOf": [_FLAG_SCHEMA, _list_of(_FLAG_SCHEMA)]}
Flags = Annotated[tuple[bool, ...] | None, Leaf(_read_flags, _FLAGS_SCHEMA)]
Entries = Annotated[
    tuple[Expression | None, ...] | None,
    Row(_NUMBER, _ENTRIES_SCHEMA, scalar=Leaf(_read_for_all, _NUMBER_SCHEMA)),
]
"""A scalar for all coordinates of a joint (`ForAll`), or a list with one entry for each."""
Friction = Annotated[
    tuple[Expression | None, ...] | None,
    Row(_NUMBER, _ENTRIES_SCHEMA, scalar=Leaf(_read_friction, _NUMBER_SCHEMA)),
]
Coefficients = Annotated[
    tuple[Expression | None, ...] | None,
    Row(_NUMBER, _list_of(_NUMBER_SCHEMA, minItems=1), _check_list),
]
Vector = tuple[Expression | None, Expression | None, Expression | None]
Triple = Annotated[Vector | None, Row(_NUMBER, _THREE_SCHEMA, _check_three)]
QuantifiedTriple = Annotated[Vector | None, Row(_QUANTIFIED, _THREE_SCHEMA, _check_three)]
Axis = Annotated[Vector | None, Row(_NUMBER, _THREE_SCHEMA, _check_axis)]
Gravity = Annotated[Vector | None, Row(_NUMBER, _THREE_SCHEMA, _check_gravity)]
Place = Annotated[
    str | tuple[Expression, Expression, Expression] | None,
    Leaf(_read_place, {"anyOf": [_TEXT_SCHEMA, _THREE_SCHEMA]}),
]


# ------------------------------------------------------------------------------------- the tables


@dataclass(frozen=True)
class Key:
    """A key of a table: its meaning, whether it is required, and the shape of its value.

    The shape is a `Leaf`, a `Row`, a table, or a list or dict of these.
    """

    words: str
    required: bool = False
    shape: Any = None


def optional(words: str = "") -> Any:
    """Declare a key that may be missing; `words` explain it."""
    return Key(words)


def required(words: str) -> Any:
    """Declare a key that must be present."""
    return Key(words, required=True)


class KeyTable:
    """A mapping with fixed keys, whose values are attributes.

    `present` are the keys in the file, faulty or not, and missing required ones.  `example` are the
    keys in a message about a missing mapping, by default all; `short_form` is the expectation in a
    message about a table that may be written as the value of its first key.
    """

    example: ClassVar[tuple[str, ...]] = ()
    short_form: ClassVar[str] = ""

    def __init__(self, **values: Any) -> None:
        self.present = frozenset(values)
        self.__dict__.update(dict.fromkeys(self.all_keys()), **values)

    def gives(self, key: str) -> bool:
        """Whether the file gives `key`, faulty or not."""
        return key in self.present

    @classmethod
    @cache
    def all_keys(cls) -> Mapping[str, Key]:
        """All keys, by name."""
        keys = {}
        for base in reversed(cls.__mro__):
            for name, annotation in inspect.get_annotations(base).items():
                if isinstance(key := vars(base).get(name), Key):
                    keys[name] = replace(key, shape=_shape(annotation))
        return keys


class ParameterTable(KeyTable):
    """A parameter: its value, or a mapping."""

    short_form = "expected a number, an expression or {value, unit, description}"
    value: Number = required("a number or an expression")
    unit: Text = optional("unit of the value, for readers")
    description: Text = optional("what it is, for readers")


class OutputTable(ParameterTable):
    """A named expression that the module computes, in the form of a parameter."""

    value: Quantified = required("an expression such as 'q.elbow'")


class PoseTable(KeyTable):
    """A fixed transform; missing entries are zero."""

    xyz: Triple = optional("translation [x, y, z] in m")
    rpy: Triple = optional("rotations about the fixed axes x, y, z, one after the other, in rad")


class DhTable(KeyTable):
    """A row of a Denavit-Hartenberg table; missing entries are zero."""

    theta: Number = optional("rotation about z in rad; a revolute joint adds its coordinate")
    d: Number = optional("translation along z in m; a prismatic joint adds its coordinate")
    a: Number = optional("translation along x in m")
    alpha: Number = optional("rotation about x in rad")


class LimitsTable(KeyTable):
    """Joint limits; a missing entry does not limit.  They are no stops of simulations."""

    lower: Entries = optional("of the coordinate")
    upper: Entries = optional("of the coordinate")
    velocity: Entries = optional("largest speed")
    effort: Entries = optional("largest torque (N m) or force (N)")


class MimicTable(KeyTable):
    """A joint that follows a coordinate: q = multiplier q_coordinate + offset."""

    coordinate: Name = required("the name of the coordinate that the joint follows")
    multiplier: Number = optional("of that coordinate, 1 by default")
    offset: Number = optional("in rad or m, 0 by default")


class InertiaTable(KeyTable):
    """Entries of an inertia tensor in axes of the link frame; missing entries are zero."""

    example: ClassVar[tuple[str, ...]] = ("xx", "yy", "zz", "xy", "xz", "yz")
    xx: Number = optional()
    yy: Number = optional()
    zz: Number = optional()
    xy: Number = optional()
    xz: Number = optional()
    yz: Number = optional()
    accepted: Flag = optional("true to accept a tensor that no rigid body can have")


class LinkTable(KeyTable):
    """The link that a joint carries."""

    name: Name = optional("by default the joint's")
    mass: Number = optional("in kg; 0 by default")
    com: Triple = optional("centre of mass in the link frame, in m")
    inertia: InertiaTable | None = optional("about the centre of mass, in kg m^2")


class JointTable(KeyTable):
    """A joint, its pose in the parent's link frame, and its link."""

    example = ("name", "type", "dh", "link")
    name: Name = required("a name such as 'elbow'")
    type: JointType = required(f"{', '.join(JOINT_TYPES[:-1])} or {JOINT_TYPES[-1]}")
    parent: Name = optional("listed before, or base; by default the joint before")
    convention: Convention = optional("of this joint's dh: standard or modified")
    before: PoseTable | None = optional("a fixed pose in the parent's link frame, ahead of dh")
    dh: DhTable | None = optional("row of the Denavit-Hartenberg table")
    origin: PoseTable | None = optional("instead of dh: pose in the parent's link frame")
    axis: Axis = optional("of the joint in its frame, [0, 0, 1] by default")
    axes: Letters = optional("of a universal joint, [x, y] by default")
    sequence: Turns = optional("of the rotations of a spherical or floating joint, zyx by default")
    coordinates: Representation = optional(
        "of a spherical or floating joint: angles, quaternion or euler_parameters"
    )
    pitch: Number = optional("of a helical joint: travel along the axis, in m per radian")
    limits: LimitsTable | None = optional("metadata of the module")
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
    damping_backward: Entries = optional("at negative velocity; by default 'damping'")
    friction: Friction = optional("torque at high speed")
    friction_backward: Entries = optional("at negative velocity; by default 'friction'")
    friction_velocity: Entries = optional("velocity at which it reaches 76 %, 1e-3 by default")
    static_friction: Entries = optional("torque at the onset of motion (Stribeck)")
    static_friction_backward: Entries = optional("at negative velocity; by default the same")
    stribeck_velocity: Entries = optional("velocity at which 37 % of what it adds are left")
    prescribed: Flags = optional("its acceleration is an argument of hybrid dynamics")
    actuated: Flag = optional("false for a joint without a drive, whose torque is 0")
    mimic: MimicTable | None = optional("the joint follows a coordinate and has no independent one")
    link: LinkTable | None = optional("the link of the joint")

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
    """The point of application of a load, or a point whose motion is computed."""

    name: Name = required("a name such as 'tip'")
    link: Name = required("the name of a link")
    point: Triple = optional("in the link frame, [0, 0, 0] by default")


class LoopEndTable(KeyTable):
    """One of the two frames of a loop."""

    link: Name = required("the name of a link, or base")
    origin: PoseTable | None = optional("pose of the frame in the link frame")
    axis: Axis = optional("of the joint in that frame, [0, 0, 1] by default")


class LoopTable(KeyTable):
    """A joint that closes a loop of the mechanism."""

    name: Name = required("a name such as 'closure'")
    type: LoopType = required("that of a joint, or distance")
    first: LoopEndTable | None = required("a frame: {link: .., origin: .., axis: ..}")
    second: LoopEndTable | None = required("a frame: {link: .., origin: .., axis: ..}")
    length: Number = optional("of a distance, in m")


class InitialTable(KeyTable):
    """Initial state of simulations and pages; missing entries are zero."""

    q: dict[str, Number] | None = optional("positions by the name of a coordinate")
    qd: dict[str, Number] | None = optional("velocities by the name of a coordinate")


class EndTable(KeyTable):
    """The attachment of an end of a spring."""

    link: Name = optional("the name of a link, or base")
    point: Place = optional("in the link frame, [0, 0, 0] by default, or the name of a point")


class SpringTable(KeyTable):
    """A spring and damper between two points; x = l - length, where l is their distance in m."""

    name: Name = required("a name such as 'muscle'")
    between: list[EndTable | None] | None = required("its two ends, [{link, point}, ..]")
    stiffness: Number = optional("in N/m; 0 by default")
    damping: Number = optional("in N s/m; 0 by default")
    length: Number = optional("slack length in m; 0 by default")
    force: Number = optional(
        "instead of stiffness and damping: tension in N, an expression of x, l, v = dl/dt"
    )
    energy: Number = optional("potential of 'force' in J, an expression of x and l")


class NormalTable(KeyTable):
    """The normal force of a tyre on the ground, at a depth d."""

    stiffness: Coefficients = required("coefficients of d, d**2, .. in N/m, N/m**2, ..")
    damping: Number = optional("in N s/m; 0 by default")


class SlipTable(KeyTable):
    """Fiala's law of a tyre's forces along the ground."""

    longitudinal: Number = required("stiffness by longitudinal slip in N (CSLIP)")
    lateral: Number = required("stiffness by the tangent of the slip angle in N (CALPHA)")
    friction: Coefficients = required("coefficients [without slip, at full slip] (UMAX, UMIN)")


class ForceTable(KeyTable):
    """A force and torque on a link, as expressions of the motion, or a tyre on the ground."""

    example = ("name", "link", "point", "force")

    name: Name = required("a name such as 'drag'")
    type: ForceType = optional("force (the default) or tyre, which has 'wheel' and what follows it")
    link: Name = optional("the name of a link")
    point: Place = optional("in the link frame, [0, 0, 0] by default, or the name of a point")
    let: dict[str, Quantified] | None = optional("named expressions, each of those before it")
    force: QuantifiedTriple = optional("[x, y, z] in N, base axes, at the point")
    torque: QuantifiedTriple = optional("[x, y, z] in N m, base axes")
    wheel: Name = optional("the name of the revolute joint of a tyre; its axis points left")
    radius: Number = optional("radius of a tyre in m")
    width: Number = optional("width of a tyre in m")
    normal: NormalTable | None = optional("its normal force: {stiffness: [..], damping: ..}")
    slip: SlipTable | None = optional("its slip forces: {longitudinal, lateral, friction: [..]}")
    rolling: Number = optional("its rolling resistance, in m; 0 by default")
    ground: Number = optional("height in m, an expression of x, y and t; 0 by default")


class RobotTable(KeyTable):
    """The whole file."""

    symgen: Version = required("the version of the format; write 'symgen: 1'")
    name: Name = required("the name of the robot and of its generated package")
    description: Text = optional("what it is, for readers")
    convention: Convention = optional("of dh rows: standard (distal) or modified (Craig)")
    gravity: Gravity = optional(
        "acceleration of gravity in base axes, by default [0, 0, -9.81] m/s^2"
    )
    parameters: dict[str, ParameterTable | None] | None = optional("named numbers")
    joints: list[JointTable | None] | None = optional("parents before children")
    loads: list[PointTable | None] | None = optional("points of application of external loads")
    points: list[PointTable | None] | None = optional("points whose motion is computed")
    springs: list[SpringTable | None] | None = optional("springs and dampers between points")
    forces: list[ForceTable | None] | None = optional("forces as expressions of the motion")
    outputs: dict[str, OutputTable | None] | None = optional("named expressions of the motion")
    loops: list[LoopTable | None] | None = optional("joints that close loops")
    relations: dict[str, Quantified] | None = optional(
        "expressions that are 0, linear in velocities"
    )
    initial: InitialTable | None = optional("positions and velocities to begin with")
    file_names: dict[str, FileName] | None = optional(
        "names in the file of another format, by those of joints, links or base that differ"
    )


def _shape(annotation: Any) -> Any:
    """Return the annotation without ``| None``; for a leaf or a row the object that reads it."""
    while get_origin(annotation) in (Union, UnionType):
        annotation = get_args(annotation)[0]
    return get_args(annotation)[1] if get_origin(annotation) is Annotated else annotation


def _item(shape: Any) -> Any:
    """Return the shape of the items of a list or dict, if it is one."""
    return _shape(get_args(shape)[-1]) if get_origin(shape) in (list, dict) else None


def _is_table(shape: Any) -> bool:
    return isinstance(shape, type) and issubclass(shape, KeyTable)


T = TypeVar("T")


def readable(tables: Sequence[T | None] | None) -> Iterator[tuple[int, T]]:
    """Index and table of every item of a list that could be read."""
    return ((index, table) for index, table in enumerate(tables or ()) if table is not None)


# ------------------------------------------------------------------------------------- the reading


def read_tables(findings: Findings) -> RobotTable:
    """Read the document into tables; faulty values become None and are reported to `findings`."""
    root = findings.document.root
    parameters = root.entries.get("parameters") if isinstance(root, Table) else None
    entries = parameters.value if parameters is not None else None
    names = frozenset(entries.entries if isinstance(entries, Table) else ())
    robot: RobotTable | None = _Reader(findings, names).read(RobotTable, root, ())
    if robot is None:
        findings.raise_faults()
    return robot or RobotTable()


class _Reader:
    """Reads values by their shapes; `names` are the names of the parameters."""

    def __init__(self, findings: Findings, names: Collection[str]) -> None:
        self.findings, self.names = findings, names
        self.hints = self.guesses = _MOST_HINTS

    def fault(self, path: KeyPath, message: str) -> None:
        """Record a fault of the value at `path`."""
        self.hints -= 1
        self.findings.fault(path, message)

    def read(self, shape: Any, node: Node, path: KeyPath) -> Any:
        """Return the value of a node; None, and a fault, where it is faulty."""
        try:
            if isinstance(shape, Row) and shape.scalar and not isinstance(node, Listing):
                shape = shape.scalar
            if isinstance(shape, Leaf):
                return shape.read(node, self.names)
            if isinstance(shape, Row):
                shape.check(node)
                items = node.items if isinstance(node, Listing) else ()
                return tuple(self.read(shape.item, x, (*path, k)) for k, x in enumerate(items))
            if _is_table(shape):
                return self.table(shape, node, path)
            if get_origin(shape) is list:
                return self.items(_item(shape), node, path)
            return self.entries(_item(shape), node, path)
        except KindError as error:
            return self.fault(path, str(error))

    def items(self, item: Any, node: Node, path: KeyPath) -> list[Any]:
        if not isinstance(node, Listing):
            key = f", such as '- {next(iter(item.all_keys()))}: ..'"
            raise KindError(f"expected a list (items that start with '-'{key}), found {seen(node)}")
        return [self.read(item, x, (*path, k)) for k, x in enumerate(node.items)]

    def entries(self, item: Any, node: Node, path: KeyPath) -> dict[str, Any]:
        if not isinstance(node, Table):
            raise KindError(f"expected a mapping (name: value), found {seen(node)}")
        return {key: self.read(item, x.value, (*path, key)) for key, x in node.entries.items()}

    def table(self, table: type[KeyTable], node: Node, path: KeyPath) -> KeyTable | None:
        """Return a mapping with fixed keys."""
        keys = table.all_keys()
        if table.short_form and isinstance(node, Scalar):
            first = next(iter(keys))
            value = self.read(keys[first].shape, node, path)
            return None if value is None else table(**{first: value})
        if table.short_form and not isinstance(node, Table):
            raise KindError(f"{table.short_form}, found {seen(node)}")
        if not isinstance(node, Table):
            example = ", ".join(f"{key}: .." for key in table.example or keys)
            example = f", for example {{{example}}}" if path else ""
            raise KindError(f"expected a mapping (key: value){example}, found {seen(node)}")
        unknown = [key for key in node.entries if key not in keys]
        misspelt = {self.meant(key, tuple(keys)) for key in unknown}
        self.findings.excuse([(*path, key) for key in misspelt if key])
        values = {}
        for name, key in keys.items():
            if name in node.entries:
                values[name] = self.read(key.shape, node.entries[name].value, (*path, name))
            elif key.required:
                values[name] = None
                if name not in misspelt:
                    words = f"this key is required and missing; expected {key.words}"
                    self.fault((*path, name), words)
        for name in unknown:
            hint = _hint((*path, name), node.entries[name].value) if self.hints > 0 else ""
            self.fault((*path, name), hint or "unknown key")
        return table(**values)

    def meant(self, key: str, keys: tuple[str, ...]) -> str | None:
        """Return the key that an unknown key may have been meant to be."""
        self.guesses -= 1
        if self.guesses < 0:
            return None
        return _of_another_convention(key, keys) or nearest(key, keys)


def _of_another_convention(key: str, keys: Collection[str]) -> str | None:
    """Return the key of `keys` for a key of another convention or in capitals."""
    meant = _KEYS.get(key, _KEYS.get(key.lower()))
    return meant if meant in keys else None


def _hint(path: KeyPath, value: Node) -> str:
    """Return the message about an unknown key."""
    key, keys = str(path[-1]), tuple(_table_at(path[:-1]).all_keys())
    if key == "<<":
        return "merge keys are not part of YAML 1.2; write the keys out"
    empty = isinstance(value, Scalar) and value.text == ""
    if ":" in key and empty:
        start, _, rest = key.partition(":")
        return f"unknown key; a space is missing after ':'; write {shown(f'{start}: {rest}')}"
    if " " in key and empty:
        return f"{shown(key)} is no key; a text with a comma in it needs quotes"
    meant = _of_another_convention(key, keys)
    hint = did_you_mean(key, keys) if meant is None else f"; did you mean {shown(meant)}?"
    if key in _ADVICE:
        hint = f"; {_ADVICE[key]}"
    hint = _elsewhere(path) or hint
    return "unknown key" + (hint or f"; known here are {', '.join(map(shown, keys))}")


def _elsewhere(path: KeyPath) -> str:
    """Return the tail of a message about a key of an enclosing or inner mapping."""
    key = str(path[-1])
    for end in range(len(path) - 2, -1, -1):
        outer = _table_at(path[:end])
        if outer is not None and key in outer.all_keys() and isinstance(path[end], str):
            return f" here; it belongs further out, beside {shown(str(path[end]))}"
    inner = _inner_tables(_table_at(path[:-1]))
    for _ in range(_DEEPEST):
        places = [place for place, table in inner if key in table.all_keys()]
        if places:
            return f" here; it belongs in {' or '.join(shown(place) for place in places)}"
        inner = [(f"{place}.{name}", table) for place, outer in inner
                 for name, table in _inner_tables(outer)]  # fmt: skip
    return ""


def _inner_tables(table: Any) -> list[tuple[str, type[KeyTable]]]:
    """Return the mappings with fixed keys in a mapping, also in lists, with their keys."""
    tables = []
    for name, key in table.all_keys().items():
        is_list = get_origin(key.shape) is list
        shape = _item(key.shape) if is_list else key.shape
        if _is_table(shape):
            tables.append((f"{name}[..]" if is_list else name, shape))
    return tables


def _table_at(path: KeyPath) -> Any:
    """Return the table of the mapping at `path`, None where there is none."""
    shape: Any = RobotTable
    for step in path:
        if _is_table(shape):
            key = shape.all_keys().get(str(step))
            shape = None if key is None else key.shape
        else:
            shape = _item(shape)
    return shape if _is_table(shape) else None


# ----------------------------------------------------------------------------------- as JSON schema


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a model file, with which editors complete keys and mark mistakes.

    It is draft 7, which all editors support.  Relations between values and the contents of
    expressions are not part of it: they are checked when the file is read.
    """
    tables: dict[str, Any] = {}
    robot = _table_schema(RobotTable, tables)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A robot for symgen",
        "$defs": dict(sorted(tables.items())),
        **robot,
    }


def _table_schema(table: type[KeyTable], tables: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of one table; the schemas it refers to are added to `tables`."""
    keys = table.all_keys()
    properties = {
        name: {"description": key.words, **_schema(key.shape, tables)} if key.words
        else _schema(key.shape, tables)
        for name, key in keys.items()
    }  # fmt: skip
    schema = {
        "additionalProperties": False,
        "description": inspect.getdoc(table),
        "properties": properties,
        "required": [name for name, key in keys.items() if key.required],
        "type": "object",
    }
    if not schema["required"]:
        del schema["required"]
    return {"anyOf": [next(iter(properties.values())), schema]} if table.short_form else schema


def _schema(shape: Any, tables: dict[str, Any]) -> Mapping[str, Any]:
    if isinstance(shape, Leaf | Row):
        return shape.schema
    if _is_table(shape):
        if shape.__name__ not in tables:
            tables[shape.__name__] = _table_schema(shape, tables)
        return {"$ref": f"#/$defs/{shape.__name__}"}
    inner = _schema(_item(shape), tables)
    if get_origin(shape) is list:
        return {"type": "array", "items": inner}
    return {"type": "object", "additionalProperties": inner}
