"""What closes loops, against joints of trees: a loop of a type is that joint, cut."""

from __future__ import annotations

import re
import warnings
from unittest.mock import patch

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import symgen
from symgen.errors import ModelError, RequestError
from symgen.joints import JOINTS, closing_type
from symgen.validation.mobility import mobility, open_loops
from tests.choosing import slow, some_slow
from tests.mechanisms.models import (
    BY_PARAMETERS,
    BY_STATE,
    CLOSED,
    FOUR_BAR,
    KINDS,
    ROD,
    loaded,
    pair,
)
from tests.modules import EXAMPLES, described, file_of
from tests.modules import module as built


def states(robots, seed):
    """A state of the tree, and the same of the mechanism."""
    random = np.random.default_rng(seed)
    tree, closed = robots.tree, robots.mechanism
    q, qd = random.uniform(-0.6, 0.6, (2, tree.n))
    pose = tree.frame_pose("hand", q)
    angles = Rotation.from_matrix(pose[:3, :3]).as_euler("ZYX")
    place = np.concatenate([q[:1], pose[:3, 3], angles])
    twist = tree.frame_jacobian("hand", q) @ qd
    rates = np.linalg.solve(closed.frame_jacobian("hand", place)[:, 1:], twist)
    return random, (q, qd), (place, np.concatenate([qd[:1], rates]))


@pytest.mark.parametrize("kind", slow(*KINDS))
def test_a_loop_is_a_joint_that_was_cut(kind):
    """Constraints, accelerations and the wrench in the joint are those of the tree."""
    robots = pair(kind)
    tree, closed = robots.tree, robots.mechanism
    freedoms = next(joint.coordinates for joint in JOINTS if joint.name == kind)
    assert len(closing_type(kind).forbids) == 6 - freedoms
    for seed in range(2):
        random, (q, qd), (place, rates) = states(robots, seed)
        assert np.abs(closed.constraints(place)).max() < 1e-14
        assert np.abs(closed.constraint_rates(place, rates)).max() < 1e-13
        assert closed.freedoms(place) == tree.n
        assert closed.unique_multipliers(place).all()
        torque = random.uniform(-5, 5)
        tau = np.zeros(tree.n)
        tau[0] = torque
        expected = tree.forward_dynamics(q, qd, tau)
        found = closed.constrained_forward_dynamics(place, rates, np.append(torque, np.zeros(6)))
        assert np.allclose(found.qdd[0], expected[0], rtol=1e-11, atol=1e-11)
        motion = closed.frame_motion("hand", place, rates, found.qdd).acceleration
        acceleration = tree.frame_motion("hand", q, qd, expected).acceleration
        assert np.allclose(motion, acceleration, atol=1e-10)
        wrench = closed.loop_wrenches(place, found.multipliers)[0]
        if kind == "fixed":
            arm = tree.inverse_dynamics(q, qd, expected)  # nothing else tells of a rigid seam
            assert np.allclose(arm, tau, atol=1e-10)
            continue
        pose = tree.frame_pose("hand", q)
        told = tree.joint_wrenches(q, qd, expected)[-1]
        assert np.allclose(wrench[:3], pose[:3, :3] @ told[:3], atol=1e-10)
        assert np.allclose(wrench[3:], pose[:3, :3] @ told[3:], atol=1e-10)


def test_the_torques_that_were_given_are_found_again():
    """Of the driven coordinate, whether rows are redundant or not."""
    four_bar = loaded(FOUR_BAR, (*BY_STATE, "inverse_dynamics"))
    q = four_bar.assemble(hold=["crank"])
    qd = four_bar.closed_velocities(q, four_bar.initial_qd)
    found = four_bar.constrained_forward_dynamics(q, qd, [1.3, 0, 0])
    again = four_bar.constrained_inverse_dynamics(q, qd, found.qdd)
    assert np.allclose(again.tau, [1.3, 0, 0], atol=1e-10)
    assert np.allclose(again.multipliers, found.multipliers, atol=1e-10)
    assert four_bar.unique_multipliers(q).tolist() == [True, True, False, False, False]
    derivatives = four_bar.constrained_forward_dynamics_derivatives(q, qd, [1.3, 0, 0])
    unique = four_bar.unique_multipliers(q)
    assert np.array_equal(np.isnan(derivatives.dmultipliers_dq).any(axis=1), ~unique)
    sides = [
        four_bar.constrained_forward_dynamics(q, qd, [1.3 + x, 0, 0]).multipliers for x in (1, -1)
    ]  # linear in tau
    slope = derivatives.dmultipliers_dtau[unique, 0]
    assert np.allclose((sides[0] - sides[1])[unique] / 2, slope, rtol=1e-9)
    assert np.isfinite(derivatives.dqdd_dq).all()


def test_torques_of_what_is_not_driven_are_refused():
    """Alone, and in a batch beside a motion that needs none."""
    text = FOUR_BAR.replace("name: four_bar", "name: idle")
    text = text.replace("origin: {},", "origin: {}, actuated: false,", 1)
    idle = loaded(text, (*CLOSED, "inverse_dynamics"))
    q = idle.assemble(hold=["crank"])
    qd = idle.closed_velocities(q, idle.initial_qd)
    falling = idle.constrained_forward_dynamics(q, qd, np.zeros(3)).qdd
    driven = idle.constrained_forward_dynamics(q, qd, [1.3, 0, 0]).qdd
    with pytest.raises(np.linalg.LinAlgError, match="the drives cannot produce this motion"):
        idle.constrained_inverse_dynamics(q, qd, driven)
    with pytest.raises(np.linalg.LinAlgError, match=r"qdd opens the loops: pin_\w by 0\.\d+ per"):
        idle.constrained_inverse_dynamics(q, qd, falling + [0, 0, 0.1])
    with pytest.warns(RuntimeWarning, match="in 1 rows"):
        both = idle.constrained_inverse_dynamics(q, qd, [falling, driven])
    assert np.isnan(both.multipliers[1]).any()
    assert np.abs(both.tau[0]).max() == 0


def test_loops_close_from_where_they_begin_or_say_that_they_cannot():
    """Singular starts, what is held, batches, lengths that do not meet."""
    four_bar = loaded(FOUR_BAR)
    q = four_bar.assemble(hold=["crank"])
    assert q[0] == four_bar.initial_q[0]
    assert np.abs(four_bar.constraints(q)).max() < 1e-12
    assert np.array_equal(four_bar.assemble(), q)  # the crank is driven, and `initial` names it
    qd = four_bar.closed_velocities([q, q], np.array([[1.0], [2.0]]) * four_bar.initial_qd)
    assert np.array_equal(qd[:, 0], [1.0, 2.0]) and np.allclose(qd[1], 2 * qd[0])
    state = mobility(described(FOUR_BAR))
    assert np.allclose(state.q, q) and np.allclose(state.qd, qd[0]) and not state.changed
    assert str(state).endswith("(Gruebler's formula gives 1, without 3 rows that are always 0)")
    driven = mobility(described(FOUR_BAR.replace("actuated: false, ", "")))
    assert str(driven).endswith("; 3 drives: 'actuated: false' for passive joints")
    with patch.dict(four_bar.file_names, {"crank": "crank-joint"}):
        assert np.array_equal(four_bar.assemble(hold=["crank-joint"]), q)
    assert four_bar.closed_velocities(q, [1, 1, 1], hold=["rocker"])[2] == 1
    with pytest.raises(np.linalg.LinAlgError, match="while crank, rocker"):
        four_bar.closed_velocities(q, [1, 1, 1], hold=["crank", "rocker"])
    overdriven = FOUR_BAR.replace(", actuated: false", "").replace("name: four_bar", "name: over")
    with pytest.warns(RuntimeWarning, match=r"names: coupler by 0.0.*, rocker by .* changed"):
        assert loaded(overdriven).assemble()[0] == q[0]
    (warned,) = mobility(described(overdriven)).changed
    assert warned.key == "initial.q.coupler" and "change q of coupler by -0.0" in warned.message
    assert "q of rocker by" in warned.message and "parallel" not in warned.message
    parallelogram = overdriven.replace("[1.5, 0, 0]", "[1, 0, 0]").replace(
        "cond: {", "cond: {axis: X, "
    )
    tilted = described(
        parallelogram.replace("first: {", "first: {axis: X, ").replace("X", "[1, 0, 0]")
    )
    (tilted,) = mobility(tilted).changed
    assert "axes of pin are not parallel there ('axis' of its frames" in tilted.message
    stretched = four_bar.assemble(np.zeros(3))  # all bars on one line
    assert np.abs(four_bar.constraints(stretched)).max() < 1e-12
    batch = four_bar.assemble([q + 0.1, q - 0.1], hold=["rocker"])
    assert np.allclose(batch[:, 2], [q[2] + 0.1, q[2] - 0.1], atol=0)
    assert np.abs(four_bar.constraints(batch)).max() < 1e-12
    with pytest.raises(ValueError, match=r"do not close from here: pin_. is off by"):
        four_bar.assemble(hold=["crank", "coupler", "rocker"])
    with pytest.raises(ValueError, match="no coordinate 'krank'; there are crank, coupler, rocker"):
        four_bar.assemble(hold=["krank"])
    with pytest.raises(TypeError, match="takes everything else by name"):
        four_bar.assemble(q, ["crank"])
    assert np.array_equal(four_bar.closed_velocities(q), qd[0])
    with pytest.raises(TypeError, match=r"'params'; .* freedoms\(q, \*, t=\.\.\., parameters="):
        four_bar.freedoms(q, params=1)


@pytest.mark.parametrize("backend", ["numpy", pytest.param("compiled", marks=pytest.mark.slow)])
def test_open_loops_are_named_once(backend):
    """Where a function takes them as closed, among the rows of a batch, and in later calls."""
    mechanism = loaded(FOUR_BAR, BY_STATE, backend=backend)
    closed = mechanism.assemble()
    q = np.stack([closed, np.add(closed, [0.3, 0, 0])])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for state in (closed, q, q):
            mechanism.constrained_forward_dynamics(state, 0 * state, 0 * state)
    (warning,) = caught
    assert (warning.category, warning.filename) == (RuntimeWarning, __file__)
    words = r"constrained_forward_dynamics: .* \(pin_[xy] is off by 0\.\d+\).* module\.assemble"
    assert re.match(words, str(warning.message))


def test_velocities_that_open_loops_are_named():
    functions = (*BY_STATE, "inverse_dynamics")
    mechanism = loaded(FOUR_BAR.replace("name: four_bar", "name: opening"), functions)
    q = mechanism.assemble()
    with pytest.warns(RuntimeWarning, match=r"at these qd loops open \(pin_y by 3\.9\d per s\)"):
        mechanism.constrained_forward_dynamics(q, [1, 1, 1], [0, 0, 0])
    with pytest.raises(np.linalg.LinAlgError, match="loops: at these qd loops open"):
        mechanism.constrained_inverse_dynamics(q, [1, 1, 1], [0, 0, 0])
    with pytest.raises(np.linalg.LinAlgError, match="opens the loops: at these q loops are open"):
        mechanism.constrained_inverse_dynamics([1, 1, 1], [1, 0, 0], [0, 0, 0])


@pytest.mark.parametrize("size", ["1e-10", "1e10"])
def test_torques_do_not_depend_on_the_sizes_of_rows(size):
    """Nor on batches of time alone, empty ones, rows without a value; wrong arrays are named."""
    link = "{name: %s, type: prismatic, origin: {}, link: {mass: 1}%s}"
    joints = f"[{link % ('a', '')}, {link % ('b, parent: base', ', actuated: false')}]"
    text = f"symgen: 1\nname: rows\ngravity: [0, 0, 0]\njoints: {joints}\n"
    text += f"relations: {{row: {size}*(q.a - q.b)}}\n"
    robot = loaded(text, (*BY_STATE, "inverse_dynamics"))
    state = np.zeros(2), np.zeros(2), np.ones(2)
    torques = robot.constrained_inverse_dynamics(*state)
    assert np.allclose(torques.tau, [2, 0])
    motion = robot.constrained_forward_dynamics(*state[:2], torques.tau)
    assert np.allclose(torques.multipliers, motion.multipliers)
    assert robot.constrained_inverse_dynamics(*state, t=np.zeros(3)).tau.shape == (3, 2)
    empty = np.zeros((0, 2))
    assert robot.constrained_inverse_dynamics(empty, empty, empty).tau.shape == (0, 2)
    with pytest.warns(RuntimeWarning, match="opens the loops, in 1 rows"):
        robot.constrained_inverse_dynamics(*state[:2], [[1, 1], [1, 2]])
    for wrong, error in ((1.0, ValueError), ([1, 1j], TypeError), ([1, 2, 3], ValueError)):
        with pytest.raises(error, match="qdd: expected"):
            robot.closed_accelerations(*state[:2], wrong)


def test_a_dict_by_name_keeps_the_branch_of_the_start():
    mechanism = loaded(FOUR_BAR)
    q = mechanism.assemble()
    assert np.allclose(mechanism.assemble({"crank": 1.0}), mechanism.assemble([1.0, *q[1:]]))
    turned = mechanism.assemble({"crank": [1.0, 4.0]})[1]
    assert np.allclose(turned, [4, -3.16435764, 2.63587545])  # not the crossed one, which is nearer
    with pytest.warns(RuntimeWarning, match="there is no drive at coupler"):
        motion = symgen.simulate(mechanism, {"crank": 4.0}, t=[0, 0.001], tau={"coupler": 10})
    assert np.allclose(motion.q.values[0], turned)
    with pytest.raises(
        ValueError, match=r"this branch with rocker from 1.29014 to 1\.\d+, and not"
    ):
        mechanism.assemble({"rocker": 1.0})
    with pytest.warns(RuntimeWarning, match="with all values by name: rocker by 0.29 changed"):
        mechanism.assemble({"crank": q[0], "coupler": q[1], "rocker": 1.0})


@pytest.mark.parametrize("kind", ["one drive", "three drives", *slow("bricard", "stewart")])
def test_torques_and_their_derivatives_along_closed_motions(kind):
    """Differences of torques at states beside one that is closed by `closed_accelerations`."""
    text = FOUR_BAR if kind == "one drive" else FOUR_BAR.replace(", actuated: false", "")
    if kind in ("bricard", "stewart"):
        text = EXAMPLES / "mechanisms" / f"{kind}.yaml"
    functions = [*BY_STATE, "inverse_dynamics"]
    robot, random = built(text, functions=functions), np.random.default_rng(1)
    q, x = robot.assemble(hold=[]), random.normal(size=(2, robot.n))
    qd = robot.closed_velocities(q, x[0], hold=[])
    qdd = robot.closed_accelerations(q, qd, x[1], hold=[])
    opening = robot.constraint_jacobian(q) @ qdd + robot.constraint_bias(q, qd)
    assert np.abs(opening).max() < 1e-11
    _, _, *slopes = robot.constrained_inverse_dynamics_derivatives(q, qd, qdd)
    for k, slope in enumerate(slopes[:3]):
        for direction in random.normal(size=(2, robot.n)) * 1e-6:
            sides = []
            for step in (direction, -direction):
                state = [q, qd, qdd]
                state[k] = state[k] + step if k else robot.integrate(q, step)
                sides.append(robot.constrained_inverse_dynamics(*state).tau)
            change = (sides[0] - sides[1]) / 2
            assert np.allclose(slope @ direction, change, rtol=1e-6, atol=1e-13)


def five_bar(parameters):
    functions = (*BY_STATE, *BY_PARAMETERS, "inverse_dynamics", "loop_wrenches")
    path = EXAMPLES / "mechanisms" / "five_bar.yaml"
    return built(path, functions=tuple(dict.fromkeys(functions)), runtime_parameters=parameters)


@pytest.mark.slow
def test_sensitivities_from_the_default_start_are_those_of_the_same_call():
    """The start follows the parameter with its drives held, as the assembled one does."""
    robot = five_bar("L_12")
    options = {"t": np.linspace(0, 0.3, 4), "rtol": 1e-10, "atol": 1e-12}
    slopes = symgen.simulate(robot, sensitivities="all", **options).dq.values[..., 0]
    (length,) = robot.default_parameters
    sides = [
        symgen.simulate(robot, parameters={"L_12": length + step}, **options).q.values
        for step in (1e-5, -1e-5)
    ]
    assert np.allclose(slopes, (sides[0] - sides[1]) / 2e-5, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_torques_by_parameters_of_masses_and_lengths():
    robot = five_bar("all")
    p, x = robot.default_parameters, np.random.default_rng(1).normal(size=(2, robot.n))
    q = robot.assemble()
    qd = robot.closed_velocities(q, x[0], hold=[])
    qdd = robot.closed_accelerations(q, qd, x[1], hold=[])
    slopes = robot.constrained_inverse_dynamics_parameter_derivatives(q, qd, qdd)
    for k, step in enumerate(1e-6 * np.eye(len(p))):
        sides = [
            robot.constrained_inverse_dynamics(q, qd, qdd, parameters=p + sign * step).tau
            for sign in (1, -1)
        ]
        assert np.allclose(slopes[:, k], (sides[0] - sides[1]) / 2e-6, rtol=1e-5, atol=1e-6)


PARALLELOGRAM = FOUR_BAR.replace("[1.5, 0, 0]", "[1, 0, 0]").replace("-9.81", "0")


@pytest.mark.parametrize("options", [{}, *slow({"step": 0.01})])
def test_positions_where_branches_meet_are_named(options):
    """A parallelogram lies flat when its crank is at 0 and pi; a four-bar linkage passes none."""
    linkage = loaded(PARALLELOGRAM, BY_STATE)
    start = {"crank": 2.6, "coupler": -2.6, "rocker": 2.6}, {"crank": 2}
    with pytest.warns(RuntimeWarning, match=r"at t = 0\.27\d* s the mechanism passes a singular"):
        symgen.simulate(linkage, *start, np.linspace(0, 0.4, 21), **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        symgen.simulate(linkage, *start, np.linspace(0, 0.2, 11), **options)
        symgen.simulate(loaded(FOUR_BAR, BY_STATE), t=np.linspace(0, 0.2, 11), **options)


def test_assembly_stays_near_its_start():
    """Of 20 starts far from a closed state, most led to another branch, or to full turns."""
    four_bar, random = loaded(FOUR_BAR), np.random.default_rng(1)
    starts = four_bar.assemble() + random.normal(scale=1.5, size=(20, 3))
    closed = four_bar.assemble(starts, hold=[])
    assert np.abs(four_bar.constraints(closed)).max() < 1e-11
    assert np.abs(closed - starts).max() < np.pi
    turned = four_bar.assemble() + 2 * np.pi * np.array([3, -1, 2])
    assert np.allclose(four_bar.assemble(turned + 0.01, hold=[]), turned, atol=0.05)


@pytest.mark.filterwarnings("error")
def test_a_simulation_begins_with_the_initial_state():
    four_bar = loaded(FOUR_BAR)
    motion, q = symgen.simulate(four_bar, t=[0, 0.1]), four_bar.assemble()
    assert np.allclose(motion.q[0], q)
    assert np.allclose(motion.qd[0], four_bar.closed_velocities(q, four_bar.initial_qd))
    assert not symgen.simulate(four_bar, q, t=[0, 0.1]).qd[0].any()
    tree = FOUR_BAR[: FOUR_BAR.index("loops:")] + FOUR_BAR[FOUR_BAR.index("initial:") :]
    motion = symgen.simulate(built(tree, functions="forward_dynamics"), t=[0, 0.1])
    assert np.array_equal(motion.q[0], four_bar.initial_q) and motion.qd[0, 0] == 1
    with pytest.warns(RuntimeWarning, match=r"qd0 leaves .* with rocker at .*, not 1$"):
        symgen.simulate(four_bar, None, {"crank": 2, "rocker": 1}, [0, 0.1])


def test_relations_and_distances():
    """A rod in place of the coupler; a drive and a cam as expressions, with time."""
    rod = "".join(x for x in FOUR_BAR.splitlines(True) if "coupler" not in x and "bar2" not in x)
    rod = f"""{rod[: rod.index("loops:")]}loops:
  - {{name: rod, type: distance, first: {{link: bar1, origin: {{xyz: [L, 0, 0]}}}},
     second: {{link: bar3, origin: {{xyz: [1.5, 0, 0]}}}}, length: 2}}
relations:
  cam: points.tip.x*points.tip.y - 0.3*sin(t) - d*(q.rocker - 1.12)
"""
    linkage = loaded(rod, runtime_parameters="all")
    assert linkage.constraint_names == ("rod", "cam")
    q = linkage.assemble([1.0, 1.2], t=0.4)
    tip, other = np.array([np.cos(q[0]), np.sin(q[0])]), np.array([np.cos(q[1]), np.sin(q[1])])
    assert abs(np.linalg.norm(tip - 1.5 * other - [2, 0]) - 2) < 1e-12
    assert abs(tip[0] * tip[1] - 0.3 * np.sin(0.4) - 2 * (q[1] - 1.12)) < 1e-12
    assert linkage.freedoms(q) == 0
    held = np.array([[0.8, 2.0], [1.0, 2.2]])
    by_L, by_d = (linkage.constraints(q, t=0.4, parameters=x) for x in (held[0], held[1]))
    assert np.all(by_L != by_d)


def test_relations_need_a_value_somewhere_alone():
    """A crank longer than its rod: beyond +-37 degrees nothing closes, and a root has no value."""
    text = ROD.replace("RELATION", "q.slider - cos(q.crank) - sqrt(0.36 - sin(q.crank)**2)")
    module = loaded(text)
    q = module.assemble(hold=["crank"])
    assert q[1] == pytest.approx(np.cos(0.3) + np.sqrt(0.36 - np.sin(0.3) ** 2), abs=1e-14)
    with pytest.raises(ValueError, match="assemble: rod has no value here"):
        module.assemble([1.5, 0.0])


@pytest.mark.slow
def test_a_relation_without_any_value_is_refused():
    path = file_of(ROD.replace("RELATION", "q.slider - sqrt(-1 - q.crank**2)"))
    with pytest.raises(ModelError, match=r"relations.rod: this relation has no value at any"):
        symgen.load(path, functions=CLOSED, backend="numpy")


def _refuses(function, q, *others):
    """Alone it raises, in a batch it warns and returns NaN."""
    match = rf"{function.__name__}: the constraints one and two contradict one another"
    with pytest.raises(np.linalg.LinAlgError, match=match):
        function(q, *others)
    with pytest.warns(RuntimeWarning, match=rf"{match}.*NaN in 2 rows"):
        result = function([q, q], *others)
    for array in [result] if isinstance(result, np.ndarray) else result:
        assert np.isnan(array).all()


def of_two(second):
    """Relations of which the first turns the crank by 1 rad/s."""
    return ROD.replace("{rod: RELATION}", f"{{one: q.crank - 0.3 - t, two: {second}}}")


def test_relations_that_contradict_each_other_are_named():
    """Consistent at t = 0, when `assemble` is content, and never after."""
    text = of_two("q.crank - 0.3 - 2*t")
    module = loaded(text)
    q, match = module.assemble(), "the constraints one and two contradict one another"
    with pytest.raises(RequestError, match=match):
        symgen.simulate(module, q, [0, 0], [0, 1])
    _refuses(module.closed_velocities, q, [0.0, 0.0])
    assert "contradicts the other constraints" in str(mobility(described(text)))


def test_a_relation_whose_gradient_vanishes_is_named():
    """The slider would have to leave 0 at infinite speed."""
    module = loaded(ROD.replace("RELATION", "q.slider**2 - t"))
    match = "no motion keeps the constraint rod here, where its own gradient vanishes"
    with pytest.raises(np.linalg.LinAlgError, match=match):
        module.closed_velocities([0.3, 0.0], [0.0, 0.0])


def test_accelerations_that_contradict_are_refused():
    """Relations of one velocity at t = 0 that ask for 0 and for 2 rad/s^2."""
    parted = loaded(of_two("q.crank - 0.3 - t - t*t"), BY_STATE)
    q, qd = parted.assemble(), [1.0, 0.2]
    _refuses(parted.constrained_forward_dynamics, q, qd, [0, 0])
    _refuses(parted.constrained_forward_dynamics_derivatives, q, qd, [0, 0])


def test_redundant_accelerations_are_answered():
    """By relations that agree, beside the positions that keep them."""
    twice = loaded(of_two("2*q.crank - 0.6 - 2*t"))
    once = loaded(ROD.replace("RELATION", "q.crank - 0.3 - t"))
    q, qd = once.assemble(), [1.0, 0.2]
    for beside in (0.0, 1e-7, 1e-3):
        found = twice.constrained_forward_dynamics(q + beside, qd, [0, 0]).qdd
        assert np.allclose(found, once.constrained_forward_dynamics(q + beside, qd, [0, 0]).qdd)


@pytest.mark.slow
def test_a_parameter_that_opens_the_loops_has_no_closing_derivatives():
    """Two relations that agree at one value of a parameter, and a loop held from all sides."""
    asks = "{one: q.crank - 0.3, two: q.crank - w}"
    text = ROD.replace("joints:", "parameters: {w: 0.3}\njoints:", 1)
    text = text.replace("{rod: RELATION}", asks)
    module = loaded(text, BY_PARAMETERS, runtime_parameters="all")
    q = module.assemble()
    with pytest.warns(RuntimeWarning, match="closing_derivatives: .* where w changes"):
        assert np.isnan(module.closing_derivatives(q)).all()
    with pytest.raises(RequestError, match="no motion keeps the loops closed where w changes"):
        symgen.simulate(module, q, [0, 0], [0, 1], sensitivities=["w"])
    functions = ("constraints", "constraint_jacobian", "constraints_parameter_derivatives")
    linkage = loaded(FOUR_BAR, functions, runtime_parameters="all")
    q, names = linkage.assemble(), linkage.coordinate_names
    assert np.isfinite(linkage.closing_derivatives(q, hold=names[:1])).all()
    with pytest.warns(RuntimeWarning, match="where L, d changes"):
        assert np.isnan(linkage.closing_derivatives(q, hold=names)).all()


UNITS = ROD.replace("{rod: RELATION}", "{one: s*(q.crank - 0.3 - t), two: q.slider - 0.5*q.crank}")


@pytest.mark.parametrize("s", [1e-12, 1.0, 1e8])
def test_constraints_of_any_units_are_kept(s):
    """Rank is judged in units of the rows: a small relation is no redundant one."""
    module = loaded(UNITS.replace("joints:", "parameters: {s: 1.0}\njoints:", 1),
                    runtime_parameters="all")  # fmt: skip
    q = module.assemble(parameters=[s])
    assert np.allclose(q, [0.3, 0.15], atol=1e-9)
    assert np.allclose(module.closed_velocities(q, [0, 0], parameters=[s]), [1.0, 0.5])
    found = module.constrained_forward_dynamics(q, [1.0, 0.5], [0.0, 3.0], parameters=[s])
    assert np.allclose(found.qdd, 0.0, atol=1e-12)
    assert module.freedoms(q, parameters=[s]) == 0


@pytest.mark.parametrize("backend", some_slow(["numpy", "compiled"], ["numpy"]))
def test_a_gear_beside_a_loop_of_a_kilometre_is_kept(backend):
    """The row of a distance is a million times that of the gear."""
    bar = "mass: 1000, com: [500, 0, 0], inertia: {xx: 1, yy: 8e7, zz: 8e7}"
    wheel = "mass: 1, com: [0.1, 0, 0], inertia: {xx: 0.01, yy: 0.01, zz: 0.01}"
    text = f"""
symgen: 1
name: kilometre
gravity: [0, -9.81, 0]
joints:
  - {{name: a, type: revolute, origin: {{}}, link: {{name: A, {bar}}}}}
  - {{name: b, type: revolute, parent: base, origin: {{xyz: [1000, 0, 0]}},
     link: {{name: B, {bar}}}}}
  - {{name: c, type: revolute, parent: B, origin: {{}}, link: {{{wheel}}}}}
  - {{name: d, type: revolute, parent: B, origin: {{}}, link: {{{wheel}}}}}
loops:
  - {{name: rod, type: distance, length: 1000, first: {{link: A, origin: {{xyz: [1000, 0, 0]}}}},
     second: {{link: B, origin: {{xyz: [1000, 0, 0]}}}}}}
relations: {{gear: q.d - 2*q.c}}
initial: {{q: {{a: 60*deg, b: 60*deg}}}}
"""
    module = loaded(text, backend=backend)
    q = module.assemble()
    assert module.freedoms(q) == 2
    qdd = module.constrained_forward_dynamics(q, np.zeros(4), [0, 0, 1, 0]).qdd
    assert abs(qdd[2]) > 1.0
    assert qdd[3] == pytest.approx(2 * qdd[2], rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("start", ["f_qx: 1, f_qw: 0", "f_qx: 0.95, f_qy: 0.1, f_qw: 0.2"])
def test_a_fixed_loop_is_not_closed_upside_down(start):
    """Its rows are 0 after half a turn, too: `assemble` goes on to where the frames agree."""
    body = "{mass: 1, com: [0.1, 0.2, 0.3], inertia: {xx: 0.1, yy: 0.12, zz: 0.1}}"
    text = f"""
symgen: 1
name: flip
joints:
  - {{name: a, type: revolute, origin: {{}}, axis: [0, 1, 0], link: {{name: A, {body[1:]}}}
  - {{name: f, type: floating, parent: base, coordinates: quaternion, origin: {{}},
     link: {{name: B, {body[1:]}}}
loops: [{{name: w, type: fixed, first: {{link: A}}, second: {{link: B}}}}]
initial: {{q: {{{start}}}}}
"""
    module = loaded(text, ("constraints", "constraint_jacobian", "forward_kinematics"))
    first, second = module.forward_kinematics(module.assemble())
    assert np.allclose(first, second, atol=1e-9)
    said = str(open_loops(described(text), mobility(described(text))))
    assert ("w: its frames are half a turn off" in said) == ("0.2" not in start)
    with pytest.raises(ValueError, match="w closes from here with its frames half a turn off only"):
        module.assemble([0.0, 0, 0, 0, 1, 0, 0, 0], hold=module.coordinate_names)


def test_axes_of_a_hinge_may_be_opposite():
    """A hinge has no direction: which one its frames share is that of the initial positions."""
    end = "origin: {xyz: [1.5, 0, 0]}"
    text = FOUR_BAR.replace(end, f"{end}, axis: [0, 0, -1]")
    assert text != FOUR_BAR
    module = loaded(text, ("constraints", "constraint_jacobian"))
    assert np.abs(module.constraints(module.assemble())).max() < 1e-9
    assert mobility(described(text)).turned == ""


def test_names_that_are_held_are_a_list():
    four_bar = loaded(FOUR_BAR)
    for function in (four_bar.assemble, four_bar.closing_derivatives):
        with pytest.raises(
            ValueError, match=r"hold: expected a list of names, such as \['crank'\]"
        ):
            function(four_bar.initial_q, hold="crank")
    with pytest.raises(ValueError, match=r"tau: expected shape \(..., 3\), got \(2,\)"):
        four_bar.constrained_forward_dynamics(four_bar.initial_q, [0, 0, 0], [1, 0])
