"""The kinds of leaf values in a model file, as pydantic types: numbers, names, choices.

A leaf arrives as the `Scalar` that stands in the file.  None passes through every type: it
stands for a value that was taken out because it is faulty.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    PlainValidator,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

from symgen.description import synonyms
from symgen.description.expressions import (
    MAX_LENGTH,
    Expression,
    ExpressionError,
    literal,
    parse,
)
from symgen.description.reading import Scalar
from symgen.description.wording import did_you_mean, shown
from symgen.joints import ANGLES, CLOSING, JOINTS, ON_MANIFOLDS, REDUNDANT

FORMAT_VERSION = 1
MAX_NAME = 64
NAME_PATTERN = "[A-Za-z][A-Za-z0-9_]*"
CONVENTIONS = ("standard", "modified")
JOINT_TYPES = tuple(kind.name for kind in JOINTS)
REPRESENTATIONS = (
    ANGLES,
    *dict.fromkeys(kind.representation for kind in ON_MANIFOLDS),
    *dict.fromkeys(kind.representation for kind in REDUNDANT),
)
REPRESENTATIONS_IN_WORDS = f"{', '.join(REPRESENTATIONS[:-1])} or {REPRESENTATIONS[-1]}"
LOOP_TYPES = tuple(kind.name for kind in CLOSING)
TYPES_IN_WORDS = f"{', '.join(JOINT_TYPES[:-1])} or {JOINT_TYPES[-1]}"


def found(value: object) -> str:
    """What stands in the file, for the end of a message."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, Sequence):
        return "a list"
    if not isinstance(value, Scalar) or value.kind == "null":
        return "nothing"
    kind = {"text": "the text ", "bool": ""}.get(value.kind, "the number ")
    return f"{kind}{shown(value.text)}"


def refuse(message: str) -> PydanticCustomError:
    """The exception by which a validator objects to a value, in our words."""
    return PydanticCustomError("symgen", "{message}", {"message": message})


def _leaf(read: Callable[[object], Any], schema: dict[str, Any]) -> tuple[Any, Any]:
    """The annotations of a leaf type that `read` reads."""

    def validate(value: object) -> Any:
        return None if value is None else read(value)

    return PlainValidator(validate), WithJsonSchema(schema)


def _expression(value: object, info: ValidationInfo) -> Expression | None:
    """A number; the context of the validation is the collection of the parameters' names."""
    return None if value is None else _number(value, info.context or ())


def _quantified(value: object, info: ValidationInfo) -> Expression | None:
    """The same, in which names may have dots: what a model says of its motion."""
    return None if value is None else _number(value, info.context or (), dots=True)


def _number(
    value: object, parameters: Collection[str], alternative: str = "", dots: bool = False
) -> Expression:
    if not isinstance(value, Scalar) or value.kind in ("null", "bool"):
        raise refuse(f"expected a number or an expression{alternative}, found {found(value)}")
    try:
        if value.kind == "text":
            return parse(value.text, parameters, dots)
        return _literal(value.text)
    except ExpressionError as error:
        raise refuse(f"{shown(value.text)}: {error}") from None


def _literal(text: str) -> Expression:
    """A number of YAML, which has also ``0x1F``, ``0o17``, ``.inf`` and ``.nan``."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"a number has at most {MAX_LENGTH} characters, not {len(text)}")
    try:
        base = {"0x": 16, "0o": 8}.get(text[:2])
        return literal(text, float(text) if base is None else float(int(text[2:], base)))
    except (ValueError, OverflowError, ExpressionError):
        raise ExpressionError("not a finite float64 number") from None


def _text(value: object) -> str:
    if not isinstance(value, Scalar) or value.kind == "null":
        raise refuse(f"expected a text, found {found(value)}")
    return value.text


def _name(value: object) -> str:
    """Any text: whether it is a legal name is checked later, so that others may refer to it."""
    if not isinstance(value, Scalar) or value.kind != "text":
        raise refuse(f"expected a name, found {found(value)}")
    return value.text


def _version(value: object) -> int:
    if not isinstance(value, Scalar) or value.kind != "int" or value.text != str(FORMAT_VERSION):
        raise refuse(
            f"expected {FORMAT_VERSION}, the version of the format that this symgen reads, "
            f"found {found(value)}"
        )
    return FORMAT_VERSION


def _convention(value: object) -> str:
    text = value.text if isinstance(value, Scalar) else ""
    if text not in CONVENTIONS:
        raise refuse(
            "expected standard (distal) or modified (Craig, proximal), "
            f"found {found(value)}{did_you_mean(text, CONVENTIONS)}"
        )
    return text


def _joint_type(value: object) -> str:
    text = value.text if isinstance(value, Scalar) else ""
    if text in JOINT_TYPES:
        return text
    if text.lower() in synonyms.JOINT_TYPES:
        meant = synonyms.JOINT_TYPES[text.lower()]
        raise refuse(f"{shown(text)} is no joint type here; write {meant}")
    hint = did_you_mean(text, JOINT_TYPES)
    raise refuse(f"expected one of {', '.join(JOINT_TYPES)}, found {found(value)}{hint}")


def _loop_type(value: object) -> str:
    text = value.text if isinstance(value, Scalar) else ""
    meant = synonyms.JOINT_TYPES.get(text.lower(), text)
    if text in LOOP_TYPES:
        return text
    if meant in JOINT_TYPES and meant not in LOOP_TYPES:
        raise refuse(f"a {meant} joint closes no loop; expected one of {', '.join(LOOP_TYPES)}")
    hint = did_you_mean(meant, LOOP_TYPES)
    raise refuse(f"expected one of {', '.join(LOOP_TYPES)}, found {found(value)}{hint}")


def _representation(value: object) -> str:
    text = value.text if isinstance(value, Scalar) else ""
    if text not in REPRESENTATIONS:
        raise refuse(
            f"expected {REPRESENTATIONS_IN_WORDS}, found {found(value)}"
            f"{did_you_mean(text, REPRESENTATIONS)}"
        )
    return text


def _three(value: object) -> object:
    """Pydantic's own words about the length of a tuple would not help a beginner."""
    if value is None:
        return None
    if not isinstance(value, list):
        raise refuse(f"expected a list of three numbers [x, y, z], found {found(value)}")
    if len(value) != 3:
        entries = "1 entry" if len(value) == 1 else f"{len(value)} entries"
        comma = "; a decimal point is '.'" if len(value) > 3 else ""
        raise refuse(f"expected a list of three numbers [x, y, z], found {entries}{comma}")
    return value


def _place(value: object, info: ValidationInfo) -> str | tuple[Expression, ...] | None:
    """The name of a point, or its coordinates."""
    if value is None or (isinstance(value, Scalar) and value.kind == "text"):
        return None if value is None else value.text
    if not isinstance(value, list):
        raise refuse(
            "expected the name of one of 'points', or three numbers [x, y, z], "
            f"found {found(value)}"
        )
    _three(value)
    return tuple(_number(entry, info.context or ()) for entry in value)


def _gravity(value: object) -> object:
    """As `_three`: people write its size alone."""
    if isinstance(value, Scalar) and value.kind != "null":
        raise refuse(
            "expected a list of three numbers [x, y, z], the way things fall, for example "
            f"[0, 0, -9.81], found {found(value)}"
        )
    return _three(value)


def _axis(value: object) -> object:
    """As `_three`, for a direction: people write 'z'."""
    if value is None or isinstance(value, list):
        return _three(value)
    text = value.text.lower() if isinstance(value, Scalar) else ""
    example = _AXES.get(text.lstrip("+-"), _AXES["z"])
    if text.startswith("-"):
        example = example.replace("1", "-1")
    raise refuse(
        f"expected a list of three numbers [x, y, z], for example {example}, found {found(value)}"
    )


class ForAll(tuple[Expression, ...]):
    """One expression that holds for every coordinate of a joint."""


class AllFlags(tuple[bool, ...]):
    """One flag that holds for every coordinate of a joint."""


def _entries(
    value: object, read_list: ValidatorFunctionWrapHandler, info: ValidationInfo
) -> object:
    """A scalar for all coordinates of a joint, or a list with one entry for each."""
    if value is None or isinstance(value, list):
        return read_list(value)
    parameters = info.context or ()
    return ForAll((_number(value, parameters, ", or a list with one for each coordinate"),))


def _flag(value: object) -> bool:
    if not isinstance(value, Scalar) or value.kind != "bool":
        raise refuse(f"expected true or false, found {found(value)}")
    return value.text.lower() == "true"


def _flags(value: object) -> tuple[bool, ...]:
    """One flag for all coordinates of a joint, or a list with one for each."""
    if isinstance(value, list):
        return tuple(_flag(entry) for entry in value)
    return AllFlags((_flag(value),))


def _letters(value: object) -> tuple[str, ...]:
    """The names of axes: which ones a joint may turn about is checked later."""
    if not isinstance(value, list) or not all(isinstance(entry, Scalar) for entry in value):
        raise refuse(f"expected a list of axes such as [x, y], found {found(value)}")
    return tuple(entry.text for entry in value)


def _turns(value: object) -> str:
    if not isinstance(value, Scalar) or value.kind == "null":
        raise refuse(f"expected a sequence of axes such as zyx, found {found(value)}")
    return value.text


_AXES: Mapping[str, str] = {"x": "[1, 0, 0]", "y": "[0, 1, 0]", "z": "[0, 0, 1]"}
_NUMBER_SCHEMA: dict[str, Any] = {"type": ["number", "string"]}
_ENTRIES_SCHEMA = {"anyOf": [_NUMBER_SCHEMA, {"type": "array", "items": _NUMBER_SCHEMA}]}
_TEXT_SCHEMA = {"type": "string"}
_PLACE_SCHEMA = {
    "anyOf": [
        {"type": "string"},
        {"type": "array", "items": _NUMBER_SCHEMA, "minItems": 3, "maxItems": 3},
    ]
}
_NAME_SCHEMA = {"type": "string", "pattern": f"^{NAME_PATTERN}$", "maxLength": MAX_NAME}
_LETTERS_SCHEMA = {"type": "array", "items": {"enum": ["x", "y", "z"]}}

Number = Annotated[Expression | None, PlainValidator(_expression), WithJsonSchema(_NUMBER_SCHEMA)]
Quantified = Annotated[
    Expression | None, PlainValidator(_quantified), WithJsonSchema(_NUMBER_SCHEMA)
]
Text = Annotated[str | None, *_leaf(_text, _TEXT_SCHEMA)]
Name = Annotated[str | None, *_leaf(_name, _NAME_SCHEMA)]
Version = Annotated[int | None, *_leaf(_version, {"const": FORMAT_VERSION})]
Convention = Annotated[str | None, *_leaf(_convention, {"enum": list(CONVENTIONS)})]
JointType = Annotated[str | None, *_leaf(_joint_type, {"enum": list(JOINT_TYPES)})]
LoopType = Annotated[str | None, *_leaf(_loop_type, {"enum": list(LOOP_TYPES)})]
Representation = Annotated[str | None, *_leaf(_representation, {"enum": list(REPRESENTATIONS)})]
Turns = Annotated[str | None, *_leaf(_turns, _TEXT_SCHEMA)]
Letters = Annotated[tuple[str, ...] | None, *_leaf(_letters, _LETTERS_SCHEMA)]
Entries = Annotated[
    tuple[Number, ...] | None, WrapValidator(_entries), WithJsonSchema(_ENTRIES_SCHEMA)
]
_FLAGS_SCHEMA = {"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "boolean"}}]}
Flag = Annotated[bool | None, *_leaf(_flag, {"type": "boolean"})]
Flags = Annotated[tuple[bool, ...] | None, *_leaf(_flags, _FLAGS_SCHEMA)]
Triple = Annotated[tuple[Number, Number, Number] | None, BeforeValidator(_three)]
QuantifiedTriple = Annotated[
    tuple[Quantified, Quantified, Quantified] | None, BeforeValidator(_three)
]
Place = Annotated[
    str | tuple[Expression, Expression, Expression] | None,
    PlainValidator(_place),
    WithJsonSchema(_PLACE_SCHEMA),
]
Axis = Annotated[tuple[Number, Number, Number] | None, BeforeValidator(_axis)]
Gravity = Annotated[tuple[Number, Number, Number] | None, BeforeValidator(_gravity)]
