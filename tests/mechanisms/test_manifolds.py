"""Loops beside joints with quaternions: Pinocchio, trees, differences along integrate()."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import symgen
from symgen.validation.compiled_mechanisms import accelerations
from tests.mechanisms.models import SEAT, body, loaded, model

STEP = 1e-6


@cache
def closed(backend="numpy"):
    """A trunk that is welded to the base, an arm, a hand on a ball, held by a rod."""
    joints = [
        {"name": "root", "type": "floating", "coordinates": "quaternion", "damping": 0.1,
         "origin": {"xyz": [0.1, 0.2, 0.3], "rpy": [0.2, 0.1, 0.4]}, "link": body("trunk", 2.0)},
        {"name": "shoulder", "type": "revolute", "axis": [0, 1, 0],
         "origin": {"xyz": [0.3, 0, 0.1]}, "link": body("arm", 1.5)},
        {"name": "wrist", "type": "spherical", "coordinates": "quaternion", "origin": SEAT,
         "link": body("hand", 0.8)},
    ]  # fmt: skip
    loops = [
        {"name": "seam", "type": "fixed", "first": {"link": "base", "origin": SEAT},
         "second": {"link": "trunk", "origin": {"rpy": [0.1, 0.2, 0.3]}}},
        {"name": "rod", "type": "distance", "length": 0.5,
         "first": {"link": "base", "origin": {"xyz": [1, 0, 0]}},
         "second": {"link": "hand", "origin": {"xyz": [0, 0.1, "w/10"]}}},
    ]  # fmt: skip
    return loaded(
        model(
            "held", joints, gravity=[1.0, -9.81, 2.0], loops=loops, parameters={"w": 3.0},
            points=[{"name": "P", "link": "hand", "point": [0.1, 0.2, 0.3]}],
            relations={"track": "points.P.x - sin(t)*w/3 - q.shoulder**2"},
            initial={"q": {"root_x": 0.3, "root_qx": 1, "root_qw": 2}, "qd": {"root_vx": 0.4}},
        ),
        runtime_parameters="all", backend=backend,
    )  # fmt: skip


def test_accelerations_in_c():
    """Those of Python; coordinates of another number than nq are refused, not read beyond."""
    held = closed("cython")
    rows = list(accelerations(held))
    assert len(rows) == 10 and all(row.passed and row.samples for row in rows)
    still = np.zeros(held.n)
    with pytest.raises(ValueError, match=r"q: expected shape \(..., 12\), got \(10,\)"):
        held.constrained_forward_dynamics(still, still, still)


def test_every_function_keeps_its_laws():
    """Complex steps through integrate(), rates, the numeric model: what a build checks."""
    checks = closed().selftest()
    assert all(check.passed for check in checks)
    said = {check.name for check in checks}
    for what in (
        "constraint_jacobian = complex step of constraints",
        "constraint_bias = rate of constraint_rates at qdd = 0",
        "constraint_acceleration_derivatives, dcdd_dq = complex step of the value",
        "constraint_torque_derivatives, dp_dq = complex step of the value",
        "constraint_torque_parameter_derivatives = complex step of constraint_torque_derivatives",
    ):
        assert what in said


def test_derivatives_of_accelerations_and_multipliers():
    """Against central differences along integrate(), at states that keep no constraint."""
    held = closed()
    random = np.random.default_rng(1)
    q, (v, tau) = held.random_configuration(random), random.normal(size=(2, held.n))
    found = held.constrained_forward_dynamics_derivatives(q, v, tau, t=0.4)
    steps = STEP * np.eye(held.n)
    sides = [
        held.constrained_forward_dynamics(held.integrate(q, sign * steps), v, tau, t=0.4)
        for sign in (1, -1)
    ]
    for result in ("qdd", "multipliers"):
        slope = (getattr(sides[0], result) - getattr(sides[1], result)).T / (2 * STEP)
        assert np.allclose(getattr(found, f"d{result}_dq"), slope, atol=2e-6, rtol=1e-6)


def test_it_is_put_together_on_the_manifold():
    """From the initial attitude, normalized; what is held stays."""
    held = closed()
    assert np.allclose(held.initial_q[3:7], [1 / 5**0.5, 0, 0, 2 / 5**0.5], atol=1e-15)
    assert held.initial_qd[0] == 0.4
    q = held.assemble(t=0.4)
    assert np.abs(held.constraints(q, t=0.4)).max() < 1e-12
    assert np.allclose(held.normalize(q), q, atol=1e-15)
    ball = [f"wrist_{x}" for x in ("wx", "wy", "wz")]
    begin = held.integrate(q, 0.01 * np.ones(held.n))
    again = held.assemble(begin, hold=[ball[0]], t=0.4)
    assert np.abs(held.constraints(again, t=0.4)).max() < 1e-12
    qd = held.closed_velocities(q, held.initial_qd, t=0.4)
    assert np.abs(held.constraint_rates(q, qd, t=0.4)).max() < 1e-12
    motion = held.constrained_forward_dynamics(q, qd, np.zeros(held.n), t=0.4)
    tau = held.constrained_inverse_dynamics(q, qd, motion.qdd, t=0.4).tau
    known = held.constrained_forward_dynamics(q, qd, tau, t=0.4)
    assert np.allclose(known.qdd, motion.qdd, atol=1e-9)


HUNG = {
    "gravity": [0, 0, -9.81], "parameters": {"M": 1.3, "L": 0.4},
    "outputs": {"height": {"value": "center_of_mass.z"}},
}  # fmt: skip


def hung(joint, **more):
    """A heavy body on a ball at one end."""
    link = {"name": "bob", "mass": "M", "com": [0.1, 0.2, "L"], "inertia": {"xx": 0.1, "yy": 0.2,
            "zz": 0.25, "xy": 0.01}}  # fmt: skip
    joint = {"name": "ball", "coordinates": "quaternion", "origin": {}, "link": link, **joint}
    return loaded(model("hung", [joint], **HUNG, **more), runtime_parameters="all")


def test_a_body_on_a_ball_moves_as_the_tree_does():
    """Motion and sensitivities by parameters, of which one moves the ball in the body."""
    tree = hung({"type": "spherical"})
    ends = {"first": {"link": "base"}, "second": {"link": "bob"}}
    free = hung({"type": "floating"}, loops=[{"name": "pin", "type": "spherical", **ends}])
    t, spin = np.linspace(0, 1, 5), np.array([0.7, -0.4, 1.1])
    attitude = tree.random_configuration(np.random.default_rng(2))
    options = {"sensitivities": "all", "objectives": "all", "rtol": 1e-10, "atol": 1e-12}
    start = np.concatenate([np.zeros(3), attitude]), np.concatenate([np.zeros(3), spin])
    way = np.array([0.1, 0.2, 0.3])  # in which the attitude at the start varies, too
    turned = symgen.simulate(tree, attitude, spin, t, dq0={"M": way}, **options)
    given = {"M": np.concatenate([np.zeros(3), way])}
    found = symgen.simulate(free, *start, t, dq0=given, **options)
    assert found.violation.max() < 1e-9
    assert np.allclose(found.q.values[:, 3:], turned.q.values, atol=1e-8)
    assert np.allclose(found.qd.values[:, 3:], turned.qd.values, atol=1e-7)
    assert np.allclose(found.dq.values[:, 3:], turned.dq.values, atol=1e-7)
    assert np.allclose(found.integral_gradient, turned.integral_gradient, atol=1e-7)


def test_sensitivities_of_the_start_keep_the_loops_closed():
    """Both rows of the tangent of a start that is moved, against starts that are."""
    held = closed()
    q = held.assemble(t=0.4)
    qd = held.closed_velocities(q, 0.3 * np.ones(held.n), t=0.4)
    random = np.random.default_rng(3)
    dq0, dqd0 = random.normal(size=(2, held.n, 1))
    slow = {"sensitivities": ["w"], "max_step": 0.01}
    found = symgen.simulate(held, q, qd, [0.4, 0.41], dq0=dq0, dqd0=dqd0, **slow)
    dq, dqd = found.dq.values[0], found.dqd.values[0]
    rows = []
    for sign in (1, -1):
        moved = held.integrate(q, sign * STEP * dq[:, 0]), qd + sign * STEP * dqd[:, 0]
        given = {"t": 0.4, "parameters": [3.0 + sign * STEP]}
        rows.append((held.constraints(moved[0], **given), held.constraint_rates(*moved, **given)))
    for one, other in zip(*rows, strict=True):
        assert np.abs(one - other).max() / (2 * STEP) < 1e-8


def test_pinocchio_agrees_on_a_floating_chain_that_is_closed():
    """A free flyer, a hinge and a ball, closed by a weld and by a point."""
    pin = pytest.importorskip(
        "pinocchio", reason="needs pinocchio: pip install 'symgen[test-robots]'"
    )
    if not hasattr(pin, "RigidConstraintModel"):
        pytest.skip("this Pinocchio has no constraints")
    random = np.random.default_rng(5)
    rigid, joints, number = pin.Model(), [], 0
    rigid.gravity.linear = np.array([0.0, 0.0, -9.81])
    moments = {"xx": 0.1, "yy": 0.2, "zz": 0.25}
    kinds = [
        ("floating", pin.JointModelFreeFlyer()), ("revolute", pin.JointModelRZ()),
        ("spherical", pin.JointModelSpherical()), ("revolute", pin.JointModelRZ()),
    ]  # fmt: skip
    for k, (kind, theirs) in enumerate(kinds):
        xyz, rpy = random.uniform(-0.4, 0.4, 3), random.uniform(-1, 1, 3)
        com, mass = random.uniform(-0.2, 0.2, 3), random.uniform(0.5, 2)
        number = rigid.addJoint(number, theirs, pin.SE3(pin.rpy.rpyToMatrix(rpy), xyz), f"j{k}")
        inertia = pin.Inertia(mass, com, np.diag([*moments.values()]))
        rigid.appendBodyToJoint(number, inertia, pin.SE3.Identity())
        own = {} if kind == "revolute" else {"coordinates": "quaternion"}
        joints.append({
            "name": f"j{k}", "type": kind, **own,
            "origin": {"xyz": xyz.tolist(), "rpy": rpy.tolist()},
            "link": {"name": f"l{k}", "mass": mass, "com": com.tolist(), "inertia": moments},
        })  # fmt: skip
    data = rigid.createData()
    q = pin.randomConfiguration(rigid, -np.ones(rigid.nq), np.ones(rigid.nq))
    v, tau = random.uniform(-1, 1, (2, rigid.nv))
    pin.forwardKinematics(rigid, data, q)
    there = pin.SE3(pin.rpy.rpyToMatrix(np.array([0.1, 0.2, 0.3])), np.array([0.1, 0.2, 0.3]))
    contacts, datas, loops = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData(), []
    for name, link, kind, ours in (
        ("weld", 1, pin.ContactType.CONTACT_6D, "fixed"),
        ("point", 4, pin.ContactType.CONTACT_3D, "spherical"),
    ):
        here = data.oMi[link].act(there)
        contact = pin.RigidConstraintModel(
            kind, rigid, link, there, 0, here, pin.ReferenceFrame.LOCAL
        )
        contacts.append(contact)
        datas.append(contact.createData())
        ends = {
            side: {"link": name, "origin": {"xyz": at.translation.tolist(),
                   "rpy": pin.rpy.matrixToRpy(at.rotation).tolist()}}
            for side, name, at in (("first", "base", here), ("second", f"l{link - 1}", there))
        }  # fmt: skip
        loops.append({"name": name, "type": ours, **ends})
    chain = loaded(model("chain", joints, loops=loops))
    assert np.abs(chain.constraints(q)).max() < 1e-12
    v = chain.closed_velocities(q, v)
    pin.initConstraintDynamics(rigid, data, contacts, datas)
    expected = pin.constraintDynamics(rigid, data, q, v, tau, contacts, datas)
    found = chain.constrained_forward_dynamics(q, v, tau)
    assert np.allclose(found.qdd, expected, rtol=1e-8, atol=1e-8)
