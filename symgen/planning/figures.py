"""Figures of a plan, by Matplotlib, and a page of them with the moving robot.

motion          coordinates and velocities, with the limits of velocities
torques         with their limits, in units of them where they differ much
wrenches        the size of the force in every joint
sensitivities   derivatives of torques with respect to coordinates (as Xiang 2009, fig. 14)
history         objective and violation of every iterate
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.emit.templates import Templates
from symgen.errors import RequestError
from symgen.page.animation import SCRIPTS, player_facts
from symgen.planning.quantities import Torques
from symgen.planning.results import Solution
from symgen.toolchain.files import check_writable, replace_file

Array = NDArray[np.float64]

ENDINGS = (".png", ".svg", ".pdf")
SAMPLES = 401
NEAR = 2.0
"""Largest limit that is drawn, in units of the largest value."""
DIFFERENT = 4.0
"""Ratio of limits of torques above which these are drawn as shares of their limits."""
MOST_CURVES = 9
"""Number of curves of sensitivities, the largest ones."""


def plot(plan: Solution, path: Path) -> Path:
    """Write coordinates, velocities and torques, in one figure."""
    if path.suffix not in ENDINGS:
        raise RequestError(f"{path}: a plot is {', '.join(ENDINGS)}")
    check_writable(path)
    panels = (_coordinates, _velocities, _torques)
    return replace_file(path, _drawn(plan, panels, path.suffix[1:], (7, 7.5)))


def report(plan: Solution, path: Path) -> Path:
    """Write the page of figures with the moving robot."""
    check_writable(path)
    layout = Templates()
    figures = [
        (title, _svg(plan, panels, size))
        for title, panels, size in (
            ("Coordinates and velocities", (_coordinates, _velocities), (7, 5)),
            ("Torques", (_torques,), (7, 3)),
            ("Forces in the joints", (_wrenches,), (7, 3)),
            ("Sensitivities along the motion", (_sensitivities,), (7, 3.4)),
            ("Iterations", (_history,), (7, 3)),
        )
        if not (panels == (_wrenches,) and "joint_wrenches" not in plan.module.functions)
    ]
    s = np.linspace(0.0, 1.0, SAMPLES)
    text = layout.render(
        "report/plan.html",
        robot=plan.module.name,
        plan=plan,
        worst=sorted(plan.worst.items(), key=lambda item: (-item[1], item[0])),
        figures=figures,
        style=layout.source("report/style.css"),
        scripts=[layout.source(f"report/{name}.js") for name in SCRIPTS],
        data=player_facts(
            plan.module, s * plan.T, plan.path.motion(s).q, plan.torques(s),
            dict(plan.task.parameters) or None,
        ),
    )  # fmt: skip
    return replace_file(path, text.encode())


# ------------------------------------------------------------------------------------- drawing

Panel = Callable[[Solution, Any], None]


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise RequestError("figures need Matplotlib: pip install matplotlib") from None
    return matplotlib


def _drawn(
    plan: Solution, panels: Sequence[Panel], ending: str, size: tuple[float, float]
) -> bytes:
    """Return a figure, with equal bytes for equal plans."""
    matplotlib = _matplotlib()
    from matplotlib.figure import Figure

    settings = {
        "svg.hashsalt": "symgen", "svg.fonttype": "none", "font.size": 9, "axes.grid": True,
        "grid.alpha": 0.3, "lines.linewidth": 1.4, "legend.frameon": False,
    }  # fmt: skip
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=size, layout="constrained")
        axes = np.atleast_1d(figure.subplots(len(panels), 1, sharex=len(panels) > 1))
        for panel, axis in zip(panels, axes, strict=True):
            panel(plan, axis)
        content = io.BytesIO()
        about = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
        figure.savefig(content, format=ending, dpi=150, metadata=about[ending])
    return content.getvalue()


def _svg(plan: Solution, panels: Sequence[Panel], size: tuple[float, float]) -> str:
    text = _drawn(plan, panels, "svg", size).decode()
    return text[text.index("<svg") :]


def _curves(
    plan: Solution,
    axis: Any,
    values: Array,
    label: str,
    limits: Array | None = None,
    names: Sequence[str] | None = None,
) -> None:
    """A curve for every coordinate, or for other `names`, its limits dashed, shared ones in grey.

    Limits that no curve comes near are not drawn: they would make the curves flat.
    """
    t = np.linspace(0.0, plan.T, len(values))
    colours: dict[float, list[str]] = {}
    for k, name in enumerate(names or plan.module.coordinate_names):
        (line,) = axis.plot(t, values[:, k], label=name)
        for limit in () if limits is None else limits[k]:
            colours.setdefault(float(limit), []).append(line.get_color())
    largest = float(np.abs(values).max(initial=0.0))
    for limit, shared in colours.items():
        if abs(limit) <= NEAR * largest:
            colour = shared[0] if len(shared) == 1 else "0.4"
            axis.axhline(limit, color=colour, linestyle="--", linewidth=0.8)
    axis.set_ylabel(label)
    _name_axis(axis, plan)


def _name_axis(axis: Any, plan: Solution) -> None:
    axis.set_xlabel("t (s)")
    axis.label_outer()
    axis.set_xlim(0, plan.T)
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)


def _shares() -> Array:
    return np.linspace(0.0, 1.0, SAMPLES)


def _coordinates(plan: Solution, axis: Any) -> None:
    q, names = plan.path.motion(_shares()).q, plan.module.position_names
    _curves(plan, axis, q, "q (rad, m)", names=names)


def _velocities(plan: Solution, axis: Any) -> None:
    qd = plan.path.motion(_shares()).qd
    _curves(plan, axis, qd, "qd (rad/s, m/s)", plan.task.limits.velocity)


def _torques(plan: Solution, axis: Any) -> None:
    tau, limits = plan.torques(_shares()), plan.task.limits.torque
    sizes = np.abs(limits).max(axis=1)
    if np.all(np.isfinite(sizes)) and 0 < DIFFERENT * sizes.min() < sizes.max():
        _curves(plan, axis, tau / sizes, "torque / its limit", limits / sizes[:, None])
        return
    _curves(plan, axis, tau, "torque (N m, N)", limits)


def _wrenches(plan: Solution, axis: Any) -> None:
    motion = plan.path.motion(_shares())
    options = Torques(plan.module, plan.task.parameters).options(motion)
    wrenches = plan.module.joint_wrenches(*motion.state, **options)
    sizes = np.linalg.norm(wrenches[..., :3], axis=2)
    if sizes.shape[1] == plan.module.n:
        _curves(plan, axis, sizes, "force (N)")
        return
    axis.plot(motion.t, sizes)
    axis.set_ylabel("force (N)")


def _sensitivities(plan: Solution, axis: Any) -> None:
    motion = plan.path.motion(_shares())
    slopes = Torques(plan.module, plan.task.parameters).jacobian(motion)[1][:, 0]
    names = plan.module.coordinate_names
    ranges = np.ptp(slopes, axis=0)
    order = np.argsort(-ranges, axis=None, kind="stable")[:MOST_CURVES]
    for flat in np.sort(order):
        i, j = divmod(int(flat), len(names))
        if ranges[i, j] > 0:
            axis.plot(motion.t, slopes[:, i, j], label=f"∂τ {names[i]} / ∂q {names[j]}")
    axis.set_ylabel("N m/rad, N/m")
    _name_axis(axis, plan)


def _history(plan: Solution, axis: Any) -> None:
    numbers = np.arange(len(plan.steps))
    axis.plot(numbers, [step.objective for step in plan.steps], color="C0")
    axis.set_ylabel("objective", color="C0")
    axis.set_xlabel("iteration")
    right = axis.twinx()
    right.semilogy(numbers, [max(step.violation, 1e-12) for step in plan.steps], color="C3")
    right.set_ylabel("violation (scaled)", color="C3")
    right.grid(visible=False)
