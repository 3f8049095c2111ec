"""Tables and figure of what `cost_of_sensitivity.py` measured.

The measurements are a dictionary: `store["cases"]["kane 12 4"]` is the method with n = 12, p = 4:

  times       ns of the two functions, `single` calls and per sample of a `batch`
  operations  of the two functions
  seconds     that the build took
  refused     why it was not built

and `store["machine"]` says where and when.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")  # writes files, needs no display
from matplotlib import pyplot as plt

Series = dict[int, float]  # by n, or by p
DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "cost_of_sensitivity.md"
BEGIN, END = "<!-- {}: begin -->", "<!-- {}: end -->"
FUNCTIONS = ("forward_dynamics", "forward_dynamics_sensitivities")
METHODS = {
    "explicit_kane": "traditional",
    "partially_recursive_kane": "partially recursive",
    "kane": "fully recursive",
}
TRADITIONAL, RECURSIVE = "explicit_kane", "kane"
COLORS = {"explicit_kane": "C3", "partially_recursive_kane": "C1", "kane": "C0"}
FITTED = {"kane": (12, 96), "explicit_kane": (6, 24), "partially_recursive_kane": (6, 24)}
ROWS = 32  # of a batch
WIDE = 12  # the number of coordinates at which all methods are measured with many parameters


def key(method: str, n: int, p: int) -> str:
    return f"{method} {n} {p}"


# -- what the measurements say -------------------------------------------------------------------


def value(record: dict, what: str, p: int, per_parameter: bool) -> float | None:
    """`what` is single, batch (ns) or operations; per parameter: beyond forward dynamics."""
    if what == "operations":
        found = record.get("operations")
        both = None if found is None else [found[name] for name in FUNCTIONS]
    else:
        found = record.get("times")
        both = None if found is None else [found[f"{name} {what}"] for name in FUNCTIONS]
    if both is None:
        return None
    return (both[1] - both[0]) / p if per_parameter else both[1]


def against_n(store: dict, method: str, p: int, what: str, per_parameter: bool = False) -> Series:
    found = {}
    for name, record in store["cases"].items():
        family, n, parameters = name.split()
        if family == method and int(parameters) == p:
            found[int(n)] = value(record, what, p, per_parameter)
    return {n: found[n] for n in sorted(found) if found[n] is not None}


def against_p(store: dict, method: str, n: int, what: str) -> Series:
    found = {}
    for name, record in store["cases"].items():
        family, size, p = name.split()
        if family == method and int(size) == n:
            found[int(p)] = value(record, what, int(p), False)
    return {p: found[p] for p in sorted(found) if found[p] is not None}


def exponent(series: Series, lowest: int, highest: int) -> tuple[float, float, list[int]] | None:
    """Slope and intercept in logarithms by least squares, and the sizes that they are of."""
    sizes = [n for n in series if lowest <= n <= highest]
    if len(sizes) < 2:
        return None
    slope, start = np.polyfit(np.log(sizes), np.log([series[n] for n in sizes]), 1)
    return float(slope), float(start), sizes


def crossing(slow: Series, fast: Series) -> str:
    """Where `slow` begins to cost more than `fast`, by interpolation in logarithms."""
    sizes = [n for n in slow if n in fast]
    if not sizes:
        return "not measured"
    ratios = [np.log(slow[n] / fast[n]) for n in sizes]
    if ratios[-1] < 0:
        return f"above n = {sizes[-1]}"
    below = [k for k, ratio in enumerate(ratios) if ratio < 0]
    if not below:
        return f"below n = {sizes[0]}"
    k = below[-1]
    low, high = np.log(sizes[k]), np.log(sizes[k + 1])
    return f"n = {np.exp(low + (high - low) * ratios[k] / (ratios[k] - ratios[k + 1])):.1f}"


def straight(series: Series) -> tuple[float, float, float]:
    """Intercept and slope of the line through times by p, and the largest distance from it, %."""
    p, times = np.array(list(series)), np.array(list(series.values()))
    slope, start = np.polyfit(p, times, 1)
    return float(start), float(slope), float(100 * np.abs((start + slope * p) / times - 1).max())


def table(heads: list[str], rows: Iterable[list[str]]) -> list[str]:
    lines = ["| " + " | ".join(heads) + " |", "| ---" + ": | ---" * (len(heads) - 1) + ": |"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def times_table(store: dict, p: int) -> list[str]:
    """Microseconds of one evaluation, for one sample and in a batch, and operations."""
    heads = ["n"]
    for label in METHODS.values():
        heads += [f"{label}: operations", "us", "us in a batch"]
    heads.append("traditional / fully recursive")
    what = ("operations", "single", "batch")
    columns = {(m, w): against_n(store, m, p, w) for m in METHODS for w in what}
    rows = []
    for n in sorted({n for series in columns.values() for n in series}):
        row = [str(n)]
        for method in METHODS:
            numbers = [columns[method, w].get(n) for w in what]
            row.append("" if numbers[0] is None else f"{numbers[0]:,}")
            missing = "" if numbers[0] is None else "not built"
            row += [missing if x is None else f"{x / 1e3:.2f}" for x in numbers[1:]]
        slow, fast = (columns[m, "single"].get(n) for m in (TRADITIONAL, RECURSIVE))
        rows.append([*row, "" if slow is None or fast is None else f"{slow / fast:.2f}"])
    return table(heads, rows)


def exponents_table(store: dict) -> list[str]:
    """Growth per parameter: (time - time of forward dynamics) / p."""
    heads = ["method", "p", "n", "time, one sample", "time, in a batch", "operations"]
    rows = []
    for method, label in METHODS.items():
        for p in parameters_of(store):
            fits = {
                w: exponent(against_n(store, method, p, w, True), *FITTED[method])
                for w in ("single", "batch", "operations")
            }
            timed = fits["single"]
            if timed is None or len(timed[2]) < 3:
                continue
            sizes = f"{timed[2][0]} ... {timed[2][-1]}"
            rows.append([label, str(p), sizes, *(f"{fit[0]:.2f}" for fit in fits.values() if fit)])
    return table(heads, rows)


def parameters_of(store: dict) -> list[int]:
    return sorted({int(name.split()[2]) for name in store["cases"]})


def crossings_table(store: dict) -> list[str]:
    heads = ["p", "traditional / fully recursive", "partially / fully recursive", "by operations"]
    rows = []
    for p in parameters_of(store):
        slow, partial, fast = (against_n(store, m, p, "single") for m in METHODS)
        if len([n for n in slow if n in fast]) < 2:
            continue
        counts = (against_n(store, m, p, "operations") for m in (TRADITIONAL, RECURSIVE))
        rows.append([str(p), crossing(slow, fast), crossing(partial, fast), crossing(*counts)])
    return table(heads, rows)


def parameters_table(store: dict) -> list[str]:
    """Time against p: intercept, slope, and how far from a straight line."""
    heads = ["method", "n", "p", "us at p = 0", "us per parameter", "off the line, %"]
    rows = []
    for n in sorted({int(name.split()[1]) for name in store["cases"]}):
        for method, label in METHODS.items():
            series = against_p(store, method, n, "batch")
            if len(series) < 4:
                continue
            start, slope, off = straight(series)
            numbers = [f"{start / 1e3:.2f}", f"{slope / 1e3:.3f}", f"{off:.1f}"]
            rows.append([label, str(n), ", ".join(map(str, series)), *numbers])
    return table(heads, rows)


def report(store: dict) -> dict[str, list[str]]:
    """The tables of the document, by their marks."""
    tables = {f"times, p = {p}": times_table(store, p) for p in parameters_of(store) if p in (1, 4)}
    about = store["machine"]
    tables["exponents"] = exponents_table(store)
    tables["crossings"] = crossings_table(store)
    tables["parameters"] = parameters_table(store)
    tables["machine"] = [
        f"{about['processor']}; {about['compiler']}, flags {about['flags']}; "
        f"Python {about['python']}; {about['date']}."
    ]
    return tables


def write_document(tables: dict[str, list[str]], figure: Path) -> None:
    """The tables between their marks in the document, and the figure beside it."""
    text = DOCUMENT.read_text()
    for mark, lines in tables.items():
        begin, end = BEGIN.format(mark), END.format(mark)
        head, found, rest = text.partition(begin)
        if found:
            text = "\n".join([head + begin, *lines, end + rest.partition(end)[2]])
    DOCUMENT.write_text(text)
    shutil.copyfile(figure, DOCUMENT.with_suffix(".png"))


# -- the figure -----------------------------------------------------------------------------------


def plot(path: Path, store: dict) -> None:
    """Left: whole evaluations against n; middle: per parameter; right: against p."""
    figure, panels = plt.subplots(1, 3, figsize=(16, 5.6), layout="constrained")
    plot_against_n(panels[0], store, False)
    plot_against_n(panels[1], store, True)
    plot_against_p(panels[2], store)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def plot_against_n(axes: plt.Axes, store: dict, per_parameter: bool) -> None:
    for method, label in METHODS.items():
        series = against_n(store, method, 1, "single", per_parameter)
        if not series:
            continue
        color = COLORS[method]
        fit = exponent(series, *FITTED[method])
        text = label
        if fit is not None:
            slope, start, sizes = fit
            text += f", $n^{{{slope:.2f}}}$ for {sizes[0]} ... {sizes[-1]}"
            ends = np.array([sizes[0] / 1.5, sizes[-1] * 1.15])
            axes.plot(ends, np.exp(start) * ends**slope / 1e3, color=color, linewidth=0.8)
            missing = [n for n in against_n(store, method, 1, "operations") if n not in series]
            heights = [np.exp(start) * n**slope / 1e3 for n in missing]
            axes.plot(missing, heights, "x", color=color, markersize=9)
            for n, height in zip(missing, heights, strict=True):
                axes.annotate("not built", (n, height), (5, -3), textcoords="offset points")
        times = [x / 1e3 for x in series.values()]
        axes.plot(list(series), times, "o", markersize=4.5, color=color, label=text)
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks = [2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96]
    axes.set_xticks(ticks, [str(n) for n in ticks])
    axes.minorticks_off()
    axes.set_xlabel("coordinates of the chain n")
    axes.set_ylabel("us")
    what = "per parameter, beyond forward dynamics" if per_parameter else "of one evaluation"
    axes.set_title(f"Time {what}, one parameter")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=9)


def plot_against_p(axes: plt.Axes, store: dict) -> None:
    sizes = {n for n in (WIDE, 24, 6) if len(against_p(store, RECURSIVE, n, "batch")) > 1}
    for n in sorted(sizes & {WIDE, 24} or sizes):
        for method, label in METHODS.items():
            series = against_p(store, method, n, "batch")
            if len(series) < 2:
                continue
            start, slope, _ = straight(series)
            look = {"color": COLORS[method], "markerfacecolor": "none" if n == 24 else None}
            axes.plot(list(series), [x / 1e3 for x in series.values()], "o", **look,
                      label=f"{label}, n = {n}: {slope / 1e3:.2f} us per parameter")  # fmt: skip
            line = np.array([0, max(series)])
            axes.plot(line, (start + slope * line) / 1e3, color=COLORS[method], linewidth=0.8)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("parameters p")
    axes.set_ylabel("us")
    axes.set_title(f"Time of one evaluation in a batch of {ROWS}")
    axes.grid(alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=9)
