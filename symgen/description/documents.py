"""A file -> its document, by the ending of its name: a model file, or another format."""

from __future__ import annotations

import os
from os import PathLike, fspath

from symgen.description.foreign import ENDINGS, document_of_xml
from symgen.description.reading import Document, decode, load
from symgen.errors import RequestError


def read_document(
    path: str | PathLike[str],
    floating_base: bool = False,
    without_loops: bool = False,
    angles: bool = False,
) -> Document:
    """Read one file; `ModelError` where there is no tree to look at.

    With `floating_base` the root link of another format moves freely; with `angles` free bodies
    and balls of other formats have three angles in place of a quaternion; model files say such
    things themselves.  With `without_loops` the constraints of an MJCF file, which close loops,
    are left out.
    """
    file, content = fspath(path), load(path)
    if is_foreign(path):
        return document_of_xml(content, file, floating_base, without_loops, angles)
    if floating_base:
        raise RequestError("--floating-base is for URDF; a model file says so: type: floating")
    if without_loops:
        raise RequestError("--without-loops is for MJCF, whose constraints close loops")
    if angles:
        raise RequestError(
            "--angles is for URDF and MJCF; a model file says so: coordinates: angles"
        )
    return decode(content, file)


def is_foreign(path: str | PathLike[str]) -> bool:
    """Whether the name of a file says that it is in another format."""
    return os.path.splitext(fspath(path))[1].lower() in ENDINGS
