"""Conversion of URDF, xacro, SDF and MJCF into the document of a model file.

    read_xml            bytes   -> Element    (xml)
    expanded            xacro   -> Element    (xacro)
    document_of_urdf    Element -> Document   (urdf)
    document_of_sdf     Element -> Document   (sdf)
    document_of_mjcf    Element -> Document   (mujoco)

A document has the line numbers of its source file, so that later faults point there.  Nothing is
fetched, and nothing in these files is evaluated, except in a `.xacro` file, which xacro expands in
a separate process.  MuJoCo opens the files that an MJCF file includes, in a separate process as
well; lines of names are looked up here.
"""

from __future__ import annotations

import shlex
from dataclasses import replace

import numpy as np

from symgen.description.foreign.mujoco import document_of_mjcf
from symgen.description.foreign.sdf import document_of_sdf
from symgen.description.foreign.urdf import document_of_urdf
from symgen.description.foreign.xacro import XACRO, expanded
from symgen.description.foreign.xml import Element, read_xml, stop, without_padding
from symgen.description.reading import Document
from symgen.description.wording import shown
from symgen.errors import Fault, RequestError
from symgen.options import UNCHANGED, ReadOptions

ENDINGS = (".urdf", ".xml", ".mjcf", ".sdf", ".world", XACRO)


def document_of_xml(content: bytes, file: str, reading: ReadOptions = UNCHANGED) -> Document:
    """Convert a robot in XML; `ModelError` lists all its faults."""
    content, remarks = without_padding(content)
    root = read_xml(content, file)
    _refuse_xacro(root, file)
    document = _document_of(root, (file,), reading)
    warnings = (*(Fault(file, 1, "", words) for words in remarks), *document.warnings)
    return replace(document, warnings=warnings)


def document_of_xacro(content: bytes, file: str, reading: ReadOptions) -> Document:
    """Expand a robot in xacro, and convert it."""
    read_xml(without_padding(content)[0], file)  # refuses document types
    root, files = expanded(file, reading)
    if root.tag == "mujoco":  # MuJoCo reads files only
        stem = file.removesuffix(XACRO)
        command = f"xacro {shlex.quote(file)} > {shlex.quote(stem)}"
        raise stop(file, 0, f"xacro makes MJCF of this, which has to be a file: {command}")
    return _document_of(root, files, reading)


def _document_of(root: Element, files: tuple[str, ...], reading: ReadOptions) -> Document:
    file = files[0]
    if reading.without_loops and root.tag == "robot":
        raise RequestError("--without-loops is for MJCF and SDF, whose files close loops")
    with np.errstate(all="ignore"):  # overflow gives infinity, which the checks refuse
        if root.tag == "robot":
            return document_of_urdf(root, files, reading.floating_base, reading.angles)
        if root.tag == "sdf":
            return document_of_sdf(root, files, reading)
        if root.tag != "mujoco":
            expected = "expected <robot> (URDF), <sdf> (SDF) or <mujoco> (MJCF)"
            raise stop(file, root.line, f"{expected}, found the element {shown(root.tag)}")
        if reading.floating_base:
            raise RequestError("--floating-base is for URDF and SDF; in MJCF write <freejoint/>")
        return document_of_mjcf(root, file, reading.without_loops, reading.angles)


def _refuse_xacro(root: Element, file: str) -> None:
    """Refuse xacro in files with another ending, because its expressions are evaluated."""
    spaces = [name for name, value in root.attributes.items() if value.endswith("xacro")]
    prefixes = ("xacro:", *(f"{name.removeprefix('xmlns:')}:" for name in spaces))
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if element.tag.startswith(prefixes):
            stem = file.removesuffix(".xacro").removesuffix(".urdf")
            urdf = f"{stem}.urdf" if f"{stem}.urdf" != file else f"{stem}.expanded.urdf"
            command = f"xacro {shlex.quote(file)} > {shlex.quote(urdf)}"
            message = (
                f"this is xacro, whose expressions are evaluated only in a file that is called "
                f"{XACRO}; or expand it first: {command}"
            )
            raise stop(file, element.line, message)
        waiting += reversed(element.children)
