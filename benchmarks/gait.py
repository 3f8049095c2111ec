"""One step of a human of 55 coordinates, at the size of Barman (2020), chapter 5, and finer.

    OMP_NUM_THREADS=1 python -m benchmarks.gait [--repeat 3]

Times are processor seconds of one thread, the least of several runs: of the search for a motion
that keeps its limits, and of all to the optimum, the program's transcription included.  An
iteration is divided into generated dynamics, the rest of the derivatives (assembly), and the solver
(factorisation).
"""

import argparse
import copy
import time
from collections import Counter
from pathlib import Path

import numpy as np
import yaml

import symgen
from benchmarks.machine import machine
from symgen import description
from symgen.planning import plan, reading
from symgen.planning.solver import SOLVED, Choices, Interrupted, unknowns_and_equations
from symgen.planning.task import PER_SEGMENT
from symgen.planning.transcription import transcribe

EXAMPLES = Path(__file__).parents[1] / "examples"
TOLERANCE, MOST = 1e-6, 1000


def tasks():
    """Return tasks by name: the example, coarser as in the thesis, and finer."""
    step = yaml.safe_load((EXAMPLES / "plan" / "human55_step.yaml").read_text())
    thesis, fine = copy.deepcopy(step), copy.deepcopy(step)
    thesis["profile"] = {"segments": 3, "check": "midpoints", "knots": "segments"}
    thesis["mirrored"]["qdd"] = None
    del thesis["contacts"]["phases"][1]
    fine["profile"] = {"segments": 5}
    for phase, until in zip(fine["contacts"]["phases"], ("3/20", "1/4", "13/20", 1), strict=True):
        phase["until"] = until
    return {"thesis, 7 instants": thesis, "13 instants": step, "21 instants": fine}


class Watched:
    """Seconds that a program's derivatives take, and the generated functions among them."""

    def __init__(self, module):
        self.dynamics = self.derivatives = 0.0
        for name in module.functions:
            setattr(self, name, self._timed(getattr(module, name), "dynamics"))
        self._module = module

    def __getattr__(self, name):
        return getattr(self._module, name)

    def _timed(self, function, kind):
        def timed(*arguments, **options):
            begun = time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                setattr(self, kind, getattr(self, kind) + time.process_time() - begun)

        return timed

    def watch(self, program):
        for name in ("objective", "gradient", "constraints", "jacobian", "hessian"):
            setattr(program, name, self._timed(getattr(program, name), "derivatives"))


def solved(module, task):
    """Return (feasible, in all) seconds, iterations, the program, the outcome, shares."""
    watched = Watched(module)
    begun = time.process_time()
    read = reading.read(task, watched)
    run = plan._Run(read, watched, Choices(TOLERANCE, MOST), Interrupted(), None)
    per = PER_SEGMENT[read.profile.check]
    profile = run.profile(read.profile.segments, per)
    program = transcribe(read, watched, profile, per)
    x = np.append(plan.guess(read, watched, profile, None), np.zeros(program.sizes.loads))
    first = run.feasible(program, x, "")
    feasible = time.process_time() - begun
    watched.watch(program)
    watched.dynamics = 0.0
    before = time.process_time()
    outcome = run.solve(program, first.x, "")
    assert first.ended == outcome.ended == SOLVED
    all_of_it = time.process_time() - before
    dynamics, derivatives = watched.dynamics, watched.derivatives
    shares = dynamics, derivatives - dynamics, all_of_it - derivatives
    steps = len(first.steps), len(outcome.steps)
    return (feasible, time.process_time() - begun), steps, program, outcome, np.array(shares)


def main():
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    print(machine())
    human, step = EXAMPLES / "human55.yaml", EXAMPLES / "plan" / "human55_step.yaml"
    module = symgen.load(human, loads=reading.additions(step, description.read(human))[0])
    for name, task in tasks().items():
        runs = [solved(module, task) for _ in range(repeat)]
        times = np.min([run[0] for run in runs], axis=0)
        _, steps, program, outcome, shares = min(runs, key=lambda run: run[0][1])
        free, equations = unknowns_and_equations(program)
        rows = Counter()
        for term in program.terms:
            rows[term.name] += len(term.lower)
        at = program.iterate(outcome.x)
        active = sum(
            int(np.sum(np.minimum(term.value(at) - term.lower, term.upper - term.value(at)) < 1e-6))
            for term in program.terms
            if len(term.lower)
        )
        print(f"{name}: {free} free unknowns, {program.rows} rows, {equations} of them equations")
        print("  " + ", ".join(f"{kind} {count}" for kind, count in rows.items() if count))
        print(
            f"  feasible {times[0]:.2f} s ({steps[0]} iterations), in all {times[1]:.2f} s (",
            end="",
        )
        print(f"{steps[1]} more), objective {program.objective(outcome.x):.6f}, {active} active")
        print("  an iteration: dynamics {:.1f}, assembly {:.1f}, solver {:.1f} ms".format(
            *(1e3 * shares / steps[1])
        ))  # fmt: skip


if __name__ == "__main__":
    main()
