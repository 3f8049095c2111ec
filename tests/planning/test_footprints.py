"""Pages and figures of plans with contacts: arrows, footprints, the zero-moment point."""

import json
import re

import numpy as np
import pytest

import symgen
from symgen.page.animation import MOST_CURVES, Curves
from symgen.planning import ground_reaction
from symgen.planning.results import TIME_AXIS
from tests.page.test_animation import packed
from tests.planning.robots import SOLVED, example

START, GOAL = ({"q": [0, 0.06 + 0.6 * np.cos(a), 0, -a, 2 * a, -a]} for a in (0.9, 0.4))
TASK = {
    "symgen_task": 1, "time": 0.5, "start": START, "goal": GOAL,
    "objective": {"torque": 1}, "profile": {"segments": 3, "check": "midpoints"},
    "contacts": {"sets": {"foot": ["heel", "toe"]}, "phases": [{"on": ["foot"]}]},
}  # fmt: skip
WEIGHT = 8 * 9.81
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def squat():
    more = ("inverse_dynamics_load_derivatives", "point_motion", "mass_matrix", "joint_wrenches")
    return symgen.plan(example("plan/hopper", (*SOLVED, *more), loads=("heel", "toe")), TASK)


def test_page(squat, tmp_path):
    assert squat.status == "solved"
    text = squat.report(tmp_path / "a.html").read_text()
    facts = json.loads(re.search(r'id="player">(.*?)</script>', text)[1])
    for title in ("Forces of the ground", "Zero-moment point from above"):
        assert f"<h2>{title}</h2>" in text
    rows = packed(text, "forces").reshape(facts["frames"], -1)[::3]  # frames that are samples
    loads, centre = rows[:, :-3].reshape(len(rows), 2, 6), rows[:, -3:]
    s = np.linspace(0, 1, len(rows))
    motion = squat.path.motion(s)
    np.testing.assert_allclose(loads[..., :3], squat.contact_forces_at(s), 1e-5, 1e-9)
    resultant = ground_reaction(squat.module, motion.q, motion.qd, motion.qdd)
    np.testing.assert_allclose(centre, resultant.zmp, atol=1e-6)
    assert np.all((centre[:, 0] > -0.05) & (centre[:, 0] < 0.15))
    (curve,) = (curve for curve in facts["curves"] if curve["title"].startswith("Normal"))
    assert curve["names"] == ["foot"]
    assert curve["levels"] == [[pytest.approx(WEIGHT), None]]
    ground, print_ = facts["shapes"]
    assert ground["link"] == print_["link"] == -1
    corners = packed(text, "vertices").reshape(-1, 3)[ground["vertices"] :]
    ends = np.array([-0.05, 0.15]) + 0.002 * np.array([-1, 1])  # with the rim
    np.testing.assert_allclose([corners.min(0)[0], corners.max(0)[0]], ends, atol=1e-4)
    np.testing.assert_allclose(corners[:, 2], 0, atol=1e-6)
    squat.plot(tmp_path / "a.png")
    rows = np.genfromtxt(squat.save(tmp_path / "a.csv"), delimiter=",", names=True)
    np.testing.assert_allclose(rows["zmp_x"], squat.footing_at(squat.shares).centre[:, 0])
    squat.plot(tmp_path / "a.svg")  # one axis of time, below the panels that share it
    assert (tmp_path / "a.svg").read_text().count(TIME_AXIS) == 1


def test_contacts_that_cannot_be_kept(squat):
    """A tilted foot at the goal, beside a foot that stands flat: there is a hint."""
    tilted = {"q": [0, 0.06 + 0.6 * np.cos(0.4), 0, -0.4, 0.8, -0.3]}
    found = symgen.plan(squat.module, {**TASK, "goal": tilted})
    assert found.status == "infeasible"
    assert "contact of toe (" in found.remarks[0]
    assert found.remarks[1].startswith("points that stand may contradict each other")


def test_animation(squat, tmp_path):
    text = symgen.animate(squat.module, squat, tmp_path / "a.html").read_text()
    rows = packed(text, "forces").reshape(-1, 15)
    np.testing.assert_allclose(rows[0, [0, 1, 2, 6, 7, 8]], squat.contact_forces[0].ravel(), 1e-5)


def test_main_curves():
    names = [f"q{k}" for k in range(12)]
    main = Curves("q", names, np.outer([0.0, 1], np.arange(12.0))).main
    assert list(main.names) == names[-MOST_CURVES:]
    assert main.values.shape == (2, MOST_CURVES)
