"""Task file, or dict -> `Task`, checked against the robot; all faults in one report.

Every key of `docs/reference/task_file.md` is a function, in the order of that page, here or in the
module of its concept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import Any

import numpy as np

from symgen.description.findings import Findings
from symgen.description.model import RobotDescription
from symgen.description.reading import Document, Listing, Node, Scalar, Table, decode, load
from symgen.description.schema import seen
from symgen.description.wording import seems_in_degrees
from symgen.errors import RequestError
from symgen.planning.angles import read_angles
from symgen.planning.attitudes import Stop, names_of_limits, on_chart, refuse_limits
from symgen.planning.charts import columns_of, joint_names
from symgen.planning.checks import check_task
from symgen.planning.contacts import named_points, read_contacts
from symgen.planning.cuts import read_cuts
from symgen.planning.loads import FreeLoad, read_loads, read_weights
from symgen.planning.loops import Opened, reason
from symgen.planning.mirroring import read_mirrored
from symgen.planning.obstacles import read_keep_out
from symgen.planning.poses import read_pose
from symgen.planning.quantities import options_of
from symgen.planning.summary import written
from symgen.planning.task import (
    CHECKS,
    FINE,
    INSTANTS,
    LONGEST,
    METHODS,
    REFINE,
    SHORTEST,
    SPLINES,
    VERSION,
    Guess,
    Knots,
    Limits,
    Objective,
    State,
    Task,
    Via,
)
from symgen.planning.values import Entries, Range, Value, document_of
from symgen.runtime.configuration import configuration_of, named_in_file
from symgen.support.arrays import Array

KEYS = (
    "symgen_task", "start", "goal", "via", "time", "objective", "limits", "loads", "keep_out",
    "cuts", "contacts", "periodic", "mirrored", "profile", "guess", "parameters", "method",
)  # fmt: skip
_STATE = ("q", "qd", "qdd", "point", "link", "offset", "position", "rpy")
_OF_LINKS = ("link", "loads", "load", "contacts")
_SQUARES = ("torque", "acceleration", "jerk")
_OTHER_NAMES = ("outputs", "wrench", "angles", "objective", "loads", "parameters")
_LIMITED = ("position", "velocity", "acceleration", "jerk", "torque")
TIMES = (1e-6, 1e6)
"""Bounds of times in a task (s)."""
MOST_SEGMENTS = 2000


def read(source: str | PathLike[str] | Mapping[str, Any], module: Any) -> Task:
    """Return the task in a YAML file or a dict, for this robot; `ModelError` lists every fault."""
    return _Reader(_document(source, module, module.link_names), module).task()


def named_parameters(source: str | PathLike[str] | Mapping[str, Any]) -> tuple[str, ...]:
    """Return names of the parameters with values in a task: the module is built with them."""
    document = _document(source)
    root = document.root
    if isinstance(root, Table) and "symgen" in root.entries and "symgen_task" not in root.entries:
        raise RequestError(f"{document.file}: this is a model file; expected a task")
    return _keys(root, "parameters")


def _keys(root: Node | None, key: str) -> tuple[str, ...]:
    node = root.entries.get(key) if isinstance(root, Table) else None
    return tuple(node.value.entries) if node and isinstance(node.value, Table) else ()


def check_names(source: str | PathLike[str] | Mapping[str, Any], robot: RobotDescription) -> None:
    """Raise `ModelError` for coordinates, links and points of a task that a robot lacks."""
    links = [x.link.name for x in robot.joints]
    document = _document(source, robot, links)
    root = Value(Findings(document), {}, document.root)
    words = {"link": links, "point": [x.name for x in robot.points]}
    names = (*robot.position_names, *robot.coordinate_names, "all")

    def check(value: Value, of_coordinates: bool) -> None:
        node = value.node
        below = list(value.items("")) if isinstance(node, Listing) else []
        for key, entry in node.entries.items() if isinstance(node, Table) else ():
            below.append(value.below(key, entry.value))
            if of_coordinates and key not in names:
                below.pop().index(key, names[:-1], "coordinate")
            elif key in words and below[-1].word:
                below.pop().name(words[key], key)
        for child in below:
            if child.path[-1] not in _OTHER_NAMES:
                check(child, child.path[-1] in ("q", "qd", "qdd", *_LIMITED))

    check(root, False)
    root.findings.raise_faults()


def additions(
    source: str | PathLike[str] | Mapping[str, Any], robot: RobotDescription
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return loads and points that the module of a robot is built with for a task.

    A load is at each contact point and link that `loads` names; points at links are for contacts.
    """
    links = {x.link.name for x in robot.joints}
    root = _document(source, robot, links).root
    points, loads = {x.name for x in robot.points}, {x.name for x in robot.loads}
    feet = [name for name in named_points(root) if name in points | links]
    at_links = [name for name in _keys(root, "loads") if name in links - loads]
    return tuple(dict.fromkeys((*feet, *at_links))), tuple(x for x in feet if x not in points)


def check_order(model: str | PathLike[str]) -> None:
    """Raise `RequestError` where a task stands in place of a model file."""
    if not fspath(model).endswith((".yaml", ".yml")):
        return
    root = decode(load(model), fspath(model)).root
    if isinstance(root, Table) and "symgen_task" in root.entries:
        raise RequestError(
            f"{fspath(model)}: this is a task; ROBOT comes first, then TASK: symgen plan ROBOT TASK"
        )


def _document(
    source: str | PathLike[str] | Mapping[str, Any], robot: Any = None, links: Iterable[str] = ()
) -> Document:
    """Return a task, with names of coordinates and `links` as in the module of `robot`."""
    if isinstance(source, Mapping):
        document = document_of(source, "task")
    elif isinstance(source, str | PathLike):
        document = decode(load(source, "a task such as task.yaml"), fspath(source))
    else:
        raise RequestError(
            f"plan: expected the path of a task file, or a dict, found {type(source).__name__}"
        )
    if robot is None or not robot.file_names:
        return document
    coordinates = (*robot.position_names, *robot.coordinate_names)
    names = (named_in_file(robot.file_names, x) for x in (coordinates, links))
    return replace(document, root=_renamed(document.root, *names))


def _renamed(node: Node, names: Mapping[str, str], links: Mapping[str, str]) -> Node:
    """Replace names by `names`, below keys of links by `links`."""
    if isinstance(node, Listing):
        return replace(node, items=tuple(_renamed(item, names, links) for item in node.items))
    if isinstance(node, Scalar):
        bare = node.text if node.text in names else node.text.lstrip("+-")
        sign = node.text.removesuffix(bare)
        is_name = node.kind == "text" and bare in names
        return replace(node, text=sign + names[bare]) if is_name else node
    entries = {}
    for key, entry in node.entries.items():
        value = _renamed(entry.value, links if key in _OF_LINKS else names, links)
        new = names.get(key, key)
        entries[key if new in node.entries else new] = replace(entry, value=value)
    return replace(node, entries=entries)


class _Reader:
    def __init__(self, document: Document, module: Any) -> None:
        self.module, self.file = module, document.file
        defaults = map(float, module.default_parameters)
        names = dict(zip(module.parameter_names, defaults, strict=True))
        self.root = Value(Findings(document), names, document.root)
        self.coordinates = tuple(module.coordinate_names)
        self.positions = tuple(module.position_names)
        self.space = configuration_of(module)
        self.n = len(self.coordinates)
        self.closures = (module.closure,) if isinstance(module, Opened) else ()

    def task(self) -> Task:
        root, module = self.root, self.module
        keys = root.table(KEYS, "a task, such as 'symgen_task: 1'")
        self.version(keys["symgen_task"])
        parameters = self.parameters(keys["parameters"])
        root.names.update(parameters)
        periodic = keys["periodic"].flag()
        mirrored = read_mirrored(keys["mirrored"], self.space, self.positions)
        open_ends = periodic or bool(mirrored.coordinates)
        loads, free = read_loads(keys["loads"], module)
        via, guess, through = self.via(keys["via"]), *self.guess(keys["guess"])
        stops = [
            Stop(keys[key], at, self.end(keys, key, open_ends))
            for at, key in enumerate(("start", "goal"))
        ]
        chart, (start, goal, *states) = on_chart(
            self.space, self.positions, [*stops, *via, *through], mirrored
        )
        if isinstance(module, Opened) and not chart.joints and not root.is_broken:
            start = self.completed(keys["start"], start, module, parameters)
            goal = self.completed(keys["goal"], goal, module, parameters)
        if through:
            guess = replace(guess, through=np.array([state.q for state in states[len(via) :]]))
        limits = self.limits(keys["limits"])
        task = Task(
            file=self.file,
            written=tuple(written(root.node)),
            chart=chart,
            start=start,
            goal=goal,
            via=tuple(Via(stop.at, state) for stop, state in zip(via, states, strict=False)),
            time=self.time(keys["time"]),
            objective=self.objective(keys["objective"], free, limits),
            limits=limits,
            loads=loads,
            free_loads=free,
            keep_out=read_keep_out(keys["keep_out"], module),
            cuts=(*read_cuts(keys["cuts"], module), *self.closures),
            contacts=read_contacts(keys["contacts"], module),
            periodic=periodic,
            mirrored=mirrored,
            profile=self.profile(keys["profile"]),
            guess=guess,
            parameters=parameters,
            method=keys["method"].choice(METHODS, SPLINES),
        )
        if not root.is_broken:
            check_task(root, keys, module, task)
        root.findings.raise_faults()
        return task

    def version(self, value: Value) -> None:
        if value.node is None:
            self.root.fault(f"'symgen_task: {VERSION}' is missing: a task file starts with it")
        elif value.word != str(VERSION):
            value.fault(
                f"expected {VERSION}, the version of the format that this symgen reads, "
                f"found {seen(value.node)}"
            )

    def end(self, keys: Entries, key: str, may_be_open: bool) -> State:
        if key in keys:
            return self.state(keys[key], at_rest=not may_be_open)
        if not may_be_open:
            count = len(self.positions)
            self.root.fault(f"'{key}' is missing: q, a list of {count} numbers, or a point")
        return self.passed(np.full(len(self.positions), np.nan))

    def passed(self, q: Array) -> State:
        """Return the state with q alone, (nq,)."""
        free = np.full(self.n, np.nan)
        return State(q, free, free, np.tile([-np.inf, np.inf], (len(q), 1)))

    def state(self, value: Value, *, at_rest: bool, more: Sequence[str] = ()) -> State:
        keys = value.table((*_STATE, *more), "q: [...], or point: and position:")
        pose = read_pose(keys, self.module)
        if "q" not in keys and pose is None and not value.is_broken:
            value.fault("nothing is asked for: give q, or a point (or link) and position")
        demands = keys["q"].demands(self.positions)
        is_range = demands[:, 0] < demands[:, 1]
        all_follow = "qd" not in keys or not isinstance(self.module, Opened)
        return State(
            np.where(is_range, np.nan, demands[:, 0]),
            keys["qd"].coordinates(self.coordinates, 0.0 if at_rest and all_follow else np.nan),
            keys["qdd"].coordinates(self.coordinates, np.nan),
            np.where(is_range[:, None], demands, [-np.inf, np.inf]),
            pose,
        )

    def completed(
        self, value: Value, state: State, module: Opened, parameters: Mapping[str, float]
    ) -> State:
        """Return an end with the coordinates that those it names determine."""
        try:
            return module.completed(state, options_of(parameters))
        except ValueError as error:  # LinAlgError is one
            named = ~np.isnan(state.q)
            words = reason(error)
            if np.any(named & ~np.array(module.actuated)):
                words += "; name driven coordinates, and no others"
            if degrees := [x for x in state.q[named] if seems_in_degrees(x)]:
                words += f"; write {degrees[0]:.6g}*deg if degrees are meant"
            value.fault(words, "q")
            return state

    def via(self, value: Value) -> list[Stop]:
        stops = []
        items = value.items("states, each with 'at', its share of the time")
        for k, item in enumerate(items):
            state = self.state(item, at_rest=False, more=("at",))
            share = item.table((*_STATE, "at"), "a state")["at"]
            at = share.number((k + 1) / (len(items) + 1))
            if not 0 < at < 1:
                share.fault(f"expected a share of the time between 0 and 1, found {at:.6g}")
                at = 0.5
            stops.append(Stop(item, at, state))
        return stops

    def time(self, value: Value) -> Range:
        if value.node is None or value.word == "free":
            return SHORTEST, LONGEST
        if isinstance(value.node, Scalar):
            T = self.seconds(value, 1.0)
            return T, T
        keys = value.table(("min", "max"), "'free', seconds, or min: and max:")
        least = self.seconds(keys["min"], SHORTEST)
        most = self.seconds(keys["max"], max(LONGEST, least))
        if least > most:
            value.fault(f"min {least:.6g} s is above max {most:.6g} s")
        return least, most

    def seconds(self, value: Value, default: float) -> float:
        """Return a time whose powers are finite."""
        T = value.positive(default)
        if value.node is not None and not TIMES[0] <= T <= TIMES[1]:
            value.fault(f"expected {TIMES[0]:g} to {TIMES[1]:g} s, found {T:.6g}")
            return default
        return T

    def objective(self, value: Value, free: Sequence[FreeLoad], limits: Limits) -> Objective:
        none = np.zeros(self.n)
        if value.node is None:
            return Objective(1.0, none, none, none)
        names = tuple(self.module.output_names)
        reserved = ("time", "effort", *_SQUARES, "wrench", "load")
        keys = value.table((*reserved, *names), "weights, such as {time: 1}")
        weight = keys["time"].number()
        squares = {key: keys[key].coordinates(self.coordinates, 0.0) for key in _SQUARES}
        wrenches = {k: entry.number() for k, entry in self.by_wrench(keys["wrench"]).items()}
        effort = keys["effort"].number()
        squared = {
            "time": np.array(weight),
            "effort": np.array(effort),
            **squares,
            "wrench": np.array([*wrenches.values()]),
        }
        for key, weights in squared.items():
            if np.any(weights < 0):
                keys[key].fault("a weight is negative: the objective has no minimum")
        if effort:
            squares["torque"] = squares["torque"] + effort * self.per_limit(keys["effort"], limits)
        loads = read_weights(keys["load"], self.module, free)
        outputs = {
            k: keys[name].number()
            for k, name in enumerate(names)
            if name in keys and name not in reserved
        }
        if keys and not (
            weight or effort or outputs or wrenches or loads or any(map(np.any, squares.values()))
        ):
            value.fault("all weights are 0: nothing is minimised")
        return Objective(weight, **squares, wrenches=wrenches, outputs=outputs, loads=loads)

    def per_limit(self, value: Value, limits: Limits) -> Array:
        """Return weights of (tau / limit)^2 with the larger finite limit, 0 without one, (n,)."""
        sizes = np.where(np.isfinite(limits.torque), np.abs(limits.torque), 0.0).max(axis=1)
        if not np.any(sizes):
            value.fault("no torque is limited: give 'limits: {torque: ...}', or 'effort' of joints")
        weights: Array = (sizes > 0) / np.where(sizes > 0, sizes, 1.0) ** 2
        return weights

    def by_wrench(self, value: Value) -> dict[tuple[int, int], Value]:
        """Return values by joint and component: {elbow: {fx: value}}."""
        if value.node is not None and isinstance(self.module, Opened):
            value.fault(
                "wrenches in joints are not available yet for models with loops; "
                "'joint_wrenches' of the model are those of its tree"
            )
            return {}
        if value.node is not None and len(self.module.joint_parents) != self.n:
            value.fault("not available yet for robots with mimic joints")
            return {}
        return value.by_component(joint_names(self.module), "JOINT: {fx: ...}")

    def limits(self, value: Value) -> Limits:
        bounds = self.module.limits
        ranges = {key: np.tile([-np.inf, np.inf], (self.n, 1)) for key in _LIMITED}
        ranges["position"][:] = np.column_stack([bounds["lower"], bounds["upper"]])
        ranges["velocity"][:] = np.multiply.outer(bounds["velocity"], [-1.0, 1.0])
        ranges["torque"][:] = np.multiply.outer(bounds["effort"], [-1.0, 1.0])
        keys = value.table(
            (*_LIMITED, "wrench", "outputs", "angles"), "limits by kind, such as torque: 10"
        )
        named = names_of_limits(self.space, self.coordinates, self.positions)
        for key in _LIMITED:
            keys[key].ranges(named if key == "position" else self.coordinates, ranges[key])
        undriven = ~np.array(self.module.actuated)
        by_name = keys["torque"].node
        for k in np.flatnonzero(undriven):
            name = self.coordinates[k]
            if isinstance(by_name, Table) and name in by_name.entries and ranges["torque"][k].any():
                keys["torque"].fault("it has no drive ('actuated: false'): its torque is 0", name)
        ranges["torque"][undriven] = 0.0
        if keys:
            refuse_limits(keys, self.space, self.positions, ranges)
        wrenches = {k: entry.range() for k, entry in self.by_wrench(keys["wrench"]).items()}
        names = tuple(self.module.output_names)
        outputs = keys["outputs"].table(names, "NAME: [lower, upper]")
        return Limits(
            **ranges,
            wrenches=wrenches,
            outputs={names.index(name): entry.range() for name, entry in outputs.items()},
            angles=read_angles(keys["angles"], self.module),
        )

    def profile(self, value: Value) -> Knots:
        keys = value.table(("degree", "segments", "check", "knots"), "degree:, segments:, check:")
        return Knots(
            keys["degree"].whole(3, 3, 7),
            keys["segments"].whole(20, 2, MOST_SEGMENTS),
            keys["check"].choice(CHECKS, REFINE),
            keys["knots"].choice(FINE, INSTANTS),
        )

    def guess(self, value: Value) -> tuple[Guess, list[Stop]]:
        """Return the guess, and the states that it passes, evenly spaced in time."""
        keys = value.table(("T", "q", "through"), "T:, q: or through:")
        T = self.seconds(keys["T"], 1.0) if "T" in keys else None
        items, neutral = keys["through"].items("coordinates to pass"), self.space.neutral()
        if "q" in keys:
            if items:
                keys["q"].fault("give q, where the robot rests, or through, not both")
            items = (keys["q"],)
        stops = []
        for k, item in enumerate(items, 1):
            q = item.coordinates(self.positions, np.nan)
            q = np.where(np.isnan(q), neutral, q)
            for joint in columns_of(self.space):
                if not np.any(q[joint.attitude]):  # of 0 for all coordinates
                    q[joint.attitude] = neutral[joint.attitude]
            state = self.passed(q)
            stops.append(Stop(item, k / (len(items) + 1), state))
        return Guess(T, at_rest="q" in keys), stops

    def parameters(self, value: Value) -> dict[str, float]:
        names = tuple(self.module.parameter_names)
        if value.node is not None and not names:
            value.fault(
                "this module has no runtime parameters; name them when it is built: "
                "--runtime-parameters"
            )
            return {}
        return {name: entry.number() for name, entry in value.table(names, "NAME: value").items()}
