"""A file -> its document, by the ending of its name: a model file, or another format."""

from __future__ import annotations

import os
from os import PathLike, fspath

from symgen.description.foreign import ENDINGS, document_of_xacro, document_of_xml
from symgen.description.foreign.xacro import XACRO
from symgen.description.reading import Document, decode, load
from symgen.errors import RequestError
from symgen.options import AS_IT_IS, ReadOptions


def read_document(path: str | PathLike[str], reading: ReadOptions = AS_IT_IS) -> Document:
    """Read one file; `ModelError` where there is no tree to look at."""
    file, content = fspath(path), load(path)
    ending = os.path.splitext(file)[1].lower()
    if reading.arguments and ending != XACRO:
        raise RequestError("arguments, NAME:=VALUE, are for xacro, in files such as arm.urdf.xacro")
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
    """Whether the name of a file says that it is in another format."""
    return os.path.splitext(fspath(path))[1].lower() in ENDINGS
