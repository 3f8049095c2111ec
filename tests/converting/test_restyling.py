"""The same robot by standard DH, modified DH, or origin and axis."""

from pathlib import Path

import numpy as np
import pytest

from symgen.cli import run
from symgen.converting.conversion import model_text
from symgen.converting.restyling import STYLES, layout, placed, restyled
from symgen.description import read
from symgen.description.checks import check, read_document
from symgen.description.expressions import evaluate
from symgen.description.reading import decode
from symgen.errors import RequestError
from symgen.formulations import formulation_named
from symgen.program.interpreter import call
from tests.choosing import one_in, some_slow
from tests.oracles.comparison import agrees, evaluated, state_of
from tests.oracles.random_models import COMPOSITE, Recipe, seeded_model_text

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
FOLLOWING = Path(__file__).parents[1] / "contract" / "robots" / "mimic_chain.yaml"
NEWTON_EULER = formulation_named("newton_euler")
MIXED = Recipe(
    joints=(1, 7), types=("revolute", "prismatic", "fixed", *COMPOSITE), loads=(0, 3), points=(1, 3)
)

SPRUNG = """
symgen: 1
name: arm
gravity: [0, -9.81, 0]
parameters: {k: 40}
joints:
  - {name: a, type: revolute, origin: {xyz: [0, 0, 0.3]}, axis: [0, 1, 0],
     link: {mass: 1, com: [0.2, 0, 0.1], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
  - {name: b, type: revolute, origin: {xyz: [0.5, 0.1, 0.1]}, axis: [0, 0.6, 0.8],
     link: {mass: 2, com: [0.1, 0.1, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
points:
  - {name: hand, link: b, point: [0.1, 0.2, 0.3]}
springs:
  - {name: s, between: [{link: a, point: [0.1, k/100, 0]}, {point: hand}], stiffness: k}
  - {name: t, between: [{link: base}, {link: b, point: [0, 0.3, 0]}], stiffness: 9, damping: 1}
forces:
  - {name: f, link: b, point: [0.3, 0, 0.1], force: [-points.hand.vx, q.a, 0], torque: [0, qd.b, 0]}
  - {name: w, type: tyre, wheel: b, point: [0.1, 0.2, 0], radius: 0.5, width: 0.1, ground: 0.1*x,
     normal: {stiffness: [k]}, slip: {longitudinal: 9, lateral: 9, friction: [1, 1]}}
"""


def compare(document, style, limit=1e-11):
    """Torques with loads, motion of points, poses of links; the new document, read again."""
    old = check(document)
    changed, error = restyled(document, style)
    new = check(decode(model_text(changed).encode(), "restyled.yaml"))
    assert error < 1e-13
    state = state_of(old, 4)
    functions = ["inverse_dynamics", "potential_energy", *(["point_motion"] if old.points else [])]
    for function in functions:
        one, other = (call(evaluated(x, NEWTON_EULER, function), state) for x in (old, new))
        assert all(agrees(x, y, limit) for x, y in zip(other, one, strict=True)), function
    return old, new


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "path",
    [FOLLOWING, *some_slow(EXAMPLES, [x for x in EXAMPLES if x.stem in ("puma560", "two_link")])],
    ids=lambda p: p.stem,
)
def test_examples_in_every_style(path, style):
    old, new = compare(read_document(path), style)
    assert [joint.mimic for joint in old.joints] == [joint.mimic for joint in new.joints]


@pytest.mark.parametrize("style", STYLES)
def test_points_of_springs_and_forces_stay_where_they_are(style):
    compare(decode(SPRUNG.encode(), "arm.yaml"), style)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("seed", one_in(12, range(25)))
def test_random_trees_in_every_style(seed, style):
    text = seeded_model_text(seed, MIXED)
    old, new = compare(decode(text.encode(), "random.yaml"), style)
    for joint in new.joints:
        moves = joint.type in ("revolute", "prismatic")
        assert (joint.dh is not None) == (moves and style != "origin")
    assert [x.name for x in old.joints] == [x.name for x in new.joints]
    assert [x.terms for x in old.joints] == [x.terms for x in new.joints]


@pytest.mark.parametrize("style", ["standard", "modified"])
def test_a_serial_chain_needs_no_transform_ahead_of_its_rows_but_at_the_base(style):
    joints = "".join(
        f"\n  - {{name: j{k}, type: revolute, origin: {{xyz: [1, {k}, 2], rpy: [3, {k}, 1]}}, "
        f"axis: [1, {k}, 0.5], link: {{mass: 1}}}}"
        for k in range(5)
    )
    document = decode(f"symgen: 1\nname: a\njoints:{joints}".encode(), "a.yaml")
    _, new = compare(document, style)
    assert [joint.before is None for joint in new.joints] == [False, True, True, True, True]


@pytest.mark.parametrize("style", ["standard", "modified"])
@pytest.mark.parametrize("tilt", ["1e-3", "1e-7", "1e-9", "1e-13", "1e-16"])
@pytest.mark.parametrize("offset", ["0", "0.3"])
def test_axes_that_are_nearly_parallel(tilt, offset, style):
    """Their common normal may be light years away; then it is left out."""
    xyz, link = f"xyz: [0.2, {offset}, 0.1]", "link: {mass: 1, com: [0.1, 0, 0]}"
    text = (
        "symgen: 1\nname: a\njoints:\n"
        f"  - {{name: j0, type: revolute, origin: {{}}, {link}}}\n"
        f"  - {{name: j1, type: revolute, origin: {{{xyz}, rpy: [{tilt}, 0, 0]}}, {link}}}\n"
        f"  - {{name: j2, type: revolute, origin: {{{xyz}}}, {link}}}\n"
    )
    document = decode(text.encode(), "a.yaml")
    _, error = restyled(document, style)
    assert error < 2e-13


def test_rows_stay_what_they_are():
    """A robot that is in that style already, up to the free choice at its end."""
    robot = read(next(x for x in EXAMPLES if x.stem == "puma560"))
    joints = placed(robot)
    style = joints[0].joint.dh.convention
    for item, row in list(zip(joints, layout(joints, style).rows, strict=True))[:-1]:
        _, _, a, alpha = row.dh
        dh, values = item.joint.dh, robot.parameter_values
        assert abs(a) == pytest.approx(abs(evaluate(dh.a, values)), abs=1e-12)
        sine = np.sin(evaluate(dh.alpha, values))
        assert abs(np.sin(alpha)) == pytest.approx(abs(sine), abs=1e-12)


def test_what_does_not_move_keeps_its_expressions(folder, capfd):
    text = "symgen: 1\nname: a\nparameters: {m: 2, L: 3, idle: L, k: 5}\njoints:\n"
    text += "  - {name: j, type: revolute, origin: {xyz: [L, 0, 0]}, damping: k, "
    text += "link: {mass: m, com: [L/2, 0, 0]}}\n"
    Path("a.yaml").write_text(text)
    assert run(["convert", "a.yaml", "b.yaml", "--style", "origin"]) == 0
    assert "largest pose error of a link in random states: 0.0e+00" in capfd.readouterr().out
    robot = read("b.yaml")
    assert robot.joints[0].link.com[0].text == "L/2"
    assert robot.joints[0].terms[0].damping.text == "k"
    assert [x.name for x in robot.parameters] == ["m", "L", "k"]


def test_an_unknown_style():
    with pytest.raises(RequestError, match="no style 'craig'; there are: standard, modified"):
        restyled(read_document(EXAMPLES[0]), "craig")
