"""One step of the human of 55 coordinates: the example, and at the size of Barman (2020)."""

from types import SimpleNamespace

import numpy as np
import pytest

import symgen
from benchmarks.gait import tasks
from symgen.description import read
from symgen.planning import ground_reaction, plan, reading
from symgen.planning.solver import SOLVED, Choices, Interrupted
from symgen.planning.transcription import transcribe
from tests.modules import EXAMPLES, module
from tests.planning.robots import SOLVED as FUNCTIONS_OF_PLANS

pytest.importorskip("casadi", reason="needs casadi: pip install 'symgen[test]'")
pytestmark = pytest.mark.slow

TASK = EXAMPLES / "plan" / "human55_step.yaml"
OUTPUTS = ("outputs", "outputs_derivatives")
FUNCTIONS = (
    *FUNCTIONS_OF_PLANS,
    *OUTPUTS,
    "inverse_dynamics_load_derivatives",
    "point_motion",
    "mass_matrix",
)
HUMAN = EXAMPLES / "human55.yaml"
MEASURED = EXAMPLES / "plan" / "measured_stride.csv"
WEIGHT = 73.0 * 9.81


@pytest.fixture(scope="module")
def step():
    human = module(HUMAN, functions=FUNCTIONS, loads=reading.additions(TASK, read(HUMAN))[0])
    return symgen.plan(human, TASK)


def test_forces_are_those_of_the_motion(step):
    """Sums of contact forces and moments equal the resultants of the motion without them, the
    zero-moment point lies in the support polygon, forces keep their pyramids."""
    forces = step.contact_forces
    places = step.module.point_motion(step.q, step.qd, step.qdd)[0][:, step.task.contacts.points]
    reaction, W = ground_reaction(step.module, step.q, step.qd, step.qdd), WEIGHT
    assert np.abs(reaction.force - forces.sum(axis=1)).max() < 1e-9 * W
    assert np.abs(reaction.moment - np.cross(places, forces).sum(axis=1)).max() < 1e-9 * W
    assert forces[..., 2].min() > -1e-9 * W
    slope = step.task.contacts.slope
    assert (np.abs(forces[..., :2]) - slope * forces[..., 2:]).max() < 1e-8 * W
    centre = (forces[..., 2:] * places).sum(axis=1) / forces[..., 2:].sum(axis=1)
    assert np.abs(reaction.zmp - centre)[:, :2].max() < 1e-9


def test_a_step_is_one_of_walking(step):
    """Two peaks of 1.0 to 1.3 W around a valley of 0.6 to 0.9 W; braking, then pushing."""
    assert step.status == "solved"
    assert max(step.ground.missed.values()) < 1e-6
    assert step.ground.slips["l_heel_in"] < 2e-4
    assert step.ground.depth < 5e-3
    assert step.final_error < np.radians(1)
    left = [name[0] == "l" for name in step.task.contacts.names]
    left = step.contact_forces[:, left].sum(axis=1) / WEIGHT
    normal, ahead = left[:, 2], left[:, 0]
    valley = 4 + int(normal[4:10].argmin())
    assert 0.6 < normal[valley] < 0.9
    assert 1.0 < normal[:valley].max() < 1.3
    assert 1.0 < normal[valley:].max() < 1.3
    assert ahead[1:4].max() < 0 < ahead[-1]
    assert normal[0] < 1e-9


def test_it_resembles_a_measured_stride(step):
    lines = [line for line in MEASURED.read_text().splitlines() if line[0] != "#"]
    measured = np.genfromtxt(lines, delimiter=",", names=True)
    s = np.linspace(0, 1, 101)
    q, percent = step.path.motion(s).q, np.concatenate([50 * s, 50 + 50 * s])
    for joint, least in (("hip_flexion", 0.8), ("knee_flexion", 0.85)):
        sides = [q[:, step.module.position_names.index(f"{side}_{joint}")] for side in "lr"]
        planned = np.interp(measured["percent"], percent, np.concatenate(sides))
        assert np.corrcoef(planned, measured[joint.partition("_")[0]])[0, 1] > least
    sides = [[name[0] == side for name in step.task.contacts.names] for side in "lr"]
    forces = [step.contact_forces_at(s)[:, side].sum(axis=1) for side in sides]
    for axis, name, least in ((2, "vertical", 0.9), (0, "fore_aft", 0.8)):
        planned = np.interp(measured["percent"], percent, np.concatenate(forces)[:, axis])
        assert np.corrcoef(planned, measured[name])[0, 1] > least


def test_the_size_of_the_thesis(step):
    """330 control points, of which 102 are frozen, 7 instants: an optimum at its instants."""
    found = symgen.plan(step.module, tasks()["thesis, 7 instants"], tolerance=1e-6)
    assert found.control_points.size == 330
    assert found.status == "exceeded"  # between its instants
    assert len(found.steps) < 400
    assert max(found.ground.missed.values()) < 1e-6


@pytest.mark.deep
def test_three_formulations_have_one_optimum(step):
    """Torques and their derivatives by composite bodies, Newton-Euler and recursive Lagrange, from
    one motion within the limits."""
    functions, objectives = ("inverse_dynamics", "inverse_dynamics_derivatives"), []
    read = reading.read(tasks()["thesis, 7 instants"], step.module)
    run = plan._Run(read, step.module, Choices(), Interrupted(), None)
    profile = run.profile(3, 2)
    program = transcribe(read, step.module, profile, 2)
    x = np.append(plan.guess(read, step.module, profile, None), np.zeros(program.sizes.loads))
    x = run.feasible(program, x, "").x
    for name in ("composite", "newton_euler", "recursive_lagrange"):
        torques = module(
            HUMAN, functions=functions, formulations=(name,),
            loads=reading.additions(TASK, read(HUMAN))[0],
        )  # fmt: skip
        chosen = [x for x in step.module.functions if not x.endswith(("_hessian", "_vjp"))]
        parts = {name: getattr(step.module, name) for name in dir(step.module) if name[:2] != "__"}
        parts |= {function: getattr(torques, function) for function in functions}
        mixed = SimpleNamespace(**parts | {"functions": chosen, "inverse_dynamics_hessian": None})
        program = transcribe(read, mixed, profile, 2)
        outcome = run.solve(program, x, "")
        assert outcome.ended == SOLVED
        objectives.append(program.objective(outcome.x))
    assert np.ptp(objectives) < 1e-9
