"""Other formats of robots, turned into the document of a model file: URDF and MJCF.

    read_xml            bytes   -> Element    (xml)
    document_of_urdf    Element -> Document   (urdf)
    document_of_mjcf    Element -> Document   (mjcf, or mujoco where MuJoCo is installed)

A document knows the lines of the file that it was made from, so that everything that is checked
later points there.  Nothing in these files is evaluated or fetched; what an MJCF file includes is
for MuJoCo to open, in a process of its own.
"""

from __future__ import annotations

import shlex
from dataclasses import replace

import numpy as np

from symgen.description.foreign import mujoco
from symgen.description.foreign.mjcf import document_of_mjcf
from symgen.description.foreign.mjcf_settings import FLAT
from symgen.description.foreign.urdf import document_of_urdf
from symgen.description.foreign.xml import Element, read_xml, stop, without_padding
from symgen.description.reading import Document
from symgen.description.wording import shown
from symgen.errors import Fault, ModelError, RequestError

ENDINGS = (".urdf", ".xml", ".mjcf", ".xacro")


def document_of_xml(
    content: bytes,
    file: str,
    floating_base: bool = False,
    without_loops: bool = False,
    angles: bool = False,
) -> Document:
    """The document of a robot in XML; `ModelError` lists everything that is wrong with it.

    The options are those of `symgen.description.documents.read_document`.
    """
    content, remarks = without_padding(content)
    root = read_xml(content, file)
    _refuse_xacro(root, file)
    with np.errstate(all="ignore"):  # what overflows is infinite then, and refused by the check
        document = _document_of(root, file, floating_base, without_loops, angles)
    warnings = (*(Fault(file, 1, "", words) for words in remarks), *document.warnings)
    return replace(document, warnings=warnings)


def _document_of(
    root: Element, file: str, floating_base: bool, without_loops: bool, angles: bool
) -> Document:
    if without_loops and root.tag != "mujoco":
        raise RequestError("--without-loops is for MJCF, whose constraints close loops")
    if root.tag == "robot":
        return document_of_urdf(root, file, floating_base, angles)
    if root.tag != "mujoco":
        found = f"found the element {shown(root.tag)}"
        raise stop(file, root.line, f"expected <robot> (URDF) or <mujoco> (MJCF), {found}")
    if floating_base:
        raise RequestError("--floating-base is for URDF; in MJCF write <freejoint/>")
    return _document_of_mjcf(root, file, without_loops, angles)


def _document_of_mjcf(root: Element, file: str, without_loops: bool, angles: bool) -> Document:
    """As MuJoCo compiles the file; read here, with a warning, where it is not there or does not."""
    if not mujoco.is_installed():
        remark = "read without MuJoCo; pip install 'symgen[mujoco]' lets it compile the file"
        return _with_warning(document_of_mjcf(root, file, without_loops, angles), root, remark)
    try:
        model = mujoco.compiled(file)
    except mujoco.NotCompiledError as error:
        refused = Fault(file, error.line, "", f"MuJoCo does not compile this file: {error}")
        if error.final:
            raise ModelError([refused]) from None
        try:
            document = document_of_mjcf(root, file, without_loops, angles)
        except ModelError as own:
            others = [fault for fault in own.faults if FLAT not in fault.message]
            raise ModelError([refused, *others]) from None
        return _with_warning(document, root, f"read without MuJoCo, which says: {error}")
    return mujoco.document_of_compiled(root, file, model, without_loops, angles)


def _with_warning(document: Document, root: Element, words: str) -> Document:
    warning = Fault(document.file, root.line, "", words)
    return replace(document, warnings=(warning, *document.warnings))


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
