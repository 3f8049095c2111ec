"""Plant every mutant in turn, and see whether the tests find it: see `tests.mutants`."""

from __future__ import annotations

import argparse
import json
import os
import queue
import random
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from tests.mutants.reach import reach
from tests.mutants.table import FOLDER, Mutant, is_clean, mutants, planted

BATCHES = (8.0, 25.0)
"""Seconds of the tests that are collected together: those that most likely find it come first."""
AT_ONCE = 25
"""Mutants that are planted together, after the first batches did not find them."""
OPEN, SURVIVED = "open", "survived"
"""Outcomes: not found by the first batches; not found at all."""


@dataclass(frozen=True)
class Reach:
    """Test files by the name of a mutant that they reach, and seconds by test file."""

    files: Mapping[str, Sequence[str]]
    seconds: Mapping[str, float]

    def batches(self, mutant: Mutant) -> Iterator[list[str]]:
        """The first files to try, those of its part of the house first, then the quick ones."""
        parts = set(Path(mutant.file).with_suffix("").parts[1:])

        def likely(file: str) -> tuple[bool, float]:
            words = set(Path(file).with_suffix("").parts) | {Path(file).stem.removeprefix("test_")}
            return not parts & words, self.seconds.get(file, 0.0)

        waiting = sorted(self.files[mutant.name], key=likely)
        for limit in BATCHES:
            batch, total = waiting[:1], sum(self.seconds.get(file, 0.0) for file in waiting[:1])
            while len(batch) < len(waiting):
                total += self.seconds.get(waiting[len(batch)], 0.0)
                if total > limit:
                    break
                batch.append(waiting[len(batch)])
            waiting = waiting[len(batch) :]
            if batch:
                yield batch


@dataclass(frozen=True)
class Tests:
    """The tests of a checkout that count, as for ``pytest -m``."""

    checkout: Path
    marked: str

    def failing(self, chosen: Sequence[str], *options: str, limit: float) -> list[str]:
        """Names of the failing ones of the files or tests `chosen`; ``time`` where it is up."""
        present = [name for name in chosen if (self.checkout / name.split("::")[0]).is_file()]
        if not present:
            return []
        command = [str(self.checkout / ".venv/bin/python"), "-m", "pytest", "-q", "-rfE"]
        command += ["--tb=no", "-p", "no:cacheprovider", *options, "-m", self.marked, *present]
        process = subprocess.Popen(
            [*command, "--hypothesis-profile", "found is enough"],
            cwd=self.checkout,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            text, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return ["time"]
        if process.returncode in (0, 5):  # all passed, or none was selected
            return []
        lines = [line for line in text.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        names = [line.split(" - ")[0].split(" ", 1)[1] for line in lines]
        return names or [f"status {process.returncode}"]


def quickly(mutant: Mutant, tests: Tests, reach: Reach) -> str:
    """The first test of the first batches that finds it; or `OPEN`."""
    with planted(tests.checkout, mutant):
        for batch in reach.batches(mutant):
            limit = 120.0 + 6.0 * sum(reach.seconds.get(file, 0.0) for file in batch)
            if found := tests.failing(batch, "-x", limit=limit):
                return found[0]
    return OPEN


def together(faults: Sequence[Mutant], tests: Tests, reach: Reach) -> dict[str, str]:
    """Plant several at once, run all tests that reach one, and try with each alone what failed."""
    outcomes: dict[str, str] = {}
    files = sorted({file for mutant in faults for file in reach.files[mutant.name]})
    limit = 120.0 + 6.0 * sum(reach.seconds.get(file, 0.0) for file in files)
    try:
        with planted(tests.checkout, *faults):
            failing = tests.failing(files, "-n", "auto", "--dist", "loadfile", limit=limit)
    except ValueError:  # one of them is where another was
        failing = ["planting"]
    if any("::" not in name for name in failing) and len(faults) > 1:  # nothing was collected, say
        half = len(faults) // 2
        return together(faults[:half], tests, reach) | together(faults[half:], tests, reach)
    for mutant in faults:
        reaching = set(reach.files[mutant.name])
        with planted(tests.checkout, mutant):
            tried = [name for name in failing if name.split("::")[0] in reaching]
            found = tests.failing(tried, "-x", limit=limit) if tried else []
        outcomes[mutant.name] = found[0] if found else SURVIVED
    return outcomes


def run(
    checkouts: Sequence[Path], table: Sequence[Mutant], reach: Reach, marked: str, out: Path
) -> dict[str, str]:
    """Try all mutants; the outcome of each by name, written to `out` after every one."""
    outcomes: dict[str, str] = json.loads(out.read_text()) if out.is_file() else {}
    waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
    for mutant in table:
        if mutant.name not in outcomes:
            waiting.put(mutant)
    lock = threading.Lock()

    def note(found: Mapping[str, str]) -> None:
        with lock:
            outcomes.update(found)
            out.write_text(json.dumps(outcomes, indent=1) + "\n")
            for name, test in found.items():
                print(f"{len(outcomes):4d} {name}: {test}", flush=True)

    def work(tests: Tests) -> None:
        while True:
            try:
                mutant = waiting.get_nowait()
            except queue.Empty:
                return
            note({mutant.name: quickly(mutant, tests, reach)})

    threads = [threading.Thread(target=work, args=(Tests(path, marked),)) for path in checkouts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    left = [mutant for mutant in table if outcomes.get(mutant.name) == OPEN]
    for start in range(0, len(left), AT_ONCE):
        note(together(left[start : start + AT_ONCE], Tests(checkouts[0], marked), reach))
    return outcomes


def main() -> None:
    """Measure what the ordinary tests of some checkouts of one commit find."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.run", description=main.__doc__)
    parser.add_argument("checkouts", nargs="+", type=Path, help="made for this: files are changed")
    parser.add_argument("--tables", type=Path, default=FOLDER, help="folder of the tables")
    parser.add_argument("--out", type=Path, required=True, help="JSON; what is there is not redone")
    parser.add_argument(
        "--marked", default="not slow and not deep", help="tests that count, as for pytest -m"
    )
    parser.add_argument("--only", nargs="*", help="names of mutants")
    options = parser.parse_args()
    checkouts = [path.resolve() for path in options.checkouts]
    if changed := [str(path) for path in checkouts if not is_clean(path)]:
        parser.error(f"there are changes that would be lost in {' and '.join(changed)}")
    locks = [FileLock(f"{path}.lock", blocking=False) for path in checkouts]
    for lock in locks:
        try:
            lock.acquire()
        except Timeout:
            parser.error(f"mutants are being planted already: {lock.lock_file} is held")
    listed = mutants(options.tables)
    table = [mutant for mutant in listed if mutant.fits(checkouts[0])]
    if lost := [mutant.name for mutant in listed if mutant not in table]:
        print(f"cannot be planted any more: {lost}")
    random.Random(7).shuffle(table)  # whatever is done of it is a fair sample
    reached = options.out.with_suffix(".reached.json")
    if not reached.is_file():
        folder = options.out.with_suffix(".reaching").resolve()
        files, seconds = reach(checkouts[0], table, ("-m", options.marked, "-n", "auto"), folder)
        reached.write_text(json.dumps({"files": files, "seconds": seconds}, indent=1) + "\n")
    if options.only:
        table = [mutant for mutant in table if mutant.name in options.only]
    measured = Reach(**json.loads(reached.read_text()))
    outcomes = run(checkouts, table, measured, options.marked, options.out)
    survived = [name for name, found in outcomes.items() if found == SURVIVED]
    print(f"{len(outcomes) - len(survived)} of {len(outcomes)} were found; not: {survived}")


if __name__ == "__main__":
    main()
