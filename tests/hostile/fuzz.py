"""A fuzzer over everything that strangers hand in: models, URDF, MJCF, students' answers.

    python -m tests.hostile.fuzz --inputs 200000 --seed 1 --finds finds

Every input is a file that is read as users' files are (`targets`), and watched (`watching`).  What
is raised and is no `SymgenError`, what takes more than 20 s or 1 GiB, what opens, writes or starts
anything, is a find: it is written to a folder with its traceback, and the run goes on.  Input N of
a seed is the same everywhere: ``--only N`` looks at it alone."""

from __future__ import annotations

import argparse
import faulthandler
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from symgen.description import RobotDescription
from symgen.errors import SymgenError
from tests.hostile import targets
from tests.hostile.mutating import Input, make
from tests.hostile.watching import SECONDS, Forbidden, TooLong, Watch, in_time, limit_memory

DEEPER = 150
"""One accepted model in so many becomes source."""

MOST_FINDS = 200


@dataclass
class Tally:
    """What has become of the inputs of one process."""

    read: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    deeper: int = 0
    finds: dict[str, list[int]] = field(default_factory=dict)


class Fuzzer:
    """Gives inputs to their targets, in this process."""

    def __init__(self, folder: Path, finds: Path | None, watch: Watch) -> None:
        self.folder, self.finds, self.watch = folder, finds, watch
        self.tally = Tally()

    def take(self, given: Input, deep: bool = False) -> str:
        """One input; the traceback of what is wrong with symgen, or ""."""
        path = self.folder / given.name
        path.write_bytes(given.content)
        problem = ""
        self.tally.read[given.kind] += 1
        try:
            description = self.enter(given, str(path))
            if description is not None:
                self.go_on(description, str(path), deep)
        except (Exception, Forbidden, TooLong):
            problem = traceback.format_exc()
            self.keep(given, problem)
        return problem

    def enter(self, given: Input, path: str) -> RobotDescription | None:
        """The description, where the input is a robot and accepted."""
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
        self.tally.accepted[given.kind] += 1
        return description

    def go_on(self, description: RobotDescription, path: str, deep: bool) -> None:
        """Make sources of some models that were accepted."""
        place = self.tally.accepted.total() - self.tally.accepted["answer"]
        if not deep and place % DEEPER:
            return
        faulthandler.dump_traceback_later(1800, exit=True)  # nobody is promised 20 s of this
        try:
            with in_time(60.0), self.watch.during(path):
                self.tally.deeper += targets.go_deeper(description)
        except SymgenError as error:
            targets.check_message(error, path)

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


def fuzz(seed: int, numbers: range, finds: Path | None) -> Tally:
    """Read all inputs of these numbers."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")  # nobody understands those of other libraries
        fuzzer = Fuzzer(Path(folder), finds, Watch())
        for given in (make(seed, number) for number in numbers):
            if finds is not None:
                (finds / "at").write_text(str(given.number))  # for a process that dies of it
            faulthandler.dump_traceback_later(20 * SECONDS, exit=True)  # a hang in C
            fuzzer.take(given)
            faulthandler.cancel_dump_traceback_later()
        return fuzzer.tally


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=200_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--finds", type=Path, default=Path("finds"), help="folder for failures")
    parser.add_argument("--only", type=int, help="one input: print it and what comes of it")
    return parser.parse_args()


def main() -> int:
    """Run the command; return 0 where nothing is wrong."""
    options = _parsed()
    if options.only is not None:
        return _look_at(make(options.seed, options.only))
    options.finds.mkdir(parents=True, exist_ok=True)
    limit_memory()
    numbers = range(options.first, options.first + options.inputs)
    return _report(fuzz(options.seed, numbers, options.finds))


def _look_at(given: Input) -> int:
    print(given.kind, repr(given.content[:3000]))
    with tempfile.TemporaryDirectory() as folder:
        problem = Fuzzer(Path(folder), None, Watch()).take(given, deep=True)
    print(problem or "nothing is wrong with it")
    return bool(problem)


def _report(tally: Tally) -> int:
    for kind, count in tally.read.items():
        print(f"{kind:8} {count:8} read {tally.accepted[kind]:8} accepted")
    print(f"{tally.read.total()} inputs; {tally.deeper} models became source")
    for problem, numbers in tally.finds.items():
        print(f"FIND {len(numbers)} times, such as {numbers[:4]}: {problem}")
    print(f"{len(tally.finds)} kinds of finds")
    return bool(tally.finds)


if __name__ == "__main__":
    sys.exit(main())
