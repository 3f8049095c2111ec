"""Other formats of robots, turned into the document of a model file: URDF, xacro, SDF and MJCF.

    read_xml            bytes   -> Element    (xml)
    expanded            xacro   -> Element    (xacro)
    document_of_urdf    Element -> Document   (urdf)
    document_of_sdf     Element -> Document   (sdf)
    document_of_mjcf    Element -> Document   (mujoco)

A document knows the lines of the file that it was made from, so that everything that is checked
later points there.  Nothing is fetched, and nothing in these files is evaluated, but for a file
that is called `.xacro`: xacro expands that one, in a process of its own.  Files that an MJCF file
includes is for MuJoCo to open, in a process of its own as well; lines of names are looked up here.
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
    """The document of a robot in XML; `ModelError` lists everything that is wrong with it."""
    content, remarks = without_padding(content)
    root = read_xml(content, file)
    _refuse_xacro(root, file)
    document = _document_of(root, (file,), reading)
    warnings = (*(Fault(file, 1, "", words) for words in remarks), *document.warnings)
    return replace(document, warnings=warnings)


def document_of_xacro(content: bytes, file: str, reading: ReadOptions) -> Document:
    """The document of a robot in xacro, which is expanded first."""
    read_xml(without_padding(content)[0], file)  # which refuses what a parser must not meet
    root, files = expanded(file, reading)
    if root.tag == "mujoco":  # which MuJoCo reads from a file
        stem = file.removesuffix(XACRO)
        command = f"xacro {shlex.quote(file)} > {shlex.quote(stem)}"
        raise stop(file, 0, f"xacro makes MJCF of this, which has to be a file: {command}")
    return _document_of(root, files, reading)


def _document_of(root: Element, files: tuple[str, ...], reading: ReadOptions) -> Document:
    file = files[0]
    if reading.without_loops and root.tag == "robot":
        raise RequestError("--without-loops is for MJCF and SDF, whose files close loops")
    with np.errstate(all="ignore"):  # what overflows is infinite then, and refused by the check
        if root.tag == "robot":
            return document_of_urdf(root, files, reading.floating_base, reading.angles)
        if root.tag == "sdf":
            return document_of_sdf(root, files, reading)
        if root.tag != "mujoco":
            expected = "expected <robot> (URDF), <sdf> (SDF) or <mujoco> (MJCF)"
            message = f"{expected}, found the element {shown(root.tag)}"
            raise stop(file, root.line, message)
        if reading.floating_base:
            raise RequestError("--floating-base is for URDF and SDF; in MJCF write <freejoint/>")
        return document_of_mjcf(root, file, reading.without_loops, reading.angles)


def _refuse_xacro(root: Element, file: str) -> None:
    """xacro is a program that writes URDF, and no file's program is run here."""
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
