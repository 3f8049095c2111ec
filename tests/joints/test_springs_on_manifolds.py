"""Springs of balls and free bodies: MuJoCo's law, exact at rest, up to half a turn, and beyond."""

import mpmath
import numpy as np
import pytest

import symgen
from symgen.description import read
from symgen.exact import prove
from tests.choosing import deep, one_in
from tests.modules import file_of, module

BALL = """symgen: 1
name: sprung_ball
gravity: [0, 0, 0]
joints:
  - {name: ball, type: spherical, coordinates: quaternion, origin: {}, stiffness: 1,
     link: {mass: 0, inertia: {xx: 1, yy: 1, zz: 1}}}
"""
SPRUNG = """symgen: 1
name: sprung
parameters: {m: 1.2, k: 3.0, r: 0.3, c: 0.1}
joints:
  - {name: body, type: floating, coordinates: quaternion,
     origin: {xyz: [0, 0, 0.1], rpy: [0.1, 0.2, 0.3]}, stiffness: [5, 5, 5, k, k, k],
     rest: [0.1, 0.2, r, 0.1, r, 0.3, 0.9], damping: 0.2, added_mass: 4*c,
     rotor_inertia: [0.2, 0.3, 0.1, c, 0.02, 0.03],
     link: {mass: m, com: [0.1, 0.02, 0.03], inertia: {xx: 0.03, yy: 0.04, zz: 0.05, xy: 0.001}}}
  - {name: arm, type: revolute, origin: {xyz: [0, 0, -0.05]}, axis: [0, 1, 0], stiffness: 2,
     rest: 0.4, link: {mass: 0.2, com: [0, 0, -0.1], inertia: {xx: 0.001, yy: 0.001, zz: 0.0001}}}
  - name: ball
    type: spherical
    coordinates: quaternion
    origin: {xyz: [0, 0.1, -0.2]}
    stiffness: 2*k
    PRESCRIBED
    rotor_inertia: [0.01, 0.02, c]
    friction: c/10
    link: {mass: 0.3, com: [0.1, 0, -0.1], inertia: {xx: 0.002, yy: 0.003, zz: 0.004}}
loads: [{name: tip, link: ball}]
outputs: {energy: potential_energy}
"""
MUJOCO = """<mujoco>
  <worldbody>
    <body name="body" pos="0.1 -0.2 0.3" quat="0.8 0.2 -0.4 0.4">
      <joint name="root" type="free" stiffness="3" damping="0.2" armature="0.4"
        frictionloss="0.3"/>
      <inertial pos="0.01 0.02 0.03" mass="1.3" fullinertia="0.03 0.04 0.05 0.001 0.002 0.003"/>
      <body name="bob" pos="0.1 0.2 0.3" quat="0.5 0.5 -0.5 0.5">
        <joint name="ball" type="ball" pos="0.02 0.03 0.04" stiffness="0.7" armature="0.01"
          frictionloss="0.05"/>
        <inertial pos="0.1 0.02 0.3" mass="0.3" fullinertia="0.003 0.004 0.005 1e-4 2e-4 3e-4"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""


@pytest.fixture(scope="module")
def ball():
    names = ("inverse_dynamics", "inverse_dynamics_derivatives", "forward_dynamics")
    return module(BALL, functions=(*names, "kinetic_energy", "potential_energy"))


def sprung(*functions, held=""):
    """A free body, an arm and a ball, all on springs."""
    text = SPRUNG.replace("PRESCRIBED", held or "damping: 0.01")
    return module(text, functions=functions, runtime_parameters="all")


ANGLES = [
    0, 1e-200, 1e-155, 1e-150, 3e-150, 1e-149, 1e-20, 1e-9, 1e-8, 1e-5, 1e-3, 0.1, 1, 3, 3.14159,
    np.pi - 1e-9, np.pi + 1e-9, 3.2, 5, 6.2, 2 * np.pi - 1e-5, 2 * np.pi - 1e-9,
]  # fmt: skip


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.filterwarnings("error")
def test_law_with_all_digits(ball, angle):
    """The shortest rotation vector and its derivative, the inverse right Jacobian, in 60 digits."""
    still, axis = np.zeros(3), (0.48, -0.6, 0.64)
    with mpmath.workdps(60):
        half = mpmath.mpf(angle) / 2
        q = np.array([*(float(mpmath.sin(half) * x) for x in axis), float(mpmath.cos(half))])
        v, w = [mpmath.mpf(x) for x in q[:3]], mpmath.mpf(q[3])
        s = mpmath.sqrt(sum(x * x for x in v))
        turn = 2 * mpmath.atan2(s, w)
        turn = turn - 2 * mpmath.pi if turn > mpmath.pi else turn
        n = [x / s if s else mpmath.mpf(0) for x in v]
        a, (x, y, z) = (turn / 2 * w / s if s else mpmath.mpf(1)), [turn * i for i in n]
        bend = [[(1 - a) * i * k for k in n] for i in n]
        cross = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
        jacobian = [
            [float(a * (i == k) + bend[i][k] + mpmath.mpf(cross[i][k]) / 2) for k in range(3)]
            for i in range(3)
        ]
        expected, energy = np.array([float(x), float(y), float(z)]), float(turn * turn / 2)
    tau, by_q, _, _ = ball.inverse_dynamics_derivatives(q, still, still)
    np.testing.assert_allclose(tau, expected, rtol=1e-15, atol=4e-16 * np.abs(expected).max())
    np.testing.assert_allclose(by_q, jacobian, rtol=1e-15, atol=6e-16 * np.abs(jacobian).max())
    np.testing.assert_allclose(ball.potential_energy(q), energy, rtol=1e-15, atol=1e-300)


def test_half_a_turn_has_a_value(ball):
    still = np.zeros(3)
    assert abs(ball.inverse_dynamics([1.0, 0, 0, 0], still, still)[0]) == np.pi
    assert np.isfinite(ball.inverse_dynamics_derivatives([1.0, 0, 0, 0], still, still)[1]).all()


@pytest.mark.slow
@pytest.mark.parametrize("held", ["prescribed: true", *deep("")])
def test_derivatives_are_slopes(held):
    names = ["inverse_dynamics", "forward_dynamics", *(["hybrid_dynamics"] if held else [])]
    robot = sprung(*names, *(f"{name}_derivatives" for name in names), held=held)
    rng = np.random.default_rng(0)
    q = robot.random_configuration(rng, 40)
    qd, x = rng.normal(size=(2, 40, robot.n))
    for name in names:
        function = getattr(robot, name)
        by_q = getattr(robot, f"{name}_derivatives")(q, qd, x)[1]
        for k, unit in enumerate(1e-6 * np.eye(robot.n)):
            ends = [function(robot.integrate(q, sign * unit), qd, x) for sign in (1, -1)]
            slope = (ends[0] - ends[1]) / 2e-6
            np.testing.assert_allclose(by_q[..., k], slope, atol=2e-8 * (1 + np.abs(slope).max()))


PROVEN = {
    "first": (SPRUNG.replace("    PRESCRIBED\n", ""), (
        "potential_energy", "gravity_forces", "inverse_dynamics", "inverse_dynamics_derivatives",
        "forward_dynamics", "forward_dynamics_derivatives", "outputs", "outputs_derivatives",
    )),
    "second": (SPRUNG.split("  - {name: arm")[0], (
        "inverse_dynamics_derivatives", "inverse_dynamics_hessian", "inverse_dynamics_hvp",
        "inverse_dynamics_vjp", "forward_dynamics_vjp", "forward_dynamics_hvp",
    )),
}  # fmt: skip
"""Second derivatives are those of a free body: of its travel, too."""


@pytest.mark.slow
@pytest.mark.parametrize("order", ["second", *deep("first")])
def test_derivatives_are_proven(order):
    text, functions = PROVEN[order]
    proof = prove(read(file_of(text)), functions=functions)
    assert proof.passed, str(proof)


@pytest.mark.slow
def test_as_mujoco_has_them():
    """Torques, springs and energies; its linear velocities are in world axes.

    At these speeds friction is Coulomb's on both sides: there as a constraint that slips."""
    mujoco = pytest.importorskip("mujoco")
    path = file_of(MUJOCO, "xml")
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    data = mujoco.MjData(model)
    functions = ("inverse_dynamics", "torque_parts", "potential_energy", "forward_kinematics")
    robot = module(path, functions=functions)
    rng = np.random.default_rng(1)
    for _ in range(100):
        q = robot.random_configuration(rng)
        qdd, speeds = rng.normal(size=robot.n), rng.uniform(0.3, 2, size=robot.n)
        R = robot.frame_pose("body", q)[:3, :3]
        to_world = np.eye(robot.n)
        to_world[:3, :3] = R
        data.qpos[:] = q[[0, 1, 2, 6, 3, 4, 5, 10, 7, 8, 9]]
        data.qvel[:] = speeds * rng.choice([-1, 1], size=robot.n)
        qd = to_world.T @ data.qvel
        data.qacc[:] = to_world @ qdd
        data.qacc[:3] += R @ np.cross(qd[3:6], qd[:3])
        mujoco.mj_inverse(model, data)
        tau = robot.inverse_dynamics(q, qd, qdd)
        np.testing.assert_allclose(tau, to_world.T @ data.qfrc_inverse, atol=1e-12)
        still = np.zeros(robot.n)
        springs = robot.torque_parts(q, still, still).joint_terms
        np.testing.assert_allclose(springs, -to_world.T @ data.qfrc_spring, atol=1e-12)
        mujoco.mj_energyPos(model, data)
        np.testing.assert_allclose(robot.potential_energy(q), data.energy[0], atol=1e-12)


def test_energy_is_kept(ball):
    """A tumbling ball on its spring, through more than half a turn."""
    start = ball.integrate(ball.neutral(), np.array([1.0, 0.4, -0.3]))
    run = symgen.simulate(ball, start, np.array([0.5, 0.2, 0.1]), np.linspace(0, 8, 17))
    q, qd = run.q.to_numpy(), run.qd.to_numpy()
    energy = ball.potential_energy(q) + ball.kinetic_energy(q, qd)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-6)


@pytest.fixture(scope="module")
def bent():
    names = ("inverse_dynamics_hessian", "inverse_dynamics_hvp", "forward_dynamics_hvp")
    return module(BALL, functions=names)


@pytest.mark.slow
@pytest.mark.parametrize("angle", one_in(3, ANGLES))
@pytest.mark.filterwarnings("error")
def test_second_derivatives_with_all_digits(bent, angle):
    """Central differences of the rotation vector along the exponential, in 80 digits."""
    still, axis, weights = np.zeros(3), (0.48, -0.6, 0.64), np.array([0.3, -0.7, 0.5])
    expected, step = np.zeros((3, 3)), mpmath.mpf(10) ** -22
    with mpmath.workdps(80):
        half = mpmath.mpf(angle) / 2
        q = np.array([*(float(mpmath.sin(half) * x) for x in axis), float(mpmath.cos(half))])

        def torque(k, i, *signs):
            e = [mpmath.mpf(0)] * 3
            for place, sign in zip((k, i), signs, strict=True):
                e[place] += sign * step
            return _weighted(q, e, weights)

        for k, i in np.ndindex(3, 3):
            ends = torque(k, i, 1, 1) - torque(k, i, 1, -1)
            ends += torque(k, i, -1, -1) - torque(k, i, -1, 1)
            expected[k, i] = float(ends / (4 * step**2))
    found = bent.inverse_dynamics_hessian(q, still, still, weights)[0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=4e-16)
    along = np.array([0.2, 0.5, -0.9])
    for name, sign in (("inverse_dynamics_hvp", 1), ("forward_dynamics_hvp", -1)):
        product = getattr(bent, name)(q, still, still, weights, along, still, still)[0]
        np.testing.assert_allclose(product, sign * expected @ along, rtol=0, atol=4e-16)


def _weighted(q, e, weights):
    """weights . (shortest rotation vector of q turned by the rotation vector e)."""
    size = mpmath.sqrt(sum(x * x for x in e))
    sine = mpmath.sin(size / 2) / size if size else mpmath.mpf(0)
    u, v = [mpmath.mpf(float(x)) for x in q[:3]], [sine * x for x in e]
    s, w = mpmath.mpf(float(q[3])), mpmath.cos(size / 2)
    crossed = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
    way = [s * y + w * x + z for x, y, z in zip(u, v, crossed, strict=True)]
    real = s * w - sum(x * y for x, y in zip(u, v, strict=True))
    sine = mpmath.sqrt(sum(x * x for x in way))
    turn = 2 * mpmath.atan2(sine, abs(real)) * (1 if real >= 0 else -1)
    return sum(float(m) * turn * x / sine for m, x in zip(weights, way, strict=True)) if sine else 0
