"""Tables, files and the plot of a comparison.

Everything here reads the plain data that `compare` also writes as JSON, so that a report can be
made again:  python -m benchmarks.report FILE.json [--write]
"""

import argparse
import json
from pathlib import Path

from benchmarks.contestants import contestant, installed
from benchmarks.figures import FUNCTION_TITLES, MODEL_TITLES, OURS, TITLES, figure_of
from benchmarks.interface import CALL, FUNCTIONS, KERNEL, LARGE, NEW, SMALL
from benchmarks.machine import ROOT
from benchmarks.marks import markdown, replaced

FOLDER = ROOT / ".benchmarks"
DOCUMENT = ROOT / "docs" / "benchmarks.md"


def finish(data, options):
    """Print the tables, and write the files that were asked for."""
    tables = all_tables(data)
    for title, lines in tables.values():
        print("", title, "", *lines, sep="\n", flush=True)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(data, indent=1) + "\n")
        print(f"\nfigures: {_shown(options.json)}")
    if str(options.plot) != "-":
        plot(data, options.plot)
    if options.write:
        write(data, tables)


def all_tables(data):
    """{mark: (title, lines)}."""
    return {
        "benchmarks": ("symgen: times faster than Pinocchio C++, per sample, minima of one run",
                       ratios(data)),
        "benchmarks of all": ("Nanoseconds per sample, minimum (median), and how many times faster "
                              "than Pinocchio C++: from the minima, within rounds", details(data)),
        "benchmarks of calls": ("What a call from Python costs, nanoseconds", calls(data)),
        "benchmarks left out": ("Left out", left_out(data)),
    }  # fmt: skip


def ratios(data):
    """symgen against the reference: one row per function and mode, one column per model."""
    models = _in_order(row["model"] for row in data["figures"])
    rows = []
    for function in FUNCTIONS:
        for mode in (KERNEL, CALL, SMALL, LARGE):
            found = [figure_of(data, model, function, OURS, mode) for model in models]
            if any(found):
                rows.append([FUNCTION_TITLES[function], TITLES[mode], *map(_ratio_cell, found)])
    return markdown(["", "called", *(MODEL_TITLES.get(m, m) for m in models)], rows, words=2)


def details(data):
    """Everything that was measured."""
    header = ["model", "function", "who", "called", "min", "(median)", "ratio", "in rounds"]
    rows = [
        [
            MODEL_TITLES.get(row["model"], row["model"]),
            FUNCTION_TITLES[row["function"]],
            contestant(row["contestant"]).TITLE,
            TITLES[row["mode"]],
            _ns(row["minimum ns"]),
            f"({_ns(row['median ns'])})",
            _times(row["ratio of minima"]),
            _times(row["ratio within rounds"]),
        ]
        for row in data["figures"]
    ]
    return markdown(header, rows, words=4)


def calls(data):
    """What a Python call adds to the kernel, and Pinocchio's call beside ours."""
    rows = []
    for model in _in_order(row["model"] for row in data["figures"]):
        for function in ("inverse_dynamics", "inverse_dynamics_derivatives"):
            ours = {
                mode: figure_of(data, model, function, OURS, mode) for mode in (KERNEL, CALL, NEW)
            }
            theirs = figure_of(data, model, function, "pinocchio_python", CALL)
            if not all(ours.values()):
                continue
            kernel, call, new = (row["minimum ns"] for row in ours.values())
            arrays = "1" if function == "inverse_dynamics" else "4"
            rows.append(
                [MODEL_TITLES.get(model, model), FUNCTION_TITLES[function], _ns(kernel),
                 _more(call - kernel), f"{_more(new - kernel)} ({arrays})",
                 _ns(theirs["minimum ns"]) if theirs else "-",
                 _times(theirs["minimum ns"] / call) if theirs else "-"]
            )  # fmt: skip
    return markdown(
        ["model", "function", "kernel", "call, out=", "call, new arrays", "Pinocchio's call",
         "times ours, out="], rows, words=2,
    )  # fmt: skip


def left_out(data):
    """Who did not take part in what, and who was wrong."""
    reasons = {}
    for entry in data["left out"]:
        key = (entry["contestant"], entry.get("model"), entry["why"].splitlines()[0])
        reasons.setdefault(key, []).append(FUNCTION_TITLES.get(entry.get("function"), "all"))
    rows = [
        [contestant(name).TITLE, MODEL_TITLES.get(model, model or "all"),
         "all" if len(functions) == len(FUNCTIONS) else "; ".join(functions), why]
        for (name, model, why), functions in reasons.items()
    ]  # fmt: skip
    rows += [
        [contestant(entry["contestant"]).TITLE, entry["model"],
         FUNCTION_TITLES[entry["function"]], f"WRONG by {entry['error']:.1e}"]
        for entry in data["wrong"]
    ]  # fmt: skip
    return markdown(["who", "model", "function", "why"], rows, words=4)


def write(data, tables):
    """Put the tables between the marks of the page about them."""
    facts = data["machine"]
    versions = "; ".join(f"{name} {value}" for name, value in data["versions"].items())
    where = [f"{facts['processor']}, one core; {facts['date'][:10]}, commit {facts['commit']}.",
             f"{versions}.", "", "![the tables as bars](benchmarks.png)"]  # fmt: skip
    text = DOCUMENT.read_text()
    for mark, (_, lines) in tables.items():
        text = replaced(text, mark, lines)
    DOCUMENT.write_text(replaced(text, "benchmarks: machine", where))
    print(f"wrote {_shown(DOCUMENT)}")
    if installed("matplotlib"):
        from benchmarks.plots import peers_figure, save  # needs Matplotlib

        plot(data, ROOT / "docs" / "benchmarks")
        save(peers_figure(data), ROOT / "docs" / "pictures" / "speed")


def plot(data, path):
    """The ratios of symgen, and nanoseconds of everybody, as PNG."""
    if not installed("matplotlib"):
        print("no plot: pip install matplotlib")
        return
    from benchmarks.plots import comparison_figure, save  # needs Matplotlib

    figure = comparison_figure(data)
    if figure is not None:
        save(figure, path)
        print(f"plot: {_shown(path)}.png")


def _ratio_cell(row):
    if row is None or row["ratio of minima"] is None:
        return "-" if row is None else f"{_ns(row['minimum ns'])} ns"
    return _times(row["ratio of minima"])


def _times(ratio):
    if ratio is None:
        return "-"
    return f"{ratio:.1f}" if ratio >= 0.995 else f"{ratio:.2g}"


def _ns(nanoseconds):
    if abs(nanoseconds) < 100:
        return f"{nanoseconds:.1f}"
    return f"{nanoseconds:,.0f}"


def _more(nanoseconds):
    return ("+" if nanoseconds >= 0.0 else "") + _ns(nanoseconds)


def _in_order(names):
    return list(dict.fromkeys(names))


def _shown(path):
    path = Path(path).resolve()
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def main():
    """Make the report of a file again."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report",
                                     description=main.__doc__)  # fmt: skip
    parser.add_argument("file", type=Path)
    parser.add_argument("--plot", type=Path, default=FOLDER / "compare")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    data = json.loads(options.file.read_text())
    options.json = None
    finish(data, options)


if __name__ == "__main__":
    main()
