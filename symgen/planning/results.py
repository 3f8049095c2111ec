"""`Plan`, the result of `symgen.plan`: samples, status, remarks, and its files.

.csv    t, then q, qd, qdd and tau by coordinate, forces f by contact point and base axis, the
        zero-moment point zmp (nan without contact): a line of names, numbers with 17 digits
.npz    arrays t, q, qd, qdd, tau, control_points, knots, and degree, T; with quaternions also
        references, the attitudes at which control points of attitudes are 0; contact_forces
.yaml   trajectory_msgs/JointTrajectory: positions, velocities, accelerations of the driven joints
        of one coordinate each; without efforts, which ros2_controllers of ROS 2 Humble reject
.html   page of figures with the moving robot; .png, .svg, .pdf: one figure, by Matplotlib

Figures show coordinates and velocities, the latter with their limits; torques, in units of their
limits where these differ much; distances from obstacles; the force in every joint; derivatives of
torques with respect to coordinates (as Xiang 2009, fig. 14); objective and violation of every
iterate, with the first ones of finer splines.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from symgen.emit.templates import Templates
from symgen.errors import RequestError
from symgen.page.animation import (
    COLOURS,
    MOST_CURVES,
    NEAR,
    SCRIPTS,
    Curves,
    Forces,
    by_unit,
    colours_of,
    largest,
    player_facts,
)
from symgen.page.shapes import Shape
from symgen.planning.footprints import Footing, draw_centre, draw_reactions, footing
from symgen.planning.grounded import Grounded
from symgen.planning.loops import Opened
from symgen.planning.obstacles import Distances
from symgen.planning.quantities import Torques
from symgen.planning.scene import axis_name, draw_scene, solids
from symgen.planning.solver import INFEASIBLE, Step
from symgen.planning.summary import table_of_coordinates
from symgen.planning.task import Task
from symgen.planning.trajectories import Trajectory
from symgen.planning.verification import Nearest, demand
from symgen.support.arrays import Array, Index
from symgen.toolchain.files import check_writable, replace_file

EXCEEDED = "exceeded"
"""Status of a plan that keeps its limits at its instants, but not between them."""
PAGE = ".html"
ENDINGS = (".csv", ".npz", ".yaml", ".yml")
FIGURES = (".png", ".svg", ".pdf")
TRAJECTORY = "# trajectory_msgs/JointTrajectory"
ZERO = 1e-12  # entries of a trajectory below it, relative to the largest of a kind, become 0
"""First line of a .yaml file."""
SAMPLES = 401
TIME_AXIS = "t (s)"
LEAST = 1e-6, 0.02
"""Least range of an axis: in SI units, and in units of the largest value."""
DIFFERENT = 4.0
"""Ratio of limits of torques above which these are drawn as shares of their limits."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
_KINDS = ("q", "qd", "qdd", "tau")
_SHARES = np.linspace(0.0, 1.0, SAMPLES)


@dataclass(frozen=True)
class Start:
    """The result of a start before refinement: objective, T (s), iterations, violation (scaled)."""

    number: int
    ended: str
    objective: float
    T: float
    iterations: int
    violation: float

    @property
    def rank(self) -> tuple[int, float]:
        """Order of results, the best first."""
        return (0, self.objective) if not self.violation else (1, self.violation)


@dataclass(frozen=True)
class Plan:
    """An optimal motion.  Times in s, coordinates in rad or m, torques in N m or N.

    ``status`` is "solved" (an optimum that keeps its limits), "feasible" (keeps them, not proven
    optimal), "exceeded" (keeps them at its instants, and exceeds one between them by more than
    0.1 %), "infeasible" (by more than 10 %, or not even at its instants, or with open loops:
    `broken` and `remarks` say what is not met), "stopped" (by Ctrl-C).
    ``violation`` is the largest on the fine grid, relative to its limit; ``worst`` has all of them,
    `broken` those that make a plan infeasible, and equations that are not met.
    ``final_error`` is how far from the plan's end its torques, applied open loop, take the robot;
    with contacts, how far from each instant if it begins at the one before, standing points held.
    ``ground`` is what contacts lose between instants (`symgen.planning.grounded`), or None.
    ``gaps`` is how far cuts open between the instants (m).  ``nearest`` is the least distance of
    `keep_out`: pair, distance (m), share of the time; or None.  ``iterations`` are those
    of the start that was kept, ``evaluations`` of all.  ``seconds`` include verification,
    ``solver_seconds`` only the solver.  ``others`` are the starts that were not the best.
    """

    module: Any
    task: Task
    path: Trajectory
    status: str
    objective: float
    iterations: int
    evaluations: int
    seconds: float
    solver_seconds: float
    violation: float
    worst: Mapping[str, float]
    gaps: Mapping[str, float]
    nearest: Nearest | None
    ground: Grounded | None
    final_error: float
    steps: tuple[Step, ...]
    others: tuple[Start, ...]
    broken: tuple[tuple[str, float], ...]
    remarks: tuple[str, ...]
    per_segment: int

    @property
    def T(self) -> float:
        """The time of the motion (s)."""
        return self.path.T

    @property
    def control_points(self) -> Array:
        """(M, n), of the uniform clamped B-spline over [0, T]; by collocation, at the nodes.

        Those of q, and of attitudes three numbers each, on the chart `path.chart`.
        """
        return self.path.control

    @cached_property
    def shares(self) -> Array:
        """The instants with limits, as shares of T, (K,)."""
        return np.linspace(0.0, 1.0, self.path.profile.segments * self.per_segment + 1)

    @property
    def t(self) -> Array:
        """Sampled times, (K,) (s)."""
        return self.shares * self.T

    @property
    def q(self) -> Array:
        """Sampled configurations, (K, nq)."""
        return self.path.motion(self.shares).q

    @property
    def qd(self) -> Array:
        """Sampled velocities, (K, n)."""
        return self.path.motion(self.shares).qd

    @property
    def qdd(self) -> Array:
        """Sampled accelerations, (K, n)."""
        return self.path.motion(self.shares).qdd

    @property
    def tau(self) -> Array:
        """Sampled torques, (K, n)."""
        return self.torques(self.shares)

    @property
    def loads(self) -> Array | None:
        """Given and unknown loads and forces in cuts, (K, n_loads, 6); None if there are none."""
        return self._loads_at(self.shares)

    def _loads_at(self, s: Array) -> Array | None:
        """Return loads of the model at shares of T, (K, n_loads, 6)."""
        loads = self.path.motion(s).loads
        return loads if loads is None else loads[:, : len(self.module.load_names)]

    @property
    def multipliers(self) -> Array | None:
        """Sampled multipliers of the rows of loops, (K, n_constraints); None without loops."""
        return self._multipliers_at(self.shares)

    def _multipliers_at(self, s: Array) -> Array | None:
        is_mechanism = isinstance(self.module, Opened)
        return self.module.split(self.path.motion(s).loads)[1] if is_mechanism else None

    @property
    def contact_forces(self) -> Array:
        """Forces of the ground on the contact points, base axes, (K, P, 3) (N)."""
        return self.contact_forces_at(self.shares)

    def contact_forces_at(self, s: Array) -> Array:
        """Return the forces of the ground on the contact points at shares of T, (K, P, 3) (N)."""
        loads, contacts = self.path.motion(s).loads, self.task.contacts
        if loads is None or contacts is None:
            return np.zeros((len(s), 0, 3))
        return np.asarray(loads[:, contacts.loads, :3])

    @property
    def simulated(self) -> str:
        """The error of the forward simulation in words."""
        error = f"{self.final_error:.1e}"
        if self.ground is None and not np.isfinite(self.final_error):
            return "a simulation under the torques of the plan diverges"
        if self.ground is None:
            return f"a simulation under the torques of the plan ends {error} from its end"
        return (
            "simulations under its torques from each instant, with standing points held, end at "
            f"most {error} from the next one"
        )

    @property
    def outcome(self) -> str:
        """Time and objective in words, or that no motion was found."""
        if self.status == INFEASIBLE:
            return "no motion was found that meets the task, which is no proof that there is none"
        optimum = ", a local optimum" if self.status == "solved" else ""
        optimum += f", the best of {len(self.others) + 1} starts" if self.others else ""
        return f"{self.T:.6g} s, objective {self.objective:.6g}{optimum}"

    @property
    def stages(self) -> Mapping[str, tuple[int, int]]:
        """First and last iteration of every stage: of each finer spline, of tightened limits."""
        stages: dict[str, tuple[int, int]] = {}
        for k, step in enumerate(self.steps, 1):
            stages[step.stage] = stages.get(step.stage, (k, k))[0], k
        return stages

    @cached_property
    def solids(self) -> tuple[Shape, ...]:
        """The obstacles, and the spheres on links that keep out of them; ground and footprints."""
        q = self.path.motion(_SHARES).q
        return solids(self.module, self.task, q, self.footing_at(_SHARES))

    def footing_at(self, s: Array) -> Footing | None:
        """Return feet, footprints, zero-moment points at shares of T; None without contacts."""
        if self.task.contacts is None:
            return None
        return footing(self.task, self.module, self.task.contacts, self.path.motion(s))

    @property
    def ground_forces(self) -> Forces | None:
        """Forces of contacts and other loads for `symgen.animate`; None without contacts."""
        return self._forces_at(self.shares)

    def _forces_at(self, s: Array) -> Forces | None:
        at, loads = self.footing_at(s), self._loads_at(s)
        return None if at is None or loads is None else Forces(loads, at.centre)

    @property
    def clearance(self) -> str:
        """The least distance in words; "" without `keep_out`."""
        if self.nearest is None:
            return ""
        size = round(self.nearest.distance, 6) + 0.0  # no negative zero
        apart = f"{size:.4g} m apart" if size >= 0 else f"overlapping by {-size:.4g} m"
        return (
            f"{self.nearest.pair}, {apart} at {self.nearest.at * self.T:.3g} s "
            f"(margin {self.task.keep_out.margin:.4g} m)"
        )

    def torques(self, s: Array) -> Array:
        """Return the joint torques at shares of T, (K, n)."""
        return self.path.torques(self.module, self.task.parameters, s)

    def scalars(self) -> dict[str, Any]:
        """Return the numbers of ``--json``."""
        return {
            "status": self.status, "T": self.T, "objective": self.objective,
            "iterations": self.iterations, "evaluations": self.evaluations,
            "seconds": self.seconds, "solver_seconds": self.solver_seconds,
            "violation": self.violation,
            "final_error": self.final_error if np.isfinite(self.final_error) else None,
            "nearest": None if self.nearest is None else asdict(self.nearest),
            "ground": None if self.ground is None else asdict(self.ground),
        }  # fmt: skip

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the motion: .csv or .npz (samples), or .yaml (a ROS JointTrajectory of its drives).

        Raises `symgen.errors.RequestError` for the trajectory of an infeasible or exceeded plan.
        """
        path = Path(path)
        if path.suffix not in ENDINGS:
            raise RequestError(f"{path}: a plan is saved as {', '.join(ENDINGS)}")
        _check_output(path, (self.task.file,))
        if self.withheld(path):
            raise RequestError(f"{path}: {self.withheld(path)}")
        write = {".csv": _csv, ".npz": _npz}.get(path.suffix, _joint_trajectory)
        return replace_file(path, write(self))

    def withheld(self, path: Path) -> str:
        """Return why the plan is not written to a path, "" where it is."""
        if path.suffix not in (".yaml", ".yml") or self.status not in (INFEASIBLE, EXCEEDED):
            return ""
        return f"a plan that is {self.status} is no trajectory for a robot; .csv has its samples"

    def plot(self, path: str | PathLike[str]) -> Path:
        """Write a figure, .png, .svg or .pdf: coordinates, velocities and torques.

        With `keep_out`, the robot among its obstacles, and distances, too; with contacts, forces of
        the ground, and the zero-moment point.
        """
        path = Path(path)
        if path.suffix not in FIGURES:
            raise RequestError(f"{path}: a plot is {', '.join(FIGURES)}")
        check_writable(path)
        panels: tuple[Panel, ...] = _by_unit(self, _coordinates, _velocities)
        panels += _panels_of_torques(self)
        if self.nearest is not None:
            panels = (_scene, *panels, _distances)
        if self.task.contacts is not None:
            panels = (*panels, *_REACTIONS, _centre)
        height = 2.5 * sum(HEIGHTS.get(panel, 1) for panel in panels)
        return replace_file(path, _drawn(self, panels, path.suffix[1:], (7, height)))

    def report(self, path: str | PathLike[str]) -> Path:
        """Write an HTML page: the moving robot, figures, limits, history."""
        path = Path(path)
        check_writable(path)
        return replace_file(path, _page(self).encode())

    def write(self, path: str | PathLike[str]) -> Path:
        """Write a file by the ending of its name: samples, a figure, or the page."""
        ending = Path(path).suffix
        if ending == PAGE:
            return self.report(path)
        return self.plot(path) if ending in FIGURES else self.save(path)

    def __repr__(self) -> str:
        reasons = "" if self.status == "solved" else "".join(f"; {x}" for x in self.remarks)
        return (
            f"<{type(self).__name__} {self.status}: {self.outcome}, violation "
            f"{self.violation:.1e}, final error {self.final_error:.1e}{reasons}>"
        )


def check_outputs(paths: Iterable[Path], inputs: Sequence[str | Path]) -> None:
    """Raise `RequestError` where a file cannot be written, or is one of `inputs`.

    Nothing but a trajectory of an earlier plan is replaced by a trajectory.
    """
    endings = (PAGE, *FIGURES, *ENDINGS)
    for path in paths:
        if path.suffix not in endings:
            raise RequestError(f"{path}: a plan is written as {', '.join(endings)}")
        _check_output(path, inputs)


def _check_output(path: Path, inputs: Sequence[str | Path]) -> None:
    check_writable(path, inputs)
    if path.suffix not in (".yaml", ".yml") or not path.is_file():
        return
    try:
        with path.open("rb") as stream:
            heading = stream.readline(len(TRAJECTORY) + 2).rstrip(b"\r\n")
    except OSError as error:
        raise RequestError(f"cannot read {path}: {error.strerror}") from error
    if heading != TRAJECTORY.encode():
        raise RequestError(
            f"cannot write {path}: it is there already, and no trajectory of a plan; choose "
            "another name for the output, or remove it"
        )


def _csv(plan: Plan) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = {**dict.fromkeys(_KINDS, plan.module.coordinate_names), "q": plan.module.position_names}
    header = ["t", *(f"{kind}_{name}" for kind in _KINDS for name in names[kind])]
    columns = [plan.t[:, None], *(getattr(plan, kind) for kind in _KINDS)]
    if (multipliers := plan.multipliers) is not None:
        header += [f"multiplier_{name}" for name in plan.module.constraint_names]
        columns.append(multipliers)
    if plan.task.contacts is not None:
        header += [f"f_{name}_{axis}" for name in plan.task.contacts.names for axis in "xyz"]
        columns.append(plan.contact_forces.reshape(len(plan.t), -1))
    if (ground := plan.footing_at(plan.shares)) is not None:
        header += [f"zmp_{axis}" for axis in "xyz"]
        columns.append(ground.centre)
    writer.writerow(header)
    writer.writerows([repr(float(x)) for x in row] for row in np.column_stack(columns))
    return text.getvalue().encode()


def _npz(plan: Plan) -> bytes:
    """Return an archive of `numpy.savez`, without the time of day."""
    arrays = {
        "t": plan.t, **{kind: getattr(plan, kind) for kind in _KINDS},
        "control_points": plan.control_points, "knots": plan.path.knots,
        "degree": np.array(plan.path.profile.degree), "T": np.array(plan.T),
    }  # fmt: skip
    if (multipliers := plan.multipliers) is not None:
        arrays["multipliers"] = multipliers
    if plan.task.contacts is not None:
        arrays["contact_forces"] = plan.contact_forces
    if plan.path.chart.references:
        arrays["references"] = np.array(plan.path.chart.references)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.save(member, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", _EPOCH), member.getvalue())
    return content.getvalue()


def _joint_trajectory(plan: Plan) -> bytes:
    """Return samples at the knots, between which controllers interpolate."""
    s = np.linspace(0.0, 1.0, plan.path.profile.pieces + 1)
    joints = np.flatnonzero(plan.path.chart.plain & np.array(plan.module.actuated))
    motion, space = plan.path.motion(s), plan.path.chart.space
    kinds = ("positions", "velocities", "accelerations")
    values = (x[:, joints] for x in (space.coordinates(motion.q), motion.qd, motion.qdd))
    samples = {
        kind: np.where(np.abs(x) < ZERO * np.abs(x).max(initial=0.0), 0.0, x)
        for kind, x in zip(kinds, values, strict=True)
    }
    lines = [TRAJECTORY, f"# status of the plan: {plan.status}", "joint_names:"]
    names = [plan.module.coordinate_names[k] for k in joints]
    written = (plan.module.file_names.get(name, name) for name in names)
    lines += [f"  - {json.dumps(name, ensure_ascii=False)}" for name in written]
    lines.append("points:")
    for k, share in enumerate(s):
        seconds, nanoseconds = divmod(round(share * plan.T * 1e9), 1_000_000_000)
        for name, rows in samples.items():
            numbers = ", ".join(repr(float(x)) for x in rows[k])
            lines.append(f"  {'-' if name == 'positions' else ' '} {name}: [{numbers}]")
        lines.append(f"    time_from_start: {{sec: {seconds}, nanosec: {nanoseconds}}}")
    return ("\n".join(lines) + "\n").encode()


Panel = Callable[[Plan, Any], None]


def _page(plan: Plan) -> str:
    """Return the page of figures with the moving robot."""
    layout = Templates()
    opened = ": the tree cut open" if isinstance(plan.module, Opened) else ""
    moved, torques = _by_unit(plan, _coordinates, _velocities), _panels_of_torques(plan)
    figures = [
        (title, _svg(plan, panels, size))
        for title, panels, size in (
            ("Coordinates and velocities", moved, (7, 2.5 * len(moved))),
            ("Torques", torques, (7, 0.5 + 2.5 * len(torques))),
            ("Forces of the ground", _REACTIONS, (7, 6)),
            ("Zero-moment point from above", (_centre,), (7, 3)),
            ("Distances", (_distances,), (7, 3)),
            ("Forces in the joints", (_wrenches,), (7, 3)),
            ("Forces in the loops", (_loop_forces,), (7, 3)),
            (f"Sensitivities along the motion{opened}", (_sensitivities,), (7, 3.4)),
            ("Iterations", (_history,), (7, 3)),
        )
        if not (panels == (_wrenches,) and "joint_wrenches" not in plan.module.functions)
        and not (panels == (_loop_forces,) and not getattr(plan.module, "loop_names", ()))
        and not (panels == (_distances,) and plan.nearest is None)
        and not (panels in (_REACTIONS, (_centre,)) and plan.task.contacts is None)
    ]
    s = _SHARES
    curves = []
    if plan.nearest is not None:
        least = _values_of_distances(plan)[1].min(axis=1)[:, None]
        title, margin = "Least distance (m; dashed: its margin)", plan.task.keep_out.margin
        curves.append(Curves(title, ["least"], least, [margin]))
    ground = plan.footing_at(s)
    if ground is not None:
        title = "Normal forces of the ground (N; dashed: weight)"
        levels = [ground.weight] if ground.weight else []
        curves.insert(0, Curves(title, [*ground.feet], ground.reactions[..., 2], levels))
    return layout.render(
        "report/plan.html",
        robot=plan.module.name,
        plan=plan,
        worst=[
            (demand(plan.module, name), over)
            for name, over in sorted(plan.worst.items(), key=lambda item: (-item[1], item[0]))
        ],
        figures=figures,
        style=layout.source("report/style.css"),
        scripts=[layout.source(f"report/{name}.js") for name in SCRIPTS],
        data=player_facts(
            plan.module, s * plan.T, plan.path.motion(s).q,
            plan.torques(s) * plan.module.actuated,
            dict(plan.task.parameters) or None, plan.solids, curves, plan._forces_at(s),
            (_position_limits(plan), plan.task.limits.torque),
        ),
        table=table_of_coordinates(plan.task, plan.module),
    )  # fmt: skip


def _drawn(plan: Plan, panels: Sequence[Panel], ending: str, size: tuple[float, float]) -> bytes:
    """Return a figure, with equal bytes for equal plans."""
    try:
        import matplotlib
        from cycler import cycler
        from matplotlib.figure import Figure
    except ImportError:
        raise RequestError("figures need Matplotlib: pip install 'symgen[plan]'") from None
    settings = {
        "svg.hashsalt": "symgen", "svg.fonttype": "none", "font.size": 9, "axes.grid": True,
        "grid.alpha": 0.3, "lines.linewidth": 1.4, "legend.frameon": False,
        "axes.prop_cycle": cycler(color=COLOURS),
    }  # fmt: skip
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=size, layout="constrained")
        heights = [HEIGHTS.get(panel, 1) for panel in panels]
        grid = figure.add_gridspec(len(panels), 1, height_ratios=heights)
        axes = []
        for k, panel in enumerate(panels):
            projection = "3d" if panel is _scene else "rectilinear"
            axes.append(figure.add_subplot(grid[k], projection=projection))
            panel(plan, axes[-1])
        for axis, below in pairwise(axes):
            if axis.get_xlabel() == below.get_xlabel() == TIME_AXIS:
                axis.set_xlabel("")
                axis.tick_params(labelbottom=False)
        content = io.BytesIO()
        about = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
        figure.savefig(content, format=ending, dpi=150, metadata=about[ending])
    return content.getvalue()


def _svg(plan: Plan, panels: Sequence[Panel], size: tuple[float, float]) -> str:
    text = _drawn(plan, panels, "svg", size).decode()
    return text[text.index("<svg") :]


def _curves(
    plan: Plan,
    axis: Any,
    values: Array,
    label: str,
    limits: Array | None = None,
    names: Sequence[str] | None = None,
    among: Index | None = None,
) -> None:
    """A curve for every coordinate, or for other `names`, its limits dashed, shared ones in grey.

    Only those with numbers `among` these are drawn, if any.  Of many coordinates those are drawn
    that change most.
    """
    t = np.linspace(0.0, plan.T, len(values))
    names = names or plan.module.coordinate_names
    among = np.arange(len(names)) if among is None else among
    chosen = among[largest(np.ptp(values[:, among], axis=0))]
    if len(chosen) < len(among):
        title = f"the {len(chosen)} of {len(among)} that change most"
        axis.set_title(title, fontsize=8, loc="left")
    called = [names[k] for k in chosen]
    colours = colours_of(called, plan.module)
    for k, number in zip(chosen, colours, strict=True):
        axis.plot(t, values[:, k], label=names[k], color=f"C{number}")
    bounds = None if limits is None else limits[chosen]
    for limit, k in Curves(label, called, values[:, chosen], limits=bounds).lines.items():
        colour = "0.4" if k is None else f"C{colours[k]}"
        axis.axhline(limit, color=colour, linestyle="--", linewidth=0.8)
    low, high = axis.get_ylim()
    missing = max(LEAST[0], LEAST[1] * np.abs(values[:, chosen]).max(initial=0.0)) - (high - low)
    if missing > 0:
        axis.set_ylim(low - missing / 2, high + missing / 2)
    axis.set_ylabel(label)
    _name_axis(axis, plan)


def _name_axis(axis: Any, plan: Plan) -> None:
    axis.set_xlabel(TIME_AXIS)
    axis.set_xlim(0, plan.T)
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)


def _by_unit(plan: Plan, *panels: Callable[..., None]) -> tuple[Panel, ...]:
    """Return a panel for each unit of what `panels` draw: coordinates, otherwise velocities."""
    return tuple(
        partial(panel, unit=unit, among=among)
        for panel in panels
        for unit, among in by_unit(plan.module, panel is not _coordinates).items()
    )


def _coordinates(plan: Plan, axis: Any, unit: str, among: Index) -> None:
    q, names = plan.path.motion(_SHARES).q, plan.module.position_names
    label = f"q ({unit})" if unit else "quaternion"
    _curves(plan, axis, q, label, _position_limits(plan), names=names, among=among)


def _position_limits(plan: Plan) -> Array:
    """Return limits of the entries of q, (nq, 2), infinite for attitudes."""
    space = plan.path.chart.space
    limits = np.tile([-np.inf, np.inf], (space.nq, 1))
    limits[space.positions] = plan.task.limits.position[space.velocities]
    return limits


def _velocities(plan: Plan, axis: Any, unit: str, among: Index) -> None:
    qd, rate = plan.path.motion(_SHARES).qd, f"qd ({unit}/s)" if unit else "qd (1/s)"
    _curves(plan, axis, qd, rate, plan.task.limits.velocity, among=among)


def _panels_of_torques(plan: Plan) -> tuple[Panel, ...]:
    """Return a panel for each unit, or one of shares of limits that differ much."""
    sizes = np.abs(plan.task.limits.torque).max(axis=1)
    differ = np.all(np.isfinite(sizes)) and 0 < DIFFERENT * sizes.min() < sizes.max()
    if differ:
        return (_shares_of_limits,)
    driven = np.array(plan.module.actuated)
    units = by_unit(plan.module, True).items()
    chosen = {unit: among[driven[among]] for unit, among in units}
    return tuple(
        partial(_torques, unit=x, among=among) for x, among in chosen.items() if len(among)
    )


def _shares_of_limits(plan: Plan, axis: Any) -> None:
    tau, limits = plan.torques(_SHARES), plan.task.limits.torque
    sizes = np.abs(limits).max(axis=1)
    _curves(plan, axis, tau / sizes, "torque / its limit", limits / sizes[:, None])


def _torques(plan: Plan, axis: Any, unit: str, among: Index) -> None:
    label = "force (N)" if unit == "m" else "torque (N m)"
    _curves(plan, axis, plan.torques(_SHARES), label, plan.task.limits.torque, among=among)


def _values_of_distances(plan: Plan) -> tuple[Sequence[str], Array]:
    """Return the names of all pairs, and their distances (m), (SAMPLES, pairs)."""
    distances = Distances(plan.module, plan.task.parameters, plan.task.keep_out)
    return distances.labels, distances.value(plan.path.motion(_SHARES))


def _distances(plan: Plan, axis: Any) -> None:
    """Draw the least distance, those of the pairs that come nearly as near, and the margin."""
    names, values = _values_of_distances(plan)
    t, least, by_pair = _SHARES * plan.T, values.min(axis=1), values.min(axis=0)
    near = np.flatnonzero(by_pair <= NEAR * max(0.0, least.max()))
    near = near[np.argsort(by_pair[near], kind="stable")[:MOST_CURVES]]
    for k in np.sort(near):
        axis.plot(t, values[:, k], label=names[k], linewidth=1.0)
    if len(near) < len(names):
        shown = "nearest" if len(near) == 1 else f"{len(near)} nearest"
        axis.set_title(f"the {shown} of {len(names)} pairs", fontsize=8, loc="left")
    axis.plot(t, least, color="0.2", linewidth=2.2, label="least", zorder=1.5)
    axis.axhline(plan.task.keep_out.margin, color="0.4", linestyle="--", label="margin")
    axis.set_ylabel("distance (m)")
    _name_axis(axis, plan)


def _scene(plan: Plan, axis: Any) -> None:
    """Draw the robot among its obstacles at the start, where it is nearest to one, at the end."""
    nearest = plan.nearest
    assert nearest is not None
    instants = {"start": 0.0, f"nearest, {nearest.at * plan.T:.3g} s": nearest.at, "goal": 1.0}
    draw_scene(axis, plan.module, plan.task, plan.path.motion(_SHARES).q, plan.solids, {
        name: plan.path.motion(np.array([s])).q[0] for name, s in instants.items()
    })  # fmt: skip


def _reaction(plan: Plan, axis: Any, direction: int) -> None:
    """Draw the forces of the ground on feet along an axis of the ground."""
    ground = plan.footing_at(_SHARES)
    assert ground is not None
    draw_reactions(axis, ground, _SHARES * plan.T, direction)
    name = axis_name(ground.contacts.axes[direction]) or str(direction + 1)
    axis.set_ylabel("normal (N)" if direction == 2 else f"along {name} (N)")
    _name_axis(axis, plan)


_REACTIONS = tuple(partial(_reaction, direction=direction) for direction in (2, 0, 1))


def _centre(plan: Plan, axis: Any) -> None:
    """Draw footprints and the zero-moment point from above."""
    ground = plan.footing_at(_SHARES)
    assert ground is not None
    draw_centre(axis, ground, len(plan.shares))
    for k, letter in enumerate("xy"):
        name = axis_name(ground.contacts.axes[k])
        getattr(axis, f"set_{letter}label")(f"{name} (m)" if name else "")


def _wrenches(plan: Plan, axis: Any) -> None:
    motion = plan.path.motion(_SHARES)
    options = Torques(plan.module, plan.task.parameters).options(motion)
    wrenches = plan.module.joint_wrenches(*motion.state, **options)
    sizes = np.linalg.norm(wrenches[..., :3], axis=2)
    if sizes.shape[1] == plan.module.n:
        digits = np.round(sizes / (sizes.max() or 1.0), 9)  # joints about one point bear the same
        first = np.sort(np.unique(digits, axis=1, return_index=True)[1])
        names = [plan.module.coordinate_names[k] for k in first]
        _curves(plan, axis, sizes[:, first], "force (N)", names=names)
        return
    axis.plot(motion.t, sizes)
    axis.set_ylabel("force (N)")


def _loop_forces(plan: Plan, axis: Any) -> None:
    """Draw the sizes of the forces in the loops."""
    q, options = plan.path.motion(_SHARES).q, Torques(plan.module, plan.task.parameters).keywords
    wrenches = plan.module.loop_wrenches(q, plan._multipliers_at(_SHARES), **options)
    sizes = np.linalg.norm(wrenches[..., :3], axis=2)
    _curves(plan, axis, sizes, "force (N)", names=plan.module.loop_names)


def _sensitivities(plan: Plan, axis: Any) -> None:
    motion = plan.path.motion(_SHARES)
    slopes = Torques(plan.module, plan.task.parameters).jacobian(motion)[1][:, 0]
    names = plan.module.coordinate_names
    ranges = np.ptp(slopes, axis=0) * np.array(plan.module.actuated)[:, None]
    order = np.argsort(-ranges, axis=None, kind="stable")[:MOST_CURVES]
    for flat in np.sort(order):
        i, j = divmod(int(flat), len(names))
        if ranges[i, j] > 0:
            axis.plot(motion.t, slopes[:, i, j], label=f"∂τ {names[i]} / ∂q {names[j]}")
    axis.set_ylabel("N m/rad, N/m")
    _name_axis(axis, plan)


HEIGHTS: Mapping[Panel, float] = {_scene: 2}
"""Heights of panels in units of the usual ones."""


def _history(plan: Plan, axis: Any) -> None:
    numbers = np.arange(1, len(plan.steps) + 1)
    for stage, (first, _) in plan.stages.items():
        axis.axvline(first, color="0.6", linestyle=":", linewidth=1.0)
        axis.annotate(
            stage, (first, 1), (0, 3), xycoords=("data", "axes fraction"), rotation=25, va="bottom",
            textcoords="offset points", rotation_mode="anchor", fontsize=7, color="0.3",
        )  # fmt: skip
    axis.plot(numbers, [step.objective for step in plan.steps], color="C0")
    axis.set_ylabel("objective", color="C0")
    axis.set_xlabel("iteration")
    right = axis.twinx()
    right.semilogy(numbers, [max(step.violation, 1e-12) for step in plan.steps], color="C3")
    right.set_ylabel("violation (scaled)", color="C3")
    right.grid(visible=False)
