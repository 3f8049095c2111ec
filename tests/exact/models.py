"""Robots for the exact check: every function has a meaning for them."""

from __future__ import annotations

from dataclasses import replace

from tests.modules import described


def complete(text):
    """The model of `text` with outputs of every kind of quantity, every second joint prescribed.

    It has two coordinates, a load and a point at least."""
    plain = described(text)
    first, second, *_ = (name for joint in plain.joints for name in joint.coordinate_names)
    point, load = f"points.{plain.points[0].name}", f"loads.{plain.loads[0].name}"
    wrench = f"wrenches.{second}"
    outputs = {
        "reach": f"sqrt({point}.x**2 + {point}.y**2 + 2.5)",
        "speed": f"{point}.vx * {point}.vz / (kinetic_energy + t**2 + 1.5)",
        "shock": f"{point}.ay * qdd.{first} + center_of_mass.z * qd.{second}",
        "work": f"sin(q.{second} - pi/2) * tau.{first} + potential_energy * {load}.fz",
        "strain": f"half * {wrench}.nx + k * {wrench}.fy + atan2(tau.{second}, q.{first})",
    }
    lines = [f"  {name}: {expression}" for name, expression in outputs.items()]
    whole = described("\n".join([text.rstrip(), "outputs:", *lines, ""]))
    numbers = iter(range(sum(joint.coordinates for joint in whole.joints)))
    joints = tuple(
        replace(joint, prescribed=tuple(next(numbers) % 2 == 1 for _ in joint.prescribed))
        for joint in whole.joints
    )
    return replace(whole, joints=joints)
