"""A model with every kind of runtime parameters.

`EVERY_KIND` has a parameter in every place of a model file that takes one: derivatives by all of
them leave no term of the equations aside.  No two places that could be mistaken have the same."""

from tests.modules import described

EVERY_KIND = """
symgen: 1
name: every_kind
convention: standard
gravity: [gx, -2, gz]
parameters: {gx: 1.1, gz: -9.2, th: 0.3, d1: 0.2, a1: 0.4, al: -1.1, m1: 1.7, cx: 0.1, cz: -0.2,
  Ixx: 0.3, Ixy: 0.04, half: a1/2, md: 0.5 + m1*half, ux: 0.1, roll: 0.4, yaw: -0.7, ay: 0.6,
  rotor: 0.02, gear: 7, dm: 0.3, ks: 4, rest: 0.2, fr: 0.8, v: 0.5, px: 0.3, mt: 0.4, ct: 0.15}
joints:
  - {name: turn, type: revolute, dh: {theta: th, d: d1, a: a1, alpha: al},
     rotor_inertia: rotor, gear_ratio: gear, damping: dm, stiffness: ks, rest: rest, friction: fr,
     friction_velocity: v,
     link: {mass: m1, com: [cx, 0.1, cz], inertia: {xx: Ixx, yy: 0.4, zz: 0.5, xy: Ixy}}}
  - {name: slide, type: prismatic, dh: {theta: yaw, d: d1, a: half, alpha: 0.3}, prescribed: true,
     rotor_inertia: rotor, gear_ratio: 2, damping: dm,
     link: {mass: md, com: [0.1, cx, 0.2], inertia: {xx: 0.2, yy: 0.3, zz: Ixx}}}
  - {name: screw, type: cylindrical, origin: {xyz: [ux, 0, d1], rpy: [roll, 0.2, yaw]},
     axis: [0.2, ay, -1],
     link: {mass: 0.7, com: [ct, 0, 0.1], inertia: {xx: 0.2, yy: 0.2, zz: 0.3}}}
  - {name: fork, type: universal, parent: turn, origin: {xyz: [ux, 0, d1], rpy: [roll, 0.2, yaw]},
     prescribed: [false, true], stiffness: [ks, 1],
     link: {mass: 0.9, com: [0, ct, 0.1], inertia: {xx: 0.2, yy: 0.25, zz: 0.3, xy: Ixy}}}
  - {name: tool, type: fixed, origin: {xyz: [0, ux, 0.2], rpy: [0.1, roll, 0]},
     link: {mass: mt, com: [ct, 0, 0], inertia: {zz: 0.01, xx: 0.02, yy: 0.02}}}
  - {name: flap, type: revolute, origin: {xyz: [0.1, 0, ux]}, axis: [0.3, ay, 1], friction: fr,
     link: {mass: 0.6, com: [0.1, 0.2, cz], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
  - {name: rail, type: prismatic, parent: base, origin: {xyz: [ux, 0, 0], rpy: [0, yaw, 0]},
     axis: [0, ay, 1], prescribed: true, link: {mass: m1}}
  - {name: pendulum, type: revolute, convention: modified, dh: {a: half, d: ct, alpha: al},
     link: {mass: mt, com: [0, cx, -0.3], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
loads:
  - {name: push, link: tool, point: [px, 0, 0.1]}
  - {name: wind, link: turn, point: [0, half, 0.1]}
  - {name: blow, link: pendulum, point: [0, 0, px]}
  - {name: ground, link: base, point: [0, 0, 0]}
points:
  - {name: tip, link: tool, point: [px, 0.1, 0.2]}
  - {name: mark, link: pendulum, point: [half, px, 0]}
"""


def every_kind():
    """The model with every kind of parameters, and all that may vary."""
    description = described(EVERY_KIND)
    return description, description.independent_parameters
