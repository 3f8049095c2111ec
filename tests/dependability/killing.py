"""Kill builds at random moments: ``python -m tests.dependability.killing --builds 300``.

symgen itself, a process that it started, or all of them; whatever happens, the package must import
at once as the former or as the new variant, complete, and nothing may go on running."""

from __future__ import annotations

import argparse
import collections
import contextlib
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from symgen.toolchain.manifest import read_manifest
from tests.dependability.builds import World, random_mass

ENDED = {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP, 130}
"""Ended by a signal before or while Python started, or by itself.  A shell calls -2 130 too; Python
ends so where Ctrl-C came while it executed a text, as the making of named tuples does."""

PYTHON_STARTS = "Fatal Python error: init_"
"""What Python itself says, with status 1, where Ctrl-C comes before it is there."""

GONE_SECONDS = 10.0
"""How long a process may take to be gone after its build: it has to be scheduled once."""

TARGETS = ("symgen", "compiler", "everything", "terminate", "interrupt")


class Campaign:
    """Builds in one world that are killed; `outcomes` counts what came of them."""

    def __init__(self, folder, seed):
        self.world = World(folder)
        self.generator = np.random.default_rng(seed)
        self.outcomes: collections.Counter[str] = collections.Counter()
        self.present, self.seconds = 1.0, self.world.hold_a_package()

    def undisturbed(self, mass):
        """A build that nothing happens to; afterwards nothing lies around.

        It tells how long builds take here and now."""
        start = time.monotonic()
        status, said = self.world.build(mass)
        self.seconds = time.monotonic() - start
        assert status == 0, said
        self.present = self.world.installed_mass()
        assert self.present == mass
        assert self.world.leftovers() == []

    def turn(self):
        """One build that is hit at a random moment of the time that builds take; if it was."""
        mass = random_mass(self.generator)
        target = str(self.generator.choice(TARGETS))
        with self.world.start(mass) as process:
            time.sleep(self.generator.uniform(0.0, self.seconds))
            hit = process.poll() is None and self._hit(target, process.pid)
            said = process.stderr.read() if process.stderr is not None else ""
            status = process.wait()
        self._all_gone()
        self._check(mass, target if hit else "too late", status, said)
        return hit

    def _hit(self, target, pid):
        numbers = [number for number in self.world.processes() if number != pid]
        if target == "compiler" and not numbers:
            target = "symgen"
        match target:
            case "symgen":
                os.kill(pid, signal.SIGKILL)
            case "terminate":
                os.kill(pid, signal.SIGTERM)
            case "interrupt":
                os.kill(pid, signal.SIGINT)
            case "compiler":
                _kill(int(self.generator.choice(numbers)))
            case _:
                for number in (*numbers, pid):
                    _kill(number)
        return True

    def _all_gone(self):
        deadline = time.monotonic() + GONE_SECONDS
        while running := self.world.processes():
            assert time.monotonic() < deadline, running
            time.sleep(0.01)

    def _check(self, mass, target, status, said):
        now = self.world.installed_mass()
        outcome = {mass: "new", self.present: "former"}.get(now)
        assert outcome is not None, (now, self.present, mass)
        manifest = read_manifest(self.world.package)
        known = status in (0, *ENDED) or (status == 4 and target == "compiler")
        assert known or PYTHON_STARTS in said, (target, status, said)
        assert (outcome == "new") or status != 0, (target, said)
        asked = target in ("interrupt", "terminate")  # Python may tell while it starts or ends
        assert "Traceback" not in said or status < 0 or asked, said
        if manifest.is_intact(self.world.package) is False:
            outcome += ", half-way"
        self.present = now
        self.outcomes[f"{target}: {outcome}"] += 1


def _kill(number):
    with contextlib.suppress(ProcessLookupError):
        os.kill(number, signal.SIGKILL)


def campaign(folder, builds, seed, told=None):
    """Hit that many builds, with an undisturbed one after every tenth and at the end."""
    running = Campaign(folder, seed)
    hits = 0
    while hits < builds:
        if not running.turn():
            continue
        hits += 1
        if hits % 10 == 0 or hits == builds:
            running.undisturbed(random_mass(running.generator))
        if told is not None:
            told(hits, running)
    return running


def main():
    parser = argparse.ArgumentParser(description="Kill builds at random moments.")
    parser.add_argument("--builds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()

    def told(number, running):
        counts = ", ".join(f"{key} {value}" for key, value in sorted(running.outcomes.items()))
        print(f"{number}/{chosen.builds} ({running.seconds:.1f} s a build): {counts}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        campaign(Path(folder), chosen.builds, chosen.seed, told)
    print("every package imported, nothing was left")


if __name__ == "__main__":
    sys.exit(main())
