"""Families of robots with any number of joints, for measurements of growth.

All numbers are fixed, and general, so that no terms fold: no DH entry, mass or entry of an inertia
of a serial chain is 0, no angle a right angle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sin

from symgen.description import RobotDescription
from symgen.description.checks import check
from symgen.description.reading import decode
from symgen.errors import RequestError
from symgen.support.suggestions import suggestion

MOST_JOINTS = 100
"""Largest number of joints of a derived member."""


def serial(joints: int) -> str:
    """Return a chain of revolute joints in space, general in every entry."""
    return _chain("serial", joints, _spatial_joint)


def planar(joints: int) -> str:
    """Return a chain of parallel revolute joints in a vertical plane, as in textbooks."""
    return _chain("planar", joints, _planar_joint, gravity="[0, -9.81, 0]")


def _chain(
    name: str, joints: int, joint: Callable[[int], str], gravity: str = "[0, 0, -9.81]"
) -> str:
    head = f"symgen: 1\nname: {name}{joints}\nconvention: standard\ngravity: {gravity}\njoints:\n"
    return head + "".join(joint(i) for i in range(1, joints + 1))


def _number(center: float, i: int, k: int) -> float:
    """Return a number near `center`, different for every joint i and entry k."""
    return round(center * (1.0 + 0.3 * sin(7.0 * i + 3.0 * k)), 4)


def _spatial_joint(i: int) -> str:
    a, d, alpha = _number(0.3, i, 1), _number(0.1, i, 2), _number(0.9 if i % 2 else -0.9, i, 3)
    com = ", ".join(str(_number(0.05, i, k)) for k in (4, 5, 6))
    moments = [_number(0.02, i, k) for k in (7, 8, 9)]
    products = [_number(0.001, i, k) for k in (10, 11, 12)]
    names = ("xx", "yy", "zz", "xy", "xz", "yz")
    inertia = ", ".join(f"{n}: {x}" for n, x in zip(names, moments + products, strict=True))
    return (
        f"  - name: j{i}\n    type: revolute\n"
        f"    dh: {{theta: 0.1, d: {d}, a: {a}, alpha: {alpha}}}\n"
        f"    link: {{mass: {_number(1.5, i, 0)}, com: [{com}], inertia: {{{inertia}}}}}\n"
    )


def _planar_joint(i: int) -> str:
    mass, length = _number(1.5, i, 0), _number(0.3, i, 1)
    moment = round(mass * length**2 / 12, 6)
    return (
        f"  - name: j{i}\n    type: revolute\n    dh: {{theta: 0, d: 0, a: {length}, alpha: 0}}\n"
        f"    link: {{mass: {mass}, com: [{round(-length / 2, 5)}, 0, 0], "
        f"inertia: {{yy: {moment}, zz: {moment}}}}}\n"
    )


FAMILIES: Mapping[str, Callable[[int], str]] = {"serial": serial, "planar": planar}


def check_size(joints: int) -> None:
    """Raise `RequestError` for a number of joints out of range."""
    if not 1 <= joints <= MOST_JOINTS:
        raise RequestError(f"--joints: expected 1 to {MOST_JOINTS}, found {joints}")


def member(family: str, joints: int) -> RobotDescription:
    """Return the robot of a family with so many joints."""
    if family not in FAMILIES:
        raise RequestError(f"there is no family {family!r}; {suggestion(family, FAMILIES)}")
    check_size(joints)
    text = FAMILIES[family](joints)
    return check(decode(text.encode(), f"{family}{joints}"))
