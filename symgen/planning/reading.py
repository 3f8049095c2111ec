"""Task file, or dict -> `Task`, checked against the robot; all faults in one report.

Every key of `docs/reference/task_file.md` is a function here, in the order of that page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.description.reading import Document, Listing, Node, Scalar, Table, decode, load
from symgen.description.schema import seen
from symgen.description.wording import KeyPath
from symgen.errors import RequestError
from symgen.planning.angle_reading import read_angles
from symgen.planning.angles import Angle
from symgen.planning.attitudes import (
    Stop,
    names_of_places,
    on_chart,
    refuse_limits,
    stops_of,
)
from symgen.planning.charts import joint_names
from symgen.planning.consistency import check
from symgen.planning.load_reading import COMPONENTS, load_weights, read_loads
from symgen.planning.mirroring import read_mirrored
from symgen.planning.obstacle_reading import read_keep_out, rotation_of
from symgen.planning.task import (
    CHECKS,
    LONGEST,
    METHODS,
    REFINE,
    SHORTEST,
    SPLINES,
    VERSION,
    Cut,
    FreeLoad,
    Guess,
    Knots,
    Limits,
    Objective,
    Pose,
    Range,
    State,
    Task,
    Via,
)
from symgen.planning.values import Values, document_of
from symgen.robot.configuration import configuration_of

Array = NDArray[np.float64]

KEYS = (
    "symgen_task", "start", "goal", "via", "time", "objective", "limits", "loads", "keep_out",
    "cuts", "periodic", "mirrored", "profile", "guess", "parameters", "method",
)  # fmt: skip
_STATE = ("q", "qd", "qdd", "point", "link", "offset", "position", "rpy")
_SQUARES = ("torque", "acceleration", "jerk")
_LIMITED = ("position", "velocity", "acceleration", "jerk", "torque")
TIMES = (1e-6, 1e6)
"""Of times that a task gives (s)."""
MOST_SEGMENTS = 2000


def read(source: str | PathLike[str] | Mapping[str, Any], module: Any) -> Task:
    """The task in a YAML file or a dict, for this robot; `ModelError` lists every fault."""
    return _Reader(_document(source), module).task()


def named_parameters(source: str | PathLike[str] | Mapping[str, Any]) -> tuple[str, ...]:
    """The parameters that a task gives values to: those that the module is built with."""
    document = _document(source)
    root = document.root
    if isinstance(root, Table) and "symgen" in root.entries and "symgen_task" not in root.entries:
        raise RequestError(f"{document.file}: this is a model file; expected a task")
    node = root.entries.get("parameters") if isinstance(root, Table) else None
    return tuple(node.value.entries) if node and isinstance(node.value, Table) else ()


def _document(source: str | PathLike[str] | Mapping[str, Any]) -> Document:
    if isinstance(source, Mapping):
        return document_of(source, "task")
    if not isinstance(source, str | PathLike):
        raise RequestError(
            f"plan: expected the path of a task file, or a dict, found {type(source).__name__}"
        )
    return decode(load(source, "a task such as task.yaml"), fspath(source))


class _Reader:
    def __init__(self, document: Document, module: Any) -> None:
        self.document, self.module = document, module
        names = dict(
            zip(module.parameter_names, map(float, module.default_parameters), strict=True)
        )
        self.values = Values(document, names)
        self.coordinates = tuple(module.coordinate_names)
        self.positions = tuple(module.position_names)
        self.space = configuration_of(module)
        self.n = len(self.coordinates)

    def task(self) -> Task:
        values = self.values
        root = values.table(self.document.root, (), KEYS, "a task, such as 'symgen_task: 1'")
        self.version(root)
        parameters = self.parameters(root.get("parameters"))
        values.names = {**values.names, **parameters}
        periodic = values.flag(root.get("periodic"), ("periodic",))
        mirrored = read_mirrored(values, self.space, self.positions, root.get("mirrored"))
        open_ends = periodic or bool(mirrored.coordinates)
        loads, free = read_loads(values, self.module, root.get("loads"))
        via, guess = self.via(root.get("via")), self.guess(root.get("guess"))
        chart, (start, goal, *others) = on_chart(
            values, self.space, self.positions,
            [
                Stop(("start",), 0.0, self.end(root, "start", open_ends)),
                Stop(("goal",), 1.0, self.end(root, "goal", open_ends)),
                *(Stop(("via", k), one.at, one.state) for k, one in enumerate(via)),
                *stops_of(guess, self.n),
            ],
            mirrored,
        )  # fmt: skip
        through = np.array([state.q for state in others[len(via) :]])
        task = Task(
            file=self.document.file,
            chart=chart,
            start=start,
            goal=goal,
            via=tuple(Via(one.at, state) for one, state in zip(via, others, strict=False)),
            time=self.time(root.get("time")),
            objective=self.objective(root.get("objective"), free),
            limits=self.limits(root.get("limits")),
            loads=loads,
            free_loads=free,
            keep_out=read_keep_out(values, self.module, root.get("keep_out")),
            cuts=self.cuts(root.get("cuts")),
            periodic=periodic,
            mirrored=mirrored,
            profile=self.profile(root.get("profile")),
            guess=replace(guess, through=through) if len(through) else guess,
            parameters=parameters,
            method=values.choice(root.get("method"), ("method",), METHODS, SPLINES),
        )
        if not values.findings.broken(()):
            check(values, tuple(root), self.module, task)
        values.findings.raise_faults()
        return task

    def version(self, root: Mapping[str, Node]) -> None:
        node = root.get("symgen_task")
        if node is None:
            self.values.fault(
                (), f"'symgen_task: {VERSION}' is missing: a task file starts with it"
            )
        elif not isinstance(node, Scalar) or node.text != str(VERSION):
            self.values.fault(
                ("symgen_task",),
                f"expected {VERSION}, the version of the format that this symgen reads, "
                f"found {seen(node)}",
            )

    # --------------------------------------------------------------------------------- states

    def end(self, root: Mapping[str, Node], key: str, may_be_open: bool) -> State:
        node = root.get(key)
        free = np.full(self.n, np.nan)
        everywhere = np.full(len(self.positions), np.nan)
        if node is None:
            if not may_be_open:
                self.values.fault(
                    (),
                    f"'{key}' is missing: q, a list of {len(self.positions)} numbers, or a point",
                )
            return State(everywhere, free, free)
        return self.state(node, (key,), at_rest=not may_be_open)

    def state(self, node: Node, path: KeyPath, *, at_rest: bool, more: Sequence[str] = ()) -> State:
        values = self.values
        given = values.table(node, path, (*_STATE, *more), "q: [...], or point: and position:")
        pose = self.pose(given, path)
        if "q" not in given and pose is None and not values.findings.broken(path):
            values.fault(path, "nothing is asked for: give q, or a point (or link) and position")
        rest = 0.0 if at_rest else np.nan
        q, qd, qdd = (
            values.coordinates(given.get(key), (*path, key), names, default)
            for key, names, default in (
                ("q", self.positions, np.nan),
                ("qd", self.coordinates, rest),
                ("qdd", self.coordinates, np.nan),
            )
        )
        return State(q, qd, qdd, pose)

    def pose(self, given: Mapping[str, Node], path: KeyPath) -> Pose | None:
        values, module = self.values, self.module
        named = [key for key in ("point", "link") if key in given]
        about = [key for key in ("position", "rpy", "offset") if key in given]
        if not named:
            for key in about:
                values.fault((*path, key), "of which point? give 'point' or 'link', too")
            return None
        if len(named) == 2:
            values.fault((*path, "link"), "give either a point of the model or a link, not both")
            return None
        position = values.vector(given.get("position"), (*path, "position"), 3, None)
        if "point" in given:
            for key in ("rpy", "offset"):
                if key in given:
                    values.fault((*path, key), "a point has none: it goes with 'link'")
            point = values.name(given["point"], (*path, "point"), module.point_names, "point")
            name = module.point_names[point] if module.point_names else ""
            return Pose(name, position, point, 0, np.zeros(3), None)
        link = values.name(given["link"], (*path, "link"), module.link_names, "link")
        offset = values.vector(given.get("offset"), (*path, "offset"), 3, np.zeros(3))
        rotation = None
        if "rpy" in given:
            rotation = rotation_of(values.vector(given["rpy"], (*path, "rpy"), 3, None))
        return Pose(module.link_names[link], position, None, link, offset, rotation)

    def via(self, node: Node | None) -> tuple[Via, ...]:
        found = []
        items = self.values.items(node, ("via",), "states, each with 'at', its share of the time")
        for k, item in enumerate(items):
            path: KeyPath = ("via", k)
            state = self.state(item, path, at_rest=False, more=("at",))
            given = self.values.table(item, path, (*_STATE, "at"), "a state")
            at = self.values.number(given.get("at"), (*path, "at"), (k + 1) / (len(items) + 1))
            if not 0 < at < 1:
                self.values.fault(
                    (*path, "at"), f"expected a share of the time between 0 and 1, found {at:.6g}"
                )
                at = 0.5
            found.append(Via(at, state))
        return tuple(found)

    # ---------------------------------------------------------------------- time and objective

    def time(self, node: Node | None) -> Range:
        values = self.values
        if node is None or (isinstance(node, Scalar) and node.text == "free"):
            return SHORTEST, LONGEST
        if isinstance(node, Scalar):
            T = self.seconds(node, ("time",), 1.0)
            return T, T
        given = values.table(node, ("time",), ("min", "max"), "'free', seconds, or min: and max:")
        least = self.seconds(given.get("min"), ("time", "min"), SHORTEST)
        most = self.seconds(given.get("max"), ("time", "max"), max(LONGEST, least))
        if least > most:
            values.fault(("time",), f"min {least:.6g} s is above max {most:.6g} s")
        return least, most

    def seconds(self, node: Node | None, path: KeyPath, default: float) -> float:
        """A time for which powers of it are numbers."""
        T = self.values.positive(node, path, default)
        if node is not None and not TIMES[0] <= T <= TIMES[1]:
            self.values.fault(path, f"expected {TIMES[0]:g} to {TIMES[1]:g} s, found {T:.6g}")
            return default
        return T

    def objective(self, node: Node | None, free: Sequence[FreeLoad]) -> Objective:
        values, path = self.values, ("objective",)
        none = np.zeros(self.n)
        squares = dict.fromkeys(_SQUARES, none)
        outputs: dict[int, float] = {}
        wrenches: dict[tuple[int, int], float] = {}
        if node is None:
            return Objective(1.0, none, none, none)
        names = tuple(self.module.output_names)
        known = ("time", *_SQUARES, "wrench", "load", *names)
        given = values.table(node, path, known, "weights, such as {time: 1}")
        weight = values.number(given.get("time"), (*path, "time"))
        for key in _SQUARES:
            squares[key] = values.coordinates(given.get(key), (*path, key), self.coordinates, 0.0)
        for key in ("time", *_SQUARES):
            if np.any(np.less(weight if key == "time" else squares[key], 0)):
                values.fault((*path, key), "a weight is negative: the objective has no minimum")
        self.by_wrench(given.get("wrench"), (*path, "wrench"), values.number, wrenches)
        loads = load_weights(values, self.module, given.get("load"), (*path, "load"), free)
        for k, name in enumerate(names):
            if name in given and name not in ("time", *_SQUARES, "wrench", "load"):
                outputs[k] = values.number(given[name], (*path, name))
        if given and not (
            weight or outputs or wrenches or loads or any(np.any(x) for x in squares.values())
        ):
            values.fault(path, "all weights are 0: nothing is minimised")
        return Objective(weight, **squares, wrenches=wrenches, outputs=outputs, loads=loads)

    def by_wrench(self, node: Node | None, path: KeyPath, read: Any, into: dict[Any, Any]) -> None:
        """Values by joint and component: {elbow: {fx: value}}."""
        if node is None:
            return
        if len(self.module.joint_parents) != self.n:
            self.values.fault(path, "not available yet for robots with mimic joints")
            return
        joints = joint_names(self.module)
        given = self.values.table(node, path, joints, "JOINT: {fx: ...}")
        for name, entries in given.items():
            below = (*path, name)
            parts = self.values.table(entries, below, COMPONENTS, "components fx ... nz")
            for part, value in parts.items():
                key = joints.index(name), COMPONENTS.index(part)
                into[key] = read(value, (*below, part))

    # --------------------------------------------------------------------------------- limits

    def limits(self, node: Node | None) -> Limits:
        values, module = self.values, self.module
        ranges = {key: np.tile([-np.inf, np.inf], (self.n, 1)) for key in _LIMITED}
        ranges["position"][:] = np.column_stack([module.limits["lower"], module.limits["upper"]])
        for key, theirs in (("velocity", "velocity"), ("torque", "effort")):
            ranges[key][:] = np.multiply.outer(module.limits[theirs], [-1.0, 1.0])
        wrenches: dict[tuple[int, int], Range] = {}
        outputs: dict[int, Range] = {}
        angles: tuple[Angle, ...] = ()
        if node is not None:
            path = ("limits",)
            known = (*_LIMITED, "wrench", "outputs", "angles")
            given = values.table(node, path, known, "limits by kind, such as torque: 10")
            places = names_of_places(self.space, self.coordinates, self.positions)
            for key in _LIMITED:
                names = places if key == "position" else self.coordinates
                values.ranges(given.get(key), (*path, key), names, ranges[key])
            refuse_limits(values, self.space, self.positions, ranges)
            self.by_wrench(given.get("wrench"), (*path, "wrench"), values.range, wrenches)
            angles = read_angles(values, module, given.get("angles"), (*path, "angles"))
            below = (*path, "outputs")
            names = tuple(module.output_names)
            chosen = values.table(given.get("outputs"), below, names, "NAME: [lower, upper]")
            for name, value in chosen.items():
                outputs[names.index(name)] = values.range(value, (*below, name))
        return Limits(**ranges, wrenches=wrenches, outputs=outputs, angles=angles)

    # ----------------------------------------------------------------------------------- cuts

    def cuts(self, node: Node | None) -> tuple[Cut, ...]:
        """Joints that were cut, with the force between their points unknown."""
        values, found = self.values, []
        known = ("name", "first", "second", "loads", "axes", "limit")
        for k, item in enumerate(values.items(node, ("cuts",), "cut joints")):
            path: KeyPath = ("cuts", k)
            given = values.table(item, path, known, "first:, second: and loads:")
            first = self.place(given.get("first"), (*path, "first"))
            second = self.place(given.get("second"), (*path, "second"))
            two = values.items(given.get("loads"), (*path, "loads"), "the names of two loads")
            names = tuple(self.module.load_names)
            if len(two) != 2:
                values.fault(
                    (*path, "loads"), "expected two loads, at the first point and at the second"
                )
                continue
            pull, push = (
                values.name(one, (*path, "loads", j), names, "load") for j, one in enumerate(two)
            )
            axes = [
                values.name(axis, (*path, "axes", j), ("x", "y", "z"), "axis")
                for j, axis in enumerate(
                    values.items(given.get("axes"), (*path, "axes"), "axes x, y, z")
                )
            ]
            limit = values.positive(given.get("limit"), (*path, "limit"), np.inf)
            name = given.get("name")
            text = name.text if isinstance(name, Scalar) else f"cut {k + 1}"
            if first is not None and second is not None:
                every = tuple(sorted(set(axes))) or (0, 1, 2)
                found.append(Cut(text, first, second, pull, push, every, limit))
        return tuple(found)

    def place(self, node: Node | None, path: KeyPath) -> Pose | None:
        """A point of the model, or of a link: a pose without a position."""
        values = self.values
        if node is None:
            values.fault(path, "missing: {point: NAME}, or {link: NAME, offset: [x, y, z]}")
            return None
        given = values.table(node, path, ("point", "link", "offset"), "{point: NAME}")
        if not given:
            if not values.findings.broken(path):
                values.fault(path, "expected {point: NAME}, or {link: NAME, offset: [x, y, z]}")
            return None
        return self.pose({**given, "position": _NOWHERE}, path)

    # ------------------------------------------------------------------------------ the rest

    def profile(self, node: Node | None) -> Knots:
        values, path = self.values, ("profile",)
        known = ("degree", "segments", "check")
        given = values.table(node, path, known, "degree:, segments:, check:") if node else {}
        degree = values.whole(given.get("degree"), (*path, "degree"), 3, 3, 7)
        segments = values.whole(given.get("segments"), (*path, "segments"), 20, 2, MOST_SEGMENTS)
        check = values.choice(given.get("check"), (*path, "check"), CHECKS, REFINE)
        return Knots(degree, segments, check)

    def guess(self, node: Node | None) -> Guess:
        values, path = self.values, ("guess",)
        if node is None:
            return Guess()
        given = values.table(node, path, ("T", "through"), "T:, through:")
        T = self.seconds(given["T"], (*path, "T"), 1.0) if "T" in given else None
        rows = [
            values.coordinates(item, ("guess", "through", k), self.positions, np.nan)
            for k, item in enumerate(
                values.items(given.get("through"), (*path, "through"), "coordinates to pass")
            )
        ]
        neutral = self.space.neutral()
        whole = [np.where(np.isnan(row), neutral, row) for row in rows]
        return Guess(T, np.array(whole) if rows else None)

    def parameters(self, node: Node | None) -> dict[str, float]:
        names = tuple(self.module.parameter_names)
        if node is not None and not names:
            self.values.fault(
                ("parameters",),
                "this module has no runtime parameters; name them when it is built: "
                "--runtime-parameters",
            )
            return {}
        given = self.values.table(node, ("parameters",), names, "NAME: value")
        return {name: self.values.number(x, ("parameters", name)) for name, x in given.items()}


_NOWHERE = Listing((Scalar("0", "int", 0),) * 3, 0)
