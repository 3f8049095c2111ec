"""Other formats of robots, turned into the document of a model file: URDF and MJCF.

    read_xml            bytes   -> Element    (xml)
    document_of_urdf    Element -> Document   (urdf)
    document_of_mjcf    Element -> Document   (mjcf)

A document knows the lines of the file that it was made from, so that everything that is checked
later points there.  Nothing in these files is evaluated, fetched or included.
"""

from __future__ import annotations

import shlex
from dataclasses import replace

import numpy as np

from symgen.description.foreign.mjcf import document_of_mjcf
from symgen.description.foreign.urdf import document_of_urdf
from symgen.description.foreign.xml import Element, read_xml, stop, without_padding
from symgen.description.reading import Document
from symgen.description.wording import shown
from symgen.errors import Fault, RequestError

ENDINGS = (".urdf", ".xml", ".mjcf", ".xacro")


def document_of_xml(content: bytes, file: str, floating_base: bool = False) -> Document:
    """The document of a robot in XML; `ModelError` lists everything that is wrong with it."""
    content, remarks = without_padding(content)
    root = read_xml(content, file)
    _refuse_xacro(root, file)
    with np.errstate(all="ignore"):  # what overflows is infinite then, and refused by the check
        document = _document_of(root, file, floating_base)
    warnings = (*(Fault(file, 1, "", words) for words in remarks), *document.warnings)
    return replace(document, warnings=warnings)


def _document_of(root: Element, file: str, floating_base: bool) -> Document:
    if root.tag == "robot":
        return document_of_urdf(root, file, floating_base)
    if root.tag != "mujoco":
        found = f"found the element {shown(root.tag)}"
        raise stop(file, root.line, f"expected <robot> (URDF) or <mujoco> (MJCF), {found}")
    if floating_base:
        raise RequestError("--floating-base is for URDF; in MJCF write <freejoint/>")
    return document_of_mjcf(root, file)


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
            message = f"this is xacro, which has to be expanded first: {command}"
            raise stop(file, element.line, message)
        waiting += reversed(element.children)
