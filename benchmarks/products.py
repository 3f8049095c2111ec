"""Products of derivatives and vectors beside the matrices that they do without.

    python -m benchmarks.products [ROBOT ...]

Nanoseconds a sample, results given with `out=`, on one core, minima of calls that take turns: the
function itself, its derivatives, and a Jacobian times a vector (``jvp``) and a vector times a
Jacobian (``vjp``).  "Gradient" is that of sum(w . tau) over a batch with respect to all q, qd and
qdd, without `out=`: by ``vjp``, and by Jacobians that are multiplied afterwards.
"""

import argparse
import tempfile
import time

import numpy as np

import symgen
from benchmarks.models import MODELS, without_loads

BASES = ("inverse_dynamics", "forward_dynamics")
KINDS = ("", "_derivatives", "_jvp", "_vjp")
NAMES = [base + kind for base in BASES for kind in KINDS]
ROWS = (64, 1_000, 10_000)
SAMPLES = 100_000
"""In all calls of one function together, at least ten of them."""


def arguments_of(name, given):
    """The first of `given` that a function takes."""
    if name.endswith("_jvp"):
        return given
    return given[:4] if name.endswith("_vjp") else given[:3]


def through_matrices(robot, base, given):
    """The gradient by Jacobians, times the weights."""
    weights = given[3][:, np.newaxis, :]
    _, *slopes = getattr(robot, f"{base}_derivatives")(*given[:3])
    return [(weights @ slope)[:, 0, :] for slope in slopes]


def contestants(robot, rows):
    """Name -> a call without arguments."""
    rng = np.random.default_rng(0)
    given = [rng.uniform(-1.0, 1.0, (rows, robot.n)) for _ in range(6)]
    calls = {}
    for name in NAMES:
        function, own = getattr(robot, name), arguments_of(name, given)
        results = function(*own)
        out = tuple(results) if isinstance(results, tuple) else results
        calls[name] = lambda function=function, own=own, out=out: function(*own, out=out)
    for base in BASES:
        product = getattr(robot, f"{base}_vjp")
        calls[f"{base}: gradient, vjp"] = lambda product=product: product(*given[:4])
        calls[f"{base}: gradient, Jacobians"] = lambda base=base: through_matrices(
            robot, base, given
        )
        pairs = zip(product(*given[:4]), through_matrices(robot, base, given), strict=False)
        assert all(np.allclose(a, b, rtol=1e-9, atol=1e-9 * np.abs(b).max()) for a, b in pairs)
    return calls


def nanoseconds(calls, rows):
    """Minima of one sample, by name."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(max(10, SAMPLES // rows)):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - start)
    return {name: 1e9 * seconds / rows for name, seconds in best.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("robots", nargs="*", default=["arm7", "human43"])
    functions = [*NAMES, "mass_matrix"]
    for name in parser.parse_args().robots:
        if name not in MODELS:
            parser.error(f"no robot is called {name}; there are {', '.join(MODELS)}")
        path = without_loads(name, tempfile.mkdtemp())
        robot = symgen.load(path, functions=functions, backend="compiled")
        robot.threads = 1
        figures = {rows: nanoseconds(contestants(robot, rows), rows) for rows in ROWS}
        print(f"{name + ', rows:':40}" + "".join(f"{rows:>10,}" for rows in ROWS))
        for row in figures[ROWS[0]]:
            print(f"{row:40}" + "".join(f"{figures[rows][row]:10.1f}" for rows in ROWS))
        for base in BASES:
            ends = f"{base}: gradient, Jacobians", f"{base}: gradient, vjp"
            ratios = (figures[rows][ends[0]] / figures[rows][ends[1]] for rows in ROWS)
            print(f"{base + ': gradient, ratio':40}" + "".join(f"{x:10.1f}" for x in ratios))


if __name__ == "__main__":
    main()
