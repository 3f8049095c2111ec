"""Cases beside the contract: no joint, singular masses, all or none prescribed, parameters of value
0, variants of formulations, published values."""

import re
from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest

from symgen import read
from symgen.algebra.graph import Graph
from symgen.formulations import FORMULATIONS, VARIANTS, provided_functions
from symgen.formulations.newton_euler import NEWTON_EULER
from symgen.kinematics.tree import build_tree
from symgen.program.interpreter import call
from symgen.runtime.subjects import call as call_function
from symgen.runtime.subjects import random_states
from symgen.showing.equations import frames
from symgen.validation.conditioning import singularity_warnings
from symgen.validation.evaluated import EvaluatedFormulation
from symgen.validation.oracles import NumericRobot, ParametrisedRobot
from tests.choosing import deep, slow, some_slow
from tests.contract import cells, references
from tests.modules import EXAMPLES, described
from tests.oracles.comparison import agrees, evaluated, state_of
from tests.oracles.implicit import Implicit, pivots

SOLVERS = [item for item in FORMULATIONS if "hybrid_dynamics" in item.functions]
EACH_SOLVER = pytest.mark.parametrize("formulation", SOLVERS, ids=lambda item: item.name)


@pytest.mark.parametrize("formulation", (*FORMULATIONS, *VARIANTS), ids=lambda item: item.name)
def test_no_joint_at_all(formulation):
    """Every result is empty or 0; of energies it is one number."""
    description = described("symgen: 1\nname: still\njoints: []\n")
    tree = build_tree(description, Graph())
    for name in provided_functions(formulation, tree):
        for result in call(evaluated(description, formulation, name), {}):
            assert np.all(np.asarray(result) == 0), name
            assert np.size(result) in ((1,) if name.endswith("energy") else (0, 3, 6)), name


VARIED = ("inverse_dynamics_derivatives", "forward_dynamics", "coriolis_matrix", "bias_forces",
          "inverse_dynamics_parameter_derivatives", "joint_wrenches",
          "point_motion_derivatives", "inverse_dynamics_vjp")  # fmt: skip
ROBOTS = ("planar_arm", "composite_joints", "mimic_chain", "quaternion_body", "forces_and_outputs",
          "spatial_loops", "euler_parameters")  # fmt: skip


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda item: item.name)
@pytest.mark.parametrize(
    "robot", [*ROBOTS[:1], *slow(*ROBOTS[3:6:2]), *deep(*ROBOTS[1:3], *ROBOTS[4::2])]
)
def test_variants_have_the_values_of_the_contract(robot, variant):
    states, known = references.stored(robot)
    tree = build_tree(cells.described(robot), Graph())
    for name in VARIED:
        if name in provided_functions(variant, tree) and f"{name}.0" in known:
            program = cells.program_of(robot, variant.name, name)
            for number, result in enumerate(cells.results_of(program, states)):
                assert agrees(result, known[f"{name}.{number}"], 1e-10), name


ARM = """
symgen: 1
name: arm
parameters: {k: 0, m: 0.5, tilt: 0, c: 0}
joints:
  - {name: a, type: revolute, origin: {xyz: [0, 0.1, 0.3], rpy: [0, tilt, c]}, axis: [0, 1, c],
     stiffness: k, rest: c, damping: k, friction: k, rotor_inertia: c,
     link: {mass: 1, com: [0.2, c, 0.1], inertia: {xx: 0.1, yy: 0.2, zz: 0.15, xy: c}}}
  - {name: b, type: prismatic, dh: {theta: c, d: c, a: 0.2, alpha: tilt}, convention: standard,
     link: {mass: 2*m, com: [0.1, 0.1, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
  - {name: c, type: revolute, dh: {theta: tilt, d: c, a: c, alpha: 0.4}, convention: modified,
     parent: a, gear_ratio: m, rotor_inertia: 0.1,
     link: {mass: 1, com: [0, 0.1, tilt], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
  - {name: pad, type: fixed, origin: {xyz: [0.1, c, 0], rpy: [tilt, 0, 0]},
     link: {mass: c, com: [0.1, 0, 0]}}
loads: [{name: push, link: pad, point: [0.1, c, 0]}]
points: [{name: tip, link: pad, point: [c, 0.1, 0.2]}]
"""
PRESCRIBED = described(ARM.replace("name: b,", "name: b, prescribed: true,"))


def with_prescribed(description, flags):
    """The same robot with these coordinates prescribed."""
    flags = iter(flags)
    joints = tuple(
        replace(joint, prescribed=tuple(next(flags) for _ in joint.prescribed))
        for joint in description.joints
    )
    return replace(description, joints=joints)


@EACH_SOLVER
def test_all_prescribed_is_inverse_dynamics_and_none_is_forward_dynamics(formulation):
    """And in forward dynamics those that are prescribed are free."""
    held, free = (with_prescribed(PRESCRIBED, cycle([flag])) for flag in (True, False))
    state = state_of(held, 3)
    torques = call(evaluated(held, NEWTON_EULER, "inverse_dynamics_derivatives"), state)
    *found, no_pivots, diagonal = call(evaluated(held, formulation, "hybrid_dynamics_derivatives"),
                                       state)  # fmt: skip
    assert no_pivots.shape == diagonal.shape == (0,)
    assert all(agrees(x, y) for x, y in zip(found, torques, strict=True))
    state = state_of(free, 3)
    one, two, three = (
        call(evaluated(robot, formulation, f"{way}_dynamics_derivatives"), state)
        for robot, way in ((free, "hybrid"), (free, "forward"), (PRESCRIBED, "forward"))
    )
    for x, y, z in zip(one, two, three, strict=True):
        assert agrees(x, y, 1e-10) and (y == z).all()


PAIRS = [
    pytest.param(item, kind, id=f"{item.name}{kind}")
    for item in SOLVERS
    for kind in ("", "_derivatives", "_parameter_derivatives")
    if f"forward_dynamics{kind}" in item.functions
]


@pytest.mark.parametrize(("formulation", "kind"), PAIRS)
def test_pivots_and_diagonal_are_those_of_the_mass_matrix(formulation, kind):
    """Of all joints, and of the free ones."""
    runtime = ("m",) if kind.startswith("_p") else ()
    robot = Implicit(PRESCRIBED, 2, runtime)
    free = np.flatnonzero(~robot.prescribed)
    for name, given, mass in (
        ("forward", robot.torques, robot.M),
        ("hybrid", robot.given, robot.M[np.ix_(free, free)]),
    ):
        program = evaluated(PRESCRIBED, formulation, f"{name}_dynamics{kind}", runtime)
        *_, found, diagonal = call(program, given)
        assert agrees(found, pivots(mass)) and agrees(diagonal, np.diag(mass))


COINCIDENT = """
symgen: 1
name: coincident
joints:
  - {name: a, type: revolute, origin: {rpy: [0.3, 0.2, 0.1]}, axis: [1, 2, 3]}
  - {name: b, type: revolute, origin: {}, axis: [1, 2, 3],
     link: {mass: 1, com: [0.1, 0.2, 0.3], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}}
"""


@EACH_SOLVER
def test_a_singular_mass_matrix_shows_in_the_pivots(formulation):
    """A massless link between axes that coincide: a pivot is nothing but rounding."""
    program = evaluated(described(COINCIDENT), formulation, "forward_dynamics")
    with np.errstate(all="ignore"):
        *_, found, diagonal = call(program, state_of(described(COINCIDENT), 1))
    assert not found.min() > 4 * np.finfo(float).eps * diagonal.max()


ABLE = [f for f in FORMULATIONS if any("parameter_derivatives" in x for x in f.functions)]


@pytest.mark.parametrize("formulation", some_slow(ABLE, [NEWTON_EULER]), ids=lambda x: x.name)
def test_parameters_of_value_0_have_derivatives(formulation):
    """What they make vanish is differentiated all the same."""
    runtime = ("k", "m", "tilt", "c")
    values = [PRESCRIBED.parameter_values[name] for name in runtime]
    states = random_states(3, 1, 2, 5, parameters=values)
    robot = ParametrisedRobot(NumericRobot(PRESCRIBED, runtime=runtime))
    tree, seen = build_tree(PRESCRIBED, Graph(), runtime), 0
    for name in provided_functions(formulation, tree):
        if not name.endswith("parameter_derivatives") or name.startswith("constraint"):
            continue
        program = evaluated(PRESCRIBED, formulation, name, runtime)
        functions = EvaluatedFormulation({name: program})
        found = call_function(functions, name, vars(states))
        for x, y in zip(found, call_function(robot, name, vars(states)), strict=True):
            assert agrees(x, y, 1e-10), name
            seen += np.count_nonzero(x)
    assert seen > 20


ROD = """
symgen: 1
name: rod
joints:
  - {name: arm, type: revolute, origin: {}, axis: [1, 0, 0], link: {mass: 1, com: [0, 1, 0]}}
  - {name: wrist, type: universal, axes: [x, y], origin: {xyz: [0, 2, 0]}, TERMS,
     link: {mass: 1, com: [0, 0.3, 0]}}
"""


def test_a_mass_matrix_that_is_always_singular_names_the_composite_joint():
    """A point mass on the second axis of the wrist: turning about it moves nothing."""
    (warning,) = singularity_warnings(described(ROD.replace(" TERMS,", "")))
    assert (warning.key, warning.line) == ("joints.wrist", 6)
    assert "singular at every pose" in warning.message
    rotor = ROD.replace("TERMS", "rotor_inertia: [0, 0.1]")
    assert singularity_warnings(described(rotor)) == ()
    assert singularity_warnings(described("symgen: 1\nname: rock\njoints: []\n")) == ()


def test_frames_are_shown_over_all_coordinates_of_a_joint():
    text = frames(described(ROD.replace(" TERMS,", "")), "pretty")
    assert re.findall(r"^(\w+ in \w+) =", text, re.M) == ["arm in base", "wrist in arm"]
    assert set(re.findall("q[₁-₃]", text.split("wrist in arm")[1])) == {"q₂", "q₃"}


Q = [.7504516826728697, .8395156106908136, .16851233582594916, .3849629637427072,
     .5252993946810777, .6701207256444748]  # fmt: skip
QD = [.24721855939629367, .9805915670454258, .9895299755642817, .7861135739668947,
      .273842245476577, .17182358900767503]  # fmt: skip
QDD = [.707405815485141, .25295715193420953, .9763909835998361, .8412822676113918,
       .4867768296473465, .11480270540937143]  # fmt: skip
TAU = [.986185688341252, 16.1055550633721, -6.54839494827661, .00626452648190803,
       -.0208972707132494, 5.59805923645945e-5]  # fmt: skip
KNOWN = {
    "inverse_dynamics": ({"q": Q, "qd": QD, "qdd": QDD}, TAU, 1e-13),
    "forward_dynamics": ({"q": Q, "qd": QD, "tau": TAU}, QDD, 1e-12),
}
"""Arguments, result and tolerance; the torque is printed with 15 digits."""
CASES = [(item, name) for name in KNOWN for item in FORMULATIONS if name in item.functions]


@pytest.mark.parametrize(("formulation", "function"), CASES, ids=lambda x: getattr(x, "name", x))
def test_published_values(formulation, function):
    """PUMA 560 as published with Corke's toolbox."""
    arguments, expected, tolerance = KNOWN[function]
    found = call(evaluated(read(EXAMPLES / "puma560.yaml"), formulation, function), arguments)[0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
