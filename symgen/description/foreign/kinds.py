"""Types of joints for those of other formats, in the coordinates that are asked for."""

from __future__ import annotations

from symgen.description.foreign.nodes import text
from symgen.description.reading import Scalar
from symgen.joints import ON_MANIFOLDS, JointType, OnManifold, joint_type


def kind_of(name: str, angles: bool) -> JointType:
    """The type called `name`; free and ball joints have quaternions, unless `angles` are wanted."""
    on_manifolds = (kind for kind in ON_MANIFOLDS if kind.name == name and not angles)
    return next(on_manifolds, None) or joint_type(name)


def representation_of(kind: JointType, line: int) -> Scalar | None:
    """What a model file says of its coordinates; None where that is the default."""
    return text(kind.representation, line) if isinstance(kind, OnManifold) else None
