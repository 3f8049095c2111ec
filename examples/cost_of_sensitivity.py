"""What a first-order sensitivity analysis costs: recursive, partially recursive, traditional.

Figure 2 of K. S. Anderson and Y. Hsu, "Analytical fully-recursive sensitivity analysis for
multibody dynamic chain systems" (2002): the time of one evaluation against the number of
coordinates n of a spatial chain.  One evaluation is the accelerations and their total derivatives
by p design parameters, `forward_dynamics_sensitivities`, of a generated module:

  traditional          M and K by explicit sums, solved         (formulation explicit_kane)
  partially recursive  M and K by sums that are carried inward  (partially_recursive_kane)
  fully recursive      M is never formed                        (kane)

    python examples/cost_of_sensitivity.py --out FOLDER    # builds and measures what is missing
    python examples/cost_of_sensitivity.py --out FOLDER --retime      # measures all again
    python examples/cost_of_sensitivity.py --out FOLDER --again       # keeps the shorter times
    python examples/cost_of_sensitivity.py --out FOLDER --plot-only   # from FOLDER/times.json

A method stops growing where symgen refuses to build it or a build takes longer than `--budget`.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

try:
    import matplotlib  # noqa: F401
    import numpy as np
except ImportError as error:
    print(f"{error}: install with `pip install '.[examples]'`", file=sys.stderr)
    raise SystemExit(2) from None

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs from any folder
import symgen
from symgen.deriving.derivation import derived_program
from symgen.errors import RequestError
from symgen.formulations import formulation_named
from symgen.optimize.operations import operations_after

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for the tables and the figure
from cost_of_sensitivity_results import (
    DOCUMENT,
    FUNCTIONS,
    METHODS,
    RECURSIVE,
    ROWS,
    WIDE,
    key,
    plot,
    report,
    write_document,
)

Array = np.ndarray
PARAMETERS = tuple(
    f"{kind}_{place}"
    for shift in range(3)
    for kind, start in (("mass", 1), ("com", 2), ("length", 0), ("inertia", 1))
    for place in (("base", "middle", "tip")[(start + shift) % 3],)
)
"""In the order in which they are taken: mass_middle, com_tip, length_base, inertia_middle, ..."""
SIZES = range(2, 25, 2)
LARGE = (32, 48, 64, 96)
COUNTED = 24  # up to this many coordinates, operations are counted where nothing is built


# -- the models ---------------------------------------------------------------------------------


def chain(n: int) -> str:
    """Text of a chain of revolute joints, its DH rows and inertias random and without zeros."""
    rng = np.random.default_rng(0)
    links = {"base": 1, "middle": n // 2 + 1, "tip": n}
    named = {}  # (link, kind) -> name; in a short chain two names mean the same
    for name in PARAMETERS:
        kind, place = name.split("_")
        named.setdefault((links[place], kind), name)
    values, joints = {}, []
    for k in range(1, n + 1):
        d, alpha = rng.uniform(-0.2, 0.2), rng.uniform(-1.5, 1.5)
        x, y, z = rng.uniform(-0.2, 0.2, 3)
        root = rng.normal(size=(3, 3)) * 0.1
        tensor = np.trace(root @ root.T) * np.eye(3) - root @ root.T  # of some real body
        numbers = {
            "mass": rng.uniform(0.5, 3),
            "com": x,
            "length": rng.uniform(0.1, 0.4),
            "inertia": tensor[2, 2],
        }
        entry = {kind: named.get((k, kind), f"{x:.17g}") for kind, x in numbers.items()}
        values.update({name: numbers[kind] for (at, kind), name in named.items() if at == k})
        places = {"xx": (0, 0), "yy": (1, 1), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
        inertia = ", ".join(f"{key}: {tensor[at]:.17g}" for key, at in places.items())
        joints.append(
            f"  - name: j{k}\n    type: revolute\n"
            f"    dh: {{theta: 0.1, d: {d:.17g}, a: {entry['length']}, alpha: {alpha:.17g}}}\n"
            f"    link:\n      mass: {entry['mass']}\n"
            f"      com: [{entry['com']}, {y:.17g}, {z:.17g}]\n"
            f"      inertia: {{{inertia}, zz: {entry['inertia']}}}"
        )
    parameters = [f"  {name}: {values[name]:.17g}" for name in PARAMETERS if name in values]
    head = ["symgen: 1", f"name: chain{n}", "convention: standard"]
    return "\n".join([*head, "parameters:", *parameters, "joints:", *joints, ""])


def parameters(n: int, p: int) -> tuple[str, ...]:
    """The first p parameters of the chain; two links have only 8."""
    text = chain(n)
    return tuple(name for name in PARAMETERS if f"  {name}: " in text)[:p]


def model_file(folder: Path, n: int) -> Path:
    path = folder / "models" / f"chain{n}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(chain(n))
    return path


# -- the cases ----------------------------------------------------------------------------------


def cases(quick: bool) -> list[tuple[int, int, tuple[str, ...]]]:
    """(n, p, methods), in the order in which they are measured."""
    if quick:
        return [(n, p, tuple(METHODS)) for p in (1, 2) for n in (2, 4, 6)]
    alone, all_methods = (RECURSIVE,), tuple(METHODS)
    found = [(n, 1, alone) for n in LARGE]
    found += [(24, p, alone) for p in (2, 4, 8, 12)] + [(n, 4, alone) for n in (48, 96)]
    found += [(n, p, all_methods) for p in (1, 4, 8) for n in SIZES if n <= WIDE]
    found += [(WIDE, p, all_methods) for p in (2, 12)]
    return found + [(n, 1, all_methods) for n in SIZES if n > WIDE]  # the longest builds are last


def build(folder: Path, method: str, n: int, p: int, flags: str, quick: bool) -> ModuleType:
    """The module of one method with p runtime parameters."""
    return symgen.load(
        model_file(folder, n),
        formulations=(method,),
        functions=FUNCTIONS,
        runtime_parameters=parameters(n, p),
        flags=flags,
        backend="numpy" if quick else "compiled",
        out=folder / "modules" / f"{method}_{n}_{p}",
    )


def counted(folder: Path, method: str, n: int, p: int) -> dict[str, int]:
    """Operations of a method that is not built."""
    model = symgen.read(model_file(folder, n))
    formulation = formulation_named(method)
    names = parameters(n, p)
    programs = (derived_program(model, formulation, name, names) for name in FUNCTIONS)
    totals = [operations_after(program.results).total for program in programs]
    return dict(zip(FUNCTIONS, totals, strict=True))


def measured(module: ModuleType, method: str) -> dict[str, Callable[[], object]]:
    """What is timed: both functions, for one sample and for a batch."""
    rng = np.random.default_rng(1)
    n, p, calls = module.n, module.n_parameters, {}
    family = getattr(module, method)
    for label, batch in (("single", ()), ("batch", (ROWS,))):
        state = [rng.uniform(-1, 1, (*batch, n)) for _ in range(3)]
        rates = [rng.uniform(-1, 1, (*batch, n, p)) for _ in range(3)]
        qdd, dqdd = np.empty((*batch, n)), np.empty((*batch, n, p))
        for name, given, out in (
            (FUNCTIONS[0], state, qdd),
            (FUNCTIONS[1], [*state, *rates], (qdd, dqdd)),
        ):
            function = getattr(family, name)
            calls[f"{name} {label}"] = lambda function=function, given=given, out=out: function(
                *given, out=out
            )
    return calls


def fastest(calls: list[Callable[[], object]], rounds: int) -> list[float]:
    """The shortest time of each call, ns; they take turns, each with its code in the caches."""

    def spent(call: Callable[[], object], number: int) -> float:
        start = time.perf_counter_ns()
        for _ in range(number):
            call()
        return (time.perf_counter_ns() - start) / number

    numbers = []
    for call in calls:
        call()
        numbers.append(max(1, round(1e5 / spent(call, 3))))
    best = [np.inf] * len(calls)
    for _ in range(rounds):
        for k, call in enumerate(calls):
            call()
            best[k] = min(best[k], spent(call, numbers[k]))
    return best


class Pinned:
    """While it lasts, this process stays on one processor, where the system can do that."""

    def __enter__(self) -> None:
        self.before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
        if self.before:
            os.sched_setaffinity(0, {max(self.before)})

    def __exit__(self, *reason: object) -> None:
        if self.before:
            os.sched_setaffinity(0, self.before)


# -- measuring ----------------------------------------------------------------------------------


def machine(flags: str, quick: bool) -> dict[str, str]:
    processor = platform.processor() or platform.machine()
    if (information := Path("/proc/cpuinfo")).exists():
        lines = [x for x in information.read_text().splitlines() if x.startswith("model name")]
        processor = lines[0].split(":")[1].strip() if lines else processor
    version = "no compiler"
    if not quick:
        said = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=False)
        version = (said.stdout.splitlines() or [version])[0]
    return {
        "processor": f"{processor}, {os.cpu_count()} processors, one used",
        "compiler": version,
        "python": platform.python_version(),
        "flags": flags,
        "date": datetime.date.today().isoformat(),
        "backend": "numpy" if quick else "compiled",
    }


def measure_all(folder: Path, store: dict, options: argparse.Namespace) -> None:
    """Build and time what is missing, or all; the file is written after every case."""
    largest: dict[tuple[str, int], int] = {}  # (method, p) -> n of a build beyond the budget
    for n, p, methods in cases(options.quick):
        records = {m: store["cases"].setdefault(key(m, n, p), {}) for m in methods}
        modules = {}
        known = all("times" in record or "refused" in record for record in records.values())
        if options.again or not known:
            for method, record in records.items():
                if n > largest.get((method, p), n):
                    record["refused"] = "a smaller one took longer than the budget"
                else:
                    module = built(folder, method, n, p, record, options)
                    modules |= {} if module is None else {method: module}
                if "refused" in record:
                    print(f"{METHODS[method]}: n = {n}, p = {p}: {record['refused']}", flush=True)
            time_together(modules, n, p, store, 3 if options.quick else 100)
            write(folder, store)
        for method, record in records.items():
            if record.get("seconds", 0.0) > options.budget:
                largest[method, p] = min(n, largest.get((method, p), n))


def built(
    folder: Path, method: str, n: int, p: int, record: dict, options: argparse.Namespace
) -> ModuleType | None:
    """The module, and in its record what it cost; None where symgen refuses to build it."""
    start = time.perf_counter()
    try:
        module = build(folder, method, n, p, options.flags, options.quick)
    except RequestError as error:
        record["refused"] = str(error)
        if n <= COUNTED:
            record["operations"] = counted(folder, method, n, p)
        return None
    record["seconds"] = max(record.get("seconds", 0.0), time.perf_counter() - start)
    counts = module.operation_counts[method]
    record["operations"] = {name: sum(counts[name].values()) for name in FUNCTIONS}
    return module


def time_together(modules: dict[str, ModuleType], n: int, p: int, store: dict, rounds: int) -> None:
    calls = {
        (method, what): call
        for method, module in modules.items()
        for what, call in measured(module, method).items()
    }
    with Pinned():
        found = fastest(list(calls.values()), rounds)
    for (method, what), nanoseconds in zip(calls, found, strict=True):
        rows = ROWS if what.endswith("batch") else 1
        times = store["cases"][key(method, n, p)].setdefault("times", {})
        times[what] = min(nanoseconds / rows, times.get(what, np.inf))
    for method in modules:
        print(line(store, method, n, p), flush=True)


def line(store: dict, method: str, n: int, p: int) -> str:
    record = store["cases"][key(method, n, p)]
    single, batch = (record["times"][f"{FUNCTIONS[1]} {label}"] for label in ("single", "batch"))
    return (
        f"{METHODS[method]:20} n = {n:2}, p = {p:2}: "
        f"{record['operations'][FUNCTIONS[1]]:9,} operations, {single / 1e3:8.2f} us, "
        f"in a batch {batch / 1e3:8.2f} us; built in {record['seconds']:.0f} s"
    )


def write(folder: Path, store: dict) -> None:
    path = folder / "times.json"
    new = path.with_suffix(".new")
    new.write_text(json.dumps(store, indent=1) + "\n")
    new.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("cost_of_sensitivity"),
        metavar="FOLDER",
        help="where models, modules, times and the figure go (default: %(default)s)",
    )
    parser.add_argument(
        "--budget",
        type=float,
        default=120,
        metavar="SECONDS",
        help="a method whose build takes longer is not built larger (default: %(default)s)",
    )
    parser.add_argument("--flags", choices=("native", "portable"), default="native")
    parser.add_argument("--retime", action="store_true", help="measure again what was measured")
    parser.add_argument(
        "--again", action="store_true", help="the same, and keep the shorter time of each"
    )
    parser.add_argument("--plot-only", action="store_true", help="measure nothing")
    parser.add_argument(
        "--write-docs", action="store_true", help=f"tables and figure to {DOCUMENT.parent.name}/"
    )
    parser.add_argument(
        "--quick", action="store_true", help="n = 2, 4, 6; p = 1, 2; nothing is compiled"
    )
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "times.json"
    store = json.loads(path.read_text()) if path.exists() else {"cases": {}}
    if not options.plot_only:
        store["machine"] = machine(options.flags, options.quick)
        for record in store["cases"].values():
            record.pop("refused", None)  # the budget may be another one now
            if options.retime:
                record.pop("times", None)
        measure_all(options.out, store, options)
    if not store["cases"]:
        raise SystemExit(f"{path}: nothing was measured yet")
    tables = report(store)
    for mark, lines in tables.items():
        print(f"\n{mark}", *lines, sep="\n")
    figure = options.out / "figure2.png"
    plot(figure, store)
    print(f"\nfigure 2: {figure}")
    if options.write_docs:
        write_document(tables, figure)


if __name__ == "__main__":
    main()
