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
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.mutants.reach import reach
from tests.mutants.table import FOLDER, Mutant, is_clean, mutants, planted

BATCHES = (8.0, 60.0)
"""Seconds of the tests that are collected together: those that most likely find it come first."""


def in_order(mutant: Mutant, files: Sequence[str], seconds: Mapping[str, float]) -> list[str]:
    """The files that reach a mutant, those of its part of the house first, then the quick ones."""
    parts = set(Path(mutant.file).with_suffix("").parts[1:])

    def likely(file: str) -> tuple[bool, float]:
        words = set(Path(file).with_suffix("").parts) | {Path(file).stem.removeprefix("test_")}
        return not parts & words, seconds.get(file, 0.0)

    return sorted(files, key=likely)


def in_batches(files: Sequence[str], seconds: Mapping[str, float]) -> list[list[str]]:
    """The files in batches of growing length."""
    found: list[list[str]] = [[]]
    total = 0.0
    for file in files:
        limit = BATCHES[len(found) - 1] if len(found) <= len(BATCHES) else float("inf")
        if found[-1] and total + seconds.get(file, 0.0) > limit:
            found.append([])
            total = 0.0
        found[-1].append(file)
        total += seconds.get(file, 0.0)
    return [batch for batch in found if batch]


def outcome(
    mutant: Mutant,
    checkout: Path,
    files: Sequence[str],
    seconds: Mapping[str, float],
    marked: str,
) -> str:
    """What found it: the name of a test, ``collection``, ``time``; or ``survived``."""
    with planted(mutant, checkout):
        for batch in in_batches(in_order(mutant, files, seconds), seconds):
            present = [file for file in batch if (checkout / file).is_file()]
            limit = 120.0 + 6.0 * sum(seconds.get(file, 0.0) for file in present)
            if present and (found := _failing(checkout, present, marked, limit)):
                return found
    return "survived"


def _failing(checkout: Path, files: Sequence[str], marked: str, limit: float) -> str | None:
    """The first test that fails, if any does."""
    command = [str(checkout / ".venv/bin/python"), "-m", "pytest", "-x", "-q", "-rfE", "--tb=no"]
    command += ["-p", "no:cacheprovider", "--hypothesis-profile", "found is enough"]
    command += ["-m", marked, *files]
    process = subprocess.Popen(
        command,
        cwd=checkout,
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
        return "time"
    if process.returncode in (0, 5):  # all passed, or none was selected
        return None
    lines = [line for line in text.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return lines[0].split(" - ")[0] if lines else f"status {process.returncode}"


def run(
    checkouts: Sequence[Path], table: Sequence[Mutant], reached: Path, marked: str, out: Path
) -> dict[str, str]:
    """Try all mutants; the outcome of each by name, written to `out` after every one."""
    known = json.loads(reached.read_text())
    outcomes: dict[str, str] = json.loads(out.read_text()) if out.is_file() else {}
    waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
    for mutant in table:
        if mutant.name not in outcomes:
            waiting.put(mutant)
    lock = threading.Lock()

    def work(checkout: Path) -> None:
        while True:
            try:
                mutant = waiting.get_nowait()
            except queue.Empty:
                return
            start = time.monotonic()
            files = known["files"][mutant.name]
            found = outcome(mutant, checkout, files, known["seconds"], marked)
            with lock:
                outcomes[mutant.name] = found
                out.write_text(json.dumps(outcomes, indent=1) + "\n")
                took = time.monotonic() - start
                print(f"{len(outcomes):4d} {took:6.1f} s  {mutant.name}: {found}", flush=True)

    threads = [threading.Thread(target=work, args=(checkout,)) for checkout in checkouts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def main() -> None:
    """Measure what the ordinary tests of some checkouts of one commit find."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.run", description=main.__doc__)
    parser.add_argument("checkouts", nargs="+", type=Path, help="made for this: files are changed")
    parser.add_argument("--tables", type=Path, default=FOLDER, help="folder of the tables")
    parser.add_argument("--out", type=Path, required=True, help="JSON; what is there is not redone")
    parser.add_argument("--marked", default="not slow", help="tests that count, as for pytest -m")
    parser.add_argument("--only", nargs="*", help="names of mutants")
    options = parser.parse_args()
    checkouts = [path.resolve() for path in options.checkouts]
    if changed := [str(path) for path in checkouts if not is_clean(path)]:
        parser.error(f"there are changes that would be lost in {' and '.join(changed)}")
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
    outcomes = run(checkouts, table, reached, options.marked, options.out)
    survived = [name for name, found in outcomes.items() if found == "survived"]
    print(f"{len(outcomes) - len(survived)} of {len(outcomes)} were found; not: {survived}")


if __name__ == "__main__":
    main()
