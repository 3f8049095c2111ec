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
        "springs[0]: expected 'stiffness', 'damping' or both, or 'force': it does nothing else",
    spring(damping=-1): "springs[0].damping: -1 is negative; expected 0 or more",
    spring(length="-k"): "springs[0].length: -40 is negative; expected 0 or more",
    spring(between="[{link: b}, {point: hand}]"):
        "springs[0].between: both ends are on 'b', so that the spring does nothing",
    spring(between="[{link: b}]"):
        "springs[0].between: a spring has two ends [{link, point}, ..], found 1",
    spring(between="[{link: base}, {point: hnd}]"):
        "springs[0].between[1].point: 'hnd' names no point; did you mean 'hand'?",
    spring(between="[{link: upper}, {link: upper, point: hand}]"):
        "springs[0].between[1].link: the point 'hand' is on 'b'; leave 'link' out",
    spring(between="[{link: base}, {point: [0, 0, 1]}]"):
        "springs[0].between[1].link: this key is required and missing, unless 'point' is the name "
        "of one of 'points'; expected the name of a link",
    force(force=None): "forces[0]: expected 'force', 'torque' or both: it does nothing else",
    force(point=None, link="base"):
        "forces[0].link: a force on the base does nothing; name another link",
    force(let="{s: r*t, r: q.a}", force="[s, 0, 0]"):
        "forces[0].let.s: 'r' is given below; write it above what uses it",
    force(force="[qdd.a, 0, 0]"):
        "forces[0].force[0]: unknown quantity 'qdd.a'; did you mean 'qd.a'?",
    force(force="[points.hand.ax, 0, 0]"):
        "forces[0].force[0]: unknown quantity 'points.hand.ax'; there are 'x', 'y', 'z', 'vx', "
        "'vy', 'vz'",
    force(let="{k: q.a}"): "forces[0].let.k: 'k' is a parameter of this file; choose another name",
    force(let="{sin: q.a}"):
        "forces[0].let.sin: 'sin' is a function in expressions; choose another name",
    f"{spring()}\n{force(name='s')}":
        "forces[0].name: 's' is already the name of a spring or force, in line 10",
}  # fmt: skip


@pytest.mark.parametrize(("text", "report"), rows(WRONG))
def test_wrong_springs_and_forces(text, report):
    (fault,) = faults(f"{HEAD}{text}\n")
    assert fault.partition(": ")[2] == report


def test_a_spring_that_pushes_is_remarked():
    (warning,) = model(f"{HEAD}{spring(stiffness=-3)}\n{force()}\n").warnings
    assert warning.message == "negative: the spring pushes away from its length"
