"""A fuzzer over everything that strangers hand in: models, URDF, MJCF, students' answers.

    python -m tests.hostile.fuzz --inputs 200000 --seed 1 --jobs 2 --finds finds

Every input is a file that is read as users' files are (`targets`), and watched (`watching`).  What
is raised and is no `SymgenError`, what takes more than 20 s or 1 GiB, what opens, writes or starts
anything, is a find: it is written to a folder with its traceback, and the run goes on.  Input N of
a seed is the same everywhere: ``--only N`` looks at it alone.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from symgen.description import RobotDescription
from symgen.errors import SymgenError
from tests.hostile import targets
from tests.hostile.mutating import Input, make
from tests.hostile.watching import ROOM, SECONDS, Forbidden, TooLong, Watch, in_time

DEEPER = 150
"""One accepted model in so many becomes source."""

PAGES = 1500
"""One accepted model in so many becomes a page."""

MOST_FINDS = 200


@dataclass
class Tally:
    """What has become of the inputs of one process."""

    read: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    deeper: int = 0
    pages: int = 0
    slowest: float = 0.0
    slowest_input: int = -1
    finds: dict[str, list[int]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """With the peak of memory."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return {**vars(self), "peak_kib": peak}


class Fuzzer:
    """Gives inputs to their targets, in this process."""

    def __init__(self, folder: Path, finds: Path | None, watch: Watch) -> None:
        self.folder, self.finds, self.watch = folder, finds, watch
        self.tally = Tally()

    def take(self, given: Input, deep: bool | None = None) -> str:
        """One input; the traceback of what is wrong with symgen, or ""."""
        path = self.folder / given.name
        path.write_bytes(given.content)
        problem = ""
        self.tally.read[given.kind] += 1
        try:
            description = self.enter(given, str(path))
            if description is not None:
                self.go_on(given, description, str(path), deep)
        except (Exception, Forbidden, TooLong):
            problem = traceback.format_exc()
            self.keep(given, problem)
        return problem

    def enter(self, given: Input, path: str) -> RobotDescription | None:
        """The description, where the input is a robot and accepted."""
        began = time.process_time()
        try:
            with in_time(), self.watch.during(path):
                if given.kind == "answer":
                    targets.check_verdict(targets.grade_file(path))
                    self.tally.accepted[given.kind] += 1
                    return None
                description = targets.read_file(path, given.number)
                targets.draw(description)
        except SymgenError as error:
            if "floating-base" not in str(error):
                targets.check_message(error, path)
            return None
        finally:
            took = time.process_time() - began
            if took > self.tally.slowest:
                self.tally.slowest, self.tally.slowest_input = took, given.number
        self.tally.accepted[given.kind] += 1
        return description

    def go_on(
        self, given: Input, description: RobotDescription, path: str, deep: bool | None
    ) -> None:
        """Make sources, and seldom a page, of some models that were accepted."""
        place = self.tally.accepted.total() - self.tally.accepted["answer"]
        if not deep and (deep is False or place % DEEPER):
            return
        faulthandler.dump_traceback_later(1800, exit=True)  # nobody is promised 20 s of this
        try:
            with in_time(60.0), self.watch.during(path):
                made = targets.go_deeper(description, html=place % PAGES == 0)
        except SymgenError as error:
            targets.check_message(error, path)
            return
        if made is not None:
            self.tally.deeper += 1
            self.tally.pages += bool(made.pages)
            made.check()

    def keep(self, given: Input, problem: str) -> None:
        """Save an input with its traceback; of those that fail alike a few."""
        last = problem.strip().splitlines()
        place = [line.strip() for line in last if line.startswith("  File") and "symgen/" in line]
        alike = self.tally.finds.setdefault(f"{last[-1][:80]} | {place[-1:]}", [])
        alike.append(given.number)
        if self.finds is not None and len(alike) <= 3 and len(self.tally.finds) <= MOST_FINDS:
            self.finds.mkdir(parents=True, exist_ok=True)
            name = f"{given.number}-{given.name}"
            (self.finds / name).write_bytes(given.content)
            (self.finds / f"{name}.traceback").write_text(problem)


def limit_memory() -> None:
    """No more address space than there is now and `ROOM` beside it."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def fuzz(seed: int, numbers: range, finds: Path | None, progress: Path | None = None) -> Tally:
    """All inputs of these numbers, in this process."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")  # nobody understands those of other libraries
        fuzzer = Fuzzer(Path(folder), finds, Watch())
        for given in (make(seed, number) for number in numbers):
            if progress is not None:
                progress.write_text(str(given.number))
            faulthandler.dump_traceback_later(20 * SECONDS, exit=True)  # a hang in C
            fuzzer.take(given)
            faulthandler.cancel_dump_traceback_later()
            if progress is not None and given.number % 1000 < numbers.step:
                print(json.dumps(fuzzer.tally.as_json()), file=sys.stderr, flush=True)
        return fuzzer.tally


# ------------------------------------------------------------------------------- several processes


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=200_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--finds", type=Path, default=Path("finds"), help="folder for failures")
    parser.add_argument("--only", type=int, help="one input: print it and what comes of it")
    parser.add_argument("--share", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    """The command; 0 where nothing was found."""
    options = _parsed()
    if options.only is not None:
        return _look_at(make(options.seed, options.only))
    if options.share is not None:
        limit_memory()
        numbers = range(options.first + options.share, options.inputs, options.jobs)
        tally = fuzz(options.seed, numbers, options.finds, options.finds / f"at{options.share}")
        print(json.dumps(tally.as_json()))
        return 0
    return _all_shares(options)


def _look_at(given: Input) -> int:
    print(given.kind, repr(given.content[:3000]))
    with tempfile.TemporaryDirectory() as folder:
        problem = Fuzzer(Path(folder), None, Watch()).take(given, deep=True)
    print(problem or "nothing is wrong with it")
    return bool(problem)


def _all_shares(options: argparse.Namespace) -> int:
    """Start the processes, wait for them, and add up what they say."""
    options.finds.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    command = [sys.executable, "-B", "-m", "tests.hostile.fuzz", "--finds", str(options.finds)]
    command += ["--seed", str(options.seed), "--jobs", str(options.jobs)]
    command += ["--inputs", str(options.inputs), "--first", str(options.first)]
    workers = []
    for share in range(options.jobs):
        log = (options.finds / f"log{share}").open("w")
        worker = subprocess.Popen(
            [*command, "--share", str(share)], stdout=subprocess.PIPE, stderr=log, text=True
        )
        workers.append(worker)
    tallies, ended = [], []
    for share, worker in enumerate(workers):
        output, _ = worker.communicate()
        if worker.returncode:
            at = (options.finds / f"at{share}").read_text()
            ended.append(f"process {share} ended with {worker.returncode} at input {at}")
        else:
            tallies.append(json.loads(output.splitlines()[-1]))
    return _report(tallies, ended, time.monotonic() - began)


def _report(tallies: list[dict[str, Any]], ended: list[str], seconds: float) -> int:
    read = sum((Counter(x["read"]) for x in tallies), Counter[str]())
    accepted = sum((Counter(x["accepted"]) for x in tallies), Counter[str]())
    total = sum(read.values())
    for kind in read:
        print(f"{kind:8} {read[kind]:8} read {accepted[kind]:8} accepted")
    print(f"{total} inputs, {total / seconds:.0f} per second")
    print(
        f"{sum(x['deeper'] for x in tallies)} models became source, "
        f"{sum(x['pages'] for x in tallies)} of them pages"
    )
    for x in tallies:
        print(
            f"slowest {x['slowest']:.2f} s (input {x['slowest_input']}); peak of memory "
            f"{x['peak_kib'] / 1024:.0f} MiB"
        )
    finds: dict[str, list[int]] = {}
    for x in tallies:
        for problem, numbers in x["finds"].items():
            finds.setdefault(problem, []).extend(numbers)
    for problem, numbers in finds.items():
        print(f"FIND {len(numbers)} times, such as {numbers[:4]}: {problem}")
    for problem in ended:
        print(problem)
    print("nothing was found" if not finds and not ended else f"{len(finds)} kinds of finds")
    return bool(finds or ended)


if __name__ == "__main__":
    sys.exit(main())
