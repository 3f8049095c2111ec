"""Words that beginners use in place of keys of the model file, and the keys that they mean.

Nothing here is accepted in a file: it only tells messages which word to propose where spelling
alone would not find it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

KEYS: Mapping[str, str] = {
    "\u03b8": "theta", "\u03d1": "theta", "\u03b1": "alpha",
    "yx": "xy", "zx": "xz", "zy": "yz",
    "cog": "com", "cm": "com", "center_of_mass": "com", "centre_of_mass": "com",
    "inertial": "inertia", "moment_of_inertia": "inertia", "weight": "mass",
    "child": "link", "min": "lower", "max": "upper", "rotation": "rpy", "position": "xyz",
}  # fmt: skip
"""Keys of other conventions -> keys of the format; only those that the mapping takes count."""

ADVICE: Mapping[str, str] = {
    "links": "a link stands in the joint that carries it: 'link: {name, mass, com, inertia}'",
    "child": "a joint carries its own link: 'link: {name: ..}'",
}
"""Keys for which a word alone would not do."""

_TURNS = (
    "rotational", "rotation", "rotary", "rotating", "revolving", "hinge", "pin", "turn", "angular",
    "r", "rev", "rot",
)  # fmt: skip
_SLIDES = (
    "linear", "translational", "translation", "sliding", "slide", "slider", "p", "t",
    "prism", "trans",
)  # fmt: skip
JOINT_TYPES: Mapping[str, str] = {
    **dict.fromkeys(_TURNS, "revolute"),
    **dict.fromkeys(_SLIDES, "prismatic"),
    "continuous": "revolute without limits",
    "ball": "spherical",
    "cardan": "universal",
    "free": "floating",
    "weld": "fixed",
    "rigid": "fixed",
}
"""Types of joints in other words, in small letters."""

OF_MUJOCO: Mapping[str, str] = {
    "revolute": "hinge", "continuous": "hinge", "rotational": "hinge", "prismatic": "slide",
    "linear": "slide", "spherical": "ball", "floating": "free",
}  # fmt: skip
"""Types of joints in the words of URDF -> those of MJCF."""


def known_key(key: str, known: Collection[str]) -> str | None:
    """The key of `known` that stands for `key`, in another convention or in capitals."""
    meant = KEYS.get(key, KEYS.get(key.lower()))
    return meant if meant in known else None
