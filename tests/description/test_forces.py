"""Springs and forces in model files: what is read, and what is refused with which words."""

import pytest

from tests.description.reports import faults, model, rows

HEAD = """
symgen: 1
name: arm
parameters: {k: 40, cd: 0.5}
joints:
  - {name: a, type: revolute, origin: {}, link: {name: upper, mass: 1, inertia: {}}}
  - {name: b, type: revolute, origin: {}, link: {mass: 1, inertia: {}}}
points:
  - {name: hand, link: b, point: [0.1, 0, k/100]}
"""


def row(section, defaults, changed):
    """A section with one entry, whose keys of None are left out."""
    keys = {key: value for key, value in (defaults | changed).items() if value is not None}
    return f"{section}: [{{{', '.join(f'{key}: {value}' for key, value in keys.items())}}}]"


def spring(**changed):
    ends = "[{link: base}, {point: hand}]"
    return row("springs", {"name": "s", "between": ends, "stiffness": "k"}, changed)


def force(**changed):
    drag = "[0, 0, -cd*points.hand.vz]"
    return row("forces", {"name": "f", "point": "hand", "force": drag}, changed)


def law(**changed):
    return spring(**{"stiffness": None, "length": 0.5, "force": "k*x"} | changed)


TYRE = {
    "name": "t", "type": "tyre", "wheel": "b", "radius": 0.5, "width": 0.2,
    "normal": "{stiffness: [k]}", "slip": "{longitudinal: 9, lateral: 9, friction: [1, cd]}",
}  # fmt: skip


def tyre(**changed):
    return row("forces", TYRE, changed)


def test_tyres_and_laws_that_are_read():
    text = f"{HEAD}{law(energy='k*x*x/2')}\n{tyre(point='[0, 0.1, 0]', ground='0.1*x + t')}\n"
    robot = model(f"{text}outputs: {{n: tyres.t.fn}}\n")
    (found,), (push,) = robot.springs, robot.forces
    assert (found.type, found.energy.text, push.type, robot.is_timed) == (
        "spring", "k*x*x/2", "tyre", True,
    )  # fmt: skip
    assert (push.at.link, push.wheel.joint, push.wheel.radius.text) == ("b", "b", "0.5")
    types = [model(f"{HEAD}{law(force=x)}\n").springs[0].type for x in ("k*x", "k*x + v")]
    assert types == ["spring_law", "spring_law"]


def test_what_is_read():
    robot = model(f"{HEAD}{spring(damping='2*cd', length=0.3)}\n{force(let='{v: qd.a*q.b}')}\n")
    (found,), (push,) = robot.springs, robot.forces
    assert [(end.link, end.name) for end in found.ends] == [("base", ""), ("b", "hand")]
    assert found.ends[1].point == robot.points[0].point
    numbers = (found.stiffness, found.damping, found.length)
    assert [number.text for number in numbers] == ["k", "2*cd", "0.3"]
    assert (push.at.link, push.let[0][0], push.torque[0].text) == ("b", "v", "0")
    assert push.names == ("qd.a", "q.b", "cd", "points.hand.vz")


WRONG = {
    spring(stiffness=None):
        "springs.s: expected 'stiffness', 'damping' or both, or 'force': it does nothing else",
    spring(damping=-1): "springs.s.damping: -1 is negative; expected 0 or more",
    spring(length="-k"): "springs.s.length: -40 is negative; expected 0 or more",
    spring(between="[{link: b}, {point: hand}]"):
        "springs.s.between: both ends are on 'b', so that the spring does nothing",
    spring(between="[{link: b}]"):
        "springs.s.between: a spring has two ends [{link, point}, ..], found 1",
    spring(between="[{link: base}, {point: hnd}]"):
        "springs.s.between[2].point: 'hnd' names no point; did you mean 'hand'?",
    spring(between="[{link: upper}, {link: upper, point: hand}]"):
        "springs.s.between[2].link: the point 'hand' is on 'b'; leave 'link' out",
    spring(between="[{link: base}, {point: [0, 0, 1]}]"):
        "springs.s.between[2].link: this key is required and missing, unless 'point' is the name "
        "of one of 'points'; expected the name of a link",
    force(force=None): "forces.f: expected 'force', 'torque' or both: it does nothing else",
    force(point=None, link="base"):
        "forces.f.link: a force on the base does nothing; name another link",
    force(let="{s: r*t, r: q.a}", force="[s, 0, 0]"):
        "forces.f.let.s: 'r' is given below; write it above what uses it",
    force(force="[qdd.a, 0, 0]"):
        "forces.f.force[1]: unknown quantity 'qdd.a'; did you mean 'qd.a'?",
    force(force="[points.hand.ax, 0, 0]"):
        "forces.f.force[1]: unknown quantity 'points.hand.ax'; there are 'x', 'y', 'z', 'vx', "
        "'vy', 'vz'",
    force(let="{k: q.a}"): "forces.f.let.k: 'k' is a parameter of this file; choose another name",
    force(let="{sin: q.a}"):
        "forces.f.let.sin: 'sin' is a function in expressions; choose another name",
    f"{spring()}\n{force(name='s')}":
        "forces[1].name: 's' is already the name of a spring or force, in line 10",
    law(stiffness=1): "springs.s.stiffness: 'force' replaces it; write it in that expression",
    law(force=None, damping=1, energy="x"):
        "springs.s.energy: it is that of 'force', which is missing; leave it out",
    law(force="k*y"):
        "springs.s.force: unknown name 'y'; expected a parameter of this file, x, l, v",
    law(force="k*q.a"): "springs.s.force: 'k*q.a': unexpected character '.'; names have no dots "
        "(column 4 of the expression)",
    law(energy="k*x*v"):
        "springs.s.energy: unknown name 'v'; expected a parameter of this file, x, l",
    law(energy="k*x**2"): "springs.s.energy: its slope at x = -0.365 is -29.2 N, and 'force' at "
        "rest -14.6 N; expected the integral of 'force' at v = 0",
    law(force="x/0"): "springs.s.force: 'x/0': division by zero",
    force(radius=1): "forces.f.radius: this key is that of a tyre; write 'type: tyre'",
    force(type="tire"): "forces.f.type: expected force or tyre, found the text 'tire'; did you "
        "mean 'tyre'?",
    tyre(link="b"): "forces.t.link: this key is that of a force; leave it out",
    tyre(slip=None): "forces.t.slip: this key is required and missing for a tyre; expected its "
        "slip forces: {longitudinal, lateral, friction: [..]}",
    tyre(wheel="bb"): "forces.t.wheel: 'bb' names no joint; did you mean 'b'?",
    tyre(wheel="upper"): "forces.t.wheel: 'upper' names no joint; expected the name of a revolute "
        "joint",
    tyre(point="hand"): "forces.t.point: expected the centre in the frame of the wheel's link, "
        "[x, y, z], found 'hand'",
    tyre(radius=0): "forces.t.radius: 0 is not allowed here; expected a positive number",
    tyre(normal="{stiffness: []}"): "forces.t.normal.stiffness: expected a list of numbers "
        "[a, b, ..], found an empty list",
    tyre(normal=f"{{stiffness: [{'1, ' * 8} 2]}}"):
        "forces.t.normal.stiffness: expected at most 8 coefficients, found 9",
    tyre(normal="{stiffness: [k, -1]}"):
        "forces.t.normal.stiffness[2]: -1 is not allowed here; expected 0 or more",
    tyre(slip="{longitudinal: 9, lateral: 9, friction: [cd, 1]}"): "forces.t.slip.friction: "
        "expected two numbers, 0 < second <= first, found [0.5, 1]",
    tyre(slip="{lateral: 9, friction: [1, 1]}"): "forces.t.slip.longitudinal: this key is "
        "required and missing; expected stiffness by longitudinal slip in N (CSLIP)",
    tyre(rolling="-cd"): "forces.t.rolling: -0.5 is not allowed here; expected 0 or more",
    tyre(wheel=None): "forces.t.wheel: this key is required and missing for a tyre; expected the "
        "name of the revolute joint of a tyre; its axis points left",
    tyre(width=None): "forces.t.width: this key is required and missing for a tyre; expected "
        "width of a tyre in m",
    tyre(width="-cd"): "forces.t.width: -0.5 is not allowed here; expected a positive number",
    tyre(normal="{stiffness: k}"): "forces.t.normal.stiffness: expected a list of numbers "
        "[a, b, ..], found the text 'k'",
    tyre(normal="{stiffness: [k], damping: -1}"):
        "forces.t.normal.damping: -1 is not allowed here; expected 0 or more",
    tyre(slip="{longitudinal: 9, lateral: 0, friction: [1, 1]}"):
        "forces.t.slip.lateral: 0 is not allowed here; expected a positive number",
    tyre(slip="{longitudinal: 9, lateral: 9, friction: 0.9}"): "forces.t.slip.friction: expected "
        "a list of numbers [a, b, ..], found the number '0.9'",
    tyre(friction="0.9"): "forces.t.friction: unknown key here; it belongs in 'slip'",
    tyre(ground="0.1*q.a"): "forces.t.ground: '0.1*q.a': unexpected character '.'; names have no "
        "dots (column 6 of the expression)",
    law(force="k*x + t"):
        "springs.s.force: unknown name 't'; expected a parameter of this file, x, l, v",
    law(force="k*(x > 0)"): "springs.s.force: 'k*(x > 0)': unexpected character '>'; there are no "
        "comparisons; write max, min, abs, sign or tanh (column 6 of the expression)",
    law(damping=3): "springs.s.damping: 'force' replaces it; write it in that expression",
    tyre(ground="z"): "forces.t.ground: unknown name 'z'; expected a parameter of this file, x, "
        "y, t",
    f"{tyre()}\noutputs: {{n: tyres.t.fz}}": "outputs.n: unknown quantity 'tyres.t.fz'; there are "
        "'fn', 'fx', 'fy', 'mz', 'my', 'depth', 'kappa', 'tan_alpha'",
}  # fmt: skip


@pytest.mark.parametrize(("text", "report"), rows(WRONG))
def test_wrong_springs_and_forces(text, report):
    (fault,) = faults(f"{HEAD}{text}\n")
    assert fault.partition(": ")[2] == report


def test_a_spring_that_pushes_is_remarked():
    (warning,) = model(f"{HEAD}{spring(stiffness=-3)}\n{force()}\n").warnings
    assert warning.message == "negative: the spring pushes away from its length"


def test_a_variable_is_no_parameter():
    (fault,) = faults(f"{HEAD.replace('k: 40', 'k: 40, x: 1')}{law(force='k*x')}\n")
    assert fault.endswith("'x' is a variable here and a parameter of this file; rename that")


def test_a_wheel_turns_about_a_revolute_joint():
    head = HEAD.replace("name: b, type: revolute", "name: b, type: prismatic")
    (fault,) = faults(f"{head}{tyre()}\n")
    assert fault.endswith("'b' is prismatic; a wheel turns about a revolute joint")
