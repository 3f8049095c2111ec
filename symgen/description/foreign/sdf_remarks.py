"""What of an SDF file is left out, and said so: what would move the robot otherwise, and slips.

An element or attribute that looks misspelt is named with what may be meant.
"""

from __future__ import annotations

from symgen.description.foreign.sdf_frames import Frames
from symgen.description.foreign.xml import Element, Faults
from symgen.description.wording import in_line, shown

_KNOWN = {  # elements, and the children of each that are read
    "link": ("pose", "inertial"),
    "joint": ("pose", "parent", "child", "axis", "axis2", "screw_thread_pitch", "thread_pitch"),
    "inertial": ("pose", "mass", "inertia"),
    "inertia": ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"),
    "axis": ("xyz", "limit", "dynamics", "mimic", "use_parent_model_frame"),
    "axis2": ("xyz", "limit", "dynamics", "mimic", "use_parent_model_frame"),
    "limit": ("lower", "upper", "velocity", "effort"),
    "dynamics": ("damping", "friction", "spring_stiffness", "spring_reference"),
}
_FOR_OTHERS = (
    "visual", "collision", "sensor", "light", "audio_source", "audio_sink", "battery", "projector",
    "particle_emitter", "gravity", "enable_wind", "self_collide", "kinematic", "velocity_decay",
    "must_be_base_link", "physics", "gearbox_ratio", "gearbox_reference_body", "stiffness",
    "dissipation", "initial_position", "density", "auto_inertia_params", "fluid_added_mass",
    "plugin",
)  # fmt: skip
_OFF = ("false", "0")
_ON = ("true", "1")


def remark_all(frames: Frames) -> None:
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
    for name, frame in frames.frames.items():
        if name == frames.model or name.startswith(inside):
            key = f"{frame.kind}.{frames.key(name)}"
            _remark(faults, frame.element, key)
            _warn_unknown(faults, frame.element, key)
            if frame.kind == "link":
                _remark_link(faults, frame.element, key)


def _remark(faults: Faults, element: Element, key: str) -> None:
    """Plugins, and what other programs have added to the format."""
    added: dict[str, Element] = {}
    for child in element.children:
        prefix, colon, rest = child.tag.partition(":")
        if child.tag == "plugin":
            name = child.attributes.get("name", child.attributes.get("filename", ""))
            faults.warn(child, key, f"the plugin {shown(name)} is left out; programs are not run")
        elif colon and rest == "joint":
            message = f"<{in_line(child.tag)}> is of {in_line(prefix)} alone, and is not read"
            faults.add(child, key, message)
        elif colon:
            added.setdefault(child.tag, child)
    for tag, child in added.items():
        faults.warn(child, key, f"<{in_line(tag)}> is left out")


def _remark_link(faults: Faults, link: Element, key: str) -> None:
    """What a simulator does to a link beside its mass."""
    if _says(link, "gravity", _OFF):
        faults.warn(link, key, "<gravity>false</gravity> is left out: this link is heavy here")
    if _says(link, "kinematic", _ON):
        faults.warn(link, key, "<kinematic> is left out")
    decay = link.first("velocity_decay")
    if decay is not None and any(x.text not in ("", "0", "0.0") for x in decay.children):
        faults.warn(decay, key, "<velocity_decay> is left out")
    inertial = link.first("inertial")
    if inertial is not None and inertial.first("fluid_added_mass") is not None:
        faults.warn(inertial, key, "<fluid_added_mass> is left out")


def _says(element: Element, tag: str, words: tuple[str, ...]) -> bool:
    child = element.first(tag)
    return child is not None and child.text.lower() in words


def _warn_unknown(faults: Faults, top: Element, key: str) -> None:
    """Warn of what looks like a misspelt element; all else is for others."""
    waiting = [top]
    while waiting:
        element = waiting.pop()
        known = _KNOWN.get(element.tag, ())
        for child in element.children if known else ():
            if child.tag in known or child.tag in _FOR_OTHERS or ":" in child.tag:
                waiting += [child] if child.tag in _KNOWN else []
                continue
            meant = faults.nearest(child.tag, known)
            if meant is not None:
                words = f"<{in_line(child.tag)}> is left out; did you mean <{meant}>?"
                faults.warn(child, key, words)
