"""Frames in other reference frames, operational-space inertia, inverse kinematics."""

import re
from importlib import import_module

import numpy as np
import pinocchio as pin
import pytest

from symgen.program.functions import FUNCTION_NAMES
from symgen.runtime.elsewhere import ELSEWHERE
from tests.modules import ROOT, described, module
from tests.oracles.pinocchio_model import PinocchioRobot
from tests.oracles.random_models import EVERYTHING, seeded_model_text

FUNCTIONS = "forward_kinematics,jacobians,mass_matrix,link_motion"
REFERENCES = {
    "local": pin.LOCAL, "world": pin.WORLD, "local_world_aligned": pin.LOCAL_WORLD_ALIGNED,
}  # fmt: skip


def loaded(model):
    return module(model, functions=FUNCTIONS, formulations="newton_euler")


@pytest.fixture(scope="module")
def puma():
    return loaded(ROOT / "examples" / "puma560.yaml")


@pytest.fixture
def rng():
    return np.random.default_rng(22)


def test_reference_frames_are_those_of_pinocchio(rng):
    text = seeded_model_text(3, EVERYTHING)
    robot, oracle = loaded(text), PinocchioRobot(described(text))
    q, qd, qdd = rng.normal(size=(3, robot.n))
    pin.forwardKinematics(oracle.model, oracle.data, *(oracle._to_pin(x) for x in (q, qd, qdd)))
    for name in robot.link_names:
        seat = oracle.seats[name]
        for reference, theirs in REFERENCES.items():
            found = robot.frame_motion(name, q, qd, qdd, reference=reference)
            at = oracle.model, oracle.data, seat.joint, seat.pose, theirs
            rate = pin.getFrameClassicalAcceleration
            rate = pin.getFrameAcceleration if reference == "world" else rate
            pose = (oracle.data.oMi[seat.joint] * seat.pose).homogeneous
            jacobian = robot.frame_jacobian(name, q, reference=reference)
            for ours, expected in (
                (found.pose, pose),
                (found.velocity, pin.getFrameVelocity(*at).vector),
                (found.acceleration, rate(*at).vector),
                (jacobian @ qd, found.velocity),
            ):
                scale = 1.0 + np.abs(expected).max()
                np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-12 * scale)


def test_the_operational_space_inertia_accelerates_the_frame(puma, rng):
    """A force f at the frame, against nothing else, gives it the acceleration f / Lambda."""
    q, hand = rng.uniform(-1, 1, (4, puma.n)), puma.link_names[-1]
    jacobian, mass = puma.frame_jacobian(hand, q), puma.mass_matrix(q)
    for rows, numbers in ((None, [0, 1, 2, 3, 4, 5]), (("x", "rz"), [0, 5]), ("y", [1])):
        inertia = puma.operational_space_inertia(hand, q, rows=rows)
        chosen, force = jacobian[:, numbers], rng.normal(size=(4, len(numbers), 1))
        qdd = np.linalg.solve(mass, np.swapaxes(chosen, -1, -2) @ inertia @ force)
        np.testing.assert_allclose(chosen @ qdd, force, atol=1e-9)
    with pytest.raises(np.linalg.LinAlgError, match="cannot move in all of x, y, z, rx, ry, rz"):
        puma.operational_space_inertia(hand, np.zeros(puma.n))
    with pytest.raises(np.linalg.LinAlgError, match="rows="):
        puma.operational_space_inertia(puma.link_names[1], q)
    with pytest.raises(ValueError, match="expected different ones of x, y, z"):
        puma.operational_space_inertia(hand, q, rows=("x", "x"))


def test_a_singular_mass_matrix_is_named():
    """The frame can move in x, but the torques do not tell how: the first link has no mass."""
    idle = loaded(
        "symgen: 1\nname: idle\njoints:\n"
        "  - {name: a, type: prismatic, axis: [1, 0, 0], origin: {}}\n"
        "  - {name: b, type: prismatic, axis: [1, 0, 0], origin: {}, link: {mass: 2}}\n"
    )
    with pytest.raises(np.linalg.LinAlgError, match="mass matrix is singular at this q"):
        idle.operational_space_inertia("b", np.zeros(2), rows="x")


def test_inverse_kinematics(puma, rng):
    hand, lower, upper = puma.link_names[-1], puma.limits["lower"], puma.limits["upper"]
    low, high = np.maximum(lower, -3.0), np.minimum(upper, 3.0)
    poses = puma.frame_pose(hand, rng.uniform(low, high, (10, 4, puma.n)))
    found = puma.inverse_kinematics(hand, poses, starts=20)
    assert found.q.shape == (10, 4, puma.n) and found.solved.shape == (10, 4)
    assert found.solved.mean() >= 0.95
    reached = puma.frame_pose(hand, found.q[found.solved])
    np.testing.assert_allclose(reached, poses[found.solved], atol=1e-9)
    assert np.all((found.q >= lower) & (found.q <= upper))
    again = puma.inverse_kinematics(hand, poses, starts=20)
    np.testing.assert_array_equal(found.q, again.q)


def test_what_cannot_be_reached_is_approached(puma):
    hand = puma.link_names[-1]
    found = puma.inverse_kinematics(hand, [3.0, 1.0, 0.5])
    place = puma.frame_pose(hand, found.q)[:3, 3]
    assert not found.solved
    assert found.error == pytest.approx(np.linalg.norm([3.0, 1.0, 0.5] - place))
    moved = puma.frame_jacobian(hand, found.q)[:3]
    assert np.abs(moved.T @ ([3.0, 1.0, 0.5] - place)).max() < 1e-3 * found.error


def test_a_turn_by_pi_has_a_rotation_vector(puma, rng):
    vector = import_module(f"{puma.__name__}._kinematics").rotation_vector
    axes = rng.normal(size=(50, 3))
    axes /= np.linalg.norm(axes, axis=-1, keepdims=True)
    for angle in (0.0, 1e-9, 0.5, 3.0, np.pi - 1e-7, np.pi):
        rotations = np.array([pin.exp3(angle * axis) for axis in axes])
        turned = np.array([pin.exp3(x) for x in vector(rotations)])
        np.testing.assert_allclose(turned, rotations, atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(vector(rotations), axis=-1), angle, atol=1e-12)


@pytest.mark.parametrize(("target", "message"), [
    ([1.0, 2.0], r"expected shape \(..., 4, 4\) or \(..., 3\), got \(2,\)"),
    ([1.0, np.nan, 0.0], "not all of its entries are finite"),
    (np.diag([1.0, 1.0, -1.0, 1.0]), "is a rotation matrix"),
])  # fmt: skip
def test_wrong_targets(puma, target, message):
    with pytest.raises(ValueError, match=message):
        puma.inverse_kinematics(puma.link_names[-1], target)


def test_names_of_other_libraries():
    """Those that the page for newcomers from there lists are known, and mean what it says."""
    page = (ROOT / "docs" / "how_to" / "coming_from.md").read_text()
    table = page[page.index("## Functions") : page.index("## What differs")]
    by_hand = {"frame_pose", "frame_jacobian", "frame_motion"}
    by_hand |= {"operational_space_inertia", "inverse_kinematics"}
    attributes = {"n", "nq", "limits", "coordinate_names"}
    assert set(ELSEWHERE.values()) <= {*FUNCTION_NAMES, *by_hand, *attributes}
    assert not set(ELSEWHERE) & {*FUNCTION_NAMES, *by_hand}
    rows = re.findall(r"^\| `.+$", table, re.MULTILINE)
    assert len(rows) > 20
    for row in rows:
        ours, *theirs = re.split(r" \| ", row.strip("| "))
        for name in re.findall(r"`-?(\w+)`", " ".join(theirs)):
            assert name == "AutoDiffXd" or f"`{ELSEWHERE[name]}`" in ours, name
