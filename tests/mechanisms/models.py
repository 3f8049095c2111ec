"""Mechanisms of these tests, and the same robots as trees: one joint is cut, or is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from tests.modules import module

SEAT = {"xyz": [0.4, 0.1, -0.2], "rpy": [0.3, -0.7, 0.5]}
AXIS = {"axis": [0.3, -0.5, 0.8]}
KINDS: Mapping[str, Mapping[str, Any]] = {
    "revolute": AXIS, "prismatic": AXIS, "cylindrical": AXIS, "planar": AXIS, "fixed": {},
    "spherical": {}, "universal": {},
}  # fmt: skip
"""By type: the keys of a joint; a loop takes the same in both frames."""


def body(name: str, mass: float) -> dict[str, Any]:
    """A link."""
    inertia = {"xx": 0.3, "yy": 0.4, "zz": 0.5, "xy": 0.02, "xz": -0.03, "yz": 0.01}
    return {"name": name, "mass": mass, "com": [0.1, -0.2, 0.15], "inertia": inertia}


def model(name: str, joints: Sequence[Mapping[str, Any]], **more: Any) -> str:
    """The text of a model file."""
    return yaml.safe_dump({"symgen": 1, "name": name, "joints": list(joints), **more})


CLOSED = (
    "constraints", "constraint_jacobian", "constraint_rates", "constraint_bias", "mass_matrix",
    "bias_forces",
)  # fmt: skip
"""Functions of a mechanism that accelerations and simulations without sensitivities call."""
BY_STATE = (
    *CLOSED, "inverse_dynamics_derivatives", "constraint_torque_derivatives",
    "constraint_rate_derivatives", "constraint_acceleration_derivatives",
)  # fmt: skip
"""The same with derivatives by the state."""
BY_PARAMETERS = (
    *BY_STATE,
    *(
        f"{name}_parameter_derivatives"
        for name in (
            "constraints", "constraint_rates", "constraint_acceleration", "constraint_torque",
            "inverse_dynamics",
        )
    ),
)  # fmt: skip
"""The same with derivatives by runtime parameters."""


def loaded(text: str, functions: Sequence[str] = CLOSED, **options: Any) -> Any:
    """The module of a model text, with the wrenches of its loops if it has any."""
    wrenches = ["loop_wrenches"] if "\nloops:" in text else []
    return module(text, functions=[*functions, *wrenches], **options)


@dataclass(frozen=True)
class Pair:
    """The same robot with a joint and with a loop of that type in its place."""

    tree: Any
    mechanism: Any


OF_FRAMES = ("forward_kinematics", "jacobians", "link_motion")
OF_LOOPS = (*CLOSED, *OF_FRAMES)


def pair(kind: str) -> Pair:
    """A joint of this type between the arm and the hand, or a hand that floats, and a loop."""
    keys = KINDS[kind]
    arm = {
        "name": "shoulder", "type": "revolute", "origin": {"rpy": [0.2, 0.1, 0]}, "damping": 0.3,
        "link": body("arm", 1.5),
    }  # fmt: skip
    hand = {"name": "wrist", "origin": SEAT, "type": kind, "link": body("hand", 0.8), **keys}
    free = {"name": "wrist", "parent": "base", "origin": {}, "type": "floating",
            "link": body("hand", 0.8)}  # fmt: skip
    ends = [{"link": "arm", "origin": SEAT, **keys}, {"link": "hand", **keys}]
    if kind == "universal":  # its axes are x of the arm and y of the hand
        ends[0]["axis"], ends[1]["axis"] = [1, 0, 0], [0, 1, 0]
    seam = {"name": "seam", "type": kind, "first": ends[0], "second": ends[1]}
    gravity = [1.0, -9.81, 2.0]
    tree = ("forward_dynamics", "inverse_dynamics", "joint_wrenches", *OF_FRAMES)
    return Pair(
        loaded(model("open", [arm, hand], gravity=gravity), tree),
        loaded(model("closed", [arm, free], gravity=gravity, loops=[seam]), OF_LOOPS),
    )


FOUR_BAR = """
symgen: 1
name: four_bar
gravity: [0, -9.81, 0]
parameters: {L: 1.0, d: 2.0}
joints:
  - {name: crank, type: revolute, origin: {},
     link: {name: bar1, mass: 1, com: [L/2, 0, 0], inertia: {zz: 1/12}}}
  - {name: coupler, type: revolute, actuated: false, origin: {xyz: [L, 0, 0]},
     link: {name: bar2, mass: 2, com: [1, 0, 0], inertia: {zz: 2/3}}}
  - {name: rocker, parent: base, type: revolute, actuated: false, origin: {xyz: [d, 0, 0]},
     link: {name: bar3, mass: 1.5, com: [0.75, 0, 0], inertia: {zz: 9/32}}}
points:
  - {name: tip, link: bar1, point: [L, 0, 0]}
loops:
  - {name: pin, type: revolute, first: {link: bar2, origin: {xyz: [2, 0, 0]}},
     second: {link: bar3, origin: {xyz: [1.5, 0, 0]}}}
initial: {q: {crank: 60*deg, coupler: -40*deg, rocker: 70*deg}, qd: {crank: 1}}
"""

ROD = """
symgen: 1
name: rod
joints:
  - {name: crank, type: revolute, origin: {}, link: {mass: 1, com: [0.5, 0, 0], inertia: {zz: 0.1}}}
  - {name: slider, parent: base, type: prismatic, axis: [1, 0, 0], actuated: false, origin: {},
     link: {mass: 2}}
initial: {q: {crank: 0.3, slider: 1.6}}
relations: {rod: RELATION}
"""


def held_text(coordinates: str, **more: Any) -> str:
    """A trunk that is welded to the base, an arm, a hand on a ball, held by a rod."""
    turning = {"coordinates": coordinates}
    damped = {"damping": 0.1} if coordinates == "quaternion" else {}
    joints = [
        {"name": "root", "type": "floating", **turning, **damped, "link": body("trunk", 2.0),
         "origin": {"xyz": [0.1, 0.2, 0.3], "rpy": [0.2, 0.1, 0.4]}},
        {"name": "shoulder", "type": "revolute", "axis": [0, 1, 0],
         "origin": {"xyz": [0.3, 0, 0.1]}, "link": body("arm", 1.5)},
        {"name": "wrist", "type": "spherical", **turning, "origin": SEAT,
         "link": body("hand", 0.8)},
    ]  # fmt: skip
    loops = [
        {"name": "seam", "type": "fixed", "first": {"link": "base", "origin": SEAT},
         "second": {"link": "trunk", "origin": {"rpy": [0.1, 0.2, 0.3]}}},
        {"name": "rod", "type": "distance", "length": 0.5,
         "first": {"link": "base", "origin": {"xyz": [1, 0, 0]}},
         "second": {"link": "hand", "origin": {"xyz": [0, 0.1, "w/10"]}}},
    ]  # fmt: skip
    return model(
        f"held_{coordinates}", joints, gravity=[1.0, -9.81, 2.0], loops=loops,
        parameters={"w": 3.0}, points=[{"name": "P", "link": "hand", "point": [0.1, 0.2, 0.3]}],
        relations={"track": "points.P.x - sin(t)*w/3 - q.shoulder**2"}, **more,
    )  # fmt: skip
