"""Checks of robots and tasks: whether a plan supports them, contradictions, remarks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symgen.description import RobotDescription
from symgen.description.wording import KeyPath, degrees_meant, key_path, seems_in_degrees, shown
from symgen.errors import RequestError
from symgen.page.animation import by_unit
from symgen.planning.contacts import Contacts
from symgen.planning.holding import too_weak
from symgen.planning.loads import depends_on_time
from symgen.planning.loops import Opened
from symgen.planning.obstacles import Distances, KeepOut, Sphere
from symgen.planning.placements import point_of
from symgen.planning.poses import position_of
from symgen.planning.quantities import MotionSamples, Quantity
from symgen.planning.standing import cycle
from symgen.planning.starting import out_of_reach
from symgen.planning.support import widest
from symgen.planning.task import COLLOCATION, LONGEST, PER_SEGMENT, SHORTEST, State, Task
from symgen.planning.transcription import instants
from symgen.planning.values import Value
from symgen.support.arrays import Array

REQUIRED = ("inverse_dynamics", "inverse_dynamics_derivatives", "forward_kinematics")
"""Functions of the module that every plan calls."""
OF_TREES = ("forward_dynamics", "forward_dynamics_derivatives")
OF_MECHANISMS = (
    "constraints", "constraint_jacobian", "constraint_rates", "constraint_torque_derivatives",
    "constraint_acceleration_derivatives", "constraint_bias",
)  # fmt: skip
TRIED, FAR = 64, 100.0
"""Random configurations whose reach is compared with positions, and the ratio that is remarked."""
INSIDE = 1e-6
"""Overlap (m) that is reported."""


def check_module(module: Any) -> None:
    """Raise `RequestError` for a module that lacks what a plan needs."""
    timed = getattr(module, "timed", False) or getattr(module, "_timed_relations", False)
    rolls = any(getattr(module, "_velocity_rows", ()))
    _check_kind(any(module.prescribed), module.n, rolls, timed)
    more = OF_MECHANISMS if getattr(module, "n_constraints", 0) else OF_TREES
    missing = [name for name in (*REQUIRED, *more) if name not in module.functions]
    if missing:
        names = ", ".join(missing)
        raise RequestError(f"plan: the module lacks {names}; rebuild it without --functions")


def check_robot(robot: RobotDescription) -> None:
    """Raise `RequestError` for a robot that has no plans, before anything is built."""
    prescribed = any(any(joint.prescribed) for joint in robot.joints)
    rolls = any(relation.is_of_velocities for relation in robot.relations)
    timed = any(relation.is_timed for relation in robot.relations)
    _check_kind(prescribed, len(robot.coordinate_names), rolls, timed or robot.is_timed)


def _check_kind(prescribed: bool, n: int, rolls: bool, timed: bool) -> None:
    if rolls:
        raise RequestError(
            "plan: relations of velocities (rolling) are not available yet in plans; remove them "
            "from 'relations' of the model"
        )
    if prescribed:
        raise RequestError(
            "plan: a joint of this robot is prescribed; plans are for robots whose joints are all "
            "driven"
        )
    if timed:
        raise RequestError(
            "plan: a force or a relation of the model mentions the time, t, which is not available "
            "yet in plans; 'loads' of the task may, and joints with a drive take the place of a "
            "relation"
        )
    if not n:
        raise RequestError("plan: this robot has no coordinates")


def check_task(root: Value, keys: Collection[str], module: Any, task: Task) -> None:
    """Report contradictions: ends outside limits, a free time without a weight, unserved keys."""
    if task.method == COLLOCATION:
        _check_collocated(root, keys, module, task)
    if task.time[1] == LONGEST and not task.objective.time:
        root.fault(
            "the time is free and has no weight, so that slower is always better: give the "
            "time, its min: and max:, or a weight of time in the objective",
            *(("time",) if "time" in keys else ()),
        )
    elif task.time[0] == SHORTEST < task.time[1] and _takes_no_time(module, task):
        root.fault(
            "the time is free, and nothing limits the motion, so that the least time is 0: give "
            "limits of torque, velocity or acceleration, or weigh the torque in the objective",
            *(("objective",) if "objective" in keys else ()),
        )
    if np.any(task.objective.jerk[~task.chart.plain]):
        root.fault("not available yet for joints with a quaternion", "objective", "jerk")
    for key, outputs in (("objective", task.objective.outputs), ("limits", task.limits.outputs)):
        if outputs and getattr(module, "tells_multipliers", False):
            words = "outputs of a model some of which contain multipliers are not available yet"
            root.fault(f"{words} in plans", key, "outputs")
    if task.contacts is not None and not root.is_broken:
        _check_contacts(root, module, task, task.contacts)
    for path, state in _states(task):
        _check_state(root, path, module, state, task)
        if not root.is_broken:
            _check_place(root, path, module, state, task)


def _states(task: Task) -> Iterator[tuple[KeyPath, State]]:
    """Yield the paths and demands of start, goal and via points."""
    yield ("start",), task.start
    yield ("goal",), task.goal
    yield from ((("via", k), via.state) for k, via in enumerate(task.via))


def _check_state(
    root: Value, path: Sequence[str | int], module: Any, state: State, task: Task
) -> None:
    """Report demands (n,) and ranges (n, 2) outside limits."""
    limits, inward = task.limits, np.array([-1e-12, 1e-12])
    for order, demands, allowed in (
        ("q", np.column_stack([state.q, state.q]), limits.position),
        ("q", state.ranges, limits.position),
        ("qd", np.column_stack([state.qd, state.qd]), task.chart.rates(limits.velocity)),
        ("qdd", np.column_stack([state.qdd, state.qdd]), task.chart.rates(limits.acceleration)),
    ):
        lower, upper = (allowed + inward).T
        for k in np.flatnonzero((demands[:, 0] > upper) | (demands[:, 1] < lower)):
            name, limit = module.coordinate_names[k], "{:.6g} and {:.6g}".format(*allowed[k])
            least, most = demands[k]
            size = f"{least:.6g}" if least == most else f"{least:.6g} to {most:.6g}"
            message = f"{shown(name)} is {size} there, its limits are {limit}"
            within = lower[k] <= np.radians(least) <= np.radians(most) <= upper[k]
            if order == "q" and within and least == most == round(least, 1):
                message += f"; if this is in degrees, write {least:.6g}*deg"
            root.fault(message, *path, order)


def _check_place(
    root: Value, path: Sequence[str | int], module: Any, state: State, task: Task
) -> None:
    """Report a pose so far away that it may be in mm, and spheres within obstacles.

    A distance is fixed where it is equal at two random values of the coordinates that are free.
    """
    random, pose, keep = _random(task, module), state.pose, task.keep_out
    needed = {"jacobians"} if pose is None or pose.point is None else {"jacobians", "point_motion"}
    if pose is not None and needed <= set(module.functions):
        places = _values(task, position_of(module, task.parameters, pose), random)[:, :3]
        far = np.linalg.norm(pose.position) > FAR * np.linalg.norm(places, axis=1).max()
        shortfall = out_of_reach(task, module, state) if far else ""
        if shortfall:
            root.fault(f"{shortfall}; if this is in mm, divide by 1000", *path, "position")
    if not keep.balls or np.isnan(state.q).all():
        return
    distances = Distances(module, task.parameters, keep)
    values = _values(task, distances, np.where(np.isnan(state.q), random[:2], state.q))
    for k in np.flatnonzero(np.ptp(values, axis=0) < INSIDE):
        (ball, other), distance = distances.names[k], values[0, k]
        if distance < -INSIDE:
            root.fault(f"{ball} is {-distance:.3g} m inside {other}", *path, "q")
        elif distance < keep.margin - INSIDE:
            apart = f"{ball} is {max(distance, 0.0):.3g} m from {other}"
            root.fault(f"{apart}, less than the margin, {keep.margin:.4g} m", *path, "q")


def _check_contacts(root: Value, module: Any, task: Task, contacts: Contacts) -> None:
    """Report changes of phases between instants, points without images, loads elsewhere."""
    value = root.below("contacts")
    for load in sorted({*task.loads, *(x.load for x in task.free_loads)} & {*contacts.loads}):
        name = module.load_names[load]
        root.fault(
            "the ground acts there: another load at this place has another name", "loads", name
        )
    count = task.profile.segments * instants(task, module, PER_SEGMENT[task.profile.check])
    for k, end in enumerate(contacts.until):
        nearest = round(end * count)
        if abs(end * count - nearest) > 1e-6 * count:
            value.fault(
                f"no instant of the plan, which has {count} steps of equal length; the nearest one "
                f"is {Fraction(nearest, count)}; 'profile' says how many there are",
                "phases", k, "until",
            )  # fmt: skip
    image = cycle(task, module, contacts.places_of(module, task.parameters))
    if image is not None and (image < 0).any():
        missing = ", ".join(shown(contacts.names[k]) for k in np.flatnonzero(image < 0))
        value.fault(
            f"the motion is mirrored, and no contact point is the image of {missing}: none is as "
            "high in mirrored postures; does 'mirrored' swap all coordinates, with the right signs?"
        )
    _check_margin(value, module, task, contacts)
    places = contacts.places_of(module, task.parameters)
    q = task.chart.configuration(np.random.default_rng(0).normal(scale=0.5, size=(1, module.n)))
    columns = places.placed(q)[1][0]
    slopes = module.inverse_dynamics_load_derivatives(q[0], **places.keywords)
    for name, load, rows in zip(contacts.names, contacts.loads, columns, strict=True):
        if not np.allclose(slopes[:, load, :3].T, -rows, atol=1e-9):
            value.fault(f"the load {shown(name)} acts at another place than the point", "sets")


def _check_margin(value: Value, module: Any, task: Task, contacts: Contacts) -> None:
    """Report a margin that a phase leaves no room for, where one link has all of its points."""
    for k, on in enumerate(contacts.on if contacts.margin else ()):
        carried = [point_of(module, task.parameters, number) for number in contacts.points[on]]
        if len({point.link for point in carried}) != 1 or len(carried) < 2:
            continue
        points = np.array([point.vector for point in carried])
        points -= points.mean(axis=0)
        room = widest(points @ np.linalg.svd(points)[2][:2].T)
        if contacts.margin >= room:
            value.fault(
                f"{contacts.margin:.6g} m is more than phase {k + 1} leaves: its points stand "
                f"{room:.4g} m or less from a point between them", "margin",
            )  # fmt: skip


def _random(task: Task, module: Any) -> Array:
    """Return random positions within the limits, (TRIED, n)."""
    limits = task.limits.position
    lower, upper = np.where(np.isfinite(limits), limits, [-np.pi, np.pi]).T
    return np.random.default_rng(0).uniform(lower, np.maximum(lower, upper), (TRIED, module.n))


def _values(task: Task, quantity: Quantity, x: Array) -> Array:
    """Return values (K, m) of a function of q at positions x (K, n) of the chart."""
    return task.chart.along(quantity).value(MotionSamples.of(x))


def _takes_no_time(module: Any, task: Task) -> bool:
    """Return whether only the time has a weight, and no drive nor anything else has a limit."""
    limits, objective = task.limits, task.objective
    weights = (objective.torque, objective.acceleration, objective.jerk)
    further = (
        *(objective.wrenches, objective.outputs, objective.loads, limits.wrenches),
        *(limits.outputs, task.contacts, task.free_loads),
    )
    if any(map(np.any, weights)) or any(further):
        return False
    driven = np.array(module.actuated) | (not isinstance(module, Opened))
    ranges = (limits.velocity, limits.acceleration, limits.jerk, limits.torque[driven])
    return all(np.isinf(x).all() for x in ranges)


def _check_collocated(root: Value, keys: Collection[str], module: Any, task: Task) -> None:
    """Report demands that collocation does not support yet."""
    collocated = "with 'method: collocation'"
    unavailable = f"not available yet {collocated}"
    limits, objective = task.limits, task.objective
    for key in ("via", "cuts", "contacts", "periodic", "mirrored"):
        if key in keys:
            root.fault(unavailable, key)
    if isinstance(module, Opened):
        root.fault("not available yet for models with loops, which splines close", "method")
    for key, state in (("start", task.start), ("goal", task.goal)):
        between = np.any(np.isfinite(state.ranges))
        if state.pose is not None or between or np.any(~np.isnan(state.qdd)):
            root.fault(f"{collocated} an end is q and qd, without ranges", key)
    if task.guess.through is not None:
        root.fault(f"'q' and 'through': {unavailable}", "guess")
    for key, limit in (("acceleration", limits.acceleration), ("jerk", limits.jerk)):
        if np.any(np.isfinite(limit)):
            root.fault(unavailable, "limits", key)
    if limits.outputs:
        root.fault(unavailable, "limits", "outputs")
    if objective.wrenches or objective.outputs or np.any(objective.jerk):
        root.fault(f"{collocated} it weighs time, torque and acceleration", "objective")
    if np.any(objective.acceleration[~task.chart.plain]):
        message = f"{collocated} not available yet for joints with a quaternion"
        root.fault(message, "objective", "acceleration")
    if task.free_loads:
        root.fault(f"unknown forces: {unavailable}", "loads")
    for number, entries in task.loads.items():
        if depends_on_time(entries):
            name = module.load_names[number]
            root.fault(f"{collocated} loads do not depend on time", "loads", name)


def remarks_on(task: Task, module: Any) -> tuple[str, ...]:
    """Return remarks on angles that seem to be in degrees, obstacles in mm, free ends, limits wider
    than those of the model, unlimited torques, drives that do not hold an end."""
    remarks = (_in_degrees, _far_away, _free, _beyond, _unlimited, _too_weak)
    return tuple(words for remark in remarks for words in remark(task, module))


def _in_degrees(task: Task, module: Any) -> Iterator[str]:
    """Yield angles of more than a turn that are whole numbers, where limits do not exclude them."""
    angles = [k for k in by_unit(module, True).get("rad", ()) if task.chart.plain[k]]
    for path, state in _states(task):
        for k in angles:
            for value in filter(seems_in_degrees, (state.q[k], *state.ranges[k])):
                words = degrees_meant(value, f"{value:.6g}*deg")
                yield f"{key_path((*path, 'q', module.coordinate_names[k]))}: {words}"


def _far_away(task: Task, module: Any) -> Iterator[str]:
    """Yield obstacles so far from all spheres on links that they may be in mm."""
    balls, obstacles = task.keep_out.balls, task.keep_out.obstacles
    if not (balls and obstacles):
        return
    measured = KeepOut(balls, (Sphere("base", np.zeros(3), 0.0), *obstacles))
    distances = Distances(module, task.parameters, measured)
    values = _values(task, distances, _random(task, module)).reshape(TRIED, -1, len(balls))
    reach = (values[:, 0] + distances.radii).max()
    for obstacle, near in zip(obstacles, values[:, 1:].min(axis=(0, 2)), strict=True):
        if near > FAR * reach:
            yield (
                f"keep_out: {obstacle.name} is {near:.3g} m or more from all spheres, which get "
                f"{reach:.3g} m away from the base; if this is in mm, divide by 1000"
            )


def _free(task: Task, module: Any) -> Iterator[str]:
    """Yield coordinates that are free at an end that names others."""
    if task.periodic or task.mirrored.coordinates:
        return
    for end, state in (("start", task.start), ("goal", task.goal)):
        is_open = np.isnan(state.q) & np.isinf(state.ranges).all(axis=1)
        names = [module.coordinate_names[k] for k in np.flatnonzero(is_open)]
        if names and state.pose is None and not is_open.all():
            verb = "is" if len(names) == 1 else "are"
            yield f"{end}: {', '.join(names)} {verb} free there, as the task gives no value"


def _beyond(task: Task, module: Any) -> Iterator[str]:
    for key, name_in_module in (("velocity", "velocity"), ("torque", "effort")):
        model = np.asarray(module.limits[name_in_module])
        values = np.abs(getattr(task.limits, key)).max(axis=1)
        for k in np.flatnonzero(values > model * (1 + 1e-12)):
            name = module.coordinate_names[k]
            yield (
                f"limits: {key} of {name} is {values[k]:.6g} in the task, {model[k]:.6g} in the "
                "model file; the task overrides the model file"
            )


def _too_weak(task: Task, module: Any) -> Iterator[str]:
    for (end, *_), state in _states(task):
        if end != "via" and not np.isnan(state.q).any() and not np.any(state.qd):
            for _, words in too_weak(task, module, task.chart.configuration(state.q)[None]):
                yield f"{end}: {words}"


def _unlimited(task: Task, module: Any) -> Iterator[str]:
    """Yield coordinates without a limit of torque where others have one, as of a free body."""
    limits = np.abs(task.limits.torque).max(axis=1)
    unlimited = [module.coordinate_names[k] for k in np.flatnonzero(np.isinf(limits))]
    method = "" if task.contacts else " and 'method: collocation' in the task"
    if unlimited and len(unlimited) < module.n:
        yield (
            f"limits: the torque of {', '.join(unlimited)} is unlimited; for a joint without a "
            f"drive, set 'actuated: false' in the model file{method}"
        )
