"""Remarks on an SDF file: other models, and entries that act but are left out (`sdf_format`)."""

from __future__ import annotations

from symgen.description.foreign.entries import remark
from symgen.description.foreign.sdf_format import SDF
from symgen.description.foreign.sdf_frames import Frames
from symgen.description.foreign.xml import Element, Faults
from symgen.description.wording import in_line, shown

_APART = ("world", "model", "link", "joint", "frame", "include")
"""Elements that the walk meets one by one, for only those of the robot count."""


def remark_all(frames: Frames, root: Element) -> None:
    """Warnings about the robot, and about what stands around it."""
    faults, world = frames.files.faults, frames.world
    if frames.others:
        names = ", ".join(map(shown, frames.others[:8]))
        more = ", ..." if len(frames.others) > 8 else ""
        word = "model" if len(frames.others) == 1 else "models"
        robot = frames.frames[frames.model].element
        words = f"left out: {word} {names}{more}; the robot is {shown(frames.model)}"
        faults.warn(robot, "", words)
    for joint in world.all("joint") if world is not None else ():
        message = "joints of a world are not read; put the models into one"
        faults.add(joint, "world", message)
    inside = f"{frames.model}::"
    tops = [(root, "sdf", "sdf")]
    for name, frame in frames.frames.items():
        if name == frames.model or name.startswith(inside):
            key = f"{frame.kind}.{frames.key(name)}"
            tops.append((frame.element, frame.element.tag, key))
            if name in frames.includes:
                tops.append((frames.includes[name], "include", key))
            _refuse_added_joints(faults, frame.element, key)
    remark(SDF, tops, faults, _APART)
    if world is not None:
        remark(SDF, [(world, "world", "world")], faults, _APART)


def _refuse_added_joints(faults: Faults, element: Element, key: str) -> None:
    """Joints that other programs have added to the format."""
    for child in element.children:
        prefix, colon, rest = child.tag.partition(":")
        if colon and rest == "joint":
            message = f"<{in_line(child.tag)}> is of {in_line(prefix)} alone, and is not read"
            faults.add(child, key, message)
