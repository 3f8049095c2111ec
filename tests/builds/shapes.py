"""Shapes of robots, as model files: where links are fixed, how many roots, how few joints.

Every link that moves has a mass unless the shape is about one that has none.
"""

_LINK = "link: {mass: 1.2, com: [0.1, 0.02, -0.03], inertia: {xx: 0.02, yy: 0.03, zz: 0.04}}"
_ORIGIN = "origin: {xyz: [0.1, 0, 0.2], rpy: [0.3, 0, 0]}"
_HINGE = f"type: revolute, {_ORIGIN}, axis: [0, 1, 0], {_LINK}"
_POST = "type: fixed, origin: {xyz: [0, 0.1, 1], rpy: [0, 0.2, 0.1]}"

SHAPES: dict[str, tuple[str, ...]] = {
    "one_joint": (f"name: a, {_HINGE}",),
    "one_slider": (f"name: a, type: prismatic, origin: {{}}, axis: [1, 0, 1], {_LINK}",),
    "fixed_at_the_base": (f"name: post, {_POST}", f"name: a, {_HINGE}", f"name: b, {_HINGE}"),
    "two_fixed_at_the_base": (
        f"name: world, {_POST}", f"name: post, {_POST}, parent: world, {_LINK}",
        f"name: a, {_HINGE}",
    ),
    "world_with_inertia": (
        f"name: world, {_POST}, {_LINK}", f"name: a, {_HINGE}, parent: world",
    ),
    "fixed_in_the_middle": (
        f"name: a, {_HINGE}", f"name: flange, {_POST}, {_LINK}", f"name: b, {_HINGE}",
    ),
    "fixed_at_the_tip": (f"name: a, {_HINGE}", f"name: tool, {_POST}, {_LINK}"),
    "post_between_joints_in_the_list": (
        f"name: a, {_HINGE}", f"name: post, {_POST}, parent: base",
        f"name: b, {_HINGE}, parent: post",
    ),
    "massless_frames": (
        f"name: a, {_HINGE}", f"name: frame, {_POST}", f"name: marker, {_POST}, parent: frame",
    ),
    "massless_link_that_moves": (
        "name: a, type: revolute, origin: {}, axis: [0, 0, 1]", f"name: b, {_HINGE}",
    ),
    "several_roots": (
        f"name: a, {_HINGE}", f"name: post, {_POST}, parent: base",
        f"name: b, {_HINGE}, parent: post", f"name: c, {_HINGE}, parent: base",
    ),
    "only_fixed_joints": (f"name: post, {_POST}, {_LINK}", f"name: plate, {_POST}, {_LINK}"),
    "forces_on_fixed_links": (f"name: post, {_POST}, {_LINK}", f"name: plate, {_POST}, {_LINK}"),
    "loop_of_fixed_links": (
        f"name: post, {_POST}, {_LINK}", f"name: plate, {_POST}, parent: base, {_LINK}",
    ),
    "free_body_on_a_post": (
        f"name: post, {_POST}", f"name: body, type: floating, origin: {{}}, {_LINK}",
    ),
}  # fmt: skip

BESIDE_JOINTS = {
    "forces_on_fixed_links": """points: [{name: tip, link: plate, point: [0.1, 0.2, 0.3]}]
loads: [{name: hand, link: plate}]
springs:
  - {name: s, between: [{link: base}, {link: plate}], stiffness: 20, damping: 2, length: 0.3}
forces: [{name: f, link: post, force: [1, 0, t], torque: [0, points.tip.x, 0]}]
outputs: {height: points.tip.z}
""",
    "loop_of_fixed_links": """loops:
  - {name: weld, type: fixed, first: {link: post}, second: {link: plate}}
  - {name: rod, type: distance, first: {link: base}, second: {link: plate}, length: sqrt(1.01)}
""",
}
"""What else the model file of a shape has."""


def model(name: str) -> str:
    joints = "".join(f"  - {{{joint}}}\n" for joint in SHAPES[name])
    return f"symgen: 1\nname: {name}\njoints:\n{joints}{BESIDE_JOINTS.get(name, '')}"
