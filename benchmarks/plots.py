"""Figures of the benchmarks; everything that needs matplotlib."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import matplotlib.ticker
import numpy as np
from matplotlib.patches import Patch

from benchmarks import figures
from benchmarks.contestants import NAMES, contestant
from benchmarks.interface import CALL, FUNCTIONS, KERNEL, LARGE, SMALL

MODES = (CALL, KERNEL, SMALL, LARGE)
SHADES = {CALL: "#b8c7d9", KERNEL: "#5b84b1", SMALL: "#f2a65a", LARGE: "#c05746"}
FAMILIES = dict(
    zip(NAMES, ("#444444", "#c05746", "#f2a65a", "#8d8d8d", "#5b84b1", "#6aa56a", "#a678b4"),
        strict=True)
)  # fmt: skip
PEER_MODEL = "arm7"


def comparison_figure(data):
    """Above: symgen against Pinocchio C++, by model.  Below: everybody, on one model."""
    rows = data["figures"]
    functions = [f for f in FUNCTIONS if any(row["function"] == f for row in rows)]
    models = list(dict.fromkeys(row["model"] for row in rows))
    if not functions:
        return None
    peers = PEER_MODEL if PEER_MODEL in models else models[-1]
    figure, axes = plt.subplots(
        2, len(functions), figsize=(4.1 * len(functions) + 0.6, 9.5), squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for column, function in enumerate(functions):
        _ratios(axes[0, column], data, function, models)
        _peers(axes[1, column], data, function, peers)
    axes[0, 0].set_ylabel("symgen: times faster than Pinocchio C++")
    handles = [Patch(color=SHADES[mode], label=figures.TITLES[mode]) for mode in MODES]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=9)
    facts = data["machine"]
    figure.suptitle(
        "symgen against Pinocchio C++ (above), everybody on one model (below); one core of "
        f"{facts['processor']}, {facts['date'][:10]}",
        fontsize=10,
    )
    return figure


def peers_figure(data):
    """Everybody on one model: torques, and their derivatives with the mass matrix."""
    functions = ("inverse_dynamics", "inverse_dynamics_derivatives")
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    for panel, function in zip(axes, functions, strict=True):
        _peers(panel, data, function, PEER_MODEL)
        panel.set_title(figures.FUNCTION_TITLES[function], fontsize=11)
    return figure


def _ratios(axes, data, function, models):
    """Bars of each mode."""
    width = 0.8 / len(MODES)
    for k, mode in enumerate(MODES):
        for position, model in enumerate(models):
            row = figures.figure_of(data, model, function, figures.OURS, mode)
            if row is None or row["ratio of minima"] is None:
                continue
            x = position + (k - (len(MODES) - 1) / 2) * width
            axes.bar(x, row["ratio of minima"], width, color=SHADES[mode])
    axes.set_yscale("log")
    ticks = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100]
    lowest = min((row["ratio of minima"] or 1.0 for row in data["figures"]
                  if row["contestant"] == figures.OURS), default=1.0)  # fmt: skip
    ticks = [tick for tick in ticks if tick >= min(0.5, 0.4 * lowest)]
    axes.set_ylim(ticks[0], ticks[-1])
    axes.set_yticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_xticks(
        range(len(models)),
        [figures.MODEL_TITLES.get(m, m) for m in models],
        rotation=30,
        fontsize=8,
    )
    axes.grid(axis="y", linewidth=0.4)
    axes.set_axisbelow(True)
    axes.set_title(figures.FUNCTION_TITLES[function], fontsize=11)


def _peers(axes, data, function, model):
    """Nanoseconds per sample of everybody, the fastest at the top."""
    rows = [
        row for row in data["figures"]
        if row["model"] == model and row["function"] == function and row["mode"] in MODES
    ]  # fmt: skip
    rows.sort(key=lambda row: -row["minimum ns"])
    heights = np.arange(len(rows))
    values = [row["minimum ns"] for row in rows]
    axes.barh(heights, values, color=[FAMILIES[row["contestant"]] for row in rows], alpha=0.5)
    axes.set_yticks([])
    axes.set_xscale("log")
    if values:
        axes.set_xlim(min(values) / 3, max(values) * 2)
    for height, row in zip(heights, rows, strict=True):
        name, mode = contestant(row["contestant"]).TITLE, figures.TITLES[row["mode"]]
        if mode not in name:  # as in "Pinocchio Python"
            name = f"{name}, {mode}"
        axes.text(0.02, height, f"{row['minimum ns']:,.0f}  {name}", va="center", fontsize=8,
                  transform=axes.get_yaxis_transform())  # fmt: skip
    axes.xaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
    axes.set_xlabel(
        f"{figures.MODEL_TITLES.get(model, model)}: ns per sample (minimum)", fontsize=8
    )
    axes.grid(axis="x", linewidth=0.4)
    axes.set_axisbelow(True)


QUANTITIES = (
    ("operations", "operations"),
    ("derive s", "derive and emit, s"),
    ("compile s", "compile, s"),
    ("C kB", "C source, kB"),
    ("peak MB", "peak memory, MB"),
    ("call ns", "one call from Python, ns"),
)


def growth_figure(data):
    """Every quantity over the number of coordinates, one line per function."""
    figure, axes = plt.subplots(2, 3, figsize=(13, 8), layout="constrained")
    rows = data["figures"]
    series = list(dict.fromkeys((row["function"], row["asked for"]) for row in rows))
    several = len({asked for _, asked in series}) > 1
    for panel, (quantity, title) in zip(axes.flat, QUANTITIES, strict=True):
        for function, formulation in series:
            points = sorted(
                (row["n"], row[quantity] + (row["emit s"] if quantity == "derive s" else 0.0))
                for row in rows
                if (row["function"], row["asked for"]) == (function, formulation)
            )
            label = figures.FUNCTION_TITLES[function] + (f", {formulation}" if several else "")
            panel.plot(*zip(*points, strict=True), "o-", label=label, markersize=4)
        panel.set_xscale("log")
        panel.set_yscale("log")
        sizes = sorted({row["n"] for row in rows})
        panel.set_xticks(sizes, labels=sizes, fontsize=8)
        panel.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
        panel.set_title(title, fontsize=11)
        panel.grid(linewidth=0.4)
    axes[0, 0].legend(fontsize=8)
    for panel in axes[-1]:
        panel.set_xlabel("coordinates")
    facts = data["machine"]
    figure.suptitle(
        f"Builds of one function each, {facts['processor']}, {facts['date'][:10]}", fontsize=10
    )
    return figure


def save(figure, path):
    """Write the figure as PNG; `path` has no ending."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path.with_suffix(".png"), dpi=110)
