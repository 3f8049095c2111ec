"""Motion of points and its derivatives: Pinocchio, complex step, and the thesis's own equations."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.formulations import derive, formulation_named
from symgen.kinematics.tree import build_tree
from symgen.program.evaluation import call
from tests.choosing import one_in
from tests.oracles.barman_kinematics import Row, Thesis
from tests.oracles.comparison import LIMIT, STEP, agrees, complex_steps, random_state
from tests.oracles.descriptions import described
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.programs import evaluated
from tests.oracles.random_models import EVERYTHING, Recipe, model_texts, seeded_model_text

NEWTON_EULER, COMPOSITE = formulation_named("newton_euler"), formulation_named("composite")
POINTS = Recipe(joints=(1, 15), points=(2, 5))
OUTPUTS = ("dx_dq", "dv_dq", "dv_dqd", "da_dq", "da_dqd", "da_dqdd")


def outputs(description, name, state, formulation=NEWTON_EULER):
    return call(evaluated(description, formulation, name), state)


# ------------------------------------------------------------------------------------- oracles


def compare_with_pinocchio(description, seed):
    oracle = pinocchio_model(description)
    state = random_state(oracle.n, seed)
    for name in ("point_motion", "point_motion_derivatives"):
        expected = getattr(oracle, name)(**state)
        for formulation in (NEWTON_EULER, COMPOSITE):
            found = outputs(description, name, state, formulation)
            for value, reference in zip(found, expected, strict=True):
                assert agrees(value, reference), (formulation.name, name)


@pytest.mark.parametrize("seed", one_in(5, range(25)))
def test_random_trees_equal_pinocchio(seed):
    compare_with_pinocchio(described(seeded_model_text(seed, POINTS)), seed)


@pytest.mark.parametrize("seed", range(25, 35))
def test_joints_of_several_coordinates_equal_pinocchio(seed):
    recipe = replace(EVERYTHING, points=(1, 3))
    compare_with_pinocchio(described(seeded_model_text(seed, recipe)), seed)


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(model_texts(Recipe(joints=(1, 6), points=(0, 3))))
def test_drawn_trees_equal_pinocchio(text):
    compare_with_pinocchio(described(text), 1)


@pytest.mark.parametrize("seed", range(100, 115))
def test_the_motion_of_a_point_is_that_of_its_frame(seed):
    """Position from forward kinematics, velocity and acceleration along q(t) from its slopes."""
    description = described(seeded_model_text(seed, POINTS))
    tree = build_tree(description, Graph())
    state = random_state(tree.n, seed)
    frames = evaluated(description, NEWTON_EULER, "forward_kinematics")

    def positions(q):
        poses = call(frames, {"q": q})[0]
        seats = {
            joint.link.name: pose for joint, pose in zip(description.joints, poses, strict=True)
        }
        seats["base"] = np.eye(4)
        places = [[x.root.value for x in point.point] for point in description.points]
        return np.array(
            [
                (seats[point.link] @ [*place, 1.0])[:3]
                for point, place in zip(description.points, places, strict=True)
            ]
        )

    def velocities(q, qd):
        return positions(q + 1j * STEP * qd).imag / STEP

    # central differences of 6th order for the second derivative along q(t) = q + qd t + qdd t^2/2
    weights, times = np.array([-1, 9, -45, 45, -9, 1]) / 60, np.array([-3, -2, -1, 1, 2, 3])
    h = 1e-3
    acceleration = sum(
        weight
        * velocities(
            state["q"] + state["qd"] * (h * t) + 0.5 * state["qdd"] * (h * t) ** 2,
            state["qd"] + state["qdd"] * (h * t),
        )
        for weight, t in zip(weights, times, strict=True)
    )
    x, v, a = outputs(description, "point_motion", state)
    assert agrees(x, positions(state["q"]))
    assert agrees(v, velocities(state["q"], state["qd"]))
    assert np.abs(a - acceleration / h).max() <= 1e-8 * max(1.0, np.abs(a).max())


@pytest.mark.parametrize("seed", range(200, 220))
def test_derivatives_equal_complex_step(seed):
    description = described(seeded_model_text(seed, POINTS))
    state = random_state(build_tree(description, Graph()).n, seed)
    motion = evaluated(description, NEWTON_EULER, "point_motion")
    slopes = {name: complex_steps(motion, state, name) for name in state}
    found = outputs(description, "point_motion_derivatives", state)
    for name, value in zip(OUTPUTS, found, strict=True):
        what, by = name[1:].split("_d")
        assert agrees(value, slopes[by]["xva".index(what)]), name


@pytest.mark.parametrize("formulation", [NEWTON_EULER, COMPOSITE], ids=lambda item: item.name)
@pytest.mark.parametrize("seed", range(300, 305))
def test_only_joints_on_the_way_to_a_point_take_part(seed, formulation):
    """Columns of other joints are 0 by structure, and no statement is about them."""
    description = described(seeded_model_text(seed, Recipe(joints=(6, 12), points=(1, 1))))
    tree = build_tree(description, Graph())
    path = tree.path(tree.points[0].body)
    off = [joint.number for joint in tree.joints if joint.number not in path]
    program = derive(tree, formulation, "point_motion_derivatives")
    for output in program.outputs:
        entries = np.array(output.entries, dtype=object).reshape(output.shape)
        assert all(entry.is_zero for entry in entries[:, :, [k - 1 for k in off]].ravel())
    words = {word for line in program.statements for word in line.name.split("_")}
    assert not words & {str(k) for k in off}


# ------------------------------------------------------------------ the equations of the thesis

CHAIN = (
    Row("revolute", 0.3, 0.2, 0.4, 0.7),
    Row("revolute", -0.5, -0.3, 0.3, -1.1),
    Row("prismatic", 0.4, 0.3, 0.2, 0.9),
    Row("revolute", 0.1, 0.15, -0.4, 1.3),
    Row("prismatic", -0.8, 0.1, 0.25, -0.6),
    Row("revolute", 0.2, 0.05, 0.35, 0.4),
)
PLACE = np.array([0.1, -0.2, 0.3])


def chain():
    """The chain as a description, with a point at `PLACE` of its last link."""
    joints = "".join(
        f"  - {{name: j{j}, type: {row.type}, link: {{name: l{j}}}, dh: {{theta: {row.theta}, "
        f"d: {row.d}, a: {row.a}, alpha: {row.alpha}}}}}\n"
        for j, row in enumerate(CHAIN, start=1)
    )
    return described(
        f"symgen: 1\nname: chain\nconvention: standard\njoints:\n{joints}"
        f"points: [{{name: P, link: l{len(CHAIN)}, point: {PLACE.tolist()}}}]\n"
    )


def statements_of(program, state):
    """Values of all statements, by name."""
    symbols = {f"{key}_{i}": x for key, row in state.items() for i, x in enumerate(row, start=1)}
    values = evaluate([line.value for line in program.statements], symbols)
    return dict(zip((line.name for line in program.statements), values, strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_statements_are_the_equations_of_the_thesis(seed):
    state, n = random_state(len(CHAIN), seed), len(CHAIN)
    thesis = Thesis(CHAIN, **state)
    program = derive(build_tree(chain(), Graph()), NEWTON_EULER, "point_motion_derivatives")
    values = statements_of(program, state)
    compared = 0
    for name in ("omega", "alpha", "v", "a"):
        expected = getattr(thesis, name)
        for j in range(1, n + 1):
            names = {f"{name}_{j}": expected[j]}
            for by in ("q", "qd"):
                names |= {
                    f"d_{name}_{j}_{{}}_d{by}_{i}": expected[j, by, i] for i in range(1, j + 1)
                }
            for label, vector in names.items():
                for axis, component in zip("xyz", vector, strict=True):
                    full = label.format(axis) if "{" in label else f"{label}_{axis}"
                    if full in values:  # a constant has no statement
                        assert abs(values[full] - component) <= LIMIT * max(1, abs(component)), full
                        compared += 1
    assert compared > 400


@pytest.mark.parametrize("seed", range(3))
def test_points_move_by_the_equations_of_the_thesis(seed):
    state, n = random_state(len(CHAIN), seed), len(CHAIN)
    thesis = Thesis(CHAIN, **state)
    R0, omega, alpha = thesis.R0, thesis.omega, thesis.alpha
    w, wd = omega[n], alpha[n]
    x, v = thesis.x[n] + PLACE, thesis.v[n] + np.cross(w, PLACE)
    a = thesis.a[n] + np.cross(wd, PLACE) + np.cross(w, np.cross(w, PLACE))
    found = outputs(chain(), "point_motion", state)
    for value, expected in zip(found, (x, v, a), strict=True):
        assert agrees(value[0], R0[n] @ expected)
    slopes = {name: np.zeros((1, 3, n)) for name in OUTPUTS}
    for i in range(1, n + 1):
        turn = R0[n, i]
        slopes["dx_dq"][0, :, i - 1] = turn @ x + R0[n] @ thesis.x[n, "q", i]
        for by in ("q", "qd", "qdd"):
            d_w, d_wd = omega[n, by, i], alpha[n, by, i]
            d_v = thesis.v[n, by, i] + np.cross(d_w, PLACE)
            d_a = thesis.a[n, by, i] + np.cross(d_wd, PLACE)
            d_a = d_a + np.cross(d_w, np.cross(w, PLACE)) + np.cross(w, np.cross(d_w, PLACE))
            turned = by == "q"
            slopes[f"da_d{by}"][0, :, i - 1] = R0[n] @ d_a + turned * (turn @ a)
            if by != "qdd":
                slopes[f"dv_d{by}"][0, :, i - 1] = R0[n] @ d_v + turned * (turn @ v)
    found = outputs(chain(), "point_motion_derivatives", state)
    for name, value in zip(OUTPUTS, found, strict=True):
        assert agrees(value, slopes[name]), name
