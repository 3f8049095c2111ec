"""All three Jacobians of the human at 301 instants in one call: milliseconds, on one core.

    python -m benchmarks.instants

The motion is that of the open-tree paper (q_i = sin 2 pi t, 301 instants over 3 s).  "Re-used"
arrays are given with `out=`; "new" ones are allocated by the call, and 13 MB of fresh memory cost
page faults.  Packed results leave out what is always 0.
"""

import statistics
import time
from pathlib import Path

import numpy as np

import symgen

HUMAN = Path(__file__).resolve().parents[1] / "examples" / "human43.yaml"
FUNCTIONS = "inverse_dynamics,inverse_dynamics_derivatives"
INSTANTS = 301
CALLS = 60


def motion(n):
    """q, qd, qdd of the experiment, (301, n) each."""
    t = np.linspace(0.0, 3.0, INSTANTS)[:, np.newaxis]
    w = 2.0 * np.pi
    q = np.repeat(np.sin(w * t), n, axis=1)
    return q, np.repeat(w * np.cos(w * t), n, axis=1), -w * w * q


def milliseconds(function, *arguments, **options):
    """Minimum and median of one call."""
    seconds = []
    for _ in range(CALLS):
        start = time.perf_counter()
        function(*arguments, **options)
        seconds.append(time.perf_counter() - start)
    return 1e3 * min(seconds), 1e3 * statistics.median(seconds)


def main():
    columns = ("re-used: min", "median", "new: min", "median")
    print(f"{'formulation':20} {'results':9}" + "".join(f"{name:>13}" for name in columns))
    for formulation in ("composite", "newton_euler", "recursive_lagrange"):
        robot = symgen.load(HUMAN, formulations=formulation, functions=FUNCTIONS)
        robot.threads = 1
        derivatives = robot.inverse_dynamics_derivatives
        states = motion(robot.n)
        for packed in (False, True):
            out = derivatives(*states, packed=packed)
            figures = (
                *milliseconds(derivatives, *states, packed=packed, out=out),
                *milliseconds(derivatives, *states, packed=packed),
            )
            line = "".join(f"{figure:13.2f}" for figure in figures)
            print(f"{formulation:20} {'packed' if packed else 'dense':9}{line}", flush=True)


if __name__ == "__main__":
    main()
