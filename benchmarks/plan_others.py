"""Those who cannot state the program of `benchmarks.planning`, or not to the same solver.

Drake states it exactly: `KinematicTrajectoryOptimization` with the same spline, the velocities of
its control points and the efforts at the same instants limited, its duration minimised.  It has no
second derivatives, and solvers of its own: SNOPT, and IPOPT with limited memory.

Crocoddyl's programs have a given time.  It gets that of symgen's optimum, explicit Euler steps
between the same instants, limits of torques as bounds (BoxFDDP), the squared torques as objective;
velocities beyond their limits and the distance from the goal are penalties.  What it leaves
violated stands beside it.
"""

import time

import numpy as np

from benchmarks.plan_contestants import Solution

PENALTY = 1e5
MOST_STEPS = 500


def by_drake_snopt(setting):
    """Drake's KinematicTrajectoryOptimization by SNOPT."""
    from pydrake.solvers import SnoptSolver, SolverOptions

    options = SolverOptions()
    for key in ("Major optimality tolerance", "Major feasibility tolerance"):
        options.SetOption(SnoptSolver.id(), key, 1e-6)
    options.SetOption(SnoptSolver.id(), "Major iterations limit", 3000)
    return _by_drake(setting, SnoptSolver(), options)


def by_drake_ipopt(setting):
    """The same by the IPOPT of Drake."""
    from pydrake.solvers import IpoptSolver, SolverOptions

    options = SolverOptions()
    options.SetOption(IpoptSolver.id(), "tol", 1e-6)
    options.SetOption(IpoptSolver.id(), "max_iter", 3000)
    return _by_drake(setting, IpoptSolver(), options)


def _by_drake(setting, solver, options):
    from pydrake.math import BsplineBasis, KnotVectorType
    from pydrake.planning import KinematicTrajectoryOptimization
    from pydrake.trajectories import BsplineTrajectory

    begun = time.perf_counter()
    robot, task, profile = setting.robot, setting.task, setting.profile
    n, M, start = robot.n, profile.controls, setting.start()
    plant = _plant(setting.bodies)
    context = plant.CreateDefaultContext()
    basis = BsplineBasis(4, M, KnotVectorType.kClampedUniform, 0.0, start[-1])
    control = start[: M * n].reshape(M, n)
    kto = KinematicTrajectoryOptimization(
        BsplineTrajectory(basis, [row.reshape(n, 1) for row in control])
    )
    kto.AddDurationCost(1.0)
    kto.AddDurationConstraint(*task.time)
    still = np.zeros((n, 1))
    for s, state in ((0.0, task.start), (1.0, task.goal)):
        kto.AddPathPositionConstraint(state.q, state.q, s)
        kto.AddPathVelocityConstraint(still, still, s)
    kto.AddPositionBounds(*task.limits.position.T)
    kto.AddVelocityBounds(*task.limits.velocity.T)
    kto.AddEffortBoundsAtNormalizedTimes(plant, setting.instants, *task.limits.torque.T, context)
    construction = time.perf_counter() - begun
    begun = time.process_time()
    result = solver.Solve(kto.prog(), None, options)
    seconds = time.process_time() - begun
    T = result.GetSolution(kto.duration())
    x = np.append(result.GetSolution(kto.control_points()).T.ravel(), T)
    return Solution(
        T, seconds, construction, result.is_success(), violation=setting.violation(x),
        note="first derivatives; 1e-6",
    )  # fmt: skip


def _plant(bodies):
    from pydrake.math import RigidTransform, RotationMatrix
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import (
        FixedOffsetFrame,
        RevoluteJoint,
        RotationalInertia,
        SpatialInertia,
        UnitInertia,
    )

    plant = MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector(bodies.gravity)
    links = []
    for i in range(bodies.n):
        mass, center, J = bodies.masses[i], bodies.centers[i], bodies.inertias[i]
        about = J + mass * (center @ center * np.eye(3) - np.outer(center, center))
        moments = about[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        unit = UnitInertia()
        unit.SetFromRotationalInertia(RotationalInertia(*moments), mass)
        links.append(plant.AddRigidBody(f"link{i}", SpatialInertia(mass, center, unit)))
        parent = plant.world_body() if bodies.parents[i] < 0 else links[bodies.parents[i]]
        place = RigidTransform(RotationMatrix(bodies.rotations[i]), bodies.positions[i])
        frame = plant.AddFrame(FixedOffsetFrame(f"seat{i}", parent.body_frame(), place))
        joint = plant.AddJoint(
            RevoluteJoint(f"joint{i}", frame, links[i].body_frame(), [0, 0, 1], 0.0)
        )
        plant.AddJointActuator(f"drive{i}", joint)
    plant.Finalize()
    return plant


def by_crocoddyl(setting, T):
    """Given T, the least effort with limited torques; what is violated beside it."""
    import crocoddyl

    from benchmarks.contestants.pinocchio_python import pinocchio_model

    begun = time.perf_counter()
    task, count = setting.task, len(setting.instants) - 1
    state = crocoddyl.StateMultibody(pinocchio_model(setting.bodies))
    n, drives = state.nv, crocoddyl.ActuationModelFull(state)
    goal = np.concatenate([task.goal.q, np.zeros(n)])
    fast = np.concatenate([np.full(n, -np.inf), task.limits.velocity[:, 0]])
    bounds = crocoddyl.ActivationBounds(fast, np.where(np.isfinite(fast), -fast, np.inf))
    barrier = crocoddyl.ActivationModelQuadraticBarrier(bounds)
    residual = crocoddyl.ResidualModelState(state, np.zeros(2 * n), n)
    speeds = crocoddyl.CostModelResidual(state, barrier, residual)
    effort = crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelControl(state, n))
    miss = crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelState(state, goal, n))

    def node(costs, dt):
        model = crocoddyl.CostModelSum(state, n)
        for name, cost, weight in costs:
            model.addCost(name, cost, weight)
        dynamics = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, drives, model)
        found = crocoddyl.IntegratedActionModelEuler(dynamics, dt)
        found.u_lb, found.u_ub = task.limits.torque.T
        return found

    running = node((("effort", effort, 1e-4), ("speed", speeds, PENALTY)), T / count)
    last = node((("goal", miss, PENALTY),), 0.0)
    begin = np.concatenate([task.start.q, np.zeros(n)])
    shooting = crocoddyl.ShootingProblem(begin, [running] * count, last)
    solver = crocoddyl.SolverBoxFDDP(shooting)
    share = setting.instants**2 * (3 - 2 * setting.instants)
    line = task.start.q + share[:, None] * (task.goal.q - task.start.q)
    rate = np.gradient(line, T / count, axis=0)
    states = [begin, *(np.concatenate(pair) for pair in zip(line[1:], rate[1:], strict=True))]
    held = setting.robot.inverse_dynamics(line, np.zeros_like(line), np.zeros_like(line))
    construction = time.perf_counter() - begun
    begun = time.process_time()
    solved = solver.solve(states, list(np.clip(held[:-1], *task.limits.torque.T)), MOST_STEPS)
    seconds = time.process_time() - begun
    found = np.array(solver.xs)
    speed = (np.abs(found[:, n:]) / task.limits.velocity[:, 1]).max() - 1
    ends = np.abs(found[-1] - goal)
    note = (
        f"ends {ends[:n].max():.1e} rad and {ends[n:].max():.1e} rad/s from the goal, "
        f"speeds exceed limits by {100 * max(speed, 0):.2g} %"
    )
    return Solution(T, seconds, construction, solved, int(solver.iter), note=note)
